// SPDX-License-Identifier: MIT
#pragma once

// What a verb works on: who asks, in which room, and the answer that it fills.

#include <cairn/control.h>

#include "server/control/saves.h"
#include "server/core/server_state.h"

// Memory for what an answer points to. A verb fills one member.
typedef union cairn_control_lists {
    cairn_control_feature features[CAIRN_CONTROL_VERB_COUNT];
    cairn_control_room rooms[CAIRN_CONTROL_ROOMS_MAX];
    cairn_control_client clients[CAIRN_CLIENTS_MAX];
    cairn_control_saved saves[CAIRN_CONTROL_SAVES_MAX];
    cairn_control_body bodies[CAIRN_CONTROL_BODIES_MAX];
    cairn_control_shape shapes[CAIRN_CONTROL_OVERLAPS_MAX];
    cairn_control_section sections[CAIRN_CONTROL_SECTIONS_MAX];
    cairn_control_difference differences[CAIRN_CONTROL_DIFFERENCES_MAX];
} cairn_control_lists;

// The encoded answer; with it a link's stream has space for other messages.
#define CAIRN_CONTROL_ANSWER_SIZE_MAX (48 * 1024)
_Static_assert(sizeof(cairn_control_lists) + 4096 <= CAIRN_CONTROL_ANSWER_SIZE_MAX, "a list fits");
_Static_assert(CAIRN_CONTROL_READ_SIZE_MAX + 4096 <= CAIRN_CONTROL_ANSWER_SIZE_MAX, "a piece fits");

typedef struct cairn_control_context {
    cairn_server *server;
    cairn_session *session; // the operator's
    cairn_room *room; // the one asked about; after a verb that makes a room, the new one; NULL
                      // only for a verb that needs none
    const cairn_control_request *request;
    cairn_control_saves *saves;
    cairn_control_lists *lists;
    char *reason; // [CAIRN_TEXT_SIZE_MAX + 1], of a refusal
    cairn_control_answer answer;
    bool answers_later; // when the room has run
} cairn_control_context;

// A refusal with a sentence of its own, formatted like printf. Returns `refusal`.
cairn_control_refusal cairn_control_refuse(
    cairn_control_context *c, cairn_control_refusal refusal, const char *format, ...);
// The refusal of a verb that may not be carried out while another request makes the room run.
cairn_control_refusal cairn_control_refuse_running(cairn_control_context *c);
// Writes a text that fits an element's name, cut if it is too long.
void cairn_control_name_set(char name[CAIRN_NAME_SIZE_MAX + 1], const char *text);
