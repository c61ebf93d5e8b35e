// SPDX-License-Identifier: MIT
// The energy of impacts with restitution e and friction mu. Newton's law u'n = -e un with Coulomb's
// friction can give energy to a body whose sliding turns back while it bounces (Kane, "A dynamics
// puzzle", 1983; Stronge, "Rigid body collisions with friction", 1990). Nature does not, and here
// no impact does. In a plane all of it is a closed form: with the inverse mass K that the struck
// point has along t and n,
//
//     u' = u + K p        u'n = -e un        |pt| <= mu pn, and pt = -+ mu pn where it slides
//
// and if p . (u + u') > 0, p is mixed with (1 + e) q, where q is the p of e = 0, until that is 0.

#include "sim/math/rotation.h"
#include "tests/physics/energy_kit.h"
#include "tests/physics/random_kit.h"

enum { FIGURES = 5 };

// One after the other: in which order a compiler computes arguments is its own affair.
static cairn_vec3 any_vec3(cairn_random *random, float size) {
    const float x = between(random, 0.0f - size, size);
    const float y = between(random, 0.0f - size, size);
    const float z = between(random, 0.0f - size, size);
    return vec3(x, y, z);
}

// Long bodies: a third of a metre to one and a half.
static cairn_shape_def any_shape(cairn_random *random, uint32_t figure) {
    static const uint32_t kinds[FIGURES] = {CAIRN_SHAPE_BOX, CAIRN_SHAPE_CAPSULE,
        CAIRN_SHAPE_CYLINDER, CAIRN_SHAPE_CONE, CAIRN_SHAPE_SPHERE};
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = kinds[figure];
    shape.radius = 0.4f;
    shape.half_height = 0.4f * between(random, 0.4f, 3.0f);
    shape.half_extents.x = 0.4f;
    shape.half_extents.y = 0.4f * between(random, 1.0f, 3.0f);
    shape.half_extents.z = 0.4f * between(random, 1.0f, 3.0f);
    return shape;
}

typedef enum target { FLOOR, BODY, TILES, TARGETS } target;

typedef struct impact {
    uint32_t solver;
    float restitution, friction, speed; // speed in m/s
    target target;
} impact;

static cairn_body_id throw_body(cairn_world *world, cairn_random *random, const impact *s,
    uint32_t figure, cairn_vec3 position, float speed) {
    cairn_shape_def shape = any_shape(random, figure);
    shape.restitution = s->restitution;
    shape.friction = s->friction;
    cairn_body_def def = cairn_body_def_default();
    def.position = position;
    def.rotation = quat_of_vector(any_vec3(random, PI));
    def.linear_velocity = any_vec3(random, 0.3f * speed);
    def.linear_velocity.y = 0.0f - speed;
    def.angular_velocity = any_vec3(random, 2.0f);
    def.gyroscopic = 1;
    return kit_body(world, &def, &shape);
}

static void add_floor(cairn_world *world, const impact *s) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    shape.restitution = s->restitution;
    shape.friction = s->friction;
    cairn_body_def def = cairn_body_def_default();
    def.kind = CAIRN_BODY_STATIC;
    kit_body(world, &def, &shape);
}

// Half a metre wide: a body meets several at once.
static void add_tiles(cairn_world *world, const impact *s) {
    cairn_shape_def tile = box(0.25f, 0.5f, 0.25f);
    tile.restitution = s->restitution;
    tile.friction = s->friction;
    cairn_body_def def = cairn_body_def_default();
    def.kind = CAIRN_BODY_STATIC;
    for (uint32_t i = 0; i < 100; ++i) {
        def.position = vec3(0.5f * (float)(i % 10) - 2.25f, -0.5f, 0.5f * (float)(i / 10) - 2.25f);
        kit_body(world, &def, &tile);
    }
}

// The energy after all impacts, as a part of that before.
static double part_left(const impact *s, uint32_t figure, uint64_t seed) {
    cairn_random random = cairn_random_of(seed);
    cairn_world_def def = cairn_world_def_default();
    def.solver = s->solver;
    def.gravity = vec3_zero();
    def.sleep = 0;
    def.restitution_threshold = 0.0f; // so that also the second corner bounces, however slowly
    def.body_capacity = def.shape_capacity = def.contact_capacity = 128;
    SCOPED(cairn_world) *world = kit_world(&def);
    const float ahead = s->speed / TICKS_PER_SECOND * cairn_random_unit(&random);
    throw_body(world, &random, s, figure, vec3(0.0f, 2.5f + ahead, 0.0f), s->speed);
    if (s->target == FLOOR) {
        add_floor(world, s);
    } else if (s->target == TILES) {
        add_tiles(world, s);
    } else {
        const uint32_t other = (figure + (uint32_t)(seed % FIGURES)) % FIGURES;
        throw_body(world, &random, s, other, vec3_zero(), 0.0f);
    }
    const double before = kinetic_energy(world);
    kit_run(world, 30 + (uint32_t)(300.0f / s->speed));
    return kinetic_energy(world) / before;
}

// PGS limits only what meets one body at once.
TEST("no impact wins energy, and without friction and loss none loses any") {
    static const float speeds[] = {2.0f, 10.0f, 40.0f};
    static const float pairs[][2] = {{1.0f, 0.0f}, {1.0f, 0.5f}, {1.0f, 1.0f}, {0.7f, 0.5f}};
    double most = 0.0, least = 1.0, least_of_fast = 1.0;
    FOR_BOTH_SOLVERS(solver) {
        const uint64_t targets = solver == CAIRN_SOLVER_PGS ? TILES : TARGETS;
        for (uint64_t seed = 0; seed < 4 * 3 * 40 * targets; ++seed) {
            const impact s = {.solver = solver,
                .restitution = pairs[seed % 4][0],
                .friction = pairs[seed % 4][1],
                .speed = speeds[seed / 4 % 3],
                .target = (target)(seed / 12 % targets)};
            const double part = part_left(&s, (uint32_t)(seed / (12 * targets) % FIGURES), seed);
            most = part > most ? part : most;
            double *lowest = s.speed > 10.0f ? &least_of_fast : &least;
            if (s.target != TILES && s.friction <= 0.0f) { // on tiles a corner can get caught
                *lowest = part < *lowest ? part : *lowest;
            }
        }
    }
    measured(most, 1.0, 0.01);
    measured(least, 1.0, 0.01);
    measured(least_of_fast, 1.0, 0.1); // a second corner meets the floor in the same tick
    assert_true(most < 1.01);
    assert_true(least > 0.99);
    assert_true(least_of_fast > 0.9);
}

// Rises and falls without end: half a minute, some thirty bounces. The scheme's steps have an error
// of g v h / 2 (solver_step) in the energy between two bounces.
TEST("what bounces without friction for half a minute keeps its energy") {
    FOR_BOTH_SOLVERS(solver) {
        const double bound = solver == CAIRN_SOLVER_PGS ? 0.08 : 0.03;
        double most = 0.0, least = 2.0;
        for (uint64_t seed = 0; seed < 20; ++seed) {
            const impact s = {.solver = solver, .restitution = 1.0f};
            cairn_random random = cairn_random_of(seed);
            cairn_world_def def = cairn_world_def_default();
            def.solver = solver;
            def.gravity = vec3(0.0f, -GRAVITY, 0.0f);
            def.sleep = 0;
            def.restitution_threshold = 0.0f;
            SCOPED(cairn_world) *world = kit_world(&def);
            add_floor(world, &s);
            throw_body(world, &random, &s, (uint32_t)(seed % FIGURES),
                vec3(0.0f, between(&random, 3.0f, 5.0f), 0.0f), 0.0f);
            const double before = energy(world);
            kit_run(world, 30 * TICKS_PER_SECOND);
            const double part = energy(world) / before;
            most = part > most ? part : most;
            least = part < least ? part : least;
        }
        measured(most, 1.0, bound);
        measured(least, 1.0, bound);
        assert_true(most < 1.0 + bound && least > 1.0 - bound);
    }
}

// ---- on joints: what one body passes on by a joint is no reason for a bounce of another

// Some boxes in a row that fall together. Returns the greatest energy they had, as a part of that
// at the start.
static double most_of_row(uint32_t solver, uint32_t kind, uint64_t seed) {
    cairn_random random = cairn_random_of(seed);
    const impact s = {.solver = solver,
        .restitution = seed % 3 == 0 ? 1.0f : between(&random, 0.2f, 1.0f),
        .friction = seed % 2 == 0 ? 0.0f : 0.5f};
    SCOPED(cairn_world) *world = world_on_earth(solver);
    add_floor(world, &s);
    const cairn_quat rotation = quat_of_vector(any_vec3(&random, PI));
    cairn_vec3 velocity = any_vec3(&random, 2.0f);
    velocity.y = 0.0f - between(&random, 0.0f, 20.0f);
    cairn_body_id last = 0;
    for (uint32_t i = 0; i < 2 + seed / 2 % 3; ++i) {
        cairn_shape_def shape = box(0.2f, 0.5f, i % 2 == 0 ? 0.1f : 0.3f);
        shape.restitution = s.restitution;
        shape.friction = s.friction;
        cairn_body_def def = cairn_body_def_default();
        def.rotation = rotation;
        def.position = vec3_add(
            vec3(0.0f, 6.0f, 0.0f), quat_rotate(rotation, vec3(0.0f, 1.1f * (float)i, 0.0f)));
        def.linear_velocity = velocity;
        const cairn_body_id body = kit_body(world, &def, &shape);
        cairn_joint_def joint = cairn_joint_def_default();
        cairn_joint_id id;
        joint.kind = kind;
        joint.body_a = last;
        joint.body_b = body;
        joint.anchor_a.y = kind == CAIRN_JOINT_DISTANCE ? 0.0f : 0.55f;
        joint.anchor_b.y = 0.0f - joint.anchor_a.y;
        joint.length = 1.1f;
        if (i > 0) {
            EXPECT_OK(cairn_joint_create(world, &joint, &id));
        }
        last = body;
    }
    const double before = energy(world);
    double most = 1.0;
    for (uint32_t tick = 0; tick < 3 * TICKS_PER_SECOND; ++tick) {
        kit_run(world, 1);
        const double part = energy(world) / before;
        most = part > most ? part : most;
    }
    return most;
}

TEST("bodies on joints win no energy when they bounce") {
    static const uint32_t kinds[] = {
        CAIRN_JOINT_BALL, CAIRN_JOINT_HINGE, CAIRN_JOINT_WELD, CAIRN_JOINT_DISTANCE};
    FOR_BOTH_SOLVERS(solver) {
        double most = 1.0;
        for (uint64_t seed = 0; seed < 200; ++seed) {
            const double part = most_of_row(solver, kinds[seed % 4], seed / 4);
            most = part > most ? part : most;
        }
        measured(most, 1.0, 0.02);
        assert_true(most < 1.02);
    }
}

// ---- in a plane

typedef struct plane2 {
    double t, n;
} plane2;

typedef struct struck_point {
    double tt, tn, nn; // K
    plane2 u;          // m/s, before
    double friction;
} struck_point;

static plane2 change(const struck_point *s, plane2 p) {
    return (plane2){s->tt * p.t + s->tn * p.n, s->tn * p.t + s->nn * p.n};
}

// With that restitution: it sticks, or slides one way or the other.
static plane2 newton_impulse(const struck_point *s, double restitution) {
    const plane2 wanted = {0.0 - s->u.t, 0.0 - (1.0 + restitution) * s->u.n};
    const double determinant = s->tt * s->nn - s->tn * s->tn;
    const plane2 sticks = {(s->nn * wanted.t - s->tn * wanted.n) / determinant,
        (s->tt * wanted.n - s->tn * wanted.t) / determinant};
    if (fabs(sticks.t) <= s->friction * sticks.n) {
        return sticks;
    }
    const double slope = sticks.t > 0.0 ? s->friction : 0.0 - s->friction;
    const double n = wanted.n / (s->nn + slope * s->tn);
    return (plane2){slope * n, n};
}

static double gain(const struck_point *s, plane2 p, plane2 by) {
    const plane2 du = change(s, by);
    return p.t * (s->u.t + s->u.t + du.t) + p.n * (s->u.n + s->u.n + du.n);
}

static plane2 mean(plane2 a, plane2 b, double share) {
    return (plane2){a.t + share * (b.t - a.t), a.n + share * (b.n - a.n)};
}

// *gained: whether Newton's law alone would win energy.
static plane2 expected_impulse(const struck_point *s, double restitution, bool *gained) {
    const plane2 newton = newton_impulse(s, restitution);
    const plane2 stop = newton_impulse(s, 0.0);
    const plane2 reflected = {(1.0 + restitution) * stop.t, (1.0 + restitution) * stop.n};
    *gained = gain(s, newton, newton) > 0.02 * newton.n * fabs(s->u.n);
    double low = 0.0, high = 1.0; // bisection
    for (int i = 0; i < 60 && *gained; ++i) {
        const double share = 0.5 * (low + high);
        const plane2 p = mean(newton, reflected, share);
        *(gain(s, p, p) > 0.0 ? &low : &high) = share;
    }
    return mean(newton, reflected, *gained ? high : 0.0);
}

// A rod that comes down at an angle to the upright, sliding and turning, and touches the floor at
// once.
typedef struct rod {
    float angle, vx, vy, w;
    float restitution, friction;
} rod;

static bool check_rod(uint32_t solver, const rod *r) {
    const float radius = 0.1f, half = 0.5f;
    cairn_shape_def shape = capsule(radius, half);
    shape.restitution = r->restitution;
    shape.friction = r->friction;
    shape.flags = CAIRN_SHAPE_HIT_EVENTS;
    const impact floor = {.restitution = r->restitution, .friction = r->friction};
    SCOPED(cairn_world) *world = world_in_space(solver);
    add_floor(world, &floor);
    const cairn_vec3 arm = {half * sinf(r->angle), 0.0f - half * cosf(r->angle) - radius, 0.0f};
    cairn_body_def def = cairn_body_def_default();
    def.position = vec3(0.0f, 1e-4f - arm.y, 0.0f);
    def.rotation = turned(vec3(0.0f, 0.0f, 1.0f), r->angle);
    def.linear_velocity = vec3(r->vx, r->vy, 0.0f);
    def.angular_velocity = vec3(0.0f, 0.0f, r->w);
    const cairn_body_id body = kit_body(world, &def, &shape);
    cairn_mass_properties mass;
    EXPECT_OK(cairn_body_read_mass(world, body, &mass));
    const double m = (double)mass.mass, inertia = (double)mass.inertia[2];
    const double x = (double)arm.x, y = (double)arm.y;
    const struck_point s = {.tt = 1.0 / m + y * y / inertia,
        .tn = 0.0 - x * y / inertia,
        .nn = 1.0 / m + x * x / inertia,
        .u = {(double)r->vx - (double)r->w * y, (double)r->vy + (double)r->w * x},
        .friction = (double)r->friction};
    if (s.u.n > -1.5) {
        return false;
    }
    bool gained;
    const plane2 p = expected_impulse(&s, (double)r->restitution, &gained);
    kit_run(world, 1);
    const cairn_body_state now = kit_read(world, body);
    const float bound = 0.02f * (float)-s.u.n;
    expect_near(now.linear_velocity.x, r->vx + (float)(p.t / m), bound);
    expect_near(now.linear_velocity.y, r->vy + (float)(p.n / m), bound);
    expect_near(now.angular_velocity.z, r->w + (float)((x * p.n - y * p.t) / inertia),
        bound / (0.5f * half));
    uint32_t count = 0;
    const cairn_contact_event *events = cairn_world_contact_events(world, &count);
    assert_true(count > 0 && events[count - 1].kind == CAIRN_CONTACT_HIT);
    expect_near(events[count - 1].impulse, (float)p.n, bound * (float)m);
    return gained;
}

TEST("a rod that slides and turns parts from the floor as the closed form says") {
    uint32_t gained = 0;
    FOR_BOTH_SOLVERS(solver) {
        for (uint64_t seed = 0; seed < 300; ++seed) {
            cairn_random random = cairn_random_of(seed);
            rod r = {.restitution = seed % 2 == 0 ? 1.0f : 0.6f};
            r.angle = between(&random, 0.2f, 1.2f);
            r.vx = between(&random, -3.0f, 3.0f);
            r.vy = between(&random, -4.0f, -2.0f);
            r.w = between(&random, -2.0f, 2.0f);
            r.friction = between(&random, 0.1f, 0.5f);
            gained += check_rod(solver, &r) ? 1 : 0;
        }
    }
    assert_true(gained > 60); // or the mixture was not looked at
}
