// SPDX-License-Identifier: MIT
#include "server/core/room_recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "recording/pack.h"
#include "recording/recorder.h"
#include "server/room/room.h"

// At most this many ticks wait in the server's memory before they are handed to the task, and are
// lost if the process dies.
#define TICKS_PER_PIECE 64
// Commands that a piece has memory for at first.
#define COMMANDS_PER_PIECE (8 * TICKS_PER_PIECE)

typedef enum piece_kind {
    PIECE_START,
    PIECE_TICKS,
    PIECE_KEYFRAME,
    PIECE_REPLACE,
    PIECE_END,
} piece_kind;

typedef struct piece {
    struct piece *next;
    piece_kind kind;
    bool last;           // of an end: no segment follows
    size_t size;         // of the memory that it holds
    cairn_world_def def; // of a state's world
    uint8_t *state;      // owned; a save, which costs a tenth of a fork; NULL for ticks and the end
    size_t state_size;
    uint64_t first_tick;
    uint32_t tick_count;
    uint32_t command_count;
    uint32_t command_capacity;
    cairn_command *commands; // owned
    cairn_job_tick ticks[];  // [TICKS_PER_PIECE] of ticks, otherwise none
} piece;

typedef struct piece_list {
    piece *first;
    piece *last;
    size_t bytes;
} piece_list;

typedef enum recording_state {
    RECORDING_WRITES,
    RECORDING_LACKS_SPACE, // too many pieces wait; a new segment begins when half of them are gone
    RECORDING_FAILED,      // a new segment is tried at retry_ns
    RECORDING_ENDED,       // the room is gone
} recording_state;

// What a task found out.
typedef struct task_result {
    bool failed; // a segment ended without its end; nothing after it was begun
    uint64_t bytes;
    uint64_t segments;
    uint64_t failures;
    uint64_t ticks_lost;
    uint64_t keyframe_ticks; // between two states; 0: not known
} task_result;

struct cairn_room_recording {
    cairn_server_task task; // first
    cairn_recordings *recordings;
    cairn_room_recording *next; // of those that are closing
    char room[CAIRN_ROOM_NAME_SIZE];
    char scene_name[32];
    uint64_t segment_ticks_max; // 0: no bound
    size_t state_size_max;
    size_t waiting_bytes_max;
    cairn_recording_counters counters;

    // The server's thread.
    recording_state state;
    uint64_t retry_ns;
    uint64_t state_tick; // of the last state piece
    uint64_t keyframe_ticks;
    bool interrupted; // a segment was lost or ended early; the next one is reported
    uint64_t tick;    // of the room's world
    piece *end;       // of the segment that is open: allocated with its start, so that it is there
    piece *ticks;     // being filled; NULL: none
    piece *spare;     // for the next ticks, so that a steady server allocates nothing; NULL: none
    piece_list waiting;
    size_t out_bytes; // of the task's pieces

    // The task's while it is out.
    piece_list out;
    piece *written;               // the last ticks that were written; NULL: none
    cairn_world *world;           // into which states are loaded; NULL: none was
    cairn_recorder *recorder;     // NULL: no segment is open
    uint64_t segment_ticks;       // given to the recorder
    uint64_t segment_bytes;       // counted so far
    cairn_server_segment segment; // what a broadcast tells the host
    task_result result;
};

static void free_piece(piece *freed) {
    free(freed->state);
    free(freed->commands);
    free(freed);
}

static void append_piece(piece_list *list, piece *added) {
    CAIRN_ASSERT(added->next == NULL);
    if (list->last == NULL) {
        list->first = added;
    } else {
        list->last->next = added;
    }
    list->last = added;
    list->bytes += added->size;
}

static piece *take_first(piece_list *list) {
    piece *taken = list->first;
    if (taken != NULL) {
        list->first = taken->next;
        list->last = list->first == NULL ? NULL : list->last;
        list->bytes -= taken->size;
        taken->next = NULL;
    }
    return taken;
}

// ------------------------------------------------------------------------------------ the task

static bool write_record(void *user, const uint8_t *bytes, size_t size) {
    cairn_room_recording *recording = user;
    const cairn_server_config *server = recording->recordings->server;
    if (recording->segment_ticks_max == 0) {
        return server->on_record(server->user, recording->room, bytes, size);
    }
    recording->segment.tick_count = recording->segment_ticks;
    return server->on_segment(server->user, &recording->segment, bytes, size);
}

static void count_bytes(cairn_room_recording *recording) {
    const uint64_t bytes = cairn_recorder_bytes(recording->recorder);
    recording->result.bytes += bytes - recording->segment_bytes;
    recording->segment_bytes = bytes;
}

// Closes the segment's file, whether it is complete or not.
static void close_segment(cairn_room_recording *recording) {
    cairn_recorder *recorder = recording->recorder;
    CAIRN_ASSERT(recorder != NULL);
    count_bytes(recording);
    recording->result.ticks_lost +=
        recording->segment_ticks - cairn_recorder_ticks_written(recorder);
    cairn_recorder_destroy(recorder);
    recording->recorder = NULL;
    if (!write_record(recording, NULL, 0)) {
        recording->result.failures += 1;
    }
    recording->segment.number += 1;
}

// The room is gone, and no segment is open: the last one failed, or none fitted the memory.
// Followers of a broadcast wait for more segments until they are told that the last one has come.
static void end_without_segment(cairn_room_recording *recording) {
    CAIRN_ASSERT(recording->recorder == NULL);
    if (recording->segment_ticks_max > 0) {
        recording->segment_ticks = 0;
        recording->segment.last = true;
        recording->result.failures += write_record(recording, NULL, 0) ? 0 : 1;
    }
}

// The world of a state piece, valid until the next. NULL: out of memory.
static const cairn_world *load_state(cairn_room_recording *recording, const piece *loaded) {
    CAIRN_ASSERT(loaded->state != NULL);
    if (recording->world != NULL &&
        cairn_world_load(recording->world, loaded->state, loaded->state_size) == CAIRN_OK) {
        return recording->world;
    }
    // The first one, or the world was replaced by one with another seed.
    cairn_world_destroy(recording->world);
    if (cairn_world_create(&loaded->def, &recording->world) != CAIRN_OK) {
        return NULL;
    }
    const cairn_status status =
        cairn_world_load(recording->world, loaded->state, loaded->state_size);
    CAIRN_ASSERT(status == CAIRN_OK);
    return recording->world;
}

static bool start_segment(cairn_room_recording *recording, const cairn_world *world) {
    const cairn_recorder_config config = {
        .packing = &cairn_packing_zstd,
        .ticks_per_chunk = TICKS_PER_PIECE,
        .commands_per_tick_max = CAIRN_INBOX_COMMANDS_MAX,
        .state_size_max = recording->state_size_max,
        .scene_name = recording->scene_name,
        .signing_seed = recording->recordings->server->record_seed,
        .write = write_record,
        .user = recording,
    };
    CAIRN_ASSERT(recording->recorder == NULL);
    recording->segment_ticks = 0;
    recording->segment_bytes = 0;
    if (cairn_recorder_create(&config, &recording->recorder) != CAIRN_OK) {
        return false;
    }
    const bool started = cairn_recorder_start(recording->recorder, world) &&
                         !cairn_recorder_failed(recording->recorder);
    recording->result.segments += started ? 1 : 0;
    return started;
}

static void record_ticks(cairn_room_recording *recording, const piece *ticks) {
    const cairn_command *commands = ticks->commands;
    for (uint32_t i = 0; i < ticks->tick_count; ++i) {
        const cairn_job_tick *tick = &ticks->ticks[i];
        cairn_recorder_tick(
            recording->recorder, ticks->first_tick + i, commands, tick->command_count, tick->root);
        commands = tick->command_count == 0 ? commands : commands + tick->command_count;
    }
    recording->segment_ticks += ticks->tick_count;
}

// False: the segment cannot continue.
static bool write_piece(cairn_room_recording *recording, const piece *written) {
    const cairn_world *world = written->state == NULL ? NULL : load_state(recording, written);
    if (written->state != NULL && world == NULL) {
        return false;
    }
    if (written->kind == PIECE_START) {
        recording->segment.first_tick = cairn_world_tick(world);
        return start_segment(recording, world);
    }
    cairn_recorder *recorder = recording->recorder;
    CAIRN_ASSERT(recorder != NULL);
    switch (written->kind) {
    case PIECE_TICKS:
        record_ticks(recording, written);
        break;
    case PIECE_KEYFRAME:
        cairn_recorder_keyframe(recorder, world);
        break;
    case PIECE_REPLACE:
        cairn_recorder_replace(recorder, world);
        break;
    case PIECE_END:
        recording->segment.last = written->last;
        cairn_recorder_end(recorder);
        break;
    case PIECE_START:
        break;
    }
    if (written->kind == PIECE_END) {
        recording->result.failures += cairn_recorder_failed(recorder) ? 1 : 0;
        close_segment(recording);
        return true;
    }
    return !cairn_recorder_failed(recorder);
}

static void run_task(cairn_server_task *task) {
    cairn_room_recording *recording = (cairn_room_recording *)task;
    task_result *result = &recording->result;
    for (piece *next; (next = take_first(&recording->out)) != NULL;) {
        result->failed = result->failed && next->kind != PIECE_START;
        if (next->last && recording->recorder == NULL) {
            end_without_segment(recording);
        } else if (result->failed) {
            result->ticks_lost += next->tick_count;
        } else if (!write_piece(recording, next)) {
            result->failed = true;
            result->failures += 1;
            if (recording->recorder != NULL) {
                close_segment(recording);
            }
        }
        if (next->kind == PIECE_TICKS && recording->written == NULL) {
            recording->written = next;
        } else {
            free_piece(next);
        }
    }
    if (recording->recorder != NULL) {
        count_bytes(recording);
        result->keyframe_ticks = cairn_recorder_keyframe_ticks(recording->recorder);
    }
}

// ---------------------------------------------------------------------- the server's thread

typedef enum recording_event {
    EVENT_FAILED,
    EVENT_RESUMED,
    EVENT_INCOMPLETE,
    EVENT_GAP,
    EVENT_COUNT
} recording_event;
static const char *const event_names[2][EVENT_COUNT] = {
    {"recording_failed", "recording_resumed", "recording_incomplete", "recording_gap"},
    {"broadcast_failed", "broadcast_resumed", "broadcast_incomplete", "broadcast_gap"}};

static void emit(const cairn_room_recording *recording, cairn_log_level level,
    recording_event happened, const char *detail) {
    const cairn_server_context *context = recording->recordings->context;
    if (context->on_event != NULL) {
        const cairn_server_event event = {
            .name = event_names[recording->segment_ticks_max > 0][happened],
            .level = level,
            .room = recording->room,
            .tick = recording->tick,
            .detail = detail,
            .value = (int64_t)recording->counters.ticks_lost};
        context->on_event(context->user, &event);
    }
}

// The pieces that wait belong to a segment that failed; those of a later segment stay, and so does
// the end of all.
static void drop_waiting(cairn_room_recording *recording) {
    while (recording->waiting.first != NULL && recording->waiting.first->kind != PIECE_START &&
           !recording->waiting.first->last) {
        piece *dropped = take_first(&recording->waiting);
        recording->counters.ticks_lost += dropped->tick_count;
        free_piece(dropped);
    }
    if (recording->waiting.first == NULL && recording->ticks != NULL) {
        recording->counters.ticks_lost += recording->ticks->tick_count;
        free_piece(recording->ticks);
        recording->ticks = NULL;
    }
}

// The host knows a room by its name. If the recording of an earlier room of this name is not
// written yet, its end would come between the pieces of this one.
static bool waits_for_namesake(const cairn_room_recording *recording) {
    const cairn_room_recording *earlier =
        recording->state == RECORDING_ENDED ? recording->next : recording->recordings->closing;
    while (earlier != NULL && strcmp(earlier->room, recording->room) != 0) {
        earlier = earlier->next;
    }
    return earlier != NULL;
}

static void start_task(cairn_room_recording *recording) {
    if (!recording->task.out && recording->waiting.first != NULL &&
        !waits_for_namesake(recording)) {
        recording->out = recording->waiting;
        recording->out_bytes = recording->waiting.bytes;
        recording->waiting = (piece_list){.first = NULL};
        recording->result = (task_result){.failed = false};
        cairn_task_start(recording->recordings->runner, &recording->task);
    }
}

// The earliest of those that waited for `gone`. A room that lives starts its own when it steps.
static void start_namesake(const cairn_room_recording *gone) {
    cairn_room_recording *earliest = NULL;
    for (cairn_room_recording *at = gone->recordings->closing; at != NULL; at = at->next) {
        earliest = strcmp(at->room, gone->room) == 0 ? at : earliest;
    }
    if (earliest != NULL) {
        start_task(earliest);
    }
}

static void free_recording(cairn_room_recording *recording) {
    CAIRN_ASSERT(recording->recorder == NULL && recording->waiting.first == NULL);
    CAIRN_ASSERT(recording->ticks == NULL && !recording->task.out);
    cairn_recording_counters *closed = &recording->recordings->closed;
    closed->bytes += recording->counters.bytes;
    closed->segments += recording->counters.segments;
    closed->failures += recording->counters.failures;
    closed->gaps += recording->counters.gaps;
    closed->ticks_lost += recording->counters.ticks_lost;
    cairn_room_recording **at = &recording->recordings->closing;
    while (*at != recording) {
        at = &(*at)->next;
    }
    *at = recording->next;
    start_namesake(recording);
    free(recording->end);
    cairn_world_destroy(recording->world);
    if (recording->spare != NULL) {
        free_piece(recording->spare);
    }
    if (recording->written != NULL) {
        free_piece(recording->written);
    }
    free(recording);
}

static void finish_task(cairn_server_task *task) {
    cairn_room_recording *recording = (cairn_room_recording *)task;
    const task_result result = recording->result;
    recording->out_bytes = 0;
    if (recording->spare == NULL) {
        recording->spare = recording->written;
        recording->written = NULL;
    }
    recording->counters.bytes += result.bytes;
    recording->counters.segments += result.segments;
    recording->counters.failures += result.failures;
    recording->counters.ticks_lost += result.ticks_lost;
    recording->keyframe_ticks =
        result.keyframe_ticks == 0 ? recording->keyframe_ticks : result.keyframe_ticks;
    if (result.failed) {
        drop_waiting(recording);
        if (recording->waiting.first == NULL && recording->state != RECORDING_ENDED) {
            recording->state = RECORDING_FAILED;
            recording->retry_ns = recording->recordings->context->now_ns + CAIRN_RECORDING_RETRY_NS;
        }
        if (!recording->interrupted) {
            recording->interrupted = true;
            emit(recording, CAIRN_LOG_ERROR, EVENT_FAILED,
                "the recording could not be written; the room continues, and the recording in a "
                "new file when it can be written");
        }
    } else if (recording->interrupted && result.segments > 0) {
        recording->interrupted = false;
        emit(recording, CAIRN_LOG_WARN, EVENT_RESUMED,
            "the recording continues in a new file; the value is the number of ticks lost so far");
    } else if (result.failures > 0) {
        emit(recording, CAIRN_LOG_ERROR, EVENT_INCOMPLETE,
            "the end of the recording could not be written");
    }
    if (recording->waiting.first != NULL) {
        start_task(recording);
    } else if (recording->state == RECORDING_ENDED) {
        free_recording(recording);
    }
}

// NULL: out of memory. `ticks_max` is the number of ticks that it has memory for.
static piece *create_piece(piece_kind kind, uint32_t ticks_max) {
    const size_t size = sizeof(piece) + ticks_max * sizeof(cairn_job_tick);
    piece *created = calloc(1, size);
    if (created != NULL) {
        created->kind = kind;
        created->size = size;
    }
    return created;
}

static void report_gap(cairn_room_recording *recording) {
    recording->state = RECORDING_LACKS_SPACE;
    recording->counters.gaps += 1;
    if (!recording->interrupted) {
        recording->interrupted = true;
        emit(recording, CAIRN_LOG_ERROR, EVENT_GAP,
            "too much of the recording waits to be written; the file ends here, and the recording "
            "continues in a new one");
    }
}

static void end_segment(cairn_room_recording *recording) {
    CAIRN_ASSERT(recording->end != NULL);
    append_piece(&recording->waiting, recording->end);
    recording->end = NULL;
}

size_t cairn_room_recording_waiting(const cairn_room_recording *recording) {
    return recording->waiting.bytes + recording->out_bytes;
}

// Takes a piece, or drops it (NULL: out of memory) and ends the segment.
static bool add_piece(cairn_room_recording *recording, piece *added) {
    const size_t bytes = cairn_room_recording_waiting(recording);
    CAIRN_ASSERT(recording->state == RECORDING_WRITES);
    if (added != NULL && bytes + added->size <= recording->waiting_bytes_max) {
        append_piece(&recording->waiting, added);
        return true;
    }
    if (added != NULL) {
        recording->counters.ticks_lost += added->tick_count;
        free_piece(added);
    }
    end_segment(recording);
    report_gap(recording);
    return false;
}

static bool flush_ticks(cairn_room_recording *recording) {
    piece *ticks = recording->ticks;
    recording->ticks = NULL;
    return ticks == NULL || add_piece(recording, ticks);
}

cairn_saved_world cairn_saved_world_of(const cairn_world *world) {
    cairn_saved_world saved = {.size = cairn_world_save_size(world)};
    saved.bytes = malloc(saved.size);
    if (saved.bytes != NULL) {
        const size_t size = cairn_world_save(world, saved.bytes, saved.size);
        CAIRN_ASSERT(size == saved.size);
    }
    return saved;
}

// NULL: out of memory.
static piece *create_state_piece(
    piece_kind kind, const cairn_world *world, cairn_saved_world *saved) {
    piece *created = create_piece(kind, 0);
    const bool made = saved != NULL && saved->bytes != NULL;
    const cairn_saved_world taken = created == NULL ? (cairn_saved_world){.bytes = NULL}
                                    : made          ? *saved
                                                    : cairn_saved_world_of(world);
    if (taken.bytes == NULL) {
        free(created);
        return NULL;
    }
    if (made) {
        *saved = (cairn_saved_world){.bytes = NULL};
    }
    created->def = *cairn_world_settings(world);
    created->state = taken.bytes;
    created->state_size = taken.size;
    created->size += taken.size;
    CAIRN_ASSERT(created->state_size == cairn_world_save_size(world));
    return created;
}

static bool has_room_for_state(const cairn_room_recording *recording, const cairn_world *world) {
    return recording->waiting.bytes + recording->out_bytes + sizeof(piece) +
               cairn_world_save_size(world) <=
           recording->waiting_bytes_max;
}

// Adds a copy of the world after the ticks.
static void add_state(cairn_room_recording *recording, piece_kind kind, const cairn_world *world,
    cairn_saved_world *saved) {
    // A keyframe only makes seeks faster: without memory for it the next tick tries again.
    if (kind == PIECE_KEYFRAME && !has_room_for_state(recording, world)) {
        return;
    }
    if (flush_ticks(recording) &&
        add_piece(recording,
            has_room_for_state(recording, world) ? create_state_piece(kind, world, saved) : NULL)) {
        recording->state_tick = cairn_world_tick(world);
    }
}

// Ends the segment and begins the next one. False: out of memory, or too much waits.
static bool rotate(
    cairn_room_recording *recording, const cairn_world *world, cairn_saved_world *saved) {
    if (!has_room_for_state(recording, world) || !flush_ticks(recording)) {
        return false;
    }
    piece *end = create_piece(PIECE_END, 0);
    piece *start = end == NULL ? NULL : create_state_piece(PIECE_START, world, saved);
    if (start == NULL) {
        free(end);
        return false;
    }
    end_segment(recording);
    recording->end = end;
    append_piece(&recording->waiting, start);
    recording->state_tick = cairn_world_tick(world);
    return true;
}

// Begins a new segment if it is time.
static void resume(
    cairn_room_recording *recording, const cairn_world *world, cairn_saved_world *saved) {
    const size_t bytes = recording->waiting.bytes + recording->out_bytes;
    const uint64_t now_ns = recording->recordings->context->now_ns;
    const bool due = recording->state == RECORDING_LACKS_SPACE
                         ? bytes <= recording->waiting_bytes_max / 2
                         : recording->state == RECORDING_FAILED && !recording->task.out &&
                               now_ns >= recording->retry_ns;
    recording->tick = cairn_world_tick(world);
    if (due && recording->end == NULL) {
        recording->end = create_piece(PIECE_END, 0);
    }
    piece *start =
        due && recording->end != NULL ? create_state_piece(PIECE_START, world, saved) : NULL;
    if (start != NULL) {
        recording->state = RECORDING_WRITES;
        recording->state_tick = cairn_world_tick(world);
        append_piece(&recording->waiting, start);
    }
}

// False: out of memory.
static bool reserve_commands(piece *ticks, uint32_t count) {
    if (count <= ticks->command_capacity) {
        return true;
    }
    const uint32_t capacity = count <= COMMANDS_PER_PIECE ? COMMANDS_PER_PIECE : 2 * count;
    cairn_command *wider = realloc(ticks->commands, capacity * sizeof *wider);
    if (wider == NULL) {
        return false;
    }
    ticks->size += (capacity - ticks->command_capacity) * sizeof *wider;
    ticks->commands = wider;
    ticks->command_capacity = capacity;
    return true;
}

// NULL: out of memory.
static piece *create_ticks_piece(cairn_room_recording *recording) {
    piece *created = recording->spare;
    recording->spare = NULL;
    if (created != NULL) {
        created->tick_count = 0;
        created->command_count = 0;
        return created;
    }
    created = create_piece(PIECE_TICKS, TICKS_PER_PIECE);
    if (created != NULL && !reserve_commands(created, COMMANDS_PER_PIECE)) {
        free_piece(created);
        return NULL;
    }
    return created;
}

static void add_tick(cairn_room_recording *recording, uint64_t tick, const cairn_job_tick *stepped,
    const cairn_command *commands) {
    if (recording->ticks == NULL) {
        recording->ticks = create_ticks_piece(recording);
    }
    piece *ticks = recording->ticks;
    if (ticks == NULL || !reserve_commands(ticks, ticks->command_count + stepped->command_count)) {
        recording->counters.ticks_lost += 1;
        if (flush_ticks(recording)) {
            (void)add_piece(recording, NULL);
        }
        return;
    }
    ticks->first_tick = ticks->tick_count == 0 ? tick : ticks->first_tick;
    CAIRN_ASSERT(tick == ticks->first_tick + ticks->tick_count);
    ticks->ticks[ticks->tick_count++] = *stepped;
    if (stepped->command_count > 0) {
        memcpy(ticks->commands + ticks->command_count, commands,
            stepped->command_count * sizeof *commands);
    }
    ticks->command_count += stepped->command_count;
    if (ticks->tick_count == TICKS_PER_PIECE) {
        (void)flush_ticks(recording);
    }
}

void cairn_room_recording_add_job(cairn_room_recording *recording, const cairn_room *room) {
    const cairn_server_job *job = &room->job;
    const cairn_command *commands = job->commands;
    CAIRN_ASSERT(!job->running && recording->state != RECORDING_ENDED);
    for (uint32_t i = 0; i < job->tick_count; ++i) {
        if (recording->state == RECORDING_WRITES) {
            add_tick(recording, job->from + i, &job->ticks[i], commands);
        } else {
            recording->counters.ticks_lost += 1;
        }
        commands += job->ticks[i].command_count;
    }
    const uint64_t ticks = cairn_world_tick(room->world) - recording->state_tick;
    const uint64_t ticks_max = recording->segment_ticks_max;
    if (recording->state != RECORDING_WRITES) {
        // No segment is open.
    } else if (ticks_max > 0) {
        if (ticks >= ticks_max) {
            (void)rotate(recording, room->world, NULL); // else the next tick tries again
        }
    } else if (recording->keyframe_ticks > 0 && ticks >= recording->keyframe_ticks) {
        add_state(recording, PIECE_KEYFRAME, room->world, NULL);
    }
    resume(recording, room->world, NULL);
    start_task(recording);
}

void cairn_room_recording_replace(
    cairn_room_recording *recording, const cairn_world *world, cairn_saved_world *saved) {
    CAIRN_ASSERT(recording->state != RECORDING_ENDED);
    const bool rotated = recording->state == RECORDING_WRITES && recording->segment_ticks_max > 0 &&
                         rotate(recording, world, saved);
    if (recording->state == RECORDING_WRITES && !rotated) {
        add_state(recording, PIECE_REPLACE, world, saved);
    }
    resume(recording, world, saved);
    start_task(recording);
}

bool cairn_room_recording_flush(cairn_room_recording *recording) {
    if (recording->state == RECORDING_WRITES) {
        (void)flush_ticks(recording);
    }
    start_task(recording);
    return !recording->task.out && recording->waiting.first == NULL;
}

void cairn_room_recording_end(cairn_room_recording *recording) {
    CAIRN_ASSERT(recording->state != RECORDING_ENDED);
    if (recording->state == RECORDING_WRITES) {
        (void)flush_ticks(recording);
    }
    if (recording->end == NULL) {
        recording->end = create_piece(PIECE_END, 0);
    }
    if (recording->end != NULL) {
        recording->end->last = true;
        end_segment(recording);
    }
    recording->state = RECORDING_ENDED;
    recording->next = recording->recordings->closing;
    recording->recordings->closing = recording;
    if (recording->task.out || recording->waiting.first != NULL) {
        start_task(recording);
    } else {
        free_recording(recording);
    }
}

cairn_status cairn_room_recording_create(cairn_recordings *recordings, const cairn_room *room,
    size_t state_size_max, cairn_room_recording **out) {
    cairn_room_recording *recording = calloc(1, sizeof *recording);
    *out = recording;
    if (recording == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    const size_t waiting = recordings->server->recording_waiting_bytes_max;
    const size_t three_states = 3 * (sizeof(piece) + cairn_world_save_size_max(room->world));
    *recording = (cairn_room_recording){
        .task = {.run = run_task, .done = finish_task},
        .recordings = recordings,
        .segment_ticks_max = (uint64_t)recordings->segment_s * room->settings.tick_rate_hz,
        .state_size_max = state_size_max,
        .waiting_bytes_max = three_states > waiting ? three_states : waiting,
        .state = RECORDING_FAILED,
    };
    snprintf(recording->room, sizeof recording->room, "%s", room->name);
    snprintf(recording->scene_name, sizeof recording->scene_name, "%s", room->scene_name);
    recording->segment = (cairn_server_segment){.room = recording->room,
        .scene = recording->scene_name,
        .tick_rate_hz = room->settings.tick_rate_hz};
    resume(recording, room->world, room->saved);
    start_task(recording);
    return CAIRN_OK;
}

bool cairn_room_recording_is_whole(const cairn_room_recording *recording) {
    return recording->state == RECORDING_WRITES;
}

cairn_recording_counters cairn_room_recording_counters(const cairn_room_recording *recording) {
    return recording->counters;
}

cairn_recording_counters cairn_recordings_closed(const cairn_recordings *recordings) {
    cairn_recording_counters sum = recordings->closed;
    for (const cairn_room_recording *at = recordings->closing; at != NULL; at = at->next) {
        sum.bytes += at->counters.bytes;
        sum.segments += at->counters.segments;
        sum.failures += at->counters.failures;
        sum.gaps += at->counters.gaps;
        sum.ticks_lost += at->counters.ticks_lost;
    }
    return sum;
}
