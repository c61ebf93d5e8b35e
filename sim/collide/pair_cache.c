// SPDX-License-Identifier: MIT
#include "sim/collide/pair_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/body/shape.h"
#include "sim/collide/body_extent.h"
#include "sim/collide/obstacles.h"
#include "sim/collide/pair_list.h"
#include "sim/math/grid.h"
#include "sim/math/limits.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"
#include "sim/task/task_scheduler.h"

// Margin of a fat AABB: a tenth of the shape's least width within these bounds, m, and the
// displacement of that many steps on top. A larger margin costs more pairs that are not in contact.
#define MARGIN_FRACTION 0.1f
#define MARGIN_MIN 0.01f
#define MARGIN_MAX 0.05f
#define MARGIN_STEPS 4.0f
#define MARGIN_DISPLACEMENT_MAX 2.0f

// Up to this many enlarged AABBs are each queried against all others; beyond that the whole list is
// rebuilt.
#define QUERIES_MAX 200u
// If one of them has more hits, the list is rebuilt as well.
#define QUERY_HITS_MAX 1024u

// The fewest bodies, shapes and queries that are shared as one block.
#define BODIES_SHARED_MIN 32u
#define SHAPES_SHARED_MIN 128u
#define QUERIES_SHARED_MIN 1u

// Stands for the body of all shapes that no impulse moves, so that no two of them pair.
#define NOT_DYNAMIC UINT32_MAX
// Added to the body of a sensor that no impulse moves: it pairs with every other body's shapes.
#define SENSOR_BODY 0x80000000u

static void allocate_all(cairn_pair_cache *cache, cairn_arena *from, const cairn_world_def *def) {
    const uint32_t shapes = def->shape_capacity;
    cache->pair_capacity = def->contact_capacity * CAIRN_PAIRS_PER_CONTACT;
    const size_t list = cairn_cached_pairs_max(def);
    CAIRN_ASSERT(list > cache->pair_capacity);
    for (int axis = 0; axis < 3; ++axis) {
        const size_t stride = cairn_broad_phase_stride(shapes);
        cache->fat_aabbs.lower[axis] = cairn_arena_take(from, stride, sizeof(float));
        cache->fat_aabbs.upper[axis] = cairn_arena_take(from, stride, sizeof(float));
    }
    cache->fat_aabbs.filters = cairn_arena_take(from, shapes, sizeof *cache->fat_aabbs.filters);
    cache->transforms = cairn_arena_take(from, shapes, sizeof *cache->transforms);
    cache->reference_change = cairn_arena_take(from, shapes, sizeof *cache->reference_change);
    cache->changed.words =
        cairn_arena_take(from, slot_set_words(shapes), sizeof *cache->changed.words);
    cache->changed.before =
        cairn_arena_take(from, slot_set_words(shapes), sizeof *cache->changed.before);
    cache->sums = cairn_arena_take(from, list / CAIRN_PAIRS_PER_RANGE + 1, sizeof *cache->sums);
    cache->block_sums =
        cairn_arena_take(from, list / CAIRN_PAIRS_PER_BLOCK + 1, sizeof *cache->block_sums);
    cache->list_change = cairn_arena_take(from, shapes, sizeof *cache->list_change);
    cache->changed_slots = cairn_arena_take(from, shapes, sizeof *cache->changed_slots);
    cache->enlarged_slots = cairn_arena_take(from, shapes, sizeof *cache->enlarged_slots);
    cache->removed_slots = cairn_arena_take(from, shapes, sizeof *cache->removed_slots);
    cache->obstacles = cairn_arena_take(from, shapes, sizeof *cache->obstacles);
    cache->bullets = cairn_arena_take(from, shapes, sizeof *cache->bullets);
    cache->clearances = cairn_arena_take(from, shapes, sizeof *cache->clearances);
    cache->rooms = cairn_arena_take(from, shapes, sizeof *cache->rooms);
    cache->minimum_extents = cairn_arena_take(from, shapes, sizeof *cache->minimum_extents);
    cache->reference_rotations =
        cairn_arena_take(from, def->body_capacity, sizeof *cache->reference_rotations);
    cache->bounding_radii =
        cairn_arena_take(from, def->body_capacity, sizeof *cache->bounding_radii);
    cache->body_change = cairn_arena_take(from, def->body_capacity, sizeof *cache->body_change);
    cache->half_extents = cairn_arena_take(from, def->body_capacity, sizeof *cache->half_extents);
    cache->turn_radii = cairn_arena_take(from, def->body_capacity, sizeof *cache->turn_radii);
    cache->half_widths = cairn_arena_take(from, def->body_capacity, sizeof *cache->half_widths);
    cache->fast_distances =
        cairn_arena_take(from, def->body_capacity, sizeof *cache->fast_distances);
    cache->predicted_motions =
        cairn_arena_take(from, def->body_capacity, sizeof *cache->predicted_motions);
    cache->restored_bodies =
        cairn_arena_take(from, slot_set_words(def->body_capacity), sizeof *cache->restored_bodies);
    cache->list = cairn_arena_take(from, list, sizeof *cache->list);
    cache->pairs = cache->list;
    cache->found = cairn_arena_take(from, cache->pair_capacity, sizeof *cache->found);
    cache->spare = cairn_arena_take(from, list, sizeof *cache->spare);
    cache->query_hits = cairn_arena_take(from, shapes, sizeof *cache->query_hits);
    cache->joint_filter.joints =
        cairn_arena_take(from, def->joint_capacity, sizeof *cache->joint_filter.joints);
    cache->joint_filter.pairs =
        cairn_arena_take(from, def->joint_capacity, sizeof *cache->joint_filter.pairs);
    cache->joint_filter.jointed =
        cairn_arena_take(from, def->body_capacity, sizeof *cache->joint_filter.jointed);
    cache->broad_phase =
        cairn_arena_take(from, 1, cairn_broad_phase_scratch_size(shapes, cache->pair_capacity));
}

cairn_status cairn_pair_cache_create(
    cairn_pair_cache *cache, const cairn_world_def *def, cairn_allocator *take) {
    CAIRN_ASSERT(cache->memory == NULL);
    cairn_arena measure = {.memory = NULL};
    allocate_all(cache, &measure, def);
    cache->size = measure.at + CAIRN_CACHE_LINE;
    cache->memory = take(1, cache->size);
    if (cache->memory == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    cairn_arena cut = {.memory = cairn_cache_line_in(cache->memory)};
    allocate_all(cache, &cut, def);
    return CAIRN_OK;
}

void cairn_pair_cache_destroy(cairn_pair_cache *cache) {
    free(cache->memory);
}

// ---- AABBs

cairn_quat cairn_pair_cache_shape_rotation(
    const cairn_world *world, uint32_t slot, cairn_quat body_rotation) {
    const cairn_quat local = world->state.shapes[slot].pose.rotation;
    return vec3_is_zero(quat_vector(local)) ? body_rotation
                                            : quat_normalize(quat_multiply(body_rotation, local));
}

cairn_vec3 cairn_pair_cache_shape_offset(
    const cairn_world *world, uint32_t slot, cairn_quat body_rotation) {
    const cairn_shape *shape = &world->state.shapes[slot];
    const cairn_vec3 centre = world->state.bodies[shape->body].centre;
    const cairn_vec3 offset = vec3_sub(shape->pose.position, centre);
    return vec3_is_zero(offset) ? vec3_zero() : quat_rotate(body_rotation, offset);
}

static void update_transform(const cairn_world *world, uint32_t slot) {
    const cairn_shape *shape = &world->state.shapes[slot];
    CAIRN_ASSERT(shape->body < world->state.settings->body_slots);
    const cairn_reference_pose *reference = &world->state.reference_poses[shape->body];
    const cairn_shape_view view = cairn_shape_view_at(world, slot);
    cairn_shape_transform *transform = &world->pair_cache->transforms[slot];
    const cairn_quat rotation = world->pair_cache->reference_rotations[shape->body];
    transform->body = shape->body;
    transform->rotation = cairn_pair_cache_shape_rotation(world, slot, rotation);
    transform->offset = cairn_pair_cache_shape_offset(world, slot, rotation);
    const cairn_pose pose = {.position = vec3_add(reference->position, transform->offset),
        .rotation = transform->rotation};
    transform->aabb =
        aabb_with_margin(cairn_shape_view_aabb(&view, &pose), 0.5f * CAIRN_CONTACT_MARGIN);
}

static inline bool inside_fat_aabb(
    const cairn_pair_cache *cache, const cairn_aabb *aabb, uint32_t slot) {
    const cairn_aabb_array *fat = &cache->fat_aabbs;
    CAIRN_ASSERT(slot < cache->fat_aabbs.count);
    return ((uint32_t)(fat->lower[0][slot] <= aabb->lower.x) &
               (uint32_t)(fat->lower[1][slot] <= aabb->lower.y) &
               (uint32_t)(fat->lower[2][slot] <= aabb->lower.z) &
               (uint32_t)(aabb->upper.x <= fat->upper[0][slot]) &
               (uint32_t)(aabb->upper.y <= fat->upper[1][slot]) &
               (uint32_t)(aabb->upper.z <= fat->upper[2][slot])) != 0;
}

// By how much the AABBs of a fast body's shapes grow in this step, at most, m.
static inline float growth_of(const cairn_pair_cache *cache, uint32_t body) {
    const cairn_predicted_motion *motion = &cache->predicted_motions[body];
    const cairn_vec3 far = vec3_abs(motion->displacement);
    return motion->turn + float_max(far.x, float_max(far.y, far.z));
}

// Whether this step may take a fast shape out of its fat AABB and to something that is not in it.
// Most have room, or a clearance, which is found for a fat AABB once. Neither says anything of
// bullets.
static inline bool may_leave(const cairn_pair_cache *cache, uint32_t slot, uint32_t body) {
    const float growth = growth_of(cache, body);
    const bool has_room = growth <= cache->rooms[slot];
    if (!has_room && cache->clearances[slot] == CAIRN_CLEARANCE_UNKNOWN) {
        cairn_clearance_find(cache, slot);
    }
    return cache->obstacle_moved || cache->bullet_count != 0 ||
           !(has_room || growth <= cache->clearances[slot]);
}

// The room that is left when a shape gets another fat AABB. Differences of coordinates are exact to
// a part of themselves, so a part is enough for rounding.
static float inherited_room(const cairn_pair_cache *cache, uint32_t slot, const cairn_aabb *fat) {
    const cairn_aabb_array *old = &cache->fat_aabbs;
    const float x =
        float_max(old->lower[0][slot] - fat->lower.x, fat->upper.x - old->upper[0][slot]);
    const float y =
        float_max(old->lower[1][slot] - fat->lower.y, fat->upper.y - old->upper[1][slot]);
    const float z =
        float_max(old->lower[2][slot] - fat->lower.z, fat->upper.z - old->upper[2][slot]);
    const float growth = float_max(float_max(x, y), float_max(z, 0.0f));
    return 0.999f * (cache->rooms[slot] - growth);
}

static void set_fat_aabb(const cairn_world *world, uint32_t slot) {
    const cairn_shape *shape = &world->state.shapes[slot];
    CAIRN_ASSERT(slot < world->pair_cache->fat_aabbs.count);
    const uint32_t kind = world->state.bodies[shape->body].kind;
    CAIRN_ASSERT(body_enabled(&world->state.bodies[shape->body]));
    const cairn_aabb tight = world->pair_cache->transforms[slot].aabb;
    const float margin =
        float_clamp(2.0f * MARGIN_FRACTION * cairn_minimum_extent(tight), MARGIN_MIN, MARGIN_MAX);
    const cairn_vec3 velocity = world->state.motions[shape->body].linear_velocity;
    const cairn_vec3 predicted = vec3_scale(velocity, MARGIN_STEPS * world_time_step(world));
    const cairn_vec3 most =
        vec3(MARGIN_DISPLACEMENT_MAX, MARGIN_DISPLACEMENT_MAX, MARGIN_DISPLACEMENT_MAX);
    const cairn_vec3 dp = vec3_max(vec3_min(predicted, most), vec3_negate(most));
    cairn_aabb fat = aabb_with_margin(tight, kind == CAIRN_BODY_STATIC ? 0.0f : margin);
    fat.lower = vec3_add(fat.lower, vec3_min(dp, vec3_zero()));
    fat.upper = vec3_add(fat.upper, vec3_max(dp, vec3_zero()));
    const bool sensor = (shape->flags & CAIRN_SHAPE_SENSOR) != 0;
    const uint32_t change = world->pair_cache->reference_change[slot];
    const bool is_fast = (change & CAIRN_REFERENCE_FAST) != 0;
    const bool is_swept = (change & CAIRN_REFERENCE_SWEPT) != 0;
    world->pair_cache->clearances[slot] = CAIRN_CLEARANCE_UNKNOWN;
    const bool inherits = is_fast && world->pair_cache->rooms[slot] > 0.0f;
    world->pair_cache->rooms[slot] =
        inherits ? inherited_room(world->pair_cache, slot, &fat) : 0.0f;
    cairn_aabb_array_set(&world->pair_cache->fat_aabbs, slot, fat);
    if (is_fast && (is_swept || may_leave(world->pair_cache, slot, shape->body))) {
        const cairn_aabb swept = cairn_body_swept_aabb(world, slot);
        if (!inside_fat_aabb(world->pair_cache, &swept, slot) &&
            (is_swept || cairn_obstacle_must_list(world, slot, &swept))) {
            fat.lower = vec3_min(fat.lower, swept.lower);
            fat.upper = vec3_max(fat.upper, swept.upper);
            cairn_aabb_array_set(&world->pair_cache->fat_aabbs, slot, fat);
            world->pair_cache->clearances[slot] = CAIRN_CLEARANCE_UNKNOWN;
            world->pair_cache->rooms[slot] = 0.0f;
        }
    }
    world->pair_cache->fat_aabbs.filters[slot] =
        (cairn_broad_phase_filter){.category = shape->category,
            .mask = shape->mask,
            .body = kind == CAIRN_BODY_DYNAMIC ? shape->body
                    : sensor                   ? shape->body | SENSOR_BODY
                                               : NOT_DYNAMIC,
            .active = 1};
}

static void forget_restored(cairn_world *world) {
    cairn_pair_cache *cache = world->pair_cache;
    const size_t words = slot_set_words(world->def.body_capacity);
    memset(cache->restored_bodies, 0, words * sizeof *cache->restored_bodies);
    cache->restored = false;
    cache->contacts_restored = false;
}

static void begin_update(cairn_world *world) {
    cairn_pair_cache *cache = world->pair_cache;
    const uint32_t slots = world->state.settings->shape_slots;
    if (!world->pair_cache_valid) {
        cache->fat_aabbs.count = 0;
        cache->changed_count = 0;
        cache->enlarged_count = 0;
        cache->removed_count = 0;
        cache->obstacles_stale = true;
        forget_restored(world);
    }
    CAIRN_ASSERT(cache->fat_aabbs.count <= slots);
    // Slots that are used for the first time.
    for (uint32_t i = cache->fat_aabbs.count; i < slots; ++i) {
        cairn_aabb_array_clear(&cache->fat_aabbs, i);
        cache->reference_change[i] = 0;
        cache->list_change[i] = 0;
        cache->rooms[i] = 0.0f;
    }
    if (cache->fat_aabbs.count < slots) {
        // Read beside the last box, without effect. No tool that looks for faults has to know that.
        for (uint32_t i = slots; i < cairn_broad_phase_stride(slots); ++i) {
            cairn_aabb_array_clear(&cache->fat_aabbs, i);
        }
    }
    cache->fat_aabbs.count = slots;
    for (uint32_t i = 0; i < cache->changed_count; ++i) {
        cache->reference_change[cache->changed_slots[i]] = 0;
    }
    for (uint32_t i = 0; i < cache->enlarged_count; ++i) {
        cache->list_change[cache->enlarged_slots[i]] &= CAIRN_LIST_REMOVED;
    }
    cache->changed_count = 0;
    cache->enlarged_count = 0;
    cache->fast_count = 0;
    cache->bullet_count = 0;
    cache->obstacle_moved = false;
}

static void list_again(cairn_pair_cache *cache, uint32_t slot) {
    cache->list_change[slot] |= CAIRN_LIST_ENLARGED;
    cache->enlarged_slots[cache->enlarged_count++] = slot;
}

// `reach`: no point of the body moves farther, m.
static void update_shapes(const cairn_world *world, uint32_t body, uint32_t change, float reach) {
    const cairn_pair_cache *cache = world->pair_cache;
    const bool fast = (change & CAIRN_REFERENCE_FAST) != 0;
    const bool swept = (change & CAIRN_REFERENCE_SWEPT) != 0;
    for (uint32_t next = world->shape_first[body]; next != 0; next = world->shape_next[next - 1]) {
        const uint32_t slot = next - 1;
        update_transform(world, slot);
        cache->reference_change[slot] = (unsigned char)change;
        const cairn_aabb aabb =
            swept ? cairn_body_swept_aabb(world, slot) : cache->transforms[slot].aabb;
        if (!inside_fat_aabb(cache, &aabb, slot)) {
            cache->list_change[slot] |= CAIRN_LIST_ENLARGED;
        } else if (fast && reach > cache->rooms[slot] && reach > cache->clearances[slot]) {
            cache->list_change[slot] |= CAIRN_LIST_MAY_LEAVE;
        }
    }
}

// Lists the shapes of a body whose reference pose has changed.
static void list_changed_shapes(cairn_world *world, uint32_t body, uint32_t change) {
    cairn_pair_cache *cache = world->pair_cache;
    const bool dynamic = world->state.bodies[body].kind == CAIRN_BODY_DYNAMIC;
    for (uint32_t next = world->shape_first[body]; next != 0; next = world->shape_next[next - 1]) {
        const uint32_t slot = next - 1;
        cache->changed_slots[cache->changed_count++] = slot;
        if (dynamic && (change & CAIRN_REFERENCE_SWEPT) != 0) {
            cache->bullets[cache->bullet_count++] = slot;
        }
        if ((cache->list_change[slot] & CAIRN_LIST_ENLARGED) != 0) {
            list_again(cache, slot);
            cache->obstacle_moved = cache->obstacle_moved || !dynamic;
        } else if ((cache->list_change[slot] & CAIRN_LIST_MAY_LEAVE) != 0) {
            cache->list_change[slot] &= CAIRN_LIST_REMOVED;
            cache->query_hits[cache->fast_count++] = slot;
        }
    }
    CAIRN_ASSERT(cache->changed_count <= world->def.shape_capacity);
    if (!dynamic && (change & CAIRN_REFERENCE_RESET) == CAIRN_REFERENCE_RESET) {
        cache->obstacles_stale = true;
    }
}

// Whether this step takes the shape out of its fat AABB and something may be there.
static bool is_leaving(const cairn_world *world, uint32_t slot) {
    const cairn_pair_cache *cache = world->pair_cache;
    if (!may_leave(cache, slot, cache->transforms[slot].body)) {
        return false;
    }
    const cairn_aabb swept = cairn_body_swept_aabb(world, slot);
    return !inside_fat_aabb(cache, &swept, slot) && cairn_obstacle_must_list(world, slot, &swept);
}

// Slots of shapes whose reference pose has changed.
typedef struct fast_shapes {
    const cairn_world *world;
    const uint32_t *slots;
} fast_shapes;

static void mark_leaving(const void *context, uint32_t begin, uint32_t end) {
    const fast_shapes *shapes = context;
    const cairn_pair_cache *cache = shapes->world->pair_cache;
    for (uint32_t i = begin; i < end; ++i) {
        const uint32_t slot = shapes->slots[i];
        if ((cache->reference_change[slot] & CAIRN_REFERENCE_FAST) != 0 &&
            (cache->list_change[slot] & CAIRN_LIST_ENLARGED) == 0 &&
            is_leaving(shapes->world, slot)) {
            cache->list_change[slot] |= CAIRN_LIST_MAY_LEAVE;
        }
    }
}

// Lists the fast shapes that leave their fat AABBs, when all reference poses have been moved.
static void list_fast_shapes(cairn_world *world) {
    cairn_pair_cache *cache = world->pair_cache;
    const bool all = cache->obstacle_moved || cache->bullet_count != 0;
    const fast_shapes shapes = {
        .world = world, .slots = all ? cache->changed_slots : cache->query_hits};
    const uint32_t count = all ? cache->changed_count : cache->fast_count;
    if (cache->obstacles_stale) {
        cairn_obstacles_list(world);
    }
    cairn_obstacles_read_boxes(cache);
    cairn_task_scheduler_split(
        world->scheduler, mark_leaving, &shapes, 0, count, SHAPES_SHARED_MIN);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t slot = shapes.slots[i];
        if ((cache->list_change[slot] & CAIRN_LIST_MAY_LEAVE) != 0) {
            cache->list_change[slot] &= CAIRN_LIST_REMOVED;
            list_again(cache, slot);
        }
    }
}

// CAIRN_REFERENCE_FAST and _SWEPT, if the body is fast in this tick; else 0. *reach, if it is fast:
// no point of it moves farther, m. `likely`: it probably is; then a bound is not tried first.
static uint32_t predict_motion(const cairn_world *world, uint32_t body, bool likely, float *reach) {
    const cairn_motion *motion = &world->state.motions[body];
    const float radius = world->pair_cache->turn_radii[body];
    const float h = world_time_step(world);
    const float fast_distance = world->pair_cache->fast_distances[body];
    *reach = 0.0f;
    if (!likely) {
        const float slow = h * vec3_length_bound(motion->linear_velocity);
        if (slow < fast_distance &&
            slow + h * vec3_length_bound(motion->angular_velocity) * radius < fast_distance) {
            return 0;
        }
    }
    const float distance = h * vec3_length(motion->linear_velocity);
    const float angle = h * vec3_length(motion->angular_velocity);
    *reach = distance + angle * radius;
    if (!(*reach > fast_distance)) {
        return 0;
    }
    const float h_linear =
        distance > CAIRN_SWEEP_DISTANCE_MAX ? h * (CAIRN_SWEEP_DISTANCE_MAX / distance) : h;
    const float h_angular =
        angle > CAIRN_SWEEP_ROTATION_MAX ? h * (CAIRN_SWEEP_ROTATION_MAX / angle) : h;
    cairn_predicted_motion *predicted = &world->pair_cache->predicted_motions[body];
    predicted->displacement = vec3_scale(motion->linear_velocity, h_linear);
    predicted->turn = float_min(angle, 2.0f) * radius;
    predicted->rotation = vec3_scale(motion->angular_velocity, h_angular);
    const cairn_body *properties = &world->state.bodies[body];
    if (properties->bullet != 0 || properties->kind != CAIRN_BODY_DYNAMIC ||
        cairn_body_may_pass(world->pair_cache, body, distance)) {
        return CAIRN_REFERENCE_FAST | CAIRN_REFERENCE_SWEPT;
    }
    return CAIRN_REFERENCE_FAST;
}

// Moves the reference pose of a body of the awake set to its pose if it has left it, with its
// shapes. Returns the CAIRN_REFERENCE flags. `last`: probably those of the last step.
static uint32_t update_reference_pose(const cairn_world *world, uint32_t body, uint32_t last) {
    cairn_reference_pose *reference = &world->state.reference_poses[body];
    if (world->shape_first[body] == 0) {
        return 0;
    }
    const bool reset = packed_rotation_is_none(reference->rotation);
    if (reset) {
        cairn_body_measure(world, body);
    } else if (world->pair_cache->half_widths[body] == CAIRN_HUGE_EXTENT) {
        return 0; // no pair needs its pose: its filters let nothing meet it
    }
    float reach;
    const bool likely = (last & CAIRN_REFERENCE_FAST) != 0;
    const uint32_t fast = predict_motion(world, body, likely, &reach);
    if (fast == 0 && cairn_body_within_recycling_distance(world, body)) {
        return 0;
    }
    const cairn_motion *motion = &world->state.motions[body];
    const cairn_packed_rotation rotation =
        packed_rotation_pack(motion->rotation, cairn_body_reference_precision(world, body));
    if (memcmp(&rotation, &reference->rotation, sizeof rotation) != 0) {
        world->pair_cache->reference_rotations[body] = packed_rotation_unpack(rotation);
    }
    *reference = (cairn_reference_pose){
        .position = cairn_vec3_on_grid(motion->position), .rotation = rotation};
    const uint32_t change = (reset ? CAIRN_REFERENCE_RESET : CAIRN_REFERENCE_MOVED) | fast;
    update_shapes(world, body, change, reach);
    return change;
}

// For bodies begin .. end - 1 of the awake set. Each writes only what belongs to it and its shapes.
static void update_some_reference_poses(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const uint32_t *bodies = world->awake_set->bodies;
    CAIRN_ASSERT(begin < end && end <= world->awake_set->body_count);
    for (uint32_t i = begin; i < end; ++i) {
        unsigned char *change = &world->pair_cache->body_change[i];
        *change = (unsigned char)update_reference_pose(world, bodies[i], *change);
    }
}

// ---- After a past state was restored

bool cairn_pair_cache_can_follow(const cairn_world *world) {
    const cairn_pair_cache *cache = world->pair_cache;
    return world->pair_cache_valid && cache->removed_count == 0 && !cache->joints_changed;
}

void cairn_pair_cache_restore_body(cairn_world *world, uint32_t body) {
    CAIRN_ASSERT(body < world->state.settings->body_slots);
    world->pair_cache->restored_bodies[body / 64] |= UINT64_C(1) << body % 64;
}

void cairn_pair_cache_follow(cairn_world *world, bool contacts) {
    cairn_pair_cache *cache = world->pair_cache;
    CAIRN_ASSERT(world->pair_cache_valid);
    cache->restored = true;
    cache->contacts_restored = cache->contacts_restored || contacts;
}

// Calls `visit` for the bodies whose reference poses were restored.
static void visit_restored(cairn_world *world, void (*visit)(cairn_world *world, uint32_t body)) {
    const uint64_t *words = world->pair_cache->restored_bodies;
    const uint32_t count = world->state.settings->body_slots;
    for (uint32_t first = 0; first < count; first += 64) {
        for (uint64_t left = words[first / 64]; left != 0; left &= left - 1) {
            const uint32_t body = first + (uint32_t)__builtin_ctzll(left);
            if (body < count && world->shape_first[body] != 0 &&
                body_enabled(&world->state.bodies[body])) {
                visit(world, body);
            }
        }
    }
}

static void restore_rotation(cairn_world *world, uint32_t body) {
    world->pair_cache->reference_rotations[body] =
        packed_rotation_unpack(world->state.reference_poses[body].rotation);
}

// Of a body whose reference pose has not moved since it was restored.
static void restore_shapes(cairn_world *world, uint32_t body) {
    cairn_pair_cache *cache = world->pair_cache;
    for (uint32_t next = world->shape_first[body]; next != 0; next = world->shape_next[next - 1]) {
        const uint32_t slot = next - 1;
        if (cache->reference_change[slot] != 0) {
            return;
        }
        update_transform(world, slot);
        if (!inside_fat_aabb(cache, &cache->transforms[slot].aabb, slot)) {
            list_again(cache, slot);
            cache->obstacle_moved =
                cache->obstacle_moved || world->state.bodies[body].kind != CAIRN_BODY_DYNAMIC;
        }
    }
}

static bool has_sleepers(const cairn_world *world) {
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        if (world->state.sleep[i].state == CAIRN_SLEEP_ASLEEP) {
            return true;
        }
    }
    return false;
}

static void list_awake_set(cairn_world *world) {
    cairn_awake_set *awake = world->awake_set;
    cairn_awake_set_list_in_session(world);
    awake->sleepers = world->def.sleep == 0 && has_sleepers(world);
    awake->sparse =
        world->def.sleep != 0 && awake->body_count < world->state.settings->body_slots / 4;
}

static void update_reference_poses(cairn_world *world) {
    const cairn_awake_set *awake = world->awake_set;
    list_awake_set(world);
    cairn_task_scheduler_parallel_for(world->scheduler, update_some_reference_poses, world, 0,
        awake->body_count, BODIES_SHARED_MIN);
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        const uint32_t change = world->pair_cache->body_change[i];
        if (change != 0) {
            cairn_hash_cache_mark(world, CAIRN_ARRAY_REFERENCE_POSES, awake->bodies[i]);
            list_changed_shapes(world, awake->bodies[i], change);
        }
    }
}

// ---- The list

// Whether the slot has a shape of an enabled body.
static bool has_shape(const cairn_world *world, uint32_t slot) {
    return cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, slot) &&
           body_enabled(&world->state.bodies[world->state.shapes[slot].body]);
}

// Finds pairs of AABBs without margin, and only those with a reference pose that has changed: for
// worlds that with margins have more pairs than the list can hold.
static uint32_t find_pairs_without_margin(cairn_world *world) {
    cairn_pair_cache *cache = world->pair_cache;
    for (uint32_t i = 0; i < cache->fat_aabbs.count; ++i) {
        if (has_shape(world, i)) {
            cairn_aabb_array_set(&cache->fat_aabbs, i, cairn_body_swept_aabb(world, i));
            cache->fat_aabbs.filters[i].active = cache->reference_change[i] != 0 ? 1u : 0u;
        }
    }
    CAIRN_ASSERT(cache->changed_count <= cache->fat_aabbs.count);
    return cairn_broad_phase_find_pairs(world->scheduler, &cache->fat_aabbs, cache->broad_phase,
        cache->found, cache->pair_capacity);
}

static bool wants_fat_aabb(const cairn_world *world, uint32_t slot) {
    return has_shape(world, slot) &&
           (!world->pair_cache_valid || world->pair_cache->reference_change[slot] != 0 ||
               (world->pair_cache->list_change[slot] & CAIRN_LIST_ENLARGED) != 0);
}

static bool is_obstacle(const cairn_world *world, uint32_t slot) {
    const cairn_shape *shape = &world->state.shapes[slot];
    return (shape->flags & CAIRN_SHAPE_SENSOR) == 0 &&
           world->state.bodies[shape->body].kind != CAIRN_BODY_DYNAMIC;
}

// Fast shapes read the fat AABBs of obstacles, which have theirs already.
static void set_some_fat_aabbs(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    CAIRN_ASSERT(end <= world->pair_cache->fat_aabbs.count);
    for (uint32_t i = begin; i < end; ++i) {
        if (wants_fat_aabb(world, i) && !is_obstacle(world, i)) {
            set_fat_aabb(world, i);
        }
    }
}

// Rebuilds the list, with new fat AABBs for all shapes whose reference pose has changed, so that
// they do not have to be enlarged soon after.
static uint32_t rebuild_list(cairn_world *world) {
    cairn_pair_cache *cache = world->pair_cache;
    CAIRN_ASSERT(cache->fat_aabbs.count == world->state.settings->shape_slots);
    for (uint32_t i = 0; i < cache->fat_aabbs.count; ++i) {
        if (wants_fat_aabb(world, i) && is_obstacle(world, i)) {
            set_fat_aabb(world, i);
        }
    }
    cairn_obstacles_read_boxes(cache);
    cairn_task_scheduler_parallel_for(
        world->scheduler, set_some_fat_aabbs, world, 0, cache->fat_aabbs.count, SHAPES_SHARED_MIN);
    if (world->pair_cache_valid && cache->obstacle_moved) {
        cairn_clearances_reduce(cache);
    }
    const uint32_t capacity = cache->pair_capacity;
    uint32_t found = cairn_broad_phase_find_pairs(
        world->scheduler, &cache->fat_aabbs, cache->broad_phase, cache->found, capacity);
    world->pair_cache_valid = found <= capacity;
    found = world->pair_cache_valid ? found : find_pairs_without_margin(world);
    cairn_pair_list_fill(world, found <= capacity ? found : capacity);
    return found <= capacity ? 0 : found - capacity;
}

// Queries of some enlarged AABBs. Each has a region of `found` of its own.
typedef struct enlarged_queries {
    const cairn_pair_cache *cache;
    uint32_t room;    // pairs in a region
    uint32_t *counts; // by query; more than `room`: the region is too small
} enlarged_queries;

static void run_queries(const void *context, uint32_t begin, uint32_t end) {
    const enlarged_queries *queries = context;
    const cairn_pair_cache *cache = queries->cache;
    uint32_t others[QUERY_HITS_MAX];
    CAIRN_ASSERT(end <= cache->enlarged_count);
    for (uint32_t i = begin; i < end; ++i) {
        const uint32_t slot = cache->enlarged_slots[i];
        cairn_pair *found = &cache->found[i * queries->room];
        uint32_t count = 0;
        const uint32_t hits =
            cairn_broad_phase_query(&cache->fat_aabbs, slot, 0, others, QUERY_HITS_MAX);
        for (uint32_t k = 0; k < hits && count < queries->room; ++k) {
            const uint32_t other = others[k];
            CAIRN_ASSERT(other != slot);
            // A pair of two enlarged ones belongs to the lower one.
            if ((cache->list_change[other] & CAIRN_LIST_ENLARGED) == 0 || other > slot) {
                found[count++] = (cairn_pair){
                    .shape_a = slot < other ? slot : other, .shape_b = slot < other ? other : slot};
            }
        }
        const bool complete = hits < QUERY_HITS_MAX && count < queries->room;
        queries->counts[i] = complete ? count : UINT32_MAX;
    }
}

// The pairs of enlarged AABBs, in order; false when there is no room for them.
static bool query_enlarged(cairn_world *world, uint32_t *count) {
    cairn_pair_cache *cache = world->pair_cache;
    uint32_t counts[QUERIES_MAX];
    CAIRN_ASSERT(cache->enlarged_count <= QUERIES_MAX);
    *count = 0;
    if (cache->enlarged_count == 0) {
        return true;
    }
    const enlarged_queries queries = {
        .cache = cache, .room = cache->pair_capacity / cache->enlarged_count, .counts = counts};
    cairn_task_scheduler_parallel_for(
        world->scheduler, run_queries, &queries, 0, cache->enlarged_count, QUERIES_SHARED_MIN);
    for (uint32_t i = 0; i < cache->enlarged_count; ++i) {
        if (counts[i] == UINT32_MAX) {
            return false;
        }
        const cairn_pair *from = &cache->found[i * queries.room];
        memmove(&cache->found[*count], from, counts[i] * sizeof *from);
        *count += counts[i];
    }
    cairn_broad_phase_sort_pairs(&cache->fat_aabbs, cache->broad_phase, cache->found, *count);
    return true;
}

static bool update_list(cairn_world *world) {
    cairn_pair_cache *cache = world->pair_cache;
    for (uint32_t i = 0; i < cache->enlarged_count; ++i) {
        set_fat_aabb(world, cache->enlarged_slots[i]);
    }
    if (cache->obstacle_moved) {
        cairn_clearances_reduce(cache);
    }
    CAIRN_ASSERT(cache->pair_count <= cache->pair_capacity + world->def.contact_capacity);
    const uint32_t room = cache->pair_capacity + world->def.contact_capacity - cache->pair_count;
    uint32_t count = 0;
    if (!query_enlarged(world, &count) || count > room) {
        return false;
    }
    cairn_pair_list_merge(world, count);
    return true;
}

// Returns how many pairs found no room.
static uint32_t update_pairs(cairn_world *world) {
    cairn_pair_cache *cache = world->pair_cache;
    if (world->pair_cache_valid && cache->contacts_restored) {
        world->pair_cache_valid = cairn_pair_list_tally(world);
    }
    const bool rebuild = !world->pair_cache_valid;
    begin_update(world);
    CAIRN_ASSERT(cache->changed_count == 0 && cache->enlarged_count == 0);
    if (rebuild || cache->joints_changed) {
        cairn_joint_filter_build(&cache->joint_filter, &world->state);
        cache->joints_changed = false;
    }
    if (rebuild) {
        for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
            cairn_body_measure(world, i);
            cache->body_change[i] = 0; // of a fork's memory, which is not cleared
            cache->reference_rotations[i] =
                packed_rotation_unpack(world->state.reference_poses[i].rotation);
        }
    }
    if (cache->restored) {
        visit_restored(world, restore_rotation);
    }
    update_reference_poses(world);
    if (cache->restored) {
        visit_restored(world, restore_shapes);
        forget_restored(world);
    }
    if (rebuild) {
        // In a new cache, shapes whose reference poses have not changed need a transform as well.
        for (uint32_t i = 0; i < cache->fat_aabbs.count; ++i) {
            if (has_shape(world, i) && cache->reference_change[i] == 0) {
                update_transform(world, i);
            }
        }
    }
    list_fast_shapes(world);
    if (rebuild) {
        return rebuild_list(world);
    }
    if (cache->enlarged_count == 0 && cache->removed_count == 0) {
        return 0;
    } else if (cache->enlarged_count <= QUERIES_MAX &&
               cache->enlarged_count <= cache->fat_aabbs.count / 4 && update_list(world)) {
        return 0;
    }
    return rebuild_list(world);
}

void cairn_pair_cache_update(cairn_world *world) {
    cairn_pair_cache *cache = world->pair_cache;
    world->state.settings->contacts_dropped += update_pairs(world);
    if (world->awake_set->sparse) {
        slot_set_fill(
            &cache->changed, cache->changed_slots, cache->changed_count, cache->fat_aabbs.count);
    }
    for (uint32_t i = 0; i < cache->removed_count; ++i) {
        cache->list_change[cache->removed_slots[i]] &= CAIRN_LIST_ENLARGED;
    }
    cache->removed_count = 0;
}

void cairn_pair_cache_remove_shape(cairn_world *world, uint32_t slot) {
    cairn_pair_cache *cache = world->pair_cache;
    // A shape that no update has seen is in no pair.
    if (!world->pair_cache_valid || slot >= cache->fat_aabbs.count) {
        return;
    }
    cairn_aabb_array_clear(&cache->fat_aabbs, slot);
    cache->obstacles_stale =
        cache->obstacles_stale || cache->minimum_extents[slot] == CAIRN_HUGE_EXTENT;
    if ((cache->list_change[slot] & CAIRN_LIST_REMOVED) == 0) {
        cache->list_change[slot] |= CAIRN_LIST_REMOVED;
        cache->removed_slots[cache->removed_count++] = slot;
    }
    CAIRN_ASSERT(cache->removed_count <= cache->fat_aabbs.count);
}

void cairn_pair_cache_joint_changed(cairn_world *world, uint32_t body) {
    world->pair_cache->joints_changed = true;
    cairn_pair_cache_body_changed(world, body);
}

void cairn_pair_cache_body_changed(cairn_world *world, uint32_t body) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, body));
    for (uint32_t next = world->shape_first[body]; next != 0; next = world->shape_next[next - 1]) {
        cairn_pair_cache_remove_shape(world, next - 1);
    }
}
