// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "client_lib/simulate/timeline.h"

#include <stdlib.h>

#include "base/random.h"
#include "bridge/scene_world.h"
#include "tests/kit/rig.h"

SCOPE_ENDS(cairn_timeline, cairn_timeline_destroy)

#define SCRIPT_TICKS 160
#define STATE_MEMORY (16u << 20)

// The server's history: commands and roots, tick by tick.
static struct {
    cairn_command commands[SCRIPT_TICKS][8];
    uint32_t counts[SCRIPT_TICKS];
    cairn_hash128 roots[SCRIPT_TICKS];
    cairn_world *world; // at the end of the script
} truth;

static cairn_world *new_world(void) {
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_world *world = NULL;
    assert_int_equal(
        cairn_scene_world_create(kit_scene_stack_and_row(), NULL, &world, error), CAIRN_OK);
    return world;
}

static cairn_command input_of(cairn_random *random, uint32_t slot) {
    static const uint32_t buttons[] = {0, CAIRN_SANDBOX_JUMP, CAIRN_SANDBOX_PUSH,
        CAIRN_SANDBOX_THROW, CAIRN_SANDBOX_SPAWN, CAIRN_SANDBOX_THROW | CAIRN_SANDBOX_SPAWN};
    return (cairn_command){.kind = CAIRN_COMMAND_INPUT,
        .slot = slot,
        .buttons = buttons[cairn_random_below(random, 6)],
        .move = {.x = (float)cairn_random_below(random, 3) - 1.0f},
        .aim = {.z = -1, .y = 0.25f}};
}

// Slot 0 plays throughout. Slot 1 joins and leaves repeatedly. Both throw and spawn.
BEFORE_EACH {
    cairn_random random = cairn_random_of(7);
    truth.world = new_world();
    for (uint32_t tick = 0; tick < SCRIPT_TICKS; tick++) {
        cairn_command *at = truth.commands[tick];
        const uint32_t phase = tick % 40;
        if (tick == 0) {
            *at++ = (cairn_command){.kind = CAIRN_COMMAND_JOIN};
        }
        *at++ = input_of(&random, 0);
        if (phase == 10) {
            *at++ = (cairn_command){.kind = CAIRN_COMMAND_JOIN, .slot = 1};
        }
        if (phase == 33) {
            *at++ = (cairn_command){.kind = CAIRN_COMMAND_LEAVE, .slot = 1};
        }
        if (phase >= 10 && phase < 33) {
            *at++ = input_of(&random, 1);
        }
        truth.counts[tick] = (uint32_t)(at - truth.commands[tick]);
        cairn_commands_sort(truth.commands[tick], truth.counts[tick]);
        cairn_world_step(truth.world, truth.commands[tick], truth.counts[tick]);
        truth.roots[tick] = cairn_world_hash_read(truth.world).full;
    }
}

AFTER_EACH {
    cairn_world_destroy(truth.world);
}

static void start(cairn_timeline *t, uint32_t ticks, size_t state_memory) {
    assert_int_equal(cairn_timeline_create(t, ticks, 4096), CAIRN_OK);
    cairn_timeline_expect(t, 0);
    assert_int_equal(cairn_timeline_adopt(t, new_world(), state_memory), CAIRN_OK);
}

static cairn_timeline_verdict confirm(cairn_timeline *t, uint64_t tick) {
    return cairn_timeline_confirm(t, tick, truth.commands[tick], truth.counts[tick],
        (cairn_root_check){truth.roots[tick], true});
}

// Predicts an input of slot 0 alone, in one tick of four a wrong one.
static cairn_timeline_verdict predict_badly(
    cairn_timeline *t, uint64_t tick, cairn_random *random) {
    cairn_command wrong = input_of(random, 0);
    const cairn_command *commands = truth.commands[tick];
    for (uint32_t i = 0; i < truth.counts[tick]; i++) {
        bool own = commands[i].slot == 0 && commands[i].kind == CAIRN_COMMAND_INPUT;
        wrong = own && cairn_random_below(random, 4) > 0 ? commands[i] : wrong;
    }
    return cairn_timeline_predict(t, tick, &wrong, 1);
}

static void step_all(cairn_timeline *t) {
    while (cairn_timeline_step(t) == CAIRN_TIMELINE_STEPPED) {}
    assert_int_equal(t->head_tick, t->end);
}

static void expect_server_world(const cairn_timeline *t) {
    assert_int_equal(t->head_tick, SCRIPT_TICKS);
    assert_false(t->differs);
    assert_int_equal(cairn_world_diff(t->world, truth.world, NULL, 0), 0);
}

// What on_step was told. Events of a tick that was stepped again are told again, and the last time
// they are those of a world that never predicted.
typedef struct step_log {
    uint32_t again;
    uint32_t told[SCRIPT_TICKS]; // steps of each tick
    uint32_t events[SCRIPT_TICKS];
} step_log;

static void log_step(void *context, const cairn_world *world, const cairn_client_step *step) {
    step_log *log = context;
    assert_int_equal(cairn_world_tick(world), step->tick + 1);
    assert_int_equal(step->again, log->told[step->tick] > 0);
    log->again += step->again;
    log->told[step->tick] += 1;
    (void)cairn_world_contact_events(world, &log->events[step->tick]);
}

TEST("each step is told with its events, and whether it was stepped before") {
    static step_log predicted;
    static step_log plain;
    cairn_random random = cairn_random_of(9);
    SCOPED(cairn_timeline) t;
    SCOPED(cairn_timeline) sure;
    uint32_t events = 0;
    start(&t, 64, STATE_MEMORY);
    start(&sure, 64, 0);
    t.on_step = log_step;
    t.step_context = &predicted;
    sure.on_step = log_step;
    sure.step_context = &plain;
    for (uint64_t tick = 0; tick < SCRIPT_TICKS; tick++) {
        for (uint64_t ahead = tick; ahead < tick + 3 && ahead < SCRIPT_TICKS; ahead++) {
            assert_true(predict_badly(&t, ahead, &random) <= CAIRN_TIMELINE_DIFFERED);
        }
        step_all(&t);
        assert_true(confirm(&t, tick) <= CAIRN_TIMELINE_DIFFERED);
        assert_int_equal(confirm(&sure, tick), CAIRN_TIMELINE_TAKEN);
        step_all(&t);
        step_all(&sure);
    }
    assert_true(predicted.again > 0);
    assert_int_equal(plain.again, 0);
    for (uint32_t tick = 0; tick < SCRIPT_TICKS; tick++) {
        assert_int_equal(plain.told[tick], 1);
        assert_int_equal(predicted.events[tick], plain.events[tick]);
        events += plain.events[tick];
    }
    assert_true(events > 0);
}

// Bodies spawn and players join and leave inside the window, which changes the rules' state and the
// ids. After any prediction each confirmed root is that of a world that never predicted.
TEST("a wrong prediction leaves no trace") {
    for (uint64_t seed = 1; seed <= 2; seed++) {
        cairn_random random = cairn_random_of(seed);
        SCOPED(cairn_timeline) t;
        uint32_t differed = 0;
        start(&t, 64, STATE_MEMORY);
        while (t.confirmed_end < SCRIPT_TICKS) {
            uint64_t ahead = t.confirmed_end + 1 + cairn_random_below(&random, 12);
            ahead = ahead < SCRIPT_TICKS ? ahead : SCRIPT_TICKS;
            for (uint64_t tick = t.confirmed_end; tick < ahead; tick++) {
                cairn_timeline_verdict verdict = predict_badly(&t, tick, &random);
                assert_true(verdict <= CAIRN_TIMELINE_DIFFERED);
                if (cairn_random_below(&random, 2) > 0) {
                    step_all(&t);
                }
            }
            uint64_t burst = t.confirmed_end + cairn_random_below(&random, 6);
            for (uint64_t tick = t.confirmed_end; tick < burst && tick < SCRIPT_TICKS; tick++) {
                cairn_timeline_verdict verdict = confirm(&t, tick);
                assert_true(verdict <= CAIRN_TIMELINE_DIFFERED);
                differed += verdict == CAIRN_TIMELINE_DIFFERED;
            }
        }
        step_all(&t);
        expect_server_world(&t);
        assert_int_equal(t.roots_differed, 0);
        assert_int_equal(t.roots_compared, SCRIPT_TICKS); // each once, however often it was stepped
        assert_true(differed > 10 && t.steps > SCRIPT_TICKS);
    }
}

TEST("with confirmed ticks alone each tick is stepped once") {
    SCOPED(cairn_timeline) t;
    start(&t, 32, 0);
    for (uint64_t tick = 0; tick < SCRIPT_TICKS; tick++) {
        assert_int_equal(confirm(&t, tick), CAIRN_TIMELINE_TAKEN);
        assert_int_equal(confirm(&t, tick), CAIRN_TIMELINE_KNOWN);
        step_all(&t);
    }
    expect_server_world(&t);
    assert_int_equal(t.roots_differed, 0);
    assert_int_equal(t.steps, SCRIPT_TICKS);
    // The last ticks can be read, with their own roots, older ones are gone.
    assert_null(cairn_timeline_tick_read(&t, SCRIPT_TICKS - 33));
    const cairn_timeline_tick *oldest = cairn_timeline_tick_read(&t, SCRIPT_TICKS - 32);
    assert_non_null(oldest);
    assert_memory_equal(&oldest->root, &truth.roots[SCRIPT_TICKS - 32], sizeof oldest->root);
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    const uint32_t count = cairn_timeline_commands(&t, SCRIPT_TICKS - 1, commands);
    assert_int_equal(count, truth.counts[SCRIPT_TICKS - 1]);
    assert_memory_equal(commands, truth.commands[SCRIPT_TICKS - 1], count * sizeof commands[0]);
    // Without memory for states there is no way back.
    assert_int_equal(cairn_timeline_rewind(&t, SCRIPT_TICKS - 1), CAIRN_TIMELINE_STATE_DROPPED);
}

TEST("the timeline rewinds to any tick whose state is held") {
    SCOPED(cairn_timeline) t;
    cairn_random random = cairn_random_of(3);
    start(&t, 64, STATE_MEMORY);
    for (uint64_t tick = 0; tick < SCRIPT_TICKS; tick++) {
        confirm(&t, tick);
        step_all(&t);
        uint64_t back = tick + 1 - cairn_random_below(&random, 6);
        back = back > tick ? tick : back;
        assert_true(cairn_history_holds(t.states, back));
        assert_int_equal(cairn_timeline_rewind(&t, back), CAIRN_TIMELINE_REWOUND);
        assert_int_equal(cairn_world_tick(t.world), back);
        assert_int_equal(t.head_tick, back);
        step_all(&t);
    }
    expect_server_world(&t);
    assert_int_equal(t.roots_differed, 0);
    assert_int_equal(cairn_timeline_rewind(&t, SCRIPT_TICKS - 65), CAIRN_TIMELINE_STATE_DROPPED);
    assert_int_equal(t.head_tick, SCRIPT_TICKS);
}

TEST("a prediction beyond the window is refused") {
    cairn_timeline t;
    cairn_random random = cairn_random_of(1);
    start(&t, 16, STATE_MEMORY);
    for (uint64_t tick = 0; tick < 16; tick++) {
        assert_int_equal(predict_badly(&t, tick, &random), CAIRN_TIMELINE_TAKEN);
    }
    step_all(&t);
    assert_int_equal(predict_badly(&t, 17, &random), CAIRN_TIMELINE_GAP);
    assert_int_equal(predict_badly(&t, 16, &random), CAIRN_TIMELINE_FULL);
    assert_true(confirm(&t, 0) <= CAIRN_TIMELINE_DIFFERED);
    step_all(&t);
    assert_int_equal(predict_badly(&t, 16, &random), CAIRN_TIMELINE_TAKEN);
    assert_int_equal(predict_badly(&t, 0, &random), CAIRN_TIMELINE_KNOWN);
    cairn_timeline_destroy(&t);
    // The same with memory as the limit: what three states take, in whole pieces.
    start(&t, 64, STATE_MEMORY);
    for (uint64_t tick = 0; tick < 3; tick++) {
        assert_int_equal(cairn_timeline_predict(&t, tick, NULL, 0), CAIRN_TIMELINE_TAKEN);
    }
    step_all(&t);
    const size_t memory = cairn_history_statistics_read(t.states).memory;
    cairn_timeline_destroy(&t);
    start(&t, 64, memory + memory / 8);
    for (uint64_t tick = 0; tick < 60; tick++) {
        assert_int_equal(cairn_timeline_predict(&t, tick, NULL, 0), CAIRN_TIMELINE_TAKEN);
    }
    while (cairn_timeline_step(&t) == CAIRN_TIMELINE_STEPPED) {}
    assert_true(t.head_tick >= 3 && t.head_tick <= 40);
    assert_true(cairn_history_statistics_read(t.states).memory <= memory + memory / 8);
    assert_int_equal(cairn_timeline_step(&t), CAIRN_TIMELINE_WINDOW);
    const uint64_t head_tick = t.head_tick;
    for (uint64_t tick = 0; tick < 2; tick++) {
        const cairn_root_check root = {cairn_timeline_tick_read(&t, tick)->root, true};
        assert_int_equal(cairn_timeline_confirm(&t, tick, NULL, 0, root), CAIRN_TIMELINE_AGREED);
    }
    assert_int_equal(cairn_timeline_step(&t), CAIRN_TIMELINE_STEPPED);
    assert_int_equal(t.head_tick, head_tick + 1);
    cairn_timeline_destroy(&t);
}

TEST("a damaged world can be repaired at a tick") {
    SCOPED(cairn_timeline) t;
    uint8_t *bytes = malloc(cairn_world_save_size_max(truth.world));
    size_t size = 0;
    start(&t, 64, STATE_MEMORY);
    for (uint64_t tick = 0; tick < 100; tick++) {
        confirm(&t, tick);
        step_all(&t);
        if (tick == 79) {
            size = cairn_world_save(t.world, bytes, cairn_world_save_size_max(t.world));
            cairn_body_state bodies[8];
            assert_true(cairn_world_bodies(t.world, bodies, 8) >= 8);
            cairn_body_set_velocity(
                t.world, bodies[3].id, (cairn_vec3){.y = 3}, (cairn_vec3){.x = 1});
            cairn_timeline_world_changed(&t);
            assert_true(t.differs);
            assert_int_equal(t.differs_tick, 80);
        }
    }
    assert_int_equal(t.differs_tick, 80);
    assert_int_equal(t.first_difference_tick, 80);
    assert_int_equal(cairn_timeline_rewind(&t, 80), CAIRN_TIMELINE_REWOUND);
    assert_int_equal(cairn_world_load(t.world, bytes, size), CAIRN_OK);
    assert_true(cairn_timeline_world_changed(&t));
    step_all(&t);
    assert_false(t.differs);
    for (uint64_t tick = 100; tick < SCRIPT_TICKS; tick++) {
        confirm(&t, tick);
        step_all(&t);
    }
    expect_server_world(&t);
    free(bytes);
}

TEST("a root that differs is found at its tick whether the tick was predicted or not") {
    for (int predicted = 0; predicted < 2; predicted++) {
        SCOPED(cairn_timeline) t;
        start(&t, 64, STATE_MEMORY);
        for (uint64_t tick = 0; tick < 10; tick++) {
            if (predicted) {
                cairn_timeline_predict(&t, tick, truth.commands[tick], truth.counts[tick]);
                step_all(&t);
            }
            cairn_root_check root = {truth.roots[tick], true};
            root.root.hi ^= tick == 6;
            cairn_timeline_confirm(&t, tick, truth.commands[tick], truth.counts[tick], root);
            step_all(&t);
        }
        assert_int_equal(t.roots_differed, 1);
        assert_int_equal(t.differs_tick, 7);
        assert_int_equal(t.first_difference_tick, 7);
    }
}

TEST("ticks wait for the state they continue") {
    SCOPED(cairn_timeline) t;
    assert_int_equal(cairn_timeline_create(&t, 64, 4096), CAIRN_OK);
    assert_int_equal(confirm(&t, 0), CAIRN_TIMELINE_NOT_EXPECTED);
    cairn_timeline_expect(&t, 0);
    assert_int_equal(confirm(&t, 1), CAIRN_TIMELINE_GAP);
    assert_int_equal(confirm(&t, 0), CAIRN_TIMELINE_TAKEN);
    assert_int_equal(cairn_timeline_step(&t), CAIRN_TIMELINE_IDLE);
    assert_int_equal(cairn_timeline_adopt(&t, new_world(), STATE_MEMORY), CAIRN_OK);
    assert_int_equal(cairn_timeline_step(&t), CAIRN_TIMELINE_STEPPED);
    // The old world has the tick that is expected next, but is not the state that it continues.
    cairn_timeline_expect(&t, 1);
    assert_int_equal(confirm(&t, 1), CAIRN_TIMELINE_TAKEN);
    assert_int_equal(cairn_timeline_step(&t), CAIRN_TIMELINE_IDLE);
    cairn_timeline_clear(&t);
    assert_null(t.world);
}

TEST("a timeline holds a bounded number of commands") {
    SCOPED(cairn_timeline) t;
    cairn_command many[CAIRN_COMMANDS_PER_TICK_MAX];
    for (uint32_t i = 0; i < CAIRN_COMMANDS_PER_TICK_MAX; i++) {
        many[i] = (cairn_command){.kind = CAIRN_COMMAND_INPUT, .sequence = i};
    }
    start(&t, 64, STATE_MEMORY);
    uint64_t tick = 0;
    while (cairn_timeline_predict(&t, tick, many, CAIRN_COMMANDS_PER_TICK_MAX) ==
           CAIRN_TIMELINE_TAKEN) {
        tick++;
    }
    assert_in_range(tick, 3, 12); // 4096 commands and what the ticks' last blocks leave
    assert_int_equal(
        cairn_timeline_predict(&t, tick, many, CAIRN_COMMANDS_PER_TICK_MAX), CAIRN_TIMELINE_FULL);
    assert_int_equal(cairn_timeline_predict(&t, tick - 1, many, 1), CAIRN_TIMELINE_DIFFERED);
    assert_int_equal(cairn_timeline_predict(&t, tick - 1, many, 256), CAIRN_TIMELINE_DIFFERED);
    cairn_timeline_clear(&t);
    assert_int_equal(t.commands.free_count, t.commands.block_count);
}
