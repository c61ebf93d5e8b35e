// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "server/daemon/take_over.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/token.h"
#include "server/daemon/hand_over_record.h"

// The longest silence of the other process. While its rooms are paused it says nothing.
#define SILENCE_NS (60 * CAIRN_NS_PER_S)
#define SAY_NS CAIRN_NS_PER_S
#define OFFER_NS (10 * CAIRN_NS_PER_S)
#define FINISH_NS (2 * CAIRN_NS_PER_S)

static bool set_why(char *why, const char *what, const char *more) {
    snprintf(why, CAIRN_TAKE_OVER_WHY_SIZE, "%s%s%s", what, more[0] == '\0' ? "" : ": ", more);
    return false;
}

static bool connect_to(cairn_take_over *take, const char *path, char *why) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        return set_why(why, path, "the name is too long");
    }
    memcpy(address.sun_path, path, strlen(path));
    take->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (take->fd < 0 || connect(take->fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        return set_why(why, path, strerror(errno));
    }
    return cairn_hand_over_peer_is_own(take->fd) ||
           set_why(why, path, "the process there is another user's");
}

// The next record, of any kind but REFUSED.
static bool receive(
    cairn_take_over *take, uint64_t end_ns, cairn_hand_over_record *out, char *why) {
    if (!cairn_hand_over_receive(take->fd, end_ns, out)) {
        return set_why(why, "the other process said nothing more, or what it said is damaged", "");
    }
    if (out->kind == CAIRN_HAND_OVER_REFUSED) {
        set_why(why, "the other process goes on", (const char *)out->bytes);
        cairn_hand_over_record_free(out);
        return false;
    }
    return true;
}

// One record of this kind, which brings a socket.
static bool take_socket(
    cairn_take_over *take, cairn_hand_over_kind kind, void *out, size_t size, char *why) {
    cairn_hand_over_record record;
    if (!receive(take, cairn_uv_now_ns() + OFFER_NS, &record, why)) {
        return false;
    }
    const bool offered = record.kind == kind && record.size == size && record.passed_fd >= 0 &&
                         take->sockets.count < CAIRN_UV_SOCKETS_MAX;
    if (offered) {
        memcpy(out, record.bytes, size);
        take->sockets.fds[take->sockets.count++] = record.passed_fd;
    }
    cairn_hand_over_record_free(&record);
    return offered || set_why(why, "what the other process offers is malformed", "");
}

static bool take_offer(cairn_take_over *take, char *why) {
    cairn_hand_over_offer offer;
    uint8_t nothing;
    if (!take_socket(take, CAIRN_HAND_OVER_OFFER, &offer, sizeof offer, why)) {
        return false;
    }
    take->bound = offer.bound;
    take->sockets.apart = offer.apart == 1;
    if (!cairn_addresses_valid(&take->bound, 1) || offer.sockets < 1 ||
        offer.sockets > CAIRN_UV_SOCKETS_MAX || offer.apart > 1 ||
        (offer.apart == 1 && offer.sockets != 2)) {
        return set_why(why, "what the other process offers is malformed", "");
    }
    bool taken = true;
    while (taken && take->sockets.count < offer.sockets) {
        taken = take_socket(take, CAIRN_HAND_OVER_SOCKET, &nothing, 0, why);
    }
    return taken;
}

bool cairn_take_over_begin(
    cairn_take_over *take, const char *path, char why[CAIRN_TAKE_OVER_WHY_SIZE]) {
    const cairn_hand_over_build own = cairn_hand_over_build_own();
    *take = (cairn_take_over){.fd = -1, .began_ns = cairn_uv_now_ns()};
    if (!connect_to(take, path, why)) {
        return false;
    }
    if (!cairn_hand_over_send(
            take->fd, CAIRN_HAND_OVER_ASKS, &own, sizeof own, -1, cairn_uv_now_ns() + SAY_NS)) {
        return set_why(why, path, "the question is not taken");
    }
    return take_offer(take, why);
}

static bool agree(cairn_take_over *take, char *why) {
    const cairn_hand_over_agreed agreed = {
        .records = ++take->records, .ticks_min = take->handover.ticks_min};
    return cairn_hand_over_send(take->fd, CAIRN_HAND_OVER_AGREED, &agreed, sizeof agreed, -1,
               cairn_uv_now_ns() + SAY_NS) ||
           set_why(why, "the other process is gone", "");
}

// What is done with one record. *ends: the clients were taken.
static bool take_record(cairn_take_over *take, cairn_server *server, cairn_hand_over_record *record,
    bool *ends, char *why) {
    cairn_archive in = cairn_archive_reader(record->bytes, record->size);
    bool good = false;
    *ends = record->kind == CAIRN_HAND_OVER_CLIENTS;
    switch (record->kind) {
    case CAIRN_HAND_OVER_ROOM:
        good = cairn_handover_take_room(&take->handover, server, cairn_uv_now_ns(), &in);
        break;
    case CAIRN_HAND_OVER_TICKS:
        good = cairn_handover_take_ticks(&take->handover, server, &in);
        break;
    case CAIRN_HAND_OVER_CLIENTS:
        take->frozen_ns = cairn_uv_now_ns();
        good = cairn_handover_take_clients(&take->handover, server, take->frozen_ns, &in);
        break;
    default:
        return set_why(why, "the other process said what does not belong here", "");
    }
    if (!good) {
        return set_why(why, take->handover.why, "");
    }
    return *ends || agree(take, why);
}

bool cairn_take_over_run(
    cairn_take_over *take, cairn_server *server, char why[CAIRN_TAKE_OVER_WHY_SIZE]) {
    bool ends = false;
    bool good = true;
    while (good && !ends) {
        cairn_hand_over_record record;
        if (!receive(take, cairn_uv_now_ns() + SILENCE_NS, &record, why)) {
            return false;
        }
        good = take_record(take, server, &record, &ends, why);
        if (record.passed_fd >= 0) {
            close(record.passed_fd);
        }
        cairn_hand_over_record_free(&record);
    }
    return good;
}

bool cairn_take_over_finish(cairn_take_over *take, char why[CAIRN_TAKE_OVER_WHY_SIZE]) {
    cairn_hand_over_record record;
    const uint64_t end_ns = cairn_uv_now_ns() + FINISH_NS;
    if (!cairn_hand_over_send(take->fd, CAIRN_HAND_OVER_TAKEN, NULL, 0, -1, end_ns)) {
        return set_why(why, "the other process is gone", "");
    }
    if (!receive(take, end_ns, &record, why)) {
        return false;
    }
    const bool go = record.kind == CAIRN_HAND_OVER_GO;
    cairn_hand_over_record_free(&record);
    return go || set_why(why, "the other process said what does not belong here", "");
}

void cairn_take_over_known(const cairn_take_over *take) {
    (void)shutdown(take->fd, SHUT_WR);
}

void cairn_take_over_fail(cairn_take_over *take, const char *why) {
    if (take->fd < 0) {
        return;
    }
    const size_t size = strlen(why);
    (void)cairn_hand_over_send(take->fd, CAIRN_HAND_OVER_REFUSED, why,
        size < CAIRN_HAND_OVER_SMALL ? size : CAIRN_HAND_OVER_SMALL, -1,
        cairn_uv_now_ns() + SAY_NS);
    close(take->fd);
    take->fd = -1;
    cairn_handover_end(&take->handover);
}
