// SPDX-License-Identifier: MIT
#pragma once

// Drives a server on the operating system: its UDP sockets, the clocks, the signals. Every
// iteration of its loop receives datagrams that wait, advances, sends some of those that are due
// and sleeps until the deadline. What is due to many clients at once is spread over some
// milliseconds. A timerfd with absolute times wakes it for ticks, which run after the datagrams of
// the iteration were received.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/status.h>
#include <cairn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cairn_server;
struct cairn_server_job;
struct cairn_server_task;
struct uv_loop_s;

typedef struct cairn_uv_driver cairn_uv_driver;

#define CAIRN_UV_ERROR_SIZE 160

// Opens and binds the socket; port 0: any free one. Where the system can do it, there are two, so
// that unknown peers share no buffer with clients. [::] takes IPv4 as well as IPv6. A link-local
// address of IPv6 has its interface's index in bytes 4 to 7, in network order. On failure *out is
// NULL and `error` says what the system refused: CAIRN_IO_FAILED or CAIRN_OUT_OF_MEMORY.
cairn_status cairn_uv_driver_open(
    const cairn_address *listen, cairn_uv_driver **out, char error[CAIRN_UV_ERROR_SIZE]);
// The same with so many sockets at one address (SO_REUSEPORT), each with a thread that receives and
// sends for the loop; at most CAIRN_UV_SOCKETS_MAX. 1: one socket, and no thread for it.
#define CAIRN_UV_SOCKETS_MAX 16
cairn_status cairn_uv_driver_open_wide(const cairn_address *listen, uint32_t sockets,
    cairn_uv_driver **out, char error[CAIRN_UV_ERROR_SIZE]);
// UDP sockets that are bound to one address.
typedef struct cairn_uv_sockets {
    uint32_t count;
    bool apart; // there are two, and the second is for peers that are not connected
    int fds[CAIRN_UV_SOCKETS_MAX];
} cairn_uv_sockets;
// The same on sockets that another process opened by these functions; the driver's from now on,
// also on failure.
cairn_status cairn_uv_driver_adopt(
    const cairn_uv_sockets *sockets, cairn_uv_driver **out, char error[CAIRN_UV_ERROR_SIZE]);
// Its sockets, to be shared with another process that goes on with them.
cairn_uv_sockets cairn_uv_driver_sockets(const cairn_uv_driver *driver);
// Whether no datagram waits to be sent now.
bool cairn_uv_driver_is_sent(const cairn_uv_driver *driver);
// From now on the system keeps what arrives. What was received is given to the server, and threads
// of sockets are waited for, some milliseconds at most. True: nothing is left, and nothing waits to
// be sent.
bool cairn_uv_driver_hold(cairn_uv_driver *driver);
void cairn_uv_driver_go_on(cairn_uv_driver *driver); // receives again
// Another process goes on: from now on nothing is received, and cairn_uv_driver_run returns when
// cairn_server_drained says so.
void cairn_uv_driver_leave(cairn_uv_driver *driver);
// Waits for the jobs and tasks that run, closes the sockets and frees the driver. Never returns if
// one of them never ends. NULL is allowed.
void cairn_uv_driver_close(cairn_uv_driver *driver);

cairn_address cairn_uv_driver_address(const cairn_uv_driver *driver); // as bound
// The loop of cairn_uv_driver_run, for handles of the host; they must be closed before the driver
// is.
struct uv_loop_s *cairn_uv_driver_loop(cairn_uv_driver *driver);

// The family of a cairn_address of a peer that the host reaches over a stream of its own, such as a
// WebSocket. ip: the first eight bytes of the peer's network address, then eight that no other peer
// of this server has; port: the peer's. Never in a token.
#define CAIRN_ADDRESS_STREAM 3

typedef struct cairn_uv_run {
    struct cairn_server *server;
    uint32_t seconds; // drains after this time; 0: only at a signal
    // A signal ends the server so much later, or when the last client has left: until then nobody
    // joins, and the clients are told (cairn_server_announce_end). A second signal ends it at once.
    // 0: at once.
    uint32_t drain_s;
    uint32_t stats_interval_s; // 0: never
    void (*on_stats)(void *user);
    uint32_t beat_ms; // 0: never. For a watchdog: while the loop runs
    void (*on_beat)(void *user);
    // Takes a datagram to an address of the family CAIRN_ADDRESS_STREAM; `bytes` last during the
    // call. The host gives datagrams from such addresses to cairn_server_receive, from a callback
    // of the loop. NULL: they are dropped.
    void (*send_stream)(void *user, const cairn_address *to, const uint8_t *bytes, size_t size);
    void (*on_turn)(void *user);   // after each turn of the loop; NULL: nothing
    void (*on_reload)(void *user); // SIGHUP; NULL: it ends the server as SIGTERM does
    void *user;
} cairn_uv_run;

// Ends a server that runs as a first SIGTERM does, a moment later: what is written now still
// leaves. Does nothing after the first call.
void cairn_uv_driver_drain(cairn_uv_driver *driver);
// Changes two members of the cairn_uv_run of a server that runs.
void cairn_uv_driver_set_times(
    cairn_uv_driver *driver, uint32_t stats_interval_s, uint32_t drain_s);

// For run_job of the server's config: runs a job on one of the driver's threads and then calls
// cairn_server_job_done. There are at most 16 threads, or UV_THREADPOOL_SIZE; they are started when
// they are needed, and while all are busy, jobs wait. False: out of memory, or the system starts no
// thread; the server then steps the room at once.
bool cairn_uv_driver_run_job(cairn_uv_driver *driver, struct cairn_server_job *job);
// For run_task: the same on a thread that runs tasks alone and in order.
bool cairn_uv_driver_run_task(cairn_uv_driver *driver, struct cairn_server_task *task);

// From now on SIGTERM, SIGINT and SIGHUP wait for cairn_uv_driver_run, and the process ignores
// SIGPIPE. For a host that announces itself before it runs: a signal in between ends it in order.
void cairn_uv_driver_catch_signals(cairn_uv_driver *driver);
// Runs the server until SIGTERM, SIGINT (or SIGHUP, see on_reload) or `seconds`, then drains it and
// returns; it catches these signals itself (cairn_uv_driver_catch_signals). Another signal after
// the first has its default effect and ends the process.
void cairn_uv_driver_run(cairn_uv_driver *driver, const cairn_uv_run *run);

// A datagram reached the server by another way than the driver's sockets, such as a stream.
void cairn_uv_driver_count(cairn_uv_driver *driver);

typedef struct cairn_uv_statistics {
    uint64_t send_waits;  // how often the socket's buffer was full
    uint64_t send_errors; // datagrams that the system refused to send
    uint64_t receive_errors;
    uint64_t datagrams_joined; // that the system gave together with others of their sender
    // Datagrams that the system dropped, of one process after another that had the sockets: their
    // buffer was full, because the loop or the thread did not run.
    uint64_t buffer_dropped;
    uint64_t unknown_dropped; // the same of the socket of unknown peers
    // With threads for sockets.
    uint64_t received_dropped; // datagrams that the loop did not take in time
    uint64_t sent_dropped;     // datagrams that a thread did not send in time
    uint64_t threads_failed;   // that the system did not start
    uint64_t handovers_failed; // jobs and tasks that therefore ran on the thread of the loop
    uint32_t io_threads;       // threads of sockets; 0: the loop serves its socket itself
} cairn_uv_statistics;
cairn_uv_statistics cairn_uv_driver_statistics(const cairn_uv_driver *driver);

uint64_t cairn_uv_now_ns(void);  // monotonic: the clock of the server
uint64_t cairn_uv_unix_ns(void); // wall clock

#ifdef __cplusplus
}
#endif
