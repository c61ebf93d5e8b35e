# SPDX-License-Identifier: MIT
"""reset and step, as learning frameworks know them, around a room of a server."""

from .client import Client

try:
    import numpy
except ImportError:
    numpy = None


def _table(numbers):
    """One row of 13 floats for each body, as a numpy array where there is numpy."""
    rows = len(numbers) // 13
    if numpy is not None:
        return numpy.frombuffer(numbers, dtype=numpy.float32).reshape(rows, 13)
    flat = memoryview(numbers)
    return flat.cast("B").cast("f", shape=[rows, 13]) if rows else flat


def _do(client, action):
    """An action is a list of edits: (verb, numbers, fields), e.g.
    ("impulse", (0, 0, 100), {"body": 7})."""
    for verb, numbers, fields in action or ():
        client.ask(verb, *numbers, **fields)


class Env:
    """A room that is paused and stepped.

    act(client, action) turns an action into edits of the next tick; reward(obs, info) and
    terminated(obs, info) judge what came of it. `obs` is a table of 13 floats for each body in order
    of id: position, rotation x y z w, linear and angular velocity. info holds "ids" of these rows,
    "tick", and "hash", the full root of the world: two runs with the same seed and actions have the
    same hashes on every machine, and the server's recording replays to them."""

    def __init__(
        self,
        token,
        room="",
        ticks_per_step=1,
        ticks_max=None,
        act=_do,
        reward=lambda obs, info: 0.0,
        terminated=lambda obs, info: False,
        timeout=5.0,
        library=None,
    ):
        self.client = Client(token, room=room, timeout=timeout, library=library)
        self.ticks_per_step = ticks_per_step
        self.ticks_max = ticks_max
        self._act, self._reward, self._terminated = act, reward, terminated
        self.client.ask("pause")

    def reset(self, seed=None, options=None):
        """The scene's beginning again; without a seed with the scene's own."""
        self.client.ask("reset", **({} if seed is None else {"seed": seed}))
        return self._look()

    def step(self, action=None):
        self._act(self.client, action)
        self.client.ask("step", count=self.ticks_per_step)
        obs, info = self._look()
        truncated = self.ticks_max is not None and info["tick"] >= self.ticks_max
        return obs, self._reward(obs, info), self._terminated(obs, info), truncated, info

    def close(self):
        self.client.close()

    def _look(self):
        ids, numbers, answer = self.client.bodies()
        return _table(numbers), {"tick": answer.tick, "hash": answer.hash, "ids": ids}
