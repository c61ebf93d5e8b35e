// SPDX-License-Identifier: MIT

// The golden scene of fast bodies: enough shapes that workers share its steps.

#include "base/assert.h"
#include "sim/math/vec.h"
#include "tests/sim/golden_scenes.h"

#define FAST_SEED 10
#define FAST_BODIES 140

// Sixteenths in [-1, 1]: exact in float on every machine.
static float draw(uint64_t tick, uint64_t entity, uint64_t stream) {
    return golden_draw(FAST_SEED, tick, entity, stream);
}

static cairn_vec3 draw3(uint64_t tick, uint64_t entity, float scale) {
    return vec3(scale * draw(tick, entity, 1), scale * draw(tick, entity, 2),
        scale * draw(tick, entity, 3));
}

static cairn_body_id place(
    cairn_world *world, const cairn_body_def *def, const cairn_shape_def *shape) {
    cairn_body_id body = 0;
    cairn_shape_id id = 0;
    cairn_status status = cairn_body_create(world, def, &body);
    CAIRN_ASSERT(status == CAIRN_OK);
    status = cairn_shape_create(world, body, shape, &id);
    CAIRN_ASSERT(status == CAIRN_OK);
    (void)status;
    return body;
}

static cairn_body_id place_box(
    cairn_world *world, uint32_t kind, cairn_vec3 centre, cairn_vec3 half_extents) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    def.kind = kind;
    def.position = centre;
    shape.half_extents = half_extents;
    return place(world, &def, &shape);
}

// A roof of two triangles on each side of a ridge.
static void place_roof(cairn_world *world, cairn_vec3 centre) {
    static const cairn_vec3 vertices[6] = {{-2.0f, 0.0f, -2.0f}, {-2.0f, 0.0f, 2.0f},
        {0.0f, 0.5f, -2.0f}, {0.0f, 0.5f, 2.0f}, {2.0f, 0.0f, -2.0f}, {2.0f, 0.0f, 2.0f}};
    static const uint32_t indices[12] = {0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4};
    const cairn_mesh_def mesh = {
        .vertices = vertices, .vertex_count = 6, .indices = indices, .triangle_count = 4};
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    const cairn_status status = cairn_mesh_create(world, &mesh, &shape.mesh);
    CAIRN_ASSERT(status == CAIRN_OK);
    (void)status;
    def.kind = CAIRN_BODY_STATIC;
    def.position = centre;
    shape.kind = CAIRN_SHAPE_MESH;
    (void)place(world, &def, &shape);
}

static cairn_shape_def any_shape(uint32_t i) {
    static const uint32_t kinds[] = {CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_CAPSULE, CAIRN_SHAPE_BOX,
        CAIRN_SHAPE_CYLINDER, CAIRN_SHAPE_CONE};
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = kinds[i % 5];
    shape.radius = 0.0625f;
    shape.half_height = 0.125f;
    shape.half_extents = vec3(0.25f, 0.03125f, 0.0625f);
    shape.restitution = i % 3 == 0 ? 0.5f : 0.0f;
    return shape;
}

void golden_define_fast(cairn_world_def *def) {
    def->body_capacity = def->shape_capacity = FAST_BODIES + 16;
    def->contact_capacity = 1024;
}

void golden_define_fast_pgs(cairn_world_def *def) {
    golden_define_fast(def);
    def->solver = CAIRN_SOLVER_PGS;
}

// A room of thin walls and decks, a roof of triangles and a plate that turns, in which bodies of
// most kinds fly about at up to 100 m/s. Some are bullets.
void golden_build_fast(cairn_world *world) {
    for (uint32_t side = 0; side < 6; ++side) {
        const float sign = side % 2 == 0 ? 1.0f : -1.0f;
        const cairn_vec3 axis = vec3(
            side / 2 == 0 ? sign : 0.0f, side / 2 == 1 ? sign : 0.0f, side / 2 == 2 ? sign : 0.0f);
        const cairn_vec3 half =
            vec3_sub(vec3(4.25f, 4.25f, 4.25f), vec3_scale(vec3_abs(axis), 4.25f - 0.0078125f));
        (void)place_box(world, CAIRN_BODY_STATIC, vec3_scale(axis, 4.25f), half);
    }
    (void)place_box(world, CAIRN_BODY_STATIC, vec3(-2.0f, 0.0f, 0.0f), vec3(1.5f, 0.015625f, 3.0f));
    place_roof(world, vec3(2.0f, -1.0f, 0.0f));
    const cairn_body_id plate =
        place_box(world, CAIRN_BODY_KINEMATIC, vec3(0.0f, 2.0f, 0.0f), vec3(1.0f, 0.03125f, 1.0f));
    (void)cairn_body_set_velocity(world, plate, vec3_zero(), vec3(3.0f, 0.0f, 1.0f));
    for (uint32_t i = 0; i < FAST_BODIES; ++i) {
        cairn_body_def def = cairn_body_def_default();
        const cairn_shape_def shape = any_shape(i);
        def.position = vec3_add(draw3(0, i, 3.5f), vec3(0.0f, 0.25f, 0.0f));
        def.linear_velocity = draw3(1, i, 64.0f);
        def.angular_velocity = draw3(2, i, 24.0f);
        def.bullet = i % 12 == 0 ? 1 : 0;
        (void)place(world, &def, &shape);
    }
}

// Throws some of them again.
void golden_disturb_fast(cairn_world *world, uint64_t tick) {
    cairn_body_state bodies[FAST_BODIES + 16];
    const uint32_t count = cairn_world_bodies(world, bodies, FAST_BODIES + 16);
    if (tick % 12 != 11) {
        return;
    }
    for (uint32_t i = (uint32_t)(tick / 12 % 4); i < count; i += 4) {
        if (bodies[i].kind == CAIRN_BODY_DYNAMIC) {
            (void)cairn_body_set_velocity(
                world, bodies[i].id, draw3(tick, i, 64.0f), draw3(tick + 1, i, 24.0f));
        }
    }
}
