// SPDX-License-Identifier: MIT
#include "net/netcode_sessions.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

cairn_status cairn_sessions_create(
    cairn_sessions *sessions, uint32_t count, const uint8_t hash_key[CAIRN_SEAL_HASH_KEY_SIZE]) {
    CAIRN_ASSERT(count >= 1 && count <= CAIRN_CLIENTS_MAX);
    *sessions = (cairn_sessions){.count = count};
    sessions->slots = calloc(count, sizeof *sessions->slots);
    const cairn_status by_address = cairn_lookup_create(&sessions->by_address, count, hash_key);
    const cairn_status by_id = cairn_lookup_create(&sessions->by_id, count, hash_key);
    const bool whole = sessions->slots != NULL && by_address == CAIRN_OK && by_id == CAIRN_OK;
    return whole ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

void cairn_sessions_destroy(cairn_sessions *sessions) {
    cairn_lookup_destroy(&sessions->by_address);
    cairn_lookup_destroy(&sessions->by_id);
    if (sessions->slots != NULL) {
        cairn_seal_wipe(sessions->slots, sessions->count * sizeof *sessions->slots);
    }
    free(sessions->slots);
    *sessions = (cairn_sessions){0};
}

uint32_t cairn_sessions_find_address(const cairn_sessions *sessions, const cairn_address *address) {
    return cairn_lookup_find(&sessions->by_address, address, sizeof *address);
}

uint32_t cairn_sessions_find_id(const cairn_sessions *sessions, uint64_t client_id) {
    return cairn_lookup_find(&sessions->by_id, &client_id, sizeof client_id);
}

static bool taken(const cairn_sessions *sessions, uint32_t slot) {
    return (sessions->taken[slot / 64] >> (slot % 64) & 1) != 0;
}

uint32_t cairn_sessions_find_free(const cairn_sessions *sessions) {
    uint32_t slot = 0;
    while (slot < sessions->count && sessions->taken[slot / 64] == UINT64_MAX) {
        slot += 64;
    }
    while (slot < sessions->count && taken(sessions, slot)) {
        ++slot;
    }
    return slot < sessions->count ? slot : CAIRN_LOOKUP_NONE;
}

void cairn_sessions_open(cairn_sessions *sessions, uint32_t slot, const cairn_handshake *handshake,
    const uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE], uint64_t now_ns) {
    CAIRN_ASSERT(slot < sessions->count && !taken(sessions, slot));
    cairn_session *session = &sessions->slots[slot];
    *session = (cairn_session){
        .state = CAIRN_PEER_UNCONFIRMED,
        .address = handshake->address,
        .client_id = handshake->client_id,
        .timeout_ns =
            handshake->timeout_s > 0 ? (uint64_t)handshake->timeout_s * UINT64_C(1000000000) : 0,
        .sent_ns = now_ns,
        .heard_ns = now_ns,
    };
    memcpy(session->client_to_server_key, handshake->client_to_server_key, CAIRN_KEY_SIZE);
    memcpy(session->server_to_client_key, handshake->server_to_client_key, CAIRN_KEY_SIZE);
    memcpy(session->user_data, user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    sessions->taken[slot / 64] |= UINT64_C(1) << (slot % 64);
    cairn_lookup_insert(&sessions->by_address, &session->address, sizeof session->address, slot);
    cairn_lookup_insert(&sessions->by_id, &session->client_id, sizeof session->client_id, slot);
}

// The user data stays until the slot is released: an event may still point to it.
void cairn_sessions_close(cairn_sessions *sessions, uint32_t slot) {
    cairn_session *session = &sessions->slots[slot];
    CAIRN_ASSERT(session->state != CAIRN_PEER_STRANGER);
    session->state = CAIRN_PEER_STRANGER;
    cairn_seal_wipe(session->client_to_server_key, CAIRN_KEY_SIZE);
    cairn_seal_wipe(session->server_to_client_key, CAIRN_KEY_SIZE);
    cairn_lookup_remove(&sessions->by_address, slot);
    cairn_lookup_remove(&sessions->by_id, slot);
}

void cairn_sessions_release(cairn_sessions *sessions, uint32_t slot) {
    CAIRN_ASSERT(taken(sessions, slot) && sessions->slots[slot].state == CAIRN_PEER_STRANGER);
    sessions->taken[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
}
