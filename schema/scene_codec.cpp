// SPDX-License-Identifier: MIT

// Scenes from JSON, by FlatBuffers' own parser. Apart from the codec, because the parser needs the
// C++ run-time library, and a client does not parse scenes.

// The C headers pin their layouts with C's keywords.
#define _Static_assert static_assert
#define _Noreturn [[noreturn]]

#include "schema/scene_parse.h"

#include <string>
#include <type_traits>

#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/idl.h>

#include "schema/codec_tables.h"
#include "schema/scene.h"
#include "schema/scene_bfbs_generated.h"
#include "schema/scene_check.h"
#include "schema/scene_generated.h"
#include "schema/scene_text.h"

extern "C" {
#include "base/assert.h"
#include "base/world_settings.h"
}

namespace fb = flatbuffers;
namespace wire = cairn::wire;

namespace {

cairn_vec3 or_else(const wire::Vec3 *v, cairn_vec3 otherwise) {
    return v == nullptr ? otherwise : cairn_vec3{v->x() + 0.0f, v->y() + 0.0f, v->z() + 0.0f};
}

cairn_quat or_identity(const wire::Quat *q) {
    return q == nullptr ? cairn_quat{0.0f, 0.0f, 0.0f, 1.0f}
                        : cairn_quat{q->x() + 0.0f, q->y() + 0.0f, q->z() + 0.0f, q->w() + 0.0f};
}

constexpr cairn_vec3 zero = {0.0f, 0.0f, 0.0f};

uint32_t hash_of(const flatbuffers::String *name) {
    return name == nullptr ? 0 : cairn_name_hash(name->c_str());
}

#define TAKE_REAL(name) def->name = t.name() + 0.0f;
#define TAKE_FLAG(name) def->name = t.name();
#define TAKE_VECTOR(name) def->name = or_else(t.name(), zero);

cairn_scene_shape scene_shape(const wire::SceneShape &t) {
    cairn_scene_shape shape{};
    cairn_shape_def *def = &shape.def;
    SCENE_SHAPE_REALS(TAKE_REAL)
    shape.def.kind = static_cast<uint32_t>(t.kind());
    shape.def.half_extents = or_else(t.half_extents(), {0.5f, 0.5f, 0.5f});
    shape.def.pose.position = or_else(t.position(), zero);
    shape.def.pose.rotation = or_identity(t.rotation());
    shape.def.friction_combine = static_cast<uint32_t>(t.friction_combine());
    shape.def.restitution_combine = static_cast<uint32_t>(t.restitution_combine());
    shape.def.surface_velocity = or_else(t.surface_velocity(), zero);
    shape.def.category = t.category();
    shape.def.mask = t.mask();
    shape.def.user = t.user();
    shape.def.name = hash_of(t.name());
    shape.def.flags |= t.sensor() ? uint32_t{CAIRN_SHAPE_SENSOR} : 0;
    shape.def.flags |= t.hit_events() ? uint32_t{CAIRN_SHAPE_HIT_EVENTS} : 0;
    shape.def.flags |= t.contact_events() ? uint32_t{CAIRN_SHAPE_CONTACT_EVENTS} : 0;
    shape.hull = t.hull();
    shape.mesh = t.mesh();
    return shape;
}

cairn_scene_body scene_body(const wire::SceneBody &t) {
    cairn_scene_body body{};
    cairn_body_def *def = &body.def;
    SCENE_BODY_REALS(TAKE_REAL)
    SCENE_BODY_WORDS(TAKE_FLAG)
    SCENE_BODY_VECTORS(TAKE_VECTOR)
    body.def.kind = static_cast<uint32_t>(t.kind());
    body.def.rotation = or_identity(t.rotation());
    body.mass = t.mass() + 0.0f;
    body.def.bullet = t.bullet();
    body.def.name = hash_of(t.name());
    const auto *grid = t.grid_count();
    body.grid_count[0] = grid == nullptr ? 1 : grid->x();
    body.grid_count[1] = grid == nullptr ? 1 : grid->y();
    body.grid_count[2] = grid == nullptr ? 1 : grid->z();
    body.grid_spacing = or_else(t.grid_spacing(), zero);
    return body;
}

// A joint with a break force or torque is breakable. The default of either never breaks it.
void scene_joint_drives(const wire::SceneJoint &t, cairn_joint_def *def) {
#define TAKE_ROW_VECTOR(name) def->row.name = or_else(t.row_##name(), zero);
#define TAKE_ROW_REAL(name) def->row.name = t.row_##name() + 0.0f;
    JOINT_REALS(TAKE_REAL)
    JOINT_FLAGS(TAKE_FLAG)
    JOINT_VECTORS(TAKE_VECTOR)
    ROW_VECTORS(TAKE_ROW_VECTOR)
    ROW_REALS(TAKE_ROW_REAL)
    def->target_rotation = or_identity(t.target_rotation());
    def->breakable =
        !(def->break_force == CAIRN_FORCE_MAX) || !(def->break_torque == CAIRN_FORCE_MAX);
}

cairn_scene_joint scene_joint(const wire::SceneJoint &t) {
    cairn_scene_joint joint{};
    joint.def.kind = static_cast<uint32_t>(t.kind());
    joint.body_a = t.body_a();
    joint.body_b = t.body_b();
    joint.def.anchor_a = or_else(t.anchor_a(), zero);
    joint.def.anchor_b = or_else(t.anchor_b(), zero);
    joint.def.collide_connected = t.collide_connected();
    joint.def.axis_a = or_else(t.axis_a(), {1.0f, 0.0f, 0.0f});
    joint.def.axis_b = or_else(t.axis_b(), {1.0f, 0.0f, 0.0f});
    joint.def.normal_a = or_else(t.normal_a(), {0.0f, 1.0f, 0.0f});
    joint.def.normal_b = or_else(t.normal_b(), {0.0f, 1.0f, 0.0f});
    joint.def.limited = t.limited();
    joint.def.user = t.user();
    joint.def.name = hash_of(t.name());
    scene_joint_drives(t, &joint.def);
    return joint;
}

void take_settings(const wire::Scene &t, cairn_scene *scene) {
    scene->world = cairn_world_def_default();
#define WORD(name, initial, lower, upper) scene->world.name = static_cast<uint32_t>(t.name());
#define FLOAT(name, initial, lower, upper) scene->world.name = t.name() + 0.0f;
#define VEC3(name, a, b, c, limit) scene->world.name = or_else(t.name(), scene->world.name);
    CAIRN_WORLD_SETTINGS(WORD, FLOAT, VEC3)
#undef WORD
#undef FLOAT
#undef VEC3
    scene->world.seed = t.seed();
}

template <typename List> uint32_t size_of(const List *list) {
    return list == nullptr ? 0 : list->size();
}

// How long the lists in the tables of a list are together.
template <typename Tables, typename List> size_t count_all(const Tables *tables, List list) {
    size_t count = 0;
    for (fb::uoffset_t i = 0; i < size_of(tables); ++i) {
        count += size_of(list(*tables->Get(i)));
    }
    return count;
}

// Appends a list to an array of the scene. Returns where it begins.
template <typename List, typename To> uint32_t append(const List *list, To *to, uint32_t *count) {
    const uint32_t first = *count;
    for (fb::uoffset_t i = 0; i < size_of(list); ++i) {
        if constexpr (std::is_same_v<To, cairn_vec3>) {
            to[(*count)++] = or_else(list->Get(i), zero);
        } else {
            to[(*count)++] = list->Get(i) + To{};
        }
    }
    return first;
}

void take_bodies(const wire::Scene &t, cairn_scene *scene) {
    for (fb::uoffset_t i = 0; i < size_of(t.bodies()); ++i) {
        const auto *table = t.bodies()->Get(i);
        cairn_scene_body body = scene_body(*table);
        body.first_shape = scene->shape_count;
        for (fb::uoffset_t k = 0; k < size_of(table->shapes()); ++k) {
            scene->shapes[scene->shape_count++] = scene_shape(*table->shapes()->Get(k));
            ++body.shape_count;
        }
        scene->bodies[scene->body_count++] = body;
    }
    for (fb::uoffset_t i = 0; i < size_of(t.joints()); ++i) {
        scene->joints[scene->joint_count++] = scene_joint(*t.joints()->Get(i));
    }
}

void take_geometries(const wire::Scene &t, cairn_scene *scene) {
    for (fb::uoffset_t i = 0; i < size_of(t.hulls()); ++i) {
        const auto *points = t.hulls()->Get(i)->points();
        const uint32_t first = append(points, scene->points, &scene->point_count);
        scene->hulls[scene->hull_count++] = {first, size_of(points)};
    }
    for (fb::uoffset_t i = 0; i < size_of(t.meshes()); ++i) {
        const auto *vertices = t.meshes()->Get(i)->vertices();
        const auto *indices = t.meshes()->Get(i)->indices();
        const uint32_t vertex = append(vertices, scene->points, &scene->point_count);
        const uint32_t index = append(indices, scene->indices, &scene->index_count);
        scene->meshes[scene->mesh_count++] = {vertex, size_of(vertices), index, size_of(indices)};
    }
    for (fb::uoffset_t i = 0; i < size_of(t.height_fields()); ++i) {
        const auto *field = t.height_fields()->Get(i);
        const uint32_t first = append(field->heights(), scene->heights, &scene->height_count);
        scene->height_fields[scene->height_field_count++] = {first, size_of(field->heights()),
            field->columns(), field->spacing_x(), field->spacing_z()};
    }
}

cairn_status take_scene(const wire::Scene &t, cairn_scene *scene, char *error) {
    cairn_scene_counts counts{};
    counts.bodies = size_of(t.bodies());
    counts.shapes = count_all(t.bodies(), [](auto &body) { return body.shapes(); });
    counts.joints = size_of(t.joints());
    counts.hulls = size_of(t.hulls());
    counts.points = count_all(t.hulls(), [](auto &hull) { return hull.points(); }) +
                    count_all(t.meshes(), [](auto &mesh) { return mesh.vertices(); });
    counts.meshes = size_of(t.meshes());
    counts.indices = count_all(t.meshes(), [](auto &mesh) { return mesh.indices(); });
    counts.height_fields = size_of(t.height_fields());
    counts.heights = count_all(t.height_fields(), [](auto &field) { return field.heights(); });
    const auto *rules = t.rules();
    cairn_status status = cairn_scene_make_room(scene, &counts, error);
    if (status == CAIRN_OK) {
        status = cairn_scene_take_names(scene, t.name()->c_str(), t.name()->size(),
            rules == nullptr ? "" : rules->c_str(), rules == nullptr ? 0 : rules->size(), error);
    }
    if (status != CAIRN_OK) {
        return status;
    }
    take_geometries(t, scene);
    take_settings(t, scene);
    take_bodies(t, scene);
    return cairn_scene_check(scene, error);
}

// Throws std::bad_alloc alone.
cairn_status parse_scene(const std::string &json, cairn_scene *scene, char *error) {
    if (!cairn_scene_text_check(json.data(), json.size(), error)) {
        return CAIRN_MALFORMED;
    }
    fb::IDLOptions options;
    options.strict_json = true;
    fb::Parser parser(options);
    // Copied, because the generated array has no alignment.
    const std::string schema(reinterpret_cast<const char *>(wire::SceneBinarySchema::data()),
        wire::SceneBinarySchema::size());
    const bool known =
        parser.Deserialize(reinterpret_cast<const uint8_t *>(schema.data()), schema.size());
    CAIRN_ASSERT(known);
    if (!parser.ParseJson(json.c_str())) {
        cairn_scene_text_explain(parser.error_.c_str(), error);
        return CAIRN_MALFORMED;
    }
    return take_scene(*wire::GetScene(parser.builder_.GetBufferPointer()), scene, error);
}

} // namespace

cairn_status cairn_scene_parse_into(
    const char *json, size_t size, cairn_scene *scene, char error[CAIRN_SCENE_ERROR_SIZE]) {
    try {
        return parse_scene(std::string(json, size), scene, error);
    } catch (...) {
        return CAIRN_OUT_OF_MEMORY;
    }
}
