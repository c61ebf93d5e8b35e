// SPDX-License-Identifier: MIT
#include "compress/snapshot_codec.h"

#include <stdlib.h>
#include <string.h>

#include <cairn/math.h>

#include "base/assert.h"
#include "compress/body_predictor.h"

// Positions that can be coded: CAIRN_DISTANCE_MAX in the finest steps.
#define POSITION_MAX 1000000000
// Leaders that decide in which order bodies come; more than these do not.
enum { LEADERS_MAX = 8 };

typedef struct ordered_body {
    float distance; // squared, to the nearest leader; -1 of a leader
    uint32_t index;
} ordered_body;

struct cairn_snapshot_codec {
    cairn_codec_settings settings;
    uint32_t capacity;
    cairn_body_motion *motions; // by body; only those that changed are filled
    ordered_body *order;
    uint8_t *moved; // by body: from the earlier frame to the baseline
    cairn_companion_finder *finder;
};

// One snapshot in one direction.
typedef struct pass {
    cairn_snapshot_codec *codec;
    const cairn_snapshot_model *model;
    const cairn_codec_frames *frames;
    const cairn_codec_observer *observer; // NULL: none
    const cairn_quantised_body *known;    // of an encoder; NULL: a decoder's
    cairn_quantised_body *out;            // of a decoder; NULL: an encoder's
    cairn_range_coder coder;
    cairn_prediction_frame frame;
    bool valid;
} pass;

// ------------------------------------------------------------------------------------- codec

cairn_status cairn_snapshot_codec_create(
    const cairn_codec_settings *settings, uint32_t capacity, cairn_snapshot_codec **out) {
    *out = NULL;
    const cairn_quantisation *q = &settings->quantisation;
    const bool step = q->position_step_m >= CAIRN_POSITION_STEP_MIN && q->position_step_m <= 1.0f;
    const bool bits =
        q->rotation_bits >= CAIRN_ROTATION_BITS_MIN && q->rotation_bits <= CAIRN_ROTATION_BITS_MAX;
    const bool rate = settings->tick_rate_hz >= CAIRN_TICK_RATE_HZ_MIN &&
                      settings->tick_rate_hz <= CAIRN_TICK_RATE_HZ_MAX;
    if (!step || !bits || !rate || !cairn_vec3_finite(settings->gravity) || capacity == 0 ||
        capacity > CAIRN_BODIES_MAX) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_snapshot_codec *codec = calloc(1, sizeof *codec);
    if (codec == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    codec->settings = *settings;
    if (settings->model == NULL) {
        codec->settings.model = &cairn_snapshot_model_default;
    }
    codec->capacity = capacity;
    codec->motions = calloc(capacity, sizeof *codec->motions);
    codec->order = malloc(capacity * sizeof *codec->order);
    codec->moved = malloc(capacity);
    codec->finder = cairn_companion_finder_create(capacity);
    if (codec->motions == NULL || codec->order == NULL || codec->moved == NULL ||
        codec->finder == NULL) {
        cairn_snapshot_codec_destroy(codec);
        return CAIRN_OUT_OF_MEMORY;
    }
    *out = codec;
    return CAIRN_OK;
}

void cairn_snapshot_codec_destroy(cairn_snapshot_codec *codec) {
    if (codec != NULL) {
        free(codec->motions);
        free(codec->order);
        free(codec->moved);
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
    return (cairn_prediction_frame){.up = up,
        .up_sign = g[up] > 0.0f ? -1.0f : 1.0f,
        .fall = g[up] * interval_s * interval_s / step,
        .turn_steps = components / (2.0f * 1.41421356f),
        .airborne_max = 0.05f / step,
        .slip_max = 0.006f / step};
}

// ----------------------------------------------------------------------------- which changed

static bool same_pose(const cairn_quantised_body *a, const cairn_quantised_body *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

// Fills `order` with those that changed. Returns how many.
static uint32_t code_changed(pass *p) {
    const cairn_codec_frames *f = p->frames;
    const cairn_quantised_body *known = p->known;
    uint8_t *moved = p->codec->moved;
    for (uint32_t i = 0; i < f->count; ++i) {
        moved[i] = !same_pose(&f->baseline[i], &f->earlier[i]);
    }
    uint32_t changed_count = 0;
    for (uint32_t start = 0; start < f->count; start += CAIRN_BLOCK_BODIES) {
        const uint32_t rest = f->count - start;
        const uint32_t end = start + (rest < CAIRN_BLOCK_BODIES ? rest : CAIRN_BLOCK_BODIES);
        const bool any_moved = memchr(moved + start, 1, end - start) != NULL;
        const bool any = known != NULL && memcmp(known + start, f->baseline + start,
                                              (end - start) * sizeof *known) != 0;
        if (!cairn_code_bit(&p->coder, &p->model->likely.block[any_moved], any)) {
            continue;
        }
        uint32_t before[2] = {0, 0};
        for (uint32_t i = start; i < end; ++i) {
            const uint32_t next = i + 1 < end ? moved[i + 1] : 0;
            bool changed = known != NULL && !same_pose(&known[i], &f->baseline[i]);
            changed = cairn_code_bit(&p->coder,
                &p->model->likely.changed[moved[i]][before[0] + before[1]][next], changed);
            before[1] = before[0];
            before[0] = changed;
            if (changed) {
                p->codec->order[changed_count++].index = i;
            }
        }
    }
    return changed_count;
}

static int compare_order(const void *a, const void *b) {
    const ordered_body *x = a, *y = b;
    if (x->distance != y->distance) {
        return x->distance < y->distance ? -1 : 1;
    }
    return x->index < y->index ? -1 : 1;
}

// Leaders first, the others by distance to the nearest of the first leaders.
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
        order[i].distance = f->bodies[body].leader ? -1.0f : leader_count == 0 ? 0.0f : 1e30f;
        for (uint32_t k = 0; k < leader_count && order[i].distance > 0.0f; ++k) {
            const cairn_vec3 way =
                cairn_steps_between(f->baseline[leaders[k]].position, f->baseline[body].position);
            order[i].distance = cairn_float_min(order[i].distance, cairn_vec3_length_squared(way));
        }
    }
    qsort(order, count, sizeof *order, compare_order);
}

// -------------------------------------------------------------------------------- one body

static void start_motion(pass *p, uint32_t index) {
    const cairn_codec_frames *f = p->frames;
    const cairn_quantisation *q = &p->codec->settings.quantisation;
    const cairn_quantised_body *earliest = &f->earliest[index];
    cairn_body_motion *motion = &p->codec->motions[index];
    motion->baseline = &f->baseline[index];
    motion->earlier = &f->earlier[index];
    motion->leader = f->bodies[index].leader;
    motion->half_extents =
        cairn_vec3_scale(f->bodies[index].half_extents, 1.0f / q->position_step_m);
    motion->rotation = cairn_dequantise_rotation(q, motion->baseline);
    const cairn_quat earlier = cairn_dequantise_rotation(q, motion->earlier);
    const float scale = (float)f->ticks / (float)f->ticks_earlier;
    const float scale_before = (float)f->ticks / (float)f->ticks_earliest;
    const cairn_turn turned = cairn_turn_between(earlier, motion->rotation);
    motion->turned_quat = cairn_quat_of_turn(turned);
    motion->turned = cairn_vec3_scale(turned, scale);
    motion->turned_before = cairn_vec3_scale(
        cairn_turn_between(cairn_dequantise_rotation(q, earliest), earlier), scale_before);
    motion->moved = cairn_vec3_scale(
        cairn_steps_between(motion->earlier->position, motion->baseline->position), scale);
    motion->moved_before = cairn_vec3_scale(
        cairn_steps_between(earliest->position, motion->earlier->position), scale_before);
}

// Two levels for each power of two.
static uint32_t error_level(float error) {
    const int32_t exponent = (int32_t)(cairn_float_bits(error * error) >> 23) - 127;
    const int32_t level = exponent + 5;
    return level < 0 ? 0 : level >= CAIRN_ERROR_LEVELS ? CAIRN_ERROR_LEVELS - 1 : (uint32_t)level;
}

static float weighted_sum(const float *weights, const float *features, uint32_t count) {
    float sum = 0.0f;
    for (uint32_t i = 0; i < count; ++i) {
        sum = sum + weights[i] * features[i];
    }
    return sum;
}

// The magnitude of a residual, at least 1: the position of its highest bit in unary, the two bits
// after it with probabilities, the rest as they are.
static uint32_t code_magnitude(
    pass *p, cairn_component component, uint32_t level, uint32_t magnitude) {
    const cairn_probability *longer = p->model->likely.longer[component][level];
    uint32_t bits = 0;
    while (bits < 31) {
        const uint32_t k = bits < CAIRN_MAGNITUDES ? bits : CAIRN_MAGNITUDES - 1;
        if (!cairn_code_bit(&p->coder, &longer[k], magnitude >> bits > 1)) {
            break;
        }
        bits++;
    }
    const uint32_t row = bits < CAIRN_MAGNITUDES ? bits : CAIRN_MAGNITUDES - 1;
    const cairn_probability *mantissa = p->model->likely.mantissa[component][row];
    uint32_t result = 1;
    uint32_t left = bits;
    for (uint32_t k = 0; k < 2 && left > 0; ++k) {
        left--;
        const cairn_probability *likely = &mantissa[k == 0 ? 0 : 1 + (result & 1)];
        result = result << 1 | cairn_code_bit(&p->coder, likely, magnitude >> left & 1);
    }
    return result << left | cairn_code_raw(&p->coder, left, magnitude & ((1u << left) - 1u));
}

// A difference to a predicted real number; returns the integer.
static int64_t code_residual(
    pass *p, cairn_component component, float error, float predicted, int64_t value) {
    predicted = cairn_float_clamp(predicted, -(float)POSITION_MAX, (float)POSITION_MAX);
    int64_t nearest = (int64_t)(predicted + 0.5f);
    nearest -= (float)nearest > predicted + 0.5f; // towards minus infinity
    const float fraction = predicted - (float)nearest + 0.5f;
    const int32_t part = (int32_t)(fraction * CAIRN_FRACTIONS);
    const uint32_t f = part < 0                  ? 0
                       : part >= CAIRN_FRACTIONS ? CAIRN_FRACTIONS - 1
                                                 : (uint32_t)part;
    const uint32_t level = error_level(error);
    const int64_t residual = value - nearest;
    if (!cairn_code_bit(
            &p->coder, &p->model->likely.not_zero[component][level][f], residual != 0)) {
        return nearest;
    }
    const bool negative =
        cairn_code_bit(&p->coder, &p->model->likely.negative[component][level][f], residual < 0);
    const int64_t magnitude =
        code_magnitude(p, component, level, (uint32_t)(negative ? -residual : residual));
    return nearest + (negative ? -magnitude : magnitude);
}

// What a component's residual is expected to be. 0.2 steps at least: the levels start there.
static float expected_error(pass *p, const cairn_prediction *prediction, cairn_component component,
    uint32_t coded, const float features[CAIRN_ERROR_FEATURES]) {
    const float *weights = p->model->error[prediction->motion_class][component][coded];
    return cairn_float_max(weighted_sum(weights, features, CAIRN_ERROR_FEATURES), 0.2f);
}

static void observe(pass *p, cairn_codec_table table, uint32_t row, const float *features,
    uint32_t count, float target) {
    if (p->observer != NULL && p->observer->sample != NULL) {
        p->observer->sample(p->observer->user, table, row, features, count, target);
    }
}

static void observe_error(pass *p, const cairn_prediction *prediction, cairn_component component,
    uint32_t coded, const float *features, float error) {
    const uint32_t row = (prediction->motion_class * CAIRN_COMPONENTS + component) * 3 + coded;
    observe(p, CAIRN_CODEC_TABLE_ERROR, row, features, CAIRN_ERROR_FEATURES, error);
}

// The largest component: mostly the one predicted, else the second largest, else one of two.
static uint32_t code_largest(pass *p, const float q[4], float uncertainty, uint32_t largest) {
    uint32_t rank[4] = {0, 1, 2, 3};
    for (uint32_t i = 1; i < 4; ++i) {
        for (uint32_t k = i; k > 0 && cairn_float_abs(q[rank[k]]) > cairn_float_abs(q[rank[k - 1]]);
             --k) {
            const uint32_t swapped = rank[k];
            rank[k] = rank[k - 1];
            rank[k - 1] = swapped;
        }
    }
    const float margin = cairn_float_abs(q[rank[0]]) - cairn_float_abs(q[rank[1]]);
    const int32_t place = (int32_t)(margin * CAIRN_MARGINS / uncertainty);
    const uint32_t m = place >= CAIRN_MARGINS ? CAIRN_MARGINS - 1 : (uint32_t)place;
    if (!cairn_code_bit(&p->coder, &p->model->likely.not_largest[m], largest != rank[0])) {
        return rank[0];
    }
    if (!cairn_code_bit(&p->coder, &p->model->likely.not_second, largest != rank[1])) {
        return rank[1];
    }
    return cairn_code_raw(&p->coder, 1, largest == rank[3]) ? rank[3] : rank[2];
}

static void code_rotation(pass *p, cairn_prediction *prediction, cairn_body_motion *motion) {
    const uint32_t bits = p->codec->settings.quantisation.rotation_bits;
    const float all_ones = (float)((1u << bits) - 1u);
    const cairn_turn predicted = cairn_predict_turn(prediction, &p->frame, p->model);
    const cairn_quat rotation =
        cairn_quat_multiply(cairn_quat_of_turn(predicted), motion->rotation);
    const float q[4] = {rotation.x, rotation.y, rotation.z, rotation.w};
    const cairn_body_motion *neighbour = prediction->companions.neighbours[0];
    const float uncertainty =
        0.05f + cairn_vec3_length(prediction->turn_features[CAIRN_TURN_ACCELERATION]) +
        (neighbour != NULL ? neighbour->rotation_error * 0.5f / p->frame.turn_steps : 0.0f);
    cairn_quantised_body *now = &motion->now;
    now->largest = (uint16_t)code_largest(p, q, uncertainty, now->largest);
    const float scale = (q[now->largest] < 0.0f ? -2.0f : 2.0f) * p->frame.turn_steps;
    float error_sum = 0.0f;
    for (uint32_t i = 0, k = 0; i < 4; ++i) {
        if (i == now->largest) {
            continue;
        }
        const float steps = cairn_float_clamp(q[i] * scale + 0.5f * all_ones, 0.0f, all_ones);
        float features[CAIRN_ERROR_FEATURES];
        cairn_rotation_error_features(prediction, &p->frame, k, error_sum, q[i], features);
        const float expected = expected_error(p, prediction, CAIRN_COMPONENT_ROTATION, k, features);
        const int64_t value =
            code_residual(p, CAIRN_COMPONENT_ROTATION, expected, steps, now->rotation[k]);
        p->valid = p->valid && value >= 0 && value <= (int64_t)all_ones;
        now->rotation[k] = (uint16_t)value;
        const float error = cairn_float_abs((float)value - steps);
        observe_error(p, prediction, CAIRN_COMPONENT_ROTATION, k, features, error);
        error_sum = error_sum + error;
        k++;
    }
    motion->rotation_error = error_sum / 3.0f;
    const cairn_quat result = cairn_dequantise_rotation(&p->codec->settings.quantisation, now);
    motion->turn = cairn_turn_between(motion->rotation, result);
    motion->turn_quat = cairn_quat_of_turn(motion->turn);
}

static void observe_turn(
    pass *p, const cairn_prediction *prediction, const cairn_body_motion *motion) {
    for (uint32_t axis = 0; p->observer != NULL && axis < 3; ++axis) {
        float features[CAIRN_TURN_FEATURES];
        for (uint32_t i = 0; i < CAIRN_TURN_FEATURES; ++i) {
            features[i] =
                p->frame.turn_steps * cairn_component_along(&prediction->turn_features[i], axis);
        }
        const float target = cairn_component_along(&motion->turn, axis) -
                             cairn_component_along(&motion->turned, axis);
        observe(p, CAIRN_CODEC_TABLE_TURN, prediction->motion_class, features, CAIRN_TURN_FEATURES,
            p->frame.turn_steps * target);
    }
}

static void observe_move(pass *p, const cairn_prediction *prediction, uint32_t axis, float moved) {
    float features[CAIRN_MOVE_FEATURES];
    for (uint32_t i = 0; i < CAIRN_MOVE_FEATURES; ++i) {
        features[i] = cairn_component_along(&prediction->move_features[i], axis);
    }
    observe(p, CAIRN_CODEC_TABLE_MOVE, 2 * prediction->motion_class + (axis == p->frame.up),
        features, CAIRN_MOVE_FEATURES,
        moved - cairn_component_along(&prediction->body->moved, axis));
}

// The vertical axis first: it is predicted best.
static void code_position(pass *p, cairn_prediction *prediction, cairn_body_motion *motion) {
    const cairn_vec3 predicted = cairn_predict_move(prediction, &p->frame, p->model);
    const uint32_t up = p->frame.up;
    float error_sum = 0.0f;
    for (uint32_t k = 0; k < 3; ++k) {
        const uint32_t axis = (up + k) % 3;
        const cairn_component component =
            k == 0 ? CAIRN_COMPONENT_VERTICAL : CAIRN_COMPONENT_HORIZONTAL;
        float features[CAIRN_ERROR_FEATURES];
        cairn_position_error_features(prediction, &p->frame, axis, k, error_sum, features);
        const float expected = expected_error(p, prediction, component, k, features);
        const int64_t from = motion->baseline->position[axis];
        const float steps = cairn_component_along(&predicted, axis);
        const int64_t moved =
            code_residual(p, component, expected, steps, motion->now.position[axis] - from);
        p->valid = p->valid && from + moved >= -POSITION_MAX && from + moved <= POSITION_MAX;
        motion->now.position[axis] = p->valid ? (int32_t)(from + moved) : 0;
        const float error = cairn_float_abs((float)moved - steps);
        observe_error(p, prediction, component, k, features, error);
        observe_move(p, prediction, axis, (float)moved);
        error_sum = error_sum + error;
    }
    motion->position_error = error_sum / 3.0f;
}

// ------------------------------------------------------------------------------- a snapshot

static void code_snapshot(pass *p) {
    cairn_snapshot_codec *codec = p->codec;
    const cairn_codec_frames *f = p->frames;
    CAIRN_ASSERT(f->count <= codec->capacity);
    CAIRN_ASSERT(f->ticks > 0 && f->ticks_earlier > 0 && f->ticks_earliest > 0);
    p->model = codec->settings.model;
    p->frame = frame_of(&codec->settings, f);
    p->valid = true;
    if (p->out != NULL) {
        memcpy(p->out, f->baseline, f->count * sizeof *p->out);
    }
    const uint32_t changed = code_changed(p);
    order_bodies(p, changed);
    cairn_companion_finder_start(
        codec->finder, codec->motions, changed, codec->settings.quantisation.position_step_m);
    for (uint32_t i = 0; i < changed && p->valid; ++i) {
        const uint32_t index = codec->order[i].index;
        cairn_body_motion *motion = &codec->motions[index];
        start_motion(p, index);
        motion->now = p->known != NULL ? p->known[index] : f->baseline[index];
        const cairn_companions companions = cairn_companion_finder_find(codec->finder, index);
        cairn_prediction prediction = cairn_prediction_start(&p->frame, motion, &companions);
        code_rotation(p, &prediction, motion);
        observe_turn(p, &prediction, motion);
        code_position(p, &prediction, motion);
        if (p->out != NULL) {
            p->out[index] = motion->now;
        }
        cairn_companion_finder_add(codec->finder, index);
    }
}

size_t cairn_snapshot_encode(cairn_snapshot_codec *codec, const cairn_codec_frames *frames,
    const cairn_quantised_body *snapshot, uint8_t *bytes, size_t size) {
    pass p = {.codec = codec,
        .frames = frames,
        .known = snapshot,
        .coder = cairn_range_encoder(bytes, size)};
    code_snapshot(&p);
    CAIRN_ASSERT(p.valid); // the poses are in range
    return cairn_range_finish(&p.coder);
}

cairn_status cairn_snapshot_decode(cairn_snapshot_codec *codec, const cairn_codec_frames *frames,
    const uint8_t *bytes, size_t size, cairn_quantised_body *out) {
    pass p = {
        .codec = codec, .frames = frames, .out = out, .coder = cairn_range_decoder(bytes, size)};
    code_snapshot(&p);
    return p.valid ? CAIRN_OK : CAIRN_MALFORMED;
}

void cairn_snapshot_observe(cairn_snapshot_codec *codec, const cairn_codec_frames *frames,
    const cairn_quantised_body *snapshot, const cairn_codec_observer *observer) {
    pass p = {.codec = codec, .frames = frames, .known = snapshot, .observer = observer};
    p.coder = (cairn_range_coder){.mode = CAIRN_CODER_COUNT,
        .counted = (const cairn_probability *)&codec->settings.model->likely,
        .counts = observer->counts};
    code_snapshot(&p);
}
