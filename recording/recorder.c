// SPDX-License-Identifier: MIT
#include "recording/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/snapshot.h"
#include "net/crypto.h"
#include "recording/chain.h"
#include "recording/file.h"
#include "schema/codec.h"
#include <cairn/rules_registry.h>
#include <cairn/version.h>

// cairn_recorder_keyframe_due.
#define STATE_S_MIN 5
#define STATE_S_MAX 60
#define STATE_BYTES_PER_S (64 * 1024)

// What surrounds a chunk's payload: the file's head, the chunk's own and its tail.
#define BEFORE_PAYLOAD_SIZE (CAIRN_RECORDING_HEAD_SIZE + CAIRN_RECORDING_CHUNK_HEAD_SIZE)
#define FRAME_SIZE (BEFORE_PAYLOAD_SIZE + 8)

struct cairn_recorder {
    cairn_recorder_config config;
    cairn_encoder *encoder;
    cairn_packer *packer;
    uint8_t *packed;        // [packed_size_max + FRAME_SIZE]: room for what surrounds a payload
    size_t packed_size_max; // of a payload
    uint8_t *state;         // room for state_size_max
    cairn_wire_tick *ticks; // [ticks_per_chunk], those that wait to be written
    uint32_t tick_count;
    cairn_command *commands; // of these ticks
    uint32_t command_count;
    cairn_chain chain;
    uint64_t next_tick;      // the tick that is recorded next
    uint64_t ticks_recorded; // since the start
    uint64_t state_tick;     // of the last state written
    uint64_t state_bytes;    // that it took in the file
    uint32_t tick_rate_hz;
    uint8_t seed[CAIRN_SIGN_SEED_SIZE];
    uint64_t bytes;
    uint64_t ticks_written;
    bool open;   // between start and end
    bool failed; // the writer returned false; nothing is written afterwards
};

cairn_status cairn_recorder_create(const cairn_recorder_config *config, cairn_recorder **out) {
    CAIRN_ASSERT(config->commands_per_tick_max <= CAIRN_COMMANDS_PER_TICK_MAX);
    *out = NULL;
    CAIRN_ASSERT(config->ticks_per_chunk > 0 && config->write != NULL);
    cairn_recorder *recorder = calloc(1, sizeof *recorder);
    if (recorder == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    size_t most = (size_t)config->ticks_per_chunk * config->commands_per_tick_max;
    size_t ticks_size =
        most * sizeof *recorder->commands + config->ticks_per_chunk * sizeof *recorder->ticks;
    size_t largest = config->state_size_max > ticks_size ? config->state_size_max : ticks_size;
    recorder->config = *config;
    if (config->signing_seed != NULL) {
        memcpy(recorder->seed, config->signing_seed, sizeof recorder->seed);
    }
    cairn_status status = cairn_encoder_create(largest + 4096, &recorder->encoder);
    if (status == CAIRN_OK && config->packing != NULL) {
        status = config->packing->create(&recorder->packer);
    }
    recorder->packed_size_max = largest + 4096;
    recorder->packed = malloc(recorder->packed_size_max + FRAME_SIZE);
    recorder->state = malloc(config->state_size_max);
    recorder->ticks = malloc(config->ticks_per_chunk * sizeof *recorder->ticks);
    recorder->commands = malloc(most * sizeof *recorder->commands);
    if (status != CAIRN_OK || recorder->packed == NULL || recorder->state == NULL ||
        recorder->ticks == NULL || recorder->commands == NULL) {
        cairn_recorder_destroy(recorder);
        return CAIRN_OUT_OF_MEMORY;
    }
    *out = recorder;
    return CAIRN_OK;
}

void cairn_recorder_destroy(cairn_recorder *recorder) {
    if (recorder != NULL) {
        cairn_encoder_destroy(recorder->encoder);
        if (recorder->config.packing != NULL) {
            recorder->config.packing->destroy(recorder->packer);
        }
        cairn_wipe(recorder->seed, sizeof recorder->seed);
        free(recorder->packed);
        free(recorder->commands);
        free(recorder->ticks);
        free(recorder->state);
        free(recorder);
    }
}

static void write_bytes(cairn_recorder *recorder, const uint8_t *bytes, size_t size) {
    if (recorder->failed || size == 0) {
        return;
    }
    recorder->failed = !recorder->config.write(recorder->config.user, bytes, size);
    recorder->bytes += recorder->failed ? 0 : size;
}

// Packs the payload, or copies it if it does not get smaller, behind the room for its heads.
static cairn_recording_piece pack_piece(cairn_recorder *recorder, cairn_recording_piece piece) {
    CAIRN_ASSERT(piece.size > 0 && piece.packing == CAIRN_PACKING_NONE);
    CAIRN_ASSERT(piece.size <= recorder->packed_size_max);
    uint8_t *payload = recorder->packed + BEFORE_PAYLOAD_SIZE;
    const cairn_packing_functions *packing = recorder->config.packing;
    const size_t size = packing == NULL ? 0
                                        : packing->pack(recorder->packer, piece.payload, piece.size,
                                              payload, piece.size - 1);
    if (size > 0) {
        piece.packing = CAIRN_PACKING_ZSTD;
        piece.size = size;
        CAIRN_ASSERT(piece.size < piece.raw_size);
    } else {
        memcpy(payload, piece.payload, piece.size);
    }
    piece.payload = payload;
    return piece;
}

// The whole chunk is one write, with the file's head before the first, so that a writer can tell
// where a chunk ends.
static void write_chunk(cairn_recorder *recorder, const cairn_chunk *chunk) {
    const uint8_t *bytes;
    size_t size;
    cairn_status status = cairn_chunk_encode(recorder->encoder, chunk, &bytes, &size);
    CAIRN_ASSERT(status == CAIRN_OK);
    cairn_chain_chunk(&recorder->chain, chunk, bytes, size);
    const cairn_recording_piece piece =
        pack_piece(recorder, cairn_recording_piece_of(chunk, bytes, size));
    const cairn_recording_frame frame = cairn_recording_frame_of(&piece);
    uint8_t *head = recorder->packed + CAIRN_RECORDING_HEAD_SIZE;
    memcpy(head, frame.head, sizeof frame.head);
    memcpy(head + sizeof frame.head + piece.size, frame.tail, frame.tail_size);
    const size_t chunk_size = sizeof frame.head + piece.size + frame.tail_size;
    if (recorder->bytes == 0) {
        cairn_recording_head(recorder->packed);
        write_bytes(recorder, recorder->packed, CAIRN_RECORDING_HEAD_SIZE + chunk_size);
    } else {
        write_bytes(recorder, head, chunk_size);
    }
}

static void write_state(cairn_recorder *recorder, const cairn_chunk *chunk, uint64_t tick) {
    CAIRN_ASSERT(recorder->open);
    uint64_t before = recorder->bytes;
    write_chunk(recorder, chunk);
    recorder->state_tick = tick;
    recorder->state_bytes = recorder->bytes - before;
}

bool cairn_recorder_start(cairn_recorder *recorder, const cairn_world *world) {
    CAIRN_ASSERT(!recorder->open && recorder->ticks_recorded == 0);
    size_t size = cairn_world_encode(world, recorder->state, recorder->config.state_size_max);
    if (size == 0) {
        return false;
    }
    const cairn_rules *rules = cairn_world_settings(world)->rules;
    recorder->next_tick = cairn_world_tick(world);
    recorder->tick_rate_hz = cairn_world_settings(world)->tick_rate_hz;
    const cairn_chunk chunk = {
        .kind = CAIRN_CHUNK_START,
        .start = {.sim_version = CAIRN_SIM_VERSION,
            .rules_version = rules == NULL ? 0 : rules->version,
            .rules_digest = cairn_rules_digest(rules),
            .rules_name = rules == NULL ? "" : rules->name,
            .scene_name = recorder->config.scene_name,
            .build = cairn_build_text(),
            .tick = recorder->next_tick,
            .state = recorder->state,
            .state_size = (uint32_t)size},
    };
    recorder->open = true;
    write_state(recorder, &chunk, recorder->next_tick);
    return true;
}

static void write_ticks(cairn_recorder *recorder) {
    CAIRN_ASSERT(recorder->tick_count <= recorder->config.ticks_per_chunk);
    if (recorder->tick_count == 0) {
        return;
    }
    const cairn_chunk chunk = {
        .kind = CAIRN_CHUNK_TICKS,
        .ticks = {.ticks = recorder->ticks,
            .tick_count = recorder->tick_count,
            .commands = recorder->commands,
            .command_count = recorder->command_count},
    };
    write_chunk(recorder, &chunk);
    recorder->ticks_written += recorder->failed ? 0 : recorder->tick_count;
    recorder->tick_count = 0;
    recorder->command_count = 0;
}

void cairn_recorder_tick(cairn_recorder *recorder, uint64_t tick, const cairn_command *commands,
    uint32_t command_count, cairn_hash128 root) {
    if (!recorder->open || recorder->failed) {
        return;
    }
    CAIRN_ASSERT(tick == recorder->next_tick);
    CAIRN_ASSERT(command_count <= recorder->config.commands_per_tick_max);
    recorder->ticks[recorder->tick_count++] = (cairn_wire_tick){.tick = tick,
        .root_lo = root.lo,
        .root_hi = root.hi,
        .first_command = recorder->command_count,
        .command_count = command_count};
    if (command_count > 0) {
        memcpy(recorder->commands + recorder->command_count, commands,
            command_count * sizeof *commands);
    }
    recorder->command_count += command_count;
    recorder->next_tick = tick + 1;
    recorder->ticks_recorded += 1;
    if (recorder->tick_count == recorder->config.ticks_per_chunk) {
        write_ticks(recorder);
    }
}

// Writes waiting ticks and then the world. False: nothing more can be written, or the state is
// longer than state_size_max.
static bool write_world(cairn_recorder *recorder, const cairn_world *world, cairn_chunk_kind kind) {
    CAIRN_ASSERT(kind == CAIRN_CHUNK_KEYFRAME || kind == CAIRN_CHUNK_REPLACE);
    write_ticks(recorder);
    const size_t size = cairn_world_encode(world, recorder->state, recorder->config.state_size_max);
    if (size == 0 || recorder->failed) {
        return false;
    }
    recorder->next_tick = cairn_world_tick(world);
    cairn_chunk chunk = {.kind = kind};
    if (kind == CAIRN_CHUNK_KEYFRAME) {
        chunk.keyframe =
            (cairn_chunk_keyframe){recorder->next_tick, recorder->state, (uint32_t)size};
    } else {
        chunk.replace = (cairn_chunk_replace){recorder->next_tick, recorder->state, (uint32_t)size};
    }
    write_state(recorder, &chunk, recorder->next_tick);
    return true;
}

void cairn_recorder_keyframe(cairn_recorder *recorder, const cairn_world *world) {
    if (recorder->open && !recorder->failed) {
        CAIRN_ASSERT(recorder->next_tick == cairn_world_tick(world));
        (void)write_world(recorder, world, CAIRN_CHUNK_KEYFRAME);
    }
}

uint64_t cairn_recorder_keyframe_ticks(const cairn_recorder *recorder) {
    uint64_t wanted_s = recorder->state_bytes / STATE_BYTES_PER_S;
    wanted_s = wanted_s < STATE_S_MIN ? STATE_S_MIN : wanted_s;
    wanted_s = wanted_s > STATE_S_MAX ? STATE_S_MAX : wanted_s;
    return wanted_s * recorder->tick_rate_hz;
}

bool cairn_recorder_keyframe_due(const cairn_recorder *recorder) {
    CAIRN_ASSERT(recorder->next_tick >= recorder->state_tick || !recorder->open);
    return recorder->open && !recorder->failed &&
           recorder->next_tick - recorder->state_tick >= cairn_recorder_keyframe_ticks(recorder);
}

void cairn_recorder_replace(cairn_recorder *recorder, const cairn_world *world) {
    if (recorder->open && !recorder->failed) {
        recorder->failed = !write_world(recorder, world, CAIRN_CHUNK_REPLACE) || recorder->failed;
    }
}

void cairn_recorder_desync(cairn_recorder *recorder, const cairn_chunk_desync *desync) {
    if (recorder->open && !recorder->failed) {
        const cairn_chunk chunk = {.kind = CAIRN_CHUNK_DESYNC, .desync = *desync};
        write_ticks(recorder);
        write_chunk(recorder, &chunk);
    }
}

static cairn_wire_seal seal_of(const cairn_recorder *recorder) {
    cairn_wire_seal seal = {.chain = {0}};
    memcpy(seal.chain, recorder->chain.value, sizeof seal.chain);
    if (recorder->config.signing_seed != NULL) {
        cairn_sign_public(recorder->seed, seal.public_key);
        cairn_chain_sign(&recorder->chain, recorder->next_tick, recorder->ticks_recorded,
            recorder->seed, seal.signature);
    }
    return seal;
}

void cairn_recorder_end(cairn_recorder *recorder) {
    if (!recorder->open) {
        return;
    }
    write_ticks(recorder);
    CAIRN_ASSERT(recorder->tick_count == 0);
    const cairn_chunk chunk = {
        .kind = CAIRN_CHUNK_END,
        .end = {.tick = recorder->next_tick,
            .tick_count = recorder->ticks_recorded,
            .seal = seal_of(recorder)},
    };
    write_chunk(recorder, &chunk);
    recorder->open = false;
}

bool cairn_recorder_failed(const cairn_recorder *recorder) {
    return recorder->failed;
}

uint64_t cairn_recorder_bytes(const cairn_recorder *recorder) {
    return recorder->bytes;
}

uint64_t cairn_recorder_ticks_written(const cairn_recorder *recorder) {
    return recorder->ticks_written;
}
