// SPDX-License-Identifier: MIT
#include "compress/part_codec.h"

#include <stdlib.h>
#include <string.h>

#include <cairn/math.h>

#include "base/assert.h"
#include "base/hash.h"
#include "compress/body_motion.h"
#include "compress/velocity.h"

// The head has the number of records, written last.
#define COUNT_SIZE 3

typedef enum record_kind { GOES_ON = 0, ENTERS = 1, LEAVES = 3 } record_kind;

// What a record says of a body.
typedef struct body_record {
    uint32_t id;
    uint32_t flags;
    uint32_t user;
    uint32_t extents[3];
    cairn_quantised_body pose;
    cairn_pose exact; // of a static body
    bool rested;
} body_record;

// ------------------------------------------------------------------------------- what is expected

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

static uint32_t order_of(float error) {
    return (uint32_t)orders_of(cairn_vec4_all(error))[0];
}

static float ticks_between(uint64_t later, uint64_t earlier) {
    return later == 0 || earlier == 0 ? 0.0f : (float)(uint32_t)(later - earlier);
}

cairn_part_spans cairn_part_spans_of(
    const cairn_snapshot_frame *frame, const cairn_body_sample bases[CAIRN_PART_BASES]) {
    uint64_t ticks[CAIRN_PART_BASES];
    for (uint32_t i = 0; i < CAIRN_PART_BASES; ++i) {
        ticks[i] = bases[i].frame != NULL ? bases[i].tick : 0;
    }
    const float now = (float)(uint32_t)(frame->tick - ticks[0]);
    const float before = ticks_between(ticks[0], ticks[1]);
    const float first = ticks_between(ticks[1], ticks[2]);
    const float rate = (float)frame->tick_rate_hz;
    const float steps = 1.0f / (rate * rate * frame->quantisation.position_step_m);
    const cairn_vec3 g = frame->gravity;
    const float fall[3] = {g.x * steps, g.y * steps, g.z * steps}; // in a tick squared
    cairn_part_spans spans = {.now = now,
        .ratio = before > 0.0f ? now / before : 0.0f,
        .ratio_before = first > 0.0f ? now / first : 0.0f};
    memcpy(spans.ticks, ticks, sizeof spans.ticks);
    for (uint32_t i = 0; i < CAIRN_PART_BASES; ++i) {
        const uint64_t age = ticks[i] != 0 ? frame->tick - ticks[i] : 0;
        spans.ages =
            age > UINT16_MAX || spans.ages == UINT64_MAX ? UINT64_MAX : spans.ages << 16 | age;
    }
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
static bool is_airborne(const cairn_part_spans *spans, cairn_vec4 change) {
    const float tolerance = 0.64f * (1.0f + spans->ratio + spans->ratio_before);
    const cairn_int4 off =
        cairn_vec4_abs(change - cairn_vec4_load(spans->bend)) > cairn_vec4_all(tolerance);
    return spans->ratio_before > 0.0f && (off[0] | off[1] | off[2]) == 0;
}

CAIRN_VEC4_INLINE void expect_position(
    const cairn_quantised_body *const p[3], const cairn_part_spans *spans, expectation *out) {
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

CAIRN_VEC4_INLINE void expect_rotation(const cairn_snapshot_frame *frame,
    const cairn_quantised_body *const p[3], const cairn_part_spans *spans, expectation *out) {
    const bool one = p[1]->largest == p[0]->largest;
    const bool two = one && p[2]->largest == p[0]->largest;
    const float ratio = one ? spans->ratio : 0.0f;
    const float ratio_before = two ? spans->ratio_before : 0.0f;
    const float all_ones = (float)((1u << frame->quantisation.rotation_bits) - 1u);
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

// -------------------------------------------------------------------- codes, in either direction

static float code_float(cairn_bits *bits, float value) {
    return cairn_float_of_bits(cairn_bits_code(bits, 32, cairn_float_bits(value)));
}

static void code_vector(cairn_bits *bits, cairn_vec3 *vector) {
    vector->x = code_float(bits, vector->x);
    vector->y = code_float(bits, vector->y);
    vector->z = code_float(bits, vector->z);
}

static void code_largest(cairn_bits *bits, uint32_t rotation_bits, cairn_quantised_body *pose) {
    pose->largest = (uint16_t)cairn_bits_code(bits, 2, pose->largest);
    for (uint32_t i = 0; i < 3; ++i) {
        pose->rotation[i] = (uint16_t)cairn_bits_code(bits, rotation_bits, pose->rotation[i]);
    }
}

// A static body stands exactly where it is.
static void code_exact(
    cairn_bits *bits, const cairn_quantisation *q, const cairn_quat *last, body_record *body) {
    cairn_pose *pose = &body->exact;
    const bool same = memcmp(last, &pose->rotation, sizeof *last) == 0;
    code_vector(bits, &pose->position);
    if (cairn_bits_code_bool(bits, same)) {
        pose->rotation = *last;
    } else {
        pose->rotation.x = code_float(bits, pose->rotation.x);
        pose->rotation.y = code_float(bits, pose->rotation.y);
        pose->rotation.z = code_float(bits, pose->rotation.z);
        pose->rotation.w = code_float(bits, pose->rotation.w);
    }
    const cairn_quat r = pose->rotation;
    const float length = r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w;
    // Written so that a NaN is refused.
    if (!cairn_vec3_finite(pose->position) || !(length > 0.81f && length < 1.21f)) {
        bits->failed = true;
    } else if (bits->out == NULL) {
        body->pose = cairn_quantise(q, *pose);
    }
}

static bool pose_in_range(const cairn_quantised_body *pose) {
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

static void put_moved(cairn_bits *out, const cairn_snapshot_frame *frame, const expectation *e,
    bool turned_over, const cairn_quantised_body *pose) {
    cairn_bits bits = *out; // in registers
    put_three(&bits, e->orders[0], e->values[0],
        (cairn_int4){pose->position[0], pose->position[1], pose->position[2], 0});
    cairn_bits_code_bool(&bits, turned_over);
    if (turned_over) {
        cairn_quantised_body same = *pose;
        code_largest(&bits, frame->quantisation.rotation_bits, &same);
    } else {
        put_three(&bits, e->orders[1], e->values[1],
            (cairn_int4){pose->rotation[0], pose->rotation[1], pose->rotation[2], 0});
    }
    *out = bits;
}

static void code_moved(cairn_bits *bits, const cairn_snapshot_frame *frame,
    const cairn_body_sample bases[3], const cairn_part_spans *spans, cairn_quantised_body *pose) {
    const cairn_quantised_body *poses[3];
    for (uint32_t i = 0; i < 3; ++i) {
        poses[i] = bases[i].frame != NULL ? &bases[i].frame->poses[bases[i].place] : poses[i - 1];
    }
    expectation e;
    expect_position(poses, spans, &e);
    expect_rotation(frame, poses, spans, &e);
    if (bits->out != NULL) {
        put_moved(bits, frame, &e, pose->largest != poses[0]->largest, pose);
        return;
    }
    const uint32_t rotation_bits = frame->quantisation.rotation_bits;
    const uint16_t largest = bases[0].frame->poses[bases[0].place].largest;
    for (uint32_t i = 0; i < 3; ++i) {
        pose->position[i] =
            cairn_bits_code_change(bits, (uint32_t)e.orders[0][i], e.values[0][i], 0);
    }
    if (cairn_bits_code_bool(bits, false)) {
        code_largest(bits, rotation_bits, pose);
        return;
    }
    pose->largest = largest;
    for (uint32_t i = 0; i < 3; ++i) {
        const int32_t turned =
            cairn_bits_code_change(bits, (uint32_t)e.orders[1][i], e.values[1][i], 0);
        bits->failed = bits->failed || turned < 0 || turned >= 1 << rotation_bits;
        pose->rotation[i] = (uint16_t)turned;
    }
}

static void read_sample(const cairn_snapshot_frame *frame, uint32_t place, body_record *out) {
    out->id = frame->ids[place];
    out->flags = frame->flags[place];
    out->user = frame->users[place];
    cairn_snapshot_frame_extents(frame, place, out->extents);
    out->pose = frame->poses[place];
    out->exact = frame->exact[place];
    out->rested = false;
}

// Of the values that seldom change whether they did, after one bit that says that any did.
static void code_seldom(cairn_bits *bits, const body_record *old, body_record *body) {
    if (cairn_bits_code_bool(bits, body->flags != old->flags)) {
        body->flags = cairn_bits_code_number(bits, 2, body->flags ^ old->flags) ^ old->flags;
    }
    if (cairn_bits_code_bool(bits, body->user != old->user)) {
        body->user = cairn_bits_code(bits, 32, body->user);
    }
    if (cairn_bits_code_bool(bits, memcmp(body->extents, old->extents, sizeof old->extents) != 0)) {
        for (uint32_t i = 0; i < 3; ++i) {
            body->extents[i] = cairn_bits_code(bits, 16, body->extents[i]);
        }
    }
    body->rested = cairn_bits_code_bool(bits, body->rested);
}

// The body as it was at the first base becomes what it is now. `body` has the id.
static void code_body(cairn_bits *bits, const cairn_snapshot_frame *frame,
    const cairn_body_sample bases[3], const cairn_part_spans *spans, body_record *body) {
    body_record old;
    read_sample(bases[0].frame, bases[0].place, &old);
    const bool was_static = cairn_snapshot_body_is_static(old.flags);
    const bool reading = bits->out == NULL;
    if (reading) {
        *body = old;
    }
    const bool is_static = cairn_snapshot_body_is_static(body->flags);
    const bool elsewhere =
        is_static ? !was_static || memcmp(&old.exact, &body->exact, sizeof old.exact) != 0
                  : memcmp(&old.pose, &body->pose, sizeof old.pose) != 0;
    const bool plain = elsewhere && !is_static && body->flags == old.flags &&
                       body->user == old.user && !body->rested &&
                       memcmp(body->extents, old.extents, sizeof old.extents) == 0;
    bool moved = true;
    if (!cairn_bits_code_bool(bits, plain)) {
        code_seldom(bits, &old, body);
        moved = cairn_bits_code_bool(bits, elsewhere);
    }
    const bool stands = cairn_snapshot_body_is_static(body->flags);
    if (stands && (moved || !was_static)) {
        // Of a body that may move the reader has no exact pose.
        const cairn_quat none = {.w = 0.0f};
        bits->failed = bits->failed || !moved;
        code_exact(bits, &frame->quantisation, was_static ? &old.exact.rotation : &none, body);
    } else if (moved) {
        code_moved(bits, frame, bases, spans, &body->pose);
    }
}

static uint32_t mean_order(uint32_t mean) {
    return cairn_bits_length(mean >> 4);
}

static void follow_mean(uint32_t *mean, uint32_t value) {
    const uint32_t bounded = value < (1u << 24) ? value : 1u << 24;
    *mean += bounded * 2;
    *mean -= *mean >> 3;
}

static void code_entering_pose(
    cairn_bits *bits, uint32_t rotation_bits, cairn_part_context *context, body_record *body) {
    cairn_quantised_body *last = &context->pose;
    for (uint32_t i = 0; i < 3; ++i) {
        body->pose.position[i] = cairn_bits_code_change(
            bits, mean_order(context->step_mean), last->position[i], body->pose.position[i]);
        const uint32_t step = (uint32_t)body->pose.position[i] - (uint32_t)last->position[i];
        follow_mean(&context->step_mean, (step >> 31) != 0 ? 0u - step : step);
    }
    const bool same = memcmp(last->rotation, body->pose.rotation, sizeof last->rotation) == 0 &&
                      last->largest == body->pose.largest;
    if (cairn_bits_code_bool(bits, same)) {
        memcpy(body->pose.rotation, last->rotation, sizeof last->rotation);
        body->pose.largest = last->largest;
    } else {
        code_largest(bits, rotation_bits, &body->pose);
    }
    *last = body->pose;
}

// A body compared with the one that entered before it.
static void code_entering(cairn_bits *bits, const cairn_snapshot_frame *frame, uint32_t index,
    cairn_part_context *context, body_record *body) {
    uint32_t generation = cairn_id_generation(body->id);
    if (!cairn_bits_code_bool(bits, generation == context->generation)) {
        context->generation = cairn_bits_code(bits, 32 - CAIRN_ID_INDEX_BITS, generation);
    }
    body->id = context->generation << CAIRN_ID_INDEX_BITS | (index + 1);
    if (!cairn_bits_code_bool(bits, body->flags == context->flags)) {
        context->flags ^= cairn_bits_code_number(bits, 3, body->flags ^ context->flags);
    }
    body->flags = context->flags;
    if (!cairn_bits_code_bool(bits, body->user == context->user)) {
        context->user = cairn_bits_code(bits, 32, body->user);
    }
    body->user = context->user;
    const bool same = memcmp(body->extents, context->extents, sizeof body->extents) == 0;
    if (!cairn_bits_code_bool(bits, same)) {
        for (uint32_t i = 0; i < 3; ++i) {
            context->extents[i] = cairn_bits_code(bits, 16, body->extents[i]);
        }
    }
    memcpy(body->extents, context->extents, sizeof body->extents);
    if (cairn_snapshot_body_is_static(body->flags)) {
        code_exact(bits, &frame->quantisation, &context->rotation, body);
        context->rotation = body->exact.rotation;
    } else {
        code_entering_pose(bits, frame->quantisation.rotation_bits, context, body);
    }
}

static void code_settings(cairn_bits *bits, cairn_snapshot_frame *frame) {
    cairn_quantisation *q = &frame->quantisation;
    frame->tick_rate_hz = cairn_bits_code(bits, 8, frame->tick_rate_hz);
    q->position_step_m = code_float(bits, q->position_step_m);
    q->rotation_bits = cairn_bits_code(bits, 5, q->rotation_bits);
    code_vector(bits, &frame->gravity);
}

static bool settings_in_range(const cairn_snapshot_frame *frame) {
    const cairn_quantisation *q = &frame->quantisation;
    return frame->tick_rate_hz >= CAIRN_TICK_RATE_HZ_MIN &&
           frame->tick_rate_hz <= CAIRN_TICK_RATE_HZ_MAX &&
           q->position_step_m >= CAIRN_POSITION_STEP_MIN && q->position_step_m <= 1.0f &&
           q->rotation_bits >= CAIRN_ROTATION_BITS_MIN &&
           q->rotation_bits <= CAIRN_ROTATION_BITS_MAX && cairn_vec3_finite(frame->gravity);
}

// Of the record before its body. Returns the kind.
static record_kind code_record(
    cairn_bits *bits, cairn_part_context *context, uint32_t *index, record_kind kind) {
    const uint32_t gap =
        cairn_bits_code_number(bits, mean_order(context->gap_mean), *index - context->next_index);
    const uint32_t none = 1u << CAIRN_ID_INDEX_BITS;
    bits->failed = bits->failed || gap >= none || context->next_index + gap >= none - 1;
    *index = context->next_index + gap;
    context->next_index = *index + 1;
    follow_mean(&context->gap_mean, gap);
    if (!cairn_bits_code_bool(bits, kind != GOES_ON)) {
        return GOES_ON;
    }
    return cairn_bits_code_bool(bits, kind == LEAVES) ? LEAVES : ENTERS;
}

// Bodies mostly go on from the same samples as one of those shortly before them.
static void code_ticks(cairn_bits *bits, cairn_part_context *context, uint64_t tick,
    uint64_t ticks[CAIRN_PART_BASES]) {
    uint32_t place = 0;
    while (place < 4 && !cairn_bits_code_bool(bits, memcmp(ticks, context->ticks[place],
                                                        sizeof context->ticks[place]) == 0)) {
        place += 1;
    }
    if (place < 4) {
        memcpy(ticks, context->ticks[place], sizeof context->ticks[place]);
    }
    uint64_t later = tick;
    for (uint32_t i = 0; i < CAIRN_PART_BASES && place == 4; ++i) {
        const uint64_t age = ticks[i] == 0 ? 0 : later - ticks[i];
        CAIRN_ASSERT(age <= UINT32_MAX);
        const uint32_t coded = cairn_bits_code_number(bits, 3, (uint32_t)age);
        bits->failed = bits->failed || coded >= later;
        if (coded == 0 || bits->failed) {
            memset(ticks + i, 0, (CAIRN_PART_BASES - i) * sizeof *ticks);
            break;
        }
        ticks[i] = later - coded;
        later = ticks[i];
    }
    bits->failed = bits->failed || ticks[0] == 0;
    memmove(
        context->ticks[1], context->ticks[0], (place < 4 ? place : 3) * sizeof context->ticks[0]);
    memcpy(context->ticks[0], ticks, sizeof context->ticks[0]);
}

static cairn_part_context first_context(void) {
    cairn_part_context context;
    memset(&context, 0, sizeof context);
    context.step_mean = 1u << 12;
    context.rotation.w = 1.0f;
    return context;
}

// In steps, of a body of the frame. Bases that are missing have no frame.
static void code_some_velocity(cairn_bits *bits, const cairn_snapshot_frame *frame, uint32_t place,
    const cairn_quantised_body *pose, uint32_t flags,
    const cairn_body_sample bases[CAIRN_PART_BASES]) {
    cairn_quantised_velocity *velocity = &frame->velocities[place];
    if (!cairn_velocity_is_coded(flags)) {
        if (bits->out == NULL) {
            *velocity = (cairn_quantised_velocity){{0}};
        }
        return;
    }
    cairn_velocity_path path = {.poses = {pose}};
    if (bases != NULL && bases[0].frame != NULL) {
        path.poses[1] = &bases[0].frame->poses[bases[0].place];
        path.ticks = (uint32_t)(frame->tick - bases[0].tick);
    }
    if (bases != NULL && bases[0].frame != NULL && bases[1].frame != NULL) {
        path.poses[2] = &bases[1].frame->poses[bases[1].place];
        path.ticks_before = (uint32_t)(bases[0].tick - bases[1].tick);
    }
    const cairn_velocity_expectation expected = cairn_velocity_expect(frame, &path);
    const uint32_t order = order_of(expected.error + 2.0f);
    for (uint32_t i = 0; i < CAIRN_VELOCITY_COMPONENTS; ++i) {
        velocity->steps[i] =
            cairn_bits_code_change(bits, order, expected.velocity.steps[i], velocity->steps[i]);
    }
    bits->failed = bits->failed || !cairn_velocity_in_range(velocity);
}

// If they are coded.
static inline void code_velocity(cairn_bits *bits, const cairn_snapshot_frame *frame,
    uint32_t place, const cairn_quantised_body *pose, uint32_t flags,
    const cairn_body_sample bases[CAIRN_PART_BASES]) {
    if (frame->velocities != NULL) {
        code_some_velocity(bits, frame, place, pose, flags, bases);
    }
}

static uint32_t hash_of(
    uint32_t id, uint32_t flags, uint32_t user, const cairn_quantised_body *pose) {
    const uint32_t words[8] = {id, flags, user, (uint32_t)pose->position[0],
        (uint32_t)pose->position[1], (uint32_t)pose->position[2],
        (uint32_t)pose->rotation[0] | (uint32_t)pose->rotation[1] << 16,
        (uint32_t)pose->rotation[2] | (uint32_t)pose->largest << 16};
    return (uint32_t)cairn_hash_words(0, words, 8).lo;
}

uint32_t cairn_part_hash(const cairn_snapshot_frame *frame, uint32_t place) {
    return hash_of(
        frame->ids[place], frame->flags[place], frame->users[place], &frame->poses[place]);
}

static uint32_t hash_of_leaving(uint32_t index) {
    return (uint32_t)cairn_hash_words(0, &index, 1).lo;
}

// ----------------------------------------------------------------------------------------- writing

cairn_part_writer cairn_part_write(
    const cairn_snapshot_frame *frame, bool settings, uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(size > COUNT_SIZE);
    cairn_part_writer writer = {.frame = frame,
        .bits = cairn_bits_writer(bytes + COUNT_SIZE, size - COUNT_SIZE),
        .start = bytes,
        .check = (uint32_t)frame->tick,
        .context = first_context()};
    if (cairn_bits_code_bool(&writer.bits, settings)) {
        cairn_snapshot_frame same = *frame;
        code_settings(&writer.bits, &same);
    }
    return writer;
}

void cairn_part_enter(cairn_part_writer *writer, uint32_t place) {
    body_record body;
    read_sample(writer->frame, place, &body);
    uint32_t index = cairn_id_index(body.id);
    code_record(&writer->bits, &writer->context, &index, ENTERS);
    code_entering(&writer->bits, writer->frame, index, &writer->context, &body);
    code_velocity(&writer->bits, writer->frame, place, &body.pose, body.flags, NULL);
    writer->check += cairn_part_hash(writer->frame, place);
    writer->count += 1;
}

void cairn_part_chunk_of(const cairn_snapshot_frame *frame, uint32_t place,
    const cairn_body_sample bases[CAIRN_PART_BASES], const cairn_part_spans *spans, bool rested,
    bool only_moved, cairn_part_chunk *out) {
    cairn_bits bits = cairn_bits_writer(out->bits, sizeof out->bits);
    cairn_quantised_body pose = frame->poses[place];
    if (!rested && only_moved &&
        memcmp(&pose, &bases[0].frame->poses[bases[0].place], sizeof pose) != 0) {
        cairn_bits_code_bool(&bits, true); // as code_body does
        code_moved(&bits, frame, bases, spans, &pose);
    } else {
        body_record body;
        read_sample(frame, place, &body);
        body.rested = rested;
        code_body(&bits, frame, bases, spans, &body);
    }
    out->bit_count = (uint32_t)bits.at * 8 + bits.count;
    CAIRN_ASSERT(!bits.failed && bits.at + 8 <= sizeof out->bits); // all bits are written
}

// As code_record does, before the kind.
static void put_gap(cairn_bits *bits, cairn_part_context *context, uint32_t index) {
    const uint32_t gap = index - context->next_index;
    cairn_bits_put_number(bits, mean_order(context->gap_mean), gap);
    context->next_index = index + 1;
    follow_mean(&context->gap_mean, gap);
}

static bool same_ticks(const uint64_t a[CAIRN_PART_BASES], const uint64_t b[CAIRN_PART_BASES]) {
    return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2])) == 0;
}

static inline uint64_t eight_bytes(const uint8_t *bytes) {
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
           (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
           (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

// Most are shorter than seven bytes.
static inline void put_chunk(cairn_bits *bits, const cairn_part_chunk *chunk) {
    const uint8_t *bytes = chunk->bits;
    uint32_t left = chunk->bit_count;
    for (; left > 56; left -= 56, bytes += 7) {
        cairn_bits_put(bits, 56, eight_bytes(bytes) & ((UINT64_C(1) << 56) - 1));
    }
    cairn_bits_put(bits, left, eight_bytes(bytes) & ((UINT64_C(1) << left) - 1));
}

void cairn_part_go_on(cairn_part_writer *writer, uint32_t place,
    const cairn_body_sample bases[CAIRN_PART_BASES], const cairn_part_spans *spans,
    const cairn_part_chunk *chunk, uint32_t hash) {
    const cairn_snapshot_frame *frame = writer->frame;
    const uint32_t index = cairn_id_index(frame->ids[place]);
    cairn_part_context *context = &writer->context;
    cairn_bits bits = writer->bits; // in registers
    put_gap(&bits, context, index);
    if (same_ticks(spans->ticks, context->ticks[0])) { // mostly
        cairn_bits_put(&bits, 2, 2);                   // it goes on, from these
    } else {
        uint64_t ticks[CAIRN_PART_BASES];
        memcpy(ticks, spans->ticks, sizeof ticks);
        cairn_bits_put(&bits, 1, 0);
        code_ticks(&bits, context, frame->tick, ticks);
    }
    put_chunk(&bits, chunk);
    code_velocity(&bits, frame, place, &frame->poses[place], frame->flags[place], bases);
    writer->bits = bits;
    writer->check += hash;
    writer->count += 1;
}

void cairn_part_leave(cairn_part_writer *writer, uint32_t index) {
    code_record(&writer->bits, &writer->context, &index, LEAVES);
    writer->check += hash_of_leaving(index);
    writer->count += 1;
}

size_t cairn_part_finish(cairn_part_writer *writer, uint32_t *check) {
    const size_t size = cairn_bits_finish(&writer->bits);
    for (uint32_t i = 0; i < COUNT_SIZE; ++i) {
        writer->start[i] = (uint8_t)(writer->count >> 8 * i);
    }
    *check = writer->check;
    return size == 0 ? 0 : COUNT_SIZE + size;
}

// ----------------------------------------------------------------------------------------- reading

cairn_status cairn_part_create(cairn_part *part, uint32_t capacity) {
    *part = (cairn_part){0};
    if (cairn_snapshot_frame_create(&part->frame, capacity) != CAIRN_OK) {
        return CAIRN_OUT_OF_MEMORY;
    }
    part->rested = calloc(capacity, sizeof *part->rested);
    part->left = calloc(capacity, sizeof *part->left);
    return part->rested != NULL && part->left != NULL ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

void cairn_part_destroy(cairn_part *part) {
    cairn_snapshot_frame_destroy(&part->frame);
    free(part->rested);
    free(part->left);
    *part = (cairn_part){0};
}

static void add_body(cairn_part *out, const body_record *body) {
    cairn_snapshot_frame *frame = &out->frame;
    const uint32_t place = frame->count++;
    frame->ids[place] = body->id;
    frame->flags[place] = body->flags;
    frame->users[place] = body->user;
    frame->bodies[place] =
        cairn_snapshot_frame_codec_body(&frame->quantisation, body->extents, body->flags);
    frame->poses[place] = body->pose;
    frame->exact[place] = body->exact;
    out->rested[place] = body->rested;
}

typedef struct part_reader {
    cairn_bits bits;
    const cairn_part_source *source;
    cairn_part_context context;
    uint32_t check;
} part_reader;

// Poses are in steps of their frame: from one of other steps nothing goes on.
static bool same_steps(const cairn_quantisation *a, const cairn_quantisation *b) {
    return cairn_float_bits(a->position_step_m) == cairn_float_bits(b->position_step_m) &&
           a->rotation_bits == b->rotation_bits;
}

static cairn_status read_going_on(
    part_reader *reader, const cairn_snapshot_frame *frame, uint32_t index, body_record *body) {
    cairn_body_sample bases[CAIRN_PART_BASES] = {{.frame = NULL}, {.frame = NULL}, {.frame = NULL}};
    uint64_t ticks[CAIRN_PART_BASES] = {0};
    code_ticks(&reader->bits, &reader->context, frame->tick, ticks);
    for (uint32_t i = 0; i < CAIRN_PART_BASES && ticks[i] != 0 && !reader->bits.failed; ++i) {
        bases[i] = reader->source->find(reader->source->user, index, ticks[i]);
        if (bases[i].frame == NULL) {
            return CAIRN_NOT_FOUND;
        }
        reader->bits.failed |= !same_steps(&bases[i].frame->quantisation, &frame->quantisation);
    }
    if (reader->bits.failed) {
        return CAIRN_MALFORMED;
    }
    const cairn_part_spans spans = cairn_part_spans_of(frame, bases);
    code_body(&reader->bits, frame, bases, &spans, body);
    code_velocity(&reader->bits, frame, frame->count, &body->pose, body->flags, bases);
    return CAIRN_OK;
}

static cairn_status read_record(part_reader *reader, cairn_part *out) {
    cairn_snapshot_frame *frame = &out->frame;
    uint32_t index = 0;
    body_record body;
    memset(&body, 0, sizeof body);
    const record_kind kind = code_record(&reader->bits, &reader->context, &index, ENTERS);
    if (reader->bits.failed) {
        return CAIRN_MALFORMED;
    }
    if (kind == LEAVES) {
        reader->check += hash_of_leaving(index);
        if (out->left_count == frame->capacity) {
            return CAIRN_CAPACITY;
        }
        out->left[out->left_count++] = index;
        return CAIRN_OK;
    }
    if (frame->count == frame->capacity) {
        return CAIRN_CAPACITY;
    }
    if (kind == ENTERS) {
        code_entering(&reader->bits, frame, index, &reader->context, &body);
        code_velocity(&reader->bits, frame, frame->count, &body.pose, body.flags, NULL);
    } else {
        const cairn_status status = read_going_on(reader, frame, index, &body);
        if (status != CAIRN_OK) {
            return status;
        }
    }
    if (reader->bits.failed || !pose_in_range(&body.pose)) {
        return CAIRN_MALFORMED;
    }
    reader->check += hash_of(body.id, body.flags, body.user, &body.pose);
    add_body(out, &body);
    return CAIRN_OK;
}

static cairn_status read_records(part_reader *reader, uint32_t count, cairn_part *out) {
    if (cairn_bits_code_bool(&reader->bits, false)) {
        code_settings(&reader->bits, &out->frame);
    } else if (out->frame.tick_rate_hz == 0) {
        return CAIRN_NOT_FOUND;
    }
    if (reader->bits.failed || !settings_in_range(&out->frame)) {
        return CAIRN_MALFORMED;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_status status = read_record(reader, out);
        if (status != CAIRN_OK) {
            return status;
        }
    }
    return CAIRN_OK;
}

cairn_status cairn_part_read(const uint8_t *bytes, size_t size, const cairn_part_source *source,
    cairn_part *out, uint32_t *check) {
    out->frame.count = 0;
    out->left_count = 0;
    if (size <= COUNT_SIZE) {
        return CAIRN_MALFORMED;
    }
    const uint32_t count = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16;
    part_reader reader = {.bits = cairn_bits_reader(bytes + COUNT_SIZE, size - COUNT_SIZE),
        .source = source,
        .context = first_context(),
        .check = (uint32_t)out->frame.tick};
    const cairn_status status = read_records(&reader, count, out);
    if (status != CAIRN_OK) {
        out->frame.count = 0;
        out->left_count = 0;
    }
    *check = reader.check;
    return status;
}
