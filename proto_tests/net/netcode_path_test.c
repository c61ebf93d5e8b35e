// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include "net/packet.h"
#include "proto_tests/net/netcode_kit.h"

// A client whose address changes, and those who would use that (docs/PROTOCOL.md, Paths that
// change).

#define MS (KIT_S / 1000)

SCOPE_ENDS(kit, kit_close)

static cairn_address attackers_address(void) {
    return kit_address("10.9.9.9:666");
}

// Client 0 is connected and confirmed, and nothing is on its way. It has moved to another port.
static kit open_moved(void) {
    kit k = kit_open_joined(2);
    kit_run(&k, KIT_S);
    kit_discard_all(&k);
    k.client_addresses[0].port += 1;
    k.now_ns += KIT_S / 2;
    return k;
}

static kit_datagram path_request(kit *k) {
    cairn_netcode_client_path_changed(k->clients[0], k->now_ns);
    const kit_datagram request = kit_from_client(k, 0);
    assert_int_equal(request.bytes[0] & 15, CAIRN_PACKET_PATH_REQUEST);
    kit_discard_from_client(k, 0);
    return request;
}

// The challenge, which must be next.
static kit_datagram path_challenge(kit *k) {
    const kit_datagram challenge = kit_from_server(k);
    assert_int_equal(challenge.bytes[0] & 15, CAIRN_PACKET_PATH_CHALLENGE);
    return challenge;
}

static bool goes_to(const kit_datagram *datagram, const cairn_address *address) {
    return cairn_address_equal(&datagram->to, address);
}

TEST("a client that moved is heard at once and proves its address") {
    SCOPED(kit) k = open_moved();
    const cairn_address here = k.client_addresses[0];
    assert_int_equal(
        kit_to_server(&k, kit_client_payload(&k, 0, 10)), CAIRN_NETCODE_DROP_UNKNOWN_SENDER);
    const kit_datagram request = path_request(&k);
    assert_int_equal(kit_to_server(&k, request), CAIRN_NETCODE_TAKEN);
    assert_int_equal(cairn_netcode_server_take_move(k.server), 0);
    assert_int_equal(cairn_netcode_server_take_move(k.server), UINT32_MAX);
    assert_int_equal(kit_to_server(&k, kit_client_payload(&k, 0, 10)), CAIRN_NETCODE_TAKEN);
    const kit_datagram challenge = path_challenge(&k);
    assert_true(goes_to(&challenge, &here));
    assert_int_equal(kit_to_client(&k, 0, challenge), CAIRN_NETCODE_TAKEN);
    assert_int_equal(cairn_netcode_client_moves(k.clients[0]), 1);
    const kit_datagram response = kit_from_client(&k, 0);
    assert_int_equal(kit_to_server(&k, response), CAIRN_NETCODE_TAKEN);
    kit_discard_from_server(&k);
    for (int i = 0; i < 20; i++) {
        const kit_datagram payload = kit_server_payload(&k, 0, 1200);
        assert_true(goes_to(&payload, &here));
    }
    assert_int_equal(kit_to_server(&k, response), CAIRN_NETCODE_DROP_REPLAYED);
}

TEST("a client that moved is named at its new address when it has proved it") {
    SCOPED(kit) k = open_moved();
    cairn_address named[KIT_CLIENTS_MAX];
    const uint64_t before = cairn_netcode_server_address_changes(k.server);
    assert_int_equal(kit_to_server(&k, path_request(&k)), CAIRN_NETCODE_TAKEN);
    assert_int_equal(cairn_netcode_server_addresses(k.server, named), 1);
    assert_false(cairn_address_equal(&named[0], &k.client_addresses[0]));
    assert_int_equal(cairn_netcode_server_address_changes(k.server), before);
    assert_int_equal(kit_to_client(&k, 0, path_challenge(&k)), CAIRN_NETCODE_TAKEN);
    assert_int_equal(kit_to_server(&k, kit_from_client(&k, 0)), CAIRN_NETCODE_TAKEN);
    assert_int_equal(cairn_netcode_server_addresses(k.server, named), 1);
    assert_true(cairn_address_equal(&named[0], &k.client_addresses[0]));
    assert_true(cairn_netcode_server_address_changes(k.server) > before);
}

TEST("an address that was not proved is sent no more than came from it") {
    SCOPED(kit) k = open_moved();
    const cairn_address here = k.client_addresses[0];
    size_t received = 0;
    size_t sent = 0;
    for (int round = 0; round < 5; round++) {
        k.now_ns += KIT_S / 10;
        const kit_datagram request = path_request(&k);
        assert_int_equal(kit_to_server(&k, request), CAIRN_NETCODE_TAKEN);
        received += request.size;
        for (kit_datagram d; (d = kit_from_server(&k)).size > 0;) {
            sent += goes_to(&d, &here) ? d.size : 0;
        }
        for (int i = 0; i < 10; i++) {
            const kit_datagram payload = kit_server_payload(&k, 0, 500);
            sent += goes_to(&payload, &here) ? payload.size : 0;
        }
        assert_true(sent > 0 && sent <= received);
    }
    // Nobody answered: after three seconds the address is nobody's again.
    k.now_ns += 3 * KIT_S;
    assert_int_equal(
        kit_to_server(&k, kit_client_payload(&k, 0, 10)), CAIRN_NETCODE_DROP_UNKNOWN_SENDER);
}

TEST("who saw a path request cannot use it") {
    SCOPED(kit) k = open_moved();
    const cairn_address here = k.client_addresses[0];
    kit_datagram held_back =
        path_request(&k); // never delivered by the attacker, who is on the path
    k.now_ns += KIT_S / 10;
    kit_datagram request = path_request(&k);
    assert_int_equal(kit_to_server(&k, request), CAIRN_NETCODE_TAKEN);
    const kit_datagram challenge = path_challenge(&k);
    // A copy from another address; one that was held back; one with a bit changed; another
    // client's.
    request.from = attackers_address();
    assert_int_equal(kit_to_server(&k, request), CAIRN_NETCODE_DROP_REPLAYED);
    held_back.from = attackers_address();
    assert_int_equal(kit_to_server(&k, held_back), CAIRN_NETCODE_DROP_PATH_OLD);
    k.now_ns += KIT_S / 10;
    kit_datagram changed = path_request(&k);
    changed.bytes[100] ^= 1;
    assert_int_equal(kit_to_server(&k, changed), CAIRN_NETCODE_DROP_DECRYPT);
    changed.bytes[100] ^= 1;
    changed.bytes[changed.size - 4] = 1; // the index of a free slot
    assert_int_equal(kit_to_server(&k, changed), CAIRN_NETCODE_DROP_UNKNOWN_SENDER);
    memset(&changed.bytes[changed.size - 4], 0xff, 4);
    assert_int_equal(kit_to_server(&k, changed), CAIRN_NETCODE_DROP_UNKNOWN_SENDER);
    changed.size -= 1;
    assert_int_not_equal(kit_to_server(&k, changed), CAIRN_NETCODE_TAKEN);
    // The response counts from the address that was challenged alone.
    assert_int_equal(kit_to_client(&k, 0, challenge), CAIRN_NETCODE_TAKEN);
    kit_datagram response = kit_from_client(&k, 0);
    response.from = attackers_address();
    assert_int_equal(kit_to_server(&k, response), CAIRN_NETCODE_DROP_PATH_RESPONSE);
    const kit_datagram payload = kit_server_payload(&k, 0, 100);
    assert_true(goes_to(&payload, &here));
}

TEST("a response with a wrong number proves no address") {
    SCOPED(kit) k = kit_open(2);
    const kit_token_fields fields = {.client_id = 1, .seed = k.now_ns + 1};
    const kit_peer peer = {.token = kit_token_public(&fields)};
    kit_join(&k, 0);
    kit_discard_all(&k);
    k.client_addresses[0].port += 1;
    k.now_ns += KIT_S / 2;
    const cairn_address here = k.client_addresses[0];
    assert_int_equal(kit_to_server(&k, path_request(&k)), CAIRN_NETCODE_TAKEN);
    const kit_datagram challenge = path_challenge(&k);
    kit_datagram guess = kit_packet(&peer, false, CAIRN_PACKET_PATH_RESPONSE, 100, 0); // number 0
    guess.size += CAIRN_PACKET_INDEX_SIZE;                                             // of slot 0
    guess.from = here;
    assert_int_equal(kit_to_server(&k, guess), CAIRN_NETCODE_DROP_PATH_RESPONSE);
    kit_datagram payload = kit_server_payload(&k, 0, 1200); // more than came from there
    assert_false(goes_to(&payload, &here));
    assert_int_equal(kit_to_client(&k, 0, challenge), CAIRN_NETCODE_TAKEN);
    assert_int_equal(kit_to_server(&k, kit_from_client(&k, 0)), CAIRN_NETCODE_TAKEN);
    kit_discard_from_server(&k);
    payload = kit_server_payload(&k, 0, 1200);
    assert_true(goes_to(&payload, &here));
}

TEST("a client that heard nothing says where it is although it did not move") {
    SCOPED(kit) k = kit_open_joined(2);
    kit_run(&k, KIT_S);
    kit_discard_all(&k);
    const cairn_address here = k.client_addresses[0];
    k.now_ns += KIT_S / 4;
    cairn_netcode_client_advance(k.clients[0], k.now_ns);
    uint32_t requests = 0;
    for (kit_datagram d; (d = kit_from_client(&k, 0)).size > 0;) {
        requests += (d.bytes[0] & 15) == CAIRN_PACKET_PATH_REQUEST ? 1 : 0;
        assert_int_equal(kit_to_server(&k, d), CAIRN_NETCODE_TAKEN);
    }
    assert_int_equal(requests, 2);
    assert_int_equal(cairn_netcode_server_take_move(k.server), UINT32_MAX);
    assert_int_equal(kit_discard_from_server(&k), 0); // no answer: the next datagram is one
    const kit_datagram payload = kit_server_payload(&k, 0, 1200);
    assert_true(goes_to(&payload, &here));
}

// Path requests do not stand for them: a server without paths that change drops those.
TEST("a client that hears nothing sends as many keep-alives as ever") {
    SCOPED(kit) k = kit_open_joined(2);
    kit_run(&k, KIT_S);
    kit_discard_all(&k);
    uint32_t keep_alives = 0;
    for (uint32_t i = 0; i < 200; ++i) {
        k.now_ns += 10 * MS;
        cairn_netcode_client_advance(k.clients[0], k.now_ns);
        for (kit_datagram d; (d = kit_from_client(&k, 0)).size > 0;) {
            keep_alives += (d.bytes[0] & 15) == CAIRN_PACKET_KEEP_ALIVE ? 1 : 0;
        }
    }
    assert_in_range(keep_alives, 18, 20);
}

TEST("an address that is another client's is not taken") {
    SCOPED(kit) k = kit_open(2);
    kit_join(&k, 0);
    kit_join(&k, 1);
    kit_run(&k, KIT_S);
    kit_discard_all(&k);
    k.now_ns += KIT_S / 2;
    kit_datagram request = path_request(&k);
    request.from = k.client_addresses[1];
    assert_int_equal(kit_to_server(&k, request), CAIRN_NETCODE_DROP_ADDRESS_CONNECTED);
    assert_int_equal(kit_to_server(&k, kit_client_payload(&k, 1, 10)), CAIRN_NETCODE_TAKEN);
}

TEST("a challenge to a client that is not connected is dropped") {
    SCOPED(kit) k = open_moved();
    assert_int_equal(kit_to_server(&k, path_request(&k)), CAIRN_NETCODE_TAKEN);
    const kit_datagram challenge = path_challenge(&k);
    cairn_netcode_client_disconnect(k.clients[0], k.now_ns);
    assert_int_equal(kit_to_client(&k, 0, challenge), CAIRN_NETCODE_DROP_WRONG_STATE);
}

TEST("a client asks for its path at most once in 50 milliseconds") {
    SCOPED(kit) k = open_moved();
    (void)path_request(&k);
    k.now_ns += 50 * MS - 1;
    cairn_netcode_client_path_changed(k.clients[0], k.now_ns);
    assert_int_equal(kit_discard_from_client(&k, 0), 0);
    k.now_ns += 1;
    (void)path_request(&k);
}
