// SPDX-License-Identifier: MIT
#include "tools/replay/webm.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

// Elements, with the bits of their length.
enum {
    EBML = 0x1A45DFA3,
    EBML_VERSION = 0x4286,
    EBML_READ_VERSION = 0x42F7,
    EBML_MAX_ID_LENGTH = 0x42F2,
    EBML_MAX_SIZE_LENGTH = 0x42F3,
    DOC_TYPE = 0x4282,
    DOC_TYPE_VERSION = 0x4287,
    DOC_TYPE_READ_VERSION = 0x4285,
    SEGMENT = 0x18538067,
    INFO = 0x1549A966,
    TIMESTAMP_SCALE = 0x2AD7B1,
    DURATION = 0x4489,
    MUXING_APP = 0x4D80,
    WRITING_APP = 0x5741,
    TRACKS = 0x1654AE6B,
    TRACK_ENTRY = 0xAE,
    TRACK_NUMBER = 0xD7,
    TRACK_UID = 0x73C5,
    TRACK_TYPE = 0x83,
    FLAG_LACING = 0x9C,
    CODEC_ID = 0x86,
    VIDEO = 0xE0,
    PIXEL_WIDTH = 0xB0,
    PIXEL_HEIGHT = 0xBA,
    COLOUR = 0x55B0,
    MATRIX_COEFFICIENTS = 0x55B1,
    RANGE = 0x55B9,
    TRANSFER_CHARACTERISTICS = 0x55BA,
    PRIMARIES = 0x55BB,
    CUES = 0x1C53BB6B,
    CUE_POINT = 0xBB,
    CUE_TIME = 0xB3,
    CUE_TRACK_POSITIONS = 0xB7,
    CUE_TRACK = 0xF7,
    CUE_CLUSTER_POSITION = 0xF1,
    CLUSTER = 0x1F43B675,
    TIMESTAMP = 0xE7,
    SIMPLE_BLOCK = 0xA3,
};
#define TRACK 1
#define TYPE_VIDEO 1
#define BT_709 1
#define RANGE_OF_VIDEO 1

typedef struct point {
    uint64_t ms, offset; // of a cluster, from the first one
} point;

static void put(cairn_webm_bytes *out, const void *bytes, size_t size) {
    if (out->failed || size > CAIRN_WEBM_SIZE_MAX - out->size) {
        out->failed = true;
        return;
    }
    if (out->size + size > out->capacity) {
        const size_t capacity = 2 * (out->size + size);
        uint8_t *wider = realloc(out->at, capacity);
        if (wider == NULL) {
            out->failed = true;
            return;
        }
        out->at = wider;
        out->capacity = capacity;
    }
    memcpy(out->at + out->size, bytes, size);
    out->size += size;
}

// The last `size` bytes of a number, the highest first.
static void put_number(cairn_webm_bytes *out, uint64_t number, int size) {
    for (int i = size - 1; i >= 0; --i) {
        const uint8_t byte = (uint8_t)(number >> (8 * i));
        put(out, &byte, 1);
    }
}

static void put_id(cairn_webm_bytes *out, uint32_t id) {
    put_number(out, id, id > 0xFFFFFF ? 4 : id > 0xFFFF ? 3 : id > 0xFF ? 2 : 1);
}

// A size takes eight bytes wherever it is not known beforehand.
static void put_size(cairn_webm_bytes *out, uint64_t size) {
    put_number(out, (UINT64_C(1) << 56) | size, 8);
}

// Every number takes eight bytes, too, so that the size of the index does not depend on it.
static void put_u64(cairn_webm_bytes *out, uint32_t id, uint64_t number) {
    put_id(out, id);
    put_number(out, 0x88, 1);
    put_number(out, number, 8);
}

static void put_real(cairn_webm_bytes *out, uint32_t id, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    put_u64(out, id, bits);
}

static void put_text(cairn_webm_bytes *out, uint32_t id, const char *text) {
    put_id(out, id);
    put_size(out, strlen(text));
    put(out, text, strlen(text));
}

// Returns what the end needs.
static size_t begin(cairn_webm_bytes *out, uint32_t id) {
    put_id(out, id);
    put_size(out, 0);
    return out->size;
}

static void end(cairn_webm_bytes *out, size_t content) {
    if (!out->failed) {
        const size_t size = out->size;
        out->size = content - 8;
        put_size(out, size - content);
        out->size = size;
    }
}

void cairn_webm_add(cairn_webm *webm, const void *bytes, size_t size, bool alone) {
    CAIRN_ASSERT(alone || webm->cluster != 0);
    cairn_webm_bytes *out = &webm->clusters;
    const uint64_t ms = (webm->count++ * 1000 + webm->pictures_hz / 2) / webm->pictures_hz;
    // The times of blocks are 16 bits after that of their cluster.
    if (alone || ms - webm->cluster_ms > INT16_MAX) {
        if (webm->cluster != 0) {
            end(out, webm->cluster);
        }
        const point here = {.ms = ms, .offset = out->size};
        if (alone) {
            put(&webm->points, &here, sizeof here);
        }
        webm->cluster = begin(out, CLUSTER);
        webm->cluster_ms = ms;
        put_u64(out, TIMESTAMP, ms);
    }
    const size_t block = begin(out, SIMPLE_BLOCK);
    put_number(out, 0x80 | TRACK, 1);
    put_number(out, ms - webm->cluster_ms, 2);
    put_number(out, alone ? 0x80 : 0, 1);
    put(out, bytes, size);
    end(out, block);
}

static void put_head(cairn_webm_bytes *out) {
    const size_t head = begin(out, EBML);
    put_u64(out, EBML_VERSION, 1);
    put_u64(out, EBML_READ_VERSION, 1);
    put_u64(out, EBML_MAX_ID_LENGTH, 4);
    put_u64(out, EBML_MAX_SIZE_LENGTH, 8);
    put_text(out, DOC_TYPE, "webm");
    put_u64(out, DOC_TYPE_VERSION, 4);
    put_u64(out, DOC_TYPE_READ_VERSION, 2);
    end(out, head);
}

static void put_info(cairn_webm_bytes *out, const cairn_webm *webm) {
    const size_t info = begin(out, INFO);
    put_u64(out, TIMESTAMP_SCALE, 1000000); // ns: times are milliseconds
    put_real(out, DURATION, (double)webm->count * 1000.0 / (double)webm->pictures_hz);
    put_text(out, MUXING_APP, "cairn");
    put_text(out, WRITING_APP, "cairn-replay");
    end(out, info);
}

static void put_tracks(cairn_webm_bytes *out, const cairn_webm *webm) {
    const size_t tracks = begin(out, TRACKS), track = begin(out, TRACK_ENTRY);
    put_u64(out, TRACK_NUMBER, TRACK);
    put_u64(out, TRACK_UID, TRACK);
    put_u64(out, TRACK_TYPE, TYPE_VIDEO);
    put_u64(out, FLAG_LACING, 0);
    put_text(out, CODEC_ID, "V_VP9");
    const size_t video = begin(out, VIDEO);
    put_u64(out, PIXEL_WIDTH, webm->width);
    put_u64(out, PIXEL_HEIGHT, webm->height);
    const size_t colour = begin(out, COLOUR);
    put_u64(out, MATRIX_COEFFICIENTS, BT_709);
    put_u64(out, RANGE, RANGE_OF_VIDEO);
    put_u64(out, TRANSFER_CHARACTERISTICS, BT_709);
    put_u64(out, PRIMARIES, BT_709);
    end(out, colour);
    end(out, video);
    end(out, track);
    end(out, tracks);
}

// `first`: where the first cluster will be, in the segment.
static void put_cues(cairn_webm_bytes *out, const cairn_webm *webm, uint64_t first) {
    const size_t cues = begin(out, CUES);
    for (size_t i = 0; i < webm->points.size; i += sizeof(point)) {
        point at;
        memcpy(&at, webm->points.at + i, sizeof at);
        const size_t cue = begin(out, CUE_POINT);
        put_u64(out, CUE_TIME, at.ms);
        const size_t positions = begin(out, CUE_TRACK_POSITIONS);
        put_u64(out, CUE_TRACK, TRACK);
        put_u64(out, CUE_CLUSTER_POSITION, first + at.offset);
        end(out, positions);
        end(out, cue);
    }
    end(out, cues);
}

const char *cairn_webm_write(cairn_webm *webm, FILE *out) {
    if (webm->cluster != 0) {
        end(&webm->clusters, webm->cluster);
    }
    cairn_webm_bytes inner = {.at = NULL}, outer = {.at = NULL};
    size_t first = 0;
    for (int i = 0; i < 2; ++i) { // once to learn how long it is
        inner.size = 0;
        put_info(&inner, webm);
        put_tracks(&inner, webm);
        put_cues(&inner, webm, first);
        first = inner.size;
    }
    put_head(&outer);
    put_id(&outer, SEGMENT);
    put_size(&outer, inner.size + webm->clusters.size);
    const bool room =
        !inner.failed && !outer.failed && !webm->clusters.failed && !webm->points.failed;
    const bool written =
        room && fwrite(outer.at, 1, outer.size, out) == outer.size &&
        fwrite(inner.at, 1, inner.size, out) == inner.size &&
        fwrite(webm->clusters.at, 1, webm->clusters.size, out) == webm->clusters.size;
    free(inner.at);
    free(outer.at);
    return !room     ? "the film is larger than a gigabyte, or memory is short"
           : written ? NULL
                     : "cannot be written";
}

void cairn_webm_destroy(cairn_webm *webm) {
    free(webm->clusters.at);
    free(webm->points.at);
}
