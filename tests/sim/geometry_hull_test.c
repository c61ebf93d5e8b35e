// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include "tests/sim/hull_kit.h"

static cairn_manifold collide(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_pose *pose, uint32_t *axis_hint) {
    cairn_manifold manifold;
    memset(&manifold, 0, sizeof manifold);
    cairn_collide_local(a, b, pose, 0.02f, axis_hint, &manifold);
    return manifold;
}

// ---- a box is also a hull

// Which four of more points are kept depends on where the polygon begins, and depths within a
// five-hundredth of its size count as equal.
static void expect_equivalent(
    const cairn_manifold *a, const cairn_manifold *b, uint32_t round, const char *what) {
    const uint32_t most = a->point_count > b->point_count ? a->point_count : b->point_count;
    const uint32_t least = a->point_count + b->point_count - most;
    const bool counts = most == least || (most == 4 && least == 3);
    if (!counts || vec3_distance(a->normal, b->normal) > 1e-3f ||
        float_abs(deepest(a) - deepest(b)) > 3e-3f) {
        fail_msg("%s, round %u: %u points at %g, %u at %g", what, round, a->point_count,
            (double)deepest(a), b->point_count, (double)deepest(b));
    }
}

// The sizes differ, so that no two axes are equally good by construction.
TEST("a box as a hull has the contacts of a box") {
    cairn_random random = cairn_random_of(51);
    const cairn_geometry big = box(1.0f, 0.7f, 1.3f);
    const cairn_geometry small = box(0.4f, 0.3f, 0.5f);
    const cairn_hull big_hull = box_hull(vec3(1.0f, 0.7f, 1.3f), vec3_zero());
    const cairn_hull small_hull = box_hull(vec3(0.4f, 0.3f, 0.5f), vec3_zero());
    const cairn_shape_view boxes[2] = {view_of(&big), view_of(&small)};
    const cairn_shape_view hulls[2] = {hull_view(&big_hull), hull_view(&small_hull)};
    uint32_t touching = 0;
    for (uint32_t round = 0; round < 3000; ++round) {
        const cairn_pose pose = random_pose(&random, 1.4f);
        uint32_t hints[4] = {0};
        const cairn_manifold boxed = collide(&boxes[0], &boxes[1], &pose, &hints[0]);
        const cairn_manifold both = collide(&hulls[0], &hulls[1], &pose, &hints[1]);
        const cairn_manifold first = collide(&hulls[0], &boxes[1], &pose, &hints[2]);
        const cairn_manifold second = collide(&boxes[0], &hulls[1], &pose, &hints[3]);
        expect_equivalent(&both, &boxed, round, "hull and hull");
        expect_equivalent(&first, &boxed, round, "hull and box");
        expect_equivalent(&second, &boxed, round, "box and hull");
        touching += boxed.point_count > 0;
    }
    assert_true(touching > 1000);
}

TEST("spheres and capsules touch a box as they touch its hull") {
    cairn_random random = cairn_random_of(52);
    const cairn_geometry crate = box(0.6f, 0.4f, 0.5f);
    const cairn_hull hull = box_hull(vec3(0.6f, 0.4f, 0.5f), vec3_zero());
    const cairn_geometry rounds[2] = {sphere(0.3f), capsule(0.2f, 0.4f)};
    const cairn_shape_view boxed = view_of(&crate);
    const cairn_shape_view hulled = hull_view(&hull);
    uint32_t touching = 0;
    for (uint32_t round = 0; round < 4000; ++round) {
        const cairn_shape_view other = view_of(&rounds[round % 2]);
        const cairn_pose pose = random_pose(&random, 0.8f);
        uint32_t hint = 0;
        const cairn_manifold a = collide(&boxed, &other, &pose, &hint);
        const cairn_manifold b = collide(&hulled, &other, &pose, &hint);
        expect_equivalent(&b, &a, round, "hull and round");
        const cairn_manifold c = collide(&other, &boxed, &pose, &hint);
        const cairn_manifold d = collide(&other, &hulled, &pose, &hint);
        expect_equivalent(&d, &c, round, "round and hull");
        touching += a.point_count > 0;
    }
    assert_true(touching > 1000);
}

// ---- known contacts

typedef struct known_case {
    const char *rule;
    cairn_shape_view a;
    cairn_shape_view b;
    cairn_pose pose;
    uint32_t point_count;
    cairn_vec3 normal;
    float separation;
} known_case;

TEST("known pairs have the contacts of the table") {
    const cairn_vec3 roof_points[6] = {
        {-2, 0, -1}, {2, 0, -1}, {-2, 0, 1}, {2, 0, 1}, {-2, 1, 0}, {2, 1, 0}};
    const cairn_vec3 spike_points[4] = {{-1, 2, -1}, {1, 2, -1}, {0, 2, 1}, {0, 0, 0}};
    cairn_hull roof;
    cairn_hull spike;
    assert_true(builds(roof_points, 6, &roof) && builds(spike_points, 4, &spike));
    const cairn_hull cube = box_hull(vec3(1, 1, 1), vec3_zero());
    const cairn_geometry ground = half_space();
    const cairn_geometry crate = box(5, 1, 5);
    const cairn_geometry ball = sphere(0.5f);
    const cairn_geometry pill = capsule(0.5f, 1.0f);
    const cairn_shape_view hull = hull_view(&cube);
    const cairn_shape_view wedge = hull_view(&roof);
    const cairn_shape_view tip = hull_view(&spike);
    const cairn_shape_view plane = view_of(&ground);
    const cairn_shape_view slab = view_of(&crate);
    const cairn_shape_view round = view_of(&ball);
    const cairn_shape_view lying = view_of(&pill);
    const cairn_pose on_side = rotated(at(0, 1.45f, 0), vec3(0, 0, 1), 1.0f);
    const cairn_vec3 up = vec3(0, 1, 0);
    const known_case cases[] = {{"cube on cube", hull, hull, at(0, 1.99f, 0), 4, up, -0.01f},
        {"cube within the margin", hull, hull, at(0, 2.01f, 0), 4, up, 0.01f},
        {"cube beyond the margin", hull, hull, at(0, 2.03f, 0), 0, up, 0},
        {"cube on slab", slab, hull, at(3, 1.95f, 2), 4, up, -0.05f},
        {"slab on cube", hull, slab, at(3, 1.95f, 2), 4, up, -0.05f},
        {"cube on ground", plane, hull, at(3, 0.95f, 2), 4, up, -0.05f},
        {"roof on ground", plane, wedge, at(3, 0.0f, 2), 4, up, 0},
        {"tip on ground", plane, tip, at(3, -0.01f, 2), 1, up, -0.01f},
        {"tip on cube", hull, tip, at(0.3f, 0.98f, 0.1f), 1, up, -0.02f},
        {"slab on a ridge", wedge, slab, at(0, 1.98f, 0), 2, up, -0.02f},
        {"ball on cube", hull, round, at(0.2f, 1.45f, 0.1f), 1, up, -0.05f},
        {"ball on ridge", wedge, round, at(0.2f, 1.45f, 0), 1, up, -0.05f},
        {"ball inside", hull, round, at(0, 0.9f, 0), 1, up, -0.6f},
        {"capsule lying on cube", hull, lying, on_side, 2, up, -0.05f},
        {"capsule standing on cube", hull, lying, at(0, 2.45f, 0), 1, up, -0.05f},
        {"capsule across a ridge", wedge, lying, rotated(at(0, 1.45f, 0), vec3(1, 0, 0), 1.0f), 1,
            up, -0.05f}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        const known_case *c = &cases[i];
        uint32_t hint = 0;
        const cairn_manifold m = collide(&c->a, &c->b, &c->pose, &hint);
        if (m.point_count != c->point_count ||
            (m.point_count > 0 && (vec3_distance(m.normal, c->normal) > 1e-4f ||
                                      float_abs(deepest(&m) - c->separation) > 1e-4f))) {
            fail_msg("%s: %u points at %g along %g %g %g", c->rule, m.point_count,
                (double)deepest(&m), (double)m.normal.x, (double)m.normal.y, (double)m.normal.z);
        }
    }
}

// ---- features and hints from step to step

TEST("a manifold can be computed again from its hint") {
    cairn_random random = cairn_random_of(53);
    uint32_t edges = 0;
    uint32_t kept = 0;
    const cairn_hull shapes[4] = {icosahedron(0.5f), random_hull(&random, 20, vec3_zero()),
        random_hull(&random, 6, vec3(0.2f, 0, 0)), box_hull(vec3(0.5f, 0.4f, 0.6f), vec3_zero())};
    for (uint32_t round = 0; round < 12000; ++round) {
        const cairn_shape_view a = hull_view(&shapes[round % 4]);
        const cairn_shape_view b = hull_view(&shapes[round / 4 % 4]);
        const cairn_pose pose = random_pose(&random, 0.7f);
        const uint32_t part = (uint32_t)cairn_random_below(&random, 3);
        const uint32_t low = (uint32_t)cairn_random_below(&random, 32);
        const uint32_t high = (uint32_t)cairn_random_below(&random, 32);
        const uint32_t given = part == 0 ? low : part == 1 ? 128 + low : 256 + 128 * high + low;
        const uint32_t hint = expect_hint_repeats(&a, &b, &pose, given);
        edges += hint >= 256 ? 1 : 0;
        kept += given != 0 && hint == given ? 1 : 0;
    }
    assert_true(edges > 100);
    assert_true(kept > 50);
}

TEST("any hint is validated before it is used") {
    cairn_random random = cairn_random_of(54);
    const cairn_hull ball = icosahedron(0.5f);
    const cairn_shape_view a = hull_view(&ball);
    const cairn_pose pose = at(0, 0.8f, 0.1f);
    for (uint32_t round = 0; round < 5000; ++round) {
        uint32_t hint = (uint32_t)cairn_random_next(&random) >> cairn_random_below(&random, 32);
        const cairn_manifold m = collide(&a, &a, &pose, &hint);
        assert_true(m.point_count > 0);
        assert_true(float_abs(vec3_length(m.normal) - 1.0f) < 1e-5f);
    }
}

TEST("hulls that sway a little keep every feature") {
    const cairn_hull ball = icosahedron(0.5f);
    const cairn_hull cube = box_hull(vec3(0.5f, 0.5f, 0.5f), vec3_zero());
    const cairn_geometry floor = box(5, 0.5f, 5);
    const cairn_geometry ground = half_space();
    const cairn_shape_view round = hull_view(&ball);
    const cairn_shape_view crate = hull_view(&cube);
    const cairn_shape_view slab = view_of(&floor);
    const cairn_shape_view plane = view_of(&ground);
    // The rotation that lays the icosahedron on a face: from the face's normal to straight down.
    const cairn_vec3 n = ball.planes[0].normal;
    const cairn_vec3 down = vec3(0, -1, 0);
    const cairn_vec3 axis = vec3_cross(n, down);
    const cairn_quat level = quat_normalize(
        (cairn_quat){.x = axis.x, .y = axis.y, .z = axis.z, .w = 1.0f + vec3_dot(n, down)});
    const struct {
        const char *rule;
        cairn_shape_view a;
        cairn_shape_view b;
        cairn_pose pose;
        uint32_t count;
    } cases[] = {{"cube on cube", crate, crate, at(0, 1, 0), 4},
        {"cube on slab", slab, crate, at(1, 1, 2), 4},
        {"cube on ground", plane, crate, at(1, 0.5f, 2), 4},
        {"icosahedron on a face", slab, round,
            {.position = {0, 0.5f + ball.inner, 0}, .rotation = level}, 3},
        {"icosahedron on ground", plane, round, {.position = {0, ball.inner, 0}, .rotation = level},
            3}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        cairn_random random = cairn_random_of(55);
        uint32_t hint = 0;
        cairn_manifold settled = {.point_count = 0};
        for (uint32_t step = 0; step < 500; ++step) {
            const cairn_quat turn = quat_of_small_angle(random_vec3(&random, 3e-4f));
            const cairn_pose pose = {
                .position = vec3_add(cases[i].pose.position, random_vec3(&random, 5e-4f)),
                .rotation = quat_multiply(turn, cases[i].pose.rotation)};
            const cairn_manifold now = collide(&cases[i].a, &cases[i].b, &pose, &hint);
            settled = step < 50 ? now : settled;
            if (now.point_count != cases[i].count || !same_features(&settled, &now)) {
                fail_msg("%s: step %u has %u points", cases[i].rule, step, now.point_count);
            }
        }
    }
}

TEST("features of one manifold differ") {
    cairn_random random = cairn_random_of(56);
    for (uint32_t round = 0; round < 1500; ++round) {
        const cairn_hull first = random_hull(&random, 6 + round % 12, vec3_zero());
        const cairn_hull second = random_hull(&random, 6 + round % 5, vec3_zero());
        const cairn_geometry pill = capsule(0.2f, 0.5f);
        const cairn_shape_view a = hull_view(&first);
        const cairn_shape_view b = round % 3 == 0 ? view_of(&pill) : hull_view(&second);
        const cairn_pose pose = random_pose(&random, 0.8f);
        uint32_t hint = 0;
        const cairn_manifold m = collide(&a, &b, &pose, &hint);
        expect_distinct_features(&m);
    }
}
