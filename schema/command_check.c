// SPDX-License-Identifier: MIT
#include "schema/command_check.h"

#include <string.h>

// sim's kinds and ranges (include/cairn/sim.h, cairn_command_kind), which travel as numbers.
enum {
    KIND_JOIN = 1,
    KIND_INPUT = 3,
    KIND_SPAWN_BOX = 4,
    KIND_SPAWN_SPHERE = 5,
    KIND_DESTROY = 6,
    KIND_SET_POSITION = 7,
    KIND_SET_VELOCITY = 8,
    KIND_IMPULSE = 9,
};
static const float POSITION_MAX = 1e5f;
static const float SPEED_MAX = 1e4f;
static const float EXTENT_MIN = 1e-3f;
static const float EXTENT_MAX = 1e4f;

// By their bits, so that no compiler may assume the answer.
static bool is_finite(cairn_wire_vec3 v) {
    uint32_t bits[3];
    memcpy(bits, &v, sizeof bits);
    return (bits[0] & 0x7f800000u) != 0x7f800000u && (bits[1] & 0x7f800000u) != 0x7f800000u &&
           (bits[2] & 0x7f800000u) != 0x7f800000u;
}

static bool lies(float value, float lower, float upper) {
    return value >= lower && value <= upper;
}

static bool reaches(cairn_wire_vec3 v, float most) {
    return lies(v.x, -most, most) && lies(v.y, -most, most) && lies(v.z, -most, most);
}

static bool is_size(float value) {
    return lies(value, EXTENT_MIN, EXTENT_MAX);
}

static bool in_range(const cairn_wire_command *command) {
    const cairn_wire_vec3 move = command->move;
    const cairn_wire_vec3 aim = command->aim;
    switch (command->kind) {
    case KIND_SPAWN_BOX:
        return reaches(move, POSITION_MAX) && is_size(aim.x) && is_size(aim.y) && is_size(aim.z);
    case KIND_SPAWN_SPHERE:
        return reaches(move, POSITION_MAX) && is_size(aim.x) && aim.y == 0 && aim.z == 0;
    case KIND_DESTROY:
        return reaches(move, 0) && reaches(aim, 0);
    case KIND_SET_POSITION:
        return reaches(move, POSITION_MAX) && reaches(aim, 0);
    case KIND_SET_VELOCITY:
        return reaches(move, SPEED_MAX) && reaches(aim, SPEED_MAX);
    case KIND_IMPULSE:
        return reaches(aim, 0);
    default:
        return reaches(move, 1) && reaches(aim, 1);
    }
}

static bool may_speak(uint32_t slot, uint32_t kind) {
    return slot == CAIRN_SLOT_OPERATOR
               ? kind > KIND_INPUT && kind <= KIND_IMPULSE
               : slot < CAIRN_SLOTS_MAX && kind >= KIND_JOIN && kind <= KIND_INPUT;
}

cairn_decode_refusal cairn_wire_commands_check(const cairn_wire_command *commands, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        if (!is_finite(commands[i].move) || !is_finite(commands[i].aim)) {
            return CAIRN_DECODE_NON_FINITE;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (!may_speak(commands[i].slot, commands[i].kind) || !in_range(&commands[i])) {
            return CAIRN_DECODE_OUT_OF_RANGE;
        }
    }
    return CAIRN_DECODE_OK;
}

bool cairn_wire_commands_in_order(const cairn_wire_command *a, const cairn_wire_command *b) {
    if (a->slot != b->slot) {
        return a->slot < b->slot;
    }
    if (a->slot == CAIRN_SLOT_OPERATOR && a->sequence != b->sequence) {
        return a->sequence < b->sequence;
    }
    return a->kind != b->kind ? a->kind < b->kind : a->sequence <= b->sequence;
}
