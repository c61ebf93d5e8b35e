// SPDX-License-Identifier: MIT
#include "server/web/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/web/control.h"
#include "server/web/files.h"
#include "server/web/json_answer.h"
#include "server/web/openapi.h"
#include "server/web/origin.h"
#include "server/web/peers.h"
#include "server/web/scrape.h"
#include <cairn/server_uv.h>
#include <cairn/token.h>

struct cairn_site {
    cairn_site_config config;
    cairn_http *http;
    cairn_peers *peers;
    cairn_web_files *files;
    cairn_web_control *control;
    cairn_scrape *scrape;
    uint64_t questions_refused;
    bool received;
};

// The answer comes later. NULL: too many wait.
static cairn_question *begin(
    cairn_site *site, cairn_question_kind kind, cairn_http_exchange *exchange) {
    cairn_question *question = cairn_questions_begin(site->config.questions, kind, exchange);
    site->questions_refused += question == NULL ? 1 : 0;
    return question;
}

static cairn_http_answer ask(cairn_site *site, cairn_question *question) {
    if (question == NULL) {
        return cairn_http_words(503, "too many requests wait\n");
    }
    cairn_questions_ask(site->config.questions, question);
    return (cairn_http_answer){.status = 0};
}

static cairn_web_counts count(const cairn_site *site) {
    return (cairn_web_counts){.http = cairn_http_statistics_read(site->http),
        .peers = *cairn_peers_statistics_read(site->peers),
        .control = *cairn_web_control_statistics_read(site->control),
        .frame_bytes_waiting = cairn_peers_waiting(site->peers),
        .questions_refused = site->questions_refused};
}

static cairn_http_answer metrics(
    cairn_site *site, const cairn_http_request *request, cairn_http_exchange *exchange) {
    char accept[256];
    cairn_http_answer kept;
    const uint64_t now_ns = cairn_uv_now_ns();
    (void)cairn_http_header_read(request, CAIRN_HTTP_ACCEPT, accept, sizeof accept);
    const bool open = strstr(accept, "application/openmetrics-text") != NULL;
    if (cairn_scrape_kept(site->scrape, open, now_ns, &kept)) {
        return kept;
    }
    cairn_question *question = begin(site, CAIRN_QUESTION_METRICS, exchange);
    if (question != NULL) {
        question->open = open;
        question->begin_ns = now_ns;
        question->counts = count(site);
        cairn_scrape_begin(site->scrape, &question->counts, &question->metrics);
    }
    return ask(site, question);
}

// Gives tokens only to pages from this machine, because a token is all that a player needs.
static cairn_http_answer token(
    cairn_site *site, const cairn_http_request *request, cairn_http_exchange *exchange) {
    char mode[16];
    char right[16];
    cairn_user_data user = {0};
    if (!site->config.issues_tokens) {
        return cairn_http_words(404, "tokens are issued with --dev on loopback alone\n");
    }
    if (!cairn_origin_is_local(request) || !cairn_origin_allowed(request, NULL, 0)) {
        return cairn_http_words(403, "tokens are for pages of this machine\n");
    }
    if (cairn_http_argument_read(request, "mode=", mode, sizeof mode) &&
        strcmp(mode, "player") != 0 && strcmp(mode, "spectator") != 0) {
        return cairn_http_words(400, "mode is player or spectator\n");
    }
    (void)cairn_http_argument_read(request, "room=", user.room, sizeof user.room);
    if (cairn_http_argument_read(request, "right=", right, sizeof right)) {
        if (!site->config.control || strcmp(right, "operator") != 0) {
            return cairn_http_words(403, "the right is operator, with --control alone\n");
        }
        user.rights = CAIRN_USER_RIGHT_OPERATOR;
    }
    cairn_question *question = begin(site, CAIRN_QUESTION_TOKEN, exchange);
    if (question != NULL) {
        question->user = user;
    }
    return ask(site, question);
}

static cairn_http_answer get(
    void *user, const cairn_http_request *request, cairn_http_exchange *exchange) {
    cairn_site *site = user;
    cairn_http_answer answer;
    const char *path = request->path;
    if (strcmp(path, "/metrics") == 0) {
        return metrics(site, request, exchange);
    }
    if (strcmp(path, "/healthz") == 0) {
        return ask(site, begin(site, CAIRN_QUESTION_HEALTH, exchange));
    }
    if (strcmp(path, "/readyz") == 0) {
        return ask(site, begin(site, CAIRN_QUESTION_READY, exchange));
    }
    if (strcmp(path, "/rooms") == 0) {
        return ask(site, begin(site, CAIRN_QUESTION_ROOMS, exchange));
    }
    if (strcmp(path, "/token") == 0) {
        return token(site, request, exchange);
    }
    if (strcmp(path, "/openapi.json") == 0 &&
        cairn_web_settings_has_operators(site->config.settings)) {
        return cairn_web_control_openapi(site->control);
    }
    if (cairn_web_files_get(site->files, request, &answer)) {
        return answer;
    }
    return cairn_http_words(
        404, "there are /metrics, /healthz, /readyz, /rooms and the files of the page\n");
}

static cairn_http_answer begin_post(void *user, const cairn_http_request *request, uint32_t *mark) {
    const cairn_site *site = user;
    const bool controls =
        strncmp(request->path, CAIRN_WEB_CONTROL_PATH, strlen(CAIRN_WEB_CONTROL_PATH)) == 0 ||
        strcmp(request->path, CAIRN_WEB_DRAIN_PATH) == 0;
    if (!controls) {
        return (cairn_http_answer){.status = 405, .type = "text/plain"};
    }
    return cairn_web_settings_has_operators(site->config.settings)
               ? cairn_web_control_begin(site->control, request, mark)
               : cairn_json_refusal(
                     404, "closed", "this server was started without --control-token");
}

static cairn_http_answer post(void *user, const char *path, uint32_t mark, const uint8_t *body,
    size_t size, cairn_http_exchange *exchange) {
    const cairn_site *site = user;
    return cairn_web_control_post(site->control, mark, path, body, size, exchange);
}

static void gone(void *user, cairn_http_exchange *exchange) {
    const cairn_site *site = user;
    cairn_question_kind kind;
    if (cairn_questions_leave(site->config.questions, exchange, &kind) &&
        kind == CAIRN_QUESTION_CONTROL) {
        cairn_web_control_note_left(site->control);
    }
}

static uint32_t ask_to_open(void *user, const cairn_http_request *request) {
    const cairn_site *site = user;
    cairn_web_settings *settings = site->config.settings;
    cairn_http_set_sockets_per_network(
        site->http, cairn_web_settings_sockets_per_network(settings));
    return cairn_web_settings_allow(settings, request) ? 0 : 403;
}

static void *opened(void *user, cairn_http_socket *socket, const cairn_address *from) {
    const cairn_site *site = user;
    return cairn_peers_open(site->peers, socket, from, cairn_uv_now_ns());
}

static bool received(void *user, void *peer, const uint8_t *bytes, size_t size) {
    cairn_site *site = user;
    site->received = true;
    return cairn_peers_receive(site->peers, peer, bytes, size, cairn_uv_now_ns());
}

static void malformed(void *user, void *peer) {
    const cairn_site *site = user;
    (void)peer;
    cairn_peers_note_malformed(site->peers);
}

static size_t next(void *user, void *peer, uint8_t **bytes) {
    const cairn_site *site = user;
    return cairn_peers_next(site->peers, peer, bytes);
}

static bool goes_on(void *user, void *peer) {
    const cairn_site *site = user;
    return cairn_peers_go_on(site->peers, peer);
}

static void closed(void *user, void *peer) {
    const cairn_site *site = user;
    cairn_peers_close(site->peers, peer);
}

static bool open_parts(cairn_site *site, char *error) {
    const cairn_site_config *config = &site->config;
    const cairn_http_config http = {.host = {.get = get,
                                        .begin_post = begin_post,
                                        .post = post,
                                        .gone = gone,
                                        .ask = ask_to_open,
                                        .opened = opened,
                                        .received = received,
                                        .malformed = malformed,
                                        .next = next,
                                        .goes_on = goes_on,
                                        .closed = closed,
                                        .user = site},
        .sockets_max = config->peers_max,
        .sockets_per_network_max = cairn_web_settings_sockets_per_network(config->settings)};
    // A microsecond of the system's clock: no process opens so many.
    const uint64_t number = cairn_uv_now_ns() / 1000;
    site->scrape = cairn_scrape_create();
    if (site->scrape == NULL ||
        cairn_peers_create(config->received, config->peers_max, number, &site->peers) != CAIRN_OK ||
        cairn_web_control_create(config->settings, config->questions, &site->control) != CAIRN_OK) {
        snprintf(error, CAIRN_HTTP_ERROR_SIZE, "out of memory");
        return false;
    }
    return cairn_web_files_load(config->root, &site->files, error) &&
           cairn_http_create(config->loop, &http, &site->http, error);
}

bool cairn_site_create(
    const cairn_site_config *config, cairn_site **out, char error[CAIRN_HTTP_ERROR_SIZE]) {
    cairn_site *site = calloc(1, sizeof *site);
    *out = NULL;
    if (site == NULL) {
        snprintf(error, CAIRN_HTTP_ERROR_SIZE, "out of memory");
        return false;
    }
    site->config = *config;
    if (!open_parts(site, error)) {
        cairn_site_close(site);
        return false;
    }
    *out = site;
    return true;
}

void cairn_site_close(cairn_site *site) {
    if (site != NULL) {
        cairn_http_close(site->http);
        cairn_web_control_destroy(site->control);
        cairn_peers_destroy(site->peers);
        cairn_web_files_release(site->files);
        cairn_scrape_destroy(site->scrape);
        free(site);
    }
}

bool cairn_site_listen(
    cairn_site *site, const cairn_address *at, char error[CAIRN_HTTP_ERROR_SIZE]) {
    return cairn_http_listen(site->http, at, error);
}

// What was read is written here: that takes longer than to read it.
static cairn_http_answer write_metrics(cairn_site *site, cairn_question *question) {
    cairn_metrics *read = question->metrics;
    question->metrics = NULL;
    return cairn_scrape_end(site->scrape, question->open, question->begin_ns, read);
}

void cairn_site_take_answers(cairn_site *site) {
    for (cairn_question *question;
         (question = cairn_questions_take_answered(site->config.questions)) != NULL;) {
        cairn_http_exchange *exchange = question->exchange;
        const bool read = question->kind == CAIRN_QUESTION_METRICS && question->metrics != NULL;
        const cairn_http_answer answer = read ? write_metrics(site, question) : question->answer;
        cairn_questions_end(question);
        cairn_http_answer_later(exchange, answer);
    }
}

void cairn_site_send(cairn_site *site, const cairn_address *to, const uint8_t *bytes, size_t size) {
    cairn_peers_send(site->peers, to, bytes, size);
}

bool cairn_site_has_received(cairn_site *site) {
    const bool has = site->received;
    site->received = false;
    return has;
}

cairn_address cairn_site_address(const cairn_site *site) {
    return cairn_http_address(site->http);
}

bool cairn_site_has_page(const cairn_site *site) {
    return cairn_web_files_count(site->files) > 0;
}
