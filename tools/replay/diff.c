// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "tools/replay/compare.h"
#include "tools/replay/verbs.h"

static int exit_code(const cairn_comparison *c) {
    switch (c->divergence) {
    case CAIRN_DIVERGENCE_NONE:
        return CAIRN_EXIT_GOOD;
    case CAIRN_DIVERGENCE_VERSION:
        return CAIRN_EXIT_VERSION;
    case CAIRN_DIVERGENCE_DAMAGED:
        return CAIRN_EXIT_DAMAGED;
    case CAIRN_DIVERGENCE_UNREADABLE:
        return CAIRN_EXIT_UNUSABLE;
    default:
        return CAIRN_EXIT_DIFFERS;
    }
}

static void print_json(const cairn_comparison *c) {
    cairn_json *json = cairn_json_create();
    cairn_json_put_text(json, "divergence", cairn_divergence_name(c->divergence));
    cairn_json_put_count(json, "first_tick", c->first);
    cairn_json_put_count(json, "ticks", c->ticks);
    cairn_json_put_count(json, "tick", c->tick);
    cairn_json_put_text(json, "words", c->words);
    cairn_replay_print_json(json);
}

static void print_text(const cairn_comparison *c) {
    if (c->divergence == CAIRN_DIVERGENCE_NONE) {
        printf("equal for %llu ticks, from tick %llu to %llu; %s\n", (unsigned long long)c->ticks,
            (unsigned long long)c->first, (unsigned long long)c->tick, c->words);
    } else if (exit_code(c) == CAIRN_EXIT_DIFFERS) {
        printf("they differ at tick %llu, after %llu equal ticks from tick %llu: %s\n",
            (unsigned long long)c->tick, (unsigned long long)c->ticks, (unsigned long long)c->first,
            c->words);
    } else {
        (void)cairn_replay_complain(0, "diff", c->words);
    }
}

int cairn_replay_diff(const cairn_replay_options *options, const cairn_system_map *input) {
    cairn_system_map other;
    if (!cairn_replay_file_open(options->words[2], &other)) {
        return CAIRN_EXIT_UNUSABLE;
    }
    cairn_progress progress;
    cairn_progress_begin(&progress, "ticks", 0);
    const cairn_comparison c =
        cairn_recordings_compare((cairn_comparison_side){input->bytes, input->size},
            (cairn_comparison_side){other.bytes, other.size}, &progress);
    cairn_progress_end(&progress);
    if (options->json) {
        print_json(&c);
    } else {
        print_text(&c);
    }
    cairn_system_map_close(&other);
    return exit_code(&c);
}
