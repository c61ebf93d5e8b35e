// SPDX-License-Identifier: MIT
#pragma once

// Clocks, sleep and random bytes of the operating system, for tools.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t cairn_system_now_ns(void);               // monotonic
void cairn_system_sleep_ms(uint32_t ms);          // returns early if a signal arrives
bool cairn_system_random(void *out, size_t size); // fit for keys; false: the system failed
