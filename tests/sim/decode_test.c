// SPDX-License-Identifier: MIT
// A hostile encoding is refused with a reason and leaves the world unchanged, or it is accepted as
// another valid state with another hash, which steps without harm.

#include "tests/sim/world_kit.h"

#include <string.h>

#include "sim/state/world.h"

static cairn_world_def small_def(void) {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = 6;
    def.shape_capacity = 6;
    def.joint_capacity = 2;
    def.hull_capacity = 2;
    def.contact_capacity = 8;
    def.rules = &cairn_rules_sandbox;
    return def;
}

static cairn_world *small_victim(void) {
    const cairn_world_def def = small_def();
    return kit_world(&def);
}

// A tetrahedron apart from the rest. Its shape takes the slot of the destroyed sphere and belongs
// to the ground's body.
static void add_hull(cairn_world *world) {
    const cairn_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_hull_id gone = 0;
    cairn_shape_id id = 0;
    cairn_body_state ground;
    assert_true(cairn_world_bodies(world, &ground, 1) > 0);
    EXPECT_OK(cairn_hull_create(world, corners, 4, &gone));
    EXPECT_OK(cairn_hull_create(world, corners, 4, &shape.hull));
    EXPECT_OK(cairn_hull_destroy(world, gone));
    shape.kind = CAIRN_SHAPE_HULL;
    shape.pose.position = vec3(20.0f, 0.0f, 0.0f);
    EXPECT_OK(cairn_shape_create(world, ground.id, &shape, &id));
}

// Ground, two cubes in contact, a sphere above them on a distance joint, a hull, and a free slot of
// each kind except shapes.
static cairn_world *small_world(void) {
    cairn_world *world = small_victim();
    kit_ground(world);
    kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
    const cairn_body_id gone = kit_sphere(world, vec3(5.0f, 5.0f, 0.0f), 0.5f);
    cairn_joint_def joint = cairn_joint_def_default();
    joint.body_a = kit_cube(world, vec3(0.0f, 1.5f, 0.0f));
    joint.body_b = kit_sphere(world, vec3(0.0f, 2.5f, 0.0f), 0.25f);
    joint.kind = CAIRN_JOINT_DISTANCE;
    kit_joint(world, &joint);
    joint.body_b = gone;
    joint.length = 6.1f;
    kit_joint(world, &joint);
    kit_run(world, 20);
    EXPECT_OK(cairn_body_destroy(world, gone));
    add_hull(world);
    assert_int_equal(cairn_world_counts_read(world).joints, 1);
    kit_run(world, 20);
    assert_int_equal(world->state.settings->contact_count, 2);
    return world;
}

// Whether decode refuses the bytes. A refusal must leave the world unchanged.
static bool is_refused(cairn_world *world, const void *bytes, size_t size) {
    const cairn_hash128 before = kit_hash(world);
    const char *where = NULL;
    const cairn_status status = cairn_world_decode(world, bytes, size, &where);
    assert_non_null(where);
    if (status == CAIRN_OK) {
        return false;
    }
    assert_true(where[0] != '\0');
    assert_true(cairn_hash_equal(before, kit_hash(world)));
    return true;
}

TEST("each damaged byte is refused or changes the hash") {
    static const uint8_t flips[] = {0x01, 0x80, 0xff, 0x40};
    SCOPED(cairn_world) *world = small_world();
    SCOPED(cairn_world) *victim = small_victim();
    SCOPED(kit_bytes) encoded = kit_encode(world);
    uint8_t *bytes = encoded.bytes;
    const cairn_hash128 valid_hash = kit_hash(world);
    uint32_t refusals = 0;
    for (size_t i = 0; i < encoded.size; ++i) {
        const uint8_t original = bytes[i];
        for (size_t k = 0; k < sizeof flips; ++k) {
            bytes[i] = original ^ flips[k];
            if (is_refused(victim, bytes, encoded.size)) {
                ++refusals;
            } else {
                assert_false(cairn_hash_equal(valid_hash, kit_hash(victim)));
                kit_run(victim, 2);
            }
        }
        bytes[i] = original;
    }
    assert_true(refusals > 500);
}

TEST("an encoding that is cut short or too long is refused") {
    SCOPED(cairn_world) *world = small_world();
    SCOPED(cairn_world) *victim = small_victim();
    SCOPED(kit_bytes) encoded = kit_encode(world);
    uint8_t *longer = calloc(1, encoded.size + 1);
    assert_non_null(longer);
    memcpy(longer, encoded.bytes, encoded.size);
    for (size_t size = 0; size < encoded.size; ++size) {
        assert_true(is_refused(victim, encoded.bytes, size));
    }
    assert_true(is_refused(victim, longer, encoded.size + 1));
    assert_false(is_refused(victim, longer, encoded.size));
    free(longer);
}

static const char bodies[] = "bodies: pose, velocity, mass or sleep do not fit the kind";
static const char hulls[] = "hulls: the vertices are not those of a hull";
static const char shapes[] = "shapes: sizes, hull, mesh or body do not fit the kind";
static const char joints[] = "joints: a body does not exist";
static const char axes[] = "joints: axes or limits do not fit the kind";
static const char contacts[] = "contacts: order, shapes or points";

static void make_cone(cairn_state *s) {
    cairn_joint *joint = &s->joints[0];
    joint->kind = CAIRN_JOINT_CONE;
    joint->axis_a = joint->axis_b = vec3(1.0f, 0.0f, 0.0f);
    joint->normal_a = joint->normal_b = vec3(0.0f, 1.0f, 0.0f);
}

static void swap_contacts(cairn_state *s) {
    const cairn_contact first = s->contacts[0];
    s->contacts[0] = s->contacts[1];
    s->contacts[1] = first;
}

// Damages a new world as the statement says, in its state s; the victim must refuse the encoding
// and say where.
#define EXPECT_REFUSED(rule, where, ...)                                                           \
    do {                                                                                           \
        SCOPED(cairn_world) *world = small_world();                                                \
        cairn_state *s = &world->state;                                                            \
        __VA_ARGS__;                                                                               \
        expect_malformed(world, rule, where);                                                      \
    } while (0)

static void expect_malformed(const cairn_world *world, const char *rule, const char *wanted) {
    SCOPED(cairn_world) *victim = small_victim();
    SCOPED(kit_bytes) encoded = kit_encode(world);
    const char *where = NULL;
    if (cairn_world_decode(victim, encoded.bytes, encoded.size, &where) != CAIRN_MALFORMED) {
        fail_msg("%s: not refused", rule);
    }
    assert_string_equal(where, wanted);
}

TEST("a body or hull that breaks a rule is refused by the name of the rule") {
    EXPECT_REFUSED(
        "ids have no unknown bits", "ids: a slot has unknown bits", s->body_ids[0] |= 0x1000u);
    EXPECT_REFUSED("a rotation is unit", bodies, s->motions[1].rotation = (cairn_quat){.w = 0.5f});
    EXPECT_REFUSED("a static body does not move", bodies, s->motions[0].linear_velocity.x = 1.0f);
    EXPECT_REFUSED("a static body has no mass", bodies, s->bodies[0].mass = 1.0f);
    EXPECT_REFUSED("a static body does not sleep", bodies, s->sleep[0].state = CAIRN_SLEEP_ASLEEP);
    EXPECT_REFUSED("a sleeping body does not move", bodies, s->sleep[4].state = CAIRN_SLEEP_ASLEEP;
                   s->motions[4].linear_velocity.x = 1.0f);
    EXPECT_REFUSED("the ticks at rest saturate", bodies, s->sleep[1].ticks = 31);
    EXPECT_REFUSED("the ticks of staying saturate", bodies, s->sleep[1].stay = 31;
                   s->sleep[1].rotation = packed_rotation_pack(quat_identity(), CAIRN_PACKED_FINE));
    EXPECT_REFUSED("no ticks of staying, no pose", bodies, s->sleep[1].stay = 0;
                   s->sleep[1].rotation = packed_rotation_pack(quat_identity(), CAIRN_PACKED_FINE));
    EXPECT_REFUSED("ticks of staying have a pose", bodies, s->sleep[1].stay = 3;
                   memset(&s->sleep[1].rotation, 0, sizeof s->sleep[1].rotation));
    EXPECT_REFUSED("a hull has vertices", hulls, memset(&s->hulls[1], 0, sizeof s->hulls[1]));
    EXPECT_REFUSED("a hull's vertices are corners", hulls,
        s->hulls[1].vertices[s->hulls[1].count++] = vec3(0.1f, 0.1f, 0.1f));
    EXPECT_REFUSED("vertices beyond the count are zero", hulls,
        s->hulls[1].vertices[4] = vec3(0.0f, -1.0f, 0.0f));
    EXPECT_REFUSED("a hull is not flat", hulls, s->hulls[1].vertices[3].z = 0.0f);
}

TEST("a shape or joint that breaks a rule is refused by the name of the rule") {
    EXPECT_REFUSED("a shape's hull exists", shapes, s->shapes[2].geometry.hull = 1);
    EXPECT_REFUSED(
        "a shape's hull is of its generation", shapes, s->shapes[2].geometry.hull += 1u << 20);
    EXPECT_REFUSED(
        "a sphere has no hull", shapes, s->shapes[4].geometry.hull = s->shapes[2].geometry.hull);
    EXPECT_REFUSED("a shape's body exists", shapes, s->shapes[1].body = 2);
    EXPECT_REFUSED("a shape's body is in range", shapes, s->shapes[1].body = 5);
    EXPECT_REFUSED(
        "a half-space does not move", shapes, s->shapes[1].geometry.kind = CAIRN_SHAPE_HALF_SPACE);
    EXPECT_REFUSED("a sphere has a radius", shapes, s->shapes[4].geometry.radius = 0.0f);
    EXPECT_REFUSED("a joint's bodies exist", joints, s->joints[0].body_b = 3);
    EXPECT_REFUSED("a joint has two bodies", joints, s->joints[0].body_b = s->joints[0].body_a);
    EXPECT_REFUSED("distance joint with an axis", axes, s->joints[0].axis_a.x = 1.0f);
    EXPECT_REFUSED("hinge without axes", axes, s->joints[0].kind = CAIRN_JOINT_HINGE);
    EXPECT_REFUSED("cone with a long axis", axes, make_cone(s); s->joints[0].axis_b.x = 1.005f);
    EXPECT_REFUSED("cone with a leaning normal", axes, make_cone(s);
                   s->joints[0].normal_a.x = 0.01f);
    EXPECT_REFUSED("cone with reversed limits", axes, make_cone(s); s->joints[0].lower = 0.5f);
}

TEST("a contact or rules state that breaks a rule is refused by the name of the rule") {
    EXPECT_REFUSED("contacts are in order", contacts, swap_contacts(s));
    EXPECT_REFUSED("no contact comes twice", contacts, s->contacts[1] = s->contacts[0]);
    EXPECT_REFUSED(
        "a contact has two shapes", contacts, s->contacts[0].shape_b = s->contacts[0].shape_a);
    EXPECT_REFUSED(
        "a contact names the shape's body", contacts, s->contacts[0].body_b = s->joints[0].body_b);
    EXPECT_REFUSED("a contact has points", contacts,
                   memset(s->contacts[0].points, 0, sizeof s->contacts[0].points);
                   s->contacts[0].point_count = 0);
    EXPECT_REFUSED("points beyond the count are zero", contacts, s->contacts[0].point_count = 3);
    EXPECT_REFUSED("the rules' last block ends in zeros", "rules: words after the end",
        s->rules[s->settings->rules_state_size / sizeof *s->rules].words[15] = 1);
}

// Each count exceeds the capacity by one; the encoding has bytes for the element.
TEST("counts beyond capacity are refused") {
    static const size_t counts[] = {offsetof(cairn_settings, body_slots),
        offsetof(cairn_settings, shape_slots), offsetof(cairn_settings, joint_slots),
        offsetof(cairn_settings, hull_slots), offsetof(cairn_settings, contact_count)};
    SCOPED(cairn_world) *world = small_world();
    SCOPED(cairn_world) *victim = small_victim();
    const size_t size = cairn_world_encode_size(world);
    uint8_t *bytes = calloc(2, size);
    assert_non_null(bytes);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        assert_int_equal(cairn_world_encode(world, bytes, size), size);
        bytes[8 + counts[i]] = 9;
        assert_int_equal(cairn_world_decode(victim, bytes, 2 * size, NULL), CAIRN_CAPACITY);
    }
    free(bytes);
}

TEST("a value out of range is refused by the name of its field") {
    SCOPED(cairn_world) *victim = small_victim();
    SCOPED(cairn_world) *world = small_world();
    const char *where = NULL;
    static const struct {
        uint32_t bits;
        cairn_status status;
    } rows[] = {{0x7fc00000u, CAIRN_NON_FINITE}, {0x80000000u, CAIRN_MALFORMED}}; // NaN, -0
    for (size_t i = 0; i < 2; ++i) {
        world->state.motions[1].linear_velocity.y = float_of_bits(rows[i].bits);
        SCOPED(kit_bytes) encoded = kit_encode(world);
        const cairn_status status = cairn_world_decode(victim, encoded.bytes, encoded.size, &where);
        assert_int_equal(status, rows[i].status);
        assert_string_equal(where, "linear_velocity.y");
    }
}

// A step with such a body would fail an assertion: its shapes are too far apart to be collided.
TEST("a centre of mass that is too far from the body's origin is refused") {
    EXPECT_REFUSED("a centre beyond all shapes", "centre.z", s->bodies[1].centre.z = -4e31f);
}

TEST("a world with other settings or other rules refuses the encoding") {
    SCOPED(cairn_world) *world = small_world();
    SCOPED(kit_bytes) encoded = kit_encode(world);
    cairn_world_def def = small_def();
    def.slop = 0.001f;
    SCOPED(cairn_world) *other = kit_world(&def);
    assert_int_equal(cairn_world_decode(other, encoded.bytes, encoded.size, NULL), CAIRN_MALFORMED);
    def = small_def();
    def.rules = NULL;
    SCOPED(cairn_world) *without_rules = kit_world(&def);
    assert_int_equal(cairn_world_decode(without_rules, encoded.bytes, encoded.size, NULL),
        CAIRN_VERSION_MISMATCH);
}

TEST("an encoding contains the def that its world needs") {
    SCOPED(cairn_world) *world = small_world();
    SCOPED(kit_bytes) encoded = kit_encode(world);
    cairn_world_def def;
    char name[32];
    EXPECT_OK(cairn_world_def_of_encoding(encoded.bytes, encoded.size, &def, name));
    assert_string_equal(name, "sandbox");
    assert_null(def.rules);
    assert_int_equal(def.body_capacity, 6);
    def.rules = &cairn_rules_sandbox;
    SCOPED(cairn_world) *fresh = kit_world(&def);
    EXPECT_OK(cairn_world_decode(fresh, encoded.bytes, encoded.size, NULL));
    for (size_t size = 0; size < 100; ++size) {
        assert_int_not_equal(
            cairn_world_def_of_encoding(encoded.bytes, size, &def, name), CAIRN_OK);
    }
}
