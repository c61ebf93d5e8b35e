// SPDX-License-Identifier: MIT
#include "proto_tests/schema/samples.h"

#include "tests/kit/test.h"

#include <string.h>

#include "base/assert.h"
#include "schema/codec_tables.h"
#include "schema/control_tables.h"

// The last three of four vertices, and the one triangle.
static const uint32_t mesh_words[12] = {
    0x3f800000, 0, 0xc0000000, 0, 0, 0x40000000, 0, 0x3f800000, 0, 0, 3, 1};
static const cairn_input_field input_fields[2] = {
    {CAIRN_INPUT_BITS, 6, 0, 0}, {CAIRN_INPUT_FLOAT, 12, -1.5f, 1.5f}};
static const cairn_wire_root roots[2] = {{5, 6, 7}, {9, 10, 11}};
static const cairn_snapshot_shape shapes[3] = {
    {.id = 0x100001,
        .body = 1,
        .kind = 3,
        .half_extents = {0.5f, 0.25f, 0.125f},
        .position = {1, 2, 3},
        .rotation = {0, 0, 0, 1}},
    {.id = 2,
        .body = 0x200003,
        .kind = 2,
        .radius = 0.5f,
        .half_height = 2,
        .rotation = {0, 1, 0, 0}},
    {.id = 6, .body = 1, .kind = 5, .rotation = {0, 0, 0, 1}},
};
static const uint8_t corner_counts[1] = {4};
static const cairn_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}};
static const uint32_t removed[2] = {4, 0x300005};
static const cairn_command commands[3] = {{.kind = 1, .slot = 0, .sequence = 1},
    {.kind = 3, .slot = 0, .sequence = 9, .buttons = 2, .move = {1, 0, 0}, .aim = {0, 0.5f, 0.5f}},
    {.kind = 3, .slot = 63, .sequence = 2, .buttons = UINT32_MAX, .move = {-1, 1, -1}}};
static const cairn_wire_tick ticks[2] = {
    {.tick = 1000, .root_lo = 1, .root_hi = 2, .first_command = 0, .command_count = 2},
    {.tick = 1001, .root_lo = 3, .root_hi = 4, .first_command = 2, .command_count = 1},
};
static const uint8_t bytes[5] = {1, 2, 3, 4, 255};
static const uint8_t shared[4] = {2, 8, 0, 3};
static const uint8_t items[9] = {2, 0, 1, 'h', 'i', 0, 0, 0, '!'};
static const cairn_wire_event world_events[2] = {{.tick = 95,
                                                     .kind = 3,
                                                     .shape_a = 0x100001,
                                                     .shape_b = 0x100002,
                                                     .body_a = 0x100003,
                                                     .body_b = 0x100004,
                                                     .point = {1.0f, 2.0f, 3.0f},
                                                     .normal = {0.0f, 1.0f, 0.0f},
                                                     .approach_speed = 4.5f,
                                                     .impulse = 5.5f},
    {.tick = 95, .kind = 6, .body_a = 0x100005, .body_b = 0x100006, .joint = 0x100007}};
// As initialisers: a constant struct is not a constant expression in C17.
#define SAMPLE_VISIBLE_ROOT                                                                        \
    { .lo = 0x1122334455667788, .hi = 0x99aabbccddeeff00 }
#define SAMPLE_FULL_ROOT                                                                           \
    { .lo = 0x0102030405060708, .hi = 0x090a0b0c0d0e0f10 }

// A head with all fields of timing: tick 80, epoch 7; a keyframe with a shared part of 9 words;
// check; timing. Then the frame.
static const uint8_t snapshot_payload[] = {
    15, 80, 7, 0, 9, 0x44, 0x33, 0x22, 0x11, 4, 0x90, 0x1f, 0xe7, 0x07, 3, 2, 5, 6, 7};

// Two inputs, of ticks 100 and 101, with all fields of the head.
static const uint8_t input_payload[] = {0x5f, 0x07, 0x5a, 0x5b, 0x06, 0x03, 0x05, 0x00, 0x00, 0x80,
    0x3e, 0x0c, 0x12, 0xff, 0xfa, 0x46, 0x4d, 0x79, 0xe9, 0x06, 0x85, 0x14, 0x77, 0xcf, 0xc7, 0x7c,
    0x06, 0x31, 0x2c, 0x0f, 0xb0, 0x02, 0x66, 0x62, 0xa3, 0x6b};
// Ticks 1000, coded alone, 1001 and 1023, whose root is whole, with all fields of the head.
static const uint8_t ticks_payload[] = {0x0f, 0xe8, 0x07, 0x07, 0x09, 0xe0, 0x12, 0x8f, 0x35, 0x04,
    0x05, 0x3d, 0xff, 0xc1, 0x05, 0x98, 0xda, 0x76, 0xb9, 0xf7, 0x5a, 0x31, 0xa1, 0x77, 0xc1, 0xdb,
    0xa7, 0x08, 0x07, 0x06, 0x05, 0x2c, 0xf8, 0x06, 0x39, 0x8f, 0x17, 0xed, 0xfe, 0xe4, 0x02, 0x73,
    0xfa, 0x18, 0x17, 0x16, 0x15, 0x32, 0x15, 0xff, 0xfa, 0x46, 0x35, 0x59, 0x51, 0xbe, 0xa9, 0xb6,
    0x55, 0xd7, 0x5e, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, 0x30, 0x2f, 0x2e, 0x2d, 0x2c,
    0x2b, 0x2a, 0x29};

#define SAMPLE(KIND, member, ...)                                                                  \
    [CAIRN_MESSAGE_##KIND] = {.kind = CAIRN_MESSAGE_##KIND, .member = {__VA_ARGS__}}

static const cairn_message samples[CAIRN_MESSAGE_KIND_COUNT] = {
    SAMPLE(HELLO, hello, .protocol_version = 1, .sim_version = 2, .mode = CAIRN_MODE_LOCKSTEP,
        .spectator = 1, .velocities = 1, .rules_name = "sandbox", .rules_version = 3,
        .rules_digest = 77, .room = "arena", .build = "any compiler, any target",
        .passport_faults = 4, .passport_hash = SAMPLE_VISIBLE_ROOT),
    SAMPLE(INPUT, input, .payload = input_payload, .payload_size = sizeof input_payload),
    SAMPLE(ROOT_REPORT, root_report, .roots = roots, .root_count = 2, .world_epoch = 7,
        .rollbacks = 41, .rollback_ticks = UINT64_C(5000000000)),
    SAMPLE(RESYNC_REQUEST, resync_request, .tick = 93, .want = 3, .difference_sketch = bytes,
        .difference_sketch_size = 5, .world_epoch = 7),
    SAMPLE(WELCOME, welcome, .tick = 123456, .slot = 5, .tick_rate_hz = 60, .snapshot_rate_hz = 5,
        .mode = CAIRN_MODE_LOCKSTEP, .sim_version = 2, .rules_version = 3, .rules_name = "sandbox",
        .rules_digest = 78, .scene_name = "demo", .scene_digest = SAMPLE_FULL_ROOT, .room = "arena",
        .rights = CAIRN_RIGHT_OPERATOR, .wait_ms = 250, .reason_text = "served as asked",
        .input_fields = input_fields, .input_field_count = 2),
    SAMPLE(REFUSED, refused, .reason = CAIRN_REFUSAL_ROOM_FULL, .reason_text = "the room is full"),
    SAMPLE(SHAPES, shapes, .tick = 70, .shapes = shapes, .shape_count = 3, .removed = removed,
        .removed_count = 2, .corner_counts = corner_counts, .hull_count = 1, .corners = corners,
        .corner_count = 4),
    SAMPLE(SNAPSHOT, snapshot, .payload = snapshot_payload, .payload_size = sizeof snapshot_payload,
        .events = items, .events_size = sizeof items, .shared = shared,
        .shared_packed_size = sizeof shared, .velocities = 1),
    SAMPLE(TICKS, ticks, .payload = ticks_payload, .payload_size = sizeof ticks_payload),
    SAMPLE(STATE, state, .tick = 60, .offset = 10, .total_size = 15, .bytes = bytes, .size = 5),
    SAMPLE(RESYNC_RESPONSE, resync_response, .tick = 61, .verdict = CAIRN_RESYNC_TOO_MUCH,
        .full_root = SAMPLE_FULL_ROOT, .passport_faults = 2, .build = "any compiler, any target",
        .payload = bytes, .payload_size = 5, .stages = bytes, .stages_size = 3),
    SAMPLE(EVENT, event, .kind = CAIRN_EVENT_INPUT_WAIT, .slot = 62, .tick = 63, .value = 64,
        .reason_text = "the room waits"),
    SAMPLE(WORLD_EVENTS, world_events, .missed = 5, .events = world_events, .event_count = 2),
    SAMPLE(MESH, mesh, .mesh = 0x100002, .kind = 1, .vertex_count = 4, .triangle_count = 1,
        .first = 3, .words = mesh_words, .word_count = 12),
    SAMPLE(PLAYER_MESSAGE, player_message, .bytes = bytes, .size = 5),
    SAMPLE(GAME_MESSAGES, game_messages, .tick = 80, .missed = 3, .world_epoch = 7, .items = items,
        .items_size = sizeof items)};

#define LIST_COUNT 2

static uint32_t next_value;

static float next_real(void) {
    return 0.5f + (float)next_value++;
}

static cairn_vec3 next_vec3(void) {
    const float x = next_real();
    const float y = next_real();
    return (cairn_vec3){x, y, -next_real()};
}

// Integers get values of their own; a bool becomes true.
#define FILL_NUMBER(FIELD, field) m->field = ++next_value;
#define FILL_FLAG(FIELD, field) m->field = 1;
#define FILL_BODY_KIND(FIELD, field) m->field = CAIRN_BODY_DYNAMIC;
#define FILL_MODE(FIELD, field) m->field = 3;
#define FILL_REAL(FIELD, field) m->field = next_real();
#define FILL_LIMITED_TEXT(FIELD, field, size_max) m->field = "a " #field;
#define FILL_NAME(FIELD, field) strcpy(m->field, "a " #field);
#define FILL_VEC3(FIELD, field) m->field = next_vec3();
#define FILL_QUAT(FIELD, field) m->field = (cairn_quat){0.5f, 0.5f, -0.5f, 0.5f};
#define FILL_HASH(FIELD, field)                                                                    \
    m->field = (cairn_hash128){.lo = 0x1122334455667788 + next_value++, .hi = ~(uint64_t)0};
#define FILL_ONE(FIELD, field, element, Wire) fill_##element(&m->field);
#define FILL_LIST(FIELD, field, count, element, Wire, count_max)                                   \
    m->count = LIST_COUNT;                                                                         \
    m->field = list_of_##element();
#define FILL_LIMITED_BYTES(FIELD, field, count, count_max)                                         \
    m->count = sizeof bytes;                                                                       \
    m->field = bytes;
#define FILL_POINTS(FIELD, field, count, count_max)                                                \
    m->count = sizeof corners / sizeof *corners;                                                   \
    m->field = corners;
#define FILL_OF(KIND, ...) FILL_##KIND(__VA_ARGS__)
#define FILL_FUNCTION(structure)                                                                   \
    static void fill_##structure(cairn_control_##structure *m) {                                   \
        memset(m, 0, sizeof *m);                                                                   \
        CONTROL_MEMBERS_##structure(FILL_OF)                                                       \
    }
#define FILL_LIST_FUNCTION(element)                                                                \
    FILL_FUNCTION(element)                                                                         \
    static const cairn_control_##element *list_of_##element(void) {                                \
        static cairn_control_##element list[LIST_COUNT];                                           \
        for (uint32_t i = 0; i < LIST_COUNT; ++i) {                                                \
            fill_##element(&list[i]);                                                              \
        }                                                                                          \
        return list;                                                                               \
    }
#define FILL_REQUEST_FUNCTION(VERB, member, structure, Table) FILL_FUNCTION(structure)
#define FILL_ANSWER_FUNCTION(structure, Table) FILL_FUNCTION(structure)

// clang-format off
FILL_LIST_FUNCTION(body)
FILL_LIST_FUNCTION(feature)
FILL_LIST_FUNCTION(room)
FILL_LIST_FUNCTION(saved)
FILL_LIST_FUNCTION(client)
FILL_LIST_FUNCTION(shape)
FILL_LIST_FUNCTION(shape_state)
FILL_LIST_FUNCTION(joint)
FILL_LIST_FUNCTION(section)
FILL_LIST_FUNCTION(difference)
FILL_LIST_FUNCTION(edit)
FILL_LIST_FUNCTION(watched)
FILL_LIST_FUNCTION(part)
FILL_LIST_FUNCTION(triangle)
FILL_LIST_FUNCTION(height)
FILL_LIST_FUNCTION(number)
EACH_CONTROL_REQUEST(FILL_REQUEST_FUNCTION)
EACH_CONTROL_ANSWER_STRUCT(FILL_ANSWER_FUNCTION)
// clang-format on

#define FILL_REQUEST_CASE(VERB, member, structure, Table)                                          \
    case CAIRN_CONTROL_##VERB:                                                                     \
        fill_##structure(&request.member);                                                         \
        break;
#define FILL_ANSWER_CASE(VERB, member, structure)                                                  \
    case CAIRN_CONTROL_##VERB:                                                                     \
        fill_##structure(&answer.member);                                                          \
        break;

cairn_control_request sample_control_request(uint32_t verb) {
    cairn_control_request request = {.number = 94, .verb = verb, .room = "arena"};
    next_value = 100;
    switch (verb) {
        EACH_CONTROL_REQUEST(FILL_REQUEST_CASE)
    default:
        break;
    }
    return request;
}

cairn_control_answer sample_control_answer(uint32_t verb) {
    cairn_control_answer answer = {.number = 65,
        .verb = verb,
        .reason = "",
        .room = "arena",
        .tick = 68,
        .root = {.lo = 0x1122334455667788, .hi = 0x99aabbccddeeff00}};
    next_value = 200;
    switch (verb) {
        EACH_CONTROL_ANSWER(FILL_ANSWER_CASE)
    default:
        break;
    }
    return answer;
}

cairn_message sample_message(cairn_message_kind kind) {
    CAIRN_ASSERT(kind > CAIRN_MESSAGE_NONE && kind < CAIRN_MESSAGE_KIND_COUNT);
    if (kind == CAIRN_MESSAGE_CONTROL) {
        return (cairn_message){
            .kind = kind, .control = sample_control_request(CAIRN_CONTROL_SAVE_WRITE)};
    }
    if (kind == CAIRN_MESSAGE_ANSWER) {
        return (cairn_message){.kind = kind, .answer = sample_control_answer(CAIRN_CONTROL_BODIES)};
    }
    return samples[kind];
}

cairn_direction sample_direction(cairn_message_kind kind) {
    return cairn_message_is_clients(kind) ? CAIRN_TO_SERVER : CAIRN_TO_CLIENT;
}

static cairn_chunk_desync sample_desync(void) {
    static const uint8_t stages[32] = {1, 2, 3, 4};
    static const cairn_wire_difference differences[2] = {
        {.array = 5, .element = 7, .word = 10, .bits_client = 1, .bits_server = 2},
        {.array = 12, .element = 0, .word = 17, .bits_client = 3, .bits_server = 4}};
    return (cairn_chunk_desync){.head = {.tick = 1001,
                                    .root_before = {.lo = 1, .hi = 2},
                                    .root_client = {.lo = 3, .hi = 4},
                                    .root_again = {.lo = 5, .hi = 6},
                                    .root_server = {.lo = 7, .hi = 8},
                                    .float_mode_client = 0x9fc0,
                                    .float_mode_server = 0x1f80,
                                    .passport_client = 1,
                                    .difference_count = 3},
        .build_client = "one compiler",
        .build_server = "another one",
        .stages_client = stages,
        .stages_client_size = 32,
        .stages_server = stages,
        .stages_server_size = 16,
        .differences = differences,
        .difference_count = 2};
}

#define CHUNK(KIND, member_, ...)                                                                  \
    [CAIRN_CHUNK_##KIND] = {.kind = CAIRN_CHUNK_##KIND, .member_ = {__VA_ARGS__}}

cairn_chunk sample_chunk(cairn_chunk_kind kind) {
    static const cairn_chunk chunks[CAIRN_CHUNK_KIND_COUNT] = {
        CHUNK(START, start, .sim_version = 1, .rules_version = 2, .rules_name = "sandbox",
            .scene_name = "demo", .build = "any compiler, any target", .tick = 1000, .state = bytes,
            .state_size = 5),
        CHUNK(TICKS, ticks, .ticks = ticks, .tick_count = 2, .commands = commands,
            .command_count = 3),
        CHUNK(END, end, .tick = 1002, .tick_count = 2,
            .seal = {.chain = {1, 2, 3}, .public_key = {4, 5}, .signature = {6}}),
        CHUNK(KEYFRAME, keyframe, .tick = 1002, .state = bytes, .state_size = 5),
        CHUNK(REPLACE, replace, .tick = 7, .state = bytes, .state_size = 4)};
    CAIRN_ASSERT(kind > CAIRN_CHUNK_NONE && kind < CAIRN_CHUNK_KIND_COUNT);
    return kind == CAIRN_CHUNK_DESYNC ? (cairn_chunk){.kind = kind, .desync = sample_desync()}
                                      : chunks[kind];
}

static void expect_same_array(
    const void *a, uint32_t a_count, const void *b, uint32_t b_count, size_t element_size) {
    assert_int_equal(a_count, b_count);
    if (a_count > 0) {
        assert_memory_equal(a, b, a_count * element_size);
    }
}

// One comparison for each kind of member in schema/codec_tables.h. A member that is missing there
// is missing in the bytes too, which codec_test.c compares with kept ones.
#define SAME_NUMBER(FIELD, field) assert_true(a->field == b->field);
#define SAME_TEXT(FIELD, field) assert_string_equal(a->field, b->field);
#define SAME_STRUCT(FIELD, field, Wire) assert_memory_equal(&a->field, &b->field, sizeof a->field);
#define SAME_ADDED(FIELD, field, Wire) SAME_STRUCT(FIELD, field, Wire)
#define SAME_BYTES(FIELD, field, count)                                                            \
    expect_same_array(a->field, a->count, b->field, b->count, sizeof *a->field);
#define SAME_OPTIONAL(FIELD, field, count) SAME_BYTES(FIELD, field, count)
#define SAME_VECTOR(FIELD, field, count, Wire) SAME_BYTES(FIELD, field, count)
#define SAME_NUMBERS(FIELD, field, count, type) SAME_BYTES(FIELD, field, count)
#define SAME_OF(KIND, ...) SAME_##KIND(__VA_ARGS__)
#define SAME_FUNCTION(structure, Table)                                                            \
    static void expect_same_##Table(const cairn_##structure *a, const cairn_##structure *b) {      \
        MEMBERS_##structure(SAME_OF)                                                               \
    }
EACH_TABLE(SAME_FUNCTION)

// The same for schema/control_tables.h.
#define SAME_REAL(FIELD, field) SAME_STRUCT(FIELD, field, )
#define SAME_VEC3(FIELD, field) SAME_STRUCT(FIELD, field, )
#define SAME_QUAT(FIELD, field) SAME_STRUCT(FIELD, field, )
#define SAME_HASH(FIELD, field) SAME_STRUCT(FIELD, field, )
#define SAME_ONE(FIELD, field, element, Wire) SAME_STRUCT(FIELD, field, Wire)
#define SAME_LIMITED_TEXT(FIELD, field, size_max) SAME_TEXT(FIELD, field)
#define SAME_LIMITED_BYTES(FIELD, field, count, count_max) SAME_BYTES(FIELD, field, count)
#define SAME_POINTS(FIELD, field, count, count_max) SAME_BYTES(FIELD, field, count)
#define SAME_LIST(FIELD, field, count, element, Wire, count_max) SAME_BYTES(FIELD, field, count)
#define SAME_CONTROL_FUNCTION(structure)                                                           \
    static void same_##structure(                                                                  \
        const cairn_control_##structure *a, const cairn_control_##structure *b) {                  \
        CONTROL_MEMBERS_##structure(SAME_OF)                                                       \
    }
#define SAME_REQUEST_FUNCTION(VERB, member, structure, Table) SAME_CONTROL_FUNCTION(structure)
#define SAME_ANSWER_FUNCTION(structure, Table) SAME_CONTROL_FUNCTION(structure)
// clang-format off
EACH_CONTROL_REQUEST(SAME_REQUEST_FUNCTION)
EACH_CONTROL_ANSWER_STRUCT(SAME_ANSWER_FUNCTION)
// clang-format on

#define SAME_CASE(VERB, member, structure, Table)                                                  \
    case CAIRN_CONTROL_##VERB:                                                                     \
        same_##structure(&a->member, &b->member);                                                  \
        break;
#define SAME_ANSWER_CASE(VERB, member, structure) SAME_CASE(VERB, member, structure, )

static void expect_same_control_request(
    const cairn_control_request *a, const cairn_control_request *b) {
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->verb, b->verb);
    assert_string_equal(a->room, b->room);
    switch (a->verb) {
        EACH_CONTROL_REQUEST(SAME_CASE)
    default:
        break;
    }
}

static void expect_same_control_answer(
    const cairn_control_answer *a, const cairn_control_answer *b) {
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->verb, b->verb);
    assert_int_equal(a->refusal, b->refusal);
    assert_string_equal(a->reason, b->reason);
    assert_string_equal(a->room, b->room);
    assert_int_equal(a->tick, b->tick);
    assert_memory_equal(&a->root, &b->root, sizeof a->root);
    switch (a->refusal == CAIRN_CONTROL_DONE ? a->verb : 0) {
        EACH_CONTROL_ANSWER(SAME_ANSWER_CASE)
    default:
        break;
    }
}

#define expect_same_Control expect_same_control_request
#define expect_same_Answer expect_same_control_answer

#define MESSAGE_CASE(KIND, member, Table)                                                          \
    case CAIRN_MESSAGE_##KIND:                                                                     \
        expect_same_##Table(&a->member, &b->member);                                               \
        break;
#define CHUNK_CASE(KIND, member, Table)                                                            \
    case CAIRN_CHUNK_##KIND:                                                                       \
        expect_same_##Table(&a->member, &b->member);                                               \
        break;

void expect_same_message(const cairn_message *a, const cairn_message *b) {
    assert_int_equal(a->kind, b->kind);
    switch (a->kind) {
        EACH_MESSAGE(MESSAGE_CASE)
    case CAIRN_MESSAGE_NONE:
    case CAIRN_MESSAGE_KIND_COUNT:
        fail_msg("no message");
    }
}

void expect_same_chunk(const cairn_chunk *a, const cairn_chunk *b) {
    assert_int_equal(a->kind, b->kind);
    switch (a->kind) {
        EACH_CHUNK(CHUNK_CASE)
    case CAIRN_CHUNK_NONE:
    case CAIRN_CHUNK_KIND_COUNT:
        fail_msg("no chunk");
    }
}
