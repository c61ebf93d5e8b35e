// SPDX-License-Identifier: MIT
#include "recording/desync_reader.h"

#include <stdio.h>

#include "base/assert.h"

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
