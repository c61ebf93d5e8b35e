// SPDX-License-Identifier: MIT
#pragma once

// Commands of many ticks in memory allocated once: lists of small blocks, so that a tick in the
// middle can get more or fewer commands.

#include <stdint.h>

#include <cairn/sim.h>
#include <cairn/status.h>

#define CAIRN_COMMAND_BLOCK 16

typedef struct cairn_command_block {
    cairn_command commands[CAIRN_COMMAND_BLOCK];
    uint32_t next; // index + 1 of the next block of the list; 0: this is the last
} cairn_command_block;

// The commands of one tick; all zero: none.
typedef struct cairn_command_list {
    uint32_t first; // index + 1
    uint32_t count; // commands
} cairn_command_list;

typedef struct cairn_command_pool {
    cairn_command_block *blocks; // owned
    uint32_t block_count;
    uint32_t free_first; // index + 1
    uint32_t free_count;
} cairn_command_pool;

// CAIRN_OUT_OF_MEMORY; destroy is allowed after a failure.
cairn_status cairn_command_pool_create(cairn_command_pool *pool, uint32_t block_count);
void cairn_command_pool_destroy(cairn_command_pool *pool);
// Frees all lists at once.
void cairn_command_pool_clear(cairn_command_pool *pool);

// Blocks that a list of `command_count` commands needs.
uint32_t cairn_command_pool_blocks(uint32_t command_count);
// Copies the commands. So many blocks must be free (asserted).
cairn_command_list cairn_command_pool_add(
    cairn_command_pool *pool, const cairn_command *commands, uint32_t count);
void cairn_command_pool_release(cairn_command_pool *pool, cairn_command_list *list);
// Copies the commands into `out`, which has room for list.count.
void cairn_command_pool_read(
    const cairn_command_pool *pool, cairn_command_list list, cairn_command *out);
