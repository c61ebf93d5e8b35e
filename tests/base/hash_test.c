// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "base/hash.h"

#include <string.h>

#include "base/random.h"

// A small world of bodies, hashed the way a world is: keyed leaves of some bodies each, added up.
// The errors below are those that simulations make: equal ones in twins, swaps, mirrored signs.
// Twins are in one leaf or in two, and with 16 words the same word of each is in the same lane.
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
static void fill_twins(bodies *world, cairn_random *random) {
    for (int body = 0; body < BODIES; body += 2) {
        for (int word = 0; word < WORDS; ++word) {
            world->words[body][word] = (uint32_t)cairn_random_next(random);
        }
        memcpy(world->words[body + 1], world->words[body], sizeof world->words[body]);
    }
}

enum {
    FLIP_BIT,
    FLIP_BIT_IN_TWINS,
    MIRROR_SIGN_IN_TWINS,
    MIRROR_EVERY_SIGN,
    SWAP_BODIES,
    SWAP_WORDS,
    MOVE_AMOUNT_BETWEEN_TWINS,
    CLEAR_WORD_EVERYWHERE,
    FAULTS
};

static void swap_words(uint32_t *a, uint32_t *b, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const uint32_t kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

static void commit_fault(bodies *world, int fault, cairn_random *random) {
    const size_t word = (size_t)cairn_random_below(random, WORDS);
    const size_t other_word = (size_t)cairn_random_below(random, WORDS);
    const uint32_t sign = 0x80000000u;
    const uint32_t bit = 1u << cairn_random_below(random, 32);
    const uint32_t amount = 1 + (uint32_t)cairn_random_below(random, 8);
    uint32_t *body = world->words[cairn_random_below(random, BODIES)];
    uint32_t *other_body = world->words[cairn_random_below(random, BODIES)];
    uint32_t *twin = world->words[2 * cairn_random_below(random, BODIES / 2)];
    uint32_t *other_twin = twin + WORDS;
    switch (fault) {
    case FLIP_BIT:
        body[word] ^= bit;
        break;
    case FLIP_BIT_IN_TWINS:
    case MIRROR_SIGN_IN_TWINS:
        twin[word] ^= fault == FLIP_BIT_IN_TWINS ? bit : sign;
        other_twin[word] ^= fault == FLIP_BIT_IN_TWINS ? bit : sign;
        break;
    case SWAP_BODIES:
        swap_words(body, other_body, WORDS);
        break;
    case SWAP_WORDS:
        swap_words(&body[word], &body[other_word], 1);
        break;
    case MOVE_AMOUNT_BETWEEN_TWINS:
        twin[word] += amount;
        other_twin[word] -= amount;
        break;
    default: // in every body
        for (size_t i = 0; i < BODIES * WORDS; ++i) {
            uint32_t *at = &world->words[i / WORDS][i % WORDS];
            *at = fault == MIRROR_EVERY_SIGN ? *at ^ sign : i % WORDS == word ? 0 : *at;
        }
        break;
    }
}

TEST("structured faults are never missed") {
    for (int fault = 0; fault < FAULTS; ++fault) {
        cairn_random random = cairn_random_of(1);
        for (int trial = 0; trial < TRIALS; ++trial) {
            bodies before;
            fill_twins(&before, &random);
            bodies after = before;
            commit_fault(&after, fault, &random);
            const bool changed = memcmp(&before, &after, sizeof before) != 0;
            for (size_t size = 1; size <= BODIES; size *= 2) {
                const cairn_hash128 hash = hash_bodies(&before, size);
                if (cairn_hash_equal(hash, hash_bodies(&after, size)) == changed) {
                    fail_msg("fault %d, trial %d, %zu bodies per leaf", fault, trial, size);
                }
            }
        }
    }
}

TEST("leaves can be added and removed in any order") {
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

TEST("the hash of a list depends on its order, length and key") {
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
TEST("trailing zeros change the hash") {
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

TEST("one flipped bit flips half the bits of each half") {
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

TEST("the text of a hash is lower-case with the high half first") {
    char text[CAIRN_HASH_TEXT_SIZE];
    const cairn_hash128 hash = {
        .lo = UINT64_C(0x0123456789abcdef), .hi = UINT64_C(0x00000000fedcba98)};
    assert_string_equal(cairn_hash_print(hash, text), "00000000fedcba980123456789abcdef");
}

TEST("both halves are compared") {
    const cairn_hash128 hash = {.lo = 1, .hi = 2};
    assert_true(cairn_hash_equal(hash, (cairn_hash128){.lo = 1, .hi = 2}));
    assert_false(cairn_hash_equal(hash, (cairn_hash128){.lo = 1, .hi = 3}));
    assert_false(cairn_hash_equal(hash, (cairn_hash128){.lo = 0, .hi = 2}));
}

TEST("words need no alignment") {
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
