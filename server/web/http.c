// SPDX-License-Identifier: MIT
// For accept4.
#define _GNU_SOURCE
#include "server/web/http.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libwebsockets.h>
#include <uv.h>

#include "base/assert.h"
#include "base/limits.h"
#include "program/sockaddr.h"
#include "server/web/admission.h"

// Of a request line with all headers; larger ones are closed.
#define HEADERS_MAX 4096
// For a request to arrive, for an answer to be taken, and between two requests.
#define TIMEOUT_S 5
// Between two questions whether a WebSocket goes on.
#define GOES_ON_S 5
// Of an answer's body: at most so much is kept beside what the system takes.
#define CHUNK 65536
#define CHUNKS_IN_A_ROW 16
// Messages that one WebSocket is sent before others have their turn.
#define MESSAGES_IN_A_ROW 16
// The system takes no more than this of a connection beyond what its path takes: datagrams get old
// while they wait.
#define UNSENT_MAX 16384
#define CLOSE_TURNS_MAX 100
#define ARGUMENT_SIZE 512
#define POST_PATH_SIZE 64

_Static_assert(CAIRN_HTTP_ROOM >= LWS_PRE, "libwebsockets writes the head of a message there");

struct cairn_http {
    struct uv_loop_s *loop;
    struct lws_context *context;
    uv_poll_t poll; // of the socket that listens
    bool polls;
    int listen_fd;
    int spare_fd; // given up to close a connection when the process may open no more
    cairn_http_host host;
    cairn_admission *admission;
    cairn_address address;
    cairn_http_statistics statistics;
};

typedef enum exchange_state {
    EXCHANGE_NONE, // between two requests, or one without a body
    EXCHANGE_READS,
    EXCHANGE_WAITS, // for the answer
    EXCHANGE_READY, // its answer has not begun
} exchange_state;

// Of a request; cleared by libwebsockets when its connection begins.
struct cairn_http_exchange {
    struct lws *connection;
    exchange_state state;
    bool ends; // the connection is closed after the answer
    bool head; // the answer has no body
    cairn_http_answer answer;
    size_t sent;
    char path[POST_PATH_SIZE];
    uint32_t mark;
    uint64_t begin_ns;
    uint8_t *body; // [body_size], owned; NULL: it is not kept
    size_t body_size;
    size_t received;
};

struct cairn_http_socket {
    struct lws *connection;
    void *peer;
    uint64_t empty_ns; // when the system was seen to hold nothing of it that it had not sent
    size_t sent;       // bytes since then
    bool broken;       // a message could not be sent
    size_t size;       // of the message so far
    uint8_t message[CAIRN_DATAGRAM_SIZE_MAX];
};

// What a page of ours may do, and nobody else with it.
static const struct lws_protocol_vhost_options headers[] = {
    {.next = &headers[1],
        .name = "content-security-policy:",
        .value = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
                 "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src "
                 "'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
                 "frame-ancestors 'none'"},
    {.next = &headers[2], .name = "x-content-type-options:", .value = "nosniff"},
    {.next = &headers[3], .name = "referrer-policy:", .value = "no-referrer"},
    {.next = &headers[4], .name = "cross-origin-opener-policy:", .value = "same-origin"},
    {.next = &headers[5], .name = "cross-origin-embedder-policy:", .value = "require-corp"},
    {.name = "cross-origin-resource-policy:", .value = "same-origin"},
};

static cairn_http *http_of(struct lws *connection) {
    struct lws_context *context = lws_get_context(connection);
    return context == NULL ? NULL : lws_context_user(context);
}

// The number of a connection in the admission. libwebsockets keeps the number plus one as a
// pointer; NULL: the connection has no number.
static uint32_t number_of(struct lws *connection) {
    return (uint32_t)(uintptr_t)lws_get_opaque_user_data(connection) - 1;
}

static cairn_http_request request_of(cairn_http *http, struct lws *connection, const char *path) {
    return (cairn_http_request){.path = path,
        .from = cairn_admission_address(http->admission, number_of(connection)),
        .connection = connection};
}

static const enum lws_token_indexes tokens[] = {[CAIRN_HTTP_ACCEPT] = WSI_TOKEN_HTTP_ACCEPT,
    [CAIRN_HTTP_AUTHORIZATION] = WSI_TOKEN_HTTP_AUTHORIZATION,
    [CAIRN_HTTP_CONTENT_TYPE] = WSI_TOKEN_HTTP_CONTENT_TYPE,
    [CAIRN_HTTP_HOST] = WSI_TOKEN_HOST,
    [CAIRN_HTTP_IF_NONE_MATCH] = WSI_TOKEN_HTTP_IF_NONE_MATCH,
    [CAIRN_HTTP_ORIGIN] = WSI_TOKEN_ORIGIN};

bool cairn_http_has_header(const cairn_http_request *request, cairn_http_header header) {
    return lws_hdr_total_length(request->connection, tokens[header]) > 0;
}

bool cairn_http_header_read(
    const cairn_http_request *request, cairn_http_header header, char *out, size_t size) {
    out[0] = '\0';
    const int length = lws_hdr_copy(request->connection, out, (int)size, tokens[header]);
    out[length > 0 ? length : 0] = '\0';
    return length > 0;
}

bool cairn_http_argument_read(
    const cairn_http_request *request, const char *name, char *out, size_t size) {
    char argument[ARGUMENT_SIZE];
    out[0] = '\0';
    for (int i = 0;; ++i) {
        const int length = lws_hdr_copy_fragment(
            request->connection, argument, sizeof argument, WSI_TOKEN_HTTP_URI_ARGS, i);
        if (length <= 0) {
            return false;
        }
        const size_t begin = strlen(name);
        if (strncmp(argument, name, begin) == 0 && (size_t)length - begin < size) {
            memcpy(out, argument + begin, (size_t)length - begin);
            out[(size_t)length - begin] = '\0';
            return true;
        }
    }
}

bool cairn_http_charge(const cairn_http_request *request, uint32_t count) {
    return cairn_admission_take(http_of(request->connection)->admission,
        number_of(request->connection), uv_hrtime(), count);
}

static void end_exchange(cairn_http *http, cairn_http_exchange *own) {
    if (own->answer.release != NULL) {
        own->answer.release(own->answer.owner);
    }
    if (own->state == EXCHANGE_WAITS) {
        http->host.gone(http->host.user, own);
    }
    free(own->body);
    *own = (cairn_http_exchange){.connection = own->connection};
}

cairn_http_answer cairn_http_words(uint32_t status, const char *text) {
    return (cairn_http_answer){.status = status,
        .type = "text/plain",
        .bytes = (const uint8_t *)text,
        .size = strlen(text)};
}

static cairn_http_answer answer_to(cairn_http *http, cairn_http_exchange *own, const char *path) {
    struct lws *connection = own->connection;
    if (lws_hdr_total_length(connection, WSI_TOKEN_GET_URI) <= 0 &&
        lws_hdr_total_length(connection, WSI_TOKEN_HEAD_URI) <= 0) {
        return (cairn_http_answer){.status = 405, .type = "text/plain"};
    }
    if (!cairn_admission_take(http->admission, number_of(connection), uv_hrtime(), 1)) {
        return (cairn_http_answer){.status = 429, .type = "text/plain"};
    }
    const cairn_http_request request = request_of(http, connection, path);
    return http->host.get(http->host.user, &request, own);
}

static bool add_header(
    struct lws *connection, const char *name, const char *value, uint8_t **at, uint8_t *end) {
    return value == NULL || lws_add_http_header_by_name(connection, (const unsigned char *)name,
                                (const unsigned char *)value, (int)strlen(value), at, end) == 0;
}

static bool end_answer(cairn_http *http, cairn_http_exchange *own) {
    const bool ends = own->ends;
    end_exchange(http, own);
    return !ends && lws_http_transaction_completed(own->connection) == 0;
}

// Sends the head of the answer. Returns whether the connection goes on.
static bool begin_answer(cairn_http *http, cairn_http_exchange *own) {
    uint8_t bytes[LWS_PRE + 2048];
    uint8_t *begin = bytes + LWS_PRE;
    uint8_t *at = begin;
    uint8_t *end = bytes + sizeof bytes - 1;
    const cairn_http_answer *answer = &own->answer;
    own->state = EXCHANGE_NONE;
    http->statistics.requests += 1;
    http->statistics.requests_refused += answer->status >= 400 ? 1 : 0;
    struct lws *connection = own->connection;
    if (lws_add_http_common_headers(
            connection, answer->status, answer->type, answer->size, &at, end) != 0 ||
        !add_header(connection,
            "cache-control:", answer->cache != NULL ? answer->cache : "no-store", &at, end) ||
        !add_header(connection, "etag:", answer->etag, &at, end) ||
        !add_header(
            connection, "www-authenticate:", answer->status == 401 ? "Bearer" : NULL, &at, end) ||
        !add_header(connection, "connection:", own->ends ? "close" : NULL, &at, end) ||
        lws_finalize_write_http_header(connection, begin, &at, end) != 0) {
        return false;
    }
    if (answer->size == 0 || own->head) {
        return end_answer(http, own);
    }
    lws_callback_on_writable(connection);
    return true;
}

// Writes the next piece of an answer's body, of which some is left.
static bool write_chunk(cairn_http_exchange *own) {
    uint8_t chunk[LWS_PRE + CHUNK];
    const size_t left = own->answer.size - own->sent;
    const size_t size = left < CHUNK ? left : CHUNK;
    memcpy(chunk + LWS_PRE, own->answer.bytes + own->sent, size);
    own->sent += size;
    return lws_write(own->connection, chunk + LWS_PRE, size,
               size == left ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) == (int)size;
}

// As much of the answer as the system takes now, but not much more than one connection may send in
// a turn of the loop.
static bool go_on(cairn_http *http, cairn_http_exchange *own) {
    struct lws *connection = own->connection;
    if (own->state == EXCHANGE_READY) {
        // Without a body the exchange ends with its head, and its memory may be given back.
        const bool ends = own->answer.size == 0 || own->head;
        if (!begin_answer(http, own)) {
            return false;
        }
        if (ends) {
            return true;
        }
    }
    if (own->answer.size == own->sent || lws_partial_buffered(connection)) {
        return true;
    }
    for (uint32_t i = 0; i < CHUNKS_IN_A_ROW && own->sent < own->answer.size; ++i) {
        if (!write_chunk(own)) {
            return false;
        }
        if (lws_partial_buffered(connection)) {
            break;
        }
    }
    lws_set_timeout(connection, PENDING_TIMEOUT_HTTP_CONTENT, TIMEOUT_S);
    if (own->sent == own->answer.size) {
        return end_answer(http, own);
    }
    lws_callback_on_writable(connection);
    return true;
}

static bool begin_get(cairn_http *http, cairn_http_exchange *own, const char *path) {
    end_exchange(http, own);
    own->head = lws_hdr_total_length(own->connection, WSI_TOKEN_HEAD_URI) > 0;
    own->answer = answer_to(http, own, path);
    if (own->answer.status != 0) {
        return begin_answer(http, own);
    }
    own->state = EXCHANGE_WAITS;
    lws_set_timeout(own->connection, PENDING_TIMEOUT_HTTP_CONTENT, TIMEOUT_S);
    return true;
}

// False: there is no length, or it is not a number.
static bool read_length(struct lws *connection, size_t *out) {
    char digits[16];
    char *end = digits;
    const int length =
        lws_hdr_copy(connection, digits, sizeof digits, WSI_TOKEN_HTTP_CONTENT_LENGTH);
    *out = length > 0 ? strtoul(digits, &end, 10) : 0;
    return length > 0 && digits[0] >= '0' && digits[0] <= '9' && *end == '\0';
}

static cairn_http_answer check_post(
    cairn_http *http, cairn_http_exchange *own, const char *path, bool has_length) {
    const cairn_http_request request = request_of(http, own->connection, path);
    if (!cairn_http_charge(&request, 1)) {
        return (cairn_http_answer){.status = 429, .type = "text/plain"};
    }
    const cairn_http_answer refusal = http->host.begin_post(http->host.user, &request, &own->mark);
    if (refusal.status == 0 && (!has_length || own->body_size == 0)) {
        return (cairn_http_answer){.status = 411, .type = "text/plain"};
    }
    return refusal.status == 0 && own->body_size > CAIRN_HTTP_BODY_MAX
               ? (cairn_http_answer){.status = 413, .type = "text/plain"}
               : refusal;
}

// A refused request is answered when its body has arrived, unless it is too large: a peer that
// still sends when its connection is closed would lose the answer.
static bool begin_post(cairn_http *http, cairn_http_exchange *own, const char *path) {
    end_exchange(http, own);
    const bool has_length = read_length(own->connection, &own->body_size);
    own->answer = check_post(http, own, path, has_length);
    own->begin_ns = uv_hrtime();
    if (own->answer.status != 0 &&
        (!has_length || own->body_size == 0 || own->body_size > CAIRN_HTTP_BODY_MAX)) {
        own->ends = own->body_size > 0 || !has_length;
        // With its text at once: libwebsockets takes a request that has no body for ended.
        own->state = EXCHANGE_READY;
        return go_on(http, own);
    }
    own->body = own->answer.status == 0 ? malloc(own->body_size) : NULL;
    if (own->answer.status == 0 && own->body == NULL) {
        own->answer = (cairn_http_answer){.status = 503, .type = "text/plain"};
    }
    snprintf(own->path, sizeof own->path, "%s", path);
    own->state = EXCHANGE_READS;
    lws_set_timeout(own->connection, PENDING_TIMEOUT_HTTP_CONTENT, TIMEOUT_S);
    return true;
}

// The whole body has to arrive in time: libwebsockets would wait for each piece of it.
static bool take_body(cairn_http_exchange *own, const uint8_t *bytes, size_t size) {
    if (own->state != EXCHANGE_READS || size > own->body_size - own->received ||
        uv_hrtime() - own->begin_ns > TIMEOUT_S * CAIRN_NS_PER_S) {
        return false;
    }
    if (own->body != NULL) {
        memcpy(own->body + own->received, bytes, size);
    }
    own->received += size;
    return true;
}

static bool end_body(cairn_http *http, cairn_http_exchange *own) {
    if (own->state != EXCHANGE_READS || own->received != own->body_size) {
        return false;
    }
    if (own->body == NULL) { // refused
        return begin_answer(http, own);
    }
    own->state = EXCHANGE_WAITS;
    lws_set_timeout(own->connection, PENDING_TIMEOUT_HTTP_CONTENT, CAIRN_HTTP_ANSWER_S);
    const cairn_http_answer answer =
        http->host.post(http->host.user, own->path, own->mark, own->body, own->body_size, own);
    free(own->body);
    own->body = NULL;
    if (answer.status != 0) {
        own->answer = answer;
        return begin_answer(http, own);
    }
    return true;
}

void cairn_http_answer_later(cairn_http_exchange *exchange, cairn_http_answer answer) {
    CAIRN_ASSERT(exchange->state == EXCHANGE_WAITS && answer.status != 0);
    exchange->answer = answer;
    exchange->state = EXCHANGE_READY;
    lws_callback_on_writable(exchange->connection);
}

// 0: a WebSocket may be opened. Otherwise the status of the refusal.
static uint32_t ask_to_upgrade(cairn_http *http, struct lws *connection, const char *to) {
    char path[sizeof CAIRN_HTTP_SOCKET_PATH];
    if (strcmp(to, "websocket") != 0) {
        return 400;
    }
    if (lws_hdr_copy(connection, path, sizeof path, WSI_TOKEN_GET_URI) <= 0 ||
        strcmp(path, CAIRN_HTTP_SOCKET_PATH) != 0) {
        return 404;
    }
    if (!cairn_admission_take(http->admission, number_of(connection), uv_hrtime(), 1)) {
        return 429;
    }
    const cairn_http_request request = request_of(http, connection, path);
    const uint32_t refusal = http->host.ask(http->host.user, &request);
    if (refusal != 0) {
        return refusal;
    }
    return cairn_admission_upgrade(http->admission, number_of(connection)) ? 0 : 503;
}

// As libwebsockets wants it: 0 goes on, more than 0: a refusal was sent.
static int confirm_upgrade(cairn_http *http, struct lws *connection, const char *to) {
    const uint32_t refusal = ask_to_upgrade(http, connection, to);
    if (refusal == 0) {
        return 0;
    }
    http->statistics.sockets_refused += 1;
    return lws_return_http_status(connection, refusal, NULL) == 0 ? 1 : -1;
}

// A connection that was not taken has no number.
static void forget(cairn_http *http, struct lws *connection) {
    if (lws_get_opaque_user_data(connection) != NULL) {
        cairn_admission_remove(http->admission, number_of(connection));
        lws_set_opaque_user_data(connection, NULL);
    }
}

static int on_http(
    struct lws *connection, enum lws_callback_reasons reason, void *user, void *in, size_t size) {
    cairn_http *http = http_of(connection);
    cairn_http_exchange *own =
        user; // a connection that is closed before its first request has none
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        own->connection = connection;
        return (lws_hdr_total_length(connection, WSI_TOKEN_POST_URI) > 0 ? begin_post(http, own, in)
                                                                         : begin_get(http, own, in))
                   ? 0
                   : -1;
    case LWS_CALLBACK_HTTP_BODY:
        return take_body(own, in, size) ? 0 : -1;
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        return end_body(http, own) ? 0 : -1;
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return go_on(http, own) ? 0 : -1;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return confirm_upgrade(http, connection, in);
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: // without our subprotocol
        http->statistics.sockets_refused += 1;
        return -1;
    case LWS_CALLBACK_WSI_DESTROY:
        forget(http, connection);
        return 0;
    case LWS_CALLBACK_CLOSED_HTTP:
        if (own != NULL) {
            end_exchange(http, own);
        }
        return 0;
    default:
        return lws_callback_http_dummy(connection, reason, user, in, size);
    }
}

static int close_with(struct lws *connection, enum lws_close_status why) {
    lws_close_reason(connection, why, NULL, 0);
    return -1;
}

static int open_socket(cairn_http *http, struct lws *connection, cairn_http_socket *own) {
    const cairn_address *from = cairn_admission_address(http->admission, number_of(connection));
    // Datagrams leave only as fast as the path takes them; answers as fast as the system takes
    // them.
    const int unsent = UNSENT_MAX;
    (void)setsockopt(
        lws_get_socket_fd(connection), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
    own->connection = connection;
    own->peer = http->host.opened(http->host.user, own, from);
    http->statistics.sockets_opened += 1;
    lws_set_timer_usecs(connection, (lws_usec_t)GOES_ON_S * LWS_US_PER_SEC);
    return own->peer != NULL ? 0 : close_with(connection, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION);
}

// A message may arrive in pieces.
static int take_piece(cairn_http *http, struct lws *connection, cairn_http_socket *own,
    const uint8_t *bytes, size_t size) {
    const cairn_http_host *host = &http->host;
    own->size = lws_is_first_fragment(connection) ? 0 : own->size;
    if (!lws_frame_is_binary(connection) || size > sizeof own->message - own->size) {
        host->malformed(host->user, own->peer);
        return close_with(connection, lws_frame_is_binary(connection)
                                          ? LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE
                                          : LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE);
    }
    memcpy(own->message + own->size, bytes, size);
    own->size += size;
    if (!lws_is_final_fragment(connection)) {
        return 0;
    }
    const size_t whole = own->size;
    own->size = 0;
    return host->received(host->user, own->peer, own->message, whole)
               ? 0
               : close_with(connection, LWS_CLOSE_STATUS_POLICY_VIOLATION);
}

static int send_messages(cairn_http *http, struct lws *connection, cairn_http_socket *own) {
    uint8_t *bytes;
    size_t size;
    for (uint32_t i = 0; i < MESSAGES_IN_A_ROW && !lws_partial_buffered(connection); ++i) {
        size = http->host.next(http->host.user, own->peer, &bytes);
        if (size == 0) {
            return 0;
        }
        if (lws_write(connection, bytes, size, LWS_WRITE_BINARY) < (int)size) {
            return -1;
        }
        own->sent += size;
    }
    lws_callback_on_writable(connection);
    return 0;
}

static int on_socket(
    struct lws *connection, enum lws_callback_reasons reason, void *user, void *in, size_t size) {
    cairn_http *http = http_of(connection);
    cairn_http_socket *own = user;
    switch (reason) {
    case LWS_CALLBACK_ESTABLISHED:
        return open_socket(http, connection, own);
    case LWS_CALLBACK_RECEIVE:
        return take_piece(http, connection, own, in, size);
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return own->peer == NULL || own->broken ? -1 : send_messages(http, connection, own);
    case LWS_CALLBACK_TIMER:
        if (!http->host.goes_on(http->host.user, own->peer)) {
            return close_with(connection, LWS_CLOSE_STATUS_GOINGAWAY);
        }
        lws_set_timer_usecs(connection, (lws_usec_t)GOES_ON_S * LWS_US_PER_SEC);
        return 0;
    case LWS_CALLBACK_CLOSED:
        if (own != NULL && own->peer != NULL) {
            http->host.closed(http->host.user, own->peer);
            own->peer = NULL;
        }
        return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        forget(http, connection);
        return 0;
    default:
        return 0;
    }
}

// Whether the path keeps up, so that a message leaves at once. The system is asked again after so
// much was sent, or so long: to ask costs as much as to send.
#define ASK_AGAIN_BYTES 8192
#define ASK_AGAIN_NS (250 * (CAIRN_NS_PER_S / 1000))
static bool has_space(cairn_http_socket *socket) {
    const uint64_t now_ns = uv_hrtime();
    int unsent = 0;
    if (lws_partial_buffered(socket->connection)) {
        return false;
    }
    if (socket->sent < ASK_AGAIN_BYTES && now_ns - socket->empty_ns < ASK_AGAIN_NS) {
        return true;
    }
    if (ioctl(lws_get_socket_fd(socket->connection), SIOCOUTQNSD, &unsent) != 0 || unsent != 0) {
        return false;
    }
    socket->empty_ns = now_ns;
    socket->sent = 0;
    return true;
}

// To be called back costs two calls of the system and a turn of the loop for each message. An error
// closes the connection when it is called back.
void cairn_http_socket_wake(cairn_http_socket *socket) {
    struct lws *connection = socket->connection;
    const bool sends = has_space(socket);
    socket->broken = sends && send_messages(http_of(connection), connection, socket) != 0;
    if (!sends || socket->broken) {
        lws_callback_on_writable(connection);
    }
}

static const struct lws_protocols protocols[] = {
    // Without a size libwebsockets writes 4 KiB, and the rest one such piece in each turn of the
    // loop.
    {.name = "http",
        .callback = on_http,
        .per_session_data_size = sizeof(cairn_http_exchange),
        .tx_packet_size = CHUNK},
    {.name = CAIRN_HTTP_SOCKET_PROTOCOL,
        .callback = on_socket,
        .per_session_data_size = sizeof(cairn_http_socket)},
    {0}};

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
        listen(http->listen_fd, CAIRN_WEB_REQUESTS_MAX) != 0) {
        return set_error(error, "cannot listen", strerror(errno));
    }
    http->spare_fd = fcntl(http->listen_fd, F_DUPFD_CLOEXEC, 0);
    size = sizeof address;
    if (getsockname(http->listen_fd, (struct sockaddr *)&address, &size) != 0) {
        return set_error(error, "getsockname", strerror(errno));
    }
    http->address = cairn_address_of_sockaddr((const struct sockaddr *)&address);
    return true;
}

static void take_connection(cairn_http *http, int fd, const struct sockaddr *from) {
    const cairn_address address = cairn_address_of_sockaddr(from);
    const uint32_t number = cairn_admission_add(http->admission, &address);
    if (number == CAIRN_ADMISSION_NONE) {
        http->statistics.connections_refused += 1;
        close(fd);
        return;
    }
    const int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // It closes the descriptor if it refuses it.
    struct lws *connection = lws_adopt_socket(http->context, fd);
    if (connection == NULL) {
        cairn_admission_remove(http->admission, number);
        return;
    }
    lws_set_opaque_user_data(connection, (void *)((uintptr_t)number + 1));
}

// A connection that stays in the queue of the system would wake the loop for ever.
static bool refuse_without_descriptor(cairn_http *http) {
    if ((errno != EMFILE && errno != ENFILE) || http->spare_fd < 0) {
        return false;
    }
    close(http->spare_fd);
    const int refused = accept4(http->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (refused >= 0) {
        close(refused);
        http->statistics.connections_refused += 1;
    }
    http->spare_fd = fcntl(http->listen_fd, F_DUPFD_CLOEXEC, 0);
    return refused >= 0;
}

static void on_connection(uv_poll_t *poll, int status, int events) {
    (void)status;
    (void)events;
    cairn_http *http = poll->data;
    for (uint32_t i = 0; i < CAIRN_WEB_REQUESTS_MAX; i++) {
        struct sockaddr_storage from;
        socklen_t size = sizeof from;
        const int fd =
            accept4(http->listen_fd, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && !refuse_without_descriptor(http)) {
            return;
        }
        if (fd < 0) {
            continue;
        }
        take_connection(http, fd, (const struct sockaddr *)&from);
    }
}

static bool start(cairn_http *http, struct uv_loop_s *loop, uint32_t sockets_max, char *error) {
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
        .options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_SKIP_SERVER_CANONICAL_NAME,
        .headers = headers,
        .foreign_loops = loops,
        .max_http_header_data = HEADERS_MAX,
        .max_http_header_pool = CAIRN_WEB_REQUESTS_MAX,
        .fd_limit_per_thread = CAIRN_WEB_REQUESTS_MAX + sockets_max + 8,
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
    return true;
}

bool cairn_http_create(struct uv_loop_s *loop, const cairn_http_config *config, cairn_http **out,
    char error[CAIRN_HTTP_ERROR_SIZE]) {
    *out = NULL;
    cairn_http *http = calloc(1, sizeof *http);
    if (http == NULL) {
        return set_error(error, "memory", "there is none left");
    }
    *http = (cairn_http){.host = config->host, .loop = loop, .listen_fd = -1, .spare_fd = -1};
    if (cairn_admission_create(
            config->sockets_max, config->sockets_per_network_max, &http->admission) != CAIRN_OK) {
        cairn_http_close(http);
        return set_error(error, "memory", "there is none left");
    }
    if (!start(http, loop, config->sockets_max, error)) {
        cairn_http_close(http);
        return false;
    }
    *out = http;
    return true;
}

bool cairn_http_listen(
    cairn_http *http, const cairn_address *at, char error[CAIRN_HTTP_ERROR_SIZE]) {
    if (!listen_at(http, at, error)) {
        return false;
    }
    if (uv_poll_init(http->loop, &http->poll, http->listen_fd) != 0) {
        return set_error(error, "poll", "refused");
    }
    http->poll.data = http;
    http->polls = true;
    uv_poll_start(&http->poll, UV_READABLE, on_connection);
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
    if (http->spare_fd >= 0) {
        close(http->spare_fd);
    }
    // It closes its handles first, and frees them when the loop has run.
    for (uint32_t i = 0; http->context != NULL && i < CLOSE_TURNS_MAX; i++) {
        lws_context_destroy(http->context);
        uv_run(http->loop, UV_RUN_NOWAIT);
    }
    cairn_admission_destroy(http->admission);
    free(http);
}

cairn_address cairn_http_address(const cairn_http *http) {
    return http->address;
}

void cairn_http_set_sockets_per_network(cairn_http *http, uint32_t sockets_max) {
    cairn_admission_set_sockets_per_network(http->admission, sockets_max);
}

cairn_http_statistics cairn_http_statistics_read(const cairn_http *http) {
    cairn_http_statistics out = http->statistics;
    out.sockets = cairn_admission_sockets(http->admission);
    return out;
}
