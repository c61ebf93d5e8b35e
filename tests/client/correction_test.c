// SPDX-License-Identifier: MIT
// Clients that predict a room without rules, in which an operator pushes bodies: they learn of each
// push after they have stepped its tick, over a path that loses. One of them has a hook that reads
// the world of each step, so it goes back as a whole; the other corrects what the push can have
// touched. Both have the server's roots, and neither picture jumps.

#include "tests/kit/test.h"

#include <math.h>

#include "tests/kit/rig.h"
#include "tests/kit/scenes.h"

enum { OPERATOR, PARTS, WHOLE };

static const cairn_scene *columns(void) {
    return kit_scene("{'name': 'columns', 'body_capacity': 128, 'shape_capacity': 128,"
                     " 'contact_capacity': 2048, 'bodies': ["
                     "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
                     "{'kind': 'dynamic', 'position': [0, 0.5, 0], 'grid_count': [6, 3, 4],"
                     " 'grid_spacing': [2.5, 1.001, 2.5],"
                     " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}]}");
}

static void read_step(void *user, const cairn_world *world, const cairn_client_step *step) {
    uint64_t *steps = user;
    *steps += cairn_world_tick(world) == step->tick + 1 ? 1u : 0u;
}

static void with_control(cairn_server_config *config) {
    config->control = true;
}

static void push_one(rig *p, uint32_t number) {
    const cairn_control_request request = {.verb = CAIRN_CONTROL_IMPULSE,
        .impulse = {.body = 2 + number * 29 % 72,
            .impulse = {number % 2 == 0 ? 2500.0f : -2500.0f, 1500.0f, 0.0f}}};
    cairn_control_answer answer;
    assert_int_not_equal(cairn_client_ask(rig_client(p, OPERATOR), &request), 0);
    while (cairn_client_next_answer(rig_client(p, OPERATOR), &answer)) {
        assert_int_equal(answer.refusal, 0);
    }
}

// How far a body of the picture is from where it was 2 ms ago, at most.
static float jump_of(rig *p, uint32_t client) {
    float before[RIG_BODIES_MAX];
    float jump = 0.0f;
    if (!rig_look(p, client)) {
        return 0.0f;
    }
    const uint32_t count = p->views[client].sample.body_count;
    for (uint32_t i = 0; i < count; i++) {
        before[i] = p->views[client].bodies[i].position[0];
    }
    rig_run_ms(p, 2);
    rig_look(p, client);
    assert_int_equal(p->views[client].sample.body_count, count);
    for (uint32_t i = 0; i < count; i++) {
        jump = fmaxf(jump, fabsf(p->views[client].bodies[i].position[0] - before[i]));
    }
    return jump;
}

TEST("a push that arrives late is corrected where it reached, and what is shown does not jump") {
    static rig p; // too large for a stack
    static uint64_t steps;
    const cairn_virtual_path path = {
        .delay_ns = 60000000, .jitter_ns = 10000000, .loss_permille = 40};
    rig_start(&p, .seed = 5, .scene = columns(), .configure = with_control);
    cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    config.spectator = true;
    p.operators = true;
    rig_join(&p, &config, &path);
    p.operators = false;
    config = rig_config(CAIRN_CLIENT_PREDICT);
    rig_join(&p, &config, &path);
    config.on_step = read_step;
    config.step_context = &steps;
    rig_join(&p, &config, &path);
    rig_wait_to_play(&p);
    rig_run_ms(&p, 1000);
    float jump = 0.0f;
    for (uint32_t i = 0; i < 1500; i++) {
        if (i % 75 == 0) {
            push_one(&p, i / 75);
        }
        jump = fmaxf(jump, jump_of(&p, i % 2 == 0 ? PARTS : WHOLE));
    }
    const cairn_client_statistics parts = rig_statistics(&p, PARTS);
    const cairn_client_statistics whole = rig_statistics(&p, WHOLE);
    assert_int_equal(parts.simulation.roots_differed, 0);
    assert_int_equal(whole.simulation.roots_differed, 0);
    assert_in_range(parts.prediction.corrections, 10, 20);
    assert_true(parts.prediction.corrected_ticks >= 3 * parts.prediction.corrections);
    assert_int_equal(whole.prediction.corrections, 0);
    assert_true(parts.simulation.ticks_stepped < whole.simulation.ticks_stepped);
    assert_true(steps >= whole.simulation.ticks_stepped);
    cairn_client_rollback rollbacks[64];
    const uint32_t held = cairn_client_rollbacks(rig_client(&p, PARTS), rollbacks, 64);
    float error = 0.0f;
    for (uint32_t i = 0; i < held; i++) {
        error = fmaxf(error, rollbacks[i].error_m_max);
    }
    assert_true(error > 0.05f);
    // A pushed cube moves 5 mm in 2 ms, at 2.5 m/s.
    print_message("%u corrections, %.0f mm corrected, %.1f mm in 2 ms\n",
        (unsigned)parts.prediction.corrections, 1e3 * (double)error, 1e3 * (double)jump);
    assert_true(jump < 0.015f);
    rig_end(&p);
}
