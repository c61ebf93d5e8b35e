// SPDX-License-Identifier: MIT
#pragma once

// What `cairnd --web` answers: /metrics (server/web/metrics.h), /healthz while the loop runs, and
// /readyz while clients may join.

#include <stdbool.h>

#include "server/web/http.h"

struct cairn_server;
struct cairn_uv_driver;

typedef struct cairn_web cairn_web;

typedef struct cairn_web_config {
    cairn_address listen;
    struct cairn_server *server; // these outlive the web server
    struct cairn_uv_driver *driver;
    uint64_t (*log_lines_lost)(void *user);
    void *user;
} cairn_web_config;

// False: `error` says why.
bool cairn_web_open(
    const cairn_web_config *config, cairn_web **out, char error[CAIRN_HTTP_ERROR_SIZE]);
void cairn_web_close(cairn_web *web);                  // NULL is allowed
cairn_address cairn_web_address(const cairn_web *web); // as bound
