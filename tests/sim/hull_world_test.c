// SPDX-License-Identifier: MIT
// Hulls in a world: created, shared by shapes, refused, destroyed, restored.

#include "tests/sim/world_kit.h"

#include <string.h>

#include "sim/state/world.h"

static const cairn_vec3 wedge[6] = {{-1, -0.5f, -0.5f}, {1, -0.5f, -0.5f}, {-1, -0.5f, 0.5f},
    {1, -0.5f, 0.5f}, {-1, 0.5f, 0}, {1, 0.5f, 0}};
static const cairn_vec3 flat[4] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {1, 0, 1}};

static cairn_hull_id create_hull(cairn_world *world, const cairn_vec3 *points, uint32_t count) {
    cairn_hull_id hull = 0;
    EXPECT_OK(cairn_hull_create(world, points, count, &hull));
    return hull;
}

static cairn_body_id drop_hull(cairn_world *world, cairn_hull_id hull, cairn_vec3 position) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_HULL;
    shape.hull = hull;
    return kit_drop(world, position, &shape);
}

TEST("a hull is read as it was created") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_vec3 cloud[8];
    cairn_vec3 vertices[CAIRN_HULL_VERTICES_MAX];
    cairn_hull_id ids[2] = {0};
    uint32_t count = 0;
    memcpy(cloud, wedge, sizeof wedge);
    cloud[6] = vec3_zero();
    cloud[7] = wedge[0];
    const cairn_hull_id hull = create_hull(world, cloud, 8);
    EXPECT_OK(cairn_hull_read(world, hull, vertices, &count));
    assert_int_equal(count, 6);
    assert_memory_equal(vertices, wedge, sizeof wedge);
    assert_int_equal(cairn_world_hulls(world, ids, 2), 1);
    assert_int_equal(ids[0], hull);
    assert_int_equal(cairn_world_counts_read(world).hulls, 1);
    assert_int_equal(cairn_hull_read(world, hull + 1, vertices, &count), CAIRN_NOT_FOUND);
}

TEST("points that form no hull are refused and change nothing") {
    cairn_world_def def = cairn_world_def_default();
    def.hull_capacity = 1;
    SCOPED(cairn_world) *world = kit_world(&def);
    const cairn_hash128 before = kit_hash(world);
    cairn_vec3 broken[6];
    cairn_hull_id hull = 7;
    assert_int_equal(cairn_hull_create(world, flat, 4, &hull), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(hull, 0);
    assert_int_equal(cairn_hull_create(world, wedge, 3, &hull), CAIRN_INVALID_ARGUMENT);
    memcpy(broken, wedge, sizeof wedge);
    broken[5].y = float_of_bits(0x7f800000u);
    assert_int_equal(cairn_hull_create(world, broken, 6, &hull), CAIRN_NON_FINITE);
    assert_true(cairn_hash_equal(before, kit_hash(world)));
    assert_null(cairn_hull_refusal(wedge, 6));
    assert_non_null(cairn_hull_refusal(flat, 4));
    (void)create_hull(world, wedge, 6);
    assert_int_equal(cairn_hull_create(world, wedge, 6, &hull), CAIRN_CAPACITY);
    assert_int_equal(cairn_world_counters_read(world).creates_refused, 1);
}

TEST("a shape needs a hull that exists") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_hull_id hull = create_hull(world, wedge, 6);
    const cairn_body_id body = drop_hull(world, hull, vec3(0, 5, 0));
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_shape_id ids[2] = {0};
    cairn_body_id owner = 0;
    shape.kind = CAIRN_SHAPE_HULL;
    assert_int_equal(cairn_shape_create(world, body, &shape, &ids[0]), CAIRN_NOT_FOUND);
    assert_int_equal(cairn_world_overlap(world, &shape, pose_identity(), 1, ids, 2), 0);
    assert_int_equal(cairn_world_shapes(world, ids, 2), 1);
    EXPECT_OK(cairn_shape_read(world, ids[0], &shape, &owner));
    assert_int_equal(shape.kind, CAIRN_SHAPE_HULL);
    assert_int_equal(shape.hull, hull);
    assert_int_equal(cairn_hull_destroy(world, hull), CAIRN_WRONG_STATE);
    EXPECT_OK(cairn_body_destroy(world, body));
    EXPECT_OK(cairn_hull_destroy(world, hull));
    assert_int_equal(cairn_hull_destroy(world, hull), CAIRN_NOT_FOUND);
    assert_int_equal(cairn_shape_create(world, body, &shape, &ids[0]), CAIRN_NOT_FOUND);
    assert_int_not_equal(create_hull(world, wedge, 6), hull);
}

// The wedge lands on the face opposite to its ridge; its centre of mass is a third of its height
// up.
TEST("a body with a hull has mass, falls and comes to rest") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_hull_id hull = create_hull(world, wedge, 6);
    kit_ground(world);
    const cairn_body_id body = drop_hull(world, hull, vec3(0, 1.2f, 0));
    assert_true(float_abs(cairn_body_mass(world, body) - 1000.0f) < 0.01f);
    kit_run(world, 180);
    const cairn_body_state rest = kit_read(world, body);
    assert_int_equal(rest.awake, 0);
    assert_true(float_abs(rest.position.y - 0.5f) < 0.01f);
    assert_true(rest.rotation.w > 0.9999f);
    assert_int_equal(cairn_world_counts_read(world).contact_points, 4);
}

TEST("queries hit the hull and not its bounding box") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_hull_id hull = create_hull(world, wedge, 6);
    const cairn_body_id body = drop_hull(world, hull, vec3_zero());
    cairn_ray_hit hit;
    cairn_shape_id ids[2];
    cairn_shape_def probe = cairn_shape_def_default();
    EXPECT_OK(cairn_world_ray_cast(world, vec3(0, 5, 0), vec3(0, -10, 0), 1, 0, &hit));
    assert_int_equal(hit.body, body);
    assert_true(float_abs(hit.point.y - 0.5f) < 1e-4f);
    assert_int_equal(cairn_world_ray_cast(world, vec3(0, 0.4f, 5), vec3(0, 0, -4.8f), 1, 0, &hit),
        CAIRN_NOT_FOUND);
    probe.half_extents = vec3(0.05f, 0.05f, 0.05f);
    cairn_pose pose = pose_identity();
    pose.position = vec3(0, 0.4f, 0.4f);
    assert_int_equal(cairn_world_overlap(world, &probe, pose, 1, ids, 2), 0);
    pose.position = vec3(0, -0.4f, 0.4f);
    assert_int_equal(cairn_world_overlap(world, &probe, pose, 1, ids, 2), 1);
    probe.kind = CAIRN_SHAPE_HULL;
    probe.hull = hull;
    pose.position = vec3(0, 0, 1.1f);
    assert_int_equal(cairn_world_overlap(world, &probe, pose, 1, ids, 2), 0);
    pose.position = vec3(0, 0, 0.9f);
    assert_int_equal(cairn_world_overlap(world, &probe, pose, 1, ids, 2), 1);
}

// A hull whose slot was reused after the save comes back with its own faces.
TEST("a restored world has its hulls") {
    const cairn_vec3 tall[4] = {{-1, 0, -1}, {1, 0, -1}, {0, 0, 1}, {0, 3, 0}};
    SCOPED(cairn_world) *world = kit_world(NULL);
    SCOPED(cairn_world) *twin = kit_world(NULL);
    kit_ground(world);
    const cairn_hull_id hull = create_hull(world, wedge, 6);
    const cairn_body_id body = drop_hull(world, hull, vec3(0, 0.55f, 0));
    kit_run(world, 5);
    SCOPED(kit_bytes) saved = kit_save(world);
    SCOPED(kit_bytes) encoded = kit_encode(world);
    kit_run(world, 30);
    const cairn_hash128 expected = kit_hash(world);
    EXPECT_OK(cairn_body_destroy(world, body));
    EXPECT_OK(cairn_hull_destroy(world, hull));
    (void)drop_hull(world, create_hull(world, tall, 4), vec3(0, 1, 0));
    kit_run(world, 5);
    EXPECT_OK(cairn_world_load(world, saved.bytes, saved.size));
    kit_run(world, 30);
    assert_true(cairn_hash_equal(kit_hash(world), expected));
    EXPECT_OK(cairn_world_decode(twin, encoded.bytes, encoded.size, NULL));
    kit_run(twin, 30);
    assert_true(kit_equal(world, twin));
}

TEST("a hull that shapes own goes with the last shape that uses it") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_hull_id hull = create_hull(world, wedge, 6);
    const cairn_body_id plain = drop_hull(world, hull, vec3_zero());
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_HULL;
    shape.hull = hull;
    shape.flags = CAIRN_SHAPE_OWNS_HULL;
    const cairn_body_id first = kit_drop(world, vec3_zero(), &shape);
    const cairn_body_id second = kit_drop(world, vec3_zero(), &shape);
    shape.kind = CAIRN_SHAPE_BOX; // has no hull that it could own
    const cairn_body_id cube = kit_drop(world, vec3_zero(), &shape);
    EXPECT_OK(cairn_body_destroy(world, cube));
    EXPECT_OK(cairn_body_destroy(world, first));
    EXPECT_OK(cairn_body_destroy(world, plain));
    assert_int_equal(cairn_world_counts_read(world).hulls, 1);
    EXPECT_OK(cairn_body_destroy(world, second));
    assert_int_equal(cairn_world_counts_read(world).hulls, 0);
    EXPECT_OK(cairn_world_validate(world, NULL));
    // A shape that does not own its hull leaves it, however often it goes.
    const cairn_hull_id kept = create_hull(world, wedge, 6);
    EXPECT_OK(cairn_body_destroy(world, drop_hull(world, kept, vec3_zero())));
    assert_int_equal(cairn_world_counts_read(world).hulls, 1);
}
