// SPDX-License-Identifier: MIT
#include "sim/state/awake_set.h"

#include "base/assert.h"
#include "sim/task/task_scheduler.h"

// So many words of marks, of 64 bodies each, are the main thread's.
#define WORDS_SHARED_MIN 16

// A body enters the awake set by being woken or given a velocity, which marks it.
void cairn_awake_set_list(cairn_world *world) {
    cairn_awake_set *awake = world->awake_set;
    const uint32_t count = world->state.settings->body_slots;
    awake->body_count = 0;
    for (uint32_t i = cairn_awake_mark_next(world, 0); i < count;
         i = cairn_awake_mark_next(world, i + 1)) {
        if (cairn_body_in_awake_set(world, i)) {
            awake->bodies[awake->body_count++] = i;
        } else {
            cairn_awake_mark_remove(world, i);
        }
    }
    CAIRN_ASSERT(awake->body_count <= count);
}

static void remove_marks(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const uint32_t count = world->state.settings->body_slots;
    for (uint32_t word = begin; word < end; ++word) {
        for (uint64_t left = world->awake_marks[word]; left != 0; left &= left - 1) {
            const uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (slot < count && !cairn_body_in_awake_set(world, slot)) {
                world->awake_marks[word] &= ~(UINT64_C(1) << slot % 64);
            }
        }
    }
}

// In two passes, of which all workers do the one that reads the bodies.
static void list_shared(cairn_world *world) {
    cairn_awake_set *awake = world->awake_set;
    const uint32_t count = world->state.settings->body_slots;
    const uint32_t words = (count + 63) / 64;
    cairn_task_scheduler_split(world->scheduler, remove_marks, world, 0, words, WORDS_SHARED_MIN);
    awake->body_count = 0;
    for (uint32_t word = 0; word < words; ++word) {
        for (uint64_t left = world->awake_marks[word]; left != 0; left &= left - 1) {
            const uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (slot < count) {
                awake->bodies[awake->body_count++] = slot;
            }
        }
    }
}

void cairn_awake_set_list_in_session(cairn_world *world) {
    if (cairn_task_scheduler_workers(world->scheduler) < 2) {
        cairn_awake_set_list(world);
    } else {
        list_shared(world);
    }
}
