// SPDX-License-Identifier: MIT
#include "server/replicate/snapshots.h"

#include "base/assert.h"

// A keyframe up to two payloads long is sent with every snapshot until one is acknowledged. A
// longer one is seldom complete on a lossy path and goes over the reliable stream, once.
#define UNRELIABLE_KEYFRAME_SIZE_MAX (2 * 1100)

// False: the delta is longer than a message.
static bool send_delta(const cairn_server_context *context, cairn_session *session,
    cairn_baselines *baselines, const cairn_baseline *baseline) {
    const cairn_baseline *newest = cairn_baselines_newest(baselines);
    size_t payload_size = 0;
    const uint8_t *payload = cairn_baselines_delta(baselines, baseline, &payload_size);
    CAIRN_ASSERT(baseline->tick <= newest->tick);
    if (payload == NULL) {
        return false;
    }
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_DELTA,
        .delta = {.world_epoch = session->world_epoch,
            .tick = newest->tick,
            .baseline_tick = baseline->tick,
            .visible_root = newest->visible_root,
            .full_root = newest->full_root,
            .timing =
                cairn_input_timing_report(&session->input_timing, session->room, session->slot),
            .payload = payload,
            .payload_size = (uint32_t)payload_size},
    };
    const size_t size = cairn_session_send_unreliable(session, context->encoder, &message);
    session->room->statistics.deltas_sent += size > 0 ? 1 : 0;
    session->room->statistics.snapshot_bytes += size;
    return size > 0;
}

static void send_keyframe(const cairn_server_context *context, cairn_session *session,
    const cairn_baselines *baselines, cairn_snapshots_sent *sent) {
    cairn_server_room_statistics *statistics = &session->room->statistics;
    const cairn_baseline *newest = cairn_baselines_newest(baselines);
    const size_t estimate =
        newest->body_count * sizeof(cairn_snapshot_body) + CAIRN_SESSION_ENVELOPE_SIZE;
    const bool reliable = estimate > UNRELIABLE_KEYFRAME_SIZE_MAX;
    // One is on its way over the reliable stream and will still be a baseline when it arrives.
    const bool in_flight = sent->keyframe_tick > sent->acknowledged &&
                           cairn_baselines_find(baselines, sent->keyframe_tick) != NULL;
    if (estimate > CAIRN_MESSAGE_SIZE_MAX) {
        statistics->snapshots_too_large += 1;
        return;
    }
    if (reliable && (in_flight || cairn_link_reliable_room(session->link) < estimate)) {
        return;
    }
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_KEYFRAME,
        .keyframe = {.world_epoch = session->world_epoch,
            .tick = newest->tick,
            .visible_root = newest->visible_root,
            .full_root = newest->full_root,
            .timing =
                cairn_input_timing_report(&session->input_timing, session->room, session->slot),
            .bodies = newest->bodies,
            .body_count = newest->body_count},
    };
    const size_t size = reliable
                            ? cairn_session_send_reliable(session, context->encoder, &message)
                            : cairn_session_send_unreliable(session, context->encoder, &message);
    if (size > 0) {
        sent->keyframe_tick = reliable ? newest->tick : 0;
        statistics->keyframes_sent += 1;
        statistics->snapshot_bytes += size;
    }
}

void cairn_snapshot_send(const cairn_server_context *context, cairn_session *session,
    cairn_baselines *baselines, cairn_snapshots_sent *sent) {
    CAIRN_ASSERT(cairn_baselines_newest(baselines) != NULL);
    const cairn_baseline *baseline = cairn_baselines_find(baselines, sent->acknowledged);
    if (baseline == NULL || !send_delta(context, session, baselines, baseline)) {
        send_keyframe(context, session, baselines, sent);
    }
}
