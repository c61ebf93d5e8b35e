// SPDX-License-Identifier: MIT
// A whole client against a hostile server that holds the key: netcode, link and messages. The
// server does what the input says, in any order: messages of a real session, in order or not, with
// members changed; samples of every kind; bytes; payloads that lie in the link; acks withheld;
// disconnects. The client never asserts, leaks, takes more memory than its config allows, or steps
// more ticks in one call than its budget.
//
// An input is a byte for the client's mode, then records of SCRIPT_RECORD_SIZE bytes: an action, a
// parameter, and choices for the rest.
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "client_lib/client_probe.h"
#include "net/link.h"
#include "net/netcode_server.h"
#include "proto_tests/schema/mutate.h"
#include "proto_tests/schema/samples.h"
#include "tests/client/honest_messages.h"
#include "tests/kit/exact.h"
#include "tests/kit/script.h"
#include <cairn/control.h>
#include <cairn/sim.h>

#define TOKENS 3
#define MS_NS UINT64_C(1000000)
#define START_NS (UINT64_C(5000) * MS_NS)
#define START_UNIX_S UINT64_C(1000000)
#define STEP_NS (UINT64_C(8) * MS_NS)
#define STEPS_PER_CALL_MAX 64
// The world of a state may take ten times its bytes, most of it what the solver computes with, and
// the client has a few worlds.
#define MEMORY_MAX (UINT64_C(48) << 20)

static struct {
    uint64_t now_ns;
    uint64_t clock_ns; // that the client reads: each call costs some
    cairn_netcode_server *server;
    cairn_client *client;
    uint32_t mode;
    uint32_t cursor; // the next message in order
    uint32_t steps;  // of the client's world, in this call
    bool connected;
    bool deaf;
    const uint8_t *last; // message that was sent
    size_t last_size;
    uint8_t sent[16 * 1024];
} s;

static const honest_messages *honest; // by mode
static cairn_link *link;              // the server's
static cairn_encoder *encoder;
static mutation mutated;
static uint8_t tokens[TOKENS][CAIRN_CONNECT_TOKEN_SIZE];
static const uint8_t private_key[CAIRN_KEY_SIZE] = {1, 2, 3};
static const uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE] = {4, 5, 6};
static const cairn_address server_address = {
    .family = CAIRN_ADDRESS_IPV4, .port = 40000, .ip = {10, 0, 0, 1}};
static const cairn_address client_address = {
    .family = CAIRN_ADDRESS_IPV4, .port = 50000, .ip = {10, 0, 0, 2}};

static uint64_t read_clock(void *context) {
    (void)context;
    return s.clock_ns += 100000;
}

static void on_step(void *context, const struct cairn_world *world, const cairn_client_step *step) {
    (void)context;
    CAIRN_ASSERT(cairn_world_tick(world) == step->tick + 1);
    s.steps += 1;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    honest = honest_messages_capture();
    cairn_link_config config = cairn_link_config_default();
    CAIRN_ASSERT(cairn_link_create(&config, 0, &link) == CAIRN_OK);
    CAIRN_ASSERT(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &encoder) == CAIRN_OK);
    for (uint32_t i = 0; i < TOKENS; ++i) {
        uint8_t random[CAIRN_TOKEN_ENTROPY_SIZE] = {(uint8_t)(i + 1)};
        const cairn_token_request request = {.protocol_id = 1,
            .client_id = i + 1,
            .create_unix_s = START_UNIX_S,
            .lifetime_s = 600,
            .timeout_s = 5,
            .server_addresses = &server_address,
            .server_count = 1,
            .private_key = private_key,
            .entropy = random};
        CAIRN_ASSERT(cairn_token_issue(&request, tokens[i]) == CAIRN_OK);
    }
    return 0;
}

static void begin(uint32_t mode) {
    cairn_netcode_server_config server = cairn_netcode_server_config_default();
    cairn_client_config config = honest_messages_config(mode);
    s.now_ns = START_NS;
    s.mode = mode;
    s.cursor = 0;
    s.connected = false;
    s.deaf = false;
    s.last_size = 0;
    server.protocol_id = 1;
    server.private_key = private_key;
    server.entropy = entropy;
    server.public_addresses = &server_address;
    server.public_address_count = 1;
    server.clients_max = 1;
    server.start_ns = s.now_ns;
    server.start_unix_ns = START_UNIX_S * CAIRN_NS_PER_S;
    server.token_lifetime_s_max = 0;
    CAIRN_ASSERT(cairn_netcode_server_create(&server, &s.server) == CAIRN_OK);
    config.on_step = on_step;
    config.clock_ns = read_clock;
    CAIRN_ASSERT(cairn_client_create(&config, &s.client) == CAIRN_OK);
    cairn_link_reset(link, s.now_ns);
}

static void expect_bounded_steps(void) {
    CAIRN_ASSERT(s.steps <= STEPS_PER_CALL_MAX);
    s.steps = 0;
}

static void connect(uint32_t token) {
    const bool begun =
        cairn_client_connect(s.client, s.now_ns, START_UNIX_S + 1, tokens[token % TOKENS]);
    CAIRN_ASSERT(begun);
    expect_bounded_steps();
}

static void take_events(void) {
    cairn_netcode_event event;
    cairn_link_message message;
    while (cairn_netcode_server_next_event(s.server, &event)) {
        if (event.kind == CAIRN_NETCODE_PAYLOAD && !s.deaf) {
            cairn_link_receive(link, s.now_ns, event.payload, event.payload_size);
            while (cairn_link_next_message(link, &message)) {}
        } else if (event.kind == CAIRN_NETCODE_CONNECTED) {
            cairn_link_reset(link, s.now_ns);
            s.connected = true;
        } else if (event.kind == CAIRN_NETCODE_DISCONNECTED) {
            s.connected = false;
        }
    }
}

static void to_client(const uint8_t *bytes, size_t size) {
    cairn_client_receive(s.client, s.now_ns, &server_address, bytes, size);
    expect_bounded_steps();
}

static void send_payload(const uint8_t *payload, size_t size) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address to;
    size = cairn_netcode_server_encrypt(s.server, s.now_ns, 0, payload, size, &to, bytes);
    if (size > 0) {
        to_client(bytes, size);
    }
}

static void flush(void) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    cairn_address to;
    size_t size;
    cairn_netcode_server_advance(s.server, s.now_ns);
    take_events();
    while ((size = cairn_netcode_server_next_datagram(s.server, &to, bytes)) > 0) {
        to_client(bytes, size);
    }
    while (s.connected && (size = cairn_link_next_payload(link, s.now_ns, payload)) > 0) {
        send_payload(payload, size);
    }
}

static void host_frame(uint64_t step_ns) {
    cairn_client_body bodies[64];
    cairn_client_shape shapes[64];
    cairn_client_event events[16];
    float corners[CAIRN_HULL_VERTICES_MAX][3];
    cairn_client_sample sample;
    cairn_client_statistics statistics;
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    size_t size;
    s.now_ns += step_ns;
    const cairn_client_input input = {.buttons = (uint32_t)(s.now_ns / (64 * MS_NS)) % 4};
    cairn_client_push_input(s.client, &input);
    cairn_client_advance(s.client, s.now_ns);
    expect_bounded_steps();
    while ((size = cairn_client_send(s.client, s.now_ns, bytes)) > 0) {
        cairn_netcode_server_receive(s.server, s.now_ns, &client_address, bytes, size);
        take_events();
    }
    cairn_client_sample_world(s.client, s.now_ns, bodies, 64, &sample);
    cairn_client_events(s.client, events, 16);
    const uint32_t count = cairn_client_shapes(s.client, shapes, 64, NULL);
    for (uint32_t i = 0; i < count && i < 64; i++) {
        cairn_client_mesh mesh;
        cairn_client_shape_corners(s.client, shapes[i].id, corners, CAIRN_HULL_VERTICES_MAX);
        cairn_client_mesh_info(s.client, shapes[i].mesh, &mesh, NULL);
    }
    cairn_client_statistics_read(s.client, &statistics);
    CAIRN_ASSERT(cairn_client_deadline_ns(s.client) > 0);
    flush();
}

static void send_bytes(const uint8_t *bytes, size_t size, bool reliable) {
    if (size == 0) {
        return;
    }
    if (size <= sizeof s.sent) {
        memmove(s.sent, bytes, size);
        s.last_size = size;
    }
    if (reliable) {
        cairn_link_send_reliable(link, bytes, size);
    } else {
        cairn_link_send_unreliable(link, bytes, size);
    }
    flush();
}

// Changes as many members as the top bits of the parameter say, and sends it; as it was if the
// encoder refuses the change.
static void send_message(uint8_t parameter, cairn_message *message, bool reliable) {
    const cairn_message before = *message;
    const uint8_t *bytes;
    size_t size;
    for (uint32_t i = 0; i < parameter >> 6; ++i) {
        mutate_message(&mutated, message);
    }
    if (cairn_message_encode(encoder, message, &bytes, &size) == CAIRN_OK ||
        cairn_message_encode(encoder, &before, &bytes, &size) == CAIRN_OK) {
        send_bytes(bytes, size, reliable);
    }
}

static void send_honest(uint8_t parameter, uint32_t mode, uint32_t number) {
    const honest_messages *from = &honest[mode];
    const cairn_link_message *chosen = &from->list[number % from->count];
    cairn_message message;
    const cairn_decode_refusal refusal =
        cairn_message_decode(chosen->bytes, chosen->size, CAIRN_TO_CLIENT, &message);
    CAIRN_ASSERT(refusal == CAIRN_DECODE_OK);
    send_message(parameter, &message, chosen->reliable);
}

static void send_sample(uint8_t parameter) {
    const uint32_t kind = 1 + cairn_read_u8(&mutated.choices) % (CAIRN_MESSAGE_KIND_COUNT - 1);
    cairn_message message = sample_message((cairn_message_kind)kind);
    if (kind == CAIRN_MESSAGE_ANSWER) {
        message.answer = sample_control_answer(
            1 + cairn_read_u8(&mutated.choices) % (CAIRN_CONTROL_VERB_COUNT - 1));
    }
    send_message(parameter, &message, (parameter & 1) != 0);
}

// A payload of the link with some bytes changed: header, acks, fragments, the stream.
static void send_lying_payload(uint8_t parameter) {
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX] = {0};
    size_t size = 0;
    if (s.last_size > 0) {
        cairn_link_send_unreliable(link, s.sent, s.last_size);
        size = cairn_link_next_payload(link, s.now_ns, payload);
    }
    if (size == 0 || (parameter & 1) != 0) {
        payload[0] = 1 + cairn_read_u8(&mutated.choices) % 4;
        payload[1] = 255;
        cairn_read_bytes(&mutated.choices, payload + 4, 4);
        size = 16 + 8u * ((uint32_t)parameter >> 2);
        cairn_read_bytes(&mutated.choices, payload + 16, 8);
    } else {
        for (uint32_t i = 0; i < 1u + (parameter >> 6); ++i) {
            const size_t at = cairn_read_u8(&mutated.choices) % (size < 40 ? size : 40);
            payload[at] = cairn_read_u8(&mutated.choices);
        }
    }
    send_payload(payload, size);
}

static void send_raw(uint8_t parameter) {
    uint8_t bytes[64];
    const size_t size = 1 + cairn_read_u8(&mutated.choices) % sizeof bytes;
    cairn_read_bytes(&mutated.choices, bytes, size);
    send_bytes(bytes, size, (parameter & 1) != 0);
}

// A byte of the last message is changed behind the encoder's back.
static void send_spoiled(uint8_t parameter) {
    if (s.last_size > 0) {
        s.sent[cairn_read_u16(&mutated.choices) % s.last_size] = cairn_read_u8(&mutated.choices);
        send_bytes(s.sent, s.last_size, (parameter & 1) != 0);
    }
}

static void disconnect(uint8_t parameter) {
    if ((parameter & 1) != 0) {
        cairn_netcode_server_disconnect(s.server, s.now_ns, 0);
        flush();
    } else if ((parameter & 2) != 0) {
        cairn_client_disconnect(s.client, s.now_ns);
    } else {
        connect(parameter >> 2);
    }
}

static void ask(void) {
    const cairn_control_request request = mutation_blank_request(
        1 + cairn_read_u8(&mutated.choices) % (CAIRN_CONTROL_VERB_COUNT - 1));
    cairn_client_ask(s.client, &request);
}

static uint64_t client_tick(void) {
    const cairn_world *world = cairn_client_world(s.client);
    return world == NULL ? 0 : cairn_world_tick(world);
}

static void act(const uint8_t record[SCRIPT_RECORD_SIZE]) {
    const uint8_t parameter = record[1];
    mutation_begin(&mutated, record + 2, SCRIPT_RECORD_SIZE - 2);
    mutated.near[0] = client_tick();
    mutated.near[1] = START_NS / 1000;
    mutated.near[2] = 1u << 20 | parameter;
    mutated.near[3] = parameter % 16;
    switch (record[0] % 18) {
    case 0:
    case 1:
    case 2:
    case 3:
        send_honest(parameter, s.mode, s.cursor++);
        break;
    case 4: // several in order
        for (uint32_t i = 0; i <= parameter % 16; ++i) {
            send_honest(0, s.mode, s.cursor++);
            host_frame(STEP_NS);
        }
        break;
    case 5:
        send_honest(parameter, s.mode, cairn_read_u8(&mutated.choices));
        break;
    case 6:
        send_honest(parameter, (s.mode + 1 + parameter % 3) % HONEST_MODES,
            cairn_read_u8(&mutated.choices));
        break;
    case 7:
    case 8:
        send_sample(parameter);
        break;
    case 9:
        send_raw(parameter);
        break;
    case 10:
        send_spoiled(parameter);
        break;
    case 11:
        send_lying_payload(parameter);
        break;
    case 12:
    case 13:
        for (uint32_t i = 0; i <= parameter % 8; ++i) {
            host_frame(STEP_NS);
        }
        break;
    case 14:
        host_frame((uint64_t)parameter * 16 * MS_NS);
        break;
    case 15:
        s.deaf = !s.deaf;
        break;
    case 16:
        ask();
        break;
    default:
        disconnect(parameter);
        break;
    }
}

static void check(uint64_t allocated_before) {
    const cairn_client_state state = cairn_client_state_read(s.client);
    const cairn_world *world = cairn_client_world(s.client);
    CAIRN_ASSERT(state <= CAIRN_CLIENT_FAILED);
    CAIRN_ASSERT(
        (state == CAIRN_CLIENT_FAILED) == (cairn_client_failure_text(s.client)[0] != '\0'));
    CAIRN_ASSERT(script_allocated_bytes() <= allocated_before + MEMORY_MAX);
    CAIRN_ASSERT(world == NULL || cairn_world_validate(world, NULL) == CAIRN_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint64_t before = script_allocated_bytes();
    uint8_t record[SCRIPT_RECORD_SIZE];
    begin(size > 0 ? data[0] % HONEST_MODES : 0);
    connect(0);
    for (uint32_t i = 0; i < 4; ++i) {
        host_frame(STEP_NS);
    }
    CAIRN_ASSERT(s.connected);
    for (uint32_t i = 0; script_record(data, size, i, record); ++i) {
        act(record);
        CAIRN_ASSERT(script_allocated_bytes() <= before + MEMORY_MAX);
    }
    host_frame(STEP_NS);
    check(before);
    cairn_client_destroy(s.client);
    cairn_netcode_server_destroy(s.server);
    return 0;
}
