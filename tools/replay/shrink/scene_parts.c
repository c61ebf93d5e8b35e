// SPDX-License-Identifier: MIT
#include "tools/replay/shrink/scene_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/scene_world.h"

void cairn_scene_parts_end(cairn_scene *scene) {
    if (scene != NULL) {
        free(scene->bodies);
        free(scene->shapes);
        free(scene->joints);
        free(scene->hulls);
        free(scene->meshes);
        free(scene->height_fields);
        free(scene);
    }
}

// An array of its own for each list, at least as long as needed.
static cairn_scene *make(const cairn_scene *like, uint32_t bodies, uint32_t shapes, uint32_t joints,
    uint32_t hulls, uint32_t meshes, uint32_t height_fields) {
    cairn_scene *out = malloc(sizeof *out);
    if (out == NULL) {
        return NULL;
    }
    *out = *like;
    out->body_count = out->shape_count = out->joint_count = 0;
    out->hull_count = out->mesh_count = out->height_field_count = 0;
    out->bodies = calloc((size_t)bodies + 1, sizeof *out->bodies);
    out->shapes = calloc((size_t)shapes + 1, sizeof *out->shapes);
    out->joints = calloc((size_t)joints + 1, sizeof *out->joints);
    out->hulls = calloc((size_t)hulls + 1, sizeof *out->hulls);
    out->meshes = calloc((size_t)meshes + 1, sizeof *out->meshes);
    out->height_fields = calloc((size_t)height_fields + 1, sizeof *out->height_fields);
    if (out->bodies == NULL || out->shapes == NULL || out->joints == NULL || out->hulls == NULL ||
        out->meshes == NULL || out->height_fields == NULL) {
        cairn_scene_parts_end(out);
        return NULL;
    }
    return out;
}

// ---------------------------------------------------------------------------------- of a scene

// Where hull, mesh or height field `index` is in the new list: a list of old indices.
static uint32_t place_of(uint32_t *list, uint32_t *count, uint32_t index) {
    uint32_t at = 0;
    while (at < *count && list[at] != index) {
        at++;
    }
    list[at] = index;
    *count += at == *count ? 1 : 0;
    return at;
}

static void copy_body(cairn_scene *out, const cairn_scene *from, uint32_t index, uint32_t *hulls,
    uint32_t *meshes, uint32_t *fields) {
    cairn_scene_body body = from->bodies[index];
    const uint32_t first = body.first_shape;
    body.first_shape = out->shape_count;
    out->bodies[out->body_count++] = body;
    for (uint32_t i = 0; i < body.shape_count; ++i) {
        cairn_scene_shape shape = from->shapes[first + i];
        if (shape.def.kind == CAIRN_SHAPE_HULL) {
            shape.hull = place_of(hulls, &out->hull_count, shape.hull);
            out->hulls[shape.hull] = from->hulls[hulls[shape.hull]];
        } else if (shape.def.kind == CAIRN_SHAPE_MESH) {
            shape.mesh = place_of(meshes, &out->mesh_count, shape.mesh);
            out->meshes[shape.mesh] = from->meshes[meshes[shape.mesh]];
        } else if (shape.def.kind == CAIRN_SHAPE_HEIGHT_FIELD) {
            shape.mesh = place_of(fields, &out->height_field_count, shape.mesh);
            out->height_fields[shape.mesh] = from->height_fields[fields[shape.mesh]];
        }
        out->shapes[out->shape_count++] = shape;
    }
}

cairn_scene *cairn_scene_parts_copy(
    const cairn_scene *from, const uint32_t *bodies, const uint32_t *joints) {
    const uint32_t surfaces = from->hull_count + from->mesh_count + from->height_field_count;
    uint32_t *lists = calloc((size_t)surfaces + 1, sizeof *lists);
    cairn_scene *out = lists == NULL
                           ? NULL
                           : make(from, from->body_count, from->shape_count, from->joint_count,
                                 from->hull_count, from->mesh_count, from->height_field_count);
    for (uint32_t i = 0; out != NULL && i < from->body_count; ++i) {
        if (bodies[i] != CAIRN_ID_NULL) {
            copy_body(out, from, i, lists, lists + from->hull_count,
                lists + from->hull_count + from->mesh_count);
        }
    }
    for (uint32_t i = 0; out != NULL && i < from->joint_count; ++i) {
        if (joints[i] != CAIRN_ID_NULL) {
            cairn_scene_joint joint = from->joints[i];
            joint.body_a = cairn_id_index(bodies[joint.body_a]);
            joint.body_b = cairn_id_index(bodies[joint.body_b]);
            out->joints[out->joint_count++] = joint;
        }
    }
    free(lists);
    return out;
}

// ---------------------------------------------------------------------------------- of a world

typedef struct reader {
    const cairn_world *world;
    cairn_scene *scene;
    cairn_hull_id *hulls;
    cairn_mesh_id *meshes, *fields;
    cairn_shape_id *shapes;
    bool good; // false: out of memory
} reader;

static bool grow(void **list, size_t size) {
    void *more = realloc(*list, size);
    *list = more != NULL ? more : *list;
    return more != NULL;
}

static cairn_vec3 *more_points(reader *r, uint32_t count) {
    cairn_scene *s = r->scene;
    r->good =
        r->good && grow((void **)&s->points, (s->point_count + (size_t)count) * sizeof *s->points);
    return r->good ? s->points + s->point_count : NULL;
}

static void read_hulls(reader *r) {
    const uint32_t count = cairn_world_hulls(r->world, r->hulls, CAIRN_HULLS_MAX);
    for (uint32_t i = 0; i < count; ++i) {
        cairn_vec3 *points = more_points(r, CAIRN_HULL_VERTICES_MAX);
        uint32_t size = 0;
        if (points == NULL || cairn_hull_read(r->world, r->hulls[i], points, &size) != CAIRN_OK) {
            return;
        }
        r->scene->hulls[r->scene->hull_count++] =
            (cairn_scene_hull){.first_point = r->scene->point_count, .point_count = size};
        r->scene->point_count += size;
    }
}

static void read_mesh(reader *r, cairn_mesh_id id, const cairn_mesh_info *info) {
    cairn_scene *s = r->scene;
    cairn_vec3 *points = more_points(r, info->vertex_count);
    const uint32_t indices = 3 * info->triangle_count;
    r->good = r->good &&
              grow((void **)&s->indices, (s->index_count + (size_t)indices) * sizeof *s->indices);
    if (r->good) {
        (void)cairn_mesh_read(r->world, id, points, s->indices + s->index_count);
        r->meshes[s->mesh_count] = id;
        s->meshes[s->mesh_count++] = (cairn_scene_mesh){.first_vertex = s->point_count,
            .vertex_count = info->vertex_count,
            .first_index = s->index_count,
            .index_count = indices};
        s->point_count += info->vertex_count;
        s->index_count += indices;
    }
}

static void read_height_field(reader *r, cairn_mesh_id id, const cairn_mesh_info *info) {
    cairn_scene *s = r->scene;
    const uint32_t heights = info->columns * info->rows;
    r->good = r->good &&
              grow((void **)&s->heights, (s->height_count + (size_t)heights) * sizeof *s->heights);
    if (r->good) {
        (void)cairn_height_field_read(r->world, id, s->heights + s->height_count);
        r->fields[s->height_field_count] = id;
        s->height_fields[s->height_field_count++] =
            (cairn_scene_height_field){.first_height = s->height_count,
                .height_count = heights,
                .columns = info->columns,
                .spacing_x = info->spacing_x,
                .spacing_z = info->spacing_z};
        s->height_count += heights;
    }
}

static void read_meshes(reader *r) {
    cairn_mesh_id ids[CAIRN_MESHES_MAX];
    const uint32_t count = cairn_world_meshes(r->world, ids, CAIRN_MESHES_MAX);
    for (uint32_t i = 0; i < count; ++i) {
        cairn_mesh_info info;
        if (cairn_mesh_info_read(r->world, ids[i], &info) != CAIRN_OK) {
            continue;
        }
        if (info.kind == CAIRN_MESH_TRIANGLES) {
            read_mesh(r, ids[i], &info);
        } else {
            read_height_field(r, ids[i], &info);
        }
    }
}

static uint32_t index_of(const uint32_t *ids, uint32_t count, uint32_t id) {
    uint32_t at = 0;
    while (at < count && ids[at] != id) {
        at++;
    }
    return at;
}

static void read_body(reader *r, const cairn_body_state *state) {
    cairn_scene *s = r->scene;
    cairn_scene_body *body = &s->bodies[s->body_count++];
    *body = (cairn_scene_body){.grid_count = {1, 1, 1}, .first_shape = s->shape_count};
    (void)cairn_body_read_def(r->world, state->id, &body->def);
    body->shape_count = cairn_body_shapes(r->world, state->id, r->shapes, CAIRN_SHAPES_MAX);
    for (uint32_t i = 0; i < body->shape_count; ++i) {
        cairn_scene_shape *shape = &s->shapes[s->shape_count++];
        cairn_body_id owner;
        (void)cairn_shape_read(r->world, r->shapes[i], &shape->def, &owner);
        shape->hull = index_of(r->hulls, s->hull_count, shape->def.hull);
        shape->mesh = shape->def.kind == CAIRN_SHAPE_MESH
                          ? index_of(r->meshes, s->mesh_count, shape->def.mesh)
                          : index_of(r->fields, s->height_field_count, shape->def.mesh);
        shape->def.hull = CAIRN_ID_NULL;
        shape->def.mesh = CAIRN_ID_NULL;
    }
}

// Ids that a reader of the scene will have, and lists in the order of the old ids.
static bool read_bodies(reader *r, cairn_renumbering *ids) {
    const uint32_t count = cairn_world_bodies(r->world, NULL, 0);
    cairn_body_state *all = calloc((size_t)count + 1, sizeof *all);
    if (all == NULL) {
        return false;
    }
    (void)cairn_world_bodies(r->world, all, count);
    ids->body_count = count > 0 ? cairn_id_index(all[count - 1].id) + 1 : 0;
    ids->bodies = calloc((size_t)ids->body_count + 1, sizeof *ids->bodies);
    for (uint32_t i = 0; ids->bodies != NULL && i < count; ++i) {
        read_body(r, &all[i]);
        ids->bodies[cairn_id_index(all[i].id)] = r->scene->body_count;
    }
    ids->bodies_left = count;
    free(all);
    return ids->bodies != NULL;
}

static bool read_joints(reader *r, cairn_renumbering *ids) {
    const uint32_t count = cairn_world_joints(r->world, NULL, 0);
    cairn_joint_id *all = calloc((size_t)count + 1, sizeof *all);
    if (all == NULL) {
        return false;
    }
    (void)cairn_world_joints(r->world, all, count);
    ids->joint_count = count > 0 ? cairn_id_index(all[count - 1]) + 1 : 0;
    ids->joints = calloc((size_t)ids->joint_count + 1, sizeof *ids->joints);
    for (uint32_t i = 0; ids->joints != NULL && i < count; ++i) {
        cairn_scene_joint *joint = &r->scene->joints[r->scene->joint_count++];
        (void)cairn_joint_read(r->world, all[i], &joint->def);
        joint->body_a = ids->bodies[cairn_id_index(joint->def.body_a)] - 1;
        joint->body_b = ids->bodies[cairn_id_index(joint->def.body_b)] - 1;
        joint->def.body_a = joint->def.body_b = CAIRN_ID_NULL;
        ids->joints[cairn_id_index(all[i])] = r->scene->joint_count;
    }
    ids->joints_left = count;
    free(all);
    return ids->joints != NULL;
}

// A mass that was set shows only when it is compared with that of the shapes.
static void read_masses(cairn_scene *scene, const cairn_world *world) {
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_world *made;
    cairn_body_state *all = calloc((size_t)scene->body_count + 1, sizeof *all);
    if (all != NULL && cairn_scene_world_create(scene, NULL, &made, error) == CAIRN_OK) {
        (void)cairn_world_bodies(world, all, scene->body_count);
        for (uint32_t i = 0; i < scene->body_count; ++i) {
            const float mass = cairn_body_mass(world, all[i].id);
            const bool same = fabsf(mass - cairn_body_mass(made, i + 1)) <= 0.0f;
            scene->bodies[i].mass = same || scene->bodies[i].shape_count == 0 ? 0 : mass;
        }
        cairn_world_destroy(made);
    }
    free(all);
}

static void name_scene(cairn_scene *scene, const cairn_world *world) {
    const cairn_rules *rules = cairn_world_settings(world)->rules;
    snprintf(scene->name, sizeof scene->name, "shrunk");
    snprintf(scene->rules, sizeof scene->rules, "%.31s", rules != NULL ? rules->name : "");
    scene->world = *cairn_world_settings(world);
    scene->world.gravity = cairn_world_gravity(world);
    scene->world.rules = NULL;
}

cairn_scene *cairn_scene_parts_of_world(const cairn_world *world, cairn_renumbering *ids) {
    const cairn_world_counts counts = cairn_world_counts_read(world);
    const cairn_scene empty = cairn_scene_default();
    reader r = {.world = world,
        .hulls = calloc(CAIRN_HULLS_MAX, sizeof *r.hulls),
        .meshes = calloc(CAIRN_MESHES_MAX, sizeof *r.meshes),
        .fields = calloc(CAIRN_MESHES_MAX, sizeof *r.fields),
        .shapes = calloc(CAIRN_SHAPES_MAX, sizeof *r.shapes),
        .scene = make(&empty, counts.bodies, counts.shapes, counts.joints, counts.hulls,
            counts.meshes, counts.meshes)};
    r.good = r.hulls != NULL && r.meshes != NULL && r.fields != NULL && r.shapes != NULL &&
             r.scene != NULL;
    if (r.good) {
        name_scene(r.scene, world);
        read_hulls(&r);
        read_meshes(&r);
        r.good = r.good && read_bodies(&r, ids) && read_joints(&r, ids);
    }
    if (r.good) {
        read_masses(r.scene, world);
    }
    free(r.hulls);
    free(r.meshes);
    free(r.fields);
    free(r.shapes);
    if (!r.good) {
        cairn_scene_parts_end(r.scene);
        r.scene = NULL;
    }
    return r.scene;
}
