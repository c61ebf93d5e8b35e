// SPDX-License-Identifier: MIT
#pragma once

// The reliability layer inside the encrypted payloads between two connected peers: sequence numbers
// and acks, fragments, round-trip and loss estimates, one reliable ordered stream. Messages in,
// payloads of at most CAIRN_PAYLOAD_SIZE_MAX bytes out, and back. No socket, no clock, no
// allocation for each message.
//
// docs/PROTOCOL.md has the header's bytes. Unreliable messages arrive complete or not at all; a
// newer one does not wait for an older. Reliable messages arrive once, in order, or the link
// reports failure.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "net/link_header.h"
#include <cairn/status.h>

typedef struct cairn_link cairn_link;

// Blocks that links of one thread gave back, for the next one that needs much at once, as each
// client does that joins. Zero at first; it outlives the links.
#define CAIRN_LINK_BLOCKS_MAX 16
typedef struct cairn_link_blocks {
    uint32_t count;
    uint8_t *kept[CAIRN_LINK_BLOCKS_MAX]; // owned
    size_t sizes[CAIRN_LINK_BLOCKS_MAX];
} cairn_link_blocks;
void cairn_link_blocks_free(cairn_link_blocks *blocks);

typedef struct cairn_link_config {
    uint32_t unreliable_size_max; // of a message sent; <= CAIRN_MESSAGE_SIZE_MAX
    uint32_t receive_size_max; // of a message received, reliable or not; <= CAIRN_MESSAGE_SIZE_MAX
    uint32_t receive_messages_max; // fragmented messages reassembled at once, 1 .. 8: more tolerate
                                   // more reordering; no memory if no message is fragmented
    uint32_t reliable_buffer_size; // bytes of unacknowledged reliable messages held for sending
    // Secret from which the sequences are drawn that are never sent, about one in 256: a peer that
    // acknowledges one lies about what it received. 0: every sequence is sent.
    uint64_t skip_seed;
    // A link with them takes all that it may when it runs out of its own, one without takes twice
    // what it has. NULL: none.
    cairn_link_blocks *blocks;
} cairn_link_config;

// The default sends and receives messages of every allowed size: 1.6 MB, of which untouched pages
// cost nothing. Lower the limits for a peer that receives only small messages: a server's link with
// unreliable_size_max 16384, receive_size_max 1184, reliable_buffer_size 8192 takes 27 kB; with
// 1184, 1184, 4096 it takes 10 kB. While more than 1 kB of reliable messages or 64 payloads are
// under way, a link takes more, at most reliable_buffer_size and a few kilobytes.
cairn_link_config cairn_link_config_default(void);
cairn_status cairn_link_create(const cairn_link_config *config, uint64_t now_ns, cairn_link **out);
void cairn_link_destroy(cairn_link *link); // NULL is allowed
// Bytes that a link of this config allocates at create; 0 for an invalid config.
size_t cairn_link_memory_size(const cairn_link_config *config);
// Back to the state after create, for the next peer on this slot.
void cairn_link_reset(cairn_link *link, uint64_t now_ns);
// How long an unreliable message waits for a payload that acknowledges it, before a bare ack
// leaves: CAIRN_ACK_DELAY_NS (the default), to CAIRN_ACK_DELAY_NS_MAX. An answer that comes within
// that time saves the bare ack.
void cairn_link_delay_acks(cairn_link *link, uint64_t delay_ns);
// The path to the peer is another one: congestion control and round trip start again, nothing else.
void cairn_link_path_changed(cairn_link *link, uint64_t now_ns);

// Queues a message. An unreliable message that has not left when the next one is sent is replaced
// by it (a stale snapshot is useless; counted). `bytes` are copied. CAIRN_CAPACITY: the reliable
// buffer is full; try again when acks have arrived. CAIRN_INVALID_ARGUMENT: the size is 0 or too
// large.
cairn_status cairn_link_send_unreliable(cairn_link *link, const uint8_t *bytes, size_t size);
cairn_status cairn_link_send_reliable(cairn_link *link, const uint8_t *bytes, size_t size);
// Whether send_reliable accepts a message of so many bytes now; takes the memory for it. False: the
// buffer is full, or memory is short.
bool cairn_link_reliable_fits(cairn_link *link, size_t size);
// Whether an unreliable message that is sent now leaves at once: no other one waits, and the
// congestion control has room. If not, send a later one instead: it will be fresher. At least one
// payload leaves in CAIRN_LINK_UNRELIABLE_NS, however little the path carries.
bool cairn_link_unreliable_ready(cairn_link *link, uint64_t now_ns);
#define CAIRN_LINK_UNRELIABLE_NS 100000000ull
// The same for a message that the peer can use only when the stream has arrived: while the path
// holds the stream back, four leave in a second.
bool cairn_link_unreliable_ready_after_stream(cairn_link *link, uint64_t now_ns);
#define CAIRN_LINK_AFTER_STREAM_NS 250000000ull
// Bytes that send_reliable accepts now, including headers, unless memory is short.
size_t cairn_link_reliable_room(const cairn_link *link);
bool cairn_link_reliable_idle(const cairn_link *link); // everything sent was acknowledged
// How far the peer has acknowledged the reliable stream: grows while anything arrives.
uint64_t cairn_link_reliable_acknowledged(const cairn_link *link);
// Whether the reliable stream has failed permanently: the peer sent invalid frames, or a message
// was queued that is larger than the peer accepts. Disconnect then.
bool cairn_link_failed(const cairn_link *link);

// Writes the next payload to encrypt into `bytes` (room for CAIRN_PAYLOAD_SIZE_MAX) and returns its
// size; 0 if nothing is due. Every payload carries acks; if there is nothing but acks to send, one
// bare payload goes out after 20 ms, or later if delay_acks says so.
size_t cairn_link_next_payload(cairn_link *link, uint64_t now_ns, uint8_t *bytes);

// Takes one decrypted payload, aligned to 8 bytes: its message is read where it is. A payload that
// is dropped is counted and has no other effect: it is not acknowledged, and its acks are ignored.
// `now_ns` must not decrease.
cairn_link_drop cairn_link_receive(
    cairn_link *link, uint64_t now_ns, const uint8_t *bytes, size_t size);

typedef struct cairn_link_message {
    const uint8_t *bytes; // owned by the link, or those of the payload; aligned to 8 bytes, valid
                          // until the next call of receive or next_message
    size_t size;
    bool reliable;
} cairn_link_message;
// Reads the next complete message. Returns false if no message is complete. Call it after each
// receive until it returns false.
bool cairn_link_next_message(cairn_link *link, cairn_link_message *out);

// The link is used soon: its first lines are fetched into the caches meanwhile.
void cairn_link_prefetch(const cairn_link *link);

// Whether a message or a part of one waits to be sent. If none does, next_payload has nothing to do
// before the deadline.
bool cairn_link_waiting(const cairn_link *link);

// When next_payload next has something to send although nothing new is queued (resend, bare ack);
// UINT64_MAX for never.
uint64_t cairn_link_deadline_ns(const cairn_link *link);

// One lost payload counts as much for a second or so.
#define CAIRN_LINK_LOSS_MIN 0.004f

typedef struct cairn_link_statistics {
    uint64_t rtt_ns; // smoothed (RFC 6298), 0 before the first sample
    uint64_t rtt_ns_min;
    uint64_t jitter_ns; // mean deviation (RFC 6298 RTTVAR)
    float loss; // of payloads sent, smoothed, [0, 1]; from CAIRN_LINK_LOSS_MIN on a path loses
    uint64_t payloads_sent;
    uint64_t payloads_received;
    uint64_t payloads_acknowledged;
    uint64_t payloads_lost; // may decrease: a late ack undoes a loss
    uint64_t bytes_sent;    // payload bytes, without encryption and datagram headers
    uint64_t bytes_received;
    uint64_t messages_replaced; // unreliable, before they left
    uint64_t messages_lost;     // unreliable, begun but never completed here
    uint64_t messages_unread;   // unreliable, complete, but not taken before the next receive
    uint64_t stream_bytes_resent;
    uint64_t rate_bytes_per_s;    // at which payloads may leave; 0: no round trip was measured yet
    uint64_t window_bytes;        // that may be in flight
    uint64_t in_flight_bytes;     // of payloads that are neither acknowledged nor lost
    uint64_t queue_ns;            // how long payloads wait on the path, the last measurement
    uint64_t congestion_timeouts; // times that nothing was acknowledged for a whole timeout
    uint64_t drops[CAIRN_LINK_DROP_COUNT];
} cairn_link_statistics;
// Valid until the next call for the link, and as it is now.
const cairn_link_statistics *cairn_link_statistics_read(cairn_link *link);

// Of these, what a sender asks for with every message.
typedef struct cairn_link_path {
    uint64_t rtt_ns;
    uint64_t jitter_ns;
    float loss;
} cairn_link_path;
cairn_link_path cairn_link_path_read(const cairn_link *link);
