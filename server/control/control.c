// SPDX-License-Identifier: MIT
#include "server/control/control.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "server/control/parts.h"
#include "server/core/server_state.h"

static const cairn_control_row rows[CAIRN_CONTROL_VERB_COUNT] = {
    [CAIRN_CONTROL_FEATURES] = {.action = cairn_control_features, .roomless = true},
    [CAIRN_CONTROL_ROOMS] = {.action = cairn_control_rooms, .roomless = true},
    [CAIRN_CONTROL_STATE] = {.action = cairn_control_state},
    [CAIRN_CONTROL_CLIENTS] = {.action = cairn_control_clients},
    [CAIRN_CONTROL_PAUSE] = {.action = cairn_control_pause, .writes = true},
    [CAIRN_CONTROL_RESUME] = {.action = cairn_control_resume, .writes = true},
    [CAIRN_CONTROL_STEP] = {.action = cairn_control_step, .writes = true},
    [CAIRN_CONTROL_RUN_UNTIL] = {.action = cairn_control_run_until, .writes = true},
    [CAIRN_CONTROL_RATE] = {.action = cairn_control_rate, .writes = true},
    [CAIRN_CONTROL_RESET] = {.action = cairn_control_reset, .writes = true},
    [CAIRN_CONTROL_SAVE] = {.action = cairn_control_save_make, .writes = true},
    [CAIRN_CONTROL_LOAD] = {.action = cairn_control_load, .writes = true},
    [CAIRN_CONTROL_SEEK] = {.action = cairn_control_seek, .writes = true},
    [CAIRN_CONTROL_FORK] = {.action = cairn_control_fork, .writes = true},
    [CAIRN_CONTROL_ROOM_DESTROY] = {.action = cairn_control_room_destroy, .writes = true},
    [CAIRN_CONTROL_FAULTS] = {.action = cairn_control_faults, .roomless = true, .writes = true},
    [CAIRN_CONTROL_SAVES] = {.action = cairn_control_saves, .roomless = true},
    [CAIRN_CONTROL_SAVE_READ] = {.action = cairn_control_save_read, .roomless = true},
    [CAIRN_CONTROL_SAVE_WRITE] = {.action = cairn_control_save_write,
        .roomless = true,
        .writes = true},
    [CAIRN_CONTROL_SAVE_DELETE] = {.action = cairn_control_save_delete,
        .roomless = true,
        .writes = true},
    [CAIRN_CONTROL_ROOM_CREATE] = {.action = cairn_control_room_create,
        .roomless = true,
        .writes = true},
    [CAIRN_CONTROL_SPAWN_BOX] = {.action = cairn_control_spawn_box, .writes = true, .numbers = 6},
    [CAIRN_CONTROL_SPAWN_SPHERE] = {.action = cairn_control_spawn_sphere,
        .writes = true,
        .numbers = 4},
    [CAIRN_CONTROL_DELETE] = {.action = cairn_control_delete, .writes = true},
    [CAIRN_CONTROL_SET_POSITION] = {.action = cairn_control_set_position,
        .writes = true,
        .numbers = 3},
    [CAIRN_CONTROL_SET_VELOCITY] = {.action = cairn_control_set_velocity,
        .writes = true,
        .numbers = 6},
    [CAIRN_CONTROL_IMPULSE] = {.action = cairn_control_impulse, .writes = true, .numbers = 3},
    [CAIRN_CONTROL_GET] = {.action = cairn_control_get},
    [CAIRN_CONTROL_BODIES] = {.action = cairn_control_bodies},
    [CAIRN_CONTROL_RAY] = {.action = cairn_control_ray, .numbers = 6},
    [CAIRN_CONTROL_OVERLAP] = {.action = cairn_control_overlap, .numbers = 6},
    [CAIRN_CONTROL_HASH] = {.action = cairn_control_hash},
    [CAIRN_CONTROL_DIFF] = {.action = cairn_control_diff},
};

const cairn_control_row *cairn_control_row_of(uint32_t verb) {
    return verb < CAIRN_CONTROL_VERB_COUNT && rows[verb].action != NULL ? &rows[verb] : NULL;
}

cairn_status cairn_control_open(cairn_server *server) {
    server->desk = server->config.control ? calloc(1, sizeof *server->desk) : NULL;
    return server->config.control && server->desk == NULL ? CAIRN_OUT_OF_MEMORY : CAIRN_OK;
}

void cairn_control_close(cairn_server *server) {
    if (server->desk != NULL) {
        cairn_control_drop_saves(server->desk);
    }
    free(server->desk);
    server->desk = NULL;
}

cairn_control_refusal cairn_control_refuse(
    cairn_control_visit *v, cairn_control_refusal refusal, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(v->desk->words, sizeof v->desk->words, format, arguments);
    va_end(arguments);
    return refusal;
}

void cairn_control_line(cairn_control_visit *v, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    CAIRN_ASSERT(size >= 0 && (size_t)size < sizeof line - 1);
    line[size] = '\n';
    cairn_control_add_bytes(v, line, (size_t)size + 1);
}

void cairn_control_add_id(cairn_control_visit *v, uint32_t id) {
    CAIRN_ASSERT(v->answer.id_count < CAIRN_CONTROL_IDS_MAX);
    v->desk->ids[v->answer.id_count++] = id;
}

void cairn_control_add_number(cairn_control_visit *v, float number) {
    CAIRN_ASSERT(v->answer.number_count < CAIRN_CONTROL_NUMBERS_OUT_MAX);
    v->desk->numbers[v->answer.number_count++] = number;
}

void cairn_control_add_bytes(cairn_control_visit *v, const void *bytes, size_t size) {
    if (size <= CAIRN_CONTROL_BYTES_OUT_MAX - v->answer.byte_count) {
        memcpy(v->desk->bytes + v->answer.byte_count, bytes, size);
        v->answer.byte_count += (uint32_t)size;
    }
}

// Whose room and root an answer tells: the room asked about, else the client's own.
static bool send_answer(
    cairn_server *server, cairn_session *session, const cairn_room *room, cairn_answer answer) {
    room = room == NULL ? session->room : room;
    answer.room = room == NULL ? "" : room->name;
    answer.tick = room == NULL ? 0 : room->scheduler.tick;
    answer.root = room == NULL ? (cairn_hash128){0} : room->hash.full;
    const cairn_message message = {.kind = CAIRN_MESSAGE_ANSWER, .answer = answer};
    return cairn_session_send_reliable(session, server->context.encoder, &message) > 0;
}

static bool refuse_at_once(cairn_server *server, cairn_session *session, const cairn_control *ask,
    cairn_control_refusal refusal) {
    server->statistics.controls_refused[refusal] += 1;
    return send_answer(server, session, NULL,
        (cairn_answer){.request = ask->request,
            .verb = ask->verb,
            .refusal = refusal,
            .words = cairn_control_refusal_text(refusal)});
}

static void enqueue(
    struct cairn_control_desk *desk, const cairn_session *session, const cairn_control *ask) {
    cairn_control_entry *entry = &desk->entries[desk->count++];
    entry->client = session->client;
    entry->client_id = session->client_id;
    entry->ask = *ask;
    snprintf(entry->room, sizeof entry->room, "%s", ask->room);
    snprintf(entry->name, sizeof entry->name, "%s", ask->name);
    memcpy(entry->numbers, ask->numbers, ask->number_count * sizeof *entry->numbers);
    memcpy(entry->bytes, ask->bytes, ask->byte_count);
}

bool cairn_control_take(cairn_server *server, cairn_session *session, const cairn_control *ask) {
    const bool allowed = (session->rights & CAIRN_RIGHT_OPERATOR) != 0;
    if (!allowed || server->desk == NULL) {
        const cairn_control_refusal refusal =
            allowed ? CAIRN_CONTROL_CLOSED : CAIRN_CONTROL_NO_RIGHT;
        session->controls_refused += 1;
        cairn_server_emit_event(server, session->room, CAIRN_LOG_WARN, "control_refused",
            session->client_id, cairn_control_refusal_text(refusal), refusal);
        refuse_at_once(server, session, ask, refusal);
        return session->controls_refused > CAIRN_CONTROL_REFUSED_MAX;
    }
    if (server->desk->count == CAIRN_CONTROL_QUEUE_MAX) {
        refuse_at_once(server, session, ask, CAIRN_CONTROL_BUSY);
        return false;
    }
    enqueue(server->desk, session, ask);
    return false;
}

static cairn_session *session_of(cairn_server *server, uint32_t client, uint64_t client_id) {
    cairn_session *session = &server->sessions[client];
    const bool here =
        session->state == CAIRN_SESSION_WELCOMED || session->state == CAIRN_SESSION_PLAYING;
    return here && session->client_id == client_id ? session : NULL;
}

static cairn_control_refusal act(cairn_control_visit *v, const cairn_control_row *row) {
    if (row == NULL) {
        return cairn_control_refuse(
            v, CAIRN_CONTROL_VERB_UNKNOWN, "this server has no verb %u", v->ask->verb);
    }
    if (v->room == NULL && !row->roomless) {
        return cairn_control_refuse(
            v, CAIRN_CONTROL_ROOM_UNKNOWN, "there is no room \"%s\"", v->ask->room);
    }
    if (row->numbers != 0 && v->ask->number_count != row->numbers) {
        return cairn_control_refuse(v, CAIRN_CONTROL_OUT_OF_RANGE, "%s takes %u numbers, not %u",
            cairn_control_verb_text(v->ask->verb), row->numbers, v->ask->number_count);
    }
    return row->action(v);
}

static void finish(cairn_control_visit *v, cairn_control_refusal refusal) {
    cairn_server *server = v->server;
    if (refusal == CAIRN_CONTROL_DONE && v->later) {
        return;
    }
    if (refusal != CAIRN_CONTROL_DONE) {
        server->statistics.controls_refused[refusal] += 1;
        v->answer =
            (cairn_answer){.request = v->ask->request, .verb = v->ask->verb, .refusal = refusal};
        v->answer.words =
            v->desk->words[0] == '\0' ? cairn_control_refusal_text(refusal) : v->desk->words;
    } else {
        server->statistics.controls_done += 1;
        v->answer.words = "";
        v->answer.ids = v->desk->ids;
        v->answer.numbers = v->desk->numbers;
        v->answer.bytes = v->desk->bytes;
    }
    const bool sent = send_answer(server, v->session, v->room, v->answer);
    CAIRN_ASSERT(sent);
}

// Whether the entry is over, done or not.
static bool serve(cairn_server *server, cairn_control_entry *entry) {
    cairn_session *session = session_of(server, entry->client, entry->client_id);
    if (session == NULL) {
        return true;
    }
    entry->ask.room = entry->room;
    entry->ask.name = entry->name;
    entry->ask.numbers = entry->numbers;
    entry->ask.bytes = entry->bytes;
    cairn_room *room = entry->room[0] == '\0' ? session->room
                                              : cairn_server_room_at(server,
                                                    cairn_server_room_find(server, entry->room));
    const bool out = room != NULL && room->job.running;
    if (out || cairn_link_reliable_room(session->link) < CAIRN_CONTROL_ANSWER_SIZE_MAX) {
        return false;
    }
    cairn_control_visit visit = {
        .server = server,
        .session = session,
        .room = room,
        .ask = &entry->ask,
        .desk = server->desk,
        .answer = {.request = entry->ask.request, .verb = entry->ask.verb},
    };
    server->desk->words[0] = '\0';
    const cairn_control_row *row = cairn_control_row_of(entry->ask.verb);
    const cairn_control_refusal refusal = act(&visit, row);
    const char *verb = cairn_control_verb_text(entry->ask.verb);
    if (refusal != CAIRN_CONTROL_DONE || row->writes) {
        cairn_server_emit_event(server, session->room,
            refusal == CAIRN_CONTROL_DONE ? CAIRN_LOG_INFO : CAIRN_LOG_WARN,
            refusal == CAIRN_CONTROL_DONE ? "control" : "control_refused", session->client_id,
            verb == NULL ? "unknown" : verb, refusal);
    }
    finish(&visit, refusal);
    return true;
}

// The requests of one client are done in their order; one that has to wait holds up no other's.
static bool held_up(const struct cairn_control_desk *desk, uint32_t kept, uint32_t at) {
    for (uint32_t i = 0; i < kept; ++i) {
        if (desk->entries[i].client == desk->entries[at].client) {
            return true;
        }
    }
    return false;
}

static void answer_waiting(cairn_server *server) {
    for (uint32_t id = 0; (id = cairn_server_room_next(server, id)) != 0;) {
        cairn_control_arrive(server, cairn_server_room_at(server, id));
    }
}

void cairn_control_advance(cairn_server *server) {
    struct cairn_control_desk *desk = server->desk;
    if (desk == NULL) {
        return;
    }
    answer_waiting(server);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < desk->count; ++i) {
        if (!held_up(desk, kept, i) && serve(server, &desk->entries[i])) {
            continue;
        }
        if (kept != i) {
            desk->entries[kept] = desk->entries[i];
        }
        kept += 1;
    }
    desk->count = kept;
}

// A request that has to wait does so for acknowledgements or a room's turn, which wake the driver.
uint64_t cairn_control_due_ns(const cairn_server *server) {
    const bool idle = server->desk == NULL || server->desk->count == 0;
    return idle ? UINT64_MAX : server->context.now_ns + UINT64_C(1000000);
}

static void answer_wait(cairn_server *server, cairn_room *room, cairn_control_refusal refusal) {
    cairn_control_wait *wait = &room->control_wait;
    cairn_session *session = session_of(server, wait->client, wait->client_id);
    const cairn_answer answer = {
        .request = wait->request,
        .verb = wait->verb,
        .refusal = refusal,
        .words = refusal == CAIRN_CONTROL_DONE ? "" : cairn_control_refusal_text(refusal),
        .count = (uint32_t)(room->scheduler.tick - wait->from),
    };
    if (session == NULL || send_answer(server, session, room, answer)) {
        server->statistics.controls_done += refusal == CAIRN_CONTROL_DONE ? 1 : 0;
        server->statistics.controls_refused[refusal] += refusal == CAIRN_CONTROL_DONE ? 0 : 1;
        wait->waits = false;
    }
}

void cairn_control_arrive(cairn_server *server, cairn_room *room) {
    const bool rests =
        room->time_control.paused && room->scheduler.tick >= room->time_control.burst_tick;
    if (room->control_wait.waits && rests) {
        answer_wait(server, room, CAIRN_CONTROL_DONE);
    }
}

void cairn_control_leave_room(cairn_server *server, cairn_room *room) {
    if (room->control_wait.waits) {
        answer_wait(server, room, CAIRN_CONTROL_ROOM_CLOSED);
    }
}

static void tell(
    cairn_server *server, cairn_session *session, cairn_event_kind kind, uint64_t value) {
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_EVENT,
        .event = {.kind = kind,
            .slot = CAIRN_SLOT_NONE,
            .tick = session->room->scheduler.tick,
            .value = value,
            .words = ""},
    };
    cairn_session_send_reliable(session, server->context.encoder, &message);
}

void cairn_control_notify(
    cairn_server *server, cairn_room *room, cairn_event_kind kind, uint64_t value) {
    for (cairn_session *member = room->members; member != NULL; member = member->member_next) {
        tell(server, member, kind, value);
    }
}

void cairn_control_greet(cairn_server *server, cairn_session *session) {
    const cairn_time_control *pace = &session->room->time_control;
    if (pace->speed != CAIRN_TIME_SPEED_REAL) {
        tell(server, session, CAIRN_EVENT_RATE, pace->speed);
    }
    if (pace->paused) {
        tell(server, session, CAIRN_EVENT_PAUSED, 0);
    }
}
