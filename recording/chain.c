// SPDX-License-Identifier: MIT
#include "recording/chain.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/limits.h"

#define NAME_SIZE 16
static const uint8_t start_name[NAME_SIZE + 1] = "cairn recording ";
static const uint8_t sign_name[NAME_SIZE + 1] = "cairn transcript";

#define COMMAND_SIZE 40

// The input of each kind of link has a different length, so one kind cannot be mistaken for
// another.
static void add_tick(
    cairn_chain *chain, const cairn_wire_tick *tick, const cairn_command *commands) {
    const uint32_t count = tick->command_count;
    CAIRN_ASSERT(count <= CAIRN_COMMANDS_PER_TICK_MAX && (commands != NULL || count == 0));
    uint8_t bytes[CAIRN_COMMANDS_PER_TICK_MAX * COMMAND_SIZE];
    cairn_writer writer = cairn_writer_of(bytes, sizeof bytes);
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_command *command = &commands[i];
        cairn_write_u32(&writer, command->kind);
        cairn_write_u32(&writer, command->slot);
        cairn_write_u32(&writer, command->sequence);
        cairn_write_u32(&writer, command->buttons);
        cairn_write_f32(&writer, command->move.x);
        cairn_write_f32(&writer, command->move.y);
        cairn_write_f32(&writer, command->move.z);
        cairn_write_f32(&writer, command->aim.x);
        cairn_write_f32(&writer, command->aim.y);
        cairn_write_f32(&writer, command->aim.z);
    }
    CAIRN_ASSERT(writer.ok && writer.at == (size_t)count * COMMAND_SIZE);
    uint8_t inputs[CAIRN_DIGEST_SIZE];
    cairn_digest(bytes, writer.at, NULL, 0, inputs);
    uint8_t link[24 + CAIRN_DIGEST_SIZE];
    writer = cairn_writer_of(link, sizeof link);
    cairn_write_u64(&writer, tick->tick);
    cairn_write_u64(&writer, tick->root_lo);
    cairn_write_u64(&writer, tick->root_hi);
    cairn_write_bytes(&writer, inputs, sizeof inputs);
    CAIRN_ASSERT(writer.ok && writer.at == sizeof link);
    cairn_digest(chain->value, sizeof chain->value, link, sizeof link, chain->value);
}

void cairn_chain_chunk(
    cairn_chain *chain, const cairn_chunk *chunk, const uint8_t *payload, size_t size) {
    CAIRN_ASSERT(payload != NULL && size > 0);
    if (chunk->kind == CAIRN_CHUNK_START) {
        cairn_digest(start_name, NAME_SIZE, payload, size, chain->value);
    } else if (chunk->kind == CAIRN_CHUNK_REPLACE) {
        uint8_t state[CAIRN_DIGEST_SIZE];
        cairn_digest(payload, size, NULL, 0, state);
        cairn_digest(chain->value, sizeof chain->value, state, sizeof state, chain->value);
    } else if (chunk->kind == CAIRN_CHUNK_TICKS) {
        for (uint32_t i = 0; i < chunk->ticks.tick_count; ++i) {
            const cairn_wire_tick *tick = &chunk->ticks.ticks[i];
            add_tick(chain, tick, chunk->ticks.commands + tick->first_command);
        }
    }
}

#define SIGNED_SIZE (NAME_SIZE + CAIRN_DIGEST_SIZE + 16)

static void write_signed(
    const cairn_chain *chain, uint64_t tick, uint64_t tick_count, uint8_t out[SIGNED_SIZE]) {
    cairn_writer writer = cairn_writer_of(out, SIGNED_SIZE);
    cairn_write_bytes(&writer, sign_name, NAME_SIZE);
    cairn_write_bytes(&writer, chain->value, sizeof chain->value);
    cairn_write_u64(&writer, tick);
    cairn_write_u64(&writer, tick_count);
    CAIRN_ASSERT(writer.ok && writer.at == SIGNED_SIZE);
}

void cairn_chain_sign(const cairn_chain *chain, uint64_t tick, uint64_t tick_count,
    const uint8_t seed[CAIRN_SIGN_SEED_SIZE], uint8_t signature[CAIRN_SIGNATURE_SIZE]) {
    uint8_t bytes[SIGNED_SIZE];
    write_signed(chain, tick, tick_count, bytes);
    cairn_sign(seed, bytes, sizeof bytes, signature);
}

bool cairn_chain_check(const cairn_chain *chain, uint64_t tick, uint64_t tick_count,
    const uint8_t public_key[CAIRN_SIGN_PUBLIC_SIZE],
    const uint8_t signature[CAIRN_SIGNATURE_SIZE]) {
    uint8_t bytes[SIGNED_SIZE];
    write_signed(chain, tick, tick_count, bytes);
    return cairn_sign_check(public_key, bytes, sizeof bytes, signature);
}
