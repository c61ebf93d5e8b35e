// SPDX-License-Identifier: MIT
#include "tests/server/control_kit.h"

#include <string.h>

#include "base/assert.h"
#include "server/server_parts.h"

void kit_start_with(story *s, story_answer *answer, const cairn_server_config *config) {
    memset(answer, 0, sizeof *answer);
    story_start(s, config);
    s->operators = true;
    story_join(s, CAIRN_MODE_LOCKSTEP, true);
    s->clients[0].answer = answer;
    story_run_ms(s, 200);
    CAIRN_ASSERT(s->clients[0].welcomed);
}

void kit_start(story *s, story_answer *answer) {
    cairn_server_config config = story_config();
    config.control = true;
    kit_start_with(s, answer, &config);
}

void kit_say(story *s, uint32_t client, cairn_control ask) {
    ask.room = ask.room == NULL ? "" : ask.room;
    ask.name = ask.name == NULL ? "" : ask.name;
    const cairn_message message = {.kind = CAIRN_MESSAGE_CONTROL, .control = ask};
    story_say_message(s, client, &message, true);
}

uint32_t kit_ask(story *s, cairn_control ask) {
    const story_answer *answer = s->clients[0].answer;
    const uint32_t before = answer->count;
    ask.request = before + 1000;
    kit_say(s, 0, ask);
    for (uint32_t ms = 0; ms < 3000 && answer->count == before; ms += 4) {
        story_run_ms(s, 4);
    }
    CAIRN_ASSERT(answer->count == before + 1);
    CAIRN_ASSERT(answer->answer.request == ask.request && answer->answer.verb == ask.verb);
    return answer->answer.refusal;
}

uint32_t kit_verb(story *s, cairn_control_verb verb) {
    return kit_ask(s, (cairn_control){.verb = verb});
}

cairn_world *kit_world(const story *s) {
    const cairn_world *world = cairn_server_world(s->server, CAIRN_ROOM_MAIN);
    return (cairn_world *)(uintptr_t)world;
}

uint64_t kit_tick(const story *s) {
    return cairn_world_tick(kit_world(s));
}
