// SPDX-License-Identifier: MIT
#include "server/web/admission.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"

// More than the networks that can ask at a time.
#define RATES_MAX 128
#define NS_PER_REQUEST (CAIRN_NS_PER_S / CAIRN_WEB_REQUEST_RATE_HZ)

typedef struct connection {
    bool used;
    bool socket; // a WebSocket
    cairn_address from;
} connection;

typedef struct network {
    uint8_t family; // 0: the entry is free
    uint8_t bytes[8];
} network;

// A virtual clock that each request moves ahead: it may be at most a burst ahead of the real one.
typedef struct rate {
    network of;
    uint64_t until_ns;
} rate;

struct cairn_admission {
    uint32_t sockets_max;
    uint32_t sockets_per_network_max;
    uint32_t capacity;
    rate rates[RATES_MAX];
    connection connections[];
};

static network network_of(const cairn_address *address) {
    network out = {.family = address->family};
    memcpy(out.bytes, address->ip, address->family == CAIRN_ADDRESS_IPV4 ? 4 : 8);
    return out;
}

static bool is_same(const network *a, const network *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

cairn_status cairn_admission_create(
    uint32_t sockets_max, uint32_t sockets_per_network_max, cairn_admission **out) {
    const uint32_t capacity = CAIRN_WEB_REQUESTS_MAX + sockets_max;
    *out = calloc(1, sizeof **out + capacity * sizeof(connection));
    if (*out == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    (*out)->sockets_max = sockets_max;
    (*out)->sockets_per_network_max = sockets_per_network_max;
    (*out)->capacity = capacity;
    return CAIRN_OK;
}

void cairn_admission_destroy(cairn_admission *admission) {
    free(admission);
}

void cairn_admission_set_sockets_per_network(cairn_admission *admission, uint32_t sockets_max) {
    admission->sockets_per_network_max = sockets_max;
}

// Whether one more of this kind fits, in all and from this network.
static bool fits(const cairn_admission *admission, bool socket, const cairn_address *from) {
    const uint32_t most = socket ? admission->sockets_max : CAIRN_WEB_REQUESTS_MAX;
    const uint32_t network_most =
        socket ? admission->sockets_per_network_max : CAIRN_WEB_REQUESTS_PER_NETWORK_MAX;
    const network own = network_of(from);
    uint32_t count = 0;
    uint32_t network_count = 0;
    for (uint32_t i = 0; i < admission->capacity; ++i) {
        const connection *other = &admission->connections[i];
        if (other->used && other->socket == socket) {
            const network of = network_of(&other->from);
            count += 1;
            network_count += is_same(&of, &own) ? 1 : 0;
        }
    }
    return count < most && network_count < network_most;
}

uint32_t cairn_admission_add(cairn_admission *admission, const cairn_address *from) {
    if (!fits(admission, false, from)) {
        return CAIRN_ADMISSION_NONE;
    }
    uint32_t at = 0;
    while (admission->connections[at].used) {
        ++at;
        CAIRN_ASSERT(at < admission->capacity);
    }
    admission->connections[at] = (connection){.used = true, .from = *from};
    return at;
}

static connection *connection_at(cairn_admission *admission, uint32_t at) {
    CAIRN_ASSERT(at < admission->capacity && admission->connections[at].used);
    return &admission->connections[at];
}

void cairn_admission_remove(cairn_admission *admission, uint32_t at) {
    *connection_at(admission, at) = (connection){0};
}

bool cairn_admission_upgrade(cairn_admission *admission, uint32_t at) {
    connection *own = connection_at(admission, at);
    CAIRN_ASSERT(!own->socket);
    own->socket = fits(admission, true, &own->from);
    return own->socket;
}

// The network that asked least recently gives way to a new one.
static rate *rate_of(cairn_admission *admission, const cairn_address *from) {
    const network own = network_of(from);
    rate *oldest = &admission->rates[0];
    for (uint32_t i = 0; i < RATES_MAX; ++i) {
        rate *at = &admission->rates[i];
        if (is_same(&at->of, &own)) {
            return at;
        }
        oldest = at->until_ns < oldest->until_ns ? at : oldest;
    }
    *oldest = (rate){.of = own};
    return oldest;
}

bool cairn_admission_take(
    cairn_admission *admission, uint32_t at, uint64_t now_ns, uint32_t count) {
    rate *own = rate_of(admission, &connection_at(admission, at)->from);
    const uint64_t begin_ns = own->until_ns > now_ns ? own->until_ns : now_ns;
    if (begin_ns - now_ns > (CAIRN_WEB_REQUEST_BURST - 1) * NS_PER_REQUEST) {
        return false;
    }
    own->until_ns = begin_ns + count * NS_PER_REQUEST;
    return true;
}

uint32_t cairn_admission_sockets(const cairn_admission *admission) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < admission->capacity; ++i) {
        count += admission->connections[i].socket ? 1 : 0;
    }
    return count;
}

const cairn_address *cairn_admission_address(const cairn_admission *admission, uint32_t at) {
    CAIRN_ASSERT(at < admission->capacity && admission->connections[at].used);
    return &admission->connections[at].from;
}
