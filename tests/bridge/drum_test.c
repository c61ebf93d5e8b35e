// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include "bridge/scene_library.h"
#include "bridge/scene_world.h"

SCOPE_POINTER_ENDS(cairn_world, cairn_world_destroy)

static cairn_world *create_drum(void) {
    const cairn_scene_text *text = cairn_scene_library_find("drum901");
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_scene *scene = NULL;
    cairn_world *world = NULL;
    assert_non_null(text);
    if (cairn_scene_parse(text->json, text->size, &scene, error) != CAIRN_OK ||
        cairn_scene_world_create(scene, NULL, &world, error) != CAIRN_OK) {
        fail_msg("%s", error);
    }
    cairn_scene_destroy(scene);
    return world;
}

// Between two ticks.
static uint32_t bodies_moved(cairn_world *world) {
    static cairn_body_state before[1024], after[1024];
    const uint32_t count = cairn_world_bodies(world, before, 1024);
    cairn_world_step(world, NULL, 0);
    assert_int_equal(cairn_world_bodies(world, after, 1024), count);
    uint32_t moved = 0;
    for (uint32_t i = 0; i < count; ++i) {
        moved += memcmp(&before[i].position, &after[i].position, sizeof before[i].position) != 0;
    }
    return moved;
}

TEST("in the drum ninety cubes tumble, and no other body moves") {
    SCOPED(cairn_world) *world = create_drum();
    for (uint32_t i = 0; i < 300; ++i) {
        cairn_world_step(world, NULL, 0);
    }
    for (uint32_t i = 0; i < 600; ++i) {
        const uint32_t moved = bodies_moved(world);
        assert_true(moved >= 60 && moved <= 100);
    }
    assert_int_equal(cairn_world_counters_read(world).bodies_disabled, 0);
}
