// SPDX-License-Identifier: MIT
#include "compress/command_coder.h"

#include <string.h>

#include "base/assert.h"
#include "base/game_input.h"

// Steps of a number in [-1, 1] that a host made of an integer of 16 bits.
#define STEPS 32768

// That a player holds what it held, with the next sequence.
static const cairn_probability keeps = 63500;
// Otherwise: that it has no input, or the same one with the same sequence.
static const cairn_probability gone = 8192;
static const cairn_probability repeated = 16384;
// Otherwise: that the sequence is the next one; that the buttons, or a number, are the same.
static const cairn_probability in_sequence = 62000;
static const cairn_probability same_buttons = 52000;
static const cairn_probability same_number = 32768;
// Of another number: that it is 0, 1 or -1, and otherwise that it is a multiple of 1 / STEPS.
static const cairn_probability simple = 20000;
static const cairn_probability stepped = 32768;
// That a tick has no commands besides inputs of players that had one; that a count needs 32 bits.
// What is likely is true: a stream of nothing else has no bytes.
static const cairn_probability nothing_else = 63536;
static const cairn_probability wide = 1500;

static const uint32_t simple_bits[3] = {0, 0x3f800000u, 0xbf800000u};

cairn_command_coder cairn_command_encoder(uint8_t *bytes, size_t size) {
    return (cairn_command_coder){.range = cairn_range_encoder(bytes, size), .ok = true};
}

cairn_command_coder cairn_command_decoder(const uint8_t *bytes, size_t size) {
    return (cairn_command_coder){.range = cairn_range_decoder(bytes, size), .ok = true};
}

size_t cairn_command_encoder_finish(cairn_command_coder *coder) {
    return cairn_range_finish(&coder->range);
}

static bool code_bit(cairn_command_coder *coder, const cairn_probability *likely, bool bit) {
    return cairn_code_bit(&coder->range, likely, bit);
}

static uint32_t code_raw(cairn_command_coder *coder, uint32_t bits, uint32_t value) {
    return cairn_code_raw(&coder->range, bits, value);
}

// How many bits follow the highest one, then these.
static uint32_t code_count(cairn_command_coder *coder, uint32_t value) {
    if (code_bit(coder, &wide, value >> 31 != 0)) {
        return code_raw(coder, 32, value);
    }
    const uint32_t length =
        code_raw(coder, 5, value == 0 ? 0 : 32 - (uint32_t)__builtin_clz(value));
    if (length <= 1) {
        return length;
    }
    return 1u << (length - 1) | code_raw(coder, length - 1, value);
}

// A difference modulo 2^32, with its sign moved to bit 0.
static uint32_t code_change(cairn_command_coder *coder, uint32_t from, uint32_t to) {
    const uint32_t change = to - from;
    const uint32_t coded = code_count(coder, change << 1 ^ (0u - (change >> 31)));
    return from + (coded >> 1 ^ (0u - (coded & 1)));
}

static uint32_t bits_of(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static float number_of(uint32_t bits) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

// Floats in their order as integers, so that near numbers have a small difference.
static uint32_t order_of(uint32_t bits) {
    return bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
}

static uint32_t bits_of_order(uint32_t order) {
    return order >> 31 != 0 ? order & 0x7fffffffu : ~order;
}

// The nearest step towards 0; 0 for numbers outside [-1, 1] and NaN.
static int32_t step_of(float number) {
    return number >= -1.0f && number <= 1.0f ? (int32_t)(number * STEPS) : 0;
}

static float code_number(cairn_command_coder *coder, float from, float to) {
    const uint32_t bits = bits_of(to);
    if (code_bit(coder, &same_number, bits == bits_of(from))) {
        return from;
    }
    uint32_t known = 0;
    while (known < 3 && simple_bits[known] != bits) {
        known += 1;
    }
    if (code_bit(coder, &simple, known < 3)) {
        known = code_raw(coder, 2, known);
        coder->ok = coder->ok && known < 3;
        return number_of(simple_bits[known % 3]);
    }
    const int32_t step = step_of(to);
    if (code_bit(coder, &stepped, bits_of((float)step / STEPS) == bits)) {
        const int32_t coded = (int32_t)code_change(coder, (uint32_t)step_of(from), (uint32_t)step);
        coder->ok = coder->ok && coded >= -STEPS && coded <= STEPS;
        return (float)coded / STEPS;
    }
    return number_of(bits_of_order(code_change(coder, order_of(bits_of(from)), order_of(bits))));
}

static cairn_vec3 code_numbers(cairn_command_coder *coder, cairn_vec3 from, cairn_vec3 to) {
    cairn_vec3 coded;
    coded.x = code_number(coder, from.x, to.x);
    coded.y = code_number(coder, from.y, to.y);
    coded.z = code_number(coder, from.z, to.z);
    return coded;
}

// What a player does: buttons and six numbers.
static cairn_command code_actions(
    cairn_command_coder *coder, const cairn_command *from, const cairn_command *to) {
    cairn_command coded = *to;
    coded.buttons = from->buttons;
    if (!code_bit(coder, &same_buttons, to->buttons == from->buttons)) {
        coded.buttons = from->buttons ^ code_count(coder, to->buttons ^ from->buttons);
    }
    coded.move = code_numbers(coder, from->move, to->move);
    coded.aim = code_numbers(coder, from->aim, to->aim);
    return coded;
}

// How many commands from `at` on are the input of one player: INPUT and the parts after it, with
// one sequence. 0: other commands begin there.
static uint32_t input_at(cairn_tick_commands tick, uint32_t at) {
    const cairn_command *first = &tick.commands[at];
    if (first->kind != CAIRN_COMMAND_INPUT || first->slot >= CAIRN_SLOTS_MAX) {
        return 0;
    }
    uint32_t parts = 1;
    while (parts < CAIRN_INPUT_COMMANDS_MAX && at + parts < tick.count &&
           first[parts].slot == first->slot && first[parts].sequence == first->sequence &&
           first[parts].kind == (uint32_t)cairn_input_part_kind(parts)) {
        parts += 1;
    }
    return parts;
}

cairn_tick_commands cairn_input_of_slot(cairn_tick_commands tick, uint32_t slot) {
    for (uint32_t i = 0; i < tick.count && tick.commands[i].slot <= slot; ++i) {
        if (tick.commands[i].slot == slot && input_at(tick, i) > 0) {
            return (cairn_tick_commands){&tick.commands[i], input_at(tick, i)};
        }
    }
    return (cairn_tick_commands){.count = 0};
}

// Where the input of `held`'s player begins in `tick`, which is searched from *from on; tick.count:
// the player has none that has the same parts.
static uint32_t find_input(cairn_tick_commands tick, cairn_tick_commands held, uint32_t *from) {
    const uint32_t slot = held.commands[0].slot;
    while (*from < tick.count && tick.commands[*from].slot < slot) {
        *from += 1;
    }
    for (uint32_t i = *from; i < tick.count && tick.commands[i].slot == slot; ++i) {
        if (input_at(tick, i) == held.count) {
            return i;
        }
    }
    return tick.count;
}

static bool same_actions(const cairn_command *a, const cairn_command *b, uint32_t count) {
    bool same = true;
    for (uint32_t i = 0; i < count; ++i) {
        same = same && a[i].buttons == b[i].buttons &&
               memcmp(&a[i].move, &b[i].move, sizeof a[i].move) == 0 &&
               memcmp(&a[i].aim, &b[i].aim, sizeof a[i].aim) == 0;
    }
    return same;
}

// Codes an input against what its player held. `input` is NULL if the player has none now, or in a
// decoder. Returns how many commands were written to `out`.
static uint32_t code_input(cairn_command_coder *coder, cairn_tick_commands held,
    const cairn_command *input, cairn_command *out) {
    const cairn_command *from = held.commands;
    const bool same = input != NULL && same_actions(input, from, held.count);
    const uint32_t next = from->sequence + 1;
    const uint32_t given = input != NULL ? input->sequence : 0;
    memcpy(out, from, held.count * sizeof *out);
    uint32_t sequence = next;
    if (!code_bit(coder, &keeps, same && given == next)) {
        if (code_bit(coder, &gone, input == NULL)) {
            return 0;
        }
        if (code_bit(coder, &repeated, same && given == from->sequence)) {
            return held.count;
        }
        if (!code_bit(coder, &in_sequence, given == next)) {
            sequence = code_change(coder, next, given);
        }
        for (uint32_t i = 0; i < held.count; ++i) {
            out[i] = code_actions(coder, &from[i], input != NULL ? &input[i] : &from[i]);
            out[i].kind = from[i].kind;
            out[i].slot = from[i].slot;
        }
    }
    for (uint32_t i = 0; i < held.count; ++i) {
        out[i].sequence = sequence;
    }
    return held.count;
}

// A kind from 32 on is written as five bits of 0, which no kind has, and then five bits of kind
// - 32. `to` is 0 in a decoder.
static uint32_t code_kind(cairn_command_coder *coder, uint32_t to) {
    CAIRN_ASSERT(to < 64);
    const uint32_t low = code_raw(coder, 5, to < 32 ? to : 0);
    return low != 0 ? low : 32 + code_raw(coder, 5, to & 31u);
}

static cairn_command code_other(cairn_command_coder *coder, const cairn_command *command) {
    static const cairn_command nothing = {0};
    const cairn_command *to = command != NULL ? command : &nothing;
    const uint32_t kind = code_kind(coder, to->kind);
    const uint32_t slot = code_raw(coder, 9, to->slot);
    const uint32_t sequence = code_count(coder, to->sequence);
    cairn_command coded = code_actions(coder, &nothing, to);
    coded.kind = kind;
    coded.slot = slot;
    coded.sequence = sequence;
    return coded;
}

// The first input at *at or after it, which is moved behind it. False: none is left.
static bool next_input(cairn_tick_commands commands, uint32_t *at, cairn_tick_commands *out) {
    for (; *at < commands.count; ++*at) {
        const uint32_t parts = input_at(commands, *at);
        if (parts > 0) {
            *out = (cairn_tick_commands){&commands.commands[*at], parts};
            *at += parts;
            return true;
        }
    }
    return false;
}

void cairn_commands_encode(
    cairn_command_coder *coder, cairn_tick_commands before, cairn_tick_commands tick) {
    CAIRN_ASSERT(tick.count <= CAIRN_COMMANDS_PER_TICK_MAX && coder->ok);
    uint64_t coded[(CAIRN_COMMANDS_PER_TICK_MAX + 63) / 64] = {0};
    cairn_command scratch[CAIRN_INPUT_COMMANDS_MAX];
    uint32_t left = tick.count;
    uint32_t from = 0;
    cairn_tick_commands held = {.count = 0};
    for (uint32_t i = 0; next_input(before, &i, &held);) {
        const uint32_t at = find_input(tick, held, &from);
        const bool found = at < tick.count && (coded[at / 64] >> at % 64 & 1) == 0;
        code_input(coder, held, found ? &tick.commands[at] : NULL, scratch);
        for (uint32_t k = at; found && k < at + held.count; ++k) {
            coded[k / 64] |= UINT64_C(1) << k % 64;
            left -= 1;
        }
    }
    if (!code_bit(coder, &nothing_else, left == 0)) {
        code_count(coder, left - 1);
        for (uint32_t i = 0; i < tick.count; ++i) {
            if ((coded[i / 64] >> i % 64 & 1) == 0) {
                code_other(coder, &tick.commands[i]);
            }
        }
    }
}

uint32_t cairn_commands_decode(
    cairn_command_coder *coder, cairn_tick_commands before, cairn_command *out, uint32_t most) {
    CAIRN_ASSERT(before.count <= most);
    uint32_t count = 0;
    cairn_tick_commands held = {.count = 0};
    for (uint32_t i = 0; next_input(before, &i, &held);) {
        count += code_input(coder, held, NULL, &out[count]);
    }
    if (!code_bit(coder, &nothing_else, true)) {
        const uint32_t more = code_count(coder, 0);
        coder->ok = coder->ok && more < most - count;
        for (uint32_t i = 0; coder->ok && i <= more; ++i) {
            out[count++] = code_other(coder, NULL);
        }
    }
    count = coder->ok ? count : 0;
    cairn_commands_sort(out, count);
    return count;
}
