// SPDX-License-Identifier: MIT
// The verb of learners: edits, steps and an observation in one round trip.
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/observe.h"
#include "server/control/verbs.h"

_Static_assert(CAIRN_CONTROL_ACT_EDITS_MAX <= CAIRN_INBOX_EDITS_MAX, "an inbox takes an act");

// The ids of all bodies; the caller frees them. NULL: no body, or no memory.
static uint32_t *list_bodies(const cairn_world *world, uint32_t *count) {
    *count = cairn_world_bodies(world, NULL, 0);
    cairn_body_state *bodies = malloc(*count * sizeof *bodies + 1);
    uint32_t *ids = malloc(*count * sizeof *ids + 1);
    if (bodies != NULL && ids != NULL) {
        cairn_world_bodies(world, bodies, *count);
        for (uint32_t i = 0; i < *count; ++i) {
            ids[i] = bodies[i].id;
        }
    } else {
        free(ids);
        ids = NULL;
        *count = 0;
    }
    free(bodies);
    return ids;
}

cairn_control_act_answer cairn_control_observe(
    const cairn_room *room, const cairn_control_wait *wait, cairn_control_lists *lists) {
    CAIRN_ASSERT(!room->job.running);
    const uint32_t width = cairn_observe_width(wait->fields);
    cairn_control_act_answer answer = {.numbers = lists->numbers};
    if (width == 0) {
        return answer;
    }
    uint32_t count = wait->watched_count;
    uint32_t *all = wait->watched != NULL ? NULL : list_bodies(room->world, &count);
    const uint32_t *ids = wait->watched != NULL ? wait->watched : all;
    // The rules may have made bodies since the request was checked.
    for (uint32_t i = 0; i < count && (i + 1) * width <= CAIRN_CONTROL_ACT_NUMBERS_MAX; ++i) {
        float row[CAIRN_OBSERVE_WIDTH_MAX];
        (void)cairn_observe_body(room->world, ids[i], wait->fields, row);
        memcpy(&lists->numbers[answer.number_count], row, width * sizeof *row);
        answer.number_count += width;
        answer.body_count += 1;
    }
    free(all);
    return answer;
}

// Refuses what no answer could hold.
static cairn_control_refusal check_observation(cairn_control_context *c) {
    const cairn_control_act_request *act = &c->request->act;
    const uint32_t width = cairn_observe_width(act->fields);
    const uint32_t rows =
        act->watched_count > 0 ? act->watched_count : cairn_world_bodies(c->room->world, NULL, 0);
    if (act->fields != 0 && width == 0) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_OUT_OF_RANGE, "fields must be bits of %u", CAIRN_OBSERVE_ALL);
    }
    if ((uint64_t)width * rows > CAIRN_CONTROL_ACT_NUMBERS_MAX) {
        return cairn_control_refuse(c, CAIRN_CONTROL_OUT_OF_RANGE,
            "%u bodies with %u numbers each are more than the %d of an answer", rows, width,
            CAIRN_CONTROL_ACT_NUMBERS_MAX);
    }
    return CAIRN_CONTROL_DONE;
}

static cairn_control_refusal add_edits(cairn_control_context *c) {
    const cairn_control_act_request *act = &c->request->act;
    cairn_command commands[CAIRN_CONTROL_ACT_EDITS_MAX];
    cairn_edit_made made = {0};
    for (uint32_t i = 0; i < act->edit_count; ++i) {
        commands[i] = (cairn_command){.kind = act->edits[i].kind,
            .buttons = act->edits[i].buttons,
            .move = act->edits[i].move,
            .aim = act->edits[i].aim};
    }
    return act->edit_count == 0 ? CAIRN_CONTROL_DONE
                                : cairn_control_add_edits(c, commands, act->edit_count, &made);
}

cairn_control_refusal cairn_control_on_act(cairn_control_context *c) {
    const cairn_control_act_request *act = &c->request->act;
    cairn_control_refusal refusal = check_observation(c);
    if (refusal == CAIRN_CONTROL_DONE && act->tick_count > 0) {
        refusal = cairn_control_check_step(c, act->tick_count);
    }
    if (refusal != CAIRN_CONTROL_DONE) {
        return refusal;
    }
    cairn_control_wait observation = {.fields = act->fields, .watched_count = act->watched_count};
    if (act->watched_count > 0 && act->fields != 0) {
        observation.watched = malloc(act->watched_count * sizeof *observation.watched);
        if (observation.watched == NULL) {
            return cairn_control_refuse(c, CAIRN_CONTROL_CAPACITY, "out of memory");
        }
        for (uint32_t i = 0; i < act->watched_count; ++i) {
            observation.watched[i] = act->watched[i].body;
        }
    }
    refusal = add_edits(c);
    if (refusal != CAIRN_CONTROL_DONE || act->tick_count == 0) {
        if (refusal == CAIRN_CONTROL_DONE) {
            c->answer.act = cairn_control_observe(c->room, &observation, c->lists);
        }
        free(observation.watched);
        return refusal;
    }
    cairn_control_begin_step(c, act->tick_count);
    c->room->control_wait.fields = observation.fields;
    c->room->control_wait.watched_count = observation.watched_count;
    c->room->control_wait.watched = observation.watched;
    return CAIRN_CONTROL_DONE;
}
