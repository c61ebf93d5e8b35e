// SPDX-License-Identifier: MIT
#include "tools/demo/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES_MAX 16

extern char **environ;

static bool spawn(cairn_process *process, char *const *argv, const int ends[2]) {
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return false;
    }
    bool good = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) == 0 &&
                posix_spawn_file_actions_addclose(&actions, ends[0]) == 0 &&
                posix_spawn_file_actions_addclose(&actions, ends[1]) == 0 &&
                posix_spawn(&process->pid, argv[0], &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return good;
}

bool cairn_process_start(cairn_process *process, char *const *argv) {
    int ends[2];
    *process = (cairn_process){.output = -1};
    if (pipe(ends) != 0) {
        return false;
    }
    // Later children must not hold this one's pipe open.
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    bool started = spawn(process, argv, ends);
    close(ends[1]);
    if (!started) {
        close(ends[0]);
        process->pid = 0;
        return false;
    }
    process->output = ends[0];
    return true;
}

static void hand_out_lines(
    cairn_process *process, void (*on_line)(void *user, const char *line), void *user) {
    char *begin = process->line;
    char *end = process->line + process->held;
    char *newline;
    while ((newline = memchr(begin, '\n', (size_t)(end - begin))) != NULL) {
        *newline = '\0';
        on_line(user, begin);
        begin = newline + 1;
    }
    process->held = (size_t)(end - begin);
    memmove(process->line, begin, process->held);
    if (process->held == sizeof process->line - 1) {
        process->held = 0;
    }
}

void cairn_process_read(
    cairn_process *process, void (*on_line)(void *user, const char *line), void *user) {
    while (process->output >= 0) {
        size_t room = sizeof process->line - 1 - process->held;
        ssize_t size = read(process->output, process->line + process->held, room);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (size <= 0) {
            close(process->output);
            process->output = -1;
            return;
        }
        process->held += (size_t)size;
        hand_out_lines(process, on_line, user);
    }
}

void cairn_processes_wait(cairn_process *const *processes, size_t count, int wait_ms) {
    struct pollfd polled[PROCESSES_MAX];
    nfds_t open = 0;
    for (size_t i = 0; i < count && open < PROCESSES_MAX; i++) {
        if (processes[i]->output >= 0) {
            polled[open++] = (struct pollfd){.fd = processes[i]->output, .events = POLLIN};
        }
    }
    poll(polled, open, wait_ms);
}

static bool reap(cairn_process *process, int options) {
    if (process->pid == 0 || process->ended) {
        return process->ended;
    }
    pid_t got = 0;
    do {
        got = waitpid(process->pid, &process->status, options);
    } while (got < 0 && errno == EINTR);
    process->ended = got == process->pid;
    return process->ended;
}

bool cairn_process_ended(cairn_process *process) {
    return reap(process, WNOHANG);
}

void cairn_process_ask(const cairn_process *process) {
    if (process->pid > 0 && !process->ended) {
        kill(process->pid, SIGTERM);
    }
}

void cairn_process_end(cairn_process *process) {
    if (process->pid > 0 && !cairn_process_ended(process)) {
        kill(process->pid, SIGKILL);
        reap(process, 0);
    }
    if (process->output >= 0) {
        close(process->output);
        process->output = -1;
    }
}

int cairn_process_code(const cairn_process *process) {
    if (!process->ended) {
        return -1;
    }
    return WIFEXITED(process->status) ? WEXITSTATUS(process->status)
                                      : 128 + WTERMSIG(process->status);
}
