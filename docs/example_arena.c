// SPDX-License-Identifier: MIT

// A game's rules in a file of their own: players roll balls on a disc and score when another one
// falls off. Built as a shared object, every program takes them with --rules arena.so; linked, a
// server of the game's own is docs/example_arena_server.c.

#include <string.h>

#include <cairn/math.h>
#include <cairn/sim.h>

#define PUSH 12.0f   // N s per second and kg, along `move`
#define RADIUS 0.5f  // m, of a ball
#define START 3.0f   // m, from the middle
#define BOTTOM -5.0f // m: a ball below has fallen off

typedef struct player {
    cairn_body_id ball; // CAIRN_ID_NULL: nobody plays here
    uint32_t score;
    uint32_t colour; // that the player chose
} player;

// All that the rules remember.
typedef struct arena {
    player players[CAIRN_SLOTS_MAX];
} arena;

static cairn_vec3 start_of(uint32_t slot) {
    const float angle = 2.4f * (float)slot; // golden angle: neighbours start apart
    return cairn_vec3_of(START * cairn_float_cos(angle), 1.0f, START * cairn_float_sin(angle));
}

static void roll_in(cairn_world *world, player *p, uint32_t slot) {
    cairn_body_def body = cairn_body_def_default();
    body.position = start_of(slot);
    body.user = slot + 1;
    cairn_shape_def ball = cairn_shape_def_default();
    ball.kind = CAIRN_SHAPE_SPHERE;
    ball.radius = RADIUS;
    cairn_shape_id shape;
    if (cairn_body_create(world, &body, &p->ball) == CAIRN_OK) {
        (void)cairn_shape_create(world, p->ball, &ball, &shape);
    }
}

static void push(cairn_world *world, const player *p, const cairn_command *input) {
    const float strength =
        PUSH * cairn_body_mass(world, p->ball) / (float)cairn_world_settings(world)->tick_rate_hz;
    const cairn_vec3 flat = cairn_vec3_of(input->move.x, 0.0f, input->move.z);
    (void)cairn_body_apply_impulse_at_centre(world, p->ball, cairn_vec3_scale(flat, strength));
}

// The players left on the disc score, and the ball starts again.
static void fall_off(cairn_world *world, arena *all, uint32_t slot) {
    for (uint32_t i = 0; i < CAIRN_SLOTS_MAX; ++i) {
        all->players[i].score += i != slot && all->players[i].ball != CAIRN_ID_NULL ? 1u : 0u;
    }
    (void)cairn_body_place(
        world, all->players[slot].ball, cairn_pose_of(start_of(slot), cairn_quat_identity()));
    (void)cairn_body_set_velocity(
        world, all->players[slot].ball, cairn_vec3_zero(), cairn_vec3_zero());
    // Clients that predict play the splash when they see the fall, and stop it if it was none.
    const uint8_t fallen = (uint8_t)slot;
    (void)cairn_world_send_event(world, CAIRN_SLOT_ALL, &fallen, sizeof fallen);
}

// A message of a player: a colour, which everybody is told.
static void choose_colour(
    cairn_world *world, void *state, uint32_t slot, const uint8_t *bytes, uint32_t size) {
    arena *all = state;
    if (size == 1 && all->players[slot].ball != CAIRN_ID_NULL) {
        const uint8_t chosen[2] = {(uint8_t)slot, bytes[0]};
        all->players[slot].colour = bytes[0];
        (void)cairn_world_send_message(world, CAIRN_SLOT_ALL, chosen, sizeof chosen);
    }
}

static void step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    arena *all = state;
    for (uint32_t i = 0; i < command_count; ++i) {
        player *p = &all->players[commands[i].slot];
        if (commands[i].kind == CAIRN_COMMAND_JOIN) {
            roll_in(world, p, commands[i].slot);
        } else if (commands[i].kind == CAIRN_COMMAND_LEAVE) {
            (void)cairn_body_destroy(world, p->ball);
            memset(p, 0, sizeof *p);
        } else {
            push(world, p, &commands[i]);
        }
    }
    for (uint32_t slot = 0; slot < CAIRN_SLOTS_MAX; ++slot) {
        cairn_body_state ball;
        if (cairn_body_read(world, all->players[slot].ball, &ball) == CAIRN_OK &&
            ball.position.y < BOTTOM) {
            fall_off(world, all, slot);
        }
    }
}

// Nobody can score alone: a server that is to end need not wait for one player.
static bool is_over(const cairn_world *world, const void *state) {
    const arena *all = state;
    uint32_t players = 0;
    (void)world;
    for (uint32_t slot = 0; slot < CAIRN_SLOTS_MAX; ++slot) {
        players += all->players[slot].ball != CAIRN_ID_NULL ? 1u : 0u;
    }
    return players < 2;
}

extern const cairn_rules example_arena;
const cairn_rules example_arena = {.name = "arena",
    .version = 1,
    .state_size = sizeof(arena),
    .shared_size = sizeof(arena), // the scores, for clients without a world
    .step = step,
    .message_size_max = 1,
    .message = choose_colour,
    .over = is_over};
CAIRN_RULES_EXPORT(&example_arena);
