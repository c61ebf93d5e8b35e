// SPDX-License-Identifier: MIT
#include "bench/kit.h"
#include "sim/math/vec.h"

// In the figure's own frame: x to its left, y up. Limbs are given for the left side.
typedef struct part {
    cairn_vec3 at;
    float radius;
    float half_height;
    bool along_x;
} part;

static const part pelvis = {{0.0f, 0.0f, 0.0f}, 0.12f, 0.08f, true};
static const part chest = {{0.0f, 0.36f, 0.0f}, 0.15f, 0.12f, false};
static const part head = {{0.0f, 0.82f, 0.0f}, 0.11f, 0.04f, false};
static const part upper_arm = {{0.34f, 0.52f, 0.0f}, 0.05f, 0.11f, true};
static const part lower_arm = {{0.66f, 0.52f, 0.0f}, 0.045f, 0.11f, true};
static const part upper_leg = {{0.12f, -0.30f, 0.0f}, 0.07f, 0.15f, false};
static const part lower_leg = {{0.12f, -0.75f, 0.0f}, 0.06f, 0.15f, false};

typedef struct link {
    uint32_t kind; // cairn_joint_kind
    cairn_vec3 at;
    cairn_vec3 axis;
    float cone;
    float lower;
    float upper;
} link;

static const link spine = {
    CAIRN_JOINT_CONE, {0.0f, 0.15f, 0.0f}, {0.0f, 1.0f, 0.0f}, 0.4f, -0.3f, 0.3f};
static const link neck = {
    CAIRN_JOINT_CONE, {0.0f, 0.66f, 0.0f}, {0.0f, 1.0f, 0.0f}, 0.5f, -0.5f, 0.5f};
static const link shoulder = {
    CAIRN_JOINT_CONE, {0.18f, 0.52f, 0.0f}, {1.0f, 0.0f, 0.0f}, 1.2f, -0.8f, 0.8f};
static const link elbow = {
    CAIRN_JOINT_HINGE, {0.50f, 0.52f, 0.0f}, {0.0f, 1.0f, 0.0f}, 0.0f, -0.1f, 2.2f};
static const link hip = {
    CAIRN_JOINT_CONE, {0.12f, -0.06f, 0.0f}, {0.0f, -1.0f, 0.0f}, 0.8f, -0.3f, 0.3f};
static const link knee = {
    CAIRN_JOINT_HINGE, {0.12f, -0.53f, 0.0f}, {1.0f, 0.0f, 0.0f}, 0.0f, -0.1f, 2.2f};

typedef struct figure {
    cairn_world *world;
    cairn_vec3 at;
    cairn_quat turn;
} figure;

typedef enum side { LEFT = 1, RIGHT = -1 } side;

static cairn_vec3 place_of(const figure *f, cairn_vec3 at, side s) {
    at.x *= (float)s;
    return vec3_add(f->at, quat_rotate(f->turn, at));
}

static cairn_body_id add_part(const figure *f, const part *p, side s) {
    const cairn_shape_def shape = p->along_x ? bench_capsule_along_x(p->radius, p->half_height)
                                             : bench_capsule(p->radius, p->half_height);
    return bench_drop_turned(f->world, &shape, place_of(f, p->at, s), f->turn);
}

// All parts have the same rotation, so an axis of the figure is the same in both bodies' frames.
static void join_parts(
    const figure *f, const link *l, cairn_body_id a, cairn_body_id b, side s, cairn_vec3 axis) {
    const cairn_vec3 point = place_of(f, l->at, s);
    const cairn_vec3 across = vec3(float_abs(axis.y), float_abs(axis.x), 0.0f);
    const cairn_joint_def def = {.kind = l->kind,
        .body_a = a,
        .body_b = b,
        .anchor_a = bench_anchor(f->world, a, point),
        .anchor_b = bench_anchor(f->world, b, point),
        .axis_a = axis,
        .axis_b = axis,
        .normal_a = across,
        .normal_b = across,
        .cone = l->cone,
        .lower = l->lower,
        .upper = l->upper,
        .limited = 1};
    cairn_joint_id joint = 0;
    bench_require(
        cairn_joint_create(f->world, &def, &joint) == CAIRN_OK, "a joint of the scene was refused");
}

// Arms are mirrored with their axes; the axes of legs are the same on both sides.
static void join_limbs(const figure *f, cairn_body_id trunk, const link *l,
    const cairn_body_id inner[2], const cairn_body_id outer[2], bool mirrored) {
    static const side sides[2] = {LEFT, RIGHT};
    for (int i = 0; i < 2; ++i) {
        const cairn_vec3 axis = mirrored && sides[i] == RIGHT ? vec3_negate(l->axis) : l->axis;
        join_parts(f, l, inner != NULL ? inner[i] : trunk, outer[i], sides[i], axis);
    }
}

static void add_limbs(const figure *f, const part *p, cairn_body_id out[2]) {
    out[0] = add_part(f, p, LEFT);
    out[1] = add_part(f, p, RIGHT);
}

void bench_ragdoll(cairn_world *world, cairn_vec3 at, cairn_quat turn) {
    const figure f = {.world = world, .at = at, .turn = turn};
    const cairn_body_id hips = add_part(&f, &pelvis, LEFT);
    const cairn_body_id trunk = add_part(&f, &chest, LEFT);
    const cairn_body_id skull = add_part(&f, &head, LEFT);
    cairn_body_id upper_arms[2];
    cairn_body_id lower_arms[2];
    cairn_body_id upper_legs[2];
    cairn_body_id lower_legs[2];
    add_limbs(&f, &upper_arm, upper_arms);
    add_limbs(&f, &lower_arm, lower_arms);
    add_limbs(&f, &upper_leg, upper_legs);
    add_limbs(&f, &lower_leg, lower_legs);
    join_parts(&f, &spine, hips, trunk, LEFT, spine.axis);
    join_parts(&f, &neck, trunk, skull, LEFT, neck.axis);
    join_limbs(&f, trunk, &shoulder, NULL, upper_arms, true);
    join_limbs(&f, trunk, &elbow, upper_arms, lower_arms, true);
    join_limbs(&f, hips, &hip, NULL, upper_legs, false);
    join_limbs(&f, hips, &knee, upper_legs, lower_legs, false);
}

void bench_ragdolls(cairn_world *world) {
    bench_yard(world, 4.0f);
    for (int i = 0; i < 100; ++i) {
        const cairn_vec3 at = bench_at(((float)(i / 5 % 4) - 1.5f) * 1.9f,
            1.2f + 2.2f * (float)(i / 20), ((float)(i % 5) - 2.0f) * 1.4f);
        bench_ragdoll(world, at, bench_turn(i, 1.0f));
    }
}
