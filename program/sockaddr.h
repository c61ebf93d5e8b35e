// SPDX-License-Identifier: MIT
#pragma once

// Addresses of <cairn/types.h> from and to those of sockets, for the drivers.
//
// A link-local address (fe80::/10) means nothing without its interface, the scope id of its socket
// address. It is kept in bytes 4 to 7 of the address, which are zero in every link-local address
// (RFC 4291, 2.5.6), so an answer goes out where the datagram came in. An IPv4 address that arrives
// on a socket for both versions is IPv4 here, and IPv4 in IPv6 (::ffff:0:0/96) there.

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#endif

#include "base/assert.h"
#include <cairn/types.h>

#define CAIRN_SOCKADDR_SCOPE_AT 4

static inline bool cairn_address_is_link_local(const cairn_address *address) {
    return address->family == CAIRN_ADDRESS_IPV6 && address->ip[0] == 0xfe &&
           (address->ip[1] & 0xc0) == 0x80;
}

static inline bool cairn_address_is_loopback(const cairn_address *address) {
    static const uint8_t loopback[sizeof address->ip] = {[15] = 1};
    return address->family == CAIRN_ADDRESS_IPV4
               ? address->ip[0] == 127
               : memcmp(address->ip, loopback, sizeof loopback) == 0;
}

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
        out.port = ntohs(ipv6.sin6_port);
        if (IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr)) {
            out.family = CAIRN_ADDRESS_IPV4;
            memcpy(out.ip, (const uint8_t *)&ipv6.sin6_addr + 12, 4);
            return out;
        }
        out.family = CAIRN_ADDRESS_IPV6;
        memcpy(out.ip, &ipv6.sin6_addr, 16);
        if (cairn_address_is_link_local(&out)) {
            const uint32_t scope = htonl(ipv6.sin6_scope_id);
            memcpy(out.ip + CAIRN_SOCKADDR_SCOPE_AT, &scope, sizeof scope);
        }
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
    if (cairn_address_is_link_local(address)) {
        uint32_t scope;
        uint8_t *at = (uint8_t *)&ipv6.sin6_addr + CAIRN_SOCKADDR_SCOPE_AT;
        memcpy(&scope, at, sizeof scope);
        memset(at, 0, sizeof scope);
        ipv6.sin6_scope_id = ntohl(scope);
    }
    memcpy(out, &ipv6, sizeof ipv6);
    return sizeof ipv6;
}

// The same for a socket that takes both versions.
static inline socklen_t cairn_address_to_sockaddr_dual(
    const cairn_address *address, struct sockaddr_storage *out) {
    if (address->family != CAIRN_ADDRESS_IPV4) {
        return cairn_address_to_sockaddr(address, out);
    }
    memset(out, 0, sizeof *out);
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_port = htons(address->port)};
    uint8_t *at = (uint8_t *)&ipv6.sin6_addr;
    at[10] = at[11] = 0xff;
    memcpy(at + 12, address->ip, 4);
    memcpy(out, &ipv6, sizeof ipv6);
    return sizeof ipv6;
}
