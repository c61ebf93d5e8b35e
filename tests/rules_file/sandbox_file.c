// SPDX-License-Identifier: MIT
// The sandbox as a rules file: it needs nothing that a game does not have.

#include <cairn/rules.h>

CAIRN_RULES_EXPORT(&cairn_rules_sandbox);
