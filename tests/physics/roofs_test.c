// SPDX-License-Identifier: MIT
// Heavy roofs on frames, on slabs and on towers that widen upwards. The load of what is below is
// many times its weight, and reaches it through several bodies and contacts.

#include "tests/physics/mechanics_kit.h"

enum { BODIES_MAX = 96, TICKS = 600 };

typedef struct building {
    cairn_world *world;
    uint32_t count;
    cairn_body_id bodies[BODIES_MAX];
    cairn_vec3 starts[BODIES_MAX];
} building;

static void building_destroy(building *b) {
    cairn_world_destroy(b->world);
    b->world = NULL;
}
SCOPE_ENDS(building, building_destroy)

static building building_create(void) {
    const cairn_world_def def = cairn_world_def_default();
    building b = {.world = kit_world(&def)};
    kit_ground(b.world);
    return b;
}

static void add_shape(building *b, uint32_t kind, cairn_vec3 at, cairn_vec3 half, float density) {
    cairn_body_def body = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    body.position = at;
    shape.kind = kind;
    shape.half_extents = half;
    shape.radius = half.x;
    shape.half_height = half.y;
    shape.density = density;
    assert_true(b->count < BODIES_MAX);
    b->starts[b->count] = at;
    b->bodies[b->count] = kit_body(b->world, &body, &shape);
    b->count += 1;
}

static void add(building *b, cairn_vec3 at, cairn_vec3 half, float density) {
    add_shape(b, CAIRN_SHAPE_BOX, at, half, density);
}

// Nothing is farther than `bound`, m, from where it was built, and all sleep.
static void expect_standing(const building *b, float bound) {
    kit_run(b->world, TICKS);
    float farthest = 0.0f;
    for (uint32_t i = 0; i < b->count; ++i) {
        const cairn_vec3 now = kit_read(b->world, b->bodies[i]).position;
        farthest = float_max(farthest, vec3_length(vec3_sub(now, b->starts[i])));
    }
    EXPECT_MEASURED(farthest, 0.0f, bound);
    assert_int_equal(cairn_world_counts_read(b->world).bodies_awake, 0);
}

typedef struct frame {
    int storeys, bays;
    float column, height, span, lintel; // half widths and half heights, m, but for the whole span
    float loads[3];                     // half widths, m, of cubes over the lintels of the top
    float densities[3];                 // kg/m^3; columns and lintels have 1000
} frame;

// Box3D's frames stand in the first four as well.
TEST("frames of columns and lintels stand under heavy cubes") {
    static const frame frames[] = {
        {4, 2, 0.169f, 0.528f, 1.09f, 0.106f, {0.366f, 0.258f}, {6083.0f, 13220.0f}},
        {3, 3, 0.151f, 0.334f, 1.912f, 0.129f, {0.235f, 0.344f, 0.289f},
            {1173.0f, 9743.0f, 11785.0f}},
        {5, 3, 0.224f, 0.517f, 1.11f, 0.099f, {0.256f, 0.345f, 0.38f},
            {2717.0f, 15766.0f, 6069.0f}},
        {2, 1, 0.15f, 0.5f, 1.5f, 0.1f, {0.3f}, {3000.0f}},
        {3, 2, 0.15f, 0.5f, 1.5f, 0.1f, {0.3f, 0.3f}, {3e4f, 1e5f}},
        {2, 3, 0.2f, 0.6f, 1.4f, 0.15f, {0.3f, 0.4f, 0.2f}, {1e5f, 1e4f, 1e6f}},
    };
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; ++i) {
        const frame *f = &frames[i];
        SCOPED(building) b = building_create();
        float y = 0.0f;
        for (int storey = 0; storey < f->storeys; ++storey) {
            for (int k = 0; k <= f->bays; ++k) {
                add(&b, vec3((float)k * f->span, y + f->height, 0.0f),
                    vec3(f->column, f->height, f->column), 1000.0f);
            }
            y += 2.0f * f->height;
            for (int k = 0; k < f->bays; ++k) {
                add(&b, vec3(((float)k + 0.5f) * f->span, y + f->lintel, 0.0f),
                    vec3(0.495f * f->span, f->lintel, f->column), 1000.0f);
            }
            y += 2.0f * f->lintel;
        }
        for (int k = 0; k < f->bays; ++k) {
            const float half = f->loads[k];
            add(&b, vec3(((float)k + 0.5f) * f->span, y + half, 0.0f), vec3(half, half, half),
                f->densities[k]);
        }
        expect_standing(&b, 0.1f);
    }
}

// Each cube bears a twenty-fifth of the load, the plate between the layers all of it.
TEST("a plate carries a hundred and sixty times its mass, on cubes and by cubes") {
    SCOPED(building) b = building_create();
    static const float densities[3] = {4160.0f, 416.0f, 68000.0f};
    const float half = 0.227f;
    float y = 0.0f;
    for (int layer = 0; layer < 3; ++layer) {
        for (int i = 0; i < 25; ++i) {
            add(&b,
                vec3(2.5f * half * (float)(i / 5 - 2), y + half, 2.5f * half * (float)(i % 5 - 2)),
                vec3(half, half, half), 1000.0f);
        }
        y += 2.0f * half;
        add(&b, vec3(0.0f, y + 0.1f, 0.0f), vec3(6.25f * half, 0.1f, 6.25f * half),
            densities[layer]);
        y += 0.2f;
    }
    expect_standing(&b, 0.02f);
}

// Layers of posts with thin plates between: a plate bears on as many posts as stand on it, none of
// which is much heavier than the plate is.
TEST("pallets in layers stand") {
    static const float radii[] = {0.15f, 0.25f, 0.4f};
    static const float heights[] = {0.2f, 0.35f, 0.6f};
    for (int i = 0; i < 36; ++i) {
        const float radius = radii[i % 3];
        const float height = heights[i / 3 % 3];
        const int side = i / 9 % 2 == 0 ? 3 : 4;
        const bool drums = i / 18 != 0;
        SCOPED(building) b = building_create();
        float y = 0.0f;
        for (int layer = 0; layer < 4; ++layer) {
            for (int k = 0; k < side * side; ++k) {
                const float x = ((float)(k / side) - 0.5f * (float)(side - 1)) * 2.05f * radius;
                const float z = ((float)(k % side) - 0.5f * (float)(side - 1)) * 2.05f * radius;
                add_shape(&b, drums ? CAIRN_SHAPE_CYLINDER : CAIRN_SHAPE_BOX,
                    vec3(x, y + height, z), vec3(radius, height, radius), 1000.0f);
            }
            y += 2.0f * height;
            const float width = 1.1f * (float)side * radius;
            add(&b, vec3(0.0f, y + 0.03f, 0.0f), vec3(width, 0.03f, width), 600.0f);
            y += 0.06f;
        }
        expect_standing(&b, 0.02f);
    }
}

// None is five times heavier than what it stands on, and the lowest carries 490 times its weight.
TEST("a tower of cubes that grow by seven tenths stands on the smallest") {
    SCOPED(building) b = building_create();
    float half = 0.2f;
    float y = 0.0f;
    for (int i = 0; i < 5; ++i) {
        add(&b, vec3(0.0f, y + half, 0.0f), vec3(half, half, half), 1000.0f);
        y += 2.0f * half;
        half *= 1.7f;
    }
    expect_standing(&b, 0.02f);
}

// A ball of 1000 kg flies at 125 cubes of 1 kg in zero gravity. Returns which fraction of the
// momentum is left after 2 s.
static float momentum_left(float speed, float distance) {
    cairn_world_def def = cairn_world_def_default();
    def.gravity = vec3_zero();
    SCOPED(cairn_world) *world = kit_world(&def);
    cairn_body_id cubes[125];
    for (int i = 0; i < 125; ++i) {
        cubes[i] = kit_box(world,
            vec3_scale(vec3((float)(i / 25), (float)(i / 5 % 5), (float)(i % 5)), distance),
            vec3(0.25f, 0.25f, 0.25f), 8.0f);
    }
    cairn_body_def body = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    body.position = vec3(-3.0f, 1.05f, 1.12f);
    body.linear_velocity = vec3(speed, 0.0f, 0.0f);
    shape.kind = CAIRN_SHAPE_SPHERE;
    shape.radius = 0.5f;
    shape.density = 1000.0f / (4.0f / 3.0f * 3.14159265f * 0.125f);
    const cairn_body_id ball = kit_body(world, &body, &shape);
    kit_run(world, 120);
    float momentum = 1000.0f * kit_read(world, ball).linear_velocity.x;
    for (int i = 0; i < 125; ++i) {
        momentum += kit_read(world, cubes[i]).linear_velocity.x;
    }
    assert_true(kit_read(world, ball).linear_velocity.x < 0.99f * speed); // it met them
    return momentum / (1000.0f * speed);
}

// An impulse that accelerates a body is not a load on it. The cubes take the momentum that the ball
// loses, whether they touch each other at first or not.
TEST("momentum stays when a ball of a thousand times their mass drives cubes before it") {
    static const float speeds[] = {2.0f, 8.0f, 32.0f};
    for (int i = 0; i < 3; ++i) {
        const float touching = momentum_left(speeds[i], 0.5f);
        const float apart = momentum_left(speeds[i], 0.51f);
        EXPECT_MEASURED(touching, 1.0f, 0.01f);
        EXPECT_MEASURED(apart, 1.0f, 0.01f);
    }
}
