// SPDX-License-Identifier: MIT
// The dynamics of trees of links, against Lagrange's equations (articulation_numbers.py), against
// closed forms, and against each other.

#include <string.h>

#include "sim/articulation/tree.h"
#include "tests/sim/geometry_kit.h"

enum { LINKS_MAX = 12, DOFS_MAX = 36 };

typedef struct figure {
    cairn_tree_link links[LINKS_MAX];
    cairn_tree_dof dofs[DOFS_MAX];
    cairn_tree tree;
} figure;

static void begin(figure *f) {
    memset(f, 0, sizeof *f);
    f->tree = (cairn_tree){.links = f->links, .dofs = f->dofs};
}

static void add_link(
    figure *f, uint32_t parent, float mass, cairn_vec3 centre, cairn_sym3 inertia) {
    f->links[f->tree.link_count++] = (cairn_tree_link){.parent = parent,
        .first_dof = f->tree.dof_count,
        .inertia = spatial_inertia(mass, centre, inertia)};
}

static void add_axis(figure *f, cairn_vec3 axis, cairn_vec3 anchor, bool slides, float armature) {
    f->dofs[f->tree.dof_count++] = (cairn_tree_dof){.armature = armature,
        .axis = slides ? spatial(vec3_zero(), axis) : spatial(axis, vec3_cross(anchor, axis))};
    f->links[f->tree.link_count - 1].dof_count += 1;
}

static void add_spherical(figure *f, cairn_vec3 anchor) {
    add_axis(f, vec3(1, 0, 0), anchor, false, 0.0f);
    add_axis(f, vec3(0, 1, 0), anchor, false, 0.0f);
    add_axis(f, vec3(0, 0, 1), anchor, false, 0.0f);
}

static void add_free(figure *f, cairn_vec3 centre) {
    add_spherical(f, centre);
    add_axis(f, vec3(1, 0, 0), centre, true, 0.0f);
    add_axis(f, vec3(0, 1, 0), centre, true, 0.0f);
    add_axis(f, vec3(0, 0, 1), centre, true, 0.0f);
}

// The links of articulation_numbers.py.
static void build_numbers(figure *f) {
    begin(f);
    add_link(f, CAIRN_INDEX_NONE, 2.0f, vec3(0.3f, 0.1f, 0.0f), sym3_diagonal(0.02f, 0.05f, 0.06f));
    add_axis(f, vec3(0, 0, 1), vec3_zero(), false, 0.0f);
    add_link(f, 0, 1.5f, vec3(0.8f, 0.2f, 0.3f), sym3_diagonal(0.03f, 0.02f, 0.04f));
    add_axis(f, vec3(0, 1, 0), vec3(0.6f, 0.2f, 0.0f), false, 0.1f);
    add_link(f, 0, 0.5f, vec3(0.7f, 0.5f, -0.2f), sym3_diagonal(0.01f, 0.02f, 0.01f));
    add_axis(f, vec3(0.6f, 0.8f, 0.0f), vec3_zero(), true, 0.2f);
    add_link(f, 1, 1.0f, vec3(0.9f, 0.0f, 0.7f), sym3_diagonal(0.02f, 0.01f, 0.015f));
    add_axis(f, vec3(1, 0, 0), vec3(0.9f, 0.2f, 0.5f), false, 0.0f);
}

static void gravity_of(const figure *f, float g, cairn_spatial *out) {
    for (uint32_t i = 0; i < f->tree.link_count; ++i) {
        const cairn_spatial_inertia *inertia = &f->links[i].inertia;
        const cairn_vec3 force = vec3(0.0f, 0.0f - g * inertia->mass, 0.0f);
        out[i] =
            spatial(vec3_scale(vec3_cross(inertia->moment, force), 1.0f / inertia->mass), force);
    }
}

// A tree whose first link is free, with random places, masses and axes.
static void build_random(figure *f, cairn_random *random) {
    begin(f);
    for (uint32_t i = 0; i < LINKS_MAX; ++i) {
        const cairn_vec3 at = random_vec3(random, 1.0f);
        const cairn_vec3 thick = vec3_abs(random_vec3(random, 0.1f));
        const cairn_mat3 turn = mat3_of_quat(random_quat(random));
        const float mass = random_between(random, 0.1f, 5.0f);
        const cairn_sym3 inertia =
            sym3_rotate(sym3_diagonal(0.02f + thick.x, 0.02f + thick.y, 0.02f + thick.x), turn);
        const uint32_t parent = i == 0 ? CAIRN_INDEX_NONE : (uint32_t)cairn_random_below(random, i);
        add_link(f, parent, mass, at, inertia);
        const cairn_vec3 axis = vec3_normalize(random_vec3(random, 1.0f), vec3(1, 0, 0));
        if (i == 0) {
            add_free(f, at);
        } else if (i % 4 == 1) {
            add_spherical(f, random_vec3(random, 1.0f));
        } else {
            add_axis(f, axis, random_vec3(random, 1.0f), i % 4 == 2, 0.05f);
        }
    }
}

TEST("mass matrix and forces are those of Lagrange's equations") {
    static const float matrix[4][4] = {{2.52500f, -0.09000f, 0.13000f, -0.18000f},
        {-0.09000f, 0.90500f, 0.00000f, 0.06000f}, {0.13000f, 0.00000f, 0.70000f, 0.00000f},
        {-0.18000f, 0.06000f, 0.00000f, 0.10000f}};
    static const float speeds[4] = {1.0f, -2.0f, 0.5f, 3.0f};
    static const float accelerations[4] = {0.5f, 1.0f, -2.0f, 4.0f};
    static const float forces[4] = {28.5730f, 3.2150f, 2.1790f, -0.4420f};
    figure f;
    build_numbers(&f);
    float mass[16];
    cairn_tree_mass_matrix(&f.tree, mass);
    for (uint32_t i = 0; i < 16; ++i) {
        EXPECT_NEAR(mass[i], matrix[i / 4][i % 4], 1e-5f);
    }
    cairn_spatial weight[LINKS_MAX];
    float out[4];
    gravity_of(&f, 9.81f, weight);
    cairn_tree_set_velocities(&f.tree, speeds);
    cairn_tree_set_bias(&f.tree, weight, false);
    cairn_tree_inverse_dynamics(&f.tree, accelerations, out);
    for (uint32_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(out[i], forces[i], 2e-4f);
    }
}

TEST("forward dynamics undoes inverse dynamics") {
    cairn_random random = cairn_random_of(1);
    for (uint32_t round = 0; round < 50; ++round) {
        figure f;
        build_random(&f, &random);
        float speeds[DOFS_MAX];
        float wanted[DOFS_MAX];
        float forces[DOFS_MAX];
        float out[DOFS_MAX];
        for (uint32_t i = 0; i < f.tree.dof_count; ++i) {
            speeds[i] = random_between(&random, -2.0f, 2.0f);
            wanted[i] = random_between(&random, -10.0f, 10.0f);
        }
        cairn_spatial weight[LINKS_MAX];
        gravity_of(&f, 9.81f, weight);
        cairn_tree_set_velocities(&f.tree, speeds);
        cairn_tree_set_bias(&f.tree, weight, true);
        cairn_tree_inverse_dynamics(&f.tree, wanted, forces);
        cairn_tree_factor(&f.tree);
        cairn_tree_forward_dynamics(&f.tree, forces, out);
        for (uint32_t i = 0; i < f.tree.dof_count; ++i) {
            EXPECT_NEAR(out[i], wanted[i], 2e-2f);
        }
    }
}

TEST("the columns of the mass matrix are inverse dynamics at rest") {
    cairn_random random = cairn_random_of(2);
    figure f;
    build_random(&f, &random);
    const uint32_t n = f.tree.dof_count;
    float mass[DOFS_MAX * DOFS_MAX];
    float none[DOFS_MAX] = {0};
    cairn_tree_mass_matrix(&f.tree, mass);
    cairn_tree_set_velocities(&f.tree, none);
    cairn_tree_set_bias(&f.tree, NULL, true);
    for (uint32_t k = 0; k < n; ++k) {
        float one[DOFS_MAX] = {0};
        float column[DOFS_MAX];
        one[k] = 1.0f;
        cairn_tree_inverse_dynamics(&f.tree, one, column);
        for (uint32_t i = 0; i < n; ++i) {
            EXPECT_NEAR(column[i], mass[i * n + k], 1e-4f);
        }
    }
}

TEST("a locked axis keeps its speed, and its reaction is the force that does so") {
    cairn_random random = cairn_random_of(3);
    for (uint32_t round = 0; round < 20; ++round) {
        figure f;
        build_random(&f, &random);
        float forces[DOFS_MAX];
        float out[DOFS_MAX];
        float again[DOFS_MAX];
        for (uint32_t i = 0; i < f.tree.dof_count; ++i) {
            forces[i] = random_between(&random, -5.0f, 5.0f);
            f.dofs[i].locked = i >= 6 && i % 3 == 0 ? 1 : 0;
            f.dofs[i].value = i % 2 == 0 ? 0.5f : -1.0f;
        }
        const float none[DOFS_MAX] = {0};
        cairn_tree_set_velocities(&f.tree, none);
        cairn_tree_set_bias(&f.tree, NULL, true);
        cairn_tree_factor(&f.tree);
        cairn_tree_forward_dynamics(&f.tree, forces, out);
        for (uint32_t i = 0; i < f.tree.dof_count; ++i) {
            forces[i] += f.dofs[i].locked != 0 ? f.dofs[i].reaction : 0.0f;
            f.dofs[i].locked = 0;
        }
        cairn_tree_factor(&f.tree);
        cairn_tree_forward_dynamics(&f.tree, forces, again);
        for (uint32_t i = 0; i < f.tree.dof_count; ++i) {
            EXPECT_NEAR(again[i], out[i], 2e-3f);
        }
    }
}

TEST("a double pendulum accelerates as its equations say") {
    // Two point masses of 1 kg on rods of 1 m, at 0 and 90 degrees from the vertical, at rest:
    // a1 = (m2 g sin(t2) cos(t1 - t2) - (m1 + m2) g sin t1) / (m1 + m2 sin^2(t1 - t2)) = 0 here,
    // and a2 = -g.
    const float g = 9.81f;
    figure f;
    begin(&f);
    const cairn_sym3 none = sym3_zero();
    add_link(&f, CAIRN_INDEX_NONE, 1.0f, vec3(0, -1, 0), none);
    add_axis(&f, vec3(0, 0, 1), vec3_zero(), false, 0.0f);
    add_link(&f, 0, 1.0f, vec3(1, -1, 0), none);
    add_axis(&f, vec3(0, 0, 1), vec3(0, -1, 0), false, 0.0f);
    const float speeds[2] = {2.0f, -2.0f}; // the second rod does not turn in the world
    const float forces[2] = {0};
    float out[2];
    cairn_spatial weight[2];
    gravity_of(&f, g, weight);
    cairn_tree_set_velocities(&f.tree, speeds);
    cairn_tree_set_bias(&f.tree, weight, false);
    cairn_tree_factor(&f.tree);
    cairn_tree_forward_dynamics(&f.tree, forces, out);
    // With w1 = 2, w2 = 0: (m1 + m2) a1 + m2 (w2^2 sin - ...) gives a1 = 0, and for the second rod
    // a2 = -g + a1 ... - w1^2 sin(t2 - t1) = -g - 4.
    EXPECT_NEAR(out[0], 0.0f, 1e-4f);
    EXPECT_NEAR(out[0] + out[1], 0.0f - g - 4.0f, 1e-4f);
}

TEST("a cart with a pole accelerates as its equations say") {
    // Cart 2 kg, point mass 0.5 kg on a rod of 0.8 m that leans by asin(0.6), turning at 3 rad/s.
    const float g = 9.81f;
    figure f;
    begin(&f);
    add_link(&f, CAIRN_INDEX_NONE, 2.0f, vec3_zero(), sym3_diagonal(1, 1, 1));
    add_axis(&f, vec3(1, 0, 0), vec3_zero(), true, 0.0f);
    add_link(&f, 0, 0.5f, vec3(0.48f, 0.64f, 0.0f), sym3_zero());
    add_axis(&f, vec3(0, 0, -1), vec3_zero(), false, 0.0f);
    const float speeds[2] = {1.0f, 3.0f};
    const float forces[2] = {7.0f, 0.0f};
    float out[2];
    cairn_spatial weight[2];
    gravity_of(&f, g, weight);
    cairn_tree_set_velocities(&f.tree, speeds);
    cairn_tree_set_bias(&f.tree, weight, false);
    cairn_tree_factor(&f.tree);
    cairn_tree_forward_dynamics(&f.tree, forces, out);
    // Barto, Sutton and Anderson 1983, for a point mass: the inertia about the hinge is m l^2.
    const float sine = 0.6f;
    const float cosine = 0.8f;
    const float pull = (7.0f + 0.5f * 0.8f * 9.0f * sine) / 2.5f;
    const float turn = (g * sine - cosine * pull) / (0.8f * (1.0f - 0.5f * cosine * cosine / 2.5f));
    EXPECT_NEAR(out[1], turn, 1e-4f);
    EXPECT_NEAR(out[0], pull - 0.5f * 0.8f * turn * cosine / 2.5f, 1e-4f);
}

TEST("a link without inertia along its axis does not move, and nothing is infinite") {
    figure f;
    begin(&f);
    add_link(&f, CAIRN_INDEX_NONE, 0.0f, vec3_zero(), sym3_zero());
    add_axis(&f, vec3(0, 0, 1), vec3_zero(), false, 0.0f);
    const float forces[1] = {1.0f};
    float out[1];
    cairn_tree_set_bias(&f.tree, NULL, false);
    cairn_tree_factor(&f.tree);
    cairn_tree_forward_dynamics(&f.tree, forces, out);
    assert_true(out[0] == 0.0f);
}
