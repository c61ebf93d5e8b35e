# SPDX-License-Identifier: MIT
"""Gymnasium's classes where the package gymnasium is installed, and the same shape where it is not."""

from __future__ import annotations

from typing import Any

import numpy

try:
    import gymnasium
    from gymnasium.spaces import Box
    from gymnasium.vector import VectorEnv as BaseVectorEnv

    BaseEnv = gymnasium.Env
    HAS_GYMNASIUM = True
except ImportError:
    HAS_GYMNASIUM = False

    class Box:  # type: ignore[no-redef]
        """Arrays of one shape and type, each number between its own bounds."""

        def __init__(self, low: Any, high: Any, shape: tuple[int, ...] | None = None, dtype: Any = numpy.float32,
                     seed: int | None = None) -> None:
            self.dtype = numpy.dtype(dtype)
            self.shape = tuple(shape) if shape is not None else numpy.broadcast(low, high).shape
            self.low = numpy.broadcast_to(low, self.shape).astype(self.dtype)
            self.high = numpy.broadcast_to(high, self.shape).astype(self.dtype)
            self.seed(seed)

        def seed(self, seed: int | None = None) -> None:
            self._np_random = numpy.random.Generator(numpy.random.PCG64(seed))

        def sample(self) -> numpy.ndarray:
            """Uniform between the bounds."""
            return self._np_random.uniform(self.low, self.high).astype(self.dtype)

        def contains(self, x: Any) -> bool:
            x = numpy.asarray(x)
            fits = numpy.can_cast(x.dtype, self.dtype) and x.shape == self.shape
            return bool(fits and numpy.all(x >= self.low) and numpy.all(x <= self.high))

        __contains__ = contains

        def __eq__(self, other: object) -> bool:
            return (isinstance(other, Box) and self.dtype == other.dtype and self.shape == other.shape
                    and numpy.array_equal(self.low, other.low) and numpy.array_equal(self.high, other.high))

        def __repr__(self) -> str:
            return f"Box({self.low.min()}, {self.high.max()}, {self.shape}, {self.dtype})"

    class _Random:
        """np_random as Gymnasium has it: a generator that a seed begins, and that goes on without one."""

        spec: Any = None
        metadata: dict[str, Any] = {"render_modes": []}
        render_mode: str | None = None
        _np_random: numpy.random.Generator | None = None
        _np_random_seed: int | None = None

        def _seed(self, seed: int | None) -> None:
            sequence = numpy.random.SeedSequence(seed)
            self._np_random = numpy.random.Generator(numpy.random.PCG64(sequence))
            self._np_random_seed = int(sequence.entropy)  # type: ignore[arg-type]

        @property
        def np_random(self) -> numpy.random.Generator:
            if self._np_random is None:
                self._seed(None)
            assert self._np_random is not None
            return self._np_random

        @np_random.setter
        def np_random(self, value: numpy.random.Generator) -> None:
            self._np_random, self._np_random_seed = value, -1

        @property
        def np_random_seed(self) -> int | None:
            self.np_random
            return self._np_random_seed

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
            if seed is not None:
                self._seed(seed)

        @property
        def unwrapped(self) -> Any:
            return self

    class BaseEnv(_Random):  # type: ignore[no-redef]
        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            self.close()

        def close(self) -> None: ...

    class BaseVectorEnv(_Random):  # type: ignore[no-redef]
        num_envs: int
        closed = False

        def close(self, **_: Any) -> None:
            if not self.closed:
                self.close_extras()
                self.closed = True

        def close_extras(self, **_: Any) -> None: ...


def autoreset_mode() -> Any:
    """An environment that has ended is reset by the step after: the action of that step is not used."""
    if HAS_GYMNASIUM and hasattr(gymnasium.vector, "AutoresetMode"):
        return gymnasium.vector.AutoresetMode.NEXT_STEP
    return "NextStep"
