// SPDX-License-Identifier: MIT
#include "bench/rooms_clients.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "program/sockaddr.h"
#include "program/system.h"
#include <cairn/client.h>
#include <cairn/server.h>

#define FRAME_MS 16

typedef struct player {
    cairn_client *client;
    int socket_fd;
} player;

static bool join(const bench_clients *clients, uint32_t number, player *out) {
    char room[32];
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    const uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
    cairn_client_config config = cairn_client_config_default();
    snprintf(room, sizeof room, "room-%" PRIu32, number / clients->each);
    config.room = room;
    config.mode = clients->interpolating ? CAIRN_CLIENT_INTERPOLATE : CAIRN_CLIENT_LOCKSTEP;
    config.bodies_max = 256;
    config.shapes_max = 256;
    const cairn_token_request request = {.protocol_id = CAIRN_PROTOCOL_ID_DEFAULT,
        .client_id = number + 1,
        .create_unix_s = (uint64_t)time(NULL),
        .lifetime_s = 30,
        .timeout_s = 10,
        .server_addresses = &clients->server,
        .server_count = 1,
        .private_key = clients->key,
        .user_data = user_data,
        .entropy = entropy};
    out->socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    return out->socket_fd >= 0 && cairn_system_random(entropy, sizeof entropy) &&
           cairn_token_issue(&request, token) == CAIRN_OK &&
           cairn_client_create(&config, &out->client) == CAIRN_OK &&
           cairn_client_connect(out->client, cairn_monotonic_ns(), request.create_unix_s, token);
}

static void play(player *p, const bench_clients *clients, bool forth) {
    uint8_t bytes[2048];
    ssize_t size;
    struct sockaddr_storage to;
    const socklen_t to_size = cairn_address_to_sockaddr(&clients->server, &to);
    const cairn_client_input input = {.move = {forth ? 1.0f : -1.0f, 0.0f, 0.0f}};
    while ((size = recv(p->socket_fd, bytes, sizeof bytes, 0)) > 0) {
        cairn_client_receive(
            p->client, cairn_monotonic_ns(), &clients->server, bytes, (size_t)size);
    }
    (void)cairn_client_push_input(p->client, &input);
    cairn_client_advance(p->client, cairn_monotonic_ns());
    while ((size = (ssize_t)cairn_client_send(p->client, cairn_monotonic_ns(), bytes)) > 0) {
        (void)sendto(p->socket_fd, bytes, (size_t)size, 0, (const struct sockaddr *)&to, to_size);
    }
}

static void run(const bench_clients *clients) {
    const uint32_t count = clients->rooms * clients->each;
    player *players = calloc(count, sizeof *players);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (uint32_t i = 0; players != NULL && i < count; ++i) {
        if (!join(clients, i, &players[i])) {
            fprintf(stderr, "bench_rooms: client %" PRIu32 " cannot be created\n", i);
            return;
        }
    }
    if (players == NULL) {
        return;
    }
    for (uint64_t frame = 0;; ++frame) {
        for (uint32_t i = 0; i < count; ++i) {
            play(&players[i], clients, frame % 64 < 32);
        }
        cairn_system_sleep_ms(FRAME_MS);
    }
}

pid_t bench_clients_start(const bench_clients *clients) {
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        run(clients);
        _exit(1);
    }
    return pid;
}
