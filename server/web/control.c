// SPDX-License-Identifier: MIT
#include "server/web/control.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "net/crypto.h"
#include "program/control_answer.h"
#include "program/control_request.h"
#include "program/json.h"
#include "server/web/openapi.h"
#include "server/web/origin.h"
#include <cairn/control.h>
#include <cairn/server.h>
#include <cairn/server_uv.h>

#define JSON_TYPE "application/json"
#define BEARER "Bearer "

// An exchange that waits for the server's answer.
typedef struct waiting {
    cairn_web_control *control;
    cairn_http_exchange *exchange; // NULL: the entry is free
    uint64_t asked;
} waiting;

struct cairn_web_control {
    cairn_server *server;
    cairn_uv_driver *driver;
    cairn_key tokens[CAIRN_WEB_TOKENS_MAX];
    uint32_t token_count;
    char *openapi; // owned
    size_t openapi_size;
    cairn_web_control_statistics statistics;
    cairn_control_request_copy request;
    waiting waits[CAIRN_SERVER_ASKED_MAX];
};

cairn_status cairn_web_control_create(
    cairn_server *server, cairn_uv_driver *driver, cairn_web_control **out) {
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    (*out)->server = server;
    (*out)->driver = driver;
    (*out)->openapi = cairn_openapi_write(&(*out)->openapi_size);
    if ((*out)->openapi == NULL) {
        cairn_web_control_destroy(*out);
        *out = NULL;
        return CAIRN_OUT_OF_MEMORY;
    }
    return CAIRN_OK;
}

void cairn_web_control_destroy(cairn_web_control *control) {
    if (control != NULL) {
        cairn_wipe(control->tokens, sizeof control->tokens);
        free(control->openapi);
        free(control);
    }
}

void cairn_web_control_set_tokens(
    cairn_web_control *control, const cairn_key *tokens, uint32_t count) {
    CAIRN_ASSERT(count <= CAIRN_WEB_TOKENS_MAX);
    cairn_wipe(control->tokens, sizeof control->tokens);
    memcpy(control->tokens, tokens, count * sizeof *tokens);
    control->token_count = count;
}

cairn_http_answer cairn_web_control_openapi(const cairn_web_control *control) {
    return (cairn_http_answer){.status = 200,
        .type = JSON_TYPE,
        .bytes = (const uint8_t *)control->openapi,
        .size = control->openapi_size};
}

static cairn_http_answer answer_json(uint32_t status, cairn_json *json) {
    size_t size;
    char *text = cairn_json_text(json, &size);
    cairn_json_destroy(json);
    return text == NULL ? (cairn_http_answer){.status = 503, .type = JSON_TYPE}
                        : (cairn_http_answer){.status = status,
                              .type = JSON_TYPE,
                              .bytes = (const uint8_t *)text,
                              .size = size,
                              .release = free,
                              .owner = text};
}

cairn_http_answer cairn_web_control_refuse(
    uint32_t status, const char *refusal, const char *reason) {
    cairn_json *json = cairn_json_create();
    cairn_json_put_bool(json, "ok", false);
    cairn_json_put_text(json, "refusal", refusal);
    cairn_json_put_text(json, "reason", reason);
    return answer_json(status, json);
}

// In a time that does not depend on where they differ.
static bool is_same(const uint8_t *a, const uint8_t *b, size_t size) {
    volatile uint8_t difference = 0;
    for (size_t i = 0; i < size; ++i) {
        difference = (uint8_t)(difference | (a[i] ^ b[i]));
    }
    return difference == 0;
}

static bool has_token(const cairn_web_control *control, const cairn_http_request *request) {
    char text[sizeof BEARER + 2 * CAIRN_KEY_SIZE];
    uint8_t key[CAIRN_KEY_SIZE] = {0};
    const size_t begin = strlen(BEARER);
    const bool read =
        cairn_http_header_read(request, CAIRN_HTTP_AUTHORIZATION, text, sizeof text) &&
        strncmp(text, BEARER, begin) == 0 &&
        cairn_hex_read(text + begin, strlen(text) - begin, key, sizeof key);
    bool found = false;
    for (uint32_t i = 0; i < control->token_count; ++i) {
        const bool same = is_same(key, control->tokens[i].bytes, sizeof key);
        found = found || (read && same);
    }
    cairn_wipe(text, sizeof text);
    cairn_wipe(key, sizeof key);
    return found;
}

// 0: the verb is unknown.
static uint32_t verb_of(const char *path) {
    const size_t size = strlen(CAIRN_WEB_CONTROL_PATH);
    return strncmp(path, CAIRN_WEB_CONTROL_PATH, size) == 0 ? cairn_control_verb_find(path + size)
                                                            : 0;
}

static bool is_drain(const char *path) {
    return strcmp(path, CAIRN_WEB_DRAIN_PATH) == 0;
}

cairn_http_answer cairn_web_control_begin(
    cairn_web_control *control, const cairn_http_request *request) {
    static const cairn_http_answer goes_on = {.status = 0};
    char type[sizeof JSON_TYPE];
    if (!cairn_origin_allowed(request, NULL, 0)) {
        control->statistics.refused_origin += 1;
        return cairn_web_control_refuse(403, "origin", "a page from elsewhere may not ask");
    }
    if (!has_token(control, request)) {
        control->statistics.refused_token += 1;
        (void)cairn_http_charge(request, CAIRN_WEB_WRONG_TOKEN_COST);
        return cairn_web_control_refuse(
            401, "token", "the header Authorization must be: Bearer and 64 digits");
    }
    if (verb_of(request->path) == 0 && !is_drain(request->path)) {
        control->statistics.refused_body += 1;
        return cairn_web_control_refuse(404, "verb", "unknown verb; /openapi.json lists all");
    }
    // A form of a page could not say this. A character set after it is not taken.
    if (!cairn_http_header_read(request, CAIRN_HTTP_CONTENT_TYPE, type, sizeof type) ||
        strcmp(type, JSON_TYPE) != 0) {
        control->statistics.refused_body += 1;
        return cairn_web_control_refuse(
            415, "type", "the header Content-Type must be application/json");
    }
    return goes_on;
}

static uint32_t status_of(uint32_t refusal) {
    static const uint16_t statuses[CAIRN_CONTROL_REFUSAL_COUNT] = {
        [CAIRN_CONTROL_DONE] = 200,
        [CAIRN_CONTROL_NO_RIGHT] = 403,
        [CAIRN_CONTROL_CLOSED] = 403,
        [CAIRN_CONTROL_VERB_UNKNOWN] = 404,
        [CAIRN_CONTROL_ROOM_UNKNOWN] = 404,
        [CAIRN_CONTROL_BODY_UNKNOWN] = 404,
        [CAIRN_CONTROL_NAME_UNKNOWN] = 404,
        [CAIRN_CONTROL_OUT_OF_RANGE] = 400,
        [CAIRN_CONTROL_TICK_GONE] = 404,
        [CAIRN_CONTROL_FOREIGN] = 409,
        [CAIRN_CONTROL_CAPACITY] = 507,
        [CAIRN_CONTROL_NOT_PAUSED] = 409,
        [CAIRN_CONTROL_BUSY] = 503,
        [CAIRN_CONTROL_NAME_TAKEN] = 409,
        [CAIRN_CONTROL_NOT_RECORDED] = 404,
        [CAIRN_CONTROL_ROOM_CLOSED] = 409,
    };
    return refusal < CAIRN_CONTROL_REFUSAL_COUNT ? statuses[refusal] : 500;
}

static void answered(void *user, const cairn_control_answer *answer) {
    waiting *own = user;
    cairn_http_exchange *exchange = own->exchange;
    *own = (waiting){.exchange = NULL};
    cairn_http_answer_later(
        exchange, answer_json(status_of(answer->refusal), cairn_control_answer_json(answer, true)));
}

static waiting *find_waiting(cairn_web_control *control, const cairn_http_exchange *exchange) {
    for (uint32_t i = 0; i < CAIRN_SERVER_ASKED_MAX; ++i) {
        if (control->waits[i].exchange == exchange) {
            return &control->waits[i];
        }
    }
    return NULL;
}

static cairn_http_answer ask(cairn_web_control *control, cairn_http_exchange *exchange) {
    waiting *own = find_waiting(control, NULL);
    cairn_status status = CAIRN_CAPACITY;
    if (own != NULL) {
        *own = (waiting){.control = control, .exchange = exchange};
        status = cairn_server_ask(
            control->server, &control->request.request, answered, own, &own->asked);
    }
    if (status == CAIRN_OK) {
        control->statistics.asked += 1;
        return (cairn_http_answer){.status = 0};
    }
    if (own != NULL) {
        *own = (waiting){.exchange = NULL};
    }
    if (status == CAIRN_CAPACITY) {
        control->statistics.refused_busy += 1;
        return cairn_web_control_refuse(503, "busy", "too many requests wait for their answers");
    }
    control->statistics.refused_body += 1;
    return cairn_web_control_refuse(
        400, "request", "a text is not printable ASCII, or a list has too many elements");
}

cairn_http_answer cairn_web_control_post(cairn_web_control *control, const char *path,
    const uint8_t *body, size_t size, cairn_http_exchange *exchange) {
    char why[CAIRN_CONTROL_REQUEST_ERROR_SIZE] = "the body must be one JSON object";
    cairn_json *json = cairn_json_parse((const char *)body, size);
    const bool drains = json != NULL && is_drain(path) && cairn_json_first_name(json) == NULL;
    const bool parsed = json != NULL && !is_drain(path) &&
                        cairn_control_request_parse(verb_of(path), json, &control->request, why);
    cairn_json_destroy(json);
    if (drains) {
        control->statistics.asked += 1;
        cairn_uv_driver_drain(control->driver);
        json = cairn_json_create();
        cairn_json_put_bool(json, "ok", true);
        return answer_json(200, json);
    }
    if (!parsed) {
        control->statistics.refused_body += 1;
        return cairn_web_control_refuse(400, "request", why);
    }
    return ask(control, exchange);
}

void cairn_web_control_gone(cairn_web_control *control, cairn_http_exchange *exchange) {
    waiting *own = find_waiting(control, exchange);
    if (own != NULL) {
        control->statistics.left += 1;
        cairn_server_ask_forget(control->server, own->asked);
        *own = (waiting){.exchange = NULL};
    }
}

const cairn_web_control_statistics *cairn_web_control_statistics_read(
    const cairn_web_control *control) {
    return &control->statistics;
}
