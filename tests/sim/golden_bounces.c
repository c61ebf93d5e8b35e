// SPDX-License-Identifier: MIT

// The golden scene of impacts: long bodies of every shape that bounce with friction on tiles, of
// which they meet several at once, on plain ground beside them, and on each other.

#include "base/assert.h"
#include "sim/math/vec.h"
#include "tests/sim/golden_scenes.h"

#define BOUNCES_SEED 17
enum { TILES = 5, BOUNCING = 16 };

void golden_define_bounces_pgs(cairn_world_def *def) {
    def->solver = CAIRN_SOLVER_PGS;
}

static void build_tiles(cairn_world *world) {
    cairn_shape_def tile = cairn_shape_def_default();
    tile.half_extents = vec3(0.25f, 0.25f, 0.25f);
    for (uint32_t i = 0; i < TILES * TILES; ++i) {
        const cairn_vec3 at =
            vec3(0.5f * (float)(i % TILES) - 1.0f, 0.25f, 0.5f * (float)(i / TILES) - 1.0f);
        (void)golden_place(world, CAIRN_BODY_STATIC, at, quat_identity(), &tile);
    }
}

static float draw(uint32_t which, uint32_t stream) {
    return golden_draw(BOUNCES_SEED, 0, which, stream);
}

static void throw_body(cairn_world *world, uint32_t which) {
    static const uint32_t kinds[] = {
        CAIRN_SHAPE_BOX, CAIRN_SHAPE_CAPSULE, CAIRN_SHAPE_CYLINDER, CAIRN_SHAPE_CONE};
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = kinds[which % 4];
    shape.half_extents = vec3(0.125f, 0.5f, 0.25f);
    shape.radius = 0.125f + 0.0625f * (float)(which % 3);
    shape.half_height = 0.5f;
    shape.restitution = which % 3 == 0 ? 0.75f : 1.0f;
    shape.friction = 0.5f;
    shape.flags = CAIRN_SHAPE_HIT_EVENTS;
    cairn_body_def def = cairn_body_def_default();
    def.kind = CAIRN_BODY_DYNAMIC;
    def.position =
        vec3(1.5f * draw(which, 0), 2.0f + 0.75f * (float)(which / 2), 1.5f * draw(which, 1));
    def.rotation =
        (cairn_quat){.x = which % 2 == 0 ? 0.6f : -0.28f, .w = which % 2 == 0 ? 0.8f : 0.96f};
    def.linear_velocity = vec3(2.0f * draw(which, 2), -4.0f, 2.0f * draw(which, 3));
    def.angular_velocity =
        vec3(4.0f * draw(which, 4), 4.0f * draw(which, 5), 4.0f * draw(which, 6));
    def.gyroscopic = which / 2 % 2;
    cairn_body_id body;
    cairn_shape_id id;
    cairn_status status = cairn_body_create(world, &def, &body);
    CAIRN_ASSERT(status == CAIRN_OK);
    status = cairn_shape_create(world, body, &shape, &id);
    CAIRN_ASSERT(status == CAIRN_OK);
    (void)status;
}

void golden_build_bounces(cairn_world *world) {
    cairn_shape_def plain = cairn_shape_def_default();
    plain.kind = CAIRN_SHAPE_HALF_SPACE;
    (void)golden_place(world, CAIRN_BODY_STATIC, vec3_zero(), quat_identity(), &plain);
    build_tiles(world);
    for (uint32_t i = 0; i < BOUNCING; ++i) {
        throw_body(world, i);
    }
}
