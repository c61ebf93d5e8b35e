// SPDX-License-Identifier: MIT
#pragma once

// The friction of a contact as sim/soft_step stores it: a vector across the normal, of which each
// component is a whole number of steps that follow from the normal impulses. A packed state does
// not have the normal, but it is an axis of one of the bodies if that has a face there, and leads
// from centre to centre between balls. Then the third component follows from the other two to
// within a step or so.

#include <stdbool.h>
#include <stdint.h>

// Words of a contact, from the first one of its friction: of sim/state/state.h.
#define CAIRN_FRICTION_HINT (-19)
#define CAIRN_FRICTION_DISPLACEMENT (-15)
#define CAIRN_FRICTION_ROTATION_A (-12)
#define CAIRN_FRICTION_ROTATION_B (-10)
#define CAIRN_FRICTION_IMPULSE (-7) // and every second one after it, four in all
#define CAIRN_FRICTION_WORDS_BEFORE 19
// Where it begins in a contact.
#define CAIRN_FRICTION_COLUMN 24

// What the normal is.
typedef enum cairn_friction_normal {
    CAIRN_NORMAL_UNKNOWN = 0,
    // 1 to 6: x, y, z of a, then of b.
    CAIRN_NORMAL_BETWEEN = 7, // along the displacement
} cairn_friction_normal;

typedef struct cairn_friction_frame {
    float step; // N s; 0: unknown
    bool has_normal;
    float normal[3];
    uint32_t order[3]; // in which the components are coded
} cairn_friction_frame;

// Of the words of a contact, of which those before its friction are known. `friction`: where that
// begins. `normal`: a cairn_friction_normal, or an axis.
cairn_friction_frame cairn_friction_frame_of(const uint8_t *friction, uint32_t normal);
// The normal that foresees these words best; CAIRN_NORMAL_UNKNOWN if none does.
uint32_t cairn_friction_normal_of(const uint8_t *friction);
// How many steps the float is, rounded; 0 if it is too many.
int32_t cairn_friction_steps(const cairn_friction_frame *frame, uint32_t word);
uint32_t cairn_friction_word(const cairn_friction_frame *frame, int32_t steps);
// What the last component of the order is as a rule, once the words of the first two are known.
int32_t cairn_friction_expected(const cairn_friction_frame *frame, const uint32_t words[3]);
