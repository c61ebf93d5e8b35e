// SPDX-License-Identifier: MIT
// For ppoll.
#define _GNU_SOURCE
#include "server/daemon/io_thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/limits.h"
#include "server/daemon/udp_batch.h"

// While datagrams arrive faster than this, counted over so long, the thread does not look at its
// socket for a moment before it receives again: each wake-up costs as much as receiving several.
#define GATHER_FROM_HZ 2000
#define GATHER_COUNT_NS UINT64_C(5000000)
#define GATHER_SLEEP_NS UINT64_C(300000)
// How long a thread that is to end waits for a full socket.
#define END_NS (CAIRN_NS_PER_S / 10)

struct cairn_io_thread {
    cairn_io_thread_config config;
    pthread_t thread;
    int wake_fd; // eventfd
    cairn_datagram_ring *received;
    cairn_datagram_ring *to_send;
    uint64_t sent_dropped; // the loop's
    // Told by the loop.
    atomic_bool receives;
    atomic_bool ends;
    // Told by the thread.
    atomic_bool receiving;
    atomic_bool sleeping; // it looks at its queue again only when it is woken
    _Atomic(uint64_t) send_waits;
    _Atomic(uint64_t) send_errors;
    _Atomic(uint64_t) receive_errors;
    _Atomic(uint64_t) joined;
    _Atomic(uint64_t) received_dropped;
    // The thread's own.
    cairn_udp_receiver *receiver;
    cairn_udp_sender *sender;
    bool full; // the socket takes no more for now
    uint64_t counted_since_ns;
    uint32_t counted;
    bool gathers;
};

static uint64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * CAIRN_NS_PER_S + (uint64_t)now.tv_nsec;
}

static void set(_Atomic(uint64_t) *counter, uint64_t value) {
    atomic_store_explicit(counter, value, memory_order_relaxed);
}

static uint64_t get(const _Atomic(uint64_t) *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

// All that waits, unless the socket is full.
static void send_waiting(cairn_io_thread *own) {
    cairn_datagram next;
    bool more = true;
    own->full = !cairn_udp_sender_flush(own->sender);
    while (!own->full && more) {
        cairn_datagram_ring_release(own->to_send);
        for (uint32_t i = 0; i < CAIRN_UDP_BATCH_MAX && more; ++i) {
            more = cairn_datagram_ring_take(own->to_send, &next);
            if (more) {
                (void)cairn_udp_sender_put(own->sender, &next.address, next.bytes, next.size);
            }
        }
        own->full = !cairn_udp_sender_flush(own->sender);
    }
    if (!own->full) {
        cairn_datagram_ring_release(own->to_send);
    }
    const cairn_udp_send_statistics *sent = cairn_udp_sender_statistics(own->sender);
    set(&own->send_waits, sent->waits);
    set(&own->send_errors, sent->errors);
}

static void pass_on(cairn_io_thread *own) {
    cairn_udp_received next;
    while (cairn_udp_next(own->receiver, &next)) {
        const size_t size =
            next.size <= CAIRN_DATAGRAM_RING_SIZE_MAX ? next.size : CAIRN_DATAGRAM_RING_SIZE_MAX;
        own->counted += 1;
        if (!cairn_datagram_ring_add(own->received, &next.from, next.bytes, size)) {
            set(&own->received_dropped, get(&own->received_dropped) + 1);
        }
    }
    set(&own->joined, cairn_udp_receiver_joined(own->receiver));
    own->config.wake(own->config.user);
}

// One batch. False: there is nothing more for now.
static bool receive_batch(cairn_io_thread *own) {
    const int count = cairn_udp_receive(own->receiver);
    if (count < 0) {
        const bool none = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        set(&own->receive_errors, get(&own->receive_errors) + (none ? 0 : 1));
        return false;
    }
    pass_on(own);
    return count == CAIRN_UDP_BATCH_MAX;
}

static void count_received(cairn_io_thread *own) {
    const uint64_t now_ns = clock_ns();
    const uint64_t counted_ns = now_ns - own->counted_since_ns;
    if (counted_ns >= GATHER_COUNT_NS) {
        own->gathers = own->counted > counted_ns / (CAIRN_NS_PER_S / GATHER_FROM_HZ);
        own->counted = 0;
        own->counted_since_ns = now_ns;
    }
}

// Waits until it is woken, or its socket has or takes something.
static void sleep_until_woken(cairn_io_thread *own) {
    const bool receiving = atomic_load_explicit(&own->receiving, memory_order_relaxed);
    const bool gathers = receiving && own->gathers;
    const struct timespec gather = {.tv_nsec = GATHER_SLEEP_NS};
    struct pollfd polled[] = {
        {.fd = own->wake_fd, .events = POLLIN},
        {.fd = own->config.socket_fd,
            .events = (short)((receiving && !gathers ? POLLIN : 0) | (own->full ? POLLOUT : 0))},
    };
    uint64_t count;
    // Both threads exchange: the later one sees what the other did before.
    (void)atomic_exchange_explicit(&own->sleeping, true, memory_order_acq_rel);
    const bool waits = own->full || !cairn_datagram_ring_has_next(own->to_send);
    const bool told = atomic_load_explicit(&own->ends, memory_order_relaxed) ||
                      receiving != atomic_load_explicit(&own->receives, memory_order_relaxed);
    if (waits && !told) {
        (void)ppoll(polled, polled[1].events == 0 ? 1 : 2, gathers ? &gather : NULL, NULL);
    }
    atomic_store_explicit(&own->sleeping, false, memory_order_relaxed);
    if ((polled[0].revents & POLLIN) != 0) {
        (void)!read(own->wake_fd, &count, sizeof count);
    }
}

// The last datagrams, while the socket takes them.
static void send_the_rest(cairn_io_thread *own) {
    const uint64_t end_ns = clock_ns() + END_NS;
    const struct timespec moment = {.tv_nsec = 1000000};
    struct pollfd polled = {.fd = own->config.socket_fd, .events = POLLOUT};
    send_waiting(own);
    while (own->full && clock_ns() < end_ns) {
        (void)ppoll(&polled, 1, &moment, NULL);
        send_waiting(own);
    }
}

static void *run(void *argument) {
    cairn_io_thread *own = argument;
    while (!atomic_load_explicit(&own->ends, memory_order_acquire)) {
        const bool receives = atomic_load_explicit(&own->receives, memory_order_relaxed);
        bool more = false;
        send_waiting(own);
        if (receives) {
            more = receive_batch(own);
            count_received(own);
        }
        // After its last datagram was added.
        atomic_store_explicit(&own->receiving, receives, memory_order_release);
        if (!more) {
            sleep_until_woken(own);
        }
    }
    send_the_rest(own);
    return NULL;
}

static void wake(cairn_io_thread *thread) {
    const uint64_t one = 1;
    if (atomic_exchange_explicit(&thread->sleeping, false, memory_order_acq_rel)) {
        (void)!write(thread->wake_fd, &one, sizeof one);
    }
}

static void release(cairn_io_thread *thread) {
    cairn_udp_receiver_destroy(thread->receiver);
    cairn_udp_sender_destroy(thread->sender);
    cairn_datagram_ring_destroy(thread->received);
    cairn_datagram_ring_destroy(thread->to_send);
    if (thread->wake_fd >= 0) {
        close(thread->wake_fd);
    }
    free(thread);
}

int cairn_io_thread_open(const cairn_io_thread_config *config, cairn_io_thread **out) {
    cairn_io_thread *thread = calloc(1, sizeof *thread);
    *out = NULL;
    if (thread == NULL) {
        return ENOMEM;
    }
    thread->config = *config;
    thread->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    const int no_wake = thread->wake_fd < 0 ? errno : 0;
    thread->received = cairn_datagram_ring_create();
    thread->to_send = cairn_datagram_ring_create();
    thread->receiver = cairn_udp_receiver_create(config->socket_fd);
    thread->sender = cairn_udp_sender_create(config->socket_fd, config->dual);
    const bool whole = thread->received != NULL && thread->to_send != NULL &&
                       thread->receiver != NULL && thread->sender != NULL;
    int code = no_wake != 0 ? no_wake : whole ? 0 : ENOMEM;
    code = code != 0 ? code : pthread_create(&thread->thread, NULL, run, thread);
    if (code != 0) {
        release(thread);
        return code;
    }
    *out = thread;
    return 0;
}

void cairn_io_thread_close(cairn_io_thread *thread) {
    if (thread != NULL) {
        atomic_store_explicit(&thread->ends, true, memory_order_release);
        wake(thread);
        (void)pthread_join(thread->thread, NULL);
        release(thread);
    }
}

void cairn_io_thread_set_receiving(cairn_io_thread *thread, bool receiving) {
    atomic_store_explicit(&thread->receives, receiving, memory_order_relaxed);
    wake(thread);
}

bool cairn_io_thread_is_still(const cairn_io_thread *thread) {
    return !atomic_load_explicit(&thread->receives, memory_order_relaxed) &&
           !atomic_load_explicit(&thread->receiving, memory_order_acquire) &&
           cairn_datagram_ring_is_empty(thread->received) &&
           cairn_datagram_ring_is_empty(thread->to_send);
}

bool cairn_io_thread_take(cairn_io_thread *thread, cairn_datagram *out) {
    return cairn_datagram_ring_take(thread->received, out);
}

bool cairn_io_thread_has_next(cairn_io_thread *thread) {
    return cairn_datagram_ring_has_next(thread->received);
}

void cairn_io_thread_release(cairn_io_thread *thread) {
    cairn_datagram_ring_release(thread->received);
}

void cairn_io_thread_send(
    cairn_io_thread *thread, const cairn_address *to, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(size > 0);
    if (!cairn_datagram_ring_add(thread->to_send, to, bytes, size)) {
        thread->sent_dropped += 1;
    }
}

void cairn_io_thread_flush(cairn_io_thread *thread) {
    wake(thread);
}

cairn_io_thread_statistics cairn_io_thread_statistics_read(const cairn_io_thread *thread) {
    return (cairn_io_thread_statistics){.send_waits = get(&thread->send_waits),
        .send_errors = get(&thread->send_errors),
        .receive_errors = get(&thread->receive_errors),
        .joined = get(&thread->joined),
        .received_dropped = get(&thread->received_dropped),
        .sent_dropped = thread->sent_dropped};
}
