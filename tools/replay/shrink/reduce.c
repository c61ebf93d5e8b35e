// SPDX-License-Identifier: MIT
#include "tools/replay/shrink/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "tools/replay/shrink/ddmin.h"

// A candidate that takes longer than this is no smaller test.
#define CANDIDATE_NS (60 * CAIRN_NS_PER_S)

static bool out_of_time(cairn_shrink *shrink) {
    shrink->stopped = shrink->stopped || cairn_monotonic_ns() >= shrink->deadline_ns;
    return shrink->stopped;
}

uint32_t cairn_shrink_ask(cairn_shrink *shrink, cairn_children_task *task, void *context,
    uint32_t count, cairn_answer *answer) {
    cairn_answer answers[CAIRN_CHILDREN_MAX];
    const uint64_t limit_ns = cairn_monotonic_ns() + CANDIDATE_NS;
    if (out_of_time(shrink) ||
        !cairn_children_run(task, context, count, shrink->options->workers,
            limit_ns < shrink->deadline_ns ? limit_ns : shrink->deadline_ns, answers)) {
        shrink->stopped = true;
        return count;
    }
    shrink->asked += count;
    for (uint32_t i = 0; i < count; ++i) {
        cairn_oracle_judge(&shrink->oracle, &answers[i]);
        if (answers[i].outcome == CAIRN_OUTCOME_FAILS) {
            *answer = answers[i];
            return i;
        }
    }
    return count;
}

typedef struct question {
    const cairn_shrink *shrink;
    const cairn_repro *repro;
    uint32_t kind;
    const cairn_ddmin_trials *trials;
} question;

static void ask_repro(void *context, uint32_t index, cairn_answer *answer) {
    const question *q = context;
    (void)index;
    cairn_oracle_ask(&q->shrink->oracle, q->repro, answer);
}

bool cairn_shrink_fails(cairn_shrink *shrink, const cairn_repro *repro, cairn_answer *answer) {
    question q = {.shrink = shrink, .repro = repro};
    cairn_answer unused;
    return cairn_shrink_ask(shrink, ask_repro, &q, 1, answer != NULL ? answer : &unused) == 0;
}

static void replace_best(cairn_shrink *shrink, cairn_repro *better) {
    cairn_repro_end(&shrink->best);
    shrink->best = *better;
}

// --------------------------------------------------------------------------------------- ticks

static void cut_ticks(cairn_repro *repro, uint64_t ticks) {
    repro->play.ticks = ticks;
    while (repro->play.count > 0 && repro->play.commands[repro->play.count - 1].tick >= ticks) {
        repro->play.count--;
    }
}

// A command judges a whole recording: the least length is searched by halving.
static void cut_by_halving(cairn_shrink *shrink) {
    uint64_t low = 0, high = shrink->best.play.ticks;
    const uint32_t commands = shrink->best.play.count;
    while (high - low > 1 && !out_of_time(shrink)) {
        const uint64_t middle = low + (high - low) / 2;
        cut_ticks(&shrink->best, middle);
        const bool fails = cairn_shrink_fails(shrink, &shrink->best, NULL);
        high = fails ? middle : high;
        low = fails ? low : middle;
        shrink->best.play.count = commands;
    }
    cut_ticks(&shrink->best, high);
}

// The run ends with the step that fails.
static void settle(cairn_shrink *shrink) {
    cairn_answer answer;
    if (shrink->oracle.kind == CAIRN_ORACLE_COMMAND) {
        cut_by_halving(shrink);
    } else if (cairn_shrink_fails(shrink, &shrink->best, &answer)) {
        const cairn_world *state = shrink->best.state;
        cut_ticks(&shrink->best, answer.tick - (state != NULL ? cairn_world_tick(state) : 0));
    }
}

// ----------------------------------------------------------------------------- bodies and more

typedef struct ranked {
    uint32_t item;
    float rank;
} ranked;

static int compare(const void *a, const void *b) {
    const ranked *left = a, *right = b;
    if (left->rank < right->rank || left->rank > right->rank) {
        return left->rank < right->rank ? -1 : 1;
    }
    return left->item < right->item ? -1 : 1;
}

static bool is_focus(const cairn_shrink *shrink, cairn_body_id id) {
    const cairn_predicate *p = &shrink->best.predicate;
    bool out = id == shrink->focus;
    for (uint32_t i = 0; i < p->body_count; ++i) {
        out |= p->bodies[i] == id;
    }
    for (uint32_t i = 0; i < shrink->best.keep_count; ++i) {
        out |= shrink->best.keep[i] == id;
    }
    return out;
}

// From the body's origin; infinite for planes and surfaces.
static float reach(const cairn_world *world, cairn_body_id body) {
    cairn_shape_id shapes[16];
    const uint32_t count = cairn_body_shapes(world, body, shapes, 16);
    float out = 0;
    for (uint32_t i = 0; i < count && i < 16; ++i) {
        cairn_shape_def def;
        (void)cairn_shape_read(world, shapes[i], &def, &body);
        const cairn_vec3 h = def.half_extents, p = def.pose.position;
        const float size = def.kind == CAIRN_SHAPE_BOX    ? h.x + h.y + h.z
                           : def.kind == CAIRN_SHAPE_HULL ? 10.0f
                           : def.kind == CAIRN_SHAPE_HALF_SPACE || def.kind >= CAIRN_SHAPE_MESH
                               ? HUGE_VALF
                               : def.radius + def.half_height;
        out = fmaxf(out, size + fabsf(p.x) + fabsf(p.y) + fabsf(p.z));
    }
    return out;
}

static float distance(const cairn_body_state *a, const cairn_body_state *b) {
    const float x = a->position.x - b->position.x, y = a->position.y - b->position.y,
                z = a->position.z - b->position.z;
    return sqrtf(x * x + y * y + z * z);
}

// The bodies that the failure names first, then by the gap to the nearest of them. False: out of
// memory.
static bool rank_bodies(const cairn_shrink *shrink, ranked *out, uint32_t count) {
    cairn_world *world = cairn_repro_world(&shrink->best);
    cairn_body_state *all = calloc((size_t)count + 1, sizeof *all);
    const bool good = world != NULL && all != NULL;
    if (good) {
        (void)cairn_world_bodies(world, all, count);
    }
    for (uint32_t i = 0; good && i < count; ++i) {
        out[i] = (ranked){.item = i, .rank = HUGE_VALF};
        if (is_focus(shrink, all[i].id)) {
            out[i].rank = -HUGE_VALF;
            continue;
        }
        const float size = reach(world, all[i].id);
        for (uint32_t k = 0; k < count; ++k) {
            if (is_focus(shrink, all[k].id)) {
                const float gap = isinf(size) ? 0.0f : fmaxf(distance(&all[i], &all[k]) - size, 0);
                out[i].rank = fminf(out[i].rank, gap);
            }
        }
    }
    free(all);
    cairn_world_destroy(world);
    return good;
}

static void ask_selection(void *context, uint32_t index, cairn_answer *answer) {
    const question *q = context;
    cairn_selection selection = {.counts = {0}};
    selection.items[q->kind] = q->trials->items[index];
    selection.counts[q->kind] = q->trials->counts[index];
    cairn_repro reduced;
    if (cairn_repro_reduce(&q->shrink->best, &selection, &reduced)) {
        cairn_oracle_ask(&q->shrink->oracle, &reduced, answer);
    }
    cairn_repro_end(&reduced);
}

static uint32_t test_selections(void *context, const cairn_ddmin_trials *trials, bool *stop) {
    question *q = context;
    cairn_answer answer;
    q->trials = trials;
    const uint32_t found = cairn_shrink_ask(
        (cairn_shrink *)(uintptr_t)q->shrink, ask_selection, q, trials->count, &answer);
    *stop = q->shrink->stopped;
    return found;
}

static cairn_body_id new_focus(const cairn_shrink *shrink, const uint32_t *kept, uint32_t count) {
    if (shrink->best.state != NULL || shrink->focus == CAIRN_ID_NULL) {
        return shrink->focus;
    }
    uint32_t below = 0;
    bool stays = false;
    for (uint32_t i = 0; i < count; ++i) {
        below += kept[i] < cairn_id_index(shrink->focus) ? 1 : 0;
        stays |= kept[i] == cairn_id_index(shrink->focus);
    }
    return stays ? below + 1 : CAIRN_ID_NULL;
}

static bool adopt(cairn_shrink *shrink, uint32_t kind, const uint32_t *items, uint32_t count) {
    cairn_selection selection = {.counts = {0}};
    cairn_repro reduced;
    selection.items[kind] = items;
    selection.counts[kind] = count;
    const cairn_body_id focus =
        kind == CAIRN_SELECT_BODIES ? new_focus(shrink, items, count) : shrink->focus;
    if (!cairn_repro_reduce(&shrink->best, &selection, &reduced)) {
        cairn_repro_end(&reduced);
        return false;
    }
    shrink->focus = focus;
    replace_best(shrink, &reduced);
    settle(shrink);
    return true;
}

// Returns whether it became smaller.
static bool reduce_list(cairn_shrink *shrink, uint32_t kind) {
    static const char *const names[] = {"bodies", "joints", "commands"};
    const uint32_t count = cairn_repro_count(&shrink->best, kind);
    ranked *ranks = calloc((size_t)count + 1, sizeof *ranks);
    uint32_t *items = calloc((size_t)count + 1, sizeof *items);
    bool good = ranks != NULL && items != NULL && count > 0 && !out_of_time(shrink);
    for (uint32_t i = 0; good && i < count; ++i) { // commands: the last matter most
        ranks[i] = (ranked){.item = i, .rank = kind == CAIRN_SELECT_COMMANDS ? -(float)i : 0};
    }
    good = good && (kind != CAIRN_SELECT_BODIES || rank_bodies(shrink, ranks, count));
    uint32_t left = count;
    if (good) {
        qsort(ranks, count, sizeof *ranks, compare);
        for (uint32_t i = 0; i < count; ++i) {
            items[i] = ranks[i].item;
        }
        question q = {.shrink = shrink, .kind = kind};
        left = cairn_ddmin(
            items, count, shrink->options->workers, test_selections, &q, &shrink->stopped);
        good = left < count && adopt(shrink, kind, items, left);
        cairn_shrink_say(shrink, "%u of %u %s", good ? left : count, count, names[kind]);
    }
    free(ranks);
    free(items);
    return good && left < count;
}

// A scene says less than a state: contacts, sleep and the memory of rules are not in it.
static bool try_scene(cairn_shrink *shrink) {
    cairn_repro scene;
    cairn_answer answer;
    const bool made = cairn_repro_scene(&shrink->best, &scene);
    if (!made || !cairn_shrink_fails(shrink, &scene, &answer)) {
        cairn_repro_end(&scene);
        return false;
    }
    replace_best(shrink, &scene);
    shrink->focus = shrink->oracle.kind == CAIRN_ORACLE_COMMAND ? CAIRN_ID_NULL : answer.body;
    settle(shrink);
    return true;
}

void cairn_shrink_reduce(cairn_shrink *shrink) {
    settle(shrink);
    bool scene = try_scene(shrink);
    cairn_shrink_say(shrink, "%s",
        scene ? "a scene fails as well" : "a scene alone does not fail: a state does");
    bool smaller = true;
    while (smaller && !out_of_time(shrink)) {
        smaller = false;
        for (uint32_t kind = 0; kind < CAIRN_SELECT_COUNT; ++kind) {
            smaller = reduce_list(shrink, kind) || smaller;
        }
        if (!scene && !shrink->stopped) {
            scene = try_scene(shrink);
            smaller = smaller || scene;
        }
    }
}

// -------------------------------------------------------------------------------------- values

#define FORMS 5

typedef struct values {
    cairn_shrink *shrink;
    float **list;
    uint32_t count, capacity;
    uint32_t at; // that is tried
} values;

static void add(values *v, float *numbers, uint32_t count) {
    for (uint32_t i = 0; i < count && v->count < v->capacity; ++i) {
        v->list[v->count++] = &numbers[i];
    }
}

static void list_values(values *v) {
    cairn_scene *scene = v->shrink->best.scene;
    for (uint32_t i = 0; i < scene->body_count; ++i) {
        cairn_body_def *def = &scene->bodies[i].def;
        add(v, &def->angular_velocity.x, 3);
        add(v, &def->linear_velocity.x, 3);
        add(v, &def->position.x, 3);
        add(v, &def->linear_damping, 1);
        add(v, &def->angular_damping, 1);
    }
    for (uint32_t i = 0; i < scene->shape_count; ++i) {
        cairn_shape_def *def = &scene->shapes[i].def;
        add(v, &def->pose.position.x, 3);
        if (def->kind == CAIRN_SHAPE_BOX) {
            add(v, &def->half_extents.x, 3);
        } else {
            add(v, &def->radius, 1);
            add(v, &def->half_height, 1);
        }
        add(v, &def->restitution, 1);
    }
    for (uint32_t i = 0; i < v->shrink->best.play.count; ++i) {
        cairn_command *c = &v->shrink->best.play.commands[i].command;
        const bool packed = c->kind == CAIRN_COMMAND_MESSAGE || c->kind == CAIRN_COMMAND_INPUT;
        add(v, &c->move.x, packed ? 0 : 3);
        add(v, &c->aim.x, packed ? 0 : 3);
    }
}

// 0, then with one, two, three, four digits.
static float simpler(float value, uint32_t form) {
    char text[32];
    snprintf(text, sizeof text, "%.*g", (int)form, (double)value);
    const float out = form == 0 ? 0.0f : strtof(text, NULL);
    return out == 0.0f ? 0.0f : out; // never -0
}

static void ask_value(void *context, uint32_t index, cairn_answer *answer) {
    const values *v = context;
    *v->list[v->at] = simpler(*v->list[v->at], index);
    cairn_oracle_ask(&v->shrink->oracle, &v->shrink->best, answer);
}

static void ask_upright(void *context, uint32_t index, cairn_answer *answer) {
    const values *v = context;
    (void)index;
    v->shrink->best.scene->bodies[v->at].def.rotation = (cairn_quat){.w = 1.0f};
    cairn_oracle_ask(&v->shrink->oracle, &v->shrink->best, answer);
}

static uint32_t at_most(uint32_t value, uint32_t limit) {
    return value < limit ? value : limit;
}

// Room for what there is and for some that is spawned.
static void ask_capacities(void *context, uint32_t index, cairn_answer *answer) {
    const values *v = context;
    const cairn_scene *scene = v->shrink->best.scene;
    cairn_world_def *def = &v->shrink->best.scene->world;
    (void)index;
    def->body_capacity = at_most(def->body_capacity, scene->body_count + 16);
    def->shape_capacity = at_most(def->shape_capacity, scene->shape_count + 16);
    def->joint_capacity = at_most(def->joint_capacity, scene->joint_count + 16);
    def->hull_capacity = at_most(def->hull_capacity, scene->hull_count + 4);
    def->contact_capacity = at_most(def->contact_capacity, 64 + 16 * scene->shape_count);
    def->event_capacity = at_most(def->event_capacity, 64 + 16 * scene->shape_count);
    if (answer != NULL) {
        cairn_oracle_ask(&v->shrink->oracle, &v->shrink->best, answer);
    }
}

static bool differs_bitwise(float a, float b) {
    return memcmp(&a, &b, sizeof a) != 0;
}

void cairn_shrink_simplify(cairn_shrink *shrink) {
    if (shrink->best.scene == NULL || out_of_time(shrink)) {
        return;
    }
    cairn_scene *scene = shrink->best.scene;
    values v = {.shrink = shrink,
        .capacity = 16 * (scene->body_count + scene->shape_count + shrink->best.play.count)};
    v.list = calloc((size_t)v.capacity + 1, sizeof *v.list);
    cairn_answer answer;
    uint32_t simple = 0;
    if (v.list == NULL) {
        return;
    }
    // The failure must not move: a body that begins just above a floor is no test of falling.
    shrink->oracle.ticks_min = shrink->best.play.ticks;
    if (cairn_shrink_ask(shrink, ask_capacities, &v, 1, &answer) == 0) {
        ask_capacities(&v, 0, NULL);
    }
    for (v.at = 0; v.at < scene->body_count && !shrink->stopped; ++v.at) {
        if (cairn_shrink_ask(shrink, ask_upright, &v, 1, &answer) == 0) {
            scene->bodies[v.at].def.rotation = (cairn_quat){.w = 1.0f};
        }
    }
    list_values(&v);
    for (v.at = 0; v.at < v.count && !shrink->stopped; ++v.at) {
        float *value = v.list[v.at];
        if (!differs_bitwise(*value, 0.0f)) {
            continue;
        }
        const uint32_t form = cairn_shrink_ask(shrink, ask_value, &v, FORMS, &answer);
        if (form < FORMS && differs_bitwise(simpler(*value, form), *value)) {
            *value = simpler(*value, form);
            simple++;
        }
    }
    free(v.list);
    shrink->oracle.ticks_min = 1;
    cairn_shrink_say(shrink, "%u of %u numbers are simpler", simple, v.count);
}
