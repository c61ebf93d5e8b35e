// SPDX-License-Identifier: MIT
#pragma once

// How the programs take rules: linked, as an argument of their main function (cairn/programs.h),
// and loaded, by the flag --rules.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/rules.h>

// The reader of the flag (cairn_flag_reader): loads one file, or several with ':' between them.
// `out` is not used. NULL, or what is wrong; the text is valid until the next call.
const char *cairn_rules_flag_read(void *out, const char *value, bool first);

// Registers the rules that are linked. False after one sentence on standard error.
bool cairn_rules_take(const char *program, const cairn_rules *const *rules, uint32_t count);

// The rules that the host registered last, which a player's program plays by; NULL: none but the
// sandbox.
const cairn_rules *cairn_rules_last(void);
