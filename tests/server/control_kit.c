// SPDX-License-Identifier: MIT
#include "tests/server/control_kit.h"

#include <string.h>

#include "base/assert.h"
#include "recording/player.h"

void kit_start_with(story *s, story_answer *answer, const cairn_server_config *config) {
    memset(answer, 0, sizeof *answer);
    story_start(s, config);
    s->operators = true;
    story_join(s, CAIRN_MODE_LOCKSTEP, true);
    s->clients[0].answer = answer;
    story_run_ms(s, 200);
    CAIRN_ASSERT(s->clients[0].welcomed);
}

static const cairn_scene *find_scene(void *user, const char *name) {
    (void)user;
    return strcmp(name, "test") == 0 ? story_scene() : NULL;
}

// The recording so far, as a driver would find it in its file.
static cairn_world *on_seek(void *user, const char *room, uint64_t tick) {
    const story *s = user;
    return strcmp(room, CAIRN_ROOM_NAME_DEFAULT) == 0
               ? cairn_player_world_at(s->record, s->record_size, tick)
               : NULL;
}

void kit_start(story *s, story_answer *answer) {
    cairn_server_config config = story_config();
    config.control = true;
    config.find_scene = find_scene;
    config.on_seek = on_seek;
    kit_start_with(s, answer, &config);
}

void kit_say_request(story *s, uint32_t client, cairn_control_request ask) {
    ask.room = ask.room == NULL ? "" : ask.room;
    const cairn_message message = {.kind = CAIRN_MESSAGE_CONTROL, .control = ask};
    story_say_message(s, client, &message, true);
}

uint32_t kit_ask_request(story *s, cairn_control_request ask) {
    const story_answer *answer = s->clients[0].answer;
    const uint32_t before = answer->count;
    ask.number = before + 1000;
    kit_say_request(s, 0, ask);
    for (uint32_t ms = 0; ms < 3000 && answer->count == before; ms += 4) {
        story_run_ms(s, 4);
    }
    CAIRN_ASSERT(answer->count == before + 1);
    CAIRN_ASSERT(answer->answer.number == ask.number && answer->answer.verb == ask.verb);
    return answer->answer.refusal;
}

uint32_t kit_verb(story *s, cairn_control_verb verb) {
    return kit_ask(s, .verb = verb);
}

void kit_do_request(story *s, cairn_control_request ask) {
    const uint32_t refusal = kit_ask_request(s, ask);
    CAIRN_ASSERT(refusal == CAIRN_CONTROL_DONE);
}
