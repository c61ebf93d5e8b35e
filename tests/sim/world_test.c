// SPDX-License-Identifier: MIT
#include "tests/sim/world_kit.h"

static void a_ball_comes_to_rest_on_the_ground_and_sleeps(void **state) {
    (void)state;
    cairn_world *world = kit_world(NULL);
    kit_ground(world, 0.5f);
    const cairn_body_id ball = kit_sphere(world, vec3(0.0f, 2.0f, 0.0f), 0.5f, 1000.0f, 0.5f);
    kit_run(world, 240);
    const cairn_body_state end = kit_read(world, ball);
    assert_int_equal(end.awake, 0);
    assert_float_equal(end.position.y, 0.5f, 0.01f);
    assert_int_equal(cairn_world_counts_read(world).contacts, 1);
    cairn_world_destroy(world);
}

static void a_saved_world_loads_and_goes_on_the_same(void **state) {
    (void)state;
    cairn_world *world = kit_world(NULL);
    kit_ground(world, 0.5f);
    (void)kit_sphere(world, vec3(0.0f, 2.0f, 0.0f), 0.5f, 1000.0f, 0.5f);
    kit_run(world, 30);
    kit_bytes saved = kit_save(world);
    kit_run(world, 30);
    const cairn_hash128 first = cairn_world_hash_read(world).full;
    assert_int_equal(cairn_world_load(world, saved.bytes, saved.size), CAIRN_OK);
    kit_run(world, 30);
    assert_true(cairn_hash_equal(first, cairn_world_hash_read(world).full));
    kit_free(&saved);
    cairn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_comes_to_rest_on_the_ground_and_sleeps),
        cmocka_unit_test(a_saved_world_loads_and_goes_on_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
