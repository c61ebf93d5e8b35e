// SPDX-License-Identifier: MIT
#include "program/control_answer.h"

#include <inttypes.h>
#include <stdio.h>

#include "net/crypto.h"
#include "program/json.h"
#include "schema/control_tables.h"
#include "schema/messages.h"

// Where fields go: into a JSON object, or, if that is NULL, as name=value on standard output.
typedef struct output {
    cairn_json *json;
    char separator; // after each field of the text
    bool bytes;     // themselves, beside their number
} output;

static void put_number(output o, const char *name, uint64_t number) {
    if (o.json != NULL) {
        cairn_json_put_count(o.json, name, number);
    } else {
        printf("%s=%" PRIu64 "%c", name, number, o.separator);
    }
}

static void put_bool(output o, const char *name, bool value) {
    if (o.json != NULL) {
        cairn_json_put_bool(o.json, name, value);
    } else {
        printf("%s=%s%c", name, value ? "true" : "false", o.separator);
    }
}

static void put_text(output o, const char *name, const char *text) {
    if (o.json != NULL) {
        cairn_json_put_text(o.json, name, text);
    } else {
        printf("%s=%s%c", name, text, o.separator);
    }
}

static void put_reals(output o, const char *name, const float *reals, uint32_t count) {
    if (o.json != NULL) {
        cairn_json *array = cairn_json_put_array(o.json, name);
        for (uint32_t i = 0; i < count; ++i) {
            cairn_json_put_real(array, NULL, (double)reals[i]);
        }
        return;
    }
    printf("%s=", name);
    for (uint32_t i = 0; i < count; ++i) {
        printf("%s%.9g", i == 0 ? "" : ",", (double)reals[i]);
    }
    putchar(o.separator);
}

static void put_real(output o, const char *name, float real) {
    if (o.json != NULL) {
        cairn_json_put_real(o.json, name, (double)real);
    } else {
        put_reals(o, name, &real, 1);
    }
}

static void put_hash(output o, const char *name, cairn_hash128 hash) {
    char text[CAIRN_HASH_TEXT_SIZE];
    put_text(o, name, cairn_hash_print(hash, text));
}

static const char *const body_kinds[] = {"static", "kinematic", "dynamic"};
static const char *const modes[CAIRN_MODE_COUNT] = {"interpolate", "lockstep", "predict", "heal"};

// Expansions of schema/control_tables.h.
#define PUT_NUMBER(FIELD, field)                                                                   \
    _Generic(m->field, bool : put_bool, default : put_number)(o, #field, m->field);
#define PUT_FLAG(FIELD, field) put_bool(o, #field, m->field != 0);
#define PUT_BODY_KIND(FIELD, field) put_text(o, #field, body_kinds[m->field]);
#define PUT_MODE(FIELD, field) put_text(o, #field, modes[m->field]);
#define PUT_REAL(FIELD, field) put_real(o, #field, m->field);
#define PUT_LIMITED_TEXT(FIELD, field, size_max) put_text(o, #field, m->field);
#define PUT_NAME(FIELD, field) put_text(o, #field, m->field);
#define PUT_VEC3(FIELD, field) put_reals(o, #field, &m->field.x, 3);
#define PUT_QUAT(FIELD, field) put_reals(o, #field, &m->field.x, 4);
#define PUT_HASH(FIELD, field) put_hash(o, #field, m->field);
#define PUT_ONE(FIELD, field, element, Wire) put_element_##element(o, #field, &m->field, 1, false);
#define PUT_LIST(FIELD, field, count, element, Wire, count_max)                                    \
    put_element_##element(o, #field, m->field, m->count, true);
#define PUT_LIMITED_BYTES(FIELD, field, count, count_max)                                          \
    put_number(o, #count, m->count);                                                               \
    if (o.bytes) {                                                                                 \
        char digits[2 * (count_max) + 1];                                                          \
        put_text(o, #field, cairn_hex_print(m->field, m->count, digits));                          \
    }
#define PUT_OF(KIND, ...) PUT_##KIND(__VA_ARGS__)

#define PUT_ELEMENTS(element)                                                                      \
    static void put_element_##element(output outer, const char *name,                              \
        const cairn_control_##element *elements, uint32_t count, bool list) {                      \
        cairn_json *array = list ? cairn_json_put_array(outer.json, name) : NULL;                  \
        for (uint32_t i = 0; i < count; ++i) {                                                     \
            const cairn_control_##element *m = &elements[i];                                       \
            const output o = {.json = list ? cairn_json_put_object(array, NULL)                    \
                                           : cairn_json_put_object(outer.json, name),              \
                .separator = ' '};                                                                 \
            CONTROL_MEMBERS_##element(PUT_OF) if (outer.json == NULL) {                            \
                putchar('\n');                                                                     \
            }                                                                                      \
        }                                                                                          \
    }
// clang-format off
EACH_CONTROL_ELEMENT(PUT_ELEMENTS)
// clang-format on

#define PUT_ANSWER(VERB, member, structure)                                                        \
    case CAIRN_CONTROL_##VERB: {                                                                   \
        const cairn_control_##structure *m = &answer->member;                                      \
        CONTROL_MEMBERS_##structure(PUT_OF) break;                                                 \
    }

static void put_answer(output o, const cairn_control_answer *answer) {
    switch (answer->verb) {
        EACH_CONTROL_ANSWER(PUT_ANSWER)
    default: // has only the fields common to all answers
        break;
    }
}

cairn_json *cairn_control_answer_json(const cairn_control_answer *answer, bool bytes) {
    const char *verb = cairn_control_verb_text(answer->verb);
    const output o = {.json = cairn_json_create(), .bytes = bytes};
    put_bool(o, "ok", answer->refusal == CAIRN_CONTROL_DONE);
    put_text(o, "verb", verb == NULL ? "" : verb);
    put_text(o, "room", answer->room);
    put_number(o, "tick", answer->tick);
    put_hash(o, "root", answer->root);
    if (answer->refusal == CAIRN_CONTROL_DONE) {
        put_answer(o, answer);
    } else {
        put_text(o, "refusal", cairn_control_refusal_text(answer->refusal));
        put_text(o, "reason", answer->reason);
    }
    return o.json;
}

static void print_text(const cairn_control_answer *answer) {
    if (answer->refusal != CAIRN_CONTROL_DONE) {
        fprintf(stderr, "cairn-ctl: %s: %s\n", cairn_control_refusal_text(answer->refusal),
            answer->reason);
        return;
    }
    char root[CAIRN_HASH_TEXT_SIZE];
    printf("ok room=%s tick=%" PRIu64 " root=%s\n", answer->room, answer->tick,
        cairn_hash_print(answer->root, root));
    put_answer((output){.separator = '\n'}, answer);
}

void cairn_control_answer_print(const cairn_control_answer *answer, bool json) {
    if (json) {
        cairn_json *object = cairn_control_answer_json(answer, false);
        cairn_json_print(object, stdout);
        cairn_json_destroy(object);
    } else {
        print_text(answer);
    }
    fflush(stdout);
}
