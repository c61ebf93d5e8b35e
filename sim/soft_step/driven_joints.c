// SPDX-License-Identifier: MIT

// Driven joints in the soft-step solver. Joints that are connected by bodies that impulses move
// form a group, which one worker solves in order of slot; groups share nothing that is written.

#include "sim/soft_step/soft_step.h"

#include <string.h>

#include "base/assert.h"
#include "sim/collide/active_contacts.h"
#include "sim/math/rotation.h"
#include "sim/state/hash_cache.h"
#include "sim/task/task_scheduler.h"

static cairn_row_time time_of(const cairn_world *world) {
    const cairn_solver_context *context = &world->soft_step->wide_context;
    const cairn_softness *soft = &context->joint_softness;
    CAIRN_ASSERT(context->h > 0.0f);
    return (cairn_row_time){.h = context->h,
        .hold = {.position = soft->rate * soft->mass_scale,
            .velocity = soft->mass_scale,
            .impulse = soft->impulse_scale}};
}

static cairn_vec3 vec3_at(const float *row) {
    return vec3(row[0], row[1], row[2]);
}

static float unlocked_mass(const cairn_solver_body *body, uint32_t axis) {
    return (body->linear_locks >> axis & 1u) != 0 ? 0.0f : body->inverse_mass;
}

static cairn_row_body load_body(const cairn_world *world, uint32_t index) {
    const cairn_solver_body *body = &world->soft_step->bodies[index];
    CAIRN_ASSERT(index < world->soft_step->body_count);
    return (cairn_row_body){.linear_velocity = vec3_at(body->linear_velocity),
        .angular_velocity = vec3_at(body->angular_velocity),
        .inverse_mass =
            vec3(unlocked_mass(body, 0), unlocked_mass(body, 1), unlocked_mass(body, 2)),
        .inverse_inertia = sym3_of(body->inverse_inertia),
        .moves = index < world->soft_step->moving_count};
}

static void store_body(const cairn_world *world, uint32_t index, const cairn_row_body *body) {
    cairn_soft_step *soft_step = world->soft_step;
    if (index < soft_step->moving_count) {
        const cairn_vec3 v = body->linear_velocity;
        const cairn_vec3 w = body->angular_velocity;
        const float linear[3] = {v.x, v.y, v.z};
        const float angular[3] = {w.x, w.y, w.z};
        memcpy(soft_step->bodies[index].linear_velocity, linear, sizeof linear);
        memcpy(soft_step->bodies[index].angular_velocity, angular, sizeof angular);
    }
}

static cairn_row_pose pose_of(const cairn_world *world, uint32_t slot, uint32_t index) {
    const cairn_solver_body *body = &world->soft_step->bodies[index];
    const cairn_motion *motion = &world->state.motions[slot];
    return (cairn_row_pose){.position = vec3_add(motion->position, vec3_at(body->delta_position)),
        .rotation = quat_multiply(quat_of_vector(vec3_at(body->delta_rotation)), motion->rotation)};
}

static void build(const cairn_world *world, const cairn_row_time *time, cairn_joint_rows *rows) {
    const cairn_row_pose pose_a = pose_of(world, rows->body_a, rows->index_a);
    const cairn_row_pose pose_b = pose_of(world, rows->body_b, rows->index_b);
    const cairn_row_body a = load_body(world, rows->index_a);
    const cairn_row_body b = load_body(world, rows->index_b);
    cairn_joint_rows_build(world, time, &pose_a, &pose_b, &a, &b, rows);
}

// The rows from the group `begin` to the one before `end`.
typedef struct group_range {
    cairn_joint_rows *first;
    cairn_joint_rows *last; // one after
} group_range;

static group_range rows_of_groups(const cairn_world *world, uint32_t begin, uint32_t end) {
    const cairn_soft_step *soft_step = world->soft_step;
    CAIRN_ASSERT(begin <= end && end <= soft_step->driven_group_count);
    return (group_range){.first = &soft_step->driven[soft_step->driven_groups[begin]],
        .last = &soft_step->driven[soft_step->driven_groups[end]]};
}

// ---- Groups

// Union-find over solver bodies; the lower one becomes the root.
static uint32_t root_of(uint32_t *parent, uint32_t body) {
    while (parent[body] != body) {
        parent[body] = parent[parent[body]];
        body = parent[body];
    }
    return body;
}

// The solver body that stands for the group of the joint: the lowest of those that impulses move.
static uint32_t joint_root(cairn_soft_step *soft_step, const cairn_joint_rows *rows) {
    const bool a_moves = rows->index_a < soft_step->moving_count;
    CAIRN_ASSERT(a_moves || rows->index_b < soft_step->moving_count);
    return root_of(soft_step->driven_parents, a_moves ? rows->index_a : rows->index_b);
}

static void unite(cairn_soft_step *soft_step, uint32_t a, uint32_t b) {
    if (a < soft_step->moving_count && b < soft_step->moving_count) {
        const uint32_t root_a = root_of(soft_step->driven_parents, a);
        const uint32_t root_b = root_of(soft_step->driven_parents, b);
        soft_step->driven_parents[root_a < root_b ? root_b : root_a] =
            root_a < root_b ? root_a : root_b;
    }
}

static void identify_joint(const cairn_world *world, uint32_t drive, cairn_joint_rows *rows) {
    const cairn_soft_step *soft_step = world->soft_step;
    const cairn_joint *joint = &world->state.joints[world->state.joint_drives[drive].joint];
    rows->drive = drive;
    rows->body_a = cairn_id_index(joint->body_a);
    rows->body_b = cairn_id_index(joint->body_b);
    rows->index_a = soft_step->solver_body_of[rows->body_a];
    rows->index_b = soft_step->solver_body_of[rows->body_b];
}

// Lists the active drives and the groups of their joints, and writes to `driven_places` where the
// rows of each drive belong: by group, in order of the groups' first joints, and by slot.
static void list_groups(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    const uint32_t drives = world->state.settings->joint_drive_count;
    uint32_t *parents = soft_step->driven_parents;
    uint32_t *groups = soft_step->driven_groups;
    cairn_joint_rows rows;
    for (uint32_t i = 0; i < drives; ++i) {
        if (cairn_joint_drive_active(world, i)) {
            identify_joint(world, i, &rows);
            parents[rows.index_a] = rows.index_a;
            parents[rows.index_b] = rows.index_b;
            soft_step->driven_drives[soft_step->driven_count++] = i;
        }
    }
    for (uint32_t i = 0; i < soft_step->driven_count; ++i) {
        identify_joint(world, soft_step->driven_drives[i], &rows);
        unite(soft_step, rows.index_a, rows.index_b);
        soft_step->driven_group_of[rows.index_a] = UINT32_MAX;
        soft_step->driven_group_of[rows.index_b] = UINT32_MAX;
    }
    // First the sizes of the groups, then where they begin, then the next place in each.
    for (uint32_t i = 0; i < soft_step->driven_count; ++i) {
        identify_joint(world, soft_step->driven_drives[i], &rows);
        uint32_t *group = &soft_step->driven_group_of[joint_root(soft_step, &rows)];
        if (*group == UINT32_MAX) {
            *group = soft_step->driven_group_count++;
            groups[*group] = 0;
        }
        groups[*group] += 1;
        soft_step->driven_places[i] = *group;
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < soft_step->driven_group_count; ++i) {
        const uint32_t size = groups[i];
        groups[i] = first;
        first += size;
    }
    for (uint32_t i = 0; i < soft_step->driven_count; ++i) {
        soft_step->driven_places[i] = groups[soft_step->driven_places[i]]++;
    }
    for (uint32_t i = soft_step->driven_group_count; i > 0; --i) {
        groups[i] = groups[i - 1];
    }
    groups[0] = 0;
    CAIRN_ASSERT(groups[soft_step->driven_group_count] == soft_step->driven_count);
}

// ---- Parts of a step

static void prepare_some(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    cairn_soft_step *soft_step = world->soft_step;
    const cairn_row_time time = time_of(world);
    for (uint32_t i = begin; i < end; ++i) {
        cairn_joint_rows *rows = &soft_step->driven[soft_step->driven_places[i]];
        identify_joint(world, soft_step->driven_drives[i], rows);
        build(world, &time, rows);
        cairn_joint_rows_load(world, world->state.settings->warm_start, rows);
        const cairn_row_body a = load_body(world, rows->index_a);
        const cairn_row_body b = load_body(world, rows->index_b);
        cairn_joint_rows_update_chord(&time, &a, &b, rows);
    }
}

// So many joints are prepared by the main thread.
#define JOINTS_SHARED_MIN 4

// A worker's part of the groups.
static group_range rows_of_worker(const cairn_world *world, uint32_t rank, uint32_t size) {
    const uint64_t groups = world->soft_step->driven_group_count;
    CAIRN_ASSERT(rank < size);
    return rows_of_groups(
        world, (uint32_t)(groups * rank / size), (uint32_t)(groups * (rank + 1) / size));
}

void cairn_driven_joints_prepare(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    soft_step->driven_count = 0;
    soft_step->driven_group_count = 0;
    if (world->state.settings->joint_drive_count == 0) {
        return;
    }
    list_groups(world);
    cairn_task_scheduler_split(
        world->scheduler, prepare_some, world, 0, soft_step->driven_count, JOINTS_SHARED_MIN);
}

void cairn_driven_joints_warm_start(cairn_world *world, uint32_t rank, uint32_t size) {
    const group_range range = rows_of_worker(world, rank, size);
    for (const cairn_joint_rows *rows = range.first; rows < range.last; ++rows) {
        cairn_row_body a = load_body(world, rows->index_a);
        cairn_row_body b = load_body(world, rows->index_b);
        cairn_joint_rows_warm_start(rows, &a, &b);
        store_body(world, rows->index_a, &a);
        store_body(world, rows->index_b, &b);
    }
}

static void add_missing(const cairn_world *world, cairn_joint_rows *rows) {
    cairn_row_body a = load_body(world, rows->index_a);
    cairn_row_body b = load_body(world, rows->index_b);
    cairn_joint_rows_add_missing(rows, &a, &b);
    store_body(world, rows->index_a, &a);
    store_body(world, rows->index_b, &b);
}

static void solve(
    const cairn_world *world, const cairn_row_time *time, cairn_joint_rows *rows, bool biased) {
    cairn_row_body a = load_body(world, rows->index_a);
    cairn_row_body b = load_body(world, rows->index_b);
    cairn_joint_rows_solve(time, rows, &a, &b, biased);
    store_body(world, rows->index_a, &a);
    store_body(world, rows->index_b, &b);
}

// In both directions. A small body with long arms makes one sweep converge badly, and the error
// that it leaves adds energy. Of 39 random trees of up to 44 bodies with welds 11 exploded with one
// sweep, none with two.
void cairn_driven_joints_solve_biased(cairn_world *world, uint32_t rank, uint32_t size) {
    const cairn_row_time time = time_of(world);
    const group_range range = rows_of_worker(world, rank, size);
    for (cairn_joint_rows *rows = range.first; rows < range.last; ++rows) {
        add_missing(world, rows);
        solve(world, &time, rows, true);
    }
    for (cairn_joint_rows *rows = range.last; rows > range.first; --rows) {
        solve(world, &time, rows - 1, true);
    }
}

void cairn_driven_joints_relax(cairn_world *world, uint32_t rank, uint32_t size) {
    const cairn_row_time time = time_of(world);
    const group_range range = rows_of_worker(world, rank, size);
    for (cairn_joint_rows *rows = range.first; rows < range.last; ++rows) {
        const cairn_row_body a = load_body(world, rows->index_a);
        const cairn_row_body b = load_body(world, rows->index_b);
        cairn_joint_rows_advance(world, &time, &a, &b, rows);
        const cairn_jacobian before = cairn_joint_rows_impulse(rows);
        build(world, &time, rows);
        const cairn_jacobian now = cairn_joint_rows_impulse(rows);
        rows->missing = cairn_jacobian_difference(&now, &before);
    }
    for (cairn_joint_rows *rows = range.last; rows > range.first; --rows) {
        solve(world, &time, rows - 1, false);
    }
    for (cairn_joint_rows *rows = range.first; rows < range.last; ++rows) {
        solve(world, &time, rows, false);
    }
    for (cairn_joint_rows *rows = range.first; rows < range.last; ++rows) {
        const cairn_row_body a = load_body(world, rows->index_a);
        const cairn_row_body b = load_body(world, rows->index_b);
        cairn_joint_rows_update_chord(&time, &a, &b, rows);
    }
}

void cairn_driven_joints_store(cairn_world *world, uint32_t rank, uint32_t size) {
    const group_range range = rows_of_worker(world, rank, size);
    for (const cairn_joint_rows *rows = range.first; rows < range.last; ++rows) {
        cairn_joint_rows_store(world, rows);
        cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINT_DRIVES, rows->drive);
    }
}
