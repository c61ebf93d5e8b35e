// SPDX-License-Identifier: MIT
#include "robot/model.h"

#include <stdlib.h>

bool cairn_robot_model_create(cairn_robot_model *m) {
    m->links = calloc(CAIRN_ROBOT_LINKS_MAX, sizeof *m->links);
    m->joints = calloc(CAIRN_ROBOT_JOINTS_MAX, sizeof *m->joints);
    m->geoms = calloc(CAIRN_ROBOT_GEOMS_MAX, sizeof *m->geoms);
    m->actuators = calloc(CAIRN_ROBOT_ACTUATORS_MAX, sizeof *m->actuators);
    m->ties = calloc(CAIRN_ROBOT_TIES_MAX, sizeof *m->ties);
    if (m->links == NULL || m->joints == NULL || m->geoms == NULL || m->actuators == NULL ||
        m->ties == NULL) {
        return cairn_robot_fail(&m->reader, 0, NULL, CAIRN_OUT_OF_MEMORY, "out of memory");
    }
    m->gravity = cairn_vec3_of(0.0f, 0.0f, -9.81f);
    m->links[0] = (cairn_robot_link){.name = "world",
        .pose = cairn_pose_identity(),
        .base_pose = cairn_pose_identity(),
        .world_pose = cairn_pose_identity()};
    m->link_count = 1;
    return true;
}

void cairn_robot_model_destroy(cairn_robot_model *m) {
    free(m->links);
    free(m->joints);
    free(m->geoms);
    free(m->actuators);
    free(m->ties);
    cairn_xml_document_destroy(&m->reader.xml);
}

static bool has_room(
    cairn_robot_model *m, uint32_t node, uint32_t count, uint32_t most, const char *what) {
    return count < most || cairn_robot_fail(&m->reader, node, NULL, CAIRN_CAPACITY,
                               "a robot has at most %u %s", (unsigned)most, what);
}

cairn_robot_link *cairn_robot_add_link(cairn_robot_model *m, uint32_t node, uint32_t parent) {
    if (!has_room(m, node, m->link_count, CAIRN_ROBOT_LINKS_MAX, "links")) {
        return NULL;
    }
    cairn_robot_link *link = &m->links[m->link_count++];
    *link = (cairn_robot_link){.node = node, .parent = parent, .pose = cairn_pose_identity()};
    return link;
}

cairn_robot_joint *cairn_robot_add_joint(cairn_robot_model *m, uint32_t node, uint32_t link) {
    cairn_robot_link *owner = &m->links[link];
    if (!has_room(m, node, m->joint_count, CAIRN_ROBOT_JOINTS_MAX, "joints") ||
        !has_room(m, node, owner->joint_count, CAIRN_ROBOT_LINK_JOINTS_MAX, "joints in a link")) {
        return NULL;
    }
    owner->first_joint = owner->joint_count == 0 ? m->joint_count : owner->first_joint;
    owner->joint_count += 1;
    cairn_robot_joint *joint = &m->joints[m->joint_count++];
    *joint = (cairn_robot_joint){.node = node, .link = link};
    return joint;
}

cairn_robot_geom *cairn_robot_add_geom(cairn_robot_model *m, uint32_t node, uint32_t link) {
    if (!has_room(m, node, m->geom_count, CAIRN_ROBOT_GEOMS_MAX, "geoms")) {
        return NULL;
    }
    cairn_robot_geom *geom = &m->geoms[m->geom_count++];
    *geom = (cairn_robot_geom){.node = node,
        .link = link,
        .pose = cairn_pose_identity(),
        .mass = -1.0,
        .type = 1,
        .affinity = 1};
    return geom;
}

cairn_robot_actuator *cairn_robot_add_actuator(cairn_robot_model *m, uint32_t node) {
    if (!has_room(m, node, m->actuator_count, CAIRN_ROBOT_ACTUATORS_MAX, "actuators")) {
        return NULL;
    }
    cairn_robot_actuator *actuator = &m->actuators[m->actuator_count++];
    *actuator = (cairn_robot_actuator){
        .gear = 1.0f, .lower = -1.0f, .upper = 1.0f, .force = CAIRN_FORCE_MAX};
    return actuator;
}

cairn_robot_tie *cairn_robot_add_tie(cairn_robot_model *m, uint32_t node) {
    if (!has_room(m, node, m->tie_count, CAIRN_ROBOT_TIES_MAX, "loops and exclusions")) {
        return NULL;
    }
    cairn_robot_tie *tie = &m->ties[m->tie_count++];
    *tie = (cairn_robot_tie){.kind = CAIRN_JOINT_WELD};
    return tie;
}

bool cairn_robot_check_limits(cairn_robot_model *m, uint32_t node,
    const cairn_xml_attribute *attribute, cairn_robot_joint *joint) {
    const float most = joint->kind == CAIRN_ROBOT_SLIDE ? CAIRN_SHAPE_SIZE_MAX : CAIRN_ANGLE_MAX;
    if (joint->upper < joint->lower) {
        return cairn_robot_fail(&m->reader, node, attribute, CAIRN_INVALID_ARGUMENT,
            "the upper limit, %g, is below the lower, %g", (double)joint->upper,
            (double)joint->lower);
    }
    if (joint->limited && (joint->lower < -most || joint->upper > most)) {
        joint->limited = false;
        cairn_robot_note(&m->reader, node, attribute,
            "is left out: a scene limits angles to [-pi, pi] and ways to 10 km");
    }
    return true;
}

// ---- Assembling

static cairn_pose pose_after(cairn_pose a, cairn_pose b) {
    cairn_pose out = cairn_pose_multiply(a, b);
    out.rotation = cairn_quat_normalize(out.rotation);
    return out;
}

static void place_link(cairn_robot_model *m, uint32_t i) {
    cairn_robot_link *link = &m->links[i];
    const cairn_robot_link *parent = &m->links[link->parent];
    const bool moves = link->free || link->joint_count > 0;
    link->world_pose = pose_after(parent->world_pose, link->pose);
    link->base = moves ? i : parent->base;
    link->base_pose = moves ? cairn_pose_identity() : pose_after(parent->base_pose, link->pose);
}

static void add_weight(
    cairn_robot_model *m, const cairn_robot_link *link, const cairn_robot_mass *in_link) {
    const cairn_robot_mass moved = cairn_robot_mass_moved(in_link, link->base_pose);
    cairn_robot_mass_add(&m->links[link->base].weight, &moved);
}

static bool check_link(cairn_robot_model *m, uint32_t i) {
    const cairn_robot_link *link = &m->links[i];
    const cairn_vec3 p = cairn_vec3_abs(link->world_pose.position);
    if (!(p.x <= CAIRN_DISTANCE_MAX && p.y <= CAIRN_DISTANCE_MAX && p.z <= CAIRN_DISTANCE_MAX)) {
        return cairn_robot_fail(&m->reader, link->node, NULL, CAIRN_INVALID_ARGUMENT,
            "lies more than %g m from the origin", (double)CAIRN_DISTANCE_MAX);
    }
    if (link->base != i) {
        return true;
    }
    if (!(link->weight.mass >= 1e-9 && link->weight.mass <= 1e12)) {
        return cairn_robot_fail(&m->reader, link->node, NULL, CAIRN_INVALID_ARGUMENT,
            "moves, so its mass must be in [1e-9, 1e12] kg, is %g", link->weight.mass);
    }
    return cairn_robot_inertia_fits(link->weight.inertia) ||
           cairn_robot_fail(&m->reader, link->node, NULL, CAIRN_INVALID_ARGUMENT,
               "moves, so its inertia must be positive definite");
}

bool cairn_robot_assemble(cairn_robot_model *m) {
    for (uint32_t i = 1; i < m->link_count; ++i) {
        place_link(m, i);
        if (m->links[i].has_inertial) {
            add_weight(m, &m->links[i], &m->links[i].mass);
        }
    }
    for (uint32_t i = 0; i < m->geom_count; ++i) {
        const cairn_robot_link *link = &m->links[m->geoms[i].link];
        if (!link->has_inertial) {
            const cairn_robot_mass mass = cairn_robot_geom_mass(&m->geoms[i]);
            add_weight(m, link, &mass);
        }
    }
    for (uint32_t i = 1; i < m->link_count; ++i) {
        if (!check_link(m, i)) {
            return false;
        }
    }
    return true;
}
