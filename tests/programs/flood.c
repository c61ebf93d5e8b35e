// SPDX-License-Identifier: MIT
// usage: flood --key FILE --server 127.0.0.1:PORT [--kind KIND] [--rate N] [--seconds S] [--sources
// N] Sends hostile datagrams to a server on loopback, from one address or from many: every address
// of 127/8 is local, so the kernel takes any of them as the source. For measurements; not shipped.
//
// Kinds: junk (random bytes of random size), request (a connection request whose seal is wrong),
// replay (one valid connection request, repeated), payload (of a client that is not connected),
// member (payloads of one that is), mix of those before it.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/random.h"
#include "net/link.h"
#include "net/netcode_client.h"
#include "program/key.h"
#include <cairn/token.h>

#define BATCH 32
#define SIZE_MAX_HERE 1200

typedef enum kind { JUNK, REQUEST, REPLAY, PAYLOAD, MIX, MEMBER } kind;

typedef struct options {
    const char *key_file;
    const char *server;
    kind kind;
    uint32_t rate;
    double seconds;
    uint32_t sources;
} options;

typedef struct control {
    _Alignas(struct cmsghdr) uint8_t bytes[CMSG_SPACE(sizeof(struct in_pktinfo))];
} control;

static struct {
    options options;
    cairn_random random;
    uint8_t request[CAIRN_DATAGRAM_SIZE_MAX]; // valid
    size_t request_size;
    cairn_netcode_client *client; // of the request
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    size_t payload_size;
} f;

static kind kind_of(const char *text) {
    static const char *const names[] = {"junk", "request", "replay", "payload", "mix", "member"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; ++i) {
        if (strcmp(text, names[i]) == 0) {
            return (kind)i;
        }
    }
    fprintf(stderr, "flood: --kind %s: junk, request, replay, payload, mix or member\n", text);
    exit(2);
}

static options parse(int argc, char **argv) {
    options o = {.kind = MIX, .rate = 100000, .seconds = 5, .sources = 1};
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--key") == 0) {
            o.key_file = value;
        } else if (strcmp(argv[i], "--server") == 0) {
            o.server = value;
        } else if (strcmp(argv[i], "--kind") == 0) {
            o.kind = kind_of(value);
        } else if (strcmp(argv[i], "--rate") == 0) {
            o.rate = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--seconds") == 0) {
            o.seconds = strtod(value, NULL);
        } else if (strcmp(argv[i], "--sources") == 0) {
            o.sources = (uint32_t)strtoul(value, NULL, 10);
        }
    }
    return o;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void make_request(const cairn_address *server, const uint8_t *key) {
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    const uint64_t now_unix_s = (uint64_t)time(NULL);
    cairn_address to;
    cairn_random_fill(&f.random, entropy, sizeof entropy);
    const cairn_token_request request = {.protocol_id = UINT64_C(0x636169726e),
        .client_id = 4242,
        .create_unix_s = now_unix_s,
        .lifetime_s = 30,
        .timeout_s = 5,
        .server_addresses = server,
        .server_count = 1,
        .private_key = key,
        .entropy = entropy};
    CAIRN_ASSERT(cairn_token_issue(&request, token) == CAIRN_OK);
    CAIRN_ASSERT(cairn_netcode_client_create(&f.client) == CAIRN_OK);
    CAIRN_ASSERT(cairn_netcode_client_connect(f.client, now_ns(), now_unix_s, token) == CAIRN_OK);
    cairn_netcode_client_advance(f.client, now_ns());
    f.request_size = cairn_netcode_client_next_datagram(f.client, &to, f.request);
    CAIRN_ASSERT(f.request_size > 0);
}

static size_t write_datagram(uint8_t *bytes) {
    const kind chosen =
        f.options.kind == MIX ? (kind)cairn_random_below(&f.random, MIX) : f.options.kind;
    size_t size = 16 + cairn_random_below(&f.random, SIZE_MAX_HERE - 16);
    cairn_address to;
    switch (chosen) {
    case MEMBER:
        return cairn_netcode_client_encrypt(
            f.client, now_ns(), f.payload, f.payload_size, &to, bytes);
    case REQUEST:
    case REPLAY:
        memcpy(bytes, f.request, f.request_size);
        if (chosen == REQUEST) {
            bytes[f.request_size - 1 - cairn_random_below(&f.random, 900)] ^= 1;
        }
        return f.request_size;
    case PAYLOAD:
        size = 40;
        for (size_t i = 0; i < size; i += 8) {
            const uint64_t word = cairn_random_next(&f.random);
            memcpy(bytes + i, &word, 8);
        }
        bytes[0] = 0x15; // a payload packet with a sequence of one byte
        return size;
    default: // the first bytes decide what it is taken for
        for (size_t i = 0; i < 16; i += 8) {
            const uint64_t word = cairn_random_next(&f.random);
            memcpy(bytes + i, &word, 8);
        }
        return size;
    }
}

static void set_source(struct msghdr *message, control *room, uint32_t source) {
    struct in_pktinfo info = {
        .ipi_spec_dst.s_addr = htonl(0x7f010000u + 1 + source % f.options.sources)};
    message->msg_control = room->bytes;
    message->msg_controllen = sizeof room->bytes;
    struct cmsghdr *head = CMSG_FIRSTHDR(message);
    head->cmsg_level = IPPROTO_IP;
    head->cmsg_type = IP_PKTINFO;
    head->cmsg_len = CMSG_LEN(sizeof info);
    memcpy(CMSG_DATA(head), &info, sizeof info);
}

// Connects, and makes the payload that is sent again and again, of a message that nobody decodes.
static void become_member(int fd, const cairn_address *server, struct sockaddr_in *to) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    control room;
    cairn_address ignored;
    cairn_link *link;
    struct iovec vector = {.iov_base = f.request, .iov_len = f.request_size};
    for (uint32_t i = 0;
         i < 1000 && cairn_netcode_client_state_read(f.client) != CAIRN_NETCODE_STATE_CONNECTED;
         ++i) {
        struct msghdr message = {
            .msg_name = to, .msg_namelen = sizeof *to, .msg_iov = &vector, .msg_iovlen = 1};
        set_source(&message, &room, 0);
        if (vector.iov_len > 0) {
            (void)sendmsg(fd, &message, 0);
        }
        usleep(10000);
        const ssize_t size = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (size > 0) {
            cairn_netcode_client_receive(f.client, now_ns(), server, bytes, (size_t)size);
        }
        cairn_netcode_client_advance(f.client, now_ns());
        vector.iov_base = bytes;
        vector.iov_len = cairn_netcode_client_next_datagram(f.client, &ignored, bytes);
    }
    CAIRN_ASSERT(cairn_netcode_client_state_read(f.client) == CAIRN_NETCODE_STATE_CONNECTED);
    const cairn_link_config config = cairn_link_config_default();
    CAIRN_ASSERT(cairn_link_create(&config, now_ns(), &link) == CAIRN_OK);
    CAIRN_ASSERT(cairn_link_send_unreliable(link, f.request, 1000) == CAIRN_OK);
    f.payload_size = cairn_link_next_payload(link, now_ns(), f.payload);
    cairn_link_destroy(link);
}

static uint64_t run(int fd, struct sockaddr_in *to) {
    static uint8_t bytes[BATCH][CAIRN_DATAGRAM_SIZE_MAX];
    static control controls[BATCH];
    struct mmsghdr messages[BATCH];
    struct iovec vectors[BATCH];
    const uint64_t begin = now_ns();
    const uint64_t end = begin + (uint64_t)(f.options.seconds * 1e9);
    uint64_t sent = 0;
    for (uint64_t now = begin; now < end; now = now_ns()) {
        const double due = (double)(now - begin) * 1e-9 * f.options.rate;
        if ((double)sent > due) {
            usleep(100);
            continue;
        }
        memset(messages, 0, sizeof messages);
        for (uint32_t i = 0; i < BATCH; ++i) {
            vectors[i] = (struct iovec){.iov_base = bytes[i], .iov_len = write_datagram(bytes[i])};
            messages[i].msg_hdr.msg_name = to;
            messages[i].msg_hdr.msg_namelen = sizeof *to;
            messages[i].msg_hdr.msg_iov = &vectors[i];
            messages[i].msg_hdr.msg_iovlen = 1;
            set_source(&messages[i].msg_hdr, &controls[i], (uint32_t)cairn_random_next(&f.random));
        }
        const int done = sendmmsg(fd, messages, BATCH, 0);
        sent += done > 0 ? (uint64_t)done : 0;
    }
    return sent;
}

int main(int argc, char **argv) {
    cairn_key key = {0};
    cairn_address server;
    f.options = parse(argc, argv);
    f.random = cairn_random_of((uint64_t)getpid());
    if (f.options.key_file == NULL || f.options.server == NULL || f.options.sources == 0 ||
        !cairn_address_parse(f.options.server, &server)) {
        fprintf(stderr, "flood: --key FILE and --server 127.0.0.1:PORT are needed\n");
        return 2;
    }
    if (server.family != CAIRN_ADDRESS_IPV4 || server.ip[0] != 127) {
        fprintf(stderr, "flood: only servers on loopback\n");
        return 2;
    }
    const char *refused = cairn_key_flag_file(&key, f.options.key_file, true);
    if (refused != NULL) {
        fprintf(stderr, "flood: --key %s: %s\n", f.options.key_file, refused);
        return 2;
    }
    make_request(&server, key.bytes);
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(server.port)};
    memcpy(&to.sin_addr, server.ip, 4);
    if (f.options.kind == MEMBER) {
        become_member(fd, &server, &to);
    }
    const uint64_t begin = now_ns();
    const uint64_t sent = run(fd, &to);
    printf("{\"sent\":%llu,\"seconds\":%.3f}\n", (unsigned long long)sent,
        (double)(now_ns() - begin) * 1e-9);
    close(fd);
    cairn_netcode_client_destroy(f.client);
    return 0;
}
