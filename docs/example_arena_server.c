// SPDX-License-Identifier: MIT
// A game's own server, with every flag of cairnd. Link cairn::server.

#include <cairn/programs.h>

extern const cairn_rules example_arena;

int main(int argc, char **argv) {
    const cairn_rules *rules = &example_arena;
    return cairnd_main(argc, argv, &rules, 1);
}
