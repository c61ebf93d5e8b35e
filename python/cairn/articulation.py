# SPDX-License-Identifier: MIT
"""Trees of bodies in joint coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy

from . import layout
from ._native import ffi, lib
from .errors import check

if TYPE_CHECKING:
    from .world import World

Numbers = Any  # of one dimension: a sequence or an array


class Articulation:
    """The tree of articulated joints that a body is part of; World.articulation makes it. Vectors have a
    number for each axis: one of a hinge or prismatic joint, three of a ball or cone. If the tree floats,
    six of its root come first: angular velocity and velocity. Every call reads the world as it is then.

    bodies, joints and first_axes list the links, parents first, the joint of each (0: a root that floats)
    and the first of its axes."""

    def __init__(self, world: World, body: int) -> None:
        self._world, self._body = world, layout.whole("body", body)
        found = ffi.new("cairn_articulation *")
        self._check(lib.cairn_articulation_read(world._open(), self._body, found))
        self.root, self.base, self.axis_count = found.root, found.base, found.axis_count
        lists = numpy.empty((3, found.link_count), dtype="u4")
        rows = [ffi.cast("uint32_t *", row.ctypes.data) for row in lists]
        self._check(lib.cairn_articulation_links(world._open(), self._body, *rows, found.link_count))
        self.bodies, self.joints, self.first_axes = lists

    def __repr__(self) -> str:
        return f"<cairn.Articulation of body {self.root}, {len(self.bodies)} links, {self.axis_count} axes>"

    def _check(self, status: int) -> None:
        check(status, f"articulation of body {self._body}")

    def _read(self, function: Any, *arguments: Any, shape: tuple[int, ...] | None = None) -> numpy.ndarray:
        out = numpy.empty(shape or (self.axis_count,), dtype="f4")
        self._check(function(self._world._open(), self._body, *arguments,
                             ffi.cast("float *", out.ctypes.data), out.size))
        return out

    def _given(self, name: str, numbers: Numbers) -> numpy.ndarray:
        given = numpy.ascontiguousarray(numbers, dtype="f4")
        if given.shape != (self.axis_count,):
            raise ValueError(f"{name} must be {self.axis_count} numbers, one for each axis")
        return given

    def _write(self, function: Any, name: str, numbers: Numbers) -> None:
        given = self._given(name, numbers)
        self._check(function(self._world._change(), self._body, ffi.cast("float *", given.ctypes.data), given.size))

    @property
    def positions(self) -> numpy.ndarray:
        """rad and m; of a ball or cone a rotation vector; of a root that floats that and its place."""
        return self._read(lib.cairn_articulation_positions)

    @positions.setter
    def positions(self, positions: Numbers) -> None:
        self._write(lib.cairn_articulation_set_positions, "positions", positions)

    @property
    def speeds(self) -> numpy.ndarray:
        """rad/s and m/s."""
        return self._read(lib.cairn_articulation_speeds)

    @speeds.setter
    def speeds(self, speeds: Numbers) -> None:
        self._write(lib.cairn_articulation_set_speeds, "speeds", speeds)

    def set_torques(self, torques: Numbers) -> None:
        """N m and N of every joint from now on; those of a root that floats during the next tick alone."""
        self._write(lib.cairn_articulation_set_torques, "torques", torques)

    @property
    def mass_matrix(self) -> numpy.ndarray:
        return self._read(lib.cairn_articulation_mass_matrix, shape=(self.axis_count, self.axis_count))

    def jacobian(self, body: int, point: Sequence[float]) -> numpy.ndarray:
        """Six rows: the angular velocity of a link, and the velocity of a world point of it."""
        out = numpy.empty((6, self.axis_count), dtype="f4")
        self._check(lib.cairn_articulation_jacobian(
            self._world._open(), layout.whole("body", body), layout.vector("point", point),
            ffi.cast("float *", out.ctypes.data), out.size))
        return out

    def inverse_dynamics(self, accelerations: Numbers) -> numpy.ndarray:
        """The forces along the axes that make these accelerations, under gravity and at the present speeds.
        Springs, motors, friction, limits and contacts are left out."""
        given = self._given("accelerations", accelerations)
        return self._read(lib.cairn_articulation_inverse_dynamics, ffi.cast("float *", given.ctypes.data))

    def forward_dynamics(self, forces: Numbers) -> numpy.ndarray:
        """The accelerations that these forces along the axes make."""
        given = self._given("forces", forces)
        return self._read(lib.cairn_articulation_forward_dynamics, ffi.cast("float *", given.ctypes.data))
