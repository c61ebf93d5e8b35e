// SPDX-License-Identifier: MIT
#pragma once

// The counters of a server as text for Prometheus and what else reads its formats: families by
// name, a sample for each room, times as histograms in seconds. OpenMetrics 1.0.0 (openmetrics.io)
// and the older format 0.0.4 differ in the names of counters' families and in the end.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/web/counts.h"
#include <cairn/server.h>
#include <cairn/server_uv.h>

#define CAIRN_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define CAIRN_METRICS_OPEN_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

// What the server itself does not know.
typedef struct cairn_metrics_process {
    cairn_uv_statistics io;
    cairn_web_counts web;                 // but for `control`
    cairn_web_control_statistics control; // of both threads
    uint64_t frames_not_sent; // datagrams that the thread of the web did not take in time
    uint64_t log_lines_lost;
    uint64_t log_bytes_waiting;
} cairn_metrics_process;

// What was read at a moment.
typedef struct cairn_metrics cairn_metrics;

// On the loop's thread. *kept is written again, or made, or larger than before. False: out of
// memory, and *kept is NULL.
bool cairn_metrics_read(
    const cairn_server *server, const cairn_metrics_process *process, cairn_metrics **kept);
void cairn_metrics_destroy(cairn_metrics *metrics); // NULL is allowed

// Memory that is written again: with a hundred rooms the text has half a megabyte, and fresh pages
// of the system would cost as much as to write it.
typedef struct cairn_metrics_text {
    char *bytes; // owned, by malloc; NULL: none yet
    size_t size;
    size_t capacity;
} cairn_metrics_text;

// On any thread. `open`: as OpenMetrics. False: out of memory, and the text is not whole.
bool cairn_metrics_write(const cairn_metrics *metrics, bool open, cairn_metrics_text *written);
