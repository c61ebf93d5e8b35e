// SPDX-License-Identifier: MIT
// Clients that have a fault on purpose, over the virtual network: each makes a capsule, whose
// explanation names the hazard. Clients without a fault make none.

#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "recording/desync_reader.h"
#include "sim/math/float_env.h"
#include "sim/state/hash_cache.h"
#include "sim/state/world.h"
#include "tests/capsule/uninitialised_rules.h"
#include "tests/kit/exact.h"
#include "tests/kit/rig.h"
#include "tools/replay/explain.h"
#include "tools/replay/fused.h"

// ----------------------------------------------------------------------------------------- faults

typedef enum fault {
    NO_FAULT = 0,
    CONTRACTION,   // built with contraction
    FLUSH_TO_ZERO, // its step turns flush-to-zero on
    NO_WARM_START, // its steps begin without the impulses of the last one
    BIT_FLIP,      // one bit of one field is flipped once
    UNINITIALISED, // its rules read uninitialised memory
} fault;

static struct {
    fault kind;
    uint64_t from;              // tick
    const cairn_client *client; // whose steps have the fault; NULL: none
    bool flipped;               // BIT_FLIP has happened
} injected;

void __real_cairn_world_step(
    cairn_world *world, const cairn_command *commands, uint32_t command_count);
void __wrap_cairn_world_step(
    cairn_world *world, const cairn_command *commands, uint32_t command_count);

// What UNINITIALISED reads: without a fault each step finds the same bytes.
static void fill_stack(unsigned char byte) {
    volatile unsigned char area[16384];
    for (size_t i = 0; i < sizeof area; ++i) {
        area[i] = byte;
    }
}

static void step_flushing(cairn_world *world, const cairn_command *commands, uint32_t count) {
    static const cairn_trial flushing = {
        .hazard = CAIRN_HAZARD_FLUSH_TO_ZERO, .mode = CAIRN_TRIAL_FLUSH | CAIRN_TRIAL_SUBNORMAL};
    cairn_trial_begin(&flushing, world);
    __real_cairn_world_step(world, commands, count);
    cairn_trial_end(world);
}

// The linker puts this in the place of cairn_world_step (--wrap).
void __wrap_cairn_world_step(
    cairn_world *world, const cairn_command *commands, uint32_t command_count) {
    void (*volatile fill)(unsigned char) = fill_stack;
    const bool faulty = injected.client != NULL && cairn_client_world(injected.client) == world &&
                        cairn_world_tick(world) >= injected.from;
    fill(faulty && injected.kind == UNINITIALISED ? 0x77 : 0x11);
    if (faulty && injected.kind == CONTRACTION) {
        cairn_fused_step(world, commands, command_count);
    } else if (faulty && injected.kind == FLUSH_TO_ZERO) {
        step_flushing(world, commands, command_count);
    } else {
        if (faulty && injected.kind == NO_WARM_START) {
            cairn_trial_clear_impulses(world);
        }
        if (faulty && injected.kind == BIT_FLIP && !injected.flipped) {
            uint32_t *word = (uint32_t *)&world->state.motions[2].linear_velocity.x;
            *word ^= 1u << 9;
            cairn_hash_cache_mark(world, CAIRN_ARRAY_MOTIONS, 2);
            injected.flipped = true;
        }
        __real_cairn_world_step(world, commands, command_count);
    }
}

// --------------------------------------------------------------------------------------- capsules

typedef struct caught {
    uint8_t *bytes; // of the first; owned
    size_t size;
    uint32_t count;
} caught;

static caught by_client;
static caught by_server;

static void keep(caught *c, const uint8_t *bytes, size_t size) {
    if (c->count++ == 0) {
        c->bytes = kit_exact_copy(bytes, size);
        c->size = size;
    }
}

static void on_client_capsule(void *context, const uint8_t *bytes, size_t size) {
    (void)context;
    keep(&by_client, bytes, size);
}

static void on_server_capsule(void *user, const char *room, uint64_t tick, uint64_t client_id,
    const uint8_t *bytes, size_t size) {
    (void)user;
    assert_string_equal(room, CAIRN_ROOM_NAME_DEFAULT);
    assert_true(tick > 0 && client_id > 0);
    keep(&by_server, bytes, size);
}

// The rig's scene, in which nothing sleeps, and a body that drifts so slowly that its speed is a
// subnormal number.
static void shape_server(cairn_server_config *config) {
    static cairn_scene_body bodies[4];
    static cairn_scene scene;
    scene = *kit_scene_stack_and_row();
    memcpy(bodies, scene.bodies, 3 * sizeof bodies[0]);
    bodies[3] = bodies[2];
    bodies[3].grid_count[0] = 1;
    bodies[3].def.position = (cairn_vec3){0, 60, 0};
    bodies[3].def.gravity_scale = 0;
    bodies[3].def.linear_damping = 0.5f;
    bodies[3].def.linear_velocity = (cairn_vec3){3e-39f, 0, 0};
    scene.bodies = bodies;
    scene.body_count = 4;
    scene.world.sleep = 0;
    config->first_room.scene = &scene;
    config->first_room.rules = injected.kind == UNINITIALISED ? &uninitialised_rules : NULL;
    config->on_capsule = on_server_capsule;
}

typedef struct play {
    rig rig;
    cairn_client_config config;
} play;

static play p;

static void begin(fault kind, cairn_client_mode mode) {
    injected.kind = kind;
    injected.from = UINT64_MAX;
    injected.flipped = false;
    rig_start(&p.rig, .seed = 11 + (uint64_t)kind, .configure = shape_server);
    p.config = cairn_client_config_default();
    p.config.mode = mode;
    p.config.on_desync_report = on_client_capsule;
    p.config.rules = kind == UNINITIALISED ? &uninitialised_rules : NULL;
    rig_join(&p.rig, &p.config, NULL);
    rig_wait_to_play(&p.rig);
    rig_run_ms(&p.rig, 500);
    injected.client = rig_client(&p.rig, 0);
    // A client whose world differed from the beginning may have been demoted by now.
    const cairn_world *world = cairn_client_world(injected.client);
    injected.from = world == NULL ? 0 : cairn_world_tick(world) + 5;
}

// The client may have been demoted to snapshots by then. The server does not answer it any more,
// and the report is complete only when the client stops waiting.
static void run_until_caught(void) {
    for (int i = 0; i < 40 && by_client.count == 0; ++i) {
        rig_run_ms(&p.rig, 100);
    }
    rig_run_ms(&p.rig, 400);
}

static void end(void) {
    injected.client = NULL;
    rig_end(&p.rig);
    free(by_client.bytes);
    free(by_server.bytes);
    by_client = by_server = (caught){.count = 0};
}

static void expect_named(const caught *c, cairn_hazard hazard, bool certain) {
    static cairn_explanation explanation;
    assert_true(c->count > 0);
    injected.client = NULL; // the explanation steps without the fault
    if (!cairn_explain(c->bytes, c->size, p.config.rules, &explanation)) {
        fail_msg("%s", explanation.text);
    }
    print_message("%s\n", explanation.text);
    assert_string_equal(cairn_hazard_name(explanation.hazard), cairn_hazard_name(hazard));
    assert_int_equal(explanation.certain, certain);
}

// The report has the stages of the server's step, and the values that differ on both sides.
static void expect_server_answered(void) {
    static cairn_desync_report_content content;
    char text[CAIRN_RECORDING_ERROR_SIZE];
    assert_true(
        cairn_desync_report_open(&content, by_client.bytes, by_client.size, p.config.rules, text));
    const cairn_chunk_desync *desync = &content.desync;
    assert_true(desync->stages_server_size > 0);
    assert_int_equal(desync->stages_server_size, desync->stages_client_size);
    assert_string_equal(desync->build_server, desync->build_client);
    const uint32_t raised = 0x3f; // exceptions since the last reset: no part of the mode
    const uint64_t modes = desync->head.float_mode_client ^ cairn_float_mode_word();
    assert_int_equal(modes & ~(uint64_t)raised, 0);
    assert_true(desync->difference_count > 0);
    assert_true(desync->head.difference_count >= desync->difference_count);
    assert_true(desync->differences[0].bits_client != desync->differences[0].bits_server);
    cairn_desync_report_close(&content);
}

static bool every_mode;    // otherwise each fault in one mode
static uint64_t seeds = 1; // of play without a fault

static void expect_both_named(fault kind, cairn_hazard hazard) {
    static const cairn_client_mode modes[] = {
        CAIRN_CLIENT_LOCKSTEP, CAIRN_CLIENT_PREDICT, CAIRN_CLIENT_HEAL};
    for (uint32_t i = 0; i < sizeof modes / sizeof modes[0]; ++i) {
        if (!every_mode && i != (uint32_t)kind % 3) {
            continue;
        }
        begin(kind, modes[i]);
        run_until_caught();
        expect_named(&by_client, hazard, true);
        if (kind !=
            UNINITIALISED) { // no two roots ever agreed, so the server has no tick to begin with
            expect_server_answered();
            expect_named(&by_server, hazard, true);
        }
        assert_true(rig_statistics(&p.rig, 0).resync.desync_reports > 0);
        end();
    }
}

TEST("a client with contraction is named") {
    if (cairn_fused_available()) {
        expect_both_named(CONTRACTION, CAIRN_HAZARD_CONTRACTION);
    }
}

TEST("a client with flush to zero is named") {
    expect_both_named(FLUSH_TO_ZERO, CAIRN_HAZARD_FLUSH_TO_ZERO);
}

TEST("a client without warm start is named") {
    expect_both_named(NO_WARM_START, CAIRN_HAZARD_WARM_START);
}

TEST("a flipped field is named") {
    begin(BIT_FLIP, CAIRN_CLIENT_LOCKSTEP);
    run_until_caught();
    expect_named(&by_client, CAIRN_HAZARD_FIELD_CHANGED, false);
    end();
}

TEST("rules that read uninitialised memory are named") {
    expect_both_named(UNINITIALISED, CAIRN_HAZARD_UNINITIALISED);
}

TEST("clients without a fault make no capsule") {
    const cairn_virtual_path bad = {
        .delay_ns = 30000000, .jitter_ns = 15000000, .loss_permille = 100, .repeat_permille = 50};
    for (uint64_t seed = 0; seed < seeds; ++seed) {
        injected.kind = NO_FAULT;
        rig_start(&p.rig, .seed = 100 + seed, .configure = shape_server);
        p.config = cairn_client_config_default();
        p.config.on_desync_report = on_client_capsule;
        for (uint32_t i = 0; i < 3; ++i) {
            p.config.mode = (cairn_client_mode)(CAIRN_CLIENT_LOCKSTEP + i);
            rig_join(&p.rig, &p.config, &bad);
        }
        rig_wait_to_play(&p.rig);
        rig_play(&p.rig, seed, 3000);
        assert_int_equal(by_client.count, 0);
        assert_int_equal(by_server.count, 0);
        for (uint32_t i = 0; i < 3; ++i) {
            assert_true(rig_statistics(&p.rig, i).simulation.roots_compared > 100);
            assert_int_equal(rig_statistics(&p.rig, i).resync.desync_reports, 0);
        }
        end();
    }
}

// With a number N as its argument: every hazard in every mode, and N seeds of play without a fault.
int main(int argc, char **argv) {
    if (argc > 1) {
        every_mode = true;
        seeds = strtoull(argv[1], NULL, 10);
    }
    return test_run("capsule.broken", NULL);
}
