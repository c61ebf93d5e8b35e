// SPDX-License-Identifier: MIT

// usage: golden            prints "scene tick hash" of every golden scene
//        golden --check F  compares with the lines of the file F
// Half way through, each scene is saved and goes on in a fresh world. Needs nothing but base and
// sim, so that it runs wherever they do.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/golden_scenes.h"

#define HASHES_PER_SCENE 4
#define LINE_SIZE 160

// What to compare with, or NULL to print.
typedef struct checker {
    FILE *expected;
    uint32_t hash_count;
    uint32_t equal_count;
    uint32_t difference_count;
} checker;

static void expect(checker *check, const char *line) {
    char expected[LINE_SIZE] = "";
    if (check->expected == NULL) {
        printf("%s\n", line);
        return;
    }
    if (fgets(expected, sizeof expected, check->expected) == NULL) {
        expected[0] = '\0';
    }
    expected[strcspn(expected, "\r\n")] = '\0';
    check->hash_count += 1;
    if (strcmp(expected, line) == 0) {
        check->equal_count += 1;
    } else {
        check->difference_count += 1;
        printf("golden: %s differs from the expected %s\n", line,
            expected[0] != '\0' ? expected : "(no line)");
    }
}

// A scene that is no longer run must not leave its lines behind.
static void refuse_surplus(checker *check) {
    char line[LINE_SIZE];
    while (fgets(line, sizeof line, check->expected) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        check->difference_count += 1;
        printf("golden: nothing gives the expected %s\n", line);
    }
}

// The world goes on as another one: what a restore forgets changes the hashes that follow.
static cairn_world *restore_into_fresh(const golden_scene *scene, cairn_world *world) {
    const size_t size = cairn_world_save_size(world);
    void *saved = malloc(size);
    cairn_world *fresh = golden_create(scene);
    if (saved == NULL || fresh == NULL || cairn_world_save(world, saved, size) != size ||
        cairn_world_load(fresh, saved, size) != CAIRN_OK) {
        printf("golden: %s cannot be restored\n", scene->name);
        exit(1);
    }
    free(saved);
    cairn_world_destroy(world);
    return fresh;
}

static void run(const golden_scene *scene, checker *check) {
    cairn_world *world = golden_create(scene);
    if (world == NULL) {
        printf("golden: %s cannot be created\n", scene->name);
        exit(1);
    }
    scene->build(world);
    for (uint32_t tick = 1; tick <= scene->ticks; ++tick) {
        golden_step(scene, world);
        if (tick == scene->ticks / 2) {
            world = restore_into_fresh(scene, world);
        }
        if (tick % (scene->ticks / HASHES_PER_SCENE) == 0) {
            char hash[CAIRN_HASH_TEXT_SIZE];
            char line[LINE_SIZE];
            snprintf(line, sizeof line, "%s %u %s", scene->name, (unsigned)tick,
                cairn_hash_print(cairn_world_hash_read(world).full, hash));
            expect(check, line);
        }
    }
    cairn_world_destroy(world);
}

int main(int argc, char **argv) {
    checker check = {.expected = NULL};
    if (argc == 3 && strcmp(argv[1], "--check") == 0) {
        check.expected = fopen(argv[2], "r");
        if (check.expected == NULL) {
            printf("golden: cannot open %s\n", argv[2]);
            return 2;
        }
    } else if (argc != 1) {
        printf("usage: golden [--check FILE]\n");
        return 2;
    }
    for (uint32_t i = 0; i < golden_scene_count; ++i) {
        run(&golden_scenes[i], &check);
    }
    if (check.expected != NULL) {
        refuse_surplus(&check);
        (void)fclose(check.expected);
        printf("golden: %u of %u hashes equal\n", (unsigned)check.equal_count,
            (unsigned)check.hash_count);
    }
    return check.difference_count == 0 ? 0 : 1;
}
