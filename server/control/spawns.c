// SPDX-License-Identifier: MIT
// The commands of the verbs that spawn bodies: parts, shapes and the body.
#include <string.h>

#include "base/assert.h"
#include "server/control/verbs.h"
#include <cairn/math.h>

_Static_assert(CAIRN_CONTROL_TRIANGLES_MAX / 6 + CAIRN_CONTROL_POINTS_MAX / 2 + 2 <=
                   CAIRN_CONTROL_COMMANDS_MAX,
    "a mesh fits");
_Static_assert(CAIRN_CONTROL_HEIGHTS_MAX / 6 + 2 <= CAIRN_CONTROL_COMMANDS_MAX, "so do heights");

// Commands of a request, as many as it has.
typedef struct writer {
    cairn_command *commands;
    uint32_t count;
} writer;

static cairn_command *add(writer *w, uint32_t kind, uint32_t buttons, cairn_vec3 move) {
    CAIRN_ASSERT(w->count < CAIRN_CONTROL_COMMANDS_MAX);
    cairn_command *command = &w->commands[w->count++];
    *command = (cairn_command){.kind = kind, .buttons = buttons, .move = move};
    return command;
}

// Two in a command.
static void add_points(writer *w, const cairn_vec3 *points, uint32_t count) {
    for (uint32_t i = 0; i < count; i += 2) {
        const bool pair = i + 1 < count;
        cairn_command *command = add(w, CAIRN_COMMAND_HULL_POINTS, pair ? 2 : 1, points[i]);
        command->aim = pair ? points[i + 1] : cairn_vec3_zero();
    }
}

// A command of six numbers, of which `count` are used.
static void add_six(writer *w, uint32_t kind, uint32_t count, const float numbers[6]) {
    cairn_command *command = add(w, kind, count, (cairn_vec3){numbers[0], numbers[1], numbers[2]});
    command->aim = (cairn_vec3){numbers[3], numbers[4], numbers[5]};
}

// A vertex has a byte. One that does not exist becomes 255, which does not exist either, so that
// the world refuses it.
static uint32_t byte_of(uint32_t vertex) {
    return vertex < 255 ? vertex : 255;
}
_Static_assert(CAIRN_CONTROL_POINTS_MAX < 255, "255 names no vertex");

static void add_triangles(writer *w, const cairn_control_triangle *triangles, uint32_t count) {
    for (uint32_t i = 0; i < count; i += 6) {
        const uint32_t used = count - i < 6 ? count - i : 6;
        float numbers[6] = {0};
        for (uint32_t k = 0; k < used; ++k) {
            const cairn_control_triangle *t = &triangles[i + k];
            numbers[k] = (float)(byte_of(t->a) + 256 * byte_of(t->b) + 65536 * byte_of(t->c));
        }
        add_six(w, CAIRN_COMMAND_TRIANGLES, used, numbers);
    }
}

static void add_heights(writer *w, const cairn_control_height *heights, uint32_t count) {
    for (uint32_t i = 0; i < count; i += 6) {
        const uint32_t used = count - i < 6 ? count - i : 6;
        float numbers[6] = {0};
        for (uint32_t k = 0; k < used; ++k) {
            numbers[k] = heights[i + k].value;
        }
        add_six(w, CAIRN_COMMAND_HEIGHTS, used, numbers);
    }
}

// `rotation`: of the body.
static void add_shape(writer *w, uint32_t kind, cairn_vec3 size, cairn_vec3 rotation) {
    add(w, CAIRN_COMMAND_SHAPE, kind, size)->aim = rotation;
}

static uint32_t points_of_parts(const cairn_control_spawn_compound_request *spawn) {
    uint64_t points = 0;
    for (uint32_t i = 0; i < spawn->part_count; ++i) {
        points += spawn->parts[i].point_count;
    }
    return points < UINT32_MAX ? (uint32_t)points : UINT32_MAX;
}

// The last shape has the rotation of the body.
static void add_parts(writer *w, const cairn_control_spawn_compound_request *spawn) {
    const cairn_vec3 *points = spawn->points;
    if (points_of_parts(spawn) != spawn->point_count) {
        return;
    }
    for (uint32_t i = 0; i < spawn->part_count; ++i) {
        const cairn_control_part *part = &spawn->parts[i];
        const bool last = i + 1 == spawn->part_count;
        add_points(w, points, part->point_count);
        add(w, CAIRN_COMMAND_SHAPE_POSE, 0, part->position)->aim = part->rotation;
        add_shape(w, part->shape, part->size, last ? spawn->rotation : cairn_vec3_zero());
        points += part->point_count;
    }
}

uint32_t cairn_control_spawn_commands(
    const cairn_control_request *request, cairn_command out[CAIRN_CONTROL_COMMANDS_MAX]) {
    const cairn_control_spawn_mesh_request *mesh = &request->spawn_mesh;
    const cairn_control_spawn_height_field_request *field = &request->spawn_height_field;
    const cairn_control_spawn_compound_request *compound = &request->spawn_compound;
    writer w = {.commands = out};
    switch (request->verb) {
    case CAIRN_CONTROL_SPAWN_COMPOUND:
        add_parts(&w, compound);
        add(&w, CAIRN_COMMAND_SPAWN, compound->user, compound->position);
        break;
    case CAIRN_CONTROL_SPAWN_MESH:
        add_points(&w, mesh->points, mesh->point_count);
        add_triangles(&w, mesh->triangles, mesh->triangle_count);
        add_shape(&w, CAIRN_SHAPE_MESH, cairn_vec3_zero(), mesh->rotation);
        add(&w, CAIRN_COMMAND_SPAWN, mesh->user, mesh->position);
        break;
    case CAIRN_CONTROL_SPAWN_HEIGHT_FIELD:
        add_heights(&w, field->heights, field->height_count);
        add_shape(&w, CAIRN_SHAPE_HEIGHT_FIELD,
            (cairn_vec3){field->spacing_x, field->spacing_z, (float)field->columns},
            field->rotation);
        add(&w, CAIRN_COMMAND_SPAWN, field->user, field->position);
        break;
    default:
        CAIRN_ASSERT(request->verb == CAIRN_CONTROL_SPAWN);
        add_points(&w, request->spawn.points, request->spawn.point_count);
        add_shape(&w, request->spawn.shape, request->spawn.size, request->spawn.rotation);
        add(&w, CAIRN_COMMAND_SPAWN, request->spawn.user, request->spawn.position);
        break;
    }
    return w.count;
}

// ---- Why they are refused

static const char *spawn_refusal(const cairn_control_spawn_request *spawn) {
    if (spawn->shape == CAIRN_SHAPE_MESH) {
        return "spawn-mesh makes meshes; this verb makes the shapes 1 to 7";
    }
    if (spawn->shape == CAIRN_SHAPE_HEIGHT_FIELD) {
        return "spawn-height-field makes height fields; this verb makes the shapes 1 to 7";
    }
    if (spawn->shape == CAIRN_SHAPE_HULL) {
        return cairn_hull_refusal(spawn->points, spawn->point_count);
    }
    return spawn->point_count > 0 ? "only a hull has points" : NULL;
}

static const char *compound_refusal(const cairn_control_spawn_compound_request *spawn) {
    const cairn_vec3 *points = spawn->points;
    if (spawn->part_count == 0) {
        return "a compound has at least one part";
    }
    if (points_of_parts(spawn) != spawn->point_count) {
        return "the parts must name all points, and no others";
    }
    for (uint32_t i = 0; i < spawn->part_count; ++i) {
        const cairn_control_part *part = &spawn->parts[i];
        const cairn_control_spawn_request alone = {
            .shape = part->shape, .points = points, .point_count = part->point_count};
        const bool surface =
            part->shape == CAIRN_SHAPE_MESH || part->shape == CAIRN_SHAPE_HEIGHT_FIELD;
        const char *why = surface ? "parts of a compound are shapes 1 to 7" : spawn_refusal(&alone);
        if (why != NULL) {
            return why;
        }
        points += part->point_count;
    }
    return NULL;
}

static const char *mesh_refusal(const cairn_control_spawn_mesh_request *spawn) {
    uint32_t indices[3 * CAIRN_CONTROL_TRIANGLES_MAX];
    for (uint32_t i = 0; i < spawn->triangle_count; ++i) {
        indices[3 * i] = spawn->triangles[i].a;
        indices[3 * i + 1] = spawn->triangles[i].b;
        indices[3 * i + 2] = spawn->triangles[i].c;
    }
    const cairn_mesh_def def = {.vertices = spawn->points,
        .vertex_count = spawn->point_count,
        .indices = indices,
        .triangle_count = spawn->triangle_count};
    return cairn_mesh_refusal(&def);
}

static const char *height_field_refusal(const cairn_control_spawn_height_field_request *spawn) {
    float heights[CAIRN_CONTROL_HEIGHTS_MAX];
    if (spawn->columns == 0 || spawn->height_count % spawn->columns != 0) {
        return "the heights must be whole rows of columns";
    }
    for (uint32_t i = 0; i < spawn->height_count; ++i) {
        heights[i] = spawn->heights[i].value;
    }
    const cairn_height_field_def def = {.heights = heights,
        .columns = spawn->columns,
        .rows = spawn->height_count / spawn->columns,
        .spacing_x = spawn->spacing_x,
        .spacing_z = spawn->spacing_z};
    return cairn_height_field_refusal(&def);
}

const char *cairn_control_spawn_refusal(const cairn_control_request *request) {
    switch (request->verb) {
    case CAIRN_CONTROL_SPAWN:
        return spawn_refusal(&request->spawn);
    case CAIRN_CONTROL_SPAWN_COMPOUND:
        return compound_refusal(&request->spawn_compound);
    case CAIRN_CONTROL_SPAWN_MESH:
        return mesh_refusal(&request->spawn_mesh);
    case CAIRN_CONTROL_SPAWN_HEIGHT_FIELD:
        return height_field_refusal(&request->spawn_height_field);
    default:
        return NULL;
    }
}
