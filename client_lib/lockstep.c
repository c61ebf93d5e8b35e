// SPDX-License-Identifier: MIT
#include "client_lib/lockstep.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/rules_library.h"
#include "bridge/wire.h"

// The last two steps are enough to show; two more bridge a burst of steps in one advance.
#define SNAPSHOTS 4

const char *cairn_lockstep_verdict_text(cairn_lockstep_verdict verdict) {
    static const char *const texts[CAIRN_LOCKSTEP_VERDICT_COUNT] = {
        [CAIRN_LOCKSTEP_TAKEN] = "taken",
        [CAIRN_LOCKSTEP_LOADED] = "loaded",
        [CAIRN_LOCKSTEP_OUT_OF_ORDER] = "state piece out of order",
        [CAIRN_LOCKSTEP_NOT_EXPECTED] = "ticks before any state",
        [CAIRN_LOCKSTEP_GAP] = "ticks that do not continue those held",
        [CAIRN_LOCKSTEP_FULL] = "no room for more confirmed ticks",
        [CAIRN_LOCKSTEP_STATE_TOO_LARGE] = "the server's state is larger than state_size_max",
        [CAIRN_LOCKSTEP_STATE_MALFORMED] = "the server's state does not decode",
        [CAIRN_LOCKSTEP_RULES_UNKNOWN] = "the server's rules are not linked into this client",
        [CAIRN_LOCKSTEP_COMMAND_REFUSED] = "the server confirmed a command that no world takes",
        [CAIRN_LOCKSTEP_NO_MEMORY] = "no memory for the server's world",
    };
    return (uint32_t)verdict < CAIRN_LOCKSTEP_VERDICT_COUNT ? texts[verdict] : "unknown";
}

cairn_status cairn_lockstep_create(
    cairn_lockstep *lockstep, const cairn_rules *rules, uint32_t state_size_max) {
    *lockstep = (cairn_lockstep){.rules = rules, .first_difference_tick = UINT64_MAX};
    cairn_state_transfer_start(&lockstep->transfer, state_size_max);
    lockstep->commands = malloc(CAIRN_LOCKSTEP_COMMANDS_MAX * sizeof lockstep->commands[0]);
    return lockstep->commands != NULL ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

static void drop_world(cairn_lockstep *lockstep) {
    cairn_world_destroy(lockstep->world);
    lockstep->world = NULL;
    free(lockstep->scratch);
    lockstep->scratch = NULL;
    for (int i = 0; i < 2; i++) {
        free(lockstep->shape_ids[i]);
        lockstep->shape_ids[i] = NULL;
    }
    lockstep->shape_count = 0;
    lockstep->shape_revision++;
    cairn_snapshots_destroy(&lockstep->snapshots);
}

void cairn_lockstep_destroy(cairn_lockstep *lockstep) {
    drop_world(lockstep);
    cairn_state_transfer_end(&lockstep->transfer);
    free(lockstep->commands);
    *lockstep = (cairn_lockstep){0};
}

void cairn_lockstep_clear(cairn_lockstep *lockstep) {
    drop_world(lockstep);
    cairn_state_transfer_end(&lockstep->transfer);
    cairn_command *commands = lockstep->commands;
    uint32_t state_size_max = lockstep->transfer.size_max;
    *lockstep = (cairn_lockstep){
        .rules = lockstep->rules, .commands = commands, .first_difference_tick = UINT64_MAX};
    cairn_state_transfer_start(&lockstep->transfer, state_size_max);
}

// From here on every tick from `tick` on is wanted, and none is held.
static void expect_from(cairn_lockstep *lockstep, uint64_t tick) {
    lockstep->expecting = true;
    lockstep->first_tick = tick;
    lockstep->next_tick = tick;
    lockstep->commands_in = 0;
    lockstep->commands_out = 0;
    lockstep->root_count = 0;
}

static bool rules_of(const cairn_lockstep *lockstep, const char *name, const cairn_rules **out) {
    if (lockstep->rules != NULL && strcmp(lockstep->rules->name, name) == 0) {
        *out = lockstep->rules;
        return true;
    }
    return cairn_rules_find(name, out);
}

static void list_shapes(cairn_lockstep *lockstep) {
    cairn_shape_id *before = lockstep->shape_ids[0];
    cairn_shape_id *now = lockstep->shape_ids[1];
    uint32_t capacity = cairn_world_settings(lockstep->world)->shape_capacity;
    uint32_t count = cairn_world_shapes(lockstep->world, now, capacity);
    bool same = count == lockstep->shape_count && memcmp(before, now, count * sizeof *now) == 0;
    lockstep->shape_revision += same ? 0 : 1;
    lockstep->shape_count = count;
    lockstep->shape_ids[0] = now;
    lockstep->shape_ids[1] = before;
}

static void show_step(cairn_lockstep *lockstep) {
    cairn_snapshots *snapshots = &lockstep->snapshots;
    cairn_wire_body *bodies = cairn_snapshots_room(snapshots);
    uint32_t count =
        cairn_world_wire_bodies(lockstep->world, lockstep->scratch, bodies, snapshots->bodies_max);
    CAIRN_ASSERT(count <= snapshots->bodies_max);
    cairn_snapshot_refusal refusal =
        cairn_snapshots_settle(snapshots, cairn_world_tick(lockstep->world), count);
    CAIRN_ASSERT(refusal == CAIRN_SNAPSHOT_TAKEN);
    list_shapes(lockstep);
}

static bool make_world(cairn_lockstep *lockstep, const cairn_world_def *def) {
    drop_world(lockstep);
    lockstep->scratch = malloc(def->body_capacity * sizeof lockstep->scratch[0]);
    for (int i = 0; i < 2; i++) {
        lockstep->shape_ids[i] = malloc(def->shape_capacity * sizeof lockstep->shape_ids[i][0]);
    }
    bool listed = lockstep->shape_ids[0] != NULL && lockstep->shape_ids[1] != NULL;
    return lockstep->scratch != NULL && listed &&
           cairn_world_create(def, &lockstep->world) == CAIRN_OK &&
           cairn_snapshots_create(&lockstep->snapshots, SNAPSHOTS, def->body_capacity) == CAIRN_OK;
}

static cairn_lockstep_verdict load(cairn_lockstep *lockstep) {
    const cairn_state_transfer *transfer = &lockstep->transfer;
    cairn_world_def def;
    char rules_name[32];
    if (cairn_world_def_of_encoding(transfer->bytes, transfer->total_size, &def, rules_name) !=
        CAIRN_OK) {
        return CAIRN_LOCKSTEP_STATE_MALFORMED;
    }
    if (!rules_of(lockstep, rules_name, &def.rules)) {
        return CAIRN_LOCKSTEP_RULES_UNKNOWN;
    }
    if (!make_world(lockstep, &def)) {
        drop_world(lockstep);
        return CAIRN_LOCKSTEP_NO_MEMORY;
    }
    cairn_status status =
        cairn_world_decode(lockstep->world, transfer->bytes, transfer->total_size, NULL);
    if (status != CAIRN_OK || cairn_world_tick(lockstep->world) != transfer->tick) {
        drop_world(lockstep);
        return CAIRN_LOCKSTEP_STATE_MALFORMED;
    }
    lockstep->states_loaded++;
    show_step(lockstep);
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
        break;
    }
    // The world held so far, if any, is shown standing still until the new one is whole.
    if (piece->offset == 0) {
        expect_from(lockstep, piece->tick);
    }
    if (lockstep->transfer.received == lockstep->transfer.total_size) {
        verdict = load(lockstep);
        cairn_state_transfer_end(&lockstep->transfer);
    }
    return verdict;
}

static uint32_t commands_held(const cairn_lockstep *lockstep) {
    return (uint32_t)(lockstep->commands_in - lockstep->commands_out);
}

static cairn_lockstep_verdict put_in(
    cairn_lockstep *lockstep, const cairn_wire_tick *tick, const cairn_wire_command *commands) {
    bool full = lockstep->next_tick - lockstep->first_tick == CAIRN_LOCKSTEP_TICKS_MAX ||
                commands_held(lockstep) + tick->command_count > CAIRN_LOCKSTEP_COMMANDS_MAX;
    if (full) {
        return CAIRN_LOCKSTEP_FULL;
    }
    for (uint32_t i = 0; i < tick->command_count; i++) {
        uint64_t place = (lockstep->commands_in + i) % CAIRN_LOCKSTEP_COMMANDS_MAX;
        if (cairn_command_of_wire(&commands[i], &lockstep->commands[place]) != CAIRN_OK) {
            return CAIRN_LOCKSTEP_COMMAND_REFUSED;
        }
    }
    lockstep->commands_in += tick->command_count;
    lockstep->ticks[tick->tick % CAIRN_LOCKSTEP_TICKS_MAX] = (cairn_lockstep_tick){
        .root = {.lo = tick->root_lo, .hi = tick->root_hi}, .command_count = tick->command_count};
    lockstep->next_tick++;
    return CAIRN_LOCKSTEP_TAKEN;
}

cairn_lockstep_verdict cairn_lockstep_take_ticks(
    cairn_lockstep *lockstep, const cairn_ticks_message *message) {
    if (!lockstep->expecting) {
        return CAIRN_LOCKSTEP_NOT_EXPECTED;
    }
    for (uint32_t i = 0; i < message->tick_count; i++) {
        const cairn_wire_tick *tick = &message->ticks[i];
        if (tick->tick < lockstep->next_tick) {
            continue;
        }
        if (tick->tick > lockstep->next_tick) {
            return CAIRN_LOCKSTEP_GAP;
        }
        if (tick->command_count > CAIRN_COMMANDS_PER_TICK_MAX) {
            return CAIRN_LOCKSTEP_COMMAND_REFUSED;
        }
        // A message without any command may have none to point at.
        const cairn_wire_command *commands =
            tick->command_count > 0 ? message->commands + tick->first_command : NULL;
        cairn_lockstep_verdict verdict = put_in(lockstep, tick, commands);
        if (verdict != CAIRN_LOCKSTEP_TAKEN) {
            return verdict;
        }
    }
    return CAIRN_LOCKSTEP_TAKEN;
}

static void compare(cairn_lockstep *lockstep, cairn_hash128 own, cairn_hash128 servers) {
    uint64_t tick = cairn_world_tick(lockstep->world);
    lockstep->roots_compared++;
    if (!cairn_hash_equal(own, servers)) {
        lockstep->roots_differed++;
        bool first = lockstep->first_difference_tick == UINT64_MAX;
        lockstep->first_difference_tick = first ? tick : lockstep->first_difference_tick;
    }
    lockstep->roots[tick % CAIRN_LOCKSTEP_ROOTS_MAX] =
        (cairn_wire_root){.tick = tick, .lo = own.lo, .hi = own.hi};
    lockstep->root_tick = tick;
    lockstep->root_count += lockstep->root_count < CAIRN_LOCKSTEP_ROOTS_MAX ? 1 : 0;
}

static void step(cairn_lockstep *lockstep) {
    const cairn_lockstep_tick *tick =
        &lockstep->ticks[lockstep->first_tick % CAIRN_LOCKSTEP_TICKS_MAX];
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    CAIRN_ASSERT(tick->command_count <= commands_held(lockstep));
    for (uint32_t i = 0; i < tick->command_count; i++) {
        uint64_t place = (lockstep->commands_out + i) % CAIRN_LOCKSTEP_COMMANDS_MAX;
        commands[i] = lockstep->commands[place];
    }
    // The server's order is this one already; a server that broke it must not trip an assert.
    cairn_commands_sort(commands, tick->command_count);
    cairn_world_step(lockstep->world, commands, tick->command_count);
    lockstep->commands_out += tick->command_count;
    lockstep->first_tick++;
    lockstep->steps++;
    compare(lockstep, cairn_world_hash_read(lockstep->world).full, tick->root);
    show_step(lockstep);
}

uint32_t cairn_lockstep_waiting(const cairn_lockstep *lockstep) {
    return (uint32_t)(lockstep->next_tick - lockstep->first_tick);
}

// Not while a state is under way: the ticks held continue that one, not the world shown.
static bool can_step(const cairn_lockstep *lockstep) {
    return lockstep->world != NULL && cairn_lockstep_waiting(lockstep) > 0 &&
           cairn_world_tick(lockstep->world) == lockstep->first_tick;
}

uint32_t cairn_lockstep_advance(cairn_lockstep *lockstep, double show_tick, uint32_t ticks_max) {
    uint32_t steps = 0;
    while (steps < ticks_max && can_step(lockstep) &&
           (double)cairn_world_tick(lockstep->world) < show_tick) {
        step(lockstep);
        steps++;
    }
    return steps;
}

uint32_t cairn_lockstep_roots(
    const cairn_lockstep *lockstep, cairn_wire_root *out, uint32_t count_max) {
    uint32_t count = lockstep->root_count < count_max ? lockstep->root_count : count_max;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t tick = lockstep->root_tick - count + 1 + i;
        out[i] = lockstep->roots[tick % CAIRN_LOCKSTEP_ROOTS_MAX];
    }
    return count;
}
