// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "tools/replay/explain.h"
#include "tools/replay/verbs.h"

int cairn_replay_explain(const cairn_replay_options *options, const cairn_system_map *input) {
    static cairn_explanation explanation;
    if (!cairn_explain(input->bytes, input->size, NULL, &explanation)) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, options->words[1], explanation.text);
    }
    if (options->json) {
        cairn_replay_print_json(cairn_explanation_json(&explanation));
    } else {
        printf("%s\n", explanation.text);
    }
    return explanation.hazard == CAIRN_HAZARD_NONE ? CAIRN_EXIT_GOOD : CAIRN_EXIT_DIFFERS;
}
