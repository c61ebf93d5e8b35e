// SPDX-License-Identifier: MIT
#include "tools/scene/gltf_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"

enum { UNSIGNED_BYTE = 5121, UNSIGNED_SHORT = 5123, UNSIGNED_INT = 5125, FLOAT = 5126 };
enum { MAGIC = 0x46546c67, JSON_CHUNK = 0x4e4f534a, BINARY_CHUNK = 0x004e4942 };
enum { HEADER_SIZE = 12, CHUNK_HEADER_SIZE = 8 };

bool cairn_gltf_fail(cairn_gltf *file, const char *format, ...) {
    if (file->error[0] == '\0') {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(file->error, sizeof file->error, format, arguments);
        va_end(arguments);
    }
    return false;
}

// ---- members

static const cairn_json_node *node_at(const cairn_gltf *file, uint32_t node) {
    CAIRN_ASSERT(node < file->json.count);
    return &file->json.nodes[node];
}

uint32_t cairn_gltf_member(const cairn_gltf *file, uint32_t object, const char *name) {
    const cairn_json_node *owner = node_at(file, object);
    uint32_t at = owner->kind == CAIRN_JSON_OBJECT ? owner->child : 0;
    while (at != 0 && !cairn_json_key_is(&file->json, node_at(file, at), name)) {
        at = node_at(file, at)->next;
    }
    return at;
}

void cairn_gltf_text(
    const cairn_gltf *file, uint32_t object, const char *name, char *out, size_t size) {
    const uint32_t at = cairn_gltf_member(file, object, name);
    out[0] = '\0';
    if (at != 0 && node_at(file, at)->kind == CAIRN_JSON_TEXT) {
        (void)cairn_json_text_copy(&file->json, node_at(file, at)->at + 1, out, size);
    }
}

// For messages.
static void place_of(const cairn_gltf *file, uint32_t object, char out[48]) {
    uint32_t line, column;
    cairn_json_document_place(&file->json, node_at(file, object)->at, &line, &column);
    snprintf(out, 48, "line %u, column %u", (unsigned)line, (unsigned)column);
}

uint32_t cairn_gltf_index(
    cairn_gltf *file, uint32_t object, const char *name, uint32_t most, uint32_t otherwise) {
    const uint32_t at = cairn_gltf_member(file, object, name);
    uint64_t value = 0;
    size_t end;
    if (at == 0) {
        return otherwise;
    }
    if (node_at(file, at)->kind != CAIRN_JSON_NUMBER ||
        !cairn_json_whole(&file->json, node_at(file, at)->at, &value, &end) || value > most) {
        char place[48];
        place_of(file, at, place);
        (void)cairn_gltf_fail(
            file, "%s: %s must be a whole number, at most %u", place, name, (unsigned)most);
        return otherwise;
    }
    return (uint32_t)value;
}

bool cairn_gltf_floats(
    cairn_gltf *file, uint32_t object, const char *name, float *out, uint32_t count) {
    const uint32_t member = cairn_gltf_member(file, object, name);
    if (member == 0) {
        return true;
    }
    const cairn_json_node *list = node_at(file, member);
    bool right = list->kind == CAIRN_JSON_NUMBERS && list->count == count;
    size_t at = right ? cairn_json_number_next(&file->json, list->at + 1) : 0;
    for (uint32_t i = 0; right && i < count; ++i) {
        size_t end;
        out[i] = cairn_json_float(&file->json, at, &end) + 0.0f;
        right = cairn_float_finite(out[i]);
        at = cairn_json_number_next(&file->json, end);
    }
    if (!right) {
        char place[48];
        place_of(file, member, place);
        return cairn_gltf_fail(
            file, "%s: %s must be a list of %u finite numbers", place, name, (unsigned)count);
    }
    return true;
}

// ---- the file

static bool read_list(cairn_gltf *file, const char *name, cairn_gltf_list *list) {
    const uint32_t at = cairn_gltf_member(file, 0, name);
    list->name = name;
    if (at == 0) {
        return true;
    }
    const uint32_t count = node_at(file, at)->count;
    if (node_at(file, at)->kind != CAIRN_JSON_LIST || count > CAIRN_GLTF_NODES_MAX) {
        return cairn_gltf_fail(
            file, "%s: must be a list of at most %d objects", name, CAIRN_GLTF_NODES_MAX);
    }
    list->elements = calloc((size_t)count + 1, sizeof *list->elements);
    if (list->elements == NULL) {
        return cairn_gltf_fail(file, "out of memory");
    }
    for (uint32_t i = node_at(file, at)->child; i != 0; i = node_at(file, i)->next) {
        list->elements[list->count++] = i;
    }
    return true;
}

static bool read_binary(
    cairn_gltf *file, const uint8_t *bytes, size_t size, const char **text, size_t *text_size) {
    cairn_reader reader = cairn_reader_of(bytes, size);
    (void)cairn_read_u32(&reader);
    const uint32_t version = cairn_read_u32(&reader);
    const uint32_t whole = cairn_read_u32(&reader);
    const uint32_t json_size = cairn_read_u32(&reader);
    const uint32_t json_kind = cairn_read_u32(&reader);
    const size_t json_at = HEADER_SIZE + CHUNK_HEADER_SIZE;
    if (!reader.ok || version != 2 || whole > size || json_kind != JSON_CHUNK ||
        json_size > whole || json_at > whole - json_size) {
        return cairn_gltf_fail(file, "the header is not that of binary glTF 2.0");
    }
    *text = (const char *)bytes + json_at;
    *text_size = json_size;
    const size_t chunk = json_at + json_size;
    if (chunk + CHUNK_HEADER_SIZE <= whole) {
        reader = cairn_reader_of(bytes + chunk, whole - chunk);
        const uint32_t binary_size = cairn_read_u32(&reader);
        if (cairn_read_u32(&reader) == BINARY_CHUNK) {
            if (binary_size > whole - chunk - CHUNK_HEADER_SIZE) {
                return cairn_gltf_fail(file, "the binary chunk is cut off");
            }
            file->binary = bytes + chunk + CHUNK_HEADER_SIZE;
            file->binary_size = binary_size;
        }
    }
    return true;
}

// Extensions that change nothing about the triangles.
static bool extension_is_harmless(const char *name) {
    static const char *const prefixes[] = {
        "KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_", "KHR_animation_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; ++i) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool check_extensions(cairn_gltf *file) {
    const uint32_t list = cairn_gltf_member(file, 0, "extensionsRequired");
    for (uint32_t i = list == 0 ? 0 : node_at(file, list)->child; i != 0;
         i = node_at(file, i)->next) {
        char name[CAIRN_GLTF_NAME_SIZE] = "?";
        if (node_at(file, i)->kind == CAIRN_JSON_TEXT) {
            (void)cairn_json_text_copy(&file->json, node_at(file, i)->at + 1, name, sizeof name);
        }
        if (!extension_is_harmless(name)) {
            return cairn_gltf_fail(
                file, "extensionsRequired: %s is not supported: export without it", name);
        }
    }
    return true;
}

static bool check_version(cairn_gltf *file) {
    char version[8] = "";
    const uint32_t asset = cairn_gltf_member(file, 0, "asset");
    if (asset != 0) {
        cairn_gltf_text(file, asset, "version", version, sizeof version);
    }
    return strncmp(version, "2.", 2) == 0 ||
           cairn_gltf_fail(file, "asset.version: must be 2.0, is '%s'", version);
}

bool cairn_gltf_open(
    cairn_gltf *file, const uint8_t *bytes, size_t size, cairn_gltf_load *load, void *context) {
    *file = (cairn_gltf){.load = load, .context = context};
    const char *text = (const char *)bytes;
    size_t text_size = size;
    cairn_reader reader = cairn_reader_of(bytes, size);
    if (size >= HEADER_SIZE && cairn_read_u32(&reader) == MAGIC &&
        !read_binary(file, bytes, size, &text, &text_size)) {
        return false;
    }
    if (cairn_json_document_parse(&file->json, text, text_size) != CAIRN_OK) {
        uint32_t line, column;
        cairn_json_document_place(&file->json, file->json.at, &line, &column);
        return cairn_gltf_fail(
            file, "line %u, column %u: %s", (unsigned)line, (unsigned)column, file->json.error);
    }
    if (!check_version(file) || !check_extensions(file) ||
        !read_list(file, "nodes", &file->nodes) || !read_list(file, "meshes", &file->meshes) ||
        !read_list(file, "accessors", &file->accessors) ||
        !read_list(file, "bufferViews", &file->views) ||
        !read_list(file, "buffers", &file->buffers) || !read_list(file, "scenes", &file->scenes)) {
        return false;
    }
    file->loaded = calloc((size_t)file->buffers.count + 1, sizeof *file->loaded);
    return file->loaded != NULL || cairn_gltf_fail(file, "out of memory");
}

void cairn_gltf_close(cairn_gltf *file) {
    for (uint32_t i = 0; file->loaded != NULL && i < file->buffers.count; ++i) {
        free(file->loaded[i].owned);
    }
    cairn_gltf_list *lists[] = {
        &file->nodes, &file->meshes, &file->accessors, &file->views, &file->buffers, &file->scenes};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
        free(lists[i]->elements);
    }
    free(file->loaded);
    cairn_json_document_destroy(&file->json);
}

// ---- buffers

// The value of a base-64 digit, 64 for any other character.
static uint32_t digit_of(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c == '\0' ? NULL : strchr(digits, c);
    return found == NULL ? 64 : (uint32_t)(found - digits);
}

static size_t decode_base64(const char *text, uint8_t *out) {
    size_t size = 0;
    uint32_t held = 0, bits = 0;
    for (; digit_of(*text) < 64; ++text) {
        held = (held << 6 | digit_of(*text)) & 0xffffff;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[size++] = (uint8_t)(held >> bits);
        }
    }
    return size;
}

// From "data:...;base64,...", or a file beside this one.
static bool load_buffer(cairn_gltf *file, uint32_t index, uint32_t uri) {
    cairn_gltf_buffer *buffer = &file->loaded[index];
    const size_t at = node_at(file, uri)->at + 1;
    const size_t length = cairn_json_text_copy(&file->json, at, (char[1]){0}, 1);
    char *text = malloc(length + 1);
    if (text == NULL) {
        return cairn_gltf_fail(file, "out of memory");
    }
    (void)cairn_json_text_copy(&file->json, at, text, length + 1);
    const char *comma = strncmp(text, "data:", 5) == 0 ? strstr(text, ";base64,") : NULL;
    if (comma != NULL) {
        buffer->owned = malloc(length + 1);
        buffer->size =
            buffer->owned == NULL ? 0 : decode_base64(comma + strlen(";base64,"), buffer->owned);
    } else if (file->load != NULL && strncmp(text, "data:", 5) != 0) {
        buffer->owned = file->load(file->context, text, &buffer->size);
    }
    buffer->bytes = buffer->owned;
    if (buffer->bytes == NULL) {
        (void)cairn_gltf_fail(file, "buffers[%u]: '%.60s' cannot be loaded", (unsigned)index, text);
    }
    free(text);
    return buffer->bytes != NULL;
}

static const cairn_gltf_buffer *buffer_of(cairn_gltf *file, uint32_t index) {
    cairn_gltf_buffer *buffer = &file->loaded[index];
    const uint32_t object = file->buffers.elements[index];
    const uint32_t uri = cairn_gltf_member(file, object, "uri");
    if (buffer->bytes == NULL && uri != 0 && node_at(file, uri)->kind == CAIRN_JSON_TEXT) {
        return load_buffer(file, index, uri) ? buffer : NULL;
    }
    if (buffer->bytes == NULL && index == 0 && file->binary != NULL) {
        buffer->bytes = file->binary;
        buffer->size = file->binary_size;
    }
    if (buffer->bytes == NULL) {
        (void)cairn_gltf_fail(file, "buffers[%u]: has no data", (unsigned)index);
        return NULL;
    }
    return buffer;
}

// ---- accessors

// Numbers in a buffer: element i begins at bytes + i * stride.
typedef struct numbers {
    const uint8_t *bytes;
    uint32_t count;
    uint32_t component;
    size_t stride;
} numbers;

static uint32_t component_size(uint32_t component) {
    return component == UNSIGNED_BYTE ? 1 : component == UNSIGNED_SHORT ? 2 : 4;
}

static bool find_numbers(cairn_gltf *file, uint32_t index, const char *type, uint32_t components,
    uint32_t most, numbers *out) {
    const uint32_t accessor = file->accessors.elements[index];
    char found[16];
    cairn_gltf_text(file, accessor, "type", found, sizeof found);
    out->component = cairn_gltf_index(file, accessor, "componentType", UINT16_MAX, 0);
    out->count = cairn_gltf_index(file, accessor, "count", UINT32_MAX, 0);
    const uint32_t view_index =
        cairn_gltf_index(file, accessor, "bufferView", file->views.count - 1, CAIRN_GLTF_NONE);
    const uint64_t offset = cairn_gltf_index(file, accessor, "byteOffset", UINT32_MAX, 0);
    if (file->views.count == 0 || view_index == CAIRN_GLTF_NONE ||
        cairn_gltf_member(file, accessor, "sparse") != 0) {
        return cairn_gltf_fail(file, "accessors[%u]: has no plain bufferView", (unsigned)index);
    }
    if (strcmp(found, type) != 0 || out->count == 0 || out->count > most) {
        return cairn_gltf_fail(file, "accessors[%u]: must be 1 to %u of type %s, is %u of '%s'",
            (unsigned)index, (unsigned)most, type, (unsigned)out->count, found);
    }
    const uint32_t view = file->views.elements[view_index];
    const uint32_t buffer_index =
        cairn_gltf_index(file, view, "buffer", file->buffers.count - 1, CAIRN_GLTF_NONE);
    const uint64_t view_offset = cairn_gltf_index(file, view, "byteOffset", UINT32_MAX, 0);
    const uint64_t view_size = cairn_gltf_index(file, view, "byteLength", UINT32_MAX, 0);
    const uint32_t element = components * component_size(out->component);
    out->stride = cairn_gltf_index(file, view, "byteStride", 252, element);
    if (file->buffers.count == 0 || buffer_index == CAIRN_GLTF_NONE || file->error[0] != '\0') {
        return cairn_gltf_fail(file, "bufferViews[%u]: names no buffer", (unsigned)view_index);
    }
    const cairn_gltf_buffer *buffer = buffer_of(file, buffer_index);
    if (buffer == NULL) {
        return false;
    }
    const uint64_t end = offset + (uint64_t)(out->count - 1) * out->stride + element;
    if (out->stride < element || end > view_size || view_offset + view_size > buffer->size) {
        return cairn_gltf_fail(
            file, "accessors[%u]: reaches beyond its bufferView or buffer", (unsigned)index);
    }
    out->bytes = buffer->bytes + view_offset + offset;
    return true;
}

static cairn_vec3 *read_points(
    cairn_gltf *file, uint32_t accessor, uint32_t most, uint32_t *count) {
    numbers from;
    if (!find_numbers(file, accessor, "VEC3", 3, most, &from)) {
        return NULL;
    }
    if (from.component != FLOAT) {
        (void)cairn_gltf_fail(file, "accessors[%u]: positions must be floats", (unsigned)accessor);
        return NULL;
    }
    cairn_vec3 *points = malloc(from.count * sizeof *points);
    for (uint32_t i = 0; points != NULL && i < from.count; ++i) {
        cairn_reader reader = cairn_reader_of(from.bytes + i * from.stride, 12);
        const float x = cairn_read_f32(&reader), y = cairn_read_f32(&reader);
        points[i] = cairn_vec3_clean(cairn_vec3_of(x, y, cairn_read_f32(&reader)));
        if (!cairn_gltf_bounded(points[i])) {
            (void)cairn_gltf_fail(
                file, "accessors[%u]: position %u is not a place", (unsigned)accessor, (unsigned)i);
            free(points);
            return NULL;
        }
    }
    *count = from.count;
    return points;
}

static uint32_t index_at(const numbers *from, uint32_t i) {
    const uint8_t *at = from->bytes + i * from->stride;
    uint32_t value = 0;
    for (uint32_t byte = component_size(from->component); byte-- > 0;) {
        value = value << 8 | at[byte];
    }
    return value;
}

static uint32_t *read_indices(
    cairn_gltf *file, uint32_t accessor, uint32_t most, uint32_t limit, uint32_t *count) {
    numbers from;
    if (!find_numbers(file, accessor, "SCALAR", 1, most, &from)) {
        return NULL;
    }
    if (from.component != UNSIGNED_BYTE && from.component != UNSIGNED_SHORT &&
        from.component != UNSIGNED_INT) {
        (void)cairn_gltf_fail(
            file, "accessors[%u]: indices must be unsigned numbers", (unsigned)accessor);
        return NULL;
    }
    uint32_t *indices = malloc(from.count * sizeof *indices);
    for (uint32_t i = 0; indices != NULL && i < from.count; ++i) {
        indices[i] = index_at(&from, i);
        if (indices[i] >= limit) {
            (void)cairn_gltf_fail(file, "accessors[%u]: index %u is %u, there are %u positions",
                (unsigned)accessor, (unsigned)i, (unsigned)indices[i], (unsigned)limit);
            free(indices);
            return NULL;
        }
    }
    *count = from.count;
    return indices;
}

// ---- meshes

static bool append(void **array, uint32_t *count, const void *more, uint32_t more_count,
    size_t size, uint32_t most) {
    if (more_count > most - *count) {
        return false;
    }
    void *wider = realloc(*array, ((size_t)*count + more_count) * size);
    if (wider == NULL) {
        return false;
    }
    *array = wider;
    memcpy((char *)wider + *count * size, more, more_count * size);
    *count += more_count;
    return true;
}

// Without indices, each three positions are a triangle.
static uint32_t *count_up(uint32_t count) {
    uint32_t *indices = malloc(count * sizeof *indices);
    for (uint32_t i = 0; indices != NULL && i < count; ++i) {
        indices[i] = i;
    }
    return indices;
}

static bool append_primitive(
    cairn_gltf *file, uint32_t position, uint32_t index, cairn_triangles *out) {
    uint32_t point_count, index_count = 0;
    cairn_vec3 *points = read_points(file, position, CAIRN_MESH_VERTICES_MAX, &point_count);
    uint32_t *indices = NULL;
    if (points != NULL && index != CAIRN_GLTF_NONE) {
        indices =
            read_indices(file, index, 3 * CAIRN_MESH_TRIANGLES_MAX, point_count, &index_count);
    } else if (points != NULL) {
        indices = count_up(point_count);
        index_count = point_count;
    }
    bool whole = indices != NULL && index_count % 3 == 0;
    for (uint32_t i = 0; whole && i < index_count; ++i) {
        indices[i] += out->vertex_count;
    }
    whole = whole &&
            append((void **)&out->vertices, &out->vertex_count, points, point_count, sizeof *points,
                CAIRN_MESH_VERTICES_MAX) &&
            append((void **)&out->indices, &out->index_count, indices, index_count, sizeof *indices,
                3 * CAIRN_MESH_TRIANGLES_MAX);
    free(points);
    free(indices);
    return whole;
}

static bool read_primitive(
    cairn_gltf *file, uint32_t mesh, uint32_t primitive, cairn_triangles *out) {
    const uint32_t attributes = cairn_gltf_member(file, primitive, "attributes");
    const uint32_t last = file->accessors.count - 1;
    if (file->accessors.count == 0 || attributes == 0 ||
        cairn_gltf_index(file, primitive, "mode", 6, 4) != 4) {
        return cairn_gltf_fail(
            file, "meshes[%u]: must consist of triangles (mode 4)", (unsigned)mesh);
    }
    const uint32_t position = cairn_gltf_index(file, attributes, "POSITION", last, CAIRN_GLTF_NONE);
    const uint32_t index = cairn_gltf_index(file, primitive, "indices", last, CAIRN_GLTF_NONE);
    if (file->error[0] != '\0' || position == CAIRN_GLTF_NONE) {
        return cairn_gltf_fail(file, "meshes[%u]: has no positions", (unsigned)mesh);
    }
    return append_primitive(file, position, index, out) ||
           cairn_gltf_fail(file,
               "meshes[%u]: has more than %u triangles or corners, or its last triangle is not "
               "whole",
               (unsigned)mesh, CAIRN_MESH_TRIANGLES_MAX);
}

bool cairn_gltf_triangles(cairn_gltf *file, uint32_t mesh, cairn_triangles *out) {
    const uint32_t list = cairn_gltf_member(file, file->meshes.elements[mesh], "primitives");
    *out = (cairn_triangles){0};
    for (uint32_t i = list == 0 ? 0 : node_at(file, list)->child; i != 0;
         i = node_at(file, i)->next) {
        if (!read_primitive(file, mesh, i, out)) {
            return false;
        }
    }
    return out->index_count > 0 ||
           cairn_gltf_fail(file, "meshes[%u]: has no triangles", (unsigned)mesh);
}
