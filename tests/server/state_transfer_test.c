// SPDX-License-Identifier: MIT
// One encoding serves all readers while it is fresh or being read, and never delays a new one.
#include "tests/kit/test.h"

#include "server/replicate/state_transfer.h"

#define FRESH 10
#define USABLE 100

typedef struct fixture {
    cairn_world *world;
    cairn_state_source transfer;
} fixture;

static fixture create_fixture(size_t capacity) {
    fixture s = {0};
    const cairn_world_def def = cairn_world_def_default();
    assert_int_equal(cairn_world_create(&def, &s.world), CAIRN_OK);
    assert_int_equal(cairn_state_source_create(capacity, &s.transfer), CAIRN_OK);
    return s;
}

static void destroy_fixture(fixture *s) {
    cairn_state_source_destroy(&s->transfer);
    cairn_world_destroy(s->world);
}

SCOPE_ENDS(fixture, destroy_fixture)

static void step(fixture *s, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; ++i) {
        cairn_world_step(s->world, NULL, 0);
    }
}

static cairn_status join(fixture *s) {
    return cairn_state_source_join(&s->transfer, s->world, FRESH, USABLE);
}

TEST("a single reader gets the current world") {
    SCOPED(fixture) s = create_fixture(1 << 20);
    step(&s, 5);
    assert_int_equal(join(&s), CAIRN_OK);
    assert_int_equal(s.transfer.tick, 5);
    assert_int_equal(s.transfer.generation, 1);
    cairn_world_def def;
    char rules[32];
    assert_int_equal(
        cairn_world_def_of_encoding(s.transfer.bytes, s.transfer.size, &def, rules), CAIRN_OK);
}

TEST("readers share a state that is fresh or being sent") {
    static const struct {
        uint32_t age;
        bool read;
        uint32_t generation;
    } rows[] = {{0, false, 1}, {FRESH, false, 1}, {FRESH + 1, false, 2}, {FRESH + 1, true, 1},
        {USABLE, true, 1}, {USABLE + 1, true, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        SCOPED(fixture) s = create_fixture(1 << 20);
        assert_int_equal(join(&s), CAIRN_OK);
        if (!rows[i].read) {
            cairn_state_source_leave(&s.transfer);
        }
        step(&s, rows[i].age);
        assert_int_equal(join(&s), CAIRN_OK);
        assert_int_equal(s.transfer.generation, rows[i].generation);
        assert_int_equal(s.transfer.tick, rows[i].generation == 1 ? 0 : rows[i].age);
        assert_int_equal(s.transfer.readers, rows[i].read ? 2 : 1);
    }
}

TEST("a state larger than the buffer is refused and its reader not counted") {
    SCOPED(fixture) s = create_fixture(16);
    assert_int_equal(join(&s), CAIRN_CAPACITY);
    assert_int_equal(s.transfer.readers, 0);
    assert_int_equal(s.transfer.generation, 0);
}
