// SPDX-License-Identifier: MIT
#pragma once

// The command line of a tool: a table of flags, "--name value" or "--name=value" or a bare switch.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cairn_flag {
    const char *name;       // with its dashes
    const char *value_name; // what the help calls its value; NULL: a switch
    const char *help;       // one line
    const char **value;     // receives the text; a switch receives its own name
} cairn_flag;

#define CAIRN_FLAG_ERROR_SIZE 256

// What is no flag goes to `words` in order; at most `word_count_max` of it. On false `error` holds
// one sentence that says which argument.
bool cairn_flags_read(int argc, char **argv, const cairn_flag *flags, size_t flag_count,
    const char **words, size_t word_count_max, char error[CAIRN_FLAG_ERROR_SIZE]);
// Prints "usage: " and `usage`, then a line for each flag.
void cairn_flags_help(const char *usage, const cairn_flag *flags, size_t flag_count);

// Decimal digits only, in [low, high]. False writes one sentence that names the flag.
bool cairn_flag_number(const char *name, const char *text, uint64_t low, uint64_t high,
    uint64_t *out, char error[CAIRN_FLAG_ERROR_SIZE]);
// 64 hexadecimal digits, or the name of a file that holds them.
bool cairn_flag_key(
    const char *name, const char *text, uint8_t key[32], char error[CAIRN_FLAG_ERROR_SIZE]);
