// SPDX-License-Identifier: MIT
#pragma once

// What both readers of robots share: values of attributes, and messages that name the place, the
// element and the attribute.

#include <stdbool.h>

#include "robot/robot.h"
#include "robot/xml_document.h"
#include <cairn/math.h>

#define CAIRN_ROBOT_NUMBER_MAX 1e9f
#define CAIRN_ROBOT_NOTES_MAX 32

typedef struct cairn_robot_reader {
    cairn_xml_document xml;
    cairn_status status;
    char error[CAIRN_ROBOT_ERROR_SIZE];
    // What was left out, and is not needed to be right; those beyond the last are dropped.
    char notes[CAIRN_ROBOT_NOTES_MAX][CAIRN_ROBOT_ERROR_SIZE];
    uint32_t note_count;
} cairn_robot_reader;

// Keeps the first failure. `attribute` NULL: it is about the element. Returns false.
bool cairn_robot_fail(cairn_robot_reader *reader, uint32_t node,
    const cairn_xml_attribute *attribute, cairn_status status, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void cairn_robot_note(cairn_robot_reader *reader, uint32_t node,
    const cairn_xml_attribute *attribute, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

const char *cairn_robot_element(const cairn_robot_reader *reader, uint32_t node);
// The value of an attribute; NULL: the element has none of this name.
const char *cairn_robot_text(const cairn_robot_reader *reader, uint32_t node, const char *name);
// `least` to `most` numbers of an attribute, apart by blanks; *count is how many there were. Each
// is finite and at most CAIRN_ROBOT_NUMBER_MAX in size.
bool cairn_robot_numbers(cairn_robot_reader *reader, uint32_t node,
    const cairn_xml_attribute *attribute, float *out, uint32_t least, uint32_t most,
    uint32_t *count);
// Exactly `count` numbers; *out is unchanged if `attribute` is NULL.
bool cairn_robot_fixed_numbers(cairn_robot_reader *reader, uint32_t node,
    const cairn_xml_attribute *attribute, float *out, uint32_t count);
bool cairn_robot_vec3(cairn_robot_reader *reader, uint32_t node,
    const cairn_xml_attribute *attribute, cairn_vec3 *out);
// As above, and the number lies in [least, most].
bool cairn_robot_number_within(cairn_robot_reader *reader, uint32_t node,
    const cairn_xml_attribute *attribute, float least, float most, float *out);
// The name of an element as a scene can have it, "" if it has none.
bool cairn_robot_name(cairn_robot_reader *reader, uint32_t node, char out[CAIRN_NAME_SIZE_MAX + 1]);
// Refuses an element that is not one of `known`, which ends with NULL; those of `ignored` are left
// out without a word.
bool cairn_robot_check_children(cairn_robot_reader *reader, uint32_t node, const char *const *known,
    const char *const *ignored);
bool cairn_robot_word_in(const char *const *words, const char *word);
