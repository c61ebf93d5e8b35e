// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "tests/sim/geometry_kit.h"

typedef struct pair_case {
    const char *rule;
    cairn_geometry a;
    cairn_pose pose_a;
    cairn_geometry b;
    cairn_pose pose_b;
    float margin;
    uint32_t point_count;
    cairn_vec3 normal; // not checked without points
    float separation;  // of the deepest point
} pair_case;

#define QUARTER 1.0f // the tangent of half a quarter turn
#define ROOT_HALF 0.70710678f

static cairn_manifold collide(const pair_case *c) {
    uint32_t axis_hint = 0;
    cairn_manifold manifold;
    collide_geometries(&c->a, &c->pose_a, &c->b, &c->pose_b, c->margin, &axis_hint, &manifold);
    return manifold;
}

static void expect_near(const char *rule, const char *what, float actual, float expected) {
    if (!(float_abs(actual - expected) <= 2e-5f)) {
        fail_msg("%s: %s is %.9g, not %.9g", rule, what, (double)actual, (double)expected);
    }
}

static void expect_case(const pair_case *c) {
    const cairn_manifold manifold = collide(c);
    if (manifold.point_count != c->point_count) {
        fail_msg("%s: %u points, not %u", c->rule, manifold.point_count, c->point_count);
    }
    if (c->point_count > 0) {
        expect_near(c->rule, "normal.x", manifold.normal.x, c->normal.x);
        expect_near(c->rule, "normal.y", manifold.normal.y, c->normal.y);
        expect_near(c->rule, "normal.z", manifold.normal.z, c->normal.z);
        expect_near(c->rule, "separation", deepest(&manifold), c->separation);
    }
}

static const cairn_vec3 Z = {0.0f, 0.0f, 1.0f};

// clang-format off
#define SPHERE(r) {.kind = CAIRN_SHAPE_SPHERE, .radius = (r)}
#define CAPSULE(r, h) {.kind = CAIRN_SHAPE_CAPSULE, .radius = (r), .half_height = (h)}
#define BOX(x, y, z) {.kind = CAIRN_SHAPE_BOX, .half_extents = {(x), (y), (z)}}
#define HALF_SPACE() {.kind = CAIRN_SHAPE_HALF_SPACE}
#define AT_ROTATED(x, y, z, turn) {.position = {(x), (y), (z)}, .rotation = turn}
#define AT(x, y, z) AT_ROTATED(x, y, z, IDENTITY)
#define O AT(0, 0, 0)
#define IDENTITY {0, 0, 0, 1}
#define X_EIGHTH {0.38268343f, 0, 0, 0.92387953f}
#define Y_EIGHTH {0, 0.38268343f, 0, 0.92387953f}
#define Z_EIGHTH {0, 0, 0.38268343f, 0.92387953f}
#define Z_QUARTER {0, 0, ROOT_HALF, ROOT_HALF}
#define Z_QUARTER_BACK {0, 0, -ROOT_HALF, ROOT_HALF}
#define Z_HALF {0, 0, 1, 0}
// clang-format on

// Every case also holds with a and b exchanged and the normal reversed, and with both shapes moved
// by the same rotation and translation.
static const pair_case cases[] = {
    {"spheres apart", SPHERE(1), O, SPHERE(2), AT(3.1f, 0, 0), 0.05f, 0, {1, 0, 0}, 0},
    {"spheres within the margin", SPHERE(1), O, SPHERE(2), AT(3.1f, 0, 0), 0.2f, 1, {1, 0, 0},
        0.1f},
    {"spheres touching", SPHERE(1), O, SPHERE(2), AT(0, 3, 0), 0, 1, {0, 1, 0}, 0},
    {"spheres deep", SPHERE(1), O, SPHERE(2), AT(0, 0, 0.5f), 0, 1, {0, 0, 1}, -2.5f},
    {"spheres with one centre", SPHERE(1), O, SPHERE(2), O, 0, 1, {0, 1, 0}, -3},
    {"sphere apart from a capsule's side", SPHERE(1), O, CAPSULE(1, 2), AT(2.1f, 1, 0), 0, 0,
        {1, 0, 0}, 0},
    {"sphere beside a capsule", SPHERE(1), O, CAPSULE(1, 2), AT(2.1f, 1, 0), 0.2f, 1, {1, 0, 0},
        0.1f},
    {"sphere on a capsule's end", SPHERE(1), O, CAPSULE(1, 2), AT(0, 3.5f, 0), 0, 1, {0, 1, 0},
        -0.5f},
    {"sphere beyond a capsule's end", SPHERE(1), O, CAPSULE(1, 2), AT(0, 4.5f, 0), 0.1f, 0,
        {0, 1, 0}, 0},
    {"parallel capsules side by side", CAPSULE(1, 2), O, CAPSULE(0.5f, 2), AT(1.4f, 0, 0), 0, 2,
        {1, 0, 0}, -0.1f},
    {"parallel capsules overlapping in part", CAPSULE(1, 2), O, CAPSULE(1, 2), AT(1.9f, 3, 0), 0, 2,
        {1, 0, 0}, -0.1f},
    {"opposite capsules side by side", CAPSULE(1, 2), O, CAPSULE(1, 2),
        AT_ROTATED(1.9f, 0, 0, Z_HALF), 0, 2, {1, 0, 0}, -0.1f},
    {"capsules end to end", CAPSULE(1, 2), O, CAPSULE(1, 2), AT(0, 5.5f, 0), 0, 1, {0, 1, 0},
        -0.5f},
    {"crossed capsules", CAPSULE(1, 2), O, CAPSULE(1, 2), AT_ROTATED(0, 0, 1.5f, Z_QUARTER), 0, 1,
        {0, 0, 1}, -0.5f},
    {"capsules apart", CAPSULE(1, 2), O, CAPSULE(1, 2), AT(2.1f, 0, 0), 0.05f, 0, {1, 0, 0}, 0},
    {"capsules crossed in one centre", CAPSULE(1, 2), O, CAPSULE(1, 2),
        AT_ROTATED(0, 0, 0, Z_QUARTER), 0, 1, {0, 0, 1}, -2},
    {"axes that all but meet, in front", CAPSULE(1, 2), O, CAPSULE(1, 2),
        AT_ROTATED(0.5f, 0.3f, 1e-4f, Z_QUARTER), 0, 1, {0, 0, 1}, -1.9999f},
    {"axes that all but meet, behind", CAPSULE(1, 2), O, CAPSULE(1, 2),
        AT_ROTATED(0.5f, 0.3f, -1e-4f, Z_QUARTER), 0, 1, {0, 0, -1}, -1.9999f},
    {"sphere above a box", SPHERE(1), AT(0, 1.9f, 0), BOX(1, 1, 1), O, 0, 1, {0, -1, 0}, -0.1f},
    {"sphere at a box's edge", SPHERE(1), AT(1 + ROOT_HALF, 1 + ROOT_HALF, 0), BOX(1, 1, 1), O,
        1e-4f, 1, {-ROOT_HALF, -ROOT_HALF, 0}, 0},
    {"sphere past a box's edge", SPHERE(1), AT(1.75f, 1.75f, 0), BOX(1, 1, 1), O, 0, 0,
        {ROOT_HALF, ROOT_HALF, 0}, 0},
    {"sphere with its centre in a box", SPHERE(0.5f), AT(0.8f, 0, 0.1f), BOX(1, 1, 1), O, 0, 1,
        {-1, 0, 0}, -0.7f},
    {"sphere in a box's centre", SPHERE(0.5f), O, BOX(1, 2, 2), O, 0, 1, {-1, 0, 0}, -1.5f},
    {"capsule lying on a box", CAPSULE(0.5f, 1), AT_ROTATED(0, 1.4f, 0, Z_QUARTER), BOX(2, 1, 2), O,
        0, 2, {0, -1, 0}, -0.1f},
    {"capsule lying across a box's edge", CAPSULE(0.5f, 1), AT_ROTATED(2, 1.4f, 0, Z_QUARTER),
        BOX(2, 1, 2), O, 0, 2, {0, -1, 0}, -0.1f},
    {"capsule standing on a box", CAPSULE(0.5f, 1), AT(0, 2.4f, 0), BOX(2, 1, 2), O, 0, 1,
        {0, -1, 0}, -0.1f},
    {"capsule across a box's edge from outside", CAPSULE(0.5f, 1), AT(0, 0, 2.4f), BOX(2, 1, 2), O,
        0, 2, {0, 0, -1}, -0.1f},
    {"capsule through a box's edge", CAPSULE(0.5f, 1), AT_ROTATED(0.95f, 0.95f, 0, Z_EIGHTH),
        BOX(1, 1, 1), O, 0, 1, {-ROOT_HALF, -ROOT_HALF, 0}, -0.570710678f},
    {"capsule above a box", CAPSULE(0.5f, 1), AT_ROTATED(0, 1.6f, 0, Z_QUARTER), BOX(2, 1, 2), O,
        0.05f, 0, {0, 1, 0}, 0},
    {"capsule in a box's centre", CAPSULE(0.5f, 1), O, BOX(1, 3, 2), O, 0, 2, {-1, 0, 0}, -1.5f},
    {"sphere on a half-space", SPHERE(1), AT(5, 0.9f, 0), HALF_SPACE(), O, 0, 1, {0, -1, 0}, -0.1f},
    {"sphere deep in a half-space", SPHERE(1), AT(5, -9, 0), HALF_SPACE(), O, 0, 1, {0, -1, 0},
        -10},
    {"sphere above a half-space", SPHERE(1), AT(5, 1.1f, 0), HALF_SPACE(), O, 0.05f, 0, {0, 1, 0},
        0},
    {"capsule lying on a half-space", CAPSULE(1, 2), AT_ROTATED(0, 0.9f, 0, Z_QUARTER),
        HALF_SPACE(), O, 0, 2, {0, -1, 0}, -0.1f},
    {"capsule standing on a half-space", CAPSULE(1, 2), AT(0, 2.9f, 0), HALF_SPACE(), O, 0, 1,
        {0, -1, 0}, -0.1f},
    {"box on a half-space", BOX(1, 2, 3), AT(0, 1.9f, 0), HALF_SPACE(), O, 0, 4, {0, -1, 0}, -0.1f},
    {"box on its edge", BOX(1, 1, 3), AT_ROTATED(0, 1.4f, 0, Z_EIGHTH), HALF_SPACE(), O, 0, 2,
        {0, -1, 0}, 1.4f - 1.41421356f},
    {"box above a half-space", BOX(1, 2, 3), AT(0, 2.1f, 0), HALF_SPACE(), O, 0.05f, 0, {0, 1, 0},
        0},
    {"box on a wall", BOX(1, 2, 3), AT(0.9f, 0, 0), HALF_SPACE(),
        AT_ROTATED(0, 0, 0, Z_QUARTER_BACK), 0, 4, {-1, 0, 0}, -0.1f},
    {"box on box", BOX(1, 1, 1), O, BOX(1, 1, 1), AT(0, 1.9f, 0), 0, 4, {0, 1, 0}, -0.1f},
    {"box on box, off centre", BOX(1, 1, 1), O, BOX(1, 1, 1), AT(0.5f, 1.9f, 0.5f), 0, 4, {0, 1, 0},
        -0.1f},
    {"box on box, turned an eighth", BOX(1, 1, 1), O, BOX(1, 1, 1),
        AT_ROTATED(0, 1.9f, 0, Y_EIGHTH), 0, 4, {0, 1, 0}, -0.1f},
    {"small box on a floor", BOX(50, 1, 50), O, BOX(0.1f, 0.1f, 0.1f), AT(30, 1.05f, -20), 0, 4,
        {0, 1, 0}, -0.05f},
    {"boxes within the margin", BOX(1, 1, 1), O, BOX(1, 1, 1), AT(2.1f, 0, 0), 0.2f, 4, {1, 0, 0},
        0.1f},
    {"boxes apart", BOX(1, 1, 1), O, BOX(1, 1, 1), AT(2.1f, 0, 0), 0.05f, 0, {1, 0, 0}, 0},
    {"boxes touching", BOX(1, 1, 1), O, BOX(1, 1, 1), AT(0, 0, 2), 0, 4, {0, 0, 1}, 0},
    {"box on its edge on a box", BOX(2, 1, 2), O, BOX(1, 1, 1), AT_ROTATED(0, 2.4f, 0, Z_EIGHTH), 0,
        2, {0, 1, 0}, 1.4f - 1.41421356f},
    {"crossed edges", BOX(1, 1, 1), AT_ROTATED(0, 0, 0, Z_EIGHTH), BOX(1, 1, 1),
        AT_ROTATED(0, 2.8f, 0, X_EIGHTH), 0, 1, {0, 1, 0}, 2.8f - 2.82842712f},
    {"boxes with one centre", BOX(1, 1, 1), O, BOX(2, 1, 2), O, 0, 4, {0, 1, 0}, -2},
    {"thin plates crossing", BOX(1, 0.001f, 1), O, BOX(1, 0.001f, 1), AT(0.5f, 0.001f, 0.3f), 0, 4,
        {0, 1, 0}, -0.001f},
    {"half-spaces have no contact", HALF_SPACE(), O, HALF_SPACE(), O, 1, 0, {0, 1, 0}, 0},
};

enum { CASE_COUNT = sizeof(cases) / sizeof(cases[0]) };

TEST("every pair of kinds has the contacts of the table") {
    for (uint32_t i = 0; i < CASE_COUNT; ++i) {
        expect_case(&cases[i]);
    }
}

// The order of two shapes decides the sign of the normal and nothing else. Where centres coincide
// or two faces are equally good the normal is a matter of choice, and the choice need not be
// symmetric.
static bool normal_is_unique(const pair_case *c) {
    return vec3_distance(c->pose_a.position, c->pose_b.position) > 0.01f;
}

TEST("exchanging the shapes reverses the normal") {
    for (uint32_t i = 0; i < CASE_COUNT; ++i) {
        pair_case c = cases[i];
        c.a = cases[i].b;
        c.pose_a = cases[i].pose_b;
        c.b = cases[i].a;
        c.pose_b = cases[i].pose_a;
        c.normal = vec3_negate(c.normal);
        if (normal_is_unique(&c)) {
            expect_case(&c);
        }
    }
}

TEST("moving both shapes moves the contact with them") {
    cairn_random random = cairn_random_of(11);
    for (uint32_t i = 0; i < 20 * CASE_COUNT; ++i) {
        pair_case c = cases[i % CASE_COUNT];
        const cairn_manifold before = collide(&c);
        const cairn_pose move = random_pose(&random, 1.0f);
        c.pose_a = pose_multiply(move, c.pose_a);
        c.pose_b = pose_multiply(move, c.pose_b);
        const cairn_manifold after = collide(&c);
        // Pairs that touch exactly may be separated by rounding.
        if (!normal_is_unique(&c) || float_abs(c.separation - c.margin) < 1e-4f) {
            continue;
        }
        assert_int_equal(after.point_count > 0, before.point_count > 0);
        if (before.point_count > 0) {
            const cairn_vec3 normal = quat_rotate(move.rotation, before.normal);
            expect_near(c.rule, "moved separation", deepest(&after), deepest(&before));
            expect_near(c.rule, "turned normal", vec3_dot(after.normal, normal), 1.0f);
        }
    }
}

TEST("a contact stays exact far from the origin") {
    for (uint32_t i = 0; i < CASE_COUNT; ++i) {
        pair_case c = cases[i];
        const cairn_vec3 far = vec3(65536.0f, -65536.0f, 32768.0f);
        const cairn_pose moved_a = {
            .position = vec3_add(c.pose_a.position, far), .rotation = c.pose_a.rotation};
        const cairn_pose moved_b = {
            .position = vec3_add(c.pose_b.position, far), .rotation = c.pose_b.rotation};
        // Rounds the positions first, because their rounding is not an error of the narrow phase.
        c.pose_a.position = vec3_sub(moved_a.position, far);
        c.pose_b.position = vec3_sub(moved_b.position, far);
        const cairn_manifold near = collide(&c);
        c.pose_a = moved_a;
        c.pose_b = moved_b;
        const cairn_manifold there = collide(&c);
        assert_int_equal(there.point_count, near.point_count);
        for (uint32_t k = 0; k < near.point_count; ++k) {
            expect_near(c.rule, "separation far away", there.points[k].separation,
                near.points[k].separation);
            assert_int_equal(there.points[k].feature, near.points[k].feature);
        }
    }
}

// Whether the point is half the separation away from the shape's surface, whose outside is in the
// direction of `out`.
static bool half_way_is_surface(const cairn_geometry *geometry, const cairn_pose *pose,
    const cairn_manifold_point *point, cairn_vec3 out) {
    const float half = 0.5f * point->separation;
    const cairn_vec3 surface = vec3_sub_scaled(point->position, out, half);
    const cairn_vec3 beyond = vec3_add_scaled(surface, out, 1e-3f);
    return contains(geometry, pose, surface, 1e-4f) && !contains(geometry, pose, beyond, 0.0f);
}

TEST("points are midway between the surfaces") {
    for (uint32_t i = 0; i < CASE_COUNT; ++i) {
        const pair_case *c = &cases[i];
        const cairn_manifold manifold = collide(c);
        for (uint32_t k = 0; k < manifold.point_count; ++k) {
            const cairn_manifold_point *point = &manifold.points[k];
            const cairn_vec3 back = vec3_negate(manifold.normal);
            if (!half_way_is_surface(&c->a, &c->pose_a, point, manifold.normal) ||
                !half_way_is_surface(&c->b, &c->pose_b, point, back)) {
                fail_msg("%s: point %u is not midway", c->rule, k);
            }
        }
    }
}

TEST("overlap is contact without a margin") {
    for (uint32_t i = 0; i < CASE_COUNT; ++i) {
        pair_case c = cases[i];
        if (c.a.kind == CAIRN_SHAPE_HALF_SPACE) {
            continue;
        }
        c.margin = 0.0f;
        const bool touching = collide(&c).point_count > 0;
        assert_int_equal(geometries_overlap(&c.a, &c.pose_a, &c.b, &c.pose_b), touching);
    }
}

TEST("half spaces overlap unless they face each other across a gap") {
    const cairn_geometry h = half_space();
    const struct {
        cairn_pose a;
        cairn_pose b;
        bool overlap;
    } backs[] = {{at(0, 0, 0), at(0, 5, 0), true},
        {at(0, 0, 0), rotated(at(0, 0, 0), Z, QUARTER), true},
        {at(0, 0, 0), rotated(at(0, 1, 0), Z, 1e7f), false},
        {at(0, 0, 0), rotated(at(0, -1, 0), Z, 1e7f), true}};
    for (size_t i = 0; i < sizeof(backs) / sizeof(backs[0]); ++i) {
        assert_int_equal(geometries_overlap(&h, &backs[i].a, &h, &backs[i].b), backs[i].overlap);
        assert_int_equal(geometries_overlap(&h, &backs[i].b, &h, &backs[i].a), backs[i].overlap);
    }
}
