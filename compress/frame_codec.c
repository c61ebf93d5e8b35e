// SPDX-License-Identifier: MIT
#include "compress/frame_codec.h"

#include <stdlib.h>
#include <string.h>

#include <cairn/math.h>

#include "base/assert.h"
#include "compress/range_coder.h"
#include "compress/velocity.h"

// ------------------------------------------------------------------ numbers, coded adaptively

#define EVEN 32768
#define RARE 655 // once in a hundred

// How many bits follow the first one, in unary; the bit after the first; the rest as they are.
typedef struct number_model {
    cairn_probability longer[32];
    cairn_probability second[33];
} number_model;

// By how far velocities are from what is expected, as a power of two.
#define VELOCITY_CLASSES 10

// As they are at the start of every frame.
typedef struct frame_models {
    number_model removed_count, removed_gap, added_count, added_gap, generation;
    number_model flags, user, extents, positions[3];
    number_model changed_count, changed_gap;
    cairn_probability same_extents, same_rotation, same_exact_rotation;
    cairn_probability changed[4];     // flags, user word, extents, pose of a static body
    cairn_probability awake[2][2][2]; // by: was awake, pose changed, the last one of these
    number_model velocities[2][VELOCITY_CLASSES]; // linear, angular; set if they are coded
} frame_models;

static bool code_bit(cairn_range_coder *coder, cairn_probability *likely, bool bit) {
    enum { RATE = 4 };
    bit = cairn_code_bit(coder, likely, bit);
    const uint32_t p = *likely;
    *likely = (cairn_probability)(bit ? p + ((65535 - p) >> RATE) : p - (p >> RATE));
    return bit;
}

static uint32_t code_number(cairn_range_coder *coder, number_model *model, uint32_t number) {
    const uint64_t whole = (uint64_t)number + 1;
    uint32_t bits = 0;
    while (bits < 32 && code_bit(coder, &model->longer[bits], whole >> bits > 1)) {
        ++bits;
    }
    uint64_t result = 1;
    uint32_t left = bits;
    if (left > 0) {
        left -= 1;
        result = 2 | (code_bit(coder, &model->second[bits], whole >> left & 1) ? 1u : 0u);
    }
    const uint32_t low = (uint32_t)(whole & ((UINT64_C(1) << left) - 1));
    result = result << left | cairn_code_raw(coder, left, low);
    return (uint32_t)(result - 1);
}

// The difference to a number that is known: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
static uint32_t code_change(
    cairn_range_coder *coder, number_model *model, uint32_t from, uint32_t to) {
    const uint32_t difference = to - from;
    const uint32_t folded = (difference << 1) ^ (0u - (difference >> 31));
    const uint32_t coded = code_number(coder, model, folded);
    return from + ((coded >> 1) ^ (0u - (coded & 1)));
}

static void start_number(number_model *model, cairn_probability more_than_0) {
    for (uint32_t i = 0; i < 32; ++i) {
        model->longer[i] = EVEN;
        model->second[i] = EVEN;
    }
    model->second[32] = EVEN;
    model->longer[0] = more_than_0;
}

static void start_models(frame_models *models) {
    number_model *numbers[] = {&models->removed_count, &models->removed_gap, &models->added_count,
        &models->added_gap, &models->generation, &models->flags, &models->user, &models->extents,
        &models->positions[0], &models->positions[1], &models->positions[2], &models->changed_gap};
    for (uint32_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        start_number(numbers[i], EVEN);
    }
    start_number(&models->changed_count, 4 * RARE);
    models->same_extents = EVEN;
    models->same_rotation = EVEN;
    models->same_exact_rotation = EVEN;
    for (uint32_t i = 0; i < 8; ++i) {
        (&models->awake[0][0][0])[i] = 65535 - RARE;
    }
    models->awake[1][0][0] = EVEN;
    models->awake[1][0][1] = 65535 - 8 * RARE;
    for (uint32_t i = 0; i < 4; ++i) {
        models->changed[i] = EVEN;
    }
}

// ----------------------------------------------------------------------------- codec and one frame

struct cairn_frame_codec {
    uint32_t capacity;
    cairn_snapshot_codec *poses;
    uint32_t *kept;   // by the order of bodies that stay: place in the baseline
    uint32_t *places; // and in the frame
    uint32_t *added;  // places in the frame of bodies that the baseline does not have
    uint32_t *added_ids;
    cairn_codec_body *bodies; // of those that stay; these and the next only if some do not
    cairn_quantised_body *aligned[4];
    frame_models models;
};

// One frame in one direction: `known` is an encoder's, `out` a decoder's, the other one is NULL.
typedef struct pass {
    cairn_frame_codec *codec;
    cairn_range_coder coder;
    const cairn_frame_bases *bases;
    const cairn_snapshot_frame *known;
    cairn_snapshot_frame *out;
    cairn_codec_frames frames; // the bases, of the bodies that stay
    uint32_t kept_count;
    uint32_t added_count;
    bool whole; // the frame has the bodies of its baseline
    cairn_status status;
} pass;

cairn_status cairn_frame_codec_create(uint32_t capacity, cairn_frame_codec **out) {
    *out = NULL;
    cairn_frame_codec *codec = calloc(1, sizeof *codec);
    if (codec == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    const cairn_codec_settings settings = {
        .quantisation = cairn_quantisation_default(), .tick_rate_hz = CAIRN_TICK_RATE_HZ_MIN};
    codec->capacity = capacity;
    cairn_status status = cairn_snapshot_codec_create(&settings, capacity, &codec->poses);
    if (status == CAIRN_OK) {
        codec->kept = malloc(4 * capacity * sizeof *codec->kept);
        codec->bodies = malloc(capacity * sizeof *codec->bodies);
        codec->aligned[0] = malloc(4 * capacity * sizeof *codec->aligned[0]);
        const bool allocated =
            codec->kept != NULL && codec->bodies != NULL && codec->aligned[0] != NULL;
        status = allocated ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
    }
    if (status != CAIRN_OK) {
        cairn_frame_codec_destroy(codec);
        return status;
    }
    codec->places = codec->kept + capacity;
    codec->added = codec->places + capacity;
    codec->added_ids = codec->added + capacity;
    for (uint32_t i = 1; i < 4; ++i) {
        codec->aligned[i] = codec->aligned[i - 1] + capacity;
    }
    *out = codec;
    return CAIRN_OK;
}

size_t cairn_frame_codec_bytes(const cairn_frame_codec *codec) {
    return codec == NULL ? 0
                         : sizeof *codec + cairn_snapshot_codec_bytes(codec->poses) +
                               codec->capacity * (4 * sizeof *codec->kept + sizeof *codec->bodies +
                                                     4 * sizeof *codec->aligned[0]);
}

void cairn_frame_codec_destroy(cairn_frame_codec *codec) {
    if (codec != NULL) {
        cairn_snapshot_codec_destroy(codec->poses);
        free(codec->kept);
        free(codec->bodies);
        free(codec->aligned[0]);
        free(codec);
    }
}

static void refuse(pass *p, cairn_status status) {
    p->status = p->status == CAIRN_OK ? status : p->status;
}

// To the bit.
static bool same_vector(const cairn_vec3 *a, const cairn_vec3 *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

static float code_float(pass *p, float value) {
    return cairn_float_of_bits(cairn_code_raw(&p->coder, 32, cairn_float_bits(value)));
}

static cairn_vec3 code_vector(pass *p, cairn_vec3 value) {
    const float x = code_float(p, value.x);
    const float y = code_float(p, value.y);
    return (cairn_vec3){x, y, code_float(p, value.z)};
}

static void code_settings(pass *p) {
    const cairn_snapshot_frame *baseline = p->bases->baseline;
    cairn_codec_settings s = {0};
    if (baseline != NULL) {
        s.tick_rate_hz = baseline->tick_rate_hz;
        s.quantisation = baseline->quantisation;
        s.gravity = baseline->gravity;
    }
    const cairn_snapshot_frame *known = p->known != NULL ? p->known : p->out;
    if (baseline == NULL) {
        s.tick_rate_hz = cairn_code_raw(&p->coder, 8, known->tick_rate_hz);
        s.quantisation.position_step_m = code_float(p, known->quantisation.position_step_m);
        s.quantisation.rotation_bits =
            cairn_code_raw(&p->coder, 5, known->quantisation.rotation_bits);
        s.quantisation.coded_together_max =
            cairn_code_raw(&p->coder, 18, known->quantisation.coded_together_max);
    }
    cairn_probability likely = RARE;
    const bool differs = baseline == NULL || !same_vector(&known->gravity, &baseline->gravity);
    if (baseline == NULL || code_bit(&p->coder, &likely, differs)) {
        s.gravity = code_vector(p, known->gravity);
    }
    if (cairn_snapshot_codec_set(p->codec->poses, &s) != CAIRN_OK) {
        refuse(p, CAIRN_MALFORMED);
    } else if (p->out != NULL) {
        p->out->tick_rate_hz = s.tick_rate_hz;
        p->out->quantisation = s.quantisation;
        p->out->gravity = s.gravity;
    }
}

// ------------------------------------------------------------------------------------- membership

static bool same_ids(const cairn_snapshot_frame *a, const cairn_snapshot_frame *b) {
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->ids, b->ids, a->count * sizeof *a->ids) == 0);
}

// Of an encoder: which bodies stay, and which come. A body that took over the index of another
// is removed and added.
static void compare_members(pass *p) {
    static const cairn_snapshot_frame none;
    cairn_frame_codec *codec = p->codec;
    const cairn_snapshot_frame *old = p->bases->baseline != NULL ? p->bases->baseline : &none;
    const cairn_snapshot_frame *now = p->known;
    uint32_t b = 0;
    for (uint32_t i = 0; i < now->count; ++i) {
        while (b < old->count && cairn_id_index(old->ids[b]) < cairn_id_index(now->ids[i])) {
            ++b;
        }
        if (b < old->count && old->ids[b] == now->ids[i]) {
            codec->kept[p->kept_count] = b++;
            codec->places[p->kept_count++] = i;
        } else {
            codec->added_ids[p->added_count] = now->ids[i];
            codec->added[p->added_count++] = i;
        }
    }
}

// The places that `kept` leaves out of `count`.
static void code_removed(pass *p, uint32_t count) {
    cairn_frame_codec *codec = p->codec;
    frame_models *m = &codec->models;
    const uint32_t removed = code_number(&p->coder, &m->removed_count, count - p->kept_count);
    if (removed > count) {
        refuse(p, CAIRN_MALFORMED);
        return;
    }
    uint32_t kept = 0;
    uint32_t next = 0; // place after the last one removed
    for (uint32_t i = 0; i < removed; ++i) {
        uint32_t place = next;
        if (p->known != NULL) {
            while (kept < p->kept_count && codec->kept[kept] == place) {
                ++kept;
                ++place;
            }
        }
        place = next + code_number(&p->coder, &m->removed_gap, place - next);
        if (place < next || place >= count) {
            refuse(p, CAIRN_MALFORMED);
            return;
        }
        for (; p->known == NULL && next < place; ++next) {
            codec->kept[p->kept_count++] = next;
        }
        next = place + 1;
    }
    for (; p->known == NULL && next < count; ++next) {
        codec->kept[p->kept_count++] = next;
    }
}

static void code_added_ids(pass *p) {
    cairn_frame_codec *codec = p->codec;
    frame_models *m = &codec->models;
    const uint32_t count = code_number(&p->coder, &m->added_count, p->added_count);
    const uint64_t whole = (uint64_t)p->kept_count + count;
    if (p->known == NULL && (whole > p->out->capacity || whole > codec->capacity)) {
        refuse(p, CAIRN_CAPACITY);
        return;
    }
    p->added_count = count;
    uint32_t index = 0;
    uint32_t generation = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t id = p->known != NULL ? codec->added_ids[i] : 0;
        const uint32_t known_gap = p->known != NULL ? cairn_id_index(id) - index : 0;
        const uint32_t gap = code_number(&p->coder, &m->added_gap, known_gap);
        generation = code_change(&p->coder, &m->generation, generation, cairn_id_generation(id));
        if (gap >= CAIRN_BODIES_MAX - index || generation >> (32 - CAIRN_ID_INDEX_BITS) != 0) {
            refuse(p, CAIRN_MALFORMED);
            return;
        }
        codec->added_ids[i] = generation << CAIRN_ID_INDEX_BITS | (index + gap + 1);
        index += gap + 1;
    }
}

// Of a decoder: the places of all bodies in the frame, and their ids.
static void merge_members(pass *p) {
    cairn_frame_codec *codec = p->codec;
    const cairn_snapshot_frame *old = p->bases->baseline;
    uint32_t a = 0;
    uint32_t k = 0;
    for (uint32_t i = 0; i < p->kept_count + p->added_count; ++i) {
        const uint32_t of_kept =
            k < p->kept_count ? cairn_id_index(old->ids[codec->kept[k]]) : CAIRN_INDEX_NONE;
        const uint32_t of_added =
            a < p->added_count ? cairn_id_index(codec->added_ids[a]) : CAIRN_INDEX_NONE;
        if (of_kept == of_added) {
            refuse(p, CAIRN_MALFORMED);
            return;
        }
        if (of_kept < of_added) {
            p->out->ids[i] = old->ids[codec->kept[k]];
            codec->places[k++] = i;
        } else {
            p->out->ids[i] = codec->added_ids[a];
            codec->added[a++] = i;
        }
    }
}

static void code_members(pass *p) {
    const cairn_snapshot_frame *old = p->bases->baseline;
    cairn_probability likely = RARE;
    p->whole = old != NULL && (p->known == NULL || same_ids(old, p->known));
    if (old != NULL) {
        p->whole = !code_bit(&p->coder, &likely, !p->whole);
    }
    if (p->whole) {
        p->kept_count = old->count;
        if (p->out != NULL && old->count > p->out->capacity) {
            refuse(p, CAIRN_CAPACITY);
        } else if (p->out != NULL && old->count > 0) {
            memcpy(p->out->ids, old->ids, old->count * sizeof *old->ids);
        }
        return;
    }
    if (p->known != NULL) {
        compare_members(p);
    }
    if (old != NULL) {
        code_removed(p, old->count);
    }
    if (p->status == CAIRN_OK) {
        code_added_ids(p);
    }
    if (p->status == CAIRN_OK && p->out != NULL) {
        merge_members(p);
    }
}

// ------------------------------------------------------------------------------------ added bodies

// The pose of a static body as it is. `rotation` is that of the one before, at first none.
static void code_exact(pass *p, cairn_quat *rotation, uint32_t place) {
    const cairn_pose known = p->known != NULL ? p->known->exact[place] : (cairn_pose){0};
    const bool same = memcmp(rotation, &known.rotation, sizeof known.rotation) == 0;
    cairn_pose pose;
    pose.position = code_vector(p, known.position);
    if (!code_bit(&p->coder, &p->codec->models.same_exact_rotation, same)) {
        rotation->x = code_float(p, known.rotation.x);
        rotation->y = code_float(p, known.rotation.y);
        rotation->z = code_float(p, known.rotation.z);
        rotation->w = code_float(p, known.rotation.w);
    }
    pose.rotation = *rotation;
    const cairn_vec3 vector = cairn_quat_vector(pose.rotation);
    const float length = cairn_vec3_length_squared(vector) + pose.rotation.w * pose.rotation.w;
    // Written so that a NaN is refused.
    if (!cairn_vec3_finite(pose.position) || !(length > 0.81f && length < 1.21f)) {
        refuse(p, CAIRN_MALFORMED);
    } else if (p->out != NULL) {
        p->out->exact[place] = pose;
    }
}

static bool in_range(const int32_t position[3]) {
    for (uint32_t k = 0; k < 3; ++k) {
        if (position[k] < -CAIRN_QUANTISED_MAX || position[k] > CAIRN_QUANTISED_MAX) {
            return false;
        }
    }
    return true;
}

static void code_added_pose(
    pass *p, const cairn_quantised_body *last, cairn_quantised_body *pose, uint32_t rotation_bits) {
    frame_models *m = &p->codec->models;
    for (uint32_t k = 0; k < 3; ++k) {
        pose->position[k] = (int32_t)code_change(
            &p->coder, &m->positions[k], (uint32_t)last->position[k], (uint32_t)pose->position[k]);
    }
    if (p->out != NULL && !in_range(pose->position)) {
        refuse(p, CAIRN_MALFORMED);
        return;
    }
    const bool same = last->largest == pose->largest &&
                      memcmp(last->rotation, pose->rotation, sizeof pose->rotation) == 0;
    if (code_bit(&p->coder, &m->same_rotation, same)) {
        memcpy(pose->rotation, last->rotation, sizeof pose->rotation);
        pose->largest = last->largest;
        return;
    }
    pose->largest = (uint16_t)cairn_code_raw(&p->coder, 2, pose->largest);
    for (uint32_t k = 0; k < 3; ++k) {
        pose->rotation[k] = (uint16_t)cairn_code_raw(&p->coder, rotation_bits, pose->rotation[k]);
    }
}

// Each as the difference to the one before, since a level has rows of equal bodies.
static void code_added(pass *p) {
    const cairn_snapshot_frame *frame = p->known != NULL ? p->known : p->out;
    const cairn_quantisation *q = &frame->quantisation;
    frame_models *m = &p->codec->models;
    cairn_quantised_body last = {.rotation = {(uint16_t)(1u << (q->rotation_bits - 1))}};
    uint32_t flags = 0;
    uint32_t user = 0;
    uint32_t extents[3] = {0, 0, 0};
    cairn_quat exact_rotation = {0};
    for (uint32_t i = 0; i < p->added_count && p->status == CAIRN_OK; ++i) {
        const uint32_t place = p->codec->added[i];
        cairn_quantised_body pose = {0};
        uint32_t steps[3] = {0, 0, 0};
        if (p->known != NULL) {
            pose = frame->poses[place];
            cairn_snapshot_frame_extents(frame, place, steps);
        }
        flags ^=
            code_number(&p->coder, &m->flags, p->known != NULL ? frame->flags[place] ^ flags : 0);
        user = code_change(&p->coder, &m->user, user, p->known != NULL ? frame->users[place] : 0);
        if (!code_bit(&p->coder, &m->same_extents, memcmp(steps, extents, sizeof steps) == 0)) {
            for (uint32_t k = 0; k < 3; ++k) {
                extents[k] = code_number(&p->coder, &m->extents, steps[k]);
            }
        }
        if (cairn_snapshot_body_is_static(flags)) {
            code_exact(p, &exact_rotation, place);
            if (p->status == CAIRN_OK) {
                pose = cairn_quantise(q, frame->exact[place]);
            }
        } else {
            code_added_pose(p, &last, &pose, q->rotation_bits);
            last = pose;
        }
        if (p->out != NULL) {
            p->out->flags[place] = flags;
            p->out->users[place] = user;
            p->out->bodies[place] = cairn_snapshot_frame_codec_body(q, extents, flags);
            p->out->poses[place] = pose;
        }
    }
}

// ------------------------------------------------------------------------- poses of those that
// stay

// The poses of the bodies that stay as they are in an older frame; one that it does not have is
// where `later` has it.
static const cairn_quantised_body *align(pass *p, const cairn_snapshot_frame *frame,
    const cairn_quantised_body *later, cairn_quantised_body *scratch) {
    const cairn_snapshot_frame *baseline = p->bases->baseline;
    if (p->whole && same_ids(frame, baseline)) {
        return frame->poses;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->kept_count; ++i) {
        const uint32_t id = baseline->ids[p->whole ? i : p->codec->kept[i]];
        while (at < frame->count && cairn_id_index(frame->ids[at]) < cairn_id_index(id)) {
            ++at;
        }
        const bool found = at < frame->count && frame->ids[at] == id;
        scratch[i] = found ? frame->poses[at] : later[i];
    }
    return scratch;
}

static uint32_t ticks_between(
    const cairn_snapshot_frame *later, const cairn_snapshot_frame *earlier) {
    return later->tick > earlier->tick ? (uint32_t)(later->tick - earlier->tick) : 1;
}

static void code_poses(pass *p) {
    cairn_frame_codec *codec = p->codec;
    const cairn_frame_bases *bases = p->bases;
    const cairn_snapshot_frame *frame = p->known != NULL ? p->known : p->out;
    cairn_quantised_body *scratch = codec->aligned[3];
    const cairn_codec_body *bodies = bases->baseline->bodies;
    for (uint32_t i = 0; !p->whole && i < p->kept_count; ++i) {
        codec->bodies[i] = bodies[codec->kept[i]];
        if (p->known != NULL) {
            scratch[i] = frame->poses[codec->places[i]];
        }
    }
    cairn_codec_frames frames = {.count = p->kept_count,
        .bodies = p->whole ? bodies : codec->bodies,
        .ticks = ticks_between(frame, bases->baseline),
        .ticks_earlier = ticks_between(bases->baseline, bases->earlier),
        .ticks_earliest = ticks_between(bases->earlier, bases->earliest)};
    frames.baseline = align(p, bases->baseline, NULL, codec->aligned[0]);
    frames.earlier = align(p, bases->earlier, frames.baseline, codec->aligned[1]);
    frames.earliest = align(p, bases->earliest, frames.earlier, codec->aligned[2]);
    p->frames = frames;
    if (p->known != NULL) {
        cairn_snapshot_encode_poses(
            codec->poses, &frames, p->whole ? frame->poses : scratch, &p->coder);
        return;
    }
    cairn_quantised_body *out = p->whole ? p->out->poses : scratch;
    if (cairn_snapshot_decode_poses(codec->poses, &frames, &p->coder, out) != CAIRN_OK) {
        refuse(p, CAIRN_MALFORMED);
        return;
    }
    for (uint32_t i = 0; !p->whole && i < p->kept_count; ++i) {
        p->out->poses[codec->places[i]] = scratch[i];
    }
}

// ------------------------------------------------------------- what else changed of those that
// stay

// Whether the body is awake follows from its motion, nearly always. Of a body that slept and lies
// where it lay nothing is coded here.
static void code_awake(pass *p) {
    const cairn_snapshot_frame *old = p->bases->baseline;
    const cairn_snapshot_frame *frame = p->known != NULL ? p->known : p->out;
    bool last[2][2] = {{true, true}, {true, true}};
    for (uint32_t i = 0; i < p->kept_count; ++i) {
        const uint32_t from = p->whole ? i : p->codec->kept[i];
        const uint32_t to = p->whole ? i : p->codec->places[i];
        const bool was = (old->flags[from] & CAIRN_SNAPSHOT_BODY_AWAKE) != 0;
        const bool changed = memcmp(&old->poses[from], &frame->poses[to], sizeof *old->poses) != 0;
        uint32_t flags = old->flags[from];
        if (was || changed) {
            bool *before = &last[was][changed];
            const bool known =
                p->known != NULL && (frame->flags[to] & CAIRN_SNAPSHOT_BODY_AWAKE) != 0;
            *before = code_bit(&p->coder, &p->codec->models.awake[was][changed][*before], known);
            flags =
                (flags & ~CAIRN_SNAPSHOT_BODY_AWAKE) | (*before ? CAIRN_SNAPSHOT_BODY_AWAKE : 0);
        }
        if (p->out != NULL) {
            p->out->flags[to] = flags;
            p->out->users[to] = old->users[from];
            p->out->bodies[to] = old->bodies[from];
            p->out->exact[to] = old->exact[from];
        } else {
            p->codec->added_ids[i] = frame->flags[to] ^ flags; // what is left to be told
        }
    }
}

static bool stands_elsewhere(const pass *p, uint32_t from, uint32_t to) {
    const cairn_snapshot_frame *old = p->bases->baseline;
    return cairn_snapshot_body_is_static(p->known->flags[to]) &&
           (!cairn_snapshot_body_is_static(old->flags[from]) ||
               memcmp(&old->exact[from], &p->known->exact[to], sizeof *old->exact) != 0);
}

// Of an encoder: bit 0 flags, 1 user word, 2 extents, 3 pose of a static body. Of a leader the
// codec's body follows from the flags.
static uint32_t changes_of(const pass *p, uint32_t i) {
    const cairn_snapshot_frame *old = p->bases->baseline;
    const uint32_t from = p->whole ? i : p->codec->kept[i];
    const uint32_t to = p->whole ? i : p->codec->places[i];
    const cairn_vec3 *a = &old->bodies[from].half_extents;
    const cairn_vec3 *b = &p->known->bodies[to].half_extents;
    return (p->codec->added_ids[i] != 0 ? 1u : 0u) |
           (old->users[from] != p->known->users[to] ? 2u : 0u) | (!same_vector(a, b) ? 4u : 0u) |
           (stands_elsewhere(p, from, to) ? 8u : 0u);
}

static void code_one_change(pass *p, uint32_t i, uint32_t changes) {
    frame_models *m = &p->codec->models;
    const cairn_snapshot_frame *old = p->bases->baseline;
    const cairn_snapshot_frame *frame = p->known != NULL ? p->known : p->out;
    const uint32_t from = p->whole ? i : p->codec->kept[i];
    const uint32_t to = p->whole ? i : p->codec->places[i];
    uint32_t flags = frame->flags[to];
    uint32_t user = frame->users[to];
    uint32_t before[3];
    uint32_t extents[3];
    cairn_snapshot_frame_extents(old, from, before);
    memcpy(extents, before, sizeof extents);
    if (code_bit(&p->coder, &m->changed[0], changes & 1)) {
        const uint32_t known = p->known != NULL ? p->codec->added_ids[i] : 0;
        const uint32_t coded = code_number(&p->coder, &m->flags, known);
        flags ^= p->out != NULL ? coded : 0; // an encoder has them as they are
    }
    if (code_bit(&p->coder, &m->changed[1], changes & 2)) {
        user = code_change(&p->coder, &m->user, old->users[from], user);
    }
    if (code_bit(&p->coder, &m->changed[2], changes & 4)) {
        if (p->known != NULL) {
            cairn_snapshot_frame_extents(frame, to, extents);
        }
        for (uint32_t k = 0; k < 3; ++k) {
            const uint32_t coded = code_change(&p->coder, &m->extents, before[k], extents[k]);
            extents[k] = coded < CAIRN_FRAME_EXTENT_MAX ? coded : CAIRN_FRAME_EXTENT_MAX;
        }
    }
    const bool stands = cairn_snapshot_body_is_static(flags);
    if (code_bit(&p->coder, &m->changed[3], changes & 8)) {
        cairn_quat none = {0};
        code_exact(p, &none, to);
    } else if (stands && !cairn_snapshot_body_is_static(old->flags[from])) {
        refuse(p, CAIRN_MALFORMED);
    }
    if (p->out != NULL) {
        p->out->flags[to] = flags;
        p->out->users[to] = user;
        p->out->bodies[to] = cairn_snapshot_frame_codec_body(&p->out->quantisation, extents, flags);
    }
}

static void code_changes(pass *p) {
    frame_models *m = &p->codec->models;
    uint32_t count = 0;
    for (uint32_t i = 0; p->known != NULL && i < p->kept_count; ++i) {
        count += changes_of(p, i) != 0 ? 1u : 0u;
    }
    count = code_number(&p->coder, &m->changed_count, count);
    if (count > p->kept_count) {
        refuse(p, CAIRN_MALFORMED);
        return;
    }
    uint32_t next = 0;
    for (uint32_t n = 0; n < count && p->status == CAIRN_OK; ++n) {
        uint32_t i = next;
        uint32_t changes = 0;
        while (p->known != NULL && (changes = changes_of(p, i)) == 0) {
            ++i;
        }
        const uint32_t gap = code_number(&p->coder, &m->changed_gap, i - next);
        if (gap >= p->kept_count - next) {
            refuse(p, CAIRN_MALFORMED);
            return;
        }
        i = next + gap;
        code_one_change(p, i, changes);
        next = i + 1;
    }
}

// ------------------------------------------------------------------------------------- velocities

static void code_velocity(pass *p, uint32_t place, const cairn_velocity_path *path) {
    const cairn_snapshot_frame *frame = p->known != NULL ? p->known : p->out;
    if (!cairn_velocity_is_coded(frame->flags[place])) {
        return;
    }
    const cairn_velocity_expectation expected = cairn_velocity_expect(frame, path);
    const uint32_t error = (uint32_t)cairn_float_clamp(expected.error, 0.0f, 1e6f);
    const uint32_t bits = error == 0 ? 0 : 32u - (uint32_t)__builtin_clz(error);
    const uint32_t class = bits < VELOCITY_CLASSES ? bits : VELOCITY_CLASSES - 1;
    cairn_quantised_velocity *velocity = &frame->velocities[place];
    for (uint32_t i = 0; i < CAIRN_VELOCITY_COMPONENTS; ++i) {
        const uint32_t coded = code_change(&p->coder, &p->codec->models.velocities[i / 3][class],
            (uint32_t)expected.velocity.steps[i], (uint32_t)velocity->steps[i]);
        if (p->out != NULL) {
            velocity->steps[i] = (int32_t)coded;
        }
    }
    if (!cairn_velocity_in_range(velocity)) {
        refuse(p, CAIRN_MALFORMED);
    }
}

// The bodies that stay, then those that were added.
static void code_velocities(pass *p) {
    const cairn_snapshot_frame *frame = p->known != NULL ? p->known : p->out;
    const cairn_frame_bases *bases = p->bases;
    for (uint32_t i = 0; i < VELOCITY_CLASSES; ++i) {
        start_number(&p->codec->models.velocities[0][i], EVEN);
        start_number(&p->codec->models.velocities[1][i], EVEN);
    }
    if (p->out != NULL && frame->count > 0) {
        memset(frame->velocities, 0, frame->count * sizeof *frame->velocities);
    }
    const bool bends = p->kept_count > 0 && bases->earlier->tick < bases->baseline->tick;
    for (uint32_t i = 0; i < p->kept_count && p->status == CAIRN_OK; ++i) {
        const uint32_t place = p->whole ? i : p->codec->places[i];
        const cairn_velocity_path path = {
            .poses = {&frame->poses[place], &p->frames.baseline[i], &p->frames.earlier[i]},
            .ticks = p->frames.ticks,
            .ticks_before = bends ? p->frames.ticks_earlier : 0};
        code_velocity(p, place, &path);
    }
    for (uint32_t i = 0; i < p->added_count && p->status == CAIRN_OK; ++i) {
        const cairn_velocity_path unknown = {.ticks = 0};
        code_velocity(p, p->codec->added[i], &unknown);
    }
}

// ------------------------------------------------------------------------------------------ a
// frame

static void code_frame(pass *p) {
    CAIRN_ASSERT(p->bases->baseline == NULL || p->bases->earliest != NULL);
    start_models(&p->codec->models);
    code_settings(p);
    if (p->status == CAIRN_OK) {
        code_members(p);
    }
    if (p->status == CAIRN_OK && p->out != NULL) {
        p->out->count = p->kept_count + p->added_count;
    }
    if (p->status == CAIRN_OK && p->added_count > 0) {
        code_added(p);
    }
    if (p->status == CAIRN_OK && p->kept_count > 0) {
        code_poses(p);
    }
    if (p->status == CAIRN_OK && p->kept_count > 0) {
        code_awake(p);
        code_changes(p);
    }
    if (p->status == CAIRN_OK && (p->known != NULL ? p->known : p->out)->velocities != NULL) {
        code_velocities(p);
    }
}

size_t cairn_frame_encode(cairn_frame_codec *codec, const cairn_frame_bases *bases,
    const cairn_snapshot_frame *frame, uint8_t *bytes, size_t size) {
    pass p = {
        .codec = codec, .coder = cairn_range_encoder(bytes, size), .bases = bases, .known = frame};
    CAIRN_ASSERT(frame->count <= codec->capacity);
    code_frame(&p);
    CAIRN_ASSERT(p.status == CAIRN_OK);
    const size_t used = cairn_range_finish(&p.coder);
    if (used == SIZE_MAX || size == 0) {
        return 0;
    }
    if (used == 0) {
        bytes[0] = 0;
    }
    return used > 0 ? used : 1;
}

cairn_status cairn_frame_decode(cairn_frame_codec *codec, const cairn_frame_bases *bases,
    const uint8_t *bytes, size_t size, cairn_snapshot_frame *out) {
    pass p = {
        .codec = codec, .coder = cairn_range_decoder(bytes, size), .bases = bases, .out = out};
    code_frame(&p);
    if (p.status != CAIRN_OK) {
        out->count = 0;
    }
    return p.status;
}
