// SPDX-License-Identifier: MIT
#include "server/replicate/state_transfer.h"

#include <stdlib.h>

#include "base/assert.h"
#include "compress/state_packer.h"
#include "sim/serialize/encode_layout.h"

#define PIECE_SIZE (16 * 1024)

cairn_state_source cairn_state_source_of(
    size_t capacity, uint64_t span_ns, cairn_task_runner *runner) {
    CAIRN_ASSERT(capacity > 0 && capacity <= CAIRN_STATE_SIZE_MAX);
    return (cairn_state_source){.capacity = capacity,
        .span_ns = span_ns,
        .interval_ns = CAIRN_STATE_INTERVAL_NS,
        .runner = runner};
}

static void free_state(cairn_encoded_state *state) {
    free(state->bytes);
    free(state->packed);
    free(state);
}

void cairn_state_source_release(cairn_state_source *source, cairn_encoded_state *state) {
    CAIRN_ASSERT(state->references > 0 && source->held > 0 && state->source == source);
    state->references -= 1;
    if (state->references == 0) {
        source->held -= 1;
        free_state(state);
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
    if (source->packing != NULL) { // freed when its task is done
        source->packing->source = NULL;
        source->held -= 1;
    }
    CAIRN_ASSERT(source->held == 0);
    *source = (cairn_state_source){0};
}

void cairn_state_source_invalidate(cairn_state_source *source) {
    drop_newest(source);
    source->due_ns = 0;
}

// On any thread. A state that does not become shorter, or for which memory is short, stays as it
// is.
static void pack(cairn_server_task *task) {
    cairn_encoded_state *state = (cairn_encoded_state *)task;
    uint8_t *packed = malloc(state->size);
    if (packed == NULL) {
        return;
    }
    const size_t size = cairn_state_pack(
        state->bytes, state->size, state->groups, state->group_count, packed, state->size);
    uint8_t *shorter = size < state->size ? realloc(packed, size) : NULL;
    state->packed = shorter != NULL ? shorter : packed;
    state->packed_size = size < state->size ? size : 0;
}

static void end_packing(cairn_server_task *task) {
    cairn_encoded_state *state = (cairn_encoded_state *)task;
    cairn_state_source *source = state->source;
    if (source == NULL) {
        free_state(state);
        return;
    }
    const bool newest = source->newest == state;
    CAIRN_ASSERT(source->packing == state);
    source->packing = NULL;
    if (state->packed_size > 0 && state->references == (newest ? 2 : 1)) {
        free(state->bytes);
        state->bytes = NULL;
    }
    cairn_state_source_release(source, state);
}

static void start_packing(cairn_state_source *source, cairn_encoded_state *state) {
    if (source->packing != NULL) {
        return; // the tasks hang: this one is sent as it is
    }
    state->task = (cairn_server_task){.run = pack, .done = end_packing};
    state->references += 1;
    source->packing = state;
    cairn_task_start(source->runner, &state->task);
}

static bool may_be_read(const cairn_encoded_state *state, uint64_t now_ns) {
    return !state->task.out || now_ns - state->encoded_ns >= CAIRN_STATE_PACK_NS;
}

static cairn_status encode_newest(
    cairn_state_source *source, const cairn_world *world, uint64_t now_ns) {
    const size_t size = cairn_world_encode_size(world);
    if (size > source->capacity) {
        return CAIRN_CAPACITY;
    }
    cairn_encoded_state *state = calloc(1, sizeof *state);
    uint8_t *bytes = malloc(size);
    if (state == NULL || bytes == NULL) {
        free(state);
        free(bytes);
        return CAIRN_OUT_OF_MEMORY;
    }
    const size_t written = cairn_world_encode(world, bytes, size);
    CAIRN_ASSERT(written == size);
    *state = (cairn_encoded_state){.source = source,
        .references = 1,
        .tick = cairn_world_tick(world),
        .encoded_ns = now_ns,
        .size = size,
        .bytes = bytes};
    state->group_count = cairn_world_encode_layout(world, state->groups);
    drop_newest(source);
    source->newest = state;
    source->held += 1;
    source->encoded += 1;
    source->size = size;
    const uint64_t share_ns =
        (uint64_t)((double)source->span_ns * (double)size / (double)CAIRN_STATES_SIZE_MAX);
    source->interval_ns = share_ns > CAIRN_STATE_INTERVAL_NS ? share_ns : CAIRN_STATE_INTERVAL_NS;
    source->due_ns = now_ns + source->interval_ns;
    start_packing(source, state);
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
    if (source->newest == NULL || source->newest->tick < demand->tick_min ||
        !may_be_read(source->newest, now_ns)) {
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
        *progress = (cairn_state_transfer_progress){
            .reading = state, .packed = state->packed_size > 0, .tick = state->tick};
        room->statistics.state_transfers += 1;
    }
}

static size_t size_read(const cairn_state_transfer_progress *progress) {
    const cairn_encoded_state *state = progress->reading;
    return progress->packed ? state->packed_size : state->size;
}

static bool send_piece(const cairn_server_context *context, cairn_session *session,
    cairn_state_transfer_progress *progress) {
    const cairn_encoded_state *state = progress->reading;
    const size_t left = size_read(progress) - progress->offset;
    const size_t size = left < PIECE_SIZE ? left : PIECE_SIZE;
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_STATE,
        .state = {.tick = state->tick,
            .offset = progress->offset,
            .total_size = (uint32_t)size_read(progress),
            .unpacked_size = progress->packed ? (uint32_t)state->size : 0,
            .bytes = (progress->packed ? state->packed : state->bytes) + progress->offset,
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
    const size_t size = size_read(progress);
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
