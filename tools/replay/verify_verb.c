// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>

#include "net/crypto.h"
#include "program/system.h"
#include "tools/replay/verbs.h"
#include "tools/replay/verify.h"

typedef struct answer {
    cairn_verification v;
    uint32_t workers;
    double took_s;
    const uint8_t *wanted_key; // NULL: any
} answer;

static double times_real(const answer *a) {
    bool known = a->v.tick_rate_hz > 0 && a->took_s > 0;
    return known ? (double)a->v.ticks / a->v.tick_rate_hz / a->took_s : 0;
}

static bool seal_holds(const answer *a) {
    if (a->v.seal == CAIRN_SEAL_CHAIN || a->v.seal == CAIRN_SEAL_FORGED) {
        return false;
    }
    return a->wanted_key == NULL ||
           (a->v.seal == CAIRN_SEAL_SIGNED &&
               memcmp(a->v.public_key, a->wanted_key, sizeof a->v.public_key) == 0);
}

static int exit_code(const answer *a) {
    static const cairn_replay_exit codes[] = {
        [CAIRN_VERDICT_DIFFERS] = CAIRN_EXIT_DIFFERS,
        [CAIRN_VERDICT_DAMAGED] = CAIRN_EXIT_DAMAGED,
        [CAIRN_VERDICT_VERSION] = CAIRN_EXIT_VERSION,
        [CAIRN_VERDICT_UNREADABLE] = CAIRN_EXIT_UNUSABLE,
    };
    return a->v.verdict == CAIRN_VERDICT_SAME && !seal_holds(a) ? CAIRN_EXIT_SEAL
                                                                : (int)codes[a->v.verdict];
}

static void print_json(const answer *a) {
    static const char *const verdicts[] = {"same", "differs", "damaged", "version", "unreadable"};
    const cairn_verification *v = &a->v;
    char key[2 * CAIRN_SIGN_PUBLIC_SIZE + 1];
    const bool named = v->seal == CAIRN_SEAL_SIGNED || v->seal == CAIRN_SEAL_FORGED;
    cairn_json *json = cairn_json_create();
    cairn_json_put_text(json, "verdict", verdicts[v->verdict]);
    cairn_json_put_count(json, "ticks", v->ticks);
    cairn_json_put_count(json, "commands", v->commands);
    cairn_json_put_count(json, "first_tick", v->tick_first);
    cairn_json_put_count(json, "keyframes", v->keyframes);
    cairn_json_put_count(json, "tick_rate_hz", v->tick_rate_hz);
    cairn_json_put_count(json, "segments", v->segments);
    cairn_json_put_count(json, "workers", a->workers);
    cairn_json_put_bool(json, "side_by_side", v->side_by_side);
    cairn_json_put_real(json, "took_s", a->took_s);
    cairn_json_put_real(json, "times_real_time", times_real(a));
    if (v->verdict == CAIRN_VERDICT_DIFFERS) {
        cairn_json_put_count(json, "tick_differs", v->tick_differs);
    }
    cairn_json_put_text(json, "seal", cairn_seal_text(v->seal));
    cairn_json_put_text(
        json, "public_key", named ? cairn_hex_print(v->public_key, sizeof v->public_key, key) : "");
    cairn_json_put_bool(json, "seal_holds", seal_holds(a));
    cairn_json_put_text(json, "end", v->end);
    cairn_json_put_text(json, "finding", v->finding);
    cairn_replay_print_json(json);
}

static void print_seal(const char *path, const answer *a) {
    char key[2 * CAIRN_SIGN_PUBLIC_SIZE + 1];
    if (a->v.seal == CAIRN_SEAL_SIGNED) {
        printf("%s: signed by %s\n", path,
            cairn_hex_print(a->v.public_key, sizeof a->v.public_key, key));
    } else {
        printf("%s: seal: %s\n", path, cairn_seal_text(a->v.seal));
    }
    if (!seal_holds(a)) {
        (void)cairn_replay_complain(0, path,
            a->wanted_key != NULL && a->v.seal <= CAIRN_SEAL_SIGNED
                ? "not signed with the key of --key"
                : cairn_seal_text(a->v.seal));
    }
}

static void print_text(const char *path, const answer *a) {
    const cairn_verification *v = &a->v;
    if (v->started) {
        printf("%s: %llu ticks with %llu commands from tick %llu, %llu keyframes; %s\n", path,
            (unsigned long long)v->ticks, (unsigned long long)v->commands,
            (unsigned long long)v->tick_first, (unsigned long long)v->keyframes, v->end);
        printf("%s: %.1f s of world in %.2f s on %u workers, %.0f times real time\n", path,
            v->tick_rate_hz == 0 ? 0 : (double)v->ticks / v->tick_rate_hz, a->took_s, a->workers,
            times_real(a));
        print_seal(path, a);
    }
    if (v->verdict == CAIRN_VERDICT_SAME) {
        printf("%s: every state hash agrees\n", path);
    } else {
        char what[CAIRN_RECORDING_ERROR_SIZE];
        snprintf(what, sizeof what, "%s%s", path,
            v->verdict == CAIRN_VERDICT_DAMAGED ? ": agrees up to where it is damaged" : "");
        (void)cairn_replay_complain(0, what, v->finding);
    }
}

int cairn_replay_verify(const cairn_replay_options *options, const cairn_system_map *input) {
    answer a = {
        .workers = options->workers, .wanted_key = options->key.given ? options->key.bytes : NULL};
    cairn_pool *pool = NULL;
    if (a.workers > 1 && cairn_pool_create(a.workers, &pool) != CAIRN_OK) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, "--workers", "no threads can be started");
    }
    const uint64_t start_ns = cairn_monotonic_ns();
    cairn_progress progress;
    cairn_progress_begin(&progress, "ticks", 0);
    a.v = cairn_verify_shown(input->bytes, input->size, pool, &progress);
    cairn_progress_end(&progress);
    a.took_s = (double)(cairn_monotonic_ns() - start_ns) * 1e-9;
    cairn_pool_destroy(pool);
    if (options->json) {
        print_json(&a);
    } else {
        print_text(options->words[1], &a);
    }
    return exit_code(&a);
}
