// SPDX-License-Identifier: MIT
// Beams, planks and boards that lie across each other.
//
// Two long bodies touch in a small area, and their ends are far away from it. A lean of a
// milliradian puts the end of a plank of 4 m 2 mm lower, so a collision that judges a face by the
// lowest corner, wherever that is, takes a pair of edges instead: one point where four are needed,
// and another one in the next step. The bodies then tip, whirl, and sink into each other.
//
// There is no closed form. A stack at rest stays where it is, so the bounds are what Box3D
// (30c67b5, 60 Hz, 4 substeps) does with the same numbers: how far the last body sinks, how far any
// body moves sideways, and when all sleep. Friction is 0.5.

#include "tests/kit/test.h"

#include "base/random.h"
#include "tests/physics/stack_kit.h"

static const float quarter = 1.5707963f;

static float between(cairn_random *random, float size) {
    return size * (2.0f * cairn_random_unit(random) - 1.0f);
}

// Two beams a layer, crosswise from layer to layer, each resting on two below it, `overhang` from
// their ends.
static void build_cabin(pile *p, uint32_t layers, float length, float width, float height) {
    const float overhang = 0.2f;
    const float at = 0.5f * length - overhang;
    for (uint32_t i = 0; i < layers; ++i) {
        const float y = height * ((float)i + 0.5f);
        for (int side = -1; side <= 1; side += 2) {
            const float off = (float)side * at;
            const bool across = i % 2 == 1;
            pile_add(p, vec3(length, height, width),
                across ? vec3(off, y, 0.0f) : vec3(0.0f, y, off),
                pile_yaw(across ? quarter : 0.0f));
        }
    }
}

// Each plank is turned by `angle` on the one below; they touch only about their middles.
static void build_planks(pile *p, uint32_t count, cairn_vec3 size, float angle) {
    for (uint32_t i = 0; i < count; ++i) {
        pile_add(p, size, vec3(0.0f, size.y * ((float)i + 0.5f), 0.0f), pile_yaw(angle * (float)i));
    }
}

// A storey: four posts, two ledgers along x on them, five boards across these.
static void build_scaffold(pile *p, uint32_t storeys, float length, float depth, float storey) {
    const float thick = 0.05f;
    float y = 0.0f;
    for (uint32_t k = 0; k < storeys; ++k) {
        for (uint32_t i = 0; i < 4; ++i) {
            const float x = i % 2 == 0 ? -0.5f * length : 0.5f * length;
            const float z = i / 2 == 0 ? -0.5f * depth : 0.5f * depth;
            pile_add(p, vec3(0.1f, storey, 0.1f), vec3(x, y + 0.5f * storey, z), quat_identity());
        }
        y += storey;
        for (int side = -1; side <= 1; side += 2) {
            pile_add(p, vec3(length + 0.3f, thick, 0.2f),
                vec3(0.0f, y + 0.5f * thick, 0.5f * (float)side * depth), quat_identity());
        }
        y += thick;
        for (int i = -2; i <= 2; ++i) {
            pile_add(p, vec3(0.2f, thick, depth + 0.3f),
                vec3(0.25f * (float)i * length, y + 0.5f * thick, 0.0f), quat_identity());
        }
        y += thick;
    }
}

static void expect_cabin(uint32_t layers, float length, float width, pile_bounds bounds) {
    for (pile_kind kind = 0; kind < PILE_KINDS; ++kind) {
        SCOPED(pile) p = pile_create(kind);
        build_cabin(&p, layers, length, width, width);
        pile_expect(&p, "a log cabin", &bounds);
    }
}

TEST("log cabins of 10 and 20 layers stand") {
    expect_cabin(10, 2.6f, 0.1f, (pile_bounds){.sink = 0.0152f, .drift = 0.005f, .asleep = 2.0f});
    expect_cabin(10, 2.6f, 0.15f, (pile_bounds){.sink = 0.0152f, .drift = 0.004f, .asleep = 2.0f});
    expect_cabin(20, 2.6f, 0.1f, (pile_bounds){.sink = 0.0634f, .drift = 0.020f, .asleep = 6.0f});
    expect_cabin(20, 2.6f, 0.15f, (pile_bounds){.sink = 0.0633f, .drift = 0.023f, .asleep = 6.0f});
}

static void expect_planks(uint32_t count, cairn_vec3 size, float angle, pile_bounds bounds) {
    for (pile_kind kind = 0; kind < PILE_KINDS; ++kind) {
        SCOPED(pile) p = pile_create(kind);
        build_planks(&p, count, size, angle);
        pile_expect(&p, "planks", &bounds);
    }
}

TEST("crossed planks stand") {
    const cairn_vec3 plank = vec3(4.0f, 0.05f, 0.2f);
    const pile_bounds low = {.sink = 0.0153f, .drift = 0.001f, .asleep = 1.0f};
    const pile_bounds high = {.sink = 0.1023f, .drift = 0.003f, .asleep = 1.0f};
    expect_planks(8, plank, quarter, low);
    expect_planks(20, plank, quarter, high);
    expect_planks(20, plank, quarter / 1.5f, high);
    expect_planks(20, plank, quarter / 3.0f, high);
}

TEST("a scaffold of six storeys stands") {
    for (pile_kind kind = 0; kind < PILE_KINDS; ++kind) {
        SCOPED(pile) p = pile_create(kind);
        build_scaffold(&p, 6, 2.0f, 1.0f, 1.0f);
        const pile_bounds bounds = {.sink = 0.0585f, .drift = 0.011f, .asleep = 4.0f};
        pile_expect(&p, "a scaffold", &bounds);
    }
}

// Three planks a layer, crosswise; of layers inside the outer two are taken out here and there. In
// such a tower a plank may keep its place while each step leaves it with the same velocity. One of
// the sixty rocks on a neck of one plank by a centimetre, without end.
TEST("towers of planks with planks taken out stand and sleep") {
    const cairn_vec3 plank = vec3(0.75f, 0.086f, 0.25f);
    cairn_random random = cairn_random_of(21);
    uint32_t restless = 0;
    for (uint32_t tower = 0; tower < 60; ++tower) {
        SCOPED(pile) p = pile_create(PILE_OF_BOXES);
        const uint32_t layers = 12 + (uint32_t)cairn_random_below(&random, 7);
        p.friction = 0.6f;
        for (uint32_t i = 0; i < layers; ++i) {
            for (uint32_t k = 0; k < 3; ++k) {
                const bool out = cairn_random_below(&random, 3) == 0;
                if (out && i > 0 && i + 1 < layers && k != 1) {
                    continue;
                }
                const float off = 0.252f * ((float)k - 1.0f);
                const float y = plank.y * ((float)i + 0.5f);
                pile_add(&p, plank, i % 2 == 0 ? vec3(0.0f, y, off) : vec3(off, y, 0.0f),
                    pile_yaw(i % 2 == 0 ? 0.0f : quarter));
            }
        }
        restless += pile_run(&p, 10.0f) <= 10.0f ? 0 : 1;
        assert_true(pile_drift(&p) < 0.1f);
    }
    assert_true(restless <= 1);
}

// The wooden blocks of the game, as small as they are: the contacts of light bodies yield as far as
// those of heavy ones, unless their springs are stiffer (docs/PHYSICS.md, "Small bodies").
TEST("a tower of blocks of one and a half centimetres stands, with stiffer contacts as it was "
     "built") {
    static const struct {
        uint32_t substeps;
        float hertz, sink; // m
    } rows[] = {{4, 42.0f, 0.02f}, {8, 84.0f, 0.005f}, {16, 168.0f, 0.0013f}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        cairn_world_def def = cairn_world_def_default();
        def.hull_capacity = PILE_BODIES_MAX;
        def.substeps = rows[r].substeps;
        def.contact_hertz = rows[r].hertz;
        SCOPED(pile) p = pile_create_in(kit_world(&def), PILE_OF_BOXES);
        const cairn_vec3 block = {0.075f, 0.015f, 0.025f};
        for (uint32_t i = 0; i < 54; ++i) {
            const float y = block.y * ((float)(i / 3) + 0.5f);
            const float off = 1.001f * block.z * ((float)(i % 3) - 1.0f);
            const bool across = i / 3 % 2 == 1;
            pile_add(&p, block, vec3(across ? off : 0.0f, y, across ? 0.0f : off),
                pile_yaw(across ? quarter : 0.0f));
        }
        assert_true(pile_run(&p, 5.0f) <= 5.0f);
        assert_true(pile_sink(&p) < rows[r].sink && pile_drift(&p) < 0.006f);
    }
}

// In Box3D this one leans more and more and falls after 25 s.
TEST("a scaffold of six tall storeys stands") {
    for (pile_kind kind = 0; kind < PILE_KINDS; ++kind) {
        SCOPED(pile) p = pile_create(kind);
        build_scaffold(&p, 6, 2.4f, 1.2f, 1.8f);
        const pile_bounds bounds = {.sink = 0.0585f, .drift = 0.02f, .asleep = 6.0f};
        pile_expect(&p, "a tall scaffold", &bounds);
    }
}

// A heap is chaos: the same boards a millimetre apart make another one. In Box3D heaps of these
// boards sleep after 5 to 15 s.
TEST("a heap of 150 boards dropped crosswise comes to rest") {
    for (pile_kind kind = 0; kind < PILE_OF_BOTH; ++kind) {
        SCOPED(pile) p = pile_create(kind);
        cairn_random random = cairn_random_of(5);
        for (uint32_t i = 0; i < 150; ++i) {
            const float x = between(&random, 0.3f);
            const float z = between(&random, 0.3f);
            const float off = between(&random, 0.2f);
            pile_add(&p, vec3(1.2f, 0.04f, 0.15f), vec3(x, 0.3f + 0.1f * (float)i, z),
                pile_yaw((i % 2 == 1 ? quarter : 0.0f) + off));
        }
        assert_true(pile_run(&p, 25.0f) <= 25.0f);
    }
}

int main(void) {
    return test_run("physics.planks", NULL);
}
