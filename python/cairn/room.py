# SPDX-License-Identifier: MIT
"""A room of a server with the methods of World that actions need."""

from __future__ import annotations

import math
from typing import Any, Sequence

import numpy

from . import layout
from ._native import ffi, lib
from .client import Client
from .control import number_of
from .world import World

Vector = Sequence[float]
_ZERO = (0.0, 0.0, 0.0)
_SAVE = "cairn-room-draw"  # for as long as a picture is made


class _Act:
    """The request that Room sends again and again."""

    verb = "act"

    def __init__(self, room: str) -> None:
        self._room = ffi.new("char[]", layout.text("room", room))
        self.struct = ffi.new("cairn_control_request *", {"verb": lib.CAIRN_CONTROL_ACT, "room": self._room})
        self._watched: Any = None
        self._held: Any = None

    def fill(self, edits: list[tuple[Any, ...]], ticks: int, watched: numpy.ndarray, fields: int) -> None:
        act = self.struct.act
        if watched is not self._watched:
            self._watched = watched
            act.watched, act.watched_count = ffi.cast("cairn_control_watched *", watched.ctypes.data), len(watched)
        self._held = ffi.new("cairn_control_edit[]", edits)
        act.edits, act.edit_count = self._held, len(edits)
        act.tick_count, act.fields = ticks, fields


class Room:
    """A paused room of a server. Edits are checked at once and travel with the next step, all in one
    request: a round trip for each step."""

    def __init__(self, client: Client, room: str | None = None) -> None:
        self.client = client
        self.name = client.room if room is None else room
        self._edits: list[tuple[Any, ...]] = []
        self._act = _Act(self.name)
        answer = client.ask("pause", room=self.name)
        self.tick, self.hash = answer.tick, answer.hash
        state = client.ask("state", room=self.name)
        self.tick_rate_hz: int = state.tick_rate_hz
        self._has_rules = state.rules != ""

    @property
    def bodies(self) -> numpy.ndarray:
        """All bodies of the room as it is, one row for each."""
        return self.client.bodies(self.name)[0]

    def restart(self, seed: int | None, rng: numpy.random.Generator) -> None:
        """The scene's first state; without a seed one that `rng` draws, if the room has rules."""
        if seed is None and self._has_rules:
            seed = int(rng.integers(1 << 63))
        answer = self.client.ask("reset", room=self.name, seed=seed)
        self._edits.clear()
        self.tick, self.hash = answer.tick, answer.hash

    def _edit(self, kind: int, body: Any, move: Vector = _ZERO, aim: Vector = _ZERO) -> None:
        if len(self._edits) >= lib.CAIRN_CONTROL_ACT_EDITS_MAX:
            raise ValueError(f"a step takes at most {lib.CAIRN_CONTROL_ACT_EDITS_MAX} edits")
        self._edits.append((kind, layout.whole("body", body), layout.vector("edit", move), layout.vector("edit", aim)))

    def impulse(self, body: int, impulse: Vector, point: Vector | None = None) -> None:
        """N s, at the centre of mass or at a point of the world."""
        kind = lib.CAIRN_COMMAND_IMPULSE if point is None else lib.CAIRN_COMMAND_IMPULSE_AT
        self._edit(kind, body, layout.vector("impulse", impulse), _ZERO if point is None else point)

    def angular_impulse(self, body: int, impulse: Vector) -> None:
        self._edit(lib.CAIRN_COMMAND_TURN, body, impulse)

    def force(self, body: int, force: Vector, torque: Vector = _ZERO) -> None:
        self._edit(lib.CAIRN_COMMAND_FORCE, body, force, torque)

    def set_velocity(self, body: int, linear_velocity: Vector, angular_velocity: Vector = _ZERO) -> None:
        self._edit(lib.CAIRN_COMMAND_SET_VELOCITY, body, linear_velocity, angular_velocity)

    def set_position(self, body: int, position: Vector) -> None:
        self._edit(lib.CAIRN_COMMAND_SET_POSITION, body, position)

    def _set(self, verb: str, kind: int, what: int, name: str | int, value: Sequence[float] | float, word: int) -> None:
        numbers = tuple(numpy.atleast_1d(value).tolist())
        number = number_of(verb, "property", name)
        low, high = layout.whole("word", word) & 0xFFFF, layout.whole("word", word) >> 16
        self._edit(kind, what, (*numbers, *_ZERO[len(numbers):]), (number, low, high))

    def set_body(self, body: int, name: str | int, value: Sequence[float] | float = 0.0, word: int = 0) -> None:
        """Sets a property of a body: "gravity-scale" or its number (cairn_body_property). `word`: of those that
        are words."""
        self._set("set-body", lib.CAIRN_COMMAND_SET_BODY, body, name, value, word)

    def set_joint(self, joint: int, name: str | int, value: Sequence[float] | float = 0.0, word: int = 0) -> None:
        """Sets a property of a joint: "motor-on" or its number (cairn_joint_property)."""
        self._set("set-joint", lib.CAIRN_COMMAND_SET_JOINT, joint, name, value, word)

    def set_shape(self, shape: int, name: str | int, value: Sequence[float] | float = 0.0, word: int = 0) -> None:
        """Sets a property of a shape: friction and the rest of its material, density, category, mask, user."""
        self._set("set-shape", lib.CAIRN_COMMAND_SET_SHAPE, shape, name, value, word)

    def set_pose(self, body: int, position: Vector, rotation: Vector = (0, 0, 0, 1)) -> None:
        """Puts a body elsewhere. The rotation travels as a rotation vector, so that it is that of World.set_pose
        only to rounding."""
        *axis, w = layout.vector("rotation", rotation, 4)
        sine = math.hypot(*axis)
        scale = 2.0 * math.atan2(sine, w) / sine if sine > 0.0 else 0.0
        self._edit(lib.CAIRN_COMMAND_SET_POSE, body, position, [scale * part for part in axis])

    def set_motor(self, joint: int, speed: float, force: float) -> None:
        """rad/s and N m of a hinge or wheel, m/s and N of a prismatic joint."""
        self.set_joint(joint, "motor", (speed, force))

    def set_joint_target(self, joint: int, target: float) -> None:
        """Where the joint's spring rests: rad or m."""
        self.set_joint(joint, "target", target)

    def set_gravity(self, gravity: Vector) -> None:
        self._edit(lib.CAIRN_COMMAND_SET_GRAVITY, 0, gravity)

    def destroy(self, body: int) -> None:
        self._edit(lib.CAIRN_COMMAND_DESTROY, body)

    def fracture(self, body: int, point: Vector, *, pieces: int = 12, crowding: float = 0.5, thickness_min: float = 0.02,
                 seed: int = 0) -> None:
        """Breaks a body as World.fracture does, by the next step; the verb "fracture" says which pieces it makes.
        A seed has 32 bits here."""
        if seed:
            self._edit(lib.CAIRN_COMMAND_SEED, layout.whole("seed", seed))
        self._edit(lib.CAIRN_COMMAND_FRACTURE, body, layout.vector("point", point), (pieces, crowding, thickness_min))

    def spawn_box(self, position: Vector, half_extents: Vector, user: int = 0) -> None:
        self._edit(lib.CAIRN_COMMAND_SPAWN_BOX, user, position, half_extents)

    def spawn_sphere(self, position: Vector, radius: float, user: int = 0) -> None:
        self._edit(lib.CAIRN_COMMAND_SPAWN_SPHERE, user, position, (radius, 0, 0))

    def advance(self, ticks: int, watched: numpy.ndarray, fields: int, width: int) -> numpy.ndarray:
        """Sends the edits, steps, and returns the numbers of the bodies `watched` (cairn_observed_field).
        If the server refuses one edit, none is applied and nothing is stepped."""
        edits, self._edits = self._edits, []
        self._act.fill(edits, ticks, watched, fields)
        answer = self.client.send(self._act)
        self.tick, self.hash = answer.tick, layout.plain(answer.root)
        size = answer.act.number_count * 4
        return numpy.frombuffer(bytes(ffi.buffer(answer.act.numbers, size)), dtype="f4").reshape(len(watched), width)

    def encode(self) -> bytes:
        """The state of the room on the server in the canonical form: World.from_encoding makes a world of it."""
        self.client.ask("save", room=self.name, name=_SAVE)
        parts: list[bytes] = []
        offset, size = 0, 1
        while offset < size:
            piece = self.client.send(self.client.request("save-read", room=self.name, name=_SAVE, offset=offset)).save_read
            size = piece.size
            parts.append(bytes(ffi.buffer(piece.bytes, piece.byte_count)))
            offset += piece.byte_count
        self.client.ask("save-delete", room=self.name, name=_SAVE)
        return b"".join(parts)

    def draw(self, *arguments: Any, **camera: Any) -> numpy.ndarray:
        """A picture of the room as it is on the server, by the rays of World.draw, which has the arguments.
        The whole state travels for it: use it now and then."""
        with World.from_encoding(self.encode(), self.name) as world:
            return world.draw(*arguments, **camera)

    def words(self) -> str:
        """The state in words."""
        return f"room {self.name or 'main'}, tick {self.tick}, hash {self.hash}"
