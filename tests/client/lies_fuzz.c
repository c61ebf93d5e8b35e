// SPDX-License-Identifier: MIT
// A hostile server whose messages netcode and the link accept: messages of a real session with
// bytes overwritten, out of order, repeated, of another mode, or made up. The client drops each
// message, plays on, or fails with a text. It never asserts, reads or writes out of bounds, or
// hangs. Between the messages the host calls the client as usual.
//
// An input is the mode, then operations until it ends: see one_operation.
#include <stdlib.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "client_lib/client_parts.h"
#include "client_lib/client_probe.h"
#include "tests/client/honest_messages.h"
#include "tests/kit/exact.h"

#define MODES HONEST_MODES
#define OPERATIONS_MAX 64
#define MS_NS UINT64_C(1000000)
#define START_NS (UINT64_C(1000) * MS_NS)
#define START_UNIX_S 1700000000

static const honest_messages *honest; // by mode
static cairn_client *clients[MODES];  // that receive the hostile messages
static uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];

static void prepare(void) {
    static const uint8_t key[CAIRN_KEY_SIZE] = {1};
    static const uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE] = {2};
    const cairn_address server = {.family = CAIRN_ADDRESS_IPV4, .port = 1, .ip = {10, 0, 0, 1}};
    const cairn_token_request request = {.protocol_id = 1,
        .client_id = 1,
        .create_unix_s = START_UNIX_S,
        .lifetime_s = 3600,
        .timeout_s = -1,
        .server_addresses = &server,
        .server_count = 1,
        .private_key = key,
        .entropy = entropy};
    cairn_status status = cairn_token_issue(&request, token);
    CAIRN_ASSERT(status == CAIRN_OK);
    honest = honest_messages_capture();
    for (uint32_t mode = 0; mode < MODES; mode++) {
        const cairn_client_config config = honest_messages_config(mode);
        status = cairn_client_create(&config, &clients[mode]);
        CAIRN_ASSERT(status == CAIRN_OK && honest[mode].count > 0);
    }
}

static void host_frame(cairn_client *client, uint64_t now_ns) {
    uint8_t datagram[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_client_body bodies[64];
    cairn_client_shape shapes[64];
    float corners[CAIRN_HULL_VERTICES_MAX][3];
    cairn_client_sample sample;
    cairn_client_statistics statistics;
    const cairn_client_input input = {.buttons = (uint32_t)(now_ns / MS_NS), .move = {1, 0, 0}};
    cairn_client_push_input(client, &input);
    cairn_client_advance(client, now_ns);
    while (cairn_client_send(client, now_ns, datagram) > 0) {}
    cairn_client_sample_world(client, now_ns, bodies, 64, &sample);
    const uint32_t count = cairn_client_shapes(client, shapes, 64, NULL);
    for (uint32_t i = 0; i < count && i < 64; i++) {
        cairn_client_shape_corners(client, shapes[i].id, corners, CAIRN_HULL_VERTICES_MAX);
    }
    cairn_client_statistics_read(client, &statistics);
    CAIRN_ASSERT(cairn_client_deadline_ns(client) > 0);
}

static void deliver(cairn_client *client, uint64_t now_ns, const uint8_t *bytes, size_t size) {
    uint8_t *copy = kit_exact_copy(bytes, size);
    const cairn_link_message message = {.bytes = copy, .size = size};
    cairn_client_take_message(client, now_ns, &message);
    free(copy);
}

// A message of the session of any mode, with up to three of its bytes overwritten.
static void deliver_damaged(
    cairn_client *client, uint64_t now_ns, uint32_t mode, uint32_t edits, cairn_reader *input) {
    const honest_messages *from = &honest[mode];
    const cairn_link_message original = from->list[cairn_read_u8(input) % from->count];
    uint8_t *bytes = kit_exact_copy(original.bytes, original.size);
    for (uint32_t i = 0; i < edits; i++) {
        const uint32_t at = cairn_read_u16(input);
        bytes[at % original.size] = cairn_read_u8(input);
    }
    deliver(client, now_ns, bytes, original.size);
    free(bytes);
}

static void one_operation(
    cairn_client *client, uint32_t mode, uint64_t *now_ns, cairn_reader *input) {
    const uint32_t code = cairn_read_u8(input);
    const uint32_t edits = (code >> 3) % 4;
    uint8_t bytes[256];
    switch (code % 8) {
    case 5: // of another mode
        deliver_damaged(client, *now_ns, (mode + 1 + code / 32) % MODES, edits, input);
        break;
    case 6: { // made up
        const size_t size = cairn_read_u8(input);
        cairn_read_bytes(input, bytes, size);
        deliver(client, *now_ns, bytes, size);
        break;
    }
    case 7:
        *now_ns += (uint64_t)cairn_read_u8(input) * 4 * MS_NS;
        host_frame(client, *now_ns);
        break;
    default:
        deliver_damaged(client, *now_ns, mode, edits, input);
        break;
    }
}

// Before the first input, so that the session does not count as the time of one.
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    prepare();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint64_t now_ns = START_NS;
    cairn_reader input = cairn_reader_of(data, size);
    const uint32_t mode = cairn_read_u8(&input) % MODES;
    cairn_client *client = clients[mode];
    const bool begun = cairn_client_connect(client, now_ns, START_UNIX_S + 1, token);
    CAIRN_ASSERT(begun);
    cairn_connection_apply_event(
        cairn_client_probe_of(client).connection, CAIRN_CONNECTION_CONNECTED, "");
    for (uint32_t i = 0; i < OPERATIONS_MAX && cairn_reader_left(&input) > 0; i++) {
        one_operation(client, mode, &now_ns, &input);
    }
    now_ns += 20 * MS_NS;
    host_frame(client, now_ns);
    const cairn_client_state state = cairn_client_state_read(client);
    CAIRN_ASSERT(state == CAIRN_CLIENT_JOINING || state == CAIRN_CLIENT_PLAYING ||
                 state == CAIRN_CLIENT_FAILED);
    CAIRN_ASSERT((state == CAIRN_CLIENT_FAILED) == (cairn_client_failure_text(client)[0] != '\0'));
    return 0;
}
