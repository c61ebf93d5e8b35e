// SPDX-License-Identifier: MIT
#include "recording/survey.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"

_Static_assert(CAIRN_RECORDING_KEY_SIZE == CAIRN_SIGN_PUBLIC_SIZE, "one size of public keys");

const char *cairn_seal_text(cairn_seal_verdict seal) {
    switch (seal) {
    case CAIRN_SEAL_NONE:
        return "none";
    case CAIRN_SEAL_UNSIGNED:
        return "unsigned";
    case CAIRN_SEAL_SIGNED:
        return "signed";
    case CAIRN_SEAL_CHAIN:
        return "broken: the hash chain differs, the recording was changed after it was written";
    case CAIRN_SEAL_FORGED:
        return "broken: the signature does not belong to the key in the file";
    }
    return "unknown";
}

static cairn_seal_verdict judge_seal(
    const cairn_survey *survey, const cairn_chunk_end *end, uint32_t version) {
    static const uint8_t zeros[CAIRN_DIGEST_SIZE];
    _Static_assert(sizeof zeros >= sizeof end->seal.public_key, "one array for both");
    const cairn_wire_seal *seal = &end->seal;
    if (version == 1 && memcmp(seal->chain, zeros, sizeof seal->chain) == 0) {
        return CAIRN_SEAL_NONE;
    }
    if (memcmp(seal->chain, survey->chain.value, sizeof seal->chain) != 0 ||
        end->tick_count != survey->ticks) {
        return CAIRN_SEAL_CHAIN;
    }
    if (memcmp(seal->public_key, zeros, sizeof seal->public_key) == 0) {
        return CAIRN_SEAL_UNSIGNED;
    }
    const bool good = cairn_chain_check(
        &survey->chain, end->tick, end->tick_count, seal->public_key, seal->signature);
    return good ? CAIRN_SEAL_SIGNED : CAIRN_SEAL_FORGED;
}

// False if the chunk does not continue the ones before it.
static bool survey_chunk(cairn_survey *survey, const cairn_chunk_reader *walk) {
    static const char *const names[CAIRN_CHUNK_KIND_COUNT] = {
        [CAIRN_CHUNK_KEYFRAME] = "a keyframe of tick",
        [CAIRN_CHUNK_TICKS] = "tick",
        [CAIRN_CHUNK_END] = "an end at tick",
    };
    const cairn_chunk *chunk = &walk->chunk;
    // The head of a chunk of version 1 has no ticks, its content has.
    const cairn_recording_piece piece =
        cairn_recording_piece_of(chunk, walk->payload, walk->payload_size);
    if (chunk->kind == CAIRN_CHUNK_END) {
        survey->seal = judge_seal(survey, &chunk->end, walk->file.version);
        memcpy(survey->public_key, chunk->end.seal.public_key, sizeof survey->public_key);
    }
    const bool has_tick = chunk->kind != CAIRN_CHUNK_TICKS || piece.tick_count > 0;
    if (names[chunk->kind] != NULL && has_tick && piece.tick != survey->next_tick) {
        snprintf(survey->damage, sizeof survey->damage,
            "%s %llu is found where tick %llu is expected", names[chunk->kind],
            (unsigned long long)piece.tick, (unsigned long long)survey->next_tick);
        return false;
    }
    if (cairn_recording_is_state(chunk->kind)) {
        survey->out_of_memory |= !cairn_recording_index_add(&survey->segments, &walk->piece);
        survey->next_tick = piece.tick;
    }
    survey->ticks += piece.tick_count;
    survey->next_tick += piece.tick_count;
    cairn_chain_chunk(&survey->chain, chunk, walk->payload, walk->payload_size);
    return true;
}

cairn_survey cairn_survey_of(const uint8_t *bytes, size_t size) {
    cairn_survey survey = {.seal = CAIRN_SEAL_NONE};
    cairn_chunk_reader walk = cairn_chunk_reader_of(bytes, size);
    bool continues = true;
    while (continues && cairn_chunk_reader_next(&walk)) {
        continues = survey_chunk(&survey, &walk);
    }
    cairn_chunk_reader_end_text(&walk, survey.end);
    if (continues && cairn_chunk_reader_damaged(&walk)) {
        memcpy(survey.damage, survey.end, sizeof survey.damage);
    }
    CAIRN_ASSERT(continues || survey.damage[0] != '\0');
    cairn_chunk_reader_end(&walk);
    return survey;
}

void cairn_survey_end(cairn_survey *survey) {
    cairn_recording_index_end(&survey->segments);
}

cairn_seal_verdict cairn_recording_check_seal(
    const uint8_t *bytes, size_t size, uint8_t public_key[CAIRN_RECORDING_KEY_SIZE]) {
    CAIRN_ASSERT((uintptr_t)bytes % 8 == 0 && public_key != NULL);
    cairn_survey survey = cairn_survey_of(bytes, size);
    memcpy(public_key, survey.public_key, CAIRN_RECORDING_KEY_SIZE);
    cairn_survey_end(&survey);
    return survey.seal;
}
