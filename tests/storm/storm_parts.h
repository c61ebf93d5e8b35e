// SPDX-License-Identifier: MIT
#pragma once

// The inside of a storm: storm.c plays it, storm_check.c judges it.

#include "schema/messages.h"
#include "sim/sim.h"
#include "tests/storm/scene.h"
#include "tests/storm/storm.h"
#include "tests/virtual/stranger.h"
#include "tests/virtual/system.h"
#include "tests/virtual/witness.h"

#define STORM_CLIENTS_MAX 6
typedef struct storm_client {
    bool present;
    bool leaving; // said goodbye, soon removed
    bool cut;
    bool hurt;           // its connection may rightly break: it was cut, or the server died
    bool orphan;         // its server died: whatever it seems to hold, it must still notice
    uint64_t healthy_ns; // since when nothing was done to it
    uint64_t playing_ns; // since when it plays, UINT64_MAX: it does not
    uint64_t world_tick; // lockstep: newest compared
    uint64_t snapshot_tick;
} storm_client;

typedef struct storm {
    const storm_options *options;
    storm_report report;
    cairn_random random;
    storm_scene scene;
    cairn_system system;
    cairn_stranger stranger;
    uint32_t stranger_permille; // that it acts in a step
    uint32_t trouble_permille;  // that something happens in a step
    uint32_t places;
    storm_client clients[STORM_CLIENTS_MAX];
    cairn_witness *past;
    uint64_t server_tick; // newest noted
    bool calm;            // the last seconds: the network is whole and everybody must catch up
} storm;

// The first finding stands.
void storm_find(storm *s, const char *format, ...);
void storm_note_server(void *user);
void storm_note_client(void *user, uint32_t client);
// Forgets the past: another server begins.
void storm_forget(storm *s);
// How far the client's newest world or snapshot is behind the server's; UINT64_MAX without any.
uint64_t storm_lag_ns(const storm *s, uint32_t i);
// What must hold at any time between turns.
void storm_check(storm *s);
