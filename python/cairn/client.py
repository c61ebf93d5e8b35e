# SPDX-License-Identifier: MIT
"""An operator's connection: ask a verb, get an answer."""

import array
import ctypes
import dataclasses
import pathlib
import select
import socket
import time

from . import library as c

_DATAGRAM_SIZE_MAX = 1300
_LEFT = 4  # cairn_client_state: from here on the connection is over
_GIVEN = 1  # bit of mask: the seed or tick is meant, even when it is 0
_LONG = ("step", "run-until")  # answered when the room has run


class Refused(Exception):
    """The server said no: `refusal` names why, `words` is a sentence."""

    def __init__(self, verb, refusal, words):
        super().__init__(f"{verb}: {refusal}: {words}")
        self.verb, self.refusal, self.words = verb, refusal, words


class NoAnswer(Exception):
    """No connection, or no answer in time."""


@dataclasses.dataclass
class Answer:
    room: str
    tick: int
    hash: str  # full root of the room's world at that tick, 32 hexadecimal digits
    count: int
    ids: array.array
    numbers: array.array
    bytes: bytes

    @property
    def facts(self):
        """The answer's lines of a name and a value, for the verbs that tell such."""
        lines = self.bytes.decode("ascii").splitlines()
        return dict((line.split(" ", 1) + [""])[:2] for line in lines)


def _copied(kind, pointer, count):
    result = array.array(kind)
    size = count * result.itemsize
    result.frombytes(ctypes.string_at(pointer, size) if count else b"")
    return result


class Client:
    """Connects at once with a connect token (2048 bytes, or the name of a file that holds them)."""

    def __init__(self, token, room="", timeout=5.0, library=None):
        if not isinstance(token, (bytes, bytearray)):
            token = pathlib.Path(token).read_bytes()
        if len(token) != 2048:
            raise ValueError("a connect token has 2048 bytes")
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

    def ask(self, verb, *numbers, timeout=None, **fields):
        """Asks and waits. `fields` are those of CONTROL that the verb reads: tick, count, seed,
        name, body, mask, bytes, room. Raises Refused and NoAnswer."""
        reply = c.Reply()
        request = self._request(verb, numbers, fields)
        number = [0]

        def answered():
            if number[0] == 0:
                number[0] = self._c.cairn_client_ask(self._client, ctypes.byref(request))
            while self._c.cairn_client_next_reply(self._client, ctypes.byref(reply)):
                if reply.request == number[0]:
                    return True
            return False

        self._wait(answered, None if timeout is None and verb in _LONG else timeout or self.timeout)
        if reply.refusal:
            name = self._c.cairn_client_refusal_text(reply.refusal).decode()
            raise Refused(verb, name, reply.words.decode())
        return Answer(
            room=reply.room.decode(),
            tick=reply.tick,
            hash=f"{reply.root_hi:016x}{reply.root_lo:016x}",
            count=reply.count,
            ids=_copied("I", reply.ids, reply.id_count),
            numbers=_copied("f", reply.numbers, reply.number_count),
            bytes=ctypes.string_at(reply.bytes, reply.byte_count) if reply.byte_count else b"",
        )

    def bodies(self):
        """All bodies: ids, and 13 numbers for each (position, rotation x y z w, linear and angular
        velocity), in order of id. The last answer's tick and hash come along."""
        ids, numbers = array.array("I"), array.array("f")
        while True:
            answer = self.ask("bodies", count=len(ids))
            ids.extend(answer.ids[0::4])
            numbers.extend(answer.numbers)
            if len(ids) >= answer.count:
                return ids, numbers, answer

    def _request(self, verb, numbers, fields):
        found = self._c.cairn_client_verb_find(verb.encode())
        if found == 0:
            raise ValueError(f"no such verb: {verb}")
        fields.setdefault("room", self.room)
        texts = {name: fields[name].encode() for name in ("room", "name") if name in fields}
        data = bytes(fields.pop("bytes", b""))
        request = c.Request(verb=found, **{**fields, **texts})
        if verb in ("reset", "room-create") and fields.get("seed") is not None:
            request.mask |= _GIVEN
        if verb == "fork" and fields.get("tick") is not None:
            request.mask |= _GIVEN
        # The arrays live as long as the request does.
        request.held = (ctypes.c_float * len(numbers))(*numbers), (
            ctypes.c_uint8 * len(data)
        ).from_buffer_copy(data)
        request.numbers = ctypes.cast(request.held[0], c.f32p)
        request.number_count = len(numbers)
        request.bytes = ctypes.cast(request.held[1], c.u8p)
        request.byte_count = len(data)
        return request

    def _wait(self, done, timeout):
        end_ns = None if timeout is None else time.monotonic_ns() + int(timeout * 1e9)
        while not done():
            self._turn(end_ns)
            if self._c.cairn_client_state_read(self._client) >= _LEFT:
                raise NoAnswer(self._c.cairn_client_failure_text(self._client).decode())
            if end_ns is not None and time.monotonic_ns() >= end_ns:
                raise NoAnswer("nothing was heard in time")

    # Receive until dry, advance, send until dry, sleep to the deadline.
    def _turn(self, end_ns):
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
