# SPDX-License-Identifier: MIT
"""The simulation in this process."""

from __future__ import annotations

import json
import os
import pathlib
from types import SimpleNamespace
from typing import Any, Iterable, Mapping, Sequence

import numpy

from . import layout
from ._native import ffi, lib
from .articulation import Articulation
from .errors import CapacityReached, Closed, InvalidArgument, NotFound, WrongState, check
from .shape import Shape, Vector

STATIC, KINEMATIC, DYNAMIC = lib.CAIRN_BODY_STATIC, lib.CAIRN_BODY_KINEMATIC, lib.CAIRN_BODY_DYNAMIC
KINDS = {"static": STATIC, "kinematic": KINEMATIC, "dynamic": DYNAMIC}
SENSOR, HIT_EVENTS = lib.CAIRN_SHAPE_SENSOR, lib.CAIRN_SHAPE_HIT_EVENTS

BODY = layout.dtype_of("cairn_body_state")
CONTACT_EVENT = layout.dtype_of("cairn_contact_event")
JOINT_EVENT = layout.dtype_of("cairn_joint_event")
BODY_EVENT = layout.dtype_of("cairn_body_event")
HIT = layout.dtype_of("cairn_ray_hit")

_JOINT_KINDS = {name.removeprefix("CAIRN_JOINT_").lower(): getattr(lib, name) for name in (
    "CAIRN_JOINT_BALL", "CAIRN_JOINT_DISTANCE", "CAIRN_JOINT_HINGE", "CAIRN_JOINT_CONE", "CAIRN_JOINT_PRISMATIC",
    "CAIRN_JOINT_WELD", "CAIRN_JOINT_WHEEL", "CAIRN_JOINT_MOTOR", "CAIRN_JOINT_GEAR", "CAIRN_JOINT_PULLEY",
    "CAIRN_JOINT_ROW")}
_ALL_BITS = 0xFFFFFFFF


def scenes() -> list[str]:
    """The names of the built-in scenes."""
    names, i = [], 0
    while (name := lib.cairn_native_scene_name(i)) != ffi.NULL:
        names.append(ffi.string(name).decode())
        i += 1
    return names


def scene_text(scene: Any) -> str:
    """The JSON of a scene: a built-in name, a path, the JSON itself, or a mapping."""
    if isinstance(scene, Mapping):
        return json.dumps(scene, allow_nan=False)
    if isinstance(scene, os.PathLike):
        return pathlib.Path(scene).read_text()
    if not isinstance(scene, str):
        raise TypeError(f"a scene is a name, a path, JSON or a mapping, not {type(scene).__name__}")
    built_in = lib.cairn_native_scene(scene.encode())
    if built_in != ffi.NULL:
        return ffi.string(built_in).decode()
    if "{" in scene:
        return scene
    if not pathlib.Path(scene).exists():
        raise NotFound(f"no scene is named {scene!r}, and it is not a file; built in: {', '.join(scenes())}")
    return pathlib.Path(scene).read_text()


def _check_slot(slot: int) -> None:
    if not 0 <= layout.whole("slot", slot) < lib.CAIRN_SLOTS_MAX:
        raise InvalidArgument(f"slot {slot}: a slot is below {lib.CAIRN_SLOTS_MAX}")


class World:
    """A world of rigid bodies that this process steps.

    `scene` is the name of a built-in scene (cairn.scenes()), a path to a JSON file, JSON, or a
    mapping that has its fields. `seed` replaces the scene's seed, `rules` its rules by name.

    `bodies` and the arrays beside it are views of one array, which is read from the world again when
    they are asked for after a change. A view that was kept shows the later state from then on: copy
    what shall stay. Units are metres, kilograms, seconds and radians; rotations are x y z w.

    A world is used by one thread at a time: a call while another thread steps it raises WrongState.
    After close each call raises Closed. With the same scene, seed and calls two worlds have the same
    hashes at each tick, on every machine."""

    def __init__(self, scene: Any = "empty", *, seed: int | None = None, rules: str | None = None) -> None:
        self._json = scene_text(scene).encode()
        self._rules = rules
        self._world: Any = None
        self._busy = False
        self._hulls: dict[tuple[Any, ...], int] = {}
        self._create(seed)

    def _create(self, seed: int | None) -> None:
        out, error = ffi.new("cairn_world **"), ffi.new("char[]", lib.CAIRN_NATIVE_ERROR_SIZE)
        name = ffi.new("char[]", lib.CAIRN_NAME_SIZE_MAX + 1)
        seed_at = ffi.NULL if seed is None else ffi.new("uint64_t *", layout.whole("seed", seed, 64))
        rules = ffi.NULL if self._rules is None else ffi.new("char[]", layout.text("rules", self._rules))
        status = lib.cairn_native_world_create(self._json, len(self._json), seed_at, rules, out, name, error)
        check(status, "scene", ffi.string(error).decode())
        self._take(out[0], ffi.string(name).decode())

    @classmethod
    def from_encoding(cls, encoded: bytes, name: str = "encoding") -> World:
        """A world with the settings and the state of encode, or of a server's save. Its rules must be known
        by name (cairn.load_rules). It has no scene, so `reset` refuses."""
        definition, rules_name = ffi.new("cairn_world_def *"), ffi.new("char[]", lib.CAIRN_NAME_SIZE_MAX + 1)
        check(lib.cairn_world_def_of_encoding(ffi.from_buffer(encoded), len(encoded), definition, rules_name), "encoding")
        rules, out = ffi.new("cairn_rules const **"), ffi.new("cairn_world **")
        if not lib.cairn_rules_find(rules_name, rules):
            raise NotFound(f"no rules are named '{ffi.string(rules_name).decode()}'; load_rules loads those of a file")
        definition.rules = rules[0]
        check(lib.cairn_world_create(definition, out), "encoding")
        world = cls.__new__(cls)
        world._json, world._rules, world._world, world._busy = b"", None, None, False
        world._take(out[0], name)
        world.decode(encoded)
        return world

    def _take(self, world: Any, name: str) -> None:
        if self._world is not None:
            lib.cairn_world_destroy(self._world)
        self._world = world
        self.name = name
        self._settings = lib.cairn_world_settings(world)
        capacity = self._settings.body_capacity
        self._array = numpy.empty(capacity, dtype=BODY)
        self._out = ffi.cast("cairn_body_state *", self._array.ctypes.data)
        self._capacity = capacity
        self._bodies = self._array[:0]
        self._stale = True
        self._hulls = {}
        self._first: bytes | None = None  # of restart: the first state with this seed

    # ---------------------------------------------------------------------------------- life

    def close(self) -> None:
        """Frees the world. Calls raise Closed afterwards; a second close does nothing."""
        if self._busy:
            raise WrongState("another thread uses this world")
        if self._world is not None:
            lib.cairn_world_destroy(self._world)
            self._world = None

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_world", None) is not None:
            lib.cairn_world_destroy(self._world)

    def __repr__(self) -> str:
        return f"<cairn.World {self.name!r}, " + ("closed>" if self._world is None else f"tick {self.tick}>")

    def _open(self) -> Any:
        if self._world is None:
            raise Closed("the world is closed")
        if self._busy:
            raise WrongState("another thread uses this world")
        return self._world

    def _change(self) -> Any:
        self._stale = True
        return self._open()

    def reset(self, seed: int | None = None) -> None:
        """The scene's first state, with this seed, or with the seed that the world has."""
        seed = self.seed if seed is None else seed
        self._open()
        self._create(seed)

    def fork(self) -> World:
        """A world of its own with the same state: stepped alike, both have equal hashes."""
        out = ffi.new("cairn_world **")
        check(lib.cairn_world_fork(self._open(), out), "fork")
        twin = World.__new__(World)
        twin._json, twin._rules, twin._world, twin._busy = self._json, self._rules, None, False
        twin._take(out[0], self.name)
        twin._hulls = dict(self._hulls)
        return twin

    # ---------------------------------------------------------------------------------- time

    def step(self, ticks: int = 1) -> None:
        """Advances so many ticks."""
        world = self._change()
        if ticks == 1:
            self._busy = True
            try:
                lib.cairn_world_step(world, ffi.NULL, 0)
            finally:
                self._busy = False
        else:
            self._run(world, layout.whole("ticks", ticks), ffi.NULL, 0)

    def step_measured(self, exact: bool = False) -> SimpleNamespace:
        """Advances one tick and says how well it was solved: the fields of cairn_measure
        (<cairn/measure.h>). `exact`: also compares with the exact solution."""
        out = ffi.new("cairn_measure *")
        check(lib.cairn_world_step_measured(self._change(), ffi.NULL, 0, bool(exact), out), "step_measured")
        return layout.plain(out[0])

    def forces(self) -> SimpleNamespace:
        """What holds the world at this instant, without a step: the fields of cairn_forces
        (<cairn/measure.h>), and `of`, an array with a row for each dynamic body: body, its linear and
        angular acceleration (m/s^2, rad/s^2), and the force and torque of its contacts and joints."""
        world, out = self._open(), ffi.new("cairn_forces *")
        capacity = self.counts.bodies
        rows = ffi.new("cairn_body_forces[]", capacity)
        check(lib.cairn_world_forces_read(world, capacity, rows, out), "forces")
        kind = numpy.dtype([("body", "u4"), ("linear", "f8", 3), ("angular", "f8", 3), ("force", "f8", 3),
                            ("torque", "f8", 3)], align=True)
        found = layout.plain(out[0])
        found.of = numpy.frombuffer(ffi.buffer(rows), kind, found.bodies).copy() if found.bodies else numpy.empty(0, kind)
        return found

    def step_players(self, inputs: Mapping[int, Any], *, join: Iterable[int] = (),
                     leave: Iterable[int] = (), messages: Mapping[int, bytes] | None = None, ticks: int = 1) -> None:
        """Advances with commands for the rules in the first of the ticks. `inputs` has for each slot a
        mapping of buttons (an int), move and aim (three numbers each, in [-1, 1]), or, if the rules
        declare an input, a sequence with a number for each of `input_fields`; `join` and `leave` are
        slots; `messages` has for slots the bytes that the player sends to the rules."""
        declared = {} if not self.input_fields else inputs
        inputs = inputs if not declared else {}
        entries: list[tuple[int, int, Mapping[str, Any]]] = [(lib.CAIRN_COMMAND_JOIN, slot, {}) for slot in join]
        entries += [(lib.CAIRN_COMMAND_LEAVE, slot, {}) for slot in leave]
        entries += [(lib.CAIRN_COMMAND_INPUT, slot, fields) for slot, fields in inputs.items()]
        parts = [part for slot, numbers in declared.items() for part in self._declared_input(slot, numbers)]
        for slot, message in (messages or {}).items():
            parts += self._message(slot, message, len(parts))
        commands = ffi.new("cairn_command[]", len(entries) + len(parts))
        for i, part in enumerate(parts):
            commands[len(entries) + i] = part
        for command, (kind, slot, fields) in zip(commands, entries):
            if unknown := set(fields) - {"buttons", "move", "aim"}:
                raise TypeError(f"an input has no field {unknown.pop()!r}; its fields: buttons, move, aim")
            command.kind, command.slot = kind, layout.whole("slot", slot)
            layout.fill(ffi.addressof(command), dict(fields), "an input")
        self._run(self._change(), layout.whole("ticks", ticks), commands, len(entries) + len(parts))

    @property
    def input_fields(self) -> list[tuple[str, int, float, float]]:
        """What the rules declare as a player's input: for each field "bits" or "float", how many bits, and
        the bounds of a float. Empty: buttons, move and aim."""
        self._open()
        rules = self._settings.rules
        count = 0 if rules == ffi.NULL else rules.input_count
        return [("bits" if f.kind == lib.CAIRN_INPUT_BITS else "float", f.bits, f.lower, f.upper)
                for f in (rules.input[i] for i in range(count))]

    def _declared_input(self, slot: int, numbers: Any) -> list[Any]:
        fields = self.input_fields
        if len(numbers) != len(fields):
            raise TypeError(f"an input of these rules has {len(fields)} fields, not {len(numbers)}")
        words = layout.input_words(self._settings.rules.input, numbers)
        out = ffi.new("cairn_command[]", lib.CAIRN_INPUT_COMMANDS_MAX)
        _check_slot(slot)
        count = lib.cairn_commands_of_input(self._settings.rules, slot, 0, words, out)
        if count == 0:
            raise InvalidArgument("a field of the input is out of the range that the rules declare")
        return [out[i] for i in range(count)]

    def _message(self, slot: int, message: bytes, sequence: int) -> list[Any]:
        _check_slot(slot)
        if not 1 <= len(message) <= lib.CAIRN_GAME_MESSAGE_SIZE_MAX:
            raise InvalidArgument(f"a message has 1 to {lib.CAIRN_GAME_MESSAGE_SIZE_MAX} bytes, not {len(message)}")
        out = ffi.new("cairn_command[]", lib.CAIRN_MESSAGE_COMMANDS_MAX)
        count = lib.cairn_commands_of_message(slot, bytes(message), len(message), sequence, out)
        return [out[i] for i in range(count)]

    @property
    def game_messages(self) -> list[tuple[str, int | None, bytes]]:
        """What the rules sent in the last step: "message" or "event", the slot (None: all), the bytes."""
        count = ffi.new("uint32_t *")
        sent = lib.cairn_world_game_messages(self._open(), count)
        return [("message" if m.kind == lib.CAIRN_GAME_MESSAGE else "event",
                 None if m.slot == lib.CAIRN_SLOT_ALL else m.slot, bytes(ffi.buffer(m.bytes, m.size)))
                for m in (sent[i] for i in range(count[0]))]

    @property
    def shared(self) -> bytes:
        """The part of the rules' state that every client reads; empty if the rules share nothing."""
        state, rules = self.rules_state, self._settings.rules
        return b"" if rules == ffi.NULL else state[rules.shared_offset:rules.shared_offset + rules.shared_size]

    def _run(self, world: Any, ticks: int, commands: Any, count: int) -> None:
        self._busy = True
        try:
            status = lib.cairn_native_step(world, ticks, commands, count)
        finally:
            self._busy = False
        check(status, "step")

    @property
    def tick(self) -> int:
        return lib.cairn_world_tick(self._open())

    @property
    def tick_rate_hz(self) -> int:
        self._open()
        return self._settings.tick_rate_hz

    @property
    def seed(self) -> int:
        self._open()
        return self._settings.seed

    # ---------------------------------------------------------------------------------- state

    @property
    def hash(self) -> str:
        """128 bits of everything that a restore needs, 32 hexadecimal digits."""
        full = lib.cairn_world_hash_read(self._open()).full
        return f"{full.hi:016x}{full.lo:016x}"

    @property
    def rules_state(self) -> bytes:
        """A copy of the state of the rules, as the struct of their sources has it; empty without rules."""
        size = ffi.new("uint32_t *")
        state = lib.cairn_world_rules_state(self._open(), size)
        return bytes(ffi.buffer(state, size[0])) if size[0] else b""

    def save(self) -> bytes:
        """The state, for load in this process. Fast: a copy."""
        return self._bytes(lib.cairn_world_save_size, lib.cairn_world_save)

    def load(self, saved: bytes) -> None:
        """Goes back to a state of a world of the same scene."""
        check(lib.cairn_world_load(self._change(), ffi.from_buffer(saved), len(saved)), "load")

    def encode(self) -> bytes:
        """The state in the canonical form that travels between machines and programs."""
        return self._bytes(lib.cairn_world_encode_size, lib.cairn_world_encode)

    def decode(self, encoded: bytes) -> None:
        """Takes a state of encode, or of a server's save. Accepts any bytes: a refusal changes
        nothing and says what is wrong."""
        where = ffi.new("char const **")
        status = lib.cairn_world_decode(self._change(), ffi.from_buffer(encoded), len(encoded), where)
        check(status, "decode", "" if where[0] == ffi.NULL else ffi.string(where[0]).decode())

    def _bytes(self, size_of: Any, write: Any) -> bytes:
        world = self._open()
        size = size_of(world)
        out = ffi.new("uint8_t[]", size)
        return bytes(ffi.buffer(out, write(world, out, size)))

    @property
    def counts(self) -> SimpleNamespace:
        """How many bodies, bodies_awake, shapes, joints, hulls, meshes, contacts and contact_points
        there are."""
        return layout.plain(lib.cairn_world_counts_read(self._open()))

    @property
    def counters(self) -> SimpleNamespace:
        """Overflows and faults since the start: contacts_dropped, creates_refused, bodies_disabled,
        edits_refused, events_dropped, solver_fallbacks."""
        return layout.plain(lib.cairn_world_counters_read(self._open()))

    # --------------------------------------------------------------------------------- bodies

    @property
    def bodies(self) -> numpy.ndarray:
        """All bodies in order of id, one row for each: id, kind, position, rotation, linear_velocity,
        angular_velocity, awake, user, enabled."""
        world = self._open()
        if self._stale:
            count = lib.cairn_world_bodies(world, self._out, self._capacity)
            if count != len(self._bodies):
                self._bodies = self._array[:count]
            self._stale = False
        return self._bodies

    @property
    def ids(self) -> numpy.ndarray:
        return self.bodies["id"]

    @property
    def positions(self) -> numpy.ndarray:
        return self.bodies["position"]

    @property
    def rotations(self) -> numpy.ndarray:
        return self.bodies["rotation"]

    @property
    def linear_velocities(self) -> numpy.ndarray:
        return self.bodies["linear_velocity"]

    @property
    def angular_velocities(self) -> numpy.ndarray:
        return self.bodies["angular_velocity"]

    @property
    def awake(self) -> numpy.ndarray:
        """1 for bodies that move, 0 for those that sleep or are static."""
        return self.bodies["awake"]

    def body(self, body: int) -> SimpleNamespace:
        """One body: the fields of a row of `bodies`."""
        out = ffi.new("cairn_body_state *")
        check(lib.cairn_body_read(self._open(), layout.whole("body", body), out), f"body {body}")
        return layout.plain(out[0])

    def mass(self, body: int) -> float:
        """kg; 0 for static bodies and for ids that do not exist."""
        return lib.cairn_body_mass(self._open(), layout.whole("body", body))

    def spawn(self, *shapes: Shape, kind: str | int = "dynamic", position: Vector = (0, 0, 0),
              rotation: Vector = (0, 0, 0, 1), **fields: Any) -> int:
        """Creates a body with these shapes and returns its id. `fields` are those of cairn_body_def
        (<cairn/sim.h>): linear_velocity, linear_damping, gravity_scale, bullet and others."""
        body = ffi.new("cairn_body_def *", lib.cairn_body_def_default())
        given = {"kind": kind, "position": position, "rotation": rotation, **fields}
        layout.fill(body, given, "a body", {"kind": KINDS})
        world = self._change()
        array = ffi.new("cairn_shape_def[]", [shape.definition(self)[0] for shape in shapes])
        out, ids = ffi.new("cairn_body_id *"), ffi.new("cairn_shape_id[]", max(len(shapes), 1))
        if not shapes:
            check(lib.cairn_body_create(world, body, out), "spawn")
            return out[0]
        before = self.save()
        status = lib.cairn_body_create_compound(world, body, array, len(shapes), out, ids)
        if status != 0 and status != lib.CAIRN_CAPACITY:
            self.load(before)  # the body was made and destroyed again, and its id has another generation
        check(status, "spawn")
        return out[0]

    def spawn_box(self, position: Vector, half_extents: Vector, user: int = 0) -> int:
        """A dynamic box of density 1000 kg/m^3, as the verb spawn-box of a server makes it."""
        return self.spawn(Shape.box(half_extents), position=position, user=user)

    def spawn_sphere(self, position: Vector, radius: float, user: int = 0) -> int:
        """A dynamic sphere of density 1000 kg/m^3."""
        return self.spawn(Shape.sphere(radius), position=position, user=user)

    def _hull(self, points: Sequence[Vector]) -> int:
        key = tuple(points)
        if key not in self._hulls:
            array, out = ffi.new("cairn_vec3[]", list(points)), ffi.new("cairn_hull_id *")
            status = lib.cairn_hull_create(self._open(), array, len(points), out)
            why = lib.cairn_hull_refusal(array, len(points)) if status else ffi.NULL
            check(status, "hull", "" if why == ffi.NULL else ffi.string(why).decode())
            self._hulls[key] = out[0]
        return self._hulls[key]

    def destroy(self, body: int) -> None:
        """Destroys a body with its shapes and joints."""
        self._edit(lib.cairn_body_destroy, "destroy", body)

    def fracture(self, body: int, point: Vector, **fields: Any) -> list[int]:
        """Breaks a dynamic body of one box, hull, cylinder or cone into convex pieces, at once, and returns
        the ids of these; the body is gone. `point` is where it was hit, in the world. `fields` are those
        of cairn_fracture_def (<cairn/fracture.h>): pieces, how many are wanted (12); crowding, the part of
        them that is small around the point (0.5); thickness_min, m (0.02); seed (0): with another one the
        same body gives other pieces.

        The pieces fill the place of the body and have its mass, momentum and angular momentum. There may
        be fewer pieces than wanted, but at least two. Each piece takes a body, a shape and a hull of the scene's
        capacities. Each joint of the body is moved to the piece at its anchor.

        If an error is raised, nothing has changed. WrongState: a body of this kind cannot break.
        CapacityReached: the scene has too few bodies, shapes or hulls left. InvalidArgument: a field is
        out of range."""
        fracture = ffi.new("cairn_fracture_def *", lib.cairn_fracture_def_default())
        layout.fill(fracture, {"point": point, **fields}, "a fracture")
        body, world = layout.whole("body", body), self._change()
        ids, count = ffi.new("cairn_body_id[]", lib.CAIRN_FRACTURE_PIECES_MAX), ffi.new("uint32_t *")
        status = lib.cairn_body_fracture(world, body, fracture, ids, lib.CAIRN_FRACTURE_PIECES_MAX, count)
        why = lib.cairn_body_fracture_refusal(world, body, fracture) if status else ffi.NULL
        check(status, f"fracture: body {body}", "" if why == ffi.NULL else ffi.string(why).decode())
        return list(ids[0:count[0]])

    def _edit(self, function: Any, what: str, body: int, *arguments: Any) -> None:
        check(function(self._change(), layout.whole("body", body), *arguments), f"{what}: body {body}")

    def set_pose(self, body: int, position: Vector, rotation: Vector = (0, 0, 0, 1)) -> None:
        pose = (layout.vector("position", position), layout.vector("rotation", rotation, 4))
        self._edit(lib.cairn_body_set_pose, "set_pose", body, pose)

    def set_position(self, body: int, position: Vector) -> None:
        """Moves a body; its rotation stays."""
        state = self.body(body)
        self.set_pose(body, position, state.rotation)

    def set_velocity(self, body: int, linear_velocity: Vector, angular_velocity: Vector = (0, 0, 0)) -> None:
        self._edit(lib.cairn_body_set_velocity, "set_velocity", body,
                   layout.vector("linear_velocity", linear_velocity),
                   layout.vector("angular_velocity", angular_velocity))

    def set_target(self, body: int, position: Vector, rotation: Vector = (0, 0, 0, 1)) -> None:
        """Gives a kinematic body the velocities that take it there within the next tick."""
        pose = (layout.vector("position", position), layout.vector("rotation", rotation, 4))
        self._edit(lib.cairn_body_set_target, "set_target", body, pose)

    def impulse(self, body: int, impulse: Vector, point: Vector | None = None) -> None:
        """N s, at the centre of mass or at a point of the world."""
        push = layout.vector("impulse", impulse)
        if point is None:
            self._edit(lib.cairn_body_apply_impulse_at_centre, "impulse", body, push)
        else:
            self._edit(lib.cairn_body_apply_impulse, "impulse", body, push, layout.vector("point", point))

    def angular_impulse(self, body: int, impulse: Vector) -> None:
        """N m s."""
        self._edit(lib.cairn_body_apply_angular_impulse, "angular_impulse", body, layout.vector("impulse", impulse))

    def force(self, body: int, force: Vector, torque: Vector = (0, 0, 0)) -> None:
        """N at the centre of mass, and N m, during the next tick."""
        self._edit(lib.cairn_body_apply_force, "force", body, layout.vector("force", force),
                   layout.vector("torque", torque))

    def set_awake(self, body: int, awake: bool) -> None:
        """Wakes a body, or puts it and all that it touches to sleep at once."""
        self._edit(lib.cairn_body_set_awake, "set_awake", body, bool(awake))

    def set_gravity(self, gravity: Vector) -> None:
        check(lib.cairn_world_set_gravity(self._change(), layout.vector("gravity", gravity)), "set_gravity")

    def set_step_rate(self, rate_hz: float) -> None:
        """From the next tick on each takes the world 1 / rate_hz seconds further (10 to 10,000; at first the tick rate)."""
        check(lib.cairn_world_set_step_rate(self._change(), float(rate_hz)), "set_step_rate")

    @property
    def step_rate(self) -> float:
        return float(lib.cairn_world_step_rate(self._open()))

    # --------------------------------------------------------------------------------- joints

    def join(self, kind: str | int, body_a: int, body_b: int, **fields: Any) -> int:
        """Joins two bodies and returns the joint's id. `kind` is ball, distance, hinge, cone, prismatic,
        weld, wheel, motor, gear or pulley; `fields` are those of cairn_joint_def (<cairn/joint.h>)."""
        joint = ffi.new("cairn_joint_def *", lib.cairn_joint_def_default())
        given = {"kind": kind, "body_a": body_a, "body_b": body_b, **fields}
        layout.fill(joint, given, "a joint", {"kind": _JOINT_KINDS})
        out = ffi.new("cairn_joint_id *")
        check(lib.cairn_joint_create(self._change(), joint, out), "join")
        return out[0]

    def _joint(self, function: Any, what: str, joint: int, *arguments: Any) -> None:
        check(function(self._change(), layout.whole("joint", joint), *arguments), f"{what}: joint {joint}")

    def unjoin(self, joint: int) -> None:
        """Destroys a joint."""
        self._joint(lib.cairn_joint_destroy, "unjoin", joint)

    def set_motor(self, joint: int, speed: float, force: float) -> None:
        """rad/s and N m of a hinge or wheel, m/s and N of a prismatic joint."""
        self._joint(lib.cairn_joint_set_motor, "set_motor", joint, layout.real("speed", speed),
                    layout.real("force", force))

    def set_joint_target(self, joint: int, target: float) -> None:
        """Where the joint's spring rests: rad or m."""
        self._joint(lib.cairn_joint_set_target, "set_joint_target", joint, layout.real("target", target))

    def set_joint(self, joint: int, **fields: Any) -> None:
        """Sets fields of a joint's definition: break_force, anchor_a and others (<cairn/joint.h>)."""
        definition = ffi.new("cairn_joint_def *")
        check(lib.cairn_joint_read(self._open(), layout.whole("joint", joint), definition), f"joint {joint}")
        layout.fill(definition, fields, "a joint")
        self._joint(lib.cairn_joint_set, "set_joint", joint, definition)

    @property
    def joints(self) -> numpy.ndarray:
        """The ids of all joints."""
        return self._list(lib.cairn_world_joints, self.counts.joints)

    def joint(self, joint: int) -> SimpleNamespace:
        """A joint as it is: its definition, and position and velocity of what it leaves free (0 of kinds
        that leave nothing)."""
        world, joint = self._open(), layout.whole("joint", joint)
        definition, travel = ffi.new("cairn_joint_def *"), ffi.new("cairn_joint_travel *")
        check(lib.cairn_joint_read(world, joint, definition), f"joint {joint}")
        lib.cairn_joint_travel_read(world, joint, travel)
        found = layout.plain(definition[0])
        found.position, found.velocity = travel.position, travel.velocity
        return found

    def travel(self, joints: Sequence[int] | numpy.ndarray) -> numpy.ndarray:
        """Where hinges, prismatic and wheel joints are, and how they move: a row of position and velocity for
        each, rad and rad/s or m and m/s."""
        ids = numpy.ascontiguousarray(joints, dtype="u4")
        out = numpy.empty((len(ids), 2), dtype="f4")
        status = lib.cairn_native_travel(self._open(), ffi.cast("uint32_t *", ids.ctypes.data), len(ids),
                                         ffi.cast("float *", out.ctypes.data))
        check(status, "travel")
        return out

    def drive(self, joints: Sequence[int] | numpy.ndarray, speeds: Sequence[float] | numpy.ndarray,
              forces: Sequence[float] | numpy.ndarray) -> None:
        """set_motor for each of these joints."""
        ids = numpy.ascontiguousarray(joints, dtype="u4")
        wanted = numpy.ascontiguousarray([speeds, forces], dtype="f4")
        if wanted.shape != (2, len(ids)):
            raise ValueError("as many speeds and forces as joints")
        rows = [ffi.cast("float *", row.ctypes.data) for row in wanted]
        check(lib.cairn_native_drive(self._change(), ffi.cast("uint32_t *", ids.ctypes.data), *rows, len(ids)), "drive")

    def push(self, joints: Sequence[int] | numpy.ndarray, torques: Sequence[float] | numpy.ndarray) -> None:
        """Sets the torque (N m; prismatic: N) that drives each of these articulated joints about its axis until the
        next call."""
        ids = numpy.ascontiguousarray(joints, dtype="u4")
        wanted = numpy.ascontiguousarray(torques, dtype="f4")
        if wanted.shape != ids.shape:
            raise ValueError("as many torques as joints")
        check(lib.cairn_native_push(self._change(), ffi.cast("uint32_t *", ids.ctypes.data),
                                    ffi.cast("float *", wanted.ctypes.data), len(ids)), "push")

    def articulation(self, body: int) -> Articulation:
        """The tree of articulated joints of which the body is a link."""
        return Articulation(self, body)

    # --------------------------------------------------------------------------------- events

    def _events(self, function: Any, dtype: numpy.dtype) -> numpy.ndarray:
        count = ffi.new("uint32_t *")
        first = function(self._open(), count)
        size = count[0] * dtype.itemsize
        return numpy.frombuffer(bytes(ffi.buffer(first, size)) if size else b"", dtype=dtype)

    @property
    def contact_events(self) -> numpy.ndarray:
        """Contacts that began (kind 1), ended (2) or hit hard (3) in the last tick, and sensors that
        were entered (4) or left (5): kind, shape_a, shape_b, body_a, body_b, point, normal,
        approach_speed, impulse."""
        return self._events(lib.cairn_world_contact_events, CONTACT_EVENT)

    @property
    def body_events(self) -> numpy.ndarray:
        """Bodies that woke (kind 1) or fell asleep (2) in the last tick."""
        return self._events(lib.cairn_world_body_events, BODY_EVENT)

    @property
    def joint_events(self) -> numpy.ndarray:
        """Joints that broke in the last tick."""
        return self._events(lib.cairn_world_joint_events, JOINT_EVENT)

    # -------------------------------------------------------------------------------- queries

    def _filter(self, mask: int, ignored: int, kinds: Iterable[str] | None) -> Any:
        made = ffi.new("cairn_query_filter *", lib.cairn_query_filter_default())
        made.mask, made.ignored = layout.whole("mask", mask), layout.whole("ignored", ignored)
        if kinds is not None:
            made.body_kinds = sum(1 << KINDS[kind] for kind in set(kinds))
        return made

    def _hit(self, status: int, out: Any, what: str) -> SimpleNamespace | None:
        if status == lib.CAIRN_NOT_FOUND:
            return None
        check(status, what)
        return layout.plain(out[0])

    def ray(self, origin: Vector, translation: Vector, *, mask: int = _ALL_BITS, ignored: int = 0,
            kinds: Iterable[str] | None = None) -> SimpleNamespace | None:
        """The nearest hit of a ray from `origin` to `origin` + `translation`: shape, body, point, normal,
        fraction; None if it hits nothing. Only shapes with a category in `mask`, of bodies of these
        `kinds`, and not of the body `ignored`."""
        out = ffi.new("cairn_ray_hit *")
        status = lib.cairn_world_ray_closest(
            self._open(), layout.vector("origin", origin), layout.vector("translation", translation),
            self._filter(mask, ignored, kinds), out)
        return self._hit(status, out, "ray")

    def ray_all(self, origin: Vector, translation: Vector, *, mask: int = _ALL_BITS, ignored: int = 0,
                kinds: Iterable[str] | None = None) -> numpy.ndarray:
        """All hits of a ray in order of fraction, one for each shape."""
        world, count = self._open(), self.counts.shapes
        array = numpy.zeros(count, dtype=HIT)
        found = lib.cairn_world_ray_all(
            world, layout.vector("origin", origin), layout.vector("translation", translation),
            self._filter(mask, ignored, kinds), ffi.cast("cairn_ray_hit *", array.ctypes.data), count)
        return array[:found]

    def cast(self, shape: Shape, position: Vector, translation: Vector, *, rotation: Vector = (0, 0, 0, 1),
             mask: int = _ALL_BITS, ignored: int = 0, kinds: Iterable[str] | None = None) -> SimpleNamespace | None:
        """What a shape meets first that moves from `position` by `translation` without turning."""
        out = ffi.new("cairn_ray_hit *")
        status = lib.cairn_world_shape_cast(
            self._open(), shape.definition(self), self._pose(position, rotation),
            layout.vector("translation", translation), self._filter(mask, ignored, kinds), out)
        return self._hit(status, out, "cast")

    def overlap(self, shape: Shape, position: Vector, *, rotation: Vector = (0, 0, 0, 1), mask: int = _ALL_BITS,
                ignored: int = 0, kinds: Iterable[str] | None = None) -> list[tuple[int, int]]:
        """The shapes that overlap `shape` there: pairs of body and shape."""
        world = self._open()
        probe, pose = shape.definition(self), self._pose(position, rotation)
        found = self._list(lambda w, out, capacity: lib.cairn_world_overlap_shape(
            w, probe, pose, self._filter(mask, ignored, kinds), out, capacity), self.counts.shapes)
        pairs = []
        for shape_id in found.tolist():
            definition, body = ffi.new("cairn_shape_def *"), ffi.new("cairn_body_id *")
            lib.cairn_shape_read(world, shape_id, definition, body)
            pairs.append((body[0], shape_id))
        return pairs

    def closest(self, point: Vector, distance_max: float, *, mask: int = _ALL_BITS, ignored: int = 0,
                kinds: Iterable[str] | None = None) -> SimpleNamespace | None:
        """The shape nearest to a point: shape, body, distance, point, probe_point, normal; None if none
        is that near."""
        out = ffi.new("cairn_closest *")
        status = lib.cairn_world_closest_to_point(
            self._open(), layout.vector("point", point), layout.real("distance_max", distance_max),
            self._filter(mask, ignored, kinds), out)
        return self._hit(status, out, "closest")

    def _pose(self, position: Vector, rotation: Vector) -> Any:
        return (layout.vector("position", position), layout.vector("rotation", rotation, 4))

    def _list(self, function: Any, capacity: int) -> numpy.ndarray:
        out = numpy.zeros(capacity, dtype="u4")
        count = function(self._open(), ffi.cast("uint32_t *", out.ctypes.data), capacity)
        return out[:count]

    # ------------------------------------------------------------------------------- learning

    def restart(self, seed: int | None, rng: numpy.random.Generator) -> None:
        """The first state: with this seed; without one, with a seed that `rng` draws if the world has
        rules, and else with the one that it has, since nothing in it is random."""
        if seed is None and self._settings.rules != ffi.NULL:
            seed = int(rng.integers(1 << 63))
        if seed is not None and seed != self.seed:
            self.reset(seed)
            self._first = self.save()
        elif self._first is None:
            self.reset()
            self._first = self.save()
        else:
            self.load(self._first)

    def advance(self, ticks: int, watched: numpy.ndarray, fields: int, width: int) -> numpy.ndarray:
        """Steps, and returns the numbers of the bodies `watched` (cairn_observed_field)."""
        if ticks:
            self.step(ticks)
        out = numpy.empty((len(watched), width), dtype="f4")
        status = lib.cairn_native_observe(self._open(), ffi.cast("uint32_t *", watched.ctypes.data), len(watched), fields,
                                          ffi.cast("float *", out.ctypes.data))
        check(status, "observe")
        return out

    def words(self) -> str:
        """The state in words: a line for the world and one for each body that moves."""
        lines = [f"{self.name}, tick {self.tick}, hash {self.hash}"]
        for row in self.bodies:
            if row["kind"] == DYNAMIC:
                x, y, z = row["position"]
                state = "awake" if row["awake"] else "asleep"
                lines.append(f"  body {row['id']}: {x:9.3f} {y:9.3f} {z:9.3f}  {state}")
        return "\n".join(lines)

    # -------------------------------------------------------------------------------- picture

    def draw(self, width: int = 320, height: int = 240, *, eye: Vector = (8, 6, 12), target: Vector = (0, 1.5, 0),
             field_of_view: float = 0.8) -> numpy.ndarray:
        """A picture from `eye` towards `target`: an array of height x width x 3 bytes, red green blue. It
        shows what collides, dynamic bodies in colours, darker while they sleep."""
        for name, size in (("width", width), ("height", height)):
            if not 1 <= layout.whole(name, size) <= 8192:
                raise ValueError(f"{name} must be in [1, 8192], is {size}")
        if not 0 < layout.real("field_of_view", field_of_view) < 3.1:
            raise ValueError(f"field_of_view must be in (0, 3.1) rad, is {field_of_view}")
        camera = ffi.new("cairn_native_camera *", {
            "eye": layout.vector("eye", eye), "target": layout.vector("target", target),
            "field_of_view": field_of_view, "width": width, "height": height})
        pixels = numpy.empty((height, width, 3), dtype="u1")
        world = self._open()
        self._busy = True
        try:
            lib.cairn_native_draw(world, camera, ffi.cast("uint8_t *", pixels.ctypes.data))
        finally:
            self._busy = False
        return pixels
