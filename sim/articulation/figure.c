// SPDX-License-Identifier: MIT
#include "sim/articulation/figure.h"

#include "base/assert.h"
#include "sim/constraint/joint_frame.h"
#include "sim/math/limits.h"
#include "sim/math/rotation.h"

#define FAR 1e30f
// rad/s or m/s at most, back to a limit that is passed
#define PUSH_SPEED 4.0f

uint32_t cairn_joint_axis_count(uint32_t kind) {
    switch (kind) {
    case CAIRN_JOINT_WELD:
        return 0;
    case CAIRN_JOINT_HINGE:
    case CAIRN_JOINT_PRISMATIC:
        return 1;
    default:
        return 3;
    }
}

// ---- From the state

static cairn_quat frame_of(const cairn_joint *joint, cairn_vec3 axis, cairn_vec3 normal) {
    return cairn_joint_has_axes(joint->kind) ? quat_of_axes(axis, normal) : quat_identity();
}

static cairn_quat parent_rotation(const cairn_figure *figure, uint32_t index) {
    const uint32_t parent = figure->tree.links[index].parent;
    return parent == CAIRN_INDEX_NONE ? figure->base_rotation : figure->links[parent].rotation;
}

static cairn_vec3 parent_position(const cairn_figure *figure, uint32_t index) {
    const uint32_t parent = figure->tree.links[index].parent;
    return parent == CAIRN_INDEX_NONE ? figure->base_position : figure->links[parent].position;
}

// The part of a rotation about the x axis.
static cairn_quat twist_about_x(cairn_quat q) {
    const cairn_quat twist = {.x = q.x, .w = q.w};
    return quat_length_squared(twist) > 1e-12f ? quat_normalize(twist) : quat_identity();
}

static void read_coordinates(cairn_figure *figure, uint32_t index) {
    cairn_figure_link *link = &figure->links[index];
    const cairn_quat a = quat_multiply(parent_rotation(figure, index), link->frame_a);
    const cairn_quat b = quat_multiply(link->rotation, link->frame_b);
    const cairn_quat turn = quat_normalize(quat_multiply(quat_conjugate(a), b));
    link->turn = quat_identity();
    link->travel = 0.0f;
    link->axis = quat_rotate(a, vec3(1, 0, 0));
    link->anchor = vec3_add(link->position, quat_rotate(link->rotation, link->arm_b));
    if (link->joint->kind == CAIRN_JOINT_HINGE) {
        link->turn = twist_about_x(turn);
    } else if (link->joint->kind == CAIRN_JOINT_PRISMATIC) {
        const cairn_vec3 from = vec3_add(parent_position(figure, index),
            quat_rotate(parent_rotation(figure, index), link->arm_a));
        link->travel = vec3_dot(link->axis, vec3_sub(link->anchor, from));
    } else if (link->joint->kind != CAIRN_JOINT_WELD) {
        link->turn = turn;
    }
}

static void load_joint(const cairn_world *world, cairn_figure *figure, uint32_t index) {
    cairn_figure_link *link = &figure->links[index];
    const cairn_joint *joint = link->joint;
    const uint32_t a = cairn_id_index(joint->body_a);
    link->frame_a = frame_of(joint, joint->axis_a, joint->normal_a);
    link->frame_b = frame_of(joint, joint->axis_b, joint->normal_b);
    link->arm_a = vec3_sub(joint->anchor_a, world->state.bodies[a].centre);
    link->arm_b = vec3_sub(joint->anchor_b, world->state.bodies[link->body].centre);
    read_coordinates(figure, index);
}

void cairn_figure_load(const cairn_world *world, cairn_figure *figure, uint32_t index) {
    cairn_figure_link *link = &figure->links[index];
    const cairn_motion *motion = &world->state.motions[link->body];
    const cairn_body *body = &world->state.bodies[link->body];
    CAIRN_ASSERT(body->mass > 0.0f);
    link->mass = body->mass;
    link->inverse_inertia = body->inverse_inertia;
    link->inertia = sym3_inverse_scaled(body->inverse_inertia);
    link->rotation = motion->rotation;
    link->position = vec3_sub(motion->position, figure->origin);
    link->linear_velocity = motion->linear_velocity;
    link->angular_velocity = motion->angular_velocity;
    link->push = vec3_zero();
    link->twist = vec3_zero();
    if (link->joint != NULL) {
        load_joint(world, figure, index);
    }
}

// ---- Poses

static cairn_quat joint_rotation(const cairn_figure *figure, uint32_t index) {
    return quat_multiply(parent_rotation(figure, index), figure->links[index].frame_a);
}

static bool joint_turns(const cairn_figure_link *link) {
    return link->joint->kind != CAIRN_JOINT_PRISMATIC && link->joint->kind != CAIRN_JOINT_WELD;
}

// About the joint's turn after it has spun on for `ahead` seconds, which is a guess anyway.
static cairn_quat turn_ahead(const cairn_figure_link *link, float ahead) {
    return ahead != 0.0f && joint_turns(link)
               ? quat_multiply(quat_of_small_angle(vec3_scale(link->spin, ahead)), link->turn)
               : link->turn;
}

static void place(cairn_figure *figure, uint32_t index, float ahead) {
    cairn_figure_link *link = &figure->links[index];
    const bool slides = link->joint->kind == CAIRN_JOINT_PRISMATIC;
    const cairn_quat parent = parent_rotation(figure, index);
    const cairn_quat a = quat_multiply(parent, link->frame_a);
    const cairn_quat turn = turn_ahead(link, ahead);
    const float travel = link->travel + (slides ? ahead * link->spin.x : 0.0f);
    const cairn_vec3 from =
        vec3_add(parent_position(figure, index), quat_rotate(parent, link->arm_a));
    link->axis = quat_rotate(a, vec3(1, 0, 0));
    link->anchor = vec3_add_scaled(from, link->axis, travel);
    link->rotation =
        quat_normalize(quat_multiply(quat_multiply(a, turn), quat_conjugate(link->frame_b)));
    link->position = vec3_sub(link->anchor, quat_rotate(link->rotation, link->arm_b));
}

void cairn_figure_place(cairn_figure *figure, float ahead) {
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        if (figure->links[i].joint != NULL) {
            place(figure, i, ahead);
        }
    }
}

// ---- The tree at the present pose

static void set_turning_axis(cairn_tree_dof *dof, cairn_vec3 axis, cairn_vec3 anchor) {
    dof->axis = spatial(axis, vec3_cross(anchor, axis));
}

static void set_free_axes(cairn_figure *figure) {
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_vec3 axis = vec3_along_axis(i, 1.0f);
        set_turning_axis(&figure->tree.dofs[i], axis, figure->links[0].position);
        figure->tree.dofs[3 + i].axis = spatial(vec3_zero(), axis);
        figure->axes[i] = (cairn_figure_axis){.below = FAR, .above = FAR};
        figure->axes[3 + i] = figure->axes[i];
    }
}

static float wrapped(float angle) {
    return angle > CAIRN_PI ? angle - 2.0f * CAIRN_PI
                            : (angle < -CAIRN_PI ? angle + 2.0f * CAIRN_PI : angle);
}

float cairn_figure_position(const cairn_figure_link *link) {
    return link->joint->kind == CAIRN_JOINT_PRISMATIC
               ? link->travel
               : wrapped(2.0f * lanes_atan2(link->turn.x, link->turn.w));
}

void cairn_axis_set_hold(cairn_figure_axis *axis, const cairn_joint_drive *drive, float speed) {
    const bool motor = (drive->flags & CAIRN_DRIVE_MOTOR) != 0;
    const float force = motor ? drive->motor_force : 0.0f;
    const float friction = drive->joint_friction;
    axis->speed = motor ? speed : 0.0f;
    axis->most = axis->speed > 0.0f ? float_max(force - friction, 0.0f) : force + friction;
    axis->least =
        0.0f - (axis->speed < 0.0f ? float_max(force - friction, 0.0f) : force + friction);
}

static void set_axis(cairn_figure_axis *axis, const cairn_joint_drive *drive, float error) {
    axis->armature = drive->armature;
    axis->stiffness = drive->drive_stiffness;
    axis->rate = drive->drive_damping;
    axis->pull = 0.0f - axis->stiffness * error;
    axis->below = FAR;
    axis->above = FAR;
}

static void set_single(const cairn_figure *figure, uint32_t index, const cairn_joint_drive *drive) {
    const cairn_figure_link *link = &figure->links[index];
    const uint32_t dof = figure->tree.links[index].first_dof;
    cairn_figure_axis *axis = &figure->axes[dof];
    const bool slides = link->joint->kind == CAIRN_JOINT_PRISMATIC;
    if (slides) {
        figure->tree.dofs[dof].axis = spatial(vec3_zero(), link->axis);
    } else {
        set_turning_axis(&figure->tree.dofs[dof], link->axis, link->anchor);
    }
    const bool read = link->joint->limited != 0 || drive->drive_stiffness > 0.0f;
    const float position = read ? cairn_figure_position(link) : 0.0f;
    const float error = position - drive->target;
    set_axis(axis, drive, slides ? error : wrapped(error));
    axis->pull += drive->drive_torque.x;
    cairn_axis_set_hold(axis, drive, drive->motor_speed);
    if (link->joint->limited != 0) {
        const float middle = 0.5f * (link->joint->lower + link->joint->upper);
        const float near = slides ? position : middle + wrapped(position - middle);
        axis->below = near - link->joint->lower;
        axis->above = link->joint->upper - near;
    }
}

// The axes of a cone: along the bisector of both bodies' axes, about which it twists; the swing's;
// and across.
static void set_cone_basis(const cairn_figure *figure, uint32_t index, cairn_vec3 basis[3]) {
    const cairn_figure_link *link = &figure->links[index];
    const cairn_quat a = joint_rotation(figure, index);
    const cairn_quat b = quat_multiply(a, link->turn);
    const cairn_joint_frame frame = {.axis_a = quat_rotate(a, vec3(1, 0, 0)),
        .normal_a = quat_rotate(a, vec3(0, 1, 0)),
        .axis_b = quat_rotate(b, vec3(1, 0, 0)),
        .normal_b = quat_rotate(b, vec3(0, 1, 0))};
    const cairn_joint *joint = link->joint;
    cairn_figure_axis *axes = &figure->axes[figure->tree.links[index].first_dof];
    basis[0] = vec3_normalize(vec3_add(frame.axis_a, frame.axis_b), frame.axis_a);
    const cairn_vec3 across = vec3_cross(frame.axis_a, frame.axis_b);
    basis[1] = vec3_normalize(across, vec3_tangent(basis[0]));
    basis[1] = vec3_normalize(
        vec3_sub_scaled(basis[1], basis[0], vec3_dot(basis[1], basis[0])), vec3_tangent(basis[0]));
    basis[2] = vec3_cross(basis[0], basis[1]);
    axes[1].above = joint->cone - cairn_joint_swing(&frame);
    if (joint->limited != 0) {
        const float twist = cairn_joint_twist_near(&frame, joint->lower, joint->upper);
        axes[0].below = twist - joint->lower;
        axes[0].above = joint->upper - twist;
    }
}

static void set_spherical(
    const cairn_figure *figure, uint32_t index, const cairn_joint_drive *drive) {
    const cairn_figure_link *link = &figure->links[index];
    const uint32_t first = figure->tree.links[index].first_dof;
    const cairn_quat a = joint_rotation(figure, index);
    const cairn_vec3 anchor = link->anchor;
    const cairn_quat parent = parent_rotation(figure, index);
    const cairn_quat wanted = quat_multiply(parent, drive->target_rotation);
    const cairn_quat rotation =
        quat_multiply(quat_multiply(a, link->turn), quat_conjugate(link->frame_b));
    const cairn_vec3 error = drive->drive_stiffness > 0.0f
                                 ? vector_of_quat(quat_multiply(rotation, quat_conjugate(wanted)))
                                 : vec3_zero();
    const cairn_vec3 torque = quat_rotate(a, drive->drive_torque);
    const cairn_vec3 speed = quat_rotate(parent, drive->motor_velocity);
    cairn_vec3 basis[3];
    for (uint32_t i = 0; i < 3; ++i) {
        basis[i] = quat_rotate(a, vec3_along_axis(i, 1.0f));
        set_axis(&figure->axes[first + i], drive, 0.0f);
    }
    if (link->joint->kind == CAIRN_JOINT_CONE && !figure->plain) {
        set_cone_basis(figure, index, basis);
    }
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_figure_axis *axis = &figure->axes[first + i];
        set_turning_axis(&figure->tree.dofs[first + i], basis[i], anchor);
        axis->pull = vec3_dot(basis[i], torque) - axis->stiffness * vec3_dot(basis[i], error);
        cairn_axis_set_hold(axis, drive, vec3_dot(basis[i], speed));
    }
}

void cairn_figure_set_tree(const cairn_world *world, cairn_figure *figure) {
    figure->tree_base_rotation = figure->base_rotation;
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        cairn_figure_link *link = &figure->links[i];
        link->tree_position = link->position;
        link->tree_rotation = link->rotation;
        figure->tree.links[i].inertia = spatial_inertia(
            link->mass, link->position, sym3_rotate(link->inertia, mat3_of_quat(link->rotation)));
        if (link->joint == NULL) {
            set_free_axes(figure);
            continue;
        }
        const cairn_joint_drive *drive = &world->state.joint_drives[link->drive];
        const uint32_t first = figure->tree.links[i].first_dof;
        const uint32_t count = figure->tree.links[i].dof_count;
        if (count == 1) {
            set_single(figure, i, drive);
        } else if (count == 3) {
            set_spherical(figure, i, drive);
        }
        for (uint32_t k = first; k < first + count; ++k) {
            figure->tree.dofs[k].armature = drive->armature;
        }
    }
}

// ---- Velocities

float cairn_figure_speed(const cairn_figure *figure, uint32_t index, uint32_t axis) {
    const cairn_figure_link *link = &figure->links[index];
    const uint32_t parent = figure->tree.links[index].parent;
    const cairn_spatial *along = &figure->tree.dofs[axis].axis;
    const cairn_spatial velocity =
        spatial_of_velocity(link->position, link->linear_velocity, link->angular_velocity);
    const cairn_spatial before =
        parent == CAIRN_INDEX_NONE
            ? figure->tree.base
            : spatial_of_velocity(figure->links[parent].position,
                  figure->links[parent].linear_velocity, figure->links[parent].angular_velocity);
    const cairn_spatial relative = spatial_sub(velocity, before);
    const bool slides = vec3_is_zero(along->angular);
    if (link->joint == NULL && slides) {
        return vec3_dot(link->linear_velocity, along->linear);
    }
    return slides ? vec3_dot(relative.linear, along->linear)
                  : vec3_dot(relative.angular, along->angular);
}

void cairn_figure_read_velocities(cairn_figure *figure) {
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        cairn_figure_link *link = &figure->links[i];
        const cairn_spatial velocity = figure->tree.links[i].value;
        link->linear_velocity = spatial_velocity_at(velocity, link->tree_position);
        link->angular_velocity = velocity.angular;
    }
}

static cairn_quat tree_joint_rotation(const cairn_figure *figure, uint32_t index) {
    const uint32_t parent = figure->tree.links[index].parent;
    const cairn_quat rotation = parent == CAIRN_INDEX_NONE ? figure->tree_base_rotation
                                                           : figure->links[parent].tree_rotation;
    return quat_multiply(rotation, figure->links[index].frame_a);
}

cairn_vec3 cairn_figure_from_joint(const cairn_figure *figure, uint32_t link, cairn_vec3 vector) {
    return quat_rotate(tree_joint_rotation(figure, link), vector);
}

// The speed of a joint in a's frame, of the numbers `speeds` along its axes.
static cairn_vec3 joint_spin(const cairn_figure *figure, uint32_t index, const float *speeds) {
    const cairn_tree_link *in_tree = &figure->tree.links[index];
    const cairn_tree_dof *dofs = &figure->tree.dofs[in_tree->first_dof];
    if (in_tree->dof_count != 3) {
        return vec3(in_tree->dof_count == 1 ? speeds[0] : 0.0f, 0.0f, 0.0f);
    }
    cairn_vec3 spin = vec3_zero();
    for (uint32_t i = 0; i < 3; ++i) {
        spin = vec3_add_scaled(spin, dofs[i].axis.angular, speeds[i]);
    }
    return quat_rotate_inverse(tree_joint_rotation(figure, index), spin);
}

void cairn_figure_set_spins(cairn_figure *figure) {
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        cairn_figure_link *link = &figure->links[i];
        const cairn_tree_link *in_tree = &figure->tree.links[i];
        float speeds[3] = {0.0f, 0.0f, 0.0f};
        float rotors[3] = {0.0f, 0.0f, 0.0f};
        if (link->joint == NULL) {
            continue;
        }
        for (uint32_t k = 0; k < in_tree->dof_count; ++k) {
            const cairn_tree_dof *dof = &figure->tree.dofs[in_tree->first_dof + k];
            speeds[k] = dof->value;
            rotors[k] = dof->value - figure->axes[in_tree->first_dof + k].aside;
        }
        link->spin = joint_spin(figure, i, speeds);
        link->rotor = joint_spin(figure, i, rotors);
    }
}

static void advance_joint(cairn_figure_link *link, float h) {
    if (link->joint->kind == CAIRN_JOINT_PRISMATIC) {
        link->travel += h * link->spin.x;
    } else if (joint_turns(link)) {
        link->turn = quat_integrate(link->turn, link->spin, h);
    }
}

void cairn_figure_advance(cairn_figure *figure, float h) {
    cairn_figure_link *root = &figure->links[0];
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        if (figure->links[i].joint != NULL) {
            advance_joint(&figure->links[i], h);
        }
    }
    if (root->joint == NULL) {
        root->position = vec3_add_scaled(figure->root_position, root->linear_velocity, h);
        root->rotation = quat_integrate(figure->root_rotation, root->angular_velocity, h);
    }
}

// ---- Motors, friction and limits: which of them act is tried, and corrected by what comes of it

static bool holds(const cairn_figure_axis *axis) {
    return axis->most > axis->least;
}

// The speed at which a limit is just reached.
static float limit_speed(float gap, float h, bool push_out) {
    if (gap < 0.0f && !push_out) {
        return 0.0f;
    }
    return float_max(gap, 0.0f - PUSH_SPEED * h) / h;
}

void cairn_axis_set_mode(
    const cairn_figure_axis *axis, cairn_tree_dof *dof, float h, bool push_out) {
    if (axis->mode == CAIRN_AXIS_FREE) {
        dof->locked = 0;
        return;
    }
    const float lower = 0.0f - limit_speed(axis->below, h, push_out);
    const float upper = limit_speed(axis->above, h, push_out);
    dof->locked = axis->mode == CAIRN_AXIS_HOLDS || axis->mode >= CAIRN_AXIS_AT_LOWER ? 1 : 0;
    switch (axis->mode) {
    case CAIRN_AXIS_HOLDS:
        dof->value = axis->speed;
        break;
    case CAIRN_AXIS_PUSHES_UP:
        dof->force += h * axis->most;
        break;
    case CAIRN_AXIS_PUSHES_DOWN:
        dof->force += h * axis->least;
        break;
    case CAIRN_AXIS_AT_LOWER:
        dof->value = lower;
        dof->force += axis->speed > lower ? h * axis->most : 0.0f;
        break;
    case CAIRN_AXIS_AT_UPPER:
        dof->value = upper;
        dof->force += axis->speed < upper ? h * axis->least : 0.0f;
        break;
    default:
        break;
    }
}

uint32_t cairn_axis_next_mode(
    const cairn_figure_axis *axis, const cairn_tree_dof *dof, float h, bool push_out) {
    const uint32_t without = holds(axis) ? CAIRN_AXIS_HOLDS : CAIRN_AXIS_FREE;
    // What leaves a limit goes with its motor or against it, not at once at its motor's speed.
    const uint32_t up = !holds(axis)         ? CAIRN_AXIS_FREE
                        : axis->speed > 0.0f ? CAIRN_AXIS_PUSHES_UP
                                             : CAIRN_AXIS_PUSHES_DOWN;
    const uint32_t down = !holds(axis)         ? CAIRN_AXIS_FREE
                          : axis->speed < 0.0f ? CAIRN_AXIS_PUSHES_DOWN
                                               : CAIRN_AXIS_PUSHES_UP;
    const float lower = 0.0f - limit_speed(axis->below, h, push_out);
    const float upper = limit_speed(axis->above, h, push_out);
    const float slack = 1e-5f;
    // A motor that wants to go past a limit holds there itself as far as it can.
    if (axis->mode == CAIRN_AXIS_AT_LOWER) {
        const float own = axis->speed > lower ? 0.0f : h * axis->least;
        return dof->reaction < own ? up : CAIRN_AXIS_AT_LOWER;
    }
    if (axis->mode == CAIRN_AXIS_AT_UPPER) {
        const float own = axis->speed < upper ? 0.0f : h * axis->most;
        return dof->reaction > own ? down : CAIRN_AXIS_AT_UPPER;
    }
    // Before the limits: the motor may be too weak for its speed, so that speed says nothing of
    // them.
    if (axis->mode == CAIRN_AXIS_HOLDS && dof->reaction > h * axis->most) {
        return CAIRN_AXIS_PUSHES_UP;
    }
    if (axis->mode == CAIRN_AXIS_HOLDS && dof->reaction < h * axis->least) {
        return CAIRN_AXIS_PUSHES_DOWN;
    }
    if (dof->value < lower - slack) {
        return CAIRN_AXIS_AT_LOWER;
    }
    if (dof->value > upper + slack) {
        return CAIRN_AXIS_AT_UPPER;
    }
    switch (axis->mode) {
    case CAIRN_AXIS_HOLDS:
        return CAIRN_AXIS_HOLDS;
    case CAIRN_AXIS_PUSHES_UP:
        return dof->value > axis->speed ? CAIRN_AXIS_HOLDS : CAIRN_AXIS_PUSHES_UP;
    case CAIRN_AXIS_PUSHES_DOWN:
        return dof->value < axis->speed ? CAIRN_AXIS_HOLDS : CAIRN_AXIS_PUSHES_DOWN;
    default:
        return without;
    }
}

// Returns whether some axis is driven otherwise than it was.
static bool correct_modes(cairn_figure *figure, float h, bool push_out) {
    bool changed = false;
    for (uint32_t i = 0; i < figure->tree.dof_count; ++i) {
        const uint32_t next =
            cairn_axis_next_mode(&figure->axes[i], &figure->tree.dofs[i], h, push_out);
        changed = changed || next != figure->axes[i].mode;
        figure->axes[i].mode = next;
    }
    return changed;
}

// Whether a motor or friction pushes.
static bool any_forces(const cairn_figure *figure) {
    for (uint32_t i = 0; i < figure->tree.dof_count; ++i) {
        if (figure->tree.dofs[i].force != figure->axes[i].impulse) {
            return true;
        }
    }
    return false;
}

bool cairn_axis_weaken(cairn_figure_axis *axis, const cairn_tree_dof *dof, float h) {
    const float reaction = dof->reaction;
    if (axis->mode == CAIRN_AXIS_HOLDS && axis->speed != 0.0f &&
        (reaction > h * axis->most || reaction < h * axis->least)) {
        axis->mode = reaction > 0.0f ? CAIRN_AXIS_PUSHES_UP : CAIRN_AXIS_PUSHES_DOWN;
        return true;
    }
    return false;
}

static bool weaken_motors(cairn_figure *figure, float h) {
    bool changed = false;
    for (uint32_t i = 0; i < figure->tree.dof_count; ++i) {
        changed |= cairn_axis_weaken(&figure->axes[i], &figure->tree.dofs[i], h);
    }
    return changed;
}

static void solve_once(cairn_figure *figure, float h, bool push_out, bool again) {
    bool locks_changed = false;
    for (uint32_t i = 0; i < figure->tree.dof_count; ++i) {
        cairn_tree_dof *dof = &figure->tree.dofs[i];
        const uint32_t locked = dof->locked;
        dof->force = figure->axes[i].impulse;
        cairn_axis_set_mode(&figure->axes[i], dof, h, push_out);
        locks_changed = locks_changed || dof->locked != locked;
    }
    if (!figure->factored) {
        cairn_tree_factor(&figure->tree);
        figure->factored = true;
    } else if (locks_changed) {
        cairn_tree_factor_again(&figure->tree);
    }
    if (again || locks_changed || !figure->solved || any_forces(figure)) {
        cairn_tree_solve(&figure->tree);
    }
    figure->solved = false;
}

void cairn_figure_solve(cairn_figure *figure, float h, uint32_t rounds, bool push_out) {
    CAIRN_ASSERT(rounds > 0);
    for (uint32_t round = 0; round < rounds; ++round) {
        solve_once(figure, h, push_out, round > 0);
        if (round + 1 < rounds && !correct_modes(figure, h, push_out)) {
            break;
        }
    }
    // After too few tries a motor may hold a speed that it is much too weak for.
    while (weaken_motors(figure, h)) {
        solve_once(figure, h, push_out, true);
    }
    cairn_figure_read_velocities(figure);
}
