// SPDX-License-Identifier: MIT
// A capsule of each hazard, made by a client step that has the hazard on purpose: the explanation
// names the hazard and where the two steps diverge. A correct step has nothing to explain.

#include "tests/kit/test.h"

#include "tests/capsule/uninitialised_rules.h"
#include "tests/sim/world_kit.h"

#include <stdio.h>
#include <string.h>

#include "recording/desync_report.h"
#include "sim/debug/passport.h"
#include "sim/state/hash_cache.h"
#include "sim/state/world.h"
#include "tools/replay/explain.h"

// A leaning stack of boxes that presses, slides and turns, and a body that drifts so slowly in free
// space that its speeds are subnormal numbers; 40 ticks old. `rules` may be NULL.
static cairn_world *new_world(const cairn_rules *rules) {
    static const cairn_vec3 half = {.x = 0.5f, .y = 0.4f, .z = 0.3f};
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = 64;
    def.shape_capacity = 64;
    def.contact_capacity = 256;
    def.sleep = 0;
    def.rules = rules;
    cairn_world *world = kit_world(&def);
    kit_ground(world);
    for (int i = 0; i < 8; ++i) {
        const float at = (float)i;
        kit_box(world, vec3(0.07f * at, 0.4f + 0.81f * at, 0.03f * at), half, 1000.0f);
    }
    cairn_body_def drifting = cairn_body_def_default();
    drifting.position = vec3(0.0f, 50.0f, 0.0f);
    drifting.gravity_scale = 0.0f;
    drifting.linear_damping = 0.5f;
    drifting.linear_velocity = vec3(3e-39f, 0.0f, 1e-39f);
    kit_body(world, &drifting, NULL);
    kit_run(world, 40);
    return world;
}

// A step that a client computed wrongly, and what its capsule holds.
typedef struct desync {
    cairn_world *before; // the client's world before the step
    cairn_world *agreed; // the server's
    cairn_world *after;
    cairn_trace server;
    cairn_trace again;
    uint8_t stages_server[CAIRN_TRACE_ROOTS_SIZE_MAX];
    uint8_t stages_client[CAIRN_TRACE_ROOTS_SIZE_MAX];
    uint32_t passport;
    cairn_explanation explanation;
} desync;

static desync a;

static void destroy_worlds(void) {
    cairn_world_destroy(a.before);
    cairn_world_destroy(a.agreed);
    cairn_world_destroy(a.after);
    a = (desync){.before = NULL};
}

AFTER_EACH {
    destroy_worlds();
}

static void begin(const cairn_rules *rules) {
    a.agreed = new_world(rules);
    a.before = kit_fork(a.agreed);
}

static const char *path; // of a file to write the capsule to, for other tests; NULL: none

static void explain(const cairn_rules *rules) {
    SCOPED(cairn_world) *server = kit_fork(a.agreed);
    cairn_world_step_traced(server, NULL, 0, &a.server);
    const cairn_desync_report capsule = {.scene_name = "",
        .before = a.before,
        .after = a.after,
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

// Takes the client's step, and the same step once more, as a client does for its capsule.
static void step_twice(const cairn_trial *trial) {
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
        step_twice(&trials[i]);
        explain(NULL);
        expect(trials[i].hazard, true);
        assert_int_equal(a.explanation.agrees_with, CAIRN_AGREES_WITH_SERVER);
        assert_true(a.explanation.repeats && a.explanation.start_agreed);
        assert_true(a.explanation.stage_known && a.explanation.word.known);
        // Rounding down makes zeros negative, and a world with negative zeros does not load.
        assert_true(
            a.explanation.difference_count > 0 || trials[i].hazard == CAIRN_HAZARD_ROUNDING);
        destroy_worlds();
    }
    assert_true(count >= 1);
}

TEST("a hazard that no trial reproduces is named by the passport") {
    static const cairn_trial both = {.hazard = CAIRN_HAZARD_ROUNDING,
        .words = "two hazards",
        .no_warm_start = true,
        .mode = CAIRN_TRIAL_UP | CAIRN_TRIAL_FLUSH};
    begin(NULL);
    step_twice(&both);
    a.passport = CAIRN_PASSPORT_CONTRACTION;
    explain(NULL);
    expect(CAIRN_HAZARD_CONTRACTION, false);
    assert_true(a.explanation.stage_known && a.explanation.word.known);
}

static void flip(cairn_world *world, uint32_t bit) {
    uint32_t *word = (uint32_t *)&world->state.motions[3].linear_velocity.y;
    *word ^= 1u << bit;
    cairn_hash_cache_mark(world, CAIRN_ARRAY_MOTIONS, 3);
}

TEST("a change of memory before the step is suspected if the repeated step is correct") {
    begin(NULL);
    a.after = kit_fork(a.before);
    flip(a.after, 12);
    cairn_world_step(a.after, NULL, 0);
    cairn_world *again = kit_fork(a.before);
    cairn_world_step_traced(again, NULL, 0, &a.again);
    explain(NULL);
    expect(CAIRN_HAZARD_FIELD_CHANGED, false);
    assert_false(a.explanation.repeats);
    cairn_world_destroy(again);
}

TEST("a saved state that was changed is suspected") {
    begin(NULL);
    flip(a.before, 12);
    step_twice(&cairn_trial_plain);
    explain(NULL);
    expect(CAIRN_HAZARD_FIELD_CHANGED, false);
    assert_false(a.explanation.start_agreed);
}

TEST("a bit flipped after the step is found") {
    begin(NULL);
    step_twice(&cairn_trial_plain);
    flip(a.after, 20);
    explain(NULL);
    expect(CAIRN_HAZARD_FIELD_CHANGED, true);
    const cairn_explained_word *word = &a.explanation.word;
    assert_true(word->known);
    assert_string_equal(cairn_array_field_name(word->at.array, word->at.word), "linear_velocity.y");
    assert_int_equal(word->bodies[0], 4);
    assert_int_equal(word->at.bits_a ^ word->at.bits_b, 1u << 20);
    assert_int_equal(a.explanation.difference_count, 1);
}

TEST("a restore that loses the impulses is recognised") {
    begin(NULL);
    cairn_trial_clear_impulses(a.before);
    step_twice(&cairn_trial_plain);
    explain(NULL);
    expect(CAIRN_HAZARD_WARM_START, false);
    assert_false(a.explanation.start_agreed);
}

TEST("rules that read uninitialised memory are recognised") {
    begin(&uninitialised_rules);
    step_twice(&cairn_trial_plain);
    ((cairn_rules_block *)a.after->state.rules)->words[0] ^= 5;
    explain(&uninitialised_rules);
    expect(CAIRN_HAZARD_UNINITIALISED, true);
}

static void count_by_one(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)commands;
    *(uint32_t *)state += 1 + command_count;
}

static void count_by_two(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)commands;
    *(uint32_t *)state += 2 + command_count;
}

TEST("other rules under the same name are recognised") {
    const cairn_rules servers = {
        .name = "count", .version = 1, .state_size = 4, .step = count_by_one};
    cairn_rules other = servers;
    other.step = count_by_two;
    begin(&servers);
    a.before->def.rules = &other;
    step_twice(&cairn_trial_plain);
    a.before->def.rules = &servers;
    explain(&servers);
    expect(CAIRN_HAZARD_RULES, false);
    assert_int_equal(a.explanation.stage.stage, CAIRN_STAGE_RULES);
    assert_string_equal(cairn_array_section_name(a.explanation.word.at.array),
        cairn_section_name(CAIRN_SECTION_RULES));
}

TEST("a correct step has nothing to explain") {
    begin(NULL);
    step_twice(&cairn_trial_plain);
    explain(NULL);
    expect(CAIRN_HAZARD_NONE, false);
}

TEST("an explanation can be written as JSON") {
    static char json[4096];
    begin(NULL);
    step_twice(&cairn_trial_plain);
    flip(a.after, 20);
    explain(NULL);
    cairn_json *explanation = cairn_explanation_json(&a.explanation);
    const size_t size = cairn_json_write(explanation, json, sizeof json - 1);
    assert_true(size > 0);
    json[size] = '\0';
    assert_non_null(strstr(json, "\"hazard\":\"field_changed\",\"certain\":true"));
    assert_non_null(strstr(json, "\"field\":\"linear_velocity.y\",\"bodies\":[4],\"bit\":20"));
    cairn_json_destroy(explanation);
}

// With a path as its argument it runs one test and writes the capsule of that test to the file.
int main(int argc, char **argv) {
    path = argc > 1 ? argv[1] : path;
    return test_run("capsule.explain", argc > 1 ? "a bit flipped after the step is found" : NULL);
}
