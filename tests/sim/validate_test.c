// SPDX-License-Identifier: MIT
// cairn_world_validate accepts every world that the library makes, and names the rule that a
// damaged one breaks.

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

static const cairn_vec3 half = {.x = 0.5f, .y = 0.5f, .z = 0.5f};

// A stack of two boxes, two boxes joined, a hull, and a free slot.
static cairn_world *build(uint32_t ticks) {
    static const cairn_vec3 corners[] = {
        {-0.5f, -0.5f, -0.5f}, {0.5f, -0.5f, -0.5f}, {0.0f, -0.5f, 0.5f}, {0.0f, 0.5f, 0.0f}};
    cairn_world *world = kit_world(NULL);
    kit_ground(world, 0.5f);
    kit_box(world, vec3(0.0f, 0.5f, 0.0f), half, 1000.0f, 0.5f);
    kit_box(world, vec3(0.0f, 1.5f, 0.0f), half, 1000.0f, 0.5f);
    cairn_joint_def joint = cairn_joint_def_default();
    joint.body_a = kit_box(world, vec3(5.0f, 0.5f, 0.0f), half, 1000.0f, 0.5f);
    joint.body_b = kit_box(world, vec3(6.5f, 0.5f, 0.0f), half, 1000.0f, 0.5f);
    joint.anchor_a = vec3(0.75f, 0.0f, 0.0f);
    joint.anchor_b = vec3(-0.75f, 0.0f, 0.0f);
    cairn_joint_id id = 0;
    assert_int_equal(cairn_joint_create(world, &joint, &id), CAIRN_OK);
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_def body = cairn_body_def_default();
    shape.kind = CAIRN_SHAPE_HULL;
    assert_int_equal(cairn_hull_create(world, corners, 4, &shape.hull), CAIRN_OK);
    body.position = vec3(-5.0f, 0.5f, 0.0f);
    kit_body(world, &body, &shape);
    const cairn_body_id gone = kit_box(world, vec3(9.0f, 9.0f, 9.0f), half, 1000.0f, 0.5f);
    kit_run(world, ticks);
    assert_int_equal(cairn_body_destroy(world, gone), CAIRN_OK);
    (void)kit_hash(world);
    return world;
}

static void set_nan(cairn_world *world) {
    world->state.motions[LOWER].linear_velocity.x = NAN;
}

static void set_negative_zero(cairn_world *world) {
    world->state.motions[LOWER].angular_velocity.y = -0.0f;
}

static void write_free_slot(cairn_world *world) {
    world->state.bodies[GONE].user = 1;
}

static void set_unknown_id_bit(cairn_world *world) {
    world->state.body_ids[LOWER] |= 0x10000u;
}

static void stretch_rotation(cairn_world *world) {
    world->state.motions[LOWER].rotation = (cairn_quat){.w = 0.5f};
}

static void put_mover_to_sleep(cairn_world *world) {
    world->state.motions[LOWER].linear_velocity.x = 1.0f;
    world->state.sleep[LOWER].state = CAIRN_SLEEP_ASLEEP;
}

static void exceed_capacity(cairn_world *world) {
    world->state.settings->body_slots = world->def.body_capacity + 1;
}

static void change_settings(cairn_world *world) {
    world->state.settings->gravity.x = 1.0f;
}

static void swap_contacts(cairn_world *world) {
    const cairn_contact first = world->state.contacts[0];
    world->state.contacts[0] = world->state.contacts[1];
    world->state.contacts[1] = first;
}

static void move_shape_to_no_body(cairn_world *world) {
    world->state.shapes[LOWER].body = GONE;
}

static void join_to_no_body(cairn_world *world) {
    world->state.joints[0].body_a = 0;
}

static void raise_hint(cairn_world *world) {
    world->body_hint = GONE + 1;
}

static void empty_shape_list(cairn_world *world) {
    world->shape_first[LOWER] = 0;
}

static void close_shape_list(cairn_world *world) {
    world->shape_next[LOWER] = LOWER + 1;
}

static void move_hull_vertex(cairn_world *world) {
    world->hulls[0].vertices[0].x += 1.0f;
}

static void refer_beyond_pool(cairn_world *world) {
    world->manifold_pool->refs[0].manifold = world->manifold_pool->used;
}

static void lose_manifold(cairn_world *world) {
    world->manifold_pool->refs[0].manifold = CAIRN_MANIFOLD_NONE;
}

static void refer_to_other_body(cairn_world *world) {
    world->manifold_pool->refs[0].body_b = RIGHT;
}

static void forget_pair_in_contact(cairn_world *world) {
    cairn_pair_cache *cache = world->pair_cache;
    uint32_t i = 0;
    while (cache->pairs[i].flags != CAIRN_PAIR_IN_CONTACT) {
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

static void put_half_an_island_to_sleep(cairn_world *world) {
    world->islands_settled = true;
    world->state.motions[UPPER].linear_velocity = vec3_zero();
    world->state.motions[UPPER].angular_velocity = vec3_zero();
    world->state.sleep[UPPER].state = CAIRN_SLEEP_ASLEEP;
}

static void put_half_of_joined_bodies_to_sleep(cairn_world *world) {
    world->islands_settled = true;
    world->state.motions[RIGHT].linear_velocity = vec3_zero();
    world->state.motions[RIGHT].angular_velocity = vec3_zero();
    world->state.sleep[RIGHT].state = CAIRN_SLEEP_ASLEEP;
}

static void repeat_colour(cairn_world *world) {
    cairn_constraint_graph *graph = &world->soft_step->contact_graph;
    assert_true(graph->edge_count >= 2);
    graph->edges[1].colour = graph->edges[0].colour;
    graph->edges[1].solver_a = graph->edges[0].solver_b;
}

static void set_unknown_colour(cairn_world *world) {
    world->soft_step->joint_graph.edges[0].colour = CAIRN_COLOUR_NONE + 1;
}

static void flip_bit_behind_the_hash(cairn_world *world) {
    world->state.motions[UPPER].linear_velocity.x += 0.25f;
}

static void damage_sum_of_leaves(cairn_world *world) {
    world->hash_cache->arrays[CAIRN_ARRAY_SHAPES].sum.lo ^= 1;
}

#define BODIES "bodies: pose, velocity, mass or sleep do not fit the kind"
#define POOL "manifold pool: it does not fit the contacts"
#define PAIRS "pair cache: it does not fit the contacts"
#define ISLANDS "islands: one sleeps in part"
#define LEAF "hash cache: a leaf is not that of its words"

static const struct {
    void (*damage)(cairn_world *world);
    cairn_status status;
    const char *where;
} rows[] = {{set_nan, CAIRN_NON_FINITE, "linear_velocity.x"},
    {set_negative_zero, CAIRN_MALFORMED, "angular_velocity.y"},
    {write_free_slot, CAIRN_MALFORMED, "ids: a free slot is not zero"},
    {set_unknown_id_bit, CAIRN_MALFORMED, "ids: a slot has unknown bits"},
    {stretch_rotation, CAIRN_MALFORMED, BODIES}, {put_mover_to_sleep, CAIRN_MALFORMED, BODIES},
    {exceed_capacity, CAIRN_CAPACITY, "more than the capacities hold"},
    {change_settings, CAIRN_MALFORMED, "settings differ from this world's"},
    {swap_contacts, CAIRN_MALFORMED, "contacts: order, shapes or points"},
    {move_shape_to_no_body, CAIRN_MALFORMED, "shapes: sizes, hull or body do not fit the kind"},
    {join_to_no_body, CAIRN_MALFORMED, "joints: a body does not exist"},
    {raise_hint, CAIRN_MALFORMED, "ids: a slot below the hint is free"},
    {empty_shape_list, CAIRN_MALFORMED, "shapes: the list of a body"},
    {close_shape_list, CAIRN_MALFORMED, "shapes: the list of a body"},
    {move_hull_vertex, CAIRN_MALFORMED, "hulls: one is not that of its vertices"},
    {refer_beyond_pool, CAIRN_MALFORMED, POOL}, {lose_manifold, CAIRN_MALFORMED, POOL},
    {refer_to_other_body, CAIRN_MALFORMED, POOL}, {forget_pair_in_contact, CAIRN_MALFORMED, PAIRS},
    {swap_pairs, CAIRN_MALFORMED, PAIRS}, {put_half_an_island_to_sleep, CAIRN_MALFORMED, ISLANDS},
    {put_half_of_joined_bodies_to_sleep, CAIRN_MALFORMED, ISLANDS},
    {repeat_colour, CAIRN_MALFORMED, "constraint graph: colours"},
    {set_unknown_colour, CAIRN_MALFORMED, "constraint graph: colours"},
    {flip_bit_behind_the_hash, CAIRN_MALFORMED, LEAF},
    {damage_sum_of_leaves, CAIRN_MALFORMED, LEAF}};

// Destroying the last body has dropped the pair cache; a step fills it.
static cairn_world *build_settled(void) {
    cairn_world *world = build(15);
    kit_run(world, 1);
    (void)kit_hash(world);
    return world;
}

TEST("each damage is refused by its rule") {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        cairn_world *world = build_settled();
        const char *where = NULL;
        assert_int_equal(cairn_world_validate(world, &where), CAIRN_OK);
        assert_string_equal(where, "");
        rows[i].damage(world);
        if (cairn_world_validate(world, &where) != rows[i].status ||
            strcmp(where, rows[i].where) != 0) {
            fail_msg("row %zu, \"%s\": refused by \"%s\"", i, rows[i].where, where);
        }
        assert_int_equal(cairn_world_validate(world, NULL), rows[i].status);
        cairn_world_destroy(world);
    }
}

TEST("a world is valid after every step and edit, poisoned, saved, forked and decoded") {
    cairn_world *world = build(0);
    for (uint32_t i = 0; i < 240; ++i) {
        if (i % 60 == 50) {
            const cairn_body_id body = kit_box(world, vec3(0.0f, 4.0f, 0.0f), half, 100.0f, 0.5f);
            assert_int_equal(cairn_world_validate(world, NULL), CAIRN_OK);
            kit_run(world, 1);
            assert_int_equal(cairn_body_destroy(world, body), CAIRN_OK);
        }
        assert_int_equal(cairn_world_validate(world, NULL), CAIRN_OK);
        kit_run(world, 1);
        cairn_world_poison(world, (unsigned char)i);
        assert_int_equal(cairn_world_validate(world, NULL), CAIRN_OK);
    }
    cairn_world *other = NULL;
    assert_int_equal(cairn_world_fork(world, &other), CAIRN_OK);
    assert_int_equal(cairn_world_validate(other, NULL), CAIRN_OK);
    kit_run(other, 10);
    kit_bytes saved = kit_save(world);
    kit_bytes encoded = kit_encode(world);
    assert_int_equal(cairn_world_load(other, saved.bytes, saved.size), CAIRN_OK);
    assert_int_equal(cairn_world_validate(other, NULL), CAIRN_OK);
    assert_int_equal(cairn_world_decode(other, encoded.bytes, encoded.size, NULL), CAIRN_OK);
    assert_int_equal(cairn_world_validate(other, NULL), CAIRN_OK);
    kit_free(&saved);
    kit_free(&encoded);
    cairn_world_destroy(other);
    cairn_world_destroy(world);
}

TEST("every golden scene is valid throughout") {
    for (uint32_t i = 0; i < golden_scene_count; ++i) {
        const golden_scene *scene = &golden_scenes[i];
        cairn_world *world = golden_create(scene);
        scene->build(world);
        for (uint32_t tick = 0; tick < scene->ticks; ++tick) {
            const char *where = NULL;
            golden_step(scene, world);
            if (tick % 8 == 0 && cairn_world_validate(world, &where) != CAIRN_OK) {
                fail_msg("%s, tick %u: %s", scene->name, tick, where);
            }
        }
        cairn_world_destroy(world);
    }
}
