// SPDX-License-Identifier: MIT

// The picture of cairn/debug_draw.h. Every kind of shape becomes lines and triangles of its frame;
// round ones are turned profiles. A brush carries them to the world.

#include <cairn/debug_draw.h>

#include <stdlib.h>

#include "base/assert.h"
#include "sim/body/shape.h"
#include "sim/math/vec.h"
#include "sim/shape/hull.h"
#include "sim/shape/mesh.h"
#include "sim/state/slots.h"
#include "sim/state/world.h"

enum { SIDES = 16, PROFILE_MAX = 9, GRID = 10 };

#define GRID_SPACING 1.0f  // m, of the grid that stands for a half-space
#define CROSS_SIZE 0.02f   // m
#define FORCE_LENGTH 0.01f // m for each N
#define AXIS_LENGTH 0.25f  // m
#define TURN 6.28318531f   // rad

typedef struct brush {
    const cairn_debug_draw *draw;
    cairn_pose pose;
    uint32_t colour;
    cairn_body_id body;
    bool outlines;
    bool surfaces;
} brush;

static void draw_line(const brush *b, cairn_vec3 from, cairn_vec3 to) {
    if (b->draw->line != NULL) {
        const cairn_debug_line line = {.from = pose_apply(b->pose, from),
            .to = pose_apply(b->pose, to),
            .colour = b->colour,
            .body = b->body};
        b->draw->line(b->draw->context, &line);
    }
}

static void draw_triangle(const brush *b, cairn_vec3 p, cairn_vec3 q, cairn_vec3 r) {
    if (b->draw->triangle != NULL && b->surfaces) {
        const cairn_debug_triangle triangle = {
            .corners = {pose_apply(b->pose, p), pose_apply(b->pose, q), pose_apply(b->pose, r)},
            .colour = b->colour,
            .body = b->body};
        b->draw->triangle(b->draw->context, &triangle);
    }
}

static void draw_edge(const brush *b, cairn_vec3 from, cairn_vec3 to) {
    if (b->outlines) {
        draw_line(b, from, to);
    }
}

// ---- shapes

// A profile (x: distance from the y axis, y: height) from the bottom to the top, turned about y.
typedef struct profile {
    uint32_t count;
    cairn_vec3 points[PROFILE_MAX];
} profile;

static cairn_vec3 turned(cairn_vec3 point, uint32_t side) {
    const float angle = TURN * (float)(side % SIDES) / (float)SIDES;
    return vec3(point.x * cairn_float_cos(angle), point.y, point.x * cairn_float_sin(angle));
}

static void draw_turned(const brush *b, const profile *p) {
    CAIRN_ASSERT(p->count <= PROFILE_MAX);
    for (uint32_t i = 0; i < p->count; ++i) {
        for (uint32_t side = 0; side < SIDES; ++side) {
            const cairn_vec3 here = turned(p->points[i], side);
            const cairn_vec3 beside = turned(p->points[i], side + 1);
            if (p->points[i].x > 0.0f) {
                draw_edge(b, here, beside);
            }
            if (i + 1 == p->count) {
                continue;
            }
            const cairn_vec3 above = turned(p->points[i + 1], side);
            if (side % (SIDES / 4) == 0) {
                draw_edge(b, here, above);
            }
            if (p->points[i].x > 0.0f) {
                draw_triangle(b, here, above, beside);
            }
            if (p->points[i + 1].x > 0.0f) {
                draw_triangle(b, beside, above, turned(p->points[i + 1], side + 1));
            }
        }
    }
}

static void add_point(profile *p, float radius, float height) {
    CAIRN_ASSERT(p->count < PROFILE_MAX);
    p->points[p->count++] = vec3(radius, height, 0.0f);
}

// Spheres and capsules: quarter circles below and above the part between them.
static profile round_profile(float radius, float half_height) {
    profile p = {0};
    for (uint32_t i = 0; i <= 8; ++i) {
        const float angle = 0.5f * TURN * ((float)i / 8.0f - 0.5f);
        const bool pole = i == 0 || i == 8;
        const float height = radius * cairn_float_sin(angle) + (i < 4 ? -half_height : half_height);
        add_point(&p, pole ? 0.0f : radius * cairn_float_cos(angle), height);
    }
    if (half_height > 0.0f) { // the equator is that of the lower half; the upper one has its ring
        p.points[4].y = -half_height;
        p.points[5] = vec3(radius, half_height, 0.0f);
    }
    return p;
}

static profile flat_profile(const cairn_geometry *g) {
    profile p = {0};
    add_point(&p, 0.0f, -g->half_height);
    add_point(&p, g->radius, -g->half_height);
    if (g->kind == CAIRN_SHAPE_CYLINDER) {
        add_point(&p, g->radius, g->half_height);
    }
    add_point(&p, 0.0f, g->half_height);
    return p;
}

static cairn_vec3 box_corner(cairn_vec3 lower, cairn_vec3 upper, uint32_t i) {
    return vec3((i & 1) != 0 ? upper.x : lower.x, (i & 2) != 0 ? upper.y : lower.y,
        (i & 4) != 0 ? upper.z : lower.z);
}

static void draw_box_edges(const brush *b, cairn_vec3 lower, cairn_vec3 upper) {
    for (uint32_t i = 0; i < 8; ++i) {
        for (uint32_t axis = 1; axis < 8; axis <<= 1) {
            if ((i & axis) == 0) {
                draw_line(b, box_corner(lower, upper, i), box_corner(lower, upper, i | axis));
            }
        }
    }
}

static void draw_box(const brush *b, cairn_vec3 half) {
    static const uint8_t faces[6][4] = {
        {0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    const cairn_vec3 lower = vec3_negate(half);
    if (b->outlines) {
        draw_box_edges(b, lower, half);
    }
    for (uint32_t i = 0; i < 6; ++i) {
        const uint8_t *f = faces[i];
        const cairn_vec3 first = box_corner(lower, half, f[0]);
        const cairn_vec3 third = box_corner(lower, half, f[2]);
        draw_triangle(b, first, box_corner(lower, half, f[1]), third);
        draw_triangle(b, first, third, box_corner(lower, half, f[3]));
    }
}

static void draw_half_space(const brush *b) {
    const float end = GRID * GRID_SPACING;
    for (int i = -GRID; i <= GRID; ++i) {
        const float at = (float)i * GRID_SPACING;
        draw_edge(b, vec3(at, 0.0f, -end), vec3(at, 0.0f, end));
        draw_edge(b, vec3(-end, 0.0f, at), vec3(end, 0.0f, at));
    }
    draw_triangle(b, vec3(-end, 0.0f, -end), vec3(-end, 0.0f, end), vec3(end, 0.0f, end));
    draw_triangle(b, vec3(-end, 0.0f, -end), vec3(end, 0.0f, end), vec3(end, 0.0f, -end));
}

static void draw_hull(const brush *b, const cairn_hull *hull) {
    for (uint32_t i = 0; i < hull->edge_count; ++i) {
        draw_edge(b, hull->vertices[hull->edges[i].from], hull->vertices[hull->edges[i].to]);
    }
    for (uint32_t face = 0; face < hull->face_count; ++face) {
        const uint32_t first = hull->face_first[face];
        for (uint32_t i = first + 1; i + 1 < hull->face_first[face + 1]; ++i) {
            draw_triangle(b, hull->vertices[hull->corners[first]], hull->vertices[hull->corners[i]],
                hull->vertices[hull->corners[i + 1]]);
        }
    }
}

static void draw_mesh(const brush *b, const cairn_mesh *mesh) {
    for (uint32_t i = 0; i < mesh->triangle_count; ++i) {
        cairn_triangle triangle;
        if (cairn_mesh_triangle(mesh, i, &triangle)) {
            const cairn_vec3 *c = triangle.corners;
            draw_edge(b, c[0], c[1]);
            draw_edge(b, c[1], c[2]);
            draw_edge(b, c[2], c[0]);
            draw_triangle(b, c[0], c[1], c[2]);
        }
    }
}

static void draw_geometry(const brush *b, const cairn_shape_view *view) {
    const cairn_geometry *g = view->geometry;
    profile p = {0};
    switch (g->kind) {
    case CAIRN_SHAPE_SPHERE:
        p = round_profile(g->radius, 0.0f);
        break;
    case CAIRN_SHAPE_CAPSULE:
        p = round_profile(g->radius, g->half_height);
        break;
    case CAIRN_SHAPE_CYLINDER:
    case CAIRN_SHAPE_CONE:
        p = flat_profile(g);
        break;
    case CAIRN_SHAPE_BOX:
        draw_box(b, g->half_extents);
        return;
    case CAIRN_SHAPE_HULL:
        draw_hull(b, view->hull);
        return;
    case CAIRN_SHAPE_HALF_SPACE:
        draw_half_space(b);
        return;
    default:
        draw_mesh(b, view->mesh);
        return;
    }
    draw_turned(b, &p);
}

// ---- colours

static uint32_t colour_of_state(const cairn_body_state *body, uint32_t shape_flags) {
    if ((shape_flags & CAIRN_SHAPE_SENSOR) != 0) {
        return CAIRN_DEBUG_COLOUR_SENSOR;
    }
    if (body->enabled == 0) {
        return CAIRN_DEBUG_COLOUR_DISABLED;
    }
    if (body->kind != CAIRN_BODY_DYNAMIC) {
        return body->kind == CAIRN_BODY_STATIC ? CAIRN_DEBUG_COLOUR_STATIC
                                               : CAIRN_DEBUG_COLOUR_KINEMATIC;
    }
    return body->awake != 0 ? CAIRN_DEBUG_COLOUR_AWAKE : CAIRN_DEBUG_COLOUR_ASLEEP;
}

static uint32_t find_root(uint32_t *root, uint32_t slot) {
    while (root[slot] != slot) {
        root[slot] = root[root[slot]];
        slot = root[slot];
    }
    return slot;
}

static bool joins_islands(const cairn_world *world, cairn_body_id body) {
    cairn_body_state state;
    return cairn_body_read(world, body, &state) == CAIRN_OK && state.kind == CAIRN_BODY_DYNAMIC &&
           state.enabled != 0;
}

static void unite(const cairn_world *world, uint32_t *root, cairn_body_id a, cairn_body_id b) {
    if (joins_islands(world, a) && joins_islands(world, b)) {
        const uint32_t first = find_root(root, cairn_id_index(a));
        const uint32_t second = find_root(root, cairn_id_index(b));
        root[first > second ? first : second] = first > second ? second : first;
    }
}

// By body slot, the lowest slot of its island; to be freed. NULL: not asked for, or no memory.
static uint32_t *islands_of(const cairn_world *world, uint32_t parts) {
    const cairn_settings *settings = world->state.settings;
    uint32_t *root = (parts & CAIRN_DEBUG_ISLANDS) != 0
                         ? malloc(sizeof *root * (world->def.body_capacity + (size_t)1))
                         : NULL;
    if (root == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i <= world->def.body_capacity; ++i) {
        root[i] = i;
    }
    for (uint32_t i = 0; i < settings->contact_count; ++i) {
        const cairn_contact *contact = &world->state.contacts[i];
        if (!contact_is_sensor(contact)) {
            unite(world, root, contact->body_a, contact->body_b);
        }
    }
    for (uint32_t slot = 0; slot < settings->joint_slots; ++slot) {
        const cairn_joint_id id = cairn_slot_id(world->state.joint_ids, slot);
        cairn_joint_def joint;
        if (id != CAIRN_ID_NULL && cairn_joint_read(world, id, &joint) == CAIRN_OK) {
            unite(world, root, joint.body_a, joint.body_b);
        }
    }
    return root;
}

// Bright, and different for neighbouring numbers.
static uint32_t colour_of_island(uint32_t root) {
    const uint32_t mixed = (root + 1) * 2654435761u;
    return 0x404040u | (mixed >> 8);
}

// ---- the parts

static void draw_shape(
    const cairn_world *world, const cairn_debug_draw *draw, uint32_t slot, uint32_t *root) {
    const cairn_shape_id id = cairn_slot_id(world->state.shape_ids, slot);
    cairn_shape_def def;
    cairn_body_state body;
    brush b = {.draw = draw};
    if (id == CAIRN_ID_NULL || cairn_shape_read(world, id, &def, &b.body) != CAIRN_OK ||
        cairn_body_read(world, b.body, &body) != CAIRN_OK) {
        return;
    }
    const cairn_pose pose = {.position = body.position, .rotation = body.rotation};
    const cairn_shape_view view = cairn_shape_view_at(world, slot);
    const bool coloured = root != NULL && body.kind == CAIRN_BODY_DYNAMIC && body.awake != 0;
    b.pose = pose_multiply(pose, def.pose);
    b.colour = coloured ? colour_of_island(find_root(root, cairn_id_index(b.body)))
                        : colour_of_state(&body, def.flags);
    b.outlines = (draw->parts & CAIRN_DEBUG_SHAPES) != 0;
    b.surfaces = (draw->parts & CAIRN_DEBUG_SURFACES) != 0;
    if (b.outlines || b.surfaces) {
        draw_geometry(&b, &view);
    }
    if ((draw->parts & CAIRN_DEBUG_BOXES) != 0 && def.kind != CAIRN_SHAPE_HALF_SPACE) {
        const cairn_aabb box = cairn_shape_view_aabb(&view, &b.pose);
        b.pose = pose_identity();
        b.colour = CAIRN_DEBUG_COLOUR_BOX;
        draw_box_edges(&b, box.lower, box.upper);
    }
}

static float length_of(float force) {
    return float_clamp(FORCE_LENGTH * force, 0.05f, 1.0f);
}

static void draw_contact(const cairn_debug_draw *draw, const cairn_contact_data *contact) {
    const brush b = {.draw = draw,
        .pose = pose_identity(),
        .colour = CAIRN_DEBUG_COLOUR_CONTACT,
        .body = contact->body_a};
    for (uint32_t i = 0; i < contact->point_count; ++i) {
        const cairn_vec3 at = contact->points[i].position;
        for (uint32_t axis = 0; axis < 3; ++axis) {
            const cairn_vec3 half = vec3_along_axis(axis, CROSS_SIZE);
            draw_line(&b, vec3_sub(at, half), vec3_add(at, half));
        }
        const float length = length_of(contact->points[i].normal_force);
        draw_line(&b, at, vec3_add_scaled(at, contact->normal, length));
    }
}

// Without memory for the list there are none.
static void draw_contacts(const cairn_world *world, const cairn_debug_draw *draw) {
    const uint32_t capacity = world->state.settings->contact_count;
    cairn_contact_data *contacts = malloc(sizeof *contacts * (capacity + (size_t)1));
    if (contacts != NULL) {
        const uint32_t count = cairn_world_contacts(world, contacts, capacity);
        for (uint32_t i = 0; i < count; ++i) {
            draw_contact(draw, &contacts[i]);
        }
        free(contacts);
    }
}

static void draw_joint_side(
    const cairn_world *world, brush *b, cairn_body_id body, cairn_vec3 anchor, cairn_vec3 axis) {
    cairn_body_state state;
    cairn_mass_properties mass;
    if (cairn_body_read(world, body, &state) == CAIRN_OK &&
        cairn_body_read_mass(world, body, &mass) == CAIRN_OK) {
        b->pose = (cairn_pose){.position = state.position, .rotation = state.rotation};
        draw_line(b, mass.centre, anchor);
        if (vec3_length_squared(axis) > 0.0f) {
            draw_line(b, anchor, vec3_add_scaled(anchor, axis, AXIS_LENGTH));
        }
    }
}

static void draw_joints(const cairn_world *world, const cairn_debug_draw *draw) {
    for (uint32_t slot = 0; slot < world->state.settings->joint_slots; ++slot) {
        const cairn_joint_id id = cairn_slot_id(world->state.joint_ids, slot);
        cairn_joint_def joint;
        if (id != CAIRN_ID_NULL && cairn_joint_read(world, id, &joint) == CAIRN_OK) {
            brush b = {.draw = draw, .colour = CAIRN_DEBUG_COLOUR_JOINT, .body = joint.body_a};
            draw_joint_side(world, &b, joint.body_a, joint.anchor_a, joint.axis_a);
            draw_joint_side(world, &b, joint.body_b, joint.anchor_b, joint.axis_b);
        }
    }
}

static void draw_reaction(const brush *b, cairn_vec3 from, cairn_vec3 along) {
    const float size = vec3_length(along);
    if (size > 0.0f) {
        draw_line(b, from, vec3_add_scaled(from, along, length_of(size) / size));
    }
}

static void draw_reactions(const cairn_world *world, const cairn_debug_draw *draw) {
    for (uint32_t slot = 0; slot < world->state.settings->joint_slots; ++slot) {
        const cairn_joint_id id = cairn_slot_id(world->state.joint_ids, slot);
        cairn_joint_def joint;
        cairn_joint_reaction reaction;
        cairn_body_state state;
        if (id == CAIRN_ID_NULL || cairn_joint_read(world, id, &joint) != CAIRN_OK ||
            cairn_joint_reaction_read(world, id, &reaction) != CAIRN_OK ||
            cairn_body_read(world, joint.body_b, &state) != CAIRN_OK) {
            continue;
        }
        const cairn_pose pose = {.position = state.position, .rotation = state.rotation};
        const cairn_vec3 anchor = pose_apply(pose, joint.anchor_b);
        brush b = {.draw = draw, .pose = pose_identity(), .body = joint.body_a};
        b.colour = CAIRN_DEBUG_COLOUR_FORCE;
        draw_reaction(&b, anchor, reaction.force);
        b.colour = CAIRN_DEBUG_COLOUR_TORQUE;
        draw_reaction(&b, anchor, reaction.torque);
    }
}

static void draw_frames(const cairn_world *world, const cairn_debug_draw *draw) {
    for (uint32_t slot = 0; slot < world->state.settings->body_slots; ++slot) {
        brush b = {.draw = draw, .body = cairn_slot_id(world->state.body_ids, slot)};
        cairn_body_state state;
        cairn_mass_properties mass;
        if (b.body == CAIRN_ID_NULL || cairn_body_read(world, b.body, &state) != CAIRN_OK ||
            cairn_body_read_mass(world, b.body, &mass) != CAIRN_OK) {
            continue;
        }
        b.pose = (cairn_pose){.position = state.position, .rotation = state.rotation};
        for (uint32_t axis = 0; axis < 3; ++axis) {
            const cairn_vec3 along = vec3_along_axis(axis, AXIS_LENGTH);
            b.colour = 0xff0000u >> (8 * axis);
            draw_line(&b, mass.centre, vec3_add(mass.centre, along));
        }
    }
}

void cairn_world_debug_draw(const cairn_world *world, const cairn_debug_draw *draw) {
    CAIRN_ASSERT(world != NULL && draw != NULL);
    const uint32_t of_shapes = CAIRN_DEBUG_SHAPES | CAIRN_DEBUG_SURFACES | CAIRN_DEBUG_BOXES;
    if ((draw->parts & of_shapes) != 0) {
        uint32_t *root = islands_of(world, draw->parts);
        for (uint32_t slot = 0; slot < world->state.settings->shape_slots; ++slot) {
            draw_shape(world, draw, slot, root);
        }
        free(root);
    }
    if ((draw->parts & CAIRN_DEBUG_CONTACTS) != 0) {
        draw_contacts(world, draw);
    }
    if ((draw->parts & CAIRN_DEBUG_JOINTS) != 0) {
        draw_joints(world, draw);
    }
    if ((draw->parts & CAIRN_DEBUG_REACTIONS) != 0) {
        draw_reactions(world, draw);
    }
    if ((draw->parts & CAIRN_DEBUG_FRAMES) != 0) {
        draw_frames(world, draw);
    }
}

// ---- arrays

typedef struct collector {
    cairn_debug_line *lines;
    cairn_debug_triangle *triangles;
    uint32_t capacity;
    uint32_t count;
} collector;

static void take_line(void *context, const cairn_debug_line *line) {
    collector *to = context;
    if (to->count < to->capacity) {
        to->lines[to->count] = *line;
    }
    to->count += 1;
}

static void take_triangle(void *context, const cairn_debug_triangle *triangle) {
    collector *to = context;
    if (to->count < to->capacity) {
        to->triangles[to->count] = *triangle;
    }
    to->count += 1;
}

uint32_t cairn_world_debug_lines(
    const cairn_world *world, uint32_t parts, cairn_debug_line *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    collector to = {.lines = out, .capacity = capacity};
    const cairn_debug_draw draw = {
        .parts = parts & ~(uint32_t)CAIRN_DEBUG_SURFACES, .context = &to, .line = take_line};
    cairn_world_debug_draw(world, &draw);
    return to.count;
}

uint32_t cairn_world_debug_triangles(
    const cairn_world *world, uint32_t parts, cairn_debug_triangle *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    collector to = {.triangles = out, .capacity = capacity};
    const cairn_debug_draw draw = {.parts = parts & (CAIRN_DEBUG_SURFACES | CAIRN_DEBUG_ISLANDS),
        .context = &to,
        .triangle = take_triangle};
    cairn_world_debug_draw(world, &draw);
    return to.count;
}
