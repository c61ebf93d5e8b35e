// SPDX-License-Identifier: MIT
#pragma once

// The shapes of a room's world, and which of them each interpolating client was sent.

#include <stdbool.h>
#include <stdint.h>

#include "server/session/context.h"
#include "server/session/session.h"
#include <cairn/sim.h>

// Indices of shapes that came, went or were replaced, in this order: a client that was sent
// everything before needs to look at no other. What was overwritten takes a look at all.
#define CAIRN_SHAPE_CHANGES 512

// The ids that many clients were sent, for each index; 0: none. It lasts as long as one of them.
typedef struct cairn_shape_ids {
    uint32_t clients; // that read it, and 1 for the list
    cairn_shape_id ids[];
} cairn_shape_ids;

// The arrays have room for the world's shape capacity; owned.
typedef struct cairn_room_shapes {
    cairn_shape_ids *none; // zeros: what a client was sent that has just come
    cairn_shape_ids *all;  // of this revision; NULL: nobody has all of it yet
    cairn_shape_id *ids;   // as the world listed them last, in order of index
    cairn_shape_id *ids_now;
    uint32_t id_count;
    cairn_snapshot_shape *shapes; // [count], in order of index: those that clients see
    uint32_t count;
    uint32_t capacity;
    uint32_t revision;  // counts changes of the list, from 1
    uint32_t *surfaces; // [surface_count]: places in `shapes` of those that name a mesh
    uint32_t surface_count;
    uint32_t changes[CAIRN_SHAPE_CHANGES]; // number n is at n % CAIRN_SHAPE_CHANGES
    uint64_t change_count;
} cairn_room_shapes;

// False: out of memory; destroying is allowed.
bool cairn_room_shapes_create(uint32_t capacity, const cairn_world *world, cairn_room_shapes *out);
void cairn_room_shapes_destroy(cairn_room_shapes *list);
// Reads the world's shapes again if their ids changed.
void cairn_room_shapes_update(cairn_room_shapes *list, const cairn_world *world);
// After the world was replaced: equal ids may be other shapes.
void cairn_room_shapes_replace(cairn_room_shapes *list, const cairn_world *world);

// What one client was sent.
typedef struct cairn_shapes_sent {
    // The id sent for each index; 0: none. NULL outside a room. Many clients share what they read;
    // one that is being sent shapes has its own.
    const cairn_shape_id *ids;
    cairn_shape_ids *shared; // NULL: the client has its own
    cairn_shape_id *own;     // owned; NULL: they are shared
    uint32_t revision;       // of the list when all of it was sent
    uint64_t changes;        // of the list, up to which a view looked at them
    uint32_t messages;       // that were sent
} cairn_shapes_sent;

// The client was sent nothing; `sent` is zeros, or open. It takes no memory of its own.
void cairn_shapes_sent_begin(cairn_shapes_sent *sent, const cairn_room_shapes *list);
void cairn_shapes_sent_end(cairn_shapes_sent *sent); // of zeros, too
// The client is about to be sent shapes: gets ids of its own, with what they were. False: out of
// memory.
bool cairn_shapes_sent_own(cairn_shapes_sent *sent, const cairn_room_shapes *list);
// The client, which has ids of its own, was sent all of the list and nothing else: it shares them,
// unless there is no memory for that.
void cairn_shapes_sent_all(cairn_shapes_sent *sent, cairn_room_shapes *list);

// Sends the shapes that appeared and the ids of those that are gone, as far as the link has room.
void cairn_shapes_send(const cairn_server_context *context, cairn_session *session,
    cairn_room_shapes *list, cairn_shapes_sent *sent);
// Which bodies' shapes a client is sent. Those that it was sent before it keeps until they are
// gone, or, if `held` is there, until the bit of their body's index is not set.
typedef struct cairn_shape_filter {
    const void *view;
    bool (*shows)(const void *view, cairn_body_id body);
    const uint64_t *held;
} cairn_shape_filter;

// The same of those bodies; NULL: of all. Looks at all shapes. Returns whether everything was sent.
bool cairn_shapes_send_all(const cairn_server_context *context, cairn_session *session,
    const cairn_room_shapes *list, const cairn_shape_filter *filter, cairn_shapes_sent *sent);
// The same; looks only at what changed since the last call, if that is known.
void cairn_shapes_send_changes(const cairn_server_context *context, cairn_session *session,
    const cairn_room_shapes *list, const cairn_shape_filter *filter, cairn_shapes_sent *sent);

// What one message carries.
#define CAIRN_SHAPE_BATCH_MAX 128
#define CAIRN_SHAPE_BATCH_CORNERS_MAX 512
// Room in the stream that it needs, bytes.
#define CAIRN_SHAPE_BATCH_SIZE_MAX                                                                 \
    (CAIRN_SHAPE_BATCH_MAX * (sizeof(cairn_snapshot_shape) + sizeof(uint32_t) + 1) +               \
        CAIRN_SHAPE_BATCH_CORNERS_MAX * sizeof(cairn_vec3) + CAIRN_SESSION_ENVELOPE_SIZE)

typedef struct cairn_shape_batch {
    cairn_snapshot_shape shapes[CAIRN_SHAPE_BATCH_MAX];
    uint32_t removed[CAIRN_SHAPE_BATCH_MAX];
    uint8_t corner_counts[CAIRN_SHAPE_BATCH_MAX];
    cairn_vec3 corners[CAIRN_SHAPE_BATCH_CORNERS_MAX];
    uint32_t shape_count;
    uint32_t removed_count;
    uint32_t hull_count;
    uint32_t corner_count;
} cairn_shape_batch;

void cairn_shape_batch_begin(cairn_shape_batch *batch);
// What the client was sent as `sent_id` becomes `shape`, NULL: nothing. False: the batch is full.
bool cairn_shape_batch_add(const cairn_world *world, const cairn_snapshot_shape *shape,
    uint32_t sent_id, cairn_shape_batch *batch);
// False: it could not be sent.
bool cairn_shape_batch_send(const cairn_server_context *context, cairn_session *session,
    cairn_shapes_sent *sent, const cairn_shape_batch *batch);
