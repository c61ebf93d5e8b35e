// SPDX-License-Identifier: MIT
// The hash and the diff as components: every word of every element counts, errors that cancel out
// in weaker hashes do not, and a difference is named down to the field.

#include "tests/sim/world_kit.h"

#include <string.h>

#include "base/random.h"
#include "sim/state/fields.h"
#include "sim/state/hash_cache.h"
#include "sim/state/world.h"

// Two cubes that slept, joined, on the ground, a hull, a height field, with rules. In the last step
// one was woken and a third cube met the ground: every array has something.
static cairn_world *full_world(void) {
    cairn_world_def def = cairn_world_def_default();
    def.rules = &cairn_rules_sandbox;
    cairn_world *world = kit_world(&def);
    cairn_joint_def joint = cairn_joint_def_default();
    const cairn_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    cairn_hull_id hull = 0;
    EXPECT_OK(cairn_hull_create(world, corners, 4, &hull));
    static const float heights[64] = {[63] = 1.0f};
    const cairn_height_field_def field = {
        .heights = heights, .columns = 8, .rows = 8, .spacing_x = 1.0f, .spacing_z = 1.0f};
    cairn_mesh_id mesh = 0;
    EXPECT_OK(cairn_height_field_create(world, &field, &mesh));
    const cairn_body_id ground = kit_ground(world);
    joint.body_a = kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
    joint.body_b = kit_cube(world, vec3(2.0f, 0.5f, 0.0f));
    joint.anchor_a = vec3(1.0f, 0.0f, 0.0f);
    joint.anchor_b = vec3(-1.0f, 0.0f, 0.0f);
    kit_joint(world, &joint);
    kit_run(world, 120);
    kit_cube(world, vec3(5.0f, 0.5f, 0.0f));
    EXPECT_OK(cairn_body_set_velocity(world, joint.body_a, vec3(0.0f, 1.0f, 0.0f), vec3_zero()));
    joint.body_a = ground;
    joint.body_b = kit_cube(world, vec3(2.0f, 9.0f, 0.0f));
    joint.anchor_a = vec3(1.0f, 9.0f, 0.0f);
    joint.breakable = 1;
    joint.break_force = 1.0f;
    kit_joint(world, &joint); // breaks in the last step
    joint.breakable = 0;
    joint.kind = CAIRN_JOINT_WELD;
    kit_joint(world, &joint);
    kit_run(world, 1);
    return world;
}

// These tests write into the block without marking it dirty, so no leaf may be cached.
static cairn_hash128 fresh_hash(const cairn_world *world) {
    return cairn_world_hash_fresh(world).full;
}

static void toggle_bits(
    cairn_world *world, cairn_array array, size_t index, size_t word, uint32_t bits) {
    unsigned char *bytes = cairn_state_array(&world->state, array);
    bytes += index * cairn_array_element_size(array) + word * sizeof(uint32_t);
    uint32_t value = 0;
    memcpy(&value, bytes, sizeof value);
    value ^= bits;
    memcpy(bytes, &value, sizeof value);
}

static void check_word(
    cairn_world *world, const cairn_world *twin, cairn_array array, uint32_t index, uint32_t word) {
    const cairn_field_table *table = cairn_field_table_of(array);
    const cairn_world_hash before = cairn_world_hash_fresh(twin);
    cairn_difference found[2];
    toggle_bits(world, array, index, word, 1);
    const cairn_world_hash after = cairn_world_hash_fresh(world);
    assert_false(cairn_hash_equal(before.full, after.full));
    for (cairn_section section = 0; section < CAIRN_SECTION_COUNT; ++section) {
        const bool equal = cairn_hash_equal(before.sections[section], after.sections[section]);
        assert_int_equal(equal, section != table->section);
    }
    assert_int_equal(cairn_world_diff(twin, world, found, 2), 1);
    assert_int_equal(found[0].section, table->section);
    assert_int_equal(found[0].element, index);
    assert_string_equal(found[0].field, table->fields[word].name);
    assert_int_equal(found[0].bits_a ^ found[0].bits_b, 1);
    toggle_bits(world, array, index, word, 1);
}

TEST("a difference of one word is found in its section and by its name") {
    SCOPED(cairn_world) *world = full_world();
    SCOPED(cairn_world) *twin = full_world();
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const cairn_field_table *table = cairn_field_table_of(array);
        const uint32_t count = cairn_array_count(world->state.settings, array);
        if (count == 0) {
            fail_msg("array %d is empty", (int)array);
        }
        for (uint32_t word = 0; word < table->word_count; ++word) {
            // The tests of ids change the counts of slots.
            if (array != CAIRN_ARRAY_SETTINGS || word * 4 < offsetof(cairn_settings, body_slots)) {
                check_word(world, twin, array, count - 1, word);
            }
        }
    }
    assert_true(cairn_hash_equal(fresh_hash(world), fresh_hash(twin)));
}

TEST("each table names its words in order") {
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const cairn_field_table *table = cairn_field_table_of(array);
        assert_true(table->word_count <= CAIRN_ELEMENT_WORDS_MAX);
        for (uint32_t word = 0; word < table->word_count; ++word) {
            assert_int_equal(table->fields[word].offset, word * sizeof(uint32_t));
            assert_true(table->fields[word].name[0] != '\0');
        }
    }
}

// Changes two bodies so that weaker hashes would not notice it.
static void perturb(cairn_motion *a, cairn_motion *b, uint32_t kind, float amount) {
    const cairn_vec3 velocity = a->linear_velocity;
    switch (kind) {
    case 0: // velocities swapped
        a->linear_velocity = b->linear_velocity;
        b->linear_velocity = velocity;
        break;
    case 1: // signs mirrored
        a->linear_velocity.x = 0.0f - a->linear_velocity.x;
        b->linear_velocity.x = 0.0f - b->linear_velocity.x;
        break;
    case 2: // equal errors
        a->position.x += amount;
        b->position.x += amount;
        break;
    case 3: // opposite errors
        a->position.x += amount;
        b->position.x -= amount;
        break;
    default: // components swapped
        a->linear_velocity.x = velocity.y;
        a->linear_velocity.y = velocity.x;
        break;
    }
}

TEST("structured errors change both halves of the hash") {
    SCOPED(cairn_world) *world = full_world();
    cairn_random random = cairn_random_of(5);
    cairn_motion *a = &world->state.motions[1];
    cairn_motion *b = &world->state.motions[2];
    for (uint32_t round = 0; round < 1000; ++round) {
        a->linear_velocity = vec3(1.0f + cairn_random_unit(&random), 0.25f, 0.5f);
        b->linear_velocity = vec3(2.0f + cairn_random_unit(&random), 0.25f, 0.5f);
        const cairn_motion kept[2] = {*a, *b};
        const cairn_hash128 before = fresh_hash(world);
        perturb(a, b, round % 5, 0.5f + cairn_random_unit(&random));
        const cairn_hash128 after = fresh_hash(world);
        assert_int_not_equal(before.lo, after.lo);
        assert_int_not_equal(before.hi, after.hi);
        *a = kept[0];
        *b = kept[1];
        assert_true(cairn_hash_equal(before, fresh_hash(world)));
    }
}

TEST("equal bodies in other slots hash differently") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id a = 0;
    cairn_body_id b = 0;
    EXPECT_OK(cairn_body_create(world, &def, &a));
    EXPECT_OK(cairn_body_create(world, &def, &b));
    const cairn_vec3 velocity = vec3(1.0f, 0.0f, 0.0f);
    EXPECT_OK(cairn_body_set_velocity(world, a, velocity, vec3_zero()));
    const cairn_world_hash first = cairn_world_hash_fresh(world);
    EXPECT_OK(cairn_body_set_velocity(world, a, vec3_zero(), vec3_zero()));
    EXPECT_OK(cairn_body_set_velocity(world, b, velocity, vec3_zero()));
    const cairn_world_hash second = cairn_world_hash_fresh(world);
    assert_false(cairn_hash_equal(first.full, second.full));
    assert_false(cairn_hash_equal(first.visible, second.visible));
}

TEST("the visible root covers only poses and velocities") {
    SCOPED(cairn_world) *world = full_world();
    const cairn_world_hash before = cairn_world_hash_fresh(world);
    world->state.contacts[0].points[0].normal_impulse += 1.0f;
    world->state.bodies[1].force.x = 1.0f;
    cairn_world_hash after = cairn_world_hash_fresh(world);
    assert_true(cairn_hash_equal(before.visible, after.visible));
    assert_false(cairn_hash_equal(before.full, after.full));
    world->state.motions[1].rotation.x += 0.25f;
    after = cairn_world_hash_fresh(world);
    assert_false(cairn_hash_equal(before.visible, after.visible));
}

TEST("a body that only one world has is named") {
    SCOPED(cairn_world) *with = full_world();
    SCOPED(cairn_world) *without = full_world();
    cairn_difference found[64];
    kit_sphere(with, vec3(0.0f, 9.0f, 0.0f), 0.5f);
    const uint32_t count = cairn_world_diff(with, without, found, 64);
    assert_true(count > 3 && count <= 64);
    assert_int_equal(found[0].section, CAIRN_SECTION_SETTINGS);
    assert_string_equal(found[0].field, "body_slots");
    assert_int_equal(found[count - 1].section, CAIRN_SECTION_IDS);
    for (uint32_t i = 1; i < count; ++i) {
        assert_true(found[i - 1].section <= found[i].section);
    }
}

TEST("every section has a name") {
    assert_string_equal(cairn_section_name(CAIRN_SECTION_CONTACTS), "contacts");
    assert_string_equal(cairn_section_name(CAIRN_SECTION_COUNT), "unknown");
}
