// SPDX-License-Identifier: MIT
#include "recording/desync_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "recording/recorder.h"

// ------------------------------------------------------------------------------------- writing

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

cairn_status cairn_desync_report_encode(
    const cairn_desync_report *report, uint8_t **bytes, size_t *size) {
    CAIRN_ASSERT(report->before != NULL && bytes != NULL && size != NULL);
    CAIRN_ASSERT(cairn_world_tick(report->before) + 1 == report->desync.head.tick);
    const size_t before_size = cairn_world_encode_size(report->before);
    const size_t after_size = report->after == NULL ? 0 : cairn_world_encode_size(report->after);
    const size_t state_size = before_size > after_size ? before_size : after_size;
    const size_t desync_size = 2 * CAIRN_DESYNC_STAGES_SIZE_MAX +
                               CAIRN_DESYNC_DIFFERENCES_MAX * sizeof(cairn_wire_difference) +
                               2 * CAIRN_TEXT_SIZE_MAX;
    buffer file = {.bytes = NULL};
    const cairn_recorder_config config = {.ticks_per_chunk = 1,
        .commands_per_tick_max = CAIRN_COMMANDS_PER_TICK_MAX,
        .state_size_max = state_size > desync_size ? state_size : desync_size,
        .scene_name = report->scene_name,
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

// ------------------------------------------------------------------------------------- reading

static bool read_start(cairn_desync_report_content *c, const cairn_rules *rules,
    char error[CAIRN_RECORDING_ERROR_SIZE]) {
    CAIRN_ASSERT(c->before == NULL);
    if (!cairn_chunk_reader_next(&c->walk)) {
        cairn_chunk_reader_end_text(&c->walk, error);
        return false;
    }
    snprintf(c->build, sizeof c->build, "%s", c->walk.chunk.start.build);
    cairn_recorded_refusal refusal;
    c->before = cairn_recorded_world_of_start(&c->walk.chunk.start, rules, &refusal, error);
    return c->before != NULL;
}

static bool read_commands(cairn_desync_report_content *c, char error[CAIRN_RECORDING_ERROR_SIZE]) {
    CAIRN_ASSERT(c->before != NULL);
    const cairn_chunk_ticks *ticks = &c->walk.chunk.ticks;
    c->has_tick = true;
    if (ticks->tick_count != 1 || ticks->ticks[0].tick != cairn_world_tick(c->before)) {
        snprintf(error, CAIRN_RECORDING_ERROR_SIZE,
            "not a desync capsule: it does not hold a state and exactly one tick after it");
        return false;
    }
    if (!cairn_recorded_commands(ticks, &ticks->ticks[0], c->commands, &c->command_count)) {
        snprintf(error, CAIRN_RECORDING_ERROR_SIZE, "it holds an invalid command");
        return false;
    }
    return true;
}

// The last chunk that is read, because its texts are valid only until the next.
static bool read_desync(cairn_desync_report_content *c, char error[CAIRN_RECORDING_ERROR_SIZE]) {
    CAIRN_ASSERT(c->before != NULL);
    c->desync = c->walk.chunk.desync;
    if (!c->has_tick || c->desync.head.tick != cairn_world_tick(c->before) + 1 ||
        (c->after != NULL && cairn_world_tick(c->after) != c->desync.head.tick)) {
        snprintf(error, CAIRN_RECORDING_ERROR_SIZE, "its chunks belong to different ticks");
        return false;
    }
    return true;
}

bool cairn_desync_report_open(cairn_desync_report_content *content, const uint8_t *bytes,
    size_t size, const cairn_rules *rules, char error[CAIRN_RECORDING_ERROR_SIZE]) {
    *content = (cairn_desync_report_content){.walk = cairn_chunk_reader_of(bytes, size)};
    error[0] = '\0';
    if (!read_start(content, rules, error)) {
        return false;
    }
    while (cairn_chunk_reader_next(&content->walk)) {
        switch (content->walk.chunk.kind) {
        case CAIRN_CHUNK_TICKS:
            if (!read_commands(content, error)) {
                return false;
            }
            break;
        case CAIRN_CHUNK_KEYFRAME: // the client's state, which may be invalid
            cairn_world_destroy(content->after);
            content->after = cairn_recorded_world_of_keyframe(&content->walk.chunk.keyframe,
                cairn_world_settings(content->before)->rules, content->after_refused);
            break;
        case CAIRN_CHUNK_DESYNC:
            return read_desync(content, error);
        default:
            break;
        }
    }
    cairn_chunk_reader_end_text(&content->walk, error);
    if (content->walk.valid) {
        snprintf(error, CAIRN_RECORDING_ERROR_SIZE, "not a desync capsule: it has no desync chunk");
    }
    return false;
}

void cairn_desync_report_close(cairn_desync_report_content *content) {
    cairn_world_destroy(content->before);
    cairn_world_destroy(content->after);
    cairn_chunk_reader_end(&content->walk);
    content->before = NULL;
    content->after = NULL;
}
