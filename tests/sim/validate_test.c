// SPDX-License-Identifier: MIT
// cairn_world_validate accepts every world that the library produces, and names the rule that a
// damaged one violates.

#include "tests/sim/world_kit.h"

#include <math.h>
#include <string.h>

#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"
#include "sim/debug/poison.h"
#include "sim/shape/hull.h"
#include "sim/soft_step/soft_step.h"
#include "sim/state/hash_cache.h"
#include "tests/sim/golden_scenes.h"

enum { FLOOR, LOWER, UPPER, LEFT, RIGHT, WEDGE, GONE }; // slots of bodies and shapes

// A stack of two boxes, two boxes joined, a hull, and a free slot.
static cairn_world *build(uint32_t ticks) {
    static const cairn_vec3 corners[] = {
        {-0.5f, -0.5f, -0.5f}, {0.5f, -0.5f, -0.5f}, {0.0f, -0.5f, 0.5f}, {0.0f, 0.5f, 0.0f}};
    cairn_world *world = kit_world(NULL);
    kit_ground(world);
    kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
    kit_cube(world, vec3(0.0f, 1.5f, 0.0f));
    cairn_joint_def joint = cairn_joint_def_default();
    joint.body_a = kit_cube(world, vec3(5.0f, 0.5f, 0.0f));
    joint.body_b = kit_cube(world, vec3(6.5f, 0.5f, 0.0f));
    joint.anchor_a = vec3(0.75f, 0.0f, 0.0f);
    joint.anchor_b = vec3(-0.75f, 0.0f, 0.0f);
    kit_joint(world, &joint);
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_HULL;
    EXPECT_OK(cairn_hull_create(world, corners, 4, &shape.hull));
    kit_drop(world, vec3(-5.0f, 0.5f, 0.0f), &shape);
    const cairn_body_id gone = kit_cube(world, vec3(9.0f, 9.0f, 9.0f));
    kit_run(world, ticks);
    EXPECT_OK(cairn_body_destroy(world, gone));
    (void)kit_hash(world);
    return world;
}

static void swap_contacts(cairn_world *world) {
    const cairn_contact first = world->state.contacts[0];
    world->state.contacts[0] = world->state.contacts[1];
    world->state.contacts[1] = first;
}

static void forget_pair_in_contact(cairn_world *world) {
    cairn_pair_cache *cache = world->pair_cache;
    uint32_t i = 0;
    while (cache->pairs[i].flags != 1) {
        ++i;
        assert_true(i < cache->pair_count);
    }
    cache->pairs[i].flags = 0;
}

static void swap_pairs(cairn_world *world) {
    const cairn_cached_pair first = world->pair_cache->pairs[0];
    world->pair_cache->pairs[0] = world->pair_cache->pairs[1];
    world->pair_cache->pairs[1] = first;
}

static void put_to_sleep(cairn_world *world, uint32_t slot) {
    world->islands_settled = true;
    world->state.motions[slot].linear_velocity = vec3_zero();
    world->state.motions[slot].angular_velocity = vec3_zero();
    world->state.sleep[slot].state = CAIRN_SLEEP_ASLEEP;
}

static void repeat_colour(cairn_world *world) {
    cairn_constraint_graph *graph = &world->soft_step->contact_graph;
    assert_true(graph->edge_count >= 2);
    graph->edges[1].colour = graph->edges[0].colour;
    graph->edges[1].solver_a = graph->edges[0].solver_b;
}

// The destruction of the last body has invalidated the pair cache; a step fills it.
static cairn_world *build_settled(void) {
    cairn_world *world = build(15);
    kit_run(world, 1);
    (void)kit_hash(world);
    return world;
}

static void expect_refused(cairn_world *world, cairn_status expected, const char *rule) {
    const char *where = NULL;
    const cairn_status status = cairn_world_validate(world, &where);
    if (status != expected || strcmp(where, rule) != 0) {
        fail_msg("\"%s\": %s, \"%s\"", rule, cairn_status_text(status), where);
    }
    assert_int_equal(cairn_world_validate(world, NULL), expected);
}

// Damages a valid world as the statement says, in its state s.
#define EXPECT_REFUSED(status, rule, ...)                                                          \
    do {                                                                                           \
        SCOPED(cairn_world) *world = build_settled();                                              \
        cairn_state *s = &world->state;                                                            \
        expect_refused(world, CAIRN_OK, "");                                                       \
        __VA_ARGS__;                                                                               \
        expect_refused(world, status, rule);                                                       \
        (void)s;                                                                                   \
    } while (0)
#define EXPECT_MALFORMED(rule, ...) EXPECT_REFUSED(CAIRN_MALFORMED, rule, __VA_ARGS__)

TEST("each damage to the state is refused by its rule") {
    static const char bodies[] = "bodies: pose, velocity, mass or sleep do not fit the kind";
    EXPECT_REFUSED(
        CAIRN_NON_FINITE, "linear_velocity.x", s->motions[LOWER].linear_velocity.x = NAN);
    EXPECT_MALFORMED("angular_velocity.y", s->motions[LOWER].angular_velocity.y = -0.0f);
    EXPECT_MALFORMED("ids: a free slot is not zero", s->bodies[GONE].user = 1);
    EXPECT_MALFORMED("ids: a slot has unknown bits", s->body_ids[LOWER] |= 0x10000u);
    EXPECT_MALFORMED(bodies, s->motions[LOWER].rotation = (cairn_quat){.w = 0.5f});
    EXPECT_MALFORMED(bodies, s->motions[LOWER].linear_velocity.x = 1.0f;
                     s->sleep[LOWER].state = CAIRN_SLEEP_ASLEEP);
    EXPECT_REFUSED(CAIRN_CAPACITY, "more than the capacities hold",
        s->settings->body_slots = world->def.body_capacity + 1);
    EXPECT_MALFORMED("settings differ from this world's", s->settings->gravity.x = 1.0f);
    EXPECT_MALFORMED("contacts: order, shapes or points", swap_contacts(world));
    EXPECT_MALFORMED(
        "shapes: sizes, hull, mesh or body do not fit the kind", s->shapes[LOWER].body = GONE);
    EXPECT_MALFORMED("joints: a body does not exist", s->joints[0].body_a = 0);
}

TEST("each damage to what a world derives from its state is refused by its rule") {
    static const char list[] = "shapes: wrong list of a body";
    static const char pool[] = "manifold pool: does not match the contacts";
    static const char pairs[] = "pair cache: does not match the contacts";
    static const char islands[] = "islands: only a part of one sleeps";
    static const char colours[] = "constraint graph: wrong colours";
    static const char leaf[] = "hash cache: a leaf does not match its words";
    EXPECT_MALFORMED("ids: a slot below the hint is free", world->body_hint = GONE + 1);
    EXPECT_MALFORMED(list, world->shape_first[LOWER] = 0);
    EXPECT_MALFORMED(list, world->shape_next[LOWER] = LOWER + 1);
    EXPECT_MALFORMED(
        "hulls: one does not match its vertices", world->hulls[0].vertices[0].x += 1.0f);
    EXPECT_MALFORMED(pool, world->manifold_pool->refs[0].manifold = world->manifold_pool->used);
    EXPECT_MALFORMED(pool, world->manifold_pool->refs[0].manifold = CAIRN_MANIFOLD_NONE);
    EXPECT_MALFORMED(pool, world->manifold_pool->refs[0].body_b = RIGHT);
    EXPECT_MALFORMED(pairs, forget_pair_in_contact(world));
    EXPECT_MALFORMED(pairs, swap_pairs(world));
    EXPECT_MALFORMED(islands, put_to_sleep(world, UPPER));
    EXPECT_MALFORMED(islands, put_to_sleep(world, RIGHT));
    EXPECT_MALFORMED(list, world->hit_shapes += 1);
    EXPECT_MALFORMED("bodies: one of the awake set is not marked", world->awake_marks[0] = 0);
    EXPECT_MALFORMED(
        "events: a woken body is not expected", s->sleep[UPPER].state = CAIRN_SLEEP_WOKEN;
        world->bodies_woken = false);
    EXPECT_MALFORMED(colours, repeat_colour(world));
    EXPECT_MALFORMED(
        colours, world->soft_step->joint_graph.edges[0].colour = CAIRN_COLOUR_ALONE + 1);
    EXPECT_MALFORMED(leaf, s->motions[UPPER].linear_velocity.x += 0.25f);
    EXPECT_MALFORMED(leaf, world->hash_cache->arrays[CAIRN_ARRAY_SHAPES].sum.lo ^= 1);
}

static void expect_valid(const cairn_world *world) {
    EXPECT_OK(cairn_world_validate(world, NULL));
}

TEST("a world is valid after every step and edit, poisoned, saved, forked and decoded") {
    SCOPED(cairn_world) *world = build(0);
    for (uint32_t i = 0; i < 240; ++i) {
        if (i % 60 == 50) {
            const cairn_body_id body = kit_cube(world, vec3(0.0f, 4.0f, 0.0f));
            expect_valid(world);
            kit_run(world, 1);
            EXPECT_OK(cairn_body_destroy(world, body));
        }
        expect_valid(world);
        kit_run(world, 1);
        cairn_world_poison(world, (unsigned char)i);
        expect_valid(world);
    }
    SCOPED(cairn_world) *other = kit_fork(world);
    expect_valid(other);
    kit_run(other, 10);
    SCOPED(kit_bytes) saved = kit_save(world);
    SCOPED(kit_bytes) encoded = kit_encode(world);
    EXPECT_OK(cairn_world_load(other, saved.bytes, saved.size));
    expect_valid(other);
    EXPECT_OK(cairn_world_decode(other, encoded.bytes, encoded.size, NULL));
    expect_valid(other);
}

TEST("every golden scene stays valid") {
    for (uint32_t i = 0; i < golden_scene_count; ++i) {
        const golden_scene *scene = &golden_scenes[i];
        SCOPED(cairn_world) *world = golden_world_at(scene, 0);
        for (uint32_t tick = 0; tick < scene->ticks; ++tick) {
            const char *where = NULL;
            golden_step(scene, world);
            if (tick % 8 == 0 && cairn_world_validate(world, &where) != CAIRN_OK) {
                fail_msg("%s, tick %u: %s", scene->name, tick, where);
            }
        }
    }
}
