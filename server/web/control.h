// SPDX-License-Identifier: MIT
#pragma once

// Operators by HTTP: POST /control/VERB with a JSON object (program/control_request.h), answered as
// `cairn-ctl --json` prints it, once the request has been carried out. Each request carries a
// bearer token: 64 hexadecimal digits of a key that the server was given. Pages of other origins
// are refused. POST /drain ends the server as SIGTERM does. /openapi.json describes all of it.

#include <stdint.h>

#include "program/key.h"
#include "server/web/http.h"
#include <cairn/status.h>

struct cairn_server;
struct cairn_uv_driver;

#define CAIRN_WEB_TOKENS_MAX 4
// What a wrong token counts as, in requests of its network.
#define CAIRN_WEB_WRONG_TOKEN_COST 20

typedef struct cairn_web_control cairn_web_control;

typedef struct cairn_web_control_statistics {
    uint64_t asked;          // requests that reached the server
    uint64_t refused_token;  // without a right token
    uint64_t refused_origin; // by pages from elsewhere
    uint64_t refused_body;   // not a request of the verb, or of another type
    uint64_t refused_busy;   // too many waited
    uint64_t left;           // peers that did not wait for their answers
} cairn_web_control_statistics;

// Without a token every request is refused. CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_web_control_create(
    struct cairn_server *server, struct cairn_uv_driver *driver, cairn_web_control **out);
void cairn_web_control_destroy(cairn_web_control *control); // NULL is allowed

// From now on these tokens count; they are copied.
void cairn_web_control_set_tokens(
    cairn_web_control *control, const cairn_key *tokens, uint32_t count);

// What never reaches the server: an answer without a room, its tick and its root.
cairn_http_answer cairn_web_control_refuse(
    uint32_t status, const char *refusal, const char *reason);
cairn_http_answer cairn_web_control_openapi(const cairn_web_control *control);
// As the functions of cairn_http_host.
cairn_http_answer cairn_web_control_begin(
    cairn_web_control *control, const cairn_http_request *request);
cairn_http_answer cairn_web_control_post(cairn_web_control *control, const char *path,
    const uint8_t *body, size_t size, cairn_http_exchange *exchange);
void cairn_web_control_gone(cairn_web_control *control, cairn_http_exchange *exchange);

const cairn_web_control_statistics *cairn_web_control_statistics_read(
    const cairn_web_control *control);
