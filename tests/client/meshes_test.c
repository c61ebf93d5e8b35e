// SPDX-License-Identifier: MIT
// Triangle meshes and height fields at clients: what they read is what the server's world has.

#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_lib/interpolate/mesh_list.h"
#include "schema/scene.h"
#include "tests/kit/rig.h"
#include <cairn/sim.h>

#define SIDE 70u // more heights than two messages hold

static float height_at(uint32_t i) {
    return 0.125f * (float)(i % 17) - 0.25f * (float)(i / SIDE);
}

// One triangle mesh that two shapes share, and one height field.
static cairn_scene *ground(void) {
    static char text[65536];
    char error[CAIRN_SCENE_ERROR_SIZE] = "";
    size_t size = (size_t)snprintf(text, sizeof text,
        "{\"name\": \"ground\", \"mesh_block_capacity\": 512, \"meshes\": [{\"vertices\": [[0,0,0],"
        "[0,0,1],[1,0,0],[1,0.5,1]], \"indices\": [0,1,2,1,3,2]}], \"height_fields\": ["
        "{\"columns\": %u, \"spacing_x\": 0.5, \"heights\": [0",
        SIDE);
    for (uint32_t i = 1; i < SIDE * SIDE; ++i) {
        size += (size_t)snprintf(text + size, sizeof text - size, ",%g", (double)height_at(i));
    }
    size += (size_t)snprintf(text + size, sizeof text - size,
        "]}], \"bodies\": [{\"kind\": \"static\", \"shapes\": [{\"kind\": \"mesh\", \"mesh\": 0},"
        "{\"kind\": \"height_field\", \"mesh\": 0}]}, {\"kind\": \"static\", \"position\": [9, 9, "
        "9],"
        "\"shapes\": [{\"kind\": \"mesh\", \"mesh\": 0}]}]}");
    cairn_scene *scene = NULL;
    assert_int_equal(cairn_scene_parse(text, size, &scene, error), CAIRN_OK);
    return scene;
}

// Everything that the client has is what the world has.
static void expect_meshes_of(const cairn_client *client, const cairn_world *world) {
    static float a[3 * SIDE * SIDE], b[3 * SIDE * SIDE];
    static uint32_t indices_a[64], indices_b[64];
    cairn_mesh_id ids[8];
    const uint32_t count = cairn_world_meshes(world, ids, 8);
    for (uint32_t i = 0; i < count; ++i) {
        cairn_mesh_info info;
        cairn_client_mesh own;
        assert_int_equal(cairn_mesh_info_read(world, ids[i], &info), CAIRN_OK);
        assert_int_equal(cairn_client_mesh_info(client, ids[i], &own, NULL), CAIRN_OK);
        assert_int_equal(own.kind, info.kind);
        assert_int_equal(own.vertex_count, info.vertex_count);
        assert_int_equal(own.triangle_count, info.triangle_count);
        assert_int_equal(own.columns, info.columns);
        assert_int_equal(own.rows, info.rows);
        assert_true(own.spacing_x == info.spacing_x && own.spacing_z == info.spacing_z);
        const bool heights = info.kind == CAIRN_MESH_HEIGHTS;
        size_t reals = heights ? info.columns * info.rows : 3 * info.vertex_count;
        assert_true(reals <= sizeof a / sizeof a[0] && info.triangle_count <= 21);
        const cairn_status read[] = {
            heights ? cairn_height_field_read(world, ids[i], a)
                    : cairn_mesh_read(world, ids[i], (cairn_vec3 *)a, indices_a),
            heights ? cairn_client_height_field_read(client, ids[i], b)
                    : cairn_client_mesh_read(client, ids[i], (float(*)[3])b, indices_b),
            heights ? cairn_client_mesh_read(client, ids[i], (float(*)[3])b, indices_b)
                    : cairn_client_height_field_read(client, ids[i], b)};
        assert_int_equal(read[0], CAIRN_OK);
        assert_int_equal(read[1], CAIRN_OK);
        assert_int_equal(read[2], CAIRN_NOT_FOUND);
        assert_memory_equal(a, b, reals * sizeof a[0]);
        assert_memory_equal(indices_a, indices_b, 3 * info.triangle_count * sizeof indices_a[0]);
    }
}

// Every shape of a surface names a mesh that the client has. Returns how many there are.
static uint32_t expect_meshes_of_shapes(const cairn_client *client) {
    cairn_client_shape shapes[8];
    uint32_t surfaces = 0;
    const uint32_t count = cairn_client_shapes(client, shapes, 8, NULL);
    for (uint32_t i = 0; i < count; ++i) {
        cairn_client_mesh mesh;
        const bool surface =
            shapes[i].kind == CAIRN_SHAPE_MESH || shapes[i].kind == CAIRN_SHAPE_HEIGHT_FIELD;
        assert_int_equal(surface, shapes[i].mesh != 0);
        if (surface) {
            assert_int_equal(cairn_client_mesh_info(client, shapes[i].mesh, &mesh, NULL), CAIRN_OK);
            surfaces += 1;
        }
    }
    return surfaces;
}

TEST("clients of every mode read the meshes of the world, over a path that loses") {
    cairn_scene *scene = ground();
    {
        RIG(r, .seed = 3, .scene = scene, .loss_permille = 100, .delay_ms = 30);
        static const cairn_client_mode modes[] = {
            CAIRN_CLIENT_INTERPOLATE, CAIRN_CLIENT_LOCKSTEP, CAIRN_CLIENT_PREDICT};
        for (uint32_t i = 0; i < 3; ++i) {
            (void)rig_join_mode(&r, modes[i]);
        }
        rig_run_ms(&r, 4000);
        for (uint32_t i = 0; i < 3; ++i) {
            expect_meshes_of(rig_client(&r, i), rig_server_world(&r));
            assert_int_equal(expect_meshes_of_shapes(rig_client(&r, i)), 3);
        }
    }
    cairn_scene_destroy(scene);
}

TEST("a client sees meshes that appear, and loses those that are gone") {
    cairn_scene *scene = ground();
    {
        RIG(r, .seed = 4, .scene = scene);
        const uint32_t watcher = rig_join_mode(&r, CAIRN_CLIENT_INTERPOLATE);
        rig_run_ms(&r, 2000);
        // As a rule would do it; nobody else steps this world.
        cairn_world *world = (cairn_world *)(uintptr_t)rig_server_world(&r);
        cairn_shape_id shapes[8];
        cairn_mesh_id meshes[8];
        const uint32_t count = cairn_world_shapes(world, shapes, 8);
        assert_int_equal(cairn_world_meshes(world, meshes, 8), 2);
        for (uint32_t i = 0; i < count; ++i) {
            assert_int_equal(cairn_shape_destroy(world, shapes[i]), CAIRN_OK);
        }
        assert_int_equal(cairn_mesh_destroy(world, meshes[0]), CAIRN_OK);
        assert_int_equal(cairn_mesh_destroy(world, meshes[1]), CAIRN_OK);
        rig_run_ms(&r, 500);
        cairn_client_mesh mesh;
        uint32_t revision = 0, later = 0;
        for (uint32_t i = 0; i < 2; ++i) {
            assert_int_equal(
                cairn_client_mesh_info(rig_client(&r, watcher), meshes[i], &mesh, &revision),
                CAIRN_NOT_FOUND);
        }
        static const cairn_vec3 corners[] = {{0, 0, 0}, {0, 0, 2}, {2, 0, 0}};
        static const uint32_t indices[] = {0, 1, 2};
        const cairn_mesh_def def = {
            .vertices = corners, .vertex_count = 3, .indices = indices, .triangle_count = 1};
        cairn_mesh_id id = 0;
        assert_int_equal(cairn_mesh_create(world, &def, &id), CAIRN_OK);
        rig_run_ms(&r, 500);
        expect_meshes_of(rig_client(&r, watcher), world);
        assert_int_equal(
            cairn_client_mesh_info(rig_client(&r, watcher), id, &mesh, &later), CAIRN_OK);
        assert_true(later != revision);
    }
    cairn_scene_destroy(scene);
}

static uint32_t words[CAIRN_MESH_WORDS_PER_MESSAGE_MAX];

// The piece of a height field of 40 by `rows` that begins at word `first`.
static cairn_mesh_message heights(cairn_mesh_id id, uint32_t rows, uint32_t first) {
    const uint32_t left = 40 * rows - first;
    return (cairn_mesh_message){.mesh = id,
        .kind = CAIRN_MESH_HEIGHTS,
        .columns = 40,
        .rows = rows,
        .spacing_x = 1,
        .spacing_z = 1,
        .first = first,
        .words = words,
        .word_count = left < 1000 ? left : 1000};
}

TEST("a list of meshes takes pieces in order, up to its size, and replaces by index") {
    cairn_mesh_list list = {.size_max = 4 * 40 * 60};
    const cairn_mesh_id one = 1, later_one = 1 | 1u << 20, two = 2;
    cairn_mesh_message piece = heights(one, 50, 0);
    assert_int_equal(cairn_mesh_list_take(&list, &piece), CAIRN_OK);
    assert_null(cairn_mesh_list_find(&list, one)); // half of it is there
    assert_int_equal(cairn_mesh_list_take(&list, &(cairn_mesh_message){.mesh = one,
                                                     .kind = CAIRN_MESH_HEIGHTS,
                                                     .columns = 40,
                                                     .rows = 51,
                                                     .first = 1000,
                                                     .words = words,
                                                     .word_count = 1000}),
        CAIRN_WRONG_STATE);
    piece = heights(two, 50, 1000);
    assert_int_equal(cairn_mesh_list_take(&list, &piece), CAIRN_WRONG_STATE);
    piece = heights(two, 50, 0);
    assert_int_equal(cairn_mesh_list_take(&list, &piece), CAIRN_CAPACITY);
    piece = heights(two, 50, 1000);
    assert_int_equal(cairn_mesh_list_take(&list, &piece), CAIRN_OK); // ignored, counted once
    assert_null(cairn_mesh_list_find(&list, two));
    piece = heights(one, 50, 1000);
    assert_int_equal(cairn_mesh_list_take(&list, &piece), CAIRN_OK);
    assert_non_null(cairn_mesh_list_find(&list, one));
    assert_int_equal(list.size, 8000);
    piece = heights(later_one, 10, 0);
    assert_int_equal(cairn_mesh_list_take(&list, &piece), CAIRN_OK);
    assert_null(cairn_mesh_list_find(&list, one));
    assert_non_null(cairn_mesh_list_find(&list, later_one));
    assert_int_equal(list.size, 1600);
    const cairn_mesh_message gone = {.mesh = later_one};
    assert_int_equal(cairn_mesh_list_take(&list, &gone), CAIRN_OK);
    assert_null(cairn_mesh_list_find(&list, later_one));
    assert_int_equal(list.size, 0);
    cairn_mesh_list_destroy(&list);
}
