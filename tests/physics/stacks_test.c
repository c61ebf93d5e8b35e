// SPDX-License-Identifier: MIT
// Piles that a mason or a child builds: towers, pyramids, arches, houses of cards, dominoes.
//
// Statics says whether such a pile stands. An arch of stones without mortar stands if a line of
// thrust fits inside it (Heyman 1966): for a half circle that needs a thickness of 0.1075 of its
// mean radius. Two cards that lean against each other at an angle a from the vertical need friction
// of at least tan(a) / 2 at their feet. Where nothing can slide or tip, the pile stays where it is;
// the other bounds are what Box3D (30c67b5, 60 Hz, 4 substeps) does with the same numbers.

#include "tests/kit/test.h"

#include "tests/physics/stack_kit.h"

static const float pi = 3.14159265f;

TEST("a tower of twenty flat boxes stands") {
    for (pile_kind kind = 0; kind < PILE_KINDS; ++kind) {
        SCOPED(pile) p = pile_create(kind);
        for (uint32_t i = 0; i < 20; ++i) {
            const float y = 0.15f * (2.0f * (float)i + 1.0f);
            pile_add(&p, vec3(0.6f, 0.3f, 0.6f), vec3(0, y, 0), quat_identity());
        }
        const pile_bounds bounds = {.sink = 0.154f, .drift = 0.027f, .asleep = 2.0f};
        pile_expect(&p, "a tower", &bounds);
    }
}

TEST("a pyramid with a base of twelve stands") {
    for (pile_kind kind = 0; kind < PILE_KINDS; ++kind) {
        SCOPED(pile) p = pile_create(kind);
        for (uint32_t row = 0; row < 12; ++row) {
            const uint32_t count = 12 - row;
            for (uint32_t i = 0; i < count; ++i) {
                const float x = 0.505f * ((float)i - 0.5f * (float)(count - 1));
                pile_add(&p, vec3(0.5f, 0.5f, 0.5f), vec3(x, 0.25f + 0.5f * (float)row, 0),
                    quat_identity());
            }
        }
        const pile_bounds bounds = {.sink = 0.01f, .drift = 0.004f, .asleep = 2.0f};
        pile_expect(&p, "a pyramid", &bounds);
    }
}

// Ten columns of twenty boxes, so far apart that none strikes another. Their boxes are turned by up
// to 3 degrees and fall onto each other, the last one with 17 m/s.
static void build_columns(pile *p, uint32_t trial) {
    for (uint32_t i = 0; i < 200; ++i) {
        const uint32_t k = 200 * trial + i;
        const cairn_quat rotation = {.x = 0.01f * ((float)(7 * k % 11) - 5.0f),
            .y = 0.006f * ((float)(13 * k % 17) - 8.0f),
            .z = 0.008f * ((float)(5 * k % 13) - 6.0f),
            .w = 1.0f};
        const float column = (float)(i % 10);
        const float side = i % 2 == 0 ? -18.0f : 18.0f;
        const float y = 1.0f + 1.5f * (float)(i / 10);
        pile_add(p, vec3(1.0f, 0.8f, 0.6f), vec3(9.0f * (column - 4.5f), y, side), rotation);
    }
}

// Of forty columns one may fall: one in a hundred does, and three of Box3D's.
TEST("columns that land stand for ten seconds") {
    uint32_t fallen = 0;
    for (uint32_t trial = 0; trial < 4; ++trial) {
        SCOPED(pile) p = pile_create(PILE_OF_BOXES);
        build_columns(&p, trial);
        (void)pile_run(&p, 10.0f);
        for (uint32_t i = 190; i < 200; ++i) {
            fallen += kit_read(p.world, p.bodies[i]).position.y < 15.0f ? 1 : 0;
        }
    }
    if (fallen > 1) {
        fail_msg("%u of 40 columns have fallen", fallen);
    }
}

// A half circle of wedges, standing on its two ends.
static void build_arch(pile *p, uint32_t count, float radius, float thickness) {
    const float half_angle = 0.5f * pi / (float)count;
    const float inner = (radius - 0.5f * thickness) * tanf(half_angle);
    const float outer = (radius + 0.5f * thickness) * tanf(half_angle);
    cairn_vec3 corners[8];
    for (uint32_t i = 0; i < 8; ++i) {
        const bool out = (i & 1) != 0;
        const float side = out ? outer : inner;
        corners[i] = vec3(out ? 0.5f * thickness : -0.5f * thickness, (i & 2) != 0 ? side : -side,
            (i & 4) != 0 ? 0.25f : -0.25f);
    }
    const cairn_shape_def stone = pile_hull(p->world, corners);
    p->friction = 1.0f;
    for (uint32_t i = 0; i < count; ++i) {
        const float angle = pi * ((float)i + 0.5f) / (float)count;
        pile_add_shape(p, stone, vec3(radius * cosf(angle), radius * sinf(angle), 0.0f),
            pile_turn(vec3(0, 0, 1), angle));
    }
}

static float arch_height(const pile *p) {
    return kit_read(p->world, p->bodies[p->count / 2]).position.y;
}

TEST("an arch stands if its thrust stays inside, and falls if not") {
    SCOPED(pile) thick = pile_create(PILE_OF_HULLS);
    build_arch(&thick, 15, 2.0f, 0.3f);
    assert_true(pile_run(&thick, 5.0f) <= 5.0f);
    assert_true(arch_height(&thick) > 1.95f);
    SCOPED(pile) thin = pile_create(PILE_OF_HULLS);
    build_arch(&thin, 15, 2.0f, 0.14f);
    (void)pile_run(&thin, 5.0f);
    assert_true(arch_height(&thin) < 1.0f);
}

// Pairs of cards that lean against each other, a lying card between each two pairs, and the next
// level on these.
static void build_cards(pile *p, uint32_t levels, float lean) {
    const float length = 1.0f;
    const float thick = 0.02f;
    const float width = 0.6f;
    const float step = 2.0f * (length * sinf(lean) + thick / cosf(lean));
    const float height = length * cosf(lean) + thick * sinf(lean);
    float y = 0.0f;
    for (uint32_t level = 0; level < levels; ++level) {
        const uint32_t pairs = levels - level;
        const float first = -0.5f * step * (float)(pairs - 1);
        for (uint32_t i = 0; i < pairs; ++i) {
            for (int side = -1; side <= 1; side += 2) {
                const float off = 0.5f * (length * sinf(lean) + thick * cosf(lean));
                pile_add(p, vec3(thick, length, width),
                    vec3(first + step * (float)i + (float)side * off, y + 0.5f * height, 0.0f),
                    pile_turn(vec3(0, 0, 1), (float)side * lean));
            }
        }
        y += height;
        for (uint32_t i = 0; i + 1 < pairs; ++i) {
            pile_add(p, vec3(step - 0.006f, thick, width),
                vec3(first + step * ((float)i + 0.5f), y + 0.5f * thick, 0.0f), quat_identity());
        }
        y += pairs > 1 ? thick : 0.0f;
    }
}

TEST("a house of cards stands") {
    for (pile_kind kind = 0; kind < PILE_KINDS; ++kind) {
        SCOPED(pile) p = pile_create(kind);
        p.friction = 0.7f;
        build_cards(&p, 3, 15.0f * pi / 180.0f);
        const pile_bounds bounds = {.sink = 0.013f, .drift = 0.008f, .asleep = 2.0f};
        pile_expect(&p, "a house of 3 levels", &bounds);
    }
    for (pile_kind kind = 0; kind < PILE_KINDS; ++kind) {
        SCOPED(pile) p = pile_create(kind);
        p.friction = 0.7f;
        build_cards(&p, 5, 20.0f * pi / 180.0f);
        const pile_bounds bounds = {.sink = 0.037f, .drift = 0.034f, .asleep = 2.0f};
        pile_expect(&p, "a house of 5 levels", &bounds);
    }
}

// tan(20 degrees) / 2 is 0.18. At the top, where two parallel edges meet, the contact normal is
// that of a card's face, so friction of at least tan(20 degrees) = 0.36 is needed there, which a
// real edge does not need.
TEST("two cards slide apart if friction at their feet is below half the tangent of their lean") {
    const float lean = 20.0f * pi / 180.0f;
    SCOPED(pile) holds = pile_create(PILE_OF_BOXES);
    holds.friction = 0.42f;
    build_cards(&holds, 1, lean);
    const pile_bounds bounds = {.sink = 0.01f, .drift = 0.01f, .asleep = 3.0f};
    pile_expect(&holds, "two cards", &bounds);
    SCOPED(pile) slides = pile_create(PILE_OF_BOXES);
    slides.friction = 0.15f;
    build_cards(&slides, 1, lean);
    (void)pile_run(&slides, 3.0f);
    assert_true(pile_sink(&slides) > 0.3f);
}

// The first one leans; each falls on the next.
TEST("a row of dominoes falls, each onto the next") {
    for (pile_kind kind = 0; kind < PILE_KINDS; ++kind) {
        SCOPED(pile) p = pile_create(kind);
        for (uint32_t i = 0; i < 30; ++i) {
            const float lean = i == 0 ? -0.25f : 0.0f;
            pile_add(&p, vec3(0.12f, 1.0f, 0.5f), vec3(0.5f * (float)i, 0.5f, 0.0f),
                pile_turn(vec3(0, 0, 1), lean));
        }
        assert_true(pile_run(&p, 20.0f) <= 20.0f);
        for (uint32_t i = 0; i < p.count; ++i) {
            assert_true(kit_read(p.world, p.bodies[i]).position.y < 0.4f);
        }
    }
}

int main(void) {
    return test_run("physics.stacks", NULL);
}
