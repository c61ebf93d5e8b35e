// SPDX-License-Identifier: MIT
#include "server/replicate/tick_stream.h"

#include "base/assert.h"

// Ticks and commands of a message that fits one payload beside its other fields, and of one that
// fits three.
#define ONE_PAYLOAD_SIZE 1000
#define THREE_PAYLOADS_SIZE 2800
// Ticks in the reliable stream cannot be taken back, so a client must have room for them.
#define QUEUED_TICKS_MAX 384
// Assumed round trip time before it was measured.
#define RTT_NS_DEFAULT UINT64_C(300000000)

// A message holds about this much at most; one tick always fits.
#define TICKS_MAX 64
#define COMMANDS_MAX CAIRN_INBOX_COMMANDS_MAX

static size_t size_of_ticks(uint32_t tick_count, uint32_t command_count) {
    return tick_count * (sizeof(cairn_wire_tick) + sizeof(uint64_t)) +
           command_count * sizeof(cairn_command);
}

// The first of the last ticks that fit `size`: at least one tick, none before `missing`.
static uint64_t first_tick_that_fits(const cairn_command_log *log, uint64_t missing, size_t size) {
    const uint64_t end = cairn_command_log_end(log);
    uint64_t first = end;
    size_t used = 0;
    while (first > missing) {
        used += size_of_ticks(1, cairn_command_log_command_count(log, first - 1));
        if (used > size && first < end) {
            break;
        }
        first--;
    }
    CAIRN_ASSERT(first >= missing && first <= end);
    return first;
}

// Sends ticks from `from` on, below `end`, as many as one message holds. Returns how many; 0: the
// reliable stream has no room.
static uint32_t send_ticks(const cairn_server_context *context, cairn_session *session,
    uint64_t from, uint64_t end, bool reliable) {
    cairn_wire_tick ticks[TICKS_MAX];
    uint64_t digests[TICKS_MAX];
    cairn_command commands[COMMANDS_MAX];
    cairn_command_log_span span = {
        .ticks = ticks,
        .digests = digests,
        .tick_capacity = end - from < TICKS_MAX ? (uint32_t)(end - from) : TICKS_MAX,
        .commands = commands,
        .command_capacity = COMMANDS_MAX,
    };
    cairn_command_log_read(session->room->command_log, from, &span);
    CAIRN_ASSERT(span.tick_count > 0);
    const size_t size =
        size_of_ticks(span.tick_count, span.command_count) + CAIRN_SESSION_ENVELOPE_SIZE;
    if (reliable && cairn_link_reliable_room(session->link) < size) {
        return 0;
    }
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_TICKS,
        .ticks = {.world_epoch = session->world_epoch,
            .timing =
                cairn_input_timing_report(&session->input_timing, session->room, session->slot),
            .ticks = span.ticks,
            .tick_count = span.tick_count,
            .commands = span.commands,
            .command_count = span.command_count,
            .digests = span.digests,
            .digest_count = span.tick_count},
    };
    const size_t sent = reliable
                            ? cairn_session_send_reliable(session, context->encoder, &message)
                            : cairn_session_send_unreliable(session, context->encoder, &message);
    session->room->statistics.ticks_messages_sent += sent > 0 ? 1 : 0;
    return sent > 0 ? span.tick_count : 0;
}

// Queues overdue ticks below `end`, as far as the stream has room and a client is sure to have it.
static void queue_ticks(const cairn_server_context *context, cairn_session *session,
    cairn_ticks_sent *sent, uint64_t missing, uint64_t end) {
    uint64_t from = sent->queued > missing ? sent->queued : missing;
    CAIRN_ASSERT(sent->queued <= cairn_command_log_end(session->room->command_log));
    end = end < missing + QUEUED_TICKS_MAX ? end : missing + QUEUED_TICKS_MAX;
    while (from < end) {
        const uint32_t count = send_ticks(context, session, from, end, true);
        if (count == 0) {
            return;
        }
        from += count;
        sent->queued = from;
    }
}

// Every tick is sent until it is acknowledged: each message has all missing ticks, while that is
// short. On a long path at a high rate it is not, and long messages cost much and are lost often.
// Then each message has the newest ticks in one payload, so that several may be lost in a row, and
// older ticks that are overdue go over the reliable stream, once.
void cairn_tick_stream_send(const cairn_server_context *context, cairn_session *session,
    cairn_ticks_sent *sent, uint64_t missing) {
    const cairn_command_log *log = session->room->command_log;
    const uint64_t end = cairn_command_log_end(log);
    if (missing >= end) {
        return; // no tick was stepped since the client's state
    }
    const cairn_link_statistics *link = cairn_link_statistics_read(session->link);
    // On a path of which nothing is known yet, because the client's address has just changed, only
    // as much may leave as came from there.
    const bool known = link->rate_bytes_per_s > 0;
    uint64_t first =
        first_tick_that_fits(log, missing, known ? THREE_PAYLOADS_SIZE : ONE_PAYLOAD_SIZE);
    if (first > missing) {
        first = first_tick_that_fits(log, missing, ONE_PAYLOAD_SIZE);
        // The acknowledgement is overdue after the round trip and some ticks of both sides.
        const uint64_t tick_ns = CAIRN_NS_PER_S / session->room->settings.tick_rate_hz;
        const uint64_t rtt_ns =
            link->rtt_ns > 0 ? link->rtt_ns + 4 * link->jitter_ns : RTT_NS_DEFAULT;
        CAIRN_ASSERT(first <= end);
        if ((end - missing) * tick_ns > rtt_ns + 4 * tick_ns) {
            queue_ticks(context, session, sent, missing, first);
        }
    }
    if (first < end &&
        cairn_session_may_send_unreliable(session, context->now_ns, first > missing)) {
        const uint32_t count = send_ticks(context, session, first, end, false);
        CAIRN_ASSERT(count > 0);
    }
}
