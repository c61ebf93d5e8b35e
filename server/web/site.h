// SPDX-License-Identifier: MIT
#pragma once

// What the thread of the web does: it answers what it can by itself, such as the files of the page,
// asks the loop's thread the rest (server/web/questions.h), and carries datagrams between
// WebSockets and two queues. While the thread runs, it alone calls these functions.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/web/http.h"
#include "server/web/questions.h"
#include "server/web/settings.h"

struct cairn_datagram_ring;
struct uv_loop_s;

typedef struct cairn_site cairn_site;

typedef struct cairn_site_config {
    struct uv_loop_s *loop; // these outlive the site
    cairn_web_settings *settings;
    cairn_questions *questions;
    struct cairn_datagram_ring *received; // of WebSockets
    const char *root;                     // folder of the page
    uint32_t peers_max;
    bool issues_tokens; // the loop has a key for them
    bool control;       // also for operators
} cairn_site_config;

// False: `error` says why.
bool cairn_site_create(
    const cairn_site_config *config, cairn_site **out, char error[CAIRN_HTTP_ERROR_SIZE]);
// Closes all connections, in some turns of the loop. NULL is allowed.
void cairn_site_close(cairn_site *site);
bool cairn_site_listen(
    cairn_site *site, const cairn_address *at, char error[CAIRN_HTTP_ERROR_SIZE]);

// Sends the answers of the loop's thread to the peers that asked.
void cairn_site_take_answers(cairn_site *site);
// Sends a datagram of the server.
void cairn_site_send(cairn_site *site, const cairn_address *to, const uint8_t *bytes, size_t size);
// Whether something was put into `received` since the last call.
bool cairn_site_has_received(cairn_site *site);

// On any thread.
cairn_address cairn_site_address(const cairn_site *site); // as bound
bool cairn_site_has_page(const cairn_site *site);
