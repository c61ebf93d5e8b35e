// SPDX-License-Identifier: MIT
#include "tools/replay/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording/desync_reader.h"
#include "sim/debug/passport.h"
#include "sim/state/world.h"
#include "tools/replay/diagnosis.h"

#define FOUND_MAX 4096

static bool is_known(cairn_hash128 hash) {
    return hash.lo != 0 || hash.hi != 0;
}

static cairn_hash128 root_of(const cairn_trace *trace) {
    return trace->points[trace->count - 1].root;
}

// Steps a fork of the capsule's world under this trial. False: out of memory.
static bool run_trial(const cairn_diagnosis *q, const cairn_trial *trial, cairn_trace *out) {
    cairn_world *world = NULL;
    if (cairn_world_fork(q->capsule.before, &world) != CAIRN_OK) {
        return false;
    }
    cairn_trial_step(trial, world, q->capsule.commands, q->capsule.command_count, out);
    cairn_world_destroy(world);
    return true;
}

static cairn_frame *freeze_trial(
    const cairn_diagnosis *q, const cairn_trial *trial, uint32_t point) {
    cairn_world *world = NULL;
    if (cairn_world_fork(q->capsule.before, &world) != CAIRN_OK) {
        return NULL;
    }
    cairn_frame *frame =
        cairn_trial_freeze(trial, world, q->capsule.commands, q->capsule.command_count, point);
    cairn_world_destroy(world);
    return frame;
}

static void compare_hashes(cairn_diagnosis *q) {
    const cairn_wire_desync *head = &q->capsule.desync.head;
    const cairn_hash128 here = root_of(q->here);
    const cairn_hash128 start = cairn_world_hash_read(q->capsule.before).full;
    cairn_explanation *out = q->out;
    out->tick = head->tick;
    out->agrees_with = CAIRN_AGREES_WITH_NEITHER;
    if (cairn_hash_equal(here, head->root_server)) {
        out->agrees_with = CAIRN_AGREES_WITH_SERVER;
    } else if (cairn_hash_equal(here, head->root_client)) {
        out->agrees_with = CAIRN_AGREES_WITH_CLIENT;
    }
    out->start_agreed = !is_known(head->root_before) || cairn_hash_equal(start, head->root_before);
    out->repeats =
        is_known(head->root_again) && cairn_hash_equal(head->root_again, head->root_client);
    q->server_diverged = out->agrees_with == CAIRN_AGREES_WITH_CLIENT && out->start_agreed;
    q->wanted = q->server_diverged ? head->root_server : head->root_client;
    q->faults = q->server_diverged ? head->passport_server : head->passport_client;
}

static cairn_explained_word explain_word(
    const cairn_world *world, const cairn_word_difference *at) {
    cairn_explained_word word = {.known = true, .at = *at};
    const uint32_t differing = at->bits_a ^ at->bits_b;
    while (word.bit < 31 && (differing >> word.bit & 1u) == 0) {
        ++word.bit;
    }
    word.is_float = cairn_array_field_is_float(at->array, at->word);
    word.ulps = word.is_float ? cairn_float_ulps(at->bits_a, at->bits_b) : 0;
    word.body_count = cairn_element_bodies(world, at->array, at->element, word.bodies);
    return word;
}

// Words in which the client's state after the step differs from this program's, or from the
// server's if the two sides did not begin with one state: then a right step of the client shows no
// difference here.
static void compare_states(cairn_diagnosis *q) {
    const cairn_chunk_desync *desync = &q->capsule.desync;
    if (q->capsule.after == NULL || !q->out->start_agreed) {
        q->found_count =
            desync->difference_count < FOUND_MAX ? desync->difference_count : FOUND_MAX;
        for (uint32_t i = 0; i < q->found_count; ++i) {
            const cairn_wire_difference *d = &desync->differences[i];
            q->found[i] = (cairn_word_difference){.array = d->array,
                .element = d->element,
                .word = d->word,
                .bits_a = d->bits_server,
                .bits_b = d->bits_client};
        }
        q->out->difference_count = desync->head.difference_count;
        return;
    }
    cairn_world *stepped = NULL;
    if (q->server_diverged || cairn_world_fork(q->capsule.before, &stepped) != CAIRN_OK) {
        return;
    }
    cairn_world_step(stepped, q->capsule.commands, q->capsule.command_count);
    const uint32_t count = cairn_world_diff_words(stepped, q->capsule.after, q->found, FOUND_MAX);
    q->out->difference_count = count;
    q->found_count = count < FOUND_MAX ? count : FOUND_MAX;
    cairn_world_destroy(stepped);
}

static void set_word_from_difference(cairn_diagnosis *q) {
    const cairn_world *after = q->capsule.after;
    if (q->found_count > 0) {
        q->out->word = explain_word(after != NULL ? after : q->capsule.before, &q->found[0]);
    }
}

// The word of a body's pose or velocity that differs most: what was changed in memory, not what
// followed from it.
static void set_word_changed_most(cairn_diagnosis *q) {
    const cairn_world *world = q->capsule.after != NULL ? q->capsule.after : q->capsule.before;
    float most = -1.0f;
    for (uint32_t i = 0; i < q->found_count; ++i) {
        const cairn_explained_word word = explain_word(world, &q->found[i]);
        float here, there;
        memcpy(&here, &word.at.bits_a, sizeof here);
        memcpy(&there, &word.at.bits_b, sizeof there);
        const float change = here > there ? here - there : there - here;
        if (word.at.array == CAIRN_ARRAY_MOTIONS && word.is_float && change > most) {
            most = change;
            q->out->word = word;
        }
    }
}

// The first stage at which the hashes that the diverged peer reported differ from those of this
// program's step, which are the other peer's as well.
static void set_stage_from_peer(cairn_diagnosis *q) {
    const cairn_chunk_desync *desync = &q->capsule.desync;
    const uint8_t *stages = q->server_diverged ? desync->stages_server : desync->stages_client;
    const uint32_t size =
        q->server_diverged ? desync->stages_server_size : desync->stages_client_size;
    if (q->out->agrees_with == CAIRN_AGREES_WITH_NEITHER || !q->out->start_agreed ||
        size != q->here->count * CAIRN_TRACE_ROOT_SIZE) {
        return;
    }
    uint8_t roots[CAIRN_TRACE_ROOTS_SIZE_MAX];
    (void)cairn_trace_roots(q->here, roots);
    for (uint32_t i = 0; i < q->here->count; ++i) {
        const size_t at = (size_t)i * CAIRN_TRACE_ROOT_SIZE;
        if (memcmp(stages + at, roots + at, CAIRN_TRACE_ROOT_SIZE) != 0) {
            q->out->stage = q->here->points[i];
            q->out->stage_known = true;
            return;
        }
    }
}

static void set_stage_from_trial(cairn_diagnosis *q, const cairn_trial *trial) {
    const uint32_t point = cairn_trace_first_difference(q->here, q->there);
    if (point >= q->here->count) {
        return;
    }
    q->out->stage = q->here->points[point];
    q->out->stage_known = true;
    cairn_frame *here = freeze_trial(q, &cairn_trial_plain, point);
    cairn_frame *there = freeze_trial(q, trial, point);
    cairn_word_difference first;
    if (here != NULL && there != NULL && cairn_frame_diff(here, there, &first, 1) > 0) {
        q->out->word = explain_word(cairn_frame_world(here), &first);
    }
    cairn_frame_destroy(here);
    cairn_frame_destroy(there);
}

static bool set_hazard(cairn_diagnosis *q, cairn_hazard hazard, bool certain) {
    q->out->hazard = hazard;
    q->out->certain = certain;
    return true;
}

// ------------------------------------------------------ hypotheses, in order of certainty

static bool has_impulses(const cairn_world *world) {
    cairn_world *cold = NULL;
    if (cairn_world_fork(world, &cold) != CAIRN_OK) {
        return true;
    }
    cairn_trial_clear_impulses(cold);
    const bool any = cairn_world_diff_words(world, cold, NULL, 0) > 0;
    cairn_world_destroy(cold);
    return any;
}

// The client did not begin the step with the state on which both agreed.
static bool diagnose_start_state(cairn_diagnosis *q) {
    if (q->out->start_agreed) {
        return false;
    }
    const cairn_world *before = q->capsule.before;
    const cairn_world_counts counts = cairn_world_counts_read(before);
    if (counts.contacts + counts.joints > 0 && !has_impulses(before)) {
        return set_hazard(q, CAIRN_HAZARD_WARM_START, false);
    }
    set_word_changed_most(q);
    return set_hazard(q, CAIRN_HAZARD_FIELD_CHANGED, false);
}

static bool diagnose_uninitialised_memory(cairn_diagnosis *q) {
    static const unsigned char bytes[] = {0x00, 0x55, 0xff};
    const cairn_hash128 here = root_of(q->here);
    for (size_t i = 0; i < sizeof bytes; ++i) {
        cairn_hash128 root;
        if (cairn_trial_step_with_fill(q->capsule.before, bytes[i], q->capsule.commands,
                q->capsule.command_count, &root) &&
            !cairn_hash_equal(root, here)) {
            set_stage_from_peer(q);
            set_word_from_difference(q);
            return set_hazard(q, CAIRN_HAZARD_UNINITIALISED, true);
        }
    }
    return false;
}

static bool diagnose_by_trials(cairn_diagnosis *q) {
    const cairn_trial *trials;
    const uint32_t count = cairn_trials(&trials);
    for (uint32_t i = 0; i < count; ++i) {
        if (run_trial(q, &trials[i], q->there) && cairn_hash_equal(root_of(q->there), q->wanted)) {
            q->out->trial = trials[i].words;
            set_stage_from_trial(q, &trials[i]);
            return set_hazard(q, trials[i].hazard, true);
        }
    }
    return false;
}

// One word alone differs, and the client's step was right when it was repeated.
static bool diagnose_single_word(cairn_diagnosis *q) {
    if (q->out->repeats || q->server_diverged || q->out->difference_count != 1) {
        return false;
    }
    set_word_from_difference(q);
    return set_hazard(q, CAIRN_HAZARD_FIELD_CHANGED, true);
}

static bool diagnose_by_passport(cairn_diagnosis *q) {
    if (q->faults == 0) {
        return false;
    }
    set_stage_from_peer(q);
    set_word_from_difference(q);
    if ((q->faults & (CAIRN_PASSPORT_CONTRACTION | CAIRN_PASSPORT_CONTRACTION_TURNS)) != 0) {
        return set_hazard(q, CAIRN_HAZARD_CONTRACTION, false);
    }
    if ((q->faults & (CAIRN_PASSPORT_FLUSH_TO_ZERO | CAIRN_PASSPORT_DENORMALS_ARE_ZERO |
                         CAIRN_PASSPORT_SUBNORMALS)) != 0) {
        return set_hazard(q, CAIRN_HAZARD_FLUSH_TO_ZERO, false);
    }
    return set_hazard(q,
        (q->faults & CAIRN_PASSPORT_ROUNDING) != 0 ? CAIRN_HAZARD_ROUNDING
                                                   : CAIRN_HAZARD_ARITHMETIC,
        false);
}

static bool diagnose_by_stage(cairn_diagnosis *q) {
    set_stage_from_peer(q);
    set_word_from_difference(q);
    if (q->out->stage_known && q->out->stage.stage == CAIRN_STAGE_RULES) {
        return set_hazard(q, CAIRN_HAZARD_RULES, false);
    }
    const bool came_right = is_known(q->capsule.desync.head.root_again) && !q->out->repeats;
    return set_hazard(q, came_right ? CAIRN_HAZARD_FIELD_CHANGED : CAIRN_HAZARD_UNKNOWN, false);
}

static void diagnose(cairn_diagnosis *q) {
    const cairn_wire_desync *head = &q->capsule.desync.head;
    if (cairn_hash_equal(head->root_client, head->root_server)) {
        q->out->hazard = CAIRN_HAZARD_NONE;
        return;
    }
    compare_states(q);
    (void)(diagnose_start_state(q) || diagnose_uninitialised_memory(q) || diagnose_by_trials(q) ||
           diagnose_single_word(q) || diagnose_by_passport(q) || diagnose_by_stage(q));
}

bool cairn_explain(
    const uint8_t *bytes, size_t size, const cairn_rules *rules, cairn_explanation *out) {
    *out = (cairn_explanation){.hazard = CAIRN_HAZARD_UNKNOWN};
    cairn_diagnosis *q = calloc(1, sizeof *q);
    if (q == NULL) {
        snprintf(out->text, sizeof out->text, "out of memory");
        return false;
    }
    char words[CAIRN_RECORDING_ERROR_SIZE];
    q->out = out;
    q->here = malloc(sizeof *q->here);
    q->there = malloc(sizeof *q->there);
    q->found = malloc(FOUND_MAX * sizeof *q->found);
    const bool open = cairn_desync_report_open(&q->capsule, bytes, size, rules, words);
    const bool memory = q->here != NULL && q->there != NULL && q->found != NULL;
    const bool stepped = open && memory && run_trial(q, &cairn_trial_plain, q->here);
    if (stepped) {
        compare_hashes(q);
        diagnose(q);
        cairn_diagnosis_write_text(q);
    } else {
        snprintf(out->text, sizeof out->text, "%s", open ? "out of memory" : words);
    }
    cairn_desync_report_close(&q->capsule);
    free(q->here);
    free(q->there);
    free(q->found);
    free(q);
    return stepped;
}
