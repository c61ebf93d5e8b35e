// SPDX-License-Identifier: MIT
#include "server/agones/agones.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/limits.h"
#include "program/json.h"
#include "server/agones/http_client.h"
#include "server/agones/member.h"
#include <cairn/server.h>

#define BEAT_MS 250
#define HEALTH_BEATS 8
#define TIMEOUT_MS 5000
#define END_TIMEOUT_MS 2000
#define RETRY_MS_MIN 100
#define RETRY_MS_MAX 10000
#define URL_SIZE 128
#define FIND_ADDRESS_S 60
#define FIND_ADDRESS_PAUSE_MS 250

// Of one kind of request: when it may be made again after failures in a row.
typedef struct patience {
    bool busy;
    bool failing; // and this was told
    uint32_t retry_ms;
    uint64_t not_before_ms; // of the loop's clock
} patience;

struct cairn_agones {
    cairn_agones_config config;
    cairn_http_client *http;
    cairn_agones_member *member;
    uv_timer_t beat;
    uint64_t beats;
    patience health, request, watch;
    cairn_agones_request asked;
    uint64_t players[]; // clients_max
};

static const char *url_of(uint32_t port, const char *path, char out[URL_SIZE]) {
    snprintf(out, URL_SIZE, "http://127.0.0.1:%" PRIu32 "%s", port, path);
    return out;
}

static void say(
    const cairn_agones *agones, bool warns, const char *event, const char *what, const char *text) {
    char detail[160];
    snprintf(detail, sizeof detail, "%s%s%s", what, text[0] == '\0' ? "" : ": ", text);
    agones->config.say(agones->config.user, warns, event, detail);
}

// Tells the first failure and the first success after it.
static void note(
    cairn_agones *agones, patience *own, bool good, const char *what, const char *why) {
    own->busy = false;
    if (good) {
        if (own->failing) {
            say(agones, false, "agones_back", what, "");
        }
        own->failing = false;
        own->retry_ms = 0;
        own->not_before_ms = 0;
        return;
    }
    if (!own->failing) {
        say(agones, true, "agones_lost", what, why);
    }
    own->failing = true;
    own->retry_ms = own->retry_ms == 0 ? RETRY_MS_MIN : own->retry_ms * 2;
    own->retry_ms = own->retry_ms < RETRY_MS_MAX ? own->retry_ms : RETRY_MS_MAX;
    own->not_before_ms = uv_now(agones->config.loop) + own->retry_ms;
}

typedef struct found_address {
    cairn_address address;
    bool found;
    char why[CAIRN_AGONES_WHY_SIZE];
} found_address;

// {"status": {"address": "192.0.2.1", "ports": [{"name": "default", "port": 7000}]}}
static void on_game_server(void *user, uint32_t status, const char *text) {
    found_address *out = user;
    char address[CAIRN_ADDRESS_TEXT_SIZE] = "", whole[CAIRN_ADDRESS_TEXT_SIZE + 16];
    double port = 0;
    if (status != 200) {
        snprintf(out->why, sizeof out->why, "%s", text);
        return;
    }
    cairn_json *all = cairn_json_parse(text, strlen(text));
    const cairn_json *own = cairn_json_get_object(all, "status");
    const bool has = cairn_json_get_text(own, "address", address, sizeof address) &&
                     cairn_json_get_number(cairn_json_get_element(own, "ports", 0), "port", &port);
    snprintf(
        whole, sizeof whole, strchr(address, ':') == NULL ? "%s:%.0f" : "[%s]:%.0f", address, port);
    out->found = has && port > 0 && cairn_address_parse(whole, &out->address);
    snprintf(out->why, sizeof out->why, "the game server's address is '%s'", whole);
    cairn_json_destroy(all);
}

bool cairn_agones_find_address(uint32_t port, cairn_address *out, char why[CAIRN_AGONES_WHY_SIZE]) {
    char url[URL_SIZE];
    found_address found = {.found = false};
    const cairn_http_ask what = {.url = url_of(port, "/gameserver", url),
        .method = "GET",
        .timeout_ms = TIMEOUT_MS,
        .done = on_game_server,
        .user = &found};
    if (cairn_http_client_load() != CAIRN_OK) {
        snprintf(why, CAIRN_AGONES_WHY_SIZE, "libcurl.so.4 is not installed");
        return false;
    }
    const uint64_t end_ns = uv_hrtime() + FIND_ADDRESS_S * CAIRN_NS_PER_S;
    do {
        cairn_http_ask_now(&what);
        if (!found.found) {
            uv_sleep(FIND_ADDRESS_PAUSE_MS);
        }
    } while (!found.found && uv_hrtime() < end_ns);
    *out = found.address;
    memcpy(why, found.why, sizeof found.why);
    return found.found;
}

static bool may_ask(const cairn_agones *agones, const patience *own) {
    return !own->busy && uv_now(agones->config.loop) >= own->not_before_ms;
}

static void ask(cairn_agones *agones, patience *own, const cairn_http_ask *what) {
    own->busy = cairn_http_client_ask(agones->http, what);
    if (!own->busy) {
        note(agones, own, false, what->url, "out of memory");
    }
}

static void on_health(void *user, uint32_t status, const char *text) {
    cairn_agones *agones = user;
    note(agones, &agones->health, status == 200, "/health", text);
}

static void ask_health(cairn_agones *agones) {
    char url[URL_SIZE];
    const cairn_http_ask what = {.url = url_of(agones->config.port, "/health", url),
        .method = "POST",
        .body = "{}",
        .timeout_ms = TIMEOUT_MS,
        .done = on_health,
        .user = agones};
    ask(agones, &agones->health, &what);
}

// A line is {"result": {"status": {"state": ...}}}; "error" in place of "result" ends the watch.
static void on_line(void *user, const char *text, size_t size) {
    cairn_agones *agones = user;
    char state[CAIRN_AGONES_STATE_SIZE];
    cairn_json *line = cairn_json_parse(text, size);
    const cairn_json *result = cairn_json_get_object(line, "result");
    if (cairn_json_get_text(
            cairn_json_get_object(result, "status"), "state", state, sizeof state)) {
        note(agones, &agones->watch, true, "/watch/gameserver", "");
        agones->watch.busy = true;
        if (cairn_agones_member_state(agones->member, state)) {
            say(agones, false, "agones_state", state, "");
        }
    }
    cairn_json_destroy(line);
}

// A watch goes on until the other side ends it.
static void on_watch_end(void *user, uint32_t status, const char *text) {
    cairn_agones *agones = user;
    note(agones, &agones->watch, false, "/watch/gameserver", status == 200 ? "ended" : text);
}

static void ask_watch(cairn_agones *agones) {
    char url[URL_SIZE];
    const cairn_http_ask what = {.url = url_of(agones->config.port, "/watch/gameserver", url),
        .method = "GET",
        .line = on_line,
        .done = on_watch_end,
        .user = agones};
    ask(agones, &agones->watch, &what);
}

static void on_answer(void *user, uint32_t status, const char *text) {
    cairn_agones *agones = user;
    const cairn_agones_outcome outcome =
        cairn_agones_member_answered(agones->member, &agones->asked, status, text);
    note(agones, &agones->request, outcome != CAIRN_AGONES_AGAIN, agones->asked.path, text);
    if (outcome == CAIRN_AGONES_MISSING) {
        say(agones, false, "agones_missing", agones->asked.path, text);
    } else if (outcome == CAIRN_AGONES_REFUSED) {
        say(agones, true, "agones_refused", agones->asked.path, text);
    }
}

static int compare(const void *a, const void *b) {
    const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

static cairn_agones_view look(cairn_agones *agones) {
    cairn_server_client_info client;
    cairn_agones_view out = {.rooms_max = agones->config.rooms_max, .players = agones->players};
    uint32_t count = 0;
    for (uint32_t id = 0; (id = cairn_server_room_next(agones->config.server, id)) != 0;) {
        out.rooms += 1;
    }
    for (uint32_t i = 0; i < agones->config.clients_max; ++i) {
        if (cairn_server_client_read(agones->config.server, i, &client) && client.welcomed) {
            out.clients += 1;
            if (client.slot != CAIRN_SLOT_NONE) {
                agones->players[count++] = client.client_id;
            }
        }
    }
    qsort(agones->players, count, sizeof *agones->players, compare);
    for (uint32_t i = 0; i < count; ++i) {
        if (out.player_count == 0 || agones->players[out.player_count - 1] != agones->players[i]) {
            agones->players[out.player_count++] = agones->players[i];
        }
    }
    return out;
}

static void ask_next(cairn_agones *agones) {
    char url[URL_SIZE];
    const cairn_agones_view view = look(agones);
    agones->asked = cairn_agones_member_next(agones->member, &view);
    if (agones->asked.kind != CAIRN_AGONES_NOTHING) {
        const cairn_http_ask what = {.url = url_of(agones->config.port, agones->asked.path, url),
            .method = agones->asked.method,
            .body = agones->asked.body,
            .timeout_ms = TIMEOUT_MS,
            .done = on_answer,
            .user = agones};
        ask(agones, &agones->request, &what);
    }
}

static void on_beat(uv_timer_t *timer) {
    cairn_agones *agones = timer->data;
    if (agones->beats++ % HEALTH_BEATS == 0 && may_ask(agones, &agones->health)) {
        ask_health(agones);
    }
    if (may_ask(agones, &agones->watch)) {
        ask_watch(agones);
    }
    if (may_ask(agones, &agones->request)) {
        ask_next(agones);
    }
}

cairn_status cairn_agones_open(const cairn_agones_config *config, cairn_agones **out) {
    *out = NULL;
    if (cairn_http_client_load() != CAIRN_OK) {
        return CAIRN_NOT_FOUND;
    }
    cairn_agones *agones = calloc(1, sizeof *agones + config->clients_max * sizeof(uint64_t));
    if (agones == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    agones->config = *config;
    if (cairn_agones_member_create(config->clients_max, config->reserve_s, &agones->member) !=
            CAIRN_OK ||
        cairn_http_client_open(config->loop, &agones->http) != CAIRN_OK) {
        cairn_agones_member_destroy(agones->member);
        free(agones);
        return CAIRN_OUT_OF_MEMORY;
    }
    uv_timer_init(config->loop, &agones->beat);
    agones->beat.data = agones;
    uv_timer_start(&agones->beat, on_beat, 0, BEAT_MS);
    *out = agones;
    return CAIRN_OK;
}

static void on_closed(uv_handle_t *handle) {
    cairn_agones *agones = handle->data;
    agones->beats = UINT64_MAX;
}

static void on_end(void *user, uint32_t status, const char *text) {
    say(user, status != 200, status == 200 ? "agones_ended" : "agones_lost", "/shutdown", text);
}

void cairn_agones_close(cairn_agones *agones) {
    char url[URL_SIZE];
    if (agones == NULL) {
        return;
    }
    cairn_http_client_close(agones->http);
    uv_close((uv_handle_t *)&agones->beat, on_closed);
    while (agones->beats != UINT64_MAX) {
        uv_run(agones->config.loop, UV_RUN_NOWAIT);
    }
    const cairn_http_ask end = {.url = url_of(agones->config.port, "/shutdown", url),
        .method = "POST",
        .body = "{}",
        .timeout_ms = END_TIMEOUT_MS,
        .done = on_end,
        .user = agones};
    cairn_http_ask_now(&end);
    cairn_agones_member_destroy(agones->member);
    free(agones);
}
