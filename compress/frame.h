// SPDX-License-Identifier: MIT
#pragma once

// A snapshot as it travels: of each body its id, what else clients know of it, and its pose in
// whole steps. Server and clients keep the same frames, since a frame is sent as the difference to
// three earlier ones.

#include <stdbool.h>
#include <stdint.h>

#include "compress/quantised_body.h"
#include "compress/snapshot_codec.h"
#include <cairn/status.h>

// Of a body, in steps: linear, then angular (compress/velocity.h).
#define CAIRN_VELOCITY_COMPONENTS 6
typedef struct cairn_quantised_velocity {
    int32_t steps[CAIRN_VELOCITY_COMPONENTS];
} cairn_quantised_velocity;

typedef struct cairn_snapshot_frame {
    uint64_t tick;
    uint32_t tick_rate_hz;
    cairn_quantisation quantisation;
    cairn_vec3 gravity;
    uint32_t capacity;
    uint32_t count;           // bodies; the arrays are in order of id index
    cairn_body_id *ids;       // the one allocation: all arrays lie in it
    uint32_t *flags;          // of cairn_snapshot_body
    uint32_t *users;          // user words
    cairn_codec_body *bodies; // extents in whole steps; a leader has an owner
    cairn_quantised_body *poses;
    cairn_pose *exact; // of static bodies, which may be large and are seldom sent
    // Of the same bodies; NULL if velocities are not coded. The caller that encodes or decodes the
    // frame owns them. A frame that is only a base of others does not need them.
    cairn_quantised_velocity *velocities;
} cairn_snapshot_frame;

#define CAIRN_FRAME_BODY_SIZE                                                                      \
    (sizeof(cairn_quantised_body) + sizeof(cairn_codec_body) + sizeof(cairn_pose) +                \
        3 * sizeof(uint32_t))

// Of a body in whole steps of position, at most this.
#define CAIRN_FRAME_EXTENT_MAX 65535u

// CAIRN_OUT_OF_MEMORY: the frame has room for no body; destroy is allowed.
cairn_status cairn_snapshot_frame_create(cairn_snapshot_frame *frame, uint32_t capacity);
void cairn_snapshot_frame_destroy(cairn_snapshot_frame *frame);
static inline bool cairn_snapshot_body_is_static(uint32_t flags) {
    return (flags >> CAIRN_SNAPSHOT_BODY_KIND_SHIFT & CAIRN_SNAPSHOT_BODY_KIND_MASK) ==
           CAIRN_BODY_STATIC;
}
// Extents (m) as frames have them: in whole steps. They seldom change: keep them.
cairn_vec3 cairn_snapshot_extents(const cairn_quantisation *quantisation, cairn_vec3 half_extents);
// The body must fit (asserted) and come after those that the frame has. The pose is rounded, but
// for a static body. `half_extents` are as cairn_snapshot_extents gives them.
void cairn_snapshot_frame_add(
    cairn_snapshot_frame *frame, const cairn_snapshot_body *body, cairn_vec3 half_extents);
// The body at that place, with its id (asserted), is as this one says.
void cairn_snapshot_frame_set(cairn_snapshot_frame *frame, uint32_t index,
    const cairn_snapshot_body *body, cairn_vec3 half_extents);
// All but the room that `to` has, which is enough (asserted).
void cairn_snapshot_frame_copy(const cairn_snapshot_frame *from, cairn_snapshot_frame *to);
// With velocities of 0: a frame has none.
cairn_snapshot_body cairn_snapshot_frame_body(const cairn_snapshot_frame *frame, uint32_t index);
// Where the body with this id index is.
bool cairn_snapshot_frame_find_index(
    const cairn_snapshot_frame *frame, uint32_t index, uint32_t *place);
// Where the body with this id is; `hint`: where it probably is. False: the frame does not have it.
static inline bool cairn_snapshot_frame_find(
    const cairn_snapshot_frame *frame, cairn_body_id id, uint32_t hint, uint32_t *place) {
    *place = hint;
    return (hint < frame->count && frame->ids[hint] == id) ||
           (cairn_snapshot_frame_find_index(frame, cairn_id_index(id), place) &&
               frame->ids[*place] == id);
}
// What a sender tells of its frame, so that a receiver notices that its own differs.
uint32_t cairn_snapshot_frame_check(const cairn_snapshot_frame *frame);

// A body's extents in steps and back.
void cairn_snapshot_frame_extents(
    const cairn_snapshot_frame *frame, uint32_t index, uint32_t steps[3]);
cairn_codec_body cairn_snapshot_frame_codec_body(
    const cairn_quantisation *quantisation, const uint32_t steps[3], uint32_t flags);
