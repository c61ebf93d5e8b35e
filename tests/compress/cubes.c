// SPDX-License-Identifier: MIT
#include "tests/compress/cubes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/math.h>
#include <cairn/sim.h>

#include "base/assert.h"
#include "base/random.h"

#define GRAVITY 20.0f // m/s^2, along -z
#define DAMPING 0.6f  // 1/s
#define PLAYER_HALF 0.75f
#define CUBE_HALF 0.2f
#define WALL 31.0f          // m from the middle
#define PLAYER_FORCE 120.0f // N in each direction, twice that to brake
#define PLAYER_SPEED 7.0f   // m/s
#define FIELD 200.0f        // m/s^2 at a metre, of pushing and pulling
#define REACH 2.4f          // m

typedef enum gait { ROLL, HOVER, PULL } gait;

typedef struct game {
    cairn_world *world;
    cairn_random random;
    cairn_body_id ids[CUBES_COUNT];
    float masses[CUBES_COUNT];
    cairn_body_state states[CUBES_COUNT];
    gait gait;
    uint32_t gait_until; // tick
    cairn_vec3 goal;
    cairn_vec3 push; // signs of the player's force, on the ground
} game;

static void must(cairn_status status) {
    CAIRN_ASSERT(status == CAIRN_OK);
}

static float uniform(game *g, float low, float high) {
    return low + (high - low) * cairn_random_unit(&g->random);
}

// On the ground. The order of calls in one expression is open, that of statements is not.
static cairn_vec3 random_place(game *g, float most, float z) {
    const float x = uniform(g, -most, most);
    const float y = uniform(g, -most, most);
    return cairn_vec3_of(x, y, z);
}

static void add_shape(game *g, cairn_body_id body, uint32_t kind, float half) {
    cairn_shape_def def = cairn_shape_def_default();
    def.kind = kind;
    def.half_extents = cairn_vec3_of(half, half, half);
    def.density = 1.0f;
    def.friction = 1.0f;
    cairn_shape_id shape;
    must(cairn_shape_create(g->world, body, &def, &shape));
}

// A solid below a plane with this normal.
static void add_wall(game *g, cairn_vec3 position, cairn_vec3 normal) {
    cairn_body_def def = cairn_body_def_default();
    def.kind = CAIRN_BODY_STATIC;
    def.position = position;
    const cairn_vec3 axis = cairn_vec3_cross(cairn_vec3_of(0.0f, 1.0f, 0.0f), normal);
    def.rotation = cairn_quat_normalize(
        normal.y < -0.5f ? cairn_quat_of(1.0f, 0.0f, 0.0f, 0.0f)
                         : cairn_quat_of(axis.x, axis.y, axis.z, 1.0f + normal.y));
    cairn_body_id body;
    must(cairn_body_create(g->world, &def, &body));
    add_shape(g, body, CAIRN_SHAPE_HALF_SPACE, 0.0f);
}

static void add_cube(game *g, uint32_t index) {
    const uint32_t place = index - 1;
    cairn_body_def def = cairn_body_def_default();
    def.linear_damping = DAMPING;
    def.angular_damping = DAMPING;
    def.position = index == 0 ? cairn_vec3_of(0.0f, 0.0f, 10.0f)
                              : cairn_vec3_of((float)(place % 30) - 14.5f,
                                    (float)(place / 30) - 14.5f, CUBE_HALF);
    must(cairn_body_create(g->world, &def, &g->ids[index]));
    add_shape(g, g->ids[index], CAIRN_SHAPE_BOX, index == 0 ? PLAYER_HALF : CUBE_HALF);
    g->masses[index] = cairn_body_mass(g->world, g->ids[index]);
}

static void build(game *g) {
    cairn_world_def def = cairn_world_def_default();
    def.gravity = cairn_vec3_of(0.0f, 0.0f, -GRAVITY);
    def.tick_rate_hz = CUBES_RATE_HZ;
    def.body_capacity = CUBES_COUNT + 5;
    def.shape_capacity = CUBES_COUNT + 5;
    def.contact_capacity = 16384;
    def.sleep_speed = 0.2f;
    must(cairn_world_create(&def, &g->world));
    add_wall(g, cairn_vec3_zero(), cairn_vec3_of(0.0f, 0.0f, 1.0f));
    add_wall(g, cairn_vec3_of(WALL, 0.0f, 0.0f), cairn_vec3_of(-1.0f, 0.0f, 0.0f));
    add_wall(g, cairn_vec3_of(-WALL, 0.0f, 0.0f), cairn_vec3_of(1.0f, 0.0f, 0.0f));
    add_wall(g, cairn_vec3_of(0.0f, WALL, 0.0f), cairn_vec3_of(0.0f, -1.0f, 0.0f));
    add_wall(g, cairn_vec3_of(0.0f, -WALL, 0.0f), cairn_vec3_of(0.0f, 1.0f, 0.0f));
    for (uint32_t i = 0; i < CUBES_COUNT; ++i) {
        add_cube(g, i);
    }
}

// Chooses where the player goes and how; its keys change four times a second.
static void steer(game *g, uint32_t tick) {
    const cairn_body_state *player = &g->states[0];
    const cairn_vec3 way = cairn_vec3_sub(g->goal, player->position);
    const bool there = cairn_float_abs(way.x) < 2.5f && cairn_float_abs(way.y) < 2.5f;
    if (there || tick % 300 == 0) {
        g->goal = random_place(g, 22.0f, 0.0f);
    }
    if (tick >= g->gait_until) {
        const float chance = uniform(g, 0.0f, 1.0f);
        g->gait = chance < 0.62f ? PULL : chance < 0.92f ? HOVER : ROLL;
        g->gait_until = tick + 120 + (uint32_t)uniform(g, 0.0f, 360.0f);
    }
    if (tick % 15 == 0) {
        const cairn_vec3 v = player->linear_velocity;
        const bool fast = v.x * v.x + v.y * v.y > PLAYER_SPEED * PLAYER_SPEED;
        g->push = cairn_vec3_of(cairn_float_abs(way.x) < 1.5f || fast ? 0.0f : way.x,
            cairn_float_abs(way.y) < 1.5f || fast ? 0.0f : way.y, 0.0f);
    }
}

static float force_along(float push, float velocity) {
    const float force = push * velocity < 0.0f ? 2.0f * PLAYER_FORCE : PLAYER_FORCE;
    return push > 0.0f ? force : push < 0.0f ? -force : 0.0f;
}

static void push_player(game *g) {
    const cairn_vec3 v = g->states[0].linear_velocity;
    const cairn_vec3 force =
        cairn_vec3_of(force_along(g->push.x, v.x), force_along(g->push.y, v.y), 0.0f);
    if (cairn_vec3_length_squared(force) > 0.0f) {
        must(cairn_body_apply_force(g->world, g->ids[0], force, cairn_vec3_zero()));
    }
}

// A force from `centre` outwards, or inwards, that falls with the square of the distance.
static void apply_field(game *g, uint32_t index, cairn_vec3 centre, float sign, float most) {
    const cairn_vec3 arm = cairn_vec3_sub(g->states[index].position, centre);
    const float distance = cairn_vec3_length(arm);
    if (distance < REACH && distance > 0.01f) {
        const float field = cairn_float_min(FIELD / (distance * distance), most);
        const float scale = sign * field * g->masses[index] / distance;
        must(cairn_body_apply_force(
            g->world, g->ids[index], cairn_vec3_scale(arm, scale), cairn_vec3_zero()));
    }
}

static void act(game *g) {
    const cairn_vec3 player = g->states[0].position;
    const cairn_vec3 below = cairn_vec3_of(player.x, player.y, -0.1f);
    push_player(g);
    for (uint32_t i = 0; i < CUBES_COUNT && g->gait != ROLL; ++i) {
        if (g->gait == HOVER) {
            apply_field(g, i, below, 1.0f, 500.0f);
        } else if (i > 0) {
            apply_field(g, i, player, -1.0f, 2000.0f);
        }
    }
    if (g->gait == HOVER) {
        const cairn_body_state *s = &g->states[0];
        const cairn_vec3 v = s->linear_velocity;
        must(cairn_body_set_velocity(g->world, g->ids[0],
            cairn_vec3_of(0.96f * v.x, 0.96f * v.y, 0.999f * v.z),
            cairn_vec3_scale(s->angular_velocity, 0.95f)));
    }
}

static void blast(game *g) {
    const float radius = 13.0f, most = 8.0f; // m, m/s
    const cairn_vec3 centre = random_place(g, 15.0f, -1.0f);
    for (uint32_t i = 0; i < CUBES_COUNT; ++i) {
        const cairn_vec3 arm = cairn_vec3_sub(g->states[i].position, centre);
        const float distance = cairn_vec3_length(arm);
        if (distance < radius) {
            const float impulse = g->masses[i] * most * (1.0f - distance / radius);
            must(cairn_body_apply_impulse_at_centre(
                g->world, g->ids[i], cairn_vec3_scale(arm, impulse / distance)));
        }
    }
}

static void play(game *g, cubes_kind kind, uint32_t tick) {
    for (uint32_t i = 0; i < CUBES_COUNT; ++i) {
        must(cairn_body_read(g->world, g->ids[i], &g->states[i]));
    }
    if (kind != CUBES_REST) {
        steer(g, tick);
        act(g);
    } else if (tick % 100 < 25) {
        if (tick % 100 == 0) {
            g->push = random_place(g, 1.0f, 0.0f);
        }
        push_player(g);
    }
    if (kind == CUBES_HEAVY && tick % 12 == 0) {
        blast(g);
    }
    cairn_world_step(g->world, NULL, 0);
}

cairn_codec_settings cubes_settings(void) {
    return (cairn_codec_settings){.quantisation = cairn_quantisation_default(),
        .tick_rate_hz = CUBES_RATE_HZ,
        .gravity = {0.0f, 0.0f, -GRAVITY}};
}

static cubes_set set_of(uint32_t frame_count) {
    cubes_set set = {.frame_count = frame_count, .settings = cubes_settings()};
    set.frames = malloc((size_t)frame_count * CUBES_COUNT * sizeof *set.frames);
    CAIRN_ASSERT(set.frames != NULL);
    for (uint32_t i = 0; i < CUBES_COUNT; ++i) {
        const float half = i == 0 ? PLAYER_HALF : CUBE_HALF;
        set.bodies[i] = (cairn_codec_body){.half_extents = {half, half, half}, .leader = i == 0};
    }
    return set;
}

uint32_t cubes_warm_up(cubes_kind kind) {
    static const uint32_t ticks[] = {900, 120, 600};
    return ticks[kind];
}

// Components that have no exact 0: see cubes_read.
#define CHALLENGE_MIDDLE 255.5f

static void round_as_challenge(cairn_quantised_body *body, cairn_quat rotation) {
    const float q[4] = {rotation.x, rotation.y, rotation.z, rotation.w};
    const float scale = (q[body->largest] < 0.0f ? -511.0f : 511.0f) / (2.0f * CAIRN_COMPONENT_MAX);
    for (uint32_t i = 0, k = 0; i < 4; ++i) {
        if (i != body->largest) {
            const float steps = q[i] * scale + CHALLENGE_MIDDLE;
            body->rotation[k++] = (uint16_t)(cairn_float_clamp(steps, 0.0f, 511.0f) + 0.5f);
        }
    }
}

static cubes_set simulate(
    cubes_kind kind, uint64_t seed, uint32_t warm_up, uint32_t frame_count, float middle) {
    static game g;
    g = (game){.random = cairn_random_of(seed)};
    build(&g);
    cubes_set set = set_of(frame_count);
    set.settings.rotation_middle = middle;
    const cairn_quantisation quantisation = cairn_quantisation_default();
    for (uint32_t tick = 0; tick < warm_up + frame_count; ++tick) {
        play(&g, kind, tick);
        for (uint32_t i = 0; i < CUBES_COUNT && tick >= warm_up; ++i) {
            cairn_body_state state;
            must(cairn_body_read(g.world, g.ids[i], &state));
            cairn_quantised_body *body = &set.frames[(size_t)(tick - warm_up) * CUBES_COUNT + i];
            *body = cairn_quantise(&quantisation,
                (cairn_pose){.position = state.position, .rotation = state.rotation});
            if (middle > 0.0f) {
                round_as_challenge(body, state.rotation);
            }
        }
    }
    set.bodies_disabled = cairn_world_counters_read(g.world).bodies_disabled;
    cairn_world_destroy(g.world);
    return set;
}

cubes_set cubes_simulate(cubes_kind kind, uint64_t seed, uint32_t warm_up, uint32_t frame_count) {
    return simulate(kind, seed, warm_up, frame_count, 0.0f);
}

cubes_set cubes_simulate_challenge(
    cubes_kind kind, uint64_t seed, uint32_t warm_up, uint32_t frame_count) {
    return simulate(kind, seed, warm_up, frame_count, CHALLENGE_MIDDLE);
}

cubes_set cubes_read(const char *path) {
    FILE *file = fopen(path, "rb");
    CAIRN_ASSERT(file != NULL && fseek(file, 0, SEEK_END) == 0);
    const long size = ftell(file);
    CAIRN_ASSERT(size > 0);
    rewind(file);
    cubes_set set = set_of((uint32_t)(size / (CUBES_COUNT * 32)));
    set.settings.rotation_middle = CHALLENGE_MIDDLE;
    for (size_t i = 0; i < (size_t)set.frame_count * CUBES_COUNT; ++i) {
        uint8_t bytes[32];
        CAIRN_ASSERT(fread(bytes, sizeof bytes, 1, file) == 1);
        uint32_t words[8];
        for (uint32_t k = 0; k < 8; ++k) {
            words[k] = bytes[4 * k] | (uint32_t)bytes[4 * k + 1] << 8 |
                       (uint32_t)bytes[4 * k + 2] << 16 | (uint32_t)bytes[4 * k + 3] << 24;
        }
        set.frames[i] = (cairn_quantised_body){
            .position = {(int32_t)words[4], (int32_t)words[5], (int32_t)words[6]},
            .rotation = {(uint16_t)words[1], (uint16_t)words[2], (uint16_t)words[3]},
            .largest = (uint16_t)words[0]};
    }
    CAIRN_ASSERT(fclose(file) == 0);
    return set;
}

void cubes_free(cubes_set *set) {
    free(set->frames);
    set->frames = NULL;
}

const cairn_quantised_body *cubes_frame(const cubes_set *set, uint32_t at) {
    return set->frames + (size_t)at * CUBES_COUNT;
}

cairn_codec_frames cubes_frames(const cubes_set *set, uint32_t at) {
    CAIRN_ASSERT(at >= CUBES_FIRST && at < set->frame_count);
    return (cairn_codec_frames){.count = CUBES_COUNT,
        .bodies = set->bodies,
        .baseline = cubes_frame(set, at - CUBES_AGE),
        .earlier = cubes_frame(set, at - 2 * CUBES_AGE),
        .earliest = cubes_frame(set, at - 3 * CUBES_AGE),
        .ticks = CUBES_AGE,
        .ticks_earlier = CUBES_AGE,
        .ticks_earliest = CUBES_AGE};
}

double cubes_changed(const cubes_set *set) {
    uint64_t changed = 0;
    for (uint32_t at = CUBES_FIRST; at < set->frame_count; ++at) {
        const cairn_quantised_body *snapshot = cubes_frame(set, at);
        const cairn_quantised_body *baseline = cubes_frame(set, at - CUBES_AGE);
        for (uint32_t i = 0; i < CUBES_COUNT; ++i) {
            changed += memcmp(&snapshot[i], &baseline[i], sizeof snapshot[i]) != 0;
        }
    }
    return (double)changed / (set->frame_count - CUBES_FIRST);
}
