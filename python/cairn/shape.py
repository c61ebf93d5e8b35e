# SPDX-License-Identifier: MIT
"""Shapes of bodies and of queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from . import layout
from ._native import ffi, lib

if TYPE_CHECKING:
    from .world import World

Vector = Sequence[float]


class Shape:
    """A shape: its kind and sizes, and any field of cairn_shape_def (<cairn/sim.h>), such as
    density=500, friction=0.2, restitution=0.5, category=2, mask=1, flags=cairn.SENSOR. `position`
    and `rotation` (x y z w) place it in the frame of its body."""

    def __init__(self, kind: int, position: Vector = (0, 0, 0), rotation: Vector = (0, 0, 0, 1),
                 points: Sequence[Vector] | None = None, **fields: Any) -> None:
        self._def = ffi.new("cairn_shape_def *", lib.cairn_shape_def_default())
        layout.fill(self._def, {"kind": kind, **fields}, "a shape")
        self._def.pose.position = layout.vector("position", position)
        self._def.pose.rotation = layout.vector("rotation", rotation, 4)
        self.points = None if points is None else [layout.vector("points", point) for point in points]

    @staticmethod
    def box(half_extents: Vector, **fields: Any) -> Shape:
        return Shape(lib.CAIRN_SHAPE_BOX, half_extents=half_extents, **fields)

    @staticmethod
    def sphere(radius: float, **fields: Any) -> Shape:
        return Shape(lib.CAIRN_SHAPE_SPHERE, radius=radius, **fields)

    @staticmethod
    def capsule(radius: float, half_height: float, **fields: Any) -> Shape:
        """Along local y; the half height is that between the centres of the two spheres."""
        return Shape(lib.CAIRN_SHAPE_CAPSULE, radius=radius, half_height=half_height, **fields)

    @staticmethod
    def cylinder(radius: float, half_height: float, **fields: Any) -> Shape:
        return Shape(lib.CAIRN_SHAPE_CYLINDER, radius=radius, half_height=half_height, **fields)

    @staticmethod
    def cone(radius: float, half_height: float, **fields: Any) -> Shape:
        return Shape(lib.CAIRN_SHAPE_CONE, radius=radius, half_height=half_height, **fields)

    @staticmethod
    def half_space(**fields: Any) -> Shape:
        """Solid below the local plane y = 0; for static bodies."""
        return Shape(lib.CAIRN_SHAPE_HALF_SPACE, **fields)

    @staticmethod
    def hull(points: Sequence[Vector], **fields: Any) -> Shape:
        """The smallest convex body that contains the points (4 to 128)."""
        return Shape(lib.CAIRN_SHAPE_HULL, points=points, **fields)

    def definition(self, world: World) -> Any:
        """The cairn_shape_def for this world; a hull becomes one of the world's hulls."""
        if self.points is None:
            return self._def
        made = ffi.new("cairn_shape_def *", self._def[0])
        made.hull = world._hull(self.points)
        return made
