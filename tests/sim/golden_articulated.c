// SPDX-License-Identifier: MIT

// Articulated figures of every kind of joint, with springs, motors, friction and limits: one on a
// base that moves, some that float, among boxes. The second scene has joints with one axis or none,
// which are solved in lanes (sim/soft_step/figure_solver.c), and more figures than a batch.

#include "base/assert.h"
#include "sim/math/vec.h"
#include "tests/sim/golden_scenes.h"

enum { FIGURES = 5, FIGURES_SINGLE = 10, LINKS = 7 };

static cairn_body_id add_box(cairn_world *world, uint32_t kind, cairn_vec3 at, cairn_vec3 size) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.half_extents = size;
    return golden_place(world, kind, at, (cairn_quat){.w = 1.0f}, &shape);
}

static const uint32_t kinds_all[] = {CAIRN_JOINT_HINGE, CAIRN_JOINT_CONE, CAIRN_JOINT_PRISMATIC,
    CAIRN_JOINT_BALL, CAIRN_JOINT_WELD, CAIRN_JOINT_HINGE};
static const uint32_t kinds_single[] = {CAIRN_JOINT_HINGE, CAIRN_JOINT_HINGE, CAIRN_JOINT_PRISMATIC,
    CAIRN_JOINT_HINGE, CAIRN_JOINT_WELD, CAIRN_JOINT_HINGE};

static cairn_joint_def joint_of(const uint32_t *kinds, uint32_t figure, uint32_t link) {
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = kinds[(figure + link) % 6];
    def.articulated = 1;
    def.axis_a = link % 2 == 0 ? vec3(0, 0, 1) : vec3(1, 0, 0);
    def.axis_b = def.axis_a;
    def.normal_a = vec3(0, 1, 0);
    def.normal_b = vec3(0, 1, 0);
    def.anchor_a = vec3(0.0f, link == 0 ? -0.25f : -0.3f, 0.0f);
    def.anchor_b = vec3(0.0f, 0.3f, 0.0f);
    def.limited = 1;
    def.lower = -0.5f;
    def.upper = 0.75f;
    def.cone = 0.5f;
    def.armature = figure == 1 ? 0.25f : 0.0f;
    def.drive_stiffness = figure == 2 ? 500.0f : 0.0f;
    def.drive_damping = figure == 2 ? 50.0f : 0.5f;
    def.joint_friction = figure == 3 ? 2.0f : 0.0f;
    def.motor = figure == 4 ? 1 : 0;
    def.motor_speed = 2.0f;
    def.motor_velocity = vec3(1.0f, -1.0f, 0.5f);
    def.motor_force = 40.0f;
    return def;
}

// A figure of links one below the other, each second one with a second child.
static void add_figure(cairn_world *world, const uint32_t *kinds, uint32_t index, uint32_t figure) {
    const float x = 1.5f * (float)index;
    const uint32_t base = figure == 0 ? CAIRN_BODY_KINEMATIC : CAIRN_BODY_DYNAMIC;
    cairn_body_id on = add_box(world, base, vec3(x, 4.5f, 0.0f), vec3(0.25f, 0.25f, 0.25f));
    for (uint32_t i = 0; i < LINKS; ++i) {
        const float y = 4.5f - 0.55f - 0.6f * (float)i;
        const cairn_body_id body =
            add_box(world, CAIRN_BODY_DYNAMIC, vec3(x, y, 0.0f), vec3(0.125f, 0.25f, 0.125f));
        cairn_joint_def def = joint_of(kinds, figure, i);
        cairn_joint_id joint = 0;
        def.body_a = on;
        def.body_b = body;
        CAIRN_ASSERT(cairn_joint_create(world, &def, &joint) == CAIRN_OK);
        on = i % 3 == 1 ? on : body;
    }
}

void golden_define_articulated(cairn_world_def *def) {
    def->joint_capacity = FIGURES * LINKS;
}

void golden_define_articulated_single(cairn_world_def *def) {
    def->body_capacity = 96;
    def->shape_capacity = 96;
    def->contact_capacity = 512;
    def->joint_capacity = FIGURES_SINGLE * LINKS;
}

static void build(cairn_world *world, const uint32_t *kinds, uint32_t figures) {
    cairn_shape_def plane = cairn_shape_def_default();
    plane.kind = CAIRN_SHAPE_HALF_SPACE;
    (void)golden_place(world, CAIRN_BODY_STATIC, vec3_zero(), (cairn_quat){.w = 1.0f}, &plane);
    for (uint32_t i = 0; i < figures; ++i) {
        add_figure(world, kinds, i, i % FIGURES);
    }
    for (uint32_t i = 0; i < 6; ++i) {
        (void)add_box(world, CAIRN_BODY_DYNAMIC, vec3(1.25f * (float)i, 6.0f, 0.25f),
            vec3(0.25f, 0.25f, 0.25f));
    }
}

void golden_build_articulated(cairn_world *world) {
    build(world, kinds_all, FIGURES);
}

void golden_build_articulated_single(cairn_world *world) {
    build(world, kinds_single, FIGURES_SINGLE);
}

// The base turns about, motors turn back, and a link is pushed.
void golden_disturb_articulated(cairn_world *world, uint64_t tick) {
    cairn_body_state bodies[128];
    cairn_joint_id joints[128];
    cairn_joint_def def;
    if (tick % 10 != 0) {
        return;
    }
    const uint32_t count = cairn_world_bodies(world, bodies, 128);
    const uint32_t joint_count = cairn_world_joints(world, joints, 128);
    const float way = tick % 40 < 20 ? 1.0f : -1.0f;
    CAIRN_ASSERT(count > 2 && joint_count > 0); // other tests destroy some
    (void)cairn_body_set_velocity(
        world, bodies[1].id, vec3(way, 0.0f, 0.5f * way), vec3(0.0f, way, 0.0f));
    (void)cairn_body_apply_impulse_at_centre(
        world, bodies[2 + tick / 10 % (count - 2)].id, vec3(10.0f * way, 5.0f, 10.0f));
    const cairn_joint_id joint = joints[tick / 10 % joint_count];
    CAIRN_ASSERT(cairn_joint_read(world, joint, &def) == CAIRN_OK);
    def.motor_speed = 0.0f - def.motor_speed;
    def.drive_torque = vec3(5.0f * way, 0.0f, 0.0f);
    CAIRN_ASSERT(cairn_joint_set(world, joint, &def) == CAIRN_OK);
}
