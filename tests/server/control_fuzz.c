// SPDX-License-Identifier: MIT
// Requests with any content that the codec accepts, sent to a server with control: the server
// answers each once and its rooms continue.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "schema/control_tables.h"
#include "tests/kit/scenes.h"
#include "tests/server/story.h"

static story s; // too large for a stack
static story_answer answer;
static bool started;

// As small as most fields of a sensible request, and sometimes any.
static uint64_t number(cairn_reader *reader) {
    const uint8_t kind = cairn_read_u8(reader);
    return kind < 200 ? kind % 80 : kind < 240 ? cairn_read_u32(reader) : cairn_read_u64(reader);
}

static float real(cairn_reader *reader) {
    const uint8_t kind = cairn_read_u8(reader);
    const float any = cairn_read_f32(reader);
    return kind < 200 ? (float)kind / 16.0f - 6.0f : any - any == 0.0f ? any : 0.0f;
}

static const char *name(cairn_reader *reader) {
    static const char *const names[] = {"", "main", "a", "b", "test", "x y", "..", "other"};
    return names[cairn_read_u8(reader) % 8];
}

static cairn_vec3 vector(cairn_reader *reader) {
    const float x = real(reader);
    const float y = real(reader);
    return (cairn_vec3){x, y, real(reader)};
}

// Every member of the verb's arguments, from the input.
#define DRAW_NUMBER(FIELD, field) draw_number(reader, &m->field, sizeof m->field);
#define DRAW_REAL(FIELD, field) m->field = real(reader);
#define DRAW_VEC3(FIELD, field) m->field = vector(reader);
#define DRAW_LIMITED_TEXT(FIELD, field, size_max) m->field = name(reader);
#define DRAW_LIMITED_BYTES(FIELD, field, count, count_max)                                         \
    m->count = cairn_read_u8(reader) % 65;                                                         \
    m->field = bytes;                                                                              \
    cairn_read_bytes(reader, bytes, m->count);
#define DRAW_POINTS(FIELD, field, count, count_max)                                                \
    m->count = cairn_read_u8(reader) % 65;                                                         \
    m->field = points;                                                                             \
    for (uint32_t i = 0; i < m->count; ++i) {                                                      \
        points[i] = vector(reader);                                                                \
    }
#define DRAW_LIST(FIELD, field, count, element, Wire, count_max)                                   \
    m->count = cairn_read_u8(reader) % 17;                                                         \
    m->field = draw_list_of_##element(reader, m->count);
#define DRAW_OF(KIND, ...) DRAW_##KIND(__VA_ARGS__)
#define DRAW_REQUEST(VERB, member, structure, Table)                                               \
    case CAIRN_CONTROL_##VERB: {                                                                   \
        cairn_control_##structure *m = &request.member;                                            \
        CONTROL_MEMBERS_##structure(DRAW_OF) break;                                                \
    }

// The host is little-endian, as the codec requires; a bool takes the lowest bit.
static void draw_number(cairn_reader *reader, void *out, size_t size) {
    const uint64_t drawn = size == sizeof(bool) ? number(reader) % 2 : number(reader);
    memcpy(out, &drawn, size);
}

#define DRAW_LIST_FUNCTION(element)                                                                \
    static const cairn_control_##element *draw_list_of_##element(                                  \
        cairn_reader *reader, uint32_t count) {                                                    \
        static cairn_control_##element list[16];                                                   \
        for (uint32_t i = 0; i < count; ++i) {                                                     \
            cairn_control_##element *m = &list[i];                                                 \
            CONTROL_MEMBERS_##element(DRAW_OF)                                                     \
        }                                                                                          \
        return list;                                                                               \
    }
// clang-format off
EACH_CONTROL_REQUEST_ELEMENT(DRAW_LIST_FUNCTION)
// clang-format on

static cairn_control_request draw_request(
    cairn_reader *reader, uint8_t bytes[64], cairn_vec3 points[64]) {
    cairn_control_request request = {
        .verb = cairn_read_u8(reader) % (CAIRN_CONTROL_VERB_COUNT + 2)};
    request.room = name(reader);
    switch (request.verb) {
        EACH_CONTROL_REQUEST(DRAW_REQUEST)
    default:
        break;
    }
    // Long runs are tested elsewhere, and take long.
    if (request.verb == CAIRN_CONTROL_STEP) {
        request.step.tick_count %= 200;
    } else if (request.verb == CAIRN_CONTROL_ACT) {
        request.act.tick_count %= 200;
    } else if (request.verb == CAIRN_CONTROL_RUN_UNTIL) {
        request.run_until.tick %= 400;
    }
    return request;
}

// Worlds are created at every start, save, seek and room: small ones.
static void start(void) {
    static const cairn_scene *scene;
    if (scene == NULL) {
        scene = kit_scene("{'name': 'test', 'rules': 'sandbox', 'body_capacity': 32,"
                          " 'shape_capacity': 32, 'joint_capacity': 8, 'contact_capacity': 64,"
                          " 'hull_capacity': 4, 'mesh_capacity': 0, 'mesh_block_capacity': 0,"
                          " 'seed': 1, 'bodies': ["
                          "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
                          "{'kind': 'dynamic', 'position': [0, 0.6, 0], 'grid_count': [3, 2, 1],"
                          " 'grid_spacing': [2, 1.1, 1],"
                          " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}]}");
    }
    cairn_server_config config = kit_config();
    config.first_room.scene = scene;
    config.clients_max = 2;
    memset(&answer, 0, sizeof answer);
    story_start(&s, &config);
    s.operators = true;
    story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    s.clients[0].answer = &answer;
    for (uint32_t i = 0; i < 50 && s.clients[0].world == NULL; ++i) {
        story_run_ms(&s, 4);
    }
    CAIRN_ASSERT(s.clients[0].world != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cairn_reader reader = cairn_reader_of(data, size);
    if (started) {
        story_end(&s);
    }
    start();
    started = true;
    for (uint32_t i = 0; i < 12 && cairn_reader_left(&reader) > 0; ++i) {
        uint8_t bytes[64];
        cairn_vec3 points[64];
        kit_send_request(&s, 0, draw_request(&reader, bytes, points));
        story_run_ms(&s, 8);
    }
    story_run_ms(&s, 48);
    CAIRN_ASSERT(story_statistics(&s).protocol_violations == 0);
    CAIRN_ASSERT(s.clients[0].roots_wrong == 0);
    CAIRN_ASSERT(story_world(&s) != NULL);
    return 0;
}
