// SPDX-License-Identifier: MIT
// The main function of a program without rules of its own: the build names the function.
#include <stddef.h>

#include <cairn/programs.h>

int main(int argc, char **argv) {
    return CAIRN_MAIN(argc, argv, NULL, 0);
}
