// SPDX-License-Identifier: MIT
#include "client_lib/simulate/predict.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/game_input.h"
#include "bridge/snapshot.h"

// Snapshots of the last steps: two to interpolate between, two more so that the pictures before and
// after a rollback have a tick in common.
#define PICTURES 4
#define MOVED_M 1e-4f
#define MOVED_RAD 1e-4f
static const double GAIN_COST = 1.0 / 16;

static cairn_timeline_verdict confirm_tick(void *context, uint64_t tick,
    const cairn_command *commands, uint32_t count, cairn_root_check check);

void cairn_predict_create(
    cairn_predict *predict, const cairn_predict_config *config, cairn_lockstep *lockstep) {
    CAIRN_ASSERT(config->window_ticks > 0 && config->steps_max > 0 && lockstep != NULL);
    *predict = (cairn_predict){.config = *config, .lockstep = lockstep, .slot = CAIRN_SLOT_NONE};
    lockstep->confirm = confirm_tick;
    lockstep->confirm_context = predict;
}

static void destroy_pictures(cairn_predict *predict) {
    cairn_snapshots_destroy(&predict->before);
    cairn_smoothing_destroy(&predict->smoothing);
    for (int i = 0; i < 2; i++) {
        free(predict->shown[i]);
        predict->shown[i] = NULL;
    }
    predict->open = false;
}

void cairn_predict_destroy(cairn_predict *predict) {
    destroy_pictures(predict);
}

void cairn_predict_clear(cairn_predict *predict) {
    destroy_pictures(predict);
    if (predict->lockstep != NULL) {
        const cairn_predict_config config = predict->config;
        cairn_predict_create(predict, &config, predict->lockstep);
    }
}

cairn_status cairn_predict_load(cairn_predict *predict, const cairn_inputs *inputs, uint32_t slot,
    bool joined, uint32_t hold_ticks) {
    const cairn_timeline *timeline = &predict->lockstep->timeline;
    const uint32_t capacity = cairn_world_settings(timeline->world)->body_capacity;
    destroy_pictures(predict);
    predict->inputs = inputs;
    predict->slot = slot;
    cairn_input_prediction_start(&predict->input_prediction, timeline->first, hold_ticks,
        cairn_input_parts_of(cairn_world_settings(timeline->world)->rules));
    if (joined && slot < CAIRN_SLOTS_MAX) {
        cairn_input_prediction_join(&predict->input_prediction, slot);
    }
    // Ticks that were confirmed before the state was complete.
    for (uint64_t tick = timeline->first; tick < timeline->confirmed_end; tick++) {
        const uint32_t count = cairn_timeline_commands(timeline, tick, predict->predicted);
        cairn_input_prediction_confirm(&predict->input_prediction, predict->predicted, count);
    }
    predict->predictions_stale = true;
    for (int i = 0; i < 2; i++) {
        predict->shown[i] = malloc(capacity * sizeof predict->shown[i][0]);
    }
    if (predict->shown[0] == NULL || predict->shown[1] == NULL ||
        cairn_snapshots_create(&predict->before, PICTURES, capacity) != CAIRN_OK ||
        cairn_smoothing_create(&predict->smoothing, capacity) != CAIRN_OK) {
        return CAIRN_OUT_OF_MEMORY;
    }
    if (predict->lockstep->states_loaded > 1) {
        const cairn_client_rollback rollback = {.tick_from = timeline->first,
            .cause = CAIRN_ROLLBACK_STATE_REPLACED,
            .slot = CAIRN_SLOT_NONE};
        cairn_rollback_log_add(&predict->rollback_log, &rollback);
    }
    return CAIRN_OK;
}

const cairn_snapshots *cairn_predict_shown_snapshots(const cairn_predict *predict) {
    const bool before = predict->open && predict->before.count > 0;
    return before ? &predict->before : &predict->lockstep->snapshots;
}

static void close_rollback(cairn_predict *predict) {
    CAIRN_ASSERT(predict->open);
    predict->open = false;
    cairn_rollback_log_add(&predict->rollback_log, &predict->rollback);
}

static void open_rollback(cairn_predict *predict, uint64_t tick, uint64_t head_tick,
    cairn_rollback_attribution attribution) {
    cairn_snapshots *shown = &predict->lockstep->snapshots;
    const bool again = predict->open;
    if (again) { // a rollback was under way: `before` still holds what was shown before it
        close_rollback(predict);
    } else {
        const cairn_snapshots spare = predict->before;
        predict->before = *shown;
        *shown = spare;
    }
    CAIRN_ASSERT(tick <= head_tick);
    cairn_snapshots_clear(shown);
    predict->open_end = again && predict->open_end > head_tick ? predict->open_end : head_tick;
    predict->open = true;
    predict->rollback = (cairn_client_rollback){.tick_from = tick,
        .ticks = (uint32_t)(head_tick - tick),
        .cause = attribution.cause,
        .slot = attribution.slot};
}

void cairn_predict_begin_rollback(
    cairn_predict *predict, uint64_t tick, cairn_client_rollback_cause cause, uint32_t slot) {
    const uint64_t head_tick = predict->lockstep->timeline.head_tick;
    CAIRN_ASSERT(tick <= head_tick && cause < CAIRN_ROLLBACK_CAUSE_COUNT);
    open_rollback(predict, tick, head_tick, (cairn_rollback_attribution){cause, slot});
}

// Writes the corrected bodies of the correction's tick `index` into the picture of that tick. Both
// lists are in order of id index.
static void correct_picture(cairn_predict *predict, cairn_snapshot *picture, uint32_t index) {
    cairn_body_state *bodies = predict->lockstep->scratch;
    const uint32_t count = cairn_rollback_bodies(predict->lockstep->timeline.rollback, index,
        bodies, predict->lockstep->snapshots.bodies_max);
    uint32_t k = 0;
    for (uint32_t i = 0; i < picture->body_count && k < count; i++) {
        if (picture->bodies[i].id == bodies[k].id) {
            picture->bodies[i] = cairn_snapshot_body_of(&bodies[k]);
            k++;
        }
    }
    CAIRN_ASSERT(k == count);
}

// The pictures of the last two ticks, from which the one that is shown is made.
static void keep_pictures(cairn_predict *predict) {
    const cairn_snapshots *before = &predict->before;
    const uint64_t head_tick = predict->lockstep->timeline.head_tick;
    for (uint32_t i = 0; i < before->count; i++) {
        const cairn_snapshot *picture = &before->list[i];
        if (picture->tick + 1 >= head_tick) {
            const cairn_snapshot_refusal refusal = cairn_snapshots_take(
                &predict->lockstep->snapshots, picture->tick, picture->bodies, picture->body_count);
            CAIRN_ASSERT(refusal == CAIRN_SNAPSHOT_TAKEN);
        }
    }
    if (predict->lockstep->snapshots.count == 0) {
        cairn_lockstep_show(predict->lockstep);
    }
}

// The world is at the same tick, but some bodies are elsewhere since `tick`: the picture moves
// there as after a rollback that took no time.
static void show_correction(
    cairn_predict *predict, uint64_t tick, cairn_rollback_attribution attribution) {
    const cairn_timeline *timeline = &predict->lockstep->timeline;
    const uint64_t head_tick = timeline->head_tick;
    const uint32_t last = (uint32_t)(head_tick - tick) - 1;
    if (cairn_rollback_bodies(timeline->rollback, last, NULL, 0) == 0 ||
        (predict->open && head_tick < predict->open_end)) {
        return; // nothing has moved, or the world has yet to reach what is shown
    }
    cairn_snapshots *shown = &predict->lockstep->snapshots;
    if (!predict->open) {
        open_rollback(predict, tick, head_tick, attribution);
        keep_pictures(predict);
    }
    for (uint32_t i = 0; i < shown->count; i++) {
        if (shown->list[i].tick > tick && shown->list[i].tick <= head_tick) {
            correct_picture(predict, &shown->list[i], (uint32_t)(shown->list[i].tick - tick) - 1);
        }
    }
}

static cairn_timeline_verdict confirm_tick(void *context, uint64_t tick,
    const cairn_command *commands, uint32_t count, cairn_root_check check) {
    cairn_predict *predict = context;
    cairn_timeline *timeline = &predict->lockstep->timeline;
    const uint64_t head_tick = timeline->head_tick;
    const bool known = tick == timeline->confirmed_end && tick < timeline->end;
    const uint32_t predicted_count =
        known ? cairn_timeline_commands(timeline, tick, predict->predicted) : 0;
    const cairn_timeline_verdict verdict =
        cairn_timeline_confirm(timeline, tick, commands, count, check);
    if (verdict > CAIRN_TIMELINE_DIFFERED || !timeline->adopted) {
        return verdict;
    }
    if (timeline->head_tick < head_tick || verdict == CAIRN_TIMELINE_CORRECTED) {
        cairn_rollback_attribution attribution =
            cairn_rollback_attribution_find(&predict->input_prediction, tick, predict->slot,
                predict->predicted, predicted_count, commands, count);
        if (attribution.cause == CAIRN_ROLLBACK_WRONG_PREDICTION && predict->lockstep->delayed) {
            attribution.cause = CAIRN_ROLLBACK_LOST_PACKET;
        }
        if (verdict == CAIRN_TIMELINE_CORRECTED) {
            show_correction(predict, tick, attribution);
        } else {
            open_rollback(predict, tick, head_tick, attribution);
        }
    }
    CAIRN_ASSERT(predict->input_prediction.next_tick == tick);
    cairn_input_prediction_confirm(&predict->input_prediction, commands, count);
    predict->predictions_stale = true;
    predict->confirmed_together++;
    return verdict;
}

// The own input that the server will confirm: the one that was sent for the tick, or, if none was,
// what the server substitutes.
static uint32_t own_input(const cairn_predict *predict, uint64_t tick, cairn_command *out) {
    const cairn_input_prediction *prediction = &predict->input_prediction;
    const cairn_wire_input *input = cairn_inputs_read(predict->inputs, tick);
    CAIRN_ASSERT(predict->slot < CAIRN_SLOTS_MAX);
    if (input == NULL || predict->inputs->parts != prediction->parts) {
        return cairn_input_prediction_substitute(prediction, predict->slot, tick, out);
    }
    bool valid = true;
    for (uint32_t i = 0; i < prediction->parts; i++) {
        out[i] = cairn_command_of_input(&input[i], predict->slot);
        out[i].kind = cairn_input_part_kind(i);
        valid = valid && cairn_command_check(&out[i]) == CAIRN_OK;
    }
    return valid ? prediction->parts : 0;
}

static uint32_t predict_tick(const cairn_predict *predict, uint64_t tick, cairn_command *out) {
    const cairn_input_prediction *prediction = &predict->input_prediction;
    uint32_t count = 0;
    for (uint32_t slot = cairn_slot_set_next(&prediction->joined, 0); slot < CAIRN_SLOTS_MAX;
         slot = cairn_slot_set_next(&prediction->joined, slot + 1)) {
        count += slot == predict->slot
                     ? own_input(predict, tick, &out[count])
                     : cairn_input_prediction_predict(prediction, slot, tick, &out[count]);
    }
    return count;
}

// Predicts new ticks up to `wanted`. If predictions are stale, first repeats those after the last
// confirmed tick.
static void predict_up_to(cairn_predict *predict, uint64_t wanted) {
    cairn_timeline *timeline = &predict->lockstep->timeline;
    const uint64_t end = wanted > timeline->end ? wanted : timeline->end;
    uint64_t tick = predict->predictions_stale ? timeline->confirmed_end : timeline->end;
    predict->predictions_stale = false;
    for (; tick < end; tick++) {
        cairn_command commands[CAIRN_SLOTS_MAX * CAIRN_INPUT_COMMANDS_MAX];
        const uint32_t count = predict_tick(predict, tick, commands);
        const uint64_t head_tick = timeline->head_tick;
        const uint32_t predicted_count =
            tick < head_tick ? cairn_timeline_commands(timeline, tick, predict->predicted) : 0;
        const cairn_timeline_verdict verdict =
            cairn_timeline_predict(timeline, tick, commands, count);
        if (verdict > CAIRN_TIMELINE_DIFFERED) {
            return; // no room: wait for the server
        }
        if (timeline->head_tick == head_tick && verdict != CAIRN_TIMELINE_CORRECTED) {
            continue;
        }
        // The new prediction is treated as what the server confirmed.
        const cairn_rollback_attribution attribution =
            cairn_rollback_attribution_find(&predict->input_prediction, tick, predict->slot,
                predict->predicted, predicted_count, commands, count);
        if (verdict == CAIRN_TIMELINE_CORRECTED) {
            show_correction(predict, tick, attribution);
        } else {
            open_rollback(predict, tick, head_tick, attribution);
        }
    }
}

static uint64_t read_clock(const cairn_predict *predict) {
    const cairn_predict_config *config = &predict->config;
    return config->clock_ns != NULL ? config->clock_ns(config->clock_context) : 0;
}

typedef struct spending {
    uint64_t begin_ns;
    uint64_t spent_ns;
    uint32_t steps;
} spending;

// Steps, and shows the world from `shown_from` on. False: the budget was not enough.
static bool step_up_to(
    cairn_predict *predict, spending *so_far, uint64_t wanted, uint64_t shown_from) {
    const cairn_predict_config *config = &predict->config;
    cairn_timeline *timeline = &predict->lockstep->timeline;
    while (timeline->head_tick < wanted) {
        const bool late = config->budget_ns > 0 && so_far->spent_ns >= config->budget_ns;
        if (so_far->steps >= config->steps_max || (so_far->steps > 0 && late)) {
            return false;
        }
        const cairn_timeline_verdict verdict = cairn_timeline_step(timeline);
        if (verdict != CAIRN_TIMELINE_STEPPED) {
            predict->window_full += verdict == CAIRN_TIMELINE_WINDOW ? 1 : 0;
            return true;
        }
        if (timeline->head_tick >= shown_from) {
            cairn_lockstep_show(predict->lockstep);
        }
        const uint64_t now_ns = read_clock(predict);
        so_far->spent_ns = now_ns > so_far->begin_ns ? now_ns - so_far->begin_ns : 0;
        so_far->steps++;
    }
    return true;
}

// Both lists are in order of index; a body in only one of them was created or destroyed.
static void correct_bodies(cairn_predict *predict, uint32_t count_before, uint32_t count_now) {
    cairn_client_rollback *rollback = &predict->rollback;
    uint32_t i = 0;
    uint32_t k = 0;
    while (i < count_before && k < count_now) {
        const cairn_client_body *before = &predict->shown[0][i];
        const cairn_client_body *now = &predict->shown[1][k];
        bool moved = true;
        if (before->id == now->id && before->teleports == now->teleports) {
            const cairn_smoothing_step step = cairn_smoothing_add(&predict->smoothing, before, now);
            moved = step.distance_m > MOVED_M || step.angle > MOVED_RAD;
            rollback->error_m_max =
                step.distance_m > rollback->error_m_max ? step.distance_m : rollback->error_m_max;
        }
        rollback->bodies_moved += moved ? 1 : 0;
        const uint32_t index_before = cairn_id_index(before->id);
        const uint32_t index_now = cairn_id_index(now->id);
        i += index_before <= index_now ? 1 : 0;
        k += index_now <= index_before ? 1 : 0;
    }
    rollback->bodies_moved += count_before - i + count_now - k;
}

// Compares what was shown at this moment with what is to be shown.
static void finish_rollback(cairn_predict *predict, double shown) {
    CAIRN_ASSERT(predict->open && predict->shown[0] != NULL && predict->shown[1] != NULL);
    const cairn_snapshots *now = &predict->lockstep->snapshots;
    const uint32_t capacity = now->bodies_max;
    const double end = (double)predict->open_end;
    const double tick = shown < end ? shown : end;
    cairn_client_sample sample[2];
    if (cairn_interpolate(
            &predict->before, tick, 1, 0, false, predict->shown[0], capacity, &sample[0]) &&
        cairn_interpolate(now, tick, 1, 0, false, predict->shown[1], capacity, &sample[1])) {
        correct_bodies(predict, sample[0].body_count, sample[1].body_count);
    }
    close_rollback(predict);
}

// Continues a rollback until the world has the tick it had before. False: the budget ended earlier.
static bool continue_rollback(cairn_predict *predict, spending *so_far, double shown) {
    if (!predict->open) {
        predict->confirmed_together = 0;
        return true;
    }
    predict->rollback.advances++;
    predict->rollback.confirmed_together += predict->confirmed_together;
    predict->confirmed_together = 0;
    const bool enough = step_up_to(predict, so_far, predict->open_end, predict->open_end - 1);
    predict->rollback.cost_ns += so_far->spent_ns;
    if (predict->lockstep->timeline.head_tick >= predict->open_end) {
        finish_rollback(predict, shown);
    }
    return enough;
}

static bool step_ahead(cairn_predict *predict, spending *so_far, uint64_t wanted) {
    const cairn_timeline *timeline = &predict->lockstep->timeline;
    const uint64_t head_tick = timeline->head_tick;
    if (predict->open || wanted <= head_tick) {
        return true;
    }
    const bool enough = step_up_to(predict, so_far, wanted, wanted - 1);
    if (timeline->head_tick > head_tick &&
        timeline->head_tick < wanted - 1) { // far behind: shows the tick it reached
        cairn_lockstep_show(predict->lockstep);
    }
    return enough;
}

void cairn_predict_advance(cairn_predict *predict, uint64_t now_ns, uint64_t wanted, double shown) {
    CAIRN_ASSERT(predict->lockstep != NULL && shown >= 0);
    cairn_timeline *timeline = &predict->lockstep->timeline;
    cairn_smoothing_advance(&predict->smoothing, now_ns);
    if (!timeline->adopted) {
        return;
    }
    CAIRN_ASSERT(!predict->open || predict->open_end >= timeline->first);
    const uint64_t most = timeline->confirmed_end + predict->config.window_ticks;
    predict->window_full += wanted > most ? 1 : 0;
    wanted = wanted < most ? wanted : most;
    predict_up_to(predict, wanted);
    spending so_far = {.begin_ns = read_clock(predict)};
    const bool again = continue_rollback(predict, &so_far, shown);
    const bool enough = again && step_ahead(predict, &so_far, wanted);
    predict->lockstep->lags = !enough;
    predict->over_budget += enough ? 0 : 1;
    if (so_far.steps > 0 && predict->config.clock_ns != NULL) {
        const double cost_ns = (double)so_far.spent_ns / so_far.steps;
        const double known_ns = predict->step_ns > 0 ? predict->step_ns : cost_ns;
        predict->step_ns = known_ns + (cost_ns - known_ns) * GAIN_COST;
    }
}

uint32_t cairn_predict_steps_affordable(const cairn_predict *predict) {
    const double budget_ns = (double)predict->config.budget_ns;
    const double steps_max = predict->config.steps_max;
    const bool measured = predict->step_ns > 0 && budget_ns > 0;
    const double steps = measured ? budget_ns / predict->step_ns : steps_max;
    CAIRN_ASSERT(steps >= 0);
    return steps < 1 ? 1 : steps < steps_max ? (uint32_t)steps : predict->config.steps_max;
}
