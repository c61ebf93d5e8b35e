// SPDX-License-Identifier: MIT
#include "tools/replay/compare.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "recording/player.h"

const char *cairn_divergence_name(cairn_divergence divergence) {
    static const char *const names[] = {"none", "state", "commands", "root", "keyframe", "replaced",
        "version", "damaged", "unreadable"};
    return names[divergence];
}

typedef struct pair {
    cairn_player a, b;
    cairn_comparison *out;
    cairn_progress *progress; // may be NULL
} pair;

static void set_divergence(
    pair *p, cairn_divergence divergence, uint64_t tick, const char *format, ...) {
    p->out->divergence = divergence;
    p->out->tick = tick;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->out->words, sizeof p->out->words, format, arguments);
    va_end(arguments);
}

static bool open_side(pair *p, cairn_player *player, cairn_comparison_side side, const char *name) {
    if (cairn_player_open(player, side.bytes, side.size, NULL)) {
        return true;
    }
    bool version = player->refusal == CAIRN_RECORDED_VERSION;
    set_divergence(p, version ? CAIRN_DIVERGENCE_VERSION : CAIRN_DIVERGENCE_UNREADABLE, 0, "%s: %s",
        name, player->error);
    return false;
}

static bool begin_together(
    pair *p, const cairn_recording_index *a, const cairn_recording_index *b) {
    uint64_t first[2] = {0, 0}, last[2] = {0, 0};
    bool held = cairn_recording_index_range(a, &first[0], &last[0]) &&
                cairn_recording_index_range(b, &first[1], &last[1]);
    uint64_t tick = first[0] > first[1] ? first[0] : first[1];
    p->out->first = tick;
    if (p->progress != NULL && tick <= last[0] && tick <= last[1]) {
        p->progress->total = (last[0] < last[1] ? last[0] : last[1]) - tick;
    }
    if (!held || tick > last[0] || tick > last[1]) {
        set_divergence(p, CAIRN_DIVERGENCE_UNREADABLE, tick, "they have no tick in common");
        return false;
    }
    // The side that begins there starts with its first state; the other is stepped to it.
    bool good_a = first[0] == tick || cairn_player_seek(&p->a, a, tick);
    bool good_b = first[1] == tick || cairn_player_seek(&p->b, b, tick);
    if (!good_a || !good_b) {
        const cairn_player *failed = good_a ? &p->b : &p->a;
        set_divergence(p,
            failed->refusal == CAIRN_RECORDED_OK ? CAIRN_DIVERGENCE_UNREADABLE
                                                 : CAIRN_DIVERGENCE_DAMAGED,
            tick, "%s: %s", good_a ? "the second" : "the first", failed->error);
    }
    return good_a && good_b;
}

static bool same_worlds(pair *p, cairn_divergence divergence, const char *what) {
    uint64_t tick = cairn_world_tick(p->a.world);
    if (cairn_world_tick(p->b.world) != tick) {
        set_divergence(p, divergence, tick, "%s: the ticks are %llu and %llu", what,
            (unsigned long long)tick, (unsigned long long)cairn_world_tick(p->b.world));
        return false;
    }
    if (cairn_world_diff(p->a.world, p->b.world, NULL, 0) == 0) {
        return true;
    }
    char words[CAIRN_RECORDING_ERROR_SIZE];
    cairn_recorded_diff_text(p->a.world, "first", p->b.world, "second", words);
    set_divergence(p, divergence, tick, "%s: %s", what, words);
    return false;
}

// The next tick or replacement of one side. Keyframes on the way are compared with its own world.
static cairn_player_event next_event(pair *p, cairn_player *player, const char *name) {
    cairn_player_event event = cairn_player_next(player);
    while (event == CAIRN_PLAYER_KEYFRAME) {
        const cairn_chunk_keyframe *keyframe = &player->walk.chunk.keyframe;
        char words[CAIRN_RECORDING_ERROR_SIZE];
        cairn_world *recorded = cairn_recorded_world_of_keyframe(keyframe, player->rules, words);
        bool same = recorded != NULL && cairn_world_diff(recorded, player->world, NULL, 0) == 0;
        if (recorded != NULL && !same) {
            cairn_recorded_diff_text(recorded, "recorded", player->world, "stepped", words);
        }
        cairn_world_destroy(recorded);
        if (!same) {
            set_divergence(p, CAIRN_DIVERGENCE_KEYFRAME, keyframe->tick, "the keyframe of %s: %s",
                name, words);
            return CAIRN_PLAYER_REFUSED;
        }
        event = cairn_player_next(player);
    }
    return event;
}

static void describe_command(const cairn_command *c, char text[160]) {
    snprintf(text, 160,
        "kind %u slot %u sequence %u buttons 0x%x move %.9g %.9g %.9g aim %.9g %.9g "
        "%.9g",
        c->kind, c->slot, c->sequence, c->buttons, (double)c->move.x, (double)c->move.y,
        (double)c->move.z, (double)c->aim.x, (double)c->aim.y, (double)c->aim.z);
}

static bool same_commands(pair *p) {
    const cairn_command *a = cairn_player_commands(&p->a);
    const cairn_command *b = cairn_player_commands(&p->b);
    uint32_t count_a = p->a.tick->command_count, count_b = p->b.tick->command_count;
    uint32_t i = 0;
    while (i < count_a && i < count_b && memcmp(&a[i], &b[i], sizeof a[i]) == 0) {
        i++;
    }
    if (i == count_a && i == count_b) {
        return true;
    }
    char text_a[160] = "none", text_b[160] = "none", words[CAIRN_RECORDING_ERROR_SIZE] = "";
    if (i < count_a) {
        describe_command(&a[i], text_a);
    }
    if (i < count_b) {
        describe_command(&b[i], text_b);
    }
    if (cairn_world_diff(p->a.world, p->b.world, NULL, 0) > 0) {
        cairn_recorded_diff_text(p->a.world, "first", p->b.world, "second", words);
    } else {
        snprintf(words, sizeof words, "the worlds after it are equal nevertheless");
    }
    set_divergence(p, CAIRN_DIVERGENCE_COMMANDS, p->a.tick->tick,
        "the commands differ: command %u is %s in the first, %s in the second; a tick later %s", i,
        text_a, text_b, words);
    return false;
}

// The side whose hash this program does not reach; its next keyframe names the field.
static void name_root_difference(pair *p) {
    const cairn_hash128 stepped = cairn_world_hash_read(p->a.world).full;
    const cairn_hash128 a = p->a.recorded_hash, b = p->b.recorded_hash;
    bool a_agrees = cairn_hash_equal(a, stepped), b_agrees = cairn_hash_equal(b, stepped);
    cairn_player *other = a_agrees ? &p->b : &p->a;
    const char *name = a_agrees ? "the second" : "the first";
    uint64_t tick = cairn_world_tick(p->a.world);
    char text_a[CAIRN_HASH_TEXT_SIZE], text_b[CAIRN_HASH_TEXT_SIZE];
    cairn_player_event event = next_event(p, other, name);
    while (event == CAIRN_PLAYER_TICK) {
        event = next_event(p, other, name);
    }
    char field[CAIRN_RECORDING_ERROR_SIZE] = "no keyframe follows that would name body and field";
    if (p->out->divergence == CAIRN_DIVERGENCE_KEYFRAME) {
        snprintf(field, sizeof field, "at tick %llu %.440s", (unsigned long long)p->out->tick,
            p->out->words);
    }
    set_divergence(p, CAIRN_DIVERGENCE_ROOT, tick,
        "the state hashes differ although state and commands agree: %s in the first, %s in the "
        "second; this program reaches %s; %s",
        cairn_hash_print(a, text_a), cairn_hash_print(b, text_b),
        a_agrees   ? "that of the first"
        : b_agrees ? "that of the second"
                   : "neither",
        field);
}

// False when they differ or one of them ends.
static bool compare_next(pair *p) {
    cairn_player_event a = next_event(p, &p->a, "the first");
    if (p->out->divergence != CAIRN_DIVERGENCE_NONE) {
        return false;
    }
    cairn_player_event b = next_event(p, &p->b, "the second");
    if (p->out->divergence != CAIRN_DIVERGENCE_NONE) {
        return false;
    }
    uint64_t tick = cairn_world_tick(p->a.world);
    if (a == CAIRN_PLAYER_REFUSED || b == CAIRN_PLAYER_REFUSED) {
        set_divergence(p, CAIRN_DIVERGENCE_DAMAGED, tick, "%s: %s",
            a == CAIRN_PLAYER_REFUSED ? "the first" : "the second",
            a == CAIRN_PLAYER_REFUSED ? p->a.error : p->b.error);
        return false;
    }
    if (a == CAIRN_PLAYER_END || b == CAIRN_PLAYER_END) {
        snprintf(p->out->words, sizeof p->out->words, "%s",
            a == b                  ? "both end there"
            : a == CAIRN_PLAYER_END ? "the first ends there, the second continues"
                                    : "the second ends there, the first continues");
        return false;
    }
    if (a != b) {
        set_divergence(p, CAIRN_DIVERGENCE_REPLACED, tick, "only %s is replaced here",
            a == CAIRN_PLAYER_REPLACED ? "the first" : "the second");
        return false;
    }
    if (a == CAIRN_PLAYER_REPLACED) {
        return same_worlds(p, CAIRN_DIVERGENCE_REPLACED, "each is replaced");
    }
    p->out->ticks++;
    if (p->progress != NULL) {
        cairn_progress_step(p->progress, 1);
    }
    if (!same_commands(p)) {
        return false;
    }
    const bool same = cairn_hash_equal(p->a.recorded_hash, p->b.recorded_hash);
    if (!same) {
        name_root_difference(p);
    }
    return same;
}

cairn_comparison cairn_recordings_compare(
    cairn_comparison_side a, cairn_comparison_side b, cairn_progress *progress) {
    cairn_comparison out = {.divergence = CAIRN_DIVERGENCE_NONE};
    pair p = {.out = &out, .progress = progress};
    cairn_recording_index index_a = {.entries = NULL}, index_b = {.entries = NULL};
    bool open_a = open_side(&p, &p.a, a, "the first");
    bool open_b = open_a && open_side(&p, &p.b, b, "the second");
    bool indexed = open_b && cairn_recording_index_of(a.bytes, a.size, &index_a) == CAIRN_OK &&
                   cairn_recording_index_of(b.bytes, b.size, &index_b) == CAIRN_OK;
    if (open_b && !indexed) {
        set_divergence(&p, CAIRN_DIVERGENCE_UNREADABLE, 0, "out of memory");
    }
    if (indexed && begin_together(&p, &index_a, &index_b) &&
        same_worlds(&p, CAIRN_DIVERGENCE_STATE, "the states differ")) {
        while (compare_next(&p)) {}
        if (out.divergence == CAIRN_DIVERGENCE_NONE) { // the last tick that both hold
            const uint64_t last_a = cairn_world_tick(p.a.world);
            const uint64_t last_b = cairn_world_tick(p.b.world);
            out.tick = last_a < last_b ? last_a : last_b;
        }
    }
    cairn_recording_index_end(&index_a);
    cairn_recording_index_end(&index_b);
    cairn_player_close(&p.a);
    cairn_player_close(&p.b);
    return out;
}
