// SPDX-License-Identifier: MIT
#include "server/room/room_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "server/server_parts.h"

// What a client may send at once: an input message with all its inputs is well below.
#define CLIENT_MESSAGE_SIZE_MAX (CAIRN_DIFFERENCE_SKETCH_SIZE_MAX + 4096)
// Room for a ticks message, however small the world.
#define UNRELIABLE_SIZE_MIN (32 * 1024)
#define RELIABLE_BUFFER_SIZE_MIN (64 * 1024)
// A recording loses at most this much when the machine stops.
#define RECORDED_TICKS_PER_CHUNK 64
#define SNAPSHOT_RATE_HZ_DEFAULT 20
#define PHASE_NS UINT64_C(1000000)

// An id is the place's generation and its index plus one.
#define PLACES_PER_GENERATION 2048
#define GENERATIONS (UINT32_MAX / PLACES_PER_GENERATION)
_Static_assert(CAIRN_ROOMS_MAX < PLACES_PER_GENERATION, "every place has an id");

struct cairn_room_place {
    cairn_room *room;    // NULL: free
    uint32_t generation; // of the room that is here or comes next
};

_Static_assert((int)CAIRN_ROOM_REASON_SIZE >= (int)CAIRN_SCENE_ERROR_SIZE, "words fit");

cairn_server_room_config cairn_server_room_config_default(void) {
    return (cairn_server_room_config){
        .name = CAIRN_ROOM_NAME_DEFAULT,
        .players_max = CAIRN_SLOTS_MAX,
        .input_window_ticks = 64,
        .catch_up_ticks_max = 4,
        .recorded = true,
    };
}

const char *cairn_server_room_refusal_text(cairn_server_room_refusal refusal) {
    static const char *const texts[CAIRN_ROOM_REFUSAL_COUNT] = {
        [CAIRN_ROOM_CREATED] = "created",
        [CAIRN_ROOM_REFUSED_NAME] = "a room's name has 1 to 31 letters, digits, '-', '_' and '.', "
                                    "and does not begin with '.'",
        [CAIRN_ROOM_REFUSED_NAME_TAKEN] = "a room of this name exists",
        [CAIRN_ROOM_REFUSED_TABLE_FULL] = "the server holds no more rooms",
        [CAIRN_ROOM_REFUSED_SCENE] = "the scene cannot be built",
        [CAIRN_ROOM_REFUSED_UNKNOWN] = "there is no such room",
        [CAIRN_ROOM_REFUSED_TICK] = "the room does not hold that tick",
        [CAIRN_ROOM_REFUSED_BUSY] = "the room is in the middle of a tick",
        [CAIRN_ROOM_REFUSED_DRAINING] = "the server is shutting down",
        [CAIRN_ROOM_REFUSED_MEMORY] = "out of memory",
    };
    return texts[refusal];
}

bool cairn_room_table_create(cairn_server *server) {
    server->places = calloc(server->config.rooms_max, sizeof *server->places);
    server->rooms = calloc(server->config.rooms_max, sizeof *server->rooms);
    return server->places != NULL && server->rooms != NULL;
}

static uint32_t id_of(const cairn_server *server, uint32_t index) {
    return server->places[index].generation * PLACES_PER_GENERATION + index + 1;
}

static uint32_t index_of(uint32_t id) {
    return id % PLACES_PER_GENERATION - 1;
}

cairn_room *cairn_room_table_find(const cairn_server *server, uint32_t id) {
    uint32_t index = index_of(id);
    bool current = index < server->config.rooms_max && id_of(server, index) == id;
    cairn_room *room = current ? server->places[index].room : NULL;
    return room == NULL || room->closing ? NULL : room;
}

uint32_t cairn_server_room_next(const cairn_server *server, uint32_t room) {
    for (uint32_t i = room == 0 ? 0 : index_of(room) + 1; i < server->config.rooms_max; ++i) {
        if (server->places[i].room != NULL && !server->places[i].room->closing) {
            return id_of(server, i);
        }
    }
    return 0;
}

uint32_t cairn_server_room_find(const cairn_server *server, const char *name) {
    uint32_t id = cairn_server_room_next(server, 0);
    while (
        id != 0 && name[0] != '\0' && strcmp(cairn_room_table_find(server, id)->name, name) != 0) {
        id = cairn_server_room_next(server, id);
    }
    return id;
}

static bool is_name(const char *name) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_.";
    if (name == NULL || name[0] == '\0' || name[0] == '.') {
        return false;
    }
    size_t size = strspn(name, allowed);
    return name[size] == '\0' && size < CAIRN_ROOM_NAME_SIZE;
}

static uint32_t free_place(const cairn_server *server) {
    uint32_t index = 0;
    while (index < server->config.rooms_max && server->places[index].room != NULL) {
        index += 1;
    }
    return index;
}

static cairn_server_room_refusal check(
    const cairn_server *server, const cairn_server_room_config *config) {
    if (server->draining) {
        return CAIRN_ROOM_REFUSED_DRAINING;
    }
    if (!is_name(config->name)) {
        return CAIRN_ROOM_REFUSED_NAME;
    }
    if (cairn_server_room_find(server, config->name) != 0) {
        return CAIRN_ROOM_REFUSED_NAME_TAKEN;
    }
    if (free_place(server) == server->config.rooms_max) {
        return CAIRN_ROOM_REFUSED_TABLE_FULL;
    }
    return CAIRN_ROOM_CREATED;
}

static uint32_t snapshot_rate(const cairn_server_room_config *config, const cairn_world *forked) {
    uint32_t tick_rate = forked != NULL              ? cairn_world_settings(forked)->tick_rate_hz
                         : config->tick_rate_hz != 0 ? config->tick_rate_hz
                                                     : config->scene->world.tick_rate_hz;
    uint32_t usual = SNAPSHOT_RATE_HZ_DEFAULT < tick_rate ? SNAPSHOT_RATE_HZ_DEFAULT : tick_rate;
    return config->snapshot_rate_hz == 0 ? usual : config->snapshot_rate_hz;
}

static bool write_record(void *user, const uint8_t *bytes, size_t size) {
    const cairn_room *room = user;
    const cairn_server_config *config = &room->server->config;
    return config->on_record(config->user, room->name, bytes, size);
}

static bool start_recording(cairn_room *room) {
    const cairn_recorder_config recorder = {
        .ticks_per_chunk = RECORDED_TICKS_PER_CHUNK,
        .commands_per_tick_max = CAIRN_INBOX_COMMANDS_MAX,
        .state_size_max = room->transfer.capacity,
        .scene_name = room->scene_name,
        .signing_seed = room->server->config.record_seed,
        .write = write_record,
        .user = room,
    };
    return cairn_recorder_create(&recorder, &room->recorder) == CAIRN_OK &&
           cairn_recorder_start(room->recorder, room->world);
}

static void end_recording(cairn_room *room) {
    if (room == NULL || room->recorder == NULL) {
        return;
    }
    cairn_recorder_end(room->recorder);
    room->statistics.recording_bytes = cairn_recorder_bytes(room->recorder);
    cairn_recorder_destroy(room->recorder);
    room->recorder = NULL;
    write_record(room, NULL, 0);
}

static cairn_server_room_refusal refusal_of(cairn_status status) {
    return status == CAIRN_OK              ? CAIRN_ROOM_CREATED
           : status == CAIRN_OUT_OF_MEMORY ? CAIRN_ROOM_REFUSED_MEMORY
                                           : CAIRN_ROOM_REFUSED_SCENE;
}

// What a new room's world comes from: a scene, or another room at one of its ticks.
typedef struct origin {
    const cairn_room *room; // NULL: the config's scene
    uint64_t tick;
    bool edits; // an operator may write into it
} origin;

static cairn_server_room_refusal fork_world(const origin *from, cairn_world **out) {
    if (from->room->job.running) {
        return CAIRN_ROOM_REFUSED_BUSY;
    }
    bool now = from->tick == CAIRN_TICK_NOW || from->tick == from->room->scheduler.tick;
    if (!now && !cairn_state_history_holds(from->room->state_history, from->tick)) {
        return CAIRN_ROOM_REFUSED_TICK;
    }
    if (cairn_world_fork(from->room->world, out) != CAIRN_OK) {
        return CAIRN_ROOM_REFUSED_MEMORY;
    }
    cairn_status status =
        now ? CAIRN_OK : cairn_state_history_load(from->room->state_history, from->tick, *out);
    CAIRN_ASSERT(status == CAIRN_OK);
    return CAIRN_ROOM_CREATED;
}

static cairn_server_room_refusal build(const cairn_server_room_config *config, uint64_t start_ns,
    const origin *from, cairn_room *room, char *words) {
    cairn_world *world = NULL;
    const cairn_server_room_refusal refusal = from->room != NULL      ? fork_world(from, &world)
                                              : config->scene == NULL ? CAIRN_ROOM_REFUSED_SCENE
                                                                      : CAIRN_ROOM_CREATED;
    if (refusal != CAIRN_ROOM_CREATED) {
        return refusal;
    }
    const cairn_room_config built = {
        .scene = config->scene,
        .world = world,
        .scene_name = world == NULL ? "" : from->room->scene_name,
        .start_root = world == NULL ? (cairn_hash128){0} : from->room->start_root,
        .rules = config->rules,
        .tick_rate_hz = config->tick_rate_hz,
        .snapshot_rate_hz = snapshot_rate(config, world),
        .players_max = config->players_max,
        .input_window_ticks = config->input_window_ticks,
        .catch_up_ticks_max = config->catch_up_ticks_max,
        .edits_max = from->edits ? CAIRN_INBOX_EDITS_MAX : 0,
        .wait_ms = config->wait_ms,
        .start_ns = start_ns,
    };
    return refusal_of(cairn_room_create(&built, room, words));
}

static void free_room(cairn_room *room) {
    if (room != NULL) {
        cairn_room_destroy(room);
        free(room);
    }
}

// Rooms start at whole milliseconds after the server, so that those of one rate share their
// wakings.
static uint64_t start_ns(const cairn_server *server, uint64_t now_ns) {
    uint64_t past = (now_ns - server->config.start_ns) % PHASE_NS;
    return past == 0 ? now_ns : now_ns + PHASE_NS - past;
}

// Makes the room of a config that was checked; NULL when it is refused.
static cairn_room *make(cairn_server *server, uint64_t now_ns, const origin *from,
    const cairn_server_room_config *config, cairn_server_room_refusal *refusal, char *words) {
    cairn_room *room = calloc(1, sizeof *room);
    *refusal = room == NULL ? CAIRN_ROOM_REFUSED_MEMORY
                            : build(config, start_ns(server, now_ns), from, room, words);
    if (*refusal == CAIRN_ROOM_CREATED) {
        snprintf(room->name, sizeof room->name, "%s", config->name);
        room->server = server;
        if (server->config.control) {
            cairn_state_history_require(room->state_history, CAIRN_STATE_HISTORY_FOR_CONTROL,
                CAIRN_ROOM_STATE_HISTORY_SECONDS * room->tick_rate_hz);
        }
        room->job.clock_ns = server->config.clock_ns;
        room->job.clock_user = server->config.user;
        bool recorded = config->recorded && server->config.on_record != NULL;
        *refusal =
            !recorded || start_recording(room) ? CAIRN_ROOM_CREATED : CAIRN_ROOM_REFUSED_MEMORY;
    }
    if (*refusal != CAIRN_ROOM_CREATED) {
        free_room(room);
        return NULL;
    }
    return room;
}

static cairn_server_room_refusal refuse(
    cairn_server *server, cairn_server_room_refusal refusal, char *words) {
    if (words[0] == '\0') {
        snprintf(words, CAIRN_ROOM_REASON_SIZE, "%s", cairn_server_room_refusal_text(refusal));
    }
    server->statistics.rooms_refused += 1;
    cairn_server_emit_event(server, NULL, CAIRN_LOG_ERROR, "room_refused", 0, words, refusal);
    return refusal;
}

static cairn_server_room_refusal open_room(cairn_server *server, uint64_t now_ns,
    const origin *from, const cairn_server_room_config *config, uint32_t *id, char *words) {
    char own_words[CAIRN_ROOM_REASON_SIZE];
    words = words == NULL ? own_words : words;
    words[0] = '\0';
    *id = 0;
    cairn_server_room_refusal refusal = check(server, config);
    cairn_room *made =
        refusal == CAIRN_ROOM_CREATED ? make(server, now_ns, from, config, &refusal, words) : NULL;
    if (made == NULL) {
        return refuse(server, refusal, words);
    }
    uint32_t index = free_place(server);
    server->places[index].room = made;
    server->rooms[server->room_count++] = made;
    made->id = id_of(server, index);
    *id = made->id;
    cairn_server_emit_event(
        server, made, CAIRN_LOG_INFO, "room_created", 0, made->scene_name, made->id);
    return CAIRN_ROOM_CREATED;
}

cairn_server_room_refusal cairn_server_room_create(cairn_server *server, uint64_t now_ns,
    const cairn_server_room_config *config, uint32_t *room, char words[CAIRN_ROOM_REASON_SIZE]) {
    const origin scene = {.edits = server->config.control};
    return open_room(server, now_ns, &scene, config, room, words);
}

cairn_server_room_refusal cairn_server_room_fork(cairn_server *server, uint64_t now_ns,
    uint32_t from, uint64_t tick, const cairn_server_room_config *config, uint32_t *room,
    char words[CAIRN_ROOM_REASON_SIZE]) {
    const origin forked = {
        .room = cairn_room_table_find(server, from), .tick = tick, .edits = server->config.control};
    if (forked.room == NULL) {
        char own_words[CAIRN_ROOM_REASON_SIZE];
        words = words == NULL ? own_words : words;
        words[0] = '\0';
        *room = 0;
        return refuse(server, CAIRN_ROOM_REFUSED_UNKNOWN, words);
    }
    return open_room(server, now_ns, &forked, config, room, words);
}

static void forget_room(cairn_server *server, const cairn_room *room) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < server->room_count; ++i) {
        server->rooms[kept] = server->rooms[i];
        kept += server->rooms[i] == room ? 0 : 1;
    }
    server->room_count = kept;
}

static void close_place(cairn_server *server, uint32_t index) {
    struct cairn_room_place *place = &server->places[index];
    end_recording(place->room);
    cairn_statistics_close_room(server, place->room);
    forget_room(server, place->room);
    free_room(place->room);
    place->room = NULL;
    place->generation = (place->generation + 1) % GENERATIONS;
}

bool cairn_server_room_destroy(
    cairn_server *server, uint64_t now_ns, uint32_t room, const char *reason) {
    cairn_room *closed = cairn_room_table_find(server, room);
    if (closed == NULL) {
        return false;
    }
    server->now_ns = now_ns;
    cairn_control_leave_room(server, closed);
    const cairn_message notice = {
        .kind = CAIRN_MESSAGE_EVENT,
        .event = {.kind = CAIRN_EVENT_ROOM_CLOSES,
            .slot = CAIRN_SLOT_NONE,
            .tick = closed->scheduler.tick,
            .words = reason},
    };
    while (closed->members != NULL) {
        cairn_session_dispatch(server, closed->members, CAIRN_SESSION_EVENT_ROOM_CLOSED, &notice);
    }
    cairn_server_emit_event(server, closed, CAIRN_LOG_INFO, "room_closed", 0, reason, room);
    closed->closing = true;
    if (!closed->job.running) {
        close_place(server, index_of(room));
    }
    return true;
}

void cairn_room_table_reap(cairn_server *server, cairn_room *room) {
    CAIRN_ASSERT(room->closing && !room->job.running);
    close_place(server, index_of(room->id));
}

void cairn_room_table_end_recordings(cairn_server *server) {
    for (uint32_t i = 0; i < server->config.rooms_max; ++i) {
        end_recording(server->places[i].room);
    }
}

void cairn_room_table_destroy(cairn_server *server) {
    for (uint32_t i = 0; server->places != NULL && i < server->config.rooms_max; ++i) {
        if (server->places[i].room != NULL) {
            close_place(server, i);
        }
    }
    free(server->rooms);
    free(server->places);
    server->rooms = NULL;
    server->places = NULL;
}

static uint32_t within(uint32_t value, uint32_t least, uint32_t most) {
    return value < least ? least : value > most ? most : value;
}

uint32_t cairn_room_table_bodies_max(const cairn_server *server) {
    uint32_t bodies = 0;
    for (uint32_t id = 0; (id = cairn_server_room_next(server, id)) != 0;) {
        uint32_t here = cairn_room_table_find(server, id)->body_capacity;
        bodies = here > bodies ? here : bodies;
    }
    return bodies;
}

cairn_link_config cairn_room_table_link_config(uint64_t bodies) {
    uint64_t keyframe = bodies * sizeof(cairn_snapshot_body) + 1024;
    uint32_t longest =
        keyframe > CAIRN_MESSAGE_SIZE_MAX ? CAIRN_MESSAGE_SIZE_MAX : (uint32_t)keyframe;
    cairn_link_config config = cairn_link_config_default();
    config.unreliable_size_max = within(longest, UNRELIABLE_SIZE_MIN, CAIRN_MESSAGE_SIZE_MAX);
    config.receive_size_max = CLIENT_MESSAGE_SIZE_MAX;
    config.reliable_buffer_size =
        within(2 * longest, RELIABLE_BUFFER_SIZE_MIN, 2 * CAIRN_MESSAGE_SIZE_MAX);
    return config;
}

bool cairn_server_room_read(
    const cairn_server *server, uint32_t room, cairn_server_room_info *out) {
    const cairn_room *read = cairn_room_table_find(server, room);
    *out = (cairn_server_room_info){0};
    if (read == NULL) {
        return false;
    }
    *out = (cairn_server_room_info){
        .name = read->name,
        .scene_name = read->scene_name,
        .rules_name = cairn_room_rules_name(read),
        .tick_rate_hz = read->tick_rate_hz,
        .snapshot_rate_hz = read->snapshot_rate_hz,
        .wait_ms = read->input_wait.wait_ms,
        .busy = read->job.running,
        .recording = read->recorder != NULL && !cairn_recorder_failed(read->recorder),
    };
    return true;
}

const struct cairn_world *cairn_server_world(const cairn_server *server, uint32_t room) {
    const cairn_room *read = cairn_room_table_find(server, room);
    return read == NULL || read->job.running ? NULL : read->world;
}
