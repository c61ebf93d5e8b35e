// SPDX-License-Identifier: MIT
// Rules files: what a program takes, and what it refuses by name.
#include "tests/kit/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "rules_file/child.h"
#include "rules_file/elf.h"
#include "rules_file/imports.h"
#include "rules_file/trial.h"
#include <cairn/rules_file.h>
#include <cairn/rules_registry.h>
#include <cairn/server.h>

static char error[CAIRN_RULES_FILE_ERROR_SIZE];

static bool load(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s%s", FILES, name);
    error[0] = '\0';
    return cairn_rules_load(path, error);
}

static void expect_refused(const char *name, const char *says) {
    assert_false(load(name));
    if (strstr(error, says) == NULL || strstr(error, name) == NULL) {
        fail_msg("%s: '%s' does not say '%s'", name, error, says);
    }
}

TEST("rules of a file are found by their name") {
    const cairn_rules *found = NULL;
    assert_false(cairn_rules_find("arena", &found));
    assert_true(load("arena.so"));
    assert_true(cairn_rules_find("arena", &found));
    assert_int_equal(found->version, 1);
    assert_true(cairn_rules_registered(1) == found);
    assert_null(cairn_rules_registered(2));
    assert_true(load("arena.so")); // the same rules again
    assert_null(cairn_rules_registered(2));
}

TEST("a file is refused by name") {
    expect_refused("nowhere.so", "No such file");
    expect_refused("other_abi.so", "version 3 of the rules' ABI and this program has version 2");
    expect_refused("crashes_at_load.so",
        "they crash in the code that runs when the file is loaded (segmentation fault)");
    expect_refused("imports.so", "cairn_no_such_function");
    expect_refused("same_name.so", "other rules have the same name");
    expect_refused("odd_size.so", "state_size must be a multiple of 4");
    expect_refused("no_export.so", "exports no rules");
}

TEST("what is not a shared object for this machine is refused before it is loaded") {
    uint8_t header[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    assert_string_equal(
        cairn_elf_refusal((const uint8_t *)"{}", 2), "it is not a shared object (ELF)");
    header[16] = 3;
    header[18] = 62;
    const char *x86 = cairn_elf_refusal(header, sizeof header);
    header[18] = 183;
    const char *arm = cairn_elf_refusal(header, sizeof header);
    header[18] = 8; // MIPS
    const char *mips = cairn_elf_refusal(header, sizeof header);
#if defined(__x86_64__)
    assert_null(x86);
    assert_string_equal(arm, "it is built for aarch64 processors, not for this one");
#elif defined(__aarch64__)
    assert_null(arm);
    assert_string_equal(x86, "it is built for x86-64 processors, not for this one");
#endif
    assert_string_equal(mips, "it is built for another kind of processor");
}

static uint32_t imports_of(const uint8_t *bytes, size_t size) {
    uint32_t count = 0;
    for (const char *name; count < 1000 && (name = cairn_elf_import(bytes, size, count)) != NULL;) {
        assert_true(strlen(name) < size);
        count += 1;
    }
    return count;
}

TEST("a damaged shared object is read to its end and no further") {
    FILE *file = fopen(FILES "arena.so", "rb");
    assert_non_null(file);
    static uint8_t whole[1 << 20];
    const size_t size = fread(whole, 1, sizeof whole, file);
    fclose(file);
    bool creates = false;
    for (uint32_t i = 0; i < imports_of(whole, size); ++i) {
        creates |= strcmp(cairn_elf_import(whole, size, i), "cairn_body_create") == 0;
    }
    assert_true(creates);
    cairn_random random = cairn_random_of(5);
    for (uint32_t round = 0; round < 2000; ++round) {
        // A copy of its own size, so that a sanitizer sees a read behind it.
        const size_t kept = round % 2 == 0 ? size : (size_t)cairn_random_below(&random, size);
        uint8_t *bytes = malloc(kept + 1);
        assert_non_null(bytes);
        memcpy(bytes, whole, kept);
        for (uint32_t i = 0; i < 8 && kept > 0; ++i) {
            const bool header = cairn_random_below(&random, 2) == 0;
            const size_t at = (size_t)cairn_random_below(&random, header && kept > 64 ? 64 : kept);
            bytes[at] = (uint8_t)cairn_random_below(&random, 256);
        }
        uint8_t *exact = realloc(bytes, kept > 0 ? kept : 1);
        assert_non_null(exact);
        (void)cairn_elf_refusal(exact, kept);
        (void)imports_of(exact, kept);
        free(exact);
    }
}

static void expect_trial(const char *rules_name, const char *says) {
    const cairn_scene scene = cairn_scene_default();
    const cairn_rules *rules = NULL;
    assert_true(cairn_rules_find(rules_name, &rules));
    error[0] = '\0';
    assert_int_equal(cairn_rules_trial(&scene, rules, CAIRN_PLAYERS_DEFAULT, error), says == NULL);
    assert_string_equal(error, says == NULL ? "" : says);
}

TEST("rules with a fault end their trial, and not this program") {
    assert_true(load("faulty.so"));
    expect_trial("sandbox", NULL);
    expect_trial("arena", NULL);
    expect_trial("crashes", "they crash in start (segmentation fault)");
    expect_trial("writes after", "they read or write outside their state in start");
    expect_trial("writes before", "they write outside their state in step");
    expect_trial("few players", "they read or write outside their state in step");
}

static bool wait_for_ever(void *context, char *text) {
    volatile bool *const stop = context;
    (void)text;
    while (!*stop) {}
    return true;
}

static bool divide(void *context, char *text) {
    (void)context;
    cairn_child_enter("a division");
    text[0] = '\0';
    raise(SIGFPE);
    return true;
}

TEST("a child that does not return, or crashes, is told and ends alone") {
    bool never = false;
    assert_false(cairn_child_run(wait_for_ever, &never, 1, error));
    assert_string_equal(error, "they did not return within 1 s");
    assert_false(cairn_child_run(divide, NULL, 10, error));
    assert_string_equal(error, "they crash in a division (integer division by zero)");
    never = true;
    assert_true(cairn_child_run(wait_for_ever, &never, 10, error));
}

TEST("rules that differ in anything that counts have another digest") {
    cairn_rules rules = cairn_rules_sandbox;
    const uint64_t digest = cairn_rules_digest(&rules);
    assert_true(digest == cairn_rules_digest(&cairn_rules_sandbox) && digest != 0);
    assert_true(cairn_rules_digest(NULL) == 0);
    cairn_rules others[] = {rules, rules, rules, rules};
    others[0].name = "sandboy";
    others[1].version += 1;
    others[2].state_size += 4;
    others[3].content = UINT64_C(1) << 40;
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        assert_true(cairn_rules_digest(&others[i]) != digest);
    }
}

TEST("a program lends rules what they may call, and nothing else") {
    assert_true(cairn_rules_may_import("cairn_body_create"));
    assert_true(cairn_rules_may_import("cairn_random_at"));
    assert_false(cairn_rules_may_import("cairn_world_step"));
    assert_false(cairn_rules_may_import("fopen"));
}
