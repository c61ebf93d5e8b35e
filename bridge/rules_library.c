// SPDX-License-Identifier: MIT
#include "bridge/rules_library.h"

#include <stddef.h>
#include <string.h>

#include "base/assert.h"

bool cairn_rules_find(const char *name, const cairn_rules **out) {
    CAIRN_ASSERT(name != NULL && out != NULL);
    const cairn_rules *const built_in[] = {&cairn_rules_sandbox};
    *out = NULL;
    if (name[0] == '\0') {
        return true;
    }
    for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; ++i) {
        if (strcmp(built_in[i]->name, name) == 0) {
            *out = built_in[i];
            return true;
        }
    }
    return false;
}
