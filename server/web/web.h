// SPDX-License-Identifier: MIT
#pragma once

// What `cairnd --web` serves: /metrics (server/web/metrics.h), /healthz while the loop runs,
// /readyz while clients may join, /rooms, the files of a page, WebSockets that carry datagrams
// (server/web/peers.h), requests of operators (server/web/control.h), and with --dev tokens for the
// page.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/key.h"
#include "server/web/control.h"
#include "server/web/http.h"

struct cairn_server;
struct cairn_uv_driver;

typedef struct cairn_web cairn_web;

#define CAIRN_WEB_ORIGINS_MAX 16

typedef struct cairn_web_config {
    struct cairn_server *server; // these outlive the web server
    struct cairn_uv_driver *driver;
    const char *root;                           // folder of the page
    const char *origins[CAIRN_WEB_ORIGINS_MAX]; // of pages that may open WebSockets, beside ours
    uint32_t origin_count;
    uint32_t peers_max; // WebSockets
    uint32_t peers_per_network_max;
    // /token issues tokens for this server, with this key and the operator's right where the
    // request asks for it and `control` allows it. NULL: it does not.
    const cairn_key *dev_key;
    cairn_address public_address;
    uint32_t token_lifetime_s;
    uint64_t protocol_id;
    bool control;
    const cairn_key *control_tokens; // [control_token_count], of operators by HTTP; copied
    uint32_t control_token_count;    // 0: there are no operators by HTTP
    uint64_t (*log_lines_lost)(void *user);
    uint64_t (*log_bytes_waiting)(void *user);
    void *user;
} cairn_web_config;

// Reads the page and makes everything but the socket that listens, which takes some tens of
// milliseconds. False: `error` says why.
bool cairn_web_create(
    const cairn_web_config *config, cairn_web **out, char error[CAIRN_HTTP_ERROR_SIZE]);
// Once; takes no time that a tick would notice. Port 0: any free one. False as above.
bool cairn_web_listen(cairn_web *web, const cairn_address *at, char error[CAIRN_HTTP_ERROR_SIZE]);
void cairn_web_close(cairn_web *web); // NULL is allowed
// Of a server that runs: what pages may open WebSockets, how many of them a network may have, and
// who operates it. Members as of the config.
void cairn_web_set(cairn_web *web, const char *const *origins, uint32_t origin_count,
    uint32_t peers_per_network_max, const cairn_key *control_tokens, uint32_t control_token_count);
cairn_address cairn_web_address(const cairn_web *web); // as bound
bool cairn_web_has_page(const cairn_web *web);
// As send_stream of cairn_uv_run.
void cairn_web_send(cairn_web *web, const cairn_address *to, const uint8_t *bytes, size_t size);
