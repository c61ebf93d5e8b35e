// SPDX-License-Identifier: MIT
// Rules of one's own: brittle bodies break where they are hit, and the oldest rubble goes.
//
// Bodies named "brittle" break. Their shapes have the flag CAIRN_SHAPE_HIT_EVENTS, so that hits are
// told. A hit breaks a body if its impulse changes the body's velocity by BREAKING_SPEED or more.
// The pieces have the same name and flags, so they can break again, down to PIECE_MASS_MIN. The
// rules hold the ids of the last RUBBLE_MAX pieces: when another one is made, the oldest is
// destroyed, and its hull with it. So a world with room for that many pieces, beside what it had at
// first, never fills up.

#include <cairn/fracture.h>
#include <cairn/rules.h>
#include <cairn/sim.h>

#define BREAKING_SPEED 3.0f // m/s
#define PIECE_MASS_MIN 4.0f // kg: what is lighter breaks no more
#define PIECES 10
#define RUBBLE_MAX 40

typedef struct rubble {
    cairn_body_id pieces[RUBBLE_MAX]; // a ring; null: none yet
    uint32_t oldest;                  // of the ring
} rubble;

static bool breaks(const cairn_world *world, cairn_body_id body, float impulse) {
    const float mass = cairn_body_mass(world, body); // 0 if it has broken already
    cairn_body_def def;
    return mass >= PIECE_MASS_MIN && impulse >= BREAKING_SPEED * mass &&
           cairn_body_read_def(world, body, &def) == CAIRN_OK &&
           def.name == cairn_name_hash("brittle");
}

static void keep(cairn_world *world, rubble *r, cairn_body_id piece) {
    // CAIRN_NOT_FOUND: it has broken in turn, or something else has destroyed it.
    (void)cairn_body_destroy(world, r->pieces[r->oldest]);
    r->pieces[r->oldest] = piece;
    r->oldest = (r->oldest + 1) % RUBBLE_MAX;
}

static void break_body(cairn_world *world, rubble *r, cairn_body_id body, cairn_vec3 point) {
    cairn_fracture_def def = cairn_fracture_def_default();
    cairn_body_id pieces[PIECES];
    uint32_t count;
    def.point = point;
    def.pieces = PIECES;
    def.seed = cairn_random_at(cairn_world_settings(world)->seed, cairn_world_tick(world), body, 0);
    // A body that is too thin, or that finds no room for its pieces, stays whole.
    if (cairn_body_fracture(world, body, &def, pieces, PIECES, &count) != CAIRN_OK) {
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        keep(world, r, pieces[i]);
    }
}

static void break_what_was_hit(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    uint32_t count;
    const cairn_contact_event *events = cairn_world_contact_events(world, &count);
    (void)commands;
    (void)command_count;
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_body_id bodies[2] = {events[i].body_a, events[i].body_b};
        for (uint32_t k = 0; k < 2 && events[i].kind == CAIRN_CONTACT_HIT; ++k) {
            if (breaks(world, bodies[k], events[i].impulse)) {
                break_body(world, state, bodies[k], events[i].point);
            }
        }
    }
}

extern const cairn_rules example_fracture;
const cairn_rules example_fracture = {
    .name = "fracture", .version = 1, .state_size = sizeof(rubble), .step = break_what_was_hit};
