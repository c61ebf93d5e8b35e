// SPDX-License-Identifier: MIT
#pragma once

// Requests by HTTP on a loop of libuv, which they never block: libcurl's multi interface.
// http_client.c is the only file that includes libcurl.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/status.h>

struct uv_loop_s;

// Of an answer's text, or of a line of one that goes on; more is an error.
#define CAIRN_HTTP_ANSWER_MAX 65536

typedef struct cairn_http_client cairn_http_client;

typedef struct cairn_http_ask {
    const char *url;
    const char *method;
    const char *body;    // JSON; NULL: none
    uint32_t timeout_ms; // until the answer is whole; 0: it may go on for ever
    // Takes each line of an answer with a status of success as it comes, without its end. NULL: the
    // text of the whole answer goes to `done`.
    void (*line)(void *user, const char *text, size_t size);
    // Called once, from the loop. status: 0: no whole answer came, and `text` says why. Not called
    // for what is under way when the client is closed.
    void (*done)(void *user, uint32_t status, const char *text);
    void *user;
} cairn_http_ask;

// Loads libcurl; first of all. CAIRN_NOT_FOUND: it is not installed.
cairn_status cairn_http_client_load(void);

// CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_http_client_open(struct uv_loop_s *loop, cairn_http_client **out);
// Ends what is under way; runs the loop until its handles are closed. NULL is allowed.
void cairn_http_client_close(cairn_http_client *client);
// Copies what it needs. False: out of memory, and `done` is not called.
bool cairn_http_client_ask(cairn_http_client *client, const cairn_http_ask *ask);
// Blocks until the answer came, or for timeout_ms; calls `done` before it returns.
void cairn_http_ask_now(const cairn_http_ask *ask);
