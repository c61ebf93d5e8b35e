// SPDX-License-Identifier: MIT
#pragma once

// The command line of a program, as one table: flags ("--name value", "--name=value" or a bare
// switch), the environment variables that replace missing flags, verbs, and words. It prints --help
// and
// --version and refuses the rest with one sentence that says which argument is wrong and what it
// must be. A flag wins over its variable; of a flag that is given twice the last one counts, unless
// its own reader adds them up. A word may begin with one dash: a number, or standard input.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/flags_table.h"

typedef enum cairn_flags_result {
    CAIRN_FLAGS_READ = 0,
    CAIRN_FLAGS_ANSWERED, // printed --help, --version, --manual, --completion or --schema (of a
                          // file) even if an environment variable is wrong
    CAIRN_FLAGS_REFUSED,
} cairn_flags_result;

// Reads the command line; argv[0] is skipped. Fills the flags' `out` and program->words. On refusal
// one sentence is in `error` (CAIRN_FLAGS_ERROR_SIZE) or, if that is NULL, printed to standard
// error after the program's name.
cairn_flags_result cairn_flags_read(
    cairn_flags_program *program, int argc, char *const *argv, char *error);

// Sets one flag, by its name without dashes, from a file. `is_word`: the value is true, false or
// null instead of a text or a number; `first`: of this flag. False: `error` holds one sentence.
bool cairn_flags_set(const cairn_flags_program *program, const char *name, const char *value,
    bool is_word, bool first, char error[CAIRN_FLAGS_ERROR_SIZE]);

// Parses an integer in [least, most], decimal, or hexadecimal after 0x; no sign and no space.
// False: `error` holds one sentence that begins with `name`.
bool cairn_flags_number(const char *name, const char *text, uint64_t least, uint64_t most,
    uint64_t *out, char error[CAIRN_FLAGS_ERROR_SIZE]);
