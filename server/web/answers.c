// SPDX-License-Identifier: MIT
// For clock_gettime, and the "e" of fopen.
#define _DEFAULT_SOURCE
#include "server/web/answers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "net/crypto.h"
#include "program/json.h"
#include "program/system.h"
#include "server/web/metrics.h"
#include "server/web/operations.h"
#include <cairn/server.h>
#include <cairn/server_uv.h>
#include <cairn/token.h>

// Counters are read at most this often; requests in between get the same answer.
#define METRICS_AGE_NS UINT64_C(100000000)
#define ROOM_JSON_SIZE 256
#define DEV_TOKEN_TIMEOUT_S 10

// Text that answers share while they are sent. This thread writes it while it has the only
// reference.
typedef struct shared_text {
    atomic_uint references;
    cairn_metrics_text text;
    uint64_t made_ns; // 0: it is not whole
} shared_text;

struct cairn_web_answers {
    cairn_web_answers_config config;
    cairn_key dev_key;
    cairn_operations *operations;
    shared_text *metrics[2]; // of each format; NULL: none yet
    uint64_t start_unix_s;
};

// On any thread.
static void release_text(void *owner) {
    shared_text *text = owner;
    if (text != NULL &&
        atomic_fetch_sub_explicit(&text->references, 1, memory_order_acq_rel) == 1) {
        free(text->text.bytes);
        free(text);
    }
}

static uint64_t resident_bytes(void) {
    unsigned long size = 0;
    unsigned long resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    const bool read = file != NULL && fscanf(file, "%lu %lu", &size, &resident) == 2;
    if (file != NULL) {
        fclose(file);
    }
    return read ? (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static uint64_t cpu_ns(void) {
    struct timespec used = {0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * CAIRN_NS_PER_S + (uint64_t)used.tv_nsec;
}

static const cairn_http_answer out_of_memory = {.status = 503, .type = "text/plain"};

static cairn_web_control_statistics add_controls(
    const cairn_web_control_statistics *here, const cairn_web_control_statistics *there) {
    return (cairn_web_control_statistics){.asked = here->asked + there->asked,
        .refused_token = here->refused_token + there->refused_token,
        .refused_origin = here->refused_origin + there->refused_origin,
        .refused_body = here->refused_body + there->refused_body,
        .refused_busy = here->refused_busy + there->refused_busy,
        .left = here->left + there->left};
}

// False: out of memory.
static bool write_metrics(const cairn_web_answers *own, const cairn_web_counts *counts, bool open,
    cairn_metrics_text *out) {
    const cairn_web_answers_config *config = &own->config;
    const cairn_metrics_process process = {.io = cairn_uv_driver_statistics(config->driver),
        .web = *counts,
        .control = add_controls(cairn_operations_statistics(own->operations), &counts->control),
        .frames_not_sent = config->frames_not_sent(config->user),
        .start_unix_s = own->start_unix_s,
        .log_lines_lost = config->log_lines_lost(config->log_user),
        .log_bytes_waiting = config->log_bytes_waiting(config->log_user),
        .resident_bytes = resident_bytes(),
        .cpu_ns = cpu_ns()};
    return cairn_metrics_write(config->server, &process, open, out);
}

// Writes the kept text again. If an answer still uses it, takes new memory for it. NULL: out of
// memory.
static shared_text *renew_metrics(
    const cairn_web_answers *own, const cairn_web_counts *counts, bool open, shared_text **kept) {
    if (*kept != NULL && atomic_load_explicit(&(*kept)->references, memory_order_acquire) > 1) {
        release_text(*kept);
        *kept = NULL;
    }
    if (*kept == NULL) {
        *kept = calloc(1, sizeof **kept);
        if (*kept == NULL) {
            return NULL;
        }
        atomic_init(&(*kept)->references, 1);
    }
    (*kept)->made_ns = 0;
    if (!write_metrics(own, counts, open, &(*kept)->text)) {
        return NULL;
    }
    (*kept)->made_ns = cairn_uv_now_ns();
    return *kept;
}

static cairn_http_answer metrics(cairn_web_answers *own, const cairn_question *question) {
    const bool open = question->open;
    shared_text **kept = &own->metrics[open ? 1 : 0];
    shared_text *text = *kept;
    if (text == NULL || cairn_uv_now_ns() - text->made_ns > METRICS_AGE_NS) {
        text = renew_metrics(own, &question->counts, open, kept);
    }
    if (text == NULL) {
        return out_of_memory;
    }
    atomic_fetch_add_explicit(&text->references, 1, memory_order_relaxed);
    return (cairn_http_answer){.status = 200,
        .type = open ? CAIRN_METRICS_OPEN_TYPE : CAIRN_METRICS_TYPE,
        .bytes = (const uint8_t *)text->text.bytes,
        .size = text->text.size,
        .release = release_text,
        .owner = text};
}

static cairn_http_answer rooms(const cairn_web_answers *own) {
    cairn_server *server = own->config.server;
    cairn_json *list = cairn_json_create_array();
    size_t size = 4;
    for (uint32_t id = 0; (id = cairn_server_room_next(server, id)) != 0;) {
        cairn_server_room_info info;
        cairn_server_room_statistics now;
        cairn_json *room = cairn_json_put_object(list, NULL);
        cairn_server_room_read(server, id, &info);
        cairn_server_room_statistics_read(server, id, &now);
        cairn_json_put_text(room, "name", info.name);
        cairn_json_put_text(room, "scene", info.scene_name);
        cairn_json_put_text(room, "rules", info.rules_name);
        cairn_json_put_count(room, "tick_rate_hz", info.tick_rate_hz);
        cairn_json_put_count(room, "clients", now.clients);
        cairn_json_put_count(room, "players", now.players);
        cairn_json_put_count(room, "bodies", now.bodies);
        size += ROOM_JSON_SIZE + strlen(info.scene_name) + strlen(info.rules_name);
    }
    char *bytes = malloc(size);
    const size_t used = bytes == NULL ? 0 : cairn_json_write(list, bytes, size);
    cairn_json_destroy(list);
    if (used == 0) {
        free(bytes);
        return out_of_memory;
    }
    return (cairn_http_answer){.status = 200,
        .type = "application/json",
        .bytes = (const uint8_t *)bytes,
        .size = used,
        .release = free,
        .owner = bytes};
}

static bool issue_token(const cairn_web_answers *own, const cairn_user_data *user,
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE];
    uint64_t client_id = 0;
    if (!cairn_system_random(entropy, sizeof entropy) ||
        !cairn_system_random(&client_id, sizeof client_id) ||
        cairn_user_data_encode(user, user_data) != CAIRN_OK) {
        return false;
    }
    const cairn_token_request request = {.protocol_id = own->config.protocol_id,
        .client_id = client_id,
        .create_unix_s = cairn_uv_unix_ns() / CAIRN_NS_PER_S,
        .lifetime_s = own->config.token_lifetime_s,
        .timeout_s = DEV_TOKEN_TIMEOUT_S,
        .server_addresses = &own->config.public_address,
        .server_count = 1,
        .private_key = own->dev_key.bytes,
        .user_data = user_data,
        .entropy = entropy};
    const bool issued = cairn_token_issue(&request, token) == CAIRN_OK;
    cairn_wipe(entropy, sizeof entropy);
    return issued;
}

static cairn_http_answer token(const cairn_web_answers *own, const cairn_user_data *user) {
    if (user->room[0] != '\0' && cairn_server_room_find(own->config.server, user->room) == 0) {
        return cairn_http_words(404, "there is no such room\n");
    }
    uint8_t *bytes = malloc(CAIRN_CONNECT_TOKEN_SIZE);
    if (bytes == NULL || !issue_token(own, user, bytes)) {
        free(bytes);
        return out_of_memory;
    }
    return (cairn_http_answer){.status = 200,
        .type = "application/octet-stream",
        .bytes = bytes,
        .size = CAIRN_CONNECT_TOKEN_SIZE,
        .release = free,
        .owner = bytes};
}

static cairn_http_answer ready(const cairn_web_answers *own) {
    return cairn_server_admits(own->config.server) ? cairn_http_words(200, "clients may join\n")
                                                   : cairn_http_words(503, "the server ends\n");
}

static void answer(cairn_web_answers *own, cairn_question *question) {
    cairn_questions *questions = own->config.questions;
    switch (question->kind) {
    case CAIRN_QUESTION_HEALTH:
        cairn_questions_answer(questions, question, cairn_http_words(200, "the loop runs\n"));
        return;
    case CAIRN_QUESTION_READY:
        cairn_questions_answer(questions, question, ready(own));
        return;
    case CAIRN_QUESTION_ROOMS:
        cairn_questions_answer(questions, question, rooms(own));
        return;
    case CAIRN_QUESTION_METRICS:
        cairn_questions_answer(questions, question, metrics(own, question));
        return;
    case CAIRN_QUESTION_TOKEN:
        cairn_questions_answer(questions, question, token(own, &question->user));
        return;
    case CAIRN_QUESTION_CONTROL:
    case CAIRN_QUESTION_DRAIN:
        cairn_operations_begin(own->operations, question);
        return;
    }
}

void cairn_web_answers_give(cairn_web_answers *own) {
    cairn_operations_forget_left(own->operations);
    for (cairn_question *next; (next = cairn_questions_take(own->config.questions)) != NULL;) {
        answer(own, next);
    }
}

cairn_status cairn_web_answers_create(
    const cairn_web_answers_config *config, cairn_web_answers **out) {
    cairn_web_answers *own = calloc(1, sizeof *own);
    *out = NULL;
    if (own == NULL || cairn_operations_create(config->server, config->driver, config->questions,
                           &own->operations) != CAIRN_OK) {
        free(own);
        return CAIRN_OUT_OF_MEMORY;
    }
    own->config = *config;
    own->config.dev_key = NULL;
    own->start_unix_s = cairn_uv_unix_ns() / CAIRN_NS_PER_S;
    if (config->dev_key != NULL) {
        own->dev_key = *config->dev_key;
    }
    *out = own;
    return CAIRN_OK;
}

void cairn_web_answers_destroy(cairn_web_answers *own) {
    if (own != NULL) {
        cairn_operations_destroy(own->operations);
        release_text(own->metrics[0]);
        release_text(own->metrics[1]);
        cairn_wipe(&own->dev_key, sizeof own->dev_key);
        free(own);
    }
}
