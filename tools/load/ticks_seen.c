// SPDX-License-Identifier: MIT
#include "tools/load/ticks_seen.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

// A day at 60 ticks a second.
#define TICKS_MAX 5184000

void load_ticks_destroy(load_ticks *ticks) {
    free(ticks->stamps_ns);
    *ticks = (load_ticks){0};
}

static bool reserve(load_ticks *ticks, uint64_t count) {
    if (count <= ticks->capacity) {
        return true;
    }
    const uint64_t wider = count < 4096 ? 8192 : 2 * count;
    uint64_t *stamps = count > TICKS_MAX ? NULL : realloc(ticks->stamps_ns, wider * sizeof *stamps);
    if (stamps == NULL) {
        return false;
    }
    memset(stamps + ticks->capacity, 0, (wider - ticks->capacity) * sizeof *stamps);
    ticks->stamps_ns = stamps;
    ticks->capacity = wider;
    return true;
}

uint64_t load_ticks_note(
    load_ticks *ticks, uint32_t tick_rate_hz, uint64_t tick, uint64_t stamp_ns) {
    if (ticks->count == 0) {
        ticks->first = tick;
        ticks->tick_rate_hz = tick_rate_hz;
    }
    const uint64_t place = tick - ticks->first;
    if (tick < ticks->first || place >= TICKS_MAX || !reserve(ticks, place + 1)) {
        return 0;
    }
    ticks->count = place + 1 > ticks->count ? place + 1 : ticks->count;
    uint64_t *seen = &ticks->stamps_ns[place];
    if (*seen == 0 || stamp_ns < *seen) { // sockets are not read in the order of arrival
        *seen = stamp_ns;
    }
    return stamp_ns - *seen;
}

// When the tick was seen, less its place in an even schedule.
static int64_t offset_ns(const load_ticks *ticks, uint64_t place) {
    const uint64_t rate = ticks->tick_rate_hz;
    const uint64_t even_ns = place / rate * CAIRN_NS_PER_S + place % rate * CAIRN_NS_PER_S / rate;
    return (int64_t)(ticks->stamps_ns[place] - even_ns);
}

static bool is_within(const load_ticks *ticks, uint64_t place, uint64_t from_ns, uint64_t to_ns) {
    const uint64_t stamp_ns = ticks->stamps_ns[place];
    return stamp_ns != 0 && stamp_ns >= from_ns && stamp_ns < to_ns;
}

uint64_t load_ticks_lateness(
    const load_ticks *ticks, uint64_t from_ns, uint64_t to_ns, cairn_histogram *lateness) {
    const int64_t tick_ns =
        ticks->tick_rate_hz == 0 ? 0 : (int64_t)(CAIRN_NS_PER_S / ticks->tick_rate_hz);
    uint64_t lost = 0;
    int64_t last_base_ns = INT64_MAX;
    for (uint64_t second = 0; second < ticks->count; second += ticks->tick_rate_hz) {
        const uint64_t rest = ticks->count - second;
        const uint64_t end = second + (rest < ticks->tick_rate_hz ? rest : ticks->tick_rate_hz);
        int64_t base_ns = INT64_MAX;
        for (uint64_t i = second; i < end; i++) {
            const bool within = is_within(ticks, i, from_ns, to_ns);
            base_ns = within && offset_ns(ticks, i) < base_ns ? offset_ns(ticks, i) : base_ns;
        }
        for (uint64_t i = second; i < end; i++) {
            if (is_within(ticks, i, from_ns, to_ns)) {
                cairn_histogram_add(lateness, (uint64_t)(offset_ns(ticks, i) - base_ns));
            }
        }
        if (base_ns != INT64_MAX && last_base_ns != INT64_MAX && base_ns > last_base_ns) {
            lost += (uint64_t)((base_ns - last_base_ns + tick_ns / 2) / tick_ns);
        }
        last_base_ns = base_ns != INT64_MAX ? base_ns : last_base_ns;
    }
    return lost;
}
