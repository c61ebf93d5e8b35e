// SPDX-License-Identifier: MIT
// usage: schema_seeds FOLDER
// Writes the first inputs of the schema fuzzers into FOLDER/schema_message, schema_chunk and
// schema_delta, which must exist.
#include <stdio.h>
#include <string.h>

#include "proto_tests/schema/samples.h"

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
    cairn_encoder_destroy(encoder);
    return 0;
}
