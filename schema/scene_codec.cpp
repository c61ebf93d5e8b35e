// SPDX-License-Identifier: MIT

// Scenes from JSON, by FlatBuffers' own parser.

// The C headers pin their layouts with C's keywords.
#define _Static_assert static_assert
#define _Noreturn [[noreturn]]

#include "schema/scene.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/idl.h>

#include "schema/scene_bfbs_generated.h"
#include "schema/scene_check.h"
#include "schema/scene_generated.h"
#include "schema/scene_text.h"

extern "C" {
#include "base/assert.h"
}

namespace fb = flatbuffers;
namespace wire = cairn::wire;

namespace {

cairn_wire_vec3 or_else(const wire::Vec3 *v, cairn_wire_vec3 otherwise) {
    return v == nullptr ? otherwise : cairn_wire_vec3{v->x() + 0.0f, v->y() + 0.0f, v->z() + 0.0f};
}

cairn_wire_quat or_identity(const wire::Quat *q) {
    return q == nullptr
               ? cairn_wire_quat{0.0f, 0.0f, 0.0f, 1.0f}
               : cairn_wire_quat{q->x() + 0.0f, q->y() + 0.0f, q->z() + 0.0f, q->w() + 0.0f};
}

constexpr cairn_wire_vec3 zero = {0.0f, 0.0f, 0.0f};

cairn_scene_shape scene_shape(const wire::SceneShape &t) {
    cairn_scene_shape shape{};
    shape.kind = static_cast<uint32_t>(t.kind());
    shape.half_extents = or_else(t.half_extents(), {0.5f, 0.5f, 0.5f});
    shape.radius = t.radius();
    shape.half_height = t.half_height();
    shape.position = or_else(t.position(), zero);
    shape.rotation = or_identity(t.rotation());
    shape.density = t.density();
    shape.friction = t.friction() + 0.0f;
    shape.restitution = t.restitution() + 0.0f;
    shape.category = t.category();
    shape.mask = t.mask();
    shape.hull = t.hull();
    return shape;
}

cairn_scene_body scene_body(const wire::SceneBody &t) {
    cairn_scene_body body{};
    body.kind = static_cast<uint32_t>(t.kind());
    body.position = or_else(t.position(), zero);
    body.rotation = or_identity(t.rotation());
    body.linear_velocity = or_else(t.linear_velocity(), zero);
    body.angular_velocity = or_else(t.angular_velocity(), zero);
    body.linear_damping = t.linear_damping() + 0.0f;
    body.angular_damping = t.angular_damping() + 0.0f;
    body.gravity_scale = t.gravity_scale() + 0.0f;
    body.allow_sleep = t.allow_sleep();
    const auto *grid = t.grid_count();
    body.grid_count[0] = grid == nullptr ? 1 : grid->x();
    body.grid_count[1] = grid == nullptr ? 1 : grid->y();
    body.grid_count[2] = grid == nullptr ? 1 : grid->z();
    body.grid_spacing = or_else(t.grid_spacing(), zero);
    return body;
}

cairn_scene_joint scene_joint(const wire::SceneJoint &t) {
    cairn_scene_joint joint{};
    joint.kind = static_cast<uint32_t>(t.kind());
    joint.body_a = t.body_a();
    joint.body_b = t.body_b();
    joint.anchor_a = or_else(t.anchor_a(), zero);
    joint.anchor_b = or_else(t.anchor_b(), zero);
    joint.length = t.length() + 0.0f;
    joint.collide_connected = t.collide_connected();
    joint.axis_a = or_else(t.axis_a(), {1.0f, 0.0f, 0.0f});
    joint.axis_b = or_else(t.axis_b(), {1.0f, 0.0f, 0.0f});
    joint.normal_a = or_else(t.normal_a(), {0.0f, 1.0f, 0.0f});
    joint.normal_b = or_else(t.normal_b(), {0.0f, 1.0f, 0.0f});
    joint.cone = t.cone() + 0.0f;
    joint.lower = t.lower() + 0.0f;
    joint.upper = t.upper() + 0.0f;
    joint.limited = t.limited();
    return joint;
}

void take_settings(const wire::Scene &t, cairn_scene *scene) {
    scene->body_capacity = t.body_capacity();
    scene->shape_capacity = t.shape_capacity();
    scene->joint_capacity = t.joint_capacity();
    scene->hull_capacity = t.hull_capacity();
    scene->contact_capacity = t.contact_capacity();
    scene->tick_rate_hz = t.tick_rate_hz();
    scene->gravity = or_else(t.gravity(), {0.0f, -9.81f, 0.0f});
    scene->solver = static_cast<uint32_t>(t.solver());
    scene->substeps = t.substeps();
    scene->iterations = t.iterations();
    scene->friction_model = static_cast<uint32_t>(t.friction_model());
    scene->warm_start = t.warm_start();
    scene->sleep = t.sleep();
    scene->baumgarte = t.baumgarte() + 0.0f;
    scene->slop = t.slop() + 0.0f;
    scene->contact_hertz = t.contact_hertz() + 0.0f;
    scene->contact_damping = t.contact_damping() + 0.0f;
    scene->joint_hertz = t.joint_hertz() + 0.0f;
    scene->joint_damping = t.joint_damping() + 0.0f;
    scene->restitution_threshold = t.restitution_threshold() + 0.0f;
    scene->seed = t.seed();
}

// False when the text does not fit, or holds a zero byte.
bool take_name(const fb::String *text, char (&out)[32]) {
    const size_t size = text == nullptr ? 0 : text->size();
    if (size > CAIRN_NAME_SIZE_MAX || (size > 0 && std::strlen(text->c_str()) != size)) {
        return false;
    }
    std::memcpy(out, text == nullptr ? "" : text->c_str(), size);
    return true;
}

cairn_status refuse_scene(char *error, cairn_status status, const char *words) {
    std::snprintf(error, CAIRN_SCENE_ERROR_SIZE, "%s", words);
    return status;
}

template <typename Plain> bool make_room(Plain **array, size_t count) {
    *array = static_cast<Plain *>(std::calloc(count + 1, sizeof(Plain)));
    return *array != nullptr;
}

// How long the lists in the tables of a list are together.
template <typename Tables, typename List> size_t count_all(const Tables *tables, List list) {
    size_t count = 0;
    for (fb::uoffset_t i = 0; tables != nullptr && i < tables->size(); ++i) {
        const auto *inner = list(*tables->Get(i));
        count += inner == nullptr ? 0 : inner->size();
    }
    return count;
}

void take_bodies(const wire::Scene &t, cairn_scene *scene) {
    for (fb::uoffset_t i = 0; t.bodies() != nullptr && i < t.bodies()->size(); ++i) {
        const auto *table = t.bodies()->Get(i);
        cairn_scene_body body = scene_body(*table);
        body.first_shape = scene->shape_count;
        for (fb::uoffset_t k = 0; table->shapes() != nullptr && k < table->shapes()->size(); ++k) {
            scene->shapes[scene->shape_count++] = scene_shape(*table->shapes()->Get(k));
            ++body.shape_count;
        }
        scene->bodies[scene->body_count++] = body;
    }
    for (fb::uoffset_t i = 0; t.joints() != nullptr && i < t.joints()->size(); ++i) {
        scene->joints[scene->joint_count++] = scene_joint(*t.joints()->Get(i));
    }
}

void take_hulls(const wire::Scene &t, cairn_scene *scene) {
    for (fb::uoffset_t i = 0; t.hulls() != nullptr && i < t.hulls()->size(); ++i) {
        const auto *points = t.hulls()->Get(i)->points();
        cairn_scene_hull hull = {scene->point_count, points == nullptr ? 0 : points->size()};
        for (fb::uoffset_t k = 0; k < hull.point_count; ++k) {
            scene->points[scene->point_count++] = or_else(points->Get(k), zero);
        }
        scene->hulls[scene->hull_count++] = hull;
    }
}

cairn_status take_scene(const wire::Scene &t, cairn_scene *scene, char *error) {
    const size_t body_count = t.bodies() == nullptr ? 0 : t.bodies()->size();
    const size_t joint_count = t.joints() == nullptr ? 0 : t.joints()->size();
    const size_t hull_count = t.hulls() == nullptr ? 0 : t.hulls()->size();
    const size_t shape_count = count_all(t.bodies(), [](auto &body) { return body.shapes(); });
    const size_t point_count = count_all(t.hulls(), [](auto &hull) { return hull.points(); });
    if (body_count > CAIRN_BODIES_MAX || shape_count > CAIRN_SHAPES_MAX ||
        joint_count > CAIRN_JOINTS_MAX || hull_count > CAIRN_HULLS_MAX) {
        return refuse_scene(error, CAIRN_CAPACITY, "more than a world has room for");
    }
    const bool named = take_name(t.name(), scene->name);
    if (!named || !take_name(t.rules(), scene->rules)) {
        return refuse_scene(error, CAIRN_INVALID_ARGUMENT,
            named ? "rules: must be at most 31 characters of ASCII"
                  : "name: must be at most 31 characters of ASCII");
    }
    if (!make_room(&scene->bodies, body_count) || !make_room(&scene->shapes, shape_count) ||
        !make_room(&scene->joints, joint_count) || !make_room(&scene->hulls, hull_count) ||
        !make_room(&scene->points, point_count)) {
        return refuse_scene(error, CAIRN_OUT_OF_MEMORY, "out of memory");
    }
    take_hulls(t, scene);
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

cairn_status cairn_scene_parse(
    const char *json, size_t size, cairn_scene **out, char error[CAIRN_SCENE_ERROR_SIZE]) {
    *out = nullptr;
    error[0] = '\0';
    if (size > CAIRN_SCENE_JSON_SIZE_MAX) {
        return refuse_scene(error, CAIRN_CAPACITY, "a scene may have at most 16 MiB");
    }
    auto *scene = static_cast<cairn_scene *>(std::calloc(1, sizeof(cairn_scene)));
    cairn_status status = CAIRN_OUT_OF_MEMORY;
    try {
        if (scene != nullptr) {
            status = parse_scene(std::string(json, size), scene, error);
        }
    } catch (...) {
        status = CAIRN_OUT_OF_MEMORY;
    }
    if (status != CAIRN_OK) {
        if (status == CAIRN_OUT_OF_MEMORY) {
            refuse_scene(error, status, "out of memory");
        }
        cairn_scene_destroy(scene);
        return status;
    }
    *out = scene;
    return CAIRN_OK;
}
