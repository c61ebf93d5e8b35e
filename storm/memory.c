// SPDX-License-Identifier: MIT
// What endpoints hold of memory, by what their turns took and gave back.
#include <inttypes.h>

#include "server/room/room_table.h"
#include "storm/parts.h"

static const uint64_t second_ns = 1000000000;

static void check_client(cairn_storm *s, uint32_t i) {
    cairn_storm_place *place = &s->places[i];
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    place->leaked += s->config.broken == CAIRN_STORM_BREAK_MEMORY ? 1024 : 0;
    const int64_t bytes = s->system.clients[i].host.bytes + (int64_t)place->leaked;
    if (bytes > (int64_t)s->report.client_bytes_max) {
        s->report.client_bytes_max = (uint64_t)bytes;
    }
    if (place->playing_ns == UINT64_MAX ||
        now_ns - place->playing_ns < CAIRN_STORM_WARM_S * second_ns) {
        place->warm_bytes = 0;
        return;
    }
    place->warm_bytes = place->warm_bytes == 0 ? bytes : place->warm_bytes;
    const int64_t growth = bytes - place->warm_bytes;
    if (growth > (int64_t)s->report.client_growth_max) {
        s->report.client_growth_max = (uint64_t)growth;
    }
    if (growth > CAIRN_STORM_CLIENT_GROWTH_BYTES) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_MEMORY,
            "client %" PRIu32 ": holds %" PRId64 " bytes more than when it was warm", i, growth);
    }
}

static void check_server(cairn_storm *s, uint64_t passed_ns) {
    size_t past = 0;
    for (uint32_t r = 0; r < s->room_count; r++) {
        past += cairn_state_history_statistics_read(cairn_storm_room_of(s, r)->state_history).bytes;
    }
    const int64_t bytes = s->system.server_host.bytes - (int64_t)past;
    cairn_server_statistics c;
    cairn_server_statistics_read(s->system.server, &c);
    s->server_most = c.clients > s->server_most ? c.clients : s->server_most;
    s->server_ns += passed_ns;
    if (bytes > (int64_t)s->report.server_bytes_max) {
        s->report.server_bytes_max = (uint64_t)bytes;
    }
    if (s->server_ns < CAIRN_STORM_WARM_S * second_ns) {
        return;
    }
    s->server_warm = s->server_warm == 0 ? bytes : s->server_warm;
    const int64_t growth = bytes - s->server_warm;
    if (growth > (int64_t)s->report.server_growth_max) {
        s->report.server_growth_max = (uint64_t)growth;
    }
    if (past > s->room_count * CAIRN_ROOM_STATE_HISTORY_BYTES_MAX) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_MEMORY, "server: a past of %zu bytes", past);
    }
    // Once more: the world that healing compares with is made when it is first needed.
    if (growth > (int64_t)(s->server_most + s->room_count) * CAIRN_STORM_SERVER_GROWTH_BYTES) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_MEMORY,
            "server: holds %" PRId64 " bytes more than when it was warm", growth);
    }
}

void cairn_storm_check_memory(cairn_storm *s, uint64_t passed_ns) {
    if (s->config.memory_bytes == NULL) {
        return;
    }
    check_server(s, passed_ns);
    for (uint32_t i = 0; i < s->place_count; i++) {
        if (s->places[i].present && !s->places[i].leaving) {
            check_client(s, i);
        }
    }
}
