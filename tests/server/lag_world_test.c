// SPDX-License-Identifier: MIT
// The world as it was shown between two ticks, and the view times that are refused.

#include "tests/sim/world_kit.h"

#include "server/lag/lag_compensation.h"

enum { HELD = 20, AGE = 12 };

typedef struct fixture {
    cairn_world *world;
    cairn_state_history *state_history;
    cairn_lag_world *lag_world;
    cairn_body_id target; // moves along x at 6 m/s, 0.1 m a tick, and turns
} fixture;

static fixture create_fixture(void) {
    cairn_world_def def = cairn_world_def_default();
    cairn_body_def body = cairn_body_def_default();
    const cairn_shape_def shape = cairn_shape_def_default();
    def.gravity = vec3_zero();
    fixture s = {.world = kit_world(&def)};
    body.position = vec3(0.0f, 0.5f, 0.0f);
    body.linear_velocity = vec3(6.0f, 0.0f, 0.0f);
    body.angular_velocity = vec3(0.0f, 9.0f, 0.0f);
    s.target = kit_body(s.world, &body, &shape);
    assert_int_equal(cairn_state_history_create(HELD, SIZE_MAX, &s.state_history), CAIRN_OK);
    cairn_state_history_require(s.state_history, CAIRN_STATE_HISTORY_FOR_LAG, HELD);
    assert_int_equal(cairn_lag_world_create(s.world, &s.lag_world), CAIRN_OK);
    return s;
}

static void destroy_fixture(fixture *s) {
    cairn_lag_world_destroy(s->lag_world);
    cairn_state_history_destroy(s->state_history);
    cairn_world_destroy(s->world);
}

SCOPE_ENDS(fixture, destroy_fixture)

static void step(fixture *s, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; ++i) {
        kit_run(s->world, 1);
        cairn_state_history_save(s->state_history, s->world);
    }
}

static cairn_lag_refusal look(
    fixture *s, uint64_t tick, uint32_t span, float fraction, const cairn_world **out) {
    const cairn_view_time view_time = {.tick = tick, .span = span, .fraction = fraction};
    const cairn_hash128 before = kit_hash(s->world);
    const cairn_quantisation quantisation = cairn_quantisation_default();
    const cairn_lag_refusal refusal = cairn_lag_world_show(s->lag_world, s->state_history,
        cairn_world_tick(s->world), AGE, &quantisation, &view_time, out);
    assert_true(cairn_hash_equal(kit_hash(s->world), before));
    assert_int_equal(refusal == CAIRN_LAG_SHOWN, *out != NULL);
    return refusal;
}

static const cairn_world *shown(fixture *s, uint64_t tick, uint32_t span, float fraction) {
    const cairn_world *world = NULL;
    assert_int_equal(look(s, tick, span, fraction, &world), CAIRN_LAG_SHOWN);
    return world;
}

// Down from above at `x`.
static bool hits(const cairn_world *world, float x) {
    cairn_ray_hit hit;
    return cairn_world_ray_cast(world, vec3(x, 9.0f, 0.0f), vec3(0.0f, -20.0f, 0.0f), UINT32_MAX, 0,
               &hit) == CAIRN_OK;
}

TEST("a target is hit where it was seen") {
    SCOPED(fixture) s = create_fixture();
    step(&s, 40);
    const float now = kit_read(s.world, s.target).position.x;
    const float then = now - 1.15f;
    assert_true(hits(s.world, now) && !hits(s.world, then));
    const cairn_world *past = shown(&s, 28, 3, 0.16666667f);
    assert_float_equal(kit_read(past, s.target).position.x, then, 1e-4f);
    assert_true(hits(past, then) && !hits(past, now));
    assert_true(hits(s.world, now) && !hits(s.world, then));
}

TEST("a view time at a tick shows its state") {
    SCOPED(fixture) s = create_fixture();
    step(&s, 30);
    const cairn_body_state there = kit_read(s.world, s.target);
    step(&s, 5);
    const cairn_body_state by_tick = kit_read(shown(&s, 30, 1, 0.0f), s.target);
    const cairn_body_state by_share = kit_read(shown(&s, 27, 3, 1.0f), s.target);
    assert_float_equal(by_tick.position.x, there.position.x, 0.0f);
    assert_float_equal(by_tick.rotation.y, there.rotation.y, 1e-6f);
    assert_float_equal(by_share.position.x, there.position.x, 1e-5f);
    assert_float_equal(by_share.rotation.y, there.rotation.y, 1e-6f);
    (void)shown(&s, 35, 1, 0.0f);
}

// In between the rotation is given by the opposite quaternion, which is the same rotation.
TEST("rotations take the shorter way") {
    SCOPED(fixture) s = create_fixture();
    step(&s, 55);
    const cairn_body_state body = kit_read(s.world, s.target);
    const cairn_quat q = body.rotation;
    const cairn_pose pose = {
        .position = body.position, .rotation = {.x = -q.x, .y = -q.y, .z = -q.z, .w = -q.w}};
    assert_int_equal(cairn_body_set_pose(s.world, s.target, pose), CAIRN_OK);
    step(&s, 5);
    for (uint64_t tick = 48; tick < 60; ++tick) {
        const cairn_quat from = kit_read(shown(&s, tick, 1, 0.0f), s.target).rotation;
        const cairn_quat half = kit_read(shown(&s, tick, 1, 0.5f), s.target).rotation;
        assert_float_equal(quat_length_squared(half), 1.0f, 1e-6f);
        const float cosine = from.y * half.y + from.w * half.w;
        assert_float_equal(float_abs(cosine), 0.9993f, 1e-3f);
    }
}

TEST("a body destroyed since is still hit and one created since is not") {
    SCOPED(fixture) s = create_fixture();
    step(&s, 20);
    assert_int_equal(cairn_body_destroy(s.world, s.target), CAIRN_OK);
    // In the slot that has just become free.
    const cairn_vec3 aside = vec3(-8.0f, 0.5f, 0.0f);
    const cairn_body_id later = kit_sphere(s.world, aside, 0.5f);
    step(&s, 3);
    const cairn_world *past = shown(&s, 19, 3, 0.75f);
    assert_float_equal(kit_read(past, s.target).position.x, 1.9f, 1e-4f);
    assert_true(hits(past, 1.9f) && !hits(past, -8.0f));
    assert_false(cairn_body_exists(past, later));
    past = shown(&s, 21, 1, 0.5f);
    assert_true(!hits(past, 2.1f) && hits(past, -8.0f));
    assert_true(!hits(s.world, 1.9f) && hits(s.world, -8.0f));
}

TEST("a view time that cannot be shown is refused with the reason") {
    static const struct {
        uint64_t tick;
        uint32_t span;
        float fraction;
        cairn_lag_refusal expected;
    } rows[] = {{30, 1, 0.0f, CAIRN_LAG_SHOWN}, {30, 1, 0.01f, CAIRN_LAG_FUTURE},
        {28, 2, 0.5f, CAIRN_LAG_SHOWN}, {28, 3, 0.5f, CAIRN_LAG_FUTURE},
        {28, 3, 0.0f, CAIRN_LAG_SHOWN}, {28, UINT32_MAX, 0.5f, CAIRN_LAG_FUTURE},
        {31, 1, 0.0f, CAIRN_LAG_FUTURE}, {UINT64_MAX, 1, 0.0f, CAIRN_LAG_FUTURE},
        {UINT64_MAX, 1, 0.5f, CAIRN_LAG_FUTURE}, {18, 1, 0.5f, CAIRN_LAG_SHOWN},
        {17, 1, 0.5f, CAIRN_LAG_TOO_OLD}, {0, 1, 0.0f, CAIRN_LAG_TOO_OLD},
        {28, 0, 0.0f, CAIRN_LAG_VIEW_TIME_INVALID}, {28, 1, -0.01f, CAIRN_LAG_VIEW_TIME_INVALID},
        {28, 1, 1.01f, CAIRN_LAG_VIEW_TIME_INVALID}};
    SCOPED(fixture) s = create_fixture();
    step(&s, 30);
    const cairn_world *world;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const cairn_lag_refusal refusal =
            look(&s, rows[i].tick, rows[i].span, rows[i].fraction, &world);
        if (refusal != rows[i].expected) {
            fail_msg("row %zu: %s", i, cairn_lag_refusal_text(refusal));
        }
    }
    const float none = 0.0f;
    assert_int_equal(look(&s, 28, 1, none / none, &world), CAIRN_LAG_VIEW_TIME_INVALID);
    cairn_state_history_clear(s.state_history);
    assert_int_equal(look(&s, 28, 1, 0.5f, &world), CAIRN_LAG_NOT_HELD);
    step(&s, 1);
    assert_int_equal(look(&s, 31, 1, 0.0f, &world), CAIRN_LAG_SHOWN);
    assert_int_equal(look(&s, 30, 1, 0.5f, &world), CAIRN_LAG_NOT_HELD);
}

// The same tick of another past is not what was shown before.
TEST("a room that was rewound shows its new ticks") {
    SCOPED(fixture) s = create_fixture();
    step(&s, 10);
    kit_bytes saved = kit_save(s.world);
    step(&s, 5);
    const float before = kit_read(shown(&s, 13, 1, 0.5f), s.target).position.x;
    assert_int_equal(cairn_world_load(s.world, saved.bytes, saved.size), CAIRN_OK);
    assert_int_equal(
        cairn_body_set_velocity(s.world, s.target, vec3(-6.0f, 0.0f, 0.0f), vec3_zero()), CAIRN_OK);
    cairn_state_history_save(s.state_history, s.world);
    step(&s, 5);
    const float after = kit_read(shown(&s, 13, 1, 0.5f), s.target).position.x;
    assert_float_equal(before, 1.35f, 1e-4f);
    assert_float_equal(after, 0.65f, 1e-4f);
    kit_free(&saved);
}

TEST("every refusal has a text") {
    for (uint32_t i = 0; i < CAIRN_LAG_REFUSAL_COUNT; ++i) {
        assert_true(cairn_lag_refusal_text((cairn_lag_refusal)i)[0] != '\0');
    }
}
