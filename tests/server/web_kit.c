// SPDX-License-Identifier: MIT
#define _DEFAULT_SOURCE
#include "tests/server/web_kit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "program/sockaddr.h"
#include "tests/kit/test.h"
#include <cairn/server_uv.h>

kit_answer kit_answered;
void (*kit_turn)(void);

static uv_loop_t loop;

struct uv_loop_s *kit_loop_open(void) {
    assert_int_equal(uv_loop_init(&loop), 0);
    return &loop;
}

void kit_loop_turn(void) {
    uv_run(&loop, UV_RUN_NOWAIT);
}

void kit_loop_close(void) {
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

int kit_dial(const cairn_address *to, int buffer) {
    struct sockaddr_storage address;
    const socklen_t size = cairn_address_to_sockaddr(to, &address);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    if (buffer > 0) {
        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer), 0);
    }
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, size), 0);
    return fd;
}

void kit_say(int fd, const void *bytes, size_t size) {
    assert_int_equal(send(fd, bytes, size, MSG_NOSIGNAL), size);
}

size_t kit_hear(int fd, void *out, size_t size) {
    const uint64_t end_ns = cairn_uv_now_ns() + KIT_PATIENCE_NS;
    size_t heard = 0;
    while (heard < size) {
        const ssize_t count = recv(fd, (char *)out + heard, size - heard, MSG_DONTWAIT);
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
            break;
        }
        heard += count > 0 ? (size_t)count : 0;
        if (count < 0) {
            assert_true(cairn_uv_now_ns() < end_ns);
            kit_turn();
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
        }
    }
    return heard;
}

int kit_hear_head(int fd) {
    size_t size = 0;
    kit_answered.status = 0;
    while (size < 4 || memcmp(kit_answered.head + size - 4, "\r\n\r\n", 4) != 0) {
        assert_true(size < sizeof kit_answered.head - 1);
        if (kit_hear(fd, kit_answered.head + size, 1) == 0) {
            return 0;
        }
        ++size;
    }
    kit_answered.head[size] = '\0';
    const char *length = strstr(kit_answered.head, "content-length: ");
    kit_answered.size = length == NULL ? 0 : strtoul(length + 16, NULL, 10);
    kit_answered.status = atoi(kit_answered.head + 9);
    return kit_answered.status;
}

int kit_ask(int fd, const char *text) {
    kit_say(fd, text, strlen(text));
    if (kit_hear_head(fd) != 0) {
        assert_true(kit_answered.size <= KIT_ANSWER_MAX);
        assert_int_equal(kit_hear(fd, kit_answered.body, kit_answered.size), kit_answered.size);
        kit_answered.body[kit_answered.size] = '\0';
    }
    return kit_answered.status;
}

int kit_ask_once(const cairn_address *to, const char *text) {
    const int fd = kit_dial(to, 0);
    const int status = kit_ask(fd, text);
    close(fd);
    return status;
}

int kit_open_socket(const cairn_address *to) {
    const int fd = kit_dial(to, 0);
    const int status = kit_ask(fd, "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
                                   "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                   "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                                   "Sec-WebSocket-Protocol: cairn\r\n\r\n");
    assert_int_equal(status, 101);
    return fd;
}

void kit_say_piece(int fd, bool first, bool last, const uint8_t *bytes, uint16_t size) {
    const uint8_t head[8] = {(uint8_t)((last ? 0x80 : 0) | (first ? 2 : 0)), 0x80 | 126,
        (uint8_t)(size >> 8), (uint8_t)size};
    kit_say(fd, head, sizeof head); // its mask of zeros changes nothing
    kit_say(fd, bytes, size);
}
