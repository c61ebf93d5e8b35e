// SPDX-License-Identifier: MIT
// A world that is saved and restored between any two ticks continues as if nothing had happened.
// Each test runs every golden scene and some seeds of random sandbox play against an undisturbed
// twin.

#include "tests/sim/world_kit.h"

#include <stdio.h>
#include <string.h>

#include "sim/debug/poison.h"
#include "sim/state/world.h"
#include "tests/sim/golden_scenes.h"

// What happens to the world before each tick.
typedef cairn_world *interference(const golden_scene *scene, cairn_world *world);

static void run_against_twin(const golden_scene *scene, interference *interfere) {
    SCOPED(cairn_world) *twin = golden_world_at(scene, 0);
    SCOPED(cairn_world) *world = golden_world_at(scene, 0);
    for (uint32_t tick = 0; tick < scene->ticks; ++tick) {
        world = interfere(scene, world);
        golden_step(scene, twin);
        golden_step(scene, world);
        if (!kit_equal(twin, world)) {
            cairn_difference first = {.field = "none"};
            const uint32_t count = cairn_world_diff(twin, world, &first, 1);
            fail_msg("%s, tick %u: %u words differ, first %s %u %s: %08x %08x", scene->name, tick,
                count, cairn_section_name(first.section), first.element, first.field, first.bits_a,
                first.bits_b);
        }
    }
}

#define RANDOM_SEEDS 4
static uint64_t random_seed;

static uint32_t command_random(uint64_t tick, cairn_command *commands) {
    return golden_random_commands(random_seed, tick, commands);
}

static void define_random(cairn_world_def *def) {
    def->rules = &cairn_rules_sandbox;
    def->body_capacity = 40;
    def->shape_capacity = 40;
}

static void run_all(interference *interfere) {
    for (uint32_t i = 0; i < golden_scene_count; ++i) {
        if (test_is_in_share(i)) {
            run_against_twin(&golden_scenes[i], interfere);
        }
    }
    for (random_seed = 100; random_seed < 100 + RANDOM_SEEDS; ++random_seed) {
        char name[64];
        (void)snprintf(name, sizeof name, "random sandbox seed %u", (unsigned)random_seed);
        const golden_scene scene = {.name = name,
            .ticks = 120,
            .define = define_random,
            .build = golden_scene_named("sandbox")->build,
            .command = command_random};
        run_against_twin(&scene, interfere);
    }
}

static cairn_world *load_into_fresh(const golden_scene *scene, cairn_world *world) {
    cairn_world *fresh = golden_create(scene);
    SCOPED(kit_bytes) saved = kit_save(world);
    EXPECT_OK(cairn_world_load(fresh, saved.bytes, saved.size));
    cairn_world_destroy(world);
    return fresh;
}

TEST("a save and load into a fresh world at every tick changes nothing") {
    run_all(load_into_fresh);
}

static cairn_world *decode_into_fresh(const golden_scene *scene, cairn_world *world) {
    cairn_world *fresh = golden_create(scene);
    SCOPED(kit_bytes) encoded = kit_encode(world);
    const char *where = NULL;
    if (cairn_world_decode(fresh, encoded.bytes, encoded.size, &where) != CAIRN_OK) {
        fail_msg("%s: %s", scene->name, where);
    }
    assert_true(kit_equal(world, fresh));
    assert_int_equal(cairn_world_diff(world, fresh, NULL, 0), 0);
    cairn_world_destroy(world);
    return fresh;
}

TEST("an encode and decode into a fresh world at every tick changes nothing") {
    run_all(decode_into_fresh);
}

static cairn_world *roll_back(const golden_scene *scene, cairn_world *world) {
    SCOPED(kit_bytes) saved = kit_save(world);
    for (int i = 0; i < 3; ++i) {
        golden_step(scene, world);
    }
    EXPECT_OK(cairn_world_load(world, saved.bytes, saved.size));
    return world;
}

TEST("a rollback of three ticks at every tick changes nothing") {
    run_all(roll_back);
}

static cairn_world *poison_memory(const golden_scene *scene, cairn_world *world) {
    static const unsigned char bytes[] = {0x00, 0xaa, 0xff};
    (void)scene;
    cairn_world_poison(world, bytes[cairn_world_tick(world) % 3]);
    return world;
}

TEST("poisoned memory outside the state changes nothing") {
    run_all(poison_memory);
}

TEST("a load refuses the save of a world with other settings") {
    cairn_world_def def = cairn_world_def_default();
    SCOPED(cairn_world) *world = kit_world(&def);
    def.iterations += 1;
    SCOPED(cairn_world) *other = kit_world(&def);
    kit_ground(world);
    const cairn_hash128 before = kit_hash(world);
    SCOPED(kit_bytes) theirs = kit_save(other);
    SCOPED(kit_bytes) ours = kit_save(world);
    assert_int_equal(cairn_world_load(world, theirs.bytes, theirs.size), CAIRN_MALFORMED);
    assert_int_equal(cairn_world_load(world, ours.bytes, ours.size - 1), CAIRN_MALFORMED);
    assert_int_equal(cairn_world_load(world, ours.bytes, 0), CAIRN_MALFORMED);
    memset(ours.bytes, 0, 4);
    assert_int_equal(cairn_world_load(world, ours.bytes, ours.size), CAIRN_MALFORMED);
    assert_true(cairn_hash_equal(before, kit_hash(world)));
}

TEST("a save into too few bytes writes nothing") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    char bytes[64];
    kit_ground(world);
    assert_true(cairn_world_save_size(world) <= cairn_world_save_size_max(world));
    assert_int_equal(cairn_world_save(world, bytes, sizeof bytes), 0);
    assert_int_equal(cairn_world_encode(world, bytes, sizeof bytes), 0);
}
