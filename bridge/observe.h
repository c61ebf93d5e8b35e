// SPDX-License-Identifier: MIT
#pragma once

// The numbers that a learner sees of bodies: the fields that it chose, one row for each body.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/control.h>
#include <cairn/sim.h>

// Numbers in a row of these fields (cairn_observed_field); 0 if a bit is not one of them, or none
// is.
#define CAIRN_OBSERVE_WIDTH_MAX 14
uint32_t cairn_observe_width(uint32_t fields);
// Writes the row of one body, in the order of the bits. False: the body does not exist, and the row
// is zeros.
bool cairn_observe_body(const cairn_world *world, cairn_body_id body, uint32_t fields, float *out);
