// SPDX-License-Identifier: MIT
#pragma once

// What a predicate can ask of a world and of a body: one table of names, values and their C.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cairn/sim.h>

#define CAIRN_QUANTITY_MAX 32
#define CAIRN_QUANTITY_NONE UINT32_MAX

// The row of a name, or NONE.
uint32_t cairn_quantity_find(const char *name, bool of_body);
// All names, with blanks between them. Returns `text`.
const char *cairn_quantity_names(bool of_body, char *text, size_t size);

// `tick_first` is added to the world's tick.
double cairn_quantity_of_world(uint32_t row, const cairn_world *world, uint64_t tick_first);
double cairn_quantity_of_body(uint32_t row, const cairn_world *world, const cairn_body_state *body);

// The quantity in C, of the variable `body` (a cairn_body_state) or of `world`; before it the
// functions that the used rows call.
void cairn_quantity_write_helpers(const bool used[CAIRN_QUANTITY_MAX], FILE *out);
void cairn_quantity_write_c(uint32_t row, const char *body, uint64_t tick_first, FILE *out);
