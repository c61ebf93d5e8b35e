// SPDX-License-Identifier: MIT
#pragma once

// The floating-point mode of the calling thread. A library linked with fast-math enables
// flush-to-zero in every program that loads it; a step must not be affected.

#include <stdbool.h>
#include <stdint.h>

#ifdef __FAST_MATH__
#error "the simulation needs IEEE arithmetic: build without -ffast-math and -Ofast"
#endif
#include <float.h>
#if FLT_EVAL_METHOD != 0
#error "the simulation needs float evaluated as float: on x86 build with -msse2 -mfpmath=sse"
#endif

// Sets round-to-nearest, no flush-to-zero and no traps if the control word of this machine is
// known. Returns what cairn_float_leave restores. Clients and servers do so in each call that may
// compute for a world, so that the mode of a host linked with fast-math does not matter.
uint64_t cairn_float_set_default(void);
// The same for a step: asserts by arithmetic that the mode is right.
uint64_t cairn_float_enter(void);
void cairn_float_leave(uint64_t saved);
// The control word of the calling thread (x86: MXCSR, aarch64: FPCR); elsewhere 0.
uint64_t cairn_float_mode_word(void);
// Whether arithmetic rounds to nearest and keeps subnormal numbers.
bool cairn_float_mode_ok(void);
// Whether the control word of this machine is known.
bool cairn_float_mode_known(void);
// The two halves of cairn_float_contract_ok: products in sums, and in sums of alternating sign.
bool cairn_float_sums_ok(void);
bool cairn_float_alternating_sums_ok(void);
