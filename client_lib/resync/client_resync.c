// SPDX-License-Identifier: MIT
// How a client heals: the host's and the server's side of client_lib/resync/resync.h.
#include <stdio.h>

#include "base/assert.h"
#include "client_lib/client_parts.h"

static bool asked_to_heal(const cairn_client *client) {
    return client->config.mode == CAIRN_CLIENT_HEAL || client->config.mode == CAIRN_CLIENT_PREDICT;
}

static bool heals(const cairn_client *client) {
    return asked_to_heal(client) && cairn_client_simulates(client);
}

// A difference is always seen to: the state need not be waited for.
static bool see_to(void *context, uint64_t tick) {
    (void)context;
    (void)tick;
    return true;
}

bool cairn_client_heal_create(cairn_client *client) {
    cairn_lockstep *lockstep = &client->lockstep;
    const bool predicts = client->config.mode == CAIRN_CLIENT_PREDICT;
    if (!asked_to_heal(client)) {
        return true;
    }
    lockstep->state_ticks += CAIRN_HEALING_TICKS;
    lockstep->state_memory = client->config.rollback_memory_max;
    client->desync = (cairn_desync){.found = see_to};
    return cairn_healing_create(&client->healing, lockstep, predicts ? &client->predict : NULL);
}

void cairn_client_heal_clear(cairn_client *client) {
    cairn_healing_clear(&client->healing);
    client->mode_words[0] = '\0';
    client->asked_down = false;
}

void cairn_client_heal_advance(cairn_client *client, uint64_t now_ns) {
    if (!heals(client)) {
        return;
    }
    cairn_healing_watch(&client->healing, now_ns, client->tick_rate_hz);
    if (client->healing.words != NULL && !client->asked_down) {
        client->asked_down = true;
        cairn_client_ask_for_snapshots(client);
    }
}

void cairn_client_heal_loaded(cairn_client *client, uint64_t now_ns, size_t size) {
    if (heals(client)) {
        cairn_healing_loaded(&client->healing, now_ns, size);
    }
}

void cairn_client_heal_repair(
    cairn_client *client, uint64_t now_ns, const cairn_repair *repair, size_t size) {
    if (heals(client)) {
        cairn_healing_take(&client->healing, now_ns, repair, size);
    }
}

bool cairn_client_heal_say(cairn_client *client, uint64_t now_ns) {
    cairn_message message = {.kind = CAIRN_MESSAGE_DOUBT};
    const uint8_t *bytes = NULL;
    size_t size = 0;
    if (!heals(client) || !cairn_healing_doubt(&client->healing, now_ns, &message.doubt)) {
        return false;
    }
    message.doubt.world = client->world;
    const cairn_status status = cairn_message_encode(client->encoder, &message, &bytes, &size);
    CAIRN_ASSERT(status == CAIRN_OK);
    if (cairn_link_send_reliable(client->link, bytes, size) != CAIRN_OK) {
        return false; // no room: later
    }
    cairn_healing_said(&client->healing, now_ns, size);
    return true;
}

static void note_words(cairn_client *client, const char *words) {
    const char *own = client->healing.words;
    snprintf(client->mode_words, sizeof client->mode_words, "%s", own != NULL ? own : words);
}

void cairn_client_heal_welcome(cairn_client *client, const cairn_welcome *welcome) {
    if (welcome->mode != cairn_client_mode_asked(client)) {
        note_words(client, welcome->words);
    }
}

// The server serves snapshots from now on. Other modes are not changed to.
void cairn_client_heal_notice(cairn_client *client, const cairn_notice *notice) {
    const bool down = notice->kind == CAIRN_NOTICE_MODE && notice->value == CAIRN_MODE_INTERPOLATE;
    if (!down || !cairn_client_simulates(client)) {
        return;
    }
    note_words(client, notice->words);
    client->mode = CAIRN_MODE_INTERPOLATE;
    client->report_due = false;
    client->renewing = false;
}

void cairn_client_set_passport(cairn_client *client, const cairn_passport *passport) {
    client->passport = *passport;
}

uint32_t cairn_client_heal_ticks_max(const cairn_client *client, uint32_t ticks_max) {
    const bool behind = client->healing.phase == CAIRN_HEALING_CATCHING;
    return behind && ticks_max < CAIRN_HEALING_AGAIN_TICKS ? CAIRN_HEALING_AGAIN_TICKS : ticks_max;
}

void cairn_client_heal_statistics(const cairn_client *client, cairn_client_statistics *out) {
    out->heals = client->healing.count;
    out->heal_bytes = client->healing.bytes;
    out->repairs_refused = client->healing.repairs_refused;
}

uint64_t cairn_client_heal_report(cairn_client *client, uint64_t usual) {
    cairn_healing *healing = &client->healing;
    if (!heals(client) || healing->phase == CAIRN_HEALING_REST) {
        return usual;
    }
    const bool first = healing->report;
    healing->report = false;
    return first ? 1 : UINT32_MAX;
}

bool cairn_client_damage(cairn_client *client, uint32_t body) {
    cairn_timeline *timeline = &client->lockstep.timeline;
    const cairn_vec3 push = {.x = 0.5f, .y = 2.0f};
    if (!cairn_client_simulates(client) || !timeline->adopted ||
        cairn_body_set_velocity(timeline->world, body, push, (cairn_vec3){0}) != CAIRN_OK) {
        return false;
    }
    cairn_state_ring_clear(&timeline->states);
    return true;
}

cairn_client_mode cairn_client_mode_now(const cairn_client *client) {
    return (cairn_client_mode)client->mode;
}

const char *cairn_client_mode_words(const cairn_client *client) {
    return client->mode_words;
}

uint32_t cairn_client_heals(const cairn_client *client, cairn_client_heal *out, uint32_t capacity) {
    const cairn_healing *healing = &client->healing;
    uint64_t count =
        healing->count < CAIRN_CLIENT_HEALS_HELD ? healing->count : CAIRN_CLIENT_HEALS_HELD;
    count = count < capacity ? count : capacity;
    for (uint64_t i = 0; i < count; ++i) {
        out[i] = healing->records[(healing->count - count + i) % CAIRN_CLIENT_HEALS_HELD];
    }
    return (uint32_t)count;
}

const char *cairn_client_heal_cause_text(cairn_client_heal_cause cause) {
    static const char *const texts[CAIRN_HEALED_BY_COUNT] = {
        [CAIRN_HEALED_BY_STEPPING] = "stepped again from the last sound tick",
        [CAIRN_HEALED_BY_ELEMENTS] = "told by the server what differs",
        [CAIRN_HEALED_BY_STATE] = "sent the whole state",
    };
    return (uint32_t)cause < CAIRN_HEALED_BY_COUNT ? texts[cause] : "unknown";
}
