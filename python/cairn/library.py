# SPDX-License-Identifier: MIT
"""The functions of <cairn/client.h> and <cairn/control.h> that Python calls, by ctypes."""

import ctypes
import os
import pathlib

u8p = ctypes.POINTER(ctypes.c_uint8)


class Address(ctypes.Structure):
    _fields_ = [
        ("family", ctypes.c_uint8),
        ("zero", ctypes.c_uint8),
        ("port", ctypes.c_uint16),
        ("ip", ctypes.c_uint8 * 16),
    ]


# cairn_client_<name>: (result, arguments after the client itself).
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
    "ask_encoded": (ctypes.c_uint32, [ctypes.c_char_p, ctypes.c_size_t]),
    "next_answer_encoded": (ctypes.c_size_t, [ctypes.POINTER(u8p)]),
    "welcomed": (ctypes.c_bool, []),
    "is_operator": (ctypes.c_bool, []),
}


def load(path=None):
    """Loads the library at `path`, else at $CAIRN_CLIENT_LIBRARY, else beside this package."""
    beside = pathlib.Path(__file__).parent / "libcairn_client.so"
    path = path or os.environ.get("CAIRN_CLIENT_LIBRARY") or str(beside)
    library = ctypes.CDLL(path)
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, "cairn_client_" + name)
        function.restype = result
        function.argtypes = [ctypes.c_void_p] + arguments
    library.cairn_client_create_operator.restype = ctypes.c_void_p
    library.cairn_client_create_operator.argtypes = []
    library.cairn_control_refusal_text.restype = ctypes.c_char_p
    library.cairn_control_refusal_text.argtypes = [ctypes.c_uint32]
    library.cairn_rules_load.restype = ctypes.c_bool
    library.cairn_rules_load.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    return library


def load_rules(path, library=None):
    """Loads a rules file (<cairn/rules_file.h>), whose rules are then known by their names. ValueError says why not."""
    error = ctypes.create_string_buffer(512)
    if not load(library).cairn_rules_load(os.fsencode(path), error):
        raise ValueError(error.value.decode())
