// SPDX-License-Identifier: MIT
#include <string.h>

#include "sim/limits.h"
#include "sim/state/slots.h"
#include "sim/step.h"
#include "sim/world/body.h"

// Islands are groups of dynamic bodies that touch or are joined. What sleeps has been an island
// before and is still one; it is looked at only when something that stirs touches it. All else is
// about the bodies that stir, which the stage of pairs has listed.

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

static bool dynamic(const cairn_world *world, uint32_t slot) {
    return world->state.bodies[slot].kind == CAIRN_BODY_DYNAMIC;
}

static bool asleep(const cairn_world *world, uint32_t slot) {
    return world->state.rests[slot].state == CAIRN_REST_ASLEEP;
}

typedef void link_visitor(cairn_world *world, uint32_t body_a, uint32_t body_b);

// Contacts and joints of which at least one body stirs, or all of them.
static void visit_links(cairn_world *world, bool all, link_visitor *visit) {
    const unsigned char *stirs = world->scratch.stirs;
    const cairn_patch_link *links = world->scratch.patches.links;
    for (uint32_t i = 0; i < world->state.settings->contact_count; ++i) {
        if (all || (stirs[links[i].body_a] | stirs[links[i].body_b]) != 0) {
            visit(world, links[i].body_a, links[i].body_b);
        }
    }
    const cairn_joined_bodies *joints = world->near.joints;
    for (uint32_t i = 0; i < world->near.joint_count; ++i) {
        if (all || (stirs[joints[i].body_a] | stirs[joints[i].body_b]) != 0) {
            visit(world, joints[i].body_a, joints[i].body_b);
        }
    }
}

static void unite_dynamic(cairn_world *world, uint32_t body_a, uint32_t body_b) {
    if (dynamic(world, body_a) && dynamic(world, body_b)) {
        unite(world->scratch.island, body_a, body_b);
    }
}

// ---- Waking

static void note_sleeper(cairn_world *world, uint32_t body_a, uint32_t body_b) {
    if (asleep(world, body_a) || asleep(world, body_b)) {
        world->scratch.wakes = true;
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

static void wake_islands(cairn_world *world) {
    cairn_scratch *scratch = &world->scratch;
    const uint32_t count = world->state.settings->body_slots;
    for (uint32_t i = 0; i < count; ++i) {
        scratch->island[i] = i;
        scratch->island_awake[i] = 0;
    }
    visit_links(world, true, unite_dynamic);
    for (uint32_t i = 0; i < count; ++i) {
        scratch->island[i] = root_of(scratch->island, i);
        if (dynamic(world, i) && cairn_body_active(world, i)) {
            scratch->island_awake[scratch->island[i]] = 1;
        }
    }
    visit_links(world, true, stir);
    for (uint32_t i = 0; i < count; ++i) {
        if (asleep(world, i) && scratch->island_awake[scratch->island[i]] != 0) {
            cairn_body_wake(world, i);
        }
    }
}

static void list_stirring(cairn_world *world) {
    cairn_near *near = &world->near;
    near->body_count = 0;
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        if (cairn_body_stirs(world, i)) {
            near->bodies[near->body_count++] = i;
        }
    }
}

static void mark_stirring(cairn_world *world) {
    const cairn_near *near = &world->near;
    memset(world->scratch.stirs, 0, world->state.settings->body_slots);
    for (uint32_t i = 0; i < near->body_count; ++i) {
        world->scratch.stirs[near->bodies[i]] = 1;
    }
}

void cairn_step_build_islands(cairn_world *world) {
    const bool sleep = world->def.sleep != 0;
    world->scratch.wakes = false;
    if (!sleep && !world->near.sleepers) {
        return;
    }
    mark_stirring(world);
    visit_links(world, false, note_sleeper);
    if (world->scratch.wakes) {
        wake_islands(world);
        list_stirring(world);
        mark_stirring(world);
    }
}

// ---- Falling asleep

static bool still(const cairn_motion *motion) {
    const float limit = CAIRN_SLEEP_SPEED * CAIRN_SLEEP_SPEED;
    return vec3_length_squared(motion->linear_velocity) < limit &&
           vec3_length_squared(motion->angular_velocity) < limit;
}

static uint32_t rest_ticks(const cairn_world *world, uint32_t slot) {
    const uint32_t limit = world->def.tick_rate_hz / 2;
    const uint32_t ticks = world->state.rests[slot].ticks;
    if (world->def.sleep == 0 || world->state.bodies[slot].allow_sleep == 0 ||
        !still(&world->state.motions[slot])) {
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
        scratch->island_ticks[root_of(scratch->island, body_b)] = 0;
    }
    if (!dynamic(world, body_b) && dynamic(world, body_a) && cairn_body_active(world, body_b)) {
        scratch->island_ticks[root_of(scratch->island, body_a)] = 0;
    }
}

// Whether any has been at rest for long enough.
static bool count_rest(cairn_world *world) {
    const cairn_near *near = &world->near;
    bool rested = false;
    for (uint32_t i = 0; i < near->body_count; ++i) {
        const uint32_t slot = near->bodies[i];
        if (!dynamic(world, slot)) {
            world->state.rests[slot] = (cairn_rest){.state = CAIRN_REST_NONE};
        } else {
            const uint32_t ticks = rest_ticks(world, slot);
            world->state.rests[slot].ticks = ticks;
            rested = rested || ticks == world->def.tick_rate_hz / 2;
        }
    }
    return rested;
}

// The bodies that stir are awake or not dynamic, so that each link between two of them is one
// between awake ones.
static void rest_islands(cairn_world *world) {
    cairn_scratch *scratch = &world->scratch;
    const cairn_near *near = &world->near;
    for (uint32_t i = 0; i < near->body_count; ++i) {
        scratch->island[near->bodies[i]] = near->bodies[i];
        scratch->island_ticks[near->bodies[i]] = UINT32_MAX;
    }
    visit_links(world, false, unite_dynamic);
    for (uint32_t i = 0; i < near->body_count; ++i) {
        const uint32_t slot = near->bodies[i];
        const uint32_t root = root_of(scratch->island, slot);
        const uint32_t ticks = world->state.rests[slot].ticks;
        if (dynamic(world, slot) && ticks < scratch->island_ticks[root]) {
            scratch->island_ticks[root] = ticks;
        }
    }
    visit_links(world, false, keep_awake);
    for (uint32_t i = 0; i < near->body_count; ++i) {
        const uint32_t slot = near->bodies[i];
        if (dynamic(world, slot) &&
            scratch->island_ticks[root_of(scratch->island, slot)] == world->def.tick_rate_hz / 2) {
            fall_asleep(world, slot);
        }
    }
}

// No island falls asleep of which no body has rested for long enough.
void cairn_step_rest(cairn_world *world) {
    if (count_rest(world)) {
        rest_islands(world);
    }
}
