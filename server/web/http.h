// SPDX-License-Identifier: MIT
#pragma once

// A small HTTP server on the loop of a driver, by libwebsockets. It answers GET requests with what
// a function makes of their path. Sizes, times and the number of connections are bounded: a peer
// that is slow or silent is closed, and nobody else waits for it.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/types.h>

struct uv_loop_s;

#define CAIRN_HTTP_ERROR_SIZE 160

typedef struct cairn_http_answer {
    uint32_t status;  // 200, 404, ...
    const char *type; // of the body: a media type; static text
    uint8_t *bytes;   // from malloc; the server frees them. NULL: no body
    size_t size;
} cairn_http_answer;

typedef struct cairn_http_request {
    const char *path;   // without a query
    const char *accept; // the header of that name, cut at 255 bytes; "": none
} cairn_http_request;

// Called on the loop's thread, which it must not keep for long.
typedef cairn_http_answer cairn_http_get(void *user, const cairn_http_request *request);

typedef struct cairn_http cairn_http;

// Listens; port 0: any free one. False: `error` says why.
bool cairn_http_open(struct uv_loop_s *loop, const cairn_address *listen, cairn_http_get *get,
    void *user, cairn_http **out, char error[CAIRN_HTTP_ERROR_SIZE]);
// Stops listening and closes all connections. The loop must run once more afterwards, so that its
// handles are closed. NULL is allowed.
void cairn_http_close(cairn_http *http);

cairn_address cairn_http_address(const cairn_http *http); // as bound

typedef struct cairn_http_statistics {
    uint64_t answered;            // requests, by whatever status
    uint64_t refused;             // of these, with a status of 400 or more
    uint64_t connections_refused; // there were too many
} cairn_http_statistics;
cairn_http_statistics cairn_http_statistics_read(const cairn_http *http);
