// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "client_lib/simulate/lockstep.h"

#include <stdlib.h>
#include <string.h>

#include "bridge/scene_world.h"
#include "bridge/snapshot.h"
#include "client_lib/interpolate/snapshots.h"
#include "schema/delta.h"
#include "tests/kit/rig.h"

SCOPE_ENDS(cairn_snapshots, cairn_snapshots_destroy)

#define STATE_MAX (1 << 20)

// The server's side of lockstep: its world, and the messages about it.
typedef struct origin {
    cairn_world *world;
    uint8_t *state;
    uint32_t state_size;
    uint64_t state_tick;
    cairn_lockstep client;
} origin;

static origin *source;

BEFORE_EACH {
    origin *o = calloc(1, sizeof *o);
    char error[CAIRN_SCENE_ERROR_SIZE];
    assert_int_equal(
        cairn_scene_world_create(kit_scene_stack_and_row(), NULL, &o->world, error), CAIRN_OK);
    o->state = malloc(STATE_MAX);
    assert_int_equal(cairn_lockstep_create(&o->client, NULL, STATE_MAX), CAIRN_OK);
    source = o;
}

AFTER_EACH {
    origin *o = source;
    cairn_lockstep_destroy(&o->client);
    cairn_world_destroy(o->world);
    free(o->state);
    free(o);
}

static void encode_state(origin *o) {
    o->state_size = (uint32_t)cairn_world_encode(o->world, o->state, STATE_MAX);
    o->state_tick = cairn_world_tick(o->world);
    assert_true(o->state_size > 0);
}

static cairn_lockstep_verdict say_state(origin *o, uint32_t offset, uint32_t size) {
    const cairn_state_message piece = {.tick = o->state_tick,
        .offset = offset,
        .total_size = o->state_size,
        .bytes = o->state + offset,
        .size = size};
    return cairn_lockstep_take_state(&o->client, &piece);
}

static cairn_lockstep_verdict say_whole_state(origin *o) {
    encode_state(o);
    return say_state(o, 0, o->state_size);
}

static cairn_wire_tick step_once(origin *o, const cairn_command *command) {
    cairn_wire_tick tick = {
        .tick = cairn_world_tick(o->world), .command_count = command != NULL ? 1 : 0};
    cairn_world_step(o->world, command, tick.command_count);
    cairn_hash128 root = cairn_world_hash_read(o->world).full;
    tick.root_lo = root.lo;
    tick.root_hi = root.hi;
    return tick;
}

static cairn_lockstep_verdict say_ticks(origin *o, const cairn_wire_tick *ticks, uint32_t count) {
    const cairn_ticks_message message = {.ticks = ticks, .tick_count = count};
    return cairn_lockstep_take_ticks(&o->client, &message);
}

TEST("ticks before any state are not expected") {
    cairn_wire_tick tick = step_once(source, NULL);
    assert_int_equal(say_ticks(source, &tick, 1), CAIRN_LOCKSTEP_NOT_EXPECTED);
}

TEST("ticks are stepped once and compared") {
    assert_int_equal(say_whole_state(source), CAIRN_LOCKSTEP_LOADED);
    cairn_wire_tick ticks[5];
    for (int i = 0; i < 5; i++) {
        ticks[i] = step_once(source, NULL);
    }
    assert_int_equal(say_ticks(source, ticks, 3), CAIRN_LOCKSTEP_TAKEN);
    assert_int_equal(
        say_ticks(source, ticks, 5), CAIRN_LOCKSTEP_TAKEN); // redundant ones and new ones
    assert_int_equal(cairn_lockstep_waiting(&source->client), 5);
    assert_int_equal(cairn_lockstep_advance(&source->client, 2.5, 100), 3);
    assert_int_equal(cairn_lockstep_advance(&source->client, 1e9, 1), 1);
    assert_int_equal(cairn_lockstep_advance(&source->client, 1e9, 100), 1);
    assert_int_equal(source->client.timeline.roots_compared, 5);
    assert_int_equal(source->client.timeline.roots_differed, 0);
    assert_int_equal(say_ticks(source, ticks, 5), CAIRN_LOCKSTEP_TAKEN);
    assert_int_equal(cairn_lockstep_waiting(&source->client), 0);
    cairn_wire_root roots[8];
    assert_int_equal(cairn_lockstep_roots(&source->client, roots, 8), 5);
    assert_int_equal(roots[0].tick, 1);
    assert_int_equal(roots[4].tick, 5);
    assert_int_equal(roots[4].lo, ticks[4].root_lo);
}

TEST("a gap is not stepped over") {
    say_whole_state(source);
    cairn_wire_tick ticks[5];
    for (int i = 0; i < 5; i++) {
        ticks[i] = step_once(source, NULL);
    }
    assert_int_equal(say_ticks(source, &ticks[1], 2), CAIRN_LOCKSTEP_EARLY);
    assert_int_equal(say_ticks(source, &ticks[4], 1), CAIRN_LOCKSTEP_EARLY);
    assert_int_equal(say_ticks(source, &ticks[2], 1), CAIRN_LOCKSTEP_EARLY);
    assert_int_equal(cairn_lockstep_waiting(&source->client), 0);
    // Early ticks need not be sent again.
    assert_int_equal(say_ticks(source, &ticks[0], 1), CAIRN_LOCKSTEP_TAKEN);
    assert_int_equal(cairn_lockstep_waiting(&source->client), 3);
    assert_int_equal(say_ticks(source, &ticks[3], 1), CAIRN_LOCKSTEP_TAKEN);
    assert_int_equal(cairn_lockstep_waiting(&source->client), 5);
    assert_int_equal(cairn_lockstep_advance(&source->client, 1e9, 100), 5);
    assert_int_equal(source->client.timeline.roots_differed, 0);
    assert_int_equal(
        source->client.early.commands.free_count, source->client.early.commands.block_count);
}

TEST("too far beyond a gap nothing is kept") {
    say_whole_state(source);
    cairn_wire_tick tick = {.tick = CAIRN_EARLY_TICKS_MAX};
    assert_int_equal(say_ticks(source, &tick, 1), CAIRN_LOCKSTEP_GAP);
    tick.tick = CAIRN_EARLY_TICKS_MAX - 1;
    assert_int_equal(say_ticks(source, &tick, 1), CAIRN_LOCKSTEP_EARLY);
    // A new state is continued by nothing that came for the old one.
    assert_int_equal(say_whole_state(source), CAIRN_LOCKSTEP_LOADED);
    assert_false(source->client.early.ticks[CAIRN_EARLY_TICKS_MAX - 1].held);
    // Commands are bounded as well.
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    for (uint32_t i = 0; i < CAIRN_COMMANDS_PER_TICK_MAX; i++) {
        commands[i] = (cairn_command){.kind = CAIRN_COMMAND_INPUT, .sequence = i};
    }
    cairn_lockstep_verdict verdict = CAIRN_LOCKSTEP_EARLY;
    for (tick.tick = 1; verdict == CAIRN_LOCKSTEP_EARLY; tick.tick++) {
        tick.command_count = CAIRN_COMMANDS_PER_TICK_MAX;
        const cairn_ticks_message message = {.ticks = &tick,
            .tick_count = 1,
            .commands = commands,
            .command_count = CAIRN_COMMANDS_PER_TICK_MAX};
        verdict = cairn_lockstep_take_ticks(&source->client, &message);
    }
    assert_int_equal(verdict, CAIRN_LOCKSTEP_GAP);
    assert_in_range(tick.tick, 16, 30);
}

TEST("a false root is a difference at its tick alone") {
    say_whole_state(source);
    cairn_wire_tick ticks[3];
    for (int i = 0; i < 3; i++) {
        ticks[i] = step_once(source, NULL);
    }
    ticks[1].root_hi ^= 1;
    say_ticks(source, ticks, 3);
    cairn_lockstep_advance(&source->client, 1e9, 100);
    assert_int_equal(source->client.timeline.roots_compared, 3);
    assert_int_equal(source->client.timeline.roots_differed, 1);
    assert_int_equal(source->client.timeline.first_difference_tick, 2);
}

TEST("ticks that do not fit are not acknowledged") {
    say_whole_state(source);
    cairn_wire_tick tick = {0};
    for (uint64_t i = 0; i < CAIRN_LOCKSTEP_TICKS_MAX; i++) {
        tick.tick = i;
        assert_int_equal(say_ticks(source, &tick, 1), CAIRN_LOCKSTEP_TAKEN);
    }
    tick.tick = CAIRN_LOCKSTEP_TICKS_MAX;
    assert_int_equal(say_ticks(source, &tick, 1), CAIRN_LOCKSTEP_FULL);
    assert_int_equal(source->client.timeline.confirmed_end, CAIRN_LOCKSTEP_TICKS_MAX);
    cairn_lockstep_advance(&source->client, 1e9, 1);
    assert_int_equal(say_ticks(source, &tick, 1), CAIRN_LOCKSTEP_TAKEN);
}

TEST("a command that no world takes is refused") {
    say_whole_state(source);
    const cairn_command wrong[] = {{.kind = 99, .slot = 0},
        {.kind = CAIRN_COMMAND_INPUT, .slot = CAIRN_SLOTS_MAX},
        {.kind = CAIRN_COMMAND_INPUT, .move = {2, 0, 0}}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const cairn_wire_tick tick = {.command_count = 1};
        const cairn_ticks_message message = {
            .ticks = &tick, .tick_count = 1, .commands = &wrong[i], .command_count = 1};
        assert_int_equal(
            cairn_lockstep_take_ticks(&source->client, &message), CAIRN_LOCKSTEP_COMMAND_REFUSED);
    }
    assert_int_equal(cairn_lockstep_waiting(&source->client), 0);
}

TEST("a new state replaces the world only when it is complete") {
    say_whole_state(source);
    cairn_wire_tick early = step_once(source, NULL);
    say_ticks(source, &early, 1);
    for (int i = 0; i < 50; i++) {
        step_once(source, NULL);
    }
    encode_state(source);
    assert_int_equal(say_state(source, 0, 100), CAIRN_LOCKSTEP_TAKEN);
    assert_int_equal(source->client.timeline.confirmed_end, 51);
    cairn_wire_tick next = step_once(source, NULL);
    assert_int_equal(say_ticks(source, &next, 1), CAIRN_LOCKSTEP_TAKEN);
    // The old world must not be stepped with the new one's ticks.
    assert_int_equal(cairn_lockstep_advance(&source->client, 1e9, 100), 0);
    assert_int_equal(cairn_world_tick(source->client.timeline.world), 0);
    assert_int_equal(say_state(source, 100, source->state_size - 100), CAIRN_LOCKSTEP_LOADED);
    assert_int_equal(cairn_lockstep_advance(&source->client, 1e9, 100), 1);
    assert_int_equal(source->client.timeline.roots_differed, 0);
    assert_int_equal(cairn_world_tick(source->client.timeline.world), 52);
}

TEST("a state that does not decode is refused") {
    encode_state(source);
    source->state[source->state_size - 9] ^= 0xff;
    source->state[4] ^= 0xff;
    assert_int_equal(say_state(source, 0, source->state_size), CAIRN_LOCKSTEP_STATE_MALFORMED);
    assert_null(source->client.timeline.world);
    encode_state(source);
    source->state_tick = 77; // the message says another tick than the state
    assert_int_equal(say_state(source, 0, source->state_size), CAIRN_LOCKSTEP_STATE_MALFORMED);
}

TEST("a delta needs its baseline") {
    SCOPED(cairn_snapshots) snapshots;
    uint8_t payload[512];
    cairn_snapshot_body a[2] = {{.id = 1, .rotation = {.w = 1}}, {.id = 2, .rotation = {.w = 1}}};
    cairn_snapshot_body b[2] = {a[0], a[1]};
    b[1].position.y = 3;
    assert_int_equal(cairn_snapshots_create(&snapshots, 3, 2), CAIRN_OK);
    cairn_delta delta = {.tick = 20, .baseline_tick = 10, .payload = payload};
    delta.payload_size = (uint32_t)cairn_delta_encode(a, 2, b, 2, payload, sizeof payload);
    assert_int_equal(cairn_snapshots_take_delta(&snapshots, &delta), CAIRN_SNAPSHOT_BASELINE_LOST);
    assert_int_equal(cairn_snapshots_take(&snapshots, 10, a, 2), CAIRN_SNAPSHOT_TAKEN);
    assert_int_equal(cairn_snapshots_take_delta(&snapshots, &delta), CAIRN_SNAPSHOT_TAKEN);
    assert_memory_equal(cairn_snapshots_newest(&snapshots)->bodies, b, sizeof b);
    assert_int_equal(cairn_snapshots_take_delta(&snapshots, &delta), CAIRN_SNAPSHOT_DUPLICATE);
    delta.tick = 30;
    delta.payload_size -= 1;
    assert_int_equal(
        cairn_snapshots_take_delta(&snapshots, &delta), CAIRN_SNAPSHOT_DELTA_MALFORMED);
    cairn_snapshot_body three[3] = {a[0], a[1], {.id = 3}};
    assert_int_equal(cairn_snapshots_take(&snapshots, 40, three, 3), CAIRN_SNAPSHOT_BODIES_MAX);
    assert_int_equal(snapshots.count, 2);
}

TEST("the ring keeps the newest in order") {
    SCOPED(cairn_snapshots) snapshots;
    const cairn_snapshot_body body = {.id = 1};
    assert_int_equal(cairn_snapshots_create(&snapshots, 3, 1), CAIRN_OK);
    const struct {
        uint64_t tick;
        cairn_snapshot_refusal refusal;
    } rows[] = {{10, CAIRN_SNAPSHOT_TAKEN}, {30, CAIRN_SNAPSHOT_TAKEN}, {20, CAIRN_SNAPSHOT_TAKEN},
        {20, CAIRN_SNAPSHOT_DUPLICATE}, {5, CAIRN_SNAPSHOT_STALE}, {40, CAIRN_SNAPSHOT_TAKEN},
        {10, CAIRN_SNAPSHOT_STALE}, {35, CAIRN_SNAPSHOT_TAKEN}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(cairn_snapshots_take(&snapshots, rows[i].tick, &body, 1), rows[i].refusal);
    }
    const uint64_t held[] = {30, 35, 40};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(snapshots.list[i].tick, held[i]);
        for (int k = 0; k < i; k++) {
            assert_ptr_not_equal(snapshots.list[i].bodies, snapshots.list[k].bodies);
        }
    }
}
