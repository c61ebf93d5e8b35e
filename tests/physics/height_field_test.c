// SPDX-License-Identifier: MIT
// Height fields: surfaces that are generated from samples on a grid. They obey the rules of meshes.

#include "tests/physics/ride_kit.h"

static cairn_mesh_id field_of(
    cairn_world *world, uint32_t side, float spacing, const float *heights) {
    const cairn_height_field_def def = {.heights = heights,
        .columns = side,
        .rows = side,
        .spacing_x = spacing,
        .spacing_z = spacing};
    cairn_mesh_id field = 0;
    EXPECT_OK(cairn_height_field_create(world, &def, &field));
    return field;
}

// The middle of the field is at the origin.
static cairn_pose centred(uint32_t side, float spacing) {
    const float half = 0.5f * spacing * (float)(side - 1);
    return (cairn_pose){.position = vec3(-half, 0.0f, -half), .rotation = quat_identity()};
}

static void flat_field(cairn_world *world) {
    static const float heights[61 * 61];
    const cairn_mesh_id field = field_of(world, 61, 0.3f, heights);
    mesh_body(world, CAIRN_BODY_STATIC, field, centred(61, 0.3f));
}

TEST("what rolls or slides over a flat height field does as on a plane") {
    ride_all(flat_field);
}

static float hill(float x, float z) {
    return 0.3f * sinf(0.9f * x) * cosf(0.7f * z) + 0.1f * sinf(2.3f * x + 1.7f * z);
}

static void hills(float heights[31 * 31]) {
    for (uint32_t i = 0; i < 31 * 31; ++i) {
        heights[i] = hill(0.4f * (float)(i % 31), 0.4f * (float)(i / 31));
    }
}

// A static mesh of the triangles that a height field of these samples has.
static void ground_of(cairn_world *world, uint32_t side, float spacing, const float *heights) {
    SCOPED(mesh_grid) grid = mesh_grid_flat(side, side, spacing);
    uint32_t *index = grid.indices;
    for (uint32_t i = 0; i < side * side; ++i) {
        grid.vertices[i] =
            vec3(spacing * (float)(i % side), heights[i], spacing * (float)(i / side));
    }
    for (uint32_t i = 0; i < (side - 1) * (side - 1); ++i) {
        const uint32_t a = i / (side - 1) * side + i % (side - 1);
        const uint32_t cell[6] = {a, a + side, a + side + 1, a, a + side + 1, a + 1};
        for (uint32_t k = 0; k < 6; ++k) {
            *index++ = cell[k];
        }
    }
    mesh_ground(world, &grid);
}

// The triangles of a height field as a mesh: the same scene plays the same on both, up to the order
// in which triangles come.
TEST("a height field is the mesh of its triangles") {
    float heights[31 * 31];
    hills(heights);
    const cairn_world_def def = mesh_world_def();
    SCOPED(cairn_world) *on_field = kit_world(&def);
    SCOPED(cairn_world) *on_mesh = kit_world(&def);
    cairn_world *const worlds[2] = {on_field, on_mesh};
    mesh_body(
        worlds[0], CAIRN_BODY_STATIC, field_of(worlds[0], 31, 0.4f, heights), pose_identity());
    ground_of(worlds[1], 31, 0.4f, heights);
    cairn_body_id bodies[2][12];
    for (uint32_t w = 0; w < 2; ++w) {
        for (uint32_t i = 0; i < 12; ++i) {
            cairn_body_def body = cairn_body_def_default();
            cairn_shape_def shape = ride_shape(worlds[w], (figure)(i % FIGURES), &body.rotation);
            const float x = 1.5f + 2.4f * (float)(i % 4);
            const float z = 1.5f + 2.4f * (float)(i / 4);
            body.position = vec3(x, hill(x, z) + 0.6f, z);
            bodies[w][i] = kit_body(worlds[w], &body, &shape);
        }
    }
    for (uint32_t tick = 0; tick < 26; ++tick) {
        cairn_world_step(worlds[0], NULL, 0);
        cairn_world_step(worlds[1], NULL, 0);
        for (uint32_t i = 0; i < 12; ++i) {
            const cairn_vec3 a = kit_read(worlds[0], bodies[0][i]).position;
            const cairn_vec3 b = kit_read(worlds[1], bodies[1][i]).position;
            assert_true(vec3_distance(a, b) < (i % FIGURES == BALL ? 1e-4f : 0.03f));
        }
    }
}

TEST("a ball falls through a hole, and its neighbour lies beside it") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    float heights[81] = {0.0f};
    heights[40] = CAIRN_HEIGHT_HOLE; // the cells around the middle
    mesh_body(world, CAIRN_BODY_STATIC, field_of(world, 9, 1.0f, heights), centred(9, 1.0f));
    const cairn_body_id through = kit_sphere(world, vec3(0.1f, 1.0f, 0.0f), 0.4f);
    const cairn_body_id beside = kit_sphere(world, vec3(2.1f, 1.0f, 0.0f), 0.4f);
    kit_run(world, 120);
    assert_true(kit_read(world, through).position.y < -5.0f);
    EXPECT_MEASURED(kit_read(world, beside).position.y, 0.4f, 5e-3f);
}

TEST("boxes on a height field come to rest and sleep") {
    float heights[31 * 31];
    hills(heights);
    const cairn_world_def def = mesh_world_def();
    SCOPED(cairn_world) *world = kit_world(&def);
    mesh_body(world, CAIRN_BODY_STATIC, field_of(world, 31, 0.4f, heights), pose_identity());
    cairn_body_id bodies[36];
    for (uint32_t i = 0; i < 36; ++i) {
        const cairn_vec3 at =
            vec3(3.0f + 1.1f * (float)(i % 6), 1.2f, 3.0f + 1.1f * (float)(i / 6));
        bodies[i] = kit_box(world, at, vec3(0.3f, 0.25f, 0.4f), 1000.0f);
    }
    uint32_t awake = 1;
    for (uint32_t tick = 0; tick < 900 && awake > 0; ++tick) {
        cairn_world_step(world, NULL, 0);
        awake = cairn_world_counts_read(world).bodies_awake;
    }
    assert_int_equal(awake, 0);
    for (uint32_t i = 0; i < 36; ++i) {
        const cairn_vec3 at = kit_read(world, bodies[i]).position;
        assert_true(at.y > hill(at.x, at.z) + 0.1f);
    }
}

// ---- Nothing falls through

typedef enum faller {
    F_BOX,
    F_BALL,
    F_CYLINDER,
    F_CONE,
    F_NEEDLE, // a cone three times as high as wide
    F_COIN,   // a cylinder, flat
    F_PLATE,
    F_CAPSULE,
    F_HULL,
    F_COMPOUND, // a cone beside a box
    F_KINDS
} faller;

#define FALL_SIDE 61u
#define FALL_SPACING 0.5f

static float wave(uint32_t number, float i, float j) {
    switch (number) {
    case 0: // gentle hills
        return 0.6f * sinf(0.35f * i) * sinf(0.31f * j);
    case 1: // slopes of up to 57 degrees
        return 0.5f * sinf(1.57f * i + 0.3f) * sinf(1.3f * j);
    default: // spikes
        return ((uint32_t)(i + j) & 1u) != 0 ? 0.5f : 0.0f;
    }
}

static uint32_t random_bits(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static float random_from(uint32_t *state, float lower, float upper) {
    return lower + (upper - lower) * (float)random_bits(state) / 16777216.0f;
}

static cairn_body_id drop_faller(
    cairn_world *world, faller kind, cairn_hull_id hull, cairn_vec3 position, uint32_t *random) {
    cairn_body_def def = cairn_body_def_default();
    def.position = position;
    const float size = random_from(random, 0.2f, 0.4f);
    const cairn_vec3 axis = vec3_normalize(
        vec3(random_from(random, -1, 1), random_from(random, -1, 1), random_from(random, -1, 1)),
        vec3(1, 0, 0));
    const float half_angle = random_from(random, 0.0f, 1.5f);
    def.rotation = quat_normalize((cairn_quat){.x = sinf(half_angle) * axis.x,
        .y = sinf(half_angle) * axis.y,
        .z = sinf(half_angle) * axis.z,
        .w = cosf(half_angle)});
    static const uint32_t kinds[F_KINDS] = {CAIRN_SHAPE_BOX, CAIRN_SHAPE_SPHERE,
        CAIRN_SHAPE_CYLINDER, CAIRN_SHAPE_CONE, CAIRN_SHAPE_CONE, CAIRN_SHAPE_CYLINDER,
        CAIRN_SHAPE_BOX, CAIRN_SHAPE_CAPSULE, CAIRN_SHAPE_HULL, CAIRN_SHAPE_CONE};
    cairn_shape_def shapes[2] = {cairn_shape_def_default(), cairn_shape_def_default()};
    shapes[0].kind = kinds[kind];
    shapes[0].hull = kind == F_HULL ? hull : 0;
    shapes[0].radius = kind == F_NEEDLE ? 0.5f * size : size;
    shapes[0].half_height = kind == F_NEEDLE ? 1.5f * size : kind == F_COIN ? 0.3f * size : size;
    shapes[0].half_extents = vec3(size, kind == F_PLATE ? 0.1f : 0.8f * size, 1.1f * size);
    shapes[0].pose.position.x = kind == F_COMPOUND ? size : 0.0f;
    shapes[1].half_extents = vec3(size, 0.8f * size, size);
    shapes[1].pose.position.x = 0.0f - size;
    cairn_body_id body = 0;
    cairn_shape_id ids[2];
    EXPECT_OK(
        cairn_body_create_compound(world, &def, shapes, kind == F_COMPOUND ? 2 : 1, &body, ids));
    return body;
}

// The triangle below a place: the diagonal of a cell goes from its first sample to its last.
static float surface_at(const float *heights, cairn_vec3 at) {
    const float x = at.x / FALL_SPACING;
    const float z = at.z / FALL_SPACING;
    const uint32_t column = (uint32_t)x;
    const uint32_t row = (uint32_t)z;
    const float u = x - (float)column;
    const float v = z - (float)row;
    const float *h = &heights[row * FALL_SIDE + column];
    const float last = h[FALL_SIDE + 1];
    return v > u ? h[0] + v * (h[FALL_SIDE] - h[0]) + u * (last - h[FALL_SIDE])
                 : h[0] + u * (h[1] - h[0]) + v * (last - h[1]);
}

// Every solid shape lands on hills, slopes and spikes in a random position, at 5 m/s and at 20, and
// stays on them, with others on top of it: its middle is never half a metre below the surface. In
// 300 boxes, balls, cylinders and cones by turns a cone was lost after 7 s, and a box that came
// down with a corner first met no triangle at all: it was nearest to an edge of each of them.
static void drop_on_waves(uint32_t number, bool fast, bool on_mesh) {
    static float heights[FALL_SIDE * FALL_SIDE];
    for (uint32_t i = 0; i < FALL_SIDE * FALL_SIDE; ++i) {
        heights[i] = wave(number, (float)(i % FALL_SIDE), (float)(i / FALL_SIDE));
    }
    cairn_world_def def = mesh_world_def();
    def.contact_capacity = 4096;
    SCOPED(cairn_world) *world = kit_world(&def);
    if (on_mesh) {
        ground_of(world, FALL_SIDE, FALL_SPACING, heights);
    } else {
        mesh_body(world, CAIRN_BODY_STATIC, field_of(world, FALL_SIDE, FALL_SPACING, heights),
            pose_identity());
    }
    uint32_t random = 2 * number + (fast ? 1 : 0) + 1;
    cairn_vec3 points[10];
    cairn_hull_id hull = 0;
    for (uint32_t i = 0; i < 10; ++i) {
        points[i] = vec3(random_from(&random, -0.3f, 0.3f), random_from(&random, -0.3f, 0.3f),
            random_from(&random, -0.3f, 0.3f));
    }
    EXPECT_OK(cairn_hull_create(world, points, 10, &hull));
    cairn_body_id bodies[240];
    for (uint32_t i = 0; i < 240; ++i) {
        const cairn_vec3 at = vec3(4.0f + 1.9f * (float)(i % 12), 1.6f + 1.6f * (float)(i / 120),
            4.0f + 2.1f * (float)(i / 12 % 10));
        bodies[i] = drop_faller(world, (faller)(i * 7 % F_KINDS), hull, at, &random);
        if (fast) {
            EXPECT_OK(cairn_body_set_velocity(
                world, bodies[i], vec3(0.0f, -20.0f, 0.0f), vec3(3.0f, 1.0f, 2.0f)));
        }
    }
    for (uint32_t tick = 0; tick < 100; ++tick) {
        cairn_world_step(world, NULL, 0);
    }
    assert_int_equal(cairn_world_counters_read(world).contacts_dropped, 0);
    for (uint32_t i = 0; i < 240; ++i) {
        const cairn_vec3 at = kit_read(world, bodies[i]).position;
        const float size = FALL_SPACING * (float)(FALL_SIDE - 1);
        const bool over = at.x > 0.0f && at.z > 0.0f && at.x < size && at.z < size;
        if (over && at.y < surface_at(heights, at) - 0.5f) {
            fail_msg("shape %u of kind %u, wave %u: at (%g %g %g)", i, i * 7 % F_KINDS, number,
                (double)at.x, (double)at.y, (double)at.z);
        }
    }
}

TEST("nothing falls through a wavy height field") {
    for (uint32_t number = 0; number < 3; ++number) {
        drop_on_waves(number, false, false);
        drop_on_waves(number, true, false);
    }
}

TEST("nothing falls through a wavy mesh") {
    for (uint32_t number = 0; number < 3; ++number) {
        drop_on_waves(number, number != 0, true);
    }
}
