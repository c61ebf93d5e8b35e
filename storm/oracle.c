// SPDX-License-Identifier: MIT
#include "storm/oracle.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/snapshot.h"
#include "compress/frame.h"

cairn_status cairn_oracle_create(uint32_t body_capacity, cairn_oracle **out) {
    *out = NULL;
    cairn_oracle *oracle = calloc(1, sizeof *oracle);
    if (oracle == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    oracle->body_capacity = body_capacity;
    const size_t tick_size = body_capacity * sizeof *oracle->bodies;
    const size_t room = CAIRN_ORACLE_BYTES_MAX / tick_size + 1;
    oracle->whole_ticks = room < CAIRN_ORACLE_TICKS ? (uint32_t)room : CAIRN_ORACLE_TICKS;
    oracle->bodies = malloc(oracle->whole_ticks * tick_size);
    oracle->scratch = malloc(body_capacity * sizeof *oracle->scratch);
    if (oracle->bodies == NULL || oracle->scratch == NULL) {
        cairn_oracle_destroy(oracle);
        return CAIRN_OUT_OF_MEMORY;
    }
    cairn_oracle_forget(oracle);
    *out = oracle;
    return CAIRN_OK;
}

void cairn_oracle_destroy(cairn_oracle *oracle) {
    if (oracle != NULL) {
        free(oracle->bodies);
        free(oracle->scratch);
        free(oracle);
    }
}

void cairn_oracle_forget(cairn_oracle *oracle) {
    for (uint32_t i = 0; i < CAIRN_ORACLE_TICKS; i++) {
        oracle->ticks[i].tick = UINT64_MAX;
    }
}

// The tick's entry. The tick whose bodies it overwrites keeps only its root.
static cairn_oracle_tick *entry_of(cairn_oracle *oracle, uint64_t tick) {
    if (tick >= oracle->whole_ticks) {
        oracle->ticks[(tick - oracle->whole_ticks) % CAIRN_ORACLE_TICKS].whole = false;
    }
    return &oracle->ticks[tick % CAIRN_ORACLE_TICKS];
}

void cairn_oracle_record(cairn_oracle *oracle, const cairn_world *world) {
    const uint64_t tick = cairn_world_tick(world);
    cairn_snapshot_body *bodies =
        oracle->bodies + (size_t)(tick % oracle->whole_ticks) * oracle->body_capacity;
    const uint32_t count =
        cairn_world_snapshot_bodies(world, oracle->scratch, bodies, oracle->body_capacity);
    CAIRN_ASSERT(count <= oracle->body_capacity);
    *entry_of(oracle, tick) = (cairn_oracle_tick){.tick = tick,
        .root = cairn_world_hash_read(world).full,
        .whole = true,
        .body_count = count,
        .bodies = bodies};
}

void cairn_oracle_record_root(cairn_oracle *oracle, uint64_t tick, cairn_hash128 root) {
    *entry_of(oracle, tick) = (cairn_oracle_tick){.tick = tick, .root = root};
}

const cairn_oracle_tick *cairn_oracle_find(const cairn_oracle *oracle, uint64_t tick) {
    const cairn_oracle_tick *t = &oracle->ticks[tick % CAIRN_ORACLE_TICKS];
    return t->tick == tick ? t : NULL;
}

// Snapshots carry rounded poses of bodies that may move, and no velocities.
static bool same_body(const cairn_quantisation *quantisation, const cairn_snapshot_body *expected,
    const cairn_snapshot_body *body) {
    const cairn_quantised_body rounded = cairn_quantise(
        quantisation, (cairn_pose){.position = expected->position, .rotation = expected->rotation});
    const bool stands = cairn_snapshot_body_is_static(expected->flags);
    const cairn_pose pose = stands ? (cairn_pose){expected->position, expected->rotation}
                                   : cairn_dequantise(quantisation, &rounded);
    return body->id == expected->id && body->flags == expected->flags &&
           body->user == expected->user &&
           memcmp(&body->position, &pose.position, sizeof pose.position) == 0 &&
           memcmp(&body->rotation, &pose.rotation, sizeof pose.rotation) == 0;
}

// They are in order of id index.
const cairn_snapshot_body *cairn_oracle_find_body(
    const cairn_snapshot_body *bodies, uint32_t count, cairn_body_id body) {
    uint32_t low = 0;
    for (uint32_t high = count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (cairn_id_index(bodies[middle].id) < cairn_id_index(body)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && bodies[low].id == body ? &bodies[low] : NULL;
}

const cairn_snapshot_body *cairn_oracle_body(const cairn_oracle_tick *tick, cairn_body_id body) {
    return cairn_oracle_find_body(tick->bodies, tick->body_count, body);
}

bool cairn_oracle_body_equal(const cairn_oracle_tick *tick, const cairn_quantisation *quantisation,
    const cairn_snapshot_body *body) {
    const cairn_snapshot_body *expected = cairn_oracle_body(tick, body->id);
    return expected != NULL && same_body(quantisation, expected, body);
}

bool cairn_oracle_bodies_equal(const cairn_oracle_tick *tick,
    const cairn_quantisation *quantisation, const cairn_snapshot_body *bodies,
    uint32_t body_count) {
    bool equal = body_count == tick->body_count;
    for (uint32_t i = 0; equal && i < body_count; ++i) {
        equal = same_body(quantisation, &tick->bodies[i], &bodies[i]);
    }
    return equal;
}
