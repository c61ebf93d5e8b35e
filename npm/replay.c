// SPDX-License-Identifier: MIT

// Recordings for JavaScript: plays, seeks and verifies one, and lists what happened in it.

#include <stdlib.h>
#include <string.h>

#include "recording/index.h"
#include "recording/player.h"
#include <cairn/recording.h>

// What happened at a tick, apart from inputs.
typedef struct cairn_npm_mark {
    uint32_t tick; // enough for two years at 60 ticks a second
    uint32_t kind; // cairn_command_kind; 0: an operator replaced the world
    uint32_t slot;
} cairn_npm_mark;

// A recording with thousands of joins a minute has more marks than a timeline has pixels.
#define MARKS_MAX 4096u

typedef struct cairn_npm_replay {
    cairn_player player;
    cairn_recording_index index;
    cairn_world *recorded; // owned; the keyframe that differs from the player's world
    cairn_npm_mark *marks; // owned
    uint32_t mark_count;
} cairn_npm_replay;

// What a slice of the verification found.
enum { VERIFY_MORE, VERIFY_END, VERIFY_ROOT, VERIFY_KEYFRAME, VERIFY_DAMAGED };

cairn_status cairn_npm_replay_open(
    const uint8_t *bytes, size_t size, cairn_npm_replay **out, char text[CAIRN_PLAYER_TEXT_SIZE]);
void cairn_npm_replay_close(cairn_npm_replay *replay);
void cairn_npm_replay_range(const cairn_npm_replay *replay, uint64_t ticks[2]);
const cairn_npm_mark *cairn_npm_replay_marks(const cairn_npm_replay *replay, uint32_t *count);
cairn_player *cairn_npm_replay_player(cairn_npm_replay *replay);
bool cairn_npm_replay_seek(
    cairn_npm_replay *replay, uint64_t tick, char text[CAIRN_PLAYER_TEXT_SIZE]);
uint32_t cairn_npm_replay_verify(cairn_npm_replay *replay, uint32_t ticks);
const cairn_world *cairn_npm_replay_recorded(const cairn_npm_replay *replay);

static bool is_input(uint32_t kind) {
    return kind == CAIRN_COMMAND_INPUT || kind == CAIRN_COMMAND_INPUT_SECOND ||
           kind == CAIRN_COMMAND_INPUT_THIRD || kind == CAIRN_COMMAND_MESSAGE;
}

static void add_mark(cairn_npm_replay *replay, uint64_t tick, uint32_t kind, uint32_t slot) {
    if (replay->mark_count < MARKS_MAX) {
        replay->marks[replay->mark_count++] = (cairn_npm_mark){(uint32_t)tick, kind, slot};
    }
}

static void mark_ticks(cairn_npm_replay *replay, const cairn_chunk_ticks *ticks) {
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    for (uint32_t i = 0; i < ticks->tick_count; ++i) {
        uint32_t count = 0;
        if (!cairn_recorded_commands(ticks, &ticks->ticks[i], commands, &count)) {
            return; // playing says what is wrong
        }
        for (uint32_t j = 0; j < count; ++j) {
            if (!is_input(commands[j].kind)) {
                add_mark(replay, ticks->ticks[i].tick, commands[j].kind, commands[j].slot);
            }
        }
    }
}

// Reads the whole recording without stepping, up to damage.
static void find_marks(cairn_npm_replay *replay, const uint8_t *bytes, size_t size) {
    cairn_chunk_reader reader = cairn_chunk_reader_of(bytes, size);
    while (cairn_chunk_reader_next(&reader)) {
        if (reader.chunk.kind == CAIRN_CHUNK_TICKS) {
            mark_ticks(replay, &reader.chunk.ticks);
        } else if (reader.chunk.kind == CAIRN_CHUNK_REPLACE) {
            add_mark(replay, reader.chunk.replace.tick, 0, CAIRN_SLOT_OPERATOR);
        }
    }
    cairn_chunk_reader_end(&reader);
}

static cairn_status refuse(cairn_npm_replay *replay, cairn_status status, const char *why,
    char text[CAIRN_PLAYER_TEXT_SIZE]) {
    strncpy(text, why, CAIRN_PLAYER_TEXT_SIZE - 1);
    text[CAIRN_PLAYER_TEXT_SIZE - 1] = '\0';
    cairn_npm_replay_close(replay);
    return status;
}

// `bytes` are aligned to 8 and outlive the replay. On failure *out is NULL and `text` says why.
// Pair with cairn_npm_replay_close.
cairn_status cairn_npm_replay_open(
    const uint8_t *bytes, size_t size, cairn_npm_replay **out, char text[CAIRN_PLAYER_TEXT_SIZE]) {
    cairn_npm_replay *replay = calloc(1, sizeof *replay);
    *out = NULL;
    if (replay == NULL) {
        return refuse(NULL, CAIRN_OUT_OF_MEMORY, "out of memory", text);
    }
    replay->marks = malloc(MARKS_MAX * sizeof *replay->marks);
    if (replay->marks == NULL ||
        cairn_recording_index_of(bytes, size, &replay->index) != CAIRN_OK) {
        return refuse(replay, CAIRN_OUT_OF_MEMORY, "out of memory", text);
    }
    if (!cairn_player_open(&replay->player, bytes, size, NULL)) {
        const bool version = replay->player.refusal == CAIRN_RECORDED_VERSION;
        return refuse(
            replay, version ? CAIRN_VERSION_MISMATCH : CAIRN_MALFORMED, replay->player.error, text);
    }
    find_marks(replay, bytes, size);
    *out = replay;
    return CAIRN_OK;
}

void cairn_npm_replay_close(cairn_npm_replay *replay) {
    if (replay != NULL) {
        cairn_world_destroy(replay->recorded);
        cairn_player_close(&replay->player);
        cairn_recording_index_end(&replay->index);
        free(replay->marks);
        free(replay);
    }
}

// The first and the last tick that a seek reaches.
void cairn_npm_replay_range(const cairn_npm_replay *replay, uint64_t ticks[2]) {
    if (!cairn_recording_index_range(&replay->index, &ticks[0], &ticks[1])) {
        ticks[0] = ticks[1] = cairn_world_tick(replay->player.world);
    }
}

const cairn_npm_mark *cairn_npm_replay_marks(const cairn_npm_replay *replay, uint32_t *count) {
    *count = replay->mark_count;
    return replay->marks;
}

// For the functions of <cairn/recording.h>; owned by the replay.
cairn_player *cairn_npm_replay_player(cairn_npm_replay *replay) {
    return &replay->player;
}

// False: `text` says why, and the recording has to be opened again.
bool cairn_npm_replay_seek(
    cairn_npm_replay *replay, uint64_t tick, char text[CAIRN_PLAYER_TEXT_SIZE]) {
    const bool there = cairn_player_seek(&replay->player, &replay->index, tick);
    memcpy(text, replay->player.error, CAIRN_PLAYER_TEXT_SIZE);
    return there;
}

static bool keyframe_differs(cairn_npm_replay *replay) {
    char ignored[CAIRN_RECORDING_ERROR_SIZE];
    cairn_world_destroy(replay->recorded);
    replay->recorded = cairn_recorded_world_of_keyframe(
        &replay->player.walk.chunk.keyframe, replay->player.rules, ignored);
    return replay->recorded == NULL ||
           cairn_world_diff(replay->recorded, replay->player.world, NULL, 0) > 0;
}

// Plays at most so many ticks and compares each state hash, and each keyframe, with what was
// recorded. After a hash that differs the player goes on to the next keyframe, which tells the
// bodies: a caller that wants it calls again.
uint32_t cairn_npm_replay_verify(cairn_npm_replay *replay, uint32_t ticks) {
    cairn_player *player = &replay->player;
    for (uint32_t i = 0; i < ticks;) {
        switch (cairn_player_next(player)) {
        case CAIRN_PLAYER_TICK:
            ++i;
            if (!cairn_hash_equal(
                    player->recorded_hash, cairn_world_hash_read(player->world).full)) {
                return VERIFY_ROOT;
            }
            break;
        case CAIRN_PLAYER_KEYFRAME:
            if (keyframe_differs(replay)) {
                return replay->recorded == NULL ? VERIFY_DAMAGED : VERIFY_KEYFRAME;
            }
            break;
        case CAIRN_PLAYER_REPLACED:
            break;
        case CAIRN_PLAYER_END:
            return VERIFY_END;
        case CAIRN_PLAYER_REFUSED:
            return VERIFY_DAMAGED;
        }
    }
    return VERIFY_MORE;
}

// After VERIFY_KEYFRAME: the world as it was recorded. The player has it as it was stepped.
const cairn_world *cairn_npm_replay_recorded(const cairn_npm_replay *replay) {
    return replay->recorded;
}
