// SPDX-License-Identifier: MIT
#pragma once

// What the views of a room's clients (server/replicate/view.h) share: which bodies changed since
// which snapshot, which are near a point, what each player owns, and codes of bodies that go on,
// made once for all clients that hold the same samples.

#include <stdbool.h>
#include <stdint.h>

#include "compress/part_codec.h"
#include "server/replicate/shapes.h"
#include <cairn/math.h>

// Of a body that goes on, if it is short; two of them fill a line of the cache.
typedef struct cairn_stored_chunk {
    uint64_t tick; // of the snapshot
    uint64_t ages; // of the bases: 16 bits each
    uint8_t bits[15];
    uint8_t bit_count;
} cairn_stored_chunk;

// A body that a view does not hold and that is near.
typedef struct cairn_view_entrant {
    uint32_t place;
    float weight;
    float distance_m;
} cairn_view_entrant;

// More bodies than this that jumped are not listed.
#define CAIRN_JUMPED_MAX 256

// Of the bodies that had an id index.
typedef struct cairn_body_history {
    uint64_t changed; // tick of the last snapshot in which it differs
    uint64_t before;  // and of the one before that
    uint64_t renewed; // since which only its pose changed; UINT64_MAX: it is static
    uint32_t hash;    // cairn_part_hash
} cairn_body_history;

// The sphere around a body, and its cell.
typedef struct cairn_placed_sphere {
    cairn_vec3 center;
    float radius_m;
    int32_t cell[2];
    uint32_t place;
} cairn_placed_sphere;

// All arrays are owned.
typedef struct cairn_room_interest {
    uint32_t capacity;                 // bodies
    uint64_t tick;                     // of the newest snapshot; 0: none
    const cairn_snapshot_frame *frame; // the newest
    const cairn_snapshot_frame *last;  // the one before; NULL: none
    uint64_t same_ids_since;           // tick since which all snapshots have the same bodies
    cairn_body_history *history;       // by id index
    uint64_t *changed; // a bit for each id index: it differs from the snapshot before
    uint32_t *places;  // by id index: place in the frame + 1; 0: none
    // By cell of a grid over the two axes that are not up: places in the frame. What is wider than
    // a cell is in `wide`.
    float cell_m;
    float wanted_m; // for the next snapshot: of the smallest view
    uint32_t up;
    uint32_t bucket_count; // a power of 2
    uint32_t *bucket_ends;
    cairn_placed_sphere *placed;  // by place
    cairn_placed_sphere *spheres; // by bucket
    bool sorted;                  // `spheres`, `bucket_ends` and `wide` are those of `placed`
    uint32_t *wide;
    uint32_t wide_count;
    uint32_t owned_places[CAIRN_SLOTS_MAX]; // of the first body that a player owns, + 1; 0: none
    uint32_t *owned_next;                   // by place: of the next one of the same player, + 1
    cairn_stored_chunk *chunks;             // by place; some for each
    uint32_t *near; // answers: places; then members of a view that are chosen
    // How far any body came in all snapshots so far, but for those that jumped: those that are new,
    // have other shapes or went far since the last snapshot. Their places are listed.
    double travelled_m;
    uint32_t *jumped;
    uint32_t jumped_count; // at most CAIRN_JUMPED_MAX + 1
    // Scratch of views: what enters, and marks by place of what is in that list.
    cairn_view_entrant *entrants;
    uint32_t stamp;
    uint32_t *marks;
    // The room's shapes by body.
    uint32_t shapes_revision;
    uint32_t shape_capacity;
    uint32_t *shape_first; // by id index of the body: place in the list + 1; 0: none
    uint32_t *shape_next;  // by place in the list
} cairn_room_interest;

// False: out of memory; destroying is allowed.
bool cairn_room_interest_create(
    cairn_room_interest *interest, uint32_t body_capacity, uint32_t shape_capacity);
void cairn_room_interest_destroy(cairn_room_interest *interest);
// Nothing is known of earlier snapshots.
void cairn_room_interest_forget(cairn_room_interest *interest);
// `frame` is the newest snapshot, `last` the one before it, NULL for the first.
void cairn_room_interest_update(cairn_room_interest *interest, const cairn_snapshot_frame *frame,
    const cairn_snapshot_frame *last);
// Sorts the room's shapes by body if they changed.
void cairn_room_interest_list_shapes(
    cairn_room_interest *interest, const cairn_room_shapes *shapes);

// Bodies at most `radius_m` from a point, in no useful order, in interest->near; returns how many.
uint32_t cairn_room_interest_near(cairn_room_interest *interest, cairn_vec3 center, float radius_m);
// Whether the body at `place` is; *distance_m is that of the sphere around it, 0 inside.
static inline bool cairn_room_interest_is_near(const cairn_room_interest *interest, uint32_t place,
    cairn_vec3 center, float radius_m, float *distance_m) {
    const cairn_placed_sphere *sphere = &interest->placed[place];
    const float x = sphere->center.x - center.x;
    const float y = sphere->center.y - center.y;
    const float z = sphere->center.z - center.z;
    const float squared = x * x + y * y + z * z;
    const float reach = radius_m + sphere->radius_m;
    const float distance = cairn_float_sqrt(squared) - sphere->radius_m;
    *distance_m = distance > 0.0f ? distance : 0.0f;
    return squared <= reach * reach;
}
// The code of the body at `place` against these bases.
void cairn_room_interest_chunk(cairn_room_interest *interest, uint32_t place,
    const cairn_body_sample bases[CAIRN_PART_BASES], const cairn_part_spans *spans, bool rested,
    cairn_part_chunk *out);
