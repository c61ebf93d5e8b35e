// SPDX-License-Identifier: MIT
// Each hazard, put into a client's step on purpose, is named by what explains its capsule, with
// the place where the two part; and nothing is explained where nothing differs.

#include "tests/kit/test.h"

#include "tests/capsule/scenes.h"

#include <stdio.h>
#include <string.h>

#include "recording/desync_report.h"
#include "sim/debug/passport.h"
#include "sim/state/hash_cache.h"
#include "sim/state/world.h"
#include "tools/replay/explain.h"
#include "tools/replay/fused.h"

// A client as it went astray, and the capsule it would make of it.
typedef struct astray {
    cairn_world *before; // as the client begins the step
    cairn_world *agreed; // as the server does
    cairn_world *after;
    cairn_trace server;
    cairn_trace again;
    uint8_t stages_server[CAIRN_TRACE_ROOTS_SIZE_MAX];
    uint8_t stages_client[CAIRN_TRACE_ROOTS_SIZE_MAX];
    uint32_t passport;
    bool with_after;
    cairn_explanation explanation;
} astray;

static astray a;

static void begin(const cairn_rules *rules) {
    a = (astray){.agreed = capsule_world(rules), .with_after = true};
    a.before = kit_fork(a.agreed);
}

static const char *path; // to write a capsule to, for other tests; NULL: none

static void explain(const cairn_rules *rules) {
    SCOPED(cairn_world) *server = kit_fork(a.agreed);
    cairn_world_step_traced(server, NULL, 0, &a.server);
    const cairn_desync_report capsule = {.scene_name = "",
        .before = a.before,
        .after = a.with_after ? a.after : NULL,
        .desync = {.head = {.tick = cairn_world_tick(a.before) + 1,
                       .root_before = kit_hash(a.agreed),
                       .root_client = kit_hash(a.after),
                       .root_again = a.again.points[a.again.count - 1].root,
                       .root_server = kit_hash(server),
                       .passport_client = a.passport},
            .build_client = "a client",
            .build_server = "a server",
            .stages_client = a.stages_client,
            .stages_client_size = (uint32_t)cairn_trace_roots(&a.again, a.stages_client),
            .stages_server = a.stages_server,
            .stages_server_size = (uint32_t)cairn_trace_roots(&a.server, a.stages_server)}};
    uint8_t *bytes = NULL;
    size_t size = 0;
    assert_int_equal(cairn_desync_report_encode(&capsule, &bytes, &size), CAIRN_OK);
    if (path != NULL) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, size, file), size);
        assert_int_equal(fclose(file), 0);
    }
    if (!cairn_explain(bytes, size, rules, &a.explanation)) {
        fail_msg("%s", a.explanation.text);
    }
    print_message("%s\n", a.explanation.text);
    free(bytes);
}

static void end(void) {
    cairn_world_destroy(a.before);
    cairn_world_destroy(a.agreed);
    cairn_world_destroy(a.after);
}

// The client's step, as it took it and as it takes it once more.
static void step_so(const cairn_trial *trial) {
    SCOPED(cairn_world) *again = kit_fork(a.before);
    a.after = kit_fork(a.before);
    cairn_trial_step(trial, a.after, NULL, 0, &a.again);
    cairn_trial_step(trial, again, NULL, 0, &a.again);
}

static void expect(cairn_hazard hazard, bool certain) {
    assert_string_equal(cairn_hazard_name(a.explanation.hazard), cairn_hazard_name(hazard));
    assert_int_equal(a.explanation.certain, certain);
}

TEST("every trial is recognised by its root") {
    const cairn_trial *trials;
    const uint32_t count = cairn_trials(&trials);
    for (uint32_t i = 0; i < count; ++i) {
        begin(NULL);
        step_so(&trials[i]);
        explain(NULL);
        expect(trials[i].hazard, true);
        assert_int_equal(a.explanation.agrees_with, CAIRN_AGREES_WITH_SERVER);
        assert_true(a.explanation.repeats && a.explanation.start_agreed);
        assert_true(a.explanation.stage_known && a.explanation.word.known);
        // Rounding down makes zeros negative, which no world takes back.
        assert_true(
            a.explanation.difference_count > 0 || trials[i].hazard == CAIRN_HAZARD_ROUNDING);
        end();
    }
    assert_true(count >= 1);
}

TEST("a hazard that no trial reaches is named by the passport") {
    static const cairn_trial both = {.hazard = CAIRN_HAZARD_ROUNDING,
        .words = "two hazards",
        .no_warm_start = true,
        .mode = CAIRN_TRIAL_UP | CAIRN_TRIAL_FLUSH};
    begin(NULL);
    step_so(&both);
    a.passport = CAIRN_PASSPORT_CONTRACTION;
    explain(NULL);
    expect(CAIRN_HAZARD_CONTRACTION, false);
    assert_true(a.explanation.stage_known && a.explanation.word.known);
    end();
}

static void flip(cairn_world *world, uint32_t bit) {
    uint32_t *word = (uint32_t *)&world->state.motions[3].linear_velocity.y;
    *word ^= 1u << bit;
    cairn_hash_cache_mark(world, CAIRN_ARRAY_MOTIONS, 3);
}

static void expect_the_flipped_bit(uint32_t bit) {
    const cairn_explained_word *word = &a.explanation.word;
    assert_true(word->known);
    assert_string_equal(cairn_array_field_name(word->at.array, word->at.word), "linear_velocity.y");
    assert_int_equal(word->bodies[0], 3);
    assert_int_equal(word->at.bits_a ^ word->at.bits_b, 1u << bit);
}

TEST("memory that was changed before the step is suspected when the step repeats right") {
    begin(NULL);
    a.after = kit_fork(a.before);
    flip(a.after, 7);
    cairn_world_step(a.after, NULL, 0);
    cairn_world *again = kit_fork(a.before);
    cairn_world_step_traced(again, NULL, 0, &a.again);
    explain(NULL);
    expect(CAIRN_HAZARD_FIELD_CHANGED, false);
    assert_false(a.explanation.repeats);
    cairn_world_destroy(again);
    end();
}

TEST("a saved state that was changed is suspected") {
    begin(NULL);
    flip(a.before, 12);
    step_so(&cairn_trial_plain);
    explain(NULL);
    expect(CAIRN_HAZARD_FIELD_CHANGED, false);
    assert_false(a.explanation.start_agreed);
    end();
}

TEST("a bit flipped after the step is found") {
    begin(NULL);
    step_so(&cairn_trial_plain);
    flip(a.after, 20);
    explain(NULL);
    expect(CAIRN_HAZARD_FIELD_CHANGED, true);
    expect_the_flipped_bit(20);
    assert_int_equal(a.explanation.difference_count, 1);
    end();
}

TEST("a restore that loses the impulses is recognised") {
    begin(NULL);
    cairn_trial_clear_impulses(a.before);
    step_so(&cairn_trial_plain);
    explain(NULL);
    expect(CAIRN_HAZARD_WARM_START, false);
    assert_false(a.explanation.start_agreed);
    end();
}

// Rules that read a variable that nobody set. What it holds is what lay there before.
static void read_garbage(volatile unsigned char *area, size_t size, uint32_t *out) {
    uint32_t sum = 0;
    for (size_t i = 0; i < size; ++i) {
        sum = sum * 31 + area[i];
    }
    *out = sum;
}

static void careless_step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)commands;
    (void)command_count;
    void (*volatile read)(volatile unsigned char *, size_t, uint32_t *) = read_garbage;
    volatile unsigned char never_set[512];
    read(never_set, sizeof never_set, state);
}

static const cairn_rules careless = {
    .name = "careless", .version = 1, .state_size = 4, .step = careless_step};

TEST("rules that read uninitialised memory are recognised") {
    begin(&careless);
    step_so(&cairn_trial_plain);
    ((cairn_rules_block *)a.after->state.rules)->words[0] ^= 5;
    explain(&careless);
    expect(CAIRN_HAZARD_UNINITIALISED, true);
    end();
}

// Rules of the same name and version that do something else.
static void honest_step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)commands;
    *(uint32_t *)state += 1 + command_count;
}

static void other_step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)commands;
    *(uint32_t *)state += 2 + command_count;
}

TEST("other rules under the same name are recognised") {
    const cairn_rules honest = {
        .name = "honest", .version = 1, .state_size = 4, .step = honest_step};
    cairn_rules other = honest;
    other.step = other_step;
    begin(&honest);
    a.before->def.rules = &other;
    step_so(&cairn_trial_plain);
    a.before->def.rules = &honest;
    explain(&honest);
    expect(CAIRN_HAZARD_RULES, false);
    assert_int_equal(a.explanation.stage.stage, CAIRN_STAGE_RULES);
    assert_string_equal(cairn_array_section_name(a.explanation.word.at.array),
        cairn_section_name(CAIRN_SECTION_RULES));
    end();
}

TEST("a sound client has nothing to explain") {
    begin(NULL);
    step_so(&cairn_trial_plain);
    explain(NULL);
    expect(CAIRN_HAZARD_NONE, false);
    end();
}

TEST("an explanation is json as well") {
    static char json[4096];
    begin(NULL);
    step_so(&cairn_trial_plain);
    flip(a.after, 20);
    explain(NULL);
    cairn_json *explanation = cairn_explanation_json(&a.explanation);
    const size_t size = cairn_json_write(explanation, json, sizeof json - 1);
    assert_true(size > 0);
    json[size] = '\0';
    assert_non_null(strstr(json, "\"hazard\":\"field_changed\",\"certain\":true"));
    assert_non_null(strstr(json, "\"field\":\"linear_velocity.y\",\"bodies\":[3],\"bit\":20"));
    cairn_json_destroy(explanation);
    end();
}

// With an argument: a capsule is written there.
// A path as the argument: writes the capsule of one test there.
int main(int argc, char **argv) {
    path = argc > 1 ? argv[1] : path;
    return test_run("capsule.explain", argc > 1 ? "a bit flipped after the step is found" : NULL);
}
