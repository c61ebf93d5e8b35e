// SPDX-License-Identifier: MIT
// What a server records is enough to live it again: every root comes out the same, and a file that
// could not be written to its end is sound up to where it was.
#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "bridge/snapshot.h"
#include "recording/chunk_reader.h"
#include "tests/server/story.h"

static story s;

AFTER_EACH {
    story_end(&s);
}

typedef struct replay {
    cairn_world *world;
    uint64_t ticks;
    uint64_t commands;
    uint64_t roots_wrong;
    uint64_t end_tick; // of the end chunk; 0: none
    cairn_recording_end end;
} replay;

static void start_world(replay *r, const cairn_chunk_start *start) {
    cairn_world_def def;
    char rules_name[32];
    assert_int_equal(
        cairn_world_def_of_encoding(start->state, start->state_size, &def, rules_name), CAIRN_OK);
    assert_string_equal(rules_name, start->rules_name);
    assert_int_equal(start->sim_version, CAIRN_SIM_VERSION);
    assert_int_equal(start->rules_version, cairn_rules_sandbox.version);
    assert_string_equal(start->scene_name, "test");
    def.rules = &cairn_rules_sandbox;
    assert_int_equal(cairn_world_create(&def, &r->world), CAIRN_OK);
    const char *where = "";
    assert_int_equal(
        cairn_world_decode(r->world, start->state, start->state_size, &where), CAIRN_OK);
    assert_int_equal(cairn_world_tick(r->world), start->tick);
}

static void step_ticks(replay *r, const cairn_chunk_ticks *chunk) {
    for (uint32_t i = 0; i < chunk->tick_count; ++i) {
        const cairn_wire_tick *tick = &chunk->ticks[i];
        assert_int_equal(tick->tick, cairn_world_tick(r->world));
        cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
        for (uint32_t c = 0; c < tick->command_count; ++c) {
            commands[c] = chunk->commands[tick->first_command + c];
            assert_int_equal(cairn_command_check(&commands[c]), CAIRN_OK);
        }
        cairn_world_step(r->world, commands, tick->command_count);
        const cairn_hash128 root = cairn_world_hash_read(r->world).full;
        r->roots_wrong += root.lo != tick->root_lo || root.hi != tick->root_hi ? 1 : 0;
        r->commands += tick->command_count;
        r->ticks += 1;
    }
}

// Lives the recording again.
static replay replay_of(const uint8_t *bytes, size_t size) {
    replay r = {0};
    cairn_chunk_reader walk = cairn_chunk_reader_of(bytes, size);
    while (cairn_chunk_reader_next(&walk)) {
        const cairn_chunk chunk = walk.chunk;
        switch (chunk.kind) {
        case CAIRN_CHUNK_START:
            start_world(&r, &chunk.start);
            break;
        case CAIRN_CHUNK_TICKS:
            step_ticks(&r, &chunk.ticks);
            break;
        default:
            r.end_tick = chunk.end.tick;
            assert_int_equal(chunk.end.tick_count, r.ticks);
        }
    }
    assert_true(walk.valid);
    r.end = walk.file.end;
    cairn_chunk_reader_end(&walk);
    return r;
}

static void play(uint32_t ms) {
    uint32_t first = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    uint32_t second = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, ms / 2);
    s.clients[first].buttons = CAIRN_SANDBOX_JUMP | CAIRN_SANDBOX_THROW;
    s.clients[second].buttons = CAIRN_SANDBOX_SPAWN;
    story_run_ms(&s, ms / 4);
    cairn_netcode_client_disconnect(s.clients[second].netcode, s.now_ns);
    story_run_ms(&s, ms / 4);
}

TEST("a drained server's recording replays") {
    story_start(&s, NULL);
    play(4000);
    const cairn_hash128 root =
        cairn_world_hash_read(cairn_server_world(s.server, CAIRN_ROOM_MAIN)).full;
    uint64_t tick = cairn_world_tick(cairn_server_world(s.server, CAIRN_ROOM_MAIN));
    cairn_server_drain(s.server, s.now_ns);
    story_run_ms(&s, 100);
    assert_int_equal(story_statistics(&s).total.recording_bytes, s.record_size);
    replay r = replay_of(s.record, s.record_size);
    assert_int_equal(r.end, CAIRN_RECORDING_CLEAN);
    assert_int_equal(r.ticks, tick);
    assert_int_equal(r.end_tick, tick);
    assert_int_equal(r.roots_wrong, 0);
    assert_true(r.commands > 200);
    assert_true(cairn_hash_equal(cairn_world_hash_read(r.world).full, root));
    cairn_world_destroy(r.world);
}

TEST("destroying a server closes its recording") {
    story_start(&s, NULL);
    play(1000);
    uint64_t tick = cairn_world_tick(cairn_server_world(s.server, CAIRN_ROOM_MAIN));
    cairn_server_destroy(s.server);
    s.server = NULL;
    replay r = replay_of(s.record, s.record_size);
    assert_int_equal(r.end, CAIRN_RECORDING_CLEAN);
    assert_int_equal(r.ticks, tick);
    assert_int_equal(r.roots_wrong, 0);
    cairn_world_destroy(r.world);
}

TEST("a running server has all but the last second on file") {
    story_start(&s, NULL);
    play(4000);
    uint64_t tick = cairn_world_tick(cairn_server_world(s.server, CAIRN_ROOM_MAIN));
    replay r = replay_of(s.record, s.record_size);
    assert_int_equal(r.end, CAIRN_RECORDING_CUT);
    assert_in_range(r.ticks, tick - 64, tick);
    assert_int_equal(r.roots_wrong, 0);
    cairn_world_destroy(r.world);
}

TEST("a writer that fails ends the recording, not the room") {
    story_start(&s, NULL);
    s.record_limit = s.record_size + 3000;
    play(4000);
    assert_true(story_heard(&s, "recording_failed"));
    assert_null(strstr(strstr(s.event_names, "recording_failed") + 1, "recording_failed"));
    assert_true(cairn_world_tick(cairn_server_world(s.server, CAIRN_ROOM_MAIN)) > 230);
    size_t size = s.record_size;
    replay r = replay_of(s.record, s.record_size);
    assert_int_equal(r.end, CAIRN_RECORDING_CUT);
    assert_int_equal(r.roots_wrong, 0);
    assert_in_range(r.ticks, 1, 230);
    cairn_world_destroy(r.world);
    s.record_limit = STORY_RECORD_MAX;
    cairn_server_drain(s.server, s.now_ns);
    assert_int_equal(s.record_size, size);
}
