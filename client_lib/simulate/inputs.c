// SPDX-License-Identifier: MIT
#include "client_lib/simulate/inputs.h"

#include <string.h>

#include "base/assert.h"

void cairn_inputs_start(cairn_inputs *inputs, uint32_t redundancy, uint32_t parts) {
    CAIRN_ASSERT(redundancy < CAIRN_INPUTS_HELD_MAX);
    CAIRN_ASSERT(parts >= 1 && parts <= CAIRN_INPUT_COMMANDS_MAX);
    *inputs = (cairn_inputs){.redundancy = redundancy, .parts = parts};
}

uint32_t cairn_inputs_make(cairn_inputs *inputs, uint64_t tick) {
    const bool far_back = !inputs->running || tick + CAIRN_INPUTS_HELD_MAX < inputs->next_tick;
    const bool far_ahead = !far_back && tick >= inputs->next_tick + CAIRN_INPUTS_HELD_MAX;
    if (far_back || far_ahead) {
        inputs->skipped += far_ahead ? tick - inputs->next_tick : 0;
        inputs->running = true;
        inputs->next_tick = tick;
        inputs->count = 0;
    }
    uint32_t made = 0;
    for (; inputs->next_tick <= tick; inputs->next_tick++) {
        cairn_wire_input *input = inputs->ring[inputs->next_tick % CAIRN_INPUTS_HELD_MAX];
        for (uint32_t i = 0; i < inputs->parts; i++) {
            input[i] = inputs->held[i];
            input[i].tick = inputs->next_tick;
            input[i].sequence = inputs->next_sequence;
        }
        inputs->next_sequence++;
        inputs->count += inputs->count < CAIRN_INPUTS_HELD_MAX ? 1 : 0;
        made++;
    }
    inputs->made += made;
    CAIRN_ASSERT(inputs->count <= CAIRN_INPUTS_HELD_MAX && inputs->next_tick > tick);
    return made;
}

void cairn_inputs_acknowledge(cairn_inputs *inputs, uint64_t tick) {
    while (inputs->count > 0 && inputs->next_tick - inputs->count <= tick) {
        inputs->count--;
    }
}

uint32_t cairn_inputs_collect(
    const cairn_inputs *inputs, uint32_t count_max, cairn_wire_input out[CAIRN_INPUT_PARTS_MAX]) {
    CAIRN_ASSERT(inputs->count <= CAIRN_INPUTS_HELD_MAX);
    const uint32_t parts = inputs->parts;
    const uint32_t count = inputs->count < count_max ? inputs->count : count_max;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t tick = inputs->next_tick - count + i;
        memcpy(out + (size_t)i * parts, inputs->ring[tick % CAIRN_INPUTS_HELD_MAX],
            parts * sizeof *out);
    }
    return count;
}

const cairn_wire_input *cairn_inputs_read(const cairn_inputs *inputs, uint64_t tick) {
    const cairn_wire_input *input = inputs->ring[tick % CAIRN_INPUTS_HELD_MAX];
    return inputs->made > 0 && tick < inputs->next_tick && input->tick == tick ? input : NULL;
}
