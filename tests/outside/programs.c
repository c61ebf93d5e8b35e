// SPDX-License-Identifier: MIT
// The other programs with a game's rules, in one: the first argument names it.
#include <string.h>

#include <cairn/programs.h>

extern const cairn_rules example_arena;

int main(int argc, char **argv) {
    const cairn_rules *rules = &example_arena;
    const char *name = argc > 1 ? argv[1] : "";
    return strcmp(name, "bot") == 0      ? cairn_bot_main(argc - 1, argv + 1, &rules, 1)
           : strcmp(name, "ctl") == 0    ? cairn_ctl_main(argc - 1, argv + 1, &rules, 1)
           : strcmp(name, "rules") == 0  ? cairn_rules_main(argc - 1, argv + 1, &rules, 1)
           : strcmp(name, "replay") == 0 ? cairn_replay_main(argc - 1, argv + 1, &rules, 1)
                                         : 2;
}
