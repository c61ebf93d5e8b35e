# SPDX-License-Identifier: MIT
"""A connection to a server: an operator sends verbs and waits for answers, a player plays."""

from __future__ import annotations

import math
import os
import pathlib
import time
from typing import Any, Sequence

import numpy

from . import layout
from ._native import ffi, lib
from .control import Answer, Request, answer_of
from .errors import Closed, InvalidArgument, NoAnswer, Refused, check

TOKEN_SIZE = lib.CAIRN_CONNECT_TOKEN_SIZE
BODY = layout.dtype_of("cairn_control_body")
_UNLIMITED = ("step", "run-until", "act")  # answered when the room has run, which may take any time
_SLICE_NS = 100_000_000  # between two looks at whether Python has a signal to handle


def _check_timeout(timeout: float | None) -> None:
    if timeout is not None and not (0 < timeout < math.inf):
        raise ValueError(f"timeout must be a positive, finite number of seconds, not {timeout}")


class Client:
    """A connection, opened at once with a connect token (2048 bytes, or the name of a file that
    holds them). `room` is the room of every request that names none; "" is the client's own.
    `timeout`, in seconds, limits how long the client waits for an answer. With `player` it takes a
    slot of the server's first room and plays without a world of its own: `play`, `run`, `shared`,
    `send_message` and `game_messages`."""

    def __init__(self, token: bytes | str | os.PathLike[str], room: str = "", timeout: float = 5.0,
                 player: bool = False) -> None:
        self._link: Any = None
        if not isinstance(token, (bytes, bytearray)):
            token = pathlib.Path(token).read_bytes()
        if len(token) != TOKEN_SIZE:
            raise ValueError(f"a connect token has {TOKEN_SIZE} bytes")
        _check_timeout(timeout)
        self.room = room
        self.timeout = timeout
        self._link = lib.cairn_native_link_open(bytes(token), player)
        if self._link == ffi.NULL:
            self._link = None
            raise ValueError("the connect token is malformed or expired")
        self._client = lib.cairn_native_link_client(self._link)
        self._answer = ffi.new("cairn_control_answer *")
        try:
            self._wait(True, timeout)
        except BaseException:
            self.close()
            raise
        self.operator: bool = lib.cairn_client_is_operator(self._client)

    def close(self) -> None:
        """Disconnects. Requests raise Closed afterwards; a second close does nothing."""
        if self._link is not None:
            lib.cairn_native_link_close(self._link)
            self._link = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def ask(self, verb: str, *, room: str | None = None, timeout: float | None = None, **fields: Any) -> Answer:
        """Sends a request and returns its Answer. `fields` are the verb's arguments, as <cairn/control.h>
        names them: ask("impulse", body=7, impulse=(0, 50, 0)).

        Raises TypeError or ValueError for fields that the verb does not take, Refused if the server
        refuses, NoAnswer if no answer comes in time."""
        return answer_of(self.send(self.request(verb, room=room, **fields), timeout))

    def request(self, verb: str, *, room: str | None = None, **fields: Any) -> Request:
        """A checked request, for send. Raises what ask raises before anything is sent."""
        return Request(verb, self.room if room is None else room, **fields)

    def send(self, request: Any, timeout: float | None = None) -> Any:
        """Sends a Request and returns the cairn_control_answer, which is valid until the next one."""
        self._check_open()
        _check_timeout(timeout)
        number = 0
        limit = None if timeout is None and request.verb in _UNLIMITED else timeout or self.timeout
        end = None if limit is None else time.monotonic() + limit
        while number == 0:
            number = lib.cairn_client_ask(self._client, request.struct)
            if number == 0:  # too much waits to be sent
                self._wait_slice(end)
        while True:
            while lib.cairn_client_next_answer(self._client, self._answer):
                if self._answer.number == number:
                    return self._accepted(request.verb)
            self._wait(False, None if end is None else end - time.monotonic())

    def _accepted(self, verb: str) -> Any:
        if self._answer.refusal:
            name = ffi.string(lib.cairn_control_refusal_text(self._answer.refusal)).decode()
            raise Refused(verb, name, ffi.string(self._answer.reason).decode())
        return self._answer

    def bodies(self, room: str | None = None) -> tuple[numpy.ndarray, Answer]:
        """All bodies in order of id, one row for each (id, kind, awake, user, position, rotation,
        linear_velocity, angular_velocity), and the last answer, for its tick and hash."""
        parts: list[numpy.ndarray] = []
        count = 0
        while True:
            answer = self.send(self.request("bodies", room=room, first=count))
            listed = answer.bodies.listed_count
            rows = bytes(ffi.buffer(answer.bodies.bodies, listed * BODY.itemsize)) if listed else b""
            parts.append(numpy.frombuffer(rows, dtype=BODY))
            count += listed
            if count >= answer.bodies.body_count:
                answer.bodies.listed_count = 0
                return numpy.concatenate(parts), answer_of(answer)

    def run(self, seconds: float) -> None:
        """Sends and receives for so long: inputs leave, snapshots and messages arrive."""
        self._check_open()
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if lib.cairn_native_link_wait(self._link, False, min(_SLICE_NS, int(left * 1e9))):
                lib.cairn_client_next_answer(self._client, self._answer)  # nobody asked for it
            if lib.cairn_native_link_ended(self._link):
                raise NoAnswer(ffi.string(lib.cairn_client_failure_text(self._client)).decode())

    def play(self, *declared: float, buttons: int = 0, move: Sequence[float] = (0, 0, 0),
             aim: Sequence[float] = (0, 0, 0)) -> None:
        """What a player holds from now on: buttons, move and aim, or, if the room's rules declare an
        input, a number for each of its fields. InvalidArgument: a value is out of range, the input is
        not of this layout, or the client has no slot."""
        self._check_open()
        if declared:
            fields = ffi.new("cairn_input_field[]", lib.CAIRN_INPUT_FIELDS_MAX)
            count = lib.cairn_client_input_fields(self._client, fields)
            if count > 0 and len(declared) != count:
                raise TypeError(f"an input of the room's rules has {count} fields, not {len(declared)}")
            taken = count > 0 and lib.cairn_client_push_game_input(
                self._client, layout.input_words(fields, declared), 4 * count)
        else:
            taken = lib.cairn_client_push_input(self._client, ffi.new("cairn_client_input *", (buttons, move, aim)))
        if not taken:
            raise InvalidArgument("the input is out of range or not what the room's rules declare, or the client has no slot")

    def send_message(self, message: bytes) -> None:
        """Sends a player's message to the rules of the room: 1 to 256 bytes."""
        self._check_open()
        check(lib.cairn_client_send_game_message(self._client, message, len(message)), "send_message")

    def game_messages(self) -> list[tuple[str, int, bytes]]:
        """What the rules sent to this client and `run` received: "message" or "event", the tick, the bytes."""
        self._check_open()
        taken = ffi.new("cairn_client_game_message *")
        out = []
        while lib.cairn_client_next_game_message(self._client, taken):
            kind = "message" if taken.kind == lib.CAIRN_CLIENT_GAME_MESSAGE else "event"
            out.append((kind, taken.tick, bytes(ffi.buffer(taken.bytes, taken.size))))
        return out

    def shared(self) -> bytes:
        """The part of the rules' state that they share; empty before it arrives, or if they share nothing."""
        self._check_open()
        lib.cairn_client_sample_world(
            self._client, time.monotonic_ns(), ffi.NULL, 0, ffi.new("cairn_client_sample *"))
        out = ffi.new("uint8_t[]", lib.CAIRN_SHARED_SIZE_MAX)
        return bytes(ffi.buffer(out, lib.cairn_client_shared_read(self._client, out, len(out), ffi.NULL)))

    def _check_open(self) -> None:
        if self._link is None:
            raise Closed("the client is closed")

    def _wait_slice(self, end: float | None) -> bool:
        if end is not None and time.monotonic() >= end:
            raise NoAnswer("no answer came in time")
        return lib.cairn_native_link_wait(self._link, False, _SLICE_NS)

    def _wait(self, welcome: bool, seconds: float | None) -> None:
        """Waits for an answer, or for WELCOME. Python's signals are handled meanwhile."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = _SLICE_NS if end is None else max(0, min(_SLICE_NS, int((end - time.monotonic()) * 1e9)))
            if lib.cairn_native_link_wait(self._link, welcome, left):
                return
            if lib.cairn_native_link_ended(self._link):
                raise NoAnswer(ffi.string(lib.cairn_client_failure_text(self._client)).decode())
            if end is not None and time.monotonic() >= end:
                raise NoAnswer("no answer came in time")
