// SPDX-License-Identifier: MIT

// A short world with every shape and every joint: enough to use each kernel, and small enough for a
// millisecond.

#include "base/assert.h"
#include "sim/debug/passport_parts.h"
#include "sim/math/float_env.h"
#include "sim/math/vec.h"

#define TICKS 32

static void require_ok(cairn_status status) {
    CAIRN_ASSERT(status == CAIRN_OK);
}

static cairn_body_id create_body(cairn_world *world, uint32_t kind, float x, float y) {
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id body = 0;
    def.kind = kind;
    def.position = vec3(x, y, 0.125f * x);
    def.rotation = (cairn_quat){0.0625f * y, 0.25f, 0.125f * x, 0.9375f};
    def.rotation =
        kind == CAIRN_BODY_STATIC ? (cairn_quat){.w = 1.0f} : quat_normalize(def.rotation);
    def.linear_velocity = kind == CAIRN_BODY_STATIC ? vec3_zero() : vec3(0.5f - x, -y, 0.25f);
    require_ok(cairn_body_create(world, &def, &body));
    return body;
}

static cairn_body_id create_shaped_body(
    cairn_world *world, uint32_t kind, cairn_hull_id hull, float x, float y) {
    const cairn_body_id body = create_body(world, CAIRN_BODY_DYNAMIC, x, y);
    cairn_shape_def def = cairn_shape_def_default();
    cairn_shape_id shape = 0;
    def.kind = kind;
    def.half_extents = vec3(0.5f, 0.25f, 0.375f);
    def.radius = 0.25f;
    def.half_height = 0.375f;
    def.hull = hull;
    def.restitution = 0.25f;
    require_ok(cairn_shape_create(world, body, &def, &shape));
    return body;
}

static void create_ground(cairn_world *world) {
    cairn_shape_def def = cairn_shape_def_default();
    cairn_shape_id shape = 0;
    def.kind = CAIRN_SHAPE_HALF_SPACE;
    require_ok(
        cairn_shape_create(world, create_body(world, CAIRN_BODY_STATIC, 0.0f, 0.0f), &def, &shape));
}

static cairn_hull_id create_wedge(cairn_world *world) {
    static const cairn_vec3 corners[] = {{-0.5f, -0.25f, -0.25f}, {0.5f, -0.25f, -0.25f},
        {0.5f, -0.25f, 0.25f}, {-0.5f, -0.25f, 0.25f}, {-0.375f, 0.25f, 0.0f},
        {0.25f, 0.375f, 0.0625f}};
    cairn_hull_id hull = 0;
    require_ok(cairn_hull_create(world, corners, sizeof corners / sizeof corners[0], &hull));
    return hull;
}

static void create_joint(cairn_world *world, uint32_t kind, cairn_body_id a, cairn_body_id b) {
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id joint = 0;
    def.kind = kind;
    def.body_a = a;
    def.body_b = b;
    def.anchor_a = vec3(0.5f, 0.0f, 0.0f);
    def.anchor_b = vec3(-0.5f, 0.125f, 0.0f);
    def.length = 0.75f;
    def.cone = 0.5f;
    def.limited = 1;
    def.lower = -0.25f;
    def.upper = 0.5f;
    require_ok(cairn_joint_create(world, &def, &joint));
}

// Two layers of bodies, the upper above the lower; a joint of each kind connects bodies of the
// upper.
static void build_scene(cairn_world *world) {
    static const uint32_t kinds[5] = {CAIRN_SHAPE_BOX, CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_CAPSULE,
        CAIRN_SHAPE_HULL, CAIRN_SHAPE_BOX};
    cairn_body_id upper[5] = {0};
    create_ground(world);
    const cairn_hull_id hull = create_wedge(world);
    for (uint32_t i = 0; i < 5; ++i) {
        const float x = (float)i - 2.0f;
        (void)create_shaped_body(
            world, kinds[i], kinds[i] == CAIRN_SHAPE_HULL ? hull : 0, x, 0.375f);
        const uint32_t above = kinds[4 - i];
        upper[i] =
            create_shaped_body(world, above, above == CAIRN_SHAPE_HULL ? hull : 0, x, 0.875f);
    }
    for (uint32_t i = 0; i < 4; ++i) {
        create_joint(world, CAIRN_JOINT_BALL + i, upper[i], upper[i + 1]);
    }
}

// If the float mode cannot be set, a step in a wrong mode would fail an assert.
static bool can_step(void) {
    return cairn_float_mode_known() || cairn_float_mode_ok();
}

cairn_status cairn_passport_scene(cairn_hash128 *out) {
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world = NULL;
    *out = (cairn_hash128){0};
    def.body_capacity = 16;
    def.shape_capacity = 16;
    def.joint_capacity = 4;
    def.hull_capacity = 1;
    def.contact_capacity = 64;
    if (!can_step()) {
        return CAIRN_OK;
    }
    const cairn_status status = cairn_world_create(&def, &world);
    if (status != CAIRN_OK) {
        return status;
    }
    const uint64_t mode = cairn_float_enter();
    build_scene(world);
    cairn_float_leave(mode);
    for (uint32_t i = 0; i < TICKS; ++i) {
        cairn_world_step(world, NULL, 0);
    }
    *out = cairn_world_hash_read(world).full;
    CAIRN_ASSERT(cairn_world_tick(world) == TICKS);
    cairn_world_destroy(world);
    return CAIRN_OK;
}
