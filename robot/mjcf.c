// SPDX-License-Identifier: MIT
// MJCF, the model files of MuJoCo: the tree of bodies below <worldbody>. An attribute that an
// element lacks comes from its default class. The part of the format that has no equal in a scene
// is refused by name, docs/ROBOTS.md.

#include <string.h>

#include "robot/model.h"

#define BAD CAIRN_INVALID_ARGUMENT
#define NONE UINT32_MAX

enum { CLASSES_MAX = 256 };

typedef struct mjcf {
    cairn_robot_model *model;
    cairn_robot_reader *reader;
    float angle; // rad of a number that is an angle
    char order[4];
    bool auto_limits;
    bool from_inertial, from_geoms; // which masses count
    struct {
        const char *name;
        uint32_t node, parent;
    } classes[CLASSES_MAX]; // the first is the root
    uint32_t class_count;
} mjcf;

// An element with the default class that it falls back to.
typedef struct element {
    uint32_t node;
    uint32_t class; // NONE: none
} element;

static const cairn_xml_node *node_at(const mjcf *m, uint32_t node) {
    return &m->reader->xml.nodes[node];
}

static const cairn_xml_attribute *own_attribute(const mjcf *m, uint32_t node, const char *name) {
    return cairn_xml_attribute_find(&m->reader->xml, node, name);
}

static const cairn_xml_attribute *attribute_of(const mjcf *m, element e, const char *name) {
    const cairn_xml_attribute *found = own_attribute(m, e.node, name);
    for (uint32_t c = e.class; found == NULL && c != NONE; c = m->classes[c].parent) {
        const uint32_t defaults = cairn_xml_find(
            &m->reader->xml, node_at(m, m->classes[c].node)->child, node_at(m, e.node)->name);
        found = defaults == 0 ? NULL : own_attribute(m, defaults, name);
    }
    return found;
}

static bool number(mjcf *m, element e, const char *name, float least, float most, float *out) {
    return cairn_robot_number_within(m->reader, e.node, attribute_of(m, e, name), least, most, out);
}

static bool word_is(const cairn_xml_attribute *attribute, const char *word) {
    return attribute != NULL && strcmp(attribute->value, word) == 0;
}

// One of `words`, which ends with NULL; *out is unchanged without the attribute.
static bool choice(mjcf *m, element e, const char *name, const char *const *words, uint32_t *out) {
    const cairn_xml_attribute *attribute = attribute_of(m, e, name);
    if (attribute == NULL) {
        return true;
    }
    for (uint32_t i = 0; words[i] != NULL; ++i) {
        if (strcmp(words[i], attribute->value) == 0) {
            *out = i;
            return true;
        }
    }
    return cairn_robot_fail(
        m->reader, e.node, attribute, BAD, "cairn does not read '%.32s'", attribute->value);
}

// Refuses what changes the physics and has no equal in a scene.
static bool refuse(mjcf *m, element e, const char *const *names) {
    for (; *names != NULL; ++names) {
        const cairn_xml_attribute *attribute = attribute_of(m, e, *names);
        if (attribute != NULL) {
            return cairn_robot_fail(
                m->reader, e.node, attribute, BAD, "cairn does not read this attribute");
        }
    }
    return true;
}

// The class of an element: its own, or that which the bodies around it give.
static bool class_of(mjcf *m, uint32_t node, const char *attribute_name, uint32_t *class) {
    const cairn_xml_attribute *attribute = own_attribute(m, node, attribute_name);
    if (attribute == NULL) {
        return true;
    }
    for (uint32_t i = 0; i < m->class_count; ++i) {
        if (strcmp(m->classes[i].name, attribute->value) == 0) {
            *class = i;
            return true;
        }
    }
    return cairn_robot_fail(m->reader, node, attribute, CAIRN_NOT_FOUND,
        "no default class is named '%.32s'", attribute->value);
}

static bool element_of(mjcf *m, uint32_t node, uint32_t class, element *out) {
    *out = (element){.node = node, .class = class};
    return class_of(m, node, "class", &out->class);
}

// ---- Rotations

static cairn_quat shortest_arc(cairn_vec3 from, cairn_vec3 to) {
    const cairn_vec3 cross = cairn_vec3_cross(from, to);
    const float w = 1.0f + cairn_vec3_dot(from, to);
    if (w < 1e-6f) { // opposite: half a turn about an axis across
        const cairn_vec3 other =
            cairn_float_abs(from.x) < 0.7f ? cairn_vec3_of(1, 0, 0) : cairn_vec3_of(0, 1, 0);
        const cairn_vec3 across = cairn_vec3_normalize(cairn_vec3_cross(from, other), other);
        return cairn_quat_of(across.x, across.y, across.z, 0.0f);
    }
    return cairn_quat_normalize(cairn_quat_of(cross.x, cross.y, cross.z, w));
}

static bool refuse_zero(mjcf *m, element e, const cairn_xml_attribute *attribute, cairn_vec3 v) {
    return cairn_vec3_length(v) > 1e-6f ||
           cairn_robot_fail(m->reader, e.node, attribute, BAD, "must not be zero");
}

static bool euler_rotation(
    mjcf *m, element e, const cairn_xml_attribute *attribute, cairn_quat *out) {
    float angles[3];
    if (!cairn_robot_fixed_numbers(m->reader, e.node, attribute, angles, 3)) {
        return false;
    }
    *out = cairn_quat_identity();
    for (int i = 0; i < 3; ++i) {
        const char axis = (char)(m->order[i] | 0x20);
        const bool inside = m->order[i] == axis; // of the frame that turns along
        const cairn_vec3 about = cairn_vec3_of(axis == 'x', axis == 'y', axis == 'z');
        const cairn_quat turn = cairn_quat_of_axis_angle(about, angles[i] * m->angle);
        *out = inside ? cairn_quat_multiply(*out, turn) : cairn_quat_multiply(turn, *out);
    }
    return true;
}

static bool axes_rotation(
    mjcf *m, element e, const cairn_xml_attribute *attribute, cairn_quat *out) {
    float n[6];
    if (!cairn_robot_fixed_numbers(m->reader, e.node, attribute, n, 6)) {
        return false;
    }
    cairn_vec3 x = cairn_vec3_of(n[0], n[1], n[2]), y = cairn_vec3_of(n[3], n[4], n[5]);
    if (!refuse_zero(m, e, attribute, x)) {
        return false;
    }
    x = cairn_vec3_normalize(x, x);
    y = cairn_vec3_sub_scaled(y, x, cairn_vec3_dot(x, y));
    if (!refuse_zero(m, e, attribute, y)) {
        return false;
    }
    const cairn_quat first = shortest_arc(cairn_vec3_of(1, 0, 0), x);
    const cairn_vec3 turned = cairn_quat_rotate(first, cairn_vec3_of(0, 1, 0));
    *out = cairn_quat_multiply(shortest_arc(turned, cairn_vec3_normalize(y, y)), first);
    return true;
}

static bool one_rotation(
    mjcf *m, element e, const cairn_xml_attribute *attribute, cairn_quat *out) {
    float n[4] = {0.0f};
    if (strcmp(attribute->name, "euler") == 0) {
        return euler_rotation(m, e, attribute, out);
    }
    if (strcmp(attribute->name, "xyaxes") == 0) {
        return axes_rotation(m, e, attribute, out);
    }
    const bool z = strcmp(attribute->name, "zaxis") == 0;
    if (!cairn_robot_fixed_numbers(m->reader, e.node, attribute, n, z ? 3 : 4)) {
        return false;
    }
    const cairn_vec3 v = cairn_vec3_of(n[0], n[1], n[2]);
    if (strcmp(attribute->name, "quat") == 0) {
        *out = cairn_quat_of(n[1], n[2], n[3], n[0]);
        return cairn_quat_length_squared(*out) > 1e-6f ||
               cairn_robot_fail(m->reader, e.node, attribute, BAD, "must not be zero");
    }
    if (!refuse_zero(m, e, attribute, v)) {
        return false;
    }
    const cairn_vec3 axis = cairn_vec3_normalize(v, v);
    *out = z ? shortest_arc(cairn_vec3_of(0, 0, 1), axis)
             : cairn_quat_of_axis_angle(axis, n[3] * m->angle);
    return true;
}

static bool read_pose(mjcf *m, element e, cairn_pose *out) {
    static const char *const names[] = {"quat", "axisangle", "euler", "xyaxes", "zaxis"};
    const cairn_xml_attribute *given = NULL;
    *out = cairn_pose_identity();
    if (!cairn_robot_vec3(m->reader, e.node, attribute_of(m, e, "pos"), &out->position)) {
        return false;
    }
    for (int i = 0; i < 5; ++i) {
        const cairn_xml_attribute *attribute = attribute_of(m, e, names[i]);
        if (attribute != NULL && given != NULL) {
            return cairn_robot_fail(m->reader, e.node, attribute, BAD,
                "one rotation is enough: it has %s", given->name);
        }
        given = attribute != NULL ? attribute : given;
    }
    if (given != NULL && !one_rotation(m, e, given, &out->rotation)) {
        return false;
    }
    out->rotation = cairn_quat_normalize(out->rotation);
    return true;
}

// ---- Settings

static bool read_compiler(mjcf *m, uint32_t node) {
    static const char *const angles[] = {"degree", "radian", NULL};
    static const char *const coordinates[] = {"local", NULL};
    static const char *const switches[] = {"false", "true", NULL};
    static const char *const sources[] = {"auto", "true", "false", NULL};
    static const char *const refused[] = {
        "settotalmass", "inertiagrouprange", "boundmass", "boundinertia", "balanceinertia", NULL};
    const element e = {.node = node, .class = NONE};
    const cairn_xml_attribute *order = attribute_of(m, e, "eulerseq");
    uint32_t angle = m->angle == 1.0f ? 1 : 0, coordinate = 0, limits = m->auto_limits, source = 0;
    if (!choice(m, e, "angle", angles, &angle) ||
        !choice(m, e, "coordinate", coordinates, &coordinate) ||
        !choice(m, e, "autolimits", switches, &limits) ||
        !choice(m, e, "inertiafromgeom", sources, &source) || !refuse(m, e, refused)) {
        return false;
    }
    m->angle = angle == 1 ? 1.0f : 0.0174532925f;
    m->auto_limits = limits == 1;
    m->from_inertial = source != 1;
    m->from_geoms = source != 2;
    if (order != NULL) {
        if (strlen(order->value) != 3 || strspn(order->value, "xyzXYZ") != 3) {
            return cairn_robot_fail(
                m->reader, node, order, BAD, "must be three of x, y, z, X, Y, Z");
        }
        memcpy(m->order, order->value, 3);
    }
    return true;
}

static bool read_option(mjcf *m, uint32_t node) {
    static const char *const refused[] = {"wind", "density", "viscosity", NULL};
    static const char *const known[] = {"flag", NULL};
    static const char *const none[] = {NULL};
    const element e = {.node = node, .class = NONE};
    return number(m, e, "timestep", 1e-4f, 0.1f, &m->model->timestep) &&
           cairn_robot_vec3(m->reader, node, attribute_of(m, e, "gravity"), &m->model->gravity) &&
           refuse(m, e, refused) && cairn_robot_check_children(m->reader, node, known, none);
}

// A class and the classes in it.
static bool read_classes(mjcf *m, uint32_t node, uint32_t parent) {
    const cairn_xml_attribute *name = own_attribute(m, node, "class");
    if (name == NULL && parent != NONE) {
        return cairn_robot_fail(m->reader, node, NULL, BAD, "needs the attribute class");
    }
    if (m->class_count == CLASSES_MAX) {
        return cairn_robot_fail(
            m->reader, node, NULL, CAIRN_CAPACITY, "more than %d default classes", CLASSES_MAX);
    }
    const uint32_t own = m->class_count++;
    m->classes[own].name = name == NULL ? "main" : name->value;
    m->classes[own].node = node;
    m->classes[own].parent = parent;
    for (uint32_t i = node_at(m, node)->child; i != 0; i = node_at(m, i)->next) {
        if (strcmp(node_at(m, i)->name, "default") == 0 && !read_classes(m, i, own)) {
            return false;
        }
    }
    return true;
}

// ---- Geoms

static bool size_fits(mjcf *m, element e, float size) {
    return (size >= CAIRN_SHAPE_SIZE_MIN && size <= CAIRN_SHAPE_SIZE_MAX) ||
           cairn_robot_fail(m->reader, e.node, attribute_of(m, e, "size"), BAD,
               "sizes must be in [%g, %g] m, one is %g", (double)CAIRN_SHAPE_SIZE_MIN,
               (double)CAIRN_SHAPE_SIZE_MAX, (double)size);
}

// The long axis from one point to another.
static bool read_from_to(mjcf *m, element e, const cairn_xml_attribute *attribute,
    cairn_robot_geom *geom, float *half_length) {
    float n[6];
    if (!cairn_robot_fixed_numbers(m->reader, e.node, attribute, n, 6)) {
        return false;
    }
    const cairn_vec3 from = cairn_vec3_of(n[0], n[1], n[2]), to = cairn_vec3_of(n[3], n[4], n[5]);
    const cairn_vec3 along = cairn_vec3_sub(to, from);
    if (!refuse_zero(m, e, attribute, along)) {
        return false;
    }
    *half_length = 0.5f * cairn_vec3_length(along);
    geom->pose.position = cairn_vec3_lerp(from, to, 0.5f);
    geom->pose.rotation = shortest_arc(cairn_vec3_of(0, 0, 1), cairn_vec3_normalize(along, along));
    return true;
}

static bool read_shape(mjcf *m, element e, cairn_robot_geom *geom) {
    static const char *const words[] = {"sphere", "capsule", "box", "plane", "cylinder", NULL};
    static const uint32_t kinds[] = {CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_CAPSULE, CAIRN_SHAPE_BOX,
        CAIRN_SHAPE_HALF_SPACE, CAIRN_SHAPE_CYLINDER};
    static const uint32_t needed[] = {1, 2, 3, 0, 2};
    const cairn_xml_attribute *size = attribute_of(m, e, "size");
    const cairn_xml_attribute *from_to = attribute_of(m, e, "fromto");
    float sizes[3] = {0.0f};
    uint32_t word = 0, given = 0;
    if (!choice(m, e, "type", words, &word) || !read_pose(m, e, &geom->pose)) {
        return false;
    }
    geom->kind = kinds[word];
    const bool round = word == 1 || word == 4;
    const uint32_t least = needed[word] - (round && from_to != NULL ? 1 : 0);
    if (size == NULL && least > 0) {
        return cairn_robot_fail(m->reader, e.node, NULL, BAD, "needs the attribute size");
    }
    if (size != NULL && !cairn_robot_numbers(m->reader, e.node, size, sizes, least, 3, &given)) {
        return false;
    }
    if (from_to != NULL && !round) {
        return cairn_robot_fail(
            m->reader, e.node, from_to, BAD, "cairn reads it of capsules and cylinders alone");
    }
    if (from_to != NULL && !read_from_to(m, e, from_to, geom, &sizes[1])) {
        return false;
    }
    for (uint32_t i = 0; i < needed[word]; ++i) {
        if (!size_fits(m, e, sizes[i])) {
            return false;
        }
    }
    geom->half_extents = cairn_vec3_of(sizes[0], sizes[1], sizes[2]);
    geom->radius = sizes[0];
    geom->half_height = sizes[1];
    if (round || word == 3) { // MJCF's axis, or normal, is z; a scene's is y
        geom->pose.rotation = cairn_quat_normalize(cairn_quat_multiply(
            geom->pose.rotation, cairn_quat_of(0.707106769f, 0.0f, 0.0f, 0.707106769f)));
    }
    return true;
}

static bool read_filter(mjcf *m, element e, const char *name, uint32_t *out) {
    float bits = (float)*out;
    if (!number(m, e, name, 0.0f, 65535.0f, &bits)) {
        return false;
    }
    *out = (uint32_t)bits;
    return (float)*out == bits || cairn_robot_fail(m->reader, e.node, attribute_of(m, e, name), BAD,
                                      "must be a whole number up to 65535");
}

static bool read_surface(mjcf *m, element e, cairn_robot_geom *geom) {
    static const char *const dimensions[] = {"1", "3", "4", "6", NULL};
    const cairn_xml_attribute *attribute = attribute_of(m, e, "friction");
    float friction[3] = {1.0f, 0.005f, 0.0001f};
    uint32_t dimension = 1, count;
    if (!choice(m, e, "condim", dimensions, &dimension) ||
        !read_filter(m, e, "contype", &geom->type) ||
        !read_filter(m, e, "conaffinity", &geom->affinity)) {
        return false;
    }
    if (attribute != NULL &&
        !cairn_robot_numbers(m->reader, e.node, attribute, friction, 1, 3, &count)) {
        return false;
    }
    const float most[3] = {CAIRN_FRICTION_MAX, CAIRN_RESISTANCE_MAX, CAIRN_RESISTANCE_MAX};
    for (int i = 0; i < 3; ++i) {
        if (friction[i] < 0.0f || friction[i] > most[i]) {
            return cairn_robot_fail(m->reader, e.node, attribute, BAD,
                "number %d must be in [0, %g], is %g", i + 1, (double)most[i], (double)friction[i]);
        }
    }
    geom->friction = dimension == 0 ? 0.0f : friction[0];
    geom->spin = dimension >= 2 ? friction[1] : 0.0f;
    geom->roll = dimension >= 3 ? friction[2] : 0.0f;
    return true;
}

static bool read_geom(mjcf *m, uint32_t node, uint32_t link, uint32_t class) {
    static const char *const refused[] = {"mesh", "hfield", "fluidshape", "shellinertia", NULL};
    element e;
    float density = 1000.0f, mass = -1.0f;
    cairn_robot_geom *geom = cairn_robot_add_geom(m->model, node, link);
    if (geom == NULL || !element_of(m, node, class, &e) ||
        !cairn_robot_name(m->reader, node, geom->name) || !read_shape(m, e, geom) ||
        !read_surface(m, e, geom) || !refuse(m, e, refused) ||
        !number(m, e, "density", 0.0f, 1e6f, &density) ||
        !number(m, e, "mass", 0.0f, 1e9f, &mass)) {
        return false;
    }
    geom->density = (double)density;
    geom->mass = m->from_geoms ? (double)mass : 0.0;
    return geom->kind != CAIRN_SHAPE_HALF_SPACE || link == 0 ||
           cairn_robot_fail(m->reader, node, NULL, BAD, "a plane may stand only in <worldbody>");
}

// ---- Joints

static bool read_joint_limits(mjcf *m, element e, cairn_robot_joint *joint, float unit) {
    static const char *const words[] = {"auto", "true", "false", NULL};
    const cairn_xml_attribute *attribute = attribute_of(m, e, "range");
    float range[2] = {0.0f, 0.0f};
    uint32_t limited = 0;
    if (!choice(m, e, "limited", words, &limited) ||
        !cairn_robot_fixed_numbers(m->reader, e.node, attribute, range, 2)) {
        return false;
    }
    joint->limited = limited == 1 || (limited == 0 && m->auto_limits && attribute != NULL);
    joint->lower = range[0] * unit;
    joint->upper = range[1] * unit;
    if (joint->limited && attribute == NULL) {
        return cairn_robot_fail(m->reader, e.node, NULL, BAD, "is limited and needs a range");
    }
    return cairn_robot_check_limits(m->model, e.node, attribute, joint);
}

static bool read_joint_forces(mjcf *m, element e, cairn_robot_joint *joint, float unit) {
    const float most = joint->kind == CAIRN_ROBOT_SLIDE ? CAIRN_SHAPE_SIZE_MAX : CAIRN_ANGLE_MAX;
    if (!number(m, e, "stiffness", 0.0f, 1e9f, &joint->stiffness) ||
        !number(m, e, "damping", 0.0f, 1e9f, &joint->damping) ||
        !number(m, e, "armature", 0.0f, 1e9f, &joint->armature) ||
        !number(m, e, "frictionloss", 0.0f, 1e9f, &joint->friction) ||
        !number(m, e, "ref", -most / unit, most / unit, &joint->reference) ||
        !number(m, e, "springref", -most / unit, most / unit, &joint->rest)) {
        return false;
    }
    joint->reference *= unit;
    joint->rest *= unit;
    if (joint->kind == CAIRN_ROBOT_SLIDE && joint->armature > 0.0f && !m->model->articulated) {
        cairn_robot_note(
            m->reader, e.node, attribute_of(m, e, "armature"), "is left out: a slide has no rotor");
    }
    return true;
}

static bool read_joint(mjcf *m, uint32_t node, uint32_t link, uint32_t class) {
    static const char *const kinds[] = {"hinge", "slide", "ball", "free", NULL};
    static const char *const refused[] = {
        "springdamper", "actuatorfrcrange", "actuatorgravcomp", NULL};
    element e;
    uint32_t kind = 0;
    if (!element_of(m, node, class, &e) || !refuse(m, e, refused)) {
        return false;
    }
    if (strcmp(node_at(m, node)->name, "freejoint") == 0) {
        kind = 3;
    } else if (!choice(m, e, "type", kinds, &kind)) {
        return false;
    }
    cairn_robot_link *owner = &m->model->links[link];
    if (kind == 3 || owner->free) {
        const bool alone = !owner->free && owner->joint_count == 0 && owner->parent == 0;
        owner->free = true;
        return alone || cairn_robot_fail(m->reader, node, NULL, BAD,
                            "a free joint must be the only one of a body in <worldbody>");
    }
    cairn_robot_joint *joint = cairn_robot_add_joint(m->model, node, link);
    if (joint == NULL) {
        return false;
    }
    joint->kind = kind;
    joint->axis = cairn_vec3_of(0.0f, 0.0f, 1.0f);
    const float unit = kind == CAIRN_ROBOT_SLIDE ? 1.0f : m->angle;
    const cairn_xml_attribute *axis = attribute_of(m, e, "axis");
    if (!cairn_robot_name(m->reader, node, joint->name) ||
        !cairn_robot_vec3(m->reader, node, attribute_of(m, e, "pos"), &joint->anchor) ||
        !cairn_robot_vec3(m->reader, node, axis, &joint->axis) ||
        !refuse_zero(m, e, axis, joint->axis)) {
        return false;
    }
    joint->axis = cairn_vec3_normalize(joint->axis, joint->axis);
    return read_joint_limits(m, e, joint, unit) && read_joint_forces(m, e, joint, unit);
}

// ---- Bodies

static bool read_inertial(mjcf *m, uint32_t node, cairn_robot_link *link) {
    const element e = {.node = node, .class = NONE};
    const cairn_xml_attribute *diagonal = attribute_of(m, e, "diaginertia");
    const cairn_xml_attribute *full = attribute_of(m, e, "fullinertia");
    float inertia[6] = {0.0f}, mass = 0.0f;
    cairn_pose pose;
    if (attribute_of(m, e, "mass") == NULL || (diagonal == NULL) == (full == NULL)) {
        return cairn_robot_fail(
            m->reader, node, NULL, BAD, "needs mass, and diaginertia or fullinertia");
    }
    if (!read_pose(m, e, &pose) || !number(m, e, "mass", 0.0f, 1e9f, &mass) ||
        !cairn_robot_fixed_numbers(m->reader, node, diagonal, inertia, 3) ||
        !cairn_robot_fixed_numbers(m->reader, node, full, inertia, 6)) {
        return false;
    }
    cairn_robot_mass own = {.mass = (double)mass};
    for (int i = 0; i < 6; ++i) {
        own.inertia[i] = (double)inertia[i];
    }
    if (!cairn_robot_inertia_real(own.inertia)) {
        return cairn_robot_fail(m->reader, node, diagonal != NULL ? diagonal : full, BAD,
            "of '%s': a moment exceeds the sum of the other two, as no body's does", link->name);
    }
    link->mass = cairn_robot_mass_moved(&own, pose);
    link->has_inertial = m->from_inertial;
    return true;
}

static bool read_body(mjcf *m, uint32_t node, uint32_t parent, uint32_t class);

static bool read_body_part(mjcf *m, uint32_t node, uint32_t link, uint32_t class) {
    static const char *const ignored[] = {"site", "camera", "light", NULL};
    const char *name = node_at(m, node)->name;
    if (strcmp(name, "geom") == 0) {
        return read_geom(m, node, link, class);
    }
    if (strcmp(name, "body") == 0) {
        return read_body(m, node, link, class);
    }
    if (link > 0 && (strcmp(name, "joint") == 0 || strcmp(name, "freejoint") == 0)) {
        return read_joint(m, node, link, class);
    }
    if (link > 0 && strcmp(name, "inertial") == 0) {
        return read_inertial(m, node, &m->model->links[link]);
    }
    return cairn_robot_word_in(ignored, name) ||
           cairn_robot_fail(m->reader, node, NULL, BAD, "cairn does not read <%.32s> here", name);
}

// Joints and geoms first: the joints of a link must follow each other.
static bool read_body_parts(mjcf *m, uint32_t node, uint32_t link, uint32_t class) {
    for (int bodies = 0; bodies < 2; ++bodies) {
        for (uint32_t i = node_at(m, node)->child; i != 0; i = node_at(m, i)->next) {
            const bool body = strcmp(node_at(m, i)->name, "body") == 0;
            if (body == (bodies == 1) && !read_body_part(m, i, link, class)) {
                return false;
            }
        }
    }
    return true;
}

static bool read_body(mjcf *m, uint32_t node, uint32_t parent, uint32_t class) {
    static const char *const refused[] = {"mocap", "gravcomp", NULL};
    const element e = {.node = node, .class = NONE};
    const uint32_t index = m->model->link_count;
    cairn_robot_link *link = cairn_robot_add_link(m->model, node, parent);
    return link != NULL && cairn_robot_name(m->reader, node, link->name) &&
           class_of(m, node, "childclass", &class) && read_pose(m, e, &link->pose) &&
           refuse(m, e, refused) && read_body_parts(m, node, index, class);
}

// ---- Actuators, exclusions, loops

static bool find_joint(mjcf *m, element e, uint32_t *out) {
    const cairn_xml_attribute *name = attribute_of(m, e, "joint");
    if (name == NULL) {
        return cairn_robot_fail(m->reader, e.node, NULL, BAD,
            "needs the attribute joint: cairn reads no other transmission");
    }
    for (uint32_t i = 0; i < m->model->joint_count; ++i) {
        if (strcmp(m->model->joints[i].name, name->value) == 0) {
            *out = i;
            return m->model->joints[i].kind != CAIRN_ROBOT_BALL ||
                   cairn_robot_fail(
                       m->reader, e.node, name, BAD, "cairn does not drive ball joints");
        }
    }
    return cairn_robot_fail(m->reader, e.node, name, CAIRN_NOT_FOUND,
        "no hinge or slide is named '%.32s'", name->value);
}

static bool read_range(mjcf *m, element e, const char *name, float *lower, float *upper) {
    const cairn_xml_attribute *attribute = attribute_of(m, e, name);
    float range[2] = {*lower, *upper};
    if (!cairn_robot_fixed_numbers(m->reader, e.node, attribute, range, 2)) {
        return false;
    }
    *lower = range[0];
    *upper = range[1];
    return range[0] < range[1] || cairn_robot_fail(m->reader, e.node, attribute, BAD,
                                      "must be two numbers, the lower first");
}

static bool read_servo(mjcf *m, element e, const cairn_robot_actuator *actuator) {
    cairn_robot_joint *joint = &m->model->joints[actuator->joint];
    float stiffness = 1.0f, damping = 0.0f;
    if (!number(m, e, "kp", 1e-6f, 1e9f, &stiffness) || !number(m, e, "kv", 0.0f, 1e9f, &damping)) {
        return false;
    }
    if (joint->servo > 0.0f) {
        return cairn_robot_fail(
            m->reader, e.node, NULL, BAD, "its joint has a position actuator already");
    }
    joint->servo = stiffness * actuator->gear * actuator->gear;
    joint->damping += damping * actuator->gear * actuator->gear;
    return true;
}

static bool read_actuator(mjcf *m, uint32_t node) {
    static const char *const kinds[] = {"motor", "position", "velocity", NULL};
    static const char *const refused[] = {
        "dyntype", "timeconst", "dampratio", "inheritrange", "actdim", "actlimited", NULL};
    const char *tag = node_at(m, node)->name;
    element e;
    float gear[6] = {1.0f}, force = -CAIRN_FORCE_MAX, most = CAIRN_FORCE_MAX;
    uint32_t count = 0;
    if (!cairn_robot_word_in(kinds, tag)) {
        return cairn_robot_fail(m->reader, node, NULL, BAD,
            "cairn does not read <%.32s>: it reads motor, position and velocity", tag);
    }
    cairn_robot_actuator *actuator = cairn_robot_add_actuator(m->model, node);
    if (actuator == NULL || !element_of(m, node, m->class_count > 0 ? 0 : NONE, &e) ||
        !cairn_robot_name(m->reader, node, actuator->name) || !find_joint(m, e, &actuator->joint) ||
        !refuse(m, e, refused) ||
        !read_range(m, e, "ctrlrange", &actuator->lower, &actuator->upper) ||
        !read_range(m, e, "forcerange", &force, &most)) {
        return false;
    }
    const cairn_xml_attribute *attribute = attribute_of(m, e, "gear");
    if (attribute != NULL && !cairn_robot_numbers(m->reader, node, attribute, gear, 1, 6, &count)) {
        return false;
    }
    if (!(cairn_float_abs(gear[0]) >= 1e-6f)) {
        return cairn_robot_fail(m->reader, node, attribute, BAD, "must not be zero");
    }
    for (uint32_t i = 0; kinds[i] != NULL; ++i) {
        actuator->kind = strcmp(kinds[i], tag) == 0 ? i : actuator->kind;
    }
    actuator->gear = gear[0];
    actuator->force = cairn_float_max(0.0f, cairn_float_min(most, 0.0f - force));
    return actuator->kind != CAIRN_ROBOT_POSITION || read_servo(m, e, actuator);
}

static bool find_body(mjcf *m, uint32_t node, const char *name, bool needed, uint32_t *out) {
    const cairn_xml_attribute *attribute = own_attribute(m, node, name);
    *out = 0;
    if (attribute == NULL) {
        return !needed ||
               cairn_robot_fail(m->reader, node, NULL, BAD, "needs the attribute %s", name);
    }
    for (uint32_t i = 0; i < m->model->link_count; ++i) {
        if (strcmp(m->model->links[i].name, attribute->value) == 0) {
            *out = i;
            return true;
        }
    }
    return cairn_robot_fail(
        m->reader, node, attribute, CAIRN_NOT_FOUND, "no body is named '%.32s'", attribute->value);
}

static bool read_exclude(mjcf *m, uint32_t node) {
    if (strcmp(node_at(m, node)->name, "exclude") != 0) {
        return cairn_robot_fail(
            m->reader, node, NULL, BAD, "cairn does not read <%.32s> here", node_at(m, node)->name);
    }
    cairn_robot_tie *tie = cairn_robot_add_tie(m->model, node);
    if (tie == NULL) {
        return false;
    }
    tie->exclude = true;
    return find_body(m, node, "body1", true, &tie->link_a) &&
           find_body(m, node, "body2", true, &tie->link_b);
}

static bool read_equality(mjcf *m, uint32_t node) {
    static const char *const refused[] = {"relpose", "anchor2", "site1", "site2", NULL};
    const bool ball = strcmp(node_at(m, node)->name, "connect") == 0;
    const element e = {.node = node, .class = NONE};
    if (!ball && strcmp(node_at(m, node)->name, "weld") != 0) {
        return cairn_robot_fail(m->reader, node, NULL, BAD,
            "cairn does not read <%.32s>: it reads connect and weld", node_at(m, node)->name);
    }
    if (word_is(attribute_of(m, e, "active"), "false")) {
        cairn_robot_note(m->reader, node, NULL, "is left out: it is not active");
        return true;
    }
    cairn_robot_tie *tie = cairn_robot_add_tie(m->model, node);
    if (tie == NULL || !refuse(m, e, refused)) {
        return false;
    }
    tie->kind = ball ? CAIRN_JOINT_BALL : CAIRN_JOINT_WELD;
    return find_body(m, node, "body1", true, &tie->link_a) &&
           find_body(m, node, "body2", false, &tie->link_b) &&
           cairn_robot_vec3(m->reader, node, attribute_of(m, e, "anchor"), &tie->anchor);
}

// ---- The whole

static bool read_worldbody(mjcf *m, uint32_t node) {
    return read_body_parts(m, node, 0, m->class_count > 0 ? 0 : NONE);
}

static bool read_default(mjcf *m, uint32_t node) {
    return m->class_count == 0 ? read_classes(m, node, NONE)
                               : cairn_robot_fail(m->reader, node, NULL, BAD,
                                     "a second <default>: put its classes into the first");
}

// Reads all sections of this name, or the elements in them.
static bool read_sections(
    mjcf *m, const char *name, bool elements, bool (*read)(mjcf *, uint32_t)) {
    uint32_t section = cairn_xml_find(&m->reader->xml, node_at(m, 0)->child, name);
    while (section != 0) {
        const uint32_t first = elements ? node_at(m, section)->child : section;
        for (uint32_t i = first; i != 0; i = elements ? node_at(m, i)->next : 0) {
            if (!read(m, i)) {
                return false;
            }
        }
        section = cairn_xml_find(&m->reader->xml, node_at(m, section)->next, name);
    }
    return true;
}

bool cairn_robot_read_mjcf(cairn_robot_model *model) {
    static const char *const known[] = {
        "compiler", "option", "default", "worldbody", "actuator", "contact", "equality", NULL};
    static const char *const ignored[] = {
        "asset", "visual", "statistic", "size", "custom", "keyframe", "sensor", NULL};
    mjcf m = {.model = model,
        .reader = &model->reader,
        .angle = 0.0174532925f,
        .order = "xyz",
        .auto_limits = true,
        .from_inertial = true,
        .from_geoms = true};
    model->format = "mjcf";
    model->timestep = 0.002f;
    model->world_children_collide = true;
    return cairn_robot_check_children(m.reader, 0, known, ignored) &&
           read_sections(&m, "compiler", false, read_compiler) &&
           read_sections(&m, "option", false, read_option) &&
           read_sections(&m, "default", false, read_default) &&
           read_sections(&m, "worldbody", false, read_worldbody) &&
           read_sections(&m, "actuator", true, read_actuator) &&
           read_sections(&m, "contact", true, read_exclude) &&
           read_sections(&m, "equality", true, read_equality);
}
