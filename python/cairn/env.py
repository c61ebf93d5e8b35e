# SPDX-License-Identifier: MIT
"""Worlds as learning frameworks expect them: Gymnasium's Env and VectorEnv."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Sequence

import numpy

from . import layout
from ._native import ffi, lib
from .client import Client
from .errors import Closed, check
from .room import Room
from .spaces import BaseEnv, BaseVectorEnv, Box, autoreset_mode
from .world import DYNAMIC, World

# A field of an observation: its bit, how many numbers it has, and what no body exceeds.
_FIELDS = {
    "position": (lib.CAIRN_OBSERVE_POSITION, 3, 1e7),
    "rotation": (lib.CAIRN_OBSERVE_ROTATION, 4, 1.001),
    "linear_velocity": (lib.CAIRN_OBSERVE_LINEAR_VELOCITY, 3, 1e6),
    "angular_velocity": (lib.CAIRN_OBSERVE_ANGULAR_VELOCITY, 3, 1e6),
    "awake": (lib.CAIRN_OBSERVE_AWAKE, 1, 1.0),
}
FIELDS = ("position", "rotation", "linear_velocity", "angular_velocity")
RENDER_MODES = ("rgb_array", "ansi")


def _whole(name: str, value: Any, least: int = 1) -> int:
    if not isinstance(value, (int, numpy.integer)) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number, {least} or more, not {value!r}")
    return int(value)


class _Task:
    """What a learner sees, does and is rewarded for: what Env and VectorEnv share."""

    def __init__(
        self,
        first: World | Room,
        *,
        fields: Sequence[str] = FIELDS,
        bodies: Iterable[int] | None = None,
        push: Iterable[int] | None = None,
        impulse: float = 1.0,
        act: Callable[[Any, Any], None] | None = None,
        action_space: Any = None,
        observe: Callable[[Any], Any] | None = None,
        observation_space: Any = None,
        begin: Callable[[Any, numpy.random.Generator, dict[str, Any]], None] | None = None,
        reward: Callable[[numpy.ndarray, dict[str, Any]], Any] | None = None,
        terminated: Callable[[numpy.ndarray, dict[str, Any]], Any] | None = None,
        ticks_per_step: int = 1,
        ticks_max: int | None = None,
        render_mode: str | None = None,
        camera: dict[str, Any] | None = None,
    ) -> None:
        if unknown := [name for name in fields if name not in _FIELDS]:
            raise ValueError(f"fields: {unknown[0]!r} is not one of {', '.join(_FIELDS)}")
        if not fields:
            raise ValueError("fields: at least one of " + ", ".join(_FIELDS))
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode must be one of {', '.join(RENDER_MODES)}, not {render_mode!r}")
        if act is not None and action_space is None:
            raise ValueError("act needs an action_space")
        if (observe is None) != (observation_space is None):
            raise ValueError("observe needs an observation_space, and that needs observe")
        self.fields = sum({_FIELDS[name][0] for name in fields})
        chosen = [field for name, field in _FIELDS.items() if name in fields]
        self.width = sum(width for _, width, _ in chosen)
        moving = [int(row["id"]) for row in first.bodies if row["kind"] == DYNAMIC]
        self.watched = self._ids("bodies", moving if bodies is None else bodies)
        self.pushed = self._ids("push", moving[:1] if push is None else push) if act is None else numpy.empty(0, "u4")
        self.impulse = layout.real("impulse", impulse)
        self.act, self.observe, self.begin, self.reward, self.terminated = act, observe, begin, reward, terminated
        self.ticks_per_step = _whole("ticks_per_step", ticks_per_step)
        self.ticks_max = None if ticks_max is None else _whole("ticks_max", ticks_max)
        self.render_mode, self.camera = render_mode, dict(camera or {})
        bound = numpy.concatenate([numpy.full(width, most, "f4") for _, width, most in chosen])
        rows = numpy.tile(bound, (len(self.watched), 1))
        self.observation_space = Box(-rows, rows, dtype=numpy.float32) if observe is None else observation_space
        self.action_space = action_space
        if action_space is None:
            self.action_space = Box(-1.0, 1.0, (len(self.pushed), 3), numpy.float32)

    @staticmethod
    def _ids(name: str, ids: Iterable[int]) -> numpy.ndarray:
        found = numpy.array([layout.whole(name, body) for body in ids], dtype="u4")
        if not len(found):
            raise ValueError(f"{name}: give at least one id; the scene has no dynamic body, but players' bodies may come later")
        return found

    def impulses(self, action: Any, count: int) -> numpy.ndarray:
        """The impulses of an action of `count` worlds, N s. Raises if a number is not finite."""
        shape = (count, len(self.pushed), 3)
        numbers = numpy.asarray(action, dtype="f4")
        if numbers.size != count * len(self.pushed) * 3:
            raise ValueError(f"an action has the shape {shape[1:]}, not {numbers.shape}")
        if not numpy.isfinite(numbers).all():
            raise ValueError("the action is not finite")
        return numpy.ascontiguousarray(numbers.reshape(shape) * numpy.float32(self.impulse))


class Env(BaseEnv):
    """A world that is stepped with actions and observed, as Gymnasium's Env (a subclass of it where
    gymnasium is installed).

    `scene` is what World takes; or `client` an operator's Client, and then the world is the room of
    that client on the server, which is paused. Everything else is the same for both, and both have
    the same hashes for the same seed and actions.

    Observations are arrays of float32 with a row for each of `bodies` (ids; by default all dynamic
    ones) and these `fields` of it in columns: position, rotation, linear_velocity, angular_velocity,
    awake. A body that no longer exists has a row of zeros.

    An action is an impulse for each of the bodies `push` (by default the first dynamic one), an array
    of shape (bodies, 3) in [-1, 1], in units of `impulse` N s. Or give `action_space` and
    act(world, action), which calls the methods of World (of Room on a server).

    Or give `observation_space` and observe(world), which returns an array of its shape.

    begin(world, np_random, options) changes the world at the start of an episode.
    reward(obs, info) and terminated(obs, info) judge a step; obs[..., row, column] serves VectorEnv
    as well. An episode is truncated after `ticks_max` ticks. `info` has "tick", and "hash" if
    `hashes`: the full root of the world, which proves that two runs went alike.

    reset(seed) gives the world this seed and begins np_random with it; reset() draws the world's seed
    from np_random, which goes on (a world without rules keeps its seed, since nothing in it is
    random). `camera` has the arguments of World.draw."""

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 60}

    def __init__(self, scene: Any = None, *, client: Client | None = None, room: str | None = None,
                 rules: str | None = None, hashes: bool = True, **task: Any) -> None:
        if (scene is None) == (client is None):
            raise ValueError("give a scene or a client")
        self.client = client
        self.world: World | Room = World(scene, rules=rules) if client is None else Room(client, room)
        self._task = _Task(self.world, **task)
        self.observation_space, self.action_space = self._task.observation_space, self._task.action_space
        self.render_mode = self._task.render_mode
        self.metadata = {**self.metadata, "render_fps": self.world.tick_rate_hz // self._task.ticks_per_step or 1}
        self._hashes = hashes
        self._first = self.world.tick
        self._closed = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode."""
        self._check_open()
        if seed is not None:
            seed = _whole("seed", seed, 0)
        super().reset(seed=seed)
        self.world.restart(seed, self.np_random)
        if self._task.begin is not None:
            self._task.begin(self.world, self.np_random, dict(options or {}))
        self._first = self.world.tick
        return self._observe(0)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Applies an action and steps. A number that is not finite raises ValueError before anything
        happens; after close, Closed is raised."""
        self._check_open()
        task = self._task
        if task.act is not None:
            task.act(self.world, action)
        else:
            for body, push in zip(task.pushed.tolist(), task.impulses(action, 1)[0].tolist()):
                if push != [0.0, 0.0, 0.0]:
                    self.world.impulse(body, push)
        obs, info = self._observe(task.ticks_per_step)
        truncated = task.ticks_max is not None and info["tick"] - self._first >= task.ticks_max
        reward = 0.0 if task.reward is None else float(task.reward(obs, info))
        terminated = task.terminated is not None and bool(task.terminated(obs, info))
        return obs, reward, terminated, truncated, info

    def render(self) -> Any:
        """A picture (rgb_array), or the state in words (ansi); None without a render mode."""
        self._check_open()
        if self.render_mode == "rgb_array":
            return self.world.draw(**self._task.camera)
        if self.render_mode == "ansi":
            return self.world.words()
        return None

    def close(self) -> None:
        """Frees the world; a room stays paused, and its client open. A second close does nothing."""
        self._closed = True
        if isinstance(self.world, World):
            self.world.close()

    def _check_open(self) -> None:
        if self._closed:
            raise Closed("the environment is closed")

    def _observe(self, ticks: int) -> tuple[numpy.ndarray, dict[str, Any]]:
        task = self._task
        obs = self.world.advance(ticks, task.watched, task.fields, task.width)
        if task.observe is not None:
            obs = task.observe(self.world)
        info: dict[str, Any] = {"tick": self.world.tick}
        if self._hashes:
            info["hash"] = self.world.hash
        return obs, info


class VectorEnv(BaseVectorEnv):
    """`num_envs` worlds of one scene that are stepped together, in one call and on `threads` threads,
    as Gymnasium's VectorEnv (a subclass of it where gymnasium is installed). Arguments are those of
    Env; reward and terminated see the observations of all worlds at once, so write obs[..., 0, 1].

    World i has the seed of reset plus i. A world that has ended is reset by the next step, which does
    not use its action (AutoresetMode.NEXT_STEP). info["tick"] has the tick of each world."""

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 60}

    def __init__(self, num_envs: int, scene: Any, *, threads: int = 1, rules: str | None = None, **task: Any) -> None:
        self.num_envs = _whole("num_envs", num_envs)
        self.closed = True  # until all is made: BaseVectorEnv closes what is deleted
        self.worlds = [World(scene, rules=rules)]
        self._task = _Task(self.worlds[0], **task)
        self.worlds += [self.worlds[0].fork() for _ in range(num_envs - 1)]
        self.single_observation_space, self.single_action_space = self._task.observation_space, self._task.action_space
        space = self._task.observation_space
        self.observation_space = Box(self._repeat(space.low), self._repeat(space.high), dtype=numpy.float32)
        if self._task.act is None:
            space = self._task.action_space
            self.action_space = Box(self._repeat(space.low), self._repeat(space.high), dtype=space.dtype)
        self.render_mode = self._task.render_mode
        self.metadata = {**self.metadata, "autoreset_mode": autoreset_mode()}
        self._ended = numpy.zeros(num_envs, dtype=bool)
        self._first = numpy.zeros(num_envs, dtype="i8")
        pool = ffi.new("cairn_native_pool **")
        check(lib.cairn_native_pool_create(_whole("threads", threads), pool), "threads")
        self._pool = ffi.gc(pool[0], lib.cairn_native_pool_destroy)
        self.closed = False

    def _repeat(self, bound: numpy.ndarray) -> numpy.ndarray:
        return numpy.repeat(bound[None], self.num_envs, axis=0)

    def reset(self, *, seed: int | Sequence[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[numpy.ndarray, dict[str, Any]]:
        """Begins an episode in each world."""
        self._check_open()
        seeds: list[int | None]
        if seed is None or isinstance(seed, (int, numpy.integer)):
            first = None if seed is None else _whole("seed", seed, 0)
            super().reset(seed=first)
            seeds = [None if first is None else first + i for i in range(self.num_envs)]
        else:
            seeds = [None if given is None else _whole("seed", given, 0) for given in seed]
            if len(seeds) != self.num_envs:
                raise ValueError(f"{self.num_envs} seeds, one for each world, not {len(seeds)}")
        for i, given in enumerate(seeds):
            self._begin(i, given, options)
        self._ended[:] = False
        return self._run(range(self.num_envs), 0, None)

    def _begin(self, i: int, seed: int | None, options: dict[str, Any] | None = None) -> None:
        self.worlds[i].restart(seed, self.np_random)
        if self._task.begin is not None:
            self._task.begin(self.worlds[i], self.np_random, dict(options or {}))
        self._first[i] = self.worlds[i].tick

    def step(self, actions: Any) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray, numpy.ndarray, dict[str, Any]]:
        """Applies an action in each world and steps all of them."""
        self._check_open()
        task = self._task
        ended = self._ended.copy()
        impulses = None
        if task.act is None:
            impulses = task.impulses(actions, self.num_envs)
            impulses[ended] = 0
        for i in numpy.flatnonzero(ended):
            self._begin(int(i), None)
        live = numpy.flatnonzero(~ended)
        if task.act is not None:
            for i in live:
                task.act(self.worlds[i], actions[i])
        obs, info = self._run(live, task.ticks_per_step, impulses)
        reward = numpy.zeros(self.num_envs) if task.reward is None else self._each(task.reward(obs, info), "f8")
        terminated = numpy.zeros(self.num_envs, bool)
        if task.terminated is not None:
            terminated = self._each(task.terminated(obs, info), bool)
        truncated = numpy.zeros(self.num_envs, bool)
        if task.ticks_max is not None:
            truncated = info["tick"] - self._first >= task.ticks_max
        reward[ended], terminated[ended], truncated[ended] = 0.0, False, False
        self._ended = terminated | truncated
        return obs, reward, terminated, truncated, info

    def _each(self, values: Any, dtype: Any) -> numpy.ndarray:
        return numpy.array(numpy.broadcast_to(values, self.num_envs), dtype=dtype)

    # Steps the worlds `live`, and observes all of them.
    def _run(self, live: Iterable[int], ticks: int, impulses: numpy.ndarray | None) -> tuple[numpy.ndarray, dict[str, Any]]:
        task = self._task
        out = numpy.empty((self.num_envs, len(task.watched), task.width), dtype="f4")
        live = list(live)
        order = live + sorted(set(range(self.num_envs)) - set(live))
        for part, steps in ((order[: len(live)], ticks), (order[len(live) :], 0)):
            if part:
                self._run_part(part, steps, impulses, out)
        if task.observe is not None:
            out = numpy.stack([task.observe(world) for world in self.worlds])
        return out, {"tick": numpy.array([world.tick for world in self.worlds], dtype="i8")}

    def _run_part(self, part: list[int], ticks: int, impulses: numpy.ndarray | None, out: numpy.ndarray) -> None:
        task = self._task
        whole = len(part) == self.num_envs
        rows = out if whole else numpy.empty((len(part), *out.shape[1:]), dtype="f4")
        pushes = impulses if whole or impulses is None else numpy.ascontiguousarray(impulses[part])
        worlds = ffi.new("cairn_world *[]", [self.worlds[i]._change() for i in part])
        batch = ffi.new("cairn_native_batch *", {
            "worlds": worlds, "world_count": len(part), "ticks": ticks,
            "pushed": ffi.cast("uint32_t *", task.pushed.ctypes.data), "pushed_count": len(task.pushed),
            "impulses": ffi.NULL if pushes is None else ffi.cast("float *", pushes.ctypes.data),
            "watched": ffi.cast("uint32_t *", task.watched.ctypes.data), "watched_count": len(task.watched),
            "fields": task.fields, "out": ffi.cast("float *", rows.ctypes.data)})
        for i in part:
            self.worlds[i]._busy = True
        try:
            status = lib.cairn_native_batch_run(self._pool, batch)
        finally:
            for i in part:
                self.worlds[i]._busy = False
        check(status, "step")
        if not whole:
            out[part] = rows

    def render(self) -> tuple[Any, ...] | None:
        """One picture or text for each world; None without a render mode."""
        self._check_open()
        if self.render_mode == "rgb_array":
            return tuple(world.draw(**self._task.camera) for world in self.worlds)
        return tuple(world.words() for world in self.worlds) if self.render_mode == "ansi" else None

    def close_extras(self, **_: Any) -> None:
        for world in self.worlds:
            world.close()
        self._pool = None

    def _check_open(self) -> None:
        if self.closed:
            raise Closed("the environment is closed")
