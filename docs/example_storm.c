// SPDX-License-Identifier: MIT

// A small game under storms: players push a ball, a ball that rolls far enough scores, and another
// one is thrown in. Usage: example_storm [FIRST_SEED [COUNT]]. Link cairn_storm.

#include <cairn/storm.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <cairn/sim.h>

// All that the rules remember from tick to tick lives here: the world saves, hashes and rolls it
// back with the bodies. A static variable would not be rolled back, and the storm would find it.
typedef struct game {
    cairn_body_id ball;
    uint32_t goals;
} game;

enum { BALL = 1 << 30 }; // in the ball's user word, beside the goals

static void throw_in(cairn_world *world, game *state) {
    cairn_body_def body = cairn_body_def_default();
    body.position = (cairn_vec3){0, 2, 0};
    body.user = BALL | state->goals;
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_SPHERE;
    shape.radius = 0.4f;
    shape.restitution = 0.5f;
    cairn_shape_id ignored;
    if (cairn_body_create(world, &body, &state->ball) == CAIRN_OK) {
        cairn_shape_create(world, state->ball, &shape, &ignored);
    }
}

static void start(cairn_world *world, void *memory) {
    throw_in(world, memory);
}

static void step(
    cairn_world *world, void *memory, const cairn_command *commands, uint32_t command_count) {
    game *state = memory;
    cairn_body_state ball;
    for (uint32_t i = 0; i < command_count; i++) {
        if (commands[i].kind == CAIRN_COMMAND_INPUT) {
            const cairn_vec3 push = {20 * commands[i].move.x, 0, 20 * commands[i].move.z};
            cairn_body_apply_impulse_at_centre(world, state->ball, push);
        }
    }
    if (cairn_body_read(world, state->ball, &ball) != CAIRN_OK) {
        throw_in(world, state); // an operator may have taken it away
    } else if (ball.position.x > 6 || ball.position.x < -6) {
        state->goals++;
        cairn_body_destroy(world, state->ball);
        throw_in(world, state);
    }
}

static const cairn_rules football = {
    .name = "football", .version = 1, .state_size = sizeof(game), .start = start, .step = step};

// A rule of the game, checked on the server's world after each of its turns: there is one ball.
static void one_ball(void *user, cairn_storm *storm, const cairn_world *world) {
    static cairn_body_state bodies[64];
    const uint32_t count = cairn_world_bodies(world, bodies, 64);
    uint32_t balls = 0;
    for (uint32_t i = 0; i < count; i++) {
        if ((bodies[i].user & BALL) != 0) {
            balls++;
            *(uint32_t *)user = bodies[i].user - BALL;
        }
    }
    if (balls != 1) {
        cairn_storm_fail(storm, "there is not one ball");
    }
}

// Players of this game only push, half of the time to the right.
static void play(void *user, cairn_storm *storm, uint32_t slot, cairn_client_input *input) {
    (void)user;
    (void)slot;
    if (cairn_storm_below(storm, 2) == 0) {
        *input = (cairn_client_input){.move = {1, 0, 0}};
    }
}

int main(int argc, char **argv) {
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 10;
    uint32_t goals = 0;
    cairn_storm_config config = cairn_storm_config_default();
    config.rules = &football;
    config.on_server = one_ball;
    config.on_input = play;
    config.user = &goals;
    for (config.seed = first; config.seed < first + count; config.seed++) {
        cairn_storm_report report;
        if (!cairn_storm_run(&config, &report) || report.finding != CAIRN_STORM_FOUND_NOTHING) {
            printf("seed %" PRIu64 ": %s\n", config.seed, report.words);
            return 1;
        }
        printf("seed %" PRIu64 ": %" PRIu32 " goals, %" PRIu64 " roots and %" PRIu64
               " snapshots compared\n",
            config.seed, goals, report.roots_compared, report.snapshots_compared);
    }
    return 0;
}
