// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "tools/replay/verify.h"

#include <stdlib.h>
#include <string.h>

#include "recording/recorded_world.h"
#include "schema/codec.h"
#include "tests/kit/rig.h"
#include "tools/replay/compare.h"

#define ROOM (16u << 20)

// A recording of a real server: twelve seconds, a player that moves and spawns, two keyframes.
static struct {
    uint8_t *bytes;
    size_t size;
    uint64_t ticks;
} sound;

BEFORE_ALL {
    RIG(p, .seed = 99, .recorded = true);
    cairn_client_config config = cairn_client_config_default();
    uint32_t player = rig_join(&p, &config, NULL);
    for (int i = 0; i < 24; i++) {
        rig_run_ms(&p, 500);
        rig_press(&p, player, i % 4 == 0 ? CAIRN_SANDBOX_SPAWN : 0, i % 2 == 0 ? 1 : -1);
    }
    sound.ticks = cairn_world_tick(cairn_server_world(p.system.server, CAIRN_ROOM_MAIN));
    cairn_server_destroy(p.system.server);
    p.system.server = NULL;
    sound.bytes = malloc(p.record_size);
    memcpy(sound.bytes, p.record, p.record_size);
    sound.size = p.record_size;
}

AFTER_ALL {
    free(sound.bytes);
}

// Rewrites the recording chunk by chunk; `change` may alter a chunk before it is written.
typedef void (*change)(cairn_chunk *chunk);

typedef struct rewritten {
    uint8_t *bytes;
    size_t size;
} rewritten;

static void put(rewritten *r, const void *bytes, size_t size) {
    assert_true(size <= ROOM - r->size);
    memcpy(r->bytes + r->size, bytes, size);
    r->size += size;
}

static rewritten rewrite(change apply) {
    rewritten r = {.bytes = malloc(ROOM)};
    cairn_encoder *encoder = NULL;
    assert_int_equal(cairn_encoder_create(ROOM / 2, &encoder), CAIRN_OK);
    uint8_t head[CAIRN_RECORDING_HEAD_SIZE];
    cairn_recording_head(head);
    put(&r, head, sizeof head);
    cairn_chunk_reader walk = cairn_chunk_reader_of(sound.bytes, sound.size);
    while (cairn_chunk_reader_next(&walk)) {
        const uint8_t *payload = NULL;
        size_t size = 0;
        apply(&walk.chunk);
        assert_int_equal(cairn_chunk_encode(encoder, &walk.chunk, &payload, &size), CAIRN_OK);
        const cairn_recording_piece piece = cairn_recording_piece_of(&walk.chunk, payload, size);
        const cairn_recording_frame frame = cairn_recording_frame_of(&piece);
        put(&r, frame.head, sizeof frame.head);
        put(&r, payload, size);
        put(&r, frame.tail, frame.tail_size);
    }
    cairn_chunk_reader_end(&walk);
    cairn_encoder_destroy(encoder);
    return r;
}

static cairn_verification verify_rewritten(change apply) {
    rewritten r = rewrite(apply);
    cairn_verification v = cairn_verify(r.bytes, r.size, NULL);
    free(r.bytes);
    return v;
}

static void nothing(cairn_chunk *chunk) {
    (void)chunk;
}

TEST("a valid recording verifies") {
    cairn_verification v = cairn_verify(sound.bytes, sound.size, NULL);
    assert_int_equal(v.verdict, CAIRN_VERDICT_SAME);
    assert_int_equal(v.ticks, sound.ticks);
    assert_int_equal(v.keyframes, 2);
    assert_true(v.commands > 500);
    assert_string_equal(v.end, "closed properly");
    v = verify_rewritten(nothing);
    assert_int_equal(v.verdict, CAIRN_VERDICT_SAME);
}

TEST("a recording cut anywhere verifies up to its last whole chunk") {
    uint64_t last = 0;
    for (size_t i = 1; i <= 6; i++) {
        size_t size = sound.size * i / 6 - 1;
        cairn_verification v = cairn_verify(sound.bytes, size, NULL);
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
    assert_true(last >= sound.ticks - 64);
}

TEST("every length is walked without harm") {
    for (size_t size = 0; size < sound.size; size += size < 2000 ? 1 : 97) {
        cairn_chunk_reader walk = cairn_chunk_reader_of(sound.bytes, size);
        while (cairn_chunk_reader_next(&walk)) {}
        char words[CAIRN_RECORDING_ERROR_SIZE];
        cairn_chunk_reader_end_text(&walk, words);
        cairn_chunk_reader_end(&walk);
        assert_true(words[0] != '\0');
    }
}

TEST("a flipped bit is damage and its place is named") {
    for (size_t i = 1; i < 6; i++) {
        size_t at = sound.size * i / 6;
        sound.bytes[at] ^= 0x10;
        cairn_verification v = cairn_verify(sound.bytes, sound.size, NULL);
        sound.bytes[at] ^= 0x10;
        assert_true(v.verdict == CAIRN_VERDICT_DAMAGED || v.verdict == CAIRN_VERDICT_UNREADABLE);
        assert_non_null(strstr(v.finding, "at byte "));
    }
}

#define LIE_TICK 400

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

static void lie_about_a_low_root(cairn_chunk *chunk) {
    cairn_wire_tick *tick = own_tick(chunk, LIE_TICK);
    if (tick != NULL) {
        tick->root_lo ^= 1;
    }
}

static void lie_about_a_high_root(cairn_chunk *chunk) {
    cairn_wire_tick *tick = own_tick(chunk, LIE_TICK);
    if (tick != NULL) {
        tick->root_hi ^= UINT64_C(1) << 63;
    }
}

// Either half of the 128 bits alone.
static const change lies_about_a_root[2] = {lie_about_a_low_root, lie_about_a_high_root};

static void lie_about_a_command(cairn_chunk *chunk) {
    cairn_wire_tick *tick = own_tick(chunk, LIE_TICK);
    if (tick != NULL) {
        size_t count = chunk->ticks.command_count;
        memcpy(changed_commands, chunk->ticks.commands, count * sizeof changed_commands[0]);
        chunk->ticks.commands = changed_commands;
        changed_commands[tick->first_command].move.x *= -0.5f;
    }
}

static void lie_about_the_simulation(cairn_chunk *chunk) {
    chunk->start.sim_version += chunk->kind == CAIRN_CHUNK_START ? 1 : 0;
}

static void lie_about_the_rules(cairn_chunk *chunk) {
    if (chunk->kind == CAIRN_CHUNK_START) {
        chunk->start.rules_name = "chess";
    }
}

static void lie_about_the_end(cairn_chunk *chunk) {
    chunk->end.tick += chunk->kind == CAIRN_CHUNK_END ? 1 : 0;
}

static void wipe_the_seal(cairn_chunk *chunk) {
    if (chunk->kind == CAIRN_CHUNK_END) {
        chunk->end.seal = (cairn_wire_seal){.chain = {0}};
    }
}

static void skip_a_tick(cairn_chunk *chunk) {
    if (own_tick(chunk, LIE_TICK) != NULL) {
        for (uint32_t i = 0; i < chunk->ticks.tick_count; i++) {
            changed_ticks[i].tick++;
        }
    }
}

TEST("a false root is found at its tick") {
    for (size_t i = 0; i < 2; i++) {
        cairn_verification v = verify_rewritten(lies_about_a_root[i]);
        assert_int_equal(v.verdict, CAIRN_VERDICT_DIFFERS);
        assert_int_equal(v.tick_differs, LIE_TICK + 1);
    }
}

TEST("a seal that was wiped off is broken") {
    assert_int_equal(verify_rewritten(nothing).seal, CAIRN_SEAL_UNSIGNED);
    cairn_verification v = verify_rewritten(wipe_the_seal);
    assert_int_equal(v.verdict, CAIRN_VERDICT_SAME);
    assert_int_equal(v.seal, CAIRN_SEAL_CHAIN);
}

TEST("a changed command changes the world and the keyframe names the field") {
    cairn_verification v = verify_rewritten(lie_about_a_command);
    assert_int_equal(v.verdict, CAIRN_VERDICT_DIFFERS);
    assert_int_equal(v.tick_differs, LIE_TICK + 1);
    assert_non_null(strstr(v.finding, "in the keyframe of tick 600"));
    assert_non_null(strstr(v.finding, "bodies"));
    assert_non_null(strstr(v.finding, "recorded 0x"));
}

TEST("a recording that cannot be stepped is refused with a reason") {
    const struct {
        change apply;
        cairn_verdict verdict;
        const char *words;
    } rows[] = {{lie_about_the_simulation, CAIRN_VERDICT_VERSION, "simulation version"},
        {lie_about_the_rules, CAIRN_VERDICT_VERSION, "chess"},
        {lie_about_the_end, CAIRN_VERDICT_DAMAGED, "an end at tick"},
        {skip_a_tick, CAIRN_VERDICT_DAMAGED, "is expected"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cairn_verification v = verify_rewritten(rows[i].apply);
        assert_int_equal(v.verdict, rows[i].verdict);
        assert_non_null(strstr(v.finding, rows[i].words));
    }
    _Alignas(8) static const uint8_t other[24] = "not a recording, ever";
    cairn_verification v = cairn_verify(other, sizeof other, NULL);
    assert_int_equal(v.verdict, CAIRN_VERDICT_UNREADABLE);
}

static cairn_comparison compare_with_sound(rewritten r) {
    cairn_comparison c = cairn_recordings_compare(
        (cairn_comparison_side){sound.bytes, sound.size}, (cairn_comparison_side){r.bytes, r.size});
    free(r.bytes);
    return c;
}

TEST("two recordings differ where they hold different things") {
    cairn_comparison c = compare_with_sound(rewrite(nothing));
    assert_int_equal(c.divergence, CAIRN_DIVERGENCE_NONE);
    assert_int_equal(c.ticks, sound.ticks);
    c = compare_with_sound(rewrite(lie_about_a_command));
    assert_int_equal(c.divergence, CAIRN_DIVERGENCE_COMMANDS);
    assert_int_equal(c.tick, LIE_TICK);
    assert_non_null(strstr(c.words, "bodies"));
    assert_non_null(strstr(c.words, "second 0x"));
    for (size_t i = 0; i < 2; i++) {
        c = compare_with_sound(rewrite(lies_about_a_root[i]));
        assert_int_equal(c.divergence, CAIRN_DIVERGENCE_ROOT);
        assert_int_equal(c.tick, LIE_TICK + 1);
        assert_non_null(strstr(c.words, "reaches that of the first"));
    }
    c = compare_with_sound(rewrite(lie_about_the_simulation));
    assert_int_equal(c.divergence, CAIRN_DIVERGENCE_VERSION);
}

static uint8_t nudged_state[1 << 20];

// The keyframe of a machine on which one body moved a little.
static void nudge_the_keyframe(cairn_chunk *chunk) {
    if (chunk->kind != CAIRN_CHUNK_KEYFRAME) {
        return;
    }
    char words[CAIRN_RECORDING_ERROR_SIZE];
    cairn_world *world =
        cairn_recorded_world_of_keyframe(&chunk->keyframe, &cairn_rules_sandbox, words);
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

TEST("a keyframe that differs names section body and field") {
    cairn_verification v = verify_rewritten(nudge_the_keyframe);
    assert_int_equal(v.verdict, CAIRN_VERDICT_DIFFERS);
    assert_int_equal(v.tick_differs, 300);
    assert_non_null(strstr(v.finding, "linear_velocity.y"));
    cairn_comparison c = compare_with_sound(rewrite(nudge_the_keyframe));
    assert_int_equal(c.divergence, CAIRN_DIVERGENCE_KEYFRAME);
    assert_int_equal(c.tick, 300);
    assert_non_null(strstr(c.words, "linear_velocity.y"));
}
