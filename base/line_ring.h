// SPDX-License-Identifier: MIT
#pragma once

// Lines that wait for a slow reader, in a ring of fixed size. A line that does not fit is lost and
// counted. All lines after it are lost, too, until the reader has taken the count. So the reader
// gets some whole lines, then the number of lines that are missing there, then further lines.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cairn_line_ring {
    char *bytes; // [capacity], the caller's
    size_t capacity;
    size_t first;          // of the waiting bytes
    size_t size;           // of these
    uint64_t lost;         // lines, since the beginning
    uint64_t lost_waiting; // of these, not yet taken
} cairn_line_ring;

// An empty ring. `capacity` > 0.
cairn_line_ring cairn_line_ring_of(char *bytes, size_t capacity);
// The line ends with a newline. False: it is lost.
bool cairn_line_ring_put(cairn_line_ring *ring, const char *line, size_t size);
// Copies the oldest bytes, at most `size_max`. 0: nothing waits.
size_t cairn_line_ring_take(cairn_line_ring *ring, char *out, size_t size_max);
// Once all bytes are taken: returns how many lines are missing after them, and accepts lines again.
// Returns 0 while bytes wait, or if no line is missing.
uint64_t cairn_line_ring_take_lost(cairn_line_ring *ring);
