// SPDX-License-Identifier: MIT
#include "tools/replay/shrink/children.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "program/system.h"
#include <cairn/types.h>

static _Noreturn void run_child(
    cairn_children_task *task, void *context, uint32_t index, cairn_answer *answer) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    const struct rlimit no_core = {0};
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    (void)setrlimit(RLIMIT_CORE, &no_core);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i) {
        signal(signals[i], SIG_DFL);
    }
    task(context, index, answer);
    _exit(0);
}

typedef struct flock_of_children {
    pid_t ids[CAIRN_CHILDREN_MAX];
    cairn_answer *answers; // shared
    uint32_t count, running;
} flock_of_children;

static bool start(
    flock_of_children *f, cairn_children_task *task, void *context, uint64_t deadline_ns) {
    const uint32_t index = f->count;
    const uint64_t now_ns = cairn_monotonic_ns();
    const uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    f->answers[index].start = CAIRN_TICK_NONE;
    const pid_t id = fork();
    if (id == 0) {
        alarm((unsigned)(left_ns / CAIRN_NS_PER_S) + 1);
        run_child(task, context, index, &f->answers[index]);
    }
    if (id < 0) {
        return false;
    }
    f->ids[f->count++] = id;
    f->running++;
    return true;
}

// Waits for those that run, one after the other: each is killed at the deadline by its own alarm.
static void wait_for_one(flock_of_children *f) {
    for (uint32_t i = 0; i < f->count; ++i) {
        int status = 0;
        if (f->ids[i] == 0) {
            continue;
        }
        while (waitpid(f->ids[i], &status, 0) < 0 && errno == EINTR) {}
        f->ids[i] = 0;
        f->running--;
        f->answers[i].crashed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
        if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGKILL)) {
            f->answers[i] = (cairn_answer){.start = CAIRN_TICK_NONE, .text = "took too long"};
        }
        return;
    }
}

bool cairn_children_run(cairn_children_task *task, void *context, uint32_t count, uint32_t workers,
    uint64_t deadline_ns, cairn_answer *answers) {
    CAIRN_ASSERT(count <= CAIRN_CHILDREN_MAX && workers > 0);
    const size_t size = CAIRN_CHILDREN_MAX * sizeof *answers;
    flock_of_children f = {
        .answers = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
    if (f.answers == MAP_FAILED) {
        return false;
    }
    bool good = true;
    while (good && f.count < count) {
        good = start(&f, task, context, deadline_ns);
        if (f.running == workers) {
            wait_for_one(&f);
        }
    }
    while (f.running > 0) {
        wait_for_one(&f);
    }
    memcpy(answers, f.answers, count * sizeof *answers);
    munmap(f.answers, size);
    return good;
}
