// SPDX-License-Identifier: MIT
#pragma once

// Worlds in their canonical encoding that operators keep in a server's memory under names.

#include <stddef.h>
#include <stdint.h>

#include <cairn/control.h>

// Bytes of all saves together.
#define CAIRN_CONTROL_SAVES_SIZE_MAX ((size_t)64 * 1024 * 1024)

typedef struct cairn_control_save {
    char name[CAIRN_NAME_SIZE_MAX + 1];
    uint8_t *bytes; // [size], owned; NULL: the place is free
    size_t size;
    size_t received_size; // less than `size` while an upload is incomplete
    uint64_t players;     // bit set of the slots whose players the world knows
} cairn_control_save;

typedef struct cairn_control_saves {
    cairn_control_save places[CAIRN_CONTROL_SAVES_MAX];
} cairn_control_saves;

// NULL if there is none of this name.
cairn_control_save *cairn_control_saves_find(cairn_control_saves *saves, const char *name);
// An empty save; an older one of this name is replaced. NULL, with the older one kept: the size is
// 0, there is no place or no memory.
cairn_control_save *cairn_control_saves_add(
    cairn_control_saves *saves, const char *name, size_t size);
void cairn_control_save_clear(cairn_control_save *save);
void cairn_control_saves_clear(cairn_control_saves *saves);
