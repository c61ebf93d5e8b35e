// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "base/hash.h"

#include <string.h>

#include "base/random.h"

// A small world of bodies, hashed the way a world is: keyed leaves of some bodies each, added up.
// The errors below are those that simulations make: equal ones in twins, swaps, mirrored signs.
// Twins lie in one leaf or in two, and with 16 words the same word of each is in the same lane.
enum { BODIES = 16, WORDS = 16, TRIALS = 500 };

typedef struct bodies {
    uint32_t words[BODIES][WORDS];
} bodies;

static cairn_hash128 hash_bodies(const bodies *world, size_t bodies_per_leaf) {
    cairn_hash128 sum = {0};
    for (size_t id = 0; id < BODIES; id += bodies_per_leaf) {
        sum = cairn_hash_add(sum, cairn_hash_words(id, world->words[id], WORDS * bodies_per_leaf));
    }
    return sum;
}

// Every second body is the twin of the one before, as in a stack of equal boxes.
static void fill(bodies *world, cairn_random *random) {
    for (int body = 0; body < BODIES; body += 2) {
        for (int word = 0; word < WORDS; ++word) {
            world->words[body][word] = (uint32_t)cairn_random_next(random);
        }
        memcpy(world->words[body + 1], world->words[body], sizeof world->words[body]);
    }
}

typedef void fault(bodies *world, cairn_random *random);

static void expect_never_missed(fault *make) {
    cairn_random random = cairn_random_of(1);
    for (int trial = 0; trial < TRIALS; ++trial) {
        bodies before;
        fill(&before, &random);
        bodies after = before;
        make(&after, &random);
        const bool changed = memcmp(&before, &after, sizeof before) != 0;
        for (size_t size = 1; size <= BODIES; size *= 2) {
            const cairn_hash128 hash = hash_bodies(&before, size);
            assert_true(cairn_hash_equal(hash, hash_bodies(&after, size)) != changed);
        }
    }
}

static void flip_one_bit(bodies *world, cairn_random *random) {
    uint32_t *body = world->words[cairn_random_below(random, BODIES)];
    body[cairn_random_below(random, WORDS)] ^= UINT32_C(1) << cairn_random_below(random, 32);
}

static void flip_the_same_bit_in_twins(bodies *world, cairn_random *random) {
    const size_t body = 2 * (size_t)cairn_random_below(random, BODIES / 2);
    const size_t word = (size_t)cairn_random_below(random, WORDS);
    const uint32_t bit = UINT32_C(1) << cairn_random_below(random, 32);
    world->words[body][word] ^= bit;
    world->words[body + 1][word] ^= bit;
}

static void mirror_a_sign_in_twins(bodies *world, cairn_random *random) {
    const size_t body = 2 * (size_t)cairn_random_below(random, BODIES / 2);
    const size_t word = (size_t)cairn_random_below(random, WORDS);
    world->words[body][word] ^= UINT32_C(0x80000000);
    world->words[body + 1][word] ^= UINT32_C(0x80000000);
}

static void mirror_every_sign(bodies *world, cairn_random *random) {
    (void)random;
    for (int body = 0; body < BODIES; ++body) {
        for (int word = 0; word < WORDS; ++word) {
            world->words[body][word] ^= UINT32_C(0x80000000);
        }
    }
}

static void swap_two_bodies(bodies *world, cairn_random *random) {
    const size_t a = (size_t)cairn_random_below(random, BODIES);
    const size_t b = (size_t)cairn_random_below(random, BODIES);
    uint32_t kept[WORDS];
    memcpy(kept, world->words[a], sizeof kept);
    memcpy(world->words[a], world->words[b], sizeof kept);
    memcpy(world->words[b], kept, sizeof kept);
}

static void swap_two_words_of_a_body(bodies *world, cairn_random *random) {
    uint32_t *body = world->words[cairn_random_below(random, BODIES)];
    const size_t a = (size_t)cairn_random_below(random, WORDS);
    const size_t b = (size_t)cairn_random_below(random, WORDS);
    const uint32_t kept = body[a];
    body[a] = body[b];
    body[b] = kept;
}

static void move_an_amount_from_one_twin_to_the_other(bodies *world, cairn_random *random) {
    const size_t body = 2 * (size_t)cairn_random_below(random, BODIES / 2);
    const size_t word = (size_t)cairn_random_below(random, WORDS);
    const uint32_t amount = 1 + (uint32_t)cairn_random_below(random, 8);
    world->words[body][word] += amount;
    world->words[body + 1][word] -= amount;
}

static void clear_a_word_everywhere(bodies *world, cairn_random *random) {
    const size_t word = (size_t)cairn_random_below(random, WORDS);
    for (int body = 0; body < BODIES; ++body) {
        world->words[body][word] = 0;
    }
}

TEST("structured faults are never missed") {
    expect_never_missed(flip_one_bit);
    expect_never_missed(flip_the_same_bit_in_twins);
    expect_never_missed(mirror_a_sign_in_twins);
    expect_never_missed(mirror_every_sign);
    expect_never_missed(swap_two_bodies);
    expect_never_missed(swap_two_words_of_a_body);
    expect_never_missed(move_an_amount_from_one_twin_to_the_other);
    expect_never_missed(clear_a_word_everywhere);
}

TEST("leaves add up in any order and can be taken out") {
    cairn_random random = cairn_random_of(2);
    cairn_hash128 leaves[BODIES];
    cairn_hash128 sum = {0};
    for (uint32_t i = 0; i < BODIES; ++i) {
        leaves[i] = cairn_hash_words(i, &i, 1);
        sum = cairn_hash_add(sum, leaves[i]);
    }
    for (size_t left = BODIES; left > 0; --left) {
        const size_t pick = (size_t)cairn_random_below(&random, left);
        sum = cairn_hash_remove(sum, leaves[pick]);
        assert_true(cairn_hash_equal(sum, (cairn_hash128){0}) == (left == 1));
        leaves[pick] = leaves[left - 1];
    }
}

TEST("a list notices order length and key") {
    const uint32_t word = 7;
    cairn_hash128 list[3];
    for (uint64_t i = 0; i < 3; ++i) {
        list[i] = cairn_hash_words(i, &word, 1);
    }
    const cairn_hash128 swapped[3] = {list[1], list[0], list[2]};
    const cairn_hash128 hash = cairn_hash_list(1, list, 3);
    assert_true(cairn_hash_equal(hash, cairn_hash_list(1, list, 3)));
    assert_false(cairn_hash_equal(hash, cairn_hash_list(1, swapped, 3)));
    assert_false(cairn_hash_equal(hash, cairn_hash_list(1, list, 2)));
    assert_false(cairn_hash_equal(hash, cairn_hash_list(2, list, 3)));
}

// A tail padded with zeros must not look like words that are zero.
TEST("trailing zeros count") {
    const uint32_t zeros[9] = {0};
    for (size_t a = 0; a <= 9; ++a) {
        for (size_t b = 0; b < a; ++b) {
            assert_false(
                cairn_hash_equal(cairn_hash_words(1, zeros, a), cairn_hash_words(1, zeros, b)));
        }
    }
}

static unsigned count_bits(uint64_t value) {
    unsigned count = 0;
    for (; value != 0; value &= value - 1) {
        count += 1;
    }
    return count;
}

TEST("one bit flips half of each half") {
    uint32_t words[WORDS] = {0};
    uint64_t low = 0;
    uint64_t high = 0;
    const cairn_hash128 before = cairn_hash_words(3, words, WORDS);
    for (size_t bit = 0; bit < WORDS * 32; ++bit) {
        words[bit / 32] ^= UINT32_C(1) << (bit % 32);
        const cairn_hash128 after = cairn_hash_words(3, words, WORDS);
        words[bit / 32] ^= UINT32_C(1) << (bit % 32);
        low += count_bits(before.lo ^ after.lo);
        high += count_bits(before.hi ^ after.hi);
    }
    // 512 * 64 fair coins: mean 16384, standard deviation 91.
    assert_in_range(low, 16384 - 6 * 91, 16384 + 6 * 91);
    assert_in_range(high, 16384 - 6 * 91, 16384 + 6 * 91);
}

TEST("the text is high half first in lower case") {
    char text[CAIRN_HASH_TEXT_SIZE];
    const cairn_hash128 hash = {
        .lo = UINT64_C(0x0123456789abcdef), .hi = UINT64_C(0x00000000fedcba98)};
    assert_string_equal(cairn_hash_print(hash, text), "00000000fedcba980123456789abcdef");
}

TEST("halves are compared both") {
    const cairn_hash128 hash = {.lo = 1, .hi = 2};
    assert_true(cairn_hash_equal(hash, (cairn_hash128){.lo = 1, .hi = 2}));
    assert_false(cairn_hash_equal(hash, (cairn_hash128){.lo = 1, .hi = 3}));
    assert_false(cairn_hash_equal(hash, (cairn_hash128){.lo = 0, .hi = 2}));
}

TEST("words may lie anywhere") {
    uint32_t words[33];
    unsigned char odd[1 + sizeof words];
    for (uint32_t i = 0; i < 33; ++i) {
        words[i] = i * 0x9e3779b9u;
    }
    memcpy(odd + 1, words, sizeof words);
    for (size_t count = 0; count <= 33; ++count) {
        assert_true(cairn_hash_equal(
            cairn_hash_words(70, words, count), cairn_hash_words(70, odd + 1, count)));
    }
}

TEST("blocks have the hashes of their words") {
    uint32_t words[3 * 65];
    cairn_hash128 leaves[3];
    for (uint32_t i = 0; i < 3 * 65; ++i) {
        words[i] = i * 0x9e3779b9u;
    }
    for (size_t size = 1; size <= 65; ++size) {
        cairn_hash_blocks(70, words, size, 3, leaves);
        for (size_t i = 0; i < 3; ++i) {
            assert_true(
                cairn_hash_equal(leaves[i], cairn_hash_words(70 + i, words + i * size, size)));
        }
    }
}
