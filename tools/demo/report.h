// SPDX-License-Identifier: MIT
#pragma once

// The demo's view of its programs, from the lines that they print.

#include <stdbool.h>

#include "program/json.h"

#define CAIRN_DEMO_CLIENTS 6

// The demo scene's stack (scenes/demo.json): ten boxes 0.35 m high, at rest the highest centre is
// at 3.325 m.
#define CAIRN_DEMO_STACK_X 0.0
#define CAIRN_DEMO_STACK_Z (-16.0)
#define CAIRN_DEMO_STACK_RADIUS_M 0.3
#define CAIRN_DEMO_STACK_BODIES 10
#define CAIRN_DEMO_STACK_TOP_M 3.2
// The most that healing one body of a thousand may cost, in messages both ways.
#define CAIRN_DEMO_HEAL_BYTES_MAX 2048

typedef struct cairn_demo_server {
    char address[64]; // "" until it listens
    char web[64];     // of HTTP, "" until then
    bool has_page;
    cairn_json *last; // owned; its last statistics, NULL: none
} cairn_demo_server;

typedef struct cairn_demo_client {
    const char *name;
    const char *mode;
    cairn_json *last; // owned; its last statistics, NULL: none
    bool final;       // they are those at its end
} cairn_demo_client;

typedef struct cairn_demo_report {
    cairn_demo_server server;
    cairn_demo_client clients[CAIRN_DEMO_CLIENTS];
    bool terminal; // redraw in place
    int drawn;     // lines to move the cursor up
} cairn_demo_report;

void cairn_demo_read_server_line(void *server, const char *line); // a cairn_demo_server
void cairn_demo_read_client_line(void *client, const char *line); // a cairn_demo_client
void cairn_demo_draw(cairn_demo_report *report, double seconds, double seconds_total);

// Prints the summary, with a line for each failed check. Returns the number of failed checks.
// `verified`: cairn-replay verified the recording.
int cairn_demo_sum_up(const cairn_demo_report *report, bool verified);
void cairn_demo_report_end(cairn_demo_report *report);
