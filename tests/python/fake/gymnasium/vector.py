# SPDX-License-Identifier: MIT
import enum

from .random import seeded


class AutoresetMode(enum.Enum):
    NEXT_STEP = "NextStep"


class VectorEnv:
    metadata = {}
    spec = None
    render_mode = None
    closed = False
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

    def close(self, **kwargs):
        if not self.closed:
            self.close_extras(**kwargs)
            self.closed = True

    def close_extras(self, **kwargs):
        pass

    def __del__(self):
        if not getattr(self, "closed", True):
            self.close()
