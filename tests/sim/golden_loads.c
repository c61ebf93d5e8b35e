// SPDX-License-Identifier: MIT

// The golden scene of loads: light bodies that heavy ones squeeze, at rest and while they are
// driven through a heap, alone and with joints; and links that hold heavier bodies on long arms.

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

static void join(cairn_world *world, uint32_t kind, cairn_body_id a, cairn_vec3 from,
    cairn_body_id b, cairn_vec3 to) {
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id joint = 0;
    def.kind = kind;
    def.body_a = a;
    def.body_b = b;
    def.anchor_a = from;
    def.anchor_b = to;
    const cairn_status status = cairn_joint_create(world, &def, &joint);
    CAIRN_ASSERT(status == CAIRN_OK);
    (void)status;
}

// A double pendulum whose upper body is the light one of the two: a light link.
static void add_pendulum(cairn_world *world, cairn_body_id ground, uint32_t kind, float z) {
    const cairn_body_id upper = add_box(world, vec3(9.0f, 4.0f, z), 0.125f, 1000.0f);
    const cairn_body_id lower = add_box(world, vec3(10.0f, 4.0f, z), 0.25f, 1000.0f);
    join(world, kind, ground, vec3(8.0f, 4.0f, z), upper, vec3(-1.0f, 0.0f, 0.0f));
    join(world, kind, upper, vec3(0.0f, 0.0f, 0.0f), lower, vec3(-1.0f, 0.0f, 0.0f));
}

// Three bodies that fall, the light one in the middle of long arms: their joints open.
static void add_long_arms(cairn_world *world, uint32_t kind) {
    const cairn_body_id left = add_box(world, vec3(12.0f, 3.0f, 0.0f), 0.5f, 1000.0f);
    const cairn_body_id middle = add_box(world, vec3(15.0f, 1.0f, 0.0f), 0.125f, 1000.0f);
    const cairn_body_id right = add_box(world, vec3(17.0f, 4.0f, 1.0f), 0.375f, 1000.0f);
    join(world, kind, left, vec3(0.5f, -0.25f, 0.0f), middle, vec3(-2.5f, 1.75f, 0.0f));
    join(world, kind, middle, vec3(1.0f, 1.0f, 0.5f), right, vec3(-1.0f, -2.0f, -0.5f));
}

void golden_build_loads(cairn_world *world) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    const cairn_body_id ground =
        golden_place(world, CAIRN_BODY_STATIC, vec3_zero(), quat_identity(), &shape);
    add_pendulum(world, ground, CAIRN_JOINT_BALL, 0.0f);
    add_pendulum(world, ground, CAIRN_JOINT_HINGE, 3.0f);
    add_long_arms(world, CAIRN_JOINT_HINGE);
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
