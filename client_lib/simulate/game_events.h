// SPDX-License-Identifier: MIT
#pragma once

// Events of the rules of a game in a world that this client steps. An event of a predicted tick is
// shown at once, and confirmed or withdrawn when the server has confirmed the tick. What the rules
// did in between does not matter: a tick that is stepped again shows only what is new.

#include <stdbool.h>
#include <stdint.h>

#include "client_lib/interpolate/game_queue.h"
#include <cairn/rules.h>

// Events of predicted ticks that are remembered.
#define CAIRN_GAME_EVENTS_PREDICTED_MAX 256

typedef struct cairn_predicted_event {
    uint64_t tick; // of the world before the step
    bool happens;  // in the last step of this tick
    uint32_t size;
    uint8_t bytes[CAIRN_GAME_MESSAGE_SIZE_MAX];
} cairn_predicted_event;

typedef struct cairn_game_events {
    cairn_game_queue *queue;          // borrowed; NULL: events are ignored
    uint32_t slot;                    // of the player; CAIRN_SLOT_NONE: a spectator
    uint64_t settled;                 // events of ticks below are final
    cairn_predicted_event *predicted; // owned; NULL until the first event; in order of arrival
    uint32_t count;
} cairn_game_events;

void cairn_game_events_destroy(cairn_game_events *events);
// The world was stepped from `tick`.
void cairn_game_events_step(
    cairn_game_events *events, const cairn_world *world, uint64_t tick, bool confirmed);
// The server confirmed the commands with which the tick was stepped last.
void cairn_game_events_confirm(cairn_game_events *events, uint64_t tick);
// The ticks before `tick` will not be stepped any more: what is not settled is withdrawn.
void cairn_game_events_skip(cairn_game_events *events, uint64_t tick);
// Another world begins.
void cairn_game_events_clear(cairn_game_events *events);
