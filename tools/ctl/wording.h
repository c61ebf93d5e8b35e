// SPDX-License-Identifier: MIT
#pragma once

// From words on a command line to a request, and from a reply to text or JSON.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/flags.h"
#include <cairn/control.h>

#define CAIRN_CTL_ERROR_SIZE 256
#define CAIRN_CTL_WORDS_MAX 16

// A request and what it points to: names are the words themselves.
typedef struct cairn_ctl_request {
    cairn_client_request ask;
    float numbers[CAIRN_CTL_WORDS_MAX];
    const char *file; // of save-read and save-write; NULL for the others
} cairn_ctl_request;

// words[0] is the verb. False: `error` holds one sentence, with how the verb is used.
bool cairn_ctl_parse(const char *const *words, size_t word_count, cairn_ctl_request *out,
    char error[CAIRN_CTL_ERROR_SIZE]);
// For the help.
const cairn_flags_verb *cairn_ctl_verbs(size_t *count);

void cairn_ctl_reply_print(const cairn_client_reply *reply, bool json);
