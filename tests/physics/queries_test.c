// SPDX-License-Identifier: MIT
// Rays, casts, overlaps and distances, each against its closed form; the order of results, and
// filters.

#include "tests/physics/query_kit.h"

#include <string.h>

#include "base/random.h"

// ---- Closed forms of casts

static cairn_ray_hit cast(
    const cairn_world *world, cairn_shape_def shape, cairn_vec3 from, cairn_vec3 translation) {
    const cairn_query_filter filter = all_shapes();
    cairn_ray_hit hit;
    EXPECT_OK(cairn_world_shape_cast(world, &shape, pose_at(from), translation, &filter, &hit));
    return hit;
}

// A ball of radius r that flies at a wall touches it r before its centre does.
TEST("a ball meets a wall one radius early") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_shape_def wall = box(0.1f, 5.0f, 5.0f);
    put_static(world, vec3(10.1f, 0.0f, 0.0f), &wall);
    const cairn_ray_hit hit =
        cast(world, ball(0.5f), vec3(0.0f, 1.0f, 2.0f), vec3(20.0f, 0.0f, 0.0f));
    expect_near(hit.fraction, 9.5f / 20.0f, 1e-6f);
    expect_vec3(hit.normal, vec3(-1.0f, 0.0f, 0.0f), 1e-5f);
    expect_vec3(hit.point, vec3(10.0f, 1.0f, 2.0f), 1e-4f);
}

// Two balls whose centres pass at the distance b touch when the centres are r1 + r2 apart: the
// mover's centre is then sqrt((r1 + r2)^2 - b^2) before the other one.
TEST("balls meet where their centres are two radii apart") {
    for (int i = 0; i <= 19; ++i) {
        SCOPED(cairn_world) *world = kit_world(NULL);
        const cairn_shape_def target = ball(0.6f);
        put_static(world, vec3(8.0f, 0.0f, 0.0f), &target);
        const float b = 0.05f * (float)i;
        const cairn_ray_hit hit =
            cast(world, ball(0.4f), vec3(0.0f, b, 0.0f), vec3(10.0f, 0.0f, 0.0f));
        const float before = sqrtf(1.0f - b * b);
        expect_near(hit.fraction, (8.0f - before) / 10.0f, 1e-5f);
        expect_vec3(hit.normal, vec3(-before, b, 0.0f), 1e-3f);
    }
}

TEST("balls that pass beside each other do not meet") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_query_filter filter = all_shapes();
    const cairn_shape_def target = ball(0.6f);
    const cairn_shape_def moving = ball(0.4f);
    put_static(world, vec3(8.0f, 0.0f, 0.0f), &target);
    cairn_ray_hit hit;
    assert_int_equal(cairn_world_shape_cast(world, &moving, pose_at(vec3(0.0f, 1.001f, 0.0f)),
                         vec3(10.0f, 0.0f, 0.0f), &filter, &hit),
        CAIRN_NOT_FOUND);
    assert_int_equal(hit.shape, CAIRN_ID_NULL);
}

// A cube that falls on its corner meets the ground when it has fallen its height less half its
// space diagonal, here sqrt(3) / 2 m.
TEST("a cube on its corner meets the ground below its diagonal") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    const cairn_query_filter filter = all_shapes();
    const cairn_shape_def cube = box(0.5f, 0.5f, 0.5f);
    // Turns (1, 1, 1) / sqrt(3) down: about their cross product.
    const float cosine = -1.0f / sqrtf(3.0f);
    const float half = sqrtf(0.5f * (1.0f + cosine));
    const float sine = sqrtf(1.0f - half * half);
    const cairn_quat turn = {
        .x = sine * sqrtf(0.5f), .y = 0.0f, .z = -sine * sqrtf(0.5f), .w = half};
    const cairn_vec3 corner = quat_rotate(turn, vec3(0.5f, 0.5f, 0.5f));
    expect_vec3(corner, vec3(0.0f, -0.8660254f, 0.0f), 1e-5f);
    cairn_ray_hit hit;
    EXPECT_OK(cairn_world_shape_cast(world, &cube,
        (cairn_pose){.position = vec3(3.0f, 5.0f, 1.0f), .rotation = turn},
        vec3(0.0f, -10.0f, 0.0f), &filter, &hit));
    expect_near(hit.fraction, (5.0f - 0.8660254f) / 10.0f, 1e-6f);
    expect_vec3(hit.point, vec3(3.0f, 0.0f, 1.0f), 1e-4f);
    expect_vec3(hit.normal, vec3(0.0f, 1.0f, 0.0f), 1e-6f);
}

// The same edge of two crossed bars: they meet edge on edge.
TEST("crossed bars meet on their edges") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_query_filter filter = all_shapes();
    const float h = sqrtf(0.5f);
    cairn_body_def def = cairn_body_def_default();
    def.kind = CAIRN_BODY_STATIC;
    // On its edge, along x.
    def.rotation = (cairn_quat){.x = sinf(0.3926991f), .w = cosf(0.3926991f)};
    const cairn_shape_def lower = box(2.0f, 0.1f, 0.1f);
    kit_body(world, &def, &lower);
    const cairn_shape_def upper = box(0.1f, 0.1f, 2.0f);
    cairn_ray_hit hit;
    EXPECT_OK(cairn_world_shape_cast(world, &upper,
        (cairn_pose){.position = vec3(0.3f, 2.0f, 0.2f),
            .rotation = {.z = sinf(0.3926991f), .w = cosf(0.3926991f)}},
        vec3(0.0f, -4.0f, 0.0f), &filter, &hit));
    expect_near(hit.fraction, (2.0f - 0.4f * h) / 4.0f, 1e-5f);
    expect_vec3(hit.normal, vec3(0.0f, 1.0f, 0.0f), 1e-3f);
    expect_vec3(hit.point, vec3(0.3f, 0.2f * h, 0.0f), 1e-3f);
}

TEST("a cast that starts inside hits at once") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_shape_def target = box(1.0f, 1.0f, 1.0f);
    put_static(world, vec3_zero(), &target);
    const cairn_shape_def probes[] = {ball(0.2f), box(0.2f, 0.2f, 0.2f), capsule(0.1f, 0.2f)};
    for (int i = 0; i < 3; ++i) {
        const cairn_ray_hit hit =
            cast(world, probes[i], vec3(0.9f, 0.1f, 0.0f), vec3(0.0f, 3.0f, 0.0f));
        assert_true(hit.fraction == 0.0f);
        expect_vec3(hit.normal, vec3(0.0f, -1.0f, 0.0f), 0.0f);
    }
}

// A capsule that stands on the ground may slide along it and rise from it.
TEST("a cast that only touches may leave") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_query_filter filter = all_shapes();
    const cairn_shape_def floor = box(20.0f, 1.0f, 20.0f);
    put_static(world, vec3(0.0f, -1.0f, 0.0f), &floor);
    const cairn_shape_def figure = capsule(0.3f, 0.6f);
    const cairn_vec3 ways[] = {vec3(1.0f, 0.0f, 0.0f), vec3(0.0f, 1.0f, 0.0f)};
    cairn_ray_hit hit;
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(cairn_world_shape_cast(world, &figure, pose_at(vec3(0.0f, 0.9f, 0.0f)),
                             ways[i], &filter, &hit),
            CAIRN_NOT_FOUND);
    }
    const cairn_ray_hit down = cast(world, figure, vec3(0.0f, 0.9f, 0.0f), vec3(0.0f, -1.0f, 0.0f));
    expect_near(down.fraction, 0.0f, 1e-5f);
    expect_vec3(down.normal, vec3(0.0f, 1.0f, 0.0f), 1e-5f);
}

TEST("a cast refuses what has no answer") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    const cairn_query_filter filter = all_shapes();
    cairn_shape_def shape = ball(0.5f);
    const cairn_pose at = pose_at(vec3(0.0f, 2.0f, 0.0f));
    const cairn_vec3 down = vec3(0.0f, -5.0f, 0.0f);
    cairn_ray_hit hit;
    assert_int_equal(cairn_world_shape_cast(world, &shape, at, vec3(0, NAN, 0), &filter, &hit),
        CAIRN_NON_FINITE);
    assert_int_equal(cairn_world_shape_cast(world, &shape, at, vec3(0, 1e9f, 0), &filter, &hit),
        CAIRN_INVALID_ARGUMENT);
    shape.radius = -1.0f;
    assert_int_equal(
        cairn_world_shape_cast(world, &shape, at, down, &filter, &hit), CAIRN_INVALID_ARGUMENT);
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    assert_int_equal(
        cairn_world_shape_cast(world, &shape, at, down, &filter, &hit), CAIRN_INVALID_ARGUMENT);
    shape.kind = CAIRN_SHAPE_HULL;
    shape.hull = 77;
    assert_int_equal(
        cairn_world_shape_cast(world, &shape, at, down, &filter, &hit), CAIRN_NOT_FOUND);
    assert_int_equal(hit.shape, CAIRN_ID_NULL);
}

// ---- Closed forms of distances

TEST("the nearest point of a box is on its face edge or corner") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_query_filter filter = all_shapes();
    const cairn_shape_def target = box(1.0f, 2.0f, 3.0f);
    put_static(world, vec3_zero(), &target);
    const cairn_vec3 from[] = {
        vec3(4.0f, 0.5f, -1.0f), vec3(4.0f, 6.0f, 1.5f), vec3(-3.0f, -4.0f, 4.0f)};
    const cairn_vec3 on[] = {
        vec3(1.0f, 0.5f, -1.0f), vec3(1.0f, 2.0f, 1.5f), vec3(-1.0f, -2.0f, 3.0f)};
    const float distances[] = {3.0f, 5.0f, 3.0f};
    for (int i = 0; i < 3; ++i) {
        cairn_closest found;
        EXPECT_OK(cairn_world_closest_to_point(world, from[i], 10.0f, &filter, &found));
        expect_near(found.distance, distances[i], 1e-5f);
        expect_vec3(found.point, on[i], 1e-5f);
        expect_vec3(found.probe_point, from[i], 1e-5f);
        expect_vec3(vec3_add_scaled(found.point, found.normal, found.distance), from[i], 1e-4f);
        assert_int_equal(
            cairn_world_closest_to_point(world, from[i], distances[i] - 0.01f, &filter, &found),
            CAIRN_NOT_FOUND);
    }
}

// Two capsules at right angles: the distance of their axes less both radii.
TEST("crossed capsules are as far apart as their axes less the radii") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_query_filter filter = all_shapes();
    const cairn_shape_def upright = capsule(0.3f, 2.0f);
    put_static(world, vec3_zero(), &upright);
    const cairn_shape_def level = capsule(0.2f, 1.5f);
    const cairn_pose pose = {
        .position = vec3(0.7f, 1.0f, 4.0f), .rotation = {.z = sqrtf(0.5f), .w = sqrtf(0.5f)}};
    cairn_closest found;
    EXPECT_OK(cairn_world_closest_to_shape(world, &level, pose, 10.0f, &filter, &found));
    expect_near(found.distance, 3.5f, 1e-5f);
    expect_vec3(found.point, vec3(0.0f, 1.0f, 0.3f), 1e-4f);
    expect_vec3(found.probe_point, vec3(0.0f, 1.0f, 3.8f), 1e-4f);
    expect_vec3(found.normal, vec3(0.0f, 0.0f, 1.0f), 1e-5f);
}

// Above the ground at any tilt: the height of the lowest corner.
TEST("a box is as far from the ground as its lowest corner") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    const cairn_query_filter filter = all_shapes();
    const cairn_shape_def shape = box(0.5f, 1.0f, 2.0f);
    cairn_random random = cairn_random_of(5);
    for (int i = 0; i < 100; ++i) {
        cairn_quat turn = {.w = 1.0f};
        turn.x = cairn_random_unit(&random) - 0.5f;
        turn.y = cairn_random_unit(&random) - 0.5f;
        turn.z = cairn_random_unit(&random) - 0.5f;
        turn = quat_normalize(turn);
        float lowest = 1e9f;
        for (int k = 0; k < 8; ++k) {
            const cairn_vec3 corner = vec3((k & 1) != 0 ? 0.5f : -0.5f, (k & 2) != 0 ? 1.0f : -1.0f,
                (k & 4) != 0 ? 2.0f : -2.0f);
            lowest = fminf(lowest, 5.0f + quat_rotate(turn, corner).y);
        }
        const cairn_pose pose = {.position = vec3(1.0f, 5.0f, 2.0f), .rotation = turn};
        cairn_closest found;
        EXPECT_OK(cairn_world_closest_to_shape(world, &shape, pose, 10.0f, &filter, &found));
        expect_near(found.distance, lowest, 1e-5f);
        expect_near(found.point.y, 0.0f, 1e-5f);
    }
}

TEST("what overlaps is at distance zero") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_query_filter filter = all_shapes();
    const cairn_shape_def target = box(1.0f, 1.0f, 1.0f);
    put_static(world, vec3_zero(), &target);
    cairn_closest found;
    EXPECT_OK(cairn_world_closest_to_point(world, vec3(0.2f, 0.3f, 0.9f), 1.0f, &filter, &found));
    assert_true(found.distance == 0.0f);
    expect_vec3(found.point, vec3(0.2f, 0.3f, 0.9f), 0.0f);
}

// ---- Casts and distances against overlaps

static float unit(cairn_random *random) {
    return 2.0f * cairn_random_unit(random) - 1.0f;
}

static cairn_pose random_pose(cairn_random *random, float width) {
    const cairn_vec3 position =
        vec3(width * unit(random), width * unit(random), width * unit(random));
    cairn_quat turn = {.x = unit(random), .y = unit(random)};
    turn.z = unit(random);
    turn.w = 0.1f + cairn_random_unit(random);
    return (cairn_pose){.position = position, .rotation = quat_normalize(turn)};
}

static cairn_shape_def any_shape(uint32_t kind, cairn_hull_id hull) {
    cairn_shape_def shapes[] = {ball(0.4f), capsule(0.2f, 0.7f), box(0.3f, 0.9f, 0.5f), ball(1.0f),
        capsule(0.5f, 0.6f), capsule(0.7f, 0.5f)};
    shapes[3].kind = CAIRN_SHAPE_HULL;
    shapes[3].hull = hull;
    shapes[4].kind = CAIRN_SHAPE_CYLINDER;
    shapes[5].kind = CAIRN_SHAPE_CONE;
    return shapes[kind];
}

static cairn_world *world_with_hull(cairn_hull_id *hull) {
    static const cairn_vec3 points[7] = {{0.7f, 0.0f, 0.0f}, {-0.6f, 0.1f, 0.0f},
        {0.0f, 0.9f, 0.1f}, {0.1f, -0.5f, 0.0f}, {0.0f, 0.0f, 0.6f}, {0.0f, 0.1f, -0.8f},
        {0.5f, 0.5f, 0.4f}};
    cairn_world_def def = cairn_world_def_default();
    def.hull_capacity = 1;
    def.body_capacity = 2;
    def.shape_capacity = 2;
    def.contact_capacity = 2;
    cairn_world *world = kit_world(&def);
    EXPECT_OK(cairn_hull_create(world, points, 7, hull));
    return world;
}

static bool overlaps_at(
    const cairn_world *world, const cairn_shape_def *probe, cairn_pose pose, cairn_vec3 moved) {
    const cairn_query_filter filter = all_shapes();
    pose.position = vec3_add(pose.position, moved);
    return cairn_world_overlap_shape(world, probe, pose, &filter, NULL, 0) > 0;
}

// Puts a target of each kind into a world and calls `compare` with probes of each kind.
static void for_all_kinds(void (*compare)(const cairn_world *world, const cairn_shape_def *probe,
    cairn_pose pose, cairn_random *random)) {
    cairn_random random = cairn_random_of(11);
    for (uint32_t i = 0; i < 90; ++i) {
        cairn_hull_id hull = 0;
        SCOPED(cairn_world) *world = world_with_hull(&hull);
        const cairn_pose at = random_pose(&random, 5.0f);
        cairn_body_def def = cairn_body_def_default();
        def.kind = CAIRN_BODY_STATIC;
        def.position = at.position;
        def.rotation = at.rotation;
        const cairn_shape_def target = any_shape(i % 6, hull);
        kit_body(world, &def, &target);
        for (uint32_t k = 0; k < 18; ++k) {
            const cairn_shape_def probe = any_shape(k % 6, hull);
            cairn_pose pose = random_pose(&random, 4.0f);
            pose.position = vec3_add(pose.position, at.position);
            compare(world, &probe, pose, &random);
        }
    }
}

// A millimetre before the hit the shapes do not overlap, a millimetre after it, along the normal,
// they do. If nothing is hit they overlap nowhere on the way.
static void compare_cast(
    const cairn_world *world, const cairn_shape_def *probe, cairn_pose pose, cairn_random *random) {
    const cairn_query_filter filter = all_shapes();
    const cairn_vec3 way = vec3(5.0f * unit(random), 5.0f * unit(random), 5.0f * unit(random));
    cairn_ray_hit hit;
    const cairn_status status = cairn_world_shape_cast(world, probe, pose, way, &filter, &hit);
    const float end = status == CAIRN_OK ? hit.fraction : 1.0f;
    if (overlaps_at(world, probe, pose, vec3_zero())) {
        assert_true(status == CAIRN_OK && hit.fraction < 1e-3f);
        return;
    }
    for (int i = 0; i <= 8; ++i) {
        const cairn_vec3 to = vec3_scale(way, end * 0.125f * (float)i);
        const cairn_vec3 off = vec3_scale(hit.normal, status == CAIRN_OK ? 1e-3f : 0.0f);
        assert_false(overlaps_at(world, probe, pose, vec3_add(to, off)));
    }
    if (status == CAIRN_OK) {
        assert_true(overlaps_at(
            world, probe, pose, vec3_sub_scaled(vec3_scale(way, end), hit.normal, 1e-3f)));
        expect_near(vec3_length(hit.normal), 1.0f, 1e-5f);
        assert_true(vec3_dot(hit.normal, way) <= 0.0f);
    }
}

TEST("a cast ends where overlap begins, for all pairs of kinds") {
    for_all_kinds(compare_cast);
}

static float distance_to_point(const cairn_world *world, cairn_vec3 point) {
    const cairn_query_filter filter = all_shapes();
    cairn_closest found;
    EXPECT_OK(cairn_world_closest_to_point(world, point, 100.0f, &filter, &found));
    return found.distance;
}

// Not less: moved by all but a millimetre of it, the shapes do not overlap. Not more: the two
// points are that far apart and each is on its shape.
static void compare_distance(
    const cairn_world *world, const cairn_shape_def *probe, cairn_pose pose, cairn_random *random) {
    (void)random;
    const cairn_query_filter filter = all_shapes();
    cairn_closest found;
    EXPECT_OK(cairn_world_closest_to_shape(world, probe, pose, 100.0f, &filter, &found));
    if (found.distance <= 0.0f) {
        assert_true(overlaps_at(world, probe, pose, vec3_zero()));
        return;
    }
    const cairn_vec3 less = vec3_scale(found.normal, 1e-3f - found.distance);
    assert_true(found.distance < 2e-3f || !overlaps_at(world, probe, pose, less));
    expect_vec3(
        vec3_add_scaled(found.point, found.normal, found.distance), found.probe_point, 1e-4f);
    expect_near(distance_to_point(world, found.point), 0.0f, 1e-4f);
    cairn_hull_id hull = 0;
    SCOPED(cairn_world) *other = world_with_hull(&hull);
    cairn_body_def def = cairn_body_def_default();
    def.position = pose.position;
    def.rotation = pose.rotation;
    kit_body(other, &def, probe);
    expect_near(distance_to_point(other, found.probe_point), 0.0f, 1e-4f);
}

TEST("the distance of two shapes is the least there is, for all pairs of kinds") {
    for_all_kinds(compare_distance);
}

// ---- Order and filters

// Three walls in the way of a ray; the last one has the lowest index.
TEST("all hits come in order of the way") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_query_filter filter = all_shapes();
    const cairn_shape_def wall = box(0.1f, 1.0f, 1.0f);
    const cairn_body_id bodies[] = {put_static(world, vec3(6.0f, 0.0f, 0.0f), &wall),
        put_static(world, vec3(2.0f, 0.0f, 0.0f), &wall),
        put_static(world, vec3(4.0f, 0.0f, 0.0f), &wall)};
    const cairn_body_id expected[] = {bodies[1], bodies[2], bodies[0]};
    const cairn_vec3 along = vec3(8.0f, 0.0f, 0.0f);
    cairn_ray_hit hits[4];
    for (uint32_t capacity = 0; capacity <= 4; ++capacity) {
        memset(hits, 0, sizeof hits);
        assert_int_equal(
            cairn_world_ray_all(world, vec3_zero(), along, &filter, hits, capacity), 3);
        for (uint32_t i = 0; i < 3 && i < capacity; ++i) {
            assert_int_equal(hits[i].body, expected[i]);
            expect_near(hits[i].fraction, (1.9f + 2.0f * (float)i) / 8.0f, 1e-6f);
        }
    }
    assert_true(cairn_world_ray_any(world, vec3_zero(), along, &filter));
    assert_false(cairn_world_ray_any(world, vec3_zero(), vec3(1.8f, 0, 0), &filter));
}

// Two equal walls in one place: the lower index is hit, whatever the order they were made in.
TEST("the lower index is hit first in a tie") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_query_filter filter = all_shapes();
    const cairn_shape_def wall = box(0.1f, 1.0f, 1.0f);
    const cairn_body_id first = put_static(world, vec3(2.0f, 0.0f, 0.0f), &wall);
    const cairn_body_id second = put_static(world, vec3(2.0f, 0.0f, 0.0f), &wall);
    cairn_ray_hit hit;
    EXPECT_OK(cairn_world_ray_closest(world, vec3_zero(), vec3(8, 0, 0), &filter, &hit));
    assert_int_equal(hit.body, first);
    EXPECT_OK(cairn_body_destroy(world, first));
    EXPECT_OK(cairn_world_ray_closest(world, vec3_zero(), vec3(8, 0, 0), &filter, &hit));
    assert_int_equal(hit.body, second);
    // The lowest free slot is taken again, after the other one.
    const cairn_body_id third = put_static(world, vec3(2.0f, 0.0f, 0.0f), &wall);
    EXPECT_OK(cairn_world_ray_closest(world, vec3_zero(), vec3(8, 0, 0), &filter, &hit));
    assert_int_equal(hit.body, third);
}

TEST("a filter chooses by category kind and body") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_shape_def wall = box(0.1f, 1.0f, 1.0f);
    wall.category = 1;
    const cairn_body_id still = put(world, CAIRN_BODY_STATIC, vec3(2.0f, 0.0f, 0.0f), &wall);
    wall.category = 2;
    const cairn_body_id lift = put(world, CAIRN_BODY_KINEMATIC, vec3(4.0f, 0.0f, 0.0f), &wall);
    wall.category = 4;
    const cairn_body_id crate = put(world, CAIRN_BODY_DYNAMIC, vec3(6.0f, 0.0f, 0.0f), &wall);
    const cairn_query_filter filters[] = {{.mask = UINT32_MAX, .body_kinds = UINT32_MAX},
        {.mask = 6, .body_kinds = UINT32_MAX},
        {.mask = UINT32_MAX, .body_kinds = 1u << CAIRN_BODY_DYNAMIC},
        {.mask = UINT32_MAX, .body_kinds = UINT32_MAX, .ignored = still},
        {.mask = 3, .body_kinds = 1u << CAIRN_BODY_DYNAMIC}};
    const cairn_body_id expected[] = {still, lift, crate, lift, 0};
    for (int i = 0; i < 5; ++i) {
        cairn_ray_hit hit;
        const cairn_status status =
            cairn_world_ray_closest(world, vec3_zero(), vec3(8, 0, 0), &filters[i], &hit);
        assert_int_equal(status, expected[i] != 0 ? CAIRN_OK : CAIRN_NOT_FOUND);
        assert_int_equal(hit.body, expected[i]);
        assert_int_equal(
            cairn_world_ray_any(world, vec3_zero(), vec3(8, 0, 0), &filters[i]), expected[i] != 0);
    }
}

TEST("a point is in the shapes that contain it") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_query_filter filter = all_shapes();
    kit_ground(world);
    const cairn_shape_def shapes[] = {ball(1.0f), box(1.0f, 1.0f, 1.0f), capsule(0.5f, 1.0f)};
    for (int i = 0; i < 3; ++i) {
        put_static(world, vec3(0.0f, 5.0f, 0.0f), &shapes[i]);
    }
    // In all but the ground; in the box alone; in ball and capsule and box; in the ground alone.
    const cairn_vec3 points[] = {vec3(0.1f, 5.0f, 0.1f), vec3(0.9f, 5.9f, 0.9f),
        vec3(0.0f, 6.4f, 0.0f), vec3(3.0f, -1.0f, 0.0f)};
    const uint32_t counts[] = {3, 1, 1, 1};
    const uint32_t first[] = {1, 2, 3, 0};
    for (int i = 0; i < 4; ++i) {
        cairn_shape_id ids[4];
        assert_int_equal(cairn_world_shapes_at_point(world, points[i], &filter, ids, 4), counts[i]);
        assert_int_equal(cairn_id_index(ids[0]), first[i]);
    }
}
