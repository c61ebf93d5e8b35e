// SPDX-License-Identifier: MIT
// An encoded state never changes; clients share it while it is recent enough for them, and the room
// is not encoded more often than its interval.
#include "tests/kit/test.h"

#include "base/assert.h"
#include "server/replicate/state_transfer.h"

#define SPAN_NS (16 * CAIRN_NS_PER_S)
#define READERS_MAX 4

typedef struct fixture {
    cairn_world *world;
    cairn_state_source source;
    cairn_encoded_state *readers[READERS_MAX];
    uint64_t now_ns;
} fixture;

static fixture create_fixture(size_t capacity) {
    fixture s = {.now_ns = 1};
    const cairn_world_def def = cairn_world_def_default();
    assert_int_equal(cairn_world_create(&def, &s.world), CAIRN_OK);
    s.source = cairn_state_source_of(capacity, SPAN_NS);
    return s;
}

static void leave(fixture *s, uint32_t reader) {
    if (s->readers[reader] != NULL) {
        cairn_state_source_release(&s->source, s->readers[reader]);
        s->readers[reader] = NULL;
    }
}

static void destroy_fixture(fixture *s) {
    for (uint32_t i = 0; i < READERS_MAX; ++i) {
        leave(s, i);
    }
    cairn_state_source_destroy(&s->source);
    cairn_world_destroy(s->world);
}

SCOPE_ENDS(fixture, destroy_fixture)

static void step(fixture *s, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; ++i) {
        cairn_world_step(s->world, NULL, 0);
    }
}

static cairn_status join(fixture *s, uint32_t reader, uint64_t tick_min, uint64_t tick_fresh) {
    const cairn_state_demand demand = {.tick_min = tick_min, .tick_fresh = tick_fresh};
    CAIRN_ASSERT(s->readers[reader] == NULL);
    return cairn_state_source_join(&s->source, s->world, s->now_ns, &demand, &s->readers[reader]);
}

TEST("a single reader gets the current world") {
    SCOPED(fixture) s = create_fixture(1 << 20);
    step(&s, 5);
    assert_int_equal(join(&s, 0, 0, 5), CAIRN_OK);
    assert_int_equal(s.readers[0]->tick, 5);
    cairn_world_def def;
    char rules[32];
    assert_int_equal(
        cairn_world_def_of_encoding(s.readers[0]->bytes, s.readers[0]->size, &def, rules),
        CAIRN_OK);
}

TEST("readers share a state that is recent enough for them") {
    static const struct {
        uint64_t tick_min, tick_fresh;
        bool due; // the interval is over
        cairn_status status;
        uint64_t tick; // of the state
    } rows[] = {{0, 100, false, CAIRN_OK, 100}, {0, 101, false, CAIRN_OK, 100},
        {100, 160, false, CAIRN_OK, 100}, {101, 160, false, CAIRN_NOT_READY, 0},
        {0, 100, true, CAIRN_OK, 100}, {0, 101, true, CAIRN_OK, 160},
        {160, 160, true, CAIRN_OK, 160}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        SCOPED(fixture) s = create_fixture(1 << 20);
        step(&s, 100);
        assert_int_equal(join(&s, 0, 0, 0), CAIRN_OK);
        step(&s, 60);
        s.now_ns += CAIRN_STATE_INTERVAL_NS - (rows[i].due ? 0 : 1);
        assert_int_equal(join(&s, 1, rows[i].tick_min, rows[i].tick_fresh), rows[i].status);
        assert_true((s.readers[1] != NULL) == (rows[i].status == CAIRN_OK));
        assert_int_equal(s.readers[1] != NULL ? s.readers[1]->tick : 0, rows[i].tick);
        assert_true((s.readers[1] == s.readers[0]) == (rows[i].tick == 100));
    }
}

TEST("a new encoding changes nothing for those that read an older one") {
    SCOPED(fixture) s = create_fixture(1 << 20);
    for (uint32_t i = 0; i < READERS_MAX; ++i) {
        const uint64_t tick = cairn_world_tick(s.world);
        assert_int_equal(join(&s, i, tick, tick), CAIRN_OK);
        s.now_ns += CAIRN_STATE_INTERVAL_NS;
        step(&s, 1);
    }
    assert_int_equal(s.source.held, READERS_MAX);
    for (uint32_t i = 0; i < READERS_MAX; ++i) {
        cairn_world *world = NULL;
        assert_int_equal(s.readers[i]->tick, i);
        assert_int_equal(cairn_world_fork(s.world, &world), CAIRN_OK);
        assert_int_equal(
            cairn_world_decode(world, s.readers[i]->bytes, s.readers[i]->size, NULL), CAIRN_OK);
        assert_int_equal(cairn_world_tick(world), i);
        cairn_world_destroy(world);
        leave(&s, i);
    }
    assert_int_equal(s.source.held, 1);
}

TEST("a world that was replaced is encoded at once and its old states still read") {
    SCOPED(fixture) s = create_fixture(1 << 20);
    step(&s, 9);
    assert_int_equal(join(&s, 0, 0, 9), CAIRN_OK);
    cairn_state_source_invalidate(&s.source);
    assert_int_equal(join(&s, 1, 0, 0), CAIRN_OK);
    assert_true(s.readers[0] != s.readers[1]);
    assert_int_equal(s.readers[0]->tick, 9);
    assert_int_equal(s.source.held, 2);
}

TEST("large states are encoded less often") {
    SCOPED(fixture) s = create_fixture(1 << 20);
    s.source.span_ns = UINT64_C(1) << 62;
    assert_int_equal(join(&s, 0, 0, 0), CAIRN_OK);
    const uint64_t states_max = s.source.span_ns / s.source.interval_ns + 1;
    assert_true(states_max * s.readers[0]->size <= CAIRN_STATES_SIZE_MAX + s.readers[0]->size);
}

TEST("a state larger than the buffer is refused and its reader not counted") {
    SCOPED(fixture) s = create_fixture(16);
    assert_int_equal(join(&s, 0, 0, 0), CAIRN_CAPACITY);
    assert_null(s.readers[0]);
    assert_int_equal(s.source.held, 0);
}
