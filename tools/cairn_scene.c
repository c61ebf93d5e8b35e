// SPDX-License-Identifier: MIT
// Checks scenes, writes their JSON schema, and makes them of glTF files and robots.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/scene_library.h"
#include "bridge/scene_world.h"
#include "program/flags.h"
#include "program/scene_file.h"
#include "schema/scene_schema.h"
#include "tools/scene/import_verb.h"

enum { EXIT_GOOD = 0, EXIT_WRONG = 1, EXIT_UNUSABLE = 2 };

static const cairn_flags_verb verbs[] = {
    {"check", "NAME|FILE [FILE] [FILE] [FILE]", "say everything that is wrong with scenes"},
    {"schema", "", "write the JSON schema of scenes, for editors"},
    {"import", "FILE", "write the scene of a .gltf, .glb, .urdf or .xml (MJCF) file"},
};

static void ignore(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)state;
    (void)commands;
    (void)command_count;
}

// Rules are not needed to build the world: a game's own are not known here.
static int check_scene(const char *name) {
    static const cairn_rules none = {.name = "none", .step = ignore};
    cairn_scene *scene = cairn_scene_file_load("cairn-scene", name);
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_world *world = NULL;
    if (scene == NULL) {
        return EXIT_WRONG;
    }
    if (cairn_scene_world_create(scene, &none, &world, error) != CAIRN_OK) {
        fprintf(stderr, "cairn-scene: %s: %s\n", name, error);
        cairn_scene_destroy(scene);
        return EXIT_WRONG;
    }
    const cairn_world_counts counts = cairn_world_counts_read(world);
    printf("%s: %s, %u bodies, %u shapes, %u joints\n", name, scene->name, (unsigned)counts.bodies,
        (unsigned)counts.shapes, (unsigned)counts.joints);
    cairn_world_destroy(world);
    cairn_scene_destroy(scene);
    return EXIT_GOOD;
}

static int write_schema(void) {
    const size_t size = cairn_scene_schema(NULL, 0) + 1;
    char *text = malloc(size);
    if (text == NULL) {
        fputs("cairn-scene: out of memory\n", stderr);
        return EXIT_UNUSABLE;
    }
    (void)cairn_scene_schema(text, size);
    const bool written = fputs(text, stdout) >= 0 && fflush(stdout) == 0;
    free(text);
    return written ? EXIT_GOOD : EXIT_UNUSABLE;
}

int main(int argc, char **argv) {
    static cairn_scene_import_options import;
    static const cairn_flag flags[] = {
        {"--out", NULL, "FILE", "write the scene here (standard output)", CAIRN_FLAG_TEXT,
            .out = &import.out, .verbs = "import"},
        {"--parts", NULL, "FILE", "write a robot's names and actuators here", CAIRN_FLAG_TEXT,
            .out = &import.parts, .verbs = "import"},
        {"--fixed-base", NULL, NULL, "the root of a .urdf file does not move", CAIRN_FLAG_SWITCH,
            .out = &import.fixed_base, .verbs = "import"},
        {"--articulated", NULL, NULL, "a robot's links move in joint coordinates",
            CAIRN_FLAG_SWITCH, .out = &import.articulated, .verbs = "import"},
    };
    cairn_flags_program program = {
        .name = "cairn-scene",
        .usage = "VERB [ARGUMENTS]",
        .about =
            "Checks scenes, writes their JSON schema, and makes them of glTF files and of robots.",
        .notes = "Exits with 0 when all is well, 1 when a scene is wrong, 2 when an argument is.",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags,
        .verbs = verbs,
        .verb_count = sizeof verbs / sizeof *verbs,
    };
    const cairn_flags_result result = cairn_flags_read(&program, argc, argv, NULL);
    if (result != CAIRN_FLAGS_READ) {
        return result == CAIRN_FLAGS_REFUSED ? EXIT_UNUSABLE : EXIT_GOOD;
    }
    if (strcmp(program.words[0], "schema") == 0) {
        return write_schema();
    }
    if (strcmp(program.words[0], "import") == 0) {
        return cairn_scene_import(program.words[1], &import) ? EXIT_GOOD : EXIT_WRONG;
    }
    int code = EXIT_GOOD;
    for (size_t i = 1; program.words[i] != NULL; ++i) {
        const int found = check_scene(program.words[i]);
        code = found > code ? found : code;
    }
    return code;
}
