// SPDX-License-Identifier: MIT
// Every state that a history gives back is the one that a whole copy holds, byte for byte, in all
// golden scenes, whatever was restored, loaded or changed in between; and it costs what changed.

#include "tests/sim/world_kit.h"

#include <string.h>

#include <cairn/history.h>

#include "base/random.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "tests/sim/golden_scenes.h"

enum { HELD = 12, TICKS = 40, WHOLE = 256 };

SCOPE_POINTER_ENDS(cairn_history, cairn_history_destroy)

static cairn_history *new_history(cairn_world *world, uint32_t ticks, size_t bytes) {
    cairn_history *history = NULL;
    EXPECT_OK(cairn_history_create(world, ticks, bytes, &history));
    return history;
}

// A history, a second one that saves each third tick, and whole copies by tick.
typedef struct play {
    const golden_scene *scene;
    cairn_world *world;
    cairn_world *other;
    cairn_history *history;
    cairn_history *seldom;
    kit_bytes whole[WHOLE];
    kit_bytes whole_seldom[WHOLE];
    cairn_random random;
    uint32_t restored;
} play;

static void start(play *p, const golden_scene *scene, uint64_t seed) {
    *p = (play){.scene = scene,
        .world = golden_world_at(scene, 0),
        .other = golden_world_at(scene, 0),
        .random = cairn_random_of(seed)};
    p->history = new_history(p->world, HELD, 0);
    p->seldom = new_history(p->world, HELD, 0);
}

static void end(play *p) {
    cairn_world_destroy(p->other);
    cairn_history_destroy(p->history);
    cairn_world_destroy(p->world); // before the second history
    cairn_history_destroy(p->seldom);
    for (uint32_t i = 0; i < WHOLE; ++i) {
        kit_free(&p->whole[i]);
        kit_free(&p->whole_seldom[i]);
    }
}

static void keep_whole(play *p, kit_bytes *whole) {
    kit_bytes *at = &whole[cairn_world_tick(p->world) % WHOLE];
    kit_free(at);
    *at = kit_save(p->world);
}

static void expect_whole(const play *p, const cairn_world *world, const kit_bytes *whole) {
    const uint64_t tick = cairn_world_tick(world);
    const kit_bytes *wanted = &whole[tick % WHOLE];
    kit_bytes found = kit_save(world);
    if (found.size != wanted->size || memcmp(found.bytes, wanted->bytes, found.size) != 0) {
        fail_msg("%s: the state of tick %u differs", p->scene->name, (unsigned)tick);
    }
    kit_free(&found);
    const cairn_world_hash fresh = cairn_world_hash_fresh(world);
    assert_true(cairn_hash_cache_valid(world->hash_cache, &world->state));
    assert_true(cairn_hash_equal(cairn_world_hash_read(world).full, fresh.full));
}

static uint64_t random_held(play *p, const cairn_history *history) {
    uint64_t tick;
    const cairn_history_statistics held = cairn_history_statistics_read(history);
    assert_true(held.ticks > 0);
    do {
        tick = held.oldest + cairn_random_below(&p->random, held.newest - held.oldest + 1);
    } while (!cairn_history_holds(history, tick));
    return tick;
}

static void expect_loaded(play *p, const cairn_history *history, const kit_bytes *whole) {
    const uint64_t tick = random_held(p, history);
    cairn_world_hash hash;
    EXPECT_OK(cairn_history_load(history, tick, p->other));
    assert_int_equal(cairn_world_tick(p->other), tick);
    expect_whole(p, p->other, whole);
    EXPECT_OK(cairn_history_hash(history, tick, &hash));
    assert_true(cairn_hash_equal(hash.full, cairn_world_hash_fresh(p->other).full));
    assert_true(cairn_hash_equal(hash.visible, cairn_world_hash_fresh(p->other).visible));
}

static void go_back(play *p) {
    const uint64_t tick = random_held(p, p->history);
    EXPECT_OK(cairn_history_restore(p->history, tick));
    assert_int_equal(cairn_world_tick(p->world), tick);
    expect_whole(p, p->world, p->whole);
    p->restored += 1;
}

// A future that differs from the one before, by means that a history does not know.
static void interfere(play *p) {
    cairn_body_state bodies[64];
    const uint32_t count = cairn_world_bodies(p->world, bodies, 64);
    const uint64_t drawn = cairn_random_below(&p->random, 8);
    if (count == 0) {
        return;
    }
    const uint32_t one = (uint32_t)cairn_random_below(&p->random, count < 64 ? count : 64);
    if (drawn < 3) {
        (void)cairn_body_apply_impulse_at_centre(p->world, bodies[one].id, vec3(40.0f, 90.0f, 0));
    } else if (drawn == 3) {
        (void)cairn_body_destroy(p->world, bodies[one].id);
    } else if (drawn == 4) {
        const kit_bytes *past = &p->whole[random_held(p, p->history) % WHOLE];
        EXPECT_OK(cairn_world_load(p->world, past->bytes, past->size));
    } else if (drawn == 5) {
        SCOPED(kit_bytes) bytes = kit_encode(p->world);
        EXPECT_OK(cairn_world_decode(p->world, bytes.bytes, bytes.size, NULL));
    }
}

static void save(play *p) {
    if (cairn_random_below(&p->random, 3) != 0) {
        (void)cairn_world_hash_read(p->world);
    }
    EXPECT_OK(cairn_history_save(p->history, UINT64_MAX));
    keep_whole(p, p->whole);
    if (cairn_world_tick(p->world) % 3 == 0) {
        EXPECT_OK(cairn_history_save(p->seldom, UINT64_MAX));
        keep_whole(p, p->whole_seldom);
    }
    assert_true(cairn_history_statistics_read(p->history).ticks <= HELD);
}

TEST("each state of each scene is that of a whole copy, back and forth in time") {
    uint32_t restored = 0;
    for (uint32_t i = 0; i < golden_scene_count; ++i) {
        play p;
        start(&p, &golden_scenes[i], 7 + i);
        for (uint32_t tick = 0; tick < TICKS; ++tick) {
            save(&p);
            if (cairn_random_below(&p.random, 3) == 0) {
                go_back(&p);
                if (cairn_random_below(&p.random, 3) == 0) {
                    go_back(&p); // later ticks are held until the next save
                }
            }
            expect_loaded(&p, p.history, p.whole);
            if (cairn_random_below(&p.random, 4) == 0) {
                interfere(&p);
            }
            golden_step(p.scene, p.world);
        }
        save(&p);
        if (cairn_history_statistics_read(p.seldom).ticks > 0) {
            expect_loaded(&p, p.seldom, p.whole_seldom);
        }
        restored += p.restored;
        end(&p);
    }
    assert_true(restored > 8 * golden_scene_count);
}

TEST("a world that goes back and repeats its ticks has the same hashes") {
    const golden_scene *scene = golden_scene_named("sandbox");
    SCOPED(cairn_world) *world = golden_world_at(scene, 100);
    SCOPED(cairn_history) *history = new_history(world, 64, 0);
    cairn_hash128 roots[64];
    for (uint32_t round = 0; round < 3; ++round) {
        for (uint32_t i = 0; i < 64; ++i) {
            EXPECT_OK(cairn_history_save(history, UINT64_MAX));
            const cairn_hash128 root = kit_hash(world);
            assert_true(round == 0 || cairn_hash_equal(root, roots[i]));
            roots[i] = root;
            golden_step(scene, world);
        }
        for (uint32_t i = 0; i < 64; ++i) {
            cairn_world_hash hash;
            EXPECT_OK(cairn_history_hash(history, 100 + i, &hash));
            assert_true(cairn_hash_equal(hash.full, roots[i]));
        }
        EXPECT_OK(cairn_history_restore(history, 100));
    }
}

static cairn_world *sleepers(uint32_t count) {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = def.shape_capacity = count + 2;
    def.contact_capacity = 4 * count;
    cairn_world *world = kit_world(&def);
    kit_ground(world);
    for (uint32_t i = 0; i < count; ++i) {
        kit_cube(world, vec3(1.5f * (float)(i % 32), 0.5f, 1.5f * (float)(i / 32)));
    }
    kit_run(world, 120);
    assert_int_equal(cairn_world_counts_read(world).bodies_awake, 0);
    return world;
}

TEST("a save takes what changed") {
    SCOPED(cairn_world) *world = sleepers(500);
    SCOPED(cairn_history) *history = new_history(world, 64, 0);
    EXPECT_OK(cairn_history_save(history, UINT64_MAX));
    const size_t first = cairn_history_statistics_read(history).bytes;
    assert_true(first >= cairn_world_save_size(world));
    for (uint32_t i = 0; i < 63; ++i) {
        kit_run(world, 1);
        EXPECT_OK(cairn_history_save(history, UINT64_MAX));
    }
    const size_t asleep = cairn_history_statistics_read(history).bytes;
    assert_true((asleep - first) / 63 < 3000);
    for (uint32_t i = 0; i < 64; ++i) {
        EXPECT_OK(cairn_body_apply_impulse_at_centre(world, 2, vec3(0.0f, 50.0f, 0.0f)));
        kit_run(world, 1);
        EXPECT_OK(cairn_history_save(history, UINT64_MAX));
    }
    const cairn_history_statistics last = cairn_history_statistics_read(history);
    assert_int_equal(last.ticks, 64);
    assert_true(last.bytes < first + 64 * 6000);
}

TEST("a restore hashes and wakes only what differs") {
    SCOPED(cairn_world) *world = sleepers(500);
    SCOPED(cairn_history) *history = new_history(world, 8, 0);
    (void)kit_hash(world);
    EXPECT_OK(cairn_history_save(history, UINT64_MAX));
    const cairn_hash128 before = kit_hash(world);
    EXPECT_OK(cairn_body_apply_impulse_at_centre(world, 40, vec3(0.0f, 5000.0f, 0.0f)));
    kit_run(world, 1);
    (void)kit_hash(world);
    EXPECT_OK(cairn_history_restore(history, 120));
    uint32_t stale = 0;
    for (cairn_array array = CAIRN_ARRAY_BODY_IDS; array < CAIRN_ARRAY_COUNT; ++array) {
        const cairn_hash_cache_array *cache = &world->hash_cache->arrays[array];
        const uint32_t count = cairn_array_count(world->state.settings, array);
        for (uint32_t block = 0; block < hash_cache_blocks(count, cache->shift); ++block) {
            stale += cache->marks[block] & CAIRN_MARK_STALE;
        }
    }
    assert_int_equal(stale, 0); // the leaves were saved
    uint32_t awake = 0;
    for (uint32_t word = 0; word < awake_mark_words(500); ++word) {
        awake += (uint32_t)__builtin_popcountll(world->awake_marks[word]);
    }
    assert_in_range(awake, 0, 16);
    assert_true(cairn_hash_equal(before, kit_hash(world)));
}

TEST("memory is bounded: the oldest states go first, and none from the given tick on") {
    SCOPED(cairn_world) *world = golden_world_at(golden_scene_named("sandbox"), 50);
    cairn_history *history = new_history(world, 64, 0);
    for (uint32_t i = 0; i < 4; ++i) {
        EXPECT_OK(cairn_history_save(history, UINT64_MAX));
        golden_step(golden_scene_named("sandbox"), world);
    }
    const size_t bound = cairn_history_statistics_read(history).memory + 40000;
    cairn_history_destroy(history);
    history = new_history(world, 64, bound);
    uint64_t newest = 0;
    for (uint32_t i = 0; i < 60; ++i) {
        EXPECT_OK(cairn_history_save(history, UINT64_MAX));
        newest = cairn_world_tick(world);
        assert_true(cairn_history_statistics_read(history).memory <= bound);
        golden_step(golden_scene_named("sandbox"), world);
    }
    const cairn_history_statistics full = cairn_history_statistics_read(history);
    assert_true(full.ticks >= 2 && full.ticks < 60 && full.newest == newest);
    uint32_t saved = 0;
    while (cairn_history_save(history, full.oldest) == CAIRN_OK && saved < 60) {
        golden_step(golden_scene_named("sandbox"), world);
        saved += 1;
    }
    assert_true(saved < 60);
    assert_int_equal(cairn_history_statistics_read(history).oldest, full.oldest);
    assert_int_equal(cairn_history_save(history, full.oldest), CAIRN_CAPACITY);
    EXPECT_OK(cairn_history_save(history, full.oldest + 20));
    cairn_history_destroy(history);

    history = new_history(world, 4, 1);
    assert_int_equal(cairn_history_save(history, UINT64_MAX), CAIRN_CAPACITY);
    assert_int_equal(cairn_history_statistics_read(history).ticks, 0);
    cairn_history_destroy(history);
}

TEST("ticks are dropped from either end") {
    SCOPED(cairn_world) *world = sleepers(20);
    SCOPED(cairn_history) *history = new_history(world, 16, 0);
    for (uint32_t i = 0; i < 10; ++i) {
        EXPECT_OK(cairn_history_save(history, UINT64_MAX));
        kit_run(world, 1);
    }
    cairn_history_drop_from(history, 127);
    cairn_history_drop_before(history, 123);
    const cairn_history_statistics held = cairn_history_statistics_read(history);
    assert_int_equal(held.oldest, 123);
    assert_int_equal(held.newest, 126);
    assert_int_equal(cairn_history_restore(history, 122), CAIRN_NOT_FOUND);
    assert_int_equal(cairn_history_restore(history, 127), CAIRN_NOT_FOUND);
    EXPECT_OK(cairn_history_restore(history, 123));
    cairn_history_drop_before(history, 125); // the world is at an older tick than those that stay
    assert_int_equal(cairn_history_statistics_read(history).ticks, 0);
    EXPECT_OK(cairn_history_save(history, UINT64_MAX));
    EXPECT_OK(cairn_history_restore(history, 123));
}

TEST("wrong calls are refused by name") {
    cairn_history *histories[CAIRN_HISTORIES_PER_WORLD_MAX + 1];
    cairn_world *world = sleepers(4);
    cairn_world_hash hash;
    assert_int_equal(cairn_history_create(NULL, 1, 0, &histories[0]), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_history_create(world, 0, 0, &histories[0]), CAIRN_INVALID_ARGUMENT);
    for (uint32_t i = 0; i < CAIRN_HISTORIES_PER_WORLD_MAX; ++i) {
        histories[i] = new_history(world, 2, 0);
    }
    cairn_history **last = &histories[CAIRN_HISTORIES_PER_WORLD_MAX];
    assert_int_equal(cairn_history_create(world, 1, 0, last), CAIRN_CAPACITY);
    assert_null(*last);
    cairn_history_destroy(histories[3]);
    histories[3] = new_history(world, 2, 0);
    EXPECT_OK(cairn_history_save(histories[3], UINT64_MAX));
    assert_int_equal(cairn_history_hash(histories[3], 7, &hash), CAIRN_NOT_FOUND);
    cairn_world_def def = *cairn_world_settings(world);
    def.seed = 99;
    SCOPED(cairn_world) *stranger = kit_world(&def);
    assert_int_equal(cairn_history_load(histories[3], 120, stranger), CAIRN_INVALID_ARGUMENT);
    def.seed = cairn_world_settings(world)->seed;
    SCOPED(cairn_world) *equal = kit_world(&def);
    const cairn_hash128 root = kit_hash(world);
    assert_true(cairn_history_is_of(histories[3], world));
    cairn_world_destroy(world);
    // Its states outlive the world.
    assert_false(cairn_history_is_of(histories[3], world));
    assert_int_equal(cairn_history_save(histories[3], UINT64_MAX), CAIRN_WRONG_STATE);
    assert_int_equal(cairn_history_restore(histories[3], 120), CAIRN_WRONG_STATE);
    EXPECT_OK(cairn_history_load(histories[3], 120, equal));
    assert_true(cairn_hash_equal(kit_hash(equal), root));
    EXPECT_OK(cairn_history_hash(histories[3], 120, &hash));
    assert_true(cairn_hash_equal(hash.full, root));
    for (uint32_t i = 0; i < CAIRN_HISTORIES_PER_WORLD_MAX; ++i) {
        cairn_history_destroy(histories[i]);
    }
}
