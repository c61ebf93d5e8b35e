// SPDX-License-Identifier: MIT
#include "server/handover/links.h"

#include <stdlib.h>

#include "net/link.h"
#include "server/core/server_state.h"
#include "server/core/session_link.h"

void cairn_handover_links_prepare(
    cairn_handover_links *links, cairn_server *server, uint32_t bodies, uint32_t count) {
    const uint32_t most = server->config.clients_max;
    if (links->list == NULL) {
        links->list = calloc(most, sizeof(cairn_link *));
        links->bodies = bodies;
    }
    for (uint32_t i = 0; i < count && links->list != NULL && links->bodies == bodies; ++i) {
        if (links->count == most ||
            cairn_session_link_create(server, bodies, &links->list[links->count]) != CAIRN_OK) {
            return;
        }
        links->count += 1;
    }
}

void cairn_handover_links_end(cairn_handover_links *links) {
    while (links->count > 0) {
        cairn_link_destroy(links->list[--links->count]);
    }
    free(links->list);
    links->list = NULL;
}

bool cairn_handover_links_take(
    cairn_handover_links *links, cairn_server *server, uint32_t bodies, cairn_link **out) {
    if (links->count == 0 || links->bodies != bodies) {
        return cairn_session_link_create(server, bodies, out) == CAIRN_OK;
    }
    *out = links->list[--links->count];
    cairn_link_reset(*out, server->context.now_ns);
    return true;
}
