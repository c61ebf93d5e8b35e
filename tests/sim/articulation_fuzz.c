// SPDX-License-Identifier: MIT
// Trees of articulated joints with drives of any size, built from the input, pushed about and taken
// apart: each step ends, leaves a valid world, and goes on from a save or from an encoding as from
// the world itself.

#include <cairn/articulation.h>

#include "tests/sim/fuzz_kit.h"

#define BODIES_MAX 24u
#define STEPS 6u

static float draw(cairn_reader *reader, float most) {
    return most * ((float)cairn_read_u8(reader) - 127.5f) / 127.5f;
}

// From next to nothing to a lot: 2^-10 .. 2^15 times `unit`.
static float draw_size(cairn_reader *reader, float unit) {
    float size = unit / 1024.0f;
    for (uint32_t i = cairn_read_u8(reader) / 10; i > 0; --i) {
        size *= 2.0f;
    }
    return size;
}

static cairn_vec3 draw_vector(cairn_reader *reader, float most) {
    cairn_vec3 v;
    v.x = draw(reader, most);
    v.y = draw(reader, most);
    v.z = draw(reader, most);
    return v;
}

static cairn_world *create(void) {
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world = NULL;
    def.body_capacity = def.shape_capacity = BODIES_MAX + 2;
    def.joint_capacity = 2 * BODIES_MAX;
    def.contact_capacity = 256;
    CAIRN_ASSERT(cairn_world_create(&def, &world) == CAIRN_OK);
    return world;
}

static cairn_body_id add_body(cairn_world *world, cairn_reader *reader, uint32_t kind) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_id body = 0;
    cairn_shape_id id = 0;
    def.kind = kind;
    def.position = draw_vector(reader, 3.0f);
    const cairn_vec3 linear = draw_vector(reader, 20.0f);
    const cairn_vec3 angular = draw_vector(reader, 20.0f);
    if (kind == CAIRN_BODY_DYNAMIC) {
        def.linear_velocity = linear;
        def.angular_velocity = angular;
    }
    shape.kind = cairn_read_u8(reader) % 2 == 0 ? CAIRN_SHAPE_BOX : CAIRN_SHAPE_SPHERE;
    shape.radius = 0.2f;
    shape.half_extents = (cairn_vec3){.x = 0.2f, .y = 0.1f, .z = 0.3f};
    shape.density = draw_size(reader, 10.0f);
    CAIRN_ASSERT(cairn_body_create_compound(world, &def, &shape, 1, &body, &id) == CAIRN_OK);
    return body;
}

static void add_joint(cairn_world *world, cairn_reader *reader, cairn_body_id a, cairn_body_id b) {
    static const uint32_t kinds[] = {CAIRN_JOINT_HINGE, CAIRN_JOINT_BALL, CAIRN_JOINT_PRISMATIC,
        CAIRN_JOINT_CONE, CAIRN_JOINT_WELD};
    const uint32_t bits = cairn_read_u8(reader);
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id joint = 0;
    def.kind = kinds[cairn_read_u8(reader) % 5];
    def.body_a = a;
    def.body_b = b;
    def.anchor_a = draw_vector(reader, 1.0f);
    def.anchor_b = draw_vector(reader, 1.0f);
    def.articulated = (bits & 7u) != 0;
    def.limited = bits >> 3 & 1u;
    def.lower = draw(reader, 1.5f);
    def.upper = def.lower + 0.1f;
    def.motor = bits >> 4 & 1u;
    def.motor_speed = draw(reader, 50.0f);
    def.motor_velocity = draw_vector(reader, 20.0f);
    def.motor_force = draw_size(reader, 100.0f);
    if (def.articulated != 0) {
        def.drive_stiffness = (bits >> 5 & 1u) != 0 ? draw_size(reader, 1000.0f) : 0.0f;
        def.drive_damping = (bits >> 6 & 1u) != 0 ? draw_size(reader, 100.0f) : 0.0f;
        def.joint_friction = bits >> 7 != 0 ? draw_size(reader, 10.0f) : 0.0f;
        def.armature = draw_size(reader, 0.1f);
        def.drive_torque = draw_vector(reader, 100.0f);
    }
    (void)cairn_joint_create(world, &def, &joint); // or refused: a ring, a joint too many
}

// Something happens to a body, or a joint goes.
static void disturb(cairn_world *world, cairn_reader *reader) {
    const cairn_body_id body = 1u + cairn_read_u8(reader) % BODIES_MAX;
    const cairn_joint_id joint = 1u + cairn_read_u8(reader) % BODIES_MAX;
    switch (cairn_read_u8(reader) % 8) {
    case 0:
        (void)cairn_joint_destroy(world, joint);
        break;
    case 1:
        (void)cairn_body_destroy(world, body);
        break;
    case 2:
        (void)cairn_body_set_kind(world, body, 1u + cairn_read_u8(reader) % 3);
        break;
    case 3:
        (void)cairn_body_set_enabled(world, body, cairn_read_u8(reader) % 2 != 0);
        break;
    case 4:
        (void)cairn_joint_set_motor(world, joint, draw(reader, 50.0f), draw_size(reader, 100.0f));
        break;
    default:
        // An impulse could take a light body out of the range of velocities before the step.
        (void)cairn_body_set_velocity(
            world, body, draw_vector(reader, 300.0f), draw_vector(reader, 300.0f));
        break;
    }
}

// Steps the world, and a twin that was loaded or decoded from it.
static void step(cairn_world *world, cairn_world *twin, bool by_encoding) {
    static uint8_t bytes[FUZZ_SIZE_MAX];
    const size_t size = by_encoding ? cairn_world_encode(world, bytes, sizeof bytes)
                                    : cairn_world_save(world, bytes, sizeof bytes);
    const cairn_status status = by_encoding ? cairn_world_decode(twin, bytes, size, NULL)
                                            : cairn_world_load(twin, bytes, size);
    CAIRN_ASSERT(size > 0 && status == CAIRN_OK);
    cairn_world_step(world, NULL, 0);
    cairn_world_step(twin, NULL, 0);
    CAIRN_ASSERT(
        cairn_hash_equal(cairn_world_hash_read(world).full, cairn_world_hash_read(twin).full));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static cairn_world *worlds[3];
    static uint8_t empty[FUZZ_SIZE_MAX];
    static size_t empty_size;
    if (worlds[0] == NULL) {
        for (uint32_t i = 0; i < 3; ++i) {
            worlds[i] = create();
        }
        empty_size = cairn_world_encode(worlds[0], empty, sizeof empty);
        CAIRN_ASSERT(empty_size > 0);
    }
    cairn_reader reader = cairn_reader_of(data, size);
    CAIRN_ASSERT(cairn_world_decode(worlds[0], empty, empty_size, NULL) == CAIRN_OK);
    cairn_body_id bodies[BODIES_MAX];
    uint32_t count = 0;
    while (count < BODIES_MAX && cairn_reader_left(&reader) >= 40) {
        const uint32_t on = cairn_read_u8(&reader);
        const uint32_t kind = on == 255 ? CAIRN_BODY_STATIC : CAIRN_BODY_DYNAMIC;
        bodies[count] = add_body(worlds[0], &reader, kind);
        if (count > 0) {
            add_joint(worlds[0], &reader, bodies[on % count], bodies[count]);
        }
        count += 1;
    }
    for (uint32_t i = 0; i < STEPS; ++i) {
        if (cairn_reader_left(&reader) >= 8) {
            disturb(worlds[0], &reader);
        }
        step(worlds[0], worlds[1 + i % 2], i % 2 != 0);
    }
    for (uint32_t i = 0; i < 3; ++i) {
        CAIRN_ASSERT(cairn_world_validate(worlds[i], NULL) == CAIRN_OK);
    }
    return 0;
}
