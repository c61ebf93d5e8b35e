// SPDX-License-Identifier: MIT
#pragma once

// What one client is sent of a room that it does not see all of: a set of bodies, and of each the
// samples that the client is known to hold. A body enters the set when it comes near or the rules
// show it, and leaves when it is further away than it entered, or at once when the rules hide it.
// What differs from what the client holds is sent in parts (compress/part_codec.h), within a budget
// of bytes: first what is most wrong at this client, and nothing waits longer than a second as long
// as the budget allows. A client that holds nothing is sent bodies in the same way, so that a world
// of any size arrives in parts.

#include <stdbool.h>
#include <stdint.h>

#include "server/replicate/interest.h"
#include "server/session/session.h"
#include <cairn/rules.h>
#include <cairn/sim.h>

// Parts that may be on their way; older ones count as lost.
#define CAIRN_VIEW_PARTS_MAX 32

typedef struct cairn_view_member {
    cairn_body_id id;
    float weight;     // how much it matters to this client
    float distance_m; // when it was checked last, or when not all that waits could be sent
    float stays_m;    // it is in sight while search.gone_m is less
    float priority;   // what was wrong with it at the client, summed up since it was sent
    bool shapes_sent; // or on their way
    bool leaving;
    bool chosen;                      // for this part, of those that are owed
    uint64_t acked[CAIRN_PART_BASES]; // ticks of samples that the client holds, newest first; 0
    uint64_t sent;                    // tick of the part that had it last; 0: none
    uint64_t since;                   // tick at which it entered or began to leave
    uint64_t waiting;                 // tick since which it is to be sent; 0: it is not
    uint64_t standing; // tick + 1 of the standing room's part that had it last; 0: none
} cairn_view_member;

typedef struct cairn_view_part {
    uint64_t tick; // 0: none
    uint32_t count;
    uint32_t capacity;
    uint32_t *records; // owned: id indices, in order; with CAIRN_VIEW_LEFT of bodies that left
} cairn_view_part;
#define CAIRN_VIEW_LEFT 0x80000000u
#define CAIRN_VIEW_NO_RECORD UINT32_MAX

// The record of the body with this id index, or CAIRN_VIEW_NO_RECORD. For bodies in order of index:
// *at is 0 for the first one, and is moved on.
static inline uint32_t cairn_view_part_record(
    const cairn_view_part *part, uint32_t index, uint32_t *at) {
    while (*at < part->count && (part->records[*at] & ~CAIRN_VIEW_LEFT) < index) {
        ++*at;
    }
    const bool named = *at < part->count && (part->records[*at] & ~CAIRN_VIEW_LEFT) == index;
    return named ? part->records[*at] : CAIRN_VIEW_NO_RECORD;
}

// The bodies that were within the distance at which a body leaves when the view searched last.
// Until the client's place and any body together went from there to the distance at which one
// enters, only these can enter, and those that jumped. What the view held then is listed when it
// holds it no more.
typedef struct cairn_view_search {
    cairn_body_id *found; // owned
    uint32_t count;
    uint32_t room;
    uint64_t looked; // tick of the last update; 0: none
    cairn_vec3 center;
    float radius_m;
    double travelled_m; // of the room's interest then
    // How far the client's place, on its way, and any body came since then.
    float gone_m;
    cairn_vec3 last_center; // of the last update
    double last_travelled_m;
} cairn_view_search;

// Bodies that left and of which the client may have shapes still.
#define CAIRN_VIEW_GONE_MAX 256

typedef struct cairn_view {
    uint32_t capacity; // bodies of the room
    uint32_t count;
    uint32_t room;              // of `members`
    cairn_view_member *members; // owned, in order of id index
    uint64_t *held;             // owned, a bit for each id index: it is a member
    uint64_t *owed;             // the same, behind them: if it is a member, it may be due
    uint64_t owed_at;           // tick of the snapshot up to which that is known; 0: of none
    cairn_view_search search;
    cairn_view_part parts[CAIRN_VIEW_PARTS_MAX];
    uint32_t next_part;
    uint64_t opened;         // tick of the first set
    uint64_t acknowledged;   // newest tick
    uint64_t settings_since; // tick of the first part with these settings
    cairn_vec3 gravity;
    cairn_vec3 center; // of the last view
    bool centered;
    bool shapes_owed;                   // a member's shapes were not sent yet
    uint64_t shapes_ns;                 // when shapes of bodies that left are removed next
    uint32_t gone_count;                // beyond CAIRN_VIEW_GONE_MAX: all shapes are looked through
    uint32_t gone[CAIRN_VIEW_GONE_MAX]; // id indices
    uint64_t stands;                    // tick + 1 of the last part of a paused room; 0: none
    bool stands_whole;                  // nothing is missing after that part
    uint64_t sent_ns;                   // when the last part was sent
    uint64_t refilled_ns;
    int64_t allowance;               // bits that may be sent now
    uint32_t enter_bits, go_on_bits; // of a record, a mean
} cairn_view;

// NULL: out of memory. The client holds the bodies of `frame`, if there is one.
cairn_view *cairn_view_create(uint32_t body_capacity, const cairn_snapshot_frame *frame);
void cairn_view_destroy(cairn_view *view); // NULL is allowed
// Bytes that it takes.
size_t cairn_view_bytes(const cairn_view *view);

// Whether the client is sent this body now.
bool cairn_view_shows(const cairn_view *view, cairn_body_id body);
// Whether it may hold a body with this id index.
static inline bool cairn_view_holds(const cairn_view *view, uint32_t index) {
    return (view->held[index / 64] >> index % 64 & 1) != 0;
}

// The set for the newest snapshot. Returns false if there was no memory for what enters.
bool cairn_view_update(cairn_view *view, cairn_room_interest *interest, const cairn_room *room,
    const cairn_session *session);
// How far the member is now. Of one that leaves it does not matter.
static inline void cairn_view_look(
    const cairn_view *view, cairn_view_member *member, const cairn_room_interest *interest) {
    const cairn_view_search *search = &view->search;
    const uint32_t place = interest->places[cairn_id_index(member->id)];
    if (search->radius_m > 0.0f && place != 0 && !member->leaving) {
        (void)cairn_room_interest_is_near(
            interest, place - 1, search->last_center, search->radius_m, &member->distance_m);
    }
}
// The client says that it holds the part of this tick. Ignored if it was sent none.
void cairn_view_acknowledge(cairn_view *view, uint64_t tick);

// Of `held` and of `owed`.
static inline uint32_t cairn_view_words(const cairn_view *view) {
    return (view->capacity + 63) / 64;
}
// Whether the member is to be sent: it differs from what the client holds, and nothing that is on
// its way tells so. `late`: ticks after which a part counts as lost.
bool cairn_view_is_due(const cairn_view *view, const cairn_view_member *member,
    const cairn_room_interest *interest, uint64_t late);
