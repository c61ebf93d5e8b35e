// SPDX-License-Identifier: MIT
// URDF: links and joints by name, in any order. Frames of joints are frames of their child links.

#include <string.h>

#include "robot/model.h"

typedef struct urdf {
    cairn_robot_model *model;
    cairn_robot_reader *reader;
    bool fixed_base;
    // Of the text, in its order.
    uint32_t links[CAIRN_ROBOT_LINKS_MAX];
    uint32_t link_count;
    uint32_t joints[CAIRN_ROBOT_LINKS_MAX]; // the joint of which the link is the child; 0: none
    uint32_t first_child[CAIRN_ROBOT_LINKS_MAX]; // lists of links; UINT32_MAX: none
    uint32_t next_child[CAIRN_ROBOT_LINKS_MAX];
    uint32_t placed[CAIRN_ROBOT_LINKS_MAX]; // its index in the model; 0: not yet
} urdf;

#define NONE UINT32_MAX
#define BAD CAIRN_INVALID_ARGUMENT

static uint32_t child_of(const urdf *u, uint32_t node, const char *name) {
    return cairn_xml_find(&u->reader->xml, u->reader->xml.nodes[node].child, name);
}

static const cairn_xml_attribute *attribute_of(const urdf *u, uint32_t node, const char *name) {
    return cairn_xml_attribute_find(&u->reader->xml, node, name);
}

// A number of an element; *out is unchanged without the attribute.
static bool read_number(
    urdf *u, uint32_t node, const char *name, float least, float most, bool required, float *out) {
    const cairn_xml_attribute *attribute = attribute_of(u, node, name);
    if (attribute == NULL && required) {
        return cairn_robot_fail(u->reader, node, NULL, BAD, "needs the attribute %s", name);
    }
    return cairn_robot_number_within(u->reader, node, attribute, least, most, out);
}

// <origin xyz rpy>: roll about x, then pitch about y, then yaw about z of the frame outside.
static bool read_origin(urdf *u, uint32_t node, cairn_pose *out) {
    const uint32_t origin = child_of(u, node, "origin");
    cairn_vec3 rpy = cairn_vec3_zero();
    *out = cairn_pose_identity();
    if (origin == 0) {
        return true;
    }
    if (!cairn_robot_vec3(u->reader, origin, attribute_of(u, origin, "xyz"), &out->position) ||
        !cairn_robot_vec3(u->reader, origin, attribute_of(u, origin, "rpy"), &rpy)) {
        return false;
    }
    const cairn_quat roll = cairn_quat_of_axis_angle(cairn_vec3_of(1, 0, 0), rpy.x);
    const cairn_quat pitch = cairn_quat_of_axis_angle(cairn_vec3_of(0, 1, 0), rpy.y);
    const cairn_quat yaw = cairn_quat_of_axis_angle(cairn_vec3_of(0, 0, 1), rpy.z);
    out->rotation =
        cairn_quat_normalize(cairn_quat_multiply(yaw, cairn_quat_multiply(pitch, roll)));
    return true;
}

// ---- Links

static bool read_inertial(urdf *u, uint32_t node, cairn_robot_link *link) {
    static const char *const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    const uint32_t mass = child_of(u, node, "mass");
    const uint32_t inertia = child_of(u, node, "inertia");
    cairn_robot_mass own = {0};
    cairn_pose pose;
    float value = 0.0f;
    if (mass == 0 || inertia == 0) {
        return cairn_robot_fail(
            u->reader, node, NULL, BAD, "needs <%s>", mass == 0 ? "mass" : "inertia");
    }
    if (!read_origin(u, node, &pose) || !read_number(u, mass, "value", 0.0f, 1e9f, true, &value)) {
        return false;
    }
    own.mass = (double)value;
    for (int i = 0; i < 6; ++i) {
        if (!read_number(u, inertia, names[i], i < 3 ? 0.0f : -1e9f, 1e9f, i < 3, &value)) {
            return false;
        }
        own.inertia[i] = i < 3 || attribute_of(u, inertia, names[i]) != NULL ? (double)value : 0.0;
    }
    if (!cairn_robot_inertia_real(own.inertia)) {
        return cairn_robot_fail(u->reader, inertia, NULL, BAD,
            "of '%s': a moment exceeds the sum of the other two, as no body's does", link->name);
    }
    link->mass = cairn_robot_mass_moved(&own, pose);
    link->has_inertial = true;
    return true;
}

static bool read_geometry(urdf *u, uint32_t node, cairn_robot_geom *geom) {
    static const char *const known[] = {"box", "sphere", "cylinder", NULL};
    const uint32_t geometry = child_of(u, node, "geometry");
    const uint32_t shape = geometry == 0 ? 0 : u->reader->xml.nodes[geometry].child;
    if (shape == 0) {
        return cairn_robot_fail(u->reader, node, NULL, BAD, "needs a <geometry> with a shape");
    }
    const char *kind = cairn_robot_element(u->reader, shape);
    if (!cairn_robot_word_in(known, kind)) {
        return cairn_robot_fail(u->reader, shape, NULL, BAD,
            "cairn does not read <%.32s> here: it reads box, sphere and cylinder", kind);
    }
    if (strcmp(kind, "box") == 0) {
        cairn_vec3 size = cairn_vec3_zero();
        const cairn_xml_attribute *attribute = attribute_of(u, shape, "size");
        if (!cairn_robot_vec3(u->reader, shape, attribute, &size)) {
            return false;
        }
        geom->kind = CAIRN_SHAPE_BOX;
        geom->half_extents = cairn_vec3_scale(size, 0.5f);
        const cairn_vec3 h = geom->half_extents;
        const float least = cairn_float_min(h.x, cairn_float_min(h.y, h.z));
        const float most = cairn_float_max(h.x, cairn_float_max(h.y, h.z));
        return (least >= CAIRN_SHAPE_SIZE_MIN && most <= CAIRN_SHAPE_SIZE_MAX) ||
               cairn_robot_fail(u->reader, shape, attribute, BAD,
                   "must have three edges in [%g, %g] m", 2.0 * (double)CAIRN_SHAPE_SIZE_MIN,
                   2.0 * (double)CAIRN_SHAPE_SIZE_MAX);
    }
    geom->kind = CAIRN_SHAPE_SPHERE;
    if (!read_number(
            u, shape, "radius", CAIRN_SHAPE_SIZE_MIN, CAIRN_SHAPE_SIZE_MAX, true, &geom->radius)) {
        return false;
    }
    if (strcmp(kind, "cylinder") == 0) {
        float length = 0.0f;
        if (!read_number(u, shape, "length", 2.0f * CAIRN_SHAPE_SIZE_MIN,
                2.0f * CAIRN_SHAPE_SIZE_MAX, true, &length)) {
            return false;
        }
        // URDF's axis is z, a scene's is y.
        const cairn_quat turn = cairn_quat_of(0.707106769f, 0.0f, 0.0f, 0.707106769f);
        geom->kind = CAIRN_SHAPE_CYLINDER;
        geom->half_height = 0.5f * length;
        geom->pose.rotation = cairn_quat_normalize(cairn_quat_multiply(geom->pose.rotation, turn));
    }
    return true;
}

static bool read_link(urdf *u, uint32_t node, uint32_t index) {
    static const char *const known[] = {"inertial", "collision", NULL};
    static const char *const ignored[] = {"visual", "self_collision_checking", NULL};
    const cairn_xml_node *nodes = u->reader->xml.nodes;
    if (!cairn_robot_name(u->reader, node, u->model->links[index].name)) {
        return false;
    }
    for (uint32_t i = nodes[node].child; i != 0; i = nodes[i].next) {
        if (!cairn_robot_word_in(known, nodes[i].name) &&
            !cairn_robot_word_in(ignored, nodes[i].name)) {
            cairn_robot_note(u->reader, i, NULL, "is left out: cairn does not know it");
        }
        if (strcmp(nodes[i].name, "inertial") == 0 &&
            !read_inertial(u, i, &u->model->links[index])) {
            return false;
        }
        if (strcmp(nodes[i].name, "collision") == 0) {
            cairn_robot_geom *geom = cairn_robot_add_geom(u->model, i, index);
            if (geom == NULL || !cairn_robot_name(u->reader, i, geom->name) ||
                !read_origin(u, i, &geom->pose) || !read_geometry(u, i, geom)) {
                return false;
            }
            geom->mass = 0.0;
            geom->friction = 0.5f;
        }
    }
    return true;
}

// ---- Joints

static bool read_limits(urdf *u, uint32_t node, bool continuous, cairn_robot_joint *joint) {
    const uint32_t limit = child_of(u, node, "limit");
    float effort = 0.0f;
    if (limit == 0) {
        return continuous || cairn_robot_fail(u->reader, node, NULL, BAD, "needs <limit>");
    }
    if (!read_number(u, limit, "lower", -1e9f, 1e9f, false, &joint->lower) ||
        !read_number(u, limit, "upper", -1e9f, 1e9f, false, &joint->upper) ||
        !read_number(u, limit, "effort", 0.0f, 1e9f, false, &effort)) {
        return false;
    }
    joint->limited = !continuous;
    if (!cairn_robot_check_limits(u->model, limit, attribute_of(u, limit, "upper"), joint)) {
        return false;
    }
    if (attribute_of(u, limit, "velocity") != NULL) {
        cairn_robot_note(
            u->reader, limit, attribute_of(u, limit, "velocity"), "is left out: speeds are free");
    }
    if (effort > 0.0f) {
        cairn_robot_actuator *actuator = cairn_robot_add_actuator(u->model, node);
        if (actuator == NULL) {
            return false;
        }
        memcpy(actuator->name, joint->name, sizeof actuator->name);
        actuator->joint = (uint32_t)(joint - u->model->joints);
        actuator->lower = 0.0f - effort;
        actuator->upper = effort;
        actuator->force = effort;
    }
    return true;
}

static bool read_dynamics(urdf *u, uint32_t node, cairn_robot_joint *joint) {
    const uint32_t dynamics = child_of(u, node, "dynamics");
    return dynamics == 0 ||
           (read_number(u, dynamics, "damping", 0.0f, 1e9f, false, &joint->damping) &&
               read_number(u, dynamics, "friction", 0.0f, 1e9f, false, &joint->friction));
}

static bool read_axis(urdf *u, uint32_t node, cairn_vec3 *out) {
    const uint32_t axis = child_of(u, node, "axis");
    cairn_vec3 given = cairn_vec3_of(1.0f, 0.0f, 0.0f);
    if (axis != 0 && !cairn_robot_vec3(u->reader, axis, attribute_of(u, axis, "xyz"), &given)) {
        return false;
    }
    if (!(cairn_vec3_length(given) > 1e-6f)) {
        return cairn_robot_fail(
            u->reader, axis, attribute_of(u, axis, "xyz"), BAD, "must not be zero");
    }
    *out = cairn_vec3_normalize(given, given);
    return true;
}

static bool read_joint(urdf *u, uint32_t node, uint32_t index) {
    static const char *const kinds[] = {
        "fixed", "revolute", "continuous", "prismatic", "floating", NULL};
    const cairn_xml_attribute *type = attribute_of(u, node, "type");
    cairn_robot_link *link = &u->model->links[index];
    if (type == NULL) {
        return cairn_robot_fail(u->reader, node, NULL, BAD, "needs the attribute type");
    }
    if (!cairn_robot_word_in(kinds, type->value)) {
        return cairn_robot_fail(u->reader, node, type, BAD,
            "cairn does not read '%.32s': it reads fixed, revolute, continuous, prismatic, "
            "floating",
            type->value);
    }
    if (child_of(u, node, "mimic") != 0) {
        return cairn_robot_fail(
            u->reader, child_of(u, node, "mimic"), NULL, BAD, "cairn does not read <mimic>");
    }
    if (!read_origin(u, node, &link->pose)) {
        return false;
    }
    if (strcmp(type->value, "floating") == 0) {
        link->free = true;
        return (link->parent == 1 && !u->model->links[1].free) ||
               cairn_robot_fail(u->reader, node, type, BAD,
                   "may be floating only below the root, if that does not move");
    }
    if (strcmp(type->value, "fixed") == 0) {
        return true;
    }
    cairn_robot_joint *joint = cairn_robot_add_joint(u->model, node, index);
    if (joint == NULL || !cairn_robot_name(u->reader, node, joint->name)) {
        return false;
    }
    joint->kind = strcmp(type->value, "prismatic") == 0 ? CAIRN_ROBOT_SLIDE : CAIRN_ROBOT_HINGE;
    return read_axis(u, node, &joint->axis) &&
           read_limits(u, node, strcmp(type->value, "continuous") == 0, joint) &&
           read_dynamics(u, node, joint);
}

// ---- The tree

static uint32_t find_link(const urdf *u, const char *name) {
    for (uint32_t i = 0; i < u->link_count; ++i) {
        const char *own = cairn_robot_text(u->reader, u->links[i], "name");
        if (strcmp(own, name) == 0) {
            return i;
        }
    }
    return NONE;
}

// The link that <parent link> or <child link> of a joint names.
static bool named_link(urdf *u, uint32_t joint, const char *side, uint32_t *out) {
    const uint32_t node = child_of(u, joint, side);
    const cairn_xml_attribute *name = node == 0 ? NULL : attribute_of(u, node, "link");
    if (name == NULL) {
        return cairn_robot_fail(u->reader, joint, NULL, BAD, "needs <%s link=\"...\">", side);
    }
    *out = find_link(u, name->value);
    return *out != NONE || cairn_robot_fail(u->reader, node, name, CAIRN_NOT_FOUND,
                               "no link is named '%.32s'", name->value);
}

static bool list_links(urdf *u) {
    const cairn_xml_node *nodes = u->reader->xml.nodes;
    for (uint32_t i = nodes[0].child; i != 0; i = nodes[i].next) {
        if (strcmp(nodes[i].name, "link") != 0) {
            continue;
        }
        const cairn_xml_attribute *name = attribute_of(u, i, "name");
        if (name == NULL) {
            return cairn_robot_fail(u->reader, i, NULL, BAD, "needs the attribute name");
        }
        if (find_link(u, name->value) != NONE) {
            return cairn_robot_fail(u->reader, i, name, BAD, "another link has this name");
        }
        if (u->link_count == CAIRN_ROBOT_LINKS_MAX - 1) {
            return cairn_robot_fail(u->reader, i, NULL, CAIRN_CAPACITY,
                "a robot has at most %d links", CAIRN_ROBOT_LINKS_MAX - 1);
        }
        u->first_child[u->link_count] = NONE;
        u->links[u->link_count++] = i;
    }
    return u->link_count > 0 || cairn_robot_fail(u->reader, 0, NULL, BAD, "has no <link>");
}

static bool list_joints(urdf *u) {
    static const char *const ignored[] = {
        "material", "transmission", "gazebo", "link", "joint", NULL};
    const cairn_xml_node *nodes = u->reader->xml.nodes;
    uint32_t last_child[CAIRN_ROBOT_LINKS_MAX];
    for (uint32_t i = nodes[0].child; i != 0; i = nodes[i].next) {
        uint32_t parent, child;
        if (!cairn_robot_word_in(ignored, nodes[i].name)) {
            cairn_robot_note(u->reader, i, NULL, "is left out: cairn does not know it");
        }
        if (strcmp(nodes[i].name, "joint") != 0) {
            continue;
        }
        if (!named_link(u, i, "parent", &parent) || !named_link(u, i, "child", &child)) {
            return false;
        }
        if (u->joints[child] != 0) {
            return cairn_robot_fail(
                u->reader, i, NULL, BAD, "its child has a joint already: links form a tree");
        }
        u->joints[child] = i;
        u->next_child[child] = NONE;
        if (u->first_child[parent] == NONE) {
            u->first_child[parent] = child;
        } else {
            u->next_child[last_child[parent]] = child;
        }
        last_child[parent] = child;
    }
    return true;
}

static bool find_root(urdf *u, uint32_t *root) {
    *root = NONE;
    for (uint32_t i = 0; i < u->link_count; ++i) {
        if (u->joints[i] == 0 && *root != NONE) {
            return cairn_robot_fail(u->reader, u->links[i], NULL, BAD,
                "is a second root: each link but one is the child of a joint");
        }
        *root = u->joints[i] == 0 ? i : *root;
    }
    return *root != NONE || cairn_robot_fail(u->reader, 0, NULL, BAD, "its joints form a loop");
}

// A root that has no mass, or is named world, does not move.
static bool place_root(urdf *u, uint32_t root) {
    cairn_robot_link *link = cairn_robot_add_link(u->model, u->links[root], 0);
    if (link == NULL || !read_link(u, u->links[root], 1)) {
        return false;
    }
    link->free = !u->fixed_base && link->has_inertial && strcmp(link->name, "world") != 0;
    u->placed[root] = 1;
    return true;
}

// Parents first, and children in the order of their joints.
static bool place_links(urdf *u, uint32_t root) {
    uint32_t queue[CAIRN_ROBOT_LINKS_MAX], begin = 0, end = 0;
    queue[end++] = root;
    for (; begin < end; ++begin) {
        const uint32_t parent = u->placed[queue[begin]];
        for (uint32_t i = u->first_child[queue[begin]]; i != NONE; i = u->next_child[i]) {
            const uint32_t index = u->model->link_count;
            if (cairn_robot_add_link(u->model, u->links[i], parent) == NULL ||
                !read_link(u, u->links[i], index) || !read_joint(u, u->joints[i], index)) {
                return false;
            }
            u->placed[i] = index;
            queue[end++] = i;
        }
    }
    for (uint32_t i = 0; i < u->link_count; ++i) {
        if (u->placed[i] == 0) {
            return cairn_robot_fail(
                u->reader, u->joints[i], NULL, BAD, "is part of a loop that hangs on no root");
        }
    }
    return true;
}

bool cairn_robot_read_urdf(cairn_robot_model *model, const cairn_robot_options *options) {
    urdf u = {.model = model, .reader = &model->reader, .fixed_base = options->fixed_base};
    uint32_t root;
    model->format = "urdf";
    return list_links(&u) && list_joints(&u) && find_root(&u, &root) && place_root(&u, root) &&
           place_links(&u, root);
}
