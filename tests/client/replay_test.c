// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "tools/replay/verify.h"

#include <stdlib.h>
#include <string.h>

#include "recording/recorded_world.h"
#include "schema/codec.h"
#include "tests/kit/rig.h"
#include "tools/replay/compare.h"

#define CAPACITY (16u << 20)

// A recording of a real server: twelve seconds, a player that moves and spawns, two keyframes.
static struct {
    uint8_t *bytes;
    size_t size;
    uint64_t ticks;
} valid;

BEFORE_ALL {
    RIG(p, .seed = 99, .recorded = true);
    cairn_client_config config = cairn_client_config_default();
    uint32_t player = rig_join(&p, &config, NULL);
    for (int i = 0; i < 24; i++) {
        rig_run_ms(&p, 500);
        rig_press(&p, player, i % 4 == 0 ? CAIRN_SANDBOX_SPAWN : 0, i % 2 == 0 ? 1 : -1);
    }
    valid.ticks = cairn_world_tick(rig_server_world(&p));
    cairn_server_destroy(p.system.server);
    p.system.server = NULL;
    valid.bytes = malloc(p.record_size);
    memcpy(valid.bytes, p.record, p.record_size);
    valid.size = p.record_size;
}

AFTER_ALL {
    free(valid.bytes);
}

// Alters a chunk before it is written again.
typedef void (*change)(cairn_chunk *chunk);

typedef struct rewritten {
    uint8_t *bytes;
    size_t size;
} rewritten;

static void append(rewritten *r, const void *bytes, size_t size) {
    assert_true(size <= CAPACITY - r->size);
    memcpy(r->bytes + r->size, bytes, size);
    r->size += size;
}

static rewritten rewrite(change apply) {
    rewritten r = {.bytes = malloc(CAPACITY)};
    cairn_encoder *encoder = NULL;
    assert_int_equal(cairn_encoder_create(CAPACITY / 2, &encoder), CAIRN_OK);
    uint8_t head[CAIRN_RECORDING_HEAD_SIZE];
    cairn_recording_head(head);
    append(&r, head, sizeof head);
    cairn_chunk_reader reader = cairn_chunk_reader_of(valid.bytes, valid.size);
    while (cairn_chunk_reader_next(&reader)) {
        const uint8_t *payload = NULL;
        size_t size = 0;
        apply(&reader.chunk);
        assert_int_equal(cairn_chunk_encode(encoder, &reader.chunk, &payload, &size), CAIRN_OK);
        const cairn_recording_piece piece = cairn_recording_piece_of(&reader.chunk, payload, size);
        const cairn_recording_frame frame = cairn_recording_frame_of(&piece);
        append(&r, frame.head, sizeof frame.head);
        append(&r, payload, size);
        append(&r, frame.tail, frame.tail_size);
    }
    cairn_chunk_reader_end(&reader);
    cairn_encoder_destroy(encoder);
    return r;
}

static cairn_verification verify_rewritten(change apply) {
    rewritten r = rewrite(apply);
    cairn_verification v = cairn_verify(r.bytes, r.size, NULL);
    free(r.bytes);
    return v;
}

static void change_nothing(cairn_chunk *chunk) {
    (void)chunk;
}

TEST("a valid recording verifies") {
    cairn_verification v = cairn_verify(valid.bytes, valid.size, NULL);
    assert_int_equal(v.verdict, CAIRN_VERDICT_SAME);
    assert_int_equal(v.ticks, valid.ticks);
    assert_int_equal(v.keyframes, 2);
    assert_true(v.commands > 500);
    assert_string_equal(v.end, "closed properly");
    v = verify_rewritten(change_nothing);
    assert_int_equal(v.verdict, CAIRN_VERDICT_SAME);
}

TEST("a recording cut anywhere verifies up to its last whole chunk") {
    uint64_t last = 0;
    for (size_t i = 1; i <= 6; i++) {
        size_t size = valid.size * i / 6 - 1;
        cairn_verification v = cairn_verify(valid.bytes, size, NULL);
        if (!v.started) {
            assert_int_equal(v.verdict, CAIRN_VERDICT_UNREADABLE);
            assert_true(v.finding[0] != '\0');
            continue;
        }
        assert_int_equal(v.verdict, CAIRN_VERDICT_SAME);
        assert_true(v.ticks >= last);
        assert_non_null(strstr(v.end, "cut off"));
        last = v.ticks;
    }
    assert_true(last >= valid.ticks - 64);
}

TEST("a recording of any length is read to its end without a fault") {
    for (size_t size = 0; size < valid.size; size += size < 2000 ? 1 : 97) {
        cairn_chunk_reader reader = cairn_chunk_reader_of(valid.bytes, size);
        while (cairn_chunk_reader_next(&reader)) {}
        char text[CAIRN_RECORDING_ERROR_SIZE];
        cairn_chunk_reader_end_text(&reader, text);
        cairn_chunk_reader_end(&reader);
        assert_true(text[0] != '\0');
    }
}

TEST("a flipped bit is reported as damage, with its offset") {
    for (size_t i = 1; i < 6; i++) {
        size_t at = valid.size * i / 6;
        valid.bytes[at] ^= 0x10;
        cairn_verification v = cairn_verify(valid.bytes, valid.size, NULL);
        valid.bytes[at] ^= 0x10;
        assert_true(v.verdict == CAIRN_VERDICT_DAMAGED || v.verdict == CAIRN_VERDICT_UNREADABLE);
        assert_non_null(strstr(v.finding, "at byte "));
    }
}

#define CHANGED_TICK 400

static cairn_wire_tick changed_ticks[4096];
static cairn_command changed_commands[4096];

// The chunk's arrays are the file's; a change is made on a copy.
static cairn_wire_tick *own_tick(cairn_chunk *chunk, uint64_t tick) {
    if (chunk->kind != CAIRN_CHUNK_TICKS || chunk->ticks.ticks[0].tick > tick ||
        chunk->ticks.ticks[0].tick + chunk->ticks.tick_count <= tick) {
        return NULL;
    }
    size_t count = chunk->ticks.tick_count;
    memcpy(changed_ticks, chunk->ticks.ticks, count * sizeof changed_ticks[0]);
    chunk->ticks.ticks = changed_ticks;
    return &changed_ticks[tick - changed_ticks[0].tick];
}

// Either half of the 128 bits alone.
static const cairn_hash128 root_changes[2] = {{.lo = 1}, {.hi = UINT64_C(1) << 63}};
static cairn_hash128 root_change;

static void change_root(cairn_chunk *chunk) {
    cairn_wire_tick *tick = own_tick(chunk, CHANGED_TICK);
    if (tick != NULL) {
        tick->root_lo ^= root_change.lo;
        tick->root_hi ^= root_change.hi;
    }
}

static void change_command(cairn_chunk *chunk) {
    cairn_wire_tick *tick = own_tick(chunk, CHANGED_TICK);
    if (tick != NULL) {
        size_t count = chunk->ticks.command_count;
        memcpy(changed_commands, chunk->ticks.commands, count * sizeof changed_commands[0]);
        chunk->ticks.commands = changed_commands;
        changed_commands[tick->first_command].move.x *= -0.5f;
    }
}

static void change_rules_digest(cairn_chunk *chunk) {
    chunk->start.rules_digest += chunk->kind == CAIRN_CHUNK_START ? 1 : 0;
}

static void forget_rules_digest(cairn_chunk *chunk) {
    if (chunk->kind == CAIRN_CHUNK_START) {
        chunk->start.rules_digest = 0;
    }
}

static void change_sim_version(cairn_chunk *chunk) {
    chunk->start.sim_version += chunk->kind == CAIRN_CHUNK_START ? 1 : 0;
}

static void change_rules(cairn_chunk *chunk) {
    if (chunk->kind == CAIRN_CHUNK_START) {
        chunk->start.rules_name = "chess";
    }
}

static void change_end_tick(cairn_chunk *chunk) {
    chunk->end.tick += chunk->kind == CAIRN_CHUNK_END ? 1 : 0;
}

static void clear_seal(cairn_chunk *chunk) {
    if (chunk->kind == CAIRN_CHUNK_END) {
        chunk->end.seal = (cairn_wire_seal){.chain = {0}};
    }
}

static void skip_tick(cairn_chunk *chunk) {
    if (own_tick(chunk, CHANGED_TICK) != NULL) {
        for (uint32_t i = 0; i < chunk->ticks.tick_count; i++) {
            changed_ticks[i].tick++;
        }
    }
}

TEST("a changed root is found at its tick") {
    for (size_t i = 0; i < 2; i++) {
        root_change = root_changes[i];
        cairn_verification v = verify_rewritten(change_root);
        assert_int_equal(v.verdict, CAIRN_VERDICT_DIFFERS);
        assert_int_equal(v.tick_differs, CHANGED_TICK + 1);
    }
}

TEST("a recording whose seal was cleared verifies but its seal does not") {
    assert_int_equal(verify_rewritten(change_nothing).seal, CAIRN_SEAL_UNSIGNED);
    cairn_verification v = verify_rewritten(clear_seal);
    assert_int_equal(v.verdict, CAIRN_VERDICT_SAME);
    assert_int_equal(v.seal, CAIRN_SEAL_CHAIN);
}

TEST("a changed command is found at its tick, and the next keyframe names the field") {
    cairn_verification v = verify_rewritten(change_command);
    assert_int_equal(v.verdict, CAIRN_VERDICT_DIFFERS);
    assert_int_equal(v.tick_differs, CHANGED_TICK + 1);
    assert_non_null(strstr(v.finding, "in the keyframe of tick 600"));
    assert_non_null(strstr(v.finding, "bodies"));
    assert_non_null(strstr(v.finding, " (0x"));
}

TEST("a recording that cannot be stepped is refused with a reason") {
    const struct {
        change apply;
        cairn_verdict verdict;
        const char *finding;
    } rows[] = {{change_sim_version, CAIRN_VERDICT_VERSION, "simulation version"},
        {change_rules_digest, CAIRN_VERDICT_VERSION, "other sources of the rules sandbox"},
        {forget_rules_digest, CAIRN_VERDICT_SAME, ""}, // recorded before there was a digest
        {change_rules, CAIRN_VERDICT_VERSION, "chess"},
        {change_end_tick, CAIRN_VERDICT_DAMAGED, "an end at tick"},
        {skip_tick, CAIRN_VERDICT_DAMAGED, "is expected"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cairn_verification v = verify_rewritten(rows[i].apply);
        assert_int_equal(v.verdict, rows[i].verdict);
        assert_non_null(strstr(v.finding, rows[i].finding));
    }
    _Alignas(8) static const uint8_t other[24] = "not a recording, ever";
    cairn_verification v = cairn_verify(other, sizeof other, NULL);
    assert_int_equal(v.verdict, CAIRN_VERDICT_UNREADABLE);
}

static cairn_comparison compare_with_valid(rewritten r) {
    cairn_comparison c = cairn_recordings_compare((cairn_comparison_side){valid.bytes, valid.size},
        (cairn_comparison_side){r.bytes, r.size}, NULL);
    free(r.bytes);
    return c;
}

TEST("a comparison of two recordings names what differs first") {
    cairn_comparison c = compare_with_valid(rewrite(change_nothing));
    assert_int_equal(c.divergence, CAIRN_DIVERGENCE_NONE);
    assert_int_equal(c.ticks, valid.ticks);
    c = compare_with_valid(rewrite(change_command));
    assert_int_equal(c.divergence, CAIRN_DIVERGENCE_COMMANDS);
    assert_int_equal(c.tick, CHANGED_TICK);
    assert_non_null(strstr(c.words, "bodies"));
    assert_non_null(strstr(c.words, "(0x"));
    for (size_t i = 0; i < 2; i++) {
        root_change = root_changes[i];
        c = compare_with_valid(rewrite(change_root));
        assert_int_equal(c.divergence, CAIRN_DIVERGENCE_ROOT);
        assert_int_equal(c.tick, CHANGED_TICK + 1);
        assert_non_null(strstr(c.words, "reaches that of the first"));
    }
    c = compare_with_valid(rewrite(change_sim_version));
    assert_int_equal(c.divergence, CAIRN_DIVERGENCE_VERSION);
}

static uint8_t nudged_state[1 << 20];

// The keyframe of a machine on which one body moved a little.
static void nudge_keyframe(cairn_chunk *chunk) {
    if (chunk->kind != CAIRN_CHUNK_KEYFRAME) {
        return;
    }
    char text[CAIRN_RECORDING_ERROR_SIZE];
    cairn_world *world =
        cairn_recorded_world_of_keyframe(&chunk->keyframe, &cairn_rules_sandbox, text);
    cairn_body_state bodies[2];
    assert_non_null(world);
    assert_true(cairn_world_bodies(world, bodies, 2) > 1);
    cairn_vec3 up = {0, 1e-3f, 0};
    assert_int_equal(cairn_body_apply_impulse_at_centre(world, bodies[1].id, up), CAIRN_OK);
    chunk->keyframe.state_size =
        (uint32_t)cairn_world_encode(world, nudged_state, sizeof nudged_state);
    chunk->keyframe.state = nudged_state;
    cairn_world_destroy(world);
}

TEST("the report of a keyframe that differs names the field") {
    cairn_verification v = verify_rewritten(nudge_keyframe);
    assert_int_equal(v.verdict, CAIRN_VERDICT_DIFFERS);
    assert_int_equal(v.tick_differs, 300);
    assert_non_null(strstr(v.finding, "linear_velocity.y"));
    cairn_comparison c = compare_with_valid(rewrite(nudge_keyframe));
    assert_int_equal(c.divergence, CAIRN_DIVERGENCE_KEYFRAME);
    assert_int_equal(c.tick, 300);
    assert_non_null(strstr(c.words, "linear_velocity.y"));
}
