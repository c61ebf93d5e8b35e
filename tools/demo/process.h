// SPDX-License-Identifier: MIT
#pragma once

// Programs that the demo starts. The standard output of each is passed on line by line; each ends,
// at the latest, when the set is destroyed.

#include <stdbool.h>

typedef struct cairn_process_set cairn_process_set;
typedef struct cairn_process cairn_process;

// A line without its end. Of a line of 8 kB or more only the end is passed on.
typedef void (*cairn_process_listener)(void *user, const char *line);

cairn_process_set *cairn_process_set_create(void); // NULL: out of memory
// Kills what still runs and waits for it. NULL is allowed.
void cairn_process_set_destroy(cairn_process_set *set);
// Passes on what the programs print, for at least `wait_ms` unless all of them have ended.
void cairn_process_set_run(cairn_process_set *set, unsigned wait_ms);

// `argv` ends in NULL; argv[0] is the program's path. NULL when the system refuses. The process
// belongs to the set.
cairn_process *cairn_process_start(
    cairn_process_set *set, char **argv, cairn_process_listener on_line, void *user);
// It has ended, and all that it printed was passed on.
bool cairn_process_ended(const cairn_process *process);
// The exit status, or 128 and the signal's number; -1 while it runs.
int cairn_process_code(const cairn_process *process);
// SIGTERM; harmless when it has ended.
void cairn_process_ask_to_end(cairn_process *process);
