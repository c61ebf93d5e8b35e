// SPDX-License-Identifier: MIT
#include <string.h>

#include "base/assert.h"
#include "net/handover.h"
#include "net/netcode_server_parts.h"

// Of a peer of streams: it opens another stream, and its session continues there.
#define FAMILY_LAST (CAIRN_ADDRESS_IPV6 + 1)

static bool is_handed_over(const cairn_address *address) {
    return address->family >= CAIRN_ADDRESS_IPV4 && address->family <= FAMILY_LAST;
}

static void put_address(cairn_archive *a, cairn_address *address) {
    uint32_t family = address->family;
    uint32_t port = address->port;
    cairn_archive_u32(a, "an address's family", &family, CAIRN_ADDRESS_IPV4, FAMILY_LAST);
    cairn_archive_u32(a, "an address's port", &port, 1, UINT16_MAX);
    if (a->reading) {
        *address = (cairn_address){.family = (uint8_t)family, .port = (uint16_t)port};
    }
    cairn_archive_bytes(a, address->ip, sizeof address->ip);
}

// What a handshake and a session have from their token, and where the client is.
static void put_token(cairn_archive *a, cairn_handshake *token) {
    put_address(a, &token->address);
    cairn_archive_words(a, &token->client_id, 1);
    cairn_archive_words(a, &token->expire_unix_s, 1);
    cairn_archive_bytes(a, token->client_to_server_key, CAIRN_KEY_SIZE);
    cairn_archive_bytes(a, token->server_to_client_key, CAIRN_KEY_SIZE);
    cairn_archive_bytes(a, token->user_data, CAIRN_TOKEN_USER_DATA_SIZE);
}

static cairn_handshake token_of(const cairn_netcode_slot *slot) {
    cairn_handshake token = {.address = slot->address,
        .client_id = slot->client_id,
        .expire_unix_s = slot->expire_unix_s};
    memcpy(token.client_to_server_key, slot->client_to_server_key, CAIRN_KEY_SIZE);
    memcpy(token.server_to_client_key, slot->server_to_client_key, CAIRN_KEY_SIZE);
    memcpy(token.user_data, slot->user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    return token;
}

bool cairn_netcode_server_is_quiet(const cairn_netcode_server *server) {
    return server->payload_size == 0 && server->events_pushed == server->events_taken &&
           server->outbox.used == 0;
}

bool cairn_netcode_server_is_given(const cairn_netcode_server *server, uint32_t client) {
    return cairn_netcode_server_connected(server, client) &&
           is_handed_over(&server->slots.list[client].address);
}

uint64_t cairn_netcode_server_identity(
    const cairn_netcode_server *server, uint32_t client, const uint8_t **user_data) {
    CAIRN_ASSERT(cairn_netcode_server_connected(server, client));
    *user_data = server->slots.list[client].user_data;
    return server->slots.list[client].client_id;
}

static void put_move(cairn_archive *a, cairn_netcode_slots *slots, uint32_t index) {
    cairn_netcode_slot *slot = &slots->list[index];
    bool moving = slot->moving && is_handed_over(&slot->candidate);
    cairn_archive_bool(a, "a session's move", &moving);
    if (!moving) {
        return;
    }
    cairn_address candidate = slot->candidate;
    put_address(a, &candidate);
    if (a->reading && cairn_netcode_slots_find_candidate(slots, &candidate) != CAIRN_LOOKUP_NONE) {
        cairn_archive_refuse(a, "a session's candidate");
    } else if (a->reading) {
        cairn_netcode_slots_set_candidate(slots, index, &candidate);
    }
    cairn_archive_words(a, &slot->path_number, 1);
    cairn_archive_words(a, &slot->candidate_bytes, 1);
    cairn_archive_words(a, &slot->candidate_until_ns, 1);
}

// False: refused.
static bool open_slot(
    cairn_netcode_server *server, uint32_t index, const cairn_handshake *token, cairn_archive *a) {
    const cairn_netcode_slots *slots = &server->slots;
    if (a->refused == NULL &&
        ((slots->taken[index / 64] >> index % 64 & 1) != 0 ||
            cairn_netcode_slots_find_address(slots, &token->address) != CAIRN_LOOKUP_NONE ||
            cairn_netcode_slots_find_id(slots, token->client_id) != CAIRN_LOOKUP_NONE)) {
        cairn_archive_refuse(a, "a session's index, address or client id");
    }
    if (a->refused == NULL) {
        cairn_netcode_slots_open(&server->slots, index, token, server->now_ns);
    }
    return a->refused == NULL;
}

static void put_slot(cairn_netcode_server *server, uint32_t index, cairn_archive *a) {
    cairn_archive_u32(a, "a session's index", &index, 0, server->slots.count - 1);
    cairn_netcode_slot *slot = &server->slots.list[index];
    cairn_handshake token = token_of(slot);
    put_token(a, &token);
    if (a->reading && !open_slot(server, index, &token, a)) {
        cairn_wipe(&token, sizeof token);
        return;
    }
    cairn_wipe(&token, sizeof token);
    bool confirmed = slot->state == CAIRN_PEER_CONFIRMED;
    cairn_archive_bool(a, "a session's state", &confirmed);
    slot->state = confirmed ? CAIRN_PEER_CONFIRMED : CAIRN_PEER_UNCONFIRMED;
    cairn_archive_u64(a, "a session's sequence", &slot->sequence, 0, CAIRN_SEQUENCES_GLOBAL - 1);
    cairn_archive_words(a, &slot->timeout_ns, 1);
    cairn_archive_u64(a, "a session's time", &slot->sent_ns, 0, server->now_ns);
    cairn_archive_u64(a, "a session's time", &slot->last_receive_ns, 0, server->now_ns);
    cairn_archive_words(a, &slot->replay.newest, 1);
    cairn_archive_words(a, slot->replay.received, CAIRN_REPLAY_WINDOW / 64);
    cairn_archive_bool(a, "a session's move", &slot->moved);
    put_move(a, &server->slots, index);
    server->slots.moved = server->slots.moved || slot->moved;
}

static uint32_t list_slots(const cairn_netcode_server *server, uint32_t list[]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < server->slots.count; ++i) {
        if (cairn_netcode_server_is_given(server, i)) {
            list[count++] = i;
        }
    }
    return count;
}

static void put_slots(cairn_netcode_server *server, cairn_archive *a) {
    uint32_t list[CAIRN_CLIENTS_MAX] = {0};
    uint32_t count = a->reading ? 0 : list_slots(server, list);
    cairn_archive_u32(
        a, "the number of sessions: --clients-max is smaller", &count, 0, server->slots.count);
    for (uint32_t i = 0; i < count && a->refused == NULL; ++i) {
        put_slot(server, list[i], a);
    }
    server->slots_due_ns = 0;
}

static void put_handshake(
    cairn_netcode_server *server, cairn_handshake *handshake, cairn_archive *a) {
    uint64_t timeout_s = handshake->timeout_s > 0 ? (uint64_t)handshake->timeout_s : 0;
    put_token(a, handshake);
    cairn_archive_u64(
        a, "a handshake's sequence", &handshake->first_sequence, 0, CAIRN_SEQUENCES_GLOBAL - 1);
    cairn_archive_u32(
        a, "a handshake's server", &handshake->server_index, 0, CAIRN_TOKEN_SERVERS_MAX - 1);
    cairn_archive_u64(a, "a handshake's time-out", &timeout_s, 0, INT32_MAX);
    handshake->timeout_s = (int32_t)timeout_s;
    cairn_archive_bytes(a, handshake->mac, CAIRN_AEAD_MAC_SIZE);
    if (a->reading && a->refused == NULL &&
        cairn_handshakes_put(&server->handshakes, handshake, server->now_ns) !=
            CAIRN_NETCODE_TAKEN) {
        cairn_archive_refuse(a, "a handshake");
    }
}

static void put_handshakes(cairn_netcode_server *server, cairn_archive *a) {
    const cairn_handshakes *all = &server->handshakes;
    uint32_t count = 0;
    for (uint32_t i = 0; !a->reading && i < all->capacity; ++i) {
        count += all->pool[i].used && is_handed_over(&all->pool[i].address) ? 1 : 0;
    }
    cairn_archive_u32(a, "the number of handshakes", &count, 0, all->capacity);
    for (uint32_t i = 0, at = 0; i < count && a->refused == NULL; ++i) {
        cairn_handshake handshake = {.server_index = 0};
        while (!a->reading && !(all->pool[at].used && is_handed_over(&all->pool[at].address))) {
            ++at;
        }
        if (!a->reading) {
            handshake = all->pool[at++];
        }
        put_handshake(server, &handshake, a);
        cairn_wipe(&handshake, sizeof handshake);
    }
}

// Tokens that made sessions.
static void put_tokens(cairn_netcode_server *server, cairn_archive *a) {
    cairn_token_history *history = &server->history;
    uint32_t count = 0;
    for (uint32_t i = 0; !a->reading && i < history->capacity; ++i) {
        count += history->records[i].used ? 1 : 0;
    }
    cairn_archive_u32(a, "the number of used tokens", &count, 0, history->capacity);
    for (uint32_t i = 0, at = 0; i < count && a->refused == NULL; ++i, ++at) {
        cairn_token_use use = {.now_ns = server->now_ns};
        uint8_t mac[CAIRN_AEAD_MAC_SIZE] = {0};
        while (!a->reading && !history->records[at].used) {
            ++at;
        }
        if (!a->reading) {
            memcpy(mac, history->by_token.entries[at].key, sizeof mac);
            memcpy(&use.client_id, history->by_id.entries[at].key, sizeof use.client_id);
            use.expire_unix_s = history->records[at].expire_unix_s;
        }
        cairn_archive_bytes(a, mac, sizeof mac);
        cairn_archive_words(a, &use.client_id, 1);
        cairn_archive_words(a, &use.expire_unix_s, 1);
        use.mac = mac;
        if (a->reading && a->refused == NULL &&
            (cairn_token_history_holds(history, mac, use.expire_unix_s, use.now_ns) ||
                cairn_token_history_consume(history, &use) != CAIRN_NETCODE_TAKEN)) {
            cairn_archive_refuse(a, "a used token");
        }
    }
    cairn_archive_words(a, &history->swept_unix_s, 1);
    cairn_archive_words(a, &history->forgotten_unix_s, 1);
    cairn_archive_words(a, &history->forgotten_until_ns, 1);
}

void cairn_netcode_server_hand_over(
    cairn_netcode_server *server, uint64_t now_ns, cairn_archive *a) {
    uint64_t protocol_id = server->config.protocol_id;
    CAIRN_ASSERT(now_ns >= server->now_ns && cairn_netcode_server_is_quiet(server));
    server->now_ns = now_ns;
    cairn_archive_u64(a, "the protocol id", &protocol_id,
        a->reading ? server->config.protocol_id : 0,
        a->reading ? server->config.protocol_id : UINT64_MAX);
    cairn_archive_u64(a, "the start", &server->config.start_ns, 0, now_ns);
    cairn_archive_u64(a, "the second of the start", &server->start_unix_s, 0, UINT64_MAX);
    cairn_archive_bytes(a, server->challenge_key, sizeof server->challenge_key);
    cairn_archive_bytes(a, server->sequence_key, sizeof server->sequence_key);
    cairn_archive_words(a, &server->challenge_sequence, 1);
    cairn_archive_u64(
        a, "the answers' sequence", &server->global_sequence, 0, CAIRN_SEQUENCES_PER_SERVER - 1);
    put_tokens(server, a);
    put_handshakes(server, a);
    put_slots(server, a);
}
