// SPDX-License-Identifier: MIT
#include "net/netcode_client.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "net/crypto.h"
#include "net/netcode_table.h"
#include "net/outbox.h"
#include "net/packet.h"
#include "net/replay.h"

#define SEND_INTERVAL_NS UINT64_C(100000000)
#define DISCONNECT_COUNT 10
// A client that hears nothing for 1.2 times the usual time between datagrams, or up to twice if
// they come less steadily, but at least and at most for these, tells the server where it is.
// Datagrams that arrive together count as one.
#define SILENT_NS_MIN UINT64_C(50000000)
#define SILENT_NS_MAX UINT64_C(150000000)
#define TOGETHER_NS UINT64_C(2000000)
#define SPACING_NS_FIRST UINT64_C(100000000)
// A request for each of a few servers tried in one advance, and the disconnect packets.
#define OUTBOX_SIZE (8 * 1024)

struct cairn_netcode_client {
    cairn_netcode_client_state state;
    cairn_token_public token;
    uint32_t server; // index in the list of the token: the one tried now
    uint64_t now_ns;
    uint64_t expire_ns; // when the token ends, while connecting
    uint64_t sent_ns;
    uint64_t last_receive_ns; // of this server; before its first packet, when it was first tried
    // Continues from server to server and never restarts with the same keys: all servers of the
    // list use the same client-to-server key, so a nonce must not repeat.
    uint64_t sequence;
    cairn_replay replay;
    uint64_t challenge_sequence;
    uint8_t challenge_token[CAIRN_CHALLENGE_TOKEN_SIZE];
    uint32_t index;
    uint32_t clients_max;
    uint64_t spacing_ns; // between datagrams of the server, smoothed
    uint64_t spread_ns;  // how far the times between them are from that, smoothed
    uint64_t path_ns;    // when the last path request left
    uint64_t moves;
    size_t payload_size; // 0: none is waiting
    cairn_outbox outbox;
    uint64_t drops[CAIRN_NETCODE_DROP_COUNT];
    _Alignas(8) uint8_t body[CAIRN_PAYLOAD_SIZE_MAX];
};

cairn_status cairn_netcode_client_create(cairn_netcode_client **out) {
    *out = NULL;
    cairn_netcode_client *client = calloc(1, sizeof *client);
    if (client == NULL || !cairn_crypto_start() ||
        cairn_outbox_create(&client->outbox, OUTBOX_SIZE) != CAIRN_OK) {
        free(client);
        return CAIRN_OUT_OF_MEMORY;
    }
    *out = client;
    return CAIRN_OK;
}

void cairn_netcode_client_destroy(cairn_netcode_client *client) {
    if (client == NULL) {
        return;
    }
    cairn_outbox_destroy(&client->outbox);
    cairn_wipe(client, sizeof *client);
    free(client);
}

static void set_now(cairn_netcode_client *client, uint64_t now_ns) {
    CAIRN_ASSERT(now_ns >= client->now_ns);
    client->now_ns = now_ns;
}

static bool is_ended(const cairn_netcode_client *client) {
    return client->state <= CAIRN_NETCODE_STATE_DISCONNECTED;
}

static void queue(cairn_netcode_client *client, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(client->server < client->token.server_count);
    if (!cairn_outbox_push(&client->outbox, &client->token.servers[client->server], bytes, size)) {
        ++client->drops[CAIRN_NETCODE_DROP_SEND_QUEUE_FULL];
    }
}

static size_t write_encrypted(
    cairn_netcode_client *client, const cairn_packet *packet, uint8_t *bytes) {
    CAIRN_ASSERT(client->sequence < UINT64_MAX);
    return cairn_packet_write(packet, client->sequence++, client->token.protocol_id,
        client->token.client_to_server_key, bytes);
}

static void queue_encrypted(cairn_netcode_client *client, const cairn_packet *packet) {
    uint8_t bytes[CAIRN_PACKET_ENCRYPTED_SIZE_MAX];
    client->sent_ns = client->now_ns;
    queue(client, bytes, write_encrypted(client, packet, bytes));
}

static void queue_request(cairn_netcode_client *client) {
    CAIRN_ASSERT(client->state == CAIRN_NETCODE_STATE_SENDING_REQUEST);
    const cairn_packet_request request = {
        .protocol_id = client->token.protocol_id,
        .expire_unix_s = client->token.expire_unix_s,
        .nonce = client->token.nonce,
        .private_data = client->token.private_data,
    };
    uint8_t bytes[CAIRN_PACKET_REQUEST_SIZE];
    client->sent_ns = client->now_ns;
    queue(client, bytes, cairn_packet_write_request(&request, bytes));
}

// Sends the packet that the state repeats ten times a second.
static void send_periodic(cairn_netcode_client *client) {
    CAIRN_ASSERT(!is_ended(client));
    if (client->state == CAIRN_NETCODE_STATE_SENDING_REQUEST) {
        queue_request(client);
    } else if (client->state == CAIRN_NETCODE_STATE_SENDING_RESPONSE) {
        queue_encrypted(client, &(cairn_packet){.type = CAIRN_PACKET_RESPONSE,
                                    .challenge = {.sequence = client->challenge_sequence,
                                        .token = client->challenge_token}});
    } else {
        queue_encrypted(client,
            &(cairn_packet){.type = CAIRN_PACKET_KEEP_ALIVE,
                .keep_alive = {.client_index = client->index, .clients_max = client->clients_max}});
    }
}

static void try_server(cairn_netcode_client *client, uint32_t server) {
    CAIRN_ASSERT(server < client->token.server_count);
    client->server = server;
    client->state = CAIRN_NETCODE_STATE_SENDING_REQUEST;
    client->last_receive_ns = client->now_ns;
    client->replay = (cairn_replay){0};
    queue_request(client);
}

// Path packets end with the index of this client: the address that they come from says nothing.
static void queue_path_packet(
    cairn_netcode_client *client, cairn_packet_type type, uint64_t number) {
    CAIRN_ASSERT(client->state == CAIRN_NETCODE_STATE_CONNECTED);
    uint8_t bytes[CAIRN_PACKET_ENCRYPTED_SIZE_MAX + CAIRN_PACKET_INDEX_SIZE];
    const cairn_packet packet = {.type = type, .path = {.number = number}};
    // This does not replace a keep-alive: a netcode server without path packets drops it.
    const size_t size = write_encrypted(client, &packet, bytes);
    cairn_writer writer = cairn_writer_of(bytes + size, CAIRN_PACKET_INDEX_SIZE);
    cairn_write_u32(&writer, client->index);
    CAIRN_ASSERT(writer.ok);
    queue(client, bytes, size + CAIRN_PACKET_INDEX_SIZE);
}

// The first request of a silence is sent twice: the server may then send two datagrams before the
// challenge is answered, and one may be lost.
static void request_path(cairn_netcode_client *client) {
    if (client->path_ns <= client->last_receive_ns) {
        queue_path_packet(client, CAIRN_PACKET_PATH_REQUEST, 0);
    }
    client->path_ns = client->now_ns;
    queue_path_packet(client, CAIRN_PACKET_PATH_REQUEST, 0);
}

static void note_received(cairn_netcode_client *client) {
    const uint64_t since_ns = client->now_ns - client->last_receive_ns;
    if (since_ns > TOGETHER_NS) {
        const uint64_t gap_ns = since_ns < SILENT_NS_MAX ? since_ns : SILENT_NS_MAX;
        const uint64_t off_ns =
            gap_ns > client->spacing_ns ? gap_ns - client->spacing_ns : client->spacing_ns - gap_ns;
        client->spacing_ns = client->spacing_ns - client->spacing_ns / 8 + gap_ns / 8;
        client->spread_ns = client->spread_ns - client->spread_ns / 8 + off_ns / 8;
    }
    client->last_receive_ns = client->now_ns;
}

static void respond_to_challenge(
    cairn_netcode_client *client, const cairn_packet_challenge *challenge) {
    CAIRN_ASSERT(client->state == CAIRN_NETCODE_STATE_SENDING_REQUEST);
    client->challenge_sequence = challenge->sequence;
    memcpy(client->challenge_token, challenge->token, CAIRN_CHALLENGE_TOKEN_SIZE);
    client->last_receive_ns = client->now_ns;
    client->state = CAIRN_NETCODE_STATE_SENDING_RESPONSE;
    send_periodic(client);
}

static void complete_connection(
    cairn_netcode_client *client, const cairn_packet_keep_alive *keep_alive) {
    CAIRN_ASSERT(client->state == CAIRN_NETCODE_STATE_SENDING_RESPONSE);
    client->index = keep_alive->client_index;
    client->clients_max = keep_alive->clients_max;
    client->last_receive_ns = client->now_ns;
    client->spacing_ns = SPACING_NS_FIRST;
    client->spread_ns = SPACING_NS_FIRST;
    client->state = CAIRN_NETCODE_STATE_CONNECTED;
    // The server sends a keep-alive before every payload until it has received a packet from us.
    send_periodic(client);
}

static void apply_rule(
    cairn_netcode_client *client, cairn_netcode_client_rule rule, const cairn_packet *packet) {
    switch (rule.action) {
    case CAIRN_NETCODE_CLIENT_ANSWER:
        CAIRN_ASSERT(packet != NULL);
        respond_to_challenge(client, &packet->challenge);
        break;
    case CAIRN_NETCODE_CLIENT_ENTER:
        CAIRN_ASSERT(packet != NULL);
        complete_connection(client, &packet->keep_alive);
        break;
    case CAIRN_NETCODE_CLIENT_DELIVER:
        CAIRN_ASSERT(packet != NULL);
        client->payload_size = packet->payload.size;
        note_received(client);
        break;
    case CAIRN_NETCODE_CLIENT_REFRESH:
        note_received(client);
        break;
    case CAIRN_NETCODE_CLIENT_NEXT_SERVER:
        CAIRN_ASSERT(rule.next <= CAIRN_NETCODE_STATE_DISCONNECTED);
        if (client->server + 1 < client->token.server_count) {
            try_server(client, client->server + 1);
        } else {
            client->state = rule.next;
        }
        break;
    case CAIRN_NETCODE_CLIENT_DISCONNECT:
        CAIRN_ASSERT(client->state >= CAIRN_NETCODE_STATE_SENDING_RESPONSE);
        for (int i = 0; i < DISCONNECT_COUNT; ++i) {
            queue_encrypted(client, &(cairn_packet){.type = CAIRN_PACKET_DISCONNECT});
        }
        client->state = rule.next;
        break;
    case CAIRN_NETCODE_CLIENT_END:
        client->state = rule.next;
        break;
    case CAIRN_NETCODE_CLIENT_REPEAT:
        send_periodic(client);
        break;
    default:
        CAIRN_ASSERT(rule.action == CAIRN_NETCODE_CLIENT_NOTHING);
        break;
    }
}

static void apply_input(cairn_netcode_client *client, unsigned input) {
    CAIRN_ASSERT(input >= CAIRN_PACKET_TYPE_COUNT);
    apply_rule(client, cairn_netcode_client_rule_of(client->state, input), NULL);
}

cairn_status cairn_netcode_client_connect(cairn_netcode_client *client, uint64_t now_ns,
    uint64_t now_unix_s, const uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    set_now(client, now_ns);
    client->payload_size = 0;
    cairn_token_public public;
    if (cairn_token_read_public(token, CAIRN_CONNECT_TOKEN_SIZE, &public) != CAIRN_TOKEN_OK) {
        client->state = CAIRN_NETCODE_STATE_TOKEN_INVALID;
        return CAIRN_MALFORMED;
    }
    if (public.expire_unix_s <= now_unix_s) {
        client->state = CAIRN_NETCODE_STATE_TOKEN_EXPIRED;
        return CAIRN_INVALID_ARGUMENT;
    }
    const uint8_t *key = client->token.client_to_server_key;
    if (memcmp(public.client_to_server_key, key, CAIRN_KEY_SIZE) != 0) {
        client->sequence = 0;
    }
    client->token = public;
    const uint64_t life_s = public.expire_unix_s - public.create_unix_s;
    client->expire_ns = life_s <= (UINT64_MAX - now_ns) / CAIRN_NS_PER_S
                            ? now_ns + life_s * CAIRN_NS_PER_S
                            : UINT64_MAX;
    try_server(client, 0);
    return CAIRN_OK;
}

void cairn_netcode_client_disconnect(cairn_netcode_client *client, uint64_t now_ns) {
    set_now(client, now_ns);
    apply_input(client, CAIRN_NETCODE_CLIENT_INPUT_LEAVE);
}

static cairn_netcode_drop open_packet(cairn_netcode_client *client,
    const cairn_packet_header *header, const uint8_t *bytes, size_t size, cairn_packet *packet) {
    // Challenge and denied come before a session and may repeat; the window belongs to the session.
    const bool protected =
        header->type == CAIRN_PACKET_KEEP_ALIVE || header->type == CAIRN_PACKET_PAYLOAD ||
        header->type == CAIRN_PACKET_DISCONNECT || header->type == CAIRN_PACKET_PATH_CHALLENGE;
    if (protected && !cairn_replay_fresh(&client->replay, header->sequence)) {
        return CAIRN_NETCODE_DROP_REPLAYED;
    }
    const cairn_netcode_drop drop = cairn_packet_read(header, bytes, size,
        client->token.protocol_id, client->token.server_to_client_key, client->body, packet);
    if (protected && drop != CAIRN_NETCODE_DROP_DECRYPT) {
        cairn_replay_accept(&client->replay, header->sequence);
    }
    return drop;
}

// The server saw a path request from another address than the one it knew.
static cairn_netcode_drop receive_path_challenge(cairn_netcode_client *client,
    const cairn_packet_header *header, const uint8_t *bytes, size_t size) {
    if (client->state != CAIRN_NETCODE_STATE_CONNECTED) {
        return CAIRN_NETCODE_DROP_WRONG_STATE;
    }
    cairn_packet packet;
    const cairn_netcode_drop drop = open_packet(client, header, bytes, size, &packet);
    if (drop == CAIRN_NETCODE_TAKEN) {
        note_received(client);
        client->moves++;
        queue_path_packet(client, CAIRN_PACKET_PATH_RESPONSE, packet.path.number);
    }
    return drop;
}

static cairn_netcode_drop receive(
    cairn_netcode_client *client, const cairn_address *from, const uint8_t *bytes, size_t size) {
    cairn_packet_header header;
    cairn_netcode_drop drop = cairn_packet_read_header(
        bytes, size, CAIRN_PACKETS_TO_CLIENT | CAIRN_PACKETS_OF_PATH_TO_CLIENT, &header);
    if (drop != CAIRN_NETCODE_TAKEN) {
        return drop;
    }
    if (!cairn_address_equal(from, &client->token.servers[client->server])) {
        return CAIRN_NETCODE_DROP_UNKNOWN_SENDER;
    }
    if (header.type == CAIRN_PACKET_PATH_CHALLENGE) {
        return receive_path_challenge(client, &header, bytes, size);
    }
    const cairn_netcode_client_rule rule = cairn_netcode_client_rule_of(client->state, header.type);
    if (rule.action == CAIRN_NETCODE_CLIENT_DROP) {
        return rule.drop;
    }
    cairn_packet packet;
    drop = open_packet(client, &header, bytes, size, &packet);
    if (drop == CAIRN_NETCODE_TAKEN) {
        apply_rule(client, rule, &packet);
    }
    return drop;
}

void cairn_netcode_client_receive(cairn_netcode_client *client, uint64_t now_ns,
    const cairn_address *from, const uint8_t *bytes, size_t size) {
    set_now(client, now_ns);
    if (client->payload_size > 0) {
        client->payload_size = 0;
        ++client->drops[CAIRN_NETCODE_DROP_UNREAD];
    }
    ++client->drops[receive(client, from, bytes, size)];
}

static uint64_t time_out_ns_of(const cairn_netcode_client *client) {
    const int32_t timeout_s = client->token.timeout_s;
    return timeout_s > 0 ? client->last_receive_ns + (uint64_t)timeout_s * CAIRN_NS_PER_S
                         : UINT64_MAX;
}

// When the silence of the server is long enough to say where this client is.
static uint64_t path_due_ns(const cairn_netcode_client *client) {
    if (client->state != CAIRN_NETCODE_STATE_CONNECTED) {
        return UINT64_MAX;
    }
    const uint64_t least_ns = client->spacing_ns / 5;
    const uint64_t late_ns = 4 * client->spread_ns;
    const uint64_t beyond_ns = late_ns < least_ns             ? least_ns
                               : late_ns > client->spacing_ns ? client->spacing_ns
                                                              : late_ns;
    const uint64_t usual_ns = client->spacing_ns + beyond_ns;
    const uint64_t silent_ns = usual_ns < SILENT_NS_MIN   ? SILENT_NS_MIN
                               : usual_ns > SILENT_NS_MAX ? SILENT_NS_MAX
                                                          : usual_ns;
    const uint64_t silent_at_ns = client->last_receive_ns + silent_ns;
    const uint64_t again_at_ns = client->path_ns + SEND_INTERVAL_NS;
    return client->path_ns < client->last_receive_ns || silent_at_ns > again_at_ns ? silent_at_ns
                                                                                   : again_at_ns;
}

void cairn_netcode_client_path_changed(cairn_netcode_client *client, uint64_t now_ns) {
    set_now(client, now_ns);
    if (client->state == CAIRN_NETCODE_STATE_CONNECTED &&
        now_ns - client->path_ns >= SEND_INTERVAL_NS / 2) {
        request_path(client);
    }
}

uint64_t cairn_netcode_client_moves(const cairn_netcode_client *client) {
    return client->moves;
}

void cairn_netcode_client_advance(cairn_netcode_client *client, uint64_t now_ns) {
    set_now(client, now_ns);
    if (now_ns >= client->expire_ns) {
        apply_input(client, CAIRN_NETCODE_CLIENT_INPUT_EXPIRE);
    }
    if (!is_ended(client) && now_ns >= time_out_ns_of(client)) {
        apply_input(client, CAIRN_NETCODE_CLIENT_INPUT_TIME_OUT);
    }
    if (now_ns >= path_due_ns(client)) {
        request_path(client);
    }
    if (!is_ended(client) && now_ns - client->sent_ns >= SEND_INTERVAL_NS) {
        apply_input(client, CAIRN_NETCODE_CLIENT_INPUT_SEND);
    }
}

uint64_t cairn_netcode_client_deadline_ns(const cairn_netcode_client *client) {
    if (is_ended(client)) {
        return UINT64_MAX;
    }
    uint64_t deadline_ns = client->sent_ns + SEND_INTERVAL_NS;
    if (time_out_ns_of(client) < deadline_ns) {
        deadline_ns = time_out_ns_of(client);
    }
    if (path_due_ns(client) < deadline_ns) {
        deadline_ns = path_due_ns(client);
    }
    if (client->state != CAIRN_NETCODE_STATE_CONNECTED && client->expire_ns < deadline_ns) {
        deadline_ns = client->expire_ns;
    }
    return deadline_ns;
}

const uint8_t *cairn_netcode_client_next_payload(cairn_netcode_client *client, size_t *size) {
    CAIRN_ASSERT(size != NULL && client->payload_size <= CAIRN_PAYLOAD_SIZE_MAX);
    if (client->payload_size == 0) {
        return NULL;
    }
    *size = client->payload_size;
    client->payload_size = 0;
    return client->body;
}

size_t cairn_netcode_client_next_datagram(
    cairn_netcode_client *client, cairn_address *to, uint8_t *bytes) {
    return cairn_outbox_pop(&client->outbox, to, bytes);
}

size_t cairn_netcode_client_encrypt(cairn_netcode_client *client, uint64_t now_ns,
    const uint8_t *payload, size_t payload_size, cairn_address *to, uint8_t *bytes) {
    set_now(client, now_ns);
    if (client->state != CAIRN_NETCODE_STATE_CONNECTED) {
        return 0;
    }
    *to = client->token.servers[client->server];
    client->sent_ns = client->now_ns;
    return write_encrypted(client,
        &(cairn_packet){
            .type = CAIRN_PACKET_PAYLOAD, .payload = {.bytes = payload, .size = payload_size}},
        bytes);
}

cairn_netcode_client_state cairn_netcode_client_state_read(const cairn_netcode_client *client) {
    return client->state;
}

cairn_address cairn_netcode_client_server(const cairn_netcode_client *client) {
    return client->token.servers[client->server];
}

uint32_t cairn_netcode_client_index(const cairn_netcode_client *client) {
    return client->index;
}

const uint64_t *cairn_netcode_client_drops(const cairn_netcode_client *client) {
    return client->drops;
}
