// SPDX-License-Identifier: MIT

// The golden scene of fracture: boxes, a hull, a cylinder and a cone that fall, break, whose pieces
// break again and are cleared away, one of them held by a joint.

#include <cairn/fracture.h>

#include "base/assert.h"
#include "sim/math/vec.h"
#include "tests/sim/golden_scenes.h"

#define FRACTURE_SEED 13
#define FRACTURE_BODIES 160

void golden_define_fracture(cairn_world_def *def) {
    def->body_capacity = FRACTURE_BODIES;
    def->shape_capacity = FRACTURE_BODIES;
    def->hull_capacity = 96;
    def->contact_capacity = 1024;
}

void golden_build_fracture(cairn_world *world) {
    static const cairn_vec3 wedge[6] = {{-0.75f, -0.5f, -0.5f}, {0.75f, -0.5f, -0.5f},
        {-0.75f, -0.5f, 0.5f}, {0.75f, -0.5f, 0.5f}, {-0.75f, 0.5f, 0.0f}, {0.75f, 0.5f, 0.0f}};
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_joint_def joint = cairn_joint_def_default();
    cairn_joint_id id;
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    const cairn_body_id ground =
        golden_place(world, CAIRN_BODY_STATIC, vec3_zero(), quat_identity(), &shape);
    shape.kind = CAIRN_SHAPE_BOX;
    shape.half_extents = vec3(0.75f, 0.5f, 0.125f);
    joint.body_a = ground;
    joint.body_b =
        golden_place(world, CAIRN_BODY_DYNAMIC, vec3(-3.0f, 2.0f, 0.0f), quat_identity(), &shape);
    joint.anchor_a = vec3(-3.0f, 3.0f, 0.0f);
    joint.anchor_b = vec3(0.0f, 1.0f, 0.0f);
    cairn_status status = cairn_joint_create(world, &joint, &id);
    CAIRN_ASSERT(status == CAIRN_OK);
    (void)golden_place(world, CAIRN_BODY_DYNAMIC, vec3(0.0f, 0.5f, 0.0f), quat_identity(), &shape);
    shape.kind = CAIRN_SHAPE_CYLINDER;
    shape.half_height = 0.375f;
    (void)golden_place(world, CAIRN_BODY_DYNAMIC, vec3(0.0f, 1.5f, 0.0f), quat_identity(), &shape);
    shape.kind = CAIRN_SHAPE_CONE;
    (void)golden_place(world, CAIRN_BODY_DYNAMIC, vec3(0.25f, 2.5f, 0.0f), quat_identity(), &shape);
    shape.kind = CAIRN_SHAPE_HULL;
    shape.pose.rotation = (cairn_quat){.x = 0.6f, .w = 0.8f};
    status = cairn_hull_create(world, wedge, 6, &shape.hull);
    CAIRN_ASSERT(status == CAIRN_OK);
    (void)golden_place(
        world, CAIRN_BODY_DYNAMIC, vec3(0.0f, 3.75f, 0.25f), quat_identity(), &shape);
    (void)status;
}

// The dynamic body of the greatest mass, or of the least.
static cairn_body_state find_body(const cairn_world *world, bool least) {
    cairn_body_state bodies[FRACTURE_BODIES];
    const uint32_t count = cairn_world_bodies(world, bodies, FRACTURE_BODIES);
    uint32_t best = CAIRN_INDEX_NONE;
    CAIRN_ASSERT(count <= FRACTURE_BODIES);
    for (uint32_t i = 0; i < count; ++i) {
        const float mass = cairn_body_mass(world, bodies[i].id);
        const float found =
            best == CAIRN_INDEX_NONE ? 0.0f : cairn_body_mass(world, bodies[best].id);
        const bool better = best == CAIRN_INDEX_NONE || (least ? mass < found : mass > found);
        best = bodies[i].kind == CAIRN_BODY_DYNAMIC && better ? i : best;
    }
    CAIRN_ASSERT(best != CAIRN_INDEX_NONE);
    return bodies[best];
}

// Later the world is nearly full, and some fractures find no room.
void golden_disturb_fracture(cairn_world *world, uint64_t tick) {
    uint32_t count;
    if (tick % 12 == 7) {
        const cairn_body_state body = find_body(world, false);
        cairn_fracture_def def = cairn_fracture_def_default();
        def.point = vec3_add(
            body.position, vec3(0.25f * golden_draw(FRACTURE_SEED, tick, 0, 0), 0.0f, 0.0f));
        def.pieces = 6 + (uint32_t)tick % 9;
        def.seed = tick;
        const cairn_status status = cairn_body_fracture(world, body.id, &def, NULL, 0, &count);
        CAIRN_ASSERT(status == CAIRN_OK || status == CAIRN_CAPACITY);
        (void)status;
    }
    if (tick > 60 && tick % 3 == 0) {
        (void)cairn_body_destroy(world, find_body(world, true).id);
    }
}
