// SPDX-License-Identifier: MIT
// For SO_REUSEPORT and SO_MEMINFO.
#define _GNU_SOURCE
#include "server/daemon/udp_port.h"

#include <errno.h>
#include <netinet/in.h>
#ifdef __linux__
#include <linux/sock_diag.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "program/sockaddr.h"
#include "server/daemon/io_thread.h"
#include "server/daemon/udp_selector.h"

#define RECEIVE_BUFFER_BYTES (4 * 1024 * 1024)

// A socket that the loop receives from.
typedef struct polled_socket {
    cairn_udp_receiver *receiver;
    bool readable;
} polled_socket;

struct cairn_udp_port {
    cairn_address address;
    bool dual; // the sockets take IPv4 as well
    bool receiving;
    cairn_uv_sockets sockets;
    // The loop's own: that of the clients, which it sends to as well, and that of unknown peers.
    uint32_t polled_count;
    polled_socket polled[CAIRN_UDP_POLLED_MAX];
    cairn_udp_sender *sender;
    uint64_t receive_errors;
    cairn_udp_selector selector;
    // Several: a thread for each.
    uint32_t thread_count;
    cairn_io_thread *threads[CAIRN_UV_SOCKETS_MAX];
    uint32_t first; // to be asked next time
    uint32_t added; // datagrams since the last flush
    uint8_t datagram[CAIRN_DATAGRAM_SIZE_MAX];
};

static bool set_error(char *error, const char *what, int code) {
    snprintf(error, CAIRN_UV_ERROR_SIZE, "%s: %s", what, strerror(code));
    return false;
}

static bool is_unspecified(const cairn_address *address) {
    static const uint8_t unspecified[sizeof address->ip];
    return memcmp(address->ip, unspecified, sizeof unspecified) == 0;
}

static bool is_dual(const cairn_address *address) {
    return address->family == CAIRN_ADDRESS_IPV6 && is_unspecified(address);
}

// Sockets of the same user at its address.
static bool allow_others(int fd, char *error) {
    const int on = 1;
    return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0 ||
           set_error(error, "SO_REUSEPORT", errno);
}

// A socket alone at its address, or one `beside` others.
static bool open_socket(const cairn_address *listen, bool beside, int *out, char *error) {
    const bool ipv6 = listen->family == CAIRN_ADDRESS_IPV6;
    const int only_ipv6 = is_dual(listen) ? 0 : 1;
    // The system may grant less; a smaller buffer only drops earlier.
    const int buffer_size = RECEIVE_BUFFER_BYTES;
    struct sockaddr_storage address;
    const socklen_t size = cairn_address_to_sockaddr(listen, &address);
    const int fd = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    *out = fd;
    if (fd < 0) {
        return set_error(error, "socket", errno);
    }
    if (ipv6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_ipv6, sizeof only_ipv6) != 0) {
        return set_error(error, "IPV6_V6ONLY", errno);
    }
    if (beside && !allow_others(fd, error)) {
        return false;
    }
    if (bind(fd, (const struct sockaddr *)&address, size) != 0) {
        return set_error(error, "bind", errno);
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer_size, sizeof buffer_size);
    return true;
}

static bool read_address(cairn_udp_port *port, char *error) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (getsockname(port->sockets.fds[0], (struct sockaddr *)&address, &size) != 0) {
        return set_error(error, "getsockname", errno);
    }
    port->address = cairn_address_of_sockaddr((const struct sockaddr *)&address);
    port->dual = is_dual(&port->address);
    return true;
}

// The first one is bound alone, so an address that another server has is refused, and port 0
// becomes one that nobody has.
static bool open_sockets(
    cairn_udp_port *port, const cairn_address *listen, uint32_t count, char *error) {
    port->address = *listen;
    int *fds = port->sockets.fds;
    for (uint32_t i = 0; i < count; ++i) {
        const bool opened = open_socket(&port->address, i > 0, &fds[i], error);
        port->sockets.count += fds[i] >= 0 ? 1 : 0;
        if (!opened || (i == 0 && !read_address(port, error)) ||
            (i == 0 && count > 1 && !allow_others(fds[0], error))) {
            return false;
        }
    }
    return true;
}

static bool draw_selector(cairn_udp_port *port) {
    uint8_t entropy[sizeof port->selector];
    const bool drawn = getrandom(entropy, sizeof entropy, 0) == sizeof entropy;
    if (drawn) {
        port->selector = cairn_udp_selector_of(entropy);
    }
    return drawn;
}

// A second socket, for unknown peers: all but those of set_clients. Without it, one serves all. A
// program of the same user may bind a third one beside them, but the selector gives it nothing.
static void open_apart(cairn_udp_port *port) {
    char ignored[CAIRN_UV_ERROR_SIZE];
    int fd = -1;
    const int off = 0;
    port->sockets.apart = draw_selector(port) && allow_others(port->sockets.fds[0], ignored) &&
                          open_socket(&port->address, true, &fd, ignored) &&
                          cairn_udp_selector_set(&port->selector, fd, NULL, 0);
    if (port->sockets.apart) {
        port->sockets.fds[port->sockets.count++] = fd;
        return;
    }
    if (fd >= 0) {
        close(fd);
    }
    (void)setsockopt(port->sockets.fds[0], SOL_SOCKET, SO_REUSEPORT, &off, sizeof off);
}

static bool open_threads(cairn_udp_port *port, const cairn_udp_port_config *config, char *error) {
    for (uint32_t i = 0; i < port->sockets.count; ++i) {
        const cairn_io_thread_config thread = {.socket_fd = port->sockets.fds[i],
            .dual = port->dual,
            .wake = config->wake,
            .user = config->user};
        const int code = cairn_io_thread_open(&thread, &port->threads[i]);
        if (code != 0) {
            return set_error(error, "a thread for datagrams", code);
        }
        port->thread_count += 1;
    }
    return true;
}

static bool open_batches(cairn_udp_port *port, char *error) {
    bool whole = true;
    for (uint32_t i = 0; i < port->sockets.count; ++i) {
        port->polled[i].receiver = cairn_udp_receiver_create(port->sockets.fds[i]);
        port->polled_count += 1;
        whole = whole && port->polled[i].receiver != NULL;
    }
    port->sender = cairn_udp_sender_create(port->sockets.fds[0], port->dual);
    return (whole && port->sender != NULL) || set_error(error, "buffers", ENOMEM);
}

// Those of another process.
static bool adopt_sockets(cairn_udp_port *port, const cairn_uv_sockets *sockets, char *error) {
    port->sockets = *sockets;
    return read_address(port, error) &&
           (draw_selector(port) || set_error(error, "random numbers", errno));
}

static bool bind_sockets(cairn_udp_port *port, const cairn_udp_port_config *config, char *error) {
    if (!open_sockets(port, config->listen, config->socket_count, error)) {
        return false;
    }
    if (config->socket_count == 1) {
        open_apart(port);
    }
    return true;
}

bool cairn_udp_port_open(
    const cairn_udp_port_config *config, cairn_udp_port **out, char error[CAIRN_UV_ERROR_SIZE]) {
    const uint32_t count = config->listen == NULL ? config->sockets->count : config->socket_count;
    CAIRN_ASSERT(count >= 1 && count <= CAIRN_UV_SOCKETS_MAX);
    CAIRN_ASSERT(config->listen != NULL || !config->sockets->apart || count == 2);
    cairn_udp_port *port = calloc(1, sizeof *port);
    *out = NULL;
    if (port == NULL) {
        cairn_udp_port_close_sockets(config);
        return set_error(error, "sockets", ENOMEM);
    }
    const bool bound = config->listen == NULL ? adopt_sockets(port, config->sockets, error)
                                              : bind_sockets(port, config, error);
    const bool threads = port->sockets.count > 1 && !port->sockets.apart;
    if (!bound || !(threads ? open_threads(port, config, error) : open_batches(port, error))) {
        cairn_udp_port_close(port);
        return false;
    }
    *out = port;
    return true;
}

void cairn_udp_port_close_sockets(const cairn_udp_port_config *config) {
    for (uint32_t i = 0; config->listen == NULL && i < config->sockets->count; ++i) {
        close(config->sockets->fds[i]);
    }
}

void cairn_udp_port_close(cairn_udp_port *port) {
    if (port == NULL) {
        return;
    }
    for (uint32_t i = 0; i < port->thread_count; ++i) {
        cairn_io_thread_close(port->threads[i]);
    }
    for (uint32_t i = 0; i < port->sockets.count; ++i) {
        close(port->sockets.fds[i]);
    }
    for (uint32_t i = 0; i < port->polled_count; ++i) {
        cairn_udp_receiver_destroy(port->polled[i].receiver);
    }
    cairn_udp_sender_destroy(port->sender);
    free(port);
}

cairn_address cairn_udp_port_address(const cairn_udp_port *port) {
    return port->address;
}

cairn_uv_sockets cairn_udp_port_sockets(const cairn_udp_port *port) {
    return port->sockets;
}

uint32_t cairn_udp_port_polled(const cairn_udp_port *port, int out[CAIRN_UDP_POLLED_MAX]) {
    memcpy(out, port->sockets.fds, port->polled_count * sizeof *out);
    return port->polled_count;
}

void cairn_udp_port_set_receiving(cairn_udp_port *port, bool receiving) {
    port->receiving = receiving;
    for (uint32_t i = 0; i < port->polled_count; ++i) {
        port->polled[i].readable = port->polled[i].readable && receiving;
    }
    for (uint32_t i = 0; i < port->thread_count; ++i) {
        cairn_io_thread_set_receiving(port->threads[i], receiving);
    }
}

void cairn_udp_port_set_readable(cairn_udp_port *port, uint32_t polled) {
    CAIRN_ASSERT(polled < port->polled_count);
    port->polled[polled].readable = true;
}

// A process that another one follows has no say any more, and one that follows none yet.
void cairn_udp_port_set_clients(
    cairn_udp_port *port, const cairn_address *clients, uint32_t client_count) {
    if (port->sockets.apart && port->receiving) {
        (void)cairn_udp_selector_set(&port->selector, port->sockets.fds[0], clients, client_count);
    }
}

// Whether something came.
static bool receive_batch(cairn_udp_port *port, polled_socket *polled) {
    const int count = cairn_udp_receive(polled->receiver);
    const bool none = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    port->receive_errors += count < 0 && !none ? 1 : 0;
    polled->readable = count == CAIRN_UDP_BATCH_MAX;
    return count > 0;
}

static uint32_t take_of_socket(cairn_udp_port *port, polled_socket *polled, uint32_t most,
    cairn_udp_port_taker *take, void *user) {
    cairn_udp_received next;
    uint32_t count = 0;
    while (count < most && (cairn_udp_has_next(polled->receiver) ||
                               (polled->readable && receive_batch(port, polled)))) {
        (void)cairn_udp_next(polled->receiver, &next);
        take(user, &next);
        count += 1;
    }
    return count;
}

static uint32_t take_of_thread(
    cairn_io_thread *thread, uint32_t most, cairn_udp_port_taker *take, void *user) {
    cairn_datagram next;
    uint32_t count = 0;
    while (count < most && cairn_io_thread_take(thread, &next)) {
        const cairn_udp_received received = {
            .from = next.address, .bytes = next.bytes, .size = next.size};
        take(user, &received);
        count += 1;
    }
    cairn_io_thread_release(thread);
    return count;
}

uint32_t cairn_udp_port_take(
    cairn_udp_port *port, uint32_t most, cairn_udp_port_taker *take, void *user) {
    if (port->thread_count == 0) {
        const uint32_t kept = port->sockets.apart ? most / 4 : 0;
        const uint32_t first = take_of_socket(port, &port->polled[0], most - kept, take, user);
        return !port->sockets.apart
                   ? first
                   : first + take_of_socket(port, &port->polled[1], most - first, take, user);
    }
    // Another thread is the first one each time, so a flood at one socket starves no other.
    uint32_t count = 0;
    for (uint32_t i = 0; i < port->thread_count; ++i) {
        cairn_io_thread *thread = port->threads[(port->first + i) % port->thread_count];
        count += take_of_thread(thread, most - count, take, user);
    }
    port->first = (port->first + 1) % port->thread_count;
    return count;
}

bool cairn_udp_port_has_more(cairn_udp_port *port) {
    bool more = false;
    for (uint32_t i = 0; i < port->polled_count && !more; ++i) {
        // A whole batch says that the socket has more.
        more = port->polled[i].readable || cairn_udp_has_next(port->polled[i].receiver);
    }
    for (uint32_t i = 0; i < port->thread_count && !more; ++i) {
        more = cairn_io_thread_has_next(port->threads[i]);
    }
    return more;
}

bool cairn_udp_port_is_still(cairn_udp_port *port) {
    bool still = !cairn_udp_port_has_more(port);
    for (uint32_t i = 0; i < port->thread_count && still; ++i) {
        still = cairn_io_thread_is_still(port->threads[i]);
    }
    return still;
}

uint8_t *cairn_udp_port_room(cairn_udp_port *port) {
    if (port->thread_count == 0) {
        return cairn_udp_sender_room(port->sender);
    }
    return port->added < CAIRN_UDP_BATCH_MAX ? port->datagram : NULL;
}

// The thread that sends to an address, the same one each time.
static cairn_io_thread *thread_of(const cairn_udp_port *port, const cairn_address *to) {
    uint32_t words[sizeof *to / sizeof(uint32_t)];
    uint32_t mixed = 0;
    memcpy(words, to, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        mixed = (mixed ^ words[i]) * 0x9e3779b1u;
        mixed ^= mixed >> 15;
    }
    return port->threads[mixed % port->thread_count];
}

void cairn_udp_port_add(cairn_udp_port *port, const cairn_address *to, size_t size) {
    if (port->thread_count == 0) {
        cairn_udp_sender_add(port->sender, to, size);
        return;
    }
    cairn_io_thread_send(thread_of(port, to), to, port->datagram, size);
    port->added += 1;
}

bool cairn_udp_port_flush(cairn_udp_port *port) {
    if (port->thread_count == 0) {
        return cairn_udp_sender_flush(port->sender);
    }
    for (uint32_t i = 0; i < port->thread_count && port->added > 0; ++i) {
        cairn_io_thread_flush(port->threads[i]);
    }
    port->added = 0;
    return true;
}

// What the system dropped at a socket, since it was opened.
static uint64_t dropped_at(int fd) {
#ifdef SO_MEMINFO
    uint32_t numbers[SK_MEMINFO_VARS] = {0};
    socklen_t size = sizeof numbers;
    return getsockopt(fd, SOL_SOCKET, SO_MEMINFO, numbers, &size) == 0 ? numbers[SK_MEMINFO_DROPS]
                                                                       : 0;
#else
    (void)fd;
    return 0;
#endif
}

void cairn_udp_port_statistics(const cairn_udp_port *port, cairn_uv_statistics *out) {
    const cairn_uv_sockets *sockets = &port->sockets;
    const uint32_t of_clients = sockets->apart ? 1 : sockets->count;
    out->io_threads = port->thread_count;
    for (uint32_t i = 0; i < sockets->count; ++i) {
        *(i < of_clients ? &out->buffer_dropped : &out->unknown_dropped) +=
            dropped_at(sockets->fds[i]);
    }
    if (port->thread_count == 0) {
        const cairn_udp_send_statistics *sent = cairn_udp_sender_statistics(port->sender);
        out->send_waits = sent->waits;
        out->send_errors = sent->errors;
        out->receive_errors += port->receive_errors;
        for (uint32_t i = 0; i < port->polled_count; ++i) {
            out->datagrams_joined += cairn_udp_receiver_joined(port->polled[i].receiver);
        }
    }
    for (uint32_t i = 0; i < port->thread_count; ++i) {
        const cairn_io_thread_statistics one = cairn_io_thread_statistics_read(port->threads[i]);
        out->send_waits += one.send_waits;
        out->send_errors += one.send_errors;
        out->receive_errors += one.receive_errors;
        out->datagrams_joined += one.joined;
        out->received_dropped += one.received_dropped;
        out->sent_dropped += one.sent_dropped;
    }
}
