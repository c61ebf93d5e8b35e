// SPDX-License-Identifier: MIT
#pragma once

// The addresses of a look-up as those of <cairn/types.h>, for the drivers. A file that includes it
// defines _POSIX_C_SOURCE 200809L or more.

#include <stdint.h>
#ifndef _WIN32
#include <netdb.h>
#endif

#include "base/assert.h"
#include "program/host.h"
#include "program/sockaddr.h"

#ifdef AI_NUMERICSERV
// What to look up: getaddrinfo(name, port, &hints, ...).
static inline struct addrinfo cairn_host_hints(void) {
    return (struct addrinfo){
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICSERV};
}

// Adds the addresses of a look-up. IPv4 first: cairnd listens on IPv4 unless told otherwise, and a
// client tries an address for a whole time-out before it takes the next.
static inline void cairn_host_add_all(cairn_host *host, const struct addrinfo *found) {
    static const int families[] = {AF_INET, AF_INET6};
    for (int i = 0; i < 2; ++i) {
        for (const struct addrinfo *each = found; each != NULL; each = each->ai_next) {
            if (each->ai_family == families[i]) {
                const cairn_address address = cairn_address_of_sockaddr(each->ai_addr);
                cairn_host_add(host, &address);
            }
        }
    }
    CAIRN_ASSERT(host->count <= CAIRN_TOKEN_SERVERS_MAX);
}
#endif
