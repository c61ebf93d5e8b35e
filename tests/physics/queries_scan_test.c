// SPDX-License-Identifier: MIT
// Every query against a scan of all shapes, in a world that keeps changing. Queries read a tree
// that is derived from the state, so they must not depend on its history, and the state must not
// depend on queries.

#include "tests/physics/query_kit.h"

#include <string.h>

#include "base/random.h"
#include "sim/body/shape.h"
#include "sim/collide/collide.h"
#include "sim/debug/poison.h"
#include "sim/query/distance.h"
#include "sim/query/shape_tree.h"

enum { BODIES = 150, LIST = 1024 };

// ---- The scans

static bool wanted(const cairn_world *world, uint32_t slot, const cairn_query_filter *filter) {
    if (!cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, slot)) {
        return false;
    }
    const cairn_shape *shape = &world->state.shapes[slot];
    const uint32_t kind = world->state.bodies[shape->body].kind;
    return (shape->category & filter->mask) != 0 && (1u << kind & filter->body_kinds) != 0 &&
           shape->body != cairn_id_index(filter->ignored) &&
           (shape->flags & CAIRN_SHAPE_SENSOR) == 0;
}

static int by_fraction(const void *left, const void *right) {
    const cairn_ray_hit *a = left;
    const cairn_ray_hit *b = right;
    if (a->fraction != b->fraction) {
        return a->fraction < b->fraction ? -1 : 1;
    }
    return cairn_id_index(a->shape) < cairn_id_index(b->shape) ? -1 : 1;
}

// All hits of a ray, or of a shape that is cast.
static uint32_t scan_hits(const cairn_world *world, cairn_vec3 origin, cairn_vec3 translation,
    const cairn_shape_def *moving, const cairn_pose *pose, const cairn_query_filter *filter,
    cairn_ray_hit *out) {
    cairn_geometry geometry = {.kind = 0};
    uint32_t count = 0;
    if (moving != NULL) {
        geometry = cairn_geometry_of_def(moving);
    }
    const cairn_shape_view probe = {.geometry = &geometry};
    for (uint32_t i = 0; i < world->state.settings->shape_slots; ++i) {
        if (!wanted(world, i, filter)) {
            continue;
        }
        const cairn_shape_view view = cairn_shape_view_at(world, i);
        const cairn_pose at = cairn_shape_world_pose(world, i);
        cairn_ray_hit hit = {.shape = cairn_shape_id_at(world, i)};
        const bool met = moving != NULL ? cairn_shape_cast(&view, &at, &probe, pose, translation,
                                              &hit.fraction, &hit.normal, &hit.point)
                                        : cairn_shape_view_ray_cast(&view, &at, origin, translation,
                                              &hit.fraction, &hit.normal);
        if (met) {
            out[count++] = hit;
        }
    }
    qsort(out, count, sizeof *out, by_fraction);
    return count;
}

static uint32_t scan_overlaps(const cairn_world *world, const cairn_shape_def *shape,
    const cairn_pose *pose, const cairn_query_filter *filter, cairn_shape_id *out) {
    const cairn_geometry geometry = cairn_geometry_of_def(shape);
    const cairn_shape_view probe = {.geometry = &geometry};
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->state.settings->shape_slots; ++i) {
        if (!wanted(world, i, filter)) {
            continue;
        }
        const cairn_shape_view view = cairn_shape_view_at(world, i);
        const cairn_pose at = cairn_shape_world_pose(world, i);
        if (cairn_collide_overlap(&view, &at, &probe, pose)) {
            out[count++] = cairn_shape_id_at(world, i);
        }
    }
    return count;
}

static float random_between(cairn_random *random, float lower, float upper) {
    return lower + cairn_random_unit(random) * (upper - lower);
}

static cairn_vec3 random_vec3(cairn_random *random, float width, float height) {
    const float x = random_between(random, -width, width);
    const float y = random_between(random, -1.0f, height);
    const float z = random_between(random, -width, width);
    return vec3(x, y, z);
}

static cairn_quat random_turn(cairn_random *random) {
    cairn_quat turn;
    turn.x = random_between(random, -1.0f, 1.0f);
    turn.y = random_between(random, -1.0f, 1.0f);
    turn.z = random_between(random, -1.0f, 1.0f);
    turn.w = random_between(random, 0.1f, 1.0f);
    return quat_normalize(turn);
}

static cairn_shape_def random_shape(cairn_random *random, cairn_hull_id hull) {
    const float size = random_between(random, 0.1f, 0.8f);
    cairn_shape_def shape = ball(size);
    switch (cairn_random_below(random, hull != 0 ? 4 : 3)) {
    case 0:
        break;
    case 1:
        shape = capsule(0.5f * size, size);
        break;
    case 2:
        shape = box(size, 0.5f * size, random_between(random, 0.1f, 1.5f));
        break;
    default:
        shape.kind = CAIRN_SHAPE_HULL;
        shape.hull = hull;
        break;
    }
    shape.category = 1u << cairn_random_below(random, 4);
    return shape;
}

static cairn_query_filter random_filter(cairn_random *random, const cairn_world *world) {
    cairn_query_filter filter = all_shapes();
    cairn_body_state bodies[2 * BODIES];
    const uint32_t count = cairn_world_bodies(world, bodies, 2 * BODIES);
    switch (cairn_random_below(random, 4)) {
    case 0:
        filter.mask = (uint32_t)cairn_random_below(random, 16);
        break;
    case 1:
        filter.body_kinds = (uint32_t)cairn_random_below(random, 8);
        break;
    case 2:
        filter.ignored = bodies[cairn_random_below(random, count)].id;
        break;
    default:
        break;
    }
    return filter;
}

// Compares the fields that a scan fills in.
static void expect_hit(
    const cairn_ray_hit *actual, const cairn_ray_hit *expected, const char *what, bool found) {
    if (!found) {
        assert_int_equal(actual->shape, CAIRN_ID_NULL);
        return;
    }
    if (actual->shape != expected->shape || actual->fraction != expected->fraction ||
        memcmp(&actual->normal, &expected->normal, sizeof actual->normal) != 0) {
        fail_msg("%s: shape %x at %.9g, not %x at %.9g", what, actual->shape,
            (double)actual->fraction, expected->shape, (double)expected->fraction);
    }
}

static void compare_rays(const cairn_world *world, cairn_random *random) {
    static cairn_ray_hit expected[LIST];
    static cairn_ray_hit actual[LIST];
    const cairn_query_filter filter = random_filter(random, world);
    const cairn_vec3 origin = random_vec3(random, 14.0f, 12.0f);
    cairn_vec3 translation = vec3_sub(random_vec3(random, 14.0f, 12.0f), origin);
    if (cairn_random_below(random, 4) == 0) { // along an axis, or without length
        translation = vec3_along_axis(
            (uint32_t)cairn_random_below(random, 3), (float)cairn_random_below(random, 3) * -6.0f);
    }
    const uint32_t count = scan_hits(world, origin, translation, NULL, NULL, &filter, expected);
    cairn_ray_hit hit;
    const cairn_status status = cairn_world_ray_closest(world, origin, translation, &filter, &hit);
    assert_int_equal(status, count > 0 ? CAIRN_OK : CAIRN_NOT_FOUND);
    expect_hit(&hit, &expected[0], "ray_closest", count > 0);
    assert_int_equal(cairn_world_ray_all(world, origin, translation, &filter, actual, LIST), count);
    for (uint32_t i = 0; i < count; ++i) {
        expect_hit(&actual[i], &expected[i], "ray_all", true);
    }
    const uint32_t fewer = (uint32_t)cairn_random_below(random, count + 1);
    memset(actual, 0, sizeof actual);
    assert_int_equal(
        cairn_world_ray_all(world, origin, translation, &filter, actual, fewer), count);
    for (uint32_t i = 0; i < fewer; ++i) {
        expect_hit(&actual[i], &expected[i], "ray_all, some", true);
    }
    assert_int_equal(actual[fewer].shape, 0);
    assert_int_equal(cairn_world_ray_any(world, origin, translation, &filter), count > 0);
}

static void compare_shapes(const cairn_world *world, cairn_random *random) {
    static cairn_ray_hit expected[LIST];
    static cairn_shape_id ids[2][LIST];
    const cairn_query_filter filter = random_filter(random, world);
    const cairn_shape_def probe = random_shape(random, 0);
    const cairn_pose pose = {.position = random_vec3(random, 12.0f, 12.0f),
        .rotation = quat_normalize(random_turn(random))};
    const cairn_vec3 translation = vec3_sub(random_vec3(random, 14.0f, 12.0f), pose.position);
    const uint32_t hits =
        scan_hits(world, pose.position, translation, &probe, &pose, &filter, expected);
    cairn_ray_hit hit;
    assert_int_equal(cairn_world_shape_cast(world, &probe, pose, translation, &filter, &hit),
        hits > 0 ? CAIRN_OK : CAIRN_NOT_FOUND);
    expect_hit(&hit, &expected[0], "shape_cast", hits > 0);

    const uint32_t count = scan_overlaps(world, &probe, &pose, &filter, ids[0]);
    assert_int_equal(cairn_world_overlap_shape(world, &probe, pose, &filter, ids[1], LIST), count);
    assert_memory_equal(ids[0], ids[1], count * sizeof ids[0][0]);
    const uint32_t fewer = (uint32_t)cairn_random_below(random, count + 1);
    memset(ids[1], 0, sizeof ids[1]);
    assert_int_equal(cairn_world_overlap_shape(world, &probe, pose, &filter, ids[1], fewer), count);
    assert_memory_equal(ids[0], ids[1], fewer * sizeof ids[0][0]);
    assert_int_equal(ids[1][fewer], 0);
}

static void compare_points(const cairn_world *world, cairn_random *random) {
    const cairn_query_filter filter = random_filter(random, world);
    const cairn_vec3 point = random_vec3(random, 12.0f, 8.0f);
    const cairn_geometry geometry = {.kind = CAIRN_SHAPE_SPHERE};
    const cairn_shape_view probe = {.geometry = &geometry};
    const cairn_pose pose = pose_at(point);
    const float most = random_between(random, 0.0f, 6.0f);
    cairn_shape_id ids[LIST];
    uint32_t count = 0;
    cairn_shape_id nearest = 0;
    float distance = most;
    for (uint32_t i = 0; i < world->state.settings->shape_slots; ++i) {
        if (!wanted(world, i, &filter)) {
            continue;
        }
        const cairn_shape_view view = cairn_shape_view_at(world, i);
        const cairn_pose at = cairn_shape_world_pose(world, i);
        float fraction = 0.0f;
        cairn_vec3 normal;
        if (cairn_shape_view_ray_cast(&view, &at, point, vec3_zero(), &fraction, &normal)) {
            ids[count++] = cairn_shape_id_at(world, i);
        }
        const cairn_distance found = cairn_shape_distance(&view, &at, &probe, &pose);
        if (found.distance < distance || (found.distance == distance && nearest == 0)) {
            nearest = cairn_shape_id_at(world, i);
            distance = found.distance;
        }
    }
    cairn_shape_id actual[LIST];
    assert_int_equal(cairn_world_shapes_at_point(world, point, &filter, actual, LIST), count);
    assert_memory_equal(actual, ids, count * sizeof ids[0]);
    cairn_closest found;
    (void)cairn_world_closest_to_point(world, point, most, &filter, &found);
    assert_int_equal(found.shape, nearest);
    assert_true(nearest == 0 || found.distance == distance);
}

static void compare_with_scans(const cairn_world *world, cairn_random *random, int times) {
    for (int i = 0; i < times; ++i) {
        compare_rays(world, random);
        compare_shapes(world, random);
        compare_points(world, random);
    }
}

static cairn_hull_id make_hull(cairn_world *world) {
    static const cairn_vec3 points[6] = {{0.7f, 0.0f, 0.0f}, {-0.6f, 0.1f, 0.0f},
        {0.0f, 0.9f, 0.1f}, {0.1f, -0.5f, 0.0f}, {0.0f, 0.0f, 0.6f}, {0.0f, 0.1f, -0.8f}};
    cairn_hull_id hull = 0;
    EXPECT_OK(cairn_hull_create(world, points, 6, &hull));
    return hull;
}

static void add_body(cairn_world *world, cairn_random *random, cairn_hull_id hull) {
    cairn_body_def def = cairn_body_def_default();
    def.kind = (uint32_t)cairn_random_below(random, 8);
    def.kind = def.kind > CAIRN_BODY_DYNAMIC ? CAIRN_BODY_DYNAMIC : def.kind;
    def.position = random_vec3(random, 10.0f, 9.0f);
    def.rotation = random_turn(random);
    def.linear_velocity = def.kind == CAIRN_BODY_KINEMATIC ? vec3(3.0f, 0.0f, 0.0f) : vec3_zero();
    const cairn_shape_def shape = random_shape(random, hull);
    const cairn_body_id body = kit_body(world, &def, &shape);
    if (cairn_random_below(random, 5) == 0) {
        cairn_shape_def second = random_shape(random, hull);
        cairn_shape_id id = 0;
        second.pose.position = vec3(0.6f, 0.3f, 0.0f);
        EXPECT_OK(cairn_shape_create(world, body, &second, &id));
    }
}

static cairn_world *messy_world(cairn_random *random, cairn_hull_id *hull) {
    cairn_world_def def = cairn_world_def_default();
    def.hull_capacity = 4;
    cairn_world *world = kit_world(&def);
    kit_ground(world);
    const cairn_shape_def floor = box(12.0f, 0.5f, 12.0f);
    put_static(world, vec3(0.0f, 0.2f, 0.0f), &floor);
    *hull = make_hull(world);
    for (int i = 0; i < BODIES; ++i) {
        add_body(world, random, *hull);
    }
    return world;
}

// One of the calls that a game makes between two steps.
static void change_world(cairn_world *world, cairn_random *random, cairn_hull_id hull) {
    static cairn_body_state bodies[2 * BODIES];
    const uint32_t count = cairn_world_bodies(world, bodies, 2 * BODIES);
    const cairn_body_id body = bodies[2 + cairn_random_below(random, count - 2)].id;
    const cairn_pose pose = {
        .position = random_vec3(random, 10.0f, 9.0f), .rotation = random_turn(random)};
    switch (cairn_random_below(random, 6)) {
    case 0:
        EXPECT_OK(cairn_body_destroy(world, body));
        add_body(world, random, hull);
        break;
    case 1:
        EXPECT_OK(cairn_body_set_pose(world, body, pose));
        break;
    case 2:
        EXPECT_OK(cairn_body_place(world, body, pose));
        break;
    case 3:
        EXPECT_OK(cairn_body_set_velocity(world, body, pose.position, vec3_zero()));
        break;
    case 4: {
        cairn_shape_id shapes[2 * BODIES];
        const uint32_t shape_count = cairn_world_shapes(world, shapes, 2 * BODIES);
        EXPECT_OK(
            cairn_shape_destroy(world, shapes[2 + cairn_random_below(random, shape_count - 2)]));
        break;
    }
    default: {
        const cairn_shape_def shape = random_shape(random, hull);
        cairn_shape_id id = 0;
        EXPECT_OK(cairn_shape_create(world, body, &shape, &id));
        break;
    }
    }
}

TEST("every query equals a scan of all shapes while the world changes") {
    cairn_random random = cairn_random_of(2024);
    cairn_hull_id hull = 0;
    SCOPED(cairn_world) *world = messy_world(&random, &hull);
    const char *where = "";
    for (int tick = 0; tick < 120; ++tick) {
        for (uint64_t i = cairn_random_below(&random, 4); i > 0; --i) {
            change_world(world, &random, hull);
            compare_with_scans(world, &random, 1);
        }
        kit_run(world, tick % 10 == 9 ? 30 : 1);
        compare_with_scans(world, &random, 5);
        assert_int_equal(cairn_world_validate(world, &where), CAIRN_OK);
    }
}

// A restore replaces bodies, shapes and ids below the tree.
TEST("queries see the state after load decode copy and fork") {
    cairn_random random = cairn_random_of(7);
    cairn_hull_id hull = 0;
    SCOPED(cairn_world) *world = messy_world(&random, &hull);
    SCOPED(cairn_world) *other = kit_fork(world);
    for (int round = 0; round < 12; ++round) {
        SCOPED(kit_bytes) saved = kit_save(world);
        SCOPED(kit_bytes) encoded = kit_encode(other);
        compare_with_scans(world, &random, 4);
        for (int i = 0; i < 12; ++i) {
            change_world(world, &random, hull);
        }
        kit_run(world, 5);
        compare_with_scans(world, &random, 4);
        SCOPED(cairn_world) *fork = kit_fork(world);
        compare_with_scans(fork, &random, 4);
        EXPECT_OK(cairn_world_copy(other, world));
        compare_with_scans(other, &random, 4);
        EXPECT_OK(cairn_world_load(world, saved.bytes, saved.size));
        compare_with_scans(world, &random, 4);
        EXPECT_OK(cairn_world_decode(fork, encoded.bytes, encoded.size, NULL));
        compare_with_scans(fork, &random, 4);
        cairn_world_poison(world, (unsigned char)(17 * round));
        compare_with_scans(world, &random, 4);
    }
}

// Far from the origin a float has steps of centimetres; rays that are long or start far away round
// more than the boxes of the tree allow for near it.
TEST("far and long rays equal a scan") {
    cairn_random random = cairn_random_of(99);
    for (int scale = 0; scale < 5; ++scale) {
        const float sizes[] = {1e2f, 1e3f, 1e4f, 9e4f, 9e4f};
        const float size = sizes[scale];
        SCOPED(cairn_world) *world = kit_world(NULL);
        for (int i = 0; i < 200; ++i) {
            const cairn_shape_def shape = random_shape(&random, 0);
            put_static(world, vec3_add(vec3(size, 0.0f, -size), random_vec3(&random, 20.0f, 20.0f)),
                &shape);
        }
        const cairn_query_filter filter = all_shapes();
        static cairn_ray_hit expected[LIST];
        for (int i = 0; i < 2000; ++i) {
            const cairn_vec3 to =
                vec3_add(vec3(size, 0.0f, -size), random_vec3(&random, 20.0f, 20.0f));
            const cairn_vec3 origin = scale == 4 ? random_vec3(&random, 1e6f, 1e6f)
                                                 : vec3_add(to, random_vec3(&random, size, size));
            const cairn_vec3 translation = vec3_scale(vec3_sub(to, origin), 1.5f);
            const uint32_t count =
                scan_hits(world, origin, translation, NULL, NULL, &filter, expected);
            cairn_ray_hit hit;
            (void)cairn_world_ray_closest(world, origin, translation, &filter, &hit);
            expect_hit(&hit, &expected[0], "far ray", count > 0);
        }
    }
}

TEST("rays of any finite size are answered") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_query_filter filter = all_shapes();
    kit_cube(world, vec3_zero());
    const float sizes[] = {0.0f, 1e-38f, 1e-20f, 1e10f, 1e20f, 3e38f};
    for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < 6; ++k) {
            cairn_ray_hit hit;
            const cairn_status status = cairn_world_ray_closest(
                world, vec3(0.0f, 0.0f, sizes[i]), vec3(0.0f, 0.0f, -sizes[k]), &filter, &hit);
            assert_true(status == CAIRN_OK || status == CAIRN_NOT_FOUND);
            assert_true(i > 2 || status == CAIRN_OK);
        }
    }
}

// ---- What queries must leave alone

TEST("queries change no bit of the state") {
    cairn_random random = cairn_random_of(31);
    cairn_random queries = cairn_random_of(32);
    cairn_hull_id hull = 0;
    SCOPED(cairn_world) *world = messy_world(&random, &hull);
    SCOPED(cairn_world) *twin = kit_fork(world);
    for (int tick = 0; tick < 60; ++tick) {
        compare_with_scans(world, &queries, 2);
        kit_run(world, 1);
        kit_run(twin, 1);
        assert_true(kit_equal(world, twin));
    }
}

// So several threads may query a prepared world at once.
TEST("queries write nothing to a prepared world") {
    cairn_random random = cairn_random_of(41);
    cairn_hull_id hull = 0;
    SCOPED(cairn_world) *world = messy_world(&random, &hull);
    for (int tick = 0; tick < 3; ++tick) {
        kit_run(world, 1);
        cairn_world_queries_prepare(world);
        const cairn_shape_tree before = *world->shape_tree;
        void *memory = malloc(before.size);
        assert_non_null(memory);
        memcpy(memory, before.memory, before.size);
        compare_with_scans(world, &random, 20);
        assert_memory_equal(world->shape_tree, &before, sizeof before);
        assert_memory_equal(world->shape_tree->memory, memory, before.size);
        free(memory);
    }
}

// Insertions in an order that makes every plain tree a list.
TEST("shapes made in a row are found") {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = 6000;
    def.shape_capacity = 6000;
    SCOPED(cairn_world) *world = kit_world(&def);
    const cairn_shape_def shape = ball(0.4f);
    const cairn_query_filter filter = all_shapes();
    for (int i = 0; i < 5000; ++i) {
        put_static(world, vec3((float)i, 0.0f, 0.0f), &shape);
        if (i % 7 == 0) { // so that the tree has to take them one by one
            cairn_ray_hit hit;
            EXPECT_OK(cairn_world_ray_closest(
                world, vec3((float)i, 5.0f, 0.0f), vec3(0.0f, -5.0f, 0.0f), &filter, &hit));
            expect_near(hit.fraction, 4.6f / 5.0f, 1e-6f);
        }
    }
    static cairn_ray_hit hits[6000];
    assert_int_equal(cairn_world_ray_all(world, vec3(-1.0f, 0.0f, 0.0f), vec3(6000.0f, 0.0f, 0.0f),
                         &filter, hits, 6000),
        5000);
    for (uint32_t i = 0; i < 5000; ++i) {
        assert_int_equal(cairn_id_index(hits[i].shape), i);
    }
}
