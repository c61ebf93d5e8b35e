// SPDX-License-Identifier: MIT
#include "recording/desync_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "recording/recorder.h"

typedef struct buffer {
    uint8_t *bytes;
    size_t size;
    size_t capacity;
} buffer;

static bool append_bytes(void *user, const uint8_t *bytes, size_t size) {
    buffer *b = user;
    CAIRN_ASSERT(b->size <= b->capacity);
    if (b->capacity - b->size < size) {
        const size_t capacity = 2 * (b->size + size);
        uint8_t *wider = realloc(b->bytes, capacity);
        if (wider == NULL) {
            return false;
        }
        b->bytes = wider;
        b->capacity = capacity;
    }
    memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
    return true;
}

static bool record_step(cairn_recorder *recorder, const cairn_desync_report *c) {
    CAIRN_ASSERT(c->command_count <= CAIRN_COMMANDS_PER_TICK_MAX);
    const cairn_chunk_desync *desync = &c->desync;
    if (!cairn_recorder_start(recorder, c->before)) {
        return false;
    }
    cairn_recorder_tick(
        recorder, desync->head.tick - 1, c->commands, c->command_count, desync->head.root_server);
    if (c->after != NULL) {
        cairn_recorder_keyframe(recorder, c->after);
    }
    cairn_recorder_desync(recorder, desync);
    cairn_recorder_end(recorder);
    return !cairn_recorder_failed(recorder);
}

// A recorder has memory for a chunk of that many commands.
_Static_assert(2 * CAIRN_DESYNC_STAGES_SIZE_MAX +
                       CAIRN_DESYNC_DIFFERENCES_MAX * sizeof(cairn_wire_difference) +
                       2 * CAIRN_TEXT_SIZE_MAX <=
                   CAIRN_COMMANDS_PER_TICK_MAX * sizeof(cairn_command),
    "what differs fits");

cairn_status cairn_desync_report_encode(
    const cairn_desync_report *report, uint8_t **bytes, size_t *size) {
    CAIRN_ASSERT(report->before != NULL && bytes != NULL && size != NULL);
    CAIRN_ASSERT(cairn_world_tick(report->before) + 1 == report->desync.head.tick);
    const size_t before_size = cairn_world_encode_size(report->before);
    const size_t after_size = report->after == NULL ? 0 : cairn_world_encode_size(report->after);
    buffer file = {.bytes = NULL};
    const cairn_recorder_config config = {.ticks_per_chunk = 1,
        .commands_per_tick_max = CAIRN_COMMANDS_PER_TICK_MAX,
        .state_size_max = before_size > after_size ? before_size : after_size,
        .scene_name = report->scene_name,
        .packing = report->packing,
        .write = append_bytes,
        .user = &file};
    cairn_recorder *recorder = NULL;
    cairn_status status = cairn_recorder_create(&config, &recorder);
    if (status == CAIRN_OK && !record_step(recorder, report)) {
        status = CAIRN_OUT_OF_MEMORY;
    }
    cairn_recorder_destroy(recorder);
    if (status != CAIRN_OK) {
        free(file.bytes);
        file = (buffer){.bytes = NULL};
    }
    CAIRN_ASSERT((status == CAIRN_OK) == (file.bytes != NULL));
    *bytes = file.bytes;
    *size = file.size;
    return status;
}
