// SPDX-License-Identifier: MIT
#pragma once

// What an operator can ask for in CONTROL, and why it is refused in ANSWER. What each verb reads
// and answers is in docs/PROTOCOL.md, Control.

typedef enum cairn_control_verb {
    CAIRN_CONTROL_FEATURES = 1,
    CAIRN_CONTROL_ROOMS = 2,
    CAIRN_CONTROL_STATE = 3,
    CAIRN_CONTROL_CLIENTS = 4,
    CAIRN_CONTROL_PAUSE = 5,
    CAIRN_CONTROL_RESUME = 6,
    CAIRN_CONTROL_STEP = 7,
    CAIRN_CONTROL_RUN_UNTIL = 8,
    CAIRN_CONTROL_RATE = 9,
    CAIRN_CONTROL_RESET = 10,
    CAIRN_CONTROL_SAVE = 11,
    CAIRN_CONTROL_LOAD = 12,
    CAIRN_CONTROL_SAVES = 13,
    CAIRN_CONTROL_SAVE_READ = 14,
    CAIRN_CONTROL_SAVE_WRITE = 15,
    CAIRN_CONTROL_SAVE_DELETE = 16,
    CAIRN_CONTROL_SEEK = 17,
    CAIRN_CONTROL_FORK = 18,
    CAIRN_CONTROL_ROOM_CREATE = 19,
    CAIRN_CONTROL_ROOM_DESTROY = 20,
    CAIRN_CONTROL_SPAWN_BOX = 21,
    CAIRN_CONTROL_SPAWN_SPHERE = 22,
    CAIRN_CONTROL_DELETE = 23,
    CAIRN_CONTROL_SET_POSITION = 24,
    CAIRN_CONTROL_SET_VELOCITY = 25,
    CAIRN_CONTROL_IMPULSE = 26,
    CAIRN_CONTROL_GET = 27,
    CAIRN_CONTROL_BODIES = 28,
    CAIRN_CONTROL_RAY = 29,
    CAIRN_CONTROL_OVERLAP = 30,
    CAIRN_CONTROL_HASH = 31,
    CAIRN_CONTROL_DIFF = 32,
    CAIRN_CONTROL_FAULTS = 33,
    CAIRN_CONTROL_VERB_COUNT
} cairn_control_verb;

// "pause", "run-until": as on the command line. NULL for what is no verb.
const char *cairn_control_verb_text(unsigned verb);
// 0 for what is no verb's text.
unsigned cairn_control_verb_find(const char *text);

// Bits of CONTROL's mask, for the verbs that read them.
#define CAIRN_CONTROL_MASK_GIVEN 1u  // the seed of reset and room-create, the tick of fork
#define CAIRN_CONTROL_MASK_PAUSED 2u // a new room begins paused

typedef enum cairn_control_refusal {
    CAIRN_CONTROL_DONE = 0,
    CAIRN_CONTROL_NO_RIGHT = 1,
    CAIRN_CONTROL_CLOSED = 2,       // the server was started without control
    CAIRN_CONTROL_VERB_UNKNOWN = 3, // of this version
    CAIRN_CONTROL_ROOM_UNKNOWN = 4,
    CAIRN_CONTROL_BODY_UNKNOWN = 5,
    CAIRN_CONTROL_NAME_UNKNOWN = 6, // of a save, a scene or a client
    CAIRN_CONTROL_OUT_OF_RANGE = 7, // a number, or how many there are
    CAIRN_CONTROL_TICK_GONE = 8,    // no longer held, or not stepped yet
    CAIRN_CONTROL_FOREIGN = 9,      // a state of another simulation, rules or settings, or none
    CAIRN_CONTROL_CAPACITY = 10,    // no room for it: bodies, saves, rooms, edits of one tick
    CAIRN_CONTROL_NOT_PAUSED = 11,
    CAIRN_CONTROL_BUSY = 12,         // another request is under way, or answers wait to be sent
    CAIRN_CONTROL_NAME_TAKEN = 13,   // or no name at all
    CAIRN_CONTROL_NOT_RECORDED = 14, // the server keeps no such recording
    CAIRN_CONTROL_ROOM_CLOSED = 15,  // while the request was under way
    CAIRN_CONTROL_REFUSAL_COUNT
} cairn_control_refusal;

// A lower-case phrase, never NULL.
const char *cairn_control_refusal_text(unsigned refusal);
