// SPDX-License-Identifier: MIT
// An encoded state never changes; clients share it while it is recent enough for them, and the room
// is not encoded more often than its interval.
#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "compress/state_packer.h"
#include "server/core/server_state.h"
#include "server/replicate/state_transfer.h"

#define SPAN_NS (16 * CAIRN_NS_PER_S)
#define READERS_MAX 4

// Replaces that of the system (CMakeLists.txt).
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

static bool lacks_memory;

void *__wrap_malloc(size_t size) {
    return lacks_memory ? NULL : __real_malloc(size);
}

typedef struct fixture {
    cairn_world *world;
    cairn_state_source source;
    cairn_task_runner runner;
    cairn_server_task *task; // held back; NULL: none
    cairn_encoded_state *readers[READERS_MAX];
    uint64_t now_ns;
} fixture;

static fixture *create_fixture(size_t capacity) {
    fixture *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->now_ns = 1;
    const cairn_world_def def = cairn_world_def_default();
    assert_int_equal(cairn_world_create(&def, &s->world), CAIRN_OK);
    s->source = cairn_state_source_of(capacity, SPAN_NS, &s->runner);
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
    free(s);
}

SCOPE_POINTER_ENDS(fixture, destroy_fixture)

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

// The encoding of a state, whether it is packed or not.
static uint8_t *bytes_of(const cairn_encoded_state *state) {
    uint8_t *bytes = malloc(state->size);
    assert_non_null(bytes);
    if (state->packed_size > 0) {
        assert_true(cairn_state_unpack(state->packed, state->packed_size, bytes, state->size));
    } else {
        memcpy(bytes, state->bytes, state->size);
    }
    return bytes;
}

TEST("a single reader gets the current world") {
    SCOPED(fixture) *s = create_fixture(1 << 20);
    step(s, 5);
    assert_int_equal(join(s, 0, 0, 5), CAIRN_OK);
    assert_int_equal(s->readers[0]->tick, 5);
    assert_in_range(s->readers[0]->packed_size, 1, s->readers[0]->size - 1);
    cairn_world_def def;
    char rules[32];
    uint8_t *bytes = bytes_of(s->readers[0]);
    assert_int_equal(
        cairn_world_def_of_encoding(bytes, s->readers[0]->size, &def, rules), CAIRN_OK);
    free(bytes);
}

static bool hold_back(void *user, cairn_server_task *task) {
    fixture *s = user;
    assert_null(s->task);
    s->task = task;
    return true;
}

static void end_task(fixture *s) {
    cairn_server_task *task = s->task;
    s->task = NULL;
    cairn_server_task_run(task);
    task->out = false;
    task->done(task);
}

static void hold_tasks_back(fixture *s) {
    s->runner = (cairn_task_runner){.run_task = hold_back, .user = s};
}

// One finds memory for a copy of the world; the other one encodes and packs the copy.
TEST("a state is read when both its tasks are done") {
    SCOPED(fixture) *s = create_fixture(1 << 20);
    hold_tasks_back(s);
    assert_int_equal(join(s, 0, 0, 0), CAIRN_NOT_READY);
    assert_int_equal(s->source.encoded, 0);
    assert_int_equal(join(s, 0, 0, 0), CAIRN_NOT_READY);
    end_task(s);
    step(s, 3); // the state is of the tick at which the world was copied
    assert_int_equal(join(s, 0, 0, 0), CAIRN_NOT_READY);
    assert_int_equal(s->source.encoded, 1);
    step(s, 1);
    assert_int_equal(join(s, 0, 0, 0), CAIRN_NOT_READY);
    end_task(s);
    assert_int_equal(join(s, 0, 0, 0), CAIRN_OK);
    assert_int_equal(s->readers[0]->tick, 3);
    assert_true(s->readers[0]->packed_size > 0);
    assert_null(s->readers[0]->bytes); // nobody reads them
    assert_int_equal(s->source.encoded, 1);
}

// The first, or the second.
TEST("a state is sent as it is while a task hangs") {
    for (uint32_t ended = 0; ended < 2; ++ended) {
        SCOPED(fixture) *s = create_fixture(1 << 20);
        hold_tasks_back(s);
        assert_int_equal(join(s, 0, 0, 0), CAIRN_NOT_READY);
        if (ended > 0) {
            end_task(s);
            assert_int_equal(join(s, 0, 0, 0), CAIRN_NOT_READY);
        }
        s->now_ns += CAIRN_STATE_PACK_NS;
        assert_int_equal(join(s, 0, 0, 0), CAIRN_OK);
        assert_int_equal(s->readers[0]->packed_size, 0);
        // The next one does not wait for a task that may never come back.
        s->now_ns += CAIRN_STATE_INTERVAL_NS;
        step(s, 60);
        assert_int_equal(join(s, 1, 60, 60), CAIRN_OK);
        assert_int_equal(s->readers[1]->packed_size, 0);
        end_task(s);
        assert_non_null(s->readers[0]->bytes);
        assert_int_equal(s->readers[0]->references, 1);
        s->now_ns += CAIRN_STATE_INTERVAL_NS;
        step(s, 60);
        for (uint32_t task = 0; task <= ended; ++task) { // memory that was found is used
            assert_int_equal(join(s, 2, 120, 120), CAIRN_NOT_READY);
            end_task(s);
        }
        assert_int_equal(join(s, 2, 120, 120), CAIRN_OK);
        assert_true(s->readers[2]->packed_size > 0);
    }
}

TEST("a room may end, or get another world, while its state is being made") {
    for (uint32_t ended = 0; ended < 3; ++ended) {
        fixture *s = create_fixture(1 << 20);
        hold_tasks_back(s);
        assert_int_equal(join(s, 0, 0, 0), CAIRN_NOT_READY);
        if (ended > 0) {
            end_task(s);
        }
        if (ended > 1) {
            assert_int_equal(join(s, 0, 0, 0), CAIRN_NOT_READY);
        }
        if (ended % 2 == 0) {
            cairn_server_task *old = s->task;
            s->task = NULL;
            cairn_state_source_invalidate(&s->source);
            step(s, 7);
            assert_int_equal(join(s, 0, 0, 0), CAIRN_NOT_READY);
            cairn_server_task *task = s->task;
            s->task = old;
            end_task(s);
            s->task = task;
            end_task(s);
            assert_int_equal(join(s, 0, 0, 0), CAIRN_NOT_READY);
            end_task(s);
            assert_int_equal(join(s, 0, 0, 0), CAIRN_OK);
            assert_int_equal(s->readers[0]->tick, 7);
            leave(s, 0);
        }
        cairn_state_source_destroy(&s->source);
        if (s->task != NULL) {
            end_task(s);
        }
        destroy_fixture(s);
    }
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
        SCOPED(fixture) *s = create_fixture(1 << 20);
        step(s, 100);
        assert_int_equal(join(s, 0, 0, 0), CAIRN_OK);
        step(s, 60);
        s->now_ns += CAIRN_STATE_INTERVAL_NS - (rows[i].due ? 0 : 1);
        assert_int_equal(join(s, 1, rows[i].tick_min, rows[i].tick_fresh), rows[i].status);
        assert_true((s->readers[1] != NULL) == (rows[i].status == CAIRN_OK));
        assert_int_equal(s->readers[1] != NULL ? s->readers[1]->tick : 0, rows[i].tick);
        assert_true((s->readers[1] == s->readers[0]) == (rows[i].tick == 100));
    }
}

TEST("a new encoding changes nothing for those that read an older one") {
    SCOPED(fixture) *s = create_fixture(1 << 20);
    for (uint32_t i = 0; i < READERS_MAX; ++i) {
        const uint64_t tick = cairn_world_tick(s->world);
        assert_int_equal(join(s, i, tick, tick), CAIRN_OK);
        s->now_ns += CAIRN_STATE_INTERVAL_NS;
        step(s, 1);
    }
    assert_int_equal(s->source.held, READERS_MAX);
    for (uint32_t i = 0; i < READERS_MAX; ++i) {
        cairn_world *world = NULL;
        assert_int_equal(s->readers[i]->tick, i);
        assert_int_equal(cairn_world_fork(s->world, &world), CAIRN_OK);
        uint8_t *bytes = bytes_of(s->readers[i]);
        assert_int_equal(cairn_world_decode(world, bytes, s->readers[i]->size, NULL), CAIRN_OK);
        free(bytes);
        assert_int_equal(cairn_world_tick(world), i);
        cairn_world_destroy(world);
        leave(s, i);
    }
    assert_int_equal(s->source.held, 1);
}

TEST("a world that was replaced is encoded at once and its old states still read") {
    SCOPED(fixture) *s = create_fixture(1 << 20);
    step(s, 9);
    assert_int_equal(join(s, 0, 0, 9), CAIRN_OK);
    cairn_state_source_invalidate(&s->source);
    assert_int_equal(join(s, 1, 0, 0), CAIRN_OK);
    assert_true(s->readers[0] != s->readers[1]);
    assert_int_equal(s->readers[0]->tick, 9);
    assert_int_equal(s->source.held, 2);
}

TEST("large states are encoded less often") {
    SCOPED(fixture) *s = create_fixture(1 << 20);
    s->source.span_ns = UINT64_C(1) << 62;
    assert_int_equal(join(s, 0, 0, 0), CAIRN_OK);
    const uint64_t states_max = s->source.span_ns / s->source.interval_ns + 1;
    assert_true(states_max * s->readers[0]->size <= CAIRN_STATES_SIZE_MAX + s->readers[0]->size);
}

TEST("a state larger than the buffer is refused and its reader not counted") {
    SCOPED(fixture) *s = create_fixture(16);
    assert_int_equal(join(s, 0, 0, 0), CAIRN_CAPACITY);
    assert_null(s->readers[0]);
    assert_int_equal(s->source.held, 0);
}

TEST("a state that is given up half-way counts as not sent") {
    SCOPED(fixture) *s = create_fixture(1 << 20);
    assert_int_equal(join(s, 0, 0, 0), CAIRN_OK);
    cairn_state_transfer_progress progress = {.reading = s->readers[0], .offset = 8};
    s->readers[0] = NULL;
    cairn_state_transfer_abandon(&s->source, &progress);
    assert_null(progress.reading);
    assert_false(progress.sent);
    cairn_state_transfer_abandon(&s->source, &progress); // of none as well
    assert_false(progress.sent);
}

TEST("a piece that the link has no memory for is sent when it has") {
    SCOPED(fixture) *s = create_fixture(1 << 20);
    const cairn_link_config config = cairn_link_config_default();
    cairn_server_context context = {.now_ns = 1};
    cairn_room room = {.world = s->world};
    uint64_t due_ns = 0;
    cairn_session session = {.room = &room, .slot = CAIRN_SLOT_NONE, .due_ns = &due_ns};
    assert_int_equal(cairn_link_create(&config, 1, &session.link), CAIRN_OK);
    assert_int_equal(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &context.encoder), CAIRN_OK);
    for (uint32_t i = 0; i < 64; ++i) { // more than a link takes without more memory
        const cairn_body_def body = cairn_body_def_default();
        cairn_body_id made;
        assert_int_equal(cairn_body_create(s->world, &body, &made), CAIRN_OK);
    }
    hold_tasks_back(s);
    assert_int_equal(join(s, 0, 0, 0), CAIRN_NOT_READY);
    s->now_ns += CAIRN_STATE_PACK_NS;
    assert_int_equal(join(s, 0, 0, 0), CAIRN_OK);
    cairn_state_transfer_progress progress = {.reading = s->readers[0]};
    s->readers[0] = NULL;
    const size_t size = progress.reading->size;
    lacks_memory = true;
    cairn_state_transfer_continue(&context, &session, &s->source, &progress);
    lacks_memory = false;
    assert_non_null(progress.reading);
    assert_int_equal(room.statistics.state_bytes, progress.offset);
    assert_true(progress.offset < size && !progress.sent);
    cairn_state_transfer_continue(&context, &session, &s->source, &progress);
    assert_null(progress.reading);
    assert_true(progress.sent);
    assert_int_equal(room.statistics.state_bytes, size);
    end_task(s);
    cairn_encoder_destroy(context.encoder);
    cairn_link_destroy(session.link);
}

TEST("states that are read although they are old take 64 MiB together, each counted once") {
    enum { STATES = 3 };
    cairn_state_source source = cairn_state_source_of(1024, CAIRN_NS_PER_S, NULL);
    cairn_encoded_state *states[STATES];
    for (uint32_t i = 0; i < STATES; ++i) {
        states[i] = calloc(1, sizeof *states[i]);
        assert_non_null(states[i]);
        *states[i] = (cairn_encoded_state){.source = &source,
            .references = 2,
            .size = 2 * CAIRN_OLD_STATES_SIZE_MAX,
            .packed_size = CAIRN_OLD_STATES_SIZE_MAX / 2};
        source.held += 1;
    }
    assert_true(cairn_state_source_keep(&source, states[0]));
    assert_true(cairn_state_source_keep(&source, states[0]));
    assert_true(cairn_state_source_keep(&source, states[1]));
    assert_false(cairn_state_source_keep(&source, states[2]));
    assert_true(cairn_state_source_keep(&source, states[1]));
    cairn_state_source_release(&source, states[0]);
    assert_false(cairn_state_source_keep(&source, states[2])); // somebody reads it still
    cairn_state_source_release(&source, states[0]);
    assert_true(cairn_state_source_keep(&source, states[2]));
    for (uint32_t i = 2; i < 2 * STATES; ++i) {
        cairn_state_source_release(&source, states[i / 2]);
    }
    assert_int_equal(source.old_size, 0);
    cairn_state_source_destroy(&source);
}
