// SPDX-License-Identifier: MIT
#include "client_lib/simulate/early_ticks.h"

#include "base/assert.h"

cairn_status cairn_early_ticks_create(cairn_early_ticks *early) {
    *early = (cairn_early_ticks){0};
    // Each tick may leave a block partly empty.
    return cairn_command_pool_create(&early->commands,
        cairn_command_pool_blocks(CAIRN_EARLY_COMMANDS_MAX) + CAIRN_EARLY_TICKS_MAX);
}

void cairn_early_ticks_destroy(cairn_early_ticks *early) {
    cairn_command_pool_destroy(&early->commands);
}

void cairn_early_ticks_clear(cairn_early_ticks *early) {
    for (uint32_t i = 0; i < CAIRN_EARLY_TICKS_MAX; i++) {
        early->ticks[i] = (cairn_early_tick){0};
    }
    cairn_command_pool_clear(&early->commands);
}

static void free_tick(cairn_early_ticks *early, cairn_early_tick *held) {
    CAIRN_ASSERT(held->held);
    cairn_command_pool_release(&early->commands, &held->commands);
    held->held = false;
}

bool cairn_early_ticks_put(cairn_early_ticks *early, uint64_t next, uint64_t tick,
    const cairn_command *commands, uint32_t count, cairn_hash128 root) {
    CAIRN_ASSERT(count <= CAIRN_COMMANDS_PER_TICK_MAX);
    if (tick < next || tick - next >= CAIRN_EARLY_TICKS_MAX) {
        return false;
    }
    cairn_early_tick *entry = &early->ticks[tick % CAIRN_EARLY_TICKS_MAX];
    if (entry->held && entry->tick == tick) {
        return true;
    }
    if (entry->held) { // a tick that was confirmed long ago
        free_tick(early, entry);
    }
    if (cairn_command_pool_blocks(count) > early->commands.free_count) {
        return false;
    }
    *entry = (cairn_early_tick){.held = true,
        .tick = tick,
        .root = root,
        .commands = cairn_command_pool_add(&early->commands, commands, count)};
    return true;
}

bool cairn_early_ticks_take(cairn_early_ticks *early, uint64_t tick, cairn_command *out,
    uint32_t *count, cairn_hash128 *root) {
    cairn_early_tick *entry = &early->ticks[tick % CAIRN_EARLY_TICKS_MAX];
    if (!entry->held || entry->tick != tick) {
        return false;
    }
    cairn_command_pool_read(&early->commands, entry->commands, out);
    CAIRN_ASSERT(entry->commands.count <= CAIRN_COMMANDS_PER_TICK_MAX);
    *count = entry->commands.count;
    *root = entry->root;
    free_tick(early, entry);
    return true;
}

void cairn_early_ticks_drop(cairn_early_ticks *early, uint64_t tick) {
    cairn_early_tick *entry = &early->ticks[tick % CAIRN_EARLY_TICKS_MAX];
    if (entry->held && entry->tick <= tick) {
        free_tick(early, entry);
    }
}
