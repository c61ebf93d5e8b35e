// SPDX-License-Identifier: MIT
#include "storm/hostile.h"

#include <string.h>

#include "base/assert.h"
#include "bridge/packed_inputs.h"
#include "net/packet.h"
#include "schema/scene.h"
#include "schema/tick_payload.h"
#include "sim/debug/passport.h"
#include "sim/serialize/sketch.h"
#include <cairn/rules_registry.h>
#include <cairn/version.h>

static const uint64_t ms_ns = 1000000;
static const uint64_t act_ns_max = 8 * CAIRN_NS_PER_S;
static const uint64_t first_client_id = UINT64_C(1) << 40;
// Of its payloads, that come from another address.
static const uint64_t moved_permille = 10;
// Of a token that no server may accept.
static const uint32_t too_long_s = 3600;

// At once, in each step of a storm, which takes 20 to 100 ms.
#define FLOOD_PAYLOADS 400

static uint64_t below(cairn_hostile *h, uint64_t bound) {
    return cairn_random_below(&h->random, bound);
}

static bool chance(cairn_hostile *h, uint64_t permille) {
    return below(h, 1000) < permille;
}

static uint64_t local_ns(const cairn_hostile *h) {
    return cairn_virtual_local_ns(h->system->network, h->endpoint);
}

bool cairn_hostile_create(cairn_hostile *h, cairn_system *system, uint64_t seed, const char *room,
    const cairn_virtual_path *path) {
    cairn_link_config link = cairn_link_config_default();
    *h = (cairn_hostile){.system = system,
        .random = cairn_random_of(seed),
        .path_random = cairn_random_of(seed + 1),
        .client_id = first_client_id + seed,
        .host = (uint8_t)(100 + seed % 100),
        .room = room};
    const cairn_address address = cairn_system_address(
        system, CAIRN_SYSTEM_HOSTILES, h->host, (uint16_t)(30000 + seed % 1000));
    h->endpoint = cairn_virtual_endpoint(system->network, &address, (cairn_virtual_clock){0});
    cairn_virtual_connect(system->network, h->endpoint, system->server_endpoint, path);
    link.unreliable_size_max = 4096;
    link.reliable_buffer_size = 65536;
    return cairn_netcode_client_create(&h->netcode) == CAIRN_OK &&
           cairn_link_create(&link, local_ns(h), &h->link) == CAIRN_OK &&
           cairn_encoder_create(CAIRN_DIFFERENCE_SKETCH_SIZE_MAX + 4096, &h->encoder) == CAIRN_OK;
}

void cairn_hostile_destroy(cairn_hostile *h) {
    cairn_link_destroy(h->link);
    cairn_netcode_client_destroy(h->netcode);
    cairn_encoder_destroy(h->encoder);
    *h = (cairn_hostile){0};
}

static uint64_t token_expiry(const uint8_t *bytes) {
    cairn_token_public token;
    const bool read =
        cairn_token_read_public(bytes, CAIRN_CONNECT_TOKEN_SIZE, &token) == CAIRN_TOKEN_OK;
    CAIRN_ASSERT(read);
    return read ? token.expire_unix_s : 0;
}

// A new token, or sometimes one that no server may accept (again).
static uint32_t choose_token(cairn_hostile *h) {
    if (h->token_count > 0 && chance(h, h->act == CAIRN_HOSTILE_TOKENS ? 600 : 50)) {
        const uint32_t held =
            h->token_count < CAIRN_HOSTILE_TOKENS_MAX ? h->token_count : CAIRN_HOSTILE_TOKENS_MAX;
        return (uint32_t)below(h, held);
    }
    const uint32_t entry = h->token_count++ % CAIRN_HOSTILE_TOKENS_MAX;
    const bool too_long = h->act == CAIRN_HOSTILE_TOKENS && chance(h, 300);
    const bool issued = cairn_system_issue_token(h->system, h->client_id,
        too_long ? too_long_s : CAIRN_SYSTEM_TOKEN_LIFETIME_S, false, h->tokens[entry].bytes);
    CAIRN_ASSERT(issued);
    h->tokens[entry].spent = too_long;
    h->tokens[entry].expire_unix_s = token_expiry(h->tokens[entry].bytes);
    return entry;
}

static void connect_again(cairn_hostile *h) {
    const uint32_t token = choose_token(h);
    h->connected = false;
    h->hello_sent = false;
    h->welcomed = false;
    h->world_epoch = 0;
    h->token = token;
    h->admitted_then = h->admitted;
    h->connect_ns =
        local_ns(h) + (h->act == CAIRN_HOSTILE_JOINS ? 50 : 500 + below(h, 2000)) * ms_ns;
    // An expired token is refused here already, as by any client.
    (void)cairn_netcode_client_connect(
        h->netcode, local_ns(h), cairn_system_unix_s(h->system), h->tokens[token].bytes);
}

void cairn_hostile_admitted(cairn_hostile *h, uint64_t client_id) {
    h->admitted += client_id == h->client_id ? 1 : 0;
}

// A token that made a session never makes another one, whatever server runs. Packets of its session
// that were still in flight may connect the client, but then no server has begun a session. Of the
// second in which a server starts it cannot tell which tokens an earlier one saw
// (docs/PROTOCOL.md, Sequences).
static void follow_handshake(cairn_hostile *h) {
    const bool connected =
        cairn_netcode_client_state_read(h->netcode) == CAIRN_NETCODE_STATE_CONNECTED;
    if (connected && !h->connected) {
        cairn_hostile_token *token = &h->tokens[h->token];
        const bool of_start =
            token->expire_unix_s == h->system->server_start_unix_s + CAIRN_SYSTEM_TOKEN_LIFETIME_S;
        h->admitted_twice += token->spent && !of_start && h->admitted > h->admitted_then ? 1 : 0;
        h->sessions += 1;
        token->spent = true;
        cairn_link_reset(h->link, local_ns(h));
    }
    h->connected = connected;
}

static void send_bytes(cairn_hostile *h, const uint8_t *bytes, size_t size, bool reliable) {
    const cairn_status status = reliable ? cairn_link_send_reliable(h->link, bytes, size)
                                         : cairn_link_send_unreliable(h->link, bytes, size);
    h->messages += status == CAIRN_OK ? 1 : 0;
}

// A message that its encoder refuses is not sent: a server has to understand what hurts it.
static void send_message(cairn_hostile *h, const cairn_message *message, bool reliable) {
    const uint8_t *bytes;
    size_t size;
    if (cairn_message_encode(h->encoder, message, &bytes, &size) == CAIRN_OK) {
        send_bytes(h, bytes, size, reliable);
    }
}

static void send_hello(cairn_hostile *h, uint32_t mode) {
    const char *name = h->system->config.rules != NULL ? h->system->config.rules->name
                                                       : h->system->config.scene->rules;
    const cairn_rules *rules = h->system->config.rules;
    cairn_passport passport;
    if ((rules == NULL && !cairn_rules_find(name, &rules)) ||
        cairn_passport_read(&passport) != CAIRN_OK) {
        return;
    }
    const cairn_message hello = {.kind = CAIRN_MESSAGE_HELLO,
        .hello = {.protocol_version = CAIRN_PROTOCOL_VERSION,
            .sim_version = CAIRN_SIM_VERSION,
            .mode = mode,
            .spectator = h->act == CAIRN_HOSTILE_INPUTS ? 0u : (uint32_t)below(h, 2),
            .rules_name = name,
            .rules_version = rules == NULL ? 0 : rules->version,
            .rules_digest = cairn_rules_digest(rules),
            .room = h->room,
            .build = "",
            .passport_hash = passport.hash}};
    send_message(h, &hello, true);
    h->hello_sent = true;
}

// `honest` acknowledgements keep the server sending.
static void send_input_for(cairn_hostile *h, uint64_t tick, bool honest) {
    const cairn_wire_input input = {.tick = tick,
        .sequence = (uint32_t)tick,
        .buttons = (uint32_t)cairn_random_next(&h->random),
        .move = {1, 0, 0}};
    uint8_t payload[CAIRN_INPUT_PAYLOAD_SIZE_MAX];
    const bool plays = h->slot != CAIRN_SLOT_NONE;
    const cairn_input_head head = {.world_epoch = h->world_epoch,
        .snapshot_acknowledged = honest ? 0 : cairn_random_next(&h->random),
        .ticks_acknowledged = honest ? h->tick : below(h, h->tick + 1000),
        .early = honest ? 0 : cairn_random_next(&h->random),
        .input_count = plays ? 1 : 0,
        .first_tick = plays ? tick : 0,
        .parts = 1};
    const size_t size =
        cairn_input_payload_write(&head, &input, (cairn_tick_commands){.count = 0}, payload);
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_INPUT, .input = {.payload = payload, .payload_size = (uint32_t)size}};
    send_message(h, &message, false);
}

static void take_message(cairn_hostile *h, const cairn_link_message *received) {
    cairn_message message;
    if (cairn_message_decode(received->bytes, received->size, CAIRN_TO_CLIENT, &message) !=
        CAIRN_DECODE_OK) {
        return;
    }
    if (message.kind == CAIRN_MESSAGE_WELCOME) {
        h->welcomed = true;
        h->slot = message.welcome.slot;
        h->tick = message.welcome.tick;
    } else if (message.kind == CAIRN_MESSAGE_TICKS && cairn_ticks_end(&message.ticks) > 0) {
        h->tick = cairn_ticks_end(&message.ticks);
        // The next tick's input leaves when this one is known: on a path whose round trip is longer
        // than a tick it is always a little late.
        if (h->act == CAIRN_HOSTILE_INPUTS) {
            send_input_for(h, h->tick, true);
        }
    } else if (message.kind == CAIRN_MESSAGE_EVENT && message.event.kind == CAIRN_EVENT_REPLACED) {
        h->world_epoch = (uint32_t)message.event.value;
        h->tick = message.event.tick;
    }
}

// Changes what the link wrote; the encryption comes after this.
static void change_payload(cairn_hostile *h, uint8_t *payload, size_t size) {
    CAIRN_ASSERT(size >= CAIRN_LINK_HEADER_SIZE);
    if (h->act == CAIRN_HOSTILE_WINDOW) {
        payload[1] = (uint8_t)(h->act_until_ns % 2 == 0 ? 1 : 1 + below(h, 255));
    } else if (h->act == CAIRN_HOSTILE_ACKS && h->welcomed) {
        for (uint32_t i = 8; i < CAIRN_LINK_HEADER_SIZE && chance(h, 300); i++) {
            payload[i] = (uint8_t)below(h, 256);
        }
    } else if (h->act == CAIRN_HOSTILE_NOISE && chance(h, 100)) {
        payload[below(h, size)] ^= (uint8_t)(1u << below(h, 8));
    }
}

// From another address, which the server has to try, or in the name of a client that never asked
// for it.
static void send_moved(
    cairn_hostile *h, const cairn_address *to, const uint8_t *bytes, size_t size) {
    const uint32_t i = (uint32_t)cairn_random_below(&h->path_random, CAIRN_SYSTEM_CLIENTS_MAX);
    const cairn_system_client *victim = &h->system->clients[i];
    h->moves += 1;
    if (victim->has_endpoint) {
        const cairn_address from = *cairn_virtual_address(h->system->network, victim->endpoint);
        cairn_virtual_inject(h->system->network, &from, to, bytes, size, ms_ns);
        return;
    }
    const cairn_address moved = cairn_system_address(h->system, CAIRN_SYSTEM_HOSTILES, h->host,
        (uint16_t)(31000 + cairn_random_below(&h->path_random, 1000)));
    cairn_virtual_move(h->system->network, h->endpoint, &moved);
    cairn_virtual_send(h->system->network, h->endpoint, to, bytes, size);
}

static void send_datagrams(cairn_hostile *h) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    cairn_address to;
    size_t size;
    while ((size = cairn_netcode_client_next_datagram(h->netcode, &to, bytes)) > 0) {
        cairn_virtual_send(h->system->network, h->endpoint, &to, bytes, size);
    }
    while (h->connected && (size = cairn_link_next_payload(h->link, local_ns(h), payload)) > 0) {
        change_payload(h, payload, size);
        size = cairn_netcode_client_encrypt(h->netcode, local_ns(h), payload, size, &to, bytes);
        if (size > 0 && cairn_random_below(&h->path_random, 1000) < moved_permille) {
            send_moved(h, &to, bytes, size);
        } else if (size > 0) {
            cairn_virtual_send(h->system->network, h->endpoint, &to, bytes, size);
        }
    }
}

// Many more payloads than a client may send; the link takes one of them.
static void flood(cairn_hostile *h) {
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address to;
    const size_t size = cairn_link_next_payload(h->link, local_ns(h), payload);
    for (uint32_t i = 0; i < FLOOD_PAYLOADS && size > 0; i++) {
        const size_t datagram =
            cairn_netcode_client_encrypt(h->netcode, local_ns(h), payload, size, &to, bytes);
        if (datagram > 0) {
            cairn_virtual_send(h->system->network, h->endpoint, &to, bytes, datagram);
        }
    }
}

void cairn_hostile_receive(cairn_hostile *h, const cairn_virtual_datagram *datagram) {
    size_t size = 0;
    cairn_netcode_client_receive(
        h->netcode, local_ns(h), &datagram->from, datagram->bytes, datagram->size);
    follow_handshake(h);
    const uint8_t *payload = cairn_netcode_client_next_payload(h->netcode, &size);
    // One that plays with acks takes nothing for seconds.
    const bool deaf = h->act == CAIRN_HOSTILE_ACKS && h->act_until_ns % 2 == 0;
    if (payload != NULL && h->connected && !deaf &&
        cairn_link_receive(h->link, local_ns(h), payload, size) == CAIRN_LINK_TAKEN) {
        cairn_link_message message;
        while (cairn_link_next_message(h->link, &message)) {
            take_message(h, &message);
        }
    }
    send_datagrams(h);
}

static void send_roots(cairn_hostile *h) {
    cairn_wire_root roots[8];
    const uint32_t count = 1 + (uint32_t)below(h, 8);
    for (uint32_t i = 0; i < count && h->tick > 8; i++) {
        roots[i] = (cairn_wire_root){.tick = h->tick - count + i,
            .lo = cairn_random_next(&h->random),
            .hi = cairn_random_next(&h->random)};
    }
    const cairn_message message = {.kind = CAIRN_MESSAGE_ROOT_REPORT,
        .root_report = {.world_epoch = h->world_epoch,
            .roots = roots,
            .root_count = h->tick > 8 ? count : 0,
            .rollbacks = h->messages << 20,
            .rollback_ticks = UINT64_MAX - h->messages}};
    send_message(h, &message, true);
}

static void send_resync_request(cairn_hostile *h) {
    static const uint32_t cells[] = {0, 0, 40, 160, 640, 1024};
    static uint8_t sketch[CAIRN_DIFFERENCE_SKETCH_SIZE_MAX];
    const uint32_t size = cells[below(h, 6)] * CAIRN_SKETCH_CELL_SIZE;
    if (chance(h, 500)) {
        cairn_random_fill(&h->random, sketch, size);
    } else {
        memset(sketch, 0, size); // of a client that has nothing
    }
    const cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_REQUEST,
        .resync_request = {.tick = h->tick - below(h, h->tick < 40 ? h->tick + 1 : 40),
            .want = 1 + (uint32_t)below(h, 3),
            .difference_sketch = sketch,
            .difference_sketch_size = size,
            .world_epoch = h->world_epoch}};
    send_message(h, &message, true);
}

static void send_noise(cairn_hostile *h) {
    uint8_t bytes[512];
    const size_t size = 1 + below(h, sizeof bytes);
    cairn_random_fill(&h->random, bytes, size);
    const cairn_message control = {.kind = CAIRN_MESSAGE_CONTROL,
        .control = {.number = 1, .verb = 1 + (uint32_t)below(h, 40), .room = ""}};
    if (chance(h, 300)) {
        send_message(h, &control, true);
    } else if (chance(h, 300)) {
        send_hello(h, (uint32_t)below(h, CAIRN_MODE_COUNT));
    } else {
        send_bytes(h, bytes, size, chance(h, 500));
    }
}

// Requests with tokens that it holds, from addresses where nobody answers.
static void show_tokens(cairn_hostile *h) {
    for (uint32_t i = 0; i < h->token_count && i < CAIRN_HOSTILE_TOKENS_MAX; i++) {
        cairn_token_public token;
        uint8_t bytes[CAIRN_PACKET_REQUEST_SIZE];
        if (cairn_token_read_public(h->tokens[i].bytes, CAIRN_CONNECT_TOKEN_SIZE, &token) !=
            CAIRN_TOKEN_OK) {
            continue;
        }
        const cairn_packet_request request = {
            token.protocol_id, token.expire_unix_s, token.nonce, token.private_data};
        const size_t size = cairn_packet_write_request(&request, bytes);
        const cairn_address from = cairn_system_address(
            h->system, CAIRN_SYSTEM_HOSTILES, 99, (uint16_t)(1 + below(h, 65535)));
        cairn_virtual_inject(h->system->network, &from,
            cairn_virtual_address(h->system->network, h->system->server_endpoint), bytes, size,
            ms_ns);
    }
}

static void lie(cairn_hostile *h) {
    if (h->act != CAIRN_HOSTILE_INPUTS || chance(h, 20)) {
        const uint64_t ahead = chance(h, 20) ? below(h, 100000) : 8;
        send_input_for(h, h->tick + ahead, h->act != CAIRN_HOSTILE_ACKS || chance(h, 500));
    }
    switch (h->act) {
    case CAIRN_HOSTILE_ROOTS:
        send_roots(h);
        break;
    case CAIRN_HOSTILE_RESYNC:
        send_resync_request(h);
        break;
    case CAIRN_HOSTILE_JOINS:
        cairn_netcode_client_disconnect(h->netcode, local_ns(h));
        break;
    case CAIRN_HOSTILE_FLOOD:
        flood(h);
        break;
    case CAIRN_HOSTILE_NOISE:
        send_noise(h);
        break;
    default:
        break; // the payloads lie, or the inputs
    }
}

void cairn_hostile_act_now(cairn_hostile *h) {
    const uint64_t now_ns = local_ns(h);
    if (now_ns >= h->act_until_ns) {
        h->act = (cairn_hostile_act)below(h, CAIRN_HOSTILE_ACT_COUNT);
        h->act_until_ns = now_ns + CAIRN_NS_PER_S + below(h, act_ns_max);
    }
    cairn_netcode_client_advance(h->netcode, now_ns);
    follow_handshake(h);
    const bool ended =
        cairn_netcode_client_state_read(h->netcode) <= CAIRN_NETCODE_STATE_DISCONNECTED;
    if (ended && now_ns >= h->connect_ns) {
        connect_again(h);
    }
    if (h->act == CAIRN_HOSTILE_TOKENS && chance(h, 200)) {
        show_tokens(h);
    }
    if (h->connected && !h->hello_sent) {
        send_hello(h, 1 + (uint32_t)below(h, CAIRN_MODE_COUNT - 1));
    } else if (h->connected && h->welcomed) {
        lie(h);
    }
    send_datagrams(h);
}
