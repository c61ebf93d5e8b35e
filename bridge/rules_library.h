// SPDX-License-Identifier: MIT
#pragma once

// The built-in rules by name: a server may run them and a client that simulates must have them.

#include <stdbool.h>

#include <cairn/sim.h>

// True if `name` is known. *out is then the rules, or NULL for "", a world without rules.
bool cairn_rules_find(const char *name, const cairn_rules **out);
