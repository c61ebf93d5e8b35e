// SPDX-License-Identifier: MIT
#pragma once

// What a tool asks the operating system for.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t cairn_system_now_ns(void);               // monotonic
uint64_t cairn_system_unix_s(void);               // wall clock
void cairn_system_sleep_ms(uint32_t ms);          // less when a signal comes
bool cairn_system_random(void *out, size_t size); // fit for keys
