// SPDX-License-Identifier: MIT
// Turning bodies: for bodies with joints the world inertia is updated to the pose in every substep.
// Other bodies keep the inertia of the start of the step. For a body on a long arm that is not
// enough: it turns far in one step, its joints follow the pose, and their impulses were computed
// with an old inertia. The error has the same sign in each substep, so energy grows. Of 40 random
// pairs hung from ball joints, with arms up to four times their size, 18 gained energy; of 40 on
// distance joints 21 did, and 14 flew apart. With updated inertia 4 and 4 gain energy.
//
// A substep starts with the impulses of the last one, stored as the changes of velocity that they
// made. The angular momentum is kept when the inertia changes, so the changes of velocity become
// dw' = I'^-1 I dw.
//
// Contacts use the inertia of the start of the step: a body that touches something hardly turns.

#include <string.h>

#include "base/assert.h"
#include "sim/math/limits.h"
#include "sim/math/vec.h"
#include "sim/soft_step/soft_step.h"

static void mark(cairn_soft_step *soft_step, uint32_t a, uint32_t b) {
    soft_step->jointed[a] = 1;
    soft_step->jointed[b] = 1;
}

// Not if it has no inertia about some axis, nor links of articulations, of which others know.
static bool may_turn(const cairn_world *world, uint32_t body) {
    const cairn_soft_step *soft_step = world->soft_step;
    const uint32_t locks = CAIRN_LOCK_ANGULAR_X | CAIRN_LOCK_ANGULAR_Y | CAIRN_LOCK_ANGULAR_Z;
    CAIRN_ASSERT(body < soft_step->moving_count);
    return (world->state.bodies[soft_step->slot_of[body]].flags & locks) == 0 &&
           soft_step->bodies[body].closing == 0.0f;
}

// Whether the inverse inertia changes much in a step: by how far its values are apart, as a part of
// them, times the angle. That of a needle cannot be inverted in floats.
static bool changes(const cairn_solver_body *body, float time) {
    const cairn_sym3 m = sym3_of(body->inverse_inertia);
    const float trace = m.xx + m.yy + m.zz;
    const float scale = trace > 1e-30f ? 1.0f / trace : 0.0f;
    const cairn_sym3 s = sym3_scale(m, scale);
    const float apart = s.xx * s.xx + s.yy * s.yy + s.zz * s.zz +
                        2.0f * (s.xy * s.xy + s.xz * s.xz + s.yz * s.yz) - 1.0f / 3.0f;
    const float *w = body->angular_velocity;
    const float angle_squared = (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) * time * time;
    return apart * angle_squared > CAIRN_TURNING_CHANGE_MIN * CAIRN_TURNING_CHANGE_MIN &&
           sym3_determinant(s) > CAIRN_TURNING_DETERMINANT_MIN;
}

void cairn_turning_inertia_prepare(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    const cairn_constraint_graph *graph = &soft_step->joint_graph;
    if (graph->edge_count + soft_step->driven_count == 0) {
        return;
    }
    memset(soft_step->jointed, 0, soft_step->body_count * sizeof *soft_step->jointed);
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        mark(soft_step, graph->edges[i].solver_a, graph->edges[i].solver_b);
    }
    for (uint32_t i = 0; i < soft_step->driven_count; ++i) {
        mark(soft_step, soft_step->driven[i].index_a, soft_step->driven[i].index_b);
    }
    const float time = soft_step->wide_context.h * (float)world->def.substeps;
    for (uint32_t i = 0; i < soft_step->moving_count; ++i) {
        if (soft_step->jointed[i] != 0) {
            soft_step->jointed[i] = changes(&soft_step->bodies[i], time) && may_turn(world, i);
        }
    }
    for (uint32_t i = 0; i < soft_step->gyroscopic_count; ++i) {
        soft_step->gyroscopic[i].turns = soft_step->jointed[soft_step->gyroscopic_bodies[i]] != 0;
    }
}

static void store_sym3(float *row, cairn_sym3 m) {
    const float six[6] = {m.xx, m.yy, m.zz, m.xy, m.xz, m.yz};
    memcpy(row, six, sizeof six);
}

uint32_t cairn_turning_inertia_list(cairn_soft_step *soft_step, uint32_t begin, uint32_t end) {
    uint32_t count = begin;
    CAIRN_ASSERT(begin <= end && end <= soft_step->moving_count);
    if (soft_step->joint_graph.edge_count + soft_step->driven_count == 0) {
        return begin;
    }
    for (uint32_t i = begin; i < end; ++i) {
        if (soft_step->jointed[i] != 0) {
            cairn_turning_body *turning = &soft_step->turning[count++];
            const cairn_sym3 inverse = sym3_of(soft_step->bodies[i].inverse_inertia);
            const cairn_sym3 inertia = sym3_inverse_scaled(inverse);
            turning->body = i;
            store_sym3(turning->inverse_inertia0, inverse);
            store_sym3(turning->inertia0, inertia);
            store_sym3(turning->inertia, inertia);
        }
    }
    if (count > begin) {
        atomic_store_explicit(&soft_step->turning_found, 1, memory_order_relaxed);
    }
    return count;
}
