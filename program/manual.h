// SPDX-License-Identifier: MIT
#pragma once

// What else a table of flags (program/flags_table.h) gives: the manual page and the completion of
// the command line in bash. The build asks each program for them by --manual and --completion.

#include "program/flags_table.h"

// Prints a page of section 1, in the man macros, on standard output.
void cairn_manual_print(const cairn_flags_program *program);
// Prints a function for bash-completion, which loads it by the program's name.
void cairn_completion_print(const cairn_flags_program *program);
