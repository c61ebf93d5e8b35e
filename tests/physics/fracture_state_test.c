// SPDX-License-Identifier: MIT
// Bodies that break, as a part of the state of a world: the same bits everywhere, room that is
// given back, refusals, and the rules of docs/example_fracture.c.

#include "tests/physics/fracture_kit.h"

#include <string.h>

#include <cairn/history.h>

extern const cairn_rules example_fracture;

SCOPE_POINTER_ENDS(cairn_history, cairn_history_destroy)

// ---- Bits

static void prepare_worlds(cairn_world *world) {
    cairn_random random = cairn_random_of(10);
    (void)kit_ground(world);
    for (uint32_t i = 0; i < 8; ++i) {
        cairn_body_def def = cairn_body_def_default();
        const cairn_shape_def shape = any_shape(world, &random, i);
        def.position = vec3(4.0f * (float)i, 3.0f, 0.0f);
        def.rotation = any_rotation(&random);
        (void)kit_body(world, &def, &shape);
    }
}

// Breaks the dynamic body with the lowest index but `skip`.
static void break_one(cairn_world *world, uint32_t skip) {
    cairn_body_state bodies[512];
    const uint32_t count = cairn_world_bodies(world, bodies, 512);
    for (uint32_t i = 0; i < count; ++i) {
        if (bodies[i].kind != CAIRN_BODY_DYNAMIC || skip-- > 0) {
            continue;
        }
        const cairn_fracture_def def =
            at_point(bodies[i].position, cairn_world_tick(world) + bodies[i].id);
        uint32_t made;
        (void)cairn_body_fracture(world, bodies[i].id, &def, NULL, 0, &made);
        return;
    }
}

static void step_and_break(cairn_world *world) {
    const uint64_t tick = cairn_world_tick(world);
    if (tick % 7 == 3) {
        break_one(world, (uint32_t)(tick / 7) % 5);
    }
    kit_run(world, 1);
}

TEST("the same world, body and def give the same bits at every width") {
    static const uint32_t widths[] = {1, 4, 8, 16};
    SCOPED(cairn_world) *world = roomy_world(vec3(0.0f, -GRAVITY, 0.0f), 0);
    prepare_worlds(world);
    SCOPED(cairn_world) *first = kit_fork(world);
    for (uint32_t tick = 0; tick < 60; ++tick) {
        step_and_break(first);
    }
    for (uint32_t i = 0; i < 4; ++i) {
        SCOPED(cairn_world) *other = kit_fork(world);
        if (cairn_world_set_lanes(other, widths[i]) == CAIRN_OK) {
            for (uint32_t tick = 0; tick < 60; ++tick) {
                step_and_break(other);
            }
            assert_true(kit_equal(first, other));
        }
    }
    assert_true(cairn_world_counts_read(first).bodies > 50);
}

TEST("after a restore, a decode or a fork everything goes on with the same bits") {
    SCOPED(cairn_world) *world = roomy_world(vec3(0.0f, -GRAVITY, 0.0f), 0);
    SCOPED(cairn_world) *loaded = roomy_world(vec3(0.0f, -GRAVITY, 0.0f), 0);
    SCOPED(cairn_world) *decoded = roomy_world(vec3(0.0f, -GRAVITY, 0.0f), 0);
    prepare_worlds(world);
    for (uint32_t tick = 0; tick < 60; ++tick) {
        SCOPED(kit_bytes) saved = kit_save(world);
        SCOPED(kit_bytes) encoded = kit_encode(world);
        SCOPED(cairn_world) *fork = kit_fork(world);
        EXPECT_OK(cairn_world_load(loaded, saved.bytes, saved.size));
        EXPECT_OK(cairn_world_decode(decoded, encoded.bytes, encoded.size, NULL));
        step_and_break(world);
        step_and_break(loaded);
        step_and_break(decoded);
        step_and_break(fork);
        assert_true(kit_equal(world, loaded) && kit_equal(world, decoded));
        assert_true(kit_equal(world, fork));
    }
}

TEST("a history gives back the states before and after a fracture") {
    SCOPED(cairn_world) *world = roomy_world(vec3(0.0f, -GRAVITY, 0.0f), 0);
    cairn_history *created = NULL;
    cairn_hash128 hashes[40];
    prepare_worlds(world);
    EXPECT_OK(cairn_history_create(world, 40, 0, &created));
    SCOPED(cairn_history) *history = created;
    for (uint32_t tick = 0; tick < 40; ++tick) {
        hashes[tick] = kit_hash(world);
        EXPECT_OK(cairn_history_save(history, UINT64_MAX));
        step_and_break(world);
    }
    const cairn_hash128 last = kit_hash(world);
    for (uint32_t back = 1; back < 40; back += 6) {
        EXPECT_OK(cairn_history_restore(history, 40 - back));
        assert_true(cairn_hash_equal(kit_hash(world), hashes[40 - back]));
        for (uint32_t tick = 0; tick < back; ++tick) {
            step_and_break(world);
        }
        assert_true(cairn_hash_equal(kit_hash(world), last));
    }
}

// ---- Room

static void expect_capacity(const cairn_world_def *def, uint32_t pieces_wanted) {
    SCOPED(cairn_world) *world = kit_world(def);
    const cairn_body_id body = kit_cube(world, vec3_zero());
    const cairn_body_id other = kit_cube(world, vec3(3.0f, 0.0f, 0.0f));
    cairn_fracture_def fracture = at_point(vec3_zero(), 11);
    uint32_t count = 99;
    fracture.pieces = pieces_wanted;
    fracture.crowding = 0.0f;
    (void)kit_joint(world, &(cairn_joint_def){.kind = CAIRN_JOINT_BALL,
                               .body_a = body,
                               .body_b = other,
                               .anchor_a = {1.0f, 0.0f, 0.0f}});
    const cairn_world_hash before = cairn_world_hash_read(world);
    assert_int_equal(cairn_body_fracture(world, body, &fracture, NULL, 0, &count), CAIRN_CAPACITY);
    const cairn_world_hash after = cairn_world_hash_read(world);
    assert_int_equal(count, 0);
    for (uint32_t i = 0; i < CAIRN_SECTION_COUNT; ++i) {
        // The counter of what was refused is among the settings.
        assert_true(
            i == CAIRN_SECTION_SETTINGS || cairn_hash_equal(before.sections[i], after.sections[i]));
    }
    assert_int_equal(cairn_world_counters_read(world).creates_refused, 1);
    assert_null(cairn_body_fracture_refusal(world, body, &fracture));
    assert_int_equal(cairn_world_validate(world, NULL), CAIRN_OK);
    // One place more, and it breaks.
    cairn_world_def more = *def;
    more.body_capacity += 1;
    more.shape_capacity += 1;
    more.hull_capacity += 1;
    SCOPED(cairn_world) *roomier = kit_world(&more);
    const cairn_body_id same = kit_cube(roomier, vec3_zero());
    (void)kit_cube(roomier, vec3(3.0f, 0.0f, 0.0f));
    EXPECT_OK(cairn_body_fracture(roomier, same, &fracture, NULL, 0, &count));
    assert_int_equal(count, pieces_wanted);
}

TEST("a world without room for the pieces is unchanged") {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = 9; // two and eight pieces are one too many
    expect_capacity(&def, 8);
    def = cairn_world_def_default();
    def.shape_capacity = 9;
    expect_capacity(&def, 8);
    def = cairn_world_def_default();
    def.hull_capacity = 7;
    expect_capacity(&def, 8);
}

// Ids are taken lowest first, so a world that leaked would use higher and higher ones.
TEST("a world that breaks and clears things for hours does not fill up") {
    cairn_world_def def = cairn_world_def_default();
    def.hull_capacity = 40;
    def.body_capacity = 41;
    def.shape_capacity = 41;
    SCOPED(cairn_world) *world = kit_world(&def);
    for (uint32_t turn = 0; turn < 3000; ++turn) {
        const cairn_body_id body = kit_cube(world, vec3_zero());
        cairn_fracture_def fracture = at_point(vec3(0.1f, 0.2f, 0.3f), turn);
        pieces made;
        fracture.pieces = 8;
        EXPECT_OK(cairn_body_fracture(world, body, &fracture, made.ids, PIECES_MAX, &made.count));
        fracture.point = kit_read(world, made.ids[0]).position;
        fracture.thickness_min = 0.0f;
        uint32_t count = 0;
        (void)cairn_body_fracture(
            world, made.ids[0], &fracture, &made.ids[made.count], PIECES_MAX - made.count, &count);
        made.count += count;
        if (turn % 100 == 0) {
            kit_run(world, 2);
        }
        for (uint32_t i = 0; i < made.count; ++i) {
            (void)cairn_body_destroy(world, made.ids[i]);
        }
        const cairn_world_counts counts = cairn_world_counts_read(world);
        assert_int_equal(counts.bodies + counts.shapes + counts.hulls, 0);
    }
    kit_run(world, 2);
    assert_int_equal(cairn_world_validate(world, NULL), CAIRN_OK);
}

// ---- Refusals

static void expect_refused(cairn_world *world, cairn_body_id body, const cairn_fracture_def *def,
    cairn_status wanted, const char *text) {
    uint32_t count = 99;
    const cairn_hash128 before = kit_hash(world);
    const char *refusal = cairn_body_fracture_refusal(world, body, def);
    assert_non_null(refusal);
    if (strstr(refusal, text) == NULL) {
        fail_msg("\"%s\", not \"%s\"", refusal, text);
    }
    assert_int_equal(cairn_body_fracture(world, body, def, NULL, 0, &count), wanted);
    assert_int_equal(count, 0);
    assert_true(cairn_hash_equal(before, kit_hash(world)));
}

TEST("what cannot be broken is refused by name") {
    SCOPED(cairn_world) *world = roomy_world(vec3_zero(), 0);
    const cairn_body_id cube = kit_cube(world, vec3_zero());
    const cairn_fracture_def good = at_point(vec3_zero(), 0);
    cairn_fracture_def def = good;
#define REFUSED(change, status, text)                                                              \
    do {                                                                                           \
        def = good;                                                                                \
        change;                                                                                    \
        expect_refused(world, cube, &def, status, text);                                           \
    } while (0)
    REFUSED(def.point.y = NAN, CAIRN_NON_FINITE, "range");
    REFUSED(def.crowding = INFINITY, CAIRN_NON_FINITE, "range");
    REFUSED(def.thickness_min = NAN, CAIRN_NON_FINITE, "range");
    REFUSED(def.crowding = 1.01f, CAIRN_INVALID_ARGUMENT, "range");
    REFUSED(def.thickness_min = -0.1f, CAIRN_INVALID_ARGUMENT, "range");
    REFUSED(def.pieces = 0, CAIRN_INVALID_ARGUMENT, "fewer than two");
    REFUSED(def.pieces = 1, CAIRN_INVALID_ARGUMENT, "fewer than two");
    REFUSED(def.pieces = PIECES_MAX + 1, CAIRN_INVALID_ARGUMENT, "too many");
    REFUSED(def.point.x = 1.8f, CAIRN_INVALID_ARGUMENT, "too far"); // 2 sqrt(3) / 2 is allowed
    REFUSED(def.point.x = 1e5f, CAIRN_INVALID_ARGUMENT, "too far");
#undef REFUSED
    expect_refused(world, CAIRN_ID_NULL, &good, CAIRN_NOT_FOUND, "no such body");
    EXPECT_OK(cairn_body_set_enabled(world, cube, false));
    expect_refused(world, cube, &good, CAIRN_WRONG_STATE, "not enabled");
    EXPECT_OK(cairn_body_set_enabled(world, cube, true));
    EXPECT_OK(cairn_body_set_kind(world, cube, CAIRN_BODY_KINEMATIC));
    expect_refused(world, cube, &good, CAIRN_WRONG_STATE, "not dynamic");
    EXPECT_OK(cairn_body_set_kind(world, cube, CAIRN_BODY_STATIC));
    expect_refused(world, cube, &good, CAIRN_WRONG_STATE, "not dynamic");
    EXPECT_OK(cairn_body_set_kind(world, cube, CAIRN_BODY_DYNAMIC));
    (void)shatter(world, cube, &good);
}

TEST("shapes that do not break are refused by name") {
    SCOPED(cairn_world) *world = roomy_world(vec3_zero(), 0);
    const cairn_fracture_def good = at_point(vec3_zero(), 0);
    const cairn_shape_def balls[] = {ball(0.5f), capsule(0.3f, 0.3f)};
    for (uint32_t i = 0; i < 2; ++i) {
        const cairn_body_id round = kit_drop(world, vec3_zero(), &balls[i]);
        expect_refused(world, round, &good, CAIRN_WRONG_STATE, "neither box");
    }
    cairn_shape_def sensor = box(0.5f, 0.5f, 0.5f);
    sensor.flags = CAIRN_SHAPE_SENSOR;
    const cairn_body_id ghost = kit_drop(world, vec3_zero(), &sensor);
    expect_refused(world, ghost, &good, CAIRN_WRONG_STATE, "sensor");
    const cairn_body_id two = kit_cube(world, vec3_zero());
    const cairn_shape_def second = box(0.2f, 0.2f, 0.2f);
    cairn_shape_id id;
    EXPECT_OK(cairn_shape_create(world, two, &second, &id));
    expect_refused(world, two, &good, CAIRN_WRONG_STATE, "more than one");
    cairn_body_def empty = cairn_body_def_default();
    cairn_body_id none;
    EXPECT_OK(cairn_body_create(world, &empty, &none));
    expect_refused(world, none, &good, CAIRN_WRONG_STATE, "no shape");
    const cairn_body_id foil = kit_box(world, vec3_zero(), vec3(0.5f, 0.5f, 0.001f), DENSITY);
    expect_refused(world, foil, &good, CAIRN_INVALID_ARGUMENT, "too thin");
    const cairn_body_id crumb = kit_box(world, vec3_zero(), vec3(0.0015f, 0.0015f, 0.0015f), 1.0f);
    expect_refused(world, crumb, &good, CAIRN_INVALID_ARGUMENT, "too thin");
    cairn_joint_def joint = cairn_joint_def_default();
    joint.kind = CAIRN_JOINT_HINGE;
    joint.articulated = 1;
    joint.body_a = kit_cube(world, vec3_zero());
    joint.body_b = kit_cube(world, vec3_zero());
    (void)kit_joint(world, &joint);
    expect_refused(world, joint.body_b, &good, CAIRN_WRONG_STATE, "articulation");
}

TEST("pieces that would leave the range of bodies are refused") {
    SCOPED(cairn_world) *world = roomy_world(vec3_zero(), 0);
    cairn_body_def fast = cairn_body_def_default();
    fast.angular_velocity = vec3(0.0f, 0.0f, CAIRN_SPEED_MAX);
    cairn_shape_def shape = box(2.0f, 2.0f, 2.0f);
    const cairn_body_id body = kit_body(world, &fast, &shape);
    const cairn_fracture_def good = at_point(vec3_zero(), 0);
    expect_refused(world, body, &good, CAIRN_INVALID_ARGUMENT, "too fast");
    const cairn_body_id other = kit_cube(world, vec3_zero());
    const cairn_body_id far_away = kit_cube(world, vec3(CAIRN_DISTANCE_MAX, 0.0f, 0.0f));
    const cairn_fracture_def there = at_point(vec3(CAIRN_DISTANCE_MAX, 0.0f, 0.0f), 0);
    expect_refused(world, far_away, &there, CAIRN_INVALID_ARGUMENT, "too far away");
    cairn_joint_def joint = cairn_joint_def_default();
    joint.body_a = other;
    joint.body_b = body;
    joint.anchor_a = vec3(CAIRN_DISTANCE_MAX, CAIRN_DISTANCE_MAX, CAIRN_DISTANCE_MAX);
    (void)kit_joint(world, &joint);
    joint.anchor_a = vec3_negate(joint.anchor_a);
    (void)kit_joint(world, &joint);
    expect_refused(world, other, &good, CAIRN_INVALID_ARGUMENT, "anchor");
}

// ---- The rules of docs/example_fracture.c

static cairn_world *brittle_world(uint32_t lanes) {
    cairn_world_def def = cairn_world_def_default();
    def.rules = &example_fracture;
    def.hull_capacity = 64;
    cairn_world *world = kit_world(&def);
    EXPECT_OK(cairn_world_set_lanes(world, lanes));
    (void)kit_ground(world);
    return world;
}

static cairn_body_id drop_brittle(cairn_world *world, cairn_vec3 position) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = box(0.4f, 0.3f, 0.2f);
    def.position = position;
    def.name = cairn_name_hash("brittle");
    shape.flags = CAIRN_SHAPE_HIT_EVENTS;
    return kit_body(world, &def, &shape);
}

// What falls from h hits with sqrt(2 g h): 3.1 m/s from half a metre, 2.8 from 0.4.
TEST("with the rules of the example a brick breaks when it falls from a height, and not from a "
     "chair") {
    SCOPED(cairn_world) *world = brittle_world(0);
    const cairn_body_id low = drop_brittle(world, vec3(0.0f, 0.3f + 0.3f, 0.0f));
    const cairn_body_id high = drop_brittle(world, vec3(5.0f, 0.3f + 1.5f, 0.0f));
    kit_run(world, 90);
    assert_true(cairn_body_exists(world, low));
    assert_false(cairn_body_exists(world, high));
    assert_true(cairn_world_counts_read(world).hulls >= 2);
}

TEST("with the rules of the example a rain of bricks fills no world, and goes on after a restore") {
    SCOPED(cairn_world) *world = brittle_world(0);
    SCOPED(cairn_world) *twin = brittle_world(1);
    uint32_t most = 0;
    for (uint32_t tick = 0; tick < 60 * 20; ++tick) {
        if (tick % 40 == 0) {
            (void)drop_brittle(world, vec3((float)(tick % 7), 6.0f, (float)(tick % 5)));
        }
        if (tick % 97 == 0) {
            kit_step_beside_reloaded(world, twin);
        } else {
            kit_run(world, 1);
        }
        const cairn_world_counts counts = cairn_world_counts_read(world);
        most = counts.hulls > most ? counts.hulls : most;
        assert_true(counts.hulls <= 40 && counts.bodies <= 1 + 40 + 31);
    }
    assert_int_equal(most, 40);
    assert_int_equal(cairn_world_counters_read(world).creates_refused, 0);
}
