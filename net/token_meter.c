// SPDX-License-Identifier: MIT
#include "net/token_meter.h"

#include <string.h>

#include "base/limits.h"

cairn_token_meter cairn_token_meter_of(
    const uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE], uint64_t seed) {
    cairn_token_meter meter = {.random = cairn_random_of(seed)};
    memcpy(meter.hash_key, hash_key, CAIRN_SIPHASH_KEY_SIZE);
    return meter;
}

static uint8_t *broken_of(cairn_token_meter *meter, const cairn_address *from) {
    const size_t size = from->family == CAIRN_ADDRESS_IPV4 ? 4 : 8;
    const uint64_t hash = cairn_siphash(from->ip, size, meter->hash_key);
    return &meter->broken[hash % CAIRN_TOKEN_METER_NETWORKS];
}

bool cairn_token_meter_tries(cairn_token_meter *meter, const cairn_address *from, uint64_t now_ns) {
    if (meter->second != now_ns / CAIRN_NS_PER_S) {
        meter->second = now_ns / CAIRN_NS_PER_S;
        memset(meter->broken, 0, sizeof meter->broken);
    }
    return *broken_of(meter, from) < CAIRN_TOKEN_METER_BROKEN_MAX ||
           cairn_random_below(&meter->random, CAIRN_TOKEN_METER_TRIED_OF) == 0;
}

void cairn_token_meter_note_broken(cairn_token_meter *meter, const cairn_address *from) {
    uint8_t *broken = broken_of(meter, from);
    *broken = (uint8_t)(*broken + (*broken < UINT8_MAX ? 1 : 0));
}
