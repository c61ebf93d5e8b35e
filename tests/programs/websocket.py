# SPDX-License-Identifier: MIT
"""WebSockets (RFC 6455) by hand, so that tests can also break the rules, and a bridge that carries the datagrams of a
client's UDP socket over one WebSocket for each of its sockets."""

import base64
import contextlib
import os
import selectors
import socket
import struct
import threading

BINARY = 2
TEXT = 1
CLOSE = 8


def mask(bytes_, key):
    size = len(bytes_)
    keys = (key * (size // 4 + 1))[:size]
    return (int.from_bytes(bytes_, "big") ^ int.from_bytes(keys, "big")).to_bytes(size, "big")


def frame(bytes_, opcode=BINARY, final=True):
    """One masked frame."""
    head = bytes([(0x80 if final else 0) | opcode])
    size = len(bytes_)
    if size < 126:
        head += bytes([0x80 | size])
    elif size < 65536:
        head += bytes([0x80 | 126]) + struct.pack("!H", size)
    else:
        head += bytes([0x80 | 127]) + struct.pack("!Q", size)
    key = os.urandom(4)
    return head + key + mask(bytes_, key)


def take_frames(buffer):
    """The whole frames at the begin of a bytearray, which loses them: (opcode, bytes)."""
    frames = []
    at = 0
    while len(buffer) - at >= 2:
        size, head = buffer[at + 1] & 0x7F, 2
        if size == 126:
            head = 4
            if len(buffer) - at < head:
                break
            size = struct.unpack_from("!H", buffer, at + 2)[0]
        assert size < 127 or head == 4
        if len(buffer) - at < head + size:
            break
        frames.append((buffer[at] & 0x0F, bytes(buffer[at + head:at + head + size])))
        at += head + size
    del buffer[:at]
    return frames


class WebSocket:
    """Opened at /ws. `status`: of the answer; 101 if it is open."""

    def __init__(self, address, path="/ws", protocol="cairn", origin=None, source=None, timeout=20, receive_buffer=None, upgrade="websocket"):
        host, port = address.rsplit(":", 1)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if source is not None:
            self.socket.bind((source, 0))
        self.socket.connect((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        lines = [f"GET {path} HTTP/1.1", f"Host: {address}", f"Upgrade: {upgrade}", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}", "Sec-WebSocket-Version: 13"]
        lines += [f"Sec-WebSocket-Protocol: {protocol}"] if protocol else []
        lines += [f"Origin: {origin}"] if origin else []
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.buffer = bytearray()
        with contextlib.suppress(ConnectionError):
            while b"\r\n\r\n" not in self.buffer and (more := self.socket.recv(4096)):
                self.buffer += more
        head, _, rest = bytes(self.buffer).partition(b"\r\n\r\n")
        self.status = int(head.split()[1]) if head else 0
        self.buffer = bytearray(rest)

    def send(self, bytes_, **options):
        self.socket.sendall(frame(bytes_, **options))

    def closed_with(self):
        """Reads until the server closes: the code of its close frame; None: it gave none."""
        code = None
        with contextlib.suppress(ConnectionError):
            while True:
                for opcode, bytes_ in take_frames(self.buffer):
                    if opcode == CLOSE and len(bytes_) >= 2:
                        code = struct.unpack("!H", bytes_[:2])[0]
                        self.send(bytes_, opcode=CLOSE)
                more = self.socket.recv(65536)
                if not more:
                    break
                self.buffer += more
        return code

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Bridge:
    """A UDP address; what each peer sends there goes over a WebSocket of its own to a server, and back."""

    def __init__(self, receive_buffer=None):
        self.web = None
        self.receive_buffer = receive_buffer
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.udp.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.udp.getsockname()[1]
        self.peers = {}
        self.ends = False
        self.frames = 0
        self.selector = selectors.DefaultSelector()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self, web):
        self.web = web
        self.thread.start()

    def _run(self):
        self.selector.register(self.udp, selectors.EVENT_READ)
        while not self.ends:
            for key, _ in self.selector.select(0.1):
                with contextlib.suppress(ConnectionError, BlockingIOError):
                    if key.data is None:
                        self._from_client()
                    else:
                        self._from_server(key.data)

    def _from_client(self):
        bytes_, peer = self.udp.recvfrom(2048)
        if peer not in self.peers:
            opened = WebSocket(self.web, receive_buffer=self.receive_buffer)
            assert opened.status == 101
            self.peers[peer] = opened
            self.selector.register(opened.socket, selectors.EVENT_READ, peer)
        self.peers[peer].send(bytes_)

    def _from_server(self, peer):
        opened = self.peers[peer]
        more = opened.socket.recv(65536)
        if not more:
            self.selector.unregister(opened.socket)
            return
        opened.buffer += more
        for opcode, bytes_ in take_frames(opened.buffer):
            if opcode == BINARY:
                self.frames += 1
                self.udp.sendto(bytes_, peer)

    def close(self):
        self.ends = True
        if self.thread.is_alive():
            self.thread.join()
        for opened in self.peers.values():
            opened.close()
        self.udp.close()
