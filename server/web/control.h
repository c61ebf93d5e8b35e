// SPDX-License-Identifier: MIT
#pragma once

// Operators by HTTP: POST /control/VERB with a JSON object (program/control_request.h), answered as
// `cairn-ctl --json` prints it, once the request has been carried out. Each request carries a
// bearer token: 64 hexadecimal digits of a key that the server was given. Pages of other origins
// are refused. POST /drain ends the server as SIGTERM does. /openapi.json describes all of it.
//
// This is the part of the web's thread, which checks requests; server/web/operations.h carries
// them out on the loop's.

#include <stdint.h>

#include "server/web/http.h"
#include "server/web/questions.h"
#include "server/web/settings.h"
#include <cairn/status.h>

// What a wrong token counts as, in requests of its network.
#define CAIRN_WEB_WRONG_TOKEN_COST 20

typedef struct cairn_web_control cairn_web_control;

// Without a token every request is refused. CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_web_control_create(
    cairn_web_settings *settings, cairn_questions *questions, cairn_web_control **out);
void cairn_web_control_destroy(cairn_web_control *control); // NULL is allowed

cairn_http_answer cairn_web_control_openapi(const cairn_web_control *control);
// As the functions of cairn_http_host. Each token is an operator of its own.
cairn_http_answer cairn_web_control_begin(
    cairn_web_control *control, const cairn_http_request *request, uint32_t *token);
cairn_http_answer cairn_web_control_post(cairn_web_control *control, uint32_t token,
    const char *path, const uint8_t *body, size_t size, cairn_http_exchange *exchange);
void cairn_web_control_note_left(cairn_web_control *control);

// Counts the requests that this thread refused, and the peers that left before their answer.
const cairn_web_control_statistics *cairn_web_control_statistics_read(
    const cairn_web_control *control);
