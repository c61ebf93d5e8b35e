// SPDX-License-Identifier: MIT
#include "tools/scene/gltf_import.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

enum { DEPTH_MAX = 64 };
#define SHEAR_MAX 1e-4f

// A pose and a scale along the axes of the node.
typedef struct frame {
    cairn_vec3 position;
    cairn_quat rotation;
    cairn_vec3 scale;
} frame;

// A hull or mesh of the scene, so that copies share it.
typedef struct shared {
    uint32_t mesh; // of the file
    cairn_vec3 scale;
    bool hull;
    uint32_t index; // among the scene's hulls, or meshes
} shared;

typedef struct text {
    FILE *stream;
    char *bytes;
    size_t size;
} text;

typedef struct importer {
    cairn_gltf *file;
    bool *visited;    // one for each node
    bool *has_parent; // one for each node
    text *shapes;     // of the body that is being read
    text bodies, hulls, meshes;
    shared *shared;
    uint32_t shared_count, hull_count, mesh_count, body_count, shape_count;
} importer;

// What the extras or the name of a node and its mesh say.
typedef struct meaning {
    const char *body;   // "static", "kinematic" or "dynamic"; NULL: nothing
    const char *shape;  // "box" ...; NULL: nothing
    uint32_t extras;    // of the body; 0: none
    uint32_t own_shape; // extras of the shape of the node's own mesh; 0: none
} meaning;

static const char *const body_words[] = {"static", "kinematic", "dynamic", NULL};
static const char *const shape_words[] = {"sphere", "capsule", "box", "half_space", "hull",
    "cylinder", "cone", "mesh", "height_field", NULL};

static bool fail_at(importer *im, uint32_t node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail_at(importer *im, uint32_t node, const char *format, ...) {
    char name[CAIRN_GLTF_NAME_SIZE], why[CAIRN_GLTF_ERROR_SIZE];
    cairn_gltf_text(im->file, im->file->nodes.elements[node], "name", name, sizeof name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return cairn_gltf_fail(im->file, "nodes[%u] '%.60s': %.160s", (unsigned)node, name, why);
}

// ---- names

static const char *word_in(const char *const *words, const char *word, size_t size) {
    for (; *words != NULL; ++words) {
        if (strlen(*words) == size && strncmp(*words, word, size) == 0) {
            return *words;
        }
    }
    return NULL;
}

static bool separates(char c) {
    return c == '_' || c == '-' || c == '.' || c == ' ';
}

// Reads the words of a name from its end, while they mean something: "crate_box_dynamic.001".
static void read_name(const char *name, meaning *out) {
    size_t end = strlen(name);
    while (end > 0) {
        size_t begin = end;
        bool digits = true;
        for (; begin > 0 && !separates(name[begin - 1]); --begin) {
            digits = digits && isdigit((unsigned char)name[begin - 1]) != 0;
        }
        const char *body = word_in(body_words, name + begin, end - begin);
        const char *shape = word_in(shape_words, name + begin, end - begin);
        if (body == NULL && shape == NULL && !digits) {
            return;
        }
        out->body = out->body == NULL ? body : out->body;
        out->shape = out->shape == NULL ? shape : out->shape;
        end = begin == 0 ? 0 : begin - 1;
    }
}

static meaning meaning_of(const importer *im, uint32_t node) {
    const cairn_gltf *file = im->file;
    const uint32_t object = file->nodes.elements[node];
    meaning out = {0};
    const uint32_t extras = cairn_gltf_member(file, object, "extras");
    const uint32_t cairn = extras == 0 ? 0 : cairn_gltf_member(file, extras, "cairn");
    if (cairn != 0) {
        char kind[CAIRN_GLTF_NAME_SIZE];
        cairn_gltf_text(file, cairn, "kind", kind, sizeof kind);
        out.body = word_in(body_words, kind, strlen(kind));
        out.shape = word_in(shape_words, kind, strlen(kind));
        out.extras = out.body != NULL ? cairn : 0;
        out.own_shape = out.shape != NULL ? cairn : cairn_gltf_member(file, cairn, "shape");
        if (out.shape == NULL && out.own_shape != 0) {
            cairn_gltf_text(file, out.own_shape, "kind", kind, sizeof kind);
            out.shape = word_in(shape_words, kind, strlen(kind));
        }
    }
    char name[CAIRN_GLTF_NAME_SIZE];
    meaning named = {0};
    cairn_gltf_text(file, object, "name", name, sizeof name);
    read_name(name, &named);
    const uint32_t mesh = cairn_gltf_member(file, object, "mesh");
    uint64_t index;
    size_t end;
    if (named.shape == NULL && mesh != 0 && file->json.nodes[mesh].kind == CAIRN_JSON_NUMBER &&
        cairn_json_whole(&file->json, file->json.nodes[mesh].at, &index, &end) &&
        index < file->meshes.count) {
        meaning of_mesh = {0};
        cairn_gltf_text(file, file->meshes.elements[index], "name", name, sizeof name);
        read_name(name, &of_mesh);
        named.shape = of_mesh.shape;
    }
    // A shape's extras say that the node is no body.
    out.body = out.body == NULL && (cairn == 0 || out.own_shape != cairn) ? named.body : out.body;
    out.shape = out.shape == NULL ? named.shape : out.shape;
    return out;
}

// ---- frames

static frame frame_identity(void) {
    return (frame){.rotation = cairn_quat_identity(), .scale = {.x = 1.0f, .y = 1.0f, .z = 1.0f}};
}

static cairn_quat quat_of_columns(cairn_vec3 x, cairn_vec3 y, cairn_vec3 z) {
    const float trace = x.x + y.y + z.z;
    if (trace > 0.0f) {
        return cairn_quat_normalize(cairn_quat_of(y.z - z.y, z.x - x.z, x.y - y.x, 1.0f + trace));
    }
    if (x.x >= y.y && x.x >= z.z) {
        return cairn_quat_normalize(
            cairn_quat_of(1.0f + x.x - y.y - z.z, y.x + x.y, z.x + x.z, y.z - z.y));
    }
    return y.y >= z.z ? cairn_quat_normalize(
                            cairn_quat_of(y.x + x.y, 1.0f + y.y - x.x - z.z, z.y + y.z, z.x - x.z))
                      : cairn_quat_normalize(
                            cairn_quat_of(z.x + x.z, z.y + y.z, 1.0f + z.z - x.x - y.y, x.y - y.x));
}

// False: the columns are not at right angles, or one has no length.
static bool frame_of_matrix(const float m[16], frame *out) {
    cairn_vec3 columns[3];
    float lengths[3];
    for (int i = 0; i < 3; ++i) {
        columns[i] = cairn_vec3_of(m[4 * i], m[4 * i + 1], m[4 * i + 2]);
        lengths[i] = cairn_vec3_length(columns[i]);
        if (!(lengths[i] > 1e-12f)) {
            return false;
        }
        columns[i] = cairn_vec3_scale(columns[i], 1.0f / lengths[i]);
    }
    if (cairn_vec3_dot(cairn_vec3_cross(columns[0], columns[1]), columns[2]) < 0.0f) {
        lengths[0] = -lengths[0];
        columns[0] = cairn_vec3_negate(columns[0]);
    }
    *out = (frame){.position = cairn_vec3_of(m[12], m[13], m[14]),
        .rotation = quat_of_columns(columns[0], columns[1], columns[2]),
        .scale = cairn_vec3_of(lengths[0], lengths[1], lengths[2])};
    return cairn_float_abs(cairn_vec3_dot(columns[0], columns[1])) < SHEAR_MAX &&
           cairn_float_abs(cairn_vec3_dot(columns[1], columns[2])) < SHEAR_MAX &&
           cairn_float_abs(cairn_vec3_dot(columns[2], columns[0])) < SHEAR_MAX;
}

static bool read_frame(importer *im, uint32_t node, frame *out) {
    const uint32_t object = im->file->nodes.elements[node];
    float matrix[16], translation[3] = {0}, rotation[4] = {0, 0, 0, 1}, scale[3] = {1, 1, 1};
    if (cairn_gltf_member(im->file, object, "matrix") != 0) {
        return cairn_gltf_floats(im->file, object, "matrix", matrix, 16) &&
               (frame_of_matrix(matrix, out) ||
                   fail_at(im, node, "its matrix is not a rotation, a translation and a scale"));
    }
    if (!cairn_gltf_floats(im->file, object, "translation", translation, 3) ||
        !cairn_gltf_floats(im->file, object, "rotation", rotation, 4) ||
        !cairn_gltf_floats(im->file, object, "scale", scale, 3)) {
        return false;
    }
    const cairn_quat q = cairn_quat_of(rotation[0], rotation[1], rotation[2], rotation[3]);
    const float length_squared = cairn_quat_length_squared(q);
    if (!(length_squared > 0.98f && length_squared < 1.02f)) {
        return fail_at(im, node, "rotation must be a quaternion of length 1");
    }
    if (scale[0] == 0.0f || scale[1] == 0.0f || scale[2] == 0.0f) {
        return fail_at(im, node, "scale must not be 0");
    }
    *out = (frame){.position = cairn_vec3_of(translation[0], translation[1], translation[2]),
        .rotation = q,
        .scale = cairn_vec3_of(scale[0], scale[1], scale[2])};
    return true;
}

static bool is_identity(cairn_quat q) {
    return q.x == 0.0f && q.y == 0.0f && q.z == 0.0f;
}

// The frame of a child in the frame that the parent is in.
static bool frame_compose(importer *im, uint32_t node, frame parent, frame child, frame *out) {
    const cairn_vec3 s = parent.scale;
    const bool uniform = s.x == s.y && s.y == s.z && s.x > 0.0f;
    if (!uniform && !is_identity(child.rotation)) {
        return fail_at(im, node,
            "it is turned in a parent that is scaled differently along its "
            "axes: apply the parent's scale before the export");
    }
    const bool plain = is_identity(parent.rotation);
    const cairn_vec3 moved = cairn_vec3_multiply(s, child.position);
    *out = (frame){
        .position = cairn_vec3_add(
            parent.position, plain ? moved : cairn_quat_rotate(parent.rotation, moved)),
        .rotation =
            plain ? child.rotation
                  : cairn_quat_normalize(cairn_quat_multiply(parent.rotation, child.rotation)),
        .scale = cairn_vec3_multiply(s, child.scale),
    };
    return (cairn_gltf_bounded(out->position) && cairn_gltf_bounded(out->scale)) ||
           fail_at(im, node, "its place or its scale is beyond 1e9");
}

// ---- text

static bool text_open(text *t) {
    *t = (text){0};
    t->stream = open_memstream(&t->bytes, &t->size);
    return t->stream != NULL;
}

static void text_close(text *t) {
    if (t->stream != NULL) {
        fclose(t->stream);
        t->stream = NULL;
    }
}

static void text_free(text *t) {
    text_close(t);
    free(t->bytes);
    t->bytes = NULL;
}

static void put_vec3(FILE *out, cairn_vec3 v) {
    fprintf(out, "[%.9g, %.9g, %.9g]", (double)v.x, (double)v.y, (double)v.z);
}

static void put_place(FILE *out, const frame *f) {
    fputs("\"position\": ", out);
    put_vec3(out, cairn_vec3_clean(f->position));
    if (!is_identity(f->rotation)) {
        const cairn_quat q = cairn_quat_normalize(f->rotation);
        fprintf(out, ", \"rotation\": [%.9g, %.9g, %.9g, %.9g]", (double)q.x, (double)q.y,
            (double)q.z, (double)q.w);
    }
}

static void put_text(FILE *out, const char *t) {
    fputc('"', out);
    for (; *t != '\0'; ++t) {
        if (*t == '"' || *t == '\\') {
            fputc('\\', out);
        }
        fputc(*t >= ' ' && *t <= '~' ? *t : '?', out);
    }
    fputc('"', out);
}

// A name that a scene can have.
static bool can_name(const char *name) {
    const size_t size = strlen(name);
    for (size_t i = 0; i < size; ++i) {
        if (name[i] < ' ' || name[i] > '~') {
            return false;
        }
    }
    return size >= 1 && size <= CAIRN_NAME_SIZE_MAX;
}

// A number as it is written in the file.
static size_t put_number(const importer *im, FILE *out, size_t at) {
    size_t end;
    (void)cairn_json_float(&im->file->json, at, &end);
    fwrite(im->file->json.text + at, 1, end - at, out);
    return end;
}

static void put_value(const importer *im, FILE *out, const cairn_json_node *value) {
    const cairn_json_document *json = &im->file->json;
    if (value->kind == CAIRN_JSON_TEXT) {
        char copy[CAIRN_GLTF_NAME_SIZE];
        (void)cairn_json_text_copy(json, value->at + 1, copy, sizeof copy);
        put_text(out, copy);
    } else if (value->kind == CAIRN_JSON_NUMBER) {
        (void)put_number(im, out, value->at);
    } else if (value->kind == CAIRN_JSON_NUMBERS) {
        size_t at = cairn_json_number_next(json, value->at + 1);
        for (uint32_t i = 0; i < value->count; ++i) {
            fputs(i == 0 ? "[" : ", ", out);
            at = cairn_json_number_next(json, put_number(im, out, at));
        }
        fputc(']', out);
    } else {
        fputs(value->kind == CAIRN_JSON_TRUE ? "true" : "false", out);
    }
}

// Fields that the pose, the mesh or the kind of a node says, or that are for the import.
static bool is_own_field(const cairn_gltf *file, const cairn_json_node *member) {
    static const char *const own[] = {
        "kind", "shape", "shapes", "position", "rotation", "hull", "mesh"};
    for (size_t i = 0; i < sizeof own / sizeof *own; ++i) {
        if (cairn_json_key_is(&file->json, member, own[i])) {
            return true;
        }
    }
    return false;
}

// The other fields of the extras, as they are: the reader of scenes knows what is allowed.
static void put_extras(const importer *im, FILE *out, uint32_t extras) {
    const cairn_json_node *nodes = im->file->json.nodes;
    for (uint32_t i = extras == 0 ? 0 : nodes[extras].child; i != 0; i = nodes[i].next) {
        const uint32_t kind = nodes[i].kind;
        if (kind == CAIRN_JSON_OBJECT || kind == CAIRN_JSON_LIST || kind == CAIRN_JSON_NULL ||
            is_own_field(im->file, &nodes[i])) {
            continue;
        }
        char key[CAIRN_GLTF_NAME_SIZE];
        (void)cairn_json_text_copy(&im->file->json, nodes[i].key, key, sizeof key);
        fputs(", ", out);
        put_text(out, key);
        fputs(": ", out);
        put_value(im, out, &nodes[i]);
    }
}

// ---- meshes

static int compare_points(const void *a, const void *b) {
    return memcmp(a, b, sizeof(cairn_vec3));
}

// Each point once.
static uint32_t unique_points(cairn_vec3 *points, uint32_t count) {
    uint32_t kept = 0;
    qsort(points, count, sizeof *points, compare_points);
    for (uint32_t i = 0; i < count; ++i) {
        if (kept == 0 || memcmp(&points[i], &points[kept - 1], sizeof *points) != 0) {
            points[kept++] = points[i];
        }
    }
    return kept;
}

static void put_points(FILE *out, const cairn_triangles *t, cairn_vec3 scale) {
    for (uint32_t i = 0; i < t->vertex_count; ++i) {
        fputs(i == 0 ? "[" : ", ", out);
        put_vec3(out, cairn_vec3_clean(cairn_vec3_multiply(t->vertices[i], scale)));
    }
    fputc(']', out);
}

// A mirrored mesh has its triangles the other way round.
static void put_indices(FILE *out, const cairn_triangles *t, bool mirrored) {
    for (uint32_t i = 0; i < t->index_count; i += 3) {
        const uint32_t *k = &t->indices[i];
        fprintf(out, "%s%u, %u, %u", i == 0 ? "[" : ", ", (unsigned)k[0],
            (unsigned)k[mirrored ? 2 : 1], (unsigned)k[mirrored ? 1 : 2]);
    }
    fputc(']', out);
}

static bool too_large(importer *im, uint32_t node) {
    const FILE *const streams[] = {im->bodies.stream, im->hulls.stream, im->meshes.stream};
    long size = 0;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; ++i) {
        size += ftell((FILE *)streams[i]);
    }
    return size > CAIRN_JSON_SIZE_MAX / 2 &&
           !fail_at(im, node, "the scene becomes larger than %d MiB: simplify the meshes",
               CAIRN_JSON_SIZE_MAX / 2 / 1024 / 1024);
}

// The scene's hull or mesh of a mesh in this scale.
static bool share(
    importer *im, uint32_t node, uint32_t mesh, cairn_vec3 scale, bool hull, uint32_t *index) {
    for (uint32_t i = 0; i < im->shared_count; ++i) {
        const shared *s = &im->shared[i];
        if (s->mesh == mesh && s->hull == hull && memcmp(&s->scale, &scale, sizeof scale) == 0) {
            *index = s->index;
            return true;
        }
    }
    cairn_triangles t;
    bool right = cairn_gltf_triangles(im->file, mesh, &t);
    if (right && hull) {
        t.vertex_count = unique_points(t.vertices, t.vertex_count);
        right = t.vertex_count <= CAIRN_HULL_POINTS_MAX ||
                fail_at(im, node,
                    "its mesh has %u different corners, a hull at most %d: simplify it, or name it "
                    "a mesh",
                    (unsigned)t.vertex_count, CAIRN_HULL_POINTS_MAX);
    }
    *index = hull ? im->hull_count : im->mesh_count;
    if (right) {
        FILE *out = hull ? im->hulls.stream : im->meshes.stream;
        fprintf(out, "%s    { \"%s\": ", *index == 0 ? "" : ",\n", hull ? "points" : "vertices");
        put_points(out, &t, scale);
        if (!hull) {
            fputs(", \"indices\": ", out);
            put_indices(out, &t, scale.x * scale.y * scale.z < 0.0f);
        }
        fputs(" }", out);
        im->shared[im->shared_count++] =
            (shared){.mesh = mesh, .scale = scale, .hull = hull, .index = *index};
        *(hull ? &im->hull_count : &im->mesh_count) += 1;
    }
    cairn_triangles_destroy(&t);
    return right && !too_large(im, node);
}

// Sizes of a simple kind from the box around its mesh, which also says where its middle is.
static bool put_sizes(importer *im, uint32_t node, uint32_t mesh, const char *kind, frame *f) {
    cairn_triangles t;
    if (!cairn_gltf_triangles(im->file, mesh, &t)) {
        cairn_triangles_destroy(&t);
        return false;
    }
    cairn_vec3 low = t.vertices[0], high = low;
    for (uint32_t i = 1; i < t.vertex_count; ++i) {
        low = cairn_vec3_min(low, t.vertices[i]);
        high = cairn_vec3_max(high, t.vertices[i]);
    }
    cairn_triangles_destroy(&t);
    const cairn_vec3 middle =
        cairn_vec3_multiply(f->scale, cairn_vec3_scale(cairn_vec3_add(low, high), 0.5f));
    const cairn_vec3 half = cairn_vec3_abs(
        cairn_vec3_multiply(f->scale, cairn_vec3_scale(cairn_vec3_sub(high, low), 0.5f)));
    f->position = cairn_vec3_add(f->position, cairn_quat_rotate(f->rotation, middle));
    const float round = half.x > half.z ? half.x : half.z;
    FILE *out = im->shapes->stream;
    if (strcmp(kind, "box") == 0) {
        fputs(", \"half_extents\": ", out);
        put_vec3(out, half);
    } else if (strcmp(kind, "sphere") == 0) {
        fprintf(out, ", \"radius\": %.9g", (double)(round > half.y ? round : half.y));
    } else {
        const float ends = strcmp(kind, "capsule") == 0 ? round : 0.0f;
        if (!(half.y > ends)) {
            return fail_at(im, node, "a %s is longer along y than it is wide", kind);
        }
        fprintf(out, ", \"radius\": %.9g, \"half_height\": %.9g", (double)round,
            (double)(half.y - ends));
    }
    return true;
}

static bool has_sizes(const importer *im, uint32_t extras) {
    return extras != 0 && (cairn_gltf_member(im->file, extras, "half_extents") != 0 ||
                              cairn_gltf_member(im->file, extras, "radius") != 0);
}

// The shape of a node with a mesh, `f` in the frame of its body.
static bool put_shape(
    importer *im, uint32_t node, const meaning *means, const char *body, frame f) {
    const uint32_t object = im->file->nodes.elements[node];
    const uint32_t mesh =
        cairn_gltf_index(im->file, object, "mesh", im->file->meshes.count - 1, CAIRN_GLTF_NONE);
    if (mesh == CAIRN_GLTF_NONE || im->file->meshes.count == 0) {
        return fail_at(im, node, "its mesh is not in the file");
    }
    const char *kind = means->shape != NULL           ? means->shape
                       : strcmp(body, "dynamic") == 0 ? "hull"
                                                      : "mesh";
    kind = strcmp(kind, "height_field") == 0 ? "mesh" : kind;
    const bool hull = strcmp(kind, "hull") == 0, triangle_mesh = strcmp(kind, "mesh") == 0;
    FILE *out = im->shapes->stream;
    fprintf(out, "%s{ \"kind\": \"%s\"", ftell(out) > 0 ? ",\n        " : "", kind);
    uint32_t index = 0;
    if (hull || triangle_mesh) {
        if (!share(im, node, mesh, f.scale, hull, &index)) {
            return false;
        }
        fprintf(out, ", \"%s\": %u", kind, (unsigned)index);
    } else if (strcmp(kind, "half_space") != 0 && !has_sizes(im, means->own_shape) &&
               !put_sizes(im, node, mesh, kind, &f)) {
        return false;
    }
    fputs(", ", out);
    put_place(out, &f);
    put_extras(im, out, means->own_shape);
    fputs(" }", out);
    im->shape_count += 1;
    return true;
}

// ---- nodes

static bool read_node(
    importer *im, uint32_t node, const char *body, frame above, frame in_body, uint32_t depth);

static bool read_children(
    importer *im, uint32_t node, const char *body, frame above, frame in_body, uint32_t depth) {
    const cairn_json_document *json = &im->file->json;
    const uint32_t member = cairn_gltf_member(im->file, im->file->nodes.elements[node], "children");
    const cairn_json_node *list = member == 0 ? NULL : &json->nodes[member];
    if (list == NULL || list->kind != CAIRN_JSON_NUMBERS) {
        return true;
    }
    size_t at = cairn_json_number_next(json, list->at + 1), end;
    for (uint32_t i = 0; i < list->count; ++i) {
        uint64_t child;
        if (!cairn_json_whole(json, at, &child, &end) || child >= im->file->nodes.count) {
            return fail_at(im, node, "children[%u] is not a node of the file", (unsigned)i);
        }
        if (!read_node(im, (uint32_t)child, body, above, in_body, depth + 1)) {
            return false;
        }
        at = cairn_json_number_next(json, end);
    }
    return true;
}

static void put_body(importer *im, uint32_t node, const meaning *means, const char *kind,
    const frame *f, const text *shapes) {
    FILE *out = im->bodies.stream;
    char name[CAIRN_GLTF_NAME_SIZE];
    cairn_gltf_text(im->file, im->file->nodes.elements[node], "name", name, sizeof name);
    fprintf(out, "%s    { \"kind\": \"%s\"", im->body_count == 0 ? "" : ",\n", kind);
    if (can_name(name) &&
        (means->extras == 0 || cairn_gltf_member(im->file, means->extras, "name") == 0)) {
        fputs(", \"name\": ", out);
        put_text(out, name);
    }
    fputs(", ", out);
    put_place(out, f);
    put_extras(im, out, means->extras);
    fprintf(out, ",\n      \"shapes\": [%s%.*s%s] }", shapes->size > 0 ? "\n        " : "",
        (int)shapes->size, shapes->bytes, shapes->size > 0 ? " " : "");
    im->body_count += 1;
}

// A node that begins a body, with what is below it. A body below it is one of its own.
static bool read_body(
    importer *im, uint32_t node, const meaning *means, bool has_mesh, frame f, uint32_t depth) {
    const char *kind = means->body == NULL ? "static" : means->body;
    text *outer = im->shapes;
    text shapes;
    if (!text_open(&shapes)) {
        return fail_at(im, node, "out of memory");
    }
    im->shapes = &shapes;
    const frame in_body = {.rotation = cairn_quat_identity(), .scale = f.scale};
    bool right = (!has_mesh || put_shape(im, node, means, kind, in_body)) &&
                 read_children(im, node, kind, f, in_body, depth);
    text_close(&shapes);
    right = right && (shapes.bytes != NULL || fail_at(im, node, "out of memory"));
    if (right) {
        put_body(im, node, means, kind, &f, &shapes);
    }
    text_free(&shapes);
    im->shapes = outer;
    return right;
}

// `body`: the kind of the body above; NULL: no body is above. `above`: the frame above in the
// world, `in_body`: in that body.
static bool read_node(
    importer *im, uint32_t node, const char *body, frame above, frame in_body, uint32_t depth) {
    if (im->visited[node] || depth > DEPTH_MAX) {
        return fail_at(
            im, node, "it is below itself, has two parents, or is more than %d deep", DEPTH_MAX);
    }
    im->visited[node] = true;
    frame own, f, g;
    if (!read_frame(im, node, &own) || !frame_compose(im, node, above, own, &f) ||
        !frame_compose(im, node, in_body, own, &g)) {
        return false;
    }
    const meaning means = meaning_of(im, node);
    const bool has_mesh = cairn_gltf_member(im->file, im->file->nodes.elements[node], "mesh") != 0;
    if (means.body != NULL || (has_mesh && body == NULL)) {
        return read_body(im, node, &means, has_mesh, f, depth);
    }
    return (!has_mesh || put_shape(im, node, &means, body, g)) &&
           read_children(im, node, body, f, g, depth) && !too_large(im, node);
}

// Marks the nodes that are children. Without a scene, those that are not are its roots.
static void find_children(importer *im) {
    const cairn_json_document *json = &im->file->json;
    for (uint32_t node = 0; node < im->file->nodes.count; ++node) {
        const uint32_t member =
            cairn_gltf_member(im->file, im->file->nodes.elements[node], "children");
        const cairn_json_node *list = member == 0 ? NULL : &json->nodes[member];
        size_t at = list == NULL || list->kind != CAIRN_JSON_NUMBERS
                        ? 0
                        : cairn_json_number_next(json, list->at + 1);
        for (uint32_t i = 0; at != 0 && i < list->count; ++i) {
            uint64_t child;
            size_t end;
            if (!cairn_json_whole(json, at, &child, &end) || child >= im->file->nodes.count) {
                break; // told when the node is read
            }
            im->has_parent[child] = true;
            at = cairn_json_number_next(json, end);
        }
    }
}

static bool read_roots(importer *im, uint32_t scene) {
    const cairn_json_document *json = &im->file->json;
    const uint32_t member =
        scene == CAIRN_GLTF_NONE
            ? 0
            : cairn_gltf_member(im->file, im->file->scenes.elements[scene], "nodes");
    if (member == 0) {
        find_children(im);
        for (uint32_t i = 0; i < im->file->nodes.count; ++i) {
            if (!im->has_parent[i] &&
                !read_node(im, i, NULL, frame_identity(), frame_identity(), 0)) {
                return false;
            }
        }
        return true;
    }
    const cairn_json_node *list = &json->nodes[member];
    if (list->kind != CAIRN_JSON_NUMBERS) {
        return cairn_gltf_fail(im->file, "scenes[%u].nodes: names no node", (unsigned)scene);
    }
    size_t at = cairn_json_number_next(json, list->at + 1), end;
    for (uint32_t i = 0; i < list->count; ++i) {
        uint64_t root;
        if (!cairn_json_whole(json, at, &root, &end) || root >= im->file->nodes.count) {
            return cairn_gltf_fail(
                im->file, "scenes[%u].nodes[%u]: is not a node", (unsigned)scene, (unsigned)i);
        }
        if (!read_node(im, (uint32_t)root, NULL, frame_identity(), frame_identity(), 0)) {
            return false;
        }
        at = cairn_json_number_next(json, end);
    }
    return true;
}

// ---- the scene

static void put_list(FILE *out, const char *name, const text *t, uint32_t count) {
    if (count > 0) {
        fprintf(out, ",\n  \"%s\": [\n", name);
        fwrite(t->bytes, 1, t->size, out);
        fputs("\n  ]", out);
    }
}

static void put_scene(importer *im, FILE *out, const char *name) {
    text_close(&im->bodies);
    text_close(&im->hulls);
    text_close(&im->meshes);
    fputs("{\n  \"name\": ", out);
    put_text(out, name);
    put_list(out, "hulls", &im->hulls, im->hull_count);
    put_list(out, "meshes", &im->meshes, im->mesh_count);
    put_list(out, "bodies", &im->bodies, im->body_count);
    fputs("\n}\n", out);
}

static bool importer_open(importer *im, cairn_gltf *file) {
    *im = (importer){.file = file};
    const size_t count = (size_t)file->nodes.count + 1;
    im->visited = calloc(count, sizeof *im->visited);
    im->has_parent = calloc(count, sizeof *im->has_parent);
    im->shared = calloc(count, sizeof *im->shared);
    return im->visited != NULL && im->has_parent != NULL && im->shared != NULL &&
           text_open(&im->bodies) && text_open(&im->hulls) && text_open(&im->meshes);
}

static void importer_close(importer *im) {
    text_free(&im->bodies);
    text_free(&im->hulls);
    text_free(&im->meshes);
    free(im->visited);
    free(im->has_parent);
    free(im->shared);
}

char *cairn_gltf_scene(cairn_gltf *file, const char *name, size_t *size) {
    CAIRN_ASSERT(file->error[0] == '\0');
    importer im;
    text whole = {0};
    char own[CAIRN_GLTF_NAME_SIZE] = "";
    const uint32_t none = file->scenes.count == 0 ? CAIRN_GLTF_NONE : 0;
    const uint32_t scene = file->scenes.count == 0
                               ? none
                               : cairn_gltf_index(file, 0, "scene", file->scenes.count - 1, none);
    if (scene != CAIRN_GLTF_NONE) {
        cairn_gltf_text(file, file->scenes.elements[scene], "name", own, sizeof own);
    }
    bool right = importer_open(&im, file) || cairn_gltf_fail(file, "out of memory");
    right = right && file->error[0] == '\0' && read_roots(&im, scene);
    if (right && im.body_count == 0) {
        right = cairn_gltf_fail(file, "no node has a mesh, so there is no body");
    }
    if (right && (right = text_open(&whole))) {
        put_scene(&im, whole.stream, can_name(own) ? own : can_name(name) ? name : "imported");
        text_close(&whole);
    }
    importer_close(&im);
    *size = whole.size;
    return right ? whole.bytes : NULL;
}
