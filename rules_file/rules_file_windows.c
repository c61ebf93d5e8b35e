// SPDX-License-Identifier: MIT
// Without shared objects of the ELF format: rules are linked
// (cairn/programs.h).
#include <stdio.h>

#include "base/assert.h"
#include <cairn/rules_file.h>

bool cairn_rules_load(const char *path, char error[CAIRN_RULES_FILE_ERROR_SIZE]) {
    CAIRN_ASSERT(path != NULL && error != NULL);
    snprintf(error, CAIRN_RULES_FILE_ERROR_SIZE,
        "%.200s: this build loads no rules files; link the rules to the program "
        "(cairn/programs.h)",
        path);
    return false;
}
