// SPDX-License-Identifier: MIT
// What a client sends: HELLO, inputs, root reports and resync requests.
#include "client_lib/client_parts.h"

#include "base/assert.h"
#include "bridge/packed_inputs.h"
#include <cairn/rules_registry.h>
#include <cairn/version.h>

// Own roots since the last report that make a new one due, while the world differs from the
// server's and while it does not. A report of a difference repeats as many before them, so one lost
// report costs nothing, and the server sees up to which tick both agreed.
#define ROOTS_PER_REPORT 8
#define ROOTS_PER_AGREEMENT 64
// Inputs that a message repeats, and how much longer they may make it, on a path that loses nothing
// and on one that loses; how likely all copies of an input may be lost.
#define REPEATED_INPUTS 3
#define REPEATED_SIZE 4
#define REPEATED_SIZE_LOSING 20
#define ALL_LOST 1e-4f
// An input message is sent at least this often: it carries acknowledgements.
#define QUIET_NS_MAX 100000000
// A server that is silent may have stopped. An input for a tick far ahead would be outdated when
// the server steps that tick, so inputs are made at most this far ahead.
#define SILENT_NS_MAX 2.5e8
#define SILENT_TICKS_MAX 8

#define ROOTS_SENT_MAX (2 * ROOTS_PER_REPORT)
_Static_assert(ROOTS_SENT_MAX <= CAIRN_ROOTS_PER_MESSAGE_MAX &&
                   CAIRN_TICKS_PER_KEY <= CAIRN_ROOTS_PER_MESSAGE_MAX,
    "a report fits");

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
            .velocities = client->config.velocities,
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
        const uint64_t roots = cairn_client_resync_roots_per_report(&client->resync,
            client->lockstep.timeline.differs ? ROOTS_PER_REPORT : ROOTS_PER_AGREEMENT);
        outbox->root_report_due |= stepped && newest >= outbox->root_report_tick + roots;
    }
}

// How many inputs a message repeats beside those that were not sent before: few while the path
// loses nothing, otherwise as many as make it unlikely that all copies of one are lost.
static uint32_t repeated_inputs(const cairn_client *client) {
    const float loss = cairn_link_path_read(client->connection.link).loss;
    uint32_t count = REPEATED_INPUTS;
    float all_lost = loss * loss * loss * loss;
    for (;
         loss >= CAIRN_LINK_LOSS_MIN && all_lost > ALL_LOST && count < CAIRN_INPUTS_PER_MESSAGE_MAX;
         count++) {
        all_lost *= loss;
    }
    return count < client->outbox.inputs.redundancy ? count : client->outbox.inputs.redundancy;
}

static size_t write_inputs(const cairn_client *client, uint32_t count_max, bool reports_shown,
    uint8_t bytes[CAIRN_INPUT_PAYLOAD_SIZE_MAX]) {
    const cairn_client_outbox *outbox = &client->outbox;
    const cairn_client_sample *shown = &client->view.shown;
    const cairn_lockstep *lockstep = &client->lockstep;
    const uint64_t held = cairn_lockstep_acknowledged(lockstep);
    cairn_wire_input inputs[CAIRN_INPUT_PARTS_MAX];
    cairn_input_head head = {.number = outbox->number,
        .world_epoch = client->session.world_epoch,
        .snapshot_acknowledged = outbox->snapshot_acknowledged,
        .ticks_acknowledged = held,
        .early = cairn_early_ticks_mask(&lockstep->early, held),
        .reports_shown = reports_shown,
        .shown_tick = shown->tick_from,
        .shown_span = shown->span <= CAIRN_SHOWN_SPAN_MAX ? shown->span : 0,
        .shown_share = shown->share,
        .input_count = cairn_inputs_collect(&outbox->inputs, count_max, inputs),
        .parts = outbox->inputs.parts};
    head.first_tick = head.input_count > 0 ? outbox->inputs.next_tick - head.input_count : 0;
    cairn_tick_commands base = {.count = 0};
    if (lockstep->held_end == held && head.input_count > 0) {
        base = cairn_input_of_slot(
            (cairn_tick_commands){lockstep->held, lockstep->held_count}, client->session.slot);
    }
    head.based = base.count > 0;
    return cairn_input_payload_write(&head, inputs, base, bytes);
}

static void send_inputs(cairn_client *client, uint64_t now_ns) {
    cairn_client_outbox *outbox = &client->outbox;
    const cairn_inputs *inputs = &outbox->inputs;
    uint8_t bytes[2][CAIRN_INPUT_PAYLOAD_SIZE_MAX];
    // If inputs started again further back, all are new.
    const uint64_t since = inputs->next_tick - outbox->inputs_sent_end;
    const uint32_t fresh = since < inputs->count ? (uint32_t)since : inputs->count;
    // What was shown is reported once for each input, and as long as something is or was shown.
    const bool shows = client->view.shown.span != 0;
    const bool reports_shown =
        (shows || outbox->reported_shown) && (fresh > 0 || inputs->count == 0);
    const float loss = cairn_link_path_read(client->connection.link).loss;
    const size_t size_new = write_inputs(client, fresh, reports_shown, bytes[0]);
    const size_t size_max =
        size_new + (loss < CAIRN_LINK_LOSS_MIN ? REPEATED_SIZE : REPEATED_SIZE_LOSING);
    cairn_message message = {.kind = CAIRN_MESSAGE_INPUT,
        .input = {.payload = bytes[0], .payload_size = (uint32_t)size_new}};
    for (uint32_t more = repeated_inputs(client); more > 0; more /= 2) {
        const size_t size = write_inputs(client, fresh + more, reports_shown, bytes[1]);
        if (size <= size_max) {
            message.input.payload = bytes[1];
            message.input.payload_size = (uint32_t)size;
            break;
        }
    }
    outbox->number = (uint8_t)((outbox->number + 1) % CAIRN_INPUT_NUMBERS);
    outbox->reported_shown = reports_shown ? shows : outbox->reported_shown;
    outbox->inputs_sent += fresh;
    outbox->inputs_sent_end = inputs->next_tick;
    outbox->input_sent_ns = now_ns;
    outbox->input_due = false;
    cairn_connection_send_unreliable(&client->connection, &message);
}

static void send_roots(cairn_client *client) {
    cairn_client_outbox *outbox = &client->outbox;
    cairn_wire_root roots[CAIRN_ROOTS_PER_MESSAGE_MAX];
    const uint64_t newest = cairn_timeline_confirmed_tick(&client->lockstep.timeline);
    CAIRN_ASSERT(newest >= outbox->root_report_tick);
    const cairn_timeline *timeline = &client->lockstep.timeline;
    const uint64_t wanted =
        timeline->differs ? newest - outbox->root_report_tick + ROOTS_PER_REPORT : 1;
    // A report that waited for the path would name dozens of roots of one difference.
    const uint32_t most = wanted < ROOTS_SENT_MAX ? (uint32_t)wanted : ROOTS_SENT_MAX;
    const uint32_t count = cairn_lockstep_roots(
        &client->lockstep, roots, timeline->follows ? CAIRN_TICKS_PER_KEY : most);
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_ROOT_REPORT,
        .root_report = {.world_epoch = client->session.world_epoch,
            .roots = roots,
            .root_count = count,
            .rollbacks = client->predict.rollback_log.count,
            .rollback_ticks = client->predict.rollback_log.ticks},
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
