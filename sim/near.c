// SPDX-License-Identifier: MIT
#include "sim/near.h"

#include <stdlib.h>
#include <string.h>

#include "sim/body.h"
#include "sim/limits.h"
#include "sim/scratch.h"
#include "sim/shape.h"

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

// Stands for the body of all shapes that no impulse moves, so that no two of them pair.
#define NOT_DYNAMIC UINT32_MAX

typedef struct carver {
    unsigned char *memory;
    size_t at;
} carver;

static void *carve(carver *from, size_t count, size_t size) {
    void *piece = from->memory == NULL ? NULL : from->memory + from->at;
    from->at += (count * size + 31) / 32 * 32;
    return piece;
}

static void carve_all(cairn_near *near, carver *from, const cairn_world_def *def) {
    const uint32_t shapes = def->shape_capacity;
    near->pair_capacity = cairn_scratch_pair_capacity(def);
    for (int axis = 0; axis < 3; ++axis) {
        const size_t stride = cairn_broad_phase_stride(shapes);
        near->roomy.lower[axis] = carve(from, stride, sizeof(float));
        near->roomy.upper[axis] = carve(from, stride, sizeof(float));
    }
    near->roomy.tags = carve(from, shapes, sizeof *near->roomy.tags);
    near->tight = carve(from, shapes, sizeof *near->tight);
    near->poses = carve(from, shapes, sizeof *near->poses);
    near->stirs = carve(from, shapes, sizeof *near->stirs);
    near->moved = carve(from, shapes, sizeof *near->moved);
    near->bodies = carve(from, def->body_capacity, sizeof *near->bodies);
    near->moved_slots = carve(from, shapes, sizeof *near->moved_slots);
    near->pairs = carve(from, near->pair_capacity, sizeof *near->pairs);
    near->spare = carve(from, near->pair_capacity, sizeof *near->spare);
    near->others = carve(from, shapes, sizeof *near->others);
    near->broad_phase = carve(from, 1, cairn_broad_phase_scratch_size(shapes, near->pair_capacity));
}

bool cairn_near_create(cairn_near *near, const cairn_world_def *def) {
    carver measure = {.memory = NULL};
    carve_all(near, &measure, def);
    near->memory = calloc(1, measure.at);
    near->size = measure.at;
    if (near->memory == NULL) {
        return false;
    }
    carver cut = {.memory = near->memory};
    carve_all(near, &cut, def);
    return true;
}

void cairn_near_destroy(cairn_near *near) {
    free(near->memory);
}

void cairn_near_poison(cairn_near *near, unsigned char byte) {
    memset(near->memory, byte, near->size);
    near->roomy.count = 0;
    near->moved_count = 0;
    near->body_count = 0;
    near->valid = false;
}

// ---- Boxes

static cairn_aabb grown(cairn_aabb box, float by) {
    const cairn_vec3 reach = vec3(by, by, by);
    return (cairn_aabb){.lower = vec3_sub(box.lower, reach), .upper = vec3_add(box.upper, reach)};
}

static void place_shape(cairn_world *world, uint32_t slot) {
    const cairn_solid solid = cairn_shape_solid(world, slot);
    cairn_pose *pose = &world->near.poses[slot];
    *pose = cairn_shape_world_pose(world, slot);
    world->near.tight[slot].box =
        grown(cairn_solid_aabb(&solid, pose), 0.5f * CAIRN_CONTACT_MARGIN);
}

static bool inside_room(const cairn_near *near, uint32_t slot) {
    const cairn_broad_boxes *roomy = &near->roomy;
    const cairn_aabb *box = &near->tight[slot].box;
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
    const cairn_body *body = &world->state.bodies[shape->body];
    const cairn_aabb tight = world->near.tight[slot].box;
    const cairn_vec3 width = vec3_sub(tight.upper, tight.lower);
    const float least = float_min(width.x, float_min(width.y, width.z));
    const float room = float_clamp(ROOM_FRACTION * least, ROOM_MIN, ROOM_MAX);
    const cairn_vec3 way = way_ahead(world, shape->body);
    cairn_aabb box = grown(tight, body->kind == CAIRN_BODY_STATIC ? 0.0f : room);
    box.lower = vec3_add(box.lower, vec3_min(way, vec3_zero()));
    box.upper = vec3_add(box.upper, vec3_max(way, vec3_zero()));
    cairn_broad_boxes_set(&world->near.roomy, slot, box);
    world->near.roomy.tags[slot] = (cairn_broad_tag){.category = shape->category,
        .mask = shape->mask,
        .body = body->kind == CAIRN_BODY_DYNAMIC ? shape->body : NOT_DYNAMIC,
        .active = 1};
}

// Slots that no shape has used before have no box.
static void begin(cairn_near *near, uint32_t slots) {
    if (!near->valid) {
        near->roomy.count = 0;
        near->body_count = 0;
    }
    for (uint32_t i = near->roomy.count; i < slots; ++i) {
        cairn_broad_boxes_clear(&near->roomy, i);
        near->stirs[i] = 0;
        near->moved[i] = 0;
    }
    near->roomy.count = slots;
    for (uint32_t i = 0; i < near->moved_count; ++i) {
        near->moved[near->moved_slots[i]] = 0;
    }
    near->moved_count = 0;
}

static void place_shapes(cairn_world *world, uint32_t body, unsigned char stirs) {
    cairn_near *near = &world->near;
    for (uint32_t next = world->shape_first[body]; next != 0;) {
        const uint32_t slot = next - 1;
        place_shape(world, slot);
        near->stirs[slot] = stirs;
        if (!inside_room(near, slot)) {
            near->moved[slot] = 1;
            near->moved_slots[near->moved_count] = slot;
            near->moved_count += 1;
        }
        next = world->shape_next[slot];
    }
}

// What stirs, and what stirred in the last step and has moved before it came to rest.
static void place_stirring(cairn_world *world) {
    cairn_near *near = &world->near;
    for (uint32_t i = 0; i < near->body_count; ++i) {
        if (!cairn_body_stirs(world, near->bodies[i])) {
            place_shapes(world, near->bodies[i], 0);
        }
    }
    near->body_count = 0;
    for (uint32_t body = 0; body < world->state.settings->body_slots; ++body) {
        if (cairn_body_stirs(world, body)) {
            near->bodies[near->body_count] = body;
            near->body_count += 1;
            place_shapes(world, body, 1);
        }
    }
}

// ---- The list

static void place_all(cairn_world *world) {
    for (uint32_t i = 0; i < world->near.roomy.count; ++i) {
        if (!cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, i)) {
            cairn_broad_boxes_clear(&world->near.roomy, i);
        } else if (!world->near.stirs[i]) {
            place_shape(world, i);
        }
    }
}

// Everything anew: first what was not placed, when the last list is gone, and new room for what
// stirs, so that it need not be done again at once.
static void list_all(cairn_world *world) {
    cairn_near *near = &world->near;
    const bool fresh = !near->valid;
    if (fresh) {
        place_all(world);
    }
    for (uint32_t i = 0; i < near->roomy.count; ++i) {
        if (near->stirs[i] || (fresh && cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, i))) {
            make_room(world, i);
        }
    }
    near->pair_count =
        cairn_broad_phase_pairs(&near->roomy, near->broad_phase, near->pairs, near->pair_capacity);
    near->valid = near->pair_count <= near->pair_capacity;
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
            if (near->moved[other] && other < slot) {
                continue;
            }
            if (*count == near->pair_capacity) {
                return false;
            }
            near->spare[*count] = (cairn_pair){
                .shape_a = slot < other ? slot : other, .shape_b = slot < other ? other : slot};
            *count += 1;
        }
    }
    cairn_broad_phase_sort(&near->roomy, near->broad_phase, near->spare, *count);
    return true;
}

static uint64_t pair_key(cairn_pair pair) {
    return (uint64_t)pair.shape_a << 32 | pair.shape_b;
}

// Without the pairs that have a moved shape.
static void forget_moved(cairn_near *near) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < near->pair_count; ++i) {
        const cairn_pair pair = near->pairs[i];
        near->pairs[kept] = pair;
        kept += (near->moved[pair.shape_a] | near->moved[pair.shape_b]) == 0 ? 1u : 0u;
    }
    near->pair_count = kept;
}

// Merges `count` pairs of `spare` into the list, from the end, so that nothing is overwritten.
static void insert(cairn_near *near, uint32_t count) {
    uint32_t old = near->pair_count;
    uint32_t at = old + count;
    near->pair_count = at;
    while (count > 0) {
        at -= 1;
        if (old > 0 && pair_key(near->pairs[old - 1]) > pair_key(near->spare[count - 1])) {
            old -= 1;
            near->pairs[at] = near->pairs[old];
        } else {
            count -= 1;
            near->pairs[at] = near->spare[count];
        }
    }
}

static void list_moved(cairn_world *world) {
    cairn_near *near = &world->near;
    for (uint32_t i = 0; i < near->moved_count; ++i) {
        make_room(world, near->moved_slots[i]);
    }
    uint32_t count = 0;
    forget_moved(near);
    near->valid = look_around(near, &count) && count <= near->pair_capacity - near->pair_count;
    if (near->valid) {
        insert(near, count);
    }
}

static void update(cairn_world *world) {
    cairn_near *near = &world->near;
    begin(near, world->state.settings->shape_slots);
    place_stirring(world);
    const bool few = near->moved_count <= LOOKS_MAX && near->moved_count <= near->roomy.count / 4;
    if (near->valid && few && near->moved_count > 0) {
        list_moved(world);
    }
    if (!near->valid || !few) {
        list_all(world);
    }
}

// ---- What is told

static bool tight_overlap(const cairn_tight_box *a, const cairn_tight_box *b) {
    const cairn_aabb *p = &a->box;
    const cairn_aabb *q = &b->box;
    return ((uint32_t)(p->lower.x <= q->upper.x) & (uint32_t)(q->lower.x <= p->upper.x) &
               (uint32_t)(p->lower.y <= q->upper.y) & (uint32_t)(q->lower.y <= p->upper.y) &
               (uint32_t)(p->lower.z <= q->upper.z) & (uint32_t)(q->lower.z <= p->upper.z)) != 0;
}

static uint32_t tell(const cairn_near *near, cairn_pair *pairs, uint32_t capacity) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < near->pair_count; ++i) {
        const cairn_pair pair = near->pairs[i];
        if ((near->stirs[pair.shape_a] | near->stirs[pair.shape_b]) != 0 &&
            tight_overlap(&near->tight[pair.shape_a], &near->tight[pair.shape_b])) {
            if (count < capacity) {
                pairs[count] = pair;
            }
            count += 1;
        }
    }
    return count;
}

// The boxes without room, when with it there are more pairs than the list can hold.
static uint32_t tell_without_room(cairn_world *world, cairn_pair *pairs, uint32_t capacity) {
    cairn_near *near = &world->near;
    for (uint32_t i = 0; i < near->roomy.count; ++i) {
        if (cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, i)) {
            cairn_broad_boxes_set(&near->roomy, i, near->tight[i].box);
            near->roomy.tags[i].active = near->stirs[i];
        }
    }
    return cairn_broad_phase_pairs(&near->roomy, near->broad_phase, pairs, capacity);
}

uint32_t cairn_near_find(cairn_world *world, cairn_pair *pairs, uint32_t capacity) {
    update(world);
    return world->near.valid ? tell(&world->near, pairs, capacity)
                             : tell_without_room(world, pairs, capacity);
}
