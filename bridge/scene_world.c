// SPDX-License-Identifier: MIT
#include "bridge/scene_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include <cairn/rules_registry.h>

typedef struct builder {
    const cairn_scene *scene;
    cairn_world *world;
    cairn_body_id *ids; // of the bodies after grids were unrolled
    uint64_t id_count;
    cairn_hull_id *hulls;
    cairn_mesh_id *meshes; // then those of height fields
    char *error;
} builder;

static cairn_status refuse(
    builder *b, cairn_status status, const char *what, uint32_t i, const char *more) {
    CAIRN_ASSERT(status != CAIRN_OK);
    snprintf(
        b->error, CAIRN_SCENE_ERROR_SIZE, "%s[%u]: %s%s", what, i, cairn_status_text(status), more);
    return status;
}

static uint64_t grid_size(const cairn_scene_body *body) {
    return (uint64_t)body->grid_count[0] * body->grid_count[1] * body->grid_count[2];
}

cairn_world_def cairn_scene_world_def(const cairn_scene *scene, const cairn_rules *rules) {
    const cairn_rules *named = NULL;
    cairn_rules_find(scene->rules, &named);
    cairn_world_def def = scene->world;
    def.rules = rules != NULL ? rules : named;
    return def;
}

static cairn_status set_mass(builder *b, cairn_body_id id, const cairn_scene_body *body) {
    const cairn_vec3 diagonal = body->inertia, products = body->inertia_products;
    if (body->mass == 0.0f) {
        return CAIRN_OK;
    }
    if (diagonal.x == 0.0f && diagonal.y == 0.0f && diagonal.z == 0.0f) {
        return cairn_body_set_mass(b->world, id, body->mass);
    }
    const cairn_mass_properties own = {.mass = body->mass,
        .centre = body->centre,
        .inertia = {diagonal.x, diagonal.y, diagonal.z, products.x, products.y, products.z}};
    return cairn_body_set_mass_properties(b->world, id, &own);
}

static cairn_status add_body(builder *b, uint32_t i, const cairn_body_def *def) {
    CAIRN_ASSERT(b->id_count < b->scene->world.body_capacity);
    const cairn_scene_body *body = &b->scene->bodies[i];
    cairn_body_id id;
    const cairn_status status = cairn_body_create(b->world, def, &id);
    if (status != CAIRN_OK) {
        return refuse(b, status, "bodies", i, "");
    }
    b->ids[b->id_count++] = id;
    for (uint32_t s = 0; s < body->shape_count; ++s) {
        const cairn_scene_shape *authored = &b->scene->shapes[body->first_shape + s];
        cairn_shape_def shape = authored->def;
        if (shape.kind == CAIRN_SHAPE_HULL) {
            shape.hull = b->hulls[authored->hull];
        }
        if (shape.kind == CAIRN_SHAPE_MESH) {
            shape.mesh = b->meshes[authored->mesh];
        } else if (shape.kind == CAIRN_SHAPE_HEIGHT_FIELD) {
            shape.mesh = b->meshes[b->scene->mesh_count + authored->mesh];
        }
        cairn_shape_id shape_id;
        const cairn_status added = cairn_shape_create(b->world, id, &shape, &shape_id);
        if (added != CAIRN_OK) {
            return refuse(b, added, "bodies", i, ", in one of its shapes");
        }
    }
    const cairn_status massive = set_mass(b, id, body);
    if (massive != CAIRN_OK) {
        return refuse(b, massive, "bodies", i, ", its mass");
    }
    return CAIRN_OK;
}

static cairn_status add_grid(builder *b, uint32_t i) {
    CAIRN_ASSERT(i < b->scene->body_count);
    const cairn_scene_body *body = &b->scene->bodies[i];
    const uint64_t copies = grid_size(body);
    for (uint64_t k = 0; k < copies; ++k) {
        const uint64_t x = k % body->grid_count[0];
        const uint64_t y = k / body->grid_count[0] % body->grid_count[1];
        const uint64_t z = k / body->grid_count[0] / body->grid_count[1];
        cairn_body_def def = body->def;
        def.position.x += (float)x * body->grid_spacing.x;
        def.position.y += (float)y * body->grid_spacing.y;
        def.position.z += (float)z * body->grid_spacing.z;
        const cairn_status status = add_body(b, i, &def);
        if (status != CAIRN_OK) {
            return status;
        }
    }
    return CAIRN_OK;
}

static cairn_status add_joint(builder *b, uint32_t i) {
    CAIRN_ASSERT(i < b->scene->joint_count);
    const cairn_scene_joint *joint = &b->scene->joints[i];
    if (joint->body_a >= b->id_count || joint->body_b >= b->id_count) {
        return refuse(b, CAIRN_NOT_FOUND, "joints", i, ": it names a body past the last");
    }
    cairn_joint_def def = joint->def;
    def.body_a = b->ids[joint->body_a];
    def.body_b = b->ids[joint->body_b];
    cairn_joint_id id;
    const cairn_status status = cairn_joint_create(b->world, &def, &id);
    return status == CAIRN_OK ? CAIRN_OK : refuse(b, status, "joints", i, "");
}

// A refusal has the world's reason, because the scene's check does not compute faces.
static cairn_status add_hull(builder *b, uint32_t i) {
    CAIRN_ASSERT(i < b->scene->hull_count);
    const cairn_scene_hull *hull = &b->scene->hulls[i];
    cairn_vec3 points[CAIRN_HULL_POINTS_MAX];
    for (uint32_t k = 0; k < hull->point_count && k < CAIRN_HULL_POINTS_MAX; ++k) {
        points[k] = b->scene->points[hull->first_point + k];
    }
    const cairn_status status =
        cairn_hull_create(b->world, points, hull->point_count, &b->hulls[i]);
    if (status == CAIRN_INVALID_ARGUMENT) {
        snprintf(b->error, CAIRN_SCENE_ERROR_SIZE, "hulls[%u]: %s", i,
            cairn_hull_refusal(points, hull->point_count));
        return status;
    }
    return status == CAIRN_OK ? CAIRN_OK : refuse(b, status, "hulls", i, "");
}

static cairn_status add_mesh(builder *b, uint32_t i) {
    const cairn_scene_mesh *mesh = &b->scene->meshes[i];
    const cairn_mesh_def def = {.vertices = b->scene->points + mesh->first_vertex,
        .vertex_count = mesh->vertex_count,
        .indices = b->scene->indices + mesh->first_index,
        .triangle_count = mesh->index_count / 3};
    const cairn_status status = cairn_mesh_create(b->world, &def, &b->meshes[i]);
    if (status == CAIRN_INVALID_ARGUMENT) {
        snprintf(b->error, CAIRN_SCENE_ERROR_SIZE, "meshes[%u]: %s", i, cairn_mesh_refusal(&def));
        return status;
    }
    return status == CAIRN_OK ? CAIRN_OK : refuse(b, status, "meshes", i, "");
}

static cairn_status add_height_field(builder *b, uint32_t i) {
    const cairn_scene_height_field *field = &b->scene->height_fields[i];
    CAIRN_ASSERT(field->columns > 0);
    const cairn_height_field_def def = {.heights = b->scene->heights + field->first_height,
        .columns = field->columns,
        .rows = field->height_count / field->columns,
        .spacing_x = field->spacing_x,
        .spacing_z = field->spacing_z};
    cairn_mesh_id *out = &b->meshes[b->scene->mesh_count + i];
    const cairn_status status = cairn_height_field_create(b->world, &def, out);
    if (status == CAIRN_INVALID_ARGUMENT) {
        snprintf(b->error, CAIRN_SCENE_ERROR_SIZE, "height_fields[%u]: %s", i,
            cairn_height_field_refusal(&def));
        return status;
    }
    return status == CAIRN_OK ? CAIRN_OK : refuse(b, status, "height_fields", i, "");
}

static cairn_status fill(builder *b) {
    cairn_status status = CAIRN_OK;
    for (uint32_t i = 0; status == CAIRN_OK && i < b->scene->hull_count; ++i) {
        status = add_hull(b, i);
    }
    for (uint32_t i = 0; status == CAIRN_OK && i < b->scene->mesh_count; ++i) {
        status = add_mesh(b, i);
    }
    for (uint32_t i = 0; status == CAIRN_OK && i < b->scene->height_field_count; ++i) {
        status = add_height_field(b, i);
    }
    for (uint32_t i = 0; status == CAIRN_OK && i < b->scene->body_count; ++i) {
        status = add_grid(b, i);
    }
    for (uint32_t i = 0; status == CAIRN_OK && i < b->scene->joint_count; ++i) {
        status = add_joint(b, i);
    }
    return status;
}

// Names the rules that there are, as far as the text has room.
static cairn_status refuse_rules(const char *name, char *error) {
    int size = snprintf(error, CAIRN_SCENE_ERROR_SIZE,
        "rules: no rules are named '%s'; --rules FILE loads others than", name);
    const cairn_rules *known;
    for (uint32_t i = 0; (known = cairn_rules_registered(i)) != NULL; ++i) {
        if (size + 2 + (int)strlen(known->name) < CAIRN_SCENE_ERROR_SIZE) {
            size += snprintf(error + size, CAIRN_SCENE_ERROR_SIZE - (size_t)size, "%s %s",
                i == 0 ? "" : ",", known->name);
        }
    }
    return CAIRN_NOT_FOUND;
}

static cairn_status check_scene(const cairn_scene *scene, const cairn_rules *rules, char *error) {
    const cairn_rules *named;
    if (rules == NULL && !cairn_rules_find(scene->rules, &named)) {
        return refuse_rules(scene->rules, error);
    }
    uint64_t unrolled = 0;
    for (uint32_t i = 0; i < scene->body_count; ++i) {
        unrolled += grid_size(&scene->bodies[i]);
    }
    if (unrolled > scene->world.body_capacity) {
        snprintf(error, CAIRN_SCENE_ERROR_SIZE, "body_capacity: %u is less than the scene's bodies",
            scene->world.body_capacity);
        return CAIRN_CAPACITY;
    }
    return CAIRN_OK;
}

cairn_status cairn_scene_world_create(const cairn_scene *scene, const cairn_rules *rules,
    cairn_world **out, char error[CAIRN_SCENE_ERROR_SIZE]) {
    CAIRN_ASSERT(scene != NULL && out != NULL && error != NULL);
    *out = NULL;
    error[0] = '\0';
    cairn_status status = check_scene(scene, rules, error);
    if (status != CAIRN_OK) {
        return status;
    }
    const cairn_world_def def = cairn_scene_world_def(scene, rules);
    builder b = {.scene = scene, .error = error};
    status = cairn_world_create(&def, &b.world);
    if (status != CAIRN_OK) {
        snprintf(error, CAIRN_SCENE_ERROR_SIZE, "settings: %s", cairn_status_text(status));
        return status;
    }
    b.ids = calloc((size_t)scene->world.body_capacity + 1, sizeof *b.ids);
    b.hulls = calloc((size_t)scene->hull_count + 1, sizeof *b.hulls);
    b.meshes = calloc((size_t)scene->mesh_count + scene->height_field_count + 1, sizeof *b.meshes);
    status = b.ids != NULL && b.hulls != NULL && b.meshes != NULL ? fill(&b) : CAIRN_OUT_OF_MEMORY;
    free(b.ids);
    free(b.hulls);
    free(b.meshes);
    if (status != CAIRN_OK) {
        if (error[0] == '\0') { // no part of the scene is wrong: memory is short
            snprintf(error, CAIRN_SCENE_ERROR_SIZE, "%s", cairn_status_text(status));
        }
        cairn_world_destroy(b.world);
        return status;
    }
    *out = b.world;
    return CAIRN_OK;
}
