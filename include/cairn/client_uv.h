// SPDX-License-Identifier: MIT
#pragma once

// An optional driver for a client: UDP sockets, the clocks and libuv's loop. Include it if your
// program has no loop or no sockets of its own, and link cairn_client_uv. A driver belongs to the
// thread that runs its loop.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/client.h>
#include <cairn/status.h>
#include <cairn/token.h>
#include <cairn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s;

typedef struct cairn_client_uv cairn_client_uv;

typedef struct cairn_client_uv_config {
    cairn_client *client;   // not owned; outlives the driver
    struct uv_loop_s *loop; // not owned; NULL: the driver makes its own
    uint32_t frame_rate_hz; // 1 .. 1000
    // Called at each frame, after the driver has received all datagrams that arrived; `now_ns` is
    // the time to sample the world at. May be NULL.
    void (*on_frame)(void *user, uint64_t now_ns);
    void *user;
} cairn_client_uv_config;

// On CAIRN_OK `*out` is a driver, to be closed with cairn_client_uv_close; otherwise it is NULL.
// CAIRN_INVALID_ARGUMENT: no client, or a frame rate out of range. CAIRN_OUT_OF_MEMORY.
// CAIRN_IO_FAILED: libuv could not create a loop; usually the process is out of file descriptors.
cairn_status cairn_client_uv_open(const cairn_client_uv_config *config, cairn_client_uv **out);
// Closes sockets and timer. A driver with a loop of its own is freed before this returns; a driver
// on the host's loop is freed when that loop has run the closing callbacks. A look-up that a thread
// has begun is waited for. NULL is allowed.
void cairn_client_uv_close(cairn_client_uv *driver);

// The loop that the driver runs on: for further drivers, which then run with this one and are
// closed before it.
struct uv_loop_s *cairn_client_uv_loop(const cairn_client_uv *driver);

// The addresses of a host, in the order in which a client tries them: server_addresses of a
// cairn_token_request. Valid during the call. If `count` is 0, the host has no address, and
// `why` says why in one sentence.
typedef void (*cairn_client_uv_on_found)(
    void *user, const cairn_address *addresses, uint32_t count, const char *why);
// Looks up a host with a port, such as "localhost:40000", "example.net:40000" or "[::1]:40000", on
// a thread of libuv. The loop calls `on_found` once, later; not at all if the driver was closed
// before. CAIRN_INVALID_ARGUMENT: `host` has no name or no port. CAIRN_OUT_OF_MEMORY.
cairn_status cairn_client_uv_find(
    cairn_client_uv *driver, const char *host, cairn_client_uv_on_found on_found, void *user);

// Calls cairn_client_connect with the present time, sends, and returns what that call returned.
bool cairn_client_uv_connect(
    cairn_client_uv *driver, const uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]);
// Calls cairn_client_disconnect; its datagrams are sent before it returns.
void cairn_client_uv_disconnect(cairn_client_uv *driver);

// The host learned that its network changed: opens new sockets, which have another local port, and
// calls cairn_client_path_changed. The session goes on. The driver calls that function by itself
// when the operating system says that the server cannot be reached.
void cairn_client_uv_rebind(cairn_client_uv *driver);

// Runs the loop until the next frame is due: receives, advances, sends, sleeps in between. Returns
// the time of the frame, to sample the world at. Only for a driver with a loop of its own; with the
// host's loop use on_frame.
uint64_t cairn_client_uv_frame(cairn_client_uv *driver);

// The clock of on_frame and cairn_client_uv_frame.
uint64_t cairn_client_uv_now_ns(void);
// Datagrams that the operating system refused to send, or for which no socket could be opened.
uint64_t cairn_client_uv_send_errors(const cairn_client_uv *driver);

#ifdef __cplusplus
}
#endif
