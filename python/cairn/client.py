# SPDX-License-Identifier: MIT
"""An operator's connection: sends a verb, waits for its answer."""

import array
import ctypes
import math
import pathlib
import select
import socket
import time

from . import library as c
from . import messages

_DATAGRAM_SIZE_MAX = 1300
_LEFT = 4  # cairn_client_state: from here on the connection has ended
_UNLIMITED = ("step", "run-until")  # answered when the room has run, which may take any time


class Refused(Exception):
    """The server refused a request: `refusal` names the kind, `reason` is a sentence."""

    def __init__(self, verb, refusal, reason):
        super().__init__(f"{verb}: {refusal}: {reason}")
        self.verb, self.refusal, self.reason = verb, refusal, reason


class NoAnswer(Exception):
    """No connection, or no answer in time."""


def _check_timeout(timeout):
    if timeout is not None and not (0 < timeout < math.inf):
        raise ValueError(f"timeout must be a positive, finite number of seconds, not {timeout}")


class Client:
    """A connection, opened at once with a connect token (2048 bytes, or the name of a file that
    holds them). `room` is the room of every request that names none; "" is the client's own.
    `timeout`, in seconds, limits how long the client waits for an answer."""

    def __init__(self, token, room="", timeout=5.0, library=None):
        if not isinstance(token, (bytes, bytearray)):
            token = pathlib.Path(token).read_bytes()
        if len(token) != 2048:
            raise ValueError("a connect token has 2048 bytes")
        _check_timeout(timeout)
        self.room = room
        self.timeout = timeout
        self._c = c.load(library)
        self._client = self._c.cairn_client_create_operator()
        self._socket = None
        if not self._client:
            raise MemoryError()
        self._c.cairn_client_connect(
            self._client, time.monotonic_ns(), int(time.time()), bytes(token)
        )
        self._wait(lambda: self._c.cairn_client_welcomed(self._client), self.timeout)
        self.operator = self._c.cairn_client_is_operator(self._client)

    def close(self):
        """Disconnects. Requests raise RuntimeError afterwards; a second close does nothing."""
        if self._client:
            self._c.cairn_client_disconnect(self._client, time.monotonic_ns())
            self._send()
            self._c.cairn_client_destroy(self._client)
            self._client = None
        if self._socket:
            self._socket.close()
            self._socket = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def ask(self, verb, *, room=None, timeout=None, **fields):
        """Sends a request and returns its Answer. `fields` are the verb's arguments, as
        schema/control.fbs names them: ask("impulse", body=7, impulse=(0, 50, 0)).

        Raises TypeError or ValueError for fields that the verb does not take, Refused if the server
        refuses, NoAnswer if no answer comes in time."""
        return self.send(verb, self.encode(verb, room=room, **fields), timeout).answer()

    def bodies(self):
        """All bodies in order of id: an array of ids, an array of 13 floats for each (position,
        rotation x y z w, linear and angular velocity), and the last answer, for its tick and hash."""
        ids, numbers = array.array("I"), array.array("f")
        while True:
            reader = self.send("bodies", self.encode("bodies", first=len(ids)))
            answer, bodies = reader.bodies()
            for body_id, floats in bodies:
                ids.append(body_id)
                numbers.extend(floats)
            if len(ids) >= answer.body_count:
                return ids, numbers, answer

    def encode(self, verb, *, room=None, **fields):
        """The bytes of a request, for send. Raises what ask raises before anything is sent."""
        return messages.encode(verb, self.room if room is None else room, **fields)

    def send(self, verb, request, timeout=None):
        """Sends an encoded request and returns a messages.Reader of its answer."""
        self._check_open()
        _check_timeout(timeout)
        number = 0
        reader = None

        def answered():
            nonlocal number, reader
            if number == 0:
                number = self._c.cairn_client_ask_encoded(self._client, request, len(request))
            data = c.u8p()
            while size := self._c.cairn_client_next_answer_encoded(self._client, ctypes.byref(data)):
                reader = messages.Reader(ctypes.string_at(data, size))
                if reader.number == number:
                    return True
            return False

        self._wait(answered, None if timeout is None and verb in _UNLIMITED else timeout or self.timeout)
        if reader.refusal:
            name = self._c.cairn_control_refusal_text(reader.refusal).decode()
            raise Refused(verb, name, reader.reason)
        return reader

    def _check_open(self):
        if not self._client:
            raise RuntimeError("the client is closed")

    def _wait(self, done, timeout):
        end_ns = None if timeout is None else time.monotonic_ns() + int(timeout * 1e9)
        while not done():
            self._drive(end_ns)
            if self._c.cairn_client_state_read(self._client) >= _LEFT:
                raise NoAnswer(self._c.cairn_client_failure_text(self._client).decode())
            if end_ns is not None and time.monotonic_ns() >= end_ns:
                raise NoAnswer("no answer came in time")

    # Receives everything, advances, sends everything, then sleeps until the deadline.
    def _drive(self, end_ns):
        self._receive()
        self._c.cairn_client_advance(self._client, time.monotonic_ns())
        self._send()
        now_ns = time.monotonic_ns()
        wake_ns = min(self._c.cairn_client_deadline_ns(self._client), now_ns + 100_000_000)
        wake_ns = wake_ns if end_ns is None else min(wake_ns, end_ns)
        if self._socket and wake_ns > now_ns:
            select.select([self._socket], [], [], (wake_ns - now_ns) / 1e9)
            self._receive()

    def _receive(self):
        while self._socket:
            try:
                data, from_ = self._socket.recvfrom(65536)
            except (BlockingIOError, ConnectionRefusedError):
                return
            address = self._address(from_)
            self._c.cairn_client_receive(
                self._client, time.monotonic_ns(), ctypes.byref(address), data, len(data)
            )

    def _address(self, from_):
        family = self._socket.family
        raw = socket.inet_pton(family, from_[0])
        address = c.Address(family=1 if family == socket.AF_INET else 2, port=from_[1])
        address.ip[: len(raw)] = list(raw)
        return address

    def _send(self):
        buffer = ctypes.create_string_buffer(_DATAGRAM_SIZE_MAX)
        while True:
            size = self._c.cairn_client_send(self._client, time.monotonic_ns(), buffer)
            if size == 0:
                return
            to = self._c.cairn_client_server_address(self._client)
            family = socket.AF_INET if to.family == 1 else socket.AF_INET6
            if self._socket is None or self._socket.family != family:
                self._open(family)
            host = socket.inet_ntop(family, bytes(to.ip)[: 4 if to.family == 1 else 16])
            try:
                self._socket.sendto(buffer.raw[:size], (host, to.port))
            except (BlockingIOError, ConnectionRefusedError):
                return

    def _open(self, family):
        if self._socket:
            self._socket.close()
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
