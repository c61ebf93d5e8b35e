// SPDX-License-Identifier: MIT
// For clock_gettime, and the "e" of fopen.
#define _DEFAULT_SOURCE
#include "server/web/web.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "net/crypto.h"
#include "program/json.h"
#include "program/system.h"
#include "server/web/files.h"
#include "server/web/metrics.h"
#include "server/web/openapi.h"
#include "server/web/origin.h"
#include "server/web/peers.h"
#include <cairn/server.h>
#include <cairn/server_uv.h>
#include <cairn/token.h>

// Counters are read at most this often; requests in between get the same answer.
#define METRICS_AGE_NS UINT64_C(100000000)
#define ROOM_JSON_SIZE 256
#define DEV_TOKEN_TIMEOUT_S 10

// Text that answers share while they are sent.
typedef struct shared_text {
    uint32_t references;
    cairn_metrics_text text;
    uint64_t made_ns; // 0: it is not whole
} shared_text;

struct cairn_web {
    cairn_web_config config;
    cairn_http *http;
    cairn_peers *peers;
    cairn_web_files *files;
    cairn_web_control *control; // NULL: there are no operators by HTTP
    cairn_key dev_key;
    shared_text *metrics[2]; // of each format; NULL: none yet
    uint64_t start_unix_s;
};

static void release_text(void *owner) {
    shared_text *text = owner;
    if (text != NULL && --text->references == 0) {
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

// False: out of memory.
static bool write_metrics(const cairn_web *web, bool open, cairn_metrics_text *out) {
    const cairn_metrics_process process = {.io = cairn_uv_driver_statistics(web->config.driver),
        .http = cairn_http_statistics_read(web->http),
        .peers = *cairn_peers_statistics_read(web->peers),
        .start_unix_s = web->start_unix_s,
        .control = web->control == NULL ? (cairn_web_control_statistics){0}
                                        : *cairn_web_control_statistics_read(web->control),
        .log_lines_lost = web->config.log_lines_lost(web->config.user),
        .log_bytes_waiting = web->config.log_bytes_waiting(web->config.user),
        .frame_bytes_waiting = cairn_peers_waiting(web->peers),
        .resident_bytes = resident_bytes(),
        .cpu_ns = cpu_ns()};
    return cairn_metrics_write(web->config.server, &process, open, out);
}

// Writes the kept text again. If an answer still uses it, takes new memory for it. NULL: out of
// memory.
static shared_text *renew_metrics(const cairn_web *web, bool open, shared_text **kept) {
    if (*kept != NULL && (*kept)->references > 1) {
        release_text(*kept);
        *kept = NULL;
    }
    if (*kept == NULL) {
        *kept = calloc(1, sizeof **kept);
        if (*kept == NULL) {
            return NULL;
        }
        (*kept)->references = 1;
    }
    (*kept)->made_ns = 0;
    if (!write_metrics(web, open, &(*kept)->text)) {
        return NULL;
    }
    (*kept)->made_ns = cairn_uv_now_ns();
    return *kept;
}

static cairn_http_answer metrics(cairn_web *web, const cairn_http_request *request) {
    char accept[256];
    (void)cairn_http_header_read(request, CAIRN_HTTP_ACCEPT, accept, sizeof accept);
    const bool open = strstr(accept, "application/openmetrics-text") != NULL;
    shared_text **kept = &web->metrics[open ? 1 : 0];
    shared_text *text = *kept;
    if (text == NULL || cairn_uv_now_ns() - text->made_ns > METRICS_AGE_NS) {
        text = renew_metrics(web, open, kept);
    }
    if (text == NULL) {
        return out_of_memory;
    }
    text->references += 1;
    return (cairn_http_answer){.status = 200,
        .type = open ? CAIRN_METRICS_OPEN_TYPE : CAIRN_METRICS_TYPE,
        .bytes = (const uint8_t *)text->text.bytes,
        .size = text->text.size,
        .release = release_text,
        .owner = text};
}

// `text`: static.
static cairn_http_answer words(uint32_t status, const char *text) {
    return (cairn_http_answer){.status = status,
        .type = "text/plain",
        .bytes = (const uint8_t *)text,
        .size = strlen(text)};
}

static cairn_http_answer rooms(const cairn_web *web) {
    cairn_server *server = web->config.server;
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

static bool issue_token(
    const cairn_web *web, const cairn_user_data *user, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE];
    uint64_t client_id = 0;
    if (!cairn_system_random(entropy, sizeof entropy) ||
        !cairn_system_random(&client_id, sizeof client_id) ||
        cairn_user_data_encode(user, user_data) != CAIRN_OK) {
        return false;
    }
    const cairn_token_request request = {.protocol_id = web->config.protocol_id,
        .client_id = client_id,
        .create_unix_s = cairn_uv_unix_ns() / CAIRN_NS_PER_S,
        .lifetime_s = web->config.token_lifetime_s,
        .timeout_s = DEV_TOKEN_TIMEOUT_S,
        .server_addresses = &web->config.public_address,
        .server_count = 1,
        .private_key = web->dev_key.bytes,
        .user_data = user_data,
        .entropy = entropy};
    const bool issued = cairn_token_issue(&request, token) == CAIRN_OK;
    cairn_wipe(entropy, sizeof entropy);
    return issued;
}

// A page of this machine alone gets a token: whoever holds one plays.
static cairn_http_answer token(const cairn_web *web, const cairn_http_request *request) {
    char mode[16];
    char right[16];
    cairn_user_data user = {0};
    if (!web->dev_key.given) {
        return words(404, "tokens are issued with --dev on loopback alone\n");
    }
    if (!cairn_origin_is_local(request) || !cairn_origin_allowed(request, NULL, 0)) {
        return words(403, "tokens are for pages of this machine\n");
    }
    if (cairn_http_argument_read(request, "mode=", mode, sizeof mode) &&
        strcmp(mode, "player") != 0 && strcmp(mode, "spectator") != 0) {
        return words(400, "mode is player or spectator\n");
    }
    if (cairn_http_argument_read(request, "room=", user.room, sizeof user.room) &&
        cairn_server_room_find(web->config.server, user.room) == 0) {
        return words(404, "there is no such room\n");
    }
    if (cairn_http_argument_read(request, "right=", right, sizeof right)) {
        if (!web->config.control || strcmp(right, "operator") != 0) {
            return words(403, "the right is operator, with --control alone\n");
        }
        user.rights = CAIRN_USER_RIGHT_OPERATOR;
    }
    uint8_t *bytes = malloc(CAIRN_CONNECT_TOKEN_SIZE);
    if (bytes == NULL || !issue_token(web, &user, bytes)) {
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

static cairn_http_answer get(void *user, const cairn_http_request *request) {
    cairn_web *web = user;
    cairn_http_answer answer;
    const char *path = request->path;
    if (strcmp(path, "/metrics") == 0) {
        return metrics(web, request);
    }
    if (strcmp(path, "/healthz") == 0) {
        return words(200, "the loop runs\n");
    }
    if (strcmp(path, "/readyz") == 0) {
        return cairn_server_admits(web->config.server) ? words(200, "clients may join\n")
                                                       : words(503, "the server ends\n");
    }
    if (strcmp(path, "/rooms") == 0) {
        return rooms(web);
    }
    if (strcmp(path, "/token") == 0) {
        return token(web, request);
    }
    if (strcmp(path, "/openapi.json") == 0 && web->control != NULL) {
        return cairn_web_control_openapi(web->control);
    }
    if (cairn_web_files_get(web->files, request, &answer)) {
        return answer;
    }
    return words(404, "there are /metrics, /healthz, /readyz, /rooms and the files of the page\n");
}

static cairn_http_answer begin_post(void *user, const cairn_http_request *request) {
    cairn_web *web = user;
    const bool controls =
        strncmp(request->path, CAIRN_WEB_CONTROL_PATH, strlen(CAIRN_WEB_CONTROL_PATH)) == 0 ||
        strcmp(request->path, CAIRN_WEB_DRAIN_PATH) == 0;
    if (!controls) {
        return (cairn_http_answer){.status = 405, .type = "text/plain"};
    }
    return web->control == NULL ? cairn_web_control_refuse(404, "closed",
                                      "this server was started without --control-token")
                                : cairn_web_control_begin(web->control, request);
}

static cairn_http_answer post(
    void *user, const char *path, const uint8_t *body, size_t size, cairn_http_exchange *exchange) {
    const cairn_web *web = user;
    return cairn_web_control_post(web->control, path, body, size, exchange);
}

static void gone(void *user, cairn_http_exchange *exchange) {
    const cairn_web *web = user;
    cairn_web_control_gone(web->control, exchange);
}

static uint32_t ask(void *user, const cairn_http_request *request) {
    const cairn_web *web = user;
    return cairn_origin_allowed(request, web->config.origins, web->config.origin_count) ? 0 : 403;
}

static void *opened(void *user, cairn_http_socket *socket, const cairn_address *from) {
    cairn_web *web = user;
    return cairn_peers_open(web->peers, socket, from, cairn_uv_now_ns());
}

static bool received(void *user, void *peer, const uint8_t *bytes, size_t size) {
    cairn_web *web = user;
    cairn_uv_driver_count(web->config.driver);
    return cairn_peers_receive(web->peers, peer, bytes, size, cairn_uv_now_ns());
}

static void malformed(void *user, void *peer) {
    cairn_web *web = user;
    (void)peer;
    cairn_peers_note_malformed(web->peers);
}

static size_t next(void *user, void *peer, uint8_t **bytes) {
    cairn_web *web = user;
    return cairn_peers_next(web->peers, peer, bytes);
}

static bool goes_on(void *user, void *peer) {
    cairn_web *web = user;
    return cairn_peers_go_on(web->peers, peer);
}

static void closed(void *user, void *peer) {
    cairn_web *web = user;
    cairn_peers_close(web->peers, peer);
}

// There are operators by HTTP from the first token on. False: out of memory.
static bool set_tokens(cairn_web *web, const cairn_key *tokens, uint32_t count) {
    if (count > 0 && web->control == NULL &&
        cairn_web_control_create(web->config.server, web->config.driver, &web->control) !=
            CAIRN_OK) {
        return false;
    }
    if (web->control != NULL) {
        cairn_web_control_set_tokens(web->control, tokens, count);
    }
    return true;
}

static bool open_parts(cairn_web *web, char *error) {
    const cairn_web_config *config = &web->config;
    const cairn_http_config http = {.host = {.get = get,
                                        .begin_post = begin_post,
                                        .post = post,
                                        .gone = gone,
                                        .ask = ask,
                                        .opened = opened,
                                        .received = received,
                                        .malformed = malformed,
                                        .next = next,
                                        .goes_on = goes_on,
                                        .closed = closed,
                                        .user = web},
        .sockets_max = config->peers_max,
        .sockets_per_network_max = config->peers_per_network_max};
    // A microsecond of the system's clock: no process opens so many.
    if (cairn_peers_create(
            config->server, config->peers_max, cairn_uv_now_ns() / 1000, &web->peers) != CAIRN_OK) {
        snprintf(error, CAIRN_HTTP_ERROR_SIZE, "out of memory");
        return false;
    }
    if (!set_tokens(web, config->control_tokens, config->control_token_count)) {
        snprintf(error, CAIRN_HTTP_ERROR_SIZE, "out of memory");
        return false;
    }
    web->config.control_tokens = NULL;
    return cairn_web_files_load(config->root, &web->files, error) &&
           cairn_http_create(cairn_uv_driver_loop(config->driver), &http, &web->http, error);
}

bool cairn_web_create(
    const cairn_web_config *config, cairn_web **out, char error[CAIRN_HTTP_ERROR_SIZE]) {
    *out = NULL;
    cairn_web *web = calloc(1, sizeof *web);
    if (web == NULL) {
        snprintf(error, CAIRN_HTTP_ERROR_SIZE, "out of memory");
        return false;
    }
    *web = (cairn_web){.config = *config, .start_unix_s = cairn_uv_unix_ns() / CAIRN_NS_PER_S};
    if (config->dev_key != NULL) {
        web->dev_key = *config->dev_key;
    }
    if (!open_parts(web, error)) {
        cairn_web_close(web);
        return false;
    }
    *out = web;
    return true;
}

bool cairn_web_listen(cairn_web *web, const cairn_address *at, char error[CAIRN_HTTP_ERROR_SIZE]) {
    return cairn_http_listen(web->http, at, error);
}

void cairn_web_close(cairn_web *web) {
    if (web == NULL) {
        return;
    }
    cairn_http_close(web->http);
    cairn_web_control_destroy(web->control);
    cairn_peers_destroy(web->peers);
    cairn_web_files_release(web->files);
    release_text(web->metrics[0]);
    release_text(web->metrics[1]);
    cairn_wipe(&web->dev_key, sizeof web->dev_key);
    free(web);
}

void cairn_web_set(cairn_web *web, const char *const *origins, uint32_t origin_count,
    uint32_t peers_per_network_max, const cairn_key *control_tokens, uint32_t control_token_count) {
    memcpy(web->config.origins, origins, origin_count * sizeof *origins);
    web->config.origin_count = origin_count;
    cairn_http_set_sockets_per_network(web->http, peers_per_network_max);
    (void)set_tokens(web, control_tokens, control_token_count); // without memory: none as before
}

cairn_address cairn_web_address(const cairn_web *web) {
    return cairn_http_address(web->http);
}

bool cairn_web_has_page(const cairn_web *web) {
    return cairn_web_files_count(web->files) > 0;
}

void cairn_web_send(cairn_web *web, const cairn_address *to, const uint8_t *bytes, size_t size) {
    cairn_peers_send(web->peers, to, bytes, size);
}
