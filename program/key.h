// SPDX-License-Identifier: MIT
#pragma once

// Private keys in flags and files, and the connect token with which a program joins a server.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/token.h>
#include <cairn/types.h>

// Parses 64 hexadecimal digits; white space around them is allowed. False: not a key.
bool cairn_key_parse(const char *text, size_t size, uint8_t key[CAIRN_KEY_SIZE]);
// Writes 64 digits and a newline into a file that only its owner may read. An older file is
// replaced. False: errno says why.
bool cairn_key_file_write(const char *path, const uint8_t key[CAIRN_KEY_SIZE]);
// The same on standard output.
void cairn_key_print(const uint8_t key[CAIRN_KEY_SIZE]);

typedef struct cairn_key {
    bool given;
    uint8_t bytes[CAIRN_KEY_SIZE];
} cairn_key;

// Readers of flags whose `out` is a cairn_key: digits, a file, or either.
const char *cairn_key_flag_digits(void *out, const char *value, bool first);
const char *cairn_key_flag_file(void *out, const char *value, bool first);
const char *cairn_key_flag(void *out, const char *value, bool first);

// Where a program gets its connect token from: a file, or the servers' key and an address.
typedef struct cairn_token_source {
    const char *file; // "-": standard input; NULL: issue one with what follows
    cairn_key key;
    cairn_address server; // family 0: not given
    uint64_t protocol_id;
    uint64_t client_id;
    bool is_operator;
} cairn_token_source;

#define CAIRN_TOKEN_SOURCE_ERROR_SIZE 256

// Reads or issues the token. False: `error` holds one sentence.
bool cairn_token_source_read(const cairn_token_source *source,
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE], char error[CAIRN_TOKEN_SOURCE_ERROR_SIZE]);
