// SPDX-License-Identifier: MIT
// Without child processes.
#include "tools/replay/verbs.h"

int cairn_replay_shrink(const cairn_replay_options *options, const cairn_system_map *input) {
    (void)input;
    return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, options->words[1],
        "this build cannot try candidates in child processes; cut the recording, or shrink it "
        "elsewhere");
}
