// SPDX-License-Identifier: MIT
#pragma once

// How many bytes a client may ask for. What the room sends to everybody in its mode (snapshots,
// ticks, the state of a client that joins) is owed. Answers to requests are paid for: over the last
// ten seconds they have at most 20 times the bytes that the client sent. So a client cannot
// turn a small message into much traffic, however often it asks. A full state may cost more than
// any client ever pays, so now and then one is owed, too: after ten seconds, and after twice as
// long each time. The world that a client is sent because it joins is owed as well, but one client
// id is owed only so many: four at once and one in ten seconds. All of this is kept by client id
// (server/session/budget_ledger.h), so that to leave and join again renews nothing.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/types.h>

#define CAIRN_BYTE_BUDGET_RATIO 20
#define CAIRN_BYTE_BUDGET_SECONDS 10
// From one state that is owed to the next: the shortest and the longest time. A client that needed
// none for twice the longest begins with the shortest.
#define CAIRN_BYTE_BUDGET_STATE_NS (10 * CAIRN_NS_PER_S)
#define CAIRN_BYTE_BUDGET_STATE_NS_MAX (80 * CAIRN_NS_PER_S)
// Worlds that are owed to one client id for its joins: so many at once, and one in each such time.
// A world of fewer bytes than these counts in proportion.
#define CAIRN_BYTE_BUDGET_JOINS 4
#define CAIRN_BYTE_BUDGET_JOIN_NS (10 * CAIRN_NS_PER_S)
#define CAIRN_BYTE_BUDGET_JOIN_SIZE (256 * 1024)

// Of a client id; zero at first.
typedef struct cairn_byte_budget {
    uint64_t second;                              // the last that is counted
    uint64_t received[CAIRN_BYTE_BUDGET_SECONDS]; // in each second, modulo the count
    uint64_t spent[CAIRN_BYTE_BUDGET_SECONDS];
    uint64_t state_ns;      // when the next state is owed
    uint64_t state_wait_ns; // the time before it
    uint64_t join_until_ns; // paid by the worlds of its joins so far
} cairn_byte_budget;

// The client sent a payload of this size.
void cairn_byte_budget_receive(cairn_byte_budget *budget, uint64_t now_ns, uint64_t size);
// The client asked for this many bytes. False: it may not have them now.
bool cairn_byte_budget_spend(cairn_byte_budget *budget, uint64_t now_ns, uint64_t size);
// The same for a full state, which may be owed instead.
bool cairn_byte_budget_spend_state(cairn_byte_budget *budget, uint64_t now_ns, uint64_t size);
// The client joined a world of this many bytes. False: it is not owed one now.
bool cairn_byte_budget_spend_join(cairn_byte_budget *budget, uint64_t now_ns, uint64_t size);
// From when on the budget is worth as much as one of zeros.
uint64_t cairn_byte_budget_expiry_ns(const cairn_byte_budget *budget);
