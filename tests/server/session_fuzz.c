// SPDX-License-Identifier: MIT
// A whole server in memory. Three hostile clients with valid tokens do what the input says, in any
// order: connect, join, send any message of the schema, repeat, delay, withhold acks, lie in the
// link, leave, ask as operators. An honest client plays beside them. The server never asserts,
// leaks or takes memory without bound, its worlds stay valid, and unless an operator acted the
// honest client goes on playing in the server's world.
//
// An input is a byte for the honest client's mode, then records of RECORD_SIZE bytes: an action, a
// parameter, and choices for the rest.
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/random.h"
#include "net/link.h"
#include "net/netcode_client.h"
#include "proto_tests/schema/mutate.h"
#include "proto_tests/schema/samples.h"
#include "sim/debug/passport.h"
#include "sim/serialize/sketch.h"
#include "tests/kit/packed.h"
#include "tests/kit/scenes.h"
#include "tests/kit/script.h"
#include <cairn/client.h>
#include <cairn/rules_registry.h>
#include <cairn/server.h>
#include <cairn/sim.h>

#define PEERS 3
#define TOKENS 5
#define HONEST_PORT 60000
#define HELD_MAX 24
#define MS_NS UINT64_C(1000000)
#define START_NS (UINT64_C(5000) * MS_NS)
#define START_UNIX_S UINT64_C(1000000)
#define STEP_NS (UINT64_C(8) * MS_NS)
// Half of it is what operators may upload as saves.
#define MEMORY_MAX (UINT64_C(128) << 20)
#define LAST_SIZE_MAX 4096

typedef struct datagram {
    size_t size;
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
} datagram;

typedef struct peer {
    cairn_netcode_client *netcode;
    cairn_link *link;
    cairn_address address;
    bool deaf;     // takes no payload, and so acknowledges none
    bool held;     // its datagrams wait
    bool vanished; // its datagrams are lost
    uint32_t world_epoch;
    uint64_t welcome_tick;
    uint32_t held_count;
    datagram waiting[HELD_MAX];
    datagram last; // that it sent
    size_t message_size;
    bool message_reliable;
    uint8_t message[LAST_SIZE_MAX]; // that it sent last
} peer;

static struct {
    uint64_t now_ns;
    cairn_server *server;
    peer peers[PEERS];
    bool operated; // an operator changed something
    uint64_t recorded;
} s;

static cairn_client *honest;
static cairn_encoder *encoder;
static mutation mutated;
static uint8_t tokens[TOKENS][CAIRN_CONNECT_TOKEN_SIZE];
static uint8_t honest_token[CAIRN_CONNECT_TOKEN_SIZE];
static const uint8_t private_key[CAIRN_KEY_SIZE] = {1, 2, 3};
static const uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE] = {4, 5, 6};
static const cairn_address server_address = {
    .family = CAIRN_ADDRESS_IPV4, .port = 40000, .ip = {10, 0, 0, 1}};
static const cairn_address honest_address = {
    .family = CAIRN_ADDRESS_IPV4, .port = HONEST_PORT, .ip = {10, 0, 0, 3}};
static cairn_passport passport;

static const cairn_scene *scene(void) {
    return kit_scene("{'name': 'test', 'rules': 'sandbox', 'body_capacity': 16,"
                     " 'shape_capacity': 16, 'joint_capacity': 4, 'contact_capacity': 32,"
                     " 'seed': 1, 'bodies': ["
                     "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
                     "{'kind': 'dynamic', 'position': [0, 0.6, 0], 'grid_count': [2, 1, 1],"
                     " 'grid_spacing': [2, 1, 1],"
                     " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}]}");
}

static const cairn_scene *find_scene(void *user, const char *name) {
    (void)user;
    return strcmp(name, "test") == 0 ? scene() : NULL;
}

static bool on_record(void *user, const char *room, const uint8_t *bytes, size_t size) {
    (void)user;
    (void)room;
    (void)bytes;
    s.recorded += size;
    return s.recorded < (1u << 20); // then the disk is full
}

static void on_capsule(void *user, const char *room, uint64_t tick, uint64_t client_id,
    const uint8_t *bytes, size_t size) {
    (void)user;
    (void)tick;
    (void)client_id;
    CAIRN_ASSERT(room[0] != '\0' && bytes != NULL && size > 0);
}

static void make_token(
    uint32_t number, uint64_t client_id, uint32_t rights, int32_t timeout_s, uint8_t *out) {
    uint8_t random[CAIRN_TOKEN_ENTROPY_SIZE];
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
    cairn_random from = cairn_random_of(number + 100);
    cairn_random_fill(&from, random, sizeof random);
    cairn_user_data_write(user_data, rights);
    const cairn_token_request request = {.protocol_id = CAIRN_PROTOCOL_ID_DEFAULT,
        .user_data = user_data,
        .client_id = client_id,
        .create_unix_s = START_UNIX_S,
        .lifetime_s = 600,
        .timeout_s = timeout_s,
        .server_addresses = &server_address,
        .server_count = 1,
        .private_key = private_key,
        .entropy = random};
    const cairn_status status = cairn_token_issue(&request, out);
    CAIRN_ASSERT(status == CAIRN_OK);
}

static void create_honest(cairn_client_mode mode) {
    cairn_client_config config = cairn_client_config_default();
    config.mode = mode;
    config.bodies_max = 64;
    config.shapes_max = 64;
    config.state_size_max = 1 << 20;
    config.rollback_memory_max = 1 << 18;
    const cairn_status status = cairn_client_create(&config, &honest);
    CAIRN_ASSERT(status == CAIRN_OK);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    CAIRN_ASSERT(cairn_passport_read(&passport) == CAIRN_OK);
    CAIRN_ASSERT(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &encoder) == CAIRN_OK);
    make_token(0, 1, 0, 5, tokens[0]);
    make_token(1, 2, 0, 1, tokens[1]);
    make_token(2, 1, 0, 5, tokens[2]); // another of client 1
    make_token(3, 3, CAIRN_USER_RIGHT_OPERATOR, 5, tokens[3]);
    make_token(4, 1, CAIRN_USER_RIGHT_OPERATOR, 1, tokens[4]);
    make_token(99, 99, 0, 5, honest_token);
    return 0;
}

static void begin(void) {
    cairn_server_config config = cairn_server_config_default();
    s.now_ns = START_NS;
    s.operated = false;
    s.recorded = 0;
    config.clients_max = 4;
    config.rooms_max = 3;
    config.first_room.players_max = 3;
    config.first_room.tick_rate_hz = 20; // steps under sanitizers are what an execution costs
    config.first_room.scene = scene();
    config.first_room.name = CAIRN_ROOM_NAME_DEFAULT;
    config.private_key = private_key;
    config.entropy = entropy;
    config.public_addresses = &server_address;
    config.public_address_count = 1;
    config.token_lifetime_s_max = 600;
    config.control = true;
    config.find_scene = find_scene;
    config.start_ns = s.now_ns;
    config.start_unix_ns = START_UNIX_S * CAIRN_NS_PER_S;
    config.on_record = on_record;
    config.on_capsule = on_capsule;
    const cairn_status status = cairn_server_create(&config, &s.server);
    CAIRN_ASSERT(status == CAIRN_OK);
    cairn_link_config link = cairn_link_config_default();
    link.receive_size_max = 64 * 1024;
    link.reliable_buffer_size = 64 * 1024;
    memset(s.peers, 0, sizeof s.peers);
    for (uint32_t i = 0; i < PEERS; ++i) {
        peer *p = &s.peers[i];
        p->address = (cairn_address){
            .family = CAIRN_ADDRESS_IPV4, .port = (uint16_t)(50000 + i), .ip = {10, 0, 0, 2}};
        CAIRN_ASSERT(cairn_netcode_client_create(&p->netcode) == CAIRN_OK);
        CAIRN_ASSERT(cairn_link_create(&link, s.now_ns, &p->link) == CAIRN_OK);
    }
}

static void end(void) {
    for (uint32_t i = 0; i < PEERS; ++i) {
        cairn_netcode_client_destroy(s.peers[i].netcode);
        cairn_link_destroy(s.peers[i].link);
    }
    cairn_client_destroy(honest);
    cairn_server_destroy(s.server);
}

static void to_server(peer *p, const uint8_t *bytes, size_t size) {
    memcpy(p->last.bytes, bytes, size);
    p->last.size = size;
    if (p->held && p->held_count < HELD_MAX) {
        p->waiting[p->held_count++] = p->last;
    } else if (!p->held && !p->vanished) {
        cairn_server_receive(s.server, s.now_ns, &p->address, bytes, size);
    }
}

static void send_payload(peer *p, const uint8_t *payload, size_t size) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address to;
    size = cairn_netcode_client_encrypt(p->netcode, s.now_ns, payload, size, &to, bytes);
    if (size > 0) {
        to_server(p, bytes, size);
    }
}

static void send_datagrams(peer *p) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    cairn_address to;
    size_t size;
    cairn_netcode_client_advance(p->netcode, s.now_ns);
    while ((size = cairn_netcode_client_next_datagram(p->netcode, &to, bytes)) > 0) {
        to_server(p, bytes, size);
    }
    while (cairn_netcode_client_state_read(p->netcode) == CAIRN_NETCODE_STATE_CONNECTED &&
           (size = cairn_link_next_payload(p->link, s.now_ns, payload)) > 0) {
        send_payload(p, payload, size);
    }
}

// Reads what makes later messages fit: the tick, and the epoch of the world.
static void learn(peer *p, const cairn_link_message *received) {
    cairn_message message;
    const cairn_decode_refusal refusal =
        cairn_message_decode(received->bytes, received->size, CAIRN_TO_CLIENT, &message);
    CAIRN_ASSERT(refusal == CAIRN_DECODE_OK);
    if (message.kind == CAIRN_MESSAGE_WELCOME) {
        p->welcome_tick = message.welcome.tick;
    } else if (message.kind == CAIRN_MESSAGE_EVENT && message.event.kind == CAIRN_EVENT_REPLACED) {
        p->world_epoch = (uint32_t)message.event.value;
    }
}

static void peer_receive(peer *p, const uint8_t *bytes, size_t size) {
    cairn_netcode_client_receive(p->netcode, s.now_ns, &server_address, bytes, size);
    size_t payload_size;
    const uint8_t *payload = cairn_netcode_client_next_payload(p->netcode, &payload_size);
    if (payload == NULL || p->deaf) {
        return;
    }
    cairn_link_receive(p->link, s.now_ns, payload, payload_size);
    cairn_link_message message;
    while (cairn_link_next_message(p->link, &message)) {
        learn(p, &message);
    }
}

static void serve(void) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address to;
    size_t size;
    cairn_server_advance(s.server, s.now_ns);
    while ((size = cairn_server_send(s.server, s.now_ns, &to, bytes)) > 0) {
        if (to.port == HONEST_PORT) {
            cairn_client_receive(honest, s.now_ns, &server_address, bytes, size);
        }
        for (uint32_t i = 0; i < PEERS; ++i) {
            if (cairn_address_equal(&to, &s.peers[i].address)) {
                peer_receive(&s.peers[i], bytes, size);
            }
        }
    }
}

static void pass(uint32_t steps, uint64_t step_ns) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    size_t size;
    for (uint32_t i = 0; i < steps; ++i) {
        s.now_ns += step_ns;
        for (uint32_t k = 0; k < PEERS; ++k) {
            send_datagrams(&s.peers[k]);
        }
        const cairn_client_input input = {.buttons = (uint32_t)(s.now_ns / (100 * MS_NS)) % 2};
        cairn_client_push_input(honest, &input);
        cairn_client_advance(honest, s.now_ns);
        while ((size = cairn_client_send(honest, s.now_ns, bytes)) > 0) {
            cairn_server_receive(s.server, s.now_ns, &honest_address, bytes, size);
        }
        serve();
    }
}

static void send_bytes(peer *p, const uint8_t *bytes, size_t size, bool reliable) {
    if (size == 0 || size > LAST_SIZE_MAX) {
        return;
    }
    memmove(p->message, bytes, size);
    p->message_size = size;
    p->message_reliable = reliable;
    if (reliable) {
        cairn_link_send_reliable(p->link, p->message, size);
    } else {
        cairn_link_send_unreliable(p->link, p->message, size);
        send_datagrams(p); // or the next one replaces it
    }
}

// Changes as many members as the top bits of the parameter say, and sends it; as it was if the
// encoder refuses the change.
static void send_message(peer *p, uint8_t parameter, cairn_message *message, bool reliable) {
    const cairn_message honest_message = *message;
    const uint8_t *bytes;
    size_t size;
    for (uint32_t i = 0; i < parameter >> 6; ++i) {
        mutate_message(&mutated, message);
    }
    if (cairn_message_encode(encoder, message, &bytes, &size) == CAIRN_OK ||
        cairn_message_encode(encoder, &honest_message, &bytes, &size) == CAIRN_OK) {
        send_bytes(p, bytes, size, reliable);
    }
}

static uint64_t tick_now(void) {
    const cairn_world *world = cairn_server_world(s.server, CAIRN_ROOM_MAIN);
    return world == NULL ? 0 : cairn_world_tick(world);
}

static void send_hello(peer *p, uint8_t parameter, uint32_t mode) {
    cairn_message message = {.kind = CAIRN_MESSAGE_HELLO,
        .hello = {.protocol_version = CAIRN_PROTOCOL_VERSION,
            .sim_version = CAIRN_SIM_VERSION,
            .mode = mode % CAIRN_MODE_COUNT,
            .spectator = parameter >> 5 & 1,
            .rules_name = cairn_rules_sandbox.name,
            .rules_version = cairn_rules_sandbox.version,
            .rules_digest = cairn_rules_digest(&cairn_rules_sandbox),
            .room = "",
            .build = "",
            .passport_hash = passport.hash}};
    send_message(p, parameter, &message, true);
}

static void send_inputs(peer *p, uint8_t parameter) {
    cairn_wire_input inputs[8];
    const uint64_t tick = tick_now();
    const uint32_t count = 1 + (parameter >> 2 & 7);
    const uint32_t ahead = cairn_read_u8(&mutated.choices) % 80;
    for (uint32_t i = 0; i < count; ++i) {
        inputs[i] = (cairn_wire_input){.tick = tick + ahead + i,
            .sequence = (uint32_t)(tick + i),
            .buttons = cairn_read_u8(&mutated.choices),
            .move = {.x = 0.5f}};
    }
    const cairn_input_head head = {.snapshot_acknowledged = tick,
        .ticks_acknowledged = tick,
        .early = cairn_read_u8(&mutated.choices),
        .world_epoch = p->world_epoch,
        .input_count = count};
    cairn_message message = kit_input(&head, inputs);
    send_message(p, parameter, &message, false);
}

static void send_roots(peer *p, uint8_t parameter) {
    const cairn_world *world = cairn_server_world(s.server, CAIRN_ROOM_MAIN);
    const cairn_hash128 full =
        world == NULL ? (cairn_hash128){0} : cairn_world_hash_read(world).full;
    const cairn_wire_root root = {
        .tick = tick_now(), .lo = full.lo ^ (parameter >> 2 & 1), .hi = full.hi};
    cairn_message message = {.kind = CAIRN_MESSAGE_ROOT_REPORT,
        .root_report = {.roots = &root,
            .root_count = 1,
            .world_epoch = p->world_epoch,
            .rollbacks = (uint64_t)parameter << (parameter >> 3 & 31) * 2,
            .rollback_ticks = parameter >> 4}};
    send_message(p, parameter, &message, true);
}

static void send_resync_request(peer *p, uint8_t parameter) {
    uint8_t sketch[40 * CAIRN_SKETCH_CELL_SIZE];
    const cairn_world *world = cairn_server_world(s.server, CAIRN_ROOM_MAIN);
    const uint32_t cells = world == NULL ? 0 : (uint32_t[]){0, 4, 40, 40}[parameter >> 2 & 3];
    const uint32_t back = cairn_read_u8(&mutated.choices) % 8;
    const uint32_t spoiled = cairn_read_u8(&mutated.choices) % 4;
    if (cells > 0) {
        cairn_sketch_build(world, cells, sketch);
    }
    for (uint32_t i = 0; i < spoiled && cells > 0; ++i) {
        sketch[cairn_read_u16(&mutated.choices) % (cells * CAIRN_SKETCH_CELL_SIZE)] ^= 1;
    }
    cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_REQUEST,
        .resync_request = {.tick = tick_now() - back,
            .want = 1 + ((uint32_t)parameter >> 4 & 3) % 3,
            .difference_sketch = sketch,
            .difference_sketch_size = cells * CAIRN_SKETCH_CELL_SIZE,
            .world_epoch = p->world_epoch}};
    send_message(p, parameter, &message, true);
}

static void send_sample(peer *p, uint8_t parameter) {
    const uint32_t kind = 1 + cairn_read_u8(&mutated.choices) % (CAIRN_MESSAGE_KIND_COUNT - 1);
    cairn_message message = sample_message((cairn_message_kind)kind);
    s.operated = s.operated || kind == CAIRN_MESSAGE_CONTROL;
    send_message(p, parameter, &message, (parameter & 4) != 0);
}

// Requests that let a room run long are tested elsewhere, and take long.
static bool is_short(const cairn_control_request *request) {
    switch (request->verb) {
    case CAIRN_CONTROL_STEP:
        return request->step.tick_count < 100;
    case CAIRN_CONTROL_RUN_UNTIL:
        return request->run_until.tick < 400;
    case CAIRN_CONTROL_RATE:
        return request->rate.speed_thousandths > 0 && request->rate.speed_thousandths < 4000;
    default:
        return true;
    }
}

static void ask(peer *p, uint8_t parameter) {
    const uint32_t verb = 1 + cairn_read_u8(&mutated.choices) % CAIRN_CONTROL_VERB_COUNT;
    cairn_message message = {
        .kind = CAIRN_MESSAGE_CONTROL, .control = mutation_blank_request(verb)};
    for (uint32_t i = 0; i < (parameter >> 2 & 7); ++i) {
        const cairn_message before = message;
        const uint8_t *bytes;
        size_t size;
        mutate_message(&mutated, &message);
        if (!is_short(&message.control) ||
            cairn_message_encode(encoder, &message, &bytes, &size) != CAIRN_OK) {
            message = before;
        }
    }
    if (is_short(&message.control)) {
        send_message(p, 0, &message, true);
        s.operated = true;
    }
}

static void send_raw(peer *p, uint8_t parameter) {
    uint8_t bytes[64];
    const size_t size = 1 + cairn_read_u8(&mutated.choices) % sizeof bytes;
    cairn_read_bytes(&mutated.choices, bytes, size);
    send_bytes(p, bytes, size, (parameter & 4) != 0);
}

static void repeat(peer *p, uint8_t parameter) {
    for (uint32_t i = 0; i < 1u + (parameter >> 2); ++i) {
        send_bytes(p, p->message, p->message_size, p->message_reliable);
    }
}

// A payload of the link with some bytes changed: header, acks, fragments, the stream.
static void send_lying_payload(peer *p, uint8_t parameter) {
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX] = {0};
    size_t size = cairn_link_next_payload(p->link, s.now_ns, payload);
    if (size == 0 || (parameter & 4) != 0) {
        payload[0] = 1 + cairn_read_u8(&mutated.choices) % 4;
        payload[1] = 255;
        cairn_read_bytes(&mutated.choices, payload + 4, 4);
        size = 16 + 8u * ((uint32_t)parameter >> 3);
        cairn_read_bytes(&mutated.choices, payload + 16, 8);
    } else {
        for (uint32_t i = 0; i < 1u + (parameter >> 6); ++i) {
            const size_t at = cairn_read_u8(&mutated.choices) % (size < 40 ? size : 40);
            payload[at] = cairn_read_u8(&mutated.choices);
        }
    }
    send_payload(p, payload, size);
}

static void delay(peer *p, uint8_t parameter) {
    if (!p->held) {
        p->held = true;
        return;
    }
    p->held = false;
    for (uint32_t i = 0; i < p->held_count; ++i) {
        const uint32_t at = (parameter & 4) != 0 ? p->held_count - 1 - i : i;
        cairn_server_receive(
            s.server, s.now_ns, &p->address, p->waiting[at].bytes, p->waiting[at].size);
    }
    p->held_count = 0;
}

static void replay_datagram(peer *p, uint8_t parameter) {
    cairn_address from = p->address;
    from.port = (uint16_t)(from.port + (parameter >> 2 & 3) * 8);
    datagram copy = p->last;
    if ((parameter & 64) != 0 && copy.size > 0) {
        copy.bytes[cairn_read_u16(&mutated.choices) % copy.size] ^=
            (uint8_t)(1 + cairn_read_u8(&mutated.choices));
    }
    cairn_server_receive(s.server, s.now_ns, &from, copy.bytes, copy.size);
}

static void connect_peer(peer *p, uint8_t parameter) {
    p->vanished = false;
    cairn_link_reset(p->link, s.now_ns);
    cairn_netcode_client_connect(
        p->netcode, s.now_ns, START_UNIX_S + 1, tokens[(parameter >> 2) % TOKENS]);
}

static void leave(peer *p, uint8_t parameter) {
    if ((parameter & 4) != 0) {
        p->vanished = true;
    } else {
        cairn_netcode_client_disconnect(p->netcode, s.now_ns);
    }
}

static void act(const uint8_t record[SCRIPT_RECORD_SIZE]) {
    const uint8_t parameter = record[1];
    peer *p = &s.peers[parameter % 4 % PEERS];
    mutation_begin(&mutated, record + 2, SCRIPT_RECORD_SIZE - 2);
    mutated.near[0] = tick_now();
    mutated.near[1] = p->world_epoch;
    mutated.near[2] = p->welcome_tick;
    mutated.near[3] = 1 + tick_now() % 4; // an index of a body
    switch (record[0] % 20) {
    case 0:
    case 1:
    case 2:
        pass(1 + parameter % 8, STEP_NS);
        break;
    case 3:
        pass(parameter % 16, 10 * STEP_NS);
        break;
    case 4:
        connect_peer(p, parameter);
        break;
    case 5: // a whole join
        connect_peer(p, parameter);
        pass(4, STEP_NS);
        send_hello(p, parameter & 0x3f, cairn_read_u8(&mutated.choices));
        pass(4, STEP_NS);
        break;
    case 6:
        send_hello(p, parameter, cairn_read_u8(&mutated.choices));
        break;
    case 7:
    case 8:
        send_inputs(p, parameter);
        break;
    case 9:
        send_roots(p, parameter);
        break;
    case 10:
        send_resync_request(p, parameter);
        break;
    case 11:
        send_sample(p, parameter);
        break;
    case 12:
        ask(p, parameter);
        break;
    case 13:
        send_raw(p, parameter);
        break;
    case 14:
        repeat(p, parameter);
        break;
    case 15:
        send_lying_payload(p, parameter);
        break;
    case 16:
        p->deaf = !p->deaf;
        break;
    case 17:
        delay(p, parameter);
        break;
    case 18:
        replay_datagram(p, parameter);
        break;
    default:
        leave(p, parameter);
        break;
    }
}

static void check_worlds(void) {
    uint32_t room = 0;
    while ((room = cairn_server_room_next(s.server, room)) != 0) {
        const cairn_world *world = cairn_server_world(s.server, room);
        const char *where = NULL;
        CAIRN_ASSERT(world != NULL && cairn_world_validate(world, &where) == CAIRN_OK);
    }
}

// The others are gone; what they sent is done.
static void check_honest(void) {
    cairn_client_statistics statistics;
    for (uint32_t i = 0; i < PEERS; ++i) {
        s.peers[i].vanished = true;
    }
    pass(20, STEP_NS);
    cairn_client_statistics_read(honest, &statistics);
    CAIRN_ASSERT(statistics.simulation.roots_differed == 0);
    if (s.operated) {
        return;
    }
    const uint64_t before = statistics.simulation.roots_compared;
    pass(40, STEP_NS); // it steps up to some 15 ticks late by now
    cairn_client_statistics_read(honest, &statistics);
    CAIRN_ASSERT(cairn_client_state_read(honest) == CAIRN_CLIENT_PLAYING);
    CAIRN_ASSERT(statistics.simulation.roots_compared > before);
    CAIRN_ASSERT(statistics.simulation.roots_differed == 0);
    CAIRN_ASSERT(statistics.simulation.states_loaded == 1);
    // Long steps of this test look like jitter, to which the client adapts how late it steps.
    CAIRN_ASSERT(cairn_client_confirmed_tick(honest) + 30 >= tick_now());
    const cairn_world *mine = cairn_client_world(honest);
    const cairn_world *servers = cairn_server_world(s.server, CAIRN_ROOM_MAIN);
    CAIRN_ASSERT(mine != NULL && servers != NULL);
    CAIRN_ASSERT(
        cairn_world_tick(mine) != cairn_world_tick(servers) ||
        cairn_client_confirmed_tick(honest) < cairn_world_tick(mine) ||
        cairn_hash_equal(cairn_world_hash_read(mine).full, cairn_world_hash_read(servers).full));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint64_t before = script_allocated_bytes();
    uint8_t record[SCRIPT_RECORD_SIZE];
    begin();
    create_honest(size > 0 && data[0] % 2 == 1 ? CAIRN_CLIENT_PREDICT : CAIRN_CLIENT_LOCKSTEP);
    CAIRN_ASSERT(cairn_client_connect(honest, s.now_ns, START_UNIX_S + 1, honest_token));
    pass(25, STEP_NS);
    CAIRN_ASSERT(cairn_client_state_read(honest) == CAIRN_CLIENT_PLAYING);
    for (uint32_t i = 0; script_record(data, size, i, record); ++i) {
        act(record);
        CAIRN_ASSERT(script_allocated_bytes() < before + MEMORY_MAX);
    }
    check_honest();
    check_worlds();
    end();
    return 0;
}
