// SPDX-License-Identifier: MIT
#include "sim/articulation/hang.h"

#include "base/assert.h"
#include <cairn/articulation.h>

static const cairn_joint *articulated_at(const cairn_world *world, uint32_t drive) {
    const cairn_joint_drive *found = &world->state.joint_drives[drive];
    CAIRN_ASSERT(drive < world->state.settings->joint_drive_count);
    return (found->flags & CAIRN_DRIVE_ARTICULATED) != 0 ? &world->state.joints[found->joint]
                                                         : NULL;
}

// What the body hangs on; CAIRN_ID_NULL: nothing.
static cairn_body_id above(const cairn_world *world, cairn_body_id body) {
    for (uint32_t i = 0; i < world->state.settings->joint_drive_count; ++i) {
        const cairn_joint *joint = articulated_at(world, i);
        if (joint != NULL && joint->body_b == body) {
            return joint->body_a;
        }
    }
    return CAIRN_ID_NULL;
}

bool cairn_body_is_link(const cairn_world *world, cairn_body_id body) {
    for (uint32_t i = 0; i < world->state.settings->joint_drive_count; ++i) {
        const cairn_joint *joint = articulated_at(world, i);
        if (joint != NULL && (joint->body_a == body || joint->body_b == body)) {
            return true;
        }
    }
    return false;
}

// Joints on the way from `body` up to `end`; CAIRN_INDEX_NONE if it is not above, or too far.
static uint32_t joints_between(const cairn_world *world, cairn_body_id body, cairn_body_id end) {
    uint32_t count = 0;
    while (body != end && body != CAIRN_ID_NULL && count <= CAIRN_ARTICULATION_LINKS_MAX) {
        body = above(world, body);
        count += 1;
    }
    return body == end ? count : CAIRN_INDEX_NONE;
}

// The longest way down from a body.
static uint32_t height_of(const cairn_world *world, cairn_body_id body) {
    uint32_t height = 0;
    for (uint32_t i = 0;
         cairn_body_is_link(world, body) && i < world->state.settings->joint_drive_count; ++i) {
        const cairn_joint *joint = articulated_at(world, i);
        const uint32_t way =
            joint != NULL ? joints_between(world, joint->body_b, body) : CAIRN_INDEX_NONE;
        height = way != CAIRN_INDEX_NONE && way > height ? way : height;
    }
    return height;
}

cairn_status cairn_articulated_joint_check(const cairn_world *world, const cairn_joint_def *def) {
    const cairn_body *child = &world->state.bodies[cairn_id_index(def->body_b)];
    if (world->def.solver != CAIRN_SOLVER_SOFT_STEP || body_kind(child) != CAIRN_BODY_DYNAMIC ||
        !(child->inverse_mass > 0.0f) || (child->flags & CAIRN_LOCKS_ALL) != 0) {
        return CAIRN_WRONG_STATE;
    }
    const uint32_t depth = joints_between(world, def->body_a, CAIRN_ID_NULL);
    if (above(world, def->body_b) != CAIRN_ID_NULL || depth == CAIRN_INDEX_NONE ||
        joints_between(world, def->body_a, def->body_b) != CAIRN_INDEX_NONE) {
        return CAIRN_INVALID_ARGUMENT;
    }
    // `depth` counts the link on the way to nothing, too.
    const uint32_t links = depth + 1 + height_of(world, def->body_b);
    return links <= CAIRN_ARTICULATION_LINKS_MAX ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
}
