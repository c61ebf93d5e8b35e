// SPDX-License-Identifier: MIT
#include "storm/draw.h"

#include <string.h>

#include <cairn/sim.h>

static const uint64_t ms_ns = 1000000;

static float between(cairn_random *random, float low, float high) {
    return low + (high - low) * cairn_random_unit(random);
}

static cairn_scene_shape shape_of(uint32_t kind, float size) {
    cairn_shape_def def = cairn_shape_def_default();
    def.kind = kind;
    def.half_extents = (cairn_vec3){size, size, size};
    def.radius = size;
    def.half_height = size;
    return (cairn_scene_shape){.def = def};
}

static void add_body(cairn_storm_scene *s, uint32_t kind, cairn_vec3 at, cairn_scene_shape shape) {
    const uint32_t i = s->scene.body_count++;
    s->bodies[i] = (cairn_scene_body){.def = {.kind = kind,
                                          .position = at,
                                          .rotation = {0, 0, 0, 1},
                                          .gravity_scale = 1,
                                          .allow_sleep = 1},
        .grid_count = {1, 1, 1},
        .first_shape = i,
        .shape_count = 1};
    s->shapes[i] = shape;
    s->scene.shape_count++;
}

static void add_random_body(cairn_storm_scene *s, cairn_random *random) {
    static const uint32_t kinds[] = {CAIRN_SHAPE_BOX, CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_CAPSULE,
        CAIRN_SHAPE_CYLINDER, CAIRN_SHAPE_CONE};
    cairn_scene_shape shape =
        shape_of(kinds[cairn_random_below(random, 5)], between(random, 0.1f, 0.6f));
    shape.def.restitution = between(random, 0, 0.5f);
    shape.def.flags = s->scene.body_count % 2 == 0 ? CAIRN_SHAPE_HIT_EVENTS : 0u;
    const cairn_vec3 at = {
        between(random, -4, 4), between(random, 0.6f, 5), between(random, -4, 4)};
    add_body(s, CAIRN_BODY_DYNAMIC, at, shape);
    cairn_body_def *def = &s->bodies[s->scene.body_count - 1].def;
    def->linear_velocity = (cairn_vec3){between(random, -2, 2), 0, between(random, -2, 2)};
    // Rare features come with the number of the body, so that a seed draws as before.
    def->gyroscopic = s->scene.body_count % 3 == 0 ? 1 : 0;
    def->angular_damping = s->scene.body_count % 5 == 0 ? 0.5f : 0.0f;
    def->gravity_scale = s->scene.body_count % 7 == 0 ? 0.5f : 1.0f;
}

static void add_joint(cairn_storm_scene *s, cairn_random *random, uint32_t a, uint32_t b) {
    static const uint32_t kinds[2][3] = {{CAIRN_JOINT_BALL, CAIRN_JOINT_HINGE, CAIRN_JOINT_CONE},
        {CAIRN_JOINT_DISTANCE, CAIRN_JOINT_DISTANCE, CAIRN_JOINT_HINGE}};
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = kinds[cairn_random_below(random, 2)][s->scene.joint_count % 3];
    def.anchor_a.y = 0.5f;
    def.anchor_b.y = -0.5f;
    def.length = 1.0f;
    def.cone = 0.5f;
    def.limited = def.kind == CAIRN_JOINT_DISTANCE || def.kind == CAIRN_JOINT_BALL ? 0 : 1;
    def.lower = -0.5f;
    def.upper = 0.75f;
    s->joints[s->scene.joint_count++] = (cairn_scene_joint){.def = def, .body_a = a, .body_b = b};
}

static void set_world_settings(cairn_scene *scene, cairn_random *random, const char *rules) {
    strcpy(scene->name, "storm");
    strncpy(scene->rules, rules, sizeof scene->rules - 1);
    cairn_world_def *world = &scene->world;
    world->body_capacity = CAIRN_STORM_BODY_CAPACITY;
    world->shape_capacity = CAIRN_STORM_BODY_CAPACITY;
    world->joint_capacity = 8;
    world->contact_capacity = 256;
    world->tick_rate_hz = 30;
    world->iterations = 4 + (uint32_t)cairn_random_below(random, 5);
    world->friction_model = (uint32_t)cairn_random_below(random, 2);
    world->sleep = (uint32_t)cairn_random_below(random, 2);
    world->seed = cairn_random_next(random);
}

void cairn_storm_draw_scene(cairn_storm_scene *out, cairn_random *random, const char *rules) {
    memset(out, 0, sizeof *out);
    cairn_scene *scene = &out->scene;
    *scene = cairn_scene_default();
    scene->bodies = out->bodies;
    scene->shapes = out->shapes;
    scene->joints = out->joints;
    set_world_settings(scene, random, rules);
    add_body(out, CAIRN_BODY_STATIC, (cairn_vec3){0}, shape_of(CAIRN_SHAPE_HALF_SPACE, 1));
    // Most worlds are tiny: the storm tests the protocol, and steps cost time.
    const uint64_t most = cairn_random_below(random, 8) == 0 ? CAIRN_STORM_DRAWN_BODIES_MAX : 6;
    const uint64_t count = 1 + cairn_random_below(random, most);
    for (uint64_t i = 0; i < count; i++) {
        add_random_body(out, random);
    }
    for (uint32_t i = 1; i + 1 < scene->body_count && scene->joint_count < 3; i++) {
        if (cairn_random_below(random, 4) == 0) {
            add_joint(out, random, i, i + 1);
        }
    }
    cairn_scene_shape sensor = shape_of(CAIRN_SHAPE_BOX, 1.5f);
    sensor.def.flags = CAIRN_SHAPE_SENSOR;
    add_body(out, CAIRN_BODY_STATIC, (cairn_vec3){0, 1, 0}, sensor);
}

static bool chance(cairn_random *random, uint64_t permille) {
    return cairn_random_below(random, 1000) < permille;
}

uint32_t cairn_storm_draw_tick_rate(cairn_random *random) {
    static const uint32_t rates[] = {10, 10, 12, 15, 20, 20, 20, 25, 30, 30, 30, 60};
    static const uint32_t high[] = {60, 64, 100, 120, 128, 144, 240};
    return chance(random, 60) ? high[cairn_random_below(random, 7)]
                              : rates[cairn_random_below(random, 12)];
}

cairn_virtual_clock cairn_storm_draw_clock(cairn_random *random) {
    const int32_t drift =
        chance(random, 500) ? 0 : (int32_t)cairn_random_below(random, 2001) - 1000;
    return (cairn_virtual_clock){.drift_ppm = drift,
        .offset_ns = CAIRN_NS_PER_S + cairn_random_below(random, 1000) * CAIRN_NS_PER_S};
}

// From a local network to a bad mobile one. Round trips stay below a second. Rooms above 64 Hz get
// good paths: lockstep with six players at 240 Hz needs 65 kB/s, and with half a second of round
// trip and a tenth lost it cannot catch up.
cairn_virtual_path cairn_storm_draw_path(
    cairn_random *random, uint32_t tick_rate_hz, uint32_t loss_permille_max) {
    const bool bad = chance(random, 400) && tick_rate_hz <= 64;
    const uint32_t loss = (uint32_t)cairn_random_below(random, bad ? 301 : 31);
    return (cairn_virtual_path){
        .loss_permille = loss < loss_permille_max ? loss : loss_permille_max,
        .repeat_permille = chance(random, 300) ? (uint32_t)cairn_random_below(random, 200) : 0,
        .corrupt_permille = chance(random, 200) ? (uint32_t)cairn_random_below(random, 50) : 0,
        .delay_ns =
            cairn_random_below(random, bad ? 200 : 60) * ms_ns + cairn_random_below(random, ms_ns),
        .jitter_ns =
            chance(random, 500) ? 1 + cairn_random_below(random, bad ? 100 : 20) * ms_ns : 0};
}
