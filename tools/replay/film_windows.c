// SPDX-License-Identifier: MIT
// Without libpng and libvpx.
#include "tools/replay/verbs.h"

int cairn_replay_film(const cairn_replay_options *options, const cairn_system_map *input) {
    (void)input;
    return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, options->words[2],
        "this build writes no pictures; export .glb or .csv, or make a page");
}
