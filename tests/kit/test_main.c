// SPDX-License-Identifier: MIT
#include <string.h>

#include "tests/kit/test.h"

int main(int argc, char **argv) {
    const char *slash = strrchr(argv[0], '/');
    return test_run(slash == NULL ? argv[0] : slash + 1, argc > 1 ? argv[1] : NULL);
}
