// SPDX-License-Identifier: MIT
// usage: schema_seeds FOLDER
// Writes the first inputs of the schema fuzzers into FOLDER/schema_message, schema_chunk and
// schema_delta, which must exist.
#include <stdio.h>
#include <string.h>

#include "proto_tests/schema/samples.h"
#include "schema/delta.h"

static const char *folder;

static void write_seed(const char *fuzzer, int number, const uint8_t *bytes, size_t size) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s/seed_%d", folder, fuzzer, number);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size) {
        fprintf(stderr, "schema_seeds: cannot write %s: create its folder first\n", path);
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void write_message(cairn_encoder *encoder, int number, const cairn_message *message) {
    const uint8_t *bytes;
    size_t size;
    if (cairn_message_encode(encoder, message, &bytes, &size) == CAIRN_OK) {
        write_seed("schema_message", number, bytes, size);
    }
}

static void write_messages(cairn_encoder *encoder) {
    for (int kind = 1; kind < CAIRN_MESSAGE_KIND_COUNT; ++kind) {
        const cairn_message message = sample_message((cairn_message_kind)kind);
        write_message(encoder, kind, &message);
    }
    for (int verb = 1; verb < CAIRN_CONTROL_VERB_COUNT; ++verb) {
        const cairn_message request = {
            .kind = CAIRN_MESSAGE_CONTROL, .control = sample_control_request((uint32_t)verb)};
        write_message(encoder, 100 + verb, &request);
        const cairn_message answer = {
            .kind = CAIRN_MESSAGE_ANSWER, .answer = sample_control_answer((uint32_t)verb)};
        write_message(encoder, 200 + verb, &answer);
    }
    for (int kind = 1; kind < CAIRN_CHUNK_KIND_COUNT; ++kind) {
        const cairn_chunk chunk = sample_chunk((cairn_chunk_kind)kind);
        const uint8_t *bytes;
        size_t size;
        if (cairn_chunk_encode(encoder, &chunk, &bytes, &size) == CAIRN_OK) {
            write_seed("schema_chunk", kind, bytes, size);
        }
    }
}

// The baseline is the fuzzer's own, of four bodies: indices 2, 5, 8 and 11.
static void write_deltas(void) {
    static const uint8_t payloads[][12] = {
        {4, 4},                         // all kept
        {4, 0, 0, 0, 0, 0, 0, 0, 0, 0}, // all removed
        {4, 1, 2, 4, 0, 1, 0, 4, 2},    // the second moved along x
        {4, 1, 2, 1, 0, 0, 2, 2},       // the second has another id
    };
    static const size_t sizes[] = {2, 10, 9, 8};
    for (int i = 0; i < 4; ++i) {
        write_seed("schema_delta", i, payloads[i], sizes[i]);
    }
    uint8_t added[65] = {0, 0, 1, 1}; // no baseline; a record: index 1
    added[3 + 4 * 8 + 2] = 0x80;      // rotation.w is 1.0f
    added[3 + 4 * 8 + 3] = 0x3f;
    write_seed("schema_delta", 4, added, 64);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: schema_seeds FOLDER\n");
        return 2;
    }
    folder = argv[1];
    cairn_encoder *encoder = NULL;
    if (cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &encoder) != CAIRN_OK) {
        return 1;
    }
    write_messages(encoder);
    write_deltas();
    cairn_encoder_destroy(encoder);
    return 0;
}
