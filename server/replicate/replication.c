// SPDX-License-Identifier: MIT
#include "server/replicate/replication.h"

#include "base/assert.h"
#include "bridge/snapshot.h"
#include "server/server_parts.h"

// Room for the fields around a message's long vector.
#define ENVELOPE_SIZE 512
// A keyframe up to two payloads long is sent with every snapshot until one is acknowledged; a
// longer one is seldom whole on a lossy path and goes over the reliable stream, once.
#define LOOSE_KEYFRAME_SIZE (2 * 1100)
#define SHAPES_PER_MESSAGE 128
#define CORNERS_PER_MESSAGE 512
#define STATE_PIECE_SIZE (16 * 1024)

// Ticks and commands of a message that fits one payload beside its other fields, and three.
#define TICKS_SIZE 1000
#define LONG_TICKS_SIZE 2800
// What goes over the stream cannot be told again, so a client must have room for it.
#define QUEUED_TICKS_MAX 384
// A path's round trip before it is known.
#define FIRST_RTT_NS UINT64_C(300000000)

typedef struct shape_batch {
    cairn_snapshot_shape shapes[SHAPES_PER_MESSAGE];
    uint32_t removed[SHAPES_PER_MESSAGE];
    uint8_t corner_counts[SHAPES_PER_MESSAGE];
    cairn_vec3 corners[CORNERS_PER_MESSAGE];
    uint32_t shape_count;
    uint32_t removed_count;
    uint32_t hull_count;
    uint32_t corner_count;
} shape_batch;

static void collect_corners(const cairn_room *room, cairn_shape_id shape, shape_batch *batch) {
    const uint32_t count =
        cairn_shape_corners_read(room->world, shape, &batch->corners[batch->corner_count]);
    batch->corner_counts[batch->hull_count++] = (uint8_t)count;
    batch->corner_count += count;
}

// Collects what the client does not know yet. Returns whether that was all.
static bool collect_shapes(
    const cairn_room *room, const cairn_session *session, shape_batch *batch) {
    uint32_t next = 0;
    for (uint32_t index = 0; index < room->shape_capacity; ++index) {
        bool exists = next < room->shape_count && cairn_id_index(room->shapes[next].id) == index;
        const cairn_snapshot_shape *shape = exists ? &room->shapes[next++] : NULL;
        uint32_t told = session->shapes_told[index];
        if (told == (exists ? shape->id : 0)) {
            continue;
        }
        if (batch->shape_count == SHAPES_PER_MESSAGE ||
            batch->removed_count == SHAPES_PER_MESSAGE ||
            batch->corner_count > CORNERS_PER_MESSAGE - CAIRN_HULL_VERTICES_MAX) {
            return false;
        }
        if (told != 0) {
            batch->removed[batch->removed_count++] = told;
        }
        if (exists) {
            batch->shapes[batch->shape_count++] = *shape;
            if (shape->kind == CAIRN_SHAPE_HULL) {
                collect_corners(room, shape->id, batch);
            }
        }
    }
    return true;
}

static bool send_shapes(cairn_server *server, cairn_session *session, const shape_batch *batch) {
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_SHAPES,
        .shapes = {.tick = cairn_world_tick(session->room->world),
            .shapes = batch->shapes,
            .shape_count = batch->shape_count,
            .removed = batch->removed,
            .removed_count = batch->removed_count,
            .corner_counts = batch->corner_counts,
            .hull_count = batch->hull_count,
            .corners = batch->corners,
            .corner_count = batch->corner_count},
    };
    if (cairn_server_send_reliable(server, session, &message) == 0) {
        return false;
    }
    for (uint32_t i = 0; i < batch->removed_count; ++i) {
        session->shapes_told[cairn_id_index(batch->removed[i])] = 0;
    }
    for (uint32_t i = 0; i < batch->shape_count; ++i) {
        session->shapes_told[cairn_id_index(batch->shapes[i].id)] = batch->shapes[i].id;
    }
    return true;
}

static void tell_shapes(cairn_server *server, cairn_session *session) {
    const size_t most = SHAPES_PER_MESSAGE * (sizeof(cairn_snapshot_shape) + sizeof(uint32_t) + 1) +
                        CORNERS_PER_MESSAGE * sizeof(cairn_vec3);
    bool all = session->shapes_revision == session->room->shapes_revision;
    while (!all && cairn_link_reliable_room(session->link) >= most + ENVELOPE_SIZE) {
        shape_batch batch;
        batch.shape_count = 0;
        batch.removed_count = 0;
        batch.hull_count = 0;
        batch.corner_count = 0;
        all = collect_shapes(session->room, session, &batch);
        bool empty = batch.shape_count == 0 && batch.removed_count == 0;
        if (!empty && !send_shapes(server, session, &batch)) {
            return;
        }
        session->shapes_revision = all ? session->room->shapes_revision : session->shapes_revision;
    }
}

static bool tell_delta(
    cairn_server *server, cairn_session *session, const cairn_baseline *baseline) {
    const cairn_baseline *newest = cairn_baselines_newest(session->room->baselines);
    size_t payload_size = 0;
    const uint8_t *payload =
        cairn_baselines_delta(session->room->baselines, baseline, &payload_size);
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
            .timing = cairn_session_timing(session),
            .payload = payload,
            .payload_size = (uint32_t)payload_size},
    };
    size_t size = cairn_server_send_unreliable(server, session, &message);
    session->room->statistics.deltas_sent += size > 0 ? 1 : 0;
    session->room->statistics.snapshot_bytes += size;
    return size > 0;
}

// Whether a keyframe is on its way over the reliable stream and still a baseline when it arrives.
static bool keyframe_awaited(const cairn_session *session) {
    return session->keyframe_tick > session->snapshot_acknowledged &&
           cairn_baselines_find(session->room->baselines, session->keyframe_tick) != NULL;
}

static void tell_keyframe(cairn_server *server, cairn_session *session) {
    const cairn_baseline *newest = cairn_baselines_newest(session->room->baselines);
    size_t estimate = newest->body_count * sizeof(cairn_snapshot_body) + ENVELOPE_SIZE;
    bool loose = estimate <= LOOSE_KEYFRAME_SIZE;
    if (estimate > CAIRN_MESSAGE_SIZE_MAX) {
        session->room->statistics.snapshots_too_large += 1;
        return;
    }
    if (!loose &&
        (keyframe_awaited(session) || cairn_link_reliable_room(session->link) < estimate)) {
        return;
    }
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_KEYFRAME,
        .keyframe = {.world_epoch = session->world_epoch,
            .tick = newest->tick,
            .visible_root = newest->visible_root,
            .full_root = newest->full_root,
            .timing = cairn_session_timing(session),
            .bodies = newest->bodies,
            .body_count = newest->body_count},
    };
    size_t size = loose ? cairn_server_send_unreliable(server, session, &message)
                        : cairn_server_send_reliable(server, session, &message);
    if (size > 0) {
        session->keyframe_tick = loose ? 0 : newest->tick;
        session->room->statistics.keyframes_sent += 1;
        session->room->statistics.snapshot_bytes += size;
    }
}

static void tell_snapshot(cairn_server *server, cairn_session *session) {
    const cairn_baseline *baseline =
        cairn_baselines_find(session->room->baselines, session->snapshot_acknowledged);
    if (baseline == NULL || !tell_delta(server, session, baseline)) {
        tell_keyframe(server, session);
    }
}

// With no encoding that is older than `usable_ticks`: a client that held ticks must not get a state
// from before them.
static void begin_transfer(cairn_server *server, cairn_session *session, uint64_t usable_ticks) {
    cairn_room *room = session->room;
    const uint64_t fresh_ticks =
        usable_ticks < room->tick_rate_hz ? usable_ticks : room->tick_rate_hz;
    cairn_status status =
        cairn_state_source_join(&room->transfer, room->world, fresh_ticks, usable_ticks);
    if (status != CAIRN_OK) {
        cairn_server_emit_event(server, room, CAIRN_LOG_ERROR, "state_too_large",
            session->client_id, "the room's state does not fit a transfer", 0);
        cairn_netcode_server_disconnect(server->netcode, server->now_ns, session->client);
        return;
    }
    session->transferring = true;
    session->transfer_generation = 0;
}

static bool send_piece(cairn_server *server, cairn_session *session) {
    const cairn_state_source *transfer = &session->room->transfer;
    size_t left = transfer->size - session->transfer_offset;
    size_t size = left < STATE_PIECE_SIZE ? left : STATE_PIECE_SIZE;
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_STATE,
        .state = {.tick = transfer->tick,
            .offset = session->transfer_offset,
            .total_size = (uint32_t)transfer->size,
            .bytes = transfer->bytes + session->transfer_offset,
            .size = (uint32_t)size},
    };
    if (cairn_link_reliable_room(session->link) < size + ENVELOPE_SIZE ||
        cairn_server_send_reliable(server, session, &message) == 0) {
        return false;
    }
    session->transfer_offset += (uint32_t)size;
    session->room->statistics.state_bytes += size;
    return true;
}

static void continue_transfer(cairn_server *server, cairn_session *session) {
    cairn_state_source *transfer = &session->room->transfer;
    if (session->transfer_generation != transfer->generation) {
        session->transfer_generation = transfer->generation;
        session->transfer_offset = 0;
        session->ticks_from = transfer->tick;
        session->ticks_queued = transfer->tick;
        session->room->statistics.state_transfers += 1;
    }
    while (session->transfer_offset < transfer->size && send_piece(server, session)) {}
    if (session->transfer_offset == transfer->size) {
        session->state_sent = true;
        session->transferring = false;
        cairn_state_source_leave(transfer);
    }
}

static uint64_t first_tick_missing(const cairn_session *session) {
    return session->ticks_acknowledged > session->ticks_from ? session->ticks_acknowledged
                                                             : session->ticks_from;
}

static void abandon_state(cairn_session *session) {
    if (session->transferring) {
        cairn_state_source_leave(&session->room->transfer);
    }
    session->transferring = false;
    session->state_sent = false;
}

static size_t told_size(uint32_t tick_count, uint32_t command_count) {
    return tick_count * (sizeof(cairn_wire_tick) + sizeof(uint64_t)) +
           command_count * sizeof(cairn_command);
}

// The first of the newest ticks that fit `size`; at least one, none before `missing`.
static uint64_t newest_ticks(const cairn_command_log *history, uint64_t missing, size_t size) {
    const uint64_t end = cairn_command_log_end(history);
    uint64_t first = end;
    size_t told = 0;
    while (first > missing) {
        told += told_size(1, cairn_command_log_command_count(history, first - 1));
        if (told > size && first < end) {
            break;
        }
        first--;
    }
    return first;
}

// Whether the acknowledgement of `missing` should have come: the path's time, and some of the ends'
// own ticks.
static bool overdue(const cairn_session *session, uint64_t missing) {
    const cairn_link_statistics *link = cairn_link_statistics_read(session->link);
    uint64_t tick_ns = UINT64_C(1000000000) / session->room->tick_rate_hz;
    uint64_t path_ns = link->rtt_ns > 0 ? link->rtt_ns + 4 * link->jitter_ns : FIRST_RTT_NS;
    return (cairn_command_log_end(session->room->command_log) - missing) * tick_ns >
           path_ns + 4 * tick_ns;
}

static cairn_command_log_span read_ticks(
    cairn_server *server, const cairn_command_log *history, uint64_t from, uint64_t end) {
    cairn_command_log_span run = {
        .ticks = server->ticks,
        .digests = server->digests,
        .tick_capacity = CAIRN_REPLICATION_TICKS_MAX,
        .commands = server->commands,
        .command_capacity = CAIRN_REPLICATION_COMMANDS_MAX,
    };
    if (end - from < run.tick_capacity) {
        run.tick_capacity = (uint32_t)(end - from);
    }
    cairn_command_log_read(history, from, &run);
    return run;
}

static bool send_ticks(cairn_server *server, cairn_session *session,
    const cairn_command_log_span *run, bool reliable) {
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_TICKS,
        .ticks = {.world_epoch = session->world_epoch,
            .timing = cairn_session_timing(session),
            .ticks = run->ticks,
            .tick_count = run->tick_count,
            .commands = run->commands,
            .command_count = run->command_count,
            .digests = run->digests,
            .digest_count = run->tick_count},
    };
    const bool sent = reliable ? cairn_server_send_reliable(server, session, &message)
                               : cairn_server_send_unreliable(server, session, &message) > 0;
    session->room->statistics.ticks_messages_sent += sent ? 1 : 0;
    return sent;
}

// Queues overdue ticks up to `end`, as far as the stream has room and a client is sure to have it.
static void queue_ticks(
    cairn_server *server, cairn_session *session, uint64_t missing, uint64_t end) {
    uint64_t from = session->ticks_queued > missing ? session->ticks_queued : missing;
    end = end < missing + QUEUED_TICKS_MAX ? end : missing + QUEUED_TICKS_MAX;
    while (from < end) {
        const cairn_command_log_span run =
            read_ticks(server, session->room->command_log, from, end);
        const size_t size = told_size(run.tick_count, run.command_count) + ENVELOPE_SIZE;
        if (cairn_link_reliable_room(session->link) < size ||
            !send_ticks(server, session, &run, true)) {
            return;
        }
        from += run.tick_count;
        session->ticks_queued = from;
    }
}

// Every tick is told until it is acknowledged: all that are missing in each message, while that is
// short. On a long path at a high rate it is not, and long messages cost much and are lost often:
// then each message tells the newest in one payload, so that some may be lost in a row, and what is
// missing before them for longer than an acknowledgement takes goes over the reliable stream, once.
static void tell_ticks(cairn_server *server, cairn_session *session) {
    const uint64_t missing = first_tick_missing(session);
    const uint64_t end = cairn_command_log_end(session->room->command_log);
    uint64_t first = newest_ticks(session->room->command_log, missing, LONG_TICKS_SIZE);
    if (first > missing) {
        first = newest_ticks(session->room->command_log, missing, TICKS_SIZE);
        if (overdue(session, missing)) {
            queue_ticks(server, session, missing, first);
        }
    }
    if (first < end) {
        const cairn_command_log_span run =
            read_ticks(server, session->room->command_log, first, end);
        const bool sent = send_ticks(server, session, &run, false);
        CAIRN_ASSERT(sent);
    }
}

static void advance_lockstep(cairn_server *server, cairn_session *session) {
    if (session->state_requested) {
        abandon_state(session);
        begin_transfer(server, session, 0);
        session->state_requested = false;
    }
    bool begun = session->transferring || session->state_sent;
    if (begun &&
        first_tick_missing(session) < cairn_command_log_oldest(session->room->command_log)) {
        abandon_state(session);
        begun = false;
    }
    if (!begun) {
        begin_transfer(server, session, CAIRN_ROOM_COMMAND_LOG_TICKS / 2);
    }
    if (session->transferring) {
        continue_transfer(server, session);
    }
    // Ticks before the state has arrived would only be thrown away.
    bool arrived = cairn_link_reliable_idle(session->link) ||
                   session->ticks_acknowledged > session->ticks_from;
    if (session->state_sent && arrived) {
        tell_ticks(server, session);
    }
}

void cairn_replication_advance(struct cairn_server *server, cairn_session *session, bool snapshot) {
    if (session->state != CAIRN_SESSION_WELCOMED && session->state != CAIRN_SESSION_PLAYING) {
        return;
    }
    if (cairn_mode_simulates(session->mode)) {
        advance_lockstep(server, session);
        return;
    }
    if (snapshot) {
        tell_snapshot(server, session);
    }
    tell_shapes(server, session);
}
