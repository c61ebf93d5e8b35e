// SPDX-License-Identifier: MIT
#include "tools/scene/gltf_write.h"

#include <stdlib.h>

#include "program/json.h"
#include "tools/scene/geometry.h"
#include <cairn/math.h>

// Component and target codes of glTF, as in OpenGL.
enum { FLOAT = 5126, UNSIGNED_INT = 5125, ARRAY_BUFFER = 34962, ELEMENT_ARRAY_BUFFER = 34963 };
enum { HEADER_SIZE = 12, CHUNK_HEADER_SIZE = 8 };

static const char *const kind_names[] = {"", "sphere", "capsule", "box", "half_space", "hull",
    "cylinder", "cone", "mesh", "height_field"};

typedef struct writer {
    const cairn_world *world;
    cairn_json *nodes, *meshes, *accessors, *views;
    cairn_triangles all; // one after the other; the vertices' part of the buffer comes first
    uint32_t node_count, mesh_count;
} writer;

static void put_numbers(cairn_json *json, const char *name, const float *numbers, int count) {
    cairn_json *list = cairn_json_put_array(json, name);
    for (int i = 0; i < count; ++i) {
        cairn_json_put_real(list, NULL, (double)numbers[i]);
    }
}

static void put_pose(cairn_json *node, cairn_vec3 p, cairn_quat q) {
    q = cairn_quat_normalize(q);
    put_numbers(node, "translation", (const float[]){p.x, p.y, p.z}, 3);
    put_numbers(node, "rotation", (const float[]){q.x, q.y, q.z, q.w}, 4);
}

// What a scene says of the shape.
static void put_extras(cairn_json *node, const cairn_shape_def *def) {
    cairn_json *extras = cairn_json_put_object(cairn_json_put_object(node, "extras"), "cairn");
    cairn_json_put_text(extras, "kind", kind_names[def->kind]);
    if (def->kind == CAIRN_SHAPE_BOX) {
        const cairn_vec3 h = def->half_extents;
        put_numbers(extras, "half_extents", (const float[]){h.x, h.y, h.z}, 3);
    }
    const bool height = def->kind == CAIRN_SHAPE_CAPSULE || def->kind == CAIRN_SHAPE_CYLINDER ||
                        def->kind == CAIRN_SHAPE_CONE;
    if (height || def->kind == CAIRN_SHAPE_SPHERE) {
        cairn_json_put_real(extras, "radius", (double)def->radius);
    }
    if (height) {
        cairn_json_put_real(extras, "half_height", (double)def->half_height);
    }
    cairn_json_put_real(extras, "density", (double)def->density);
    cairn_json_put_real(extras, "friction", (double)def->friction);
    cairn_json_put_real(extras, "restitution", (double)def->restitution);
}

static void put_accessor(writer *w, size_t offset, uint32_t count, bool vertices) {
    cairn_json *accessor = cairn_json_put_object(w->accessors, NULL);
    cairn_json_put_count(accessor, "bufferView", vertices ? 0 : 1);
    cairn_json_put_count(accessor, "byteOffset", offset);
    cairn_json_put_count(accessor, "componentType", vertices ? FLOAT : UNSIGNED_INT);
    cairn_json_put_count(accessor, "count", count);
    cairn_json_put_text(accessor, "type", vertices ? "VEC3" : "SCALAR");
    if (vertices) {
        const cairn_vec3 *p = &w->all.vertices[offset / sizeof *p];
        cairn_vec3 low = p[0], high = p[0];
        for (uint32_t i = 1; i < count; ++i) {
            low = cairn_vec3_min(low, p[i]);
            high = cairn_vec3_max(high, p[i]);
        }
        put_numbers(accessor, "min", (const float[]){low.x, low.y, low.z}, 3);
        put_numbers(accessor, "max", (const float[]){high.x, high.y, high.z}, 3);
    }
}

// The node of a shape and its mesh. False: it has no surface that can be shown.
static bool put_shape(writer *w, cairn_shape_id shape, uint32_t material) {
    cairn_shape_def def;
    cairn_body_id body;
    if (cairn_shape_read(w->world, shape, &def, &body) != CAIRN_OK) {
        return false;
    }
    const uint32_t vertices = w->all.vertex_count, indices = w->all.index_count;
    cairn_triangles_of_shape(w->world, &def, &w->all);
    if (w->all.out_of_memory || w->all.index_count == indices) {
        return false;
    }
    for (uint32_t i = indices; i < w->all.index_count; ++i) {
        w->all.indices[i] -= vertices;
    }
    cairn_json *node = cairn_json_put_object(w->nodes, NULL);
    cairn_json_put_text(node, "name", kind_names[def.kind]);
    cairn_json_put_count(node, "mesh", w->mesh_count);
    put_pose(node, def.pose.position, def.pose.rotation);
    put_extras(node, &def);
    cairn_json *mesh = cairn_json_put_object(w->meshes, NULL);
    cairn_json *primitive = cairn_json_put_object(cairn_json_put_array(mesh, "primitives"), NULL);
    cairn_json_put_count(
        cairn_json_put_object(primitive, "attributes"), "POSITION", 2 * w->mesh_count);
    cairn_json_put_count(primitive, "indices", 2 * w->mesh_count + 1);
    cairn_json_put_count(primitive, "material", material);
    put_accessor(w, vertices * sizeof(cairn_vec3), w->all.vertex_count - vertices, true);
    put_accessor(w, indices * sizeof(uint32_t), w->all.index_count - indices, false);
    w->mesh_count += 1;
    w->node_count += 1;
    return true;
}

// The body's node comes after those of its shapes.
static void put_body(writer *w, const cairn_body_state *body, cairn_json *roots) {
    static const char *const kinds[] = {"static", "kinematic", "dynamic"};
    cairn_shape_id shapes[256];
    const uint32_t count = cairn_body_shapes(w->world, body->id, shapes, 256);
    const uint32_t first = w->node_count;
    const uint32_t material = body->kind != CAIRN_BODY_DYNAMIC ? 0 : body->awake != 0 ? 1 : 2;
    for (uint32_t i = 0; i < count && i < 256; ++i) {
        (void)put_shape(w, shapes[i], material);
    }
    char name[24];
    snprintf(name, sizeof name, "body %u", (unsigned)body->id);
    cairn_json *node = cairn_json_put_object(w->nodes, NULL);
    cairn_json_put_text(node, "name", name);
    put_pose(node, body->position, body->rotation);
    cairn_json *extras = cairn_json_put_object(cairn_json_put_object(node, "extras"), "cairn");
    cairn_json_put_text(extras, "kind", kinds[body->kind]);
    if (w->node_count > first) {
        cairn_json *children = cairn_json_put_array(node, "children");
        for (uint32_t i = first; i < w->node_count; ++i) {
            cairn_json_put_count(children, NULL, i);
        }
    }
    cairn_json_put_count(roots, NULL, w->node_count++);
}

static void put_materials(cairn_json *root) {
    static const struct {
        const char *name;
        float colour[4];
    } materials[] = {{"fixed", {0.55f, 0.55f, 0.55f, 1.0f}}, {"awake", {0.9f, 0.55f, 0.2f, 1.0f}},
        {"asleep", {0.35f, 0.5f, 0.75f, 1.0f}}};
    cairn_json *list = cairn_json_put_array(root, "materials");
    for (size_t i = 0; i < sizeof materials / sizeof materials[0]; ++i) {
        cairn_json *material = cairn_json_put_object(list, NULL);
        cairn_json_put_text(material, "name", materials[i].name);
        cairn_json *look = cairn_json_put_object(material, "pbrMetallicRoughness");
        put_numbers(look, "baseColorFactor", materials[i].colour, 4);
        cairn_json_put_real(look, "metallicFactor", 0.0);
    }
}

static void put_view(writer *w, uint64_t offset, uint64_t size, uint32_t target) {
    cairn_json *view = cairn_json_put_object(w->views, NULL);
    cairn_json_put_count(view, "buffer", 0);
    cairn_json_put_count(view, "byteOffset", offset);
    cairn_json_put_count(view, "byteLength", size);
    cairn_json_put_count(view, "target", target);
}

static void put_u32(FILE *out, uint64_t value) {
    uint8_t bytes[4];
    for (int i = 0; i < 4; ++i) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
    (void)fwrite(bytes, 1, sizeof bytes, out);
}

static void put_buffer(const cairn_triangles *t, FILE *out) {
    for (uint32_t i = 0; i < t->vertex_count; ++i) {
        put_u32(out, cairn_float_bits(t->vertices[i].x));
        put_u32(out, cairn_float_bits(t->vertices[i].y));
        put_u32(out, cairn_float_bits(t->vertices[i].z));
    }
    for (uint32_t i = 0; i < t->index_count; ++i) {
        put_u32(out, t->indices[i]);
    }
}

static bool put_file(const writer *w, const cairn_json *root, uint64_t buffer_size, FILE *out) {
    const size_t capacity = 4096 + 2048 * (size_t)(w->node_count + w->mesh_count + 1);
    char *text = malloc(capacity);
    const size_t size = text == NULL ? 0 : cairn_json_write(root, text, capacity);
    const uint64_t padded = (size + 3) / 4 * 4;
    const uint64_t whole = HEADER_SIZE + 2 * CHUNK_HEADER_SIZE + padded + buffer_size;
    const bool fits = size > 0 && whole <= UINT32_MAX;
    if (fits) {
        put_u32(out, 0x46546c67); // glTF
        put_u32(out, 2);
        put_u32(out, whole);
        put_u32(out, padded);
        put_u32(out, 0x4e4f534a); // JSON
        (void)fwrite(text, 1, size, out);
        (void)fwrite("   ", 1, padded - size, out);
        put_u32(out, buffer_size);
        put_u32(out, 0x004e4942); // BIN
        put_buffer(&w->all, out);
    }
    free(text);
    return fits && !ferror(out);
}

bool cairn_gltf_write(const cairn_world *world, const char *name, FILE *out) {
    const uint32_t count = cairn_world_bodies(world, NULL, 0);
    cairn_body_state *bodies = calloc((size_t)count + 1, sizeof *bodies);
    cairn_json *root = cairn_json_create();
    cairn_json *asset = cairn_json_put_object(root, "asset");
    cairn_json_put_text(asset, "version", "2.0");
    cairn_json_put_text(asset, "generator", "cairn");
    cairn_json_put_count(root, "scene", 0);
    cairn_json *scene = cairn_json_put_object(cairn_json_put_array(root, "scenes"), NULL);
    cairn_json_put_text(scene, "name", name);
    cairn_json *roots = cairn_json_put_array(scene, "nodes");
    writer w = {.world = world, .nodes = cairn_json_put_array(root, "nodes")};
    put_materials(root);
    w.meshes = cairn_json_put_array(root, "meshes");
    w.accessors = cairn_json_put_array(root, "accessors");
    w.views = cairn_json_put_array(root, "bufferViews");
    const uint32_t read = bodies == NULL ? 0 : cairn_world_bodies(world, bodies, count);
    for (uint32_t i = 0; i < read; ++i) {
        put_body(&w, &bodies[i], roots);
    }
    const uint64_t vertex_size = (uint64_t)w.all.vertex_count * sizeof(cairn_vec3);
    const uint64_t index_size = (uint64_t)w.all.index_count * sizeof(uint32_t);
    put_view(&w, 0, vertex_size, ARRAY_BUFFER);
    put_view(&w, vertex_size, index_size, ELEMENT_ARRAY_BUFFER);
    cairn_json *buffer = cairn_json_put_object(cairn_json_put_array(root, "buffers"), NULL);
    cairn_json_put_count(buffer, "byteLength", vertex_size + index_size);
    const bool written = bodies != NULL && !w.all.out_of_memory && w.mesh_count > 0 &&
                         put_file(&w, root, vertex_size + index_size, out);
    cairn_json_destroy(root);
    cairn_triangles_destroy(&w.all);
    free(bodies);
    return written;
}
