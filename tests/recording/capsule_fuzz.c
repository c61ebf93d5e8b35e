// SPDX-License-Identifier: MIT
// Any bytes as the desync chunk of a capsule with valid other chunks: refused with an error text,
// or a capsule of the tick after its state.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "recording/desync_reader.h"
#include "recording/desync_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PREFIX_SIZE_MAX (1 << 20)

static uint8_t prefix[PREFIX_SIZE_MAX]; // file head, start and ticks
static size_t prefix_size;

// The bytes of a capsule before its desync chunk.
static void write_prefix(void) {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = 4;
    def.shape_capacity = 4;
    def.contact_capacity = 4;
    def.joint_capacity = 0;
    def.hull_capacity = 0;
    def.mesh_capacity = 0;
    def.mesh_block_capacity = 0;
    def.event_capacity = 4;
    cairn_world *world = NULL;
    CAIRN_ASSERT(cairn_world_create(&def, &world) == CAIRN_OK);
    const cairn_desync_report report = {.scene_name = "",
        .before = world,
        .desync = {
            .head = {.tick = 1, .root_server = {.lo = 1}}, .build_client = "", .build_server = ""}};
    uint8_t *bytes = NULL;
    size_t size = 0;
    CAIRN_ASSERT(cairn_desync_report_encode(&report, &bytes, &size) == CAIRN_OK);
    cairn_recording_reader reader = cairn_recording_reader_of(bytes, size);
    cairn_recording_piece piece;
    while (cairn_recording_next(&reader, &piece) && piece.kind != CAIRN_CHUNK_DESYNC) {}
    CAIRN_ASSERT(piece.offset > 0 && piece.offset <= PREFIX_SIZE_MAX);
    memcpy(prefix, bytes, piece.offset);
    prefix_size = piece.offset;
    free(bytes);
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
