# SPDX-License-Identifier: MIT
"""A backend that issues connect tokens: the layout of docs/PROTOCOL.md, with libsodium's XChaCha20-Poly1305 by ctypes.
usage: example_token.py KEY_FILE ADDRESS:PORT OUT [ROOM [NAME]]"""

import ctypes
import ctypes.util
import ipaddress
import os
import struct
import sys
import time

PROTOCOL_ID = 0x636169726E
VERSION = b"NETCODE 1.02\0"
sodium = ctypes.CDLL(ctypes.util.find_library("sodium") or "libsodium.so.23")


def encrypt(text, associated, nonce, key):
    out = ctypes.create_string_buffer(len(text) + 16)
    sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(
        out, None, text, ctypes.c_ulonglong(len(text)), associated, ctypes.c_ulonglong(len(associated)), None, nonce, key)
    return out.raw


def user_data(room="", name="", rights=0, opaque=b""):
    """What the server reads of the 256 bytes: docs/PROTOCOL.md, User data."""
    return struct.pack("<8sII32s32sH", b"cairnusr", 2, rights, room.encode(), name.encode(), len(opaque)) + opaque


def server_list(servers):
    out = struct.pack("<I", len(servers))
    for address, port in servers:
        ip = ipaddress.ip_address(address)
        words = struct.unpack(">8H", ip.packed) if ip.version == 6 else ()
        out += struct.pack("<B8HH", 2, *words, port) if words else b"\x01" + ip.packed + struct.pack("<H", port)
    return out


def issue(key, servers, client_id, data=b"", lifetime_s=30, timeout_s=5):
    now = int(time.time())
    expire = now + lifetime_s
    nonce, keys = os.urandom(24), os.urandom(64)
    addresses = server_list(servers)
    private = struct.pack("<Qi", client_id, timeout_s) + addresses + keys + data.ljust(256, b"\0")
    associated = VERSION + struct.pack("<QQ", PROTOCOL_ID, expire)
    public = VERSION + struct.pack("<QQQ", PROTOCOL_ID, now, expire) + nonce
    public += encrypt(private.ljust(1008, b"\0"), associated, nonce, key)
    return (public + struct.pack("<i", timeout_s) + addresses + keys).ljust(2048, b"\0")


if __name__ == "__main__":
    key_file, server, path, *names = sys.argv[1:]
    host, port = server.rsplit(":", 1)
    secret = bytes.fromhex(open(key_file, encoding="ascii").read())
    token = issue(secret, [(host.strip("[]"), int(port))], int.from_bytes(os.urandom(8), "little"), user_data(*names))
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
        out.write(token)
