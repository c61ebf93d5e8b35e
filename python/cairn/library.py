# SPDX-License-Identifier: MIT
"""The C library: <cairn/client.h> and <cairn/control.h> as ctypes sees them."""

import ctypes
import os
import pathlib

u8p = ctypes.POINTER(ctypes.c_uint8)
u32p = ctypes.POINTER(ctypes.c_uint32)
f32p = ctypes.POINTER(ctypes.c_float)


class Address(ctypes.Structure):
    _fields_ = [
        ("family", ctypes.c_uint8),
        ("zero", ctypes.c_uint8),
        ("port", ctypes.c_uint16),
        ("ip", ctypes.c_uint8 * 16),
    ]


class Request(ctypes.Structure):
    _fields_ = [
        ("verb", ctypes.c_uint32),
        ("room", ctypes.c_char_p),
        ("tick", ctypes.c_uint64),
        ("count", ctypes.c_uint32),
        ("seed", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("body", ctypes.c_uint32),
        ("mask", ctypes.c_uint32),
        ("numbers", f32p),
        ("number_count", ctypes.c_uint32),
        ("bytes", u8p),
        ("byte_count", ctypes.c_uint32),
    ]


class Reply(ctypes.Structure):
    _fields_ = [
        ("request", ctypes.c_uint32),
        ("verb", ctypes.c_uint32),
        ("refusal", ctypes.c_uint32),
        ("words", ctypes.c_char_p),
        ("room", ctypes.c_char_p),
        ("tick", ctypes.c_uint64),
        ("root_lo", ctypes.c_uint64),
        ("root_hi", ctypes.c_uint64),
        ("count", ctypes.c_uint32),
        ("ids", u32p),
        ("id_count", ctypes.c_uint32),
        ("numbers", f32p),
        ("number_count", ctypes.c_uint32),
        ("bytes", u8p),
        ("byte_count", ctypes.c_uint32),
    ]


# name: (result, arguments); the client itself is the first argument of all but the last four.
_FUNCTIONS = {
    "destroy": (None, []),
    "connect": (ctypes.c_bool, [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p]),
    "disconnect": (None, [ctypes.c_uint64]),
    "state_read": (ctypes.c_int, []),
    "failure_text": (ctypes.c_char_p, []),
    "server_address": (Address, []),
    "receive": (
        None,
        [ctypes.c_uint64, ctypes.POINTER(Address), ctypes.c_char_p, ctypes.c_size_t],
    ),
    "advance": (None, [ctypes.c_uint64]),
    "deadline_ns": (ctypes.c_uint64, []),
    "send": (ctypes.c_size_t, [ctypes.c_uint64, ctypes.c_char_p]),
    "ask": (ctypes.c_uint32, [ctypes.POINTER(Request)]),
    "next_reply": (ctypes.c_bool, [ctypes.POINTER(Reply)]),
    "welcomed": (ctypes.c_bool, []),
    "is_operator": (ctypes.c_bool, []),
}


def load(path=None):
    """The library at `path`, else where CAIRN_CLIENT_LIBRARY says, else beside this package."""
    beside = pathlib.Path(__file__).parent / "libcairn_client.so"
    path = path or os.environ.get("CAIRN_CLIENT_LIBRARY") or str(beside)
    library = ctypes.CDLL(path)
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, "cairn_client_" + name)
        function.restype = result
        function.argtypes = [ctypes.c_void_p] + arguments
    library.cairn_client_create_operator.restype = ctypes.c_void_p
    library.cairn_client_create_operator.argtypes = []
    library.cairn_client_verb_find.restype = ctypes.c_uint32
    library.cairn_client_verb_find.argtypes = [ctypes.c_char_p]
    library.cairn_client_refusal_text.restype = ctypes.c_char_p
    library.cairn_client_refusal_text.argtypes = [ctypes.c_uint32]
    return library
