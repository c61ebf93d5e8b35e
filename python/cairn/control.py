# SPDX-License-Identifier: MIT
"""Control requests and answers (<cairn/control.h>) as Python values."""

from __future__ import annotations

import types
from typing import Any

from . import layout
from ._native import ffi, lib


def _members(struct: str) -> dict[str, Any]:
    """The members of the union at the end of a request or an answer: the type of each by name."""
    return {name: field.type for name, field in ffi.typeof(struct).fields if field.type.cname.startswith("struct cairn_control_")}


# Verbs that share the member of another one, or have another name there.
_REQUEST_NAMES = {"delete": "delete_body"}
_ANSWER_NAMES = {"step": "run", "run_until": "run", "cast": "ray"}
_REQUESTS = _members("cairn_control_request")
_ANSWERS = _members("cairn_control_answer")

# "run-until": its number.
VERBS = {
    ffi.string(lib.cairn_control_verb_text(verb)).decode(): verb for verb in range(1, lib.CAIRN_CONTROL_VERB_COUNT)
}
_TEXTS = {number: verb for verb, number in VERBS.items()}

# Fields that a request may leave out although they are not numbers, because another one replaces them.
_OPTIONAL = {
    "overlap": {"half_extents"}, "cast": {"half_extents"}, "spawn": {"rotation", "size", "points"},
    "create-joint": {"axis"}, "act": {"edits", "watched"}, "set-body": {"value"}, "set-joint": {"value"},
    "set-shape": {"value"}, "set-pose": {"rotation"},
    "spawn-compound": {"rotation", "points"}, "spawn-mesh": {"rotation"}, "spawn-height-field": {"rotation"}, "set-mass": {"products"},
    "set-row": {"linear_a", "angular_a", "linear_b", "angular_b"},
}


def _words(enum: str, prefix: str) -> dict[str, int]:
    """The words of an enum in the order of their numbers: "gravity-scale" for CAIRN_BODY_PROPERTY_GRAVITY_SCALE."""
    named = sorted(ffi.typeof(enum).relements.items(), key=lambda pair: int(pair[1]))
    return {name.removeprefix(prefix).lower().replace("_", "-"): number
            for name, number in named if not name.endswith("_LAST")}


_BODY = _words("cairn_body_property", "CAIRN_BODY_PROPERTY_")
_JOINT = _words("cairn_joint_property", "CAIRN_JOINT_PROPERTY_")
_SHAPE_KIND = _words("cairn_shape_kind", "CAIRN_SHAPE_")
# Fields of requests that may be words: "mass" in place of its number.
_FIELD_WORDS = {
    ("set-body", "property"): _BODY, ("set-shape", "property"): _BODY, ("set-joint", "property"): _JOINT,
    ("spawn", "shape"): _SHAPE_KIND, ("spawn-compound", "shape"): _SHAPE_KIND,
    ("create-joint", "kind"): _words("cairn_joint_kind", "CAIRN_JOINT_"),
}


def number_of(verb: str, field: str, value: Any) -> Any:
    """The number of a word, or the value itself."""
    known = _FIELD_WORDS.get((verb, field))
    if known is None or not isinstance(value, str):
        return value
    if value not in known:
        raise ValueError(f"{verb}: {field} must be one of {', '.join(known)}, not {value!r}")
    return known[value]


def _request_member(verb: str) -> str:
    name = verb.replace("-", "_")
    return _REQUEST_NAMES.get(name, name)


def _answer_member(verb: str) -> str | None:
    name = _ANSWER_NAMES.get(verb.replace("-", "_"), verb.replace("-", "_"))
    if name in _ANSWERS:
        return name
    return "edit" if name in _EDITS else None


_EDITS = {verb.replace("-", "_") for verb in VERBS} & {
    "spawn_box", "spawn_sphere", "spawn", "delete", "set_position", "set_velocity", "impulse", "set_body", "push",
    "set_target", "set_gravity", "explode", "set_joint", "delete_joint", "create_joint", "set_row",
    "set_pose", "set_mass", "set_shape", "spawn_compound", "spawn_mesh", "spawn_height_field"}


def _is_list(ctype: Any) -> bool:
    return ctype.kind == "pointer" and ctype.item.cname != "char"


def fields_of(verb: str) -> list[str]:
    """The names of the verb's arguments, as <cairn/control.h> has them."""
    if verb not in VERBS:
        raise ValueError(f"no such verb: {verb}")
    ctype = _REQUESTS.get(_request_member(verb))
    fields = ctype.fields if ctype is not None else []
    counts = {fields[i + 1][0] for i, (_, field) in enumerate(fields) if _is_list(field.type)}
    return [name for name, _ in fields if name not in counts]


def _element(where: str, ctype: Any, value: Any) -> Any:
    """A value that an element of a list takes: numbers in the order of its fields, or fields by name, those
    that are left out being 0. An element of one number may be that number."""
    if ctype.kind == "primitive":
        return layout.real(where, value) if ctype.cname == "float" else layout.whole(where, value)
    names = [name for name, _ in ctype.fields]
    if isinstance(value, dict):
        unknown = set(value) - set(names)
        if unknown:
            raise TypeError(f"{where} has no field {min(unknown)!r}; its fields: {', '.join(names)}")
        verb = where.split(":")[0]
        return {name: _element(f"{where}: {name}", field.type, number_of(verb, name, value[name]))
                for name, field in ctype.fields if name in value}
    if len(names) == 1 and not isinstance(value, (tuple, list)):
        value = (value,)
    if all(field.type.cname == "float" for _, field in ctype.fields):
        return layout.vector(where, value, len(names))
    if not isinstance(value, (tuple, list)) or len(value) != len(names):
        raise TypeError(f"{where} must be {', '.join(names)}, not {value!r}")
    return [_element(where, field.type, part) for (_, field), part in zip(ctype.fields, value)]


def _assign_list(struct: Any, name: str, count: str, ctype: Any, where: str, value: Any, keep: list[Any]) -> None:
    item = ctype.item
    if item.kind == "primitive" and ffi.sizeof(item) == 1:
        keep.append(ffi.from_buffer(value))
    else:
        value = [_element(where, item, element) for element in value]
        keep.append(ffi.new(f"{item.cname}[]", value))
    setattr(struct, name, ffi.cast(ctype, keep[-1]))
    setattr(struct, count, len(value))


class Request:
    """A request with checked fields. TypeError: the verb does not have the field, a required field is missing, or
    its type is wrong. ValueError: no request can carry the value, such as NaN. A property or a kind may be given by
    its number or its name ("mass"). None: the field is left out. 0 is a value and is sent."""

    def __init__(self, verb: str, room: str = "", **fields: Any) -> None:
        known = fields_of(verb)
        self.verb = verb
        self._keep: list[Any] = [ffi.new("char[]", layout.text("room", room))]
        self.struct = ffi.new("cairn_control_request *")
        self.struct.verb, self.struct.room = VERBS[verb], self._keep[0]
        given = {name: number_of(verb, name, value) for name, value in fields.items() if value is not None}
        for name in given:
            if name not in known:
                raise TypeError(f"{verb} has no field {name!r}; its fields: {', '.join(known) or 'none'}")
        if known:
            self._fill(getattr(self.struct, _request_member(verb)), given)

    def _fill(self, member: Any, given: dict[str, Any]) -> None:
        ctypes = ffi.typeof(member).fields
        types_of = dict(ctypes)
        names = [name for name, _ in ctypes]
        for name in fields_of(self.verb):
            ctype, where = types_of[name].type, f"{self.verb}: {name}"
            if name in given:
                if _is_list(ctype):
                    count = names[names.index(name) + 1]
                    _assign_list(member, name, count, ctype, where, given[name], self._keep)
                else:
                    layout.assign(member, name, ctype, where, given[name], self._keep)
                if "has_" + name in types_of:
                    setattr(member, "has_" + name, True)
            elif ctype.kind in ("struct", "pointer") and name not in _OPTIONAL.get(self.verb, ()):
                raise TypeError(f"{self.verb}: the field {name!r} is missing")


class Answer(types.SimpleNamespace):
    """What the server answered: `room`, `tick` and `hash` (full root of the room's world, 32
    hexadecimal digits), and the fields of the verb, as <cairn/control.h> names them."""


def answer_of(struct: Any) -> Answer:
    """The Python values of a cairn_control_answer, which is valid until the next one is read."""
    verb = _TEXTS.get(struct.verb, "")
    member = _answer_member(verb)
    found: dict[str, Any] = {}
    if member is not None:
        found = layout.fields_of(getattr(struct, member), _ANSWERS[member])
    return Answer(**{"room": layout.plain(struct.room), "tick": struct.tick, "hash": layout.plain(struct.root), **found})
