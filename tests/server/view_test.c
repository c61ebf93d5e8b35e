// SPDX-License-Identifier: MIT
// Which bodies a view holds, against a search of all bodies in each snapshot: they wander, jump,
// appear, end and grow, and the player moves and jumps.
#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include <cairn/math.h>

#include "base/random.h"
#include "net/link_parts.h"
#include "server/replicate/parts.h"
#include "server/replicate/view.h"
#include "server/replicate/world_events.h"

#define BODIES 600
#define SIDE_M 120.0f
#define DISTANCE_M 20
#define SNAPSHOTS 400

// Replaces that of the system (CMakeLists.txt).
static bool memory_is_short; // for one call
void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size) {
    const bool fails = memory_is_short;
    memory_is_short = false;
    return fails ? NULL : __real_realloc(block, size);
}

// Replaces that of compress/part_codec.c.
static bool wrote_settings; // by the newest part
cairn_part_writer __real_cairn_part_write(
    const cairn_snapshot_frame *frame, bool settings, uint8_t *bytes, size_t size);
cairn_part_writer __wrap_cairn_part_write(
    const cairn_snapshot_frame *frame, bool settings, uint8_t *bytes, size_t size);
cairn_part_writer __wrap_cairn_part_write(
    const cairn_snapshot_frame *frame, bool settings, uint8_t *bytes, size_t size) {
    wrote_settings = settings;
    return __real_cairn_part_write(frame, settings, bytes, size);
}

// And a body that enters: the mean of its bits and of those before.
static uint32_t enter_bits;
void __real_cairn_part_enter(cairn_part_writer *writer, uint32_t place);
void __wrap_cairn_part_enter(cairn_part_writer *writer, uint32_t place);
void __wrap_cairn_part_enter(cairn_part_writer *writer, uint32_t place) {
    const cairn_bits before = writer->bits;
    __real_cairn_part_enter(writer, place);
    const size_t bits = 8 * (writer->bits.at - before.at) + writer->bits.count - before.count;
    enter_bits = (uint32_t)((15 * enter_bits + bits + 8) / 16);
}

typedef struct field {
    cairn_room_interest interest;
    cairn_snapshot_frame frames[2];
    cairn_snapshot_body bodies[BODIES]; // by id index
    cairn_vec3 velocities[BODIES];
    float sizes[BODIES];
    bool seen[BODIES]; // by the search of all bodies
    cairn_room room;
    cairn_session session;
    cairn_view *view;
    cairn_random random;
    uint64_t tick;
} field;

static float up_to(field *f, float most) {
    return most * cairn_random_unit(&f->random);
}

static bool one_in(field *f, uint32_t count) {
    return cairn_random_below(&f->random, count) == 0;
}

static void place_anywhere(field *f, uint32_t i) {
    f->bodies[i].position.x = up_to(f, SIDE_M);
    f->bodies[i].position.y = up_to(f, 5.0f);
    f->bodies[i].position.z = up_to(f, SIDE_M);
}

static void create_body(field *f, uint32_t i) {
    const uint32_t generation = cairn_id_generation(f->bodies[i].id) + 1;
    f->bodies[i].id = generation << CAIRN_ID_INDEX_BITS | (i + 1);
    f->bodies[i].rotation.w = 1.0f;
    f->bodies[i].flags = i == 0 ? 1u << CAIRN_SNAPSHOT_BODY_OWNER_SHIFT : 0;
    f->sizes[i] = 0.2f + up_to(f, one_in(f, 50) ? 12.0f : 1.0f);
    f->velocities[i] = (cairn_vec3){up_to(f, 8.0f) - 4.0f, 0.0f, up_to(f, 8.0f) - 4.0f};
    place_anywhere(f, i);
}

static void move_bodies(field *f, uint32_t events) {
    for (uint32_t i = 0; i < BODIES; ++i) {
        cairn_vec3 *at = &f->bodies[i].position;
        at->x += f->velocities[i].x / 20.0f;
        at->z += f->velocities[i].z / 20.0f;
        f->velocities[i].x *= at->x < 0.0f || at->x > SIDE_M ? -1.0f : 1.0f;
        f->velocities[i].z *= at->z < 0.0f || at->z > SIDE_M ? -1.0f : 1.0f;
    }
    for (uint32_t k = 0; k < events; ++k) {
        const uint32_t i = (uint32_t)cairn_random_below(&f->random, BODIES);
        const uint32_t deed = i == 0 ? 0 : (uint32_t)cairn_random_below(&f->random, 3);
        if (deed == 0) {
            place_anywhere(f, i);
        } else if (deed == 1) {
            create_body(f, i); // another one in its index
        } else {
            f->sizes[i] = 0.2f + up_to(f, 15.0f);
        }
    }
}

static void take_snapshot(field *f) {
    cairn_snapshot_frame *frame = &f->frames[f->tick / 3 % 2];
    const cairn_snapshot_frame *last = f->tick == 0 ? NULL : &f->frames[(f->tick / 3 + 1) % 2];
    f->tick += 3;
    frame->tick = f->tick;
    frame->tick_rate_hz = 60;
    frame->quantisation = cairn_quantisation_default();
    frame->gravity = (cairn_vec3){0.0f, -10.0f, 0.0f};
    frame->count = 0;
    for (uint32_t i = 0; i < BODIES; ++i) {
        if (i == 0 || i % 7 != f->tick / 90 % 7) { // some are not there for a while
            const cairn_vec3 half = {f->sizes[i], 0.1f, 0.1f};
            cairn_snapshot_frame_add(
                frame, &f->bodies[i], cairn_snapshot_extents(&frame->quantisation, half));
        }
    }
    cairn_room_interest_update(&f->interest, frame, last);
}

static float distance_of(const cairn_snapshot_frame *frame, uint32_t a, uint32_t b) {
    const cairn_vec3 p = cairn_dequantise(&frame->quantisation, &frame->poses[a]).position;
    const cairn_vec3 q = cairn_dequantise(&frame->quantisation, &frame->poses[b]).position;
    const cairn_vec3 half = frame->bodies[b].half_extents;
    const float x = p.x - q.x, y = p.y - q.y, z = p.z - q.z;
    return cairn_float_sqrt(x * x + y * y + z * z) -
           cairn_float_sqrt(half.x * half.x + half.y * half.y + half.z * half.z);
}

// A body that was not sent leaves at once. Returns how many are seen.
static uint32_t expect_those_in_sight(field *f) {
    const cairn_snapshot_frame *frame = f->interest.frame;
    bool there[BODIES] = {false};
    uint32_t count = 0;
    for (uint32_t place = 0; place < frame->count; ++place) {
        const uint32_t i = cairn_id_index(frame->ids[place]);
        const float distance_m = place == 0 ? 0.0f : distance_of(frame, 0, place);
        const float border_m = f->seen[i] ? DISTANCE_M * 9.0f / 8.0f : DISTANCE_M;
        there[i] = true;
        const bool shown = cairn_view_shows(f->view, frame->ids[place]);
        if (cairn_float_abs(distance_m - border_m) > 0.001f) {
            assert_int_equal(shown, distance_m < border_m);
        }
        f->seen[i] = shown;
        count += shown ? 1 : 0;
    }
    for (uint32_t i = 0; i < BODIES; ++i) {
        f->seen[i] = f->seen[i] && there[i];
    }
    assert_int_equal(f->view->count, count);
    return count;
}

static field *new_field(void) {
    cairn_world_def def = cairn_world_def_default();
    field *f = calloc(1, sizeof *f);
    f->random = cairn_random_of(4);
    f->room.settings.view_distance_m = DISTANCE_M;
    assert_int_equal(cairn_world_create(&def, &f->room.world), CAIRN_OK);
    assert_true(cairn_room_interest_create(&f->interest, BODIES, 1));
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(cairn_snapshot_frame_create(&f->frames[i], BODIES), CAIRN_OK);
    }
    for (uint32_t i = 0; i < BODIES; ++i) {
        create_body(f, i);
    }
    f->view = cairn_view_create(BODIES, NULL);
    assert_non_null(f->view);
    return f;
}

static void end_field(field *f) {
    cairn_view_destroy(f->view);
    cairn_room_interest_destroy(&f->interest);
    cairn_snapshot_frame_destroy(&f->frames[0]);
    cairn_snapshot_frame_destroy(&f->frames[1]);
    cairn_world_destroy(f->room.world);
    free(f);
}

TEST("a view holds what a search of all bodies finds") {
    uint32_t searches = 0;
    for (uint32_t round = 0; round < 3; ++round) {
        field *f = new_field();
        uint32_t seen = 0;
        for (uint32_t i = 0; i < SNAPSHOTS; ++i) {
            // Wandering alone; then jumps; then more of them than are listed.
            move_bodies(f, round == 0 ? 0 : round == 1 ? 3 : one_in(f, 10) ? 500 : 1);
            take_snapshot(f);
            if (one_in(f, 20)) {
                continue; // its path takes nothing now
            }
            const double before_m = f->view->search.travelled_m;
            assert_true(cairn_view_update(f->view, &f->interest, &f->room, &f->session));
            searches += round == 0 && f->view->search.travelled_m != before_m ? 1 : 0;
            seen += expect_those_in_sight(f);
        }
        assert_true(seen > 10 * SNAPSHOTS);
        end_field(f);
    }
    // Bodies that come nearer by half a metre in each snapshot, and a ring of 2.5 m.
    assert_in_range(searches, SNAPSHOTS / 10, SNAPSHOTS / 2);
}

TEST("of the bodies of a snapshot those alone are listed that went far since the one before") {
    field *f = new_field();
    take_snapshot(f);
    take_snapshot(f);
    assert_int_equal(f->interest.jumped_count, 0);
    f->bodies[5].position.x += f->bodies[5].position.x > SIDE_M / 2.0f ? -20.0f : 20.0f;
    take_snapshot(f);
    assert_int_equal(f->interest.jumped_count, 1);
    const uint32_t place = f->interest.jumped[0];
    assert_int_equal(f->interest.frame->ids[place], f->bodies[5].id);
    take_snapshot(f);
    assert_int_equal(f->interest.jumped_count, 0);
    end_field(f);
}

TEST("a grid of cells lies across the axis of gravity") {
    static const cairn_vec3 gravities[] = {
        {-10.0f, 1.0f, 1.0f}, {1.0f, -10.0f, 1.0f}, {1.0f, 1.0f, 10.0f}, {0.0f, 0.0f, 0.0f}};
    field *f = new_field();
    for (uint32_t i = 0; i < BODIES; ++i) { // on both sides of the origin
        f->bodies[i].position.x -= SIDE_M / 2.0f;
        f->bodies[i].position.y = up_to(f, SIDE_M) - SIDE_M / 2.0f;
        f->bodies[i].position.z -= SIDE_M / 2.0f;
    }
    take_snapshot(f);
    for (uint32_t k = 0; k < sizeof gravities / sizeof *gravities; ++k) {
        f->frames[0].gravity = gravities[k];
        cairn_room_interest_update(&f->interest, &f->frames[0], NULL);
        const float cell_m = f->interest.cell_m;
        for (uint32_t place = 0; place < f->frames[0].count; ++place) {
            const cairn_placed_sphere *at = &f->interest.placed[place];
            const float u = (k == 0 ? at->center.y : at->center.x) / cell_m;
            const float v = (k == 2 ? at->center.y : at->center.z) / cell_m;
            assert_true((float)at->cell[0] <= u && u < (float)at->cell[0] + 1.0f);
            assert_true((float)at->cell[1] <= v && v < (float)at->cell[1] + 1.0f);
        }
    }
    end_field(f);
}

// A part of this tick has the first `count` members, in order of their indices.
static void add_part(cairn_view *view, uint64_t tick, uint32_t count) {
    cairn_view_part *part = &view->parts[tick % CAIRN_VIEW_PARTS_MAX];
    free(part->records);
    *part = (cairn_view_part){.tick = tick, .count = count, .capacity = count};
    part->records = calloc(count, sizeof *part->records);
    for (uint32_t i = 0; i < count; ++i) {
        part->records[i] = cairn_id_index(view->members[i].id);
    }
}

static void expect_acked(const cairn_view_member *member, uint64_t a, uint64_t b, uint64_t c) {
    assert_int_equal(member->acked[0], a);
    assert_int_equal(member->acked[1], b);
    assert_int_equal(member->acked[2], c);
}

TEST("a view knows of each body the last three samples that the client holds") {
    field *f = new_field();
    take_snapshot(f);
    assert_true(cairn_view_update(f->view, &f->interest, &f->room, &f->session));
    assert_true(f->view->count >= 3);
    const cairn_view_member *members = f->view->members;
    const uint64_t since = members[0].since;
    for (uint64_t i = 1; i <= 4; ++i) {
        add_part(f->view, since + 2 * i, i == 3 ? 1 : 2);
    }
    cairn_view_acknowledge(f->view, since + 2);
    expect_acked(&members[0], since + 2, 0, 0);
    cairn_view_acknowledge(f->view, since + 3); // what was not sent
    cairn_view_acknowledge(f->view, since + 4);
    cairn_view_acknowledge(f->view, since + 2); // late
    cairn_view_acknowledge(f->view, since + 6);
    expect_acked(&members[0], since + 6, since + 4, since + 2);
    cairn_view_acknowledge(f->view, since + 8);
    expect_acked(&members[0], since + 8, since + 6, since + 4);
    expect_acked(&members[1], since + 8, since + 4, since + 2);
    expect_acked(&members[2], 0, 0, 0);
    assert_int_equal(f->view->acknowledged, since + 8);
    end_field(f);
}

TEST("a view that finds no memory says so, and one that does takes what its bodies need") {
    field *f = new_field();
    take_snapshot(f);
    memory_is_short = true;
    assert_false(cairn_view_update(f->view, &f->interest, &f->room, &f->session));
    assert_false(memory_is_short);
    assert_true(cairn_view_update(f->view, &f->interest, &f->room, &f->session));
    assert_true(f->view->count > 0);
    assert_in_range(f->view->room, f->view->count, BODIES / 2);
    end_field(f);
}

TEST("a view looks again when its place has moved up") {
    const float up_m = 2.7f; // more than the ring, of 2.5 m
    field *f = new_field();
    take_snapshot(f);
    assert_true(cairn_view_update(f->view, &f->interest, &f->room, &f->session));
    take_snapshot(f);
    assert_true(cairn_view_update(f->view, &f->interest, &f->room, &f->session));
    const float looked_m = f->view->search.center.y;
    f->bodies[0].id += 1u << CAIRN_ID_INDEX_BITS; // another body, which came no way
    f->bodies[0].position.y += up_m;
    take_snapshot(f);
    assert_true(cairn_view_update(f->view, &f->interest, &f->room, &f->session));
    const float moved_m = f->view->search.center.y - looked_m;
    assert_true(moved_m > up_m - 0.1f && moved_m < up_m + 0.1f);
    end_field(f);
}

TEST("a body is due when it changed since it was sent, or was lost since it changed") {
    static const struct {
        uint64_t acked, sent, changed;
        bool due;
    } rows[] = {{40, 45, 50, true}, {40, 50, 50, false}, {40, 51, 50, false}, {40, 30, 50, true},
        {60, 30, 50, false}, {50, 30, 50, false}, {0, 90, 50, false}, {0, 30, 50, true}};
    field *f = new_field();
    take_snapshot(f);
    f->frames[1].tick = 100;
    f->interest.frame = &f->frames[1];
    f->view->acknowledged = 42;
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const cairn_view_member member = {
            .id = f->bodies[3].id, .acked = {rows[i].acked}, .sent = rows[i].sent};
        f->interest.history[cairn_id_index(member.id)].changed = rows[i].changed;
        assert_int_equal(cairn_view_is_due(f->view, &member, &f->interest, 80), rows[i].due);
    }
    end_field(f);
}

TEST("snapshots that follow each other tell when bodies changed, from the first tick on") {
    for (uint64_t first = 1; first < 4; ++first) {
        field *f = new_field();
        take_snapshot(f);
        take_snapshot(f); // nothing moves between both
        f->frames[0].tick = first;
        f->frames[1].tick = first + 1;
        cairn_room_interest_update(&f->interest, &f->frames[0], NULL);
        cairn_room_interest_update(&f->interest, &f->frames[1], &f->frames[0]);
        for (uint32_t place = 0; place < f->frames[1].count; ++place) {
            const uint32_t index = cairn_id_index(f->frames[1].ids[place]);
            assert_int_equal(f->interest.history[index].changed, first);
        }
        f->frames[0].tick = first + 3; // after a gap
        cairn_room_interest_update(&f->interest, &f->frames[0], NULL);
        assert_int_equal(f->interest.history[1].changed, first + 3);
        end_field(f);
    }
}

TEST("a body that leaves goes on leaving until it is near, and has no distance meanwhile") {
    static const struct {
        float distance_m;
        bool leaves;
    } rows[] = {{5.0f, false}, {21.0f, false}, {30.0f, true}, {21.0f, true}, {23.0f, true},
        {19.0f, false}, {21.0f, false}};
    field *f = new_field();
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        f->sizes[1] = 0.2f;
        f->bodies[1].position = f->bodies[0].position;
        f->bodies[1].position.x += rows[i].distance_m;
        take_snapshot(f);
        assert_true(cairn_view_update(f->view, &f->interest, &f->room, &f->session));
        cairn_view_member *member = &f->view->members[1]; // in order of their indices
        assert_int_equal(member->id, f->bodies[1].id);
        assert_int_equal(member->leaving, rows[i].leaves);
        assert_int_equal(member->distance_m > 0.0f, !rows[i].leaves);
        member->sent = f->tick;
    }
    end_field(f);
}

#define ROW 500

// A row of bodies along x, of which a part holds a share. They move apart at `speed`.
static cairn_world *row_of_bodies(uint32_t count, float speed) {
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world;
    def.body_capacity = count;
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    for (uint32_t i = 0; i < count; ++i) {
        cairn_body_def body = cairn_body_def_default();
        cairn_body_id made;
        body.position.x = (float)(i * 7 % count); // in no order
        body.linear_velocity.y = speed;
        body.gravity_scale = 0.0f;
        assert_int_equal(cairn_body_create(world, &body, &made), CAIRN_OK);
    }
    return world;
}

// A client in the middle of such a world, and what parts for it are made of.
typedef struct sender {
    cairn_world *world;
    cairn_server_context context;
    cairn_room room;
    cairn_session session;
    cairn_baselines *baselines;
    cairn_room_interest interest;
    cairn_game_sent game;
    cairn_view *view;
    uint64_t due_ns;
} sender;

static void take_part_snapshot(sender *s) {
    const cairn_room_shapes shapes = {.revision = 1};
    const cairn_baseline *last = cairn_baselines_newest(s->baselines);
    assert_true(cairn_baselines_take(s->baselines, s->world, &shapes, NULL));
    if (last != NULL) {
        last = cairn_baselines_before_newest(s->baselines);
    }
    cairn_room_interest_update(&s->interest, &cairn_baselines_newest(s->baselines)->frame,
        last == NULL ? NULL : &last->frame);
}

// The view holds all bodies of the first snapshot, and has sent none of them.
static void begin_sender(sender *s, cairn_world *world, uint32_t snapshot_rate_hz) {
    const cairn_link_config link = cairn_link_config_default();
    const cairn_world_def *def = cairn_world_settings(world);
    const cairn_quantisation quantisation = cairn_quantisation_default();
    const uint32_t bodies = def->body_capacity;
    *s = (sender){.world = world,
        .context = {.now_ns = CAIRN_NS_PER_S},
        .room = {.world = world,
            .settings = {.view_distance_m = 2 * bodies,
                .tick_rate_hz = 60,
                .snapshot_rate_hz = snapshot_rate_hz}},
        .session = {.room = &s->room, .slot = CAIRN_SLOT_NONE, .due_ns = &s->due_ns},
        .view = cairn_view_create(bodies, NULL)};
    assert_int_equal(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &s->context.encoder), CAIRN_OK);
    assert_int_equal(cairn_link_create(&link, s->context.now_ns, &s->session.link), CAIRN_OK);
    assert_int_equal(cairn_baselines_create(4, def, &quantisation, &s->baselines), CAIRN_OK);
    assert_true(cairn_room_interest_create(&s->interest, bodies, 1));
    take_part_snapshot(s);
    s->view->centered = true; // at the origin
    assert_true(cairn_view_update(s->view, &s->interest, &s->room, &s->session));
}

static void send_part(sender *s, uint64_t bytes_per_second) {
    cairn_part_send(
        &s->context, &s->session, s->baselines, &s->interest, s->view, bytes_per_second, &s->game);
}

// Everything that waits leaves, and a snapshot's time passes.
static void let_leave(sender *s) {
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    while (cairn_link_next_payload(s->session.link, s->context.now_ns, payload) > 0) {
        s->context.now_ns += CAIRN_NS_PER_S / 1000;
    }
    s->context.now_ns += CAIRN_NS_PER_S / 20;
}

static void end_sender(sender *s) {
    cairn_room_interest_destroy(&s->interest);
    cairn_baselines_destroy(s->baselines);
    cairn_link_destroy(s->session.link);
    cairn_encoder_destroy(s->context.encoder);
    cairn_view_destroy(s->view);
}

TEST("of bodies that begin to wait in one tick the nearest come first, whichever tick and however "
     "long ago") {
    static const uint64_t ticks[][2] = {{1, 0}, {5, 0}, {9, 0}, {60, 0}, {64, 40}, {68, 60}};
    cairn_world *world = row_of_bodies(ROW, 0.0f);
    for (uint32_t i = 0; i < sizeof ticks / sizeof *ticks; ++i) {
        const uint64_t tick = ticks[i][0];
        while (cairn_world_tick(world) < tick) {
            cairn_world_step(world, NULL, 0);
        }
        sender s;
        begin_sender(&s, world, 20);
        cairn_view *view = s.view;
        for (uint32_t m = 0; m < view->count && ticks[i][1] > 0; ++m) {
            view->members[m].waiting = tick - ticks[i][1];
        }
        send_part(&s, 20000);
        assert_int_equal(s.room.statistics.parts_sent, 1);
        assert_in_range(view->parts[0].count, 30, ROW / 2);
        float farthest = 0.0f, nearest = ROW;
        for (uint32_t m = 0; m < view->count; ++m) {
            const float at = view->members[m].distance_m;
            farthest = view->members[m].chosen && at > farthest ? at : farthest;
            nearest = !view->members[m].chosen && at < nearest ? at : nearest;
        }
        assert_true(farthest < nearest * 1.15f + 1.0f); // some have the same rank
        // Those that wait for nothing take no bytes of the others.
        for (uint32_t k = 0; k < 3; ++k) {
            cairn_world_step(world, NULL, 0);
        }
        take_part_snapshot(&s);
        let_leave(&s);
        send_part(&s, 20000);
        assert_int_equal(s.room.statistics.parts_sent, 2);
        assert_in_range(view->parts[1].count, view->parts[0].count, ROW - 1);
        end_sender(&s);
    }
    cairn_world_destroy(world);
}

// A message of many payloads seldom arrives whole on a path that loses them.
TEST(
    "a part is at most as long as what arrives whole on its path, and neither too long nor empty") {
    static const struct {
        float loss;
        uint32_t least, most;
    } rows[] = {{0.0f, 15000, 17000}, {0.001f, 15000, 17000}, {0.01f, 15000, 17000},
        {0.05f, 5000, 8000}, {0.1f, 2500, 4000}, {0.5f, 700, 1200}, {1.0f, 700, 1200}};
    cairn_world *world = row_of_bodies(12 * ROW, 0.0f);
    cairn_world_step(world, NULL, 0);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        sender s;
        begin_sender(&s, world, 2);
        s.session.link->estimate.loss = rows[i].loss;
        s.view->enter_bits = 1; // as many are chosen as fit
        send_part(&s, UINT64_MAX);
        assert_int_equal(s.room.statistics.parts_sent, 1);
        assert_in_range(s.room.statistics.snapshot_bytes, rows[i].least, rows[i].most);
        end_sender(&s);
    }
    cairn_world_destroy(world);
}

TEST("a body whose samples were all dropped is sent anew, as if the client had none of it") {
    cairn_world *world = row_of_bodies(4, 1.0f);
    sender s;
    cairn_world_step(world, NULL, 0);
    begin_sender(&s, world, 20);
    for (uint32_t i = 0; i < 3; ++i) {
        send_part(&s, UINT64_MAX);
        cairn_view_acknowledge(s.view, cairn_world_tick(world));
        let_leave(&s);
        cairn_world_step(world, NULL, 0);
        take_part_snapshot(&s);
    }
    const uint64_t tick = cairn_world_tick(world);
    expect_acked(&s.view->members[2], tick - 1, tick - 2, tick - 3);
    for (uint32_t i = 0; i < 64; ++i) {
        cairn_world_step(world, NULL, 0);
        take_part_snapshot(&s);
    }
    send_part(&s, UINT64_MAX);
    assert_int_equal(s.room.statistics.parts_sent, 4);
    for (uint32_t m = 0; m < s.view->count; ++m) {
        expect_acked(&s.view->members[m], 0, 0, 0);
    }
    end_sender(&s);
    cairn_world_destroy(world);
}

static void next_snapshot(sender *s) {
    let_leave(s);
    cairn_world_step(s->world, NULL, 0);
    take_part_snapshot(s);
}

TEST("settings go with each part until one that has them is acknowledged, and when they change") {
    cairn_world *world = row_of_bodies(4, 1.0f);
    sender s;
    cairn_world_step(world, NULL, 0);
    begin_sender(&s, world, 20);
    const uint64_t first = cairn_world_tick(world);
    for (uint32_t i = 0; i < 3; ++i) {
        send_part(&s, UINT64_MAX);
        assert_true(wrote_settings);
        next_snapshot(&s);
    }
    cairn_view_acknowledge(s.view, first);
    for (uint32_t i = 0; i < 2; ++i) {
        send_part(&s, UINT64_MAX);
        assert_false(wrote_settings);
        next_snapshot(&s);
    }
    const uint64_t last = s.interest.frame->tick;
    s.view->gravity.x += 1.0f; // as if it had been another one
    send_part(&s, UINT64_MAX);
    assert_true(wrote_settings);
    cairn_view_acknowledge(s.view, last);
    next_snapshot(&s);
    send_part(&s, UINT64_MAX);
    assert_false(wrote_settings);
    assert_int_equal(s.room.statistics.parts_sent, 7);
    end_sender(&s);
    cairn_world_destroy(world);
}

// Bodies stop and go; snapshots and acknowledgements are left out.
TEST("no member that is due is passed over, and one that rests is not looked at again") {
    cairn_world *world = row_of_bodies(ROW, 0.0f);
    cairn_random random = cairn_random_of(7);
    sender s;
    uint32_t due = 0, settled = 0;
    cairn_world_step(world, NULL, 0);
    begin_sender(&s, world, 20);
    for (uint32_t k = 0; k < 400; ++k) {
        const uint32_t changes = cairn_random_below(&random, 4) == 0 ? ROW : k % 100 > 60 ? 0 : 5;
        for (uint32_t i = 0; i < changes; ++i) {
            const uint32_t place = (uint32_t)cairn_random_below(&random, s.interest.frame->count);
            const float speed = (float)cairn_random_below(&random, 2);
            const cairn_vec3 v = {0.0f, speed, 0.0f};
            (void)cairn_body_set_velocity(world, s.interest.frame->ids[place], v, (cairn_vec3){0});
        }
        next_snapshot(&s);
        if (cairn_random_below(&random, 8) == 0) {
            continue; // nothing is sent
        }
        assert_true(cairn_view_update(s.view, &s.interest, &s.room, &s.session));
        for (uint32_t m = 0; m < s.view->count; ++m) {
            const cairn_view_member *member = &s.view->members[m];
            const uint32_t index = cairn_id_index(member->id);
            const bool owed = (s.view->owed[index / 64] >> index % 64 & 1) != 0;
            const bool is_due = cairn_view_is_due(s.view, member, &s.interest, 9);
            assert_true(owed || !is_due);
            due += is_due ? 1 : 0;
            settled += owed ? 0 : 1;
        }
        send_part(&s, cairn_random_below(&random, 2) == 0 ? 20000 : UINT64_MAX);
        if (cairn_random_below(&random, 3) != 0) {
            cairn_view_acknowledge(s.view, s.interest.tick);
        }
    }
    assert_true(due > 10 * ROW);
    assert_true(settled > 10 * ROW);
    end_sender(&s);
    cairn_world_destroy(world);
}

TEST("what was not sent gains as much as the client's picture is off, less with the distance") {
    cairn_world *world = row_of_bodies(ROW, 0.0f);
    cairn_world_step(world, NULL, 0);
    sender s;
    begin_sender(&s, world, 20);
    for (uint32_t k = 1; k <= 2; ++k) {
        send_part(&s, 20000);
        uint32_t left = 0;
        for (uint32_t m = 0; m < s.view->count; ++m) {
            const cairn_view_member *member = &s.view->members[m];
            const uint32_t place = s.interest.places[cairn_id_index(member->id)] - 1;
            const cairn_vec3 half = s.interest.frame->bodies[place].half_extents;
            const float error = 0.5f + half.x + half.y + half.z + 0.01f;
            if (member->chosen || member->sent != 0) {
                assert_true(member->priority == 0.0f);
                continue;
            }
            left += 1;
            EXPECT_NEAR(member->priority,
                (float)k * error * member->weight / (1.0f + 0.1f * member->distance_m), 1e-4);
        }
        assert_true(left > (k == 1 ? ROW / 4 : 10));
        next_snapshot(&s);
    }
    end_sender(&s);
    cairn_world_destroy(world);
}

TEST("what a body takes to enter is taken to be as much as others took lately, to the bit") {
    cairn_world *world = row_of_bodies(40, 1.0f);
    cairn_world_step(world, NULL, 0);
    for (uint32_t bits = 1; bits < 400; bits += 7) {
        sender s;
        begin_sender(&s, world, 20);
        s.view->enter_bits = enter_bits = bits;
        send_part(&s, UINT64_MAX);
        assert_int_equal(s.room.statistics.parts_sent, 1);
        assert_int_not_equal(s.view->enter_bits, bits);
        assert_int_equal(s.view->enter_bits, enter_bits);
        end_sender(&s);
    }
    cairn_world_destroy(world);
}

TEST("a body that a client has of the last snapshot is off by what it went since") {
    const float speed = 6.0f;
    cairn_world *world = row_of_bodies(ROW, speed);
    cairn_world_step(world, NULL, 0);
    sender s;
    begin_sender(&s, world, 20);
    for (uint32_t i = 0; i < 2; ++i) {
        send_part(&s, UINT64_MAX);
        cairn_view_acknowledge(s.view, cairn_world_tick(world));
        next_snapshot(&s);
    }
    const uint64_t tick = cairn_world_tick(world);
    expect_acked(&s.view->members[2], tick - 1, tick - 2, 0);
    s.view->allowance = 3000; // bits: of some
    send_part(&s, 2000);
    uint32_t left = 0;
    for (uint32_t m = 0; m < s.view->count; ++m) {
        const cairn_view_member *member = &s.view->members[m];
        if (member->chosen || member->sent != tick - 1) {
            continue;
        }
        left += 1;
        EXPECT_NEAR(member->priority,
            speed / 60.0f * member->weight / (1.0f + 0.1f * member->distance_m), 2e-3);
    }
    assert_true(left > 10);
    end_sender(&s);
    cairn_world_destroy(world);
}

// Who sees a part of the world is told of what happens there.
TEST("an event is told if all bodies that it has are shown") {
    cairn_world *world = row_of_bodies(4, 0.0f);
    cairn_world_step(world, NULL, 0);
    sender s;
    begin_sender(&s, world, 20);
    const cairn_body_id shown = s.view->members[0].id;
    const cairn_body_id hidden = shown + (1u << CAIRN_ID_INDEX_BITS); // had its index before
    const struct {
        cairn_body_id a, b;
        bool told;
    } rows[] = {{0, 0, true}, {shown, 0, true}, {0, shown, true}, {shown, shown, true},
        {hidden, 0, false}, {0, hidden, false}, {shown, hidden, false}, {hidden, shown, false}};
    cairn_event_log *log = &s.room.job.events;
    assert_int_equal(cairn_event_log_create(log), CAIRN_OK);
    cairn_world_events_sent sent = {0};
    cairn_world_events_send(&s.context, &s.session, s.view, &sent); // begins with what follows
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const uint64_t before = s.room.statistics.world_events_sent;
        log->ring[log->written++] =
            (cairn_wire_event){.kind = 1, .body_a = rows[i].a, .body_b = rows[i].b};
        cairn_world_events_send(&s.context, &s.session, s.view, &sent);
        assert_int_equal(s.room.statistics.world_events_sent - before, rows[i].told);
        assert_int_equal(sent.next, i + 1);
    }
    cairn_event_log_destroy(log);
    end_sender(&s);
    cairn_world_destroy(world);
}

TEST("a client without a view alone is told how many events it missed") {
    cairn_world *world = row_of_bodies(4, 0.0f);
    cairn_world_step(world, NULL, 0);
    for (uint32_t k = 0; k < 2; ++k) {
        sender s;
        begin_sender(&s, world, 20);
        const cairn_view *view = k == 0 ? NULL : s.view;
        cairn_event_log *log = &s.room.job.events;
        assert_int_equal(cairn_event_log_create(log), CAIRN_OK);
        cairn_world_events_sent sent = {0};
        cairn_world_events_send(&s.context, &s.session, view, &sent); // begins with what follows
        for (uint32_t i = 0; i < CAIRN_EVENT_LOG_CAPACITY + 7; ++i) {
            log->ring[log->written++ % CAIRN_EVENT_LOG_CAPACITY] = (cairn_wire_event){.kind = 1};
        }
        cairn_world_events_send(&s.context, &s.session, view, &sent);
        assert_int_equal(s.room.statistics.world_events_sent, CAIRN_EVENT_LOG_CAPACITY);
        assert_int_equal(s.room.statistics.world_events_missed, k == 0 ? 7 : 0);
        assert_int_equal(sent.missed, 0);
        cairn_event_log_destroy(log);
        end_sender(&s);
    }
    cairn_world_destroy(world);
}

TEST("the bytes of a view are those of its bodies, its parts and itself") {
    cairn_world *world = row_of_bodies(64, 0.0f);
    cairn_world_step(world, NULL, 0);
    sender s;
    begin_sender(&s, world, 20);
    const size_t before = cairn_view_bytes(s.view);
    const cairn_view *view = s.view;
    assert_int_equal(before, sizeof *view + (view->capacity + 63) / 64 * 16 +
                                 view->room * sizeof *view->members +
                                 view->search.room * sizeof *view->search.found);
    assert_true(view->room >= 64);
    send_part(&s, UINT64_MAX);
    assert_int_equal(
        cairn_view_bytes(view), before + view->parts[0].capacity * sizeof *view->parts[0].records);
    assert_true(view->parts[0].capacity >= 64);
    const size_t one = cairn_baselines_bytes(s.baselines);
    next_snapshot(&s);
    next_snapshot(&s);
    assert_true(cairn_baselines_bytes(s.baselines) >= one + 2 * 64 * sizeof(cairn_quantised_body));
    end_sender(&s);
    cairn_world_destroy(world);
}
