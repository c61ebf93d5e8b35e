// SPDX-License-Identifier: MIT
// Which bodies a wrong command may have touched.
//
// Two bodies that touch in a step have boxes at their reference poses that are less than the
// recycling distance of manifolds and the contact margin apart, in both pasts. So the boxes of the
// scope are compared with those of all others, in the old states, which the others keep, and in the
// new ones.

#include <string.h>

#include "base/assert.h"
#include "sim/collide/body_extent.h"
#include "sim/collide/cached_pairs.h"
#include "sim/math/limits.h"
#include "sim/rollback/parts.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"

// m. Contacts end at gaps above CAIRN_CONTACT_MARGIN once their bodies have moved by more than
// CAIRN_MANIFOLD_RECYCLING_DISTANCE.
#define REACH 0.05f
// Of a coordinate: more than rounding takes.
#define ROUNDING 1e-5f
// Boxes that are compared at once.
#define BATCH 64u

typedef struct scope_box {
    cairn_vec3 centre;
    cairn_vec3 half;
} scope_box;

// ---- Survey

static bool is_still(const cairn_world *world, const cairn_tick_state *from, uint32_t slot) {
    cairn_sleep sleep;
    cairn_motion motion;
    cairn_reference_pose reference;
    cairn_tick_state_read(from, CAIRN_ARRAY_SLEEP, slot, 1, &sleep);
    cairn_tick_state_read(from, CAIRN_ARRAY_MOTIONS, slot, 1, &motion);
    cairn_tick_state_read(from, CAIRN_ARRAY_REFERENCE_POSES, slot, 1, &reference);
    const bool seen = world->shape_first[slot] == 0 || !packed_rotation_is_none(reference.rotation);
    return sleep.state == CAIRN_SLEEP_NONE && seen && vec3_is_zero(motion.linear_velocity) &&
           vec3_is_zero(motion.angular_velocity);
}

// Whether the body has a place in a rollback of a part.
static bool list_body(cairn_rollback *r, uint32_t slot) {
    const cairn_world *world = r->world;
    const cairn_body *body = &world->state.bodies[slot];
    const uint32_t targets = CAIRN_BODY_TARGET_SET | CAIRN_BODY_TARGET_REACHED;
    if (body->kind != CAIRN_BODY_DYNAMIC) {
        r->still[r->still_count++] = slot;
        return body_enabled(body) && (body->flags & targets) == 0 &&
               is_still(world, &r->sources[r->first], slot) &&
               is_still(world, &r->sources[r->count], slot);
    }
    const cairn_vec3 at = world->state.motions[slot].position;
    const float rounding = ROUNDING * (float_abs(at.x) + float_abs(at.y) + float_abs(at.z));
    // A body without shapes meets none.
    r->reaches[r->dynamic_count] =
        world->shape_first[slot] == 0
            ? -CAIRN_HUGE_EXTENT
            : 1.001f * world->pair_cache->bounding_radii[slot] + REACH + 2.0f * rounding;
    r->dynamic[r->dynamic_count++] = slot;
    r->gates[slot] = (body->flags & CAIRN_LOCKS_ALL) != 0 ? CAIRN_GATE_LOCKED : 0;
    r->gates_used |= r->gates[slot];
    r->awake_count += world->state.sleep[slot].state != CAIRN_SLEEP_ASLEEP ? 1u : 0u;
    return body->inverse_mass > 0.0f && body->bullet == 0;
}

static void list_joints(cairn_rollback *r) {
    const cairn_state *state = &r->world->state;
    r->joint_count = 0;
    for (uint32_t i = 0; i < state->settings->joint_slots; ++i) {
        if (!cairn_state_has(state, CAIRN_ARRAY_JOINTS, i)) {
            continue;
        }
        const uint32_t a = cairn_id_index(state->joints[i].body_a);
        const uint32_t b = cairn_id_index(state->joints[i].body_b);
        r->joints[r->joint_count++] = (cairn_scope_joint){.joint = i, .body_a = a, .body_b = b};
        r->gates[a] |= CAIRN_GATE_JOINTED;
        r->gates[b] |= CAIRN_GATE_JOINTED;
        r->gates_used |= CAIRN_GATE_JOINTED;
    }
}

cairn_rollback_outcome cairn_scope_survey(cairn_rollback *r) {
    const cairn_world *world = r->world;
    const cairn_settings *settings = world->state.settings;
    r->dynamic_count = 0;
    r->still_count = 0;
    r->still_shape_count = 0;
    r->awake_count = 0;
    r->gates_used = 0;
    if (world->mesh_shapes != 0 || settings->mesh_slots != 0 || settings->joint_drive_count != 0) {
        return CAIRN_ROLLBACK_WHOLE_BODIES;
    }
    bool fit = true;
    for (uint32_t i = 0; i < settings->body_slots && fit; ++i) {
        r->gates[i] = 0;
        fit = !cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, i) || list_body(r, i);
    }
    if (!fit) {
        return CAIRN_ROLLBACK_WHOLE_BODIES;
    }
    for (uint32_t i = 0; i < settings->shape_slots; ++i) {
        if (cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, i) &&
            world->state.bodies[world->state.shapes[i].body].kind != CAIRN_BODY_DYNAMIC) {
            r->still_shapes[r->still_shape_count++] = i;
        }
    }
    list_joints(r);
    return CAIRN_ROLLBACK_SCOPED;
}

// ---- Boxes

// The box of a body at a pose; of one that counts as a bullet, all that it may reach in a tick.
static scope_box box_at(
    const cairn_rollback *r, uint32_t slot, cairn_vec3 centre, cairn_quat rotation) {
    const cairn_world *world = r->world;
    const float rounding =
        ROUNDING * (float_abs(centre.x) + float_abs(centre.y) + float_abs(centre.z));
    if (r->travel[slot] > 0.0f) {
        const float far =
            world->pair_cache->bounding_radii[slot] + r->travel[slot] + REACH + rounding;
        return (scope_box){.centre = centre, .half = vec3(far, far, far)};
    }
    const bool shaped = world->shape_first[slot] != 0;
    const cairn_vec3 half = shaped ? world->pair_cache->half_extents[slot] : vec3_zero();
    const cairn_vec3 turned = mat3_apply(mat3_abs(mat3_of_quat(rotation)), half);
    const float slack = 0.5f * REACH + rounding;
    return (scope_box){.centre = centre, .half = vec3_add(turned, vec3(slack, slack, slack))};
}

// A reference pose that is not set yet will be set to the pose.
static scope_box box_of(const cairn_rollback *r, const cairn_tick_state *from, uint32_t slot) {
    cairn_reference_pose reference;
    cairn_motion motion;
    cairn_tick_state_read(from, CAIRN_ARRAY_REFERENCE_POSES, slot, 1, &reference);
    if (!packed_rotation_is_none(reference.rotation)) {
        return box_at(r, slot, reference.position, packed_rotation_unpack(reference.rotation));
    }
    cairn_tick_state_read(from, CAIRN_ARRAY_MOTIONS, slot, 1, &motion);
    return box_at(r, slot, motion.position, motion.rotation);
}

static bool boxes_meet(const scope_box *a, const scope_box *b) {
    const cairn_vec3 gap = vec3_abs(vec3_sub(a->centre, b->centre));
    const cairn_vec3 reach = vec3_add(a->half, b->half);
    return gap.x <= reach.x && gap.y <= reach.y && gap.z <= reach.z;
}

void cairn_scope_read_positions(cairn_rollback *r, uint32_t side, const cairn_tick_state *from) {
    const uint32_t shift = cairn_hash_cache_block_shift(CAIRN_ARRAY_REFERENCE_POSES);
    const uint32_t within = (1u << shift) - 1;
    const cairn_reference_pose *references = NULL;
    uint32_t known = UINT32_MAX;
    for (uint32_t i = 0; i < r->dynamic_count; ++i) {
        const uint32_t slot = r->dynamic[i];
        if (slot >> shift != known) {
            known = slot >> shift;
            references = cairn_tick_state_block(from, CAIRN_ARRAY_REFERENCE_POSES, known);
        }
        const cairn_reference_pose *reference = &references[slot & within];
        cairn_vec3 at = reference->position;
        if (packed_rotation_is_none(reference->rotation)) {
            cairn_motion motion;
            cairn_tick_state_read(from, CAIRN_ARRAY_MOTIONS, slot, 1, &motion);
            at = motion.position;
        }
        r->positions[side][0][i] = at.x;
        r->positions[side][1][i] = at.y;
        r->positions[side][2][i] = at.z;
    }
}

void cairn_scope_swap_positions(cairn_rollback *r) {
    for (uint32_t axis = 0; axis < 3; ++axis) {
        float *before = r->positions[0][axis];
        r->positions[0][axis] = r->positions[1][axis];
        r->positions[1][axis] = before;
    }
}

static scope_box around(const scope_box *boxes, uint32_t count) {
    cairn_vec3 lower = vec3_sub(boxes[0].centre, boxes[0].half);
    cairn_vec3 upper = vec3_add(boxes[0].centre, boxes[0].half);
    for (uint32_t i = 1; i < count; ++i) {
        lower = vec3_min(lower, vec3_sub(boxes[i].centre, boxes[i].half));
        upper = vec3_max(upper, vec3_add(boxes[i].centre, boxes[i].half));
    }
    // More than rounding takes.
    const cairn_vec3 half = vec3_scale(vec3_sub(upper, lower), 0.5f);
    const cairn_vec3 centre = vec3_scale(vec3_add(lower, upper), 0.5f);
    const cairn_vec3 far = vec3_add(vec3_abs(centre), half);
    const float slack = REACH + ROUNDING * (far.x + far.y + far.z);
    return (scope_box){.centre = centre, .half = vec3_add(half, vec3(slack, slack, slack))};
}

// Whether the body's box meets one of these. Its ball is compared first.
static bool meets_any(const cairn_rollback *r, uint32_t side, uint32_t index, uint32_t dynamic,
    const scope_box *boxes, uint32_t count) {
    const uint32_t slot = r->dynamic[dynamic];
    const float reach = r->reaches[dynamic];
    const cairn_vec3 centre = vec3(r->positions[side][0][dynamic], r->positions[side][1][dynamic],
        r->positions[side][2][dynamic]);
    scope_box box = {.centre = centre};
    bool known = false;
    for (uint32_t i = 0; i < count; ++i) {
        if (float_abs(centre.y - boxes[i].centre.y) > boxes[i].half.y + reach ||
            float_abs(centre.x - boxes[i].centre.x) > boxes[i].half.x + reach ||
            float_abs(centre.z - boxes[i].centre.z) > boxes[i].half.z + reach) {
            continue;
        }
        box = known ? box : box_of(r, &r->sources[index + side], slot);
        known = true;
        if (boxes_meet(&box, &boxes[i])) {
            return true;
        }
    }
    return false;
}

// Four bodies at once.
typedef float four __attribute__((vector_size(16)));
typedef int32_t four_mask __attribute__((vector_size(16)));

static inline four load_four(const float *from) {
    four out;
    memcpy(&out, from, sizeof out);
    return out;
}

// All bits of those that are farther away.
static inline four_mask beyond(four at, float centre, four reach) {
    const four away = at - centre;
    return (away > reach) | (-away > reach);
}

// Those of the four bodies from `first` on that are far from the box.
static inline four_mask far_from(
    const cairn_rollback *r, uint32_t side, uint32_t first, const scope_box *box) {
    float *const *at = r->positions[side];
    const four reach = load_four(&r->reaches[first]);
    return beyond(load_four(&at[0][first]), box->centre.x, reach + box->half.x) |
           beyond(load_four(&at[1][first]), box->centre.y, reach + box->half.y) |
           beyond(load_four(&at[2][first]), box->centre.z, reach + box->half.z);
}

// Adds the bodies whose boxes on that side of the step meet one of these.
static void add_meeting(
    cairn_rollback *r, uint32_t side, uint32_t index, const scope_box *boxes, uint32_t count) {
    const scope_box all = around(boxes, count);
    for (uint32_t first = 0; first < r->dynamic_count; first += 4) {
        const four_mask far = far_from(r, side, first, &all);
        uint64_t halves[2];
        memcpy(halves, &far, sizeof halves);
        if ((halves[0] & halves[1]) == UINT64_MAX) {
            continue;
        }
        for (uint32_t i = first; i < first + 4 && i < r->dynamic_count; ++i) {
            if (far[i - first] == 0 && !cairn_scope_has(r, r->dynamic[i]) &&
                meets_any(r, side, index, i, boxes, count)) {
                cairn_scope_add(r, r->dynamic[i], index);
            }
        }
    }
}

// ---- The scope

void cairn_scope_add(cairn_rollback *r, uint32_t slot, uint32_t index) {
    CAIRN_ASSERT(r->world->state.bodies[slot].kind == CAIRN_BODY_DYNAMIC);
    if (!cairn_scope_has(r, slot)) {
        r->added[slot] = index + 2; // the result of the step from `index` has it
        r->scope[r->scope_count++] = slot;
        r->part_valid = false;
    }
}

static void add_joined(cairn_rollback *r, uint32_t index) {
    const cairn_body *bodies = r->world->state.bodies;
    for (uint32_t i = 0; i < r->joint_count; ++i) {
        const uint32_t a = r->joints[i].body_a;
        const uint32_t b = r->joints[i].body_b;
        const bool has_a = cairn_scope_has(r, a);
        if (has_a != cairn_scope_has(r, b) && bodies[a].kind == CAIRN_BODY_DYNAMIC &&
            bodies[b].kind == CAIRN_BODY_DYNAMIC) {
            cairn_scope_add(r, has_a ? b : a, index);
        }
    }
}

// Bodies from `from` on that came into the scope in the same step, or all in earlier ones.
static uint32_t batch_of(const cairn_rollback *r, uint32_t from, bool earlier, uint32_t index) {
    uint32_t count = 0;
    while (count < BATCH && from + count < r->scope_count &&
           cairn_scope_had(r, r->scope[from + count], index) == earlier) {
        count += 1;
    }
    return count;
}

void cairn_scope_close(cairn_rollback *r, uint32_t from, uint32_t index) {
    while (from < r->scope_count) {
        // For those of earlier steps, the state before this one was the one after the last.
        const bool earlier = cairn_scope_had(r, r->scope[from], index);
        const uint32_t count = batch_of(r, from, earlier, index);
        for (uint32_t side = earlier ? 1 : 0; side < 2; ++side) {
            scope_box boxes[BATCH];
            for (uint32_t i = 0; i < count; ++i) {
                boxes[i] = box_of(r, &r->sources[index + side], r->scope[from + i]);
            }
            add_meeting(r, side, index, boxes, count);
        }
        from += count;
        add_joined(r, index);
    }
}

static bool awake_in(const cairn_tick_state *from, uint32_t slot) {
    cairn_sleep sleep;
    cairn_tick_state_read(from, CAIRN_ARRAY_SLEEP, slot, 1, &sleep);
    return sleep.state != CAIRN_SLEEP_ASLEEP;
}

// If an awake body outside the scope opens the gate, and none inside does: adds that one.
static void add_gate(cairn_rollback *r, unsigned char gate, uint32_t index) {
    for (uint32_t i = 0; i < r->scope_count; ++i) {
        const uint32_t slot = r->scope[i];
        if ((r->gates[slot] & gate) != 0 &&
            r->part->state.sleep[slot].state != CAIRN_SLEEP_ASLEEP) {
            return; // it was awake in the step, since nothing wakes at its end
        }
    }
    for (uint32_t i = 0; i < r->dynamic_count; ++i) {
        const uint32_t slot = r->dynamic[i];
        if ((r->gates[slot] & gate) != 0 && !cairn_scope_has(r, slot) &&
            (awake_in(&r->sources[index], slot) || awake_in(&r->sources[index + 1], slot))) {
            cairn_scope_add(r, slot, index);
            return;
        }
    }
}

bool cairn_scope_grow(cairn_rollback *r, uint32_t index) {
    const uint32_t before = r->scope_count;
    const cairn_tick_state part = {.world = r->part};
    for (uint32_t from = 0; from < before; from += BATCH) {
        scope_box boxes[BATCH];
        const uint32_t count = before - from < BATCH ? before - from : BATCH;
        for (uint32_t i = 0; i < count; ++i) {
            boxes[i] = box_of(r, &part, r->scope[from + i]);
        }
        add_meeting(r, 1, index, boxes, count);
    }
    if ((r->gates_used & CAIRN_GATE_JOINTED) != 0) {
        add_gate(r, CAIRN_GATE_JOINTED, index);
    }
    if ((r->gates_used & CAIRN_GATE_LOCKED) != 0) {
        add_gate(r, CAIRN_GATE_LOCKED, index);
    }
    cairn_scope_close(r, before, index);
    return r->scope_count > before;
}
