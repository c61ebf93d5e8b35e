// SPDX-License-Identifier: MIT
#include "net/netcode_server.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "net/netcode_path.h"
#include "net/netcode_server_parts.h"
#include "net/netcode_table.h"
#include "net/packet.h"

#define KEEP_ALIVE_INTERVAL_NS UINT64_C(100000000)
#define DISCONNECT_COUNT 10
#define ENTROPY_SIZE CAIRN_AEAD_KEY_SIZE

#define SERVER_NONE UINT32_MAX

#define HANDSHAKES_OF(clients_max) (2 * (clients_max) + 256)
#define TOKENS_OF(clients_max) (64 * (clients_max) + 4096)
// A token is decrypted to learn whether its times are the backend's at most this often: refused
// tokens cost less than accepted ones.
#define TOKEN_TIMES_INTERVAL_NS UINT64_C(100000000)

// A disconnect packet with its longest sequence. Answers to unknown peers leave room for the
// disconnects of every slot, so that a flood of requests cannot silence a shutdown.
#define DISCONNECT_SIZE_MAX (1 + 8 + CAIRN_AEAD_MAC_SIZE)
#define DISCONNECT_SIZE (DISCONNECT_COUNT * (CAIRN_OUTBOX_RECORD_SIZE + DISCONNECT_SIZE_MAX))
#define ANSWERS_SIZE(clients_max) (32 * 1024 + 128 * (size_t)(clients_max))

enum { KEY_CHALLENGE = 1, KEY_LOOKUP = 2, KEY_SEQUENCE = 3 };

static const cairn_packet denied = {.type = CAIRN_PACKET_DENIED};

cairn_netcode_server_config cairn_netcode_server_config_default(void) {
    return (cairn_netcode_server_config){
        .clients_max = 64, .token_lifetime_s_max = 30, .token_timeout_s_max = 60};
}

static bool config_valid(const cairn_netcode_server_config *config) {
    return config->private_key != NULL && config->entropy != NULL &&
           config->public_addresses != NULL && config->public_address_count >= 1 &&
           config->public_address_count <= CAIRN_TOKEN_SERVERS_MAX && config->clients_max >= 1 &&
           config->clients_max <= CAIRN_CLIENTS_MAX &&
           cairn_addresses_valid(config->public_addresses, config->public_address_count);
}

// A number in the second quarter of a server's sequences: no counter that starts at 0 reaches it,
// and one that starts there does not leave them.
static uint64_t random_sequence(
    const cairn_netcode_server *server, const uint8_t *seed, size_t seed_size) {
    const uint64_t quarter = CAIRN_SEQUENCES_PER_SERVER / 4;
    return quarter + cairn_siphash(seed, seed_size, server->sequence_key) % quarter;
}

static cairn_status create_tables(cairn_netcode_server *server, const uint8_t *entropy) {
    const uint32_t clients_max = server->config.clients_max;
    CAIRN_ASSERT(clients_max >= 1 && clients_max <= CAIRN_CLIENTS_MAX);
    uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE];
    cairn_key_derive(entropy, KEY_CHALLENGE, server->challenge_key, CAIRN_AEAD_KEY_SIZE);
    cairn_key_derive(entropy, KEY_LOOKUP, hash_key, CAIRN_SIPHASH_KEY_SIZE);
    cairn_key_derive(entropy, KEY_SEQUENCE, server->sequence_key, CAIRN_SIPHASH_KEY_SIZE);
    server->global_sequence = random_sequence(server, NULL, 0);
    server->meter = cairn_token_meter_of(hash_key, server->global_sequence);
    server->events_capacity = 2 * clients_max;
    server->events = calloc(server->events_capacity, sizeof *server->events);
    const cairn_status parts[] = {
        server->events != NULL ? CAIRN_OK : CAIRN_OUT_OF_MEMORY,
        cairn_netcode_slots_create(&server->slots, clients_max, hash_key),
        cairn_handshakes_create(&server->handshakes, HANDSHAKES_OF(clients_max), hash_key),
        cairn_token_history_create(&server->history, TOKENS_OF(clients_max), hash_key),
        cairn_outbox_create(
            &server->outbox, ANSWERS_SIZE(clients_max) + clients_max * DISCONNECT_SIZE),
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        if (parts[i] != CAIRN_OK) {
            return parts[i];
        }
    }
    return CAIRN_OK;
}

cairn_status cairn_netcode_server_create(
    const cairn_netcode_server_config *config, cairn_netcode_server **out) {
    CAIRN_ASSERT(config != NULL && out != NULL);
    *out = NULL;
    if (!config_valid(config) || !cairn_crypto_start()) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_netcode_server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    server->config = *config;
    server->config.private_key = NULL;
    server->config.entropy = NULL;
    server->config.public_addresses = NULL;
    memcpy(server->private_key, config->private_key, CAIRN_KEY_SIZE);
    memcpy(server->public_addresses, config->public_addresses,
        config->public_address_count * sizeof *config->public_addresses);
    server->now_ns = config->start_ns;
    server->unix_since_ns = config->start_unix_ns - config->start_ns;
    server->start_unix_s = config->start_unix_ns / CAIRN_NS_PER_S;
    server->slots_due_ns = UINT64_MAX;
    server->admitting = true;
    const cairn_status status = create_tables(server, config->entropy);
    if (status != CAIRN_OK) {
        cairn_netcode_server_destroy(server);
        return status;
    }
    *out = server;
    return CAIRN_OK;
}

void cairn_netcode_server_destroy(cairn_netcode_server *server) {
    if (server == NULL) {
        return;
    }
    cairn_netcode_slots_destroy(&server->slots);
    cairn_handshakes_destroy(&server->handshakes);
    cairn_token_history_destroy(&server->history);
    cairn_outbox_destroy(&server->outbox);
    free(server->events);
    cairn_wipe(server, sizeof *server);
    free(server);
}

static void set_now(cairn_netcode_server *server, uint64_t now_ns) {
    CAIRN_ASSERT(now_ns >= server->now_ns);
    server->now_ns = now_ns;
}

static uint64_t slot_due_ns(const cairn_netcode_slot *slot) {
    CAIRN_ASSERT(slot->state != CAIRN_PEER_UNKNOWN);
    const uint64_t keep_alive_ns = slot->sent_ns + KEEP_ALIVE_INTERVAL_NS;
    const uint64_t time_out_ns =
        slot->timeout_ns > 0 ? slot->last_receive_ns + slot->timeout_ns : UINT64_MAX;
    return keep_alive_ns < time_out_ns ? keep_alive_ns : time_out_ns;
}

static void queue(
    cairn_netcode_server *server, const cairn_address *to, const uint8_t *bytes, size_t size) {
    if (!cairn_outbox_push(&server->outbox, to, bytes, size)) {
        ++server->drops[CAIRN_NETCODE_DROP_SEND_QUEUE_FULL];
    }
}

// Sends an answer to a peer that has no slot yet. `server_index` is that of its token.
static void queue_answer(cairn_netcode_server *server, const cairn_address *to,
    uint32_t server_index, const uint8_t key[CAIRN_KEY_SIZE], const cairn_packet *packet) {
    CAIRN_ASSERT(server->global_sequence < CAIRN_SEQUENCES_PER_SERVER);
    CAIRN_ASSERT(server_index < CAIRN_TOKEN_SERVERS_MAX);
    const uint64_t sequence = CAIRN_SEQUENCES_GLOBAL + server_index * CAIRN_SEQUENCES_PER_SERVER +
                              server->global_sequence++;
    uint8_t bytes[CAIRN_PACKET_ENCRYPTED_SIZE_MAX];
    const size_t size =
        cairn_packet_write(packet, sequence, server->config.protocol_id, key, bytes);
    const size_t kept = server->config.clients_max * DISCONNECT_SIZE;
    if (cairn_outbox_room(&server->outbox) < kept + CAIRN_OUTBOX_RECORD_SIZE + size) {
        ++server->drops[CAIRN_NETCODE_DROP_SEND_QUEUE_FULL];
        return;
    }
    queue(server, to, bytes, size);
}

static size_t write_to_client(
    cairn_netcode_server *server, uint32_t client, const cairn_packet *packet, uint8_t *bytes) {
    CAIRN_ASSERT(cairn_netcode_server_connected(server, client));
    cairn_netcode_slot *slot = &server->slots.list[client];
    CAIRN_ASSERT(slot->sequence < CAIRN_SEQUENCES_GLOBAL);
    slot->sent_ns = server->now_ns;
    return cairn_packet_write(
        packet, slot->sequence++, server->config.protocol_id, slot->server_to_client_key, bytes);
}

static void queue_to_client(
    cairn_netcode_server *server, uint32_t client, const cairn_packet *packet) {
    uint8_t bytes[CAIRN_PACKET_ENCRYPTED_SIZE_MAX];
    const size_t size = write_to_client(server, client, packet, bytes);
    queue(server, cairn_netcode_path_route(&server->slots.list[client], size), bytes, size);
}

static void queue_keep_alive(cairn_netcode_server *server, uint32_t client) {
    const cairn_packet packet = {
        .type = CAIRN_PACKET_KEEP_ALIVE,
        .keep_alive = {.client_index = client, .clients_max = server->config.clients_max},
    };
    queue_to_client(server, client, &packet);
}

size_t cairn_netcode_server_next_datagram(
    cairn_netcode_server *server, cairn_address *to, uint8_t *bytes) {
    return cairn_outbox_pop(&server->outbox, to, bytes);
}

size_t cairn_netcode_server_encrypt(cairn_netcode_server *server, uint64_t now_ns, uint32_t client,
    const uint8_t *payload, size_t payload_size, cairn_address *to, uint8_t *bytes) {
    set_now(server, now_ns);
    if (!cairn_netcode_server_connected(server, client)) {
        return 0;
    }
    if (server->slots.list[client].state == CAIRN_PEER_UNCONFIRMED) {
        queue_keep_alive(server, client);
    }
    const cairn_packet packet = {
        .type = CAIRN_PACKET_PAYLOAD, .payload = {.bytes = payload, .size = payload_size}};
    const size_t size = write_to_client(server, client, &packet, bytes);
    *to = *cairn_netcode_path_route(&server->slots.list[client], size);
    return size;
}

static void push_event(cairn_netcode_server *server, cairn_netcode_event_kind kind, uint32_t client,
    cairn_netcode_disconnect_reason reason) {
    CAIRN_ASSERT(server->events_pushed - server->events_taken < server->events_capacity);
    server->events[server->events_pushed++ % server->events_capacity] =
        (cairn_netcode_event_record){
            .kind = kind,
            .client = client,
            .client_id = server->slots.list[client].client_id,
            .reason = reason,
        };
}

uint32_t cairn_netcode_server_take_move(cairn_netcode_server *server) {
    return cairn_netcode_slots_take_move(&server->slots);
}

bool cairn_netcode_server_next_event(cairn_netcode_server *server, cairn_netcode_event *out) {
    CAIRN_ASSERT(server->events_taken <= server->events_pushed);
    if (server->payload_size > 0 && server->payload_place == server->events_taken) {
        *out = (cairn_netcode_event){
            .kind = CAIRN_NETCODE_PAYLOAD,
            .client = server->payload_client,
            .client_id = server->slots.list[server->payload_client].client_id,
            .payload = server->body,
            .payload_size = server->payload_size,
        };
        server->payload_size = 0;
        return true;
    }
    if (server->events_taken == server->events_pushed) {
        return false;
    }
    const cairn_netcode_event_record *record =
        &server->events[server->events_taken++ % server->events_capacity];
    *out = (cairn_netcode_event){
        .kind = record->kind,
        .client = record->client,
        .client_id = record->client_id,
        .reason = record->reason,
    };
    if (record->kind == CAIRN_NETCODE_CONNECTED) {
        out->user_data = server->slots.list[record->client].user_data;
    } else {
        cairn_netcode_slots_release(&server->slots, record->client);
    }
    return true;
}

static void end_session(
    cairn_netcode_server *server, uint32_t client, cairn_netcode_disconnect_reason reason) {
    CAIRN_ASSERT(cairn_netcode_server_connected(server, client));
    push_event(server, CAIRN_NETCODE_DISCONNECTED, client, reason);
    cairn_netcode_slots_close(&server->slots, client);
}

static void confirm(cairn_netcode_server *server, uint32_t client, cairn_netcode_server_rule rule) {
    CAIRN_ASSERT(rule.next == CAIRN_PEER_CONFIRMED);
    server->slots.list[client].last_receive_ns = server->now_ns;
    server->slots.list[client].state = rule.next;
}

// Applies the table's rule to a client's slot. `packet` is what was received, if it was a packet;
// `reason` is used when the slot ends.
static void apply_input(cairn_netcode_server *server, uint32_t client, unsigned input,
    const cairn_packet *packet, cairn_netcode_disconnect_reason reason) {
    const cairn_netcode_server_rule rule =
        cairn_netcode_server_rule_of(server->slots.list[client].state, input);
    switch (rule.action) {
    case CAIRN_NETCODE_SERVER_DELIVER:
        CAIRN_ASSERT(packet != NULL && server->payload_size == 0);
        CAIRN_ASSERT(packet->payload.size >= 1 && packet->payload.size <= CAIRN_PAYLOAD_SIZE_MAX);
        server->payload_client = client;
        server->payload_size = packet->payload.size;
        server->payload_place = server->events_pushed;
        confirm(server, client, rule);
        break;
    case CAIRN_NETCODE_SERVER_REFRESH:
        confirm(server, client, rule);
        break;
    case CAIRN_NETCODE_SERVER_DISCONNECT:
        for (int i = 0; i < DISCONNECT_COUNT; ++i) {
            queue_to_client(server, client, &(cairn_packet){.type = CAIRN_PACKET_DISCONNECT});
        }
        end_session(server, client, reason);
        break;
    default:
        CAIRN_ASSERT(rule.action == CAIRN_NETCODE_SERVER_END);
        end_session(server, client, reason);
        break;
    }
}

// The place of this server in the token's list; SERVER_NONE: it is not there. No other server has
// one of our addresses, so no other server of the token has this place.
static uint32_t server_index_of(
    const cairn_netcode_server *server, const cairn_token_private *token) {
    CAIRN_ASSERT(token->server_count <= CAIRN_TOKEN_SERVERS_MAX);
    for (uint32_t i = 0; i < token->server_count; ++i) {
        for (uint32_t k = 0; k < server->config.public_address_count; ++k) {
            if (cairn_address_equal(&token->servers[i], &server->public_addresses[k])) {
                return i;
            }
        }
    }
    return SERVER_NONE;
}

static bool is_full(const cairn_netcode_server *server) {
    return !server->admitting || cairn_netcode_slots_find_free(&server->slots) == CAIRN_LOOKUP_NONE;
}

static uint64_t unix_s_at(const cairn_netcode_server *server, uint64_t at_ns) {
    return (at_ns + server->unix_since_ns) / CAIRN_NS_PER_S;
}

// The second of the start, as late as it seemed then or seems now. If the wall clock was set back
// by more than the lifetime of a token, it was plainly wrong before: that costs honest clients a
// lifetime at most.
static uint64_t start_unix_s_of(const cairn_netcode_server *server) {
    const uint64_t now = unix_s_at(server, server->config.start_ns);
    const uint64_t then = server->start_unix_s;
    const uint64_t latest = now + server->config.token_lifetime_s_max;
    return then < now ? now : then < latest ? then : latest;
}

// The rules about time, which need no key. A token that could have reached a server that ran before
// this one may have been used there; its keys would encrypt other packets with the same nonces
// here. That server accepted none that expires more than a lifetime after this one started.
static cairn_netcode_drop check_token_times(
    const cairn_netcode_server *server, uint64_t expire_unix_s) {
    const uint64_t lifetime_s = server->config.token_lifetime_s_max;
    const uint64_t now_unix_s = unix_s_at(server, server->now_ns);
    const uint64_t start_unix_s = start_unix_s_of(server);
    if (expire_unix_s <= now_unix_s) {
        return CAIRN_NETCODE_DROP_TOKEN_EXPIRED;
    }
    if (lifetime_s > 0 && expire_unix_s - now_unix_s > lifetime_s) {
        return CAIRN_NETCODE_DROP_TOKEN_LIFETIME;
    }
    return lifetime_s > 0 && expire_unix_s < start_unix_s + lifetime_s
               ? CAIRN_NETCODE_DROP_TOKEN_RESTART
               : CAIRN_NETCODE_TAKEN;
}

static bool read_token(const cairn_netcode_server *server, const cairn_packet_request *request,
    cairn_token_private *token) {
    return cairn_token_read_private(request->private_data, request->nonce, request->protocol_id,
               request->expire_unix_s, server->private_key, token) == CAIRN_TOKEN_OK;
}

// A genuine token whose times are refused says that a clock is wrong, here or at the backend, or
// that a client is late.
static void note_refused_times(
    cairn_netcode_server *server, const cairn_packet_request *request, cairn_token_private *token) {
    if (server->token_times.refused > 0 &&
        server->now_ns - server->token_times_ns < TOKEN_TIMES_INTERVAL_NS) {
        return;
    }
    server->token_times_ns = server->now_ns;
    if (read_token(server, request, token)) {
        server->token_times.refused += server->token_times.refused < UINT32_MAX ? 1 : 0;
        server->token_times.expire_after_s =
            (int64_t)(request->expire_unix_s - unix_s_at(server, server->now_ns));
    }
}

// Whether the client id is connected, and not by an older token. With a newer one the backend says
// that the client starts again: its old session ends when the new one has proved its address.
static bool is_id_taken(
    const cairn_netcode_server *server, uint64_t client_id, uint64_t expire_unix_s) {
    const uint32_t client = cairn_netcode_slots_find_id(&server->slots, client_id);
    return client != CAIRN_LOOKUP_NONE && expire_unix_s <= server->slots.list[client].expire_unix_s;
}

// Names a token, also one that was not opened yet.
static const uint8_t *mac_of(const cairn_packet_request *request) {
    return request->private_data + CAIRN_TOKEN_PRIVATE_SIZE - CAIRN_AEAD_MAC_SIZE;
}

static cairn_netcode_drop check_token(cairn_netcode_server *server, const cairn_address *from,
    const cairn_packet_request *request, cairn_token_private *token) {
    CAIRN_ASSERT(server->now_ns >= server->config.start_ns);
    const uint32_t timeout_s_max = server->config.token_timeout_s_max;
    const cairn_netcode_drop drop = check_token_times(server, request->expire_unix_s);
    if (drop != CAIRN_NETCODE_TAKEN) {
        note_refused_times(server, request, token);
        return drop;
    }
    // Known without opening it, so a flood of copies from many addresses costs less.
    if (cairn_handshakes_pending_elsewhere(
            &server->handshakes, mac_of(request), from, server->now_ns)) {
        return CAIRN_NETCODE_DROP_TOKEN_USED;
    }
    if (!cairn_token_meter_tries(&server->meter, from, server->now_ns)) {
        return CAIRN_NETCODE_DROP_TOKEN_METERED;
    }
    if (!read_token(server, request, token)) {
        cairn_token_meter_note_broken(&server->meter, from);
        return CAIRN_NETCODE_DROP_TOKEN_BROKEN;
    }
    server->token_times.refused = 0;
    if (timeout_s_max > 0 &&
        (token->timeout_s <= 0 || (uint32_t)token->timeout_s > timeout_s_max)) {
        return CAIRN_NETCODE_DROP_TOKEN_TIMEOUT;
    }
    if (server_index_of(server, token) == SERVER_NONE) {
        return CAIRN_NETCODE_DROP_TOKEN_NOT_FOR_US;
    }
    if (cairn_netcode_slots_find_address(&server->slots, from) != CAIRN_LOOKUP_NONE) {
        return CAIRN_NETCODE_DROP_ADDRESS_CONNECTED;
    }
    if (is_id_taken(server, token->client_id, request->expire_unix_s)) {
        return CAIRN_NETCODE_DROP_ID_CONNECTED;
    }
    return cairn_token_history_holds(
               &server->history, mac_of(request), request->expire_unix_s, server->now_ns)
               ? CAIRN_NETCODE_DROP_TOKEN_USED
               : CAIRN_NETCODE_TAKEN;
}

// A token that expires a lifetime after the start was issued in the second of the start, in which
// an earlier run may have ended, or before, if the clock was set back: its session starts at a
// sequence that no earlier one reached.
static uint64_t first_sequence_of(
    const cairn_netcode_server *server, const cairn_handshake *handshake) {
    const uint64_t now = unix_s_at(server, server->config.start_ns);
    const uint64_t latest = now > server->start_unix_s ? now : server->start_unix_s;
    const uint32_t lifetime_s = server->config.token_lifetime_s_max;
    const bool in_doubt = handshake->expire_unix_s <= latest + lifetime_s;
    return handshake->server_index * CAIRN_SEQUENCES_PER_SERVER +
           (in_doubt ? random_sequence(server, handshake->mac, CAIRN_AEAD_MAC_SIZE) : 0);
}

static cairn_handshake handshake_of(const cairn_netcode_server *server, const cairn_address *from,
    const cairn_packet_request *request, const cairn_token_private *token) {
    cairn_handshake handshake = {
        .address = *from,
        .client_id = token->client_id,
        .expire_unix_s = request->expire_unix_s,
        .server_index = server_index_of(server, token),
        .timeout_s = token->timeout_s,
    };
    CAIRN_ASSERT(handshake.server_index != SERVER_NONE);
    memcpy(handshake.mac, mac_of(request), CAIRN_AEAD_MAC_SIZE);
    memcpy(handshake.client_to_server_key, token->client_to_server_key, CAIRN_KEY_SIZE);
    memcpy(handshake.server_to_client_key, token->server_to_client_key, CAIRN_KEY_SIZE);
    memcpy(handshake.user_data, token->user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    handshake.first_sequence = first_sequence_of(server, &handshake);
    return handshake;
}

static void send_challenge(cairn_netcode_server *server, const cairn_handshake *handshake) {
    cairn_challenge challenge = {.client_id = handshake->client_id, .issued_ns = server->now_ns};
    memcpy(challenge.user_data, handshake->user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    uint8_t binding[CAIRN_CHALLENGE_BINDING_SIZE];
    cairn_challenge_bind(handshake->mac, &handshake->address, binding);
    uint8_t encrypted[CAIRN_CHALLENGE_TOKEN_SIZE];
    const uint64_t sequence = server->challenge_sequence++;
    cairn_challenge_write(&challenge, (cairn_associated_data){binding, sizeof binding}, sequence,
        server->challenge_key, encrypted);
    const cairn_packet packet = {
        .type = CAIRN_PACKET_CHALLENGE, .challenge = {.sequence = sequence, .token = encrypted}};
    queue_answer(server, &handshake->address, handshake->server_index,
        handshake->server_to_client_key, &packet);
}

static cairn_netcode_drop answer_request(cairn_netcode_server *server, const cairn_address *from,
    const cairn_packet_request *request, const cairn_token_private *token) {
    cairn_handshake handshake = handshake_of(server, from, request, token);
    cairn_netcode_drop drop = CAIRN_NETCODE_DROP_SERVER_FULL;
    const bool again =
        cairn_netcode_slots_find_id(&server->slots, handshake.client_id) != CAIRN_LOOKUP_NONE;
    if (is_full(server) && !(again && server->admitting)) {
        queue_answer(server, from, handshake.server_index, handshake.server_to_client_key, &denied);
    } else {
        drop = cairn_handshakes_put(&server->handshakes, &handshake, server->now_ns);
    }
    if (drop == CAIRN_NETCODE_TAKEN) {
        send_challenge(server, &handshake);
    }
    cairn_wipe(&handshake, sizeof handshake);
    return drop;
}

static cairn_netcode_drop receive_request(
    cairn_netcode_server *server, const cairn_address *from, const uint8_t *bytes, size_t size) {
    cairn_packet_request request;
    cairn_netcode_drop drop =
        cairn_packet_read_request(bytes, size, server->config.protocol_id, &request);
    if (drop != CAIRN_NETCODE_TAKEN) {
        return drop;
    }
    if (cairn_handshakes_is_spent(&server->handshakes, from, mac_of(&request), server->now_ns)) {
        return CAIRN_NETCODE_DROP_REQUEST_AGAIN;
    }
    cairn_token_private token;
    drop = check_token(server, from, &request, &token);
    if (drop == CAIRN_NETCODE_TAKEN) {
        drop = answer_request(server, from, &request, &token);
    }
    cairn_wipe(&token, sizeof token);
    return drop;
}

static void open_session(cairn_netcode_server *server, const cairn_handshake *handshake) {
    const uint32_t client = cairn_netcode_slots_find_free(&server->slots);
    CAIRN_ASSERT(server->admitting && client != CAIRN_LOOKUP_NONE);
    const cairn_address address = handshake->address;
    cairn_netcode_slots_open(&server->slots, client, handshake, server->now_ns);
    cairn_handshakes_remove(&server->handshakes, &address);
    push_event(server, CAIRN_NETCODE_CONNECTED, client, 0);
    queue_keep_alive(server, client);
    const uint64_t due_ns = slot_due_ns(&server->slots.list[client]);
    if (due_ns < server->slots_due_ns) {
        server->slots_due_ns = due_ns;
    }
}

// Whether the challenge was given to this address for this token, not long ago. What it says about
// the client is not used: the handshake has it from the token itself.
static bool is_challenge_of(const cairn_netcode_server *server, const cairn_handshake *handshake,
    const cairn_packet_challenge *response) {
    cairn_challenge challenge;
    uint8_t binding[CAIRN_CHALLENGE_BINDING_SIZE];
    cairn_challenge_bind(handshake->mac, &handshake->address, binding);
    return cairn_challenge_read(response->token, (cairn_associated_data){binding, sizeof binding},
               response->sequence, server->challenge_key, &challenge) &&
           server->now_ns - challenge.issued_ns < CAIRN_HANDSHAKE_TIMEOUT_NS_MAX;
}

static cairn_netcode_drop consume_token(
    cairn_netcode_server *server, const cairn_handshake *handshake) {
    const uint64_t lifetime_s = server->config.token_lifetime_s_max;
    const cairn_token_use use = {.mac = handshake->mac,
        .client_id = handshake->client_id,
        .expire_unix_s = handshake->expire_unix_s,
        .now_unix_s = unix_s_at(server, server->now_ns),
        .now_ns = server->now_ns,
        .lifetime_ns = lifetime_s > 0 ? lifetime_s * CAIRN_NS_PER_S : UINT64_MAX};
    return cairn_token_history_holds(&server->history, use.mac, use.expire_unix_s, use.now_ns)
               ? CAIRN_NETCODE_DROP_TOKEN_USED
               : cairn_token_history_consume(&server->history, &use);
}

static cairn_netcode_drop accept_response(cairn_netcode_server *server,
    const cairn_handshake *handshake, const cairn_packet_challenge *response) {
    CAIRN_ASSERT(handshake->used);
    if (!is_challenge_of(server, handshake, response)) {
        return CAIRN_NETCODE_DROP_CHALLENGE;
    }
    if (is_id_taken(server, handshake->client_id, handshake->expire_unix_s)) {
        return CAIRN_NETCODE_DROP_ID_CONNECTED;
    }
    const uint32_t old = cairn_netcode_slots_find_id(&server->slots, handshake->client_id);
    if (old != CAIRN_LOOKUP_NONE && server->admitting) {
        // The slot is free when the caller has taken the event. The client repeats its response in
        // 100 ms, which the caller's advance precedes.
        apply_input(server, old, CAIRN_NETCODE_SERVER_INPUT_KICK, NULL, CAIRN_NETCODE_REPLACED);
        if (is_full(server)) {
            return CAIRN_NETCODE_DROP_ID_CONNECTED;
        }
    }
    if (is_full(server)) {
        queue_answer(server, &handshake->address, handshake->server_index,
            handshake->server_to_client_key, &denied);
        return CAIRN_NETCODE_DROP_SERVER_FULL;
    }
    const cairn_netcode_drop drop = consume_token(server, handshake);
    if (drop == CAIRN_NETCODE_TAKEN) {
        open_session(server, handshake);
    }
    return drop;
}

static cairn_netcode_drop receive_from_client(cairn_netcode_server *server, uint32_t client,
    const cairn_packet_header *header, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(cairn_netcode_server_connected(server, client));
    cairn_netcode_slot *slot = &server->slots.list[client];
    const cairn_netcode_server_rule rule = cairn_netcode_server_rule_of(slot->state, header->type);
    if (rule.action == CAIRN_NETCODE_SERVER_DROP) {
        return rule.drop;
    }
    if (!cairn_replay_fresh(&slot->replay, header->sequence)) {
        return CAIRN_NETCODE_DROP_REPLAYED;
    }
    cairn_packet packet;
    const cairn_netcode_drop drop = cairn_packet_read(header, bytes, size,
        server->config.protocol_id, slot->client_to_server_key, server->body, &packet);
    if (drop != CAIRN_NETCODE_DROP_DECRYPT) {
        cairn_replay_accept(&slot->replay, header->sequence);
    }
    if (drop == CAIRN_NETCODE_TAKEN) {
        apply_input(server, client, packet.type, &packet, CAIRN_NETCODE_LEFT);
    }
    return drop;
}

static cairn_netcode_drop receive_path_packet(
    cairn_netcode_server *server, const cairn_address *from, const uint8_t *bytes, size_t size) {
    const cairn_netcode_path path = {.slots = &server->slots,
        .from = from,
        .now_ns = server->now_ns,
        .protocol_id = server->config.protocol_id,
        .number_key = server->sequence_key,
        .body = server->body};
    cairn_packet answer;
    uint32_t client = CAIRN_LOOKUP_NONE;
    const cairn_netcode_drop drop =
        cairn_netcode_path_receive(&path, bytes, size, &client, &answer);
    if (drop == CAIRN_NETCODE_TAKEN && answer.type == CAIRN_PACKET_PATH_CHALLENGE) {
        queue_to_client(server, client, &answer);
    } else if (drop == CAIRN_NETCODE_TAKEN && answer.type == CAIRN_PACKET_KEEP_ALIVE) {
        queue_keep_alive(server, client);
    }
    return drop;
}

static cairn_netcode_drop receive_from_unknown_peer(cairn_netcode_server *server,
    const cairn_address *from, const cairn_packet_header *header, const uint8_t *bytes,
    size_t size) {
    const cairn_handshake *handshake =
        cairn_handshakes_find(&server->handshakes, from, server->now_ns);
    const cairn_netcode_server_rule rule = cairn_netcode_server_rule_of(
        handshake != NULL ? CAIRN_PEER_PENDING : CAIRN_PEER_UNKNOWN, header->type);
    if (rule.action == CAIRN_NETCODE_SERVER_DROP) {
        return rule.drop;
    }
    CAIRN_ASSERT(rule.action == CAIRN_NETCODE_SERVER_ACCEPT && handshake != NULL);
    cairn_packet packet;
    const cairn_netcode_drop drop = cairn_packet_read(header, bytes, size,
        server->config.protocol_id, handshake->client_to_server_key, server->body, &packet);
    return drop == CAIRN_NETCODE_TAKEN ? accept_response(server, handshake, &packet.challenge)
                                       : drop;
}

// `client` is the client that has the address `from`, or CAIRN_LOOKUP_NONE if no client has it.
static cairn_netcode_drop receive_encrypted(cairn_netcode_server *server, uint32_t client,
    const cairn_address *from, const uint8_t *bytes, size_t size) {
    cairn_packet_header header;
    const unsigned type = size > 0 ? bytes[0] & 15u : 0;
    if ((CAIRN_PACKETS_OF_PATH_TO_SERVER & CAIRN_PACKET_BIT(type)) != 0) {
        return receive_path_packet(server, from, bytes, size);
    }
    cairn_netcode_drop drop =
        cairn_packet_read_header(bytes, size, CAIRN_PACKETS_TO_SERVER, &header);
    if (drop != CAIRN_NETCODE_TAKEN) {
        return drop;
    }
    const uint32_t moving = client == CAIRN_LOOKUP_NONE
                                ? cairn_netcode_path_find(&server->slots, from, server->now_ns)
                                : CAIRN_LOOKUP_NONE;
    if (moving != CAIRN_LOOKUP_NONE) {
        drop = receive_from_client(server, moving, &header, bytes, size);
        // A client that left has no candidate any more.
        server->slots.list[moving].candidate_bytes += drop == CAIRN_NETCODE_TAKEN ? size : 0;
        return drop;
    }
    return client != CAIRN_LOOKUP_NONE
               ? receive_from_client(server, client, &header, bytes, size)
               : receive_from_unknown_peer(server, from, &header, bytes, size);
}

void cairn_netcode_server_receive(cairn_netcode_server *server, uint64_t now_ns,
    const cairn_address *from, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(from != NULL && (bytes != NULL || size == 0));
    set_now(server, now_ns);
    if (server->payload_size > 0) {
        server->payload_size = 0;
        ++server->drops[CAIRN_NETCODE_DROP_UNREAD];
    }
    const uint32_t client = cairn_netcode_slots_find_address(&server->slots, from);
    if (client != CAIRN_LOOKUP_NONE) {
        cairn_netcode_slots_count(&server->slots, client, now_ns);
    }
    const bool request = size > 0 && bytes[0] == CAIRN_PACKET_REQUEST;
    const cairn_netcode_drop drop = request ? receive_request(server, from, bytes, size)
                                            : receive_encrypted(server, client, from, bytes, size);
    ++server->drops[drop];
}

static void advance_session(cairn_netcode_server *server, uint32_t client) {
    CAIRN_ASSERT(cairn_netcode_server_connected(server, client));
    const cairn_netcode_slot *slot = &server->slots.list[client];
    if (slot->timeout_ns > 0 && server->now_ns - slot->last_receive_ns >= slot->timeout_ns) {
        apply_input(
            server, client, CAIRN_NETCODE_SERVER_INPUT_TIME_OUT, NULL, CAIRN_NETCODE_TIMED_OUT);
    } else if (server->now_ns - slot->sent_ns >= KEEP_ALIVE_INTERVAL_NS) {
        queue_keep_alive(server, client);
    }
}

void cairn_netcode_server_advance(cairn_netcode_server *server, uint64_t now_ns) {
    set_now(server, now_ns);
    cairn_handshakes_expire(&server->handshakes, now_ns);
    if (now_ns < server->slots_due_ns) {
        return;
    }
    uint64_t due_ns = UINT64_MAX;
    for (uint32_t client = 0; client < server->config.clients_max; ++client) {
        if (!cairn_netcode_server_connected(server, client)) {
            continue;
        }
        advance_session(server, client);
        if (cairn_netcode_server_connected(server, client)) {
            const uint64_t slot_ns = slot_due_ns(&server->slots.list[client]);
            due_ns = slot_ns < due_ns ? slot_ns : due_ns;
        }
    }
    server->slots_due_ns = due_ns;
}

uint64_t cairn_netcode_server_deadline_ns(const cairn_netcode_server *server) {
    return server->handshakes.earliest_ns < server->slots_due_ns ? server->handshakes.earliest_ns
                                                                 : server->slots_due_ns;
}

void cairn_netcode_server_disconnect(
    cairn_netcode_server *server, uint64_t now_ns, uint32_t client) {
    set_now(server, now_ns);
    if (cairn_netcode_server_connected(server, client)) {
        apply_input(server, client, CAIRN_NETCODE_SERVER_INPUT_KICK, NULL, CAIRN_NETCODE_KICKED);
    }
}

void cairn_netcode_server_disconnect_all(cairn_netcode_server *server, uint64_t now_ns) {
    for (uint32_t client = 0; client < server->config.clients_max; ++client) {
        cairn_netcode_server_disconnect(server, now_ns, client);
    }
}

void cairn_netcode_server_stop_admitting(cairn_netcode_server *server) {
    server->admitting = false;
}

bool cairn_netcode_server_connected(const cairn_netcode_server *server, uint32_t client) {
    return client < server->config.clients_max &&
           server->slots.list[client].state != CAIRN_PEER_UNKNOWN;
}

uint32_t cairn_netcode_server_addresses(const cairn_netcode_server *server, cairn_address *out) {
    uint32_t count = 0;
    for (uint32_t client = 0; client < server->config.clients_max; ++client) {
        if (cairn_netcode_server_connected(server, client) && !server->slots.list[client].crowds) {
            out[count++] = server->slots.list[client].address;
        }
    }
    return count;
}

uint64_t cairn_netcode_server_address_changes(const cairn_netcode_server *server) {
    return server->slots.address_changes;
}

void cairn_netcode_server_set_unix_time(
    cairn_netcode_server *server, uint64_t now_ns, uint64_t unix_ns) {
    set_now(server, now_ns);
    server->unix_since_ns = unix_ns - now_ns;
}

cairn_netcode_token_times cairn_netcode_server_token_times(const cairn_netcode_server *server) {
    return server->token_times;
}

const uint64_t *cairn_netcode_server_drops(const cairn_netcode_server *server) {
    return server->drops;
}
