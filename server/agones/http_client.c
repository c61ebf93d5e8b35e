// SPDX-License-Identifier: MIT
#include "server/agones/http_client.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>
#include <uv.h>

// For a connection on the same machine.
#define CONNECT_TIMEOUT_MS 1000

// libcurl is loaded when somebody asks: it brings some twenty libraries, which a server without a
// fleet need not hold.
static struct {
    void (*easy_cleanup)(CURL *);
    CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
    CURL *(*easy_init)(void);
    CURLcode (*easy_perform)(CURL *);
    CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
    const char *(*easy_strerror)(CURLcode);
    CURLMcode (*multi_add_handle)(CURLM *, CURL *);
    CURLMcode (*multi_assign)(CURLM *, curl_socket_t, void *);
    CURLMcode (*multi_cleanup)(CURLM *);
    CURLMsg *(*multi_info_read)(CURLM *, int *);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_remove_handle)(CURLM *, CURL *);
    CURLMcode (*multi_setopt)(CURLM *, CURLMoption, ...);
    CURLMcode (*multi_socket_action)(CURLM *, curl_socket_t, int, int *);
    struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
    void (*slist_free_all)(struct curl_slist *);
} curl;

cairn_status cairn_http_client_load(void) {
    const struct {
        const char *name;
        void *function; // of curl
    } rows[] = {
        {"curl_easy_cleanup", &curl.easy_cleanup},
        {"curl_easy_getinfo", &curl.easy_getinfo},
        {"curl_easy_init", &curl.easy_init},
        {"curl_easy_perform", &curl.easy_perform},
        {"curl_easy_setopt", &curl.easy_setopt},
        {"curl_easy_strerror", &curl.easy_strerror},
        {"curl_multi_add_handle", &curl.multi_add_handle},
        {"curl_multi_assign", &curl.multi_assign},
        {"curl_multi_cleanup", &curl.multi_cleanup},
        {"curl_multi_info_read", &curl.multi_info_read},
        {"curl_multi_init", &curl.multi_init},
        {"curl_multi_remove_handle", &curl.multi_remove_handle},
        {"curl_multi_setopt", &curl.multi_setopt},
        {"curl_multi_socket_action", &curl.multi_socket_action},
        {"curl_slist_append", &curl.slist_append},
        {"curl_slist_free_all", &curl.slist_free_all},
    };
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_NODELETE);
    for (size_t i = 0; library != NULL && i < sizeof rows / sizeof *rows; ++i) {
        void *found = dlsym(library, rows[i].name);
        library = found == NULL ? NULL : library;
        memcpy(rows[i].function, &found, sizeof found);
    }
    return library == NULL ? CAIRN_NOT_FOUND : CAIRN_OK;
}

typedef struct exchange exchange;
struct exchange {
    exchange *next;
    CURL *easy;
    struct curl_slist *headers;
    cairn_http_ask ask; // url, method and body are libcurl's copies
    size_t size;
    char text[CAIRN_HTTP_ANSWER_MAX + 1];
};

struct cairn_http_client {
    uv_loop_t *loop;
    uv_timer_t timer;
    CURLM *multi;
    exchange *exchanges;
    uint32_t open_handles;
};

// A socket of libcurl on the loop.
typedef struct watched {
    uv_poll_t poll;
    cairn_http_client *client;
    curl_socket_t socket;
} watched;

static bool succeeded(CURL *easy) {
    long status = 0;
    curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return status >= 200 && status < 300;
}

static void give_lines(exchange *e) {
    char *begin = e->text, *end;
    while ((end = memchr(begin, '\n', e->size - (size_t)(begin - e->text))) != NULL) {
        e->ask.line(e->ask.user, begin, (size_t)(end - begin));
        begin = end + 1;
    }
    e->size -= (size_t)(begin - e->text);
    memmove(e->text, begin, e->size);
}

// As libcurl wants it: anything but the size ends the exchange.
static size_t take(char *bytes, size_t one, size_t size, void *user) {
    exchange *e = user;
    size_t taken = 0;
    (void)one;
    while (taken < size) {
        const size_t room = CAIRN_HTTP_ANSWER_MAX - e->size;
        const size_t more = size - taken < room ? size - taken : room;
        if (more == 0) {
            return taken;
        }
        memcpy(e->text + e->size, bytes + taken, more);
        e->size += more;
        taken += more;
        if (e->ask.line != NULL && succeeded(e->easy)) {
            give_lines(e);
        }
    }
    return size;
}

static void free_exchange(exchange *e) {
    if (e != NULL) {
        curl.slist_free_all(e->headers);
        curl.easy_cleanup(e->easy);
        free(e);
    }
}

static exchange *make_exchange(const cairn_http_ask *ask) {
    exchange *e = malloc(sizeof *e);
    CURL *easy = e == NULL ? NULL : curl.easy_init();
    if (easy == NULL) {
        free(e);
        return NULL;
    }
    e->next = NULL;
    e->easy = easy;
    e->ask = *ask;
    e->size = 0;
    // Without "Expect: 100-continue", which costs a round trip.
    e->headers = curl.slist_append(NULL, "Expect:");
    if (ask->body != NULL && e->headers != NULL) {
        (void)curl.slist_append(e->headers, "Content-Type: application/json");
        curl.easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, ask->body);
    }
    curl.easy_setopt(easy, CURLOPT_URL, ask->url);
    curl.easy_setopt(easy, CURLOPT_CUSTOMREQUEST, ask->method);
    curl.easy_setopt(easy, CURLOPT_HTTPHEADER, e->headers);
    curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    curl.easy_setopt(easy, CURLOPT_WRITEDATA, e);
    curl.easy_setopt(easy, CURLOPT_PRIVATE, e);
    curl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)ask->timeout_ms);
    curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl.easy_setopt(easy, CURLOPT_PROXY, ""); // whatever the environment says
    curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http");
    return e;
}

static void finish_exchange(exchange *e, CURLcode result) {
    long status = 0;
    if (result == CURLE_OK) {
        curl.easy_getinfo(e->easy, CURLINFO_RESPONSE_CODE, &status);
    }
    e->text[e->size] = '\0';
    e->ask.done(e->ask.user, (uint32_t)status, status == 0 ? curl.easy_strerror(result) : e->text);
    free_exchange(e);
}

static void remove_exchange(cairn_http_client *client, exchange *e) {
    exchange **link = &client->exchanges;
    while (*link != e) {
        link = &(*link)->next;
    }
    *link = e->next;
    curl.multi_remove_handle(client->multi, e->easy);
}

// `done` may ask again.
static void finish(cairn_http_client *client) {
    CURLMsg *message;
    int left;
    while ((message = curl.multi_info_read(client->multi, &left)) != NULL) {
        exchange *e = NULL;
        const CURLcode result = message->data.result;
        curl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &e);
        remove_exchange(client, e);
        finish_exchange(e, result);
    }
}

static void on_ready(uv_poll_t *poll, int status, int events) {
    const watched *own = poll->data;
    cairn_http_client *client = own->client;
    const int flags = status < 0 ? CURL_CSELECT_ERR
                                 : ((events & UV_READABLE) ? CURL_CSELECT_IN : 0) |
                                       ((events & UV_WRITABLE) ? CURL_CSELECT_OUT : 0);
    int running;
    curl.multi_socket_action(client->multi, own->socket, flags, &running);
    finish(client);
}

static void on_timer(uv_timer_t *timer) {
    cairn_http_client *client = timer->data;
    int running;
    curl.multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    finish(client);
}

static void on_watched_closed(uv_handle_t *handle) {
    watched *own = handle->data;
    own->client->open_handles -= 1;
    free(own);
}

static void on_timer_closed(uv_handle_t *handle) {
    cairn_http_client *client = handle->data;
    client->open_handles -= 1;
}

// libcurl wants a socket watched, otherwise than before, or no more.
static int watch(CURL *easy, curl_socket_t socket, int what, void *user, void *known) {
    cairn_http_client *client = user;
    watched *own = known;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (own != NULL) {
            curl.multi_assign(client->multi, socket, NULL);
            uv_close((uv_handle_t *)&own->poll, on_watched_closed);
        }
        return 0;
    }
    if (own == NULL) {
        own = malloc(sizeof *own);
        if (own == NULL || uv_poll_init_socket(client->loop, &own->poll, socket) != 0) {
            free(own);
            return -1;
        }
        own->client = client;
        own->socket = socket;
        own->poll.data = own;
        client->open_handles += 1;
        curl.multi_assign(client->multi, socket, own);
    }
    const int events =
        ((what & CURL_POLL_IN) ? UV_READABLE : 0) | ((what & CURL_POLL_OUT) ? UV_WRITABLE : 0);
    return uv_poll_start(&own->poll, events, on_ready) == 0 ? 0 : -1;
}

// libcurl must not be called from here, so a time-out of 0 waits for the loop as well.
static int set_timer(CURLM *multi, long timeout_ms, void *user) {
    cairn_http_client *client = user;
    (void)multi;
    if (timeout_ms < 0) {
        uv_timer_stop(&client->timer);
    } else {
        uv_timer_start(&client->timer, on_timer, (uint64_t)timeout_ms, 0);
    }
    return 0;
}

cairn_status cairn_http_client_open(struct uv_loop_s *loop, cairn_http_client **out) {
    cairn_http_client *client = calloc(1, sizeof *client);
    CURLM *multi = client == NULL ? NULL : curl.multi_init();
    *out = NULL;
    if (multi == NULL) {
        free(client);
        return CAIRN_OUT_OF_MEMORY;
    }
    client->loop = loop;
    client->multi = multi;
    uv_timer_init(loop, &client->timer);
    client->timer.data = client;
    client->open_handles = 1;
    curl.multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl.multi_setopt(multi, CURLMOPT_SOCKETDATA, client);
    curl.multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl.multi_setopt(multi, CURLMOPT_TIMERDATA, client);
    *out = client;
    return CAIRN_OK;
}

void cairn_http_client_close(cairn_http_client *client) {
    if (client == NULL) {
        return;
    }
    while (client->exchanges != NULL) {
        exchange *e = client->exchanges;
        remove_exchange(client, e);
        free_exchange(e);
    }
    curl.multi_cleanup(client->multi);
    uv_close((uv_handle_t *)&client->timer, on_timer_closed);
    while (client->open_handles > 0) {
        uv_run(client->loop, UV_RUN_NOWAIT);
    }
    free(client);
}

bool cairn_http_client_ask(cairn_http_client *client, const cairn_http_ask *ask) {
    exchange *e = make_exchange(ask);
    if (e == NULL || curl.multi_add_handle(client->multi, e->easy) != CURLM_OK) {
        free_exchange(e);
        return false;
    }
    e->next = client->exchanges;
    client->exchanges = e;
    return true;
}

void cairn_http_ask_now(const cairn_http_ask *ask) {
    exchange *e = make_exchange(ask);
    if (e == NULL) {
        ask->done(ask->user, 0, "out of memory");
        return;
    }
    finish_exchange(e, curl.easy_perform(e->easy));
}
