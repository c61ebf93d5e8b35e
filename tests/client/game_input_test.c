// SPDX-License-Identifier: MIT
// Inputs that rules declare: their layout, their way to the rules in every mode of a client, and
// what is refused.

#include "tests/kit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/game_input.h"
#include "client_lib/client_parts.h"
#include "tests/kit/rig.h"
#include "tools/replay/verify.h"
#include <cairn/rules_registry.h>

typedef struct pilot_input {
    uint32_t keys;
    float throttle;
    float heading;
} pilot_input;

static const cairn_input_field pilot_fields[] = {
    {CAIRN_INPUT_BITS, 6, 0, 0}, {CAIRN_INPUT_FLOAT, 8, -1, 1}, {CAIRN_INPUT_FLOAT, 12, 0, 360}};

// The most that can be declared: 64 bytes, none of them rounded but the last float.
typedef struct wide_input {
    uint32_t words[15];
    float last;
} wide_input;
#define WORD                                                                                       \
    { CAIRN_INPUT_BITS, 32, 0, 0 }
static const cairn_input_field wide_fields[] = {WORD, WORD, WORD, WORD, WORD, WORD, WORD, WORD,
    WORD, WORD, WORD, WORD, WORD, WORD, WORD, {CAIRN_INPUT_FLOAT, 24, -3, 5}};
_Static_assert(sizeof(wide_input) == CAIRN_INPUT_SIZE_MAX, "all of it");

// A sum over all inputs of all players, and the last input of each.
typedef struct seen {
    uint32_t sum;
    uint32_t inputs;
    uint32_t malformed;
    uint32_t last[4][CAIRN_INPUT_FIELDS_MAX];
} seen;

static void see(const cairn_rules *rules, seen *s, const cairn_command *commands, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        if (commands[i].kind != CAIRN_COMMAND_INPUT) {
            continue;
        }
        uint32_t words[CAIRN_INPUT_FIELDS_MAX] = {0};
        s->malformed += cairn_input_read(rules, &commands[i], count - i, words) ? 0u : 1u;
        s->inputs += 1;
        for (uint32_t k = 0; k < rules->input_count; ++k) {
            s->sum = 31 * s->sum + words[k] + commands[i].slot;
        }
        memcpy(s->last[commands[i].slot % 4], words, sizeof words);
    }
}

static const cairn_rules pilots;
static const cairn_rules widest;

static void step_pilots(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t count) {
    (void)world;
    see(&pilots, state, commands, count);
}

static void step_widest(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t count) {
    (void)world;
    see(&widest, state, commands, count);
}

static const cairn_rules pilots = {.name = "pilots",
    .version = 1,
    .state_size = sizeof(seen),
    .step = step_pilots,
    .input_size = sizeof(pilot_input),
    .input_count = 3,
    .input = pilot_fields};
static const cairn_rules widest = {.name = "widest",
    .version = 1,
    .state_size = sizeof(seen),
    .step = step_widest,
    .input_size = sizeof(wide_input),
    .input_count = 16,
    .input = wide_fields};

static void set_pilots(cairn_server_config *config) {
    config->first_room.rules = &pilots;
}

static void set_widest(cairn_server_config *config) {
    config->first_room.rules = &widest;
}

TEST("every value of a field survives, and the middle of a symmetric range is 0") {
    const cairn_input_field fields[] = {{CAIRN_INPUT_FLOAT, 8, -1, 1}, {CAIRN_INPUT_FLOAT, 2, 7, 9},
        {CAIRN_INPUT_BITS, 32, 0, 0}, {CAIRN_INPUT_BITS, 1, 0, 0}};
    cairn_command commands[CAIRN_INPUT_COMMANDS_MAX] = {{.kind = CAIRN_COMMAND_INPUT}};
    for (uint32_t i = 0; i <= 254; ++i) {
        struct {
            float a, b;
            uint32_t c, d;
        } in = {-1.0f + 2.0f * ((float)i / 254.0f), 8.0f, 0x80000001u + i, i % 2}, out;
        assert_int_equal(cairn_input_pack(fields, 4, &in, commands), CAIRN_INPUT_TAKEN);
        assert_int_equal(cairn_command_check(&commands[0]), CAIRN_OK);
        assert_int_equal(cairn_input_unpack(fields, 4, commands, 1, &out), CAIRN_INPUT_TAKEN);
        assert_memory_equal(&in, &out, sizeof in);
        // A value between two is rounded to the nearest, and then stays.
        in.a += i == 254 ? 0.0f : 0.0035f;
        assert_int_equal(cairn_input_pack(fields, 4, &in, commands), CAIRN_INPUT_TAKEN);
        assert_int_equal(cairn_input_unpack(fields, 4, commands, 1, &out), CAIRN_INPUT_TAKEN);
        assert_true(fabsf(out.a - in.a) <= 1.0f / 254.0f + 1e-6f);
    }
    struct {
        float a, b;
        uint32_t c, d;
    } zero = {-0.0f, 7, 0, 0}, out;
    assert_int_equal(cairn_input_pack(fields, 4, &zero, commands), CAIRN_INPUT_TAKEN);
    assert_int_equal(cairn_input_unpack(fields, 4, commands, 1, &out), CAIRN_INPUT_TAKEN);
    const float none = 0.0f;
    assert_memory_equal(&out.a, &none, sizeof none); // no -0, which no state may hold
}

TEST("a value that a step gave is packed as the same value, however fine the steps are") {
    const cairn_input_field fields[] = {{CAIRN_INPUT_FLOAT, 24, -3, 360},
        {CAIRN_INPUT_FLOAT, 24, 0.1f, 1e3f}, {CAIRN_INPUT_FLOAT, 24, 1e30f / 3, 1e30f},
        {CAIRN_INPUT_FLOAT, 21, 16777216.0f, 16777220.0f}};
    for (uint32_t i = 0; i < 4 * 20000; ++i) {
        const cairn_input_field *field = &fields[i % 4];
        float given[2];
        cairn_command commands[CAIRN_INPUT_COMMANDS_MAX] = {{.kind = CAIRN_COMMAND_INPUT}};
        commands[0].buttons = i * 2654435761u % ((1u << field->bits) - 1);
        assert_int_equal(cairn_input_unpack(field, 1, commands, 1, &given[0]), CAIRN_INPUT_TAKEN);
        assert_int_equal(cairn_input_pack(field, 1, &given[0], commands), CAIRN_INPUT_TAKEN);
        assert_int_equal(cairn_input_unpack(field, 1, commands, 1, &given[1]), CAIRN_INPUT_TAKEN);
        assert_memory_equal(&given[0], &given[1], sizeof given[0]);
    }
}

TEST("inputs out of the layout are refused by name") {
    cairn_command c[CAIRN_INPUT_COMMANDS_MAX];
    const pilot_input bad[] = {
        {64, 0, 0}, {0, 1.01f, 0}, {0, 0, -0.5f}, {0, NAN, 0}, {0, 0, INFINITY}};
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        assert_int_equal(cairn_input_pack(pilot_fields, 3, &bad[i], c), CAIRN_INPUT_REFUSED_RANGE);
        assert_int_equal(cairn_commands_of_input(&pilots, 0, 0, &bad[i], c), 0);
    }
    const pilot_input good = {63, 1, 360};
    assert_int_equal(cairn_commands_of_input(&pilots, 3, 9, &good, c), 1);
    assert_int_equal(c[0].slot, 3);
    assert_int_equal(c[0].sequence, 9);
    pilot_input out;
    assert_true(cairn_input_read(&pilots, c, 1, &out));
    assert_memory_equal(&out, &good, sizeof out);
    const struct {
        uint32_t buttons;
        float x, z;
        cairn_input_refusal why;
    } rows[] = {{c[0].buttons | 0xffu << 6, 0, 0, CAIRN_INPUT_REFUSED_RANGE}, // step 255 of 254
        {0, 1e-4f, 0, CAIRN_INPUT_REFUSED_NUMBER}, {0, -0.5f, 0, CAIRN_INPUT_REFUSED_NUMBER},
        {0, -0.0f, 0, CAIRN_INPUT_REFUSED_NUMBER}, {0, 1.0f, 0, CAIRN_INPUT_REFUSED_NUMBER},
        {1u << 26, 0, 0, CAIRN_INPUT_REFUSED_UNUSED}, {0, 0, 0.5f, CAIRN_INPUT_REFUSED_UNUSED}};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_command wrong = c[0];
        wrong.buttons = rows[i].buttons;
        wrong.move.x = rows[i].x;
        wrong.aim.z = rows[i].z;
        assert_int_equal(cairn_input_unpack(pilot_fields, 3, &wrong, 1, &out), rows[i].why);
        assert_false(cairn_input_read(&pilots, &wrong, 1, &out));
        assert_int_equal(out.keys, 0);
    }
    assert_int_equal(cairn_input_unpack(wide_fields, 16, c, 1, NULL), CAIRN_INPUT_REFUSED_PARTS);
}

TEST("layouts that make no sense are refused with the rules") {
    static const cairn_input_field bad[][1] = {{{3, 8, 0, 0}}, {{CAIRN_INPUT_BITS, 0, 0, 0}},
        {{CAIRN_INPUT_BITS, 33, 0, 0}}, {{CAIRN_INPUT_BITS, 8, 0, 1}},
        {{CAIRN_INPUT_FLOAT, 1, 0, 1}}, {{CAIRN_INPUT_FLOAT, 25, 0, 1}},
        {{CAIRN_INPUT_FLOAT, 8, 1, 1}}, {{CAIRN_INPUT_FLOAT, 8, -INFINITY, 1}},
        {{CAIRN_INPUT_FLOAT, 8, NAN, 1}}};
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        cairn_rules rules = pilots;
        rules.name = "senseless";
        rules.input = bad[i];
        rules.input_count = 1;
        rules.input_size = 4;
        assert_non_null(strstr(cairn_rules_register(&rules), "a field of an input"));
    }
    cairn_rules rules = pilots;
    rules.name = "senseless";
    rules.input_size = 16;
    assert_non_null(strstr(cairn_rules_register(&rules), "input_size"));
    rules.input_count = 17;
    assert_non_null(strstr(cairn_rules_register(&rules), "at most 16"));
}

static seen seen_of(const cairn_world *world) {
    uint32_t size = 0;
    const seen *found = cairn_world_rules_state(world, &size);
    assert_int_equal(size, sizeof *found);
    return *found;
}

static void push(cairn_client *client, cairn_random *random, const cairn_rules *rules) {
    uint32_t words[CAIRN_INPUT_FIELDS_MAX];
    cairn_input_draw(rules->input, rules->input_count, random, words);
    assert_true(cairn_client_push_game_input(client, words, rules->input_size));
    const cairn_client_input plain = {0};
    assert_false(cairn_client_push_input(client, &plain)); // not what these rules read
    assert_false(cairn_client_push_game_input(client, words, rules->input_size - 4));
}

// A lockstep client, a predicting one and one without the rules play; the recording gives the same.
static void play(const cairn_rules *rules, void (*configure)(cairn_server_config *)) {
    assert_null(cairn_rules_register(rules)); // for the recording
    RIG(r, .seed = 31, .recorded = true, .configure = configure);
    static const cairn_client_mode modes[] = {
        CAIRN_CLIENT_LOCKSTEP, CAIRN_CLIENT_PREDICT, CAIRN_CLIENT_INTERPOLATE};
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_client_config config = rig_config(modes[i]);
        config.rules = i < 2 ? rules : NULL;
        rig_join(&r, &config, NULL);
    }
    rig_wait_to_play(&r);
    cairn_random random = cairn_random_of(9);
    cairn_input_field fields[CAIRN_INPUT_FIELDS_MAX];
    assert_int_equal(cairn_client_input_fields(rig_client(&r, CAROL), fields), rules->input_count);
    assert_memory_equal(fields, rules->input, rules->input_count * sizeof *fields);
    for (uint32_t i = 0; i < 40; ++i) {
        for (uint32_t k = 0; k < 3; ++k) {
            push(rig_client(&r, k), &random, rules);
        }
        rig_run_ms(&r, 50);
    }
    // Held until the end: what a player holds is what the rules saw, to the rounding declared.
    uint32_t words[3][CAIRN_INPUT_FIELDS_MAX];
    for (uint32_t k = 0; k < 3; ++k) {
        cairn_input_draw(rules->input, rules->input_count, &random, words[k]);
        assert_true(cairn_client_push_game_input(rig_client(&r, k), words[k], rules->input_size));
    }
    rig_run_ms(&r, 1500);
    const seen server = seen_of(rig_server_world(&r));
    assert_int_equal(server.malformed, 0);
    assert_true(server.inputs > 500);
    for (uint32_t k = 0; k < 3; ++k) {
        assert_memory_equal(server.last[k], words[k], rules->input_size);
    }
    expect_no_difference(&r);
    // Random inputs that change every third tick are often predicted wrongly, and then repaired.
    assert_true(rig_statistics(&r, BOB).prediction.rollbacks > 0);
    const cairn_server_statistics statistics = rig_server_statistics(&r);
    assert_int_equal(statistics.total.roots_differed, 0);
    assert_true(statistics.total.roots_compared > 0);
    assert_int_equal(statistics.total.inputs_refused, 0);
    cairn_server_destroy(r.system.server);
    r.system.server = NULL;
    const cairn_verification v = cairn_verify(r.record, r.record_size, NULL);
    assert_int_equal(v.verdict, CAIRN_VERDICT_SAME);
    assert_true(v.commands > 500 * cairn_input_parts_of(rules));
}

TEST("a declared input of one command reaches the rules in every mode and in replays") {
    play(&pilots, set_pilots);
}

TEST("a declared input of 64 bytes reaches the rules in every mode and in replays") {
    assert_int_equal(cairn_input_parts_of(&widest), 3);
    play(&widest, set_widest);
}

TEST("the server refuses inputs of another layout by name, and goes on") {
    cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    RIG(r, .seed = 32, .configure = set_pilots);
    rig_join(&r, &config, NULL);
    rig_wait_to_play(&r);
    cairn_inputs *inputs = &rig_client(&r, ALICE)->outbox.inputs; // as an attacker would write them
    cairn_random random = cairn_random_of(9);
    uint64_t refused[CAIRN_INPUT_REFUSAL_COUNT] = {0};
    for (uint32_t why = CAIRN_INPUT_REFUSED_PARTS; why < CAIRN_INPUT_REFUSAL_COUNT; ++why) {
        cairn_inputs_start(inputs, 16, why == CAIRN_INPUT_REFUSED_PARTS ? 2 : 1);
        inputs->held[0].move.x = why == CAIRN_INPUT_REFUSED_NUMBER ? 1e-4f : 0.0f;
        inputs->held[0].move.y = why == CAIRN_INPUT_REFUSED_UNUSED ? 0.5f : 0.0f;
        inputs->held[0].buttons = why == CAIRN_INPUT_REFUSED_RANGE ? 0xffu << 6 : 0;
        rig_run_ms(&r, 300);
        cairn_server_drop drops[CAIRN_SERVER_DROPS_MAX];
        const cairn_server_statistics statistics = rig_server_statistics(&r);
        memcpy(refused, statistics.total.inputs_not_of_layout, sizeof refused);
        assert_true(refused[why] > 10);
        const uint32_t count = cairn_server_drops_read(&statistics, drops);
        bool named = false;
        for (uint32_t i = 0; i < count; ++i) {
            named |=
                strcmp(drops[i].reason, cairn_input_refusal_text((cairn_input_refusal)why)) == 0;
        }
        assert_true(named);
    }
    const seen before = seen_of(rig_server_world(&r));
    cairn_inputs_start(inputs, 16, 1);
    push(rig_client(&r, ALICE), &random, &pilots);
    rig_run_ms(&r, 300);
    const seen after = seen_of(rig_server_world(&r));
    assert_true(after.inputs > before.inputs + 10);
    assert_int_equal(after.malformed, 0);
}
