// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <stdio.h>
#include <string.h>

#include "net/netcode_table.h"
#include "proto_tests/net/netcode_kit.h"

// Tests each rule of both tables on a real endpoint: brings it into the state, applies the input,
// and compares its action and its next state with the table. Whether the table itself is right is
// for its readers to check: docs/PROTOCOL.md must contain it letter by letter.

static const char *const packet_names[CAIRN_PACKET_TYPE_COUNT] = {
    "request", "denied", "challenge", "response", "keep-alive", "payload", "disconnect"};
static const char *const peer_names[CAIRN_PEER_COUNT] = {
    "unknown", "pending", "unconfirmed", "confirmed"};

// One side of a connection, played by hand.
typedef struct actor {
    kit k;
    kit_peer peer;
    uint64_t sequence;
} actor;

static cairn_netcode_drop send_to_server(actor *a, cairn_packet_type type) {
    kit_datagram datagram = kit_packet(&a->peer, false, type, a->sequence++, 5);
    datagram.from = a->k.client_addresses[0];
    const cairn_netcode_drop drop = kit_to_server(&a->k, datagram);
    kit_take_events(&a->k);
    return drop;
}

static cairn_netcode_drop send_to_client(actor *a, cairn_packet_type type) {
    kit_datagram datagram = kit_packet(&a->peer, true, type, a->sequence++, 5);
    datagram.from = a->k.server_address;
    return kit_to_client(&a->k, 0, datagram);
}

static actor peer_in(cairn_netcode_peer peer) {
    actor a = {.k = kit_open(4), .peer.token = kit_token_public(&(kit_token_fields){.seed = 1})};
    if (peer >= CAIRN_PEER_PENDING) {
        assert_int_equal(send_to_server(&a, CAIRN_PACKET_REQUEST), CAIRN_NETCODE_TAKEN);
        const kit_datagram challenge = kit_from_server(&a.k);
        assert_true(kit_learn_challenge(&a.peer, &challenge));
    }
    if (peer >= CAIRN_PEER_UNCONFIRMED) {
        assert_int_equal(send_to_server(&a, CAIRN_PACKET_RESPONSE), CAIRN_NETCODE_TAKEN);
    }
    if (peer >= CAIRN_PEER_CONFIRMED) {
        assert_int_equal(send_to_server(&a, CAIRN_PACKET_KEEP_ALIVE), CAIRN_NETCODE_TAKEN);
    }
    kit_discard_all(&a.k);
    return a;
}

// The state as it is visible from outside. Asking changes it.
static cairn_netcode_peer visible_state(actor *a) {
    kit_discard_all(&a->k);
    if (cairn_netcode_server_connected(a->k.server, 0)) {
        kit_server_payload(&a->k, 0, 10);
        return kit_from_server(&a->k).size > 0 ? CAIRN_PEER_UNCONFIRMED : CAIRN_PEER_CONFIRMED;
    }
    const cairn_netcode_drop drop = send_to_server(a, CAIRN_PACKET_KEEP_ALIVE);
    return drop == CAIRN_NETCODE_DROP_WRONG_STATE ? CAIRN_PEER_PENDING : CAIRN_PEER_UNKNOWN;
}

static cairn_netcode_drop apply_to_server(actor *a, unsigned input) {
    if (input < CAIRN_PACKET_TYPE_COUNT) {
        return send_to_server(a, (cairn_packet_type)input);
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

typedef struct effect {
    size_t datagrams;
    size_t events;
} effect;

static void check_server_row(cairn_netcode_peer peer, unsigned input) {
    static const effect effects[CAIRN_NETCODE_SERVER_ACTION_COUNT] = {
        [CAIRN_NETCODE_SERVER_ADMIT] = {1, 0},
        [CAIRN_NETCODE_SERVER_ACCEPT] = {1, 1},
        [CAIRN_NETCODE_SERVER_DELIVER] = {0, 1},
        [CAIRN_NETCODE_SERVER_END] = {0, 1},
        [CAIRN_NETCODE_SERVER_DISCONNECT] = {10, 1}};
    const cairn_netcode_server_rule rule = cairn_netcode_server_rule_of(peer, input);
    actor a = peer_in(peer);
    const size_t events = a.k.event_count;
    const cairn_netcode_drop drop = apply_to_server(&a, input);
    effect expected = effects[rule.action];
    cairn_netcode_drop expected_drop = rule.drop;
    if (rule.action == CAIRN_NETCODE_SERVER_ADMIT && peer >= CAIRN_PEER_UNCONFIRMED) {
        expected = (effect){0, 0};
        expected_drop = CAIRN_NETCODE_DROP_ADDRESS_CONNECTED;
    }
    if (drop != expected_drop || a.k.event_count - events != expected.events ||
        kit_discard_all(&a.k) != expected.datagrams || visible_state(&a) != rule.next) {
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

static actor client_in(cairn_netcode_client_state target, uint32_t lifetime_s) {
    const kit_token_fields fields = {.lifetime_s = lifetime_s};
    actor a = {.k = kit_open(4), .peer.token = kit_token_public(&fields)};
    assert_int_equal(kit_connect_with(&a.k, 0, &fields), CAIRN_OK);
    if (target == CAIRN_NETCODE_STATE_DISCONNECTED) {
        cairn_netcode_client_disconnect(a.k.clients[0], a.k.now_ns);
    }
    if (target >= CAIRN_NETCODE_STATE_SENDING_RESPONSE) {
        assert_int_equal(send_to_client(&a, CAIRN_PACKET_CHALLENGE), CAIRN_NETCODE_TAKEN);
    }
    if (target >= CAIRN_NETCODE_STATE_CONNECTED) {
        assert_int_equal(send_to_client(&a, CAIRN_PACKET_KEEP_ALIVE), CAIRN_NETCODE_TAKEN);
    }
    assert_int_equal(kit_state(&a.k, 0), target);
    kit_discard_all(&a.k);
    return a;
}

static cairn_netcode_drop apply_to_client(actor *a, unsigned input) {
    if (input < CAIRN_PACKET_TYPE_COUNT) {
        return send_to_client(a, (cairn_packet_type)input);
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

static void check_client_row(cairn_netcode_client_state from, unsigned input) {
    static const size_t counts[CAIRN_NETCODE_CLIENT_ACTION_COUNT] = {
        [CAIRN_NETCODE_CLIENT_ANSWER] = 1,
        [CAIRN_NETCODE_CLIENT_ENTER] = 1,
        [CAIRN_NETCODE_CLIENT_DISCONNECT] = 10,
        [CAIRN_NETCODE_CLIENT_REPEAT] = 1};
    const cairn_netcode_client_rule rule = cairn_netcode_client_rule_of(from, input);
    // The time-out is 5 s, so a token of 2 s runs out first and one of 60 s never.
    actor a = client_in(from, input == CAIRN_NETCODE_CLIENT_INPUT_EXPIRE ? 2 : 60);
    const cairn_netcode_drop drop = apply_to_client(&a, input);
    size_t size;
    const bool payload = cairn_netcode_client_next_payload(a.k.clients[0], &size) != NULL;
    // A token that expires in CONNECTED ends nothing, but the client has heard nothing for so long
    // that it says, twice, where it is, besides its keep-alive.
    const bool due =
        from == CAIRN_NETCODE_STATE_CONNECTED && input == CAIRN_NETCODE_CLIENT_INPUT_EXPIRE;
    const size_t datagrams = due ? 3 : counts[rule.action];
    if (drop != rule.drop || kit_state(&a.k, 0) != rule.next ||
        payload != (rule.action == CAIRN_NETCODE_CLIENT_DELIVER) ||
        kit_discard_all(&a.k) != datagrams) {
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

TEST("every error state follows the row of DISCONNECTED") {
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

// "(reason)" of a drop, "-", "verb", or "verb, next state".
static void print_cell(
    char cell[96], const char *drop, const char *verb, const char *separator, const char *next) {
    if (drop != NULL) {
        snprintf(cell, 96, "(%s)", drop);
    } else {
        snprintf(cell, 96, "%s%s%s", verb != NULL ? verb : "-", next != NULL ? separator : "",
            next != NULL ? next : "");
    }
}

static void expect_line(unsigned input, const char *const *others, char cells[4][96]) {
    char line[512];
    snprintf(line, sizeof line, "| %s | %s | %s | %s | %s |\n",
        input < CAIRN_PACKET_TYPE_COUNT ? packet_names[input]
                                        : others[input - CAIRN_PACKET_TYPE_COUNT],
        cells[0], cells[1], cells[2], cells[3]);
    if (strstr(document, line) == NULL) {
        fail_msg("docs/PROTOCOL.md lacks this line of a state table:\n%s", line);
    }
}

TEST("the protocol document has the state table of the server") {
    static const char *const others[] = {"time-out", "kick"};
    static const char *const verbs[CAIRN_NETCODE_SERVER_ACTION_COUNT] = {
        [CAIRN_NETCODE_SERVER_ADMIT] = "admit",
        [CAIRN_NETCODE_SERVER_ACCEPT] = "accept",
        [CAIRN_NETCODE_SERVER_REFRESH] = "refresh",
        [CAIRN_NETCODE_SERVER_DELIVER] = "deliver",
        [CAIRN_NETCODE_SERVER_FORGET] = "forget",
        [CAIRN_NETCODE_SERVER_END] = "end",
        [CAIRN_NETCODE_SERVER_DISCONNECT] = "disconnect"};
    for (unsigned input = 0; input < CAIRN_NETCODE_SERVER_INPUT_COUNT; ++input) {
        char cells[CAIRN_PEER_COUNT][96];
        for (unsigned peer = 0; peer < CAIRN_PEER_COUNT; ++peer) {
            const cairn_netcode_server_rule rule =
                cairn_netcode_server_rule_of((cairn_netcode_peer)peer, input);
            const bool drop = rule.action == CAIRN_NETCODE_SERVER_DROP;
            print_cell(cells[peer], drop ? cairn_netcode_drop_text(rule.drop) : NULL,
                verbs[rule.action], ", ", rule.next == peer ? NULL : peer_names[rule.next]);
        }
        expect_line(input, others, cells);
    }
}

TEST("the protocol document has the state table of the client") {
    static const char *const others[] = {"time-out", "token expires", "send", "leave"};
    static const char *const verbs[CAIRN_NETCODE_CLIENT_ACTION_COUNT] = {
        [CAIRN_NETCODE_CLIENT_ANSWER] = "answer",
        [CAIRN_NETCODE_CLIENT_ENTER] = "enter",
        [CAIRN_NETCODE_CLIENT_REFRESH] = "refresh",
        [CAIRN_NETCODE_CLIENT_DELIVER] = "deliver",
        [CAIRN_NETCODE_CLIENT_NEXT_SERVER] = "next server",
        [CAIRN_NETCODE_CLIENT_END] = "end",
        [CAIRN_NETCODE_CLIENT_DISCONNECT] = "disconnect",
        [CAIRN_NETCODE_CLIENT_REPEAT] = "repeat"};
    for (unsigned input = 0; input < CAIRN_NETCODE_CLIENT_INPUT_COUNT; ++input) {
        char cells[CAIRN_NETCODE_STATE_CONNECTED + 1][96];
        for (int from = 0; from <= CAIRN_NETCODE_STATE_CONNECTED; ++from) {
            const cairn_netcode_client_rule rule =
                cairn_netcode_client_rule_of((cairn_netcode_client_state)from, input);
            const bool drop = rule.action == CAIRN_NETCODE_CLIENT_DROP;
            const bool server = rule.action == CAIRN_NETCODE_CLIENT_NEXT_SERVER;
            print_cell(cells[from], drop ? cairn_netcode_drop_text(rule.drop) : NULL,
                verbs[rule.action], server ? ", or " : ", ",
                rule.next == from ? NULL : cairn_netcode_client_state_text(rule.next));
        }
        expect_line(input, others, cells);
    }
}
