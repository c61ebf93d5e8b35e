// SPDX-License-Identifier: MIT
// For what libuv names of threads.
#define _POSIX_C_SOURCE 200809L
#include "server/web/web.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <uv.h>

#include "base/assert.h"
#include "server/threads/datagram_ring.h"
#include "server/web/answers.h"
#include "server/web/questions.h"
#include "server/web/site.h"
#include <cairn/server.h>
#include <cairn/server_uv.h>

// Datagrams that the server gets before the ticks that are due, and that WebSockets are sent before
// others have their turn.
#define TAKE_MAX 128

struct cairn_web {
    cairn_server *server;
    cairn_uv_driver *driver;
    // Between the threads.
    cairn_web_settings *settings;
    cairn_questions *questions;
    cairn_datagram_ring *received;
    cairn_datagram_ring *to_send;
    atomic_bool ends;
    // The server's loop.
    cairn_web_answers *answers;
    uv_async_t asked;  // by the thread
    uint64_t not_sent; // datagrams that `to_send` had no room for
    bool added;        // to `to_send`, since the last turn
    // The thread, and what is its own while it runs.
    uv_thread_t thread;
    bool runs;
    uv_loop_t loop;
    uv_async_t woken;
    uv_check_t check;
    cairn_site *site;
    uint32_t open_handles; // of both loops, when no thread runs
};

// ------------------------------------------------------------------------- the thread of the web

static void send_waiting(cairn_web *web, uint32_t most) {
    cairn_datagram next;
    for (uint32_t i = 0; i < most && cairn_datagram_ring_take(web->to_send, &next); ++i) {
        cairn_site_send(web->site, &next.address, next.bytes, next.size);
    }
    cairn_datagram_ring_release(web->to_send);
}

static void on_woken(uv_async_t *async) {
    cairn_web *web = async->data;
    const bool ends = atomic_load_explicit(&web->ends, memory_order_acquire);
    cairn_site_take_answers(web->site);
    send_waiting(web, ends ? UINT32_MAX : TAKE_MAX);
    if (ends) {
        uv_stop(&web->loop);
    } else if (cairn_datagram_ring_has_next(web->to_send)) {
        uv_async_send(async);
    }
}

// After all sockets that had something were read: the server's loop is woken once.
static void on_check(uv_check_t *check) {
    cairn_web *web = check->data;
    if (cairn_site_has_received(web->site)) {
        uv_async_send(&web->asked);
    }
}

static void run(void *argument) {
    cairn_web *web = argument;
    uv_run(&web->loop, UV_RUN_DEFAULT);
}

// ----------------------------------------------------------------------------- the server's loop

// The check phase of the driver's loop follows: it steps what is due, and sends.
static void on_asked(uv_async_t *async) {
    cairn_web *web = async->data;
    cairn_datagram next;
    const uint64_t now_ns = uv_hrtime();
    for (uint32_t i = 0; i < TAKE_MAX && cairn_datagram_ring_take(web->received, &next); ++i) {
        cairn_uv_driver_count(web->driver);
        cairn_server_receive(web->server, now_ns, &next.address, next.bytes, next.size);
    }
    cairn_datagram_ring_release(web->received);
    cairn_web_answers_give(web->answers);
    if (cairn_datagram_ring_has_next(web->received)) {
        uv_async_send(async);
    }
}

static void wake_loop(void *user) {
    cairn_web *web = user;
    uv_async_send(&web->asked);
}

static void wake_web(void *user) {
    cairn_web *web = user;
    uv_async_send(&web->woken);
}

static uint64_t frames_not_sent(void *user) {
    return ((const cairn_web *)user)->not_sent;
}

static bool set_error(char *error, const char *what, int code) {
    snprintf(error, CAIRN_HTTP_ERROR_SIZE, "%s: %s", what, uv_strerror(code));
    return false;
}

static bool open_loops(cairn_web *web, char *error) {
    const int code = uv_loop_init(&web->loop);
    if (code != 0) {
        return set_error(error, "a loop", code);
    }
    web->loop.data = web;
    uv_check_init(&web->loop, &web->check);
    web->check.data = web;
    uv_check_start(&web->check, on_check);
    web->woken.data = web->asked.data = NULL;
    int refused = uv_async_init(&web->loop, &web->woken, on_woken);
    web->woken.data = refused == 0 ? web : NULL;
    if (refused == 0) {
        refused = uv_async_init(cairn_uv_driver_loop(web->driver), &web->asked, on_asked);
        web->asked.data = refused == 0 ? web : NULL;
    }
    return refused == 0 || set_error(error, "eventfd", refused);
}

static bool open_between(cairn_web *web, const cairn_web_config *config, char *error) {
    const cairn_questions_config questions = {
        .wake_loop = wake_loop, .wake_web = wake_web, .user = web};
    web->settings = cairn_web_settings_create();
    web->questions = cairn_questions_create(&questions);
    web->received = cairn_datagram_ring_create();
    web->to_send = cairn_datagram_ring_create();
    if (web->settings == NULL || web->questions == NULL || web->received == NULL ||
        web->to_send == NULL) {
        return set_error(error, "queues", UV_ENOMEM);
    }
    cairn_web_settings_set(web->settings, &config->settings);
    return true;
}

static bool open_parts(cairn_web *web, const cairn_web_config *config, char *error) {
    const cairn_web_answers_config answers = {.server = config->server,
        .driver = config->driver,
        .questions = web->questions,
        .dev_key = config->dev_key,
        .public_address = config->public_address,
        .token_lifetime_s = config->token_lifetime_s,
        .protocol_id = config->protocol_id,
        .frames_not_sent = frames_not_sent,
        .user = web,
        .log_lines_lost = config->log_lines_lost,
        .log_bytes_waiting = config->log_bytes_waiting,
        .log_user = config->user};
    const cairn_site_config site = {.loop = &web->loop,
        .settings = web->settings,
        .questions = web->questions,
        .received = web->received,
        .root = config->root,
        .peers_max = config->peers_max,
        .issues_tokens = config->dev_key != NULL && config->dev_key->given,
        .control = config->control};
    if (cairn_web_answers_create(&answers, &web->answers) != CAIRN_OK) {
        return set_error(error, "answers", UV_ENOMEM);
    }
    return cairn_site_create(&site, &web->site, error);
}

bool cairn_web_create(
    const cairn_web_config *config, cairn_web **out, char error[CAIRN_HTTP_ERROR_SIZE]) {
    *out = NULL;
    cairn_web *web = calloc(1, sizeof *web);
    if (web == NULL) {
        return set_error(error, "memory", UV_ENOMEM);
    }
    web->server = config->server;
    web->driver = config->driver;
    if (!open_loops(web, error) || !open_between(web, config, error) ||
        !open_parts(web, config, error)) {
        cairn_web_close(web);
        return false;
    }
    *out = web;
    return true;
}

bool cairn_web_listen(cairn_web *web, const cairn_address *at, char error[CAIRN_HTTP_ERROR_SIZE]) {
    CAIRN_ASSERT(!web->runs);
    if (!cairn_site_listen(web->site, at, error)) {
        return false;
    }
    const int code = uv_thread_create(&web->thread, run, web);
    web->runs = code == 0;
    return web->runs || set_error(error, "a thread for HTTP", code);
}

static void end_thread(cairn_web *web) {
    if (web->runs) {
        atomic_store_explicit(&web->ends, true, memory_order_release);
        wake_web(web);
        uv_thread_join(&web->thread);
        web->runs = false;
    }
}

static void on_closed(uv_handle_t *handle) {
    cairn_web *web = handle->data;
    web->open_handles -= 1;
}

static void close_handle(cairn_web *web, uv_handle_t *handle) {
    if (handle->data != NULL) {
        web->open_handles += 1;
        uv_close(handle, on_closed);
    }
}

static void close_loops(cairn_web *web) {
    if (web->loop.data == NULL) {
        return; // it was never opened
    }
    close_handle(web, (uv_handle_t *)&web->woken);
    close_handle(web, (uv_handle_t *)&web->check);
    close_handle(web, (uv_handle_t *)&web->asked);
    while (web->open_handles > 0) {
        uv_run(&web->loop, UV_RUN_NOWAIT);
        uv_run(cairn_uv_driver_loop(web->driver), UV_RUN_NOWAIT);
    }
    uv_run(&web->loop, UV_RUN_DEFAULT);
    const int code = uv_loop_close(&web->loop);
    CAIRN_ASSERT(code == 0);
}

void cairn_web_close(cairn_web *web) {
    if (web == NULL) {
        return;
    }
    end_thread(web);
    cairn_site_close(web->site);
    close_loops(web);
    cairn_web_answers_destroy(web->answers);
    cairn_questions_destroy(web->questions);
    cairn_web_settings_destroy(web->settings);
    cairn_datagram_ring_destroy(web->received);
    cairn_datagram_ring_destroy(web->to_send);
    free(web);
}

void cairn_web_set(cairn_web *web, const cairn_web_settings_values *values) {
    cairn_web_settings_set(web->settings, values);
}

cairn_address cairn_web_address(const cairn_web *web) {
    return cairn_site_address(web->site);
}

bool cairn_web_has_page(const cairn_web *web) {
    return cairn_site_has_page(web->site);
}

void cairn_web_send(cairn_web *web, const cairn_address *to, const uint8_t *bytes, size_t size) {
    web->not_sent += cairn_datagram_ring_add(web->to_send, to, bytes, size) ? 0 : 1;
    web->added = true;
}

void cairn_web_turn(cairn_web *web) {
    if (web != NULL && web->added) {
        web->added = false;
        wake_web(web);
    }
}
