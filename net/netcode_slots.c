// SPDX-License-Identifier: MIT
#include "net/netcode_slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

cairn_status cairn_netcode_slots_create(
    cairn_netcode_slots *slots, uint32_t count, const uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE]) {
    CAIRN_ASSERT(count >= 1 && count <= CAIRN_CLIENTS_MAX);
    *slots = (cairn_netcode_slots){.count = count};
    slots->list = calloc(count, sizeof *slots->list);
    const cairn_status by_address = cairn_lookup_create(&slots->by_address, count, hash_key);
    const cairn_status by_candidate = cairn_lookup_create(&slots->by_candidate, count, hash_key);
    const cairn_status by_id = cairn_lookup_create(&slots->by_id, count, hash_key);
    const bool whole = slots->list != NULL && by_address == CAIRN_OK && by_candidate == CAIRN_OK &&
                       by_id == CAIRN_OK;
    return whole ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

void cairn_netcode_slots_destroy(cairn_netcode_slots *slots) {
    cairn_lookup_destroy(&slots->by_address);
    cairn_lookup_destroy(&slots->by_candidate);
    cairn_lookup_destroy(&slots->by_id);
    if (slots->list != NULL) {
        cairn_wipe(slots->list, slots->count * sizeof *slots->list);
    }
    free(slots->list);
    *slots = (cairn_netcode_slots){0};
}

uint32_t cairn_netcode_slots_find_address(
    const cairn_netcode_slots *slots, const cairn_address *address) {
    return cairn_lookup_find(&slots->by_address, address, sizeof *address);
}

uint32_t cairn_netcode_slots_find_candidate(
    const cairn_netcode_slots *slots, const cairn_address *address) {
    return cairn_lookup_find(&slots->by_candidate, address, sizeof *address);
}

void cairn_netcode_slots_set_candidate(
    cairn_netcode_slots *slots, uint32_t index, const cairn_address *address) {
    cairn_netcode_slot *slot = &slots->list[index];
    CAIRN_ASSERT(!slot->moving && slot->state != CAIRN_PEER_UNKNOWN);
    CAIRN_ASSERT(cairn_netcode_slots_find_candidate(slots, address) == CAIRN_LOOKUP_NONE);
    slot->moving = true;
    slot->candidate = *address;
    slot->candidate_bytes = 0;
    cairn_lookup_insert(&slots->by_candidate, &slot->candidate, sizeof slot->candidate, index);
}

void cairn_netcode_slots_forget_candidate(cairn_netcode_slots *slots, uint32_t index) {
    CAIRN_ASSERT(slots->list[index].moving);
    slots->list[index].moving = false;
    cairn_lookup_remove(&slots->by_candidate, index);
}

void cairn_netcode_slots_settle(cairn_netcode_slots *slots, uint32_t index) {
    cairn_netcode_slot *slot = &slots->list[index];
    cairn_netcode_slots_forget_candidate(slots, index);
    CAIRN_ASSERT(cairn_netcode_slots_find_address(slots, &slot->candidate) == CAIRN_LOOKUP_NONE);
    cairn_lookup_remove(&slots->by_address, index);
    slot->address = slot->candidate;
    slots->address_changes += 1;
    cairn_lookup_insert(&slots->by_address, &slot->address, sizeof slot->address, index);
}

uint32_t cairn_netcode_slots_find_id(const cairn_netcode_slots *slots, uint64_t client_id) {
    return cairn_lookup_find(&slots->by_id, &client_id, sizeof client_id);
}

static bool taken(const cairn_netcode_slots *slots, uint32_t index) {
    CAIRN_ASSERT(index < slots->count);
    return (slots->taken[index / 64] >> (index % 64) & 1) != 0;
}

uint32_t cairn_netcode_slots_find_free(const cairn_netcode_slots *slots) {
    uint32_t index = 0;
    while (index < slots->count && slots->taken[index / 64] == UINT64_MAX) {
        index += 64;
    }
    while (index < slots->count && taken(slots, index)) {
        ++index;
    }
    return index < slots->count ? index : CAIRN_LOOKUP_NONE;
}

void cairn_netcode_slots_open(
    cairn_netcode_slots *slots, uint32_t index, const cairn_handshake *handshake, uint64_t now_ns) {
    CAIRN_ASSERT(index < slots->count && !taken(slots, index));
    cairn_netcode_slot *slot = &slots->list[index];
    *slot = (cairn_netcode_slot){
        .state = CAIRN_PEER_UNCONFIRMED,
        .address = handshake->address,
        .client_id = handshake->client_id,
        .expire_unix_s = handshake->expire_unix_s,
        .sequence = handshake->first_sequence,
        .timeout_ns =
            handshake->timeout_s > 0 ? (uint64_t)handshake->timeout_s * CAIRN_NS_PER_S : 0,
        .sent_ns = now_ns,
        .last_receive_ns = now_ns,
    };
    memcpy(slot->client_to_server_key, handshake->client_to_server_key, CAIRN_KEY_SIZE);
    memcpy(slot->server_to_client_key, handshake->server_to_client_key, CAIRN_KEY_SIZE);
    memcpy(slot->user_data, handshake->user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    slots->taken[index / 64] |= UINT64_C(1) << (index % 64);
    slots->address_changes += 1;
    cairn_lookup_insert(&slots->by_address, &slot->address, sizeof slot->address, index);
    cairn_lookup_insert(&slots->by_id, &slot->client_id, sizeof slot->client_id, index);
}

// The user data stays until the slot is released: an event may still point to it.
uint32_t cairn_netcode_slots_take_move(cairn_netcode_slots *slots) {
    for (uint32_t i = 0; slots->moved && i < slots->count; ++i) {
        if (slots->list[i].state != CAIRN_PEER_UNKNOWN && slots->list[i].moved) {
            slots->list[i].moved = false;
            return i;
        }
    }
    slots->moved = false;
    return CAIRN_LOOKUP_NONE;
}

static void set_crowds(cairn_netcode_slots *slots, cairn_netcode_slot *slot, bool crowds) {
    slots->address_changes += slot->crowds != crowds ? 1 : 0;
    slot->crowds = crowds;
}

void cairn_netcode_slots_count(cairn_netcode_slots *slots, uint32_t index, uint64_t now_ns) {
    cairn_netcode_slot *slot = &slots->list[index];
    CAIRN_ASSERT(slot->state != CAIRN_PEER_UNKNOWN && now_ns >= slot->counted_ns);
    if (now_ns - slot->counted_ns >= CAIRN_NS_PER_S) {
        const bool at_rest = now_ns - slot->counted_ns >= 2 * CAIRN_NS_PER_S;
        set_crowds(slots, slot, !at_rest && slot->counted > CAIRN_NETCODE_CROWD_PER_S);
        slot->counted_ns = now_ns;
        slot->counted = 0;
    }
    slot->counted += 1;
    if (slot->counted > CAIRN_NETCODE_CROWD_PER_S) {
        set_crowds(slots, slot, true);
    }
}

void cairn_netcode_slots_close(cairn_netcode_slots *slots, uint32_t index) {
    CAIRN_ASSERT(index < slots->count);
    cairn_netcode_slot *slot = &slots->list[index];
    CAIRN_ASSERT(slot->state != CAIRN_PEER_UNKNOWN);
    if (slot->moving) {
        cairn_netcode_slots_forget_candidate(slots, index);
    }
    slot->state = CAIRN_PEER_UNKNOWN;
    slots->address_changes += 1;
    cairn_wipe(slot->client_to_server_key, CAIRN_KEY_SIZE);
    cairn_wipe(slot->server_to_client_key, CAIRN_KEY_SIZE);
    cairn_lookup_remove(&slots->by_address, index);
    cairn_lookup_remove(&slots->by_id, index);
}

void cairn_netcode_slots_release(cairn_netcode_slots *slots, uint32_t index) {
    CAIRN_ASSERT(taken(slots, index) && slots->list[index].state == CAIRN_PEER_UNKNOWN);
    slots->taken[index / 64] &= ~(UINT64_C(1) << (index % 64));
}
