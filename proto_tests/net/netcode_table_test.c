// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <stdio.h>
#include <string.h>

#include "net/netcode_table.h"
#include "proto_tests/net/netcode_kit.h"

// Tests each row of both tables on a real endpoint: it is brought into the state and gets the
// input; its action and its next state must be those of the table. Whether the table itself is
// right is for its readers to check: docs/PROTOCOL.md must contain it letter by letter.

static const char *const packet_names[CAIRN_PACKET_TYPE_COUNT] = {
    "request", "denied", "challenge", "response", "keep-alive", "payload", "disconnect"};
static const char *const peer_names[CAIRN_PEER_COUNT] = {
    "unknown", "pending", "unconfirmed", "confirmed"};

// One peer of a server, played by hand.
typedef struct actor {
    kit k;
    cairn_token_public token;
    uint64_t sequence;
    uint8_t challenge[CAIRN_CHALLENGE_TOKEN_SIZE];
    uint64_t challenge_sequence;
} actor;

static kit_datagram craft(actor *a, cairn_packet_type type, bool by_client) {
    kit_datagram datagram = {.from = by_client ? a->k.client_addresses[0] : a->k.server_address};
    if (type == CAIRN_PACKET_REQUEST) {
        const cairn_packet_request request = {.protocol_id = a->token.protocol_id,
            .expire_unix_s = a->token.expire_unix_s,
            .nonce = a->token.nonce,
            .private_data = a->token.private_data};
        datagram.size = cairn_packet_write_request(&request, datagram.bytes);
        return datagram;
    }
    cairn_packet packet = {.type = type};
    if (type == CAIRN_PACKET_CHALLENGE || type == CAIRN_PACKET_RESPONSE) {
        packet.challenge = (cairn_packet_challenge){a->challenge_sequence, a->challenge};
    } else if (type == CAIRN_PACKET_KEEP_ALIVE) {
        packet.keep_alive = (cairn_packet_keep_alive){2, 4};
    } else if (type == CAIRN_PACKET_PAYLOAD) {
        packet.payload = (cairn_packet_payload){(const uint8_t *)"hello", 5};
    }
    datagram.size = cairn_packet_write(&packet, a->sequence++, a->token.protocol_id,
        by_client ? a->token.client_to_server_key : a->token.server_to_client_key, datagram.bytes);
    return datagram;
}

static cairn_netcode_drop say_to_server(actor *a, cairn_packet_type type) {
    const kit_datagram datagram = craft(a, type, true);
    const cairn_netcode_drop drop = kit_to_server(&a->k, &datagram);
    kit_take_events(&a->k);
    return drop;
}

static void keep_challenge(actor *a) {
    const kit_datagram datagram = kit_from_server(&a->k);
    cairn_packet_header header;
    uint8_t body[CAIRN_PAYLOAD_SIZE_MAX];
    cairn_packet packet;
    assert_int_equal(
        cairn_packet_read_header(datagram.bytes, datagram.size, CAIRN_PACKETS_TO_CLIENT, &header),
        CAIRN_NETCODE_TAKEN);
    assert_int_equal(cairn_packet_read(&header, datagram.bytes, datagram.size, KIT_PROTOCOL_ID,
                         a->token.server_to_client_key, body, &packet),
        CAIRN_NETCODE_TAKEN);
    assert_int_equal(packet.type, CAIRN_PACKET_CHALLENGE);
    a->challenge_sequence = packet.challenge.sequence;
    memcpy(a->challenge, packet.challenge.token, sizeof a->challenge);
}

static actor actor_open(uint32_t lifetime_s) {
    actor a = {.k = kit_open(4)};
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    KIT_TOKEN(token, .lifetime_s = lifetime_s);
    assert_int_equal(cairn_token_read_public(token, sizeof token, &a.token), CAIRN_TOKEN_OK);
    return a;
}

static actor peer_in(cairn_netcode_peer peer) {
    actor a = actor_open(60);
    if (peer >= CAIRN_PEER_PENDING) {
        assert_int_equal(say_to_server(&a, CAIRN_PACKET_REQUEST), CAIRN_NETCODE_TAKEN);
        keep_challenge(&a);
    }
    if (peer >= CAIRN_PEER_UNCONFIRMED) {
        assert_int_equal(say_to_server(&a, CAIRN_PACKET_RESPONSE), CAIRN_NETCODE_TAKEN);
    }
    if (peer >= CAIRN_PEER_CONFIRMED) {
        assert_int_equal(say_to_server(&a, CAIRN_PACKET_KEEP_ALIVE), CAIRN_NETCODE_TAKEN);
    }
    kit_throw_away(&a.k);
    return a;
}

// What can be seen from outside. Destroys the state.
static cairn_netcode_peer peer_of(actor *a) {
    kit_throw_away(&a->k);
    if (cairn_netcode_server_connected(a->k.server, 0)) {
        kit_server_payload(&a->k, 0, 10);
        return kit_from_server(&a->k).size > 0 ? CAIRN_PEER_UNCONFIRMED : CAIRN_PEER_CONFIRMED;
    }
    const cairn_netcode_drop drop = say_to_server(a, CAIRN_PACKET_KEEP_ALIVE);
    return drop == CAIRN_NETCODE_DROP_WRONG_STATE ? CAIRN_PEER_PENDING : CAIRN_PEER_UNKNOWN;
}

static size_t datagrams_waiting(kit *k) {
    size_t count = 0;
    while (kit_from_server(k).size > 0) {
        ++count;
    }
    for (int i = 0; i < KIT_CLIENTS_MAX; ++i) {
        while (kit_from_client(k, i).size > 0) {
            ++count;
        }
    }
    return count;
}

static cairn_netcode_drop happen_to_server(actor *a, unsigned input) {
    if (input < CAIRN_PACKET_TYPE_COUNT) {
        return say_to_server(a, (cairn_packet_type)input);
    }
    if (input == CAIRN_NETCODE_SERVER_INPUT_TIME_OUT) {
        a->k.now_ns += 5 * KIT_S;
        cairn_netcode_server_advance(a->k.server, a->k.now_ns);
    } else {
        cairn_netcode_server_disconnect(a->k.server, a->k.now_ns, 0);
    }
    kit_take_events(&a->k);
    return CAIRN_NETCODE_TAKEN;
}

typedef struct server_effect {
    size_t datagrams;
    size_t events;
} server_effect;

static server_effect server_effect_of(cairn_netcode_server_action action) {
    static const server_effect effects[CAIRN_NETCODE_SERVER_ACTION_COUNT] = {
        [CAIRN_NETCODE_SERVER_ADMIT] = {1, 0},
        [CAIRN_NETCODE_SERVER_ACCEPT] = {1, 1},
        [CAIRN_NETCODE_SERVER_DELIVER] = {0, 1},
        [CAIRN_NETCODE_SERVER_END] = {0, 1},
        [CAIRN_NETCODE_SERVER_DISCONNECT] = {10, 1}};
    return effects[action];
}

static void check_server_row(cairn_netcode_peer peer, unsigned input) {
    const cairn_netcode_server_rule rule = cairn_netcode_server_rule_of(peer, input);
    actor a = peer_in(peer);
    const size_t events = a.k.event_count;
    const cairn_netcode_drop drop = happen_to_server(&a, input);
    server_effect effect = server_effect_of(rule.action);
    cairn_netcode_drop expected = rule.drop;
    if (rule.action == CAIRN_NETCODE_SERVER_ADMIT && peer >= CAIRN_PEER_UNCONFIRMED) {
        effect = (server_effect){0, 0};
        expected = CAIRN_NETCODE_DROP_ADDRESS_CONNECTED;
    }
    if (drop != expected || a.k.event_count - events != effect.events ||
        datagrams_waiting(&a.k) != effect.datagrams || peer_of(&a) != rule.next) {
        fail_msg("%s, input %u: %s", peer_names[peer], input, cairn_netcode_drop_text(drop));
    }
    kit_close(&a.k);
}

TEST("the server follows its state table") {
    for (unsigned peer = 0; peer < CAIRN_PEER_COUNT; ++peer) {
        for (unsigned input = 0; input < CAIRN_NETCODE_SERVER_INPUT_COUNT; ++input) {
            check_server_row((cairn_netcode_peer)peer, input);
        }
    }
}

static cairn_netcode_drop say_to_client(actor *a, cairn_packet_type type) {
    const kit_datagram datagram = craft(a, type, false);
    return kit_to_client(&a->k, 0, &datagram);
}

static actor client_in(cairn_netcode_client_state target, uint32_t lifetime_s) {
    actor a = actor_open(lifetime_s);
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    KIT_TOKEN(token, .lifetime_s = lifetime_s);
    assert_int_equal(
        cairn_netcode_client_connect(a.k.clients[0], a.k.now_ns, KIT_UNIX_S, token), CAIRN_OK);
    if (target == CAIRN_NETCODE_STATE_DISCONNECTED) {
        cairn_netcode_client_disconnect(a.k.clients[0], a.k.now_ns);
    }
    if (target >= CAIRN_NETCODE_STATE_SENDING_RESPONSE) {
        assert_int_equal(say_to_client(&a, CAIRN_PACKET_CHALLENGE), CAIRN_NETCODE_TAKEN);
    }
    if (target >= CAIRN_NETCODE_STATE_CONNECTED) {
        assert_int_equal(say_to_client(&a, CAIRN_PACKET_KEEP_ALIVE), CAIRN_NETCODE_TAKEN);
    }
    assert_int_equal(kit_state(&a.k, 0), target);
    kit_throw_away(&a.k);
    return a;
}

static cairn_netcode_drop happen_to_client(actor *a, unsigned input) {
    if (input < CAIRN_PACKET_TYPE_COUNT) {
        return say_to_client(a, (cairn_packet_type)input);
    }
    static const uint64_t waits_ns[CAIRN_NETCODE_CLIENT_INPUT_COUNT] = {
        [CAIRN_NETCODE_CLIENT_INPUT_TIME_OUT] = 5 * KIT_S,
        [CAIRN_NETCODE_CLIENT_INPUT_EXPIRE] = 2 * KIT_S,
        [CAIRN_NETCODE_CLIENT_INPUT_SEND] = KIT_S / 10};
    a->k.now_ns += waits_ns[input];
    if (input == CAIRN_NETCODE_CLIENT_INPUT_LEAVE) {
        cairn_netcode_client_disconnect(a->k.clients[0], a->k.now_ns);
    } else {
        cairn_netcode_client_advance(a->k.clients[0], a->k.now_ns);
    }
    return CAIRN_NETCODE_TAKEN;
}

static size_t client_datagrams_of(cairn_netcode_client_action action, unsigned input) {
    static const size_t counts[CAIRN_NETCODE_CLIENT_ACTION_COUNT] = {
        [CAIRN_NETCODE_CLIENT_ANSWER] = 1,
        [CAIRN_NETCODE_CLIENT_ENTER] = 1,
        [CAIRN_NETCODE_CLIENT_DISCONNECT] = 10,
        [CAIRN_NETCODE_CLIENT_REPEAT] = 1};
    // Waiting for the token to run out is also waiting for the next packet to be sent.
    const bool waited = input == CAIRN_NETCODE_CLIENT_INPUT_EXPIRE;
    return action == CAIRN_NETCODE_CLIENT_NOTHING && waited ? 1 : counts[action];
}

static void check_client_row(cairn_netcode_client_state from, unsigned input) {
    const cairn_netcode_client_rule rule = cairn_netcode_client_rule_of(from, input);
    // The time-out is 5 s, so a token of 2 s runs out first and one of 60 s never.
    actor a = client_in(from, input == CAIRN_NETCODE_CLIENT_INPUT_EXPIRE ? 2 : 60);
    const cairn_netcode_drop drop = happen_to_client(&a, input);
    size_t size;
    const bool payload = cairn_netcode_client_next_payload(a.k.clients[0], &size) != NULL;
    const size_t datagrams =
        from == CAIRN_NETCODE_STATE_DISCONNECTED ? 0 : client_datagrams_of(rule.action, input);
    if (drop != rule.drop || kit_state(&a.k, 0) != rule.next ||
        payload != (rule.action == CAIRN_NETCODE_CLIENT_DELIVER) ||
        datagrams_waiting(&a.k) != datagrams) {
        fail_msg("%s, input %u: %s, %s", cairn_netcode_client_state_text(from), input,
            cairn_netcode_drop_text(drop), cairn_netcode_client_state_text(kit_state(&a.k, 0)));
    }
    kit_close(&a.k);
}

TEST("the client follows its state table") {
    for (int from = 0; from <= CAIRN_NETCODE_STATE_CONNECTED; ++from) {
        for (unsigned input = 0; input < CAIRN_NETCODE_CLIENT_INPUT_COUNT; ++input) {
            check_client_row((cairn_netcode_client_state)from, input);
        }
    }
}

TEST("every error state shares the row of disconnected") {
    for (int from = CAIRN_NETCODE_STATE_TOKEN_EXPIRED; from < 0; ++from) {
        for (unsigned input = 0; input < CAIRN_NETCODE_CLIENT_INPUT_COUNT; ++input) {
            const cairn_netcode_client_rule ended =
                cairn_netcode_client_rule_of((cairn_netcode_client_state)from, input);
            const cairn_netcode_client_rule disconnected =
                cairn_netcode_client_rule_of(CAIRN_NETCODE_STATE_DISCONNECTED, input);
            assert_memory_equal(&ended, &disconnected, sizeof ended);
        }
    }
}

static char document[128 * 1024];

BEFORE_ALL {
    FILE *file = fopen(CAIRN_PROTOCOL, "r");
    assert_non_null(file);
    const size_t size = fread(document, 1, sizeof document - 1, file);
    document[size] = '\0';
    fclose(file);
}

static void expect_in_document(const char *line) {
    if (strstr(document, line) == NULL) {
        fail_msg("docs/PROTOCOL.md lacks this line:\n%s", line);
    }
}

static const char *server_cell(cairn_netcode_peer peer, unsigned input, char text[96]) {
    static const char *const verbs[CAIRN_NETCODE_SERVER_ACTION_COUNT] = {
        [CAIRN_NETCODE_SERVER_ADMIT] = "admit",
        [CAIRN_NETCODE_SERVER_ACCEPT] = "accept",
        [CAIRN_NETCODE_SERVER_REFRESH] = "refresh",
        [CAIRN_NETCODE_SERVER_DELIVER] = "deliver",
        [CAIRN_NETCODE_SERVER_FORGET] = "forget",
        [CAIRN_NETCODE_SERVER_END] = "end",
        [CAIRN_NETCODE_SERVER_DISCONNECT] = "disconnect",
    };
    const cairn_netcode_server_rule rule = cairn_netcode_server_rule_of(peer, input);
    if (rule.action == CAIRN_NETCODE_SERVER_DROP) {
        snprintf(text, 96, "(%s)", cairn_netcode_drop_text(rule.drop));
    } else if (rule.action == CAIRN_NETCODE_SERVER_NOTHING) {
        snprintf(text, 96, "-");
    } else if (rule.next == peer) {
        snprintf(text, 96, "%s", verbs[rule.action]);
    } else {
        snprintf(text, 96, "%s, %s", verbs[rule.action], peer_names[rule.next]);
    }
    return text;
}

TEST("the protocol document has the server's table") {
    static const char *const others[] = {"time-out", "kick"};
    for (unsigned input = 0; input < CAIRN_NETCODE_SERVER_INPUT_COUNT; ++input) {
        char cells[CAIRN_PEER_COUNT][96];
        for (unsigned peer = 0; peer < CAIRN_PEER_COUNT; ++peer) {
            server_cell((cairn_netcode_peer)peer, input, cells[peer]);
        }
        char line[512];
        snprintf(line, sizeof line, "| %s | %s | %s | %s | %s |\n",
            input < CAIRN_PACKET_TYPE_COUNT ? packet_names[input]
                                            : others[input - CAIRN_PACKET_TYPE_COUNT],
            cells[0], cells[1], cells[2], cells[3]);
        expect_in_document(line);
    }
}

static const char *client_cell(cairn_netcode_client_state from, unsigned input, char text[96]) {
    static const char *const verbs[CAIRN_NETCODE_CLIENT_ACTION_COUNT] = {
        [CAIRN_NETCODE_CLIENT_ANSWER] = "answer",
        [CAIRN_NETCODE_CLIENT_ENTER] = "enter",
        [CAIRN_NETCODE_CLIENT_REFRESH] = "refresh",
        [CAIRN_NETCODE_CLIENT_DELIVER] = "deliver",
        [CAIRN_NETCODE_CLIENT_NEXT_SERVER] = "next server, or",
        [CAIRN_NETCODE_CLIENT_END] = "end,",
        [CAIRN_NETCODE_CLIENT_DISCONNECT] = "disconnect,",
        [CAIRN_NETCODE_CLIENT_REPEAT] = "repeat",
    };
    const cairn_netcode_client_rule rule = cairn_netcode_client_rule_of(from, input);
    if (rule.action == CAIRN_NETCODE_CLIENT_DROP) {
        snprintf(text, 96, "(%s)", cairn_netcode_drop_text(rule.drop));
    } else if (rule.action == CAIRN_NETCODE_CLIENT_NOTHING) {
        snprintf(text, 96, "-");
    } else if (rule.next == from || rule.next > 0) {
        snprintf(text, 96, "%s%s%s", verbs[rule.action], rule.next == from ? "" : ", ",
            rule.next == from ? "" : cairn_netcode_client_state_text(rule.next));
    } else {
        snprintf(text, 96, "%s %s", verbs[rule.action], cairn_netcode_client_state_text(rule.next));
    }
    return text;
}

TEST("the protocol document shows the clients table") {
    static const char *const others[] = {"time-out", "token expires", "send", "leave"};
    for (unsigned input = 0; input < CAIRN_NETCODE_CLIENT_INPUT_COUNT; ++input) {
        char cells[CAIRN_NETCODE_STATE_CONNECTED + 1][96];
        for (int from = 0; from <= CAIRN_NETCODE_STATE_CONNECTED; ++from) {
            client_cell((cairn_netcode_client_state)from, input, cells[from]);
        }
        char line[512];
        snprintf(line, sizeof line, "| %s | %s | %s | %s | %s |\n",
            input < CAIRN_PACKET_TYPE_COUNT ? packet_names[input]
                                            : others[input - CAIRN_PACKET_TYPE_COUNT],
            cells[0], cells[1], cells[2], cells[3]);
        expect_in_document(line);
    }
}
