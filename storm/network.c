// SPDX-License-Identifier: MIT
#include "storm/network.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

typedef struct waiting {
    uint64_t at_ns;
    uint32_t slot;
} waiting;

typedef struct endpoint {
    cairn_address address;
    cairn_virtual_clock clock;
} endpoint;

typedef struct line {
    cairn_virtual_bottleneck limits;
    uint64_t free_ns; // when all that waits has left
} line;

struct cairn_virtual_network {
    cairn_random random;
    uint64_t now_ns;
    cairn_virtual_counters counters;
    endpoint endpoints[CAIRN_VIRTUAL_ENDPOINTS_MAX];
    uint32_t endpoint_count;
    cairn_virtual_path paths[CAIRN_VIRTUAL_ENDPOINTS_MAX][CAIRN_VIRTUAL_ENDPOINTS_MAX];
    cairn_virtual_traffic traffic[CAIRN_VIRTUAL_ENDPOINTS_MAX][CAIRN_VIRTUAL_ENDPOINTS_MAX];
    line lines[CAIRN_VIRTUAL_BOTTLENECKS_MAX + 1]; // by number; 0 is none
    uint32_t line_count;
    void (*tap)(void *user, const cairn_address *from, const cairn_address *to,
        const uint8_t *bytes, size_t size);
    void *tap_user;
    cairn_virtual_datagram out;
    uint32_t capacity;
    uint32_t count;
    waiting *queue;       // the earliest last; of equal times the one that was sent first
    uint32_t *free_slots; // capacity - count of them
    cairn_virtual_datagram *slots;
};

cairn_status cairn_virtual_network_create(
    uint64_t seed, uint32_t datagrams_max, cairn_virtual_network **out) {
    *out = NULL;
    cairn_virtual_network *network = calloc(1, sizeof *network);
    if (network == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    network->random = cairn_random_of(seed);
    network->capacity = datagrams_max;
    network->queue = malloc(datagrams_max * sizeof *network->queue);
    network->free_slots = malloc(datagrams_max * sizeof *network->free_slots);
    network->slots = malloc(datagrams_max * sizeof *network->slots);
    if (network->queue == NULL || network->free_slots == NULL || network->slots == NULL) {
        cairn_virtual_network_destroy(network);
        return CAIRN_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < datagrams_max; i++) {
        network->free_slots[i] = datagrams_max - 1 - i;
    }
    *out = network;
    return CAIRN_OK;
}

void cairn_virtual_network_destroy(cairn_virtual_network *network) {
    if (network != NULL) {
        free(network->queue);
        free(network->free_slots);
        free(network->slots);
        free(network);
    }
}

uint32_t cairn_virtual_endpoint(
    cairn_virtual_network *network, const cairn_address *address, cairn_virtual_clock clock) {
    CAIRN_ASSERT(network->endpoint_count < CAIRN_VIRTUAL_ENDPOINTS_MAX);
    CAIRN_ASSERT(clock.drift_ppm >= -100000 && clock.drift_ppm <= 100000);
    network->endpoints[network->endpoint_count] = (endpoint){*address, clock};
    return network->endpoint_count++;
}

const cairn_address *cairn_virtual_address(const cairn_virtual_network *network, uint32_t number) {
    return &network->endpoints[number].address;
}

void cairn_virtual_move(
    cairn_virtual_network *network, uint32_t number, const cairn_address *address) {
    network->endpoints[number].address = *address;
}

cairn_virtual_path *cairn_virtual_path_between(
    cairn_virtual_network *network, uint32_t from, uint32_t to) {
    return &network->paths[from][to];
}

void cairn_virtual_connect(
    cairn_virtual_network *network, uint32_t a, uint32_t b, const cairn_virtual_path *path) {
    network->paths[a][b] = *path;
    network->paths[b][a] = *path;
}

uint32_t cairn_virtual_bottleneck_add(
    cairn_virtual_network *network, cairn_virtual_bottleneck bottleneck) {
    CAIRN_ASSERT(network->line_count < CAIRN_VIRTUAL_BOTTLENECKS_MAX);
    CAIRN_ASSERT(bottleneck.bytes_per_s > 0);
    network->lines[++network->line_count].limits = bottleneck;
    return network->line_count;
}

cairn_virtual_bottleneck *cairn_virtual_bottleneck_at(
    cairn_virtual_network *network, uint32_t number) {
    CAIRN_ASSERT(number >= 1 && number <= network->line_count);
    return &network->lines[number].limits;
}

cairn_virtual_traffic cairn_virtual_traffic_between(
    const cairn_virtual_network *network, uint32_t from, uint32_t to) {
    CAIRN_ASSERT(from < network->endpoint_count && to < network->endpoint_count);
    return network->traffic[from][to];
}

void cairn_virtual_cut(cairn_virtual_network *network, uint32_t a, uint32_t b, bool cut) {
    network->paths[a][b].cut = cut;
    network->paths[b][a].cut = cut;
}

void cairn_virtual_stall(
    cairn_virtual_network *network, uint32_t a, uint32_t b, uint64_t stall_ns) {
    network->paths[a][b].stalled_until_ns = network->now_ns + stall_ns;
    network->paths[b][a].stalled_until_ns = network->now_ns + stall_ns;
}

uint64_t cairn_virtual_now_ns(const cairn_virtual_network *network) {
    return network->now_ns;
}

static uint64_t local_at(const endpoint *e, uint64_t now_ns) {
    const int64_t drifted = (int64_t)(now_ns / 1000000) * e->clock.drift_ppm +
                            (int64_t)(now_ns % 1000000) * e->clock.drift_ppm / 1000000;
    return (uint64_t)((int64_t)(e->clock.offset_ns + now_ns) + drifted);
}

uint64_t cairn_virtual_local_ns(const cairn_virtual_network *network, uint32_t number) {
    return local_at(&network->endpoints[number], network->now_ns);
}

uint64_t cairn_virtual_time_of(
    const cairn_virtual_network *network, uint32_t number, uint64_t local_ns) {
    const endpoint *e = &network->endpoints[number];
    if (local_ns == UINT64_MAX) {
        return UINT64_MAX;
    }
    if (local_ns <= e->clock.offset_ns) {
        return 0;
    }
    // Halving finds it without inverting the rounding; drift is at most a tenth.
    const uint64_t span = local_ns - e->clock.offset_ns;
    uint64_t low = span - span / 8;
    uint64_t high = span + span / 8 + 2;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (local_at(e, middle) >= local_ns) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

// Puts a copy in flight; NULL if the network is full.
static cairn_virtual_datagram *put_in_flight(cairn_virtual_network *network, uint32_t to,
    const cairn_address *from, const uint8_t *bytes, size_t size, uint64_t at_ns) {
    if (network->count == network->capacity) {
        network->counters.overflow++;
        return NULL;
    }
    const uint32_t slot = network->free_slots[network->capacity - network->count - 1];
    cairn_virtual_datagram *datagram = &network->slots[slot];
    datagram->to = to;
    datagram->from = *from;
    datagram->size = (uint32_t)size;
    memcpy(datagram->bytes, bytes, size);
    // Sorted by insertion: few datagrams are in flight at once.
    uint32_t at = network->count++;
    for (; at > 0 && network->queue[at - 1].at_ns <= at_ns; at--) {
        network->queue[at] = network->queue[at - 1];
    }
    network->queue[at] = (waiting){.at_ns = at_ns, .slot = slot};
    return datagram;
}

static bool draw(cairn_virtual_network *network, uint32_t permille) {
    return permille > 0 && cairn_random_below(&network->random, 1000) < permille;
}

// When a datagram leaves the queue of a bottleneck; UINT64_MAX if the queue is full.
static uint64_t through_ns(cairn_virtual_network *network, uint32_t number, size_t size) {
    if (number == 0) {
        return network->now_ns;
    }
    CAIRN_ASSERT(number <= network->line_count);
    line *l = &network->lines[number];
    const uint64_t start_ns = l->free_ns > network->now_ns ? l->free_ns : network->now_ns;
    const uint64_t end_ns = start_ns + size * CAIRN_NS_PER_S / l->limits.bytes_per_s;
    if (start_ns - network->now_ns >= l->limits.queue_ns) {
        return UINT64_MAX;
    }
    l->free_ns = end_ns;
    return end_ns;
}

static void pass(cairn_virtual_network *network, uint32_t from, uint32_t to, const uint8_t *bytes,
    size_t size, uint64_t start_ns) {
    const cairn_virtual_path *path = &network->paths[from][to];
    start_ns = start_ns > path->stalled_until_ns ? start_ns : path->stalled_until_ns;
    const uint64_t jitter_ns =
        path->jitter_ns > 0 ? cairn_random_below(&network->random, path->jitter_ns) : 0;
    cairn_virtual_datagram *datagram = put_in_flight(network, to, &network->endpoints[from].address,
        bytes, size, start_ns + path->delay_ns + jitter_ns);
    if (datagram != NULL && draw(network, path->corrupt_permille)) {
        const uint64_t flips = 1 + cairn_random_below(&network->random, 3);
        for (uint64_t i = 0; i < flips && size > 0; i++) {
            const uint64_t bit = cairn_random_below(&network->random, 8ull * size);
            datagram->bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        }
        network->counters.corrupted++;
    }
}

static uint32_t find_endpoint(const cairn_virtual_network *network, const cairn_address *address) {
    uint32_t i = 0;
    while (i < network->endpoint_count &&
           !cairn_address_equal(&network->endpoints[i].address, address)) {
        i++;
    }
    return i;
}

void cairn_virtual_send(cairn_virtual_network *network, uint32_t from, const cairn_address *to,
    const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(size <= CAIRN_DATAGRAM_SIZE_MAX);
    network->counters.sent++;
    const uint32_t target = find_endpoint(network, to);
    if (target == network->endpoint_count) {
        network->counters.nowhere++;
        return;
    }
    const cairn_virtual_path *path = &network->paths[from][target];
    if (path->cut) {
        network->counters.cut++;
        return;
    }
    cairn_virtual_traffic *traffic = &network->traffic[from][target];
    traffic->datagrams++;
    traffic->bytes += size;
    if (network->tap != NULL) {
        network->tap(network->tap_user, &network->endpoints[from].address, to, bytes, size);
    }
    if (draw(network, path->loss_permille)) {
        network->counters.lost++;
        return;
    }
    if (path->size_max > 0 && size > path->size_max) {
        network->counters.too_large++;
        return;
    }
    const uint64_t start_ns = through_ns(network, path->bottleneck, size);
    if (start_ns == UINT64_MAX) {
        network->counters.queue_full++;
        traffic->queue_full++;
        traffic->bytes_lost += size;
        return;
    }
    pass(network, from, target, bytes, size, start_ns);
    if (draw(network, path->repeat_permille)) {
        network->counters.repeated++;
        pass(network, from, target, bytes, size, start_ns);
    }
}

void cairn_virtual_inject(cairn_virtual_network *network, const cairn_address *from,
    const cairn_address *to, const uint8_t *bytes, size_t size, uint64_t delay_ns) {
    CAIRN_ASSERT(size <= CAIRN_DATAGRAM_SIZE_MAX);
    const uint32_t target = find_endpoint(network, to);
    network->counters.injected++;
    if (target == network->endpoint_count) {
        network->counters.nowhere++;
        return;
    }
    put_in_flight(network, target, from, bytes, size, network->now_ns + delay_ns);
}

uint64_t cairn_virtual_next_ns(const cairn_virtual_network *network) {
    return network->count > 0 ? network->queue[network->count - 1].at_ns : UINT64_MAX;
}

bool cairn_virtual_deliver(
    cairn_virtual_network *network, uint64_t until_ns, const cairn_virtual_datagram **out) {
    if (cairn_virtual_next_ns(network) > until_ns) {
        network->now_ns = until_ns > network->now_ns ? until_ns : network->now_ns;
        *out = NULL;
        return false;
    }
    const waiting w = network->queue[--network->count];
    network->free_slots[network->capacity - network->count - 1] = w.slot;
    network->now_ns = w.at_ns > network->now_ns ? w.at_ns : network->now_ns;
    network->counters.delivered++;
    network->out = network->slots[w.slot]; // so that the receiver's answers may use the slot
    *out = &network->out;
    return true;
}

cairn_virtual_counters cairn_virtual_counters_read(const cairn_virtual_network *network) {
    cairn_virtual_counters counters = network->counters;
    counters.in_flight = network->count;
    return counters;
}

bool cairn_virtual_adds_up(const cairn_virtual_network *network) {
    const cairn_virtual_counters c = cairn_virtual_counters_read(network);
    return c.sent + c.injected + c.repeated == c.delivered + c.lost + c.cut + c.queue_full +
                                                   c.too_large + c.nowhere + c.overflow +
                                                   c.in_flight;
}

void cairn_virtual_tap(cairn_virtual_network *network,
    void (*tap)(void *user, const cairn_address *from, const cairn_address *to,
        const uint8_t *bytes, size_t size),
    void *user) {
    network->tap = tap;
    network->tap_user = user;
}
