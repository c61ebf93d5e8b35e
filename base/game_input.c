// SPDX-License-Identifier: MIT
#include "base/game_input.h"

#include <string.h>

#include "base/assert.h"
#include <cairn/math.h>

#define PART_BITS (8 * CAIRN_INPUT_PART_SIZE)
_Static_assert(CAIRN_INPUT_COMMANDS_MAX *PART_BITS >= 32 * CAIRN_INPUT_FIELDS_MAX,
    "an input fits its commands");
_Static_assert(4 * CAIRN_INPUT_FIELDS_MAX == CAIRN_INPUT_SIZE_MAX, "a field has four bytes");

// A value lay at most two steps beside its own in four million drawn fields and steps.
#define BESIDE_MAX 4

// The bits of an input, the first field's lowest bit first.
typedef struct bit_string {
    uint8_t bytes[CAIRN_INPUT_COMMANDS_MAX * CAIRN_INPUT_PART_SIZE];
    uint32_t at;
} bit_string;

static void put(bit_string *string, uint32_t value, uint32_t bits) {
    for (uint32_t i = 0; i < bits; ++i) {
        const uint32_t at = string->at + i;
        string->bytes[at / 8] |= (uint8_t)((value >> i & 1) << (at % 8));
    }
    string->at += bits;
    CAIRN_ASSERT(string->at <= 8 * sizeof string->bytes);
}

static uint32_t get(bit_string *string, uint32_t bits) {
    uint32_t value = 0;
    for (uint32_t i = 0; i < bits; ++i) {
        const uint32_t at = string->at + i;
        value |= (uint32_t)(string->bytes[at / 8] >> (at % 8) & 1) << i;
    }
    string->at += bits;
    return value;
}

static bool field_is_valid(const cairn_input_field *field) {
    if (field->kind == CAIRN_INPUT_BITS) {
        return field->bits >= 1 && field->bits <= 32 && cairn_float_bits(field->lower) == 0 &&
               cairn_float_bits(field->upper) == 0;
    }
    const float most = 1e30f; // so that upper - lower is finite
    return field->kind == CAIRN_INPUT_FLOAT && field->bits >= 2 && field->bits <= 24 &&
           field->lower >= -most && field->upper <= most && field->lower < field->upper;
}

const char *cairn_input_layout_refusal(const cairn_input_field *fields, uint32_t count) {
    if (count > CAIRN_INPUT_FIELDS_MAX || (count > 0 && fields == NULL)) {
        return "an input has at most 16 fields";
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (!field_is_valid(&fields[i])) {
            return "a field of an input is bits (1 to 32, with zeros as bounds) or a float (2 to "
                   "24 "
                   "bits, the lower bound below the upper, both within 1e30)";
        }
    }
    return NULL;
}
_Static_assert(CAIRN_INPUT_FIELDS_MAX == 16, "the text above");

uint32_t cairn_input_parts(const cairn_input_field *fields, uint32_t count) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < count; ++i) {
        bits += fields[i].bits;
    }
    CAIRN_ASSERT(bits <= CAIRN_INPUT_COMMANDS_MAX * PART_BITS);
    return bits <= PART_BITS ? 1 : (bits + PART_BITS - 1) / PART_BITS;
}

uint32_t cairn_input_parts_of(const cairn_rules *rules) {
    return rules == NULL ? 1 : cairn_input_parts(rules->input, rules->input_count);
}

cairn_command_kind cairn_input_part_kind(uint32_t part) {
    static const cairn_command_kind kinds[CAIRN_INPUT_COMMANDS_MAX] = {
        CAIRN_COMMAND_INPUT, CAIRN_COMMAND_INPUT_SECOND, CAIRN_COMMAND_INPUT_THIRD};
    CAIRN_ASSERT(part < CAIRN_INPUT_COMMANDS_MAX);
    return kinds[part];
}

bool cairn_command_is_input(const cairn_command *command) {
    return command->kind == CAIRN_COMMAND_INPUT || command->kind == CAIRN_COMMAND_INPUT_SECOND ||
           command->kind == CAIRN_COMMAND_INPUT_THIRD;
}

// The number of steps between the 2^bits - 1 values of a float. It is even, so the middle of a
// symmetric range is exactly 0.
static uint32_t steps_of(const cairn_input_field *field) {
    return (UINT32_C(1) << field->bits) - 2;
}

static float value_of(const cairn_input_field *field, uint32_t step) {
    const uint32_t steps = steps_of(field);
    const float share = (float)step / (float)steps;
    const float value = field->lower + (field->upper - field->lower) * share;
    // Rounding must not lead beyond the upper bound. Adding 0 makes 0 of -0.
    return step == steps || value > field->upper ? field->upper + 0.0f : value + 0.0f;
}

// The step with exactly this value, or else the nearest one. value_of rounds several times, so the
// exact step may lie beside the nearest one.
static uint32_t step_of(const cairn_input_field *field, float value) {
    const double lower = (double)field->lower;
    const double share = ((double)value - lower) / ((double)field->upper - lower);
    const uint32_t nearest = (uint32_t)(share * (double)steps_of(field) + 0.5);
    uint32_t step = nearest;
    for (uint32_t i = 0; i < BESIDE_MAX && value_of(field, step) < value; ++i) {
        step++;
    }
    for (uint32_t i = 0; i < BESIDE_MAX && value_of(field, step) > value && step > 0; ++i) {
        step--;
    }
    return value_of(field, step) == value ? step : nearest;
}

static cairn_input_refusal put_field(
    bit_string *string, const cairn_input_field *field, uint32_t word) {
    if (field->kind == CAIRN_INPUT_BITS) {
        if (field->bits < 32 && word >> field->bits != 0) {
            return CAIRN_INPUT_REFUSED_RANGE;
        }
        put(string, word, field->bits);
        return CAIRN_INPUT_TAKEN;
    }
    float value;
    memcpy(&value, &word, sizeof value);
    if (!(value >= field->lower && value <= field->upper)) { // false for NaN as well
        return CAIRN_INPUT_REFUSED_RANGE;
    }
    put(string, step_of(field, value), field->bits);
    return CAIRN_INPUT_TAKEN;
}

// The bytes of a part: those of `buttons`, and three in each number, low byte first, as a multiple
// of 2^-24 below 1. So an input passes the checks of every other command, and no copy or machine
// changes a bit of it.
static void write_part(const uint8_t bytes[CAIRN_INPUT_PART_SIZE], cairn_command *out) {
    float numbers[6];
    for (uint32_t i = 0; i < 6; ++i) {
        const uint8_t *b = bytes + 4 + 3 * (size_t)i;
        numbers[i] = (float)(b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16) / 16777216.0f;
    }
    out->buttons =
        bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    out->move = cairn_vec3_of(numbers[0], numbers[1], numbers[2]);
    out->aim = cairn_vec3_of(numbers[3], numbers[4], numbers[5]);
}

static bool read_part(const cairn_command *command, uint8_t bytes[CAIRN_INPUT_PART_SIZE]) {
    const float numbers[] = {command->move.x, command->move.y, command->move.z, command->aim.x,
        command->aim.y, command->aim.z};
    for (uint32_t i = 0; i < 4; ++i) {
        bytes[i] = (uint8_t)(command->buttons >> 8 * i);
    }
    for (uint32_t i = 0; i < 6; ++i) {
        if (!(numbers[i] >= 0.0f && numbers[i] < 1.0f) || cairn_float_bits(numbers[i]) >> 31 != 0) {
            return false;
        }
        const float whole = numbers[i] * 16777216.0f;
        const uint32_t word = (uint32_t)whole;
        if ((float)word != whole) {
            return false;
        }
        uint8_t *b = bytes + 4 + 3 * (size_t)i;
        b[0] = (uint8_t)word;
        b[1] = (uint8_t)(word >> 8);
        b[2] = (uint8_t)(word >> 16);
    }
    return true;
}

cairn_input_refusal cairn_input_pack(const cairn_input_field *fields, uint32_t count,
    const void *input, cairn_command out[CAIRN_INPUT_COMMANDS_MAX]) {
    bit_string string = {.at = 0};
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t word;
        memcpy(&word, (const uint8_t *)input + 4 * (size_t)i, sizeof word);
        const cairn_input_refusal why = put_field(&string, &fields[i], word);
        if (why != CAIRN_INPUT_TAKEN) {
            return why;
        }
    }
    for (uint32_t i = 0; i < cairn_input_parts(fields, count); ++i) {
        write_part(string.bytes + (size_t)i * CAIRN_INPUT_PART_SIZE, &out[i]);
    }
    return CAIRN_INPUT_TAKEN;
}

static cairn_input_refusal read_parts(
    bit_string *string, const cairn_command *commands, uint32_t command_count, uint32_t parts) {
    for (uint32_t i = 0; i < parts; ++i) {
        const bool is_part = i < command_count &&
                             commands[i].kind == (uint32_t)cairn_input_part_kind(i) &&
                             commands[i].slot == commands[0].slot;
        if (!is_part) {
            return CAIRN_INPUT_REFUSED_PARTS;
        }
        if (!read_part(&commands[i], string->bytes + (size_t)i * CAIRN_INPUT_PART_SIZE)) {
            return CAIRN_INPUT_REFUSED_NUMBER;
        }
    }
    return CAIRN_INPUT_TAKEN;
}

cairn_input_refusal cairn_input_unpack(const cairn_input_field *fields, uint32_t count,
    const cairn_command *commands, uint32_t command_count, void *out) {
    bit_string string = {.at = 0};
    uint32_t words[CAIRN_INPUT_FIELDS_MAX];
    const uint32_t parts = cairn_input_parts(fields, count);
    const cairn_input_refusal why = read_parts(&string, commands, command_count, parts);
    if (why != CAIRN_INPUT_TAKEN) {
        return why;
    }
    for (uint32_t i = 0; i < count; ++i) {
        words[i] = get(&string, fields[i].bits);
        if (fields[i].kind == CAIRN_INPUT_FLOAT) {
            if (words[i] > steps_of(&fields[i])) {
                return CAIRN_INPUT_REFUSED_RANGE;
            }
            words[i] = cairn_float_bits(value_of(&fields[i], words[i]));
        }
    }
    for (uint32_t i = string.at; i < parts * PART_BITS; i = string.at) {
        if (get(&string, 1) != 0) {
            return CAIRN_INPUT_REFUSED_UNUSED;
        }
    }
    if (out != NULL) {
        memcpy(out, words, 4 * (size_t)count);
    }
    return CAIRN_INPUT_TAKEN;
}

void cairn_input_draw(
    const cairn_input_field *fields, uint32_t count, cairn_random *random, void *out) {
    CAIRN_ASSERT(count <= CAIRN_INPUT_FIELDS_MAX);
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t most = fields[i].kind == CAIRN_INPUT_BITS
                                  ? UINT64_C(1) << fields[i].bits
                                  : (uint64_t)steps_of(&fields[i]) + 1;
        uint32_t word = (uint32_t)cairn_random_below(random, most);
        if (fields[i].kind == CAIRN_INPUT_FLOAT) {
            word = cairn_float_bits(value_of(&fields[i], word));
        }
        memcpy((uint8_t *)out + 4 * (size_t)i, &word, sizeof word);
    }
}

const char *cairn_input_refusal_text(cairn_input_refusal refusal) {
    static const char *const texts[CAIRN_INPUT_REFUSAL_COUNT] = {
        [CAIRN_INPUT_TAKEN] = "",
        [CAIRN_INPUT_REFUSED_PARTS] = "an input has more or fewer parts than the rules declare",
        [CAIRN_INPUT_REFUSED_NUMBER] = "a number of an input holds no packed bits",
        [CAIRN_INPUT_REFUSED_RANGE] =
            "a field of an input is out of the range that the rules declare",
        [CAIRN_INPUT_REFUSED_UNUSED] = "bits after the last field of an input are set",
    };
    return (uint32_t)refusal < CAIRN_INPUT_REFUSAL_COUNT ? texts[refusal] : "unknown";
}

uint32_t cairn_commands_of_input(const cairn_rules *rules, uint32_t slot, uint32_t sequence,
    const void *input, cairn_command out[CAIRN_INPUT_COMMANDS_MAX]) {
    CAIRN_ASSERT(rules->input_count > 0 && slot < CAIRN_SLOTS_MAX);
    const uint32_t parts = cairn_input_parts_of(rules);
    if (cairn_input_pack(rules->input, rules->input_count, input, out) != CAIRN_INPUT_TAKEN) {
        return 0;
    }
    for (uint32_t i = 0; i < parts; ++i) {
        out[i].kind = cairn_input_part_kind(i);
        out[i].slot = slot;
        out[i].sequence = sequence;
    }
    return parts;
}

bool cairn_input_read(
    const cairn_rules *rules, const cairn_command *commands, uint32_t count, void *out) {
    CAIRN_ASSERT(rules->input_count > 0);
    memset(out, 0, rules->input_size);
    return cairn_input_unpack(rules->input, rules->input_count, commands, count, out) ==
           CAIRN_INPUT_TAKEN;
}
