// SPDX-License-Identifier: MIT
// Any bytes as the commands of three ticks, one after the other: refused, or commands that are
// coded and decoded to themselves. The first byte chooses the limit and what was held before.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "compress/command_coder.h"
#include "tests/kit/exact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 64, PACKET_MAX = 48 * (MOST + 1) };

static void expect_same(cairn_tick_commands before, cairn_tick_commands tick) {
    uint8_t packet[PACKET_MAX];
    cairn_command again[MOST];
    cairn_command_coder encoder = cairn_command_encoder(packet, sizeof packet);
    cairn_commands_encode(&encoder, before, tick);
    const size_t size = cairn_command_encoder_finish(&encoder);
    CAIRN_ASSERT(size <= sizeof packet);
    cairn_command_coder decoder = cairn_command_decoder(packet, size);
    CAIRN_ASSERT(cairn_commands_decode(&decoder, before, again, MOST) == tick.count && decoder.ok);
    CAIRN_ASSERT(
        tick.count == 0 || memcmp(again, tick.commands, tick.count * sizeof again[0]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) {
        return 0;
    }
    cairn_command ticks[2][MOST];
    cairn_tick_commands before = {ticks[0], data[0] % 4};
    for (uint32_t i = 0; i < before.count; ++i) {
        ticks[0][i] = (cairn_command){.kind = CAIRN_COMMAND_INPUT,
            .slot = i * data[0],
            .sequence = data[0],
            .move = {0.5f, 0.3f, 1.0f}};
    }
    uint8_t *exact = kit_exact_copy(data + 1, size - 1);
    cairn_command_coder decoder = cairn_command_decoder(exact, size - 1);
    for (uint32_t i = 1; i <= 3; ++i) {
        cairn_command *tick = ticks[i % 2];
        const uint32_t count = cairn_commands_decode(&decoder, before, tick, MOST);
        if (!decoder.ok) {
            break;
        }
        expect_same(before, (cairn_tick_commands){tick, count});
        before = (cairn_tick_commands){tick, count};
    }
    free(exact);
    return 0;
}
