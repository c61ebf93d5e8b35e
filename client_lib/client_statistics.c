// SPDX-License-Identifier: MIT
#include <cairn/client.h>

#include "base/assert.h"
#include "client_lib/client_parts.h"
#include "net/netcode_drop.h"

// A layer that counts why it dropped data. The reasons are [first, count): those before are not
// drops.
typedef struct drop_layer {
    const char *name;
    const uint64_t *counts;
    uint32_t first;
    uint32_t count;
} drop_layer;

enum { NETCODE, LINK, DECODE, SESSION, SNAPSHOT, LOCKSTEP, LAYERS };

// `reason` is one of the reasons of the layer.
static const char *drop_text(uint32_t layer, uint32_t reason) {
    static const char *const session_texts[CAIRN_CLIENT_DROP_COUNT] = {
        [CAIRN_CLIENT_DROP_NOT_WELCOME] = "before the welcome",
        [CAIRN_CLIENT_DROP_SECOND_WELCOME] = "a second welcome",
        [CAIRN_CLIENT_DROP_MODE] = "a message of another mode",
        [CAIRN_CLIENT_DROP_SHAPES] = "more shapes than shapes_max",
        [CAIRN_CLIENT_DROP_MESH] = "more bytes of meshes than mesh_size_max, or not in order",
        [CAIRN_CLIENT_DROP_OVER] = "no connection is open",
        [CAIRN_CLIENT_DROP_WORLD] = "of another world epoch",
        [CAIRN_CLIENT_DROP_ANSWER] = "too many answers wait for the host",
    };
    CAIRN_ASSERT(layer < LAYERS);
    switch (layer) {
    case NETCODE:
        return cairn_netcode_drop_text((cairn_netcode_drop)reason);
    case LINK:
        return cairn_link_drop_text((cairn_link_drop)reason);
    case DECODE:
        return cairn_decode_refusal_text((cairn_decode_refusal)reason);
    case SNAPSHOT:
        return cairn_snapshot_refusal_text((cairn_snapshot_refusal)reason);
    case LOCKSTEP:
        return cairn_lockstep_verdict_text((cairn_lockstep_verdict)reason);
    default:
        return session_texts[reason];
    }
}

bool cairn_client_drop_read(const cairn_client *client, uint32_t i, cairn_client_drop *out) {
    CAIRN_ASSERT(client != NULL && out != NULL);
    const cairn_client_drops *drops = &client->drops;
    const drop_layer layers[LAYERS] = {
        [NETCODE] = {"netcode", cairn_netcode_client_drops(client->connection.netcode),
            CAIRN_NETCODE_TAKEN + 1, CAIRN_NETCODE_DROP_COUNT},
        [LINK] = {"link", cairn_link_statistics_read(client->connection.link)->drops,
            CAIRN_LINK_TAKEN + 1, CAIRN_LINK_DROP_COUNT},
        [DECODE] = {"decode", drops->decode, CAIRN_DECODE_OK + 1, CAIRN_DECODE_REFUSAL_COUNT},
        [SESSION] = {"session", drops->session, 0, CAIRN_CLIENT_DROP_COUNT},
        [SNAPSHOT] = {"snapshot", drops->snapshot, CAIRN_SNAPSHOT_TAKEN + 1,
            CAIRN_SNAPSHOT_REFUSAL_COUNT},
        [LOCKSTEP] = {"lockstep", drops->lockstep, CAIRN_LOCKSTEP_EARLY + 1,
            CAIRN_LOCKSTEP_VERDICT_COUNT},
    };
    for (uint32_t n = 0; n < LAYERS; n++) {
        const drop_layer *layer = &layers[n];
        uint32_t reasons = layer->count - layer->first;
        if (i < reasons) {
            uint32_t reason = layer->first + i;
            *out = (cairn_client_drop){layer->name, drop_text(n, reason), layer->counts[reason]};
            return true;
        }
        i -= reasons;
    }
    *out = (cairn_client_drop){"", "", 0};
    return false;
}

void cairn_client_statistics_read(const cairn_client *client, cairn_client_statistics *out) {
    CAIRN_ASSERT(client != NULL && out != NULL);
    const cairn_client_view *view = &client->view;
    const cairn_client_outbox *outbox = &client->outbox;
    const cairn_timeline *timeline = &client->lockstep.timeline;
    const cairn_predict *predict = &client->predict;
    const cairn_client_resync *resync = &client->resync;
    CAIRN_ASSERT(timeline->head_tick >= cairn_timeline_confirmed_tick(timeline));
    const cairn_link_statistics *link = cairn_link_statistics_read(client->connection.link);
    *out = (cairn_client_statistics){
        .connection = client->connection.traffic,
        .snapshots = view->statistics,
        .inputs = {.sent = outbox->inputs_sent,
            .late = outbox->inputs_late,
            .lateness_us = outbox->lateness_us,
            .lead_ns = (uint64_t)client->timing.input_lead.lead_ns,
            .delay_ticks = client->timing.delay.input_delay},
        .simulation = {.ticks_stepped = timeline->steps,
            .roots_compared = timeline->roots_compared,
            .roots_differed = timeline->roots_differed,
            .first_difference_tick = timeline->first_difference_tick,
            .states_loaded = client->lockstep.states_loaded},
        .prediction = {.predicted_ticks = (uint32_t)(timeline->head_tick -
                                                     cairn_timeline_confirmed_tick(timeline)),
            .rollbacks = predict->rollback_log.count,
            .rollback_ticks = predict->rollback_log.ticks,
            .over_budget = predict->over_budget,
            .window_full = predict->window_full,
            .correction_m = predict->smoothing.error_m,
            .corrections = timeline->corrections,
            .corrected_ticks = timeline->corrected_ticks},
        .resync = {.count = resync->repair.count,
            .bytes = resync->repair.bytes,
            .repairs_refused = resync->repair.refused,
            .desync_reports = resync->report.count,
            .desync_reports_failed = resync->report.failed},
    };
    out->snapshots.received = view->statistics.keyframes + view->statistics.deltas;
    out->snapshots.events = view->events.received;
    out->snapshots.events_missed = view->events.missed;
    out->snapshots.interpolation_delay_ns = (uint64_t)view->interpolation.delay_ns;
    cairn_client_connection_statistics *connection = &out->connection;
    connection->slot = client->session.slot;
    connection->server_tick = client->timing.clock.newest_tick;
    connection->rtt_ns = link->rtt_ns;
    connection->jitter_ns = link->jitter_ns;
    connection->loss = link->loss;
    connection->rate_bytes_per_s = link->rate_bytes_per_s;
    connection->queue_ns = link->queue_ns;
    cairn_client_drop drop;
    for (uint32_t i = 0; cairn_client_drop_read(client, i, &drop); i++) {
        connection->datagrams_dropped += drop.count;
    }
}

uint32_t cairn_client_rollbacks(
    const cairn_client *client, cairn_client_rollback *out, uint32_t capacity) {
    CAIRN_ASSERT(client != NULL && (out != NULL || capacity == 0));
    return cairn_rollback_log_read(&client->predict.rollback_log, out, capacity);
}

uint64_t cairn_client_rollback_count(
    const cairn_client *client, cairn_client_rollback_cause cause) {
    CAIRN_ASSERT(client != NULL);
    return (uint32_t)cause < CAIRN_ROLLBACK_CAUSE_COUNT
               ? client->predict.rollback_log.by_cause[cause]
               : 0;
}

uint32_t cairn_client_resyncs(
    const cairn_client *client, cairn_client_resync_record *out, uint32_t capacity) {
    CAIRN_ASSERT(client != NULL && (out != NULL || capacity == 0));
    const cairn_client_repair *repair = &client->resync.repair;
    uint64_t count =
        repair->count < CAIRN_CLIENT_RESYNCS_HELD ? repair->count : CAIRN_CLIENT_RESYNCS_HELD;
    count = count < capacity ? count : capacity;
    for (uint64_t i = 0; i < count; ++i) {
        out[i] = repair->records[(repair->count - count + i) % CAIRN_CLIENT_RESYNCS_HELD];
    }
    return (uint32_t)count;
}
