// SPDX-License-Identifier: MIT
// The edits of an operator: which are refused, and what the others do to a world.

#include "tests/sim/edit_kit.h"

#include <math.h>
#include <string.h>

#include "tests/sim/golden_scenes.h"
#include <cairn/fracture.h>

// Checks

TEST("each kind of edit has its ranges") {
    const cairn_vec3 far = vec3(1e5f, -1e5f, 1e5f);
    const cairn_vec3 fast = vec3(1e4f, 1e4f, -1e4f);
    const cairn_vec3 tiny = vec3(1e-3f, 1e-3f, 1e-3f);
    const cairn_vec3 huge = vec3(1e4f, 1e4f, 1e4f);
    const cairn_vec3 x = vec3(1.0f, 0.0f, 0.0f);
    const edit_case cases[] = {{CAIRN_COMMAND_SPAWN_BOX, far, tiny, CAIRN_OK},
        {CAIRN_COMMAND_SPAWN_BOX, zero, huge, CAIRN_OK},
        {CAIRN_COMMAND_SPAWN_BOX, vec3(1.01e5f, 0.0f, 0.0f), half, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SPAWN_BOX, zero, vec3(0.5f, 0.0f, 0.5f), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SPAWN_BOX, zero, vec3(0.5f, 0.5f, 1.01e4f), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SPAWN_BOX, zero, vec3(NAN, 0.5f, 0.5f), CAIRN_NON_FINITE},
        {CAIRN_COMMAND_SPAWN_SPHERE, far, x, CAIRN_OK},
        {CAIRN_COMMAND_SPAWN_SPHERE, zero, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SPAWN_SPHERE, zero, half, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_DESTROY, zero, zero, CAIRN_OK},
        {CAIRN_COMMAND_DESTROY, x, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_DESTROY, zero, x, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_POSITION, far, zero, CAIRN_OK},
        {CAIRN_COMMAND_SET_POSITION, far, x, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_POSITION, vec3(0.0f, INFINITY, 0.0f), zero, CAIRN_NON_FINITE},
        {CAIRN_COMMAND_SET_VELOCITY, fast, fast, CAIRN_OK},
        {CAIRN_COMMAND_SET_VELOCITY, vec3(0.0f, 1.01e4f, 0.0f), zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_VELOCITY, zero, vec3(0.0f, 1.01e4f, 0.0f), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_IMPULSE, vec3(1e30f, 0.0f, 0.0f), zero, CAIRN_OK},
        {CAIRN_COMMAND_IMPULSE, vec3(0.0f, 0.0f, NAN), zero, CAIRN_NON_FINITE},
        {CAIRN_COMMAND_IMPULSE, x, x, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_BODY, x, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_BODY, x, property(CAIRN_BODY_PROPERTY_KIND), CAIRN_OK},
        {CAIRN_COMMAND_SET_BODY, half, property(CAIRN_BODY_PROPERTY_KIND), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_BODY, vec3(3.0f, 0.0f, 0.0f), property(CAIRN_BODY_PROPERTY_KIND),
            CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_BODY, vec3(NAN, 0.0f, 0.0f), property(CAIRN_BODY_PROPERTY_MASS),
            CAIRN_NON_FINITE},
        {CAIRN_COMMAND_SET_BODY, vec3(0.5f, 0.5f, 0.0f), property(CAIRN_BODY_PROPERTY_DAMPING),
            CAIRN_OK},
        {CAIRN_COMMAND_SET_BODY, vec3(0.5f, 0.5f, 0.0f), property(CAIRN_BODY_PROPERTY_FRICTION),
            CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_BODY, zero, vec3(CAIRN_BODY_PROPERTY_USER, 65535.0f, 65535.0f),
            CAIRN_OK},
        {CAIRN_COMMAND_SET_BODY, zero, vec3(CAIRN_BODY_PROPERTY_USER, 65536.0f, 0.0f),
            CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_BODY, x, vec3(CAIRN_BODY_PROPERTY_MASS, 1.0f, 0.0f),
            CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_BODY, x, property(CAIRN_BODY_PROPERTY_LAST + 1), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_FORCE, huge, huge, CAIRN_OK},
        {CAIRN_COMMAND_FORCE_AT, huge, vec3(1e6f, 0.0f, 0.0f), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_IMPULSE_AT, vec3(0.0f, NAN, 0.0f), zero, CAIRN_NON_FINITE},
        {CAIRN_COMMAND_TURN, huge, x, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_TARGET, far, vec3(0.0f, 1.01e3f, 0.0f), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_GRAVITY, vec3(0.0f, 1.01e4f, 0.0f), zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_EXPLODE, zero, vec3(-1.0f, 0.0f, 0.0f), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_EXPLODE, far, vec3(5.0f, 5.0f, -1e9f), CAIRN_OK}};
    expect_checks(cases, LENGTH_OF(cases));
}

TEST("each later kind of edit has its ranges") {
    const cairn_vec3 far = vec3(1e5f, -1e5f, 1e5f);
    const cairn_vec3 huge = vec3(1e4f, 1e4f, 1e4f);
    const cairn_vec3 x = vec3(1.0f, 0.0f, 0.0f);
    const edit_case cases[] = {{CAIRN_COMMAND_SET_POSE, far, vec3(1e3f, 0.0f, -1e3f), CAIRN_OK},
        {CAIRN_COMMAND_SET_POSE, zero, vec3(0.0f, 1.01e3f, 0.0f), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_POSE, vec3(0.0f, 0.0f, 1.01e5f), zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_INERTIA, huge, huge, CAIRN_OK},
        {CAIRN_COMMAND_INERTIA, huge, vec3(0.0f, NAN, 0.0f), CAIRN_NON_FINITE},
        {CAIRN_COMMAND_SET_MASS, far, x, CAIRN_OK},
        {CAIRN_COMMAND_SET_MASS, far, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_MASS, far, half, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_SHAPE, x, property(CAIRN_BODY_PROPERTY_FRICTION), CAIRN_OK},
        {CAIRN_COMMAND_SET_SHAPE, zero, vec3(CAIRN_BODY_PROPERTY_USER, 1.0f, 65535.0f), CAIRN_OK},
        {CAIRN_COMMAND_SET_SHAPE, x, property(CAIRN_BODY_PROPERTY_KIND), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_SHAPE, x, property(CAIRN_BODY_PROPERTY_LAST + 1),
            CAIRN_INVALID_ARGUMENT}};
    expect_checks(cases, LENGTH_OF(cases));
}

TEST("the commands that make bodies and joints have their ranges") {
    const cairn_vec3 far = vec3(1e5f, -1e5f, 1e5f);
    const cairn_vec3 x = vec3(1.0f, 0.0f, 0.0f);
    const edit_case cases[] = {{CAIRN_COMMAND_SPAWN, far, zero, CAIRN_OK},
        {CAIRN_COMMAND_SPAWN, far, x, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_JOINT, far, far, CAIRN_OK},
        {CAIRN_COMMAND_JOINT, zero, vec3(NAN, 0.0f, 0.0f), CAIRN_NON_FINITE},
        {CAIRN_COMMAND_CREATE_JOINT, far, vec3(CAIRN_JOINT_BALL, 0.0f, 0.0f), CAIRN_OK},
        {CAIRN_COMMAND_CREATE_JOINT, far, vec3(CAIRN_JOINT_PULLEY, -1e4f, 1e12f), CAIRN_OK},
        {CAIRN_COMMAND_CREATE_JOINT, far, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_CREATE_JOINT, far, half, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_CREATE_JOINT, far, vec3(CAIRN_JOINT_ROW, 0.0f, 0.0f), CAIRN_OK},
        {CAIRN_COMMAND_CREATE_JOINT, far, vec3(CAIRN_JOINT_ROW + 1, 0.0f, 0.0f),
            CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_CREATE_JOINT, zero, vec3(CAIRN_JOINT_BALL, NAN, 0.0f), CAIRN_NON_FINITE},
        {CAIRN_COMMAND_CREATE_JOINT, zero, vec3(CAIRN_JOINT_BALL, 0.0f, -2.0f),
            CAIRN_INVALID_ARGUMENT}};
    expect_checks(cases, LENGTH_OF(cases));
}

TEST("the numbers of a fracture have their ranges") {
    const cairn_vec3 far = vec3(1e5f, -1e5f, 1e5f);
    const cairn_vec3 x = vec3(1.0f, 0.0f, 0.0f);
    const edit_case cases[] = {{CAIRN_COMMAND_FRACTURE, far, vec3(2.0f, 0.0f, 0.0f), CAIRN_OK},
        {CAIRN_COMMAND_FRACTURE, zero, vec3(CAIRN_FRACTURE_PIECES_MAX, 1.0f, 1e4f), CAIRN_OK},
        {CAIRN_COMMAND_FRACTURE, zero, vec3(CAIRN_FRACTURE_PIECES_MAX + 1, 0.0f, 0.0f),
            CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_FRACTURE, zero, vec3(1.0f, 0.0f, 0.0f), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_FRACTURE, zero, vec3(2.5f, 0.0f, 0.0f), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_FRACTURE, zero, vec3(NAN, 0.0f, 0.0f), CAIRN_NON_FINITE},
        {CAIRN_COMMAND_FRACTURE, zero, vec3(2.0f, 1.25f, 0.0f), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_FRACTURE, zero, vec3(2.0f, -0.25f, 0.0f), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_FRACTURE, zero, vec3(2.0f, 0.0f, 1.01e4f), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_FRACTURE, zero, vec3(2.0f, 0.0f, -1.0f), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_FRACTURE, vec3(0.0f, 2e5f, 0.0f), vec3(2.0f, 0.0f, 0.0f),
            CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SEED, zero, zero, CAIRN_OK},
        {CAIRN_COMMAND_SEED, x, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SEED, zero, x, CAIRN_INVALID_ARGUMENT}};
    expect_checks(cases, LENGTH_OF(cases));
}

TEST("a player may not edit and an operator may not play") {
    for (uint32_t kind = 0; kind <= CAIRN_COMMAND_LAST + 1; ++kind) {
        cairn_command command = edit(kind, 1, zero, zero);
        if (kind == CAIRN_COMMAND_SPAWN_BOX || kind == CAIRN_COMMAND_SPAWN_SPHERE) {
            command.aim = kind == CAIRN_COMMAND_SPAWN_BOX ? half : vec3(0.5f, 0.0f, 0.0f);
        }
        if (kind == CAIRN_COMMAND_SET_BODY) {
            command.aim = property(CAIRN_BODY_PROPERTY_AWAKE);
        }
        if (kind == CAIRN_COMMAND_SHAPE) {
            command.move = vec3(0.5f, 0.0f, 0.0f); // a sphere
        }
        if (kind == CAIRN_COMMAND_SET_SHAPE) {
            command.aim = property(CAIRN_BODY_PROPERTY_FRICTION);
        }
        if (kind == CAIRN_COMMAND_TRIANGLES || kind == CAIRN_COMMAND_HEIGHTS) {
            command.move = vec3(2.0f, 0.0f, 0.0f);
        }
        if (kind == CAIRN_COMMAND_SET_MASS) {
            command.aim = vec3(1.0f, 0.0f, 0.0f);
        }
        if (kind == CAIRN_COMMAND_CREATE_JOINT) {
            command.aim = vec3(CAIRN_JOINT_BALL, 0.0f, 0.0f);
        }
        if (kind == CAIRN_COMMAND_SET_JOINT) {
            command.aim = property(CAIRN_JOINT_PROPERTY_ENABLED);
        }
        if (kind == CAIRN_COMMAND_FRACTURE) {
            command.aim = vec3(2.0f, 0.0f, 0.0f);
        }
        const bool plays = (kind >= CAIRN_COMMAND_JOIN && kind <= CAIRN_COMMAND_INPUT) ||
                           kind == CAIRN_COMMAND_INPUT_SECOND || kind == CAIRN_COMMAND_INPUT_THIRD;
        const bool edits = kind > CAIRN_COMMAND_INPUT && kind <= CAIRN_COMMAND_LAST && !plays;
        assert_int_equal(cairn_command_check(&command) == CAIRN_OK, edits);
        command.slot = CAIRN_SLOT_OPERATOR + 1;
        assert_int_not_equal(cairn_command_check(&command), CAIRN_OK);
        command.slot = CAIRN_SLOTS_MAX - 1;
        assert_int_equal(cairn_command_check(&command) == CAIRN_OK, plays);
    }
}

TEST("edits are sorted by sequence whatever their kind") {
    cairn_command commands[] = {edit(CAIRN_COMMAND_SPAWN_SPHERE, 0, zero, vec3(0.5f, 0.0f, 0.0f)),
        edit(CAIRN_COMMAND_IMPULSE, 1, zero, zero), edit(CAIRN_COMMAND_DESTROY, 1, zero, zero),
        {.kind = CAIRN_COMMAND_INPUT, .slot = 63, .sequence = 900},
        {.kind = CAIRN_COMMAND_JOIN, .slot = 63, .sequence = 901}};
    commands[0].sequence = 3;
    commands[1].sequence = 1;
    commands[2].sequence = 2;
    static const uint32_t expected[] = {CAIRN_COMMAND_JOIN, CAIRN_COMMAND_INPUT,
        CAIRN_COMMAND_IMPULSE, CAIRN_COMMAND_DESTROY, CAIRN_COMMAND_SPAWN_SPHERE};
    cairn_commands_sort(commands, LENGTH_OF(commands));
    for (size_t i = 0; i < LENGTH_OF(commands); ++i) {
        assert_int_equal(commands[i].kind, expected[i]);
    }
}

// Effects

static cairn_world *asleep_on_a_box(void) {
    cairn_world *world = kit_world(NULL);
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def floor = cairn_shape_def_default();
    floor.half_extents = vec3(4.0f, 0.5f, 4.0f);
    def.kind = CAIRN_BODY_STATIC;
    kit_body(world, &def, &floor);
    kit_cube(world, vec3(0.0f, 1.0f, 0.0f));
    kit_run(world, 120);
    assert_int_equal(cairn_world_counts_read(world).bodies_awake, 0);
    return world;
}

TEST("edits move bodies and wake those in contact") {
    const struct {
        cairn_command command;
        cairn_vec3 velocity;
    } cases[] = {{edit(CAIRN_COMMAND_SET_POSITION, 2, vec3(1.0f, 5.0f, 0.0f), zero), zero},
        {edit(CAIRN_COMMAND_SET_VELOCITY, 2, vec3(0.0f, 5.0f, 0.0f), zero), vec3(0.0f, 5.0f, 0.0f)},
        {edit(CAIRN_COMMAND_IMPULSE, 2, vec3(0.0f, 5000.0f, 0.0f), zero), vec3(0.0f, 5.0f, 0.0f)},
        {edit(CAIRN_COMMAND_DESTROY, 1, zero, zero), zero},
        {edit(CAIRN_COMMAND_SET_POSITION, 1, vec3(0.0f, -9.0f, 0.0f), zero), zero}};
    for (size_t i = 0; i < LENGTH_OF(cases); ++i) {
        SCOPED(cairn_world) *world = asleep_on_a_box();
        step(world, cases[i].command);
        const cairn_body_state body = kit_read(world, 2);
        assert_int_equal(body.awake, 1);
        assert_float_equal(body.linear_velocity.y, cases[i].velocity.y - 9.81f / 60.0f, 1e-3f);
        assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
    }
}

TEST("each property, push, target and explosion is what the function of its name does") {
    static const uint32_t user = 0xfedcba98u;
    SCOPED(cairn_world) *world = asleep_on_a_box();
    const cairn_vec3 word =
        vec3(CAIRN_BODY_PROPERTY_USER, (float)(user & 0xffffu), (float)(user >> 16));
    step(world, edit(CAIRN_COMMAND_SET_BODY, 2, zero, word));
    assert_int_equal(kit_read(world, 2).user, user);
    const struct {
        uint32_t property;
        cairn_vec3 value;
    } sets[] = {{CAIRN_BODY_PROPERTY_MASS, {5.0f, 0.0f, 0.0f}},
        {CAIRN_BODY_PROPERTY_DAMPING, {0.5f, 0.25f, 0.0f}},
        {CAIRN_BODY_PROPERTY_GRAVITY_SCALE, {0.0f, 0.0f, 0.0f}},
        {CAIRN_BODY_PROPERTY_ALLOW_SLEEP, {0.0f, 0.0f, 0.0f}},
        {CAIRN_BODY_PROPERTY_FRICTION, {0.125f, 0.0f, 0.0f}},
        {CAIRN_BODY_PROPERTY_RESTITUTION, {0.75f, 0.0f, 0.0f}},
        {CAIRN_BODY_PROPERTY_BULLET, {1.0f, 0.0f, 0.0f}},
        {CAIRN_BODY_PROPERTY_GYROSCOPIC, {1.0f, 0.0f, 0.0f}},
        {CAIRN_BODY_PROPERTY_OWNER, {255.0f, 0.0f, 0.0f}},
        {CAIRN_BODY_PROPERTY_DENSITY, {250.0f, 0.0f, 0.0f}},
        {CAIRN_BODY_PROPERTY_LOCKS, {3.0f, 0.0f, 0.0f}}};
    for (size_t i = 0; i < LENGTH_OF(sets); ++i) {
        step(world, edit(CAIRN_COMMAND_SET_BODY, 2, sets[i].value, property(sets[i].property)));
    }
    cairn_body_def def;
    cairn_shape_def shape;
    cairn_body_id owner;
    cairn_shape_id id = 0;
    EXPECT_OK(cairn_body_read_def(world, 2, &def));
    assert_int_equal(cairn_body_shapes(world, 2, &id, 1), 1);
    EXPECT_OK(cairn_shape_read(world, id, &shape, &owner));
    assert_float_equal(cairn_body_mass(world, 2), 5.0f, 0.0f);
    assert_float_equal(def.angular_damping, 0.25f, 0.0f);
    assert_int_equal(def.locks, 3);
    assert_int_equal(def.allow_sleep, 0);
    assert_int_equal(def.bullet, 1);
    assert_int_equal(def.gyroscopic, 1);
    assert_int_equal(kit_read(world, 2).owner, 255);
    assert_float_equal(shape.density, 250.0f, 0.0f);
    assert_float_equal(shape.friction, 0.125f, 0.0f);
    assert_float_equal(shape.restitution, 0.75f, 0.0f);
    step(world, edit(CAIRN_COMMAND_FORCE, 2, vec3(0.0f, 0.0f, 300.0f), zero));
    assert_float_equal(kit_read(world, 2).linear_velocity.z, 1.0f, 0.05f);
    step(world, edit(CAIRN_COMMAND_TURN, 2, vec3(0.0f, 5.0f / 6.0f, 0.0f), zero));
    assert_float_equal(kit_read(world, 2).angular_velocity.y, 1.0f, 0.05f);
    step(world, edit(CAIRN_COMMAND_SET_BODY, 2, vec3(1.0f, 0.0f, 0.0f),
                    property(CAIRN_BODY_PROPERTY_KIND)));
    step(world, edit(CAIRN_COMMAND_SET_TARGET, 2, vec3(0.0f, 1.0f, 1.5f), zero));
    assert_float_equal(kit_read(world, 2).position.z, 1.5f, 1e-6f);
    step(world, edit(CAIRN_COMMAND_SET_GRAVITY, 0, vec3(0.0f, 3.0f, 0.0f), zero));
    assert_float_equal(cairn_world_gravity(world).y, 3.0f, 0.0f);
    step(world, edit(CAIRN_COMMAND_EXPLODE, 1, zero, vec3(5.0f, 5.0f, 1.0f)));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
    // The body has another kind than a target needs.
    step(world, edit(CAIRN_COMMAND_SET_TARGET, 1, zero, zero));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 1);
}

TEST("a shield before an explosion protects what is behind it") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_body_def wall = cairn_body_def_default();
    wall.kind = CAIRN_BODY_STATIC;
    wall.position = vec3(1.0f, 50.0f, 0.0f);
    cairn_shape_def slab = cairn_shape_def_default();
    slab.half_extents = vec3(0.1f, 5.0f, 5.0f);
    slab.category = 4;
    kit_body(world, &wall, &slab);
    const cairn_body_id behind = kit_cube(world, vec3(3.0f, 50.0f, 0.0f));
    const cairn_body_id open = kit_cube(world, vec3(-3.0f, 50.0f, 0.0f));
    const cairn_command explosion =
        edit(CAIRN_COMMAND_EXPLODE, UINT32_MAX, vec3(0.0f, 50.0f, 0.0f), vec3(5.0f, 5.0f, 1000.0f));
    cairn_command commands[] = {edit(CAIRN_COMMAND_SHIELD, 4, zero, zero), explosion, explosion};
    step_all(world, commands, 2);
    assert_true(kit_read(world, behind).linear_velocity.x == 0.0f);
    assert_true(kit_read(world, open).linear_velocity.x < -0.5f);
    // Of another category, and without a shield.
    commands[0].buttons = 2;
    step_all(world, commands, 2);
    const float once = kit_read(world, behind).linear_velocity.x;
    assert_true(once > 0.5f);
    step_all(world, &commands[1], 1);
    assert_true(kit_read(world, behind).linear_velocity.x > 1.9f * once);
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
    // Two shields, a part of another kind, and a shield of nothing.
    commands[1] = commands[0];
    step_all(world, commands, 3);
    commands[0].kind = CAIRN_COMMAND_JOINT;
    commands[1] = explosion;
    step_all(world, commands, 2);
    commands[0].kind = CAIRN_COMMAND_SHIELD;
    step_all(world, commands, 1);
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 3);
}

// A cube that flies and turns, in a world with room for its pieces.
static cairn_world *flying_cube(cairn_body_id *cube) {
    cairn_world *world = kit_world(NULL);
    cairn_body_def def = cairn_body_def_default();
    def.position = vec3(0.0f, 50.0f, 0.0f);
    def.linear_velocity = vec3(3.0f, 1.0f, 0.0f);
    def.angular_velocity = vec3(0.0f, 2.0f, 1.0f);
    cairn_shape_def shape = cairn_shape_def_default();
    *cube = kit_body(world, &def, &shape);
    return world;
}

static cairn_hash128 hash_of(const cairn_world *world) {
    return cairn_world_hash_read(world).full;
}

// The world that cairn_body_fracture and a step give.
static cairn_hash128 broken_by_function(const cairn_fracture_def *def) {
    cairn_body_id cube;
    uint32_t count = 0;
    SCOPED(cairn_world) *world = flying_cube(&cube);
    EXPECT_OK(cairn_body_fracture(world, cube, def, NULL, 0, &count));
    cairn_world_step(world, NULL, 0);
    return hash_of(world);
}

TEST("a fracture is what the function of its name does, with the seed before it or 0") {
    const cairn_vec3 point = vec3(0.5f, 50.0f, 0.0f);
    cairn_fracture_def def = {
        .point = point, .pieces = 9, .crowding = 0.25f, .thickness_min = 0.03125f};
    cairn_body_id cube;
    SCOPED(cairn_world) *world = flying_cube(&cube);
    SCOPED(cairn_world) *other = flying_cube(&cube);
    const cairn_command fracture =
        edit(CAIRN_COMMAND_FRACTURE, cube, point, vec3(9.0f, 0.25f, 0.03125f));
    step(world, fracture);
    assert_true(cairn_hash_equal(hash_of(world), broken_by_function(&def)));
    cairn_command seeded[] = {edit(CAIRN_COMMAND_SEED, 77, zero, zero), fracture};
    step_all(other, seeded, 2);
    assert_false(cairn_hash_equal(hash_of(other), hash_of(world)));
    def.seed = 77;
    assert_true(cairn_hash_equal(hash_of(other), broken_by_function(&def)));
    assert_int_equal(cairn_world_counters_read(other).edits_refused, 0);
    assert_int_equal(cairn_body_exists(world, cube), 0);
}

TEST("a fracture says which pieces it made, and needs its own parts") {
    cairn_body_id cube;
    SCOPED(cairn_world) *world = flying_cube(&cube);
    cairn_command commands[] = {edit(CAIRN_COMMAND_SEED, 1, zero, zero),
        edit(CAIRN_COMMAND_SEED, 2, zero, zero),
        edit(CAIRN_COMMAND_FRACTURE, cube, vec3(0.0f, 50.0f, 0.0f), vec3(5.0f, 0.0f, 0.0f))};
    cairn_edit_made made;
    assert_int_equal(
        cairn_world_apply_edit(world, commands, 3, &made), CAIRN_INVALID_ARGUMENT); // two seeds
    commands[1].kind = CAIRN_COMMAND_SHIELD;
    assert_int_equal(cairn_world_apply_edit(world, &commands[1], 2, &made), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(
        cairn_world_apply_edit(world, commands, 1, &made), CAIRN_INVALID_ARGUMENT); // of nothing
    assert_int_equal(made.piece_count, 0);
    EXPECT_OK(cairn_world_apply_edit(world, &commands[2], 1, &made));
    assert_int_equal(made.piece_count, 5);
    float mass = 0.0f;
    for (uint32_t i = 0; i < made.piece_count; ++i) {
        mass += cairn_body_mass(world, made.pieces[i]);
        assert_true(i == 0 || cairn_id_index(made.pieces[i]) > cairn_id_index(made.pieces[i - 1]));
    }
    assert_float_equal(mass, 1000.0f, 0.1f);
    // It has gone.
    assert_int_equal(cairn_world_apply_edit(world, &commands[2], 1, &made), CAIRN_NOT_FOUND);
    assert_int_equal(made.piece_count, 0);
}

TEST("a body keeps its rotation when its position is set") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_body_def def = cairn_body_def_default();
    def.rotation = (cairn_quat){.x = 0.6f, .w = 0.8f};
    kit_body(world, &def, NULL);
    step(world, edit(CAIRN_COMMAND_SET_POSITION, 1, vec3(3.0f, 4.0f, 5.0f), zero));
    const cairn_body_state body = kit_read(world, 1);
    assert_float_equal(body.rotation.x, 0.6f, 1e-6f);
    assert_float_equal(body.position.z, 5.0f, 0.0f);
}

TEST("a pose that is set turns a dynamic body") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_id body = kit_cube(world, vec3(0.0f, 50.0f, 0.0f));
    step(world,
        edit(CAIRN_COMMAND_SET_POSE, body, vec3(3.0f, 40.0f, 5.0f), vec3(0.0f, 0.0f, 1.57079633f)));
    const cairn_body_state state = kit_read(world, body);
    const cairn_vec3 y = quat_rotate(state.rotation, vec3(0.0f, 1.0f, 0.0f));
    assert_float_equal(y.x, -1.0f, 1e-6f);
    assert_float_equal(state.position.z, 5.0f, 1e-6f);
    assert_int_equal(state.teleports, 1);
    step(world, edit(CAIRN_COMMAND_SET_POSE, 99, zero, zero));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 1);
}

TEST("the mass that is set with its inertia is the body's") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_id body = kit_cube(world, vec3(0.0f, 50.0f, 0.0f));
    cairn_command commands[] = {
        edit(CAIRN_COMMAND_INERTIA, 0, vec3(2.0f, 3.0f, 4.0f), vec3(0.5f, 0.25f, -0.5f)),
        edit(CAIRN_COMMAND_SET_MASS, body, vec3(0.1f, 0.2f, 0.3f), vec3(7.0f, 0.0f, 0.0f))};
    step_all(world, commands, 2);
    cairn_mass_properties mass;
    EXPECT_OK(cairn_body_read_mass(world, body, &mass));
    assert_true(mass.mass == 7.0f && mass.centre.y == 0.2f);
    static const float inertia[] = {2.0f, 3.0f, 4.0f, 0.5f, 0.25f, -0.5f};
    for (uint32_t i = 0; i < 6; ++i) {
        assert_float_equal(mass.inertia[i], inertia[i], 1e-5f);
    }
    // Without its inertia, with a part of another kind, and with an inertia that no body has.
    step(world, commands[1]);
    commands[0].kind = CAIRN_COMMAND_JOINT;
    step_all(world, commands, 2);
    commands[0] = edit(CAIRN_COMMAND_INERTIA, 0, vec3(1.0f, 1.0f, -1.0f), zero);
    step_all(world, commands, 2);
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 3);
    // An inertia is no part of a spawn.
    commands[0] = edit(CAIRN_COMMAND_INERTIA, 0, half, zero);
    commands[1] = edit(CAIRN_COMMAND_SPAWN, 0, zero, zero);
    step_all(world, commands, 2);
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 4);
}

TEST("a property of one shape leaves the others of its body alone") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shapes[2] = {cairn_shape_def_default(), cairn_shape_def_default()};
    cairn_shape_id ids[2];
    cairn_body_id body;
    shapes[1].pose.position.y = 2.0f;
    EXPECT_OK(cairn_body_create_compound(world, &def, shapes, 2, &body, ids));
    const uint32_t user = 0xfedcba98u;
    step(world, edit(CAIRN_COMMAND_SET_SHAPE, ids[1], vec3(0.125f, 0.0f, 0.0f),
                    property(CAIRN_BODY_PROPERTY_FRICTION)));
    step(world, edit(CAIRN_COMMAND_SET_SHAPE, ids[1], vec3(500.0f, 0.0f, 0.0f),
                    property(CAIRN_BODY_PROPERTY_DENSITY)));
    step(world, edit(CAIRN_COMMAND_SET_SHAPE, ids[1], zero,
                    vec3(CAIRN_BODY_PROPERTY_USER, (float)(user & 0xffffu), (float)(user >> 16))));
    step(world,
        edit(CAIRN_COMMAND_SET_SHAPE, ids[1], zero, vec3(CAIRN_BODY_PROPERTY_MASK, 6.0f, 0.0f)));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
    EXPECT_OK(cairn_shape_read(world, ids[0], &shapes[0], &body));
    EXPECT_OK(cairn_shape_read(world, ids[1], &shapes[1], &body));
    assert_true(shapes[0].friction == 0.5f && shapes[0].user == 0 && shapes[0].mask == UINT32_MAX);
    assert_true(shapes[1].friction == 0.125f && shapes[1].user == user && shapes[1].mask == 6);
    assert_float_equal(cairn_body_mass(world, body), 1500.0f, 0.1f);
    step(world, edit(CAIRN_COMMAND_SET_SHAPE, 99, zero, property(CAIRN_BODY_PROPERTY_FRICTION)));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 1);
}

// Edits without effect

TEST("an edit of a missing body changes only a counter") {
    for (uint32_t kind = CAIRN_COMMAND_DESTROY; kind <= CAIRN_COMMAND_SET_TARGET; ++kind) {
        const cairn_vec3 aim =
            kind == CAIRN_COMMAND_SET_BODY ? property(CAIRN_BODY_PROPERTY_AWAKE) : zero;
        SCOPED(cairn_world) *world = asleep_on_a_box();
        EXPECT_OK(cairn_body_destroy(world, 2));
        for (uint32_t stale = 0; stale <= 2; stale += 2) {
            step(world, edit(kind, stale, zero, aim));
        }
        assert_int_equal(cairn_world_counters_read(world).edits_refused, 2);
        assert_int_equal(cairn_world_counters_read(world).creates_refused, 0);
        assert_int_equal(cairn_world_counts_read(world).bodies, 1);
    }
}

TEST("an impulse that would overflow is refused and counted") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_sphere(world, zero, 0.01f);
    step(world, edit(CAIRN_COMMAND_IMPULSE, 1, vec3(3e38f, 0.0f, 0.0f), zero));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 1);
    assert_float_equal(kit_read(world, 1).linear_velocity.x, 0.0f, 0.0f);
}

// Rules

static void count_commands(
    cairn_world *world, void *memory, const cairn_command *commands, uint32_t command_count) {
    uint32_t *seen = memory;
    cairn_body_state body;
    for (uint32_t i = 0; i < command_count; ++i) {
        assert_true(commands[i].slot < CAIRN_SLOTS_MAX);
    }
    seen[0] += command_count;
    seen[1] += cairn_body_read(world, 1, &body) == CAIRN_OK ? 1u : 0u;
}

static const cairn_rules counting = {
    .name = "counting", .version = 1, .state_size = 8, .step = count_commands};

TEST("edits are applied before the rules run, and the rules do not see them") {
    cairn_world_def def = cairn_world_def_default();
    def.rules = &counting;
    SCOPED(cairn_world) *world = kit_world(&def);
    SCOPED(cairn_world) *other = kit_world(&def);
    const cairn_command commands[] = {{.kind = CAIRN_COMMAND_JOIN, .slot = 63},
        edit(CAIRN_COMMAND_SPAWN_BOX, 0, vec3(0.0f, 9.0f, 0.0f), half)};
    cairn_world_step(world, commands, 2);
    cairn_world_step(other, commands, 1);
    const cairn_hash128 with = cairn_world_hash_read(world).sections[CAIRN_SECTION_RULES];
    const cairn_hash128 without = cairn_world_hash_read(other).sections[CAIRN_SECTION_RULES];
    assert_false(cairn_hash_equal(with, without));
}

// Determinism

TEST("the ticks after a rollback across edits repeat exactly") {
    const golden_scene *scene = golden_scene_named("edits");
    SCOPED(cairn_world) *world = golden_world_at(scene, 0);
    SCOPED(cairn_world) *fresh = golden_create(scene);
    while (cairn_world_tick(world) < scene->ticks) {
        SCOPED(kit_bytes) saved = kit_save(world);
        SCOPED(kit_bytes) encoded = kit_encode(world);
        for (int i = 0; i < 7; ++i) {
            golden_step(scene, world);
        }
        const cairn_hash128 there = hash_of(world);
        EXPECT_OK(cairn_world_load(world, saved.bytes, saved.size));
        EXPECT_OK(cairn_world_decode(fresh, encoded.bytes, encoded.size, NULL));
        for (int i = 0; i < 7; ++i) {
            golden_step(scene, world);
            golden_step(scene, fresh);
        }
        assert_true(cairn_hash_equal(hash_of(world), there));
        assert_true(kit_equal(world, fresh));
    }
    assert_true(cairn_world_counters_read(world).edits_refused > 0);
}
