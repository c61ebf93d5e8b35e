# SPDX-License-Identifier: MIT
"""reset and step, as learning frameworks call them, around a room of a server."""

from .client import Client

try:
    import numpy
except ImportError:
    numpy = None


def _observation(numbers):
    """One row of 13 floats for each body, as a numpy array if numpy is installed."""
    rows = len(numbers) // 13
    if numpy is not None:
        return numpy.frombuffer(numbers, dtype=numpy.float32).reshape(rows, 13)
    flat = memoryview(numbers)
    return flat.cast("B").cast("f", shape=[rows, 13]) if rows else flat


def apply_edits(client, action):
    """An action is a list of edits, each a verb and its fields:
    [("impulse", {"body": 7, "impulse": (0, 0, 100)})]. All are checked before the first is sent."""
    requests = [(verb, client.encode(verb, **fields)) for verb, fields in action or ()]
    for verb, request in requests:
        client.send(verb, request)


class Env:
    """A room that stays paused and is stepped.

    act(client, action) turns an action into edits of the next tick. reward(obs, info) and
    terminated(obs, info) judge the result. `obs` is a table of 13 floats for each body in order of
    id: position, rotation x y z w, linear and angular velocity. `info` holds "ids" of these rows,
    "tick", and "hash", the full root of the world: two runs with the same seed and actions have the
    same hashes on every machine, and the server's recording replays to them."""

    def __init__(
        self,
        token,
        room="",
        ticks_per_step=1,
        ticks_max=None,
        act=apply_edits,
        reward=lambda obs, info: 0.0,
        terminated=lambda obs, info: False,
        timeout=5.0,
        library=None,
    ):
        for name, ticks in (("ticks_per_step", ticks_per_step), ("ticks_max", ticks_max)):
            if ticks is not None and (not isinstance(ticks, int) or ticks < 1):
                raise ValueError(f"{name} must be a whole number of ticks, 1 or more")
        self.client = Client(token, room=room, timeout=timeout, library=library)
        self.ticks_per_step = ticks_per_step
        self.ticks_max = ticks_max
        self._act, self._reward, self._terminated = act, reward, terminated
        self._closed = False
        self.client.ask("pause")

    def reset(self, seed=None, options=None):
        """Puts the scene back to its first state; without a seed, to the scene's own."""
        self._check_open()
        self.client.ask("reset", seed=seed)
        return self._observe()

    def step(self, action=None):
        """Applies an action and steps the room. A field that is not finite raises ValueError before
        anything is sent; after close, RuntimeError is raised."""
        self._check_open()
        self._act(self.client, action)
        self.client.ask("step", tick_count=self.ticks_per_step)
        obs, info = self._observe()
        truncated = self.ticks_max is not None and info["tick"] >= self.ticks_max
        return obs, self._reward(obs, info), self._terminated(obs, info), truncated, info

    def close(self):
        """Disconnects; the room stays paused. A second close does nothing."""
        self._closed = True
        self.client.close()

    def _check_open(self):
        if self._closed:
            raise RuntimeError("the environment is closed")

    def _observe(self):
        ids, numbers, answer = self.client.bodies()
        return _observation(numbers), {"tick": answer.tick, "hash": answer.hash, "ids": ids}
