// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "tests/sim/hull_kit.h"

// Compares the narrow phase with a search that does not use faces, edges or kinds: the distance (or
// penetration) of two convex shapes is that along the best direction, and the search tries
// directions.

// The greatest coordinate of the shape along the unit vector `n`.
static float support(const cairn_shape_view *shape, const cairn_pose *pose, cairn_vec3 n) {
    const cairn_vec3 local = quat_rotate_inverse(pose->rotation, n);
    const cairn_geometry *g = shape->geometry;
    float core = g->radius + g->half_height * float_abs(local.y);
    if (g->kind == CAIRN_SHAPE_CYLINDER || g->kind == CAIRN_SHAPE_CONE) {
        const float across = g->radius * vec3_length(vec3(local.x, 0.0f, local.z));
        const float upper = g->kind == CAIRN_SHAPE_CONE ? 0.0f : across;
        core = float_max(across - g->half_height * local.y, upper + g->half_height * local.y);
    }
    if (g->kind == CAIRN_SHAPE_BOX) {
        core = vec3_dot(vec3_abs(local), g->half_extents);
    }
    if (g->kind == CAIRN_SHAPE_HULL) {
        core = -1e9f;
        for (uint32_t i = 0; i < shape->hull->vertex_count; ++i) {
            core = float_max(core, vec3_dot(local, shape->hull->vertices[i]));
        }
    }
    return vec3_dot(pose->position, n) + core;
}

// Whether the contacts of two shapes may be those of a face that overlaps a line or face of the
// other.
static bool is_measured_on_faces(const cairn_geometry *a, const cairn_geometry *b) {
    const bool round_a = a->kind == CAIRN_SHAPE_SPHERE || a->kind == CAIRN_SHAPE_CAPSULE;
    const bool round_b = b->kind == CAIRN_SHAPE_SPHERE || b->kind == CAIRN_SHAPE_CAPSULE;
    return (!round_a && !round_b) || a->kind >= CAIRN_SHAPE_CYLINDER ||
           b->kind >= CAIRN_SHAPE_CYLINDER;
}

static bool shape_contains(
    const cairn_shape_view *shape, const cairn_pose *pose, cairn_vec3 point, float skin) {
    const cairn_hull *hull = shape->hull;
    if (shape->geometry->kind != CAIRN_SHAPE_HULL) {
        return contains(shape->geometry, pose, point, skin);
    }
    const cairn_vec3 local = pose_apply_inverse(*pose, point);
    for (uint32_t i = 0; i < hull->face_count; ++i) {
        if (vec3_dot(hull->planes[i].normal, local) - hull->planes[i].offset > skin) {
            return false;
        }
    }
    return true;
}

typedef struct shapes {
    cairn_shape_view a;
    cairn_shape_view b;
    cairn_pose pose_a;
    cairn_pose pose_b;
} shapes;

// The distance from a to b along `n`.
static float gap(const shapes *s, cairn_vec3 n) {
    const float near_b = 0.0f - support(&s->b, &s->pose_b, vec3_negate(n));
    return near_b - support(&s->a, &s->pose_a, n);
}

// Hill climbing from `n` with smaller and smaller random steps; few directions lead up along a
// ridge, so many are tried.
static float climb(const shapes *s, cairn_vec3 n, cairn_random *random, cairn_vec3 *top) {
    float best = gap(s, n);
    for (float step = 0.4f; step > 1e-4f; step *= 0.6f) {
        for (uint32_t i = 0; i < 16; ++i) {
            const cairn_vec3 offset = random_vec3(random, step);
            const cairn_vec3 tried = vec3_normalize(vec3_add(n, offset), n);
            const float here = gap(s, tried);
            n = vec3_select(here > best, tried, n);
            best = float_max(best, here);
        }
    }
    *top = n;
    return best;
}

// Starts from the faces of both, from the line of centres, and from random directions.
static float search_directions(const shapes *s, cairn_random *random, cairn_vec3 *top) {
    enum { FACES = 12, STARTS = 20 };
    float best = -1e9f;
    for (uint32_t i = 0; i < STARTS; ++i) {
        const cairn_quat turn = i < FACES / 2 ? s->pose_a.rotation : s->pose_b.rotation;
        const uint32_t face = i % 6;
        const float side = face < 3 ? 1.0f : -1.0f;
        const cairn_vec3 axis = vec3(
            face % 3 == 0 ? side : 0.0f, face % 3 == 1 ? side : 0.0f, face % 3 == 2 ? side : 0.0f);
        const cairn_vec3 anywhere =
            i == FACES ? vec3_sub(s->pose_b.position, s->pose_a.position) : random_vec3(random, 1);
        const cairn_vec3 start = i < FACES ? quat_rotate(turn, axis) : anywhere;
        cairn_vec3 here = vec3_zero();
        const float found = climb(s, vec3_normalize(start, vec3(0, 1, 0)), random, &here);
        *top = vec3_select(found > best, here, *top);
        best = float_max(best, found);
    }
    return best;
}

static void expect_holds(bool holds, const char *what, uint32_t seed, float found, float searched) {
    if (!holds) {
        fail_msg(
            "seed %u: %s: %.7g, the search says %.7g", seed, what, (double)found, (double)searched);
    }
}

// Returns whether the shapes touch.
static bool expect_agreement(const shapes *s, uint32_t seed, cairn_random *random) {
    cairn_vec3 top = vec3_zero();
    const float searched = search_directions(s, random, &top);
    if (float_abs(searched) > 1e-3f) {
        const bool overlap = cairn_collide_overlap(&s->a, &s->pose_a, &s->b, &s->pose_b);
        expect_holds(
            overlap == (searched < 0.0f), "overlap", seed, overlap ? -1.0f : 1.0f, searched);
    }
    uint32_t axis_hint = 0;
    cairn_manifold manifold;
    cairn_collide(&s->a, &s->pose_a, &s->b, &s->pose_b, 0.1f, &axis_hint, &manifold);
    // Two shapes with faces are measured along an axis; near a corner that is less than the
    // distance.
    const bool faces = is_measured_on_faces(s->a.geometry, s->b.geometry);
    if (searched < 0.099f && (!faces || searched < 0.0f)) {
        expect_holds(manifold.point_count > 0, "no contact", seed, 1.0f, searched);
    }
    if (manifold.point_count == 0) {
        return false;
    }
    // The normal is nearly as good as the best direction, and the points have the right separation.
    // Faces are preferred to edges by a tenth, and a capsule that rests on a face is measured along
    // one normal. The faces of two shapes are compared by their separation where they overlap.
    const float along = gap(s, manifold.normal);
    const float overlapping = faces ? deepest(&manifold) : along;
    // Deep in a cylinder or cone the axes are searched with coarse steps.
    const bool disc =
        s->a.geometry->kind >= CAIRN_SHAPE_CYLINDER || s->b.geometry->kind >= CAIRN_SHAPE_CYLINDER;
    const float slack = (disc && searched < -0.1f ? 0.25f : 0.11f) * float_abs(searched) + 0.01f;
    if (searched < 0.02f || !faces) {
        expect_holds(overlapping >= searched - slack, "the normal", seed, overlapping, searched);
        // The deepest point of a shape deep in a disc may be beside the disc.
        expect_holds((disc && searched < -0.1f) || deepest(&manifold) <= searched + slack,
            "the deepest point", seed, deepest(&manifold), searched);
    }
    expect_holds(deepest(&manifold) >= along - 1e-3f, "deeper than along the normal", seed,
        deepest(&manifold), along);
    for (uint32_t i = 0; i < manifold.point_count; ++i) {
        // A line along a side may lean towards the normal.
        const float half = 0.5f * float_abs(manifold.points[i].separation) + (disc ? 0.02f : 0.01f);
        const cairn_vec3 at = manifold.points[i].position;
        expect_holds(
            shape_contains(&s->a, &s->pose_a, at, half), "a point off a", seed, half, searched);
        expect_holds(
            shape_contains(&s->b, &s->pose_b, at, half), "a point off b", seed, half, searched);
    }
    return true;
}

TEST("contacts agree with a search over directions") {
    for (uint32_t seed = 1; seed <= 360; ++seed) {
        cairn_random random = cairn_random_of(seed);
        const cairn_geometry a = random_geometry(&random, 1 + seed % 3);
        const cairn_geometry b = random_geometry(&random, 1 + seed / 3 % 3);
        shapes s = {.a = view_of(&a), .b = view_of(&b)};
        s.pose_a = random_pose(&random, 0.5f);
        s.pose_b = random_pose(&random, 1.5f);
        (void)expect_agreement(&s, seed, &random);
    }
}

// A cylinder or cone with each kind.
TEST("contacts of cylinders and cones agree with a search over directions") {
    uint32_t touching = 0;
    for (uint32_t seed = 1; seed <= 480; ++seed) {
        cairn_random random = cairn_random_of(seed);
        const uint32_t kind = seed % 2 == 0 ? CAIRN_SHAPE_CYLINDER : CAIRN_SHAPE_CONE;
        const cairn_geometry first = {.kind = kind,
            .radius = random_between(&random, 0.2f, 0.8f),
            .half_height = random_between(&random, 0.2f, 0.8f)};
        const uint32_t other_kind = 1 + seed / 2 % 6;
        const cairn_hull hull = random_hull(&random, 5 + seed % 20, vec3_zero());
        cairn_geometry other = random_geometry(&random, 1 + other_kind % 3);
        if (other_kind == 4 || other_kind == 6) {
            other = first;
            other.kind = other_kind == 4 ? CAIRN_SHAPE_CONE : CAIRN_SHAPE_CYLINDER;
        }
        const cairn_shape_view round = view_of(&first);
        const cairn_shape_view second = other_kind == 5 ? hull_view(&hull) : view_of(&other);
        shapes s = {.a = seed % 3 == 0 ? second : round, .b = seed % 3 == 0 ? round : second};
        s.pose_a = random_pose(&random, 0.5f);
        s.pose_b = random_pose(&random, 1.2f);
        touching += expect_agreement(&s, seed, &random);
    }
    assert_true(touching > 160);
}

TEST("contacts of hulls agree with a search over directions") {
    uint32_t touching = 0;
    for (uint32_t seed = 1; seed <= 240; ++seed) {
        cairn_random random = cairn_random_of(seed);
        const cairn_hull first = random_hull(&random, 5 + seed % 20, random_vec3(&random, 0.5f));
        const cairn_hull second = random_hull(&random, 5 + seed % 7, vec3_zero());
        const cairn_geometry other = random_geometry(&random, 1 + seed % 3);
        shapes s = {.a = hull_view(&first)};
        s.b = seed % 4 == 0 ? hull_view(&second) : view_of(&other);
        s.pose_a = random_pose(&random, 0.5f);
        s.pose_b = random_pose(&random, 1.2f);
        touching += expect_agreement(&s, seed, &random);
    }
    assert_true(touching > 80);
}

// A box and a half-space need no search: the height of every corner is known.
TEST("the lowest corner of a box is a contact point") {
    cairn_random random = cairn_random_of(31);
    for (uint32_t round = 0; round < 3000; ++round) {
        const cairn_geometry crate = random_geometry(&random, CAIRN_SHAPE_BOX);
        const cairn_geometry ground = half_space();
        const cairn_shape_view view = view_of(&crate);
        const cairn_pose pose = random_pose(&random, 1.0f);
        const cairn_pose ground_pose = random_pose(&random, 1.0f);
        const cairn_vec3 up = quat_rotate(ground_pose.rotation, vec3(0, 1, 0));
        const float lowest =
            0.0f - support(&view, &pose, vec3_negate(up)) - vec3_dot(up, ground_pose.position);
        uint32_t axis_hint = 0;
        cairn_manifold manifold;
        collide_geometries(&crate, &pose, &ground, &ground_pose, 0.1f, &axis_hint, &manifold);
        assert_int_equal(manifold.point_count > 0, lowest <= 0.1f);
        if (manifold.point_count > 0) {
            expect_holds(float_abs(deepest(&manifold) - lowest) < 1e-5f, "lowest corner", round,
                deepest(&manifold), lowest);
        }
    }
}

TEST("bounds are as tight as the shape") {
    cairn_random random = cairn_random_of(41);
    for (uint32_t round = 0; round < 300; ++round) {
        cairn_geometry geometry = random_geometry(&random, 1 + round % 3);
        if (geometry.kind == CAIRN_SHAPE_CAPSULE && round % 2 == 0) {
            geometry.kind = round % 5 < 3 ? CAIRN_SHAPE_CYLINDER : CAIRN_SHAPE_CONE;
        }
        const cairn_hull hull = random_hull(&random, 12, vec3_zero());
        const cairn_shape_view view = round % 4 == 0 ? hull_view(&hull) : view_of(&geometry);
        const cairn_pose pose = random_pose(&random, 5.0f);
        const cairn_aabb bounds = cairn_shape_view_aabb(&view, &pose);
        const cairn_vec3 x = vec3(1, 0, 0), y = vec3(0, 1, 0), z = vec3(0, 0, 1);
        const cairn_vec3 upper =
            vec3(support(&view, &pose, x), support(&view, &pose, y), support(&view, &pose, z));
        const cairn_vec3 lower = vec3_negate(vec3(support(&view, &pose, vec3_negate(x)),
            support(&view, &pose, vec3_negate(y)), support(&view, &pose, vec3_negate(z))));
        assert_true(vec3_distance(bounds.upper, upper) < 2e-5f);
        assert_true(vec3_distance(bounds.lower, lower) < 2e-5f);
    }
}
