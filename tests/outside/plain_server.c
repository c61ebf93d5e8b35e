// SPDX-License-Identifier: MIT
// A server without rules of its own.
#include <stddef.h>

#include <cairn/programs.h>

int main(int argc, char **argv) {
    return cairnd_main(argc, argv, NULL, 0);
}
