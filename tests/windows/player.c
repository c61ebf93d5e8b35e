// SPDX-License-Identifier: MIT
// usage: windows_player TOKEN SECONDS
// The client library on Windows: joins a server with the token in the file TOKEN, steps the world
// on predicted inputs, and prints how many hashes it compared with the server's and how many
// differed.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <winsock2.h>
#include <ws2tcpip.h>

#include <cairn/client.h>

static uint64_t now_ns(void) {
    LARGE_INTEGER frequency, count;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&count);
    const uint64_t whole = (uint64_t)(count.QuadPart / frequency.QuadPart);
    const uint64_t part = (uint64_t)(count.QuadPart % frequency.QuadPart);
    return whole * 1000000000u + part * 1000000000u / (uint64_t)frequency.QuadPart;
}

static int fail(const char *what) {
    fprintf(stderr, "windows_player: %s\n", what);
    return 1;
}

static bool read_token(const char *path, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    FILE *file = fopen(path, "rb");
    const size_t size = file == NULL ? 0 : fread(token, 1, CAIRN_CONNECT_TOKEN_SIZE, file);
    if (file != NULL) {
        fclose(file);
    }
    return size == CAIRN_CONNECT_TOKEN_SIZE;
}

static SOCKET open_socket(void) {
    WSADATA data;
    u_long on = 1;
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0) {
        return INVALID_SOCKET;
    }
    const SOCKET opened = socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP);
    return opened != INVALID_SOCKET && ioctlsocket(opened, (long)FIONBIO, &on) == 0
               ? opened
               : INVALID_SOCKET;
}

static void receive_all(cairn_client *client, SOCKET from) {
    uint8_t bytes[2048];
    struct sockaddr_in sender;
    int sender_size = sizeof sender, size;
    while ((size = recvfrom(from, (char *)bytes, sizeof bytes, 0, (struct sockaddr *)&sender,
                &sender_size)) > 0) {
        cairn_address address = {.family = CAIRN_ADDRESS_IPV4, .port = ntohs(sender.sin_port)};
        memcpy(address.ip, &sender.sin_addr, 4);
        cairn_client_receive(client, now_ns(), &address, bytes, (size_t)size);
        sender_size = sizeof sender;
    }
}

static void send_all(cairn_client *client, SOCKET to) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    const cairn_address server = cairn_client_server_address(client);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(server.port)};
    memcpy(&address.sin_addr, server.ip, 4);
    for (size_t size; (size = cairn_client_send(client, now_ns(), bytes)) > 0;) {
        (void)sendto(to, (const char *)bytes, (int)size, 0, (const struct sockaddr *)&address,
            sizeof address);
    }
}

static void play(cairn_client *client, SOCKET socket_, double seconds) {
    const uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
    while (now_ns() < end && cairn_client_state_read(client) != CAIRN_CLIENT_FAILED) {
        receive_all(client, socket_);
        cairn_client_advance(client, now_ns());
        const cairn_client_input input = {.buttons = 1, .move = {1.0f, 0.0f, 0.0f}};
        (void)cairn_client_push_input(client, &input);
        send_all(client, socket_);
        Sleep(4);
    }
    cairn_client_disconnect(client, now_ns());
    send_all(client, socket_);
}

int main(int argc, char **argv) {
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    if (argc != 3 || !read_token(argv[1], token)) {
        return fail("needs a token's file and seconds");
    }
    const SOCKET opened = open_socket();
    cairn_client_config config = cairn_client_config_default();
    config.mode = CAIRN_CLIENT_PREDICT;
    cairn_client *client = NULL;
    if (opened == INVALID_SOCKET || cairn_client_create(&config, &client) != CAIRN_OK ||
        !cairn_client_connect(client, now_ns(), (uint64_t)time(NULL), token)) {
        return fail("cannot begin");
    }
    play(client, opened, strtod(argv[2], NULL));
    cairn_client_statistics s;
    cairn_client_statistics_read(client, &s);
    printf("compared %llu differed %llu inputs %llu mode '%s' failure '%s'\n",
        (unsigned long long)s.simulation.roots_compared,
        (unsigned long long)s.simulation.roots_differed, (unsigned long long)s.inputs.sent,
        cairn_client_mode_text(client), cairn_client_failure_text(client));
    cairn_client_destroy(client);
    return 0;
}
