// SPDX-License-Identifier: MIT
#pragma once

// Everything a client does about a world that differs from the server's although its commands
// agree: it repairs the world (repair.h) and reports how the step went wrong (desync_report.h).
// Both send their requests through one queue (request_queue.h).

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client_lib/resync/desync_report.h"
#include "client_lib/resync/repair.h"
#include "client_lib/resync/request_queue.h"
#include "client_lib/simulate/lockstep.h"
#include "client_lib/simulate/predict.h"
#include "schema/messages.h"
#include <cairn/client.h>

typedef struct cairn_client_resync_config {
    bool repairs;               // modes heal and predict
    uint32_t ticks_per_advance; // that lockstep may step at once
    size_t state_memory;        // bytes for saved states
    void (*on_report)(void *context, const uint8_t *bytes, size_t size); // NULL: no reports
    void *report_context;
} cairn_client_resync_config;

typedef struct cairn_client_resync {
    bool repairs;
    cairn_resync_queue queue;
    cairn_client_repair repair;
    cairn_client_desync_report report;
} cairn_client_resync;

// Asks `lockstep` to keep the states that it needs, so create it before the first state arrives.
// `predict` is NULL for a client that does not predict. CAIRN_OUT_OF_MEMORY; destroy is allowed
// after a failure. The object must not move afterwards.
cairn_status cairn_client_resync_create(cairn_client_resync *resync,
    const cairn_client_resync_config *config, cairn_lockstep *lockstep, cairn_predict *predict);
void cairn_client_resync_destroy(cairn_client_resync *resync);
// For the next connection or world. A report under way is finished first.
void cairn_client_resync_clear(cairn_client_resync *resync);

// After the world was stepped. `simulates`: the client has, or will have, a world of its own.
void cairn_client_resync_advance(
    cairn_client_resync *resync, uint64_t now_ns, bool simulates, uint32_t tick_rate_hz);
// The purpose whose request is to be sent now, with the request; CAIRN_RESYNC_PURPOSE_COUNT: none.
cairn_resync_purpose cairn_client_resync_next_request(
    const cairn_client_resync *resync, uint64_t now_ns, cairn_resync_request *out);
// That request was handed to the link, in a message of `size` bytes.
void cairn_client_resync_request_sent(
    cairn_client_resync *resync, uint64_t now_ns, cairn_resync_purpose purpose, size_t size);
// Takes the server's answer, a message of `size` bytes.
void cairn_client_resync_take(cairn_client_resync *resync, uint64_t now_ns,
    const cairn_resync_response *response, size_t size);
// A full state of `size` bytes was loaded.
void cairn_client_resync_state_loaded(cairn_client_resync *resync, uint64_t now_ns, size_t size);

// Ticks that one advance may step: more than `usual` while a repaired world catches up.
uint32_t cairn_client_resync_steps_max(const cairn_client_resync *resync, uint32_t usual);
// Own roots that make a root report due: `usual`, but while a repair is under way the root that
// differs is reported once and at once, and no other.
uint64_t cairn_client_resync_roots_per_report(cairn_client_resync *resync, uint64_t usual);
