// SPDX-License-Identifier: MIT
#include "compress/companions.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

// How far a leader carries others along, and how far from each other neighbours may be. Of two
// neighbours that slip as much, the nearer one is better: DISTANCE_COST is slip for a length, both
// squared.
#define LEADER_RADIUS_M 2.15f
#define NEIGHBOUR_RADIUS_M 0.82f
#define CELL_SIDE_M 1.1f
#define DISTANCE_COST (0.03f * 0.03f)
#define FAR 1e30f

#define NONE UINT32_MAX
enum {
    HEADS_MIN = 64,
    LEADERS_MAX = 8,     // that are looked at
    CANDIDATES_MAX = 64, // that are looked at for one body, so that a pile of bodies in one place
                         // takes no longer than others
};

// A coded body in the list of its cell.
typedef struct cell_entry {
    uint32_t cell;
    uint32_t next; // the one before it in its list, which cells may share; NONE
} cell_entry;

struct cairn_companion_finder {
    const cairn_body_motion *motions;
    uint32_t capacity;
    uint32_t head_count;
    uint32_t leaders[LEADERS_MAX];
    uint32_t leader_count;
    float radius_squared; // steps
    float near_squared;   // nearer bodies count no more
    float leader_radius_squared;
    uint64_t cells_per_step; // in 2^-32
    uint32_t mask;           // heads in use, less one
    uint32_t *heads;         // the newest body of a list; the first two again after the last
    cell_entry *entries;     // by rank
};

cairn_companion_finder *cairn_companion_finder_create(uint32_t capacity) {
    cairn_companion_finder *finder = calloc(1, sizeof *finder);
    if (finder == NULL) {
        return NULL;
    }
    uint32_t heads = HEADS_MIN;
    while (heads < 2 * capacity) {
        heads *= 2;
    }
    finder->capacity = capacity;
    finder->head_count = heads + 2;
    finder->heads = malloc(finder->head_count * sizeof *finder->heads);
    finder->entries = malloc(capacity * sizeof *finder->entries);
    if (finder->heads == NULL || finder->entries == NULL) {
        cairn_companion_finder_destroy(finder);
        return NULL;
    }
    return finder;
}

size_t cairn_companion_finder_bytes(const cairn_companion_finder *finder) {
    return sizeof *finder + finder->head_count * sizeof *finder->heads +
           finder->capacity * sizeof *finder->entries;
}

void cairn_companion_finder_destroy(cairn_companion_finder *finder) {
    if (finder != NULL) {
        free(finder->heads);
        free(finder->entries);
        free(finder);
    }
}

static float square(float x) {
    return x * x;
}

void cairn_companion_finder_start(cairn_companion_finder *finder, const cairn_body_motion *motions,
    uint32_t count, float step_m) {
    CAIRN_ASSERT(count <= finder->capacity);
    finder->motions = motions;
    finder->leader_count = 0;
    finder->radius_squared = square(NEIGHBOUR_RADIUS_M / step_m);
    finder->near_squared = 0.1f * finder->radius_squared;
    finder->leader_radius_squared = square(LEADER_RADIUS_M / step_m);
    finder->cells_per_step = (uint64_t)(4294967296.0f * (step_m / CELL_SIDE_M));
    // Some two heads for each body to come, so that clearing them costs no more than these.
    uint32_t heads = HEADS_MIN;
    while (heads < count) {
        heads *= 2;
    }
    finder->mask = heads - 1;
    memset(finder->heads, 0xff, (heads + 2) * sizeof *finder->heads); // NONE
}

// Of the cell with these numbers; different for all cells around one.
static inline uint32_t name_of(uint32_t x, uint32_t y, uint32_t z) {
    return x ^ y << 11 ^ z << 22;
}

// Cells in a row along x have heads in a row.
static inline uint32_t row_of(uint32_t y, uint32_t z) {
    const uint32_t hash = y * 73856093u ^ z * 19349663u;
    return hash ^ hash >> 16;
}

// Where a place lies along an axis of the grid, in 2^-32 cells.
static inline uint64_t along_grid(const cairn_companion_finder *finder, int32_t place) {
    const uint32_t from_end = (uint32_t)place + UINT32_C(0x40000000); // places are within 1e9
    return from_end * finder->cells_per_step;
}

static inline uint32_t cell_along(const cairn_companion_finder *finder, int32_t place) {
    return (uint32_t)(along_grid(finder, place) >> 32);
}

// Of the two cells along an axis that are nearest to a place the first.
static inline uint32_t first_cell_along(const cairn_companion_finder *finder, int32_t place) {
    return (uint32_t)((along_grid(finder, place) - (UINT64_C(1) << 31)) >> 32);
}

void cairn_companion_finder_add(cairn_companion_finder *finder, uint32_t rank) {
    const cairn_body_motion *motion = &finder->motions[rank];
    if (motion->leader) {
        if (finder->leader_count < LEADERS_MAX) {
            finder->leaders[finder->leader_count++] = rank;
        }
        return;
    }
    const uint32_t x = cell_along(finder, motion->place[0]);
    const uint32_t y = cell_along(finder, motion->place[1]);
    const uint32_t z = cell_along(finder, motion->place[2]);
    const uint32_t head = (row_of(y, z) + x) & finder->mask;
    finder->entries[rank] = (cell_entry){.cell = name_of(x, y, z), .next = finder->heads[head]};
    finder->heads[head] = rank;
    if (head < 2) {
        finder->heads[finder->mask + 1 + head] = rank;
    }
}

// See cairn_companions.slips, squared. `way` leads from the other body to this one.
CAIRN_VEC4_INLINE float slip_squared(
    cairn_vec4 step, const cairn_body_motion *other, cairn_vec4 way) {
    const cairn_vec4 relative = step - other->step;
    return cairn_vec4_length_squared(cairn_arm_swing(other->swing, way - relative) - relative);
}

static float slip_of(const cairn_body_motion *body, const cairn_body_motion *other) {
    const cairn_vec4 way = cairn_steps_between(other->place, body->place);
    return cairn_float_sqrt(slip_squared(body->step, other, way));
}

static void find_leader(
    const cairn_companion_finder *finder, const cairn_body_motion *body, cairn_companions *found) {
    float nearest = finder->leader_radius_squared;
    for (uint32_t i = 0; i < finder->leader_count; ++i) {
        const cairn_body_motion *other = &finder->motions[finder->leaders[i]];
        const float squared =
            cairn_vec4_length_squared(cairn_steps_between(other->place, body->place));
        if (squared < nearest) {
            nearest = squared;
            found->leader = other;
        }
    }
    if (found->leader != NULL) {
        found->leader_slip = slip_of(body, found->leader);
    }
}

// The bodies in all cells around, by rank.
typedef struct candidates {
    uint32_t count;
    uint32_t ranks[CANDIDATES_MAX];
} candidates;

static void collect_around(
    const cairn_companion_finder *finder, const cairn_body_motion *body, candidates *found) {
    const uint32_t x = first_cell_along(finder, body->place[0]);
    const uint32_t y = first_cell_along(finder, body->place[1]);
    const uint32_t z = first_cell_along(finder, body->place[2]);
    const cell_entry *entries = finder->entries;
    uint32_t count = 0;
    uint32_t left = CANDIDATES_MAX;
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t row_y = y + (i & 1), row_z = z + (i >> 1);
        const uint32_t *heads = &finder->heads[(row_of(row_y, row_z) + x) & finder->mask];
        const uint32_t name = name_of(x, row_y, row_z);
        const uint32_t name_1 = name_of(x + 1, row_y, row_z);
        for (uint32_t rank = heads[0]; rank != NONE && left > 0;
             rank = entries[rank].next, --left) {
            found->ranks[count] = rank;
            count += entries[rank].cell == name; // else it is found in its own cell
        }
        for (uint32_t rank = heads[1]; rank != NONE && left > 0;
             rank = entries[rank].next, --left) {
            found->ranks[count] = rank;
            count += entries[rank].cell == name_1;
        }
    }
    found->count = count;
}

static void look_around(
    const cairn_companion_finder *finder, const cairn_body_motion *body, cairn_companions *found) {
    candidates around;
    collect_around(finder, body, &around);
    const cairn_int4 place = body->place;
    const cairn_vec4 step = body->step;
    uint64_t best[2] = {UINT64_MAX, UINT64_MAX}; // score, which is not negative, and rank
    cairn_vec4 surprise = cairn_vec4_zero();
    cairn_vec4 even = cairn_vec4_zero();
    float weights = 0.0f;
    for (uint32_t i = 0; i < around.count; ++i) {
        const cairn_body_motion *other = &finder->motions[around.ranks[i]];
        const cairn_vec4 way = cairn_steps_between(other->place, place);
        const float squared = cairn_vec4_length_squared(way);
        const float weight = finder->radius_squared / (squared + finder->near_squared);
        weights = weights + weight;
        surprise = cairn_vec4_add_scaled(surprise, other->surprise, weight);
        even = even + other->surprise;
        if (squared < finder->radius_squared) {
            const float score = slip_squared(step, other, way) + DISTANCE_COST * squared;
            const uint64_t scored = (uint64_t)cairn_float_bits(score) << 32 | around.ranks[i];
            const uint64_t worse = scored > best[0] ? scored : best[0];
            best[0] = scored < best[0] ? scored : best[0];
            best[1] = worse < best[1] ? worse : best[1];
        }
    }
    for (uint32_t k = 0; k < 2 && best[k] != UINT64_MAX; ++k) {
        found->neighbours[k] = &finder->motions[(uint32_t)best[k]];
        const cairn_vec4 way = cairn_steps_between(found->neighbours[k]->place, place);
        const float score = cairn_float_of_bits((uint32_t)(best[k] >> 32));
        const float squared = score - DISTANCE_COST * cairn_vec4_length_squared(way);
        found->slips[k] = cairn_float_sqrt(cairn_float_max(squared, 0.0f));
    }
    found->around = around.count;
    if (around.count > 0) {
        found->surprise = surprise * cairn_vec4_all(1.0f / weights);
        found->slope = found->surprise - even * cairn_vec4_all(1.0f / (float)around.count);
    }
}

void cairn_companion_finder_find(
    const cairn_companion_finder *finder, uint32_t rank, cairn_companions *found) {
    *found = (cairn_companions){.leader_slip = FAR, .slips = {FAR, FAR}};
    const cairn_body_motion *motion = &finder->motions[rank];
    if (!motion->leader) {
        find_leader(finder, motion, found);
    }
    look_around(finder, motion, found);
}
