// SPDX-License-Identifier: MIT
#pragma once

// A robot between its text and its scene: links, the joints by which each hangs on its parent, and
// geoms. Link 0 is the world. Parents come before their children.

#include "robot/reader.h"
#include <cairn/sim.h>

#define CAIRN_ROBOT_LINKS_MAX 1024
#define CAIRN_ROBOT_JOINTS_MAX 1024
#define CAIRN_ROBOT_LINK_JOINTS_MAX 6
#define CAIRN_ROBOT_GEOMS_MAX 4096
#define CAIRN_ROBOT_ACTUATORS_MAX 1024
#define CAIRN_ROBOT_TIES_MAX 1024
#define CAIRN_ROBOT_FILTERS_MAX 32

// Mass and its distribution, in double so that sums of parts do not depend on their size.
typedef struct cairn_robot_mass {
    double mass;       // kg
    double centre[3];  // m
    double inertia[6]; // kg m^2 about the centre: xx, yy, zz, xy, xz, yz
} cairn_robot_mass;

typedef struct cairn_robot_link {
    uint32_t node; // of the text, for messages
    char name[CAIRN_NAME_SIZE_MAX + 1];
    uint32_t parent;
    cairn_pose pose; // in the parent's frame at zero
    bool free;       // nothing holds it
    bool has_inertial;
    cairn_robot_mass mass; // of its <inertial>, in its frame
    uint32_t first_joint;  // contiguous; the first is the nearest to the parent
    uint32_t joint_count;
    // What follows is written by cairn_robot_assemble.
    uint32_t base;           // the link that it is one body with: itself, if it moves
    cairn_pose base_pose;    // in the base's frame
    cairn_pose world_pose;   // at zero
    cairn_robot_mass weight; // of a base: of all links that are one with it
    uint32_t body;           // of a base: its index in the scene
} cairn_robot_link;

typedef enum cairn_robot_joint_kind {
    CAIRN_ROBOT_HINGE,
    CAIRN_ROBOT_SLIDE,
    CAIRN_ROBOT_BALL,
} cairn_robot_joint_kind;

typedef struct cairn_robot_joint {
    uint32_t node;
    uint32_t kind; // cairn_robot_joint_kind
    uint32_t link;
    char name[CAIRN_NAME_SIZE_MAX + 1];
    cairn_vec3 anchor; // in the link's frame
    cairn_vec3 axis;   // of length 1
    bool limited;
    float lower, upper; // rad or m
    float reference;    // the position at zero, as the text starts
    float stiffness;    // N m/rad or N/m
    float damping;      // N m s/rad or N s/m
    float rest;         // of the stiffness
    float armature;     // kg m^2 or kg
    float friction;     // N m or N
    float servo;        // stiffness of a position actuator
} cairn_robot_joint;

typedef struct cairn_robot_geom {
    uint32_t node;
    uint32_t link;
    uint32_t kind; // cairn_shape_kind: sphere, capsule, box, cylinder, half-space
    char name[CAIRN_NAME_SIZE_MAX + 1];
    cairn_pose pose;         // of the shape, in the link's frame
    cairn_vec3 half_extents; // box
    float radius, half_height;
    float friction, spin, roll;
    double mass; // kg; below 0: from the density
    double density;
    uint32_t type, affinity; // of the collision filter: contype, conaffinity
} cairn_robot_geom;

typedef enum cairn_robot_actuator_kind {
    CAIRN_ROBOT_MOTOR,
    CAIRN_ROBOT_POSITION,
    CAIRN_ROBOT_VELOCITY,
} cairn_robot_actuator_kind;

typedef struct cairn_robot_actuator {
    uint32_t kind; // cairn_robot_actuator_kind
    uint32_t joint;
    char name[CAIRN_NAME_SIZE_MAX + 1];
    float gear;
    float lower, upper; // of the control
    float force;        // N m or N, the greatest; CAIRN_FORCE_MAX: unbounded
} cairn_robot_actuator;

// What two bodies have besides the tree: a loop, or that they do not collide.
typedef struct cairn_robot_tie {
    uint32_t kind; // CAIRN_JOINT_BALL or CAIRN_JOINT_WELD
    bool exclude;  // it holds nothing
    uint32_t link_a, link_b;
    cairn_vec3 anchor; // in a's frame
} cairn_robot_tie;

typedef struct cairn_robot_model {
    cairn_robot_reader reader;
    const char *format; // "urdf" or "mjcf"
    char name[CAIRN_NAME_SIZE_MAX + 1];
    cairn_vec3 gravity;
    float timestep;                  // s; 0: cairn's own
    bool world_children_collide;     // with what does not move
    bool articulated;                // the scene has joint coordinates
    cairn_robot_link *links;         // CAIRN_ROBOT_LINKS_MAX
    cairn_robot_joint *joints;       // CAIRN_ROBOT_JOINTS_MAX
    cairn_robot_geom *geoms;         // CAIRN_ROBOT_GEOMS_MAX
    cairn_robot_actuator *actuators; // CAIRN_ROBOT_ACTUATORS_MAX
    cairn_robot_tie *ties;           // CAIRN_ROBOT_TIES_MAX
    uint32_t link_count, joint_count, geom_count, actuator_count, tie_count;
} cairn_robot_model;

bool cairn_robot_model_create(cairn_robot_model *model);
void cairn_robot_model_destroy(cairn_robot_model *model);

// Append; NULL after a refusal: too many.
cairn_robot_link *cairn_robot_add_link(cairn_robot_model *model, uint32_t node, uint32_t parent);
cairn_robot_joint *cairn_robot_add_joint(cairn_robot_model *model, uint32_t node, uint32_t link);
cairn_robot_geom *cairn_robot_add_geom(cairn_robot_model *model, uint32_t node, uint32_t link);
cairn_robot_actuator *cairn_robot_add_actuator(cairn_robot_model *model, uint32_t node);
cairn_robot_tie *cairn_robot_add_tie(cairn_robot_model *model, uint32_t node);

// Refuses limits in the wrong order; leaves out those beyond what a scene has, with a note.
bool cairn_robot_check_limits(cairn_robot_model *model, uint32_t node,
    const cairn_xml_attribute *attribute, cairn_robot_joint *joint);

// Reads the text behind its root element.
bool cairn_robot_read_urdf(cairn_robot_model *model, const cairn_robot_options *options);
bool cairn_robot_read_mjcf(cairn_robot_model *model);

// Joins links that do not move against their parents, and sums masses. False: a part that moves has
// no mass, or an inertia that no body has.
bool cairn_robot_assemble(cairn_robot_model *model);

// Writes the scene and the parts. False: out of memory, or too many collision filters.
bool cairn_robot_write(cairn_robot_model *model, cairn_robot *out);

// ---- mass.c

// kg m^2 and m along the axes of the frame that `pose` is in.
cairn_robot_mass cairn_robot_mass_moved(const cairn_robot_mass *mass, cairn_pose pose);
void cairn_robot_mass_add(cairn_robot_mass *sum, const cairn_robot_mass *part);
// Of a geom in its link's frame; of zero mass for a half-space.
cairn_robot_mass cairn_robot_geom_mass(const cairn_robot_geom *geom);
// Whether it is symmetric positive definite.
bool cairn_robot_inertia_fits(const double inertia[6]);
// Whether a distribution of mass has it: no principal moment is larger than the sum of the other
// two, by more than the digits that files have. Of what is not positive definite nothing is said.
bool cairn_robot_inertia_real(const double inertia[6]);
// What opposes the free motion of a joint at zero, kg m^2 or kg: the inertia of the two bodies that
// it joins, in the frame of b and without the rest of the tree. `a` NULL: it does not move.
double cairn_robot_joint_inertia(
    const cairn_robot_joint *joint, const cairn_robot_mass *a, const cairn_robot_mass *b);
