// SPDX-License-Identifier: MIT
#include "schema/message_check.h"

#include <string.h>

#include "base/assert.h"
#include "base/game_input.h"
#include "schema/codec_tables.h"
#include "schema/control_tables.h"
#include "schema/game_items.h"
#include "schema/input_payload.h"
#include "schema/snapshot_head.h"
#include "schema/tick_payload.h"

const char *cairn_decode_refusal_text(cairn_decode_refusal refusal) {
    static const char *const texts[CAIRN_DECODE_REFUSAL_COUNT] = {
        [CAIRN_DECODE_OK] = "ok",
        [CAIRN_DECODE_EMPTY] = "empty or too large",
        [CAIRN_DECODE_NOT_FLATBUFFERS] = "not a FlatBuffers message of this schema",
        [CAIRN_DECODE_UNKNOWN_KIND] = "unknown message kind",
        [CAIRN_DECODE_COUNT_LIMIT] = "too many elements",
        [CAIRN_DECODE_MISSING_FIELD] = "a field is missing",
        [CAIRN_DECODE_NON_FINITE] = "a float is not finite",
        [CAIRN_DECODE_OUT_OF_RANGE] = "a value is out of range",
        [CAIRN_DECODE_ORDER] = "ticks or ids are out of order",
        [CAIRN_DECODE_TEXT] = "a text is too long or not printable",
        [CAIRN_DECODE_WRONG_DIRECTION] = "a message that only the other side may send",
    };
    return (unsigned)refusal < CAIRN_DECODE_REFUSAL_COUNT ? texts[refusal] : "unknown refusal";
}

// Remembers the first refusal; later ones do not replace it.
typedef struct checker {
    cairn_decode_refusal refusal;
} checker;

// `floats`: any struct of floats alone. Tested by the bits: a fast-math build removes comparisons
// with NaN.
static bool is_finite(const void *floats, size_t size) {
    CAIRN_ASSERT(floats != NULL && size % sizeof(uint32_t) == 0);
    const unsigned char *at = floats;
    for (size_t i = 0; i + sizeof(uint32_t) <= size; i += sizeof(uint32_t)) {
        uint32_t bits;
        memcpy(&bits, at + i, sizeof bits);
        if ((bits & 0x7f800000u) == 0x7f800000u) {
            return false;
        }
    }
    return true;
}

#define FINITE(floats) is_finite(&(floats), sizeof(floats))

static void require(checker *c, bool holds, cairn_decode_refusal otherwise) {
    CAIRN_ASSERT(otherwise != CAIRN_DECODE_OK);
    if (c->refusal == CAIRN_DECODE_OK && !holds) {
        c->refusal = otherwise;
    }
}

static bool is_unit(cairn_quat q) {
    const float square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    return square >= 0.81f && square <= 1.21f;
}

static void check_text(checker *c, const char *text, size_t size_max) {
    CAIRN_ASSERT(size_max > 0);
    require(c, text != NULL, CAIRN_DECODE_MISSING_FIELD);
    for (size_t size = 0; c->refusal == CAIRN_DECODE_OK && text[size] != '\0'; ++size) {
        require(c, size < size_max && text[size] >= ' ' && text[size] <= '~', CAIRN_DECODE_TEXT);
    }
}

// The number of elements to check: 0 after a refusal.
static uint32_t check_vector(checker *c, const void *elements, uint32_t count, uint32_t count_max) {
    CAIRN_ASSERT(count_max > 0);
    require(c, count <= count_max, CAIRN_DECODE_COUNT_LIMIT);
    require(c, count == 0 || elements != NULL, CAIRN_DECODE_MISSING_FIELD);
    return c->refusal == CAIRN_DECODE_OK ? count : 0;
}

static void check_body(checker *c, const cairn_snapshot_body *body) {
    require(c,
        FINITE(body->position) && FINITE(body->rotation) && FINITE(body->linear_velocity) &&
            FINITE(body->angular_velocity),
        CAIRN_DECODE_NON_FINITE);
    const uint32_t kind =
        body->flags >> CAIRN_SNAPSHOT_BODY_KIND_SHIFT & CAIRN_SNAPSHOT_BODY_KIND_MASK;
    require(c,
        cairn_id_index(body->id) != CAIRN_INDEX_NONE && kind <= CAIRN_BODY_DYNAMIC &&
            body->flags >> CAIRN_SNAPSHOT_BODY_OWNER_SHIFT <= CAIRN_SLOTS_MAX &&
            is_unit(body->rotation),
        CAIRN_DECODE_OUT_OF_RANGE);
}

cairn_decode_refusal cairn_bodies_check(const cairn_snapshot_body *bodies, uint32_t count) {
    checker c = {CAIRN_DECODE_OK};
    count = check_vector(&c, bodies, count, CAIRN_BODIES_MAX);
    CAIRN_ASSERT(count <= CAIRN_BODIES_MAX && (count == 0 || bodies != NULL));
    for (uint32_t i = 0; i < count; ++i) {
        check_body(&c, &bodies[i]);
    }
    for (uint32_t i = 1; i < count; ++i) {
        require(&c, cairn_id_index(bodies[i - 1].id) < cairn_id_index(bodies[i].id),
            CAIRN_DECODE_ORDER);
    }
    return c.refusal;
}

static void check_hello(checker *c, const cairn_hello *hello) {
    check_text(c, hello->rules_name, CAIRN_NAME_SIZE_MAX);
    check_text(c, hello->room, CAIRN_NAME_SIZE_MAX);
    check_text(c, hello->build, CAIRN_TEXT_SIZE_MAX);
    require(c, hello->mode < CAIRN_MODE_COUNT && hello->spectator <= 1 && hello->velocities <= 1,
        CAIRN_DECODE_OUT_OF_RANGE);
}

static void check_input(checker *c, const cairn_input_message *message) {
    check_vector(c, message->payload, message->payload_size, CAIRN_MESSAGE_SIZE_MAX);
    if (c->refusal == CAIRN_DECODE_OK) {
        cairn_input_head head;
        require(c, cairn_input_head_read(message->payload, message->payload_size, &head) > 0,
            CAIRN_DECODE_OUT_OF_RANGE);
    }
}

static void check_root_report(checker *c, const cairn_root_report *report) {
    const uint32_t count =
        check_vector(c, report->roots, report->root_count, CAIRN_ROOTS_PER_MESSAGE_MAX);
    CAIRN_ASSERT(count == 0 || report->roots != NULL);
    for (uint32_t i = 1; i < count; ++i) {
        require(c, report->roots[i - 1].tick < report->roots[i].tick, CAIRN_DECODE_ORDER);
    }
}

static void check_resync_request(checker *c, const cairn_resync_request *request) {
    check_vector(c, request->difference_sketch, request->difference_sketch_size,
        CAIRN_DIFFERENCE_SKETCH_SIZE_MAX);
    require(c,
        request->want >= 1 &&
            request->want <= (CAIRN_RESYNC_WANT_ELEMENTS | CAIRN_RESYNC_WANT_STAGES),
        CAIRN_DECODE_OUT_OF_RANGE);
}

// A text in an array that is padded with zeros.
static void check_name(checker *c, const char name[CAIRN_NAME_SIZE_MAX + 1]) {
    CAIRN_ASSERT(name != NULL);
    require(c, memchr(name, '\0', CAIRN_NAME_SIZE_MAX + 1) != NULL, CAIRN_DECODE_TEXT);
    if (c->refusal == CAIRN_DECODE_OK) {
        check_text(c, name, CAIRN_NAME_SIZE_MAX);
    }
}

// Control messages: one check for each kind of member that schema/control_tables.h lists.
#define CHECK_NUMBER(FIELD, field)
#define CHECK_HASH(FIELD, field)
#define CHECK_FLAG(FIELD, field) require(c, m->field <= 1, CAIRN_DECODE_OUT_OF_RANGE);
#define CHECK_BODY_KIND(FIELD, field)                                                              \
    require(c, m->field <= CAIRN_BODY_DYNAMIC, CAIRN_DECODE_OUT_OF_RANGE);
#define CHECK_MODE(FIELD, field) require(c, m->field < CAIRN_MODE_COUNT, CAIRN_DECODE_OUT_OF_RANGE);
#define CHECK_REAL(FIELD, field) require(c, FINITE(m->field), CAIRN_DECODE_NON_FINITE);
#define CHECK_VEC3(FIELD, field) CHECK_REAL(FIELD, field)
#define CHECK_QUAT(FIELD, field) CHECK_REAL(FIELD, field)
#define CHECK_LIMITED_TEXT(FIELD, field, size_max) check_text(c, m->field, size_max);
#define CHECK_NAME(FIELD, field) check_name(c, m->field);
#define CHECK_ONE(FIELD, field, element, Wire) check_control_##element(c, &m->field);
#define CHECK_LIST(FIELD, field, count, element, Wire, count_max)                                  \
    for (uint32_t i = 0, n = check_vector(c, m->field, m->count, count_max); i < n; ++i) {         \
        check_control_##element(c, &m->field[i]);                                                  \
    }
#define CHECK_LIMITED_BYTES(FIELD, field, count, count_max)                                        \
    check_vector(c, m->field, m->count, count_max);
#define CHECK_POINTS(FIELD, field, count, count_max)                                               \
    for (uint32_t i = 0, n = check_vector(c, m->field, m->count, count_max); i < n; ++i) {         \
        require(c, FINITE(m->field[i]), CAIRN_DECODE_NON_FINITE);                                  \
    }
#define CHECK_OF(KIND, ...) CHECK_##KIND(__VA_ARGS__)
#define CHECK_FUNCTION(structure)                                                                  \
    static void check_control_##structure(checker *c, const cairn_control_##structure *m) {        \
        (void)c;                                                                                   \
        (void)m;                                                                                   \
        CONTROL_MEMBERS_##structure(CHECK_OF)                                                      \
    }
#define CHECK_REQUEST_FUNCTION(VERB, member, structure, Table) CHECK_FUNCTION(structure)
#define CHECK_ANSWER_FUNCTION(structure, Table) CHECK_FUNCTION(structure)
EACH_CONTROL_ELEMENT(CHECK_FUNCTION)
EACH_CONTROL_REQUEST_ELEMENT(CHECK_FUNCTION)
EACH_CONTROL_REQUEST(CHECK_REQUEST_FUNCTION)
EACH_CONTROL_ANSWER_STRUCT(CHECK_ANSWER_FUNCTION)

#define CHECK_REQUEST_CASE(VERB, member, structure, Table)                                         \
    case CAIRN_CONTROL_##VERB:                                                                     \
        check_control_##structure(c, &request->member);                                            \
        break;

static void check_control(checker *c, const cairn_control_request *request) {
    check_text(c, request->room, CAIRN_NAME_SIZE_MAX);
    require(c, request->verb <= UINT8_MAX, CAIRN_DECODE_OUT_OF_RANGE);
    switch (request->verb) {
        EACH_CONTROL_REQUEST(CHECK_REQUEST_CASE)
    default: // takes no arguments, or is unknown: the server's answer says so
        break;
    }
}

#define CHECK_ANSWER_CASE(VERB, member, structure)                                                 \
    case CAIRN_CONTROL_##VERB:                                                                     \
        check_control_##structure(c, &answer->member);                                             \
        break;

static void check_answer(checker *c, const cairn_control_answer *answer) {
    check_text(c, answer->reason, CAIRN_TEXT_SIZE_MAX);
    check_text(c, answer->room, CAIRN_NAME_SIZE_MAX);
    require(c, answer->verb <= UINT8_MAX, CAIRN_DECODE_OUT_OF_RANGE);
    switch (answer->refusal == CAIRN_CONTROL_DONE ? answer->verb : 0) {
        EACH_CONTROL_ANSWER(CHECK_ANSWER_CASE)
    default: // has nothing but what is common to all
        break;
    }
}

static void check_welcome(checker *c, const cairn_welcome *welcome) {
    check_text(c, welcome->rules_name, CAIRN_NAME_SIZE_MAX);
    check_text(c, welcome->scene_name, CAIRN_NAME_SIZE_MAX);
    check_text(c, welcome->room, CAIRN_NAME_SIZE_MAX);
    check_text(c, welcome->reason_text, CAIRN_TEXT_SIZE_MAX);
    require(c,
        (welcome->slot < CAIRN_SLOTS_MAX || welcome->slot == CAIRN_SLOT_NONE) &&
            welcome->tick_rate_hz >= CAIRN_TICK_RATE_HZ_MIN &&
            welcome->tick_rate_hz <= CAIRN_TICK_RATE_HZ_MAX && welcome->snapshot_rate_hz >= 1 &&
            welcome->snapshot_rate_hz <= welcome->tick_rate_hz &&
            welcome->mode < CAIRN_MODE_COUNT && welcome->rights <= CAIRN_RIGHT_OPERATOR,
        CAIRN_DECODE_OUT_OF_RANGE);
    const uint32_t fields =
        check_vector(c, welcome->input_fields, welcome->input_field_count, CAIRN_INPUT_FIELDS_MAX);
    for (uint32_t i = 0; i < fields; ++i) {
        const cairn_input_field *field = &welcome->input_fields[i];
        require(c, FINITE(field->lower) && FINITE(field->upper), CAIRN_DECODE_NON_FINITE);
    }
    require(c, cairn_input_layout_refusal(welcome->input_fields, fields) == NULL,
        CAIRN_DECODE_OUT_OF_RANGE);
}

static void check_refused(checker *c, const cairn_refused *refused) {
    check_text(c, refused->reason_text, CAIRN_TEXT_SIZE_MAX);
    require(c,
        refused->reason >= CAIRN_REFUSAL_PROTOCOL_VERSION && refused->reason <= CAIRN_REFUSAL_LAST,
        CAIRN_DECODE_OUT_OF_RANGE);
}

static void check_shape(checker *c, const cairn_snapshot_shape *shape) {
    require(c,
        FINITE(shape->half_extents) && FINITE(shape->radius) && FINITE(shape->half_height) &&
            FINITE(shape->position) && FINITE(shape->rotation),
        CAIRN_DECODE_NON_FINITE);
    require(c,
        cairn_id_index(shape->id) != CAIRN_INDEX_NONE &&
            cairn_id_index(shape->body) != CAIRN_INDEX_NONE && shape->kind >= CAIRN_SHAPE_SPHERE &&
            shape->kind <= CAIRN_SHAPE_HEIGHT_FIELD && is_unit(shape->rotation) &&
            shape->radius >= 0.0f && shape->half_height >= 0.0f,
        CAIRN_DECODE_OUT_OF_RANGE);
    const bool surface = shape->kind >= CAIRN_SHAPE_MESH;
    require(c, surface == (shape->mesh != 0), CAIRN_DECODE_OUT_OF_RANGE);
    const cairn_vec3 half = shape->half_extents;
    require(c, half.x >= 0.0f && half.y >= 0.0f && half.z >= 0.0f, CAIRN_DECODE_OUT_OF_RANGE);
}

// Each hull has its count, and the counts add up to the number of corners.
static void check_corners(checker *c, const cairn_shapes_message *message, uint32_t shape_count) {
    const uint32_t hull_count =
        check_vector(c, message->corner_counts, message->hull_count, CAIRN_SHAPES_MAX);
    const uint32_t corner_count = check_vector(
        c, message->corners, message->corner_count, CAIRN_SHAPES_MAX * CAIRN_HULL_VERTICES_MAX);
    uint32_t hulls = 0;
    uint32_t corners = 0;
    for (uint32_t i = 0; i < shape_count; ++i) {
        hulls += message->shapes[i].kind == CAIRN_SHAPE_HULL ? 1u : 0u;
    }
    for (uint32_t i = 0; i < hull_count; ++i) {
        const uint32_t count = message->corner_counts[i];
        require(c, count >= 4 && count <= CAIRN_HULL_VERTICES_MAX, CAIRN_DECODE_OUT_OF_RANGE);
        corners += count;
    }
    require(c, hulls == hull_count && corners == corner_count, CAIRN_DECODE_OUT_OF_RANGE);
    CAIRN_ASSERT(corner_count == 0 || message->corners != NULL);
    const size_t size = corner_count * sizeof message->corners[0];
    require(c, size == 0 || is_finite(message->corners, size), CAIRN_DECODE_NON_FINITE);
}

static void check_shapes(checker *c, const cairn_shapes_message *message) {
    const uint32_t shape_count =
        check_vector(c, message->shapes, message->shape_count, CAIRN_SHAPES_MAX);
    const uint32_t removed_count =
        check_vector(c, message->removed, message->removed_count, CAIRN_SHAPES_MAX);
    CAIRN_ASSERT(removed_count == 0 || message->removed != NULL);
    for (uint32_t i = 0; i < shape_count; ++i) {
        check_shape(c, &message->shapes[i]);
    }
    check_corners(c, message, shape_count);
    for (uint32_t i = 0; i < removed_count; ++i) {
        require(
            c, cairn_id_index(message->removed[i]) != CAIRN_INDEX_NONE, CAIRN_DECODE_OUT_OF_RANGE);
    }
}

static void check_mesh_sizes(checker *c, const cairn_mesh_message *m) {
    const uint32_t side = CAIRN_HEIGHT_FIELD_SIDE_MAX;
    const bool heights = m->kind == CAIRN_MESH_HEIGHTS;
    const bool triangles = m->kind == CAIRN_MESH_TRIANGLES;
    require(c, FINITE(m->spacing_x) && FINITE(m->spacing_z), CAIRN_DECODE_NON_FINITE);
    require(c, cairn_id_index(m->mesh) != CAIRN_INDEX_NONE && m->kind <= CAIRN_MESH_HEIGHTS,
        CAIRN_DECODE_OUT_OF_RANGE);
    require(c,
        heights ? m->columns >= 2 && m->columns <= side && m->rows >= 2 && m->rows <= side &&
                      m->spacing_x > 0.0f && m->spacing_z > 0.0f
                : m->columns == 0 && m->rows == 0,
        CAIRN_DECODE_OUT_OF_RANGE);
    require(c,
        triangles ? m->vertex_count >= 3 && m->vertex_count <= CAIRN_MESH_VERTICES_MAX &&
                        m->triangle_count >= 1 && m->triangle_count <= CAIRN_MESH_TRIANGLES_MAX
                  : m->vertex_count == 0 && m->triangle_count == 0,
        CAIRN_DECODE_OUT_OF_RANGE);
}

static bool is_finite_word(uint32_t word) {
    return (word & 0x7f800000u) != 0x7f800000u;
}

static void check_mesh(checker *c, const cairn_mesh_message *m) {
    check_mesh_sizes(c, m);
    const uint32_t count =
        check_vector(c, m->words, m->word_count, CAIRN_MESH_WORDS_PER_MESSAGE_MAX);
    if (c->refusal != CAIRN_DECODE_OK) {
        return;
    }
    const uint32_t total = cairn_mesh_message_total(m);
    require(c, (m->kind != 0) == (count > 0) && m->first <= total && count <= total - m->first,
        CAIRN_DECODE_OUT_OF_RANGE);
    const uint32_t reals = m->kind == CAIRN_MESH_HEIGHTS ? total : 3 * m->vertex_count;
    for (uint32_t i = 0; i < count; ++i) {
        const bool real = m->first + i < reals;
        require(c, !real || is_finite_word(m->words[i]), CAIRN_DECODE_NON_FINITE);
        require(c, real || m->words[i] < m->vertex_count, CAIRN_DECODE_OUT_OF_RANGE);
    }
}

static void check_items(checker *c, const uint8_t *items, uint32_t size, uint64_t tick) {
    const uint32_t count = check_vector(c, items, size, CAIRN_GAME_ITEMS_SIZE_MAX);
    require(c, cairn_game_items_check(items, count, tick), CAIRN_DECODE_OUT_OF_RANGE);
}

static void check_snapshot(checker *c, const cairn_snapshot_message *snapshot) {
    cairn_snapshot_head head;
    check_vector(c, snapshot->payload, snapshot->payload_size, CAIRN_MESSAGE_SIZE_MAX);
    if (c->refusal == CAIRN_DECODE_OK) {
        require(c, cairn_snapshot_head_read(snapshot->payload, snapshot->payload_size, &head) > 0,
            CAIRN_DECODE_OUT_OF_RANGE);
    }
    if (c->refusal == CAIRN_DECODE_OK) {
        check_items(c, snapshot->events, snapshot->events_size, head.tick);
    }
    check_vector(c, snapshot->shared, snapshot->shared_packed_size, CAIRN_SHARED_PACKED_SIZE_MAX);
    require(c, snapshot->velocities <= 1, CAIRN_DECODE_OUT_OF_RANGE);
}

static void check_player_message(checker *c, const cairn_player_message *m) {
    check_vector(c, m->bytes, m->size, CAIRN_GAME_MESSAGE_SIZE_MAX);
    require(c, m->size >= 1, CAIRN_DECODE_OUT_OF_RANGE);
}

static void check_game_messages(checker *c, const cairn_game_messages_message *m) {
    check_items(c, m->items, m->items_size, m->tick);
    require(c, m->items_size >= 1, CAIRN_DECODE_OUT_OF_RANGE);
}

// The ticks divide the commands among them without a gap.
static void check_shares(checker *c, const cairn_chunk_ticks *all) {
    CAIRN_ASSERT(c->refusal != CAIRN_DECODE_OK || all->ticks != NULL || all->tick_count == 0);
    uint32_t first = 0;
    for (uint32_t i = 0; i < all->tick_count && c->refusal == CAIRN_DECODE_OK; ++i) {
        const cairn_wire_tick *tick = &all->ticks[i];
        require(c, tick->command_count <= CAIRN_COMMANDS_PER_TICK_MAX, CAIRN_DECODE_COUNT_LIMIT);
        require(c, tick->first_command == first, CAIRN_DECODE_OUT_OF_RANGE);
        first += tick->command_count;
    }
    require(c, first == all->command_count, CAIRN_DECODE_OUT_OF_RANGE);
}

// Whether `a` may stand before `b` in a tick. The remaining fields, which cairn_command_before
// compares as well, are free: the receiver sorts.
static bool may_precede(const cairn_command *a, const cairn_command *b) {
    if (a->slot != b->slot) {
        return a->slot < b->slot;
    }
    if (a->slot == CAIRN_SLOT_OPERATOR && a->sequence != b->sequence) {
        return a->sequence < b->sequence;
    }
    return a->kind != b->kind ? a->kind < b->kind : a->sequence <= b->sequence;
}

static void check_tick_order(checker *c, const cairn_chunk_ticks *all) {
    CAIRN_ASSERT(c->refusal != CAIRN_DECODE_OK || all->ticks != NULL || all->tick_count == 0);
    for (uint32_t i = 0; i < all->tick_count && c->refusal == CAIRN_DECODE_OK; ++i) {
        const cairn_wire_tick *tick = &all->ticks[i];
        require(c, (i == 0 || tick->tick == tick[-1].tick + 1) && tick->tick != UINT64_MAX,
            CAIRN_DECODE_ORDER);
        for (uint32_t k = 1; k < tick->command_count; ++k) {
            const cairn_command *command = &all->commands[tick->first_command + k];
            require(c, may_precede(command - 1, command), CAIRN_DECODE_ORDER);
        }
    }
}

// First the floats of all commands, then kinds, slots and ranges.
static void check_commands(checker *c, const cairn_command *commands, uint32_t count) {
    CAIRN_ASSERT(commands != NULL || count == 0);
    for (uint32_t i = 0; i < count; ++i) {
        require(c, FINITE(commands[i].move) && FINITE(commands[i].aim), CAIRN_DECODE_NON_FINITE);
    }
    for (uint32_t i = 0; i < count && c->refusal == CAIRN_DECODE_OK; ++i) {
        require(c, cairn_command_check(&commands[i]) == CAIRN_OK, CAIRN_DECODE_OUT_OF_RANGE);
    }
}

static void check_chunk_ticks(checker *c, const cairn_chunk_ticks *all) {
    check_vector(c, all->ticks, all->tick_count, CAIRN_TICKS_PER_MESSAGE_MAX);
    const uint32_t command_count = check_vector(c, all->commands, all->command_count,
        CAIRN_TICKS_PER_MESSAGE_MAX * CAIRN_COMMANDS_PER_TICK_MAX);
    check_commands(c, all->commands, command_count);
    check_shares(c, all);
    check_tick_order(c, all);
}

static void check_ticks(checker *c, const cairn_ticks_message *message) {
    check_vector(c, message->payload, message->payload_size, CAIRN_MESSAGE_SIZE_MAX);
    if (c->refusal == CAIRN_DECODE_OK) {
        cairn_ticks_reader reader;
        cairn_tick_record record;
        cairn_ticks_reader_of(message->payload, message->payload_size, &reader);
        while (cairn_ticks_read(&reader, &record)) {}
        require(c, reader.bytes.ok, CAIRN_DECODE_OUT_OF_RANGE);
    }
}

static void check_state(checker *c, const cairn_state_message *state) {
    check_vector(c, state->bytes, state->size, CAIRN_MESSAGE_SIZE_MAX);
    require(c,
        state->size >= 1 && state->total_size <= CAIRN_STATE_SIZE_MAX &&
            state->unpacked_size <= CAIRN_STATE_SIZE_MAX && state->offset <= state->total_size &&
            state->size <= state->total_size - state->offset,
        CAIRN_DECODE_OUT_OF_RANGE);
}

static void check_resync_response(checker *c, const cairn_resync_response *response) {
    check_vector(c, response->payload, response->payload_size, CAIRN_MESSAGE_SIZE_MAX);
    check_vector(c, response->stages, response->stages_size, CAIRN_MESSAGE_SIZE_MAX);
    check_text(c, response->build, CAIRN_TEXT_SIZE_MAX);
    require(c, response->verdict < CAIRN_RESYNC_VERDICT_COUNT, CAIRN_DECODE_OUT_OF_RANGE);
}

static void check_event(checker *c, const cairn_event_message *event) {
    check_text(c, event->reason_text, CAIRN_TEXT_SIZE_MAX);
    require(c,
        event->kind >= 1 && event->kind <= CAIRN_EVENT_LAST &&
            (event->slot < CAIRN_SLOTS_MAX || event->slot == CAIRN_SLOT_NONE),
        CAIRN_DECODE_OUT_OF_RANGE);
}

static void check_world_events(checker *c, const cairn_world_events_message *message) {
    const cairn_wire_event *events = message->events;
    const uint32_t count =
        check_vector(c, events, message->event_count, CAIRN_EVENTS_PER_MESSAGE_MAX);
    CAIRN_ASSERT(count == 0 || events != NULL);
    for (uint32_t i = 0; i < count; ++i) {
        require(c,
            FINITE(events[i].point) && FINITE(events[i].normal) &&
                FINITE(events[i].approach_speed) && FINITE(events[i].impulse),
            CAIRN_DECODE_NON_FINITE);
        require(c,
            events[i].kind >= 1 && events[i].kind <= CAIRN_WIRE_EVENT_KIND_LAST &&
                (events[i].kind == CAIRN_WIRE_EVENT_KIND_LAST) == (events[i].joint != 0),
            CAIRN_DECODE_OUT_OF_RANGE);
        require(c, i == 0 || events[i - 1].tick <= events[i].tick, CAIRN_DECODE_ORDER);
    }
}

#define CHECK_MESSAGE_CASE(KIND, member, Table)                                                    \
    case CAIRN_MESSAGE_##KIND:                                                                     \
        check_##member(&c, &message->member);                                                      \
        return c.refusal;

cairn_decode_refusal cairn_message_check(const cairn_message *message) {
    CAIRN_ASSERT(message != NULL);
    checker c = {CAIRN_DECODE_OK};
    switch (message->kind) {
        EACH_MESSAGE(CHECK_MESSAGE_CASE)
    case CAIRN_MESSAGE_NONE:
    case CAIRN_MESSAGE_KIND_COUNT:
        break;
    }
    return CAIRN_DECODE_UNKNOWN_KIND;
}

static void check_whole_state(checker *c, const uint8_t *state, uint32_t size) {
    check_vector(c, state, size, CAIRN_STATE_SIZE_MAX);
    require(c, size >= 1, CAIRN_DECODE_OUT_OF_RANGE);
}

static void check_start(checker *c, const cairn_chunk_start *start) {
    check_whole_state(c, start->state, start->state_size);
    check_text(c, start->rules_name, CAIRN_NAME_SIZE_MAX);
    check_text(c, start->scene_name, CAIRN_NAME_SIZE_MAX);
    check_text(c, start->build, CAIRN_TEXT_SIZE_MAX);
}

static void check_stages(checker *c, const uint8_t *stages, uint32_t size) {
    check_vector(c, stages, size, CAIRN_DESYNC_STAGES_SIZE_MAX);
    require(c, size % 16 == 0, CAIRN_DECODE_OUT_OF_RANGE);
}

static bool difference_before(const cairn_wire_difference *a, const cairn_wire_difference *b) {
    if (a->array != b->array) {
        return a->array < b->array;
    }
    return a->element != b->element ? a->element < b->element : a->word < b->word;
}

static void check_desync(checker *c, const cairn_chunk_desync *desync) {
    check_text(c, desync->build_client, CAIRN_TEXT_SIZE_MAX);
    check_text(c, desync->build_server, CAIRN_TEXT_SIZE_MAX);
    check_stages(c, desync->stages_client, desync->stages_client_size);
    check_stages(c, desync->stages_server, desync->stages_server_size);
    const cairn_wire_difference *found = desync->differences;
    const uint32_t held =
        check_vector(c, found, desync->difference_count, CAIRN_DESYNC_DIFFERENCES_MAX);
    CAIRN_ASSERT(held == 0 || found != NULL);
    require(c,
        desync->head.tick >= 1 && desync->head.difference_count >= held &&
            desync->head.reserved == 0,
        CAIRN_DECODE_OUT_OF_RANGE);
    for (uint32_t i = 1; i < held; ++i) {
        require(c, difference_before(&found[i - 1], &found[i]), CAIRN_DECODE_ORDER);
    }
}

cairn_decode_refusal cairn_chunk_check(const cairn_chunk *chunk) {
    CAIRN_ASSERT(chunk != NULL);
    checker c = {CAIRN_DECODE_OK};
    switch (chunk->kind) {
    case CAIRN_CHUNK_START:
        check_start(&c, &chunk->start);
        return c.refusal;
    case CAIRN_CHUNK_TICKS:
        check_chunk_ticks(&c, &chunk->ticks);
        return c.refusal;
    case CAIRN_CHUNK_END:
        return c.refusal;
    case CAIRN_CHUNK_KEYFRAME:
        check_whole_state(&c, chunk->keyframe.state, chunk->keyframe.state_size);
        return c.refusal;
    case CAIRN_CHUNK_REPLACE:
        check_whole_state(&c, chunk->replace.state, chunk->replace.state_size);
        return c.refusal;
    case CAIRN_CHUNK_DESYNC:
        check_desync(&c, &chunk->desync);
        return c.refusal;
    case CAIRN_CHUNK_NONE:
    case CAIRN_CHUNK_KIND_COUNT:
        break;
    }
    return CAIRN_DECODE_UNKNOWN_KIND;
}
