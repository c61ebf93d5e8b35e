// SPDX-License-Identifier: MIT
#pragma once

// Addresses of <cairn/types.h> from and to those of sockets, for the drivers.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/assert.h"
#include <cairn/types.h>

// Family CAIRN_ADDRESS_NONE: neither IPv4 nor IPv6.
static inline cairn_address cairn_address_of_sockaddr(const struct sockaddr *from) {
    cairn_address out = {.family = CAIRN_ADDRESS_NONE};
    if (from->sa_family == AF_INET) {
        struct sockaddr_in ipv4;
        memcpy(&ipv4, from, sizeof ipv4);
        out.family = CAIRN_ADDRESS_IPV4;
        out.port = ntohs(ipv4.sin_port);
        memcpy(out.ip, &ipv4.sin_addr, 4);
    } else if (from->sa_family == AF_INET6) {
        struct sockaddr_in6 ipv6;
        memcpy(&ipv6, from, sizeof ipv6);
        out.family = CAIRN_ADDRESS_IPV6;
        out.port = ntohs(ipv6.sin6_port);
        memcpy(out.ip, &ipv6.sin6_addr, 16);
    }
    return out;
}

// Returns the size of what it wrote. The address has a family (asserted).
static inline socklen_t cairn_address_to_sockaddr(
    const cairn_address *address, struct sockaddr_storage *out) {
    CAIRN_ASSERT(address->family == CAIRN_ADDRESS_IPV4 || address->family == CAIRN_ADDRESS_IPV6);
    memset(out, 0, sizeof *out);
    if (address->family == CAIRN_ADDRESS_IPV4) {
        struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_port = htons(address->port)};
        memcpy(&ipv4.sin_addr, address->ip, 4);
        memcpy(out, &ipv4, sizeof ipv4);
        return sizeof ipv4;
    }
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_port = htons(address->port)};
    memcpy(&ipv6.sin6_addr, address->ip, 16);
    memcpy(out, &ipv6, sizeof ipv6);
    return sizeof ipv6;
}
