// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "tools/replay/part.h"
#include "tools/replay/verbs.h"

static int exit_code(const cairn_part *part) {
    switch (part->parting) {
    case CAIRN_PARTING_NONE:
        return CAIRN_EXIT_GOOD;
    case CAIRN_PARTING_VERSION:
        return CAIRN_EXIT_VERSION;
    case CAIRN_PARTING_UNREADABLE:
        return CAIRN_EXIT_UNUSABLE;
    default:
        return CAIRN_EXIT_DIFFERS;
    }
}

static void print_json(const cairn_part *part) {
    cairn_json *json = cairn_json_create();
    cairn_json_put_text(json, "parting", cairn_parting_name(part->parting));
    cairn_json_put_count(json, "first_tick", part->first);
    cairn_json_put_count(json, "ticks", part->ticks);
    cairn_json_put_count(json, "tick", part->tick);
    cairn_json_put_text(json, "words", part->words);
    cairn_replay_print_json(json);
}

static void print_text(const cairn_part *part) {
    if (part->parting == CAIRN_PARTING_NONE) {
        printf("one run in %llu ticks from tick %llu to %llu; %s\n",
            (unsigned long long)part->ticks, (unsigned long long)part->first,
            (unsigned long long)part->tick, part->words);
    } else if (exit_code(part) == CAIRN_EXIT_DIFFERS) {
        printf("they part at tick %llu, %llu ticks from tick %llu on are one: %s\n",
            (unsigned long long)part->tick, (unsigned long long)part->ticks,
            (unsigned long long)part->first, part->words);
    } else {
        (void)cairn_replay_complain(0, "diff", part->words);
    }
}

int cairn_replay_diff(const cairn_replay_order *order) {
    cairn_replay_file a = {.bytes = NULL}, b = {.bytes = NULL};
    int code = CAIRN_EXIT_UNUSABLE;
    if (cairn_replay_file_open(order->words[1], &a) &&
        cairn_replay_file_open(order->words[2], &b)) {
        const cairn_part part =
            cairn_part_of((cairn_part_side){a.bytes, a.size}, (cairn_part_side){b.bytes, b.size});
        code = exit_code(&part);
        if (order->json) {
            print_json(&part);
        } else {
            print_text(&part);
        }
    }
    cairn_replay_file_close(&a);
    cairn_replay_file_close(&b);
    return code;
}
