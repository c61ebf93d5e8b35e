// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "base/random.h"
#include "sim/math/packed_rotation.h"

static cairn_quat random_rotation(cairn_random *random) {
    const float x = cairn_random_unit(random) - 0.5f;
    const float y = cairn_random_unit(random) - 0.5f;
    const float z = cairn_random_unit(random) - 0.5f;
    const float w = cairn_random_unit(random) - 0.5f;
    return quat_normalize((cairn_quat){.x = x, .y = y, .z = z, .w = w});
}

// Twice the sine of half the angle between two rotations.
static float angle_between(cairn_quat a, cairn_quat b) {
    return 2.0f * vec3_length(quat_vector(quat_multiply(a, quat_conjugate(b))));
}

TEST("a rotation survives packing to within the stated error") {
    cairn_random random = cairn_random_of(3);
    for (int i = 0; i < 20000; ++i) {
        const cairn_quat q = random_rotation(&random);
        assert_true(angle_between(packed_rotation_unpack(packed_rotation_pack(q)), q) < 6e-6f);
    }
}

// Half turns and right angles about every axis: components are equal, zero, or change their sign.
TEST("rotations with equal or zero components survive packing") {
    static const float parts[] = {0.0f, 1.0f, -1.0f, 1e-7f, -1e-7f};
    for (uint32_t i = 0; i < 625; ++i) {
        const cairn_quat raw = {
            .x = parts[i % 5], .y = parts[i / 5 % 5], .z = parts[i / 25 % 5], .w = parts[i / 125]};
        if (quat_length_squared(raw) > 0.5f) {
            const cairn_quat q = quat_normalize(raw);
            assert_false(packed_rotation_is_none(packed_rotation_pack(q)));
            assert_true(angle_between(packed_rotation_unpack(packed_rotation_pack(q)), q) < 6e-6f);
        }
    }
}

TEST("both quaternions of a rotation pack to the same words") {
    cairn_random random = cairn_random_of(4);
    for (int i = 0; i < 1000; ++i) {
        const cairn_quat q = random_rotation(&random);
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
