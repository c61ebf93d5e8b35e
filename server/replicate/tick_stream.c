// SPDX-License-Identifier: MIT
#include "server/replicate/tick_stream.h"

#include <string.h>

#include "base/assert.h"

// Records of an unreliable message, which fits one payload beside its other fields. One new tick
// and one lost tick always fit.
#define RECORDS_SIZE_MAX 1000
#define FORM_SIZE 1 // of a message, before its payload
#define MESSAGE_SIZE_MAX (FORM_SIZE + CAIRN_TICKS_HEAD_SIZE_MAX + 4 * RECORDS_SIZE_MAX)
// Records of a message in the reliable stream; one tick always fits.
#define QUEUED_SIZE_MAX 8000
// Ticks in the reliable stream cannot be taken back, so a client must have room for them and for
// their commands (client_lib/simulate/lockstep.h), which it keeps in blocks.
#define QUEUED_TICKS_MAX 384
#define QUEUED_COMMANDS_MAX 8192
#define COMMAND_BLOCK 16
// Ticks that are overdue go there when so many are missing; the newest are left out.
#define QUEUED_TICKS_FROM 48
#define QUEUED_TICKS_LEFT 16
// Assumed round trip time before it was measured.
#define RTT_NS_DEFAULT UINT64_C(300000000)
// Repeated ticks may be so much longer than the new ones, which have the datagram's other bytes.
#define DATAGRAM_SIZE 40

// Which ticks go into a message.
typedef struct tick_plan {
    cairn_tick_records *records;
    const cairn_command_log *log;
    cairn_ticks_sent *sent;
    uint64_t first; // of the client's state: coded alone
    uint64_t from;  // the ticks that may be in it
    uint64_t end;
    uint64_t chosen; // bit i: tick from + i
    size_t size;     // of their records
} tick_plan;

void cairn_tick_stream_acknowledge(
    cairn_ticks_sent *sent, const cairn_room *room, uint64_t acknowledged, uint64_t early) {
    const uint64_t end = cairn_command_log_end(room->command_log);
    if (acknowledged < sent->acknowledged || acknowledged > end) {
        return;
    }
    const uint64_t ahead = end - acknowledged; // of which the first one is missing
    sent->acknowledged = acknowledged;
    sent->early = ahead <= 1 ? 0 : ahead > 64 ? early : early & ((UINT64_C(1) << (ahead - 1)) - 1);
}

static bool is_held(const cairn_ticks_sent *sent, uint64_t tick) {
    const uint64_t bit = tick - sent->acknowledged - 1;
    return tick < sent->acknowledged ||
           (tick > sent->acknowledged && bit < 64 && (sent->early >> bit & 1) != 0);
}

static cairn_tick_record record_of(const tick_plan *plan, uint64_t tick) {
    return cairn_tick_record_of(plan->records, plan->log, tick, tick == plan->first);
}

// False: it does not fit `size_max`, and is not the first of its kind.
static bool choose(tick_plan *plan, uint64_t tick, size_t size_max, bool always) {
    const uint64_t bit = UINT64_C(1) << (tick - plan->from);
    const size_t size = (plan->chosen & bit) != 0 ? 0
                                                  : record_of(plan, tick).commands_size +
                                                        (cairn_tick_is_key(tick) ? 20 : 6);
    const size_t limit =
        always ? CAIRN_TICK_MESSAGE_SIZE_MAX - CAIRN_TICKS_HEAD_SIZE_MAX - FORM_SIZE : size_max;
    if (plan->size + size > limit) {
        return false;
    }
    plan->chosen |= bit;
    plan->size += size;
    return true;
}

static void choose_new(tick_plan *plan) {
    uint64_t tick = plan->end;
    while (tick > plan->from && tick > plan->sent->sent_end &&
           choose(plan, tick - 1, RECORDS_SIZE_MAX, tick == plan->end)) {
        tick -= 1;
    }
}

// A tick was lost if the client holds one that was sent later, or if its acknowledgement is
// overdue.
static void choose_lost(
    tick_plan *plan, uint64_t now_ns, uint64_t tick_ns, const cairn_link_path *link) {
    const cairn_ticks_sent *sent = plan->sent;
    const uint64_t rtt_ns = link->rtt_ns > 0 ? link->rtt_ns + 4 * link->jitter_ns : RTT_NS_DEFAULT;
    uint64_t held_ns = 0;
    for (uint64_t tick = plan->from; tick < plan->end; ++tick) {
        const uint64_t at_ns = sent->sent_ns[tick % CAIRN_TICKS_IN_FLIGHT];
        held_ns = is_held(sent, tick) && at_ns > held_ns ? at_ns : held_ns;
    }
    bool fits = true;
    bool any = false;
    for (uint64_t tick = plan->from; fits && tick < plan->end; ++tick) {
        const uint64_t at_ns = sent->sent_ns[tick % CAIRN_TICKS_IN_FLIGHT];
        const bool lost = tick >= sent->sent_end || at_ns + link->jitter_ns < held_ns ||
                          now_ns - at_ns > rtt_ns + 3 * tick_ns;
        if (lost && !is_held(sent, tick)) {
            fits = choose(plan, tick, RECORDS_SIZE_MAX, !any);
            any = true;
        }
    }
}

// On a path that loses, each tick is in as many messages as make it unlikely that all are lost, as
// far as that does not double the bytes.
static void choose_repeated(tick_plan *plan, float loss) {
    if (loss < CAIRN_LINK_LOSS_MIN || plan->size == 0) {
        return;
    }
    const size_t size_max = 2 * plan->size + DATAGRAM_SIZE;
    float all_lost = loss;
    for (uint64_t tick = plan->end - 1; tick > plan->from && all_lost > 1e-3f; --tick) {
        if (!is_held(plan->sent, tick - 1) &&
            !choose(
                plan, tick - 1, size_max < RECORDS_SIZE_MAX ? size_max : RECORDS_SIZE_MAX, false)) {
            return;
        }
        all_lost *= loss;
    }
}

static void write_records(const tick_plan *plan, cairn_ticks_writer *writer) {
    for (uint64_t rest = plan->chosen; rest != 0; rest &= rest - 1) {
        const cairn_tick_record record =
            record_of(plan, plan->from + (uint64_t)__builtin_ctzll(rest));
        cairn_ticks_write(writer, &record);
    }
}

// The same, once for all clients that are sent the same ticks.
static void write_shared_records(const tick_plan *plan, cairn_ticks_writer *writer) {
    struct cairn_shared_records *shared = &plan->records->shared;
    const uint32_t skipped = (uint32_t)__builtin_ctzll(plan->chosen);
    const uint64_t begin = plan->from + skipped;
    const uint64_t ticks = plan->chosen >> skipped;
    const uint64_t place = plan->first - begin;
    const uint64_t alone =
        plan->first >= begin && place < 64 && (ticks >> place & 1) != 0 ? plan->first : UINT64_MAX;
    if (shared->begin == begin && shared->ticks == ticks && shared->alone == alone) {
        cairn_write_bytes(&writer->bytes, shared->bytes, shared->size);
        return;
    }
    const size_t head_size = writer->bytes.at;
    write_records(plan, writer);
    const size_t size = writer->bytes.at - head_size;
    if (writer->bytes.ok && size <= sizeof shared->bytes) {
        shared->begin = begin;
        shared->ticks = ticks;
        shared->alone = alone;
        shared->size = (uint32_t)size;
        memcpy(shared->bytes, writer->bytes.bytes + head_size, size);
    }
}

// Writes and sends the chosen ticks. False: the message has not left.
static bool send_chosen(const cairn_server_context *context, cairn_session *session,
    const tick_plan *plan, bool reliable) {
    uint8_t small[MESSAGE_SIZE_MAX];
    uint8_t *bytes = small;
    size_t capacity = sizeof small;
    if (plan->size + CAIRN_TICKS_HEAD_SIZE_MAX + FORM_SIZE > sizeof small) {
        bytes = plan->records->message;
        capacity = CAIRN_TICK_MESSAGE_SIZE_MAX;
    }
    const cairn_ticks_head head = {
        .first_tick = plan->from + (uint64_t)__builtin_ctzll(plan->chosen),
        .world_epoch = session->world_epoch,
        .timing = cairn_input_timing_report(&session->input_timing, session->room, session->slot)};
    cairn_ticks_writer writer =
        cairn_ticks_writer_of(&head, bytes + FORM_SIZE, capacity - FORM_SIZE);
    if (reliable) {
        write_records(plan, &writer);
    } else {
        write_shared_records(plan, &writer);
    }
    CAIRN_ASSERT(writer.bytes.ok);
    const cairn_message message = {.kind = CAIRN_MESSAGE_TICKS,
        .ticks = {.payload = bytes + FORM_SIZE, .payload_size = (uint32_t)writer.bytes.at}};
    size_t sent = 0;
    if (reliable) {
        sent = cairn_session_send_reliable(session, context->encoder, &message);
    } else {
        cairn_ticks_message_finish(bytes, FORM_SIZE + writer.bytes.at);
        sent = cairn_session_send_unreliable_bytes(session, bytes, FORM_SIZE + writer.bytes.at);
    }
    session->room->statistics.ticks_messages_sent += sent > 0 ? 1 : 0;
    return sent > 0;
}

// Up to which tick, `end` at most, a client that lacks the ticks from `missing` on has room.
static uint64_t end_of_room(const cairn_command_log *log, uint64_t missing, uint64_t end) {
    uint64_t tick = missing;
    uint32_t commands = 0;
    while (tick < end && tick - missing < QUEUED_TICKS_MAX && commands <= QUEUED_COMMANDS_MAX) {
        const uint32_t count = cairn_command_log_command_count(log, tick);
        commands += (count + COMMAND_BLOCK - 1) / COMMAND_BLOCK * COMMAND_BLOCK;
        tick += commands <= QUEUED_COMMANDS_MAX ? 1 : 0;
    }
    return tick;
}

// Queues overdue ticks below `end`, as far as the stream has room and a client is sure to have it.
static void queue_ticks(const cairn_server_context *context, cairn_session *session, tick_plan plan,
    uint64_t missing, uint64_t end) {
    cairn_ticks_sent *sent = plan.sent;
    uint64_t from = sent->queued > missing ? sent->queued : missing;
    CAIRN_ASSERT(sent->queued <= cairn_command_log_end(plan.log));
    end = end_of_room(plan.log, missing, end);
    while (from < end) {
        plan.from = from;
        plan.chosen = 0;
        plan.size = 0;
        while (from < end && from < plan.from + 64 &&
               choose(&plan, from, QUEUED_SIZE_MAX, from == plan.from)) {
            from += 1;
        }
        if (cairn_link_reliable_room(session->link) < plan.size + CAIRN_SESSION_ENVELOPE_SIZE ||
            !send_chosen(context, session, &plan, true)) {
            return;
        }
        sent->queued = from;
    }
}

void cairn_tick_stream_send(const cairn_server_context *context, cairn_session *session,
    cairn_tick_records *records, cairn_ticks_sent *sent, uint64_t first, uint64_t missing) {
    const cairn_command_log *log = session->room->command_log;
    const uint64_t end = cairn_command_log_end(log);
    if (missing >= end) {
        return; // no tick was stepped since the client's state
    }
    const cairn_link_path path = cairn_link_path_read(session->link);
    const cairn_link_path *link = &path;
    const uint64_t tick_ns = CAIRN_NS_PER_S / session->room->settings.tick_rate_hz;
    tick_plan plan = {.records = records,
        .log = log,
        .sent = sent,
        .first = first,
        .from = end - missing > CAIRN_TICKS_IN_FLIGHT ? end - CAIRN_TICKS_IN_FLIGHT : missing,
        .end = end};
    const uint64_t rtt_ns = link->rtt_ns > 0 ? link->rtt_ns + 4 * link->jitter_ns : RTT_NS_DEFAULT;
    if (end - missing > QUEUED_TICKS_FROM && (end - missing) * tick_ns > rtt_ns + 4 * tick_ns) {
        queue_ticks(context, session, plan, missing, end - QUEUED_TICKS_LEFT);
    }
    sent->sent_end = sent->sent_end > missing ? sent->sent_end : missing;
    plan.from = sent->queued > plan.from ? sent->queued : plan.from;
    choose_new(&plan);
    choose_lost(&plan, context->now_ns, tick_ns, link);
    choose_repeated(&plan, link->loss);
    if (plan.chosen != 0 &&
        cairn_session_may_send_unreliable(session, context->now_ns, sent->queued > missing) &&
        send_chosen(context, session, &plan, false)) {
        for (uint64_t rest = plan.chosen; rest != 0; rest &= rest - 1) {
            const uint64_t tick = plan.from + (uint64_t)__builtin_ctzll(rest);
            sent->sent_ns[tick % CAIRN_TICKS_IN_FLIGHT] = context->now_ns;
        }
        sent->sent_end = end;
    }
}
