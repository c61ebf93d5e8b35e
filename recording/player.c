// SPDX-License-Identifier: MIT
#include "recording/player.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "recording/recorded_world.h"

_Static_assert(CAIRN_PLAYER_TEXT_SIZE == CAIRN_RECORDING_ERROR_SIZE, "one size of texts");

static bool set_world(cairn_player *player, cairn_world *world) {
    cairn_world_destroy(player->world);
    player->world = world;
    if (world != NULL && player->parallel != NULL) {
        return cairn_world_set_parallel(world, player->parallel) == CAIRN_OK;
    }
    return world != NULL;
}

// Reads the next chunk. Returns false if it cannot; `error` says why.
static bool read_chunk(cairn_player *player) {
    if (cairn_chunk_reader_next(&player->walk)) {
        return true;
    }
    cairn_chunk_reader_end_text(&player->walk, player->error);
    player->refusal = CAIRN_RECORDED_STATE;
    return false;
}

// The first chunk names the rules; a later state replaces its world.
static bool read_start(cairn_player *player) {
    if (!read_chunk(player)) {
        return false;
    }
    const cairn_chunk_start *start = &player->walk.chunk.start;
    cairn_world *world =
        cairn_recorded_world_of_start(start, NULL, &player->refusal, player->error);
    player->rules = world == NULL ? NULL : cairn_world_settings(world)->rules;
    return set_world(player, world);
}

bool cairn_player_open(
    cairn_player *player, const uint8_t *bytes, size_t size, const cairn_parallel *parallel) {
    *player = (cairn_player){.walk = cairn_chunk_reader_of(bytes, size), .parallel = parallel};
    return read_start(player);
}

void cairn_player_close(cairn_player *player) {
    cairn_chunk_reader_end(&player->walk);
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
        const bool version = player->refusal == CAIRN_RECORDED_VERSION;
        memcpy(text, player->error, CAIRN_PLAYER_TEXT_SIZE);
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
    return player->refusal == CAIRN_RECORDED_OK && player->walk.valid &&
           player->walk.file.end == CAIRN_RECORDING_CLEAN;
}

void cairn_player_end_text(const cairn_player *player, char text[CAIRN_PLAYER_TEXT_SIZE]) {
    if (player->refusal != CAIRN_RECORDED_OK) {
        memcpy(text, player->error, CAIRN_PLAYER_TEXT_SIZE);
    } else {
        cairn_chunk_reader_end_text(&player->walk, text);
    }
}

// Loads the state of a keyframe or a replacement.
static bool load_state(cairn_player *player) {
    const cairn_chunk *chunk = &player->walk.chunk;
    CAIRN_ASSERT(cairn_recording_is_state(chunk->kind));
    cairn_chunk_keyframe state = chunk->keyframe;
    if (chunk->kind == CAIRN_CHUNK_REPLACE) {
        state = (cairn_chunk_keyframe){
            chunk->replace.tick, chunk->replace.state, chunk->replace.state_size};
    }
    cairn_world *world = cairn_recorded_world_of_keyframe(&state, player->rules, player->error);
    player->refusal = world == NULL ? CAIRN_RECORDED_STATE : CAIRN_RECORDED_OK;
    return set_world(player, world);
}

bool cairn_player_jump(cairn_player *player, const cairn_recording_entry *state) {
    player->next = 0;
    player->tick = NULL;
    player->walk.valid = true;
    cairn_recording_jump(&player->walk.file, state->offset);
    if (state->kind == CAIRN_CHUNK_START) {
        return read_start(player);
    }
    return read_chunk(player) && load_state(player);
}

static cairn_player_event refuse_tick(cairn_player *player, const char *what, uint64_t tick) {
    snprintf(player->error, sizeof player->error, "%s %llu is found where tick %llu is expected",
        what, (unsigned long long)tick, (unsigned long long)cairn_world_tick(player->world));
    player->refusal = CAIRN_RECORDED_STATE;
    return CAIRN_PLAYER_REFUSED;
}

static cairn_player_event step_tick(cairn_player *player) {
    const cairn_chunk_ticks *ticks = &player->walk.chunk.ticks;
    CAIRN_ASSERT(player->next < ticks->tick_count);
    const cairn_wire_tick *tick = &ticks->ticks[player->next];
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    uint32_t count = 0;
    if (tick->tick != cairn_world_tick(player->world)) {
        return refuse_tick(player, "tick", tick->tick);
    }
    if (!cairn_recorded_commands(ticks, tick, commands, &count)) {
        snprintf(player->error, sizeof player->error, "tick %llu holds an invalid command",
            (unsigned long long)tick->tick);
        player->refusal = CAIRN_RECORDED_STATE;
        return CAIRN_PLAYER_REFUSED;
    }
    cairn_world_step(player->world, commands, count);
    CAIRN_ASSERT(cairn_world_tick(player->world) == tick->tick + 1);
    player->tick = tick;
    player->recorded_hash = (cairn_hash128){.lo = tick->root_lo, .hi = tick->root_hi};
    player->next++;
    return CAIRN_PLAYER_TICK;
}

// Applies a chunk without ticks to the world. END: it has no effect, read on.
static cairn_player_event apply_chunk(cairn_player *player) {
    CAIRN_ASSERT(player->world != NULL);
    const cairn_chunk *chunk = &player->walk.chunk;
    const uint64_t now = cairn_world_tick(player->world);
    if (chunk->kind == CAIRN_CHUNK_KEYFRAME) {
        return chunk->keyframe.tick == now
                   ? CAIRN_PLAYER_KEYFRAME
                   : refuse_tick(player, "a keyframe of tick", chunk->keyframe.tick);
    }
    if (chunk->kind == CAIRN_CHUNK_REPLACE) {
        return load_state(player) ? CAIRN_PLAYER_REPLACED : CAIRN_PLAYER_REFUSED;
    }
    if (chunk->kind == CAIRN_CHUNK_END && chunk->end.tick != now) {
        return refuse_tick(player, "an end at tick", chunk->end.tick);
    }
    return CAIRN_PLAYER_END;
}

cairn_player_event cairn_player_next(cairn_player *player) {
    if (player->world == NULL || player->refusal != CAIRN_RECORDED_OK) {
        return CAIRN_PLAYER_REFUSED;
    }
    const cairn_chunk *chunk = &player->walk.chunk;
    while (chunk->kind != CAIRN_CHUNK_TICKS || player->next >= chunk->ticks.tick_count) {
        player->next = 0;
        if (!read_chunk(player)) {
            // A recording that was cut off ends there; a damaged one is refused.
            const bool damaged = cairn_chunk_reader_damaged(&player->walk);
            player->refusal = damaged ? CAIRN_RECORDED_STATE : CAIRN_RECORDED_OK;
            return damaged ? CAIRN_PLAYER_REFUSED : CAIRN_PLAYER_END;
        }
        cairn_player_event event = apply_chunk(player);
        if (event != CAIRN_PLAYER_END) {
            return event;
        }
    }
    return step_tick(player);
}

cairn_world *cairn_player_world_at(const uint8_t *bytes, size_t size, uint64_t tick) {
    cairn_recording_index index;
    cairn_player player;
    cairn_world *world = NULL;
    if (cairn_recording_index_of(bytes, size, &index) != CAIRN_OK) {
        return NULL;
    }
    if (cairn_player_open(&player, bytes, size, NULL) && cairn_player_seek(&player, &index, tick)) {
        world = player.world;
        player.world = NULL;
        CAIRN_ASSERT(cairn_world_tick(world) == tick);
    }
    cairn_player_close(&player);
    cairn_recording_index_end(&index);
    return world;
}

const cairn_command *cairn_player_commands(const cairn_player *player) {
    CAIRN_ASSERT(player->tick != NULL && player->walk.chunk.kind == CAIRN_CHUNK_TICKS);
    return player->walk.chunk.ticks.commands + player->tick->first_command;
}

static bool step_to(cairn_player *player, uint64_t tick) {
    CAIRN_ASSERT(player->world != NULL);
    while (cairn_world_tick(player->world) < tick) {
        cairn_player_event event = cairn_player_next(player);
        if (event == CAIRN_PLAYER_END || event == CAIRN_PLAYER_REPLACED) {
            cairn_chunk_reader_end_text(&player->walk, player->error);
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
        return cairn_player_jump(player, state) && step_to(player, tick);
    }
    uint64_t first = 0, last = 0;
    if (!cairn_recording_index_range(index, &first, &last)) {
        snprintf(player->error, sizeof player->error, "it holds no state");
    } else {
        snprintf(player->error, sizeof player->error,
            "it holds no tick %llu: its ticks are %llu to %llu", (unsigned long long)tick,
            (unsigned long long)first, (unsigned long long)last);
    }
    return false;
}
