// SPDX-License-Identifier: MIT
#include "schema/scene_schema.h"

#include <stdarg.h>
#include <stdio.h>

#include "schema/scene_fields.h"

typedef struct writer {
    char *out;
    size_t size;
    size_t length;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const size_t room = w->length < w->size ? w->size - w->length : 0;
    const int length = vsnprintf(room > 0 ? w->out + w->length : NULL, room, format, arguments);
    w->length += length > 0 ? (size_t)length : 0;
    va_end(arguments);
}

static void put_range(writer *w, const cairn_scene_field *field, const char *type) {
    double least, most;
    cairn_scene_field_range(field, &least, &most);
    put(w, "{\"type\": \"%s\", \"minimum\": %.9g, \"maximum\": %.9g}", type, least, most);
}

static void put_list(writer *w, const cairn_scene_field *field, const char *type, int count) {
    put(w, "{\"type\": \"array\", \"items\": ");
    put_range(w, field, type);
    if (count > 0) {
        put(w, ", \"minItems\": %d, \"maxItems\": %d", count, count);
    }
    put(w, "}");
}

static void put_choice(writer *w, const cairn_scene_field *field) {
    const char *separator = "";
    put(w, "{\"enum\": [");
    for (size_t i = 0; field->words[i] != NULL; ++i) {
        if (field->words[i][0] != '\0') {
            put(w, "%s\"%s\"", separator, field->words[i]);
            separator = ", ";
        }
    }
    put(w, "]}");
}

static void put_type(writer *w, const cairn_scene_field *field) {
    switch (field->type) {
    case CAIRN_SCENE_FLOAT:
        put_range(w, field, "number");
        return;
    case CAIRN_SCENE_WORD:
        put_range(w, field, "integer");
        return;
    case CAIRN_SCENE_LONG:
        put(w, "{\"type\": \"integer\", \"minimum\": 0, \"maximum\": 18446744073709551615}");
        return;
    case CAIRN_SCENE_SWITCH:
        put(w, "{\"type\": \"boolean\"}");
        return;
    case CAIRN_SCENE_CHOICE:
        put_choice(w, field);
        return;
    case CAIRN_SCENE_NAME:
    case CAIRN_SCENE_LABEL:
        put(w,
            "{\"type\": \"string\", \"pattern\": \"^[ -~]*$\", \"minLength\": %d, "
            "\"maxLength\": %d}",
            field->required, CAIRN_NAME_SIZE_MAX);
        return;
    case CAIRN_SCENE_VEC3:
        put_list(w, field, "number", 3);
        return;
    case CAIRN_SCENE_QUAT:
        put_list(w, field, "number", 4);
        return;
    case CAIRN_SCENE_WORDS3:
        put_list(w, field, "integer", 3);
        return;
    case CAIRN_SCENE_FLOATS:
        put_list(w, field, "number", 0);
        return;
    case CAIRN_SCENE_WORDS:
        put_list(w, field, "integer", 0);
        return;
    case CAIRN_SCENE_POINTS:
        put(w, "{\"type\": \"array\", \"items\": ");
        put_list(w, field, "number", 3);
        put(w, "}");
        return;
    case CAIRN_SCENE_OBJECTS:
        put(w, "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/%s\"}}",
            field->elements->name);
        return;
    case CAIRN_SCENE_IGNORED:
        put(w, "{}");
        return;
    }
}

static void put_object(writer *w, const cairn_scene_object *object) {
    put(w, "\"type\": \"object\", \"additionalProperties\": false, \"required\": [");
    const char *separator = "";
    for (uint32_t i = 0; i < object->field_count; ++i) {
        if (object->fields[i].required) {
            put(w, "%s\"%s\"", separator, object->fields[i].name);
            separator = ", ";
        }
    }
    put(w, "], \"properties\": {\n");
    for (uint32_t i = 0; i < object->field_count; ++i) {
        const cairn_scene_field *field = &object->fields[i];
        put(w, "  \"%s\": {\"description\": \"%s\", \"allOf\": [", field->name, field->help);
        put_type(w, field);
        put(w, "]}%s\n", i + 1 < object->field_count ? "," : "");
    }
    put(w, "}");
}

size_t cairn_scene_schema(char *out, size_t size) {
    static const cairn_scene_object *const objects[] = {&cairn_scene_object_shape,
        &cairn_scene_object_body, &cairn_scene_object_joint, &cairn_scene_object_hull,
        &cairn_scene_object_mesh, &cairn_scene_object_height_field, &cairn_scene_object_prefab,
        &cairn_scene_object_instance};
    writer w = {.out = out, .size = size};
    put(&w, "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
            "\"title\": \"A scene of cairn\",\n\"$defs\": {\n");
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; ++i) {
        put(&w, "%s\"%s\": {", i == 0 ? "" : ",\n", objects[i]->name);
        put_object(&w, objects[i]);
        put(&w, "}");
    }
    put(&w, "},\n");
    put_object(&w, &cairn_scene_object_scene);
    put(&w, "}\n");
    return w.length;
}
