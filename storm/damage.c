// SPDX-License-Identifier: MIT
#include "storm/state.h"

#include <inttypes.h>
#include <string.h>

#include "client_lib/client_probe.h"
#include "sim/state/world.h"

// A bit of the velocity's mantissa is flipped, so that it stays finite.
#define FLIPPED_BITS 23

// Fills s->bodies with the dynamic bodies that are awake; returns their number.
static uint32_t find_awake(cairn_storm *s, const cairn_world *world) {
    const uint32_t capacity = s->scene->world.body_capacity;
    const uint32_t count = cairn_world_bodies(world, s->bodies, capacity);
    uint32_t awake = 0;
    for (uint32_t i = 0; i < count && i < capacity; i++) {
        if (s->bodies[i].kind == CAIRN_BODY_DYNAMIC && s->bodies[i].awake) {
            s->bodies[awake++] = s->bodies[i];
        }
    }
    return awake;
}

static void push_bodies(cairn_storm *s, cairn_world *world, uint32_t from, uint32_t count) {
    for (uint32_t i = from; i < from + count; i++) {
        const cairn_body_state *body = &s->bodies[i];
        cairn_vec3 velocity = body->linear_velocity;
        velocity.y += 1;
        cairn_body_set_velocity(world, body->id, velocity, body->angular_velocity);
    }
}

// Returns false if there is nothing to damage.
static bool damage_world(cairn_storm *s, cairn_client_mode mode, cairn_timeline *timeline) {
    const uint32_t awake = find_awake(s, timeline->world);
    if (awake == 0) {
        return false;
    }
    const uint32_t one = (uint32_t)cairn_storm_below(s, awake);
    const uint64_t how = cairn_storm_below(s, 4);
    if (how == 0) {
        // A bit flip in memory. It marks nothing dirty, so the hash caches do not see it.
        const uint32_t slot = cairn_id_index(s->bodies[one].id);
        cairn_motion *motion = &timeline->world->state.motions[slot];
        uint32_t word;
        memcpy(&word, &motion->linear_velocity.x, sizeof word);
        word ^= 1u << cairn_storm_below(s, FLIPPED_BITS);
        memcpy(&motion->linear_velocity.x, &word, sizeof word);
    } else {
        push_bodies(s, timeline->world, how == 1 ? 0 : one, how == 1 ? awake : 1);
    }
    // Its saved states are lost as well. A predicting client needs them for its rollbacks.
    if ((how == 1 || how == 2) && mode == CAIRN_CLIENT_HEAL) {
        cairn_timeline_forget_states(timeline);
    }
    return true;
}

void cairn_storm_damage(cairn_storm *s, uint32_t i) {
    cairn_storm_slot *slot = &s->slots[i];
    const cairn_client_mode mode = cairn_client_mode_now(s->system.clients[i].client);
    const cairn_client_probe client = cairn_client_probe_of(s->system.clients[i].client);
    cairn_timeline *timeline = client.timeline;
    const bool repairs_itself = (mode == CAIRN_CLIENT_HEAL || mode == CAIRN_CLIENT_PREDICT) &&
                                client.resync->repair.state == CAIRN_CLIENT_REPAIR_IDLE;
    if (slot->damaged || slot->server_died || !repairs_itself || !timeline->adopted ||
        slot->playing_ns == UINT64_MAX || !damage_world(s, mode, timeline)) {
        return;
    }
    s->report.damages++;
    slot->damaged = true;
    slot->damaged_tick = timeline->head_tick;
    slot->damaged_ns = cairn_system_now_ns(&s->system);
}

void cairn_storm_damage_again(cairn_storm *s, uint32_t i) {
    const cairn_client_probe client = cairn_client_probe_of(s->system.clients[i].client);
    cairn_timeline *timeline = client.timeline;
    if (s->slots[i].damaged &&
        client.resync->repair.state == CAIRN_CLIENT_REPAIR_ELEMENTS_REQUESTED &&
        timeline->adopted) {
        const uint32_t awake = find_awake(s, timeline->world);
        push_bodies(s, timeline->world, 0, awake);
        // A flipped bit may be without effect: ticks up to here then look repaired (seed 1444).
        s->slots[i].damaged_tick = timeline->head_tick;
    }
}

void cairn_storm_repaired(cairn_storm *s, uint32_t i) {
    cairn_storm_slot *slot = &s->slots[i];
    const uint64_t ms = (cairn_system_now_ns(&s->system) - slot->damaged_ns) / 1000000;
    slot->damaged = false;
    slot->repaired_ns = cairn_system_now_ns(&s->system);
    s->report.damages_repaired++;
    const bool undisturbed = !slot->degraded && cairn_storm_undisturbed_ns(s, i) / 1000000 >= ms;
    if (undisturbed && ms > s->report.repair_ms_max) {
        s->report.repair_ms_max = ms;
    }
}

// No repair without a damage.
static void check_heals(cairn_storm *s, uint32_t i, uint64_t heals) {
    cairn_storm_slot *slot = &s->slots[i];
    cairn_client_resync_record list[CAIRN_CLIENT_RESYNCS_HELD];
    const uint64_t before = slot->heals_seen <= heals ? slot->heals_seen : 0;
    const uint64_t fresh = heals - before;
    const uint32_t wanted =
        fresh < CAIRN_CLIENT_RESYNCS_HELD ? (uint32_t)fresh : CAIRN_CLIENT_RESYNCS_HELD;
    const uint32_t count = cairn_client_resyncs(s->system.clients[i].client, list, wanted);
    for (uint32_t k = 0; k < count; k++) {
        s->report.heals[list[k].cause]++;
    }
    if (fresh > 0 && !cairn_storm_difference_expected(s, i)) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_ALARM,
            "client %" PRIu32 ": repaired a world at tick %" PRIu64 " that was not damaged (%s); "
            "do your rules keep something outside their state?",
            i, count > 0 ? list[count - 1].tick : 0,
            count > 0
                ? cairn_client_resync_cause_text((cairn_client_resync_cause)list[count - 1].cause)
                : "");
    }
    slot->heals_seen = heals;
}

void cairn_storm_check_damage(cairn_storm *s, uint32_t i) {
    cairn_storm_slot *slot = &s->slots[i];
    const cairn_client *client = s->system.clients[i].client;
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const uint64_t bound_ns = CAIRN_STORM_JOIN_S * CAIRN_NS_PER_S;
    cairn_client_statistics c;
    cairn_client_statistics_read(client, &c);
    check_heals(s, i, c.resync.count);
    if (cairn_storm_server_room(s, slot->room)->time_control.paused) {
        slot->damaged_ns = now_ns; // no tick shows the difference
    }
    const bool undisturbed = !slot->degraded && cairn_storm_undisturbed_ns(s, i) > bound_ns;
    if (slot->damaged && undisturbed && now_ns - slot->damaged_ns > bound_ns) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_UNHEALED,
            "client %" PRIu32 ": damaged at tick %" PRIu64 " and not repaired within %d s", i,
            slot->damaged_tick, CAIRN_STORM_JOIN_S);
    }
    if (cairn_client_probe_of(s->system.clients[i].client).welcomed &&
        cairn_client_mode_now(client) != s->system.clients[i].config.mode) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_MODE,
            "client %" PRIu32 ": was demoted to another mode: %s", i,
            cairn_client_mode_text(client));
    }
}
