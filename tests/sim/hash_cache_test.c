// SPDX-License-Identifier: MIT
// Cached leaves never change the hash: a world is changed at random through every function that
// writes to it, and the hash is compared with one that is computed from the words alone. The world
// is small, so that bodies collide, sleep, wake, vanish and become invalid within a few hundred
// ticks.

#include "tests/sim/world_kit.h"

#include "sim/debug/poison.h"
#include "sim/state/hash_cache.h"
#include "sim/state/world.h"
#include "tests/sim/geometry_kit.h"

enum { BODIES = 24, TICKS = 400, SEEDS = 6 };

typedef struct play {
    cairn_world *world;
    cairn_random random;
    kit_bytes saved;
    kit_bytes encoded;
    const char *last; // the change before the tick, for the report
} play;

static uint32_t random_below(play *p, uint32_t bound) {
    return (uint32_t)cairn_random_below(&p->random, bound);
}

static cairn_vec3 random_place(play *p) {
    const float x = random_between(&p->random, -2.0f, 2.0f);
    const float y = random_between(&p->random, 0.3f, 2.0f);
    return vec3(x, y, random_between(&p->random, -2.0f, 2.0f));
}

// Returns the null id if the world has no body.
static cairn_body_id random_body(play *p) {
    cairn_body_state bodies[BODIES];
    const uint32_t count = cairn_world_bodies(p->world, bodies, BODIES);
    return count == 0 ? 0 : bodies[random_below(p, count)].id;
}

static void spawn(play *p) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_id body = 0;
    cairn_shape_id id = 0;
    def.position = random_place(p);
    def.kind = random_below(p, 4) == 0 ? CAIRN_BODY_KINEMATIC : CAIRN_BODY_DYNAMIC;
    shape.kind = random_below(p, 2) == 0 ? CAIRN_SHAPE_BOX : CAIRN_SHAPE_SPHERE;
    shape.half_extents = vec3(0.25f, 0.25f, 0.25f);
    shape.radius = 0.25f;
    if (cairn_body_create(p->world, &def, &body) == CAIRN_OK && random_below(p, 4) != 0) {
        (void)cairn_shape_create(p->world, body, &shape, &id);
    }
}
static void despawn(play *p) {
    (void)cairn_body_destroy(p->world, random_body(p));
}
static void add_shape(play *p) {
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_shape_id id = 0;
    shape.kind = CAIRN_SHAPE_SPHERE;
    shape.radius = random_between(&p->random, 0.1f, 0.3f);
    shape.pose.position = vec3(0.0f, 0.3f, 0.0f);
    (void)cairn_shape_create(p->world, random_body(p), &shape, &id);
}
static void remove_shape(play *p) {
    cairn_shape_id shapes[2 * BODIES];
    const uint32_t count = cairn_world_shapes(p->world, shapes, 2 * BODIES);
    if (count > 1) {
        (void)cairn_shape_destroy(p->world, shapes[1 + random_below(p, count - 1)]);
    }
}
static void join(play *p) {
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id id = 0;
    def.kind = random_below(p, 2) == 0 ? CAIRN_JOINT_BALL : CAIRN_JOINT_DISTANCE;
    def.body_a = random_body(p);
    def.body_b = random_body(p);
    def.anchor_a = vec3(0.3f, 0.0f, 0.0f);
    def.anchor_b = vec3(-0.3f, 0.0f, 0.0f);
    (void)cairn_joint_create(p->world, &def, &id);
}
static void unjoin(play *p) {
    (void)cairn_joint_destroy(p->world, 1 + random_below(p, 8));
}
static void set_pose(play *p) {
    const cairn_pose pose = {.position = random_place(p), .rotation = quat_identity()};
    (void)cairn_body_set_pose(p->world, random_body(p), pose);
}
static void set_velocity(play *p) {
    const cairn_vec3 zero = vec3_zero();
    const cairn_vec3 velocity = vec3_select(random_below(p, 2) == 0, zero, random_place(p));
    (void)cairn_body_set_velocity(p->world, random_body(p), velocity, zero);
}
static void push(play *p) {
    if (random_below(p, 2) == 0) {
        (void)cairn_body_apply_impulse(p->world, random_body(p), random_place(p), random_place(p));
    } else {
        (void)cairn_body_apply_impulse_at_centre(p->world, random_body(p), random_place(p));
    }
}
static void apply_force(play *p) {
    (void)cairn_body_apply_force(p->world, random_body(p), random_place(p), random_place(p));
}
// Too fast to be valid: the next step disables it.
static void disable(play *p) {
    (void)cairn_body_apply_impulse_at_centre(p->world, random_body(p), vec3(1e12f, 0.0f, 0.0f));
}
// Moves joined bodies so far apart that the joint makes both too fast to be valid.
static void pull_apart(play *p) {
    cairn_joint_def def;
    cairn_pose pose = {.position = vec3(1e5f, 0.0f, 0.0f), .rotation = quat_identity()};
    if (cairn_joint_read(p->world, 1 + random_below(p, 8), &def) == CAIRN_OK) {
        (void)cairn_body_set_pose(p->world, def.body_a, pose);
        pose.position.x = -1e5f;
        (void)cairn_body_set_pose(p->world, def.body_b, pose);
    }
}
static void save(play *p) {
    kit_free(&p->saved);
    p->saved = kit_save(p->world);
    kit_free(&p->encoded);
    p->encoded = kit_encode(p->world);
}
static void roll_back(play *p) {
    if (p->saved.bytes != NULL) {
        EXPECT_OK(cairn_world_load(p->world, p->saved.bytes, p->saved.size));
    }
}
static void decode(play *p) {
    if (p->encoded.bytes != NULL) {
        EXPECT_OK(cairn_world_decode(p->world, p->encoded.bytes, p->encoded.size, NULL));
    }
}
static void poison(play *p) {
    cairn_world_poison(p->world, (unsigned char)random_below(p, 256));
}
static void do_nothing(play *p) {
    (void)p;
}

static const struct {
    const char *name;
    void (*make)(play *p);
    uint32_t weight;
} changes[] = {{"nothing", do_nothing, 160}, {"spawn", spawn, 8}, {"despawn", despawn, 2},
    {"add shape", add_shape, 2}, {"remove shape", remove_shape, 1}, {"join", join, 2},
    {"unjoin", unjoin, 1}, {"set pose", set_pose, 2}, {"set velocity", set_velocity, 2},
    {"push", push, 4}, {"force", apply_force, 2}, {"disable", disable, 1},
    {"pull apart", pull_apart, 1}, {"save", save, 2}, {"roll back", roll_back, 2},
    {"decode", decode, 1}, {"poison", poison, 1}};

static void change_world(play *p) {
    uint32_t total = 0;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; ++i) {
        total += changes[i].weight;
    }
    uint32_t drawn = random_below(p, total);
    size_t at = 0;
    for (; drawn >= changes[at].weight; ++at) {
        drawn -= changes[at].weight;
    }
    p->last = changes[at].name;
    changes[at].make(p);
}

static void expect_cached_is_fresh(play *p, uint64_t seed, const char *when) {
    const cairn_world_hash cached = cairn_world_hash_read(p->world);
    const cairn_world_hash fresh = cairn_world_hash_fresh(p->world);
    for (cairn_section section = 0; section < CAIRN_SECTION_COUNT; ++section) {
        if (!cairn_hash_equal(cached.sections[section], fresh.sections[section])) {
            fail_msg("seed %u, tick %u, %s %s: %s", (unsigned)seed,
                (unsigned)cairn_world_tick(p->world), when, p->last, cairn_section_name(section));
        }
    }
    assert_true(cairn_hash_equal(cached.full, fresh.full));
    assert_true(cairn_hash_equal(cached.visible, fresh.visible));
}

// The hash is not read at every tick, so marks must last until it is.
TEST("the cached hash equals a fresh hash after any change") {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = BODIES;
    def.shape_capacity = 2 * BODIES;
    def.joint_capacity = 8;
    def.contact_capacity = 64;
    uint32_t slept = 0;
    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        play p = {.world = kit_world(&def), .random = cairn_random_of(seed), .last = "start"};
        kit_ground(p.world);
        for (uint32_t tick = 0; tick < TICKS; ++tick) {
            change_world(&p);
            if (random_below(&p, 3) != 0) {
                expect_cached_is_fresh(&p, seed, "before the step after");
            }
            cairn_world_step(p.world, NULL, 0);
            if (random_below(&p, 3) != 0) {
                expect_cached_is_fresh(&p, seed, "one step after");
            }
            const cairn_world_counts counts = cairn_world_counts_read(p.world);
            slept += counts.bodies > counts.bodies_awake + 4 ? 1u : 0u;
        }
        kit_free(&p.saved);
        kit_free(&p.encoded);
        cairn_world_destroy(p.world);
    }
    // Only sleeping bodies have leaves to keep.
    assert_true(slept > TICKS);
}

TEST("a marked write changes the hash, and reading the hash clears the mark") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    const cairn_hash128 before = kit_hash(world);
    world->state.bodies[0].user = 7;
    const cairn_hash_cache_array *cache = &world->hash_cache->arrays[CAIRN_ARRAY_BODIES];
    assert_int_equal(cache->marks[0] & CAIRN_MARK_STALE, 0);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_BODIES, 0);
    assert_false(cairn_hash_equal(before, kit_hash(world)));
    assert_int_equal(cache->marks[0] & CAIRN_MARK_STALE, 0);
}

// Sleeping bodies cost nothing: once the hash is read, no step marks their blocks.
TEST("a step marks only what moves") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    for (int i = 0; i < 63; ++i) {
        kit_cube(world, vec3(2.0f * (float)i, 0.5f, 0.0f));
    }
    kit_run(world, 120);
    assert_int_equal(cairn_world_counts_read(world).bodies_awake, 0);
    kit_sphere(world, vec3(0.0f, 50.0f, 0.0f), 0.5f);
    (void)kit_hash(world);
    kit_run(world, 1);
    const cairn_hash_cache_array *arrays = world->hash_cache->arrays;
    const uint32_t motions = cairn_hash_cache_block_elements(CAIRN_ARRAY_MOTIONS);
    const uint32_t bodies = cairn_hash_cache_block_elements(CAIRN_ARRAY_BODIES);
    for (uint32_t slot = 0; slot <= 64; ++slot) {
        const uint32_t block = slot / motions;
        assert_int_equal(
            arrays[CAIRN_ARRAY_MOTIONS].marks[block] & CAIRN_MARK_STALE, block == 64 / motions);
        assert_int_equal(arrays[CAIRN_ARRAY_BODIES].marks[slot / bodies] & CAIRN_MARK_STALE, 0);
        assert_int_equal(arrays[CAIRN_ARRAY_CONTACTS].marks[block] & CAIRN_MARK_STALE, 0);
    }
}

static uint32_t marks(const cairn_world *world, cairn_array array) {
    const uint32_t count = cairn_array_count(world->state.settings, array);
    const uint32_t block = cairn_hash_cache_block_elements(array);
    uint32_t marked = 0;
    for (uint32_t i = 0; i < count; i += block) {
        marked += world->hash_cache->arrays[array].marks[i / block] & CAIRN_MARK_STALE;
    }
    return marked;
}

// The cost of a rollback follows from what has changed, not from the size of the world.
TEST("a load marks only what differs") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    for (int i = 0; i < 63; ++i) {
        kit_sphere(world, vec3(2.0f * (float)i, 1.0f, 0.0f), 0.5f);
    }
    const cairn_hash128 before = kit_hash(world);
    SCOPED(kit_bytes) saved = kit_save(world);
    EXPECT_OK(cairn_body_set_velocity(world, 17, vec3(1.0f, 0.0f, 0.0f), vec3_zero()));
    (void)kit_hash(world);
    EXPECT_OK(cairn_world_load(world, saved.bytes, saved.size));
    for (cairn_array array = CAIRN_ARRAY_BODY_IDS; array < CAIRN_ARRAY_COUNT; ++array) {
        assert_int_equal(marks(world, array), array == CAIRN_ARRAY_MOTIONS);
    }
    assert_true(cairn_hash_equal(kit_hash(world), before));
}
