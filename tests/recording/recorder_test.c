// SPDX-License-Identifier: MIT
// A recording from its first byte to its seal: it replays from any of its states and after a cut
// anywhere, and every change of it is detected.
#include "tests/sim/world_kit.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "recording/pack.h"
#include "recording/player.h"
#include "recording/recorded_world.h"
#include "recording/recorder.h"
#include "tests/kit/exact.h"
#include "tools/replay/compare.h"
#include "tools/replay/verify.h"

// A small world with a player, stepped and recorded in memory.
#define TAPE_SIZE_MAX (1u << 20)

typedef struct tape {
    uint8_t *bytes; // starts on 8
    size_t size;
    cairn_world *world;
    cairn_recorder *recorder;
} tape;

static bool append(void *user, const uint8_t *bytes, size_t size) {
    tape *t = user;
    assert_true(size <= TAPE_SIZE_MAX - t->size);
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    return true;
}

// 16 ticks per chunk. Signed with `signing_seed`; NULL: not signed. `state_size_max` 0: as much as
// the first state needs.
static void tape_start_with(tape *t, const uint8_t *signing_seed, size_t state_size_max) {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = def.shape_capacity = 16;
    def.contact_capacity = 64;
    def.joint_capacity = 0;
    def.hull_capacity = 0;
    def.rules = &cairn_rules_sandbox;
    *t = (tape){.bytes = malloc(TAPE_SIZE_MAX), .world = kit_world(&def)};
    kit_ground(t->world);
    kit_cube(t->world, vec3(0, 0.5f, 0));
    kit_cube(t->world, vec3(0, 1.6f, 0));
    const cairn_recorder_config config = {.packing = &cairn_packing_zstd,
        .ticks_per_chunk = 16,
        .commands_per_tick_max = 4,
        .state_size_max = state_size_max == 0 ? cairn_world_encode_size(t->world) : state_size_max,
        .scene_name = "tape",
        .signing_seed = signing_seed,
        .write = append,
        .user = t};
    EXPECT_OK(cairn_recorder_create(&config, &t->recorder));
    assert_true(cairn_recorder_start(t->recorder, t->world));
}

static void tape_start(tape *t, const uint8_t *signing_seed) {
    tape_start_with(t, signing_seed, 1 << 18);
}

static void tape_run(tape *t, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; ++i) {
        uint64_t tick = cairn_world_tick(t->world);
        const cairn_command command = {.kind = tick == 0 ? CAIRN_COMMAND_JOIN : CAIRN_COMMAND_INPUT,
            .slot = 3,
            .sequence = (uint32_t)tick,
            .move = {.x = tick % 40 < 20 ? 1.0f : -1.0f, .z = 0.25f}};
        cairn_world_step(t->world, &command, 1);
        cairn_recorder_tick(t->recorder, tick, &command, 1, kit_hash(t->world));
    }
}

static void tape_end(tape *t) {
    cairn_recorder_destroy(t->recorder);
    cairn_world_destroy(t->world);
    free(t->bytes);
}

SCOPE_ENDS(tape, tape_end)
SCOPE_POINTER_ENDS(cairn_pool, cairn_pool_destroy)
SCOPE_ENDS(cairn_recording_index, cairn_recording_index_end)

static const uint8_t seed[CAIRN_SIGN_SEED_SIZE] = {7, 7, 7};

static cairn_verification verify(const tape *t) {
    return cairn_verify(t->bytes, t->size, NULL);
}

// 100 ticks, a keyframe after 48 of them.
static tape recorded(void) {
    tape t;
    tape_start(&t, seed);
    tape_run(&t, 48);
    cairn_recorder_keyframe(t.recorder, t.world);
    tape_run(&t, 52);
    cairn_recorder_end(t.recorder);
    return t;
}

static cairn_recording_index index_of(const tape *t) {
    cairn_recording_index index;
    EXPECT_OK(cairn_recording_index_of(t->bytes, t->size, &index));
    return index;
}

TEST("a state that is too long is left out, and ends a recording whose world it is") {
    SCOPED(tape) t;
    tape_start_with(&t, NULL, 0);
    tape_run(&t, 16); // a player came, so the state is longer
    const size_t before = t.size;
    cairn_recorder_keyframe(t.recorder, t.world);
    assert_int_equal(t.size, before);
    tape_run(&t, 16);
    assert_true(t.size > before);
    assert_int_equal(verify(&t).ticks, 32);
    const size_t after = t.size;
    cairn_recorder_replace(t.recorder, t.world);
    tape_run(&t, 16);
    assert_int_equal(t.size, after);
}

TEST("a recording of a state that is too long does not begin") {
    SCOPED(tape) t;
    tape_start_with(&t, NULL, 0);
    const size_t before = t.size;
    const size_t size = cairn_world_encode_size(t.world);
    for (uint32_t fits = 0; fits < 2; ++fits) {
        const cairn_recorder_config config = {.packing = &cairn_packing_zstd,
            .ticks_per_chunk = 16,
            .commands_per_tick_max = 4,
            .state_size_max = size - 1 + fits,
            .scene_name = "tape",
            .write = append,
            .user = &t};
        cairn_recorder *recorder;
        EXPECT_OK(cairn_recorder_create(&config, &recorder));
        assert_int_equal(cairn_recorder_start(recorder, t.world), fits);
        assert_int_equal(t.size > before, fits);
        cairn_recorder_destroy(recorder);
    }
}

TEST("a signed recording verifies") {
    SCOPED(tape) t = recorded();
    const cairn_verification v = verify(&t);
    uint8_t key[CAIRN_SIGN_PUBLIC_SIZE];
    cairn_sign_public(seed, key);
    assert_int_equal(v.verdict, CAIRN_VERDICT_SAME);
    assert_int_equal(v.ticks, 100);
    assert_int_equal(v.keyframes, 1);
    assert_int_equal(v.segments, 2);
    assert_int_equal(v.seal, CAIRN_SEAL_SIGNED);
    assert_memory_equal(v.public_key, key, sizeof key);
    assert_string_equal(v.end, "closed properly");
}

TEST("a recording without a key has a valid chain") {
    SCOPED(tape) t;
    tape_start(&t, NULL);
    tape_run(&t, 20);
    cairn_recorder_end(t.recorder);
    assert_int_equal(verify(&t).seal, CAIRN_SEAL_UNSIGNED);
}

// Records ticks 30 to 69, then continues with the world of tick 30.
static void record_until_return(tape *t, const uint8_t *signing_seed) {
    tape_start(t, signing_seed);
    tape_run(t, 30);
    cairn_world *past = kit_fork(t->world);
    tape_run(t, 40);
    cairn_world_destroy(t->world);
    t->world = past;
}

TEST("a recording follows a world that is replaced") {
    SCOPED(tape) t;
    record_until_return(&t, seed);
    const cairn_vec3 up = {0, 3, 0};
    EXPECT_OK(cairn_body_set_velocity(t.world, 2, up, up));
    cairn_recorder_replace(t.recorder, t.world);
    tape_run(&t, 25);
    cairn_recorder_end(t.recorder);
    cairn_verification v = verify(&t);
    assert_int_equal(v.verdict, CAIRN_VERDICT_SAME);
    assert_int_equal(v.ticks, 95);
    assert_int_equal(v.seal, CAIRN_SEAL_SIGNED);
}

// Tick 40 was stepped twice, tick 60 only before the replacement.
TEST("a seek uses the last state from which the tick was stepped") {
    SCOPED(tape) t;
    record_until_return(&t, NULL);
    cairn_recorder_replace(t.recorder, t.world);
    tape_run(&t, 20);
    cairn_recorder_end(t.recorder);
    SCOPED(cairn_recording_index) index = index_of(&t);
    assert_int_equal(index.end, CAIRN_RECORDING_CLEAN);
    static const struct {
        uint64_t tick;
        int kind; // of the state to begin with; -1: none
    } rows[] = {{0, CAIRN_CHUNK_START}, {29, CAIRN_CHUNK_START}, {30, CAIRN_CHUNK_REPLACE},
        {50, CAIRN_CHUNK_REPLACE}, {51, CAIRN_CHUNK_START}, {70, CAIRN_CHUNK_START}, {71, -1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const cairn_recording_entry *found = cairn_recording_index_find(&index, rows[i].tick);
        assert_int_equal(found == NULL ? -1 : (int)found->kind, rows[i].kind);
    }
}

TEST("a seek reaches every tick") {
    SCOPED(tape) t = recorded();
    SCOPED(cairn_recording_index) index = index_of(&t);
    cairn_player straight, jumping;
    assert_true(cairn_player_open(&straight, t.bytes, t.size, NULL));
    assert_true(cairn_player_open(&jumping, t.bytes, t.size, NULL));
    for (uint64_t tick = 0; tick <= 100; ++tick) {
        assert_true(cairn_player_seek(&jumping, &index, tick));
        assert_int_equal(cairn_world_diff(straight.world, jumping.world, NULL, 0), 0);
        if (tick == 48) {
            assert_int_equal(cairn_player_next(&straight), CAIRN_PLAYER_KEYFRAME);
        }
        cairn_player_event event = cairn_player_next(&straight);
        assert_int_equal(event, tick < 100 ? CAIRN_PLAYER_TICK : CAIRN_PLAYER_END);
    }
    assert_false(cairn_player_seek(&jumping, &index, 101));
    assert_string_equal(jumping.error, "it holds no tick 101: its ticks are 0 to 100");
    cairn_player_close(&straight);
    cairn_player_close(&jumping);
}

TEST("a seek in a file that was cut since its index was made ends with the reason") {
    SCOPED(tape) t;
    record_until_return(&t, NULL);
    cairn_recorder_end(t.recorder);
    SCOPED(cairn_recording_index) index = index_of(&t);
    const size_t sizes[] = {t.size, t.size / 2, t.size - 40};
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_player player;
        assert_true(cairn_player_open(&player, t.bytes, sizes[i], NULL));
        assert_int_equal(cairn_player_seek(&player, &index, 69), i != 1);
        assert_int_equal(player.error[0] != '\0', i == 1);
        cairn_player_close(&player);
    }
}

TEST("the public header alone verifies a recording to its last tick") {
    SCOPED(tape) t = recorded();
    cairn_player *player = NULL;
    char text[CAIRN_PLAYER_TEXT_SIZE];
    EXPECT_OK(cairn_player_create(t.bytes, t.size, &player, text));
    cairn_player_event event = cairn_player_next(player);
    uint32_t ticks = 0;
    for (; event != CAIRN_PLAYER_END; event = cairn_player_next(player)) {
        assert_int_not_equal(event, CAIRN_PLAYER_REFUSED);
        const cairn_hash128 stepped = cairn_world_hash_read(cairn_player_world(player)).full;
        assert_true(cairn_hash_equal(stepped, cairn_player_recorded_hash(player)));
        ticks += event == CAIRN_PLAYER_TICK ? 1 : 0;
    }
    assert_int_equal(ticks, 100);
    assert_true(cairn_player_complete(player));
    cairn_player_end_text(player, text);
    assert_string_equal(text, "closed properly");
    cairn_player_destroy(player);
}

TEST("the public header refuses an incomplete recording with a reason") {
    SCOPED(tape) t = recorded();
    cairn_player *player = NULL;
    char text[CAIRN_PLAYER_TEXT_SIZE];
    assert_int_equal(cairn_player_create(t.bytes + 1, 8, &player, text), CAIRN_INVALID_ARGUMENT);
    assert_null(player);
    assert_int_equal(cairn_player_create(t.bytes, 8, &player, text), CAIRN_MALFORMED);
    assert_null(player);
    assert_true(text[0] != '\0');
    EXPECT_OK(cairn_player_create(t.bytes, t.size - 8, &player, text));
    while (cairn_player_next(player) != CAIRN_PLAYER_END) {}
    assert_false(cairn_player_complete(player));
    cairn_player_destroy(player);
}

// Copies that are exactly as long, so that a sanitizer sees a read past their end.
static void walk_cut(const tape *t, size_t size, uint32_t chunks) {
    uint8_t *copy = kit_exact_copy(t->bytes, size);
    cairn_chunk_reader walk = cairn_chunk_reader_of(copy, size);
    while (cairn_chunk_reader_next(&walk)) {}
    assert_true(walk.valid);
    assert_int_equal(walk.file.end, CAIRN_RECORDING_CUT);
    assert_int_equal(walk.file.chunk_count, chunks);
    cairn_chunk_reader_end(&walk);
    free(copy);
}

static cairn_verification verify_cut(const tape *t, size_t size) {
    uint8_t *copy = kit_exact_copy(t->bytes, size);
    const cairn_verification v = cairn_verify(copy, size, NULL);
    free(copy);
    return v;
}

TEST("a file cut at any byte verifies to its last chunk") {
    SCOPED(tape) t = recorded();
    cairn_recording_reader reader = cairn_recording_reader_of(t.bytes, t.size);
    cairn_recording_piece piece = {.kind = CAIRN_CHUNK_NONE};
    uint64_t ticks = 0;
    uint32_t chunks = 0;
    size_t cut = 0;
    while (cairn_recording_next(&reader, &piece)) {
        for (; cut < reader.at; ++cut) {
            walk_cut(&t, cut, chunks);
            bool edge = cut == piece.offset || cut == piece.offset + 40 || cut + 1 == reader.at;
            if (!edge) {
                continue;
            }
            const cairn_verification v = verify_cut(&t, cut);
            bool started = cut >= CAIRN_RECORDING_HEAD_SIZE && piece.kind != CAIRN_CHUNK_START;
            assert_int_equal(v.verdict, started ? CAIRN_VERDICT_SAME : CAIRN_VERDICT_UNREADABLE);
            assert_int_equal(v.ticks, ticks);
            assert_int_equal(v.seal, CAIRN_SEAL_NONE);
            assert_non_null(strstr(v.end, "cut off"));
        }
        ticks += piece.tick_count;
        ++chunks;
    }
    assert_int_equal(ticks, 100);
}

TEST("any flipped bit is detected") {
    SCOPED(tape) t = recorded();
    for (size_t i = 0; i < t.size; i += 1 + t.size / 60) {
        t.bytes[i] ^= (uint8_t)(1u << i % 8);
        cairn_verdict verdict = verify(&t).verdict;
        t.bytes[i] ^= (uint8_t)(1u << i % 8);
        assert_true(verdict == CAIRN_VERDICT_DAMAGED || verdict == CAIRN_VERDICT_UNREADABLE);
    }
}

// The end of another recording of the same key: its signature is valid, but for another chain.
TEST("the seal of another recording does not fit") {
    SCOPED(tape) first = recorded();
    SCOPED(tape) second;
    tape_start(&second, seed);
    tape_run(&second, 48);
    cairn_recorder_keyframe(second.recorder, second.world);
    cairn_command none = {.kind = 0};
    for (uint64_t tick = 48; tick < 100; ++tick) {
        cairn_world_step(second.world, &none, 0);
        cairn_recorder_tick(second.recorder, tick, &none, 0, kit_hash(second.world));
    }
    cairn_recorder_end(second.recorder);
    SCOPED(cairn_recording_index) a = index_of(&first);
    SCOPED(cairn_recording_index) b = index_of(&second);
    size_t end_a = a.entries[a.count - 1].offset, end_b = b.entries[b.count - 1].offset;
    memcpy(first.bytes + end_a, second.bytes + end_b, second.size - end_b);
    first.size = end_a + second.size - end_b;
    const cairn_verification v = verify(&first);
    assert_int_equal(v.verdict, CAIRN_VERDICT_SAME);
    assert_int_equal(v.seal, CAIRN_SEAL_CHAIN);
}

TEST("two workers report the findings of one") {
    SCOPED(tape) t;
    SCOPED(cairn_pool) *pool = NULL;
    EXPECT_OK(cairn_pool_create(2, &pool));
    tape_start(&t, seed);
    for (int i = 0; i < 8; ++i) {
        tape_run(&t, 16);
        cairn_recorder_keyframe(t.recorder, t.world);
    }
    cairn_recorder_end(t.recorder);
    cairn_verification v = cairn_verify(t.bytes, t.size, pool);
    assert_true(v.side_by_side);
    assert_int_equal(v.verdict, CAIRN_VERDICT_SAME);
    assert_int_equal(v.ticks, 128);
    assert_int_equal(v.keyframes, 8);
}

#define SEGMENTS 8
#define LONG_SEGMENT_TICKS 3000

// A recording of eight segments with roots that are false in one half. Segment `first` is long and
// its last root is false; in each later segment the first root is. So the other workers find later
// false roots long before one worker reaches the first. Returns the tick of the first.
static uint64_t record_false_roots(tape *t, uint32_t first, bool high) {
    const cairn_command none = {.kind = 0};
    uint64_t first_false = 0;
    tape_start(t, seed);
    for (uint32_t segment = 0; segment < SEGMENTS; ++segment) {
        const uint32_t ticks = segment == first ? LONG_SEGMENT_TICKS : 8;
        for (uint32_t i = 0; i < ticks; ++i) {
            const uint64_t tick = cairn_world_tick(t->world);
            cairn_world_step(t->world, &none, 0);
            cairn_hash128 root = kit_hash(t->world);
            if (segment == first ? i == ticks - 1 : segment > first && i == 0) {
                first_false = first_false == 0 ? tick + 1 : first_false;
                root.lo ^= high ? 0 : 1;
                root.hi ^= high ? 1 : 0;
            }
            cairn_recorder_tick(t->recorder, tick, &none, 0, root);
        }
        cairn_recorder_keyframe(t->recorder, t->world);
    }
    cairn_recorder_end(t->recorder);
    return first_false;
}

TEST("several workers report the earliest of many false roots") {
    for (uint32_t first = 0; first < 4; ++first) {
        SCOPED(tape) t;
        const uint64_t first_false = record_false_roots(&t, first, first % 2 == 1);
        const cairn_verification alone = verify(&t);
        assert_int_equal(alone.verdict, CAIRN_VERDICT_DIFFERS);
        assert_int_equal(alone.tick_differs, first_false);
        for (uint32_t workers = 2; workers <= 4; ++workers) {
            SCOPED(cairn_pool) *pool = NULL;
            EXPECT_OK(cairn_pool_create(workers, &pool));
            const cairn_verification v = cairn_verify(t.bytes, t.size, pool);
            assert_true(v.side_by_side);
            assert_int_equal(v.verdict, CAIRN_VERDICT_DIFFERS);
            assert_int_equal(v.tick_differs, alone.tick_differs);
            assert_string_equal(v.finding, alone.finding);
        }
    }
}

TEST("a keyframe is due five seconds after the last state") {
    SCOPED(tape) t;
    tape_start(&t, NULL);
    tape_run(&t, 299);
    assert_false(cairn_recorder_keyframe_due(t.recorder));
    tape_run(&t, 1);
    assert_true(cairn_recorder_keyframe_due(t.recorder));
    cairn_recorder_keyframe(t.recorder, t.world);
    assert_false(cairn_recorder_keyframe_due(t.recorder));
    tape_run(&t, 150);
    cairn_recorder_replace(t.recorder, t.world);
    tape_run(&t, 150);
    assert_false(cairn_recorder_keyframe_due(t.recorder));
    cairn_recorder_end(t.recorder);
    tape_run(&t, 300);
    assert_false(cairn_recorder_keyframe_due(t.recorder));
    assert_int_equal(verify(&t).ticks, 600);
}

// The same chunks in a file of version 1: short heads, nothing packed.
static tape as_version_1(const tape *t) {
    tape old = {.bytes = malloc(TAPE_SIZE_MAX)};
    static const uint8_t zeros[8];
    append(&old, (const uint8_t *)"CRNREC\r\n\1\0\0\0\0\0\0\0", 16);
    cairn_chunk_reader walk = cairn_chunk_reader_of(t->bytes, t->size);
    while (cairn_chunk_reader_next(&walk)) {
        uint8_t head[24];
        cairn_writer writer = cairn_writer_of(head, sizeof head);
        cairn_write_u32(&writer, (uint32_t)walk.payload_size);
        cairn_write_u32(&writer, (uint32_t)walk.piece.kind);
        cairn_write_u64(&writer, cairn_checksum(walk.payload, walk.payload_size));
        cairn_write_u64(&writer, cairn_checksum(head, 16));
        append(&old, head, sizeof head);
        append(&old, walk.payload, walk.payload_size);
        append(&old, zeros, (8 - walk.payload_size % 8) % 8);
    }
    cairn_chunk_reader_end(&walk);
    return old;
}

TEST("a file of version 1 verifies and has the same index") {
    SCOPED(tape) t = recorded();
    SCOPED(tape) old = as_version_1(&t);
    const cairn_verification v = verify(&old);
    assert_int_equal(v.verdict, CAIRN_VERDICT_SAME);
    assert_int_equal(v.ticks, 100);
    assert_int_equal(v.seal, CAIRN_SEAL_SIGNED);
    SCOPED(cairn_recording_index) new_index = index_of(&t);
    SCOPED(cairn_recording_index) old_index = index_of(&old);
    assert_int_equal(new_index.count, old_index.count);
    for (uint32_t i = 0; i < new_index.count; ++i) {
        assert_int_equal(new_index.entries[i].kind, old_index.entries[i].kind);
        assert_int_equal(new_index.entries[i].tick, old_index.entries[i].tick);
        assert_int_equal(new_index.entries[i].tick_count, old_index.entries[i].tick_count);
    }
    const cairn_comparison both = cairn_recordings_compare((cairn_comparison_side){t.bytes, t.size},
        (cairn_comparison_side){old.bytes, old.size}, NULL);
    assert_int_equal(both.divergence, CAIRN_DIVERGENCE_NONE);
    assert_int_equal(both.ticks, 100);
}

// Writes the checksums of the changed chunk at `offset`.
static void mend(tape *t, size_t offset) {
    uint8_t *head = t->bytes + offset;
    cairn_reader reader = cairn_reader_of(head, 4);
    cairn_writer writer = cairn_writer_of(head + 24, 16);
    cairn_write_u64(&writer, cairn_checksum(head + 40, cairn_read_u32(&reader)));
    cairn_write_u64(&writer, cairn_checksum(head, 32));
}

TEST("a head whose ticks differ from its payload is refused") {
    static const size_t fields[] = {12, 16}; // the number of ticks, the first tick
    SCOPED(tape) t = recorded();
    SCOPED(cairn_recording_index) index = index_of(&t);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
        size_t offset = index.entries[2].offset;
        t.bytes[offset + fields[i]] ^= 1;
        mend(&t, offset);
        const cairn_verification v = verify(&t);
        assert_int_equal(v.verdict, CAIRN_VERDICT_DAMAGED);
        assert_non_null(strstr(v.finding, "its ticks differ from those in its head"));
        assert_int_equal(v.ticks, 16);
        t.bytes[offset + fields[i]] ^= 1;
        mend(&t, offset);
    }
    assert_int_equal(verify(&t).verdict, CAIRN_VERDICT_SAME);
}

TEST("a chunk that unpacks to another size is refused with that reason") {
    SCOPED(tape) t = recorded();
    cairn_recording_reader reader = cairn_recording_reader_of(t.bytes, t.size);
    cairn_recording_piece piece;
    assert_true(cairn_recording_next(&reader, &piece));
    assert_int_equal(piece.packing, CAIRN_PACKING_ZSTD);
    t.bytes[piece.offset + 11] = 3; // 48 MiB more than it has
    mend(&t, piece.offset);
    const cairn_verification v = verify(&t);
    assert_int_equal(v.verdict, CAIRN_VERDICT_UNREADABLE);
    assert_non_null(strstr(v.finding, "its unpacked size differs from that in its head"));
}

TEST("the public header checks the seal") {
    SCOPED(tape) t = recorded();
    uint8_t wanted[CAIRN_SIGN_PUBLIC_SIZE], key[CAIRN_RECORDING_KEY_SIZE];
    cairn_sign_public(seed, wanted);
    assert_int_equal(cairn_recording_check_seal(t.bytes, t.size, key), CAIRN_SEAL_SIGNED);
    assert_memory_equal(key, wanted, sizeof key);
    assert_int_equal(cairn_recording_check_seal(t.bytes, t.size - 8, key), CAIRN_SEAL_NONE);
    cairn_chunk_reader walk = cairn_chunk_reader_of(t.bytes, t.size);
    while (cairn_chunk_reader_next(&walk)) {}
    const uint8_t *signature = walk.chunk.end.seal.signature;
    SCOPED(cairn_recording_index) index = index_of(&t);
    const size_t end = index.entries[index.count - 1].offset;
    uint8_t *at = t.bytes + end;
    while (memcmp(at, signature, 16) != 0) {
        ++at;
    }
    at[0] ^= 1;
    mend(&t, end);
    cairn_chunk_reader_end(&walk);
    assert_int_equal(cairn_recording_check_seal(t.bytes, t.size, key), CAIRN_SEAL_FORGED);
    assert_memory_equal(key, wanted, sizeof key);
}

TEST("commands of a recorded tick are sorted, and none that may not enter a world is taken") {
    static cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX + 2];
    static cairn_command out[CAIRN_COMMANDS_PER_TICK_MAX];
    const uint32_t all = CAIRN_COMMANDS_PER_TICK_MAX + 2;
    uint32_t count;
    for (uint32_t i = 0; i < all; ++i) {
        commands[i] = (cairn_command){.kind = CAIRN_COMMAND_INPUT, .sequence = all - i};
    }
    const cairn_chunk_ticks ticks = {.commands = commands, .command_count = all};
    cairn_wire_tick tick = {.first_command = 1, .command_count = 3};
    assert_true(cairn_recorded_commands(&ticks, &tick, out, &count));
    assert_int_equal(count, 3);
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(out[i].sequence, all - 3 + i);
    }
    commands[0].slot = CAIRN_SLOTS_MAX; // of another tick
    assert_true(cairn_recorded_commands(&ticks, &tick, out, &count));
    commands[3].slot = CAIRN_SLOTS_MAX;
    assert_false(cairn_recorded_commands(&ticks, &tick, out, &count));
    tick = (cairn_wire_tick){.first_command = 1, .command_count = 2};
    assert_true(cairn_recorded_commands(&ticks, &tick, out, &count));
    commands[3].slot = 0;
    tick.command_count = CAIRN_COMMANDS_PER_TICK_MAX;
    assert_true(cairn_recorded_commands(&ticks, &tick, out, &count));
    tick.command_count += 1;
    assert_false(cairn_recorded_commands(&ticks, &tick, out, &count));
}

TEST("an index without chunks has no ticks, and one state has its own") {
    cairn_recording_entry start = {.kind = CAIRN_CHUNK_START, .tick = 7};
    const cairn_recording_index none = {.entries = &start, .count = 0};
    const cairn_recording_index one = {.entries = &start, .count = 1};
    uint64_t first = 1, last = 2;
    assert_false(cairn_recording_index_range(&none, &first, &last));
    assert_int_equal(first, 1);
    assert_int_equal(last, 2);
    assert_true(cairn_recording_index_range(&one, &first, &last));
    assert_int_equal(first, 7);
    assert_int_equal(last, 7);
}
