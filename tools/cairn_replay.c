// SPDX-License-Identifier: MIT
// Reads recordings: what they hold, and whether they verify when they are stepped again.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording/walk.h"
#include "tools/flags.h"
#include "tools/replay/verify.h"
#include "tools/system.h"

enum { EXIT_SAME = 0, EXIT_DIFFERS = 1, EXIT_UNREADABLE = 2 };

typedef struct content {
    uint8_t *bytes;
    size_t size;
} content;

static bool complain(const char *path, const char *why) {
    fprintf(stderr, "cairn-replay: %s: %s\n", path, why);
    return false;
}

static bool read_rest(FILE *file, content *out) {
    size_t room = 1 << 20;
    out->bytes = malloc(room);
    while (out->bytes != NULL) {
        out->size += fread(out->bytes + out->size, 1, room - out->size, file);
        if (out->size < room) {
            return !ferror(file);
        }
        uint8_t *wider = room < SIZE_MAX / 2 ? realloc(out->bytes, room * 2) : NULL;
        if (wider == NULL) {
            return false;
        }
        out->bytes = wider;
        room *= 2;
    }
    return false;
}

static bool read_file(const char *path, content *out) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return complain(path, strerror(errno));
    }
    bool good = read_rest(file, out);
    fclose(file);
    return good || complain(path, "cannot be read whole");
}

static void print_start(const cairn_chunk_start *start) {
    printf("scene            %s\nrules            %s, version %u\nsimulation       version %u\n",
        start->scene_name, start->rules_name[0] != '\0' ? start->rules_name : "none",
        start->rules_version, start->sim_version);
    printf("build            %s\nfirst state      tick %llu, %u bytes\n", start->build,
        (unsigned long long)start->tick, start->state_size);
}

static int info(const content *file) {
    cairn_replay_walk walk = cairn_replay_walk_of(file->bytes, file->size);
    uint64_t ticks = 0, commands = 0, keyframes = 0, chunks = 0;
    bool started = false;
    while (cairn_replay_next(&walk)) {
        chunks++;
        keyframes += walk.chunk.kind == CAIRN_CHUNK_KEYFRAME ? 1 : 0;
        if (walk.chunk.kind == CAIRN_CHUNK_START) {
            started = true;
            print_start(&walk.chunk.start);
        }
        if (walk.chunk.kind == CAIRN_CHUNK_TICKS) {
            ticks += walk.chunk.ticks.tick_count;
            commands += walk.chunk.ticks.command_count;
        }
    }
    char end[CAIRN_REPLAY_WORDS_SIZE];
    cairn_replay_end_text(&walk, end);
    cairn_replay_walk_end(&walk);
    printf("ticks            %llu\ncommands         %llu\nkeyframes        %llu\n",
        (unsigned long long)ticks, (unsigned long long)commands, (unsigned long long)keyframes);
    printf("chunks           %llu in %zu bytes\nend              %s\n", (unsigned long long)chunks,
        file->size, end);
    return started ? EXIT_SAME : EXIT_UNREADABLE;
}

static int report(const char *path, const cairn_verification *v, double took_s) {
    if (v->started) {
        printf("%s: %llu ticks with %llu commands from tick %llu, %llu keyframes; %s\n", path,
            (unsigned long long)v->ticks, (unsigned long long)v->commands,
            (unsigned long long)v->tick_first, (unsigned long long)v->keyframes, v->end);
    }
    if (v->tick_rate_hz > 0 && took_s > 0) {
        double world_s = (double)v->ticks / v->tick_rate_hz;
        printf("%s: %.1f s of world in %.2f s, %.0f times real time\n", path, world_s, took_s,
            world_s / took_s);
    }
    switch (v->verdict) {
    case CAIRN_VERDICT_SAME:
        printf("%s: every root agrees\n", path);
        return EXIT_SAME;
    case CAIRN_VERDICT_DIFFERS:
        fprintf(stderr, "cairn-replay: %s: %s\n", path, v->finding);
        return EXIT_DIFFERS;
    case CAIRN_VERDICT_DAMAGED:
        fprintf(
            stderr, "cairn-replay: %s: agrees up to where it is damaged: %s\n", path, v->finding);
        return EXIT_DIFFERS;
    case CAIRN_VERDICT_UNREADABLE:
        break;
    }
    fprintf(stderr, "cairn-replay: %s: %s\n", path, v->finding);
    return EXIT_UNREADABLE;
}

static int verify(const char *path, const content *file, const char *against) {
    uint64_t start_ns = cairn_system_now_ns();
    if (against == NULL) {
        cairn_verification v = cairn_verify(file->bytes, file->size);
        return report(path, &v, (double)(cairn_system_now_ns() - start_ns) * 1e-9);
    }
    content other = {0};
    int code = EXIT_UNREADABLE;
    if (read_file(against, &other)) {
        cairn_verification v =
            cairn_verify_against(file->bytes, file->size, other.bytes, other.size);
        code = report(path, &v, 0);
    }
    free(other.bytes);
    return code;
}

int main(int argc, char **argv) {
    const char *against = NULL, *help = NULL;
    const cairn_flag flags[] = {
        {"--against", "OTHER", "verify: tell where two recordings part, instead of stepping",
            &against},
        {"--help", NULL, "this text", &help},
    };
    const size_t flag_count = sizeof flags / sizeof flags[0];
    const char *usage = "cairn-replay info FILE | verify FILE [--against OTHER]";
    const char *words[2] = {NULL, NULL};
    char error[CAIRN_FLAG_ERROR_SIZE];
    if (!cairn_flags_read(argc, argv, flags, flag_count, words, 2, error)) {
        fprintf(stderr, "cairn-replay: %s\n", error);
        return EXIT_UNREADABLE;
    }
    if (help != NULL) {
        cairn_flags_help(usage, flags, flag_count);
        return EXIT_SAME;
    }
    bool wants_info = words[0] != NULL && strcmp(words[0], "info") == 0;
    bool wants_verify = words[0] != NULL && strcmp(words[0], "verify") == 0;
    if (words[1] == NULL || (!wants_info && !wants_verify)) {
        fprintf(stderr, "usage: %s\n", usage);
        return EXIT_UNREADABLE;
    }
    content file = {0};
    int code = EXIT_UNREADABLE;
    if (read_file(words[1], &file)) {
        code = wants_info ? info(&file) : verify(words[1], &file, against);
    }
    free(file.bytes);
    return code;
}
