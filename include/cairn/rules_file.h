// SPDX-License-Identifier: MIT
#pragma once

// Rules in a shared object (CAIRN_RULES_EXPORT), which a program loads when it starts. The file is
// code: it can do what the program can. Load only files that you trust.

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_RULES_FILE_ERROR_SIZE 512

// Loads the file and registers all its rules (cairn/rules_registry.h). It stays loaded until the
// program ends. A child process loads it first, so that code that crashes while it is loaded ends
// that process alone. False: `error` holds one sentence on why not: not a shared object, one for
// another machine, no rules or rules of another ABI in it, a function that this program does not
// have, or what cairn_rules_register refuses.
bool cairn_rules_load(const char *path, char error[CAIRN_RULES_FILE_ERROR_SIZE]);

#ifdef __cplusplus
}
#endif
