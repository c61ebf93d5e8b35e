// SPDX-License-Identifier: MIT
#include "compress/pose_code.h"

#include <string.h>

#include "compress/body_motion.h"

// Where a body is expected, and the order of the code for what it is off; of the position and of
// the rotation, in lanes. The numbers below were fitted to the motion of tests/compress/cubes.c.
typedef struct expectation {
    cairn_int4 values[2];
    cairn_int4 orders[2];
} expectation;

// What is left of a motion while a body touches others, and how much of its change repeats.
#define KEPT 0.95f
#define BENT 0.69f

CAIRN_VEC4_INLINE cairn_vec4 clamp(cairn_vec4 x, float least, float most) {
    const cairn_vec4 low = cairn_vec4_all(least), high = cairn_vec4_all(most);
    x = cairn_vec4_select(x > low, x, low);
    return cairn_vec4_select(x < high, x, high);
}

// A hostile sender may name bases from which everything is far.
CAIRN_VEC4_INLINE cairn_int4 nearest(cairn_vec4 x) {
    x = clamp(x, -(float)CAIRN_QUANTISED_MAX, (float)CAIRN_QUANTISED_MAX);
    const cairn_int4 signs = (cairn_int4)x & INT32_MIN;
    return __builtin_convertvector(
        x + cairn_vec4_negate_lanes(cairn_vec4_all(0.5f), signs), cairn_int4);
}

// Of a code for numbers that are off by this much: how often it is halved until it is below 1, at
// most 20 times.
CAIRN_VEC4_INLINE cairn_int4 orders_of(cairn_vec4 error) {
    const cairn_int4 order = ((cairn_int4)error >> 23) - 126;
    const cairn_int4 above = order > 20;
    return ((order & ~above) | (above & 20)) & (error >= cairn_vec4_all(1.0f));
}

uint32_t cairn_order_of_error(float error) {
    return (uint32_t)orders_of(cairn_vec4_all(error))[0];
}

cairn_pose_spans cairn_pose_spans_of(float now, float before, float first, uint32_t tick_rate_hz,
    float position_step_m, cairn_vec3 gravity) {
    const float rate = (float)tick_rate_hz;
    const float steps = 1.0f / (rate * rate * position_step_m);
    const float fall[3] = {
        gravity.x * steps, gravity.y * steps, gravity.z * steps}; // in a tick squared
    cairn_pose_spans spans = {.now = now,
        .ratio = before > 0.0f ? now / before : 0.0f,
        .ratio_before = first > 0.0f ? now / first : 0.0f};
    for (uint32_t i = 0; i < 3; ++i) {
        spans.bend[i] = fall[i] * now * (before + first) * 0.5f;
        spans.drop[i] = fall[i] * now * (now + before) * 0.5f;
    }
    return spans;
}

static float sum_of(cairn_vec4 v) {
    return v[0] + v[1] + v[2];
}

// In the air nothing but gravity changes how a body moves.
static bool is_airborne(const cairn_pose_spans *spans, cairn_vec4 change) {
    const float tolerance = 0.64f * (1.0f + spans->ratio + spans->ratio_before);
    const cairn_int4 off =
        cairn_vec4_abs(change - cairn_vec4_load(spans->bend)) > cairn_vec4_all(tolerance);
    return spans->ratio_before > 0.0f && (off[0] | off[1] | off[2]) == 0;
}

CAIRN_VEC4_INLINE void expect_position(
    const cairn_quantised_body *const p[3], const cairn_pose_spans *spans, expectation *out) {
    const cairn_int4 at = cairn_place_of(p[0]), at_1 = cairn_place_of(p[1]);
    const float far = 8388608.0f;
    const cairn_vec4 moved =
        clamp(cairn_steps_between(at_1, at), -far, far) * cairn_vec4_all(spans->ratio);
    const cairn_vec4 moved_before =
        clamp(cairn_steps_between(cairn_place_of(p[2]), at_1), -far, far) *
        cairn_vec4_all(spans->ratio_before);
    const cairn_vec4 change = moved - moved_before;
    const float ways = sum_of(cairn_vec4_abs(moved));
    cairn_vec4 there, error;
    if (is_airborne(spans, change)) {
        there = moved + cairn_vec4_load(spans->drop);
        error = cairn_vec4_all(0.75f + 0.75f * spans->ratio);
    } else if (spans->ratio_before > 0.0f) {
        there = cairn_vec4_all(KEPT) * moved + cairn_vec4_all(BENT) * change;
        error = cairn_vec4_all(1.1f) * cairn_vec4_abs(change) + cairn_vec4_all(0.033f * ways) +
                cairn_vec4_all(0.04f);
    } else {
        there = cairn_vec4_all(KEPT) * moved + cairn_vec4_zero();
        error = cairn_vec4_all(spans->ratio > 0.0f ? 0.3f * ways + 4.0f : 16.0f * spans->now);
    }
    out->values[0] = (cairn_int4)((cairn_uint4)at + (cairn_uint4)nearest(there));
    out->orders[0] = orders_of(error);
}

CAIRN_VEC4_INLINE cairn_vec4 components_of(const cairn_quantised_body *p) {
    return cairn_vec4_of((float)p->rotation[0], (float)p->rotation[1], (float)p->rotation[2]);
}

CAIRN_VEC4_INLINE void expect_rotation(uint32_t rotation_bits,
    const cairn_quantised_body *const p[3], const cairn_pose_spans *spans, expectation *out) {
    const bool one = p[1]->largest == p[0]->largest;
    const bool two = one && p[2]->largest == p[0]->largest;
    const float ratio = one ? spans->ratio : 0.0f;
    const float ratio_before = two ? spans->ratio_before : 0.0f;
    const float all_ones = (float)((1u << rotation_bits) - 1u);
    const cairn_vec4 at = components_of(p[0]), at_1 = components_of(p[1]);
    const cairn_vec4 turned = (at - at_1) * cairn_vec4_all(ratio);
    const float turns = sum_of(cairn_vec4_abs(turned));
    const cairn_vec4 change = turned - (at_1 - components_of(p[2])) * cairn_vec4_all(ratio_before);
    cairn_vec4 error = cairn_vec4_all(ratio > 0.0f ? 0.1f * turns + 0.9f : 2.0f * spans->now);
    if (ratio_before > 0.0f) {
        error = cairn_vec4_all(0.35f) * cairn_vec4_abs(change) + cairn_vec4_all(0.065f * turns) +
                cairn_vec4_all(0.175f);
    }
    out->values[1] = nearest(clamp(at + cairn_vec4_all(KEPT) * turned, 0.0f, all_ones));
    out->orders[1] = orders_of(error);
}

void cairn_pose_code_rotation(
    cairn_bits *bits, uint32_t rotation_bits, cairn_quantised_body *pose) {
    pose->largest = (uint16_t)cairn_bits_code(bits, 2, pose->largest);
    for (uint32_t i = 0; i < 3; ++i) {
        pose->rotation[i] = (uint16_t)cairn_bits_code(bits, rotation_bits, pose->rotation[i]);
    }
}

bool cairn_pose_in_range(const cairn_quantised_body *pose) {
    for (uint32_t i = 0; i < 3; ++i) {
        if (pose->position[i] < -CAIRN_QUANTISED_MAX || pose->position[i] > CAIRN_QUANTISED_MAX) {
            return false;
        }
    }
    return true;
}

// Of three values what they are off, with the sign in bit 0.
CAIRN_VEC4_INLINE void put_three(
    cairn_bits *bits, cairn_int4 orders, cairn_int4 expected, cairn_int4 values) {
    const cairn_uint4 off = (cairn_uint4)values - (cairn_uint4)expected;
    const cairn_uint4 folded = (off << 1) ^ (cairn_uint4)((cairn_int4)off >> 31);
    const cairn_number_code a = cairn_number_code_of((uint32_t)orders[0], folded[0]);
    const cairn_number_code b = cairn_number_code_of((uint32_t)orders[1], folded[1]);
    const cairn_number_code c = cairn_number_code_of((uint32_t)orders[2], folded[2]);
    if (__builtin_expect(a.count + b.count + c.count <= 56, true)) {
        const uint64_t all = a.bits | (b.bits | c.bits << b.count) << a.count;
        cairn_bits_put(bits, a.count + b.count + c.count, all);
        return;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_bits_put_number(bits, (uint32_t)orders[i], folded[i]);
    }
}

void cairn_pose_put(cairn_bits *out, const cairn_pose_spans *spans, uint32_t rotation_bits,
    const cairn_quantised_body *const samples[3], const cairn_quantised_body *pose) {
    expectation e;
    expect_position(samples, spans, &e);
    expect_rotation(rotation_bits, samples, spans, &e);
    cairn_bits bits = *out; // in registers
    put_three(&bits, e.orders[0], e.values[0],
        (cairn_int4){pose->position[0], pose->position[1], pose->position[2], 0});
    if (cairn_bits_code_bool(&bits, pose->largest != samples[0]->largest)) {
        cairn_quantised_body same = *pose;
        cairn_pose_code_rotation(&bits, rotation_bits, &same);
    } else {
        put_three(&bits, e.orders[1], e.values[1],
            (cairn_int4){pose->rotation[0], pose->rotation[1], pose->rotation[2], 0});
    }
    *out = bits;
}

cairn_quantised_body cairn_pose_read(cairn_bits *in, const cairn_pose_spans *spans,
    uint32_t rotation_bits, const cairn_quantised_body *const samples[3]) {
    expectation e;
    expect_position(samples, spans, &e);
    expect_rotation(rotation_bits, samples, spans, &e);
    cairn_bits bits = *in; // in registers
    cairn_quantised_body pose = {.largest = samples[0]->largest};
    for (uint32_t i = 0; i < 3; ++i) {
        pose.position[i] = cairn_bits_read_change(&bits, (uint32_t)e.orders[0][i], e.values[0][i]);
    }
    if (cairn_bits_code_bool(&bits, false)) {
        cairn_pose_code_rotation(&bits, rotation_bits, &pose);
    } else {
        for (uint32_t i = 0; i < 3; ++i) {
            const int32_t turned =
                cairn_bits_read_change(&bits, (uint32_t)e.orders[1][i], e.values[1][i]);
            bits.failed = bits.failed || turned < 0 || turned >= 1 << rotation_bits;
            pose.rotation[i] = (uint16_t)turned;
        }
    }
    *in = bits;
    return pose;
}
