// SPDX-License-Identifier: MIT
#include "rules_file/imports.h"

#include <string.h>

#include <cairn/fracture.h>
#include <cairn/mover.h>
#include <cairn/sim.h>

// The addresses make the linker take every function from the static libraries.
typedef void function(void);
static const struct {
    const char *name;
    function *address;
} functions[] = {
#define X(name) {#name, (function *)name},
#include "rules_file/functions.inc"
#undef X
};

bool cairn_rules_may_import(const char *name) {
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
        if (functions[i].address != NULL && strcmp(functions[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}
