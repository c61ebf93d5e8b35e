// SPDX-License-Identifier: MIT

// How a client makes report: the host's settings and the words to the server.

#include "base/assert.h"
#include "client_lib/client_parts.h"

void cairn_client_capsule_create(cairn_client *client, uint32_t ticks_per_advance) {
    const cairn_client_config *config = &client->config;
    cairn_lockstep *lockstep = &client->lockstep;
    client->desync_report.made = config->on_capsule;
    client->desync_report.context = config->capsule_context;
    if (config->on_capsule != NULL && lockstep->state_ticks == 0) {
        lockstep->state_ticks = ticks_per_advance + CAIRN_CLIENT_DESYNC_REPORT_STATES;
        lockstep->state_memory = config->rollback_memory_max;
    }
}

void cairn_client_capsule_watch(cairn_client *client, uint64_t now_ns) {
    if (cairn_client_simulates(client) && client->lockstep.timeline.world != NULL) {
        cairn_client_desync_report_watch(
            &client->desync_report, &client->lockstep.timeline, now_ns);
    }
}

bool cairn_client_capsule_say(cairn_client *client) {
    cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_REQUEST};
    if (!cairn_client_desync_report_request(&client->desync_report, &message.resync_request)) {
        return false;
    }
    message.resync_request.world_epoch = client->world_epoch;
    const uint8_t *bytes = NULL;
    size_t size = 0;
    cairn_status status = cairn_message_encode(client->encoder, &message, &bytes, &size);
    CAIRN_ASSERT(status == CAIRN_OK);
    // A link without room loses the question: the capsule is made without its answer.
    return cairn_link_send_reliable(client->link, bytes, size) == CAIRN_OK;
}
