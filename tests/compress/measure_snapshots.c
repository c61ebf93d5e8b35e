// SPDX-License-Identifier: MIT
// usage: measure_snapshots [FILE...]
// What snapshots cost, each against the one 100 ms before: of the scenes of cubes.h, or of files in
// the format of the snapshot challenge of 2015 (cubes_read). Every snapshot is decoded and
// compared.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "tests/compress/cubes.h"

enum {
    PASSES = 5,
    FRAMES = 1206,
    LATER_MAX = 1800, // frames that a set may begin later
    LATER_STEP = 300
};

static double thread_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

typedef struct costs {
    double encode_us, decode_us, bytes; // sums over the snapshots
    size_t longest;
} costs;

static costs measure_pass(cairn_snapshot_codec *codec, const cubes_set *set) {
    costs c = {.longest = 0};
    for (uint32_t at = CUBES_FIRST; at < set->frame_count; ++at) {
        static uint8_t packet[65536];
        static cairn_quantised_body decoded[CUBES_COUNT];
        const cairn_codec_frames frames = cubes_frames(set, at);
        const cairn_quantised_body *snapshot = cubes_frame(set, at);
        const double start = thread_us();
        const size_t size = cairn_snapshot_encode(codec, &frames, snapshot, packet, sizeof packet);
        const double middle = thread_us();
        const cairn_status status = cairn_snapshot_decode(codec, &frames, packet, size, decoded);
        c.decode_us += thread_us() - middle;
        c.encode_us += middle - start;
        CAIRN_ASSERT(status == CAIRN_OK);
        CAIRN_ASSERT(memcmp(decoded, snapshot, sizeof decoded) == 0);
        c.bytes += (double)size;
        c.longest = size > c.longest ? size : c.longest;
    }
    return c;
}

// Times are of the fastest of several passes.
static void measure(const char *name, const cubes_set *set) {
    cairn_snapshot_codec *codec;
    CAIRN_ASSERT(cairn_snapshot_codec_create(&set->settings, CUBES_COUNT, &codec) == CAIRN_OK);
    costs best = measure_pass(codec, set);
    for (uint32_t pass = 1; pass < PASSES; ++pass) {
        const costs next = measure_pass(codec, set);
        best.encode_us = fmin(best.encode_us, next.encode_us);
        best.decode_us = fmin(best.decode_us, next.decode_us);
    }
    const double frames = set->frame_count - CUBES_FIRST;
    printf("%-24s %7.1f changed %8.2f bytes, at most %zu, encode %.1f us, decode %.1f us\n", name,
        cubes_changed(set), best.bytes / frames, best.longest, best.encode_us / frames,
        best.decode_us / frames);
    cairn_snapshot_codec_destroy(codec);
}

// How many bodies move is chance, and another one with each simulation: of the moderate set the
// part in which nearly as many do as in the challenge's.
static cubes_set as_lively_as_challenge(const cubes_set *whole) {
    const double wanted = 90.0;
    cubes_set best = {0};
    double best_off = INFINITY;
    for (uint32_t from = 0; from <= LATER_MAX; from += LATER_STEP) {
        cubes_set part = *whole;
        part.frames += (size_t)from * CUBES_COUNT;
        part.frame_count = FRAMES;
        const double off = fabs(cubes_changed(&part) - wanted);
        best = off < best_off ? part : best;
        best_off = fmin(best_off, off);
    }
    return best;
}

int main(int argc, char **argv) {
    static const char *const names[] = {"moderate", "heavy", "rest"};
    for (int i = 1; i < argc; ++i) {
        cubes_set set = cubes_read(argv[i]);
        measure(argv[i], &set);
        cubes_free(&set);
    }
    for (cubes_kind kind = CUBES_MODERATE; argc == 1 && kind <= CUBES_REST; ++kind) {
        cubes_set whole = cubes_simulate(
            kind, 100, cubes_warm_up(kind), kind == CUBES_MODERATE ? FRAMES + LATER_MAX : FRAMES);
        const cubes_set set = kind == CUBES_MODERATE ? as_lively_as_challenge(&whole) : whole;
        measure(names[kind], &set);
        const double changed = cubes_changed(&set);
        CAIRN_ASSERT(set.bodies_disabled == 0);
        CAIRN_ASSERT(kind != CUBES_MODERATE || (changed >= CUBES_MODERATE_CHANGED_MIN &&
                                                   changed <= CUBES_MODERATE_CHANGED_MAX));
        cubes_free(&whole);
    }
    return 0;
}
