// SPDX-License-Identifier: MIT
#pragma once

// Two links and a path between them that loses, repeats, delays and reorders by one seed.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "net/link.h"

#define PIPE_PACKETS_MAX 4096

typedef struct pipe_packet {
    uint64_t at_ns;
    uint64_t order; // ties end here
    uint32_t to;
    uint32_t size;
    uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
} pipe_packet;

typedef struct pipe_settings {
    uint64_t seed;
    uint64_t delay_ns;      // each way
    uint64_t jitter_ns;     // added, uniform in [0, jitter)
    uint32_t loss_permille; // of each direction
    uint32_t repeat_permille;
    cairn_link_config config[2];
} pipe_settings;

typedef struct pipe {
    pipe_settings settings;
    cairn_random random;
    uint64_t now_ns;
    uint64_t order;
    cairn_link *ends[2];
    pipe_packet *packets;
    uint32_t packet_count;
    bool cut;
    uint64_t carried;
    // Called for each message that arrives at `to`.
    void (*on_message)(void *user, uint32_t to, const cairn_link_message *message);
    void *user;
} pipe;

pipe_settings pipe_settings_default(void);
pipe pipe_open(const pipe_settings *settings);
void pipe_close(pipe *p);
// Carries the payloads of both ends, in steps of 1 ms, for `duration_ns`.
void pipe_run(pipe *p, uint64_t duration_ns);
