// SPDX-License-Identifier: MIT
#include "client_lib/simulate/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

cairn_status cairn_timeline_create(
    cairn_timeline *timeline, uint32_t tick_capacity, uint32_t command_capacity) {
    CAIRN_ASSERT(tick_capacity > 0 && command_capacity >= CAIRN_COMMANDS_PER_TICK_MAX);
    *timeline = (cairn_timeline){
        .tick_capacity = tick_capacity,
        .first_difference_tick = UINT64_MAX,
        .ticks = calloc(tick_capacity, sizeof timeline->ticks[0]),
    };
    // Each tick may leave a block partly empty.
    const uint32_t blocks = cairn_command_pool_blocks(command_capacity) + tick_capacity;
    cairn_status status = cairn_command_pool_create(&timeline->commands, blocks);
    return timeline->ticks != NULL ? status : CAIRN_OUT_OF_MEMORY;
}

static void destroy_rollback(cairn_timeline *timeline) {
    cairn_rollback_destroy(timeline->rollback);
    free(timeline->past);
    free(timeline->events);
    timeline->rollback = NULL;
    timeline->past = NULL;
    timeline->events = NULL;
}

static void destroy_world(cairn_timeline *timeline) {
    destroy_rollback(timeline);
    cairn_history_destroy(timeline->states);
    timeline->states = NULL;
    cairn_world_destroy(timeline->world);
    timeline->world = NULL;
}

void cairn_timeline_destroy(cairn_timeline *timeline) {
    destroy_world(timeline);
    cairn_command_pool_destroy(&timeline->commands);
    cairn_game_events_destroy(&timeline->game_events);
    free(timeline->ticks);
    *timeline = (cairn_timeline){0};
}

void cairn_timeline_clear(cairn_timeline *timeline) {
    destroy_world(timeline);
    cairn_command_pool_clear(&timeline->commands);
    cairn_game_events_clear(&timeline->game_events);
    *timeline = (cairn_timeline){
        .ticks = timeline->ticks,
        .tick_capacity = timeline->tick_capacity,
        .commands = timeline->commands,
        .follows = timeline->follows,
        .first_difference_tick = UINT64_MAX,
        .on_step = timeline->on_step,
        .step_context = timeline->step_context,
        .on_correct = timeline->on_correct,
        .corrects = timeline->corrects,
        .game_events = timeline->game_events,
    };
}

void cairn_timeline_expect(cairn_timeline *timeline, uint64_t tick) {
    CAIRN_ASSERT(timeline->ticks != NULL);
    cairn_command_pool_clear(&timeline->commands);
    cairn_timeline_forget_states(timeline);
    timeline->expecting = true;
    timeline->adopted = false;
    timeline->first = tick;
    timeline->head_tick = tick;
    timeline->confirmed_end = tick;
    timeline->end = tick;
    timeline->stepped_end = tick;
    timeline->differs = false;
    cairn_game_events_skip(&timeline->game_events, tick);
}

// Without memory for it the world goes back as a whole.
static void create_rollback(cairn_timeline *timeline) {
    const cairn_world_def *def = cairn_world_settings(timeline->world);
    if (!timeline->corrects || def->rules != NULL || timeline->states == NULL) {
        return;
    }
    const size_t commands = (size_t)timeline->commands.block_count * CAIRN_COMMAND_BLOCK;
    timeline->past = calloc(commands, sizeof *timeline->past);
    timeline->events = calloc((size_t)def->event_capacity + 1, sizeof *timeline->events);
    if (timeline->past == NULL || timeline->events == NULL ||
        cairn_rollback_create(timeline->world, timeline->states, &timeline->rollback) != CAIRN_OK) {
        destroy_rollback(timeline);
    }
}

cairn_status cairn_timeline_adopt(cairn_timeline *timeline, cairn_world *world, size_t state_size) {
    CAIRN_ASSERT(timeline->expecting && timeline->first == timeline->head_tick);
    CAIRN_ASSERT(cairn_world_tick(world) == timeline->head_tick);
    destroy_world(timeline);
    timeline->world = world;
    timeline->adopted = true;
    timeline->differs = false;
    const cairn_status status =
        state_size == 0
            ? CAIRN_OK
            : cairn_history_create(world, timeline->tick_capacity, state_size, &timeline->states);
    timeline->continuous_from = timeline->head_tick;
    if (status != CAIRN_OK) {
        destroy_world(timeline);
    } else {
        create_rollback(timeline);
    }
    return status;
}

void cairn_timeline_adopt_nothing(cairn_timeline *timeline) {
    CAIRN_ASSERT(timeline->follows && timeline->expecting && timeline->world == NULL);
    timeline->adopted = true;
}

// What holds between any two calls.
static void assert_order(const cairn_timeline *timeline) {
    CAIRN_ASSERT(timeline->first <= timeline->head_tick && timeline->head_tick <= timeline->end);
    CAIRN_ASSERT(timeline->first <= timeline->confirmed_end);
    CAIRN_ASSERT(timeline->confirmed_end <= timeline->end);
    CAIRN_ASSERT(timeline->end - timeline->first <= timeline->tick_capacity);
    CAIRN_ASSERT(!timeline->differs || timeline->differs_tick <= timeline->confirmed_end);
}

static cairn_timeline_tick *tick_of(const cairn_timeline *timeline, uint64_t tick) {
    return &timeline->ticks[tick % timeline->tick_capacity];
}

static bool is_held(const cairn_timeline *timeline, uint64_t tick) {
    return tick >= timeline->first && tick < timeline->end;
}

uint64_t cairn_timeline_confirmed_tick(const cairn_timeline *timeline) {
    return timeline->head_tick < timeline->confirmed_end ? timeline->head_tick
                                                         : timeline->confirmed_end;
}

static void drop_commands(cairn_timeline *timeline, uint64_t tick) {
    CAIRN_ASSERT(is_held(timeline, tick));
    cairn_command_pool_release(&timeline->commands, &tick_of(timeline, tick)->commands);
}

// Drops the oldest ticks until there is room, but none that waits to be stepped or confirmed.
static bool make_room(cairn_timeline *timeline, uint32_t ticks, uint32_t blocks) {
    while (timeline->end - timeline->first + ticks > timeline->tick_capacity ||
           timeline->commands.free_count < blocks) {
        if (timeline->first >= cairn_timeline_confirmed_tick(timeline)) {
            return false;
        }
        drop_commands(timeline, timeline->first);
        timeline->first++;
    }
    return true;
}

// Commands as the world takes them: sorted, with their digest.
typedef struct sorted_commands {
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    uint32_t count;
    cairn_hash128 digest;
} sorted_commands;

static void fill_tick(cairn_timeline *timeline, uint64_t tick, const sorted_commands *given) {
    *tick_of(timeline, tick) = (cairn_timeline_tick){
        .commands = cairn_command_pool_add(&timeline->commands, given->commands, given->count),
        .digest = given->digest,
    };
}

// Reports a tick that was corrected.
static void report_correction(
    cairn_timeline *timeline, uint64_t tick, uint64_t first, uint64_t confirmed_end) {
    if (timeline->on_correct == NULL) {
        return;
    }
    const cairn_client_step step = {
        .tick = tick, .confirmed = tick < confirmed_end, .again = tick < timeline->stepped_end};
    const uint32_t capacity = cairn_world_settings(timeline->world)->event_capacity;
    const uint32_t count = cairn_rollback_contact_events(
        timeline->rollback, (uint32_t)(tick - first), timeline->events, capacity);
    CAIRN_ASSERT(count <= capacity);
    timeline->on_correct(timeline->step_context, timeline->world, &step, timeline->events, count);
}

// Lists the commands of the ticks from `tick` to the head, and returns how many ticks these are.
// `tick` had the first `had` commands in `past`, and now has `given`.
static uint32_t list_ticks(cairn_timeline *timeline, uint64_t tick, uint32_t had,
    const sorted_commands *given, cairn_rollback_tick ticks[CAIRN_ROLLBACK_TICKS_MAX]) {
    const uint32_t count = (uint32_t)(timeline->head_tick - tick);
    cairn_command *at = timeline->past + had;
    ticks[0] = (cairn_rollback_tick){.before = timeline->past,
        .before_count = had,
        .after = given->commands,
        .after_count = given->count};
    for (uint32_t i = 1; i < count; i++) {
        const cairn_command_list list = tick_of(timeline, tick + i)->commands;
        cairn_command_pool_read(&timeline->commands, list, at);
        ticks[i] = (cairn_rollback_tick){
            .before = at, .before_count = list.count, .after = at, .after_count = list.count};
        at += list.count;
    }
    return count;
}

// Whether the commands of a stepped tick may be replaced without going back to it. The on_step hook
// reads the world after each tick, so it needs every tick stepped again.
static bool may_correct(const cairn_timeline *timeline, uint64_t tick) {
    return timeline->rollback != NULL && tick < timeline->head_tick &&
           tick >= timeline->continuous_from &&
           timeline->head_tick - tick <= CAIRN_ROLLBACK_TICKS_MAX &&
           (timeline->on_step == NULL || timeline->on_correct != NULL);
}

// Steps again only what the new commands can have moved. False: that is not certain, and nothing
// has changed. `had`: as in list_ticks.
static bool correct(cairn_timeline *timeline, uint64_t tick, uint32_t had,
    const sorted_commands *given, uint64_t confirmed_end) {
    cairn_rollback_tick ticks[CAIRN_ROLLBACK_TICKS_MAX];
    cairn_hash128 roots[CAIRN_ROLLBACK_TICKS_MAX];
    const uint32_t count = list_ticks(timeline, tick, had, given, ticks);
    if (cairn_rollback_apply(timeline->rollback, ticks, count, roots) != CAIRN_ROLLBACK_SCOPED) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        tick_of(timeline, tick + i)->root = roots[i];
        report_correction(timeline, tick + i, tick, confirmed_end);
    }
    if (cairn_rollback_bodies(timeline->rollback, count - 1, NULL, 0) > 0) {
        timeline->corrections++;
        timeline->corrected_ticks += count;
    }
    return true;
}

// Ticks below `confirmed_end` are confirmed now.
static cairn_timeline_verdict replace_tick(
    cairn_timeline *timeline, uint64_t tick, const sorted_commands *given, uint64_t confirmed_end) {
    if (cairn_hash_equal(tick_of(timeline, tick)->digest, given->digest)) {
        return CAIRN_TIMELINE_AGREED;
    }
    const cairn_command_list list = tick_of(timeline, tick)->commands;
    const uint32_t had = cairn_command_pool_blocks(list.count);
    const uint32_t needs = cairn_command_pool_blocks(given->count);
    if (!make_room(timeline, 0, needs > had ? needs - had : 0)) {
        return CAIRN_TIMELINE_FULL;
    }
    const bool may = may_correct(timeline, tick);
    const cairn_hash128 root = tick_of(timeline, tick)->root;
    if (may) {
        cairn_command_pool_read(&timeline->commands, list, timeline->past);
    }
    drop_commands(timeline, tick);
    fill_tick(timeline, tick, given);
    tick_of(timeline, tick)->root = root;
    if (may && correct(timeline, tick, list.count, given, confirmed_end)) {
        return CAIRN_TIMELINE_CORRECTED;
    }
    if (tick < timeline->head_tick) {
        // A predicted tick is stepped only after its state was saved.
        cairn_timeline_verdict verdict = cairn_timeline_rewind(timeline, tick);
        CAIRN_ASSERT(verdict == CAIRN_TIMELINE_REWOUND);
    }
    return CAIRN_TIMELINE_DIFFERED;
}

static cairn_timeline_verdict put_commands(cairn_timeline *timeline, uint64_t tick,
    const cairn_command *commands, uint32_t count, uint64_t confirmed_end) {
    CAIRN_ASSERT(count <= CAIRN_COMMANDS_PER_TICK_MAX && tick <= timeline->end);
    sorted_commands given;
    given.count = count;
    if (count > 0) {
        memcpy(given.commands, commands, count * sizeof commands[0]);
    }
    cairn_commands_sort(given.commands, count);
    given.digest = cairn_commands_digest(tick, given.commands, count);
    if (tick < timeline->end) {
        return replace_tick(timeline, tick, &given, confirmed_end);
    }
    if (!make_room(timeline, 1, cairn_command_pool_blocks(count))) {
        return CAIRN_TIMELINE_FULL;
    }
    fill_tick(timeline, tick, &given);
    timeline->end++;
    return CAIRN_TIMELINE_TAKEN;
}

static void compare_roots(cairn_timeline *timeline, uint64_t tick) {
    const cairn_timeline_tick *held = tick_of(timeline, tick);
    CAIRN_ASSERT(tick < timeline->confirmed_end && tick < timeline->head_tick);
    timeline->roots_compared++;
    if (cairn_root_agrees(held->check, held->root)) {
        return;
    }
    const uint64_t after = tick + 1;
    timeline->roots_differed++;
    if (timeline->first_difference_tick == UINT64_MAX) {
        timeline->first_difference_tick = after;
    }
    if (!timeline->differs || after < timeline->differs_tick) {
        timeline->differs = true;
        timeline->differs_tick = after;
    }
}

cairn_timeline_verdict cairn_timeline_confirm(cairn_timeline *timeline, uint64_t tick,
    const cairn_command *commands, uint32_t count, cairn_root_check check) {
    CAIRN_ASSERT(commands != NULL || count == 0);
    if (!timeline->expecting) {
        return CAIRN_TIMELINE_NOT_EXPECTED;
    }
    if (tick != timeline->confirmed_end) {
        return tick < timeline->confirmed_end ? CAIRN_TIMELINE_KNOWN : CAIRN_TIMELINE_GAP;
    }
    cairn_timeline_verdict verdict = put_commands(timeline, tick, commands, count, tick + 1);
    if (verdict == CAIRN_TIMELINE_FULL) {
        return verdict;
    }
    tick_of(timeline, tick)->check = check;
    timeline->confirmed_end = tick + 1;
    if (tick < timeline->head_tick) {
        compare_roots(timeline, tick);
        cairn_game_events_confirm(&timeline->game_events, tick);
    }
    assert_order(timeline);
    return verdict;
}

cairn_timeline_verdict cairn_timeline_predict(
    cairn_timeline *timeline, uint64_t tick, const cairn_command *commands, uint32_t count) {
    CAIRN_ASSERT(commands != NULL || count == 0);
    if (!timeline->expecting) {
        return CAIRN_TIMELINE_NOT_EXPECTED;
    }
    if (tick < timeline->confirmed_end) {
        return CAIRN_TIMELINE_KNOWN;
    }
    return tick > timeline->end
               ? CAIRN_TIMELINE_GAP
               : put_commands(timeline, tick, commands, count, timeline->confirmed_end);
}

static void report_step(cairn_timeline *timeline, uint64_t tick, bool confirmed) {
    const cairn_client_step step = {
        .tick = tick, .confirmed = confirmed, .again = tick < timeline->stepped_end};
    timeline->stepped_end = step.again ? timeline->stepped_end : tick + 1;
    if (timeline->on_step != NULL) {
        timeline->on_step(timeline->step_context, timeline->world, &step);
    }
}

static cairn_timeline_verdict follow(cairn_timeline *timeline) {
    if (!timeline->adopted || timeline->head_tick >= timeline->confirmed_end) {
        return CAIRN_TIMELINE_IDLE;
    }
    cairn_timeline_tick *tick = tick_of(timeline, timeline->head_tick);
    tick->root = tick->check.root;
    timeline->head_tick++;
    timeline->steps++;
    compare_roots(timeline, timeline->head_tick - 1);
    assert_order(timeline);
    return CAIRN_TIMELINE_STEPPED;
}

cairn_timeline_verdict cairn_timeline_step(cairn_timeline *timeline) {
    if (timeline->follows) {
        return follow(timeline);
    }
    // Not while a state is being received: the ticks held follow that state, not the world shown.
    if (timeline->world == NULL || !timeline->adopted || timeline->head_tick >= timeline->end) {
        return CAIRN_TIMELINE_IDLE;
    }
    // A state that a rollback may need must be held. It is if the world came back to this tick and
    // was not changed.
    const uint64_t head_tick = timeline->head_tick;
    const bool confirmed = head_tick < timeline->confirmed_end;
    const bool saved = timeline->states != NULL && cairn_history_holds(timeline->states, head_tick);
    const uint64_t keep_from = confirmed ? head_tick : timeline->confirmed_end;
    if (!saved &&
        (timeline->states == NULL || cairn_history_save(timeline->states, keep_from) != CAIRN_OK) &&
        !confirmed) {
        return CAIRN_TIMELINE_WINDOW;
    }
    cairn_timeline_tick *tick = tick_of(timeline, head_tick);
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    CAIRN_ASSERT(cairn_world_tick(timeline->world) == timeline->head_tick);
    cairn_command_pool_read(&timeline->commands, tick->commands, commands);
    cairn_world_step(timeline->world, commands, tick->commands.count);
    tick->root = cairn_world_hash_read(timeline->world).full;
    timeline->head_tick++;
    timeline->steps++;
    report_step(timeline, head_tick, confirmed);
    cairn_game_events_step(&timeline->game_events, timeline->world, head_tick, confirmed);
    if (confirmed) {
        compare_roots(timeline, head_tick);
    }
    assert_order(timeline);
    return CAIRN_TIMELINE_STEPPED;
}

cairn_timeline_verdict cairn_timeline_rewind(cairn_timeline *timeline, uint64_t tick) {
    CAIRN_ASSERT(tick <= timeline->head_tick && timeline->world != NULL);
    if (tick == timeline->head_tick) {
        return CAIRN_TIMELINE_REWOUND;
    }
    if (tick < timeline->first || timeline->states == NULL ||
        cairn_history_restore(timeline->states, tick) != CAIRN_OK) {
        return CAIRN_TIMELINE_STATE_DROPPED;
    }
    cairn_history_drop_from(timeline->states, tick + 1);
    timeline->head_tick = tick;
    timeline->continuous_from = tick < timeline->continuous_from ? tick : timeline->continuous_from;
    if (timeline->differs && timeline->differs_tick > tick) {
        timeline->differs = false; // the steps to come compare again
    }
    assert_order(timeline);
    return CAIRN_TIMELINE_REWOUND;
}

bool cairn_timeline_world_changed(cairn_timeline *timeline) {
    CAIRN_ASSERT(cairn_world_tick(timeline->world) == timeline->head_tick);
    timeline->continuous_from = timeline->head_tick;
    if (timeline->states != NULL) {
        cairn_history_drop_from(timeline->states, timeline->head_tick);
    }
    if (timeline->differs && timeline->differs_tick >= timeline->head_tick) {
        timeline->differs = false;
    }
    if (timeline->head_tick == 0 || !is_held(timeline, timeline->head_tick - 1)) {
        return true;
    }
    cairn_timeline_tick *before = tick_of(timeline, timeline->head_tick - 1);
    before->root = cairn_world_hash_read(timeline->world).full;
    if (timeline->head_tick > timeline->confirmed_end) {
        return true;
    }
    compare_roots(timeline, timeline->head_tick - 1);
    return cairn_root_agrees(before->check, before->root);
}

const cairn_timeline_tick *cairn_timeline_tick_read(const cairn_timeline *timeline, uint64_t tick) {
    return is_held(timeline, tick) ? tick_of(timeline, tick) : NULL;
}

uint32_t cairn_timeline_commands(
    const cairn_timeline *timeline, uint64_t tick, cairn_command *out) {
    CAIRN_ASSERT(is_held(timeline, tick));
    const cairn_command_list list = tick_of(timeline, tick)->commands;
    cairn_command_pool_read(&timeline->commands, list, out);
    return list.count;
}

bool cairn_timeline_load(const cairn_timeline *timeline, uint64_t tick, cairn_world *into) {
    return timeline->states != NULL && cairn_history_load(timeline->states, tick, into) == CAIRN_OK;
}

void cairn_timeline_forget_states(cairn_timeline *timeline) {
    if (timeline->states != NULL) {
        cairn_history_drop_from(timeline->states, 0);
    }
}
