// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <stdlib.h>

#include "base/random.h"
#include "sim/collide/broad_phase.h"
#include "sim/math/vec.h"

enum { BOXES_MAX = 600, PAIRS_MAX = BOXES_MAX * BOXES_MAX / 2 };
enum { SCRATCH_WORDS = 600 * 16 + 1026 + 2 * PAIRS_MAX, STRIDE_MAX = BOXES_MAX + 64 };

// A box in the form that the tests use.
typedef struct listed_box {
    cairn_aabb box;
    uint32_t shape; // increasing
    uint32_t category;
    uint32_t mask;
    uint32_t body;
    uint32_t active;
} listed_box;

static listed_box boxes[BOXES_MAX];
static float bounds[6][STRIDE_MAX];
static cairn_broad_phase_filter filters[BOXES_MAX];
static cairn_pair pairs[PAIRS_MAX];
static cairn_pair expected[PAIRS_MAX];
static uint32_t *scratch; // SCRATCH_WORDS words, allocated so that they have no declared type

static listed_box box_at(uint32_t shape, cairn_vec3 centre, float half) {
    const cairn_vec3 reach = vec3(half, half, half);
    return (listed_box){.box = {.lower = vec3_sub(centre, reach), .upper = vec3_add(centre, reach)},
        .shape = shape,
        .category = 1,
        .mask = 1,
        .body = shape,
        .active = 1};
}

// By index of shape, as the broad phase needs them; indices without a box are empty.
static cairn_aabb_array to_aabb_array(uint32_t box_count) {
    const cairn_aabb_array out = {.lower = {bounds[0], bounds[1], bounds[2]},
        .upper = {bounds[3], bounds[4], bounds[5]},
        .filters = filters,
        .count = box_count == 0 ? 0 : boxes[box_count - 1].shape + 1};
    assert_true(out.count <= BOXES_MAX);
    assert_true(cairn_broad_phase_stride(out.count) <= STRIDE_MAX);
    for (uint32_t i = 0; i < out.count; ++i) {
        cairn_aabb_array_clear(&out, i);
    }
    for (uint32_t i = 0; i < box_count; ++i) {
        const listed_box *box = &boxes[i];
        cairn_aabb_array_set(&out, box->shape, box->box);
        filters[box->shape] = (cairn_broad_phase_filter){
            .category = box->category, .mask = box->mask, .body = box->body, .active = box->active};
    }
    return out;
}

static uint32_t find_pairs(uint32_t box_count, uint32_t capacity) {
    const cairn_aabb_array all = to_aabb_array(box_count);
    assert_true(
        cairn_broad_phase_scratch_size(all.count, capacity) <= SCRATCH_WORDS * sizeof(uint32_t));
    static cairn_task_scheduler alone;
    return cairn_broad_phase_find_pairs(&alone, &all, scratch, pairs, capacity);
}

static bool intervals_apart(float lower_a, float upper_a, float lower_b, float upper_b) {
    return upper_a < lower_b || upper_b < lower_a;
}

static bool should_pair(const listed_box *a, const listed_box *b) {
    const cairn_aabb *p = &a->box;
    const cairn_aabb *q = &b->box;
    if (intervals_apart(p->lower.x, p->upper.x, q->lower.x, q->upper.x) ||
        intervals_apart(p->lower.y, p->upper.y, q->lower.y, q->upper.y) ||
        intervals_apart(p->lower.z, p->upper.z, q->lower.z, q->upper.z)) {
        return false;
    }
    return a->body != b->body && (a->category & b->mask) != 0 && (b->category & a->mask) != 0 &&
           (a->active != 0 || b->active != 0);
}

static uint32_t find_by_testing_all(uint32_t box_count) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < box_count; ++i) {
        for (uint32_t j = i + 1; j < box_count; ++j) {
            if (should_pair(&boxes[i], &boxes[j])) {
                expected[count] =
                    (cairn_pair){.shape_a = boxes[i].shape, .shape_b = boxes[j].shape};
                count += 1;
            }
        }
    }
    return count;
}

static void expect_same_pairs(uint64_t seed, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        if (pairs[i].shape_a != expected[i].shape_a || pairs[i].shape_b != expected[i].shape_b) {
            fail_msg("seed %u: pair %u is (%u, %u), not (%u, %u)", (unsigned)seed, i,
                pairs[i].shape_a, pairs[i].shape_b, expected[i].shape_a, expected[i].shape_b);
        }
    }
}

// Every scene has boxes that share a body, sleep, or are filtered; gaps between indices; and sizes
// from pebbles to half-spaces.
static uint32_t random_scene(uint64_t seed) {
    cairn_random random = cairn_random_of(seed);
    const uint32_t count = 2 + (uint32_t)cairn_random_below(&random, 200);
    const cairn_vec3 room = vec3(1.0f + 20.0f * cairn_random_unit(&random),
        1.0f + 2.0f * cairn_random_unit(&random), 1.0f + 5.0f * cairn_random_unit(&random));
    uint32_t shape = 0;
    for (uint32_t i = 0; i < count; ++i) {
        shape += 1 + (uint32_t)cairn_random_below(&random, 3);
        const float x = (cairn_random_unit(&random) - 0.5f) * room.x;
        const float y = (cairn_random_unit(&random) - 0.5f) * room.y;
        const float z = (cairn_random_unit(&random) - 0.5f) * room.z;
        const uint64_t size = cairn_random_below(&random, 100);
        const float half = size == 0 ? 1e9f : size < 5 ? 5.0f : 0.4f * cairn_random_unit(&random);
        boxes[i] = box_at(shape, vec3(x, y, z), half);
        boxes[i].body = (uint32_t)cairn_random_below(&random, count);
        boxes[i].active = cairn_random_below(&random, 3) != 0;
        boxes[i].category = 1u << cairn_random_below(&random, 3);
        boxes[i].mask = (uint32_t)cairn_random_below(&random, 8);
    }
    return count;
}

TEST("the broad phase finds the pairs that a test of all boxes finds") {
    for (uint64_t seed = 1; seed <= 200; ++seed) {
        const uint32_t box_count = random_scene(seed);
        const uint32_t expected_count = find_by_testing_all(box_count);
        const uint32_t count = find_pairs(box_count, PAIRS_MAX);
        if (count != expected_count) {
            fail_msg("seed %u: %u pairs, not %u", (unsigned)seed, count, expected_count);
        }
        expect_same_pairs(seed, count);
    }
}

TEST("a list that is too small gets the first pairs and the true count") {
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        const uint32_t box_count = random_scene(seed);
        const uint32_t expected_count = find_by_testing_all(box_count);
        const uint32_t capacities[] = {0, 1, expected_count / 3, expected_count / 2,
            expected_count > 0 ? expected_count - 1 : 0, expected_count};
        for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); ++i) {
            const uint32_t capacity = capacities[i];
            const cairn_pair untouched = {.shape_a = 77777, .shape_b = 88888};
            pairs[capacity] = untouched;
            assert_int_equal(find_pairs(box_count, capacity), expected_count);
            expect_same_pairs(seed, capacity < expected_count ? capacity : expected_count);
            assert_int_equal(pairs[capacity].shape_a, untouched.shape_a);
            assert_int_equal(pairs[capacity].shape_b, untouched.shape_b);
        }
    }
}

TEST("the content of the scratch does not matter") {
    const uint32_t box_count = random_scene(7);
    const uint32_t expected_count = find_by_testing_all(box_count);
    static const uint32_t poisons[] = {0, 0xaaaaaaaau, 0xffffffffu};
    for (size_t i = 0; i < sizeof(poisons) / sizeof(poisons[0]); ++i) {
        for (size_t k = 0; k < SCRATCH_WORDS; ++k) {
            scratch[k] = poisons[i];
        }
        assert_int_equal(find_pairs(box_count, PAIRS_MAX), expected_count);
        expect_same_pairs(7, expected_count);
    }
}

TEST("the sort writes nothing past the end of its scratch") {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        const uint32_t box_count = random_scene(seed);
        const uint32_t pair_count = find_pairs(box_count, PAIRS_MAX);
        const uint32_t shapes = boxes[box_count - 1].shape + 1;
        const size_t words = cairn_broad_phase_scratch_size(shapes, pair_count) / sizeof(uint32_t);
        scratch[words] = 0x12345678u;
        assert_int_equal(find_pairs(box_count, pair_count), pair_count);
        assert_int_equal(scratch[words], 0x12345678u);
    }
}

TEST("boxes that share a face form a pair, whatever the sign of a zero") {
    const float minus_zero = float_of_bits(0x80000000u);
    boxes[0] = box_at(0, vec3(1, 1, 1), 1.0f);
    boxes[1] = box_at(1, vec3(-1, 1, 1), 1.0f);
    boxes[1].box.upper.x = minus_zero;
    assert_int_equal(find_pairs(2, PAIRS_MAX), 1);
    boxes[0].box.lower.x = minus_zero;
    boxes[1].box.upper.x = 0.0f;
    assert_int_equal(find_pairs(2, PAIRS_MAX), 1);
    boxes[1].box.upper.x = -1e-30f;
    assert_int_equal(find_pairs(2, PAIRS_MAX), 0);
}

TEST("a pair needs all of its conditions") {
    enum { NOTHING, SAME_BODY, CATEGORY, MASK, BOTH_ASLEEP, ONE_ASLEEP, APART, CONDITIONS };
    static const uint32_t counts[CONDITIONS] = {1, 0, 0, 0, 0, 1, 0};
    for (uint32_t broken = NOTHING; broken < CONDITIONS; ++broken) {
        boxes[0] = box_at(4, vec3(0, 0, 0), 1.0f);
        boxes[1] = box_at(9, vec3(1, 1, 1), 1.0f);
        boxes[1].body = broken == SAME_BODY ? 4 : 9;
        boxes[0].category = broken == CATEGORY ? 2 : 1;
        boxes[0].mask = broken == MASK ? 2 : 1;
        boxes[0].active = broken != BOTH_ASLEEP && broken != ONE_ASLEEP;
        boxes[1].active = broken != BOTH_ASLEEP;
        boxes[1].box.lower.y = broken == APART ? 1.5f : 0.0f;
        assert_int_equal(find_pairs(2, PAIRS_MAX), counts[broken]);
    }
}

TEST("neither zero boxes nor one box have pairs") {
    boxes[0] = box_at(0, vec3(0, 0, 0), 1.0f);
    assert_int_equal(find_pairs(0, PAIRS_MAX), 0);
    assert_int_equal(find_pairs(1, PAIRS_MAX), 0);
}

TEST("a floor forms pairs with all boxes, in order") {
    for (uint32_t i = 0; i < BOXES_MAX; ++i) {
        boxes[i] = box_at(i, vec3((float)((i * 7919u) % BOXES_MAX) * 3.0f, 0, 0), 1.0f);
    }
    boxes[5] = box_at(5, vec3(0, 0, 0), 1e9f);
    assert_int_equal(find_pairs(BOXES_MAX, PAIRS_MAX), BOXES_MAX - 1);
    assert_int_equal(find_by_testing_all(BOXES_MAX), BOXES_MAX - 1);
    expect_same_pairs(0, BOXES_MAX - 1);
}

TEST("a query of one box finds its pairs in order") {
    static uint32_t others[BOXES_MAX];
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        const uint32_t box_count = random_scene(seed);
        const cairn_aabb_array all = to_aabb_array(box_count);
        const uint32_t expected_count = find_by_testing_all(box_count);
        uint32_t count = 0;
        for (uint32_t i = 0; i < all.count; ++i) {
            const uint32_t more = cairn_broad_phase_query(&all, i, i + 1, others, BOXES_MAX);
            for (uint32_t k = 0; k < more; ++k, ++count) {
                pairs[count] = (cairn_pair){.shape_a = i, .shape_b = others[k]};
            }
        }
        assert_int_equal(count, expected_count);
        expect_same_pairs(seed, count);
    }
}

TEST("a query stops if the list is full") {
    uint32_t others[3] = {0, 0, 77777};
    for (uint32_t i = 0; i < 9; ++i) {
        boxes[i] = box_at(i, vec3(0, 0, 0), 1.0f);
    }
    const cairn_aabb_array all = to_aabb_array(9);
    assert_int_equal(cairn_broad_phase_query(&all, 4, 3, others, 2), 2);
    assert_int_equal(others[0], 3);
    assert_int_equal(others[1], 5);
    assert_int_equal(others[2], 77777);
    assert_int_equal(cairn_broad_phase_query(&all, 8, 9, others, 2), 0);
}

BEFORE_ALL {
    scratch = calloc(SCRATCH_WORDS, sizeof(uint32_t));
    assert_true(scratch != NULL);
}

AFTER_ALL {
    free(scratch);
}
