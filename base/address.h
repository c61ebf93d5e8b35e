// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where a datagram came from or goes to. Plain bytes, so that no socket header is needed.
typedef enum cairn_address_family {
    CAIRN_ADDRESS_NONE = 0,
    CAIRN_ADDRESS_IPV4 = 1, // the numbers are netcode's address types on the wire
    CAIRN_ADDRESS_IPV6 = 2,
} cairn_address_family;

typedef struct cairn_address {
    uint8_t family; // cairn_address_family
    uint8_t zero;   // always 0
    uint16_t port;  // host order
    uint8_t ip[16]; // network order; IPv4 uses the first four, the rest are 0
} cairn_address;

_Static_assert(sizeof(cairn_address) == 20, "no padding: addresses are compared as bytes");

// "127.0.0.1:40000", "[::1]:40000"; at most this many characters with the terminator.
#define CAIRN_ADDRESS_TEXT_SIZE 56

bool cairn_address_equal(const cairn_address *a, const cairn_address *b);
// Parses dotted IPv4 or bracketed IPv6 with a port (IPv4 and IPv6 without a port get port 0).
// Strict: no host names, no leading zeros, no zone ids. False leaves *out as CAIRN_ADDRESS_NONE.
bool cairn_address_parse(const char *text, cairn_address *out);
// Writes the text form and a terminator; IPv6 as RFC 5952 says. Returns `text`.
char *cairn_address_print(const cairn_address *address, char text[CAIRN_ADDRESS_TEXT_SIZE]);
