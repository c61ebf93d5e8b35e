// SPDX-License-Identifier: MIT
#include "client_lib/resync/repair.h"

#include <stdlib.h>

#include "base/assert.h"
#include "sim/serialize/elements.h"
#include "sim/serialize/sketch.h"

// Ticks to go back, at most, in search of a valid one.
#define VALID_TICKS_MAX 8

// Each sketch is tried when the one before was too small.
static const uint32_t sketch_cells[CAIRN_CLIENT_REPAIR_SKETCHES] = {40, 160, 640};

static uint32_t sketch_size(uint32_t sketch) {
    CAIRN_ASSERT(sketch < CAIRN_CLIENT_REPAIR_SKETCHES);
    return sketch_cells[sketch] * CAIRN_SKETCH_CELL_SIZE;
}

static size_t sketch_offset(uint32_t sketch) {
    size_t offset = 0;
    for (uint32_t i = 0; i < sketch; ++i) {
        offset += sketch_size(i);
    }
    return offset;
}

cairn_status cairn_client_repair_create(cairn_client_repair *repair, cairn_lockstep *lockstep,
    cairn_predict *predict, cairn_resync_queue *queue) {
    CAIRN_ASSERT(sketch_size(CAIRN_CLIENT_REPAIR_SKETCHES - 1) <= CAIRN_DIFFERENCE_SKETCH_SIZE_MAX);
    *repair = (cairn_client_repair){.lockstep = lockstep,
        .predict = predict,
        .queue = queue,
        .sketches = malloc(sketch_offset(CAIRN_CLIENT_REPAIR_SKETCHES))};
    return repair->sketches != NULL ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

void cairn_client_repair_destroy(cairn_client_repair *repair) {
    free(repair->sketches);
    *repair = (cairn_client_repair){0};
}

void cairn_client_repair_clear(cairn_client_repair *repair) {
    if (repair->queue != NULL) {
        cairn_resync_queue_withdraw(repair->queue, CAIRN_RESYNC_FOR_REPAIR);
    }
    *repair = (cairn_client_repair){.lockstep = repair->lockstep,
        .predict = repair->predict,
        .queue = repair->queue,
        .sketches = repair->sketches};
}

static cairn_timeline *timeline_of(const cairn_client_repair *repair) {
    return &repair->lockstep->timeline;
}

static void finish_repair(
    cairn_client_repair *repair, uint64_t now_ns, cairn_client_resync_cause cause) {
    cairn_client_resync_record *record = &repair->record;
    const uint64_t confirmed = timeline_of(repair)->confirmed_end;
    CAIRN_ASSERT(cause < CAIRN_RESYNC_CAUSE_COUNT);
    record->cause = cause;
    record->ticks =
        (uint32_t)(confirmed > repair->confirmed_then ? confirmed - repair->confirmed_then : 0);
    record->elapsed_ns = now_ns - repair->found_ns;
    repair->records[repair->count % CAIRN_CLIENT_RESYNCS_HELD] = *record;
    repair->count += 1;
    repair->bytes += record->bytes;
    repair->state = CAIRN_CLIENT_REPAIR_IDLE;
    cairn_resync_queue_withdraw(repair->queue, CAIRN_RESYNC_FOR_REPAIR);
}

static void give_up(cairn_client_repair *repair, const char *text) {
    CAIRN_ASSERT(repair->given_up_text == NULL);
    repair->state = CAIRN_CLIENT_REPAIR_GIVEN_UP;
    repair->given_up_text = text;
    cairn_resync_queue_withdraw(repair->queue, CAIRN_RESYNC_FOR_REPAIR);
}

static void request_elements(cairn_client_repair *repair, uint64_t now_ns) {
    const cairn_resync_request request = {.tick = repair->tick,
        .want = CAIRN_RESYNC_WANT_ELEMENTS,
        .difference_sketch = repair->sketches + sketch_offset(repair->sketch),
        .difference_sketch_size = sketch_size(repair->sketch)};
    CAIRN_ASSERT(repair->sketch < CAIRN_CLIENT_REPAIR_SKETCHES);
    repair->state = CAIRN_CLIENT_REPAIR_ELEMENTS_REQUESTED;
    cairn_resync_queue_ask(repair->queue, CAIRN_RESYNC_FOR_REPAIR, &request, now_ns, true);
}

// A state takes long to arrive: it is not requested twice, unless the server refuses.
static void request_state(cairn_client_repair *repair, uint64_t now_ns) {
    const cairn_resync_request request = {.tick = repair->tick, .want = CAIRN_RESYNC_WANT_ELEMENTS};
    repair->state = CAIRN_CLIENT_REPAIR_STATE_REQUESTED;
    cairn_resync_queue_ask(repair->queue, CAIRN_RESYNC_FOR_REPAIR, &request, now_ns, false);
}

// What is shown must not jump with the world: a client that predicts smooths it as after a
// rollback, another client shows only the repaired steps.
static void keep_shown_world(cairn_client_repair *repair, uint64_t tick) {
    if (repair->predict != NULL) {
        cairn_predict_begin_rollback(repair->predict, tick, CAIRN_ROLLBACK_RESYNC, CAIRN_SLOT_NONE);
    } else {
        cairn_snapshots_clear(&repair->lockstep->snapshots);
    }
}

// Steps to `tick`, or as far as there are commands.
static void step_to(cairn_client_repair *repair, uint64_t tick) {
    CAIRN_ASSERT(timeline_of(repair)->adopted);
    cairn_timeline *timeline = timeline_of(repair);
    while (timeline->head_tick < tick && cairn_timeline_step(timeline) == CAIRN_TIMELINE_STEPPED) {}
    if (repair->predict == NULL) {
        cairn_lockstep_show(repair->lockstep);
    }
}

// Whether the world is the server's at its tick. The hash is computed from every word, because a
// fault of the memory marks no cached hash as stale. The server's root of the first tick
// held is not known, but that state was the server's.
static bool world_is_valid(const cairn_client_repair *repair) {
    const cairn_timeline *timeline = timeline_of(repair);
    const cairn_timeline_tick *before =
        timeline->head_tick == 0 ? NULL
                                 : cairn_timeline_tick_read(timeline, timeline->head_tick - 1);
    const cairn_hash128 root = cairn_world_root_fresh(timeline->world);
    return before == NULL || cairn_root_agrees(before->check, root);
}

// Goes back to the last valid tick and steps from there to the tick that differed. False: no older
// state is held.
static bool step_again_from_valid_tick(cairn_client_repair *repair) {
    CAIRN_ASSERT(repair->tick > 0);
    cairn_timeline *timeline = timeline_of(repair);
    bool went_back = false;
    for (uint32_t back = 1; back <= VALID_TICKS_MAX && back <= repair->tick; ++back) {
        if (!went_back) {
            keep_shown_world(repair, repair->tick - back);
        }
        if (cairn_timeline_rewind(timeline, repair->tick - back) != CAIRN_TIMELINE_REWOUND) {
            break;
        }
        went_back = true;
        if (world_is_valid(repair)) {
            break;
        }
    }
    step_to(repair, repair->tick);
    return went_back;
}

static void count_attempt(cairn_client_repair *repair, uint64_t now_ns) {
    if (repair->attempts == 0 ||
        now_ns >= repair->attempts_from_ns + CAIRN_CLIENT_REPAIR_ATTEMPTS_NS) {
        repair->attempts_from_ns = now_ns;
        repair->attempts = 0;
    }
    repair->attempts += 1;
    CAIRN_ASSERT(repair->attempts <= CAIRN_CLIENT_REPAIR_ATTEMPTS_MAX + 1);
    if (repair->attempts > CAIRN_CLIENT_REPAIR_ATTEMPTS_MAX) {
        give_up(repair, "this client's world differs again after each repair");
    }
}

static void begin_repair(cairn_client_repair *repair, uint64_t now_ns) {
    cairn_timeline *timeline = timeline_of(repair);
    CAIRN_ASSERT(timeline->differs && timeline->differs_tick <= timeline->head_tick);
    repair->tick = timeline->differs_tick;
    repair->target_tick = timeline->head_tick;
    repair->confirmed_then = timeline->confirmed_end;
    repair->found_ns = now_ns;
    repair->sketch = 0;
    repair->record = (cairn_client_resync_record){.tick = repair->tick};
    const bool stepped = step_again_from_valid_tick(repair);
    const bool differs = timeline->differs && timeline->differs_tick <= repair->tick;
    if (stepped && timeline->head_tick >= repair->tick && !differs) {
        const bool near = repair->target_tick < repair->tick + CAIRN_CLIENT_REPAIR_CATCH_UP_TICKS;
        step_to(repair, near ? repair->target_tick : repair->tick);
        finish_repair(repair, now_ns, CAIRN_RESYNC_BY_STEPPING);
        return;
    }
    repair->difference_unreported = true;
    count_attempt(repair, now_ns);
    if (repair->state == CAIRN_CLIENT_REPAIR_GIVEN_UP) {
        return;
    }
    if (timeline->head_tick != repair->tick) {
        request_state(repair, now_ns);
        return;
    }
    for (uint32_t i = 0; i < CAIRN_CLIENT_REPAIR_SKETCHES; ++i) {
        cairn_sketch_build(timeline->world, sketch_cells[i], repair->sketches + sketch_offset(i));
    }
    request_elements(repair, now_ns);
}

// The backlog of a client whose host was away for a while shrinks when it is back. It may have come
// back just before the check, so one check is not enough.
static void check_backlog(cairn_client_repair *repair, uint64_t now_ns, uint32_t tick_rate_hz) {
    if (now_ns < repair->backlog_checked_ns + CAIRN_CLIENT_REPAIR_BACKLOG_CHECK_NS) {
        return;
    }
    const uint64_t long_ticks = tick_rate_hz * CAIRN_CLIENT_REPAIR_BACKLOG_NS / CAIRN_NS_PER_S;
    // A client that joined over a slow path has as many ticks as it has room for until it has
    // caught up, so it is compared with the room.
    const uint64_t lag = cairn_lockstep_behind(repair->lockstep);
    const bool on_time =
        now_ns < repair->backlog_checked_ns + 2 * CAIRN_CLIENT_REPAIR_BACKLOG_CHECK_NS;
    const bool behind = on_time && repair->backlog_ticks > long_ticks && lag >= repair->lag_ticks;
    repair->backlog_checks = behind ? repair->backlog_checks + 1 : 0;
    if (repair->backlog_checks >= CAIRN_CLIENT_REPAIR_BACKLOG_CHECKS) {
        give_up(repair, "this client cannot keep up with the room");
    }
    repair->backlog_checked_ns = now_ns;
    repair->backlog_ticks = cairn_lockstep_waiting(repair->lockstep);
    repair->lag_ticks = lag;
}

void cairn_client_repair_advance(
    cairn_client_repair *repair, uint64_t now_ns, uint32_t tick_rate_hz) {
    CAIRN_ASSERT(repair->lockstep != NULL && tick_rate_hz > 0);
    const cairn_timeline *timeline = timeline_of(repair);
    if (repair->state == CAIRN_CLIENT_REPAIR_GIVEN_UP || !timeline->adopted ||
        timeline->world == NULL) {
        return;
    }
    if (repair->state == CAIRN_CLIENT_REPAIR_CATCHING_UP &&
        (timeline->head_tick >= repair->target_tick || timeline->differs)) {
        finish_repair(repair, now_ns, CAIRN_RESYNC_BY_ELEMENTS);
    }
    if (repair->state == CAIRN_CLIENT_REPAIR_IDLE && timeline->differs) {
        begin_repair(repair, now_ns);
    }
    if (repair->state != CAIRN_CLIENT_REPAIR_GIVEN_UP) {
        check_backlog(repair, now_ns, tick_rate_hz);
    }
}

void cairn_client_repair_request_sent(cairn_client_repair *repair, size_t size) {
    CAIRN_ASSERT(repair->state == CAIRN_CLIENT_REPAIR_ELEMENTS_REQUESTED ||
                 repair->state == CAIRN_CLIENT_REPAIR_STATE_REQUESTED);
    repair->record.bytes += (uint32_t)size;
    repair->record.round_trips += 1;
}

// A payload never replaces the comparison of roots: the repair counts only if the world's state
// hash is the server's afterwards.
static void apply_elements(
    cairn_client_repair *repair, uint64_t now_ns, const cairn_resync_response *response) {
    cairn_timeline *timeline = timeline_of(repair);
    const uint64_t head_tick = timeline->head_tick;
    if (!timeline->adopted || repair->tick < timeline->first || repair->tick > head_tick) {
        request_state(repair, now_ns);
        return;
    }
    keep_shown_world(repair, repair->tick);
    const bool rewound = cairn_timeline_rewind(timeline, repair->tick) == CAIRN_TIMELINE_REWOUND;
    const bool applied = rewound && cairn_elements_apply(timeline->world, response->payload,
                                        response->payload_size, NULL) == CAIRN_OK;
    // The tick's own check may have no more than a part of the root.
    const bool equal =
        applied && cairn_timeline_world_changed(timeline) &&
        cairn_hash_equal(cairn_world_hash_read(timeline->world).full, response->full_root);
    step_to(repair, repair->tick);
    repair->target_tick = head_tick;
    if (!equal) {
        repair->refused += 1;
        request_state(repair, now_ns);
        return;
    }
    repair->record.elements = cairn_elements_count(response->payload, response->payload_size);
    repair->state = CAIRN_CLIENT_REPAIR_CATCHING_UP;
    cairn_resync_queue_withdraw(repair->queue, CAIRN_RESYNC_FOR_REPAIR);
}

void cairn_client_repair_take(cairn_client_repair *repair, uint64_t now_ns,
    const cairn_resync_response *response, size_t size) {
    if (response->tick != repair->tick) {
        return; // answers a request that is over
    }
    // Whatever the reason: nothing else would ask for the state again.
    if (repair->state == CAIRN_CLIENT_REPAIR_STATE_REQUESTED &&
        response->verdict != CAIRN_RESYNC_DONE) {
        cairn_resync_queue_postpone(repair->queue, CAIRN_RESYNC_FOR_REPAIR, now_ns);
    }
    if (repair->state != CAIRN_CLIENT_REPAIR_ELEMENTS_REQUESTED) {
        return;
    }
    repair->record.bytes += (uint32_t)size;
    if (response->verdict == CAIRN_RESYNC_DONE) {
        apply_elements(repair, now_ns, response);
    } else if (response->verdict == CAIRN_RESYNC_TOO_OFTEN) {
        cairn_resync_queue_postpone(repair->queue, CAIRN_RESYNC_FOR_REPAIR, now_ns);
    } else if (response->verdict == CAIRN_RESYNC_TOO_MUCH &&
               repair->sketch + 1 < CAIRN_CLIENT_REPAIR_SKETCHES) {
        repair->sketch += 1;
        request_elements(repair, now_ns);
    } else {
        request_state(repair, now_ns);
    }
}

void cairn_client_repair_state_loaded(cairn_client_repair *repair, uint64_t now_ns, size_t size) {
    repair->backlog_checked_ns = now_ns;
    repair->backlog_ticks = 0;
    repair->backlog_checks = 0;
    if (repair->state != CAIRN_CLIENT_REPAIR_IDLE &&
        repair->state != CAIRN_CLIENT_REPAIR_GIVEN_UP) {
        repair->record.bytes += (uint32_t)size;
        finish_repair(repair, now_ns, CAIRN_RESYNC_BY_STATE);
    }
    CAIRN_ASSERT(
        repair->state == CAIRN_CLIENT_REPAIR_IDLE || repair->state == CAIRN_CLIENT_REPAIR_GIVEN_UP);
}
