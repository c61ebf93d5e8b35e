// SPDX-License-Identifier: MIT
// After a restore the pair cache and the manifolds follow the state as far as it is the same one.
// They must then be those that are built from the restored state alone, and the ticks after it must
// have the hashes that they had.

#include "tests/sim/world_kit.h"

#include <string.h>

#include <cairn/history.h>

#include "base/random.h"
#include "sim/body/body.h"
#include "sim/collide/contact_update.h"
#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"
#include "sim/collide/pair_contact.h"
#include "sim/state/hash_cache.h"
#include "tests/sim/golden_scenes.h"

enum { TICKS = 24, PILE = 70, ROLLED_BACK = 8 };

SCOPE_POINTER_ENDS(cairn_history, cairn_history_destroy)

// Whether a step may collide the pair: in contact, or with AABBs that overlap, or swept.
static bool matters(const cairn_world *world, const cairn_cached_pair *entry) {
    const unsigned char *change = world->pair_cache->reference_change;
    const cairn_pair pair = entry->pair;
    const uint32_t changed = (uint32_t)(change[pair.shape_a] | change[pair.shape_b]);
    const bool meets =
        cairn_pair_is_swept(world->pair_cache, pair, changed) && cairn_pair_may_meet(world, pair);
    return (entry->flags & CAIRN_PAIR_CONTACTS) != 0 ||
           ((entry->flags & CAIRN_PAIR_INVALID) == 0 &&
               (meets || cairn_pair_cache_overlap(world->pair_cache, pair)));
}

// The next pair from `at` on that matters.
static uint32_t next_pair(const cairn_world *world, uint32_t at) {
    const cairn_pair_cache *cache = world->pair_cache;
    while (at < cache->pair_count && !matters(world, &cache->pairs[at])) {
        ++at;
    }
    return at;
}

static void expect_same_pairs(const cairn_world *world, const cairn_world *fresh) {
    uint32_t i = 0;
    uint32_t k = 0;
    for (;;) {
        i = next_pair(world, i);
        k = next_pair(fresh, k);
        if (i == world->pair_cache->pair_count || k == fresh->pair_cache->pair_count) {
            break;
        }
        const cairn_cached_pair *entry = &world->pair_cache->pairs[i++];
        const cairn_cached_pair *wanted = &fresh->pair_cache->pairs[k++];
        // A pair whose contacts end may be found again or not: its AABBs decide when it is.
        const uint32_t flags = (wanted->flags & CAIRN_PAIR_CONTACT_ENDS) != 0
                                   ? CAIRN_PAIR_CONTACTS | CAIRN_PAIR_CONTACT_ENDS
                                   : UINT32_MAX;
        assert_int_equal(entry->pair.shape_a, wanted->pair.shape_a);
        assert_int_equal(entry->pair.shape_b, wanted->pair.shape_b);
        assert_int_equal(entry->flags & flags, wanted->flags & flags);
    }
    assert_int_equal(i, world->pair_cache->pair_count);
    assert_int_equal(k, fresh->pair_cache->pair_count);
}

static void expect_same_shapes(const cairn_world *world, const cairn_world *fresh) {
    const cairn_pair_cache *a = world->pair_cache;
    const cairn_pair_cache *b = fresh->pair_cache;
    assert_int_equal(a->fat_aabbs.count, b->fat_aabbs.count);
    for (uint32_t i = 0; i < a->fat_aabbs.count; ++i) {
        const bool exists = cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, i);
        if (!exists || !body_enabled(&world->state.bodies[world->state.shapes[i].body])) {
            continue;
        }
        const cairn_aabb tight = a->transforms[i].aabb;
        const uint32_t body = a->transforms[i].body;
        assert_memory_equal(
            &a->transforms[i], &b->transforms[i], offsetof(cairn_shape_transform, padding));
        assert_memory_equal(
            &a->fat_aabbs.filters[i], &b->fat_aabbs.filters[i], sizeof a->fat_aabbs.filters[i]);
        assert_memory_equal(&a->minimum_extents[i], &b->minimum_extents[i], sizeof(float));
        assert_int_equal(a->reference_change[i], b->reference_change[i]);
        assert_true(a->fat_aabbs.lower[0][i] <= tight.lower.x &&
                    a->fat_aabbs.lower[1][i] <= tight.lower.y &&
                    a->fat_aabbs.lower[2][i] <= tight.lower.z &&
                    tight.upper.x <= a->fat_aabbs.upper[0][i] &&
                    tight.upper.y <= a->fat_aabbs.upper[1][i] &&
                    tight.upper.z <= a->fat_aabbs.upper[2][i]);
        assert_memory_equal(
            &a->reference_rotations[body], &b->reference_rotations[body], sizeof(cairn_quat));
        assert_memory_equal(&a->bounding_radii[body], &b->bounding_radii[body], sizeof(float));
        assert_memory_equal(&a->fast_distances[body], &b->fast_distances[body], sizeof(float));
    }
    assert_int_equal(a->joint_filter.pair_count, b->joint_filter.pair_count);
    assert_memory_equal(a->joint_filter.pairs, b->joint_filter.pairs,
        a->joint_filter.pair_count * sizeof a->joint_filter.pairs[0]);
}

// The manifolds that were kept are those that their contacts give. Returns how many.
static uint32_t expect_manifolds_of_contacts(const cairn_world *world) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < world->state.settings->contact_count; ++i) {
        const cairn_contact_ref *ref = &world->manifold_pool->refs[i];
        const cairn_contact *contact = &world->state.contacts[i];
        assert_int_equal(ref->body_a, cairn_id_index(contact->body_a));
        assert_int_equal(ref->body_b, cairn_id_index(contact->body_b));
        assert_true((ref->manifold == CAIRN_MANIFOLD_SENSOR) == contact_is_sensor(contact));
        if (ref->manifold < CAIRN_MANIFOLD_SENSOR) {
            cairn_solver_manifold computed;
            cairn_contact_compute_manifold(world, contact, &computed);
            assert_memory_equal(
                &world->manifold_pool->manifolds[ref->manifold], &computed, sizeof computed);
            ++kept;
        }
    }
    return kept;
}

// The derived data that the world's next step would use, beside those that are built from its state
// alone. Moves reference poses.
static uint32_t expect_as_built(cairn_world *world) {
    SCOPED(cairn_world) *fresh = kit_fork(world);
    const uint32_t kept = world->pair_cache_valid ? expect_manifolds_of_contacts(world) : 0;
    cairn_pair_cache_update(world);
    cairn_pair_cache_update(fresh);
    assert_true(kit_equal(world, fresh));
    if (world->pair_cache_valid && fresh->pair_cache_valid) {
        expect_same_shapes(world, fresh);
        expect_same_pairs(world, fresh);
    }
    return kept;
}

typedef struct tally {
    uint32_t restores;
    uint32_t followed; // the pair cache was not dropped
    uint32_t kept;     // manifolds
} tally;

// Restores every tick from every later one of a few, looks at what follows from it, and repeats the
// ticks after it.
static tally go_back_to_each(cairn_world *world,
    void (*step)(const void *context, cairn_world *world), const void *context, uint64_t seed) {
    SCOPED(cairn_history) *history = NULL;
    cairn_random random = cairn_random_of(seed);
    SCOPED(cairn_world) *straight = kit_fork(world);
    const uint64_t first = cairn_world_tick(world);
    cairn_hash128 roots[TICKS];
    tally out = {0};
    EXPECT_OK(cairn_history_create(world, TICKS + 1, 0, &history));
    for (uint32_t i = 0; i < TICKS; ++i) {
        roots[i] = kit_hash(straight);
        step(context, straight);
        EXPECT_OK(cairn_history_save(history, UINT64_MAX));
        step(context, world);
        const uint32_t back =
            (uint32_t)cairn_random_below(&random, i < ROLLED_BACK ? i + 1 : ROLLED_BACK);
        const uint64_t tick = first + i - back;
        EXPECT_OK(cairn_history_restore(history, tick));
        out.restores += 1;
        out.followed += world->pair_cache_valid ? 1u : 0u;
        if (i % 2 == 0) {
            out.kept += expect_as_built(world);
            EXPECT_OK(cairn_history_restore(history, tick));
        }
        for (uint32_t k = i - back; k <= i; ++k) {
            assert_true(cairn_hash_equal(kit_hash(world), roots[k]));
            assert_true(cairn_hash_equal(kit_hash(world), cairn_world_hash_fresh(world).full));
            EXPECT_OK(cairn_history_save(history, UINT64_MAX));
            const char *where = "";
            if (cairn_world_validate(world, &where) != CAIRN_OK) {
                fail_msg("tick %u: %s", (unsigned)cairn_world_tick(world), where);
            }
            step(context, world);
        }
    }
    return out;
}

static void add(tally *sum, tally more) {
    sum->restores += more.restores;
    sum->followed += more.followed;
    sum->kept += more.kept;
}

static void golden_tick(const void *context, cairn_world *world) {
    golden_step(context, world);
}

TEST("pairs and manifolds follow a restore in every scene, and so do the ticks after it") {
    tally sum = {0};
    for (uint32_t i = 0; i < golden_scene_count; ++i) {
        SCOPED(cairn_world) *world = golden_world_at(&golden_scenes[i], 20);
        add(&sum, go_back_to_each(world, golden_tick, &golden_scenes[i], 3 + i));
    }
    assert_true(sum.followed > sum.restores / 2);
    assert_true(sum.kept > 1000);
}

static cairn_vec3 random_place(cairn_random *random) {
    return vec3(7.0f * (cairn_random_unit(random) - 0.5f), 0.5f + 5.0f * cairn_random_unit(random),
        7.0f * (cairn_random_unit(random) - 0.5f));
}

static void add_random_body(cairn_world *world, cairn_random *random) {
    cairn_body_def at = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    const uint64_t drawn = cairn_random_below(random, 12);
    at.position = random_place(random);
    at.bullet = drawn == 1;
    at.kind = drawn == 2 ? CAIRN_BODY_KINEMATIC : CAIRN_BODY_DYNAMIC;
    at.linear_velocity = vec3(drawn < 3 ? 9.0f : 0.0f, 0.0f, drawn == 1 ? 60.0f : 0.0f);
    shape.kind = drawn % 2 == 0 ? CAIRN_SHAPE_SPHERE : CAIRN_SHAPE_BOX;
    shape.radius = 0.3f;
    shape.half_extents = vec3(0.3f, 0.2f, 0.4f);
    shape.flags = drawn == 3 ? CAIRN_SHAPE_SENSOR : 0;
    kit_body(world, &at, &shape);
}

// What a game may do between two steps: the same at each repetition of a tick.
static void play_tick(const void *seed, cairn_world *world) {
    static cairn_body_state bodies[4 * PILE];
    cairn_random random = cairn_random_of(*(const uint64_t *)seed + cairn_world_tick(world));
    const uint32_t count = cairn_world_bodies(world, bodies, 4 * PILE);
    const cairn_body_id one = bodies[1 + cairn_random_below(&random, count - 1)].id;
    const cairn_body_id other = bodies[1 + cairn_random_below(&random, count - 1)].id;
    const cairn_vec3 at = random_place(&random);
    const uint64_t drawn = cairn_random_below(&random, 24);
    if (drawn < 8) {
        (void)cairn_body_apply_impulse_at_centre(world, one, vec3_scale(at, 300.0f));
    } else if (drawn == 8) {
        add_random_body(world, &random);
    } else if (drawn == 9) {
        EXPECT_OK(cairn_body_destroy(world, one));
    } else if (drawn == 10) {
        EXPECT_OK(cairn_body_set_pose(
            world, one, (cairn_pose){.position = at, .rotation = quat_identity()}));
    } else if (drawn == 11 && one != other) {
        cairn_joint_def joint = cairn_joint_def_default();
        cairn_joint_id id = 0;
        joint.body_a = one;
        joint.body_b = other;
        joint.collide_connected = at.x > 0.0f;
        (void)cairn_joint_create(world, &joint, &id);
    } else if (drawn == 12) {
        const cairn_mass_properties heavy = {
            .mass = 90.0f, .centre = vec3(0.1f, 0.0f, 0.0f), .inertia = {9.0f, 9.0f, 9.0f}};
        (void)cairn_body_set_mass_properties(world, one, &heavy);
    } else if (drawn == 13) {
        (void)cairn_body_set_enabled(world, one, at.x > 1.0f);
    }
    kit_run(world, 1);
}

static cairn_world *random_pile(uint64_t seed, uint32_t solver, uint32_t sleep, uint32_t contacts) {
    cairn_world_def def = cairn_world_def_default();
    cairn_random random = cairn_random_of(seed);
    def.solver = solver;
    def.sleep = sleep;
    def.contact_capacity = contacts;
    cairn_world *world = kit_world(&def);
    kit_ground(world);
    for (uint32_t i = 0; i < PILE; ++i) {
        add_random_body(world, &random);
    }
    return world;
}

TEST("pairs and manifolds follow in random worlds that games change") {
    tally sum = {0};
    for (uint64_t seed = 1; seed <= 12; ++seed) {
        const uint32_t solver = seed % 4 == 0 ? CAIRN_SOLVER_PGS : CAIRN_SOLVER_SOFT_STEP;
        SCOPED(cairn_world) *world = random_pile(seed, solver, (uint32_t)(seed % 2), 1024);
        const uint64_t played = 1000 * seed;
        kit_run(world, 30);
        add(&sum, go_back_to_each(world, play_tick, &played, seed));
    }
    assert_true(sum.followed > sum.restores / 4);
    assert_true(sum.kept > 300);
}

// Few contacts fit, so the list of pairs fills up and is built again.
TEST("pairs follow when their list is full") {
    const uint64_t played = 77;
    SCOPED(cairn_world) *world = random_pile(5, CAIRN_SOLVER_SOFT_STEP, 0, 64);
    kit_run(world, 30);
    assert_true(go_back_to_each(world, play_tick, &played, 5).restores == TICKS);
}

TEST("a load keeps what it can as well") {
    SCOPED(cairn_world) *world = random_pile(6, CAIRN_SOLVER_SOFT_STEP, 1, 1024);
    kit_run(world, 100);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < TICKS; ++i) {
        SCOPED(kit_bytes) saved = kit_save(world);
        SCOPED(cairn_world) *straight = kit_fork(world);
        kit_run(world, ROLLED_BACK);
        EXPECT_OK(cairn_world_load(world, saved.bytes, saved.size));
        assert_true(world->pair_cache_valid);
        kept += expect_as_built(world);
        EXPECT_OK(cairn_world_load(world, saved.bytes, saved.size));
        for (uint32_t k = 0; k < ROLLED_BACK; ++k) {
            kit_run(world, 1);
            kit_run(straight, 1);
            assert_true(kit_equal(world, straight));
        }
    }
    assert_true(kept > TICKS * PILE / 2);
}

// ---- Fast bodies. What they meet must not depend on how far their fat bounding boxes reach.

enum { LANES = 24, FLIGHT = 24 };
#define LANE_WIDTH 6.0f // m
#define GATE_RISE 3.0f  // m

static float between(cairn_random *random, float low, float high) {
    return low + (high - low) * cairn_random_unit(random);
}

// A body that turns and flies along a lane.
static void add_flyer(cairn_world *world, cairn_random *random, float z) {
    cairn_body_def at = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    const float speed = between(random, 4.0f, 50.0f);
    shape.half_extents = vec3(0.1f, 0.25f, between(random, 0.05f, 0.25f));
    at.position = vec3(0.0f, between(random, -0.15f, 0.15f), z);
    at.linear_velocity = vec3(-speed, 0.0f, 0.0f);
    at.angular_velocity = vec3(0.0f, 0.0f, between(random, -10.0f, 10.0f));
    kit_body(world, &at, &shape);
}

// A bullet flies at it.
static void add_duel(cairn_world *world, cairn_random *random, float z) {
    cairn_body_def at = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    add_flyer(world, random, z);
    at.position = vec3(between(random, -42.0f, -2.0f), 0.0f, z);
    at.linear_velocity = vec3(between(random, 100.0f, 300.0f), 0.0f, 0.0f);
    at.bullet = 1;
    shape.kind = CAIRN_SHAPE_SPHERE;
    shape.radius = 0.1f;
    kit_body(world, &at, &shape);
}

// A plate that no impulse moves, below the lane of a body.
static void add_gate(cairn_world *world, cairn_random *random, float z) {
    cairn_body_def at = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    add_flyer(world, random, z);
    shape.half_extents = vec3(0.1f, 0.3f, 0.3f);
    at.kind = CAIRN_BODY_KINEMATIC;
    at.position = vec3(between(random, -1.5f, -0.5f), -GATE_RISE, z);
    kit_body(world, &at, &shape);
}

// A row without force to a body that meets nothing. What has joints never counts as a bullet, so it
// is the room around its fat bounding box that decides.
static void tie(cairn_world *world) {
    static cairn_body_state bodies[2 * LANES];
    const uint32_t count = cairn_world_bodies(world, bodies, 2 * LANES);
    assert_true(count <= 2 * LANES);
    cairn_body_def at = cairn_body_def_default();
    cairn_joint_def joint = cairn_joint_def_default();
    at.kind = CAIRN_BODY_STATIC;
    joint.kind = CAIRN_JOINT_ROW;
    EXPECT_OK(cairn_body_create(world, &at, &joint.body_a));
    for (uint32_t i = 0; i < count; ++i) {
        if (bodies[i].kind == CAIRN_BODY_DYNAMIC) {
            joint.body_b = bodies[i].id;
            kit_joint(world, &joint);
        }
    }
}

// With many shapes at rest, the list of pairs is changed instead of built again.
static cairn_world *world_of_lanes(
    uint64_t seed, uint32_t at_rest, void (*add_lane)(cairn_world *, cairn_random *, float z)) {
    cairn_world_def def = cairn_world_def_default();
    cairn_random random = cairn_random_of(seed);
    def.solver = seed % 4 == 0 ? CAIRN_SOLVER_PGS : CAIRN_SOLVER_SOFT_STEP;
    def.gravity = vec3_zero();
    def.contact_capacity = 1024;
    cairn_world *world = kit_world(&def);
    for (uint32_t i = 0; i < LANES; ++i) {
        add_lane(world, &random, LANE_WIDTH * (float)i);
    }
    if (seed % 3 != 0) {
        tie(world);
    }
    for (uint32_t i = 0; i < at_rest; ++i) {
        kit_cube(world, vec3(2.0f * (float)i, 50.0f, 0.0f));
    }
    return world;
}

// Bodies stop, and fly to and fro: a body at rest keeps the fat bounding box of its flight. In some
// ticks all gates close or open.
static void stop_and_go(cairn_world *world, cairn_random *random) {
    static cairn_body_state bodies[2 * LANES];
    assert_true(cairn_world_bodies(world, bodies, 2 * LANES) >= 2 * LANES);
    const bool gates_move = cairn_random_below(random, 4) == 0;
    for (uint32_t i = 0; i < 2 * LANES; ++i) {
        const uint64_t drawn = cairn_random_below(random, 6);
        const float side = bodies[i].position.x > -1.0f ? -1.0f : 1.0f;
        cairn_vec3 velocity =
            vec3(drawn == 0 ? side * between(random, 4.0f, 60.0f) : 0.0f, 0.0f, 0.0f);
        if (bodies[i].kind == CAIRN_BODY_KINEMATIC) {
            const bool is_low = bodies[i].position.y < -0.5f * GATE_RISE;
            velocity =
                vec3(0.0f, gates_move ? 60.0f * (is_low ? GATE_RISE : -GATE_RISE) : 0.0f, 0.0f);
        }
        if (bodies[i].kind == CAIRN_BODY_KINEMATIC || drawn < 3) {
            EXPECT_OK(cairn_body_set_velocity(world, bodies[i].id, velocity, vec3_zero()));
        }
    }
}

// Steps the world beside one that builds its caches in each tick. Returns the contacts, summed up.
static uint32_t expect_same_flight(cairn_world *world, uint64_t seed, bool stops) {
    cairn_random random = cairn_random_of(seed);
    uint32_t contacts = 0;
    for (uint32_t i = 0; i < FLIGHT; ++i) {
        if (stops) {
            stop_and_go(world, &random);
        }
        SCOPED(cairn_world) *fresh = kit_fork(world);
        kit_run(world, 1);
        kit_run(fresh, 1);
        contacts += world->state.settings->contact_count;
        assert_true(kit_equal(world, fresh));
    }
    return contacts;
}

TEST("bullets meet fast bodies at the same tick, however old the pair cache is") {
    uint32_t contacts = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED(cairn_world) *world = world_of_lanes(seed, 4 * LANES, add_duel);
        contacts += expect_same_flight(world, seed, false);
    }
    assert_true(contacts > 4 * LANES);
}

TEST("fast bodies meet kinematic ones at the same tick, however old the pair cache is") {
    uint32_t contacts = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED(cairn_world) *world = world_of_lanes(seed, seed % 2 * 8 * LANES, add_gate);
        contacts += expect_same_flight(world, seed, true);
    }
    assert_true(contacts > 4 * LANES);
}

// A box that no impulse moves.
static void add_wall(cairn_world *world, cairn_vec3 position) {
    cairn_body_def at = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    at.kind = CAIRN_BODY_STATIC;
    at.position = position;
    shape.half_extents = vec3(0.02f, 0.3f, 0.3f);
    kit_body(world, &at, &shape);
}

// So many obstacles are compared one after the other; a wall more appears in the way of bodies that
// have been found to have room.
TEST("fast bodies meet the wall that is one too many, however old the pair cache is") {
    uint32_t contacts = 0;
    for (uint64_t seed = 1; seed <= 30; ++seed) {
        SCOPED(cairn_world) *world = world_of_lanes(seed, 8 * LANES, add_flyer);
        cairn_random random = cairn_random_of(seed);
        for (uint32_t i = 0; i < CAIRN_OBSTACLES_MAX; ++i) {
            add_wall(world, vec3(-60.0f, 20.0f, (float)i));
        }
        for (uint32_t tick = 0; tick < 12; ++tick) {
            if (tick == 4) {
                cairn_body_state bodies[LANES];
                assert_true(cairn_world_bodies(world, bodies, LANES) >= LANES);
                for (uint32_t i = 0; i < LANES; ++i) {
                    const float ahead = between(&random, 0.3f, 4.0f);
                    add_wall(
                        world, vec3(bodies[i].position.x - ahead, 0.0f, LANE_WIDTH * (float)i));
                }
            }
            SCOPED(cairn_world) *fresh = kit_fork(world);
            kit_run(world, 1);
            kit_run(fresh, 1);
            contacts += world->state.settings->contact_count;
            assert_true(kit_equal(world, fresh));
        }
    }
    assert_true(contacts > 10 * LANES);
}
