// SPDX-License-Identifier: MIT
#define _DEFAULT_SOURCE
#include "tests/kit/guarded.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCKS_MAX 1024

bool kit_guards;
unsigned kit_guarded_count;

static unsigned live; // of them
static struct {
    void *block; // NULL: the place is free
    uint8_t *pages;
    size_t size; // of them, with the last one
} blocks[BLOCKS_MAX];

// They replace those of the system (CMakeLists.txt).
void *__real_calloc(size_t count, size_t size);
void __real_free(void *block);
void *__wrap_calloc(size_t count, size_t size);
void __wrap_free(void *block);

static void *guard(size_t wanted) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t size = (wanted + 7) & ~(size_t)7;
    const size_t whole = (size + page - 1) / page * page + page;
    size_t place = 0;
    while (place < BLOCKS_MAX && blocks[place].block != NULL) {
        ++place;
    }
    uint8_t *pages = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == BLOCKS_MAX || pages == MAP_FAILED ||
        mprotect(pages + whole - page, page, PROT_NONE) != 0) {
        abort();
    }
    blocks[place].block = pages + whole - page - size;
    blocks[place].pages = pages;
    blocks[place].size = whole;
    kit_guarded_count += 1;
    live += 1;
    return blocks[place].block;
}

void *__wrap_calloc(size_t count, size_t size) {
    return kit_guards && count * size > 0 ? guard(count * size) : __real_calloc(count, size);
}

void __wrap_free(void *block) {
    for (size_t i = 0; block != NULL && live > 0 && i < BLOCKS_MAX; ++i) {
        if (blocks[i].block == block) {
            (void)munmap(blocks[i].pages, blocks[i].size);
            blocks[i].block = NULL;
            live -= 1;
            return;
        }
    }
    __real_free(block);
}
