// SPDX-License-Identifier: MIT
#include <cairn/mover.h>

#include "base/assert.h"
#include "base/check.h"
#include "sim/body/body.h"
#include "sim/body/shape.h"
#include "sim/collide/collide.h"
#include "sim/collide/mesh_collide.h"
#include "sim/math/limits.h"
#include "sim/math/vec.h"

#define MOVER_SIZE_MIN 0.02f
#define MOVER_SIZE_MAX 100.0f
// Casts use a capsule that is thinner by this, m, or by a tenth of the radius: so a surface that
// the mover touches does not stop a move along it.
#define SKIN 0.01f
#define SKIN_FRACTION 0.1f
// A slide ends after this many bends, or when one brings it less far than this, m.
#define SLIDES_MAX 5
#define SLIDE_MIN 1e-4f
// Sweeps over the planes; they end when they move less than that together, m.
#define SWEEPS_MAX 20
#define SWEEP_MIN 1e-5f
// Ground that moved farther than this in one move, m, was set elsewhere and does not carry.
#define CARRY_MAX 2.0f
// m/s upwards at which a mover leaves the ground.
#define LEAVE_SPEED 1e-3f
// Steps are tried if less than this part of the way could be gone.
#define BLOCKED_FRACTION 0.95f
// How far behind an edge, m, the surface is looked for that begins there.
#define EDGE_DEPTH 0.02f
// The skin below a foot on ground whose normal rises less than this is not followed further.
#define RISE_MIN 0.3f

cairn_mover_def cairn_mover_def_default(void) {
    return (cairn_mover_def){.radius = 0.3f,
        .half_height = 0.6f,
        .up = {.y = 1.0f},
        .step_height = 0.35f,
        .slope_cosine = 0.70710678f,
        .filter = cairn_query_filter_default()};
}

// A move in progress.
typedef struct walk {
    const cairn_world *world;
    const cairn_mover_def *def;
    cairn_vec3 up;
    cairn_quat rotation; // takes y to `up`
    float skin;
    cairn_vec3 position;
    cairn_vec3 velocity;
    bool grounded; // surfaces too steep to walk on are walls
} walk;

static cairn_status def_check(const cairn_mover_def *def) {
    const cairn_status checks[] = {
        cairn_check_float(def->radius, MOVER_SIZE_MIN, MOVER_SIZE_MAX),
        cairn_check_float(def->half_height, MOVER_SIZE_MIN, MOVER_SIZE_MAX),
        cairn_check_vec3(def->up, 1.1f),
        cairn_check_float(vec3_length_squared(def->up), 0.81f, 1.21f),
        cairn_check_float(def->step_height, 0.0f, MOVER_SIZE_MAX),
        cairn_check_float(def->slope_cosine, 0.0f, 1.0f),
    };
    return cairn_check_all(checks, sizeof checks / sizeof checks[0]);
}

static walk walk_of(const cairn_world *world, const cairn_mover_def *def, cairn_vec3 position) {
    const cairn_vec3 y = vec3(0.0f, 1.0f, 0.0f);
    const cairn_vec3 up = vec3_normalize(def->up, y);
    // (axis times sine, cosine) of half the angle, times a factor; about x if `up` is opposite to
    // y.
    const cairn_vec3 axis = vec3_cross(y, up);
    const bool opposite = up.y < -0.9999f;
    const cairn_quat rotation = {.x = opposite ? 1.0f : axis.x,
        .y = 0.0f,
        .z = opposite ? 0.0f : axis.z,
        .w = opposite ? 0.0f : 1.0f + up.y};
    return (walk){.world = world,
        .def = def,
        .up = up,
        .rotation = quat_normalize(rotation),
        .skin = float_min(SKIN, SKIN_FRACTION * def->radius),
        .position = position};
}

static cairn_shape_def capsule_of(const walk *w, float grown) {
    return (cairn_shape_def){.kind = CAIRN_SHAPE_CAPSULE,
        .radius = w->def->radius + grown,
        .half_height = w->def->half_height};
}

static cairn_pose pose_of(const walk *w) {
    return (cairn_pose){.position = w->position, .rotation = w->rotation};
}

static float along(const walk *w, cairn_vec3 v) {
    return vec3_dot(v, w->up);
}

static cairn_vec3 horizontal(const walk *w, cairn_vec3 v) {
    return vec3_sub_scaled(v, w->up, along(w, v));
}

static bool can_walk_on(const walk *w, cairn_vec3 normal) {
    return along(w, normal) >= w->def->slope_cosine;
}

// ---- Planes

static cairn_mover_plane plane_of_manifold(
    const walk *w, cairn_shape_id id, const cairn_manifold *manifold) {
    CAIRN_ASSERT(manifold->point_count > 0);
    uint32_t nearest = 0;
    for (uint32_t i = 1; i < manifold->point_count; ++i) {
        const bool nearer = manifold->points[i].separation < manifold->points[nearest].separation;
        nearest = nearer ? i : nearest;
    }
    return (cairn_mover_plane){.shape = id,
        .body = cairn_body_id_at(w->world, w->world->state.shapes[cairn_id_index(id)].body),
        .point = manifold->points[nearest].position,
        .normal = manifold->normal,
        .separation = manifold->points[nearest].separation};
}

// A mesh or height field has a plane for each direction in which the capsule touches it.
static uint32_t planes_of_mesh(const walk *w, cairn_shape_id id, const cairn_shape_view *mesh,
    const cairn_pose *at, const cairn_shape_view *probe, float distance, cairn_mover_plane *out,
    uint32_t capacity) {
    const cairn_pose pose = pose_of(w);
    const cairn_pose in_mesh = {.position = pose_apply_inverse(*at, pose.position),
        .rotation = quat_normalize(quat_multiply(quat_conjugate(at->rotation), pose.rotation))};
    cairn_manifold_set set;
    cairn_collide_mesh(mesh->mesh, probe, &in_mesh, distance, &set);
    uint32_t count = 0;
    for (; count < set.count && count < capacity; ++count) {
        cairn_mover_plane plane = plane_of_manifold(w, id, &set.manifolds[count]);
        plane.point = vec3_clean(pose_apply(*at, plane.point));
        plane.normal = vec3_clean(quat_rotate(at->rotation, plane.normal));
        out[count] = plane;
    }
    return count;
}

// Returns how many planes it has written, at most `capacity`, which is not 0.
static uint32_t planes_of_shape(
    const walk *w, cairn_shape_id id, float distance, cairn_mover_plane *out, uint32_t capacity) {
    const uint32_t slot = cairn_id_index(id);
    const cairn_shape_def capsule = capsule_of(w, 0.0f);
    const cairn_geometry geometry = cairn_geometry_of_def(&capsule);
    const cairn_shape_view probe = {.geometry = &geometry};
    const cairn_shape_view view = cairn_shape_view_at(w->world, slot);
    const cairn_pose at = cairn_shape_world_pose(w->world, slot);
    const cairn_pose pose = pose_of(w);
    uint32_t axis_hint = 0;
    cairn_manifold manifold;
    if (view.mesh != NULL) {
        return planes_of_mesh(w, id, &view, &at, &probe, distance, out, capacity);
    }
    cairn_collide(&view, &at, &probe, &pose, distance, &axis_hint, &manifold);
    if (manifold.point_count > 0) {
        *out = plane_of_manifold(w, id, &manifold);
    }
    return manifold.point_count > 0 ? 1 : 0;
}

static uint32_t planes_within(
    const walk *w, float distance, cairn_mover_plane out[CAIRN_MOVER_PLANES_MAX]) {
    cairn_shape_id ids[CAIRN_MOVER_PLANES_MAX];
    const cairn_shape_def capsule = capsule_of(w, distance);
    const uint32_t found = cairn_world_overlap_shape(
        w->world, &capsule, pose_of(w), &w->def->filter, ids, CAIRN_MOVER_PLANES_MAX);
    uint32_t count = 0;
    for (uint32_t i = 0; i < found && i < CAIRN_MOVER_PLANES_MAX && count < CAIRN_MOVER_PLANES_MAX;
         ++i) {
        count += planes_of_shape(w, ids[i], distance, &out[count], CAIRN_MOVER_PLANES_MAX - count);
    }
    CAIRN_ASSERT(count <= CAIRN_MOVER_PLANES_MAX);
    return count;
}

uint32_t cairn_mover_planes(const cairn_world *world, const cairn_mover_def *def,
    cairn_vec3 position, float distance, cairn_mover_plane out[CAIRN_MOVER_PLANES_MAX]) {
    const cairn_status checks[] = {def_check(def), cairn_check_vec3(position, CAIRN_DISTANCE_MAX),
        cairn_check_float(distance, 0.0f, 1.0f)};
    if (cairn_check_all(checks, sizeof checks / sizeof checks[0]) != CAIRN_OK) {
        return 0;
    }
    const walk w = walk_of(world, def, position);
    return planes_within(&w, distance, out);
}

// On the ground a surface that is too steep to walk on counts as an upright wall, so that it does
// not lift the mover.
static cairn_vec3 normal_for_walk(const walk *w, cairn_vec3 normal) {
    const float rise = along(w, normal);
    if (!w->grounded || rise <= 0.0f || can_walk_on(w, normal)) {
        return normal;
    }
    return vec3_normalize(horizontal(w, normal), normal);
}

// The displacement nearest to `wanted` that keeps out of all planes, by projections in turn
// with accumulated, clamped pushes, and the velocity without what was pushed against.
static cairn_vec3 solve_planes(
    walk *w, const cairn_mover_plane *planes, uint32_t count, cairn_vec3 wanted) {
    float pushes[CAIRN_MOVER_PLANES_MAX] = {0.0f};
    cairn_vec3 delta = wanted;
    for (uint32_t sweep = 0; sweep < SWEEPS_MAX; ++sweep) {
        float moved = 0.0f;
        for (uint32_t i = 0; i < count; ++i) {
            const cairn_vec3 normal = normal_for_walk(w, planes[i].normal);
            const float separation = planes[i].separation + vec3_dot(normal, delta);
            const float push = float_max(pushes[i] - separation, 0.0f);
            delta = vec3_add_scaled(delta, normal, push - pushes[i]);
            moved += float_abs(push - pushes[i]);
            pushes[i] = push;
        }
        if (moved < SWEEP_MIN) {
            break;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        // Walking up a slope is no reason to slow down.
        const cairn_vec3 normal = normal_for_walk(w, planes[i].normal);
        if (pushes[i] > 0.0f && !(w->grounded && can_walk_on(w, normal))) {
            const float into = float_min(vec3_dot(w->velocity, normal), 0.0f);
            w->velocity = vec3_sub_scaled(w->velocity, normal, into);
        }
    }
    return delta;
}

// ---- Casts

// Whether the mover can go by `delta`; else the fraction that it can, up to where its own surface
// touches.
static bool cast_walk(const walk *w, cairn_vec3 delta, float *fraction, cairn_ray_hit *hit) {
    const cairn_shape_def thin = capsule_of(w, 0.0f - w->skin);
    *fraction = 1.0f;
    if (cairn_world_shape_cast(w->world, &thin, pose_of(w), delta, &w->def->filter, hit) !=
        CAIRN_OK) {
        return false;
    }
    const float approach = float_max(0.0f - vec3_dot(hit->normal, delta), 1e-9f);
    *fraction = float_clamp(hit->fraction - w->skin / approach, 0.0f, 1.0f);
    return true;
}

// Goes as far towards position + delta as planes and casts allow.
static void slide(walk *w, cairn_vec3 delta) {
    const cairn_vec3 target = vec3_add(w->position, delta);
    cairn_mover_plane planes[CAIRN_MOVER_PLANES_MAX];
    for (uint32_t i = 0; i < SLIDES_MAX; ++i) {
        const uint32_t count = planes_within(w, w->skin, planes);
        bool inside = false;
        for (uint32_t k = 0; k < count; ++k) {
            inside = inside || planes[k].separation < 0.0f - w->skin;
        }
        cairn_vec3 way = solve_planes(w, planes, count, vec3_sub(target, w->position));
        float fraction = 1.0f;
        cairn_ray_hit hit;
        if (inside) {
            // A cast would start in what it overlaps; what pushes out is no farther than that.
            const float length = vec3_length(way);
            fraction = float_min(w->def->radius / float_max(length, 1e-9f), 1.0f);
        } else {
            (void)cast_walk(w, way, &fraction, &hit);
        }
        way = vec3_scale(way, fraction);
        w->position = vec3_add(w->position, way);
        if (vec3_length_squared(way) < SLIDE_MIN * SLIDE_MIN) {
            return;
        }
    }
}

// ---- Ground

typedef struct ground {
    bool found;
    float distance; // m, below the foot
    cairn_vec3 point;
    cairn_vec3 normal;
    cairn_body_id body;
} ground;

// Ground to walk on, at most `depth` below the foot.
static ground find_ground(const walk *w, float depth) {
    ground out = {.found = false};
    const cairn_vec3 down = vec3_scale(w->up, 0.0f - (depth + w->skin));
    const cairn_shape_def thin = capsule_of(w, 0.0f - w->skin);
    cairn_ray_hit hit;
    if (cairn_world_shape_cast(w->world, &thin, pose_of(w), down, &w->def->filter, &hit) !=
            CAIRN_OK ||
        hit.fraction == 0.0f) {
        return out;
    }
    out = (ground){.found = can_walk_on(w, hit.normal),
        .distance =
            hit.fraction * (depth + w->skin) - w->skin / float_max(along(w, hit.normal), RISE_MIN),
        .point = hit.point,
        .normal = hit.normal,
        .body = hit.body};
    if (!out.found && along(w, hit.normal) > 0.0f) {
        // On an edge the normal is that of the capsule. The surface behind the edge decides.
        const cairn_vec3 behind =
            vec3_normalize(horizontal(w, vec3_negate(hit.normal)), vec3_zero());
        const cairn_vec3 from =
            vec3_add_scaled(vec3_add_scaled(hit.point, behind, EDGE_DEPTH), w->up, EDGE_DEPTH);
        cairn_ray_hit surface;
        const cairn_status status = cairn_world_ray_closest(
            w->world, from, vec3_scale(w->up, -2.0f * EDGE_DEPTH), &w->def->filter, &surface);
        out.found = status == CAIRN_OK && surface.fraction > 0.0f && can_walk_on(w, surface.normal);
        out.normal = out.found ? surface.normal : out.normal;
    }
    return out;
}

static cairn_vec3 foot_of(const walk *w) {
    return vec3_sub_scaled(w->position, w->up, w->def->half_height + w->def->radius);
}

// Tries to go over what blocks the way: up, ahead, and down again. Keeps the result if it leads
// farther ahead and ends on ground.
static void climb(walk *w, const walk *start, cairn_vec3 ahead) {
    const float gone = vec3_dot(horizontal(w, vec3_sub(w->position, start->position)), ahead);
    walk over = *start;
    float rise = 1.0f;
    cairn_ray_hit hit;
    (void)cast_walk(&over, vec3_scale(over.up, over.def->step_height), &rise, &hit);
    const float height = rise * over.def->step_height;
    over.position = vec3_add_scaled(over.position, over.up, height);
    slide(&over, ahead);
    const ground below = find_ground(&over, height + over.skin);
    const cairn_vec3 moved = horizontal(w, vec3_sub(over.position, start->position));
    over.position = vec3_sub_scaled(over.position, over.up, below.found ? below.distance : 0.0f);
    // The round end of the capsule may rest on an edge that is higher than the foot.
    const float lifted = along(w, vec3_sub(below.point, foot_of(start)));
    if (below.found && lifted <= w->def->step_height + w->skin &&
        vec3_dot(moved, ahead) > gone + SLIDE_MIN * vec3_length(ahead)) {
        *w = over;
    }
}

static cairn_pose body_pose(const cairn_world *world, uint32_t slot) {
    const cairn_motion *motion = &world->state.motions[slot];
    return (cairn_pose){.position = motion->origin, .rotation = motion->rotation};
}

// By how far the ground has moved below the foot since the last move.
static cairn_vec3 carry_of(const walk *w, const cairn_mover *mover) {
    const uint32_t slot = cairn_body_slot(w->world, mover->ground);
    if (mover->on_ground == 0 || slot == CAIRN_INDEX_NONE) {
        return vec3_zero();
    }
    const cairn_vec3 now = pose_apply(body_pose(w->world, slot), mover->ground_point);
    const cairn_vec3 carry = vec3_sub(now, foot_of(w));
    const bool valid = vec3_length_squared(carry) < CARRY_MAX * CARRY_MAX;
    return vec3_select(valid, carry, vec3_zero());
}

// Goes by its velocity. On the ground the way follows the surface.
static void go(walk *w, cairn_vec3 ground_normal, float time) {
    cairn_vec3 delta = vec3_scale(w->velocity, time);
    if (!w->grounded) {
        slide(w, delta);
        return;
    }
    const cairn_vec3 ahead = horizontal(w, delta);
    const float slope = float_max(along(w, ground_normal), 0.1f);
    delta = vec3_sub_scaled(ahead, w->up, vec3_dot(ground_normal, ahead) / slope);
    w->velocity = horizontal(w, w->velocity);
    const walk start = *w;
    slide(w, delta);
    const float wanted = vec3_length_squared(ahead);
    const float gone = vec3_dot(vec3_sub(w->position, start.position), ahead);
    if (wanted > 0.0f && gone < BLOCKED_FRACTION * wanted && w->def->step_height > 0.0f) {
        climb(w, &start, ahead);
    }
}

// From the air it lands if it does not move away from the ground; on the ground it stays there,
// down steps as well.
static void settle(walk *w, cairn_mover *mover) {
    const float depth = w->grounded ? w->def->step_height : w->skin;
    ground below = find_ground(w, depth + w->skin);
    below.found =
        below.found && (w->grounded || vec3_dot(w->velocity, below.normal) <= LEAVE_SPEED);
    mover->on_ground = below.found ? 1 : 0;
    mover->ground = below.found ? below.body : CAIRN_ID_NULL;
    mover->ground_normal = vec3_select(below.found, vec3_clean(below.normal), vec3_zero());
    mover->ground_point = vec3_zero();
    if (below.found) {
        const uint32_t slot = cairn_body_slot(w->world, below.body);
        CAIRN_ASSERT(slot != CAIRN_INDEX_NONE);
        w->position = vec3_sub_scaled(w->position, w->up, below.distance);
        w->velocity = horizontal(w, w->velocity);
        mover->ground_point = vec3_clean(pose_apply_inverse(body_pose(w->world, slot), foot_of(w)));
    }
}

cairn_status cairn_mover_move(
    const cairn_world *world, const cairn_mover_def *def, cairn_mover *mover, float time) {
    const cairn_status checks[] = {def_check(def),
        cairn_check_vec3(mover->position, CAIRN_DISTANCE_MAX),
        cairn_check_vec3(mover->velocity, CAIRN_SPEED_MAX),
        cairn_check_vec3(mover->ground_point, CAIRN_VALID_DISTANCE),
        cairn_check_vec3(mover->ground_normal, 1.1f), cairn_check_float(time, 1e-6f, 1.0f)};
    const cairn_status status = cairn_check_all(checks, sizeof checks / sizeof checks[0]);
    if (status != CAIRN_OK) {
        return status;
    }
    walk w = walk_of(world, def, mover->position);
    const cairn_vec3 carry = carry_of(&w, mover);
    slide(&w, carry);
    w.velocity = mover->velocity;
    w.grounded = mover->on_ground != 0 && along(&w, mover->velocity) <= LEAVE_SPEED;
    go(&w, mover->ground_normal, time);
    settle(&w, mover);
    mover->ground_velocity = vec3_clean(vec3_scale(carry, 1.0f / time));
    mover->position = vec3_clean(w.position);
    mover->velocity = vec3_clean(w.velocity);
    return CAIRN_OK;
}
