// SPDX-License-Identifier: MIT
// The chain and its signature: published values, and every part of a recording counts.
#include "tests/kit/test.h"

#include "recording/chain.h"

#include <stdio.h>
#include <string.h>

static void from_hex(const char *text, uint8_t *out, size_t size) {
    for (size_t i = 0; i < size; ++i) {
        unsigned value = 0;
        assert_int_equal(sscanf(text + 2 * i, "%2x", &value), 1);
        out[i] = (uint8_t)value;
    }
}

TEST("digests are blake2b 256") {
    uint8_t wanted[CAIRN_DIGEST_SIZE];
    uint8_t got[CAIRN_DIGEST_SIZE];
    from_hex("bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319", wanted, 32);
    cairn_digest((const uint8_t *)"abc", 3, NULL, 0, got);
    assert_memory_equal(got, wanted, sizeof got);
    cairn_digest((const uint8_t *)"a", 1, (const uint8_t *)"bc", 2, got);
    assert_memory_equal(got, wanted, sizeof got);
    from_hex("0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8", wanted, 32);
    cairn_digest(NULL, 0, NULL, 0, got);
    assert_memory_equal(got, wanted, sizeof got);
}

// RFC 8032, 7.1, test 3.
TEST("signatures are ed25519") {
    uint8_t seed[CAIRN_SIGN_SEED_SIZE], wanted_public[CAIRN_SIGN_PUBLIC_SIZE];
    uint8_t wanted[CAIRN_SIGNATURE_SIZE];
    from_hex("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7", seed, 32);
    from_hex("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", wanted_public, 32);
    from_hex("6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
             "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        wanted, 64);
    const uint8_t message[2] = {0xaf, 0x82};
    uint8_t public_key[CAIRN_SIGN_PUBLIC_SIZE], signature[CAIRN_SIGNATURE_SIZE];
    cairn_sign_public(seed, public_key);
    assert_memory_equal(public_key, wanted_public, sizeof public_key);
    cairn_sign(seed, message, sizeof message, signature);
    assert_memory_equal(signature, wanted, sizeof signature);
    assert_true(cairn_sign_check(public_key, message, sizeof message, signature));
    for (unsigned i = 0; i < 8 * sizeof signature; ++i) {
        signature[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_false(cairn_sign_check(public_key, message, sizeof message, signature));
        signature[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    assert_false(cairn_sign_check(public_key, message, 1, signature));
}

typedef struct sample {
    char start[8];
    cairn_wire_tick ticks[2];
    cairn_command commands[2];
    char replacement[8];
} sample;

static sample sample_recording(void) {
    return (sample){.start = "started",
        .ticks = {{.tick = 5, .root_lo = 1, .root_hi = 2, .command_count = 1},
            {.tick = 6, .root_lo = 3, .root_hi = 4, .first_command = 1, .command_count = 1}},
        .commands = {{.kind = 3, .slot = 1, .sequence = 9, .move = {.x = 0.5f}}, {.kind = 2}},
        .replacement = "another"};
}

static void add_ticks(cairn_chain *chain, const sample *s, uint32_t first, uint32_t count) {
    const cairn_chunk chunk = {.kind = CAIRN_CHUNK_TICKS,
        .ticks = {.ticks = &s->ticks[first],
            .tick_count = count,
            .commands = s->commands,
            .command_count = 2}};
    cairn_chain_chunk(chain, &chunk, (const uint8_t *)"ticks", 5);
}

static cairn_chain chain_of(const sample *s) {
    cairn_chain chain;
    const cairn_chunk start = {.kind = CAIRN_CHUNK_START}, replace = {.kind = CAIRN_CHUNK_REPLACE};
    cairn_chain_chunk(&chain, &start, (const uint8_t *)s->start, sizeof s->start);
    add_ticks(&chain, s, 0, 1);
    cairn_chain_chunk(&chain, &replace, (const uint8_t *)s->replacement, sizeof s->replacement);
    add_ticks(&chain, s, 1, 1);
    return chain;
}

// Fields that say where a command lies in its chunk are no part of what happened.
static bool counts(size_t byte) {
    const size_t first = offsetof(sample, ticks);
    const size_t end = first + sizeof((sample *)NULL)->ticks;
    return byte < first || byte >= end || (byte - first) % sizeof(cairn_wire_tick) < 24;
}

TEST("every bit of a tick changes the chain") {
    const sample plain = sample_recording();
    const cairn_chain wanted = chain_of(&plain);
    for (size_t i = 0; i < 8 * sizeof plain; ++i) {
        sample other = plain;
        if (counts(i / 8)) {
            ((uint8_t *)&other)[i / 8] ^= (uint8_t)(1u << i % 8);
            const cairn_chain got = chain_of(&other);
            assert_memory_not_equal(got.value, wanted.value, sizeof got.value);
        }
    }
}

TEST("the chain covers each tick of a chunk, wherever chunks end") {
    const sample s = sample_recording();
    cairn_chain apart = {{0}};
    cairn_chain together = {{0}};
    add_ticks(&apart, &s, 0, 1);
    add_ticks(&apart, &s, 1, 1);
    add_ticks(&together, &s, 0, 2);
    assert_memory_equal(together.value, apart.value, sizeof apart.value);
}

TEST("the order and number of ticks change the chain") {
    sample s = sample_recording();
    const cairn_chain wanted = chain_of(&s);
    cairn_chain longer = wanted;
    add_ticks(&longer, &s, 1, 1);
    assert_memory_not_equal(longer.value, wanted.value, sizeof wanted.value);
    s.ticks[0].command_count = 0;
    const cairn_chain fewer = chain_of(&s);
    assert_memory_not_equal(fewer.value, wanted.value, sizeof wanted.value);
}

TEST("a signature covers the chain the tick and the count") {
    const uint8_t seed[CAIRN_SIGN_SEED_SIZE] = {1, 2, 3};
    uint8_t key[CAIRN_SIGN_PUBLIC_SIZE], signature[CAIRN_SIGNATURE_SIZE];
    const sample s = sample_recording();
    cairn_chain chain = chain_of(&s);
    cairn_sign_public(seed, key);
    cairn_chain_sign(&chain, 7, 2, seed, signature);
    assert_true(cairn_chain_check(&chain, 7, 2, key, signature));
    assert_false(cairn_chain_check(&chain, 8, 2, key, signature));
    assert_false(cairn_chain_check(&chain, 7, 3, key, signature));
    chain.value[0] ^= 1;
    assert_false(cairn_chain_check(&chain, 7, 2, key, signature));
}

// Otherwise no other program could check it.
TEST("what is signed are sixteen letters, the chain, the tick and the count") {
    enum { NAME_SIZE = 16, SIZE = NAME_SIZE + CAIRN_DIGEST_SIZE + 16 };
    const uint8_t seed[CAIRN_SIGN_SEED_SIZE] = {1, 2, 3};
    const sample s = sample_recording();
    const cairn_chain chain = chain_of(&s);
    uint8_t bytes[SIZE] = "cairn transcript";
    memcpy(bytes + NAME_SIZE, chain.value, CAIRN_DIGEST_SIZE);
    bytes[NAME_SIZE + CAIRN_DIGEST_SIZE] = 7;
    bytes[NAME_SIZE + CAIRN_DIGEST_SIZE + 8] = 2;
    uint8_t wanted[CAIRN_SIGNATURE_SIZE], signature[CAIRN_SIGNATURE_SIZE];
    cairn_sign(seed, bytes, sizeof bytes, wanted);
    cairn_chain_sign(&chain, 7, 2, seed, signature);
    assert_memory_equal(signature, wanted, sizeof wanted);
}
