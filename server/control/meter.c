// SPDX-License-Identifier: MIT
#include "server/control/meter.h"

#include "base/assert.h"
#include "server/control/preparation.h"
#include "server/control/verbs.h"

// Worlds that a request copies, or puts in the place of others, on the thread of the server.
static uint32_t copies_of(const cairn_room *room, const cairn_control_request *request) {
    switch (request->verb) {
    case CAIRN_CONTROL_SAVE:
    case CAIRN_CONTROL_RESET:
    case CAIRN_CONTROL_LOAD:
        return 1;
    case CAIRN_CONTROL_SEEK: // a copy, the tick and the exchange
        return 3;
    case CAIRN_CONTROL_DIFF:
    case CAIRN_CONTROL_FORK: // of a tick, perhaps
        return 2;
    default:
        return cairn_control_is_tried(request->verb) && !cairn_control_trial_is_fresh(room) ? 1 : 0;
    }
}

// The most pieces that bodies are broken into while the edits of a request are tried. The edits
// that wait are tried again if the room's copy is not as its world is now.
static uint32_t pieces_of(const cairn_room *room, const cairn_control_request *request) {
    const cairn_control_act_request *act = &request->act;
    const uint32_t most = CAIRN_FRACTURE_PIECES_MAX;
    uint32_t count = 0;
    if (room == NULL || !cairn_control_is_tried(request->verb)) {
        return 0;
    }
    if (request->verb == CAIRN_CONTROL_FRACTURE) {
        count = request->fracture.pieces < most ? request->fracture.pieces : most;
    }
    for (uint32_t i = 0; request->verb == CAIRN_CONTROL_ACT && i < act->edit_count; ++i) {
        count += act->edits[i].kind == CAIRN_COMMAND_FRACTURE ? most : 0;
    }
    uint32_t waiting = 0;
    const cairn_command *edits = cairn_inbox_edits(room->inbox, &waiting);
    waiting = cairn_control_trial_is_fresh(room) ? 0 : waiting;
    for (uint32_t i = 0; i < waiting; ++i) {
        count += edits[i].kind == CAIRN_COMMAND_FRACTURE ? most : 0;
    }
    return count;
}

uint64_t cairn_control_cost_ns(const cairn_room *room, const cairn_control_request *request) {
    const uint32_t copies = room == NULL ? 0 : copies_of(room, request);
    const uint32_t verb = request->verb;
    const bool opens = verb == CAIRN_CONTROL_FORK || verb == CAIRN_CONTROL_ROOM_CREATE ||
                       verb == CAIRN_CONTROL_ROOM_DESTROY;
    const uint64_t made_ns =
        (opens ? CAIRN_CONTROL_OPEN_NS : 0) + pieces_of(room, request) * CAIRN_CONTROL_PIECE_NS;
    if (copies == 0) {
        return made_ns;
    }
    CAIRN_ASSERT(!room->job.running);
    const uint64_t bytes = cairn_world_encode_size(room->world);
    return made_ns + copies * bytes * 1000 / CAIRN_CONTROL_COPIED_PER_US;
}

uint64_t cairn_control_task_cost_ns(const cairn_room *room, const cairn_control_request *request) {
    if (room == NULL || !cairn_control_replaces_world(request->verb)) {
        return 0;
    }
    return cairn_world_encode_size(room->world) * 1000 / CAIRN_CONTROL_PACKED_PER_US;
}

bool cairn_control_meter_allows(uint64_t paid_until_ns, uint64_t now_ns) {
    return paid_until_ns < now_ns + CAIRN_CONTROL_BURST_NS;
}

bool cairn_control_account_allows(const cairn_operator_account *account, uint64_t now_ns) {
    return cairn_control_meter_allows(account->loop_until_ns, now_ns) &&
           cairn_control_meter_allows(account->tasks_until_ns, now_ns);
}

void cairn_control_meter_pay(
    uint64_t *paid_until_ns, uint64_t now_ns, uint64_t cost_ns, uint32_t share) {
    const uint64_t from_ns = *paid_until_ns > now_ns ? *paid_until_ns : now_ns;
    *paid_until_ns = from_ns + cost_ns * share;
}
