# SPDX-License-Identifier: MIT
import enum

from .random import Seeded


class AutoresetMode(enum.Enum):
    NEXT_STEP = "NextStep"


class VectorEnv(Seeded):
    metadata = {}
    spec = None
    render_mode = None
    closed = False

    def close(self, **kwargs):
        if not self.closed:
            self.close_extras(**kwargs)
            self.closed = True

    def close_extras(self, **kwargs):
        pass

    def __del__(self):
        if not getattr(self, "closed", True):
            self.close()
