// SPDX-License-Identifier: MIT
#pragma once

// Inputs of the fuzzers of whole sessions: a byte, then records of one size, so that a mutation of
// one action leaves the others what they were. The custom mutator removes, repeats, moves and
// changes records.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRIPT_RECORD_SIZE 14
#define SCRIPT_RECORDS_MAX 48

// Record number `i`. False, and zeros: the input ends before it.
bool script_record(
    const uint8_t *data, size_t size, uint32_t i, uint8_t record[SCRIPT_RECORD_SIZE]);

// Bytes that the process has allocated, as the sanitizer counts them; 0 without one.
uint64_t script_allocated_bytes(void);
