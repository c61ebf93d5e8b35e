// SPDX-License-Identifier: MIT
// The verbs that report on a server and its rooms.
#include "base/assert.h"
#include "server/control/preparation.h"
#include "server/control/verbs.h"
#include "server/core/server_state.h"

cairn_control_refusal cairn_control_on_rooms(cairn_control_context *c) {
    uint32_t count = 0;
    uint32_t id = cairn_server_room_next(c->server, 0);
    for (; id != 0 && count < CAIRN_CONTROL_ROOMS_MAX; id = cairn_server_room_next(c->server, id)) {
        const cairn_room *room = cairn_room_table_at(&c->server->rooms, id);
        cairn_control_room *listed = &c->lists->rooms[count++];
        listed->tick = room->scheduler.tick;
        cairn_control_name_set(listed->name, room->name);
    }
    CAIRN_ASSERT(count <= CAIRN_CONTROL_ROOMS_MAX);
    c->answer.rooms = (cairn_control_rooms_answer){.rooms = c->lists->rooms, .room_count = count};
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_state(cairn_control_context *c) {
    const cairn_room *room = c->room;
    const cairn_world_counters counters = cairn_world_counters_read(room->world);
    cairn_server_room_statistics s;
    cairn_server_room_statistics_read(c->server, room->id, &s);
    c->answer.state = (cairn_control_state_answer){
        .scene = room->scene_name,
        .rules = cairn_room_rules_name(room),
        .paused = room->time_control.paused,
        .tick_rate_hz = room->settings.tick_rate_hz,
        .speed_thousandths = room->time_control.speed,
        .seed = cairn_world_settings(room->world)->seed,
        .edits_refused = counters.edits_refused,
        .creates_refused = counters.creates_refused,
        .bodies_disabled = counters.bodies_disabled,
        .clients = s.clients,
        .players = s.players,
        .bodies = s.bodies,
        .bodies_awake = s.bodies_awake,
        .ticks_skipped = s.ticks_skipped,
        .tick_cost_ns_p50 = s.tick_cost_ns_p50,
        .tick_cost_ns_p99 = s.tick_cost_ns_p99,
        .tick_cost_ns_max = s.tick_cost_ns_max,
        .tick_lateness_ns_p99 = s.tick_lateness_ns_p99,
        .inputs_taken = s.inputs_taken,
        .inputs_late = s.inputs_late,
        .roots_compared = s.roots_compared,
        .roots_differed = s.roots_differed,
        .recording_bytes = s.recording_bytes,
    };
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_clients(cairn_control_context *c) {
    uint32_t count = 0;
    for (cairn_session *member = c->room->members; member != NULL; member = member->member_next) {
        CAIRN_ASSERT(count < c->server->config.clients_max);
        const cairn_link_statistics *link = cairn_link_statistics_read(member->link);
        c->lists->clients[count++] = (cairn_control_client){
            .client_id = member->client_id,
            .rtt_us = link->rtt_ns / 1000,
            .mode = member->mode,
            .slot = member->slot,
            .inputs_late = member->input_timing.inputs_late,
            .rights = member->rights,
        };
    }
    c->answer.clients =
        (cairn_control_clients_answer){.clients = c->lists->clients, .client_count = count};
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_hash(cairn_control_context *c) {
    _Static_assert(CAIRN_SECTION_COUNT <= CAIRN_CONTROL_SECTIONS_MAX, "every section is listed");
    const cairn_world_hash *hash = &c->room->hash;
    for (uint32_t i = 0; i < CAIRN_SECTION_COUNT; ++i) {
        cairn_control_section *section = &c->lists->sections[i];
        section->hash = hash->sections[i];
        cairn_control_name_set(section->name, cairn_section_name((cairn_section)i));
    }
    c->answer.hash = (cairn_control_hash_answer){.visible = hash->visible,
        .full = hash->full,
        .sections = c->lists->sections,
        .section_count = CAIRN_SECTION_COUNT};
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_diff(cairn_control_context *c) {
    const cairn_control_preparation *prepared = c->prepared;
    if (cairn_control_other_room(c->server, c->request) == NULL) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_ROOM_UNKNOWN, "unknown room \"%.64s\"", c->request->diff.other_room);
    }
    if (prepared != NULL && prepared->status == CAIRN_OUT_OF_MEMORY) {
        return cairn_control_refuse(c, CAIRN_CONTROL_CAPACITY, "out of memory");
    }
    if (prepared == NULL || prepared->status != CAIRN_OK) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_BUSY, "the other room is being stepped, or a world was replaced");
    }
    const uint32_t listed = prepared->difference_count < CAIRN_CONTROL_DIFFERENCES_MAX
                                ? prepared->difference_count
                                : CAIRN_CONTROL_DIFFERENCES_MAX;
    for (uint32_t i = 0; i < listed; ++i) {
        const cairn_difference *found = &prepared->differences[i];
        cairn_control_difference *difference = &c->lists->differences[i];
        difference->element = found->element;
        difference->bits_here = found->bits_a;
        difference->bits_other = found->bits_b;
        cairn_control_name_set(difference->section, cairn_section_name(found->section));
        cairn_control_name_set(difference->field, found->field);
    }
    c->answer.room = c->room->name; // which may have gone on since its world was copied
    c->answer.tick = prepared->tick;
    c->answer.root = prepared->root;
    c->answer.diff = (cairn_control_diff_answer){.difference_count = prepared->difference_count,
        .differences = c->lists->differences,
        .listed_count = listed};
    return CAIRN_CONTROL_DONE;
}
