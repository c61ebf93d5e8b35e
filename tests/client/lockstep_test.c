// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "client_lib/simulate/lockstep.h"
#include "tests/kit/packed.h"

#include "bridge/scene_world.h"
#include "client_lib/interpolate/snapshots.h"
#include "tests/kit/rig.h"

SCOPE_ENDS(cairn_snapshots, cairn_snapshots_destroy)

#define STATE_MAX (1 << 20)

// The server's side of lockstep: its world, and its encoded state.
static struct {
    cairn_world *world;
    _Alignas(8) uint8_t state[STATE_MAX];
    uint32_t state_size;
    uint64_t state_tick;
} server;

static cairn_lockstep client;

BEFORE_EACH {
    char error[CAIRN_SCENE_ERROR_SIZE];
    assert_int_equal(
        cairn_scene_world_create(kit_scene_stack_and_row(), NULL, &server.world, error), CAIRN_OK);
    assert_int_equal(cairn_lockstep_create(&client, NULL, STATE_MAX), CAIRN_OK);
}

AFTER_EACH {
    cairn_lockstep_destroy(&client);
    cairn_world_destroy(server.world);
}

static void encode_state(void) {
    server.state_size = (uint32_t)cairn_world_encode(server.world, server.state, STATE_MAX);
    server.state_tick = cairn_world_tick(server.world);
    assert_true(server.state_size > 0);
}

static cairn_lockstep_verdict send_state(uint32_t offset, uint32_t size) {
    const cairn_state_message piece = {.tick = server.state_tick,
        .offset = offset,
        .total_size = server.state_size,
        .bytes = server.state + offset,
        .size = size};
    return cairn_lockstep_take_state(&client, &piece);
}

static cairn_lockstep_verdict send_whole_state(void) {
    encode_state();
    return send_state(0, server.state_size);
}

// Steps the server's world without commands.
static cairn_wire_tick step_server(void) {
    const uint64_t tick = cairn_world_tick(server.world);
    cairn_world_step(server.world, NULL, 0);
    const cairn_hash128 root = cairn_world_hash_read(server.world).full;
    return (cairn_wire_tick){.tick = tick, .root_lo = root.lo, .root_hi = root.hi};
}

static cairn_lockstep_verdict send_ticks(const cairn_wire_tick *ticks, uint32_t count) {
    const cairn_message message = kit_ticks(&(cairn_ticks_head){0}, ticks, count, NULL);
    return cairn_lockstep_take_ticks(&client, &message.ticks);
}

static uint32_t advance(cairn_lockstep *lockstep, double show_tick, uint32_t ticks_max) {
    const cairn_lockstep_budget budget = {.ticks_max = ticks_max};
    return cairn_lockstep_advance(lockstep, show_tick, &budget);
}

// A clock that shows three more milliseconds at each look.
static uint64_t slow_clock_ns(void *context) {
    uint64_t *now_ns = context;
    *now_ns += 3000000;
    return *now_ns;
}

TEST("one advance keeps to its time, and steps at least one tick") {
    static const struct {
        uint64_t time_ns;
        uint32_t steps;
    } rows[] = {{1, 1}, {3000000, 1}, {8000000, 3}, {9000000, 3}, {9000001, 4}, {0, 5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        uint64_t now_ns = 0;
        assert_int_equal(send_whole_state(), CAIRN_LOCKSTEP_LOADED);
        cairn_wire_tick ticks[5];
        for (int k = 0; k < 5; k++) {
            ticks[k] = step_server();
        }
        assert_int_equal(send_ticks(ticks, 5), CAIRN_LOCKSTEP_TAKEN);
        const cairn_lockstep_budget budget = {.ticks_max = 10,
            .time_ns = rows[i].time_ns,
            .clock_ns = slow_clock_ns,
            .clock_context = &now_ns};
        assert_int_equal(cairn_lockstep_advance(&client, 1e9, &budget), rows[i].steps);
        assert_int_equal(cairn_lockstep_waiting(&client), 5 - rows[i].steps);
    }
    assert_int_equal(client.timeline.roots_differed, 0);
}

// 188 bytes can announce a world that takes gigabytes.
TEST("a small state of a world with absurd capacities is refused before it takes memory") {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = 4096;
    def.shape_capacity = 4096;
    cairn_world *world = NULL;
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    server.state_size = (uint32_t)cairn_world_encode(world, server.state, STATE_MAX);
    server.state_tick = cairn_world_tick(world);
    cairn_world_destroy(world);
    const size_t size = cairn_world_def_state_size(&def);
    assert_true(server.state_size < size / 100);
    for (uint32_t allowed = 0; allowed < 2; ++allowed) {
        cairn_lockstep_destroy(&client);
        const uint32_t state_size_max = (uint32_t)(size / 4) - (allowed != 0 ? 0 : 1);
        assert_int_equal(cairn_lockstep_create(&client, NULL, state_size_max), CAIRN_OK);
        assert_int_equal(send_state(0, server.state_size),
            allowed != 0 ? CAIRN_LOCKSTEP_LOADED : CAIRN_LOCKSTEP_WORLD_TOO_LARGE);
        assert_int_equal(client.timeline.world != NULL, allowed);
    }
}

TEST("ticks before any state are not expected") {
    cairn_wire_tick tick = step_server();
    assert_int_equal(send_ticks(&tick, 1), CAIRN_LOCKSTEP_NOT_EXPECTED);
}

TEST("ticks are stepped once and compared") {
    assert_int_equal(send_whole_state(), CAIRN_LOCKSTEP_LOADED);
    cairn_wire_tick ticks[5];
    for (int i = 0; i < 5; i++) {
        ticks[i] = step_server();
    }
    assert_int_equal(send_ticks(ticks, 3), CAIRN_LOCKSTEP_TAKEN);
    assert_int_equal(send_ticks(ticks, 5), CAIRN_LOCKSTEP_TAKEN); // three repeated, two new
    assert_int_equal(cairn_lockstep_waiting(&client), 5);
    assert_int_equal(advance(&client, 2.5, 100), 3);
    assert_int_equal(advance(&client, 1e9, 1), 1);
    assert_int_equal(advance(&client, 1e9, 100), 1);
    assert_int_equal(client.timeline.roots_compared, 5);
    assert_int_equal(client.timeline.roots_differed, 0);
    assert_int_equal(send_ticks(ticks, 5), CAIRN_LOCKSTEP_TAKEN);
    assert_int_equal(cairn_lockstep_waiting(&client), 0);
    cairn_wire_root roots[8];
    assert_int_equal(cairn_lockstep_roots(&client, roots, 8), 5);
    assert_int_equal(roots[0].tick, 1);
    assert_int_equal(roots[4].tick, 5);
    assert_int_equal(roots[4].lo, ticks[4].root_lo);
}

TEST("a gap is not stepped over") {
    send_whole_state();
    cairn_wire_tick ticks[5];
    for (int i = 0; i < 5; i++) {
        ticks[i] = step_server();
    }
    assert_int_equal(send_ticks(&ticks[1], 2), CAIRN_LOCKSTEP_EARLY);
    assert_int_equal(send_ticks(&ticks[4], 1), CAIRN_LOCKSTEP_EARLY);
    assert_int_equal(send_ticks(&ticks[2], 1), CAIRN_LOCKSTEP_EARLY);
    assert_int_equal(cairn_lockstep_waiting(&client), 0);
    // Early ticks need not be sent again.
    assert_int_equal(send_ticks(&ticks[0], 1), CAIRN_LOCKSTEP_TAKEN);
    assert_int_equal(cairn_lockstep_waiting(&client), 3);
    assert_int_equal(send_ticks(&ticks[3], 1), CAIRN_LOCKSTEP_TAKEN);
    assert_int_equal(cairn_lockstep_waiting(&client), 5);
    assert_int_equal(advance(&client, 1e9, 100), 5);
    assert_int_equal(client.timeline.roots_differed, 0);
    assert_int_equal(client.early.used, 0);
}

TEST("ticks too far beyond a gap are not kept") {
    send_whole_state();
    cairn_wire_tick tick = {.tick = CAIRN_EARLY_TICKS_MAX};
    assert_int_equal(send_ticks(&tick, 1), CAIRN_LOCKSTEP_GAP);
    tick.tick = CAIRN_EARLY_TICKS_MAX - 1;
    assert_int_equal(send_ticks(&tick, 1), CAIRN_LOCKSTEP_EARLY);
    // A new state drops the early ticks of the old one.
    assert_int_equal(send_whole_state(), CAIRN_LOCKSTEP_LOADED);
    assert_false(client.early.ticks[CAIRN_EARLY_TICKS_MAX - 1].held);
    // Commands are bounded as well.
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    for (uint32_t i = 0; i < CAIRN_COMMANDS_PER_TICK_MAX; i++) {
        commands[i] = (cairn_command){.kind = CAIRN_COMMAND_INPUT, .sequence = i};
    }
    cairn_lockstep_verdict verdict = CAIRN_LOCKSTEP_EARLY;
    for (tick.tick = 1; verdict == CAIRN_LOCKSTEP_EARLY; tick.tick++) {
        tick.command_count = CAIRN_COMMANDS_PER_TICK_MAX;
        const cairn_message message = kit_ticks(&(cairn_ticks_head){0}, &tick, 1, commands);
        verdict = cairn_lockstep_take_ticks(&client, &message.ticks);
    }
    assert_int_equal(verdict, CAIRN_LOCKSTEP_GAP);
    assert_in_range(tick.tick, 3, 20);
}

TEST("a root that differs is counted once, at its tick") {
    send_whole_state();
    cairn_wire_tick ticks[3];
    for (int i = 0; i < 3; i++) {
        ticks[i] = step_server();
    }
    ticks[1].root_lo ^= 1;
    send_ticks(ticks, 3);
    advance(&client, 1e9, 100);
    assert_int_equal(client.timeline.roots_compared, 3);
    assert_int_equal(client.timeline.roots_differed, 1);
    assert_int_equal(client.timeline.first_difference_tick, 2);
}

// Other ticks have the low 32 bits.
TEST("every sixty-fourth tick has the whole root") {
    send_whole_state();
    for (uint64_t i = 0; i < 2 * CAIRN_TICKS_PER_KEY; i++) {
        cairn_wire_tick tick = step_server();
        tick.root_hi ^= 1;
        send_ticks(&tick, 1);
    }
    advance(&client, 1e9, 2 * CAIRN_TICKS_PER_KEY);
    assert_int_equal(client.timeline.roots_compared, 2 * CAIRN_TICKS_PER_KEY);
    assert_int_equal(client.timeline.roots_differed, 2);
    assert_int_equal(client.timeline.first_difference_tick, CAIRN_TICKS_PER_KEY);
}

// A record that is the difference to a tick that this client never had, because its state is new,
// is not taken; nor are bytes that are no commands.
TEST("a tick is decoded only after the one before it") {
    const uint8_t noise[] = {0xf8, 0x30, 0}; // 2^32 commands
    uint8_t bytes[64];
    send_whole_state();
    for (uint32_t alone = 0; alone < 2; ++alone) {
        cairn_ticks_writer writer =
            cairn_ticks_writer_of(&(cairn_ticks_head){0}, bytes, sizeof bytes);
        cairn_ticks_write(&writer, &(cairn_tick_record){.alone = alone != 0,
                                       .commands = noise,
                                       .commands_size = sizeof noise,
                                       .check = {.full = true}});
        const cairn_ticks_message message = {
            .payload = bytes, .payload_size = (uint32_t)writer.bytes.at};
        assert_int_equal(cairn_lockstep_take_ticks(&client, &message),
            alone != 0 ? CAIRN_LOCKSTEP_TICK_MALFORMED : CAIRN_LOCKSTEP_GAP);
        assert_int_equal(client.timeline.confirmed_end, 0);
    }
}

TEST("ticks that do not fit are not acknowledged") {
    send_whole_state();
    cairn_wire_tick tick = {0};
    for (uint64_t i = 0; i < CAIRN_LOCKSTEP_TICKS_MAX; i++) {
        tick.tick = i;
        assert_int_equal(send_ticks(&tick, 1), CAIRN_LOCKSTEP_TAKEN);
    }
    tick.tick = CAIRN_LOCKSTEP_TICKS_MAX;
    assert_int_equal(send_ticks(&tick, 1), CAIRN_LOCKSTEP_FULL);
    assert_int_equal(client.timeline.confirmed_end, CAIRN_LOCKSTEP_TICKS_MAX);
    advance(&client, 1e9, 1);
    assert_int_equal(send_ticks(&tick, 1), CAIRN_LOCKSTEP_TAKEN);
}

TEST("a command out of range is refused") {
    send_whole_state();
    const cairn_command wrong[] = {{.kind = 31, .slot = 0},
        {.kind = CAIRN_COMMAND_INPUT, .slot = CAIRN_SLOTS_MAX},
        {.kind = CAIRN_COMMAND_INPUT, .move = {2, 0, 0}}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const cairn_wire_tick tick = {.command_count = 1};
        const cairn_message message = kit_ticks(&(cairn_ticks_head){0}, &tick, 1, &wrong[i]);
        assert_int_equal(
            cairn_lockstep_take_ticks(&client, &message.ticks), CAIRN_LOCKSTEP_COMMAND_REFUSED);
    }
    assert_int_equal(cairn_lockstep_waiting(&client), 0);
}

TEST("a new state replaces the world only when it is complete") {
    send_whole_state();
    cairn_wire_tick early = step_server();
    send_ticks(&early, 1);
    for (int i = 0; i < 50; i++) {
        step_server();
    }
    encode_state();
    assert_int_equal(send_state(0, 100), CAIRN_LOCKSTEP_TAKEN);
    assert_int_equal(client.timeline.confirmed_end, 51);
    cairn_wire_tick next = step_server();
    assert_int_equal(send_ticks(&next, 1), CAIRN_LOCKSTEP_TAKEN);
    // The old world must not be stepped with the new one's ticks.
    assert_int_equal(advance(&client, 1e9, 100), 0);
    assert_int_equal(cairn_world_tick(client.timeline.world), 0);
    assert_int_equal(send_state(100, server.state_size - 100), CAIRN_LOCKSTEP_LOADED);
    assert_int_equal(advance(&client, 1e9, 100), 1);
    assert_int_equal(client.timeline.roots_differed, 0);
    assert_int_equal(cairn_world_tick(client.timeline.world), 52);
}

TEST("a state that does not decode is refused") {
    encode_state();
    server.state[server.state_size - 9] ^= 0xff;
    server.state[4] ^= 0xff;
    assert_int_equal(send_state(0, server.state_size), CAIRN_LOCKSTEP_STATE_MALFORMED);
    assert_null(client.timeline.world);
    encode_state();
    server.state_tick = 77; // the message states another tick than the state has
    assert_int_equal(send_state(0, server.state_size), CAIRN_LOCKSTEP_STATE_MALFORMED);
}

// What a server sends: `bases` are of its frames, NULL for a keyframe.
static cairn_snapshot_message snapshot_message(cairn_frame_codec *codec,
    const cairn_snapshot_frame *const bases[3], const cairn_snapshot_frame *frame,
    uint8_t payload[1024], cairn_snapshot_head *head) {
    const cairn_frame_bases from = {bases[0], bases[1], bases[2]};
    *head = (cairn_snapshot_head){.tick = frame->tick, .check = cairn_snapshot_frame_check(frame)};
    const size_t size = cairn_frame_encode(codec, &from, frame, payload, 1024);
    assert_true(size > 0);
    for (uint32_t k = 0; k < 3 && bases[0] != NULL; ++k) {
        head->bases[k] = bases[k]->tick;
    }
    return (cairn_snapshot_message){.payload = payload, .payload_size = (uint32_t)size};
}

TEST("a snapshot is the difference to those that are held, and refused without them") {
    SCOPED(cairn_snapshots) snapshots;
    cairn_frame_codec *codec;
    cairn_snapshot_frame frames[2];
    uint8_t payload[1024];
    cairn_snapshot_head head;
    assert_int_equal(cairn_frame_codec_create(2, &codec), CAIRN_OK);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(cairn_snapshot_frame_create(&frames[i], 2), CAIRN_OK);
        frames[i].tick = 10 + 10 * i;
        frames[i].tick_rate_hz = 60;
        frames[i].quantisation = cairn_quantisation_default();
        cairn_snapshot_body body = {.id = 1, .rotation = {.w = 1}};
        cairn_snapshot_frame_add(&frames[i], &body, (cairn_vec3){0});
        body.id = 2;
        body.position.y = 3.0f * (float)i;
        cairn_snapshot_frame_add(&frames[i], &body, (cairn_vec3){0});
    }
    assert_int_equal(cairn_snapshots_create(&snapshots, 3, 2), CAIRN_OK);
    assert_int_equal(cairn_snapshots_create_received(&snapshots), CAIRN_OK);
    const cairn_snapshot_frame *const none[3] = {NULL}, *const older[3] = {frames, frames, frames};
    cairn_snapshot_message message = snapshot_message(codec, older, &frames[1], payload, &head);
    assert_int_equal(
        cairn_snapshots_receive(&snapshots, &message, &head, 0), CAIRN_SNAPSHOT_BASELINE_LOST);
    message = snapshot_message(codec, none, &frames[0], payload, &head);
    assert_int_equal(cairn_snapshots_receive(&snapshots, &message, &head, 0), CAIRN_SNAPSHOT_TAKEN);
    message = snapshot_message(codec, older, &frames[1], payload, &head);
    head.check ^= 1;
    assert_int_equal(
        cairn_snapshots_receive(&snapshots, &message, &head, 0), CAIRN_SNAPSHOT_DIFFERS);
    head.check ^= 1;
    assert_int_equal(cairn_snapshots_receive(&snapshots, &message, &head, 0), CAIRN_SNAPSHOT_TAKEN);
    const cairn_snapshot *newest = cairn_snapshots_newest(&snapshots);
    assert_true(newest->bodies[1].position.y == 3.0f && newest->bodies[0].position.y == 0.0f);
    assert_true(newest->bodies[1].linear_velocity.y > 17.99f); // 3 m in 10 ticks
    assert_true(newest->bodies[0].linear_velocity.y == 0.0f);
    assert_int_equal(
        cairn_snapshots_receive(&snapshots, &message, &head, 0), CAIRN_SNAPSHOT_DUPLICATE);
    cairn_snapshot_body three[3] = {newest->bodies[0], newest->bodies[1], {.id = 3}};
    assert_int_equal(cairn_snapshots_take(&snapshots, 40, three, 3), CAIRN_SNAPSHOT_BODIES_MAX);
    assert_int_equal(snapshots.count, 2);
    cairn_snapshot_frame_destroy(&frames[0]);
    cairn_snapshot_frame_destroy(&frames[1]);
    cairn_frame_codec_destroy(codec);
}

TEST("the newest snapshots are held in order of tick") {
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
