// SPDX-License-Identifier: MIT
// A timeline that corrects past ticks in part is at every moment equal to one that goes back and
// steps the whole world again: roots, states and events, while confirmations are late, come
// together and differ from what was predicted.

#include "tests/kit/test.h"

#include "client_lib/simulate/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "tests/kit/watched.h"

SCOPE_POINTER_ENDS(cairn_world, cairn_world_destroy)

enum { COLUMNS = 24, LAYERS = 3, TICKS = 160, AHEAD_MAX = 10, EVENTS_MAX = 4096 };
enum { SEEDS = KIT_WATCHED ? 2 : 8 };
#define STATE_MEMORY (64u << 20)

static cairn_world *new_world(uint32_t sleep) {
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world = NULL;
    def.body_capacity = 128;
    def.shape_capacity = 128;
    def.contact_capacity = 2048;
    def.sleep = sleep;
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    for (uint32_t i = 0; i < COLUMNS * LAYERS + 1; i++) {
        cairn_body_def body = cairn_body_def_default();
        cairn_shape_def shape = cairn_shape_def_default();
        cairn_body_id id;
        cairn_shape_id shape_id;
        const uint32_t column = (i - 1) % COLUMNS;
        if (i == 0) {
            body.kind = CAIRN_BODY_STATIC;
            shape.kind = CAIRN_SHAPE_HALF_SPACE;
        } else {
            body.position = (cairn_vec3){.x = 1.4f * (float)(column % 6),
                .y = 0.5f + 1.01f * (float)((i - 1) / COLUMNS),
                .z = 1.4f * (float)(column / 6)};
        }
        shape.flags = i % 2 == 0 ? CAIRN_SHAPE_CONTACT_EVENTS | CAIRN_SHAPE_HIT_EVENTS : 0;
        assert_int_equal(cairn_body_create(world, &body, &id), CAIRN_OK);
        assert_int_equal(cairn_shape_create(world, id, &shape, &shape_id), CAIRN_OK);
    }
    return world;
}

// ---- The server: pushes, and now and then something that only a whole step does

typedef struct script {
    cairn_command commands[TICKS][4];
    uint32_t counts[TICKS];
    cairn_hash128 roots[TICKS];
} script;

static cairn_command any_push(cairn_random *random) {
    return (cairn_command){.kind = CAIRN_COMMAND_SET_VELOCITY,
        .slot = CAIRN_SLOT_OPERATOR,
        .buttons = 2 + (uint32_t)cairn_random_below(random, COLUMNS * LAYERS),
        .move = {.x = 8.0f * cairn_random_unit(random) - 4.0f,
            .y = 4.0f * cairn_random_unit(random),
            .z = 8.0f * cairn_random_unit(random) - 4.0f}};
}

static void write_script(script *s, cairn_random *random, uint32_t sleep) {
    SCOPED(cairn_world) *world = new_world(sleep);
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        const uint32_t count = (uint32_t)cairn_random_below(random, 3);
        for (uint32_t i = 0; i < count; i++) {
            s->commands[tick][i] = any_push(random);
            s->commands[tick][i].sequence = i;
        }
        s->counts[tick] = count;
        if (tick % 40 == 39) {
            s->commands[tick][0] = (cairn_command){.kind = CAIRN_COMMAND_SPAWN_BOX,
                .slot = CAIRN_SLOT_OPERATOR,
                .move = {.y = 8.0f, .x = 0.1f * (float)tick},
                .aim = {0.4f, 0.4f, 0.4f}};
            s->counts[tick] = 1;
        }
        cairn_commands_sort(s->commands[tick], s->counts[tick]);
        cairn_world_step(world, s->commands[tick], s->counts[tick]);
        s->roots[tick] = cairn_world_hash_read(world).full;
    }
}

// ---- A client

typedef struct told_event {
    cairn_contact_event event;
    uint64_t tick;
    bool confirmed;
    bool again;
} told_event;

typedef struct client {
    cairn_timeline timeline;
    told_event *events; // of the last operation
    uint32_t event_count;
} client;

static void note(void *context, const cairn_world *world, const cairn_client_step *step,
    const cairn_contact_event *events, uint32_t count) {
    client *c = context;
    (void)world;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(c->event_count < EVENTS_MAX);
        told_event *told = &c->events[c->event_count++];
        memset(told, 0, sizeof *told);
        told->event = events[i];
        told->tick = step->tick;
        told->confirmed = step->confirmed;
        told->again = step->again;
    }
}

static void note_step(void *context, const cairn_world *world, const cairn_client_step *step) {
    uint32_t count = 0;
    const cairn_contact_event *events = cairn_world_contact_events(world, &count);
    note(context, world, step, events, count);
}

static void start(client *c, uint32_t sleep, bool corrects) {
    assert_int_equal(cairn_timeline_create(&c->timeline, 64, 4096), CAIRN_OK);
    c->events = calloc(EVENTS_MAX, sizeof *c->events);
    c->timeline.on_step = note_step;
    c->timeline.on_correct = note;
    c->timeline.step_context = c;
    c->timeline.corrects = corrects;
    cairn_timeline_expect(&c->timeline, 0);
    assert_int_equal(cairn_timeline_adopt(&c->timeline, new_world(sleep), STATE_MEMORY), CAIRN_OK);
    assert_true((c->timeline.rollback != NULL) == corrects);
}

static void end(client *c) {
    cairn_timeline_destroy(&c->timeline);
    free(c->events);
}

static void step_all(client *c) {
    while (cairn_timeline_step(&c->timeline) == CAIRN_TIMELINE_STEPPED) {}
}

static void expect_same(const client *parts, const client *whole) {
    const cairn_timeline *a = &parts->timeline;
    const cairn_timeline *b = &whole->timeline;
    assert_int_equal(a->head_tick, b->head_tick);
    for (uint64_t tick = b->first > a->first ? b->first : a->first; tick < a->head_tick; tick++) {
        assert_true(cairn_hash_equal(
            cairn_timeline_tick_read(a, tick)->root, cairn_timeline_tick_read(b, tick)->root));
    }
    assert_int_equal(cairn_world_diff(a->world, b->world, NULL, 0), 0);
    assert_int_equal(parts->event_count, whole->event_count);
    for (uint32_t i = 0; i < parts->event_count; i++) {
        assert_memory_equal(&parts->events[i], &whole->events[i], sizeof parts->events[i]);
    }
}

// What a client guesses: the truth, nothing, or a push of its own.
static uint32_t guess(
    const script *s, cairn_random *random, uint64_t tick, cairn_command commands[4]) {
    const uint64_t how = cairn_random_below(random, 4);
    if (how == 0) {
        commands[0] = any_push(random);
    }
    if (how > 1) {
        memcpy(commands, s->commands[tick], sizeof s->commands[tick]);
    }
    return how == 0 ? 1 : how == 1 ? 0 : s->counts[tick];
}

static void play(uint64_t seed, uint32_t sleep, uint64_t *corrections, uint64_t *whole_steps) {
    static script s;
    cairn_random random = cairn_random_of(seed);
    client parts = {.event_count = 0};
    client whole = {.event_count = 0};
    write_script(&s, &random, sleep);
    start(&parts, sleep, true);
    start(&whole, sleep, false);
    uint64_t confirmed = 0;
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        cairn_command commands[4];
        const uint32_t count = guess(&s, &random, tick, commands);
        client *both[] = {&parts, &whole};
        for (int i = 0; i < 2; i++) {
            (void)cairn_timeline_predict(&both[i]->timeline, tick, commands, count);
            both[i]->event_count = 0;
            step_all(both[i]);
        }
        expect_same(&parts, &whole);
        // Messages of the server come late, and those that were lost come together.
        const bool lost = cairn_random_below(&random, 3) == 0 && tick + 1 - confirmed < AHEAD_MAX;
        const uint64_t late = cairn_random_below(&random, AHEAD_MAX);
        while (!lost && confirmed + late <= tick) {
            for (int i = 0; i < 2; i++) {
                both[i]->event_count = 0;
                const cairn_timeline_verdict verdict =
                    cairn_timeline_confirm(&both[i]->timeline, confirmed, s.commands[confirmed],
                        s.counts[confirmed], (cairn_root_check){s.roots[confirmed], true});
                assert_true(verdict <= CAIRN_TIMELINE_DIFFERED);
                step_all(both[i]);
            }
            expect_same(&parts, &whole);
            confirmed++;
        }
    }
    assert_int_equal(parts.timeline.roots_differed, 0);
    assert_int_equal(whole.timeline.roots_differed, 0);
    assert_int_equal(whole.timeline.corrections, 0);
    *corrections += parts.timeline.corrections;
    *whole_steps += whole.timeline.steps - parts.timeline.steps;
    end(&parts);
    end(&whole);
}

TEST("a timeline that corrects parts is equal to one that goes back, under loss") {
    for (uint32_t sleep = 0; sleep < 2; sleep++) {
        uint64_t corrections = 0;
        uint64_t saved = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            play(seed, sleep, &corrections, &saved);
        }
        print_message("%u corrections, %u steps less\n", (unsigned)corrections, (unsigned)saved);
        assert_true(corrections > 60 / 8 * SEEDS && saved > 250 / 8 * SEEDS);
    }
}

// A world that was changed from outside, and rules or hooks that read worlds, go back as a whole.
TEST("a timeline corrects nothing that it did not step") {
    client c = {.event_count = 0};
    start(&c, 0, true);
    cairn_random random = cairn_random_of(3);
    const cairn_command push = any_push(&random);
    for (uint64_t tick = 0; tick < 12; tick++) {
        if (tick == 6) {
            assert_int_equal(cairn_body_set_velocity(c.timeline.world, 5, (cairn_vec3){.y = 3.0f},
                                 (cairn_vec3){.x = 0.0f}),
                CAIRN_OK);
            (void)cairn_timeline_world_changed(&c.timeline);
        }
        (void)cairn_timeline_predict(&c.timeline, tick, NULL, 0);
        step_all(&c);
    }
    assert_int_equal(cairn_timeline_predict(&c.timeline, 8, &push, 1), CAIRN_TIMELINE_CORRECTED);
    assert_int_equal(cairn_timeline_predict(&c.timeline, 3, &push, 1), CAIRN_TIMELINE_DIFFERED);
    step_all(&c);
    // Everything was stepped since.
    assert_int_equal(cairn_timeline_predict(&c.timeline, 4, &push, 1), CAIRN_TIMELINE_CORRECTED);
    c.timeline.on_correct = NULL;
    assert_int_equal(cairn_timeline_predict(&c.timeline, 5, &push, 1), CAIRN_TIMELINE_DIFFERED);
    end(&c);
}
