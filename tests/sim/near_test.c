// SPDX-License-Identifier: MIT

// The list of near pairs outlives steps. What it tells must be the same as that of a list made of
// nothing but the state, whatever happened before: a twin is loaded from the world's save before
// each step and asked, too.

#include "tests/sim/world_kit.h"

#include "base/random.h"
#include "sim/state.h"

enum { PAIRS_MAX = 65536, PILE = 60 };

static cairn_pair told[PAIRS_MAX];
static cairn_pair expected[PAIRS_MAX];

static void expect_as_if_new(cairn_world *world, cairn_world *twin, uint32_t capacity) {
    kit_bytes saved = kit_save(world);
    assert_int_equal(cairn_world_load(twin, saved.bytes, saved.size), CAIRN_OK);
    kit_free(&saved);
    assert_false(twin->near.valid);
    const uint32_t count = cairn_near_find(world, told, capacity);
    const uint32_t expected_count = cairn_near_find(twin, expected, capacity);
    assert_int_equal(count, expected_count);
    const uint32_t written = count < capacity ? count : capacity;
    for (uint32_t i = 0; i < written; ++i) {
        assert_int_equal(told[i].shape_a, expected[i].shape_a);
        assert_int_equal(told[i].shape_b, expected[i].shape_b);
    }
}

static cairn_vec3 somewhere(cairn_random *random, float width, float height) {
    const float x = (cairn_random_unit(random) - 0.5f) * width;
    const float y = cairn_random_unit(random) * height + 0.5f;
    const float z = (cairn_random_unit(random) - 0.5f) * width;
    return vec3(x, y, z);
}

static void add_any(cairn_world *world, cairn_random *random) {
    const cairn_vec3 at = somewhere(random, 6.0f, 4.0f);
    if (cairn_random_below(random, 2) == 0) {
        kit_box(world, at, vec3(0.3f, 0.2f, 0.4f), 1000.0f, 0.5f);
    } else {
        kit_sphere(world, at, 0.3f, 1000.0f, 0.5f);
    }
}

static void add_platform(cairn_world *world) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    def.kind = CAIRN_BODY_KINEMATIC;
    def.position = vec3(-3.0f, 0.5f, 0.0f);
    def.angular_velocity = vec3(0.0f, 1.0f, 0.0f);
    shape.half_extents = vec3(2.0f, 0.1f, 0.5f);
    kit_body(world, &def, &shape);
}

static cairn_body_id any_body(const cairn_world *world, cairn_random *random) {
    static cairn_body_state states[4 * PILE];
    const uint32_t count = cairn_world_bodies(world, states, 4 * PILE);
    return states[cairn_random_below(random, count)].id;
}

// Something that a game might do between two steps. Body 1 is the floor and stays.
static void disturb(cairn_world *world, cairn_random *random) {
    const cairn_body_id body = any_body(world, random);
    const cairn_vec3 at = somewhere(random, 6.0f, 3.0f);
    switch (cairn_random_below(random, 8)) {
    case 0:
        add_any(world, random);
        break;
    case 1:
        if (body != 1) {
            assert_int_equal(cairn_body_destroy(world, body), CAIRN_OK);
        }
        break;
    case 2:
        if (body != 1) {
            const cairn_pose pose = {.position = at, .rotation = quat_identity()};
            assert_int_equal(cairn_body_set_pose(world, body, pose), CAIRN_OK);
        }
        break;
    case 3:
        assert_int_equal(
            cairn_body_apply_impulse_at_centre(world, body, vec3_scale(at, 500.0f)), CAIRN_OK);
        break;
    case 4: {
        cairn_shape_def shape = cairn_shape_def_default();
        cairn_shape_id id = 0;
        shape.half_extents = vec3(0.2f, 0.2f, 0.2f);
        shape.pose.position = vec3(0.3f, 0.0f, 0.0f);
        if (body != 1) {
            assert_int_equal(cairn_shape_create(world, body, &shape, &id), CAIRN_OK);
        }
        break;
    }
    default:
        break;
    }
}

static cairn_world *pile(const cairn_world_def *def, cairn_random *random) {
    cairn_world *world = kit_world(def);
    kit_ground(world, 0.5f);
    add_platform(world);
    for (uint32_t i = 0; i < PILE; ++i) {
        add_any(world, random);
    }
    return world;
}

static void what_is_told_does_not_depend_on_what_was(void **unused) {
    (void)unused;
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        cairn_random random = cairn_random_of(seed);
        cairn_world *world = pile(NULL, &random);
        cairn_world *twin = kit_world(NULL);
        for (uint32_t tick = 0; tick < 150; ++tick) {
            if (cairn_random_below(&random, 4) == 0) {
                disturb(world, &random);
            }
            expect_as_if_new(world, twin, PAIRS_MAX);
            kit_run(world, 1);
        }
        cairn_world_destroy(world);
        cairn_world_destroy(twin);
    }
}

static void nor_where_the_list_has_no_room(void **unused) {
    (void)unused;
    cairn_world_def def = cairn_world_def_default();
    bool overflowed = false;
    bool fitted = false;
    def.contact_capacity = 32;
    cairn_random random = cairn_random_of(9);
    cairn_world *world = pile(&def, &random);
    cairn_world *twin = kit_world(&def);
    for (uint32_t tick = 0; tick < 150; ++tick) {
        expect_as_if_new(world, twin, 50);
        overflowed = overflowed || !world->near.valid;
        fitted = fitted || world->near.valid;
        kit_run(world, 1);
    }
    assert_true(overflowed && fitted);
    cairn_world_destroy(world);
    cairn_world_destroy(twin);
}

// While nothing leaves its room, the list stays as it is; or there would be no use in it.
static void a_list_outlives_steps_in_which_little_moves(void **unused) {
    (void)unused;
    cairn_world_def def = cairn_world_def_default();
    def.sleep = 0;
    cairn_world *world = kit_world(&def);
    kit_ground(world, 0.5f);
    kit_box(world, vec3(0.0f, 0.5f, 0.0f), vec3(0.5f, 0.5f, 0.5f), 1000.0f, 0.5f);
    kit_box(world, vec3(0.0f, 1.5f, 0.0f), vec3(0.5f, 0.5f, 0.5f), 1000.0f, 0.5f);
    kit_run(world, 30);
    uint32_t moved = 0;
    for (uint32_t i = 0; i < 30; ++i) {
        kit_run(world, 1);
        assert_true(world->near.valid);
        moved += world->near.moved_count;
    }
    assert_int_equal(moved, 0);
    assert_int_equal(world->near.pair_count, 3);
    assert_int_equal(cairn_near_find(world, told, PAIRS_MAX), 3);
    cairn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_does_not_depend_on_what_was),
        cmocka_unit_test(nor_where_the_list_has_no_room),
        cmocka_unit_test(a_list_outlives_steps_in_which_little_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
