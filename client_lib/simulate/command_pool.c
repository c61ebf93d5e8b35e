// SPDX-License-Identifier: MIT
#include "client_lib/simulate/command_pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

void cairn_command_pool_clear(cairn_command_pool *pool) {
    for (uint32_t i = 0; i < pool->block_count; i++) {
        pool->blocks[i].next = i + 1 < pool->block_count ? i + 2 : 0;
    }
    pool->free_first = pool->block_count > 0 ? 1 : 0;
    pool->free_count = pool->block_count;
}

cairn_status cairn_command_pool_create(cairn_command_pool *pool, uint32_t block_count) {
    CAIRN_ASSERT(block_count > 0);
    *pool = (cairn_command_pool){.blocks = malloc(block_count * sizeof(cairn_command_block))};
    if (pool->blocks == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    pool->block_count = block_count;
    cairn_command_pool_clear(pool);
    return CAIRN_OK;
}

void cairn_command_pool_destroy(cairn_command_pool *pool) {
    free(pool->blocks);
    *pool = (cairn_command_pool){0};
}

uint32_t cairn_command_pool_blocks(uint32_t command_count) {
    return (command_count + CAIRN_COMMAND_BLOCK - 1) / CAIRN_COMMAND_BLOCK;
}

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

cairn_command_list cairn_command_pool_add(
    cairn_command_pool *pool, const cairn_command *commands, uint32_t count) {
    cairn_command_list list = {.count = count};
    uint32_t *link = &list.first;
    CAIRN_ASSERT(cairn_command_pool_blocks(count) <= pool->free_count);
    for (uint32_t done = 0; done < count; done += CAIRN_COMMAND_BLOCK) {
        cairn_command_block *block = &pool->blocks[pool->free_first - 1];
        const uint32_t here = smaller(count - done, CAIRN_COMMAND_BLOCK);
        *link = pool->free_first;
        pool->free_first = block->next;
        pool->free_count--;
        memcpy(block->commands, commands + done, here * sizeof commands[0]);
        block->next = 0;
        link = &block->next;
    }
    return list;
}

void cairn_command_pool_release(cairn_command_pool *pool, cairn_command_list *list) {
    while (list->first != 0) {
        CAIRN_ASSERT(list->first <= pool->block_count && pool->free_count < pool->block_count);
        cairn_command_block *block = &pool->blocks[list->first - 1];
        const uint32_t next = block->next;
        block->next = pool->free_first;
        pool->free_first = list->first;
        pool->free_count++;
        list->first = next;
    }
    list->count = 0;
}

void cairn_command_pool_read(
    const cairn_command_pool *pool, cairn_command_list list, cairn_command *out) {
    uint32_t at = list.first;
    for (uint32_t done = 0; done < list.count; done += CAIRN_COMMAND_BLOCK) {
        CAIRN_ASSERT(at >= 1 && at <= pool->block_count);
        const cairn_command_block *block = &pool->blocks[at - 1];
        const uint32_t here = smaller(list.count - done, CAIRN_COMMAND_BLOCK);
        memcpy(out + done, block->commands, here * sizeof out[0]);
        at = block->next;
    }
}
