// SPDX-License-Identifier: MIT
#pragma once

// What a rules file may import of the program that loads it.

#include <stdbool.h>

// Whether it is a function of functions.inc.
bool cairn_rules_may_import(const char *name);
