// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "sim/math/packed_rotation.h"
#include "tests/sim/geometry_kit.h"

static void expect_survives_packing(cairn_quat q) {
    const cairn_quat other = packed_rotation_unpack(packed_rotation_pack(q));
    // Twice the sine of half the angle between the two.
    assert_true(2.0f * vec3_length(quat_vector(quat_multiply(other, quat_conjugate(q)))) < 6e-6f);
}

TEST("a rotation survives packing to within the stated error") {
    cairn_random random = cairn_random_of(3);
    for (int i = 0; i < 20000; ++i) {
        expect_survives_packing(random_quat(&random));
    }
}

// Half and quarter turns about every axis: components are equal or zero, or change their sign.
TEST("rotations with equal or zero components survive packing") {
    static const float parts[] = {0.0f, 1.0f, -1.0f, 1e-7f, -1e-7f};
    for (uint32_t i = 0; i < 625; ++i) {
        const cairn_quat raw = {
            .x = parts[i % 5], .y = parts[i / 5 % 5], .z = parts[i / 25 % 5], .w = parts[i / 125]};
        if (quat_length_squared(raw) > 0.5f) {
            const cairn_quat q = quat_normalize(raw);
            assert_false(packed_rotation_is_none(packed_rotation_pack(q)));
            expect_survives_packing(q);
        }
    }
}

TEST("both quaternions of a rotation pack to the same words") {
    cairn_random random = cairn_random_of(4);
    for (int i = 0; i < 1000; ++i) {
        const cairn_quat q = random_quat(&random);
        const cairn_quat other = {.x = -q.x, .y = -q.y, .z = -q.z, .w = -q.w};
        assert_memory_equal(packed_rotation_pack(q).words, packed_rotation_pack(other).words,
            sizeof(cairn_packed_rotation));
    }
}

TEST("any words unpack to a unit quaternion") {
    cairn_random random = cairn_random_of(5);
    for (int i = 0; i < 20000; ++i) {
        const uint64_t bits = cairn_random_next(&random);
        const cairn_packed_rotation turn = {.words = {(uint32_t)bits, (uint32_t)(bits >> 32)}};
        const float length = quat_length_squared(packed_rotation_unpack(turn));
        assert_true(length > 0.9999f && length < 1.0001f);
    }
}
