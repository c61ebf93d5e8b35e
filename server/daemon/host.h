// SPDX-License-Identifier: MIT
#pragma once

// The server of cairnd and its rooms, as the configuration names them, and what they write to
// files. For cairnd alone.

#include "server/daemon/daemon.h"

// The writers of recordings and broadcasts. False: out of memory.
bool cairn_host_open_files(cairn_daemon *p);
// False after an error message. The server of a process that follows another one has no rooms.
bool cairn_host_create(cairn_daemon *p, const cairn_address *bound);
// Prints what would run, for --check. Returns the exit code.
int cairn_host_check(cairn_daemon *p);
// Reads the scenes of all rooms and templates, and tries their rules. Returns the number of
// mistakes, each with a line on standard error.
uint32_t cairn_host_check_scenes(cairn_daemon *p);
// Measures the scenes of the configuration's rooms and templates, for --calibrate. Returns the exit
// code.
int cairn_host_calibrate(cairn_daemon *p);
// The files that the configuration's rooms are recorded to. False after an error message.
bool cairn_host_name_records(cairn_daemon *p);
uint32_t cairn_host_rooms_max(const cairn_config *config);
