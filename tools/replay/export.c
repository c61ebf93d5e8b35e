// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording/player.h"
#include "tools/replay/verbs.h"

#define IDS_MAX 256

typedef struct table {
    FILE *file;
    uint64_t every;
    uint64_t rows;
    uint32_t ids[IDS_MAX];
    uint32_t id_count; // 0: every body
    cairn_body_state *bodies;
    uint32_t capacity;
} table;

static bool wanted(const table *t, uint32_t id) {
    for (uint32_t i = 0; i < t->id_count; i++) {
        if (t->ids[i] == id) {
            return true;
        }
    }
    return t->id_count == 0;
}

// Nine digits name a float exactly.
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
    for (uint32_t i = 0; i < count; i++) {
        if (wanted(t, t->bodies[i].id)) {
            write_row(t, cairn_world_tick(world), &t->bodies[i]);
        }
    }
    return !ferror(t->file);
}

static int write_all(table *t, cairn_player *player) {
    fputs("tick,body,x,y,z,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz\n", t->file);
    const uint64_t first = cairn_world_tick(player->world);
    bool good = write_world(t, player->world);
    cairn_player_event event = CAIRN_PLAYER_TICK;
    while (good && event != CAIRN_PLAYER_END && event != CAIRN_PLAYER_REFUSED) {
        event = cairn_player_next(player);
        bool moved = event == CAIRN_PLAYER_TICK || event == CAIRN_PLAYER_REPLACED;
        if (moved && (cairn_world_tick(player->world) - first) % t->every == 0) {
            good = write_world(t, player->world);
        }
    }
    if (!good) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, "export", "cannot be written whole");
    }
    if (event == CAIRN_PLAYER_REFUSED) {
        return cairn_replay_complain(CAIRN_EXIT_DIFFERS, "export", player->words);
    }
    return CAIRN_EXIT_GOOD;
}

static bool read_ids(const char *text, table *t) {
    const char *at = text;
    while (at != NULL && *at != '\0') {
        char number[16];
        uint64_t id;
        size_t size = strcspn(at, ",");
        snprintf(number, sizeof number, "%.*s", (int)(size < 15 ? size : 15), at);
        if (t->id_count == IDS_MAX) {
            (void)cairn_replay_complain(0, "--bodies", "at most 256 of them");
            return false;
        }
        if (!cairn_replay_number("--bodies", number, 1, UINT32_MAX, 0, &id)) {
            return false;
        }
        t->ids[t->id_count++] = (uint32_t)id;
        at += size + (at[size] == ',' ? 1 : 0);
    }
    return true;
}

static int export(const cairn_replay_order *order, const cairn_replay_file *file, table *t) {
    cairn_player player;
    int code;
    if (!cairn_player_open(&player, file->bytes, file->size, NULL)) {
        code = player.refusal == CAIRN_REPLAY_VERSION ? CAIRN_EXIT_VERSION : CAIRN_EXIT_UNUSABLE;
        (void)cairn_replay_complain(code, order->words[1], player.words);
    } else if ((t->file = fopen(order->words[2], "w")) == NULL) {
        code = cairn_replay_complain(CAIRN_EXIT_UNUSABLE, order->words[2], strerror(errno));
    } else {
        code = write_all(t, &player);
        if (fclose(t->file) != 0 && code == CAIRN_EXIT_GOOD) {
            code = cairn_replay_complain(CAIRN_EXIT_UNUSABLE, order->words[2], strerror(errno));
        }
        printf("%s: %llu rows\n", order->words[2], (unsigned long long)t->rows);
    }
    free(t->bodies);
    cairn_player_close(&player);
    return code;
}

int cairn_replay_export(const cairn_replay_order *order) {
    table t = {.every = 1};
    if (!cairn_replay_number("--every", order->every, 1, 1000000000, 1, &t.every) ||
        !read_ids(order->bodies, &t)) {
        return CAIRN_EXIT_UNUSABLE;
    }
    cairn_replay_file file;
    if (!cairn_replay_file_open(order->words[1], &file)) {
        return CAIRN_EXIT_UNUSABLE;
    }
    int code = export(order, &file, &t);
    cairn_replay_file_close(&file);
    return code;
}
