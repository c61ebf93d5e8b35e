// SPDX-License-Identifier: MIT
// A server's recording replays with every root equal. One that could not be written to its end is
// valid up to where it ends.
#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "recording/player.h"
#include "tests/server/story.h"

static story s;

AFTER_EACH {
    story_end(&s);
}

static void start_and_play(uint32_t ms, uint32_t record_limit) {
    story_start(&s, NULL);
    s.record_limit = s.record_size + record_limit;
    uint32_t first = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    uint32_t second = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, ms / 2);
    s.clients[first].buttons = CAIRN_SANDBOX_JUMP | CAIRN_SANDBOX_THROW;
    s.clients[second].buttons = CAIRN_SANDBOX_SPAWN;
    story_run_ms(&s, ms / 4);
    story_leave(&s, second);
    story_run_ms(&s, ms / 4);
}

static story_replay replay_without_difference(bool complete) {
    const story_replay replay = story_replay_recording(&s);
    assert_int_equal(replay.roots_wrong, 0);
    assert_int_equal(replay.complete, complete);
    return replay;
}

TEST("a drained server's recording replays") {
    start_and_play(4000, STORY_RECORD_MAX / 2);
    const cairn_hash128 root = story_root(&s);
    const uint64_t tick = story_tick(&s);
    cairn_server_drain(s.server, s.now_ns);
    story_run_ms(&s, 100);
    assert_int_equal(story_statistics(&s).total.recording_bytes, s.record_size);
    const story_replay replay = replay_without_difference(true);
    assert_int_equal(replay.ticks, tick);
    assert_true(replay.commands > 200);
    assert_true(cairn_hash_equal(replay.root, root));
}

TEST("a recording names the scene, the rules and the versions it needs, and its end") {
    start_and_play(1000, STORY_RECORD_MAX / 2);
    const uint64_t tick = story_tick(&s);
    cairn_server_drain(s.server, s.now_ns);
    cairn_chunk_reader reader = cairn_chunk_reader_of(s.record, s.record_size);
    assert_true(cairn_chunk_reader_next(&reader));
    const cairn_chunk_start *start = &reader.chunk.start;
    assert_int_equal(reader.chunk.kind, CAIRN_CHUNK_START);
    assert_int_equal(start->tick, 0);
    assert_int_equal(start->sim_version, CAIRN_SIM_VERSION);
    assert_int_equal(start->rules_version, cairn_rules_sandbox.version);
    assert_string_equal(start->rules_name, cairn_rules_sandbox.name);
    assert_string_equal(start->scene_name, "test");
    while (cairn_chunk_reader_next(&reader)) {}
    assert_int_equal(reader.chunk.kind, CAIRN_CHUNK_END);
    assert_int_equal(reader.chunk.end.tick, tick);
    assert_int_equal(reader.chunk.end.tick_count, tick);
    cairn_chunk_reader_end(&reader);
}

TEST("destroying a server closes its recording") {
    start_and_play(1000, STORY_RECORD_MAX / 2);
    const uint64_t tick = story_tick(&s);
    cairn_server_destroy(s.server);
    s.server = NULL;
    assert_int_equal(replay_without_difference(true).ticks, tick);
}

TEST("a running server has all but the last second on file") {
    start_and_play(4000, STORY_RECORD_MAX / 2);
    assert_in_range(replay_without_difference(false).ticks, story_tick(&s) - 64, story_tick(&s));
}

TEST("a writer that fails ends the recording, not the room") {
    start_and_play(4000, 3000);
    assert_true(story_has_event(&s, "recording_failed"));
    assert_null(strstr(strstr(s.event_names, "recording_failed") + 1, "recording_failed"));
    assert_true(story_tick(&s) > 230);
    const size_t size = s.record_size;
    assert_in_range(replay_without_difference(false).ticks, 1, 230);
    s.record_limit = STORY_RECORD_MAX;
    cairn_server_drain(s.server, s.now_ns);
    assert_int_equal(s.record_size, size);
}

#define FILES_MAX 16

static struct {
    uint64_t first_tick, tick_count;
    uint8_t *bytes;
    size_t size;
    bool whole;
} files[FILES_MAX]; // of a broadcast, by number

static bool take_segment(
    void *user, const cairn_server_segment *segment, const uint8_t *bytes, size_t size) {
    (void)user;
    assert_true(segment->number < FILES_MAX && !files[segment->number].whole);
    assert_true(segment->number == 0 || files[segment->number - 1].whole);
    files[segment->number].first_tick = segment->first_tick;
    files[segment->number].tick_count = segment->tick_count;
    files[segment->number].whole = size == 0;
    uint8_t **all = &files[segment->number].bytes;
    const size_t before = files[segment->number].size;
    files[segment->number].size += size;
    *all = realloc(*all, before + size + 1);
    if (size > 0) {
        memcpy(*all + before, bytes, size);
    }
    return true;
}

static const struct cairn_scene *find_scene(void *user, const char *name) {
    (void)user;
    (void)name;
    return story_scene();
}

TEST("a broadcast begins a file when the world is replaced, and each verifies by itself") {
    static const uint64_t first_ticks[] = {0, 60, 0, 60, 120};
    static story_answer answer;
    cairn_server_config config = story_config();
    config.control = true;
    config.find_scene = find_scene;
    config.on_segment = take_segment;
    config.segment_s = 1;
    kit_start_with(&s, &answer, &config);
    story_run_ms(&s, 1500);
    const uint64_t tick = story_tick(&s);
    assert_in_range(tick, 61, 119);
    kit_do(&s, .verb = CAIRN_CONTROL_RESET);
    story_run_ms(&s, 2500);
    cairn_server_drain(s.server, s.now_ns);
    uint8_t *record = s.record;
    for (uint32_t i = 0; i < FILES_MAX && files[i].bytes != NULL; ++i) {
        assert_true(i < sizeof first_ticks / sizeof *first_ticks);
        assert_int_equal(files[i].first_tick, first_ticks[i]);
        assert_true(files[i].whole);
        s.record = files[i].bytes; // what a replay reads
        s.record_size = files[i].size;
        const story_replay replay = replay_without_difference(true);
        assert_int_equal(replay.ticks, files[i].tick_count);
        assert_int_equal(replay.replacements, 0);
        free(files[i].bytes);
    }
    s.record = record;
    assert_non_null(files[4].bytes);
    assert_in_range(files[1].tick_count, tick - 60, tick - 58);
}
