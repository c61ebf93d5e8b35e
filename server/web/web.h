// SPDX-License-Identifier: MIT
#pragma once

// What `cairnd --web` serves: /metrics (server/web/metrics.h), /healthz while the loop runs,
// /readyz while clients may join, /rooms, the files of a page, WebSockets that carry datagrams
// (server/web/peers.h), requests of operators (server/web/control.h), and with --dev tokens for the
// page.
//
// Sockets, HTTP and files have a thread and a loop of their own. The thread of the server's loop
// alone reads the server: what is asked of it, and datagrams, travel in bounded queues
// (server/web/questions.h, server/threads/datagram_ring.h), at which neither thread waits. All
// functions are for the thread of the server's loop.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/key.h"
#include "server/web/http.h"
#include "server/web/settings.h"

struct cairn_server;
struct cairn_uv_driver;

typedef struct cairn_web cairn_web;

typedef struct cairn_web_config {
    struct cairn_server *server; // these outlive the web server
    struct cairn_uv_driver *driver;
    const char *root;                   // folder of the page
    cairn_web_settings_values settings; // as of cairn_web_set
    uint32_t peers_max;                 // WebSockets
    // /token issues tokens for this server, with this key and the operator's right where the
    // request asks for it and `control` allows it. NULL: it does not.
    const cairn_key *dev_key;
    cairn_address public_address;
    uint32_t token_lifetime_s;
    uint64_t protocol_id;
    bool control;
    uint64_t (*log_lines_lost)(void *user);
    uint64_t (*log_bytes_waiting)(void *user);
    void *user;
} cairn_web_config;

// Reads the page and makes everything but the socket that listens and the thread, which takes some
// tens of milliseconds. False: `error` says why.
bool cairn_web_create(
    const cairn_web_config *config, cairn_web **out, char error[CAIRN_HTTP_ERROR_SIZE]);
// Once; takes no time that a tick would notice. From now on the thread runs. Port 0: any free one.
// False as above.
bool cairn_web_listen(cairn_web *web, const cairn_address *at, char error[CAIRN_HTTP_ERROR_SIZE]);
// Sends what waits, ends the thread and closes all connections. NULL is allowed.
void cairn_web_close(cairn_web *web);
// Changes three settings of a running server: which origins may open WebSockets, how many
// WebSockets a network may have, and the tokens of operators.
void cairn_web_set(cairn_web *web, const cairn_web_settings_values *values);
cairn_address cairn_web_address(const cairn_web *web); // as bound
bool cairn_web_has_page(const cairn_web *web);
// As send_stream of cairn_uv_run. What is sent leaves after cairn_web_turn.
void cairn_web_send(cairn_web *web, const cairn_address *to, const uint8_t *bytes, size_t size);
// After each turn of the server's loop. NULL is allowed.
void cairn_web_turn(cairn_web *web);
