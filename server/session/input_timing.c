// SPDX-License-Identifier: MIT
#include "server/session/input_timing.h"

#include "base/assert.h"
#include "base/game_input.h"
#include "bridge/snapshot.h"

void cairn_input_timing_take(cairn_input_timing *timing, cairn_room *room, uint32_t slot,
    const cairn_wire_input *input, uint32_t parts, uint64_t now_ns) {
    CAIRN_ASSERT(slot < room->settings.players_max);
    cairn_server_room_statistics *statistics = &room->statistics;
    cairn_command commands[CAIRN_INPUT_COMMANDS_MAX];
    CAIRN_ASSERT(parts >= 1 && parts <= CAIRN_INPUT_COMMANDS_MAX);
    for (uint32_t i = 0; i < parts; ++i) {
        commands[i] = cairn_command_of_input(&input[i], slot);
        commands[i].kind = cairn_input_part_kind(i);
    }
    const cairn_input_refusal why = cairn_inbox_input_refusal(room->inbox, commands, parts);
    if (why != CAIRN_INPUT_TAKEN) {
        statistics->inputs_not_of_layout[why] += 1;
        return;
    }
    switch (cairn_inbox_take(room->inbox, slot, input->tick, commands)) {
    case CAIRN_INBOX_TAKEN:
        statistics->inputs_taken += 1;
        break;
    case CAIRN_INBOX_LATE:
        statistics->inputs_late += 1;
        timing->inputs_late += 1;
        break;
    case CAIRN_INBOX_EARLY:
        statistics->inputs_early_refused += 1;
        timing->inputs_early_refused += 1;
        break;
    case CAIRN_INBOX_REPEATED:
        statistics->inputs_repeated += 1;
        return;
    default:
        statistics->inputs_refused += 1;
        return;
    }
    const int32_t us = cairn_tick_scheduler_lateness_us(&room->scheduler, input->tick, now_ns);
    timing->lateness_us_last = us;
    if (timing->reported || us > timing->lateness_us_worst) {
        timing->lateness_us_worst = us;
    }
    timing->reported = false;
}

cairn_wire_timing cairn_input_timing_report(
    cairn_input_timing *timing, const cairn_room *room, uint32_t slot) {
    const cairn_wire_timing report = {
        .input_acknowledged =
            slot == CAIRN_SLOT_NONE ? 0 : cairn_inbox_acknowledged(room->inbox, slot),
        .lateness_us_worst =
            timing->reported ? timing->lateness_us_last : timing->lateness_us_worst,
        .lateness_us_last = timing->lateness_us_last,
        .inputs_late = timing->inputs_late,
        .inputs_early_refused = timing->inputs_early_refused,
    };
    CAIRN_ASSERT(timing->reported || timing->lateness_us_last <= timing->lateness_us_worst);
    timing->reported = true;
    return report;
}
