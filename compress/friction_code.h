// SPDX-License-Identifier: MIT
#pragma once

// The friction of a contact as sim/soft_step stores it: a vector across the normal, of which each
// component is a whole number of steps. The normal impulses determine how large a step is. A packed
// state does not have the normal. If one of the bodies has a face there, the normal is an axis of
// that body. Between balls it points from centre to centre. With the normal, the third component
// follows from the other two to within a step or two.

#include <stdbool.h>
#include <stdint.h>

// Offsets of words from the first word of the friction of a contact (sim/state/state.h).
#define CAIRN_FRICTION_HINT (-19)
#define CAIRN_FRICTION_DISPLACEMENT (-15)
#define CAIRN_FRICTION_ROTATION_A (-12)
#define CAIRN_FRICTION_ROTATION_B (-10)
#define CAIRN_FRICTION_IMPULSE (-7) // and every second one after it, four in all
#define CAIRN_FRICTION_WORDS_BEFORE 19
// The word of a contact with which its friction begins.
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

// Reads the words of a contact before its friction. `friction`: the first word of the friction.
// `normal`: a cairn_friction_normal, or an axis.
cairn_friction_frame cairn_friction_frame_of(const uint8_t *friction, uint32_t normal);
// The normal that predicts these words best; CAIRN_NORMAL_UNKNOWN if none predicts them.
uint32_t cairn_friction_normal_of(const uint8_t *friction);
// The float in steps, rounded; 0 if it is out of range.
int32_t cairn_friction_steps(const cairn_friction_frame *frame, uint32_t word);
uint32_t cairn_friction_word(const cairn_friction_frame *frame, int32_t steps);
// Predicts the last component of the order, in steps, from the words of the first two.
int32_t cairn_friction_expected(const cairn_friction_frame *frame, const uint32_t words[3]);
