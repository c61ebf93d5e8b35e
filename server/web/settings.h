// SPDX-License-Identifier: MIT
#pragma once

// What an operator may change while the server runs: which pages may open WebSockets, how many of
// them a network may have, and the keys of operators by HTTP. Any thread may use it: a lock, held
// for as long as it takes to compare, is between the one that changes it and the one that asks.

#include <stdbool.h>
#include <stdint.h>

#include "program/key.h"
#include "server/web/http.h"

#define CAIRN_WEB_TOKENS_MAX 4
#define CAIRN_WEB_ORIGINS_MAX 16

typedef struct cairn_web_settings cairn_web_settings;

typedef struct cairn_web_settings_values {
    const char *const *origins; // [origin_count], which last until others are set
    uint32_t origin_count;      // at most CAIRN_WEB_ORIGINS_MAX
    uint32_t sockets_per_network_max;
    const cairn_key *tokens; // [token_count], copied
    uint32_t token_count;    // at most CAIRN_WEB_TOKENS_MAX
} cairn_web_settings_values;

cairn_web_settings *cairn_web_settings_create(void);           // NULL: out of memory
void cairn_web_settings_destroy(cairn_web_settings *settings); // wipes the tokens; NULL is allowed

// From now on these count.
void cairn_web_settings_set(cairn_web_settings *settings, const cairn_web_settings_values *values);

// As cairn_origin_allowed.
bool cairn_web_settings_allow(cairn_web_settings *settings, const cairn_http_request *request);
uint32_t cairn_web_settings_sockets_per_network(cairn_web_settings *settings);
// Whether there has ever been a token.
bool cairn_web_settings_has_operators(cairn_web_settings *settings);
// Returns the place of the token, or CAIRN_WEB_TOKENS_MAX, in a time that does not depend on where
// the key and a token differ.
uint32_t cairn_web_settings_find_token(
    cairn_web_settings *settings, const uint8_t key[CAIRN_KEY_SIZE]);
