// SPDX-License-Identifier: MIT
// The edits of an operator: which are refused, and what the others do to a world.

#include "tests/sim/world_kit.h"

#include <math.h>
#include <string.h>

#include "tests/sim/golden_scenes.h"
#include <cairn/articulation.h>

#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))

static const cairn_vec3 zero = {.x = 0.0f};
static const cairn_vec3 half = {.x = 0.5f, .y = 0.5f, .z = 0.5f};

static cairn_command edit(uint32_t kind, uint32_t buttons, cairn_vec3 move, cairn_vec3 aim) {
    return (cairn_command){
        .kind = kind, .slot = CAIRN_SLOT_OPERATOR, .buttons = buttons, .move = move, .aim = aim};
}

static void step(cairn_world *world, cairn_command command) {
    EXPECT_OK(cairn_command_check(&command));
    cairn_world_step(world, &command, 1);
}

static cairn_vec3 property(uint32_t number) {
    return vec3((float)number, 0.0f, 0.0f);
}

// Checks

TEST("each kind of edit has its ranges") {
    const cairn_vec3 far = vec3(1e5f, -1e5f, 1e5f);
    const cairn_vec3 fast = vec3(1e4f, 1e4f, -1e4f);
    const cairn_vec3 tiny = vec3(1e-3f, 1e-3f, 1e-3f);
    const cairn_vec3 huge = vec3(1e4f, 1e4f, 1e4f);
    const cairn_vec3 x = vec3(1.0f, 0.0f, 0.0f);
    const struct {
        uint32_t kind;
        cairn_vec3 move;
        cairn_vec3 aim;
        cairn_status expected;
    } cases[] = {{CAIRN_COMMAND_SPAWN_BOX, far, tiny, CAIRN_OK},
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
    for (size_t i = 0; i < LENGTH_OF(cases); ++i) {
        const cairn_command command = edit(cases[i].kind, 7, cases[i].move, cases[i].aim);
        if (cairn_command_check(&command) != cases[i].expected) {
            fail_msg("case %u", (unsigned)i);
        }
    }
}

TEST("the commands that make bodies and joints have their ranges") {
    const cairn_vec3 far = vec3(1e5f, -1e5f, 1e5f);
    const cairn_vec3 x = vec3(1.0f, 0.0f, 0.0f);
    const struct {
        uint32_t kind;
        cairn_vec3 move, aim;
        cairn_status expected;
    } cases[] = {{CAIRN_COMMAND_SPAWN, far, zero, CAIRN_OK},
        {CAIRN_COMMAND_SPAWN, far, x, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_JOINT, far, far, CAIRN_OK},
        {CAIRN_COMMAND_JOINT, zero, vec3(NAN, 0.0f, 0.0f), CAIRN_NON_FINITE},
        {CAIRN_COMMAND_CREATE_JOINT, far, vec3(CAIRN_JOINT_BALL, 0.0f, 0.0f), CAIRN_OK},
        {CAIRN_COMMAND_CREATE_JOINT, far, vec3(CAIRN_JOINT_PULLEY, -1e4f, 1e12f), CAIRN_OK},
        {CAIRN_COMMAND_CREATE_JOINT, far, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_CREATE_JOINT, far, half, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_CREATE_JOINT, far, vec3(CAIRN_JOINT_ROW, 0.0f, 0.0f),
            CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_CREATE_JOINT, zero, vec3(CAIRN_JOINT_BALL, NAN, 0.0f), CAIRN_NON_FINITE},
        {CAIRN_COMMAND_CREATE_JOINT, zero, vec3(CAIRN_JOINT_BALL, 0.0f, -2.0f),
            CAIRN_INVALID_ARGUMENT}};
    for (size_t i = 0; i < LENGTH_OF(cases); ++i) {
        const cairn_command command = edit(cases[i].kind, 7, cases[i].move, cases[i].aim);
        if (cairn_command_check(&command) != cases[i].expected) {
            fail_msg("case %u", (unsigned)i);
        }
    }
}

TEST("each shape that an operator may make has its size") {
    const cairn_vec3 x = vec3(0.5f, 0.0f, 0.0f);
    const cairn_vec3 xy = vec3(0.5f, 0.25f, 0.0f);
    const struct {
        uint32_t kind;
        cairn_vec3 size, rotation;
        cairn_status expected;
    } cases[] = {{CAIRN_SHAPE_BOX, half, xy, CAIRN_OK},
        {CAIRN_SHAPE_BOX, xy, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_SPHERE, x, zero, CAIRN_OK},
        {CAIRN_SHAPE_SPHERE, xy, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_CAPSULE, xy, zero, CAIRN_OK},
        {CAIRN_SHAPE_CAPSULE, x, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_CYLINDER, half, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_CONE, xy, vec3(1e3f, -1e3f, 0.0f), CAIRN_OK},
        {CAIRN_SHAPE_CONE, xy, vec3(1.01e3f, 0.0f, 0.0f), CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_CONE, vec3(0.5f, NAN, 0.0f), zero, CAIRN_NON_FINITE},
        {CAIRN_SHAPE_HULL, zero, x, CAIRN_OK}, {CAIRN_SHAPE_HULL, x, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_HALF_SPACE, zero, x, CAIRN_OK},
        {CAIRN_SHAPE_MESH, zero, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_HEIGHT_FIELD, zero, zero, CAIRN_INVALID_ARGUMENT},
        {0, half, zero, CAIRN_INVALID_ARGUMENT}};
    for (size_t i = 0; i < LENGTH_OF(cases); ++i) {
        const cairn_command command =
            edit(CAIRN_COMMAND_SHAPE, cases[i].kind, cases[i].size, cases[i].rotation);
        if (cairn_command_check(&command) != cases[i].expected) {
            fail_msg("case %u", (unsigned)i);
        }
    }
    for (uint32_t points = 0; points < 4; ++points) {
        const cairn_command pair = edit(CAIRN_COMMAND_HULL_POINTS, points, half, x);
        const cairn_command one = edit(CAIRN_COMMAND_HULL_POINTS, points, half, zero);
        assert_int_equal(cairn_command_check(&pair) == CAIRN_OK, points == 2);
        assert_int_equal(cairn_command_check(&one) == CAIRN_OK, points == 1 || points == 2);
    }
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
        if (kind == CAIRN_COMMAND_CREATE_JOINT) {
            command.aim = vec3(CAIRN_JOINT_BALL, 0.0f, 0.0f);
        }
        if (kind == CAIRN_COMMAND_SET_JOINT) {
            command.aim = property(CAIRN_JOINT_PROPERTY_ENABLED);
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

TEST("a box and a sphere are spawned") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_command commands[] = {
        edit(CAIRN_COMMAND_SPAWN_BOX, 7, vec3(1.0f, 50.0f, 2.0f), vec3(0.25f, 0.5f, 1.0f)),
        edit(CAIRN_COMMAND_SPAWN_SPHERE, 8, vec3(9.0f, 50.0f, 2.0f), vec3(0.25f, 0.0f, 0.0f))};
    commands[1].sequence = 1;
    cairn_world_step(world, commands, 2);
    const cairn_body_state box = kit_read(world, 1);
    const cairn_body_state sphere = kit_read(world, 2);
    assert_int_equal(box.kind, CAIRN_BODY_DYNAMIC);
    assert_int_equal(box.user, 7);
    assert_int_equal(sphere.user, 8);
    assert_float_equal(box.position.x, 1.0f, 0.0f);
    assert_float_equal(sphere.position.x, 9.0f, 0.0f);
    assert_float_equal(cairn_body_mass(world, 1), 1000.0f, 0.1f);
    assert_float_equal(cairn_body_mass(world, 2), 65.45f, 0.1f);
}

// Applies commands in their order, as one tick.
static void step_all(cairn_world *world, cairn_command *commands, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        commands[i].sequence = i;
        EXPECT_OK(cairn_command_check(&commands[i]));
    }
    cairn_world_step(world, commands, count);
}

// The volumes of the textbook, in m^3, times 1000 kg/m^3.
TEST("each shape is spawned with its mass and its rotation") {
    const float pi = 3.14159265f;
    const cairn_vec3 turn = vec3(0.0f, 0.0f, 0.5f * pi);
    const struct {
        uint32_t kind;
        cairn_vec3 size;
        float mass;
    } cases[] = {{CAIRN_SHAPE_BOX, vec3(0.25f, 0.5f, 1.0f), 1000.0f},
        {CAIRN_SHAPE_SPHERE, vec3(0.5f, 0.0f, 0.0f), 1000.0f * pi / 6.0f},
        {CAIRN_SHAPE_CAPSULE, vec3(0.5f, 1.0f, 0.0f), 1000.0f * pi * (0.5f + 1.0f / 6.0f)},
        {CAIRN_SHAPE_CYLINDER, vec3(0.5f, 1.0f, 0.0f), 1000.0f * pi * 0.5f},
        {CAIRN_SHAPE_CONE, vec3(0.5f, 1.0f, 0.0f), 1000.0f * pi / 6.0f}};
    for (size_t i = 0; i < LENGTH_OF(cases); ++i) {
        SCOPED(cairn_world) *world = kit_world(NULL);
        cairn_command commands[] = {edit(CAIRN_COMMAND_SHAPE, cases[i].kind, cases[i].size, turn),
            edit(CAIRN_COMMAND_SPAWN, 7, vec3(1.0f, 50.0f, 2.0f), zero)};
        step_all(world, commands, 2);
        assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
        assert_float_equal(cairn_body_mass(world, 1), cases[i].mass, 1e-4f * cases[i].mass);
        const cairn_body_state body = kit_read(world, 1);
        assert_int_equal(body.user, 7);
        const cairn_vec3 y = quat_rotate(body.rotation, vec3(0.0f, 1.0f, 0.0f));
        assert_float_equal(y.x, -1.0f, 1e-5f);
    }
}

#define CUBE_POINTS 8

// A cube of 1 m with a ninth point inside, from five commands, then shape and body.
static uint32_t cube_hull(cairn_command *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < CUBE_POINTS; i += 2) {
        const float y = (i & 2u) != 0 ? 0.5f : -0.5f;
        const float z = (i & 4u) != 0 ? 0.5f : -0.5f;
        out[count++] = edit(CAIRN_COMMAND_HULL_POINTS, 2, vec3(-0.5f, y, z), vec3(0.5f, y, z));
    }
    out[count++] = edit(CAIRN_COMMAND_HULL_POINTS, 1, vec3(0.125f, 0.0f, 0.0f), zero);
    out[count++] = edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_HULL, zero, zero);
    out[count++] = edit(CAIRN_COMMAND_SPAWN, 9, vec3(0.0f, 50.0f, 0.0f), zero);
    return count;
}

TEST("a hull is made from the points before its shape, and shared by equal ones") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_command commands[16];
    const uint32_t count = cube_hull(commands);
    step_all(world, commands, count);
    step_all(world, commands, count);
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
    assert_int_equal(cairn_world_hulls(world, NULL, 0), 1);
    assert_float_equal(cairn_body_mass(world, 1), 1000.0f, 0.1f);
    assert_float_equal(cairn_body_mass(world, 2), 1000.0f, 0.1f);
}

TEST("a half-space that is spawned is a floor") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_command commands[] = {edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_HALF_SPACE, zero, zero),
        edit(CAIRN_COMMAND_SPAWN, 0, zero, zero),
        edit(CAIRN_COMMAND_SPAWN_BOX, 0, vec3(0.0f, 0.6f, 0.0f), half)};
    step_all(world, commands, LENGTH_OF(commands));
    kit_run(world, 120);
    assert_int_equal(kit_read(world, 1).kind, CAIRN_BODY_STATIC);
    assert_float_equal(kit_read(world, 2).position.y, 0.5f, 0.01f);
}

TEST("parts that do not belong to the command after them are refused and counted") {
    const cairn_vec3 x = vec3(0.5f, 0.0f, 0.0f);
    const cairn_command sphere = edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_SPHERE, x, zero);
    const cairn_command points = edit(CAIRN_COMMAND_HULL_POINTS, 2, half, x);
    const cairn_command hull = edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_HULL, zero, zero);
    const cairn_command spawn = edit(CAIRN_COMMAND_SPAWN, 0, zero, zero);
    const cairn_command joint = edit(CAIRN_COMMAND_JOINT, 1, zero, x);
    const cairn_command box = edit(CAIRN_COMMAND_SPAWN_BOX, 0, zero, half);
    const cairn_command join =
        edit(CAIRN_COMMAND_CREATE_JOINT, 1, zero, vec3(CAIRN_JOINT_BALL, 0.0f, 0.0f));
    const struct {
        cairn_command commands[3];
        uint32_t count;
    } cases[] = {{{spawn}, 1}, {{joint, spawn}, 2}, {{points, sphere, spawn}, 3},
        {{sphere, points, spawn}, 3}, {{sphere, box}, 2}, {{join}, 1}, {{sphere, join}, 2},
        {{joint, joint, join}, 3}, {{points, hull, spawn}, 3}, {{points, sphere, joint}, 3},
        {{hull, spawn}, 2}};
    for (size_t i = 0; i < LENGTH_OF(cases); ++i) {
        SCOPED(cairn_world) *world = kit_world(NULL);
        cairn_command commands[3];
        memcpy(commands, cases[i].commands, sizeof commands);
        step_all(world, commands, cases[i].count);
        const cairn_world_counts counts = cairn_world_counts_read(world);
        if (counts.bodies + counts.hulls != 0 ||
            cairn_world_counters_read(world).edits_refused != 1) {
            fail_msg("case %u", (unsigned)i);
        }
    }
}

TEST("a spawn for which there is no room leaves nothing behind") {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = 4;
    def.shape_capacity = 1;
    cairn_world *created = NULL;
    EXPECT_OK(cairn_world_create(&def, &created));
    SCOPED(cairn_world) *world = created;
    cairn_command commands[17] = {edit(CAIRN_COMMAND_SPAWN_BOX, 0, vec3(9.0f, 9.0f, 9.0f), half)};
    const uint32_t count = 1 + cube_hull(&commands[1]);
    step_all(world, commands, count);
    assert_int_equal(cairn_world_counts_read(world).bodies, 1);
    assert_int_equal(cairn_world_counts_read(world).hulls, 0);
    assert_int_equal(cairn_world_counters_read(world).creates_refused, 1);
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
}

// Two cubes, the first turned by a quarter about z and fixed; a joint of each kind between them
// holds at once: there is no error to correct.
TEST("a joint of each kind is made where the bodies are") {
    for (uint32_t kind = CAIRN_JOINT_BALL; kind <= CAIRN_JOINT_PULLEY; ++kind) {
        SCOPED(cairn_world) *world = kit_world(NULL);
        const cairn_vec3 anchor = vec3(1.0f, 5.5f, 0.0f);
        const cairn_vec3 beside = vec3(1.0f, 6.5f, 0.0f);
        const bool apart = kind == CAIRN_JOINT_DISTANCE;
        cairn_command commands[] = {
            edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_BOX, half, vec3(0.0f, 0.0f, 1.57079633f)),
            edit(CAIRN_COMMAND_SPAWN, 0, vec3(0.0f, 5.0f, 0.0f), zero),
            edit(CAIRN_COMMAND_SPAWN_BOX, 0, vec3(2.0f, 5.0f, 0.0f), half),
            edit(CAIRN_COMMAND_SET_BODY, 1, zero, property(CAIRN_BODY_PROPERTY_KIND)),
            edit(CAIRN_COMMAND_SET_GRAVITY, 0, zero, zero),
            edit(CAIRN_COMMAND_JOINT, 1, anchor, vec3(0.0f, 0.0f, 1.0f)),
            edit(CAIRN_COMMAND_CREATE_JOINT, 2, apart ? beside : anchor,
                vec3((float)kind, 1.0f, 0.0f))};
        step_all(world, commands, LENGTH_OF(commands));
        assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
        assert_int_equal(cairn_world_counts_read(world).joints, 1);
        float error = 1.0f;
        EXPECT_OK(cairn_joint_error(world, 1, &error));
        cairn_joint_def def;
        EXPECT_OK(cairn_joint_read(world, 1, &def));
        if (!(error < 1e-5f) || def.kind != kind || (apart && def.length != 1.0f)) {
            fail_msg("kind %u: error %g m", kind, (double)error);
        }
        kit_run(world, 60);
        assert_float_equal(kit_read(world, 2).position.x, 2.0f, 1e-4f);
        assert_float_equal(kit_read(world, 2).position.y, 5.0f, 1e-4f);
    }
}

TEST("a joint that is made with a break force breaks at it") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    // 9,810 N hang on each.
    for (uint32_t i = 0; i < 2; ++i) {
        const float x = 9.0f * (float)i;
        const cairn_vec3 anchor = vec3(x, 5.0f, 0.0f);
        cairn_command commands[] = {edit(CAIRN_COMMAND_SPAWN_BOX, 0, anchor, half),
            edit(CAIRN_COMMAND_SPAWN_BOX, 0, vec3(x, 4.0f, 0.0f), half),
            edit(CAIRN_COMMAND_SET_BODY, 1 + 2 * i, zero, property(CAIRN_BODY_PROPERTY_KIND)),
            edit(CAIRN_COMMAND_JOINT, 1 + 2 * i, anchor, zero),
            edit(CAIRN_COMMAND_CREATE_JOINT, 2 + 2 * i, anchor,
                vec3(CAIRN_JOINT_BALL, 0.0f, i == 0 ? 9000.0f : 11000.0f))};
        step_all(world, commands, LENGTH_OF(commands));
    }
    kit_run(world, 60);
    assert_int_equal(cairn_world_counts_read(world).joints, 1);
    assert_true(kit_read(world, 2).position.y < 1.0f);
    assert_float_equal(kit_read(world, 4).position.y, 4.0f, 0.01f);
}

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

TEST("an edit of a joint is checked by its property") {
    const cairn_vec3 x = vec3(1.0f, 0.0f, 0.0f);
    const struct {
        uint32_t kind;
        cairn_vec3 move, aim;
        cairn_status expected;
    } cases[] = {{CAIRN_COMMAND_SET_JOINT, vec3(0.5f, 0.0f, 0.0f),
                     property(CAIRN_JOINT_PROPERTY_ENABLED), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_JOINT, vec3(-3.0f, 1e12f, 0.0f), property(CAIRN_JOINT_PROPERTY_MOTOR),
            CAIRN_OK},
        {CAIRN_COMMAND_SET_JOINT, vec3(-3.0f, 1.0f, 0.0f), property(CAIRN_JOINT_PROPERTY_TARGET),
            CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_JOINT, vec3(NAN, 0.0f, 0.0f), property(CAIRN_JOINT_PROPERTY_TARGET),
            CAIRN_NON_FINITE},
        {CAIRN_COMMAND_SET_JOINT, x, property(CAIRN_JOINT_PROPERTY_LAST + 1),
            CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_DESTROY_JOINT, x, zero, CAIRN_INVALID_ARGUMENT}};
    for (size_t i = 0; i < LENGTH_OF(cases); ++i) {
        const cairn_command command = edit(cases[i].kind, 7, cases[i].move, cases[i].aim);
        if (cairn_command_check(&command) != cases[i].expected) {
            fail_msg("case %u", (unsigned)i);
        }
    }
}

TEST("an edit hangs a body on another in joint coordinates") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_body_def fixed = cairn_body_def_default();
    fixed.kind = CAIRN_BODY_STATIC;
    const cairn_body_id on = kit_body(world, &fixed, NULL);
    const cairn_body_id body = kit_cube(world, vec3(1.5f, 0.0f, 0.0f));
    const cairn_vec3 anchor = vec3(0.75f, 0.0f, 0.0f);
    const cairn_vec3 hinge = vec3((float)CAIRN_JOINT_HINGE, 0.0f, CAIRN_BREAK_FORCE_ARTICULATED);
    const cairn_command create[] = {edit(CAIRN_COMMAND_JOINT, on, anchor, vec3(0.0f, 0.0f, 1.0f)),
        edit(CAIRN_COMMAND_CREATE_JOINT, body, anchor, hinge)};
    cairn_edit_made made;
    assert_int_equal(cairn_command_check(&create[1]), CAIRN_OK);
    EXPECT_OK(cairn_world_apply_edit(world, create, 2, &made));
    cairn_joint_def def;
    EXPECT_OK(cairn_joint_read(world, made.joint, &def));
    assert_true(def.articulated == 1 && def.breakable == 0 && def.break_force == 0.0f);
    // It hangs already.
    assert_int_equal(cairn_world_apply_edit(world, create, 2, &made), CAIRN_INVALID_ARGUMENT);
    kit_run(world, 60);
    cairn_articulation tree;
    EXPECT_OK(cairn_articulation_read(world, body, &tree));
    assert_true(tree.axis_count == 1 && tree.base == on);
}

TEST("edits drive a joint, switch it off and destroy it") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_body_def fixed = cairn_body_def_default();
    fixed.kind = CAIRN_BODY_STATIC;
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_PRISMATIC;
    def.body_a = kit_body(world, &fixed, NULL);
    def.body_b = kit_cube(world, vec3_zero());
    const cairn_joint_id joint = kit_joint(world, &def);
    const struct {
        uint32_t property;
        cairn_vec3 value;
    } sets[] = {{CAIRN_JOINT_PROPERTY_MOTOR, {2.0f, 1e6f, 0.0f}},
        {CAIRN_JOINT_PROPERTY_LIMITS, {-1.0f, 3.0f, 0.0f}},
        {CAIRN_JOINT_PROPERTY_TARGET, {0.5f, 0.0f, 0.0f}},
        {CAIRN_JOINT_PROPERTY_SPRING, {2.0f, 0.25f, 0.0f}},
        {CAIRN_JOINT_PROPERTY_SOFTNESS, {5.0f, 0.5f, 0.0f}}};
    for (size_t i = 0; i < LENGTH_OF(sets); ++i) {
        step(
            world, edit(CAIRN_COMMAND_SET_JOINT, joint, sets[i].value, property(sets[i].property)));
    }
    EXPECT_OK(cairn_joint_read(world, joint, &def));
    assert_true(def.motor == 1 && def.motor_speed == 2.0f && def.motor_force == 1e6f);
    assert_true(def.limited == 1 && def.lower == -1.0f && def.upper == 3.0f);
    assert_true(def.target == 0.5f && def.spring_hertz == 2.0f && def.spring_damping == 0.25f);
    assert_true(def.hertz == 5.0f && def.damping == 0.5f);
    step(world, edit(CAIRN_COMMAND_SET_JOINT, joint, zero, property(CAIRN_JOINT_PROPERTY_ENABLED)));
    EXPECT_OK(cairn_joint_read(world, joint, &def));
    assert_int_equal(def.disabled, 1);
    // A prismatic joint does not steer.
    step(
        world, edit(CAIRN_COMMAND_SET_JOINT, joint, zero, property(CAIRN_JOINT_PROPERTY_STEERING)));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 1);
    step(world, edit(CAIRN_COMMAND_DESTROY_JOINT, joint, zero, zero));
    assert_int_equal(cairn_world_joints(world, NULL, 0), 0);
    step(world, edit(CAIRN_COMMAND_DESTROY_JOINT, joint, zero, zero));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 2);
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

TEST("a spawn in a full world leaves nothing behind") {
    for (uint32_t lacking = 0; lacking < 2; ++lacking) {
        cairn_world_def def = cairn_world_def_default();
        def.body_capacity = lacking == 0 ? 1 : 2;
        def.shape_capacity = lacking == 0 ? 2 : 1;
        SCOPED(cairn_world) *world = kit_world(&def);
        kit_sphere(world, zero, 0.5f);
        step(world, edit(CAIRN_COMMAND_SPAWN_BOX, 0, vec3(0.0f, 9.0f, 0.0f), half));
        assert_int_equal(cairn_world_counters_read(world).creates_refused, 1);
        assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
        assert_int_equal(cairn_world_counts_read(world).bodies, 1);
        assert_int_equal(cairn_world_counts_read(world).shapes, 1);
    }
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
        const cairn_hash128 there = kit_hash(world);
        EXPECT_OK(cairn_world_load(world, saved.bytes, saved.size));
        EXPECT_OK(cairn_world_decode(fresh, encoded.bytes, encoded.size, NULL));
        for (int i = 0; i < 7; ++i) {
            golden_step(scene, world);
            golden_step(scene, fresh);
        }
        assert_true(cairn_hash_equal(kit_hash(world), there));
        assert_true(kit_equal(world, fresh));
    }
    assert_true(cairn_world_counters_read(world).edits_refused > 0);
}
