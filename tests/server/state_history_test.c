// SPDX-License-Identifier: MIT
// The states of a room's last ticks: which are held, which are not, and the memory they may take.

#include "tests/sim/world_kit.h"

#include "server/room/state_history.h"

enum { TICKS = 40 };

typedef struct fixture {
    cairn_state_history *state_history;
    cairn_world *world;
    cairn_world *scratch;
    cairn_hash128 roots[TICKS + 1]; // by tick
} fixture;

static fixture create_fixture(uint32_t ticks_max, size_t bytes_max) {
    fixture s = {.world = kit_world(NULL), .scratch = kit_world(NULL)};
    assert_int_equal(cairn_state_history_create(ticks_max, bytes_max, &s.state_history), CAIRN_OK);
    kit_ground(s.world);
    kit_sphere(s.world, vec3(0.0f, 3.0f, 0.0f), 0.5f);
    return s;
}

static void destroy_fixture(fixture *s) {
    cairn_state_history_destroy(s->state_history);
    cairn_world_destroy(s->world);
    cairn_world_destroy(s->scratch);
}

SCOPE_ENDS(fixture, destroy_fixture)

static void step(fixture *s, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; ++i) {
        kit_run(s->world, 1);
        s->roots[cairn_world_tick(s->world)] = kit_hash(s->world);
        cairn_state_history_save(s->state_history, s->world);
    }
}

static void expect_held(fixture *s, uint64_t oldest, uint64_t newest) {
    const cairn_state_history_statistics statistics =
        cairn_state_history_statistics_read(s->state_history);
    assert_int_equal(statistics.ticks, newest - oldest + 1);
    assert_int_equal(statistics.oldest, oldest);
    assert_int_equal(statistics.newest, newest);
    assert_false(cairn_state_history_holds(s->state_history, oldest - 1));
    assert_false(cairn_state_history_holds(s->state_history, newest + 1));
    for (uint64_t tick = oldest; tick <= newest; ++tick) {
        assert_true(cairn_state_history_holds(s->state_history, tick));
        assert_int_equal(cairn_state_history_load(s->state_history, tick, s->scratch), CAIRN_OK);
        assert_int_equal(cairn_world_tick(s->scratch), tick);
        assert_true(cairn_hash_equal(kit_hash(s->scratch), s->roots[tick]));
    }
}

static void expect_nothing(const fixture *s) {
    const cairn_state_history_statistics statistics =
        cairn_state_history_statistics_read(s->state_history);
    assert_int_equal(statistics.ticks, 0);
    assert_int_equal(statistics.bytes, 0);
}

TEST("no state is kept until a client needs it") {
    SCOPED(fixture) s = create_fixture(16, SIZE_MAX);
    step(&s, 5);
    expect_nothing(&s);
    assert_false(cairn_state_history_holds(s.state_history, 0));
    assert_int_equal(cairn_state_history_load(s.state_history, 5, s.scratch), CAIRN_NOT_FOUND);
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_RESYNC, 8);
    step(&s, 3);
    expect_held(&s, 6, 8);
}

TEST("the last ticks are held and older ones are dropped") {
    SCOPED(fixture) s = create_fixture(16, SIZE_MAX);
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_LAG, 7);
    for (uint32_t tick = 1; tick <= TICKS; ++tick) {
        step(&s, 1);
        expect_held(&s, tick > 7 ? tick - 6 : 1, tick);
    }
    assert_int_equal(
        cairn_state_history_load(s.state_history, TICKS - 7, s.scratch), CAIRN_NOT_FOUND);
    assert_int_equal(
        cairn_state_history_load(s.state_history, TICKS + 1, s.scratch), CAIRN_NOT_FOUND);
    assert_int_equal(
        cairn_state_history_load(s.state_history, UINT64_MAX, s.scratch), CAIRN_NOT_FOUND);
}

TEST("the longest requirement counts, within the limit") {
    SCOPED(fixture) s = create_fixture(10, SIZE_MAX);
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_LAG, 4);
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_RESYNC, 1000);
    step(&s, 20);
    expect_held(&s, 11, 20);
    const size_t before = cairn_state_history_statistics_read(s.state_history).bytes;
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_RESYNC, 0);
    expect_held(&s, 17, 20);
    assert_true(cairn_state_history_statistics_read(s.state_history).bytes < before);
    step(&s, 2);
    expect_held(&s, 19, 22);
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_LAG, 0);
    expect_nothing(&s);
}

TEST("states take at most the given number of bytes") {
    SCOPED(fixture) s = create_fixture(16, 0);
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_RESYNC, 16);
    step(&s, 3);
    expect_nothing(&s);
    assert_int_equal(cairn_state_history_statistics_read(s.state_history).saves_refused, 3);
    destroy_fixture(&s);

    // What three of sixteen states take.
    s = create_fixture(16, SIZE_MAX);
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_RESYNC, 16);
    step(&s, 3);
    const size_t bound = cairn_state_history_statistics_read(s.state_history).memory + 2000;
    cairn_state_history_destroy(s.state_history);
    assert_int_equal(cairn_state_history_create(16, bound, &s.state_history), CAIRN_OK);
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_RESYNC, 16);
    step(&s, 20);
    const cairn_state_history_statistics small =
        cairn_state_history_statistics_read(s.state_history);
    assert_true(small.ticks >= 3 && small.ticks < 16 && small.memory <= bound);
    expect_held(&s, 24 - small.ticks, 23);
    // The state grows beyond the bound.
    uint32_t grown = 0;
    while (cairn_state_history_statistics_read(s.state_history).ticks > 0 && grown < 300) {
        for (uint32_t i = 0; i < 20; ++i) {
            kit_sphere(s.world, vec3(3.0f * (float)++grown, 3.0f, (float)i), 0.5f);
        }
        step(&s, 1);
        assert_true(cairn_state_history_statistics_read(s.state_history).memory <= bound);
    }
    assert_int_equal(cairn_state_history_statistics_read(s.state_history).ticks, 0);
    assert_int_equal(cairn_state_history_statistics_read(s.state_history).saves_refused, 1);
}

TEST("states of constant size allocate no more memory") {
    SCOPED(fixture) s = create_fixture(8, SIZE_MAX);
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_RESYNC, 8);
    step(&s, 20);
    const size_t memory = cairn_state_history_statistics_read(s.state_history).memory;
    step(&s, 20);
    assert_int_equal(cairn_state_history_statistics_read(s.state_history).memory, memory);
}

// A world that was put elsewhere in time has no past but its own.
TEST("a jump in time drops the old states") {
    SCOPED(fixture) s = create_fixture(16, SIZE_MAX);
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_CONTROL, 16);
    step(&s, 10);
    kit_bytes saved = kit_save(s.world);
    step(&s, 5);
    assert_int_equal(cairn_world_load(s.world, saved.bytes, saved.size), CAIRN_OK);
    cairn_state_history_save(s.state_history, s.world);
    expect_held(&s, 10, 10);
    step(&s, 3);
    expect_held(&s, 10, 13);
    cairn_state_history_clear(s.state_history);
    assert_int_equal(cairn_state_history_statistics_read(s.state_history).ticks, 0);
    step(&s, 1);
    expect_held(&s, 14, 14);
    kit_free(&saved);
}

TEST("one tick is a requirement, and one state that is held is old after a jump") {
    SCOPED(fixture) s = create_fixture(16, SIZE_MAX);
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_LAG, 1);
    cairn_state_history_clear(s.state_history);
    assert_int_equal(cairn_state_history_generation(s.state_history), 0); // it held none
    step(&s, 1);
    expect_held(&s, 1, 1);
    step(&s, 3);
    expect_held(&s, 4, 4);
    cairn_state_history_clear(s.state_history);
    assert_int_equal(cairn_state_history_generation(s.state_history), 1);
    expect_nothing(&s);
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_LAG, 8);
    step(&s, 1);
    kit_run(s.world, 2); // not kept
    step(&s, 1);
    expect_held(&s, 8, 8);
    assert_int_equal(cairn_state_history_generation(s.state_history), 2);
}

TEST("a history that is made like another keeps as many states, and can take its place") {
    SCOPED(fixture) s = create_fixture(16, SIZE_MAX);
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_LAG, 4);
    cairn_state_history *like = NULL;
    assert_int_equal(cairn_state_history_create_like(s.state_history, &like), CAIRN_OK);
    cairn_state_history_destroy(s.state_history);
    s.state_history = like;
    expect_nothing(&s);
    step(&s, 10);
    expect_held(&s, 7, 10);
}

TEST("a state is not loaded into a world with other settings") {
    SCOPED(fixture) s = create_fixture(16, SIZE_MAX);
    cairn_world_def def = cairn_world_def_default();
    def.seed = 9;
    cairn_world *other = kit_world(&def);
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_RESYNC, 4);
    step(&s, 4);
    assert_int_equal(cairn_state_history_load(s.state_history, 3, other), CAIRN_MALFORMED);
    assert_int_equal(cairn_world_tick(other), 0);
    cairn_world_destroy(other);
}

TEST("a history of no ticks is refused") {
    cairn_state_history *past = NULL;
    assert_int_equal(cairn_state_history_create(0, SIZE_MAX, &past), CAIRN_INVALID_ARGUMENT);
    assert_null(past);
}
