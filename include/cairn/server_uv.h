// SPDX-License-Identifier: MIT
#pragma once

// Drives a server in the real world: one UDP socket, the clocks, the signals. The only file of this
// room that knows libuv. Every turn of its loop is: receive until dry, advance, send until dry,
// sleep to the deadline. Ticks are woken by a timerfd set to absolute times, and run after the
// turn's datagrams are in.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/status.h>
#include <cairn/types.h>

struct cairn_server;
struct cairn_server_job;

typedef struct cairn_uv_driver cairn_uv_driver;

#define CAIRN_UV_ERROR_SIZE 160

// Opens and binds the socket. Port 0 takes any free one. On failure *out is NULL and `error` says
// what the system refused: CAIRN_IO_FAILED or CAIRN_OUT_OF_MEMORY.
cairn_status cairn_uv_driver_open(
    const cairn_address *listen, cairn_uv_driver **out, char error[CAIRN_UV_ERROR_SIZE]);
// NULL is allowed. Waits for jobs: a server with one that never ends cannot be closed, only left.
void cairn_uv_driver_close(cairn_uv_driver *driver);

cairn_address cairn_uv_driver_address(const cairn_uv_driver *driver); // as bound

typedef struct cairn_uv_run {
    struct cairn_server *server;
    uint32_t seconds;          // drains after this time; 0: at SIGTERM or SIGINT only
    uint32_t stats_interval_s; // 0: never
    void (*on_stats)(void *user);
    void *user;
} cairn_uv_run;

// Runs a job on one of libuv's threads and says so to the server that is being driven: for run_job
// of the server's config. As many rooms may be stuck as there are threads (UV_THREADPOOL_SIZE) but
// one before others wait; there are 16 unless the environment says otherwise. False: out of memory.
bool cairn_uv_driver_run_job(cairn_uv_driver *driver, struct cairn_server_job *job);

// Returns when the server is drained: after a signal or its time. A second signal does what the
// system does with it, and ends the process. Ignores SIGPIPE from here on.
void cairn_uv_driver_run(cairn_uv_driver *driver, const cairn_uv_run *run);

typedef struct cairn_uv_statistics {
    uint64_t send_waits;  // times the socket's buffer was full and sending waited
    uint64_t send_errors; // datagrams the system refused
    uint64_t receive_errors;
} cairn_uv_statistics;
cairn_uv_statistics cairn_uv_driver_statistics(const cairn_uv_driver *driver);

uint64_t cairn_uv_now_ns(void);  // monotonic: what the server is to be created with
uint64_t cairn_uv_unix_ns(void); // wall clock
