// SPDX-License-Identifier: MIT
#pragma once

// The rules that a program knows by name: scenes, recordings and servers name them. The sandbox
// comes first, then those that the host registers (here) or loads (cairn/rules_file.h). Register
// before the first world, server, client or thread exists; nothing is ever removed.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/rules.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_RULES_REGISTERED_MAX 64

// Makes `rules` known, which must outlive the program's worlds. NULL, or one sentence on what is
// wrong with them; static. The same rules may be registered again, other rules of the same name may
// not.
const char *cairn_rules_register(const cairn_rules *rules);
// True if `name` is known. *out is then the rules, or NULL for "", a world without rules.
bool cairn_rules_find(const char *name, const cairn_rules **out);
// Number `index` of them, in the order of registering; NULL: there are not as many.
const cairn_rules *cairn_rules_registered(uint32_t index);

// What a server and a client that simulates compare before one joins the other: name, version,
// sizes of state and input, the declared input, the shared part, and `content`. 0 for NULL.
uint64_t cairn_rules_digest(const cairn_rules *rules);

#ifdef __cplusplus
}
#endif
