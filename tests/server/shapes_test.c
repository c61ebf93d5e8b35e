// SPDX-License-Identifier: MIT
// The list of a room's shapes follows the world.
#include "tests/kit/test.h"

#include "server/replicate/shapes.h"

static cairn_world *world;
static cairn_room_shapes list;

static cairn_body_id add_box(float x) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_id body;
    cairn_shape_id id;
    def.position.x = x;
    assert_int_equal(cairn_body_create(world, &def, &body), CAIRN_OK);
    shape.half_extents = (cairn_vec3){1.0f, 1.0f, 1.0f};
    assert_int_equal(cairn_shape_create(world, body, &shape, &id), CAIRN_OK);
    return body;
}

// Lists as many shapes, of which `changes` came or went.
static void expect_listed(uint32_t count, uint32_t revision, uint32_t changes) {
    const uint64_t before = list.change_count;
    cairn_room_shapes_update(&list, world);
    assert_int_equal(list.change_count - before, changes);
    assert_int_equal(list.count, count);
    assert_int_equal(list.id_count, count);
    assert_int_equal(list.revision, revision);
    for (uint32_t i = 0; i < count; ++i) {
        assert_int_equal(list.shapes[i].id, list.ids[i]);
    }
}

TEST("the list is made again when shapes come or go, and only then") {
    const cairn_world_def def = cairn_world_def_default();
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    assert_true(cairn_room_shapes_create(def.shape_capacity, world, &list));
    const uint32_t revision = list.revision;
    expect_listed(0, revision, 0);
    const cairn_body_id first = add_box(0.0f);
    add_box(4.0f);
    add_box(8.0f);
    expect_listed(3, revision + 1, 3);
    expect_listed(3, revision + 1, 0);
    assert_int_equal(cairn_body_destroy(world, first), CAIRN_OK);
    expect_listed(2, revision + 2, 1);
    add_box(12.0f); // takes the place that is free
    add_box(16.0f);
    expect_listed(4, revision + 3, 2);
    cairn_room_shapes_destroy(&list);
    cairn_world_destroy(world);
}

TEST("a list of another world without shapes is empty") {
    const cairn_world_def def = cairn_world_def_default();
    cairn_world *other;
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    assert_int_equal(cairn_world_create(&def, &other), CAIRN_OK);
    assert_true(cairn_room_shapes_create(def.shape_capacity, world, &list));
    add_box(0.0f);
    cairn_room_shapes_update(&list, world);
    assert_int_equal(list.count, 1);
    const uint32_t revision = list.revision;
    cairn_room_shapes_replace(&list, other);
    assert_int_equal(list.count, 0);
    assert_int_equal(list.id_count, 0);
    assert_true(list.revision > revision);
    cairn_room_shapes_destroy(&list);
    cairn_world_destroy(other);
    cairn_world_destroy(world);
}

// Two clients that were sent all, one that is being sent it.
TEST("clients share the ids that they were sent") {
    const cairn_world_def def = cairn_world_def_default();
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    assert_true(cairn_room_shapes_create(def.shape_capacity, world, &list));
    add_box(0.0f);
    add_box(4.0f);
    cairn_room_shapes_update(&list, world);
    cairn_shapes_sent clients[3] = {0};
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_shapes_sent_begin(&clients[i], &list);
        assert_ptr_equal(clients[i].ids, list.none->ids);
        assert_null(clients[i].own);
        assert_true(cairn_shapes_sent_own(&clients[i], &list));
        assert_int_equal(clients[i].own[0], 0);
    }
    cairn_shapes_sent_all(&clients[0], &list);
    cairn_shapes_sent_all(&clients[1], &list);
    assert_null(clients[0].own);
    assert_ptr_equal(clients[0].ids, clients[1].ids);
    const cairn_shape_id first = list.shapes[0].id;
    assert_int_equal(clients[1].ids[cairn_id_index(first)], first);
    assert_int_equal(clients[2].ids[cairn_id_index(first)], 0);
    // The list goes on; each client keeps what it was sent, also beyond the list's end.
    add_box(8.0f);
    cairn_room_shapes_update(&list, world);
    assert_true(cairn_shapes_sent_own(&clients[0], &list));
    cairn_shapes_sent_all(&clients[0], &list);
    const cairn_shape_id last = list.shapes[2].id;
    assert_int_equal(clients[0].ids[cairn_id_index(last)], last);
    assert_int_equal(clients[1].ids[cairn_id_index(last)], 0);
    cairn_room_shapes_destroy(&list);
    assert_int_equal(clients[1].ids[cairn_id_index(first)], first);
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_shapes_sent_end(&clients[i]);
        assert_null(clients[i].ids);
    }
    cairn_world_destroy(world);
}
