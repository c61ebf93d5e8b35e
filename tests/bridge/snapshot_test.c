// SPDX-License-Identifier: MIT
// The codec accepts whatever the simulation contains, and the simulation accepts whatever the codec
// does.
#include "tests/kit/test.h"

#include <math.h>
#include <string.h>

#include <cairn/math.h>

#include "bridge/scene_library.h"
#include "bridge/scene_world.h"
#include "bridge/snapshot.h"
#include "compress/command_coder.h"
#include "compress/frame_codec.h"
#include "schema/codec.h"
#include "schema/message_check.h"
#include "tests/kit/packed.h"
#include "tests/kit/scenes.h"

SCOPE_POINTER_ENDS(cairn_world, cairn_world_destroy)
SCOPE_POINTER_ENDS(cairn_frame_codec, cairn_frame_codec_destroy)

enum { BODIES_MAX = 512 };

static cairn_encoder *encoder;
static cairn_world *world;

static cairn_message expect_accepted(const cairn_message *message) {
    const uint8_t *bytes;
    size_t size;
    cairn_message decoded;
    assert_int_equal(cairn_message_encode(encoder, message, &bytes, &size), CAIRN_OK);
    assert_int_equal(cairn_message_decode(bytes, size, CAIRN_TO_CLIENT, &decoded), CAIRN_DECODE_OK);
    return decoded;
}

TEST("a world goes through a frame, rounded, at every tick, and clients accept it") {
    static cairn_body_state states[BODIES_MAX];
    SCOPED(cairn_frame_codec) *codec = NULL;
    cairn_snapshot_frame sent[2] = {0}, received = {0};
    static uint8_t payload[BODIES_MAX * 80];
    cairn_snapshot_body bodies[BODIES_MAX];
    assert_int_equal(cairn_frame_codec_create(BODIES_MAX, &codec), CAIRN_OK);
    assert_int_equal(cairn_snapshot_frame_create(&received, BODIES_MAX), CAIRN_OK);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(cairn_snapshot_frame_create(&sent[i], BODIES_MAX), CAIRN_OK);
        sent[i].tick_rate_hz = 60;
        sent[i].quantisation = cairn_quantisation_default();
    }
    for (uint64_t tick = 1; tick <= 30; ++tick) {
        cairn_world_step(world, NULL, 0);
        const uint32_t count = cairn_world_bodies(world, states, BODIES_MAX);
        cairn_snapshot_frame *frame = &sent[tick % 2],
                             *baseline = tick == 1 ? NULL : &sent[(tick + 1) % 2];
        const cairn_frame_bases bases = {baseline, baseline, baseline};
        frame->tick = tick;
        frame->count = 0;
        for (uint32_t i = 0; i < count; ++i) {
            const cairn_snapshot_body body = cairn_snapshot_body_of(&states[i]);
            cairn_snapshot_frame_add(frame, &body, (cairn_vec3){0});
        }
        const size_t size = cairn_frame_encode(codec, &bases, frame, payload, sizeof payload);
        assert_true(size > 0);
        received.tick = tick;
        assert_int_equal(cairn_frame_decode(codec, &bases, payload, size, &received), CAIRN_OK);
        assert_int_equal(cairn_snapshot_frame_check(&received), cairn_snapshot_frame_check(frame));
        for (uint32_t i = 0; i < count; ++i) {
            bodies[i] = cairn_snapshot_frame_body(&received, i);
            assert_true(cairn_float_abs(bodies[i].position.y - states[i].position.y) < 0.001f);
        }
        assert_int_equal(cairn_bodies_check(bodies, count), CAIRN_DECODE_OK);
    }
    bodies[0].position.x = INFINITY; // the first one is not left out
    assert_int_equal(cairn_bodies_check(bodies, 1), CAIRN_DECODE_NON_FINITE);
    cairn_snapshot_frame_destroy(&received);
    cairn_snapshot_frame_destroy(&sent[0]);
    cairn_snapshot_frame_destroy(&sent[1]);
}

TEST("the codec accepts every shape of a world") {
    cairn_shape_id ids[BODIES_MAX];
    cairn_snapshot_shape shapes[BODIES_MAX];
    const uint32_t count = cairn_world_shapes(world, ids, BODIES_MAX);
    assert_true(count > 200 && count <= BODIES_MAX);
    for (uint32_t i = 0; i < count; ++i) {
        assert_true(cairn_snapshot_shape_read(world, ids[i], &shapes[i]));
        assert_int_equal(shapes[i].id, ids[i]);
    }
    (void)expect_accepted(&(cairn_message){
        .kind = CAIRN_MESSAGE_SHAPES, .shapes = {.shapes = shapes, .shape_count = count}});
    assert_false(cairn_snapshot_shape_read(world, 0, &shapes[0]));
}

TEST("clients are not shown a sensor") {
    const cairn_world_def def = cairn_world_def_default();
    const cairn_body_def body_def = cairn_body_def_default();
    cairn_shape_def shape_def = cairn_shape_def_default();
    cairn_snapshot_shape shown;
    cairn_world *own = NULL;
    cairn_body_id body = 0;
    cairn_shape_id shape = 0;
    assert_int_equal(cairn_world_create(&def, &own), CAIRN_OK);
    assert_int_equal(cairn_body_create(own, &body_def, &body), CAIRN_OK);
    shape_def.flags = CAIRN_SHAPE_SENSOR;
    assert_int_equal(cairn_shape_create(own, body, &shape_def, &shape), CAIRN_OK);
    assert_false(cairn_snapshot_shape_read(own, shape, &shown));
    cairn_world_destroy(own);
}

TEST("a hull is encoded with its corners") {
    const cairn_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const cairn_world_def def = cairn_world_def_default();
    const cairn_body_def body_def = cairn_body_def_default();
    cairn_shape_def shape_def = cairn_shape_def_default();
    SCOPED(cairn_world) *own = NULL;
    cairn_body_id body = 0;
    cairn_shape_id ids[2];
    cairn_snapshot_shape shapes[2];
    cairn_vec3 corners_read[CAIRN_HULL_VERTICES_MAX];
    assert_int_equal(cairn_world_create(&def, &own), CAIRN_OK);
    assert_int_equal(cairn_body_create(own, &body_def, &body), CAIRN_OK);
    assert_int_equal(cairn_shape_create(own, body, &shape_def, &ids[0]), CAIRN_OK);
    assert_int_equal(cairn_hull_create(own, corners, 4, &shape_def.hull), CAIRN_OK);
    shape_def.kind = CAIRN_SHAPE_HULL;
    assert_int_equal(cairn_shape_create(own, body, &shape_def, &ids[1]), CAIRN_OK);
    assert_true(cairn_snapshot_shape_read(own, ids[0], &shapes[0]));
    assert_true(cairn_snapshot_shape_read(own, ids[1], &shapes[1]));
    assert_int_equal(cairn_shape_corners_read(own, ids[0], corners_read), 0);
    assert_int_equal(cairn_shape_corners_read(own, 77, corners_read), 0);
    assert_int_equal(cairn_shape_corners_read(own, ids[1], corners_read), 4);
    assert_memory_equal(corners_read, corners, sizeof corners);
    const uint8_t counts[1] = {4};
    (void)expect_accepted(&(cairn_message){.kind = CAIRN_MESSAGE_SHAPES,
        .shapes = {.shapes = shapes,
            .shape_count = 2,
            .corner_counts = counts,
            .hull_count = 1,
            .corners = corners_read,
            .corner_count = 4}});
}

TEST("the flags of a body are its kind, owner, teleports and whether it is awake and enabled") {
    static const struct {
        uint32_t kind;
        uint32_t awake;
        uint32_t enabled;
        uint32_t owner;
        uint32_t teleports;
        uint32_t flags;
    } rows[] = {{CAIRN_BODY_STATIC, 0, 1, CAIRN_SLOT_NONE, 0, 0},
        {CAIRN_BODY_KINEMATIC, 1, 1, CAIRN_SLOT_NONE, 0, 3},
        {CAIRN_BODY_DYNAMIC, 0, 1, CAIRN_SLOT_NONE, 0, 4},
        {CAIRN_BODY_DYNAMIC, 1, 1, 0, 7, 5 + (7 << 4) + (1 << 7)},
        {CAIRN_BODY_DYNAMIC, 0, 0, 63, 1, 12 + (1 << 4) + (64 << 7)}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const cairn_body_state body = {.id = 1,
            .kind = rows[i].kind,
            .awake = rows[i].awake,
            .enabled = rows[i].enabled,
            .owner = rows[i].owner,
            .teleports = rows[i].teleports};
        assert_int_equal(cairn_snapshot_body_of(&body).flags, rows[i].flags);
    }
}

TEST("a command is decoded bit for bit") {
    const cairn_command command = {.kind = CAIRN_COMMAND_INPUT,
        .slot = CAIRN_SLOTS_MAX - 1,
        .sequence = 9,
        .buttons = 0xffffffff,
        .move = {-1.0f, 0.1f, 1.0f},
        .aim = {0.5f, -0.0f, 1e-45f}};
    const cairn_wire_tick tick = {.tick = 1, .command_count = 1};
    const cairn_message message = kit_ticks(&(cairn_ticks_head){0}, &tick, 1, &command);
    const cairn_message decoded = expect_accepted(&message);
    cairn_ticks_reader reader;
    cairn_tick_record record;
    cairn_command received;
    assert_true(cairn_ticks_reader_of(decoded.ticks.payload, decoded.ticks.payload_size, &reader));
    assert_true(cairn_ticks_read(&reader, &record));
    cairn_command_coder coder = cairn_command_decoder(record.commands, record.commands_size);
    assert_int_equal(
        cairn_commands_decode(&coder, (cairn_tick_commands){.count = 0}, &received, 1), 1);
    assert_memory_equal(&command, &received, sizeof command);
}

TEST("an input becomes a command of its slot") {
    const cairn_wire_input input = {
        .tick = 5, .sequence = 6, .buttons = 7, .move = {0.25f, 0.5f, 1.0f}, .aim = {0, 1, 0}};
    const cairn_command command = cairn_command_of_input(&input, 3);
    assert_int_equal(cairn_command_check(&command), CAIRN_OK);
    assert_int_equal(command.kind, CAIRN_COMMAND_INPUT);
    assert_int_equal(command.slot, 3);
    assert_int_equal(command.sequence, 6);
    assert_int_equal(command.buttons, 7);
    assert_true(command.move.y == 0.5f && command.aim.y == 1.0f);
}

static cairn_command good_command(uint32_t kind) {
    cairn_command command = {.kind = kind};
    command.slot = kind > CAIRN_COMMAND_INPUT ? CAIRN_SLOT_OPERATOR : 0;
    command.aim.x = kind == CAIRN_COMMAND_SPAWN_BOX || kind == CAIRN_COMMAND_SPAWN_SPHERE ? 1 : 0;
    command.aim.y = kind == CAIRN_COMMAND_SPAWN_BOX ? 1 : 0;
    command.aim.z = command.aim.y;
    if (kind == CAIRN_COMMAND_SHAPE) {
        command.buttons = CAIRN_SHAPE_CONE;
        command.move = (cairn_vec3){1, 1, 0};
    } else if (kind == CAIRN_COMMAND_HULL_POINTS) {
        command.buttons = 2;
    } else if (kind == CAIRN_COMMAND_CREATE_JOINT) {
        command.aim.x = CAIRN_JOINT_BALL;
    }
    return command;
}

static void expect_same_verdict(const cairn_command *command) {
    const cairn_wire_tick tick = {.tick = 1, .command_count = 1};
    const cairn_chunk chunk = {.kind = CAIRN_CHUNK_TICKS,
        .ticks = {.ticks = &tick, .tick_count = 1, .commands = command, .command_count = 1}};
    const uint8_t *bytes;
    size_t size;
    const bool codec = cairn_chunk_encode(encoder, &chunk, &bytes, &size) == CAIRN_OK;
    if ((cairn_command_check(command) == CAIRN_OK) != codec) {
        fail_msg("kind %u, slot %u", command->kind, command->slot);
    }
}

TEST("codec and simulation refuse the same commands") {
    static const uint32_t slots[] = {
        0, CAIRN_SLOTS_MAX - 1, CAIRN_SLOT_OPERATOR, CAIRN_SLOT_OPERATOR + 1, 255, UINT32_MAX};
    const float values[] = {0.0f, -0.0f, 1.0f, -1.0f, 1.0000001f, -1.0000001f, 1e-3f, 0.999e-3f,
        1e4f, -1e4f, 1.00001e4f, -1.00001e4f, 1e5f, -1e5f, 1.00001e5f, -1.00001e5f, 1e38f, NAN,
        INFINITY};
    for (uint32_t kind = 0; kind <= CAIRN_COMMAND_LAST + 1; ++kind) {
        for (size_t i = 0; i < sizeof slots / sizeof slots[0]; ++i) {
            cairn_command command = good_command(kind);
            command.slot = slots[i];
            expect_same_verdict(&command);
        }
        for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
            for (uint32_t at = 0; at < 6; ++at) {
                cairn_command command = good_command(kind);
                cairn_vec3 *vector = at < 3 ? &command.move : &command.aim;
                float *components[] = {&vector->x, &vector->y, &vector->z};
                *components[at % 3] = values[i];
                expect_same_verdict(&command);
            }
        }
    }
}

TEST("the simulation builds scenes with values at the ends of their ranges") {
    static const char *const scenes[] = {
        "{'name':'a','gravity':[1e4,-1e4,0],'iterations':255,'friction_model':'constant','"
        "baumgarte':1,"
        "'slop':1,'restitution_threshold':1e4,'tick_rate_hz':240,'solver':'pgs','substeps':64,"
        "'contact_hertz':1e3,'contact_damping':100,'joint_hertz':1e3,'joint_damping':100,"
        "'joint_capacity':0,'contact_capacity':1,'body_capacity':1,'shape_capacity':1}",
        "{'name':'a','tick_rate_hz':10,'baumgarte':1e-6,'slop':0,'iterations':1,'substeps':1,"
        "'contact_hertz':1e-6,'contact_damping':0,'joint_hertz':1e-6,'joint_damping':0}",
        "{'name':'a','bodies':[{'position':[1e5,-1e5,1e5],'rotation':[0,0,0,1.1],"
        "'linear_velocity':[1e4,-1e4,0],'angular_velocity':[1e4,0,-1e4],'linear_damping':1e6,"
        "'angular_damping':1e6,'gravity_scale':-1e6,'gyroscopic':true,'bullet':true,"
        "'shapes':[{'half_extents':[1e4,1e4,1e-3],"
        "'density':1e6,'friction':1e3,'restitution':1},{'kind':'sphere','radius':1e4},{'kind':"
        "'capsule','radius':1e-3,'half_height':1e4,'position':[1e4,0,0]}]},{}],'joints':[{'kind':"
        "'distance','body_b':1,'length':1e4,'anchor_a':[1e4,0,0]},{'kind':'hinge','body_b':1,"
        "'limited':true,'lower':-3.14159265,'upper':3.14159265,'axis_a':[1.09,0,0],'normal_a':"
        "[0.09,0.91,0]},{'kind':'cone','body_b':1,'cone':3.14159265},"
        "{'kind':'cone','body_b':1,'cone':0}]}",
    };
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; ++i) {
        char error[CAIRN_SCENE_ERROR_SIZE];
        SCOPED(cairn_world) *built = NULL;
        if (cairn_scene_world_create(kit_scene(scenes[i]), NULL, &built, error) != CAIRN_OK) {
            fail_msg("scene %zu: %s", i, error);
        }
    }
}

BEFORE_ALL {
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_scene *scene = NULL;
    const cairn_scene_text *text = cairn_scene_library_find("demo");
    assert_int_equal(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &encoder), CAIRN_OK);
    const bool ok = text != NULL &&
                    cairn_scene_parse(text->json, text->size, &scene, error) == CAIRN_OK &&
                    cairn_scene_world_create(scene, NULL, &world, error) == CAIRN_OK;
    cairn_scene_destroy(scene);
    assert_true(ok);
}

AFTER_ALL {
    cairn_encoder_destroy(encoder);
    cairn_world_destroy(world);
}
