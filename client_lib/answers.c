// SPDX-License-Identifier: MIT
#include "client_lib/answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static void free_answer(cairn_answer_bytes *answer) {
    free(answer->bytes);
    *answer = (cairn_answer_bytes){0};
}

bool cairn_answers_add(cairn_answers *answers, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(size > 0);
    uint8_t *copy = answers->count < CAIRN_ANSWERS_MAX ? malloc(size) : NULL;
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, bytes, size);
    answers->list[answers->count++] = (cairn_answer_bytes){.bytes = copy, .size = size};
    return true;
}

bool cairn_answers_next(cairn_answers *answers) {
    free_answer(&answers->taken);
    if (answers->count == 0) {
        return false;
    }
    answers->taken = answers->list[0];
    answers->count -= 1;
    memmove(answers->list, answers->list + 1, answers->count * sizeof *answers->list);
    return true;
}

void cairn_answers_clear(cairn_answers *answers) {
    while (cairn_answers_next(answers)) {}
    answers->request = 0;
}
