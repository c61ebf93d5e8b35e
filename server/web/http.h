// SPDX-License-Identifier: MIT
#pragma once

// HTTP and WebSockets on a loop of libuv, by libwebsockets. Requests are answered with what a
// function makes of them; a WebSocket carries datagrams, one in each binary message. Sizes, times,
// rates and the number of connections are bounded: a peer that is slow or silent is closed, and
// nobody else waits for it.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/types.h>

struct uv_loop_s;
struct lws;

#define CAIRN_HTTP_ERROR_SIZE 160

typedef struct cairn_http_answer {
    uint32_t status;      // 200, 404, ...; 401 asks for a bearer token
    const char *type;     // of the body: a media type; static text
    const uint8_t *bytes; // NULL: no body
    size_t size;
    void (*release)(void *owner); // called once when `bytes` is not needed any more; NULL: never
    void *owner;
    const char *cache; // Cache-Control; static text. NULL: no-store
    const char *etag;  // with its quotes, as long as `bytes`; NULL: none
} cairn_http_answer;

// A line of text; `text`: static.
cairn_http_answer cairn_http_words(uint32_t status, const char *text);

typedef enum cairn_http_header {
    CAIRN_HTTP_ACCEPT,
    CAIRN_HTTP_AUTHORIZATION,
    CAIRN_HTTP_CONTENT_TYPE,
    CAIRN_HTTP_HOST,
    CAIRN_HTTP_IF_NONE_MATCH,
    CAIRN_HTTP_ORIGIN,
} cairn_http_header;

// Lasts during the call.
typedef struct cairn_http_request {
    const char *path;          // without a query
    const cairn_address *from; // of the peer
    struct lws *connection;    // for the functions below
} cairn_http_request;

bool cairn_http_has_header(const cairn_http_request *request, cairn_http_header header);
// Copies a header. False, with `out` empty: the request does not have it, or it is longer than
// fits.
bool cairn_http_header_read(
    const cairn_http_request *request, cairn_http_header header, char *out, size_t size);
// The value of an argument of the query, decoded; `name` ends with '='. False as above.
bool cairn_http_argument_read(
    const cairn_http_request *request, const char *name, char *out, size_t size);

// Whether the peer's network may try so much now; if so, it counts as `count` more requests.
bool cairn_http_charge(const cairn_http_request *request, uint32_t count);

typedef struct cairn_http_socket cairn_http_socket;     // a WebSocket
typedef struct cairn_http_exchange cairn_http_exchange; // a request, until its answer

// All are called on the thread of the loop, which they must not keep for long.
typedef struct cairn_http_host {
    // Status 0: cairn_http_answer_later gives the answer, within some seconds, when the connection
    // is closed.
    cairn_http_answer (*get)(
        void *user, const cairn_http_request *request, cairn_http_exchange *exchange);
    // A POST of at most CAIRN_HTTP_BODY_MAX bytes begins. Status 0: its body is read, and `post`
    // gets *mark; otherwise the answer.
    cairn_http_answer (*begin_post)(void *user, const cairn_http_request *request, uint32_t *mark);
    // It has arrived. Status 0: cairn_http_answer_later gives the answer, at most
    // CAIRN_HTTP_ANSWER_S later, when the connection is closed.
    cairn_http_answer (*post)(void *user, const char *path, uint32_t mark, const uint8_t *body,
        size_t size, cairn_http_exchange *exchange);
    // The peer of an exchange has gone before the answer.
    void (*gone)(void *user, cairn_http_exchange *exchange);
    // A WebSocket asks to be opened: 0 takes it, otherwise the status with which it is refused.
    uint32_t (*ask)(void *user, const cairn_http_request *request);
    // It is open. Returns what the functions below get as `peer`; NULL: out of memory.
    void *(*opened)(void *user, cairn_http_socket *socket, const cairn_address *from);
    // A whole message arrived. False: the socket is closed, as one that broke the rules.
    bool (*received)(void *user, void *peer, const uint8_t *bytes, size_t size);
    // What was refused before it was a message: too large, or not binary. The socket is closed.
    void (*malformed)(void *user, void *peer);
    // The next message to send: its size, and where it is. There is room for CAIRN_HTTP_ROOM bytes
    // before it, which are overwritten. 0: none.
    size_t (*next)(void *user, void *peer, uint8_t **bytes);
    // Each few seconds. False: the socket is closed.
    bool (*goes_on)(void *user, void *peer);
    void (*closed)(void *user, void *peer);
    void *user;
} cairn_http_host;

#define CAIRN_HTTP_BODY_MAX 65536
#define CAIRN_HTTP_ANSWER_S 600
#define CAIRN_HTTP_ROOM 32
#define CAIRN_HTTP_SOCKET_PATH "/ws"
#define CAIRN_HTTP_SOCKET_PROTOCOL "cairn"

typedef struct cairn_http_config {
    cairn_http_host host;
    uint32_t sockets_max;
    uint32_t sockets_per_network_max;
} cairn_http_config;

typedef struct cairn_http cairn_http;

// Makes everything but the socket that listens. False: `error` says why.
bool cairn_http_create(struct uv_loop_s *loop, const cairn_http_config *config, cairn_http **out,
    char error[CAIRN_HTTP_ERROR_SIZE]);
// Once, while the loop does not run. Port 0: any free one. False: `error` says why.
bool cairn_http_listen(
    cairn_http *http, const cairn_address *at, char error[CAIRN_HTTP_ERROR_SIZE]);
// Stops listening and closes all connections, in some turns of the loop. NULL is allowed.
void cairn_http_close(cairn_http *http);

cairn_address cairn_http_address(const cairn_http *http); // as bound
void cairn_http_set_sockets_per_network(cairn_http *http, uint32_t sockets_max);

void cairn_http_answer_later(cairn_http_exchange *exchange, cairn_http_answer answer);

// `next` of the host is called when the socket can be written: now, if nothing waits on its path.
void cairn_http_socket_wake(cairn_http_socket *socket);

typedef struct cairn_http_statistics {
    uint64_t requests;            // by whatever status
    uint64_t requests_refused;    // of these, with a status of 400 or more
    uint64_t connections_refused; // there were too many, in all or from one network
    uint64_t sockets_opened;
    uint64_t sockets_refused; // by their origin, path, protocol or number
    uint64_t sockets;         // WebSockets now
} cairn_http_statistics;
cairn_http_statistics cairn_http_statistics_read(const cairn_http *http);
