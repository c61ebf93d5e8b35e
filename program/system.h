// SPDX-License-Identifier: MIT
#pragma once

// Clocks, sleep and random bytes of the operating system, for tools.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t cairn_monotonic_ns(void);       // monotonic
void cairn_system_sleep_ms(uint32_t ms); // returns early if a signal arrives
// The process writes no core file and shows its memory to no debugger of its user: it holds keys.
void cairn_system_forbid_core_dumps(void);
bool cairn_system_random(void *out, size_t size); // fit for keys; false: the system failed
