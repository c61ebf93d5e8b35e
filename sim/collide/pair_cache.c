// SPDX-License-Identifier: MIT
#include "sim/collide/pair_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "sim/collide/joint_filter.h"
#include "sim/limits.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"
#include "sim/world/body.h"
#include "sim/world/shape.h"

// Room to move in: a tenth of the shape's least width within these bounds, m, and the way of so
// many steps on top. More room costs more pairs that are near and not in touch.
#define ROOM_FRACTION 0.1f
#define ROOM_MIN 0.01f
#define ROOM_MAX 0.05f
#define ROOM_STEPS 4.0f
#define ROOM_WAY_MAX 2.0f

// Up to so many shapes that have left their boxes are looked at one by one among all; beyond that
// the whole list is made anew.
#define LOOKS_MAX 200u

// Pairs of the list that are near and not in touch, for each contact that fits the contact list.
#define PAIRS_PER_CONTACT 4

#define BOUNDLESS 1e9f

// Stands for the body of all shapes that no impulse moves, so that no two of them pair.
#define NOT_DYNAMIC UINT32_MAX

static void carve_all(cairn_near *near, cairn_carver *from, const cairn_world_def *def) {
    const uint32_t shapes = def->shape_capacity;
    near->pair_capacity = def->contact_capacity * PAIRS_PER_CONTACT;
    const size_t list = (size_t)near->pair_capacity + def->contact_capacity;
    for (int axis = 0; axis < 3; ++axis) {
        const size_t stride = cairn_broad_phase_stride(shapes);
        near->roomy.lower[axis] = cairn_carve(from, stride, sizeof(float));
        near->roomy.upper[axis] = cairn_carve(from, stride, sizeof(float));
    }
    near->roomy.tags = cairn_carve(from, shapes, sizeof *near->roomy.tags);
    near->places = cairn_carve(from, shapes, sizeof *near->places);
    near->shifted = cairn_carve(from, shapes, sizeof *near->shifted);
    near->moved = cairn_carve(from, shapes, sizeof *near->moved);
    near->shifted_slots = cairn_carve(from, shapes, sizeof *near->shifted_slots);
    near->moved_slots = cairn_carve(from, shapes, sizeof *near->moved_slots);
    near->thinness = cairn_carve(from, shapes, sizeof *near->thinness);
    near->turns = cairn_carve(from, def->body_capacity, sizeof *near->turns);
    near->reaches = cairn_carve(from, def->body_capacity, sizeof *near->reaches);
    near->pairs = cairn_carve(from, list, sizeof *near->pairs);
    near->found = cairn_carve(from, near->pair_capacity, sizeof *near->found);
    near->spare = cairn_carve(from, list, sizeof *near->spare);
    near->others = cairn_carve(from, shapes, sizeof *near->others);
    near->joints = cairn_carve(from, def->joint_capacity, sizeof *near->joints);
    near->joined = cairn_carve(from, def->joint_capacity, sizeof *near->joined);
    near->broad_phase =
        cairn_carve(from, 1, cairn_broad_phase_scratch_size(shapes, near->pair_capacity));
}

bool cairn_near_create(cairn_near *near, const cairn_world_def *def, cairn_allocator *take) {
    cairn_carver measure = {.memory = NULL};
    carve_all(near, &measure, def);
    near->memory = take(1, measure.at);
    near->size = measure.at;
    if (near->memory == NULL) {
        return false;
    }
    cairn_carver cut = {.memory = near->memory};
    carve_all(near, &cut, def);
    return true;
}

void cairn_near_destroy(cairn_near *near) {
    free(near->memory);
}

void cairn_near_poison(cairn_near *near, unsigned char byte) {
    memset(near->memory, byte, near->size);
    near->roomy.count = 0;
    near->shifted_count = 0;
    near->moved_count = 0;
    near->valid = false;
}

// ---- Anchors

static float half_least_width(cairn_aabb box) {
    const cairn_vec3 width = vec3_sub(box.upper, box.lower);
    return 0.5f * float_min(width.x, float_min(width.y, width.z));
}

// Also what it is made of: shapes of a body that is renewed may be new.
static float measure(cairn_world *world, uint32_t body) {
    const bool moves = world->state.bodies[body].kind == CAIRN_BODY_DYNAMIC;
    const cairn_vec3 centre = world->state.bodies[body].centre;
    const cairn_pose home = pose_identity();
    float reach = 0.0f;
    for (uint32_t next = world->shape_first[body]; next != 0; next = world->shape_next[next - 1]) {
        const cairn_solid solid = cairn_shape_solid(world, next - 1);
        const cairn_aabb box = cairn_solid_aabb(&solid, &home);
        world->pair_cache->thinness[next - 1] = moves ? half_least_width(box) : BOUNDLESS;
        const cairn_vec3 corner = vec3_max(vec3_abs(box.lower), vec3_abs(box.upper));
        const cairn_vec3 offset = vec3_sub(world->state.shapes[next - 1].pose.position, centre);
        reach = float_max(reach, vec3_length(offset) + vec3_length(corner));
    }
    return reach;
}

// How far any point of the body can be from where it was at the anchor: the way of the centre, and
// twice the sine of half the angle at the end of the longest arm. The classic solver's world is one
// in which every manifold is new in every step.
static bool anchor_holds(const cairn_world *world, uint32_t body) {
    const cairn_reference_pose *anchor = &world->state.reference_poses[body];
    const cairn_motion *motion = &world->state.motions[body];
    const float reach = world->pair_cache->reaches[body];
    const float drift = float_min(CAIRN_REFERENCE_DRIFT, CAIRN_REFERENCE_DRIFT_FRACTION * reach);
    const float limit = world->def.solver == CAIRN_SOLVER_CLASSIC ? 0.0f : drift;
    const cairn_quat turn =
        quat_multiply(motion->rotation, quat_conjugate(world->pair_cache->turns[body]));
    const float way = vec3_distance(motion->position, anchor->position);
    const float turned = 2.0f * vec3_length(quat_vector(turn));
    return !turn_is_none(anchor->turn) && way + turned * reach <= limit;
}

void cairn_body_reset_reference_pose(cairn_world *world, uint32_t slot) {
    world->state.reference_poses[slot] = (cairn_reference_pose){.position = vec3_zero()};
    cairn_hash_cache_mark(world, CAIRN_ARRAY_REFERENCE_POSES, slot);
}

// ---- Boxes

static cairn_aabb grown(cairn_aabb box, float by) {
    const cairn_vec3 reach = vec3(by, by, by);
    return (cairn_aabb){.lower = vec3_sub(box.lower, reach), .upper = vec3_add(box.upper, reach)};
}

cairn_quat cairn_near_shape_rotation(const cairn_world *world, uint32_t slot, cairn_quat turn) {
    return quat_normalize(quat_multiply(turn, world->state.shapes[slot].pose.rotation));
}

cairn_vec3 cairn_near_shape_offset(const cairn_world *world, uint32_t slot, cairn_quat turn) {
    const cairn_shape *shape = &world->state.shapes[slot];
    const cairn_vec3 centre = world->state.bodies[shape->body].centre;
    return quat_rotate(turn, vec3_sub(shape->pose.position, centre));
}

static void place_shape(cairn_world *world, uint32_t slot) {
    const cairn_shape *shape = &world->state.shapes[slot];
    const cairn_reference_pose *anchor = &world->state.reference_poses[shape->body];
    const cairn_solid solid = cairn_shape_solid(world, slot);
    cairn_place *place = &world->pair_cache->places[slot];
    const cairn_quat turn = world->pair_cache->turns[shape->body];
    place->body = shape->body;
    place->rotation = cairn_near_shape_rotation(world, slot, turn);
    place->offset = cairn_near_shape_offset(world, slot, turn);
    const cairn_pose pose = {
        .position = vec3_add(anchor->position, place->offset), .rotation = place->rotation};
    place->box = grown(cairn_solid_aabb(&solid, &pose), 0.5f * CAIRN_CONTACT_MARGIN);
}

static bool inside_room(const cairn_near *near, uint32_t slot) {
    const cairn_broad_boxes *roomy = &near->roomy;
    const cairn_aabb *box = &near->places[slot].box;
    return ((uint32_t)(roomy->lower[0][slot] <= box->lower.x) &
               (uint32_t)(roomy->lower[1][slot] <= box->lower.y) &
               (uint32_t)(roomy->lower[2][slot] <= box->lower.z) &
               (uint32_t)(box->upper.x <= roomy->upper[0][slot]) &
               (uint32_t)(box->upper.y <= roomy->upper[1][slot]) &
               (uint32_t)(box->upper.z <= roomy->upper[2][slot])) != 0;
}

static cairn_vec3 way_ahead(const cairn_world *world, uint32_t body) {
    const cairn_vec3 velocity = world->state.motions[body].linear_velocity;
    const cairn_vec3 way = vec3_scale(velocity, ROOM_STEPS * world_time_step(world));
    const cairn_vec3 most = vec3(ROOM_WAY_MAX, ROOM_WAY_MAX, ROOM_WAY_MAX);
    return vec3_max(vec3_min(way, most), vec3_negate(most));
}

static void make_room(cairn_world *world, uint32_t slot) {
    const cairn_shape *shape = &world->state.shapes[slot];
    const uint32_t kind = world->state.bodies[shape->body].kind;
    const cairn_aabb tight = world->pair_cache->places[slot].box;
    const float room =
        float_clamp(2.0f * ROOM_FRACTION * half_least_width(tight), ROOM_MIN, ROOM_MAX);
    const cairn_vec3 way = way_ahead(world, shape->body);
    cairn_aabb box = grown(tight, kind == CAIRN_BODY_STATIC ? 0.0f : room);
    box.lower = vec3_add(box.lower, vec3_min(way, vec3_zero()));
    box.upper = vec3_add(box.upper, vec3_max(way, vec3_zero()));
    cairn_broad_boxes_set(&world->pair_cache->roomy, slot, box);
    world->pair_cache->roomy.tags[slot] = (cairn_broad_tag){.category = shape->category,
        .mask = shape->mask,
        .body = kind == CAIRN_BODY_DYNAMIC ? shape->body : NOT_DYNAMIC,
        .active = 1};
}

static void begin(cairn_near *near, uint32_t slots) {
    if (!near->valid) {
        near->roomy.count = 0;
        near->shifted_count = 0;
        near->moved_count = 0;
    }
    // Slots that no shape has used before have no box.
    for (uint32_t i = near->roomy.count; i < slots; ++i) {
        cairn_broad_boxes_clear(&near->roomy, i);
        near->shifted[i] = 0;
        near->moved[i] = 0;
    }
    near->roomy.count = slots;
    for (uint32_t i = 0; i < near->shifted_count; ++i) {
        near->shifted[near->shifted_slots[i]] = 0;
    }
    for (uint32_t i = 0; i < near->moved_count; ++i) {
        near->moved[near->moved_slots[i]] = 0;
    }
    near->shifted_count = 0;
    near->moved_count = 0;
}

static void shift_shapes(cairn_world *world, uint32_t body, unsigned char how) {
    cairn_near *near = world->pair_cache;
    for (uint32_t next = world->shape_first[body]; next != 0; next = world->shape_next[next - 1]) {
        const uint32_t slot = next - 1;
        place_shape(world, slot);
        near->shifted[slot] = how;
        near->shifted_slots[near->shifted_count++] = slot;
        if (!inside_room(near, slot)) {
            near->moved[slot] = 1;
            near->moved_slots[near->moved_count++] = slot;
        }
    }
}

static void anchor_stirring(cairn_world *world) {
    cairn_near *near = world->pair_cache;
    cairn_awake_set *awake = world->awake_set;
    const cairn_state *state = &world->state;
    awake->body_count = 0;
    awake->sleepers = false;
    for (uint32_t body = 0; body < state->settings->body_slots; ++body) {
        // First what is near at hand: of ten thousand sleepers nothing else is read.
        if (state->sleep[body].state == CAIRN_SLEEP_ASLEEP) {
            awake->sleepers = true;
            continue;
        }
        if (!cairn_body_in_awake_set(world, body)) {
            continue;
        }
        awake->bodies[awake->body_count++] = body;
        cairn_reference_pose *anchor = &state->reference_poses[body];
        if (world->shape_first[body] == 0 || anchor_holds(world, body)) {
            continue;
        }
        const bool renewed = turn_is_none(anchor->turn);
        if (renewed) {
            near->reaches[body] = measure(world, body);
        }
        *anchor = (cairn_reference_pose){.position = state->motions[body].position,
            .turn = turn_pack(state->motions[body].rotation)};
        near->turns[body] = turn_unpack(anchor->turn);
        cairn_hash_cache_mark(world, CAIRN_ARRAY_REFERENCE_POSES, body);
        shift_shapes(world, body, renewed ? CAIRN_NEAR_RENEWED : 1);
    }
}

// ---- The list

static uint64_t pair_key(cairn_pair pair) {
    return (uint64_t)pair.shape_a << 32 | pair.shape_b;
}

// Whether the two may be in touch; what the broad phase knows, and joints.
static bool may_meet(const cairn_world *world, cairn_pair pair) {
    const cairn_broad_tag *tags = world->pair_cache->roomy.tags;
    const cairn_broad_tag *a = &tags[pair.shape_a];
    const cairn_broad_tag *b = &tags[pair.shape_b];
    return a->body != b->body && (a->category & b->mask) != 0 && (b->category & a->mask) != 0 &&
           !cairn_joined(world->pair_cache, world->pair_cache->places[pair.shape_a].body,
               world->pair_cache->places[pair.shape_b].body);
}

static bool shape_lives(const cairn_world *world, cairn_shape_id id) {
    const cairn_state *state = &world->state;
    return cairn_slot_find(state->shape_ids, state->settings->shape_slots, id) != CAIRN_INDEX_NONE;
}

// `found`: the pair was, too; its shapes may be others by now.
static uint32_t contact_flags(const cairn_world *world, const cairn_contact *contact, bool found) {
    const cairn_pair pair = {
        .shape_a = cairn_id_index(contact->shape_a), .shape_b = cairn_id_index(contact->shape_b)};
    const bool lives = shape_lives(world, contact->shape_a) && shape_lives(world, contact->shape_b);
    const bool may = (lives || found) && may_meet(world, pair);
    if (lives && may) {
        return CAIRN_NEAR_TOUCH;
    }
    return CAIRN_NEAR_TOUCH | CAIRN_NEAR_OVER | (found && may ? 0 : CAIRN_NEAR_GONE);
}

// What was found and what is in touch, merged.
static void list_with_contacts(cairn_world *world, uint32_t found_count) {
    cairn_near *near = world->pair_cache;
    const cairn_contact *contact = world->state.contacts;
    const cairn_contact *end = contact + world->state.settings->contact_count;
    uint32_t at = 0;
    uint32_t count = 0;
    while (at < found_count || contact < end) {
        const uint64_t key = at < found_count ? pair_key(near->found[at]) : UINT64_MAX;
        const cairn_pair touch = contact < end
                                     ? (cairn_pair){.shape_a = cairn_id_index(contact->shape_a),
                                           .shape_b = cairn_id_index(contact->shape_b)}
                                     : (cairn_pair){.shape_a = UINT32_MAX, .shape_b = UINT32_MAX};
        const bool touches = pair_key(touch) <= key;
        const cairn_pair pair = touches ? touch : near->found[at];
        if (touches || may_meet(world, pair)) {
            const bool found = pair_key(pair) == key;
            const uint32_t flags = touches ? contact_flags(world, contact, found) : 0;
            near->pairs[count++] = (cairn_near_pair){.pair = pair, .flags = flags};
        }
        at += pair_key(pair) == key ? 1u : 0u;
        contact += touches ? 1 : 0;
    }
    near->pair_count = count;
}

static bool has_shape(const cairn_world *world, uint32_t slot) {
    return cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, slot);
}

// What was not placed, when the last list is gone.
static void place_others(cairn_world *world) {
    cairn_near *near = world->pair_cache;
    for (uint32_t i = 0; i < near->roomy.count; ++i) {
        if (has_shape(world, i) && near->shifted[i] == 0) {
            place_shape(world, i);
        }
    }
}

// Boxes without room, when with it there are more pairs than the list can hold: then only what was
// anchored anew has pairs.
static uint32_t find_without_room(cairn_world *world) {
    cairn_near *near = world->pair_cache;
    for (uint32_t i = 0; i < near->roomy.count; ++i) {
        if (has_shape(world, i)) {
            cairn_broad_boxes_set(&near->roomy, i, near->places[i].box);
            near->roomy.tags[i].active = near->shifted[i] != 0 ? 1u : 0u;
        }
    }
    return cairn_broad_phase_pairs(
        &near->roomy, near->broad_phase, near->found, near->pair_capacity);
}

// Everything anew, with new room for what was anchored, so that it need not be done again at once.
static uint32_t list_all(cairn_world *world) {
    cairn_near *near = world->pair_cache;
    for (uint32_t i = 0; i < near->roomy.count; ++i) {
        if (has_shape(world, i) && (!near->valid || near->shifted[i] != 0)) {
            make_room(world, i);
        }
    }
    const uint32_t capacity = near->pair_capacity;
    uint32_t found =
        cairn_broad_phase_pairs(&near->roomy, near->broad_phase, near->found, capacity);
    near->valid = found <= capacity;
    found = near->valid ? found : find_without_room(world);
    list_with_contacts(world, found <= capacity ? found : capacity);
    return found <= capacity ? 0 : found - capacity;
}

// The pairs that have a moved shape, in order; false when there is no room for them.
static bool look_around(cairn_near *near, uint32_t *count) {
    *count = 0;
    for (uint32_t i = 0; i < near->moved_count; ++i) {
        const uint32_t slot = near->moved_slots[i];
        const uint32_t more =
            cairn_broad_phase_look(&near->roomy, slot, 0, near->others, near->roomy.count);
        for (uint32_t k = 0; k < more; ++k) {
            const uint32_t other = near->others[k];
            if (near->moved[other] != 0 && other < slot) {
                continue;
            }
            if (*count == near->pair_capacity) {
                return false;
            }
            near->found[*count] = (cairn_pair){
                .shape_a = slot < other ? slot : other, .shape_b = slot < other ? other : slot};
            *count += 1;
        }
    }
    cairn_broad_phase_sort(&near->roomy, near->broad_phase, near->found, *count);
    return true;
}

// The list without those pairs of moved shapes that are not in touch, merged with what was found.
static void list_with_found(cairn_world *world, uint32_t found_count) {
    cairn_near *near = world->pair_cache;
    uint32_t at = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < near->pair_count; ++i) {
        cairn_near_pair old = near->pairs[i];
        const uint64_t key = pair_key(old.pair);
        for (; at < found_count && pair_key(near->found[at]) < key; ++at) {
            if (may_meet(world, near->found[at])) {
                near->spare[count++] = (cairn_near_pair){.pair = near->found[at]};
            }
        }
        const bool again = at < found_count && pair_key(near->found[at]) == key;
        at += again ? 1u : 0u;
        // A new shape may have the slot of one that is gone.
        old.flags = again ? old.flags & CAIRN_NEAR_TOUCH : old.flags;
        if (again || (old.flags & CAIRN_NEAR_TOUCH) != 0 ||
            (near->moved[old.pair.shape_a] | near->moved[old.pair.shape_b]) == 0) {
            near->spare[count++] = old;
        }
    }
    for (; at < found_count; ++at) {
        if (may_meet(world, near->found[at])) {
            near->spare[count++] = (cairn_near_pair){.pair = near->found[at]};
        }
    }
    cairn_near_pair *const listed = near->spare;
    near->spare = near->pairs;
    near->pairs = listed;
    near->pair_count = count;
}

static bool list_moved(cairn_world *world) {
    cairn_near *near = world->pair_cache;
    for (uint32_t i = 0; i < near->moved_count; ++i) {
        make_room(world, near->moved_slots[i]);
    }
    const uint32_t room = near->pair_capacity + world->def.contact_capacity - near->pair_count;
    uint32_t count = 0;
    if (!look_around(near, &count) || count > room) {
        return false;
    }
    list_with_found(world, count);
    return true;
}

static void prepare(cairn_world *world) {
    cairn_joined_collect(world);
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        world->pair_cache->reaches[i] = measure(world, i);
        world->pair_cache->turns[i] = turn_unpack(world->state.reference_poses[i].turn);
    }
}

uint32_t cairn_near_update(cairn_world *world) {
    cairn_near *near = world->pair_cache;
    const bool fresh = !near->valid;
    begin(near, world->state.settings->shape_slots);
    if (fresh) {
        prepare(world);
    }
    anchor_stirring(world);
    if (fresh) {
        place_others(world);
    } else if (near->moved_count == 0) {
        return 0;
    } else if (near->moved_count <= LOOKS_MAX && near->moved_count <= near->roomy.count / 4 &&
               list_moved(world)) {
        return 0;
    }
    return list_all(world);
}

bool cairn_near_overlap(const cairn_near *near, cairn_pair pair) {
    const cairn_aabb *p = &near->places[pair.shape_a].box;
    const cairn_aabb *q = &near->places[pair.shape_b].box;
    return ((uint32_t)(p->lower.x <= q->upper.x) & (uint32_t)(q->lower.x <= p->upper.x) &
               (uint32_t)(p->lower.y <= q->upper.y) & (uint32_t)(q->lower.y <= p->upper.y) &
               (uint32_t)(p->lower.z <= q->upper.z) & (uint32_t)(q->lower.z <= p->upper.z)) != 0;
}
