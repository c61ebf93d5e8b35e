// SPDX-License-Identifier: MIT
// Any bytes as the desync chunk of a capsule with valid other chunks: refused with an error text,
// or a capsule of the tick after its state.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "recording/desync_report.h"
#include "recording/recorder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PREFIX_SIZE_MAX (1 << 20)

static uint8_t prefix[PREFIX_SIZE_MAX]; // file head, start and ticks
static size_t prefix_size;

static bool append(void *user, const uint8_t *bytes, size_t size) {
    (void)user;
    CAIRN_ASSERT(size <= PREFIX_SIZE_MAX - prefix_size);
    memcpy(prefix + prefix_size, bytes, size);
    prefix_size += size;
    return true;
}

static void write_prefix(void) {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = 4;
    def.shape_capacity = 4;
    def.contact_capacity = 4;
    cairn_world *world = NULL;
    cairn_recorder *recorder = NULL;
    const cairn_recorder_config config = {.ticks_per_chunk = 1,
        .commands_per_tick_max = 1,
        .state_size_max = 1 << 16,
        .scene_name = "",
        .write = append};
    const bool made = cairn_world_create(&def, &world) == CAIRN_OK &&
                      cairn_recorder_create(&config, &recorder) == CAIRN_OK &&
                      cairn_recorder_start(recorder, world);
    CAIRN_ASSERT(made);
    cairn_recorder_tick(recorder, 0, NULL, 0, (cairn_hash128){.lo = 1});
    cairn_recorder_destroy(recorder);
    cairn_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (prefix_size == 0) {
        write_prefix();
    }
    if (size == 0) {
        return 0;
    }
    const cairn_recording_piece piece = {
        .kind = CAIRN_CHUNK_DESYNC, .tick = 1, .payload = data, .size = size, .raw_size = size};
    const cairn_recording_frame frame = cairn_recording_frame_of(&piece);
    const size_t whole = prefix_size + sizeof frame.head + size + frame.tail_size;
    uint8_t *bytes = malloc(whole);
    memcpy(bytes, prefix, prefix_size);
    memcpy(bytes + prefix_size, frame.head, sizeof frame.head);
    memcpy(bytes + prefix_size + sizeof frame.head, data, size);
    memcpy(bytes + whole - frame.tail_size, frame.tail, frame.tail_size);
    static cairn_desync_report_content content;
    char words[CAIRN_RECORDING_ERROR_SIZE];
    const bool open = cairn_desync_report_open(&content, bytes, whole, NULL, words);
    CAIRN_ASSERT(open == (words[0] == '\0'));
    CAIRN_ASSERT(!open || content.desync.head.tick == 1);
    cairn_desync_report_close(&content);
    free(bytes);
    return 0;
}
