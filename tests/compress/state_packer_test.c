// SPDX-License-Identifier: MIT
// A packed state comes back to the bit, costs little where its words can be foreseen, and malformed
// bytes are refused.
#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/random.h"
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
        // three components of its rotation, and 6 of three of its pose; of each contact 20 bits of
        // 16 words, 6 of three, and 4.
        const size_t random_bytes = 4 * (6 * WORDS_BODIES / 3 + 40) +
                                    WORDS_BODIES * (3 * 22 + 3 * 6) / 8 +
                                    WORDS_CONTACTS * (16 * 20 + 3 * 6 + 4) / 8;
        assert_in_range(size, random_bytes, random_bytes * 13 / 10);
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
    static const uint8_t malformed[][9] = {
        {0},                              // without groups
        {33},                             // too many
        {1, 2, 1, 1},                     // an unknown flag
        {1, 0, 0, 1},                     // elements without words
        {1, 0, 0x80, 4, 1},               // 512 words
        {1, 0, 1, 2},                     // another size
        {1, 0, 1, 1, 0xa0},               // a mode that does not exist
        {1, 0, 1, 1, 0x1c},               // a source that does not exist
        {1, 0, 1, 1, 0x04},               // a column that comes later
        {1, 0, 1, 1, 0x08},               // a group that comes later
        {1, 0, 1, 1, 0x14},               // three columns before the first
        {1, 0, 1, 1, 0x18},               // a rotation in a group that comes later
        {2, 1, 1, 0, 0, 1, 1, 0x0c, 0x80} // a link from a group that comes later
    };
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; ++i) {
        assert_false(cairn_state_unpack(malformed[i], sizeof malformed[i], out, 4));
    }
    // The sign of a component of a unit vector is always coded, so no mode leaves it out.
    static const uint8_t unsigned_unit[] = {1, 0, 4, 1, 0, 0, 5, 0, 0};
    assert_false(cairn_state_unpack(unsigned_unit, sizeof unsigned_unit, out, 16));
    // A rotation needs four columns, and has two words: that it names a third, refused.
    static const uint8_t third_word[] = {2, 0, 4, 1, 0, 1, 1, 0, 0, 0, 0x60, 0, 0x02, 0};
    assert_false(cairn_state_unpack(third_word, sizeof third_word, out, 20));
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
        0xdf, 0x51, 0x63, 0x5b, 0x79, 0x7f, 0x9d, 0x6f, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xdb,
        0x02, 0xc3, 0xc1, 0x98, 0x62, 0x5b, 0x17, 0x47, 0xce, 0xe0, 0x6b, 0x3d, 0x2f, 0x3f, 0x83,
        0x70, 0x06};
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
