// SPDX-License-Identifier: MIT
#include <cairn/control.h>

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "client_lib/client_parts.h"

bool cairn_answers_add(cairn_answers *answers, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(size > 0);
    uint8_t *copy = answers->count < CAIRN_ANSWERS_MAX ? malloc(size) : NULL;
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, bytes, size);
    answers->list[answers->count++] = (cairn_answer_bytes){.bytes = copy, .size = size};
    return true;
}

// The oldest answer becomes `taken`; the one taken before is freed. False: none waits.
static bool take_next(cairn_answers *answers) {
    free(answers->taken.bytes);
    answers->taken = (cairn_answer_bytes){0};
    if (answers->count == 0) {
        return false;
    }
    answers->taken = answers->list[0];
    answers->count -= 1;
    memmove(answers->list, answers->list + 1, answers->count * sizeof *answers->list);
    return true;
}

void cairn_answers_clear(cairn_answers *answers) {
    while (take_next(answers)) {}
    answers->request = 0;
}

cairn_client *cairn_client_create_operator(void) {
    cairn_client_config config = cairn_client_config_default();
    config.spectator = true;
    cairn_client *client = NULL;
    return cairn_client_create(&config, &client) == CAIRN_OK ? client : NULL;
}

bool cairn_client_welcomed(const cairn_client *client) {
    CAIRN_ASSERT(client != NULL);
    return client->session.welcomed && cairn_connection_is_open(&client->connection);
}

bool cairn_client_is_operator(const cairn_client *client) {
    CAIRN_ASSERT(client != NULL);
    return (client->session.rights & CAIRN_RIGHT_OPERATOR) != 0;
}

uint32_t cairn_client_ask(cairn_client *client, const cairn_control_request *request) {
    CAIRN_ASSERT(client != NULL && request != NULL);
    if (!cairn_client_welcomed(client)) {
        return 0;
    }
    const uint32_t number = client->answers.request == UINT32_MAX ? 1 : client->answers.request + 1;
    cairn_message message = {.kind = CAIRN_MESSAGE_CONTROL, .control = *request};
    message.control.number = number;
    message.control.room = request->room == NULL ? "" : request->room;
    const uint8_t *bytes = NULL;
    size_t size = 0;
    if (cairn_message_encode(client->connection.encoder, &message, &bytes, &size) != CAIRN_OK ||
        cairn_link_send_reliable(client->connection.link, bytes, size) != CAIRN_OK) {
        return 0;
    }
    client->answers.request = number;
    return number;
}

uint32_t cairn_client_ask_encoded(cairn_client *client, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(client != NULL && (bytes != NULL || size == 0));
    cairn_message message;
    uint8_t *aligned = size == 0 || size > CAIRN_MESSAGE_SIZE_MAX ? NULL : malloc(size);
    if (aligned == NULL) {
        return 0;
    }
    memcpy(aligned, bytes, size);
    const cairn_decode_refusal refusal =
        cairn_message_decode(aligned, size, CAIRN_TO_SERVER, &message);
    const bool is_request = refusal == CAIRN_DECODE_OK && message.kind == CAIRN_MESSAGE_CONTROL;
    const uint32_t number = is_request ? cairn_client_ask(client, &message.control) : 0;
    free(aligned);
    return number;
}

uint32_t cairn_client_answers_waiting(const cairn_client *client) {
    return client->answers.count;
}

bool cairn_client_next_answer(cairn_client *client, cairn_control_answer *out) {
    CAIRN_ASSERT(client != NULL && out != NULL);
    *out = (cairn_control_answer){.reason = "", .room = ""};
    const uint8_t *bytes = NULL;
    const size_t size = cairn_client_next_answer_encoded(client, &bytes);
    if (size == 0) {
        return false;
    }
    cairn_message message;
    const cairn_decode_refusal refusal =
        cairn_message_decode(bytes, size, CAIRN_TO_CLIENT, &message);
    CAIRN_ASSERT(refusal == CAIRN_DECODE_OK && message.kind == CAIRN_MESSAGE_ANSWER);
    *out = message.answer;
    return true;
}

size_t cairn_client_next_answer_encoded(cairn_client *client, const uint8_t **bytes) {
    CAIRN_ASSERT(client != NULL && bytes != NULL);
    *bytes = NULL;
    if (!take_next(&client->answers)) {
        return 0;
    }
    *bytes = client->answers.taken.bytes;
    return client->answers.taken.size;
}
