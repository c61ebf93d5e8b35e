// SPDX-License-Identifier: MIT
#pragma once

// What a service manager is told: sd_notify(3) of systemd, without its library. A manager that
// wants to be told names a socket in NOTIFY_SOCKET; without one nothing happens.

#include <stdbool.h>
#include <stdint.h>

// Sends lines such as "READY=1". A manager that does not listen is not told.
void cairn_notify(const char *state);
// The rooms wait for clients. `follows`: this process is the service's now, after another one.
void cairn_notify_ready(bool follows);
// Whether a descriptor is that of systemd's journal (JOURNAL_STREAM, systemd.exec(5)).
bool cairn_notify_is_journal(int descriptor);
// How often the manager wants to hear "WATCHDOG=1", half of its patience, ms; 0: never.
// `follows`: see cairn_notify_ready; the manager waits for this process then, whatever WATCHDOG_PID
// says.
uint32_t cairn_notify_watchdog_ms(bool follows);
