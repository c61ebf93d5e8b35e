// SPDX-License-Identifier: MIT
#include "client_lib/resync/resync.h"

#include <stdlib.h>

#include "base/assert.h"
#include "sim/state/sketch.h"

// Ticks that are gone back, at most, for one that is sound.
#define SOUND_TICKS_MAX 8

static uint32_t cells_of(uint32_t size) {
    uint32_t cells = CAIRN_RESYNC_CELLS_FIRST;
    for (uint32_t i = 0; i < size; ++i) {
        cells *= CAIRN_RESYNC_CELLS_FACTOR;
    }
    return cells;
}

static size_t sketch_offset(uint32_t size) {
    size_t cells = 0;
    for (uint32_t i = 0; i < size; ++i) {
        cells += cells_of(i);
    }
    return cells * CAIRN_SKETCH_CELL_SIZE;
}

bool cairn_client_resync_create(
    cairn_client_resync *resync, cairn_lockstep *lockstep, cairn_predict *predict) {
    *resync = (cairn_client_resync){.lockstep = lockstep,
        .predict = predict,
        .sketches = malloc(sketch_offset(CAIRN_RESYNC_SKETCH_SIZES))};
    return resync->sketches != NULL;
}

void cairn_client_resync_destroy(cairn_client_resync *resync) {
    free(resync->sketches);
    *resync = (cairn_client_resync){0};
}

void cairn_client_resync_clear(cairn_client_resync *resync) {
    *resync = (cairn_client_resync){
        .lockstep = resync->lockstep, .predict = resync->predict, .sketches = resync->sketches};
}

static cairn_timeline *timeline_of(const cairn_client_resync *resync) {
    return &resync->lockstep->timeline;
}

static void finish(cairn_client_resync *resync, uint64_t now_ns, cairn_client_resync_cause cause) {
    cairn_client_resync_record *record = &resync->record;
    const uint64_t heard = timeline_of(resync)->confirmed_end;
    record->cause = (uint32_t)cause;
    record->ticks = (uint32_t)(heard > resync->heard_then ? heard - resync->heard_then : 0);
    record->elapsed_ns = now_ns - resync->found_ns;
    resync->records[resync->count % CAIRN_CLIENT_RESYNCS_HELD] = *record;
    resync->count += 1;
    resync->bytes += record->bytes;
    resync->phase = CAIRN_RESYNC_IDLE;
}

static void give_up(cairn_client_resync *resync, const char *words) {
    resync->phase = CAIRN_RESYNC_GIVEN_UP;
    resync->words = words;
    resync->say = false;
}

static void ask(cairn_client_resync *resync, uint64_t at_ns, cairn_client_resync_state phase) {
    resync->phase = phase;
    resync->say = true;
    resync->say_at_ns = at_ns;
}

static void renew(cairn_client_resync *resync, uint64_t now_ns) {
    ask(resync, now_ns, CAIRN_RESYNC_STATE_REQUESTED);
}

// What is shown must not jump with the world.
static void leave_picture(cairn_client_resync *resync, uint64_t tick) {
    if (resync->predict != NULL) {
        cairn_predict_begin_rollback(resync->predict, tick, CAIRN_ROLLBACK_RESYNC, CAIRN_SLOT_NONE);
    } else {
        cairn_snapshots_clear(&resync->lockstep->snapshots);
    }
}

// Up to `tick`, as far as ticks are there.
static void step_to(cairn_client_resync *resync, uint64_t tick) {
    cairn_timeline *timeline = timeline_of(resync);
    while (timeline->head_tick < tick && cairn_timeline_step(timeline) == CAIRN_TIMELINE_STEPPED) {}
    if (resync->predict == NULL) {
        cairn_lockstep_show(resync->lockstep);
    }
}

// Whether the world is the server's at its tick: by every word of it, for memory that changed by
// itself told nobody. Of the first tick held there is no word, and the state was the server's.
static bool is_sound(cairn_client_resync *resync) {
    cairn_timeline *timeline = timeline_of(resync);
    const cairn_timeline_tick *before =
        timeline->head_tick == 0 ? NULL
                                 : cairn_timeline_tick_read(timeline, timeline->head_tick - 1);
    const cairn_hash128 root = cairn_world_root_fresh(timeline->world);
    return before == NULL || cairn_hash_equal(root, before->root_servers);
}

// Back to the last sound tick, and from there again up to the one that differed. False: the world
// could not go back.
static bool step_again(cairn_client_resync *resync) {
    cairn_timeline *timeline = timeline_of(resync);
    bool went_back = false;
    for (uint32_t back = 1; back <= SOUND_TICKS_MAX && back <= resync->tick; ++back) {
        if (!went_back) {
            leave_picture(resync, resync->tick - back);
        }
        if (cairn_timeline_rewind(timeline, resync->tick - back) != CAIRN_TIMELINE_REWOUND) {
            break;
        }
        went_back = true;
        if (is_sound(resync)) {
            break;
        }
    }
    step_to(resync, resync->tick);
    return went_back;
}

static void build_sketches(cairn_client_resync *resync) {
    const cairn_world *world = timeline_of(resync)->world;
    for (uint32_t i = 0; i < CAIRN_RESYNC_SKETCH_SIZES; ++i) {
        cairn_sketch_build(world, cells_of(i), resync->sketches + sketch_offset(i));
    }
}

static bool differs_at(const cairn_client_resync *resync) {
    const cairn_timeline *timeline = timeline_of(resync);
    return timeline->differs && timeline->differs_tick <= resync->tick;
}

static void count_cure(cairn_client_resync *resync, uint64_t now_ns) {
    if (resync->cures == 0 || now_ns >= resync->cures_from_ns + CAIRN_RESYNC_ATTEMPTS_NS) {
        resync->cures_from_ns = now_ns;
        resync->cures = 0;
    }
    resync->cures += 1;
    if (resync->cures > CAIRN_RESYNC_ATTEMPTS_MAX) {
        give_up(resync, "this client's world differs again whenever it is healed");
    }
}

static void begin(cairn_client_resync *resync, uint64_t now_ns) {
    cairn_timeline *timeline = timeline_of(resync);
    resync->tick = timeline->differs_tick;
    resync->target = timeline->head_tick;
    resync->heard_then = timeline->confirmed_end;
    resync->found_ns = now_ns;
    resync->size = 0;
    resync->record = (cairn_client_resync_record){.tick = resync->tick};
    const bool stepped = step_again(resync);
    if (stepped && timeline->head_tick >= resync->tick && !differs_at(resync)) {
        step_to(resync, resync->target < resync->tick + CAIRN_RESYNC_CATCH_UP_TICKS ? resync->target
                                                                                    : resync->tick);
        finish(resync, now_ns, CAIRN_RESYNC_BY_STEPPING);
        return;
    }
    resync->report = true;
    count_cure(resync, now_ns);
    if (resync->phase == CAIRN_RESYNC_GIVEN_UP) {
        return;
    }
    if (timeline->head_tick == resync->tick) {
        build_sketches(resync);
        ask(resync, now_ns, CAIRN_RESYNC_REPAIR_REQUESTED);
    } else {
        renew(resync, now_ns);
    }
}

// A client that only looks away for a while comes back and catches up: its backlog shrinks. It may
// have come back just now, so twice in a row.
static void watch_backlog(cairn_client_resync *resync, uint64_t now_ns, uint32_t tick_rate_hz) {
    if (now_ns < resync->watched_ns + CAIRN_RESYNC_BACKLOG_CHECK_NS) {
        return;
    }
    const uint64_t least = tick_rate_hz * CAIRN_RESYNC_BACKLOG_NS / UINT64_C(1000000000);
    const uint64_t backlog = cairn_lockstep_waiting(resync->lockstep);
    const bool on_time = now_ns < resync->watched_ns + 2 * CAIRN_RESYNC_BACKLOG_CHECK_NS;
    const bool behind = on_time && resync->backlog > least && backlog >= resync->backlog;
    resync->behind = behind ? resync->behind + 1 : 0;
    if (resync->behind >= CAIRN_RESYNC_BACKLOG_TIMES) {
        give_up(resync, "this client cannot keep up with the room");
    }
    resync->watched_ns = now_ns;
    resync->backlog = backlog;
}

void cairn_client_resync_advance(
    cairn_client_resync *resync, uint64_t now_ns, uint32_t tick_rate_hz) {
    const cairn_timeline *timeline = timeline_of(resync);
    if (resync->phase == CAIRN_RESYNC_GIVEN_UP || !timeline->adopted || timeline->world == NULL) {
        return;
    }
    if (resync->phase == CAIRN_RESYNC_CATCHING_UP &&
        (timeline->head_tick >= resync->target || timeline->differs)) {
        finish(resync, now_ns, CAIRN_RESYNC_BY_ELEMENTS);
    }
    if (resync->phase == CAIRN_RESYNC_IDLE && timeline->differs) {
        begin(resync, now_ns);
    }
    if (resync->phase != CAIRN_RESYNC_GIVEN_UP) {
        watch_backlog(resync, now_ns, tick_rate_hz);
    }
}

bool cairn_client_resync_request(
    const cairn_client_resync *resync, uint64_t now_ns, cairn_resync_request *out) {
    const bool asking = resync->phase == CAIRN_RESYNC_REPAIR_REQUESTED ||
                        resync->phase == CAIRN_RESYNC_STATE_REQUESTED;
    if (!asking || !resync->say || now_ns < resync->say_at_ns) {
        return false;
    }
    *out = (cairn_resync_request){.tick = resync->tick, .want = CAIRN_RESYNC_WANT_ELEMENTS};
    if (resync->phase == CAIRN_RESYNC_REPAIR_REQUESTED) {
        out->difference_sketch = resync->sketches + sketch_offset(resync->size);
        out->difference_sketch_size = cells_of(resync->size) * CAIRN_SKETCH_CELL_SIZE;
    }
    return true;
}

// A state is on its way for long; it is not asked for twice.
void cairn_client_resync_sent(cairn_client_resync *resync, uint64_t now_ns, size_t size) {
    resync->record.bytes += (uint32_t)size;
    resync->record.round_trips += 1;
    resync->say = resync->phase == CAIRN_RESYNC_REPAIR_REQUESTED;
    resync->say_at_ns = now_ns + CAIRN_RESYNC_RETRY_NS;
}

// The next size, or all.
static void ask_more(cairn_client_resync *resync, uint64_t now_ns) {
    if (resync->size + 1 == CAIRN_RESYNC_SKETCH_SIZES) {
        renew(resync, now_ns);
        return;
    }
    resync->size += 1;
    ask(resync, now_ns, CAIRN_RESYNC_REPAIR_REQUESTED);
}

static void apply(
    cairn_client_resync *resync, uint64_t now_ns, const cairn_resync_response *repair) {
    cairn_timeline *timeline = timeline_of(resync);
    const uint64_t at = timeline->head_tick;
    if (!timeline->adopted || resync->tick < timeline->first || resync->tick > at) {
        renew(resync, now_ns);
        return;
    }
    leave_picture(resync, resync->tick);
    const bool back = cairn_timeline_rewind(timeline, resync->tick) == CAIRN_TIMELINE_REWOUND;
    const bool taken = back && cairn_elements_apply(timeline->world, repair->payload,
                                   repair->payload_size, NULL) == CAIRN_OK;
    const bool equal = taken && cairn_timeline_world_changed(timeline);
    step_to(resync, resync->tick);
    resync->target = at;
    if (equal) {
        resync->record.elements = cairn_elements_count(repair->payload, repair->payload_size);
        resync->phase = CAIRN_RESYNC_CATCHING_UP;
        return;
    }
    resync->repairs_refused += 1;
    renew(resync, now_ns);
}

void cairn_client_resync_take(cairn_client_resync *resync, uint64_t now_ns,
    const cairn_resync_response *repair, size_t size) {
    if (repair->tick != resync->tick) {
        return; // of a doubt that is over
    }
    if (resync->phase == CAIRN_RESYNC_STATE_REQUESTED &&
        repair->verdict == CAIRN_RESYNC_TOO_OFTEN) {
        ask(resync, now_ns + CAIRN_RESYNC_BACKOFF_NS, CAIRN_RESYNC_STATE_REQUESTED);
    }
    if (resync->phase != CAIRN_RESYNC_REPAIR_REQUESTED) {
        return;
    }
    resync->record.bytes += (uint32_t)size;
    switch (repair->verdict) {
    case CAIRN_RESYNC_DONE:
        apply(resync, now_ns, repair);
        break;
    case CAIRN_RESYNC_TOO_MUCH:
        ask_more(resync, now_ns);
        break;
    case CAIRN_RESYNC_TOO_OFTEN:
        ask(resync, now_ns + CAIRN_RESYNC_BACKOFF_NS, CAIRN_RESYNC_REPAIR_REQUESTED);
        break;
    default:
        renew(resync, now_ns);
        break;
    }
}

void cairn_client_resync_state_loaded(cairn_client_resync *resync, uint64_t now_ns, size_t size) {
    const bool under_way =
        resync->phase != CAIRN_RESYNC_IDLE && resync->phase != CAIRN_RESYNC_GIVEN_UP;
    resync->watched_ns = now_ns;
    resync->backlog = 0;
    resync->behind = 0;
    resync->say = false;
    if (under_way) {
        resync->record.bytes += (uint32_t)size;
        finish(resync, now_ns, CAIRN_RESYNC_BY_STATE);
    }
}
