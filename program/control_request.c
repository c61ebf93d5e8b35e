// SPDX-License-Identifier: MIT
#include "program/control_request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "net/crypto.h"
#include "program/control_words.h"
#include "program/json.h"
#include "schema/control_tables.h"

typedef struct reader {
    uint32_t verb;
    cairn_json *json;
    cairn_control_request_copy *copy;
    uint32_t text_count;
    const char *guarded; // the member that the last `has_` belongs to; NULL: none
    char *why;
    bool good;
} reader;

// Members that a request may leave out.
static const struct {
    uint32_t verb; // 0: of every verb
    const char *name;
} optional[] = {
    {0, "user"},
    {0, "ignored_body"},
    {0, "first"},
    {0, "paused"},
    {CAIRN_CONTROL_SAVE_WRITE, "players"},
    {CAIRN_CONTROL_SAVE_WRITE, "players_1"},
    {CAIRN_CONTROL_SAVE_WRITE, "players_2"},
    {CAIRN_CONTROL_SAVE_WRITE, "players_3"},
    {CAIRN_CONTROL_ROOM_CREATE, "tick_rate_hz"},
    {CAIRN_CONTROL_SPAWN, "rotation"},
    {CAIRN_CONTROL_SPAWN, "points"},
    {CAIRN_CONTROL_JOINTS, "body"},
    {CAIRN_CONTROL_CREATE_JOINT, "axis"},
    {CAIRN_CONTROL_CREATE_JOINT, "number"},
    {CAIRN_CONTROL_CREATE_JOINT, "break_force"},
    {CAIRN_CONTROL_RAY, "mask"},
    {CAIRN_CONTROL_CAST, "mask"},
    {CAIRN_CONTROL_CAST, "half_extents"},
    {CAIRN_CONTROL_OVERLAP, "mask"},
    {CAIRN_CONTROL_OVERLAP, "half_extents"},
    {CAIRN_CONTROL_CLOSEST, "mask"},
    {CAIRN_CONTROL_FAULTS, "loss"},
    {CAIRN_CONTROL_FAULTS, "duplicates"},
    {CAIRN_CONTROL_FAULTS, "delay_ms"},
    {CAIRN_CONTROL_FAULTS, "jitter_ms"},
    {CAIRN_CONTROL_FAULTS, "seed"},
    {CAIRN_CONTROL_SET_BODY, "value"},
    {CAIRN_CONTROL_SET_BODY, "word"},
    {CAIRN_CONTROL_SET_JOINT, "value"},
    {CAIRN_CONTROL_SET_JOINT, "word"},
    {CAIRN_CONTROL_SPAWN_COMPOUND, "rotation"},
    {CAIRN_CONTROL_SPAWN_COMPOUND, "points"},
    {CAIRN_CONTROL_SPAWN_COMPOUND, "point_count"},
    {CAIRN_CONTROL_SPAWN_MESH, "rotation"},
    {CAIRN_CONTROL_SPAWN_HEIGHT_FIELD, "rotation"},
    {CAIRN_CONTROL_SET_SHAPE, "value"},
    {CAIRN_CONTROL_SET_SHAPE, "word"},
    {CAIRN_CONTROL_SET_POSE, "rotation"},
    {CAIRN_CONTROL_SET_MASS, "products"},
    {CAIRN_CONTROL_SHAPES, "body"},
    {CAIRN_CONTROL_SET_ROW, "linear_a"},
    {CAIRN_CONTROL_SET_ROW, "angular_a"},
    {CAIRN_CONTROL_SET_ROW, "linear_b"},
    {CAIRN_CONTROL_SET_ROW, "angular_b"},
    {CAIRN_CONTROL_SET_ROW, "velocity"},
    {CAIRN_CONTROL_PUSH, "place"},
    {CAIRN_CONTROL_SET_TARGET, "rotation"},
    {CAIRN_CONTROL_EXPLODE, "shield_mask"},
    {CAIRN_CONTROL_FRACTURE, "crowding"},
    {CAIRN_CONTROL_FRACTURE, "thickness_min"},
    {CAIRN_CONTROL_FRACTURE, "seed"},
    {CAIRN_CONTROL_ACT, "edits"},
    {CAIRN_CONTROL_ACT, "fields"},
    {CAIRN_CONTROL_ACT, "watched"},
    {CAIRN_CONTROL_ACT, "buttons"},
    {CAIRN_CONTROL_ACT, "move"},
    {CAIRN_CONTROL_ACT, "aim"},
};

bool cairn_control_member_optional(uint32_t verb, const char *name) {
    for (size_t i = 0; i < sizeof optional / sizeof *optional; ++i) {
        const bool same = optional[i].verb == 0 || optional[i].verb == verb;
        if (same && strcmp(optional[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

// The first mistake is told.
static void fail(reader *r, const char *name, const char *what) {
    if (r->good) {
        snprintf(r->why, CAIRN_CONTROL_REQUEST_ERROR_SIZE, "%.60s: %s", name, what);
    }
    r->good = false;
}

// NULL: it is not there.
static const cairn_json *find(reader *r, const char *name) {
    const cairn_json *value = cairn_json_member(r->json, name);
    const bool guarded = r->guarded != NULL && strcmp(name, r->guarded) == 0;
    if (value == NULL && !guarded && !cairn_control_member_optional(r->verb, name)) {
        fail(r, name, "is missing");
    }
    return value;
}

static void read_u64(reader *r, const char *name, uint64_t *out) {
    const cairn_json *value = find(r, name);
    if (value != NULL && !cairn_json_read_count(value, out)) {
        fail(r, name, "must be a whole number below 2^64");
    }
}

static void read_u32(reader *r, const char *name, uint32_t *out) {
    char word[CAIRN_NAME_SIZE_MAX + 1];
    uint64_t number = 0;
    const cairn_json *value = find(r, name);
    const bool has_words = strcmp(name, cairn_control_word_member(r->verb)) == 0;
    if (value == NULL || (has_words && cairn_json_read_text(value, word, sizeof word) &&
                             cairn_control_word_find(r->verb, word, out))) {
        return;
    }
    if (!cairn_json_read_count(value, &number) || number > UINT32_MAX) {
        fail(r, name,
            has_words ? "must be a number, or one of the words that cairn-ctl takes"
                      : "must be a whole number below 2^32");
    }
    *out = (uint32_t)number;
}

static void read_bool(reader *r, const char *name, bool *out) {
    static const char has[] = "has_";
    if (strncmp(name, has, sizeof has - 1) == 0) {
        r->guarded = name + sizeof has - 1;
        if (cairn_json_member(r->json, name) != NULL) {
            fail(r, name, "unknown member");
        }
        *out = cairn_json_member(r->json, r->guarded) != NULL;
        return;
    }
    const cairn_json *value = find(r, name);
    if (value != NULL && !cairn_json_read_bool(value, out)) {
        fail(r, name, "must be true or false");
    }
}

static bool convert(const cairn_json *value, float *out) {
    double real = 0.0;
    const bool good = cairn_json_read_real(value, &real);
    *out = (float)real;
    return good && isfinite(*out);
}

static void read_real(reader *r, const char *name, float *out) {
    const cairn_json *value = find(r, name);
    if (value != NULL && !convert(value, out)) {
        fail(r, name, "must be a finite number");
    }
}

static bool convert_vec3(const cairn_json *value, cairn_vec3 *out) {
    return cairn_json_length(value) == 3 && convert(cairn_json_element(value, 0), &out->x) &&
           convert(cairn_json_element(value, 1), &out->y) &&
           convert(cairn_json_element(value, 2), &out->z);
}

static void read_vec3(reader *r, const char *name, cairn_vec3 *out) {
    const cairn_json *value = find(r, name);
    if (value != NULL && !convert_vec3(value, out)) {
        fail(r, name, "must be a list of three finite numbers");
    }
}

static const char *read_text(reader *r, const char *name) {
    char *out = r->copy->texts[r->text_count++];
    const cairn_json *value = find(r, name);
    if (value != NULL && !cairn_json_read_text(value, out, sizeof r->copy->texts[0])) {
        fail(r, name, "must be a text of at most 255 characters");
    }
    return out;
}
_Static_assert(CAIRN_CONTROL_NAME_SIZE_MAX == 255, "the message above contains this number");

static const uint8_t *read_bytes(reader *r, const char *name, uint32_t *count) {
    char digits[2 * CAIRN_CONTROL_PIECE_SIZE_MAX + 1] = "";
    const cairn_json *value = find(r, name);
    const bool is_text = value == NULL || cairn_json_read_text(value, digits, sizeof digits);
    const size_t size = strlen(digits) / 2;
    if (!is_text || !cairn_hex_read(digits, strlen(digits), r->copy->bytes, size)) {
        fail(r, name, "must be at most 4096 bytes, as two hexadecimal digits each");
        return r->copy->bytes;
    }
    *count = (uint32_t)size;
    return r->copy->bytes;
}
_Static_assert(CAIRN_CONTROL_PIECE_SIZE_MAX == 4096, "the message above contains this number");

// The length of a list that is there and not too long; otherwise 0.
static uint32_t read_length(reader *r, const char *name, const cairn_json **list, size_t most) {
    *list = find(r, name);
    const size_t length = *list == NULL ? 0 : cairn_json_length(*list);
    if (length > most) {
        fail(r, name, length == SIZE_MAX ? "must be a list" : "has too many elements");
    }
    return length > most ? 0 : (uint32_t)length;
}

static const cairn_vec3 *read_points(reader *r, const char *name, uint32_t *count) {
    const cairn_json *list;
    *count = read_length(r, name, &list, CAIRN_CONTROL_POINTS_MAX);
    for (uint32_t i = 0; i < *count; ++i) {
        if (!convert_vec3(cairn_json_element(list, i), &r->copy->points[i])) {
            fail(r, name, "must be lists of three finite numbers");
        }
    }
    return r->copy->points;
}

static void refuse_others(reader *r) {
    const char *name = cairn_json_first_name(r->json);
    if (name != NULL) {
        fail(r, name, "unknown member");
    }
}

// Expansions of schema/control_tables.h.
#define READ_NUMBER(FIELD, field)                                                                  \
    _Generic(m->field, bool                                                                        \
             : read_bool, uint32_t                                                                 \
             : read_u32, uint64_t                                                                  \
             : read_u64)(r, #field, &m->field);
#define READ_REAL(FIELD, field) read_real(r, #field, &m->field);
#define READ_VEC3(FIELD, field) read_vec3(r, #field, &m->field);
#define READ_LIMITED_TEXT(FIELD, field, size_max) m->field = read_text(r, #field);
#define READ_LIMITED_BYTES(FIELD, field, count, count_max)                                         \
    m->field = read_bytes(r, #field, &m->count);
#define READ_POINTS(FIELD, field, count, count_max) m->field = read_points(r, #field, &m->count);
#define READ_LIST(FIELD, field, count, element, Wire, count_max)                                   \
    m->field = read_list_##element(r, #field, &m->count, count_max);
// Taken out once it is read.
#define READ_OF(KIND, FIELD, ...)                                                                  \
    READ_##KIND(FIELD, __VA_ARGS__) cairn_json_remove(r->json, NAME_OF(__VA_ARGS__, ));
#define NAME_OF(field, ...) #field

#define READ_ELEMENTS(element)                                                                     \
    static void read_element_##element(reader *r, cairn_control_##element *m) {                    \
        CONTROL_MEMBERS_##element(READ_OF) refuse_others(r);                                       \
    }                                                                                              \
    static const cairn_control_##element *read_list_##element(                                     \
        reader *r, const char *name, uint32_t *count, size_t most) {                               \
        const cairn_json *list;                                                                    \
        *count = read_length(r, name, &list, most);                                                \
        for (uint32_t i = 0; i < *count && r->good; ++i) {                                         \
            reader inner = *r;                                                                     \
            inner.json = cairn_json_element(list, i);                                              \
            if (cairn_json_is_object(inner.json)) {                                                \
                read_element_##element(&inner, &r->copy->lists.element[i]);                        \
            } else {                                                                               \
                fail(&inner, name, "must be a list of objects");                                   \
            }                                                                                      \
            r->good = inner.good;                                                                  \
        }                                                                                          \
        return r->copy->lists.element;                                                             \
    }
// clang-format off
EACH_CONTROL_REQUEST_ELEMENT(READ_ELEMENTS)
// clang-format on

#define READ_REQUEST(VERB, member, structure, Table)                                               \
    case CAIRN_CONTROL_##VERB: {                                                                   \
        cairn_control_##structure *m = &r->copy->request.member;                                   \
        CONTROL_MEMBERS_##structure(READ_OF) break;                                                \
    }

static void read_request(reader *r) {
    switch (r->verb) {
        EACH_CONTROL_REQUEST(READ_REQUEST)
    default: // takes no arguments
        break;
    }
}

static void read_room(reader *r) {
    const cairn_json *value = cairn_json_member(r->json, "room");
    if (value != NULL && !cairn_json_read_text(value, r->copy->room, sizeof r->copy->room)) {
        fail(r, "room", "must be the name of a room");
    }
    cairn_json_remove(r->json, "room");
}

bool cairn_control_request_parse(uint32_t verb, cairn_json *json, cairn_control_request_copy *out,
    char why[CAIRN_CONTROL_REQUEST_ERROR_SIZE]) {
    reader r = {.verb = verb, .json = json, .copy = out, .why = why, .good = true};
    memset(out, 0, sizeof *out);
    out->request.verb = verb;
    out->request.room = out->room;
    read_room(&r);
    read_request(&r);
    refuse_others(&r);
    return r.good;
}
