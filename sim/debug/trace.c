// SPDX-License-Identifier: MIT
#include "sim/debug/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "sim/collide/manifold_pool.h"
#include "sim/pgs/pgs.h"
#include "sim/soft_step/soft_step.h"
#include "sim/state/fields.h"
#include "sim/state/hash_cache.h"
#include "sim/state/trace_hook.h"

// Keys beyond those of the state's leaves and lists.
#define KEY_SOLVER (UINT64_C(66) << 32)
#define KEY_MANIFOLDS (UINT64_C(67) << 32)
#define KEY_POINT (UINT64_C(68) << 32)

// A solver body, and the manifold of an active contact, as words in the order of the state.
#define SOLVER_WORDS 12
#define MANIFOLD_WORDS 48
_Static_assert(MANIFOLD_WORDS * 4 == sizeof(cairn_solver_manifold), "all of it");

// Whether solver bodies and manifolds are valid at that stage.
static bool stage_is_solving(uint32_t stage) {
    return stage == CAIRN_STAGE_PREPARE || stage == CAIRN_STAGE_SOLVE;
}

// False: impulses do not move the body in that slot. Unused words are zero.
static bool solver_words(const cairn_world *world, uint32_t slot, uint32_t words[SOLVER_WORDS]) {
    CAIRN_ASSERT(slot < world->state.settings->body_slots);
    memset(words, 0, SOLVER_WORDS * sizeof words[0]);
    if (world->def.solver != CAIRN_SOLVER_SOFT_STEP) {
        const cairn_pgs_body *body = &world->pgs->bodies[slot];
        memcpy(words, &body->linear_velocity, 12);
        memcpy(words + 3, &body->angular_velocity, 12);
        return body->takes_impulses != 0;
    }
    const uint32_t index = world->soft_step->solver_body_of[slot];
    if (index >= world->soft_step->moving_count) {
        return false;
    }
    const cairn_solver_body *body = &world->soft_step->bodies[index];
    memcpy(words, body->linear_velocity, 12);
    memcpy(words + 3, body->angular_velocity, 12);
    memcpy(words + 6, body->delta_position, 12);
    memcpy(words + 9, body->delta_rotation, 12);
    return true;
}

static const cairn_constraint_graph *contact_graph(const cairn_world *world) {
    return world->def.solver == CAIRN_SOLVER_SOFT_STEP ? &world->soft_step->contact_graph
                                                       : &world->pgs->contact_graph;
}

// Of active contact number `active`. Returns its index in the contact list. Words of points that do
// not exist are zero.
static uint32_t manifold_words(
    const cairn_world *world, uint32_t active, uint32_t words[MANIFOLD_WORDS]) {
    CAIRN_ASSERT(active < contact_graph(world)->edge_count);
    const cairn_constraint_edge *edge = &contact_graph(world)->edges[active];
    CAIRN_ASSERT(edge->element < world->state.settings->contact_count);
    CAIRN_ASSERT(edge->manifold < world->manifold_pool->used);
    const cairn_solver_manifold *manifold = &world->manifold_pool->manifolds[edge->manifold];
    const uint32_t points = (uint32_t)manifold->point_count;
    CAIRN_ASSERT(points <= CAIRN_MANIFOLD_POINTS_MAX);
    cairn_solver_manifold shown = {.normal = manifold->normal,
        .point_count = manifold->point_count,
        .friction = manifold->friction,
        .restitution = manifold->restitution,
        .static_friction = manifold->static_friction,
        .rolling_resistance = manifold->rolling_resistance,
        .spin_resistance = manifold->spin_resistance,
        .surface_velocity = manifold->surface_velocity,
        .rotation_a = manifold->rotation_a,
        .rotation_b = manifold->rotation_b};
    memcpy(shown.points, manifold->points, points * sizeof shown.points[0]);
    memcpy(words, &shown, sizeof shown);
    return edge->element;
}

static void hash_point(const cairn_world *world, cairn_trace_point *point) {
    CAIRN_ASSERT(point->stage <= CAIRN_STAGE_END && point->pass < CAIRN_PASS_COUNT);
    const cairn_world_hash hash = cairn_world_hash_fresh(world);
    cairn_hash128 list[CAIRN_SECTION_COUNT + 2];
    for (uint32_t i = 0; i < CAIRN_SECTION_COUNT; ++i) {
        point->sections[i] = hash.sections[i];
        list[i] = hash.sections[i];
    }
    if (stage_is_solving(point->stage)) {
        uint32_t words[MANIFOLD_WORDS];
        for (uint32_t i = 0; i < contact_graph(world)->edge_count; ++i) {
            const uint64_t key = KEY_MANIFOLDS + manifold_words(world, i, words);
            point->manifolds =
                cairn_hash_add(point->manifolds, cairn_hash_words(key, words, MANIFOLD_WORDS));
        }
        for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
            if (solver_words(world, i, words)) {
                point->solver = cairn_hash_add(
                    point->solver, cairn_hash_words(KEY_SOLVER + i, words, SOLVER_WORDS));
            }
        }
    }
    list[CAIRN_SECTION_COUNT] = point->manifolds;
    list[CAIRN_SECTION_COUNT + 1] = point->solver;
    point->root = point->stage == CAIRN_STAGE_END
                      ? hash.full
                      : cairn_hash_list(KEY_POINT, list, CAIRN_SECTION_COUNT + 2);
}

// Steps the world while `hook` observes it.
static void step_hooked(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_trace_hook *hook) {
    CAIRN_ASSERT(hook != NULL && world->trace_hook == NULL);
    world->contacts_stale = true; // so that no step is idle
    world->trace_hook = hook;
    cairn_world_step(world, commands, count);
    hook->observe(hook, world, CAIRN_STAGE_END, 0, CAIRN_PASS_NONE);
    world->trace_hook = NULL;
}

typedef struct point_recorder {
    cairn_trace_hook hook; // first
    cairn_trace *trace;
} point_recorder;

static void record_point(cairn_trace_hook *hook, const cairn_world *world, uint32_t stage,
    uint32_t substep, cairn_pass pass) {
    cairn_trace *trace = ((point_recorder *)hook)->trace;
    CAIRN_ASSERT(trace->count < CAIRN_TRACE_POINTS_MAX);
    cairn_trace_point *point = &trace->points[trace->count++];
    *point = (cairn_trace_point){.stage = stage, .substep = substep, .pass = pass};
    hash_point(world, point);
}

void cairn_world_step_traced(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_trace *out) {
    point_recorder recorder = {.hook = {.observe = record_point}, .trace = out};
    out->count = 0;
    step_hooked(world, commands, count, &recorder.hook);
    CAIRN_ASSERT(out->count > 0 && out->points[out->count - 1].stage == CAIRN_STAGE_END);
}

uint32_t cairn_trace_first_difference(const cairn_trace *a, const cairn_trace *b) {
    const uint32_t common = a->count < b->count ? a->count : b->count;
    CAIRN_ASSERT(common <= CAIRN_TRACE_POINTS_MAX);
    uint32_t i = 0;
    while (i < common && cairn_hash_equal(a->points[i].root, b->points[i].root)) {
        ++i;
    }
    return i;
}

const char *cairn_stage_name(uint32_t stage) {
    static const char *const names[CAIRN_STAGE_COUNT + 1] = {
        [CAIRN_STAGE_RULES] = "rules",
        [CAIRN_STAGE_PAIRS] = "pairs",
        [CAIRN_STAGE_COLLIDE] = "collide",
        [CAIRN_STAGE_ISLANDS] = "islands",
        [CAIRN_STAGE_PREPARE] = "prepare",
        [CAIRN_STAGE_SOLVE] = "solve",
        [CAIRN_STAGE_INTEGRATE] = "integrate",
        [CAIRN_STAGE_END] = "end",
    };
    return stage <= CAIRN_STAGE_END ? names[stage] : "unknown";
}

const char *cairn_pass_name(uint32_t pass) {
    static const char *const names[CAIRN_PASS_COUNT] = {
        [CAIRN_PASS_NONE] = "",
        [CAIRN_PASS_INTEGRATE_VELOCITIES] = "integrate velocities",
        [CAIRN_PASS_SOLVE_BIASED] = "solve biased",
        [CAIRN_PASS_INTEGRATE_POSITIONS] = "integrate positions",
        [CAIRN_PASS_RELAX] = "relax",
        [CAIRN_PASS_SWEEP] = "sweep",
    };
    return pass < CAIRN_PASS_COUNT ? names[pass] : "unknown";
}

size_t cairn_trace_roots(const cairn_trace *trace, uint8_t out[CAIRN_TRACE_ROOTS_SIZE_MAX]) {
    CAIRN_ASSERT(trace->count <= CAIRN_TRACE_POINTS_MAX);
    cairn_writer bytes = cairn_writer_of(out, CAIRN_TRACE_ROOTS_SIZE_MAX);
    for (uint32_t i = 0; i < trace->count; ++i) {
        cairn_write_u64(&bytes, trace->points[i].root.lo);
        cairn_write_u64(&bytes, trace->points[i].root.hi);
    }
    CAIRN_ASSERT(bytes.ok);
    return bytes.at;
}

size_t cairn_trace_stages(cairn_world *world, const cairn_command *commands, uint32_t count,
    uint8_t out[CAIRN_TRACE_ROOTS_SIZE_MAX]) {
    cairn_trace *trace = malloc(sizeof *trace);
    if (trace == NULL) {
        return 0;
    }
    cairn_world_step_traced(world, commands, count, trace);
    const size_t size = cairn_trace_roots(trace, out);
    free(trace);
    return size;
}

// A copy of a world in the middle of a step.
struct cairn_frame {
    cairn_world *world;
    uint32_t *solver;    // by body slot; zero if impulses do not move the body
    uint32_t *manifolds; // by contact; zero if it is not active
};

static void copy_solver_words(cairn_frame *frame, const cairn_world *world) {
    uint32_t words[MANIFOLD_WORDS];
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        if (solver_words(world, i, words)) {
            memcpy(frame->solver + (size_t)i * SOLVER_WORDS, words, SOLVER_WORDS * sizeof words[0]);
        }
    }
    for (uint32_t i = 0; i < contact_graph(world)->edge_count; ++i) {
        const size_t contact = manifold_words(world, i, words);
        memcpy(frame->manifolds + contact * MANIFOLD_WORDS, words, sizeof words);
    }
}

// NULL if there is no memory.
static cairn_frame *create_frame(const cairn_world *world, bool solving) {
    const cairn_settings *settings = world->state.settings;
    cairn_frame *frame = calloc(1, sizeof *frame);
    if (frame == NULL || cairn_world_fork(world, &frame->world) != CAIRN_OK) {
        free(frame);
        return NULL;
    }
    // A step marks what its stages wrote only when it ends.
    cairn_hash_cache_mark_all(frame->world);
    frame->solver = calloc((size_t)settings->body_slots + 1, SOLVER_WORDS * sizeof(uint32_t));
    frame->manifolds =
        calloc((size_t)settings->contact_count + 1, MANIFOLD_WORDS * sizeof(uint32_t));
    if (frame->solver == NULL || frame->manifolds == NULL) {
        cairn_frame_destroy(frame);
        return NULL;
    }
    if (solving) {
        copy_solver_words(frame, world);
    }
    return frame;
}

typedef struct frame_request {
    cairn_trace_hook hook; // first
    uint32_t next;
    uint32_t wanted;
    cairn_frame *frame;
} frame_request;

static void create_frame_at_point(cairn_trace_hook *hook, const cairn_world *world, uint32_t stage,
    uint32_t substep, cairn_pass pass) {
    (void)substep;
    (void)pass;
    frame_request *request = (frame_request *)hook;
    if (request->next++ == request->wanted) {
        CAIRN_ASSERT(request->frame == NULL);
        request->frame = create_frame(world, stage_is_solving(stage));
    }
}

cairn_frame *cairn_world_step_frozen(
    cairn_world *world, const cairn_command *commands, uint32_t count, uint32_t point) {
    CAIRN_ASSERT(world->trace_hook == NULL);
    frame_request request = {.hook = {.observe = create_frame_at_point}, .wanted = point};
    step_hooked(world, commands, count, &request.hook);
    return request.frame;
}

void cairn_frame_destroy(cairn_frame *frame) {
    if (frame != NULL) {
        cairn_world_destroy(frame->world);
        free(frame->solver);
        free(frame->manifolds);
        free(frame);
    }
}

const cairn_world *cairn_frame_world(const cairn_frame *frame) {
    return frame->world;
}

// The word at which a member of the manifold begins.
#define MANIFOLD_WORD(member) (offsetof(cairn_solver_manifold, member) / sizeof(uint32_t))
#define POINT_WORDS (sizeof(cairn_solver_manifold_point) / sizeof(uint32_t))

static const char *const solver_fields[SOLVER_WORDS] = {"linear_velocity.x", "linear_velocity.y",
    "linear_velocity.z", "angular_velocity.x", "angular_velocity.y", "angular_velocity.z",
    "delta_position.x", "delta_position.y", "delta_position.z", "delta_rotation.x",
    "delta_rotation.y", "delta_rotation.z"};

static const char *manifold_field(uint32_t word) {
    CAIRN_ASSERT(word < MANIFOLD_WORDS);
    static const char *const point_words[POINT_WORDS] = {"point.arm_a.x", "point.arm_a.y",
        "point.arm_a.z", "point.arm_b.x", "point.arm_b.y", "point.arm_b.z", "point.separation"};
    static const char *const normal[MANIFOLD_WORD(points)] = {
        "normal.x", "normal.y", "normal.z", "point_count"};
    if (word < MANIFOLD_WORD(points)) {
        return normal[word];
    }
    if (word < MANIFOLD_WORD(friction)) {
        return point_words[(word - MANIFOLD_WORD(points)) % POINT_WORDS];
    }
    if (word < MANIFOLD_WORD(rotation_a)) {
        static const char *const material[] = {"friction", "restitution", "static_friction",
            "rolling_resistance", "spin_resistance", "surface_velocity.x", "surface_velocity.y",
            "surface_velocity.z"};
        return material[word - MANIFOLD_WORD(friction)];
    }
    return word < MANIFOLD_WORD(rotation_b) ? "rotation_a" : "rotation_b";
}

uint32_t cairn_array_words(uint32_t array) {
    if (array < CAIRN_ARRAY_COUNT) {
        return cairn_field_table_of((cairn_array)array)->word_count;
    }
    if (array == CAIRN_TRACE_ARRAY_SOLVER) {
        return SOLVER_WORDS;
    }
    return array == CAIRN_TRACE_ARRAY_MANIFOLDS ? MANIFOLD_WORDS : 0;
}

const char *cairn_array_section_name(uint32_t array) {
    if (array < CAIRN_ARRAY_COUNT) {
        return cairn_section_name(cairn_field_table_of((cairn_array)array)->section);
    }
    if (array == CAIRN_TRACE_ARRAY_SOLVER) {
        return "solver";
    }
    return array == CAIRN_TRACE_ARRAY_MANIFOLDS ? "manifolds" : "unknown";
}

const char *cairn_array_field_name(uint32_t array, uint32_t word) {
    if (word >= cairn_array_words(array)) {
        return "unknown";
    }
    if (array < CAIRN_ARRAY_COUNT) {
        return cairn_field_table_of((cairn_array)array)->fields[word].name;
    }
    return array == CAIRN_TRACE_ARRAY_SOLVER ? solver_fields[word] : manifold_field(word);
}

bool cairn_array_field_is_float(uint32_t array, uint32_t word) {
    if (word >= cairn_array_words(array)) {
        return false;
    }
    return array >= CAIRN_ARRAY_COUNT ||
           cairn_field_table_of((cairn_array)array)->fields[word].kind != CAIRN_FIELD_WORD;
}

static uint32_t element_body_slots(
    const cairn_world *world, uint32_t array, uint32_t element, uint32_t bodies[2]) {
    const cairn_state *state = &world->state;
    const cairn_settings *settings = state->settings;
    switch (array) {
    case CAIRN_ARRAY_BODY_IDS:
    case CAIRN_ARRAY_MOTIONS:
    case CAIRN_ARRAY_REFERENCE_POSES:
    case CAIRN_ARRAY_BODIES:
    case CAIRN_ARRAY_SLEEP:
    case CAIRN_TRACE_ARRAY_SOLVER:
        bodies[0] = element;
        return 1;
    case CAIRN_ARRAY_SHAPES:
        bodies[0] = element < settings->shape_slots ? state->shapes[element].body : 0;
        return element < settings->shape_slots ? 1 : 0;
    case CAIRN_ARRAY_JOINTS:
        if (element >= settings->joint_slots) {
            return 0;
        }
        bodies[0] = cairn_id_index(state->joints[element].body_a);
        bodies[1] = cairn_id_index(state->joints[element].body_b);
        return 2;
    case CAIRN_ARRAY_CONTACTS:
    case CAIRN_TRACE_ARRAY_MANIFOLDS:
        if (element >= settings->contact_count) {
            return 0;
        }
        bodies[0] = cairn_id_index(state->contacts[element].body_a);
        bodies[1] = cairn_id_index(state->contacts[element].body_b);
        return 2;
    case CAIRN_ARRAY_CONTACT_EVENTS:
        if (element >= settings->contact_event_count) {
            return 0;
        }
        bodies[0] = cairn_id_index(state->contact_events[element].body_a);
        bodies[1] = cairn_id_index(state->contact_events[element].body_b);
        return 2;
    case CAIRN_ARRAY_BODY_EVENTS:
        if (element >= settings->body_event_count) {
            return 0;
        }
        bodies[0] = cairn_id_index(state->body_events[element].body);
        return 1;
    case CAIRN_ARRAY_JOINT_DRIVES:
        return element < settings->joint_drive_count
                   ? element_body_slots(
                         world, CAIRN_ARRAY_JOINTS, state->joint_drives[element].joint, bodies)
                   : 0;
    case CAIRN_ARRAY_JOINT_EVENTS:
        if (element >= settings->joint_event_count) {
            return 0;
        }
        bodies[0] = cairn_id_index(state->joint_events[element].body_a);
        bodies[1] = cairn_id_index(state->joint_events[element].body_b);
        return 2;
    default:
        return 0;
    }
}

uint32_t cairn_element_bodies(
    const cairn_world *world, uint32_t array, uint32_t element, uint32_t bodies[2]) {
    const uint32_t count = element_body_slots(world, array, element, bodies);
    for (uint32_t i = 0; i < count; ++i) {
        bodies[i] = bodies[i] < world->state.settings->body_slots
                        ? cairn_slot_id(world->state.body_ids, bodies[i])
                        : CAIRN_ID_NULL;
    }
    return count;
}

// The differences found so far, in one of two forms.
typedef struct collector {
    cairn_difference *fields; // NULL: `words` is used
    cairn_word_difference *words;
    uint32_t capacity;
    uint32_t count;
} collector;

static void compare_words(collector *found, uint32_t array, uint32_t element, const uint32_t *a,
    const uint32_t *b, uint32_t words) {
    CAIRN_ASSERT(words > 0);
    for (uint32_t i = 0; i < words; ++i) {
        if (a[i] == b[i]) {
            continue;
        }
        if (found->count < found->capacity && found->fields != NULL) {
            const cairn_field_table *table = cairn_field_table_of((cairn_array)array);
            found->fields[found->count] = (cairn_difference){.section = table->section,
                .element = element,
                .field = table->fields[i].name,
                .is_float = table->fields[i].kind != CAIRN_FIELD_WORD ? 1 : 0,
                .bits_a = a[i],
                .bits_b = b[i]};
        } else if (found->count < found->capacity) {
            found->words[found->count] = (cairn_word_difference){
                .array = array, .element = element, .word = i, .bits_a = a[i], .bits_b = b[i]};
        }
        found->count += 1;
    }
}

static void compare_array(
    collector *found, const cairn_state *a, const cairn_state *b, cairn_array array) {
    const uint32_t count_a = cairn_array_count(a->settings, array);
    const uint32_t count_b = cairn_array_count(b->settings, array);
    const uint32_t count = count_a > count_b ? count_a : count_b;
    uint32_t words_a[CAIRN_ELEMENT_WORDS_MAX];
    uint32_t words_b[CAIRN_ELEMENT_WORDS_MAX];
    for (uint32_t i = 0; i < count; ++i) {
        cairn_state_read_element(a, array, i, words_a);
        cairn_state_read_element(b, array, i, words_b);
        compare_words(found, array, i, words_a, words_b, cairn_array_words(array));
    }
}

uint32_t cairn_world_diff(
    const cairn_world *a, const cairn_world *b, cairn_difference *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    collector found = {.fields = out, .capacity = capacity};
    for (cairn_section section = 0; section < CAIRN_SECTION_COUNT; ++section) {
        for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
            if (cairn_field_table_of(array)->section == section) {
                compare_array(&found, &a->state, &b->state, array);
            }
        }
    }
    return found.count;
}

static collector compare_worlds(
    const cairn_world *a, const cairn_world *b, cairn_word_difference *out, uint32_t capacity) {
    collector found = {.words = out, .capacity = capacity};
    CAIRN_ASSERT(out != NULL || capacity == 0);
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        compare_array(&found, &a->state, &b->state, array);
    }
    return found;
}

uint32_t cairn_world_diff_words(
    const cairn_world *a, const cairn_world *b, cairn_word_difference *out, uint32_t capacity) {
    return compare_worlds(a, b, out, capacity).count;
}

static void compare_scratch(collector *found, uint32_t array, const uint32_t *a, uint32_t count_a,
    const uint32_t *b, uint32_t count_b) {
    static const uint32_t zero[MANIFOLD_WORDS];
    const uint32_t size = cairn_array_words(array);
    CAIRN_ASSERT(size > 0 && size <= MANIFOLD_WORDS);
    const uint32_t count = count_a > count_b ? count_a : count_b;
    for (uint32_t i = 0; i < count; ++i) {
        compare_words(found, array, i, i < count_a ? a + (size_t)i * size : zero,
            i < count_b ? b + (size_t)i * size : zero, size);
    }
}

uint32_t cairn_frame_diff(
    const cairn_frame *a, const cairn_frame *b, cairn_word_difference *out, uint32_t capacity) {
    const cairn_settings *settings_a = a->world->state.settings;
    const cairn_settings *settings_b = b->world->state.settings;
    collector found = compare_worlds(a->world, b->world, out, capacity);
    compare_scratch(&found, CAIRN_TRACE_ARRAY_SOLVER, a->solver, settings_a->body_slots, b->solver,
        settings_b->body_slots);
    compare_scratch(&found, CAIRN_TRACE_ARRAY_MANIFOLDS, a->manifolds, settings_a->contact_count,
        b->manifolds, settings_b->contact_count);
    return found.count;
}

// Maps the bits of floats to integers of the same order.
static int64_t ordinal(uint32_t bits) {
    const int64_t magnitude = bits & 0x7fffffffu;
    return (bits & 0x80000000u) != 0 ? -1 - magnitude : magnitude;
}

uint32_t cairn_float_ulps(uint32_t bits_a, uint32_t bits_b) {
    if ((bits_a & 0x7fffffffu) > 0x7f800000u || (bits_b & 0x7fffffffu) > 0x7f800000u) {
        return UINT32_MAX;
    }
    const int64_t apart = ordinal(bits_a) - ordinal(bits_b);
    return (uint32_t)(apart < 0 ? -apart : apart);
}
