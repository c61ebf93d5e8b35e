// SPDX-License-Identifier: MIT
#include "compress/part_codec.h"

#include <stdlib.h>
#include <string.h>

#include <cairn/math.h>

#include "base/assert.h"
#include "base/hash.h"
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

static float ticks_between(uint64_t later, uint64_t earlier) {
    return later == 0 || earlier == 0 ? 0.0f : (float)(uint32_t)(later - earlier);
}

cairn_part_spans cairn_part_spans_of(
    const cairn_snapshot_frame *frame, const cairn_body_sample bases[CAIRN_PART_BASES]) {
    cairn_part_spans spans = {.ages = 0};
    for (uint32_t i = 0; i < CAIRN_PART_BASES; ++i) {
        const uint64_t tick = bases[i].frame != NULL ? bases[i].tick : 0;
        const uint64_t age = tick != 0 ? frame->tick - tick : 0;
        spans.ticks[i] = tick;
        spans.ages =
            age > UINT16_MAX || spans.ages == UINT64_MAX ? UINT64_MAX : spans.ages << 16 | age;
    }
    spans.pose = cairn_pose_spans_of((float)(uint32_t)(frame->tick - spans.ticks[0]),
        ticks_between(spans.ticks[0], spans.ticks[1]),
        ticks_between(spans.ticks[1], spans.ticks[2]), frame->tick_rate_hz,
        frame->quantisation.position_step_m, frame->gravity);
    return spans;
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

static void code_moved(cairn_bits *bits, const cairn_snapshot_frame *frame,
    const cairn_body_sample bases[3], const cairn_part_spans *spans, cairn_quantised_body *pose) {
    const cairn_quantised_body *poses[3];
    for (uint32_t i = 0; i < 3; ++i) {
        poses[i] = bases[i].frame != NULL ? &bases[i].frame->poses[bases[i].place] : poses[i - 1];
    }
    const uint32_t rotation_bits = frame->quantisation.rotation_bits;
    if (bits->out != NULL) {
        cairn_pose_put(bits, &spans->pose, rotation_bits, poses, pose);
    } else {
        *pose = cairn_pose_read(bits, &spans->pose, rotation_bits, poses);
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
        cairn_pose_code_rotation(bits, rotation_bits, &body->pose);
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
    const uint32_t order = cairn_order_of_error(expected.error + 2.0f);
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
    if (reader->bits.failed || !cairn_pose_in_range(&body.pose)) {
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
