// SPDX-License-Identifier: MIT
#include "sim/query/shape_tree.h"

#include <stdlib.h>

#include "base/assert.h"
#include "sim/body/shape.h"
#include "sim/state/awake_set.h"

// A wider box, m, would make all boxes above it useless.
#define WIDTH_MAX 1e6f
// What a box in the tree has beyond the shape's own, m, plus a fraction of its coordinates: the
// rounding errors of a box and of tests against its shape.
#define MARGIN_STILL 1e-3f
#define MARGIN_FRACTION 2e-6f
// The same for a shape in motion, m, plus a fraction of its least width and its displacement in
// that many steps: so its place in the tree lasts for some steps.
#define MARGIN_MOVING 0.02f
#define MARGIN_WIDTH_FRACTION 0.1f
#define MARGIN_STEPS 4.0f
#define MARGIN_DISPLACEMENT_MAX 2.0f

static void allocate_all(cairn_shape_tree *tree, cairn_arena *from, const cairn_world_def *def) {
    cairn_box_tree_allocate(&tree->boxes, from, def->shape_capacity);
    tree->wide_slots = cairn_arena_take(from, def->shape_capacity, sizeof *tree->wide_slots);
    tree->moved = cairn_arena_take(from, def->body_capacity, sizeof *tree->moved);
    tree->moved_bodies = cairn_arena_take(from, def->body_capacity, sizeof *tree->moved_bodies);
    tree->checks = cairn_arena_take(from, def->body_capacity, sizeof *tree->checks);
}

cairn_status cairn_shape_tree_create(
    cairn_shape_tree *tree, const cairn_world_def *def, cairn_allocator *take) {
    CAIRN_ASSERT(tree->memory == NULL && !tree->built);
    cairn_arena measure = {.memory = NULL};
    allocate_all(tree, &measure, def);
    tree->size = measure.at + CAIRN_CACHE_LINE;
    // Memory that no query touches costs nothing.
    tree->memory = take(1, tree->size);
    if (tree->memory == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    const uintptr_t past = (uintptr_t)tree->memory % CAIRN_CACHE_LINE;
    cairn_arena cut = {.memory = (unsigned char *)tree->memory + (CAIRN_CACHE_LINE - past)};
    allocate_all(tree, &cut, def);
    return CAIRN_OK;
}

void cairn_shape_tree_destroy(cairn_shape_tree *tree) {
    free(tree->memory);
}

// ---- Changes

void cairn_shape_tree_list_moved(cairn_shape_tree *tree, uint32_t body) {
    CAIRN_ASSERT(tree->built);
    for (; tree->body_slots <= body; ++tree->body_slots) {
        tree->moved[tree->body_slots] = 0;
    }
    if (tree->moved[body] == 0) {
        tree->moved[body] = 1;
        tree->moved_bodies[tree->moved_count++] = body;
    }
    CAIRN_ASSERT(tree->moved_count <= tree->body_slots);
}

void cairn_shape_tree_mark_shapes(cairn_shape_tree *tree, uint32_t body) {
    cairn_shape_tree_mark_moved(tree, body);
    if (tree->built && body < tree->check_slots) {
        tree->checks[body].room = -1.0f;
    }
}

static void drop_wide(cairn_shape_tree *tree, uint32_t slot) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < tree->wide_count; ++i) {
        if (tree->wide_slots[i] != slot) {
            tree->wide_slots[kept++] = tree->wide_slots[i];
        }
    }
    CAIRN_ASSERT(kept + 1 >= tree->wide_count);
    tree->wide_count = kept;
}

void cairn_shape_tree_remove(cairn_shape_tree *tree, uint32_t slot) {
    if (!tree->built || slot >= tree->slots) {
        return;
    }
    if (tree->boxes.places[slot] != CAIRN_INDEX_NONE) {
        cairn_box_tree_remove(&tree->boxes, slot);
    } else {
        drop_wide(tree, slot);
    }
}

void cairn_shape_tree_mark_all_moved(cairn_shape_tree *tree) {
    tree->all_moved = true;
}

// ---- Boxes

static cairn_aabb with_margin(cairn_aabb box, cairn_vec3 margin) {
    return (cairn_aabb){.lower = vec3_sub(box.lower, margin), .upper = vec3_add(box.upper, margin)};
}

static cairn_vec3 still_margin(cairn_aabb box) {
    const cairn_vec3 largest = vec3_max(vec3_abs(box.lower), vec3_abs(box.upper));
    const cairn_vec3 least = vec3(MARGIN_STILL, MARGIN_STILL, MARGIN_STILL);
    return vec3_add_scaled(least, largest, MARGIN_FRACTION);
}

static cairn_aabb aabb_of_shape(const cairn_world *world, uint32_t slot) {
    const cairn_shape_view view = cairn_shape_view_at(world, slot);
    const cairn_pose pose = cairn_shape_world_pose(world, slot);
    return cairn_shape_view_aabb(&view, &pose);
}

static cairn_aabb tight_box(const cairn_world *world, uint32_t slot) {
    const cairn_aabb box = aabb_of_shape(world, slot);
    return with_margin(box, still_margin(box));
}

static bool is_wide(cairn_aabb box) {
    const cairn_vec3 width = vec3_sub(box.upper, box.lower);
    return !(width.x <= WIDTH_MAX && width.y <= WIDTH_MAX && width.z <= WIDTH_MAX);
}

// With room to move in, for a body in motion.
static cairn_aabb roomy_box(const cairn_world *world, uint32_t body, cairn_aabb tight) {
    const cairn_vec3 width = vec3_sub(tight.upper, tight.lower);
    const float least = float_min(width.x, float_min(width.y, width.z));
    const float margin = MARGIN_MOVING + MARGIN_WIDTH_FRACTION * least;
    const cairn_vec3 velocity = world->state.motions[body].linear_velocity;
    const cairn_vec3 most =
        vec3(MARGIN_DISPLACEMENT_MAX, MARGIN_DISPLACEMENT_MAX, MARGIN_DISPLACEMENT_MAX);
    const cairn_vec3 dp = vec3_clamp(
        vec3_scale(velocity, MARGIN_STEPS * world_time_step(world)), vec3_negate(most), most);
    cairn_aabb box = with_margin(tight, vec3(margin, margin, margin));
    box.lower = vec3_add(box.lower, vec3_min(dp, vec3_zero()));
    box.upper = vec3_add(box.upper, vec3_max(dp, vec3_zero()));
    return box;
}

static bool contains(const cairn_aabb *outer, const cairn_aabb *inner) {
    return outer->lower.x <= inner->lower.x && outer->lower.y <= inner->lower.y &&
           outer->lower.z <= inner->lower.z && inner->upper.x <= outer->upper.x &&
           inner->upper.y <= outer->upper.y && inner->upper.z <= outer->upper.z;
}

// ---- Update

// A shape that exists and is not in the tree.
static void insert(cairn_shape_tree *tree, const cairn_world *world, uint32_t slot) {
    const uint32_t body = world->state.shapes[slot].body;
    const cairn_aabb tight = tight_box(world, slot);
    if (is_wide(tight)) {
        tree->wide_slots[tree->wide_count++] = slot;
        return;
    }
    const bool active = cairn_body_is_active(world, body);
    cairn_box_tree_insert(&tree->boxes, slot, active ? roomy_box(world, body, tight) : tight);
}

// Takes the shape into account in the check of its body.
static void measure_room(const cairn_shape_tree *tree, uint32_t slot, const cairn_aabb *tight,
    cairn_shape_tree_check *check) {
    const cairn_aabb *box = &tree->boxes.boxes[slot];
    const cairn_vec3 below = vec3_sub(tight->lower, box->lower);
    const cairn_vec3 above = vec3_sub(box->upper, tight->upper);
    const cairn_vec3 least = vec3_min(below, above);
    const cairn_vec3 farthest = vec3_max(vec3_abs(vec3_sub(tight->lower, check->origin)),
        vec3_abs(vec3_sub(tight->upper, check->origin)));
    check->room = float_min(check->room, float_min(least.x, float_min(least.y, least.z)));
    check->radius = float_max(check->radius, vec3_length(farthest));
}

static void update_shape(cairn_shape_tree *tree, const cairn_world *world, uint32_t slot,
    cairn_shape_tree_check *check) {
    for (; tree->slots <= slot; ++tree->slots) {
        tree->boxes.places[tree->slots] = CAIRN_INDEX_NONE;
    }
    const cairn_aabb tight = tight_box(world, slot);
    if (tree->boxes.places[slot] == CAIRN_INDEX_NONE) {
        drop_wide(tree, slot);
        insert(tree, world, slot);
    } else {
        const bool active = cairn_body_is_active(world, world->state.shapes[slot].body);
        const bool fits = contains(&tree->boxes.boxes[slot], &tight);
        if (fits && !active) {
            // It has come to rest within its box, which no longer needs room.
            cairn_box_tree_set(&tree->boxes, slot, tight);
        } else if (!fits) {
            cairn_box_tree_remove(&tree->boxes, slot);
            insert(tree, world, slot);
        }
    }
    if (tree->boxes.places[slot] != CAIRN_INDEX_NONE) {
        measure_room(tree, slot, &tight, check);
    }
}

// Whether no shape of the body can have left its box: by the displacement of the origin, plus twice
// the sine of half the rotation times the radius. A tenth is kept for rounding.
static bool within_room(const cairn_shape_tree_check *check, const cairn_motion *motion) {
    const cairn_quat dq = quat_multiply(motion->rotation, quat_conjugate(check->rotation));
    const float distance = vec3_distance(motion->origin, check->origin);
    const float chord = 2.0f * vec3_length(quat_vector(dq));
    return distance + chord * check->radius <= 0.9f * check->room;
}

static void update_body(cairn_shape_tree *tree, const cairn_world *world, uint32_t body) {
    for (; tree->check_slots <= body; ++tree->check_slots) {
        tree->checks[tree->check_slots].room = -1.0f;
    }
    cairn_shape_tree_check *check = &tree->checks[body];
    const cairn_motion *motion = &world->state.motions[body];
    // At rest the boxes still have to lose their room.
    if (check->room >= 0.0f && cairn_body_is_active(world, body) && within_room(check, motion)) {
        return;
    }
    *check = (cairn_shape_tree_check){
        .origin = motion->origin, .rotation = motion->rotation, .room = WIDTH_MAX};
    for (uint32_t next = world->shape_first[body]; next != 0; next = world->shape_next[next - 1]) {
        update_shape(tree, world, next - 1, check);
    }
}

static void build(cairn_shape_tree *tree, const cairn_world *world) {
    const uint32_t slots = world->state.settings->shape_slots;
    uint32_t count = 0;
    tree->wide_count = 0;
    tree->check_slots = 0;
    tree->slots = slots;
    for (uint32_t i = 0; i < slots; ++i) {
        tree->boxes.places[i] = CAIRN_INDEX_NONE;
        if (!cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, i)) {
            continue;
        }
        const uint32_t body = world->state.shapes[i].body;
        const cairn_aabb tight = tight_box(world, i);
        if (is_wide(tight)) {
            tree->wide_slots[tree->wide_count++] = i;
            continue;
        }
        tree->boxes.boxes[i] =
            cairn_body_is_active(world, body) ? roomy_box(world, body, tight) : tight;
        tree->boxes.order[count++] = i;
    }
    cairn_box_tree_build(&tree->boxes, count);
}

static void update_all(cairn_shape_tree *tree, const cairn_world *world) {
    const uint32_t slots = world->state.settings->shape_slots;
    // Slots that hold no shape now, and those that the state does not even have.
    for (uint32_t i = 0; i < tree->slots; ++i) {
        const bool exists = i < slots && cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, i);
        if (!exists && tree->boxes.places[i] != CAIRN_INDEX_NONE) {
            cairn_box_tree_remove(&tree->boxes, i);
        }
    }
    tree->wide_count = 0;
    tree->check_slots = 0;
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        if (cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, i)) {
            update_body(tree, world, i);
        }
    }
}

static void forget_moved(cairn_shape_tree *tree) {
    for (uint32_t i = 0; i < tree->moved_count; ++i) {
        tree->moved[tree->moved_bodies[i]] = 0;
    }
    tree->moved_count = 0;
    tree->all_moved = false;
}

void cairn_shape_tree_update(const cairn_world *world) {
    cairn_shape_tree *tree = world->shape_tree;
    if (!tree->built) {
        build(tree, world);
        tree->built = true;
        tree->all_moved = false;
        tree->moved_count = 0;
        tree->body_slots = 0;
        return;
    }
    if (tree->all_moved) {
        update_all(tree, world);
    } else if (tree->moved_count > 0) {
        for (uint32_t i = 0; i < tree->moved_count; ++i) {
            const uint32_t body = tree->moved_bodies[i];
            CAIRN_ASSERT(body < world->state.settings->body_slots);
            update_body(tree, world, body);
        }
    } else {
        return;
    }
    forget_moved(tree);
    if (cairn_box_tree_wants_build(&tree->boxes)) {
        build(tree, world);
    }
}

bool cairn_shape_tree_ok(const cairn_world *world) {
    const cairn_shape_tree *tree = world->shape_tree;
    if (!tree->built) {
        return true;
    }
    if (!cairn_box_tree_ok(&tree->boxes)) {
        return false;
    }
    if (tree->all_moved) {
        return true;
    }
    for (uint32_t i = 0; i < world->state.settings->shape_slots; ++i) {
        if (!cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, i)) {
            if (i < tree->slots && tree->boxes.places[i] != CAIRN_INDEX_NONE) {
                return false;
            }
            continue;
        }
        const uint32_t body = world->state.shapes[i].body;
        if (body < tree->body_slots && tree->moved[body] != 0) {
            continue;
        }
        if (i >= tree->slots) {
            return false;
        }
        const cairn_aabb aabb = aabb_of_shape(world, i);
        const bool in_tree = tree->boxes.places[i] != CAIRN_INDEX_NONE;
        if (in_tree ? !contains(&tree->boxes.boxes[i], &aabb) : !is_wide(tight_box(world, i))) {
            return false;
        }
    }
    return true;
}
