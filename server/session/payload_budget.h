// SPDX-License-Identifier: MIT
#pragma once

// How many payloads a client may send: a bucket that fills with time, and by one for each payload
// that it is sent, because it acknowledges those. Clients that behave never meet its bottom: they
// send an input for each tick. What exceeds it is dropped before anybody reads it, and a client
// that goes on so is disconnected.

#include <stdbool.h>
#include <stdint.h>

// A second's worth, which is also the most at once: 1000 at 60 Hz.
#define CAIRN_PAYLOAD_BUDGET_PER_S 400
#define CAIRN_PAYLOAD_BUDGET_PER_TICK 10
// An operator sends requests and saves besides.
#define CAIRN_PAYLOAD_BUDGET_OPERATOR 8
// A client that exceeds the budget by as much again in each of so many seconds floods.
#define CAIRN_PAYLOAD_BUDGET_FLOOD_S 5

// Of a client's place; zero at first.
typedef struct cairn_payload_budget {
    uint64_t spent; // of the bucket, at `spent_ns`, in billionths of a payload
    uint64_t spent_ns;
    uint64_t over_from_ns; // the second in which payloads exceed it
    uint32_t over;         // payloads in that second
    uint32_t flooded_s;    // seconds in a row with as many as the budget
} cairn_payload_budget;

// `per_s`: how many the client may send in a second, and at once.
uint32_t cairn_payload_budget_per_s(uint64_t ticks_per_s, bool is_operator);
// A payload arrived. False: it is over the budget.
bool cairn_payload_budget_spend(cairn_payload_budget *budget, uint64_t now_ns, uint32_t per_s);
// A payload was sent to the client.
void cairn_payload_budget_earn(cairn_payload_budget *budget);
// Forgets what was over the budget, not what was spent.
void cairn_payload_budget_begin_again(cairn_payload_budget *budget);
bool cairn_payload_budget_is_flooded(const cairn_payload_budget *budget);
