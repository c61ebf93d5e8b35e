// SPDX-License-Identifier: MIT

// What a game is told of contacts, sensors and sleep, beside what mechanics says must have
// happened.

#include "tests/sim/world_kit.h"

#include <string.h>

// ---- helpers

static cairn_world *weightless(void) {
    cairn_world_def def = cairn_world_def_default();
    def.gravity = vec3_zero();
    return kit_world(&def);
}

static cairn_shape_def ball_shape(float radius, uint32_t flags) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_SPHERE;
    shape.radius = radius;
    shape.flags = flags;
    return shape;
}

static cairn_body_id throw_ball(
    cairn_world *world, cairn_vec3 from, cairn_vec3 velocity, const cairn_shape_def *shape) {
    cairn_body_def def = cairn_body_def_default();
    def.position = from;
    def.linear_velocity = velocity;
    return kit_body(world, &def, shape);
}

// A static box that only watches.
static cairn_body_id watch(cairn_world *world, cairn_vec3 at, cairn_vec3 half_extents) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    def.kind = CAIRN_BODY_STATIC;
    def.position = at;
    shape.half_extents = half_extents;
    shape.flags = CAIRN_SHAPE_SENSOR;
    return kit_body(world, &def, &shape);
}

static uint32_t contact_events(const cairn_world *world, uint32_t kind, cairn_contact_event *last) {
    uint32_t count = 0;
    uint32_t found = 0;
    const cairn_contact_event *events = cairn_world_contact_events(world, &count);
    for (uint32_t i = 0; i < count; ++i) {
        if (events[i].kind == kind) {
            *last = events[i];
            ++found;
        }
    }
    return found;
}

static uint32_t body_events(const cairn_world *world, uint32_t kind, cairn_body_id body) {
    uint32_t count = 0;
    uint32_t found = 0;
    const cairn_body_event *events = cairn_world_body_events(world, &count);
    for (uint32_t i = 0; i < count; ++i) {
        found += events[i].kind == kind && events[i].body == body ? 1u : 0u;
    }
    return found;
}

// Steps until an event of this kind; how many steps it took, 0 if there was none within `most`.
static uint32_t run_until(
    cairn_world *world, uint32_t kind, uint32_t most, cairn_contact_event *event) {
    for (uint32_t i = 1; i <= most; ++i) {
        kit_run(world, 1);
        if (contact_events(world, kind, event) > 0) {
            return i;
        }
    }
    return 0;
}

// Steps until the body sleeps.
static void run_to_sleep(cairn_world *world, cairn_body_id body) {
    for (uint32_t i = 0; i < 300 && kit_read(world, body).awake != 0; ++i) {
        kit_run(world, 1);
    }
    assert_int_equal(kit_read(world, body).awake, 0);
}

#define SPHERE_MASS(radius) (4.18879f * (radius) * (radius) * (radius)*1000.0f)

// ---- hits

// A ball of mass m that stops at a wall has given it m v.
TEST("a hit has the ball's momentum as impulse, and where and how fast it hit") {
    SCOPED(cairn_world) *world = weightless();
    const cairn_body_id ground = kit_ground(world);
    const cairn_shape_def shape = ball_shape(0.5f, CAIRN_SHAPE_HIT_EVENTS);
    const cairn_body_id ball =
        throw_ball(world, vec3(3.0f, 2.0f, -1.0f), vec3(0.0f, -6.0f, 0.0f), &shape);
    cairn_contact_event hit;
    // 1.5 m at 6 m/s are 15 steps.
    assert_in_range(run_until(world, CAIRN_CONTACT_HIT, 60, &hit), 15, 16);
    assert_int_equal(hit.body_a, ground);
    assert_int_equal(hit.body_b, ball);
    assert_float_equal(hit.normal.y, 1.0f, 1e-5f);
    assert_float_equal(hit.point.x, 3.0f, 1e-3f);
    assert_float_equal(hit.point.y, 0.0f, 1e-3f);
    assert_float_equal(hit.point.z, -1.0f, 1e-3f);
    assert_float_equal(hit.approach_speed, 6.0f, 1e-3f);
    const float momentum = 6.0f * cairn_body_mass(world, ball);
    assert_float_equal(cairn_body_mass(world, ball), SPHERE_MASS(0.5f), 1.0f);
    assert_float_equal(hit.impulse, momentum, 1e-2f * momentum);
    assert_int_equal(run_until(world, CAIRN_CONTACT_HIT, 60, &hit), 0);
}

// From (3, 2, -1) with the velocity (12, -6, 2) the ball comes down 1.5 m in 0.25 s.
TEST("a hit names the place where the shapes meet, not where the ball was") {
    SCOPED(cairn_world) *world = weightless();
    kit_ground(world);
    const cairn_shape_def shape = ball_shape(0.5f, CAIRN_SHAPE_HIT_EVENTS);
    throw_ball(world, vec3(3.0f, 2.0f, -1.0f), vec3(12.0f, -6.0f, 2.0f), &shape);
    cairn_contact_event hit;
    assert_in_range(run_until(world, CAIRN_CONTACT_HIT, 60, &hit), 15, 16);
    assert_float_equal(hit.point.x, 6.0f, 0.02f);
    assert_float_equal(hit.point.y, 0.0f, 0.01f);
    assert_float_equal(hit.point.z, -0.5f, 0.02f);
}

// A ball that bounces has turned its momentum round.
TEST("a ball that bounces gives m v (1 + e)") {
    for (uint32_t i = 0; i < 120; ++i) {
        const float restitution = i % 2 == 0 ? 1.0f : 0.5f;
        cairn_world_def def = cairn_world_def_default();
        def.gravity = vec3_zero();
        def.solver = i < 60 ? CAIRN_SOLVER_SOFT_STEP : CAIRN_SOLVER_PGS;
        SCOPED(cairn_world) *world = kit_world(&def);
        kit_ground(world);
        cairn_shape_def shape = ball_shape(0.5f, CAIRN_SHAPE_HIT_EVENTS);
        shape.restitution = restitution;
        const float height = 2.0f + 0.1f * (float)(i % 60) / 60.0f;
        const cairn_body_id ball =
            throw_ball(world, vec3(0.0f, height, 0.0f), vec3(0.0f, -6.0f, 0.0f), &shape);
        cairn_contact_event hit;
        assert_in_range(run_until(world, CAIRN_CONTACT_HIT, 60, &hit), 15, 17);
        const float momentum = 6.0f * (1.0f + restitution) * cairn_body_mass(world, ball);
        assert_float_equal(hit.approach_speed, 6.0f, 1e-3f);
        assert_float_equal(hit.impulse, momentum, 1e-2f * momentum);
        assert_int_equal(run_until(world, CAIRN_CONTACT_HIT, 60, &hit), 0);
    }
}

TEST("the PGS solver reports the same hit") {
    cairn_world_def def = cairn_world_def_default();
    def.gravity = vec3_zero();
    def.solver = CAIRN_SOLVER_PGS;
    SCOPED(cairn_world) *world = kit_world(&def);
    kit_ground(world);
    const cairn_shape_def shape = ball_shape(0.5f, CAIRN_SHAPE_HIT_EVENTS);
    const cairn_body_id ball =
        throw_ball(world, vec3(0.0f, 2.0f, 0.0f), vec3(0.0f, -6.0f, 0.0f), &shape);
    cairn_contact_event hit;
    assert_in_range(run_until(world, CAIRN_CONTACT_HIT, 60, &hit), 14, 16);
    const float momentum = 6.0f * cairn_body_mass(world, ball);
    assert_float_equal(hit.approach_speed, 6.0f, 1e-3f);
    assert_true(hit.impulse > 0.5f * momentum && hit.impulse < 1.05f * momentum);
}

// Only one of the two shapes must ask for hits, and only approaches along the normal count.
TEST("hits need a shape that asks for them and the threshold speed") {
    const struct {
        uint32_t flags;
        cairn_vec3 velocity;
        bool hits;
    } cases[] = {
        {CAIRN_SHAPE_HIT_EVENTS, {0.0f, -1.1f, 0.0f}, true},
        {CAIRN_SHAPE_HIT_EVENTS, {0.0f, -0.9f, 0.0f}, false},
        {CAIRN_SHAPE_HIT_EVENTS, {20.0f, -0.9f, 0.0f}, false},
        {0, {0.0f, -6.0f, 0.0f}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        SCOPED(cairn_world) *world = weightless();
        kit_ground(world);
        const cairn_shape_def shape = ball_shape(0.5f, cases[i].flags);
        throw_ball(world, vec3(0.0f, 0.6f, 0.0f), cases[i].velocity, &shape);
        cairn_contact_event hit;
        assert_int_equal(run_until(world, CAIRN_CONTACT_HIT, 60, &hit) != 0, cases[i].hits);
    }
}

// A board that stands on one edge and falls over has a contact all the time, and still hits.
TEST("a board that falls over hits with its far edge") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    cairn_shape_def shape = cairn_shape_def_default();
    shape.half_extents = vec3(1.0f, 0.05f, 0.5f);
    shape.friction = 1.0f;
    shape.flags = CAIRN_SHAPE_HIT_EVENTS;
    cairn_body_def def = cairn_body_def_default();
    // 60 degrees up about the edge at x = -1.
    def.rotation = (cairn_quat){.z = 0.5f, .w = 0.8660254f};
    def.position = vec3(-0.5f, 0.5f * 1.7320508f + 0.025f, 0.0f);
    kit_body(world, &def, &shape);
    cairn_contact_event hit = {.kind = 0};
    assert_in_range(run_until(world, CAIRN_CONTACT_HIT, 120, &hit), 20, 60);
    assert_true(hit.point.x > 0.7f);
    // A rod of length L = 2 that falls from 60 degrees: w^2 = 3 g sin(60) / L, v = w L. The event
    // has the speed at the start of the step, and the lower edge slips a little.
    assert_float_equal(hit.approach_speed, 7.14f, 0.7f);
}

TEST("a begin says where and how fast, and a body at rest makes no more events") {
    SCOPED(cairn_world) *world = weightless();
    kit_ground(world);
    const cairn_shape_def shape = ball_shape(0.25f, 0);
    throw_ball(world, vec3(1.0f, 0.28f, 2.0f), vec3(0.0f, -0.3f, 0.0f), &shape);
    cairn_contact_event begin;
    assert_in_range(run_until(world, CAIRN_CONTACT_BEGIN, 60, &begin), 1, 10);
    assert_float_equal(begin.point.x, 1.0f, 1e-4f);
    assert_float_equal(begin.point.y, 0.0f, 0.01f);
    assert_float_equal(begin.point.z, 2.0f, 1e-4f);
    assert_float_equal(begin.normal.y, 1.0f, 1e-5f);
    assert_float_equal(begin.approach_speed, 0.3f, 1e-4f);
    assert_true(begin.impulse == 0.0f);
    for (uint32_t i = 0; i < 60; ++i) {
        uint32_t count = 0;
        kit_run(world, 1);
        cairn_world_contact_events(world, &count);
        assert_int_equal(count, 0);
    }
}

// ---- contacts at any time

TEST("the contact points of a box at rest carry its weight at its corners") {
    for (uint32_t solver = CAIRN_SOLVER_SOFT_STEP; solver <= CAIRN_SOLVER_PGS; ++solver) {
        cairn_world_def def = cairn_world_def_default();
        def.solver = solver;
        SCOPED(cairn_world) *world = kit_world(&def);
        const cairn_body_id ground = kit_ground(world);
        const cairn_body_id box = kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
        cairn_contact_data contact;
        kit_run(world, 25);
        assert_int_equal(cairn_body_contacts(world, box, NULL, 0), 1);
        assert_int_equal(cairn_body_contacts(world, box, &contact, 1), 1);
        assert_int_equal(contact.body_a, ground);
        assert_int_equal(contact.body_b, box);
        assert_int_equal(contact.point_count, 4);
        float force = 0.0f;
        for (uint32_t i = 0; i < 4; ++i) {
            force += contact.points[i].normal_force;
            assert_float_equal(float_abs(contact.points[i].position.x), 0.5f, 1e-3f);
            assert_float_equal(float_abs(contact.points[i].position.z), 0.5f, 1e-3f);
            assert_float_equal(contact.points[i].separation, 0.0f, 0.01f);
        }
        assert_float_equal(force, 9810.0f, 100.0f);
        EXPECT_OK(cairn_body_destroy(world, ground));
        assert_int_equal(cairn_body_contacts(world, box, NULL, 0), 0);
    }
}

// ---- sensors

// A ball that falls through a sensor: y = h - g t^2 / 2, so it touches the upper face after
// sqrt(2 (h - top - r) / g), and leaves the lower one after sqrt(2 (h - bottom + r) / g).
TEST("a sensor sees a ball come and go, and does not touch it") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    SCOPED(cairn_world) *empty = kit_world(NULL);
    const cairn_body_id sensor = watch(world, vec3(0.0f, 5.0f, 0.0f), vec3(1.0f, 1.0f, 1.0f));
    const cairn_shape_def shape = ball_shape(0.25f, 0);
    const cairn_body_id ball = throw_ball(world, vec3(0.0f, 10.0f, 0.0f), vec3_zero(), &shape);
    const cairn_body_id free_ball = throw_ball(empty, vec3(0.0f, 10.0f, 0.0f), vec3_zero(), &shape);
    cairn_contact_event event;
    const uint32_t begin = run_until(world, CAIRN_SENSOR_BEGIN, 200, &event);
    assert_int_equal(event.body_a, sensor);
    assert_int_equal(event.body_b, ball);
    assert_in_range(begin, 52, 56); // 0.874 s
    cairn_shape_id inside = 0;
    assert_int_equal(cairn_sensor_overlaps(world, event.shape_a, &inside, 1), 1);
    assert_int_equal(inside, event.shape_b);
    assert_int_equal(cairn_sensor_overlaps(world, event.shape_b, &inside, 1), 0);
    const uint32_t end = run_until(world, CAIRN_SENSOR_END, 200, &event);
    assert_int_equal(event.body_a, sensor);
    assert_int_equal(event.body_b, ball);
    assert_in_range(begin + end, 69, 73); // 1.166 s
    assert_int_equal(cairn_sensor_overlaps(world, event.shape_a, &inside, 1), 0);
    kit_run(empty, begin + end);
    const cairn_body_state fell = kit_read(world, ball);
    const cairn_body_state expected = kit_read(empty, free_ball);
    assert_true(fell.position.y == expected.position.y);
    assert_true(fell.linear_velocity.y == expected.linear_velocity.y);
    assert_int_equal(cairn_world_counts_read(world).contacts, 0);
}

// Shapes are in contact up to a gap of a centimetre. A sensor is not in contact.
TEST("a sensor sees a ball that overlaps it and not one that passes by") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = weightless();
        watch(world, vec3_zero(), vec3(1.0f, 1.0f, 1.0f));
        const cairn_shape_def shape = ball_shape(0.25f, 0);
        const float gap = i == 0 ? 0.005f : -0.005f;
        throw_ball(world, vec3(-3.0f, 1.25f + gap, 0.0f), vec3(6.0f, 0.0f, 0.0f), &shape);
        cairn_contact_event event;
        assert_int_equal(run_until(world, CAIRN_SENSOR_BEGIN, 60, &event) != 0, gap < 0.0f);
    }
}

TEST("a new sensor sees sleeping and static bodies and wakes none") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_id ground = kit_ground(world);
    const cairn_body_id sleeper = kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
    run_to_sleep(world, sleeper);
    const cairn_body_id sensor = watch(world, vec3(0.0f, 1.0f, 0.0f), vec3(2.0f, 1.5f, 2.0f));
    const cairn_body_id blind = watch(world, vec3(0.0f, 1.0f, 0.0f), vec3(1.0f, 0.9f, 1.0f));
    kit_run(world, 1);
    uint32_t count = 0;
    const cairn_contact_event *events = cairn_world_contact_events(world, &count);
    assert_int_equal(count, 3);
    const cairn_body_id pairs[3][2] = {{sensor, ground}, {sensor, sleeper}, {blind, sleeper}};
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(events[i].kind, CAIRN_SENSOR_BEGIN);
        assert_int_equal(events[i].body_a, pairs[i][0]);
        assert_int_equal(events[i].body_b, pairs[i][1]);
    }
    assert_int_equal(kit_read(world, sleeper).awake, 0);
    kit_run(world, 60);
    assert_int_equal(kit_read(world, sleeper).awake, 0);
    // Its end wakes nobody either, and names the sensor first although it is gone.
    EXPECT_OK(cairn_body_destroy(world, sensor));
    kit_run(world, 1);
    events = cairn_world_contact_events(world, &count);
    assert_int_equal(count, 2);
    assert_int_equal(events[1].kind, CAIRN_SENSOR_END);
    assert_int_equal(events[1].body_a, sensor);
    assert_int_equal(events[1].body_b, sleeper);
    assert_int_equal(kit_read(world, sleeper).awake, 0);
}

// The pair of the sensor and the ball was in the pair cache.
TEST("two sensors do not see each other, not even if one has the slot of a ball that was seen") {
    SCOPED(cairn_world) *world = weightless();
    for (uint32_t i = 0; i < 8; ++i) {
        kit_cube(world, vec3(10.0f + 3.0f * (float)i, 0.0f, 0.0f));
    }
    watch(world, vec3_zero(), vec3(2.0f, 2.0f, 2.0f));
    const cairn_shape_def shape = ball_shape(0.5f, 0);
    const cairn_body_id ball = throw_ball(world, vec3_zero(), vec3_zero(), &shape);
    cairn_contact_event event;
    assert_int_equal(run_until(world, CAIRN_SENSOR_BEGIN, 2, &event), 1);
    EXPECT_OK(cairn_body_destroy(world, ball));
    assert_int_equal(run_until(world, CAIRN_SENSOR_END, 2, &event), 1);
    watch(world, vec3_zero(), vec3(1.0f, 1.0f, 1.0f));
    for (uint32_t i = 0; i < 3; ++i) {
        uint32_t count = 0;
        kit_run(world, 1);
        cairn_world_contact_events(world, &count);
        assert_int_equal(count, 0);
        EXPECT_OK(cairn_world_validate(world, NULL));
    }
}

TEST("a sensor that is carried over sleepers sees each and wakes none") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    cairn_body_id sleepers[3];
    for (uint32_t i = 0; i < 3; ++i) {
        sleepers[i] = kit_cube(world, vec3(3.0f * (float)i, 0.5f, 0.0f));
    }
    run_to_sleep(world, sleepers[2]);
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = ball_shape(0.5f, CAIRN_SHAPE_SENSOR);
    def.kind = CAIRN_BODY_KINEMATIC;
    def.position = vec3(-2.0f, 1.2f, 0.0f);
    def.linear_velocity = vec3(3.0f, 0.0f, 0.0f);
    kit_body(world, &def, &shape);
    uint32_t begins = 0;
    uint32_t ends = 0;
    for (uint32_t i = 0; i < 200; ++i) {
        cairn_contact_event event;
        kit_run(world, 1);
        begins += contact_events(world, CAIRN_SENSOR_BEGIN, &event);
        ends += contact_events(world, CAIRN_SENSOR_END, &event);
        for (uint32_t k = 0; k < 3; ++k) {
            assert_int_equal(kit_read(world, sleepers[k]).awake, 0);
        }
    }
    assert_int_equal(begins, 3);
    assert_int_equal(ends, 3);
}

TEST("a sensor adds no mass, and rays and overlap queries pass through it") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_id box = kit_cube(world, vec3_zero());
    cairn_shape_def shape = ball_shape(2.0f, CAIRN_SHAPE_SENSOR);
    cairn_shape_id sensor = 0;
    cairn_ray_hit hit;
    EXPECT_OK(cairn_shape_create(world, box, &shape, &sensor));
    assert_float_equal(cairn_body_mass(world, box), 1000.0f, 1e-3f);
    EXPECT_OK(cairn_world_ray_cast(
        world, vec3(0.0f, 5.0f, 0.0f), vec3(0.0f, -10.0f, 0.0f), UINT32_MAX, 0, &hit));
    assert_float_equal(hit.point.y, 0.5f, 1e-4f);
    const cairn_pose away = {.position = vec3(1.5f, 0.0f, 0.0f), .rotation = quat_identity()};
    const cairn_shape_def probe = ball_shape(0.25f, 0);
    assert_int_equal(cairn_world_overlap(world, &probe, away, UINT32_MAX, NULL, 0), 0);
}

TEST("a shape with unknown flags is refused") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_id box = kit_cube(world, vec3_zero());
    const cairn_shape_def shape = ball_shape(1.0f, CAIRN_SHAPE_FLAGS + 1);
    cairn_shape_id out = 0;
    assert_int_equal(cairn_shape_create(world, box, &shape, &out), CAIRN_INVALID_ARGUMENT);
}

// ---- sleep

TEST("a body tells once that it fell asleep and once that it woke") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    const cairn_body_id box = kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
    uint32_t slept = 0;
    uint32_t woke = 0;
    for (uint32_t i = 0; i < 200; ++i) {
        if (i == 100) {
            // Twice, by the host: still one event, at the next step.
            EXPECT_OK(cairn_body_apply_impulse_at_centre(world, box, vec3(0.0f, 2000.0f, 0.0f)));
            EXPECT_OK(cairn_body_set_velocity(world, box, vec3(0.0f, 2.0f, 0.0f), vec3_zero()));
        }
        kit_run(world, 1);
        slept += body_events(world, CAIRN_BODY_FELL_ASLEEP, box);
        woke += body_events(world, CAIRN_BODY_WOKE, box);
        assert_int_equal(woke, i < 100 ? 0 : 1);
    }
    assert_int_equal(slept, 2);
}

TEST("a hit wakes the whole island with one event for each body, in order") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    cairn_body_id tower[3];
    for (uint32_t i = 0; i < 3; ++i) {
        tower[i] = kit_cube(world, vec3(0.0f, 0.5f + (float)i, 0.0f));
    }
    run_to_sleep(world, tower[0]);
    const cairn_shape_def shape = ball_shape(0.25f, 0);
    throw_ball(world, vec3(-1.0f, 2.5f, 0.0f), vec3(5.0f, 0.0f, 0.0f), &shape);
    uint32_t count = 0;
    for (uint32_t i = 0; i < 60 && count == 0; ++i) {
        kit_run(world, 1);
        cairn_world_body_events(world, &count);
    }
    const cairn_body_event *events = cairn_world_body_events(world, &count);
    assert_int_equal(count, 3);
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(events[i].kind, CAIRN_BODY_WOKE);
        assert_int_equal(events[i].body, tower[i]);
    }
}

// ---- rules and limits

typedef struct observed {
    uint32_t tick;   // as the hook sees it
    uint32_t begins; // of the events that it sees
    float height;    // of body 2
} observed;

static void observe(const cairn_world *world, observed *out) {
    cairn_contact_event event;
    out->tick = (uint32_t)cairn_world_tick(world);
    out->begins += contact_events(world, CAIRN_CONTACT_BEGIN, &event);
    cairn_body_state state;
    out->height = cairn_body_read(world, 2, &state) == CAIRN_OK ? state.position.y : 0.0f;
}

static void observe_step(
    cairn_world *world, void *memory, const cairn_command *commands, uint32_t command_count) {
    (void)commands;
    (void)command_count;
    observe(world, (observed *)memory);
}

static void observe_after(cairn_world *world, void *memory) {
    observe(world, (observed *)memory + 1);
}

static observed seen[2];

static void copy_out(cairn_world *world, void *memory) {
    observe_after(world, memory);
    memcpy(seen, memory, sizeof seen);
}

TEST("after_step sees the poses and events of its step, step those of the last one") {
    const cairn_rules rules = {.name = "observing",
        .version = 1,
        .state_size = sizeof seen,
        .step = observe_step,
        .after_step = copy_out};
    cairn_world_def def = cairn_world_def_default();
    def.rules = &rules;
    SCOPED(cairn_world) *world = kit_world(&def);
    kit_ground(world);
    const cairn_body_id box = kit_cube(world, vec3(0.0f, 0.505f, 0.0f));
    const float before = kit_read(world, box).position.y;
    assert_int_equal(box, 2);
    kit_run(world, 1);
    assert_int_equal(seen[0].tick, 0);
    assert_int_equal(seen[1].tick, 0);
    assert_int_equal(seen[0].begins, 0);
    assert_int_equal(seen[1].begins, 1);
    assert_true(seen[0].height == before);
    assert_true(seen[1].height == kit_read(world, box).position.y);
    assert_true(seen[1].height != before);
    kit_run(world, 1);
    assert_int_equal(seen[0].begins, 1);
    assert_int_equal(seen[1].begins, 1);
}

TEST("of too many events the last are dropped and counted") {
    const uint32_t capacities[] = {0, 3, 5, 6};
    for (uint32_t i = 0; i < 4; ++i) {
        cairn_world_def def = cairn_world_def_default();
        def.event_capacity = capacities[i];
        SCOPED(cairn_world) *world = kit_world(&def);
        kit_ground(world);
        for (uint32_t k = 0; k < 5; ++k) {
            kit_cube(world, vec3(2.0f * (float)k, 0.5f, 0.0f));
        }
        uint32_t count = 0;
        kit_run(world, 1);
        const cairn_contact_event *events = cairn_world_contact_events(world, &count);
        const uint32_t held = capacities[i] < 5 ? capacities[i] : 5;
        assert_int_equal(count, held);
        for (uint32_t k = 0; k < held; ++k) {
            assert_int_equal(events[k].body_b, k + 2);
        }
        assert_int_equal(cairn_world_counters_read(world).events_dropped, 5 - held);
        kit_run(world, 1);
        cairn_world_contact_events(world, &count);
        assert_int_equal(count, 0);
    }
}
