# SPDX-License-Identifier: MIT
"""The part of Gymnasium's interface that cairn subclasses, for tests where the package cannot be had."""

from . import spaces, vector  # noqa: F401
from .random import seeded


class Env:
    metadata = {"render_modes": []}
    render_mode = None
    spec = None
    _np_random = None
    _np_random_seed = None

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self._np_random, self._np_random_seed = seeded(seed)

    @property
    def np_random(self):
        if self._np_random is None:
            self._np_random, self._np_random_seed = seeded(None)
        return self._np_random

    @property
    def unwrapped(self):
        return self

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
