// SPDX-License-Identifier: MIT

// Desync capsules for JavaScript: the state on which both agreed, the step that this module makes
// of it, the state that the client reached, and the words in which these two differ.

#include <stdlib.h>
#include <string.h>

#include "recording/desync_reader.h"
#include "sim/debug/trace.h"
#include <cairn/recording.h>

#define WORDS_MAX 256u
// Start, tick, keyframe and desync chunk.
#define CHUNKS_MAX 4

// capsule.ts reads it: eight words.
typedef struct cairn_npm_word {
    const char *section;
    const char *field;
    uint32_t element;
    uint32_t bodies[2]; // ids; 0: none
    uint32_t is_float;
    uint32_t bits_server;
    uint32_t bits_client;
} cairn_npm_word;

typedef struct cairn_npm_capsule {
    cairn_desync_report_content content;
    cairn_world *stepped; // owned
    cairn_npm_word words[WORDS_MAX];
    uint32_t held;  // in `words`
    uint32_t total; // that differ, at least those held
} cairn_npm_capsule;

// What a caller asks a world or a hash of.
enum { SIDE_BEFORE, SIDE_SERVER, SIDE_CLIENT, SIDE_AGAIN };

bool cairn_npm_capsule_is(const uint8_t *bytes, size_t size);
cairn_status cairn_npm_capsule_open(
    const uint8_t *bytes, size_t size, cairn_npm_capsule **out, char text[CAIRN_PLAYER_TEXT_SIZE]);
void cairn_npm_capsule_close(cairn_npm_capsule *capsule);
const cairn_world *cairn_npm_capsule_world(const cairn_npm_capsule *capsule, uint32_t side);
const cairn_hash128 *cairn_npm_capsule_hash(const cairn_npm_capsule *capsule, uint32_t side);
const char *cairn_npm_capsule_build(const cairn_npm_capsule *capsule, uint32_t side);
const cairn_npm_word *cairn_npm_capsule_words(const cairn_npm_capsule *capsule, uint32_t counts[2]);

// Whether one of the first chunks is a desync chunk; `bytes` are aligned to 8.
bool cairn_npm_capsule_is(const uint8_t *bytes, size_t size) {
    cairn_chunk_reader reader = cairn_chunk_reader_of(bytes, size);
    bool found = false;
    for (int i = 0; i < CHUNKS_MAX && !found && cairn_chunk_reader_next(&reader); ++i) {
        found = reader.chunk.kind == CAIRN_CHUNK_DESYNC;
    }
    cairn_chunk_reader_end(&reader);
    return found;
}

static void add_word(cairn_npm_capsule *capsule, const cairn_word_difference *at) {
    const cairn_desync_report_content *content = &capsule->content;
    const cairn_world *world = content->after != NULL ? content->after : content->before;
    cairn_npm_word *word = &capsule->words[capsule->held++];
    *word = (cairn_npm_word){.section = cairn_array_section_name(at->array),
        .field = cairn_array_field_name(at->array, at->word),
        .element = at->element,
        .is_float = cairn_array_field_is_float(at->array, at->word) ? 1 : 0,
        .bits_server = at->bits_a,
        .bits_client = at->bits_b};
    (void)cairn_element_bodies(world, at->array, at->element, word->bodies);
}

// By the two states if the client's is known, else as the file lists them.
static void find_words(cairn_npm_capsule *capsule) {
    const cairn_chunk_desync *desync = &capsule->content.desync;
    static cairn_word_difference found[WORDS_MAX];
    if (capsule->content.after != NULL) {
        capsule->total =
            cairn_world_diff_words(capsule->stepped, capsule->content.after, found, WORDS_MAX);
        for (uint32_t i = 0; i < capsule->total && i < WORDS_MAX; ++i) {
            add_word(capsule, &found[i]);
        }
        return;
    }
    capsule->total = desync->head.difference_count;
    for (uint32_t i = 0; i < desync->difference_count && i < WORDS_MAX; ++i) {
        const cairn_wire_difference *d = &desync->differences[i];
        const cairn_word_difference at = {.array = d->array,
            .element = d->element,
            .word = d->word,
            .bits_a = d->bits_server,
            .bits_b = d->bits_client};
        add_word(capsule, &at);
    }
}

// `bytes` are aligned to 8 and outlive the capsule. On failure *out is NULL and `text` says why.
// Pair with cairn_npm_capsule_close.
cairn_status cairn_npm_capsule_open(
    const uint8_t *bytes, size_t size, cairn_npm_capsule **out, char text[CAIRN_PLAYER_TEXT_SIZE]) {
    cairn_npm_capsule *capsule = calloc(1, sizeof *capsule);
    cairn_status status = CAIRN_OUT_OF_MEMORY;
    char error[CAIRN_RECORDING_ERROR_SIZE] = "out of memory";
    *out = NULL;
    if (capsule != NULL) {
        status = !cairn_desync_report_open(&capsule->content, bytes, size, NULL, error)
                     ? CAIRN_MALFORMED
                     : cairn_world_fork(capsule->content.before, &capsule->stepped);
    }
    if (status != CAIRN_OK) {
        strncpy(text, error, CAIRN_PLAYER_TEXT_SIZE - 1);
        text[CAIRN_PLAYER_TEXT_SIZE - 1] = '\0';
        cairn_npm_capsule_close(capsule);
        return status;
    }
    cairn_world_step(capsule->stepped, capsule->content.commands, capsule->content.command_count);
    find_words(capsule);
    *out = capsule;
    return CAIRN_OK;
}

void cairn_npm_capsule_close(cairn_npm_capsule *capsule) {
    if (capsule != NULL) {
        cairn_world_destroy(capsule->stepped);
        cairn_desync_report_close(&capsule->content);
        free(capsule);
    }
}

// BEFORE: on which both agreed. SERVER: as this module steps it. CLIENT: NULL if the file does not
// hold it. Owned by the capsule.
const cairn_world *cairn_npm_capsule_world(const cairn_npm_capsule *capsule, uint32_t side) {
    return side == SIDE_BEFORE   ? capsule->content.before
           : side == SIDE_SERVER ? capsule->stepped
                                 : capsule->content.after;
}

// As the file states it; zeros: not known. AGAIN: what the client reached when it repeated the
// step.
const cairn_hash128 *cairn_npm_capsule_hash(const cairn_npm_capsule *capsule, uint32_t side) {
    const cairn_wire_desync *head = &capsule->content.desync.head;
    return side == SIDE_BEFORE   ? &head->root_before
           : side == SIDE_SERVER ? &head->root_server
           : side == SIDE_CLIENT ? &head->root_client
                                 : &head->root_again;
}

const char *cairn_npm_capsule_build(const cairn_npm_capsule *capsule, uint32_t side) {
    const cairn_chunk_desync *desync = &capsule->content.desync;
    return side == SIDE_SERVER ? desync->build_server : desync->build_client;
}

// counts: words held, words that differ in all.
const cairn_npm_word *cairn_npm_capsule_words(
    const cairn_npm_capsule *capsule, uint32_t counts[2]) {
    counts[0] = capsule->held;
    counts[1] = capsule->total;
    return capsule->words;
}
