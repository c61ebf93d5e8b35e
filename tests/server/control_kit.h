// SPDX-License-Identifier: MIT
#pragma once

// An operator in a story: says one thing at a time and waits for the answer.

#include "tests/server/story.h"
#include <cairn/control.h>

// A server with control and one operator who watches in lockstep; client 0.
void kit_start(story *s, story_answer *answer);
void kit_start_with(story *s, story_answer *answer, const cairn_server_config *config);

// Asks as client 0 and lets time pass until the answer is there, at most three seconds. A
// NULL room is "". Returns the refusal.
uint32_t kit_ask(story *s, cairn_control_request ask);
uint32_t kit_verb(story *s, cairn_control_verb verb);
// As kit_ask, of any client, without waiting.
void kit_say(story *s, uint32_t client, cairn_control_request ask);

// Asks and expects it to be done.
void kit_do(story *s, cairn_control_request ask);
cairn_hash128 kit_root(const story *s);
cairn_world *kit_world(const story *s);
uint64_t kit_tick(const story *s);
