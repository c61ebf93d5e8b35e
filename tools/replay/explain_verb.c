// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "tools/replay/explain.h"
#include "tools/replay/verbs.h"

static int print_answer(const cairn_replay_order *order, const cairn_explanation *explanation) {
    if (order->json) {
        cairn_replay_print_json(cairn_explanation_json(explanation));
    } else {
        printf("%s\n", explanation->text);
    }
    return explanation->hazard == CAIRN_HAZARD_NONE ? CAIRN_EXIT_GOOD : CAIRN_EXIT_DIFFERS;
}

int cairn_replay_explain(const cairn_replay_order *order) {
    cairn_replay_file file;
    if (!cairn_replay_file_open(order->words[1], &file)) {
        return CAIRN_EXIT_UNUSABLE;
    }
    static cairn_explanation explanation;
    int code = CAIRN_EXIT_UNUSABLE;
    if (cairn_explain(file.bytes, file.size, NULL, &explanation)) {
        code = print_answer(order, &explanation);
    } else {
        (void)cairn_replay_complain(code, order->words[1], explanation.text);
    }
    cairn_replay_file_close(&file);
    return code;
}
