// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L

// usage: bench_step [--ticks N] [SCENE...]
// Steps each scene of the library (or those named) N ticks, 600 by default, without players, and
// prints one CSV line per scene. Step times are of the whole run; save, load, encode and hash are
// those of the last state, the best of many, as they vary by what else the machine does.

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bridge/scene_library.h"
#include "bridge/scene_world.h"

#define REPEATS 50

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

typedef struct bench {
    cairn_world *world;
    size_t size; // of the work's result, bytes
    size_t room;
    void *bytes;
} bench;

typedef void work(bench *b);

static void save(bench *b) {
    b->size = cairn_world_save(b->world, b->bytes, b->room);
}

static void load(bench *b) {
    if (cairn_world_load(b->world, b->bytes, b->size) != CAIRN_OK) {
        fprintf(stderr, "a world does not load what it saved\n");
        exit(1);
    }
}

static void encode(bench *b) {
    b->size = cairn_world_encode(b->world, b->bytes, b->room);
}

static void hash(bench *b) {
    const cairn_world_hash roots = cairn_world_hash_read(b->world);
    b->size = sizeof roots.full;
}

static double best_us(bench *b, work *what) {
    double best = 1e300;
    for (int i = 0; i < REPEATS; ++i) {
        const double begin = now_us();
        what(b);
        const double took = now_us() - begin;
        best = took < best ? took : best;
    }
    return best;
}

static void step_all(cairn_world *world, uint64_t ticks, double *mean_us, double *worst_us) {
    double sum = 0.0;
    double worst = 0.0;
    for (uint64_t tick = 0; tick < ticks; ++tick) {
        const double begin = now_us();
        cairn_world_step(world, NULL, 0);
        const double took = now_us() - begin;
        sum += took;
        worst = took > worst ? took : worst;
    }
    *mean_us = sum / (double)ticks;
    *worst_us = worst;
}

static void measure(const char *name, cairn_world *world, uint64_t ticks) {
    double mean_us;
    double worst_us;
    step_all(world, ticks, &mean_us, &worst_us);
    const cairn_world_counts counts = cairn_world_counts_read(world);
    bench b = {.world = world, .room = cairn_world_save_size(world)};
    const size_t encode_size = cairn_world_encode_size(world);
    b.room = encode_size > b.room ? encode_size : b.room;
    b.bytes = malloc(b.room);
    if (b.bytes == NULL) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    const double save_us = best_us(&b, save);
    const size_t save_size = b.size;
    const double load_us = best_us(&b, load);
    const double encode_us = best_us(&b, encode);
    const double hash_us = best_us(&b, hash);
    printf("%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64
           ",%.1f,%.1f,%.1f,%.1f,%zu,%.1f,%zu,%.1f\n",
        name, counts.bodies, counts.bodies_awake, counts.contact_points, ticks, mean_us, worst_us,
        save_us, load_us, save_size, encode_us, encode_size, hash_us);
    free(b.bytes);
}

static bool bench_scene(const cairn_scene_text *text, uint64_t ticks) {
    char error[CAIRN_SCENE_ERROR_SIZE] = "";
    cairn_scene *scene = NULL;
    cairn_world *world = NULL;
    if (cairn_scene_parse(text->json, text->size, &scene, error) != CAIRN_OK ||
        cairn_scene_world_create(scene, NULL, &world, error) != CAIRN_OK) {
        fprintf(stderr, "%s: %s\n", text->name, error);
        cairn_scene_destroy(scene);
        return false;
    }
    measure(text->name, world, ticks);
    cairn_world_destroy(world);
    cairn_scene_destroy(scene);
    return true;
}

static bool bench_all(uint64_t ticks) {
    uint32_t count;
    const cairn_scene_text *library = cairn_scene_library(&count);
    bool sound = true;
    for (uint32_t i = 0; i < count; ++i) {
        sound = bench_scene(&library[i], ticks) && sound;
    }
    return sound;
}

int main(int argc, char **argv) {
    uint64_t ticks = 600;
    int at = 1;
    if (argc > 2 && strcmp(argv[1], "--ticks") == 0) {
        ticks = strtoull(argv[2], NULL, 10);
        at = 3;
    }
    if (ticks == 0 || (at < argc && argv[at][0] == '-')) {
        fprintf(stderr, "usage: bench_step [--ticks N] [SCENE...]\n");
        return 2;
    }
    printf("scene,bodies,awake,contact_points,ticks,step_us,step_worst_us,save_us,load_us,"
           "save_bytes,encode_us,encode_bytes,hash_us\n");
    bool sound = at < argc || bench_all(ticks);
    for (; at < argc; ++at) {
        const cairn_scene_text *text = cairn_scene_library_find(argv[at]);
        if (text == NULL) {
            fprintf(stderr, "there is no scene %s\n", argv[at]);
        }
        sound = text != NULL && bench_scene(text, ticks) && sound;
    }
    return sound ? 0 : 1;
}
