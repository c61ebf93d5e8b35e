// SPDX-License-Identifier: MIT
#pragma once

// The demo's view of its programs, from the lines that they print.

#include <stdbool.h>
#include <stdint.h>

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
    double tick, clients, bodies, awake;
    double in_bytes_s, out_bytes_s, tick_us_p50, tick_us_p99, late_us_p99, skipped;
    double roots, roots_differed;
} cairn_demo_server;

typedef struct cairn_demo_client {
    const char *name;
    char mode[16];
    char state[16];
    bool seen;  // a line has arrived
    bool final; // the last line has arrived
    bool played;
    double tick, snapshots, keyframes, snapshot_bytes, roots_compared, roots_differed;
    double inputs_sent, inputs_late, rtt_us, delay_us, unusable;
    double column_bodies, column_top_m;
    double predicted_ticks, rollbacks, rollback_ticks, rollback_us_max, correction_mm_max;
    double bodies, damaged, heals, heals_slow, heal_us_max, heal_bytes_max, heal_elements_max;
    double rollbacks_late_input, rollbacks_own_input, rollbacks_wrong_prediction,
        rollbacks_join_leave;
    double rollbacks_lost_packet;
} cairn_demo_client;

typedef struct cairn_demo_report {
    cairn_demo_server server;
    cairn_demo_client clients[CAIRN_DEMO_CLIENTS];
    bool terminal; // redraw in place
    int drawn;     // lines to move the cursor up
} cairn_demo_report;

void cairn_demo_take_server_line(void *server, const char *line); // a cairn_demo_server
void cairn_demo_take_client_line(void *client, const char *line); // a cairn_demo_client
void cairn_demo_draw(cairn_demo_report *report, double seconds, double seconds_total);

// Prints the summary, with a line for each failed check. Returns the number of failed checks.
// `verified`: cairn-replay verified the recording.
int cairn_demo_sum_up(const cairn_demo_report *report, bool verified);
