// SPDX-License-Identifier: MIT
// Two worlds that diverged exchange a set-difference sketch, and a payload of elements repairs one.

#include "tests/sim/world_kit.h"

#include <string.h>

#include "base/random.h"
#include "sim/serialize/element_key.h"
#include "sim/serialize/sketch.h"
#include "tests/sim/golden_scenes.h"

#define BYTES_MAX (512 * 1024)

static uint8_t payload[BYTES_MAX];

// Fills `keys` with the elements that differ and returns their number; UINT32_MAX if the sketch is
// too small.
static uint32_t difference(const cairn_world *server, const cairn_world *client, uint32_t cells,
    cairn_element_key keys[CAIRN_SKETCH_CELLS_MAX]) {
    uint8_t sketch[CAIRN_SKETCH_CELLS_MAX * CAIRN_SKETCH_CELL_SIZE];
    uint32_t count = 0;
    cairn_sketch_build(client, cells, sketch);
    const cairn_status status = cairn_sketch_difference(server, sketch,
        (size_t)cells * CAIRN_SKETCH_CELL_SIZE, keys, CAIRN_SKETCH_CELLS_MAX, &count);
    return status == CAIRN_OK ? count : UINT32_MAX;
}

// Returns the size of the payload; 0 if no sketch is large enough.
static size_t repair(const cairn_world *server, cairn_world *client) {
    cairn_element_key keys[CAIRN_SKETCH_CELLS_MAX];
    uint32_t count = UINT32_MAX;
    for (uint32_t cells = 40; count == UINT32_MAX && cells <= CAIRN_SKETCH_CELLS_MAX; cells *= 4) {
        count = difference(server, client, cells, keys);
    }
    if (count == UINT32_MAX) {
        return 0;
    }
    const size_t size = cairn_elements_encode(server, keys, count, payload, sizeof payload);
    const char *where = "";
    assert_int_equal(size, cairn_elements_size(server, keys, count));
    assert_int_equal(cairn_elements_count(payload, size), count);
    if (cairn_elements_apply(client, payload, size, &where) != CAIRN_OK) {
        fail_msg("%s", where);
    }
    assert_true(kit_equal(server, client));
    return size;
}

// The number of elements of one array that differ, by comparing all of them.
static uint32_t count_differing(const cairn_world *a, const cairn_world *b, cairn_array array) {
    const uint32_t most = cairn_array_capacity(a->state.settings, array);
    uint32_t count = 0;
    for (uint32_t i = 0; i < most; ++i) {
        const uint32_t *mine = cairn_element_find(&a->state, element_key(array, i));
        const uint32_t *theirs = cairn_element_find(&b->state, element_key(array, i));
        const size_t size = cairn_array_element_size(array) - 4 * element_first_word(array);
        const bool differs =
            mine == NULL || theirs == NULL ? mine != theirs : memcmp(mine, theirs, size) != 0;
        count += differs ? 1 : 0;
    }
    return count;
}

static void change_body(cairn_world *world, uint64_t seed) {
    cairn_body_state bodies[64];
    const uint32_t count = cairn_world_bodies(world, bodies, 64);
    const cairn_body_id body = bodies[seed % (count < 64 ? count : 64)].id;
    const cairn_vec3 away = vec3(0.25f, 0.5f, (float)(seed % 7) * 0.125f);
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_id created = 0;
    cairn_shape_id id = 0;
    switch (seed / 64 % 4) {
    case 0:
        (void)cairn_body_set_velocity(world, body, away, vec3_zero());
        break;
    case 1:
        (void)cairn_body_destroy(world, body);
        break;
    case 2:
        def.position = away;
        if (cairn_body_create(world, &def, &created) == CAIRN_OK) {
            (void)cairn_shape_create(world, created, &shape, &id);
        }
        break;
    default:
        (void)cairn_body_set_pose(
            world, body, (cairn_pose){.position = away, .rotation = {.w = 1.0f}});
        break;
    }
}

TEST("the difference of equal worlds is empty") {
    for (uint32_t i = 0; i < golden_scene_count - 1; ++i) {
        cairn_element_key keys[CAIRN_SKETCH_CELLS_MAX];
        SCOPED(cairn_world) *world = golden_world_at(&golden_scenes[i], 20);
        SCOPED(cairn_world) *other = golden_world_at(&golden_scenes[i], 20);
        assert_int_equal(difference(world, other, 40, keys), 0);
    }
}

// In every scene and after random changes: the difference is found, sent and repaired, and both
// worlds stay equal.
TEST("a diverged world is repaired and stays equal") {
    for (uint32_t i = 0; i < golden_scene_count - 1; ++i) {
        const golden_scene *scene = &golden_scenes[i];
        for (uint64_t k = 0; k < 2; ++k) {
            const uint32_t ticks = i == 0 && k == 0 ? 200 : 30;
            SCOPED(cairn_world) *server = golden_world_at(scene, 25 + (uint32_t)k);
            SCOPED(cairn_world) *client = kit_fork(server);
            change_body(client, cairn_random_at(5, i, k, 0) % 1024);
            change_body(client, cairn_random_at(5, i, k, 1) % 1024);
            golden_step(scene, server);
            golden_step(scene, client);
            assert_true(repair(server, client) > 0);
            for (uint32_t tick = 0; tick < ticks; ++tick) {
                golden_step(scene, server);
                golden_step(scene, client);
                assert_true(kit_equal(server, client));
            }
        }
    }
}

TEST("the keys name exactly the elements that differ") {
    cairn_element_key keys[CAIRN_SKETCH_CELLS_MAX];
    SCOPED(cairn_world) *server = golden_world_at(&golden_scenes[0], 30);
    SCOPED(cairn_world) *client = kit_fork(server);
    for (uint64_t k = 0; k < 6; ++k) {
        change_body(client, cairn_random_at(9, k, 0, 0) % 1024);
        const uint32_t count = difference(server, client, 640, keys);
        uint32_t contacts = 0;
        assert_true(count != UINT32_MAX);
        for (uint32_t i = 0; i < count; ++i) {
            contacts += element_array(keys[i]) == CAIRN_ARRAY_CONTACTS ? 1 : 0;
            assert_true(i == 0 || keys[i - 1] < keys[i]);
        }
        uint32_t others = 0;
        for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
            others += array == CAIRN_ARRAY_CONTACTS ? 0 : count_differing(server, client, array);
        }
        assert_int_equal(count - contacts, others);
        assert_true(cairn_world_diff(server, client, NULL, 0) > 0);
    }
}

// A thousand boxes side by side, at rest on the ground.
static cairn_world *thousand_boxes(void) {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = 1024;
    def.shape_capacity = 1024;
    cairn_world *world = kit_world(&def);
    kit_ground(world);
    for (uint32_t i = 0; i < 1000; ++i) {
        kit_cube(world, vec3(2.0f * (float)(i % 32), 0.5f, 2.0f * (float)(i / 32)));
    }
    kit_run(world, 4);
    return world;
}

TEST("one body of a thousand takes less than two kilobytes") {
    SCOPED(cairn_world) *server = thousand_boxes();
    SCOPED(cairn_world) *client = kit_fork(server);
    EXPECT_OK(cairn_body_set_velocity(client, 500, vec3(1.0f, 2.0f, 0.0f), vec3_zero()));
    cairn_world_step(server, NULL, 0);
    cairn_world_step(client, NULL, 0);
    cairn_element_key keys[CAIRN_SKETCH_CELLS_MAX];
    assert_true(difference(server, client, 40, keys) < 8);
    const size_t size = repair(server, client);
    assert_in_range(size, 1, 2048 - 40 * CAIRN_SKETCH_CELL_SIZE - 400);
}

TEST("a sketch holds half as many differences as it has cells") {
    static const uint32_t sizes[] = {40, 160, 640};
    cairn_element_key keys[CAIRN_SKETCH_CELLS_MAX];
    SCOPED(cairn_world) *server = thousand_boxes();
    for (uint32_t k = 0; k < 3; ++k) {
        SCOPED(cairn_world) *client = kit_fork(server);
        for (uint32_t i = 0; i < sizes[k] / 4; ++i) { // its motion, and how long it has rested
            const cairn_body_id body = 2 + (i * 37 + k) % 1000;
            (void)cairn_body_set_velocity(client, body, vec3(0.0f, 1.0f, 0.0f), vec3_zero());
        }
        assert_int_equal(difference(server, client, sizes[k], keys), sizes[k] / 4 * 2);
    }
}

TEST("a difference too large for a sketch is reported") {
    cairn_element_key keys[CAIRN_SKETCH_CELLS_MAX];
    SCOPED(cairn_world) *server = thousand_boxes();
    SCOPED(cairn_world) *client = kit_fork(server);
    for (cairn_body_id body = 2; body < 52; ++body) {
        (void)cairn_body_set_velocity(client, body, vec3(0.0f, 1.0f, 0.0f), vec3_zero());
    }
    assert_int_equal(difference(server, client, 40, keys), UINT32_MAX);
    assert_int_equal(difference(server, client, 160, keys), 100);
}

TEST("bytes that are not a sketch are refused") {
    uint8_t bytes[CAIRN_SKETCH_CELLS_MAX * CAIRN_SKETCH_CELL_SIZE + 64];
    cairn_element_key keys[8];
    uint32_t count = 1;
    SCOPED(cairn_world) *world = kit_world(NULL);
    static const size_t sizes[] = {0, 16, 63, 65, 80, sizeof bytes};
    memset(bytes, 0, sizeof bytes);
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        assert_int_equal(
            cairn_sketch_difference(world, bytes, sizes[i], keys, 8, &count), CAIRN_MALFORMED);
        assert_int_equal(count, 0);
    }
    memset(bytes, 0xff, sizeof bytes); // beyond the prime
    assert_int_equal(cairn_sketch_difference(world, bytes, 640, keys, 8, &count), CAIRN_MALFORMED);
    cairn_sketch_build(world, 40, bytes);
    EXPECT_OK(cairn_sketch_difference(world, bytes, 640, keys, 8, &count));
    bytes[3] ^= 1;
    assert_int_equal(cairn_sketch_difference(world, bytes, 640, keys, 8, &count), CAIRN_CAPACITY);
}

// Two worlds with many differences. Returns the size of the payload that repairs the client.
static size_t rich_payload(cairn_world **server, cairn_world **client) {
    cairn_element_key keys[CAIRN_SKETCH_CELLS_MAX];
    *server = golden_world_at(&golden_scenes[0], 30);
    EXPECT_OK(cairn_world_fork(*server, client));
    for (uint64_t k = 0; k < 6; ++k) {
        change_body(*client, cairn_random_at(9, k, 0, 0) % 1024);
    }
    const uint32_t count = difference(*server, *client, 640, keys);
    return cairn_elements_encode(*server, keys, count, payload, sizeof payload);
}

TEST("a payload that is cut short or too long changes nothing") {
    SCOPED(cairn_world) *server = NULL;
    SCOPED(cairn_world) *client = NULL;
    const size_t size = rich_payload(&server, &client);
    const cairn_hash128 before = kit_hash(client);
    for (size_t cut = 0; cut <= size + 4; cut += cut % 16 == 12 ? 23 : 1) {
        const char *where = NULL;
        if (cut == size) {
            continue;
        }
        assert_int_not_equal(cairn_elements_apply(client, payload, cut, &where), CAIRN_OK);
        assert_true(where[0] != '\0');
        assert_true(cairn_hash_equal(before, kit_hash(client)));
    }
    EXPECT_OK(cairn_elements_apply(client, payload, size, NULL));
    assert_true(kit_equal(server, client));
}

// A payload with a flipped bit is refused and changes nothing, or it is accepted as another valid
// state.
TEST("a payload with a flipped bit does no harm") {
    SCOPED(cairn_world) *server = NULL;
    SCOPED(cairn_world) *client = NULL;
    const size_t size = rich_payload(&server, &client);
    const cairn_hash128 before = kit_hash(client);
    uint32_t refused = 0;
    for (size_t at = 0; at < size; at += 11) {
        payload[at] ^= (uint8_t)(1u << at % 8);
        if (cairn_elements_apply(client, payload, size, NULL) != CAIRN_OK) {
            refused += 1;
            assert_true(cairn_hash_equal(before, kit_hash(client)));
        } else {
            kit_run(client, 1);
            cairn_world_destroy(client);
            cairn_world_destroy(server);
            (void)rich_payload(&server, &client);
            continue;
        }
        payload[at] ^= (uint8_t)(1u << at % 8);
    }
    assert_true(refused > 10);
}

// What the world derives from its state is repaired as well: lists of shapes, free slots, hulls,
// pairs.
TEST("a repaired world creates bodies with the same ids") {
    SCOPED(cairn_world) *server = golden_world_at(golden_scene_named("hulls"), 30);
    SCOPED(cairn_world) *client = kit_fork(server);
    EXPECT_OK(cairn_body_destroy(client, 3));
    EXPECT_OK(cairn_body_destroy(client, 5));
    assert_true(repair(server, client) > 0);
    assert_int_equal(kit_cube(server, vec3_zero()), kit_cube(client, vec3_zero()));
    assert_true(kit_equal(server, client));
}
