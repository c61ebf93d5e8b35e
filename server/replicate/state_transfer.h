// SPDX-License-Identifier: MIT
#pragma once

// The full state for clients that simulate. An encoded state never changes: the clients that are
// being sent it share it, and it is freed when the last of them is done. So no client's request
// makes another one start over. A client takes the room's newest state if that is recent enough for
// it; otherwise the world is encoded again, but not more often than the room's interval allows:
// until then the client waits. The interval bounds what encoding costs, and how many states exist
// that are younger than the ticks which the command log always keeps. Older ones are read over slow
// paths, and have a bound of their own.
//
// Tasks do what takes long in a large room: one finds memory for a copy of the world; the server's
// thread copies the world in a later turn; a second task encodes and packs the copy
// (compress/state_packer.h). The state is read when that is done. If it takes long, because other
// tasks hang, the server's thread encodes the world, and the state is sent as it is.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/word_group.h"
#include "server/room/task.h"
#include "server/session/context.h"
#include "server/session/session.h"
#include "sim/world/fork.h"
#include <cairn/sim.h>
#include <cairn/status.h>

// Between two encodings of a room, at least.
#define CAIRN_STATE_INTERVAL_NS CAIRN_NS_PER_S
// The states that a room's clients may be reading at one time; longer ones are encoded less often.
#define CAIRN_STATES_SIZE_MAX ((size_t)128 * 1024 * 1024)
// Of these, the ones that are older than the ticks that the command log always keeps: as they are
// sent, together.
#define CAIRN_OLD_STATES_SIZE_MAX ((size_t)64 * 1024 * 1024)

// How long clients wait for each of the two tasks of a state.
#define CAIRN_STATE_PACK_NS (CAIRN_NS_PER_S / 2)

typedef struct cairn_encoded_state {
    cairn_server_task task;            // finds memory for the copy, later encodes and packs it
    struct cairn_state_source *source; // NULL: destroyed while the task was out
    uint32_t references;               // one of them the task's while it is out
    bool old;                          // counted in the source's old_size
    cairn_fork_size copy_size;
    cairn_world *copy; // owned; of the world, or memory for it; NULL: encoded, or no memory
    uint64_t tick;
    uint64_t started_ns; // the task
    size_t size;
    uint8_t *bytes;     // owned; NULL: it is packed, and nobody reads the bytes themselves
    size_t packed_size; // 0: not packed, or not yet
    uint8_t *packed;    // owned
    uint32_t group_count;
    cairn_word_group groups[CAIRN_WORD_GROUPS_MAX];
} cairn_encoded_state;

typedef struct cairn_state_source {
    size_t capacity;             // of an encoding
    uint64_t interval_ns;        // the shortest between two encodings; grows with their size
    uint64_t span_ns;            // how long a state may be read before it is an old one
    cairn_encoded_state *newest; // holds a reference; NULL: none, or of a world that was replaced
    cairn_encoded_state *making; // its task is out, or it has memory for a copy; NULL: none
    uint64_t due_ns;             // no encoding before this
    size_t size;                 // of the last encoding, before it was packed
    uint64_t encoded;            // counts encodings
    uint32_t held;               // states that exist
    size_t old_size;             // of the old ones
    cairn_task_runner *runner;   // of the tasks that pack them; lasts longer
} cairn_state_source;

// `capacity` 1 .. CAIRN_STATE_SIZE_MAX; `span_ns` as above. The source stays where it is once it
// was joined.
cairn_state_source cairn_state_source_of(
    size_t capacity, uint64_t span_ns, cairn_task_runner *runner);
// No reader is left (asserted).
void cairn_state_source_destroy(cairn_state_source *source);

typedef struct cairn_state_demand {
    uint64_t tick_min;   // the state must not be older
    uint64_t tick_fresh; // one that is older is taken only if the world cannot be encoded now
} cairn_state_demand;
// Finds or encodes a state and adds a reference to it: *out, which release takes back.
// CAIRN_NOT_READY: ask again later; it may be being made. CAIRN_CAPACITY: the state is larger
// than an encoding may be. CAIRN_OUT_OF_MEMORY.
cairn_status cairn_state_source_join(cairn_state_source *source, const cairn_world *world,
    uint64_t now_ns, const cairn_state_demand *demand, cairn_encoded_state **out);
// The state is read although it is an old one. False: the old ones would take too many bytes.
bool cairn_state_source_keep(cairn_state_source *source, cairn_encoded_state *state);
void cairn_state_source_release(cairn_state_source *source, cairn_encoded_state *state);
// After the world was replaced: the newest state serves no further reader, and the world may be
// encoded at once.
void cairn_state_source_invalidate(cairn_state_source *source);

// How much of a state one client was sent.
typedef struct cairn_state_transfer_progress {
    bool requested;               // by the client: send a state of the present
    bool sent;                    // every piece was queued
    uint64_t tick_min;            // of the next state; 0: the client held none before
    cairn_encoded_state *reading; // NULL: none
    bool packed;                  // it reads the packed bytes
    uint32_t offset;
    uint64_t tick; // of the state
    // Its client has not caught up since the state was begun, so the ticks that it needs are kept;
    // and since when this is so, with this state or with those before it.
    bool behind;
    uint64_t behind_since_ns;
    uint64_t begun_ns;   // when this state was begun
    const char *refused; // static: why the client gets no state any more; NULL: it does
} cairn_state_transfer_progress;

// Begins to send a state that meets the demand, if there is one now: progress->reading. If there
// never will be, the client is disconnected.
void cairn_state_transfer_begin(const cairn_server_context *context, cairn_session *session,
    cairn_state_source *source, cairn_state_transfer_progress *progress,
    const cairn_state_demand *demand);
// Queues as many pieces as the link has room for.
void cairn_state_transfer_continue(const cairn_server_context *context, cairn_session *session,
    cairn_state_source *source, cairn_state_transfer_progress *progress);
// Stops reading; nothing counts as sent.
void cairn_state_transfer_abandon(
    cairn_state_source *source, cairn_state_transfer_progress *progress);
