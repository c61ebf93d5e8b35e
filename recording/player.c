// SPDX-License-Identifier: MIT
#include "recording/player.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

_Static_assert(CAIRN_PLAYER_TEXT_SIZE == CAIRN_REPLAY_WORDS_SIZE, "one size of texts");

static bool take_world(cairn_player *player, cairn_world *world) {
    cairn_world_destroy(player->world);
    player->world = world;
    if (world != NULL && player->parallel != NULL) {
        return cairn_world_set_parallel(world, player->parallel) == CAIRN_OK;
    }
    return world != NULL;
}

// The first chunk, which tells the rules; a state elsewhere replaces its world.
static bool read_start(cairn_player *player) {
    if (!cairn_replay_next(&player->walk)) {
        cairn_replay_end_text(&player->walk, player->words);
        player->refusal = CAIRN_REPLAY_STATE;
        return false;
    }
    const cairn_chunk_start *start = &player->walk.chunk.start;
    cairn_world *world = cairn_replay_world(start, &player->refusal, player->words);
    player->rules = world == NULL ? NULL : cairn_world_settings(world)->rules;
    return take_world(player, world);
}

bool cairn_player_open(
    cairn_player *player, const uint8_t *bytes, size_t size, const cairn_parallel *parallel) {
    *player = (cairn_player){.walk = cairn_replay_walk_of(bytes, size), .parallel = parallel};
    return read_start(player);
}

void cairn_player_close(cairn_player *player) {
    cairn_replay_walk_end(&player->walk);
    cairn_world_destroy(player->world);
    player->world = NULL;
}

cairn_status cairn_player_create(
    const uint8_t *bytes, size_t size, cairn_player **out, char text[CAIRN_PLAYER_TEXT_SIZE]) {
    *out = NULL;
    text[0] = '\0';
    if ((uintptr_t)bytes % 8 != 0) {
        snprintf(text, CAIRN_PLAYER_TEXT_SIZE, "the bytes must start at a multiple of 8");
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_player *player = malloc(sizeof *player);
    if (player == NULL) {
        snprintf(text, CAIRN_PLAYER_TEXT_SIZE, "out of memory");
        return CAIRN_OUT_OF_MEMORY;
    }
    if (!cairn_player_open(player, bytes, size, NULL)) {
        const bool version = player->refusal == CAIRN_REPLAY_VERSION;
        memcpy(text, player->words, CAIRN_PLAYER_TEXT_SIZE);
        cairn_player_destroy(player);
        return version ? CAIRN_VERSION_MISMATCH : CAIRN_MALFORMED;
    }
    *out = player;
    return CAIRN_OK;
}

void cairn_player_destroy(cairn_player *player) {
    if (player != NULL) {
        cairn_player_close(player);
        free(player);
    }
}

const cairn_world *cairn_player_world(const cairn_player *player) {
    CAIRN_ASSERT(player->world != NULL);
    return player->world;
}

cairn_hash128 cairn_player_recorded_hash(const cairn_player *player) {
    return player->recorded_hash;
}

bool cairn_player_complete(const cairn_player *player) {
    return player->refusal == CAIRN_REPLAY_OK && player->walk.sound &&
           player->walk.reader.end == CAIRN_RECORDING_CLEAN;
}

void cairn_player_end_text(const cairn_player *player, char text[CAIRN_PLAYER_TEXT_SIZE]) {
    if (player->refusal != CAIRN_REPLAY_OK) {
        memcpy(text, player->words, CAIRN_PLAYER_TEXT_SIZE);
    } else {
        cairn_replay_end_text(&player->walk, text);
    }
}

// Of a keyframe or a replacement, which say the same of their worlds.
static bool take_state(cairn_player *player) {
    const cairn_chunk *chunk = &player->walk.chunk;
    cairn_chunk_keyframe state = chunk->keyframe;
    if (chunk->kind == CAIRN_CHUNK_REPLACE) {
        state = (cairn_chunk_keyframe){.tick = chunk->replace.tick,
            .state = chunk->replace.state,
            .state_size = chunk->replace.state_size};
    }
    cairn_world *world = cairn_replay_keyframe_world(&state, player->rules, player->words);
    player->refusal = world == NULL ? CAIRN_REPLAY_STATE : CAIRN_REPLAY_OK;
    return take_world(player, world);
}

bool cairn_player_go(cairn_player *player, const cairn_recording_entry *state) {
    player->next = 0;
    player->tick = NULL;
    player->walk.sound = true;
    cairn_recording_jump(&player->walk.reader, state->offset);
    if (state->kind == CAIRN_CHUNK_START) {
        return read_start(player);
    }
    if (!cairn_replay_next(&player->walk)) {
        cairn_replay_end_text(&player->walk, player->words);
        player->refusal = CAIRN_REPLAY_STATE;
        return false;
    }
    return take_state(player);
}

static cairn_player_event refuse(cairn_player *player, const char *what, uint64_t tick) {
    snprintf(player->words, sizeof player->words, "%s %llu is found where tick %llu is expected",
        what, (unsigned long long)tick, (unsigned long long)cairn_world_tick(player->world));
    player->walk.sound = false;
    player->refusal = CAIRN_REPLAY_STATE;
    return CAIRN_PLAYER_REFUSED;
}

static cairn_player_event take_tick(cairn_player *player) {
    const cairn_chunk_ticks *ticks = &player->walk.chunk.ticks;
    const cairn_wire_tick *tick = &ticks->ticks[player->next];
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    uint32_t count = 0;
    if (tick->tick != cairn_world_tick(player->world)) {
        return refuse(player, "tick", tick->tick);
    }
    if (!cairn_replay_commands(ticks, tick, commands, &count)) {
        snprintf(player->words, sizeof player->words, "tick %llu holds an invalid command",
            (unsigned long long)tick->tick);
        player->walk.sound = false;
        player->refusal = CAIRN_REPLAY_STATE;
        return CAIRN_PLAYER_REFUSED;
    }
    cairn_world_step(player->world, commands, count);
    player->tick = tick;
    player->recorded_hash = (cairn_hash128){.lo = tick->root_lo, .hi = tick->root_hi};
    player->next++;
    return CAIRN_PLAYER_TICK;
}

// What a chunk that holds no ticks means to the world. END: nothing, read on.
static cairn_player_event take_chunk(cairn_player *player) {
    const cairn_chunk *chunk = &player->walk.chunk;
    const uint64_t now = cairn_world_tick(player->world);
    if (chunk->kind == CAIRN_CHUNK_KEYFRAME) {
        return chunk->keyframe.tick == now
                   ? CAIRN_PLAYER_KEYFRAME
                   : refuse(player, "a keyframe of tick", chunk->keyframe.tick);
    }
    if (chunk->kind == CAIRN_CHUNK_REPLACE) {
        return take_state(player) ? CAIRN_PLAYER_REPLACED : CAIRN_PLAYER_REFUSED;
    }
    if (chunk->kind == CAIRN_CHUNK_END && chunk->end.tick != now) {
        return refuse(player, "an end at tick", chunk->end.tick);
    }
    return CAIRN_PLAYER_END;
}

cairn_player_event cairn_player_next(cairn_player *player) {
    if (player->world == NULL || player->refusal != CAIRN_REPLAY_OK) {
        return CAIRN_PLAYER_REFUSED;
    }
    const cairn_chunk *chunk = &player->walk.chunk;
    while (chunk->kind != CAIRN_CHUNK_TICKS || player->next >= chunk->ticks.tick_count) {
        player->next = 0;
        if (!cairn_replay_next(&player->walk)) {
            return CAIRN_PLAYER_END;
        }
        cairn_player_event event = take_chunk(player);
        if (event != CAIRN_PLAYER_END) {
            return event;
        }
    }
    return take_tick(player);
}

const cairn_command *cairn_player_commands(const cairn_player *player) {
    return player->walk.chunk.ticks.commands + player->tick->first_command;
}

static bool step_to(cairn_player *player, uint64_t tick) {
    while (cairn_world_tick(player->world) < tick) {
        cairn_player_event event = cairn_player_next(player);
        if (event == CAIRN_PLAYER_END || event == CAIRN_PLAYER_REPLACED) {
            cairn_replay_end_text(&player->walk, player->words);
            return false;
        }
        if (event == CAIRN_PLAYER_REFUSED) {
            return false;
        }
    }
    return true;
}

bool cairn_player_seek(cairn_player *player, const cairn_recording_index *index, uint64_t tick) {
    const cairn_recording_entry *state = cairn_recording_index_find(index, tick);
    if (state != NULL) {
        return cairn_player_go(player, state) && step_to(player, tick);
    }
    uint64_t first = 0, last = 0;
    if (!cairn_recording_index_range(index, &first, &last)) {
        snprintf(player->words, sizeof player->words, "it holds no state");
    } else {
        snprintf(player->words, sizeof player->words,
            "it holds no tick %llu: its ticks are %llu to %llu", (unsigned long long)tick,
            (unsigned long long)first, (unsigned long long)last);
    }
    return false;
}
