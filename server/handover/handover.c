// SPDX-License-Identifier: MIT
#include "server/handover/handover.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "net/handover.h"
#include "recording/recorded_world.h"
#include "server/core/room_opening.h"
#include "server/handover/clients.h"
#include "sim/math/float_env.h"
#include <cairn/rules_registry.h>

// Ticks of one room in one record: those of an operator's burst that ran between two turns.
#define TICKS_MAX 4096
#define STATE_SIZE_MAX ((uint64_t)1 << 30)
#define TIME_MAX (UINT64_MAX / 2)
// What records of the clients take, generously: of each client, of each room, and besides.
#define CLIENT_SIZE ((size_t)4096)
#define ROOM_SIZE ((size_t)65536)
#define CLIENTS_SIZE ((size_t)65536)

typedef struct cairn_handover_room {
    uint32_t id;
    uint64_t next;            // tick that was not given yet
    uint64_t ticks;           // that were compared
    bool recorded, broadcast; // in the process that gives
} cairn_handover_room;

static bool fail(cairn_handover *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(cairn_handover *h, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (h->why[0] == '\0') {
        (void)vsnprintf(h->why, sizeof h->why, format, arguments);
    }
    va_end(arguments);
    return false;
}

// Whether the archive was read to its end without a refusal.
static bool is_read(cairn_handover *h, const cairn_archive *a) {
    return a->refused != NULL ? fail(h, "what was handed over is malformed: %s", a->refused)
           : a->at != a->size ? fail(h, "what was handed over is malformed: it is too long")
                              : true;
}

void cairn_handover_end(cairn_handover *h) {
    cairn_handover_links_end(&h->links);
    free(h->rooms);
    h->rooms = NULL;
    h->room_count = 0;
}

static bool reserve_rooms(cairn_handover *h, const cairn_server *server) {
    if (h->rooms == NULL) {
        h->rooms = calloc(server->rooms.capacity, sizeof *h->rooms);
    }
    return h->rooms != NULL || fail(h, "out of memory");
}

// NULL, with the reason: the room has closed.
static cairn_room *room_of(cairn_handover *h, const cairn_server *server, uint32_t index) {
    cairn_room *room = cairn_room_table_at(&server->rooms, h->rooms[index].id);
    if (room == NULL) {
        fail(h, "a room was closed meanwhile; try again");
    }
    return room;
}

bool cairn_handover_begin(cairn_handover *h, cairn_server *server) {
    *h = (cairn_handover){.room_count = 0};
    if (!cairn_server_admits(server)) {
        return fail(h, "the server is shutting down");
    }
    if (!reserve_rooms(h, server)) {
        return false;
    }
    for (uint32_t id = 0; (id = cairn_room_table_next(&server->rooms, id)) != 0;) {
        h->rooms[h->room_count++].id = id;
    }
    return true;
}

// What a room is made of, but for its name and its world.
static void put_settings(cairn_archive *a, cairn_server_room_config *config) {
    cairn_archive_u32(a, "a room's rate", &config->snapshot_rate_hz, 1, CAIRN_TICK_RATE_HZ_MAX);
    cairn_archive_u32(a, "a room's steps", &config->position_steps_per_m, 1, UINT32_MAX);
    cairn_archive_u32(a, "a room's bits", &config->rotation_bits, 1, 32);
    cairn_archive_u32(a, "a room's coding", &config->coded_together_max, 1, CAIRN_BODIES_MAX);
    cairn_archive_u32(a, "a room's view", &config->view_distance_m, 0, UINT32_MAX);
    cairn_archive_u32(a, "a room's bytes", &config->client_bytes_per_second, 0, UINT32_MAX);
    cairn_archive_u32(a, "a room's bytes", &config->room_bytes_per_second, 0, UINT32_MAX);
    cairn_archive_u32(a, "a room's players", &config->players_max, 1, CAIRN_SLOTS_MAX);
    cairn_archive_u32(a, "a room's window", &config->input_window_ticks, 1, UINT32_MAX);
    cairn_archive_u32(a, "a room's ticks", &config->catch_up_ticks_max, 1, UINT32_MAX);
    cairn_archive_u32(a, "a room's wait", &config->wait_ms, 0, UINT32_MAX);
    cairn_archive_u32(a, "a room's patience", &config->idle_s, 0, UINT32_MAX);
    cairn_archive_u32(a, "a room's cost", &config->cost_us, 0, UINT32_MAX);
    cairn_archive_bool(a, "a room's recording", &config->recorded);
    cairn_archive_bool(a, "a room's broadcast", &config->broadcast);
}

// How many clients are in the room now, and what their links are made for.
static void put_crowd(
    cairn_archive *a, const cairn_room *room, uint32_t *clients, uint32_t *bodies) {
    for (const cairn_session *at = room == NULL ? NULL : room->members; at != NULL;
         at = at->member_next) {
        *clients += 1;
        *bodies = at->link_bodies;
    }
    cairn_archive_u32(a, "a room's clients", clients, 0, CAIRN_CLIENTS_MAX);
    cairn_archive_u32(a, "a room's clients", bodies, 0, CAIRN_BODIES_MAX);
}

// ----------------------------------------------------------------------------------- the rooms

bool cairn_handover_give_room(
    cairn_handover *h, cairn_server *server, uint32_t index, cairn_archive *out, bool *later) {
    CAIRN_ASSERT(index < h->room_count && !out->reading);
    cairn_room *room = room_of(h, server, index);
    *later = room != NULL && room->job.running;
    if (room == NULL || *later) {
        return room != NULL;
    }
    uint32_t version = CAIRN_HANDOVER_VERSION, clients = 0, bodies = 0;
    uint64_t size = cairn_world_encode_size(room->world);
    uint8_t *state = malloc((size_t)size);
    if (state == NULL || cairn_world_encode(room->world, state, (size_t)size) != size) {
        free(state);
        return fail(h, "out of memory");
    }
    cairn_archive_u32(out, "", &version, 0, UINT32_MAX);
    cairn_archive_text(out, "", room->name, sizeof room->name);
    cairn_archive_text(out, "", room->scene_name, sizeof room->scene_name);
    put_settings(out, &room->settings);
    cairn_archive_words(out, &room->start_root.lo, 1);
    cairn_archive_words(out, &room->start_root.hi, 1);
    put_crowd(out, room, &clients, &bodies);
    cairn_archive_words(out, &room->scheduler.tick, 1);
    cairn_archive_words(out, &size, 1);
    cairn_archive_bytes(out, state, (size_t)size);
    free(state);
    h->rooms[index].next = room->scheduler.tick;
    return out->refused == NULL || fail(h, "out of memory");
}

// NULL, with the reason.
static cairn_world *read_world(cairn_handover *h, const char *room, cairn_archive *in) {
    cairn_chunk_keyframe state = {.tick = 0};
    uint64_t size = 0;
    cairn_archive_words(in, &state.tick, 1);
    cairn_archive_u64(in, "a state's size", &size, 1, STATE_SIZE_MAX);
    state.state = in->in + in->at;
    state.state_size = (uint32_t)size;
    if (in->refused != NULL || in->size - in->at != size) {
        fail(h, "what was handed over is malformed: a state's size");
        return NULL;
    }
    in->at += (size_t)size;
    cairn_world_def def;
    char rules_name[CAIRN_NAME_SIZE_MAX + 1];
    const cairn_rules *rules = NULL;
    const cairn_status status =
        cairn_world_def_of_encoding(state.state, state.state_size, &def, rules_name);
    if (status != CAIRN_OK) {
        fail(h, "room %s: its state: %s", room, cairn_status_text(status));
        return NULL;
    }
    if (!cairn_rules_find(rules_name, &rules)) {
        fail(h, "room %s: its rules, %s, are not known to the new process", room, rules_name);
        return NULL;
    }
    char error[CAIRN_RECORDING_ERROR_SIZE];
    cairn_world *world = cairn_recorded_world_of_keyframe(&state, rules, error);
    if (world == NULL) {
        fail(h, "room %s: %.250s", room, error);
    }
    return world;
}

bool cairn_handover_take_room(
    cairn_handover *h, cairn_server *server, uint64_t now_ns, cairn_archive *in) {
    CAIRN_ASSERT(in->reading);
    char name[CAIRN_ROOM_NAME_SIZE], reason[CAIRN_ROOM_REASON_SIZE];
    char scene[sizeof((cairn_room *)NULL)->scene_name];
    uint32_t version = 0, clients = 0, bodies = 0;
    cairn_server_room_config config = cairn_server_room_config_default();
    cairn_room_source source = {.scene_name = scene};
    cairn_archive_u32(in, "its version: another build's", &version, CAIRN_HANDOVER_VERSION,
        CAIRN_HANDOVER_VERSION);
    cairn_archive_text(in, "a room's name", name, sizeof name);
    cairn_archive_text(in, "a scene's name", scene, sizeof scene);
    put_settings(in, &config);
    cairn_archive_words(in, &source.start_root.lo, 1);
    cairn_archive_words(in, &source.start_root.hi, 1);
    put_crowd(in, NULL, &clients, &bodies);
    if (in->refused != NULL || !reserve_rooms(h, server)) {
        return in->refused == NULL ? false : is_read(h, in);
    }
    source.world = read_world(h, name, in);
    if (source.world == NULL) {
        return false;
    }
    cairn_handover_room added = {.next = cairn_world_tick(source.world),
        .recorded = config.recorded,
        .broadcast = config.broadcast};
    config.name = name;
    config.recorded = false; // begins when the room is this server's
    config.broadcast = false;
    if (cairn_server_room_open(server, now_ns, &config, &source, &added.id, reason) !=
        CAIRN_ROOM_CREATED) {
        return fail(h, "room %s: %s", name, reason);
    }
    h->rooms[h->room_count++] = added;
    cairn_handover_links_prepare(&h->links, server, bodies, clients);
    cairn_command_log_clear(cairn_room_table_at(&server->rooms, added.id)->command_log, added.next);
    return true;
}

// ----------------------------------------------------------------------------------- the ticks

static void put_hash(cairn_archive *a, cairn_hash128 *hash) {
    cairn_archive_words(a, &hash->lo, 1);
    cairn_archive_words(a, &hash->hi, 1);
}

// The commands of a tick, the root after it, and whether it became a snapshot.
static void give_tick(cairn_archive *out, const cairn_room *room, uint64_t tick) {
    const cairn_command_log *log = room->command_log;
    bool snapshot = cairn_baselines_find(room->replication->baselines, tick + 1) != NULL;
    uint32_t count;
    cairn_hash128 root;
    const cairn_command *commands = cairn_command_log_commands(log, tick, &count);
    const bool held = cairn_command_log_root(log, tick, &root);
    CAIRN_ASSERT(held);
    cairn_archive_u32(out, "", &count, 0, UINT32_MAX);
    for (uint32_t i = 0; i < count; ++i) {
        cairn_command command = commands[i];
        cairn_archive_bytes(out, &command, sizeof command);
    }
    put_hash(out, &root);
    cairn_archive_bool(out, "", &snapshot);
}

bool cairn_handover_give_ticks(
    cairn_handover *h, cairn_server *server, cairn_archive *out, bool *any) {
    uint32_t rooms = 0;
    *any = false;
    for (uint32_t id = 0; (id = cairn_room_table_next(&server->rooms, id)) != 0;) {
        rooms += 1;
    }
    if (rooms > h->room_count) {
        return fail(h, "a room was created meanwhile; try again");
    }
    for (uint32_t i = 0; i < h->room_count; ++i) {
        cairn_handover_room *given = &h->rooms[i];
        cairn_room *room = room_of(h, server, i);
        if (room == NULL) {
            return false;
        }
        const uint64_t end = room->scheduler.tick;
        uint32_t count = (uint32_t)(end - given->next);
        if (end < given->next || end - given->next > TICKS_MAX ||
            (count > 0 && cairn_command_log_oldest(room->command_log) > given->next)) {
            return fail(h, "the world of room %s was replaced meanwhile; try again", room->name);
        }
        cairn_archive_u32(out, "", &count, 0, UINT32_MAX);
        for (uint64_t tick = given->next; tick < end; ++tick) {
            give_tick(out, room, tick);
        }
        for (uint32_t k = 0; count > 0 && k < CAIRN_SECTION_COUNT; ++k) {
            put_hash(out, &room->hash.sections[k]);
        }
        given->next = end;
        *any = *any || count > 0;
    }
    return out->refused == NULL || fail(h, "out of memory");
}

// Puts the commands of one tick into the room's job. False: refused.
static bool read_commands(cairn_room *room, cairn_archive *in) {
    struct cairn_server_job *job = &room->job;
    uint32_t count = 0;
    cairn_archive_u32(in, "the number of commands", &count, 0, job->commands_per_tick_max);
    for (uint32_t i = 0; i < count; ++i) {
        cairn_archive_bytes(in, &job->commands[i], sizeof job->commands[i]);
        if (in->refused == NULL && cairn_command_check(&job->commands[i]) != CAIRN_OK) {
            cairn_archive_refuse(in, "a command");
        }
    }
    cairn_commands_sort(job->commands, count);
    job->from = room->scheduler.tick;
    job->tick_count = 1;
    job->command_count = count;
    job->ticks[0] = (cairn_job_tick){.command_count = count};
    return in->refused == NULL;
}

static bool hashes_differ(cairn_hash128 a, cairn_hash128 b) {
    return a.lo != b.lo || a.hi != b.hi;
}

// Which parts of the world differ, by name.
static void name_parts(
    const cairn_world_hash *own, const cairn_hash128 *theirs, char *out, size_t size) {
    size_t at = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < CAIRN_SECTION_COUNT && at < size; ++i) {
        if (hashes_differ(own->sections[i], theirs[i])) {
            at += (size_t)snprintf(out + at, size - at, "%s%s", at == 0 ? "" : ", ",
                cairn_section_name((cairn_section)i));
        }
    }
}

// Steps the tick in the room's job, and makes what is derived from the world.
static void step_beside(cairn_room *room, bool snapshot) {
    const cairn_room_replication *replication = room->replication;
    cairn_server_job_run(&room->job);
    cairn_room_finish_job(room);
    cairn_room_meshes_update(&room->replication->meshes, room->world);
    cairn_room_shapes_update(&room->replication->shapes, room->world);
    const cairn_baseline *newest = cairn_baselines_newest(replication->baselines);
    if (snapshot && (newest == NULL || newest->frame.tick < room->scheduler.tick)) {
        (void)cairn_baselines_take(
            replication->baselines, room->world, &room->replication->shapes, NULL);
    }
}

static bool take_room_ticks(
    cairn_handover *h, cairn_server *server, cairn_handover_room *taken, cairn_archive *in) {
    cairn_room *room = cairn_room_table_at(&server->rooms, taken->id);
    uint32_t count = 0;
    uint64_t differs = UINT64_MAX;
    cairn_archive_u32(in, "the number of ticks", &count, 0, TICKS_MAX);
    for (uint32_t i = 0; i < count && in->refused == NULL; ++i) {
        cairn_hash128 root;
        bool snapshot = false;
        if (!read_commands(room, in)) {
            break;
        }
        put_hash(in, &root);
        cairn_archive_bool(in, "a snapshot", &snapshot);
        if (in->refused != NULL || differs != UINT64_MAX) {
            continue;
        }
        step_beside(room, snapshot);
        differs = hashes_differ(room->hash.full, root) ? room->scheduler.tick : UINT64_MAX;
    }
    cairn_hash128 sections[CAIRN_SECTION_COUNT] = {{0}};
    for (uint32_t k = 0; count > 0 && k < CAIRN_SECTION_COUNT; ++k) {
        put_hash(in, &sections[k]);
    }
    if (in->refused != NULL) {
        return is_read(h, in);
    }
    if (differs != UINT64_MAX) {
        char parts[160];
        name_parts(&room->hash, sections, parts, sizeof parts);
        return fail(h, "room %s differs after tick %" PRIu64 ": %s", room->name, differs,
            differs == taken->next + count ? parts : "of several ticks that ran at once");
    }
    taken->next += count;
    taken->ticks += count;
    return true;
}

bool cairn_handover_take_ticks(cairn_handover *h, cairn_server *server, cairn_archive *in) {
    const uint64_t mode = cairn_float_set_default();
    uint64_t least = UINT64_MAX;
    bool good = true;
    for (uint32_t i = 0; good && i < h->room_count; ++i) {
        const uint64_t before = h->rooms[i].ticks;
        good = take_room_ticks(h, server, &h->rooms[i], in);
        h->ticks += h->rooms[i].ticks - before;
        least = h->rooms[i].ticks > 0 && h->rooms[i].ticks < least ? h->rooms[i].ticks : least;
    }
    cairn_float_leave(mode);
    h->ticks_min = least == UINT64_MAX ? 0 : least;
    return good && is_read(h, in);
}

// --------------------------------------------------------------------------------- the clients

void cairn_handover_hold(cairn_server *server, bool hold) {
    server->holding = hold;
}

bool cairn_handover_is_quiet(const cairn_server *server) {
    return server->jobs_out == 0 && server->held_size == 0 &&
           cairn_netcode_server_is_quiet(server->context.netcode);
}

static void put_schedule(cairn_archive *a, cairn_room *room) {
    cairn_tick_scheduler *scheduler = &room->scheduler;
    cairn_time_control *control = &room->time_control;
    const uint64_t fastest = (uint64_t)CAIRN_TICK_RATE_HZ_MAX * CAIRN_TIME_SPEED_MAX;
    cairn_archive_u64(a, "a schedule's start", &scheduler->start_ns, 0, TIME_MAX);
    cairn_archive_u64(a, "a schedule's rate", &scheduler->ticks_per_period, 1, fastest);
    cairn_archive_u64(a, "a schedule's next tick", &scheduler->next_ns, 0, TIME_MAX);
    cairn_archive_words(a, &scheduler->offset, 1);
    cairn_archive_words(a, &scheduler->ticks_skipped, 1);
    cairn_archive_words(a, &scheduler->ticks_waited, 1);
    cairn_archive_words(a, &scheduler->advances_overloaded, 1);
    cairn_archive_bool(a, "a pause", &control->paused);
    cairn_archive_u32(a, "a speed", &control->speed, 0, CAIRN_TIME_SPEED_MAX);
    cairn_archive_words(a, &control->burst_tick, 1);
    cairn_archive_words(a, &control->stop_tick, 1);
    cairn_archive_u64(a, "a pause", &control->serve_ns, 0, TIME_MAX);
}

// What waits for a room's next ticks; its world is known to be the same. Players who stay behind
// count as having left, so that they get their slots again.
static void put_room(cairn_archive *a, const cairn_netcode_server *netcode, cairn_room *room) {
    const uint64_t tick = room->scheduler.tick;
    cairn_world_hash hash = room->hash;
    uint64_t given = tick;
    cairn_archive_u64(
        a, "a room's tick", &given, a->reading ? tick : 0, a->reading ? tick : TIME_MAX);
    put_hash(a, &hash.full);
    if (a->reading && hashes_differ(hash.full, room->hash.full)) {
        cairn_archive_refuse(a, "a room's root");
    }
    put_schedule(a, room);
    cairn_slot_set left = room->left_slots;
    uint64_t clients[CAIRN_SLOTS_MAX];
    memcpy(clients, room->left_clients, sizeof clients);
    for (const cairn_session *at = room->members; at != NULL; at = at->member_next) {
        if (at->slot != CAIRN_SLOT_NONE && !cairn_netcode_server_is_given(netcode, at->client)) {
            cairn_slot_set_put(&left, at->slot, true);
            clients[at->slot] = at->client_id;
        }
    }
    cairn_archive_words(a, clients, CAIRN_SLOTS_MAX);
    cairn_archive_words(a, left.words, sizeof left.words / sizeof left.words[0]);
    if (a->reading) {
        memcpy(room->left_clients, clients, sizeof clients);
        room->left_slots = left;
    }
    cairn_inbox_hand_over(room->inbox, tick, a);
}

static void give_client(cairn_server *server, uint32_t client, uint32_t index, cairn_archive *out) {
    cairn_session *session = &server->sessions[client];
    cairn_archive_u32(out, "", &client, 0, UINT32_MAX);
    cairn_archive_u32(out, "", &index, 0, UINT32_MAX);
    (void)cairn_session_hand_over(server, NULL, session, session->room, out);
}

size_t cairn_handover_clients_size(const cairn_handover *h, const cairn_server *server) {
    size_t size = CLIENTS_SIZE;
    for (uint32_t i = 0; i < h->room_count; ++i) {
        const cairn_room *room = cairn_room_table_at(&server->rooms, h->rooms[i].id);
        size += ROOM_SIZE;
        for (const cairn_session *at = room == NULL ? NULL : room->members; at != NULL;
             at = at->member_next) {
            size += CLIENT_SIZE;
        }
    }
    return size;
}

void cairn_handover_give_clients(
    cairn_handover *h, cairn_server *server, uint64_t now_ns, cairn_archive *out) {
    cairn_netcode_server *netcode = server->context.netcode;
    uint32_t count = 0;
    CAIRN_ASSERT(cairn_handover_is_quiet(server));
    server->context.now_ns = now_ns;
    cairn_archive_words(out, &now_ns, 1);
    cairn_netcode_server_hand_over(netcode, now_ns, out);
    for (uint32_t i = 0; i < h->room_count; ++i) {
        cairn_room *room = cairn_room_table_at(&server->rooms, h->rooms[i].id);
        CAIRN_ASSERT(room != NULL && room->scheduler.tick == h->rooms[i].next);
        put_room(out, netcode, room);
    }
    for (uint32_t i = 0; i < server->config.clients_max; ++i) {
        count += cairn_netcode_server_is_given(netcode, i) ? 1 : 0;
    }
    cairn_archive_u32(out, "", &count, 0, UINT32_MAX);
    // In the order in which they joined their rooms.
    for (uint32_t i = 0; i < h->room_count; ++i) {
        const cairn_room *room = cairn_room_table_at(&server->rooms, h->rooms[i].id);
        for (const cairn_session *at = room->members; at != NULL; at = at->member_next) {
            if (cairn_netcode_server_is_given(netcode, at->client)) {
                give_client(server, at->client, i, out);
            }
        }
    }
    for (uint32_t i = 0; i < server->config.clients_max; ++i) {
        if (cairn_netcode_server_is_given(netcode, i) && server->sessions[i].room == NULL) {
            give_client(server, i, CAIRN_HANDOVER_NO_ROOM, out);
        }
    }
}

// False: refused.
static bool take_client(cairn_handover *h, cairn_server *server, cairn_archive *in) {
    uint32_t client = 0;
    uint32_t index = 0;
    cairn_archive_u32(in, "a client's index", &client, 0, server->config.clients_max - 1);
    cairn_archive_u32(in, "a client's room", &index, 0, CAIRN_HANDOVER_NO_ROOM);
    cairn_session *session = &server->sessions[client];
    const bool in_room = index != CAIRN_HANDOVER_NO_ROOM;
    if (in->refused == NULL && in_room && index >= h->room_count) {
        cairn_archive_refuse(in, "a client's room");
    }
    if (in->refused == NULL &&
        (session->state != CAIRN_SESSION_FREE ||
            !cairn_netcode_server_connected(server->context.netcode, client))) {
        cairn_archive_refuse(in, "a client's index");
    }
    cairn_room *room = in->refused == NULL && in_room
                           ? cairn_room_table_at(&server->rooms, h->rooms[index].id)
                           : NULL;
    return in->refused == NULL && cairn_session_hand_over(server, &h->links, session, room, in);
}

// Players that did not come along leave their slots; a client that returns finds its slot again.
static void leave_slots(cairn_room *room) {
    cairn_slot_set present = {{0}};
    for (const cairn_session *at = room->members; at != NULL; at = at->member_next) {
        if (at->slot != CAIRN_SLOT_NONE) {
            cairn_slot_set_put(&present, at->slot, true);
        }
    }
    for (uint32_t slot = 0; slot < room->settings.players_max; ++slot) {
        if (cairn_inbox_has_player(room->inbox, slot) && !cairn_slot_set_has(&present, slot)) {
            cairn_inbox_leave(room->inbox, slot);
            room->statistics.leaves += 1;
        }
    }
}

bool cairn_handover_take_clients(
    cairn_handover *h, cairn_server *server, uint64_t now_ns, cairn_archive *in) {
    uint64_t given_ns = 0;
    uint32_t count = 0;
    server->context.now_ns = now_ns;
    // Both read the same clock, unless the processes are in different time namespaces.
    cairn_archive_u64(
        in, "the clock", &given_ns, now_ns > CAIRN_NS_PER_S ? now_ns - CAIRN_NS_PER_S : 0, now_ns);
    if (in->refused == NULL) {
        cairn_netcode_server_hand_over(server->context.netcode, now_ns, in);
    }
    for (uint32_t i = 0; i < h->room_count && in->refused == NULL; ++i) {
        cairn_room *room = cairn_room_table_at(&server->rooms, h->rooms[i].id);
        put_room(in, server->context.netcode, room);
    }
    cairn_archive_u32(in, "the number of clients", &count, 0, server->config.clients_max);
    for (uint32_t i = 0; i < count && take_client(h, server, in); ++i) {}
    for (uint32_t i = 0; i < server->config.clients_max && in->refused == NULL; ++i) {
        if ((server->sessions[i].state == CAIRN_SESSION_FREE) ==
            cairn_netcode_server_connected(server->context.netcode, i)) {
            cairn_archive_refuse(in, "a client without a session");
        }
    }
    if (!is_read(h, in)) {
        return false;
    }
    for (uint32_t i = 0; i < h->room_count; ++i) {
        leave_slots(cairn_room_table_at(&server->rooms, h->rooms[i].id));
    }
    return true;
}

void cairn_handover_record(cairn_handover *h, cairn_server *server,
    bool (*recorded)(void *user, const char *room), void *user) {
    for (uint32_t i = 0; i < h->room_count; ++i) {
        cairn_room *room = cairn_room_table_at(&server->rooms, h->rooms[i].id);
        room->settings.recorded = h->rooms[i].recorded && recorded(user, room->name);
        room->settings.broadcast = h->rooms[i].broadcast;
        cairn_hosted_room_begin_recordings(&server->recordings, &server->broadcasts, room,
            room->settings.recorded, room->settings.broadcast);
    }
}

void cairn_handover_leave(cairn_server *server, uint64_t now_ns) {
    CAIRN_ASSERT(!server->draining);
    server->context.now_ns = now_ns;
    server->left = true;
    server->draining = true;
    server->drain_end_ns = now_ns;
    server->sent_all = true;
    for (uint32_t i = 0; i < server->rooms.count; ++i) {
        cairn_hosted_room_end_recordings(server->rooms.rooms[i]);
    }
}
