// SPDX-License-Identifier: MIT
#include "tools/replay/survey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_segment(cairn_survey *survey, const cairn_chunk_reader *walk, uint64_t tick) {
    if (survey->count == survey->capacity) {
        uint32_t wider = survey->capacity == 0 ? 64 : 2 * survey->capacity;
        void *segments = realloc(survey->segments, wider * sizeof *survey->segments);
        survey->memory_gone = survey->memory_gone || segments == NULL;
        if (segments == NULL) {
            return;
        }
        survey->segments = segments;
        survey->capacity = wider;
    }
    survey->segments[survey->count++] = (cairn_recording_entry){
        .kind = walk->chunk.kind, .tick = tick, .offset = walk->piece.offset};
}

static void chain_ticks(cairn_survey *survey, const cairn_chunk_ticks *ticks) {
    for (uint32_t i = 0; i < ticks->tick_count; i++) {
        const cairn_wire_tick *tick = &ticks->ticks[i];
        cairn_chain_tick(&survey->chain, tick, ticks->commands + tick->first_command);
    }
    survey->ticks += ticks->tick_count;
    survey->next_tick += ticks->tick_count;
}

static bool is_zero(const uint8_t *bytes, size_t size) {
    uint8_t any = 0;
    for (size_t i = 0; i < size; i++) {
        any |= bytes[i];
    }
    return any == 0;
}

static cairn_seal_verdict judge_seal(
    const cairn_survey *survey, const cairn_chunk_end *end, uint32_t version) {
    const cairn_wire_seal *seal = &end->seal;
    if (version == 1 && is_zero(seal->chain, sizeof seal->chain)) {
        return CAIRN_SEAL_NONE;
    }
    if (memcmp(seal->chain, survey->chain.value, sizeof seal->chain) != 0 ||
        end->tick_count != survey->ticks) {
        return CAIRN_SEAL_CHAIN;
    }
    if (is_zero(seal->public_key, sizeof seal->public_key)) {
        return CAIRN_SEAL_UNSIGNED;
    }
    bool good = cairn_chain_check(
        &survey->chain, end->tick, end->tick_count, seal->public_key, seal->signature);
    return good ? CAIRN_SEAL_SIGNED : CAIRN_SEAL_FORGED;
}

static bool chunk_follows(
    const cairn_survey *survey, const char *what, uint64_t tick, cairn_verification *out) {
    if (tick == survey->next_tick) {
        return true;
    }
    out->verdict = CAIRN_VERDICT_DAMAGED;
    snprintf(out->finding, sizeof out->finding, "%s %llu is found where tick %llu is expected",
        what, (unsigned long long)tick, (unsigned long long)survey->next_tick);
    return false;
}

// False when the chunk cannot follow the ones before it.
static bool take_chunk(
    cairn_survey *survey, const cairn_chunk_reader *walk, cairn_verification *out) {
    const cairn_chunk *chunk = &walk->chunk;
    switch (chunk->kind) {
    case CAIRN_CHUNK_START:
        survey->chain = cairn_chain_of_start(walk->payload, walk->payload_size);
        survey->next_tick = chunk->start.tick;
        add_segment(survey, walk, survey->next_tick);
        return true;
    case CAIRN_CHUNK_REPLACE:
        cairn_chain_replace(&survey->chain, walk->payload, walk->payload_size);
        survey->next_tick = chunk->replace.tick;
        add_segment(survey, walk, survey->next_tick);
        return true;
    case CAIRN_CHUNK_KEYFRAME:
        if (!chunk_follows(survey, "a keyframe of tick", chunk->keyframe.tick, out)) {
            return false;
        }
        add_segment(survey, walk, chunk->keyframe.tick);
        return true;
    case CAIRN_CHUNK_TICKS:
        if (chunk->ticks.tick_count == 0 ||
            !chunk_follows(survey, "tick", chunk->ticks.ticks[0].tick, out)) {
            return chunk->ticks.tick_count == 0;
        }
        chain_ticks(survey, &chunk->ticks);
        return true;
    case CAIRN_CHUNK_END:
        out->seal = judge_seal(survey, &chunk->end, walk->file.version);
        memcpy(out->public_key, chunk->end.seal.public_key, sizeof out->public_key);
        return chunk_follows(survey, "an end at tick", chunk->end.tick, out);
    default:
        return true;
    }
}

static void judge_end(const cairn_chunk_reader *walk, cairn_verification *out) {
    cairn_recording_end end = walk->file.end;
    bool whole = walk->valid && (end == CAIRN_RECORDING_CLEAN || end == CAIRN_RECORDING_CUT);
    if (out->verdict == CAIRN_VERDICT_SAME && !whole) {
        out->verdict = CAIRN_VERDICT_DAMAGED;
        snprintf(out->finding, sizeof out->finding, "%s", out->end);
    }
}

cairn_survey cairn_survey_of(const uint8_t *bytes, size_t size, cairn_verification *out) {
    cairn_survey survey = {.segments = NULL};
    cairn_chunk_reader walk = cairn_chunk_reader_of(bytes, size);
    bool on = true;
    while (on && cairn_chunk_reader_next(&walk)) {
        on = take_chunk(&survey, &walk, out);
    }
    cairn_chunk_reader_end_text(&walk, out->end);
    if (on) {
        judge_end(&walk, out);
    }
    cairn_chunk_reader_end(&walk);
    return survey;
}

void cairn_survey_end(cairn_survey *survey) {
    free(survey->segments);
    survey->segments = NULL;
}
