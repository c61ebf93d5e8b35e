// SPDX-License-Identifier: MIT
#include "program/key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "net/crypto.h"
#include "program/system.h"
#include <cairn/token.h>

#define DIGIT_COUNT (2 * CAIRN_KEY_SIZE)

bool cairn_key_parse(const char *text, size_t size, uint8_t key[CAIRN_KEY_SIZE]) {
    CAIRN_ASSERT(text != NULL || size == 0);
    static const char spaces[] = " \t\r\n";
    while (size > 0 && text[0] != '\0' && strchr(spaces, text[0]) != NULL) {
        text += 1;
        size -= 1;
    }
    while (size > 0 && text[size - 1] != '\0' && strchr(spaces, text[size - 1]) != NULL) {
        size -= 1;
    }
    return cairn_hex_read(text, size, key, CAIRN_KEY_SIZE);
}

bool cairn_key_file_write(const char *path, const uint8_t key[CAIRN_KEY_SIZE]) {
    CAIRN_ASSERT(path != NULL && key != NULL);
    char text[DIGIT_COUNT + 2];
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) {
        return false;
    }
    cairn_hex_print(key, CAIRN_KEY_SIZE, text);
    text[DIGIT_COUNT] = '\n';
    // open() leaves the mode of an existing file unchanged.
    const bool written =
        fchmod(file, 0600) == 0 && write(file, text, DIGIT_COUNT + 1) == DIGIT_COUNT + 1;
    cairn_wipe(text, sizeof text);
    return close(file) == 0 && written;
}

void cairn_key_print(const uint8_t key[CAIRN_KEY_SIZE]) {
    char text[DIGIT_COUNT + 1];
    puts(cairn_hex_print(key, CAIRN_KEY_SIZE, text));
    cairn_wipe(text, sizeof text);
}

const char *cairn_key_flag_digits(void *out, const char *value, bool first) {
    (void)first;
    cairn_key *key = out;
    key->given = cairn_key_parse(value, strlen(value), key->bytes);
    return key->given ? NULL : "must be 64 hexadecimal digits";
}

const char *cairn_key_flag_file(void *out, const char *value, bool first) {
    (void)first;
    cairn_key *key = out;
    char text[1024];
    FILE *file = fopen(value, "rb");
    if (file == NULL) {
        key->given = false;
        return strerror(errno);
    }
    const size_t size = fread(text, 1, sizeof text, file);
    const bool whole = ferror(file) == 0 && fgetc(file) == EOF;
    fclose(file);
    key->given = whole && cairn_key_parse(text, size, key->bytes);
    cairn_wipe(text, sizeof text);
    return key->given ? NULL : "must hold 64 hexadecimal digits and nothing else";
}

const char *cairn_key_flag(void *out, const char *value, bool first) {
    return cairn_key_flag_digits(out, value, first) == NULL ||
                   cairn_key_flag_file(out, value, first) == NULL
               ? NULL
               : "must be 64 hexadecimal digits or a file that holds them and nothing else";
}

bool cairn_token_source_read(const cairn_token_source *source,
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE], char error[CAIRN_TOKEN_SOURCE_ERROR_SIZE]) {
    CAIRN_ASSERT(source != NULL && token != NULL && error != NULL);
    if (source->file != NULL) {
        const bool standard_input = strcmp(source->file, "-") == 0;
        FILE *file = standard_input ? stdin : fopen(source->file, "rb");
        if (file == NULL) {
            snprintf(error, CAIRN_TOKEN_SOURCE_ERROR_SIZE, "--token %.100s: %s", source->file,
                strerror(errno));
            return false;
        }
        const size_t size = fread(token, 1, CAIRN_CONNECT_TOKEN_SIZE, file);
        if (!standard_input) {
            fclose(file);
        }
        snprintf(error, CAIRN_TOKEN_SOURCE_ERROR_SIZE,
            "--token %.100s: holds %zu bytes, a token has %d", source->file, size,
            CAIRN_CONNECT_TOKEN_SIZE);
        return size == CAIRN_CONNECT_TOKEN_SIZE;
    }
    if (!source->key.given || source->server.family == 0) {
        snprintf(error, CAIRN_TOKEN_SOURCE_ERROR_SIZE,
            "either --token or --key and --server are needed; --help explains them");
        return false;
    }
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
    if (source->is_operator) {
        cairn_user_data_write(user_data, CAIRN_USER_RIGHT_OPERATOR);
    }
    const cairn_token_request request = {.protocol_id = source->protocol_id,
        .client_id = source->client_id,
        .create_unix_s = (uint64_t)time(NULL),
        .lifetime_s = 30,
        .timeout_s = 5,
        .server_addresses = &source->server,
        .server_count = 1,
        .private_key = source->key.bytes,
        .user_data = user_data,
        .entropy = entropy};
    snprintf(
        error, CAIRN_TOKEN_SOURCE_ERROR_SIZE, "no connect token can be issued: no random bytes");
    return cairn_system_random(entropy, sizeof entropy) &&
           cairn_token_issue(&request, token) == CAIRN_OK;
}
