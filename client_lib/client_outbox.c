// SPDX-License-Identifier: MIT
#include "base/assert.h"
#include "client_lib/client_parts.h"
#include <cairn/version.h>

// Own roots since the last report that make a new one due; a report repeats as many before them,
// so a lost one costs nothing.
#define REPORT_ROOTS 8
// With nothing to tell, acknowledgements still go out this often.
#define QUIET_NS_MAX 100000000

_Static_assert(2 * REPORT_ROOTS <= CAIRN_ROOTS_PER_MESSAGE_MAX, "a report fits");

static bool encode(
    cairn_client *client, const cairn_message *message, const uint8_t **bytes, size_t *size) {
    cairn_status status = cairn_message_encode(client->encoder, message, bytes, size);
    CAIRN_ASSERT(status == CAIRN_OK);
    return status == CAIRN_OK;
}

static void say_hello(cairn_client *client, uint32_t mode) {
    const cairn_rules *rules =
        client->config.rules != NULL ? client->config.rules : &cairn_rules_sandbox;
    bool simulates = cairn_mode_simulates(mode);
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_HELLO,
        .hello = {.protocol_version = CAIRN_PROTOCOL_VERSION,
            .sim_version = CAIRN_SIM_VERSION,
            .mode = mode,
            .spectator = client->config.spectator,
            .rules_name = simulates ? rules->name : "",
            .rules_version = simulates ? rules->version : 0,
            .room = client->room,
            .build = cairn_build_text(),
            .passport_faults = client->passport.faults,
            .passport_hash = client->passport.hash},
    };
    const uint8_t *bytes = NULL;
    size_t size = 0;
    if (encode(client, &message, &bytes, &size)) {
        cairn_status status = cairn_link_send_reliable(client->link, bytes, size);
        CAIRN_ASSERT(status == CAIRN_OK);
    }
}

void cairn_client_send_hello(cairn_client *client) {
    say_hello(client, client->mode);
}

void cairn_client_request_snapshots(cairn_client *client) {
    say_hello(client, CAIRN_MODE_INTERPOLATE);
}

// While the server is silent it may have stopped, and inputs for ticks it has not come to would be
// what the player held long before they are stepped.
#define SILENT_NS_MAX 2.5e8
#define SILENT_TICKS_MAX 8

static double newest_input(const cairn_client *client, double tick, double lead_ticks) {
    const double silent = SILENT_NS_MAX / client->clock.tick_ns;
    const double most = (double)client->clock.newest_tick + lead_ticks +
                        (silent > SILENT_TICKS_MAX ? silent : SILENT_TICKS_MAX);
    return cairn_client_simulates(client) && tick > most ? most : tick;
}

void cairn_client_make_inputs(cairn_client *client, uint64_t now_ns) {
    bool has_slot = client->slot != CAIRN_SLOT_NONE;
    if (has_slot && client->clock.running && client->state == CAIRN_CLIENT_PLAYING) {
        double lead_ticks = client->input_lead.lead_ns / client->clock.tick_ns;
        double tick = cairn_clock_tick(&client->clock, now_ns) + lead_ticks;
        tick = newest_input(client, tick, lead_ticks);
        client->input_due |= cairn_inputs_make(&client->inputs, (uint64_t)tick) > 0;
    }
    client->input_due |= now_ns - client->input_sent_ns >= QUIET_NS_MAX;
}

void cairn_client_note_report(cairn_client *client) {
    const uint64_t newest = cairn_lockstep_root_tick(&client->lockstep);
    bool stepped = newest > client->lockstep.timeline.first;
    const uint64_t roots = cairn_client_heal_report(client, REPORT_ROOTS);
    client->report_due |= stepped && newest >= client->report_tick + roots;
}

static void say(cairn_client *client, const cairn_message *message) {
    const uint8_t *bytes = NULL;
    size_t size = 0;
    if (encode(client, message, &bytes, &size)) {
        cairn_status status = cairn_link_send_unreliable(client->link, bytes, size);
        CAIRN_ASSERT(status == CAIRN_OK);
    }
}

static void say_inputs(cairn_client *client, uint64_t now_ns) {
    cairn_wire_input inputs[CAIRN_INPUTS_PER_MESSAGE_MAX];
    uint32_t count = cairn_inputs_collect(&client->inputs, inputs);
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_INPUT,
        .input = {.world_epoch = client->world_epoch,
            .snapshot_acknowledged = client->snapshot_acknowledged,
            .ticks_acknowledged = client->requesting_full_state
                                      ? client->full_state_from
                                      : client->lockstep.timeline.confirmed_end,
            .sent_at_us = now_ns / 1000,
            .shown_tick = client->shown.tick_from,
            .shown_span = client->shown.span <= CAIRN_SHOWN_SPAN_MAX ? client->shown.span : 0,
            .shown_share = client->shown.share,
            .inputs = inputs,
            .input_count = count},
    };
    client->statistics.inputs_sent += count;
    client->input_sent_ns = now_ns;
    say(client, &message);
}

static void say_roots(cairn_client *client) {
    cairn_wire_root roots[CAIRN_ROOTS_PER_MESSAGE_MAX];
    const cairn_lockstep *lockstep = &client->lockstep;
    const uint64_t newest = cairn_lockstep_root_tick(lockstep);
    uint64_t fresh = newest - client->report_tick + REPORT_ROOTS;
    uint32_t wanted =
        fresh < CAIRN_ROOTS_PER_MESSAGE_MAX ? (uint32_t)fresh : CAIRN_ROOTS_PER_MESSAGE_MAX;
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_ROOT_REPORT,
        .root_report = {.world_epoch = client->world_epoch,
            .roots = roots,
            .root_count = cairn_lockstep_roots(lockstep, roots, wanted)},
    };
    client->report_tick = newest;
    say(client, &message);
}

bool cairn_client_outbox_next(cairn_client *client, uint64_t now_ns) {
    if (client->welcomed && cairn_client_heal_say(client, now_ns)) {
        return true;
    }
    if (client->welcomed && cairn_client_capsule_say(client)) {
        return true;
    }
    if (client->welcomed && client->input_due) {
        client->input_due = false;
        say_inputs(client, now_ns);
        return true;
    }
    if (client->welcomed && client->report_due) {
        client->report_due = false;
        say_roots(client);
        return true;
    }
    return false;
}
