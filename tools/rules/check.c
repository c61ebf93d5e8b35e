// SPDX-License-Identifier: MIT
#include "tools/rules/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/scene_world.h"
#include "rules_file/elf.h"
#include "rules_file/imports.h"
#include "rules_file/play.h"
#include <cairn/server.h>
#include <cairn/sim.h>
#include <cairn/storm.h>

#define FILE_SIZE_MAX ((size_t)64 << 20)

// Of the C library: functions of their arguments alone, and what compilers call.
static bool is_pure(const char *name) {
    static const char *const pure[] = {"memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen",
        "strcmp", "sqrtf", "sqrt", "abort", "__assert_fail", "__stack_chk_fail", "__memcpy_chk",
        "__memmove_chk", "__memset_chk"};
    static const char *const sanitizers[] = {"__asan_", "__ubsan_", "__tsan_", "__msan_"};
    for (size_t i = 0; i < sizeof pure / sizeof pure[0]; ++i) {
        if (strcmp(name, pure[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof sanitizers / sizeof sanitizers[0]; ++i) {
        if (strncmp(name, sanitizers[i], strlen(sanitizers[i])) == 0) {
            return true;
        }
    }
    return false;
}

bool cairn_rules_check_imports(const char *path, char words[CAIRN_RULES_WORDS_SIZE]) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = file == NULL ? NULL : malloc(FILE_SIZE_MAX);
    const size_t size = bytes == NULL ? 0 : fread(bytes, 1, FILE_SIZE_MAX, file);
    const char *why = bytes == NULL ? strerror(errno) : cairn_elf_refusal(bytes, size);
    words[0] = '\0';
    if (why != NULL) {
        snprintf(words, CAIRN_RULES_WORDS_SIZE, "%s", why);
    }
    const char *name;
    for (uint32_t i = 0; why == NULL && (name = cairn_elf_import(bytes, size, i)) != NULL; ++i) {
        if (!cairn_rules_may_import(name) && !is_pure(name)) {
            const size_t used = strlen(words);
            snprintf(words + used, CAIRN_RULES_WORDS_SIZE - used, "%s%.80s",
                used == 0 ? "your rules import what rules may not call: " : ", ", name);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    free(bytes);
    return words[0] == '\0';
}

typedef struct worlds {
    cairn_world *stepped;
    cairn_world *restored;
    cairn_world *other;
    void *save;
    size_t save_size;
} worlds;

static bool create_worlds(
    const cairn_scene *scene, const cairn_rules *rules, worlds *w, char *words) {
    char error[CAIRN_SCENE_ERROR_SIZE] = "out of memory";
    cairn_world **const all[] = {&w->stepped, &w->restored, &w->other};
    *w = (worlds){.stepped = NULL};
    bool created = true;
    for (size_t i = 0; created && i < sizeof all / sizeof all[0]; ++i) {
        created = cairn_scene_world_create(scene, rules, all[i], error) == CAIRN_OK;
    }
    if (created) {
        w->save_size = cairn_world_save_size_max(w->stepped);
        w->save = malloc(w->save_size);
        created = w->save != NULL && cairn_world_set_lanes(w->stepped, 1) == CAIRN_OK;
    }
    if (!created) {
        snprintf(words, CAIRN_RULES_WORDS_SIZE, "no world can be created: %s", error);
    }
    return created;
}

static void destroy_worlds(worlds *w) {
    cairn_world_destroy(w->stepped);
    cairn_world_destroy(w->restored);
    cairn_world_destroy(w->other);
    free(w->save);
}

// Where the two worlds differ first; the state of the rules is what their author can look up.
static void describe(
    const worlds *w, uint64_t seed, uint64_t tick, char words[CAIRN_RULES_WORDS_SIZE]) {
    uint32_t size = 0;
    const uint8_t *a = cairn_world_rules_state(w->stepped, &size);
    const uint8_t *b = cairn_world_rules_state(w->restored, &size);
    for (uint32_t at = 0; at < size; at += 4) {
        uint32_t one, two;
        memcpy(&one, a + at, sizeof one);
        memcpy(&two, b + at, sizeof two);
        if (one != two) {
            snprintf(words, CAIRN_RULES_WORDS_SIZE,
                "your rules keep state outside their block: seed %" PRIu64 ", after tick %" PRIu64
                ", the word at byte %" PRIu32 " of their state is 0x%08" PRIx32 ", and 0x%08" PRIx32
                " in a world that was restored before each tick",
                seed, tick, at, one, two);
            return;
        }
    }
    cairn_difference found = {.field = ""};
    (void)cairn_world_diff(w->stepped, w->restored, &found, 1);
    snprintf(words, CAIRN_RULES_WORDS_SIZE,
        "your rules keep state outside their block: seed %" PRIu64 ", after tick %" PRIu64
        ", %s %" PRIu32 ", %s is 0x%08" PRIx32 ", and 0x%08" PRIx32
        " in a world that was restored before each tick",
        seed, tick, cairn_section_name(found.section), found.element, found.field, found.bits_a,
        found.bits_b);
}

static void step(cairn_world *world, const cairn_rules *rules, uint64_t seed, uint64_t ticks) {
    cairn_command commands[CAIRN_RULES_PLAY_MAX];
    const uint32_t count = cairn_rules_play(
        rules, CAIRN_PLAYERS_DEFAULT, seed, cairn_world_tick(world), ticks, commands);
    cairn_world_step(world, commands, count);
}

static bool step_twice(worlds *w, const cairn_rules *rules, uint64_t seed, uint64_t ticks) {
    const size_t size = cairn_world_save(w->restored, w->save, w->save_size);
    step(w->restored, rules, seed, ticks);
    const bool loaded = size > 0 && cairn_world_load(w->restored, w->save, size) == CAIRN_OK;
    step(w->restored, rules, seed, ticks);
    return loaded;
}

static bool play(worlds *w, const cairn_rules *rules, uint64_t seed, uint64_t ticks, char *words) {
    for (uint64_t tick = 0; tick < ticks; ++tick) {
        const char *where = "";
        step(w->stepped, rules, seed, ticks);
        step(w->other, rules, seed + 1, ticks);
        if (!step_twice(w, rules, seed, ticks)) {
            snprintf(words, CAIRN_RULES_WORDS_SIZE,
                "the state of tick %" PRIu64 " cannot be loaded", tick);
            return false;
        }
        if (cairn_world_diff(w->stepped, w->restored, NULL, 0) > 0) {
            describe(w, seed, tick, words);
            return false;
        }
        if (cairn_world_validate(w->stepped, &where) != CAIRN_OK) {
            snprintf(words, CAIRN_RULES_WORDS_SIZE,
                "seed %" PRIu64 ", after tick %" PRIu64 ", the world is invalid: %s", seed, tick,
                where);
            return false;
        }
    }
    return true;
}

bool cairn_rules_check_replay(const cairn_scene *scene, const cairn_rules *rules, uint64_t seed,
    uint64_t ticks, char words[CAIRN_RULES_WORDS_SIZE]) {
    worlds w;
    const bool good = create_worlds(scene, rules, &w, words) && play(&w, rules, seed, ticks, words);
    destroy_worlds(&w);
    return good;
}

bool cairn_rules_check_storm(const cairn_scene *scene, const cairn_rules *rules, uint64_t seed,
    uint64_t seconds, char words[CAIRN_RULES_WORDS_SIZE]) {
    cairn_storm_config config = cairn_storm_config_default();
    cairn_storm_report report;
    config.seed = seed;
    config.seconds = seconds;
    config.scene = scene;
    config.rules = rules;
    if (cairn_storm_run(&config, &report) && report.finding == CAIRN_STORM_FOUND_NOTHING) {
        return true;
    }
    snprintf(words, CAIRN_RULES_WORDS_SIZE, "storm of seed %" PRIu64 ", at %.3f s: %.400s", seed,
        (double)report.found_ns * 1e-9, report.words);
    return false;
}
