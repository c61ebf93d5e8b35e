// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/flags.h"
#include "program/output_file.h"
#include "program/progress.h"
#include "tools/replay/verbs.h"
#include "tools/scene/gltf_write.h"

typedef struct table {
    FILE *file;
    const cairn_replay_options *options;
    uint64_t rows;
    cairn_body_state *bodies;
    uint32_t capacity;
} table;

// Nine significant digits hold a float exactly.
static void write_row(table *t, uint64_t tick, const cairn_body_state *b) {
    const float numbers[] = {b->position.x, b->position.y, b->position.z, b->rotation.x,
        b->rotation.y, b->rotation.z, b->rotation.w, b->linear_velocity.x, b->linear_velocity.y,
        b->linear_velocity.z, b->angular_velocity.x, b->angular_velocity.y, b->angular_velocity.z};
    fprintf(t->file, "%llu,%u", (unsigned long long)tick, b->id);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        fprintf(t->file, ",%.9g", (double)numbers[i]);
    }
    fputc('\n', t->file);
    t->rows++;
}

static bool write_world(table *t, const cairn_world *world) {
    uint32_t count = cairn_world_bodies(world, t->bodies, t->capacity);
    if (count > t->capacity) {
        void *wider = realloc(t->bodies, count * sizeof *t->bodies);
        if (wider == NULL) {
            return false;
        }
        t->bodies = wider;
        t->capacity = count;
        count = cairn_world_bodies(world, t->bodies, t->capacity);
    }
    const cairn_replay_bodies *wanted = &t->options->bodies;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = 0;
        while (k < wanted->count && wanted->ids[k] != t->bodies[i].id) {
            k++;
        }
        if (k < wanted->count || wanted->count == 0) {
            write_row(t, cairn_world_tick(world), &t->bodies[i]);
        }
    }
    return !ferror(t->file);
}

// `last`: the recording's last tick, to tell the time left.
static int write_rows(table *t, cairn_player *player, uint64_t last) {
    fputs("tick,body,x,y,z,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz\n", t->file);
    const uint64_t first = cairn_world_tick(player->world);
    bool good = write_world(t, player->world);
    cairn_progress progress;
    cairn_progress_begin(&progress, "ticks", last > first ? last - first : 0);
    cairn_player_event event = CAIRN_PLAYER_TICK;
    while (good && event != CAIRN_PLAYER_END && event != CAIRN_PLAYER_REFUSED) {
        event = cairn_player_next(player);
        bool moved = event == CAIRN_PLAYER_TICK || event == CAIRN_PLAYER_REPLACED;
        if (moved && (cairn_world_tick(player->world) - first) % t->options->every == 0) {
            good = write_world(t, player->world);
        }
        cairn_progress_step(&progress, 1);
    }
    cairn_progress_end(&progress);
    if (!good) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, "export", "cannot be written");
    }
    if (event == CAIRN_PLAYER_REFUSED) {
        return cairn_replay_complain(CAIRN_EXIT_DAMAGED, "export", player->error);
    }
    return CAIRN_EXIT_GOOD;
}

const char *cairn_replay_read_bodies(void *out, const char *value, bool first) {
    cairn_replay_bodies *bodies = out;
    bodies->count = first ? 0 : bodies->count;
    const char *at = value;
    for (;;) {
        char number[16], error[CAIRN_FLAGS_ERROR_SIZE];
        uint64_t id;
        const size_t size = strcspn(at, ",");
        snprintf(number, sizeof number, "%.*s", (int)(size < 15 ? size : 15), at);
        if (!cairn_flags_number("", number, 1, UINT32_MAX, &id, error)) {
            return "must be ids of bodies with commas between, such as 2,17";
        }
        if (bodies->count == CAIRN_REPLAY_BODIES_MAX) {
            return "must be at most 256 bodies";
        }
        bodies->ids[bodies->count++] = (uint32_t)id;
        if (at[size] == '\0') {
            return NULL;
        }
        at += size + 1;
    }
}

static int write_file(const cairn_replay_options *options, cairn_player *player,
    int (*write)(const cairn_replay_options *options, cairn_player *player, FILE *file)) {
    const char *path = options->words[2];
    cairn_output_file out;
    if (!cairn_output_file_open(&out, path, 0666)) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, path, strerror(errno));
    }
    const int code = write(options, player, out.file);
    // The rows before damage are an answer.
    const bool complete = code == CAIRN_EXIT_GOOD || code == CAIRN_EXIT_DAMAGED;
    if (!cairn_output_file_close(&out, complete) && code == CAIRN_EXIT_GOOD) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, path, strerror(errno));
    }
    return code;
}

static int write_table(const cairn_replay_options *options, cairn_player *player, FILE *file) {
    const cairn_recording_reader *input = &player->walk.file;
    uint64_t first, last = 0;
    cairn_recording_index index;
    if (cairn_recording_index_of(input->bytes, input->size, &index) == CAIRN_OK) {
        (void)cairn_recording_index_range(&index, &first, &last);
        cairn_recording_index_end(&index);
    }
    table t = {.options = options, .file = file};
    const int code = write_rows(&t, player, last);
    printf("%s: %llu rows\n", options->words[2], (unsigned long long)t.rows);
    free(t.bodies);
    return code;
}

static int write_gltf(const cairn_replay_options *options, cairn_player *player, FILE *file) {
    char name[32];
    snprintf(name, sizeof name, "tick %llu", (unsigned long long)cairn_world_tick(player->world));
    return cairn_gltf_write(player->world, name, file)
               ? CAIRN_EXIT_GOOD
               : cairn_replay_complain(
                     CAIRN_EXIT_UNUSABLE, options->words[2], "cannot be written, or no shape");
}

// Takes the player to --tick, or to the last tick.
static int seek_tick(
    cairn_player *player, const cairn_replay_options *options, const cairn_system_map *input) {
    uint64_t first, last = options->tick, state_tick;
    cairn_recording_index index;
    if (options->tick == CAIRN_TICK_NONE) {
        if (cairn_recording_index_of(input->bytes, input->size, &index) != CAIRN_OK) {
            return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, options->words[1], "out of memory");
        }
        (void)cairn_recording_index_range(&index, &first, &last);
        cairn_recording_index_end(&index);
    }
    return cairn_replay_player_seek(player, options, last, &state_tick);
}

int cairn_replay_export(const cairn_replay_options *options, const cairn_system_map *input) {
    const char *path = options->words[2], *extension = cairn_replay_extension(path);
    const bool gltf = strcmp(extension, "glb") == 0;
    const bool device = strncmp(path, "/dev/", 5) == 0;
    if (!cairn_replay_differs(options->words[1], path)) {
        return CAIRN_EXIT_UNUSABLE;
    }
    if (!gltf && !device && strcmp(extension, "csv") != 0) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, path,
            "the name says what is written: it must end in .csv or .glb");
    }
    cairn_player player;
    int code = cairn_replay_player_open(&player, options, input);
    if (code == CAIRN_EXIT_GOOD && gltf) {
        code = seek_tick(&player, options, input);
    }
    if (code == CAIRN_EXIT_GOOD) {
        code = write_file(options, &player, gltf ? write_gltf : write_table);
    }
    cairn_player_close(&player);
    return code;
}
