// SPDX-License-Identifier: MIT
// Triangle meshes. A plane that is cut into triangles is a plane: what rolls and slides on it must
// do as it does on a half-space, whichever edges it crosses. Each such test plays a scene twice, on
// a half-space and on triangles, and compares.

#include "base/random.h"
#include "sim/math/rotation.h"
#include "tests/physics/ride_kit.h"

#define CELL 0.3f // m, smaller than what moves over it

static void tessellated_plane(cairn_world *world) {
    SCOPED(mesh_grid) grid = mesh_grid_flat(61, 61, CELL);
    mesh_ground(world, &grid);
}

TEST("what rolls or slides over triangles of a plane does as on a plane") {
    ride_all(tessellated_plane);
}

TEST("triangles of all shapes, with vertices written once for each triangle, are a plane, too") {
    SCOPED(mesh_grid) grid = mesh_grid_flat(61, 61, CELL);
    const uint32_t count = 6 * 60 * 60;
    // Every inner vertex is moved in the plane, by at most 0.4 cells.
    for (uint32_t i = 0; i < 61 * 61; ++i) {
        grid.vertices[i].x += CELL * 0.4f * sinf(12.9898f * (float)i);
        grid.vertices[i].z += CELL * 0.4f * sinf(78.233f * (float)i + 1.0f);
    }
    cairn_vec3 *soup = malloc(count * sizeof *soup);
    for (uint32_t i = 0; i < count; ++i) {
        soup[i] = grid.vertices[grid.indices[i]];
        grid.indices[i] = i;
    }
    free(grid.vertices);
    grid.vertices = soup;
    const cairn_world_def def = mesh_world_def();
    SCOPED(cairn_world) *world = kit_world(&def);
    const cairn_mesh_def mesh = {.vertices = soup,
        .vertex_count = count,
        .indices = grid.indices,
        .triangle_count = count / 3};
    cairn_mesh_id id = 0;
    EXPECT_OK(cairn_mesh_create(world, &mesh, &id));
    mesh_body(world, CAIRN_BODY_STATIC, id, pose_identity());
    const cairn_body_id ball = kit_sphere(world, vec3(-6.0f, 0.25f, 0.1f), 0.25f);
    const cairn_body_id cube =
        kit_box(world, vec3(-6.0f, 0.25f, 2.1f), vec3(0.25f, 0.25f, 0.25f), 1000.0f);
    EXPECT_OK(
        cairn_body_set_velocity(world, ball, vec3(5.0f, 0.0f, 0.3f), vec3(1.2f, 0.0f, -20.0f)));
    EXPECT_OK(cairn_body_set_velocity(world, cube, vec3(5.0f, 0.0f, 0.3f), vec3_zero()));
    kit_run(world, 20);
    const float ball_height = kit_read(world, ball).position.y;
    const float cube_height = kit_read(world, cube).position.y;
    for (uint32_t tick = 0; tick < 80; ++tick) {
        cairn_world_step(world, NULL, 0);
        EXPECT_MEASURED(kit_read(world, ball).position.y, ball_height, 1e-4f);
        EXPECT_MEASURED(kit_read(world, cube).position.y, cube_height, 1e-4f);
    }
    EXPECT_MEASURED(kit_read(world, ball).linear_velocity.x, 5.0f, 1e-2f);
}

// Strips of 0.25 m in width and 30 m in length.
TEST("nothing is thrown by a plane of slivers") {
    SCOPED(mesh_grid) grid = mesh_grid_flat(121, 2, 1.0f);
    for (uint32_t i = 0; i < 2 * 121; ++i) {
        grid.vertices[i].x *= 0.25f;
        grid.vertices[i].z *= 30.0f;
    }
    static const uint32_t kinds[] = {CAIRN_SHAPE_CYLINDER, CAIRN_SHAPE_CONE, CAIRN_SHAPE_BOX,
        CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_CAPSULE};
    for (uint32_t i = 0; i < 5 * 12; ++i) {
        const cairn_world_def def = mesh_world_def();
        SCOPED(cairn_world) *world = kit_world(&def);
        mesh_ground(world, &grid);
        cairn_shape_def shape = cairn_shape_def_default();
        shape.kind = kinds[i / 12];
        shape.radius = 0.25f;
        shape.half_height = 0.25f;
        shape.half_extents = vec3(0.25f, 0.25f, 0.25f);
        shape.friction = 0.3f;
        const float height = shape.kind == CAIRN_SHAPE_CAPSULE ? 0.5f : 0.25f;
        const float x = -5.0f + 0.83f * (float)(i % 12);
        const cairn_body_id body =
            kit_drop(world, vec3(x, height, 0.37f * (float)(i % 12)), &shape);
        for (uint32_t tick = 0; tick < 120; ++tick) {
            kit_run(world, 1);
            EXPECT_MEASURED(kit_read(world, body).position.y, height, 2e-3f);
        }
    }
}

// ---- Friction

// A box on a plane that is tilted by an angle a slides if tan a > mu, and else stays.
TEST("a box on a slope of triangles slips at the angle of friction") {
    static const float beyond[] = {-0.5f, 0.5f, 5.0f}; // degrees
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_world_def def = mesh_world_def();
        SCOPED(cairn_world) *world = kit_world(&def);
        SCOPED(mesh_grid) grid = mesh_grid_flat(61, 61, CELL);
        const float angle = atanf(0.5f) + beyond[i] * 0.017453293f;
        const cairn_quat tilt = {.z = sinf(0.5f * angle), .w = cosf(0.5f * angle)};
        mesh_body(world, CAIRN_BODY_STATIC, mesh_of(world, &grid), (cairn_pose){.rotation = tilt});
        cairn_body_def body = cairn_body_def_default();
        body.position = quat_rotate(tilt, vec3(0.1f, 0.25f, 0.07f));
        body.rotation = tilt;
        cairn_shape_def shape = cairn_shape_def_default();
        shape.half_extents = vec3(0.4f, 0.25f, 0.4f);
        const cairn_body_id box = kit_body(world, &body, &shape);
        kit_run(world, 120);
        const float moved = vec3_distance(kit_read(world, box).position, body.position);
        if (i == 0) {
            assert_true(moved < 5e-3f);
        } else {
            // a = g (sin - mu cos)
            const float wanted = 0.5f * 9.81f * (sinf(angle) - 0.5f * cosf(angle)) * 4.0f;
            EXPECT_MEASURED(moved, wanted, i == 1 ? 0.2f * wanted : 0.02f * wanted);
        }
    }
}

// ---- Edges that are there

// Two rectangles that meet in the edge x = 0 and fall, or rise, away from it with that slope.
static cairn_body_id roof(cairn_world *world, float slope) {
    static const uint32_t indices[] = {0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4};
    cairn_vec3 vertices[6];
    for (uint32_t i = 0; i < 6; ++i) {
        const float x = 4.0f * ((float)(i / 2) - 1.0f);
        vertices[i] = vec3(x, -slope * fabsf(x), i % 2 == 0 ? -4.0f : 4.0f);
    }
    const cairn_mesh_def def = {
        .vertices = vertices, .vertex_count = 6, .indices = indices, .triangle_count = 4};
    cairn_mesh_id mesh = 0;
    EXPECT_OK(cairn_mesh_create(world, &def, &mesh));
    return mesh_body(world, CAIRN_BODY_STATIC, mesh, pose_identity());
}

TEST("a ball and a flat box rest on a ridge, and in a valley on both of its sides") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = kit_world(NULL);
        const bool ridge = i == 0;
        roof(world, ridge ? 0.5f : -0.5f);
        const cairn_body_id ball = kit_sphere(world, vec3(0.0f, 1.0f, 1.0f), 0.5f);
        const cairn_body_id box = kit_box(
            world, vec3(0.0f, ridge ? 0.3f : 0.8f, -1.0f), vec3(0.5f, 0.25f, 0.5f), 1000.0f);
        kit_run(world, 120);
        // On the edge, or between the sides: r / cos of their angle above it. The box hangs by its
        // lower edges: half its width times the slope above the edge.
        const float of_ball = ridge ? 0.5f : 0.5f * sqrtf(1.25f);
        EXPECT_MEASURED(kit_read(world, ball).position.y, of_ball, 5e-3f);
        EXPECT_MEASURED(kit_read(world, box).position.y, ridge ? 0.25f : 0.5f, 8e-3f);
        cairn_contact_data contacts[4];
        assert_int_equal(cairn_body_contacts(world, ball, contacts, 4), ridge ? 1 : 2);
        for (uint32_t tick = 0; tick < 300; ++tick) {
            cairn_world_step(world, NULL, 0);
        }
        assert_false(kit_read(world, box).awake);
    }
}

TEST("a box stands on the tip of a pyramid as on a post") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    static const cairn_vec3 vertices[] = {{-1.0f, 0.0f, -1.0f}, {1.0f, 0.0f, -1.0f},
        {1.0f, 0.0f, 1.0f}, {-1.0f, 0.0f, 1.0f}, {0.0f, 1.0f, 0.0f}};
    static const uint32_t indices[] = {1, 0, 4, 2, 1, 4, 3, 2, 4, 0, 3, 4};
    const cairn_mesh_def def = {
        .vertices = vertices, .vertex_count = 5, .indices = indices, .triangle_count = 4};
    cairn_mesh_id mesh = 0;
    EXPECT_OK(cairn_mesh_create(world, &def, &mesh));
    mesh_body(world, CAIRN_BODY_STATIC, mesh, pose_identity());
    const cairn_body_id box =
        kit_box(world, vec3(0.0f, 1.3f, 0.0f), vec3(0.5f, 0.25f, 0.5f), 1000.0f);
    kit_run(world, 30);
    EXPECT_MEASURED(kit_read(world, box).position.y, 1.25f, 0.02f);
}

// ---- One side

// What comes from behind is pushed to the front once its centre is there.
TEST("what comes from behind passes through, and what is in front is held") {
    cairn_world_def def = mesh_world_def();
    def.gravity = vec3_zero();
    SCOPED(cairn_world) *space = kit_world(&def);
    SCOPED(mesh_grid) grid = mesh_grid_flat(5, 5, 1.0f);
    mesh_ground(space, &grid);
    const cairn_body_id up = kit_sphere(space, vec3(0.3f, -1.0f, 0.3f), 0.25f);
    const cairn_body_id down = kit_sphere(space, vec3(-0.8f, 1.0f, 0.3f), 0.25f);
    EXPECT_OK(cairn_body_set_velocity(space, up, vec3(0.0f, 2.0f, 0.0f), vec3_zero()));
    EXPECT_OK(cairn_body_set_velocity(space, down, vec3(0.0f, -2.0f, 0.0f), vec3_zero()));
    kit_run(space, 90);
    assert_true(kit_read(space, up).position.y >= 2.0f);
    EXPECT_MEASURED(kit_read(space, down).position.y, 0.25f, 0.02f);
}

// ---- Terrain

static float hill(float x, float z) {
    return 0.35f * sinf(0.9f * x) * cosf(0.7f * z) + 0.1f * sinf(2.3f * x + 1.7f * z);
}

// A pile of boxes, balls, capsules and hulls. Returns whether all sleep within 20 s.
static bool sleeps_on_terrain(float offset) {
    const cairn_world_def def = mesh_world_def();
    SCOPED(cairn_world) *world = kit_world(&def);
    SCOPED(mesh_grid) grid = mesh_grid_flat(41, 41, 0.4f);
    for (uint32_t i = 0; i < 41 * 41; ++i) {
        const cairn_vec3 at = grid.vertices[i];
        // A basin, so that nothing leaves.
        const float wall = fmaxf(0.0f, sqrtf(at.x * at.x + at.z * at.z) - 4.0f);
        grid.vertices[i].y = hill(at.x, at.z) + 0.8f * wall;
    }
    mesh_ground(world, &grid);
    cairn_body_id bodies[48];
    for (uint32_t i = 0; i < 48; ++i) {
        cairn_body_def body = cairn_body_def_default();
        cairn_shape_def shape =
            ride_shape(world, (figure)(i % 2 == 0 ? CUBE : i / 2 % FIGURES), &body.rotation);
        shape.friction = 0.6f;
        body.position = vec3(1.3f * (float)(i % 4) - 1.8f + offset, 1.5f + 0.9f * (float)(i / 16),
            1.3f * (float)(i / 4 % 4) - 1.8f);
        body.angular_damping = 3.0f; // there is no rolling friction
        bodies[i] = kit_body(world, &body, &shape);
    }
    uint32_t awake = 1;
    uint32_t tick = 0;
    for (; tick < 1200 && awake > 0; ++tick) {
        cairn_world_step(world, NULL, 0);
        awake = cairn_world_counts_read(world).bodies_awake;
    }
    for (uint32_t i = 0; i < 48; ++i) {
        const cairn_vec3 at = kit_read(world, bodies[i]).position;
        assert_true(at.y > hill(at.x, at.z) + 0.1f);
    }
    return awake == 0;
}

// In one of them three bodies roll to and fro between two hills.
TEST("of six piles on a terrain five come to rest and sleep") {
    uint32_t asleep = 0;
    for (uint32_t i = 0; i < 6; ++i) {
        asleep += sleeps_on_terrain(0.013f * (float)i) ? 1 : 0;
    }
    if (asleep < 5) {
        fail_msg("%u of 6 piles sleep", asleep);
    }
}

// ---- Events

TEST("a body that touches in several directions begins, hits and ends once") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    roof(world, -0.5f);
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_SPHERE;
    shape.flags = CAIRN_SHAPE_HIT_EVENTS;
    const cairn_body_id ball = kit_drop(world, vec3(0.0f, 2.0f, 0.0f), &shape);
    uint32_t begins = 0;
    uint32_t ends = 0;
    uint32_t hits = 0;
    for (uint32_t tick = 0; tick < 240; ++tick) {
        cairn_world_step(world, NULL, 0);
        uint32_t count = 0;
        const cairn_contact_event *events = cairn_world_contact_events(world, &count);
        for (uint32_t i = 0; i < count; ++i) {
            begins += events[i].kind == CAIRN_CONTACT_BEGIN ? 1u : 0u;
            ends += events[i].kind == CAIRN_CONTACT_END ? 1u : 0u;
            hits += events[i].kind == CAIRN_CONTACT_HIT ? 1u : 0u;
        }
        if (tick == 120) {
            EXPECT_OK(cairn_body_set_pose(
                world, ball, (cairn_pose){.position = {.y = 50.0f}, .rotation = quat_identity()}));
        }
    }
    assert_int_equal(begins, 1);
    assert_int_equal(ends, 1);
    assert_int_equal(hits, 1);
}

// ---- Fast bodies

TEST("balls, capsules and cubes of 10 cm at 10 to 300 m/s do not pass through a mesh") {
    const cairn_world_def def = mesh_world_def();
    SCOPED(mesh_grid) grid = mesh_grid_flat(31, 31, 0.7f);
    for (uint32_t i = 0; i < 31 * 31; ++i) {
        grid.vertices[i].y = 0.3f * sinf(0.8f * grid.vertices[i].x) * cosf(grid.vertices[i].z);
    }
    for (uint32_t row = 0; row < 8; ++row) {
        SCOPED(cairn_world) *world = kit_world(&def);
        mesh_ground(world, &grid);
        // Between its vertices the mesh is up to 3 cm below the hills.
        const float speed = 10.0f + 41.0f * (float)row;
        cairn_body_id bodies[45];
        for (uint32_t i = 0; i < 45; ++i) {
            static const uint32_t kinds[] = {
                CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_CAPSULE, CAIRN_SHAPE_BOX};
            cairn_body_def body = cairn_body_def_default();
            cairn_shape_def shape = cairn_shape_def_default();
            const float phase = (float)(i % 9) / 9.0f * speed / 60.0f;
            shape.kind = kinds[i % 3];
            shape.radius = 0.05f;
            shape.half_height = 0.05f;
            shape.half_extents = vec3(0.05f, 0.05f, 0.05f);
            shape.restitution = i % 2 == 0 ? 0.0f : 0.5f;
            body.position =
                vec3(1.3f * (float)(i % 9) - 5.2f, 2.0f + phase, 1.3f * (float)(i / 9) - 2.6f);
            body.linear_velocity = vec3(0.2f * speed * sinf((float)i), 0.0f - speed, 0.0f);
            body.angular_velocity = vec3(0.0f, 0.0f, (float)(i % 4) * 8.0f);
            bodies[i] = kit_body(world, &body, &shape);
        }
        for (uint32_t tick = 0; tick < 20; ++tick) {
            cairn_world_step(world, NULL, 0);
            for (uint32_t i = 0; i < 45; ++i) {
                const cairn_vec3 at = kit_read(world, bodies[i]).position;
                const bool over = fabsf(at.x) < 10.0f && fabsf(at.z) < 10.0f;
                if (over && at.y < 0.3f * sinf(0.8f * at.x) * cosf(at.z) - 0.15f) {
                    fail_msg("%u passed at %g m/s, tick %u: (%g %g %g)", i, (double)speed, tick,
                        (double)at.x, (double)at.y, (double)at.z);
                }
            }
        }
    }
}

// The nearest points of a triangle of some hundred metres and of a body of centimetres are found to
// some hundredths of a millimetre only if what is far away does not take part.
TEST("small bodies of every shape do not pass through a floor of two large triangles") {
    static const uint32_t kinds[] = {CAIRN_SHAPE_BOX, CAIRN_SHAPE_CYLINDER, CAIRN_SHAPE_CONE,
        CAIRN_SHAPE_HULL, CAIRN_SHAPE_CAPSULE, CAIRN_SHAPE_SPHERE};
    static const cairn_vec3 corners[] = {{0.03f, -0.01f, 0.02f}, {-0.03f, -0.01f, 0.02f},
        {0.0f, -0.01f, -0.03f}, {0.01f, 0.02f, 0.0f}, {-0.01f, 0.02f, 0.01f}};
    const cairn_world_def def = mesh_world_def();
    SCOPED(mesh_grid) grid = mesh_grid_flat(2, 2, 400.0f);
    SCOPED(cairn_world) *world = kit_world(&def);
    mesh_ground(world, &grid);
    cairn_hull_id hull = 0;
    EXPECT_OK(cairn_hull_create(world, corners, 5, &hull));
    cairn_random random = cairn_random_of(5);
    cairn_body_id bodies[384];
    for (uint32_t i = 0; i < 384; ++i) {
        const float size = 0.02f + 0.03f * cairn_random_unit(&random);
        const float speed = 5.0f + 100.0f * cairn_random_unit(&random);
        const float turn = 6.0f * cairn_random_unit(&random);
        cairn_body_def body = cairn_body_def_default();
        cairn_shape_def shape = cairn_shape_def_default();
        shape.kind = kinds[i % 6];
        shape.hull = shape.kind == CAIRN_SHAPE_HULL ? hull : 0;
        shape.radius = 0.6f * size;
        shape.half_height = 0.7f * size;
        shape.half_extents = vec3(size, 0.6f * size, 0.5f * size);
        body.position = vec3(
            6.0f * (float)(i % 24) - 70.0f, 0.5f + speed / 20.0f, 6.0f * (float)(i / 24) - 50.0f);
        body.rotation = quat_of_vector(vec3(turn * sinf(turn), turn * cosf(turn), 0.4f));
        body.linear_velocity = vec3(0.1f * speed, 0.0f - speed, 0.2f * speed);
        body.angular_velocity = vec3(0.0f, 1.0f, turn);
        bodies[i] = kit_body(world, &body, &shape);
    }
    for (uint32_t tick = 0; tick < 30; ++tick) {
        cairn_world_step(world, NULL, 0);
        for (uint32_t i = 0; i < 384; ++i) {
            assert_true(kit_read(world, bodies[i]).position.y > -0.02f);
        }
    }
}
