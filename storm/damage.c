// SPDX-License-Identifier: MIT
// Memory of clients that goes bad: planted, and then expected to be mended. A client that heals or
// predicts is hit; whatever else goes wrong with a world is a finding.
#include <inttypes.h>
#include <string.h>

#include "client_lib/client_parts.h"
#include "sim/state/world.h"
#include "storm/parts.h"

static const uint64_t second_ns = 1000000000;
// Of the velocity's 23 bits of mantissa, so that it stays finite.
#define FLIPPED_BITS 23
#define BODY_SLOT_MASK 0xfffffu

// Bodies of the world that move by themselves, and are awake; returns how many.
static uint32_t find_awake(cairn_storm *s, const cairn_world *world) {
    const uint32_t capacity = s->scene->body_capacity;
    const uint32_t count = cairn_world_bodies(world, s->bodies, capacity);
    uint32_t awake = 0;
    for (uint32_t i = 0; i < count && i < capacity; i++) {
        if (s->bodies[i].kind == CAIRN_BODY_DYNAMIC && s->bodies[i].awake) {
            s->bodies[awake++] = s->bodies[i];
        }
    }
    return awake;
}

// A cosmic ray: nothing that keeps books of what changed is told.
static void flip(cairn_storm *s, cairn_world *world, cairn_body_id body) {
    const uint32_t slot = (body & BODY_SLOT_MASK) - 1; // include/cairn/sim.h, ids
    cairn_motion *motion = &world->state.motions[slot];
    uint32_t word;
    memcpy(&word, &motion->linear_velocity.x, sizeof word);
    word ^= 1u << cairn_storm_below(s, FLIPPED_BITS);
    memcpy(&motion->linear_velocity.x, &word, sizeof word);
}

static void push(cairn_storm *s, cairn_world *world, uint32_t from, uint32_t count) {
    for (uint32_t i = from; i < from + count; i++) {
        const cairn_body_state *body = &s->bodies[i];
        cairn_vec3 velocity = body->linear_velocity;
        velocity.y += 1;
        cairn_body_set_velocity(world, body->id, velocity, body->angular_velocity);
    }
}

// Whether there was anything to damage.
static bool damage(cairn_storm *s, uint32_t mode, cairn_timeline *timeline) {
    const uint32_t awake = find_awake(s, timeline->world);
    if (awake == 0) {
        return false;
    }
    const uint32_t one = (uint32_t)cairn_storm_below(s, awake);
    const uint64_t drawn = cairn_storm_below(s, 4);
    const uint64_t how = s->config.broken == CAIRN_STORM_BREAK_ALARM ? 3 : drawn;
    if (how == 0) {
        flip(s, timeline->world, s->bodies[one].id);
    } else {
        push(s, timeline->world, how == 1 ? 0 : one, how == 1 ? awake : 1);
    }
    // What it could go back to is gone as well; who predicts cannot do without.
    if ((how == 1 || how == 2) && mode == CAIRN_MODE_HEAL) {
        cairn_state_ring_clear(&timeline->states);
    }
    return true;
}

static bool mends(const cairn_client *client) {
    return (client->mode == CAIRN_MODE_HEAL || client->mode == CAIRN_MODE_PREDICT) &&
           client->resync.phase == CAIRN_RESYNC_IDLE;
}

void cairn_storm_damage(cairn_storm *s, uint32_t i) {
    cairn_storm_place *place = &s->places[i];
    cairn_client *client = s->system.clients[i].client;
    cairn_timeline *timeline = &client->lockstep.timeline;
    if (place->damaged || place->orphan || !mends(client) || !timeline->adopted ||
        place->playing_ns == UINT64_MAX || !damage(s, client->mode, timeline)) {
        return;
    }
    s->report.damages++;
    if (s->config.broken == CAIRN_STORM_BREAK_ALARM) {
        return; // and nobody is told
    }
    place->damaged = true;
    const bool never = s->config.broken == CAIRN_STORM_BREAK_HEAL;
    place->damaged_tick = never ? UINT64_MAX : timeline->head_tick;
    place->damaged_ns = cairn_system_now_ns(&s->system);
    if (s->config.broken == CAIRN_STORM_BREAK_MODE) {
        client->resync.words = "planted";
    }
}

bool cairn_storm_excused(const cairn_storm *s, uint32_t i) {
    const cairn_storm_place *place = &s->places[i];
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    return place->damaged || place->orphan ||
           (place->healed_ns > 0 && now_ns - place->healed_ns < CAIRN_STORM_RECOVERY_S * second_ns);
}

void cairn_storm_mended(cairn_storm *s, uint32_t i) {
    cairn_storm_place *place = &s->places[i];
    const uint64_t ms = (cairn_system_now_ns(&s->system) - place->damaged_ns) / 1000000;
    place->damaged = false;
    place->healed_ns = cairn_system_now_ns(&s->system);
    s->report.damages_mended++;
    const bool left_alone = !place->hurt && cairn_storm_whole_ns(s, i) / 1000000 >= ms;
    if (left_alone && ms > s->report.mend_ms_max) {
        s->report.mend_ms_max = ms;
    }
}

// Every mending has its damage.
static void check_heals(cairn_storm *s, uint32_t i, uint64_t heals) {
    cairn_storm_place *place = &s->places[i];
    cairn_client_resync_record list[CAIRN_CLIENT_RESYNCS_HELD];
    const uint64_t before = place->heals_seen <= heals ? place->heals_seen : 0;
    const uint64_t fresh = heals - before;
    const uint32_t wanted =
        fresh < CAIRN_CLIENT_RESYNCS_HELD ? (uint32_t)fresh : CAIRN_CLIENT_RESYNCS_HELD;
    const uint32_t count = cairn_client_resyncs(s->system.clients[i].client, list, wanted);
    for (uint32_t k = 0; k < count; k++) {
        s->report.heals[list[k].cause]++;
    }
    if (fresh > 0 && !cairn_storm_excused(s, i)) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_ALARM,
            "client %" PRIu32 ": mended at tick %" PRIu64 " what was not damaged (%s)", i,
            count > 0 ? list[count - 1].tick : 0,
            count > 0
                ? cairn_client_resync_cause_text((cairn_client_resync_cause)list[count - 1].cause)
                : "");
    }
    place->heals_seen = heals;
}

void cairn_storm_check_damage(cairn_storm *s, uint32_t i) {
    cairn_storm_place *place = &s->places[i];
    const cairn_client *client = s->system.clients[i].client;
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const uint64_t bound_ns = CAIRN_STORM_JOIN_S * second_ns;
    cairn_client_statistics c;
    cairn_client_statistics_read(client, &c);
    check_heals(s, i, c.heals);
    const bool left_alone = !place->hurt && cairn_storm_whole_ns(s, i) > bound_ns;
    if (place->damaged && left_alone && now_ns - place->damaged_ns > bound_ns) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_UNHEALED,
            "client %" PRIu32 ": damaged at tick %" PRIu64 " and not mended since", i,
            place->damaged_tick);
    }
    if (client->welcomed && cairn_client_mode_now(client) != client->config.mode) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_MODE, "client %" PRIu32 ": was moved down: %s", i,
            cairn_client_mode_text(client));
    }
}
