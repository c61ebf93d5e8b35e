# SPDX-License-Identifier: MIT
"""The part of Gymnasium's interface that cairn subclasses, for tests where the package cannot be had."""

from . import spaces, vector  # noqa: F401
from .random import Seeded


class Env(Seeded):
    metadata = {"render_modes": []}
    render_mode = None
    spec = None

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
