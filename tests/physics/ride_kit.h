// SPDX-License-Identifier: MIT
#pragma once

// Bodies that roll and slide over a surface that is a plane, and must move as they do over a
// half-space.

#include "tests/physics/mesh_kit.h"

typedef enum figure { BALL, ROLLER, WHEEL, SLEDGE, CUBE, SLAB, DRUM, PRISM, FIGURES } figure;
static const char *const figure_names[] = {"ball", "rolling capsule", "wheel", "sliding capsule",
    "cube", "slab", "standing cylinder", "hull"};

typedef struct ride {
    figure figure;
    float speed; // m/s
    float friction;
    float heading; // rad, of the motion, against the axes of the grid
} ride;

typedef struct outcome {
    float rise; // m, the most that the body went up after half a second
    float sink;
    float speed; // m/s
    float way;   // m
    float aside; // m, from its line
} outcome;

static inline cairn_quat about_y(float angle) {
    return (cairn_quat){.y = sinf(0.5f * angle), .w = cosf(0.5f * angle)};
}

// Each rests 0.25 m below its centre; a roller lies across the motion, a sledge along it.
static inline cairn_shape_def ride_shape(cairn_world *world, figure f, cairn_quat *rotation) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.radius = 0.25f;
    shape.half_height = 0.4f;
    *rotation = quat_identity();
    switch (f) {
    case BALL:
        shape.kind = CAIRN_SHAPE_SPHERE;
        break;
    case ROLLER:
        shape.kind = CAIRN_SHAPE_CAPSULE;
        *rotation = (cairn_quat){.x = 0.70710678f, .w = 0.70710678f};
        break;
    case WHEEL:
        shape.kind = CAIRN_SHAPE_CYLINDER;
        shape.half_height = 0.15f;
        *rotation = (cairn_quat){.x = 0.70710678f, .w = 0.70710678f};
        break;
    case DRUM:
        shape.kind = CAIRN_SHAPE_CYLINDER;
        shape.radius = 0.5f;
        shape.half_height = 0.25f;
        break;
    case SLEDGE:
        shape.kind = CAIRN_SHAPE_CAPSULE;
        *rotation = (cairn_quat){.z = 0.70710678f, .w = 0.70710678f};
        break;
    case CUBE:
        shape.half_extents = vec3(0.25f, 0.25f, 0.25f);
        break;
    case SLAB:
        shape.half_extents = vec3(0.6f, 0.25f, 0.45f);
        break;
    default: { // a prism of six sides
        cairn_vec3 points[12];
        for (uint32_t i = 0; i < 12; ++i) {
            const float angle = 1.0471976f * (float)(i / 2);
            points[i] = vec3(0.5f * cosf(angle), i % 2 == 0 ? 0.25f : -0.25f, 0.5f * sinf(angle));
        }
        shape.kind = CAIRN_SHAPE_HULL;
        EXPECT_OK(cairn_hull_create(world, points, 12, &shape.hull));
        break;
    }
    }
    return shape;
}

// Adds a body with the surface.
typedef void surface_builder(cairn_world *world);

// Two seconds over the half-space (NULL) or over the surface.
static inline outcome play(const ride *r, surface_builder *build) {
    const cairn_world_def def = mesh_world_def();
    SCOPED(cairn_world) *world = kit_world(&def);
    if (build != NULL) {
        build(world);
    } else {
        kit_ground(world);
    }
    cairn_body_def body = cairn_body_def_default();
    cairn_shape_def shape = ride_shape(world, r->figure, &body.rotation);
    const cairn_quat turn = about_y(r->heading);
    const cairn_vec3 along = quat_rotate(turn, vec3(1.0f, 0.0f, 0.0f));
    const cairn_vec3 across = quat_rotate(turn, vec3(0.0f, 0.0f, 1.0f));
    const cairn_vec3 start = vec3_add(vec3_scale(along, -6.0f), vec3(0.07f, 0.25f, 0.04f));
    shape.friction = r->friction;
    body.position = start;
    body.rotation = quat_multiply(turn, body.rotation);
    body.linear_velocity = vec3_scale(along, r->speed);
    if (r->friction > 0.0f && (r->figure == BALL || r->figure == ROLLER || r->figure == WHEEL)) {
        body.angular_velocity = vec3_scale(across, -r->speed / shape.radius);
    }
    const cairn_body_id id = kit_body(world, &body, &shape);
    outcome out = {.rise = 0.0f};
    float settled = 0.0f;
    for (uint32_t tick = 0; tick < 120; ++tick) {
        cairn_world_step(world, NULL, 0);
        const cairn_body_state state = kit_read(world, id);
        const cairn_vec3 moved = vec3_sub(state.position, start);
        settled = tick == 30 ? state.position.y : settled;
        if (tick >= 30) {
            out.rise = fmaxf(out.rise, state.position.y - settled);
            out.sink = fmaxf(out.sink, settled - state.position.y);
        }
        out.aside = fmaxf(out.aside, fabsf(vec3_dot(moved, across)));
        out.speed = vec3_dot(state.linear_velocity, along);
        out.way = vec3_dot(moved, along);
    }
    return out;
}

// Moves over the surface and over the half-space, and compares.
static inline void expect_like_a_plane(const ride *r, surface_builder *build) {
    const outcome plane = play(r, NULL);
    const outcome mesh = play(r, build);
    // Four of a prism's six corners are chosen, on each surface in its own way, and friction at
    // them turns it a little.
    const float aside = r->figure == PRISM || r->figure == DRUM ? 1e-2f : 1e-3f;
    const bool ok = mesh.rise < 1e-4f && mesh.sink < 1e-4f && mesh.aside < aside * plane.way &&
                    fabsf(mesh.speed - plane.speed) < 1e-3f * r->speed &&
                    fabsf(mesh.way - plane.way) < 1e-3f * r->speed;
    if (!ok) {
        fail_msg("%s at %g m/s, friction %g, heading %g: rises %g mm, sinks %g mm, %g mm aside, "
                 "%g m/s and %g m where the plane has %g and %g, %g mm aside",
            figure_names[r->figure], (double)r->speed, (double)r->friction, (double)r->heading,
            1e3 * (double)mesh.rise, 1e3 * (double)mesh.sink, 1e3 * (double)mesh.aside,
            (double)mesh.speed, (double)mesh.way, (double)plane.speed, (double)plane.way,
            1e3 * (double)plane.aside);
    }
}

static inline void ride_all(surface_builder *build) {
    static const float headings[] = {0.0f, 0.31f, 0.78539816f};
    for (figure f = 0; f < FIGURES; ++f) {
        for (uint32_t i = 0; i < 6; ++i) {
            const bool rolls = f == BALL || f == ROLLER || f == WHEEL;
            const ride r = {.figure = f,
                .speed = i % 2 == 0 ? 1.0f : 6.0f,
                .friction = i < 3   ? 0.0f
                            : rolls ? 0.5f
                                    : 0.02f,
                .heading = headings[i % 3]};
            expect_like_a_plane(&r, build);
        }
    }
}
