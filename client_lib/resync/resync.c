// SPDX-License-Identifier: MIT
#include "client_lib/resync/resync.h"

#include "base/assert.h"

cairn_status cairn_client_resync_create(cairn_client_resync *resync,
    const cairn_client_resync_config *config, cairn_lockstep *lockstep, cairn_predict *predict) {
    CAIRN_ASSERT(lockstep != NULL && config->ticks_per_advance > 0);
    *resync = (cairn_client_resync){.repairs = config->repairs};
    cairn_client_desync_report_create(&resync->report, &lockstep->timeline, &resync->queue,
        config->on_report, config->report_context);
    if (config->repairs) {
        cairn_lockstep_keep_states(lockstep, CAIRN_CLIENT_REPAIR_STATES, config->state_memory);
    } else if (config->on_report != NULL) {
        cairn_lockstep_keep_states(
            lockstep, config->ticks_per_advance + CAIRN_DESYNC_REPORT_STATES, config->state_memory);
    }
    return cairn_client_repair_create(&resync->repair, lockstep, predict, &resync->queue);
}

void cairn_client_resync_destroy(cairn_client_resync *resync) {
    if (resync->report.queue != NULL) {
        cairn_client_desync_report_clear(&resync->report);
    }
    cairn_client_repair_destroy(&resync->repair);
}

void cairn_client_resync_clear(cairn_client_resync *resync) {
    cairn_client_desync_report_clear(&resync->report);
    cairn_client_repair_clear(&resync->repair);
    CAIRN_ASSERT(cairn_resync_queue_next(&resync->queue, UINT64_MAX) == CAIRN_RESYNC_PURPOSE_COUNT);
}

void cairn_client_resync_advance(
    cairn_client_resync *resync, uint64_t now_ns, bool simulates, uint32_t tick_rate_hz) {
    CAIRN_ASSERT(tick_rate_hz > 0);
    if (simulates) {
        cairn_client_desync_report_watch(&resync->report, now_ns); // before the world is repaired
    }
    if (simulates && resync->repairs) {
        cairn_client_repair_advance(&resync->repair, now_ns, tick_rate_hz);
    }
    cairn_client_desync_report_advance(&resync->report, now_ns);
}

cairn_resync_purpose cairn_client_resync_next_request(
    const cairn_client_resync *resync, uint64_t now_ns, cairn_resync_request *out) {
    const cairn_resync_purpose purpose = cairn_resync_queue_next(&resync->queue, now_ns);
    if (purpose != CAIRN_RESYNC_PURPOSE_COUNT) {
        CAIRN_ASSERT(resync->queue.entries[purpose].request.want != 0);
        *out = resync->queue.entries[purpose].request;
    }
    return purpose;
}

void cairn_client_resync_request_sent(
    cairn_client_resync *resync, uint64_t now_ns, cairn_resync_purpose purpose, size_t size) {
    CAIRN_ASSERT(purpose < CAIRN_RESYNC_PURPOSE_COUNT && size > 0);
    if (purpose == CAIRN_RESYNC_FOR_REPAIR) {
        cairn_client_repair_request_sent(&resync->repair, size);
    }
    cairn_resync_queue_sent(&resync->queue, purpose, now_ns);
}

// Both requests may be about one tick, and what answers one may serve the other.
void cairn_client_resync_take(cairn_client_resync *resync, uint64_t now_ns,
    const cairn_resync_response *response, size_t size) {
    cairn_client_desync_report_take(&resync->report, response);
    if (resync->repairs && response->stages_size == 0) {
        cairn_client_repair_take(&resync->repair, now_ns, response, size);
    }
}

void cairn_client_resync_state_loaded(cairn_client_resync *resync, uint64_t now_ns, size_t size) {
    if (resync->repairs) {
        cairn_client_repair_state_loaded(&resync->repair, now_ns, size);
    }
}

uint32_t cairn_client_resync_steps_max(const cairn_client_resync *resync, uint32_t usual) {
    const bool catches_up = resync->repair.state == CAIRN_CLIENT_REPAIR_CATCHING_UP;
    return catches_up && usual < CAIRN_CLIENT_REPAIR_CATCH_UP_TICKS
               ? CAIRN_CLIENT_REPAIR_CATCH_UP_TICKS
               : usual;
}

uint64_t cairn_client_resync_roots_per_report(cairn_client_resync *resync, uint64_t usual) {
    cairn_client_repair *repair = &resync->repair;
    if (!resync->repairs || repair->state == CAIRN_CLIENT_REPAIR_IDLE) {
        return usual;
    }
    const bool first = repair->difference_unreported;
    repair->difference_unreported = false;
    return first ? 1 : UINT32_MAX;
}

const char *cairn_client_resync_cause_text(cairn_client_resync_cause cause) {
    static const char *const texts[CAIRN_RESYNC_CAUSE_COUNT] = {
        [CAIRN_RESYNC_BY_STEPPING] = "stepped again from the last valid tick",
        [CAIRN_RESYNC_BY_ELEMENTS] = "the server sent what differed",
        [CAIRN_RESYNC_BY_STATE] = "the server sent its full state",
    };
    return (uint32_t)cause < CAIRN_RESYNC_CAUSE_COUNT ? texts[cause] : "unknown";
}
