# SPDX-License-Identifier: MIT
"""Robots of URDF and MJCF files."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Mapping

import numpy

from . import layout
from ._native import ffi, lib
from .errors import NotFound, check
from .spaces import Box
from .world import World

_FULL_SPEED = 1e4  # rad/s or m/s: a motor that wants to be this fast exerts its whole force


def _turn(q: numpy.ndarray, v: numpy.ndarray) -> numpy.ndarray:
    """A vector, turned by a quaternion x y z w."""
    t = 2.0 * numpy.cross(q[:3], v)
    return v + q[3] * t + numpy.cross(q[:3], t)


def _after(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    """The rotation b, then a."""
    vector = a[3] * b[:3] + b[3] * a[:3] + numpy.cross(a[:3], b[:3])
    return numpy.append(vector, a[3] * b[3] - a[:3] @ b[:3])


def _inverse(q: numpy.ndarray) -> numpy.ndarray:
    return q * numpy.array([-1.0, -1.0, -1.0, 1.0])


class Robot:
    """A robot of a URDF or MJCF file (docs/ROBOTS.md says what is read of them), for World and Env:

        robot = cairn.Robot("ant.xml")
        env = cairn.Env(robot.scene, **robot.task, reward=...)

    `source` is a path, or the text itself. With `fixed_base` the root of a URDF file does not move. A file
    that cairn does not read raises an error that names line, column, element and attribute. With `articulated` the
    links move in joint coordinates: joints never open, and World.articulation reads and drives whole trees.

    `scene` is the scene in JSON. `bodies` and `joints` have ids by name; `actuators` has a mapping for each
    (name, kind, joint, lower, upper, gear, force), `notes` what was left out. An action is a control for each
    actuator; an observation has the positions of hinges and slides (`travelled` has their names), then their
    velocities, then position, rotation, linear and angular velocity of each body that nothing holds."""

    def __init__(self, source: str | os.PathLike[str], *, fixed_base: bool = False, articulated: bool = False) -> None:
        text, name = str(source), ""
        if isinstance(source, os.PathLike) or "<" not in text:
            if not pathlib.Path(text).exists():
                raise NotFound(f"file {text!r} does not exist")
            name, text = pathlib.Path(text).stem, pathlib.Path(text).read_text(errors="replace")
        self._articulated = articulated
        self.scene, parts = _read(text, name, fixed_base, articulated)
        self._scene = json.loads(self.scene)
        self.actuators: list[dict[str, Any]] = parts["actuators"]
        self.notes: list[str] = parts["notes"]
        with World(self.scene) as world:
            bodies, joints = world.ids.tolist(), world.joints.tolist()
        self._ids = bodies
        self.bodies = {name: body for name, body in zip(parts["bodies"], bodies) if name}
        self.joints = {joint["name"]: i for joint, i in zip(parts["joints"], joints) if "name" in joint}
        self._joint_ids = joints
        self._references = [joint["reference"] for joint in parts["joints"]]  # joints beyond the tree have none
        travelled = [i for i, joint in enumerate(parts["joints"]) if joint["kind"] != "ball"]
        self.travelled: list[str] = [parts["joints"][i].get("name", "") for i in travelled]
        self._travelled = numpy.array([joints[i] for i in travelled], dtype="u4")
        self._free = numpy.array(parts["free"], dtype="i8")
        self._motors = [a for a in self.actuators if a["kind"] != "position"]
        self._motor_ids = numpy.array([joints[a["joint"]] for a in self._motors], dtype="u4")
        self._is_motor = numpy.array([a["kind"] != "position" for a in self.actuators], dtype=bool)
        self._is_speed = numpy.array([a["kind"] == "velocity" for a in self._motors], dtype=bool)
        self._gear = numpy.array([a["gear"] for a in self._motors])
        self._force = numpy.array([a["force"] for a in self._motors])
        lower, upper = (numpy.array([a[side] for a in self.actuators], "f4") for side in ("lower", "upper"))
        self.action_space = Box(lower, upper, dtype=numpy.float32)
        bound = numpy.full(2 * len(travelled) + 13 * len(self._free), 1e7, "f4")
        self.observation_space = Box(-bound, bound, dtype=numpy.float32)

    @property
    def task(self) -> dict[str, Any]:
        """The arguments of Env and VectorEnv for a learner that sees the joints and drives the actuators."""
        return {"act": self.act, "action_space": self.action_space, "observe": self.observe,
                "observation_space": self.observation_space}

    def act(self, world: World, action: Any) -> None:
        """Sets the actuators, until the next call. Controls beyond an actuator's range are cut to it."""
        numbers = numpy.asarray(action, dtype="f8").reshape(-1)
        if len(numbers) != len(self.actuators):
            raise ValueError(f"an action has {len(self.actuators)} numbers, not {len(numbers)}")
        if not numpy.isfinite(numbers).all():
            raise ValueError("the action is not finite")
        numbers = numpy.clip(numbers, self.action_space.low, self.action_space.high)
        wanted = numbers[self._is_motor] * self._gear
        speeds = numpy.where(self._is_speed, numbers[self._is_motor] / self._gear, numpy.copysign(_FULL_SPEED, wanted))
        forces = numpy.where(self._is_speed, self._force * abs(self._gear), numpy.minimum(
            abs(wanted), self._force * abs(self._gear)))
        speeds, forces = speeds.clip(-_FULL_SPEED, _FULL_SPEED), forces.clip(0.0, 1e12)
        driven = self._is_speed if self._articulated else numpy.ones_like(self._is_speed)
        world.drive(self._motor_ids[driven], speeds[driven], forces[driven])
        world.push(self._motor_ids[~driven], numpy.copysign(forces, wanted)[~driven])
        for actuator, number in zip(self.actuators, numbers.tolist()):
            if actuator["kind"] == "position":
                world.set_joint_target(self._joint_ids[actuator["joint"]], number * actuator["scale"] + actuator["offset"])

    def observe(self, world: World) -> numpy.ndarray:
        """The observation of a world of this robot."""
        rows = world.bodies[self._free]
        free = [rows[name] for name in ("position", "rotation", "linear_velocity", "angular_velocity")]
        moved = world.travel(self._travelled)
        return numpy.concatenate([moved[:, 0], moved[:, 1], numpy.concatenate(free, axis=1).reshape(-1)]).astype("f4")

    def place(self, world: World, positions: Mapping[str, float]) -> None:
        """Moves the bodies so that hinges and slides are at these positions, the others where the file starts.
        Velocities become zero."""
        if unknown := set(positions) - set(self.travelled):
            raise NotFound(f"no hinge or slide is named {unknown.pop()!r}")
        poses = [(numpy.array(body["position"], "f8"), numpy.array(body.get("rotation", (0, 0, 0, 1)), "f8"))
                 for body in self._scene["bodies"]]
        starts = list(poses)
        for joint, reference in zip(self._scene["joints"], self._references):
            self._place_child(joint, poses, starts, layout.real("position", positions.get(joint.get("name", ""), reference)))
        for i, (position, rotation) in enumerate(poses[1:], 1):
            world.set_pose(self._ids[i], position.tolist(), (rotation / numpy.linalg.norm(rotation)).tolist())
            world.set_velocity(self._ids[i], (0, 0, 0))

    @staticmethod
    def _place_child(joint: dict[str, Any], poses: list[Any], starts: list[Any], position: float) -> None:
        a, b = joint["body_a"], joint["body_b"]
        # Relative to the parent: where the child starts, and about the joint from there.
        inverse = _inverse(starts[a][1])
        rotation = _after(inverse, starts[b][1])
        offset = _turn(inverse, starts[b][0] - starts[a][0])
        axis = numpy.array(joint.get("axis_a", (0, 0, 1)), "f8")
        anchor = offset + _turn(rotation, numpy.array(joint["anchor_b"], "f8"))
        if joint["kind"] == "hinge":
            normal = _turn(rotation, numpy.array(joint["normal_b"], "f8"))
            other = numpy.array(joint["normal_a"], "f8")
            angle = 0.5 * (position - numpy.arctan2(axis @ numpy.cross(other, normal), other @ normal))
            turn = numpy.append(axis * numpy.sin(angle), numpy.cos(angle))
            rotation, offset = _after(turn, rotation), anchor + _turn(turn, offset - anchor)
        elif joint["kind"] == "prismatic":
            offset = offset + axis * (position - axis @ (anchor - numpy.array(joint["anchor_a"], "f8")))
        poses[b] = poses[a][0] + _turn(poses[a][1], offset), _after(poses[a][1], rotation)


def _read(text: str, name: str, fixed_base: bool, articulated: bool) -> tuple[str, dict[str, Any]]:
    encoded = text.encode()
    scene, parts = ffi.new("char **"), ffi.new("char **")
    error = ffi.new("char[]", lib.CAIRN_NATIVE_ERROR_SIZE)
    status = lib.cairn_native_robot(encoded, len(encoded), name.encode("ascii", "replace"), fixed_base, articulated, scene,
                                    parts, error)
    check(status, "robot", ffi.string(error).decode())
    try:
        return ffi.string(scene[0]).decode(), json.loads(ffi.string(parts[0]))
    finally:
        lib.cairn_native_free(scene[0])
        lib.cairn_native_free(parts[0])
