# SPDX-License-Identifier: MIT
"""Control requests and answers, by the code that FlatBuffers generates from schema/control.fbs."""

import importlib
import importlib.util
import math
import operator
import re
import struct
import types

import flatbuffers

from .wire import Answer as WireAnswer
from .wire import BodiesAnswer, Control, ControlAnswer, ControlRequest, Envelope, Message, Name
from .wire import Hash128, Quat, Vec3

_FLOAT_MAX = 3.4028234663852886e38
_BODY = struct.Struct("<4I13f")  # BodyState


def _snake(camel):
    return re.sub(r"(?<!^)([A-Z])", r"_\1", camel).lower()


def _camel(snake):
    first, *rest = snake.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _table(name):
    """The generated class of a verb's arguments; verbs without arguments share one."""
    module = name + "Request" if importlib.util.find_spec(f"cairn.wire.{name}Request") else "Nothing"
    return getattr(importlib.import_module(f"cairn.wire.{module}"), module + "T")


# "run-until": its number in the unions, the class of its arguments.
VERBS = {
    _snake(name).replace("_", "-"): (number, _table(name))
    for name, number in vars(ControlRequest.ControlRequest).items()
    if isinstance(number, int) and number != 0
}
_NAMES = {number: verb for verb, (number, _) in VERBS.items()}

# Structs that a request may leave out, because another field replaces them.
_DEFAULTS = {
    "overlap": {"half_extents": (0.0, 0.0, 0.0)},
    "cast": {"half_extents": (0.0, 0.0, 0.0)},
    "spawn": {"rotation": (0.0, 0.0, 0.0), "size": (0.0, 0.0, 0.0), "points": ()},
    "create-joint": {"axis": (0.0, 0.0, 0.0)},
}


def fields_of(verb):
    """The names of the verb's arguments."""
    if verb not in VERBS:
        raise ValueError(f"no such verb: {verb}")
    return [_snake(name) for name in vars(VERBS[verb][1]())]


def _real(where, value):
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"{where} is not finite: {value}")
    if abs(value) > _FLOAT_MAX:
        raise ValueError(f"{where} is beyond single precision: {value}")
    return value


def _text(where, value):
    if not isinstance(value, str):
        raise TypeError(f"{where} must be a str, not {type(value).__name__}")
    if not all(" " <= letter <= "~" for letter in value):
        raise ValueError(f"{where} must be printable ASCII: {value!r}")
    return value


def _converted(where, default, value):
    """The value as the generated code takes it. Its type is that of the field's default, which is
    None for texts, vectors and bytes."""
    if isinstance(default, bool):
        return bool(value)
    if isinstance(default, float):
        return _real(where, value)
    if isinstance(default, int):
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"{where} must be an int, not {type(value).__name__}") from None
        if number < 0:
            raise ValueError(f"{where} is negative: {number}")
        return number
    if isinstance(value, (bytes, bytearray)):
        return value
    if isinstance(value, str):
        return _text(where, value)
    if where.endswith(": points"):
        return [_vector(where, point) for point in value]
    return _vector(where, value)


def _vector(where, value):
    try:
        x, y, z = value
    except (TypeError, ValueError):
        raise TypeError(f"{where} must be three numbers, a str or bytes, not {value!r}") from None
    vector = Vec3.Vec3T()
    vector.x, vector.y, vector.z = (_real(where, component) for component in (x, y, z))
    return vector


def encode(verb, room="", **fields):
    """The bytes of a request. TypeError for a field that the verb does not have, or lacks, or of
    the wrong type; ValueError for a value that no request can carry, such as NaN. A field that is
    None counts as left out; a seed, tick, radius or client that is given is used even if it is 0."""
    known = fields_of(verb)
    number, table = VERBS[verb]
    request = table()
    fields = {**_DEFAULTS.get(verb, {}), **{k: v for k, v in fields.items() if v is not None}}
    for name, value in fields.items():
        if name not in known:
            raise TypeError(f"{verb} has no field {name!r}; its fields: {', '.join(known) or 'none'}")
        attribute = _camel(name)
        converted = _converted(f"{verb}: {name}", getattr(request, attribute), value)
        setattr(request, attribute, converted)
        if "has_" + name in known:
            setattr(request, _camel("has_" + name), True)
    for name, value in vars(request).items():
        if value is None:
            raise TypeError(f"{verb}: the field {_snake(name)!r} is missing")
    control = Control.ControlT()
    control.room = _text("room", room)
    control.requestType = number
    control.request = request
    envelope = Envelope.EnvelopeT()
    envelope.messageType = Message.Message.Control
    envelope.message = control
    builder = flatbuffers.Builder(0)
    try:
        builder.Finish(envelope.Pack(builder), file_identifier=b"CRNM")
    except (flatbuffers.number_types.struct.error, TypeError) as error:
        raise ValueError(f"{verb}: {error}") from None
    return bytes(builder.Output())


class Answer(types.SimpleNamespace):
    """What the server answered: `room`, `tick` and `hash` (full root of the room's world, 32
    hexadecimal digits), and the fields of the verb, as schema/control.fbs names them."""


def _unpack_name(self, name):
    # The generated code of this version cannot read arrays inside structs.
    self.text = bytes(name.Text()).rstrip(b"\0").decode("ascii")


Name.NameT._UnPack = _unpack_name


def _hash_text(value):
    return f"{value.hi:016x}{value.lo:016x}"


def _plain(value):
    if isinstance(value, Name.NameT):
        return value.text
    if isinstance(value, Vec3.Vec3T):
        return (value.x, value.y, value.z)
    if isinstance(value, Quat.QuatT):
        return (value.x, value.y, value.z, value.w)
    if isinstance(value, Hash128.Hash128T):
        return _hash_text(value)
    if isinstance(value, bytes):
        return value.decode("ascii")
    if isinstance(value, list):
        return [_plain(element) for element in value]
    if hasattr(value, "__dict__"):
        return types.SimpleNamespace(**_fields(value))
    return value


def _fields(table):
    # A vector of bytes is the only one of numbers: a list, or an array where there is numpy.
    found = {}
    for name, value in vars(table).items():
        found[_snake(name)] = bytes(value) if name == "bytes" else _plain(value)
    return found


class Reader:
    """A received answer: its number, verb and refusal."""

    def __init__(self, data):
        table = Envelope.Envelope.GetRootAs(data, 0).Message()
        self._answer = WireAnswer.Answer()
        self._answer.Init(table.Bytes, table.Pos)
        self.number = self._answer.Number()
        self.verb = _NAMES.get(self._answer.Verb(), str(self._answer.Verb()))
        self.refusal = self._answer.Refusal()
        self.reason = self._answer.Reason().decode("ascii")

    def _common(self):
        root = self._answer.Root()
        return {
            "room": self._answer.Room().decode("ascii"),
            "tick": self._answer.Tick(),
            "hash": f"{root.Hi():016x}{root.Lo():016x}",
        }

    def answer(self):
        """The complete answer."""
        kind = self._answer.AnswerType()
        body = ControlAnswer.ControlAnswerCreator(kind, self._answer.Answer())
        return Answer(**self._common(), **(_fields(body) if body is not None else {}))

    def bodies(self):
        """Of an answer to "bodies": how many bodies there are, and for each one that is listed its
        id and 13 floats. Faster than answer()."""
        table = self._answer.Answer()
        bodies = BodiesAnswer.BodiesAnswer()
        bodies.Init(table.Bytes, table.Pos)
        listed = bodies.BodiesLength()
        first = bodies.Bodies(0)._tab.Pos if listed else 0
        rows = _BODY.iter_unpack(bytes(table.Bytes[first : first + listed * _BODY.size]))
        answer = Answer(**self._common(), body_count=bodies.BodyCount())
        return answer, [(row[0], row[4:]) for row in rows]
