// SPDX-License-Identifier: MIT
// Requests of any content, as the codec lets them through, against a server with control: whatever
// is asked, the server answers each once and its rooms go on.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "tests/server/control_kit.h"

static story s; // too large for a stack
static story_answer answer;
static bool started;

// As small as most fields of a sensible request, and sometimes any.
static uint64_t number(cairn_reader *reader) {
    const uint8_t kind = cairn_read_u8(reader);
    return kind < 200 ? kind % 80 : kind < 240 ? cairn_read_u32(reader) : cairn_read_u64(reader);
}

static float real(cairn_reader *reader) {
    const uint8_t kind = cairn_read_u8(reader);
    const float any = cairn_read_f32(reader);
    return kind < 200 ? (float)kind / 16.0f - 6.0f : any - any == 0.0f ? any : 0.0f;
}

static const char *name(cairn_reader *reader) {
    static const char *const names[] = {"", "main", "a", "b", "test", "x y", "..", "other"};
    return names[cairn_read_u8(reader) % 8];
}

static cairn_control request(cairn_reader *reader, float numbers[8], uint8_t bytes[64]) {
    const uint32_t verb = cairn_read_u8(reader) % (CAIRN_CONTROL_VERB_COUNT + 2);
    cairn_control ask = {.verb = verb,
        .room = name(reader),
        .name = name(reader),
        .tick = number(reader),
        .count = (uint32_t)number(reader),
        .seed = number(reader),
        .body = (uint32_t)number(reader),
        .mask = (uint32_t)number(reader),
        .numbers = numbers,
        .number_count = cairn_read_u8(reader) % 9,
        .bytes = bytes,
        .byte_count = cairn_read_u8(reader) % 65};
    for (uint32_t i = 0; i < ask.number_count; ++i) {
        numbers[i] = real(reader);
    }
    cairn_read_bytes(reader, bytes, ask.byte_count);
    // Long runs are tested elsewhere, and take long.
    const bool runs = verb == CAIRN_CONTROL_STEP || verb == CAIRN_CONTROL_RUN_UNTIL;
    ask.count = runs ? ask.count % 200 : ask.count;
    ask.tick = runs ? ask.tick % 400 : ask.tick;
    return ask;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cairn_reader reader = cairn_reader_of(data, size);
    if (started) {
        story_end(&s);
    }
    kit_start(&s, &answer);
    started = true;
    for (uint32_t i = 0; i < 12 && cairn_reader_left(&reader) > 0; ++i) {
        float numbers[8];
        uint8_t bytes[64];
        kit_say(&s, 0, request(&reader, numbers, bytes));
        story_run_ms(&s, 8);
    }
    story_run_ms(&s, 100);
    CAIRN_ASSERT(story_statistics(&s).protocol_violations == 0);
    CAIRN_ASSERT(s.clients[0].roots_wrong == 0);
    CAIRN_ASSERT(kit_world(&s) != NULL);
    return 0;
}
