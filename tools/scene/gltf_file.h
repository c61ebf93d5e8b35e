// SPDX-License-Identifier: MIT
#pragma once

// A glTF 2.0 file as it is read: its JSON, its buffers, and the numbers that accessors name.
// Nothing in the file is trusted: each number is compared with the size of what it points into, and
// the first thing that is wrong ends the reading with one sentence that names it.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/json_document.h"
#include "tools/scene/geometry.h"
#include <cairn/math.h>

#define CAIRN_GLTF_SIZE_MAX (64u * 1024 * 1024) // of the file, and of each buffer
#define CAIRN_GLTF_ERROR_SIZE 256
#define CAIRN_GLTF_NAME_SIZE 128
#define CAIRN_GLTF_NODES_MAX 16384 // and of meshes, accessors, views and buffers
#define CAIRN_GLTF_NONE UINT32_MAX

// Coordinates and scales beyond this are refused, so that products of two are finite.
#define CAIRN_GLTF_NUMBER_MAX 1e9f

static inline bool cairn_gltf_bounded(cairn_vec3 v) {
    const cairn_vec3 a = cairn_vec3_abs(v);
    return a.x <= CAIRN_GLTF_NUMBER_MAX && a.y <= CAIRN_GLTF_NUMBER_MAX &&
           a.z <= CAIRN_GLTF_NUMBER_MAX;
}

// Loads the file that a buffer names, at most CAIRN_GLTF_SIZE_MAX bytes; the caller frees. NULL: it
// cannot.
typedef uint8_t *cairn_gltf_load(void *context, const char *uri, size_t *size);

// A list of the root object: the JSON node of each element.
typedef struct cairn_gltf_list {
    const char *name;
    uint32_t *elements; // owned
    uint32_t count;
} cairn_gltf_list;

typedef struct cairn_gltf_buffer {
    const uint8_t *bytes; // NULL: not loaded yet
    uint8_t *owned;
    size_t size;
} cairn_gltf_buffer;

typedef struct cairn_gltf {
    cairn_json_document json;
    cairn_gltf_list nodes, meshes, accessors, views, buffers, scenes;
    cairn_gltf_buffer *loaded; // one for each buffer
    const uint8_t *binary;     // of a binary file, behind its JSON
    size_t binary_size;
    cairn_gltf_load *load;
    void *context;
    char error[CAIRN_GLTF_ERROR_SIZE]; // "": nothing is wrong
} cairn_gltf;

// Reads the text or binary form. `bytes` must outlive the file. `load` may be NULL: buffers are in
// the file itself then. False: `error` says why. Pair with close in any case.
bool cairn_gltf_open(
    cairn_gltf *file, const uint8_t *bytes, size_t size, cairn_gltf_load *load, void *context);
void cairn_gltf_close(cairn_gltf *file);
// Keeps the first error. Returns false.
bool cairn_gltf_fail(cairn_gltf *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// The member of an object; 0: it has none of this name, or `object` is no object.
uint32_t cairn_gltf_member(const cairn_gltf *file, uint32_t object, const char *name);
// A text, cut to `size`; "" if it is missing.
void cairn_gltf_text(
    const cairn_gltf *file, uint32_t object, const char *name, char *out, size_t size);
// A whole number up to `most`, `otherwise` if it is missing. A number out of range fails.
uint32_t cairn_gltf_index(
    cairn_gltf *file, uint32_t object, const char *name, uint32_t most, uint32_t otherwise);
// `count` finite numbers. *out is unchanged if there is no such member. False: there is one, and it
// is something else.
bool cairn_gltf_floats(
    cairn_gltf *file, uint32_t object, const char *name, float *out, uint32_t count);

// The triangles of all primitives of a mesh, at most CAIRN_MESH_TRIANGLES_MAX, to be destroyed in
// any case.
bool cairn_gltf_triangles(cairn_gltf *file, uint32_t mesh, cairn_triangles *out);
