// SPDX-License-Identifier: MIT

// Events are state. Rules that read every event and act on it play the golden scenes "events" and
// "events_pgs", while the world is replaced before each tick by one that was restored in another
// way. The same events must follow, and the same state.

#include "tests/sim/world_kit.h"

#include <string.h>

#include "sim/serialize/elements.h"
#include "sim/serialize/sketch.h"
#include "sim/state/world.h"
#include "tests/sim/golden_scenes.h"

#define TICKS 280

typedef cairn_world *restoration(const golden_scene *scene, cairn_world *world);

static void expect_same_events(const cairn_world *a, const cairn_world *b) {
    uint32_t counts[2];
    const cairn_contact_event *contacts_a = cairn_world_contact_events(a, &counts[0]);
    const cairn_contact_event *contacts_b = cairn_world_contact_events(b, &counts[1]);
    assert_int_equal(counts[0], counts[1]);
    assert_memory_equal(contacts_a, contacts_b, counts[0] * sizeof *contacts_a);
    const cairn_body_event *bodies_a = cairn_world_body_events(a, &counts[0]);
    const cairn_body_event *bodies_b = cairn_world_body_events(b, &counts[1]);
    assert_int_equal(counts[0], counts[1]);
    assert_memory_equal(bodies_a, bodies_b, counts[0] * sizeof *bodies_a);
}

// Every kind of event must have occurred, or the scene proves nothing.
static void expect_all_kinds(const cairn_world *world) {
    const uint32_t *counts = world->state.rules[0].words;
    for (uint32_t kind = CAIRN_CONTACT_BEGIN; kind < 8; ++kind) {
        if (counts[kind] == 0) {
            fail_msg("no event of kind %u", kind);
        }
    }
    assert_true(cairn_world_counters_read(world).events_dropped > 0);
}

static void run(restoration *restore) {
    static const char *const names[] = {"events", "events_pgs"};
    for (uint32_t i = 0; i < 2; ++i) {
        const golden_scene *scene = golden_scene_named(names[i]);
        SCOPED(cairn_world) *twin = golden_world_at(scene, 0);
        SCOPED(cairn_world) *world = golden_world_at(scene, 0);
        for (uint32_t tick = 0; tick < TICKS; ++tick) {
            world = restore(scene, world);
            expect_same_events(twin, world);
            golden_step(scene, twin);
            golden_step(scene, world);
            if (!kit_equal(twin, world)) {
                cairn_difference first = {.field = "none"};
                const uint32_t count = cairn_world_diff(twin, world, &first, 1);
                fail_msg("%s, tick %u: %u words differ, first %s %u %s: %08x %08x", scene->name,
                    tick, count, cairn_section_name(first.section), first.element, first.field,
                    first.bits_a, first.bits_b);
            }
        }
        expect_all_kinds(twin);
    }
}

static cairn_world *reload(const golden_scene *scene, cairn_world *world) {
    SCOPED(kit_bytes) saved = kit_save(world);
    golden_step(scene, world);
    EXPECT_OK(cairn_world_load(world, saved.bytes, saved.size));
    return world;
}

TEST("rules that read events never notice a rollback") {
    run(reload);
}

static cairn_world *decode_elsewhere(const golden_scene *scene, cairn_world *world) {
    cairn_world *other = golden_create(scene);
    SCOPED(kit_bytes) encoded = kit_encode(world);
    EXPECT_OK(cairn_world_set_lanes(other, 1));
    EXPECT_OK(cairn_world_decode(other, encoded.bytes, encoded.size, NULL));
    cairn_world_destroy(world);
    return other;
}

TEST("rules that read events never notice that another machine took over") {
    run(decode_elsewhere);
}

static cairn_world *fork_away(const golden_scene *scene, cairn_world *world) {
    (void)scene;
    cairn_world *fork = kit_fork(world);
    cairn_world_destroy(world);
    return fork;
}

TEST("rules that read events never notice a fork") {
    run(fork_away);
}

static cairn_world *copy_over(const golden_scene *scene, cairn_world *world) {
    cairn_world *other = golden_world_at(scene, (uint32_t)(cairn_world_tick(world) % 7));
    EXPECT_OK(cairn_world_copy(other, world));
    cairn_world_destroy(world);
    return other;
}

TEST("rules that read events never notice a copy into another world") {
    run(copy_over);
}

// Damages the events, and repairs the world by the elements that a healthy one sends.
static cairn_world *repair(const golden_scene *scene, cairn_world *world) {
    SCOPED(cairn_world) *healthy = kit_fork(world);
    cairn_settings *settings = world->state.settings;
    uint8_t sketch[64 * CAIRN_SKETCH_CELL_SIZE];
    uint8_t elements[4096];
    cairn_element_key keys[64];
    uint32_t count = 0;
    (void)scene;
    if (settings->contact_event_count > 1) {
        world->state.contact_events[0].body_b += 1;
        settings->contact_event_count -= 1;
    }
    settings->body_event_count = 0;
    (void)cairn_world_root_fresh(world);
    cairn_sketch_build(healthy, 64, sketch);
    EXPECT_OK(cairn_sketch_difference(world, sketch, sizeof sketch, keys, 64, &count));
    const size_t size = cairn_elements_encode(healthy, keys, count, elements, sizeof elements);
    assert_true(size > 0);
    EXPECT_OK(cairn_elements_apply(world, elements, size, NULL));
    assert_true(kit_equal(healthy, world));
    return world;
}

TEST("rules that read events never notice that damaged events were repaired") {
    run(repair);
}

// The same rules in other golden scenes, with each way of restoring in turn.
static void define_with_referee(cairn_world_def *def) {
    golden_scene_named("events")->define(def);
    def->event_capacity = 12;
}

TEST("rules that read events never notice any of these, in any scene") {
    static restoration *const ways[] = {
        reload, decode_elsewhere, fork_away, repair, NULL, reload, fork_away};
    static const char *const names[] = {
        "heap", "stack", "joints", "dolls", "sleepers", "churn", "hulls", "kinematic"};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        golden_scene scene = *golden_scene_named(names[i]);
        scene.define = define_with_referee;
        SCOPED(cairn_world) *twin = golden_world_at(&scene, 0);
        SCOPED(cairn_world) *world = golden_world_at(&scene, 0);
        for (uint32_t tick = 0; tick < 240; ++tick) {
            restoration *const restore = ways[tick % (sizeof ways / sizeof ways[0])];
            world = restore != NULL ? restore(&scene, world) : world;
            expect_same_events(twin, world);
            golden_step(&scene, twin);
            golden_step(&scene, world);
            if (!kit_equal(twin, world)) {
                fail_msg("%s, tick %u", scene.name, tick);
            }
        }
        assert_true(twin->state.rules[0].words[CAIRN_CONTACT_BEGIN] > 0);
    }
}

// ---- bytes from outside

// The world at a tick of the scene with overlaps and several contact events, and a body event.
static cairn_world *eventful(void) {
    const golden_scene *scene = golden_scene_named("events");
    cairn_world *world = golden_world_at(scene, 20);
    cairn_settings *settings = world->state.settings;
    while (settings->contact_event_count < 2) {
        assert_true(cairn_world_tick(world) < TICKS);
        golden_step(scene, world);
    }
    world->state.body_events[0] = (cairn_body_event){.kind = CAIRN_BODY_WOKE, .body = 5};
    settings->body_event_count = 1;
    return world;
}

#define EXPECT_REFUSED(rule, wanted, ...)                                                          \
    do {                                                                                           \
        SCOPED(cairn_world) *world = eventful();                                                   \
        SCOPED(cairn_world) *victim = golden_world_at(golden_scene_named("events"), 0);            \
        cairn_state *s = &world->state;                                                            \
        const char *where = "accepted";                                                            \
        __VA_ARGS__;                                                                               \
        SCOPED(kit_bytes) encoded = kit_encode(world);                                             \
        (void)cairn_world_decode(victim, encoded.bytes, encoded.size, &where);                     \
        if (strcmp(where, wanted) != 0) {                                                          \
            fail_msg("%s: %s", rule, where);                                                       \
        }                                                                                          \
    } while (0)

static cairn_contact *overlap_of(cairn_state *s) {
    for (uint32_t i = 0; i < s->settings->contact_count; ++i) {
        if (contact_is_sensor(&s->contacts[i])) {
            return &s->contacts[i];
        }
    }
    fail_msg("%s", "no sensor overlaps anything");
    return NULL;
}

static void swap_events(cairn_state *s) {
    const cairn_contact_event first = s->contact_events[0];
    s->contact_events[0] = s->contact_events[1];
    s->contact_events[1] = first;
}

TEST("events and overlaps that break a rule are refused") {
    static const char events[] = "events: kind or order";
    static const char contacts[] = "contacts: order, shapes or points";
    EXPECT_REFUSED("nothing", "", (void)s);
    EXPECT_REFUSED("an event has a kind", events, s->contact_events[0].kind = 0);
    EXPECT_REFUSED("a kind is known", "kind", s->contact_events[0].kind = 6);
    EXPECT_REFUSED("events are in order", events, swap_events(s));
    EXPECT_REFUSED("an event has two shapes", events,
        s->contact_events[0].shape_b = s->contact_events[0].shape_a);
    EXPECT_REFUSED("an impulse pushes", "impulse", s->contact_events[0].impulse = -1.0f);
    EXPECT_REFUSED("a body event has a kind", events, s->body_events[0].kind = 0);
    EXPECT_REFUSED("a body event has a body", events, s->body_events[0].body = 0xfffff);
    EXPECT_REFUSED("an overlap has no impulse", contacts, overlap_of(s)->tangent_impulse[0] = 1.0f);
    EXPECT_REFUSED("the sensor is known", contacts, overlap_of(s)->colour ^= 1);
    EXPECT_REFUSED("an overlap has one sensor", contacts,
        s->shapes[cairn_id_index(overlap_of(s)->shape_a)].flags ^= CAIRN_SHAPE_SENSOR);
}
