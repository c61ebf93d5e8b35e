// SPDX-License-Identifier: MIT
#include "server/control/queue.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "schema/control.h"
#include "schema/message_check.h"
#include "server/control/meter.h"
#include "server/control/preparation.h"
#include "server/control/verbs.h"
#include "server/core/server_state.h"

_Static_assert(CAIRN_SERVER_ASKED_MAX == CAIRN_CONTROL_QUEUE_PER_CLIENT_MAX, "as one client");

// An operator that is not a client, and waits for an answer.
typedef struct cairn_control_outside {
    uint64_t number; // 0: the entry is free
    uint32_t asker;
    cairn_server_answered answered;
    void *user;
} cairn_control_outside;

typedef struct cairn_control_entry {
    bool paid;          // for what it takes of the thread
    uint32_t client;    // or of_operator
    uint64_t client_id; // of the client, or the number of an entry of `outside`
    cairn_control_request_copy copy;
} cairn_control_entry;

struct cairn_control_queue {
    cairn_control_preparation preparation;
    uint64_t turn_ns; // what this turn's requests took
    uint32_t count;   // entries[order[0 .. count)] wait, oldest first
    uint32_t order[CAIRN_CONTROL_QUEUE_MAX];
    bool taken[CAIRN_CONTROL_QUEUE_MAX]; // entries
    uint64_t outside_number;             // of the last one
    cairn_control_outside outside[CAIRN_CONTROL_QUEUE_MAX];
    cairn_operator_account accounts[CAIRN_SERVER_OPERATORS_MAX]; // of those that are not clients
    cairn_control_saves saves;
    cairn_control_lists lists;
    char reason[CAIRN_TEXT_SIZE_MAX + 1];
    // Last: megabytes that are not cleared, because an entry is written when it is taken.
    cairn_control_entry entries[CAIRN_CONTROL_QUEUE_MAX];
};

// As the client of requests of an operator that is not a client.
static uint32_t of_operator(uint32_t asker) {
    return UINT32_MAX - asker;
}

static bool is_client(uint32_t client) {
    return client <= UINT32_MAX - CAIRN_SERVER_OPERATORS_MAX;
}

cairn_status cairn_control_queue_create(cairn_control_queue **out) {
    *out = malloc(sizeof **out);
    if (*out == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    memset(*out, 0, offsetof(cairn_control_queue, entries));
    return CAIRN_OK;
}

void cairn_control_queue_destroy(cairn_control_queue *queue) {
    if (queue != NULL) {
        cairn_control_preparation_end(&queue->preparation);
        cairn_control_saves_clear(&queue->saves);
        free(queue);
    }
}

// Where an answer goes. Both NULL: the operator has left.
typedef struct recipient {
    cairn_session *session;
    cairn_control_outside *outside;
} recipient;

static const cairn_room *room_of(cairn_server *server, const cairn_session *session) {
    return session != NULL ? session->room
                           : cairn_room_table_at(&server->rooms, cairn_server_room_next(server, 0));
}

// An answer holds the tick and root of the room asked about, else of the operator's own, unless its
// verb has set them.
static bool send_answer(
    cairn_server *server, recipient to, const cairn_room *room, cairn_control_answer answer) {
    room = room == NULL ? room_of(server, to.session) : room;
    if (answer.room == NULL) {
        answer.room = room == NULL ? "" : room->name;
        answer.tick = room == NULL ? 0 : room->scheduler.tick;
        answer.root = room == NULL ? (cairn_hash128){0} : room->hash.full;
    }
    if (to.outside != NULL) {
        const cairn_control_outside asked = *to.outside;
        *to.outside = (cairn_control_outside){.number = 0};
        asked.answered(asked.user, &answer);
        return true;
    }
    const cairn_message message = {.kind = CAIRN_MESSAGE_ANSWER, .answer = answer};
    return cairn_session_send_reliable(to.session, server->context.encoder, &message) > 0;
}

static bool refuse_at_once(cairn_server *server, cairn_session *session,
    const cairn_control_request *request, cairn_control_refusal refusal) {
    CAIRN_ASSERT(refusal != CAIRN_CONTROL_DONE && refusal < CAIRN_CONTROL_REFUSAL_COUNT);
    server->statistics.controls_refused[refusal] += 1;
    return send_answer(server, (recipient){.session = session}, NULL,
        (cairn_control_answer){.number = request->number,
            .verb = request->verb,
            .refusal = refusal,
            .reason = cairn_control_refusal_text(refusal)});
}

// Whether another one may wait where `count` do, and `own` of them are the same operator's.
static bool has_place(uint32_t count, uint32_t own) {
    const uint32_t limit = own < CAIRN_CONTROL_QUEUE_FEW
                               ? CAIRN_CONTROL_QUEUE_MAX
                               : CAIRN_CONTROL_QUEUE_MAX - CAIRN_CONTROL_QUEUE_RESERVED;
    return count < limit && own < CAIRN_CONTROL_QUEUE_PER_CLIENT_MAX;
}

static bool has_room(const cairn_control_queue *queue, uint32_t client) {
    uint32_t own = 0;
    for (uint32_t i = 0; i < queue->count; ++i) {
        own += queue->entries[queue->order[i]].client == client ? 1 : 0;
    }
    return has_place(queue->count, own);
}

// Requests that have begun wait for their answers here alone, until their room has run.
static bool may_ask(const cairn_control_queue *queue, uint32_t asker) {
    uint32_t count = 0;
    uint32_t own = 0;
    for (uint32_t i = 0; i < CAIRN_CONTROL_QUEUE_MAX; ++i) {
        const cairn_control_outside *entry = &queue->outside[i];
        count += entry->number != 0 ? 1 : 0;
        own += entry->number != 0 && entry->asker == asker ? 1 : 0;
    }
    return has_place(count, own) && has_room(queue, of_operator(asker));
}

static void enqueue(cairn_control_queue *queue, uint32_t client, uint64_t client_id,
    const cairn_control_request *request) {
    CAIRN_ASSERT(queue->count < CAIRN_CONTROL_QUEUE_MAX);
    uint32_t free_entry = 0;
    while (queue->taken[free_entry]) {
        ++free_entry;
    }
    CAIRN_ASSERT(free_entry < CAIRN_CONTROL_QUEUE_MAX);
    cairn_control_entry *entry = &queue->entries[free_entry];
    queue->taken[free_entry] = true;
    entry->paid = false;
    entry->client = client;
    entry->client_id = client_id;
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
    if (!has_room(server->control, session->client)) {
        refuse_at_once(server, session, request, CAIRN_CONTROL_BUSY);
        return false;
    }
    enqueue(server->control, session->client, session->client_id, request);
    return false;
}

static cairn_control_outside *find_outside(cairn_control_queue *queue, uint64_t number) {
    for (uint32_t i = 0; i < CAIRN_CONTROL_QUEUE_MAX; ++i) {
        if (queue->outside[i].number == number) {
            return &queue->outside[i];
        }
    }
    return NULL;
}

cairn_status cairn_server_ask(cairn_server *server, uint32_t asker,
    const cairn_control_request *request, cairn_server_answered answered, void *user,
    uint64_t *asked) {
    cairn_control_queue *queue = server->control;
    const cairn_message message = {.kind = CAIRN_MESSAGE_CONTROL, .control = *request};
    *asked = 0;
    if (queue == NULL || asker >= CAIRN_SERVER_OPERATORS_MAX ||
        cairn_message_check(&message) != CAIRN_DECODE_OK) {
        return CAIRN_INVALID_ARGUMENT;
    }
    if (!may_ask(queue, asker)) {
        server->statistics.controls_refused[CAIRN_CONTROL_BUSY] += 1;
        return CAIRN_CAPACITY;
    }
    cairn_control_outside *entry = find_outside(queue, 0);
    CAIRN_ASSERT(entry != NULL);
    *asked = ++queue->outside_number;
    *entry = (cairn_control_outside){
        .number = *asked, .asker = asker, .answered = answered, .user = user};
    enqueue(queue, of_operator(asker), *asked, request);
    return CAIRN_OK;
}

void cairn_server_ask_forget(cairn_server *server, uint64_t asked) {
    cairn_control_outside *entry =
        server->control == NULL || asked == 0 ? NULL : find_outside(server->control, asked);
    if (entry != NULL) {
        *entry = (cairn_control_outside){.number = 0};
    }
}

static recipient find_operator(cairn_server *server, uint32_t client, uint64_t client_id) {
    if (!is_client(client)) {
        return (recipient){.outside = find_outside(server->control, client_id)};
    }
    CAIRN_ASSERT(client < server->config.clients_max);
    cairn_session *session = &server->sessions[client];
    const bool here = cairn_session_is_admitted(session) && session->client_id == client_id;
    return (recipient){.session = here ? session : NULL};
}

static bool has_left(recipient asker) {
    return asker.session == NULL && asker.outside == NULL;
}

static cairn_control_refusal run_verb(cairn_control_context *c, const cairn_control_verb_row *row) {
    if (row == NULL) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_VERB_UNKNOWN, "this server has no verb %u", c->request->verb);
    }
    if (c->room == NULL && !row->needs_no_room) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_ROOM_UNKNOWN, "unknown room \"%s\"", c->request->room);
    }
    if (row->moves && c->room->control_wait.waits) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_BUSY, "another request makes the room run; pause it first");
    }
    return row->action(c);
}

static void answer_request(cairn_control_context *c, recipient to, cairn_control_refusal refusal) {
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
    const bool sent = send_answer(server, to, c->room, c->answer);
    CAIRN_ASSERT(sent);
}

static cairn_control_asked asked_of(const cairn_control_entry *entry) {
    return (cairn_control_asked){&entry->copy.request, entry->client, entry->client_id};
}

static cairn_operator_account *account_of(
    cairn_control_queue *queue, const cairn_control_entry *entry, cairn_session *session) {
    return session != NULL ? &session->operator_account
                           : &queue->accounts[UINT32_MAX - entry->client];
}

// Whether the request's turn has come: this one has time for it, and its operator and its room have
// a share of the thread left. Where there is one room, it is the only one that a request costs.
static bool may_begin(cairn_server *server, const cairn_control_entry *entry,
    const cairn_operator_account *account, const cairn_room *room, uint64_t cost_ns) {
    const cairn_control_queue *queue = server->control;
    const uint64_t now_ns = server->context.now_ns;
    if (cost_ns <= CAIRN_CONTROL_FREE_NS) {
        return true;
    }
    if (queue->turn_ns > 0 && queue->turn_ns + cost_ns > CAIRN_CONTROL_TURN_NS) {
        return false;
    }
    return entry->paid || server->rooms.count < 2 ||
           (cairn_control_account_allows(account, now_ns) &&
               (room == NULL || cairn_control_meter_allows(room->control_until_ns, now_ns)));
}

// The request was begun.
static void pay(cairn_server *server, cairn_control_entry *entry, cairn_operator_account *account,
    cairn_room *room, uint64_t cost_ns) {
    const uint64_t now_ns = server->context.now_ns;
    if (!entry->paid && cost_ns > CAIRN_CONTROL_FREE_NS) {
        cairn_control_meter_pay(&account->loop_until_ns, now_ns, cost_ns, CAIRN_CONTROL_SHARE);
        cairn_control_meter_pay(&account->tasks_until_ns, now_ns,
            cairn_control_task_cost_ns(room, &entry->copy.request), CAIRN_CONTROL_TASK_SHARE);
        if (room != NULL) {
            cairn_control_meter_pay(
                &room->control_until_ns, now_ns, cost_ns, CAIRN_CONTROL_ROOM_SHARE);
        }
    }
    entry->paid = true;
}

// False if the request has to wait.
static bool serve_entry(cairn_server *server, cairn_control_entry *entry) {
    const cairn_control_request *request = &entry->copy.request;
    const recipient asker = find_operator(server, entry->client, entry->client_id);
    if (has_left(asker)) {
        return true;
    }
    cairn_session *session = asker.session;
    const cairn_room *own = room_of(server, session);
    const uint32_t room_id = request->room[0] == '\0'
                                 ? (own == NULL ? 0 : own->id)
                                 : cairn_server_room_find(server, request->room);
    cairn_room *room = cairn_room_table_at(&server->rooms, room_id);
    const bool being_stepped = room != NULL && room->job.running;
    if (being_stepped || (session != NULL && !cairn_link_reliable_fits(
                                                 session->link, CAIRN_CONTROL_ANSWER_SIZE_MAX))) {
        return false;
    }
    cairn_control_queue *queue = server->control;
    const cairn_control_asked asked = asked_of(entry);
    const bool too_often = room != NULL && cairn_control_replaces_world(request->verb) &&
                           !cairn_control_preparation_is_of(&queue->preparation, &asked) &&
                           !cairn_control_may_replace(room, server->context.now_ns);
    const uint64_t cost_ns = too_often ? 0 : cairn_control_cost_ns(room, request);
    cairn_operator_account *account = account_of(queue, entry, session);
    if (!may_begin(server, entry, account, room, cost_ns)) {
        return false;
    }
    const bool ready = too_often || cairn_control_prepare(
                                        &queue->preparation, server, room, &queue->saves, &asked);
    const bool prepared = cairn_control_preparation_is_of(&queue->preparation, &asked);
    if (ready || prepared) {
        pay(server, entry, account, room, cost_ns);
    }
    // A task that is out takes nothing of the turn.
    queue->turn_ns += ready || (prepared && !queue->preparation.task.out) ? cost_ns : 0;
    if (!ready) {
        return false;
    }
    cairn_control_context context = {
        .server = server,
        .asked = &asked,
        .own = own,
        .is_member = session != NULL,
        .room = room,
        .request = request,
        .saves = &queue->saves,
        .lists = &queue->lists,
        .reason = queue->reason,
        .prepared = prepared ? &queue->preparation : NULL,
    };
    queue->reason[0] = '\0';
    const cairn_control_verb_row *row = cairn_control_verb_find_row(request->verb);
    const cairn_control_refusal refusal =
        too_often ? cairn_control_refuse(&context, CAIRN_CONTROL_BUSY,
                        "the room's world was replaced too often; try again in half a second")
                  : run_verb(&context, row);
    if (prepared) {
        cairn_control_preparation_end(&queue->preparation);
    }
    const char *verb = cairn_control_verb_text(request->verb);
    if (refusal != CAIRN_CONTROL_DONE || row->writes) {
        const bool done = refusal == CAIRN_CONTROL_DONE;
        cairn_context_emit(&server->context, own, done ? CAIRN_LOG_INFO : CAIRN_LOG_WARN,
            done ? "control" : "control_refused", session == NULL ? 0 : session->client_id,
            verb == NULL ? "unknown" : verb, refusal);
    }
    answer_request(&context, asker, refusal);
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
    queue->turn_ns = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < queue->count; ++i) {
        // The requests of one client are carried out in order; one that waits holds up no other
        // client.
        const uint32_t at = queue->order[i];
        cairn_control_entry *entry = &queue->entries[at];
        bool held_up = false;
        CAIRN_ASSERT(queue->taken[at]);
        for (uint32_t k = 0; k < kept; ++k) {
            const cairn_control_entry *earlier = &queue->entries[queue->order[k]];
            held_up = held_up ||
                      (earlier->client == entry->client && earlier->client_id == entry->client_id);
        }
        if (!held_up && serve_entry(server, entry)) {
            queue->taken[at] = false;
        } else {
            queue->order[kept++] = at;
        }
    }
    CAIRN_ASSERT(kept <= queue->count && queue->count <= CAIRN_CONTROL_QUEUE_MAX);
    queue->count = kept;
    bool waited_for = false;
    for (uint32_t i = 0; i < kept; ++i) {
        const cairn_control_asked asked = asked_of(&queue->entries[queue->order[i]]);
        waited_for = waited_for || cairn_control_preparation_is_of(&queue->preparation, &asked);
    }
    if ((queue->preparation.done || queue->preparation.copying) && !waited_for) {
        cairn_control_preparation_end(&queue->preparation);
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
    const recipient asker = find_operator(server, wait->client, wait->client_id);
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
    if (has_left(asker) || send_answer(server, asker, room, answer)) {
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
