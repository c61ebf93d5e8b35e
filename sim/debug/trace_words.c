// SPDX-License-Identifier: MIT

// The solver's memory as words in the order of the state, and the names of words.

#include <string.h>

#include "base/assert.h"
#include "sim/collide/manifold_pool.h"
#include "sim/debug/trace.h"
#include "sim/debug/trace_parts.h"
#include "sim/pgs/pgs.h"
#include "sim/soft_step/soft_step.h"
#include "sim/state/fields.h"

static bool soft_step_words(
    const cairn_world *world, uint32_t slot, uint32_t words[CAIRN_TRACE_SOLVER_WORDS]) {
    const cairn_soft_step *soft_step = world->soft_step;
    CAIRN_ASSERT(slot < world->state.settings->body_slots);
    const uint32_t index = soft_step->solver_body_of[slot];
    if (index >= soft_step->moving_count) {
        return false;
    }
    const cairn_solver_body *body = &soft_step->bodies[index];
    memcpy(words, body->linear_velocity, 12);
    memcpy(words + 3, body->angular_velocity, 12);
    memcpy(words + 6, body->delta_position, 12);
    memcpy(words + 9, body->delta_rotation, 12);
    return true;
}

static bool pgs_words(
    const cairn_world *world, uint32_t slot, uint32_t words[CAIRN_TRACE_SOLVER_WORDS]) {
    const cairn_pgs_body *body = &world->pgs->bodies[slot];
    CAIRN_ASSERT(slot < world->state.settings->body_slots);
    memset(words, 0, CAIRN_TRACE_SOLVER_WORDS * sizeof words[0]);
    memcpy(words, &body->linear_velocity, 12);
    memcpy(words + 3, &body->angular_velocity, 12);
    return body->takes_impulses != 0;
}

bool cairn_trace_solver_words(
    const cairn_world *world, uint32_t slot, uint32_t words[CAIRN_TRACE_SOLVER_WORDS]) {
    return world->def.solver == CAIRN_SOLVER_SOFT_STEP ? soft_step_words(world, slot, words)
                                                       : pgs_words(world, slot, words);
}

uint32_t cairn_trace_active_count(const cairn_world *world) {
    return world->def.solver == CAIRN_SOLVER_SOFT_STEP ? world->soft_step->contact_graph.edge_count
                                                       : world->pgs->contact_graph.edge_count;
}

// The word at which a member of the manifold begins.
#define MANIFOLD_WORD(member) (offsetof(cairn_solver_manifold, member) / sizeof(uint32_t))
#define POINT_WORDS (sizeof(cairn_solver_manifold_point) / sizeof(uint32_t))

// Words of points that do not exist, and of padding, are zero.
uint32_t cairn_trace_manifold_words(
    const cairn_world *world, uint32_t active, uint32_t words[CAIRN_TRACE_MANIFOLD_WORDS]) {
    _Static_assert(CAIRN_TRACE_MANIFOLD_WORDS * 4 == sizeof(cairn_solver_manifold), "all of it");
    CAIRN_ASSERT(active < cairn_trace_active_count(world));
    const cairn_constraint_edge *edges = world->def.solver == CAIRN_SOLVER_SOFT_STEP
                                             ? world->soft_step->contact_graph.edges
                                             : world->pgs->contact_graph.edges;
    const cairn_constraint_edge *edge = &edges[active];
    CAIRN_ASSERT(edge->manifold < world->manifold_pool->used);
    const cairn_solver_manifold *manifold = &world->manifold_pool->manifolds[edge->manifold];
    const uint32_t points = (uint32_t)manifold->point_count;
    CAIRN_ASSERT(points <= CAIRN_MANIFOLD_POINTS_MAX);
    cairn_solver_manifold shown = {.normal = manifold->normal,
        .point_count = manifold->point_count,
        .friction = manifold->friction,
        .restitution = manifold->restitution,
        .rotation_a = manifold->rotation_a,
        .rotation_b = manifold->rotation_b};
    memcpy(shown.points, manifold->points, points * sizeof shown.points[0]);
    memcpy(words, &shown, sizeof shown);
    return edge->element;
}

static const char *const solver_fields[CAIRN_TRACE_SOLVER_WORDS] = {"linear_velocity.x",
    "linear_velocity.y", "linear_velocity.z", "angular_velocity.x", "angular_velocity.y",
    "angular_velocity.z", "delta_position.x", "delta_position.y", "delta_position.z",
    "delta_rotation.x", "delta_rotation.y", "delta_rotation.z"};

static const char *manifold_field(uint32_t word) {
    CAIRN_ASSERT(word < CAIRN_TRACE_MANIFOLD_WORDS);
    static const char *const point_words[POINT_WORDS] = {"point.arm_a.x", "point.arm_a.y",
        "point.arm_a.z", "point.arm_b.x", "point.arm_b.y", "point.arm_b.z", "point.separation"};
    static const char *const normal[MANIFOLD_WORD(points)] = {
        "normal.x", "normal.y", "normal.z", "point_count"};
    if (word < MANIFOLD_WORD(points)) {
        return normal[word];
    }
    if (word < MANIFOLD_WORD(friction)) {
        return point_words[(word - MANIFOLD_WORD(points)) % POINT_WORDS];
    }
    if (word < MANIFOLD_WORD(rotation_a)) {
        return word == MANIFOLD_WORD(friction) ? "friction" : "restitution";
    }
    return word < MANIFOLD_WORD(rotation_b) ? "rotation_a" : "rotation_b";
}

uint32_t cairn_array_words(uint32_t array) {
    if (array < CAIRN_ARRAY_COUNT) {
        return cairn_field_table_of((cairn_array)array)->word_count;
    }
    if (array == CAIRN_TRACE_ARRAY_SOLVER) {
        return CAIRN_TRACE_SOLVER_WORDS;
    }
    return array == CAIRN_TRACE_ARRAY_MANIFOLDS ? CAIRN_TRACE_MANIFOLD_WORDS : 0;
}

const char *cairn_array_section_name(uint32_t array) {
    if (array < CAIRN_ARRAY_COUNT) {
        return cairn_section_name(cairn_field_table_of((cairn_array)array)->section);
    }
    if (array == CAIRN_TRACE_ARRAY_SOLVER) {
        return "solver";
    }
    return array == CAIRN_TRACE_ARRAY_MANIFOLDS ? "manifolds" : "unknown";
}

const char *cairn_array_field_name(uint32_t array, uint32_t word) {
    if (word >= cairn_array_words(array)) {
        return "unknown";
    }
    if (array < CAIRN_ARRAY_COUNT) {
        return cairn_field_table_of((cairn_array)array)->fields[word].name;
    }
    return array == CAIRN_TRACE_ARRAY_SOLVER ? solver_fields[word] : manifold_field(word);
}

bool cairn_array_field_is_float(uint32_t array, uint32_t word) {
    if (word >= cairn_array_words(array)) {
        return false;
    }
    return array >= CAIRN_ARRAY_COUNT ||
           cairn_field_table_of((cairn_array)array)->fields[word].kind != CAIRN_FIELD_WORD;
}

static uint32_t two_bodies(uint32_t a, uint32_t b, uint32_t bodies[2]) {
    bodies[0] = cairn_id_index(a);
    bodies[1] = cairn_id_index(b);
    return 2;
}

uint32_t cairn_element_bodies(
    const cairn_world *world, uint32_t array, uint32_t element, uint32_t bodies[2]) {
    const cairn_state *state = &world->state;
    const cairn_settings *settings = state->settings;
    switch (array) {
    case CAIRN_ARRAY_BODY_IDS:
    case CAIRN_ARRAY_MOTIONS:
    case CAIRN_ARRAY_REFERENCE_POSES:
    case CAIRN_ARRAY_BODIES:
    case CAIRN_ARRAY_SLEEP:
    case CAIRN_TRACE_ARRAY_SOLVER:
        bodies[0] = element;
        return 1;
    case CAIRN_ARRAY_SHAPES:
        bodies[0] = element < settings->shape_slots ? state->shapes[element].body : 0;
        return element < settings->shape_slots ? 1 : 0;
    case CAIRN_ARRAY_JOINTS:
        return element < settings->joint_slots ? two_bodies(state->joints[element].body_a,
                                                     state->joints[element].body_b, bodies)
                                               : 0;
    case CAIRN_ARRAY_CONTACTS:
    case CAIRN_TRACE_ARRAY_MANIFOLDS:
        return element < settings->contact_count ? two_bodies(state->contacts[element].body_a,
                                                       state->contacts[element].body_b, bodies)
                                                 : 0;
    default:
        return 0;
    }
}

// Maps the bits of floats to integers of the same order.
static int64_t ordinal(uint32_t bits) {
    const int64_t magnitude = bits & 0x7fffffffu;
    return (bits & 0x80000000u) != 0 ? -1 - magnitude : magnitude;
}

uint32_t cairn_float_ulps(uint32_t bits_a, uint32_t bits_b) {
    if ((bits_a & 0x7fffffffu) > 0x7f800000u || (bits_b & 0x7fffffffu) > 0x7f800000u) {
        return UINT32_MAX;
    }
    const int64_t apart = ordinal(bits_a) - ordinal(bits_b);
    return (uint32_t)(apart < 0 ? -apart : apart);
}
