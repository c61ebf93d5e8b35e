// SPDX-License-Identifier: MIT
// What a client sends: HELLO, inputs, root reports and resync requests.
#include "client_lib/client_parts.h"

#include "base/assert.h"
#include <cairn/rules_registry.h>
#include <cairn/version.h>

// Own roots since the last report that make a new one due. A report repeats as many before them, so
// one lost report costs nothing.
#define ROOTS_PER_REPORT 8
// An input message is sent at least this often: it carries acknowledgements.
#define QUIET_NS_MAX 100000000
// A server that is silent may have stopped. An input for a tick far ahead would be outdated when
// the server steps that tick, so inputs are made at most this far ahead.
#define SILENT_NS_MAX 2.5e8
#define SILENT_TICKS_MAX 8

#define ROOTS_SENT_MAX (2 * ROOTS_PER_REPORT)
_Static_assert(ROOTS_SENT_MAX <= CAIRN_ROOTS_PER_MESSAGE_MAX, "a report fits");

uint32_t cairn_client_mode_asked(const cairn_client *client) {
    CAIRN_ASSERT(client->config.mode <= CAIRN_CLIENT_HEAL);
    static const uint32_t modes[] = {
        [CAIRN_CLIENT_INTERPOLATE] = CAIRN_MODE_INTERPOLATE,
        [CAIRN_CLIENT_LOCKSTEP] = CAIRN_MODE_LOCKSTEP,
        [CAIRN_CLIENT_PREDICT] = CAIRN_MODE_PREDICT,
        [CAIRN_CLIENT_HEAL] = CAIRN_MODE_HEAL,
    };
    return modes[client->config.mode];
}

const cairn_rules *cairn_client_rules(const cairn_client *client) {
    return client->config.rules != NULL ? client->config.rules : &cairn_rules_sandbox;
}

bool cairn_client_send_hello(cairn_client *client, uint32_t mode) {
    const cairn_rules *rules = cairn_client_rules(client);
    const bool simulates = cairn_mode_simulates(mode);
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_HELLO,
        .hello = {.protocol_version = CAIRN_PROTOCOL_VERSION,
            .sim_version = CAIRN_SIM_VERSION,
            .mode = mode,
            .spectator = client->config.spectator,
            .rules_name = simulates ? rules->name : "",
            .rules_version = simulates ? rules->version : 0,
            .rules_digest = simulates ? cairn_rules_digest(rules) : 0,
            .room = client->room,
            .build = cairn_build_text(),
            .passport_faults = client->passport.faults,
            .passport_hash = client->passport.hash},
    };
    return cairn_connection_send_reliable(&client->connection, &message) > 0;
}

static double last_input_tick(const cairn_client *client, uint64_t now_ns) {
    CAIRN_ASSERT(client->timing.clock.tick_ns > 0);
    const cairn_client_timing *timing = &client->timing;
    const double lead_ticks = timing->input_lead.lead_ns / timing->clock.tick_ns;
    const double tick = cairn_clock_tick(&timing->clock, now_ns) + lead_ticks;
    const double silent = SILENT_NS_MAX / timing->clock.tick_ns;
    const double most = (double)timing->clock.newest_tick + lead_ticks +
                        (silent > SILENT_TICKS_MAX ? silent : SILENT_TICKS_MAX);
    return cairn_client_simulates(client) && tick > most ? most : tick;
}

void cairn_client_make_inputs(cairn_client *client, uint64_t now_ns) {
    cairn_client_outbox *outbox = &client->outbox;
    if (client->session.slot != CAIRN_SLOT_NONE && client->timing.clock.running &&
        client->connection.state == CAIRN_CLIENT_PLAYING) {
        const uint64_t tick = (uint64_t)last_input_tick(client, now_ns);
        outbox->input_due |= cairn_inputs_make(&outbox->inputs, tick) > 0;
    }
    outbox->input_due |= now_ns - outbox->input_sent_ns >= QUIET_NS_MAX;
}

void cairn_client_note_roots(cairn_client *client) {
    cairn_client_outbox *outbox = &client->outbox;
    if (cairn_client_simulates(client)) {
        const uint64_t newest = cairn_timeline_confirmed_tick(&client->lockstep.timeline);
        const bool stepped = newest > client->lockstep.timeline.first;
        const uint64_t roots =
            cairn_client_resync_roots_per_report(&client->resync, ROOTS_PER_REPORT);
        outbox->root_report_due |= stepped && newest >= outbox->root_report_tick + roots;
    }
}

static void send_inputs(cairn_client *client, uint64_t now_ns) {
    cairn_client_outbox *outbox = &client->outbox;
    const cairn_client_sample *shown = &client->view.shown;
    cairn_wire_input inputs[CAIRN_INPUTS_PER_MESSAGE_MAX];
    const uint32_t count = cairn_inputs_collect(&outbox->inputs, inputs);
    CAIRN_ASSERT(count <= CAIRN_INPUTS_PER_MESSAGE_MAX);
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_INPUT,
        .input = {.world_epoch = client->session.world_epoch,
            .snapshot_acknowledged = outbox->snapshot_acknowledged,
            .ticks_acknowledged = client->lockstep.timeline.confirmed_end,
            .sent_at_us = now_ns / 1000,
            .shown_tick = shown->tick_from,
            .shown_span = shown->span <= CAIRN_SHOWN_SPAN_MAX ? shown->span : 0,
            .shown_share = shown->share,
            .inputs = inputs,
            .input_count = count,
            .extra_parts = outbox->inputs.parts - 1},
    };
    outbox->inputs_sent += count / outbox->inputs.parts;
    outbox->input_sent_ns = now_ns;
    outbox->input_due = false;
    cairn_connection_send_unreliable(&client->connection, &message);
}

static void send_roots(cairn_client *client) {
    cairn_client_outbox *outbox = &client->outbox;
    cairn_wire_root roots[CAIRN_ROOTS_PER_MESSAGE_MAX];
    const uint64_t newest = cairn_timeline_confirmed_tick(&client->lockstep.timeline);
    CAIRN_ASSERT(newest >= outbox->root_report_tick);
    const uint64_t wanted = newest - outbox->root_report_tick + ROOTS_PER_REPORT;
    // A report that waited for the path would name dozens of roots of one difference.
    const uint32_t count = cairn_lockstep_roots(
        &client->lockstep, roots, wanted < ROOTS_SENT_MAX ? (uint32_t)wanted : ROOTS_SENT_MAX);
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_ROOT_REPORT,
        .root_report = {.world_epoch = client->session.world_epoch,
            .roots = roots,
            .root_count = count},
    };
    outbox->root_report_tick = newest;
    outbox->root_report_due = false;
    cairn_connection_send_unreliable(&client->connection, &message);
}

// Returns false if no request is due, or if the reliable stream is full; a due request stays due.
static bool send_resync_request(cairn_client *client, uint64_t now_ns) {
    cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_REQUEST};
    const cairn_resync_purpose purpose =
        cairn_client_resync_next_request(&client->resync, now_ns, &message.resync_request);
    if (purpose == CAIRN_RESYNC_PURPOSE_COUNT) {
        return false;
    }
    message.resync_request.world_epoch = client->session.world_epoch;
    const size_t size = cairn_connection_send_reliable(&client->connection, &message);
    if (size > 0) {
        cairn_client_resync_request_sent(&client->resync, now_ns, purpose, size);
    }
    return size > 0;
}

bool cairn_client_outbox_next(cairn_client *client, uint64_t now_ns) {
    if (!client->session.welcomed) {
        return false;
    }
    if (cairn_client_simulates(client) && send_resync_request(client, now_ns)) {
        return true;
    }
    // What the path has no room for stays due, and is fresher when it leaves.
    if (!cairn_link_unreliable_ready(client->connection.link, now_ns)) {
        return false;
    }
    if (client->outbox.input_due) {
        send_inputs(client, now_ns);
        return true;
    }
    if (client->outbox.root_report_due) {
        send_roots(client);
        return true;
    }
    return false;
}
