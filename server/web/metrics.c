// SPDX-License-Identifier: MIT
#include "server/web/metrics.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"
#include <cairn/version.h>

// Text that grows. Once memory is short, what is added is lost.
typedef struct text {
    cairn_metrics_text own;
    bool failed;
    bool open; // OpenMetrics, otherwise Prometheus 0.0.4
} text;

static void widen(text *out, size_t size) {
    const size_t capacity = 2 * out->own.capacity + size;
    char *wider = realloc(out->own.bytes, capacity);
    out->failed = wider == NULL;
    out->own.bytes = wider != NULL ? wider : out->own.bytes;
    out->own.capacity = wider != NULL ? capacity : out->own.capacity;
}

static char *room_for(text *out, size_t size) {
    if (out->own.size + size > out->own.capacity && !out->failed) {
        widen(out, size);
    }
    return out->failed ? NULL : out->own.bytes + out->own.size;
}

static void add(text *out, const char *bytes, size_t size) {
    char *at = room_for(out, size);
    if (at != NULL) {
        memcpy(at, bytes, size);
        out->own.size += size;
    }
}

static void add_word(text *out, const char *word) {
    add(out, word, strlen(word));
}

#define DIGITS_MAX 20

// Returns how many digits it wrote to `at`.
static size_t write_number(char at[DIGITS_MAX], uint64_t number) {
    size_t count = 1;
    for (uint64_t rest = number; rest > 9; rest /= 10) {
        ++count;
    }
    for (size_t i = count; i-- > 0; number /= 10) {
        at[i] = (char)('0' + number % 10);
    }
    return count;
}

static void add_number(text *out, uint64_t number) {
    char digits[DIGITS_MAX];
    add(out, digits, write_number(digits, number));
}

// Nanoseconds as seconds, exactly.
static void add_seconds(text *out, uint64_t ns) {
    char fraction[10] = {'.'};
    uint64_t rest = ns % CAIRN_NS_PER_S;
    for (size_t i = sizeof fraction; i-- > 1;) {
        fraction[i] = (char)('0' + rest % 10);
        rest /= 10;
    }
    add_number(out, ns / CAIRN_NS_PER_S);
    add(out, fraction, sizeof fraction);
}

static void add_family(text *out, const char *name, const char *kind, const char *help) {
    // The older format has the name of the samples.
    const char *suffix = !out->open && strcmp(kind, "counter") == 0 ? "_total" : "";
    const char *const parts[] = {
        "# TYPE ", name, suffix, " ", kind, "\n# HELP ", name, suffix, " ", help, "\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        add_word(out, parts[i]);
    }
}

// name{label="value"} with `suffix` at the name; `label` may be NULL. The values are names of rooms
// and phrases, which need no escape.
static void add_name(
    text *out, const char *name, const char *suffix, const char *label, const char *value) {
    add_word(out, name);
    add_word(out, suffix);
    if (label != NULL) {
        const char *const parts[] = {"{", label, "=\"", value, "\"}"};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            add_word(out, parts[i]);
        }
    }
    add(out, " ", 1);
}

typedef struct family {
    const char *name;
    bool counter; // otherwise a gauge
    bool wide;    // the member has 64 bits, otherwise 32
    size_t at;    // of the member in its struct
    const char *help;
} family;

static uint64_t member_of(const void *of, const family *f) {
    uint64_t wide = 0;
    uint32_t narrow = 0;
    if (f->wide) {
        memcpy(&wide, (const char *)of + f->at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, (const char *)of + f->at, sizeof narrow);
    return narrow;
}

#define COUNTER(of, name, member, help)                                                            \
    { name, true, true, offsetof(of, member), help }
#define GAUGE(of, name, member, help)                                                              \
    { name, false, sizeof(((of *)NULL)->member) == 8, offsetof(of, member), help }
#define ROOM_COUNTER(name, member, help)                                                           \
    COUNTER(cairn_server_room_statistics, "cairn_room_" name, member, help)
#define ROOM_GAUGE(name, member, help)                                                             \
    GAUGE(cairn_server_room_statistics, "cairn_room_" name, member, help)

static const family room_families[] = {
    ROOM_GAUGE("tick", tick, "Tick of the room's world."),
    ROOM_GAUGE("clients", clients, "Clients in the room."),
    ROOM_GAUGE("players", players, "Clients with a slot."),
    ROOM_GAUGE("bodies", bodies, "Bodies of the room's world."),
    ROOM_GAUGE("bodies_awake", bodies_awake, "Bodies that do not sleep."),
    ROOM_COUNTER("ticks_stepped", ticks_stepped,
        "Ticks that were stepped, also of worlds that were replaced."),
    ROOM_COUNTER("ticks_skipped", ticks_skipped, "Ticks that overload has skipped."),
    ROOM_COUNTER(
        "ticks_waited", ticks_waited, "Tick times that passed while the room waited for inputs."),
    ROOM_COUNTER("jobs_stuck", jobs_stuck, "Steps that took longer than a second."),
    ROOM_COUNTER("joins", joins, "Clients that joined."),
    ROOM_COUNTER("leaves", leaves, "Clients that left."),
    ROOM_COUNTER("joins_delayed", joins_delayed,
        "Joins of client ids that joined too often to be sent a world at once."),
    ROOM_COUNTER("inputs_taken", inputs_taken, "Inputs of players."),
    ROOM_COUNTER("inputs_late", inputs_late, "Inputs that arrived after their tick."),
    ROOM_COUNTER("inputs_refused", inputs_refused, "Inputs that are not finite or out of range."),
    ROOM_COUNTER("keyframes_sent", keyframes_sent, "Snapshots that need no other."),
    ROOM_COUNTER("deltas_sent", deltas_sent, "Snapshots that continue another."),
    ROOM_COUNTER("snapshot_bytes", snapshot_bytes, "Encoded snapshots."),
    ROOM_COUNTER("sent_bytes", bytes_sent, "Bytes of the datagrams to the room's clients."),
    ROOM_COUNTER("messages_held_back", messages_held_back,
        "Messages for which a client's path had no room."),
    ROOM_COUNTER("tick_messages_sent", ticks_messages_sent, "Messages with confirmed ticks."),
    ROOM_COUNTER(
        "states_encoded", states_encoded, "Full states for clients that join or are repaired."),
    ROOM_COUNTER("state_bytes", state_bytes, "Bytes of full states."),
    ROOM_COUNTER("roots_compared", roots_compared, "Hashes that clients reported."),
    ROOM_COUNTER("roots_differed", roots_differed, "Of these, hashes of another world."),
    ROOM_COUNTER("rollbacks", rollbacks, "Rollbacks that predicting clients reported."),
    ROOM_COUNTER("rollback_ticks", rollback_ticks, "Ticks that these went back, in sum."),
    ROOM_COUNTER("rollback_reports_bounded", rollback_reports_bounded,
        "Reports of more rollbacks than can be true, which were cut."),
    ROOM_COUNTER("resync_requests", resync_requests, "Requests of clients with another world."),
    ROOM_COUNTER("capsules", capsules, "Capsules written about hashes that differed."),
    ROOM_COUNTER("clients_demoted", clients_demoted,
        "Clients that get snapshots because their world differs."),
    ROOM_COUNTER("game_messages_taken", game_messages_taken, "Players' messages for the rules."),
    ROOM_COUNTER("game_messages_sent", game_messages_sent, "Messages of the rules."),
    ROOM_GAUGE("recording_queue_bytes", recording_waiting,
        "Bytes of the recording that wait to be written."),
    ROOM_COUNTER("recording_bytes", recording_bytes, "Bytes of the recording."),
    ROOM_COUNTER("recording_files", recording_segments, "Files of the recording that were begun."),
    ROOM_COUNTER("recording_failures", recording_failures, "Files that could not be written."),
    ROOM_COUNTER("recording_gaps", recording_gaps, "Gaps because too much waited to be written."),
    ROOM_COUNTER("recording_ticks_lost", recording_ticks_lost, "Ticks that are in no file."),
    ROOM_GAUGE("broadcast_queue_bytes", broadcast_waiting,
        "Bytes of the broadcast that wait to be written."),
    ROOM_COUNTER("broadcast_bytes", broadcast_bytes, "Bytes of the broadcast."),
    ROOM_COUNTER("broadcast_segments", broadcast_segments, "Segments that were begun."),
    ROOM_COUNTER("broadcast_failures", broadcast_failures, "Segments that could not be written."),
    ROOM_COUNTER("broadcast_gaps", broadcast_gaps, "Gaps because too much waited to be written."),
    ROOM_COUNTER("broadcast_ticks_lost", broadcast_ticks_lost, "Ticks that are in no segment."),
};

#define SERVER_COUNTER(name, member, help)                                                         \
    COUNTER(cairn_server_statistics, "cairn_" name, member, help)
#define SERVER_GAUGE(name, member, help) GAUGE(cairn_server_statistics, "cairn_" name, member, help)

static const family server_families[] = {
    SERVER_GAUGE("rooms", rooms, "Rooms that exist."),
    SERVER_GAUGE("clients", clients, "Clients that are connected."),
    SERVER_GAUGE(
        "jobs_queued", jobs_out, "Ticks of rooms that threads step, or that wait for one."),
    SERVER_GAUGE("tasks_queued", tasks_out,
        "Pieces of recordings that a thread writes, or that wait for it."),
    SERVER_COUNTER("datagrams_received", datagrams_received, "UDP datagrams from anybody."),
    SERVER_COUNTER("datagrams_sent", datagrams_sent, "UDP datagrams to clients."),
    SERVER_COUNTER("received_bytes", bytes_received, "Bytes of the datagrams received."),
    SERVER_COUNTER("sent_bytes", bytes_sent, "Bytes of the datagrams sent."),
    SERVER_COUNTER("path_changes", path_changes, "Clients that went on from another address."),
    SERVER_COUNTER("protocol_violations", protocol_violations,
        "Messages that were malformed or out of place."),
    SERVER_COUNTER(
        "streams_failed", streams_failed, "Clients disconnected because they took nothing."),
    SERVER_COUNTER("clients_flooding", clients_flooding,
        "Clients disconnected because they sent too many payloads."),
    SERVER_COUNTER("clock_jumps", clock_jumps, "Jumps of the wall clock."),
    SERVER_COUNTER("rooms_refused", rooms_refused, "Rooms that could not be created."),
    SERVER_COUNTER("rooms_on_demand", rooms_on_demand, "Rooms made of a template."),
    SERVER_COUNTER("rooms_idle", rooms_idle, "Rooms closed because nobody was in them."),
    SERVER_COUNTER("rooms_over", rooms_over,
        "Rooms closed because their match was over and the server is to end."),
    SERVER_GAUGE("load_permille", load_permille,
        "Thousandths of one processor that the ticks of all rooms take."),
    SERVER_COUNTER("controls_done", controls_done, "Requests of operators that were carried out."),
};

#define PROCESS_COUNTER(name, member, help) COUNTER(cairn_metrics_process, name, member, help)

static const family process_families[] = {
    PROCESS_COUNTER("cairn_send_waits", io.send_waits, "Times that the socket's buffer was full."),
    PROCESS_COUNTER("cairn_send_errors", io.send_errors, "Datagrams that the system refused."),
    PROCESS_COUNTER("cairn_receive_errors", io.receive_errors, "Errors of the socket."),
    PROCESS_COUNTER("cairn_datagrams_joined", io.datagrams_joined,
        "Datagrams that the system gave together with others of their sender."),
    GAUGE(cairn_metrics_process, "cairn_io_threads", io.io_threads,
        "Threads of sockets; 0: the loop serves its socket itself."),
    PROCESS_COUNTER("cairn_buffer_dropped", io.buffer_dropped,
        "Datagrams that the system dropped, because the buffer of a socket was full."),
    PROCESS_COUNTER("cairn_unknown_dropped", io.unknown_dropped,
        "Datagrams of unknown peers that the system dropped, because their buffer was full."),
    PROCESS_COUNTER("cairn_received_dropped", io.received_dropped,
        "Datagrams that a thread received and the loop did not take in time."),
    PROCESS_COUNTER("cairn_sent_dropped", io.sent_dropped,
        "Datagrams that a thread of a socket did not send in time."),
    PROCESS_COUNTER(
        "cairn_threads_failed", io.threads_failed, "Threads that the system did not start."),
    PROCESS_COUNTER(
        "cairn_log_lines_lost", log_lines_lost, "Lines of the log that nobody read in time."),
    GAUGE(cairn_metrics_process, "cairn_log_queue_bytes", log_bytes_waiting,
        "Bytes of the log that wait for its reader."),
    GAUGE(cairn_metrics_process, "cairn_web_frame_queue_bytes", web.frame_bytes_waiting,
        "Bytes of datagrams that wait for WebSockets."),
    PROCESS_COUNTER("cairn_web_requests", web.http.requests, "HTTP requests."),
    PROCESS_COUNTER("cairn_web_requests_refused", web.http.requests_refused,
        "HTTP requests answered with a status of 400 or more."),
    PROCESS_COUNTER("cairn_web_connections_refused", web.http.connections_refused,
        "TCP connections beyond the limits."),
    GAUGE(
        cairn_metrics_process, "cairn_web_sockets", web.http.sockets, "WebSockets that are open."),
    PROCESS_COUNTER(
        "cairn_web_sockets_opened", web.http.sockets_opened, "WebSockets that were opened."),
    PROCESS_COUNTER("cairn_web_sockets_refused", web.http.sockets_refused,
        "WebSockets refused by origin, path, protocol or number."),
    PROCESS_COUNTER("cairn_web_questions_refused", web.questions_refused,
        "HTTP requests beyond those that may wait for the loop."),
    PROCESS_COUNTER("cairn_web_controls", control.asked, "Requests of operators by HTTP."),
    PROCESS_COUNTER("cairn_web_controls_refused_token", control.refused_token,
        "Those without a token of an operator."),
    PROCESS_COUNTER("cairn_web_controls_refused_origin", control.refused_origin,
        "Those of pages from elsewhere."),
    PROCESS_COUNTER("cairn_web_controls_refused_body", control.refused_body,
        "Those that are not a request of the verb."),
    PROCESS_COUNTER("cairn_web_controls_refused_busy", control.refused_busy,
        "Those beyond the number that may wait."),
    PROCESS_COUNTER(
        "cairn_web_controls_left", control.left, "Operators that did not wait for their answer."),
    PROCESS_COUNTER("cairn_web_frames_received", web.peers.received, "Datagrams of WebSockets."),
    PROCESS_COUNTER("cairn_web_frames_sent", web.peers.sent, "Datagrams to WebSockets."),
    PROCESS_COUNTER("cairn_web_frames_malformed", web.peers.malformed,
        "Messages of WebSockets that are not binary or larger than a datagram."),
    PROCESS_COUNTER("cairn_web_frames_dropped", web.peers.dropped,
        "Datagrams that a WebSocket's full queue did not take."),
    PROCESS_COUNTER(
        "cairn_web_frames_unknown", web.peers.unknown, "Datagrams to a WebSocket that is gone."),
    PROCESS_COUNTER("cairn_web_frames_received_dropped", web.peers.received_dropped,
        "Datagrams of WebSockets that the loop did not take in time."),
    PROCESS_COUNTER("cairn_web_frames_sent_dropped", frames_not_sent,
        "Datagrams that the thread of the WebSockets did not take in time."),
    PROCESS_COUNTER("cairn_web_sockets_closed_rate", web.peers.closed_rate,
        "WebSockets closed because they sent too much."),
    PROCESS_COUNTER("cairn_web_sockets_closed_slow", web.peers.closed_slow,
        "WebSockets closed because they took too little."),
    PROCESS_COUNTER("cairn_web_sockets_closed_idle", web.peers.closed_idle,
        "WebSockets closed because they had no session."),
    GAUGE(cairn_metrics_process, "process_resident_memory_bytes", web.resident_bytes,
        "Resident memory."),
    GAUGE(
        cairn_metrics_process, "process_start_time_seconds", web.start_unix_s, "When it started."),
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void add_families(text *out, const family *families, size_t count, const void *of) {
    for (size_t i = 0; i < count; i++) {
        const family *f = &families[i];
        add_family(out, f->name, f->counter ? "counter" : "gauge", f->help);
        add_name(out, f->name, f->counter ? "_total" : "", NULL, NULL);
        add_number(out, member_of(of, f));
        add(out, "\n", 1);
    }
}

typedef struct hosted {
    size_t name_size;
    char name[CAIRN_ROOM_NAME_SIZE];
    cairn_server_room_statistics statistics;
    cairn_server_room_times times;
} hosted;

struct cairn_metrics {
    cairn_metrics_process process;
    cairn_server_statistics server;
    uint32_t capacity; // of `rooms`, of which server.rooms count
    hosted rooms[];
};

#define PIECE_SIZE 96

// What all rooms' samples have before and after the room's name.
typedef struct piece {
    size_t size;
    char bytes[PIECE_SIZE];
} piece;

static piece make_piece(const char *a, const char *b, const char *c) {
    piece out = {0};
    const char *const parts[] = {a, b, c};
    for (size_t i = 0; i < COUNT(parts); i++) {
        const size_t size = strlen(parts[i]);
        CAIRN_ASSERT(size <= sizeof out.bytes - out.size);
        memcpy(out.bytes + out.size, parts[i], size);
        out.size += size;
    }
    return out;
}

static void add_sample(
    text *out, const piece *before, const hosted *room, const piece *after, uint64_t number) {
    char *at = room_for(out, 2 * PIECE_SIZE + room->name_size + DIGITS_MAX + 1);
    if (at == NULL) {
        return;
    }
    // Of a fixed size each: what is too much is overwritten by what follows.
    memcpy(at, before->bytes, PIECE_SIZE);
    memcpy(at + before->size, room->name, room->name_size);
    memcpy(at + before->size + room->name_size, after->bytes, PIECE_SIZE);
    at += before->size + room->name_size + after->size;
    at += write_number(at, number);
    *at++ = '\n';
    out->own.size = (size_t)(at - out->own.bytes);
}

static void add_room_families(text *out, const hosted *rooms, uint32_t count) {
    for (size_t i = 0; i < COUNT(room_families); i++) {
        const family *f = &room_families[i];
        add_family(out, f->name, f->counter ? "counter" : "gauge", f->help);
        const piece before = make_piece(f->name, f->counter ? "_total" : "", "{room=\"");
        const piece after = make_piece("\"} ", "", "");
        for (uint32_t k = 0; k < count; k++) {
            add_sample(out, &before, &rooms[k], &after, member_of(&rooms[k].statistics, f));
        }
    }
}

// A mode that no client of a room has needs no sample.
static void add_modes(text *out, const hosted *rooms, uint32_t count) {
    add_family(out, "cairn_room_mode_clients", "gauge", "Clients in the room by their mode.");
    for (uint32_t mode = 0; cairn_server_mode_text(mode) != NULL; mode++) {
        const piece before = make_piece("cairn_room_mode_clients{room=\"", "", "");
        const piece after = make_piece("\",mode=\"", cairn_server_mode_text(mode), "\"} ");
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t clients = rooms[k].statistics.clients_by_mode[mode];
            if (clients > 0) {
                add_sample(out, &before, &rooms[k], &after, clients);
            }
        }
    }
}

// Whole nanoseconds as seconds, as the label of a bucket has them.
static piece make_bound(uint32_t bound) {
    text seconds = {0};
    if (bound < CAIRN_SERVER_TIME_BOUNDS) {
        add_seconds(&seconds, CAIRN_SERVER_TIME_BOUND_NS(bound));
    } else {
        add_word(&seconds, "+Inf");
    }
    add(&seconds, "", 1);
    const piece out = make_piece("\",le=\"", seconds.failed ? "" : seconds.own.bytes, "\"} ");
    free(seconds.own.bytes);
    return out;
}

// Of the member of `times` at `at`.
static void add_histograms(
    text *out, const char *name, const char *help, const hosted *rooms, uint32_t count, size_t at) {
    piece bounds[CAIRN_SERVER_TIME_BOUNDS + 1];
    const piece bucket = make_piece(name, "_bucket", "{room=\"");
    const piece total = make_piece(name, "_count", "{room=\"");
    const piece sum = make_piece(name, "_sum", "{room=\"");
    const piece after = make_piece("\"} ", "", "");
    for (uint32_t i = 0; i <= CAIRN_SERVER_TIME_BOUNDS; i++) {
        bounds[i] = make_bound(i);
    }
    add_family(out, name, "histogram", help);
    for (uint32_t k = 0; k < count; k++) {
        cairn_server_times times;
        memcpy(&times, (const char *)&rooms[k].times + at, sizeof times);
        for (uint32_t i = 0; i < CAIRN_SERVER_TIME_BOUNDS; i++) {
            add_sample(out, &bucket, &rooms[k], &bounds[i], times.within[i]);
        }
        add_sample(out, &bucket, &rooms[k], &bounds[CAIRN_SERVER_TIME_BOUNDS], times.count);
        add_sample(out, &total, &rooms[k], &after, times.count);
        add(out, sum.bytes, sum.size);
        add(out, rooms[k].name, rooms[k].name_size);
        add(out, after.bytes, after.size);
        add_seconds(out, times.sum_ns);
        add(out, "\n", 1);
    }
}

static void add_drops(text *out, const cairn_server_statistics *statistics) {
    cairn_server_drop drops[CAIRN_SERVER_DROPS_MAX];
    const uint32_t count = cairn_server_drops_read(statistics, drops);
    add_family(
        out, "cairn_drops", "counter", "Datagrams, payloads and messages that were dropped.");
    for (uint32_t i = 0; i < count; i++) {
        const char *const parts[] = {
            "cairn_drops_total{layer=\"", drops[i].layer, "\",reason=\"", drops[i].reason, "\"} "};
        for (size_t k = 0; k < COUNT(parts); k++) {
            add_word(out, parts[k]);
        }
        add_number(out, drops[i].count);
        add(out, "\n", 1);
    }
}

static void add_process(text *out, const cairn_metrics_process *process) {
    add_families(out, process_families, COUNT(process_families), process);
    add_family(out, "process_cpu_seconds", "counter", "Processor time of all threads.");
    add_name(out, "process_cpu_seconds", "_total", NULL, NULL);
    add_seconds(out, process->web.cpu_ns);
    add_word(out, "\n");
    add_family(out, "cairn_version_info", "gauge", "1, with the version of cairn as a label.");
    add_name(out, "cairn_version_info", "", "version", cairn_version_text());
    add_word(out, "1\n");
}

static void read_room(const cairn_server *server, uint32_t id, hosted *out) {
    cairn_server_room_info info;
    (void)cairn_server_room_read(server, id, &info);
    out->name_size = strlen(info.name);
    CAIRN_ASSERT(out->name_size < sizeof out->name);
    memcpy(out->name, info.name, out->name_size + 1);
    (void)cairn_server_room_statistics_read(server, id, &out->statistics);
    (void)cairn_server_room_times_read(server, id, &out->times);
}

// Keeps nothing of what was read before.
static bool make_room(cairn_metrics **kept, uint32_t rooms) {
    if (*kept != NULL && (*kept)->capacity >= rooms) {
        return true;
    }
    free(*kept);
    *kept = malloc(sizeof **kept + rooms * sizeof(hosted));
    if (*kept != NULL) {
        (*kept)->capacity = rooms;
    }
    return *kept != NULL;
}

bool cairn_metrics_read(
    const cairn_server *server, const cairn_metrics_process *process, cairn_metrics **kept) {
    cairn_server_statistics statistics;
    cairn_server_statistics_read(server, &statistics);
    if (!make_room(kept, statistics.rooms)) {
        return false;
    }
    (*kept)->process = *process;
    (*kept)->server = statistics;
    uint32_t id = 0;
    for (uint32_t i = 0; i < statistics.rooms; i++) {
        id = cairn_server_room_next(server, id);
        CAIRN_ASSERT(id != 0);
        read_room(server, id, &(*kept)->rooms[i]);
    }
    return true;
}

void cairn_metrics_destroy(cairn_metrics *metrics) {
    free(metrics);
}

bool cairn_metrics_write(const cairn_metrics *metrics, bool open, cairn_metrics_text *written) {
    const hosted *rooms = metrics->rooms;
    const uint32_t count = metrics->server.rooms;
    text out = {.own = {.bytes = written->bytes, .capacity = written->capacity}, .open = open};
    add_families(&out, server_families, COUNT(server_families), &metrics->server);
    add_process(&out, &metrics->process);
    add_drops(&out, &metrics->server);
    add_room_families(&out, rooms, count);
    add_modes(&out, rooms, count);
    add_histograms(&out, "cairn_room_tick_seconds", "Time that a tick took to step.", rooms, count,
        offsetof(cairn_server_room_times, cost));
    add_histograms(&out, "cairn_room_tick_late_seconds",
        "Time from when a tick was due to its step.", rooms, count,
        offsetof(cairn_server_room_times, lateness));
    add_word(&out, open ? "# EOF\n" : "");
    *written = out.own;
    return !out.failed;
}
