// SPDX-License-Identifier: MIT
#include "server/web/operations.h"

#include <stdlib.h>

#include "base/assert.h"
#include "program/control_answer.h"
#include "program/json.h"
#include "server/web/json_answer.h"
#include "server/web/settings.h"
#include <cairn/control.h>
#include <cairn/server.h>
#include <cairn/server_uv.h>

_Static_assert(CAIRN_WEB_TOKENS_MAX <= CAIRN_SERVER_OPERATORS_MAX, "each token is an operator");

struct cairn_operations {
    cairn_server *server;
    cairn_uv_driver *driver;
    cairn_questions *questions;
    cairn_web_control_statistics statistics;
};

cairn_status cairn_operations_create(cairn_server *server, cairn_uv_driver *driver,
    cairn_questions *questions, cairn_operations **out) {
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    (*out)->server = server;
    (*out)->driver = driver;
    (*out)->questions = questions;
    return CAIRN_OK;
}

void cairn_operations_destroy(cairn_operations *operations) {
    for (uint32_t i = 0; operations != NULL && i < CAIRN_QUESTIONS_MAX; ++i) {
        const cairn_question *question = cairn_questions_at(operations->questions, i);
        if (question->waits) {
            cairn_server_ask_forget(operations->server, question->asked);
        }
    }
    free(operations);
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
    cairn_question *question = user;
    const cairn_operations *operations = question->operations;
    CAIRN_ASSERT(question->waits);
    question->waits = false;
    cairn_questions_answer(operations->questions, question,
        cairn_json_answer(status_of(answer->refusal), cairn_control_answer_json(answer, true)));
}

// The server takes a copy of the request. It never answers before this returns.
static cairn_status ask(cairn_operations *operations, cairn_question *question) {
    question->operations = operations;
    const cairn_status status = cairn_server_ask(operations->server, question->token,
        &question->request->request, answered, question, &question->asked);
    free(question->request);
    question->request = NULL;
    question->waits = status == CAIRN_OK;
    return status;
}

static cairn_http_answer drain(cairn_operations *operations) {
    cairn_json *json = cairn_json_create();
    operations->statistics.asked += 1;
    cairn_uv_driver_drain(operations->driver);
    cairn_json_put_bool(json, "ok", true);
    return cairn_json_answer(200, json);
}

void cairn_operations_begin(cairn_operations *operations, cairn_question *question) {
    if (question->kind == CAIRN_QUESTION_DRAIN) {
        cairn_questions_answer(operations->questions, question, drain(operations));
        return;
    }
    switch (ask(operations, question)) {
    case CAIRN_OK:
        operations->statistics.asked += 1;
        return;
    case CAIRN_CAPACITY:
        operations->statistics.refused_busy += 1;
        cairn_questions_answer(operations->questions, question,
            cairn_json_refusal(503, "busy", "too many requests wait for their answers"));
        return;
    default:
        operations->statistics.refused_body += 1;
        cairn_questions_answer(operations->questions, question,
            cairn_json_refusal(
                400, "request", "a text is not printable ASCII, or a list has too many elements"));
    }
}

void cairn_operations_forget_left(cairn_operations *operations) {
    if (!cairn_questions_any_left(operations->questions)) {
        return;
    }
    for (uint32_t i = 0; i < CAIRN_QUESTIONS_MAX; ++i) {
        cairn_question *question = cairn_questions_at(operations->questions, i);
        if (question->waits && atomic_load_explicit(&question->left, memory_order_relaxed)) {
            question->waits = false;
            cairn_server_ask_forget(operations->server, question->asked);
            cairn_questions_answer(
                operations->questions, question, (cairn_http_answer){.status = 503});
        }
    }
}

const cairn_web_control_statistics *cairn_operations_statistics(
    const cairn_operations *operations) {
    return &operations->statistics;
}
