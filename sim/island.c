// SPDX-License-Identifier: MIT
#include "sim/body.h"
#include "sim/limits.h"
#include "sim/slots.h"
#include "sim/step.h"

// Union-find with path halving; the lower slot becomes the root, so the answer does not depend on
// the order in which pairs come.
static uint32_t root_of(uint32_t *parent, uint32_t slot) {
    while (parent[slot] != slot) {
        parent[slot] = parent[parent[slot]];
        slot = parent[slot];
    }
    return slot;
}

static void unite(uint32_t *parent, uint32_t a, uint32_t b) {
    const uint32_t root_a = root_of(parent, a);
    const uint32_t root_b = root_of(parent, b);
    if (root_a < root_b) {
        parent[root_b] = root_a;
    } else {
        parent[root_a] = root_b;
    }
}

typedef void link_visitor(cairn_world *world, uint32_t body_a, uint32_t body_b);

static void visit_links(cairn_world *world, link_visitor *visit) {
    const cairn_state *state = &world->state;
    for (uint32_t i = 0; i < state->settings->contact_count; ++i) {
        const cairn_contact *contact = &state->contacts[i];
        visit(world, id_index(contact->body_a), id_index(contact->body_b));
    }
    for (uint32_t i = 0; i < state->settings->joint_slots; ++i) {
        if (cairn_state_has(state, CAIRN_ARRAY_JOINTS, i)) {
            visit(world, id_index(state->joints[i].body_a), id_index(state->joints[i].body_b));
        }
    }
}

static bool dynamic(const cairn_world *world, uint32_t slot) {
    return world->state.bodies[slot].kind == CAIRN_BODY_DYNAMIC;
}

static void unite_dynamic(cairn_world *world, uint32_t body_a, uint32_t body_b) {
    if (dynamic(world, body_a) && dynamic(world, body_b)) {
        unite(world->scratch.island, body_a, body_b);
    }
}

// A kinematic body in motion, or one that was moved, keeps what it touches awake.
static void stir(cairn_world *world, uint32_t body_a, uint32_t body_b) {
    const cairn_scratch *scratch = &world->scratch;
    if (!dynamic(world, body_a) && dynamic(world, body_b) && cairn_body_stirs(world, body_a)) {
        scratch->island_awake[scratch->island[body_b]] = 1;
    }
    if (!dynamic(world, body_b) && dynamic(world, body_a) && cairn_body_stirs(world, body_b)) {
        scratch->island_awake[scratch->island[body_a]] = 1;
    }
}

void cairn_step_build_islands(cairn_world *world) {
    cairn_scratch *scratch = &world->scratch;
    const uint32_t count = world->state.settings->body_slots;
    for (uint32_t i = 0; i < count; ++i) {
        scratch->island[i] = i;
        scratch->island_awake[i] = 0;
    }
    visit_links(world, unite_dynamic);
    for (uint32_t i = 0; i < count; ++i) {
        scratch->island[i] = root_of(scratch->island, i);
        if (dynamic(world, i) && cairn_body_active(world, i)) {
            scratch->island_awake[scratch->island[i]] = 1;
        }
    }
    visit_links(world, stir);
    for (uint32_t i = 0; i < count; ++i) {
        if (world->state.rests[i].state == CAIRN_REST_ASLEEP &&
            scratch->island_awake[scratch->island[i]] != 0) {
            cairn_body_wake(world, i);
        }
    }
}

static bool still(const cairn_motion *motion) {
    const float limit = CAIRN_SLEEP_SPEED * CAIRN_SLEEP_SPEED;
    return vec3_length_squared(motion->linear_velocity) < limit &&
           vec3_length_squared(motion->angular_velocity) < limit;
}

static uint32_t rest_ticks(const cairn_world *world, uint32_t slot) {
    const bool allowed = world->def.sleep != 0 && world->state.bodies[slot].allow_sleep != 0;
    const uint32_t limit = world->def.tick_rate_hz / 2;
    const uint32_t ticks = world->state.rests[slot].ticks;
    if (!allowed || !still(&world->state.motions[slot])) {
        return 0;
    }
    return ticks < limit ? ticks + 1 : limit;
}

static void fall_asleep(cairn_world *world, uint32_t slot) {
    cairn_motion *motion = &world->state.motions[slot];
    motion->linear_velocity = vec3_zero();
    motion->angular_velocity = vec3_zero();
    world->state.rests[slot].state = CAIRN_REST_ASLEEP;
}

static void keep_awake(cairn_world *world, uint32_t body_a, uint32_t body_b) {
    cairn_scratch *scratch = &world->scratch;
    if (!dynamic(world, body_a) && dynamic(world, body_b) && cairn_body_active(world, body_a)) {
        scratch->island_ticks[scratch->island[body_b]] = 0;
    }
    if (!dynamic(world, body_b) && dynamic(world, body_a) && cairn_body_active(world, body_b)) {
        scratch->island_ticks[scratch->island[body_a]] = 0;
    }
}

void cairn_step_rest(cairn_world *world) {
    cairn_scratch *scratch = &world->scratch;
    const cairn_state *state = &world->state;
    const uint32_t count = state->settings->body_slots;
    for (uint32_t i = 0; i < count; ++i) {
        scratch->island_ticks[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (!dynamic(world, i)) {
            state->rests[i] = (cairn_rest){.state = CAIRN_REST_NONE};
        } else if (cairn_body_active(world, i)) {
            const uint32_t ticks = rest_ticks(world, i);
            uint32_t *least = &scratch->island_ticks[scratch->island[i]];
            state->rests[i].ticks = ticks;
            *least = ticks < *least ? ticks : *least;
        }
    }
    visit_links(world, keep_awake);
    for (uint32_t i = 0; i < count; ++i) {
        if (dynamic(world, i) && cairn_body_active(world, i) &&
            scratch->island_ticks[scratch->island[i]] == world->def.tick_rate_hz / 2) {
            fall_asleep(world, i);
        }
    }
}
