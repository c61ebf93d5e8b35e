// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/nearest_word.h"
#include "schema/scene_build.h"
#include <cairn/math.h>

#define GROW(build, array, count, more, of)                                                        \
    cairn_scene_grow(&(build)->reader, array, count, more, &(build)->capacity.of, sizeof *(array))

// For each element of a list of objects. The path names it while it is read.
#define EACH_ELEMENT(build, object, list, node, i)                                                 \
    uint32_t i = 0;                                                                                \
    for (const cairn_json_node *node =                                                             \
             cairn_scene_next_element(&(build)->reader, object, list, NULL);                       \
         node != NULL && !(build)->reader.out_of_memory;                                           \
         node = cairn_scene_next_element(&(build)->reader, object, list, node), ++i)

// ---- Hulls, meshes, height fields

static void read_hull(cairn_scene_build *b, const cairn_json_node *object) {
    cairn_scene *s = b->scene;
    cairn_scene_hull hull = {.first_point = s->point_count};
    cairn_scene_read_object(&b->reader, object, &cairn_scene_object_hull, &hull);
    s->points = cairn_scene_read_points(&b->reader, object, &cairn_scene_object_hull.fields[0],
        s->points, &s->point_count, &b->capacity.points);
    hull.point_count = s->point_count - hull.first_point;
    cairn_scene_check_hull(b, object, &hull);
    s->hulls = GROW(b, s->hulls, s->hull_count, 1, hulls);
    if (!b->reader.out_of_memory) {
        s->hulls[s->hull_count++] = hull;
    }
}

static void read_mesh(cairn_scene_build *b, const cairn_json_node *object) {
    cairn_scene *s = b->scene;
    const cairn_scene_object *table = &cairn_scene_object_mesh;
    cairn_scene_mesh mesh = {.first_vertex = s->point_count, .first_index = s->index_count};
    cairn_scene_read_object(&b->reader, object, table, &mesh);
    s->points = cairn_scene_read_points(
        &b->reader, object, &table->fields[0], s->points, &s->point_count, &b->capacity.points);
    s->indices = cairn_scene_read_words(
        &b->reader, object, &table->fields[1], s->indices, &s->index_count, &b->capacity.indices);
    mesh.vertex_count = s->point_count - mesh.first_vertex;
    mesh.index_count = s->index_count - mesh.first_index;
    cairn_scene_check_mesh(b, object, &mesh);
    s->meshes = GROW(b, s->meshes, s->mesh_count, 1, meshes);
    if (!b->reader.out_of_memory) {
        s->meshes[s->mesh_count++] = mesh;
    }
}

static void read_height_field(cairn_scene_build *b, const cairn_json_node *object) {
    cairn_scene *s = b->scene;
    const cairn_scene_object *table = &cairn_scene_object_height_field;
    cairn_scene_height_field field = {
        .first_height = s->height_count, .spacing_x = 1.0f, .spacing_z = 1.0f};
    cairn_scene_read_object(&b->reader, object, table, &field);
    s->heights = cairn_scene_read_floats(
        &b->reader, object, &table->fields[0], s->heights, &s->height_count, &b->capacity.heights);
    field.height_count = s->height_count - field.first_height;
    cairn_scene_check_height_field(b, object, &field);
    s->height_fields = GROW(b, s->height_fields, s->height_field_count, 1, height_fields);
    if (!b->reader.out_of_memory) {
        s->height_fields[s->height_field_count++] = field;
    }
}

// ---- Bodies and joints

static void read_shape(cairn_scene_build *b, const cairn_json_node *object, uint32_t body_kind) {
    cairn_scene *s = b->scene;
    cairn_authored_shape shape = cairn_authored_shape_default();
    cairn_scene_read_object(&b->reader, object, &cairn_scene_object_shape, &shape);
    cairn_shape_def *def = &shape.shape.def;
    def->pose.rotation = cairn_scene_check_rotation(b, object, "", &shape.rotation);
    def->flags = (shape.sensor != 0 ? (uint32_t)CAIRN_SHAPE_SENSOR : 0) |
                 (shape.hit_events != 0 ? (uint32_t)CAIRN_SHAPE_HIT_EVENTS : 0) |
                 (shape.contact_events != 0 ? (uint32_t)CAIRN_SHAPE_CONTACT_EVENTS : 0);
    cairn_scene_check_shape(b, object, &shape.shape, body_kind);
    s->shapes = GROW(b, s->shapes, s->shape_count, 1, shapes);
    if (!b->reader.out_of_memory) {
        s->shapes[s->shape_count++] = shape.shape;
    }
}

static cairn_authored_body read_body(cairn_scene_build *b, const cairn_json_node *object) {
    cairn_authored_body body = cairn_authored_body_default();
    cairn_scene_read_object(&b->reader, object, &cairn_scene_object_body, &body);
    body.body.def.rotation = cairn_scene_check_rotation(b, object, "", &body.rotation);
    body.body.first_shape = b->scene->shape_count;
    EACH_ELEMENT(b, object, "shapes", shape, i) {
        cairn_scene_path_push(&b->reader, "shapes", i);
        read_shape(b, shape, body.body.def.kind);
        cairn_scene_path_pop(&b->reader);
    }
    body.body.shape_count = b->scene->shape_count - body.body.first_shape;
    cairn_scene_check_body(b, object, &body);
    return body;
}

// Appends every copy of a body to a list of bodies, without their grids. Refuses more than a world
// holds before it makes one.
static cairn_scene_body *append_copies(cairn_scene_build *b, const cairn_json_node *object,
    const cairn_authored_body *body, uint64_t copies, cairn_scene_body *list, uint32_t *count,
    uint32_t *capacity) {
    if (copies + *count > CAIRN_BODIES_MAX) {
        cairn_scene_fail(&b->reader, object->at, CAIRN_CAPACITY, NULL,
            "more bodies than a world holds, which is %u", (unsigned)CAIRN_BODIES_MAX);
        return list;
    }
    list = cairn_scene_grow(&b->reader, list, *count, (uint32_t)copies, capacity, sizeof *list);
    cairn_scene_body single = body->body;
    single.grid_count[0] = single.grid_count[1] = single.grid_count[2] = 1;
    for (uint64_t k = 0; k < copies && !b->reader.out_of_memory; ++k) {
        const cairn_pose copy =
            cairn_scene_copy(&body->repeat, body->body.grid_count, body->body.grid_spacing, k);
        cairn_scene_body moved = single;
        moved.def.position = cairn_vec3_add(single.def.position, copy.position);
        if (body->repeat.circle_count > 1) {
            moved.def.position = cairn_vec3_zero();
            moved = cairn_scene_body_moved(&moved, copy);
            moved.def.position = cairn_vec3_add(single.def.position, copy.position);
        }
        if (!cairn_scene_position_fits(moved.def.position)) {
            cairn_scene_fail(&b->reader, object->at, CAIRN_INVALID_ARGUMENT, NULL,
                "its copy %llu is more than %g m from the origin", (unsigned long long)k,
                (double)CAIRN_DISTANCE_MAX);
            return list;
        }
        list[(*count)++] = moved;
    }
    return list;
}

static void read_own_body(cairn_scene_build *b, const cairn_json_node *object) {
    cairn_scene *s = b->scene;
    const cairn_authored_body body = read_body(b, object);
    const uint64_t copies =
        cairn_scene_check_repetition(b, object, &body.repeat, body.body.grid_count);
    b->body_total += copies;
    b->shape_total += copies * body.body.shape_count;
    if (body.repeat.line_count > 1 || body.repeat.circle_count > 1) {
        s->bodies =
            append_copies(b, object, &body, copies, s->bodies, &s->body_count, &b->capacity.bodies);
        return;
    }
    s->bodies = GROW(b, s->bodies, s->body_count, 1, bodies);
    if (!b->reader.out_of_memory) {
        s->bodies[s->body_count++] = body.body;
    }
}

static cairn_scene_joint read_joint(
    cairn_scene_build *b, const cairn_json_node *object, uint64_t body_count) {
    cairn_authored_joint joint = cairn_authored_joint_default();
    cairn_scene_read_object(&b->reader, object, &cairn_scene_object_joint, &joint);
    cairn_joint_def *def = &joint.joint.def;
    def->target_rotation = cairn_scene_check_rotation(b, object, "target_", &joint.target_rotation);
    // The default of either never breaks it.
    def->breakable = def->break_force != CAIRN_FORCE_MAX || def->break_torque != CAIRN_FORCE_MAX;
    cairn_scene_check_joint(b, object, &joint.joint, body_count);
    return joint.joint;
}

static void append_joint(cairn_scene_build *b, const cairn_scene_joint *joint) {
    cairn_scene *s = b->scene;
    s->joints = GROW(b, s->joints, s->joint_count, 1, joints);
    if (!b->reader.out_of_memory) {
        s->joints[s->joint_count++] = *joint;
    }
}

// ---- Prefabs and their instances

static uint32_t find_prefab(const cairn_scene_build *b, const char *name, const char **nearest) {
    uint32_t distance = UINT32_MAX;
    *nearest = NULL;
    for (uint32_t i = 0; i < b->prefab_count; ++i) {
        if (strcmp(b->prefabs[i].name, name) == 0) {
            return i;
        }
        *nearest = cairn_word_is_nearer(name, b->prefabs[i].name, &distance) ? b->prefabs[i].name
                                                                             : *nearest;
    }
    return UINT32_MAX;
}

static void read_prefab_parts(
    cairn_scene_build *b, const cairn_json_node *object, cairn_scene_prefab *prefab) {
    {
        EACH_ELEMENT(b, object, "bodies", node, i) {
            cairn_scene_path_push(&b->reader, "bodies", i);
            const cairn_authored_body body = read_body(b, node);
            const uint64_t copies =
                cairn_scene_check_repetition(b, node, &body.repeat, body.body.grid_count);
            b->part_bodies = append_copies(b, node, &body, copies, b->part_bodies,
                &b->part_body_count, &b->capacity.part_bodies);
            cairn_scene_path_pop(&b->reader);
        }
    }
    prefab->body_count = b->part_body_count - prefab->first_body;
    EACH_ELEMENT(b, object, "joints", node, i) {
        cairn_scene_path_push(&b->reader, "joints", i);
        const cairn_scene_joint joint = read_joint(b, node, prefab->body_count);
        b->part_joints = GROW(b, b->part_joints, b->part_joint_count, 1, part_joints);
        if (!b->reader.out_of_memory) {
            b->part_joints[b->part_joint_count++] = joint;
        }
        cairn_scene_path_pop(&b->reader);
    }
    prefab->joint_count = b->part_joint_count - prefab->first_joint;
}

static void read_prefab(cairn_scene_build *b, const cairn_json_node *object) {
    cairn_authored_prefab authored = {.name = ""};
    cairn_scene_read_object(&b->reader, object, &cairn_scene_object_prefab, &authored);
    cairn_scene_prefab prefab = {
        .first_body = b->part_body_count, .first_joint = b->part_joint_count};
    memcpy(prefab.name, authored.name, sizeof prefab.name);
    const char *nearest;
    if (find_prefab(b, prefab.name, &nearest) != UINT32_MAX) {
        cairn_scene_fail(&b->reader, cairn_scene_place(&b->reader, object, "name"),
            CAIRN_INVALID_ARGUMENT, "name", "another prefab is called %s", prefab.name);
    }
    read_prefab_parts(b, object, &prefab);
    b->prefabs = GROW(b, b->prefabs, b->prefab_count, 1, prefabs);
    if (!b->reader.out_of_memory) {
        b->prefabs[b->prefab_count++] = prefab;
    }
}

// One copy of a prefab: its bodies now, its joints after the scene's own.
static bool place_prefab(cairn_scene_build *b, uint32_t index, cairn_pose pose) {
    cairn_scene *s = b->scene;
    const cairn_scene_prefab *prefab = &b->prefabs[index];
    b->placements = GROW(b, b->placements, b->placement_count, 1, placements);
    s->bodies = GROW(b, s->bodies, s->body_count, prefab->body_count, bodies);
    if (b->reader.out_of_memory) {
        return false;
    }
    b->placements[b->placement_count++] = (cairn_scene_placement){
        .prefab = index, .first_body = (uint32_t)b->body_total, .pose = pose};
    bool fits = true;
    for (uint32_t i = 0; i < prefab->body_count; ++i) {
        const cairn_scene_body body =
            cairn_scene_body_moved(&b->part_bodies[prefab->first_body + i], pose);
        fits = fits && cairn_scene_position_fits(body.def.position);
        s->bodies[s->body_count++] = body;
        b->shape_total += body.shape_count;
    }
    b->body_total += prefab->body_count;
    return fits;
}

static void read_instance(cairn_scene_build *b, const cairn_json_node *object) {
    cairn_authored_instance instance = cairn_authored_instance_default();
    const uint32_t errors = b->reader.report->error_count;
    cairn_scene_read_object(&b->reader, object, &cairn_scene_object_instance, &instance);
    const cairn_quat rotation =
        cairn_quat_normalize(cairn_scene_check_rotation(b, object, "", &instance.rotation));
    const uint64_t copies =
        cairn_scene_check_repetition(b, object, &instance.repeat, instance.grid_count);
    const char *nearest;
    const uint32_t index = find_prefab(b, instance.prefab, &nearest);
    if (index == UINT32_MAX) {
        cairn_scene_fail(&b->reader, cairn_scene_place(&b->reader, object, "prefab"),
            CAIRN_INVALID_ARGUMENT, "prefab", "no prefab is called \"%s\"%s%s%s", instance.prefab,
            nearest == NULL ? "" : "; did you mean ", nearest == NULL ? "" : nearest,
            nearest == NULL ? "" : "?");
    }
    if (errors != b->reader.report->error_count) {
        return;
    }
    const cairn_scene_prefab *prefab = &b->prefabs[index];
    const uint64_t bodies = copies * prefab->body_count;
    if (bodies > CAIRN_BODIES_MAX || b->body_total + bodies > CAIRN_BODIES_MAX ||
        copies * prefab->joint_count > CAIRN_JOINTS_MAX || copies > CAIRN_BODIES_MAX ||
        b->placement_count + copies > CAIRN_BODIES_MAX) {
        cairn_scene_fail(&b->reader, object->at, CAIRN_CAPACITY, NULL,
            "more bodies or joints than a world holds");
        return;
    }
    for (uint64_t k = 0; k < copies; ++k) {
        const cairn_pose copy =
            cairn_scene_copy(&instance.repeat, instance.grid_count, instance.grid_spacing, k);
        const cairn_pose pose = cairn_pose_of(cairn_vec3_add(instance.position, copy.position),
            cairn_quat_normalize(cairn_quat_multiply(copy.rotation, rotation)));
        if (!place_prefab(b, index, pose) && !b->reader.out_of_memory) {
            cairn_scene_fail(&b->reader, object->at, CAIRN_INVALID_ARGUMENT, NULL,
                "a body of its copy %llu is more than %g m from the origin", (unsigned long long)k,
                (double)CAIRN_DISTANCE_MAX);
            return;
        }
    }
}

static void append_instance_joints(cairn_scene_build *b) {
    uint64_t joints = b->scene->joint_count;
    for (uint32_t i = 0; i < b->placement_count && !b->reader.out_of_memory; ++i) {
        const cairn_scene_placement *placement = &b->placements[i];
        const cairn_scene_prefab *prefab = &b->prefabs[placement->prefab];
        joints += prefab->joint_count;
        for (uint32_t k = 0; k < prefab->joint_count && joints <= CAIRN_JOINTS_MAX; ++k) {
            const cairn_scene_joint moved =
                cairn_scene_joint_moved(&b->part_joints[prefab->first_joint + k], placement);
            append_joint(b, &moved);
        }
    }
    if (joints > CAIRN_JOINTS_MAX) {
        cairn_scene_fail(&b->reader, 0, CAIRN_CAPACITY, "instances",
            "more joints than a world holds, which is %u", (unsigned)CAIRN_JOINTS_MAX);
    }
}

// ---- The scene

static void read_list(cairn_scene_build *b, const cairn_json_node *root, const char *list,
    void (*read)(cairn_scene_build *, const cairn_json_node *)) {
    EACH_ELEMENT(b, root, list, node, i) {
        cairn_scene_path_push(&b->reader, list, i);
        read(b, node);
        cairn_scene_path_pop(&b->reader);
    }
}

static void read_own_joint(cairn_scene_build *b, const cairn_json_node *object) {
    const cairn_scene_joint joint = read_joint(b, object, b->body_total);
    append_joint(b, &joint);
}

// Lists that others refer to come first, wherever they stand in the text.
static void read_root(cairn_scene_build *b, const cairn_json_node *root) {
    if (root->kind != CAIRN_JSON_OBJECT) {
        cairn_scene_fail(&b->reader, root->at, CAIRN_MALFORMED, NULL, "a scene must be an object");
        return;
    }
    cairn_scene_read_object(&b->reader, root, &cairn_scene_object_scene, b->scene);
    read_list(b, root, "hulls", read_hull);
    read_list(b, root, "meshes", read_mesh);
    read_list(b, root, "height_fields", read_height_field);
    read_list(b, root, "prefabs", read_prefab);
    read_list(b, root, "bodies", read_own_body);
    read_list(b, root, "instances", read_instance);
    read_list(b, root, "joints", read_own_joint);
    append_instance_joints(b);
    cairn_scene_check_totals(b, root);
}

static void end_build(cairn_scene_build *b) {
    free(b->prefabs);
    free(b->part_bodies);
    free(b->part_joints);
    free(b->placements);
    cairn_json_document_destroy(&b->reader.document);
}

// In the order of the text.
static void sort_messages(cairn_scene_report *report) {
    for (uint32_t i = 1; i < report->count; ++i) {
        const cairn_scene_message message = report->messages[i];
        uint32_t k = i;
        for (; k > 0 && (report->messages[k - 1].line > message.line ||
                            (report->messages[k - 1].line == message.line &&
                                report->messages[k - 1].column > message.column));
             --k) {
            report->messages[k] = report->messages[k - 1];
        }
        report->messages[k] = message;
    }
    for (uint32_t i = report->count; i-- > 0;) {
        const cairn_status status = report->messages[i].status;
        report->status = status != CAIRN_OK ? status : report->status;
    }
}

cairn_status cairn_scene_read(
    const char *json, size_t size, cairn_scene **out, cairn_scene_report *report) {
    CAIRN_ASSERT(json != NULL && out != NULL && report != NULL);
    *out = NULL;
    *report = (cairn_scene_report){.status = CAIRN_OK};
    cairn_scene_build b = {.reader.report = report, .scene = calloc(1, sizeof *b.scene)};
    if (b.scene == NULL) {
        b.reader.out_of_memory = true;
    } else {
        *b.scene = cairn_scene_default();
        const cairn_status status = cairn_json_document_parse(&b.reader.document, json, size);
        if (status == CAIRN_OK) {
            read_root(&b, &b.reader.document.nodes[0]);
        } else {
            cairn_scene_fail(
                &b.reader, b.reader.document.at, status, NULL, "%s", b.reader.document.error);
        }
    }
    if (b.reader.out_of_memory) {
        cairn_scene_fail(&b.reader, 0, CAIRN_OUT_OF_MEMORY, NULL, "out of memory");
    }
    end_build(&b);
    sort_messages(report);
    if (report->status != CAIRN_OK) {
        cairn_scene_destroy(b.scene);
        return report->status;
    }
    *out = b.scene;
    return CAIRN_OK;
}

cairn_status cairn_scene_parse(
    const char *json, size_t size, cairn_scene **out, char error[CAIRN_SCENE_ERROR_SIZE]) {
    CAIRN_ASSERT(error != NULL);
    cairn_scene_report report;
    const cairn_status status = cairn_scene_read(json, size, out, &report);
    error[0] = '\0';
    for (uint32_t i = 0; i < report.count && status != CAIRN_OK; ++i) {
        const cairn_scene_message *message = &report.messages[i];
        if (message->status != CAIRN_OK) {
            snprintf(error, CAIRN_SCENE_ERROR_SIZE, "line %u, column %u: %s",
                (unsigned)message->line, (unsigned)message->column, message->text);
            break;
        }
    }
    if (status != CAIRN_OK && error[0] == '\0') { // 32 warnings came first
        snprintf(error, CAIRN_SCENE_ERROR_SIZE, "%u errors", (unsigned)report.error_count);
    }
    return status;
}

void cairn_scene_destroy(cairn_scene *scene) {
    if (scene != NULL) {
        free(scene->bodies);
        free(scene->shapes);
        free(scene->joints);
        free(scene->hulls);
        free(scene->points);
        free(scene->meshes);
        free(scene->indices);
        free(scene->height_fields);
        free(scene->heights);
        free(scene);
    }
}

cairn_scene cairn_scene_default(void) {
    return (cairn_scene){.world = cairn_world_def_default()};
}
