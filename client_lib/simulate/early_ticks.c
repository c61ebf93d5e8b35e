// SPDX-License-Identifier: MIT
#include "client_lib/simulate/early_ticks.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

cairn_status cairn_early_ticks_create(cairn_early_ticks *early) {
    *early = (cairn_early_ticks){.bytes = malloc(CAIRN_EARLY_BYTES_MAX)};
    return early->bytes != NULL ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

void cairn_early_ticks_destroy(cairn_early_ticks *early) {
    free(early->bytes);
    *early = (cairn_early_ticks){0};
}

void cairn_early_ticks_clear(cairn_early_ticks *early) {
    memset(early->ticks, 0, sizeof early->ticks);
    early->used = 0;
}

// The bytes of later records move down.
static void free_tick(cairn_early_ticks *early, cairn_early_tick *tick) {
    const uint32_t size = tick->record.commands_size;
    CAIRN_ASSERT(tick->held && tick->place + size <= early->used);
    memmove(early->bytes + tick->place, early->bytes + tick->place + size,
        early->used - tick->place - size);
    early->used -= size;
    tick->held = false;
    for (uint32_t i = 0; i < CAIRN_EARLY_TICKS_MAX; i++) {
        cairn_early_tick *other = &early->ticks[i];
        other->place -= other->held && other->place > tick->place ? size : 0;
        other->record.commands = early->bytes + other->place;
    }
}

bool cairn_early_ticks_put(
    cairn_early_ticks *early, uint64_t next, const cairn_tick_record *record) {
    if (record->tick < next || record->tick - next >= CAIRN_EARLY_TICKS_MAX) {
        return false;
    }
    cairn_early_tick *tick = &early->ticks[record->tick % CAIRN_EARLY_TICKS_MAX];
    if (tick->held && tick->record.tick == record->tick) {
        return true;
    }
    if (tick->held) { // a tick that was confirmed long ago
        free_tick(early, tick);
    }
    if (record->commands_size > CAIRN_EARLY_BYTES_MAX - early->used) {
        return false;
    }
    *tick = (cairn_early_tick){.held = true, .place = early->used, .record = *record};
    tick->record.commands = early->bytes + tick->place;
    if (record->commands_size > 0) {
        memcpy(early->bytes + tick->place, record->commands, record->commands_size);
    }
    early->used += record->commands_size;
    return true;
}

const cairn_tick_record *cairn_early_ticks_find(const cairn_early_ticks *early, uint64_t tick) {
    const cairn_early_tick *entry = &early->ticks[tick % CAIRN_EARLY_TICKS_MAX];
    return entry->held && entry->record.tick == tick ? &entry->record : NULL;
}

void cairn_early_ticks_drop(cairn_early_ticks *early, uint64_t tick) {
    cairn_early_tick *entry = &early->ticks[tick % CAIRN_EARLY_TICKS_MAX];
    if (entry->held && entry->record.tick <= tick) {
        free_tick(early, entry);
    }
}

uint64_t cairn_early_ticks_mask(const cairn_early_ticks *early, uint64_t next) {
    uint64_t mask = 0;
    for (uint32_t i = 0; i < 64; i++) {
        mask |= (uint64_t)(cairn_early_ticks_find(early, next + 1 + i) != NULL) << i;
    }
    return mask;
}
