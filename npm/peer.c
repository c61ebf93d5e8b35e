// SPDX-License-Identifier: MIT

// What the page tells of itself as a peer: the self-test of its arithmetic, and how well its steps
// are solved.

#include <stdlib.h>

#include "sim/debug/passport.h"
#include "sim/math/vec.h"
#include <cairn/measure.h>
#include <cairn/sim.h>

// measures.ts reads it.
typedef struct cairn_npm_measures {
    double residual;    // m/s or rad/s, as in cairn_measure
    double cone;        // N s
    double work;        // J
    double penetration; // m: the deepest point of a contact
    double energy;      // J: kinetic, of all bodies
    uint32_t rows;
    uint32_t contacts;
} cairn_npm_measures;

uint32_t cairn_npm_passport(void);
bool cairn_npm_measure(const cairn_world *world, cairn_npm_measures *out);

// Bit set of faults; 0: this page computes what every other peer does.
uint32_t cairn_npm_passport(void) {
    cairn_passport passport;
    const cairn_status status = cairn_passport_read(&passport);
    return status == CAIRN_OK ? passport.faults : UINT32_MAX;
}

static double deepest(const cairn_world *world) {
    double depth = 0.0;
    const uint32_t count = cairn_world_contacts(world, NULL, 0);
    cairn_contact_data *contacts = malloc((count + 1) * sizeof *contacts);
    if (contacts == NULL) {
        return 0.0;
    }
    (void)cairn_world_contacts(world, contacts, count);
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t k = 0; k < contacts[i].point_count; ++k) {
            const double inside = -(double)contacts[i].points[k].separation;
            depth = inside > depth ? inside : depth;
        }
    }
    free(contacts);
    return depth;
}

static double energy_of(const cairn_world *world, const cairn_body_state *body) {
    cairn_mass_properties mass;
    if (cairn_body_read_mass(world, body->id, &mass) != CAIRN_OK) {
        return 0.0;
    }
    const float *i = mass.inertia;
    const cairn_vec3 w = quat_rotate_inverse(body->rotation, body->angular_velocity);
    const cairn_vec3 l = vec3(i[0] * w.x + i[3] * w.y + i[4] * w.z,
        i[3] * w.x + i[1] * w.y + i[5] * w.z, i[4] * w.x + i[5] * w.y + i[2] * w.z);
    const cairn_vec3 v = body->linear_velocity;
    return 0.5 * ((double)mass.mass * (double)vec3_dot(v, v) + (double)vec3_dot(l, w));
}

static double kinetic(const cairn_world *world) {
    double sum = 0.0;
    const uint32_t count = cairn_world_bodies(world, NULL, 0);
    cairn_body_state *bodies = malloc((count + 1) * sizeof *bodies);
    if (bodies == NULL) {
        return 0.0;
    }
    (void)cairn_world_bodies(world, bodies, count);
    for (uint32_t i = 0; i < count; ++i) {
        sum += energy_of(world, &bodies[i]);
    }
    free(bodies);
    return sum;
}

// Of the step that the world would take next without commands; the world is not changed. False: out
// of memory.
bool cairn_npm_measure(const cairn_world *world, cairn_npm_measures *out) {
    cairn_world *next;
    cairn_measure step;
    if (cairn_world_fork(world, &next) != CAIRN_OK) {
        return false;
    }
    const bool good = cairn_world_step_measured(next, NULL, 0, 0, &step) == CAIRN_OK;
    *out = (cairn_npm_measures){.residual = step.residual,
        .cone = step.cone,
        .work = step.work,
        .penetration = deepest(next),
        .energy = kinetic(next),
        .rows = step.rows,
        .contacts = step.contacts};
    cairn_world_destroy(next);
    return good;
}
