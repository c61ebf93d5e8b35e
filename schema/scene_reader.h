// SPDX-License-Identifier: MIT
#pragma once

// Reads the objects of a scene by their tables (schema/scene_fields.h), and collects what is wrong
// with its place in the text.

#include "schema/json_document.h"
#include "schema/scene_fields.h"

#define CAIRN_SCENE_PATH_MAX 4

typedef struct cairn_scene_reader {
    cairn_json_document document;
    cairn_scene_report *report;
    // Where the object that is being read hangs: "bodies[3].shapes[0]."
    struct {
        const char *name;
        uint32_t index;
    } path[CAIRN_SCENE_PATH_MAX];
    uint32_t path_length;
    bool out_of_memory;
} cairn_scene_reader;

// Adds a message about a field of the object that is being read, or NULL: about the object.
void cairn_scene_fail(cairn_scene_reader *reader, size_t at, cairn_status status, const char *field,
    const char *format, ...) __attribute__((format(printf, 5, 6)));
void cairn_scene_warn(cairn_scene_reader *reader, size_t at, const char *field, const char *format,
    ...) __attribute__((format(printf, 4, 5)));

// The member of an object, or NULL.
const cairn_json_node *cairn_scene_member(
    const cairn_scene_reader *reader, const cairn_json_node *object, const char *name);
// Where the value of a member is, or the object if it has none of this name.
size_t cairn_scene_place(
    const cairn_scene_reader *reader, const cairn_json_node *object, const char *name);
// The element of an object that is the list `name`, in order; `last` NULL: the first. NULL: no
// more. Elements that are not objects were refused by cairn_scene_read_object and are left out.
const cairn_json_node *cairn_scene_next_element(const cairn_scene_reader *reader,
    const cairn_json_node *object, const char *name, const cairn_json_node *last);
void cairn_scene_path_push(cairn_scene_reader *reader, const char *name, uint32_t index);
void cairn_scene_path_pop(cairn_scene_reader *reader);

// Fills a struct from an object, by the object's table. Fields that are wrong keep their value.
void cairn_scene_read_object(cairn_scene_reader *reader, const cairn_json_node *object,
    const cairn_scene_object *table, void *out);

// The list `name` of an object: appends its floats, words or points to an array of *capacity.
// Returns the array, which may have moved.
float *cairn_scene_read_floats(cairn_scene_reader *reader, const cairn_json_node *object,
    const cairn_scene_field *field, float *array, uint32_t *count, uint32_t *capacity);
uint32_t *cairn_scene_read_words(cairn_scene_reader *reader, const cairn_json_node *object,
    const cairn_scene_field *field, uint32_t *array, uint32_t *count, uint32_t *capacity);
cairn_vec3 *cairn_scene_read_points(cairn_scene_reader *reader, const cairn_json_node *object,
    const cairn_scene_field *field, cairn_vec3 *array, uint32_t *count, uint32_t *capacity);

// Room for `more` elements behind `count`. Returns the array, which may have moved; without memory
// the old one, and reader->out_of_memory.
void *cairn_scene_grow(cairn_scene_reader *reader, void *array, uint32_t count, uint32_t more,
    uint32_t *capacity, size_t size);
