// SPDX-License-Identifier: MIT
#pragma once

// How much a player may tell the rules: a bucket of bytes that fills with time. What exceeds it is
// refused, so that one player can neither fill the commands of a tick nor the recording.

#include <stdbool.h>
#include <stdint.h>

#define CAIRN_MESSAGE_BUDGET_BYTES 4096       // at once
#define CAIRN_MESSAGE_BUDGET_BYTES_PER_S 2048 // in the long run
#define CAIRN_MESSAGE_BUDGET_HEAD 32          // that a message costs besides its bytes

typedef struct cairn_message_budget {
    uint64_t spent; // of the bucket, at `spent_ns`, in billionths of a byte
    uint64_t spent_ns;
} cairn_message_budget;

// A message of so many bytes arrived. False: it is over the budget, and nothing is spent.
bool cairn_message_budget_spend(cairn_message_budget *budget, uint64_t now_ns, uint32_t size);
// From when on the budget is worth as much as one of zeros.
uint64_t cairn_message_budget_expiry_ns(const cairn_message_budget *budget);
