// SPDX-License-Identifier: MIT
#include "server/room/game_log.h"

#include <stdlib.h>

#include "base/assert.h"

void cairn_game_log_destroy(cairn_game_log *log) {
    free(log->ring);
    *log = (cairn_game_log){0};
}

void cairn_game_log_add(cairn_game_log *log, const cairn_world *world, uint32_t kind) {
    uint32_t count = 0;
    const cairn_game_message *sent = cairn_world_game_messages(world, &count);
    if (count > 0 && log->ring == NULL) {
        log->ring = calloc(CAIRN_GAME_LOG_CAPACITY, sizeof *log->ring);
    }
    for (uint32_t i = 0; log->ring != NULL && i < count; ++i) {
        if (sent[i].kind == kind) {
            log->ring[log->written % CAIRN_GAME_LOG_CAPACITY] =
                (cairn_game_record){.tick = cairn_world_tick(world), .message = sent[i]};
            log->written += 1;
        }
    }
}

const cairn_game_record *cairn_game_log_next(
    const cairn_game_log *log, uint32_t slot, uint64_t *next, uint64_t *missed) {
    CAIRN_ASSERT(*next <= log->written);
    if (log->written - *next > CAIRN_GAME_LOG_CAPACITY) {
        const uint64_t oldest = log->written - CAIRN_GAME_LOG_CAPACITY;
        *missed += oldest - *next;
        *next = oldest;
    }
    for (; *next < log->written; ++*next) {
        const cairn_game_record *record = &log->ring[*next % CAIRN_GAME_LOG_CAPACITY];
        if (record->message.slot == slot || record->message.slot == CAIRN_SLOT_ALL) {
            return record;
        }
    }
    return NULL;
}
