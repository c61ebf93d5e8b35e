// SPDX-License-Identifier: MIT
// Fast bodies. A body that covers more than its own thickness in a tick (10 m/s are 17 cm) must not
// pass through what is in its way, must not sink into it, and must not be pushed aside by what it
// only passes.

#include "tests/sim/world_kit.h"

#include <math.h>

#include "base/random.h"

// A world of a few bodies; `gravity` along -y, m/s^2.
static cairn_world *small_world(float gravity, uint32_t bodies) {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = bodies;
    def.shape_capacity = bodies;
    def.joint_capacity = 0;
    def.hull_capacity = 2;
    def.contact_capacity = 16 * bodies;
    def.gravity = vec3(0.0f, 0.0f - gravity, 0.0f);
    return kit_world(&def);
}

static cairn_shape_def box_of(cairn_vec3 half_extents) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.half_extents = half_extents;
    return shape;
}

static cairn_body_id static_box(cairn_world *world, cairn_vec3 centre, cairn_vec3 half_extents) {
    cairn_body_def def = cairn_body_def_default();
    const cairn_shape_def shape = box_of(half_extents);
    def.kind = CAIRN_BODY_STATIC;
    def.position = centre;
    return kit_body(world, &def, &shape);
}

static cairn_body_id thrown(cairn_world *world, const cairn_shape_def *shape, cairn_vec3 position,
    cairn_vec3 velocity, cairn_vec3 angular_velocity) {
    cairn_body_def def = cairn_body_def_default();
    def.position = position;
    def.linear_velocity = velocity;
    def.angular_velocity = angular_velocity;
    return kit_body(world, &def, shape);
}

static float uniform(cairn_random *random, float lower, float upper) {
    return lower + (upper - lower) * cairn_random_unit(random);
}

// ---- 0 of 1000 pass

typedef struct throw {
    cairn_shape_def shape;
    float thickness; // of the wall, m
    float speed;     // m/s, across the wall
    float slide;     // m/s, along it
    float start;     // m before the wall
    cairn_vec3 spin; // rad/s
}
throw;

// How far the centre of the thrown body is beyond the middle of the wall after it had time to get
// there, m; the most over all ticks.
static float farthest_through_wall(const throw *t, bool half_space) {
    SCOPED(cairn_world) *world = small_world(0.0f, 4);
    const float half = 0.5f * t->thickness;
    if (half_space) {
        cairn_body_def def = cairn_body_def_default();
        cairn_shape_def plane = cairn_shape_def_default();
        def.kind = CAIRN_BODY_STATIC;
        def.position = vec3(0.0f - half, 0.0f, 0.0f);
        def.rotation = (cairn_quat){.z = 0.70710678f, .w = 0.70710678f}; // up is -x
        plane.kind = CAIRN_SHAPE_HALF_SPACE;
        (void)kit_body(world, &def, &plane);
    } else {
        (void)static_box(world, vec3_zero(), vec3(half, 1000.0f, 1000.0f));
    }
    const cairn_body_id body = thrown(world, &t->shape, vec3(0.0f - t->start, 0.0f, 0.0f),
        vec3(t->speed, t->slide, 0.0f), t->spin);
    float farthest = -1e9f;
    const uint32_t ticks = 12 + (uint32_t)(60.0f * t->start / t->speed);
    for (uint32_t i = 0; i < ticks; ++i) {
        kit_run(world, 1);
        farthest = fmaxf(farthest, kit_read(world, body).position.x);
    }
    return farthest;
}

static throw random_throw(cairn_random * random, const cairn_shape_def *shape, float thickness) {
    const float speed = uniform(random, 10.0f, 300.0f);
    const float steepness = uniform(random, -1.5f, 1.5f); // up to 56 degrees from the normal
    return (throw){.shape = *shape,
        .thickness = thickness,
        .speed = speed,
        .slide = speed * steepness,
        .start = 0.8f + uniform(random, 0.0f, speed / 60.0f)};
}

static cairn_shape_def ball_of(float radius) {
    cairn_shape_def ball = cairn_shape_def_default();
    ball.kind = CAIRN_SHAPE_SPHERE;
    ball.radius = radius;
    return ball;
}

static void expect_none_passes(const cairn_shape_def *shape, float thickness, float spin,
    bool half_space, uint32_t throws, uint64_t seed) {
    cairn_random random = cairn_random_of(seed);
    uint32_t passed = 0;
    for (uint32_t i = 0; i < throws; ++i) {
        throw t = random_throw(&random, shape, thickness);
        t.spin = vec3(uniform(&random, 0.0f - spin, spin), uniform(&random, 0.0f - spin, spin),
            uniform(&random, 0.0f - spin, spin));
        if (farthest_through_wall(&t, half_space) > 0.0f) {
            print_error("kind %u, throw %u: %g m/s across, %g m/s along\n", shape->kind, i,
                (double)t.speed, (double)t.slide);
            ++passed;
        }
    }
    assert_int_equal(passed, 0);
}

TEST("a ball of 5 cm does not pass a wall of 10 cm") {
    const cairn_shape_def ball = ball_of(0.05f);
    expect_none_passes(&ball, 0.1f, 0.0f, false, 1000, 1);
}

TEST("a ball of 5 cm does not pass a wall of 1 cm") {
    const cairn_shape_def ball = ball_of(0.05f);
    expect_none_passes(&ball, 0.01f, 0.0f, false, 1000, 2);
}

TEST("no spinning shape passes a wall or a plane") {
    cairn_shape_def capsule = cairn_shape_def_default();
    capsule.kind = CAIRN_SHAPE_CAPSULE;
    capsule.radius = 0.03f;
    capsule.half_height = 0.15f;
    const cairn_shape_def plank = box_of(vec3(0.3f, 0.02f, 0.05f));
    const cairn_shape_def cube = box_of(vec3(0.05f, 0.05f, 0.05f));
    cairn_shape_def cylinder = capsule;
    cylinder.kind = CAIRN_SHAPE_CYLINDER;
    cairn_shape_def cone = cylinder;
    cone.kind = CAIRN_SHAPE_CONE;
    for (uint32_t plane = 0; plane < 2; ++plane) {
        expect_none_passes(&cylinder, 0.02f, 30.0f, plane == 1, 150, 10);
        expect_none_passes(&cone, 0.02f, 30.0f, plane == 1, 150, 11);
        expect_none_passes(&capsule, 0.02f, 30.0f, plane == 1, 150, 3);
        expect_none_passes(&plank, 0.02f, 30.0f, plane == 1, 150, 4);
        expect_none_passes(&cube, 0.02f, 30.0f, plane == 1, 150, 5);
    }
}

// The wall goes on when it has stopped a shape, and takes it along.
TEST("no spinning shape passes a thin wall that comes towards it") {
    cairn_random random = cairn_random_of(12);
    for (uint32_t i = 0; i < 300; ++i) {
        SCOPED(cairn_world) *world = small_world(-9.81f, 4);
        cairn_shape_def shape = cairn_shape_def_default();
        shape.kind = i % 2 == 0 ? CAIRN_SHAPE_CAPSULE : CAIRN_SHAPE_CYLINDER;
        shape.radius = uniform(&random, 0.012f, 0.04f);
        shape.half_height = 1.5f * shape.radius;
        const cairn_shape_def plate = box_of(vec3(0.002f, 3.0f, 3.0f));
        cairn_body_def def = cairn_body_def_default();
        def.kind = CAIRN_BODY_KINEMATIC;
        def.linear_velocity.x = uniform(&random, -15.0f, 0.0f);
        const cairn_body_id wall = kit_body(world, &def, &plate);
        const cairn_body_id body =
            thrown(world, &shape, vec3(uniform(&random, -7.0f, -3.0f), 0.0f, 0.0f),
                vec3(uniform(&random, 12.0f, 270.0f), 0.0f, 0.0f),
                vec3(uniform(&random, -20.0f, 20.0f), uniform(&random, -20.0f, 20.0f),
                    uniform(&random, -20.0f, 20.0f)));
        for (uint32_t k = 0; k < 40; ++k) {
            kit_run(world, 1);
            const cairn_vec3 at = kit_read(world, body).position;
            const bool beside = float_max(float_abs(at.y), float_abs(at.z)) > 2.9f;
            assert_true(beside || at.x < kit_read(world, wall).position.x);
        }
    }
}

// An icosahedron-like hull of 10 cm.
TEST("no hull passes a wall") {
    cairn_random random = cairn_random_of(6);
    for (uint32_t i = 0; i < 200; ++i) {
        SCOPED(cairn_world) *world = small_world(0.0f, 4);
        cairn_vec3 points[16];
        for (uint32_t k = 0; k < 16; ++k) {
            const cairn_vec3 p = vec3(uniform(&random, -1.0f, 1.0f), uniform(&random, -1.0f, 1.0f),
                uniform(&random, -1.0f, 1.0f));
            points[k] = vec3_scale(vec3_normalize(p, vec3(1.0f, 0.0f, 0.0f)), 0.1f);
        }
        cairn_shape_def hull = cairn_shape_def_default();
        hull.kind = CAIRN_SHAPE_HULL;
        EXPECT_OK(cairn_hull_create(world, points, 16, &hull.hull));
        (void)static_box(world, vec3_zero(), vec3(0.01f, 1000.0f, 1000.0f));
        const float speed = uniform(&random, 10.0f, 300.0f);
        const cairn_body_id body =
            thrown(world, &hull, vec3(-0.8f - uniform(&random, 0.0f, speed / 60.0f), 0.0f, 0.0f),
                vec3(speed, speed * uniform(&random, -1.0f, 1.0f), 0.0f),
                vec3(uniform(&random, -30.0f, 30.0f), 0.0f, uniform(&random, -30.0f, 30.0f)));
        for (uint32_t k = 0; k < 20; ++k) {
            kit_run(world, 1);
            assert_true(kit_read(world, body).position.x < 0.0f);
        }
    }
}

// 200 cubes of 20 cm fall from 20 to 46 m onto a deck that is 10 cm thick, and onto each other.
TEST("no cube falls through a thin deck") {
    SCOPED(cairn_world) *world = small_world(9.81f, 204);
    cairn_body_id cubes[200];
    cairn_random random = cairn_random_of(7);
    (void)static_box(world, vec3_zero(), vec3(3.0f, 0.05f, 3.0f));
    for (uint32_t i = 0; i < 200; ++i) {
        const cairn_shape_def cube = box_of(vec3(0.1f, 0.1f, 0.1f));
        cubes[i] = kit_drop(world,
            vec3(uniform(&random, -0.6f, 0.6f), 20.0f + 0.13f * (float)i,
                uniform(&random, -0.6f, 0.6f)),
            &cube);
    }
    uint32_t fallen = 0;
    float lowest = 1e9f;
    for (uint32_t tick = 0; tick < 360; ++tick) {
        kit_run(world, 1);
        for (uint32_t i = 0; i < 200; ++i) {
            const cairn_vec3 at = kit_read(world, cubes[i]).position;
            const bool over = fabsf(at.x) < 2.9f && fabsf(at.z) < 2.9f;
            lowest = over ? fminf(lowest, at.y) : lowest;
        }
    }
    for (uint32_t i = 0; i < 200; ++i) {
        const cairn_vec3 at = kit_read(world, cubes[i]).position;
        fallen += fabsf(at.x) < 2.9f && fabsf(at.z) < 2.9f && at.y < 0.0f ? 1 : 0;
    }
    print_message("lowest centre %g\n", (double)lowest);
    assert_int_equal(fallen, 0);
    assert_true(lowest > 0.05f);
}

// The lowest corner of a cube of 40 cm that falls on a plane, over all ticks and start phases.
static float deepest_corner(float speed, cairn_vec3 tilt, bool box_floor) {
    float deepest = 1e9f;
    for (uint32_t phase = 0; phase < 20; ++phase) {
        SCOPED(cairn_world) *world = small_world(9.81f, 4);
        if (box_floor) {
            (void)static_box(world, vec3(0.0f, -0.5f, 0.0f), vec3(10.0f, 0.5f, 10.0f));
        } else {
            (void)kit_ground(world);
        }
        const cairn_shape_def cube = box_of(vec3(0.2f, 0.2f, 0.2f));
        cairn_body_def def = cairn_body_def_default();
        def.position = vec3(0.0f, 0.6f + speed / 60.0f * (float)phase / 20.0f, 0.0f);
        def.rotation = quat_of_small_angle(tilt);
        def.linear_velocity = vec3(0.0f, 0.0f - speed, 0.0f);
        const cairn_body_id body = kit_body(world, &def, &cube);
        for (uint32_t tick = 0; tick < 30; ++tick) {
            kit_run(world, 1);
            const cairn_body_state now = kit_read(world, body);
            for (uint32_t corner = 0; corner < 8; ++corner) {
                const cairn_vec3 arm = vec3((corner & 1u) != 0 ? 0.2f : -0.2f,
                    (corner & 2u) != 0 ? 0.2f : -0.2f, (corner & 4u) != 0 ? 0.2f : -0.2f);
                const float height = now.position.y + quat_rotate(now.rotation, arm).y;
                deepest = fminf(deepest, height);
            }
        }
    }
    return deepest;
}

TEST("a cube of 40 cm at 40 m per s sinks less than 3 cm") {
    const float speeds[] = {2.0f, 5.0f, 10.0f, 20.0f, 40.0f};
    const cairn_vec3 tilts[] = {
        {0.0f, 0.0f, 0.0f}, {0.05f, 0.0f, 0.0f}, {0.2f, 0.0f, 0.3f}, {0.8f, 0.0f, 0.0f}};
    for (uint32_t i = 0; i < 5; ++i) {
        for (uint32_t k = 0; k < 4; ++k) {
            for (uint32_t floor = 0; floor < 2; ++floor) {
                const float deepest = deepest_corner(speeds[i], tilts[k], floor == 1);
                print_message("%g m/s tilt %u floor %u: %.1f mm\n", (double)speeds[i], k, floor,
                    (double)(-1000.0f * deepest));
                assert_true(deepest > -0.03f);
            }
        }
    }
}

// ---- Nothing is deflected by what it passes

// A ball without gravity flies along the top of a box with a gap of 1 mm, past both of its edges.
TEST("a ball that passes an edge is not deflected") {
    const float speeds[] = {0.5f, 2.0f, 5.0f, 20.0f, 100.0f};
    for (uint32_t i = 0; i < 5; ++i) {
        for (uint32_t phase = 0; phase < 20; ++phase) {
            SCOPED(cairn_world) *world = small_world(0.0f, 4);
            (void)static_box(world, vec3(0.0f, -0.5f, 0.0f), vec3(0.5f, 0.5f, 0.5f));
            const cairn_shape_def ball = ball_of(0.05f);
            const float step = speeds[i] / 60.0f;
            const cairn_body_id body =
                thrown(world, &ball, vec3(-0.7f - step * (float)phase / 20.0f, 0.051f, 0.0f),
                    vec3(speeds[i], 0.0f, 0.0f), vec3_zero());
            kit_run(world, 2 + (uint32_t)(1.6f / step));
            const cairn_vec3 velocity = kit_read(world, body).linear_velocity;
            assert_true(fabsf(velocity.y) < 0.01f * speeds[i]);
            assert_true(fabsf(velocity.x - speeds[i]) < 0.01f * speeds[i]);
        }
    }
}

// A ball rolls, and a box without friction slides, over a floor made of boxes of 1 m.
TEST("a flat seam is not felt") {
    const float speeds[] = {0.5f, 1.0f, 2.0f, 5.0f, 10.0f};
    for (uint32_t slides = 0; slides < 2; ++slides) {
        for (uint32_t i = 0; i < 5; ++i) {
            SCOPED(cairn_world) *world = small_world(9.81f, 16);
            for (uint32_t k = 0; k < 12; ++k) {
                (void)static_box(world, vec3((float)k, -0.5f, 0.0f), vec3(0.5f, 0.5f, 0.5f));
            }
            cairn_shape_def shape = slides == 1 ? box_of(vec3(0.2f, 0.1f, 0.2f)) : ball_of(0.05f);
            shape.friction = slides == 1 ? 0.0f : 0.5f;
            const float height = slides == 1 ? 0.1f : 0.05f;
            const float spin = slides == 1 ? 0.0f : 0.0f - speeds[i] / 0.05f;
            const cairn_body_id body = thrown(world, &shape, vec3(0.0f, height, 0.0f),
                vec3(speeds[i], 0.0f, 0.0f), vec3(0.0f, 0.0f, spin));
            float highest = 0.0f;
            const uint32_t ticks = (uint32_t)(600.0f / speeds[i]);
            for (uint32_t tick = 0; tick < ticks; ++tick) {
                kit_run(world, 1);
                highest = fmaxf(highest, kit_read(world, body).position.y - height);
            }
            const cairn_body_state now = kit_read(world, body);
            print_message("%s %g m/s: rises %.3f mm, ends with %.4f m/s\n",
                slides == 1 ? "box" : "ball", (double)speeds[i], 1e3 * (double)highest,
                (double)now.linear_velocity.x);
            assert_true(highest < 0.001f);
            assert_true(fabsf(now.linear_velocity.x - speeds[i]) < 0.02f * speeds[i]);
        }
    }
}

// ---- What is stopped bounces

// A ball with restitution e that meets a thin wall at right angles leaves it with e times its
// speed.
TEST("a fast ball bounces off a thin wall with its restitution") {
    cairn_random random = cairn_random_of(9);
    float worst = 0.0f;
    for (uint32_t i = 0; i < 200; ++i) {
        SCOPED(cairn_world) *world = small_world(0.0f, 4);
        const float e = uniform(&random, 0.3f, 1.0f);
        const float speed = uniform(&random, 10.0f, 300.0f);
        cairn_shape_def ball = ball_of(0.05f);
        ball.restitution = e;
        (void)static_box(world, vec3_zero(), vec3(0.005f, 10.0f, 10.0f));
        const cairn_body_id body =
            thrown(world, &ball, vec3(-0.5f - uniform(&random, 0.0f, speed / 60.0f), 0.0f, 0.0f),
                vec3(speed, 0.0f, 0.0f), vec3_zero());
        kit_run(world, 10);
        const float away = 0.0f - kit_read(world, body).linear_velocity.x;
        worst = fmaxf(worst, fabsf(away - e * speed) / (e * speed));
    }
    print_message("off by %.3f %% at most\n", 100.0 * (double)worst);
    assert_true(worst < 0.01f);
}

// ---- Bullets

// A plate of 800 m turns about its middle, so that its rim moves at up to 200 m/s: towards the
// small body or away from it, which flies at the plate at 10 to 300 m/s. Nothing of the plate but
// the part beside the body can meet it, so its size must not make the sweep coarse.
TEST("no small body passes a plate of 800 m that turns") {
    static const uint32_t kinds[] = {CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_CAPSULE, CAIRN_SHAPE_BOX,
        CAIRN_SHAPE_CYLINDER, CAIRN_SHAPE_CONE};
    const float half = 400.0f;
    cairn_random random = cairn_random_of(77);
    uint32_t passed = 0;
    for (uint32_t i = 0; i < 1000; ++i) {
        SCOPED(cairn_world) *world = small_world(0.0f, 4);
        const cairn_shape_def plate = box_of(vec3(0.005f, half, half));
        cairn_shape_def shape = box_of(vec3(0.05f, 0.05f, 0.05f));
        shape.kind = kinds[i % 5];
        shape.radius = 0.05f;
        shape.half_height = 0.05f;
        const float rate = uniform(&random, -0.5f, 0.5f);
        const float arm = uniform(&random, -0.9f, 0.9f) * half;
        const float approach = uniform(&random, 10.0f, 300.0f);
        cairn_body_def def = cairn_body_def_default();
        def.kind = CAIRN_BODY_KINEMATIC;
        def.angular_velocity = vec3(0.0f, rate, 0.0f);
        const cairn_body_id turning = kit_body(world, &def, &plate);
        const float start = 0.3f + uniform(&random, 0.0f, approach / 60.0f);
        const cairn_vec3 velocity = vec3(fmaxf(approach, rate * arm + 10.0f),
            uniform(&random, -50.0f, 50.0f), uniform(&random, -50.0f, 50.0f));
        const cairn_vec3 spin = vec3(uniform(&random, -20.0f, 20.0f),
            uniform(&random, -20.0f, 20.0f), uniform(&random, -20.0f, 20.0f));
        const cairn_body_id body =
            thrown(world, &shape, vec3(0.0f - start, 0.0f, arm), velocity, spin);
        bool through = false;
        for (uint32_t tick = 0; tick < 12 && !through; ++tick) {
            kit_run(world, 1);
            const cairn_vec3 at = quat_rotate_inverse(
                kit_read(world, turning).rotation, kit_read(world, body).position);
            through = at.x > 0.0f && fabsf(at.y) < half && fabsf(at.z) < half;
        }
        passed += through ? 1 : 0;
    }
    assert_int_equal(passed, 0);
}

// A ball at rest is hit by a fast heavy one and thrown, in the same tick, towards a thin plate that
// impulses move: nothing predicted that. A bullet is stopped by the plate all the same.
static float distance_behind_plate(uint32_t bullet, uint32_t phase) {
    SCOPED(cairn_world) *world = small_world(0.0f, 4);
    const cairn_shape_def ball = ball_of(0.05f);
    cairn_shape_def heavy = ball_of(0.1f);
    cairn_shape_def plate = box_of(vec3(0.005f, 1.0f, 1.0f));
    heavy.density = 2500.0f;
    heavy.mask = 1;
    plate.density = 1e4f;
    plate.category = 2;
    cairn_body_def def = cairn_body_def_default();
    def.bullet = bullet;
    const cairn_body_id light = kit_body(world, &def, &ball);
    (void)thrown(world, &heavy, vec3(-0.2f - (float)phase * 0.1f, 0.0f, 0.0f),
        vec3(120.0f, 0.0f, 0.0f), vec3_zero());
    const cairn_body_id target = kit_drop(world, vec3(0.4f, 0.0f, 0.0f), &plate);
    kit_run(world, 2);
    return kit_read(world, light).position.x - kit_read(world, target).position.x;
}

TEST("a bullet does not pass a plate that moves even when nothing predicted it") {
    uint32_t passed = 0;
    for (uint32_t phase = 0; phase < 20; ++phase) {
        passed += distance_behind_plate(0, phase) > 0.0f ? 1 : 0;
        assert_true(distance_behind_plate(1, phase) < 0.0f);
    }
    print_message("without the flag %u of 20 pass\n", passed);
}

// A bullet at 10 to 300 m/s, with up to 30 rad/s, flies at a plate of 1 cm that floats, moves and
// turns. It must stay on its side of the plate.
TEST("no bullet passes a plate that impulses move") {
    cairn_random random = cairn_random_of(12);
    for (uint32_t i = 0; i < 400; ++i) {
        static const uint32_t kinds[] = {
            CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_CAPSULE, CAIRN_SHAPE_BOX, CAIRN_SHAPE_CYLINDER};
        SCOPED(cairn_world) *world = small_world(0.0f, 4);
        cairn_shape_def shape = ball_of(0.05f);
        cairn_shape_def plate = box_of(vec3(0.005f, 2.0f, 2.0f));
        cairn_body_def def = cairn_body_def_default();
        const float speed = uniform(&random, 10.0f, 300.0f);
        shape.kind = kinds[i % 4];
        shape.half_height = 0.05f;
        shape.half_extents = vec3(0.05f, 0.05f, 0.05f);
        plate.density = 1e4f;
        def.bullet = 1;
        def.position = vec3(-0.5f - uniform(&random, 0.0f, speed / 60.0f),
            uniform(&random, -0.3f, 0.3f), uniform(&random, -0.3f, 0.3f));
        def.linear_velocity = vec3(speed, speed * uniform(&random, -0.2f, 0.2f), 0.0f);
        def.angular_velocity = vec3(uniform(&random, -30.0f, 30.0f),
            uniform(&random, -30.0f, 30.0f), uniform(&random, -30.0f, 30.0f));
        const cairn_body_id bullet = kit_body(world, &def, &shape);
        const cairn_body_id target =
            thrown(world, &plate, vec3_zero(), vec3(uniform(&random, -20.0f, 5.0f), 0.0f, 0.0f),
                vec3(0.0f, uniform(&random, -2.0f, 2.0f), uniform(&random, -2.0f, 2.0f)));
        for (uint32_t tick = 0; tick < 12; ++tick) {
            kit_run(world, 1);
            const cairn_body_state wall = kit_read(world, target);
            const cairn_vec3 apart = vec3_sub(kit_read(world, bullet).position, wall.position);
            const cairn_vec3 at = quat_rotate_inverse(wall.rotation, apart);
            if (fabsf(at.y) < 1.9f && fabsf(at.z) < 1.9f && at.x > 0.0f) {
                fail_msg("throw %u at %g m/s passes in tick %u", i, (double)speed, tick);
            }
        }
    }
}

// Balls of 5 cm, one of them a bullet, fly at each other with the same speed, and without
// restitution; they stop, whatever the speed.
TEST("a bullet and a ball that meet head on stop each other") {
    for (uint32_t i = 0; i < 100; ++i) {
        SCOPED(cairn_world) *world = small_world(0.0f, 4);
        const cairn_shape_def ball = ball_of(0.05f);
        const float speed = 5.0f + 1.5f * (float)i;
        cairn_body_def def = cairn_body_def_default();
        def.bullet = 1;
        def.position = vec3(-1.0f - 0.0007f * (float)i * speed, 0.0f, 0.0f);
        def.linear_velocity = vec3(speed, 0.0f, 0.0f);
        const cairn_body_id left = kit_body(world, &def, &ball);
        const cairn_body_id right = thrown(
            world, &ball, vec3(1.0f, 0.0f, 0.0f), vec3(0.0f - speed, 0.0f, 0.0f), vec3_zero());
        kit_run(world, 3 + (uint32_t)(120.0f / speed));
        const cairn_body_state a = kit_read(world, left);
        const cairn_body_state b = kit_read(world, right);
        assert_true(b.position.x - a.position.x > 0.09f);
        assert_true(fabsf(a.linear_velocity.x) < 0.01f * speed);
        assert_true(fabsf(b.linear_velocity.x) < 0.01f * speed);
    }
}

// Whether one body is behind the other after they should have met: at `speed`, m/s, towards one
// that rests or comes as fast. Neither is a bullet.
static bool pass_each_other(const cairn_shape_def *shape, float speed, bool both, uint32_t phase) {
    SCOPED(cairn_world) *world = small_world(0.0f, 4);
    const float start = 2.0f + speed / 60.0f * (float)phase / 30.0f;
    const cairn_body_id left =
        thrown(world, shape, vec3(0.0f - start, 0.0f, 0.0f), vec3(speed, 0.0f, 0.0f), vec3_zero());
    const cairn_body_id right = thrown(world, shape, vec3(2.0f, 0.0f, 0.0f),
        vec3(both ? 0.0f - speed : 0.0f, 0.0f, 0.0f), vec3_zero());
    kit_run(world, (uint32_t)(600.0f / speed) + 5);
    return kit_read(world, left).position.x > kit_read(world, right).position.x;
}

TEST("two bodies of 10 cm do not pass through each other at any speed") {
    const cairn_shape_def shapes[] = {ball_of(0.05f), box_of(vec3(0.05f, 0.05f, 0.05f))};
    const float speeds[] = {2.0f, 5.0f, 10.0f, 20.0f, 50.0f, 100.0f, 300.0f};
    uint32_t passed = 0;
    for (uint32_t i = 0; i < 2 * 7 * 2 * 60; ++i) {
        const uint32_t phase = i / 28;
        passed +=
            pass_each_other(&shapes[i % 2], speeds[i / 2 % 7], i / 14 % 2 == 1, phase) ? 1u : 0u;
    }
    assert_int_equal(passed, 0);
}

// ---- Determinism

// A world that is forked before each step, and so builds its caches, stays equal, and one that
// follows it with the caches that it has, also while contacts begin before shapes touch and bodies
// are stopped on their way.
TEST("fast bodies are the same after each restore and at every width") {
    SCOPED(cairn_world) *world = small_world(9.81f, 64);
    SCOPED(cairn_world) *twin = small_world(9.81f, 64);
    SCOPED(cairn_world) *narrow = small_world(9.81f, 64);
    EXPECT_OK(cairn_world_set_lanes(narrow, 1));
    cairn_random random = cairn_random_of(8);
    (void)static_box(world, vec3_zero(), vec3(3.0f, 0.05f, 3.0f));
    for (uint32_t i = 0; i < 40; ++i) {
        const cairn_shape_def shape =
            i % 2 == 0 ? ball_of(0.05f) : box_of(vec3(0.2f, 0.02f, 0.05f));
        (void)thrown(world, &shape,
            vec3(uniform(&random, -1.0f, 1.0f), uniform(&random, 0.5f, 6.0f),
                uniform(&random, -1.0f, 1.0f)),
            vec3(uniform(&random, -20.0f, 20.0f), uniform(&random, -100.0f, 0.0f), 0.0f),
            vec3(uniform(&random, -30.0f, 30.0f), uniform(&random, -30.0f, 30.0f), 0.0f));
    }
    EXPECT_OK(cairn_world_copy(narrow, world));
    for (uint32_t tick = 0; tick < 120; ++tick) {
        SCOPED(cairn_world) *fresh = NULL;
        EXPECT_OK(cairn_world_fork(world, &fresh));
        EXPECT_OK(cairn_world_copy(twin, world));
        kit_run(fresh, 1);
        kit_run(twin, 1);
        kit_run(world, 1);
        kit_run(narrow, 1);
        const cairn_hash128 hash = kit_hash(world);
        const cairn_hash128 built = kit_hash(fresh);
        const cairn_hash128 restored = kit_hash(twin);
        const cairn_hash128 other = kit_hash(narrow);
        assert_memory_equal(&hash, &built, sizeof hash);
        assert_memory_equal(&hash, &restored, sizeof hash);
        assert_memory_equal(&hash, &other, sizeof hash);
    }
}
