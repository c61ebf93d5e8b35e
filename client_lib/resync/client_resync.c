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
    lockstep->state_ticks += CAIRN_RESYNC_STATES_MAX;
    lockstep->state_memory = client->config.rollback_memory_max;
    client->desync = (cairn_desync){.found = see_to};
    return cairn_client_resync_create(
        &client->resync, lockstep, predicts ? &client->predict : NULL);
}

void cairn_client_heal_clear(cairn_client *client) {
    cairn_client_resync_clear(&client->resync);
    client->mode_text[0] = '\0';
    client->snapshots_requested = false;
}

void cairn_client_heal_advance(cairn_client *client, uint64_t now_ns) {
    if (!heals(client)) {
        return;
    }
    cairn_client_resync_advance(&client->resync, now_ns, client->tick_rate_hz);
    if (client->resync.words != NULL && !client->snapshots_requested) {
        client->snapshots_requested = true;
        cairn_client_request_snapshots(client);
    }
}

void cairn_client_heal_loaded(cairn_client *client, uint64_t now_ns, size_t size) {
    if (heals(client)) {
        cairn_client_resync_state_loaded(&client->resync, now_ns, size);
    }
}

void cairn_client_heal_repair(
    cairn_client *client, uint64_t now_ns, const cairn_resync_response *repair, size_t size) {
    if (heals(client)) {
        cairn_client_resync_take(&client->resync, now_ns, repair, size);
    }
}

bool cairn_client_heal_say(cairn_client *client, uint64_t now_ns) {
    cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_REQUEST};
    const uint8_t *bytes = NULL;
    size_t size = 0;
    if (!heals(client) ||
        !cairn_client_resync_request(&client->resync, now_ns, &message.resync_request)) {
        return false;
    }
    message.resync_request.world_epoch = client->world_epoch;
    const cairn_status status = cairn_message_encode(client->encoder, &message, &bytes, &size);
    CAIRN_ASSERT(status == CAIRN_OK);
    if (cairn_link_send_reliable(client->link, bytes, size) != CAIRN_OK) {
        return false; // no room: later
    }
    cairn_client_resync_sent(&client->resync, now_ns, size);
    return true;
}

static void note_words(cairn_client *client, const char *words) {
    const char *own = client->resync.words;
    snprintf(client->mode_text, sizeof client->mode_text, "%s", own != NULL ? own : words);
}

void cairn_client_heal_welcome(cairn_client *client, const cairn_welcome *welcome) {
    if (welcome->mode != cairn_client_mode_asked(client)) {
        note_words(client, welcome->words);
    }
}

// The server serves snapshots from now on. Other modes are not changed to.
void cairn_client_heal_notice(cairn_client *client, const cairn_event_message *notice) {
    const bool down = notice->kind == CAIRN_EVENT_MODE && notice->value == CAIRN_MODE_INTERPOLATE;
    if (!down || !cairn_client_simulates(client)) {
        return;
    }
    note_words(client, notice->words);
    client->mode = CAIRN_MODE_INTERPOLATE;
    client->report_due = false;
    client->requesting_full_state = false;
}

void cairn_client_set_passport(cairn_client *client, const cairn_passport *passport) {
    client->passport = *passport;
}

uint32_t cairn_client_heal_ticks_max(const cairn_client *client, uint32_t ticks_max) {
    const bool behind = client->resync.phase == CAIRN_RESYNC_CATCHING_UP;
    return behind && ticks_max < CAIRN_RESYNC_CATCH_UP_TICKS ? CAIRN_RESYNC_CATCH_UP_TICKS
                                                             : ticks_max;
}

void cairn_client_heal_statistics(const cairn_client *client, cairn_client_statistics *out) {
    out->heals = client->resync.count;
    out->heal_bytes = client->resync.bytes;
    out->repairs_refused = client->resync.repairs_refused;
}

uint64_t cairn_client_heal_report(cairn_client *client, uint64_t usual) {
    cairn_client_resync *resync = &client->resync;
    if (!heals(client) || resync->phase == CAIRN_RESYNC_IDLE) {
        return usual;
    }
    const bool first = resync->report;
    resync->report = false;
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

const char *cairn_client_mode_text(const cairn_client *client) {
    return client->mode_text;
}

uint32_t cairn_client_resyncs(
    const cairn_client *client, cairn_client_resync_record *out, uint32_t capacity) {
    const cairn_client_resync *resync = &client->resync;
    uint64_t count =
        resync->count < CAIRN_CLIENT_RESYNCS_HELD ? resync->count : CAIRN_CLIENT_RESYNCS_HELD;
    count = count < capacity ? count : capacity;
    for (uint64_t i = 0; i < count; ++i) {
        out[i] = resync->records[(resync->count - count + i) % CAIRN_CLIENT_RESYNCS_HELD];
    }
    return (uint32_t)count;
}

const char *cairn_client_resync_cause_text(cairn_client_resync_cause cause) {
    static const char *const texts[CAIRN_RESYNC_CAUSE_COUNT] = {
        [CAIRN_RESYNC_BY_STEPPING] = "stepped again from the last sound tick",
        [CAIRN_RESYNC_BY_ELEMENTS] = "told by the server what differs",
        [CAIRN_RESYNC_BY_STATE] = "sent the whole state",
    };
    return (uint32_t)cause < CAIRN_RESYNC_CAUSE_COUNT ? texts[cause] : "unknown";
}
