// SPDX-License-Identifier: MIT
#include "robot/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "schema/json_document.h"

// "line 3, column 5: joint 'hip' axis: ..."
static void write_message(const cairn_robot_reader *reader, uint32_t node,
    const cairn_xml_attribute *attribute, char out[CAIRN_ROBOT_ERROR_SIZE], const char *format,
    va_list arguments) {
    const cairn_xml_document *xml = &reader->xml;
    const char *name = cairn_robot_text(reader, node, "name");
    uint32_t line, column;
    char why[CAIRN_ROBOT_ERROR_SIZE];
    cairn_xml_document_place(
        xml, attribute != NULL ? attribute->at : xml->nodes[node].at, &line, &column);
    vsnprintf(why, sizeof why, format, arguments);
    const int size = snprintf(out, CAIRN_ROBOT_ERROR_SIZE, "line %u, column %u: %.32s",
        (unsigned)line, (unsigned)column, xml->nodes[node].name);
    size_t at = (size_t)size;
    if (name != NULL) {
        at += (size_t)snprintf(out + at, CAIRN_ROBOT_ERROR_SIZE - at, " '%.32s'", name);
    }
    if (attribute != NULL) {
        at += (size_t)snprintf(out + at, CAIRN_ROBOT_ERROR_SIZE - at, " %.32s", attribute->name);
    }
    snprintf(out + at, CAIRN_ROBOT_ERROR_SIZE - at, ": %.96s", why);
    for (char *c = out; *c != '\0'; ++c) {
        *c = *c >= ' ' && *c <= '~' ? *c : '?';
    }
}

bool cairn_robot_fail(cairn_robot_reader *reader, uint32_t node,
    const cairn_xml_attribute *attribute, cairn_status status, const char *format, ...) {
    if (reader->status == CAIRN_OK) {
        va_list arguments;
        va_start(arguments, format);
        write_message(reader, node, attribute, reader->error, format, arguments);
        va_end(arguments);
        reader->status = status;
    }
    return false;
}

void cairn_robot_note(cairn_robot_reader *reader, uint32_t node,
    const cairn_xml_attribute *attribute, const char *format, ...) {
    if (reader->note_count < CAIRN_ROBOT_NOTES_MAX) {
        va_list arguments;
        va_start(arguments, format);
        write_message(
            reader, node, attribute, reader->notes[reader->note_count], format, arguments);
        va_end(arguments);
        reader->note_count += 1;
    }
}

const char *cairn_robot_element(const cairn_robot_reader *reader, uint32_t node) {
    return reader->xml.nodes[node].name;
}

const char *cairn_robot_text(const cairn_robot_reader *reader, uint32_t node, const char *name) {
    const cairn_xml_attribute *attribute = cairn_xml_attribute_find(&reader->xml, node, name);
    return attribute == NULL ? NULL : attribute->value;
}

// ---- Numbers

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static const char *copy_digits(const char *text, char *out, size_t *size, bool *any) {
    for (; is_digit(*text); ++text) {
        *any = true;
        if (*size < CAIRN_JSON_NUMBER_SIZE_MAX) {
            out[(*size)++] = *text;
        }
    }
    return text;
}

// Copies a number in the form that JSON has: without +, with a digit on both sides of the point.
// Returns what follows it; NULL: it is not a number, or a long one.
static const char *copy_number(
    const char *text, char out[CAIRN_JSON_NUMBER_SIZE_MAX + 8], size_t *size) {
    bool whole = false, decimals = false, exponent = false;
    *size = 0;
    if (*text == '-' || *text == '+') {
        *size += *text == '-' ? 1 : 0;
        out[0] = '-';
        text += 1;
    }
    while (*text == '0' && is_digit(text[1])) {
        text += 1;
    }
    text = copy_digits(text, out, size, &whole);
    if (!whole) {
        out[(*size)++] = '0';
    }
    if (*text == '.') {
        const size_t before = *size;
        out[(*size)++] = '.';
        text = copy_digits(text + 1, out, size, &decimals);
        *size = decimals ? *size : before;
    }
    if (!whole && !decimals) {
        return NULL;
    }
    if (*text == 'e' || *text == 'E') {
        out[(*size)++] = 'e';
        text += 1;
        if (*text == '-' || *text == '+') {
            out[(*size)++] = *text++;
        }
        text = copy_digits(text, out, size, &exponent);
        if (!exponent) {
            return NULL;
        }
    }
    out[*size] = '\0';
    return *size < CAIRN_JSON_NUMBER_SIZE_MAX ? text : NULL;
}

static bool is_non_finite(const char *text) {
    static const char *const words[] = {"nan", "inf"};
    text += *text == '-' || *text == '+' ? 1 : 0;
    for (size_t i = 0; i < 2; ++i) {
        size_t k = 0;
        while (k < 3 && (text[k] | 0x20) == words[i][k]) {
            k += 1;
        }
        if (k == 3) {
            return true;
        }
    }
    return false;
}

bool cairn_robot_numbers(cairn_robot_reader *reader, uint32_t node,
    const cairn_xml_attribute *attribute, float *out, uint32_t least, uint32_t most,
    uint32_t *count) {
    const char *text = attribute->value;
    *count = 0;
    for (;;) {
        char number[CAIRN_JSON_NUMBER_SIZE_MAX + 8];
        size_t size, end;
        while (*text == ' ') {
            text += 1;
        }
        if (*text == '\0') {
            break;
        }
        if (*count == most) {
            return cairn_robot_fail(reader, node, attribute, CAIRN_INVALID_ARGUMENT,
                "must have at most %u numbers", (unsigned)most);
        }
        const char *behind = copy_number(text, number, &size);
        if (behind == NULL || (*behind != ' ' && *behind != '\0')) {
            const bool infinite = is_non_finite(text);
            return cairn_robot_fail(reader, node, attribute,
                infinite ? CAIRN_NON_FINITE : CAIRN_MALFORMED, "number %u is not a %snumber",
                (unsigned)*count + 1, infinite ? "finite " : "");
        }
        const cairn_json_document document = {.text = number, .size = size};
        const float value = cairn_json_float(&document, 0, &end) + 0.0f;
        if (!(cairn_float_abs(value) <= CAIRN_ROBOT_NUMBER_MAX)) {
            return cairn_robot_fail(reader, node, attribute, CAIRN_INVALID_ARGUMENT,
                "number %u is larger than %g", (unsigned)*count + 1,
                (double)CAIRN_ROBOT_NUMBER_MAX);
        }
        out[(*count)++] = value;
        text = behind;
    }
    return *count >= least ||
           cairn_robot_fail(reader, node, attribute, CAIRN_INVALID_ARGUMENT,
               "must have %u numbers, has %u", (unsigned)least, (unsigned)*count);
}

bool cairn_robot_fixed_numbers(cairn_robot_reader *reader, uint32_t node,
    const cairn_xml_attribute *attribute, float *out, uint32_t count) {
    uint32_t found;
    return attribute == NULL ||
           cairn_robot_numbers(reader, node, attribute, out, count, count, &found);
}

bool cairn_robot_vec3(cairn_robot_reader *reader, uint32_t node,
    const cairn_xml_attribute *attribute, cairn_vec3 *out) {
    float numbers[3] = {out->x, out->y, out->z};
    if (!cairn_robot_fixed_numbers(reader, node, attribute, numbers, 3)) {
        return false;
    }
    *out = cairn_vec3_of(numbers[0], numbers[1], numbers[2]);
    return true;
}

bool cairn_robot_number_within(cairn_robot_reader *reader, uint32_t node,
    const cairn_xml_attribute *attribute, float least, float most, float *out) {
    if (!cairn_robot_fixed_numbers(reader, node, attribute, out, 1)) {
        return false;
    }
    return attribute == NULL || (*out >= least && *out <= most) ||
           cairn_robot_fail(reader, node, attribute, CAIRN_INVALID_ARGUMENT,
               "must be in [%g, %g], is %g", (double)least, (double)most, (double)*out);
}

// ---- Names and elements

bool cairn_robot_name(
    cairn_robot_reader *reader, uint32_t node, char out[CAIRN_NAME_SIZE_MAX + 1]) {
    const cairn_xml_attribute *attribute = cairn_xml_attribute_find(&reader->xml, node, "name");
    out[0] = '\0';
    if (attribute == NULL) {
        return true;
    }
    const size_t size = strlen(attribute->value);
    if (size > CAIRN_NAME_SIZE_MAX) {
        return cairn_robot_fail(reader, node, attribute, CAIRN_CAPACITY,
            "has more than %d characters", CAIRN_NAME_SIZE_MAX);
    }
    for (size_t i = 0; i < size; ++i) {
        const char c = attribute->value[i];
        if (c < ' ' || c > '~' || c == '"' || c == '\\') {
            return cairn_robot_fail(reader, node, attribute, CAIRN_INVALID_ARGUMENT,
                "may have printable ASCII characters without \" and \\ alone");
        }
    }
    memcpy(out, attribute->value, size + 1);
    return true;
}

bool cairn_robot_word_in(const char *const *words, const char *word) {
    for (; *words != NULL; ++words) {
        if (strcmp(*words, word) == 0) {
            return true;
        }
    }
    return false;
}

bool cairn_robot_check_children(cairn_robot_reader *reader, uint32_t node, const char *const *known,
    const char *const *ignored) {
    const cairn_xml_node *nodes = reader->xml.nodes;
    for (uint32_t i = nodes[node].child; i != 0; i = nodes[i].next) {
        if (!cairn_robot_word_in(known, nodes[i].name) &&
            !cairn_robot_word_in(ignored, nodes[i].name)) {
            return cairn_robot_fail(reader, i, NULL, CAIRN_INVALID_ARGUMENT,
                "cairn does not read <%.32s> in <%.32s>", nodes[i].name, nodes[node].name);
        }
    }
    return true;
}
