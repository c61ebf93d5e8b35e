// SPDX-License-Identifier: MIT
#include "tools/replay/shrink/find.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "recording/recorded_world.h"

void cairn_shrink_say(const cairn_shrink *shrink, const char *format, ...) {
    fprintf(stderr, "%7.1f s  ", (double)(cairn_monotonic_ns() - shrink->begin_ns) * 1e-9);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

// --------------------------------------------------------------------------- the first failure

typedef struct scan {
    cairn_shrink *shrink;
    const cairn_oracle *oracles; // one for each child
    cairn_shrink_watch watch;
    cairn_world *world;
    cairn_answer *answer;
    bool held; // of the predicate: a failure begins when it did not hold before
    bool failed;
} scan;

static void note_start(scan *s) {
    const cairn_predicate *start = &s->shrink->start;
    if (start->node_count > 0 && cairn_predicate_holds(start, s->world, NULL)) {
        s->answer->start = cairn_world_tick(s->world);
    }
}

static bool begin_world(scan *s, const cairn_oracle *oracle, cairn_world *world) {
    cairn_shrink_watch_end(&s->watch);
    cairn_world_destroy(s->world);
    s->world = world;
    s->watch = (cairn_shrink_watch){.oracle = oracle};
    if (world == NULL ||
        !cairn_shrink_watch_begin(&s->watch, oracle, &s->shrink->predicate, world, s->answer)) {
        return false;
    }
    s->held = oracle->kind == CAIRN_ORACLE_PREDICATE &&
              cairn_predicate_holds(&s->shrink->predicate, world, NULL);
    note_start(s);
    return true;
}

static bool scan_ticks(scan *s, const cairn_chunk_ticks *ticks) {
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    for (uint32_t i = 0; i < ticks->tick_count && !s->failed; ++i) {
        const cairn_wire_tick *tick = &ticks->ticks[i];
        const cairn_hash128 root = {.lo = tick->root_lo, .hi = tick->root_hi};
        uint32_t count = 0;
        if (tick->tick != cairn_world_tick(s->world) ||
            !cairn_recorded_commands(ticks, tick, commands, &count)) {
            return false;
        }
        const bool holds = cairn_shrink_watch_step(&s->watch, commands, count, &root);
        s->failed = holds && !s->held;
        s->held = holds && s->watch.oracle->kind == CAIRN_ORACLE_PREDICATE;
        if (!s->failed) {
            note_start(s);
        }
    }
    return true;
}

static void scan_recording(void *context, uint32_t index, cairn_answer *answer) {
    scan s = *(scan *)context;
    const cairn_oracle *oracle = &s.oracles[index];
    const cairn_system_map *input = s.shrink->input;
    cairn_chunk_reader walk = cairn_chunk_reader_of(input->bytes, input->size);
    const cairn_rules *rules = NULL;
    bool good = true;
    s.answer = answer;
    while (good && !s.failed && cairn_chunk_reader_next(&walk)) {
        const cairn_chunk *chunk = &walk.chunk;
        cairn_recorded_refusal refusal;
        char error[CAIRN_RECORDING_ERROR_SIZE] = "";
        if (chunk->kind == CAIRN_CHUNK_START) {
            cairn_world *world =
                cairn_recorded_world_of_start(&chunk->start, NULL, &refusal, error);
            rules = world != NULL ? cairn_world_settings(world)->rules : NULL;
            good = begin_world(&s, oracle, world);
        } else if (chunk->kind == CAIRN_CHUNK_REPLACE) {
            const cairn_chunk_keyframe state = {
                chunk->replace.tick, chunk->replace.state, chunk->replace.state_size};
            good = begin_world(&s, oracle, cairn_recorded_world_of_keyframe(&state, rules, error));
        } else if (chunk->kind == CAIRN_CHUNK_TICKS) {
            good = scan_ticks(&s, &chunk->ticks);
        }
        snprintf(answer->text, sizeof answer->text, "%.150s", error);
    }
    answer->outcome = s.failed ? CAIRN_OUTCOME_FAILS
                      : good   ? CAIRN_OUTCOME_PASSES
                               : CAIRN_OUTCOME_UNKNOWN;
    cairn_shrink_watch_end(&s.watch);
    cairn_world_destroy(s.world);
    cairn_chunk_reader_end(&walk);
}

// The first of the oracles by which the recording fails is the one.
static bool scan_with(
    cairn_shrink *shrink, const cairn_oracle *oracles, uint32_t count, cairn_answer *found) {
    scan s = {.shrink = shrink, .oracles = oracles, .watch = {.oracle = oracles}};
    cairn_answer answers[CAIRN_CHILDREN_MAX];
    if (!cairn_children_run(
            scan_recording, &s, count, shrink->options->workers, shrink->deadline_ns, answers)) {
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        cairn_oracle_judge(&oracles[i], &answers[i]);
        *found = answers[i];
        if (answers[i].outcome == CAIRN_OUTCOME_FAILS) {
            shrink->oracle = oracles[i];
            return true;
        }
    }
    return false;
}

static int refuse(cairn_shrink *shrink, const char *why) {
    return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, shrink->options->words[1], why);
}

// --------------------------------------------------------------------------- the reproduction

static bool add_commands(cairn_play *play, const cairn_chunk_ticks *ticks, uint64_t first,
    uint64_t end, cairn_hash128 *last) {
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    for (uint32_t i = 0; i < ticks->tick_count; ++i) {
        const uint64_t tick = ticks->ticks[i].tick;
        uint32_t count = 0;
        if (tick < first || tick >= end) {
            continue;
        }
        *last = (cairn_hash128){.lo = ticks->ticks[i].root_lo, .hi = ticks->ticks[i].root_hi};
        if (!cairn_recorded_commands(ticks, &ticks->ticks[i], commands, &count)) {
            return false;
        }
        const size_t size = (play->count + (size_t)count + 1) * sizeof *play->commands;
        cairn_play_command *more = realloc(play->commands, size);
        if (more == NULL) {
            return false;
        }
        play->commands = more;
        for (uint32_t k = 0; k < count; ++k) {
            more[play->count++] =
                (cairn_play_command){.tick = tick - first, .command = commands[k]};
        }
    }
    return true;
}

// From tick `first` to tick `end`. A replacement in between would need a second state.
static bool read_commands(const cairn_system_map *input, uint64_t first, uint64_t end,
    cairn_play *play, cairn_hash128 *last) {
    cairn_chunk_reader walk = cairn_chunk_reader_of(input->bytes, input->size);
    bool good = true;
    while (good && cairn_chunk_reader_next(&walk)) {
        if (walk.chunk.kind == CAIRN_CHUNK_REPLACE) {
            play->count = 0;
        } else if (walk.chunk.kind == CAIRN_CHUNK_TICKS) {
            good = add_commands(play, &walk.chunk.ticks, first, end, last);
        }
    }
    cairn_chunk_reader_end(&walk);
    return good;
}

static int begin_at(cairn_shrink *shrink, uint64_t first, uint64_t end) {
    cairn_player player;
    uint64_t state_tick = 0;
    int code = cairn_replay_player_open(&player, shrink->options, shrink->input);
    if (code == CAIRN_EXIT_GOOD) {
        code = cairn_replay_player_seek(&player, shrink->options, first, &state_tick);
    }
    cairn_repro *best = &shrink->best;
    cairn_repro_end(best);
    best->predicate = shrink->predicate;
    best->start = shrink->start;
    best->play.ticks = end - first;
    if (code == CAIRN_EXIT_GOOD) {
        best->state = player.world;
        player.world = NULL;
        if (!read_commands(shrink->input, first, end, &best->play, &shrink->recorded)) {
            code = refuse(shrink, "its commands cannot be read");
        }
    }
    const cairn_replay_bodies *keep = &shrink->options->bodies;
    best->keep = calloc((size_t)keep->count + 1, sizeof *best->keep);
    for (uint32_t i = 0; best->keep != NULL && i < keep->count; ++i) {
        best->keep[best->keep_count++] = keep->ids[i];
        if (code == CAIRN_EXIT_GOOD && !cairn_body_exists(best->state, keep->ids[i])) {
            code = cairn_replay_complain(CAIRN_EXIT_UNUSABLE, "--keep",
                "one of them does not exist at the tick at which the test begins");
        }
    }
    cairn_player_close(&player);
    return code;
}

// ------------------------------------------------------------------------------ the difference

static uint32_t list_ways(cairn_oracle *out) {
    uint32_t count = 0;
    for (uint32_t kind = CAIRN_ORACLE_RESTORE; kind <= CAIRN_ORACLE_WORKERS; ++kind) {
        out[count++] = (cairn_oracle){.kind = (cairn_oracle_kind)kind, .ticks_min = 1};
    }
    return count;
}

static void ask_way(void *context, uint32_t index, cairn_answer *answer) {
    const scan *s = context;
    const cairn_repro *best = &s->shrink->best;
    if (s->oracles[index].kind == CAIRN_ORACLE_TRIAL) {
        // Most hazards change most steps. It is the one that gives the recorded hash.
        cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
        uint32_t next = 0;
        const uint32_t count = cairn_play_next(&best->play, 0, &next, commands);
        cairn_world *world = cairn_repro_world(best);
        if (world == NULL) {
            return;
        }
        cairn_trial_step(s->oracles[index].trial, world, commands, count, NULL);
        if (!cairn_hash_equal(cairn_world_hash_read(world).full, s->shrink->recorded)) {
            return;
        }
    }
    cairn_oracle_ask(&s->oracles[index], best, answer);
}

// A recorded hash differs: the other build is not here. A way to compute the step that differs as
// well stands for it.
static int find_way(cairn_shrink *shrink, cairn_oracle *ways, uint32_t count) {
    const cairn_trial *trials;
    const uint32_t trial_count = cairn_trials(&trials);
    for (uint32_t i = 0; i < trial_count; ++i) {
        ways[count++] =
            (cairn_oracle){.kind = CAIRN_ORACLE_TRIAL, .trial = &trials[i], .ticks_min = 1};
    }
    scan s = {.shrink = shrink, .oracles = ways};
    cairn_answer answers[CAIRN_CHILDREN_MAX];
    if (!cairn_children_run(
            ask_way, &s, count, shrink->options->workers, shrink->deadline_ns, answers)) {
        return refuse(shrink, "out of memory or processes");
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (answers[i].outcome == CAIRN_OUTCOME_FAILS) {
            shrink->oracle = ways[i];
            shrink->focus = answers[i].body;
            return CAIRN_EXIT_GOOD;
        }
    }
    return refuse(shrink,
        "a state hash differs from the recorded one, and no way in which this program can compute "
        "the step differs; name the other program: --oracle 'OTHER/cairn-replay verify'");
}

static int find_difference(cairn_shrink *shrink) {
    const cairn_oracle recorded = {.kind = CAIRN_ORACLE_RECORDED, .ticks_min = 1};
    cairn_oracle ways[CAIRN_CHILDREN_MAX];
    cairn_answer answer;
    const uint32_t count = list_ways(ways);
    if (scan_with(shrink, &recorded, 1, &answer)) {
        shrink->tick_failed = answer.tick;
        const uint64_t first = answer.tick - 1;
        cairn_shrink_say(
            shrink, "tick %llu: the recorded state hash differs", (unsigned long long)answer.tick);
        const int code = begin_at(shrink, first, answer.tick);
        return code == CAIRN_EXIT_GOOD ? find_way(shrink, ways, count) : code;
    }
    if (scan_with(shrink, ways, count, &answer)) {
        shrink->tick_failed = answer.tick;
        shrink->focus = answer.body;
        return CAIRN_EXIT_GOOD;
    }
    return refuse(shrink,
        "no state hash differs: neither from the recorded ones nor in worlds that are restored, "
        "filled, or stepped with other lanes or threads");
}

// ------------------------------------------------------------------------------- the command

static int find_by_command(cairn_shrink *shrink) {
    cairn_recording_index index;
    cairn_answer answer = {.code = 0};
    uint64_t first = 0, last = 0;
    if (cairn_recording_index_of(shrink->input->bytes, shrink->input->size, &index) != CAIRN_OK) {
        return refuse(shrink, "out of memory");
    }
    (void)cairn_recording_index_range(&index, &first, &last);
    int code = CAIRN_EXIT_GOOD;
    bool fails = false;
    uint64_t before = last;
    // The latest state first: each earlier one doubles the ticks at least.
    for (uint32_t i = index.count; i-- > 0 && code == CAIRN_EXIT_GOOD && !fails;) {
        const cairn_recording_entry *entry = &index.entries[i];
        const bool due =
            entry->kind == CAIRN_CHUNK_START || last - entry->tick >= 2 * (last - before);
        if (!cairn_recording_is_state(entry->kind) || entry->tick >= last || !due) {
            continue;
        }
        before = entry->tick;
        code = begin_at(shrink, entry->tick, last);
        scan s = {.shrink = shrink, .oracles = &shrink->oracle};
        if (code == CAIRN_EXIT_GOOD &&
            cairn_children_run(ask_way, &s, 1, 1, shrink->deadline_ns, &answer)) {
            fails = answer.outcome == CAIRN_OUTCOME_FAILS;
            cairn_shrink_say(shrink, "from tick %llu: exit code %u",
                (unsigned long long)entry->tick, answer.code);
        }
    }
    cairn_recording_index_end(&index);
    shrink->oracle.code = (int)answer.code;
    shrink->tick_failed = last;
    return code != CAIRN_EXIT_GOOD || fails
               ? code
               : refuse(shrink, "the command of --oracle ends with 0 or 125 for the recording");
}

// -------------------------------------------------------------------------------------- finding

int cairn_shrink_find(cairn_shrink *shrink) {
    cairn_answer answer;
    uint64_t first = 0, last = 0;
    cairn_recording_index index;
    // It complains if there is no such recording, or if it needs other rules.
    cairn_player player;
    int code = cairn_replay_player_open(&player, shrink->options, shrink->input);
    cairn_player_close(&player);
    if (code != CAIRN_EXIT_GOOD) {
        return code;
    }
    if (cairn_recording_index_of(shrink->input->bytes, shrink->input->size, &index) != CAIRN_OK) {
        return refuse(shrink, "out of memory");
    }
    (void)cairn_recording_index_range(&index, &first, &last);
    cairn_recording_index_end(&index);
    if (shrink->oracle.kind == CAIRN_ORACLE_COMMAND) {
        return find_by_command(shrink);
    }
    if (shrink->oracle.kind == CAIRN_ORACLE_RECORDED) {
        code = find_difference(shrink);
        if (code != CAIRN_EXIT_GOOD) {
            return code;
        }
        answer = (cairn_answer){.tick = shrink->tick_failed, .start = CAIRN_TICK_NONE};
    } else if (scan_with(shrink, &shrink->oracle, 1, &answer)) {
        shrink->tick_failed = answer.tick;
        shrink->focus = answer.body;
        shrink->oracle.part = answer.part;
    } else {
        return refuse(shrink, answer.text[0] != '\0' ? answer.text
                              : shrink->oracle.kind == CAIRN_ORACLE_RULES
                                  ? "its rules end the program at no tick"
                                  : "the predicate holds after no tick at which it did not before");
    }
    const uint64_t end = shrink->tick_failed;
    uint64_t begin = end - first > shrink->lead ? end - shrink->lead : first;
    if (shrink->start.node_count > 0) {
        if (answer.start == CAIRN_TICK_NONE) {
            return refuse(shrink, "--start holds at no tick before the failure");
        }
        begin = answer.start;
    }
    cairn_shrink_say(shrink, "tick %llu: %s; the test begins with tick %llu",
        (unsigned long long)end, cairn_oracle_text(&shrink->oracle), (unsigned long long)begin);
    return begin_at(shrink, begin, end);
}
