// SPDX-License-Identifier: MIT
// usage: PROGRAM [FIRST_SEED [COUNT]]
// Runs the fuzzer of a whole session without libFuzzer: COUNT scripts, each from its seed. The
// fast tests run some in every build; a finding names its seed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "tests/kit/script.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);

// Of libFuzzer, which is not here.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max) {
    (void)data;
    return size < size_max ? size : size_max;
}

static uint64_t running;

static void say_seed(void) {
    fprintf(stderr, "script of seed %llu\n", (unsigned long long)running);
}

int main(int argc, char **argv) {
    static uint8_t data[1 + SCRIPT_RECORDS_MAX * SCRIPT_RECORD_SIZE];
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
    const bool verbose = argc > 3;
    LLVMFuzzerInitialize(&argc, &argv);
    for (running = first; running < first + count; ++running) {
        cairn_random random = cairn_random_of(running);
        if (verbose) {
            say_seed();
        }
        cairn_random_fill(&random, data, sizeof data);
        const uint64_t records = cairn_random_below(&random, SCRIPT_RECORDS_MAX + 1u);
        LLVMFuzzerTestOneInput(data, 1 + (size_t)records * SCRIPT_RECORD_SIZE);
    }
    printf("%llu scripts\n", (unsigned long long)count);
    return 0;
}
