# SPDX-License-Identifier: MIT
"""A room of a server with the methods of World that actions need."""

from __future__ import annotations

from typing import Any, Sequence

import numpy

from .client import Client
from .control import Request

Vector = Sequence[float]


class Room:
    """A paused room of a server. Edits are checked at once and travel with the next step."""

    def __init__(self, client: Client, room: str | None = None) -> None:
        self.client = client
        self.name = client.room if room is None else room
        self._edits: list[Request] = []
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
        """The scene's first state; without a seed one that `rng` draws."""
        if seed is None and self._has_rules:
            seed = int(rng.integers(1 << 63))
        answer = self.client.ask("reset", room=self.name, seed=seed)
        self._edits.clear()
        self.tick, self.hash = answer.tick, answer.hash

    def edit(self, verb: str, **fields: Any) -> None:
        """Any verb that edits bodies, as <cairn/control.h> names it."""
        self._edits.append(self.client.request(verb, room=self.name, **fields))

    def impulse(self, body: int, impulse: Vector, point: Vector | None = None) -> None:
        if point is None:
            self.edit("impulse", body=body, impulse=impulse)
        else:
            self.edit("push", body=body, kind=2, push=impulse, place=point)

    def angular_impulse(self, body: int, impulse: Vector) -> None:
        self.edit("push", body=body, kind=3, push=impulse, place=(0, 0, 0))

    def force(self, body: int, force: Vector, torque: Vector = (0, 0, 0)) -> None:
        self.edit("push", body=body, kind=0, push=force, place=torque)

    def set_velocity(self, body: int, linear_velocity: Vector, angular_velocity: Vector = (0, 0, 0)) -> None:
        self.edit("set-velocity", body=body, linear_velocity=linear_velocity, angular_velocity=angular_velocity)

    def set_position(self, body: int, position: Vector) -> None:
        self.edit("set-position", body=body, position=position)

    def set_gravity(self, gravity: Vector) -> None:
        self.edit("set-gravity", gravity=gravity)

    def destroy(self, body: int) -> None:
        self.edit("delete", body=body)

    def spawn_box(self, position: Vector, half_extents: Vector, user: int = 0) -> None:
        self.edit("spawn-box", position=position, half_extents=half_extents, user=user)

    def spawn_sphere(self, position: Vector, radius: float, user: int = 0) -> None:
        self.edit("spawn-sphere", position=position, radius=radius, user=user)

    def advance(self, ticks: int, watched: numpy.ndarray, fields: int, width: int) -> numpy.ndarray:
        """Sends the edits, steps, and returns the numbers of the bodies `watched`."""
        edits, self._edits = self._edits, []
        for request in edits:
            self.client.send(request)
        if ticks:
            self.client.ask("step", room=self.name, tick_count=ticks)
        rows, answer = self.client.bodies(self.name)
        self.tick, self.hash = answer.tick, answer.hash
        columns = [name for bit, name in enumerate(("position", "rotation", "linear_velocity", "angular_velocity"))
                   if fields >> bit & 1]
        parts = [rows[name].reshape(len(rows), -1) for name in columns]
        if fields & 16:
            parts.append(rows["awake"].reshape(-1, 1).astype("f4"))
        table = numpy.concatenate(parts, axis=1, dtype="f4")
        at = {int(body): i for i, body in enumerate(rows["id"])}
        out = numpy.zeros((len(watched), width), dtype="f4")
        for i, body in enumerate(watched.tolist()):
            if body in at:
                out[i] = table[at[body]]
        return out

    def draw(self, **_: Any) -> numpy.ndarray:
        raise NotImplementedError("a server sends no shapes to operators: draw a World that holds the room's save")

    def words(self) -> str:
        """The state in words."""
        return f"room {self.name or 'main'}, tick {self.tick}, hash {self.hash}"
