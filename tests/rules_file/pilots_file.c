// SPDX-License-Identifier: MIT
// Rules with an input of their own, in a file, of more bits than one command holds.

#include <cairn/rules.h>

typedef struct pilot_input {
    uint32_t keys;
    float throttle;
    uint32_t words[6]; // so that the input has two parts
} pilot_input;

typedef struct pilots_state {
    uint32_t sum;
    uint32_t malformed;
    pilot_input last; // of any player
} pilots_state;

#define WORD                                                                                       \
    { CAIRN_INPUT_BITS, 32, 0, 0 }
static const cairn_input_field fields[] = {
    {CAIRN_INPUT_BITS, 6, 0, 0}, {CAIRN_INPUT_FLOAT, 8, -1, 1}, WORD, WORD, WORD, WORD, WORD, WORD};

static void step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count);
static const cairn_rules pilots = {.name = "pilots",
    .version = 1,
    .state_size = sizeof(pilots_state),
    .step = step,
    .input_size = sizeof(pilot_input),
    .input_count = sizeof fields / sizeof *fields,
    .input = fields};

static void step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    pilots_state *s = state;
    (void)world;
    for (uint32_t i = 0; i < command_count; ++i) {
        if (commands[i].kind == CAIRN_COMMAND_INPUT) {
            s->malformed +=
                cairn_input_read(&pilots, &commands[i], command_count - i, &s->last) ? 0u : 1u;
            s->sum += s->last.keys + s->last.words[5];
        }
    }
}

CAIRN_RULES_EXPORT(&pilots);
