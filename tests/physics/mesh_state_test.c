// SPDX-License-Identifier: MIT
// Meshes and height fields as state: they are saved, encoded, hashed and checked like all else, and
// what follows from them (trees, manifolds) has the same bits after any restore.

#include "tests/physics/mesh_kit.h"

#include <string.h>

static cairn_mesh_id bumpy_mesh(cairn_world *world, uint32_t side) {
    SCOPED(mesh_grid) grid = mesh_grid_flat(side, side, 0.5f);
    for (uint32_t i = 0; i < side * side; ++i) {
        const cairn_vec3 at = grid.vertices[i];
        grid.vertices[i].y = 0.3f * sinf(1.3f * at.x) * cosf(0.9f * at.z) + 0.04f * (at.x * at.x);
    }
    return mesh_of(world, &grid);
}

static cairn_mesh_id bumpy_field(cairn_world *world, uint32_t side) {
    float *heights = calloc((size_t)side * side, sizeof *heights);
    for (uint32_t i = 0; i < side * side; ++i) {
        heights[i] = 0.2f * sinf(0.7f * (float)(i % side)) + 0.2f * cosf(0.5f * (float)(i / side));
    }
    heights[side + 3] = CAIRN_HEIGHT_HOLE;
    const cairn_height_field_def def = {
        .heights = heights, .columns = side, .rows = side, .spacing_x = 0.6f, .spacing_z = 0.7f};
    cairn_mesh_id field = 0;
    EXPECT_OK(cairn_height_field_create(world, &def, &field));
    free(heights);
    return field;
}

// A mesh, a height field and a kinematic mesh that turns, with bodies of each kind above.
static cairn_world *busy_world(uint32_t solver) {
    cairn_world_def def = mesh_world_def();
    def.solver = solver;
    cairn_world *world = kit_world(&def);
    mesh_body(world, CAIRN_BODY_STATIC, bumpy_mesh(world, 13), pose_identity());
    const cairn_pose aside = {.position = {.x = 7.0f}, .rotation = quat_identity()};
    mesh_body(world, CAIRN_BODY_STATIC, bumpy_field(world, 9), aside);
    const cairn_pose above = {.position = {.x = -7.0f}, .rotation = quat_identity()};
    const cairn_body_id plate = mesh_body(world, CAIRN_BODY_KINEMATIC, bumpy_mesh(world, 7), above);
    EXPECT_OK(
        cairn_body_set_velocity(world, plate, vec3(0.0f, 0.1f, 0.0f), vec3(0.0f, 0.3f, 0.0f)));
    for (uint32_t i = 0; i < 24; ++i) {
        cairn_shape_def shape = cairn_shape_def_default();
        shape.kind = i % 3 == 0   ? CAIRN_SHAPE_SPHERE
                     : i % 3 == 1 ? CAIRN_SHAPE_CAPSULE
                                  : CAIRN_SHAPE_BOX;
        shape.radius = 0.2f;
        shape.half_height = 0.2f;
        shape.half_extents = vec3(0.3f, 0.2f, 0.25f);
        shape.flags = CAIRN_SHAPE_HIT_EVENTS;
        const float x =
            i < 12 ? 0.9f * (float)(i % 4) - 1.5f : (i < 18 ? 7.5f : -8.0f) + 0.8f * (float)(i % 3);
        kit_drop(world, vec3(x, 1.2f + 0.02f * (float)i, 0.8f * (float)(i / 4 % 3) + 0.3f), &shape);
    }
    return world;
}

TEST("a world with meshes that is loaded, decoded or forked in every tick stays the same") {
    for (uint32_t solver = 0; solver < 2; ++solver) {
        SCOPED(cairn_world) *world = busy_world(solver);
        SCOPED(cairn_world) *loaded = kit_fork(world);
        SCOPED(cairn_world) *decoded = busy_world(solver);
        EXPECT_OK(cairn_world_set_lanes(decoded, 1));
        uint32_t most_contacts = 0;
        for (uint32_t tick = 0; tick < 240; ++tick) {
            SCOPED(kit_bytes) saved = kit_save(world);
            SCOPED(kit_bytes) encoded = kit_encode(world);
            SCOPED(cairn_world) *fork = kit_fork(world);
            EXPECT_OK(cairn_world_load(loaded, saved.bytes, saved.size));
            EXPECT_OK(cairn_world_decode(decoded, encoded.bytes, encoded.size, NULL));
            cairn_world *const all[] = {world, loaded, decoded, fork};
            for (uint32_t i = 0; i < 4; ++i) {
                cairn_world_step(all[i], NULL, 0);
                assert_true(kit_equal(world, all[i]));
            }
            const uint32_t contacts = cairn_world_counts_read(world).contacts;
            most_contacts = contacts > most_contacts ? contacts : most_contacts;
            const char *where = "";
            if (cairn_world_validate(decoded, &where) != CAIRN_OK) {
                fail_msg("tick %u: %s", tick, where);
            }
        }
        assert_true(most_contacts > 30);
    }
}

// Three balls in a valley of two slopes, a contact with each slope; they do not touch each other.
static cairn_world *valley(uint32_t contact_capacity, uint32_t solver, cairn_body_id balls[3]) {
    cairn_world_def def = mesh_world_def();
    def.contact_capacity = contact_capacity;
    def.solver = solver;
    cairn_world *world = kit_world(&def);
    SCOPED(mesh_grid) grid = mesh_grid_flat(3, 2, 8.0f);
    for (uint32_t i = 0; i < 6; ++i) {
        grid.vertices[i].y = fabsf(grid.vertices[i].x);
    }
    mesh_ground(world, &grid);
    for (uint32_t i = 0; i < 3; ++i) {
        balls[i] = kit_sphere(world, vec3(0.0f, 0.5f * sqrtf(2.0f), 2.0f * (float)i - 2.0f), 0.5f);
    }
    return world;
}

// The list keeps what fits, in its order: the first ball has both contacts, the second one of two,
// the third none. What is lost is counted, and lost alike after any restore.
TEST("contacts that run out among those of one pair with a mesh are defined, counted and hashed") {
    for (uint32_t solver = 0; solver < 2; ++solver) {
        cairn_body_id balls[3];
        cairn_body_id same[3];
        SCOPED(cairn_world) *enough = valley(6, solver, same);
        SCOPED(cairn_world) *world = valley(3, solver, balls);
        SCOPED(cairn_world) *twin = kit_fork(world);
        for (uint32_t tick = 0; tick < 120; ++tick) {
            kit_step_beside_reloaded(world, twin);
            kit_run(enough, 1);
            const cairn_world_counts counts = cairn_world_counts_read(world);
            const uint32_t dropped = cairn_world_counters_read(world).contacts_dropped;
            assert_in_range(counts.contacts, 2, 3);
            if (tick == 0) {
                assert_int_equal(counts.contacts, 3);
                assert_int_equal(dropped, 3);
                assert_int_equal(cairn_world_counts_read(enough).contacts, 6);
            }
            // The rest of the world is unharmed: the first ball does not notice.
            const cairn_body_state first = kit_read(world, balls[0]);
            const cairn_body_state expected = kit_read(enough, same[0]);
            assert_memory_equal(&first.position, &expected.position, sizeof first.position);
        }
        assert_int_equal(cairn_world_counters_read(enough).contacts_dropped, 0);
        assert_true(kit_read(world, balls[0]).position.y > 0.7f);
        assert_true(kit_read(world, balls[2]).position.y < -5.0f);
    }
}

TEST("meshes that come and go take the lowest free blocks, on every machine") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_mesh_id first = bumpy_mesh(world, 7);
    const cairn_mesh_id second = bumpy_field(world, 9);
    const cairn_mesh_id third = bumpy_mesh(world, 5);
    const cairn_hash128 before = kit_hash(world);
    SCOPED(cairn_world) *twin = kit_world(NULL);
    SCOPED(kit_bytes) encoded = kit_encode(world);
    EXPECT_OK(cairn_world_decode(twin, encoded.bytes, encoded.size, NULL));
    EXPECT_OK(cairn_mesh_destroy(world, second));
    assert_int_equal(cairn_mesh_destroy(world, second), CAIRN_NOT_FOUND);
    SCOPED(kit_bytes) with_gap = kit_encode(world);
    EXPECT_OK(cairn_world_decode(twin, with_gap.bytes, with_gap.size, NULL));
    assert_true(kit_equal(world, twin));
    EXPECT_OK(cairn_world_validate(twin, NULL));
    // The same data in another generation of the same slot and place.
    const cairn_mesh_id again = bumpy_field(world, 9);
    assert_int_equal(cairn_id_index(again), cairn_id_index(second));
    assert_int_equal(bumpy_field(twin, 9), again);
    assert_true(kit_equal(world, twin));
    assert_false(cairn_hash_equal(before, kit_hash(world)));
    EXPECT_OK(cairn_mesh_destroy(world, first));
    EXPECT_OK(cairn_mesh_destroy(world, again));
    EXPECT_OK(cairn_mesh_destroy(world, third));
    assert_int_equal(cairn_world_meshes(world, NULL, 0), 0);
    EXPECT_OK(cairn_world_validate(world, NULL));
    EXPECT_OK(cairn_world_decode(twin, encoded.bytes, encoded.size, NULL));
    EXPECT_OK(cairn_world_decode(world, encoded.bytes, encoded.size, NULL));
    assert_true(kit_equal(world, twin));
}

TEST("what is read of a mesh makes the same mesh") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_mesh_id mesh = bumpy_mesh(world, 6);
    cairn_mesh_info info;
    EXPECT_OK(cairn_mesh_info_read(world, mesh, &info));
    assert_int_equal(info.vertex_count, 36);
    assert_int_equal(info.triangle_count, 50);
    cairn_vec3 vertices[36];
    uint32_t indices[150];
    EXPECT_OK(cairn_mesh_read(world, mesh, vertices, indices));
    SCOPED(cairn_world) *twin = kit_world(NULL);
    const cairn_mesh_def def = {
        .vertices = vertices, .vertex_count = 36, .indices = indices, .triangle_count = 50};
    cairn_mesh_id same = 0;
    EXPECT_OK(cairn_mesh_create(twin, &def, &same));
    assert_true(kit_equal(world, twin));
    float heights[36];
    assert_int_equal(cairn_height_field_read(world, mesh, heights), CAIRN_NOT_FOUND);
}

// ---- Refusals

typedef struct bad_mesh {
    const char *why;
    cairn_vec3 vertex; // replaces vertex 3
    uint32_t index;    // replaces the last index
    uint32_t vertices;
    uint32_t triangles;
    cairn_status status;
} bad_mesh;

TEST("a mesh that is none is refused by name, and the world is as before") {
    static const bad_mesh rows[] = {
        {"a mesh has at least one triangle", {1, 0, 1}, 3, 4, 0, CAIRN_INVALID_ARGUMENT},
        {"a mesh has at least one triangle", {1, 0, 1}, 1, 2, 1, CAIRN_INVALID_ARGUMENT},
        {"the mesh has too many vertices or triangles", {1, 0, 1}, 3, 4, 1000001,
            CAIRN_INVALID_ARGUMENT},
        {"a coordinate is not a number", {NAN, 0, 1}, 3, 4, 2, CAIRN_NON_FINITE},
        {"a coordinate is not a number", {1, INFINITY, 1}, 3, 4, 2, CAIRN_NON_FINITE},
        {"a coordinate is too large", {1, 1.1e4f, 1}, 3, 4, 2, CAIRN_INVALID_ARGUMENT},
        {"an index is not that of a vertex", {1, 0, 1}, 4, 4, 2, CAIRN_INVALID_ARGUMENT},
        {"no triangle has an area", {1, 0, 1}, 0, 4, 1, CAIRN_INVALID_ARGUMENT},
    };
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_hash128 before = kit_hash(world);
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        cairn_vec3 vertices[4] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, rows[i].vertex};
        uint32_t indices[6] = {0, 1, 0, 1, 3, rows[i].index};
        const cairn_mesh_def def = {.vertices = vertices,
            .vertex_count = rows[i].vertices,
            .indices = indices,
            .triangle_count = rows[i].triangles};
        cairn_mesh_id mesh = 7;
        assert_string_equal(cairn_mesh_refusal(&def), rows[i].why);
        assert_int_equal(cairn_mesh_create(world, &def, &mesh), rows[i].status);
        assert_int_equal(mesh, 0);
        assert_true(cairn_hash_equal(before, kit_hash(world)));
    }
}

TEST("triangles without area are dropped and counted") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    static const cairn_vec3 vertices[] = {
        {0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {2, 0, 0}, {2, 1e-6f, 0}};
    static const uint32_t indices[] = {0, 1, 2, 0, 2, 3, 1, 1, 2, 0, 3, 4};
    const cairn_mesh_def def = {
        .vertices = vertices, .vertex_count = 5, .indices = indices, .triangle_count = 4};
    cairn_mesh_id mesh = 0;
    cairn_mesh_info info;
    EXPECT_OK(cairn_mesh_create(world, &def, &mesh));
    EXPECT_OK(cairn_mesh_info_read(world, mesh, &info));
    assert_int_equal(info.triangle_count, 1);
    assert_int_equal(info.dropped_count, 3);
}

TEST("a height field that is none is refused by name") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    float heights[4] = {0.0f, 1.0f, 2.0f, CAIRN_HEIGHT_HOLE};
    cairn_height_field_def def = {
        .heights = heights, .columns = 1, .rows = 2, .spacing_x = 1.0f, .spacing_z = 1.0f};
    cairn_mesh_id field = 0;
    assert_string_equal(
        cairn_height_field_refusal(&def), "a height field has at least 2 x 2 samples");
    assert_int_equal(cairn_height_field_create(world, &def, &field), CAIRN_INVALID_ARGUMENT);
    def.columns = CAIRN_HEIGHT_FIELD_SIDE_MAX + 1;
    assert_int_equal(cairn_height_field_create(world, &def, &field), CAIRN_INVALID_ARGUMENT);
    def.columns = 2;
    def.spacing_x = 0.0f;
    assert_string_equal(
        cairn_height_field_refusal(&def), "the spacing of the height field is out of range");
    def.spacing_x = NAN;
    assert_int_equal(cairn_height_field_create(world, &def, &field), CAIRN_NON_FINITE);
    def.spacing_x = 1.0f;
    heights[1] = NAN;
    assert_int_equal(cairn_height_field_create(world, &def, &field), CAIRN_NON_FINITE);
    heights[1] = 2e4f;
    assert_string_equal(cairn_height_field_refusal(&def), "a height is too large");
    heights[1] = -0.0f;
    EXPECT_OK(cairn_height_field_create(world, &def, &field));
    EXPECT_OK(cairn_world_validate(world, NULL));
}

TEST("no room for a mesh is refused and counted") {
    cairn_world_def def = cairn_world_def_default();
    def.mesh_capacity = 2;
    def.mesh_block_capacity = cairn_height_field_blocks(9, 9) + 1;
    SCOPED(cairn_world) *world = kit_world(&def);
    bumpy_field(world, 9);
    float heights[100] = {0.0f};
    cairn_height_field_def field = {
        .heights = heights, .columns = 10, .rows = 10, .spacing_x = 1.0f, .spacing_z = 1.0f};
    cairn_mesh_id id = 0;
    assert_int_equal(cairn_height_field_create(world, &field, &id), CAIRN_CAPACITY);
    field.columns = field.rows = 4;
    EXPECT_OK(cairn_height_field_create(world, &field, &id));
    field.columns = field.rows = 2;
    assert_int_equal(cairn_height_field_create(world, &field, &id), CAIRN_CAPACITY);
    assert_int_equal(cairn_world_counters_read(world).creates_refused, 2);
    EXPECT_OK(cairn_world_validate(world, NULL));
}

TEST("a mesh is no shape of a dynamic body, no sensor, and no shape of the other kind") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_mesh_id mesh = bumpy_mesh(world, 5);
    const cairn_body_id dynamic = kit_cube(world, vec3_zero());
    const cairn_body_id fixed = kit_ground(world);
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_shape_id id = 0;
    shape.kind = CAIRN_SHAPE_MESH;
    shape.mesh = mesh;
    assert_int_equal(cairn_shape_create(world, dynamic, &shape, &id), CAIRN_INVALID_ARGUMENT);
    shape.flags = CAIRN_SHAPE_SENSOR;
    assert_int_equal(cairn_shape_create(world, fixed, &shape, &id), CAIRN_INVALID_ARGUMENT);
    shape.flags = 0;
    shape.kind = CAIRN_SHAPE_HEIGHT_FIELD;
    assert_int_equal(cairn_shape_create(world, fixed, &shape, &id), CAIRN_NOT_FOUND);
    shape.kind = CAIRN_SHAPE_MESH;
    EXPECT_OK(cairn_shape_create(world, fixed, &shape, &id));
    assert_int_equal(cairn_mesh_destroy(world, mesh), CAIRN_WRONG_STATE);
    EXPECT_OK(cairn_shape_destroy(world, id));
    EXPECT_OK(cairn_mesh_destroy(world, mesh));
    assert_int_equal(cairn_shape_create(world, fixed, &shape, &id), CAIRN_NOT_FOUND);
}

// Each word of an encoded world with meshes is changed, one after the other: most changes are
// refused; none crashes, and what is accepted is valid and can be stepped.
TEST("damaged encodings are refused or valid") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    mesh_body(world, CAIRN_BODY_STATIC, bumpy_mesh(world, 4), pose_identity());
    mesh_body(world, CAIRN_BODY_STATIC, bumpy_field(world, 4), pose_identity());
    kit_sphere(world, vec3(0.1f, 0.6f, 0.1f), 0.3f);
    kit_run(world, 30);
    SCOPED(kit_bytes) encoded = kit_encode(world);
    SCOPED(cairn_world) *twin = kit_world(NULL);
    static const uint32_t values[] = {0, 1, 5, 0x7fc00000u, 0xffffffffu, 0x80000000u, 0x42c80000u};
    uint32_t refused = 0;
    uint32_t *words = encoded.bytes;
    const size_t count = encoded.size / 4;
    for (size_t i = 0; i < count; ++i) {
        const uint32_t before = words[i];
        for (uint32_t k = 0; k < sizeof values / sizeof values[0]; ++k) {
            words[i] = values[k];
            if (cairn_world_decode(twin, encoded.bytes, encoded.size, NULL) != CAIRN_OK) {
                ++refused;
            } else if (i % 7 == k) {
                EXPECT_OK(cairn_world_validate(twin, NULL));
                cairn_world_step(twin, NULL, 0);
            }
        }
        words[i] = before;
    }
    assert_true(refused > count);
}

TEST("a body with a mesh does not become dynamic") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_id body =
        mesh_body(world, CAIRN_BODY_STATIC, bumpy_mesh(world, 5), pose_identity());
    assert_int_equal(cairn_body_set_kind(world, body, CAIRN_BODY_DYNAMIC), CAIRN_WRONG_STATE);
    EXPECT_OK(cairn_body_set_kind(world, body, CAIRN_BODY_KINEMATIC));
    kit_run(world, 2);
    EXPECT_OK(cairn_world_validate(world, NULL));
}
