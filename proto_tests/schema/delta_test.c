// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "schema/delta.h"
#include "tests/kit/exact.h"

enum { BODIES_MAX = 64, PAYLOAD_MAX = BODIES_MAX * 80 };

typedef struct bodies {
    cairn_snapshot_body list[BODIES_MAX];
    uint32_t count;
} bodies;

static cairn_snapshot_body body_of(uint32_t id) {
    return (cairn_snapshot_body){
        .id = id, .flags = 5, .position = {1.0f, 2.0f, 3.0f}, .rotation = {0.0f, 0.0f, 0.0f, 1.0f}};
}

static bodies bodies_of(uint32_t count) {
    bodies b = {.count = count};
    for (uint32_t i = 0; i < count; ++i) {
        b.list[i] = body_of(2 * i + 1);
    }
    return b;
}

static size_t encode(const bodies *from, const bodies *to, uint8_t payload[PAYLOAD_MAX]) {
    return cairn_delta_encode(from->list, from->count, to->list, to->count, payload, PAYLOAD_MAX);
}

// Applies a copy that is exactly as large, so that a sanitizer sees a read past its end.
static cairn_status apply(
    const bodies *from, const uint8_t *payload, size_t size, bodies *to, const char **where) {
    uint8_t *copy = kit_exact_copy(payload, size);
    const cairn_status status = cairn_delta_apply(
        from->list, from->count, copy, size, to->list, BODIES_MAX, &to->count, where);
    free(copy);
    return status;
}

static size_t expect_exact(const bodies *from, const bodies *to) {
    uint8_t payload[PAYLOAD_MAX];
    const size_t size = encode(from, to, payload);
    assert_true(size > 0);
    bodies result;
    const char *where;
    assert_int_equal(apply(from, payload, size, &result, &where), CAIRN_OK);
    assert_string_equal(where, "");
    assert_int_equal(result.count, to->count);
    assert_memory_equal(result.list, to->list, to->count * sizeof to->list[0]);
    return size;
}

TEST("a payload without changes is one byte") {
    const bodies none = {.count = 0};
    const bodies some = bodies_of(40);
    assert_int_equal(expect_exact(&none, &none), 1);
    assert_int_equal(expect_exact(&some, &some), 1);
}

TEST("a small movement takes few bytes") {
    const bodies from = bodies_of(40);
    bodies to = from;
    to.list[20].position.x = 1.001f;
    // kept 1, kind 1, mask 2, sizes 1, change 2, kept 1
    assert_int_equal(expect_exact(&from, &to), 8);
}

TEST("a change takes the fewest bytes that hold it") {
    // An increase by n is encoded as 2 n, a decrease by n as 2 n - 1.
    static const struct {
        uint32_t from;
        uint32_t to;
        size_t bytes;
    } rows[] = {{1, 0, 1}, {0x80, 0, 1}, {0, 0x80, 2}, {0x8000, 0, 2}, {0, 0x8000, 3},
        {0x800000, 0, 3}, {0, 0x800000, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        bodies from = bodies_of(1);
        bodies to = from;
        memcpy(&from.list[0].position.x, &rows[i].from, 4);
        memcpy(&to.list[0].position.x, &rows[i].to, 4);
        assert_int_equal(expect_exact(&from, &to), 6 + rows[i].bytes);
    }
}

TEST("every word may change at once") {
    const bodies from = bodies_of(1);
    const bodies to = {.count = 1,
        .list = {{.id = 0x100001,
            .flags = 4,
            .position = {2.0f, 3.0f, 4.0f},
            .rotation = {0.5f, 0.5f, 0.5f, 0.5f},
            .linear_velocity = {1.0f, 2.0f, 3.0f},
            .angular_velocity = {4.0f, 5.0f, 6.0f}}}};
    expect_exact(&from, &to);
}

TEST("every word arrives bit for bit") {
    static const uint32_t values[] = {0, 1, 0x7f, 0x80, 0xffff, 0x10000, 0x7fffff, 0x80000000,
        0x80000001, 0x7f7fffff, 0xff7fffff};
    // Positions and velocities may be any finite number.
    static const size_t words[] = {2, 3, 4, 9, 10, 11, 12, 13, 14};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; ++w) {
        for (size_t a = 0; a < sizeof values / sizeof values[0]; ++a) {
            for (size_t b = 0; b < sizeof values / sizeof values[0]; ++b) {
                bodies from = bodies_of(3);
                bodies to = from;
                memcpy((uint8_t *)&from.list[1] + 4 * words[w], &values[a], 4);
                memcpy((uint8_t *)&to.list[1] + 4 * words[w], &values[b], 4);
                expect_exact(&from, &to);
            }
        }
    }
}

TEST("bodies can be added and removed at any place") {
    const bodies none = {.count = 0};
    const bodies all = bodies_of(5);
    expect_exact(&none, &all);
    expect_exact(&all, &none);
    for (uint32_t gone = 0; gone < 5; ++gone) {
        bodies some = {.count = 0};
        for (uint32_t i = 0; i < 5; ++i) {
            if (i != gone) {
                some.list[some.count++] = all.list[i];
            }
        }
        expect_exact(&all, &some);
        expect_exact(&some, &all);
    }
}

TEST("a new generation with the same index is a change") {
    const bodies from = bodies_of(3);
    bodies to = from;
    to.list[1].id |= 7u << 20;
    expect_exact(&from, &to);
}

static cairn_snapshot_body random_body(cairn_random *random, uint32_t index) {
    cairn_snapshot_body body = body_of(index | (uint32_t)cairn_random_below(random, 4) << 20);
    body.position.x = cairn_random_unit(random) * 100.0f - 50.0f;
    body.linear_velocity.y = cairn_random_unit(random) - 0.5f;
    body.flags = (uint32_t)cairn_random_below(random, 6);
    return body;
}

static bodies random_bodies(cairn_random *random, const bodies *like) {
    bodies b = {.count = 0};
    for (uint32_t index = 1, k = 0; index <= BODIES_MAX; ++index) {
        const bool was = k < like->count && cairn_id_index(like->list[k].id) + 1 == index;
        const uint64_t fate = cairn_random_below(random, 4);
        if (fate > 1 && was) {
            b.list[b.count++] = like->list[k];
        } else if (fate == 1) {
            b.list[b.count++] = random_body(random, index);
        }
        k += was;
    }
    return b;
}

TEST("the deltas of a thousand random worlds are exact") {
    cairn_random random = cairn_random_of(1);
    bodies from = {.count = 0};
    for (int i = 0; i < 1000; ++i) {
        const bodies to = random_bodies(&random, &from);
        expect_exact(&from, &to);
        from = to;
    }
}

static void expect_refusal_or_valid_bodies(
    const bodies *from, const uint8_t *payload, size_t size) {
    bodies result;
    const char *where;
    if (apply(from, payload, size, &result, &where) == CAIRN_OK) {
        expect_exact(from, &result);
    } else {
        assert_int_equal(result.count, 0);
        assert_string_not_equal(where, "");
    }
}

TEST("a payload with a changed bit or a cut is refused or gives valid bodies") {
    cairn_random random = cairn_random_of(2);
    const bodies none = {.count = 0};
    const bodies from = random_bodies(&random, &none);
    const bodies to = random_bodies(&random, &from);
    uint8_t payload[PAYLOAD_MAX];
    const size_t size = encode(&from, &to, payload);
    for (size_t i = 0; i < size * 8; ++i) {
        payload[i / 8] ^= (uint8_t)(1u << i % 8);
        expect_refusal_or_valid_bodies(&from, payload, size);
        payload[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t cut = 0; cut < size; ++cut) {
        expect_refusal_or_valid_bodies(&from, payload, cut);
    }
}

#define PAYLOAD(...) {__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

TEST("every refusal says what is wrong") {
    static const struct {
        uint8_t bytes[16];
        size_t size;
        const char *where;
    } cases[] = {
        // Against two bodies of indices 1 and 3.
        {{0}, 0, "the payload has no complete record"},
        {PAYLOAD(0x82), "the payload has no complete record"},
        {PAYLOAD(0xff, 0xff, 0xff, 0xff, 0x10), "the payload has no complete record"},
        {PAYLOAD(0x82, 0x80, 0x80, 0x80, 0x80, 0x00), "the payload has no complete record"},
        {PAYLOAD(1), "the records end before the baseline"},
        {PAYLOAD(3), "a record keeps more bodies than the baseline has"},
        {PAYLOAD(2, 3, 0), "unknown kind of record"},
        {PAYLOAD(2, 0, 0), "a record refers to a body beyond the end of the baseline"},
        {PAYLOAD(2, 2, 1, 0, 0, 0, 0), "a record refers to a body beyond the end of the baseline"},
        {PAYLOAD(0, 2, 0, 0, 1), "the mask of changed words is empty"},
        {PAYLOAD(0, 2, 1, 0, 0), "a record is cut short"},
        {PAYLOAD(0, 1, 5), "a record is cut short"},
        {PAYLOAD(0, 2, 1, 0, 0, 4, 1), "ticks or ids are out of order"},     // id 1 + 2
        {PAYLOAD(0, 2, 1, 0, 0, 1, 1), "a value is out of range"},           // id 1 - 1
        {PAYLOAD(0, 2, 2, 0, 0, 4, 1), "a value is out of range"},           // flags 5 + 2
        {PAYLOAD(0, 2, 4, 0, 3, 0, 0, 0, 0x80, 1), "a float is not finite"}, // 1.0f + 2^30
    };
    const bodies from = bodies_of(2);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        bodies result;
        const char *where;
        assert_int_equal(
            apply(&from, cases[i].bytes, cases[i].size, &result, &where), CAIRN_MALFORMED);
        assert_string_equal(where, cases[i].where);
    }
}

TEST("room for exactly the resulting bodies is enough") {
    const bodies from = bodies_of(4);
    uint8_t payload[PAYLOAD_MAX];
    const size_t size = encode(&from, &from, payload);
    cairn_snapshot_body out[4];
    uint32_t count;
    assert_int_equal(
        cairn_delta_apply(from.list, from.count, payload, size, out, 4, &count, NULL), CAIRN_OK);
    assert_int_equal(count, 4);
}

TEST("a result beyond the capacity is refused with CAPACITY") {
    const bodies from = bodies_of(4);
    bodies to = from;
    to.list[to.count++] = body_of(100);
    uint8_t payload[PAYLOAD_MAX];
    const size_t size = encode(&from, &to, payload);
    cairn_snapshot_body out[4];
    for (uint32_t room = 0; room <= 4; ++room) {
        uint32_t count = 9;
        assert_int_equal(
            cairn_delta_apply(from.list, from.count, payload, size, out, room, &count, NULL),
            CAIRN_CAPACITY);
        assert_int_equal(count, 0);
    }
}

TEST("a payload that does not fit is not written") {
    const bodies from = bodies_of(2);
    const bodies to = bodies_of(8);
    uint8_t payload[PAYLOAD_MAX];
    const size_t size = encode(&from, &to, payload);
    for (size_t room = 0; room < size; ++room) {
        uint8_t *exact = kit_exact_copy(payload, room);
        assert_int_equal(
            cairn_delta_encode(from.list, from.count, to.list, to.count, exact, room), 0);
        free(exact);
    }
}

TEST("words that changed are packed, and nothing costs nothing") {
    enum { COUNT = 300 };
    static const struct {
        uint32_t at, change;
        size_t size; // of the payload
    } rows[] = {{0, 1, 2}, {0, UINT32_MAX, 2}, {5, 63, 2}, {5, 64, 3}, {200, 1, 3},
        {299, 0x7fffffff, 7}, {7, 0x80000000, 6}};
    uint32_t before[COUNT];
    uint32_t after[COUNT];
    uint32_t read[COUNT];
    uint8_t bytes[6 * COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        before[i] = i * 2654435761u;
    }
    assert_int_equal(cairn_words_encode(before, before, COUNT, bytes, sizeof bytes), 0);
    assert_int_equal(cairn_words_apply(before, COUNT, NULL, 0, read), CAIRN_OK);
    assert_memory_equal(before, read, sizeof read);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        memcpy(after, before, sizeof after);
        after[rows[i].at] += rows[i].change;
        const size_t size = cairn_words_encode(before, after, COUNT, bytes, sizeof bytes);
        assert_int_equal(size, rows[i].size);
        assert_int_equal(cairn_words_apply(before, COUNT, bytes, size, read), CAIRN_OK);
        assert_memory_equal(after, read, sizeof read);
        assert_int_equal(cairn_words_apply(before, COUNT, bytes, size - 1, read), CAIRN_MALFORMED);
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        after[i] = ~before[i] + i; // every word, by much
    }
    const size_t size = cairn_words_encode(before, after, COUNT, bytes, sizeof bytes);
    assert_int_equal(cairn_words_apply(before, COUNT, bytes, size, read), CAIRN_OK);
    assert_memory_equal(after, read, sizeof read);
}

TEST("words beyond the end and changes by nothing are refused") {
    static const struct {
        uint8_t bytes[6];
        size_t size;
    } rows[] = {{{3, 2}, 2}, {{0, 0}, 2}, {{0x80, 0x80, 0x80, 0x80, 0x80, 1}, 6}, {{1}, 1},
        {{2, 2, 0, 2}, 4}};
    const uint32_t before[3] = {1, 2, 3};
    uint32_t after[3];
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_int_equal(
            cairn_words_apply(before, 3, rows[i].bytes, rows[i].size, after), CAIRN_MALFORMED);
    }
    assert_int_equal(cairn_words_apply(before, 0, rows[0].bytes, 2, after), CAIRN_MALFORMED);
}
