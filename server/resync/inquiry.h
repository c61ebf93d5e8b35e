// SPDX-License-Identifier: MIT
#pragma once

// What one client asks about a tick of its room's past: which elements differ from its own, or what
// each stage of the step to it gave. The state is copied on the thread that drives the server; a
// task does the rest, and the room goes on meanwhile. A room has one inquiry, so others wait.

#include <stdbool.h>
#include <stdint.h>

#include "schema/messages.h"
#include "schema/recording.h"
#include "server/room/room.h"
#include "server/room/task.h"
#include "sim/serialize/sketch.h"
#include "sim/world/fork.h"

struct cairn_session;

// Above this size a new state is as good as the elements that differ.
#define CAIRN_INQUIRY_PAYLOAD_SIZE_MAX (48 * 1024)
// A state of at most this size is compared at once: that takes less time than a task.
#define CAIRN_INQUIRY_AT_ONCE_SIZE_MAX (48 * 1024)
// Of the thread that drives the server, copies for one room take at most this share, and a room may
// be ahead by so much of it (Turner 1986, the leaky bucket as a meter). What a copy takes is
// estimated by its size, so that a server without a clock decides the same.
#define CAIRN_INQUIRY_SHARE 50 // one in so many
#define CAIRN_INQUIRY_BURST_NS UINT64_C(100000000)
#define CAIRN_INQUIRY_BYTES_PER_US 2000

typedef struct cairn_inquiry cairn_inquiry;

typedef enum cairn_inquiry_copy {
    CAIRN_INQUIRY_COPIED = 0,
    CAIRN_INQUIRY_LATER, // a task takes memory for it: try again when it is done
    CAIRN_INQUIRY_GONE,  // the state is not held
    CAIRN_INQUIRY_NO_MEMORY,
} cairn_inquiry_copy;

typedef struct cairn_inquiry_found {
    struct cairn_session *requester; // NULL: it does not wait any more
    const cairn_resync_request *request;
    cairn_hash128 full_root;
    // Elements. CAIRN_MALFORMED: the sketch. CAIRN_CAPACITY: more differ than it can name, or than
    // a response may hold.
    cairn_status status;
    uint32_t element_count;
    const uint8_t *payload;
    uint32_t payload_size;
    // Stages.
    const uint8_t *stages;
    uint32_t stages_size; // 0: out of memory
} cairn_inquiry_found;

// `on_found` is called when an answer is there, on the thread that drives the server, perhaps
// before begin returns; with `found` NULL when a task has taken memory. NULL: out of memory.
cairn_inquiry *cairn_inquiry_create(cairn_room *room, cairn_task_runner *runner,
    void (*on_found)(void *user, cairn_room *room, const cairn_inquiry_found *found), void *user);
// Of a room that closes. What a task has is freed when it is back.
void cairn_inquiry_destroy(cairn_inquiry *inquiry); // NULL is allowed

// Whether a state may be copied now: no task has the inquiry, the room's job is back, and the room
// has time for it.
bool cairn_inquiry_is_ready(const cairn_inquiry *inquiry, uint64_t now_ns);
// Copies the state of a tick, unless it is there already. Only if it is ready (asserted).
cairn_inquiry_copy cairn_inquiry_copy_state(cairn_inquiry *inquiry, uint64_t now_ns, uint64_t tick);
// Both only after the state was copied: of the request's tick, or of the one before. `commands` of
// the step are copied; false: out of memory, and nothing begins.
void cairn_inquiry_begin_elements(
    cairn_inquiry *inquiry, struct cairn_session *requester, const cairn_resync_request *request);
bool cairn_inquiry_begin_stages(cairn_inquiry *inquiry, struct cairn_session *requester,
    const cairn_resync_request *request, const cairn_command *commands, uint32_t count);
// The client does not wait for its answer any more.
void cairn_inquiry_forget(cairn_inquiry *inquiry, const struct cairn_session *requester);
