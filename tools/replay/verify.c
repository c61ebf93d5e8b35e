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
    cairn_replay_refusal refusal;
    r->world = cairn_replay_world(start, &refusal, words);
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
static void take_keyframe(run *r, const cairn_chunk_keyframe *keyframe) {
    char words[CAIRN_REPLAY_WORDS_SIZE];
    if (keyframe->tick != cairn_world_tick(r->world)) {
        find(r, CAIRN_VERDICT_DAMAGED, "a keyframe of tick %llu stands behind tick %llu",
            (unsigned long long)keyframe->tick, (unsigned long long)cairn_world_tick(r->world));
        r->over = true;
        return;
    }
    cairn_world *recorded =
        cairn_replay_keyframe_world(keyframe, cairn_world_settings(r->world)->rules, words);
    if (recorded == NULL) {
        find(r, CAIRN_VERDICT_DAMAGED, "%s", words);
        r->over = true;
        return;
    }
    r->out->keyframes++;
    bool known = r->out->verdict == CAIRN_VERDICT_DIFFERS;
    if (known || cairn_world_diff(recorded, r->world, NULL, 0) > 0) {
        uint64_t tick = known ? r->out->tick_differs : keyframe->tick;
        r->out->tick_differs = tick;
        cairn_replay_difference(recorded, r->world, words);
        find(r, CAIRN_VERDICT_DIFFERS, "differs since tick %llu; in the keyframe of tick %llu %s",
            (unsigned long long)tick, (unsigned long long)keyframe->tick, words);
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

static void take_replacement(run *r, const cairn_chunk_replace *replace) {
    char words[CAIRN_REPLAY_WORDS_SIZE];
    const cairn_chunk_keyframe state = {
        .tick = replace->tick, .state = replace->state, .state_size = replace->state_size};
    cairn_world *world =
        cairn_replay_keyframe_world(&state, cairn_world_settings(r->world)->rules, words);
    if (world == NULL) {
        find(r, CAIRN_VERDICT_DAMAGED, "%s", words);
        r->over = true;
        return;
    }
    cairn_world_destroy(r->world);
    r->world = world;
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
        take_first_state(r, &chunk->start);
        break;
    case CAIRN_CHUNK_KEYFRAME:
        take_keyframe(r, &chunk->keyframe);
        break;
    case CAIRN_CHUNK_TICKS:
        take_ticks(r, &chunk->ticks);
        break;
    case CAIRN_CHUNK_REPLACE:
        take_replacement(r, &chunk->replace);
        break;
    case CAIRN_CHUNK_END:
        take_end(r, &chunk->end);
        break;
    case CAIRN_CHUNK_NONE:
    case CAIRN_CHUNK_KIND_COUNT:
        break;
    }
}

static void judge_end(run *r) {
    cairn_replay_end_text(&r->walk, r->out->end);
    cairn_recording_end end = r->walk.reader.end;
    bool readable = r->walk.sound && (end == CAIRN_RECORDING_CLEAN || end == CAIRN_RECORDING_CUT);
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
    cairn_replay_walk_end(&r.walk);
    cairn_world_destroy(r.world);
    return out;
}

// One of two recordings, read tick by tick.
typedef struct side {
    cairn_replay_walk walk;
    uint32_t next;      // of the current ticks chunk
    cairn_world *state; // owned; the newest state that stands before the next tick, or NULL
    const cairn_rules *rules;
    bool begun;
} side;

static void take_state(side *s) {
    const cairn_chunk *chunk = &s->walk.chunk;
    cairn_world *world = NULL;
    if (chunk->kind == CAIRN_CHUNK_START) {
        cairn_replay_refusal refusal;
        world = cairn_replay_world(&chunk->start, &refusal, s->walk.words);
        s->begun = world != NULL;
        s->rules = world != NULL ? cairn_world_settings(world)->rules : NULL;
    } else {
        world = cairn_replay_keyframe_world(&chunk->keyframe, s->rules, s->walk.words);
    }
    s->walk.sound = world != NULL;
    cairn_world_destroy(s->state);
    s->state = world;
}

// Moves to the next tick; NULL when there is none. States on the way are kept.
static const cairn_wire_tick *next_tick(side *s) {
    while (s->walk.chunk.kind != CAIRN_CHUNK_TICKS || s->next >= s->walk.chunk.ticks.tick_count) {
        if (!cairn_replay_next(&s->walk)) {
            return NULL;
        }
        s->next = 0;
        cairn_chunk_kind kind = s->walk.chunk.kind;
        if (kind == CAIRN_CHUNK_START || kind == CAIRN_CHUNK_KEYFRAME) {
            take_state(s);
        }
    }
    return &s->walk.chunk.ticks.ticks[s->next++];
}

static void part(cairn_verification *out, uint64_t tick, const char *words) {
    out->tick_differs = out->verdict == CAIRN_VERDICT_DIFFERS ? out->tick_differs : tick;
    out->verdict = CAIRN_VERDICT_DIFFERS;
    snprintf(out->finding, sizeof out->finding, "they part at tick %llu: %s",
        (unsigned long long)out->tick_differs, words);
}

// Compares the states that stand before a tick in both; true when fields were compared.
static bool compare_states(cairn_verification *out, side *a, side *b) {
    bool both = a->state != NULL && b->state != NULL;
    if (both && cairn_world_diff(a->state, b->state, NULL, 0) > 0) {
        char words[CAIRN_REPLAY_WORDS_SIZE];
        cairn_replay_difference(a->state, b->state, words);
        part(out, cairn_world_tick(a->state), words);
    }
    out->keyframes += both ? 1 : 0;
    cairn_world_destroy(a->state);
    cairn_world_destroy(b->state);
    a->state = b->state = NULL;
    return both;
}

static bool same_commands(
    const side *a, const cairn_wire_tick *at, const side *b, const cairn_wire_tick *bt) {
    const cairn_wire_command *ours = a->walk.chunk.ticks.commands + at->first_command;
    const cairn_wire_command *theirs = b->walk.chunk.ticks.commands + bt->first_command;
    return at->command_count == bt->command_count &&
           (at->command_count == 0 ||
               memcmp(ours, theirs, at->command_count * sizeof ours[0]) == 0);
}

// False when there is no sense in reading on. After roots differed it is read on to the next state
// of both, which says the field.
static bool compare_ticks(cairn_verification *out, const side *a, const cairn_wire_tick *at,
    const side *b, const cairn_wire_tick *bt) {
    if (at->tick != bt->tick) {
        part(out, at->tick, "the other has another tick there");
        return false;
    }
    if (!same_commands(a, at, b, bt)) {
        part(out, at->tick, "the commands differ");
        return false;
    }
    bool same_root = at->root_lo == bt->root_lo && at->root_hi == bt->root_hi;
    if (!same_root && out->verdict == CAIRN_VERDICT_SAME) {
        part(out, at->tick + 1, "the roots differ though state and commands agree");
    }
    out->ticks++;
    out->commands += at->command_count;
    return true;
}

static void compare_sides(cairn_verification *out, side *a, side *b) {
    const cairn_wire_tick *at = next_tick(a);
    const cairn_wire_tick *bt = next_tick(b);
    if (at == NULL || bt == NULL || !a->begun || !b->begun) {
        const side *empty = at == NULL || !a->begun ? a : b;
        out->verdict = CAIRN_VERDICT_UNREADABLE;
        snprintf(out->finding, sizeof out->finding, "%s has no start state and ticks: %s",
            empty == a ? "the first" : "the second", empty->walk.words);
        return;
    }
    out->started = true;
    out->tick_first = at->tick;
    bool on = true;
    while (on && at != NULL && bt != NULL) {
        bool told = compare_states(out, a, b) && out->verdict == CAIRN_VERDICT_DIFFERS;
        on = !told && compare_ticks(out, a, at, b, bt);
        at = on ? next_tick(a) : NULL;
        bt = on ? next_tick(b) : NULL;
    }
}

cairn_verification cairn_verify_against(
    const uint8_t *bytes, size_t size, const uint8_t *other, size_t other_size) {
    cairn_verification out = {0};
    side a = {.walk = cairn_replay_walk_of(bytes, size)};
    side b = {.walk = cairn_replay_walk_of(other, other_size)};
    compare_sides(&out, &a, &b);
    const side *broken = !a.walk.sound ? &a : !b.walk.sound ? &b : NULL;
    if (out.verdict == CAIRN_VERDICT_SAME && broken != NULL) {
        out.verdict = CAIRN_VERDICT_DAMAGED;
        snprintf(out.finding, sizeof out.finding, "%s", broken->walk.words);
    }
    cairn_replay_end_text(&a.walk, out.end);
    cairn_replay_walk_end(&a.walk);
    cairn_replay_walk_end(&b.walk);
    cairn_world_destroy(a.state);
    cairn_world_destroy(b.state);
    return out;
}
