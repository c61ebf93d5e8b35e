// SPDX-License-Identifier: MIT
// A robot as a scene: a body for each link that moves, and a joint for each degree of freedom. A
// link with several joints hangs on a chain of small bodies, one for each joint but the last.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "robot/model.h"
#include <cairn/articulation.h>

// The part of a link's mass that each small body of its chain gets. Less makes the mass ratio
// worse; more leaves more inertia behind when the later joints turn.
#define CHAIN_SHARE (1.0 / 32.0)
// In joint coordinates mass ratios do no harm.
#define CHAIN_SHARE_ARTICULATED (1.0 / 1024.0)
// Damping without stiffness is a spring of this damping ratio, which is soft.
#define DAMPER_RATIO 100.0
#define TWO_PI 6.28318530717958647692

typedef struct written_body {
    uint32_t link;
    bool whole;     // it is the link itself, not one of the chain
    uint32_t depth; // how many links of joint coordinates lead to it
    cairn_robot_mass mass;
} written_body;

// A frame that two joined bodies share.
typedef struct joint_frame {
    cairn_vec3 anchor, axis, normal;
} joint_frame;

typedef struct writer {
    cairn_robot_model *model;
    written_body *bodies; // 0 is the world
    uint32_t body_count;
    uint32_t filters[CAIRN_ROBOT_FILTERS_MAX][2]; // type and affinity of each category
    uint32_t filter_count;
    FILE *out;
} writer;

// ---- Values

// The shortest text that is the same float, with a point in every locale.
static void put_number(FILE *out, float value) {
    char text[32];
    for (int digits = 6; digits <= 9; ++digits) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) {
            break;
        }
    }
    bool point = false;
    for (const char *c = text; *c != '\0'; ++c) {
        const bool plain = (*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e';
        if (plain || !point) {
            fputc(plain ? *c : '.', out);
        }
        point = point || !plain;
    }
}

static void put_numbers(FILE *out, const char *name, const float *values, int count) {
    fprintf(out, ", \"%s\": %s", name, count > 1 ? "[" : "");
    for (int i = 0; i < count; ++i) {
        fputs(i > 0 ? ", " : "", out);
        put_number(out, values[i] + 0.0f);
    }
    fputs(count > 1 ? "]" : "", out);
}

static void put_real(FILE *out, const char *name, float value) {
    put_numbers(out, name, &value, 1);
}

static void put_vec3(FILE *out, const char *name, cairn_vec3 v) {
    put_numbers(out, name, (const float[]){v.x, v.y, v.z}, 3);
}

static void put_pose(FILE *out, cairn_pose pose) {
    const cairn_quat q = cairn_quat_normalize(pose.rotation);
    put_vec3(out, "position", pose.position);
    if (q.x != 0.0f || q.y != 0.0f || q.z != 0.0f) {
        put_numbers(out, "rotation", (const float[]){q.x, q.y, q.z, q.w}, 4);
    }
}

static void put_name(FILE *out, const char *name) {
    if (name[0] != '\0') {
        fprintf(out, ", \"name\": \"%s\"", name); // names need no escapes: cairn_robot_name
    }
}

// ---- Collision filters

// Two geoms of MJCF collide if the type of one meets the affinity of the other. Each pair of type
// and affinity becomes a category, and its mask has the categories that it collides with.
static bool find_filter(writer *w, const cairn_robot_geom *geom, uint32_t *out) {
    for (uint32_t i = 0; i < w->filter_count; ++i) {
        if (w->filters[i][0] == geom->type && w->filters[i][1] == geom->affinity) {
            *out = i;
            return true;
        }
    }
    if (w->filter_count == CAIRN_ROBOT_FILTERS_MAX) {
        return cairn_robot_fail(&w->model->reader, geom->node, NULL, CAIRN_CAPACITY,
            "more than %d different pairs of contype and conaffinity", CAIRN_ROBOT_FILTERS_MAX);
    }
    *out = w->filter_count++;
    w->filters[*out][0] = geom->type;
    w->filters[*out][1] = geom->affinity;
    return true;
}

static uint32_t filter_mask(const writer *w, uint32_t filter) {
    const uint32_t *own = w->filters[filter];
    uint32_t mask = 0;
    for (uint32_t i = 0; i < w->filter_count; ++i) {
        const uint32_t *other = w->filters[i];
        const bool collide = (own[0] & other[1]) != 0 || (other[0] & own[1]) != 0;
        mask |= collide ? 1u << i : 0;
    }
    return mask;
}

// ---- Bodies

static void put_shape(writer *w, const cairn_robot_geom *geom, const char *before) {
    static const char *const kinds[] = {
        "", "sphere", "capsule", "box", "half_space", "hull", "cylinder"};
    const cairn_robot_link *link = &w->model->links[geom->link];
    uint32_t filter = 0;
    (void)find_filter(w, geom, &filter); // it was found before
    fprintf(w->out, "%s\n      { \"kind\": \"%s\"", before, kinds[geom->kind]);
    put_name(w->out, geom->name);
    if (geom->kind == CAIRN_SHAPE_BOX) {
        put_vec3(w->out, "half_extents", geom->half_extents);
    } else if (geom->kind != CAIRN_SHAPE_HALF_SPACE) {
        put_real(w->out, "radius", geom->radius);
    }
    if (geom->kind == CAIRN_SHAPE_CAPSULE || geom->kind == CAIRN_SHAPE_CYLINDER) {
        put_real(w->out, "half_height", geom->half_height);
    }
    put_pose(w->out, cairn_pose_multiply(link->base_pose, geom->pose));
    put_real(w->out, "friction", geom->friction);
    if (geom->spin > 0.0f) {
        put_real(w->out, "spin_resistance", geom->spin);
    }
    if (geom->roll > 0.0f) {
        put_real(w->out, "rolling_resistance", geom->roll);
    }
    // As MuJoCo combines them; of a file without frictions all are equal.
    fprintf(w->out, ", \"friction_combine\": \"maximum\", \"category\": %u, \"mask\": %u }",
        1u << filter, (unsigned)filter_mask(w, filter));
}

static void put_mass(FILE *out, const cairn_robot_mass *mass) {
    float values[10] = {(float)mass->mass};
    for (int i = 0; i < 9; ++i) {
        values[i + 1] = (float)(i < 3 ? mass->centre[i] : mass->inertia[i - 3]);
    }
    put_real(out, "mass", values[0]);
    put_numbers(out, "centre", values + 1, 3);
    put_numbers(out, "inertia", values + 4, 3);
    put_numbers(out, "inertia_products", values + 7, 3);
}

static void put_body(writer *w, uint32_t i) {
    const written_body *body = &w->bodies[i];
    const cairn_robot_link *link = &w->model->links[body->link];
    fprintf(w->out, "%s\n    { \"kind\": \"%s\"", i == 0 ? "" : ",", i == 0 ? "static" : "dynamic");
    if (body->whole) {
        put_name(w->out, link->name);
    }
    put_pose(w->out, link->world_pose);
    if (i > 0) {
        put_mass(w->out, &body->mass);
        fputs(", \"gyroscopic\": true", w->out);
    }
    bool any = false;
    for (uint32_t k = 0; body->whole && k < w->model->geom_count; ++k) {
        const cairn_robot_geom *geom = &w->model->geoms[k];
        if (w->model->links[geom->link].base == body->link) {
            put_shape(w, geom, any ? "," : ", \"shapes\": [");
            any = true;
        }
    }
    fputs(any ? " ] }" : " }", w->out);
}

static cairn_robot_mass share_of(const cairn_robot_mass *mass, double share) {
    cairn_robot_mass out = *mass;
    out.mass *= share;
    for (int i = 0; i < 6; ++i) {
        out.inertia[i] *= share;
    }
    return out;
}

// The inertia of a rotor about the joint's axis, as if it were part of what the joint moves.
static void add_armature(const cairn_robot_joint *joint, cairn_robot_mass *mass) {
    const double n[3] = {(double)joint->axis.x, (double)joint->axis.y, (double)joint->axis.z};
    const double a = (double)joint->armature;
    const double hinge[6] = {
        n[0] * n[0], n[1] * n[1], n[2] * n[2], n[0] * n[1], n[0] * n[2], n[1] * n[2]};
    for (int i = 0; i < 6; ++i) {
        mass->inertia[i] += joint->kind == CAIRN_ROBOT_HINGE  ? a * hinge[i]
                            : joint->kind == CAIRN_ROBOT_BALL ? (i < 3 ? a : 0.0)
                                                              : 0.0;
    }
}

// The bodies of the scene, and the index of each link's own.
static bool list_bodies(writer *w) {
    cairn_robot_model *m = w->model;
    w->bodies = calloc((size_t)m->link_count + m->joint_count + 1, sizeof *w->bodies);
    if (w->bodies == NULL) {
        return cairn_robot_fail(&m->reader, 0, NULL, CAIRN_OUT_OF_MEMORY, "out of memory");
    }
    w->bodies[w->body_count++] = (written_body){.whole = true};
    for (uint32_t i = 1; i < m->link_count; ++i) {
        cairn_robot_link *link = &m->links[i];
        const uint32_t chain = link->joint_count > 1 ? link->joint_count - 1 : 0;
        if (link->base != i) {
            continue;
        }
        const uint32_t above = w->bodies[m->links[m->links[link->parent].base].body].depth;
        if (m->articulated && above + chain + 1 > CAIRN_ARTICULATION_LINKS_MAX) {
            return cairn_robot_fail(&m->reader, link->node, NULL, CAIRN_CAPACITY,
                "is link %u of its chain: with joint coordinates a chain has at most %d",
                (unsigned)(above + chain + 1), CAIRN_ARTICULATION_LINKS_MAX);
        }
        for (uint32_t k = 0; k <= chain; ++k) {
            const double part = m->articulated ? CHAIN_SHARE_ARTICULATED : CHAIN_SHARE;
            const double share = k < chain ? part : 1.0 - part * (double)chain;
            written_body *body = &w->bodies[w->body_count];
            *body = (written_body){.link = i,
                .whole = k == chain,
                .depth = above + k + 1,
                .mass = share_of(&link->weight, share)};
            if (k < link->joint_count && !m->articulated) {
                add_armature(&m->joints[link->first_joint + k], &body->mass);
            }
            link->body = w->body_count++;
        }
    }
    for (uint32_t i = 0; i < m->geom_count; ++i) {
        uint32_t filter;
        if (!find_filter(w, &m->geoms[i], &filter)) {
            return false;
        }
    }
    return true;
}

// ---- Joints

static cairn_vec3 perpendicular(cairn_vec3 axis) {
    const cairn_vec3 a = cairn_vec3_abs(axis);
    const cairn_vec3 other = a.x <= a.y && a.x <= a.z ? cairn_vec3_of(1.0f, 0.0f, 0.0f)
                             : a.y <= a.z             ? cairn_vec3_of(0.0f, 1.0f, 0.0f)
                                                      : cairn_vec3_of(0.0f, 0.0f, 1.0f);
    return cairn_vec3_normalize(cairn_vec3_cross(axis, other), other);
}

static joint_frame frame_in(cairn_pose pose, joint_frame frame) {
    return (joint_frame){.anchor = cairn_pose_apply(pose, frame.anchor),
        .axis = cairn_quat_rotate(pose.rotation, frame.axis),
        .normal = cairn_quat_rotate(pose.rotation, frame.normal)};
}

static void put_frame(FILE *out, char side, const joint_frame *frame, bool axes) {
    const char names[3][10] = {{'a', 'n', 'c', 'h', 'o', 'r', '_', side},
        {'a', 'x', 'i', 's', '_', side}, {'n', 'o', 'r', 'm', 'a', 'l', '_', side}};
    put_vec3(out, names[0], frame->anchor);
    if (axes) {
        put_vec3(out, names[1], frame->axis);
        put_vec3(out, names[2], frame->normal);
    }
}

static void put_positive(FILE *out, const char *name, float value) {
    if (value > 0.0f) {
        put_real(out, name, value);
    }
}

// Where a spring rests: a ball where the text starts it, which is a rotation of b in a.
static void put_target(
    FILE *out, const cairn_robot_joint *joint, double stiffness, cairn_quat start) {
    if (joint->kind != CAIRN_ROBOT_BALL) {
        put_real(out, "target",
            stiffness > 0.0 ? (float)((double)joint->stiffness * (double)joint->rest / stiffness)
                            : 0.0f);
    } else if (start.x != 0.0f || start.y != 0.0f || start.z != 0.0f) {
        put_numbers(out, "target_rotation", (const float[]){start.x, start.y, start.z, start.w}, 4);
    }
}

// The spring of a constraint is given by its frequency and damping ratio, with the inertia that the
// two bodies have at zero.
static void put_spring(
    writer *w, const cairn_robot_joint *joint, double inertia, cairn_quat start) {
    const double stiffness = (double)joint->stiffness + (double)joint->servo;
    const double damping = (double)joint->damping;
    double hertz, ratio;
    if (!(stiffness > 0.0) && !(damping > 0.0)) {
        return;
    }
    if (stiffness > 0.0) {
        hertz = cairn_double_sqrt(stiffness / inertia) / TWO_PI;
        ratio = damping / (2.0 * cairn_double_sqrt(stiffness * inertia));
    } else {
        hertz = damping / (2.0 * DAMPER_RATIO * inertia) / TWO_PI;
        ratio = DAMPER_RATIO;
    }
    fputs(", \"spring\": true", w->out);
    put_real(w->out, "spring_hertz", (float)(hertz < 1000.0 ? hertz : 1000.0));
    put_real(w->out, "spring_damping", (float)(ratio < 100.0 ? ratio : 100.0));
    put_target(w->out, joint, stiffness, start);
}

// Of an articulated joint: what the text gives, in its own units.
static void put_drive(FILE *out, const cairn_robot_joint *joint, cairn_quat start) {
    const double stiffness = (double)joint->stiffness + (double)joint->servo;
    fputs(", \"articulated\": true", out);
    put_positive(out, "drive_stiffness", (float)stiffness);
    put_positive(out, "drive_damping", joint->damping);
    put_positive(out, "joint_friction", joint->friction);
    put_positive(out, "armature", joint->armature);
    if (stiffness > 0.0) {
        put_target(out, joint, stiffness, start);
    }
}

// Whether a motor of the scene is the joint's friction: nothing else may drive it.
static void put_motor(writer *w, const cairn_robot_joint *joint) {
    const cairn_robot_model *m = w->model;
    const cairn_robot_actuator *drive = NULL;
    const float friction = m->articulated ? 0.0f : joint->friction; // it has its own
    for (uint32_t i = 0; i < m->actuator_count; ++i) {
        const cairn_robot_actuator *a = &m->actuators[i];
        const bool drives = a->kind != CAIRN_ROBOT_POSITION && &m->joints[a->joint] == joint;
        drive = drives && drive == NULL ? a : drive;
    }
    if (drive != NULL && friction > 0.0f) {
        cairn_robot_note(&w->model->reader, joint->node, NULL,
            "its friction is left out, because an actuator drives it");
    }
    const bool velocity = drive != NULL && drive->kind == CAIRN_ROBOT_VELOCITY;
    if (m->articulated && !velocity) {
        return; // a torque drives it
    }
    if (drive != NULL || friction > 0.0f) {
        const float idle = drive != NULL ? 0.0f : friction;
        fputs(", \"motor\": true", w->out);
        put_real(w->out, "motor_force", velocity ? drive->force : idle);
    }
}

static void put_joint(writer *w, uint32_t index, const char *before) {
    static const char *const kinds[] = {"hinge", "prismatic", "ball"};
    const cairn_robot_model *m = w->model;
    const cairn_robot_joint *joint = &m->joints[index];
    const cairn_robot_link *link = &m->links[joint->link];
    const cairn_robot_link *parent = &m->links[link->parent];
    const uint32_t step = index - link->first_joint;
    const uint32_t b = link->body - (link->joint_count - 1 - step);
    const uint32_t a = step > 0 ? b - 1 : m->links[parent->base].body;
    const cairn_pose in_a =
        step > 0 ? cairn_pose_identity() : cairn_pose_multiply(parent->base_pose, link->pose);
    const bool cone = joint->kind == CAIRN_ROBOT_BALL && joint->limited;
    joint_frame own = {joint->anchor, joint->axis, perpendicular(joint->axis)};
    joint_frame other = frame_in(in_a, own);
    if (joint->kind == CAIRN_ROBOT_HINGE) {
        own.normal =
            cairn_quat_rotate(cairn_quat_of_axis_angle(joint->axis, joint->reference), own.normal);
    } else if (joint->kind == CAIRN_ROBOT_SLIDE) {
        other.anchor = cairn_vec3_sub_scaled(other.anchor, other.axis, joint->reference);
    }
    fprintf(w->out, "%s\n    { \"kind\": \"%s\", \"body_a\": %u, \"body_b\": %u", before,
        cone ? "cone" : kinds[joint->kind], (unsigned)a, (unsigned)b);
    put_name(w->out, joint->name);
    put_frame(w->out, 'a', &other, cone || joint->kind != CAIRN_ROBOT_BALL);
    put_frame(w->out, 'b', &own, cone || joint->kind != CAIRN_ROBOT_BALL);
    if (cone) {
        put_real(w->out, "cone", joint->upper);
    } else if (joint->limited) {
        put_real(w->out, "lower", joint->lower);
        put_real(w->out, "upper", joint->upper);
        fputs(", \"limited\": true", w->out);
    }
    const cairn_quat start = cairn_quat_normalize(in_a.rotation);
    if (m->articulated) {
        put_drive(w->out, joint, start);
    } else {
        cairn_robot_mass parent_mass = {0};
        if (a > 0) {
            parent_mass = cairn_robot_mass_moved(&w->bodies[a].mass, cairn_pose_inverse(in_a));
        }
        const double inertia =
            cairn_robot_joint_inertia(joint, a > 0 ? &parent_mass : NULL, &w->bodies[b].mass);
        put_spring(w, joint, inertia, start);
    }
    put_motor(w, joint);
    if (a == 0 && m->world_children_collide) {
        fputs(", \"collide_connected\": true", w->out);
    }
    fputs(" }", w->out);
}

// A disabled joint holds nothing, and its bodies do not collide.
static void put_exclusion(writer *w, uint32_t a, uint32_t b, const char *before) {
    fprintf(w->out,
        "%s\n    { \"kind\": \"weld\", \"body_a\": %u, \"body_b\": %u, \"disabled\": true }",
        before, (unsigned)a, (unsigned)b);
}

static void put_tie(writer *w, const cairn_robot_tie *tie, const char *before) {
    const cairn_robot_link *link[2] = {
        &w->model->links[tie->link_a], &w->model->links[tie->link_b]};
    const uint32_t bodies[2] = {
        w->model->links[link[0]->base].body, w->model->links[link[1]->base].body};
    if (bodies[0] == bodies[1]) {
        return; // they are one body
    }
    if (tie->exclude) {
        put_exclusion(w, bodies[0], bodies[1], before);
        return;
    }
    const joint_frame in_link = {
        tie->anchor, cairn_vec3_of(1.0f, 0.0f, 0.0f), cairn_vec3_of(0.0f, 1.0f, 0.0f)};
    const joint_frame world = frame_in(link[0]->world_pose, in_link);
    fprintf(w->out, "%s\n    { \"kind\": \"%s\", \"body_a\": %u, \"body_b\": %u", before,
        tie->kind == CAIRN_JOINT_BALL ? "ball" : "weld", (unsigned)bodies[0], (unsigned)bodies[1]);
    for (int i = 0; i < 2; ++i) {
        const cairn_pose base = w->model->links[link[i]->base].world_pose;
        const joint_frame frame = frame_in(cairn_pose_inverse(base), world);
        put_frame(w->out, i == 0 ? 'a' : 'b', &frame, tie->kind == CAIRN_JOINT_WELD);
    }
    fputs(", \"collide_connected\": true }", w->out);
}

static void put_joints(writer *w) {
    const cairn_robot_model *m = w->model;
    fputs("  \"joints\": [", w->out);
    for (uint32_t i = 0; i < m->joint_count; ++i) {
        put_joint(w, i, i == 0 ? "" : ",");
    }
    const char *before = m->joint_count == 0 ? "" : ",";
    for (uint32_t i = 0; i < m->tie_count; ++i) {
        const long at = ftell(w->out);
        put_tie(w, &m->ties[i], before);
        before = ftell(w->out) > at ? "," : before;
    }
    // Behind a chain, a link is not joined to its parent.
    for (uint32_t i = 1; i < m->link_count; ++i) {
        const cairn_robot_link *link = &m->links[i];
        const uint32_t parent = m->links[m->links[link->parent].base].body;
        if (link->joint_count > 1 && (parent > 0 || !m->world_children_collide)) {
            put_exclusion(w, parent, link->body, before);
        }
    }
    fputs(" ]\n}\n", w->out);
}

// ---- The whole

// The rate of steps is a whole number of at most CAIRN_TICK_RATE_HZ_MAX; a shorter time step
// becomes substeps.
static void put_time(writer *w) {
    const double timestep = (double)w->model->timestep;
    uint32_t rate = CAIRN_TICK_RATE_HZ_DEFAULT, substeps = 8;
    if (timestep > 0.0) {
        uint32_t first = 1, parts = 0;
        while (timestep * (double)first * CAIRN_TICK_RATE_HZ_MAX < 1.0 - 1e-6) {
            first += 1;
        }
        for (uint32_t k = first; k <= 64 && parts == 0; ++k) {
            const double hertz = 1.0 / (timestep * (double)k);
            const double off = hertz - cairn_double_round(hertz);
            parts = off < 1e-3 && off > -1e-3 && hertz >= CAIRN_TICK_RATE_HZ_MIN ? k : 0;
        }
        parts = parts == 0 ? first : parts;
        const double hertz = cairn_double_round(1.0 / (timestep * (double)parts));
        rate = hertz < CAIRN_TICK_RATE_HZ_MIN ? CAIRN_TICK_RATE_HZ_MIN : (uint32_t)hertz;
        substeps = parts < 8 ? 8 : parts;
        substeps = substeps > 64 ? 64 : substeps;
    }
    fprintf(w->out, "  \"tick_rate_hz\": %u, \"substeps\": %u, \"sleep\": false", (unsigned)rate,
        (unsigned)substeps);
}

static void put_scene(writer *w) {
    const cairn_robot_model *m = w->model;
    uint32_t joints = m->joint_count + m->tie_count + m->link_count;
    fprintf(w->out, "{\n  \"name\": \"%s\",\n", m->name);
    put_time(w);
    put_vec3(w->out, "gravity", m->gravity);
    fprintf(w->out,
        ",\n  \"body_capacity\": %u, \"shape_capacity\": %u, \"joint_capacity\": %u,\n"
        "  \"hull_capacity\": 16, \"mesh_capacity\": 0, \"mesh_block_capacity\": 0, "
        "\"contact_capacity\": %u, \"event_capacity\": 256,\n",
        (unsigned)w->body_count + 64, (unsigned)m->geom_count + 64, (unsigned)joints + 64,
        256 + 16 * (unsigned)m->geom_count);
    fputs("  \"bodies\": [", w->out);
    for (uint32_t i = 0; i < w->body_count; ++i) {
        put_body(w, i);
    }
    fputs(" ],\n", w->out);
    put_joints(w);
}

static void put_list_joint(FILE *out, const cairn_robot_joint *joint, const char *before) {
    static const char *const kinds[] = {"hinge", "slide", "ball"};
    fprintf(out, "%s\n    { \"kind\": \"%s\"", before, kinds[joint->kind]);
    put_name(out, joint->name);
    if (joint->limited) {
        put_real(out, "lower", joint->lower);
        put_real(out, "upper", joint->upper);
    }
    put_real(out, "reference", joint->reference);
    fputs(" }", out);
}

// A position actuator's control goes to the joint's target as control * scale + offset.
static void put_actuator(
    FILE *out, const cairn_robot_model *m, const cairn_robot_actuator *a, const char *before) {
    static const char *const kinds[] = {"motor", "position", "velocity"};
    const cairn_robot_joint *joint = &m->joints[a->joint];
    fprintf(out, "%s\n    { \"kind\": \"%s\", \"joint\": %u", before, kinds[a->kind],
        (unsigned)a->joint);
    put_name(out, a->name);
    put_real(out, "lower", a->lower);
    put_real(out, "upper", a->upper);
    put_real(out, "gear", a->gear);
    put_real(out, "force", a->force);
    if (a->kind == CAIRN_ROBOT_POSITION) {
        const float whole = joint->stiffness + joint->servo;
        put_real(out, "scale", joint->servo / (whole * a->gear));
        put_real(out, "offset", joint->stiffness * joint->rest / whole);
    }
    fputs(" }", out);
}

static void put_parts(writer *w) {
    const cairn_robot_model *m = w->model;
    fprintf(w->out, "{\n  \"format\": \"%s\",\n  \"bodies\": [", m->format);
    for (uint32_t i = 0; i < w->body_count; ++i) {
        const written_body *body = &w->bodies[i];
        fprintf(
            w->out, "%s\"%s\"", i == 0 ? "" : ", ", body->whole ? m->links[body->link].name : "");
    }
    fputs("],\n  \"free\": [", w->out);
    const char *before = "";
    for (uint32_t i = 1; i < m->link_count; ++i) {
        if (m->links[i].free) {
            fprintf(w->out, "%s%u", before, (unsigned)m->links[i].body);
            before = ", ";
        }
    }
    fputs("],\n  \"joints\": [", w->out);
    for (uint32_t i = 0; i < m->joint_count; ++i) {
        put_list_joint(w->out, &m->joints[i], i == 0 ? "" : ",");
    }
    fputs(" ],\n  \"actuators\": [", w->out);
    for (uint32_t i = 0; i < m->actuator_count; ++i) {
        put_actuator(w->out, m, &m->actuators[i], i == 0 ? "" : ",");
    }
    fputs(" ],\n  \"notes\": [", w->out);
    for (uint32_t i = 0; i < m->reader.note_count; ++i) {
        fprintf(w->out, "%s\n    \"", i == 0 ? "" : ",");
        for (const char *c = m->reader.notes[i]; *c != '\0'; ++c) {
            fputc(*c == '"' || *c == '\\' ? '\'' : *c, w->out);
        }
        fputc('"', w->out);
    }
    fputs(" ]\n}\n", w->out);
}

static bool write_text(writer *w, void (*put)(writer *), char **text, size_t *size) {
    w->out = open_memstream(text, size);
    if (w->out != NULL) {
        put(w);
        const bool whole = ferror(w->out) == 0;
        if (fclose(w->out) == 0 && whole) {
            return true;
        }
    }
    return cairn_robot_fail(&w->model->reader, 0, NULL, CAIRN_OUT_OF_MEMORY, "out of memory");
}

bool cairn_robot_write(cairn_robot_model *model, cairn_robot *out) {
    writer w = {.model = model};
    const bool written = list_bodies(&w) &&
                         write_text(&w, put_scene, &out->scene, &out->scene_size) &&
                         write_text(&w, put_parts, &out->parts, &out->parts_size);
    free(w.bodies);
    return written;
}
