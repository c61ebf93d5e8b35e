// SPDX-License-Identifier: MIT
#include "server/replicate/state_transfer.h"

#include <stdlib.h>

#include "base/assert.h"

#define PIECE_SIZE (16 * 1024)

cairn_status cairn_state_source_create(size_t capacity, cairn_state_source *out) {
    CAIRN_ASSERT(capacity > 0 && capacity <= CAIRN_STATE_SIZE_MAX);
    *out = (cairn_state_source){.bytes = malloc(capacity), .capacity = capacity};
    return out->bytes == NULL ? CAIRN_OUT_OF_MEMORY : CAIRN_OK;
}

void cairn_state_source_destroy(cairn_state_source *source) {
    free(source->bytes);
    *source = (cairn_state_source){0};
}

cairn_status cairn_state_source_join(cairn_state_source *source, const cairn_world *world,
    uint64_t fresh_ticks, uint64_t usable_ticks) {
    const uint64_t age = cairn_world_tick(world) - source->tick;
    const bool serves = age <= fresh_ticks || (source->readers > 0 && age <= usable_ticks);
    if (source->generation == 0 || source->stale || !serves) {
        const size_t size = cairn_world_encode(world, source->bytes, source->capacity);
        if (size == 0) {
            return CAIRN_CAPACITY;
        }
        source->size = size;
        source->tick = cairn_world_tick(world);
        source->generation += 1;
        source->stale = false;
    }
    source->readers += 1;
    CAIRN_ASSERT(source->size <= source->capacity && source->tick <= cairn_world_tick(world));
    return CAIRN_OK;
}

void cairn_state_source_leave(cairn_state_source *source) {
    CAIRN_ASSERT(source->readers > 0);
    source->readers -= 1;
}

void cairn_state_source_invalidate(cairn_state_source *source) {
    CAIRN_ASSERT(source->readers == 0);
    source->stale = true;
}

void cairn_state_transfer_begin(const cairn_server_context *context, cairn_session *session,
    cairn_state_source *source, cairn_state_transfer_progress *progress, uint64_t usable_ticks) {
    const cairn_room *room = session->room;
    const uint32_t rate_hz = room->settings.tick_rate_hz;
    CAIRN_ASSERT(!progress->reading && !progress->sent);
    const uint64_t fresh_ticks = usable_ticks < rate_hz ? usable_ticks : rate_hz;
    const cairn_status status =
        cairn_state_source_join(source, room->world, fresh_ticks, usable_ticks);
    if (status != CAIRN_OK) {
        cairn_context_emit(context, room, CAIRN_LOG_ERROR, "state_too_large", session->client_id,
            "the room's state is larger than a transfer may be", 0);
        cairn_netcode_server_disconnect(context->netcode, context->now_ns, session->client);
        return;
    }
    progress->reading = true;
    progress->generation = 0;
}

static bool send_piece(const cairn_server_context *context, cairn_session *session,
    const cairn_state_source *source, cairn_state_transfer_progress *progress) {
    const size_t left = source->size - progress->offset;
    const size_t size = left < PIECE_SIZE ? left : PIECE_SIZE;
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_STATE,
        .state = {.tick = source->tick,
            .offset = progress->offset,
            .total_size = (uint32_t)source->size,
            .bytes = source->bytes + progress->offset,
            .size = (uint32_t)size},
    };
    if (cairn_link_reliable_room(session->link) < size + CAIRN_SESSION_ENVELOPE_SIZE ||
        cairn_session_send_reliable(session, context->encoder, &message) == 0) {
        return false;
    }
    progress->offset += (uint32_t)size;
    session->room->statistics.state_bytes += size;
    return true;
}

void cairn_state_transfer_continue(const cairn_server_context *context, cairn_session *session,
    cairn_state_source *source, cairn_state_transfer_progress *progress) {
    CAIRN_ASSERT(progress->reading);
    if (progress->generation != source->generation) {
        progress->generation = source->generation;
        progress->offset = 0;
        progress->tick = source->tick;
        session->room->statistics.state_transfers += 1;
    }
    while (progress->offset < source->size && send_piece(context, session, source, progress)) {}
    CAIRN_ASSERT(progress->offset <= source->size);
    if (progress->offset == source->size) {
        progress->sent = true;
        progress->reading = false;
        cairn_state_source_leave(source);
    }
}

void cairn_state_transfer_abandon(
    cairn_state_source *source, cairn_state_transfer_progress *progress) {
    if (progress->reading) {
        cairn_state_source_leave(source);
    }
    progress->reading = false;
    progress->sent = false;
}
