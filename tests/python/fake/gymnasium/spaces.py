# SPDX-License-Identifier: MIT
import numpy


class Box:
    def __init__(self, low, high, shape=None, dtype=numpy.float32, seed=None):
        self.dtype = numpy.dtype(dtype)
        self.shape = tuple(shape) if shape is not None else numpy.shape(low)
        self.low = numpy.full(self.shape, low, dtype)
        self.high = numpy.full(self.shape, high, dtype)
        self._random = numpy.random.default_rng(seed)

    def seed(self, seed=None):
        self._random = numpy.random.default_rng(seed)

    def sample(self):
        return self._random.uniform(self.low, self.high).astype(self.dtype)

    def __contains__(self, x):
        return (isinstance(x, numpy.ndarray) and x.dtype == self.dtype and x.shape == self.shape
                and bool((x >= self.low).all() and (x <= self.high).all()))
