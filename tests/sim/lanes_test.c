// SPDX-License-Identifier: MIT
// No result depends on lanes or workers. The worlds are drawn from seeds.

#include "tests/sim/articulation_kit.h"

#include "base/random.h"
#include "tests/sim/pool_kit.h"

#define STEPS 40
#define BODIES 220u

static float between(cairn_random *random, float lower, float upper) {
    return lower + (upper - lower) * cairn_random_unit(random);
}

static cairn_vec3 anywhere(cairn_random *random, float most) {
    const float x = between(random, -most, most);
    const float y = between(random, -most, most);
    return vec3(x, y, between(random, -most, most));
}

static bool chance(cairn_random *random, uint32_t percent) {
    return cairn_random_below(random, 100) < percent;
}

static cairn_shape_def any_shape(cairn_random *random, bool bounces) {
    static const uint32_t kinds[] = {CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_BOX, CAIRN_SHAPE_BOX,
        CAIRN_SHAPE_CAPSULE, CAIRN_SHAPE_CYLINDER};
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = kinds[cairn_random_below(random, 5)];
    shape.radius = between(random, 0.1f, 0.3f);
    shape.half_height = between(random, 0.1f, 0.3f);
    shape.half_extents = vec3(between(random, 0.1f, 0.4f), between(random, 0.1f, 0.3f), 0.2f);
    shape.density = chance(random, 10) ? 20000.0f : 1000.0f;
    shape.restitution = bounces && chance(random, 70) ? cairn_random_unit(random) : 0.0f;
    shape.flags = chance(random, 20) ? CAIRN_SHAPE_HIT_EVENTS : 0;
    if (chance(random, 20)) {
        shape.rolling_resistance = 0.05f;
        shape.surface_velocity = anywhere(random, 1.0f);
    }
    return shape;
}

static cairn_body_id add_body(cairn_world *world, cairn_random *random, bool bounces) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = any_shape(random, bounces);
    cairn_shape_id id = 0;
    def.position = vec3_add(anywhere(random, 3.0f), vec3(0.0f, 4.5f, 0.0f));
    def.linear_velocity = anywhere(random, 4.0f);
    def.angular_velocity = anywhere(random, chance(random, 10) ? 40.0f : 4.0f);
    const cairn_body_id body = kit_body(world, &def, &shape);
    if (chance(random, 20)) {
        shape = any_shape(random, bounces);
        shape.pose.position = vec3(0.3f, 0.0f, 0.0f);
        EXPECT_OK(cairn_shape_create(world, body, &shape, &id));
    }
    if (chance(random, 10)) {
        EXPECT_OK(cairn_body_set_gyroscopic(world, body, true));
    }
    return body;
}

static void join_some(cairn_world *world, cairn_random *random, cairn_body_id a, cairn_body_id b) {
    static const uint32_t kinds[] = {CAIRN_JOINT_BALL, CAIRN_JOINT_HINGE, CAIRN_JOINT_DISTANCE,
        CAIRN_JOINT_CONE, CAIRN_JOINT_PRISMATIC, CAIRN_JOINT_WELD};
    cairn_joint_def joint = cairn_joint_def_default();
    cairn_joint_id id = 0;
    joint.kind = kinds[cairn_random_below(random, 6)];
    joint.body_a = a;
    joint.body_b = b;
    joint.anchor_a = anywhere(random, 0.3f);
    joint.anchor_b = anywhere(random, 0.3f);
    joint.length = 0.5f;
    if ((joint.kind == CAIRN_JOINT_HINGE || joint.kind == CAIRN_JOINT_PRISMATIC) &&
        chance(random, 50)) {
        joint.limited = 1;
        joint.lower = -0.2f;
        joint.upper = 0.2f;
    }
    EXPECT_OK(cairn_joint_create(world, &joint, &id));
}

static cairn_world *any_world(uint64_t seed) {
    cairn_random random = cairn_random_of(seed);
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = def.shape_capacity = def.joint_capacity = 512;
    def.contact_capacity = 8192;
    cairn_world *world = kit_world(&def);
    cairn_body_def platform = cairn_body_def_default();
    cairn_shape_def slab = cairn_shape_def_default();
    const bool bounces = chance(&random, 80);
    (void)kit_ground(world);
    platform.kind = CAIRN_BODY_KINEMATIC;
    platform.position = vec3(0.0f, 0.6f, 0.0f);
    platform.linear_velocity = vec3(1.0f, 0.0f, 0.0f);
    platform.angular_velocity = vec3(0.0f, 0.7f, 0.0f);
    slab.half_extents = vec3(4.0f, 0.25f, 4.0f);
    cairn_body_id last = kit_body(world, &platform, &slab);
    const uint32_t joints = (uint32_t)cairn_random_below(&random, 60);
    for (uint32_t i = 0; i < BODIES; ++i) {
        const cairn_body_id body = add_body(world, &random, bounces);
        if (chance(&random, joints)) {
            join_some(world, &random, last, body);
        }
        last = chance(&random, 95) ? body : last;
    }
    if (chance(&random, 30)) {
        (void)kit_humanoid_at(world, vec3(0.0f, 2.5f, 0.0f), true, 0.0f);
    }
    return world;
}

// What a contact or a link needs must not depend on the lanes beside it. Once, a contact that did
// nothing in a round of impacts was examined in the next round if another lane of its constraint
// had been struck. And links that nothing touched got impulses of the step before, or lost what an
// impact had given them, if a link in another lane was touched.
TEST("worlds of bodies that bounce, are joined and ride step to the same state with any lanes and "
     "workers") {
    static const uint32_t ways[][2] = {{1, 1}, {4, 1}, {8, 1}, {16, 1}, {0, 2}, {1, 3}};
    static const uint64_t found[] = {14, 142, 285, 306, 372}; // seeds of worlds that differed
    const char *from = getenv("CAIRN_LANES_SEED");
    const uint64_t first = from == NULL ? 1 : strtoull(from, NULL, 10);
    const uint64_t count = test_is_thorough() ? 1000 : 8;
    for (uint64_t i = 0; i < count + sizeof found / sizeof found[0]; ++i) {
        const uint64_t seed = i < count ? first + i : found[i - count];
        SCOPED(cairn_world) *begin = any_world(seed);
        SCOPED(cairn_world) *world = kit_fork(begin);
        cairn_hash128 expected[STEPS];
        print_message("seed %llu\n", (unsigned long long)seed);
        for (int step = 0; step < STEPS; ++step) {
            cairn_world_step(world, NULL, 0);
            expected[step] = kit_hash(world);
        }
        for (size_t k = 0; k < sizeof ways / sizeof ways[0]; ++k) {
            kit_expect_steps(begin, expected, STEPS, ways[k][0], ways[k][1]);
        }
    }
}
