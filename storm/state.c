// SPDX-License-Identifier: MIT
#include "storm/state.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/assert.h"
#include "client_lib/client_probe.h"

bool cairn_storm_chance(cairn_storm *s, uint64_t permille) {
    CAIRN_ASSERT(permille <= 1000);
    return cairn_storm_below(s, 1000) < permille;
}

void cairn_storm_report_finding(
    cairn_storm *s, cairn_storm_finding finding, const char *format, ...) {
    CAIRN_ASSERT(finding != CAIRN_STORM_FOUND_NOTHING && finding < CAIRN_STORM_FINDING_COUNT);
    if (s->report.finding != CAIRN_STORM_FOUND_NOTHING) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->report.words, sizeof s->report.words, format, arguments);
    va_end(arguments);
    s->report.finding = finding;
    s->report.found_ns = cairn_system_now_ns(&s->system);
}

const char *cairn_storm_room_name(uint32_t room) {
    return room == 0 ? CAIRN_ROOM_NAME_DEFAULT : CAIRN_SYSTEM_SECOND_ROOM;
}

cairn_room *cairn_storm_server_room(const cairn_storm *s, uint32_t room) {
    CAIRN_ASSERT(room < s->room_count);
    return cairn_room_table_at(&s->system.server->rooms, s->rooms[room].id);
}

cairn_storm_room *cairn_storm_room_of_slot(cairn_storm *s, uint32_t slot) {
    CAIRN_ASSERT(slot < s->slot_count && s->slots[slot].room < s->room_count);
    return &s->rooms[s->slots[slot].room];
}

bool cairn_storm_simulates(const cairn_storm *s, uint32_t i) {
    CAIRN_ASSERT(s->system.clients[i].client != NULL);
    return cairn_client_probe_of(s->system.clients[i].client).simulates;
}

uint64_t cairn_storm_undisturbed_ns(const cairn_storm *s, uint32_t i) {
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const uint64_t since_ns = s->slots[i].undisturbed_since_ns;
    return now_ns > since_ns ? now_ns - since_ns : 0;
}

uint64_t cairn_storm_lag_ns(const cairn_storm *s, uint32_t i) {
    const cairn_storm_slot *slot = &s->slots[i];
    const uint64_t held = cairn_storm_simulates(s, i) ? slot->world_tick : slot->snapshot_tick;
    if (held == UINT64_MAX) {
        return UINT64_MAX;
    }
    const uint64_t tick = s->rooms[slot->room].server_tick;
    const uint64_t behind = tick > held ? tick - held : 0;
    return behind * CAIRN_NS_PER_S / s->system.config.tick_rate_hz;
}

bool cairn_storm_difference_expected(const cairn_storm *s, uint32_t i) {
    const cairn_storm_slot *slot = &s->slots[i];
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    return slot->damaged || slot->server_died ||
           (slot->repaired_ns > 0 &&
               now_ns < slot->repaired_ns + CAIRN_STORM_RECOVERY_S * CAIRN_NS_PER_S);
}

bool cairn_storm_edited(const cairn_command_log *log, uint64_t tick) {
    uint32_t count = 0;
    const cairn_command *commands = cairn_command_log_commands(log, tick, &count);
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        found = found || commands[i].slot >= CAIRN_SLOTS_MAX;
    }
    return found;
}
