// SPDX-License-Identifier: MIT
#include "sim/collide/joint_filter.h"

#include <string.h>

#include "base/assert.h"
#include "sim/state/slots.h"
#include "sim/state/state_array.h"

static uint64_t body_key(uint32_t a, uint32_t b) {
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static void sift_down(uint64_t *keys, uint32_t root, uint32_t count) {
    CAIRN_ASSERT(root <= count);
    for (;;) {
        uint32_t child = 2 * root + 1;
        if (child >= count) {
            return;
        }
        child += child + 1 < count && keys[child] < keys[child + 1] ? 1u : 0u;
        if (keys[root] >= keys[child]) {
            return;
        }
        const uint64_t swapped = keys[root];
        keys[root] = keys[child];
        keys[child] = swapped;
        root = child;
    }
}

// Heap sort: in place, and O(n log n) for every order of joints.
static void sort_keys(uint64_t *keys, uint32_t count) {
    for (uint32_t i = count / 2; i > 0; --i) {
        sift_down(keys, i - 1, count);
    }
    for (uint32_t end = count; end > 1; --end) {
        const uint64_t greatest = keys[0];
        keys[0] = keys[end - 1];
        keys[end - 1] = greatest;
        sift_down(keys, 0, end - 1);
        CAIRN_ASSERT(end == count || keys[end - 1] <= keys[end]);
    }
}

void cairn_joint_filter_build(cairn_joint_filter *filter, const cairn_state *state) {
    filter->pair_count = 0;
    filter->joint_count = 0;
    memset(filter->jointed, 0, state->settings->body_capacity * sizeof *filter->jointed);
    for (uint32_t i = 0; i < state->settings->joint_slots; ++i) {
        const cairn_joint *joint = &state->joints[i];
        if (!cairn_state_has(state, CAIRN_ARRAY_JOINTS, i)) {
            continue;
        }
        const uint32_t a = cairn_id_index(joint->body_a);
        const uint32_t b = cairn_id_index(joint->body_b);
        CAIRN_ASSERT(a != b && a < state->settings->body_slots && b < state->settings->body_slots);
        if (!body_enabled(&state->bodies[a]) || !body_enabled(&state->bodies[b])) {
            continue;
        }
        filter->joints[filter->joint_count++] =
            (cairn_joint_bodies){.joint = i, .body_a = a, .body_b = b, .kind = joint->kind};
        filter->jointed[a] = 1;
        filter->jointed[b] = 1;
        if (joint->collide_connected == 0) {
            filter->pairs[filter->pair_count++] = body_key(a, b);
        }
    }
    CAIRN_ASSERT(filter->joint_count <= state->settings->joint_capacity);
    sort_keys(filter->pairs, filter->pair_count);
}

bool cairn_joint_filter_rejects(
    const cairn_joint_filter *filter, uint32_t body_a, uint32_t body_b) {
    const uint64_t key = body_key(body_a, body_b);
    uint32_t lower = 0;
    uint32_t upper = filter->pair_count;
    while (lower < upper) {
        const uint32_t middle = lower + (upper - lower) / 2;
        if (filter->pairs[middle] < key) {
            lower = middle + 1;
        } else {
            upper = middle;
        }
    }
    return lower < filter->pair_count && filter->pairs[lower] == key;
}
