// SPDX-License-Identifier: MIT
#pragma once

// The verbs of cairn-replay, each in a file of its name. Each prints its answer on standard output,
// as text or as one JSON object, and what is wrong as one sentence on standard error.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/json.h"

// Exit codes.
typedef enum cairn_replay_exit {
    CAIRN_EXIT_GOOD = 0,
    CAIRN_EXIT_DIFFERS = 1,  // a root differs, the file is damaged, or two recordings part
    CAIRN_EXIT_UNUSABLE = 2, // arguments, files, memory, ticks that are not there
    CAIRN_EXIT_VERSION = 3,  // it needs another version of the simulation or of the rules
    CAIRN_EXIT_SEAL = 4,     // the seal is broken, or not by the key that was asked for
} cairn_replay_exit;

// What the command line says. Texts are NULL when a flag was not given.
typedef struct cairn_replay_order {
    const char *words[5]; // the verb, then what follows it; NULL behind the last
    const char *json;
    const char *workers;
    const char *key;
    const char *state;
    const char *body;
    const char *bodies;
    const char *every;
    const char *scene;
    const char *seconds;
    const char *players;
    const char *plough;
    const char *awake;
    const char *sign;
} cairn_replay_order;

int cairn_replay_info(const cairn_replay_order *order);
int cairn_replay_verify(const cairn_replay_order *order);
int cairn_replay_seek(const cairn_replay_order *order);
int cairn_replay_cut(const cairn_replay_order *order);
int cairn_replay_diff(const cairn_replay_order *order);
int cairn_replay_explain(const cairn_replay_order *order);
int cairn_replay_export(const cairn_replay_order *order);
int cairn_replay_make(const cairn_replay_order *order);

// ------------------------------------------------------------------------------------- helpers

// "cairn-replay: what: why" on standard error. Returns `code`.
int cairn_replay_complain(int code, const char *what, const char *why);
// A number in [low, high] from `text`; `fallback` when it is NULL. False after a complaint.
bool cairn_replay_number(const char *name, const char *text, uint64_t low, uint64_t high,
    uint64_t fallback, uint64_t *out);
// Prints the verb's answer on standard output and destroys it.
void cairn_replay_print_json(cairn_json *json);
// 2 * size lower-case digits and a terminator into `out`, which is returned.
char *cairn_replay_hex(const uint8_t *bytes, size_t size, char *out);

// A file as memory, mapped: pages that nobody reads are never loaded.
typedef struct cairn_replay_file {
    const uint8_t *bytes; // starts on 8 bytes
    size_t size;
    void *map;
} cairn_replay_file;
// False after a complaint. Pair with close.
bool cairn_replay_file_open(const char *path, cairn_replay_file *out);
void cairn_replay_file_close(cairn_replay_file *file);
