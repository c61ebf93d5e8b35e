// SPDX-License-Identifier: MIT
#pragma once

// Piles of boxes, each of which may be a box or the hull of its corners, and what becomes of them.

#include "tests/sim/world_kit.h"

#include <math.h>

enum { PILE_BODIES_MAX = 200, PILE_TICK_RATE = 60 };

// What the bodies of a pile are made of.
typedef enum pile_kind { PILE_OF_BOXES, PILE_OF_HULLS, PILE_OF_BOTH, PILE_KINDS } pile_kind;
static const char *const pile_kind_names[PILE_KINDS] = {"boxes", "hulls", "boxes and hulls"};

typedef struct pile {
    cairn_world *world;
    pile_kind kind;
    float friction;
    uint32_t count;
    cairn_body_id bodies[PILE_BODIES_MAX];
    cairn_vec3 starts[PILE_BODIES_MAX];
} pile;

static inline cairn_shape_def pile_hull(cairn_world *world, const cairn_vec3 corners[8]) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_HULL;
    EXPECT_OK(cairn_hull_create(world, corners, 8, &shape.hull));
    return shape;
}

// On a floor whose upper face is at y = 0.
static inline pile pile_create_in(cairn_world *world, pile_kind kind) {
    pile p = {.world = world, .kind = kind, .friction = 0.5f};
    cairn_body_def floor = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    floor.kind = CAIRN_BODY_STATIC;
    floor.position.y = -1.0f;
    shape.half_extents = vec3(50, 1, 50);
    (void)kit_body(p.world, &floor, &shape);
    return p;
}

static inline pile pile_create(pile_kind kind) {
    cairn_world_def def = cairn_world_def_default();
    def.hull_capacity = PILE_BODIES_MAX;
    return pile_create_in(kit_world(&def), kind);
}

static inline void pile_destroy(pile *p) {
    cairn_world_destroy(p->world);
    p->world = NULL;
}
SCOPE_ENDS(pile, pile_destroy)

static inline void pile_add_shape(
    pile *p, cairn_shape_def shape, cairn_vec3 position, cairn_quat rotation) {
    cairn_body_def body = cairn_body_def_default();
    assert_true(p->count < PILE_BODIES_MAX);
    body.position = position;
    body.rotation = quat_normalize(rotation);
    shape.friction = p->friction;
    p->starts[p->count] = position;
    p->bodies[p->count] = kit_body(p->world, &body, &shape);
    p->count += 1;
}

// A box of this length, height and width along x, y and z before the rotation.
static inline void pile_add(pile *p, cairn_vec3 size, cairn_vec3 position, cairn_quat rotation) {
    const cairn_vec3 half = vec3_scale(size, 0.5f);
    cairn_shape_def shape = cairn_shape_def_default();
    shape.half_extents = half;
    if (p->kind == PILE_OF_HULLS || (p->kind == PILE_OF_BOTH && p->count % 2 == 1)) {
        cairn_vec3 corners[8];
        for (uint32_t i = 0; i < 8; ++i) {
            corners[i] = vec3((i & 1) != 0 ? half.x : -half.x, (i & 2) != 0 ? half.y : -half.y,
                (i & 4) != 0 ? half.z : -half.z);
        }
        shape = pile_hull(p->world, corners);
    }
    pile_add_shape(p, shape, position, rotation);
}

static inline cairn_quat pile_turn(cairn_vec3 axis, float angle) {
    const float sine = sinf(0.5f * angle);
    return (cairn_quat){
        .x = axis.x * sine, .y = axis.y * sine, .z = axis.z * sine, .w = cosf(0.5f * angle)};
}

static inline cairn_quat pile_yaw(float angle) {
    return pile_turn(vec3(0, 1, 0), angle);
}

// Steps until all bodies sleep, at most `seconds`. Returns after how many seconds they slept; twice
// `seconds` if they did not.
static inline float pile_run(pile *p, float seconds) {
    const uint32_t ticks = (uint32_t)(seconds * PILE_TICK_RATE);
    for (uint32_t tick = 1; tick <= ticks; ++tick) {
        bool awake = false;
        kit_run(p->world, 1);
        for (uint32_t i = 0; i < p->count && !awake; ++i) {
            awake = kit_read(p->world, p->bodies[i]).awake != 0;
        }
        if (!awake) {
            return (float)tick / PILE_TICK_RATE;
        }
    }
    return 2.0f * seconds;
}

// How far the last body that was added is below where it was, m.
static inline float pile_sink(const pile *p) {
    const uint32_t last = p->count - 1;
    return p->starts[last].y - kit_read(p->world, p->bodies[last]).position.y;
}

// How far a body has moved sideways, at most, m.
static inline float pile_drift(const pile *p) {
    float most = 0.0f;
    for (uint32_t i = 0; i < p->count; ++i) {
        cairn_vec3 moved = vec3_sub(kit_read(p->world, p->bodies[i]).position, p->starts[i]);
        moved.y = 0.0f;
        most = float_max(most, vec3_length(moved));
    }
    return most;
}

// What a peer reached with the same pile, or what is asked.
typedef struct pile_bounds {
    float sink;   // m
    float drift;  // m
    float asleep; // s
} pile_bounds;

static inline void pile_expect(pile *p, const char *rule, const pile_bounds *bounds) {
    const float asleep = pile_run(p, bounds->asleep + 1.0f);
    const float sink = pile_sink(p);
    const float drift = pile_drift(p);
    if (!(asleep <= bounds->asleep && sink <= bounds->sink && drift <= bounds->drift)) {
        fail_msg("%s of %s: sinks %.4f m (%.4f), drifts %.4f m (%.4f), sleeps after %.1f s (%.1f)",
            rule, pile_kind_names[p->kind], (double)sink, (double)bounds->sink, (double)drift,
            (double)bounds->drift, (double)asleep, (double)bounds->asleep);
    }
}
