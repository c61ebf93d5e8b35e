// SPDX-License-Identifier: MIT
#include "client_lib/simulate/lockstep.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/snapshot.h"
#include "compress/command_coder.h"
#include <cairn/rules_registry.h>

// Two steps are enough to interpolate between; two more cover a burst of steps in one advance.
#define SNAPSHOTS 4
// A world may need this many times the memory of the largest state that the host accepts:
// capacities leave room for what is not there yet. A small state can announce any capacities.
#define WORLD_PER_STATE 4

const char *cairn_lockstep_verdict_text(cairn_lockstep_verdict verdict) {
    static const char *const texts[CAIRN_LOCKSTEP_VERDICT_COUNT] = {
        [CAIRN_LOCKSTEP_TAKEN] = "taken",
        [CAIRN_LOCKSTEP_LOADED] = "state loaded",
        [CAIRN_LOCKSTEP_EARLY] = "kept until the ticks before arrive",
        [CAIRN_LOCKSTEP_OUT_OF_ORDER] = "a piece of a state out of order",
        [CAIRN_LOCKSTEP_NOT_EXPECTED] = "ticks before any state",
        [CAIRN_LOCKSTEP_GAP] = "ticks too far beyond those held",
        [CAIRN_LOCKSTEP_FULL] = "no room for more confirmed ticks",
        [CAIRN_LOCKSTEP_STATE_TOO_LARGE] =
            "the server's state is larger than state_size_max allows: raise state_size_max",
        [CAIRN_LOCKSTEP_WORLD_TOO_LARGE] =
            "the server's world has larger capacities than state_size_max allows: raise it",
        [CAIRN_LOCKSTEP_STATE_MALFORMED] = "the server's state does not decode",
        [CAIRN_LOCKSTEP_RULES_UNKNOWN] =
            "the server's rules are not linked into this client: set config.rules",
        [CAIRN_LOCKSTEP_COMMAND_REFUSED] = "the server confirmed a command that is out of range",
        [CAIRN_LOCKSTEP_TICK_MALFORMED] = "the commands of a tick do not decode",
        [CAIRN_LOCKSTEP_NO_MEMORY] = "no memory for the server's world",
    };
    return (uint32_t)verdict < CAIRN_LOCKSTEP_VERDICT_COUNT ? texts[verdict] : "unknown";
}

cairn_status cairn_lockstep_create(
    cairn_lockstep *lockstep, const cairn_rules *rules, uint32_t state_size_max) {
    *lockstep = (cairn_lockstep){.rules = rules,
        .held_end = UINT64_MAX,
        .held = malloc(CAIRN_COMMANDS_PER_TICK_MAX * sizeof lockstep->held[0])};
    cairn_state_transfer_start(&lockstep->transfer, state_size_max);
    if (cairn_early_ticks_create(&lockstep->early) != CAIRN_OK || lockstep->held == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    return cairn_timeline_create(
        &lockstep->timeline, CAIRN_LOCKSTEP_TICKS_MAX, CAIRN_LOCKSTEP_COMMANDS_MAX);
}

static void destroy_picture(cairn_lockstep *lockstep) {
    free(lockstep->scratch);
    lockstep->scratch = NULL;
    for (int i = 0; i < 2; i++) {
        free(lockstep->shape_ids[i]);
        lockstep->shape_ids[i] = NULL;
        free(lockstep->shapes[i]);
        lockstep->shapes[i] = NULL;
    }
    lockstep->shape_id_count = 0;
    lockstep->shape_count = 0;
    lockstep->shape_revision++;
    cairn_snapshots_destroy(&lockstep->snapshots);
}

void cairn_lockstep_destroy(cairn_lockstep *lockstep) {
    destroy_picture(lockstep);
    cairn_state_transfer_end(&lockstep->transfer);
    cairn_timeline_destroy(&lockstep->timeline);
    cairn_early_ticks_destroy(&lockstep->early);
    free(lockstep->held);
    *lockstep = (cairn_lockstep){0};
}

void cairn_lockstep_clear(cairn_lockstep *lockstep) {
    destroy_picture(lockstep);
    cairn_state_transfer_end(&lockstep->transfer);
    cairn_timeline_clear(&lockstep->timeline);
    cairn_early_ticks_clear(&lockstep->early);
    const uint32_t state_size_max = lockstep->transfer.size_max;
    *lockstep = (cairn_lockstep){
        .rules = lockstep->rules,
        .timeline = lockstep->timeline,
        .early = lockstep->early,
        .held = lockstep->held,
        .held_end = UINT64_MAX,
        .state_ticks = lockstep->state_ticks,
        .state_memory = lockstep->state_memory,
        .confirm = lockstep->confirm,
        .confirm_context = lockstep->confirm_context,
        .shape_revision = lockstep->shape_revision,
    };
    cairn_state_transfer_start(&lockstep->transfer, state_size_max);
}

void cairn_lockstep_keep_states(cairn_lockstep *lockstep, uint32_t ticks, size_t memory) {
    CAIRN_ASSERT(lockstep->timeline.world == NULL && ticks > 0);
    lockstep->state_ticks += ticks;
    lockstep->state_memory = memory;
}

// `went_back`: the world was rewound since it was last shown, so an id may now name another shape.
static void update_shapes(cairn_lockstep *lockstep, bool went_back) {
    const cairn_world *world = lockstep->timeline.world;
    cairn_shape_id *ids = lockstep->shape_ids[1];
    cairn_snapshot_shape *shapes = lockstep->shapes[1];
    const uint32_t capacity = cairn_world_settings(world)->shape_capacity;
    const uint32_t count = cairn_world_shapes(world, ids, capacity);
    const bool same_ids = count == lockstep->shape_id_count &&
                          memcmp(lockstep->shape_ids[0], ids, count * sizeof ids[0]) == 0;
    CAIRN_ASSERT(count <= capacity);
    if (same_ids && !went_back) {
        return;
    }
    uint32_t shown = 0;
    for (uint32_t i = 0; i < count; i++) {
        shown += cairn_snapshot_shape_read(world, ids[i], &shapes[shown]) ? 1u : 0u;
    }
    if (same_ids && shown == lockstep->shape_count &&
        memcmp(lockstep->shapes[0], shapes, shown * sizeof shapes[0]) == 0) {
        return;
    }
    lockstep->shape_revision++;
    lockstep->shape_id_count = count;
    lockstep->shape_count = shown;
    lockstep->shape_ids[1] = lockstep->shape_ids[0];
    lockstep->shape_ids[0] = ids;
    lockstep->shapes[1] = lockstep->shapes[0];
    lockstep->shapes[0] = shapes;
}

void cairn_lockstep_show(cairn_lockstep *lockstep) {
    CAIRN_ASSERT(lockstep->timeline.world != NULL && lockstep->scratch != NULL);
    cairn_snapshots *snapshots = &lockstep->snapshots;
    const cairn_snapshot *newest = cairn_snapshots_newest(snapshots);
    const bool went_back =
        newest == NULL || newest->tick >= cairn_world_tick(lockstep->timeline.world);
    if (went_back) {
        cairn_snapshots_clear(snapshots);
    }
    cairn_snapshot_body *bodies = cairn_snapshots_reserve(snapshots);
    uint32_t count = cairn_world_snapshot_bodies(
        lockstep->timeline.world, lockstep->scratch, bodies, snapshots->bodies_max);
    CAIRN_ASSERT(count <= snapshots->bodies_max);
    cairn_snapshot_refusal refusal =
        cairn_snapshots_commit(snapshots, cairn_world_tick(lockstep->timeline.world), count);
    CAIRN_ASSERT(refusal == CAIRN_SNAPSHOT_TAKEN);
    update_shapes(lockstep, went_back);
}

static bool create_picture(cairn_lockstep *lockstep, const cairn_world_def *def) {
    destroy_picture(lockstep);
    lockstep->scratch = malloc(def->body_capacity * sizeof lockstep->scratch[0]);
    for (int i = 0; i < 2; i++) {
        lockstep->shape_ids[i] = malloc(def->shape_capacity * sizeof lockstep->shape_ids[i][0]);
        lockstep->shapes[i] = malloc(def->shape_capacity * sizeof lockstep->shapes[i][0]);
    }
    const bool room = lockstep->shape_ids[0] != NULL && lockstep->shape_ids[1] != NULL &&
                      lockstep->shapes[0] != NULL && lockstep->shapes[1] != NULL;
    return lockstep->scratch != NULL && room &&
           cairn_snapshots_create(&lockstep->snapshots, SNAPSHOTS, def->body_capacity) == CAIRN_OK;
}

static cairn_lockstep_verdict decode_world(cairn_lockstep *lockstep, cairn_world **out) {
    cairn_state_transfer *transfer = &lockstep->transfer;
    cairn_world_def def;
    char rules_name[32];
    const cairn_state_verdict unpacked = cairn_state_transfer_unpack(transfer);
    if (unpacked == CAIRN_STATE_NO_MEMORY) {
        return CAIRN_LOCKSTEP_NO_MEMORY;
    }
    if (unpacked != CAIRN_STATE_WHOLE || cairn_world_def_of_encoding(transfer->bytes,
                                             transfer->total_size, &def, rules_name) != CAIRN_OK) {
        return CAIRN_LOCKSTEP_STATE_MALFORMED;
    }
    if (lockstep->rules != NULL && strcmp(lockstep->rules->name, rules_name) == 0) {
        def.rules = lockstep->rules;
    } else if (!cairn_rules_find(rules_name, &def.rules)) {
        return CAIRN_LOCKSTEP_RULES_UNKNOWN;
    }
    if (cairn_world_def_state_size(&def) / WORLD_PER_STATE > transfer->size_max) {
        return CAIRN_LOCKSTEP_WORLD_TOO_LARGE;
    }
    if (cairn_world_create(&def, out) != CAIRN_OK) {
        return CAIRN_LOCKSTEP_NO_MEMORY;
    }
    cairn_status status = cairn_world_decode(*out, transfer->bytes, transfer->total_size, NULL);
    CAIRN_ASSERT(transfer->received == transfer->total_size);
    const bool valid = status == CAIRN_OK && cairn_world_tick(*out) == transfer->tick;
    return valid ? CAIRN_LOCKSTEP_LOADED : CAIRN_LOCKSTEP_STATE_MALFORMED;
}

static cairn_lockstep_verdict load_state(cairn_lockstep *lockstep) {
    if (lockstep->timeline.follows) {
        cairn_timeline_adopt_nothing(&lockstep->timeline);
        lockstep->states_loaded++;
        return CAIRN_LOCKSTEP_LOADED;
    }
    cairn_world *world = NULL;
    cairn_lockstep_verdict verdict = decode_world(lockstep, &world);
    if (verdict != CAIRN_LOCKSTEP_LOADED) {
        cairn_world_destroy(world);
        return verdict;
    }
    bool room = create_picture(lockstep, cairn_world_settings(world));
    // Whole states, and what a history adds to each.
    const size_t all_states =
        lockstep->state_ticks * (cairn_world_save_size_max(world) / 2 * 3 + 65536);
    const size_t memory = all_states < lockstep->state_memory ? all_states : lockstep->state_memory;
    if (cairn_timeline_adopt(&lockstep->timeline, world, memory) != CAIRN_OK || !room) {
        return CAIRN_LOCKSTEP_NO_MEMORY;
    }
    lockstep->states_loaded++;
    cairn_lockstep_show(lockstep);
    return CAIRN_LOCKSTEP_LOADED;
}

cairn_lockstep_verdict cairn_lockstep_take_state(
    cairn_lockstep *lockstep, const cairn_state_message *piece) {
    cairn_lockstep_verdict verdict = CAIRN_LOCKSTEP_TAKEN;
    switch (cairn_state_transfer_take(&lockstep->transfer, piece)) {
    case CAIRN_STATE_OUT_OF_ORDER:
        return CAIRN_LOCKSTEP_OUT_OF_ORDER;
    case CAIRN_STATE_TOO_LARGE:
        return CAIRN_LOCKSTEP_STATE_TOO_LARGE;
    case CAIRN_STATE_NO_MEMORY:
        return CAIRN_LOCKSTEP_NO_MEMORY;
    case CAIRN_STATE_MORE:
    case CAIRN_STATE_WHOLE:
    case CAIRN_STATE_MALFORMED: // which unpacking finds out
        break;
    }
    // A world that is held already is shown, standing still, until the new state is complete.
    if (piece->offset == 0) {
        cairn_timeline_expect(&lockstep->timeline, piece->tick);
        cairn_early_ticks_clear(&lockstep->early);
        lockstep->held_end = UINT64_MAX;
        lockstep->newest_end = 0;
    }
    if (lockstep->transfer.received == lockstep->transfer.total_size) {
        verdict = load_state(lockstep);
        cairn_state_transfer_end(&lockstep->transfer);
    }
    return verdict;
}

static cairn_lockstep_verdict confirm_tick(
    cairn_lockstep *lockstep, const cairn_tick_record *record) {
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    cairn_command_coder coder = cairn_command_decoder(record->commands, record->commands_size);
    if (!record->alone && lockstep->held_end != record->tick) {
        return CAIRN_LOCKSTEP_GAP; // sent before the server knew that this client has a new state
    }
    const cairn_tick_commands before = {lockstep->held, record->alone ? 0 : lockstep->held_count};
    const uint32_t count =
        cairn_commands_decode(&coder, before, commands, CAIRN_COMMANDS_PER_TICK_MAX);
    if (!coder.ok) {
        return CAIRN_LOCKSTEP_TICK_MALFORMED;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (cairn_command_check(&commands[i]) != CAIRN_OK) {
            return CAIRN_LOCKSTEP_COMMAND_REFUSED;
        }
    }
    const uint64_t tick = record->tick;
    const cairn_timeline_verdict verdict =
        lockstep->confirm != NULL
            ? lockstep->confirm(lockstep->confirm_context, tick, commands, count, record->check)
            : cairn_timeline_confirm(&lockstep->timeline, tick, commands, count, record->check);
    if (verdict > CAIRN_TIMELINE_DIFFERED) {
        return verdict == CAIRN_TIMELINE_FULL ? CAIRN_LOCKSTEP_FULL : CAIRN_LOCKSTEP_NOT_EXPECTED;
    }
    memcpy(lockstep->held, commands, count * sizeof commands[0]);
    lockstep->held_count = count;
    lockstep->held_end = tick + 1;
    cairn_early_ticks_drop(&lockstep->early, tick);
    return CAIRN_LOCKSTEP_TAKEN;
}

static cairn_lockstep_verdict take_record(
    cairn_lockstep *lockstep, const cairn_tick_record *record) {
    const uint64_t next = lockstep->timeline.confirmed_end;
    if (record->tick > next) {
        const bool kept = cairn_early_ticks_put(&lockstep->early, next, record);
        return kept ? CAIRN_LOCKSTEP_EARLY : CAIRN_LOCKSTEP_GAP;
    }
    return record->tick < next ? CAIRN_LOCKSTEP_TAKEN : confirm_tick(lockstep, record);
}

// Confirms the early ticks whose predecessors have arrived.
static cairn_lockstep_verdict take_early(cairn_lockstep *lockstep) {
    cairn_lockstep_verdict verdict = CAIRN_LOCKSTEP_TAKEN;
    const cairn_tick_record *record;
    lockstep->delayed = false; // their messages were early
    while (verdict == CAIRN_LOCKSTEP_TAKEN && (record = cairn_early_ticks_find(&lockstep->early,
                                                   lockstep->timeline.confirmed_end)) != NULL) {
        verdict = confirm_tick(lockstep, record);
    }
    return verdict;
}

cairn_lockstep_verdict cairn_lockstep_take_ticks(
    cairn_lockstep *lockstep, const cairn_ticks_message *message) {
    cairn_lockstep_verdict verdict = CAIRN_LOCKSTEP_TAKEN;
    cairn_ticks_reader reader;
    cairn_tick_record record;
    if (!lockstep->timeline.expecting ||
        !cairn_ticks_reader_of(message->payload, message->payload_size, &reader)) {
        return CAIRN_LOCKSTEP_NOT_EXPECTED;
    }
    const uint64_t end = cairn_ticks_end(message);
    lockstep->newest_end = end > lockstep->newest_end ? end : lockstep->newest_end;
    while (cairn_ticks_read(&reader, &record)) {
        lockstep->delayed = cairn_reader_left(&reader.bytes) > 0;
        verdict = take_record(lockstep, &record);
        if (verdict > CAIRN_LOCKSTEP_EARLY) {
            return verdict;
        }
    }
    const cairn_lockstep_verdict early = take_early(lockstep);
    return early > CAIRN_LOCKSTEP_EARLY ? early : verdict;
}

_Static_assert(CAIRN_LOCKSTEP_TICKS_AHEAD + 384 <= CAIRN_LOCKSTEP_TICKS_MAX &&
                   CAIRN_LOCKSTEP_COMMANDS_AHEAD + 8192 <= CAIRN_LOCKSTEP_COMMANDS_MAX,
    "the server's queue has room beyond the acknowledged ticks");

uint64_t cairn_lockstep_acknowledged(const cairn_lockstep *lockstep) {
    const cairn_timeline *timeline = &lockstep->timeline;
    if (!lockstep->lags) {
        return timeline->confirmed_end;
    }
    const uint64_t from = cairn_timeline_confirmed_tick(timeline);
    const uint64_t most = from + CAIRN_LOCKSTEP_TICKS_AHEAD;
    uint32_t blocks = 0;
    uint64_t tick = from;
    while (tick < timeline->confirmed_end && tick < most) {
        const cairn_timeline_tick *held = cairn_timeline_tick_read(timeline, tick);
        blocks += cairn_command_pool_blocks(held->commands.count);
        if (blocks > CAIRN_LOCKSTEP_COMMANDS_AHEAD / CAIRN_COMMAND_BLOCK) {
            break;
        }
        tick++;
    }
    return tick;
}

uint64_t cairn_lockstep_behind(const cairn_lockstep *lockstep) {
    const uint64_t confirmed = cairn_timeline_confirmed_tick(&lockstep->timeline);
    return lockstep->newest_end > confirmed ? lockstep->newest_end - confirmed : 0;
}

uint32_t cairn_lockstep_waiting(const cairn_lockstep *lockstep) {
    return (uint32_t)(lockstep->timeline.confirmed_end -
                      cairn_timeline_confirmed_tick(&lockstep->timeline));
}

static bool is_spent(const cairn_lockstep_budget *budget, uint64_t begin_ns) {
    return budget->clock_ns != NULL && budget->time_ns > 0 &&
           budget->clock_ns(budget->clock_context) - begin_ns >= budget->time_ns;
}

uint32_t cairn_lockstep_advance(
    cairn_lockstep *lockstep, double show_tick, const cairn_lockstep_budget *budget) {
    CAIRN_ASSERT(budget->ticks_max > 0);
    cairn_timeline *timeline = &lockstep->timeline;
    const uint64_t begin_ns =
        budget->clock_ns != NULL ? budget->clock_ns(budget->clock_context) : 0;
    uint32_t steps = 0;
    while (steps < budget->ticks_max && (double)timeline->head_tick < show_tick &&
           (steps == 0 || !is_spent(budget, begin_ns)) &&
           cairn_timeline_step(timeline) == CAIRN_TIMELINE_STEPPED) {
        if (timeline->world != NULL) {
            cairn_lockstep_show(lockstep);
        }
        steps++;
    }
    CAIRN_ASSERT(steps <= budget->ticks_max);
    lockstep->lags = (double)timeline->head_tick < show_tick;
    return steps;
}

uint32_t cairn_lockstep_roots(
    const cairn_lockstep *lockstep, cairn_wire_root *out, uint32_t count_max) {
    const cairn_timeline *timeline = &lockstep->timeline;
    const uint64_t end = cairn_timeline_confirmed_tick(timeline);
    const uint64_t held = end - timeline->first;
    const uint32_t count = held < count_max ? (uint32_t)held : count_max;
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t tick = end - count + i;
        CAIRN_ASSERT(tick >= timeline->first && tick < timeline->head_tick);
        const cairn_timeline_tick *of_tick = cairn_timeline_tick_read(timeline, tick);
        if (!timeline->follows || of_tick->check.full) {
            out[known++] =
                (cairn_wire_root){.tick = tick + 1, .lo = of_tick->root.lo, .hi = of_tick->root.hi};
        }
    }
    return known;
}
