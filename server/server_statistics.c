// SPDX-License-Identifier: MIT
#include "server/server_statistics.h"

#include <string.h>

#include "base/assert.h"
#include "net/netcode_drop.h"
#include "recording/recorder.h"
#include "schema/control.h"
#include "server/core/server_state.h"

_Static_assert(CAIRN_NETCODE_DROP_COUNT <= CAIRN_SERVER_NETCODE_DROPS_MAX, "every reason fits");
_Static_assert((int)CAIRN_LINK_DROP_COUNT <= CAIRN_SERVER_LINK_DROPS_MAX, "every reason fits");
_Static_assert((int)CAIRN_DECODE_REFUSAL_COUNT <= CAIRN_SERVER_DECODE_DROPS_MAX, "all fit");
_Static_assert((int)CAIRN_CONTROL_REFUSAL_COUNT <= CAIRN_SERVER_CONTROL_REFUSALS_MAX, "all fit");
_Static_assert((int)CAIRN_RESYNC_VERDICT_COUNT <= CAIRN_SERVER_RESYNC_VERDICTS_MAX, "all fit");

static void read_room(const cairn_room *room, cairn_server_room_statistics *out) {
    const cairn_tick_scheduler *scheduler = &room->scheduler;
    *out = room->statistics;
    out->tick = scheduler->tick;
    out->ticks_skipped = scheduler->ticks_skipped;
    out->advances_overloaded = scheduler->advances_overloaded;
    out->ticks_waited = scheduler->ticks_waited;
    out->tick_cost_ns_p50 = cairn_histogram_percentile(&room->tick_cost_ns, 500);
    out->tick_cost_ns_p99 = cairn_histogram_percentile(&room->tick_cost_ns, 990);
    out->tick_cost_ns_max = room->tick_cost_ns.max;
    out->tick_lateness_ns_p50 = cairn_histogram_percentile(&scheduler->lateness_ns, 500);
    out->tick_lateness_ns_p99 = cairn_histogram_percentile(&scheduler->lateness_ns, 990);
    out->tick_lateness_ns_max = scheduler->lateness_ns.max;
    out->players = cairn_inbox_players(room->inbox);
    out->bodies = room->counts.bodies;
    out->bodies_awake = room->counts.bodies_awake;
    if (room->recorder != NULL) {
        out->recording_bytes = cairn_recorder_bytes(room->recorder);
    }
}

// The counters that the server keeps after the room ended.
static void add_counters(cairn_server_statistics *out, const cairn_server_room_statistics *room) {
    out->ticks_skipped += room->ticks_skipped;
    out->advances_overloaded += room->advances_overloaded;
    out->joins += room->joins;
    out->leaves += room->leaves;
    out->inputs_taken += room->inputs_taken;
    out->inputs_late += room->inputs_late;
    out->inputs_early_refused += room->inputs_early_refused;
    out->inputs_repeated += room->inputs_repeated;
    out->inputs_refused += room->inputs_refused;
    out->keyframes_sent += room->keyframes_sent;
    out->deltas_sent += room->deltas_sent;
    out->snapshot_bytes += room->snapshot_bytes;
    out->snapshots_too_large += room->snapshots_too_large;
    out->ticks_messages_sent += room->ticks_messages_sent;
    out->state_transfers += room->state_transfers;
    out->state_bytes += room->state_bytes;
    out->roots_compared += room->roots_compared;
    out->roots_differed += room->roots_differed;
    out->recording_bytes += room->recording_bytes;
    out->input_waits += room->input_waits;
    out->input_wait_ns += room->input_wait_ns;
    out->ticks_waited += room->ticks_waited;
    out->slots_given_up += room->slots_given_up;
    out->jobs_stuck += room->jobs_stuck;
    out->resync_requests += room->resync_requests;
    for (uint32_t i = 0; i < CAIRN_RESYNC_VERDICT_COUNT; ++i) {
        out->resync_responses[i] += room->resync_responses[i];
    }
    out->resync_elements += room->resync_elements;
    out->resync_bytes += room->resync_bytes;
    out->states_resent += room->states_resent;
    out->clients_unfit += room->clients_unfit;
    out->clients_demoted += room->clients_demoted;
}

void cairn_statistics_add_closed_room(cairn_server_statistics *server, const cairn_room *room) {
    cairn_server_room_statistics last;
    CAIRN_ASSERT(room->recorder == NULL);
    read_room(room, &last);
    add_counters(server, &last);
}

bool cairn_server_room_statistics_read(
    const cairn_server *server, uint32_t room, cairn_server_room_statistics *out) {
    const cairn_room *read = cairn_server_room_at(server, room);
    *out = (cairn_server_room_statistics){0};
    if (read != NULL) {
        read_room(read, out);
    }
    return read != NULL;
}

static void read_rooms(const cairn_server *server, cairn_server_statistics *out) {
    cairn_histogram cost = {0};
    cairn_histogram lateness = {0};
    for (uint32_t id = 0; (id = cairn_server_room_next(server, id)) != 0;) {
        const cairn_room *room = cairn_server_room_at(server, id);
        cairn_server_room_statistics one;
        read_room(room, &one);
        add_counters(out, &one);
        out->tick = out->rooms == 0 ? one.tick : out->tick;
        out->rooms += 1;
        out->players += one.players;
        out->bodies += one.bodies;
        out->bodies_awake += one.bodies_awake;
        if (out->tick_cost_ns_last < one.tick_cost_ns_last) {
            out->tick_cost_ns_last = one.tick_cost_ns_last;
        }
        cairn_histogram_merge(&cost, &room->tick_cost_ns);
        cairn_histogram_merge(&lateness, &room->scheduler.lateness_ns);
    }
    out->tick_cost_ns_p50 = cairn_histogram_percentile(&cost, 500);
    out->tick_cost_ns_p99 = cairn_histogram_percentile(&cost, 990);
    out->tick_cost_ns_max = cost.max;
    out->tick_lateness_ns_p50 = cairn_histogram_percentile(&lateness, 500);
    out->tick_lateness_ns_p99 = cairn_histogram_percentile(&lateness, 990);
    out->tick_lateness_ns_max = lateness.max;
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
    read_rooms(server, out);
    memcpy(out->drops_netcode, cairn_netcode_server_drops(server->context.netcode),
        CAIRN_NETCODE_DROP_COUNT * sizeof out->drops_netcode[0]);
    read_sessions(server, out);
}
