// SPDX-License-Identifier: MIT
#include "tests/server/story.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/snapshot.h"
#include "compress/command_coder.h"
#include "compress/state_packer.h"
#include "recording/player.h"
#include "recording/recorded_world.h"
#include "schema/scene.h"
#include "schema/snapshot_head.h"
#include "sim/debug/passport.h"
#include "storm/network.h"
#include "tests/kit/packed.h"
#include "tests/kit/scenes.h"
#include <cairn/rules_registry.h>
#include <cairn/token.h>

#define PROTOCOL_ID 77
#define TOKEN_LIFETIME_S 600

static const uint8_t private_key[CAIRN_KEY_SIZE] = {1, 2, 3};
static const uint8_t entropy[32] = {4, 5, 6};
static const cairn_address server_address = {
    .family = CAIRN_ADDRESS_IPV4, .port = 40000, .ip = {10, 0, 0, 1}};

static void expect_ok(cairn_status status) {
    CAIRN_ASSERT(status == CAIRN_OK);
}

static void on_event(void *user, const cairn_server_event *event) {
    story *s = user;
    size_t used = strlen(s->event_names);
    size_t size = strlen(event->name);
    if (used + size + 2 < sizeof s->event_names) {
        memcpy(s->event_names + used, event->name, size);
        memcpy(s->event_names + used + size, " ", 2);
    }
}

static bool on_record(void *user, const char *room, const uint8_t *bytes, size_t size) {
    story *s = user;
    if (size == 0 || strcmp(room, CAIRN_ROOM_NAME_DEFAULT) != 0) {
        return true;
    }
    if (s->record_size + size > s->record_limit) {
        return false;
    }
    memcpy(s->record + s->record_size, bytes, size);
    s->record_size += size;
    return true;
}

static bool take_task(void *user, cairn_server_task *task) {
    story *s = user;
    if (s->holds_tasks) {
        CAIRN_ASSERT(s->task_count < STORY_TASKS_MAX);
        s->tasks[s->task_count++] = task;
    }
    return s->holds_tasks;
}

void story_run_tasks(story *s) {
    s->holds_tasks = false;
    for (uint32_t i = 0; i < s->task_count; ++i) {
        cairn_server_task_run(s->tasks[i]);
        cairn_server_task_done(s->server, s->now_ns, s->tasks[i]);
    }
    s->task_count = 0;
}

cairn_server_config story_config(void) {
    cairn_server_config config = cairn_server_config_default();
    config.clients_max = STORY_CLIENTS_MAX;
    config.first_room.players_max = 4;
    return config;
}

const cairn_scene *story_scene(void) {
    static const cairn_scene *scene;
    if (scene == NULL) {
        scene = kit_scene("{'name': 'test', 'rules': 'sandbox', 'body_capacity': 256,"
                          " 'shape_capacity': 256, 'joint_capacity': 8, 'contact_capacity': 1024,"
                          " 'seed': 1, 'bodies': ["
                          "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
                          "{'kind': 'dynamic', 'position': [0, 0.6, 0], 'grid_count': [10, 3, 1],"
                          " 'grid_spacing': [2, 1.1, 1],"
                          " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}]}");
    }
    return scene;
}

static cairn_server_config fill_config(story *s, const cairn_server_config *config) {
    cairn_server_config full = config != NULL ? *config : story_config();
    full.protocol_id = PROTOCOL_ID;
    full.private_key = private_key;
    full.entropy = entropy;
    full.public_addresses = &server_address;
    full.public_address_count = 1;
    full.token_lifetime_s_max = TOKEN_LIFETIME_S;
    full.start_ns = STORY_START_NS;
    full.start_unix_ns = STORY_START_UNIX_S * CAIRN_NS_PER_S;
    full.on_event = on_event;
    full.on_record = on_record;
    full.run_task = take_task;
    full.user = s;
    return full;
}

void story_start(story *s, const cairn_server_config *config) {
    story_end(s);
    memset(s, 0, offsetof(story, clients));
    for (uint32_t i = 0; i < STORY_CLIENTS_MAX; ++i) {
        memset(&s->clients[i], 0, offsetof(story_client, held));
    }
    s->now_ns = STORY_START_NS;
    s->record = malloc(STORY_RECORD_MAX);
    s->record_limit = STORY_RECORD_MAX;
    CAIRN_ASSERT(s->record != NULL);
    cairn_server_config full = fill_config(s, config);
    full.first_room.scene = full.first_room.scene == NULL ? story_scene() : full.first_room.scene;
    s->scene = full.first_room.scene;
    expect_ok(cairn_server_create(&full, &s->server));
}

cairn_server *story_successor(story *s, const cairn_server_config *config) {
    static const uint8_t other_entropy[32] = {7, 7, 7};
    cairn_server *successor;
    cairn_server_config full = fill_config(s, config);
    full.entropy = other_entropy;
    full.start_ns = s->now_ns;
    full.start_unix_ns += s->now_ns - STORY_START_NS;
    full.first_room.scene = NULL;
    expect_ok(cairn_server_create(&full, &successor));
    return successor;
}

static void forget_snapshots(story_client *client) {
    for (uint32_t i = 0; i < STORY_HELD_MAX && i < client->held_count; ++i) {
        cairn_snapshot_frame_destroy(&client->held[i].frame);
        memset(&client->held[i], 0, sizeof client->held[i]);
    }
    client->held_count = 0;
}

void story_end(story *s) {
    story_run_tasks(s);
    cairn_server_destroy(s->server);
    s->server = NULL;
    for (uint32_t i = 0; i < s->client_count; ++i) {
        story_client *client = &s->clients[i];
        cairn_netcode_client_destroy(client->netcode);
        cairn_link_destroy(client->link);
        cairn_encoder_destroy(client->encoder);
        cairn_world_destroy(client->world);
        forget_snapshots(client);
        cairn_frame_codec_destroy(client->codec);
        free(client->state);
    }
    s->client_count = 0;
    cairn_virtual_network_destroy(s->network);
    s->network = NULL;
    free(s->record);
    s->record = NULL;
}

void story_network(story *s, uint32_t delay_ms) {
    CAIRN_ASSERT(s->client_count == 0 && s->network == NULL);
    s->delay_ms = delay_ms;
    expect_ok(cairn_virtual_network_create(1, 4096, &s->network));
    const uint32_t server =
        cairn_virtual_endpoint(s->network, &server_address, (cairn_virtual_clock){0});
    CAIRN_ASSERT(server == 0);
}

cairn_hello story_hello(cairn_mode mode, bool spectator) {
    cairn_passport passport;
    expect_ok(cairn_passport_read(&passport));
    return (cairn_hello){.protocol_version = CAIRN_PROTOCOL_VERSION,
        .sim_version = CAIRN_SIM_VERSION,
        .mode = mode,
        .spectator = spectator ? 1 : 0,
        .rules_name = cairn_rules_sandbox.name,
        .passport_hash = passport.hash,
        .room = "",
        .build = "",
        .rules_version = cairn_rules_sandbox.version,
        .rules_digest = cairn_rules_digest(&cairn_rules_sandbox)};
}

uint32_t story_join_room(story *s, const char *room, cairn_mode mode) {
    cairn_hello hello = story_hello(mode, false);
    hello.room = room;
    return story_join_as(s, &hello);
}

void story_leave(story *s, uint32_t client) {
    cairn_netcode_client_disconnect(s->clients[client].netcode, s->now_ns);
}

uint32_t story_join(story *s, cairn_mode mode, bool spectator) {
    const cairn_hello hello = story_hello(mode, spectator);
    return story_join_as(s, &hello);
}

static void connect_client(story *s, story_client *client) {
    uint8_t random[CAIRN_TOKEN_ENTROPY_SIZE];
    for (size_t i = 0; i < sizeof random; ++i) {
        random[i] = (uint8_t)(i * 7 + client->client_id * 31 + client->address.port * 5);
    }
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
    cairn_user_data_write(user_data, s->operators ? CAIRN_USER_RIGHT_OPERATOR : 0);
    const cairn_token_request request = {.protocol_id = PROTOCOL_ID,
        .user_data = user_data,
        .client_id = client->client_id,
        .create_unix_s = STORY_START_UNIX_S,
        .lifetime_s = TOKEN_LIFETIME_S,
        .timeout_s = 5,
        .server_addresses = &server_address,
        .server_count = 1,
        .private_key = private_key,
        .entropy = random};
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    expect_ok(cairn_token_issue(&request, token));
    expect_ok(
        cairn_netcode_client_connect(client->netcode, s->now_ns, STORY_START_UNIX_S + 1, token));
}

uint32_t story_join_as(story *s, const cairn_hello *hello) {
    CAIRN_ASSERT(s->client_count < STORY_CLIENTS_MAX);
    uint32_t number = s->client_count++;
    story_client *client = &s->clients[number];
    cairn_link_config link = cairn_link_config_default();
    link.receive_size_max = s->receive_size_max != 0 ? s->receive_size_max : link.receive_size_max;
    expect_ok(cairn_netcode_client_create(&client->netcode));
    expect_ok(cairn_link_create(&link, s->now_ns, &client->link));
    expect_ok(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &client->encoder));
    client->address = (cairn_address){
        .family = CAIRN_ADDRESS_IPV4, .port = (uint16_t)(50000 + number), .ip = {10, 0, 0, 2}};
    client->client_id = s->next_client_id != 0 ? s->next_client_id : 1000 + number;
    client->hello = *hello;
    client->ahead = 4;
    if (s->network != NULL) {
        const cairn_virtual_path path = {.delay_ns = s->delay_ms * UINT64_C(1000000)};
        const uint32_t endpoint =
            cairn_virtual_endpoint(s->network, &client->address, (cairn_virtual_clock){0});
        CAIRN_ASSERT(endpoint == 1 + number);
        cairn_virtual_connect(s->network, 0, endpoint, &path);
    }
    connect_client(s, client);
    return number;
}

void story_send_bytes(story *s, uint32_t number, const uint8_t *bytes, size_t size, bool reliable) {
    cairn_link *link = s->clients[number].link;
    expect_ok(reliable ? cairn_link_send_reliable(link, bytes, size)
                       : cairn_link_send_unreliable(link, bytes, size));
}

void story_send(story *s, uint32_t number, const cairn_message *message, bool reliable) {
    const uint8_t *bytes;
    size_t size;
    expect_ok(cairn_message_encode(s->clients[number].encoder, message, &bytes, &size));
    story_send_bytes(s, number, bytes, size, reliable);
}

const story_snapshot *story_newest(const story_client *client) {
    return client->held_count == 0 ? NULL
                                   : &client->held[(client->held_count - 1) % STORY_HELD_MAX];
}

static const cairn_snapshot_frame *find_frame(const story_client *client, uint64_t tick) {
    for (uint32_t i = 0; i < STORY_HELD_MAX && i < client->held_count; ++i) {
        if (client->held[i].tick == tick) {
            return &client->held[i].frame;
        }
    }
    return NULL;
}

static void store_frame(story_client *client, cairn_snapshot_frame *frame) {
    story_snapshot *at = &client->held[client->held_count++ % STORY_HELD_MAX];
    cairn_snapshot_frame_destroy(&at->frame);
    at->frame = *frame;
    at->tick = frame->tick;
    at->body_count = frame->count;
    for (uint32_t i = 0; i < frame->count; ++i) {
        at->bodies[i] = cairn_snapshot_frame_body(frame, i);
    }
}

static void receive_snapshot(story_client *client, const cairn_snapshot_message *message) {
    cairn_snapshot_head head;
    const size_t size = cairn_snapshot_head_read(message->payload, message->payload_size, &head);
    CAIRN_ASSERT(size > 0);
    if (head.world_epoch != client->world_epoch) {
        return;
    }
    if (head.part) {
        client->parts += 1;
        client->part_tick = head.tick;
        return;
    }
    const bool keyframe = head.bases[0] == 0;
    client->keyframes += keyframe ? 1 : 0;
    client->deltas += keyframe ? 0 : 1;
    client->timing = head.timing;
    const cairn_frame_bases bases = {find_frame(client, head.bases[0]),
        find_frame(client, head.bases[1]), find_frame(client, head.bases[2])};
    if (!keyframe && (bases.baseline == NULL || bases.earlier == NULL || bases.earliest == NULL)) {
        client->deltas_failed += 1;
        return;
    }
    if (client->codec == NULL) {
        expect_ok(cairn_frame_codec_create(STORY_BODIES_MAX, &client->codec));
    }
    cairn_snapshot_frame frame;
    expect_ok(cairn_snapshot_frame_create(&frame, STORY_BODIES_MAX));
    frame.tick = head.tick;
    expect_ok(cairn_frame_decode(
        client->codec, &bases, message->payload + size, message->payload_size - size, &frame));
    CAIRN_ASSERT(cairn_snapshot_frame_check(&frame) == head.check);
    store_frame(client, &frame);
}

static void receive_state(story_client *client, const cairn_state_message *piece) {
    if (piece->offset == 0) {
        free(client->state);
        client->state = malloc(piece->total_size);
        CAIRN_ASSERT(client->state != NULL);
        client->state_size = 0;
        client->state_tick = piece->tick;
        client->states_begun += 1;
    }
    CAIRN_ASSERT(piece->offset == client->state_size && piece->tick == client->state_tick);
    memcpy(client->state + piece->offset, piece->bytes, piece->size);
    client->state_size += piece->size;
    if (client->state_size == piece->total_size) {
        if (piece->unpacked_size > 0) {
            uint8_t *unpacked = malloc(piece->unpacked_size);
            CAIRN_ASSERT(unpacked != NULL && cairn_state_unpack(client->state, client->state_size,
                                                 unpacked, piece->unpacked_size));
            free(client->state);
            client->state = unpacked;
            client->state_size = piece->unpacked_size;
        }
        const bool sandbox = strcmp(client->rules_name, cairn_rules_sandbox.name) == 0;
        const cairn_chunk_keyframe state = {
            .tick = piece->tick, .state = client->state, .state_size = client->state_size};
        char error[CAIRN_RECORDING_ERROR_SIZE];
        cairn_world_destroy(client->world);
        client->world =
            cairn_recorded_world_of_keyframe(&state, sandbox ? &cairn_rules_sandbox : NULL, error);
        CAIRN_ASSERT(client->world != NULL);
    }
}

static void step_tick(story_client *client, const cairn_tick_record *record) {
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    cairn_command_coder coder = cairn_command_decoder(record->commands, record->commands_size);
    const uint32_t count = cairn_commands_decode(&coder,
        (cairn_tick_commands){client->commands, record->alone ? 0 : client->command_count},
        commands, CAIRN_COMMANDS_PER_TICK_MAX);
    CAIRN_ASSERT(coder.ok);
    for (uint32_t i = 0; i < count; ++i) {
        CAIRN_ASSERT(cairn_command_check(&commands[i]) == CAIRN_OK);
    }
    memcpy(client->commands, commands, count * sizeof *commands);
    client->command_count = count;
    cairn_world_step(client->world, commands, count);
    const cairn_hash128 full = cairn_world_hash_read(client->world).full;
    client->roots_wrong += cairn_root_agrees(record->check, full) ? 0 : 1;
    client->ticks_stepped += 1;
    client->root_newest = (cairn_wire_root){.tick = cairn_world_tick(client->world),
        .lo = full.lo ^ (client->corrupt_roots ? 1 : 0),
        .hi = full.hi};
}

static void receive_ticks(story_client *client, const cairn_ticks_message *ticks) {
    cairn_ticks_reader reader;
    cairn_tick_record record;
    if (!cairn_ticks_reader_of(ticks->payload, ticks->payload_size, &reader) ||
        reader.head.world_epoch != client->world_epoch) {
        return;
    }
    client->timing = reader.head.timing;
    while (client->world != NULL && cairn_ticks_read(&reader, &record)) {
        if (record.tick == cairn_world_tick(client->world)) {
            step_tick(client, &record);
        }
    }
}

static void receive_welcome(story_client *client, const cairn_welcome *welcome) {
    client->welcomed = true;
    client->welcome = *welcome;
    client->input_next = welcome->tick;
    strncpy(client->rules_name, welcome->rules_name, sizeof client->rules_name - 1);
    strncpy(client->scene_name, welcome->scene_name, sizeof client->scene_name - 1);
}

static void store_answer(story_answer *kept, const cairn_link_message *received) {
    if (kept == NULL) {
        return;
    }
    CAIRN_ASSERT(received->size <= sizeof kept->encoded);
    cairn_message message;
    memcpy(kept->encoded, received->bytes, received->size);
    const cairn_decode_refusal refusal =
        cairn_message_decode(kept->encoded, received->size, CAIRN_TO_CLIENT, &message);
    CAIRN_ASSERT(refusal == CAIRN_DECODE_OK);
    kept->count += 1;
    kept->answer = message.answer;
}

static void receive_message(story_client *client, const cairn_link_message *received) {
    cairn_message message;
    if (cairn_message_decode(received->bytes, received->size, CAIRN_TO_CLIENT, &message) !=
        CAIRN_DECODE_OK) {
        client->decode_failures += 1;
        return;
    }
    client->messages[message.kind] += 1;
    switch (message.kind) {
    case CAIRN_MESSAGE_WELCOME:
        receive_welcome(client, &message.welcome);
        break;
    case CAIRN_MESSAGE_REFUSED:
        client->refusal = message.refused.reason;
        break;
    case CAIRN_MESSAGE_SHAPES:
        client->shapes_seen += message.shapes.shape_count;
        client->shapes_removed += message.shapes.removed_count;
        break;
    case CAIRN_MESSAGE_SNAPSHOT:
        receive_snapshot(client, &message.snapshot);
        break;
    case CAIRN_MESSAGE_TICKS:
        receive_ticks(client, &message.ticks);
        break;
    case CAIRN_MESSAGE_STATE:
        receive_state(client, &message.state);
        break;
    case CAIRN_MESSAGE_EVENT:
        client->notices[message.event.kind] += 1;
        client->notice = message.event;
        client->notice.reason_text = "";
        if (message.event.kind == CAIRN_EVENT_REPLACED) {
            client->world_epoch = (uint32_t)message.event.value;
            client->input_next = message.event.tick;
            forget_snapshots(client);
            client->part_tick = 0;
            cairn_world_destroy(client->world);
            client->world = NULL;
        }
        break;
    case CAIRN_MESSAGE_WORLD_EVENTS:
        break; // tests/client/events_test.c
    case CAIRN_MESSAGE_MESH:
        break; // tests/client/meshes_test.c
    case CAIRN_MESSAGE_RESYNC_RESPONSE:
        client->responses[message.resync_response.verdict] += 1;
        break;
    case CAIRN_MESSAGE_ANSWER:
        store_answer(client->answer, received);
        break;
    default:
        CAIRN_ASSERT(false);
    }
}

static void client_receive(
    story *s, story_client *client, const cairn_address *from, const uint8_t *bytes, size_t size) {
    uint32_t words[2 + CAIRN_DATAGRAM_SIZE_MAX / 4 + 1] = {
        (uint32_t)(s->now_ns / STORY_STEP_NS), (uint32_t)size};
    memcpy(words + 2, bytes, size);
    client->datagrams += 1;
    client->bytes += size;
    client->received = cairn_hash_words(client->received.lo, words, 2 + (size + 3) / 4);
    cairn_netcode_client_receive(client->netcode, s->now_ns, from, bytes, size);
    size_t payload_size;
    const uint8_t *payload = cairn_netcode_client_next_payload(client->netcode, &payload_size);
    if (payload == NULL || client->deaf) {
        return;
    }
    cairn_link_drop drop = cairn_link_receive(client->link, s->now_ns, payload, payload_size);
    CAIRN_ASSERT(drop == CAIRN_LINK_TAKEN);
    cairn_link_message message;
    while (cairn_link_next_message(client->link, &message)) {
        receive_message(client, &message);
    }
}

static uint32_t room_of(const story *s, const story_client *client) {
    return cairn_server_room_find(s->server, client->hello.room);
}

// The statistics of a room count percentiles: too much for each turn of a fuzzer.
static uint64_t room_tick(const story *s, const story_client *client) {
    const uint32_t room = room_of(s, client);
    const cairn_world *world = cairn_server_world(s->server, room);
    cairn_server_room_statistics read;
    if (world != NULL) {
        return cairn_world_tick(world);
    }
    cairn_server_room_statistics_read(s->server, room, &read);
    return read.tick;
}

static void send_input(story *s, uint32_t number) {
    story_client *client = &s->clients[number];
    const story_snapshot *newest = story_newest(client);
    const uint64_t tick = room_tick(s, client);
    const uint64_t target = tick + client->ahead;
    cairn_wire_input inputs[16];
    uint32_t count = 0;
    bool plays = client->welcome.slot != CAIRN_SLOT_NONE;
    while (plays && client->input_next < target && count < 16) {
        inputs[count++] = (cairn_wire_input){.tick = client->input_next,
            .sequence = (uint32_t)client->input_next,
            .buttons = client->buttons,
            .move = {.x = 0.5f}};
        client->input_next += 1;
    }
    const uint64_t held = newest == NULL ? client->part_tick : newest->tick;
    const uint64_t acknowledged[] = {
        [ACKS_HELD] = held, [ACKS_NOTHING] = 0, [ACKS_NEWEST] = tick, [ACKS_AHEAD] = tick + 60};
    const cairn_input_head head = {.world_epoch = client->world_epoch,
        .snapshot_acknowledged = acknowledged[client->acks],
        .ticks_acknowledged = client->world == NULL ? 0 : cairn_world_tick(client->world),
        .input_count = count};
    const cairn_message message = kit_input(&head, inputs);
    story_send(s, number, &message, false);
}

static void client_send_messages(story *s, uint32_t number) {
    story_client *client = &s->clients[number];
    if (story_state(s, number) != CAIRN_NETCODE_STATE_CONNECTED || client->silent) {
        return;
    }
    if (!client->hello_sent) {
        const cairn_message hello = {.kind = CAIRN_MESSAGE_HELLO, .hello = client->hello};
        story_send(s, number, &hello, true);
        client->hello_sent = true;
    } else if (client->welcomed && !client->mute_inputs) {
        send_input(s, number);
        if (client->root_newest.tick != 0) {
            const cairn_message report = {.kind = CAIRN_MESSAGE_ROOT_REPORT,
                .root_report = {.roots = &client->root_newest, .root_count = 1}};
            story_send(s, number, &report, true);
            client->root_newest.tick = 0;
        }
    }
}

static void send_to_server(
    story *s, const story_client *client, const uint8_t *bytes, size_t size) {
    if (s->network != NULL) {
        const uint32_t endpoint = 1 + (uint32_t)(client - s->clients);
        cairn_virtual_send(s->network, endpoint, &server_address, bytes, size);
    } else {
        cairn_server_receive(s->server, s->now_ns, &client->address, bytes, size);
    }
}

static void client_send_datagrams(story *s, story_client *client) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    cairn_address to;
    size_t size;
    while ((size = cairn_netcode_client_next_datagram(client->netcode, &to, bytes)) > 0) {
        send_to_server(s, client, bytes, size);
    }
    while ((size = cairn_link_next_payload(client->link, s->now_ns, payload)) > 0) {
        size = cairn_netcode_client_encrypt(client->netcode, s->now_ns, payload, size, &to, bytes);
        if (size > 0) {
            send_to_server(s, client, bytes, size);
        }
    }
}

static void server_send(story *s) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address to;
    size_t size;
    while ((size = cairn_server_send(s->server, s->now_ns, &to, bytes)) > 0) {
        if (s->network != NULL) {
            cairn_virtual_send(s->network, 0, &to, bytes, size);
            continue;
        }
        for (uint32_t i = 0; i < s->client_count && !s->server_unheard; ++i) {
            if (cairn_address_equal(&to, &s->clients[i].address)) {
                client_receive(s, &s->clients[i], &server_address, bytes, size);
            }
        }
    }
}

static void deliver(story *s) {
    const cairn_virtual_datagram *d;
    while (cairn_virtual_deliver(s->network, s->now_ns - STORY_START_NS, &d)) {
        if (d->to == 0) {
            cairn_server_receive(s->server, s->now_ns, &d->from, d->bytes, d->size);
        } else {
            client_receive(s, &s->clients[d->to - 1], &d->from, d->bytes, d->size);
        }
    }
}

static void check_snapshots(story *s) {
    for (uint32_t i = 0; i < s->client_count; ++i) {
        const story_snapshot *newest = story_newest(&s->clients[i]);
        const cairn_world *world = cairn_server_world(s->server, room_of(s, &s->clients[i]));
        if (newest != NULL && world != NULL && newest->tick == cairn_world_tick(world)) {
            s->snapshots_checked += 1;
            s->snapshots_wrong += story_shows_world(s, i) ? 0 : 1;
        }
    }
}

static void advance_server(story *s) {
    const uint64_t begin_ns = s->clock_ns == NULL ? 0 : s->clock_ns();
    cairn_server_advance(s->server, s->now_ns);
    const uint64_t turn_ns = s->clock_ns == NULL ? 0 : s->clock_ns() - begin_ns;
    s->turn_ns_max = turn_ns > s->turn_ns_max ? turn_ns : s->turn_ns_max;
}

void story_run_ms(story *s, uint32_t ms) {
    uint64_t end_ns = s->now_ns + (uint64_t)ms * 1000000;
    while (s->now_ns < end_ns) {
        s->now_ns += STORY_STEP_NS;
        if (s->network != NULL) {
            deliver(s);
        }
        for (uint32_t i = 0; i < s->client_count; ++i) {
            cairn_netcode_client_advance(s->clients[i].netcode, s->now_ns);
            client_send_messages(s, i);
            client_send_datagrams(s, &s->clients[i]);
        }
        advance_server(s);
        server_send(s);
        check_snapshots(s);
    }
}

const cairn_world *story_world(const story *s) {
    return cairn_server_world(s->server, CAIRN_ROOM_MAIN);
}

uint64_t story_tick(const story *s) {
    return cairn_world_tick(story_world(s));
}

cairn_hash128 story_root(const story *s) {
    return cairn_world_hash_read(story_world(s)).full;
}

cairn_netcode_client_state story_state(const story *s, uint32_t client) {
    return cairn_netcode_client_state_read(s->clients[client].netcode);
}

story_replay story_replay_recording(const story *s) {
    story_replay replay = {0};
    cairn_player *player;
    char text[CAIRN_PLAYER_TEXT_SIZE];
    cairn_player_event event;
    expect_ok(cairn_player_create(s->record, s->record_size, &player, text));
    while ((event = cairn_player_next(player)) != CAIRN_PLAYER_END) {
        CAIRN_ASSERT(event != CAIRN_PLAYER_REFUSED);
        replay.replacements += event == CAIRN_PLAYER_REPLACED ? 1 : 0;
        if (event == CAIRN_PLAYER_TICK) {
            replay.root = cairn_world_hash_read(player->world).full;
            replay.ticks += 1;
            replay.commands += player->tick->command_count;
            replay.roots_wrong += cairn_hash_equal(replay.root, player->recorded_hash) ? 0 : 1;
        }
    }
    replay.complete = cairn_player_complete(player);
    cairn_player_destroy(player);
    return replay;
}

cairn_server_statistics story_statistics(const story *s) {
    cairn_server_statistics statistics;
    cairn_server_statistics_read(s->server, &statistics);
    return statistics;
}

bool story_has_event(const story *s, const char *event) {
    return strstr(s->event_names, event) != NULL;
}

bool story_shows_world(const story *s, uint32_t client) {
    static cairn_body_state states[STORY_BODIES_MAX];
    const cairn_world *world = cairn_server_world(s->server, room_of(s, &s->clients[client]));
    uint32_t count = cairn_world_bodies(world, states, STORY_BODIES_MAX);
    const story_snapshot *newest = story_newest(&s->clients[client]);
    if (newest == NULL || newest->body_count != count) {
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_snapshot_body body = cairn_snapshot_body_of(&states[i]);
        const cairn_quantised_body rounded = cairn_quantise(&newest->frame.quantisation,
            (cairn_pose){.position = body.position, .rotation = body.rotation});
        if (newest->frame.ids[i] != body.id || newest->frame.flags[i] != body.flags ||
            newest->frame.users[i] != body.user ||
            memcmp(&rounded, &newest->frame.poses[i], sizeof rounded) != 0) {
            return false;
        }
    }
    return true;
}

void kit_start_with(story *s, story_answer *answer, const cairn_server_config *config) {
    memset(answer, 0, sizeof *answer);
    story_start(s, config);
    s->operators = true;
    story_join(s, CAIRN_MODE_LOCKSTEP, true);
    s->clients[0].answer = answer;
    story_run_ms(s, 200);
    CAIRN_ASSERT(s->clients[0].welcomed);
}

static const cairn_scene *find_scene(void *user, const char *name) {
    const story *s = user;
    return strcmp(name, "test") == 0 ? s->scene : NULL;
}

// The recording so far, as a driver would find it in its file.
static cairn_world *on_seek(void *user, const char *room, uint64_t tick) {
    const story *s = user;
    return strcmp(room, CAIRN_ROOM_NAME_DEFAULT) == 0
               ? cairn_player_world_at(s->record, s->record_size, tick)
               : NULL;
}

cairn_server_config kit_config(void) {
    cairn_server_config config = story_config();
    config.control = true;
    config.find_scene = find_scene;
    config.on_seek = on_seek;
    return config;
}

void kit_start(story *s, story_answer *answer) {
    const cairn_server_config config = kit_config();
    kit_start_with(s, answer, &config);
}

void kit_send_request(story *s, uint32_t client, cairn_control_request ask) {
    ask.room = ask.room == NULL ? "" : ask.room;
    const cairn_message message = {.kind = CAIRN_MESSAGE_CONTROL, .control = ask};
    story_send(s, client, &message, true);
}

uint32_t kit_ask_request(story *s, cairn_control_request ask) {
    const story_answer *answer = s->clients[0].answer;
    const uint32_t before = answer->count;
    ask.number = before + 1000;
    kit_send_request(s, 0, ask);
    for (uint32_t ms = 0; ms < 3000 && answer->count == before; ms += 4) {
        story_run_ms(s, 4);
    }
    CAIRN_ASSERT(answer->count == before + 1);
    CAIRN_ASSERT(answer->answer.number == ask.number && answer->answer.verb == ask.verb);
    return answer->answer.refusal;
}

uint32_t kit_verb(story *s, cairn_control_verb verb) {
    return kit_ask(s, .verb = verb);
}

void kit_do_request(story *s, cairn_control_request ask) {
    const uint32_t refusal = kit_ask_request(s, ask);
    CAIRN_ASSERT(refusal == CAIRN_CONTROL_DONE);
}
