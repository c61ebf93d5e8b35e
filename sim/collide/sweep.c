// SPDX-License-Identifier: MIT
#include "sim/collide/sweep.h"

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/body/gyroscopic.h"
#include "sim/body/shape.h"
#include "sim/collide/impact.h"
#include "sim/collide/material.h"
#include "sim/collide/mesh_impact.h"
#include "sim/collide/pair_cache.h"
#include "sim/collide/pair_list.h"
#include "sim/math/limits.h"
#include "sim/shape/distance.h"
#include "sim/state/awake_set.h"

// The way of a body from its reference pose to its pose now.
typedef struct body_way {
    cairn_vec3 displacement;
    cairn_quat rotation;
} body_way;

static body_way way_of(const cairn_world *world, uint32_t body) {
    const cairn_motion *motion = &world->state.motions[body];
    const cairn_quat q0 = world->pair_cache->reference_rotations[body];
    return (body_way){
        .displacement = vec3_sub(motion->position, world->state.reference_poses[body].position),
        .rotation = quat_multiply(motion->rotation, quat_conjugate(q0))};
}

// A bound of how far a displacement and a rotation take a point of the body.
static float way_length(const body_way *way, float radius) {
    return vec3_length(way->displacement) + 2.0f * radius * vec3_length(quat_vector(way->rotation));
}

static bool moved_far(const cairn_world *world, uint32_t body) {
    const body_way way = way_of(world, body);
    const cairn_pair_cache *cache = world->pair_cache;
    return way_length(&way, cache->turn_radii[body]) >
           CAIRN_SWEEP_FRACTION * cache->half_widths[body];
}

// Whether the body moved far, and otherwise than predicted.
static bool strayed(const cairn_world *world, uint32_t body) {
    const cairn_pair_cache *cache = world->pair_cache;
    const uint32_t first = world->shape_first[body];
    const body_way way = way_of(world, body);
    const float radius = cache->turn_radii[body];
    const float limit = CAIRN_SWEEP_FRACTION * cache->half_widths[body];
    if (first == 0 || !(way_length(&way, radius) > limit)) {
        return false;
    }
    if ((cache->reference_change[first - 1] & CAIRN_REFERENCE_FAST) == 0) {
        return true;
    }
    const cairn_predicted_motion *predicted = &cache->predicted_motions[body];
    if (radius > 0.0f && vec3_length(predicted->rotation) > CAIRN_SWEEP_TURN) {
        return true;
    }
    // A body that stopped short stayed on the predicted way.
    const float length_squared = vec3_length_squared(predicted->displacement);
    const float along = vec3_dot(way.displacement, predicted->displacement);
    const float part =
        length_squared > 0.0f ? float_clamp(along / length_squared, 0.0f, 1.0f) : 1.0f;
    // A chord is shorter than its arc by less than a 24th of the cube of the angle.
    const cairn_vec3 turn = vec3_scale(predicted->rotation, part);
    const float sign = way.rotation.w < 0.0f ? -2.0f : 2.0f;
    const float chord = vec3_distance(vec3_scale(quat_vector(way.rotation), sign), turn);
    const float angle = vec3_length(turn);
    const cairn_vec3 aside = vec3_sub_scaled(way.displacement, predicted->displacement, part);
    return vec3_length(aside) + radius * (chord + angle * angle * angle / 24.0f) > limit;
}

// A ball around the ways of two bodies: whether they may meet.
static bool ways_overlap(const cairn_world *world, uint32_t body, uint32_t other) {
    const cairn_vec3 a = world->state.reference_poses[body].position;
    const cairn_vec3 b = world->state.reference_poses[other].position;
    const body_way way_a = way_of(world, body);
    const body_way way_b = way_of(world, other);
    const float *radii = world->pair_cache->bounding_radii;
    const float reach = radii[body] + radii[other] + vec3_length(way_a.displacement) +
                        vec3_length(way_b.displacement);
    return vec3_length_squared(vec3_sub(b, a)) <= reach * reach;
}

static bool in_fat_aabb(const cairn_world *world, uint32_t body, uint32_t shape) {
    const cairn_aabb_array *fat = &world->pair_cache->fat_aabbs;
    const cairn_vec3 from = world->state.reference_poses[body].position;
    const cairn_vec3 to = world->state.motions[body].position;
    const float radius = world->pair_cache->bounding_radii[body];
    const cairn_vec3 lower = vec3_min(from, to);
    const cairn_vec3 upper = vec3_max(from, to);
    return fat->lower[0][shape] <= upper.x + radius && lower.x - radius <= fat->upper[0][shape] &&
           fat->lower[1][shape] <= upper.y + radius && lower.y - radius <= fat->upper[1][shape] &&
           fat->lower[2][shape] <= upper.z + radius && lower.z - radius <= fat->upper[2][shape];
}

// Puts a ball in the middle of a shape in its place: half as wide, so that it is inside.
static void shrink_to_ball(
    cairn_shape_view *shape, cairn_geometry *ball, cairn_quat rotation, cairn_vec3 *offset) {
    *offset = vec3_add(*offset, quat_rotate(rotation, cairn_shape_view_middle(shape)));
    *ball = (cairn_geometry){
        .kind = CAIRN_SHAPE_SPHERE, .radius = 0.5f * cairn_shape_view_half_width(shape)};
    *shape = (cairn_shape_view){.geometry = ball};
}

// How a body moves over what is beside it of a kinematic body.
typedef struct relative_way {
    float slide; // m
    float turn;  // rad, of the kinematic body
} relative_way;

static relative_way way_beside(const cairn_world *world, uint32_t body, uint32_t kinematic) {
    const cairn_reference_pose *references = world->state.reference_poses;
    const body_way way = way_of(world, body);
    const body_way other = way_of(world, kinematic);
    const cairn_vec3 turn = cairn_vector_of_rotation(other.rotation);
    const cairn_vec3 arm = vec3_sub(references[body].position, references[kinematic].position);
    const cairn_vec3 beside = vec3_add(other.displacement, vec3_cross(turn, arm));
    return (relative_way){
        .slide = vec3_distance(way.displacement, beside), .turn = vec3_length(turn)};
}

// The normal of a contact does not turn during a tick, so what slides over a plate that turns
// sinks into it by the slide times the turn.
static bool slides_in(const relative_way *way, float half_width) {
    return way->slide * way->turn > CAIRN_SWEEP_SINK_FRACTION * half_width;
}

// What stops a body.
typedef struct stop {
    float fraction;     // of its way; 1: nothing does
    bool overlapped;    // it was inside the obstacle when the tick began
    float sinks;        // m, > 0: it is not stopped but taken out of an obstacle that turns
    cairn_vec3 towards; // unit, from the body to the obstacle; zero if unknown
    uint32_t obstacle;  // body
    float restitution;
} stop;

// A body that slides over an obstacle that turns, or is hit by one, is not stopped: it goes its
// way, on the surface as that is when the tick ends.
static stop slide_of_pair(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_pair_pose *start, const cairn_pair_motion *motion, const cairn_impact *impact,
    bool body_is_a, uint32_t obstacle) {
    cairn_vec3 axis;
    const float sinks = cairn_impact_sinks(a, b, start, motion, impact, !body_is_a, &axis);
    return (stop){.fraction = sinks > 0.0f ? impact->fraction : 1.0f,
        .sinks = sinks,
        .towards = body_is_a ? axis : vec3_negate(axis),
        .obstacle = obstacle};
}

// What the pair does to the body. Shapes that overlapped from the start are swept to a part of
// their width, and if they overlapped by more than that, the middle of the body is swept.
static stop stop_of_pair(const cairn_world *world, cairn_pair pair, bool body_is_a) {
    const cairn_shape_transform *transforms = world->pair_cache->transforms;
    cairn_shape_view a = cairn_shape_view_at(world, pair.shape_a);
    cairn_shape_view b = cairn_shape_view_at(world, pair.shape_b);
    cairn_pair_pose start = cairn_pair_reference_pose(world, pair);
    const body_way way_a = way_of(world, transforms[pair.shape_a].body);
    const body_way way_b = way_of(world, transforms[pair.shape_b].body);
    const cairn_pair_motion motion = {
        .displacement = vec3_sub(way_b.displacement, way_a.displacement),
        .rotation_a = cairn_vector_of_rotation(way_a.rotation),
        .rotation_b = cairn_vector_of_rotation(way_b.rotation)};
    const float half_width =
        float_min(cairn_shape_view_half_width(&a), cairn_shape_view_half_width(&b));
    const float deep = CAIRN_IMPACT_DEPTH_FRACTION * half_width;
    const float depths[3] = {float_min(CAIRN_SWEEP_DEPTH, deep), deep, CAIRN_IMPACT_DEPTH};
    const uint32_t obstacle = transforms[body_is_a ? pair.shape_b : pair.shape_a].body;
    bool slides = false;
    if (world->state.bodies[obstacle].kind == CAIRN_BODY_KINEMATIC) {
        const uint32_t body = transforms[body_is_a ? pair.shape_a : pair.shape_b].body;
        const relative_way way = way_beside(world, body, obstacle);
        slides = slides_in(&way, world->pair_cache->half_widths[body]);
    }
    cairn_geometry ball;
    cairn_impact impact = {.fraction = 1.0f};
    for (uint32_t i = 0; i < 3; ++i) {
        if (i == 2 && body_is_a) {
            shrink_to_ball(&a, &ball, start.shape_rotation_a, &start.shape_offset_a);
        } else if (i == 2) {
            shrink_to_ball(&b, &ball, start.shape_rotation_b, &start.shape_offset_b);
        }
        const bool mesh = a.mesh != NULL || b.mesh != NULL;
        if (!(mesh ? cairn_mesh_impact_find(&a, &b, &start, &motion, depths[i], &impact)
                   : cairn_impact_find(&a, &b, &start, &motion, depths[i], &impact))) {
            return (stop){.fraction = 1.0f};
        }
        if (i == 0 && slides) {
            const stop out = slide_of_pair(&a, &b, &start, &motion, &impact, body_is_a, obstacle);
            if (!vec3_is_zero(out.towards)) {
                return out;
            }
        }
        if (impact.fraction > 0.0f || i == 2) {
            const cairn_vec3 moves = cairn_pair_motion_beside(&start, &motion, !body_is_a);
            const bool closes = vec3_dot(moves, impact.axis) < 0.0f;
            return (stop){.fraction = impact.fraction > 0.0f || closes ? impact.fraction : 1.0f,
                .overlapped = i > 0,
                .towards = body_is_a ? impact.axis : vec3_negate(impact.axis),
                .obstacle = obstacle,
                .restitution = cairn_contact_material_of(
                    &world->state.shapes[pair.shape_a], &world->state.shapes[pair.shape_b])
                                   .restitution};
        }
    }
    return (stop){.fraction = 1.0f};
}

// Whether the way of a shape may take it so far into an obstacle that it has to stop; a bound.
static bool may_sink_in(const cairn_world *world, uint32_t shape, uint32_t obstacle) {
    const cairn_pair_cache *cache = world->pair_cache;
    const uint32_t body = cache->transforms[shape].body;
    const cairn_motion *motion = &world->state.motions[body];
    const body_way way = way_of(world, body);
    const cairn_quat rotation = cairn_pair_cache_shape_rotation(world, shape, motion->rotation);
    const cairn_pose end = {.position = vec3_add(motion->position,
                                cairn_pair_cache_shape_offset(world, shape, motion->rotation)),
        .rotation = rotation};
    const cairn_shape_view view = cairn_shape_view_at(world, shape);
    const cairn_shape_view other_view = cairn_shape_view_at(world, obstacle);
    const cairn_aabb at_end = cairn_shape_view_aabb(&view, &end);
    const cairn_aabb *at_start = &cache->transforms[shape].aabb;
    const cairn_aabb *other = &cache->transforms[obstacle].aabb;
    // Half the square of half the angle, times the radius, is more than an arc leaves its chord.
    const float bend =
        0.5f * cache->turn_radii[body] * vec3_length_squared(quat_vector(way.rotation));
    const float half_width =
        float_min(cairn_shape_view_half_width(&view), cairn_shape_view_half_width(&other_view));
    const float sunk = float_min(CAIRN_SWEEP_DEPTH, CAIRN_IMPACT_DEPTH_FRACTION * half_width);
    // The bounding boxes of the cache are larger by half the contact margin each.
    const float more = bend - sunk - CAIRN_CONTACT_MARGIN;
    const float half = 0.5f * CAIRN_CONTACT_MARGIN;
    const cairn_vec3 halves = vec3(half, half, half);
    const cairn_vec3 all = vec3(more, more, more);
    const cairn_vec3 lower = vec3_min(at_start->lower, vec3_sub(at_end.lower, halves));
    const cairn_vec3 upper = vec3_max(at_start->upper, vec3_add(at_end.upper, halves));
    const cairn_aabb swept = {.lower = vec3_sub(lower, all), .upper = vec3_add(upper, all)};
    return world->state.bodies[cache->transforms[obstacle].body].kind != CAIRN_BODY_STATIC ||
           cairn_aabbs_overlap(&swept, other);
}

static void sweep_against(const cairn_world *world, uint32_t body, uint32_t obstacle, stop *first) {
    for (uint32_t next = world->shape_first[body]; next != 0; next = world->shape_next[next - 1]) {
        const uint32_t shape = next - 1;
        const cairn_pair pair = {.shape_a = shape < obstacle ? shape : obstacle,
            .shape_b = shape < obstacle ? obstacle : shape};
        const uint32_t flags =
            world->state.shapes[shape].flags | world->state.shapes[obstacle].flags;
        if ((flags & CAIRN_SHAPE_SENSOR) == 0 && cairn_pair_may_collide(world, pair) &&
            may_sink_in(world, shape, obstacle)) {
            const stop found = stop_of_pair(world, pair, shape < obstacle);
            *first = found.fraction < first->fraction ? found : *first;
        }
    }
}

// ---- Obstacles that move

// The shapes of kinematic bodies that are fast. If there are more, all obstacles are looked at.
typedef struct moving_obstacles {
    uint32_t shapes[CAIRN_OBSTACLES_MAX];
    uint32_t count; // CAIRN_OBSTACLES_MAX + 1: too many
} moving_obstacles;

static void list_moving_obstacles(const cairn_world *world, moving_obstacles *out) {
    const cairn_pair_cache *cache = world->pair_cache;
    out->count = 0;
    for (uint32_t i = 0; i < world->awake_set->body_count; ++i) {
        const uint32_t body = world->awake_set->bodies[i];
        const uint32_t shape = world->shape_first[body];
        if (world->state.bodies[body].kind != CAIRN_BODY_KINEMATIC || shape == 0 ||
            (cache->reference_change[shape - 1] & CAIRN_REFERENCE_FAST) == 0) {
            continue;
        }
        for (uint32_t next = shape; next != 0; next = world->shape_next[next - 1]) {
            if (out->count == CAIRN_OBSTACLES_MAX) {
                out->count = CAIRN_OBSTACLES_MAX + 1;
                return;
            }
            out->shapes[out->count++] = next - 1;
        }
    }
}

// Impacts with meshes are not predicted.
static bool moves_unseen(const cairn_world *world, uint32_t body, uint32_t obstacle) {
    const relative_way way = way_beside(world, body, world->pair_cache->transforms[obstacle].body);
    const float half_width = world->pair_cache->half_widths[body];
    return slides_in(&way, half_width) || (world->state.shapes[obstacle].geometry.mesh != 0 &&
                                              way.slide > CAIRN_SWEEP_FRACTION * half_width);
}

static void sweep_against_moving(
    const cairn_world *world, uint32_t body, const moving_obstacles *moving, stop *first) {
    const cairn_pair_cache *cache = world->pair_cache;
    const bool many = moving->count > CAIRN_OBSTACLES_MAX;
    const uint32_t *obstacles = many ? cache->obstacles : moving->shapes;
    const uint32_t count = many ? cache->obstacle_count : moving->count;
    for (uint32_t i = 0; i < count; ++i) {
        if (in_fat_aabb(world, body, obstacles[i]) && moves_unseen(world, body, obstacles[i])) {
            sweep_against(world, body, obstacles[i], first);
        }
    }
}

// What stops the body first among all obstacles, and other bodies if it is a bullet; `meshes`: only
// meshes and height fields do.
static stop stop_of_body(const cairn_world *world, uint32_t body, bool meshes) {
    const cairn_pair_cache *cache = world->pair_cache;
    stop first = {.fraction = 1.0f};
    CAIRN_ASSERT(!cache->obstacles_stale);
    for (uint32_t i = 0; i < cache->obstacle_count; ++i) {
        if ((!meshes || world->state.shapes[cache->obstacles[i]].geometry.mesh != 0) &&
            in_fat_aabb(world, body, cache->obstacles[i])) {
            sweep_against(world, body, cache->obstacles[i], &first);
        }
    }
    const uint32_t shapes =
        world->state.bodies[body].bullet != 0 && !meshes ? world->state.settings->shape_slots : 0;
    for (uint32_t i = 0; i < shapes; ++i) {
        const uint32_t other = world->state.shapes[i].body;
        if (cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, i) && other != body &&
            world->state.bodies[other].kind == CAIRN_BODY_DYNAMIC &&
            ways_overlap(world, body, other)) {
            sweep_against(world, body, i, &first);
        }
    }
    return first;
}

// Where the centre of a body was, and how the body was turned, after a fraction of its way.
static cairn_pose pose_on_way(const cairn_world *world, uint32_t body, float fraction) {
    CAIRN_ASSERT(fraction >= 0.0f && fraction < 1.0f);
    const body_way way = way_of(world, body);
    const cairn_vec3 turn = vec3_scale(cairn_vector_of_rotation(way.rotation), fraction);
    const cairn_quat q0 = world->pair_cache->reference_rotations[body];
    const cairn_vec3 p0 = world->state.reference_poses[body].position;
    return (cairn_pose){.position = vec3_add_scaled(p0, way.displacement, fraction),
        .rotation = quat_normalize(quat_multiply(cairn_rotation_of_vector(turn), q0))};
}

static void put_at(cairn_world *world, uint32_t body, cairn_pose pose) {
    cairn_motion *motion = &world->state.motions[body];
    motion->angular_velocity = cairn_gyroscopic_turned_to(world, body, pose.rotation);
    motion->position = vec3_clean(pose.position);
    motion->rotation = pose.rotation;
    const cairn_vec3 centre = quat_rotate(motion->rotation, world->state.bodies[body].centre);
    motion->origin = vec3_clean(vec3_sub(motion->position, centre));
}

// The pose after what is left of the way of an obstacle that goes on and takes the body along. Left
// where it was stopped, the body would be behind a plate that moves.
static cairn_pose carried(
    const cairn_world *world, uint32_t obstacle, float fraction, cairn_pose pose) {
    const cairn_motion *end = &world->state.motions[obstacle];
    const cairn_pose from = pose_on_way(world, obstacle, fraction);
    const cairn_quat turn = quat_multiply(end->rotation, quat_conjugate(from.rotation));
    const cairn_vec3 arm = quat_rotate(turn, vec3_sub(pose.position, from.position));
    return (cairn_pose){.position = vec3_add(end->position, arm),
        .rotation = quat_normalize(quat_multiply(turn, pose.rotation))};
}

// A body that is outside the obstacle keeps its velocity, so that the contact of the next tick can
// act on it. If it is inside, its contacts did not hold it: it bounces, or it loses the velocity
// towards the obstacle. A dynamic obstacle stops as well; otherwise it would pass through the body.
static void stop_body(cairn_world *world, uint32_t body, const stop *by) {
    if (by->sinks > 0.0f) {
        const cairn_motion *end = &world->state.motions[body];
        put_at(world, body,
            (cairn_pose){.position = vec3_sub_scaled(end->position, by->towards, by->sinks),
                .rotation = end->rotation});
        return;
    }
    cairn_pose pose = pose_on_way(world, body, by->fraction);
    if (cairn_body_takes_impulses(world, by->obstacle)) {
        put_at(world, by->obstacle, pose_on_way(world, by->obstacle, by->fraction));
    } else if (world->state.bodies[by->obstacle].kind == CAIRN_BODY_KINEMATIC) {
        pose = carried(world, by->obstacle, by->fraction, pose);
    }
    put_at(world, body, pose);
    if (by->overlapped) {
        cairn_motion *motion = &world->state.motions[body];
        const cairn_motion *other = &world->state.motions[by->obstacle];
        const cairn_vec3 arm = vec3_sub(motion->position, other->position);
        const cairn_vec3 beside =
            vec3_add(other->linear_velocity, vec3_cross(other->angular_velocity, arm));
        const cairn_vec3 relative = vec3_sub(motion->linear_velocity, beside);
        const float approach = float_max(vec3_dot(relative, by->towards), 0.0f);
        const bool bounces = approach > world->state.settings->restitution_threshold;
        const float change = approach + (bounces ? by->restitution * approach : 0.0f);
        motion->linear_velocity =
            vec3_clean(vec3_sub_scaled(motion->linear_velocity, by->towards, change));
    }
}

// Sweeps the bodies, or the bullets, among those in these slots. Returns whether there are others.
static bool sweep_some(cairn_world *world, const uint32_t *slots, uint32_t count,
    const moving_obstacles *moving, uint32_t bullet) {
    bool others = false;
    for (uint32_t i = 0; i < count; ++i) {
        CAIRN_ASSERT(i == 0 || slots[i - 1] < slots[i]);
        if (world->state.bodies[slots[i]].bullet != bullet) {
            others = true;
            continue;
        }
        if (!cairn_body_takes_impulses(world, slots[i])) {
            continue;
        }
        // Impacts with meshes are not predicted.
        // Nor is what presses on a bullet from behind while it touches a thin obstacle.
        const bool by_itself =
            strayed(world, slots[i]) || (bullet != 0 && moved_far(world, slots[i]));
        stop by = {.fraction = 1.0f};
        if (by_itself || (world->mesh_shapes != 0 && moved_far(world, slots[i]))) {
            by = stop_of_body(world, slots[i], !by_itself);
        }
        if (!by_itself && moving->count != 0) {
            sweep_against_moving(world, slots[i], moving, &by);
        }
        if (by.fraction < 1.0f) {
            stop_body(world, slots[i], &by);
        }
    }
    return others;
}

// Impacts with meshes are not predicted.
bool cairn_sweep_is_of_all(const cairn_world *world) {
    if (world->mesh_shapes != 0) {
        return true;
    }
    moving_obstacles moving;
    list_moving_obstacles(world, &moving);
    return moving.count != 0;
}

// Bullets last: they meet the others where those have stopped.
void cairn_bodies_sweep(cairn_world *world, const uint32_t *slots, uint32_t count, bool kinematic) {
    moving_obstacles moving;
    moving.count = 0;
    if (kinematic) {
        list_moving_obstacles(world, &moving);
    }
    if (sweep_some(world, slots, count, &moving, 0)) {
        (void)sweep_some(world, slots, count, &moving, 1);
    }
}
