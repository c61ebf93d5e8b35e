// SPDX-License-Identifier: MIT
#pragma once

// The programs of cairn as functions, so that a game has each of them with its own rules:
//
//     int main(int argc, char **argv) {
//         return cairnd_main(argc, argv, (const cairn_rules *[]){&arena}, 1);
//     }
//
// Each takes the rules, which are registered (cairn/rules_registry.h), and the command line of the
// program of its name, and returns its exit code. To be called once, from main. cairnd_main is in
// cairn::server, the others are in cairn::programs.

#include <stdint.h>

#include <cairn/rules.h>

#ifdef __cplusplus
extern "C" {
#endif

int cairnd_main(int argc, char **argv, const cairn_rules *const *rules, uint32_t count);
int cairn_bot_main(int argc, char **argv, const cairn_rules *const *rules, uint32_t count);
int cairn_replay_main(int argc, char **argv, const cairn_rules *const *rules, uint32_t count);
int cairn_rules_main(int argc, char **argv, const cairn_rules *const *rules, uint32_t count);
int cairn_ctl_main(int argc, char **argv, const cairn_rules *const *rules, uint32_t count);

#ifdef __cplusplus
}
#endif
