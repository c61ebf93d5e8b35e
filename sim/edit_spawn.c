// SPDX-License-Identifier: MIT
// Edits that make bodies: of one shape, or compounds of several.
#include "sim/edit.h"

#include "base/assert.h"
#include "sim/math/vec.h"
#include "sim/world/world.h"

static cairn_body_def body_of(const cairn_command *command) {
    cairn_body_def def = cairn_body_def_default();
    def.position = command->move;
    def.user = command->buttons;
    return def;
}

static cairn_shape_def shape_of(uint32_t kind, cairn_vec3 size) {
    cairn_shape_def def = cairn_shape_def_default();
    def.kind = kind;
    if (kind == CAIRN_SHAPE_BOX) {
        def.half_extents = size;
    } else {
        def.radius = size.x;
        def.half_height = size.y;
    }
    return def;
}

cairn_status cairn_edit_spawn_plain(
    cairn_world *world, const cairn_command *command, cairn_body_id *body) {
    const bool box = command->kind == CAIRN_COMMAND_SPAWN_BOX;
    CAIRN_ASSERT(box || command->kind == CAIRN_COMMAND_SPAWN_SPHERE);
    const cairn_body_def def = body_of(command);
    const cairn_shape_def shape =
        shape_of(box ? CAIRN_SHAPE_BOX : CAIRN_SHAPE_SPHERE, command->aim);
    cairn_shape_id id = 0;
    return cairn_body_create_compound(world, &def, &shape, 1, body, &id);
}

// A SHAPE with the parts before it.
typedef struct shape_parts {
    cairn_shape_def def;
    cairn_vec3 rotation; // of the body
    uint32_t point_count;
    uint32_t triangle_count;
    uint32_t height_count;
    cairn_vec3 points[CAIRN_EDIT_VERTICES_MAX];
    uint32_t indices[3 * CAIRN_EDIT_TRIANGLES_MAX];
    float heights[CAIRN_EDIT_HEIGHTS_MAX];
} shape_parts;

// Number `i` of the six that a part has.
static float number_of(const cairn_command *part, uint32_t i) {
    const float numbers[] = {
        part->move.x, part->move.y, part->move.z, part->aim.x, part->aim.y, part->aim.z};
    CAIRN_ASSERT(i < sizeof numbers / sizeof numbers[0]);
    return numbers[i];
}

// This function and the two below return false if the shape gets too many.
static bool add_points(shape_parts *out, const cairn_command *part) {
    if (out->point_count + part->buttons > CAIRN_EDIT_VERTICES_MAX) {
        return false;
    }
    out->points[out->point_count++] = part->move;
    if (part->buttons == 2) {
        out->points[out->point_count++] = part->aim;
    }
    return true;
}

static bool add_triangles(shape_parts *out, const cairn_command *part) {
    if (out->triangle_count + part->buttons > CAIRN_EDIT_TRIANGLES_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < part->buttons; ++i) {
        const uint32_t packed = (uint32_t)number_of(part, i);
        uint32_t *indices = &out->indices[3 * out->triangle_count++];
        indices[0] = packed & 0xffu;
        indices[1] = packed >> 8 & 0xffu;
        indices[2] = packed >> 16;
    }
    return true;
}

static bool add_heights(shape_parts *out, const cairn_command *part) {
    if (out->height_count + part->buttons > CAIRN_EDIT_HEIGHTS_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < part->buttons; ++i) {
        out->heights[out->height_count++] = number_of(part, i);
    }
    return true;
}

static bool add_part(shape_parts *out, const cairn_command *part) {
    switch (part->kind) {
    case CAIRN_COMMAND_HULL_POINTS:
        return add_points(out, part);
    case CAIRN_COMMAND_TRIANGLES:
        return add_triangles(out, part);
    case CAIRN_COMMAND_HEIGHTS:
        return add_heights(out, part);
    default:
        return false;
    }
}

// Whether the parts are those of the shape's kind. The rest is checked when a hull or a mesh is
// made of them.
static bool fits_kind(const shape_parts *parts, cairn_vec3 size) {
    const uint32_t kind = parts->def.kind;
    const uint32_t columns = (uint32_t)size.z;
    const bool of_points = kind == CAIRN_SHAPE_HULL || kind == CAIRN_SHAPE_MESH;
    const bool few = kind != CAIRN_SHAPE_HULL || parts->point_count <= CAIRN_HULL_POINTS_MAX;
    const bool rows = kind == CAIRN_SHAPE_HEIGHT_FIELD ? parts->height_count % columns == 0
                                                       : parts->height_count == 0;
    return (of_points || parts->point_count == 0) && few && rows &&
           (kind == CAIRN_SHAPE_MESH || parts->triangle_count == 0);
}

// Reads the first shape of `count` commands. Returns the number of commands that it took; 0: they
// do not describe a shape.
static uint32_t take_shape(const cairn_command *commands, uint32_t count, shape_parts *out) {
    uint32_t i = 0;
    out->point_count = 0;
    out->triangle_count = 0;
    out->height_count = 0;
    while (i < count && commands[i].kind != CAIRN_COMMAND_SHAPE &&
           commands[i].kind != CAIRN_COMMAND_SHAPE_POSE) {
        if (!add_part(out, &commands[i])) {
            return 0;
        }
        ++i;
    }
    const cairn_command *pose =
        i < count && commands[i].kind == CAIRN_COMMAND_SHAPE_POSE ? &commands[i++] : NULL;
    if (i == count || commands[i].kind != CAIRN_COMMAND_SHAPE) {
        return 0;
    }
    out->def = shape_of(commands[i].buttons, commands[i].move);
    out->rotation = commands[i].aim;
    if (pose != NULL) {
        out->def.pose = (cairn_pose){
            .position = pose->move, .rotation = cairn_quat_of_rotation_vector(pose->aim)};
    }
    return fits_kind(out, commands[i].move) ? i + 1 : 0;
}

// Makes the hull or the mesh of a shape; *made: a new one, which no other shape uses.
static cairn_status make_surface(
    cairn_world *world, shape_parts *parts, cairn_vec3 size, bool *made) {
    const uint32_t hulls = cairn_world_hulls(world, NULL, 0);
    cairn_status status = CAIRN_OK;
    *made = false;
    if (parts->def.kind == CAIRN_SHAPE_HULL) {
        status = cairn_hull_share(world, parts->points, parts->point_count, &parts->def.hull);
        *made = status == CAIRN_OK && cairn_world_hulls(world, NULL, 0) > hulls;
    } else if (parts->def.kind == CAIRN_SHAPE_MESH) {
        const cairn_mesh_def def = {.vertices = parts->points,
            .vertex_count = parts->point_count,
            .indices = parts->indices,
            .triangle_count = parts->triangle_count};
        status = cairn_mesh_create(world, &def, &parts->def.mesh);
        *made = status == CAIRN_OK;
    } else if (parts->def.kind == CAIRN_SHAPE_HEIGHT_FIELD) {
        const uint32_t columns = (uint32_t)size.z;
        const cairn_height_field_def def = {.heights = parts->heights,
            .columns = columns,
            .rows = parts->height_count / columns,
            .spacing_x = size.x,
            .spacing_z = size.y};
        status = cairn_height_field_create(world, &def, &parts->def.mesh);
        *made = status == CAIRN_OK;
    }
    return status;
}

static void destroy_surface(cairn_world *world, const cairn_shape_def *shape) {
    if (shape->kind == CAIRN_SHAPE_HULL) {
        (void)cairn_hull_destroy(world, shape->hull);
    } else {
        (void)cairn_mesh_destroy(world, shape->mesh);
    }
}

// Whether the commands before a SPAWN are shapes, and how many.
static bool count_shapes(const cairn_command *commands, uint32_t count, uint32_t *shapes) {
    shape_parts parts;
    uint32_t taken = 0;
    *shapes = 0;
    for (uint32_t i = 0; i < count; i += taken) {
        taken = take_shape(&commands[i], count - i, &parts);
        const bool last = i + taken == count;
        const bool turned = !last && vec3_length_squared(parts.rotation) != 0.0f;
        *shapes += 1;
        if (taken == 0 || turned || *shapes > CAIRN_EDIT_SHAPES_MAX) {
            return false;
        }
    }
    return *shapes > 0;
}

static bool is_surface(uint32_t kind) {
    return kind == CAIRN_SHAPE_HALF_SPACE || kind == CAIRN_SHAPE_MESH ||
           kind == CAIRN_SHAPE_HEIGHT_FIELD;
}

cairn_status cairn_edit_spawn(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_body_id *body) {
    CAIRN_ASSERT(count > 0 && commands[count - 1].kind == CAIRN_COMMAND_SPAWN);
    cairn_shape_def shapes[CAIRN_EDIT_SHAPES_MAX];
    cairn_shape_id ids[CAIRN_EDIT_SHAPES_MAX];
    bool made[CAIRN_EDIT_SHAPES_MAX];
    uint32_t shape_count = 0;
    cairn_body_def def = body_of(&commands[count - 1]);
    if (!count_shapes(commands, count - 1, &shape_count)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    // Hulls and meshes are made only for a body that will be made.
    cairn_status status = cairn_compound_check_room(world, shape_count);
    uint32_t i = 0;
    uint32_t done = 0;
    while (status == CAIRN_OK && done < shape_count) {
        shape_parts parts;
        i += take_shape(&commands[i], count - 1 - i, &parts);
        status = make_surface(world, &parts, commands[i - 1].move, &made[done]);
        def.kind = is_surface(parts.def.kind) ? CAIRN_BODY_STATIC : def.kind;
        def.rotation = cairn_quat_of_rotation_vector(parts.rotation);
        shapes[done] = parts.def;
        done += status == CAIRN_OK ? 1 : 0;
    }
    if (status == CAIRN_OK) {
        status = cairn_body_create_compound(world, &def, shapes, shape_count, body, ids);
    }
    for (uint32_t k = done; status != CAIRN_OK && k > 0; --k) {
        if (made[k - 1]) {
            destroy_surface(world, &shapes[k - 1]);
        }
    }
    return status;
}
