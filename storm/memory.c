// SPDX-License-Identifier: MIT
#include "storm/state.h"

#include <inttypes.h>

static void check_client(cairn_storm *s, uint32_t i) {
    cairn_storm_slot *slot = &s->slots[i];
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const int64_t bytes = s->system.clients[i].host.bytes;
    if (bytes > (int64_t)s->report.client_bytes_max) {
        s->report.client_bytes_max = (uint64_t)bytes;
    }
    if (slot->playing_ns == UINT64_MAX ||
        now_ns - slot->playing_ns < CAIRN_STORM_WARM_S * CAIRN_NS_PER_S) {
        slot->warm_bytes = 0;
        return;
    }
    slot->warm_bytes = slot->warm_bytes == 0 ? bytes : slot->warm_bytes;
    const int64_t growth = bytes - slot->warm_bytes;
    if (growth > (int64_t)s->report.client_growth_max) {
        s->report.client_growth_max = (uint64_t)growth;
    }
    if (growth > CAIRN_STORM_CLIENT_GROWTH_BYTES) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_MEMORY,
            "client %" PRIu32 ": grew by %" PRId64 " bytes since it was warm", i, growth);
    }
}

static void check_server(cairn_storm *s, uint64_t passed_ns) {
    size_t history_bytes = 0;
    for (uint32_t r = 0; r < s->room_count; r++) {
        history_bytes +=
            cairn_state_history_statistics_read(cairn_storm_server_room(s, r)->state_history).bytes;
    }
    const int64_t bytes = s->system.server_host.bytes - (int64_t)history_bytes;
    cairn_server_statistics c;
    cairn_server_statistics_read(s->system.server, &c);
    s->server_clients_most =
        c.clients > s->server_clients_most ? c.clients : s->server_clients_most;
    s->server_ns += passed_ns;
    if (bytes > (int64_t)s->report.server_bytes_max) {
        s->report.server_bytes_max = (uint64_t)bytes;
    }
    if (s->server_ns < CAIRN_STORM_WARM_S * CAIRN_NS_PER_S) {
        return;
    }
    s->server_warm_bytes = s->server_warm_bytes == 0 ? bytes : s->server_warm_bytes;
    const int64_t growth = bytes - s->server_warm_bytes;
    if (growth > (int64_t)s->report.server_growth_max) {
        s->report.server_growth_max = (uint64_t)growth;
    }
    if (history_bytes > s->room_count * CAIRN_ROOM_STATE_HISTORY_BYTES_MAX) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_MEMORY,
            "server: the state histories of its rooms take %zu bytes", history_bytes);
    }
    // One share more than clients: the world that repairs compare with is created on first use.
    if (growth >
        (int64_t)(s->server_clients_most + s->room_count) * CAIRN_STORM_SERVER_GROWTH_BYTES) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_MEMORY,
            "server: grew by %" PRId64 " bytes since it was warm", growth);
    }
}

void cairn_storm_check_memory(cairn_storm *s, uint64_t passed_ns) {
    if (s->config.memory_bytes == NULL) {
        return;
    }
    check_server(s, passed_ns);
    for (uint32_t i = 0; i < s->slot_count; i++) {
        if (s->slots[i].present && !s->slots[i].leaving) {
            check_client(s, i);
        }
    }
}
