// SPDX-License-Identifier: MIT
// Compares the bits of rules in C and in C++ with those that every machine has, and steps a world.
#include "tests/outside/rules.h"

#include <stdio.h>

#include <cairn/sim.h>

#define EXPECTED UINT64_C(0xec2ead8d718d0c54)

int main(void) {
    const uint64_t in_c = rules_in_c();
    const uint64_t in_cpp = rules_in_cpp();
    const cairn_world_def def = cairn_world_def_default();
    cairn_world *world = NULL;
    printf("C %016llx, C++ %016llx\n", (unsigned long long)in_c, (unsigned long long)in_cpp);
    if (in_c != EXPECTED || in_cpp != EXPECTED || !cairn_float_contract_ok() ||
        cairn_world_create(&def, &world) != CAIRN_OK) {
        return 1;
    }
    cairn_world_step(world, NULL, 0);
    cairn_world_destroy(world);
    return 0;
}
