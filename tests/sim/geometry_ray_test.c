// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "tests/sim/geometry_kit.h"

typedef struct ray_case {
    const char *rule;
    cairn_geometry geometry;
    cairn_vec3 origin;
    cairn_vec3 translation;
    bool met;
    float fraction;
    cairn_vec3 normal;
} ray_case;

// All shapes are at the origin and not rotated.
TEST("rays hit shapes as the table says") {
    const cairn_geometry ball = sphere(1);
    const cairn_geometry pill = capsule(1, 2);
    const cairn_geometry crate = box(1, 2, 3);
    const cairn_geometry ground = half_space();
    const cairn_vec3 none = vec3_zero();
    const float half = 0.70710678f;
    const ray_case cases[] = {
        {"sphere head on", ball, {-3, 0, 0}, {4, 0, 0}, true, 0.5f, {-1, 0, 0}},
        {"sphere not reached", ball, {-3, 0, 0}, {1.9f, 0, 0}, false, 0, none},
        {"sphere reached exactly", ball, {-3, 0, 0}, {2, 0, 0}, true, 1, {-1, 0, 0}},
        {"sphere behind", ball, {-3, 0, 0}, {-4, 0, 0}, false, 0, none},
        {"sphere missed", ball, {-3, 1.01f, 0}, {6, 0, 0}, false, 0, none},
        {"sphere from inside", ball, {0.5f, 0, 0}, {0, 0, 2}, true, 0, {0, 0, -1}},
        {"sphere from its surface", ball, {1, 0, 0}, {-1, 0, 0}, true, 0, {1, 0, 0}},
        {"sphere from inside without length", ball, {0, 0, 0}, {0, 0, 0}, true, 0, {0, 1, 0}},
        {"sphere from outside without length", ball, {3, 0, 0}, {0, 0, 0}, false, 0, none},
        {"capsule's side", pill, {-3, 1, 0}, {4, 0, 0}, true, 0.5f, {-1, 0, 0}},
        {"capsule's top", pill, {0, 5, 0}, {0, -4, 0}, true, 0.5f, {0, 1, 0}},
        {"capsule's bottom", pill, {0, -5, 0}, {0, 4, 0}, true, 0.5f, {0, -1, 0}},
        {"capsule's shoulder", pill, {2 * half, 2 + 2 * half, 0}, {-2 * half, -2 * half, 0}, true,
            0.5f, {half, half, 0}},
        {"capsule's end missed", pill, {-3, 2.8f, 0.8f}, {6, 0, 0}, false, 0, none},
        {"capsule passed along its axis", pill, {1.01f, -5, 0}, {0, 10, 0}, false, 0, none},
        {"capsule from inside", pill, {0, 1.5f, 0.5f}, {0, 3, 0}, true, 0, {0, -1, 0}},
        {"box's face", crate, {-3, 1, 2}, {4, 0, 0}, true, 0.5f, {-1, 0, 0}},
        {"box's top", crate, {0.5f, 4, 0}, {0, -4, 0}, true, 0.5f, {0, 1, 0}},
        {"box missed beside", crate, {-3, 2.01f, 0}, {6, 0, 0}, false, 0, none},
        {"box missed past a corner", crate, {-2, 2, 0}, {1.1f, 1.1f, 0}, false, 0, none},
        {"box not reached", crate, {-3, 0, 0}, {1.9f, 0, 0}, false, 0, none},
        {"box behind", crate, {-3, 0, 0}, {-1, 0, 0}, false, 0, none},
        {"box from inside", crate, {0.9f, 0, 0}, {0, 1, 0}, true, 0, {0, -1, 0}},
        {"box slanting", crate, {-2, 3, 0}, {2, -2, 0}, true, 0.5f, {-1, 0, 0}},
        {"ground from above", ground, {5, 1, 0}, {0, -4, 0}, true, 0.25f, {0, 1, 0}},
        {"ground not reached", ground, {5, 1, 0}, {0, -0.9f, 0}, false, 0, none},
        {"ground along it", ground, {5, 1, 0}, {9, 0, 0}, false, 0, none},
        {"ground from within", ground, {5, -1, 0}, {0, 3, 0}, true, 0, {0, -1, 0}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        const ray_case *c = &cases[i];
        const cairn_pose pose = at(0, 0, 0);
        float fraction = -1.0f;
        cairn_vec3 normal = vec3_zero();
        const bool met =
            ray_hits(&c->geometry, &pose, c->origin, c->translation, &fraction, &normal);
        if (met != c->met) {
            fail_msg("%s: %s", c->rule, met ? "met" : "missed");
        }
        if (met && (float_abs(fraction - c->fraction) > 1e-6f ||
                       vec3_distance(normal, c->normal) > 1e-5f)) {
            fail_msg("%s: fraction %.7g, normal %.7g %.7g %.7g", c->rule, (double)fraction,
                (double)normal.x, (double)normal.y, (double)normal.z);
        }
    }
}

// Steps along the ray; the hit must be between the first step inside and the one before.
static float step_along_ray(const cairn_geometry *geometry, const cairn_pose *pose,
    cairn_vec3 origin, cairn_vec3 translation, uint32_t steps) {
    for (uint32_t i = 0; i <= steps; ++i) {
        const float fraction = (float)i / (float)steps;
        if (contains(geometry, pose, vec3_add_scaled(origin, translation, fraction), 0.0f)) {
            return fraction;
        }
    }
    return 2.0f;
}

TEST("ray casts agree with stepping along the ray") {
    enum { STEPS = 400 };
    uint32_t met_count = 0;
    for (uint32_t seed = 1; seed <= 2000; ++seed) {
        cairn_random random = cairn_random_of(seed);
        const cairn_geometry geometry = random_geometry(&random, 1 + seed % 4);
        const cairn_pose pose = random_pose(&random, 1.0f);
        const cairn_vec3 origin = random_vec3(&random, 3.0f);
        const cairn_vec3 translation =
            vec3_sub(vec3_scale(random_vec3(&random, 1.5f), 2.0f), vec3_scale(origin, 1.5f));
        const float walked = step_along_ray(&geometry, &pose, origin, translation, STEPS);
        float fraction = 2.0f;
        cairn_vec3 normal = vec3_zero();
        const bool met = ray_hits(&geometry, &pose, origin, translation, &fraction, &normal);
        met_count += met;
        // A grazing hit may be between two steps, so only hits of the walk must be found.
        const bool found = walked > 1.0f || (met && fraction <= walked + 1e-4f);
        const bool before = !met || fraction >= walked - 1.0f / STEPS - 1e-4f || walked > 1.0f;
        if (!found || !before) {
            fail_msg("seed %u: fraction %.7g, walked %.7g", seed, (double)fraction, (double)walked);
        }
        if (met) {
            const cairn_vec3 point = vec3_add_scaled(origin, translation, fraction);
            assert_true(contains(&geometry, &pose, point, 1e-4f));
            assert_true(float_abs(vec3_length(normal) - 1.0f) < 1e-5f);
            assert_true(vec3_dot(normal, translation) <= 1e-5f);
            const cairn_vec3 outside = vec3_add_scaled(point, normal, 2e-3f);
            assert_true(fraction == 0.0f || !contains(&geometry, &pose, outside, 0.0f));
        }
    }
    assert_in_range(met_count, 500, 1500);
}

TEST("a long ray hits a small distant sphere exactly") {
    const cairn_geometry ball = sphere(0.5f);
    const cairn_pose pose = at(10000, 0, 0);
    float fraction = 0.0f;
    cairn_vec3 normal = vec3_zero();
    assert_true(ray_hits(&ball, &pose, vec3(0, 0, 0), vec3(20000, 0, 0), &fraction, &normal));
    assert_true(float_abs(fraction * 20000.0f - 9999.5f) < 0.01f);
    assert_false(ray_hits(&ball, &pose, vec3(0, 0.51f, 0), vec3(20000, 0, 0), &fraction, &normal));
}
