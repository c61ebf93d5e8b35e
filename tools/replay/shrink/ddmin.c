// SPDX-License-Identifier: MIT
#include "tools/replay/shrink/ddmin.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

typedef struct search {
    uint32_t *items;
    uint32_t count;
    uint32_t workers;
    cairn_ddmin_test *test;
    void *context;
    bool *stop;
    uint32_t *room; // for the trials of a batch, `count` of the beginning each
    uint32_t stride;
} search;

static uint32_t chunk_begin(const search *s, uint32_t chunk, uint32_t chunks) {
    return (uint32_t)((uint64_t)s->count * chunk / chunks);
}

// The chunk alone, or all but the chunk.
static uint32_t fill(
    const search *s, uint32_t chunk, uint32_t chunks, bool complement, uint32_t *out) {
    const uint32_t begin = chunk_begin(s, chunk, chunks), end = chunk_begin(s, chunk + 1, chunks);
    if (!complement) {
        memcpy(out, s->items + begin, (end - begin) * sizeof *out);
        return end - begin;
    }
    memcpy(out, s->items, begin * sizeof *out);
    memcpy(out + begin, s->items + end, (s->count - end) * sizeof *out);
    return s->count - (end - begin);
}

// The first chunk, or the first complement, that fails becomes the list.
static bool try_chunks(search *s, uint32_t chunks, bool complement) {
    for (uint32_t first = 0; first < chunks && !*s->stop; first += s->workers) {
        cairn_ddmin_trials trials = {.count = 0};
        for (uint32_t i = 0; i < s->workers && first + i < chunks; ++i) {
            uint32_t *out = s->room + (size_t)i * s->stride;
            trials.items[i] = out;
            // What matters most stands first, so complements drop the last chunks first.
            const uint32_t chunk = complement ? chunks - 1 - first - i : first + i;
            trials.counts[i] = fill(s, chunk, chunks, complement, out);
            trials.count++;
        }
        const uint32_t found = s->test(s->context, &trials, s->stop);
        if (found < trials.count) {
            s->count = trials.counts[found];
            memcpy(s->items, trials.items[found], s->count * sizeof *s->items);
            return true;
        }
    }
    return false;
}

// 0, 1, 2, 4, ... of the first items: with a good order nearly all others go at once.
static void try_prefixes(search *s) {
    for (uint32_t size = 0; size < s->count && !*s->stop;) {
        cairn_ddmin_trials trials = {.count = 0};
        for (; trials.count < s->workers && size < s->count; size = size == 0 ? 1 : 2 * size) {
            trials.items[trials.count] = s->items;
            trials.counts[trials.count++] = size;
        }
        const uint32_t found = s->test(s->context, &trials, s->stop);
        if (found < trials.count) {
            s->count = trials.counts[found];
        }
    }
}

uint32_t cairn_ddmin(uint32_t *items, uint32_t count, uint32_t workers, cairn_ddmin_test *test,
    void *context, bool *stop) {
    search s = {.items = items,
        .count = count,
        .workers = workers,
        .test = test,
        .context = context,
        .stop = stop,
        .stride = count};
    CAIRN_ASSERT(workers >= 1 && workers <= 64);
    s.room = malloc(((size_t)count * workers + 1) * sizeof *s.room);
    if (s.room == NULL) {
        *stop = true;
        return count;
    }
    try_prefixes(&s);
    uint32_t chunks = 2;
    while (s.count > 0 && !*stop) {
        chunks = chunks < s.count ? chunks : s.count;
        if (chunks > 2 && try_chunks(&s, chunks, false)) {
            chunks = 2;
        } else if (try_chunks(&s, chunks, true)) {
            chunks = chunks > 3 ? chunks - 1 : 2;
        } else if (chunks < s.count) {
            chunks *= 2;
        } else {
            break;
        }
    }
    free(s.room);
    return s.count;
}
