// SPDX-License-Identifier: MIT
// For accept4.
#define _GNU_SOURCE
#include "server/web/http.h"

#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libwebsockets.h>
#include <uv.h>

#include "base/assert.h"
#include "program/sockaddr.h"

// Others are closed at once.
#define CONNECTIONS_MAX 64
// Of a request line with all headers; larger ones are closed.
#define HEADERS_MAX 4096
// For a request to arrive, for an answer to be taken, and between two requests.
#define TIMEOUT_S 5
#define CHUNK 16384
#define CLOSE_TURNS_MAX 100

struct cairn_http {
    struct uv_loop_s *loop;
    struct lws_context *context;
    uv_poll_t poll; // of the socket that listens
    bool polls;
    int listen_fd;
    uint32_t connections;
    cairn_http_get *get;
    void *user;
    cairn_address address;
    cairn_http_statistics statistics;
};

// Of one connection; cleared by libwebsockets when it begins.
typedef struct exchange {
    cairn_http_answer answer;
    size_t sent;
} exchange;

// A connection that is closed before its first request has no exchange.
static void end_exchange(exchange *own) {
    if (own == NULL) {
        return;
    }
    free(own->answer.bytes);
    *own = (exchange){0};
}

static cairn_http_answer answer_to(cairn_http *http, struct lws *connection, const char *path) {
    if (lws_hdr_total_length(connection, WSI_TOKEN_GET_URI) <= 0) {
        return (cairn_http_answer){.status = 405, .type = "text/plain"};
    }
    char accept[256] = "";
    (void)lws_hdr_copy(connection, accept, sizeof accept, WSI_TOKEN_HTTP_ACCEPT);
    const cairn_http_request request = {.path = path, .accept = accept};
    return http->get(http->user, &request);
}

// Returns whether the connection goes on.
static bool begin_answer(
    cairn_http *http, struct lws *connection, exchange *own, const char *path) {
    uint8_t headers[LWS_PRE + 1024];
    uint8_t *begin = headers + LWS_PRE;
    uint8_t *at = begin;
    uint8_t *end = headers + sizeof headers - 1;
    end_exchange(own);
    own->answer = answer_to(http, connection, path);
    http->statistics.answered += 1;
    http->statistics.refused += own->answer.status >= 400 ? 1 : 0;
    if (lws_add_http_common_headers(
            connection, own->answer.status, own->answer.type, own->answer.size, &at, end) != 0 ||
        lws_add_http_header_by_name(connection, (const unsigned char *)"cache-control:",
            (const unsigned char *)"no-store", 8, &at, end) != 0 ||
        lws_finalize_write_http_header(connection, begin, &at, end) != 0) {
        return false;
    }
    if (own->answer.size == 0) {
        return lws_http_transaction_completed(connection) == 0;
    }
    lws_callback_on_writable(connection);
    return true;
}

static bool go_on(struct lws *connection, exchange *own) {
    uint8_t chunk[LWS_PRE + CHUNK];
    const size_t left = own->answer.size - own->sent;
    const size_t size = left < CHUNK ? left : CHUNK;
    if (left == 0) {
        return true;
    }
    memcpy(chunk + LWS_PRE, own->answer.bytes + own->sent, size);
    const bool last = size == left;
    if (lws_write(connection, chunk + LWS_PRE, size,
            last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) != (int)size) {
        return false;
    }
    own->sent += size;
    lws_set_timeout(connection, PENDING_TIMEOUT_HTTP_CONTENT, TIMEOUT_S);
    if (last) {
        end_exchange(own);
        return lws_http_transaction_completed(connection) == 0;
    }
    lws_callback_on_writable(connection);
    return true;
}

static int on_http(
    struct lws *connection, enum lws_callback_reasons reason, void *user, void *in, size_t size) {
    (void)size;
    struct lws_context *context = lws_get_context(connection);
    cairn_http *http = context == NULL ? NULL : lws_context_user(context);
    exchange *own = user;
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        return begin_answer(http, connection, own, in) ? 0 : -1;
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return go_on(connection, own) ? 0 : -1;
    case LWS_CALLBACK_WSI_CREATE:
        http->connections += 1;
        return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        http->connections -= 1;
        return 0;
    case LWS_CALLBACK_CLOSED_HTTP:
        end_exchange(own);
        return 0;
    default:
        return lws_callback_http_dummy(connection, reason, user, in, size);
    }
}

static const struct lws_protocols protocols[] = {
    {.name = "http", .callback = on_http, .per_session_data_size = sizeof(exchange)}, {0}};

static void say_nothing(int level, const char *line) {
    (void)level;
    (void)line;
}

static bool set_error(char error[CAIRN_HTTP_ERROR_SIZE], const char *what, const char *why) {
    snprintf(error, CAIRN_HTTP_ERROR_SIZE, "%s: %s", what, why);
    return false;
}

static bool listen_at(cairn_http *http, const cairn_address *at, char *error) {
    struct sockaddr_storage address;
    socklen_t size = cairn_address_to_sockaddr(at, &address);
    const int on = 1;
    http->listen_fd = socket(at->family == CAIRN_ADDRESS_IPV6 ? AF_INET6 : AF_INET,
        SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (http->listen_fd < 0 ||
        setsockopt(http->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(http->listen_fd, (const struct sockaddr *)&address, size) != 0 ||
        listen(http->listen_fd, CONNECTIONS_MAX) != 0) {
        return set_error(error, "cannot listen", strerror(errno));
    }
    size = sizeof address;
    if (getsockname(http->listen_fd, (struct sockaddr *)&address, &size) != 0) {
        return set_error(error, "getsockname", strerror(errno));
    }
    http->address = cairn_address_of_sockaddr((const struct sockaddr *)&address);
    return true;
}

// libwebsockets closes the descriptor if it refuses it.
static void on_connection(uv_poll_t *poll, int status, int events) {
    (void)status;
    (void)events;
    cairn_http *http = poll->data;
    for (uint32_t i = 0; i < CONNECTIONS_MAX; i++) {
        const int fd = accept4(http->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            return;
        }
        if (http->connections >= CONNECTIONS_MAX) {
            http->statistics.connections_refused += 1;
            close(fd);
        } else {
            // The head and the body of an answer are written apart.
            const int on = 1;
            (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            (void)lws_adopt_socket(http->context, fd);
        }
    }
}

static bool start(cairn_http *http, struct uv_loop_s *loop, char *error) {
    void *loops[1] = {loop};
    // libwebsockets unloads its plug-in for libuv before the loop has called back for the last
    // handles that it closed.
    if (dlopen("libwebsockets-evlib_uv.so", RTLD_NOW | RTLD_NODELETE) == NULL) {
        return set_error(error, "libwebsockets", dlerror());
    }
    lws_set_log_level(0, say_nothing);
    const struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .protocols = protocols,
        .options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_SKIP_SERVER_CANONICAL_NAME |
                   LWS_SERVER_OPTION_HTTP_HEADERS_SECURITY_BEST_PRACTICES_ENFORCE,
        .foreign_loops = loops,
        .max_http_header_data = HEADERS_MAX,
        .max_http_header_pool = CONNECTIONS_MAX,
        .fd_limit_per_thread = CONNECTIONS_MAX + 8,
        .timeout_secs = TIMEOUT_S,
        .keepalive_timeout = TIMEOUT_S,
        .server_string = "cairnd",
        .user = http,
        .pcontext = &http->context, // NULL again when all is freed
    };
    http->context = lws_create_context(&info);
    if (http->context == NULL) {
        return set_error(error, "libwebsockets",
            "it cannot be started on this loop; is its plug-in for libuv there?");
    }
    if (uv_poll_init(loop, &http->poll, http->listen_fd) != 0) {
        return set_error(error, "poll", "refused");
    }
    http->poll.data = http;
    http->polls = true;
    uv_poll_start(&http->poll, UV_READABLE, on_connection);
    return true;
}

bool cairn_http_open(struct uv_loop_s *loop, const cairn_address *listen_address,
    cairn_http_get *get, void *user, cairn_http **out, char error[CAIRN_HTTP_ERROR_SIZE]) {
    *out = NULL;
    cairn_http *http = calloc(1, sizeof *http);
    if (http == NULL) {
        return set_error(error, "memory", "there is none left");
    }
    *http = (cairn_http){.get = get, .user = user, .loop = loop, .listen_fd = -1};
    if (!listen_at(http, listen_address, error) || !start(http, loop, error)) {
        cairn_http_close(http);
        return false;
    }
    *out = http;
    return true;
}

static void on_closed(uv_handle_t *handle) {
    bool *closed = handle->data;
    *closed = true;
}

void cairn_http_close(cairn_http *http) {
    if (http == NULL) {
        return;
    }
    if (http->polls) {
        bool closed = false;
        http->poll.data = &closed;
        uv_close((uv_handle_t *)&http->poll, on_closed);
        while (!closed) {
            uv_run(http->loop, UV_RUN_NOWAIT);
        }
    }
    if (http->listen_fd >= 0) {
        close(http->listen_fd);
    }
    // It closes its handles first, and frees them when the loop has run.
    for (uint32_t i = 0; http->context != NULL && i < CLOSE_TURNS_MAX; i++) {
        lws_context_destroy(http->context);
        uv_run(http->loop, UV_RUN_NOWAIT);
    }
    free(http);
}

cairn_address cairn_http_address(const cairn_http *http) {
    return http->address;
}

cairn_http_statistics cairn_http_statistics_read(const cairn_http *http) {
    return http->statistics;
}
