// SPDX-License-Identifier: MIT
// What happens in one island changes no bit of another one: neither motions nor contacts, impulses,
// colours or times until sleep. So a wrong guess about one player can be repaired where it reached.

#include "tests/sim/world_kit.h"

#include <string.h>

#include "sim/state/world.h"

enum { PILES = 12, LAYERS = 4, SIDE = 3, PER_PILE = LAYERS * SIDE * SIDE, TICKS = 60 };

// Piles of boxes and balls on one floor, 12 m apart, that tumble into heaps.
static cairn_world *piles(uint32_t solver, uint32_t lanes, uint32_t sleep) {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = def.shape_capacity = PILES * PER_PILE + 1;
    def.contact_capacity = 8 * PILES * PER_PILE;
    def.solver = solver;
    def.sleep = sleep;
    cairn_world *world = kit_world(&def);
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_def at = cairn_body_def_default();
    at.kind = CAIRN_BODY_STATIC;
    at.position = vec3(0.0f, -1.0f, 0.0f);
    shape.half_extents = vec3(200.0f, 1.0f, 200.0f);
    kit_body(world, &at, &shape);
    at.kind = CAIRN_BODY_DYNAMIC;
    // Slots of the piles are mixed, as contacts are in their list.
    for (uint32_t i = 0; i < PER_PILE * PILES; ++i) {
        const uint32_t pile = i % PILES, k = i / PILES;
        shape.kind = k % 4 == 3 ? CAIRN_SHAPE_SPHERE : CAIRN_SHAPE_BOX;
        shape.half_extents = vec3(0.5f, 0.5f, 0.5f);
        shape.radius = 0.5f;
        at.position =
            vec3(12.0f * (float)(pile % 4) + 1.03f * (float)(k % SIDE) + 0.1f * (float)(k / 9),
                0.5f + 1.1f * (float)(k / 9),
                12.0f * (float)(pile / 4) + 1.02f * (float)(k / 3 % SIDE));
        kit_body(world, &at, &shape);
    }
    EXPECT_OK(cairn_world_set_lanes(world, lanes));
    return world;
}

static uint32_t pile_of_slot(uint32_t slot) {
    return slot == 0 ? PILES : (slot - 1) % PILES;
}

static bool is_of_first(const cairn_contact *contact) {
    return pile_of_slot(cairn_id_index(contact->body_a)) == 0 ||
           pile_of_slot(cairn_id_index(contact->body_b)) == 0;
}

// Contacts of the other piles, in order.
static uint32_t others(const cairn_world *world, const cairn_contact *out[]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->state.settings->contact_count; ++i) {
        if (!is_of_first(&world->state.contacts[i])) {
            out[count++] = &world->state.contacts[i];
        }
    }
    return count;
}

static void expect_others_equal(const cairn_world *a, const cairn_world *b, uint32_t tick) {
    static const cairn_contact *of_a[8 * PILES * PER_PILE];
    static const cairn_contact *of_b[8 * PILES * PER_PILE];
    for (uint32_t slot = 0; slot < a->state.settings->body_slots; ++slot) {
        if (pile_of_slot(slot) != 0) {
            const bool equal =
                memcmp(&a->state.motions[slot], &b->state.motions[slot], sizeof(cairn_motion)) ==
                    0 &&
                memcmp(&a->state.sleep[slot], &b->state.sleep[slot], sizeof(cairn_sleep)) == 0 &&
                memcmp(&a->state.bodies[slot], &b->state.bodies[slot], sizeof(cairn_body)) == 0 &&
                memcmp(&a->state.reference_poses[slot], &b->state.reference_poses[slot],
                    sizeof(cairn_reference_pose)) == 0;
            if (!equal) {
                fail_msg("tick %u: body %u of pile %u differs", tick, slot, pile_of_slot(slot));
            }
        }
    }
    const uint32_t count = others(a, of_a);
    assert_int_equal(others(b, of_b), count);
    for (uint32_t i = 0; i < count; ++i) {
        if (memcmp(of_a[i], of_b[i], sizeof(cairn_contact)) != 0) {
            fail_msg("tick %u: contact %u of others differs", tick, i);
        }
    }
}

static void run(uint32_t solver, uint32_t lanes, uint32_t sleep) {
    SCOPED(cairn_world) *world = piles(solver, lanes, sleep);
    kit_run(world, 20);
    SCOPED(cairn_world) *wrong = kit_fork(world);
    uint32_t contacts = 0;
    for (uint32_t tick = 0; tick < TICKS; ++tick) {
        if (tick % 8 == 0) { // slot 1 + k PILES is of the first pile
            EXPECT_OK(cairn_body_apply_impulse_at_centre(wrong, 2, vec3(700.0f, 900.0f, 300.0f)));
        }
        kit_run(world, 1);
        kit_run(wrong, 1);
        expect_others_equal(world, wrong, tick);
        contacts += world->state.settings->contact_count;
    }
    assert_true(contacts > TICKS * PILES * PER_PILE);
    assert_false(kit_equal(world, wrong));
}

TEST("a push in one pile changes no bit of the other piles") {
    run(CAIRN_SOLVER_SOFT_STEP, 0, 0);
    run(CAIRN_SOLVER_SOFT_STEP, 1, 1);
    run(CAIRN_SOLVER_SOFT_STEP, 4, 1);
}

TEST("the same with the PGS solver") {
    run(CAIRN_SOLVER_PGS, 0, 0);
    run(CAIRN_SOLVER_PGS, 0, 1);
}
