// SPDX-License-Identifier: MIT
#pragma once

// JSON Schema (2020-12) of the file that program/config_file.h reads, from the table of the flags.

#include "program/flags_table.h"

// On standard output. It accepts no file that the program refuses for a range, a word or a name;
// what a flag's own reader refuses it may accept.
void cairn_flags_schema_print(const cairn_flags_program *program);
