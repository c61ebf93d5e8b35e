// SPDX-License-Identifier: MIT

#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto_tests/schema/flat.h"
#include "proto_tests/schema/samples.h"
#include "schema/game_items.h"
#include "schema/input_payload.h"
#include "schema/message_size.h"
#include "tests/kit/exact.h"

SCOPE_POINTER_ENDS(cairn_encoder, cairn_encoder_destroy)

static cairn_encoder *encoder;
static flat f;

static void expect_decoded(const cairn_message *sent) {
    cairn_message received;
    assert_int_equal(
        cairn_message_decode(f.bytes, f.size, sample_direction(sent->kind), &received), 0);
    expect_same_message(sent, &received);
}

static void expect_round_trip(const cairn_message *sent) {
    flat_encode_message(&f, encoder, sent);
    expect_decoded(sent);
    flat_encode_sent(&f, encoder, sent);
    expect_decoded(sent);
}

TEST("a TICKS message that is finished in place is the one that is encoded") {
    SCOPED(cairn_encoder) *one = NULL;
    const uint8_t *expected;
    size_t size;
    assert_int_equal(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &one), CAIRN_OK);
    const cairn_message message = sample_message(CAIRN_MESSAGE_TICKS);
    assert_int_equal(cairn_message_encode(one, &message, &expected, &size), CAIRN_OK);
    uint8_t bytes[4096];
    assert_true(size == 1 + message.ticks.payload_size && size <= sizeof bytes);
    memcpy(bytes + 1, message.ticks.payload, message.ticks.payload_size);
    cairn_ticks_message_finish(bytes, size);
    assert_memory_equal(bytes, expected, size);
}

TEST("a head of inputs has what is read of it and no byte more, with inputs and without") {
    for (uint32_t count = 0; count < 3; ++count) {
        const cairn_input_head written = {.number = 3,
            .ticks_acknowledged = 1000,
            .input_count = count,
            .first_tick = count > 0 ? 1004 : 0,
            .parts = 2};
        uint8_t bytes[CAIRN_INPUT_HEAD_SIZE_MAX];
        cairn_input_head read;
        const size_t size = cairn_input_head_write(&written, bytes);
        assert_int_equal(cairn_input_head_read(bytes, size, &read), size);
        assert_int_equal(cairn_input_head_read(bytes, size - 1, &read), 0);
        assert_true(cairn_input_head_read(bytes, size, &read) > 0);
        assert_int_equal(read.number, 3);
        assert_int_equal(read.ticks_acknowledged, 1000);
        assert_int_equal(read.input_count, count);
        assert_int_equal(read.first_tick, written.first_tick);
        assert_int_equal(read.parts, 2);
    }
}

TEST("every message decodes to what was encoded") {
    for (int kind = 1; kind < CAIRN_MESSAGE_KIND_COUNT; ++kind) {
        const cairn_message sent = sample_message((cairn_message_kind)kind);
        expect_round_trip(&sent);
    }
}

// The first byte is none that a FlatBuffers buffer begins with.
static void expect_short(
    cairn_message sent, const uint8_t *payload, uint32_t size, uint32_t first) {
    flat_encode_sent(&f, encoder, &sent);
    assert_int_equal(f.size, 1 + size);
    assert_int_equal(f.bytes[0], first);
    assert_memory_equal(f.bytes + 1, payload, size);
    expect_decoded(&sent);
    const cairn_direction wrong =
        sent.kind == CAIRN_MESSAGE_INPUT ? CAIRN_TO_CLIENT : CAIRN_TO_SERVER;
    cairn_message received;
    assert_int_equal(
        cairn_message_decode(f.bytes, f.size, wrong, &received), CAIRN_DECODE_WRONG_DIRECTION);
    for (uint32_t byte = 0; byte < 256; ++byte) {
        f.bytes[0] = (uint8_t)byte;
        const bool is_short =
            byte == 4 * CAIRN_MESSAGE_INPUT + 1 || byte == 4 * CAIRN_MESSAGE_TICKS + 1 ||
            byte == 4 * CAIRN_MESSAGE_SNAPSHOT + 1 || byte == 4 * CAIRN_MESSAGE_SNAPSHOT + 2;
        assert_int_equal(cairn_message_decode(f.bytes, f.size, CAIRN_TO_CLIENT, &received) ==
                             CAIRN_DECODE_NOT_FLATBUFFERS,
            !is_short);
    }
}

TEST("inputs, ticks and snapshots are sent without a table around their payload") {
    const cairn_message inputs = sample_message(CAIRN_MESSAGE_INPUT);
    expect_short(inputs, inputs.input.payload, inputs.input.payload_size, 9);
    const cairn_message ticks = sample_message(CAIRN_MESSAGE_TICKS);
    expect_short(ticks, ticks.ticks.payload, ticks.ticks.payload_size, 41);
    cairn_message snapshot = sample_message(CAIRN_MESSAGE_SNAPSHOT);
    snapshot.snapshot.events_size = snapshot.snapshot.shared_packed_size = 0;
    snapshot.snapshot.events = snapshot.snapshot.shared = NULL;
    for (uint32_t velocities = 0; velocities < 2; ++velocities) {
        snapshot.snapshot.velocities = velocities;
        expect_short(
            snapshot, snapshot.snapshot.payload, snapshot.snapshot.payload_size, 37 + velocities);
    }
}

TEST("a snapshot with events or a shared part is sent with its table") {
    for (uint32_t k = 0; k < 2; ++k) {
        cairn_message snapshot = sample_message(CAIRN_MESSAGE_SNAPSHOT);
        snapshot.snapshot.events_size = k == 0 ? 0 : snapshot.snapshot.events_size;
        snapshot.snapshot.shared_packed_size = k == 1 ? 0 : snapshot.snapshot.shared_packed_size;
        flat_encode_sent(&f, encoder, &snapshot);
        assert_int_equal(f.bytes[0] % 4, 0);
    }
}

TEST("every request and answer decodes to what was encoded") {
    for (uint32_t verb = 1; verb <= CAIRN_CONTROL_VERB_COUNT; ++verb) {
        const cairn_message request = {
            .kind = CAIRN_MESSAGE_CONTROL, .control = sample_control_request(verb)};
        expect_round_trip(&request);
        cairn_message answer = {
            .kind = CAIRN_MESSAGE_ANSWER, .answer = sample_control_answer(verb)};
        expect_round_trip(&answer);
        answer.answer.refusal = CAIRN_CONTROL_BUSY;
        answer.answer.reason = "not now";
        expect_round_trip(&answer);
    }
}

TEST("every chunk decodes to what was encoded") {
    for (int kind = 1; kind < CAIRN_CHUNK_KIND_COUNT; ++kind) {
        const cairn_chunk written = sample_chunk((cairn_chunk_kind)kind);
        flat_encode_chunk(&f, encoder, &written);
        cairn_chunk read;
        assert_int_equal(cairn_chunk_decode(f.bytes, f.size, &read), CAIRN_DECODE_OK);
        expect_same_chunk(&written, &read);
    }
}

// FlatBuffers does not align a vector without elements, so its place is any multiple of 4 bytes.
TEST("the lists of an answer may be empty") {
    static const uint32_t verbs[] = {CAIRN_CONTROL_ROOMS, CAIRN_CONTROL_SAVES,
        CAIRN_CONTROL_CLIENTS, CAIRN_CONTROL_BODIES, CAIRN_CONTROL_OVERLAP, CAIRN_CONTROL_HASH};
    static const char *const rooms[] = {"", "abcd", "abcdefgh"};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; ++i) {
        for (size_t k = 0; k < sizeof rooms / sizeof rooms[0]; ++k) {
            const cairn_message sent = {.kind = CAIRN_MESSAGE_ANSWER,
                .answer = {.verb = verbs[i], .reason = "", .room = rooms[k]}};
            expect_round_trip(&sent);
        }
    }
}

TEST("vectors and texts may be empty") {
    const cairn_message sent[] = {
        {.kind = CAIRN_MESSAGE_HELLO, .hello = {.rules_name = "", .room = "", .build = ""}},
        {.kind = CAIRN_MESSAGE_ROOT_REPORT, .root_report = {.roots = NULL}},
        {.kind = CAIRN_MESSAGE_SHAPES, .shapes = {.tick = 1}},
    };
    for (size_t i = 0; i < sizeof sent / sizeof sent[0]; ++i) {
        expect_round_trip(&sent[i]);
    }
}

TEST("a list may be as long as its limit") {
    static uint8_t bytes[CAIRN_GAME_MESSAGE_SIZE_MAX] = {1, 2, 3};
    const cairn_message sent = {.kind = CAIRN_MESSAGE_PLAYER_MESSAGE,
        .player_message = {.bytes = bytes, .size = sizeof bytes}};
    expect_round_trip(&sent);
}

TEST("height fields of the smallest and the largest sides are sent") {
    static const uint32_t words[4] = {0};
    const uint32_t sides[] = {2, CAIRN_HEIGHT_FIELD_SIDE_MAX};
    for (uint32_t i = 0; i < 4; ++i) {
        const cairn_message sent = {.kind = CAIRN_MESSAGE_MESH,
            .mesh = {.mesh = 1,
                .kind = CAIRN_MESH_HEIGHTS,
                .columns = sides[i % 2],
                .rows = sides[i / 2],
                .spacing_x = 1.0f,
                .spacing_z = 1.0f,
                .words = words,
                .word_count = 4}};
        expect_round_trip(&sent);
    }
}

// A big-endian machine reverses the words of a copy instead: schema/byte_order.h.
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
TEST("a decoded message points into its bytes") {
    const cairn_message sent = sample_message(CAIRN_MESSAGE_SHAPES);
    flat_encode_message(&f, encoder, &sent);
    cairn_message received;
    assert_int_equal(cairn_message_decode(f.bytes, f.size, CAIRN_TO_CLIENT, &received), 0);
    const uint8_t *shapes = (const uint8_t *)received.shapes.shapes;
    assert_true(shapes > f.bytes && shapes < f.bytes + f.size);
}
#endif

TEST("a message larger than the encoder is refused") {
    static uint8_t piece[4096];
    SCOPED(cairn_encoder) *small = NULL;
    assert_int_equal(cairn_encoder_create(1024, &small), CAIRN_OK);
    const uint8_t *bytes;
    size_t size;
    cairn_status status = CAIRN_OK;
    uint32_t most = 0;
    for (uint32_t n = 1; n <= sizeof piece; ++n) {
        const cairn_message message = {
            .kind = CAIRN_MESSAGE_STATE, .state = {.total_size = n, .bytes = piece, .size = n}};
        status = cairn_message_encode(small, &message, &bytes, &size);
        assert_true(status == CAIRN_OK ? size <= 1024 : status == CAIRN_CAPACITY);
        most = status == CAIRN_OK ? n : most;
    }
    assert_int_equal(status, CAIRN_CAPACITY);
    assert_true(most > 1024 - 128 && most < 1024);
}

TEST("an encoder that is NULL can be destroyed") {
    cairn_encoder_destroy(NULL);
}

// Reads the kept bytes of a sample, which any other implementation must write too.
static size_t read_vector(const char *name, uint8_t *bytes) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.hex", CAIRN_VECTORS, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fail_msg("cannot open %s: CAIRN_VECTORS_OUT=FOLDER writes new vectors", path);
    }
    size_t size = 0;
    unsigned byte;
    while (size < 4096 && fscanf(file, "%2x", &byte) == 1) {
        bytes[size++] = (uint8_t)byte;
    }
    fclose(file);
    return size;
}

// With CAIRN_VECTORS_OUT=FOLDER in the environment, writes the vector there instead.
static void compare_with_vector(const char *name) {
    static _Alignas(8) uint8_t vector[4096];
    const char *folder = getenv("CAIRN_VECTORS_OUT");
    if (folder == NULL) {
        assert_int_equal(read_vector(name, vector), f.size);
        assert_memory_equal(vector, f.bytes, f.size);
        return;
    }
    char path[512];
    snprintf(path, sizeof path, "%s/%s.hex", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < f.size; ++i) {
        fprintf(file, "%02x%s", f.bytes[i], i % 16 == 15 || i + 1 == f.size ? "\n" : " ");
    }
    fclose(file);
}

TEST("every message encodes to its kept bytes") {
    static const char *const names[CAIRN_MESSAGE_KIND_COUNT] = {NULL, "hello", "input",
        "root_report", "resync_request", "control", "welcome", "refused", "shapes", "snapshot",
        "ticks", "state", "resync_response", "event", "answer", "world_events", "mesh",
        "player_message", "game_messages"};
    for (int kind = 1; kind < CAIRN_MESSAGE_KIND_COUNT; ++kind) {
        const cairn_message message = sample_message((cairn_message_kind)kind);
        flat_encode_sent(&f, encoder, &message);
        compare_with_vector(names[kind]);
    }
}

TEST("every chunk encodes to its kept bytes") {
    static const char *const names[CAIRN_CHUNK_KIND_COUNT] = {NULL, "chunk_start", "chunk_ticks",
        "chunk_end", "chunk_keyframe", "chunk_replace", "chunk_desync"};
    for (int kind = 1; kind < CAIRN_CHUNK_KIND_COUNT; ++kind) {
        const cairn_chunk chunk = sample_chunk((cairn_chunk_kind)kind);
        flat_encode_chunk(&f, encoder, &chunk);
        compare_with_vector(names[kind]);
    }
}

TEST("the end chunk of an older recording has no seal") {
    static _Alignas(8) uint8_t old[4096];
    const cairn_wire_seal none = {.chain = {0}};
    cairn_chunk chunk;
    size_t size = read_vector("chunk_end_1", old);
    assert_int_equal(cairn_chunk_decode(old, size, &chunk), CAIRN_DECODE_OK);
    assert_int_equal(chunk.end.tick, 1002);
    assert_int_equal(chunk.end.tick_count, 2);
    assert_memory_equal(&chunk.end.seal, &none, sizeof none);
}

// The copy is exactly as large as the bytes, so that a sanitizer sees a read past its end.
static void expect_refusal_or_round_trip(
    const uint8_t *bytes, size_t size, cairn_direction direction) {
    uint8_t *copy = kit_exact_copy(bytes, size);
    cairn_message first;
    if (cairn_message_decode(copy, size, direction, &first) == CAIRN_DECODE_OK) {
        const uint8_t *again;
        size_t again_size;
        cairn_message second;
        assert_int_equal(cairn_message_encode(encoder, &first, &again, &again_size), CAIRN_OK);
        assert_int_equal(cairn_message_decode(again, again_size, direction, &second), 0);
        expect_same_message(&first, &second);
    }
    free(copy);
}

static const uint8_t masks[] = {0x01, 0x80, 0xff, 0x04};

TEST("a message with a changed byte or a cut is refused or decodes consistently") {
    for (int row = 2; row < 2 * CAIRN_MESSAGE_KIND_COUNT; ++row) {
        const int kind = row / 2;
        const cairn_message message = sample_message((cairn_message_kind)kind);
        (row % 2 == 0 ? flat_encode_message : flat_encode_sent)(&f, encoder, &message);
        for (size_t i = 0; i < f.size * sizeof masks; ++i) {
            const uint8_t mask = masks[i % sizeof masks];
            f.bytes[i / sizeof masks] ^= mask;
            expect_refusal_or_round_trip(f.bytes, f.size, CAIRN_TO_SERVER);
            expect_refusal_or_round_trip(f.bytes, f.size, CAIRN_TO_CLIENT);
            f.bytes[i / sizeof masks] ^= mask;
        }
        for (size_t cut = 0; cut < f.size; ++cut) {
            expect_refusal_or_round_trip(f.bytes, cut, sample_direction((cairn_message_kind)kind));
        }
    }
}

TEST("a chunk with a changed byte is refused or decodes consistently") {
    for (int kind = 1; kind < CAIRN_CHUNK_KIND_COUNT; ++kind) {
        const cairn_chunk chunk = sample_chunk((cairn_chunk_kind)kind);
        flat_encode_chunk(&f, encoder, &chunk);
        for (size_t i = 0; i < f.size * sizeof masks; ++i) {
            const uint8_t mask = masks[i % sizeof masks];
            f.bytes[i / sizeof masks] ^= mask;
            cairn_chunk first;
            if (cairn_chunk_decode(f.bytes, f.size, &first) == CAIRN_DECODE_OK) {
                const uint8_t *again;
                size_t size;
                cairn_chunk second;
                assert_int_equal(cairn_chunk_encode(encoder, &first, &again, &size), CAIRN_OK);
                assert_int_equal(cairn_chunk_decode(again, size, &second), CAIRN_DECODE_OK);
                expect_same_chunk(&first, &second);
            }
            f.bytes[i / sizeof masks] ^= mask;
        }
    }
}

BEFORE_ALL {
    assert_int_equal(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &encoder), CAIRN_OK);
}

AFTER_ALL {
    cairn_encoder_destroy(encoder);
}

// An encoder refuses what is larger than it; what its lists take is added up before they are read.
TEST("the size of a message's lists is that of their elements") {
#define REQUEST(VERB, member, list, element)                                                       \
    {                                                                                              \
        {.kind = CAIRN_MESSAGE_CONTROL,                                                            \
            .control = {.verb = CAIRN_CONTROL_##VERB, .member = {.list##_count = 7}}},             \
            7 * sizeof(element)                                                                    \
    }
    const struct {
        cairn_message message;
        size_t size;
    } rows[] = {REQUEST(ACT, act, edit, cairn_control_edit),
        REQUEST(ACT, act, watched, cairn_control_watched), REQUEST(SPAWN, spawn, point, cairn_vec3),
        REQUEST(SPAWN_COMPOUND, spawn_compound, point, cairn_vec3),
        REQUEST(SPAWN_COMPOUND, spawn_compound, part, cairn_control_part),
        REQUEST(SPAWN_MESH, spawn_mesh, point, cairn_vec3),
        REQUEST(SPAWN_MESH, spawn_mesh, triangle, cairn_control_triangle),
        REQUEST(SPAWN_HEIGHT_FIELD, spawn_height_field, height, cairn_control_height),
        REQUEST(SAVE_WRITE, save_write, byte, uint8_t),
        {{.kind = CAIRN_MESSAGE_INPUT, .input = {.payload_size = 7}}, 7},
        {{.kind = CAIRN_MESSAGE_ROOT_REPORT, .root_report = {.root_count = 7}},
            7 * sizeof(cairn_wire_root)},
        {{.kind = CAIRN_MESSAGE_SHAPES, .shapes = {.shape_count = 7}},
            7 * sizeof(cairn_snapshot_shape)},
        {{.kind = CAIRN_MESSAGE_SHAPES, .shapes = {.removed_count = 7}}, 7 * sizeof(uint32_t)},
        {{.kind = CAIRN_MESSAGE_SHAPES, .shapes = {.hull_count = 7}}, 7},
        {{.kind = CAIRN_MESSAGE_SHAPES, .shapes = {.corner_count = 7}}, 7 * sizeof(cairn_vec3)},
        {{.kind = CAIRN_MESSAGE_SNAPSHOT,
             .snapshot = {.payload_size = 7, .events_size = 20, .shared_packed_size = 300}},
            327},
        {{.kind = CAIRN_MESSAGE_TICKS, .ticks = {.payload_size = 7}}, 7},
        {{.kind = CAIRN_MESSAGE_STATE, .state = {.size = 7}}, 7},
        {{.kind = CAIRN_MESSAGE_RESYNC_RESPONSE,
             .resync_response = {.payload_size = 7, .stages_size = 20}},
            27},
        {{.kind = CAIRN_MESSAGE_WORLD_EVENTS, .world_events = {.event_count = 7}},
            7 * sizeof(cairn_wire_event)},
        {{.kind = CAIRN_MESSAGE_PLAYER_MESSAGE, .player_message = {.size = 7}}, 7},
        {{.kind = CAIRN_MESSAGE_GAME_MESSAGES, .game_messages = {.items_size = 7}}, 7},
        {{.kind = CAIRN_MESSAGE_MESH, .mesh = {.word_count = 7}}, 7 * sizeof(uint32_t)},
        {{.kind = CAIRN_MESSAGE_HELLO}, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_int_equal(cairn_message_vectors_size(&rows[i].message), rows[i].size);
    }
#undef REQUEST
    const struct {
        cairn_chunk chunk;
        size_t size;
    } chunks[] = {{{.kind = CAIRN_CHUNK_START, .start = {.state_size = 7}}, 7},
        {{.kind = CAIRN_CHUNK_TICKS, .ticks = {.tick_count = 7}}, 7 * sizeof(cairn_wire_tick)},
        {{.kind = CAIRN_CHUNK_TICKS, .ticks = {.command_count = 7}}, 7 * sizeof(cairn_command)},
        {{.kind = CAIRN_CHUNK_KEYFRAME, .keyframe = {.state_size = 7}}, 7},
        {{.kind = CAIRN_CHUNK_REPLACE, .replace = {.state_size = 7}}, 7},
        {{.kind = CAIRN_CHUNK_DESYNC,
             .desync = {.stages_client_size = 7, .stages_server_size = 20}},
            27},
        {{.kind = CAIRN_CHUNK_DESYNC, .desync = {.difference_count = 7}},
            7 * sizeof(cairn_wire_difference)},
        {{.kind = CAIRN_CHUNK_END}, 0}};
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; ++i) {
        assert_int_equal(cairn_chunk_vectors_size(&chunks[i].chunk), chunks[i].size);
    }
}

TEST("an item of a game message is added if it is young enough and there is room") {
    static const uint8_t bytes[CAIRN_GAME_MESSAGE_SIZE_MAX] = {1, 2, 3};
    static const struct {
        uint64_t age;
        uint32_t size, room; // of its bytes
        bool added;
    } rows[] = {{0, 1, 1, true}, {0, 1, 0, false}, {0, 5, 5, true}, {0, 5, 4, false},
        {CAIRN_GAME_ITEM_AGE_MAX, 3, 9, true}, {CAIRN_GAME_ITEM_AGE_MAX + 1, 3, 9, false},
        {258, CAIRN_GAME_MESSAGE_SIZE_MAX, CAIRN_GAME_MESSAGE_SIZE_MAX, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        uint8_t items[2 * (CAIRN_GAME_ITEM_HEAD_SIZE + CAIRN_GAME_MESSAGE_SIZE_MAX)];
        const uint64_t tick = 100000;
        uint32_t size = 0, at = 0;
        cairn_game_item item = {.tick = tick, .size = 2, .bytes = bytes};
        assert_true(cairn_game_items_add(items, sizeof items, &size, tick, &item));
        const uint32_t before = size;
        item = (cairn_game_item){.tick = tick - rows[i].age, .size = rows[i].size, .bytes = bytes};
        const uint32_t capacity = before + CAIRN_GAME_ITEM_HEAD_SIZE + rows[i].room;
        assert_int_equal(cairn_game_items_add(items, capacity, &size, tick, &item), rows[i].added);
        assert_int_equal(
            size, before + (rows[i].added ? CAIRN_GAME_ITEM_HEAD_SIZE + rows[i].size : 0));
        assert_true(cairn_game_items_next(items, size, tick, &at, &item));
        assert_int_equal(item.tick, tick);
        assert_int_equal(cairn_game_items_next(items, size, tick, &at, &item), rows[i].added);
        if (rows[i].added) {
            assert_int_equal(item.tick, tick - rows[i].age);
            assert_int_equal(item.size, rows[i].size);
            assert_memory_equal(item.bytes, bytes, item.size);
            assert_false(cairn_game_items_next(items, size, tick, &at, &item));
        }
    }
}
