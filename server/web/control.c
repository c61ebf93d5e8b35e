// SPDX-License-Identifier: MIT
#include "server/web/control.h"

#include <stdlib.h>
#include <string.h>

#include "net/crypto.h"
#include "program/control_request.h"
#include "program/json.h"
#include "server/web/json_answer.h"
#include "server/web/openapi.h"
#include "server/web/origin.h"
#include <cairn/control.h>

#define BEARER "Bearer "

struct cairn_web_control {
    cairn_web_settings *settings;
    cairn_questions *questions;
    char *openapi; // owned
    size_t openapi_size;
    cairn_web_control_statistics statistics;
};

cairn_status cairn_web_control_create(
    cairn_web_settings *settings, cairn_questions *questions, cairn_web_control **out) {
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    (*out)->settings = settings;
    (*out)->questions = questions;
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
        free(control->openapi);
        free(control);
    }
}

cairn_http_answer cairn_web_control_openapi(const cairn_web_control *control) {
    return (cairn_http_answer){.status = 200,
        .type = CAIRN_JSON_TYPE,
        .bytes = (const uint8_t *)control->openapi,
        .size = control->openapi_size};
}

// As cairn_web_settings_find_token.
static uint32_t find_token(const cairn_web_control *control, const cairn_http_request *request) {
    char text[sizeof BEARER + 2 * CAIRN_KEY_SIZE];
    uint8_t key[CAIRN_KEY_SIZE] = {0};
    const size_t begin = strlen(BEARER);
    const bool read =
        cairn_http_header_read(request, CAIRN_HTTP_AUTHORIZATION, text, sizeof text) &&
        strncmp(text, BEARER, begin) == 0 &&
        cairn_hex_read(text + begin, strlen(text) - begin, key, sizeof key);
    const uint32_t found = cairn_web_settings_find_token(control->settings, key);
    cairn_wipe(text, sizeof text);
    cairn_wipe(key, sizeof key);
    return read ? found : CAIRN_WEB_TOKENS_MAX;
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
    cairn_web_control *control, const cairn_http_request *request, uint32_t *token) {
    static const cairn_http_answer goes_on = {.status = 0};
    char type[sizeof CAIRN_JSON_TYPE];
    if (!cairn_origin_allowed(request, NULL, 0)) {
        control->statistics.refused_origin += 1;
        return cairn_json_refusal(403, "origin", "a page from elsewhere may not ask");
    }
    *token = find_token(control, request);
    if (*token == CAIRN_WEB_TOKENS_MAX) {
        control->statistics.refused_token += 1;
        (void)cairn_http_charge(request, CAIRN_WEB_WRONG_TOKEN_COST);
        return cairn_json_refusal(
            401, "token", "the header Authorization must be: Bearer and 64 digits");
    }
    if (verb_of(request->path) == 0 && !is_drain(request->path)) {
        control->statistics.refused_body += 1;
        return cairn_json_refusal(404, "verb", "unknown verb; /openapi.json lists all");
    }
    // A form of a page could not say this. A character set after it is not taken.
    if (!cairn_http_header_read(request, CAIRN_HTTP_CONTENT_TYPE, type, sizeof type) ||
        strcmp(type, CAIRN_JSON_TYPE) != 0) {
        control->statistics.refused_body += 1;
        return cairn_json_refusal(415, "type", "the header Content-Type must be application/json");
    }
    return goes_on;
}

// The loop frees the request.
static cairn_http_answer ask(cairn_web_control *control, cairn_question_kind kind, uint32_t token,
    cairn_control_request_copy *request, cairn_http_exchange *exchange) {
    cairn_question *question = cairn_questions_begin(control->questions, kind, exchange);
    if (question == NULL) {
        free(request);
        control->statistics.refused_busy += 1;
        return cairn_json_refusal(503, "busy", "too many requests wait for their answers");
    }
    question->request = request;
    question->token = token;
    cairn_questions_ask(control->questions, question);
    return (cairn_http_answer){.status = 0};
}

// An empty object.
static cairn_http_answer ask_to_drain(
    cairn_web_control *control, cairn_json *json, const char *why, cairn_http_exchange *exchange) {
    if (json == NULL || cairn_json_first_name(json) != NULL) {
        control->statistics.refused_body += 1;
        return cairn_json_refusal(400, "request", why);
    }
    return ask(control, CAIRN_QUESTION_DRAIN, 0, NULL, exchange);
}

static cairn_http_answer ask_for_verb(cairn_web_control *control, uint32_t token, uint32_t verb,
    cairn_json *json, char why[CAIRN_CONTROL_REQUEST_ERROR_SIZE], cairn_http_exchange *exchange) {
    cairn_control_request_copy *request = malloc(sizeof *request);
    if (request == NULL) {
        return (cairn_http_answer){.status = 503, .type = CAIRN_JSON_TYPE};
    }
    if (json == NULL || !cairn_control_request_parse(verb, json, request, why)) {
        free(request);
        control->statistics.refused_body += 1;
        return cairn_json_refusal(400, "request", why);
    }
    return ask(control, CAIRN_QUESTION_CONTROL, token, request, exchange);
}

cairn_http_answer cairn_web_control_post(cairn_web_control *control, uint32_t token,
    const char *path, const uint8_t *body, size_t size, cairn_http_exchange *exchange) {
    char why[CAIRN_CONTROL_REQUEST_ERROR_SIZE] = "the body must be one JSON object";
    cairn_json *json = cairn_json_parse((const char *)body, size);
    const cairn_http_answer answer =
        is_drain(path) ? ask_to_drain(control, json, why, exchange)
                       : ask_for_verb(control, token, verb_of(path), json, why, exchange);
    cairn_json_destroy(json);
    return answer;
}

void cairn_web_control_note_left(cairn_web_control *control) {
    control->statistics.left += 1;
}

const cairn_web_control_statistics *cairn_web_control_statistics_read(
    const cairn_web_control *control) {
    return &control->statistics;
}
