# SPDX-License-Identifier: MIT
"""Prints the numbers that reference_test.c expects, from exact fractions: a body of 2 kg with unequal inertia on contacts
without friction. Every set of contacts that may carry load is tried, and the only one that satisfies all conditions is kept."""

from fractions import Fraction as F
from itertools import combinations


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b)), F(0))


def solve(matrix, right):
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for k in range(len(rows)):
        pivot = next(i for i in range(k, len(rows)) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(len(rows)):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    return [row[-1] / row[k] for k, row in enumerate(rows)]


MASS = F(2)
INERTIA = [F(1, 2), F(3, 4), F(1)]
VELOCITY = [F(1, 4), F(-1), F(0), F(1, 2), F(0), F(-1, 4)]
ARMS = [[F(-1), F(-1, 2), F(-1, 2)], [F(1), F(-1, 2), F(-1, 2)], [F(1, 4), F(-1, 2), F(1)]]
NORMAL = [F(0), F(1), F(0)]


def contacts(count):
    rows = [NORMAL + cross(arm, NORMAL) for arm in ARMS[:count]]
    inverse = [1 / MASS] * 3 + [1 / i for i in INERTIA]
    a = [[dot([x * m for x, m in zip(r, inverse)], s) for s in rows] for r in rows]
    q = [dot(r, VELOCITY) for r in rows]
    for size in range(count, -1, -1):
        for chosen in combinations(range(count), size):
            part = solve([[a[i][k] for k in chosen] for i in chosen], [-q[i] for i in chosen])
            x = [F(0)] * count
            for i, value in zip(chosen, part):
                x[i] = value
            w = [dot(a[i], x) + q[i] for i in range(count)]
            if all(v >= 0 for v in x) and all(v >= 0 for v in w):
                return x
    raise AssertionError("no solution")


for number in (1, 2, 3):
    print(number, [f"{value} = {float(value):.17g}" for value in contacts(number)])
