// SPDX-License-Identifier: MIT
#include <cairn/control.h>

#include <string.h>

#include "base/assert.h"
#include "client_lib/client_parts.h"
#include "schema/control.h"

static const char *text_of(const char *text) {
    return text == NULL ? "" : text;
}

static bool is_text(const char *text, size_t most) {
    size_t size = 0;
    while (text[size] >= ' ' && text[size] <= '~' && size <= most) {
        size++;
    }
    return text[size] == '\0' && size <= most;
}

static bool all_finite(const float *numbers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!(numbers[i] - numbers[i] == 0.0f)) {
            return false;
        }
    }
    return true;
}

static bool request_sound(const cairn_client_request *request) {
    return is_text(text_of(request->room), CAIRN_NAME_SIZE_MAX) &&
           is_text(text_of(request->name), CAIRN_TEXT_SIZE_MAX) &&
           request->number_count <= CAIRN_CONTROL_NUMBERS_MAX &&
           request->byte_count <= CAIRN_CONTROL_BYTES_MAX &&
           all_finite(request->numbers, request->number_count);
}

cairn_client *cairn_client_create_operator(void) {
    cairn_client_config config = cairn_client_config_default();
    config.spectator = true;
    cairn_client *client = NULL;
    return cairn_client_create(&config, &client) == CAIRN_OK ? client : NULL;
}

bool cairn_client_welcomed(const cairn_client *client) {
    return client->session.welcomed && (client->connection.state == CAIRN_CLIENT_JOINING ||
                                           client->connection.state == CAIRN_CLIENT_PLAYING);
}

bool cairn_client_is_operator(const cairn_client *client) {
    return (client->session.rights & CAIRN_RIGHT_OPERATOR) != 0;
}

uint32_t cairn_client_ask(cairn_client *client, const cairn_client_request *request) {
    if (!cairn_client_welcomed(client) || !request_sound(request)) {
        return 0;
    }
    const uint32_t number = client->answers.request == UINT32_MAX ? 1 : client->answers.request + 1;
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_CONTROL,
        .control = {.request = number,
            .verb = request->verb,
            .room = text_of(request->room),
            .tick = request->tick,
            .count = request->count,
            .seed = request->seed,
            .name = text_of(request->name),
            .body = request->body,
            .mask = request->mask,
            .numbers = request->numbers,
            .number_count = request->number_count,
            .bytes = request->bytes,
            .byte_count = request->byte_count},
    };
    const uint8_t *bytes = NULL;
    size_t size = 0;
    const cairn_status status =
        cairn_message_encode(client->connection.encoder, &message, &bytes, &size);
    CAIRN_ASSERT(status == CAIRN_OK);
    if (cairn_link_send_reliable(client->connection.link, bytes, size) != CAIRN_OK) {
        return 0;
    }
    client->answers.request = number;
    return number;
}

bool cairn_client_next_reply(cairn_client *client, cairn_client_reply *out) {
    *out = (cairn_client_reply){.words = "", .room = ""};
    if (!cairn_answers_next(&client->answers)) {
        return false;
    }
    cairn_message message;
    const cairn_decode_refusal refusal = cairn_message_decode(
        client->answers.taken.bytes, client->answers.taken.size, CAIRN_TO_CLIENT, &message);
    CAIRN_ASSERT(refusal == CAIRN_DECODE_OK);
    const cairn_answer *answer = &message.answer;
    *out = (cairn_client_reply){
        .request = answer->request,
        .verb = answer->verb,
        .refusal = answer->refusal,
        .words = answer->words,
        .room = answer->room,
        .tick = answer->tick,
        .root_lo = answer->root.lo,
        .root_hi = answer->root.hi,
        .count = answer->count,
        .ids = answer->ids,
        .id_count = answer->id_count,
        .numbers = answer->numbers,
        .number_count = answer->number_count,
        .bytes = answer->bytes,
        .byte_count = answer->byte_count,
    };
    return true;
}

uint32_t cairn_client_verb_find(const char *text) {
    return cairn_control_verb_find(text);
}

const char *cairn_client_verb_text(uint32_t verb) {
    return cairn_control_verb_text(verb);
}

const char *cairn_client_refusal_text(uint32_t refusal) {
    return cairn_control_refusal_text(refusal);
}
