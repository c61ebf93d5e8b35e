// SPDX-License-Identifier: MIT
#pragma once

// What the thread of the web counts. It travels to the loop's thread as a copy.

#include <stdint.h>

#include "server/web/http.h"
#include "server/web/peers.h"

typedef struct cairn_web_control_statistics {
    uint64_t asked;          // requests that reached the server
    uint64_t refused_token;  // without a right token
    uint64_t refused_origin; // by pages from elsewhere
    uint64_t refused_body;   // not a request of the verb, or of another type
    uint64_t refused_busy;   // too many waited
    uint64_t left;           // peers that did not wait for their answers
} cairn_web_control_statistics;

// What the thread of the web has counted, and what it knows of the process.
typedef struct cairn_web_counts {
    cairn_http_statistics http;
    cairn_peers_statistics peers;
    cairn_web_control_statistics control;
    uint64_t frame_bytes_waiting; // for all WebSockets
    uint64_t questions_refused;   // too many waited
    uint64_t start_unix_s;
    uint64_t resident_bytes; // 0: unknown
    uint64_t cpu_ns;
} cairn_web_counts;
