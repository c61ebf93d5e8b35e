// SPDX-License-Identifier: MIT
#include "program/system.h"

#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>

#include <cairn/types.h>

uint64_t cairn_monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * CAIRN_NS_PER_S + (uint64_t)now.tv_nsec;
}

void cairn_system_sleep_ms(uint32_t ms) {
    const struct timespec length = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&length, NULL);
}

void cairn_system_forbid_core_dumps(void) {
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    // A pipe to a crash handler does not ask for the limit.
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

bool cairn_system_random(void *out, size_t size) {
    return size <= 256 && getrandom(out, size, 0) == (ssize_t)size;
}
