// SPDX-License-Identifier: MIT
// usage: npm_worlds FOLDER
// Steps each built-in scene, prints "scene tick hash" into FOLDER/scenes.txt and writes the encoded
// world of the middle tick to FOLDER/SCENE.encoding, from which a build for JavaScript goes on.

#include <stdio.h>
#include <stdlib.h>

#include "bridge/scene_library.h"
#include "bridge/scene_world.h"

enum { TICKS = 120, PATH_SIZE = 512 };

static void require(bool ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "npm_worlds: %s\n", what);
        exit(1);
    }
}

static FILE *create(const char *folder, const char *name, const char *ending) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
    FILE *file = fopen(path, "wb");
    require(file != NULL, path);
    return file;
}

static void print_hash(FILE *lines, const char *name, const cairn_world *world) {
    char text[CAIRN_HASH_TEXT_SIZE];
    const cairn_hash128 full = cairn_world_hash_read(world).full;
    fprintf(
        lines, "%s %u %s\n", name, (unsigned)cairn_world_tick(world), cairn_hash_print(full, text));
}

static void write_encoding(const char *folder, const char *name, const cairn_world *world) {
    const size_t size = cairn_world_encode_size(world);
    uint8_t *bytes = malloc(size);
    require(bytes != NULL && cairn_world_encode(world, bytes, size) == size, name);
    FILE *file = create(folder, name, ".encoding");
    const bool written = fwrite(bytes, 1, size, file) == size;
    require(fclose(file) == 0 && written, "cannot be written");
    free(bytes);
}

// From tick 10 on, one player drives as the inputs of the test in JavaScript do.
static void step(cairn_world *world, bool with_player) {
    const uint64_t tick = cairn_world_tick(world);
    cairn_command command = {.kind = tick == 10 ? CAIRN_COMMAND_JOIN : CAIRN_COMMAND_INPUT};
    if (tick > 10) {
        command.buttons = tick % 30 == 0 ? CAIRN_SANDBOX_JUMP : 0;
        command.move = (cairn_vec3){.x = 1.0f, .y = 0.0f, .z = -0.5f};
    }
    cairn_world_step(world, &command, with_player && tick >= 10 ? 1 : 0);
}

static void run(const char *folder, const cairn_scene_text *text, FILE *lines) {
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_scene *scene = NULL;
    cairn_world *world = NULL;
    require(cairn_scene_parse(text->json, text->size, &scene, error) == CAIRN_OK &&
                cairn_scene_world_create(scene, NULL, &world, error) == CAIRN_OK,
        error);
    print_hash(lines, text->name, world);
    for (uint32_t tick = 1; tick <= TICKS; ++tick) {
        step(world, scene->rules[0] != '\0');
        if (tick == TICKS / 2) {
            print_hash(lines, text->name, world);
            write_encoding(folder, text->name, world);
        }
    }
    print_hash(lines, text->name, world);
    cairn_world_destroy(world);
    cairn_scene_destroy(scene);
}

// A scene that has every field which says where bodies are: copies, rotations, prefabs.
static void run_features(const char *folder, FILE *lines) {
    static char json[16384];
    FILE *file = fopen(CAIRN_FEATURES, "rb");
    require(file != NULL, CAIRN_FEATURES);
    const cairn_scene_text text = {"features", json, fread(json, 1, sizeof json, file)};
    require(fclose(file) == 0 && text.size < sizeof json, CAIRN_FEATURES);
    run(folder, &text, lines);
}

int main(int argc, char **argv) {
    require(argc == 2, "usage: npm_worlds FOLDER");
    FILE *lines = create(argv[1], "scenes", ".txt");
    uint32_t count = 0;
    const cairn_scene_text *texts = cairn_scene_library(&count);
    for (uint32_t i = 0; i < count; ++i) {
        run(argv[1], &texts[i], lines);
    }
    run_features(argv[1], lines);
    return fclose(lines) == 0 ? 0 : 1;
}
