// SPDX-License-Identifier: MIT
#include "server/replicate/tick_records.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

cairn_status cairn_tick_records_create(cairn_tick_records *records) {
    *records = (cairn_tick_records){.bytes = malloc(CAIRN_TICK_RECORDS_SIZE),
        .scratch = malloc(CAIRN_TICK_COMMANDS_SIZE_MAX),
        .message = malloc(CAIRN_TICK_MESSAGE_SIZE_MAX)};
    return records->bytes != NULL && records->scratch != NULL && records->message != NULL
               ? CAIRN_OK
               : CAIRN_OUT_OF_MEMORY;
}

void cairn_tick_records_destroy(cairn_tick_records *records) {
    free(records->bytes);
    free(records->scratch);
    free(records->message);
    *records = (cairn_tick_records){0};
}

void cairn_tick_records_forget(cairn_tick_records *records) {
    memset(records->held, 0, sizeof records->held);
    records->next = 0;
    records->shared.ticks = 0;
}

static cairn_tick_commands commands_of(const cairn_command_log *log, uint64_t tick) {
    cairn_tick_commands of_tick;
    of_tick.commands = cairn_command_log_commands(log, tick, &of_tick.count);
    return of_tick;
}

static uint32_t encode(
    cairn_tick_records *records, const cairn_command_log *log, uint64_t tick, bool alone) {
    cairn_command_coder coder =
        cairn_command_encoder(records->scratch, CAIRN_TICK_COMMANDS_SIZE_MAX);
    const cairn_tick_commands before =
        alone ? (cairn_tick_commands){.count = 0} : commands_of(log, tick - 1);
    cairn_commands_encode(&coder, before, commands_of(log, tick));
    const size_t size = cairn_command_encoder_finish(&coder);
    CAIRN_ASSERT(size <= CAIRN_TICK_COMMANDS_SIZE_MAX);
    return (uint32_t)size;
}

static bool overlap(const struct cairn_held_record *record, uint32_t place, uint32_t size) {
    return record->place < place + size && place < record->place + record->size;
}

// Keeps the record in `scratch`; it takes the place of the oldest.
static void keep(cairn_tick_records *records, uint64_t tick, uint32_t size) {
    const uint32_t place = records->next + size <= CAIRN_TICK_RECORDS_SIZE ? records->next : 0;
    for (uint32_t i = 0; i < CAIRN_TICK_RECORDS_HELD; ++i) {
        if (overlap(&records->held[i], place, size)) {
            records->held[i].end_tick = 0;
        }
    }
    memcpy(records->bytes + place, records->scratch, size);
    records->held[tick % CAIRN_TICK_RECORDS_HELD] =
        (struct cairn_held_record){.end_tick = tick + 1, .place = place, .size = size};
    records->next = place + size;
}

cairn_tick_record cairn_tick_record_of(
    cairn_tick_records *records, const cairn_command_log *log, uint64_t tick, bool alone) {
    const bool key = cairn_tick_is_key(tick);
    const bool first = tick == cairn_command_log_oldest(log);
    struct cairn_held_record *held = &records->held[tick % CAIRN_TICK_RECORDS_HELD];
    cairn_tick_record record = {
        .tick = tick, .alone = alone || key || first, .check = {.full = true}};
    const bool logged = cairn_command_log_root(log, tick, &record.check.root);
    CAIRN_ASSERT(logged);
    if (record.alone && !key) {
        record.commands_size = encode(records, log, tick, true);
        record.commands = records->scratch;
        return record;
    }
    if (held->end_tick != tick + 1) {
        const uint32_t size = encode(records, log, tick, key);
        if (size > CAIRN_TICK_RECORDS_SIZE / 4) {
            record.commands_size = size;
            record.commands = records->scratch;
            return record;
        }
        keep(records, tick, size);
    }
    record.commands_size = held->size;
    record.commands = records->bytes + held->place;
    return record;
}
