// SPDX-License-Identifier: MIT
// A rollback of a part of a world gives the bits of stepping everything again: the state of every
// tick, byte for byte, in scenes in which wrong commands push piles over, wake sleepers, join
// islands and part them. Where it is not certain of that it changes nothing.

#include "tests/sim/rollback_scenes.h"

#include <string.h>

#include <cairn/history.h>
#include <cairn/rollback.h>

#include "base/random.h"
#include "sim/serialize/history_table.h"
#include "sim/state/hash_cache.h"

enum { DEPTH = 8, HELD = 24, COMMANDS_MAX = 8 };

SCOPE_POINTER_ENDS(cairn_history, cairn_history_destroy)

// ---- Commands

typedef struct tick_commands {
    cairn_command commands[COMMANDS_MAX];
    uint32_t count;
} tick_commands;

static cairn_body_id any_body(const cairn_world *world, cairn_random *random) {
    static cairn_body_state bodies[256];
    const uint32_t count = cairn_world_bodies(world, bodies, 256);
    for (;;) {
        const cairn_body_state *body = &bodies[cairn_random_below(random, count)];
        if (body->kind == CAIRN_BODY_DYNAMIC) {
            return body->id;
        }
    }
}

static cairn_vec3 any_vector(cairn_random *random, float most) {
    return vec3(between(random, -most, most), between(random, -0.2f * most, 0.6f * most),
        between(random, -most, most));
}

static cairn_command any_push(
    const cairn_world *world, const scene *s, cairn_random *random, cairn_body_id body) {
    cairn_body_state state = kit_read(world, body);
    cairn_command command = {
        .kind = CAIRN_COMMAND_IMPULSE, .slot = CAIRN_SLOT_OPERATOR, .buttons = body};
    command.move = vec3_scale(any_vector(random, s->push), cairn_body_mass(world, body));
    switch (cairn_random_below(random, 5)) {
    case 0:
        command.kind = CAIRN_COMMAND_SET_VELOCITY;
        command.move = any_vector(random, s->push);
        command.aim = any_vector(random, 2.0f);
        break;
    case 1:
        command.kind = CAIRN_COMMAND_FORCE;
        command.move = vec3_scale(command.move, 10.0f);
        break;
    case 2:
        command.kind = CAIRN_COMMAND_IMPULSE_AT;
        command.aim = vec3_add(state.position, vec3(0.1f, 0.1f, 0.0f));
        break;
    default:
        break;
    }
    return command;
}

static void add_command(tick_commands *to, cairn_command command) {
    if (to->count < COMMANDS_MAX) {
        command.sequence = to->count;
        to->commands[to->count++] = command;
    }
}

static void order_commands(tick_commands *to) {
    for (uint32_t i = 0; i < to->count; ++i) {
        to->commands[i].sequence = i;
    }
    cairn_commands_sort(to->commands, to->count);
}

// What a player should have done, in one of the ticks or in some: more, less, or something else.
static void make_mistake(const cairn_world *world, const scene *s, cairn_random *random,
    tick_commands *after, uint32_t depth) {
    const cairn_body_id player = any_body(world, random);
    const uint32_t ticks = 1 + (uint32_t)cairn_random_below(random, 2);
    for (uint32_t i = 0; i < ticks && i < depth; ++i) {
        tick_commands *at = &after[i == 0 ? 0 : cairn_random_below(random, depth)];
        const uint64_t how = cairn_random_below(random, 3);
        if (how == 0 && at->count > 0) {
            at->count -= 1;
        } else if (how == 1 && at->count > 0) {
            at->commands[0] = any_push(world, s, random, at->commands[0].buttons);
        } else {
            add_command(at, any_push(world, s, random, player));
        }
        order_commands(at);
    }
}

// ---- A case

typedef struct play {
    const scene *scene;
    cairn_world *world;
    cairn_world *whole;  // is stepped again as a whole
    cairn_world *loaded; // gets states of the history
    cairn_history *history;
    cairn_rollback *rollback;
    cairn_random random;
    uint32_t scoped;
    uint32_t regrown;
    uint32_t shared; // scopes of several bodies
} play;

static cairn_world *build(const scene *s, uint64_t seed) {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = 256;
    def.shape_capacity = 256;
    def.joint_capacity = 64;
    def.contact_capacity = 4096;
    def.sleep = s->sleep;
    def.substeps = 1 + (uint32_t)(seed % 4);
    def.tick_rate_hz = seed % 5 == 0 ? 30 : 60;
    def.warm_start = seed % 7 == 0 ? 0 : 1;
    cairn_world *world = kit_world(&def);
    cairn_random random = cairn_random_of(seed);
    s->build(world, &random);
    return world;
}

static void start(play *p, const scene *s, uint64_t seed) {
    p->scene = s;
    p->random = cairn_random_of(seed ^ 77);
    p->world = build(s, seed);
    p->whole = build(s, seed);
    p->loaded = build(s, seed);
    kit_run(p->world, s->warm_up);
    EXPECT_OK(cairn_history_create(p->world, HELD, 0, &p->history));
    EXPECT_OK(cairn_rollback_create(p->world, p->history, &p->rollback));
}

static void end(play *p) {
    cairn_rollback_destroy(p->rollback);
    cairn_history_destroy(p->history);
    cairn_world_destroy(p->world);
    cairn_world_destroy(p->whole);
    cairn_world_destroy(p->loaded);
}

static void step(play *p, const tick_commands *commands) {
    if (cairn_random_below(&p->random, 8) != 0) {
        (void)cairn_world_hash_read(p->world);
    }
    EXPECT_OK(cairn_history_save(p->history, UINT64_MAX));
    cairn_world_step(p->world, commands->commands, commands->count);
}

static void expect_same(const play *p, const cairn_world *found, const cairn_world *wanted) {
    cairn_difference differences[4];
    const uint32_t count = cairn_world_diff(found, wanted, differences, 4);
    if (count != 0) {
        fail_msg("%s: tick %u: %u differences, first %s %u %s", p->scene->name,
            (unsigned)cairn_world_tick(wanted), (unsigned)count,
            cairn_section_name(differences[0].section), (unsigned)differences[0].element,
            differences[0].field);
    }
    SCOPED(kit_bytes) a = kit_save(found);
    SCOPED(kit_bytes) b = kit_save(wanted);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.bytes, b.bytes, a.size);
}

static void expect_sound(const cairn_world *world) {
    const char *where = "";
    if (cairn_world_validate(world, &where) != CAIRN_OK) {
        fail_msg("the world is not valid: %s", where);
    }
    assert_true(
        cairn_hash_equal(cairn_world_hash_read(world).full, cairn_world_hash_fresh(world).full));
}

// Each cell in use is in the table or the log of some tick.
static void expect_cells(const cairn_history *history) {
    unsigned char *found = calloc(history->cells_begun + 1, 1);
    uint32_t count = 0;
    assert_non_null(found);
    for (uint32_t order = 0; order < history->count; ++order) {
        const uint32_t *root = root_at(history, order);
        for (uint32_t page = 0; page < history->page_count; ++page) {
            found[root[page] == CELL_NONE ? history->cells_begun : root[page]] = 1;
            for (uint32_t i = 0; i < PAGE_ENTRIES; ++i) {
                const uint32_t cell = entry_read(history, root, page * PAGE_ENTRIES + i);
                found[cell == CELL_NONE ? history->cells_begun : cell] = 1;
            }
        }
        for (uint32_t at = tick_at(history, order)->log; at != CELL_NONE;
             at = log_at(history, at)->next) {
            found[at] = 1;
        }
    }
    for (uint32_t i = 0; i < history->cells_begun; ++i) {
        count += found[i];
    }
    free(found);
    assert_int_equal(count, history->cells_used);
}

// Of the last tick: the bodies that were stepped again, and all events.
static void expect_told(const play *p, uint32_t depth) {
    cairn_body_state bodies[256];
    cairn_contact_event events[1024];
    uint32_t count = cairn_rollback_bodies(p->rollback, depth - 1, bodies, 256);
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_body_state wanted = kit_read(p->whole, bodies[i].id);
        assert_memory_equal(&bodies[i], &wanted, sizeof wanted);
    }
    const cairn_contact_event *wanted = cairn_world_contact_events(p->whole, &count);
    assert_int_equal(cairn_rollback_contact_events(p->rollback, depth - 1, events, 1024), count);
    assert_true(count < 1024);
    assert_memory_equal(events, wanted, count * sizeof *wanted);
}

// Steps as a whole, beside the world, and compares each state.
static void compare(play *p, uint64_t from, const tick_commands *after, uint32_t depth,
    const cairn_hash128 *roots) {
    EXPECT_OK(cairn_history_load(p->history, from, p->whole));
    for (uint32_t i = 0; i < depth; ++i) {
        cairn_world_step(p->whole, after[i].commands, after[i].count);
        if (i + 1 < depth) {
            cairn_world_hash hash;
            EXPECT_OK(cairn_history_load(p->history, from + i + 1, p->loaded));
            expect_same(p, p->loaded, p->whole);
            EXPECT_OK(cairn_history_hash(p->history, from + i + 1, &hash));
            assert_true(cairn_hash_equal(hash.full, roots[i]));
        }
        assert_true(cairn_hash_equal(roots[i], cairn_world_hash_fresh(p->whole).full));
    }
    expect_same(p, p->world, p->whole);
    expect_sound(p->world);
    expect_told(p, depth);
}

static cairn_rollback_outcome apply(play *p, const tick_commands *before,
    const tick_commands *after, uint32_t depth, cairn_hash128 *roots) {
    cairn_rollback_tick ticks[DEPTH];
    for (uint32_t i = 0; i < depth; ++i) {
        ticks[i] = (cairn_rollback_tick){.before = before[i].commands,
            .before_count = before[i].count,
            .after = after[i].commands,
            .after_count = after[i].count};
    }
    return cairn_rollback_apply(p->rollback, ticks, depth, roots);
}

static void go_back_whole(play *p, uint64_t from, const tick_commands *after, uint32_t depth) {
    EXPECT_OK(cairn_history_restore(p->history, from));
    cairn_history_drop_from(p->history, from + 1);
    for (uint32_t i = 0; i < depth; ++i) {
        if (i > 0) {
            EXPECT_OK(cairn_history_save(p->history, UINT64_MAX));
        }
        cairn_world_step(p->world, after[i].commands, after[i].count);
    }
}

static void round_of(play *p) {
    tick_commands before[DEPTH] = {0};
    tick_commands after[DEPTH];
    cairn_hash128 roots[DEPTH];
    const uint32_t depth = 1 + (uint32_t)cairn_random_below(&p->random, DEPTH);
    const uint64_t from = cairn_world_tick(p->world);
    for (uint32_t i = 0; i < depth; ++i) {
        for (uint64_t k = cairn_random_below(&p->random, 3); k > 0; --k) {
            const cairn_body_id body = any_body(p->world, &p->random);
            add_command(&before[i], any_push(p->world, p->scene, &p->random, body));
        }
        order_commands(&before[i]);
        step(p, &before[i]);
    }
    memcpy(after, before, sizeof after);
    make_mistake(p->world, p->scene, &p->random, after, depth);
    const cairn_hash128 root = kit_hash(p->world);
    const cairn_rollback_outcome outcome = apply(p, before, after, depth, roots);
    if (outcome == CAIRN_ROLLBACK_SCOPED) {
        const cairn_rollback_statistics found = cairn_rollback_statistics_read(p->rollback);
        p->scoped += 1;
        p->regrown += found.regrown_last > 1 ? 1u : 0u;
        p->shared += found.bodies_last > 1 ? 1u : 0u;
        compare(p, from, after, depth, roots);
        expect_cells(p->history);
    } else {
        assert_true(cairn_hash_equal(root, kit_hash(p->world)));
        go_back_whole(p, from, after, depth);
    }
}

TEST("each state of each scene is that of stepping the whole world again") {
    uint32_t regrown = 0;
    uint32_t shared = 0;
    for (uint32_t i = 0; i < SCENES; ++i) {
        uint32_t scoped = 0;
        for (uint32_t seed = 1; seed <= CASES; ++seed) {
            play p = {.scene = &scenes[i]};
            start(&p, &scenes[i], seed);
            for (uint32_t k = 0; k < ROUNDS; ++k) {
                round_of(&p);
            }
            scoped += p.scoped;
            regrown += p.regrown;
            shared += p.shared;
            end(&p);
        }
        print_message("%s: %u of %u in parts\n", scenes[i].name, scoped, CASES * ROUNDS);
        assert_in_range(scoped, scenes[i].scoped_min * CASES * ROUNDS / 90, CASES * ROUNDS);
    }
    print_message("%u grew on the way, %u had several bodies\n", regrown, shared);
    assert_true(regrown > 6 * CASES && shared > 12 * CASES);
}

// ---- A history goes on

TEST("a history that was corrected is saved, restored and dropped as before") {
    for (uint32_t i = 0; i < SCENES; ++i) {
        play p = {.scene = &scenes[i]};
        start(&p, &scenes[i], 4000 + i);
        for (uint32_t k = 0; k < 12; ++k) {
            round_of(&p);
            const cairn_history_statistics held = cairn_history_statistics_read(p.history);
            const uint64_t back =
                held.oldest + cairn_random_below(&p.random, held.newest - held.oldest + 1);
            EXPECT_OK(cairn_history_load(p.history, back, p.loaded));
            if (k % 3 == 0) {
                EXPECT_OK(cairn_history_restore(p.history, back));
                expect_same(&p, p.world, p.loaded);
                expect_sound(p.world);
            } else if (k % 3 == 1) {
                cairn_history_drop_before(p.history, back);
                expect_cells(p.history);
            }
        }
        cairn_history_drop_from(p.history, 0);
        assert_int_equal(cairn_history_statistics_read(p.history).ticks, 0);
        end(&p);
    }
}

TEST("commands that push no body otherwise change nothing") {
    play p = {.scene = &scenes[0]};
    start(&p, &scenes[0], 9);
    round_of(&p); // leaves results behind
    tick_commands before[DEPTH] = {0};
    tick_commands after[DEPTH] = {0};
    cairn_hash128 roots[DEPTH];
    const uint64_t from = cairn_world_tick(p.world);
    for (uint32_t i = 0; i < DEPTH; ++i) {
        step(&p, &before[i]);
        after[i].commands[0] = (cairn_command){.kind = CAIRN_COMMAND_INPUT, .slot = 3};
        after[i].count = 1;
    }
    const cairn_hash128 root = kit_hash(p.world);
    assert_int_equal(apply(&p, before, after, DEPTH, roots), CAIRN_ROLLBACK_SCOPED);
    assert_true(cairn_hash_equal(root, kit_hash(p.world)));
    assert_int_equal(cairn_rollback_bodies(p.rollback, DEPTH - 1, NULL, 0), 0);
    uint32_t events = 0;
    (void)cairn_world_contact_events(p.world, &events);
    assert_int_equal(cairn_rollback_contact_events(p.rollback, DEPTH - 1, NULL, 0), events);
    compare(&p, from, after, DEPTH, roots);
    end(&p);
}

// Applies with more and more free memory, until it is enough.
static cairn_rollback_outcome apply_with_least(
    play *p, const tick_commands *before, const tick_commands *after, uint32_t depth) {
    cairn_hash128 roots[DEPTH];
    const uint32_t cells = p->history->cell_count;
    cairn_rollback_outcome outcome = CAIRN_ROLLBACK_WHOLE_SIZE;
    for (uint32_t available = 16; outcome == CAIRN_ROLLBACK_WHOLE_SIZE && available < cells;
         available += available / 4) {
        const uint32_t used = p->history->cells_used;
        p->history->cell_count = used + available;
        outcome = apply(p, before, after, depth, roots);
        if (p->history->cells_used > p->history->cell_count) {
            fail_msg("%s: %u cells in place of %u", p->scene->name,
                (unsigned)(p->history->cells_used - used), (unsigned)available);
        }
        p->history->cell_count = cells;
    }
    return outcome;
}

TEST("a rollback takes no more of the history's memory than is free") {
    uint32_t scoped = 0;
    for (uint32_t i = 0; i < SCENES; ++i) {
        for (uint32_t seed = 1; seed <= CASES / 5; ++seed) {
            play p = {.scene = &scenes[i]};
            tick_commands before[DEPTH] = {0};
            tick_commands after[DEPTH] = {0};
            start(&p, &scenes[i], 100 + seed);
            for (uint32_t k = 0; k < DEPTH; ++k) {
                step(&p, &before[k]);
            }
            make_mistake(p.world, p.scene, &p.random, after, DEPTH);
            scoped += apply_with_least(&p, before, after, DEPTH) == CAIRN_ROLLBACK_SCOPED ? 1u : 0u;
            expect_sound(p.world);
            end(&p);
        }
    }
    assert_true(scoped > SCENES * CASES / 10);
}

// In the contact list those of a block of cubes, which sleep and so are shared by all ticks, are
// between that of ball and floor and that of ball and wall.
static void build_shift(cairn_world *world, cairn_random *random) {
    (void)random;
    kit_ground(world);
    for (uint32_t i = 0; i < 216; ++i) {
        kit_cube(world, vec3((float)(i % 6), 0.5f + (float)(i / 36), 4.0f + (float)(i / 6 % 6)));
    }
    slab(world, vec3(-5.37f, 1.0f, 0.0f), vec3(0.5f, 1.0f, 1.0f));
    kit_sphere(world, vec3(-6.2f, 0.2f, 0.0f), 0.2f);
    for (uint32_t i = 0; i < 4; ++i) { // are awake
        const cairn_body_id ball = kit_sphere(world, vec3(9.0f, 0.2f, -9.0f - (float)i), 0.2f);
        EXPECT_OK(cairn_body_set_velocity(world, ball, vec3(1.0f, 0.0f, 0.0f), vec3_zero()));
    }
}

TEST("contacts between one that ends and one that begins are counted in what a rollback takes") {
    static const scene shift = {"shift", build_shift, 1, 120, 6.0f, 0};
    play p = {.scene = &shift};
    tick_commands before[DEPTH] = {0};
    tick_commands after[DEPTH] = {0};
    start(&p, &shift, 3);
    for (uint32_t k = 0; k < DEPTH; ++k) {
        step(&p, &before[k]);
    }
    add_command(&after[0], (cairn_command){.kind = CAIRN_COMMAND_SET_VELOCITY,
                               .slot = CAIRN_SLOT_OPERATOR,
                               .buttons = 219,
                               .move = vec3(6.0f, 3.0f, 0.0f)});
    assert_int_equal(apply_with_least(&p, before, after, DEPTH), CAIRN_ROLLBACK_SCOPED);
    expect_sound(p.world);
    end(&p);
}

// ---- What is not certain

// Three columns, after eight ticks with a push each. `prepare`: before them.
static void begin_plain(play *p, void (*prepare)(cairn_world *world)) {
    static const scene plain = {"plain", build_columns, 0, 5, 6.0f, 0};
    *p = (play){.scene = &plain};
    start(p, &plain, 1);
    if (prepare != NULL) {
        prepare(p->world);
    }
    for (uint32_t i = 0; i < DEPTH; ++i) {
        step(p, &(tick_commands){.count = 0});
    }
}

static void expect_refused(
    play *p, const cairn_command *after, uint32_t count, cairn_rollback_outcome wanted) {
    cairn_rollback_tick ticks[DEPTH] = {{.after = after, .after_count = count}};
    cairn_hash128 roots[DEPTH];
    const cairn_hash128 root = kit_hash(p->world);
    cairn_world_hash hash[2];
    const uint64_t tick = cairn_world_tick(p->world) - 3;
    EXPECT_OK(cairn_history_hash(p->history, tick, &hash[0]));
    const cairn_rollback_outcome found = cairn_rollback_apply(p->rollback, ticks, DEPTH, roots);
    if (found != wanted) {
        fail_msg("'%s' in place of '%s'", cairn_rollback_outcome_text(found),
            cairn_rollback_outcome_text(wanted));
    }
    EXPECT_OK(cairn_history_hash(p->history, tick, &hash[1]));
    assert_true(cairn_hash_equal(root, kit_hash(p->world)));
    assert_true(cairn_hash_equal(hash[0].full, hash[1].full));
    assert_int_equal(cairn_rollback_statistics_read(p->rollback).outcomes[wanted], 1);
}

static cairn_command push_of(uint32_t kind, cairn_body_id body) {
    return (cairn_command){.kind = kind,
        .slot = CAIRN_SLOT_OPERATOR,
        .buttons = body,
        .move = vec3(300.0f, 900.0f, 0.0f)};
}

TEST("commands that do more than push a dynamic body are for the whole world") {
    const cairn_command commands[] = {push_of(CAIRN_COMMAND_DESTROY, 5),
        push_of(CAIRN_COMMAND_SET_POSITION, 5), push_of(CAIRN_COMMAND_IMPULSE, 1),
        push_of(CAIRN_COMMAND_IMPULSE, 4000), push_of(CAIRN_COMMAND_SET_GRAVITY, 0),
        push_of(CAIRN_COMMAND_SPAWN_BOX, 0)};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i) {
        play p;
        begin_plain(&p, NULL);
        expect_refused(&p, &commands[i], 1, CAIRN_ROLLBACK_WHOLE_COMMANDS);
        end(&p);
    }
}

// Of a push in the last of `ticks` ticks.
static cairn_rollback_outcome outcome_of(cairn_world *world, uint32_t ticks) {
    SCOPED(cairn_history) *history = NULL;
    cairn_rollback *rollback = NULL;
    cairn_hash128 roots[1];
    kit_ground(world);
    const cairn_command push =
        push_of(CAIRN_COMMAND_IMPULSE, kit_cube(world, vec3(0.0f, 0.5f, 0.0f)));
    for (uint32_t i = 0; i < 4; ++i) { // others that are awake
        (void)kit_cube(world, vec3(9.0f, 0.5f, 3.0f * (float)i));
    }
    EXPECT_OK(cairn_history_create(world, 4, 0, &history));
    EXPECT_OK(cairn_rollback_create(world, history, &rollback));
    for (uint32_t i = 0; i < ticks; ++i) {
        EXPECT_OK(cairn_history_save(history, UINT64_MAX));
        kit_run(world, 1);
    }
    const cairn_rollback_tick tick = {.after = &push, .after_count = 1};
    const cairn_rollback_outcome outcome = cairn_rollback_apply(rollback, &tick, 1, roots);
    cairn_rollback_destroy(rollback);
    return outcome;
}

static void do_nothing(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t count) {
    (void)world;
    (void)state;
    (void)commands;
    (void)count;
}

TEST("a world with rules, with the PGS solver, or that was not stepped is stepped as a whole") {
    static const cairn_rules rules = {.name = "idle", .version = 1, .step = do_nothing};
    cairn_world_def def = cairn_world_def_default();
    SCOPED(cairn_world) *plain = kit_world(&def);
    assert_int_equal(outcome_of(plain, 2), CAIRN_ROLLBACK_SCOPED);
    SCOPED(cairn_world) *fresh = kit_world(&def);
    assert_int_equal(outcome_of(fresh, 0), CAIRN_ROLLBACK_WHOLE_WORLD);
    def.solver = CAIRN_SOLVER_PGS;
    SCOPED(cairn_world) *other = kit_world(&def);
    assert_int_equal(outcome_of(other, 2), CAIRN_ROLLBACK_WHOLE_WORLD);
    def.solver = CAIRN_SOLVER_SOFT_STEP;
    def.rules = &rules;
    SCOPED(cairn_world) *ruled = kit_world(&def);
    assert_int_equal(outcome_of(ruled, 2), CAIRN_ROLLBACK_WHOLE_WORLD);
}

static void add_bullet(cairn_world *world) {
    cairn_body_def def = cairn_body_def_default();
    def.bullet = 1;
    def.position = vec3(-30.0f, 2.0f, 0.0f);
    kit_body(world, &def, NULL);
}

static void add_platform(cairn_world *world) {
    kit_kinematic(world, vec3(-30.0f, 9.0f, 0.0f), vec3(0.1f, 0.0f, 0.0f));
}

static void add_massless(cairn_world *world) {
    const cairn_body_def def = cairn_body_def_default();
    cairn_body_id body;
    EXPECT_OK(cairn_body_create(world, &def, &body));
}

static void add_drive(cairn_world *world) {
    cairn_joint_def joint = cairn_joint_def_default();
    joint.kind = CAIRN_JOINT_HINGE;
    joint.body_a = kit_cube(world, vec3(-30.0f, 5.0f, 0.0f));
    joint.body_b = kit_cube(world, vec3(-30.0f, 7.0f, 0.0f));
    kit_joint(world, &joint);
    joint.kind = CAIRN_JOINT_PRISMATIC;
    joint.body_a = kit_cube(world, vec3(-40.0f, 5.0f, 0.0f));
    joint.body_b = kit_cube(world, vec3(-40.0f, 7.0f, 0.0f));
    kit_joint(world, &joint);
}

TEST("worlds with bodies that a part cannot have are stepped as a whole") {
    void (*const prepare[])(cairn_world * world) = {
        add_bullet, add_platform, add_massless, add_drive};
    const cairn_command push = push_of(CAIRN_COMMAND_IMPULSE, 5);
    for (size_t i = 0; i < sizeof prepare / sizeof prepare[0]; ++i) {
        play p;
        begin_plain(&p, prepare[i]);
        expect_refused(&p, &push, 1, CAIRN_ROLLBACK_WHOLE_BODIES);
        end(&p);
    }
}

static void refuse_something(cairn_world *world) {
    world->state.settings->edits_refused += 1;
}

TEST("where something was refused, or a state is missing, the world is stepped as a whole") {
    const cairn_command push = push_of(CAIRN_COMMAND_IMPULSE, 5);
    play p;
    begin_plain(&p, NULL);
    refuse_something(p.world);
    expect_refused(&p, &push, 1, CAIRN_ROLLBACK_WHOLE_COUNTERS);
    end(&p);
    begin_plain(&p, NULL);
    cairn_history_drop_before(p.history, cairn_world_tick(p.world) - 5);
    expect_refused(&p, &push, 1, CAIRN_ROLLBACK_WHOLE_STATES);
    end(&p);
    begin_plain(&p, NULL);
    EXPECT_OK(cairn_history_restore(p.history, cairn_world_tick(p.world) - 2));
    expect_refused(&p, &push, 1, CAIRN_ROLLBACK_WHOLE_STATES);
    end(&p);
}

// A wave through all columns at once.
TEST("a mistake about more than half of the bodies is for the whole world") {
    cairn_command pushes[60];
    play p;
    begin_plain(&p, NULL);
    for (uint32_t i = 0; i < 60; ++i) {
        pushes[i] = push_of(CAIRN_COMMAND_IMPULSE, 5 + i);
        pushes[i].sequence = i;
    }
    expect_refused(&p, pushes, 60, CAIRN_ROLLBACK_WHOLE_SIZE);
    end(&p);
}

TEST("a rollback belongs to a world and its history") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    SCOPED(cairn_world) *other = kit_world(NULL);
    SCOPED(cairn_history) *history = NULL;
    cairn_rollback *rollback = NULL;
    EXPECT_OK(cairn_history_create(world, 4, 0, &history));
    assert_int_equal(cairn_rollback_create(other, history, &rollback), CAIRN_INVALID_ARGUMENT);
    assert_null(rollback);
    cairn_rollback_destroy(NULL);
}
