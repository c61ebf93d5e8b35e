// SPDX-License-Identifier: MIT
// Prints "scene tick hash" of every golden scene, or compares with a file of such lines; --help
// lists the options. Half way through, each scene is saved and continues in a fresh world, and its
// world can be written to a file that the checker of another build continues. An emulator runs the
// first half and continues the worlds of another machine for the second: each tick once. Needs only
// base and sim, and a thread pool where there is one (CAIRN_GOLDEN_POOL), so that it runs wherever
// they do.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/flags.h"
#include "sim/serialize/sketch.h"
#include "tests/sim/golden_scenes.h"
#ifdef CAIRN_GOLDEN_POOL
#include <fenv.h>

#include "workers/pool.h"
#endif

#define HASHES_PER_SCENE 4
#define LINE_SIZE 160
#define WORKERS_MAX 8
#define CHOICES_MAX 8
#define PATH_SIZE 512
#define CELLS 64
#define SKETCH_SIZE ((size_t)CELLS * CAIRN_SKETCH_CELL_SIZE)

// One number, or several in turn.
typedef struct choices {
    uint32_t values[CHOICES_MAX];
    uint32_t count;
} choices;

typedef struct checker {
    const char *expected_path; // NULL: print
    const char *scene;         // NULL: every scene
    const char *write_to;      // a folder, or NULL
    const char *read_from;     // a folder, or NULL
    bool first_half;           // ends there
    choices lanes_chosen;
    choices workers_chosen;
    FILE *expected; // NULL: print
    uint32_t lanes;
    cairn_parallel parallel;
    uint32_t hash_count;
    uint32_t equal_count;
    uint32_t difference_count;
} checker;

// Ends the program if `ok` is false, after a line that says what failed in which scene.
static void require(bool ok, const char *scene, const char *what) {
    if (!ok) {
        printf("golden: %s: %s\n", scene, what);
        exit(1);
    }
}

// Skips the lines of scenes that are not run.
static bool read_line(const checker *check, char line[LINE_SIZE]) {
    while (fgets(line, LINE_SIZE, check->expected) != NULL) {
        const size_t name = strcspn(line, " ");
        line[strcspn(line, "\r\n")] = '\0';
        if (check->scene == NULL ||
            (strlen(check->scene) == name && strncmp(check->scene, line, name) == 0)) {
            return true;
        }
    }
    line[0] = '\0';
    return false;
}

// The scene's ticks that are run.
static uint32_t last_tick(const golden_scene *scene, const checker *check) {
    return check->first_half ? scene->ticks / 2 : scene->ticks;
}

static cairn_world *create_world(const golden_scene *scene, const checker *check) {
    cairn_world *world = golden_create(scene);
    const cairn_parallel *parallel = check->parallel.workers > 1 ? &check->parallel : NULL;
    require(world != NULL && cairn_world_set_lanes(world, check->lanes) == CAIRN_OK &&
                cairn_world_set_parallel(world, parallel) == CAIRN_OK,
        scene->name, "the world cannot be created");
    return world;
}

// The scene continues in another world: state that a restore loses changes the hashes that follow.
static cairn_world *restore_into_fresh(
    const golden_scene *scene, const checker *check, cairn_world *world) {
    const size_t size = cairn_world_save_size(world);
    void *saved = malloc(size);
    cairn_world *fresh = create_world(scene, check);
    require(saved != NULL && cairn_world_save(world, saved, size) == size &&
                cairn_world_load(fresh, saved, size) == CAIRN_OK,
        scene->name, "the world cannot be restored");
    free(saved);
    cairn_world_destroy(world);
    return fresh;
}

#ifdef CAIRN_NEGATIVE_CONTROLS
extern unsigned cairn_negative_control; // read by the mutants of tests/sim/mutants.py
unsigned cairn_negative_control = 0;
#endif

// One hash that differs is what a fault is for: the others would show nothing more.
static void end_if_noticed(void) {
#ifdef CAIRN_NEGATIVE_CONTROLS
    if (cairn_negative_control != 0) {
        exit(1);
    }
#endif
}

static void expect_hash(const golden_scene *scene, checker *check, const cairn_world *world) {
    char hash[CAIRN_HASH_TEXT_SIZE];
    char line[LINE_SIZE];
    char expected[LINE_SIZE] = "";
    snprintf(line, sizeof line, "%s %u %s", scene->name, (unsigned)cairn_world_tick(world),
        cairn_hash_print(cairn_world_hash_read(world).full, hash));
    if (check->expected == NULL) {
        printf("%s\n", line);
        return;
    }
    (void)read_line(check, expected);
    check->hash_count += 1;
    if (strcmp(expected, line) == 0) {
        check->equal_count += 1;
    } else {
        check->difference_count += 1;
        printf("golden: %s differs from the expected %s (%u lanes, %u workers)\n", line,
            expected[0] != '\0' ? expected : "(no line)", (unsigned)check->lanes,
            (unsigned)check->parallel.workers);
        end_if_noticed();
    }
}

// The sketch, then the encoding; to be freed.
static uint8_t *bytes_of_world(const char *name, const cairn_world *world, size_t *size) {
    const size_t encoded = cairn_world_encode_size(world);
    *size = SKETCH_SIZE + encoded;
    uint8_t *bytes = malloc(*size);
    require(bytes != NULL, name, "no memory for the encoded world");
    cairn_sketch_build(world, CELLS, bytes);
    require(cairn_world_encode(world, bytes + SKETCH_SIZE, encoded) == encoded, name,
        "the world cannot be encoded");
    return bytes;
}

// FOLDER/NAME.world
static FILE *open_file(const char *folder, const char *name, const char *mode) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s.world", folder, name);
    FILE *file = fopen(path, mode);
    require(file != NULL, path, "the file cannot be opened");
    return file;
}

static void write_world(const char *folder, const char *name, const cairn_world *world) {
    size_t size = 0;
    uint8_t *bytes = bytes_of_world(name, world, &size);
    FILE *file = open_file(folder, name, "wb");
    const bool written = fwrite(bytes, 1, size, file) == size;
    require(fclose(file) == 0 && written, name, "the file of the world cannot be written");
    free(bytes);
}

// Decodes FOLDER/NAME.world into `world`, which must give the same sketch and encoding.
static void read_world(const char *folder, const char *name, cairn_world *world) {
    const char *where = "";
    FILE *file = open_file(folder, name, "rb");
    require(fseek(file, 0, SEEK_END) == 0, name, "the file of the world cannot be read");
    const size_t size = (size_t)ftell(file);
    uint8_t *bytes = malloc(size + 1);
    rewind(file);
    require(bytes != NULL && size >= SKETCH_SIZE && fread(bytes, 1, size, file) == size, name,
        "the file of the world cannot be read");
    (void)fclose(file);
    const cairn_status status =
        cairn_world_decode(world, bytes + SKETCH_SIZE, size - SKETCH_SIZE, &where);
    require(status == CAIRN_OK, name, where);
    size_t own_size = 0;
    uint8_t *own = bytes_of_world(name, world, &own_size);
    require(own_size == size && memcmp(own, bytes, size) == 0, name,
        "the decoded world has another sketch or encoding");
    free(own);
    free(bytes);
}

// Starts from the world of another machine after the first half, whose hash is expected as well.
static void read_half(const golden_scene *scene, checker *check, cairn_world *world) {
    const uint32_t step = scene->ticks / HASHES_PER_SCENE;
    char line[LINE_SIZE];
    for (uint32_t tick = step; tick < scene->ticks / 2; tick += step) {
        (void)read_line(check, line);
    }
    read_world(check->read_from, scene->name, world);
    expect_hash(scene, check, world);
}

static void run_scene(const golden_scene *scene, checker *check) {
    cairn_world *world = create_world(scene, check);
    uint32_t tick = 1;
    if (check->read_from != NULL) {
        read_half(scene, check, world);
        tick = scene->ticks / 2 + 1;
    } else {
        scene->build(world);
    }
    const uint32_t end = last_tick(scene, check);
    const uint32_t hashed = scene->ticks / HASHES_PER_SCENE;
    for (; tick <= end; ++tick) {
        golden_step(scene, world);
        if (tick == scene->ticks / 2 && check->write_to != NULL) {
            write_world(check->write_to, scene->name, world);
        }
        if (tick == end / 2) {
            world = restore_into_fresh(scene, check, world);
        }
        if (tick % hashed == 0) {
            expect_hash(scene, check, world);
        }
    }
    cairn_world_destroy(world);
    char line[LINE_SIZE];
    for (; check->expected != NULL && tick <= scene->ticks; ++tick) {
        if (tick % hashed == 0) {
            (void)read_line(check, line); // of a tick that is not run
        }
    }
}

static void run_scenes(checker *check) {
    if (check->expected != NULL) {
        rewind(check->expected);
    }
    for (uint32_t i = 0; i < golden_scene_count; ++i) {
        if (check->scene == NULL || strcmp(check->scene, golden_scenes[i].name) == 0) {
            run_scene(&golden_scenes[i], check);
        }
    }
    char line[LINE_SIZE];
    while (check->expected != NULL && read_line(check, line)) {
        check->difference_count += 1;
        printf("golden: no scene gives the expected %s\n", line);
    }
}

static void run_with_workers(checker *check, uint32_t workers) {
    bool ok = workers == 1;
    check->parallel = (cairn_parallel){.workers = workers};
#ifdef CAIRN_GOLDEN_POOL
    // A thread starts with the floating-point mode of its creator. Where a step can correct the
    // mode (sim/math/float_env.c), these threads start with a wrong one.
#if defined(__SSE2__) || defined(__aarch64__)
    (void)fesetround(FE_TOWARDZERO);
#endif
    cairn_pool *pool = NULL;
    ok = cairn_pool_create(workers, &pool) == CAIRN_OK;
    if (ok) {
        cairn_pool_share_always(pool);
    }
    (void)fesetround(FE_TONEAREST);
    check->parallel.context = pool;
    check->parallel.run = cairn_pool_parallel;
    check->parallel.wait = cairn_pool_wait;
#endif
    require(ok, "every scene", "the workers cannot be started");
    run_scenes(check);
#ifdef CAIRN_GOLDEN_POOL
    cairn_pool_destroy(pool);
#endif
}

// A build for the matrix (CAIRN_KERNELS_ALL) has every width, so a missing one is an error there.
static bool has_width(uint32_t lanes) {
#ifdef CAIRN_KERNELS_ALL
    (void)lanes;
    return true;
#else
    cairn_world *world = golden_create(&golden_scenes[0]);
    const bool has = world != NULL && cairn_world_set_lanes(world, lanes) == CAIRN_OK;
    cairn_world_destroy(world);
    return has;
#endif
}

static bool parse_choices(const char *text, choices all, choices *out) {
    char *end = NULL;
    if (strcmp(text, "all") == 0) {
        *out = all;
        return true;
    }
    *out = (choices){.values = {(uint32_t)strtoul(text, &end, 10)}, .count = 1};
    for (uint32_t i = 0; i < all.count; ++i) {
        if (*end == '\0' && all.values[i] == out->values[0]) {
            return true;
        }
    }
    return false;
}

static const char *read_lanes(void *out, const char *value, bool first) {
    const choices all = {.values = {0, 1, 4, 8, 16}, .count = 5};
    (void)first;
    return parse_choices(value, all, out) ? NULL : "must be 0, 1, 4, 8, 16 or all";
}

static const char *read_workers(void *out, const char *value, bool first) {
    const choices all = {.values = {1, 2, 3, 4, 5, 6, 7, 8}, .count = WORKERS_MAX};
    (void)first;
    return parse_choices(value, all, out) ? NULL : "must be 1 to 8 or all";
}

static const char *read_fault(void *out, const char *value, bool first) {
    (void)out;
    (void)first;
    bool known = false;
#ifdef CAIRN_NEGATIVE_CONTROLS
    cairn_negative_control = (unsigned)strtoul(value, NULL, 10);
    known = cairn_negative_control != 0;
#else
    (void)value;
#endif
    return known ? NULL : "this build has no such fault";
}

static cairn_flags_result read_flags(int argc, char **argv, checker *out) {
    const cairn_flag flags[] = {
        {"--check", NULL, "FILE", "compare with this file instead of printing hashes",
            CAIRN_FLAG_TEXT, .out = &out->expected_path},
        {"--scene", NULL, "NAME", "only this scene", CAIRN_FLAG_TEXT, .out = &out->scene},
        {"--lanes", NULL, "N", "SIMD width: 1, 4, 8, 16, 0 (the CPU's, the default) or all",
            CAIRN_FLAG_CUSTOM, .out = &out->lanes_chosen, .read = read_lanes},
        {"--workers", NULL, "N", "threads that share a step: 1 to 8 or all (1)", CAIRN_FLAG_CUSTOM,
            .out = &out->workers_chosen, .read = read_workers},
        {"--write-to", NULL, "FOLDER", "write each world there half way through", CAIRN_FLAG_TEXT,
            .out = &out->write_to},
        {"--read-from", NULL, "FOLDER", "begin with the worlds written there", CAIRN_FLAG_TEXT,
            .out = &out->read_from},
        {"--first-half", NULL, NULL, "end each scene half way through", CAIRN_FLAG_SWITCH,
            .out = &out->first_half},
        {"--fault", NULL, "N", "a build with negative controls: run with this one",
            CAIRN_FLAG_CUSTOM, .read = read_fault},
    };
    cairn_flags_program program = {.name = "golden",
        .usage = "[FLAGS]",
        .about = "Steps the golden scenes and prints or compares their state hashes.",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    *out = (checker){.lanes_chosen = {.count = 1}, .workers_chosen = {.values = {1}, .count = 1}};
    const cairn_flags_result result = cairn_flags_read(&program, argc, argv, NULL);
    const bool compares_each =
        out->read_from != NULL || out->lanes_chosen.count * out->workers_chosen.count > 1;
    if (result == CAIRN_FLAGS_READ && compares_each && out->expected_path == NULL) {
        fprintf(stderr, "golden: --read-from and several widths or workers need --check FILE\n");
        return CAIRN_FLAGS_REFUSED;
    }
    return result;
}

int main(int argc, char **argv) {
    checker check;
    const cairn_flags_result result = read_flags(argc, argv, &check);
    if (result != CAIRN_FLAGS_READ) {
        return result == CAIRN_FLAGS_REFUSED ? 2 : 0;
    }
    if (check.expected_path != NULL) {
        check.expected = fopen(check.expected_path, "r");
        if (check.expected == NULL) {
            printf("golden: cannot open %s\n", check.expected_path);
            return 2;
        }
    }
    for (uint32_t i = 0; i < check.lanes_chosen.count; ++i) {
        check.lanes = check.lanes_chosen.values[i];
        if (check.lanes_chosen.count > 1 && !has_width(check.lanes)) {
            continue;
        }
        for (uint32_t k = 0; k < check.workers_chosen.count; ++k) {
            run_with_workers(&check, check.workers_chosen.values[k]);
        }
    }
    if (check.expected != NULL) {
        (void)fclose(check.expected);
        printf("golden: %u of %u hashes equal\n", (unsigned)check.equal_count,
            (unsigned)check.hash_count);
    }
    return check.difference_count == 0 && (check.expected == NULL || check.hash_count > 0) ? 0 : 1;
}
