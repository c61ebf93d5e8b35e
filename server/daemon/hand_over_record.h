// SPDX-License-Identifier: MIT
#pragma once

// What the two processes of a hand-over say to each other: records over a Unix socket, each with
// its kind, size and checksum. For cairnd alone.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/types.h>

typedef enum cairn_hand_over_kind {
    CAIRN_HAND_OVER_ASKS = 1, // takes -> gives: cairn_hand_over_build of the new process
    CAIRN_HAND_OVER_OFFER,    // gives -> takes: cairn_hand_over_offer, with the first UDP socket
    CAIRN_HAND_OVER_ROOM,     // gives -> takes, for each room (server/handover/handover.h)
    CAIRN_HAND_OVER_TICKS,    // gives -> takes, after turns in which rooms stepped
    CAIRN_HAND_OVER_AGREED,   // takes -> gives, after each: cairn_hand_over_agreed
    CAIRN_HAND_OVER_CLIENTS,  // gives -> takes; then it waits
    CAIRN_HAND_OVER_TAKEN,    // takes -> gives: everything was read
    CAIRN_HAND_OVER_GO,       // gives -> takes: it sends nothing any more. It ends when the new
                              // process, which is known to the service manager, says no more
    CAIRN_HAND_OVER_REFUSED,  // either way: a text that says why it ends
    CAIRN_HAND_OVER_SOCKET,   // gives -> takes, after OFFER: each further UDP socket
    CAIRN_HAND_OVER_LAST = CAIRN_HAND_OVER_SOCKET
} cairn_hand_over_kind;

typedef struct cairn_hand_over_build {
    uint32_t version; // CAIRN_HANDOVER_VERSION
    uint32_t sim_version;
    uint32_t protocol_version;
} cairn_hand_over_build;
cairn_hand_over_build cairn_hand_over_build_own(void);

typedef struct cairn_hand_over_offer {
    cairn_address bound;
    uint16_t sockets; // that are bound to it
    uint16_t apart;   // cairn_uv_sockets: 0 or 1
} cairn_hand_over_offer;

typedef struct cairn_hand_over_agreed {
    uint64_t records;   // ROOM and TICKS that were read
    uint64_t ticks_min; // that were compared, of the room with the fewest
} cairn_hand_over_agreed;

typedef struct cairn_hand_over_head {
    uint32_t kind;
    uint32_t magic;
    uint64_t size; // of what follows
    uint64_t checksum;
} cairn_hand_over_head;

#define CAIRN_HAND_OVER_SMALL 512 // bytes of a record that is none of the large ones

cairn_hand_over_head cairn_hand_over_head_of(
    cairn_hand_over_kind kind, const void *bytes, size_t size);
// Whether such a record may come, by its size and kind.
bool cairn_hand_over_head_is_valid(const cairn_hand_over_head *head);

// A record that was read whole; `bytes` are owned.
typedef struct cairn_hand_over_record {
    cairn_hand_over_kind kind;
    uint8_t *bytes;
    size_t size;
    int passed_fd; // of OFFER and SOCKET; -1: none
} cairn_hand_over_record;
void cairn_hand_over_record_free(cairn_hand_over_record *record); // does not close passed_fd

// Both wait until `end_ns` of the clock of cairn_uv_now_ns, whether or not the socket blocks.
// False: the time is over, the other side is gone, or (receive) the record is malformed.
// `passed_fd` -1: none.
bool cairn_hand_over_send(int fd, cairn_hand_over_kind kind, const void *bytes, size_t size,
    int passed_fd, uint64_t end_ns);
// The same of bytes that are parts of records.
bool cairn_hand_over_send_bytes(int fd, const uint8_t *bytes, size_t size, uint64_t end_ns);
bool cairn_hand_over_receive(int fd, uint64_t end_ns, cairn_hand_over_record *out);

// The user at the other end may do what this process may.
bool cairn_hand_over_peer_is_own(int fd);
