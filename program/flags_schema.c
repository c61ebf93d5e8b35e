// SPDX-License-Identifier: MIT
#include "program/flags_schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "program/json.h"

#define ADDRESS_PATTERN "^([0-9.]+|\\[[0-9A-Fa-f:.%]+\\]):[0-9]{1,5}$"
#define NUMBER_PATTERN "^(0[xX][0-9A-Fa-f]+|[0-9]+)$"

static void put_pattern(cairn_json *out, const char *pattern) {
    cairn_json_put_text(out, "type", "string");
    cairn_json_put_count(out, "minLength", 1);
    if (pattern != NULL) {
        cairn_json_put_text(out, "pattern", pattern);
    }
}

// A number, or a text that holds one, of which the range is not told.
static void put_number(cairn_json *out, const cairn_flag *flag) {
    const uint64_t largest = flag->kind == CAIRN_FLAG_U32 ? UINT32_MAX : UINT64_MAX;
    cairn_json *choices = cairn_json_put_array(out, "anyOf");
    cairn_json *number = cairn_json_put_object(choices, NULL);
    cairn_json_put_text(number, "type", "integer");
    cairn_json_put_count(number, "minimum", flag->least);
    if (flag->most > 0 || largest == UINT32_MAX) {
        cairn_json_put_count(number, "maximum", flag->most > 0 ? flag->most : largest);
    }
    put_pattern(cairn_json_put_object(choices, NULL), NUMBER_PATTERN);
}

static void put_value(cairn_json *out, const cairn_flag *flag) {
    cairn_json *list = NULL;
    switch (flag->kind) {
    case CAIRN_FLAG_SWITCH:
        cairn_json_put_text(out, "type", "boolean");
        break;
    case CAIRN_FLAG_U32:
    case CAIRN_FLAG_U64:
        put_number(out, flag);
        break;
    case CAIRN_FLAG_CHOICE:
        list = cairn_json_put_array(out, "enum");
        for (size_t i = 0; flag->words[i] != NULL; ++i) {
            cairn_json_put_text(list, NULL, flag->words[i]);
        }
        break;
    case CAIRN_FLAG_ADDRESS:
        put_pattern(out, ADDRESS_PATTERN);
        break;
    case CAIRN_FLAG_TEXT:
    case CAIRN_FLAG_CUSTOM:
        put_pattern(out, flag->pattern);
        break;
    }
}

static void put_flag(cairn_json *properties, const cairn_flag *flag) {
    cairn_json *out = cairn_json_put_object(properties, flag->name + 2);
    cairn_json_put_text(out, "description", flag->help);
    if (flag->reloads) {
        cairn_json_put_bool(out, "x-reloads", true);
    }
    if (strstr(flag->help, "repeatable") == NULL) {
        put_value(out, flag);
        return;
    }
    cairn_json *choices = cairn_json_put_array(out, "anyOf");
    put_value(cairn_json_put_object(choices, NULL), flag);
    cairn_json *list = cairn_json_put_object(choices, NULL);
    cairn_json_put_text(list, "type", "array");
    put_value(cairn_json_put_object(list, "items"), flag);
}

void cairn_flags_schema_print(const cairn_flags_program *program) {
    cairn_json *schema = cairn_json_create();
    cairn_json_put_text(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
    cairn_json_put_text(schema, "title", program->name);
    cairn_json_put_text(schema, "type", "object");
    cairn_json_put_bool(schema, "additionalProperties", false);
    cairn_json *properties = cairn_json_put_object(schema, "properties");
    for (size_t i = 0; i < program->flag_count; ++i) {
        if (!program->flags[i].only_variable) {
            put_flag(properties, &program->flags[i]);
        }
    }
    cairn_json_print(schema, stdout);
    cairn_json_destroy(schema);
}
