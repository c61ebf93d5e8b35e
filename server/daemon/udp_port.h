// SPDX-License-Identifier: MIT
#pragma once

// The UDP address of a server: one socket, which the loop's thread itself receives from and sends
// to, or several sockets at that address (SO_REUSEPORT), with a thread each that does so for the
// loop (server/daemon/io_thread.h). The system gives all datagrams of one sender to one socket,
// and all datagrams to one receiver are sent by one thread, so their order is kept. Beside the
// loop's own socket, which is for connected clients, is one for unknown peers
// (server/daemon/udp_selector.h), unless the system refuses it. All functions are for the loop's
// thread.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/daemon/udp_batch.h"
#include <cairn/server_uv.h>
#include <cairn/types.h>

typedef struct cairn_udp_port cairn_udp_port;

typedef struct cairn_udp_port_config {
    const cairn_address *listen; // NULL: `sockets` are used
    uint32_t socket_count;       // more than one: with threads
    // In place of both; the port's from now on, also on failure.
    const cairn_uv_sockets *sockets;
    void (*wake)(void *user); // a thread received something; on any thread
    void *user;
} cairn_udp_port_config;

// False: `error` says what the system refused.
bool cairn_udp_port_open(
    const cairn_udp_port_config *config, cairn_udp_port **out, char error[CAIRN_UV_ERROR_SIZE]);
// `sockets` of a config that no port is opened with.
void cairn_udp_port_close_sockets(const cairn_udp_port_config *config);
void cairn_udp_port_close(cairn_udp_port *port); // NULL is allowed

cairn_address cairn_udp_port_address(const cairn_udp_port *port); // as bound
cairn_uv_sockets cairn_udp_port_sockets(const cairn_udp_port *port);
// The sockets to be polled by the caller before cairn_udp_port_take. Returns how many; 0: threads
// do that.
#define CAIRN_UDP_POLLED_MAX 2
uint32_t cairn_udp_port_polled(const cairn_udp_port *port, int out[CAIRN_UDP_POLLED_MAX]);

// Threads receive from now on, or stop soon. Without threads, what is received is that of which the
// caller's poll tells from now on, or nothing more.
void cairn_udp_port_set_receiving(cairn_udp_port *port, bool receiving);
// That of the polled sockets has something.
void cairn_udp_port_set_readable(cairn_udp_port *port, uint32_t polled);
// Sets the addresses of the connected clients, at most CAIRN_CLIENTS_MAX. All other addresses are
// those of unknown peers.
void cairn_udp_port_set_clients(
    cairn_udp_port *port, const cairn_address *clients, uint32_t client_count);
// Gives at most so many datagrams that were received, those of clients first, but leaves a quarter
// to unknown peers. Returns how many.
typedef void cairn_udp_port_taker(void *user, const cairn_udp_received *datagram);
uint32_t cairn_udp_port_take(
    cairn_udp_port *port, uint32_t most, cairn_udp_port_taker *take, void *user);
// Whether there are more to take at once, without a poll.
bool cairn_udp_port_has_more(cairn_udp_port *port);
// Whether all that was received was taken, nothing waits to be sent, and threads do not receive.
bool cairn_udp_port_is_still(cairn_udp_port *port);

// Where to write the next datagram of at most CAIRN_DATAGRAM_SIZE_MAX bytes; NULL: the batch is
// full.
uint8_t *cairn_udp_port_room(cairn_udp_port *port);
// Adds what was written there.
void cairn_udp_port_add(cairn_udp_port *port, const cairn_address *to, size_t size);
// Sends what was added. False: the socket takes no more now; what is left stays.
bool cairn_udp_port_flush(cairn_udp_port *port);

// The members of cairn_uv_statistics that are about sockets.
void cairn_udp_port_statistics(const cairn_udp_port *port, cairn_uv_statistics *out);
