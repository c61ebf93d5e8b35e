// SPDX-License-Identifier: MIT
// The verb that makes a client's path a bad one.
#include "server/control/parts.h"

#define DELAY_MS_MAX 10000
#define NS_PER_MS 1000000.0

static bool within(float value, float most) {
    return value >= 0.0f && value <= most;
}

static cairn_session *find_client(cairn_server *server, uint64_t client_id) {
    for (uint32_t i = 0; i < server->config.clients_max; ++i) {
        cairn_session *session = &server->sessions[i];
        if (session->link != NULL && session->client_id == client_id) {
            return session;
        }
    }
    return NULL;
}

static void drop_boxes(cairn_session *session) {
    cairn_link_conditioner_destroy(session->conditioner_in);
    cairn_link_conditioner_destroy(session->conditioner_out);
    session->conditioner_in = NULL;
    session->conditioner_out = NULL;
}

cairn_control_refusal cairn_control_faults(cairn_control_visit *v) {
    const float *n = v->ask->numbers;
    cairn_session *session = find_client(v->server, v->ask->tick);
    if (session == NULL) {
        return cairn_control_refuse(v, CAIRN_CONTROL_NAME_UNKNOWN, "no such client is connected");
    }
    if (v->ask->number_count == 0) {
        drop_boxes(session);
        return CAIRN_CONTROL_DONE;
    }
    if (v->ask->number_count != 4 || !within(n[0], 1.0f) || !within(n[1], 1.0f) ||
        !within(n[2], DELAY_MS_MAX) || !within(n[3], DELAY_MS_MAX)) {
        return cairn_control_refuse(v, CAIRN_CONTROL_OUT_OF_RANGE,
            "loss and duplicates are shares in [0, 1], delay and jitter at most 10 s");
    }
    cairn_link_conditioner_config config = {.loss = n[0],
        .duplicate = n[1],
        .delay_ns = (uint64_t)((double)n[2] * NS_PER_MS),
        .jitter_ns = (uint64_t)((double)n[3] * NS_PER_MS),
        .seed = v->ask->seed};
    drop_boxes(session);
    cairn_status status = cairn_link_conditioner_create(&config, &session->conditioner_in);
    config.seed += 1;
    if (status == CAIRN_OK) {
        status = cairn_link_conditioner_create(&config, &session->conditioner_out);
    }
    if (status != CAIRN_OK) {
        drop_boxes(session);
        return cairn_control_refuse(v, CAIRN_CONTROL_CAPACITY, "out of memory");
    }
    return CAIRN_CONTROL_DONE;
}
