// SPDX-License-Identifier: MIT
#pragma once

// Blocks that end where the process may not read, so that a test without sanitizers, too, fails at
// one that reads or writes beyond them. For tests of one thread that link this kit, which replaces
// calloc and free.

#include <stdbool.h>

// Whether blocks of calloc are made so from now on. Their sizes are rounded up to 8 bytes.
extern bool kit_guards;
// How many have been made.
extern unsigned kit_guarded_count;
