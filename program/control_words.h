// SPDX-License-Identifier: MIT
#pragma once

// Words for the numbers of requests of operators: "sphere" for CAIRN_SHAPE_SPHERE. A verb has one
// member with words, or none.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/control.h>

// The member of the verb's request that has words; "": none.
const char *cairn_control_word_member(uint32_t verb);
// Numbers below this one may have a word.
uint32_t cairn_control_word_count(uint32_t verb);
const char *cairn_control_word_at(uint32_t verb, uint32_t number); // NULL: none
// False: the verb has no such word.
bool cairn_control_word_find(uint32_t verb, const char *word, uint32_t *out);
