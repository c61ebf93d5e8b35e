// SPDX-License-Identifier: MIT
// usage: measure_snapshots [FILE...]
// What snapshots cost, each against the one 100 ms before: of the scenes of cubes.h, or of files in
// the format of the snapshot challenge of 2015 (cubes_read). Every snapshot is decoded and
// compared.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "tests/compress/cubes.h"

static double thread_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void measure(const char *name, const cubes_set *set) {
    const cairn_codec_settings settings = cubes_settings();
    cairn_snapshot_codec *codec;
    CAIRN_ASSERT(cairn_snapshot_codec_create(&settings, CUBES_COUNT, &codec) == CAIRN_OK);
    double encode_us = 0.0, decode_us = 0.0, bytes = 0.0, changed = 0.0;
    size_t longest = 0;
    uint32_t count = 0;
    for (uint32_t at = CUBES_FIRST; at < set->frame_count; ++at, ++count) {
        static uint8_t packet[65536];
        static cairn_quantised_body decoded[CUBES_COUNT];
        const cairn_codec_frames frames = cubes_frames(set, at);
        const cairn_quantised_body *snapshot = cubes_frame(set, at);
        const double start = thread_us();
        const size_t size = cairn_snapshot_encode(codec, &frames, snapshot, packet, sizeof packet);
        const double middle = thread_us();
        const cairn_status status = cairn_snapshot_decode(codec, &frames, packet, size, decoded);
        decode_us += thread_us() - middle;
        encode_us += middle - start;
        CAIRN_ASSERT(status == CAIRN_OK);
        CAIRN_ASSERT(memcmp(decoded, snapshot, sizeof decoded) == 0);
        bytes += (double)size;
        longest = size > longest ? size : longest;
        for (uint32_t i = 0; i < CUBES_COUNT; ++i) {
            changed += memcmp(&snapshot[i], &frames.baseline[i], sizeof snapshot[i]) != 0;
        }
    }
    printf("%-24s %7.1f changed %8.2f bytes, at most %zu, encode %.1f us, decode %.1f us\n", name,
        changed / count, bytes / count, longest, encode_us / count, decode_us / count);
    cairn_snapshot_codec_destroy(codec);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"moderate", "heavy", "rest"};
    for (int i = 1; i < argc; ++i) {
        cubes_set set = cubes_read(argv[i]);
        measure(argv[i], &set);
        cubes_free(&set);
    }
    for (cubes_kind kind = CUBES_MODERATE; argc == 1 && kind <= CUBES_REST; ++kind) {
        cubes_set set = cubes_simulate(kind, 100, 1206);
        measure(names[kind], &set);
        cubes_free(&set);
    }
    return 0;
}
