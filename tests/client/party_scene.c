// SPDX-License-Identifier: MIT
#include "tests/client/party.h"

#include <string.h>

#include <cairn/sim.h>

static cairn_scene_shape shape_of(uint32_t kind) {
    return (cairn_scene_shape){.kind = kind,
        .half_extents = {0.5f, 0.5f, 0.5f},
        .rotation = {.w = 1},
        .density = 1000,
        .friction = 0.5f,
        .category = 1,
        .mask = UINT32_MAX};
}

static cairn_scene_body row_of(
    cairn_vec3 first, uint32_t count_x, uint32_t count_y, uint32_t shape) {
    return (cairn_scene_body){.kind = shape == 0 ? CAIRN_BODY_STATIC : CAIRN_BODY_DYNAMIC,
        .position = first,
        .rotation = {.w = 1},
        .gravity_scale = 1,
        .allow_sleep = 1,
        .grid_count = {count_x, count_y, 1},
        .grid_spacing = {2, 1, 1},
        .first_shape = shape,
        .shape_count = 1};
}

const cairn_scene *party_scene(void) {
    static cairn_scene_shape shapes[2];
    static cairn_scene_body bodies[3];
    static cairn_scene scene;
    shapes[0] = shape_of(CAIRN_SHAPE_HALF_SPACE);
    shapes[1] = shape_of(CAIRN_SHAPE_BOX);
    bodies[0] = row_of((cairn_vec3){0, 0, 0}, 1, 1, 0);
    bodies[1] = row_of((cairn_vec3){0, 0.5f, 0}, 1, 3, 1);
    bodies[2] = row_of((cairn_vec3){-8, 2, 6}, 8, 1, 1);
    scene = cairn_scene_default();
    strcpy(scene.name, "party");
    strcpy(scene.rules, "sandbox");
    scene.world.body_capacity = 128;
    scene.world.shape_capacity = 128;
    scene.world.joint_capacity = 0;
    scene.world.contact_capacity = 1024;
    scene.world.seed = 1;
    scene.bodies = bodies;
    scene.body_count = 3;
    scene.shapes = shapes;
    scene.shape_count = 2;
    return &scene;
}
