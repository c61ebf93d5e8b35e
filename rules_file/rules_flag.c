// SPDX-License-Identifier: MIT
#include "rules_file/rules_flag.h"

#include <stdio.h>
#include <string.h>

#include <cairn/rules_file.h>
#include <cairn/rules_registry.h>

const char *cairn_rules_flag_read(void *out, const char *value, bool first) {
    static char error[CAIRN_RULES_FILE_ERROR_SIZE];
    (void)out;
    (void)first;
    while (value[0] != '\0') {
        char path[1024];
        const size_t size = strcspn(value, ":");
        if (size >= sizeof path) {
            return "the path of a rules file is too long";
        }
        memcpy(path, value, size);
        path[size] = '\0';
        if (!cairn_rules_load(path, error)) {
            return error;
        }
        value += size + (value[size] == ':' ? 1 : 0);
    }
    return NULL;
}

bool cairn_rules_take(const char *program, const cairn_rules *const *rules, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const char *why = cairn_rules_register(rules[i]);
        if (why != NULL) {
            fprintf(stderr, "%s: rules %u of the program: %s\n", program, (unsigned)i, why);
            return false;
        }
    }
    return true;
}

const cairn_rules *cairn_rules_last(void) {
    uint32_t count = 1; // the sandbox
    while (cairn_rules_registered(count) != NULL) {
        count += 1;
    }
    return count == 1 ? NULL : cairn_rules_registered(count - 1);
}
