// SPDX-License-Identifier: MIT
#pragma once

// Asserts detect programming errors and stay on in release builds: a crash with a line number is
// better than a wrong world. Never assert on bytes from a wire, a file or a flag.
#define CAIRN_ASSERT(condition)                                                                    \
    ((condition) ? (void)0 : cairn_assert_failed(#condition, __FILE__, __LINE__))

// Prints the condition, file and line to stderr and aborts.
_Noreturn void cairn_assert_failed(const char *condition, const char *file, int line);
