# SPDX-License-Identifier: MIT
import numpy


def seeded(seed):
    sequence = numpy.random.SeedSequence(seed)
    return numpy.random.Generator(numpy.random.PCG64(sequence)), sequence.entropy
