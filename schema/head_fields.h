// SPDX-License-Identifier: MIT
#pragma once

// What the heads of TICKS and SNAPSHOT have in common: a first byte that says which fields follow,
// the world epoch, and when the client's inputs arrive. Fields that are 0 as a rule are left out.

#include "base/bytes.h"
#include "schema/messages.h"

// Bits of the first byte; each head has its own from CAIRN_HEAD_OWN on.
#define CAIRN_HEAD_EPOCH 1u
#define CAIRN_HEAD_LATENESS_LAST 2u // else it is the worst one
#define CAIRN_HEAD_LATE 4u
#define CAIRN_HEAD_EARLY 8u
#define CAIRN_HEAD_OWN 16u

unsigned cairn_head_bits(uint32_t world_epoch, const cairn_wire_timing *timing);
void cairn_head_write_epoch(cairn_writer *w, uint32_t world_epoch);
// `tick`: of the message.
void cairn_head_write_timing(cairn_writer *w, uint64_t tick, const cairn_wire_timing *timing);
uint32_t cairn_head_read_epoch(cairn_reader *r, unsigned bits);
cairn_wire_timing cairn_head_read_timing(cairn_reader *r, unsigned bits, uint64_t tick);
