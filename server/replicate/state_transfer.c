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
    cairn_world_destroy(state->copy);
    free(state->bytes);
    free(state->packed);
    free(state);
}

static size_t sent_size(const cairn_encoded_state *state) {
    return state->packed_size > 0 ? state->packed_size : state->size;
}

bool cairn_state_source_keep(cairn_state_source *source, cairn_encoded_state *state) {
    CAIRN_ASSERT(state->references > 0 && !state->task.out && state->source == source);
    const size_t size = sent_size(state);
    if (!state->old && size > CAIRN_OLD_STATES_SIZE_MAX - source->old_size) {
        return false;
    }
    source->old_size += state->old ? 0 : size;
    state->old = true;
    return true;
}

void cairn_state_source_release(cairn_state_source *source, cairn_encoded_state *state) {
    CAIRN_ASSERT(state->references > 0 && source->held > 0 && state->source == source);
    state->references -= 1;
    if (state->references == 0) {
        source->held -= 1;
        source->old_size -= state->old ? sent_size(state) : 0;
        free_state(state);
    }
}

static void drop_newest(cairn_state_source *source) {
    if (source->newest != NULL) {
        cairn_state_source_release(source, source->newest);
        source->newest = NULL;
    }
}

// Ends what a task makes, or made, for the next state; if it is out, when it is done.
static void drop_making(cairn_state_source *source) {
    cairn_encoded_state *state = source->making;
    source->making = NULL;
    if (state != NULL && !state->task.out) {
        cairn_state_source_release(source, state);
    } else if (state != NULL) {
        state->source = NULL;
        source->held -= 1;
    }
}

void cairn_state_source_destroy(cairn_state_source *source) {
    drop_newest(source);
    drop_making(source);
    CAIRN_ASSERT(source->held == 0);
    *source = (cairn_state_source){0};
}

void cairn_state_source_invalidate(cairn_state_source *source) {
    drop_newest(source);
    drop_making(source);
    source->due_ns = 0;
}

static void encode(cairn_encoded_state *state, const cairn_world *world) {
    CAIRN_ASSERT(state->bytes == NULL);
    state->bytes = malloc(state->size);
    if (state->bytes != NULL) {
        const size_t written = cairn_world_encode(world, state->bytes, state->size);
        CAIRN_ASSERT(written == state->size);
        state->group_count = cairn_world_encode_layout(world, state->groups);
    }
}

// A state that does not become shorter, or for which memory is short, stays as it is.
static void pack(cairn_encoded_state *state) {
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

static void run_reserve(cairn_server_task *task) {
    cairn_encoded_state *state = (cairn_encoded_state *)task;
    (void)cairn_fork_reserve(&state->copy_size, &state->copy);
}

static void run_encode(cairn_server_task *task) {
    cairn_encoded_state *state = (cairn_encoded_state *)task;
    encode(state, state->copy);
    cairn_world_destroy(state->copy);
    state->copy = NULL;
    if (state->bytes != NULL) {
        pack(state);
    }
}

// It waits for the next client that needs a state.
static void end_reserve(cairn_server_task *task) {
    cairn_encoded_state *state = (cairn_encoded_state *)task;
    if (state->source == NULL) {
        free_state(state);
    }
}

static void end_encode(cairn_server_task *task) {
    cairn_encoded_state *state = (cairn_encoded_state *)task;
    cairn_state_source *source = state->source;
    if (source == NULL) {
        free_state(state);
        return;
    }
    const bool newest = source->newest == state;
    CAIRN_ASSERT(source->making == state);
    source->making = NULL;
    if (state->packed_size > 0) { // nobody has begun to read it
        free(state->bytes);
        state->bytes = NULL;
    } else if (newest && state->bytes == NULL) { // out of memory
        drop_newest(source);
    }
    cairn_state_source_release(source, state);
}

static void start(cairn_state_source *source, cairn_encoded_state *state,
    void (*run)(cairn_server_task *task), void (*done)(cairn_server_task *task), uint64_t now_ns) {
    state->task = (cairn_server_task){.run = run, .done = done};
    state->started_ns = now_ns;
    cairn_task_start(source->runner, &state->task);
}

static cairn_encoded_state *add_state(cairn_state_source *source) {
    cairn_encoded_state *state = calloc(1, sizeof *state);
    if (state != NULL) {
        *state = (cairn_encoded_state){.source = source, .references = 1};
        source->held += 1;
    }
    return state;
}

// Clients wait for a task until it has had its time.
static bool is_waited_for(const cairn_encoded_state *state, uint64_t now_ns) {
    return state->task.out && now_ns - state->started_ns < CAIRN_STATE_PACK_NS;
}

static void replace_newest(cairn_state_source *source, cairn_encoded_state *state,
    const cairn_world *world, uint64_t now_ns) {
    drop_newest(source);
    state->tick = cairn_world_tick(world);
    source->newest = state;
    source->encoded += 1;
    source->size = state->size;
    const uint64_t share_ns =
        (uint64_t)((double)source->span_ns * (double)state->size / (double)CAIRN_STATES_SIZE_MAX);
    source->interval_ns = share_ns > CAIRN_STATE_INTERVAL_NS ? share_ns : CAIRN_STATE_INTERVAL_NS;
    source->due_ns = now_ns + source->interval_ns;
}

static cairn_status encode_at_once(
    cairn_state_source *source, const cairn_world *world, size_t size, uint64_t now_ns) {
    cairn_encoded_state *state = add_state(source);
    if (state == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    state->size = size;
    encode(state, world);
    if (state->bytes == NULL) {
        cairn_state_source_release(source, state);
        return CAIRN_OUT_OF_MEMORY;
    }
    replace_newest(source, state, world, now_ns);
    return CAIRN_OK;
}

// Goes on with the state that comes after the newest. CAIRN_NOT_READY: its memory is not there yet.
static cairn_status renew(cairn_state_source *source, const cairn_world *world, uint64_t now_ns) {
    if (source->making != NULL && is_waited_for(source->making, now_ns)) {
        return CAIRN_NOT_READY;
    }
    const size_t size = cairn_world_encode_size(world);
    if (size > source->capacity) {
        return CAIRN_CAPACITY;
    }
    cairn_encoded_state *state = source->making;
    if (state == NULL && (state = add_state(source)) != NULL) {
        source->making = state;
        state->copy_size = cairn_fork_size_of(world);
        start(source, state, run_reserve, end_reserve, now_ns);
        if (state->task.out) {
            return CAIRN_NOT_READY;
        }
    }
    if (state == NULL || state->task.out) {
        return encode_at_once(source, world, size, now_ns);
    }
    if (state->copy == NULL || cairn_fork_fill(state->copy, world) != CAIRN_OK) {
        drop_making(source);
        return encode_at_once(source, world, size, now_ns);
    }
    state->size = size;
    state->references += 1; // the task has the other one
    replace_newest(source, state, world, now_ns);
    start(source, state, run_encode, end_encode, now_ns);
    return CAIRN_OK;
}

// The newest state is recent enough for no other client, or its task takes too long.
static bool must_be_renewed(
    const cairn_state_source *source, uint64_t tick_fresh, uint64_t now_ns) {
    const cairn_encoded_state *newest = source->newest;
    if (newest != NULL && newest->task.out) {
        return !is_waited_for(newest, now_ns);
    }
    return now_ns >= source->due_ns && (newest == NULL || newest->tick < tick_fresh);
}

cairn_status cairn_state_source_join(cairn_state_source *source, const cairn_world *world,
    uint64_t now_ns, const cairn_state_demand *demand, cairn_encoded_state **out) {
    CAIRN_ASSERT(demand->tick_min <= demand->tick_fresh);
    *out = NULL;
    if (must_be_renewed(source, demand->tick_fresh, now_ns)) {
        const cairn_status status = renew(source, world, now_ns);
        if (status != CAIRN_OK) {
            return status;
        }
    }
    if (source->newest == NULL || source->newest->tick < demand->tick_min ||
        source->newest->task.out) {
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
        const uint64_t now_ns = context->now_ns;
        *progress = (cairn_state_transfer_progress){.reading = state,
            .packed = state->packed_size > 0,
            .tick = state->tick,
            .behind = true,
            .behind_since_ns = progress->behind ? progress->behind_since_ns : now_ns,
            .begun_ns = now_ns};
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
