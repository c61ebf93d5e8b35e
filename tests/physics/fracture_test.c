// SPDX-License-Identifier: MIT
// Bodies that break into Voronoi cells: what the pieces have of the whole, where they lie, and how
// they go on. fracture_state_test.c has the rest.

#include "tests/physics/energy_kit.h"
#include "tests/physics/fracture_kit.h"

#include <string.h>

#include "sim/shape/hull.h"

// ---- Sums over bodies, in double precision

typedef struct sums {
    double mass;
    double moment[3]; // of mass, kg m
    double momentum[3];
    double angular[3]; // about the origin of the world
    double energy;
} sums;

static void add_cross(const double a[3], const double b[3], double scale, double out[3]) {
    out[0] += scale * (a[1] * b[2] - a[2] * b[1]);
    out[1] += scale * (a[2] * b[0] - a[0] * b[2]);
    out[2] += scale * (a[0] * b[1] - a[1] * b[0]);
}

static void add_body(const cairn_world *world, cairn_body_id id, sums *out) {
    const cairn_body_state state = kit_read(world, id);
    cairn_mass_properties mass;
    EXPECT_OK(cairn_body_read_mass(world, id, &mass));
    const double m = (double)mass.mass;
    const cairn_vec3 arm = quat_rotate(state.rotation, mass.centre);
    const double x[3] = {(double)state.position.x + (double)arm.x,
        (double)state.position.y + (double)arm.y, (double)state.position.z + (double)arm.z};
    const double v[3] = {(double)state.linear_velocity.x, (double)state.linear_velocity.y,
        (double)state.linear_velocity.z};
    const cairn_vec3 w = quat_rotate_inverse(state.rotation, state.angular_velocity);
    const cairn_vec3 spin = sym3_apply(sym3_of(mass.inertia), w);
    const cairn_vec3 turned = quat_rotate(state.rotation, spin);
    out->mass += m;
    for (uint32_t k = 0; k < 3; ++k) {
        out->moment[k] += m * x[k];
        out->momentum[k] += m * v[k];
        out->angular[k] += (double)vec3_component(turned, k);
    }
    add_cross(x, v, m, out->angular);
    out->energy += 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    out->energy += 0.5 * (double)vec3_dot(w, spin);
}

static sums sums_of(const cairn_world *world, const pieces *of) {
    sums total = {.mass = 0.0};
    for (uint32_t i = 0; i < of->count; ++i) {
        add_body(world, of->ids[i], &total);
    }
    return total;
}

static double length(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void expect_sums(const sums *got, const sums *wanted) {
    const double reach = 10.0; // m, of these bodies
    EXPECT_MEASURED(got->mass / wanted->mass, 1.0, 5e-6);
    EXPECT_MEASURED(got->energy / wanted->energy, 1.0, 2e-5);
    for (uint32_t k = 0; k < 3; ++k) {
        EXPECT_MEASURED((got->moment[k] - wanted->moment[k]) / wanted->mass, 0.0, 2e-6 * reach);
        EXPECT_MEASURED(
            (got->momentum[k] - wanted->momentum[k]) / length(wanted->momentum), 0.0, 1e-5);
        EXPECT_MEASURED((got->angular[k] - wanted->angular[k]) /
                            (reach * length(wanted->momentum) + length(wanted->angular)),
            0.0, 1e-5);
    }
}

// ---- What the pieces have of the whole

// Closed form: the sum over the parts of a rigid body is the body, for mass, centre of mass,
// momentum, angular momentum (Steiner's term is that of the velocities w x r) and energy.
TEST("the pieces have the mass, centre, momentum, angular momentum and energy of the whole") {
    cairn_random random = cairn_random_of(1);
    for (uint32_t i = 0; i < 60; ++i) {
        SCOPED(cairn_world) *world = roomy_world(vec3_zero(), CAIRN_SOLVER_SOFT_STEP);
        const cairn_body_id body = any_body(world, &random, i);
        cairn_fracture_def def =
            at_point(vec3_add(centre_of(world, body), any_vector(&random, 0.2f)), i);
        pieces whole = {.count = 1, .ids = {body}};
        const sums before = sums_of(world, &whole);
        def.pieces = 2 + i % 30;
        def.crowding = (float)(i % 3) * 0.5f;
        const pieces made = shatter(world, body, &def);
        const sums after = sums_of(world, &made);
        assert_true(made.count >= 2 && made.count <= def.pieces);
        expect_sums(&after, &before);
    }
}

// The volume of a box is 8 a b c, of a cylinder pi r^2 h, of a cone a third of that.
TEST("the volumes of the pieces are that of the closed form") {
    const struct {
        uint32_t kind;
        double volume;
    } cases[] = {{CAIRN_SHAPE_BOX, 8.0 * 0.5 * 0.4 * 0.3},
        {CAIRN_SHAPE_CYLINDER, 3.14159265358979 * 0.36 * 1.4},
        {CAIRN_SHAPE_CONE, 3.14159265358979 * 0.36 * 1.4 / 3.0}};
    for (uint32_t i = 0; i < 3; ++i) {
        for (uint64_t seed = 0; seed < 20; ++seed) {
            SCOPED(cairn_world) *world = roomy_world(vec3_zero(), CAIRN_SOLVER_SOFT_STEP);
            cairn_shape_def shape = box(0.5f, 0.4f, 0.3f);
            shape.kind = cases[i].kind;
            shape.radius = 0.6f;
            shape.half_height = 0.7f;
            const cairn_body_id body = kit_drop(world, vec3(1.0f, 2.0f, 3.0f), &shape);
            cairn_fracture_def def = at_point(vec3(1.0f, 2.0f, 3.3f), seed);
            def.pieces = 2 + (uint32_t)seed * 3;
            const pieces made = shatter(world, body, &def);
            EXPECT_MEASURED(
                sums_of(world, &made).mass / (double)DENSITY / cases[i].volume, 1.0, 2e-6);
        }
    }
}

// A point that is not within a millimetre of a boundary is in one piece if it is in the body, and
// in none if it is not.
TEST("each point of the whole is in one piece") {
    cairn_random random = cairn_random_of(2);
    uint32_t boundary = 0;
    for (uint32_t i = 0; i < 20; ++i) {
        SCOPED(cairn_world) *world = roomy_world(vec3_zero(), CAIRN_SOLVER_SOFT_STEP);
        const cairn_body_id body = any_body(world, &random, 2 * (i % 2));
        SCOPED(cairn_world) *intact = kit_fork(world);
        const cairn_vec3 middle = centre_of(world, body);
        cairn_fracture_def def = at_point(middle, i);
        def.pieces = 24;
        (void)shatter(world, body, &def);
        for (uint32_t k = 0; k < 500; ++k) {
            const cairn_query_filter filter = cairn_query_filter_default();
            const cairn_vec3 point = vec3_add(middle, any_vector(&random, 2.0f));
            cairn_shape_def probe = ball(CAIRN_SHAPE_SIZE_MIN);
            cairn_shape_id found[4];
            const cairn_pose pose = {.position = point, .rotation = quat_identity()};
            const uint32_t near_pieces =
                cairn_world_overlap_shape(world, &probe, pose, &filter, found, 4);
            const uint32_t near_whole =
                cairn_world_overlap_shape(intact, &probe, pose, &filter, found, 4);
            const uint32_t in = cairn_world_shapes_at_point(world, point, &filter, found, 4);
            const uint32_t in_whole = cairn_world_shapes_at_point(intact, point, &filter, found, 4);
            assert_true(in_whole == 0 || near_pieces > 0); // no gap of a millimetre
            if (near_pieces > 1 || near_pieces != near_whole || in_whole != near_whole) {
                boundary += 1;
                continue;
            }
            assert_int_equal(in, in_whole);
        }
    }
    assert_true(boundary < 20 * 500 / 10);
}

TEST("a piece has everything else of the body, and its frame is turned alike") {
    SCOPED(cairn_world) *world = roomy_world(vec3_zero(), CAIRN_SOLVER_SOFT_STEP);
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = box(0.5f, 0.5f, 0.5f);
    def.rotation = turned(vec3(0.0f, 0.6f, 0.8f), 1.0f);
    def.linear_damping = 0.25f;
    def.angular_damping = 0.5f;
    def.gravity_scale = 2.0f;
    def.gyroscopic = 1;
    def.allow_sleep = 0;
    def.user = 77;
    def.name = cairn_name_hash("glass");
    def.locks = CAIRN_LOCK_LINEAR_Z;
    def.bullet = 1;
    shape.density = 300.0f;
    shape.friction = 0.7f;
    shape.static_friction = 0.8f;
    shape.restitution = 0.3f;
    shape.rolling_resistance = 0.01f;
    shape.spin_resistance = 0.02f;
    shape.friction_combine = CAIRN_COMBINE_MAXIMUM;
    shape.restitution_combine = CAIRN_COMBINE_MINIMUM;
    shape.surface_velocity = vec3(1.0f, 2.0f, 3.0f);
    shape.category = 4;
    shape.mask = 6;
    shape.user = 99;
    shape.name = cairn_name_hash("pane");
    shape.flags = CAIRN_SHAPE_HIT_EVENTS;
    const cairn_body_id body = kit_body(world, &def, &shape);
    EXPECT_OK(cairn_body_set_owner(world, body, 5));
    const cairn_fracture_def fracture = at_point(vec3_zero(), 3);
    const pieces made = shatter(world, body, &fracture);
    for (uint32_t i = 0; i < made.count; ++i) {
        cairn_body_def got;
        cairn_shape_def piece;
        cairn_shape_id id;
        cairn_body_id owner;
        EXPECT_OK(cairn_body_read_def(world, made.ids[i], &got));
        assert_int_equal(kit_read(world, made.ids[i]).owner, 5);
        got.position = def.position;
        assert_true(vec3_distance(vec3(got.rotation.x, got.rotation.y, got.rotation.z),
                        vec3(def.rotation.x, def.rotation.y, def.rotation.z)) < 1e-6f);
        got.rotation = def.rotation;
        assert_memory_equal(&got, &def, sizeof def);
        assert_int_equal(cairn_body_shapes(world, made.ids[i], &id, 1), 1);
        EXPECT_OK(cairn_shape_read(world, id, &piece, &owner));
        assert_int_equal(piece.flags, CAIRN_SHAPE_HIT_EVENTS | CAIRN_SHAPE_OWNS_HULL);
        assert_int_equal(piece.kind, CAIRN_SHAPE_HULL);
        piece.kind = shape.kind;
        piece.flags = shape.flags;
        piece.hull = shape.hull;
        piece.half_extents = shape.half_extents;
        piece.radius = shape.radius;
        piece.half_height = shape.half_height;
        assert_memory_equal(&piece, &shape, sizeof shape);
    }
}

TEST("a mass that was set is divided by volume") {
    SCOPED(cairn_world) *world = roomy_world(vec3_zero(), CAIRN_SOLVER_SOFT_STEP);
    cairn_body_def moving = cairn_body_def_default();
    moving.linear_velocity = vec3(1.0f, 2.0f, -3.0f);
    moving.angular_velocity = vec3(3.0f, -1.0f, 2.0f);
    const cairn_body_id body = kit_body(world, &moving, NULL);
    EXPECT_OK(cairn_body_set_mass(world, body, 7.0f));
    pieces whole = {.count = 1, .ids = {body}};
    const sums before = sums_of(world, &whole);
    const cairn_fracture_def def = at_point(vec3_zero(), 4);
    const pieces made = shatter(world, body, &def);
    const sums after = sums_of(world, &made);
    EXPECT_MEASURED(after.mass, 7.0, 1e-5);
    expect_sums(&after, &before);
}

// ---- Where the cells are

static double mean_distance(const cairn_world *world, const pieces *of, cairn_vec3 from) {
    double sum = 0.0;
    for (uint32_t i = 0; i < of->count; ++i) {
        sum += (double)vec3_distance(kit_read(world, of->ids[i]).position, from);
    }
    return sum / of->count;
}

// The mean distance of a uniform point in a cube of side 2 from its centre is 0.9606 m. In the
// crowd it is a third of that: the mean of the square of a uniform number.
TEST("pieces crowd around the point of impact") {
    double means[2] = {0.0, 0.0};
    for (uint32_t crowded = 0; crowded < 2; ++crowded) {
        for (uint64_t seed = 0; seed < 30; ++seed) {
            SCOPED(cairn_world) *world = roomy_world(vec3_zero(), CAIRN_SOLVER_SOFT_STEP);
            cairn_shape_def shape = box(1.0f, 1.0f, 1.0f);
            const cairn_body_id body = kit_drop(world, vec3_zero(), &shape);
            cairn_fracture_def def = at_point(vec3_zero(), seed);
            def.pieces = 40;
            def.crowding = (float)crowded;
            const pieces made = shatter(world, body, &def);
            means[crowded] += mean_distance(world, &made, vec3_zero()) / 30.0;
        }
    }
    EXPECT_MEASURED(means[0], 0.9606, 0.1);
    assert_true(means[1] < 0.6 * means[0]);
}

// The least width over the faces, as cairn/fracture.h bounds it.
static float thickness_of(const cairn_world *world, cairn_body_id piece) {
    cairn_shape_id shape;
    cairn_shape_def def;
    cairn_body_id owner;
    cairn_vec3 vertices[CAIRN_HULL_VERTICES_MAX];
    uint32_t count;
    cairn_hull hull;
    float least = 1e9f;
    assert_int_equal(cairn_body_shapes(world, piece, &shape, 1), 1);
    EXPECT_OK(cairn_shape_read(world, shape, &def, &owner));
    EXPECT_OK(cairn_hull_read(world, def.hull, vertices, &count));
    assert_null(cairn_hull_build(vertices, count, &hull));
    for (uint32_t i = 0; i < hull.face_count; ++i) {
        float depth = 0.0f;
        for (uint32_t k = 0; k < hull.vertex_count; ++k) {
            depth = float_max(
                depth, hull.planes[i].offset - vec3_dot(hull.planes[i].normal, hull.vertices[k]));
        }
        least = float_min(least, depth);
    }
    return least;
}

TEST("no piece is thinner than what was asked for, and the volume stays") {
    uint32_t fewer = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED(cairn_world) *world = roomy_world(vec3_zero(), CAIRN_SOLVER_SOFT_STEP);
        const cairn_body_id body = kit_cube(world, vec3_zero());
        cairn_fracture_def def = at_point(vec3(0.5f, 0.5f, 0.5f), seed);
        def.pieces = 64;
        def.crowding = 0.75f;
        def.thickness_min = 0.04f;
        const pieces made = shatter(world, body, &def);
        fewer += made.count < 64 ? 1u : 0u;
        for (uint32_t i = 0; i < made.count; ++i) {
            assert_true(thickness_of(world, made.ids[i]) >= 0.999f * def.thickness_min);
        }
        EXPECT_MEASURED(sums_of(world, &made).mass, 1000.0, 0.02);
    }
    assert_true(fewer > 20);
}

// A pane of 6 mm breaks although 2 cm is asked for, because that is more than half of it.
TEST("a pane breaks into pieces that are as thick as the pane") {
    SCOPED(cairn_world) *world = roomy_world(vec3_zero(), CAIRN_SOLVER_SOFT_STEP);
    const cairn_body_id pane = kit_box(world, vec3_zero(), vec3(0.8f, 0.5f, 0.003f), 2500.0f);
    cairn_fracture_def def = at_point(vec3(0.1f, 0.2f, 0.0f), 5);
    def.pieces = 40;
    const pieces made = shatter(world, pane, &def);
    assert_true(made.count > 20);
    EXPECT_MEASURED(sums_of(world, &made).mass, 2500.0 * 1.6 * 1.0 * 0.006, 24.0 * 1e-4);
}

TEST("a hull of 128 vertices breaks, and pieces break again") {
    SCOPED(cairn_world) *world = roomy_world(vec3_zero(), CAIRN_SOLVER_SOFT_STEP);
    cairn_vec3 points[128];
    for (uint32_t i = 0; i < 128; ++i) {
        const float y = 1.0f - (2.0f * (float)i + 1.0f) / 128.0f;
        const float angle = (float)i * 2.39996323f;
        const float ring = sqrtf(1.0f - y * y);
        points[i] = vec3(ring * cosf(angle), y, ring * sinf(angle));
    }
    const cairn_shape_def shape = hull_of(world, points, 128);
    const cairn_body_id body = kit_drop(world, vec3_zero(), &shape);
    const double mass = (double)cairn_body_mass(world, body);
    cairn_fracture_def def = at_point(vec3(0.0f, 1.0f, 0.0f), 6);
    def.pieces = 8;
    pieces made = shatter(world, body, &def);
    for (uint32_t level = 0; level < 3; ++level) {
        uint32_t heaviest = 0;
        for (uint32_t i = 1; i < made.count; ++i) {
            heaviest =
                cairn_body_mass(world, made.ids[i]) > cairn_body_mass(world, made.ids[heaviest])
                    ? i
                    : heaviest;
        }
        def.point = kit_read(world, made.ids[heaviest]).position;
        const pieces more = shatter(world, made.ids[heaviest], &def);
        made.ids[heaviest] = more.ids[0];
        memcpy(&made.ids[made.count], &more.ids[1], (more.count - 1) * sizeof more.ids[0]);
        made.count += more.count - 1;
    }
    EXPECT_MEASURED(sums_of(world, &made).mass / mass, 1.0, 5e-5);
    assert_int_equal(cairn_world_counts_read(world).hulls, made.count + 1); // and that of 128
}

// ---- How they move

static float greatest_speed(const cairn_world *world, const pieces *of) {
    float most = 0.0f;
    for (uint32_t i = 0; i < of->count; ++i) {
        const cairn_body_state state = kit_read(world, of->ids[i]);
        most = float_max(most, vec3_length(state.linear_velocity));
        most = float_max(most, 0.2f * vec3_length(state.angular_velocity));
    }
    return most;
}

TEST("a wall that breaks at rest in space stays where it is") {
    FOR_BOTH_SOLVERS(solver) {
        for (uint64_t seed = 0; seed < 10; ++seed) {
            SCOPED(cairn_world) *world = roomy_world(vec3_zero(), solver);
            const cairn_body_id wall =
                kit_box(world, vec3(3.0f, 1.0f, -2.0f), vec3(1.5f, 1.0f, 0.15f), DENSITY);
            cairn_fracture_def def = at_point(vec3(3.3f, 1.2f, -1.85f), seed);
            def.pieces = 30;
            const pieces made = shatter(world, wall, &def);
            kit_run(world, 60);
            EXPECT_MEASURED(greatest_speed(world, &made), 0.0, 1e-3);
        }
    }
}

// It may slump, but nothing is thrown: the heap has no more energy than the wall had, in any tick,
// and nothing sinks into the ground.
TEST("a wall that breaks on the ground becomes a heap that comes to rest") {
    uint32_t awake = 0;
    for (uint64_t seed = 0; seed < 8; ++seed) {
        SCOPED(cairn_world) *world =
            roomy_world(vec3(0.0f, -GRAVITY, 0.0f), CAIRN_SOLVER_SOFT_STEP);
        (void)kit_ground(world);
        const cairn_body_id wall =
            kit_box(world, vec3(0.0f, 1.0f, 0.0f), vec3(1.5f, 1.0f, 0.15f), DENSITY);
        kit_run(world, 30);
        const double before = energy(world);
        cairn_fracture_def def = at_point(vec3(0.3f, 1.2f, 0.15f), seed);
        def.pieces = 30;
        const pieces made = shatter(world, wall, &def);
        EXPECT_MEASURED(energy(world) / before, 1.0, 1e-5);
        double most = 0.0;
        for (uint32_t tick = 0; tick < 60 * 12; ++tick) {
            kit_run(world, 1);
            most = fmax(most, energy(world));
        }
        assert_true(most < 1.002 * before);
        awake += cairn_world_counts_read(world).bodies_awake;
        for (uint32_t i = 0; i < made.count; ++i) {
            const cairn_vec3 at = kit_read(world, made.ids[i]).position;
            assert_true(at.y > 0.0f && fabsf(at.x) < 4.0f && fabsf(at.z) < 4.0f);
        }
    }
    assert_true(awake <= 1);
}

// What breaks while it turns flies apart as it should: each piece goes on straight.
TEST("pieces of a body that turns fly on along the tangents") {
    SCOPED(cairn_world) *world = roomy_world(vec3_zero(), CAIRN_SOLVER_SOFT_STEP);
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = box(1.0f, 1.0f, 1.0f);
    def.angular_velocity = vec3(0.0f, 0.0f, 4.0f);
    const cairn_body_id body = kit_body(world, &def, &shape);
    const cairn_fracture_def fracture = at_point(vec3_zero(), 8);
    const pieces made = shatter(world, body, &fracture);
    for (uint32_t i = 0; i < made.count; ++i) {
        const cairn_body_state state = kit_read(world, made.ids[i]);
        expect_vec3(state.linear_velocity, vec3_cross(def.angular_velocity, state.position), 1e-5f);
        expect_vec3(state.angular_velocity, def.angular_velocity, 1e-6f);
    }
}

// ---- Joints

TEST("a joint holds the piece at its anchor and keeps its id") {
    SCOPED(cairn_world) *world = roomy_world(vec3(0.0f, -GRAVITY, 0.0f), CAIRN_SOLVER_SOFT_STEP);
    const cairn_body_id beam =
        kit_box(world, vec3(0.0f, 5.0f, 0.0f), vec3(1.0f, 0.2f, 0.2f), DENSITY);
    const cairn_body_id hook = kit_kinematic(world, vec3(-1.0f, 7.0f, 0.0f), vec3_zero());
    const cairn_body_id weight = kit_cube(world, vec3(1.0f, 3.0f, 0.0f));
    cairn_joint_def up = cairn_joint_def_default();
    cairn_joint_def down = cairn_joint_def_default();
    up.body_a = hook;
    up.body_b = beam;
    up.anchor_a = vec3(0.0f, -1.5f, 0.0f);
    up.anchor_b = vec3(-1.0f, 0.5f, 0.0f);
    up.motor = 1; // so that it has a drive
    up.motor_force = 10.0f;
    down.body_a = beam;
    down.body_b = weight;
    down.anchor_a = vec3(1.0f, -1.0f, 0.0f);
    down.anchor_b = vec3(0.0f, 1.0f, 0.0f);
    const cairn_joint_id joints[2] = {kit_joint(world, &up), kit_joint(world, &down)};
    kit_run(world, 1);
    cairn_fracture_def fracture = at_point(vec3(0.0f, 5.0f, 0.0f), 9);
    fracture.pieces = 20;
    fracture.crowding = 0.0f;
    const pieces made = shatter(world, beam, &fracture);
    cairn_joint_def got[2];
    for (uint32_t i = 0; i < 2; ++i) {
        float error;
        EXPECT_OK(cairn_joint_read(world, joints[i], &got[i]));
        EXPECT_OK(cairn_joint_error(world, joints[i], &error));
        EXPECT_MEASURED(error, 0.0, 2e-3);
    }
    assert_int_equal(got[0].body_a, hook);
    assert_int_equal(got[1].body_b, weight);
    // The pieces at the two ends, not one and the same.
    const cairn_vec3 left = kit_read(world, got[0].body_b).position;
    const cairn_vec3 right = kit_read(world, got[1].body_a).position;
    assert_true(left.x < -0.5f && right.x > 0.5f);
    for (uint32_t i = 0; i < made.count; ++i) {
        const cairn_vec3 at = kit_read(world, made.ids[i]).position;
        assert_true(at.x >= left.x - 0.2f && at.x <= right.x + 0.2f);
    }
    kit_run(world, 120);
    assert_true(kit_read(world, got[0].body_b).position.y > 4.0f); // it hangs
    assert_true(kit_read(world, weight).position.y < 0.0f);        // it fell
}
