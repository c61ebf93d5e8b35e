// SPDX-License-Identifier: MIT
#pragma once

// Private keys in flags and files, and the connect token with which a program joins a server.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/host.h"
#include <cairn/token.h>

// Parses 64 hexadecimal digits; white space around them is allowed. False: not a key.
bool cairn_key_parse(const char *text, size_t size, uint8_t key[CAIRN_KEY_SIZE]);
// Writes 64 digits and a newline into a file that only its owner may read. An older file is
// replaced. False: errno says why.
bool cairn_key_file_write(const char *path, const uint8_t key[CAIRN_KEY_SIZE]);
// The same on standard output.
void cairn_key_print(const uint8_t key[CAIRN_KEY_SIZE]);

typedef struct cairn_key {
    bool given;
    const char *file; // that was read; NULL: none. The text of the flag
    uint8_t bytes[CAIRN_KEY_SIZE];
} cairn_key;

// Readers of flags whose `out` is a cairn_key. Every user of a machine can read its programs'
// command lines, so a private key is never taken from there.
// The digits of a variable; they are overwritten there.
const char *cairn_key_variable(void *out, const char *value, bool first);
// A file of a private key. Refused if others than its owner may read it. A descriptor is a file
// too: /dev/fd/3.
const char *cairn_key_flag_file(void *out, const char *value, bool first);
// The digits of a public key, or a file of one.
const char *cairn_key_flag_public(void *out, const char *value, bool first);

// Where a program gets its connect token from: a file, or the servers' key and an address.
typedef struct cairn_token_source {
    const char *file; // "-": standard input; NULL: issue one with what follows
    cairn_key key;
    cairn_host server; // no address: not given
    uint64_t protocol_id;
    uint64_t client_id;
    bool is_operator;
} cairn_token_source;

#define CAIRN_TOKEN_SOURCE_ERROR_SIZE 256

// Reads or issues the token, and wipes the key. False: `error` holds one sentence.
bool cairn_token_source_read(cairn_token_source *source, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE],
    char error[CAIRN_TOKEN_SOURCE_ERROR_SIZE]);
