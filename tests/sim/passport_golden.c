// SPDX-License-Identifier: MIT
// usage: passport                prints sim/debug/passport_golden.h of this build
//        passport --check        reads the passport of this build and names its faults
//        passport --fault N      the same with a mutant of tests/sim/mutants.py
// Needs nothing but base and sim, so that it runs wherever they do.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/debug/passport_parts.h"

#ifdef CAIRN_NEGATIVE_CONTROLS
extern unsigned cairn_negative_control; // read by the mutants of tests/sim/mutants.py
unsigned cairn_negative_control = 0;
#endif

static void print_constant(const char *name, cairn_hash128 hash) {
    printf("static const cairn_hash128 cairn_passport_golden_%s = {\n"
           "    .lo = UINT64_C(0x%016" PRIx64 "), .hi = UINT64_C(0x%016" PRIx64 ")};\n",
        name, hash.lo, hash.hi);
}

static int print(void) {
    cairn_hash128 scene;
    if (cairn_passport_scene(&scene) != CAIRN_OK) {
        return 1;
    }
    printf("// SPDX-License-Identifier: MIT\n#pragma once\n\n"
           "// Written by the program `passport`; changes as the golden hashes do.\n\n"
           "#include \"base/hash.h\"\n\n");
    print_constant("trigonometry", cairn_passport_trigonometry(&cairn_arithmetic_own));
    print_constant("scene", scene);
    return 0;
}

static int check(void) {
    char hash[CAIRN_HASH_TEXT_SIZE];
    cairn_passport passport;
    const cairn_status status = cairn_passport_read(&passport);
    printf("passport: hash %s\n", cairn_hash_print(passport.hash, hash));
    for (uint32_t faults = passport.faults; faults != 0; faults &= faults - 1) {
        printf("passport: fault: %s: %s\n", cairn_passport_fault_name(faults),
            cairn_passport_fault_words(faults));
    }
    return status == CAIRN_OK && passport.faults == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc == 1) {
        return print();
    }
    if (argc == 3 && strcmp(argv[1], "--fault") == 0) {
#ifdef CAIRN_NEGATIVE_CONTROLS
        cairn_negative_control = (unsigned)strtoul(argv[2], NULL, 10);
#endif
        return check();
    }
    if (argc == 2 && strcmp(argv[1], "--check") == 0) {
        return check();
    }
    printf("usage: passport [--check | --fault N]\n");
    return 2;
}
