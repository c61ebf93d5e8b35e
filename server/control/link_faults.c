// SPDX-License-Identifier: MIT
// The verb that makes the network path of one client worse.
#include "base/assert.h"
#include "server/control/verbs.h"

#define DELAY_MS_MAX 10000
#define NS_PER_MS 1000000.0

static bool within(float value, float most) {
    return value >= 0.0f && value <= most;
}

static cairn_session *find_client(cairn_server *server, uint64_t client_id) {
    CAIRN_ASSERT(server->sessions != NULL);
    for (uint32_t i = 0; i < server->config.clients_max; ++i) {
        cairn_session *session = &server->sessions[i];
        if (session->link != NULL && session->client_id == client_id) {
            return session;
        }
    }
    return NULL;
}

cairn_control_refusal cairn_control_on_faults(cairn_control_context *c) {
    const cairn_control_faults_request *request = &c->request->faults;
    cairn_session *session = find_client(c->server, request->client_id);
    if (session == NULL) {
        return cairn_control_refuse(c, CAIRN_CONTROL_NAME_UNKNOWN, "no such client is connected");
    }
    if (!within(request->loss, 1.0f) || !within(request->duplicates, 1.0f) ||
        !within(request->delay_ms, DELAY_MS_MAX) || !within(request->jitter_ms, DELAY_MS_MAX)) {
        return cairn_control_refuse(c, CAIRN_CONTROL_OUT_OF_RANGE,
            "loss and duplicates are fractions in [0, 1], delay and jitter at most 10 s");
    }
    cairn_session_drop_conditioners(session);
    if (request->loss == 0.0f && request->duplicates == 0.0f && request->delay_ms == 0.0f &&
        request->jitter_ms == 0.0f) {
        return CAIRN_CONTROL_DONE;
    }
    cairn_link_conditioner_config config = {.loss = request->loss,
        .duplicate = request->duplicates,
        .delay_ns = (uint64_t)((double)request->delay_ms * NS_PER_MS),
        .jitter_ns = (uint64_t)((double)request->jitter_ms * NS_PER_MS),
        .seed = request->seed};
    cairn_status status = cairn_link_conditioner_create(&config, &session->conditioner_in);
    config.seed += 1;
    if (status == CAIRN_OK) {
        status = cairn_link_conditioner_create(&config, &session->conditioner_out);
    }
    cairn_session_touch(session);
    if (status != CAIRN_OK) {
        cairn_session_drop_conditioners(session);
        CAIRN_ASSERT(session->conditioner_in == NULL && session->conditioner_out == NULL);
        return cairn_control_refuse(c, CAIRN_CONTROL_CAPACITY, "out of memory");
    }
    return CAIRN_CONTROL_DONE;
}
