// SPDX-License-Identifier: MIT
#pragma once

// Runs code that is not trusted to return in a child process, so that a crash ends the child alone.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/rules_file.h>

// Runs in the child. False: `text` says what is wrong.
typedef bool cairn_child_task(void *context, char text[CAIRN_RULES_FILE_ERROR_SIZE]);

// Runs `task` in a child process for at most `timeout_s` seconds. True if it returned true.
// Otherwise `text` is what it said, or where it crashed (cairn_child_enter), or that it did not
// return.
bool cairn_child_run(cairn_child_task *task, void *context, uint32_t timeout_s,
    char text[CAIRN_RULES_FILE_ERROR_SIZE]);

// In the child: names what runs from now on, as in "start"; static text.
void cairn_child_enter(const char *part);
// In the child: an access to one of these addresses is told as one outside the state of the rules.
void cairn_child_guard(const void *begin, const void *end);
