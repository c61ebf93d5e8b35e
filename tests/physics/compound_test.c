// SPDX-License-Identifier: MIT
// Bodies of several shapes, and mass: the parallel axis theorem, the origin of a body apart from
// its centre of mass, materials and filters of each shape, and the mass of closed triangle meshes.

#include "tests/physics/stack_kit.h"

#include <string.h>

#define PI 3.14159265358979
#define GRAVITY 9.81

static void expect_ratio(double actual, double expected, double tolerance, const char *what) {
    if (!(fabs(actual - expected) <= tolerance * fabs(expected))) {
        fail_msg("%s: %.7g, not %.7g within %.2g", what, actual, expected, tolerance);
    }
}

static cairn_shape_def part(uint32_t kind, cairn_vec3 position) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = kind;
    shape.pose.position = position;
    return shape;
}

// A body spins under a known torque for one step; the turning that it gains is torque * time / I.
static double moment_about(cairn_world *world, cairn_body_id body, cairn_vec3 axis) {
    SCOPED(cairn_world) *copy = kit_fork(world);
    EXPECT_OK(cairn_body_set_velocity(copy, body, vec3_zero(), vec3_zero()));
    EXPECT_OK(cairn_body_apply_force(copy, body, vec3_zero(), vec3_scale(axis, 60.0f)));
    kit_run(copy, 1);
    const cairn_body_state s = kit_read(copy, body);
    return 1.0 / (double)vec3_dot(s.angular_velocity, axis);
}

static cairn_world *weightless_world(void) {
    cairn_world_def def = cairn_world_def_default();
    def.gravity = vec3_zero();
    return kit_world(&def);
}

// Two balls of mass m and radius r at +-d and a rod of length 2 d: 2 (2/5 m r^2 + m d^2) plus the
// rod's across the axis, and 2 * 2/5 m r^2 plus the rod's along it. Twice the distance: Steiner.
TEST("a dumbbell has the inertia that the parallel axis theorem gives") {
    const double r = 0.2;
    const double d = 0.7;
    const double rod = 0.05;
    SCOPED(cairn_world) *world = weightless_world();
    cairn_shape_def shapes[3] = {part(CAIRN_SHAPE_SPHERE, vec3((float)d, 0, 0)),
        part(CAIRN_SHAPE_SPHERE, vec3((float)-d, 0, 0)), part(CAIRN_SHAPE_CYLINDER, vec3_zero())};
    shapes[0].radius = shapes[1].radius = (float)r;
    shapes[2].radius = (float)rod;
    shapes[2].half_height = (float)d;
    shapes[2].pose.rotation = pile_turn(vec3(0, 0, 1), (float)(PI / 2));
    cairn_body_id body = 0;
    cairn_shape_id ids[3];
    const cairn_body_def def = cairn_body_def_default();
    EXPECT_OK(cairn_body_create_compound(world, &def, shapes, 3, &body, ids));
    const double ball = 1000 * 4.0 / 3.0 * PI * r * r * r;
    const double bar = 1000 * PI * rod * rod * 2 * d;
    expect_ratio((double)cairn_body_mass(world, body), 2 * ball + bar, 1e-5, "mass");
    expect_ratio(moment_about(world, body, vec3(1, 0, 0)),
        2 * 0.4 * ball * r * r + bar * rod * rod / 2, 1e-3, "along");
    const double across =
        2 * (0.4 * ball * r * r + ball * d * d) + bar * (3 * rod * rod + 4 * d * d) / 12;
    expect_ratio(moment_about(world, body, vec3(0, 1, 0)), across, 1e-3, "across y");
    expect_ratio(moment_about(world, body, vec3(0, 0, 1)), across, 1e-3, "across z");
}

// The origin of a body is any point of its frame. Thrown with a spin, the centre of mass goes
// straight, and the origin goes round it.
TEST("a body spins about its centre of mass and not about its origin") {
    SCOPED(cairn_world) *world = weightless_world();
    const cairn_shape_def shape = part(CAIRN_SHAPE_SPHERE, vec3(2, 0, 0));
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id body = 0;
    cairn_shape_id id = 0;
    EXPECT_OK(cairn_body_create_compound(world, &def, &shape, 1, &body, &id));
    const float turning = (float)PI; // half a turn in a second
    EXPECT_OK(cairn_body_set_velocity(world, body, vec3(0, 0, 1), vec3(0, turning, 0)));
    for (uint32_t tick = 1; tick <= 120; ++tick) {
        kit_run(world, 1);
        const cairn_body_state s = kit_read(world, body);
        const cairn_vec3 centre =
            vec3_add(s.position, quat_rotate(s.rotation, shape.pose.position));
        const float time = (float)tick / 60.0f;
        assert_true(vec3_distance(centre, vec3(2, 0, time)) < 2e-3f);
        assert_true(fabsf(vec3_distance(s.position, centre) - 2.0f) < 1e-4f);
    }
}

// An L of cubes with side 1: `high` in a column, one more beside the lowest. It stands on a base of
// width 2 with its centre at 1/2 + 1 / (high + 1) from the column's side, so it stands on any
// height; with `beside` hung at the top instead of the bottom its centre is the same but the base
// is 1 wide: at a distance of 1/2 - 1 / (high + 1) from the base's edge it still stands.
TEST("an L stands on either end, and falls if its centre leaves its base") {
    for (uint32_t hung = 0; hung <= 3; ++hung) {
        SCOPED(pile) p = pile_create(PILE_OF_BOXES);
        cairn_shape_def shapes[8];
        // Cubes beside the top one, 1 to 3 of them: the centre is at x = sum / (4 + n).
        const uint32_t beside = hung == 0 ? 1 : hung;
        for (uint32_t i = 0; i < 4; ++i) {
            shapes[i] = part(CAIRN_SHAPE_BOX, vec3(0, 0.5f + (float)i, 0));
        }
        double moment = 0.0;
        for (uint32_t i = 0; i < beside; ++i) {
            shapes[4 + i] =
                part(CAIRN_SHAPE_BOX, vec3(1.0f + (float)i, hung == 0 ? 0.5f : 3.5f, 0));
            moment += 1.0 + i;
        }
        const bool falls = hung != 0 && moment / (4 + beside) > 0.5;
        cairn_body_id body = 0;
        cairn_shape_id ids[8];
        const cairn_body_def def = cairn_body_def_default();
        EXPECT_OK(cairn_body_create_compound(p.world, &def, shapes, 4 + beside, &body, ids));
        kit_run(p.world, 300);
        const cairn_body_state s = kit_read(p.world, body);
        const float up = quat_rotate(s.rotation, vec3(0, 1, 0)).y;
        if ((up < 0.99f) != falls || (!falls && s.awake != 0)) {
            fail_msg("%u cubes hung: up %.3f, awake %u", hung, (double)up, s.awake);
        }
    }
}

// A sled slides down a slope of 0.3 rad. With an icy and a rough runner it is slower and turns
// towards the rough one; two icy ones slide straight with g sin a.
TEST("each shape of a body has its own material") {
    for (uint32_t rough = 0; rough <= 1; ++rough) {
        cairn_world_def world_def = cairn_world_def_default();
        world_def.gravity = vec3((float)(GRAVITY * sin(0.3)), (float)(-GRAVITY * cos(0.3)), 0);
        SCOPED(cairn_world) *world = kit_world(&world_def);
        (void)kit_ground(world);
        cairn_shape_def shapes[2] = {part(CAIRN_SHAPE_BOX, vec3(0, 0.1f, -0.5f)),
            part(CAIRN_SHAPE_BOX, vec3(0, 0.1f, 0.5f))};
        for (uint32_t i = 0; i < 2; ++i) {
            shapes[i].half_extents = vec3(0.1f, 0.1f, 0.1f);
            shapes[i].friction = i == 1 && rough ? 0.25f : 0.0f;
        }
        cairn_body_id body = 0;
        cairn_shape_id ids[2];
        const cairn_body_def def = cairn_body_def_default();
        EXPECT_OK(cairn_body_create_compound(world, &def, shapes, 2, &body, ids));
        kit_run(world, 20);
        const cairn_body_state s = kit_read(world, body);
        const double free_speed = GRAVITY * sin(0.3) / 3;
        if (rough == 0) {
            expect_ratio((double)s.linear_velocity.x, free_speed, 0.01, "speed on ice");
            assert_true(fabsf(s.angular_velocity.y) < 0.01f);
        } else {
            assert_true((double)s.linear_velocity.x < 0.9 * free_speed);
            if (!(s.angular_velocity.y < -0.2f)) {
                fail_msg("turns with %.3f rad/s at %.3f m/s", (double)s.angular_velocity.y,
                    (double)s.linear_velocity.x);
            }
        }
    }
}

// A table of which only the legs collide with the floor sinks through it up to the board if the
// legs' filter does not meet the floor.
TEST("each shape of a body has its own filter") {
    for (uint32_t legs = 0; legs <= 1; ++legs) {
        SCOPED(pile) p = pile_create(PILE_OF_BOXES);
        cairn_shape_def shapes[2] = {
            part(CAIRN_SHAPE_BOX, vec3(0, 1.0f, 0)), part(CAIRN_SHAPE_BOX, vec3(0, 0.5f, 0))};
        shapes[0].half_extents = vec3(0.5f, 0.1f, 0.5f);
        shapes[1].half_extents = vec3(0.4f, 0.5f, 0.4f);
        shapes[1].mask = legs ? UINT32_MAX : 0u;
        cairn_body_id body = 0;
        cairn_shape_id ids[2];
        const cairn_body_def def = cairn_body_def_default();
        EXPECT_OK(cairn_body_create_compound(p.world, &def, shapes, 2, &body, ids));
        kit_run(p.world, 180);
        const float expected = legs ? 0.0f : -0.9f;
        const float y = kit_read(p.world, body).position.y;
        assert_true(fabsf(y - expected) < 0.01f);
    }
}

// If one of the shapes is refused there is no body, and the world is as before.
TEST("a compound of which a shape is refused leaves nothing") {
    SCOPED(cairn_world) *world = weightless_world();
    const cairn_hash128 before = kit_hash(world);
    cairn_shape_def shapes[3] = {part(CAIRN_SHAPE_SPHERE, vec3_zero()),
        part(CAIRN_SHAPE_CONE, vec3(1, 0, 0)), part(CAIRN_SHAPE_BOX, vec3_zero())};
    cairn_body_id body = 7;
    cairn_shape_id ids[3] = {7, 7, 7};
    const cairn_body_def def = cairn_body_def_default();
    shapes[2].density = -1.0f;
    assert_int_equal(
        cairn_body_create_compound(world, &def, shapes, 3, &body, ids), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(body, 0);
    assert_int_equal(ids[0], 0);
    assert_int_equal(cairn_world_counts_read(world).bodies, 0);
    assert_int_equal(cairn_world_counts_read(world).shapes, 0);
    shapes[2].density = 1.0f;
    shapes[2].kind = CAIRN_SHAPE_HALF_SPACE;
    assert_int_equal(
        cairn_body_create_compound(world, &def, shapes, 3, &body, ids), CAIRN_INVALID_ARGUMENT);
    assert_true(cairn_hash_equal(before, kit_hash(world)));
}

// ---- Closed triangle meshes

static const uint32_t box_triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2,
    6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static void box_vertices(cairn_vec3 *out, cairn_vec3 half, cairn_vec3 centre) {
    for (uint32_t i = 0; i < 8; ++i) {
        out[i] =
            vec3_add(centre, vec3((i & 1) != 0 ? half.x : -half.x, (i & 2) != 0 ? half.y : -half.y,
                                 (i & 4) != 0 ? half.z : -half.z));
    }
}

TEST("a box of triangles, far from the origin, has the box's mass") {
    cairn_vec3 vertices[8];
    cairn_mass_properties mass;
    const cairn_vec3 half = vec3(0.5f, 1.0f, 0.25f);
    const cairn_vec3 centre = vec3(300, -20, 5);
    box_vertices(vertices, half, centre);
    assert_null(cairn_triangles_mass(vertices, 8, box_triangles, 12, 500.0f, &mass));
    expect_ratio((double)mass.mass, 500, 1e-6, "mass");
    assert_true(vec3_distance(mass.centre, centre) < 1e-4f);
    expect_ratio((double)mass.inertia[0], 500.0 / 3 * (1 + 0.0625), 1e-5, "xx");
    expect_ratio((double)mass.inertia[1], 500.0 / 3 * (0.25 + 0.0625), 1e-5, "yy");
    expect_ratio((double)mass.inertia[2], 500.0 / 3 * (0.25 + 1), 1e-5, "zz");
    for (uint32_t i = 3; i < 6; ++i) {
        assert_true(fabsf(mass.inertia[i]) < 1e-3f);
    }
}

// The corner of a cube, (0,0,0), (1,0,0), (0,1,0), (0,0,1): volume 1/6, centre (1,1,1)/4; about the
// centre Ixx = 3/80 * ... = m * 3/40 and Ixy = m / 80 (Tonon 2004).
TEST("a tetrahedron of triangles has the closed form's moments") {
    const cairn_vec3 vertices[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const uint32_t indices[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    cairn_mass_properties mass;
    assert_null(cairn_triangles_mass(vertices, 4, indices, 4, 6.0f, &mass));
    expect_ratio((double)mass.mass, 1, 1e-6, "mass");
    assert_true(vec3_distance(mass.centre, vec3(0.25f, 0.25f, 0.25f)) < 1e-6f);
    for (uint32_t i = 0; i < 3; ++i) {
        expect_ratio((double)mass.inertia[i], 3.0 / 40, 1e-5, "moment");
        expect_ratio((double)mass.inertia[3 + i], 1.0 / 80, 1e-5, "product");
    }
}

// A ball of `rings` by `rings` quads: nearly 2/5 m r^2. A smaller ball, inside out, hollows it.
enum {
    RINGS = 40,
    BALL_VERTICES = RINGS * (RINGS - 1) + 2,
    BALL_TRIANGLES = 2 * RINGS * (RINGS - 1)
};

static void ball_of_triangles(
    cairn_vec3 *vertices, uint32_t *indices, double radius, uint32_t first, bool inside_out) {
    uint32_t count = 0;
    vertices[0] = vec3(0, (float)radius, 0);
    vertices[BALL_VERTICES - 1] = vec3(0, (float)-radius, 0);
    for (uint32_t i = 1; i < RINGS; ++i) {
        for (uint32_t k = 0; k < RINGS; ++k) {
            const double down = PI * i / RINGS;
            const double around = 2 * PI * k / RINGS;
            vertices[1 + (i - 1) * RINGS + k] = vec3((float)(radius * sin(down) * cos(around)),
                (float)(radius * cos(down)), (float)(radius * sin(down) * sin(around)));
        }
    }
    for (uint32_t i = 0; i < RINGS; ++i) {
        for (uint32_t k = 0; k < RINGS; ++k) {
            const uint32_t next = (k + 1) % RINGS;
            const uint32_t a = i == 0 ? 0 : 1 + (i - 1) * RINGS + k;
            const uint32_t b = i == 0 ? 0 : 1 + (i - 1) * RINGS + next;
            const uint32_t c = i + 1 == RINGS ? BALL_VERTICES - 1 : 1 + i * RINGS + k;
            const uint32_t d = i + 1 == RINGS ? BALL_VERTICES - 1 : 1 + i * RINGS + next;
            const uint32_t triangles[2][3] = {{a, d, c}, {a, b, d}};
            for (uint32_t t = 0; t < 2; ++t) {
                const uint32_t *corner = triangles[t];
                if (corner[0] == corner[1] || corner[1] == corner[2] || corner[0] == corner[2]) {
                    continue;
                }
                indices[3 * count] = first + corner[0];
                indices[3 * count + 1] = first + corner[inside_out ? 2 : 1];
                indices[3 * count + 2] = first + corner[inside_out ? 1 : 2];
                count += 1;
            }
        }
    }
    assert_int_equal(count, BALL_TRIANGLES);
}

TEST("a ball of triangles has nearly 2/5 m r^2, a hollow one more") {
    static cairn_vec3 vertices[2 * BALL_VERTICES];
    static uint32_t indices[2 * 3 * BALL_TRIANGLES];
    cairn_mass_properties mass;
    ball_of_triangles(vertices, indices, 1.0, 0, false);
    ball_of_triangles(
        &vertices[BALL_VERTICES], &indices[3 * BALL_TRIANGLES], 0.8, BALL_VERTICES, true);
    assert_null(
        cairn_triangles_mass(vertices, BALL_VERTICES, indices, BALL_TRIANGLES, 1000.0f, &mass));
    expect_ratio((double)mass.mass, 4000.0 / 3 * PI, 0.01, "mass");
    for (uint32_t i = 0; i < 3; ++i) {
        expect_ratio((double)mass.inertia[i], 0.4 * (double)mass.mass, 0.006, "moment");
    }
    assert_null(cairn_triangles_mass(
        vertices, 2 * BALL_VERTICES, indices, 2 * BALL_TRIANGLES, 1000.0f, &mass));
    const double hollow = 0.4 * (1 - pow(0.8, 5)) / (1 - pow(0.8, 3));
    expect_ratio((double)mass.mass, 4000.0 / 3 * PI * (1 - 0.512), 0.01, "mass of the shell");
    expect_ratio((double)mass.inertia[1], hollow * (double)mass.mass, 0.006, "of the shell");
}

TEST("meshes that bound no volume are refused with a reason") {
    cairn_vec3 vertices[8];
    uint32_t indices[36];
    cairn_mass_properties mass;
    box_vertices(vertices, vec3(1, 1, 1), vec3_zero());
    memcpy(indices, box_triangles, sizeof indices);
    assert_string_equal(
        cairn_triangles_mass(vertices, 8, indices, 3, 1.0f, &mass), "fewer than four triangles");
    assert_string_equal(
        cairn_triangles_mass(vertices, 8, indices, 11, 1.0f, &mass), "the surface is not closed");
    assert_string_equal(cairn_triangles_mass(vertices, 8, indices, 12, 0.0f, &mass),
        "the density is not in (0, 1e6]");
    for (uint32_t i = 0; i < 36; i += 3) {
        indices[i] = box_triangles[i + 1];
        indices[i + 1] = box_triangles[i];
    }
    assert_string_equal(cairn_triangles_mass(vertices, 8, indices, 12, 1.0f, &mass),
        "the triangles are clockwise seen from outside");
    assert_true(mass.mass == 0.0f);
    memcpy(indices, box_triangles, sizeof indices);
    indices[5] = 8;
    assert_string_equal(cairn_triangles_mass(vertices, 8, indices, 12, 1.0f, &mass),
        "an index is not below the number of vertices");
    box_vertices(vertices, vec3(1, 0, 1), vec3_zero());
    assert_string_equal(cairn_triangles_mass(vertices, 8, box_triangles, 12, 1.0f, &mass),
        "the surface holds no volume");
    vertices[3].y = NAN;
    assert_string_equal(cairn_triangles_mass(vertices, 8, box_triangles, 12, 1.0f, &mass),
        "a coordinate is not a number");
}
