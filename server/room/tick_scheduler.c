// SPDX-License-Identifier: MIT
#include "server/room/tick_scheduler.h"

#include "base/assert.h"
#include "base/limits.h"

// The schedule counts in beats per thousand seconds, so that a thousandth of a speed is exact.
#define NS_PER_ROUND UINT64_C(1000000000000)
#define SPEED_USUAL 1000
#define SPEED_MAX 64000
_Static_assert(UINT64_MAX / NS_PER_ROUND > (uint64_t)CAIRN_TICK_RATE_HZ_MAX * SPEED_MAX + 1,
    "no product overflows");

// Whole rounds and the rest apart, so that the product never overflows.
static uint64_t beat_ns(const cairn_pacing *pacing, uint64_t beat) {
    return pacing->start_ns + beat / pacing->beats_per_round * NS_PER_ROUND +
           beat % pacing->beats_per_round * NS_PER_ROUND / pacing->beats_per_round;
}

// To be called after every change: who has many rooms asks all of them at every turn.
static void note_next(cairn_pacing *pacing) {
    pacing->next_ns = beat_ns(pacing, pacing->tick + pacing->beat_offset);
}

cairn_pacing cairn_pacing_of(
    uint64_t start_ns, uint32_t rate_hz, uint32_t catch_up_ticks_max, uint64_t tick) {
    CAIRN_ASSERT(rate_hz >= CAIRN_TICK_RATE_HZ_MIN && rate_hz <= CAIRN_TICK_RATE_HZ_MAX);
    CAIRN_ASSERT(catch_up_ticks_max >= 1);
    cairn_pacing pacing = {
        .start_ns = start_ns,
        .rate_hz = rate_hz,
        .beats_per_round = (uint64_t)rate_hz * SPEED_USUAL,
        .catch_up_ticks_max = catch_up_ticks_max,
        .tick = tick,
        .beat_offset = 0 - tick,
    };
    note_next(&pacing);
    return pacing;
}

void cairn_pacing_restart(cairn_pacing *pacing, uint64_t now_ns, uint32_t speed) {
    CAIRN_ASSERT(speed >= 1 && speed <= SPEED_MAX);
    pacing->start_ns = now_ns;
    pacing->beat_offset = 0 - pacing->tick;
    pacing->beats_per_round = (uint64_t)pacing->rate_hz * speed;
    note_next(pacing);
}

// How many beats are due: beat i is when floor(i * round / beats) <= elapsed, which is
// i * round < (elapsed + 1) * beats.
static uint64_t beats_due(const cairn_pacing *pacing, uint64_t now_ns) {
    if (now_ns < pacing->start_ns) {
        return 0;
    }
    uint64_t elapsed = now_ns - pacing->start_ns;
    uint64_t rounds = elapsed / NS_PER_ROUND;
    uint64_t rest = elapsed % NS_PER_ROUND + 1;
    return rounds * pacing->beats_per_round +
           (rest * pacing->beats_per_round + NS_PER_ROUND - 1) / NS_PER_ROUND;
}

uint64_t cairn_pacing_due_ns(const cairn_pacing *pacing, uint64_t tick) {
    return tick == pacing->tick ? pacing->next_ns : beat_ns(pacing, tick + pacing->beat_offset);
}

static uint64_t beats_behind(const cairn_pacing *pacing, uint64_t now_ns) {
    if (now_ns < pacing->next_ns) {
        return 0;
    }
    uint64_t beat = pacing->tick + pacing->beat_offset;
    uint64_t due = beats_due(pacing, now_ns);
    return due > beat ? due - beat : 0;
}

uint32_t cairn_pacing_due(const cairn_pacing *pacing, uint64_t now_ns) {
    uint64_t behind = beats_behind(pacing, now_ns);
    return behind < pacing->catch_up_ticks_max ? (uint32_t)behind : pacing->catch_up_ticks_max;
}

void cairn_pacing_wait(cairn_pacing *pacing, uint64_t now_ns) {
    uint64_t behind = beats_behind(pacing, now_ns);
    if (behind > 1) {
        pacing->beat_offset += behind - 1;
        pacing->beats_waited += behind - 1;
        note_next(pacing);
    }
}

uint32_t cairn_pacing_turn(cairn_pacing *pacing, uint64_t now_ns) {
    uint64_t behind = beats_behind(pacing, now_ns);
    if (behind == 0) {
        return 0;
    }
    cairn_histogram_add(&pacing->lateness_ns, now_ns - cairn_pacing_due_ns(pacing, pacing->tick));
    if (behind <= pacing->catch_up_ticks_max) {
        return (uint32_t)behind;
    }
    pacing->beats_skipped += behind - pacing->catch_up_ticks_max;
    pacing->beat_offset += behind - pacing->catch_up_ticks_max;
    pacing->advances_overloaded += 1;
    note_next(pacing);
    return pacing->catch_up_ticks_max;
}

void cairn_pacing_step(cairn_pacing *pacing) {
    pacing->tick += 1;
    note_next(pacing);
}

int32_t cairn_pacing_lateness_us(const cairn_pacing *pacing, uint64_t tick, uint64_t now_ns) {
    uint64_t due_ns = cairn_pacing_due_ns(pacing, tick);
    bool late = now_ns > due_ns;
    uint64_t us = (late ? now_ns - due_ns : due_ns - now_ns) / 1000;
    int32_t magnitude = us > INT32_MAX ? INT32_MAX : (int32_t)us;
    return late ? magnitude : -magnitude;
}
