// SPDX-License-Identifier: MIT
// A capsule is read back as it was written and verifies like any recording; a file that is not a
// capsule is refused with an error text.

#include "tests/sim/world_kit.h"

#include <string.h>

#include "base/random.h"
#include "recording/desync_reader.h"
#include "recording/desync_report.h"
#include "recording/pack.h"
#include "recording/recorded_world.h"
#include "recording/recorder.h"
#include "sim/debug/trace.h"

static cairn_world *build(void) {
    cairn_world_def def = cairn_world_def_default();
    def.rules = &cairn_rules_sandbox;
    cairn_world *world = kit_world(&def);
    kit_ground(world);
    kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
    kit_run(world, 5);
    return world;
}

static const cairn_command join = {.kind = CAIRN_COMMAND_JOIN, .slot = 3};

typedef struct written {
    cairn_world *before;
    cairn_world *after;
    uint8_t *bytes;
    size_t size;
    uint8_t stages[CAIRN_TRACE_ROOTS_SIZE_MAX];
    cairn_wire_difference difference;
    cairn_desync_report capsule;
} written;

static void write_capsule(written *w) {
    w->before = build();
    assert_int_equal(cairn_world_fork(w->before, &w->after), CAIRN_OK);
    const cairn_hash128 root = kit_hash(w->before);
    const size_t stages = cairn_trace_stages(w->after, &join, 1, w->stages);
    w->difference = (cairn_wire_difference){.array = 5, .element = 1, .word = 2, .bits_client = 9};
    w->capsule = (cairn_desync_report){.scene_name = "demo",
        .packing = &cairn_packing_zstd,
        .before = w->before,
        .commands = &join,
        .command_count = 1,
        .after = w->after,
        .desync = {.head = {.tick = cairn_world_tick(w->before) + 1,
                       .root_before = root,
                       .root_client = {.lo = 1},
                       .root_again = {.lo = 1},
                       .root_server = kit_hash(w->after),
                       .difference_count = 1},
            .build_client = "a client",
            .build_server = "a server",
            .stages_server = w->stages,
            .stages_server_size = (uint32_t)stages,
            .differences = &w->difference,
            .difference_count = 1}};
    assert_int_equal(cairn_desync_report_encode(&w->capsule, &w->bytes, &w->size), CAIRN_OK);
}

static void end_written(written *w) {
    cairn_world_destroy(w->before);
    cairn_world_destroy(w->after);
    free(w->bytes);
}
SCOPE_ENDS(written, end_written)

TEST("a capsule is read back as it was written") {
    SCOPED(written) w = {.size = 0};
    static cairn_desync_report_content read;
    char words[CAIRN_RECORDING_ERROR_SIZE];
    write_capsule(&w);
    assert_true(cairn_desync_report_open(&read, w.bytes, w.size, NULL, words));
    assert_true(cairn_hash_equal(kit_hash(read.before), kit_hash(w.before)));
    assert_true(cairn_hash_equal(kit_hash(read.after), kit_hash(w.after)));
    assert_int_equal(read.command_count, 1);
    assert_memory_equal(&read.commands[0], &join, sizeof join);
    assert_int_equal(read.desync.stages_server_size, w.capsule.desync.stages_server_size);
    assert_memory_equal(read.desync.stages_server, w.stages, read.desync.stages_server_size);
    assert_memory_equal(read.desync.differences, &w.difference, sizeof w.difference);
    assert_string_equal(read.desync.build_server, "a server");
    cairn_desync_report_close(&read);
}

TEST("a capsule of a small world has room for all that may differ") {
    static cairn_wire_difference differences[CAIRN_DESYNC_DIFFERENCES_MAX];
    static uint8_t stages[2][CAIRN_DESYNC_STAGES_SIZE_MAX];
    static cairn_desync_report_content read;
    char words[CAIRN_RECORDING_ERROR_SIZE];
    SCOPED(written) w = {.size = 0};
    write_capsule(&w);
    for (uint32_t i = 0; i < CAIRN_DESYNC_DIFFERENCES_MAX; ++i) {
        differences[i] = (cairn_wire_difference){
            .array = 5, .element = i, .word = i % 7, .bits_client = i * 2654435761u};
    }
    for (uint32_t i = 0; i < sizeof stages; ++i) {
        stages[i % 2][i / 2] = (uint8_t)(i * 2654435761u >> 13);
    }
    cairn_chunk_desync *desync = &w.capsule.desync;
    desync->differences = differences;
    desync->difference_count = desync->head.difference_count = CAIRN_DESYNC_DIFFERENCES_MAX;
    desync->stages_client = stages[0];
    desync->stages_server = stages[1];
    desync->stages_client_size = desync->stages_server_size = CAIRN_DESYNC_STAGES_SIZE_MAX;
    uint8_t *bytes;
    size_t size;
    assert_int_equal(cairn_desync_report_encode(&w.capsule, &bytes, &size), CAIRN_OK);
    assert_true(cairn_desync_report_open(&read, bytes, size, NULL, words));
    assert_int_equal(read.desync.difference_count, CAIRN_DESYNC_DIFFERENCES_MAX);
    assert_memory_equal(read.desync.differences, differences, sizeof differences);
    assert_memory_equal(read.desync.stages_client, stages[0], sizeof stages[0]);
    assert_memory_equal(read.desync.stages_server, stages[1], sizeof stages[1]);
    cairn_desync_report_close(&read);
    free(bytes);
}

TEST("a text says which words of two worlds differ") {
    SCOPED(cairn_world) *a = build();
    cairn_world *b;
    char text[CAIRN_RECORDING_ERROR_SIZE];
    assert_int_equal(cairn_world_fork(a, &b), CAIRN_OK);
    cairn_recorded_diff_text(a, "here", b, "there", text);
    assert_string_equal(text, "0 fields differ");
    EXPECT_OK(cairn_world_set_gravity(b, vec3(0.0f, -1.0f, 2.0f)));
    cairn_recorded_diff_text(a, "here", b, "there", text);
    assert_non_null(strstr(text,
        " fields differ: settings 0 present_gravity.y: here -9.81000042 (0xc11cf5c3), there -1 "
        "(0xbf800000); settings 0 present_gravity.z: here 0 (0x00000000), there 2 (0x40000000); "));
    cairn_world_destroy(b);
}

static bool opens(const uint8_t *bytes, size_t size, const cairn_rules *rules) {
    static cairn_desync_report_content read;
    char words[CAIRN_RECORDING_ERROR_SIZE];
    const bool open = cairn_desync_report_open(&read, bytes, size, rules, words);
    assert_int_equal(open, words[0] == '\0');
    cairn_desync_report_close(&read);
    return open;
}

TEST("a recorded state is read with its own versions and tick alone") {
    SCOPED(cairn_world) *world = build();
    const size_t size = cairn_world_encode_size(world);
    uint8_t *state = malloc(size);
    assert_int_equal(cairn_world_encode(world, state, size), size);
    const cairn_chunk_start good = {.tick = cairn_world_tick(world),
        .sim_version = CAIRN_SIM_VERSION,
        .rules_version = cairn_rules_sandbox.version,
        .rules_name = cairn_rules_sandbox.name,
        .state = state,
        .state_size = (uint32_t)size};
    cairn_chunk_start starts[5] = {good, good, good, good, good};
    starts[1].sim_version += 1;
    starts[2].rules_version += 1;
    starts[3].tick += 1;
    starts[4].state_size -= 1;
    const cairn_recorded_refusal refusals[5] = {CAIRN_RECORDED_OK, CAIRN_RECORDED_VERSION,
        CAIRN_RECORDED_VERSION, CAIRN_RECORDED_STATE, CAIRN_RECORDED_STATE};
    for (int i = 0; i < 5; ++i) {
        char words[CAIRN_RECORDING_ERROR_SIZE] = "";
        cairn_recorded_refusal refusal;
        cairn_world *read = cairn_recorded_world_of_start(&starts[i], NULL, &refusal, words);
        assert_int_equal(refusal, refusals[i]);
        assert_int_equal(read != NULL, i == 0);
        assert_int_equal(words[0] != '\0', i != 0);
        cairn_world_destroy(read);
    }
    free(state);
}

TEST("bytes that are not a capsule are refused with a reason") {
    SCOPED(written) w = {.size = 0};
    write_capsule(&w);
    assert_true(opens(w.bytes, w.size, &cairn_rules_sandbox));
    cairn_rules others = cairn_rules_sandbox;
    others.version += 1;
    assert_false(opens(w.bytes, w.size, &others));
    others = cairn_rules_sandbox;
    others.name = "others";
    assert_false(opens(w.bytes, w.size, &others));
    assert_false(opens(w.bytes, 0, NULL));
    assert_false(opens(w.bytes, w.size / 2, NULL));
}

static bool append(void *user, const uint8_t *bytes, size_t size) {
    written *w = user;
    w->bytes = realloc(w->bytes, w->size + size);
    assert_non_null(w->bytes);
    memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
    return true;
}

// A file with `ticks` after the state and a desync chunk about the tick `offset` after it; 0: none.
static bool opens_with(uint32_t ticks, uint64_t offset) {
    SCOPED(written) w = {.before = build()};
    const cairn_recorder_config config = {.packing = &cairn_packing_zstd,
        .ticks_per_chunk = 8,
        .commands_per_tick_max = 4,
        .state_size_max = 1 << 20,
        .scene_name = "",
        .write = append,
        .user = &w};
    cairn_recorder *recorder = NULL;
    assert_int_equal(cairn_recorder_create(&config, &recorder), CAIRN_OK);
    const uint64_t tick = cairn_world_tick(w.before);
    assert_true(cairn_recorder_start(recorder, w.before));
    for (uint32_t i = 0; i < ticks; ++i) {
        cairn_recorder_tick(recorder, tick + i, NULL, 0, kit_hash(w.before));
    }
    if (offset != 0) {
        const cairn_chunk_desync desync = {
            .head = {.tick = tick + offset}, .build_client = "", .build_server = ""};
        cairn_recorder_desync(recorder, &desync);
    }
    cairn_recorder_end(recorder);
    cairn_recorder_destroy(recorder);
    return opens(w.bytes, w.size, NULL);
}

TEST("a capsule has one tick and names it") {
    assert_true(opens_with(1, 1));
    assert_false(opens_with(0, 1));
    assert_false(opens_with(2, 1));
    assert_false(opens_with(1, 2));
    assert_false(opens_with(1, 0));
}

TEST("a damaged byte of a capsule does no harm") {
    SCOPED(written) w = {.size = 0};
    write_capsule(&w);
    cairn_random random = cairn_random_of(7);
    for (int i = 0; i < 300; ++i) {
        const size_t at = (size_t)cairn_random_below(&random, w.size);
        w.bytes[at] ^= 0x10;
        (void)opens(w.bytes, w.size, NULL);
        w.bytes[at] ^= 0x10;
    }
}
