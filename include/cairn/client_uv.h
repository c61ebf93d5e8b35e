// SPDX-License-Identifier: MIT
#pragma once

// An optional driver for a client: one UDP socket, the clocks, libuv's loop. Include it when your
// program has no loop and no sockets of its own; link cairn_client_uv.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/status.h>
#include <cairn/token.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cairn_client; // cairn/client.h
struct uv_loop_s;

typedef struct cairn_client_uv cairn_client_uv;

typedef struct cairn_client_uv_config {
    struct cairn_client *client;                   // not owned; outlives the driver
    struct uv_loop_s *loop;                        // NULL: the driver makes its own
    uint32_t frame_rate_hz;                        // 1 .. 1000
    void (*on_frame)(void *user, uint64_t now_ns); // after each frame's receiving; may be NULL
    void *user;
} cairn_client_uv_config;

// CAIRN_INVALID_ARGUMENT: the config is outside its ranges. CAIRN_OUT_OF_MEMORY. CAIRN_IO_FAILED:
// libuv could not start. *out is then NULL.
cairn_status cairn_client_uv_open(const cairn_client_uv_config *config, cairn_client_uv **out);
// Closes sockets and timer. With its own loop everything is freed at once; with the host's, when
// that loop has run its closing callbacks. NULL is allowed.
void cairn_client_uv_close(cairn_client_uv *driver);

// cairn_client_connect at this moment.
bool cairn_client_uv_connect(
    cairn_client_uv *driver, const uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]);
// cairn_client_disconnect, and its datagrams leave before this returns.
void cairn_client_uv_disconnect(cairn_client_uv *driver);

// Runs the loop until the next frame is due: receives until dry, advances, sends until dry, sleeps
// in between. Returns the frame's time, to sample the world at. For drivers with their own loop.
uint64_t cairn_client_uv_frame(cairn_client_uv *driver);

// The clock of on_frame and cairn_client_uv_frame.
uint64_t cairn_client_uv_now_ns(void);
// Datagrams the system did not take.
uint64_t cairn_client_uv_send_errors(const cairn_client_uv *driver);

#ifdef __cplusplus
}
#endif
