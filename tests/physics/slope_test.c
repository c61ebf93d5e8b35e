// SPDX-License-Identifier: MIT
// Dry friction on a slope. A body on a slope of angle A rests while tan A < mu; beyond, it slides
// with g (sin A - mu cos A).

#include "tests/physics/mechanics_kit.h"
#include "tests/physics/mesh_kit.h"

#define DEGREE (3.14159265358979 / 180.0)

// The acceleration down a slope of a box that slides for the second second.
static double acceleration(uint32_t solver, uint32_t model, double angle, float friction) {
    cairn_world_def def = cairn_world_def_default();
    def.solver = solver;
    def.friction_model = model;
    SCOPED(cairn_world) *world = kit_world(&def);
    cairn_body_def body = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    shape.friction = friction;
    body.rotation = turned(vec3(0.0f, 0.0f, 1.0f), (float)angle);
    body.position = quat_rotate(body.rotation, vec3(0.0f, 0.25f, 0.0f));
    shape.half_extents = vec3(0.5f, 0.25f, 0.5f);
    const cairn_body_id box = kit_body(world, &body, &shape);
    body.kind = CAIRN_BODY_STATIC;
    body.position = vec3_zero();
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    kit_body(world, &body, &shape);
    kit_run(world, 60);
    const float before = vec3_length(kit_read(world, box).linear_velocity);
    kit_run(world, 60);
    return (double)(vec3_length(kit_read(world, box).linear_velocity) - before);
}

TEST("a box slides down a slope with g (sin - mu cos) and rests below the angle of friction") {
    static const struct {
        double degrees;
        float friction;
    } rows[] = {{20.0, 0.5f}, {26.0, 0.5f}, {27.5, 0.5f}, {30.0, 0.5f}, {45.0, 0.5f}, {10.0, 0.0f},
        {16.0, 0.3f}, {18.0, 0.3f}, {40.0, 0.8f}, {60.0, 1.0f}};
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; ++i) {
        const double angle = rows[i / 2].degrees * DEGREE;
        const double slip = sin(angle) - (double)rows[i / 2].friction * cos(angle);
        const double wanted = slip > 0.0 ? 9.81 * slip : 0.0;
        const double got = acceleration(i % 2, CAIRN_FRICTION_COULOMB, angle, rows[i / 2].friction);
        EXPECT_MEASURED(got, wanted, 0.005 * 9.81);
    }
}

// Catto 2005 bounds friction by mu m g instead, so that it does not need the normal force: a box
// slides with g (sin A - mu).
TEST("constant friction is that of the whole weight on any slope") {
    static const double degrees[] = {15.0, 20.0, 27.5, 30.0, 45.0};
    for (size_t i = 0; i < sizeof degrees / sizeof degrees[0]; ++i) {
        const double slip = sin(degrees[i] * DEGREE) - 0.4;
        const double got =
            acceleration(CAIRN_SOLVER_PGS, CAIRN_FRICTION_CONSTANT, degrees[i] * DEGREE, 0.4f);
        EXPECT_MEASURED(got, slip > 0.0 ? 9.81 * slip : 0.0, 0.01 * 9.81);
    }
}

// ---- a platform that tilts slowly

typedef struct platform {
    uint32_t solver;
    uint32_t kind; // of the platform: kinematic, or a dynamic one of a thousand times the mass
    bool is_mesh;
    float half_width; // m, of the box on it
    float friction;
    double rate; // degrees per second
} platform;

// The angle in degrees at which the box has slipped by half a millimetre.
static double slip_angle(const platform *p) {
    cairn_world_def def = mesh_world_def();
    def.solver = p->solver;
    SCOPED(cairn_world) *world = kit_world(&def);
    cairn_body_def body = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    const float w = (float)(p->rate * DEGREE);
    const float size = 10.0f * p->half_width;
    shape.friction = p->friction;
    shape.half_extents = vec3(size, size, size);
    shape.density = 1e5f;
    body.kind = p->kind;
    body.gravity_scale = 0.0f;
    if (p->is_mesh) {
        SCOPED(mesh_grid) grid = mesh_grid_flat(9, 9, 0.25f * size);
        shape.kind = CAIRN_SHAPE_MESH;
        shape.mesh = mesh_of(world, &grid);
        body.position.y = size;
    }
    const cairn_body_id deck = kit_body(world, &body, &shape);
    shape.kind = CAIRN_SHAPE_BOX;
    shape.mesh = 0;
    shape.density = 1000.0f;
    shape.half_extents = vec3(p->half_width, p->half_width, p->half_width);
    const cairn_body_id box = kit_drop(world, vec3(0.0f, size + p->half_width, 0.0f), &shape);
    cairn_vec3 start = vec3_zero();
    for (uint32_t tick = 0; tick < 60 * 600; ++tick) {
        if (tick < 60) { // comes to rest first
            EXPECT_OK(cairn_body_set_velocity(world, deck, vec3_zero(), vec3_zero()));
        } else {
            EXPECT_OK(cairn_body_set_velocity(world, deck, vec3_zero(), vec3(0.0f, 0.0f, w)));
        }
        kit_run(world, 1);
        const cairn_body_state a = kit_read(world, deck);
        const cairn_vec3 at =
            quat_rotate_inverse(a.rotation, vec3_sub(kit_read(world, box).position, a.position));
        start = tick < 60 ? at : start;
        if (fabsf(at.x - start.x) > 5e-4f) {
            return 2.0 * asin((double)a.rotation.z) / DEGREE;
        }
    }
    return 90.0;
}

TEST("a box on a platform that tilts slips within half a degree of the angle of friction") {
    for (uint32_t i = 0; i < 2 * 2 * 2 * 2; ++i) {
        const platform p = {.solver = i & 1u,
            .kind = (i & 2u) != 0 ? CAIRN_BODY_KINEMATIC : CAIRN_BODY_DYNAMIC,
            .half_width = (i & 4u) != 0 ? 0.5f : 0.1f,
            .friction = (i & 8u) != 0 ? 0.3f : 0.5f,
            .rate = 0.5};
        const double wanted = atan((double)p.friction) / DEGREE;
        const double got = slip_angle(&p);
        EXPECT_MEASURED(got, wanted, 0.5);
    }
}

TEST("the same of a platform that is a mesh") {
    for (uint32_t i = 0; i < 2 * 2 * 2; ++i) {
        const platform p = {.solver = i & 1u,
            .kind = CAIRN_BODY_KINEMATIC,
            .is_mesh = true,
            .half_width = (i & 2u) != 0 ? 0.5f : 0.1f,
            .friction = (i & 4u) != 0 ? 0.3f : 0.5f,
            .rate = 0.5};
        EXPECT_MEASURED(slip_angle(&p), atan((double)p.friction) / DEGREE, 0.5);
    }
}

// ---- a turntable

// A box at the distance r from the axis is held by friction while w^2 r < mu g, and goes around
// with the table.
TEST("a box on a turntable goes around with it while friction can hold it") {
    FOR_BOTH_SOLVERS(solver) {
        for (int i = 0; i < 2; ++i) {
            const float w = i == 0 ? 1.4f : 1.7f; // 0.5 g / 2 m is (1.57 rad/s)^2
            SCOPED(cairn_world) *world = world_on_earth(solver);
            cairn_body_def def = cairn_body_def_default();
            const cairn_shape_def plate = box(4.0f, 0.5f, 4.0f);
            const cairn_shape_def flat = box(0.2f, 0.05f, 0.2f);
            def.kind = CAIRN_BODY_KINEMATIC;
            const cairn_body_id table = kit_body(world, &def, &plate);
            const cairn_body_id load = kit_drop(world, vec3(2.0f, 0.55f, 0.0f), &flat);
            kit_run(world, 30);
            for (uint32_t tick = 0; tick < 600; ++tick) { // so slowly that it does not slip
                const float now = float_min(w, w * (float)tick / 420.0f);
                EXPECT_OK(
                    cairn_body_set_velocity(world, table, vec3_zero(), vec3(0.0f, now, 0.0f)));
                kit_run(world, 1);
            }
            const cairn_body_state box_now = kit_read(world, load);
            const float radius = hypotf(box_now.position.x, box_now.position.z);
            if (i == 0) {
                EXPECT_MEASURED(radius, 2.0f, solver == CAIRN_SOLVER_PGS ? 0.04f : 0.002f);
                EXPECT_MEASURED(vec3_length(box_now.linear_velocity), w * 2.0f, 0.05f);
                EXPECT_MEASURED(box_now.angular_velocity.y, w, 0.02f);
            } else {
                assert_true(radius > 2.5f);
            }
        }
    }
}
