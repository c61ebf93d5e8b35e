// SPDX-License-Identifier: MIT
#include "server/web/json_answer.h"

#include <stdlib.h>

#include "program/json.h"

cairn_http_answer cairn_json_answer(uint32_t status, cairn_json *json) {
    size_t size;
    char *text = cairn_json_text(json, &size);
    cairn_json_destroy(json);
    return text == NULL ? (cairn_http_answer){.status = 503, .type = CAIRN_JSON_TYPE}
                        : (cairn_http_answer){.status = status,
                              .type = CAIRN_JSON_TYPE,
                              .bytes = (const uint8_t *)text,
                              .size = size,
                              .release = free,
                              .owner = text};
}

cairn_http_answer cairn_json_refusal(uint32_t status, const char *refusal, const char *reason) {
    cairn_json *json = cairn_json_create();
    cairn_json_put_bool(json, "ok", false);
    cairn_json_put_text(json, "refusal", refusal);
    cairn_json_put_text(json, "reason", reason);
    return cairn_json_answer(status, json);
}
