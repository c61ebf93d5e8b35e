// SPDX-License-Identifier: MIT
#include "storm/state.h"

#include <inttypes.h>

#include "server/session/payload_budget.h"

// Bounds the work that the server's thread does for one client in one turn, because meanwhile it
// serves no other client and steps no room. The work is counted, not timed, so every machine finds
// the same.

// So many bytes count as much as a message.
static const uint64_t unit_bytes = 1024;

static cairn_storm_turn counted(const cairn_session *session, uint64_t now_ns) {
    return (cairn_storm_turn){.at_ns = now_ns,
        .read = session->work.payloads_read,
        .sent = session->work.payloads_sent,
        .made = session->work.messages_made + session->work.bytes_made / unit_bytes};
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

// The most that a client may make the server read since `before`: its budget was full and has been
// filled since, by time and by what it was sent.
static uint64_t read_bound(const cairn_storm *s, const cairn_session *session,
    const cairn_storm_turn *before, const cairn_storm_turn *now) {
    const uint64_t rate_hz = larger(s->system.config.tick_rate_hz, 60); // 60: in no room yet
    const bool is_operator = (session->rights & CAIRN_RIGHT_OPERATOR) != 0;
    const uint64_t ticks = rate_hz * (s->operated ? 2 : 1); // an operator lets its room run faster
    const uint64_t per_s = cairn_payload_budget_per_s(ticks, is_operator);
    const uint64_t passed_ns = now->at_ns - before->at_ns;
    return per_s + per_s * passed_ns / CAIRN_NS_PER_S + now->sent - before->sent + 1;
}

static void check_read(cairn_storm *s, const cairn_session *session, const cairn_storm_turn *before,
    const cairn_storm_turn *now) {
    const uint64_t read = now->read - before->read;
    const uint64_t bound = read_bound(s, session, before, now);
    if (read > bound) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_TURN,
            "client id %" PRIu64 ": the server read %" PRIu64 " payloads of it in %" PRIu64
            " ms, at most %" PRIu64 " are in its budget",
            session->client_id, read, (now->at_ns - before->at_ns) / 1000000, bound);
    }
}

static void check_session(cairn_storm *s, uint32_t client, uint64_t now_ns) {
    const cairn_session *session = &s->system.server->sessions[client];
    const cairn_storm_turn before = s->turns[client];
    const cairn_storm_turn now = counted(session, now_ns);
    const uint64_t made = now.made - before.made;
    cairn_storm_report *report = &s->report;
    s->turns[client] = now;
    report->turn_read_max = larger(report->turn_read_max, now.read - before.read);
    report->turn_made_max = larger(report->turn_made_max, made);
    check_read(s, session, &before, &now);
    if (made > CAIRN_STORM_TURN_MADE) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_TURN,
            "client id %" PRIu64 ": one turn of the server made %" PRIu64
            " messages and kilobytes for it, at most %d are expected",
            session->client_id, made, CAIRN_STORM_TURN_MADE);
    }
}

// A client may have several turns in a second.
static void check_second(cairn_storm *s, uint32_t client, uint64_t now_ns) {
    const cairn_session *session = &s->system.server->sessions[client];
    const cairn_storm_turn before = s->turn_seconds[client];
    const cairn_storm_turn now = counted(session, now_ns);
    cairn_storm_report *report = &s->report;
    s->turn_seconds[client] = now;
    report->second_read_max = larger(report->second_read_max, now.read - before.read);
    report->second_made_max = larger(report->second_made_max, now.made - before.made);
    check_read(s, session, &before, &now);
}

void cairn_storm_check_turn(cairn_storm *s) {
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const bool second = now_ns >= s->turn_second_ns + CAIRN_NS_PER_S;
    for (uint32_t i = 0; i < s->system.config.clients_max; i++) {
        check_session(s, i, now_ns);
        if (second) {
            check_second(s, i, now_ns);
        }
    }
    s->turn_second_ns = second ? now_ns : s->turn_second_ns;
}

void cairn_storm_forget_turns(cairn_storm *s) {
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    for (uint32_t i = 0; i < CAIRN_STORM_SESSIONS_MAX; i++) {
        s->turns[i] = s->turn_seconds[i] = (cairn_storm_turn){.at_ns = now_ns};
    }
    s->turn_second_ns = now_ns;
}
