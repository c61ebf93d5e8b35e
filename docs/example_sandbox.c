// SPDX-License-Identifier: MIT

// The built-in rules, which every program has, written with the public headers alone: copy them to
// begin a game. Each player drives a box, jumps, pushes what it aims at, throws spheres and
// spawns cubes. The number of spawned bodies is bounded: the oldest is destroyed first.

#include <cairn/math.h>
#include <cairn/sim.h>

#define SPAWNED_MAX 64
#define PLAYERS 64 // a player in a later slot has no box: the state stays small

typedef struct sandbox {
    cairn_body_id player[PLAYERS]; // zero: the slot has no player
    uint32_t held[PLAYERS];        // buttons of the slot's last input; actions start on a press
    cairn_body_id spawned[SPAWNED_MAX]; // ring buffer; zero: not used yet
    uint32_t next;                      // ring index of the next spawn
} sandbox;

_Static_assert(sizeof(sandbox) % 4 == 0, "hash and encoding read it by words");

#define PLAYER_HALF_EXTENT 0.5f   // m
#define PLAYER_SPEED 6.0f         // m/s, target speed at full `move`
#define PLAYER_GRIP 10.0f         // 1/s, rate at which the speed approaches its target
#define PLAYER_ACCELERATION 25.0f // m/s^2, at most
#define JUMP_SPEED 5.0f           // m/s
#define PUSH_REACH 20.0f          // m
#define PUSH_IMPULSE 2000.0f      // N s
#define THROW_SPEED 15.0f         // m/s
#define THROW_RADIUS 0.15f        // m
#define LOST_BELOW (-100.0f)      // m; a player below returns to its start position

static cairn_vec3 start_position(uint32_t slot) {
    return cairn_vec3_of(-10.5f + 3.0f * (float)(slot % 8), 1.5f, 12.0f + 3.0f * (float)(slot / 8));
}

// Creates a body with one shape. Returns zero, and creates nothing, if a capacity is exhausted.
static cairn_body_id spawn_body(
    cairn_world *world, cairn_vec3 position, cairn_vec3 velocity, const cairn_shape_def *shape) {
    cairn_body_def def = cairn_body_def_default();
    def.position = position;
    def.linear_velocity = velocity;
    cairn_body_id body = 0;
    cairn_shape_id ignored = 0;
    if (cairn_body_create(world, &def, &body) != CAIRN_OK) {
        return 0;
    }
    if (cairn_shape_create(world, body, shape, &ignored) != CAIRN_OK) {
        (void)cairn_body_destroy(world, body);
        return 0;
    }
    return body;
}

// Creates a body in place of the oldest one, whose slots are freed first.
static void spawn_in_ring(cairn_world *world, sandbox *state, cairn_vec3 position,
    cairn_vec3 velocity, const cairn_shape_def *shape) {
    cairn_body_id *oldest = &state->spawned[state->next % SPAWNED_MAX];
    if (*oldest != 0) {
        (void)cairn_body_destroy(world, *oldest); // may be gone already
    }
    *oldest = spawn_body(world, position, velocity, shape);
    if (*oldest != 0) {
        state->next = (state->next + 1) % SPAWNED_MAX;
    }
}

static void join_player(cairn_world *world, sandbox *state, uint32_t slot) {
    if (cairn_body_exists(world, state->player[slot])) {
        return;
    }
    cairn_shape_def shape = cairn_shape_def_default();
    shape.half_extents = cairn_vec3_of(PLAYER_HALF_EXTENT, PLAYER_HALF_EXTENT, PLAYER_HALF_EXTENT);
    shape.user = slot;
    state->player[slot] = spawn_body(world, start_position(slot), cairn_vec3_zero(), &shape);
    (void)cairn_body_set_owner(world, state->player[slot], slot);
    state->held[slot] = 0;
}

static void drive_player(cairn_world *world, const cairn_body_state *body, cairn_vec3 move) {
    if (move.x == 0.0f && move.z == 0.0f) {
        return;
    }
    const cairn_vec3 wanted = cairn_vec3_of(move.x * PLAYER_SPEED, 0.0f, move.z * PLAYER_SPEED);
    const cairn_vec3 velocity =
        cairn_vec3_of(body->linear_velocity.x, 0.0f, body->linear_velocity.z);
    const cairn_vec3 most = cairn_vec3_of(PLAYER_ACCELERATION, 0.0f, PLAYER_ACCELERATION);
    const cairn_vec3 acceleration =
        cairn_vec3_clamp(cairn_vec3_scale(cairn_vec3_sub(wanted, velocity), PLAYER_GRIP),
            cairn_vec3_negate(most), most);
    const float mass = cairn_body_mass(world, body->id);
    (void)cairn_body_apply_force(
        world, body->id, cairn_vec3_scale(acceleration, mass), cairn_vec3_zero());
}

static void apply_input(cairn_world *world, sandbox *state, const cairn_command *command) {
    cairn_body_state body;
    cairn_ray_hit hit;
    cairn_shape_def shape = cairn_shape_def_default();
    const uint32_t pressed = command->buttons & ~state->held[command->slot];
    const cairn_vec3 aim = cairn_vec3_normalize(command->aim, cairn_vec3_of(0.0f, 0.0f, -1.0f));
    state->held[command->slot] = command->buttons;
    if (cairn_body_read(world, state->player[command->slot], &body) != CAIRN_OK) {
        return;
    }
    drive_player(world, &body, command->move);
    const cairn_vec3 down = cairn_vec3_of(0.0f, -2.0f * PLAYER_HALF_EXTENT, 0.0f);
    if ((pressed & CAIRN_SANDBOX_JUMP) != 0 &&
        cairn_world_ray_cast(world, body.position, down, UINT32_MAX, body.id, &hit) == CAIRN_OK) {
        const float impulse = JUMP_SPEED * cairn_body_mass(world, body.id);
        (void)cairn_body_apply_impulse_at_centre(
            world, body.id, cairn_vec3_of(0.0f, impulse, 0.0f));
    }
    const cairn_vec3 reach = cairn_vec3_scale(aim, PUSH_REACH);
    if ((pressed & CAIRN_SANDBOX_PUSH) != 0 &&
        cairn_world_ray_cast(world, body.position, reach, UINT32_MAX, body.id, &hit) == CAIRN_OK) {
        (void)cairn_body_apply_impulse(
            world, hit.body, cairn_vec3_scale(aim, PUSH_IMPULSE), hit.point);
    }
    if ((pressed & CAIRN_SANDBOX_THROW) != 0) {
        const float distance = 2.0f * PLAYER_HALF_EXTENT + THROW_RADIUS;
        shape.kind = CAIRN_SHAPE_SPHERE;
        shape.radius = THROW_RADIUS;
        spawn_in_ring(world, state, cairn_vec3_add_scaled(body.position, aim, distance),
            cairn_vec3_add_scaled(body.linear_velocity, aim, THROW_SPEED), &shape);
    }
    if ((pressed & CAIRN_SANDBOX_SPAWN) != 0) {
        const cairn_vec3 above = cairn_vec3_of(0.0f, 3.0f * PLAYER_HALF_EXTENT, 0.0f);
        shape = cairn_shape_def_default();
        shape.half_extents = cairn_vec3_of(0.25f, 0.25f, 0.25f);
        spawn_in_ring(
            world, state, cairn_vec3_add(body.position, above), cairn_vec3_zero(), &shape);
    }
}

static void rescue_lost(cairn_world *world, const sandbox *state) {
    for (uint32_t slot = 0; slot < PLAYERS; ++slot) {
        cairn_body_state body;
        if (cairn_body_read(world, state->player[slot], &body) == CAIRN_OK &&
            body.position.y < LOST_BELOW) {
            const cairn_pose pose = {
                .position = start_position(slot), .rotation = cairn_quat_identity()};
            (void)cairn_body_set_velocity(world, body.id, cairn_vec3_zero(), cairn_vec3_zero());
            (void)cairn_body_set_pose(world, body.id, pose);
        }
    }
}

static void step_sandbox(
    cairn_world *world, void *memory, const cairn_command *commands, uint32_t command_count) {
    sandbox *state = memory;
    for (uint32_t i = 0; i < command_count && commands[i].slot < PLAYERS; ++i) { // sorted by slot
        const cairn_command *command = &commands[i];
        switch (command->kind) {
        case CAIRN_COMMAND_JOIN:
            join_player(world, state, command->slot);
            break;
        case CAIRN_COMMAND_LEAVE:
            (void)cairn_body_destroy(world, state->player[command->slot]);
            state->player[command->slot] = 0;
            state->held[command->slot] = 0;
            break;
        case CAIRN_COMMAND_INPUT:
            apply_input(world, state, command);
            break;
        default:
            break; // the host's commands go to `host`
        }
    }
    rescue_lost(world, state);
}

const cairn_rules cairn_rules_sandbox = {
    .name = "sandbox", .version = 1, .state_size = sizeof(sandbox), .step = step_sandbox};
