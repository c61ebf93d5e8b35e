// SPDX-License-Identifier: MIT
#include "tests/recording/tape.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static bool append(void *user, const uint8_t *bytes, size_t size) {
    tape *t = user;
    CAIRN_ASSERT(size <= TAPE_SIZE_MAX - t->size);
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    return true;
}

static void add_body(cairn_world *world, uint32_t kind, uint32_t shape_kind, float y) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_id body;
    cairn_shape_id id;
    def.kind = kind;
    def.position.y = y;
    shape.kind = shape_kind;
    CAIRN_ASSERT(cairn_body_create(world, &def, &body) == CAIRN_OK);
    CAIRN_ASSERT(cairn_shape_create(world, body, &shape, &id) == CAIRN_OK);
}

void tape_start(tape *t, const uint8_t *seed) {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = def.shape_capacity = 16;
    def.contact_capacity = 64;
    def.joint_capacity = 0;
    def.hull_capacity = 0;
    def.rules = &cairn_rules_sandbox;
    *t = (tape){.bytes = malloc(TAPE_SIZE_MAX)};
    CAIRN_ASSERT(t->bytes != NULL && cairn_world_create(&def, &t->world) == CAIRN_OK);
    add_body(t->world, CAIRN_BODY_STATIC, CAIRN_SHAPE_HALF_SPACE, 0);
    add_body(t->world, CAIRN_BODY_DYNAMIC, CAIRN_SHAPE_BOX, 0.5f);
    add_body(t->world, CAIRN_BODY_DYNAMIC, CAIRN_SHAPE_BOX, 1.6f);
    const cairn_recorder_config config = {.ticks_per_chunk = 16,
        .commands_per_tick_max = 4,
        .state_size_max = 1 << 18,
        .scene_name = "tape",
        .signing_seed = seed,
        .write = append,
        .user = t};
    CAIRN_ASSERT(cairn_recorder_create(&config, &t->recorder) == CAIRN_OK);
    CAIRN_ASSERT(cairn_recorder_start(t->recorder, t->world));
}

void tape_run(tape *t, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; ++i) {
        uint64_t tick = cairn_world_tick(t->world);
        const cairn_command command = {.kind = tick == 0 ? CAIRN_COMMAND_JOIN : CAIRN_COMMAND_INPUT,
            .slot = 3,
            .sequence = (uint32_t)tick,
            .move = {.x = tick % 40 < 20 ? 1.0f : -1.0f, .z = 0.25f}};
        cairn_world_step(t->world, &command, 1);
        cairn_recorder_tick(t->recorder, tick, &command, 1, cairn_world_hash_read(t->world).full);
    }
}

void tape_keyframe(tape *t) {
    cairn_recorder_keyframe(t->recorder, t->world);
}

void tape_close(tape *t) {
    cairn_recorder_end(t->recorder);
}

void tape_end(tape *t) {
    cairn_recorder_destroy(t->recorder);
    cairn_world_destroy(t->world);
    free(t->bytes);
    *t = (tape){.bytes = NULL};
}
