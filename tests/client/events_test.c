// SPDX-License-Identifier: MIT
// Events of the server's world at a client that interpolates, beside those that a client with a
// world of its own reads in it.

#include "tests/kit/test.h"

#include <stddef.h>
#include <string.h>

#include "client_lib/interpolate/event_queue.h"
#include "server/room/event_log.h"
#include "tests/kit/rig.h"
#include <cairn/sim.h>

#define EVENTS_MAX 512

typedef struct collected {
    cairn_client_event list[EVENTS_MAX];
    uint32_t count;
} collected;

// Balls that bounce for ever, each through a sensor at half its height, and a pendulum of 10 m that
// starts level. Its joint holds twice its weight, so it breaks at asin(2/3) below level, after some
// 1.4 s. Its ball does not ask for events when it lands.
static const cairn_scene *bouncing(void) {
    return kit_scene(
        "{'name': 'bouncing', 'body_capacity': 16, 'shape_capacity': 16, 'contact_capacity': 64,"
        " 'hit_threshold': 1, 'bodies': ["
        "{'kind': 'static', 'shapes': [{'kind': 'half_space', 'restitution': 1}]},"
        "{'kind': 'static', 'position': [0, 1.5, 0], 'shapes': [{'kind': 'box',"
        " 'half_extents': [20, 0.1, 20], 'sensor': true}]},"
        "{'kind': 'dynamic', 'position': [0, 3, 0], 'grid_count': [4, 1, 1],"
        " 'grid_spacing': [2, 1, 1], 'shapes': [{'kind': 'sphere', 'radius': 0.25,"
        " 'restitution': 1, 'hit_events': true, 'contact_events': true}]},"
        "{'kind': 'static', 'position': [0, 15, 0]},"
        "{'kind': 'dynamic', 'position': [10, 15, 0], 'shapes': [{'kind': 'sphere',"
        " 'radius': 0.5, 'density': 1}]}],"
        "'joints': [{'kind': 'ball', 'body_a': 6, 'body_b': 7, 'anchor_b': [-10, 0, 0],"
        " 'break_force': 10.27}]}");
}

static bool asks(const cairn_world *world, cairn_shape_id shape) {
    cairn_shape_def def;
    cairn_body_id body;
    assert_int_equal(cairn_shape_read(world, shape, &def, &body), CAIRN_OK);
    return (def.flags & CAIRN_SHAPE_CONTACT_EVENTS) != 0;
}

static void collect_step(
    void *context, const struct cairn_world *world, const cairn_client_step *step) {
    collected *all = context;
    uint32_t count = 0;
    const cairn_joint_event *broken = cairn_world_joint_events(world, &count);
    for (uint32_t i = 0; i < count && step->confirmed && all->count < EVENTS_MAX; ++i) {
        all->list[all->count++] = (cairn_client_event){.tick = step->tick + 1,
            .kind = CAIRN_CLIENT_JOINT_BROKE,
            .body_a = broken[i].body_a,
            .body_b = broken[i].body_b,
            .joint = broken[i].joint,
            .confirmed = true};
    }
    const cairn_contact_event *events = cairn_world_contact_events(world, &count);
    for (uint32_t i = 0; i < count && step->confirmed && all->count < EVENTS_MAX; ++i) {
        if (events[i].kind < CAIRN_CONTACT_HIT && !asks(world, events[i].shape_a) &&
            !asks(world, events[i].shape_b)) {
            continue;
        }
        const cairn_contact_event *event = &events[i];
        all->list[all->count++] = (cairn_client_event){
            .tick = step->tick + 1,
            .kind = event->kind,
            .shape_a = event->shape_a,
            .shape_b = event->shape_b,
            .body_a = event->body_a,
            .body_b = event->body_b,
            .point = {event->point.x, event->point.y, event->point.z},
            .normal = {event->normal.x, event->normal.y, event->normal.z},
            .approach_speed = event->approach_speed,
            .impulse = event->impulse,
            .confirmed = true,
        };
    }
}

// What `watcher` is told in `ms`, looking once a frame; its events must not be early.
static void watch(rig *p, uint32_t watcher, uint32_t ms, collected *out) {
    for (uint32_t t = 0; t < ms; t += 16) {
        rig_run_ms(p, 16);
        if (!rig_look(p, watcher)) {
            continue;
        }
        const uint32_t count = cairn_client_events(
            rig_client(p, watcher), &out->list[out->count], EVENTS_MAX - out->count);
        for (uint32_t i = 0; i < count; ++i) {
            assert_true((double)out->list[out->count + i].tick <= p->views[watcher].sample.tick);
        }
        out->count += count;
    }
}

// Not the bytes after the last member, which have no value.
static bool same_events(const cairn_client_event *a, const cairn_client_event *b, uint32_t count) {
    const size_t size = offsetof(cairn_client_event, again) + sizeof a->again;
    uint32_t equal = 0;
    while (equal < count && memcmp(&a[equal], &b[equal], size) == 0) {
        ++equal;
    }
    return equal == count;
}

// A client in lockstep that puts the events of its steps into `own`.
static uint32_t join_recorder(rig *p, collected *own) {
    cairn_client_config config = rig_config(CAIRN_CLIENT_LOCKSTEP);
    config.on_step = collect_step;
    config.step_context = own;
    return rig_join(p, &config, NULL);
}

TEST("a client that interpolates is told the events that shapes ask for, in order, despite loss") {
    static collected own, told;
    own.count = told.count = 0;
    RIG(p, .seed = 5, .scene = bouncing());
    join_recorder(&p, &own);
    const cairn_virtual_path lossy = {
        .delay_ns = 40000000, .jitter_ns = 15000000, .loss_permille = 100};
    const cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    const uint32_t watcher = rig_join(&p, &config, &lossy);
    watch(&p, watcher, 12000, &told);
    assert_true(told.count >= 60);
    uint32_t first = 0;
    while (first < own.count && !same_events(&own.list[first], &told.list[0], 1)) {
        ++first;
    }
    assert_true(first + told.count <= own.count);
    assert_true(same_events(&own.list[first], told.list, told.count));
    const cairn_client_statistics s = rig_statistics(&p, watcher);
    assert_int_equal(s.snapshots.events_missed, 0);
    assert_true(s.snapshots.events >= told.count);
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < told.count; ++i) {
        kinds |= 1u << told.list[i].kind;
    }
    assert_int_equal(kinds, 1u << CAIRN_CONTACT_BEGIN | 1u << CAIRN_CONTACT_END |
                                1u << CAIRN_CONTACT_HIT | 1u << CAIRN_SENSOR_BEGIN |
                                1u << CAIRN_SENSOR_END | 1u << CAIRN_CLIENT_JOINT_BROKE);
}

// Takes a client's events once a frame, and reports how many of them were of predicted steps.
static uint32_t collect_polled(rig *p, uint32_t client, uint32_t ms, collected *out) {
    uint32_t predicted = 0;
    for (uint32_t t = 0; t < ms; t += 16) {
        rig_run_ms(p, 16);
        cairn_client_event events[64];
        const uint32_t count = cairn_client_events(rig_client(p, client), events, 64);
        for (uint32_t i = 0; i < count && out->count < EVENTS_MAX; ++i) {
            predicted += !events[i].confirmed;
            if (events[i].confirmed) {
                events[i].again = false; // collect_step does not keep it
                out->list[out->count++] = events[i];
            }
        }
    }
    return predicted;
}

TEST("a client with a world of its own and no callback takes the events of its steps") {
    static collected own, polled;
    own.count = polled.count = 0;
    RIG(p, .seed = 5, .scene = bouncing());
    const uint32_t called = join_recorder(&p, &own);
    const cairn_client_config config = rig_config(CAIRN_CLIENT_LOCKSTEP);
    const uint32_t watcher = rig_join(&p, &config, NULL);
    assert_int_equal(collect_polled(&p, watcher, 4000, &polled), 0);
    cairn_client_event none;
    assert_int_equal(cairn_client_events(rig_client(&p, called), &none, 1), 0);
    assert_true(polled.count >= 30);
    uint32_t first = 0;
    while (first < own.count && own.list[first].tick < polled.list[0].tick) {
        ++first;
    }
    assert_int_equal(own.count - first, polled.count);
    assert_true(same_events(&own.list[first], polled.list, polled.count));
    assert_int_equal(rig_statistics(&p, watcher).snapshots.events_missed, 0);
}

TEST("a client that predicts takes events of predicted steps, which say so") {
    static collected confirmed;
    confirmed.count = 0;
    RIG(p, .seed = 5, .scene = bouncing());
    cairn_client_config config = rig_config(CAIRN_CLIENT_PREDICT);
    const cairn_virtual_path far = {.delay_ns = 60000000};
    const uint32_t player = rig_join(&p, &config, &far);
    assert_true(collect_polled(&p, player, 4000, &confirmed) >= 30);
}

TEST("events that a host does not take are dropped, the oldest first, and counted") {
    static cairn_event_queue queue;
    cairn_event_queue_clear(&queue);
    cairn_wire_event event = {.kind = CAIRN_CONTACT_HIT};
    const cairn_world_events_message message = {.events = &event, .event_count = 1};
    for (event.tick = 1; event.tick <= CAIRN_EVENT_QUEUE_CAPACITY + 3; ++event.tick) {
        cairn_event_queue_add(&queue, &message);
    }
    assert_int_equal(queue.missed, 3);
    cairn_client_event out[2];
    assert_int_equal(cairn_event_queue_take(&queue, 3.9, out, 2), 0);
    assert_int_equal(cairn_event_queue_take(&queue, 100.0, out, 2), 2);
    assert_int_equal(out[0].tick, 4);
    assert_int_equal(out[1].tick, 5);
    cairn_event_queue_clear(&queue);
    assert_int_equal(cairn_event_queue_take(&queue, 1e9, out, 2), 0);
}

TEST("a reader that falls behind the server's log is told how many events it missed") {
    cairn_event_log log;
    assert_int_equal(cairn_event_log_create(&log), CAIRN_OK);
    for (log.written = 0; log.written < CAIRN_EVENT_LOG_CAPACITY; ++log.written) {
        log.ring[log.written].tick = log.written;
    }
    uint64_t next = 0;
    uint32_t missed = 0;
    cairn_wire_event out[4];
    assert_int_equal(cairn_event_log_read(&log, &next, out, 4, &missed), 4);
    assert_int_equal(next, 4);
    assert_int_equal(missed, 0);
    log.written += 10;
    assert_int_equal(cairn_event_log_read(&log, &next, out, 4, &missed), 4);
    assert_int_equal(missed, 6);
    assert_int_equal(out[0].tick, 10);
    assert_int_equal(next, 14);
    cairn_event_log_destroy(&log);
}
