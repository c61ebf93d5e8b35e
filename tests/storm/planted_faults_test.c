// SPDX-License-Identifier: MIT
// A storm that cannot fail proves nothing: each oracle is tested with an endpoint that is really
// broken. The linker redirects calls between the files of the libraries to the functions below
// (--wrap, see CMakeLists.txt); all but the one planted pass the call on.
#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/line_ring.h"
#include "client_lib/clock/input_lead.h"
#include "client_lib/simulate/rollback.h"
#include "client_lib/simulate/timeline.h"
#include "compress/frame.h"
#include "net/link.h"
#include "net/netcode_client.h"
#include "net/netcode_server.h"
#include "recording/player.h"
#include "recording/recorder.h"
#include "schema/codec.h"
#include "server/core/room_recording.h"
#include "server/replicate/parts.h"
#include "server/replicate/state_transfer.h"
#include "server/resync/resync.h"
#include "server/room/tick_scheduler.h"
#include "server/session/payload_budget.h"
#include "storm/disk.h"
#include "tests/kit/watched.h"
#include "tests/storm/allocated.h"
#include <cairn/storm.h>

typedef enum fault {
    WORLD_NUDGED,
    SNAPSHOT_BIT_FLIPPED,
    ROOT_REPORT_FALSIFIED,
    REPAIR_REQUEST_SKIPPED,
    HELLO_WITH_OTHER_MODE,
    DATAGRAM_LOST_UNCOUNTED,
    CONNECTION_ENDED,
    WELCOME_SKIPPED,
    STATE_SKIPPED,
    TICKS_SKIPPED,
    ROLLBACK_CAUSE_SWAPPED,
    TICKS_STEPPED_AGAIN,
    MEMORY_LEAKED,
    WOKEN_AT_ONCE,
    NETWORK_FLOODED,
    SCHEDULE_SLOW,
    LIARS_STOP_THEIR_ROOM,
    STATE_LATE,
    HANDSHAKE_SLOW,
    TICKS_RARE,
    SNAPSHOTS_RARE,
    INPUTS_TOO_LATE,
    TICKS_LOST_UNCOUNTED,
    RECORDED_ROOT_WRONG,
    PUBLISHED_ROOT_WRONG,
    FLOOD_READ,
    TICKS_SENT_OFTEN,
    OPEN_FAILURE_SWALLOWED,
    SHORT_WRITE_TAKEN_FOR_WHOLE,
    REPLACEMENT_NUDGED,
    SOUGHT_WORLD_NUDGED,
    LOG_LINE_DROPPED,
    LOG_LINES_MOVED,
    BODY_NOT_SENT,
    BODY_SENT_ONCE,
    BODY_NEVER_LEAVES,
    NO_FAULT
} fault;

static fault planted = NO_FAULT;
static uint64_t calls; // of the function with the fault, in this storm
static cairn_encoder *encoder;

// Whether the planted fault strikes: after that many calls, so that the endpoint works first.
static bool strikes(fault which, uint64_t after) {
    return planted == which && ++calls > after;
}

// The redirected functions: WRAP(type, name, arguments) declares both, REAL(name) calls the other.
#define WRAP(type, name, ...)                                                                      \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)
#define REAL(name) __real_##name

static void nudge(cairn_world *world) {
    cairn_body_state bodies[2];
    if (cairn_world_bodies(world, bodies, 2) > 1) {
        bodies[1].linear_velocity.x += 0.001f;
        cairn_body_set_velocity(
            world, bodies[1].id, bodies[1].linear_velocity, bodies[1].angular_velocity);
    }
}

WRAP(cairn_timeline_verdict, cairn_timeline_step, cairn_timeline *timeline) {
    const cairn_timeline_verdict verdict = REAL(cairn_timeline_step)(timeline);
    if (verdict == CAIRN_TIMELINE_STEPPED && strikes(WORLD_NUDGED, 40)) {
        nudge(timeline->world);
    }
    const uint64_t stepped = timeline->head_tick - 1;
    for (uint32_t again = 0;
         again < 20 && verdict == CAIRN_TIMELINE_STEPPED && strikes(TICKS_STEPPED_AGAIN, 0);
         again++) {
        if (cairn_timeline_rewind(timeline, stepped) == CAIRN_TIMELINE_REWOUND) {
            REAL(cairn_timeline_step)(timeline);
        }
    }
    return verdict;
}

WRAP(cairn_snapshot_body, cairn_snapshot_frame_body, const cairn_snapshot_frame *frame,
    uint32_t index) {
    cairn_snapshot_body body = REAL(cairn_snapshot_frame_body)(frame, index);
    if (index == 0 && strikes(SNAPSHOT_BIT_FLIPPED, 40)) {
        uint32_t word;
        memcpy(&word, &body.position.y, sizeof word);
        word ^= 1;
        memcpy(&body.position.y, &word, sizeof word);
    }
    return body;
}

static cairn_message_kind kind_of(
    const uint8_t *bytes, size_t size, cairn_direction direction, cairn_message *out) {
    return cairn_message_decode(bytes, size, direction, out) == CAIRN_DECODE_OK
               ? (cairn_message_kind)out->kind
               : CAIRN_MESSAGE_NONE;
}

static void encode_again(const cairn_message *message, const uint8_t **bytes, size_t *size) {
    assert_int_equal(cairn_message_encode(encoder, message, bytes, size), CAIRN_OK);
}

WRAP(cairn_status, cairn_link_send_reliable, cairn_link *link, const uint8_t *bytes, size_t size) {
    cairn_message message;
    if (planted == REPAIR_REQUEST_SKIPPED &&
        kind_of(bytes, size, CAIRN_TO_SERVER, &message) == CAIRN_MESSAGE_RESYNC_REQUEST) {
        return CAIRN_OK;
    }
    if (planted == WELCOME_SKIPPED &&
        kind_of(bytes, size, CAIRN_TO_CLIENT, &message) == CAIRN_MESSAGE_WELCOME) {
        return CAIRN_OK;
    }
    if (planted == STATE_SKIPPED &&
        kind_of(bytes, size, CAIRN_TO_CLIENT, &message) == CAIRN_MESSAGE_STATE) {
        return CAIRN_OK;
    }
    if (planted == HELLO_WITH_OTHER_MODE &&
        kind_of(bytes, size, CAIRN_TO_SERVER, &message) == CAIRN_MESSAGE_HELLO) {
        message.hello.mode = CAIRN_MODE_INTERPOLATE;
        encode_again(&message, &bytes, &size);
    }
    return REAL(cairn_link_send_reliable)(link, bytes, size);
}

WRAP(
    cairn_status, cairn_link_send_unreliable, cairn_link *link, const uint8_t *bytes, size_t size) {
    cairn_message message;
    if ((planted == TICKS_RARE || planted == SNAPSHOTS_RARE) &&
        kind_of(bytes, size, CAIRN_TO_CLIENT, &message) ==
            (planted == TICKS_RARE ? CAIRN_MESSAGE_TICKS : CAIRN_MESSAGE_SNAPSHOT) &&
        ++calls > 100 && calls % 20 != 0) {
        return CAIRN_OK;
    }
    if (planted == TICKS_SKIPPED &&
        kind_of(bytes, size, CAIRN_TO_CLIENT, &message) == CAIRN_MESSAGE_TICKS &&
        strikes(TICKS_SKIPPED, 100)) {
        return CAIRN_OK;
    }
    if (planted == ROOT_REPORT_FALSIFIED &&
        kind_of(bytes, size, CAIRN_TO_SERVER, &message) == CAIRN_MESSAGE_ROOT_REPORT &&
        message.root_report.root_count > 0) {
        cairn_wire_root root = message.root_report.roots[0];
        root.lo ^= 1;
        message.root_report.roots = &root;
        message.root_report.root_count = 1;
        encode_again(&message, &bytes, &size);
    }
    return REAL(cairn_link_send_unreliable)(link, bytes, size);
}

WRAP(void, cairn_netcode_client_receive, cairn_netcode_client *client, uint64_t now_ns,
    const cairn_address *from, const uint8_t *bytes, size_t size) {
    if (!strikes(DATAGRAM_LOST_UNCOUNTED, 100)) {
        REAL(cairn_netcode_client_receive)(client, now_ns, from, bytes, size);
    }
}

WRAP(cairn_netcode_client_state, cairn_netcode_client_state_read,
    const cairn_netcode_client *client) {
    return strikes(CONNECTION_ENDED, 1000) ? CAIRN_NETCODE_STATE_CONNECTION_TIMED_OUT
                                           : REAL(cairn_netcode_client_state_read)(client);
}

WRAP(void, cairn_rollback_log_add, cairn_rollback_log *log, const cairn_client_rollback *rollback) {
    cairn_client_rollback blamed = *rollback;
    if (planted == ROLLBACK_CAUSE_SWAPPED) {
        blamed.cause = CAIRN_ROLLBACK_OPERATOR;
    }
    REAL(cairn_rollback_log_add)(log, &blamed);
}

// Reachable, so that a leak checker leaves it alone.
typedef struct leaked {
    struct leaked *next;
    uint8_t bytes[1024];
} leaked;
static leaked *leaks;

WRAP(void, cairn_client_advance, cairn_client *client, uint64_t now_ns) {
    if (planted == MEMORY_LEAKED) {
        leaked *leak = malloc(sizeof *leak);
        assert_non_null(leak);
        leak->next = leaks;
        leaks = leak;
    }
    REAL(cairn_client_advance)(client, now_ns);
}

WRAP(uint64_t, cairn_client_deadline_ns, const cairn_client *client) {
    return strikes(WOKEN_AT_ONCE, 300) ? 0 : REAL(cairn_client_deadline_ns)(client);
}

WRAP(size_t, cairn_client_send, cairn_client *client, uint64_t now_ns, uint8_t *bytes) {
    const size_t size = REAL(cairn_client_send)(client, now_ns, bytes);
    const bool floods = size == 0 && planted == NETWORK_FLOODED && ++calls < 20000;
    return floods ? 1 : size;
}

WRAP(cairn_tick_scheduler, cairn_tick_scheduler_of, uint64_t start_ns, uint32_t rate_hz,
    uint32_t catch_up_ticks_max, uint64_t tick) {
    cairn_tick_scheduler scheduler =
        REAL(cairn_tick_scheduler_of)(start_ns, rate_hz, catch_up_ticks_max, tick);
    if (planted == SCHEDULE_SLOW) {
        cairn_tick_scheduler_restart(&scheduler, start_ns, 950);
    }
    return scheduler;
}

WRAP(void, cairn_server_resync_root_differed, cairn_server_resync *resync, cairn_session *session,
    uint64_t tick, cairn_hash128 root) {
    REAL(cairn_server_resync_root_differed)(resync, session, tick, root);
    if (planted == LIARS_STOP_THEIR_ROOM) {
        cairn_tick_scheduler_restart(
            &session->room->scheduler, resync->context->now_ns + 100000000, CAIRN_TIME_SPEED_REAL);
    }
}

WRAP(void, cairn_state_transfer_begin, const cairn_server_context *context, cairn_session *session,
    cairn_state_source *source, cairn_state_transfer_progress *progress,
    const cairn_state_demand *demand) {
    if (planted != STATE_LATE || context->now_ns % (8 * CAIRN_NS_PER_S) > 7 * CAIRN_NS_PER_S) {
        REAL(cairn_state_transfer_begin)(context, session, source, progress, demand);
    }
}

WRAP(size_t, cairn_netcode_server_next_datagram, cairn_netcode_server *server, cairn_address *to,
    uint8_t *bytes) {
    size_t size = REAL(cairn_netcode_server_next_datagram)(server, to, bytes);
    while (size > 0 && planted == HANDSHAKE_SLOW && ++calls % 16 != 0) {
        size = REAL(cairn_netcode_server_next_datagram)(server, to, bytes);
    }
    return size;
}

// Of the bodies with this id index, which a scene of a floor and some bodies has.
WRAP(bool, cairn_view_is_due, const cairn_view *view, const cairn_view_member *member,
    const cairn_room_interest *interest, uint64_t late) {
    const bool other = cairn_id_index(member->id) % 4 != 3;
    const bool omitted =
        !other && !member->leaving &&
        (planted == BODY_NOT_SENT || (planted == BODY_SENT_ONCE && member->acked[0] != 0));
    return !omitted && REAL(cairn_view_is_due)(view, member, interest, late);
}

WRAP(void, cairn_part_leave, cairn_part_writer *writer, uint32_t index) {
    if (planted != BODY_NEVER_LEAVES) {
        REAL(cairn_part_leave)(writer, index);
    }
}

WRAP(void, cairn_input_lead_feedback, cairn_input_lead *lead, uint64_t now_ns, uint64_t rtt_ns,
    uint64_t jitter_ns, double clock_ahead_ns, const cairn_wire_timing *timing) {
    REAL(cairn_input_lead_feedback)(lead, now_ns, rtt_ns, jitter_ns, clock_ahead_ns, timing);
    if (planted == INPUTS_TOO_LATE) {
        lead->lead_ns = 0;
    }
}

WRAP(cairn_recording_counters, cairn_room_recording_counters,
    const cairn_room_recording *recording) {
    cairn_recording_counters counters = REAL(cairn_room_recording_counters)(recording);
    if (planted == TICKS_LOST_UNCOUNTED) {
        counters.ticks_lost -= counters.ticks_lost / 2;
    }
    return counters;
}

WRAP(void, cairn_recorder_tick, cairn_recorder *recorder, uint64_t tick,
    const cairn_command *commands, uint32_t command_count, cairn_hash128 hash) {
    hash.lo ^= strikes(RECORDED_ROOT_WRONG, 100) ? 1 : 0;
    REAL(cairn_recorder_tick)(recorder, tick, commands, command_count, hash);
}

WRAP(void, cairn_room_recording_add_job, cairn_room_recording *recording, const cairn_room *room) {
    cairn_hash128 *root = &room->job.ticks[0].root;
    const bool wrong = recording == room->broadcast && strikes(PUBLISHED_ROOT_WRONG, 100);
    root->lo ^= wrong ? 1 : 0;
    REAL(cairn_room_recording_add_job)(recording, room);
    root->lo ^= wrong ? 1 : 0;
}

WRAP(bool, cairn_payload_budget_spend, cairn_payload_budget *budget, uint64_t now_ns,
    uint32_t per_s) {
    return REAL(cairn_payload_budget_spend)(budget, now_ns, per_s) || planted == FLOOD_READ;
}

// For one client, while others wait.
WRAP(size_t, cairn_session_send_unreliable_bytes, cairn_session *session, const uint8_t *bytes,
    size_t size) {
    for (uint32_t again = 0; again < 500 && strikes(TICKS_SENT_OFTEN, 100); again++) {
        REAL(cairn_session_send_unreliable_bytes)(session, bytes, size);
    }
    return REAL(cairn_session_send_unreliable_bytes)(session, bytes, size);
}

WRAP(bool, cairn_disk_record, cairn_disk *disk, const char *room, const uint8_t *bytes,
    size_t size) {
    return REAL(cairn_disk_record)(disk, room, bytes, size) ||
           (planted == OPEN_FAILURE_SWALLOWED && disk->descriptors_ns != 0);
}

// As if the call said nothing of how much it took.
static const cairn_file_calls *disk_calls;
static int64_t write_claiming_all(void *user, int file, const void *bytes, size_t size) {
    return disk_calls->write(user, file, bytes, size) > 0 ? (int64_t)size : -1;
}

WRAP(bool, cairn_record_file_append, cairn_record_file *file, const char *wanted,
    const uint8_t *bytes, size_t size, bool *named) {
    cairn_file_calls claiming = *file->calls;
    disk_calls = file->calls;
    claiming.write = write_claiming_all;
    file->calls = planted == SHORT_WRITE_TAKEN_FOR_WHOLE ? &claiming : disk_calls;
    const bool written = REAL(cairn_record_file_append)(file, wanted, bytes, size, named);
    file->calls = disk_calls;
    return written;
}

// The world is a copy for the recording.
WRAP(void, cairn_recorder_replace, cairn_recorder *recorder, const cairn_world *world) {
    if (planted == REPLACEMENT_NUDGED) {
        nudge((cairn_world *)(uintptr_t)world);
    }
    REAL(cairn_recorder_replace)(recorder, world);
}

WRAP(cairn_world *, cairn_player_world_at, const uint8_t *bytes, size_t size, uint64_t tick) {
    cairn_world *world = REAL(cairn_player_world_at)(bytes, size, tick);
    if (world != NULL && planted == SOUGHT_WORLD_NUDGED) {
        nudge(world);
    }
    return world;
}

WRAP(bool, cairn_line_ring_put, cairn_line_ring *ring, const char *line, size_t size) {
    if (strikes(LOG_LINE_DROPPED, 10)) {
        return true;
    }
    const bool put = REAL(cairn_line_ring_put)(ring, line, size);
    // Later lines that fit go in, and the count of those before them comes too late.
    if (!put && planted == LOG_LINES_MOVED && size <= ring->capacity - ring->size) {
        const uint64_t lost_waiting = ring->lost_waiting;
        ring->lost_waiting = 0;
        (void)REAL(cairn_line_ring_put)(ring, line, size);
        ring->lost_waiting = lost_waiting;
    }
    return put;
}

// Storms of seeds 1 to 12 find the fault, and as what it is. A log that is full while its reader
// stands still is rarer.
static void expect_found(
    fault which, uint32_t modes, uint64_t seconds, cairn_storm_finding expected) {
    const uint64_t seeds = which == LOG_LINES_MOVED ? 60 : 12;
    cairn_storm_config config = cairn_storm_config_default();
    cairn_storm_report report = {0};
    config.modes = modes;
    config.seconds = seconds;
    config.view_permille = which >= BODY_NOT_SENT ? 1000 : config.view_permille;
    config.memory_bytes = allocated_bytes;
    assert_int_equal(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &encoder), CAIRN_OK);
    planted = which;
    for (config.seed = 1; config.seed <= seeds && report.finding == CAIRN_STORM_FOUND_NOTHING;
         config.seed++) {
        calls = 0;
        assert_true(cairn_storm_run(&config, &report));
    }
    planted = NO_FAULT;
    cairn_encoder_destroy(encoder);
    while (leaks != NULL) {
        leaked *next = leaks->next;
        free(leaks);
        leaks = next;
    }
    print_message("           seed %d at %d ms: %s\n", (int)config.seed - 1,
        (int)(report.found_ns / 1000000), report.words);
    assert_string_equal(
        cairn_storm_finding_name(report.finding), cairn_storm_finding_name(expected));
}

#define ONLY(mode) (1u << CAIRN_CLIENT_##mode)
#define PLANTED(name, ...)                                                                         \
    TEST(name) {                                                                                   \
        if (!test_is_in_share(__LINE__ / 2)) {                                                     \
            skip();                                                                                \
        }                                                                                          \
        expect_found(__VA_ARGS__);                                                                 \
    }

PLANTED("a nudged lockstep world is found as world", WORLD_NUDGED, ONLY(LOCKSTEP), 30,
    CAIRN_STORM_FOUND_WORLD)
PLANTED("a flipped bit in a snapshot is found as snapshot", SNAPSHOT_BIT_FLIPPED, ONLY(INTERPOLATE),
    30, CAIRN_STORM_FOUND_SNAPSHOT)
PLANTED("a client that reports wrong roots is found as alarm", ROOT_REPORT_FALSIFIED,
    ONLY(LOCKSTEP), 30, CAIRN_STORM_FOUND_ALARM)
PLANTED("a client that never sends a repair request is found as unhealed", REPAIR_REQUEST_SKIPPED,
    ONLY(HEAL), 60, CAIRN_STORM_FOUND_UNHEALED)
PLANTED("a client that asks for another mode is found as mode", HELLO_WITH_OTHER_MODE, ONLY(HEAL),
    30, CAIRN_STORM_FOUND_MODE)
PLANTED("a datagram that netcode loses without counting it is found as count",
    DATAGRAM_LOST_UNCOUNTED, CAIRN_STORM_ALL_MODES, 30, CAIRN_STORM_FOUND_COUNT)
PLANTED("a connection that ends by itself is found as broken", CONNECTION_ENDED,
    CAIRN_STORM_ALL_MODES, 30, CAIRN_STORM_FOUND_BROKEN)
PLANTED("a server that never welcomes is found as join", WELCOME_SKIPPED, CAIRN_STORM_ALL_MODES, 40,
    CAIRN_STORM_FOUND_JOIN)
PLANTED("a server that sends no state to predicting clients is found as join", STATE_SKIPPED,
    ONLY(PREDICT), 40, CAIRN_STORM_FOUND_JOIN)
PLANTED("a server that stops sending ticks is found as lag", TICKS_SKIPPED, ONLY(LOCKSTEP), 30,
    CAIRN_STORM_FOUND_LAG)
PLANTED("a swapped rollback cause is found as rollback", ROLLBACK_CAUSE_SWAPPED, ONLY(PREDICT), 30,
    CAIRN_STORM_FOUND_ROLLBACK)
PLANTED("a client that steps each tick twenty times is found as work", TICKS_STEPPED_AGAIN,
    ONLY(PREDICT), 40, CAIRN_STORM_FOUND_WORK)
#if !KIT_WATCHED
PLANTED("a client that leaks a kilobyte in each turn is found as memory", MEMORY_LEAKED,
    CAIRN_STORM_ALL_MODES, 30, CAIRN_STORM_FOUND_MEMORY)
#endif

PLANTED("a client that asks to be woken at once is found as spin", WOKEN_AT_ONCE,
    CAIRN_STORM_ALL_MODES, 30, CAIRN_STORM_FOUND_SPIN)
PLANTED("a client that floods the network is found as network", NETWORK_FLOODED,
    CAIRN_STORM_ALL_MODES, 30, CAIRN_STORM_FOUND_NETWORK)
PLANTED("a room that runs a twentieth too slowly is found as rate", SCHEDULE_SLOW,
    CAIRN_STORM_ALL_MODES, 30, CAIRN_STORM_FOUND_RATE)
PLANTED("a room that waits for each wrong root of a client is found as rate", LIARS_STOP_THEIR_ROOM,
    CAIRN_STORM_ALL_MODES, 60, CAIRN_STORM_FOUND_RATE)
PLANTED("a server that has a state only now and then is found as join", STATE_LATE, ONLY(LOCKSTEP),
    30, CAIRN_STORM_FOUND_JOIN)
PLANTED("a server that answers each sixteenth packet of a handshake is found as join",
    HANDSHAKE_SLOW, CAIRN_STORM_ALL_MODES, 30, CAIRN_STORM_FOUND_JOIN)
PLANTED("ticks that are sent too rarely are found as lag", TICKS_RARE, ONLY(LOCKSTEP), 60,
    CAIRN_STORM_FOUND_LAG)
PLANTED("snapshots that are sent too rarely are found as lag", SNAPSHOTS_RARE, ONLY(INTERPOLATE),
    60, CAIRN_STORM_FOUND_LAG)
PLANTED("inputs that are made too late are found as late", INPUTS_TOO_LATE, ONLY(LOCKSTEP), 60,
    CAIRN_STORM_FOUND_LATE)
PLANTED("ticks that a recording lost and did not count are found as recording",
    TICKS_LOST_UNCOUNTED, CAIRN_STORM_ALL_MODES, 30, CAIRN_STORM_FOUND_RECORDING)
PLANTED("a wrong root in a recording is found as recording", RECORDED_ROOT_WRONG,
    CAIRN_STORM_ALL_MODES, 30, CAIRN_STORM_FOUND_RECORDING)
PLANTED("a wrong root in a segment is found as recording", PUBLISHED_ROOT_WRONG,
    CAIRN_STORM_ALL_MODES, 30, CAIRN_STORM_FOUND_RECORDING)
PLANTED("a server that reads all that a client floods it with is found as turn", FLOOD_READ,
    CAIRN_STORM_ALL_MODES, 60, CAIRN_STORM_FOUND_TURN)
PLANTED("a server that makes a message for one client again and again is found as turn",
    TICKS_SENT_OFTEN, ONLY(LOCKSTEP), 30, CAIRN_STORM_FOUND_TURN)
PLANTED("ticks whose file could not be opened and that are not counted are found as recording",
    OPEN_FAILURE_SWALLOWED, CAIRN_STORM_ALL_MODES, 60, CAIRN_STORM_FOUND_RECORDING)
PLANTED("a short write that is taken for a whole one is found as recording",
    SHORT_WRITE_TAKEN_FOR_WHOLE, CAIRN_STORM_ALL_MODES, 60, CAIRN_STORM_FOUND_RECORDING)
PLANTED("a world that replaced another and is recorded as a third is found as recording",
    REPLACEMENT_NUDGED, CAIRN_STORM_ALL_MODES, 60, CAIRN_STORM_FOUND_RECORDING)
PLANTED("a tick that a seek finds in a recording with another world is found as recording",
    SOUGHT_WORLD_NUDGED, CAIRN_STORM_ALL_MODES, 60, CAIRN_STORM_FOUND_RECORDING)
PLANTED("a line of the log that is lost and not counted is found as log", LOG_LINE_DROPPED,
    CAIRN_STORM_ALL_MODES, 30, CAIRN_STORM_FOUND_LOG)
PLANTED("lines of the log that overtake the count of lost ones are found as log", LOG_LINES_MOVED,
    CAIRN_STORM_ALL_MODES, 60, CAIRN_STORM_FOUND_LOG)
PLANTED("a body that a view lacks is found as snapshot", BODY_NOT_SENT, ONLY(INTERPOLATE), 30,
    CAIRN_STORM_FOUND_SNAPSHOT)
PLANTED("a body of a view that is sent once only is found as snapshot", BODY_SENT_ONCE,
    ONLY(INTERPOLATE), 30, CAIRN_STORM_FOUND_SNAPSHOT)
PLANTED("a body that never leaves a view is found as snapshot", BODY_NEVER_LEAVES,
    ONLY(INTERPOLATE), 30, CAIRN_STORM_FOUND_SNAPSHOT)
