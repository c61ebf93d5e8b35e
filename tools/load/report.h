// SPDX-License-Identifier: MIT
#pragma once

// What a load run measured: a summary for people with a histogram, one line of JSON, and a file of
// comma-separated values with a line for each client.

#include <stdbool.h>
#include <stdint.h>

#include "tools/load/fleet.h"

// What a process has used so far.
typedef struct load_usage {
    double cpu_s;
    uint64_t resident_bytes;
} load_usage;

// All zeros if the process is gone.
load_usage load_usage_read(uint32_t process_id);

typedef struct load_times {
    uint64_t join_from_ns; // by the wall clock, as the stamps of datagrams
    uint64_t from_ns;      // when measuring began
    uint64_t to_ns;
    uint32_t watched; // process id of a server on this machine; 0: none
    load_usage watched_before_joins;
    load_usage watched_before; // when measuring began
    load_usage watched_after;
    load_usage own_before;
    load_usage own_after;
} load_times;

void load_report_print(const load_fleet *fleet, const load_times *times);
void load_report_print_json(const load_fleet *fleet, const load_times *times);
// False: errno says why.
bool load_report_write_csv(const load_fleet *fleet, const load_times *times, const char *path);
