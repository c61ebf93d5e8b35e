// SPDX-License-Identifier: MIT
// For what libuv names of threads.
#define _POSIX_C_SOURCE 200809L
#include "server/web/settings.h"

#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/assert.h"
#include "net/crypto.h"
#include "server/web/origin.h"

struct cairn_web_settings {
    uv_mutex_t mutex; // guards all below
    const char *origins[CAIRN_WEB_ORIGINS_MAX];
    uint32_t origin_count;
    uint32_t sockets_per_network_max;
    bool has_operators;
    cairn_key tokens[CAIRN_WEB_TOKENS_MAX];
    uint32_t token_count;
};

cairn_web_settings *cairn_web_settings_create(void) {
    cairn_web_settings *settings = calloc(1, sizeof *settings);
    if (settings != NULL && uv_mutex_init(&settings->mutex) != 0) {
        free(settings);
        return NULL;
    }
    return settings;
}

void cairn_web_settings_destroy(cairn_web_settings *settings) {
    if (settings != NULL) {
        cairn_wipe(settings->tokens, sizeof settings->tokens);
        uv_mutex_destroy(&settings->mutex);
        free(settings);
    }
}

void cairn_web_settings_set(cairn_web_settings *settings, const cairn_web_settings_values *values) {
    CAIRN_ASSERT(values->origin_count <= CAIRN_WEB_ORIGINS_MAX);
    CAIRN_ASSERT(values->token_count <= CAIRN_WEB_TOKENS_MAX);
    uv_mutex_lock(&settings->mutex);
    for (uint32_t i = 0; i < values->origin_count; ++i) {
        settings->origins[i] = values->origins[i];
    }
    settings->origin_count = values->origin_count;
    settings->sockets_per_network_max = values->sockets_per_network_max;
    cairn_wipe(settings->tokens, sizeof settings->tokens);
    for (uint32_t i = 0; i < values->token_count; ++i) {
        settings->tokens[i] = values->tokens[i];
    }
    settings->token_count = values->token_count;
    settings->has_operators = settings->has_operators || values->token_count > 0;
    uv_mutex_unlock(&settings->mutex);
}

bool cairn_web_settings_allow(cairn_web_settings *settings, const cairn_http_request *request) {
    uv_mutex_lock(&settings->mutex);
    const bool allowed = cairn_origin_allowed(request, settings->origins, settings->origin_count);
    uv_mutex_unlock(&settings->mutex);
    return allowed;
}

uint32_t cairn_web_settings_sockets_per_network(cairn_web_settings *settings) {
    uv_mutex_lock(&settings->mutex);
    const uint32_t most = settings->sockets_per_network_max;
    uv_mutex_unlock(&settings->mutex);
    return most;
}

bool cairn_web_settings_has_operators(cairn_web_settings *settings) {
    uv_mutex_lock(&settings->mutex);
    const bool has = settings->has_operators;
    uv_mutex_unlock(&settings->mutex);
    return has;
}

static bool is_same(const uint8_t *a, const uint8_t *b, size_t size) {
    volatile uint8_t difference = 0;
    for (size_t i = 0; i < size; ++i) {
        difference = (uint8_t)(difference | (a[i] ^ b[i]));
    }
    return difference == 0;
}

uint32_t cairn_web_settings_find_token(
    cairn_web_settings *settings, const uint8_t key[CAIRN_KEY_SIZE]) {
    uint32_t found = CAIRN_WEB_TOKENS_MAX;
    uv_mutex_lock(&settings->mutex);
    for (uint32_t i = 0; i < settings->token_count; ++i) {
        const bool same = is_same(key, settings->tokens[i].bytes, CAIRN_KEY_SIZE);
        found = same ? i : found;
    }
    uv_mutex_unlock(&settings->mutex);
    return found;
}
