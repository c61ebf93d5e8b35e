// SPDX-License-Identifier: MIT
#pragma once

// A scene while it is read: shared by the files that read, check and repeat its parts.

#include "schema/scene_reader.h"

// A named list of bodies and joints, with every copy of them.
typedef struct cairn_scene_prefab {
    char name[CAIRN_NAME_SIZE_MAX + 1];
    uint32_t first_body; // into cairn_scene_build.part_bodies
    uint32_t body_count;
    uint32_t first_joint; // into cairn_scene_build.part_joints
    uint32_t joint_count;
} cairn_scene_prefab;

// One copy of a prefab in the world.
typedef struct cairn_scene_placement {
    uint32_t prefab;
    uint32_t first_body; // counted as joints count them
    cairn_pose pose;
} cairn_scene_placement;

typedef struct cairn_scene_build {
    cairn_scene_reader reader;
    cairn_scene *scene;
    uint64_t body_total; // with every copy
    uint64_t shape_total;
    cairn_scene_prefab *prefabs;
    uint32_t prefab_count;
    cairn_scene_body *part_bodies; // of the prefabs, in their frames
    uint32_t part_body_count;
    cairn_scene_joint *part_joints;
    uint32_t part_joint_count;
    cairn_scene_placement *placements;
    uint32_t placement_count;
    // Of the arrays of the scene and of those above.
    struct {
        uint32_t bodies, shapes, joints, hulls, points, meshes, indices, height_fields, heights;
        uint32_t prefabs, part_bodies, part_joints, placements;
    } capacity;
} cairn_scene_build;

// ---- scene_check.c: what goes beyond the range of a number. Each refuses with a message.

void cairn_scene_check_shape(cairn_scene_build *build, const cairn_json_node *object,
    const cairn_scene_shape *shape, uint32_t body_kind);
void cairn_scene_check_body(
    cairn_scene_build *build, const cairn_json_node *object, const cairn_authored_body *body);
// The bodies that the joint may name are [0, body_count).
void cairn_scene_check_joint(cairn_scene_build *build, const cairn_json_node *object,
    const cairn_scene_joint *joint, uint64_t body_count);
void cairn_scene_check_hull(
    cairn_scene_build *build, const cairn_json_node *object, const cairn_scene_hull *hull);
void cairn_scene_check_mesh(
    cairn_scene_build *build, const cairn_json_node *object, const cairn_scene_mesh *mesh);
void cairn_scene_check_height_field(
    cairn_scene_build *build, const cairn_json_node *object, const cairn_scene_height_field *field);
// The counts of the whole scene against its capacities.
void cairn_scene_check_totals(cairn_scene_build *build, const cairn_json_node *root);
// How many copies an object stands for; 0 after a refusal: it has more than one way to repeat.
uint64_t cairn_scene_check_repetition(cairn_scene_build *build, const cairn_json_node *object,
    const cairn_scene_repetition *repeat, const uint32_t grid_count[3]);
// The rotation that an object gives; `prefix` "" or "target_".
cairn_quat cairn_scene_check_rotation(cairn_scene_build *build, const cairn_json_node *object,
    const char *prefix, const cairn_scene_rotation *rotation);

// ---- scene_expand.c: copies

// Where copy number `k` is: offset and rotation from the object's own position and rotation.
cairn_pose cairn_scene_copy(const cairn_scene_repetition *repeat, const uint32_t grid_count[3],
    cairn_vec3 grid_spacing, uint64_t k);
// One body without repetition, moved by a pose.
cairn_scene_body cairn_scene_body_moved(const cairn_scene_body *body, cairn_pose pose);
cairn_scene_joint cairn_scene_joint_moved(
    const cairn_scene_joint *joint, const cairn_scene_placement *placement);
// Whether a position lies within a world.
bool cairn_scene_position_fits(cairn_vec3 position);
