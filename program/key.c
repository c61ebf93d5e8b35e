// SPDX-License-Identifier: MIT
#include "program/key.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "net/crypto.h"
#include "program/output_file.h"
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
    cairn_hex_print(key, CAIRN_KEY_SIZE, text);
    text[DIGIT_COUNT] = '\n';
    const bool written = cairn_output_file_write(path, 0600, text, DIGIT_COUNT + 1);
    cairn_wipe(text, sizeof text);
    return written;
}

void cairn_key_print(const uint8_t key[CAIRN_KEY_SIZE]) {
    char text[DIGIT_COUNT + 1];
    puts(cairn_hex_print(key, CAIRN_KEY_SIZE, text));
    cairn_wipe(text, sizeof text);
}

const char *cairn_key_variable(void *out, const char *value, bool first) {
    (void)first;
    cairn_key *key = out;
    key->given = cairn_key_parse(value, strlen(value), key->bytes);
    // It is the environment's memory, which others can read in /proc as long as it is there.
    cairn_wipe((char *)value, strlen(value));
    return key->given ? NULL : "must be 64 hexadecimal digits";
}

static const char *read_key(cairn_key *key, const char *path, bool is_private) {
    char text[1024];
    size_t size = 0;
    key->given = false;
    key->file = path;
    switch (cairn_system_read_secret(path, is_private, text, sizeof text, &size)) {
    case CAIRN_SECRET_FAILED:
        return strerror(errno);
    case CAIRN_SECRET_SHARED:
        return "others than its owner may read this private key: chmod 600 the file";
    case CAIRN_SECRET_READ:
        break;
    }
    key->given = size < sizeof text && cairn_key_parse(text, size, key->bytes);
    cairn_wipe(text, sizeof text);
    return key->given ? NULL : "must hold 64 hexadecimal digits and nothing else";
}

const char *cairn_key_flag_file(void *out, const char *value, bool first) {
    (void)first;
    uint8_t digits[CAIRN_KEY_SIZE];
    const bool is_key = cairn_key_parse(value, strlen(value), digits);
    cairn_wipe(digits, sizeof digits);
    return is_key ? "every user can read a key in the command line: write it to a file of mode "
                    "600, and name the file"
                  : read_key(out, value, true);
}

const char *cairn_key_flag_public(void *out, const char *value, bool first) {
    (void)first;
    cairn_key *key = out;
    key->given = cairn_key_parse(value, strlen(value), key->bytes);
    return key->given || read_key(key, value, false) == NULL
               ? NULL
               : "must be 64 hexadecimal digits or a file that holds them and nothing else";
}

bool cairn_token_source_read(cairn_token_source *source, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE],
    char error[CAIRN_TOKEN_SOURCE_ERROR_SIZE]) {
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
    if (!source->key.given || source->server.count == 0) {
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
        .server_addresses = source->server.addresses,
        .server_count = source->server.count,
        .private_key = source->key.bytes,
        .user_data = user_data,
        .entropy = entropy};
    snprintf(
        error, CAIRN_TOKEN_SOURCE_ERROR_SIZE, "no connect token can be issued: no random bytes");
    const bool issued = cairn_system_random(entropy, sizeof entropy) &&
                        cairn_token_issue(&request, token) == CAIRN_OK;
    cairn_wipe(entropy, sizeof entropy);
    cairn_wipe(&source->key, sizeof source->key);
    return issued;
}
