// SPDX-License-Identifier: MIT
#include "sim/articulation/hang.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include <cairn/articulation.h>

cairn_status cairn_hangs_create(
    cairn_hangs *hangs, const cairn_world_def *def, cairn_allocator *take) {
    hangs->stale = true;
    hangs->joint = take(3 * (size_t)def->body_capacity, sizeof *hangs->joint);
    if (hangs->joint == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    hangs->first = hangs->joint + def->body_capacity;
    hangs->next = hangs->first + def->body_capacity;
    return CAIRN_OK;
}

void cairn_hangs_destroy(cairn_hangs *hangs) {
    free(hangs->joint);
}

// ---- The index

static const cairn_joint *articulated_at(const cairn_world *world, uint32_t drive) {
    const cairn_joint_drive *found = &world->state.joint_drives[drive];
    CAIRN_ASSERT(drive < world->state.settings->joint_drive_count);
    return (found->flags & CAIRN_DRIVE_ARTICULATED) != 0 ? &world->state.joints[found->joint]
                                                         : NULL;
}

static void add(cairn_world *world, uint32_t slot) {
    cairn_hangs *hangs = world->hangs;
    const uint32_t a = cairn_id_index(world->state.joints[slot].body_a);
    const uint32_t b = cairn_id_index(world->state.joints[slot].body_b);
    if (hangs->joint[b] != 0) {
        hangs->others += 1;
        return;
    }
    hangs->joint[b] = slot + 1;
    hangs->next[b] = hangs->first[a];
    hangs->first[a] = b + 1;
}

static cairn_hangs *index_of(const cairn_world *world) {
    cairn_hangs *hangs = world->hangs;
    const size_t slots = world->state.settings->body_slots;
    if (!hangs->stale) {
        return hangs;
    }
    memset(hangs->joint, 0, slots * sizeof *hangs->joint);
    memset(hangs->first, 0, slots * sizeof *hangs->first);
    hangs->others = 0;
    for (uint32_t i = 0; i < world->state.settings->joint_drive_count; ++i) {
        if (articulated_at(world, i) != NULL) {
            add((cairn_world *)world, world->state.joint_drives[i].joint);
        }
    }
    hangs->stale = false;
    return hangs;
}

void cairn_hangs_add_body(cairn_world *world, uint32_t body) {
    world->hangs->joint[body] = 0;
    world->hangs->first[body] = 0;
}

void cairn_hangs_add(cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(world->state.joints[slot].extent != CAIRN_JOINT_PLAIN);
    if (!world->hangs->stale) {
        add(world, slot);
    }
}

void cairn_hangs_remove(cairn_world *world, uint32_t slot) {
    cairn_hangs *hangs = world->hangs;
    const uint32_t a = cairn_id_index(world->state.joints[slot].body_a);
    const uint32_t b = cairn_id_index(world->state.joints[slot].body_b);
    if (hangs->stale || hangs->others != 0) {
        hangs->stale = true;
        return;
    }
    CAIRN_ASSERT(hangs->joint[b] == slot + 1);
    uint32_t *at = &hangs->first[a];
    while (*at != b + 1) {
        at = &hangs->next[*at - 1];
    }
    *at = hangs->next[b];
    hangs->joint[b] = 0;
}

// ---- Walks

// What the body in that slot hangs on; CAIRN_INDEX_NONE: nothing.
static uint32_t above(const cairn_world *world, uint32_t body) {
    const uint32_t joint = index_of(world)->joint[body];
    world->hangs->visited += 1;
    return joint == 0 ? CAIRN_INDEX_NONE : cairn_id_index(world->state.joints[joint - 1].body_a);
}

bool cairn_body_is_link(const cairn_world *world, cairn_body_id body) {
    const cairn_hangs *hangs = index_of(world);
    const uint32_t slot = cairn_id_index(body);
    return hangs->joint[slot] != 0 || hangs->first[slot] != 0;
}

// Joints on the way up from `body` to what hangs on nothing. *passed: whether `other` is on it.
// Ends in a ring, after more than may be.
static uint32_t depth_of(const cairn_world *world, uint32_t body, uint32_t other, bool *passed) {
    uint32_t depth = 0;
    *passed = body == other;
    for (body = above(world, body);
         body != CAIRN_INDEX_NONE && depth <= CAIRN_ARTICULATION_LINKS_MAX;
         body = above(world, body)) {
        *passed = *passed || body == other;
        depth += 1;
    }
    return depth;
}

// Joints on the longest way down from a body that hangs on nothing. No further than may be.
static uint32_t height_of(const cairn_world *world, uint32_t top) {
    const cairn_hangs *hangs = index_of(world);
    uint32_t height = 0;
    uint32_t depth = 0;
    uint32_t body = top;
    while (height <= CAIRN_ARTICULATION_LINKS_MAX) {
        world->hangs->visited += 1;
        uint32_t next = hangs->first[body];
        depth += next != 0 ? 1 : 0;
        height = depth > height ? depth : height;
        while (next == 0 && body != top) {
            next = hangs->next[body];
            if (next == 0) {
                body = above(world, body);
                depth -= 1;
            }
        }
        if (next == 0) {
            return height;
        }
        body = next - 1;
    }
    return height;
}

cairn_status cairn_articulated_joint_check(const cairn_world *world, const cairn_joint_def *def) {
    const uint32_t parent = cairn_id_index(def->body_a);
    const uint32_t child = cairn_id_index(def->body_b);
    const cairn_body *body = &world->state.bodies[child];
    if (world->def.solver != CAIRN_SOLVER_SOFT_STEP || body_kind(body) != CAIRN_BODY_DYNAMIC ||
        !(body->inverse_mass > 0.0f) || (body->flags & CAIRN_LOCKS_ALL) != 0) {
        return CAIRN_WRONG_STATE;
    }
    bool ring;
    const uint32_t depth = depth_of(world, parent, child, &ring);
    if (ring || depth > CAIRN_ARTICULATION_LINKS_MAX || above(world, child) != CAIRN_INDEX_NONE) {
        return CAIRN_INVALID_ARGUMENT;
    }
    // Links from the first one down: `depth + 1` down to body a, then body b and what it carries.
    const uint32_t links = depth + 2 + height_of(world, child);
    return links <= CAIRN_ARTICULATION_LINKS_MAX ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
}

// ---- Validation

bool cairn_hangs_ok(const cairn_world *world) {
    const cairn_hangs *hangs = world->hangs;
    const cairn_state *state = &world->state;
    uint32_t joints = 0;
    uint32_t hanging = 0;
    if (hangs->stale) {
        return true;
    }
    for (uint32_t i = 0; i < state->settings->joint_drive_count; ++i) {
        const cairn_joint *joint = articulated_at(world, i);
        if (joint == NULL) {
            continue;
        }
        const uint32_t by = hangs->joint[cairn_id_index(joint->body_b)];
        if (by == 0 || by > state->joint_drives[i].joint + 1 ||
            state->joints[by - 1].body_b != joint->body_b) {
            return false;
        }
        joints += 1;
    }
    for (uint32_t body = 0; body < state->settings->body_slots; ++body) {
        hanging += hangs->joint[body] != 0 ? 1 : 0;
    }
    uint32_t listed = 0;
    for (uint32_t body = 0; body < state->settings->body_slots; ++body) {
        for (uint32_t i = hangs->first[body]; i != 0; i = hangs->next[i - 1]) {
            const uint32_t by = i <= state->settings->body_slots ? hangs->joint[i - 1] : 0;
            listed += 1;
            if (by == 0 || listed > hanging ||
                cairn_id_index(state->joints[by - 1].body_a) != body) {
                return false;
            }
        }
    }
    return listed == hanging && joints == hanging + hangs->others;
}
