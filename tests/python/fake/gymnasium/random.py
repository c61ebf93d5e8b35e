# SPDX-License-Identifier: MIT
import numpy


def seeded(seed):
    sequence = numpy.random.SeedSequence(seed)
    return numpy.random.Generator(numpy.random.PCG64(sequence)), sequence.entropy


class Seeded:
    """What an environment and a vector of environments share."""

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
