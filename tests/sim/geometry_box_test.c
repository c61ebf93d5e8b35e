// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "sim/collide/clip.h"
#include "tests/sim/geometry_kit.h"

// Contacts are warm started by their features, so a feature must name the same corner from step to
// step, and rounding must not change the separating axis.

static cairn_manifold collide(const cairn_geometry *a, cairn_pose pose_a, const cairn_geometry *b,
    cairn_pose pose_b, uint32_t *axis_hint) {
    cairn_manifold manifold;
    collide_geometries(a, &pose_a, b, &pose_b, 0.02f, axis_hint, &manifold);
    return manifold;
}

static cairn_pose swaying(cairn_random *random, cairn_vec3 position, float distance, float angle) {
    const cairn_vec3 off = random_vec3(random, distance);
    const cairn_quat turn = quat_of_small_angle(random_vec3(random, angle));
    return (cairn_pose){.position = vec3_add(position, off), .rotation = turn};
}

typedef struct sway_case {
    const char *rule;
    cairn_geometry a;
    cairn_geometry b;
    cairn_vec3 offset;
    uint32_t point_count;
} sway_case;

// In the first steps the axis may still change.
enum { SETTLING = 50 };

TEST("boxes that sway a little keep every feature") {
    const sway_case cases[] = {
        {"one size, squarely", box(0.5f, 0.5f, 0.5f), box(0.5f, 0.5f, 0.5f), vec3(0, 1, 0), 4},
        {"one size, squarely, from below", box(0.5f, 0.5f, 0.5f), box(0.5f, 0.5f, 0.5f),
            vec3(0, -1, 0), 4},
        {"one size, side by side", box(0.5f, 0.5f, 0.5f), box(0.5f, 0.5f, 0.5f), vec3(1, 0, 0), 4},
        {"small on large", box(5, 0.5f, 5), box(0.5f, 0.5f, 0.5f), vec3(1, 1, -2), 4},
        {"large on small", box(0.5f, 0.5f, 0.5f), box(5, 0.5f, 5), vec3(1, 1, -2), 4},
        {"over an edge", box(1, 1, 1), box(1, 1, 1), vec3(0.5f, 2, 0.3f), 4},
        {"a brick on two", box(0.5f, 0.25f, 0.25f), box(0.5f, 0.25f, 0.25f), vec3(0.5f, 0.5f, 0),
            4},
        {"capsule beside capsule", capsule(0.5f, 1), capsule(0.5f, 1), vec3(1, 0.5f, 0), 2},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        const sway_case *c = &cases[i];
        cairn_random random = cairn_random_of(21);
        uint32_t axis_hint = 0;
        uint32_t settled_hint = 0;
        cairn_manifold settled = {.point_count = 0};
        for (uint32_t step = 0; step < 1000; ++step) {
            const cairn_pose a = swaying(&random, vec3_zero(), 5e-4f, 3e-4f);
            const cairn_pose b = swaying(&random, c->offset, 5e-4f, 3e-4f);
            const cairn_manifold now = collide(&c->a, a, &c->b, b, &axis_hint);
            assert_int_equal(now.point_count, c->point_count);
            if (step < SETTLING) {
                settled = now;
                settled_hint = axis_hint;
            } else if (!same_features(&settled, &now) || axis_hint != settled_hint) {
                fail_msg("%s: features change at step %u", c->rule, step);
            }
        }
    }
}

// The end of a plank is 1 mm lower for each half milliradian. Without the hint a's face and b's
// take turns as the reference, and the features are still the same.
TEST("planks that cross keep four points, whichever way they lean") {
    const cairn_geometry plank = box(2, 0.025f, 0.1f);
    cairn_random random = cairn_random_of(28);
    uint32_t hints[2] = {0, 0};
    cairn_manifold first = {.point_count = 0};
    for (uint32_t step = 0; step < 1000; ++step) {
        const cairn_pose below = swaying(&random, vec3_zero(), 2e-4f, 2e-3f);
        cairn_pose above = swaying(&random, vec3(0, 0.0495f, 0), 2e-4f, 2e-3f);
        above.rotation =
            quat_multiply(above.rotation, (cairn_quat){.y = 0.70710678f, .w = 0.70710678f});
        for (uint32_t i = 0; i < 2; ++i) {
            uint32_t none = 0;
            const cairn_manifold now =
                collide(&plank, below, &plank, above, i == 0 ? &none : &hints[1]);
            first = step == 0 ? now : first;
            assert_int_equal(now.point_count, 4);
            assert_true(same_features(&first, &now));
            assert_true(now.normal.y > 0.9999f);
        }
    }
}

TEST("a box that slides across a floor keeps its corners") {
    const cairn_geometry floor = box(50, 1, 50);
    const cairn_geometry crate = box(0.5f, 0.5f, 0.5f);
    uint32_t axis_hint = 0;
    cairn_manifold before = collide(&floor, at(0, 0, 0), &crate, at(0, 1.499f, 0), &axis_hint);
    for (uint32_t step = 1; step < 500; ++step) {
        const float x = 0.05f * (float)step;
        // Rotates by three degrees per step; the feature of a corner rotates with it.
        const cairn_pose pose =
            rotated(at(x, 1.499f, 0.3f * x), vec3(0, 1, 0), 0.026f * (float)(step % 40));
        const cairn_manifold manifold = collide(&floor, at(0, 0, 0), &crate, pose, &axis_hint);
        assert_int_equal(manifold.point_count, 4);
        assert_true(same_features(&before, &manifold));
        for (uint32_t k = 0; k < 4; ++k) {
            const cairn_vec3 local = pose_apply_inverse(pose, manifold.points[k].position);
            const cairn_vec3 old = before.points[k].position;
            if (step > 1) {
                assert_true(vec3_distance(local, old) < 1e-3f);
            }
            before.points[k].position = local;
        }
    }
}

TEST("a box that slides off an edge changes features only where corners pass") {
    const cairn_geometry crate = box(0.5f, 0.5f, 0.5f);
    uint32_t axis_hint = 0;
    cairn_manifold before = collide(&crate, at(0, 0, 0), &crate, at(-0.9f, 0.99f, 0), &axis_hint);
    uint32_t changes = 0;
    for (uint32_t step = 1; step <= 1800; ++step) {
        const float x = -0.9f + 0.001f * (float)step;
        const cairn_manifold now =
            collide(&crate, at(0, 0, 0), &crate, at(x, 0.99f, 0.0f), &axis_hint);
        assert_int_equal(now.point_count, 4);
        changes += same_features(&before, &now) ? 0 : 1;
        before = now;
    }
    // The two trailing corners come over the floor and the two leading ones leave it, at the
    // middle.
    assert_in_range(changes, 1, 2);
}

TEST("features of one manifold differ") {
    cairn_random random = cairn_random_of(22);
    for (uint32_t round = 0; round < 20000; ++round) {
        const uint32_t kind_a = CAIRN_SHAPE_CAPSULE + (uint32_t)cairn_random_below(&random, 2);
        const uint32_t kind_b = CAIRN_SHAPE_CAPSULE + (uint32_t)cairn_random_below(&random, 3);
        const cairn_geometry a = random_geometry(&random, kind_a);
        const cairn_geometry b = random_geometry(&random, kind_b);
        uint32_t axis_hint = 0;
        const cairn_pose pose_a = random_pose(&random, 0.5f);
        const cairn_manifold manifold =
            collide(&a, pose_a, &b, random_pose(&random, 0.5f), &axis_hint);
        expect_distinct_features(&manifold);
    }
}

TEST("the axis changes only to a clearly better one") {
    const cairn_geometry crate = box(0.5f, 0.5f, 0.5f);
    uint32_t axis_hint = 0;
    const struct {
        float x;
        float y;
        uint32_t axis; // 1: x of the first box, 2: y
    } steps[] = {
        {0.5f, 0.9f, 2}, // 0.1 deep along y, 0.5 along x
        {0.899f, 0.9f, 2},
        {0.901f, 0.9f, 2}, // x is a little better: kept
        {0.904f, 0.9f, 2},
        {0.95f, 0.9f, 1}, // x is clearly better: taken
        {0.901f, 0.904f, 1},
        {0.9f, 0.95f, 2},
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); ++i) {
        collide(&crate, at(0, 0, 0), &crate, at(steps[i].x, steps[i].y, 0), &axis_hint);
        assert_int_equal(axis_hint, steps[i].axis);
    }
}

TEST("a face replaces an equally good edge") {
    const cairn_geometry crate = box(0.5f, 0.5f, 0.5f);
    for (uint32_t hint = 7; hint < 16; ++hint) {
        uint32_t axis_hint = hint;
        const cairn_pose above = rotated(at(0, 0.99f, 0), vec3(0, 1, 0), 0.3f);
        const cairn_manifold manifold = collide(&crate, at(0, 0, 0), &crate, above, &axis_hint);
        assert_int_equal(manifold.point_count, 4);
        assert_in_range(axis_hint, 1, 6);
    }
}

static bool is_minus_zero(float value) {
    return float_bits(value) == 0x80000000u;
}

static bool has_minus_zero(cairn_vec3 v) {
    return is_minus_zero(v.x) || is_minus_zero(v.y) || is_minus_zero(v.z);
}

static void expect_valid(const cairn_manifold *manifold) {
    assert_true(vec3_finite(manifold->normal));
    assert_false(has_minus_zero(manifold->normal));
    assert_true(float_abs(vec3_length(manifold->normal) - 1.0f) < 1e-5f);
    assert_in_range(manifold->point_count, 0, CAIRN_MANIFOLD_POINTS_MAX);
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        const cairn_manifold_point *point = &manifold->points[i];
        assert_true(vec3_finite(point->position) && float_finite(point->separation));
        assert_false(has_minus_zero(point->position) || is_minus_zero(point->separation));
        assert_true(point->separation <= 0.02f);
    }
}

static float random_size(cairn_random *random) {
    static const float sizes[] = {1e-3f, 1e-2f, 0.5f, 1.0f, 1.0f, 30.0f, 1e4f};
    return sizes[cairn_random_below(random, sizeof(sizes) / sizeof(sizes[0]))];
}

static cairn_geometry random_extreme(cairn_random *random) {
    const uint32_t kind = 1 + (uint32_t)cairn_random_below(random, 4);
    const float x = random_size(random);
    const float y = random_size(random);
    const float z = random_size(random);
    const float half_height = cairn_random_below(random, 4) == 0 ? 0.0f : y;
    return kind == CAIRN_SHAPE_SPHERE    ? sphere(x)
           : kind == CAIRN_SHAPE_CAPSULE ? capsule(x, half_height)
           : kind == CAIRN_SHAPE_BOX     ? box(x, y, z)
                                         : half_space();
}

// Positions and rotations at which shapes coincide or line up, exactly or almost.
static cairn_pose random_extreme_pose(cairn_random *random) {
    const float size = random_size(random);
    switch (cairn_random_below(random, 4)) {
    case 0:
        return at(0, 0, 0);
    case 1:
        return rotated(at(0, size, 0), vec3(0, 0, 1), 1.0f);
    case 2:
        return swaying(random, vec3_zero(), 1e-6f, 1e-6f);
    default:
        return random_pose(random, size);
    }
}

TEST("all shapes and hints give a valid manifold") {
    cairn_random random = cairn_random_of(23);
    uint32_t touching = 0;
    for (uint32_t round = 0; round < 30000; ++round) {
        const cairn_geometry a = random_extreme(&random);
        const cairn_geometry b = random_extreme(&random);
        const cairn_pose pose_a = random_extreme_pose(&random);
        const cairn_pose pose_b = random_extreme_pose(&random);
        uint32_t axis_hint = (uint32_t)cairn_random_below(&random, 18);
        axis_hint = axis_hint == 17 ? UINT32_MAX : axis_hint;
        const cairn_manifold manifold = collide(&a, pose_a, &b, pose_b, &axis_hint);
        expect_valid(&manifold);
        touching += manifold.point_count > 0;
    }
    assert_true(touching > 5000);
}

// The closest points of nearly parallel edges may be anywhere along the line.
TEST("contact points of nearly parallel edges are within the edges") {
    cairn_random random = cairn_random_of(24);
    const cairn_geometry crate = box(0.5f, 0.5f, 0.5f);
    for (uint32_t round = 0; round < 5000; ++round) {
        const float slant = random_between(&random, -0.02f, 0.02f);
        const cairn_pose a = rotated(at(0, 0, 0), vec3(0, 0, 1), 0.41421356f);
        const cairn_pose b =
            rotated(rotated(at(0, 1.41f, 0), vec3(0, 0, 1), 0.41421356f), vec3(slant, 1, 0), slant);
        uint32_t axis_hint = (uint32_t)cairn_random_below(&random, 16);
        const cairn_manifold manifold = collide(&crate, a, &crate, b, &axis_hint);
        for (uint32_t i = 0; i < manifold.point_count; ++i) {
            assert_true(float_abs(manifold.points[i].position.z) < 0.53f);
        }
    }
}

TEST("a box with its corner in another has a contact") {
    cairn_random random = cairn_random_of(25);
    uint32_t inside_count = 0;
    for (uint32_t round = 0; round < 10000; ++round) {
        const cairn_geometry a = random_geometry(&random, CAIRN_SHAPE_BOX);
        const cairn_geometry b = random_geometry(&random, CAIRN_SHAPE_BOX);
        const cairn_pose pose_a = random_pose(&random, 0.7f);
        const cairn_pose pose_b = random_pose(&random, 0.7f);
        const cairn_vec3 h = b.half_extents;
        const cairn_vec3 corner = vec3(round % 2 != 0 ? h.x : -h.x, round / 2 % 2 != 0 ? h.y : -h.y,
            round / 4 % 2 != 0 ? h.z : -h.z);
        uint32_t axis_hint = (uint32_t)cairn_random_below(&random, 16);
        const cairn_manifold manifold = collide(&a, pose_a, &b, pose_b, &axis_hint);
        const bool inside = contains(&a, &pose_a, pose_apply(pose_b, corner), 0.0f);
        inside_count += inside;
        assert_true(!inside || manifold.point_count > 0);
    }
    assert_true(inside_count > 500);
}

TEST("a manifold can be computed again from its hint") {
    cairn_random random = cairn_random_of(27);
    uint32_t edges = 0;
    uint32_t kept = 0;
    for (uint32_t round = 0; round < 40000; ++round) {
        const bool level = round % 2 == 0;
        const cairn_geometry a = random_geometry(&random, CAIRN_SHAPE_BOX);
        const cairn_geometry b = random_geometry(&random, CAIRN_SHAPE_BOX);
        const cairn_shape_view solid_a = view_of(&a);
        const cairn_shape_view solid_b = view_of(&b);
        const float above = a.half_extents.y + b.half_extents.y;
        const cairn_pose pose = level ? swaying(&random, vec3(0.2f, above, 0.1f), 0.05f, 0.2f)
                                      : random_pose(&random, 1.0f);
        const uint32_t given = (uint32_t)cairn_random_below(&random, 17);
        const uint32_t hint = expect_hint_repeats(&solid_a, &solid_b, &pose, given);
        edges += hint > 6 ? 1 : 0;
        kept += given != 0 && hint == given ? 1 : 0;
    }
    assert_true(edges > 500);
    assert_true(kept > 500);
}

// A square with edges 0 to 3, clipped on its right by edge 4 and on its left by edge 5.
TEST("a clipped polygon is labelled by the edges that meet") {
    const cairn_clip_polygon square = {
        .count = 4, .points = {{-1, -1, 0, 0}, {1, -1, 0, 1}, {1, 1, 0, 2}, {-1, 1, 0, 3}}};
    const cairn_clip_line right_cut = {.right = 1.0f, .limit = 0.5f, .edge = 4};
    const cairn_clip_line left_cut = {.right = -1.0f, .limit = 0.25f, .edge = 5};
    cairn_clip_polygon right;
    cairn_clip_polygon both;
    cairn_clip_polygon_cut(&square, &right_cut, &right);
    cairn_clip_polygon_cut(&right, &left_cut, &both);
    static const uint32_t right_edges[4] = {0, 4, 2, 3};
    static const uint32_t both_edges[4] = {0, 4, 2, 5};
    assert_int_equal(right.count, 4);
    assert_int_equal(both.count, 4);
    for (uint32_t i = 0; i < 4; ++i) {
        bool in_right = false;
        bool in_both = false;
        for (uint32_t k = 0; k < 4; ++k) {
            in_right = in_right || right.points[k].edge == right_edges[i];
            in_both = in_both || both.points[k].edge == both_edges[i];
        }
        assert_true(in_right && in_both);
    }
    const cairn_clip_line nothing_left = {.up = 1.0f, .limit = -1.5f, .edge = 4};
    const cairn_clip_line nothing_cut = {.up = -1.0f, .limit = 1.0f, .edge = 4};
    cairn_clip_polygon_cut(&square, &nothing_left, &both);
    assert_int_equal(both.count, 0);
    cairn_clip_polygon_cut(&both, &nothing_cut, &right);
    assert_int_equal(right.count, 0);
    cairn_clip_polygon_cut(&square, &nothing_cut, &both);
    assert_int_equal(both.count, 4);
}

// Eight points on a circle: the chosen four span it and include the deepest.
TEST("a manifold is reduced to the points that span it") {
    static const cairn_clip_point ring[8] = {{1, 0, 0, 0}, {0.7f, 0.7f, 0, 0}, {0, 1, 0, 0},
        {-0.7f, 0.7f, 0, 0}, {-1, 0, 0, 0}, {-0.7f, -0.7f, 0, 0}, {0, -1, 0, 0},
        {0.7f, -0.7f, 0, 0}};
    cairn_random random = cairn_random_of(26);
    uint32_t level_chosen[4] = {0};
    for (uint32_t round = 0; round < 800; ++round) {
        const uint32_t deep = round % 8;
        cairn_clip_point points[8];
        cairn_clip_point level[8];
        for (uint32_t i = 0; i < 8; ++i) {
            points[i] = ring[i];
            points[i].height = i == deep ? -0.1f : -0.01f;
            level[i] = ring[i];
            level[i].height = random_between(&random, -0.01f, -0.009f);
        }
        uint32_t chosen[4];
        assert_int_equal(cairn_manifold_reduce(points, 8, chosen), 4);
        const uint32_t set = 1u << chosen[0] | 1u << chosen[1] | 1u << chosen[2] | 1u << chosen[3];
        assert_true((set & 1u << deep) != 0);
        assert_true((set & 1u << (deep + 4) % 8) != 0);
        // Depths that are equal except for noise always give the same points.
        assert_int_equal(cairn_manifold_reduce(level, 8, chosen), 4);
        for (uint32_t i = 0; i < 4; ++i) {
            level_chosen[i] = round == 0 ? chosen[i] : level_chosen[i];
            assert_int_equal(chosen[i], level_chosen[i]);
            assert_true(i == 0 || chosen[i] > chosen[i - 1]);
        }
    }
    uint32_t chosen[4];
    assert_int_equal(cairn_manifold_reduce(ring, 3, chosen), 3);
    assert_int_equal(cairn_manifold_reduce(ring, 0, chosen), 0);
}
