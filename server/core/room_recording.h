// SPDX-License-Identifier: MIT
#pragma once

// The recording of a room. The server's thread copies what happened into pieces: ticks with their
// commands, states, an end. A task encodes, packs, signs and writes them, so that neither a large
// world nor a slow disk delays a tick. The pieces that wait are bounded. If one is lost because too
// many wait, or because a write failed, the recording continues in a new segment: a file of its own
// that starts with a state, so that every file verifies. A room's broadcast is a recording, too: of
// segments that end after some seconds.

#include <stddef.h>
#include <stdint.h>

#include "server/room/job.h"
#include "server/room/task.h"
#include "server/session/context.h"
#include <cairn/server.h>
#include <cairn/sim.h>

typedef struct cairn_room_recording cairn_room_recording;

// How long a recording that failed waits before it tries a new segment.
#define CAIRN_RECORDING_RETRY_NS CAIRN_NS_PER_S

typedef struct cairn_recording_counters {
    uint64_t bytes;      // written
    uint64_t segments;   // begun
    uint64_t failures;   // of a write, or of a file that could not be created or closed
    uint64_t gaps;       // pieces that were lost because too many waited
    uint64_t ticks_lost; // that are in no segment
} cairn_recording_counters;

// The recordings, or the broadcasts, of a server: those of its rooms, and those of closed rooms
// that are still written.
typedef struct cairn_recordings {
    const cairn_server_config *server;
    uint32_t segment_s; // 0: recordings, the segments of which have no bound; else broadcasts
    const cairn_server_context *context;
    cairn_task_runner *runner;
    struct cairn_room_recording *closing;
    cairn_recording_counters closed; // sums over those that are closed
} cairn_recordings;

// A save of a world (cairn_world_save). For a large world it takes long, so a task may have made
// it.
typedef struct cairn_saved_world {
    uint8_t *bytes; // owned; NULL: not made
    size_t size;
} cairn_saved_world;
// Without bytes: out of memory.
cairn_saved_world cairn_saved_world_of(const cairn_world *world);

// Begins a recording with the room's world; `room` has a name and a scene's name. The recording
// takes the bytes of room->saved if it needs them. Without such bytes it saves the world itself.
// `state_size_max`: the longest encoded state. CAIRN_OUT_OF_MEMORY: *out is NULL. A segment that
// cannot be begun is not an error: it is tried again.
cairn_status cairn_room_recording_create(cairn_recordings *recordings, const cairn_room *room,
    size_t state_size_max, cairn_room_recording **out);

// After the ticks of a job ran.
void cairn_room_recording_add_job(cairn_room_recording *recording, const cairn_room *room);
// After the room's world was replaced. `saved` is of this world and used like room->saved.
void cairn_room_recording_replace(
    cairn_room_recording *recording, const cairn_world *world, cairn_saved_world *saved);
// Writes what waits. Returns whether everything is written.
bool cairn_room_recording_flush(cairn_room_recording *recording);
// Ends the recording; what waits is still written. Not to be used afterwards.
void cairn_room_recording_end(cairn_room_recording *recording);

bool cairn_room_recording_is_whole(const cairn_room_recording *recording); // a segment is written
cairn_recording_counters cairn_room_recording_counters(const cairn_room_recording *recording);
size_t cairn_room_recording_waiting(const cairn_room_recording *recording); // bytes
// Of the closed rooms.
cairn_recording_counters cairn_recordings_closed(const cairn_recordings *recordings);
