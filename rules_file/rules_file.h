// SPDX-License-Identifier: MIT
#pragma once

// The file of <cairn/rules_file.h> without its registration.

#include <cairn/rules.h>
#include <cairn/rules_file.h>

// Loads the shared object in this process for good. NULL: `error` names the file and says why.
const cairn_rules_export *cairn_rules_file_open(
    const char *path, char error[CAIRN_RULES_FILE_ERROR_SIZE]);
