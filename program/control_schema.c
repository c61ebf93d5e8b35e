// SPDX-License-Identifier: MIT
#include "program/control_schema.h"

#include <stdbool.h>
#include <string.h>

#include "program/control_request.h"
#include "program/control_words.h"
#include "program/json.h"
#include "schema/control_tables.h"

#define HASH_PATTERN "^[0-9a-f]{32}$"

// Where the members of one object go.
typedef struct output {
    uint32_t verb;
    bool request;
    cairn_json *properties;
    cairn_json *required;
    const char *guarded; // the member that the last `has_` belongs to; NULL: none
} output;

static output begin_object(cairn_json *out, uint32_t verb, bool request) {
    cairn_json_put_text(out, "type", "object");
    cairn_json_put_bool(out, "additionalProperties", false);
    return (output){.verb = verb,
        .request = request,
        .properties = cairn_json_put_object(out, "properties"),
        .required = cairn_json_put_array(out, "required")};
}

static cairn_json *add(output *o, const char *name) {
    const bool guarded = o->guarded != NULL && strcmp(name, o->guarded) == 0;
    if (!o->request || (!guarded && !cairn_control_member_optional(o->verb, name))) {
        cairn_json_put_text(o->required, NULL, name);
    }
    return cairn_json_put_object(o->properties, name);
}

static void put_types(cairn_json *out, const char *first, const char *second) {
    cairn_json *types = cairn_json_put_array(out, "type");
    cairn_json_put_text(types, NULL, first);
    cairn_json_put_text(types, NULL, second);
}

static void put_bool(output *o, const char *name) {
    static const char has[] = "has_";
    if (o->request && strncmp(name, has, sizeof has - 1) == 0) {
        o->guarded = name + sizeof has - 1;
        return;
    }
    cairn_json_put_text(add(o, name), "type", "boolean");
}

static void put_u32(output *o, const char *name) {
    cairn_json *out = add(o, name);
    if (!o->request || strcmp(name, cairn_control_word_member(o->verb)) != 0) {
        cairn_json_put_text(out, "type", "integer");
    } else {
        cairn_json *choices = cairn_json_put_array(out, "anyOf");
        cairn_json_put_text(cairn_json_put_object(choices, NULL), "type", "integer");
        cairn_json *words = cairn_json_put_array(cairn_json_put_object(choices, NULL), "enum");
        for (uint32_t i = 0; i < cairn_control_word_count(o->verb); ++i) {
            const char *word = cairn_control_word_at(o->verb, i);
            if (word != NULL) {
                cairn_json_put_text(words, NULL, word);
            }
        }
    }
    cairn_json_put_count(out, "minimum", 0);
    cairn_json_put_count(out, "maximum", UINT32_MAX);
}

// As text above the numbers that every reader holds.
static void put_u64(output *o, const char *name) {
    cairn_json *out = add(o, name);
    put_types(out, "integer", "string");
    cairn_json_put_count(out, "minimum", 0);
    cairn_json_put_text(out, "pattern", "^[0-9]+$");
}

// An answer has null where a number is not finite.
static void put_real_type(const output *o, cairn_json *out) {
    if (o->request) {
        cairn_json_put_text(out, "type", "number");
    } else {
        put_types(out, "number", "null");
    }
}

static void put_real(output *o, const char *name) {
    put_real_type(o, add(o, name));
}

static void put_reals_type(const output *o, cairn_json *out, uint64_t count) {
    cairn_json_put_text(out, "type", "array");
    put_real_type(o, cairn_json_put_object(out, "items"));
    cairn_json_put_count(out, "minItems", count);
    cairn_json_put_count(out, "maxItems", count);
}

static void put_text(output *o, const char *name, uint64_t size_max) {
    cairn_json *out = add(o, name);
    cairn_json_put_text(out, "type", "string");
    cairn_json_put_count(out, "maxLength", size_max);
}

static void put_pattern(output *o, const char *name, const char *pattern) {
    cairn_json *out = add(o, name);
    cairn_json_put_text(out, "type", "string");
    cairn_json_put_text(out, "pattern", pattern);
}

static void put_bytes(output *o, const char *name, const char *count, uint64_t count_max) {
    cairn_json *out = add(o, name);
    cairn_json_put_text(out, "type", "string");
    cairn_json_put_text(out, "contentEncoding", "base16");
    cairn_json_put_count(out, "maxLength", 2 * count_max);
    if (!o->request) {
        put_u32(o, count);
    }
}

static void put_points(output *o, const char *name, uint64_t count_max) {
    cairn_json *out = add(o, name);
    cairn_json_put_text(out, "type", "array");
    cairn_json_put_count(out, "maxItems", count_max);
    put_reals_type(o, cairn_json_put_object(out, "items"), 3);
}

static cairn_json *put_list(output *o, const char *name, uint64_t count_max) {
    cairn_json *out = add(o, name);
    cairn_json_put_text(out, "type", "array");
    cairn_json_put_count(out, "maxItems", count_max);
    return cairn_json_put_object(out, "items");
}

// Expansions of schema/control_tables.h.
#define PUT_NUMBER(FIELD, field)                                                                   \
    _Generic(m->field, bool : put_bool, uint32_t : put_u32, uint64_t : put_u64)(o, #field);
#define PUT_FLAG(FIELD, field) put_bool(o, #field);
#define PUT_BODY_KIND(FIELD, field) put_pattern(o, #field, "^(static|kinematic|dynamic)$");
#define PUT_MODE(FIELD, field) put_pattern(o, #field, "^(interpolate|lockstep|predict|heal)$");
#define PUT_REAL(FIELD, field) put_real(o, #field);
#define PUT_LIMITED_TEXT(FIELD, field, size_max) put_text(o, #field, size_max);
#define PUT_NAME(FIELD, field) put_text(o, #field, CAIRN_NAME_SIZE_MAX);
#define PUT_VEC3(FIELD, field) put_reals_type(o, add(o, #field), 3);
#define PUT_QUAT(FIELD, field) put_reals_type(o, add(o, #field), 4);
#define PUT_HASH(FIELD, field) put_pattern(o, #field, HASH_PATTERN);
#define PUT_ONE(FIELD, field, element, Wire) put_element_##element(o, add(o, #field));
#define PUT_LIST(FIELD, field, count, element, Wire, count_max)                                    \
    put_element_##element(o, put_list(o, #field, count_max));
#define PUT_LIMITED_BYTES(FIELD, field, count, count_max) put_bytes(o, #field, #count, count_max);
#define PUT_POINTS(FIELD, field, count, count_max) put_points(o, #field, count_max);
#define PUT_OF(KIND, ...) PUT_##KIND(__VA_ARGS__)

#define PUT_ELEMENT(element)                                                                       \
    static void put_element_##element(const output *outer, cairn_json *out) {                      \
        const cairn_control_##element *m = NULL;                                                   \
        output inner = begin_object(out, outer->verb, outer->request);                             \
        output *o = &inner;                                                                        \
        (void)m;                                                                                   \
        CONTROL_MEMBERS_##element(PUT_OF)                                                          \
    }
// clang-format off
EACH_CONTROL_ELEMENT(PUT_ELEMENT)
EACH_CONTROL_REQUEST_ELEMENT(PUT_ELEMENT)
// clang-format on

#define PUT_MEMBERS(VERB, member, structure, ...)                                                  \
    case CAIRN_CONTROL_##VERB: {                                                                   \
        const cairn_control_##structure *m = NULL;                                                 \
        (void)m;                                                                                   \
        CONTROL_MEMBERS_##structure(PUT_OF) break;                                                 \
    }
#define PUT_ANSWER(VERB, member, structure) PUT_MEMBERS(VERB, member, structure, )

void cairn_control_request_schema(cairn_json *out, uint32_t verb) {
    output own = begin_object(out, verb, true);
    output *o = &own;
    cairn_json *room = cairn_json_put_object(own.properties, "room");
    cairn_json_put_text(room, "type", "string");
    cairn_json_put_text(room, "description", "what the verb is about; without it the first room");
    cairn_json_put_count(room, "maxLength", CAIRN_NAME_SIZE_MAX);
    switch (verb) {
        EACH_CONTROL_REQUEST(PUT_MEMBERS)
    default: // takes no arguments
        break;
    }
}

static void put_common(output *o, bool ok) {
    cairn_json_put_bool(add(o, "ok"), "const", ok);
    put_text(o, "verb", CAIRN_NAME_SIZE_MAX);
    put_text(o, "room", CAIRN_NAME_SIZE_MAX);
    put_u64(o, "tick");
    put_pattern(o, "root", HASH_PATTERN);
}

void cairn_control_answer_schema(cairn_json *out, uint32_t verb) {
    output own = begin_object(out, verb, false);
    output *o = &own;
    put_common(o, true);
    switch (verb) {
        EACH_CONTROL_ANSWER(PUT_ANSWER)
    default: // has only the members common to all answers
        break;
    }
}

void cairn_control_refusal_schema(cairn_json *out) {
    output own = begin_object(out, 0, false);
    put_common(&own, false);
    put_text(&own, "refusal", CAIRN_TEXT_SIZE_MAX);
    put_text(&own, "reason", CAIRN_TEXT_SIZE_MAX);
}
