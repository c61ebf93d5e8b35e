// SPDX-License-Identifier: MIT
#pragma once

// A thread that receives and sends the datagrams of one socket in batches, for a loop on another
// thread. Between them are two bounded queues (server/threads/datagram_ring.h): neither waits for
// the other, and what a full queue does not take is dropped and counted. All functions are for the
// loop's thread.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/threads/datagram_ring.h"
#include <cairn/types.h>

typedef struct cairn_io_thread cairn_io_thread;

typedef struct cairn_io_thread_config {
    int socket_fd; // the caller's; it does not block
    bool dual;     // it is of IPv6 and takes IPv4 as well
    // Something was received. On the thread; must not wait.
    void (*wake)(void *user);
    void *user;
} cairn_io_thread_config;

// It sends, but receives nothing before it is told to. 0, or the system's error number.
int cairn_io_thread_open(const cairn_io_thread_config *config, cairn_io_thread **out);
// Sends what waits, for a tenth of a second at most, and ends the thread. NULL is allowed.
void cairn_io_thread_close(cairn_io_thread *thread);

// From now on it receives, or stops soon: what arrives waits in the socket.
void cairn_io_thread_set_receiving(cairn_io_thread *thread, bool receiving);
// Whether it has stopped to receive, all that it received was taken, and all that it was given has
// been sent.
bool cairn_io_thread_is_still(const cairn_io_thread *thread);

// The next datagram that was received, valid until cairn_io_thread_release; false: none waits.
bool cairn_io_thread_take(cairn_io_thread *thread, cairn_datagram *out);
bool cairn_io_thread_has_next(cairn_io_thread *thread);
void cairn_io_thread_release(cairn_io_thread *thread);

// Copies a datagram, which leaves after cairn_io_thread_flush.
void cairn_io_thread_send(
    cairn_io_thread *thread, const cairn_address *to, const uint8_t *bytes, size_t size);
void cairn_io_thread_flush(cairn_io_thread *thread);

typedef struct cairn_io_thread_statistics {
    uint64_t send_waits;  // how often the socket's buffer was full
    uint64_t send_errors; // datagrams that the system refused to send
    uint64_t receive_errors;
    uint64_t joined;           // datagrams that the system gave together with others
    uint64_t received_dropped; // the loop did not take them in time
    uint64_t sent_dropped;     // the thread did not send them in time
} cairn_io_thread_statistics;
// As of its last batches.
cairn_io_thread_statistics cairn_io_thread_statistics_read(const cairn_io_thread *thread);
