// SPDX-License-Identifier: MIT
#pragma once

// Answers that are JSON. On any thread.

#include <stdint.h>

#include "server/web/http.h"

struct cairn_json;

#define CAIRN_JSON_TYPE "application/json"

// Destroys `json`. Without memory: 503, and no body.
cairn_http_answer cairn_json_answer(uint32_t status, struct cairn_json *json);
// What never reaches the server: an answer without a room, its tick and its root.
cairn_http_answer cairn_json_refusal(uint32_t status, const char *refusal, const char *reason);
