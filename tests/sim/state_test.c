// SPDX-License-Identifier: MIT
// A world that is saved and restored between any two ticks goes on as if nothing had happened. Each
// rule runs every golden scene and some seeds of random sandbox play against an undisturbed twin.

#include "tests/sim/world_kit.h"

#include <stdio.h>
#include <string.h>

#include "sim/debug/poison.h"
#include "sim/state/world.h"
#include "tests/sim/golden_scenes.h"

// What happens to the world before each tick.
typedef cairn_world *meddler(const golden_scene *scene, cairn_world *world);

static void print_difference(const cairn_world *a, const cairn_world *b) {
    cairn_difference first;
    const uint32_t count = cairn_world_diff(a, b, &first, 1);
    if (count > 0) {
        print_message("%u words differ, first %s %u %s: %08x %08x\n", (unsigned)count,
            cairn_section_name(first.section), (unsigned)first.element, first.field,
            (unsigned)first.bits_a, (unsigned)first.bits_b);
    }
}

static void run_against_twin(const golden_scene *scene, meddler *meddle) {
    SCOPED(cairn_world) *twin = golden_create(scene);
    SCOPED(cairn_world) *world = golden_create(scene);
    assert_non_null(twin);
    assert_non_null(world);
    scene->build(twin);
    scene->build(world);
    for (uint32_t tick = 0; tick < scene->ticks; ++tick) {
        world = meddle(scene, world);
        golden_step(scene, twin);
        golden_step(scene, world);
        if (!cairn_hash_equal(kit_hash(twin), kit_hash(world))) {
            print_message("%s, tick %u: ", scene->name, (unsigned)tick);
            print_difference(twin, world);
            fail();
        }
    }
}

#define RANDOM_SEEDS 4
static uint64_t random_seed;

static uint32_t command_random(uint64_t tick, cairn_command *commands) {
    return golden_random_commands(random_seed, tick, commands);
}

static void build_random(cairn_world *world) {
    kit_ground(world, 0.5f);
}

static void define_random(cairn_world_def *def) {
    def->rules = &cairn_rules_sandbox;
    def->body_capacity = 40;
    def->shape_capacity = 40;
}

static void run_all(meddler *meddle) {
    for (uint32_t i = 0; i < golden_scene_count; ++i) {
        run_against_twin(&golden_scenes[i], meddle);
    }
    for (random_seed = 100; random_seed < 100 + RANDOM_SEEDS; ++random_seed) {
        char name[64];
        (void)snprintf(name, sizeof name, "random sandbox seed %u", (unsigned)random_seed);
        const golden_scene scene = {.name = name,
            .ticks = 120,
            .define = define_random,
            .build = build_random,
            .command = command_random};
        run_against_twin(&scene, meddle);
    }
}

static cairn_world *into_a_fresh_world(const golden_scene *scene, cairn_world *world) {
    cairn_world *fresh = golden_create(scene);
    kit_bytes saved = kit_save(world);
    assert_int_equal(cairn_world_load(fresh, saved.bytes, saved.size), CAIRN_OK);
    kit_free(&saved);
    cairn_world_destroy(world);
    return fresh;
}

TEST("save and load into a fresh world at every tick") {
    run_all(into_a_fresh_world);
}

static cairn_world *through_the_encoding(const golden_scene *scene, cairn_world *world) {
    cairn_world *fresh = golden_create(scene);
    kit_bytes encoded = kit_encode(world);
    const char *where = NULL;
    const cairn_status status = cairn_world_decode(fresh, encoded.bytes, encoded.size, &where);
    if (status != CAIRN_OK) {
        print_message("%s: %s\n", scene->name, where);
    }
    assert_int_equal(status, CAIRN_OK);
    assert_true(cairn_hash_equal(kit_hash(world), kit_hash(fresh)));
    assert_int_equal(cairn_world_diff(world, fresh, NULL, 0), 0);
    kit_free(&encoded);
    cairn_world_destroy(world);
    return fresh;
}

TEST("encode and decode into a fresh world at every tick") {
    run_all(through_the_encoding);
}

// Runs ahead over whatever the next ticks spawn and destroy, and rolls back.
static cairn_world *ahead_and_back(const golden_scene *scene, cairn_world *world) {
    kit_bytes saved = kit_save(world);
    golden_step(scene, world);
    golden_step(scene, world);
    golden_step(scene, world);
    assert_int_equal(cairn_world_load(world, saved.bytes, saved.size), CAIRN_OK);
    kit_free(&saved);
    return world;
}

TEST("roll back three ticks at every tick") {
    run_all(ahead_and_back);
}

static cairn_world *with_poisoned_memory(const golden_scene *scene, cairn_world *world) {
    static const unsigned char bytes[] = {0x00, 0xaa, 0xff};
    (void)scene;
    cairn_world_poison(world, bytes[cairn_world_tick(world) % 3]);
    return world;
}

TEST("memory that is not live state does not matter") {
    run_all(with_poisoned_memory);
}

TEST("load refuses what another world saved") {
    cairn_world_def def = cairn_world_def_default();
    SCOPED(cairn_world) *world = kit_world(&def);
    def.iterations += 1;
    SCOPED(cairn_world) *other = kit_world(&def);
    kit_ground(world, 0.5f);
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

TEST("save reports the size it needs") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    char bytes[64];
    kit_ground(world, 0.5f);
    assert_true(cairn_world_save_size(world) <= cairn_world_save_size_max(world));
    assert_int_equal(cairn_world_save(world, bytes, sizeof bytes), 0);
    assert_int_equal(cairn_world_encode(world, bytes, sizeof bytes), 0);
}
