// SPDX-License-Identifier: MIT
#include "client_lib/resync/resync.h"

#include <stdlib.h>

#include "base/assert.h"
#include "sim/state/sketch.h"

// Ticks that are gone back, at most, for one that is sound.
#define SOUND_TICKS_MAX 8

static uint32_t cells_of(uint32_t size) {
    uint32_t cells = CAIRN_HEALING_CELLS_FIRST;
    for (uint32_t i = 0; i < size; ++i) {
        cells *= CAIRN_HEALING_CELLS_FACTOR;
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

bool cairn_healing_create(
    cairn_healing *healing, cairn_lockstep *lockstep, cairn_predict *predict) {
    *healing = (cairn_healing){.lockstep = lockstep,
        .predict = predict,
        .sketches = malloc(sketch_offset(CAIRN_HEALING_SIZES))};
    return healing->sketches != NULL;
}

void cairn_healing_destroy(cairn_healing *healing) {
    free(healing->sketches);
    *healing = (cairn_healing){0};
}

void cairn_healing_clear(cairn_healing *healing) {
    *healing = (cairn_healing){
        .lockstep = healing->lockstep, .predict = healing->predict, .sketches = healing->sketches};
}

static cairn_timeline *timeline_of(const cairn_healing *healing) {
    return &healing->lockstep->timeline;
}

static void finish(cairn_healing *healing, uint64_t now_ns, cairn_client_heal_cause cause) {
    cairn_client_heal *record = &healing->record;
    const uint64_t heard = timeline_of(healing)->confirmed_end;
    record->cause = (uint32_t)cause;
    record->ticks = (uint32_t)(heard > healing->heard_then ? heard - healing->heard_then : 0);
    record->elapsed_ns = now_ns - healing->found_ns;
    healing->records[healing->count % CAIRN_CLIENT_HEALS_HELD] = *record;
    healing->count += 1;
    healing->bytes += record->bytes;
    healing->phase = CAIRN_HEALING_REST;
}

static void give_up(cairn_healing *healing, const char *words) {
    healing->phase = CAIRN_HEALING_GIVEN_UP;
    healing->words = words;
    healing->say = false;
}

static void ask(cairn_healing *healing, uint64_t at_ns, cairn_healing_phase phase) {
    healing->phase = phase;
    healing->say = true;
    healing->say_at_ns = at_ns;
}

static void renew(cairn_healing *healing, uint64_t now_ns) {
    ask(healing, now_ns, CAIRN_HEALING_RENEWING);
}

// What is shown must not jump with the world.
static void leave_picture(cairn_healing *healing, uint64_t tick) {
    if (healing->predict != NULL) {
        cairn_predict_go_back(healing->predict, tick, CAIRN_ROLLBACK_HEAL, CAIRN_SLOT_NONE);
    } else {
        cairn_snapshots_clear(&healing->lockstep->snapshots);
    }
}

// Up to `tick`, as far as ticks are there.
static void step_to(cairn_healing *healing, uint64_t tick) {
    cairn_timeline *timeline = timeline_of(healing);
    while (timeline->at < tick && cairn_timeline_step(timeline) == CAIRN_TIMELINE_STEPPED) {}
    if (healing->predict == NULL) {
        cairn_lockstep_show(healing->lockstep);
    }
}

// Whether the world is the server's at its tick: by every word of it, for memory that changed by
// itself told nobody. Of the first tick held there is no word, and the state was the server's.
static bool is_sound(cairn_healing *healing) {
    cairn_timeline *timeline = timeline_of(healing);
    const cairn_timeline_tick *before =
        timeline->at == 0 ? NULL : cairn_timeline_tick_read(timeline, timeline->at - 1);
    const cairn_hash128 root = cairn_world_root_fresh(timeline->world);
    return before == NULL || cairn_hash_equal(root, before->root_servers);
}

// Back to the last sound tick, and from there again up to the one that differed. False: the world
// could not go back.
static bool step_again(cairn_healing *healing) {
    cairn_timeline *timeline = timeline_of(healing);
    bool went_back = false;
    for (uint32_t back = 1; back <= SOUND_TICKS_MAX && back <= healing->tick; ++back) {
        if (!went_back) {
            leave_picture(healing, healing->tick - back);
        }
        if (cairn_timeline_rewind(timeline, healing->tick - back) != CAIRN_TIMELINE_REWOUND) {
            break;
        }
        went_back = true;
        if (is_sound(healing)) {
            break;
        }
    }
    step_to(healing, healing->tick);
    return went_back;
}

static void build_sketches(cairn_healing *healing) {
    const cairn_world *world = timeline_of(healing)->world;
    for (uint32_t i = 0; i < CAIRN_HEALING_SIZES; ++i) {
        cairn_sketch_build(world, cells_of(i), healing->sketches + sketch_offset(i));
    }
}

static bool differs_at(const cairn_healing *healing) {
    const cairn_timeline *timeline = timeline_of(healing);
    return timeline->differs && timeline->differs_tick <= healing->tick;
}

static void count_cure(cairn_healing *healing, uint64_t now_ns) {
    if (healing->cures == 0 || now_ns >= healing->cures_from_ns + CAIRN_HEALING_CURES_NS) {
        healing->cures_from_ns = now_ns;
        healing->cures = 0;
    }
    healing->cures += 1;
    if (healing->cures > CAIRN_HEALING_CURES_MAX) {
        give_up(healing, "this client's world differs again whenever it is healed");
    }
}

static void begin(cairn_healing *healing, uint64_t now_ns) {
    cairn_timeline *timeline = timeline_of(healing);
    healing->tick = timeline->differs_tick;
    healing->target = timeline->at;
    healing->heard_then = timeline->confirmed_end;
    healing->found_ns = now_ns;
    healing->size = 0;
    healing->record = (cairn_client_heal){.tick = healing->tick};
    const bool stepped = step_again(healing);
    if (stepped && timeline->at >= healing->tick && !differs_at(healing)) {
        step_to(healing, healing->target < healing->tick + CAIRN_HEALING_AGAIN_TICKS
                             ? healing->target
                             : healing->tick);
        finish(healing, now_ns, CAIRN_HEALED_BY_STEPPING);
        return;
    }
    healing->report = true;
    count_cure(healing, now_ns);
    if (healing->phase == CAIRN_HEALING_GIVEN_UP) {
        return;
    }
    if (timeline->at == healing->tick) {
        build_sketches(healing);
        ask(healing, now_ns, CAIRN_HEALING_ASKED);
    } else {
        renew(healing, now_ns);
    }
}

// A client that only looks away for a while comes back and catches up: its backlog shrinks. It may
// have come back just now, so twice in a row.
static void watch_backlog(cairn_healing *healing, uint64_t now_ns, uint32_t tick_rate_hz) {
    if (now_ns < healing->watched_ns + CAIRN_HEALING_BEHIND_FOR_NS) {
        return;
    }
    const uint64_t least = tick_rate_hz * CAIRN_HEALING_BEHIND_NS / UINT64_C(1000000000);
    const uint64_t backlog = cairn_lockstep_waiting(healing->lockstep);
    const bool on_time = now_ns < healing->watched_ns + 2 * CAIRN_HEALING_BEHIND_FOR_NS;
    const bool behind = on_time && healing->backlog > least && backlog >= healing->backlog;
    healing->behind = behind ? healing->behind + 1 : 0;
    if (healing->behind >= CAIRN_HEALING_BEHIND_TIMES) {
        give_up(healing, "this client cannot keep up with the room");
    }
    healing->watched_ns = now_ns;
    healing->backlog = backlog;
}

void cairn_healing_watch(cairn_healing *healing, uint64_t now_ns, uint32_t tick_rate_hz) {
    const cairn_timeline *timeline = timeline_of(healing);
    if (healing->phase == CAIRN_HEALING_GIVEN_UP || !timeline->adopted || timeline->world == NULL) {
        return;
    }
    if (healing->phase == CAIRN_HEALING_CATCHING &&
        (timeline->at >= healing->target || timeline->differs)) {
        finish(healing, now_ns, CAIRN_HEALED_BY_ELEMENTS);
    }
    if (healing->phase == CAIRN_HEALING_REST && timeline->differs) {
        begin(healing, now_ns);
    }
    if (healing->phase != CAIRN_HEALING_GIVEN_UP) {
        watch_backlog(healing, now_ns, tick_rate_hz);
    }
}

bool cairn_healing_doubt(const cairn_healing *healing, uint64_t now_ns, cairn_doubt *out) {
    const bool asking =
        healing->phase == CAIRN_HEALING_ASKED || healing->phase == CAIRN_HEALING_RENEWING;
    if (!asking || !healing->say || now_ns < healing->say_at_ns) {
        return false;
    }
    *out = (cairn_doubt){.tick = healing->tick, .want = CAIRN_DOUBT_REPAIR};
    if (healing->phase == CAIRN_HEALING_ASKED) {
        out->sketch = healing->sketches + sketch_offset(healing->size);
        out->sketch_size = cells_of(healing->size) * CAIRN_SKETCH_CELL_SIZE;
    }
    return true;
}

// A state is on its way for long; it is not asked for twice.
void cairn_healing_said(cairn_healing *healing, uint64_t now_ns, size_t size) {
    healing->record.bytes += (uint32_t)size;
    healing->record.round_trips += 1;
    healing->say = healing->phase == CAIRN_HEALING_ASKED;
    healing->say_at_ns = now_ns + CAIRN_HEALING_RETRY_NS;
}

// The next size, or all.
static void ask_more(cairn_healing *healing, uint64_t now_ns) {
    if (healing->size + 1 == CAIRN_HEALING_SIZES) {
        renew(healing, now_ns);
        return;
    }
    healing->size += 1;
    ask(healing, now_ns, CAIRN_HEALING_ASKED);
}

static void apply(cairn_healing *healing, uint64_t now_ns, const cairn_repair *repair) {
    cairn_timeline *timeline = timeline_of(healing);
    const uint64_t at = timeline->at;
    if (!timeline->adopted || healing->tick < timeline->first || healing->tick > at) {
        renew(healing, now_ns);
        return;
    }
    leave_picture(healing, healing->tick);
    const bool back = cairn_timeline_rewind(timeline, healing->tick) == CAIRN_TIMELINE_REWOUND;
    const bool taken = back && cairn_elements_apply(timeline->world, repair->payload,
                                   repair->payload_size, NULL) == CAIRN_OK;
    const bool equal = taken && cairn_timeline_replaced(timeline);
    step_to(healing, healing->tick);
    healing->target = at;
    if (equal) {
        healing->record.elements = cairn_elements_count(repair->payload, repair->payload_size);
        healing->phase = CAIRN_HEALING_CATCHING;
        return;
    }
    healing->repairs_refused += 1;
    renew(healing, now_ns);
}

void cairn_healing_take(
    cairn_healing *healing, uint64_t now_ns, const cairn_repair *repair, size_t size) {
    if (repair->tick != healing->tick) {
        return; // of a doubt that is over
    }
    if (healing->phase == CAIRN_HEALING_RENEWING && repair->verdict == CAIRN_REPAIR_TOO_OFTEN) {
        ask(healing, now_ns + CAIRN_HEALING_TOO_OFTEN_NS, CAIRN_HEALING_RENEWING);
    }
    if (healing->phase != CAIRN_HEALING_ASKED) {
        return;
    }
    healing->record.bytes += (uint32_t)size;
    switch (repair->verdict) {
    case CAIRN_REPAIR_DONE:
        apply(healing, now_ns, repair);
        break;
    case CAIRN_REPAIR_TOO_MUCH:
        ask_more(healing, now_ns);
        break;
    case CAIRN_REPAIR_TOO_OFTEN:
        ask(healing, now_ns + CAIRN_HEALING_TOO_OFTEN_NS, CAIRN_HEALING_ASKED);
        break;
    default:
        renew(healing, now_ns);
        break;
    }
}

void cairn_healing_loaded(cairn_healing *healing, uint64_t now_ns, size_t size) {
    const bool under_way =
        healing->phase != CAIRN_HEALING_REST && healing->phase != CAIRN_HEALING_GIVEN_UP;
    healing->watched_ns = now_ns;
    healing->backlog = 0;
    healing->behind = 0;
    healing->say = false;
    if (under_way) {
        healing->record.bytes += (uint32_t)size;
        finish(healing, now_ns, CAIRN_HEALED_BY_STATE);
    }
}
