// SPDX-License-Identifier: MIT
// usage: codec_golden          prints what the codec makes of motion that every target computes
//        codec_golden --check FILE
//                              compares it with FILE, which this program printed elsewhere
// Lines of snapshots and of parts have their size and the hash of the bytes, and each is decoded
// and compared, and so are packed states. Lines of noise have the hash of the poses that a decoder
// makes of random bytes. Needs only base and compress.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "compress/state_packer.h"
#include "compress/velocity.h"
#include "tests/compress/frames.h"
#include "tests/compress/tumble.h"
#include "tests/compress/words.h"

enum {
    SNAPSHOTS = 24,
    NOISES = 64,
    PACKET_MAX = 4096,
    NOISE_MAX = 24,
    PARTS = 24,
    STATES = 4,
    LINE_SIZE = 160
};

typedef struct checker {
    FILE *expected; // NULL: print
    uint32_t lines, differences;
} checker;

static void put_line(checker *check, const char *line) {
    char expected[LINE_SIZE] = "";
    if (check->expected == NULL) {
        printf("%s\n", line);
        return;
    }
    if (fgets(expected, sizeof expected, check->expected) != NULL) {
        expected[strcspn(expected, "\r\n")] = '\0';
    }
    check->lines++;
    if (strcmp(expected, line) != 0) {
        check->differences++;
        printf("codec_golden: %s differs from the expected %s\n", line,
            expected[0] != '\0' ? expected : "(no line)");
    }
}

// Words in one byte order.
static cairn_hash128 hash_of_bytes(const uint8_t *bytes, size_t size) {
    static uint32_t words[WORDS_SIZE_MAX];
    CAIRN_ASSERT(size <= WORDS_SIZE_MAX);
    for (size_t i = 0; i < size; ++i) {
        words[i] = bytes[i];
    }
    return cairn_hash_words(size, words, size);
}

static cairn_hash128 hash_of_poses(const cairn_quantised_body poses[TUMBLE_COUNT]) {
    uint32_t words[TUMBLE_COUNT][7];
    for (uint32_t i = 0; i < TUMBLE_COUNT; ++i) {
        for (uint32_t k = 0; k < 3; ++k) {
            words[i][k] = (uint32_t)poses[i].position[k];
            words[i][3 + k] = poses[i].rotation[k];
        }
        words[i][6] = poses[i].largest;
    }
    return cairn_hash_words(1, words, sizeof words / sizeof(uint32_t));
}

static void check_snapshots(
    checker *check, const char *name, uint32_t kind, cairn_snapshot_codec *codec, tumble *t) {
    for (uint32_t i = 0; i < SNAPSHOTS; ++i, tumble_step(t)) {
        static uint8_t packet[PACKET_MAX];
        cairn_quantised_body decoded[TUMBLE_COUNT];
        const cairn_codec_frames frames = tumble_frames(t);
        const cairn_quantised_body *snapshot = t->frames[TUMBLE_FRAMES - 1];
        const size_t size = cairn_snapshot_encode(codec, &frames, snapshot, packet, sizeof packet);
        const cairn_status status = cairn_snapshot_decode(codec, &frames, packet, size, decoded);
        const bool same = status == CAIRN_OK && memcmp(decoded, snapshot, sizeof decoded) == 0;
        char line[LINE_SIZE], hash[CAIRN_HASH_TEXT_SIZE];
        snprintf(line, sizeof line, "%s %u %u: %u bytes %s, %s", name, (unsigned)kind, (unsigned)i,
            (unsigned)size, cairn_hash_print(hash_of_bytes(packet, size), hash),
            same ? "comes back" : "does not come back");
        put_line(check, line);
    }
}

static void check_noise(checker *check, uint32_t kind, cairn_snapshot_codec *codec, tumble *t) {
    const cairn_codec_frames frames = tumble_frames(t);
    for (uint32_t i = 0; i < NOISES; ++i) {
        uint8_t noise[PACKET_MAX];
        cairn_random random = cairn_random_of(i);
        // Few bytes decide about the first bodies; ones say that nothing else changed.
        memset(noise, 0xff, sizeof noise);
        cairn_random_fill(&random, noise, (size_t)cairn_random_below(&random, NOISE_MAX));
        cairn_quantised_body decoded[TUMBLE_COUNT];
        const cairn_status status =
            cairn_snapshot_decode(codec, &frames, noise, sizeof noise, decoded);
        char line[LINE_SIZE], hash[CAIRN_HASH_TEXT_SIZE] = "refused";
        if (status == CAIRN_OK) {
            (void)cairn_hash_print(hash_of_poses(decoded), hash);
        }
        snprintf(line, sizeof line, "noise %u %u: %s", (unsigned)kind, (unsigned)i, hash);
        put_line(check, line);
    }
}

static frames_story story;

static cairn_body_sample find(void *user, uint32_t index, uint64_t tick) {
    (void)user;
    return frames_find(&story, FRAMES_COUNT, index, tick);
}

// The check of a part covers all that its reader finds.
static void check_parts(checker *check) {
    cairn_part part;
    CAIRN_ASSERT(cairn_part_create(&part, FRAMES_BODIES) == CAIRN_OK);
    for (uint32_t i = 0; i < PARTS; ++i) {
        uint8_t bytes[FRAMES_BYTES];
        uint32_t written = 0;
        uint32_t read = 0;
        const cairn_part_source source = {NULL, find};
        static cairn_quantised_velocity velocities[FRAMES_BODIES], coded[FRAMES_BODIES];
        frames_make(&story, i);
        for (uint32_t b = 0; b < FRAMES_BODIES; ++b) {
            const float v = 0.1f * (float)(b * (i + 1) % 64) - 3.0f;
            velocities[b] =
                cairn_quantise_velocity((cairn_vec3){v, -v, 0.0f}, (cairn_vec3){0.0f, v, 0.3f});
        }
        story.frames[0].velocities = i % 2 == 0 ? NULL : velocities;
        part.frame.velocities = i % 2 == 0 ? NULL : coded;
        const size_t size = frames_write_part(&story, bytes, &written);
        part.frame.tick = story.frames[0].tick;
        part.frame.tick_rate_hz = 0;
        const bool same =
            cairn_part_read(bytes, size, &source, &part, &read) == CAIRN_OK && read == written;
        char line[LINE_SIZE], hash[CAIRN_HASH_TEXT_SIZE];
        snprintf(line, sizeof line, "part %u: %u bytes %s, check %08x, %s", (unsigned)i,
            (unsigned)size, cairn_hash_print(hash_of_bytes(bytes, size), hash), (unsigned)written,
            same ? "comes back" : "does not come back");
        put_line(check, line);
    }
    cairn_part_destroy(&part);
}

static void check_states(checker *check) {
    for (uint32_t i = 0; i < STATES; ++i) {
        static words_state state;
        static uint8_t packed[WORDS_SIZE_MAX], back[WORDS_SIZE_MAX];
        words_make(&state, i);
        const size_t size = cairn_state_pack(
            state.bytes, state.size, state.groups, WORDS_GROUPS, packed, sizeof packed);
        const bool same = cairn_state_unpack(packed, size, back, state.size) &&
                          memcmp(back, state.bytes, state.size) == 0;
        char line[LINE_SIZE], hash[CAIRN_HASH_TEXT_SIZE];
        snprintf(line, sizeof line, "state %u: %u bytes %s, %s", (unsigned)i, (unsigned)size,
            cairn_hash_print(hash_of_bytes(packed, size), hash),
            same ? "comes back" : "does not come back");
        put_line(check, line);
    }
}

int main(int argc, char **argv) {
    checker check = {.expected = NULL};
    if (argc == 3 && strcmp(argv[1], "--check") == 0) {
        check.expected = fopen(argv[2], "r");
        if (check.expected == NULL) {
            perror(argv[2]);
            return 1;
        }
    } else if (argc != 1) {
        printf("usage: codec_golden [--check FILE]\n");
        return 2;
    }
    for (uint32_t kind = 0; kind < TUMBLE_KINDS; ++kind) {
        static tumble t;
        tumble_start(&t, kind, kind + 1);
        cairn_snapshot_codec *codec;
        CAIRN_ASSERT(cairn_snapshot_codec_create(&t.settings, TUMBLE_COUNT, &codec) == CAIRN_OK);
        check_snapshots(&check, "snapshot", kind, codec, &t);
        check_noise(&check, kind, codec, &t);
        t.settings.quantisation.coded_together_max = 0;
        CAIRN_ASSERT(cairn_snapshot_codec_set(codec, &t.settings) == CAIRN_OK);
        check_snapshots(&check, "alone", kind, codec, &t);
        cairn_snapshot_codec_destroy(codec);
    }
    check_parts(&check);
    check_states(&check);
    if (check.expected != NULL) {
        fclose(check.expected);
        printf("codec_golden: %u of %u lines differ\n", (unsigned)check.differences,
            (unsigned)check.lines);
    }
    return check.differences == 0 ? 0 : 1;
}
