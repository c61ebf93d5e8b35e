// SPDX-License-Identifier: MIT
#include <string.h>

#include "robot/model.h"

#define PI 3.14159265358979323846
// Files round their inertias to three digits.
#define DIGITS 1e-3

// Where entry (row, column) of a symmetric matrix is among xx, yy, zz, xy, xz, yz.
static const int entries[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};

static void matrix_of(cairn_quat rotation, double m[3][3]) {
    const cairn_quat unit = cairn_quat_normalize(rotation);
    const double x = (double)unit.x, y = (double)unit.y, z = (double)unit.z, w = (double)unit.w;
    // Normalised once more in double: a float's length is off by 1e-7, an inertia by twice that.
    const double s = 2.0 / (x * x + y * y + z * z + w * w);
    const double rows[3][3] = {
        {1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)},
        {s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)},
        {s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)}};
    memcpy(m, rows, sizeof rows);
}

cairn_robot_mass cairn_robot_mass_moved(const cairn_robot_mass *mass, cairn_pose pose) {
    double r[3][3];
    const double position[3] = {
        (double)pose.position.x, (double)pose.position.y, (double)pose.position.z};
    cairn_robot_mass out = {.mass = mass->mass};
    matrix_of(pose.rotation, r);
    for (int i = 0; i < 3; ++i) {
        out.centre[i] = position[i];
        for (int k = 0; k < 3; ++k) {
            out.centre[i] += r[i][k] * mass->centre[k];
        }
        for (int j = i; j < 3; ++j) {
            double sum = 0.0;
            for (int k = 0; k < 3; ++k) {
                for (int m = 0; m < 3; ++m) {
                    sum += r[i][k] * mass->inertia[entries[k][m]] * r[j][m];
                }
            }
            out.inertia[entries[i][j]] = sum;
        }
    }
    return out;
}

// The inertia about a point that is `arm` from the centre, less that about the centre.
static void add_steiner(double inertia[6], double mass, const double arm[3]) {
    const double square = arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2];
    for (int i = 0; i < 3; ++i) {
        for (int j = i; j < 3; ++j) {
            inertia[entries[i][j]] += mass * ((i == j ? square : 0.0) - arm[i] * arm[j]);
        }
    }
}

void cairn_robot_mass_add(cairn_robot_mass *sum, const cairn_robot_mass *part) {
    const double mass = sum->mass + part->mass;
    double centre[3], to_sum[3], to_part[3];
    if (!(part->mass > 0.0)) {
        return;
    }
    for (int i = 0; i < 3; ++i) {
        centre[i] = (sum->mass * sum->centre[i] + part->mass * part->centre[i]) / mass;
        to_sum[i] = sum->centre[i] - centre[i];
        to_part[i] = part->centre[i] - centre[i];
    }
    for (int i = 0; i < 6; ++i) {
        sum->inertia[i] += part->inertia[i];
    }
    add_steiner(sum->inertia, sum->mass, to_sum);
    add_steiner(sum->inertia, part->mass, to_part);
    sum->mass = mass;
    memcpy(sum->centre, centre, sizeof centre);
}

static double square(double a) {
    return a * a;
}

// About y, its long axis, and across it.
static void round_inertia(cairn_robot_mass *out, double along, double across) {
    out->inertia[0] = across;
    out->inertia[1] = along;
    out->inertia[2] = across;
}

// A cylinder of length 2 h with half a ball at each end, if it is a capsule.
static void capsule_mass(const cairn_robot_geom *geom, double density, cairn_robot_mass *out) {
    const double r = (double)geom->radius, h = (double)geom->half_height;
    const double ends = geom->kind == CAIRN_SHAPE_CAPSULE ? 4.0 / 3.0 * PI * r * r * r : 0.0;
    const double barrel = 2.0 * PI * r * r * h;
    const double scale = geom->mass >= 0.0 ? geom->mass / (ends + barrel) : density;
    const double a = scale * barrel, b = scale * ends;
    out->mass = a + b;
    round_inertia(out, a * square(r) / 2.0 + b * 0.4 * square(r),
        a * (square(r) / 4.0 + square(h) / 3.0) + b * (0.4 * square(r) + square(h) + 0.75 * h * r));
}

cairn_robot_mass cairn_robot_geom_mass(const cairn_robot_geom *geom) {
    cairn_robot_mass out = {0};
    const double r = (double)geom->radius;
    const cairn_vec3 e = geom->half_extents;
    if (geom->kind == CAIRN_SHAPE_HALF_SPACE) {
        return out;
    }
    if (geom->kind == CAIRN_SHAPE_SPHERE) {
        out.mass = geom->mass >= 0.0 ? geom->mass : geom->density * 4.0 / 3.0 * PI * r * r * r;
        round_inertia(&out, 0.4 * out.mass * r * r, 0.4 * out.mass * r * r);
    } else if (geom->kind == CAIRN_SHAPE_BOX) {
        const double x = (double)e.x, y = (double)e.y, z = (double)e.z;
        out.mass = geom->mass >= 0.0 ? geom->mass : geom->density * 8.0 * x * y * z;
        out.inertia[0] = out.mass / 3.0 * (y * y + z * z);
        out.inertia[1] = out.mass / 3.0 * (x * x + z * z);
        out.inertia[2] = out.mass / 3.0 * (x * x + y * y);
    } else {
        capsule_mass(geom, geom->density, &out);
    }
    return cairn_robot_mass_moved(&out, geom->pose);
}

bool cairn_robot_inertia_fits(const double m[6]) {
    const double size = m[0] + m[1] + m[2];
    const double minor = m[0] * m[1] - m[3] * m[3];
    const double determinant =
        m[2] * minor - m[0] * m[5] * m[5] - m[1] * m[4] * m[4] + 2.0 * m[3] * m[4] * m[5];
    return size > 1e-20 && size < 1e20 && m[0] > 0.0 && minor > 1e-12 * size * size &&
           determinant > 1e-12 * size * size * size;
}

// The sums over the masses of x x, x y, ... about the centre are tr(I) / 2 - I, which is positive
// semidefinite.
bool cairn_robot_inertia_real(const double m[6]) {
    const double trace = m[0] + m[1] + m[2];
    const double half = 0.5 * trace + DIGITS * trace;
    const double s[6] = {half - m[0], half - m[1], half - m[2], 0.0 - m[3], 0.0 - m[4], 0.0 - m[5]};
    const double minor = s[0] * s[1] - s[3] * s[3];
    const double determinant =
        s[2] * minor - s[0] * s[5] * s[5] - s[1] * s[4] * s[4] + 2.0 * s[3] * s[4] * s[5];
    return !cairn_robot_inertia_fits(m) || (s[0] > 0.0 && minor > 0.0 && determinant > 0.0);
}

static void invert(const double m[6], double out[6]) {
    const double cofactors[6] = {m[1] * m[2] - m[5] * m[5], m[0] * m[2] - m[4] * m[4],
        m[0] * m[1] - m[3] * m[3], m[4] * m[5] - m[3] * m[2], m[3] * m[5] - m[4] * m[1],
        m[3] * m[4] - m[0] * m[5]};
    const double determinant = m[0] * cofactors[0] + m[3] * cofactors[3] + m[4] * cofactors[4];
    for (int i = 0; i < 6; ++i) {
        out[i] = cofactors[i] / determinant;
    }
}

// Adds the velocities that unit forces and torques at the anchor give to a body there: rows and
// columns 0 to 2 are linear, 3 to 5 angular.
static void add_response(double k[6][6], const cairn_robot_mass *body, cairn_vec3 anchor) {
    double inverse[6];
    const double arm[3] = {(double)anchor.x - body->centre[0], (double)anchor.y - body->centre[1],
        (double)anchor.z - body->centre[2]};
    const double cross[3][3] = {// v = w x arm = cross * w
        {0.0, arm[2], -arm[1]}, {-arm[2], 0.0, arm[0]}, {arm[1], -arm[0], 0.0}};
    double mixed[3][3] = {{0.0}}; // cross * inverse inertia
    invert(body->inertia, inverse);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            for (int m = 0; m < 3; ++m) {
                mixed[i][j] += cross[i][m] * inverse[entries[m][j]];
            }
        }
    }
    for (int i = 0; i < 3; ++i) {
        k[i][i] += 1.0 / body->mass;
        for (int j = 0; j < 3; ++j) {
            k[i][3 + j] += mixed[i][j];
            k[3 + j][i] += mixed[i][j];
            k[3 + i][3 + j] += inverse[entries[i][j]];
            for (int m = 0; m < 3; ++m) {
                k[i][j] += mixed[i][m] * cross[j][m];
            }
        }
    }
}

// n . K^-1 n by elimination without pivots, which a positive definite matrix does not need.
static double inverse_along(double k[6][6], const double n[6]) {
    double x[6];
    memcpy(x, n, sizeof x);
    for (int i = 0; i < 6; ++i) {
        for (int row = i + 1; row < 6; ++row) {
            const double factor = k[row][i] / k[i][i];
            for (int column = i; column < 6; ++column) {
                k[row][column] -= factor * k[i][column];
            }
            x[row] -= factor * x[i];
        }
    }
    double sum = 0.0;
    for (int i = 5; i >= 0; --i) {
        for (int column = i + 1; column < 6; ++column) {
            x[i] -= k[i][column] * x[column];
        }
        x[i] /= k[i][i];
        sum += n[i] * x[i];
    }
    return sum;
}

// A wrench L at the anchor gives the relative velocity K L. If the joint leaves n alone, the wrench
// that changes that by v is K^-1 n v, and its part along n is what a drive must exert.
double cairn_robot_joint_inertia(
    const cairn_robot_joint *joint, const cairn_robot_mass *a, const cairn_robot_mass *b) {
    double k[6][6] = {{0.0}}, n[6] = {0.0};
    const int first = joint->kind == CAIRN_ROBOT_SLIDE ? 0 : 3;
    add_response(k, b, joint->anchor);
    if (a != NULL) {
        add_response(k, a, joint->anchor);
    }
    n[first] = (double)joint->axis.x;
    n[first + 1] = (double)joint->axis.y;
    n[first + 2] = (double)joint->axis.z;
    return inverse_along(k, n);
}
