# SPDX-License-Identifier: MIT
"""Prints the numbers that articulation_tree_test.c expects, from Lagrange's equations alone: the mass matrix as the second derivatives
of the kinetic energy, the forces of velocities and of gravity from differences of these. Nothing of it is recursive."""

from math import cos, sin

# Parent, kind, axis, anchor, centre, mass, inertia about the centre (diagonal), all in world axes where every coordinate is 0.
LINKS = [
    (-1, "hinge", (0, 0, 1), (0, 0, 0), (0.3, 0.1, 0), 2.0, (0.02, 0.05, 0.06)),
    (0, "hinge", (0, 1, 0), (0.6, 0.2, 0), (0.8, 0.2, 0.3), 1.5, (0.03, 0.02, 0.04)),
    (0, "slide", (0.6, 0.8, 0), (0.6, 0.2, 0), (0.7, 0.5, -0.2), 0.5, (0.01, 0.02, 0.01)),
    (1, "hinge", (1, 0, 0), (0.9, 0.2, 0.5), (0.9, 0.0, 0.7), 1.0, (0.02, 0.01, 0.015)),
]
ARMATURES = [0.0, 0.1, 0.2, 0.0]
SPEEDS = [1.0, -2.0, 0.5, 3.0]
ACCELERATIONS = [0.5, 1.0, -2.0, 4.0]
GRAVITY = 9.81  # along -y
STEP = 1e-4


def apply(m, v):
    return [sum(m[i][k] * v[k] for k in range(3)) for i in range(3)]


def multiply(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def transpose(m):
    return [list(row) for row in zip(*m)]


def rotation(axis, angle):
    x, y, z = axis
    c, s = cos(angle), sin(angle)
    outer = [[x * x, x * y, x * z], [y * x, y * y, y * z], [z * x, z * y, z * z]]
    skew = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    return [[c * (i == j) + (1 - c) * outer[i][j] + s * skew[i][j] for j in range(3)] for i in range(3)]


def poses(q):
    """Of each link: rotation, and where the point p of the rest pose is, as a function."""
    result = []
    for index, (parent, kind, axis, anchor, *_) in enumerate(LINKS):
        turn, shift = ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]) if parent < 0 else result[parent]
        if kind == "hinge":
            own = rotation(axis, q[index])
            offset = [a - b for a, b in zip(anchor, apply(own, anchor))]
        else:
            own, offset = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [q[index] * a for a in axis]
        result.append((multiply(turn, own), [a + b for a, b in zip(apply(turn, offset), shift)]))
    return result


def centres(q):
    return [[a + b for a, b in zip(apply(turn, link[4]), shift)] for link, (turn, shift) in zip(LINKS, poses(q))]


def moved(q, index, by):
    return [x + (by if i == index else 0) for i, x in enumerate(q)]


def jacobians(q):
    """Of each link, for each coordinate: velocity of the centre, angular velocity in the link's frame."""
    columns = []
    turns = [turn for turn, _ in poses(q)]
    for k in range(len(LINKS)):
        after, before = moved(q, k, STEP), moved(q, k, -STEP)
        speed = [[(a - b) / (2 * STEP) for a, b in zip(x, y)] for x, y in zip(centres(after), centres(before))]
        spin = []
        for turn, (x, _), (y, _) in zip(turns, poses(after), poses(before)):
            rate = [[(a - b) / (2 * STEP) for a, b in zip(r, s)] for r, s in zip(x, y)]
            skew = multiply(transpose(turn), rate)
            spin.append([skew[2][1], skew[0][2], skew[1][0]])
        columns.append((speed, spin))
    return columns


def mass_matrix(q):
    columns = jacobians(q)
    n = len(LINKS)
    return [[sum(link[5] * sum(a * b for a, b in zip(columns[i][0][l], columns[j][0][l])) +
                 sum(m * a * b for m, a, b in zip(link[6], columns[i][1][l], columns[j][1][l]))
                 for l, link in enumerate(LINKS)) + (ARMATURES[i] if i == j else 0) for j in range(n)] for i in range(n)]


def forces(q, speeds, accelerations):
    """tau = M a + dM/dt v - d(kinetic energy)/dq + d(potential energy)/dq."""
    n = len(LINKS)
    m = mass_matrix(q)
    wide = 1e-3
    change = []
    for k in range(n):
        after, before = mass_matrix(moved(q, k, wide)), mass_matrix(moved(q, k, -wide))
        change.append([[(a - b) / (2 * wide) for a, b in zip(r, s)] for r, s in zip(after, before)])
    result = []
    for i in range(n):
        total = sum(m[i][j] * accelerations[j] for j in range(n))
        total += sum(change[k][i][j] * speeds[k] * speeds[j] for k in range(n) for j in range(n))
        total -= 0.5 * sum(change[i][k][j] * speeds[k] * speeds[j] for k in range(n) for j in range(n))
        heights = [centres(moved(q, i, by)) for by in (STEP, -STEP)]
        total += sum(link[5] * GRAVITY * (a[1] - b[1]) / (2 * STEP) for link, a, b in zip(LINKS, *heights))
        result.append(total)
    return result


rest = [0.0] * len(LINKS)
for row in mass_matrix(rest):
    print("{" + ", ".join(f"{value:.5f}f" for value in row) + "},")
print("{" + ", ".join(f"{value:.4f}f" for value in forces(rest, SPEEDS, ACCELERATIONS)) + "},")
