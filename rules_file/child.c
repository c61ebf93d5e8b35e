// SPDX-License-Identifier: MIT
#include "rules_file/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"

#define GUARDS_MAX 2

// Of the child alone; a signal handler has no other argument.
static struct {
    int descriptor;
    const char *volatile part;
    const char *begin[GUARDS_MAX];
    const char *end[GUARDS_MAX];
    uint32_t guards;
} child;

void cairn_child_enter(const char *part) {
    child.part = part;
}

void cairn_child_guard(const void *begin, const void *end) {
    CAIRN_ASSERT(child.guards < GUARDS_MAX);
    child.begin[child.guards] = begin;
    child.end[child.guards++] = end;
}

static void tell(const char *text) {
    const ssize_t written = write(child.descriptor, text, strlen(text));
    (void)written;
}

// Only functions that are safe in a signal handler.
static void on_crash(int number, siginfo_t *info, void *context) {
    (void)context;
    bool outside = false;
    for (uint32_t i = 0; i < child.guards; ++i) {
        const char *at = info->si_addr;
        outside |= number == SIGSEGV && at >= child.begin[i] && at < child.end[i];
    }
    tell(outside ? "they read or write outside their state in " : "they crash in ");
    tell(child.part);
    tell(outside             ? ""
         : number == SIGSEGV ? " (segmentation fault)"
         : number == SIGBUS  ? " (bus error)"
         : number == SIGFPE  ? " (integer division by zero)"
         : number == SIGILL  ? " (illegal instruction)"
                             : " (aborted)");
    _exit(1);
}

static _Noreturn void run_child(cairn_child_task *task, void *context, int descriptor) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char stack[64 * 1024]; // for a stack that overflowed
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    const struct rlimit none = {0};
    char text[CAIRN_RULES_FILE_ERROR_SIZE] = "";
    child.descriptor = descriptor;
    child.part = "the file";
    setrlimit(RLIMIT_CORE, &none);
    sigaltstack(&other, NULL);
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i) {
        sigaction(signals[i], &action, NULL);
    }
    const bool good = task(context, text);
    if (!good) {
        tell(text);
    }
    _exit(good ? 0 : 1);
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// What the child says until it ends. False: it did not end in time.
static bool listen_to(int descriptor, uint32_t timeout_s, char *text) {
    const int64_t deadline_ms = now_ms() + (int64_t)timeout_s * 1000;
    size_t size = 0;
    for (;;) {
        struct pollfd end = {.fd = descriptor, .events = POLLIN};
        const int64_t left_ms = deadline_ms - now_ms();
        const int ready = left_ms <= 0 ? 0 : poll(&end, 1, (int)left_ms);
        if (ready == 0) {
            return false;
        }
        const ssize_t count =
            ready < 0 ? -1 : read(descriptor, text + size, CAIRN_RULES_FILE_ERROR_SIZE - 1 - size);
        if (count == 0 || (count < 0 && errno != EINTR)) {
            text[size] = '\0';
            return true;
        }
        size += count < 0 ? 0 : (size_t)count;
    }
}

bool cairn_child_run(cairn_child_task *task, void *context, uint32_t timeout_s,
    char text[CAIRN_RULES_FILE_ERROR_SIZE]) {
    int ends[2];
    if (pipe(ends) != 0) {
        snprintf(text, CAIRN_RULES_FILE_ERROR_SIZE, "no pipe: %s", strerror(errno));
        return false;
    }
    fflush(NULL); // the child must not print what waits in a buffer
    const pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        run_child(task, context, ends[1]);
    }
    close(ends[1]);
    int status = 0;
    if (process < 0) {
        snprintf(text, CAIRN_RULES_FILE_ERROR_SIZE, "no child process: %s", strerror(errno));
    } else {
        const bool ended = listen_to(ends[0], timeout_s, text);
        if (!ended) {
            kill(process, SIGKILL);
        }
        while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
        if (!ended) {
            snprintf(text, CAIRN_RULES_FILE_ERROR_SIZE, "they did not return within %u s",
                (unsigned)timeout_s);
        } else if (status != 0 && text[0] == '\0') {
            snprintf(text, CAIRN_RULES_FILE_ERROR_SIZE, "they ended the process");
        }
    }
    close(ends[0]);
    return process > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
