// SPDX-License-Identifier: MIT
#include "compress/snapshot_codec.h"

#include <stdlib.h>
#include <string.h>

#include <cairn/math.h>

#include "base/assert.h"
#include "compress/body_predictor.h"
#include "compress/decision_queue.h"
#include "compress/pose_code.h"
#include "compress/residual.h"

// Leaders that decide in which order bodies come; more than these do not.
enum { LEADERS_MAX = 8 };
// The order is sorted by three digits of a key; a few bodies are inserted one by one.
enum { KEY_DIGIT_BITS = 6, KEY_DIGIT_MASK = (1 << KEY_DIGIT_BITS) - 1, SHORT_ORDER = 24 };

typedef struct ordered_body {
    uint32_t key; // grows with the distance to the nearest leader
    uint32_t index;
} ordered_body;

// Decisions of an encoder that wait: of some bodies, and in the fastest memory.
enum {
    BODY_DECISIONS_MAX = 3 + 6 * CAIRN_RESIDUAL_DECISIONS_MAX,
    BLOCK_DECISIONS_MAX = 1 + CAIRN_BLOCK_BODIES,
    DECISIONS_MAX = 2048
};

struct cairn_snapshot_codec {
    cairn_codec_settings settings;
    uint32_t capacity;
    cairn_body_motion *motions; // by rank in the order in which bodies are coded
    ordered_body *order, *sorting;
    float rotation_step, rotation_middle;
    cairn_companion_finder *finder;
    cairn_likely_decisions likely; // adapted to the snapshot
    cairn_decision decisions[DECISIONS_MAX + CAIRN_DECISIONS_AFTER];
};

// One snapshot in one direction.
typedef struct pass {
    cairn_snapshot_codec *codec;
    const cairn_snapshot_model *model;
    cairn_likely_decisions *likely;
    const cairn_codec_frames *frames;
    const cairn_codec_observer *observer; // NULL: none
    const cairn_quantised_body *known;    // of an encoder; NULL: a decoder's
    cairn_quantised_body *out;            // of a decoder; NULL: an encoder's
    cairn_range_coder coder;              // of an encoder, without what waits
    cairn_prediction_frame frame;
    float steps_per_m;
    float scale, scale_before; // from the motions between frames to those in the interval
    bool any_moved;            // until the baseline
    bool valid;
} pass;

// ------------------------------------------------------------------------------------- codec

cairn_status cairn_snapshot_codec_set(
    cairn_snapshot_codec *codec, const cairn_codec_settings *settings) {
    const cairn_quantisation *q = &settings->quantisation;
    const bool step = q->position_step_m >= CAIRN_POSITION_STEP_MIN && q->position_step_m <= 1.0f;
    const bool bits =
        q->rotation_bits >= CAIRN_ROTATION_BITS_MIN && q->rotation_bits <= CAIRN_ROTATION_BITS_MAX;
    const bool rate = settings->tick_rate_hz >= CAIRN_TICK_RATE_HZ_MIN &&
                      settings->tick_rate_hz <= CAIRN_TICK_RATE_HZ_MAX;
    const bool together = q->coded_together_max <= CAIRN_BODIES_MAX;
    if (!step || !bits || !rate || !together || !cairn_vec3_finite(settings->gravity)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    codec->settings = *settings;
    if (settings->model == NULL) {
        codec->settings.model = &cairn_snapshot_model_default;
    }
    codec->rotation_step = cairn_rotation_step(q);
    codec->rotation_middle =
        settings->rotation_middle > 0.0f ? settings->rotation_middle : cairn_rotation_middle(q);
    return CAIRN_OK;
}

cairn_status cairn_snapshot_codec_create(
    const cairn_codec_settings *settings, uint32_t capacity, cairn_snapshot_codec **out) {
    *out = NULL;
    if (capacity == 0 || capacity > CAIRN_BODIES_MAX) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_snapshot_codec *codec = calloc(1, sizeof *codec);
    if (codec == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    cairn_status status = cairn_snapshot_codec_set(codec, settings);
    if (status == CAIRN_OK) {
        codec->capacity = capacity;
        codec->motions = calloc(capacity, sizeof *codec->motions);
        codec->order = malloc(capacity * sizeof *codec->order);
        codec->sorting = malloc(capacity * sizeof *codec->sorting);
        codec->finder = cairn_companion_finder_create(capacity);
        const bool allocated = codec->motions != NULL && codec->order != NULL &&
                               codec->sorting != NULL && codec->finder != NULL;
        status = allocated ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
    }
    if (status != CAIRN_OK) {
        cairn_snapshot_codec_destroy(codec);
        return status;
    }
    *out = codec;
    return CAIRN_OK;
}

size_t cairn_snapshot_codec_bytes(const cairn_snapshot_codec *codec) {
    return sizeof *codec + cairn_companion_finder_bytes(codec->finder) +
           codec->capacity * (sizeof *codec->motions + 2 * sizeof *codec->order);
}

void cairn_snapshot_codec_destroy(cairn_snapshot_codec *codec) {
    if (codec != NULL) {
        free(codec->motions);
        free(codec->order);
        free(codec->sorting);
        cairn_companion_finder_destroy(codec->finder);
        free(codec);
    }
}

static cairn_prediction_frame frame_of(
    const cairn_codec_settings *settings, const cairn_codec_frames *frames) {
    const float step = settings->quantisation.position_step_m;
    const float interval_s = (float)frames->ticks / (float)settings->tick_rate_hz;
    const float g[3] = {settings->gravity.x, settings->gravity.y, settings->gravity.z};
    uint32_t up = 1;
    for (uint32_t i = 0; i < 3; ++i) {
        if (cairn_float_abs(g[i]) > cairn_float_abs(g[up])) {
            up = i;
        }
    }
    const float components = (float)((1u << settings->quantisation.rotation_bits) - 1u);
    const cairn_int4 lanes = {0, 1, 2, 3};
    const cairn_int4 vertical = lanes == (int32_t)up;
    return (cairn_prediction_frame){.up = up,
        .up_sign = g[up] > 0.0f ? -1.0f : 1.0f,
        .axis = cairn_vec4_select(vertical, cairn_vec4_all(1.0f), cairn_vec4_zero()),
        .vertical = vertical,
        .fall = g[up] * interval_s * interval_s / step,
        .turn_steps = components / (2.0f * 1.41421356f),
        .airborne_max = 0.05f / step,
        .slip_max = 0.006f / step};
}

// ---------------------------------------------------------------------------------- decisions

// Where decisions come from or go to, in registers.
typedef struct stream {
    cairn_range_coder coder; // of a decoder
    cairn_decision *end;     // of an encoder's decisions that wait
} stream;

static void code_waiting(pass *p, stream *s) {
    cairn_snapshot_codec *codec = p->codec;
    if (p->observer != NULL) {
        cairn_decisions_count(codec->decisions, s->end, p->observer->counts);
    } else {
        cairn_decisions_encode(codec->decisions, s->end, &codec->likely, &p->coder);
    }
    s->end = codec->decisions;
}

// `count` more decisions will come before this is called again.
CAIRN_FOR_EACH_MODE void make_room(cairn_coder_mode mode, pass *p, stream *s, uint32_t count) {
    if (mode == CAIRN_CODER_ENCODE && s->end + count > p->codec->decisions + DECISIONS_MAX) {
        code_waiting(p, s);
    }
}

// With the probability at `place` (CAIRN_DECISION_PLACE).
CAIRN_FOR_EACH_MODE bool code_decision(
    cairn_coder_mode mode, pass *p, stream *s, uint32_t place, bool bit) {
    if (mode == CAIRN_CODER_DECODE) {
        cairn_probability *likely = (cairn_probability *)p->likely + place;
        return cairn_code_adapting_bit_as(mode, &s->coder, likely, bit);
    }
    s->end = cairn_decision_put(s->end, place, bit);
    return bit;
}

// ----------------------------------------------------------------------------- which changed

static inline bool same_pose(const cairn_quantised_body *a, const cairn_quantised_body *b) {
    uint64_t words[2][2];
    uint32_t last[2];
    _Static_assert(sizeof *a == sizeof words[0] + sizeof last[0], "all of it");
    memcpy(words[0], a, sizeof words[0]);
    memcpy(words[1], b, sizeof words[1]);
    memcpy(&last[0], (const char *)a + sizeof words[0], sizeof last[0]);
    memcpy(&last[1], (const char *)b + sizeof words[1], sizeof last[1]);
    return ((words[0][0] ^ words[1][0]) | (words[0][1] ^ words[1][1]) | (last[0] ^ last[1])) == 0;
}

// Bit i: body i of the block differs.
static inline uint32_t differing_poses(
    const cairn_quantised_body *a, const cairn_quantised_body *b, uint32_t count) {
    uint32_t differing = 0;
    if (memcmp(a, b, count * sizeof *a) != 0) {
        for (uint32_t i = 0; i < count; ++i) {
            differing |= (uint32_t)!same_pose(&a[i], &b[i]) << i;
        }
    }
    return differing;
}

static inline uint32_t moved_of_block(const cairn_codec_frames *f, uint32_t start) {
    const uint32_t rest = f->count - start;
    return differing_poses(f->baseline + start, f->earlier + start,
        rest < CAIRN_BLOCK_BODIES ? rest : CAIRN_BLOCK_BODIES);
}

// Appends those that changed to `order`. Returns how many it has then.
CAIRN_FOR_EACH_MODE uint32_t code_changed(cairn_coder_mode mode, pass *p, stream *s) {
    const cairn_codec_frames *f = p->frames;
    ordered_body *order = p->codec->order;
    uint32_t count = 0;
    uint32_t before = 0; // bit i: the body i + 1 places before changed
    uint32_t moved_next = f->count > 0 ? moved_of_block(f, 0) : 0;
    for (uint32_t start = 0; start < f->count; start += CAIRN_BLOCK_BODIES) {
        const uint32_t moved = moved_next;
        p->any_moved |= moved != 0;
        const uint32_t rest = f->count - start;
        const uint32_t bodies = rest < CAIRN_BLOCK_BODIES ? rest : CAIRN_BLOCK_BODIES;
        moved_next = rest > CAIRN_BLOCK_BODIES ? moved_of_block(f, start + CAIRN_BLOCK_BODIES) : 0;
        uint32_t known = 0;
        if (mode != CAIRN_CODER_DECODE) {
            known = differing_poses(p->known + start, f->baseline + start, bodies);
        }
        make_room(mode, p, s, BLOCK_DECISIONS_MAX);
        const uint32_t any = CAIRN_DECISION_PLACE(block) + (moved != 0) * 4u + (before != 0) * 2u +
                             (moved_next != 0);
        if (!code_decision(mode, p, s, any, known != 0)) {
            before = 0;
            continue;
        }
        const uint32_t moving = moved | moved_next << bodies;
        for (uint32_t i = 0; i < bodies; ++i) {
            const uint32_t last = (before & 1) + (before >> 1 & 1);
            const uint32_t place = CAIRN_DECISION_PLACE(changed) + 6 * (moving >> i & 1) +
                                   2 * last + (moving >> (i + 1) & 1);
            const bool changed = code_decision(mode, p, s, place, known >> i & 1);
            before = before << 1 | changed;
            order[count].index = start + i;
            count += changed;
        }
        before &= (1u << CAIRN_BLOCK_BODIES) - 1;
    }
    return count;
}

// Sorts by a digit of the keys; equal ones stay in order. (Knuth, "The art of computer
// programming", 3, 5.2.5.)
static void sort_by_digit(
    const ordered_body *from, ordered_body *to, uint32_t count, uint32_t shift) {
    uint32_t places[1 << KEY_DIGIT_BITS] = {0};
    for (uint32_t i = 0; i < count; ++i) {
        places[from[i].key >> shift & KEY_DIGIT_MASK]++;
    }
    uint32_t place = 0;
    for (uint32_t digit = 0; digit <= KEY_DIGIT_MASK; ++digit) {
        const uint32_t next = place + places[digit];
        places[digit] = place;
        place = next;
    }
    for (uint32_t i = 0; i < count; ++i) {
        to[places[from[i].key >> shift & KEY_DIGIT_MASK]++] = from[i];
    }
}

static void sort_bodies(cairn_snapshot_codec *codec, uint32_t count) {
    ordered_body *order = codec->order;
    if (count > SHORT_ORDER) {
        sort_by_digit(order, codec->sorting, count, 0);
        sort_by_digit(codec->sorting, order, count, KEY_DIGIT_BITS);
        sort_by_digit(order, codec->sorting, count, 2 * KEY_DIGIT_BITS);
        codec->order = codec->sorting;
        codec->sorting = order;
        return;
    }
    for (uint32_t i = 1; i < count; ++i) {
        const ordered_body body = order[i];
        uint32_t k = i;
        for (; k > 0 && order[k - 1].key > body.key; --k) {
            order[k] = order[k - 1];
        }
        order[k] = body;
    }
}

// The upper bits of a float that is not negative grow with it: 8 of the exponent, 8 of the
// fraction.
static uint32_t key_of(float distance_squared) {
    return 1 + (cairn_float_bits(distance_squared) >> 15);
}

// Leaders first, the others by distance to the nearest of the first leaders, bodies that are as far
// by their index.
static void order_bodies(pass *p, uint32_t count) {
    const cairn_codec_frames *f = p->frames;
    ordered_body *order = p->codec->order;
    uint32_t leaders[LEADERS_MAX];
    uint32_t leader_count = 0;
    for (uint32_t i = 0; i < count && leader_count < LEADERS_MAX; ++i) {
        if (f->bodies[order[i].index].leader) {
            leaders[leader_count++] = order[i].index;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t body = order[i].index;
        float nearest = leader_count == 0 ? 0.0f : 1e30f;
        for (uint32_t k = 0; k < leader_count; ++k) {
            const cairn_vec4 way = cairn_steps_between(
                cairn_place_of(&f->baseline[leaders[k]]), cairn_place_of(&f->baseline[body]));
            nearest = cairn_float_min(nearest, cairn_vec4_length_squared(way));
        }
        order[i].key = f->bodies[body].leader ? 0 : key_of(nearest);
    }
    sort_bodies(p->codec, count);
}

// -------------------------------------------------------------------------------- one body

static inline void start_motion(const pass *p, uint32_t index, cairn_body_motion *motion) {
    const cairn_codec_frames *f = p->frames;
    const float step = p->codec->rotation_step, middle = p->codec->rotation_middle;
    const cairn_codec_body *body = &f->bodies[index];
    const cairn_int4 place = cairn_place_of(&f->baseline[index]);
    const cairn_int4 place_earlier = cairn_place_of(&f->earlier[index]);
    const cairn_int4 place_earliest = cairn_place_of(&f->earliest[index]);
    const cairn_vec4 rotation = cairn_rotation_of(&f->baseline[index], step, middle);
    const cairn_vec4 rotation_earlier = cairn_rotation_of(&f->earlier[index], step, middle);
    const cairn_vec4 rotation_earliest = cairn_rotation_of(&f->earliest[index], step, middle);
    const cairn_vec4 swing = cairn_turn_quat_between(rotation_earlier, rotation);
    const cairn_vec4 swing_before = cairn_turn_quat_between(rotation_earliest, rotation_earlier);
    const cairn_vec4 scale = cairn_vec4_all(p->scale);
    const cairn_vec4 scale_before = cairn_vec4_all(p->scale_before);
    motion->place = place;
    motion->step = cairn_steps_between(place_earlier, place);
    motion->swing = swing;
    motion->rotation = rotation;
    motion->moved = motion->step * scale;
    motion->turned = cairn_turn_of_quat(swing) * scale;
    motion->moved_before = cairn_steps_between(place_earliest, place_earlier) * scale_before;
    motion->turned_before = cairn_turn_of_quat(swing_before) * scale_before;
    motion->leader = body->leader;
    motion->half_extents[0] = body->half_extents.x * p->steps_per_m;
    motion->half_extents[1] = body->half_extents.y * p->steps_per_m;
    motion->half_extents[2] = body->half_extents.z * p->steps_per_m;
}

// Of the three components of a kind in lanes: the part of their expected errors that they have in
// common, and the weights of the two features that differ. Four sums at once, so that one addition
// need not wait for the other.
typedef struct error_parts {
    cairn_vec4 common, before, component;
} error_parts;

CAIRN_VEC4_INLINE error_parts parts_of_errors(
    const float *const weights[3], const float *features) {
    _Static_assert(CAIRN_ERROR_FEATURES == 16 && CAIRN_ERROR_BEFORE == 14, "the last two are 0");
    cairn_vec4 sums[3], last[3];
    for (uint32_t k = 0; k < 3; ++k) {
        sums[k] = cairn_vec4_load(weights[k]) * cairn_vec4_load(features);
        for (uint32_t i = 4; i < CAIRN_ERROR_FEATURES; i += 4) {
            last[k] = cairn_vec4_load(weights[k] + i);
            sums[k] = sums[k] + last[k] * cairn_vec4_load(features + i);
        }
    }
    const cairn_vec4 low = cairn_vec4_low_lanes(sums[0], sums[1]),
                     high = cairn_vec4_high_lanes(sums[0], sums[1]);
    const cairn_vec4 low_2 = cairn_vec4_low_lanes(sums[2], sums[2]),
                     high_2 = cairn_vec4_high_lanes(sums[2], sums[2]);
    const cairn_vec4 of_last = cairn_vec4_high_lanes(last[0], last[1]);
    const cairn_vec4 of_last_2 = cairn_vec4_high_lanes(last[2], last[2]);
    const cairn_vec4 first = __builtin_shufflevector(low, low_2, 0, 1, 4, 5) +
                             __builtin_shufflevector(low, low_2, 2, 3, 6, 7);
    const cairn_vec4 second = __builtin_shufflevector(high, high_2, 0, 1, 4, 5) +
                              __builtin_shufflevector(high, high_2, 2, 3, 6, 7);
    return (error_parts){.common = first + second,
        .before = __builtin_shufflevector(of_last, of_last_2, 0, 1, 4, 5),
        .component = __builtin_shufflevector(of_last, of_last_2, 2, 3, 6, 7)};
}

static void observe(const pass *p, cairn_codec_table table, uint32_t row, const float *features,
    uint32_t count, float target) {
    if (p->observer->sample != NULL) {
        p->observer->sample(p->observer->user, table, row, features, count, target);
    }
}

// The three components of a rotation or of a position, in the order in which they are coded.
typedef struct components {
    cairn_component kinds[3];
    cairn_vec4 predicted;
    cairn_vec4 sizes; // CAIRN_ERROR_COMPONENT of each
    int32_t values[4];
} components;

CAIRN_VEC4_INLINE error_parts errors_of(
    const pass *p, const cairn_prediction *prediction, const components *c) {
    const float *weights[3];
    for (uint32_t k = 0; k < 3; ++k) {
        weights[k] = p->model->error[prediction->motion_class][c->kinds[k]][k];
    }
    return parts_of_errors(weights, prediction->error_features);
}

static void observe_errors(const pass *p, const cairn_prediction *prediction, const components *c,
    cairn_vec4 before, cairn_vec4 errors) {
    float features[CAIRN_ERROR_FEATURES];
    memcpy(features, prediction->error_features, sizeof features);
    for (uint32_t k = 0; k < 3; ++k) {
        const uint32_t row =
            (prediction->motion_class * CAIRN_COMPONENTS + (uint32_t)c->kinds[k]) * 3 + k;
        features[CAIRN_ERROR_BEFORE] = before[k];
        features[CAIRN_ERROR_COMPONENT] = c->sizes[k];
        observe(p, CAIRN_CODEC_TABLE_ERROR, row, features, CAIRN_ERROR_FEATURES, errors[k]);
    }
}

// Both return the mean error.
CAIRN_VEC4_INLINE float put_components(
    const pass *p, stream *s, const cairn_prediction *prediction, const components *c) {
    const error_parts parts = errors_of(p, prediction, c);
    const cairn_int4 values = {c->values[0], c->values[1], c->values[2], 0};
    const cairn_vec4 errors =
        cairn_vec4_abs(__builtin_convertvector(values, cairn_vec4) - c->predicted);
    const float two = errors[0] + errors[1];
    const cairn_vec4 before = {0.0f, errors[0], two * 0.5f, 0.0f};
    const cairn_vec4 expected = parts.common + before * parts.before + c->sizes * parts.component;
    const int32_t rows = CAIRN_ERROR_LEVELS;
    cairn_residual residuals[3];
    cairn_find_residuals((cairn_int4){rows * (int32_t)c->kinds[0], rows * (int32_t)c->kinds[1],
                             rows * (int32_t)c->kinds[2], 0},
        expected, c->predicted, values, residuals);
    for (uint32_t k = 0; k < 3; ++k) {
        residuals[k].mantissa =
            CAIRN_DECISION_PLACE(mantissa) + (uint32_t)c->kinds[k] * CAIRN_MAGNITUDES * 3;
        s->end = cairn_decision_put_residual(s->end, &residuals[k]);
    }
    if (p->observer != NULL) {
        observe_errors(p, prediction, c, before, errors);
    }
    return (two + errors[2]) / 3.0f;
}

// One that is `k` places after the first; returns its error.
static float read_component(pass *p, stream *s, components *c, uint32_t k, float expected) {
    const float predicted = c->predicted[k];
    const int64_t value =
        cairn_read_residual(&s->coder, p->likely, c->kinds[k], expected, predicted);
    p->valid &= value >= -2 * (int64_t)CAIRN_QUANTISED_MAX;
    p->valid &= value <= 2 * (int64_t)CAIRN_QUANTISED_MAX;
    c->values[k] = p->valid ? (int32_t)value : 0;
    return cairn_float_abs((float)value - predicted);
}

CAIRN_VEC4_INLINE float read_components(
    pass *p, stream *s, const cairn_prediction *prediction, components *c) {
    const error_parts parts = errors_of(p, prediction, c);
    const cairn_vec4 alone = c->sizes * parts.component;
    const float first =
        read_component(p, s, c, 0, parts.common[0] + 0.0f * parts.before[0] + alone[0]);
    const float two =
        first + read_component(p, s, c, 1, parts.common[1] + first * parts.before[1] + alone[1]);
    const float last =
        read_component(p, s, c, 2, parts.common[2] + two * 0.5f * parts.before[2] + alone[2]);
    return (two + last) / 3.0f;
}

CAIRN_FOR_EACH_MODE float code_components(
    cairn_coder_mode mode, pass *p, stream *s, const cairn_prediction *prediction, components *c) {
    return mode == CAIRN_CODER_ENCODE ? put_components(p, s, prediction, c)
                                      : read_components(p, s, prediction, c);
}

// Which of two components is larger; the first of equal ones.
static inline uint32_t larger_of(const float sizes[4], uint32_t a, uint32_t b) {
    const uint32_t is_b = 0u - (uint32_t)(sizes[b] > sizes[a]); // no branch: it is not foreseen
    return a ^ ((a ^ b) & is_b);
}

// One of two components that are equally likely.
CAIRN_FOR_EACH_MODE bool code_even(cairn_coder_mode mode, stream *s, bool bit) {
    if (mode == CAIRN_CODER_DECODE) {
        return cairn_code_raw_as(mode, &s->coder, 1, bit) != 0;
    }
    s->end = cairn_decision_put_even(s->end, bit);
    return bit;
}

// The largest component: mostly the one predicted, else the second largest, else one of two.
CAIRN_FOR_EACH_MODE uint32_t code_largest(cairn_coder_mode mode, pass *p, stream *s,
    cairn_vec4 rotation, float uncertainty, uint32_t largest) {
    float sizes[4];
    const cairn_vec4 absolute = cairn_vec4_abs(rotation);
    memcpy(sizes, &absolute, sizeof sizes);
    // The winners of two pairs meet; the second is the other winner or lost to the first.
    const uint32_t low = larger_of(sizes, 0, 1), high = larger_of(sizes, 2, 3);
    const uint32_t first = larger_of(sizes, low, high);
    const uint32_t other = low ^ high ^ first; // that lost the last
    const uint32_t beaten = first ^ 1;         // that lost to the first before
    const uint32_t second =
        other < beaten ? larger_of(sizes, other, beaten) : larger_of(sizes, beaten, other);
    const float margin = sizes[first] - sizes[second];
    const int32_t place = (int32_t)(margin * CAIRN_MARGINS / uncertainty);
    const uint32_t m = place >= CAIRN_MARGINS ? CAIRN_MARGINS - 1 : (uint32_t)place;
    if (!code_decision(mode, p, s, CAIRN_DECISION_PLACE(not_largest) + m, largest != first)) {
        return first;
    }
    if (!code_decision(mode, p, s, CAIRN_DECISION_PLACE(not_second), largest != second)) {
        return second;
    }
    const uint32_t third_low = first != 0 && second != 0 ? 0 : first != 1 && second != 1 ? 1 : 2;
    const uint32_t third_high = 6 - first - second - third_low;
    const uint32_t third = larger_of(sizes, third_low, third_high);
    const uint32_t fourth = third_low ^ third_high ^ third;
    return code_even(mode, s, largest == fourth) ? fourth : third;
}

// The components of a rotation without one of them.
CAIRN_VEC4_INLINE cairn_vec4 without(cairn_vec4 rotation, uint32_t largest) {
    static const cairn_int4 before[4] = {
        {0, 0, 0, 0}, {-1, 0, 0, 0}, {-1, -1, 0, 0}, {-1, -1, -1, 0}};
    const cairn_vec4 moved = __builtin_shufflevector(rotation, rotation, 1, 2, 3, 3);
    return cairn_vec4_select(before[largest], rotation, moved);
}

CAIRN_FOR_EACH_MODE void code_rotation(cairn_coder_mode mode, pass *p, stream *s,
    cairn_prediction *prediction, cairn_body_motion *motion) {
    const uint32_t bits = p->codec->settings.quantisation.rotation_bits;
    const float all_ones = (float)((1u << bits) - 1u);
    cairn_predict_turn(prediction, &p->frame, p->model);
    const cairn_vec4 rotation =
        cairn_quat4_multiply(cairn_quat_of_turn(prediction->turn), motion->rotation);
    const cairn_body_motion *neighbour = prediction->companions.neighbours[0];
    const float uncertainty = 0.05f * p->frame.turn_steps +
                              prediction->error_features[CAIRN_ERROR_CHANGE] +
                              (neighbour != NULL ? neighbour->rotation_error * 0.5f : 0.0f);
    cairn_quantised_body *now = &motion->now;
    now->largest = (uint16_t)code_largest(
        mode, p, s, rotation, uncertainty / p->frame.turn_steps, now->largest);
    const float scale = (rotation[now->largest] < 0.0f ? -2.0f : 2.0f) * p->frame.turn_steps;
    const cairn_vec4 others = without(rotation, now->largest);
    const cairn_vec4 most = cairn_vec4_all(all_ones), least = cairn_vec4_zero();
    cairn_vec4 steps = others * cairn_vec4_all(scale) + cairn_vec4_all(p->codec->rotation_middle);
    steps = cairn_vec4_select(steps > least, steps, least);
    steps = cairn_vec4_select(steps < most, steps, most);
    components c = {
        .kinds = {CAIRN_COMPONENT_ROTATION, CAIRN_COMPONENT_ROTATION, CAIRN_COMPONENT_ROTATION},
        .predicted = steps,
        .sizes = cairn_vec4_all(p->frame.turn_steps) * cairn_vec4_abs(others)};
    for (uint32_t k = 0; k < 3 && mode == CAIRN_CODER_ENCODE; ++k) {
        c.values[k] = now->rotation[k];
    }
    motion->rotation_error = code_components(mode, p, s, prediction, &c);
    for (uint32_t k = 0; k < 3 && mode == CAIRN_CODER_DECODE; ++k) {
        p->valid &= (uint32_t)c.values[k] >> bits == 0;
        now->rotation[k] = (uint16_t)c.values[k];
    }
    motion->turn_quat = cairn_turn_quat_between(motion->rotation,
        cairn_rotation_of(now, p->codec->rotation_step, p->codec->rotation_middle));
    motion->turn = cairn_turn_of_quat(motion->turn_quat);
}

static void observe_turn(
    const pass *p, const cairn_prediction *prediction, const cairn_body_motion *motion) {
    for (uint32_t axis = 0; axis < 3; ++axis) {
        float features[CAIRN_TURN_FEATURES];
        for (uint32_t i = 0; i < CAIRN_TURN_FEATURES; ++i) {
            features[i] = p->frame.turn_steps * prediction->turn_features[i][axis];
        }
        observe(p, CAIRN_CODEC_TABLE_TURN, prediction->motion_class, features, CAIRN_TURN_FEATURES,
            p->frame.turn_steps * (motion->turn[axis] - motion->turned[axis]));
    }
}

static void observe_travel(
    const pass *p, const cairn_prediction *prediction, uint32_t axis, float moved) {
    float features[CAIRN_MOVE_FEATURES];
    for (uint32_t i = 0; i < CAIRN_MOVE_FEATURES; ++i) {
        features[i] = prediction->move_features[i][axis];
    }
    observe(p, CAIRN_CODEC_TABLE_MOVE, 2 * prediction->motion_class + (axis == p->frame.up),
        features, CAIRN_MOVE_FEATURES, moved - prediction->body->moved[axis]);
}

// The vertical axis first: it is predicted best.
CAIRN_FOR_EACH_MODE void code_position(cairn_coder_mode mode, pass *p, stream *s,
    cairn_prediction *prediction, cairn_body_motion *motion) {
    cairn_predict_travel(prediction, &p->frame, p->model);
    const cairn_vec4 along_ground = cairn_vec4_abs(prediction->move_features[CAIRN_MOVE_ROLLING]) +
                                    cairn_vec4_abs(prediction->move_features[CAIRN_MOVE_SUPPORT]);
    const uint32_t up = p->frame.up;
    const uint32_t axes[3] = {up, up == 2 ? 0 : up + 1, up == 0 ? 2 : up - 1};
    const cairn_vec4 travel = prediction->travel;
    components c = {
        .kinds = {CAIRN_COMPONENT_VERTICAL, CAIRN_COMPONENT_HORIZONTAL, CAIRN_COMPONENT_HORIZONTAL},
        .predicted = cairn_vec4_of(travel[axes[0]], travel[axes[1]], travel[axes[2]]),
        .sizes =
            cairn_vec4_of(along_ground[axes[0]], along_ground[axes[1]], along_ground[axes[2]])};
    for (uint32_t k = 0; k < 3 && mode == CAIRN_CODER_ENCODE; ++k) {
        c.values[k] = motion->now.position[axes[k]] - motion->place[axes[k]];
    }
    motion->position_error = code_components(mode, p, s, prediction, &c);
    for (uint32_t k = 0; k < 3 && mode == CAIRN_CODER_DECODE; ++k) {
        const int64_t to = (int64_t)motion->place[axes[k]] + c.values[k];
        p->valid &= to >= -CAIRN_QUANTISED_MAX && to <= CAIRN_QUANTISED_MAX;
        motion->now.position[axes[k]] = p->valid ? (int32_t)to : 0;
    }
    for (uint32_t k = 0; k < 3 && p->observer != NULL; ++k) {
        observe_travel(p, prediction, axes[k], (float)c.values[k]);
    }
    motion->travel = cairn_steps_between(motion->place, cairn_place_of(&motion->now));
    motion->surprise = motion->travel - motion->moved;
    motion->surprise[3] = cairn_vec4_length(motion->surprise);
}

// ------------------------------------------------------------------------------- bodies alone

// The tail has them in the order of their indices; its bytes lie where motions would.
_Static_assert(sizeof(cairn_body_motion) * 8 >= CAIRN_POSE_BITS_MAX + 64, "there is room");

static cairn_pose_spans spans_of(const pass *p) {
    const cairn_codec_frames *f = p->frames;
    const cairn_codec_settings *s = &p->codec->settings;
    // Nothing is known of a motion if the earlier frame is the baseline once more.
    const float before = p->any_moved ? (float)f->ticks_earlier : 0.0f;
    const float first = p->any_moved ? (float)f->ticks_earliest : 0.0f;
    return cairn_pose_spans_of((float)f->ticks, before, first, s->tick_rate_hz,
        s->quantisation.position_step_m, s->gravity);
}

static void code_alone(cairn_coder_mode mode, pass *p, uint32_t changed) {
    cairn_snapshot_codec *codec = p->codec;
    const cairn_codec_frames *f = p->frames;
    const uint32_t rotation_bits = codec->settings.quantisation.rotation_bits;
    const cairn_pose_spans spans = spans_of(p);
    uint8_t *tail = (uint8_t *)codec->motions;
    const size_t room = changed * sizeof *codec->motions;
    cairn_bits bits = mode == CAIRN_CODER_DECODE
                          ? cairn_bits_reader(tail, cairn_range_tail(&p->coder, tail, room))
                          : cairn_bits_writer(tail, room);
    for (uint32_t rank = 0; rank < changed && !bits.failed; ++rank) {
        const uint32_t i = codec->order[rank].index;
        const cairn_quantised_body *samples[3] = {&f->baseline[i], &f->earlier[i], &f->earliest[i]};
        if (mode == CAIRN_CODER_DECODE) {
            p->out[i] = cairn_pose_read(&bits, &spans, rotation_bits, samples);
            bits.failed |= !cairn_pose_in_range(&p->out[i]);
        } else {
            cairn_pose_put(&bits, &spans, rotation_bits, samples, &p->known[i]);
        }
    }
    p->valid = !bits.failed;
    if (mode == CAIRN_CODER_ENCODE) {
        p->coder.tail = tail;
        p->coder.tail_size = cairn_bits_finish(&bits);
    }
}

// ------------------------------------------------------------------------------- a snapshot

CAIRN_FOR_EACH_MODE void code_body(cairn_coder_mode mode, pass *p, stream *s, uint32_t rank) {
    cairn_snapshot_codec *codec = p->codec;
    const uint32_t index = codec->order[rank].index;
    cairn_body_motion *motion = &codec->motions[rank];
    make_room(mode, p, s, BODY_DECISIONS_MAX);
    if (mode != CAIRN_CODER_DECODE) {
        motion->now = p->known[index];
    }
    cairn_prediction prediction;
    cairn_companion_finder_find(codec->finder, rank, &prediction.companions);
    cairn_prediction_start(&prediction, &p->frame, motion);
    code_rotation(mode, p, s, &prediction, motion);
    if (p->observer != NULL) {
        observe_turn(p, &prediction, motion);
    }
    code_position(mode, p, s, &prediction, motion);
    if (mode == CAIRN_CODER_DECODE) {
        p->out[index] = motion->now;
    }
    cairn_companion_finder_add(codec->finder, rank);
}

CAIRN_FOR_EACH_MODE void code_together(
    cairn_coder_mode mode, pass *p, stream *s, uint32_t changed) {
    cairn_snapshot_codec *codec = p->codec;
    order_bodies(p, changed);
    for (uint32_t rank = 0; rank < changed; ++rank) {
        start_motion(p, codec->order[rank].index, &codec->motions[rank]);
    }
    cairn_companion_finder_start(
        codec->finder, codec->motions, changed, codec->settings.quantisation.position_step_m);
    for (uint32_t rank = 0; rank < changed && p->valid; ++rank) {
        code_body(mode, p, s, rank);
    }
}

CAIRN_FOR_EACH_MODE void code_snapshot(cairn_coder_mode mode, pass *p) {
    cairn_snapshot_codec *codec = p->codec;
    const cairn_codec_frames *f = p->frames;
    CAIRN_ASSERT(f->count <= codec->capacity);
    CAIRN_ASSERT(f->ticks > 0 && f->ticks_earlier > 0 && f->ticks_earliest > 0);
    p->model = codec->settings.model;
    codec->likely = p->model->likely;
    p->likely = &codec->likely;
    p->frame = frame_of(&codec->settings, f);
    p->scale = (float)f->ticks / (float)f->ticks_earlier;
    p->scale_before = (float)f->ticks / (float)f->ticks_earliest;
    p->steps_per_m = 1.0f / codec->settings.quantisation.position_step_m;
    p->valid = true;
    if (mode == CAIRN_CODER_DECODE) {
        memcpy(p->out, f->baseline, f->count * sizeof *p->out);
    }
    stream s = {.coder = p->coder, .end = codec->decisions};
    const uint32_t changed = code_changed(mode, p, &s);
    const bool alone =
        changed > codec->settings.quantisation.coded_together_max && p->observer == NULL;
    if (alone) {
        code_alone(mode, p, changed);
    } else {
        code_together(mode, p, &s, changed);
    }
    if (mode == CAIRN_CODER_ENCODE) {
        code_waiting(p, &s);
    } else {
        p->coder = s.coder;
    }
}

void cairn_snapshot_encode_poses(cairn_snapshot_codec *codec, const cairn_codec_frames *frames,
    const cairn_quantised_body *snapshot, cairn_range_coder *coder) {
    pass p = {.codec = codec, .frames = frames, .known = snapshot, .coder = *coder};
    code_snapshot(CAIRN_CODER_ENCODE, &p);
    CAIRN_ASSERT(p.valid); // the poses are in range
    *coder = p.coder;
}

cairn_status cairn_snapshot_decode_poses(cairn_snapshot_codec *codec,
    const cairn_codec_frames *frames, cairn_range_coder *coder, cairn_quantised_body *out) {
    pass p = {.codec = codec, .frames = frames, .out = out, .coder = *coder};
    code_snapshot(CAIRN_CODER_DECODE, &p);
    *coder = p.coder;
    return p.valid ? CAIRN_OK : CAIRN_MALFORMED;
}

size_t cairn_snapshot_encode(cairn_snapshot_codec *codec, const cairn_codec_frames *frames,
    const cairn_quantised_body *snapshot, uint8_t *bytes, size_t size) {
    cairn_range_coder coder = cairn_range_encoder(bytes, size);
    cairn_snapshot_encode_poses(codec, frames, snapshot, &coder);
    return cairn_range_finish(&coder);
}

cairn_status cairn_snapshot_decode(cairn_snapshot_codec *codec, const cairn_codec_frames *frames,
    const uint8_t *bytes, size_t size, cairn_quantised_body *out) {
    cairn_range_coder coder = cairn_range_decoder(bytes, size);
    return cairn_snapshot_decode_poses(codec, frames, &coder, out);
}

void cairn_snapshot_observe(cairn_snapshot_codec *codec, const cairn_codec_frames *frames,
    const cairn_quantised_body *snapshot, const cairn_codec_observer *observer) {
    pass p = {.codec = codec, .frames = frames, .known = snapshot, .observer = observer};
    code_snapshot(CAIRN_CODER_ENCODE, &p);
}
