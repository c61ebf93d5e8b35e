// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/output_file.h"
#include "program/system.h"
#include "tools/replay/verbs.h"

typedef struct seek_result {
    cairn_world_hash hash;
    cairn_world_counts counts;
    uint64_t tick;
    bool root_known; // the recording holds a hash for this tick
    bool root_agrees;
    uint64_t stepped; // ticks stepped from the nearest state
    uint64_t start_ns;
    double took_s; // to open, index, load and step
    bool has_body;
    cairn_body_state body;
} seek_result;

static bool write_state(const cairn_world *world, const char *path) {
    size_t size = cairn_world_encode_size(world);
    void *bytes = malloc(size);
    const bool good = bytes != NULL && cairn_world_encode(world, bytes, size) == size &&
                      cairn_output_file_write(path, 0666, bytes, size);
    free(bytes);
    if (!good) {
        (void)cairn_replay_complain(CAIRN_EXIT_UNUSABLE, path, strerror(errno));
    }
    return good;
}

static void print_numbers(const char *title, const float *numbers, int count) {
    printf("%-16s", title);
    for (int i = 0; i < count; i++) {
        printf(" %.9g", (double)numbers[i]);
    }
    putchar('\n');
}

static void print_text(const seek_result *f) {
    char text[CAIRN_HASH_TEXT_SIZE];
    printf("tick             %llu, %llu ticks after the nearest recorded state, in %.3f s\n",
        (unsigned long long)f->tick, (unsigned long long)f->stepped, f->took_s);
    printf("state hash       %s%s\n", cairn_hash_print(f->hash.full, text),
        !f->root_known   ? ""
        : f->root_agrees ? ", as recorded"
                         : ", NOT as recorded");
    printf("visible hash     %s\n", cairn_hash_print(f->hash.visible, text));
    for (int i = 0; i < CAIRN_SECTION_COUNT; i++) {
        printf("%-16s %s\n", cairn_section_name((cairn_section)i),
            cairn_hash_print(f->hash.sections[i], text));
    }
    printf("bodies           %u, %u awake\ncontacts         %u\n", f->counts.bodies,
        f->counts.bodies_awake, f->counts.contacts);
    if (f->has_body) {
        static const char *const kinds[] = {"static", "kinematic", "dynamic"};
        const cairn_body_state *b = &f->body;
        printf("body             %u, %s, %s, user %u\n", b->id, kinds[b->kind % 3],
            b->awake != 0 ? "awake" : "asleep", b->user);
        print_numbers("position", &b->position.x, 3);
        print_numbers("rotation", &b->rotation.x, 4);
        print_numbers("linear velocity", &b->linear_velocity.x, 3);
        print_numbers("angular velocity", &b->angular_velocity.x, 3);
    }
}

static void put_numbers(cairn_json *json, const char *name, const float *numbers, int count) {
    cairn_json *array = cairn_json_put_array(json, name);
    for (int i = 0; i < count; i++) {
        cairn_json_put_real(array, NULL, (double)numbers[i]);
    }
}

static void put_body(cairn_json *json, const cairn_body_state *b) {
    cairn_json_put_count(json, "id", b->id);
    cairn_json_put_count(json, "kind", b->kind);
    cairn_json_put_bool(json, "awake", b->awake != 0);
    cairn_json_put_count(json, "user", b->user);
    put_numbers(json, "position", &b->position.x, 3);
    put_numbers(json, "rotation", &b->rotation.x, 4);
    put_numbers(json, "linear_velocity", &b->linear_velocity.x, 3);
    put_numbers(json, "angular_velocity", &b->angular_velocity.x, 3);
}

static void print_json(const seek_result *f) {
    char text[CAIRN_HASH_TEXT_SIZE];
    cairn_json *json = cairn_json_create();
    cairn_json_put_count(json, "tick", f->tick);
    cairn_json_put_count(json, "stepped", f->stepped);
    cairn_json_put_real(json, "took_s", f->took_s);
    cairn_json_put_text(json, "root", cairn_hash_print(f->hash.full, text));
    if (f->root_known) {
        cairn_json_put_bool(json, "as_recorded", f->root_agrees);
    } else {
        cairn_json_put_null(json, "as_recorded");
    }
    cairn_json_put_text(json, "visible_root", cairn_hash_print(f->hash.visible, text));
    cairn_json *sections = cairn_json_put_object(json, "sections");
    for (int i = 0; i < CAIRN_SECTION_COUNT; i++) {
        cairn_json_put_text(sections, cairn_section_name((cairn_section)i),
            cairn_hash_print(f->hash.sections[i], text));
    }
    cairn_json_put_count(json, "bodies", f->counts.bodies);
    cairn_json_put_count(json, "bodies_awake", f->counts.bodies_awake);
    cairn_json_put_count(json, "contacts", f->counts.contacts);
    if (f->has_body) {
        put_body(cairn_json_put_object(json, "body"), &f->body);
    }
    cairn_replay_print_json(json);
}

static int seek_tick(
    const cairn_replay_options *options, cairn_player *player, uint64_t tick, seek_result *f) {
    uint64_t state_tick = 0;
    const int code = cairn_replay_player_seek(player, options, tick, &state_tick);
    if (code != CAIRN_EXIT_GOOD) {
        return code;
    }
    f->hash = cairn_world_hash_read(player->world);
    f->took_s = (double)(cairn_monotonic_ns() - f->start_ns) * 1e-9;
    f->counts = cairn_world_counts_read(player->world);
    f->tick = tick;
    f->stepped = tick - state_tick;
    f->root_known = player->tick != NULL;
    f->root_agrees = f->root_known && cairn_hash_equal(player->recorded_hash, f->hash.full);
    f->has_body = options->body != 0;
    if (f->has_body && cairn_body_read(player->world, options->body, &f->body) != CAIRN_OK) {
        return cairn_replay_complain(
            CAIRN_EXIT_UNUSABLE, "--body", "no body has this id at this tick");
    }
    if (options->state != NULL && !write_state(player->world, options->state)) {
        return CAIRN_EXIT_UNUSABLE;
    }
    if (options->json) {
        print_json(f);
    } else {
        print_text(f);
    }
    return f->root_known && !f->root_agrees ? CAIRN_EXIT_DIFFERS : CAIRN_EXIT_GOOD;
}

int cairn_replay_seek(const cairn_replay_options *options, const cairn_system_map *input) {
    uint64_t tick;
    if (!cairn_replay_number("TICK", options->words[2], 0, UINT64_MAX, &tick) ||
        (options->state != NULL && !cairn_replay_differs(options->words[1], options->state))) {
        return CAIRN_EXIT_UNUSABLE;
    }
    seek_result f = {.start_ns = cairn_monotonic_ns()};
    cairn_player player;
    int code = cairn_replay_player_open(&player, options, input);
    code = code == CAIRN_EXIT_GOOD ? seek_tick(options, &player, tick, &f) : code;
    cairn_player_close(&player);
    return code;
}
