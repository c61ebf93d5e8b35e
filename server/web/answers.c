// SPDX-License-Identifier: MIT
#include "server/web/answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "net/crypto.h"
#include "program/json.h"
#include "program/system.h"
#include "server/web/metrics.h"
#include "server/web/operations.h"
#include <cairn/server.h>
#include <cairn/server_uv.h>
#include <cairn/token.h>

#define ROOM_JSON_SIZE 256
#define DEV_TOKEN_TIMEOUT_S 10

struct cairn_web_answers {
    cairn_web_answers_config config;
    cairn_key dev_key;
    cairn_operations *operations;
};

static const cairn_http_answer out_of_memory = {.status = 503, .type = "text/plain"};

static cairn_web_control_statistics add_controls(
    const cairn_web_control_statistics *here, const cairn_web_control_statistics *there) {
    return (cairn_web_control_statistics){.asked = here->asked + there->asked,
        .refused_token = here->refused_token + there->refused_token,
        .refused_origin = here->refused_origin + there->refused_origin,
        .refused_body = here->refused_body + there->refused_body,
        .refused_busy = here->refused_busy + there->refused_busy,
        .left = here->left + there->left};
}

static cairn_http_answer metrics(cairn_web_answers *own, cairn_question *question) {
    const cairn_web_answers_config *config = &own->config;
    const cairn_metrics_process process = {.io = cairn_uv_driver_statistics(config->driver),
        .web = question->counts,
        .control =
            add_controls(cairn_operations_statistics(own->operations), &question->counts.control),
        .frames_not_sent = config->frames_not_sent(config->user),
        .log_lines_lost = config->log_lines_lost(config->log_user),
        .log_bytes_waiting = config->log_bytes_waiting(config->log_user)};
    return cairn_metrics_read(config->server, &process, &question->metrics)
               ? (cairn_http_answer){.status = 200}
               : out_of_memory;
}

static cairn_http_answer rooms(const cairn_web_answers *own) {
    cairn_server *server = own->config.server;
    cairn_json *list = cairn_json_create_array();
    size_t size = 4;
    for (uint32_t id = 0; (id = cairn_server_room_next(server, id)) != 0;) {
        cairn_server_room_info info;
        cairn_server_room_statistics now;
        cairn_json *room = cairn_json_put_object(list, NULL);
        cairn_server_room_read(server, id, &info);
        cairn_server_room_statistics_read(server, id, &now);
        cairn_json_put_text(room, "name", info.name);
        cairn_json_put_text(room, "scene", info.scene_name);
        cairn_json_put_text(room, "rules", info.rules_name);
        cairn_json_put_count(room, "tick_rate_hz", info.tick_rate_hz);
        cairn_json_put_count(room, "clients", now.clients);
        cairn_json_put_count(room, "players", now.players);
        cairn_json_put_count(room, "bodies", now.bodies);
        size += ROOM_JSON_SIZE + strlen(info.scene_name) + strlen(info.rules_name);
    }
    char *bytes = malloc(size);
    const size_t used = bytes == NULL ? 0 : cairn_json_write(list, bytes, size);
    cairn_json_destroy(list);
    if (used == 0) {
        free(bytes);
        return out_of_memory;
    }
    return (cairn_http_answer){.status = 200,
        .type = "application/json",
        .bytes = (const uint8_t *)bytes,
        .size = used,
        .release = free,
        .owner = bytes};
}

static bool issue_token(const cairn_web_answers *own, const cairn_user_data *user,
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE];
    uint64_t client_id = 0;
    if (!cairn_system_random(entropy, sizeof entropy) ||
        !cairn_system_random(&client_id, sizeof client_id) ||
        cairn_user_data_encode(user, user_data) != CAIRN_OK) {
        return false;
    }
    const cairn_token_request request = {.protocol_id = own->config.protocol_id,
        .client_id = client_id,
        .create_unix_s = cairn_uv_unix_ns() / CAIRN_NS_PER_S,
        .lifetime_s = own->config.token_lifetime_s,
        .timeout_s = DEV_TOKEN_TIMEOUT_S,
        .server_addresses = &own->config.public_address,
        .server_count = 1,
        .private_key = own->dev_key.bytes,
        .user_data = user_data,
        .entropy = entropy};
    const bool issued = cairn_token_issue(&request, token) == CAIRN_OK;
    cairn_wipe(entropy, sizeof entropy);
    return issued;
}

static cairn_http_answer token(const cairn_web_answers *own, const cairn_user_data *user) {
    if (user->room[0] != '\0' && cairn_server_room_find(own->config.server, user->room) == 0) {
        return cairn_http_words(404, "no room has this name\n");
    }
    uint8_t *bytes = malloc(CAIRN_CONNECT_TOKEN_SIZE);
    if (bytes == NULL || !issue_token(own, user, bytes)) {
        free(bytes);
        return out_of_memory;
    }
    return (cairn_http_answer){.status = 200,
        .type = "application/octet-stream",
        .bytes = bytes,
        .size = CAIRN_CONNECT_TOKEN_SIZE,
        .release = free,
        .owner = bytes};
}

static cairn_http_answer ready(const cairn_web_answers *own) {
    return cairn_server_admits(own->config.server) ? cairn_http_words(200, "clients may join\n")
                                                   : cairn_http_words(503, "the server ends\n");
}

static void answer(cairn_web_answers *own, cairn_question *question) {
    cairn_questions *questions = own->config.questions;
    switch (question->kind) {
    case CAIRN_QUESTION_HEALTH:
        cairn_questions_answer(questions, question, cairn_http_words(200, "the loop runs\n"));
        return;
    case CAIRN_QUESTION_READY:
        cairn_questions_answer(questions, question, ready(own));
        return;
    case CAIRN_QUESTION_ROOMS:
        cairn_questions_answer(questions, question, rooms(own));
        return;
    case CAIRN_QUESTION_METRICS:
        cairn_questions_answer(questions, question, metrics(own, question));
        return;
    case CAIRN_QUESTION_TOKEN:
        cairn_questions_answer(questions, question, token(own, &question->user));
        return;
    case CAIRN_QUESTION_CONTROL:
    case CAIRN_QUESTION_DRAIN:
        cairn_operations_begin(own->operations, question);
        return;
    }
}

void cairn_web_answers_give(cairn_web_answers *own) {
    cairn_operations_forget_left(own->operations);
    for (cairn_question *next; (next = cairn_questions_take(own->config.questions)) != NULL;) {
        answer(own, next);
    }
}

cairn_status cairn_web_answers_create(
    const cairn_web_answers_config *config, cairn_web_answers **out) {
    cairn_web_answers *own = calloc(1, sizeof *own);
    *out = NULL;
    if (own == NULL || cairn_operations_create(config->server, config->driver, config->questions,
                           &own->operations) != CAIRN_OK) {
        free(own);
        return CAIRN_OUT_OF_MEMORY;
    }
    own->config = *config;
    own->config.dev_key = NULL;
    if (config->dev_key != NULL) {
        own->dev_key = *config->dev_key;
    }
    *out = own;
    return CAIRN_OK;
}

void cairn_web_answers_destroy(cairn_web_answers *own) {
    if (own != NULL) {
        cairn_operations_destroy(own->operations);
        cairn_wipe(&own->dev_key, sizeof own->dev_key);
        free(own);
    }
}
