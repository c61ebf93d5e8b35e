// SPDX-License-Identifier: MIT
#pragma once

// A small set of verbs over a whole system in memory, so that a test reads as what happened to
// whom. Everything is CMocka asserts inside: a verb that cannot be done fails the test.

#include <stdbool.h>
#include <stdint.h>

#include "storm/oracle.h"
#include "storm/system.h"

enum { ALICE = 0, BOB = 1, CAROL = 2, DAVE = 3 };
enum { STORY_EVERYBODY = 4 };

typedef struct story_options {
    uint32_t clients;       // who is there from the start: ALICE, BOB, ...
    uint32_t interpolating; // of these the last so many interpolate, the others are lockstep
    uint32_t delay_ms;      // each way
    uint32_t jitter_ms;
    uint32_t loss_permille;
    uint32_t tick_rate_hz;     // 0: 60
    uint32_t snapshot_rate_hz; // 0: 20
    uint32_t wait_ms;          // of the room, for late inputs
    uint64_t seed;
} story_options;

typedef struct cairn_story {
    story_options options;
    cairn_system system;
    cairn_oracle *past;
    uint64_t noted_tick;
} cairn_story;

// story_start(.clients = 2, .delay_ms = 40): the clients play when it returns. End with story_end.
#define story_start(...) story_start_with(&(story_options){__VA_ARGS__})
cairn_story *story_start_with(const story_options *options);
void story_end(cairn_story *s);

void story_run_ticks(cairn_story *s, uint32_t ticks);
void story_run_ms(cairn_story *s, uint32_t ms);
void story_join(cairn_story *s, uint32_t who, cairn_client_mode mode);
void story_rejoin(cairn_story *s, uint32_t who);
void story_leave(cairn_story *s, uint32_t who);
void story_cut(cairn_story *s, uint32_t who);
void story_heal(cairn_story *s, uint32_t who);
// Who was near is far from now on: datagrams take this much each way.
void story_delay(cairn_story *s, uint32_t who, uint32_t delay_ms);
// Holds these buttons (CAIRN_SANDBOX_...) and a push to the right, from now on.
void story_press(cairn_story *s, uint32_t who, uint32_t buttons);
void story_restart_server(cairn_story *s);

cairn_client_state story_state(const cairn_story *s, uint32_t who);
cairn_client_statistics story_statistics(const cairn_story *s, uint32_t who);
cairn_server_statistics story_server(const cairn_story *s);
// Ticks that the client's newest exact world (lockstep) or snapshot is behind the server's.
uint64_t story_ticks_behind(const cairn_story *s, uint32_t who);
uint32_t story_bodies(const cairn_story *s, uint32_t who); // of that world or snapshot

// The client's newest world or snapshot is, bit for bit, what the server's was at that tick.
void expect_servers_world(const cairn_story *s, uint32_t who);
void expect_playing(const cairn_story *s, uint32_t who);
void expect_behind_at_most_ticks(const cairn_story *s, uint32_t who, uint64_t ticks);
// No root ever differed, and some were compared, for each lockstep client that is there.
void expect_no_alarm(const cairn_story *s);
