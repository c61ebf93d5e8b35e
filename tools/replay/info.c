// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>

#include "net/crypto.h"
#include "recording/chunk_reader.h"
#include "tools/replay/verbs.h"

#define KIND_COUNT CAIRN_CHUNK_KIND_COUNT

typedef struct content {
    uint32_t version;
    uint64_t ticks;
    uint64_t commands;
    uint64_t chunks[KIND_COUNT];
    uint64_t bytes[KIND_COUNT];     // in the file, without chunk heads
    uint64_t raw_bytes[KIND_COUNT]; // unpacked
    uint64_t tick_end;              // one past the last tick
    bool started;
    cairn_chunk_start start; // its texts are copied below
    char rules_name[64], scene_name[64], build[512];
    bool ended;
    cairn_wire_seal seal;
    char end[CAIRN_RECORDING_ERROR_SIZE];
} content;

static void add_chunk(content *c, const cairn_chunk_reader *walk) {
    const cairn_chunk *chunk = &walk->chunk;
    c->chunks[chunk->kind]++;
    c->bytes[chunk->kind] += walk->piece.size;
    c->raw_bytes[chunk->kind] += walk->piece.raw_size;
    if (chunk->kind == CAIRN_CHUNK_START) {
        c->started = true;
        c->start = chunk->start;
        c->tick_end = chunk->start.tick;
        snprintf(c->rules_name, sizeof c->rules_name, "%s", chunk->start.rules_name);
        snprintf(c->scene_name, sizeof c->scene_name, "%s", chunk->start.scene_name);
        snprintf(c->build, sizeof c->build, "%s", chunk->start.build);
    } else if (chunk->kind == CAIRN_CHUNK_TICKS) {
        c->ticks += chunk->ticks.tick_count;
        c->commands += chunk->ticks.command_count;
        c->tick_end = chunk->ticks.ticks[0].tick + chunk->ticks.tick_count;
    } else if (chunk->kind == CAIRN_CHUNK_REPLACE) {
        c->tick_end = chunk->replace.tick;
    } else if (chunk->kind == CAIRN_CHUNK_END) {
        c->ended = true;
        c->seal = chunk->end.seal;
    }
}

static content read_content(const cairn_system_map *file) {
    content c = {.version = 0};
    cairn_chunk_reader walk = cairn_chunk_reader_of(file->bytes, file->size);
    c.version = walk.file.version;
    while (cairn_chunk_reader_next(&walk)) {
        add_chunk(&c, &walk);
    }
    cairn_chunk_reader_end_text(&walk, c.end);
    cairn_chunk_reader_end(&walk);
    return c;
}

static const char *const kind_names[KIND_COUNT] = {
    [CAIRN_CHUNK_START] = "start",
    [CAIRN_CHUNK_TICKS] = "ticks",
    [CAIRN_CHUNK_END] = "end",
    [CAIRN_CHUNK_KEYFRAME] = "keyframe",
    [CAIRN_CHUNK_REPLACE] = "replace",
    [CAIRN_CHUNK_DESYNC] = "desync",
};

static const char *signer_text(const content *c, char text[65]) {
    static const uint8_t zeros[sizeof c->seal.public_key];
    bool none = !c->ended || memcmp(c->seal.public_key, zeros, sizeof zeros) == 0;
    return none ? "" : cairn_hex_print(c->seal.public_key, sizeof c->seal.public_key, text);
}

static void print_text(const content *c, size_t file_size) {
    char key[65];
    const char *by = signer_text(c, key);
    printf("format           version %u\n", c->version);
    if (c->started) {
        printf("scene            %s\nrules            %s, version %u, digest %016llx\nsimulation   "
               "    "
               "version %u\n",
            c->scene_name, c->rules_name[0] != '\0' ? c->rules_name : "none",
            c->start.rules_version, (unsigned long long)c->start.rules_digest,
            c->start.sim_version);
        printf("build            %s\nfirst state      tick %llu, %u bytes\n", c->build,
            (unsigned long long)c->start.tick, c->start.state_size);
    }
    printf("ticks            %llu up to tick %llu\ncommands         %llu\n",
        (unsigned long long)c->ticks, (unsigned long long)c->tick_end,
        (unsigned long long)c->commands);
    for (int kind = 1; kind < KIND_COUNT; kind++) {
        if (c->chunks[kind] > 0) {
            printf("%-16s %llu chunks, %llu bytes (%llu unpacked)\n", kind_names[kind],
                (unsigned long long)c->chunks[kind], (unsigned long long)c->bytes[kind],
                (unsigned long long)c->raw_bytes[kind]);
        }
    }
    printf("file             %zu bytes\nsigned by        %s\nend              %s\n", file_size,
        by[0] == '\0' ? "no one" : by, c->end);
}

static void print_json(const content *c, size_t file_size) {
    char key[65];
    cairn_json *json = cairn_json_create();
    cairn_json_put_count(json, "format", c->version);
    cairn_json_put_bool(json, "started", c->started);
    cairn_json_put_text(json, "scene", c->scene_name);
    cairn_json_put_text(json, "rules", c->rules_name);
    cairn_json_put_count(json, "rules_version", c->start.rules_version);
    char digest[17];
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)c->start.rules_digest);
    cairn_json_put_text(json, "rules_digest", digest);
    cairn_json_put_count(json, "sim_version", c->start.sim_version);
    cairn_json_put_count(json, "first_tick", c->start.tick);
    cairn_json_put_text(json, "build", c->build);
    cairn_json_put_count(json, "ticks", c->ticks);
    cairn_json_put_count(json, "tick_end", c->tick_end);
    cairn_json_put_count(json, "commands", c->commands);
    cairn_json *chunks = cairn_json_put_object(json, "chunks");
    for (int kind = 1; kind < KIND_COUNT; kind++) {
        cairn_json *of_kind = cairn_json_put_object(chunks, kind_names[kind]);
        cairn_json_put_count(of_kind, "count", c->chunks[kind]);
        cairn_json_put_count(of_kind, "bytes", c->bytes[kind]);
        cairn_json_put_count(of_kind, "raw_bytes", c->raw_bytes[kind]);
    }
    cairn_json_put_count(json, "bytes", file_size);
    cairn_json_put_bool(json, "ended", c->ended);
    cairn_json_put_text(json, "signed_by", signer_text(c, key));
    cairn_json_put_text(json, "end", c->end);
    cairn_replay_print_json(json);
}

int cairn_replay_info(const cairn_replay_options *options, const cairn_system_map *input) {
    const content c = read_content(input);
    if (options->json) {
        print_json(&c, input->size);
    } else {
        print_text(&c, input->size);
    }
    return c.started ? CAIRN_EXIT_GOOD : CAIRN_EXIT_UNUSABLE;
}
