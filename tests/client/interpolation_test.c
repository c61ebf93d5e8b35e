// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <math.h>

#include "client_lib/interpolate/interpolation.h"
#include "client_lib/interpolate/shape_list.h"

SCOPE_ENDS(cairn_shape_list, cairn_shape_list_destroy)

#define MS 1000000ull
#define SECOND CAIRN_NS_PER_S
#define TICK_NS (1e9 / 60)

static const cairn_quat UPRIGHT = {0, 0, 0, 1};

static cairn_snapshot_body body_at(uint32_t id, float x) {
    return (cairn_snapshot_body){.id = id,
        .flags = 1,
        .position = {x, 2 * x, -x},
        .rotation = UPRIGHT,
        .linear_velocity = {60, 0, 0}};
}

// Two snapshots, ten ticks apart.
typedef struct scene {
    cairn_snapshot_body a[4];
    cairn_snapshot_body b[4];
    cairn_snapshots snapshots;
    cairn_client_body shown[8];
    cairn_client_sample sample;
} scene;

static void scene_start(scene *s, uint32_t count_a, uint32_t count_b) {
    *s = (scene){0};
    s->snapshots.count = 2;
    s->snapshots.list[0] = (cairn_snapshot){.tick = 100, .bodies = s->a, .body_count = count_a};
    s->snapshots.list[1] = (cairn_snapshot){.tick = 110, .bodies = s->b, .body_count = count_b};
}

static void start_pair(scene *s, cairn_snapshot_body a, cairn_snapshot_body b) {
    scene_start(s, 1, 1);
    s->a[0] = a;
    s->b[0] = b;
}

static bool show(scene *s, double tick) {
    return cairn_interpolate(&s->snapshots, tick, TICK_NS, 6, true, s->shown, 8, &s->sample);
}

TEST("without a snapshot there is nothing to show") {
    scene s;
    scene_start(&s, 0, 0);
    s.snapshots.count = 0;
    assert_false(show(&s, 100));
    assert_int_equal(s.sample.body_count, 0);
}

TEST("a body is disabled from the tick of the snapshot that says so") {
    scene s;
    start_pair(&s, body_at(1, 1), body_at(1, 1));
    s.b[0].flags |= CAIRN_SNAPSHOT_BODY_DISABLED;
    assert_true(show(&s, 109.5));
    assert_false(s.shown[0].disabled);
    assert_true(show(&s, 110));
    assert_true(s.shown[0].disabled);
}

TEST("a body that was put elsewhere is shown in both places and not between") {
    scene s;
    start_pair(&s, body_at(1, 1), body_at(1, 5));
    s.a[0].flags |= 7u << CAIRN_SNAPSHOT_BODY_TELEPORTS_SHIFT; // modulo 8, so 0 is the next
    assert_true(show(&s, 109.5));
    EXPECT_NEAR(s.shown[0].position[0], 1, 1e-6);
    assert_int_equal(s.shown[0].teleports, 7);
    assert_true(show(&s, 110));
    EXPECT_NEAR(s.shown[0].position[0], 5, 1e-6);
    assert_int_equal(s.shown[0].teleports, 0);
}

TEST("owner and user word are those of the snapshot that was reached") {
    scene s;
    start_pair(&s, body_at(1, 1), body_at(1, 5));
    s.a[0].flags |= 64u << CAIRN_SNAPSHOT_BODY_OWNER_SHIFT;
    s.a[0].user = 77;
    assert_true(show(&s, 105));
    assert_int_equal(s.shown[0].owner, 63);
    assert_int_equal(s.shown[0].user, 77);
    EXPECT_NEAR(s.shown[0].position[0], 3, 1e-4);
    assert_true(show(&s, 110));
    assert_int_equal(s.shown[0].owner, CAIRN_SLOT_NONE);
}

TEST("positions are interpolated linearly") {
    const struct {
        double tick;
        float x;
        bool extrapolated;
        bool held;
    } rows[] = {
        {0, 1, false, false}, // before the oldest snapshot the oldest is shown
        {99.9, 1, false, false}, {100, 1, false, false}, {102.5, 2, false, false},
        {105, 3, false, false}, {109, 4.6f, false, false},
        {110, 5, false, false},   // the newest itself
        {113, 8, true, false},    // extrapolated by its velocity, 60 m/s: one metre per tick
        {116, 11, true, false},   // the limit of extrapolation
        {116.01, 11, true, true}, // beyond it bodies stand still
        {1e9, 11, true, true},    //
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        scene s;
        start_pair(&s, body_at(1, 1), body_at(1, 5));
        assert_true(show(&s, rows[i].tick));
        assert_int_equal(s.sample.body_count, 1);
        EXPECT_NEAR(s.shown[0].position[0], rows[i].x, 1e-4);
        assert_int_equal(s.sample.extrapolated, rows[i].extrapolated);
        assert_int_equal(s.sample.held, rows[i].held);
    }
}

TEST("a body is shown from its first to its last snapshot") {
    scene s;
    scene_start(&s, 2, 2);
    s.a[0] = body_at(1, 1);
    s.a[1] = body_at(2, 7); // vanishes
    s.b[0] = body_at(1, 5);
    s.b[1] = body_at(3, 9); // appears
    assert_true(show(&s, 105));
    assert_int_equal(s.sample.body_count, 2);
    assert_int_equal(s.shown[1].id, 2);
    EXPECT_NEAR(s.shown[1].position[0], 7, 0);
    assert_true(show(&s, 110));
    assert_int_equal(s.sample.body_count, 2);
    assert_int_equal(s.shown[1].id, 3);
    EXPECT_NEAR(s.shown[1].position[0], 9, 0);
}

TEST("a body that reused the index of another is not interpolated with it") {
    scene s;
    start_pair(&s, body_at(5, 1), body_at(5 | (1u << 20), 100));
    assert_true(show(&s, 105));
    assert_int_equal(s.shown[0].id, 5);
    EXPECT_NEAR(s.shown[0].position[0], 1, 0);
}

TEST("rotations are interpolated the shorter way and stay of unit length") {
    const float half = 0.70710678f;
    const float sines[] = {half, -half}; // the same rotation with both signs
    for (int i = 0; i < 2; i++) {
        scene s;
        start_pair(&s, body_at(1, 0), body_at(1, 0));
        s.b[0].rotation = (cairn_quat){0, sines[i], 0, sines[i]};
        assert_true(show(&s, 105));
        const float *q = s.shown[0].rotation;
        EXPECT_NEAR(q[1], sinf(0.78539816f / 2), 1e-3);
        EXPECT_NEAR(q[3], cosf(0.78539816f / 2), 1e-3);
        float length = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        EXPECT_NEAR(length, 1, 1e-6);
    }
}

// Normalised once it would be (0.444298953 0 0 0.895878553), and twice (0.444298983 0 0
// 0.895878613). The server, which rebuilds the picture for lag compensation, has the rotation of
// the state.
TEST("at the tick of a snapshot its rotations are shown bit for bit") {
    const cairn_quat rotation = {.x = 0.444299012f, .w = 0.895878673f};
    for (double tick = 100; tick <= 110; tick += 10) {
        scene s;
        start_pair(&s, body_at(1, 0), body_at(1, 0));
        s.a[0].rotation = rotation;
        s.b[0].rotation = rotation;
        assert_true(show(&s, tick));
        assert_false(s.sample.extrapolated);
        assert_memory_equal(s.shown[0].rotation, &rotation, sizeof rotation);
    }
}

TEST("a rotation of zero length is shown as the identity") {
    scene s;
    start_pair(&s, body_at(1, 0), body_at(1, 0));
    s.a[0].rotation = (cairn_quat){0};
    s.b[0].rotation = (cairn_quat){0};
    assert_true(show(&s, 105));
    EXPECT_NEAR(s.shown[0].rotation[3], 1, 0);
}

TEST("extrapolation rotates a body by its angular velocity") {
    scene s;
    start_pair(&s, body_at(1, 0), body_at(1, 0));
    s.b[0].angular_velocity = (cairn_vec3){0, 2, 0};
    assert_true(show(&s, 116));
    EXPECT_NEAR(s.shown[0].rotation[1], sinf(0.1f), 1e-3);
}

TEST("bodies beyond the capacity are counted but not written") {
    scene s;
    scene_start(&s, 3, 3);
    for (uint32_t i = 0; i < 3; i++) {
        s.a[i] = s.b[i] = body_at(i + 1, (float)i);
    }
    s.shown[2].id = 77;
    assert_true(cairn_interpolate(&s.snapshots, 105, TICK_NS, 6, true, s.shown, 2, &s.sample));
    assert_int_equal(s.sample.body_count, 3);
    assert_int_equal(s.shown[2].id, 77);
}

static float height_in_flight(double tick) {
    const double seconds = (tick - 100) / 60;
    return (float)(2 + 3 * seconds - 4.905 * seconds * seconds);
}

// Snapshots of a body in flight, or of one that lands at tick 109, at uneven distances.
static void start_flight(scene *s, cairn_snapshot_body bodies[4], bool lands) {
    static const uint64_t ticks[4] = {100, 103, 109, 112};
    *s = (scene){.snapshots.count = 4};
    for (uint32_t i = 0; i < 4; i++) {
        const double seen = lands && ticks[i] > 103 ? 103 : (double)ticks[i];
        bodies[i] = body_at(1, 0);
        bodies[i].linear_velocity = (cairn_vec3){0};
        bodies[i].position = (cairn_vec3){0, height_in_flight(seen) - (lands && i > 1 ? 1 : 0), 0};
        s->snapshots.list[i] =
            (cairn_snapshot){.tick = ticks[i], .bodies = &bodies[i], .body_count = 1};
    }
}

TEST("a body in flight is shown on its curve, beyond the newest snapshot as well") {
    scene s;
    cairn_snapshot_body bodies[4];
    start_flight(&s, bodies, false);
    bodies[3].linear_velocity.y = (bodies[3].position.y - bodies[2].position.y) * 20;
    for (double tick = 100; tick < 117; tick += 0.25) {
        assert_true(show(&s, tick));
        EXPECT_NEAR(s.shown[0].position[1], height_in_flight(tick), 1e-4);
    }
    // With a snapshot on one side only, as at the end of what has arrived.
    s.snapshots.count = 3;
    assert_true(show(&s, 106));
    EXPECT_NEAR(s.shown[0].position[1], height_in_flight(106), 1e-4);
    // The chord would be off by 12 mm.
    assert_true(cairn_interpolate(&s.snapshots, 106, TICK_NS, 6, false, s.shown, 8, &s.sample));
    EXPECT_NEAR(s.shown[0].position[1], height_in_flight(106) - 0.01226f, 1e-4);
}

TEST("velocities that the server sent are shown, and the picture goes on as the poses do") {
    scene s;
    cairn_snapshot_body bodies[4];
    start_flight(&s, bodies, false);
    for (uint32_t i = 0; i < 4; i++) {
        s.snapshots.list[i].velocities = true;
        bodies[i].linear_velocity.y = 7; // as if the centre of mass went round the origin
    }
    for (double tick = 112; tick < 117; tick += 0.25) {
        assert_true(show(&s, tick));
        EXPECT_NEAR(s.shown[0].position[1], height_in_flight(tick), 1e-4);
        EXPECT_NEAR(s.shown[0].linear_velocity[1], 7 - 9.81 * (tick - 112) / 60, 1e-3);
    }
}

TEST("a body that was hit moves straight, and its place at a snapshot is that of the snapshot") {
    scene s;
    cairn_snapshot_body bodies[4];
    start_flight(&s, bodies, true);
    assert_true(show(&s, 106));
    EXPECT_NEAR(s.shown[0].position[1], (bodies[1].position.y + bodies[2].position.y) / 2, 1e-5);
    start_flight(&s, bodies, false);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(show(&s, (double)s.snapshots.list[i].tick));
        assert_true(s.shown[0].position[1] == bodies[i].position.y);
    }
}

// Observes a snapshot every `spacing` ticks for twenty seconds. Returns the delay at the end, ms.
static double measured_delay_ms(uint32_t fixed_ms, uint64_t spacing, uint64_t jitter_ms) {
    cairn_clock clock;
    cairn_interpolation interpolation;
    cairn_clock_start(&clock, 60);
    cairn_interpolation_start(&interpolation, fixed_ms, 100);
    for (uint64_t tick = 0; tick < 1200; tick++) {
        uint64_t now = SECOND + tick * SECOND / 60;
        if (tick % spacing == 0) {
            now += tick % (2 * spacing) == 0 ? jitter_ms * MS : 0;
            cairn_clock_observe(&clock, now, tick);
            cairn_interpolation_observe(&interpolation, &clock, now, tick);
        }
        cairn_clock_advance(&clock, now);
        cairn_interpolation_advance(&interpolation, &clock, now);
    }
    return interpolation.delay_ns * 1e-6;
}

TEST("the delay follows spacing and jitter") {
    EXPECT_NEAR(measured_delay_ms(0, 1, 0), 17.7, 1);
    EXPECT_NEAR(measured_delay_ms(0, 3, 0), 51, 1);
    EXPECT_NEAR(measured_delay_ms(0, 6, 0), 101, 2);
    double with_jitter = measured_delay_ms(0, 3, 10);
    assert_true(with_jitter > 58 && with_jitter < 85);
    EXPECT_NEAR(measured_delay_ms(120, 3, 10), 120, 0.01);
}

TEST("the delay changes without a jump") {
    cairn_clock clock;
    cairn_interpolation interpolation;
    cairn_clock_start(&clock, 60);
    cairn_interpolation_start(&interpolation, 0, 100);
    uint64_t tick = 0;
    double last = 0;
    for (uint64_t frame = 0; frame < 1000; frame++) {
        uint64_t now = SECOND + frame * 10 * MS;
        uint64_t spacing = frame < 300 ? 3 : 9;
        if ((now - SECOND) * 60 / SECOND >= tick + spacing) {
            tick += spacing;
            cairn_clock_observe(&clock, SECOND + tick * SECOND / 60, tick);
            cairn_interpolation_observe(&interpolation, &clock, now, tick);
        }
        cairn_clock_advance(&clock, now);
        cairn_interpolation_advance(&interpolation, &clock, now);
        double shown = cairn_interpolation_tick(&interpolation, &clock, now);
        if (frame > 50) {
            assert_true(shown - last > 0.5 && shown - last < 0.7);
        }
        last = shown;
    }
    EXPECT_NEAR(interpolation.delay_ns * 1e-6, 151, 5);
}

// Of 20 ticks a second; the snapshots that arrive of a bad path are far apart. Seed 21003746 of the
// storm.
TEST("on a path that became good the delay is soon a few of its spacings") {
    cairn_clock clock;
    cairn_interpolation interpolation;
    cairn_clock_start(&clock, 20);
    cairn_interpolation_start(&interpolation, 0, 100);
    for (uint64_t tick = 0; tick < 620; tick++) {
        const uint64_t now = SECOND + tick * 50 * MS;
        const uint64_t into = tick % 20; // two short spacings, a gap, and so on
        if (tick >= 500 || into == 0 || into == 2 || into == 4 || into == 12) {
            cairn_clock_observe(&clock, now, tick);
            cairn_interpolation_observe(&interpolation, &clock, now, tick);
        }
        cairn_clock_advance(&clock, now);
        cairn_interpolation_advance(&interpolation, &clock, now);
        if (tick == 499) {
            assert_true(interpolation.delay_ns > 350.0 * MS);
        }
    }
    assert_true(interpolation.delay_ns < 255.0 * MS);
}

static cairn_snapshot_shape shape_of(uint32_t id, uint32_t body) {
    return (cairn_snapshot_shape){.id = id, .body = body, .kind = 3};
}

TEST("shapes are added, removed and replaced in order of index") {
    SCOPED(cairn_shape_list) list;
    assert_int_equal(cairn_shape_list_create(&list, 3), CAIRN_OK);
    const cairn_snapshot_shape first[] = {shape_of(3, 1), shape_of(1, 1)};
    cairn_shapes_message message = {.shapes = first, .shape_count = 2};
    assert_int_equal(cairn_shape_list_take(&list, &message), CAIRN_OK);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.shapes[0].id, 1);
    uint32_t revision = list.revision;

    const uint32_t removed[] = {1, 9};
    const cairn_snapshot_shape second[] = {shape_of(3 | (1u << 20), 2), shape_of(2, 5)};
    message = (cairn_shapes_message){
        .shapes = second, .shape_count = 2, .removed = removed, .removed_count = 2};
    assert_int_equal(cairn_shape_list_take(&list, &message), CAIRN_OK);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.shapes[0].id, 2);
    assert_int_equal(list.shapes[1].body, 2);
    assert_int_not_equal(list.revision, revision);

    const cairn_snapshot_shape third[] = {shape_of(7, 1), shape_of(8, 1)};
    message = (cairn_shapes_message){.shapes = third, .shape_count = 2};
    assert_int_equal(cairn_shape_list_take(&list, &message), CAIRN_CAPACITY);
    assert_int_equal(list.count, 3);
}

TEST("equal hulls share their corners") {
    SCOPED(cairn_shape_list) list;
    assert_int_equal(cairn_shape_list_create(&list, 4), CAIRN_OK);
    const cairn_vec3 corners[13] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0},
        {2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {1, 1, 1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const uint8_t counts[3] = {4, 5, 4};
    const cairn_snapshot_shape shapes[4] = {{.id = 3, .body = 1, .kind = 5},
        {.id = 2, .body = 1, .kind = 3}, {.id = 4, .body = 1, .kind = 5},
        {.id = 1, .body = 1, .kind = 5}};
    cairn_shapes_message message = {.shapes = shapes,
        .shape_count = 4,
        .corner_counts = counts,
        .hull_count = 3,
        .corners = corners,
        .corner_count = 13};
    assert_int_equal(cairn_shape_list_take(&list, &message), CAIRN_OK);
    const cairn_shape_hull *shared = cairn_shape_list_hull(&list, 3);
    assert_non_null(shared);
    assert_int_equal(shared->users, 2);
    assert_ptr_equal(cairn_shape_list_hull(&list, 1), shared);
    assert_null(cairn_shape_list_hull(&list, 2));
    assert_null(cairn_shape_list_hull(&list, 9));
    assert_int_equal(cairn_shape_list_hull(&list, 4)->count, 5);
    assert_memory_equal(cairn_shape_list_hull(&list, 4)->corners, &corners[4], 5 * 12);

    // A hull shape is removed and the other one replaced by a box, so the place of the hull is free
    // and is used for the next.
    const uint32_t removed[] = {1};
    const cairn_snapshot_shape box = {.id = 3 | 1u << 20, .body = 1, .kind = 3};
    message = (cairn_shapes_message){
        .shapes = &box, .shape_count = 1, .removed = removed, .removed_count = 1};
    assert_int_equal(cairn_shape_list_take(&list, &message), CAIRN_OK);
    assert_int_equal(shared->users, 0);
    assert_int_equal(cairn_shape_list_hull(&list, 4)->count, 5);
    const cairn_snapshot_shape late = {.id = 1 | 1u << 20, .body = 1, .kind = 5};
    message = (cairn_shapes_message){.shapes = &late,
        .shape_count = 1,
        .corner_counts = counts,
        .hull_count = 1,
        .corners = &corners[4],
        .corner_count = 4};
    assert_int_equal(cairn_shape_list_take(&list, &message), CAIRN_OK);
    assert_ptr_equal(cairn_shape_list_hull(&list, late.id), shared);
    assert_int_equal(list.hull_end, 2);
}
