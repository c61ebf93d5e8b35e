// SPDX-License-Identifier: MIT
#include "server/replicate/state_transfer.h"

#include <stdlib.h>

#include "base/assert.h"

#define PIECE_SIZE (16 * 1024)

cairn_state_source cairn_state_source_of(size_t capacity, uint64_t span_ns) {
    CAIRN_ASSERT(capacity > 0 && capacity <= CAIRN_STATE_SIZE_MAX);
    return (cairn_state_source){
        .capacity = capacity, .span_ns = span_ns, .interval_ns = CAIRN_STATE_INTERVAL_NS};
}

void cairn_state_source_release(cairn_state_source *source, cairn_encoded_state *state) {
    CAIRN_ASSERT(state->references > 0 && source->held > 0);
    state->references -= 1;
    if (state->references == 0) {
        source->held -= 1;
        free(state);
    }
}

static void drop_newest(cairn_state_source *source) {
    if (source->newest != NULL) {
        cairn_state_source_release(source, source->newest);
        source->newest = NULL;
    }
}

void cairn_state_source_destroy(cairn_state_source *source) {
    drop_newest(source);
    CAIRN_ASSERT(source->held == 0);
    *source = (cairn_state_source){0};
}

void cairn_state_source_invalidate(cairn_state_source *source) {
    drop_newest(source);
    source->due_ns = 0;
}

static cairn_status encode_newest(
    cairn_state_source *source, const cairn_world *world, uint64_t now_ns) {
    const size_t size = cairn_world_encode_size(world);
    if (size > source->capacity) {
        return CAIRN_CAPACITY;
    }
    cairn_encoded_state *state = malloc(sizeof *state + size);
    if (state == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    const size_t written = cairn_world_encode(world, state->bytes, size);
    CAIRN_ASSERT(written == size);
    state->references = 1;
    state->tick = cairn_world_tick(world);
    state->size = size;
    drop_newest(source);
    source->newest = state;
    source->held += 1;
    source->encoded += 1;
    source->size = size;
    const uint64_t share_ns =
        (uint64_t)((double)source->span_ns * (double)size / (double)CAIRN_STATES_SIZE_MAX);
    source->interval_ns = share_ns > CAIRN_STATE_INTERVAL_NS ? share_ns : CAIRN_STATE_INTERVAL_NS;
    source->due_ns = now_ns + source->interval_ns;
    return CAIRN_OK;
}

cairn_status cairn_state_source_join(cairn_state_source *source, const cairn_world *world,
    uint64_t now_ns, const cairn_state_demand *demand, cairn_encoded_state **out) {
    CAIRN_ASSERT(demand->tick_min <= demand->tick_fresh);
    *out = NULL;
    const bool fresh = source->newest != NULL && source->newest->tick >= demand->tick_fresh;
    if (!fresh && now_ns >= source->due_ns) {
        const cairn_status status = encode_newest(source, world, now_ns);
        if (status != CAIRN_OK) {
            return status;
        }
    }
    if (source->newest == NULL || source->newest->tick < demand->tick_min) {
        return CAIRN_NOT_READY;
    }
    source->newest->references += 1;
    *out = source->newest;
    return CAIRN_OK;
}

void cairn_state_transfer_begin(const cairn_server_context *context, cairn_session *session,
    cairn_state_source *source, cairn_state_transfer_progress *progress,
    const cairn_state_demand *demand) {
    cairn_room *room = session->room;
    CAIRN_ASSERT(progress->reading == NULL);
    const uint64_t encoded = source->encoded;
    cairn_encoded_state *state;
    const cairn_status status =
        cairn_state_source_join(source, room->world, context->now_ns, demand, &state);
    room->statistics.states_encoded += source->encoded - encoded;
    if (status == CAIRN_CAPACITY) {
        cairn_context_emit(context, room, CAIRN_LOG_ERROR, "state_too_large", session->client_id,
            "the room's state is larger than a transfer may be", 0);
        cairn_netcode_server_disconnect(context->netcode, context->now_ns, session->client);
    }
    if (state != NULL) {
        *progress = (cairn_state_transfer_progress){.reading = state, .tick = state->tick};
        room->statistics.state_transfers += 1;
    }
}

static bool send_piece(const cairn_server_context *context, cairn_session *session,
    cairn_state_transfer_progress *progress) {
    const cairn_encoded_state *state = progress->reading;
    const size_t left = state->size - progress->offset;
    const size_t size = left < PIECE_SIZE ? left : PIECE_SIZE;
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_STATE,
        .state = {.tick = state->tick,
            .offset = progress->offset,
            .total_size = (uint32_t)state->size,
            .bytes = state->bytes + progress->offset,
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
    CAIRN_ASSERT(progress->reading != NULL);
    const size_t size = progress->reading->size;
    while (progress->offset < size && send_piece(context, session, progress)) {}
    CAIRN_ASSERT(progress->offset <= size);
    if (progress->offset == size) {
        cairn_state_source_release(source, progress->reading);
        progress->reading = NULL;
        progress->sent = true;
    }
}

void cairn_state_transfer_abandon(
    cairn_state_source *source, cairn_state_transfer_progress *progress) {
    if (progress->reading != NULL) {
        cairn_state_source_release(source, progress->reading);
    }
    progress->reading = NULL;
    progress->sent = false;
}
