// SPDX-License-Identifier: MIT
#pragma once

// The table that describes a program's command line: what program/flags.h reads it by, and
// program/manual.h prints.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cairn_flag_kind {
    CAIRN_FLAG_SWITCH = 0, // bool; takes no value; a variable says 0 or 1
    CAIRN_FLAG_U32,        // uint32_t in [least, most]
    CAIRN_FLAG_U64,        // uint64_t in [least, most]
    CAIRN_FLAG_TEXT,       // const char *, not empty: the argument itself
    CAIRN_FLAG_CHOICE,     // uint32_t, the index of the word
    CAIRN_FLAG_ADDRESS,    // cairn_address; `least` 1: with a port other than 0
    CAIRN_FLAG_CUSTOM,     // parsed by `read`
} cairn_flag_kind;

// Returns NULL, or what `value` must be, as in "must be 64 hexadecimal digits". `first`: of this
// flag on the command line, which replaces the variable's value; always true for the variable.
typedef const char *(*cairn_flag_reader)(void *out, const char *value, bool first);

typedef struct cairn_flag {
    const char *name;       // with its dashes
    const char *variable;   // NULL: none
    const char *value_name; // what the help calls its value; NULL for a switch
    const char *help;       // one line
    cairn_flag_kind kind;
    void *out; // holds the default until the flag is read
    uint64_t least;
    uint64_t most;            // 0: the largest value of the type
    const char *const *words; // of a choice, ends with NULL
    cairn_flag_reader read;
    const char *verbs;   // that accept it, separated by spaces; NULL: all
    bool secret;         // the value never appears in a message
    bool only_variable;  // refused in the command line, which every user can read
    bool reloads;        // SIGHUP may change its value while the program runs
    const char *pattern; // of CAIRN_FLAG_CUSTOM, for the schema of a file; NULL: any text
} cairn_flag;

typedef struct cairn_flags_verb {
    const char *name;
    const char *arguments; // names separated by spaces; those in brackets may be left out
    const char *help;      // one line
} cairn_flags_verb;

#define CAIRN_FLAGS_WORDS_MAX 2048
#define CAIRN_FLAGS_ERROR_SIZE 256

typedef struct cairn_flags_program {
    const char *name;
    const char *usage; // what may follow the name
    const char *about; // lines of help before the verbs and flags
    const char *notes; // lines of help after them; NULL: none
    const cairn_flag *flags;
    size_t flag_count;
    const cairn_flags_verb *verbs;
    size_t verb_count;
    // 0: the first word must be one of the verbs and the others its arguments. Otherwise how many
    // words are allowed, at most CAIRN_FLAGS_WORDS_MAX - 1; the program checks them.
    size_t words_max;
    const char
        *words[CAIRN_FLAGS_WORDS_MAX]; // out: arguments that are not flags; NULL after the last
    const char *(*environment)(const char *name); // NULL: getenv
    // Answers --schema (program/flags_schema.h); NULL: the program does not have this flag.
    void (*print_schema)(const struct cairn_flags_program *program);
} cairn_flags_program;
