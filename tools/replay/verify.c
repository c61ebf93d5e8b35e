// SPDX-License-Identifier: MIT
#include "tools/replay/verify.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "recording/player.h"
#include "recording/survey.h"

// What one worker found. It steps segments in order, so its first finding is its earliest.
typedef struct share {
    uint64_t ticks;
    uint64_t commands;
    uint64_t keyframes;
    uint32_t segment; // of the finding
    cairn_verdict verdict;
    uint64_t tick_differs;
    char finding[CAIRN_RECORDING_ERROR_SIZE + 256];
} share;

typedef struct job {
    const uint8_t *bytes;
    size_t size;
    const cairn_recording_index *segments;
    const cairn_parallel *parallel; // of the steps; NULL when segments are shared out
    atomic_uint next;               // segment to step
    uint32_t weight;                // ticks that one of the first worker stands for
    cairn_progress *progress;       // of the first worker; NULL: none
    atomic_uint last; // segments after this one are skipped: an earlier one has a finding
    share shares[CAIRN_POOL_WORKERS_MAX];
} job;

static void set_finding(share *s, cairn_verdict verdict, const char *format, ...) {
    s->verdict = verdict;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->finding, sizeof s->finding, format, arguments);
    va_end(arguments);
}

static void compare_root(share *s, const cairn_player *player) {
    const uint64_t tick = player->tick->tick + 1; // of the world
    const cairn_hash128 recorded = player->recorded_hash;
    const cairn_hash128 stepped = cairn_world_hash_read(player->world).full;
    if (s->verdict == CAIRN_VERDICT_DIFFERS || cairn_hash_equal(recorded, stepped)) {
        return;
    }
    char a[CAIRN_HASH_TEXT_SIZE];
    char b[CAIRN_HASH_TEXT_SIZE];
    s->tick_differs = tick;
    set_finding(s, CAIRN_VERDICT_DIFFERS,
        "differs since tick %llu: state hash %s recorded, %s stepped; no keyframe follows that "
        "would name section, body and field",
        (unsigned long long)tick, cairn_hash_print(recorded, a), cairn_hash_print(stepped, b));
}

// A keyframe names the section, element and field of a difference, which a hash cannot.
static void compare_keyframe(share *s, const cairn_player *player) {
    char words[CAIRN_RECORDING_ERROR_SIZE];
    const cairn_chunk_keyframe *keyframe = &player->walk.chunk.keyframe;
    cairn_world *recorded = cairn_recorded_world_of_keyframe(keyframe, player->rules, words);
    if (recorded == NULL) {
        set_finding(s, CAIRN_VERDICT_DAMAGED, "%s", words);
        return;
    }
    s->keyframes++;
    const unsigned long long tick = keyframe->tick;
    bool known = s->verdict == CAIRN_VERDICT_DIFFERS;
    bool differs = cairn_world_diff(recorded, player->world, NULL, 0) > 0;
    if (differs) {
        s->tick_differs = known ? s->tick_differs : tick;
        cairn_recorded_diff_text(recorded, "recorded", player->world, "stepped", words);
        set_finding(s, CAIRN_VERDICT_DIFFERS,
            "differs since tick %llu; in the keyframe of tick %llu %s",
            (unsigned long long)s->tick_differs, tick, words);
    } else if (known) {
        set_finding(s, CAIRN_VERDICT_DIFFERS,
            "differs at tick %llu; the keyframe of tick %llu equals the stepped world, so the "
            "recorded state hash is wrong",
            (unsigned long long)s->tick_differs, tick);
    }
    cairn_world_destroy(recorded);
}

// From one recorded state to the next, or to the end of the file.
static void step_segment(
    share *s, cairn_player *player, cairn_progress *progress, uint32_t weight) {
    while (true) {
        switch (cairn_player_next(player)) {
        case CAIRN_PLAYER_TICK:
            s->ticks++;
            if (progress != NULL) {
                cairn_progress_step(progress, weight);
            }
            s->commands += player->tick->command_count;
            compare_root(s, player);
            break;
        case CAIRN_PLAYER_KEYFRAME:
            compare_keyframe(s, player);
            return;
        case CAIRN_PLAYER_REFUSED:
            if (s->verdict == CAIRN_VERDICT_SAME) {
                set_finding(s, CAIRN_VERDICT_DAMAGED, "%s", player->error);
            }
            return;
        case CAIRN_PLAYER_REPLACED:
        case CAIRN_PLAYER_END:
            return;
        }
    }
}

static void step_segments(void *argument, uint32_t worker) {
    job *j = argument;
    share *s = &j->shares[worker];
    cairn_player player;
    bool open = cairn_player_open(&player, j->bytes, j->size, j->parallel);
    uint32_t segment = open ? atomic_fetch_add(&j->next, 1) : UINT32_MAX;
    while (segment < j->segments->count && segment < atomic_load(&j->last)) {
        if (cairn_player_jump(&player, &j->segments->entries[segment])) {
            step_segment(s, &player, worker == 0 ? j->progress : NULL, j->weight);
        } else {
            set_finding(s, CAIRN_VERDICT_DAMAGED, "%s", player.error);
        }
        if (s->verdict != CAIRN_VERDICT_SAME) {
            s->segment = segment;
            unsigned last = atomic_load(&j->last);
            while (segment < last && !atomic_compare_exchange_weak(&j->last, &last, segment)) {}
            break;
        }
        segment = atomic_fetch_add(&j->next, 1);
    }
    cairn_player_close(&player);
}

static void sum_up(const job *j, uint32_t workers, cairn_verification *out) {
    const share *first = NULL;
    for (uint32_t i = 0; i < workers; i++) {
        const share *s = &j->shares[i];
        out->ticks += s->ticks;
        out->commands += s->commands;
        out->keyframes += s->keyframes;
        bool found = s->verdict != CAIRN_VERDICT_SAME;
        first = found && (first == NULL || s->segment < first->segment) ? s : first;
    }
    if (first != NULL) {
        out->verdict = first->verdict;
        out->tick_differs = first->tick_differs;
        memcpy(out->finding, first->finding, sizeof out->finding);
    }
}

static void step_all(const uint8_t *bytes, size_t size, cairn_pool *pool,
    const cairn_recording_index *segments, cairn_progress *progress, cairn_verification *out) {
    uint32_t workers = pool == NULL ? 1 : cairn_pool_workers(pool);
    const cairn_parallel parallel = {
        .context = pool, .workers = workers, .run = cairn_pool_parallel, .wait = cairn_pool_wait};
    job j = {.bytes = bytes, .size = size, .segments = segments, .progress = progress};
    atomic_init(&j.next, 0);
    atomic_init(&j.last, UINT32_MAX);
    out->segments = segments->count;
    out->side_by_side = workers > 1 && segments->count >= 2 * workers;
    j.weight = out->side_by_side ? workers : 1;
    if (!out->side_by_side) {
        j.parallel = workers > 1 ? &parallel : NULL;
        step_segments(&j, 0);
    } else if (!cairn_pool_run(pool, step_segments, &j, workers)) {
        step_segments(&j, 0);
    }
    sum_up(&j, workers, out);
}

static bool read_start(const uint8_t *bytes, size_t size, cairn_verification *out) {
    cairn_player player;
    if (cairn_player_open(&player, bytes, size, NULL)) {
        out->started = true;
        out->tick_first = cairn_world_tick(player.world);
        out->tick_rate_hz = cairn_world_settings(player.world)->tick_rate_hz;
    } else {
        out->verdict = player.refusal == CAIRN_RECORDED_VERSION ? CAIRN_VERDICT_VERSION
                                                                : CAIRN_VERDICT_UNREADABLE;
        snprintf(out->finding, sizeof out->finding, "%s", player.error);
    }
    cairn_player_close(&player);
    return out->started;
}

cairn_verification cairn_verify(const uint8_t *bytes, size_t size, cairn_pool *pool) {
    return cairn_verify_shown(bytes, size, pool, NULL);
}

cairn_verification cairn_verify_shown(
    const uint8_t *bytes, size_t size, cairn_pool *pool, cairn_progress *progress) {
    cairn_survey survey = cairn_survey_of(bytes, size);
    cairn_verification out = {.seal = survey.seal,
        .verdict = survey.damage[0] != '\0' ? CAIRN_VERDICT_DAMAGED : CAIRN_VERDICT_SAME};
    memcpy(out.public_key, survey.public_key, sizeof out.public_key);
    memcpy(out.end, survey.end, sizeof out.end);
    snprintf(out.finding, sizeof out.finding, "%s", survey.damage);
    if (read_start(bytes, size, &out) && survey.out_of_memory) {
        out.verdict = CAIRN_VERDICT_UNREADABLE;
        snprintf(out.finding, sizeof out.finding, "out of memory");
    } else if (out.started) {
        uint64_t first = 0, last = 0;
        (void)cairn_recording_index_range(&survey.segments, &first, &last);
        if (progress != NULL) {
            progress->total = last - first;
        }
        step_all(bytes, size, pool, &survey.segments, progress, &out);
    }
    cairn_survey_end(&survey);
    return out;
}
