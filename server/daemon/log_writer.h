// SPDX-License-Identifier: MIT
#pragma once

// Writes log lines to a descriptor on a thread of its own, so that a reader that stops cannot stop
// the caller. Lines wait in a ring of fixed size. When it is full, further lines are lost and
// counted; when the reader is back, one line says how many, at the place where they are missing. A
// write that fails (a full disk, a closed pipe) is repeated every second. For cairnd alone.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/daemon/log.h"
#include <cairn/status.h>

typedef struct cairn_log_writer cairn_log_writer;

typedef struct cairn_log_writer_config {
    int descriptor;   // stays the caller's
    size_t ring_size; // bytes that may wait
    // Writes the line that reports lost lines (room for CAIRN_LOG_LINE_SIZE_MAX) and returns its
    // size. The writer's thread calls it.
    size_t (*write_lost)(void *user, uint64_t lines, char *out);
    void *user;
} cairn_log_writer_config;

// CAIRN_OUT_OF_MEMORY. CAIRN_IO_FAILED: the thread cannot be started; errno says why. *out is NULL
// then.
cairn_status cairn_log_writer_open(const cairn_log_writer_config *config, cairn_log_writer **out);

// Hands over the line that `log` makes of it, if it makes one. Any thread may call this.
void cairn_log_writer_write(cairn_log_writer *writer, cairn_log *log, const cairn_log_line *line);
// Lines below this level are not written from now on.
void cairn_log_writer_set_level(cairn_log_writer *writer, cairn_log *log, cairn_log_level level);
// Hands over a line, which ends with a newline. Never waits for the descriptor. False: the ring is
// full and the line is lost.
bool cairn_log_writer_put(cairn_log_writer *writer, const char *line, size_t size);
uint64_t cairn_log_writer_lost(const cairn_log_writer *writer);  // lines, since open
size_t cairn_log_writer_waiting(const cairn_log_writer *writer); // bytes

// Writes what waits for at most `wait_ms`, then ends the thread. Returns false if lines were left
// unwritten. If the thread does not end because the system holds it inside a write, its memory is
// not freed. NULL is allowed.
bool cairn_log_writer_close(cairn_log_writer *writer, uint32_t wait_ms);
