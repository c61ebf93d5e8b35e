// SPDX-License-Identifier: MIT
// usage: npm_recordings FOLDER
// Writes two recordings of the demo scene with a player that drives: good.cairn, and planted.cairn,
// in which something that no command tells changed the velocity of one body. Prints that body's id
// and the first tick that differs.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/scene_library.h"
#include "bridge/scene_world.h"
#include "recording/pack.h"
#include "recording/recorder.h"

enum { TICKS = 1200, KEYFRAME_TICKS = 60, PLANTED_TICK = 230, PLANTED_ROW = 254, PATH_SIZE = 512 };

static void require(bool ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "npm_recordings: %s\n", what);
        exit(1);
    }
}

static bool write_bytes(void *user, const uint8_t *bytes, size_t size) {
    return fwrite(bytes, 1, size, user) == size;
}

static cairn_world *demo(void) {
    char error[CAIRN_SCENE_ERROR_SIZE];
    uint32_t count = 0;
    const cairn_scene_text *texts = cairn_scene_library(&count);
    cairn_world *world = NULL;
    for (uint32_t i = 0; i < count; ++i) {
        cairn_scene *scene = NULL;
        require(cairn_scene_parse(texts[i].json, texts[i].size, &scene, error) == CAIRN_OK, error);
        if (world == NULL && strcmp(texts[i].name, "demo") == 0) {
            require(cairn_scene_world_create(scene, NULL, &world, error) == CAIRN_OK, error);
        }
        cairn_scene_destroy(scene);
    }
    require(world != NULL, "no scene is named demo");
    return world;
}

static cairn_command input_of(uint64_t tick) {
    return (cairn_command){.kind = tick == 10 ? CAIRN_COMMAND_JOIN : CAIRN_COMMAND_INPUT,
        .sequence = (uint32_t)tick,
        .move = {
            .x = tick > 10 && tick / 90 % 2 == 0 ? 1.0f : 0.0f, .z = tick > 10 ? -0.5f : 0.0f}};
}

// A body that lies alone, so that nothing else differs in the next keyframe.
static void plant(cairn_world *world) {
    cairn_body_state bodies[512];
    require(cairn_world_bodies(world, bodies, 512) > PLANTED_ROW, "too few bodies");
    const cairn_vec3 up = {.y = 3.0f};
    require(cairn_body_set_velocity(world, bodies[PLANTED_ROW].id, up, (cairn_vec3){0}) == CAIRN_OK,
        "the body takes no velocity");
    printf("%u %d\n", (unsigned)bodies[PLANTED_ROW].id, PLANTED_TICK + 1);
}

static void record(const char *folder, const char *name, bool planted) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    require(file != NULL, path);
    cairn_world *world = demo();
    cairn_recorder *recorder = NULL;
    const cairn_recorder_config config = {.ticks_per_chunk = 60,
        .commands_per_tick_max = 1,
        .state_size_max = CAIRN_STATE_SIZE_MAX,
        .scene_name = "demo",
        .packing = &cairn_packing_zstd,
        .write = write_bytes,
        .user = file};
    require(cairn_recorder_create(&config, &recorder) == CAIRN_OK &&
                cairn_recorder_start(recorder, world),
        "cannot record");
    for (uint64_t tick = 0; tick < TICKS; ++tick) {
        const cairn_command command = input_of(tick);
        const uint32_t count = tick >= 10 ? 1 : 0;
        if (planted && tick == PLANTED_TICK) {
            plant(world);
        }
        cairn_world_step(world, &command, count);
        cairn_recorder_tick(recorder, tick, &command, count, cairn_world_hash_read(world).full);
        if ((tick + 1) % KEYFRAME_TICKS == 0) {
            cairn_recorder_keyframe(recorder, world);
        }
    }
    cairn_recorder_end(recorder);
    require(!cairn_recorder_failed(recorder) && fclose(file) == 0, "cannot be written");
    cairn_recorder_destroy(recorder);
    cairn_world_destroy(world);
}

int main(int argc, char **argv) {
    require(argc == 2, "usage: npm_recordings FOLDER");
    record(argv[1], "good.cairn", false);
    record(argv[1], "planted.cairn", true);
    return 0;
}
