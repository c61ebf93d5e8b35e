// SPDX-License-Identifier: MIT

// The golden scene of loads: light bodies that heavy ones squeeze, at rest and while they are
// driven through a heap, alone and with joints.

#include "base/assert.h"
#include "sim/math/vec.h"
#include "tests/sim/golden_scenes.h"

#define LOADS_SEED 12

static cairn_body_id add_box(cairn_world *world, cairn_vec3 at, float half, float density) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.half_extents = vec3(half, half, half);
    shape.density = density;
    return golden_place(world, CAIRN_BODY_DYNAMIC, at, quat_identity(), &shape);
}

// `count` cubes on each other, below one that weighs `ratio` times as much.
static void add_column(cairn_world *world, float x, uint32_t count, float ratio) {
    for (uint32_t i = 0; i < count; ++i) {
        (void)add_box(world, vec3(x, 0.25f + 0.5f * (float)i, 0.0f), 0.25f, 1000.0f);
    }
    (void)add_box(world, vec3(x, 0.3125f + 0.5f * (float)count, 0.0f), 0.25f, 1000.0f * ratio);
}

// Two light cubes that a hinge joins, below a heavy one: a limb carries less than a body alone.
static void add_loaded_limb(cairn_world *world, float x) {
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id joint = 0;
    def.kind = CAIRN_JOINT_HINGE;
    def.body_a = add_box(world, vec3(x, 0.25f, 0.0f), 0.25f, 100.0f);
    def.body_b = add_box(world, vec3(x + 0.75f, 0.25f, 0.0f), 0.25f, 100.0f);
    def.anchor_a = vec3(0.375f, 0.0f, 0.0f);
    def.anchor_b = vec3(-0.375f, 0.0f, 0.0f);
    const cairn_status status = cairn_joint_create(world, &def, &joint);
    CAIRN_ASSERT(status == CAIRN_OK);
    (void)status;
    (void)add_box(world, vec3(x, 1.0f, 0.125f), 0.5f, 4000.0f);
}

void golden_build_loads(cairn_world *world) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    (void)golden_place(world, CAIRN_BODY_STATIC, vec3_zero(), quat_identity(), &shape);
    add_column(world, 0.0f, 1, 1000.0f);
    add_column(world, 2.0f, 3, 1000.0f);
    add_column(world, 4.0f, 6, 100.0f);
    add_loaded_limb(world, 6.0f);
    for (uint32_t i = 0; i < 24; ++i) {
        const cairn_vec3 at = vec3(0.5f * (float)(i % 4), 0.25f + 0.4375f * (float)(i / 8),
            4.0f + 0.5f * (float)(i / 4 % 2) + 0.03125f * golden_draw(LOADS_SEED, 0, i, 0));
        (void)add_box(world, at, 0.1875f, 100.0f);
    }
    shape.kind = CAIRN_SHAPE_SPHERE;
    shape.radius = 0.5f;
    shape.density = 8000.0f;
    const cairn_body_id ball =
        golden_place(world, CAIRN_BODY_DYNAMIC, vec3(-3.0f, 0.5f, 4.25f), quat_identity(), &shape);
    const cairn_status status =
        cairn_body_set_velocity(world, ball, vec3(6.0f, 0.0f, 0.0f), vec3_zero());
    CAIRN_ASSERT(status == CAIRN_OK);
    (void)status;
}
