// SPDX-License-Identifier: MIT
// A small world for each laboratory solver: boxes, balls and joints that come down on each other.

#include "tests/sim/golden_scenes.h"

#include "base/assert.h"

static void define(cairn_world_def *def, uint32_t solver, uint32_t friction_model) {
    def->solver = solver;
    def->friction_model = friction_model;
    def->body_capacity = def->shape_capacity = 32;
    def->joint_capacity = 8;
    def->contact_capacity = 64;
    def->iterations = 12;
}

void golden_define_direct(cairn_world_def *def) {
    define(def, CAIRN_SOLVER_DIRECT, CAIRN_FRICTION_COULOMB);
}

void golden_define_psor(cairn_world_def *def) {
    define(def, CAIRN_SOLVER_PSOR, CAIRN_FRICTION_PYRAMID);
    def->stop_rule = CAIRN_STOP_RESIDUAL;
    def->stop_tolerance = 1e-3f;
}

void golden_define_pssor(cairn_world_def *def) {
    define(def, CAIRN_SOLVER_PSSOR, CAIRN_FRICTION_CONSTANT);
}

void golden_define_split(cairn_world_def *def) {
    define(def, CAIRN_SOLVER_SPLIT, CAIRN_FRICTION_COULOMB);
    def->stop_rule = CAIRN_STOP_CHANGE;
}

void golden_define_gradient(cairn_world_def *def) {
    define(def, CAIRN_SOLVER_GRADIENT, CAIRN_FRICTION_CONE);
}

void golden_define_mprgp(cairn_world_def *def) {
    define(def, CAIRN_SOLVER_MPRGP, CAIRN_FRICTION_COULOMB);
}

void golden_define_apgd(cairn_world_def *def) {
    define(def, CAIRN_SOLVER_APGD, CAIRN_FRICTION_CONE);
    def->stop_rule = CAIRN_STOP_PROGRESS;
    def->stop_tolerance = 0.5f;
}

void golden_build_pile(cairn_world *world, uint32_t bodies) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    const cairn_quat upright = {.x = 0.0f, .y = 0.0f, .z = 0.0f, .w = 1.0f};
    (void)golden_place(world, CAIRN_BODY_STATIC, (cairn_vec3){.x = 0.0f}, upright, &shape);
    cairn_body_id last = CAIRN_ID_NULL;
    for (uint32_t i = 0; i < bodies; ++i) {
        shape.kind = i % 3 == 2 ? CAIRN_SHAPE_SPHERE : CAIRN_SHAPE_BOX;
        shape.radius = 0.25f;
        shape.half_extents = (cairn_vec3){.x = 0.5f, .y = 0.125f, .z = 0.25f};
        shape.static_friction = i % 4 == 0 ? 1.0f : 0.0f;
        shape.rolling_resistance = i % 5 == 2 ? 0.0625f : 0.0f;
        shape.restitution = i == 7 ? 0.5f : 0.0f;
        const cairn_vec3 at = {.x = 0.25f * golden_draw(91, i, 0, 1),
            .y = 0.25f + 0.5f * (float)i,
            .z = 0.25f * golden_draw(91, i, 0, 2)};
        const cairn_body_id body = golden_place(world, CAIRN_BODY_DYNAMIC, at, upright, &shape);
        if (i % 2 == 1) {
            static const uint32_t kinds[] = {
                CAIRN_JOINT_BALL, CAIRN_JOINT_HINGE, CAIRN_JOINT_DISTANCE, CAIRN_JOINT_WELD};
            cairn_joint_def joint = cairn_joint_def_default();
            cairn_joint_id id = 0;
            joint.kind = kinds[i / 2 % 4];
            joint.body_a = last;
            joint.body_b = body;
            joint.anchor_a = (cairn_vec3){.x = 0.5f, .y = 0.25f};
            joint.anchor_b = (cairn_vec3){.x = 0.5f, .y = -0.25f};
            joint.length = 0.25f;
            CAIRN_ASSERT(cairn_joint_create(world, &joint, &id) == CAIRN_OK);
        }
        last = body;
    }
}

void golden_build_laboratory(cairn_world *world) {
    golden_build_pile(world, 10);
}

// Lemke's algorithm takes a third power of the rows: ten bodies for 80 ticks would take longer than
// all other scenes.
void golden_build_direct(cairn_world *world) {
    golden_build_pile(world, 6);
}
