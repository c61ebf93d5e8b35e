// SPDX-License-Identifier: MIT
#include "server/server_rooms.h"

#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "net/link_header.h"
#include "net/netcode_drop.h"
#include "schema/control.h"
#include "server/core/room_opening.h"
#include "server/core/server_state.h"

_Static_assert(CAIRN_NETCODE_DROP_COUNT <= CAIRN_SERVER_NETCODE_DROPS_MAX, "every reason fits");
_Static_assert((int)CAIRN_LINK_DROP_COUNT <= CAIRN_SERVER_LINK_DROPS_MAX, "every reason fits");
_Static_assert((int)CAIRN_DECODE_REFUSAL_COUNT <= CAIRN_SERVER_DECODE_DROPS_MAX, "all fit");
_Static_assert((int)CAIRN_NETCODE_DROP_COUNT + (int)CAIRN_LINK_DROP_COUNT +
                       (int)CAIRN_DECODE_REFUSAL_COUNT + (int)CAIRN_GAME_REFUSAL_COUNT +
                       (int)CAIRN_INPUT_REFUSAL_COUNT + 1 <=
                   CAIRN_SERVER_DROPS_MAX,
    "all fit");
_Static_assert((int)CAIRN_CONTROL_REFUSAL_COUNT <= CAIRN_SERVER_CONTROL_REFUSALS_MAX, "all fit");
_Static_assert((int)CAIRN_GAME_REFUSAL_COUNT <= CAIRN_SERVER_GAME_REFUSALS_MAX, "all fit");
_Static_assert((int)CAIRN_INPUT_REFUSAL_COUNT <= CAIRN_SERVER_INPUT_REFUSALS_MAX, "all fit");
_Static_assert((int)CAIRN_RESYNC_VERDICT_COUNT <= CAIRN_SERVER_RESYNC_VERDICTS_MAX, "all fit");

#define FIRST_BOUND_LOG2 14
_Static_assert(CAIRN_SERVER_TIME_BOUND_NS(0) == UINT64_C(1) << FIRST_BOUND_LOG2, "the same bound");

const char *cairn_game_refusal_text(cairn_game_refusal refusal) {
    static const char *const texts[CAIRN_GAME_REFUSAL_COUNT] = {
        [CAIRN_GAME_TAKEN] = "taken",
        [CAIRN_GAME_REFUSED_NO_RULES] = "the rules of the room take no messages",
        [CAIRN_GAME_REFUSED_TOO_LARGE] = "the message is larger than the rules take",
        [CAIRN_GAME_REFUSED_SPECTATOR] = "a spectator cannot send messages to the rules",
        [CAIRN_GAME_REFUSED_BUDGET] = "the client sends more messages than it may",
        [CAIRN_GAME_REFUSED_BUSY] = "too many messages of all players wait",
    };
    return (uint32_t)refusal < CAIRN_GAME_REFUSAL_COUNT ? texts[refusal] : "unknown refusal";
}

_Static_assert((int)CAIRN_MODE_COUNT <= CAIRN_SERVER_MODES_MAX, "all fit");

const char *cairn_server_mode_text(uint32_t mode) {
    static const char *const texts[CAIRN_MODE_COUNT] = {
        [CAIRN_MODE_INTERPOLATE] = "interpolate",
        [CAIRN_MODE_LOCKSTEP] = "lockstep",
        [CAIRN_MODE_PREDICT] = "predict",
        [CAIRN_MODE_HEAL] = "heal",
    };
    return mode < CAIRN_MODE_COUNT ? texts[mode] : NULL;
}

static void set_percentiles(cairn_server_room_statistics *out, const cairn_histogram *cost_ns,
    const cairn_histogram *lateness_ns) {
    out->tick_cost_ns_p50 = cairn_histogram_percentile(cost_ns, 500);
    out->tick_cost_ns_p99 = cairn_histogram_percentile(cost_ns, 990);
    out->tick_cost_ns_max = cost_ns->max;
    out->tick_lateness_ns_p50 = cairn_histogram_percentile(lateness_ns, 500);
    out->tick_lateness_ns_p99 = cairn_histogram_percentile(lateness_ns, 990);
    out->tick_lateness_ns_max = lateness_ns->max;
}

static void set_recording(
    cairn_server_room_statistics *out, const cairn_recording_counters counters) {
    out->recording_bytes = counters.bytes;
    out->recording_segments = counters.segments;
    out->recording_failures = counters.failures;
    out->recording_gaps = counters.gaps;
    out->recording_ticks_lost = counters.ticks_lost;
}

static void set_broadcast(
    cairn_server_room_statistics *out, const cairn_recording_counters counters) {
    out->broadcast_bytes = counters.bytes;
    out->broadcast_segments = counters.segments;
    out->broadcast_failures = counters.failures;
    out->broadcast_gaps = counters.gaps;
    out->broadcast_ticks_lost = counters.ticks_lost;
}

// All but the percentiles, which need a pass over histograms.
static void read_counters(const cairn_room *room, cairn_server_room_statistics *out) {
    const cairn_tick_scheduler *scheduler = &room->scheduler;
    *out = room->statistics;
    out->tick = scheduler->tick;
    out->ticks_skipped = scheduler->ticks_skipped;
    out->advances_overloaded = scheduler->advances_overloaded;
    out->ticks_waited = scheduler->ticks_waited;
    for (const cairn_session *at = room->members; at != NULL; at = at->member_next) {
        out->clients_by_mode[at->mode] += 1;
    }
    out->players = cairn_inbox_players(room->inbox);
    out->bodies = room->population.bodies;
    out->bodies_awake = room->population.bodies_awake;
    if (room->recording != NULL) {
        set_recording(out, cairn_room_recording_counters(room->recording));
        out->recording_waiting = cairn_room_recording_waiting(room->recording);
    }
    if (room->broadcast != NULL) {
        set_broadcast(out, cairn_room_recording_counters(room->broadcast));
        out->broadcast_waiting = cairn_room_recording_waiting(room->broadcast);
    }
}

static void read_room(const cairn_room *room, cairn_server_room_statistics *out) {
    read_counters(room, out);
    set_percentiles(out, &room->tick_cost_ns, &room->scheduler.lateness_ns);
}

#define COUNTERS_OFFSET offsetof(cairn_server_room_statistics, ticks_skipped)
#define COUNTER_COUNT ((sizeof(cairn_server_room_statistics) - COUNTERS_OFFSET) / sizeof(uint64_t))

// Adds the counters that the server keeps after the room closed.
static void add_counters(
    cairn_server_room_statistics *total, const cairn_server_room_statistics *room) {
    uint64_t sums[COUNTER_COUNT];
    uint64_t counters[COUNTER_COUNT];
    memcpy(sums, (char *)total + COUNTERS_OFFSET, sizeof sums);
    memcpy(counters, (const char *)room + COUNTERS_OFFSET, sizeof counters);
    for (size_t i = 0; i < COUNTER_COUNT; ++i) {
        CAIRN_ASSERT(sums[i] + counters[i] >= sums[i]);
        sums[i] += counters[i];
    }
    memcpy((char *)total + COUNTERS_OFFSET, sums, sizeof sums);
}

void cairn_statistics_add_closed_room(cairn_server_statistics *server, const cairn_room *room) {
    cairn_server_room_statistics last;
    CAIRN_ASSERT(room->recording == NULL && room->broadcast == NULL);
    read_counters(room, &last);
    add_counters(&server->total, &last);
}

bool cairn_server_room_statistics_read(
    const cairn_server *server, uint32_t room, cairn_server_room_statistics *out) {
    const cairn_room *read = cairn_room_table_at(&server->rooms, room);
    *out = (cairn_server_room_statistics){0};
    if (read != NULL) {
        read_room(read, out);
    }
    return read != NULL;
}

static void read_times(const cairn_histogram *histogram, cairn_server_times *out) {
    out->count = histogram->count;
    out->sum_ns = histogram->sum;
    cairn_histogram_count_below(histogram, FIRST_BOUND_LOG2, CAIRN_SERVER_TIME_BOUNDS, out->within);
}

bool cairn_server_room_times_read(
    const cairn_server *server, uint32_t room, cairn_server_room_times *out) {
    const cairn_room *read = cairn_room_table_at(&server->rooms, room);
    *out = (cairn_server_room_times){0};
    if (read != NULL) {
        read_times(&read->tick_cost_ns, &out->cost);
        read_times(&read->scheduler.lateness_ns, &out->lateness);
    }
    return read != NULL;
}

static void read_rooms(const cairn_server *server, cairn_server_statistics *out) {
    cairn_server_room_statistics *total = &out->total;
    cairn_histogram cost_ns = {0};
    cairn_histogram lateness_ns = {0};
    for (uint32_t id = 0; (id = cairn_server_room_next(server, id)) != 0;) {
        const cairn_room *room = cairn_room_table_at(&server->rooms, id);
        cairn_server_room_statistics one;
        read_counters(room, &one);
        add_counters(total, &one);
        total->tick = out->rooms == 0 ? one.tick : total->tick;
        out->rooms += 1;
        total->clients += one.clients;
        total->players += one.players;
        total->bodies += one.bodies;
        total->bodies_awake += one.bodies_awake;
        if (total->tick_cost_ns_last < one.tick_cost_ns_last) {
            total->tick_cost_ns_last = one.tick_cost_ns_last;
        }
        cairn_histogram_merge(&cost_ns, &room->tick_cost_ns);
        cairn_histogram_merge(&lateness_ns, &room->scheduler.lateness_ns);
    }
    set_percentiles(total, &cost_ns, &lateness_ns);
}

static void read_sessions(const cairn_server *server, cairn_server_statistics *out) {
    for (uint32_t i = 0; i < server->config.clients_max; ++i) {
        const cairn_session *session = &server->sessions[i];
        if (session->state == CAIRN_SESSION_FREE) {
            continue;
        }
        out->clients += 1;
        const cairn_link_statistics *link = cairn_link_statistics_read(session->link);
        for (uint32_t drop = 0; drop < CAIRN_LINK_DROP_COUNT; ++drop) {
            out->drops_link[drop] += link->drops[drop];
        }
    }
}

void cairn_server_statistics_read(const cairn_server *server, cairn_server_statistics *out) {
    CAIRN_ASSERT(server != NULL && out != NULL);
    *out = server->statistics;
    // The recordings of closed rooms may still be written.
    cairn_server_room_statistics closed = {0};
    set_recording(&closed, cairn_recordings_closed(&server->recordings));
    set_broadcast(&closed, cairn_recordings_closed(&server->broadcasts));
    add_counters(&out->total, &closed);
    read_rooms(server, out);
    out->load_permille = cairn_server_load_permille(server);
    out->jobs_out = cairn_server_jobs_out(server);
    out->tasks_out = cairn_server_tasks_out(server);
    memcpy(out->drops_netcode, cairn_netcode_server_drops(server->context.netcode),
        CAIRN_NETCODE_DROP_COUNT * sizeof out->drops_netcode[0]);
    read_sessions(server, out);
}

static void add_drop(cairn_server_drop *out, uint32_t *count, const char *layer, const char *reason,
    uint64_t drops) {
    CAIRN_ASSERT(reason != NULL && *count < CAIRN_SERVER_DROPS_MAX);
    if (drops > 0) {
        out[(*count)++] = (cairn_server_drop){.layer = layer, .reason = reason, .count = drops};
    }
}

// Entry 0 of each array counts what was not dropped.
uint32_t cairn_server_drops_read(
    const cairn_server_statistics *statistics, cairn_server_drop out[CAIRN_SERVER_DROPS_MAX]) {
    uint32_t count = 0;
    for (uint32_t i = 1; i < CAIRN_NETCODE_DROP_COUNT; ++i) {
        add_drop(out, &count, "netcode", cairn_netcode_drop_text((cairn_netcode_drop)i),
            statistics->drops_netcode[i]);
    }
    add_drop(out, &count, "session", "the client sends more payloads than it may",
        statistics->payloads_over_budget);
    for (uint32_t i = 1; i < CAIRN_LINK_DROP_COUNT; ++i) {
        add_drop(out, &count, "link", cairn_link_drop_text((cairn_link_drop)i),
            statistics->drops_link[i]);
    }
    for (uint32_t i = 1; i < CAIRN_DECODE_REFUSAL_COUNT; ++i) {
        add_drop(out, &count, "message", cairn_decode_refusal_text((cairn_decode_refusal)i),
            statistics->drops_decode[i]);
    }
    for (uint32_t i = 1; i < CAIRN_GAME_REFUSAL_COUNT; ++i) {
        add_drop(out, &count, "game", cairn_game_refusal_text((cairn_game_refusal)i),
            statistics->total.game_messages_refused[i]);
    }
    for (uint32_t i = 1; i < CAIRN_INPUT_REFUSAL_COUNT; ++i) {
        add_drop(out, &count, "input", cairn_input_refusal_text((cairn_input_refusal)i),
            statistics->total.inputs_not_of_layout[i]);
    }
    return count;
}
