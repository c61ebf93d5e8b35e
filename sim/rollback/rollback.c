// SPDX-License-Identifier: MIT
#include <cairn/rollback.h>

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/collide/cached_pairs.h"
#include "sim/rollback/parts.h"
#include "sim/world/world.h"

// Bytes of what the scope may become in all ticks together.
#define STORE_SIZE ((size_t)16 << 20)
// A scope that has to grow more often grows too slowly.
#define REGROWN_MAX 64u

// ---- Memory

static void allocate_all(cairn_rollback *r, cairn_arena *from, const cairn_world_def *def) {
    const size_t bodies = (size_t)def->body_capacity + 1;
    const size_t shapes = (size_t)def->shape_capacity + 1;
    const size_t joints = (size_t)def->joint_capacity + 1;
    const size_t events = (size_t)def->event_capacity * sizeof(cairn_contact_event);
    const size_t body_events = bodies * sizeof(cairn_body_event);
    const size_t event_bytes = events > body_events ? events : body_events;
    r->dynamic = cairn_arena_take(from, bodies, sizeof *r->dynamic);
    r->reaches = cairn_arena_take(from, bodies + 4, sizeof *r->reaches);
    r->travel = cairn_arena_take(from, bodies, sizeof *r->travel);
    r->still = cairn_arena_take(from, bodies, sizeof *r->still);
    r->still_shapes = cairn_arena_take(from, shapes, sizeof *r->still_shapes);
    r->joints = cairn_arena_take(from, joints, sizeof *r->joints);
    r->gates = cairn_arena_take(from, bodies, sizeof *r->gates);
    for (uint32_t i = 0; i < 6; ++i) {
        r->positions[i / 3][i % 3] = cairn_arena_take(from, bodies + 4, sizeof(float));
    }
    r->scope = cairn_arena_take(from, bodies, sizeof *r->scope);
    r->added = cairn_arena_take(from, bodies, sizeof *r->added);
    r->sorted = cairn_arena_take(from, bodies, sizeof *r->sorted);
    r->shapes = cairn_arena_take(from, shapes, sizeof *r->shapes);
    r->places = cairn_arena_take(from, (size_t)def->contact_capacity + 1, sizeof *r->places);
    r->placed = cairn_arena_take(from, bodies, sizeof *r->placed);
    r->placed_shapes = cairn_arena_take(from, shapes, sizeof *r->placed_shapes);
    r->placed_joints = cairn_arena_take(from, joints, sizeof *r->placed_joints);
    r->list = cairn_arena_take(from, (size_t)def->contact_capacity + 8, sizeof *r->list);
    r->events[0] = cairn_arena_take(from, event_bytes, 1);
    r->events[1] = cairn_arena_take(from, event_bytes, 1);
    r->commands = cairn_arena_take(from, CAIRN_COMMANDS_PER_TICK_MAX, sizeof *r->commands);
}

static cairn_status allocate(cairn_rollback *r, const cairn_world_def *def) {
    cairn_arena measure = {.memory = NULL};
    allocate_all(r, &measure, def);
    r->memory = calloc(1, measure.at);
    r->store = malloc(STORE_SIZE);
    r->store_size = STORE_SIZE;
    if (r->memory == NULL || r->store == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    cairn_arena cut = {.memory = r->memory};
    allocate_all(r, &cut, def);
    const cairn_status status = cairn_history_keep_sums(r->history);
    return status == CAIRN_OK ? cairn_world_create(def, &r->part) : status;
}

cairn_status cairn_rollback_create(
    cairn_world *world, cairn_history *history, cairn_rollback **out) {
    *out = NULL;
    if (!cairn_history_is_of(history, world)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_rollback *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    *r = (cairn_rollback){.world = world, .history = history};
    cairn_world_def def = world->def;
    def.rules = NULL; // a world with rules is never stepped in parts
    const cairn_status status = allocate(r, &def);
    if (status != CAIRN_OK) {
        cairn_rollback_destroy(r);
        return status;
    }
    *out = r;
    return CAIRN_OK;
}

void cairn_rollback_destroy(cairn_rollback *rollback) {
    if (rollback != NULL) {
        cairn_world_destroy(rollback->part);
        free(rollback->memory);
        free(rollback->store);
        free(rollback);
    }
}

cairn_rollback_statistics cairn_rollback_statistics_read(const cairn_rollback *rollback) {
    return rollback->statistics;
}

const char *cairn_rollback_outcome_text(cairn_rollback_outcome outcome) {
    static const char *const texts[CAIRN_ROLLBACK_OUTCOME_COUNT] = {
        [CAIRN_ROLLBACK_SCOPED] = "only a part was stepped again",
        [CAIRN_ROLLBACK_WHOLE_WORLD] =
            "the world has rules, another solver or a trace, or has not been stepped yet",
        [CAIRN_ROLLBACK_WHOLE_BODIES] = "a mesh, drive, bullet, moving kinematic or very fast body",
        [CAIRN_ROLLBACK_WHOLE_COMMANDS] = "a command does more than push a body",
        [CAIRN_ROLLBACK_WHOLE_STATES] = "a state is not held",
        [CAIRN_ROLLBACK_WHOLE_COUNTERS] = "something was refused, dropped or disabled",
        [CAIRN_ROLLBACK_WHOLE_SIZE] = "the part is too large",
    };
    return (uint32_t)outcome < CAIRN_ROLLBACK_OUTCOME_COUNT ? texts[outcome] : "unknown";
}

// ---- Whether a part may be stepped

static bool open_states(cairn_rollback *r) {
    const uint64_t head = cairn_world_tick(r->world);
    if (!cairn_history_is_of(r->history, r->world) || !cairn_history_continues(r->history) ||
        r->count == 0 || r->count > CAIRN_ROLLBACK_TICKS_MAX || r->count > head) {
        return false;
    }
    for (uint32_t i = 0; i < r->count; ++i) {
        r->sources[i] = (cairn_tick_state){.history = r->history};
        if (!cairn_history_order(r->history, head - r->count + i, &r->sources[i].order)) {
            return false;
        }
    }
    r->sources[r->count] = (cairn_tick_state){.world = r->world};
    const bool held = cairn_history_order(r->history, head, &r->head_order);
    r->head_order = held ? r->head_order : UINT32_MAX;
    return cairn_history_statistics_read(r->history).newest <= head;
}

static bool counters_equal(const cairn_settings *a, const cairn_settings *b) {
    return a->contacts_dropped == b->contacts_dropped && a->creates_refused == b->creates_refused &&
           a->bodies_disabled == b->bodies_disabled && a->edits_refused == b->edits_refused &&
           a->events_dropped == b->events_dropped && a->solver_fallbacks == b->solver_fallbacks &&
           memcmp(&a->present_gravity, &b->present_gravity, sizeof a->present_gravity) == 0 &&
           a->present_step_rate_hz == b->present_step_rate_hz && a->body_slots == b->body_slots &&
           a->shape_slots == b->shape_slots && a->joint_slots == b->joint_slots &&
           a->hull_slots == b->hull_slots && a->mesh_slots == b->mesh_slots &&
           a->joint_drive_count == b->joint_drive_count;
}

static bool states_alike(const cairn_rollback *r) {
    for (uint32_t i = 0; i < r->count; ++i) {
        const cairn_settings settings = cairn_tick_state_settings(&r->sources[i]);
        if (!counters_equal(&settings, r->world->state.settings)) {
            return false;
        }
    }
    return true;
}

// Whether the command does nothing but push a dynamic body. Players' commands are for rules.
static bool only_pushes(const cairn_world *world, const cairn_command *command) {
    if (command->slot != CAIRN_SLOT_OPERATOR) {
        return true;
    }
    switch (command->kind) {
    case CAIRN_COMMAND_IMPULSE:
    case CAIRN_COMMAND_IMPULSE_AT:
    case CAIRN_COMMAND_TURN:
    case CAIRN_COMMAND_FORCE:
    case CAIRN_COMMAND_FORCE_AT:
    case CAIRN_COMMAND_SET_VELOCITY: {
        const uint32_t slot = cairn_body_slot(world, command->buttons);
        return slot != CAIRN_INDEX_NONE && world->state.bodies[slot].kind == CAIRN_BODY_DYNAMIC;
    }
    default:
        return false;
    }
}

static bool commands_fit(const cairn_rollback *r, const cairn_rollback_tick *ticks) {
    for (uint32_t i = 0; i < r->count; ++i) {
        for (uint32_t k = 0; k < ticks[i].before_count; ++k) {
            if (!only_pushes(r->world, &ticks[i].before[k])) {
                return false;
            }
        }
        for (uint32_t k = 0; k < ticks[i].after_count; ++k) {
            if (!only_pushes(r->world, &ticks[i].after[k])) {
                return false;
            }
        }
    }
    return true;
}

static bool world_fits(const cairn_world *world) {
    return world->def.rules == NULL && world->def.solver == CAIRN_SOLVER_SOFT_STEP &&
           world->pair_cache_valid && world->trace_hook == NULL;
}

// ---- Commands

// Whether the two lists have different commands for a body.
static bool differ_for(const cairn_rollback_tick *tick, cairn_body_id body) {
    uint32_t i = 0;
    uint32_t k = 0;
    for (;;) {
        while (i < tick->before_count &&
               (tick->before[i].slot != CAIRN_SLOT_OPERATOR || tick->before[i].buttons != body)) {
            i += 1;
        }
        while (k < tick->after_count &&
               (tick->after[k].slot != CAIRN_SLOT_OPERATOR || tick->after[k].buttons != body)) {
            k += 1;
        }
        if (i == tick->before_count || k == tick->after_count) {
            return i != tick->before_count || k != tick->after_count;
        }
        if (memcmp(&tick->before[i], &tick->after[k], sizeof(cairn_command)) != 0) {
            return true;
        }
        i += 1;
        k += 1;
    }
}

static bool commands_equal(const cairn_rollback_tick *tick) {
    return tick->before_count == tick->after_count &&
           (tick->before_count == 0 ||
               memcmp(tick->before, tick->after, tick->before_count * sizeof *tick->before) == 0);
}

// The next body that gets other commands, from `*at` on in both lists, one after the other;
// CAIRN_INDEX_NONE if no other does. What players send is for rules.
static uint32_t next_changed(const cairn_rollback_tick *tick, uint32_t *at) {
    const uint32_t end = commands_equal(tick) ? 0 : tick->before_count + tick->after_count;
    while (*at < end) {
        const uint32_t i = (*at)++;
        const cairn_command *command =
            i < tick->before_count ? &tick->before[i] : &tick->after[i - tick->before_count];
        if (command->slot == CAIRN_SLOT_OPERATOR && differ_for(tick, command->buttons)) {
            return cairn_id_index(command->buttons);
        }
    }
    return CAIRN_INDEX_NONE;
}

static uint32_t commands_of_scope(cairn_rollback *r, const cairn_rollback_tick *tick) {
    uint32_t count = 0;
    CAIRN_ASSERT(tick->after_count <= CAIRN_COMMANDS_PER_TICK_MAX);
    for (uint32_t i = 0; i < tick->after_count; ++i) {
        const cairn_command *command = &tick->after[i];
        if (command->slot == CAIRN_SLOT_OPERATOR &&
            cairn_scope_has(r, cairn_id_index(command->buttons))) {
            r->commands[count++] = *command;
        }
    }
    return count;
}

// ---- Steps

static void forget_scope(cairn_rollback *r) {
    for (uint32_t i = 0; i < r->scope_count; ++i) {
        r->added[r->scope[i]] = 0;
    }
    r->scope_count = 0;
    r->store_used = 0;
    r->part_valid = false;
    r->statistics.regrown_last = 0;
}

// The pairs of the world and those of the part together are far from full.
static bool pairs_fit(const cairn_rollback *r) {
    const cairn_pair_cache *whole = r->world->pair_cache;
    return (uint64_t)whole->pair_count + r->part->pair_cache->pair_count < whole->pair_capacity / 2;
}

static cairn_rollback_outcome step_part(
    cairn_rollback *r, const cairn_rollback_tick *tick, uint32_t index) {
    do {
        if (r->scope_count > r->awake_count / 2 || r->statistics.regrown_last > REGROWN_MAX) {
            return CAIRN_ROLLBACK_WHOLE_SIZE;
        }
        if (!r->part_valid) {
            if (!cairn_part_place(r, index)) {
                return CAIRN_ROLLBACK_WHOLE_SIZE;
            }
            r->statistics.regrown_last += 1;
        }
        cairn_world_step(r->part, r->commands, commands_of_scope(r, tick));
        if (!counters_equal(r->part->state.settings, r->world->state.settings)) {
            return CAIRN_ROLLBACK_WHOLE_COUNTERS;
        }
        if (!cairn_rollback_travel_kept(r)) {
            return CAIRN_ROLLBACK_WHOLE_BODIES;
        }
    } while (cairn_scope_grow(r, index));
    return pairs_fit(r) && cairn_part_collect(r, index + 1) ? CAIRN_ROLLBACK_SCOPED
                                                            : CAIRN_ROLLBACK_WHOLE_SIZE;
}

static cairn_rollback_outcome step_ticks(cairn_rollback *r, const cairn_rollback_tick *ticks) {
    cairn_scope_read_positions(r, 1, &r->sources[r->first]);
    for (uint32_t i = r->first; i < r->count; ++i) {
        cairn_scope_swap_positions(r);
        cairn_scope_read_positions(r, 1, &r->sources[i + 1]);
        uint32_t at = 0;
        for (uint32_t slot; (slot = next_changed(&ticks[i], &at)) != CAIRN_INDEX_NONE;) {
            cairn_scope_add(r, slot, i);
        }
        cairn_scope_close(r, 0, i);
        const cairn_rollback_outcome outcome = step_part(r, &ticks[i], i);
        if (outcome != CAIRN_ROLLBACK_SCOPED) {
            return outcome;
        }
    }
    return CAIRN_ROLLBACK_SCOPED;
}

static cairn_rollback_outcome run(
    cairn_rollback *r, const cairn_rollback_tick *ticks, cairn_hash128 *roots) {
    if (!world_fits(r->world)) {
        return CAIRN_ROLLBACK_WHOLE_WORLD;
    }
    if (!open_states(r)) {
        return CAIRN_ROLLBACK_WHOLE_STATES;
    }
    if (!commands_fit(r, ticks)) {
        return CAIRN_ROLLBACK_WHOLE_COMMANDS;
    }
    if (!states_alike(r)) {
        return CAIRN_ROLLBACK_WHOLE_COUNTERS;
    }
    r->first = 0;
    while (
        r->first < r->count && next_changed(&ticks[r->first], &(uint32_t){0}) == CAIRN_INDEX_NONE) {
        r->first += 1;
    }
    cairn_rollback_outcome outcome = cairn_scope_survey(r);
    if (outcome == CAIRN_ROLLBACK_SCOPED) {
        cairn_rollback_measure_travel(r, ticks);
        outcome = step_ticks(r, ticks);
    }
    if (outcome == CAIRN_ROLLBACK_SCOPED && !cairn_rollback_plan(r)) {
        outcome = CAIRN_ROLLBACK_WHOLE_SIZE;
    }
    if (outcome == CAIRN_ROLLBACK_SCOPED) {
        cairn_rollback_correct(r, roots);
    }
    return outcome;
}

cairn_rollback_outcome cairn_rollback_apply(cairn_rollback *rollback,
    const cairn_rollback_tick *ticks, uint32_t count, cairn_hash128 *roots) {
    cairn_rollback *r = rollback;
    forget_scope(r);
    r->count = count;
    r->first = count;
    const cairn_rollback_outcome outcome = run(r, ticks, roots);
    r->statistics.outcomes[outcome] += 1;
    if (outcome == CAIRN_ROLLBACK_SCOPED) {
        r->statistics.ticks += count - r->first;
        r->statistics.bodies_last = r->scope_count;
        for (uint32_t i = r->first + 1; i <= count; ++i) {
            r->statistics.bodies += r->results[i].count;
        }
    }
    return outcome;
}

uint32_t cairn_rollback_bodies(
    const cairn_rollback *rollback, uint32_t index, cairn_body_state *out, uint32_t capacity) {
    CAIRN_ASSERT(index < rollback->count && (out != NULL || capacity == 0));
    if (index < rollback->first) {
        return 0;
    }
    const cairn_scope_result *result = &rollback->results[index + 1];
    for (uint32_t i = 0; i < result->count && i < capacity; ++i) {
        const cairn_sleep *sleep = &result->sleep[i];
        out[i] = cairn_body_state_of(cairn_body_id_at(rollback->world, result->slots[i]),
            &result->motions[i], &result->bodies[i], sleep->state != CAIRN_SLEEP_ASLEEP);
    }
    return result->count;
}

uint32_t cairn_rollback_contact_events(
    const cairn_rollback *rollback, uint32_t index, cairn_contact_event *out, uint32_t capacity) {
    CAIRN_ASSERT(index < rollback->count && (out != NULL || capacity == 0));
    const cairn_tick_state *from = &rollback->sources[index + 1];
    const uint32_t count = cairn_tick_state_settings(from).contact_event_count;
    const uint32_t copied = count < capacity ? count : capacity;
    if (copied > 0) {
        cairn_tick_state_read(from, CAIRN_ARRAY_CONTACT_EVENTS, 0, copied, out);
    }
    return count;
}
