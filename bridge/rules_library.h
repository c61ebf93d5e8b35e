// SPDX-License-Identifier: MIT
#pragma once

// The rules that are built in, by name: what a server may name and a lockstep client must know.

#include <stdbool.h>

#include <cairn/sim.h>

// True when `name` is known. *out is then the rules, or NULL for "", which means a world without
// any.
bool cairn_rules_find(const char *name, const cairn_rules **out);
