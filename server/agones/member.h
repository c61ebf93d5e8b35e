// SPDX-License-Identifier: MIT
#pragma once

// What a game server of an Agones fleet says, and when: the next request to the SDK's REST
// interface, from what the server looks like and what was said before. It sends nothing itself.
//
// Source: https://agones.dev/site/docs/guides/client-sdks/rest/ and the SDK's OpenAPI description
// (sdks/swagger of the Agones repository). The SDK server answers a name that is not there with
// status 500 and a sentence, where the description promises 404: both are understood.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/status.h>

typedef enum cairn_agones_request_kind {
    CAIRN_AGONES_NOTHING = 0,
    CAIRN_AGONES_READY,    // may be allocated
    CAIRN_AGONES_ALLOCATE, // somebody plays, so it must not be removed
    CAIRN_AGONES_RESERVE,  // no client is left; it is kept for players that return
    CAIRN_AGONES_ROOMS_CAPACITY,
    CAIRN_AGONES_ROOMS_COUNT,
    CAIRN_AGONES_PLAYER_ADD,
    CAIRN_AGONES_PLAYER_REMOVE,
} cairn_agones_request_kind;

#define CAIRN_AGONES_PATH_SIZE 64
#define CAIRN_AGONES_BODY_SIZE 64
#define CAIRN_AGONES_STATE_SIZE 32

typedef struct cairn_agones_request {
    cairn_agones_request_kind kind;
    uint64_t number; // of rooms, of seconds, or of a player
    const char *method;
    char path[CAIRN_AGONES_PATH_SIZE];
    char body[CAIRN_AGONES_BODY_SIZE]; // JSON
} cairn_agones_request;

typedef struct cairn_agones_view {
    uint32_t clients; // that are in a room
    uint32_t rooms;
    uint32_t rooms_max;
    const uint64_t *players; // client ids in rising order, each once
    uint32_t player_count;   // at most players_max of create
} cairn_agones_view;

typedef enum cairn_agones_outcome {
    CAIRN_AGONES_DONE = 0,
    CAIRN_AGONES_AGAIN,   // ask for the same again, later
    CAIRN_AGONES_MISSING, // the fleet declares no such counter or list: it is not asked for again
    CAIRN_AGONES_REFUSED, // such as a list that is full: this value is not asked for again
} cairn_agones_outcome;

typedef struct cairn_agones_member cairn_agones_member;

// reserve_s: how long the server stays reserved after its last client left; 0: it is ready
// for others at once. CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_agones_member_create(
    uint32_t players_max, uint32_t reserve_s, cairn_agones_member **out);
void cairn_agones_member_destroy(cairn_agones_member *member); // NULL is allowed

// The next request, kind CAIRN_AGONES_NOTHING: nothing is due. The same until it is answered.
cairn_agones_request cairn_agones_member_next(
    cairn_agones_member *member, const cairn_agones_view *view);
// Notes the answer: a status of HTTP, 0 if none came, and the text of the answer.
cairn_agones_outcome cairn_agones_member_answered(cairn_agones_member *member,
    const cairn_agones_request *request, uint32_t status, const char *text);
// Notes the state that Agones shows, such as "Allocated". False: it is the same as before.
bool cairn_agones_member_state(cairn_agones_member *member, const char *state);
