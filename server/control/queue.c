// SPDX-License-Identifier: MIT
#include "server/control/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "schema/control.h"
#include "server/control/verbs.h"
#include "server/core/server_state.h"

typedef struct cairn_control_entry {
    bool taken;
    uint32_t client;
    uint64_t client_id;
    cairn_control_request_copy copy;
} cairn_control_entry;

// The search of a tick in a recording, one at a time: reading and stepping may take a minute, so a
// task does it. The request waits meanwhile.
typedef struct recording_search {
    cairn_server_task task; // first
    const cairn_server_config *config;
    bool begun; // for the request below
    bool done;
    uint32_t client;
    uint64_t client_id;
    uint32_t number; // of the request
    char room[CAIRN_ROOM_NAME_SIZE];
    uint64_t tick;
    cairn_world *found; // owned; NULL: the recording does not hold the tick
} recording_search;

struct cairn_control_queue {
    recording_search search;
    uint32_t count; // entries[order[0 .. count)] wait, oldest first
    uint32_t order[CAIRN_CONTROL_QUEUE_MAX];
    cairn_control_entry entries[CAIRN_CONTROL_QUEUE_MAX];
    cairn_control_saves saves;
    cairn_control_lists lists;
    char reason[CAIRN_TEXT_SIZE_MAX + 1];
};

cairn_status cairn_control_queue_create(cairn_control_queue **out) {
    *out = calloc(1, sizeof **out);
    return *out == NULL ? CAIRN_OUT_OF_MEMORY : CAIRN_OK;
}

void cairn_control_queue_destroy(cairn_control_queue *queue) {
    if (queue != NULL) {
        CAIRN_ASSERT(!queue->search.task.out);
        cairn_world_destroy(queue->search.found);
        cairn_control_saves_clear(&queue->saves);
        free(queue);
    }
}

// An answer holds the tick and root of the room asked about, else of the client's own.
static bool send_answer(cairn_server *server, cairn_session *session, const cairn_room *room,
    cairn_control_answer answer) {
    room = room == NULL ? session->room : room;
    answer.room = room == NULL ? "" : room->name;
    answer.tick = room == NULL ? 0 : room->scheduler.tick;
    answer.root = room == NULL ? (cairn_hash128){0} : room->hash.full;
    const cairn_message message = {.kind = CAIRN_MESSAGE_ANSWER, .answer = answer};
    return cairn_session_send_reliable(session, server->context.encoder, &message) > 0;
}

static bool refuse_at_once(cairn_server *server, cairn_session *session,
    const cairn_control_request *request, cairn_control_refusal refusal) {
    CAIRN_ASSERT(refusal != CAIRN_CONTROL_DONE && refusal < CAIRN_CONTROL_REFUSAL_COUNT);
    server->statistics.controls_refused[refusal] += 1;
    return send_answer(server, session, NULL,
        (cairn_control_answer){.number = request->number,
            .verb = request->verb,
            .refusal = refusal,
            .reason = cairn_control_refusal_text(refusal)});
}

static bool has_room(const cairn_control_queue *queue, const cairn_session *session) {
    uint32_t own = 0;
    for (uint32_t i = 0; i < queue->count; ++i) {
        own += queue->entries[queue->order[i]].client == session->client ? 1 : 0;
    }
    const uint32_t limit = own < CAIRN_CONTROL_QUEUE_FEW
                               ? CAIRN_CONTROL_QUEUE_MAX
                               : CAIRN_CONTROL_QUEUE_MAX - CAIRN_CONTROL_QUEUE_RESERVED;
    return queue->count < limit && own < CAIRN_CONTROL_QUEUE_PER_CLIENT_MAX;
}

static void enqueue(cairn_control_queue *queue, const cairn_session *session,
    const cairn_control_request *request) {
    CAIRN_ASSERT(queue->count < CAIRN_CONTROL_QUEUE_MAX);
    uint32_t free_entry = 0;
    while (queue->entries[free_entry].taken) {
        ++free_entry;
    }
    CAIRN_ASSERT(free_entry < CAIRN_CONTROL_QUEUE_MAX);
    cairn_control_entry *entry = &queue->entries[free_entry];
    entry->taken = true;
    entry->client = session->client;
    entry->client_id = session->client_id;
    cairn_control_request_copy_from(&entry->copy, request);
    queue->order[queue->count++] = free_entry;
}

bool cairn_control_queue_receive(
    cairn_server *server, cairn_session *session, const cairn_control_request *request) {
    const bool allowed = (session->rights & CAIRN_RIGHT_OPERATOR) != 0;
    if (!allowed || server->control == NULL) {
        const cairn_control_refusal refusal =
            allowed ? CAIRN_CONTROL_CLOSED : CAIRN_CONTROL_NO_RIGHT;
        session->controls_refused += 1;
        cairn_context_emit(&server->context, session->room, CAIRN_LOG_WARN, "control_refused",
            session->client_id, cairn_control_refusal_text(refusal), refusal);
        refuse_at_once(server, session, request, refusal);
        return session->controls_refused > CAIRN_CONTROL_UNAUTHORISED_MAX;
    }
    if (!has_room(server->control, session)) {
        refuse_at_once(server, session, request, CAIRN_CONTROL_BUSY);
        return false;
    }
    enqueue(server->control, session, request);
    return false;
}

// NULL if the client has left.
static cairn_session *find_session(cairn_server *server, uint32_t client, uint64_t client_id) {
    CAIRN_ASSERT(client < server->config.clients_max);
    cairn_session *session = &server->sessions[client];
    return cairn_session_is_admitted(session) && session->client_id == client_id ? session : NULL;
}

static cairn_control_refusal run_verb(cairn_control_context *c, const cairn_control_verb_row *row) {
    if (row == NULL) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_VERB_UNKNOWN, "this server has no verb %u", c->request->verb);
    }
    if (c->room == NULL && !row->needs_no_room) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_ROOM_UNKNOWN, "there is no room \"%s\"", c->request->room);
    }
    if (row->moves && c->room->control_wait.waits) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_BUSY, "another request makes the room run; pause it first");
    }
    return row->action(c);
}

static void answer_request(cairn_control_context *c, cairn_control_refusal refusal) {
    cairn_server *server = c->server;
    if (refusal == CAIRN_CONTROL_DONE && c->answers_later) {
        return;
    }
    c->answer.number = c->request->number;
    c->answer.verb = c->request->verb;
    c->answer.refusal = refusal;
    c->answer.reason = c->reason;
    if (refusal != CAIRN_CONTROL_DONE) {
        server->statistics.controls_refused[refusal] += 1;
        CAIRN_ASSERT(c->reason[0] != '\0');
    } else {
        server->statistics.controls_done += 1;
    }
    const bool sent = send_answer(server, c->session, c->room, c->answer);
    CAIRN_ASSERT(sent);
}

static void run_search(cairn_server_task *task) {
    recording_search *search = (recording_search *)task;
    search->found = search->config->on_seek(search->config->user, search->room, search->tick);
}

static void finish_search(cairn_server_task *task) {
    recording_search *search = (recording_search *)task;
    search->done = true;
}

static bool is_of_request(const recording_search *search, const cairn_control_entry *entry) {
    return search->begun && search->client == entry->client &&
           search->client_id == entry->client_id && search->number == entry->copy.request.number;
}

// Whether the tick that the request seeks has been looked for in the room's recording, if that is
// necessary. Begins the search once the recording is written.
static bool has_searched(
    cairn_server *server, const cairn_room *room, const cairn_control_entry *entry) {
    const cairn_control_request *request = &entry->copy.request;
    recording_search *search = &server->control->search;
    if (request->verb != CAIRN_CONTROL_SEEK || room == NULL || room->recording == NULL ||
        server->config.on_seek == NULL ||
        cairn_control_seek_is_in_memory(room, request->seek.tick)) {
        return true;
    }
    if (!search->begun && cairn_room_recording_flush(room->recording)) {
        *search = (recording_search){.task = {.run = run_search, .done = finish_search},
            .config = &server->config,
            .begun = true,
            .client = entry->client,
            .client_id = entry->client_id,
            .number = request->number,
            .tick = request->seek.tick};
        memcpy(search->room, room->name, sizeof search->room);
        cairn_task_start(&server->tasks, &search->task);
    }
    return is_of_request(search, entry) && search->done;
}

// Takes what a search has found, or forgets it if its request is gone.
static cairn_world *end_search(recording_search *search) {
    cairn_world *found = search->found;
    CAIRN_ASSERT(!search->task.out);
    *search = (recording_search){.begun = false};
    return found;
}

// False if the request has to wait.
static bool serve_entry(cairn_server *server, const cairn_control_entry *entry) {
    CAIRN_ASSERT(entry->taken);
    const cairn_control_request *request = &entry->copy.request;
    cairn_session *session = find_session(server, entry->client, entry->client_id);
    if (session == NULL) {
        return true;
    }
    cairn_room *room = session->room;
    if (request->room[0] != '\0') {
        room = cairn_room_table_at(&server->rooms, cairn_server_room_find(server, request->room));
    }
    const bool being_stepped = room != NULL && room->job.running;
    if (being_stepped || cairn_link_reliable_room(session->link) < CAIRN_CONTROL_ANSWER_SIZE_MAX) {
        return false;
    }
    if (!has_searched(server, room, entry)) {
        return false;
    }
    cairn_control_queue *queue = server->control;
    cairn_control_context context = {
        .server = server,
        .session = session,
        .room = room,
        .request = request,
        .saves = &queue->saves,
        .lists = &queue->lists,
        .reason = queue->reason,
    };
    if (is_of_request(&queue->search, entry) && queue->search.done) {
        context.found = end_search(&queue->search);
    }
    queue->reason[0] = '\0';
    const cairn_control_verb_row *row = cairn_control_verb_find_row(request->verb);
    const cairn_control_refusal refusal = run_verb(&context, row);
    cairn_world_destroy(context.found);
    const char *verb = cairn_control_verb_text(request->verb);
    if (refusal != CAIRN_CONTROL_DONE || row->writes) {
        const bool done = refusal == CAIRN_CONTROL_DONE;
        cairn_context_emit(&server->context, session->room, done ? CAIRN_LOG_INFO : CAIRN_LOG_WARN,
            done ? "control" : "control_refused", session->client_id,
            verb == NULL ? "unknown" : verb, refusal);
    }
    answer_request(&context, refusal);
    return true;
}

void cairn_control_queue_advance(cairn_server *server) {
    cairn_control_queue *queue = server->control;
    if (queue == NULL) {
        return;
    }
    for (uint32_t id = 0; (id = cairn_server_room_next(server, id)) != 0;) {
        cairn_control_queue_room_stepped(server, cairn_room_table_at(&server->rooms, id));
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < queue->count; ++i) {
        // The requests of one client are carried out in order; one that waits holds up no other
        // client.
        cairn_control_entry *entry = &queue->entries[queue->order[i]];
        bool held_up = false;
        for (uint32_t k = 0; k < kept; ++k) {
            held_up = held_up || queue->entries[queue->order[k]].client == entry->client;
        }
        if (!held_up && serve_entry(server, entry)) {
            entry->taken = false;
        } else {
            queue->order[kept++] = queue->order[i];
        }
    }
    CAIRN_ASSERT(kept <= queue->count && queue->count <= CAIRN_CONTROL_QUEUE_MAX);
    queue->count = kept;
    bool waited_for = false;
    for (uint32_t i = 0; i < kept; ++i) {
        waited_for = waited_for || is_of_request(&queue->search, &queue->entries[queue->order[i]]);
    }
    if (queue->search.done && !waited_for) {
        cairn_world_destroy(end_search(&queue->search));
    }
}

// A request waits for an acknowledgement or for a room's job, and both wake the driver.
uint64_t cairn_control_queue_deadline_ns(const cairn_server *server) {
    const bool idle = server->control == NULL || server->control->count == 0;
    return idle ? UINT64_MAX : server->context.now_ns + UINT64_C(1000000);
}

static void answer_wait(cairn_server *server, cairn_room *room, cairn_control_refusal refusal) {
    cairn_control_wait *wait = &room->control_wait;
    CAIRN_ASSERT(wait->waits && room->scheduler.tick >= wait->from_tick);
    cairn_session *session = find_session(server, wait->client, wait->client_id);
    const bool done = refusal == CAIRN_CONTROL_DONE;
    cairn_control_answer answer = {
        .number = wait->number,
        .verb = wait->verb,
        .refusal = refusal,
        .reason = done ? "" : cairn_control_refusal_text(refusal),
    };
    const uint32_t tick_count = (uint32_t)(room->scheduler.tick - wait->from_tick);
    if (wait->verb == CAIRN_CONTROL_ACT) {
        if (done) {
            answer.act = cairn_control_observe(room, wait, &server->control->lists);
        }
        answer.act.tick_count = tick_count;
    } else {
        answer.run.tick_count = tick_count;
    }
    if (session == NULL || send_answer(server, session, room, answer)) {
        server->statistics.controls_done += done ? 1 : 0;
        server->statistics.controls_refused[refusal] += done ? 0 : 1;
        free(wait->watched);
        *wait = (cairn_control_wait){.waits = false};
    }
}

void cairn_control_queue_room_stepped(cairn_server *server, cairn_room *room) {
    const bool has_run =
        room->time_control.paused && room->scheduler.tick >= room->time_control.burst_tick;
    if (room->control_wait.waits && has_run) {
        answer_wait(server, room, CAIRN_CONTROL_DONE);
    }
}

void cairn_control_queue_room_closing(cairn_server *server, cairn_room *room) {
    if (room->control_wait.waits) {
        answer_wait(server, room, CAIRN_CONTROL_ROOM_CLOSED);
    }
}
