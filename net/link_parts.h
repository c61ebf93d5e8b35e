// SPDX-License-Identifier: MIT
#pragma once

// The private parts of a link, shared by its two halves (link.c sends, link_receive.c receives) and
// by tests that begin near a wrap. No other file may include this.

#include "net/ack.h"
#include "net/congestion.h"
#include "net/estimate.h"
#include "net/fragment.h"
#include "net/link.h"
#include "net/stream.h"

// A bare ack goes out at once if this many payloads are unacknowledged: the 33 acks of other
// payloads' headers would not cover all of them.
#define CAIRN_ACK_BURST 16

// Sequences left out that are remembered. An ack reaches back by at most 289 sequences; more than
// this many of these are left out once in ten thousand times.
#define CAIRN_LINK_SKIPS 8

// Bytes of the stream, its segments, and payloads in flight that a link has all the time; fewer if
// its config allows fewer.
#define CAIRN_LINK_STREAM_SMALL 1024
#define CAIRN_LINK_SEGMENTS_SMALL 32
#define CAIRN_LINK_SENT_SMALL 64 // a power of two
// The record of a payload is kept at least so long: an ack that comes late shows that it was not
// lost.
#define CAIRN_LINK_SENT_KEPT_NS UINT64_C(500000000)

// Where the parts of a link lie that grow, and how large they are; and those of
// which most links need the smaller one only.
typedef struct cairn_link_memory {
    uint8_t *stream; // of the small ring, in the link's own block
    cairn_segment *segments;
    cairn_sent *sent;
    uint64_t stream_small;
    uint64_t stream_max;
    uint32_t segments_small;
    uint32_t segments_max;
    uint32_t sent_small;
    uint32_t sent_max;
    uint8_t *short_message; // where an unreliable message waits that fits one payload
    uint8_t *long_message;  // and one that does not
    size_t stream_grown_size;
    uint8_t *stream_grown;  // owned; larger rings of segments and bytes; NULL: none
    cairn_sent *sent_grown; // owned; NULL: none
} cairn_link_memory;

// What each payload touches comes first: a server with a thousand links finds none of them in its
// caches.
struct cairn_link {
    uint64_t now_ns; // of the last call
    cairn_estimate estimate;
    cairn_ack_window received;
    uint64_t newest_ns;    // when the newest sequence arrived
    uint64_t ack_delay_ns; // of unreliable messages
    uint64_t owed_ns;      // when a bare ack must leave, if owed_count is not 0
    uint32_t owed_count;   // those that need an ack
    uint32_t unreported;   // received since the last payload left, of any kind
    cairn_sent_ring sent;
    bool has_ack_report; // the peer has acknowledged something; the next two are its last report
    uint32_t reported_bits;
    uint64_t reported_newest;
    uint32_t far_count;    // received too late for the acks of a header, not yet acknowledged
    uint64_t far_since_ns; // the oldest of these
    bool has_peer_window;  // a header arrived, so the window of the peer is known

    uint8_t *unreliable; // the message being sent
    uint32_t unreliable_size;
    uint32_t unreliable_next; // fragment, or 0
    cairn_stream_sender sender;
    cairn_congestion congestion;
    bool stream_turn;       // an unreliable message left since the last segment of the stream
    uint64_t unreliable_ns; // when the last payload of an unreliable message left

    cairn_link_message ready; // received, unreliable, not handed out; size 0: none
    cairn_stream_receiver receiver;
    uint64_t skipped[CAIRN_LINK_SKIPS]; // the last sequences that were never sent; UINT64_MAX: none
    cairn_link_config config;
    cairn_link_memory memory;
    cairn_link_statistics statistics;
    uint32_t skip_count;
    cairn_assemblies assemblies;
};

// Declares overdue payloads lost if a later one was acknowledged.
void cairn_link_detect_losses(cairn_link *link, uint64_t now_ns);
// Declares the oldest unacknowledged payload lost.
void cairn_link_lose_oldest(cairn_link *link);
// Test hook: both directions continue at `sequence`, as if that many payloads had passed before.
// Call it only directly after create or reset, at both ends.
void cairn_link_start_at(cairn_link *link, uint64_t sequence);

// The memory that a link needs now and then (net/link_growth.c): while much of the reliable stream
// is under way, as when a client joins, and while many payloads are in flight. A link begins with
// little of both, takes more when it runs out, up to what its config allows, and gives it back when
// the stream is empty. A thousand clients that play then take a few kilobytes each. It doubles what
// it has: a block of all that the config allows would be mapped and unmapped for each client that
// joins, which takes longer than all else of a join. With cairn_link_blocks a link takes such a
// block from the one that joined before; then nothing is copied, and freed pieces of many sizes do
// not pile up between what lasts.

// Takes room for `held` bytes of the stream, and for more segments if their table is full. False:
// the link has all that its config allows, or the system has no memory left.
bool cairn_link_grow_stream(cairn_link *link, uint64_t held);
// Room for twice as many payloads in flight. False: as above.
bool cairn_link_grow_sent(cairn_link *link);
// Whether the record that is `count` payloads back is too old to be of use, or gone.
bool cairn_link_sent_expired(cairn_link *link, uint32_t count);
// Gives back what is not needed now, if the stream is empty.
void cairn_link_shrink(cairn_link *link);
// Back to the state after create; what is in the rings is forgotten.
void cairn_link_forget_growth(cairn_link *link);
