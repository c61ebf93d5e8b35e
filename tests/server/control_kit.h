// SPDX-License-Identifier: MIT
#pragma once

// An operator in a story: sends one request at a time and waits for its answer.

#include "tests/server/story.h"
#include <cairn/control.h>

// A server with control and one operator, client 0, who is a spectator in lockstep mode.
void kit_start(story *s, story_answer *answer);
void kit_start_with(story *s, story_answer *answer, const cairn_server_config *config);

// Asks as client 0 and lets time pass until the answer is there, at most three seconds. A
// NULL room is "". Returns the refusal.
// kit_ask(&s, .verb = CAIRN_CONTROL_STEP, .step = {1})
#define kit_ask(s, ...) kit_ask_request(s, (cairn_control_request){__VA_ARGS__})
uint32_t kit_ask_request(story *s, cairn_control_request ask);
uint32_t kit_verb(story *s, cairn_control_verb verb);
// As kit_ask, of any client, without waiting.
#define kit_say(s, client, ...) kit_say_request(s, client, (cairn_control_request){__VA_ARGS__})
void kit_say_request(story *s, uint32_t client, cairn_control_request ask);

// Asks and expects it to be done.
#define kit_do(s, ...) kit_do_request(s, (cairn_control_request){__VA_ARGS__})
void kit_do_request(story *s, cairn_control_request ask);
