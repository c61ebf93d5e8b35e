// SPDX-License-Identifier: MIT
#pragma once

// Programs that the demo started, by their process ids: each one's standard output is read line by
// line without waiting, and each one is ended by the demo, however the demo itself ends.

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CAIRN_PROCESS_LINE_SIZE_MAX 8192

typedef struct cairn_process {
    pid_t pid;  // 0: not running
    int output; // the read end; -1: closed
    int status; // as waitpid tells, when it has ended
    bool ended;
    size_t held; // bytes of `line` that wait for the end of their line
    char line[CAIRN_PROCESS_LINE_SIZE_MAX];
} cairn_process;

// `argv` ends in NULL; argv[0] is the program's path. False when the system refuses.
bool cairn_process_start(cairn_process *process, char *const *argv);
// Reads what is there; `on_line` gets each whole line, without its end. Lines that are too long are
// cut. Closes the output at its end.
void cairn_process_read(
    cairn_process *process, void (*on_line)(void *user, const char *line), void *user);
// Waits at most `wait_ms` for outputs, of those that are open.
void cairn_processes_wait(cairn_process *const *processes, size_t count, int wait_ms);
// Notes an end without waiting for it; true when the process has ended.
bool cairn_process_ended(cairn_process *process);
// Asks it to end (SIGTERM); harmless when it has.
void cairn_process_ask(const cairn_process *process);
// Ends it now, and waits for it.
void cairn_process_end(cairn_process *process);
// The exit status, or 128 and the signal's number; -1 while it runs.
int cairn_process_code(const cairn_process *process);
