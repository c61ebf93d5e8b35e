// SPDX-License-Identifier: MIT
// The pair cache and the manifolds outlive steps, which must never change a result. So a twin that
// is loaded from the world's save before each step, and has to rebuild both, must stay equal to it;
// and colliding all pairs of shapes must find the contacts that the world has.

#include "tests/sim/world_kit.h"

#include "base/random.h"
#include "sim/collide/contact_update.h"
#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"
#include "sim/collide/pair_contact.h"
#include "sim/math/limits.h"
#include "sim/state/slots.h"

enum { PILE = 60 };

// Whether the step had to find a contact of the two shapes: they touch, or were about to meet.
static bool shapes_touch(const cairn_world *world, uint32_t a, uint32_t b, bool in_contact) {
    const cairn_state *state = &world->state;
    const uint32_t body_a = state->shapes[a].body;
    const uint32_t body_b = state->shapes[b].body;
    if (body_a == body_b || (state->bodies[body_a].kind != CAIRN_BODY_DYNAMIC &&
                                state->bodies[body_b].kind != CAIRN_BODY_DYNAMIC)) {
        return false;
    }
    const cairn_pair pair = {.shape_a = a, .shape_b = b};
    const unsigned char *change = world->pair_cache->reference_change;
    const uint32_t changed = (uint32_t)(change[a] | change[b]);
    const bool may_meet =
        cairn_pair_is_swept(world->pair_cache, pair, changed) && cairn_pair_may_meet(world, pair);
    cairn_found_contact found;
    found.pose = cairn_pair_reference_pose(world, pair);
    found.axis_hint = 0;
    return (in_contact || may_meet || cairn_pair_cache_overlap(world->pair_cache, pair)) &&
           cairn_pair_contact_find(world, pair, changed, in_contact, &found);
}

// All shapes that touch have a contact; no others do, except pairs that have separated by so little
// that their manifold is still recycled.
static void expect_contacts_of_all_pairs(const cairn_world *world) {
    const cairn_state *state = &world->state;
    uint32_t next = 0;
    for (uint32_t a = 0; a < state->settings->shape_slots; ++a) {
        for (uint32_t b = a + 1; b < state->settings->shape_slots; ++b) {
            if (!cairn_state_has(state, CAIRN_ARRAY_SHAPES, a) ||
                !cairn_state_has(state, CAIRN_ARRAY_SHAPES, b)) {
                continue;
            }
            const cairn_contact *contact = &state->contacts[next];
            const bool in_contact = next < state->settings->contact_count &&
                                    cairn_id_index(contact->shape_a) == a &&
                                    cairn_id_index(contact->shape_b) == b;
            const bool touch = shapes_touch(world, a, b, in_contact);
            assert_true(in_contact || !touch);
            if (in_contact && !touch) {
                const cairn_manifold_pool *pool = world->manifold_pool;
                const cairn_pair pair = {.shape_a = a, .shape_b = b};
                const cairn_pair_pose pose = cairn_pair_reference_pose(world, pair);
                const uint32_t manifold = pool->refs[next].manifold;
                assert_true(cairn_solver_manifold_can_recycle(
                    world, contact, &pool->manifolds[manifold], &pose));
            }
            next += in_contact ? 1 : 0;
        }
    }
    assert_int_equal(next, state->settings->contact_count);
}

static cairn_vec3 random_position(cairn_random *random, float width, float height) {
    const float x = (cairn_random_unit(random) - 0.5f) * width;
    const float y = cairn_random_unit(random) * height + 0.5f;
    const float z = (cairn_random_unit(random) - 0.5f) * width;
    return vec3(x, y, z);
}

static void add_random_body(cairn_world *world, cairn_random *random) {
    const cairn_vec3 at = random_position(random, 6.0f, 4.0f);
    if (cairn_random_below(random, 2) == 0) {
        kit_box(world, at, vec3(0.3f, 0.2f, 0.4f), 1000.0f);
    } else {
        kit_sphere(world, at, 0.3f);
    }
}

// A change that a game might make between two steps. Body 1 is the floor and is not changed.
static void change_world(cairn_world *world, cairn_random *random) {
    static cairn_body_state states[4 * PILE];
    const uint32_t count = cairn_world_bodies(world, states, 4 * PILE);
    const cairn_body_id body = states[cairn_random_below(random, count)].id;
    const cairn_vec3 at = random_position(random, 6.0f, 3.0f);
    const uint64_t change = cairn_random_below(random, 8);
    if (body == 1 && (change == 1 || change == 2 || change == 4)) {
        return;
    }
    switch (change) {
    case 0:
        add_random_body(world, random);
        break;
    case 1:
        EXPECT_OK(cairn_body_destroy(world, body));
        break;
    case 2:
        EXPECT_OK(cairn_body_set_pose(
            world, body, (cairn_pose){.position = at, .rotation = quat_identity()}));
        break;
    case 3:
        EXPECT_OK(cairn_body_apply_impulse_at_centre(world, body, vec3_scale(at, 500.0f)));
        break;
    case 4: {
        cairn_shape_def shape = cairn_shape_def_default();
        cairn_shape_id id = 0;
        shape.half_extents = vec3(0.2f, 0.2f, 0.2f);
        shape.pose.position = vec3(0.3f, 0.0f, 0.0f);
        EXPECT_OK(cairn_shape_create(world, body, &shape, &id));
        break;
    }
    default:
        break;
    }
}

static cairn_world *create_pile(const cairn_world_def *def, cairn_random *random) {
    cairn_world *world = kit_world(def);
    kit_ground(world);
    cairn_body_def platform = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    platform.kind = CAIRN_BODY_KINEMATIC;
    platform.position = vec3(-3.0f, 0.5f, 0.0f);
    platform.angular_velocity = vec3(0.0f, 1.0f, 0.0f);
    shape.half_extents = vec3(2.0f, 0.1f, 0.5f);
    kit_body(world, &platform, &shape);
    for (uint32_t i = 0; i < PILE; ++i) {
        add_random_body(world, random);
    }
    return world;
}

TEST("a twin that rebuilds the pair cache before each step stays equal") {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        cairn_random random = cairn_random_of(seed);
        SCOPED(cairn_world) *world = create_pile(NULL, &random);
        SCOPED(cairn_world) *twin = kit_world(NULL);
        for (uint32_t tick = 0; tick < 150; ++tick) {
            if (cairn_random_below(&random, 4) == 0) {
                change_world(world, &random);
            }
            kit_step_beside_reloaded(world, twin);
        }
    }
}

static void join(cairn_world *world, cairn_body_id a, cairn_body_id b, uint32_t collide) {
    cairn_joint_def joint = cairn_joint_def_default();
    cairn_joint_id id = 0;
    joint.body_a = a;
    joint.body_b = b;
    joint.anchor_a = vec3(0.2f, 0.2f, 0.0f);
    joint.anchor_b = vec3(-0.2f, 0.0f, 0.1f);
    joint.collide_connected = collide;
    const cairn_status status = cairn_joint_create(world, &joint, &id);
    assert_true(status == CAIRN_OK || a == b);
}

// Bodies and joints come and go in every tick, and take each other's slots, also between two steps.
TEST("a twin stays equal while shapes are removed and slots used again") {
    static cairn_body_state states[2 * PILE];
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        cairn_random random = cairn_random_of(seed);
        SCOPED(cairn_world) *world = create_pile(NULL, &random);
        SCOPED(cairn_world) *twin = kit_world(NULL);
        uint32_t kept = 0;
        for (uint32_t tick = 0; tick < 120; ++tick) {
            for (uint64_t i = cairn_random_below(&random, 6); i > 0; --i) {
                const uint32_t count = cairn_world_bodies(world, states, 2 * PILE);
                const uint64_t which = 2 + cairn_random_below(&random, count - 2);
                const uint64_t other = cairn_random_below(&random, count);
                if (cairn_random_below(&random, 4) == 0) {
                    join(world, states[which].id, states[other].id, (uint32_t)(tick % 2));
                } else if (cairn_random_below(&random, 2) == 0 && count > PILE / 2) {
                    EXPECT_OK(cairn_body_destroy(world, states[which].id));
                } else if (count < 2 * PILE) {
                    add_random_body(world, &random);
                }
            }
            kept += world->pair_cache_valid ? 1 : 0;
            kit_step_beside_reloaded(world, twin);
        }
        assert_true(kept >= 119); // only the first step has to build it
    }
}

// Their contact ends with the joint. The pair must not come back when they leave the fat AABBs in
// which they were paired.
TEST("bodies that were joined in contact pass through each other from then on") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    SCOPED(cairn_world) *twin = kit_world(NULL);
    const cairn_body_id a = kit_cube(world, vec3(0.0f, 100.0f, 0.0f));
    const cairn_body_id b = kit_cube(world, vec3(0.9f, 100.0f, 0.0f));
    for (uint32_t i = 0; i < 10; ++i) { // in a world of so few shapes the list is always rebuilt
        kit_kinematic(world, vec3(5.0f * (float)i, 0.0f, 0.0f), vec3_zero());
    }
    kit_run(world, 1);
    assert_int_equal(world->state.settings->contact_count, 1);
    cairn_joint_def joint = cairn_joint_def_default();
    joint.body_a = a;
    joint.body_b = b;
    joint.anchor_a = vec3(0.45f, 0.0f, 0.0f);
    joint.anchor_b = vec3(-0.45f, 0.0f, 0.0f);
    kit_joint(world, &joint);
    for (uint32_t tick = 0; tick < 60; ++tick) {
        kit_step_beside_reloaded(world, twin);
        assert_int_equal(world->state.settings->contact_count, 0);
    }
}

TEST("a twin stays equal when the pair list overflows") {
    cairn_world_def def = cairn_world_def_default();
    bool overflowed = false;
    bool fitted = false;
    def.contact_capacity = 32;
    cairn_random random = cairn_random_of(9);
    SCOPED(cairn_world) *world = create_pile(&def, &random);
    SCOPED(cairn_world) *twin = kit_world(&def);
    for (uint32_t tick = 0; tick < 150; ++tick) {
        kit_step_beside_reloaded(world, twin);
        overflowed = overflowed || !world->pair_cache_valid;
        fitted = fitted || world->pair_cache_valid;
        assert_true(world->state.settings->contact_count <= def.contact_capacity);
    }
    assert_true(overflowed && fitted);
    assert_true(cairn_world_counters_read(world).contacts_dropped > 0);
}

TEST("shapes that touch have a contact") {
    cairn_world_def def = cairn_world_def_default();
    def.sleep = 0;
    cairn_random random = cairn_random_of(5);
    SCOPED(cairn_world) *world = create_pile(&def, &random);
    for (uint32_t tick = 0; tick < 200; ++tick) {
        if (cairn_random_below(&random, 8) == 0) {
            change_world(world, &random);
        }
        cairn_pair_cache_update(world);
        cairn_contact_update(world);
        expect_contacts_of_all_pairs(world);
        kit_run(world, 1);
    }
}

// While every AABB is inside its fat AABB the list is kept, and while no body moves the manifolds
// are.
TEST("a standing stack rebuilds neither the pair list nor manifolds") {
    cairn_world_def def = cairn_world_def_default();
    def.sleep = 0;
    SCOPED(cairn_world) *world = kit_world(&def);
    kit_ground(world);
    for (uint32_t i = 0; i < 10; ++i) {
        kit_cube(world, vec3(0.0f, 0.5f + (float)i, 0.0f));
    }
    kit_run(world, 300);
    uint32_t shifted = 0;
    for (uint32_t i = 0; i < 60; ++i) {
        kit_run(world, 1);
        assert_true(world->pair_cache_valid);
        assert_int_equal(world->pair_cache->enlarged_count, 0);
        shifted += world->pair_cache->changed_count;
    }
    assert_true(shifted < 60);
    assert_int_equal(world->state.settings->contact_count, 10);
}

static cairn_world *decode_at_width(
    const cairn_world_def *def, const kit_bytes *encoded, uint32_t lanes) {
    cairn_world *world = kit_world(def);
    EXPECT_OK(cairn_world_set_lanes(world, lanes));
    EXPECT_OK(cairn_world_decode(world, encoded->bytes, encoded->size, NULL));
    return world;
}

// No step produces such a contact, but decode accepts it: the manifold has additional points that
// do not touch. A sphere has one point; a box beside it makes wide constraints of four points.
TEST("a contact with more points than its shapes have is solved equally at every width") {
    cairn_world_def def = cairn_world_def_default();
    def.sleep = 0;
    SCOPED(cairn_world) *world = kit_world(&def);
    kit_ground(world);
    for (uint32_t i = 0; i < 3; ++i) {
        kit_sphere(world, vec3(3.0f * (float)i, 0.5f, 0.0f), 0.5f);
    }
    kit_cube(world, vec3(-3.0f, 0.5f, 0.0f));
    kit_run(world, 60);
    assert_int_equal(world->state.settings->contact_count, 4);
    cairn_contact *contact = &world->state.contacts[0];
    assert_int_equal(contact->point_count, 1);
    contact->point_count = 4;
    for (uint32_t i = 1; i < 4; ++i) {
        contact->points[i] = (cairn_contact_point){.feature = i, .normal_impulse = 5.0f};
    }
    SCOPED(kit_bytes) encoded = kit_encode(world);
    SCOPED(cairn_world) *narrow = decode_at_width(&def, &encoded, 1);
    SCOPED(cairn_world) *wide = decode_at_width(&def, &encoded, 4);
    for (uint32_t tick = 0; tick < 20; ++tick) {
        kit_run(narrow, 1);
        kit_run(wide, 1);
        assert_true(kit_equal(narrow, wide));
    }
}

// ---- Shapes that nothing may meet

TEST("a body that nothing may meet keeps its reference pose until its filter changes") {
    cairn_world_def def = cairn_world_def_default();
    SCOPED(cairn_world) *world = kit_world(&def);
    SCOPED(cairn_world) *twin = kit_world(&def);
    kit_ground(world);
    const cairn_body_id ball = kit_sphere(world, vec3(0.0f, -0.3f, 0.0f), 0.5f);
    const cairn_body_id cube = kit_cube(world, vec3(5.0f, 0.5f, 0.0f));
    const cairn_body_id ids[] = {ball, cube};
    // One shape is enough to meet others.
    const cairn_body_id mixed = kit_cube(world, vec3(-5.0f, 0.5f, 0.0f));
    cairn_shape_def ghost = cairn_shape_def_default();
    cairn_shape_id ghost_id;
    ghost.mask = 0;
    EXPECT_OK(cairn_shape_create(world, mixed, &ghost, &ghost_id));
    uint32_t contacts_alone = 0;
    for (uint32_t i = 0; i < 2; ++i) {
        cairn_shape_id shape;
        assert_int_equal(cairn_body_shapes(world, ids[i], &shape, 1), 1);
        // The ball by its mask; of the cube, which touches the ground already, the category.
        kit_run(world, 1);
        contacts_alone += world->state.settings->contact_count;
        EXPECT_OK(cairn_shape_set_filter(world, shape, 1 - i, i));
        EXPECT_OK(cairn_body_set_pose(
            world, ids[i], (cairn_pose){vec3((float)i, 20.0f, 0.0f), quat_identity()}));
    }
    assert_true(contacts_alone > 0);
    kit_step_beside_reloaded(world, twin);
    const cairn_reference_pose before = world->state.reference_poses[cairn_id_index(ball)];
    for (uint32_t i = 0; i < 90; ++i) {
        kit_step_beside_reloaded(world, twin);
        assert_int_equal(world->state.settings->contact_count, 1);
    }
    assert_memory_equal(
        &before, &world->state.reference_poses[cairn_id_index(ball)], sizeof before);
    const cairn_body_state fallen = kit_read(world, ball);
    assert_true(fallen.position.y < 10.0f);
    cairn_ray_hit hit;
    const cairn_body_state on_ground = kit_read(world, mixed);
    assert_true(on_ground.position.y > 0.45f && on_ground.position.y < 0.55f);
    EXPECT_OK(cairn_world_ray_cast(world, vec3(0.0f, fallen.position.y + 3.0f, 0.0f),
        vec3(0.0f, -6.0f, 0.0f), UINT32_MAX, CAIRN_ID_NULL, &hit));
    assert_true(hit.body == ball);
    // From now on both meet the ground, where they are now.
    for (uint32_t i = 0; i < 2; ++i) {
        cairn_shape_id shape;
        assert_int_equal(cairn_body_shapes(world, ids[i], &shape, 1), 1);
        EXPECT_OK(cairn_shape_set_filter(world, shape, 1, UINT32_MAX));
    }
    for (uint32_t i = 0; i < 180; ++i) {
        kit_step_beside_reloaded(world, twin);
    }
    assert_true(
        kit_read(world, ball).position.y > 0.45f && kit_read(world, ball).position.y < 0.55f);
    assert_true(
        kit_read(world, cube).position.y > 0.45f && kit_read(world, cube).position.y < 0.55f);
}
