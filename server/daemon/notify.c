// SPDX-License-Identifier: MIT
// For SOCK_CLOEXEC.
#define _GNU_SOURCE
#include "server/daemon/notify.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// A path, or an abstract name after '@'.
void cairn_notify(const char *state) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *name = getenv("NOTIFY_SOCKET");
    const size_t size = name == NULL ? 0 : strlen(name);
    if (size < 2 || size >= sizeof address.sun_path || (name[0] != '/' && name[0] != '@')) {
        return;
    }
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return;
    }
    memcpy(address.sun_path, name, size);
    if (name[0] == '@') {
        address.sun_path[0] = '\0';
    }
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
        (const struct sockaddr *)&address,
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
    close(fd);
}

void cairn_notify_ready(bool follows) {
    char state[48];
    snprintf(state, sizeof state, "MAINPID=%ld", (long)getpid());
    if (follows) {
        cairn_notify(state);
    }
    cairn_notify("READY=1");
}

// "DEVICE:INODE" of the stream that the manager gave to the process.
bool cairn_notify_is_journal(int descriptor) {
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat status;
    char own[48];
    if (stream == NULL || fstat(descriptor, &status) != 0) {
        return false;
    }
    snprintf(own, sizeof own, "%llu:%llu", (unsigned long long)status.st_dev,
        (unsigned long long)status.st_ino);
    return strcmp(stream, own) == 0;
}

// WATCHDOG_PID names the process that is meant: a child inherits both variables. A process that
// takes the place of another one has them of its starter, and is the one that is meant once the
// manager has its MAINPID.
uint32_t cairn_notify_watchdog_ms(bool follows) {
    const char *patience = getenv("WATCHDOG_USEC");
    const char *process = getenv("WATCHDOG_PID");
    const bool of_another = process != NULL && strtol(process, NULL, 10) != (long)getpid();
    if (patience == NULL || (of_another && !follows)) {
        return 0;
    }
    const unsigned long long us = strtoull(patience, NULL, 10);
    const unsigned long long ms = us / 2000;
    return us == 0 ? 0 : ms < 1 ? 1 : ms > 3600000 ? 3600000 : (uint32_t)ms;
}
