// SPDX-License-Identifier: MIT

// The checks of cairn_world_validate. The state itself is checked by the same code that checks
// decoded bytes; the checks here are about data derived from it.

#include <string.h>

#include "base/assert.h"
#include "sim/articulation/hang.h"
#include "sim/body/body.h"
#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"
#include "sim/pgs/pgs.h"
#include "sim/query/shape_tree.h"
#include "sim/serialize/decode_check.h"
#include "sim/shape/hull.h"
#include "sim/soft_step/soft_step.h"
#include "sim/state/awake_set.h"
#include "sim/state/fields.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"
#include "sim/world/mesh.h"

// Every word by its field: no NaN, infinity or -0, nothing out of range. Free slots are zero.
static cairn_status check_words(const cairn_state *state, const char **where) {
    static const uint32_t zero[CAIRN_ELEMENT_WORDS_MAX];
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const size_t size = cairn_array_element_size(array);
        const unsigned char *element = cairn_state_array(state, array);
        for (uint32_t i = 0; i < cairn_array_count(state->settings, array); ++i, element += size) {
            if (!cairn_state_has(state, array, i)) {
                if (memcmp(element, zero, size) != 0) {
                    *where = "ids: a free slot is not zero";
                    return CAIRN_MALFORMED;
                }
                continue;
            }
            CAIRN_ASSERT(size <= sizeof zero);
            uint32_t words[CAIRN_ELEMENT_WORDS_MAX];
            memcpy(words, element, size);
            const cairn_status status =
                cairn_fields_check(cairn_field_table_of(array), words, where);
            if (status != CAIRN_OK) {
                return status;
            }
        }
    }
    return CAIRN_OK;
}

static bool no_free_slot_below(const uint32_t *ids, uint32_t slots, uint32_t hint) {
    for (uint32_t i = 0; i < slots && i < hint; ++i) {
        if ((ids[i] & CAIRN_SLOT_USED) == 0) {
            return false;
        }
    }
    return hint <= slots;
}

static bool slots_ok(const cairn_world *world) {
    const cairn_state *state = &world->state;
    const cairn_settings *settings = state->settings;
    return world->body_count == cairn_slots_list(state->body_ids, settings->body_slots, NULL, 0) &&
           no_free_slot_below(state->body_ids, settings->body_slots, world->body_hint) &&
           no_free_slot_below(state->shape_ids, settings->shape_slots, world->shape_hint) &&
           no_free_slot_below(state->joint_ids, settings->joint_slots, world->joint_hint) &&
           no_free_slot_below(state->hull_ids, settings->hull_slots, world->hull_hint) &&
           no_free_slot_below(state->mesh_ids, settings->mesh_slots, world->mesh_hint);
}

// Each body lists exactly its shapes, in order of slot, and those that want hit events are counted.
// Stops at the first shape out of order, so it ends even if a list is a circle.
static bool shape_lists_ok(const cairn_world *world) {
    const cairn_state *state = &world->state;
    uint32_t listed = 0;
    uint32_t existing = 0;
    uint32_t hit_shapes = 0;
    uint32_t mesh_shapes = 0;
    for (uint32_t body = 0; body < state->settings->body_slots; ++body) {
        uint32_t last = 0;
        if (!cairn_state_has(state, CAIRN_ARRAY_BODIES, body)) {
            continue;
        }
        for (uint32_t next = world->shape_first[body]; next != 0;
             next = world->shape_next[next - 1]) {
            if (next <= last || next > state->settings->shape_slots ||
                !cairn_state_has(state, CAIRN_ARRAY_SHAPES, next - 1) ||
                state->shapes[next - 1].body != body) {
                return false;
            }
            last = next;
            ++listed;
        }
    }
    for (uint32_t i = 0; i < state->settings->shape_slots; ++i) {
        existing += cairn_state_has(state, CAIRN_ARRAY_SHAPES, i) ? 1u : 0u;
        hit_shapes += (state->shapes[i].flags & CAIRN_SHAPE_HIT_EVENTS) != 0 ? 1u : 0u;
        mesh_shapes += state->shapes[i].geometry.mesh != 0 ? 1u : 0u;
    }
    return listed == existing && hit_shapes == world->hit_shapes &&
           mesh_shapes == world->mesh_shapes;
}

static bool hulls_ok(const cairn_world *world) {
    const cairn_state *state = &world->state;
    for (uint32_t i = 0; i < state->settings->hull_slots; ++i) {
        const cairn_hull_vertices *stored = &state->hulls[i];
        const cairn_hull *hull = &world->hulls[i];
        if (cairn_state_has(state, CAIRN_ARRAY_HULLS, i) &&
            (stored->count > CAIRN_HULL_VERTICES_MAX || hull->vertex_count != stored->count ||
                memcmp(hull->vertices, stored->vertices,
                    stored->count * sizeof stored->vertices[0]) != 0)) {
            return false;
        }
    }
    return true;
}

// The bodies of every contact, and manifolds within the pool. As many manifolds are in use as
// contacts refer to, so none leaks and none is shared.
static bool manifold_pool_ok(const cairn_world *world) {
    const cairn_manifold_pool *pool = world->manifold_pool;
    uint32_t referred = 0;
    if (pool->used > pool->capacity || pool->free_count > pool->used) {
        return false;
    }
    for (uint32_t i = 0; i < world->state.settings->contact_count; ++i) {
        const cairn_contact *contact = &world->state.contacts[i];
        const cairn_contact_ref *ref = &pool->refs[i];
        if (ref->body_a != cairn_id_index(contact->body_a) ||
            ref->body_b != cairn_id_index(contact->body_b) ||
            (ref->manifold < CAIRN_MANIFOLD_SENSOR && ref->manifold >= pool->used) ||
            (ref->manifold == CAIRN_MANIFOLD_SENSOR) != contact_is_sensor(contact)) {
            return false;
        }
        referred += ref->manifold < CAIRN_MANIFOLD_SENSOR ? 1u : 0u;
    }
    return referred == pool->used - pool->free_count;
}

// Pairs are in strictly increasing order, and those in contact match the contact list in its order.
static bool pair_cache_ok(const cairn_world *world) {
    const cairn_pair_cache *cache = world->pair_cache;
    const uint32_t contacts = world->state.settings->contact_count;
    uint32_t next = 0;
    uint64_t last = 0;
    if (!world->pair_cache_valid || cache->restored) {
        return true;
    }
    for (uint32_t i = 0; i < cache->pair_count; ++i) {
        const cairn_pair pair = cache->pairs[i].pair;
        const uint64_t key = (uint64_t)pair.shape_a << 32 | pair.shape_b;
        if (pair.shape_a >= pair.shape_b || (i > 0 && key <= last)) {
            return false;
        }
        last = key;
        const uint32_t count = cache->pairs[i].flags & CAIRN_PAIR_CONTACTS;
        for (uint32_t part = 0; part < count; ++part) {
            if (next == contacts || world->state.contacts[next].part != part ||
                cairn_id_index(world->state.contacts[next].shape_a) != pair.shape_a ||
                cairn_id_index(world->state.contacts[next].shape_b) != pair.shape_b) {
                return false;
            }
            ++next;
        }
    }
    return next == contacts;
}

static bool sleep_together(const cairn_world *world, cairn_body_id a, cairn_body_id b) {
    const cairn_state *state = &world->state;
    const uint32_t slot_a = cairn_body_slot(world, a);
    const uint32_t slot_b = cairn_body_slot(world, b);
    if (slot_a == CAIRN_INDEX_NONE || slot_b == CAIRN_INDEX_NONE ||
        state->bodies[slot_a].kind != CAIRN_BODY_DYNAMIC ||
        state->bodies[slot_b].kind != CAIRN_BODY_DYNAMIC) {
        return true;
    }
    return (state->sleep[slot_a].state == CAIRN_SLEEP_ASLEEP) ==
           (state->sleep[slot_b].state == CAIRN_SLEEP_ASLEEP);
}

// An island sleeps as a whole. A call that wakes one body leaves the rest of its island to the next
// step.
static bool islands_ok(const cairn_world *world) {
    const cairn_state *state = &world->state;
    if (!world->islands_settled) {
        return true;
    }
    for (uint32_t i = 0; i < state->settings->contact_count; ++i) {
        if (!contact_is_sensor(&state->contacts[i]) &&
            !sleep_together(world, state->contacts[i].body_a, state->contacts[i].body_b)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < state->settings->joint_slots; ++i) {
        if (cairn_state_has(state, CAIRN_ARRAY_JOINTS, i) &&
            !sleep_together(world, state->joints[i].body_a, state->joints[i].body_b)) {
            return false;
        }
    }
    return true;
}

static bool targets_ok(const cairn_world *world) {
    const uint32_t either = CAIRN_BODY_TARGET_SET | CAIRN_BODY_TARGET_REACHED;
    for (uint32_t i = 0; i < world->state.settings->body_slots && !world->targets_set; ++i) {
        if ((world->state.bodies[i].flags & either) != 0) {
            return false;
        }
    }
    return true;
}

static bool woken_ok(const cairn_world *world) {
    for (uint32_t i = 0; i < world->state.settings->body_slots && !world->bodies_woken; ++i) {
        if (world->state.sleep[i].state == CAIRN_SLEEP_WOKEN) {
            return false;
        }
    }
    return true;
}

// Each body of the awake set is marked, and each with a target.
static bool marks_ok(const cairn_world *world) {
    const uint32_t either = CAIRN_BODY_TARGET_SET | CAIRN_BODY_TARGET_REACHED;
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        const bool awake =
            cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, i) &&
            (cairn_body_in_awake_set(world, i) || (world->state.bodies[i].flags & either) != 0);
        if (awake && cairn_awake_mark_next(world, i) != i) {
            return false;
        }
    }
    return true;
}

// No two edges of a colour share a body that takes impulses; each edge has one place in the order.
static bool graph_ok(const cairn_constraint_graph *graph) {
    const uint32_t moving_count = graph->moving_count;
    uint32_t overflow = 0;
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[i];
        if (edge->colour > CAIRN_COLOUR_ALONE || edge->solver_a == edge->solver_b) {
            return false;
        }
        overflow += edge->colour >= CAIRN_COLOURS ? 1u : 0u;
        if (edge->solver_a < moving_count) {
            graph->body_colours[edge->solver_a] = 0;
        }
        if (edge->solver_b < moving_count) {
            graph->body_colours[edge->solver_b] = 0;
        }
    }
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[i];
        const uint32_t bodies[2] = {edge->solver_a, edge->solver_b};
        for (int k = 0; k < 2 && edge->colour < CAIRN_COLOURS; ++k) {
            if (bodies[k] >= moving_count) {
                continue;
            }
            if ((graph->body_colours[bodies[k]] >> edge->colour & 1u) != 0) {
                return false;
            }
            graph->body_colours[bodies[k]] |= 1u << edge->colour;
        }
    }
    return overflow == graph->overflow_count;
}

static bool graphs_ok(const cairn_world *world) {
    return graph_ok(&world->soft_step->contact_graph) && graph_ok(&world->soft_step->joint_graph) &&
           graph_ok(&world->pgs->contact_graph) && graph_ok(&world->pgs->joint_graph);
}

static const struct {
    bool (*ok)(const cairn_world *world);
    const char *where;
} derived_rules[] = {
    {slots_ok, "ids: a slot below the hint is free"},
    {shape_lists_ok, "shapes: wrong list of a body"},
    {cairn_hangs_ok, "joints: wrong index of articulated joints"},
    {hulls_ok, "hulls: one does not match its vertices"},
    {cairn_meshes_ok, "meshes: a tree does not match its data"},
    {manifold_pool_ok, "manifold pool: does not match the contacts"},
    {pair_cache_ok, "pair cache: does not match the contacts"},
    {cairn_shape_tree_ok, "shape tree: a shape is missing or outside its box"},
    {islands_ok, "islands: only a part of one sleeps"},
    {woken_ok, "events: a woken body is not expected"},
    {targets_ok, "bodies: a target is not expected"},
    {marks_ok, "bodies: one of the awake set is not marked"},
    {graphs_ok, "constraint graph: wrong colours"},
};

cairn_status cairn_world_validate(const cairn_world *world, const char **where) {
    const char *ignored;
    const char **out = where != NULL ? where : &ignored;
    const cairn_settings expected = cairn_settings_of(&world->def);
    *out = "";
    cairn_status status = cairn_decode_check_settings(&world->state, &expected, out);
    status = status != CAIRN_OK ? status : check_words(&world->state, out);
    status = status != CAIRN_OK ? status : cairn_state_check(&world->state, out);
    if (status != CAIRN_OK) {
        return status;
    }
    for (size_t i = 0; i < sizeof derived_rules / sizeof derived_rules[0]; ++i) {
        if (!derived_rules[i].ok(world)) {
            *out = derived_rules[i].where;
            return CAIRN_MALFORMED;
        }
    }
    if (!cairn_hash_cache_valid(world->hash_cache, &world->state)) {
        *out = "hash cache: a leaf does not match its words";
        return CAIRN_MALFORMED;
    }
    return CAIRN_OK;
}
