// SPDX-License-Identifier: MIT

// A copy of a world in the middle of a step, and the comparison of two of them word by word.

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim/debug/trace.h"
#include "sim/debug/trace_parts.h"
#include "sim/state/fields.h"
#include "sim/state/hash_cache.h"

struct cairn_frame {
    cairn_world *world;
    uint32_t body_slots;
    uint32_t contact_count;
    uint32_t *solver;    // by body slot; zero if impulses do not move the body
    uint32_t *manifolds; // by contact; zero if it is not active
};

typedef struct collector {
    cairn_word_difference *out;
    uint32_t capacity;
    uint32_t count;
} collector;

static void compare_words(collector *found, uint32_t array, uint32_t element, const uint32_t *a,
    const uint32_t *b, uint32_t words) {
    for (uint32_t i = 0; i < words; ++i) {
        if (a[i] == b[i]) {
            continue;
        }
        if (found->count < found->capacity) {
            found->out[found->count] = (cairn_word_difference){
                .array = array, .element = element, .word = i, .bits_a = a[i], .bits_b = b[i]};
        }
        found->count += 1;
    }
}

// The element's words, zero where it does not exist: what a free slot holds.
static void words_of(const cairn_state *state, cairn_array array, uint32_t index,
    uint32_t words[CAIRN_ELEMENT_WORDS_MAX]) {
    const size_t size = cairn_array_element_size(array);
    CAIRN_ASSERT(size <= CAIRN_ELEMENT_WORDS_MAX * sizeof words[0]);
    memset(words, 0, size);
    if (index < cairn_array_count(state->settings, array) && cairn_state_has(state, array, index)) {
        memcpy(words, (const unsigned char *)cairn_state_array(state, array) + index * size, size);
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
        words_of(a, array, i, words_a);
        words_of(b, array, i, words_b);
        compare_words(found, array, i, words_a, words_b, cairn_array_words(array));
    }
}

static collector compare_worlds(
    const cairn_world *a, const cairn_world *b, cairn_word_difference *out, uint32_t capacity) {
    collector found = {.out = out, .capacity = capacity};
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        compare_array(&found, &a->state, &b->state, array);
    }
    return found;
}

uint32_t cairn_world_diff_words(
    const cairn_world *a, const cairn_world *b, cairn_word_difference *out, uint32_t capacity) {
    return compare_worlds(a, b, out, capacity).count;
}

static bool allocate_solver_words(cairn_frame *frame, const cairn_world *world) {
    const uint32_t size = CAIRN_TRACE_SOLVER_WORDS;
    frame->body_slots = world->state.settings->body_slots;
    frame->contact_count = world->state.settings->contact_count;
    frame->solver = calloc((size_t)frame->body_slots + 1, size * sizeof(uint32_t));
    frame->manifolds =
        calloc((size_t)frame->contact_count + 1, CAIRN_TRACE_MANIFOLD_WORDS * sizeof(uint32_t));
    return frame->solver != NULL && frame->manifolds != NULL;
}

static void copy_solver_words(cairn_frame *frame, const cairn_world *world) {
    uint32_t words[CAIRN_TRACE_MANIFOLD_WORDS];
    CAIRN_ASSERT(frame->body_slots == world->state.settings->body_slots);
    for (uint32_t i = 0; i < frame->body_slots; ++i) {
        if (cairn_trace_solver_words(world, i, words)) {
            memcpy(frame->solver + (size_t)i * CAIRN_TRACE_SOLVER_WORDS, words,
                CAIRN_TRACE_SOLVER_WORDS * sizeof words[0]);
        }
    }
    for (uint32_t i = 0; i < cairn_trace_active_count(world); ++i) {
        const size_t contact = cairn_trace_manifold_words(world, i, words);
        CAIRN_ASSERT(contact < frame->contact_count);
        memcpy(frame->manifolds + contact * CAIRN_TRACE_MANIFOLD_WORDS, words, sizeof words);
    }
}

// NULL if there is no memory.
static cairn_frame *create_frame(const cairn_world *world, bool solving) {
    cairn_frame *frame = calloc(1, sizeof *frame);
    if (frame == NULL) {
        return NULL;
    }
    if (!allocate_solver_words(frame, world) ||
        cairn_world_fork(world, &frame->world) != CAIRN_OK) {
        cairn_frame_destroy(frame);
        return NULL;
    }
    // A step marks what its stages wrote only when it ends.
    cairn_hash_cache_mark_all(frame->world);
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
    frame_request *f = (frame_request *)hook;
    if (f->next++ == f->wanted) {
        CAIRN_ASSERT(f->frame == NULL);
        f->frame = create_frame(world, cairn_trace_solving(stage));
    }
}

cairn_frame *cairn_world_step_frozen(
    cairn_world *world, const cairn_command *commands, uint32_t count, uint32_t point) {
    frame_request f = {.hook = {.observe = create_frame_at_point}, .wanted = point};
    cairn_world_step_hooked(world, commands, count, &f.hook);
    return f.frame;
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

static void compare_scratch(collector *found, uint32_t array, const uint32_t *a, uint32_t count_a,
    const uint32_t *b, uint32_t count_b) {
    static const uint32_t zero[CAIRN_TRACE_MANIFOLD_WORDS];
    const uint32_t size = cairn_array_words(array);
    CAIRN_ASSERT(size > 0 && size <= CAIRN_TRACE_MANIFOLD_WORDS);
    const uint32_t count = count_a > count_b ? count_a : count_b;
    for (uint32_t i = 0; i < count; ++i) {
        compare_words(found, array, i, i < count_a ? a + (size_t)i * size : zero,
            i < count_b ? b + (size_t)i * size : zero, size);
    }
}

uint32_t cairn_frame_diff(
    const cairn_frame *a, const cairn_frame *b, cairn_word_difference *out, uint32_t capacity) {
    collector found = compare_worlds(a->world, b->world, out, capacity);
    compare_scratch(
        &found, CAIRN_TRACE_ARRAY_SOLVER, a->solver, a->body_slots, b->solver, b->body_slots);
    compare_scratch(&found, CAIRN_TRACE_ARRAY_MANIFOLDS, a->manifolds, a->contact_count,
        b->manifolds, b->contact_count);
    return found.count;
}
