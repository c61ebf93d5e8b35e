// SPDX-License-Identifier: MIT
#pragma once

// Hosts with a port, such as localhost:40000, example.net:40000, 127.0.0.1:40000 or [::1]:40000,
// and a look-up for programs that may wait for the answer.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cairn/token.h>
#include <cairn/types.h>

#define CAIRN_HOST_NAME_SIZE 256 // RFC 1035: 253 characters

// In the order in which a client tries them.
typedef struct cairn_host {
    cairn_address addresses[CAIRN_TOKEN_SERVERS_MAX];
    uint32_t count;
} cairn_host;

typedef struct cairn_host_text {
    char name[CAIRN_HOST_NAME_SIZE]; // without brackets
    char port[6];                    // 1 to 65535
} cairn_host_text;

#define CAIRN_HOST_TEXT_WHY                                                                        \
    "must be a host with a port, such as localhost:40000, 127.0.0.1:40000 or [::1]:40000"

// False: not a host with a port; CAIRN_HOST_TEXT_WHY says so.
static inline bool cairn_host_split(const char *text, cairn_host_text *out) {
    const char *colon = strrchr(text, ':');
    const bool bracket = text[0] == '[';
    const char *name = bracket ? text + 1 : text;
    const char *end = bracket ? strchr(text, ']') : strchr(text, ':');
    *out = (cairn_host_text){.name = ""};
    // An IPv6 address without brackets has several colons.
    if (colon == NULL || end == NULL || end != colon - (bracket ? 1 : 0) || end == name) {
        return false;
    }
    const char *port = colon + 1;
    const size_t digits = strspn(port, "0123456789");
    const size_t size = (size_t)(end - name);
    if (size >= sizeof out->name || port[digits] != '\0' || digits >= sizeof out->port ||
        digits == 0 || port[0] == '0') {
        return false;
    }
    uint32_t number = 0;
    for (size_t i = 0; i < digits; ++i) {
        number = number * 10 + (uint32_t)(port[i] - '0');
    }
    memcpy(out->name, name, size);
    memcpy(out->port, port, digits);
    return number <= UINT16_MAX;
}

static inline void cairn_host_add(cairn_host *host, const cairn_address *address) {
    for (uint32_t i = 0; i < host->count; ++i) {
        if (cairn_address_equal(&host->addresses[i], address)) {
            return;
        }
    }
    if (host->count < CAIRN_TOKEN_SERVERS_MAX) {
        host->addresses[host->count++] = *address;
    }
}

// An address needs no look-up. Its text is that of cairn_address_print, which says the interface of
// a link-local address in a way of its own. False: a name.
static inline bool cairn_host_add_address(cairn_host *host, const char *text) {
    cairn_address address;
    const bool numeric = cairn_address_parse(text, &address) && address.port != 0;
    if (numeric) {
        cairn_host_add(host, &address);
    }
    return numeric;
}

// Adds the addresses of a host to `out`; waits for name servers. NULL: done. Otherwise one sentence
// that says why not, a static text.
const char *cairn_host_find(const char *text, cairn_host *out);
// The same as the reader of a flag, with a cairn_host as `out`; the first use of the flag begins a
// new list.
const char *cairn_host_flag(void *out, const char *value, bool first);
