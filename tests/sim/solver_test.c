// SPDX-License-Identifier: MIT
// What the solver must achieve, with the figures of its sources: the results of Catto 2005
// (section 9, table 1). Which pairs it solves: those that joints leave, however many a body has.

#include "tests/sim/world_kit.h"

#define BOXES_MAX 16

// Table 1 in SI: 200 x 200 x 100 units are 70 x 70 x 35 cm, 110 kg, 10 units are 3.5 cm; mu 0.2,
// beta dt 0.05, ten iterations, friction bounded by mu m_c g, neither sleep nor damping.
static cairn_world_def table_1(void) {
    cairn_world_def def = cairn_world_def_default();
    def.solver = CAIRN_SOLVER_PGS;
    def.friction_model = CAIRN_FRICTION_CONSTANT;
    def.gravity = vec3(0.0f, -9.8f, 0.0f);
    def.baumgarte = 0.05f;
    def.iterations = 10;
    def.sleep = 0;
    def.body_capacity = BOXES_MAX + 1;
    def.shape_capacity = BOXES_MAX + 1;
    def.contact_capacity = 64;
    return def;
}

#define BOX_HEIGHT 0.35f
#define BOX_DENSITY 641.0f
#define BOX_FRICTION 0.2f
#define INITIAL_SEPARATION 0.035f

typedef struct stack {
    cairn_world *world;
    uint32_t count;
    cairn_body_id boxes[BOXES_MAX];
} stack;

static void stack_end(stack *s) {
    cairn_world_destroy(s->world);
}

SCOPE_ENDS(stack, stack_end)

static stack stack_of(const cairn_world_def *def, uint32_t count, float bottom_density) {
    stack out = {.world = kit_world(def), .count = count};
    cairn_body_def ground = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    ground.kind = CAIRN_BODY_STATIC;
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    shape.friction = BOX_FRICTION;
    kit_body(out.world, &ground, &shape);
    shape.kind = CAIRN_SHAPE_BOX;
    shape.half_extents = vec3(0.35f, 0.175f, 0.35f);
    for (uint32_t i = 0; i < count; ++i) {
        const float y =
            0.5f * BOX_HEIGHT + INITIAL_SEPARATION + (float)i * (BOX_HEIGHT + INITIAL_SEPARATION);
        shape.density = i == 0 ? bottom_density : BOX_DENSITY;
        out.boxes[i] = kit_drop(out.world, vec3(0.0f, y, 0.0f), &shape);
    }
    return out;
}

static float drift_max(const stack *s) {
    float most = 0.0f;
    for (uint32_t i = 0; i < s->count; ++i) {
        const cairn_vec3 p = kit_read(s->world, s->boxes[i]).position;
        most = float_max(most, vec3_length(vec3(p.x, 0.0f, p.z)));
    }
    return most;
}

static bool is_standing(const stack *s) {
    const float top = kit_read(s->world, s->boxes[s->count - 1]).position.y;
    return top > ((float)s->count - 0.75f) * BOX_HEIGHT;
}

TEST("ten boxes with the cache come to rest") {
    const cairn_world_def def = table_1();
    SCOPED(stack) s = stack_of(&def, 10, BOX_DENSITY);
    kit_run(s.world, 600);
    assert_true(is_standing(&s));
    assert_true(drift_max(&s) < 0.02f);
    for (uint32_t i = 0; i < s.count; ++i) {
        const cairn_body_state box = kit_read(s.world, s.boxes[i]);
        assert_true(vec3_length(box.linear_velocity) < 0.02f);
        assert_true(vec3_length(box.angular_velocity) < 0.02f);
    }
}

// Ten fall at once. Three slide and turn on each other a little in every step and never stop.
TEST("stacks of ten and three boxes without the cache fall") {
    static const struct { uint32_t boxes, ticks; } rows[] = {{10, 600}, {3, 8400}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        cairn_world_def def = table_1();
        def.warm_start = 0;
        SCOPED(stack) s = stack_of(&def, rows[i].boxes, BOX_DENSITY);
        kit_run(s.world, rows[i].ticks);
        assert_false(is_standing(&s));
    }
}

TEST("three boxes with the cache never move") {
    const cairn_world_def def = table_1();
    SCOPED(stack) s = stack_of(&def, 3, BOX_DENSITY);
    kit_run(s.world, 1200);
    assert_true(is_standing(&s));
    assert_true(drift_max(&s) < 0.001f);
}

TEST("ten boxes with the defaults fall asleep") {
    SCOPED(stack) s = stack_of(NULL, 10, BOX_DENSITY);
    kit_run(s.world, 600);
    assert_true(is_standing(&s));
    assert_true(drift_max(&s) < 0.02f);
    assert_int_equal(cairn_world_counts_read(s.world).bodies_awake, 0);
}

// "The stack was stable until the density ratio was lowered to 3%"; at 1 % the top slides off.
TEST("a light box carries a heavy one down to three percent") {
    static const struct {
        float bottom; // density, as a fraction of the upper box's
        uint32_t warm_start;
        bool stable;
    } rows[] = {{1.00f, 1, true}, {0.10f, 1, true}, {0.05f, 1, true}, {0.03f, 1, true},
        {0.02f, 1, false}, {0.01f, 1, false}, {0.01f, 0, false}, {100.0f, 1, true},
        {100.0f, 0, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        cairn_world_def def = table_1();
        def.warm_start = rows[i].warm_start;
        SCOPED(stack) s = stack_of(&def, 2, rows[i].bottom * BOX_DENSITY);
        kit_run(s.world, 900);
        if (is_standing(&s) != rows[i].stable) {
            fail_msg("bottom density %g %s", (double)rows[i].bottom,
                rows[i].stable ? "falls" : "stands");
        }
    }
}

// Section 4.2 of Catto 2005: C(k dt) = (1 - dt beta)^k C(0); `baumgarte` is dt beta. Ten steps of a
// ball 0.1 m from where its joint wants it.
TEST("a gap shrinks by Baumgarte's fraction in each step") {
    static const float fractions[] = {0.1f, 0.2f, 0.5f, 1.0f};
    for (size_t i = 0; i < sizeof fractions / sizeof fractions[0]; ++i) {
        cairn_world_def def = cairn_world_def_default();
        def.solver = CAIRN_SOLVER_PGS;
        def.gravity = vec3_zero();
        def.baumgarte = fractions[i];
        SCOPED(cairn_world) *world = kit_world(&def);
        cairn_joint_def joint = cairn_joint_def_default();
        cairn_body_def hook = cairn_body_def_default();
        hook.kind = CAIRN_BODY_STATIC;
        joint.body_a = kit_body(world, &hook, NULL);
        joint.body_b = kit_sphere(world, vec3(0.1f, 0.0f, 0.0f), 0.1f);
        kit_joint(world, &joint);
        float expected = 0.1f;
        for (uint32_t step = 0; step < 10; ++step) {
            kit_run(world, 1);
            expected *= 1.0f - fractions[i];
            EXPECT_NEAR(kit_read(world, joint.body_b).position.x, expected, 2e-5f);
        }
    }
}

// Depth beyond the slop is removed, and the rest is left: a cube that starts 5 cm deep.
TEST("a contact at rest overlaps by the allowed slop") {
    static const float slops[] = {0.0f, 0.01f, 0.03f};
    for (size_t i = 0; i < sizeof slops / sizeof slops[0]; ++i) {
        cairn_world_def def = cairn_world_def_default();
        def.solver = CAIRN_SOLVER_PGS;
        def.slop = slops[i];
        SCOPED(cairn_world) *world = kit_world(&def);
        kit_ground(world);
        const cairn_body_id cube = kit_cube(world, vec3(0.0f, 0.45f, 0.0f));
        kit_run(world, 300);
        EXPECT_NEAR(kit_read(world, cube).position.y, 0.5f - slops[i], 0.001f);
    }
}

TEST("joined bodies collide only if the joint allows it") {
    for (uint32_t collide = 0; collide < 2; ++collide) {
        SCOPED(cairn_world) *world = kit_world(NULL);
        cairn_joint_def joint = cairn_joint_def_default();
        joint.body_a = kit_cube(world, vec3(0.0f, 0.0f, 0.0f));
        joint.body_b = kit_cube(world, vec3(0.5f, 0.0f, 0.0f));
        joint.anchor_a = vec3(0.5f, 0.0f, 0.0f);
        joint.collide_connected = collide;
        kit_joint(world, &joint);
        kit_run(world, 1);
        assert_int_equal(cairn_world_counts_read(world).contacts, collide);
    }
}

// Every body is joined to some others, in no order. Only pairs that are not joined may touch.
TEST("many joints keep exactly the joined pairs apart") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_body_id balls[12];
    uint32_t joined = 0;
    for (uint32_t i = 0; i < 12; ++i) {
        balls[i] = kit_sphere(world, vec3(0.01f * (float)i, 0.0f, 0.0f), 0.5f);
    }
    for (uint32_t k = 0; k < 144; ++k) {
        const uint32_t i = k * 89 % 144 / 12;
        const uint32_t j = k * 89 % 144 % 12;
        cairn_joint_def joint = cairn_joint_def_default();
        if (i > j && (i + 2 * j) % 3 == 0) {
            joint.body_a = balls[i];
            joint.body_b = balls[j];
            kit_joint(world, &joint);
            ++joined;
        }
    }
    kit_run(world, 1);
    assert_true(joined > 10);
    assert_int_equal(cairn_world_counts_read(world).contacts, 66 - joined);
}

// More neighbours than there are colours: the overflow batch solves the rest one by one.
TEST("a plate carries more bodies than there are colours") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    const cairn_vec3 plate = vec3(3.0f, 0.2f, 3.0f);
    kit_box(world, vec3(0.0f, 0.2f, 0.0f), plate, 1000.0f);
    for (uint32_t i = 0; i < 36; ++i) {
        const cairn_vec3 at = vec3((float)(i % 6) - 2.5f, 0.62f, (float)(i / 6) - 2.5f);
        kit_sphere(world, at, 0.2f);
    }
    kit_run(world, 240);
    assert_int_equal(cairn_world_counts_read(world).contacts, 37);
    assert_int_equal(cairn_world_counts_read(world).bodies_awake, 0);
}
