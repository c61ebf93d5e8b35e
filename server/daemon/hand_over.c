// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "server/daemon/hand_over.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "base/assert.h"
#include "net/crypto.h"
#include "server/daemon/hand_over_record.h"
#include "server/handover/handover.h"
#include <cairn/types.h>

// How long both step beside each other, at least, and the slowest room's ticks in it.
#define COMPARE_NS CAIRN_NS_PER_S
// The other process may be so many records behind when this one stops.
#define BEHIND_MAX 2
// For the offer to be taken, which a new connection has room for.
#define OFFER_NS (CAIRN_NS_PER_S / 1000)
// What may wait to be written to it.
#define WAITING_MAX ((size_t)1 << 30)
// The longest time without an answer while answers are due.
#define SILENCE_NS (20 * CAIRN_NS_PER_S)
// How long after a room's tick is time enough before the next one; how long such a moment is waited
// for, and then, with the rooms held, for this process to be quiet.
#define FRESH_NS (4 * CAIRN_NS_PER_S / 1000)
#define QUIET_NS (CAIRN_NS_PER_S / 4)
// How long this process then stands still.
#define STILL_NS (CAIRN_NS_PER_S / 2)
#define WAKE_MS 50
// How long an ending process waits until the other one has told the service manager of itself.
#define NOTICE_MS 2000

typedef enum hand_over_state {
    IDLE,
    ASKED,     // a process is connected, and is to say which build it is
    ROOMS,     // is given the rooms
    COMPARING, // steps beside
    GIVEN,     // has everything
} hand_over_state;

struct cairn_hand_over {
    cairn_hand_over_config config;
    uv_loop_t *loop;
    uv_poll_t listening, connection, predecessor;
    uv_timer_t wake; // so that there are turns while all rooms are paused
    uint32_t open_handles;
    int listen_fd, fd, predecessor_fd;
    bool bound; // the file at `path` is ours
    hand_over_state state;
    cairn_handover handover;
    uint32_t next_room;
    uint64_t sent; // ROOM and TICKS records
    cairn_hand_over_agreed agreed;
    uint64_t heard_ns;
    uint64_t compared_ns;  // since when both step; 0: not yet
    uint64_t ticked_ns;    // when ticks were last given
    uint64_t ready_ns;     // since when the clients may be given; 0: not yet
    uint64_t held_ns;      // since when rooms are held; 0: they are not
    cairn_archive clients; // memory for their record, had before anything stands still
    // What waits to be written, and what was read of the next record.
    uint8_t *waiting; // owned
    size_t waiting_size, waiting_capacity, waiting_at;
    uint8_t read[sizeof(cairn_hand_over_head) + CAIRN_HAND_OVER_SMALL + 1];
    size_t read_size;
};

static void say(
    cairn_hand_over *own, bool warns, const char *event, const char *detail, uint64_t us) {
    own->config.say(own->config.user, warns, event, detail, us);
}

static void on_closed(uv_handle_t *handle) {
    cairn_hand_over *own = handle->data;
    own->open_handles -= 1;
}

static void close_poll(cairn_hand_over *own, uv_poll_t *poll, int *fd) {
    CAIRN_ASSERT(poll->data == own);
    if (*fd >= 0) {
        uv_poll_stop(poll);
        close(*fd);
        *fd = -1;
        uv_close((uv_handle_t *)poll, on_closed);
    }
}

static void on_wake(uv_timer_t *timer) {
    (void)timer;
}

// The connection ends; this process goes on alone.
static void end_connection(cairn_hand_over *own) {
    close_poll(own, &own->connection, &own->fd);
    uv_timer_stop(&own->wake);
    cairn_uv_driver_go_on(own->config.driver);
    cairn_handover_hold(own->config.server, false);
    cairn_handover_end(&own->handover);
    if (own->waiting != NULL) {
        cairn_wipe(own->waiting, own->waiting_size);
    }
    free(own->waiting);
    own->waiting = NULL;
    own->waiting_size = own->waiting_capacity = own->waiting_at = 0;
    own->read_size = 0;
    own->state = IDLE;
    own->held_ns = 0;
    own->ready_ns = 0;
    cairn_archive_free(&own->clients);
}

static void fail(cairn_hand_over *own, const char *why) {
    const size_t size = strlen(why);
    // Whole records were written so far, or this one is not understood; both end the other process.
    if (own->waiting_at == own->waiting_size) {
        (void)cairn_hand_over_send(own->fd, CAIRN_HAND_OVER_REFUSED, why,
            size < CAIRN_HAND_OVER_SMALL ? size : CAIRN_HAND_OVER_SMALL, -1,
            cairn_uv_now_ns() + 1000000);
    }
    say(own, true, "hand_over_failed", why, 0);
    end_connection(own);
}

// ------------------------------------------------------------------------------------- writing

static void on_connection(uv_poll_t *poll, int status, int events);

static void watch(cairn_hand_over *own) {
    const bool writes = own->waiting_at < own->waiting_size;
    uv_poll_start(
        &own->connection, writes ? UV_READABLE | UV_WRITABLE : UV_READABLE, on_connection);
}

static void write_waiting(cairn_hand_over *own) {
    while (own->waiting_at < own->waiting_size) {
        const ssize_t sent = send(own->fd, own->waiting + own->waiting_at,
            own->waiting_size - own->waiting_at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
            break;
        }
        // It may have said why it ended: what it said is read before its end is.
        own->waiting_at = sent <= 0 ? own->waiting_size : own->waiting_at + (size_t)sent;
    }
    if (own->waiting_at == own->waiting_size) {
        own->waiting_at = own->waiting_size = 0;
    }
    watch(own);
}

static bool append(cairn_hand_over *own, const void *bytes, size_t size) {
    if (size > WAITING_MAX - own->waiting_size) {
        return false;
    }
    while (own->waiting_capacity - own->waiting_size < size) {
        const size_t capacity = own->waiting_capacity == 0 ? 65536 : 2 * own->waiting_capacity;
        uint8_t *grown = realloc(own->waiting, capacity);
        if (grown == NULL) {
            return false;
        }
        own->waiting = grown;
        own->waiting_capacity = capacity;
    }
    if (size > 0) {
        memcpy(own->waiting + own->waiting_size, bytes, size);
    }
    own->waiting_size += size;
    return true;
}

// False: the connection has ended.
static bool post(cairn_hand_over *own, cairn_hand_over_kind kind, const void *bytes, size_t size) {
    const cairn_hand_over_head head = cairn_hand_over_head_of(kind, bytes, size);
    if (!append(own, &head, sizeof head) || !append(own, bytes, size)) {
        fail(own, "the new process does not keep up");
        return false;
    }
    write_waiting(own);
    return true;
}

// ------------------------------------------------------------------------------------- reading

// It makes its loop with the sockets meanwhile, and receives nothing before it is told to go.
static bool offer_sockets(const cairn_hand_over *own) {
    const uint64_t end_ns = cairn_uv_now_ns() + OFFER_NS;
    const cairn_uv_sockets sockets = cairn_uv_driver_sockets(own->config.driver);
    const cairn_hand_over_offer offer = {.bound = cairn_uv_driver_address(own->config.driver),
        .sockets = (uint16_t)sockets.count,
        .apart = sockets.apart ? 1 : 0};
    bool sent = cairn_hand_over_send(
        own->fd, CAIRN_HAND_OVER_OFFER, &offer, sizeof offer, sockets.fds[0], end_ns);
    for (uint32_t i = 1; i < sockets.count && sent; ++i) {
        sent =
            cairn_hand_over_send(own->fd, CAIRN_HAND_OVER_SOCKET, NULL, 0, sockets.fds[i], end_ns);
    }
    return sent;
}

static void take_question(cairn_hand_over *own, const uint8_t *bytes, size_t size) {
    const cairn_hand_over_build ours = cairn_hand_over_build_own();
    cairn_hand_over_build build;
    char why[160];
    if (size != sizeof build) {
        fail(own, "the new process asked what this one does not understand");
        return;
    }
    memcpy(&build, bytes, sizeof build);
    if (build.version != ours.version || build.sim_version != ours.sim_version ||
        build.protocol_version != ours.protocol_version) {
        snprintf(why, sizeof why,
            "the new process has hand-over %" PRIu32 ", simulation %" PRIu32 ", protocol %" PRIu32
            "; this one %" PRIu32 ", %" PRIu32 ", %" PRIu32,
            build.version, build.sim_version, build.protocol_version, ours.version,
            ours.sim_version, ours.protocol_version);
        fail(own, why);
        return;
    }
    if (!cairn_handover_begin(&own->handover, own->config.server)) {
        fail(own, own->handover.why);
        return;
    }
    own->state = ROOMS;
    own->next_room = 0;
    own->sent = 0;
    own->agreed = (cairn_hand_over_agreed){0};
    own->compared_ns = 0;
    say(own, false, "hand_over_began", "", 0);
    if (!offer_sockets(own)) {
        fail(own, "the new process is gone");
    }
}

static void take_record(
    cairn_hand_over *own, cairn_hand_over_kind kind, uint8_t *bytes, size_t size) {
    own->heard_ns = cairn_uv_now_ns();
    if (kind == CAIRN_HAND_OVER_ASKS && own->state == ASKED) {
        take_question(own, bytes, size);
    } else if (kind == CAIRN_HAND_OVER_AGREED && own->state >= ROOMS &&
               size == sizeof own->agreed) {
        memcpy(&own->agreed, bytes, size);
    } else if (kind == CAIRN_HAND_OVER_REFUSED) {
        bytes[size] = '\0';
        fail(own, (const char *)bytes);
    } else {
        fail(own, "the new process said what does not belong here");
    }
}

// Takes one record out of what was read. False: it is not whole, or the connection has ended.
static bool take_next(cairn_hand_over *own) {
    cairn_hand_over_head head;
    if (own->read_size < sizeof head) {
        return false;
    }
    memcpy(&head, own->read, sizeof head);
    if (!cairn_hand_over_head_is_valid(&head) || head.size > CAIRN_HAND_OVER_SMALL) {
        fail(own, "the new process said what is malformed");
        return false;
    }
    const size_t whole = sizeof head + (size_t)head.size;
    uint8_t bytes[CAIRN_HAND_OVER_SMALL + 1];
    if (own->read_size < whole) {
        return false;
    }
    memcpy(bytes, own->read + sizeof head, (size_t)head.size);
    own->read_size -= whole;
    memmove(own->read, own->read + whole, own->read_size);
    if (cairn_hand_over_head_of((cairn_hand_over_kind)head.kind, bytes, (size_t)head.size)
            .checksum != head.checksum) {
        fail(own, "the new process said what is malformed");
        return false;
    }
    take_record(own, (cairn_hand_over_kind)head.kind, bytes, (size_t)head.size);
    return own->fd >= 0;
}

static void read_records(cairn_hand_over *own) {
    const ssize_t count =
        recv(own->fd, own->read + own->read_size, sizeof own->read - own->read_size, MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
        fail(own, "the new process is gone");
        return;
    }
    own->read_size += count > 0 ? (size_t)count : 0;
    while (take_next(own)) {}
}

static void on_connection(uv_poll_t *poll, int status, int events) {
    cairn_hand_over *own = poll->data;
    // An error does not hide what it said before, such as why it gives up.
    if (status < 0 || (events & UV_READABLE) != 0) {
        read_records(own);
    }
    if (own->fd >= 0 && status < 0) {
        fail(own, "the new process is gone");
    } else if (own->fd >= 0 && (events & UV_WRITABLE) != 0) {
        write_waiting(own);
    }
}

static void on_listening(uv_poll_t *poll, int status, int events) {
    cairn_hand_over *own = poll->data;
    (void)events;
    const int fd =
        status < 0 ? -1 : accept4(own->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        return;
    }
    if (own->state != IDLE || own->fd >= 0 || !cairn_hand_over_peer_is_own(fd) ||
        uv_is_closing((const uv_handle_t *)&own->listening) ||
        uv_poll_init(own->loop, &own->connection, fd) != 0) {
        close(fd);
        return;
    }
    own->connection.data = own;
    own->open_handles += 1;
    own->fd = fd;
    own->state = ASKED;
    own->heard_ns = cairn_uv_now_ns();
    uv_timer_start(&own->wake, on_wake, WAKE_MS, WAKE_MS);
    watch(own);
}

// --------------------------------------------------------------------------------------- turns

// One room in a turn: encoding a large one takes as long as some ticks.
static void give_room(cairn_hand_over *own, uint64_t now_ns) {
    cairn_archive out = cairn_archive_writer();
    bool later = false;
    if (own->next_room == own->handover.room_count) {
        own->state = COMPARING;
        own->compared_ns = now_ns;
        own->clients = cairn_archive_writer();
        (void)cairn_archive_reserve(
            &own->clients, cairn_handover_clients_size(&own->handover, own->config.server));
        return;
    }
    if (!cairn_handover_give_room(
            &own->handover, own->config.server, own->next_room, &out, &later)) {
        fail(own, own->handover.why);
    } else if (!later && post(own, CAIRN_HAND_OVER_ROOM, out.out, out.size)) {
        own->next_room += 1;
        own->sent += 1;
    }
    cairn_archive_free(&out);
}

static void give_ticks(cairn_hand_over *own) {
    cairn_archive out = cairn_archive_writer();
    bool any;
    if (!cairn_handover_give_ticks(&own->handover, own->config.server, &out, &any)) {
        fail(own, own->handover.why);
    } else if (any && post(own, CAIRN_HAND_OVER_TICKS, out.out, out.size)) {
        own->sent += 1;
        own->ticked_ns = cairn_uv_now_ns();
    }
    cairn_archive_free(&out);
}

// Waits for the answer, and says go. From then on this process sends nothing.
static bool finish(cairn_hand_over *own, uint64_t end_ns) {
    cairn_hand_over_record record;
    for (;;) {
        if (!cairn_hand_over_receive(own->fd, end_ns, &record)) {
            fail(own, "the new process did not take the clients in time");
            return false;
        }
        const cairn_hand_over_kind kind = record.kind;
        if (kind == CAIRN_HAND_OVER_REFUSED) {
            fail(own, (const char *)record.bytes);
        } else if (kind != CAIRN_HAND_OVER_AGREED && kind != CAIRN_HAND_OVER_TAKEN) {
            fail(own, "the new process said what does not belong here");
        }
        cairn_hand_over_record_free(&record);
        if (record.passed_fd >= 0) {
            close(record.passed_fd);
        }
        if (own->fd < 0) {
            return false;
        }
        if (kind == CAIRN_HAND_OVER_TAKEN) {
            break;
        }
    }
    if (!cairn_hand_over_send(own->fd, CAIRN_HAND_OVER_GO, NULL, 0, -1, end_ns)) {
        fail(own, "the new process is gone");
        return false;
    }
    return true;
}

// The loop stands still meanwhile: nothing is received, stepped or sent. The system keeps the
// datagrams that come.
static void give_clients(cairn_hand_over *own) {
    const uint64_t begin_ns = own->held_ns != 0 ? own->held_ns : cairn_uv_now_ns();
    const uint64_t end_ns = cairn_uv_now_ns() + STILL_NS;
    give_ticks(own);
    if (own->fd < 0) {
        return;
    }
    cairn_archive *out = &own->clients;
    cairn_handover_give_clients(&own->handover, own->config.server, cairn_uv_now_ns(), out);
    CAIRN_ASSERT(own->read_size == 0);
    bool sent =
        out->refused == NULL && cairn_hand_over_send_bytes(own->fd, own->waiting + own->waiting_at,
                                    own->waiting_size - own->waiting_at, end_ns);
    own->waiting_at = own->waiting_size;
    sent = sent &&
           cairn_hand_over_send(own->fd, CAIRN_HAND_OVER_CLIENTS, out->out, out->size, -1, end_ns);
    if (!sent) {
        fail(own, "the new process did not take the clients in time");
        return;
    }
    if (finish(own, end_ns)) {
        own->state = GIVEN;
        cairn_archive_free(&own->clients);
        uv_poll_stop(&own->connection);
        cairn_handover_leave(own->config.server, cairn_uv_now_ns());
        cairn_uv_driver_leave(own->config.driver);
        say(own, false, "handed_over", "", (cairn_uv_now_ns() - begin_ns) / 1000);
    }
}

static bool has_compared(const cairn_hand_over *own, uint64_t now_ns) {
    return now_ns - own->compared_ns >= COMPARE_NS &&
           own->sent - own->agreed.records <= BEHIND_MAX &&
           own->agreed.records >= own->handover.room_count;
}

static bool is_quiet(const cairn_hand_over *own) {
    // If only half of an answer has been read, the clients wait for its rest, which comes at once.
    return own->read_size == 0 && cairn_handover_is_quiet(own->config.server) &&
           cairn_uv_driver_is_sent(own->config.driver);
}

// What threads of sockets have received belongs to the clients that are given.
static bool stand_still(const cairn_hand_over *own) {
    const bool still = cairn_uv_driver_hold(own->config.driver) && is_quiet(own);
    if (!still) {
        cairn_uv_driver_go_on(own->config.driver);
    }
    return still;
}

// Best soon after a tick has been sent: then there is time before the next one. With several rooms,
// or much to send, there may be no such moment; then the rooms are held for one.
static void give_when_quiet(cairn_hand_over *own, uint64_t now_ns) {
    const bool fresh = own->held_ns != 0 || now_ns - own->ticked_ns < FRESH_NS;
    own->ready_ns = own->ready_ns == 0 ? now_ns : own->ready_ns;
    if (fresh && is_quiet(own) && stand_still(own)) {
        give_clients(own);
    } else if (own->held_ns != 0 && now_ns - own->held_ns > QUIET_NS) {
        fail(own, "a room's step, or what is to be sent, did not end");
    } else if (own->held_ns == 0 && now_ns - own->ready_ns > QUIET_NS) {
        own->held_ns = now_ns;
        cairn_handover_hold(own->config.server, true);
    }
}

void cairn_hand_over_turn(cairn_hand_over *own) {
    const uint64_t now_ns = cairn_uv_now_ns();
    if (own == NULL || own->state == IDLE || own->state == GIVEN) {
        return;
    }
    if (own->state != ASKED && !cairn_server_admits(own->config.server)) {
        fail(own, "the server is shutting down");
        return;
    }
    if (own->state == ROOMS) {
        give_room(own, now_ns);
    } else if (own->state == COMPARING && own->held_ns == 0) {
        give_ticks(own);
    }
    if (own->fd < 0) {
        return;
    }
    const bool owes = own->state == ASKED || own->sent > own->agreed.records;
    if (owes && now_ns - own->heard_ns > SILENCE_NS) {
        fail(own, "the new process does not answer");
    } else if (own->state == COMPARING && (own->ready_ns != 0 || has_compared(own, now_ns))) {
        give_when_quiet(own, now_ns);
    }
}

// -------------------------------------------------------------------------------------- socket

static bool set_error(char *error, const char *what, int code) {
    snprintf(error, CAIRN_HAND_OVER_ERROR_SIZE, "%s: %s", what, strerror(code));
    return false;
}

// Nobody listens at a file that an ended process left.
static bool is_left_behind(const struct sockaddr_un *address) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool refused = fd >= 0 &&
                         connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
                         errno == ECONNREFUSED;
    if (fd >= 0) {
        close(fd);
    }
    return refused;
}

static bool listen_at(cairn_hand_over *own, char *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = own->config.path;
    if (strlen(path) >= sizeof address.sun_path) {
        return set_error(error, path, ENAMETOOLONG);
    }
    memcpy(address.sun_path, path, strlen(path));
    own->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (own->listen_fd < 0) {
        return set_error(error, path, errno);
    }
    if (is_left_behind(&address)) {
        (void)unlink(path);
    }
    const mode_t mask = umask(0177); // the owner alone may connect
    const bool bound = bind(own->listen_fd, (const struct sockaddr *)&address, sizeof address) == 0;
    const int code = errno;
    umask(mask);
    own->bound = bound;
    if (!bound || listen(own->listen_fd, 1) != 0) {
        const int refused = bound ? errno : code;
        close(own->listen_fd);
        own->listen_fd = -1;
        return set_error(error, path, refused);
    }
    if (uv_poll_init(own->loop, &own->listening, own->listen_fd) != 0) {
        close(own->listen_fd);
        own->listen_fd = -1;
        return set_error(error, path, ENOMEM);
    }
    own->listening.data = own;
    own->open_handles += 1;
    uv_poll_start(&own->listening, UV_READABLE, on_listening);
    return true;
}

// The process before has ended: its sockets and files are free.
static void on_predecessor(uv_poll_t *poll, int status, int events) {
    cairn_hand_over *own = poll->data;
    char byte;
    char error[CAIRN_HAND_OVER_ERROR_SIZE];
    (void)events;
    if (status >= 0 && recv(own->predecessor_fd, &byte, 1, MSG_DONTWAIT) > 0) {
        return;
    }
    close_poll(own, &own->predecessor, &own->predecessor_fd);
    if (own->config.path != NULL && !listen_at(own, error)) {
        say(own, true, "hand_over_failed", error, 0);
    }
    own->config.on_alone(own->config.user);
}

bool cairn_hand_over_open(const cairn_hand_over_config *config, cairn_hand_over **out,
    char error[CAIRN_HAND_OVER_ERROR_SIZE]) {
    cairn_hand_over *own = calloc(1, sizeof *own);
    *out = own;
    if (own == NULL) {
        return set_error(error, "--hand-over", ENOMEM);
    }
    own->config = *config;
    own->loop = cairn_uv_driver_loop(config->driver);
    own->listen_fd = own->fd = -1;
    uv_timer_init(own->loop, &own->wake);
    own->wake.data = own;
    own->open_handles += 1;
    own->predecessor_fd = config->predecessor_fd;
    if (own->predecessor_fd >= 0) {
        if (uv_poll_init(own->loop, &own->predecessor, own->predecessor_fd) != 0) {
            return set_error(error, "--take-over", ENOMEM);
        }
        own->predecessor.data = own;
        own->open_handles += 1;
        uv_poll_start(&own->predecessor, UV_READABLE, on_predecessor);
        return true;
    }
    return config->path == NULL || listen_at(own, error);
}

// systemd believes that the service has ended when its main process ends, so the new process names
// itself as the main process first.
static void wait_for_notice(const cairn_hand_over *own) {
    struct pollfd polled = {.fd = own->fd, .events = POLLIN};
    if (own->state == GIVEN && own->fd >= 0) {
        (void)poll(&polled, 1, NOTICE_MS);
    }
}

void cairn_hand_over_close(cairn_hand_over *own) {
    if (own == NULL) {
        return;
    }
    wait_for_notice(own);
    if (own->bound) {
        (void)unlink(own->config.path);
    }
    int *fds[] = {&own->listen_fd, &own->fd, &own->predecessor_fd};
    uv_poll_t *polls[] = {&own->listening, &own->connection, &own->predecessor};
    for (uint32_t i = 0; i < 3; ++i) {
        if (*fds[i] >= 0) {
            close_poll(own, polls[i], fds[i]);
        }
    }
    uv_close((uv_handle_t *)&own->wake, on_closed);
    while (own->open_handles > 0) {
        uv_run(own->loop, UV_RUN_NOWAIT);
    }
    free(own->waiting);
    cairn_handover_end(&own->handover);
    free(own);
}
