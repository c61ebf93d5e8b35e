// SPDX-License-Identifier: MIT
#pragma once

// A reproduction as a program in C that uses nothing but cairn's public headers.

#include <stdbool.h>
#include <stdio.h>

#include "tools/replay/shrink/oracle.h"

// It ends with 1 while the failure is there, and with 0 when it has gone. `name` is that of the
// file, `from` that of the recording. False: out of memory.
bool cairn_test_write(const cairn_repro *repro, const cairn_oracle *oracle, const char *name,
    const char *from, FILE *out);
