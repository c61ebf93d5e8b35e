// SPDX-License-Identifier: MIT
// A packed state comes back to the bit, costs little where its words can be foreseen, and malformed
// bytes are refused.
#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/random.h"
#include "compress/friction_code.h"
#include "compress/range_coder.h"
#include "compress/state_packer.h"
#include "compress/state_words.h"
#include "sim/math/grid.h"
#include "sim/math/packed_rotation.h"
#include "sim/serialize/encode_layout.h"
#include "tests/compress/words.h"
#include "tests/kit/exact.h"
#include <cairn/sim.h>

static size_t pack(const words_state *state, uint8_t *packed, size_t size) {
    return cairn_state_pack(state->bytes, state->size, state->groups, WORDS_GROUPS, packed, size);
}

static bool unpacks(const uint8_t *packed, size_t packed_size, const uint8_t *bytes, size_t size) {
    uint8_t *exact = kit_exact_copy(packed, packed_size);
    uint8_t *out = malloc(size);
    assert_non_null(out);
    const bool ok =
        cairn_state_unpack(exact, packed_size, out, size) && memcmp(out, bytes, size) == 0;
    free(out);
    free(exact);
    return ok;
}

TEST("what is packed comes back") {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        static words_state state;
        uint8_t packed[WORDS_SIZE_MAX];
        words_make(&state, seed);
        const size_t size = pack(&state, packed, sizeof packed);
        // Random words: 6 of a third of the motions, 1 of each of 40. And of each body 22 bits of
        // three components of its rotation, and 6 of three of its pose; of each contact 14 bits of
        // five impulses, 12 of two components of friction, 2 of the axis and of four features, 6 of
        // three distances, and 4.
        const size_t random_bytes = 4 * (6 * WORDS_BODIES / 3 + 40) +
                                    WORDS_BODIES * (3 * 22 + 3 * 6) / 8 +
                                    WORDS_CONTACTS * (5 * 14 + 2 * 12 + 5 * 2 + 3 * 6 + 4) / 8;
        assert_in_range(size, random_bytes, random_bytes * 3 / 2);
        assert_true(unpacks(packed, size, state.bytes, state.size));
    }
}

TEST("the words of contacts are foreseen from their bodies") {
    static words_state state, plain;
    uint8_t packed[WORDS_SIZE_MAX];
    words_make(&state, 1);
    plain = state;
    for (uint32_t g = 0; g < WORDS_GROUPS; ++g) {
        plain.groups[g].role = CAIRN_WORDS_PLAIN;
    }
    const size_t with = pack(&state, packed, sizeof packed);
    const size_t without = pack(&plain, packed, sizeof packed);
    assert_true(unpacks(packed, without, plain.bytes, plain.size));
    // Seven words of each contact and three of each pose.
    assert_true(with + 1500 < without);
}

// compress cannot include what sim has, so it has the same twice.
TEST("rotations and steps of the grid are foreseen as the simulation makes them") {
    cairn_random random = cairn_random_of(5);
    for (int i = 0; i < 5000; ++i) {
        float parts[4];
        for (uint32_t k = 0; k < 4; ++k) {
            parts[k] = (float)(int32_t)cairn_random_below(&random, 2001) - 1000.0f;
        }
        const cairn_quat q =
            quat_normalize((cairn_quat){parts[0], parts[1], parts[2], parts[3] + 0.5f});
        const cairn_packed_rotation made = packed_rotation_pack(q, CAIRN_PACKED_COARSE);
        uint8_t bytes[6 * sizeof(uint32_t)];
        cairn_writer writer = cairn_writer_of(bytes, sizeof bytes);
        cairn_write_f32(&writer, q.x);
        cairn_write_f32(&writer, q.y);
        cairn_write_f32(&writer, q.z);
        cairn_write_f32(&writer, q.w);
        cairn_write_u32s(&writer, made.words, 2);
        cairn_state_words words = {.bytes = bytes,
            .groups = {{CAIRN_WORDS_PLAIN, 4, 1}, {CAIRN_WORDS_PLAIN, 2, 1}},
            .count = 2};
        assert_true(cairn_state_words_open(&words, sizeof bytes));
        for (uint32_t k = 0; k < 2; ++k) {
            const cairn_word_source from = {.kind = CAIRN_SOURCE_ROTATION, .key = k};
            assert_true(cairn_word_source_valid(&words, 1, k, &from));
            assert_int_equal(cairn_word_candidate(&words, 1, k, &from, 0), made.words[k]);
        }
        cairn_state_words_close(&words);
        const float on_grid = cairn_float_on_grid(0.25f * parts[0] + q.x);
        const uint32_t point = cairn_word_grid_point(float_bits(on_grid));
        assert_int_equal(cairn_word_of_grid(point), float_bits(on_grid));
        assert_int_equal(
            cairn_word_grid_point(float_bits(on_grid + 1.0f / CAIRN_GRID_PER_METRE)), point + 1);
    }
}

// The friction is rounded as in sim/soft_step.
TEST("friction across a face is foreseen to within two steps from two of its components") {
    cairn_random random = cairn_random_of(7);
    uint32_t irregular = 0;
    for (uint32_t i = 0; i < 3000; ++i) {
        uint8_t bytes[27 * sizeof(uint32_t)] = {0};
        uint8_t *friction = bytes + CAIRN_FRICTION_COLUMN * sizeof(uint32_t);
        const uint32_t normal = 1 + i % 6;
        float sum = 0.0f;
        for (uint32_t k = 0; k < 4; ++k) {
            const float impulse = (float)cairn_random_below(&random, 1000) * 0.37f + 0.01f;
            cairn_word_store(bytes + (17 + 2 * k) * sizeof(uint32_t), float_bits(impulse));
            sum += impulse;
        }
        cairn_quat axes = quat_identity();
        for (uint32_t k = 0; k < 2; ++k) {
            const cairn_quat q =
                quat_normalize((cairn_quat){(float)cairn_random_below(&random, 201) - 100.0f,
                    (float)cairn_random_below(&random, 201) - 100.0f,
                    (float)cairn_random_below(&random, 201) - 100.0f, 0.5f});
            const cairn_packed_rotation packed =
                packed_rotation_pack(q, i % 2 == 0 ? CAIRN_PACKED_COARSE : CAIRN_PACKED_FINE);
            cairn_word_store(bytes + (12 + 2 * k) * sizeof(uint32_t), packed.words[0]);
            cairn_word_store(bytes + (13 + 2 * k) * sizeof(uint32_t), packed.words[1]);
            axes = k == (normal - 1) / 3 ? packed_rotation_unpack(packed) : axes;
        }
        const float along = 0.2f * sum * (float)cairn_random_below(&random, 1000) / 1000.0f;
        const float across = -0.3f * sum * (float)cairn_random_below(&random, 1000) / 1000.0f;
        const float parts[3] = {0.0f, along, across};
        const uint32_t axis = (normal - 1) % 3;
        const cairn_vec3 exact = quat_rotate(
            axes, vec3(parts[(3 - axis) % 3], parts[(4 - axis) % 3], parts[(5 - axis) % 3]));
        const float stored[3] = {exact.x + 64.0f * sum - 64.0f * sum,
            exact.y + 64.0f * sum - 64.0f * sum, exact.z + 64.0f * sum - 64.0f * sum};
        uint32_t words[3];
        for (uint32_t k = 0; k < 3; ++k) {
            words[k] = float_bits(stored[k]);
            cairn_word_store(friction + k * sizeof(uint32_t), words[k]);
        }
        const cairn_friction_frame frame = cairn_friction_frame_of(friction, normal);
        assert_true(frame.has_normal && frame.step > 0.0f);
        const uint32_t last = frame.order[2];
        // The stored friction has more digits if 64 sums plus the friction lie below the power of
        // two that 64 sums have reached.
        bool regular = true;
        for (uint32_t k = 0; k < 3; ++k) {
            const int32_t steps = cairn_friction_steps(&frame, words[k]);
            regular = regular && cairn_friction_word(&frame, steps) == words[k];
        }
        irregular += regular ? 0 : 1;
        const int32_t steps = cairn_friction_steps(&frame, words[last]);
        assert_in_range(steps - cairn_friction_expected(&frame, words) + 2, 0, 4);
        assert_true(cairn_friction_normal_of(friction) != CAIRN_NORMAL_UNKNOWN ||
                    (words[0] | words[1] | words[2]) == 0);
    }
    assert_in_range(irregular, 0, 30);
}

// Bodies that move on before their reference poses are noted cost nothing but the reference poses'
// steps of the grid.
TEST("a reference pose of a step before is foreseen from the velocity") {
    const cairn_quat before = quat_normalize((cairn_quat){0.3f, -0.2f, 0.5f, 0.8f});
    const cairn_vec3 spin = {1.5f, -2.0f, 0.5f};
    const float step = 1.0f / 64.0f;
    const float angle = vec3_length(spin) * step;
    const cairn_vec3 half = vec3_scale(spin, 0.5f * step * (1.0f - angle * angle / 24.0f));
    const cairn_quat turn =
        quat_normalize((cairn_quat){half.x, half.y, half.z, 1.0f - angle * angle / 8.0f});
    const cairn_quat now = quat_normalize(quat_multiply(turn, before));
    const cairn_packed_rotation reference = packed_rotation_pack(before, CAIRN_PACKED_COARSE);
    uint8_t bytes[10 * sizeof(uint32_t)];
    cairn_writer writer = cairn_writer_of(bytes, sizeof bytes);
    const float values[8] = {now.x, now.y, now.z, now.w, spin.x, spin.y, spin.z, 3.0f};
    for (uint32_t i = 0; i < 8; ++i) {
        cairn_write_f32(&writer, values[i]);
    }
    cairn_write_u32s(&writer, reference.words, 2);
    cairn_state_words words = {.bytes = bytes,
        .groups = {{CAIRN_WORDS_PLAIN, 8, 1}, {CAIRN_WORDS_PLAIN, 2, 1}},
        .count = 2};
    assert_true(cairn_state_words_open(&words, sizeof bytes));
    cairn_word_source from = {.kind = CAIRN_SOURCE_ROTATION, .key_b = 4, .step = float_bits(step)};
    const uint32_t expected = cairn_word_candidate(&words, 1, 0, &from, 0);
    // Components of 16 bits agree to within two.
    const int32_t upper = (int32_t)(expected >> 16) - (int32_t)(reference.words[0] >> 16);
    const int32_t lower = (int32_t)(expected & 0xffff) - (int32_t)(reference.words[0] & 0xffff);
    assert_in_range(upper + 2, 0, 4);
    assert_in_range(lower + 2, 0, 4);
    from = (cairn_word_source){
        .kind = CAIRN_SOURCE_MOVED, .column = 7, .key = 5, .step = float_bits(step)};
    assert_int_equal(cairn_word_candidate(&words, 1, 0, &from, 0), float_bits(3.0f + step * 2.0f));
    cairn_state_words_close(&words);
}

TEST("a pose on the grid is foreseen from one beside it") {
    enum { BODIES = 400, MOTION = 16, POSE = 5 };
    static const cairn_word_group groups[] = {
        {CAIRN_WORDS_MOTIONS, MOTION, BODIES}, {CAIRN_WORDS_REFERENCE_POSES, POSE, BODIES}};
    static uint32_t words[BODIES * (MOTION + POSE)];
    static uint8_t bytes[sizeof words];
    static uint8_t packed[sizeof words];
    cairn_random random = cairn_random_of(9);
    memset(words, 0, sizeof words);
    for (uint32_t i = 0; i < BODIES; ++i) {
        for (uint32_t k = 0; k < 3; ++k) {
            const float at = (float)cairn_random_below(&random, 100000) / 7001.0f;
            words[i * MOTION + k] = float_bits(at);
            words[i * MOTION + 3 + k] = float_bits(at);
            words[BODIES * MOTION + i * POSE + k] = float_bits(cairn_float_on_grid(at));
        }
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        cairn_word_store(bytes + 4 * i, words[i]);
    }
    const size_t size = cairn_state_pack(bytes, sizeof bytes, groups, 2, packed, sizeof packed);
    const size_t alone = cairn_state_pack(
        bytes, BODIES * MOTION * sizeof(uint32_t), groups, 1, packed, sizeof packed);
    assert_in_range(size - alone, 0, 3 * BODIES / 16);
}

TEST("there is room, or it says so") {
    static words_state state;
    uint8_t packed[WORDS_SIZE_MAX];
    words_make(&state, 1);
    const size_t size = pack(&state, packed, sizeof packed);
    const size_t rooms[] = {0, 1, 20, size / 2, size - 1};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; ++i) {
        assert_true(pack(&state, packed, rooms[i]) == SIZE_MAX);
    }
    assert_int_equal(pack(&state, packed, size), size);
}

TEST("a state of another size is refused, and bytes that are no state") {
    static words_state state;
    uint8_t packed[WORDS_SIZE_MAX];
    uint8_t out[WORDS_SIZE_MAX];
    words_make(&state, 1);
    const size_t size = pack(&state, packed, sizeof packed);
    assert_true(cairn_state_unpack(packed, size, out, state.size));
    assert_false(cairn_state_unpack(packed, size, out, state.size - 4));
    assert_false(cairn_state_unpack(packed, size, out, state.size + 4));
    for (size_t cut = 0; cut < 1 + 3 * WORDS_GROUPS; ++cut) {
        assert_false(cairn_state_unpack(packed, cut, out, state.size));
    }
    static const uint8_t malformed[][5] = {
        {0},                // without groups
        {33},               // too many
        {1, 2, 1, 1},       // an unknown flag
        {1, 0, 0, 1},       // elements without words
        {1, 0, 0x80, 4, 1}, // 512 words
        {1, 0, 1, 2},       // another size
    };
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; ++i) {
        assert_false(cairn_state_unpack(malformed[i], sizeof malformed[i], out, 4));
    }
}

// Two groups of one element each, of which the second one is slots if `slots`; then the head of the
// first column of the second group, after one of the first in which every word is 0.
typedef struct head_case {
    const char *what;
    uint32_t words[2];
    bool slots;
    uint32_t raw[8][2]; // bits and value; ends with 0 bits
    bool valid;
} head_case;

static bool head_unpacks(const head_case *c) {
    uint8_t packed[128] = {2, 0, (uint8_t)c->words[0], 1, c->slots, (uint8_t)c->words[1], 1};
    uint8_t out[4 * 64];
    cairn_range_coder coder = cairn_range_encoder(packed + 7, sizeof packed - 7);
    for (uint32_t i = 0; i < c->words[0]; ++i) {
        cairn_code_raw(&coder, 3, 0); // mode same,
        cairn_code_raw(&coder, 4, 0); // as the element before,
        cairn_code_raw(&coder, 1, 0); // 0
    }
    for (uint32_t i = 0; c->raw[i][0] != 0; ++i) {
        cairn_code_raw(&coder, c->raw[i][0], c->raw[i][1]);
    }
    const size_t size = 7 + cairn_range_finish(&coder);
    return cairn_state_unpack(packed, size, out, 4 * (c->words[0] + c->words[1]));
}

TEST("a column whose head names what is not there is refused") {
    static const head_case cases[] = {
        {"a mode", {4, 1}, false, {{3, 0}, {4, 2}, {5, 0}, {9, 3}}, true},
        {"no such mode", {4, 1}, false, {{3, 7}, {4, 0}}, false},
        {"no such source", {4, 1}, false, {{3, 0}, {4, 8}}, false},
        {"no such source", {4, 1}, false, {{3, 0}, {4, 15}}, false},
        {"a column that comes later", {4, 1}, false, {{3, 0}, {4, 1}, {9, 0}}, false},
        {"a group that comes later", {4, 1}, false, {{3, 0}, {4, 2}, {5, 1}, {9, 0}}, false},
        {"a column beyond the group", {4, 1}, false, {{3, 0}, {4, 2}, {5, 0}, {9, 4}}, false},
        {"a link without slots", {4, 1}, false, {{3, 0}, {4, 3}, {5, 0}, {9, 0}, {9, 0}}, false},
        {"three columns before the first", {4, 1}, false, {{3, 2}, {4, 5}}, false},
        {"a rotation", {4, 1}, false, {{3, 0}, {4, 6}, {5, 0}, {9, 0}, {9, 1}, {9, 1}, {32, 0}},
            true},
        {"its third word", {4, 1}, false, {{3, 0}, {4, 6}, {5, 0}, {9, 0}, {9, 2}, {9, 1}, {32, 0}},
            false},
        {"without its fourth column", {4, 1}, false,
            {{3, 0}, {4, 6}, {5, 0}, {9, 1}, {9, 0}, {9, 1}, {32, 0}}, false},
        {"with a velocity beyond the group", {4, 1}, false,
            {{3, 0}, {4, 6}, {5, 0}, {9, 0}, {9, 0}, {9, 2}, {32, 0}}, false},
        {"moved", {4, 1}, false, {{3, 0}, {4, 7}, {5, 0}, {9, 0}, {9, 3}, {32, 0}}, true},
        {"by what is not there", {4, 1}, false, {{3, 0}, {4, 7}, {5, 0}, {9, 0}, {9, 4}, {32, 0}},
            false},
        {"33 bits of a symbol", {4, 1}, false, {{3, 1}, {4, 0}, {1, 0}, {1, 0}, {6, 33}}, false},
        {"32 bits", {4, 1}, false, {{3, 1}, {4, 0}, {1, 0}, {1, 0}, {6, 32}}, true},
        {"24 digits", {4, 1}, false, {{3, 5}, {4, 0}, {1, 0}, {1, 0}, {6, 24}}, false},
        {"23 digits", {4, 1}, false, {{3, 5}, {4, 0}, {1, 0}, {1, 0}, {6, 23}}, true},
        {"friction without normal impulses", {4, 22}, false, {{3, 6}}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (head_unpacks(&cases[i]) != cases[i].valid) {
            fail_msg("%s", cases[i].what);
        }
    }
    // The sign of a component of a unit vector is always coded, so no mode leaves it out.
    uint8_t packed[64] = {1, 0, 4, 1};
    uint8_t out[16];
    cairn_range_coder coder = cairn_range_encoder(packed + 4, sizeof packed - 4);
    for (uint32_t i = 0; i < 4; ++i) {
        cairn_code_raw(&coder, 3, 0);
        cairn_code_raw(&coder, 4, i < 3 ? 0 : 5);
        cairn_code_raw(&coder, 1, 0);
    }
    assert_false(cairn_state_unpack(packed, 4 + cairn_range_finish(&coder), out, sizeof out));
}

// Friction needs 19 columns before it and two after its first one.
TEST("friction is coded where a contact has it, and nowhere else") {
    for (uint32_t words = 21; words < 24; ++words) {
        for (uint32_t before = 18; before < 21; ++before) {
            uint8_t packed[256] = {1, 0, (uint8_t)words, 1};
            uint8_t out[4 * 24];
            cairn_range_coder coder = cairn_range_encoder(packed + 4, sizeof packed - 4);
            for (uint32_t i = 0; i < before; ++i) {
                cairn_code_raw(&coder, 3, 0);
                cairn_code_raw(&coder, 4, 0);
                cairn_code_raw(&coder, 1, 0);
            }
            cairn_code_raw(&coder, 3, 6);
            const size_t size = 4 + cairn_range_finish(&coder);
            const bool unpacked = cairn_state_unpack(packed, size + 64, out, 4 * words);
            assert_true(!unpacked || (before >= 19 && before + 2 < words));
            // Columns after the friction have arbitrary bytes, which may be refused as well.
            assert_true(unpacked || before < 19 || before + 3 != words);
        }
    }
}

TEST("any bytes after the groups are a state, or refused, and nothing else") {
    static words_state state;
    uint8_t packed[WORDS_SIZE_MAX];
    uint8_t out[WORDS_SIZE_MAX];
    words_make(&state, 1);
    const size_t size = pack(&state, packed, sizeof packed);
    uint32_t refused = 0;
    for (size_t at = 0; at < size; at += 7) {
        packed[at] ^= 0x5a;
        refused += cairn_state_unpack(packed, size, out, state.size) ? 0u : 1u;
        packed[at] ^= 0x5a;
    }
    assert_true(refused > 0);
    assert_true(cairn_state_unpack(packed, size, out, state.size));
}

// The bytes are in docs/PROTOCOL.md, "Packed states".
TEST("the documented state") {
    static const cairn_word_group groups[] = {
        {CAIRN_WORDS_PLAIN, 2, 1}, {CAIRN_WORDS_BODY_SLOTS, 1, 4}, {CAIRN_WORDS_PLAIN, 2, 3}};
    static const uint32_t words[] = {0x574e5243, 19, 0x80000000, 1, 0x80000000, 0x80000002,
        0x3f800000, 5, 0x3f800000, 6, 0x40490fdb, 8};
    static const uint8_t documented[] = {0x03, 0x00, 0x02, 0x01, 0x01, 0x01, 0x04, 0x00, 0x02, 0x03,
        0xfe, 0xa8, 0xb1, 0xad, 0xbc, 0xfe, 0xff, 0xff, 0xff, 0xec, 0xdf, 0xbf, 0xdf, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xe6, 0x2f, 0x36, 0xc7, 0x6f, 0x0d, 0xcc, 0x3e, 0x51, 0x7d,
        0x5f, 0xca, 0x52, 0xd0, 0x22, 0xf2, 0x9f, 0xfb, 0xe8};
    uint8_t bytes[sizeof words];
    uint8_t packed[sizeof words + 64];
    for (size_t i = 0; i < sizeof bytes; ++i) {
        bytes[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
    }
    const size_t size = cairn_state_pack(bytes, sizeof bytes, groups, 3, packed, sizeof packed);
    assert_int_equal(size, sizeof documented);
    assert_memory_equal(packed, documented, sizeof documented);
    assert_true(unpacks(documented, sizeof documented, bytes, sizeof bytes));
}

static void add_box(cairn_world *world, uint32_t kind, cairn_vec3 position, cairn_vec3 half) {
    cairn_body_def body = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_id id;
    cairn_shape_id shape_id;
    body.kind = kind;
    body.position = position;
    shape.kind = CAIRN_SHAPE_BOX;
    shape.half_extents = half;
    assert_int_equal(cairn_body_create(world, &body, &id), CAIRN_OK);
    assert_int_equal(cairn_shape_create(world, id, &shape, &shape_id), CAIRN_OK);
}

TEST("a world's encoding is what its layout says, and packs to a fifth") {
    cairn_world *world;
    const cairn_world_def def = cairn_world_def_default();
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    add_box(world, CAIRN_BODY_STATIC, (cairn_vec3){0, -1, 0}, (cairn_vec3){100, 1, 100});
    for (uint32_t i = 0; i < 300; ++i) {
        const cairn_vec3 position = {
            (float)(i % 20) * 1.3f, 0.6f + (float)(i % 7) * 0.1f, (float)(i / 20) * 1.7f};
        add_box(world, CAIRN_BODY_DYNAMIC, position, (cairn_vec3){0.5f, 0.5f, 0.5f});
    }
    for (uint32_t i = 0; i < 60; ++i) {
        cairn_world_step(world, NULL, 0);
    }
    cairn_word_group groups[CAIRN_WORD_GROUPS_MAX];
    const uint32_t count = cairn_world_encode_layout(world, groups);
    const size_t size = cairn_world_encode_size(world);
    uint8_t *bytes = malloc(size);
    uint8_t *packed = malloc(size);
    assert_non_null(bytes);
    assert_non_null(packed);
    assert_int_equal(cairn_world_encode(world, bytes, size), size);
    const size_t packed_size = cairn_state_pack(bytes, size, groups, count, packed, size);
    assert_in_range(packed_size, 1, size / 5);
    assert_true(unpacks(packed, packed_size, bytes, size));
    free(packed);
    free(bytes);
    cairn_world_destroy(world);
}
