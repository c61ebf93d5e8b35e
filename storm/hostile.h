// SPDX-License-Identifier: MIT
#pragma once

// A hostile client that holds valid tokens: it speaks netcode, the link and the codec as any client
// does, and lies in them. Everything that it sends is encrypted with its own keys, so a server
// takes it for a client. What it does changes every few seconds. Now and then its address changes,
// or some of its datagrams come from the address of another client.

#include <stdbool.h>
#include <stdint.h>

#include "net/link.h"
#include "net/netcode_client.h"
#include "schema/codec.h"
#include "storm/system.h"

#define CAIRN_HOSTILE_TOKENS_MAX 8

typedef enum cairn_hostile_act {
    CAIRN_HOSTILE_ROOTS = 0, // reports roots that are wrong
    CAIRN_HOSTILE_RESYNC,    // asks for states, elements and stages as often as it can
    CAIRN_HOSTILE_ACKS,      // acknowledges nothing, or what was never sent
    CAIRN_HOSTILE_WINDOW,    // announces a window of one, or another one in each payload
    CAIRN_HOSTILE_JOINS,     // joins and leaves in a loop, with tokens of one client id
    CAIRN_HOSTILE_TOKENS,    // shows used, old and too long tokens, and many at once
    CAIRN_HOSTILE_INPUTS,    // sends each input a little late, or far too early
    CAIRN_HOSTILE_FLOOD,     // sends each payload a few thousand times a second
    CAIRN_HOSTILE_NOISE,     // sends what no message or payload may be
    CAIRN_HOSTILE_ACT_COUNT
} cairn_hostile_act;

typedef struct cairn_hostile_token {
    uint8_t bytes[CAIRN_CONNECT_TOKEN_SIZE];
    uint64_t expire_unix_s;
    bool spent; // it made a session, or is longer than the server allows
} cairn_hostile_token;

typedef struct cairn_hostile {
    cairn_system *system;
    cairn_random random;
    cairn_random path_random; // of where its datagrams come from
    uint64_t client_id;       // of all its tokens
    uint8_t host;             // of its address
    uint32_t endpoint;
    const char *room;
    cairn_netcode_client *netcode; // owned, as the next two
    cairn_link *link;
    cairn_encoder *encoder;
    cairn_hostile_act act;
    uint64_t act_until_ns;
    uint64_t connect_ns;                                  // when it connects again
    cairn_hostile_token tokens[CAIRN_HOSTILE_TOKENS_MAX]; // the last; the first shown[]
    uint32_t token;                                       // that it connects with
    uint32_t token_count;
    bool connected;
    bool hello_sent;
    bool welcomed;
    uint32_t slot;
    uint64_t tick; // newest that it heard of
    uint32_t world_epoch;
    uint64_t admitted;       // sessions that servers began for its client id
    uint64_t admitted_then;  // of these, before it connected last
    uint64_t admitted_twice; // sessions that a spent token made: a finding
    uint64_t messages;       // sent, in all
    uint64_t sessions;
    uint64_t moves; // times that its datagrams came from another address
} cairn_hostile;

// The path is both ways. False: out of memory; destroy is allowed.
bool cairn_hostile_create(cairn_hostile *hostile, cairn_system *system, uint64_t seed,
    const char *room, const cairn_virtual_path *path);
void cairn_hostile_destroy(cairn_hostile *hostile);
// A server began a session for this client id.
void cairn_hostile_admitted(cairn_hostile *hostile, uint64_t client_id);
// Takes a datagram that was delivered to its endpoint.
void cairn_hostile_receive(cairn_hostile *hostile, const cairn_virtual_datagram *datagram);
// Acts, a few times in each step of a storm.
void cairn_hostile_act_now(cairn_hostile *hostile);
