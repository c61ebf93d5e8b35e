// SPDX-License-Identifier: MIT
#pragma once

// A world keeps of a name its hash alone (cairn_name_hash). Rules find the same by any other text
// of that hash.

#include <stdint.h>

#define CAIRN_LABEL_SIZE 16

// A short text of that hash; "" for 0. Returns `text`. Takes a tenth of a second.
const char *cairn_label_of(uint32_t hash, char text[CAIRN_LABEL_SIZE]);
