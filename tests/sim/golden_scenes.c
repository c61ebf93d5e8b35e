// SPDX-License-Identifier: MIT
#include "tests/sim/golden_scenes.h"

#include <string.h>

#include "base/assert.h"
#include "base/random.h"
#include "sim/math/vec.h"

// Sixteenths in [-1, 1]: exact in float on every machine.
float golden_draw(uint64_t seed, uint64_t tick, uint64_t entity, uint64_t stream) {
    return (float)(cairn_random_at(seed, tick, entity, stream) % 33) / 16.0f - 1.0f;
}

static cairn_vec3 draw_vec3(uint64_t seed, uint64_t tick, uint64_t entity, uint64_t stream) {
    const float x = golden_draw(seed, tick, entity, stream);
    const float y = golden_draw(seed, tick, entity, stream + 1);
    const float z = golden_draw(seed, tick, entity, stream + 2);
    return vec3(x, y, z);
}

cairn_body_id golden_place(cairn_world *world, uint32_t kind, cairn_vec3 position,
    cairn_quat rotation, const cairn_shape_def *shape) {
    cairn_body_def def = cairn_body_def_default();
    def.kind = kind;
    def.position = position;
    def.rotation = quat_normalize(rotation);
    cairn_body_id body = 0;
    cairn_shape_id id = 0;
    if (cairn_body_create(world, &def, &body) == CAIRN_OK) {
        const cairn_status status = cairn_shape_create(world, body, shape, &id);
        CAIRN_ASSERT(status == CAIRN_OK || status == CAIRN_CAPACITY);
    }
    return body;
}

static cairn_shape_def sphere(float radius) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_SPHERE;
    shape.radius = radius;
    return shape;
}

static cairn_shape_def capsule(float radius, float half_height) {
    cairn_shape_def shape = sphere(radius);
    shape.kind = CAIRN_SHAPE_CAPSULE;
    shape.half_height = half_height;
    return shape;
}

static cairn_shape_def box(float x, float y, float z) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.half_extents = vec3(x, y, z);
    return shape;
}

static cairn_body_id drop(cairn_world *world, cairn_vec3 position, const cairn_shape_def *shape) {
    return golden_place(world, CAIRN_BODY_DYNAMIC, position, quat_identity(), shape);
}

static cairn_body_id ground(cairn_world *world) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    return golden_place(world, CAIRN_BODY_STATIC, vec3_zero(), quat_identity(), &shape);
}

static cairn_shape_def any_shape(uint64_t seed, uint64_t which) {
    switch (which % 3) {
    case 0:
        return sphere(0.3f + 0.1f * golden_draw(seed, which, 0, 0));
    case 1:
        return capsule(0.2f, 0.3f + 0.1f * golden_draw(seed, which, 0, 1));
    default:
        return box(0.3f, 0.25f + 0.1f * golden_draw(seed, which, 0, 2), 0.35f);
    }
}

static cairn_quat any_rotation(uint64_t seed, uint64_t which) {
    const cairn_vec3 axis = draw_vec3(seed, which, 1, 3);
    return (cairn_quat){.x = axis.x, .y = axis.y, .z = axis.z, .w = 1.25f};
}

// Spheres, capsules and boxes at all angles in one heap on a half-space.
static void build_heap(cairn_world *world) {
    (void)ground(world);
    for (uint32_t i = 0; i < 18; ++i) {
        const cairn_shape_def shape = any_shape(1, i);
        const cairn_vec3 at = vec3(0.3f * golden_draw(1, i, 2, 6), 0.5f + 0.35f * (float)i,
            0.3f * golden_draw(1, i, 2, 7));
        (void)golden_place(world, CAIRN_BODY_DYNAMIC, at, any_rotation(1, i), &shape);
    }
}

static void build_stack(cairn_world *world) {
    (void)ground(world);
    const cairn_shape_def shape = box(0.35f, 0.175f, 0.35f);
    for (uint32_t i = 0; i < 10; ++i) {
        (void)drop(world, vec3(0.0f, 0.21f + 0.385f * (float)i, 0.0f), &shape);
    }
}

static void define_constant_friction(cairn_world_def *def) {
    def->solver = CAIRN_SOLVER_PGS;
    def->friction_model = CAIRN_FRICTION_CONSTANT;
    def->sleep = 0;
}

static void join_bodies(cairn_world *world, uint32_t kind, cairn_body_id a, cairn_vec3 anchor_a,
    cairn_body_id b, cairn_vec3 anchor_b, float length) {
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id joint = 0;
    def.kind = kind;
    def.body_a = a;
    def.body_b = b;
    def.anchor_a = anchor_a;
    def.anchor_b = anchor_b;
    def.length = length;
    CAIRN_ASSERT(cairn_joint_create(world, &def, &joint) == CAIRN_OK);
}

// Icosahedra, wedges, tetrahedra, and clouds of points drawn from the seed.
static cairn_hull_id any_hull(cairn_world *world, uint64_t seed, uint64_t which) {
    const float s = 0.3f + 0.05f * golden_draw(seed, which, 8, 0);
    const float g = 1.625f * s;
    const cairn_vec3 ball[12] = {{0, -s, -g}, {0, s, -g}, {0, -s, g}, {0, s, g}, {-s, -g, 0},
        {s, -g, 0}, {-s, g, 0}, {s, g, 0}, {-g, 0, -s}, {-g, 0, s}, {g, 0, -s}, {g, 0, s}};
    const cairn_vec3 wedge[6] = {
        {-g, -s, -s}, {g, -s, -s}, {-g, -s, s}, {g, -s, s}, {-g, s, 0}, {g, s, 0}};
    const cairn_vec3 corner[4] = {{0, 0, 0}, {g, 0, 0}, {0, g, 0}, {0, 0, g}};
    cairn_vec3 cloud[24];
    cairn_hull_id hull = 0;
    for (uint32_t i = 0; i < 24; ++i) {
        cloud[i] = vec3_scale(draw_vec3(seed, which, 9 + i, 1), 0.5f);
    }
    const cairn_vec3 *const points[4] = {ball, wedge, corner, cloud};
    static const uint32_t counts[4] = {12, 6, 4, 24};
    (void)cairn_hull_create(world, points[which % 4], counts[which % 4], &hull);
    CAIRN_ASSERT(hull != 0);
    return hull;
}

static void drop_hull(cairn_world *world, cairn_hull_id hull, uint64_t seed, uint64_t which) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_HULL;
    shape.hull = hull;
    const cairn_vec3 at = vec3(0.4f * golden_draw(seed, which, 5, 6),
        0.6f + 0.4f * (float)(which % 32), 0.4f * golden_draw(seed, which, 5, 7));
    (void)golden_place(world, CAIRN_BODY_DYNAMIC, at, any_rotation(seed, which), &shape);
}

// Different hulls with spheres, capsules and boxes, on a half-space with a ledge.
static void build_hulls(cairn_world *world) {
    (void)ground(world);
    const cairn_shape_def ledge = box(0.5f, 0.3f, 2.0f);
    (void)golden_place(world, CAIRN_BODY_STATIC, vec3(1.0f, 0.3f, 0.0f), quat_identity(), &ledge);
    for (uint32_t i = 0; i < 20; ++i) {
        const cairn_shape_def other = any_shape(6, i / 2);
        const cairn_vec3 at = vec3(
            0.4f * golden_draw(6, i, 2, 6), 0.6f + 0.4f * (float)i, 0.4f * golden_draw(6, i, 2, 7));
        if (i % 2 == 0) {
            drop_hull(world, any_hull(world, 6, i / 2), 6, i);
        } else {
            (void)golden_place(world, CAIRN_BODY_DYNAMIC, at, any_rotation(6, i), &other);
        }
    }
}

// Cylinders and cones among each other and with every other kind, on a half-space with a ledge.
static void build_discs(cairn_world *world) {
    (void)ground(world);
    const cairn_shape_def ledge = box(0.5f, 0.3f, 2.0f);
    (void)golden_place(world, CAIRN_BODY_STATIC, vec3(1.0f, 0.3f, 0.0f), quat_identity(), &ledge);
    for (uint32_t i = 0; i < 24; ++i) {
        cairn_shape_def shape = any_shape(7, i / 2);
        const cairn_vec3 at = vec3(
            0.4f * golden_draw(7, i, 2, 6), 0.6f + 0.4f * (float)i, 0.4f * golden_draw(7, i, 2, 7));
        if (i % 6 == 5) {
            drop_hull(world, any_hull(world, 7, i), 7, i);
            continue;
        }
        if (i % 2 == 0) {
            shape.kind = i % 4 == 0 ? CAIRN_SHAPE_CYLINDER : CAIRN_SHAPE_CONE;
            shape.radius = 0.2f + 0.05f * (float)(i % 5);
            shape.half_height = 0.15f + 0.1f * (float)(i % 3);
        }
        const cairn_quat rotation = i % 8 == 0 ? quat_identity() : any_rotation(7, i);
        (void)golden_place(world, CAIRN_BODY_DYNAMIC, at, rotation, &shape);
    }
}

// Destroys a body, then every hull that no shape uses, and drops a new hull.
static void disturb_hulls(cairn_world *world, uint64_t tick) {
    cairn_body_state bodies[24];
    cairn_hull_id hulls[16];
    const uint32_t count = cairn_world_bodies(world, bodies, 24);
    if (tick % 40 != 39 || count < 4) {
        return;
    }
    (void)cairn_body_destroy(world, bodies[2 + tick / 40].id);
    const uint32_t hull_count = cairn_world_hulls(world, hulls, 16);
    for (uint32_t i = 0; i < hull_count; ++i) {
        (void)cairn_hull_destroy(world, hulls[i]);
    }
    drop_hull(world, any_hull(world, 7, tick), 7, tick);
}

// A chain of capsules on ball joints and a swing of two spheres on distance joints.
static void build_joints(cairn_world *world) {
    const cairn_shape_def link = capsule(0.05f, 0.15f);
    const cairn_shape_def ball = sphere(0.25f);
    const cairn_quat sideways = {.x = 0.0f, .y = 0.0f, .z = 1.0f, .w = 1.0f};
    const cairn_body_id floor = ground(world);
    cairn_body_id last = floor;
    cairn_vec3 hook = vec3(0.0f, 4.0f, 0.0f);
    for (uint32_t i = 0; i < 8; ++i) {
        const cairn_vec3 at = vec3(0.2f + 0.4f * (float)i, 4.0f, 0.0f);
        const cairn_body_id next = golden_place(world, CAIRN_BODY_DYNAMIC, at, sideways, &link);
        join_bodies(world, CAIRN_JOINT_BALL, last, hook, next, vec3(0.0f, 0.2f, 0.0f), 0.0f);
        last = next;
        hook = vec3(0.0f, -0.2f, 0.0f);
    }
    const cairn_body_id first = drop(world, vec3(-1.0f, 3.0f, 1.0f), &ball);
    const cairn_body_id second = drop(world, vec3(-2.0f, 3.0f, 1.0f), &ball);
    join_bodies(world, CAIRN_JOINT_DISTANCE, floor, vec3(-1.0f, 4.0f, 0.0f), first,
        vec3(0.0f, 0.25f, 0.0f), 1.0f);
    join_bodies(world, CAIRN_JOINT_DISTANCE, first, vec3_zero(), second, vec3_zero(), 1.0f);
}

typedef struct limb {
    uint32_t kind; // of its joint
    cairn_vec3 at; // its middle, relative to the trunk's
    cairn_vec3 joint, axis, normal;
    float cone, lower, upper;
} limb;

static void add_limb(cairn_world *world, cairn_body_id trunk, cairn_vec3 middle, const limb *part) {
    const cairn_shape_def shape = capsule(0.08f, 0.15f);
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id joint = 0;
    def.kind = part->kind;
    def.body_a = trunk;
    def.body_b = drop(world, vec3_add(middle, part->at), &shape);
    def.anchor_a = part->joint;
    def.anchor_b = vec3_sub(part->joint, part->at);
    def.axis_a = def.axis_b = part->axis;
    def.normal_a = def.normal_b = part->normal;
    def.cone = part->cone;
    def.lower = part->lower;
    def.upper = part->upper;
    def.limited = part->lower < part->upper;
    CAIRN_ASSERT(cairn_joint_create(world, &def, &joint) == CAIRN_OK);
}

// Three ragdolls that fall on each other. Each has a trunk, two limbs on cones, one on a hinge with
// limits and one on a hinge without.
static void build_dolls(cairn_world *world) {
    static const limb limbs[] = {{CAIRN_JOINT_CONE, {0.3f, 0.5f, 0.0f}, {0.25f, 0.25f, 0.0f},
                                     {0.0f, 1.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, 0.6f, -0.3f, 0.5f},
        {CAIRN_JOINT_CONE, {-0.3f, 0.5f, 0.0f}, {-0.25f, 0.25f, 0.0f}, {0.0f, 1.0f, 0.0f},
            {1.0f, 0.0f, 0.0f}, 1.2f, 0.0f, 0.0f},
        {CAIRN_JOINT_HINGE, {0.15f, -0.5f, 0.0f}, {0.15f, -0.25f, 0.0f}, {1.0f, 0.0f, 0.0f},
            {0.0f, 0.0f, 1.0f}, 0.0f, -0.1f, 1.5f},
        {CAIRN_JOINT_HINGE, {-0.15f, -0.5f, 0.0f}, {-0.15f, -0.25f, 0.0f}, {1.0f, 0.0f, 0.0f},
            {0.0f, 0.0f, 1.0f}, 0.0f, 0.0f, 0.0f}};
    const cairn_shape_def trunk = box(0.2f, 0.25f, 0.1f);
    (void)ground(world);
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_vec3 middle = vec3(0.1f * (float)i, 1.0f + 1.5f * (float)i, 0.2f * (float)i);
        const cairn_body_id body = drop(world, middle, &trunk);
        (void)cairn_body_set_velocity(
            world, body, vec3_zero(), vec3_scale(draw_vec3(4, i, 0, 0), 4.0f));
        for (uint32_t k = 0; k < 4; ++k) {
            add_limb(world, body, middle, &limbs[k]);
        }
    }
}

static void define_pgs(cairn_world_def *def) {
    def->solver = CAIRN_SOLVER_PGS;
}

// Pairs of cubes that fall asleep and wake one by one: by a hit, by a pull, by the loss of their
// support.
static void build_sleepers(cairn_world *world) {
    const cairn_shape_def cube = box(0.25f, 0.25f, 0.25f);
    const cairn_shape_def shelf = box(1.0f, 0.1f, 1.0f);
    (void)ground(world);
    (void)golden_place(world, CAIRN_BODY_STATIC, vec3(6.0f, 1.0f, 0.0f), quat_identity(), &shelf);
    for (uint32_t i = 0; i < 3; ++i) {
        const float base = i == 2 ? 1.1f : 0.0f;
        for (uint32_t k = 0; k < 2; ++k) {
            const cairn_vec3 at = vec3(3.0f * (float)i, base + 0.25f + 0.5f * (float)k, 0.0f);
            (void)drop(world, at, &cube);
        }
    }
}

static void disturb_sleepers(cairn_world *world, uint64_t tick) {
    cairn_body_state bodies[16];
    const uint32_t count = cairn_world_bodies(world, bodies, 16);
    const cairn_shape_def ball = sphere(0.2f);
    CAIRN_ASSERT(count <= 16);
    if (tick == 70) {
        const cairn_body_id thrown = drop(world, vec3(-2.0f, 0.6f, 0.0f), &ball);
        (void)cairn_body_set_velocity(world, thrown, vec3(12.0f, 1.0f, 0.0f), vec3_zero());
    } else if (tick == 75) {
        (void)cairn_body_apply_force(
            world, bodies[4].id, vec3(0.0f, 4000.0f, 0.0f), vec3(0.0f, 50.0f, 0.0f));
    } else if (tick == 80) {
        (void)cairn_body_destroy(world, bodies[1].id);
    }
}

static void define_small(cairn_world_def *def) {
    def->body_capacity = 24;
    def->shape_capacity = 28;
    def->contact_capacity = 20; // less than the heap needs: drops are part of the scene
}

// Random bodies are created and destroyed; the capacities are reached.
static void disturb_churn(cairn_world *world, uint64_t tick) {
    cairn_body_state bodies[64];
    const uint32_t count = cairn_world_bodies(world, bodies, 64);
    CAIRN_ASSERT(count <= 64);
    if (tick % 3 == 0) {
        const cairn_shape_def shape = any_shape(2, tick);
        const cairn_vec3 at = vec3(golden_draw(2, tick, 3, 0),
            2.0f + 0.5f * golden_draw(2, tick, 3, 1), golden_draw(2, tick, 3, 2));
        const cairn_body_id body =
            golden_place(world, CAIRN_BODY_DYNAMIC, at, any_rotation(2, tick), &shape);
        cairn_shape_id second = 0;
        cairn_shape_def more = sphere(0.2f);
        more.pose.position = vec3(0.4f, 0.1f, 0.0f);
        more.restitution = 0.5f;
        (void)cairn_shape_create(world, body, &more, &second);
    }
    if (tick % 5 == 4 && count > 1) {
        const uint64_t which = 1 + cairn_random_at(2, tick, 4, 0) % (count - 1);
        (void)cairn_body_destroy(world, bodies[which].id);
    }
}

static void build_ground(cairn_world *world) {
    (void)ground(world);
}

// A turntable and a pusher, both kinematic, among cubes; one bouncy ball.
static void build_kinematic(cairn_world *world) {
    const cairn_shape_def table = box(1.5f, 0.1f, 1.5f);
    const cairn_shape_def pusher = box(0.1f, 0.5f, 1.0f);
    const cairn_shape_def cube = box(0.2f, 0.2f, 0.2f);
    cairn_shape_def bouncy = sphere(0.2f);
    bouncy.restitution = 0.75f;
    (void)ground(world);
    const cairn_body_id turning =
        golden_place(world, CAIRN_BODY_KINEMATIC, vec3(0.0f, 0.5f, 0.0f), quat_identity(), &table);
    const cairn_body_id pushing = golden_place(
        world, CAIRN_BODY_KINEMATIC, vec3(-4.0f, 0.6f, 0.0f), quat_identity(), &pusher);
    (void)cairn_body_set_velocity(world, turning, vec3_zero(), vec3(0.0f, 2.0f, 0.0f));
    (void)cairn_body_set_velocity(world, pushing, vec3(1.0f, 0.0f, 0.0f), vec3_zero());
    for (uint32_t i = 0; i < 4; ++i) {
        const float at = 0.5f * (float)i;
        (void)drop(world, vec3(at - 0.7f, 0.8f, 0.3f), &cube);
        (void)drop(world, vec3(-3.5f, 0.2f, at - 1.0f), &cube);
    }
    (void)drop(world, vec3(3.0f, 2.0f, 0.0f), &bouncy);
}

static void define_sandbox(cairn_world_def *def) {
    def->rules = &cairn_rules_sandbox;
    def->body_capacity = 96;
    def->shape_capacity = 96;
    def->contact_capacity = 512;
    def->seed = 7;
}

#define PLAYERS 6

// Six players join one after the other. Each leaves and joins again now and then.
uint32_t golden_random_commands(uint64_t seed, uint64_t tick, cairn_command *commands) {
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < PLAYERS; ++slot) {
        const uint64_t dice = cairn_random_at(seed, tick, slot, 10);
        cairn_command command = {.kind = CAIRN_COMMAND_INPUT, .slot = slot, .sequence = 1};
        if (tick == 2 * slot || dice % 64 == 1) {
            command.kind = CAIRN_COMMAND_JOIN;
        } else if (dice % 128 == 2) {
            command.kind = CAIRN_COMMAND_LEAVE;
        } else if (dice % 8 == 3) {
            continue;
        }
        command.buttons = (uint32_t)(dice >> 32) & (uint32_t)(dice >> 40) & 15u;
        command.move = draw_vec3(seed, tick / 16, slot, 11);
        command.aim = draw_vec3(seed, tick / 8, slot, 14);
        commands[count++] = command;
    }
    cairn_commands_sort(commands, count);
    return count;
}

static uint32_t command_sandbox(uint64_t tick, cairn_command *commands) {
    return golden_random_commands(3, tick, commands);
}

// An operator's edits beside the players' input: spawns, moves, impulses and destroys, some of
// which name a body that does not exist.
static uint32_t command_edits(uint64_t tick, cairn_command *commands) {
    uint32_t count = golden_random_commands(5, tick, commands);
    for (uint32_t i = 0; i < 2; ++i) {
        const uint64_t dice = cairn_random_at(6, tick, i, 0);
        const cairn_vec3 drawn = draw_vec3(6, tick, i, 1);
        cairn_command edit = {.kind = CAIRN_COMMAND_SPAWN_BOX + (uint32_t)(dice % 6),
            .slot = CAIRN_SLOT_OPERATOR,
            .sequence = 2 - i,
            .buttons = 2 + (uint32_t)(dice >> 32) % 24,
            .move = vec3_add(vec3_scale(drawn, 2.0f), vec3(0.0f, 3.0f, 0.0f))};
        if (edit.kind == CAIRN_COMMAND_SPAWN_BOX) {
            edit.aim = vec3(0.25f, 0.375f, 0.5f);
        } else if (edit.kind == CAIRN_COMMAND_SPAWN_SPHERE) {
            edit.aim = vec3(0.25f, 0.0f, 0.0f);
        } else if (edit.kind == CAIRN_COMMAND_DESTROY) {
            edit.move = vec3_zero();
        } else if (edit.kind == CAIRN_COMMAND_SET_VELOCITY) {
            edit.aim = drawn;
        } else if (edit.kind == CAIRN_COMMAND_IMPULSE) {
            edit.move = vec3_scale(drawn, 1000.0f);
        }
        commands[count++] = edit;
    }
    cairn_commands_sort(commands, count);
    return count;
}

// Rules that read every event, in both hooks, and act on it: a world that lost an event would move
// otherwise a tick later.
typedef struct referee {
    uint32_t counts[2][8]; // by hook and kind of event; the last two for body events
    uint32_t folded;       // every word of every event, in order
} referee;

static uint32_t fold(uint32_t sum, const void *event, size_t size) {
    uint32_t words[32];
    CAIRN_ASSERT(size <= sizeof words);
    memcpy(words, event, size);
    for (size_t i = 0; i < size / sizeof words[0]; ++i) {
        sum = (sum ^ words[i]) * 0x9e3779b1u;
        sum ^= sum >> 15;
    }
    return sum;
}

static void read_events(cairn_world *world, referee *state, uint32_t hook) {
    uint32_t count = 0;
    const cairn_contact_event *contacts = cairn_world_contact_events(world, &count);
    for (uint32_t i = 0; i < count; ++i) {
        state->counts[hook][contacts[i].kind] += 1;
        state->folded = fold(state->folded, &contacts[i], sizeof contacts[i]);
        cairn_contact_data touching[2];
        cairn_shape_id inside[2];
        uint32_t found = cairn_body_contacts(world, contacts[i].body_b, touching, 2);
        found = found < 2 ? found : 2;
        for (uint32_t k = 0; k < found; ++k) {
            state->folded = fold(state->folded, &touching[k], sizeof touching[k]);
        }
        found = cairn_sensor_overlaps(world, contacts[i].shape_a, inside, 2);
        state->folded = fold(state->folded, inside, (found < 2 ? found : 2) * sizeof inside[0]);
    }
    const cairn_body_event *bodies = cairn_world_body_events(world, &count);
    for (uint32_t i = 0; i < count; ++i) {
        state->counts[hook][5 + bodies[i].kind] += 1;
        state->folded = fold(state->folded, &bodies[i], sizeof bodies[i]);
    }
}

static void kick(cairn_world *world, cairn_body_id body, cairn_vec3 velocity) {
    const float mass = cairn_body_mass(world, body);
    (void)cairn_body_apply_impulse_at_centre(world, body, vec3_scale(velocity, mass));
}

// Before the step: what is hit hops.
static void step_referee(
    cairn_world *world, void *memory, const cairn_command *commands, uint32_t command_count) {
    (void)commands;
    (void)command_count;
    read_events(world, memory, 0);
    uint32_t count = 0;
    const cairn_contact_event *events = cairn_world_contact_events(world, &count);
    for (uint32_t i = 0; i < count; ++i) {
        if (events[i].kind == CAIRN_CONTACT_HIT) {
            kick(world, events[i].body_b, vec3(0.0f, 0.125f * events[i].approach_speed, 0.0f));
        }
    }
}

// After the step: what enters a sensor is slowed down, every fourth body that leaves one is
// destroyed, and every third body that falls asleep is kicked.
static void after_referee(cairn_world *world, void *memory) {
    referee *state = memory;
    read_events(world, state, 1);
    uint32_t count = 0;
    const cairn_contact_event *contacts = cairn_world_contact_events(world, &count);
    for (uint32_t i = 0; i < count; ++i) {
        cairn_body_state body;
        if (cairn_body_read(world, contacts[i].body_b, &body) != CAIRN_OK ||
            body.kind != CAIRN_BODY_DYNAMIC) {
            continue;
        }
        if (contacts[i].kind == CAIRN_SENSOR_BEGIN) {
            (void)cairn_body_set_velocity(
                world, body.id, vec3_scale(body.linear_velocity, 0.5f), body.angular_velocity);
        } else if (contacts[i].kind == CAIRN_SENSOR_END && (state->folded & 3u) == 0) {
            (void)cairn_body_destroy(world, body.id);
        }
    }
    const cairn_body_event *bodies = cairn_world_body_events(world, &count);
    for (uint32_t i = 0; i < count; ++i) {
        if (bodies[i].kind == CAIRN_BODY_FELL_ASLEEP && state->counts[1][7] % 3 == 0) {
            kick(world, bodies[i].body, vec3(0.0f, 3.0f, 0.25f));
        }
    }
}

static const cairn_rules referee_rules = {.name = "referee",
    .version = 1,
    .state_size = sizeof(referee),
    .step = step_referee,
    .after_step = after_referee};

static void define_events(cairn_world_def *def) {
    def->rules = &referee_rules;
    def->event_capacity = 24; // less than the busiest step needs
}

static void define_events_pgs(cairn_world_def *def) {
    define_events(def);
    def->solver = CAIRN_SOLVER_PGS;
}

static cairn_shape_def watching(cairn_shape_def shape) {
    shape.flags = CAIRN_SHAPE_SENSOR;
    return shape;
}

// Bodies fall through and onto sensors, and come to rest in one. A sensor is carried through them,
// another one is part of a body.
static void build_events(cairn_world *world) {
    const cairn_shape_def slab = watching(box(2.0f, 0.25f, 2.0f));
    const cairn_shape_def pit = watching(box(1.5f, 0.5f, 1.5f));
    const cairn_shape_def ball = watching(sphere(0.75f));
    (void)ground(world);
    (void)golden_place(world, CAIRN_BODY_STATIC, vec3(0.0f, 2.0f, 0.0f), any_rotation(6, 0), &slab);
    (void)golden_place(world, CAIRN_BODY_STATIC, vec3(1.0f, 0.25f, 0.0f), quat_identity(), &pit);
    const cairn_body_id carried =
        golden_place(world, CAIRN_BODY_KINEMATIC, vec3(-5.0f, 0.5f, 0.0f), quat_identity(), &ball);
    (void)cairn_body_set_velocity(world, carried, vec3(2.0f, 0.0f, 0.0f), vec3_zero());
    for (uint32_t i = 0; i < 20; ++i) {
        cairn_shape_def shape = any_shape(6, i);
        shape.flags = i % 2 == 0 ? CAIRN_SHAPE_HIT_EVENTS : 0;
        const cairn_vec3 at = vec3(0.75f * (float)(i % 4) - 1.125f, 1.0f + 0.75f * (float)(i / 4),
            0.75f * golden_draw(6, i, 4, 0));
        const cairn_body_id body =
            golden_place(world, CAIRN_BODY_DYNAMIC, at, any_rotation(6, i), &shape);
        if (i == 7) {
            cairn_shape_id id = 0;
            (void)cairn_shape_create(world, body, &ball, &id);
        }
    }
}

static void disturb_events(cairn_world *world, uint64_t tick) {
    if (tick % 60 == 50) {
        cairn_shape_def thrown = sphere(0.25f);
        thrown.flags = CAIRN_SHAPE_HIT_EVENTS;
        const cairn_body_id body = drop(world, vec3(-4.0f, 0.5f, 0.0f), &thrown);
        (void)cairn_body_set_velocity(world, body, vec3(10.0f, 1.0f, 0.0f), vec3_zero());
    } else if (tick == 130) {
        const cairn_shape_def late = watching(box(3.0f, 0.5f, 3.0f));
        (void)golden_place(
            world, CAIRN_BODY_STATIC, vec3(0.0f, 0.5f, 0.0f), quat_identity(), &late);
    }
}

static void define_materials(cairn_world_def *def) {
    def->restitution_threshold = 0.5f;
    def->sleep_speed = 0.1f;
    def->limit_damping = 8.0f;
}

static void define_materials_pgs(cairn_world_def *def) {
    define_materials(def);
    def->solver = CAIRN_SOLVER_PGS;
}

// Bodies of every material, damping, gravity, filter and kind of rotation, a row of balls that
// hands on an impact, and a top on a ball joint.
static void build_materials(cairn_world *world) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_id id = 0;
    const cairn_body_id floor = ground(world);
    for (uint32_t i = 0; i < 20; ++i) {
        cairn_shape_def shape = any_shape(7, i);
        cairn_body_id body = 0;
        shape.friction = 0.25f * (float)(i % 5);
        shape.restitution = 0.25f * (float)(i % 4);
        shape.density = 250.0f * (float)(1 + i % 7);
        shape.category = 1u << (i % 3);
        shape.mask = i % 6 == 5 ? 1 : UINT32_MAX;
        def.position = vec3(1.25f * (float)(i % 4) - 2.0f, 1.0f + 0.75f * (float)(i / 4),
            0.5f * golden_draw(7, i, 4, 0));
        def.rotation = quat_normalize(any_rotation(7, i));
        def.angular_velocity = vec3_scale(draw_vec3(7, i, 5, 0), 16.0f);
        def.gyroscopic = i % 2;
        def.gravity_scale = 0.5f * (float)(1 + i % 3);
        def.linear_damping = 0.125f * (float)(i % 3);
        def.angular_damping = 0.25f * (float)(i % 4);
        def.allow_sleep = i % 7 == 6 ? 0 : 1;
        CAIRN_ASSERT(cairn_body_create(world, &def, &body) == CAIRN_OK);
        CAIRN_ASSERT(cairn_shape_create(world, body, &shape, &id) == CAIRN_OK);
    }
    cairn_shape_def ball = sphere(0.125f);
    ball.restitution = 1.0f;
    for (uint32_t i = 0; i < 5; ++i) {
        const cairn_body_id body = drop(world, vec3(6.0f + 0.25f * (float)i, 0.125f, 0.0f), &ball);
        if (i == 0) {
            (void)cairn_body_set_pose(world, body,
                (cairn_pose){.position = vec3(5.5f, 0.125f, 0.0f), .rotation = quat_identity()});
            (void)cairn_body_set_velocity(world, body, vec3(3.0f, 0.0f, 0.0f), vec3_zero());
        }
    }
    const cairn_shape_def disc = box(0.5f, 0.0625f, 0.5f);
    def = cairn_body_def_default();
    def.gyroscopic = 1;
    def.position = vec3(-5.0f, 1.5f, 0.0f);
    def.rotation = quat_normalize((cairn_quat){.z = 0.25f, .w = 1.0f});
    def.angular_velocity = quat_rotate(def.rotation, vec3(0.0f, 30.0f, 0.0f));
    cairn_body_id top = 0;
    CAIRN_ASSERT(cairn_body_create(world, &def, &top) == CAIRN_OK);
    CAIRN_ASSERT(cairn_shape_create(world, top, &disc, &id) == CAIRN_OK);
    const cairn_vec3 foot = vec3(0.0f, -0.5f, 0.0f);
    join_bodies(world, CAIRN_JOINT_BALL, floor,
        vec3_add(def.position, quat_rotate(def.rotation, foot)), top, foot, 0.0f);
}

static void define_field(cairn_world_def *def) {
    def->body_capacity = 640;
    def->shape_capacity = 640;
    def->joint_capacity = 160;
    def->contact_capacity = 2048;
    def->sleep = 0;
}

#define FIELD_SIDE 17
#define TRAY_LOAD 32

static cairn_body_id build_tower(cairn_world *world, uint32_t which, cairn_vec3 at) {
    const cairn_shape_def foot = box(0.3f, 0.2f, 0.3f);
    const cairn_shape_def head = any_shape(5, which);
    (void)drop(world, vec3_add(at, vec3(0.0f, 0.21f, 0.0f)), &foot);
    return golden_place(world, CAIRN_BODY_DYNAMIC, vec3_add(at, vec3(0.0f, 0.85f, 0.0f)),
        any_rotation(5, which), &head);
}

// More cubes on one tray than there are colours.
static void build_tray(cairn_world *world, cairn_vec3 at) {
    const cairn_shape_def tray = box(2.0f, 0.1f, 1.0f);
    const cairn_shape_def cube = box(0.1f, 0.1f, 0.1f);
    (void)drop(world, at, &tray);
    for (uint32_t i = 0; i < TRAY_LOAD; ++i) {
        const cairn_vec3 on =
            vec3(0.4f * (float)(i % 8) - 1.4f, 0.21f, 0.4f * (float)(i / 8) - 0.6f);
        (void)drop(world, vec3_add(at, on), &cube);
    }
}

// So many bodies that several workers share them at the greatest SIMD width: a shape on a foot on
// the ground, 289 times, and a distance joint between every second pair of neighbours.
static void build_field(cairn_world *world) {
    cairn_body_id last = 0;
    (void)ground(world);
    for (uint32_t i = 0; i < FIELD_SIDE * FIELD_SIDE; ++i) {
        const float x = 1.25f * (float)(i % FIELD_SIDE);
        const float z = 1.25f * (float)(i / FIELD_SIDE);
        const cairn_body_id head = build_tower(world, i, vec3(x, 0.0f, z));
        if (i % 2 == 1) {
            join_bodies(world, CAIRN_JOINT_DISTANCE, last, vec3_zero(), head, vec3_zero(), 1.25f);
        }
        last = head;
    }
    build_tray(world, vec3(-4.0f, 0.2f, 0.0f));
}

// Name, ticks, define, build, disturb, command.
const golden_scene golden_scenes[] = {{"heap", 200, NULL, build_heap, NULL, NULL},
    {"stack", 160, NULL, build_stack, NULL, NULL},
    {"stack_constant_friction", 60, define_constant_friction, build_stack, NULL, NULL},
    {"joints", 160, NULL, build_joints, NULL, NULL}, {"dolls", 160, NULL, build_dolls, NULL, NULL},
    {"dolls_classic", 160, define_pgs, build_dolls, NULL, NULL},
    {"sleepers", 160, NULL, build_sleepers, disturb_sleepers, NULL},
    {"churn", 200, define_small, build_ground, disturb_churn, NULL},
    {"hulls", 200, NULL, build_hulls, disturb_hulls, NULL},
    {"discs", 240, NULL, build_discs, NULL, NULL},
    {"kinematic", 120, NULL, build_kinematic, NULL, NULL},
    {"meshes", 200, NULL, golden_build_meshes, golden_disturb_meshes, NULL},
    {"meshes_pgs", 120, define_pgs, golden_build_meshes, NULL, NULL},
    {"fast", 60, golden_define_fast, golden_build_fast, golden_disturb_fast, NULL},
    {"fast_pgs", 24, golden_define_fast_pgs, golden_build_fast, NULL, NULL},
    {"laboratory_direct", 48, golden_define_direct, golden_build_direct, NULL, NULL},
    {"laboratory_psor", 80, golden_define_psor, golden_build_laboratory, NULL, NULL},
    {"laboratory_pssor", 80, golden_define_pssor, golden_build_laboratory, NULL, NULL},
    {"laboratory_split", 80, golden_define_split, golden_build_laboratory, NULL, NULL},
    {"laboratory_gradient", 80, golden_define_gradient, golden_build_laboratory, NULL, NULL},
    {"laboratory_mprgp", 80, golden_define_mprgp, golden_build_laboratory, NULL, NULL},
    {"laboratory_apgd", 80, golden_define_apgd, golden_build_laboratory, NULL, NULL},
    {"sandbox", 240, define_sandbox, build_ground, NULL, command_sandbox},
    {"edits", 200, define_sandbox, build_ground, NULL, command_edits},
    {"events", 280, define_events, build_events, disturb_events, NULL},
    {"events_pgs", 160, define_events_pgs, build_events, disturb_events, NULL},
    {"materials", 200, define_materials, build_materials, NULL, NULL},
    {"materials_pgs", 120, define_materials_pgs, build_materials, NULL, NULL},
    {"field", 24, define_field, build_field, NULL, NULL},
    {"machines", 160, NULL, golden_build_machines, golden_disturb_machines, NULL},
    {"machines_pgs", 120, define_pgs, golden_build_machines, golden_disturb_machines, NULL},
    {"articulated", 160, golden_define_articulated, golden_build_articulated,
        golden_disturb_articulated, NULL},
    {"articulated_single", 160, golden_define_articulated_single, golden_build_articulated_single,
        golden_disturb_articulated, NULL},
    {"loads", 160, NULL, golden_build_loads, NULL, NULL},
    {"fracture", 160, golden_define_fracture, golden_build_fracture, golden_disturb_fracture, NULL},
    {"bounces", 160, NULL, golden_build_bounces, NULL, NULL},
    {"bounces_pgs", 80, golden_define_bounces_pgs, golden_build_bounces, NULL, NULL}};

const uint32_t golden_scene_count = sizeof golden_scenes / sizeof golden_scenes[0];

cairn_world *golden_create(const golden_scene *scene) {
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world = NULL;
    def.body_capacity = 64;
    def.shape_capacity = 64;
    def.joint_capacity = 16;
    def.contact_capacity = 256;
    if (scene->define != NULL) {
        scene->define(&def);
    }
    (void)cairn_world_create(&def, &world);
    return world;
}

const golden_scene *golden_scene_named(const char *name) {
    uint32_t i = 0;
    while (strcmp(golden_scenes[i].name, name) != 0) {
        ++i;
        CAIRN_ASSERT(i < golden_scene_count);
    }
    return &golden_scenes[i];
}

cairn_world *golden_world_at(const golden_scene *scene, uint32_t tick) {
    cairn_world *world = golden_create(scene);
    CAIRN_ASSERT(world != NULL);
    scene->build(world);
    for (uint32_t i = 0; i < tick; ++i) {
        golden_step(scene, world);
    }
    return world;
}

void golden_step(const golden_scene *scene, cairn_world *world) {
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    const uint64_t tick = cairn_world_tick(world);
    uint32_t count = 0;
    if (scene->disturb != NULL) {
        scene->disturb(world, tick);
    }
    if (scene->command != NULL) {
        count = scene->command(tick, commands);
    }
    cairn_world_step(world, commands, count);
}
