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
    shape.def.flags = (s->scene.body_count % 2 == 0 ? CAIRN_SHAPE_HIT_EVENTS : 0u) |
                      (s->scene.body_count % 3 == 0 ? CAIRN_SHAPE_CONTACT_EVENTS : 0u);
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

// Turns a joint into one of the kinds with a drive, by number. What it drives is small: the bodies
// weigh 10 kg to a ton.
static void add_drive(cairn_joint_def *def, uint32_t number) {
    static const uint32_t kinds[] = {CAIRN_JOINT_PRISMATIC, CAIRN_JOINT_WELD, CAIRN_JOINT_WHEEL,
        CAIRN_JOINT_MOTOR, CAIRN_JOINT_GEAR, CAIRN_JOINT_PULLEY, CAIRN_JOINT_ROW, CAIRN_JOINT_HINGE,
        CAIRN_JOINT_BALL, CAIRN_JOINT_DISTANCE, CAIRN_JOINT_CONE};
    const uint32_t count = sizeof kinds / sizeof kinds[0];
    def->kind = kinds[number % count];
    def->limited = def->kind != CAIRN_JOINT_BALL && number / count % 2 != 0;
    def->lower = def->kind == CAIRN_JOINT_DISTANCE ? 0.5f : -0.5f;
    def->upper = 1.5f;
    def->spring = number / 3 % 2;
    def->motor = number / 5 % 2;
    def->motor_speed = 3.0f;
    def->motor_velocity.y = 2.0f;
    def->motor_force = 500.0f;
    def->motor_torque = 200.0f;
    def->hertz = def->kind == CAIRN_JOINT_MOTOR ? 3.0f : 0.0f;
    def->damping = 1.0f;
    def->target_position.y = 1.0f;
    def->target_rotation.w = 1.0f;
    def->steering = number / 7 % 2;
    def->steering_hertz = 5.0f;
    def->steering_damping = 1.0f;
    def->steering_target = 0.3f;
    def->steering_torque = 300.0f;
    def->ratio = 2.0f;
    def->fixed_a = (cairn_vec3){-1.0f, 6.0f, 0.0f};
    def->fixed_b = (cairn_vec3){1.0f, 6.0f, 0.0f};
    def->length = def->kind == CAIRN_JOINT_PULLEY ? 12.0f : def->length;
    def->row = (cairn_joint_row){.linear_a = {0, -1, 0},
        .linear_b = {0, 1, 0},
        .lower = -200.0f,
        .upper = 200.0f,
        .velocity = 0.5f};
    def->breakable = number / 2 % 2;
    def->break_force = 4000.0f;
    def->break_torque = 4000.0f;
}

// Hangs b on a in joint coordinates, by number. Joints between bodies in a row make no rings.
static void articulate(cairn_joint_def *def, uint32_t number) {
    static const uint32_t kinds[] = {CAIRN_JOINT_HINGE, CAIRN_JOINT_BALL, CAIRN_JOINT_PRISMATIC,
        CAIRN_JOINT_CONE, CAIRN_JOINT_WELD};
    def->kind = kinds[number % 5];
    def->articulated = 1;
    def->limited = def->kind == CAIRN_JOINT_BALL || def->kind == CAIRN_JOINT_WELD ? 0 : 1;
    def->motor = def->kind == CAIRN_JOINT_WELD ? 0 : number / 2 % 2;
    def->motor_speed = 3.0f;
    def->motor_velocity.y = 2.0f;
    def->motor_force = 200.0f;
    def->drive_stiffness = number / 4 % 2 != 0 ? 300.0f : 0.0f;
    def->drive_damping = 5.0f;
    def->joint_friction = number / 8 % 2 != 0 ? 2.0f : 0.0f;
    def->armature = 0.05f;
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
    // Half of them by the world's seed, so that a storm's seed draws as before.
    const uint64_t number = s->scene.world.seed >> (8 * s->scene.joint_count);
    if (number % 2 != 0) {
        add_drive(&def, (uint32_t)(number % 256 / 2));
    } else if (number % 8 < 4 && s->scene.world.solver == CAIRN_SOLVER_SOFT_STEP) {
        articulate(&def, (uint32_t)(number % 256 / 8));
    }
    s->joints[s->scene.joint_count++] = (cairn_scene_joint){.def = def, .body_a = a, .body_b = b};
}

// A hill of two triangles or a field of four by four heights under the place where bodies fall,
// and a hull instead of the first of them.
static void add_surfaces(cairn_storm_scene *s, uint32_t number) {
    static const cairn_vec3 tetrahedron[4] = {
        {-0.4f, -0.3f, -0.3f}, {0.4f, -0.3f, -0.3f}, {0.0f, -0.3f, 0.5f}, {0.0f, 0.5f, 0.0f}};
    static const cairn_vec3 hill[4] = {{-3, 0, -2}, {-3, 0, 2}, {3, 0, 0}, {0, 1, 0}};
    static const uint32_t indices[6] = {0, 1, 3, 1, 2, 3};
    memcpy(s->points, tetrahedron, sizeof tetrahedron);
    memcpy(&s->points[4], hill, sizeof hill);
    memcpy(s->indices, indices, sizeof indices);
    for (uint32_t i = 0; i < 16; ++i) {
        s->heights[i] = 0.2f * (float)((i * 7 + number) % 5);
    }
    s->hull = (cairn_scene_hull){.point_count = 4};
    s->mesh = (cairn_scene_mesh){.first_vertex = 4, .vertex_count = 4, .index_count = 6};
    s->field = (cairn_scene_height_field){
        .height_count = 16, .columns = 4, .spacing_x = 1.5f, .spacing_z = 1.5f};
    cairn_scene *scene = &s->scene;
    scene->hulls = &s->hull;
    scene->hull_count = 1;
    scene->points = s->points;
    scene->point_count = 8;
    scene->meshes = &s->mesh;
    scene->mesh_count = 1;
    scene->indices = s->indices;
    scene->index_count = 6;
    scene->height_fields = &s->field;
    scene->height_field_count = 1;
    scene->heights = s->heights;
    scene->height_count = 16;
    cairn_scene_shape shape =
        shape_of(number % 2 == 0 ? CAIRN_SHAPE_MESH : CAIRN_SHAPE_HEIGHT_FIELD, 1);
    shape.def.static_friction = 0.8f;
    shape.def.rolling_resistance = 0.01f;
    shape.def.surface_velocity.x = number % 3 == 0 ? 0.5f : 0.0f;
    add_body(s, CAIRN_BODY_STATIC, (cairn_vec3){-2, 0, -2}, shape);
    s->shapes[1].def.kind = CAIRN_SHAPE_HULL; // the first body that moves
}

static void set_world_settings(cairn_scene *scene, cairn_random *random, const char *rules) {
    strcpy(scene->name, "storm");
    strncpy(scene->rules, rules, sizeof scene->rules - 1);
    cairn_world_def *world = &scene->world;
    world->body_capacity = CAIRN_STORM_BODY_CAPACITY;
    world->shape_capacity = CAIRN_STORM_BODY_CAPACITY;
    world->joint_capacity = 8;
    world->contact_capacity = 256;
    world->event_capacity = 512;
    world->hull_capacity = 4;
    world->mesh_capacity = 4;
    world->mesh_block_capacity = 64;
    world->tick_rate_hz = 30;
    world->iterations = 4 + (uint32_t)cairn_random_below(random, 5);
    world->friction_model = (uint32_t)cairn_random_below(random, 2);
    world->sleep = (uint32_t)cairn_random_below(random, 2);
    world->seed = cairn_random_next(random);
}

// Of ten tiny worlds one has a laboratory solver, by the world's seed.
static void choose_solver(cairn_world_def *world) {
    const uint64_t number = world->seed >> 48;
    if (number % 10 == 0) {
        world->solver = CAIRN_SOLVER_DIRECT + (uint32_t)(number / 10 % 7);
        world->stop_rule = (uint32_t)(number / 70 % 4);
        world->stop_tolerance = 1e-3f;
    }
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
    if (most <= 6) {
        choose_solver(&scene->world);
    }
    for (uint64_t i = 0; i < count; i++) {
        add_random_body(out, random);
    }
    for (uint32_t i = 1; i + 1 < scene->body_count && scene->joint_count < 3; i++) {
        if (cairn_random_below(random, 4) == 0) {
            add_joint(out, random, i, i + 1);
        }
    }
    if (scene->world.seed >> 40 & 1u) {
        add_surfaces(out, (uint32_t)(scene->world.seed >> 41 & 63u));
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

cairn_virtual_bottleneck cairn_storm_draw_bottleneck(cairn_random *random) {
    const uint32_t most = 60 + (uint32_t)cairn_random_below(random, 441);
    const uint32_t rate = 60 + (uint32_t)cairn_random_below(random, most - 59);
    return (cairn_virtual_bottleneck){
        .bytes_per_s = 1000 * rate, .queue_ns = (50 + cairn_random_below(random, 151)) * ms_ns};
}
