// SPDX-License-Identifier: MIT
#include "tests/kit/packed.h"

#include "base/assert.h"

static uint8_t payloads[KIT_PAYLOADS][64 * 1024];
static uint32_t next;

static uint8_t *next_payload(void) {
    next = (next + 1) % KIT_PAYLOADS;
    return payloads[next];
}

cairn_message kit_input(const cairn_input_head *head, const cairn_wire_input *inputs) {
    cairn_input_head all = *head;
    uint8_t *bytes = next_payload();
    all.parts = 1;
    all.first_tick = head->input_count > 0 ? inputs[0].tick : 0;
    const size_t size =
        cairn_input_payload_write(&all, inputs, (cairn_tick_commands){.count = 0}, bytes);
    return (cairn_message){
        .kind = CAIRN_MESSAGE_INPUT, .input = {.payload = bytes, .payload_size = (uint32_t)size}};
}

cairn_message kit_ticks(const cairn_ticks_head *head, const cairn_wire_tick *ticks,
    uint32_t tick_count, const cairn_command *commands) {
    uint8_t *bytes = next_payload();
    cairn_ticks_head first = *head;
    first.first_tick = tick_count > 0 ? ticks[0].tick : 0;
    cairn_ticks_writer writer = cairn_ticks_writer_of(&first, bytes, sizeof payloads[0]);
    for (uint32_t i = 0; i < tick_count; ++i) {
        static uint8_t packed[CAIRN_TICK_COMMANDS_SIZE_MAX];
        cairn_command_coder coder = cairn_command_encoder(packed, sizeof packed);
        cairn_commands_encode(&coder, (cairn_tick_commands){.count = 0},
            (cairn_tick_commands){
                ticks[i].command_count > 0 ? commands + ticks[i].first_command : commands,
                ticks[i].command_count});
        const cairn_tick_record record = {.tick = ticks[i].tick,
            .alone = true,
            .commands = packed,
            .commands_size = (uint32_t)cairn_command_encoder_finish(&coder),
            .check = {.root = {.lo = ticks[i].root_lo, .hi = ticks[i].root_hi}, .full = true}};
        cairn_ticks_write(&writer, &record);
    }
    CAIRN_ASSERT(writer.bytes.ok);
    return (cairn_message){.kind = CAIRN_MESSAGE_TICKS,
        .ticks = {.payload = bytes, .payload_size = (uint32_t)writer.bytes.at}};
}
