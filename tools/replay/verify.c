// SPDX-License-Identifier: MIT
#include "tools/replay/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct run {
    cairn_replay_walk walk;
    cairn_world *world;
    cairn_verification *out;
    bool over;
} run;

static void find(run *r, cairn_verdict verdict, const char *format, ...) {
    r->out->verdict = verdict;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->out->finding, sizeof r->out->finding, format, arguments);
    va_end(arguments);
}

static void take_first_state(run *r, const cairn_chunk_start *start) {
    char words[CAIRN_REPLAY_WORDS_SIZE];
    r->world = cairn_replay_world(start, words);
    if (r->world == NULL) {
        find(r, CAIRN_VERDICT_UNREADABLE, "%s", words);
        r->over = true;
        return;
    }
    r->out->started = true;
    r->out->tick_first = start->tick;
    r->out->tick_rate_hz = cairn_world_settings(r->world)->tick_rate_hz;
}

// A keyframe says of a difference what a root cannot: section, element and field.
static void take_keyframe(run *r, const cairn_chunk_start *start) {
    char words[CAIRN_REPLAY_WORDS_SIZE];
    if (start->tick != cairn_world_tick(r->world)) {
        find(r, CAIRN_VERDICT_DAMAGED, "a keyframe of tick %llu stands behind tick %llu",
            (unsigned long long)start->tick, (unsigned long long)cairn_world_tick(r->world));
        r->over = true;
        return;
    }
    cairn_world *recorded = cairn_replay_world(start, words);
    if (recorded == NULL) {
        find(r, CAIRN_VERDICT_DAMAGED, "%s", words);
        r->over = true;
        return;
    }
    r->out->keyframes++;
    bool known = r->out->verdict == CAIRN_VERDICT_DIFFERS;
    if (known || cairn_world_diff(recorded, r->world, NULL, 0) > 0) {
        uint64_t tick = known ? r->out->tick_differs : start->tick;
        r->out->tick_differs = tick;
        cairn_replay_difference(recorded, r->world, words);
        find(r, CAIRN_VERDICT_DIFFERS, "differs since tick %llu; in the keyframe of tick %llu %s",
            (unsigned long long)tick, (unsigned long long)start->tick, words);
        r->over = true;
    }
    cairn_world_destroy(recorded);
}

static void compare_root(run *r, const cairn_wire_tick *tick) {
    const cairn_hash128 recorded = {.lo = tick->root_lo, .hi = tick->root_hi};
    cairn_hash128 stepped = cairn_world_hash_read(r->world).full;
    if (r->out->verdict == CAIRN_VERDICT_DIFFERS || cairn_hash_equal(recorded, stepped)) {
        return;
    }
    char a[CAIRN_HASH_TEXT_SIZE];
    char b[CAIRN_HASH_TEXT_SIZE];
    r->out->tick_differs = tick->tick + 1;
    find(r, CAIRN_VERDICT_DIFFERS,
        "differs since tick %llu: root %s recorded, %s stepped; a root says no section, and no "
        "keyframe follows that would say body and field",
        (unsigned long long)tick->tick + 1, cairn_hash_print(recorded, a),
        cairn_hash_print(stepped, b));
}

static void take_tick(run *r, const cairn_chunk_ticks *ticks, const cairn_wire_tick *tick) {
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    uint32_t count = 0;
    if (tick->tick != cairn_world_tick(r->world)) {
        find(r, CAIRN_VERDICT_DAMAGED, "tick %llu stands where tick %llu should",
            (unsigned long long)tick->tick, (unsigned long long)cairn_world_tick(r->world));
        r->over = true;
        return;
    }
    if (!cairn_replay_commands(ticks, tick, commands, &count)) {
        find(r, CAIRN_VERDICT_DAMAGED, "tick %llu holds a command that no world takes",
            (unsigned long long)tick->tick);
        r->over = true;
        return;
    }
    cairn_world_step(r->world, commands, count);
    compare_root(r, tick);
    r->out->ticks++;
    r->out->commands += count;
}

static void take_ticks(run *r, const cairn_chunk_ticks *ticks) {
    for (uint32_t i = 0; i < ticks->tick_count && !r->over; i++) {
        take_tick(r, ticks, &ticks->ticks[i]);
    }
}

static void take_end(run *r, const cairn_chunk_end *end) {
    if (end->tick != cairn_world_tick(r->world)) {
        find(r, CAIRN_VERDICT_DAMAGED, "the end chunk says tick %llu, the ticks lead to %llu",
            (unsigned long long)end->tick, (unsigned long long)cairn_world_tick(r->world));
        r->over = true;
    }
}

static void take_chunk(run *r) {
    const cairn_chunk *chunk = &r->walk.chunk;
    if (r->world == NULL && chunk->kind != CAIRN_CHUNK_START) {
        find(r, CAIRN_VERDICT_UNREADABLE, "it does not begin with a state");
        r->over = true;
        return;
    }
    switch (chunk->kind) {
    case CAIRN_CHUNK_START:
        if (r->world == NULL) {
            take_first_state(r, &chunk->start);
        } else {
            take_keyframe(r, &chunk->start);
        }
        break;
    case CAIRN_CHUNK_TICKS:
        take_ticks(r, &chunk->ticks);
        break;
    case CAIRN_CHUNK_END:
        take_end(r, &chunk->end);
        break;
    case CAIRN_CHUNK_NONE:
        break;
    }
}

static void judge_end(run *r) {
    cairn_replay_end_text(&r->walk, r->out->end);
    bool readable = r->walk.sound &&
                    (r->walk.end == CAIRN_RECORDING_FINISHED || r->walk.end == CAIRN_RECORDING_CUT);
    if (r->out->finding[0] != '\0') {
        return;
    }
    if (r->world == NULL) {
        find(r, CAIRN_VERDICT_UNREADABLE, "%s; no whole start state", r->out->end);
    } else if (!readable) {
        find(r, CAIRN_VERDICT_DAMAGED, "%s", r->out->end);
    }
}

cairn_verification cairn_verify(const uint8_t *bytes, size_t size) {
    cairn_verification out = {0};
    run r = {.walk = cairn_replay_walk_of(bytes, size), .out = &out};
    while (!r.over && cairn_replay_next(&r.walk)) {
        take_chunk(&r);
    }
    judge_end(&r);
    cairn_world_destroy(r.world);
    return out;
}

// One of two recordings, read tick by tick.
typedef struct side {
    cairn_replay_walk walk;
    uint32_t next;           // of the current ticks chunk
    bool keyframe;           // a keyframe stands before the next tick
    cairn_chunk_start state; // the last start chunk seen
} side;

// Moves to the next tick; false when there is none. Start chunks on the way are kept.
static const cairn_wire_tick *next_tick(side *s) {
    while (s->walk.chunk.kind != CAIRN_CHUNK_TICKS || s->next >= s->walk.chunk.ticks.tick_count) {
        if (!cairn_replay_next(&s->walk)) {
            return NULL;
        }
        s->next = 0;
        if (s->walk.chunk.kind == CAIRN_CHUNK_START) {
            s->keyframe = true;
            s->state = s->walk.chunk.start;
        }
    }
    return &s->walk.chunk.ticks.ticks[s->next++];
}

static void compare_states(cairn_verification *out, const side *a, const side *b) {
    char words[CAIRN_REPLAY_WORDS_SIZE];
    cairn_world *ours = cairn_replay_world(&a->state, words);
    cairn_world *theirs = ours != NULL ? cairn_replay_world(&b->state, words) : NULL;
    if (theirs == NULL) {
        out->verdict = CAIRN_VERDICT_UNREADABLE;
        snprintf(out->finding, sizeof out->finding, "%s", words);
    } else if (a->state.tick != b->state.tick) {
        out->verdict = CAIRN_VERDICT_DIFFERS;
        snprintf(out->finding, sizeof out->finding,
            "one has a state of tick %llu, the other of %llu", (unsigned long long)a->state.tick,
            (unsigned long long)b->state.tick);
    } else if (cairn_world_diff(ours, theirs, NULL, 0) > 0) {
        out->verdict = CAIRN_VERDICT_DIFFERS;
        out->tick_differs = a->state.tick;
        cairn_replay_difference(ours, theirs, words);
        snprintf(out->finding, sizeof out->finding, "in the states of tick %llu %s",
            (unsigned long long)a->state.tick, words);
    }
    out->keyframes++;
    cairn_world_destroy(theirs);
    cairn_world_destroy(ours);
}

static bool same_commands(
    const side *a, const cairn_wire_tick *at, const side *b, const cairn_wire_tick *bt) {
    const cairn_wire_command *ours = a->walk.chunk.ticks.commands + at->first_command;
    const cairn_wire_command *theirs = b->walk.chunk.ticks.commands + bt->first_command;
    return at->command_count == bt->command_count &&
           (at->command_count == 0 ||
               memcmp(ours, theirs, at->command_count * sizeof ours[0]) == 0);
}

static void compare_ticks(cairn_verification *out, const side *a, const cairn_wire_tick *at,
    const side *b, const cairn_wire_tick *bt) {
    const char *what = at->tick != bt->tick           ? "they have other ticks"
                       : !same_commands(a, at, b, bt) ? "the commands differ"
                       : at->root_lo != bt->root_lo || at->root_hi != bt->root_hi
                           ? "the commands agree, the roots differ"
                           : NULL;
    if (what != NULL) {
        out->verdict = CAIRN_VERDICT_DIFFERS;
        out->tick_differs = at->tick;
        snprintf(out->finding, sizeof out->finding, "at tick %llu %s", (unsigned long long)at->tick,
            what);
    }
    out->ticks++;
    out->commands += at->command_count;
}

cairn_verification cairn_verify_against(
    const uint8_t *bytes, size_t size, const uint8_t *other, size_t other_size) {
    cairn_verification out = {0};
    side a = {.walk = cairn_replay_walk_of(bytes, size)};
    side b = {.walk = cairn_replay_walk_of(other, other_size)};
    const cairn_wire_tick *at = next_tick(&a);
    const cairn_wire_tick *bt = next_tick(&b);
    if (at == NULL || bt == NULL || !a.keyframe || !b.keyframe) {
        out.verdict = CAIRN_VERDICT_UNREADABLE;
        snprintf(out.finding, sizeof out.finding, "%s has no state and ticks",
            at == NULL || !a.keyframe ? "the first" : "the second");
        return out;
    }
    out.started = true;
    out.tick_first = a.state.tick;
    while (at != NULL && bt != NULL && out.verdict == CAIRN_VERDICT_SAME) {
        if (a.keyframe && b.keyframe) {
            compare_states(&out, &a, &b);
            a.keyframe = b.keyframe = false;
        }
        if (out.verdict == CAIRN_VERDICT_SAME) {
            compare_ticks(&out, &a, at, &b, bt);
        }
        at = next_tick(&a);
        bt = next_tick(&b);
    }
    cairn_replay_end_text(&a.walk, out.end);
    return out;
}
