// SPDX-License-Identifier: MIT
#include "compress/companions.h"

#include <stdlib.h>

#include "base/assert.h"

// How far a leader carries others along, and how far from each other neighbours may be. Of two
// neighbours that slip as much, the nearer one is better: DISTANCE_COST is slip for a length.
#define LEADER_RADIUS_M 2.15f
#define NEIGHBOUR_RADIUS_M 0.82f
#define CELL_SIDE_M NEIGHBOUR_RADIUS_M
#define DISTANCE_COST 0.03f
#define FAR 1e30f

#define NONE UINT32_MAX
enum {
    HEADS_MIN = 64,
    LEADERS_MAX = 8,     // that are looked at
    CANDIDATES_MAX = 64, // that are looked at for one body, so that a pile of bodies in one place
                         // takes no longer than others
};

// A coded body in the cell of the grid in which it lies, with all that the search reads.
typedef struct cell_entry {
    uint32_t cell;
    uint32_t next; // the one before it in its list, which cells may share; NONE
    int32_t place[3];
    cairn_vec3 step; // see cairn_body_motion
    cairn_quat swing;
    cairn_vec3 surprise;
    float surprise_size;
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
    uint32_t *heads;         // the newest body of a list
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
    finder->head_count = heads;
    finder->heads = malloc(heads * sizeof *finder->heads);
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
    for (uint32_t i = 0; i < heads; ++i) {
        finder->heads[i] = NONE;
    }
}

typedef struct cell {
    uint32_t x, y, z;
} cell;

static uint32_t cell_along(const cairn_companion_finder *finder, int32_t place) {
    const uint32_t from_end = (uint32_t)place + UINT32_C(0x40000000); // places are within 1e9
    return (uint32_t)(from_end * finder->cells_per_step >> 32);
}

static cell cell_of(const cairn_companion_finder *finder, const int32_t place[3]) {
    return (cell){
        cell_along(finder, place[0]), cell_along(finder, place[1]), cell_along(finder, place[2])};
}

// Different for all cells around one.
static uint32_t name_of(uint32_t x, uint32_t y, uint32_t z) {
    return x ^ y << 11 ^ z << 22;
}

// Cells in a row along x have heads in a row.
static uint32_t row_of(uint32_t y, uint32_t z) {
    const uint32_t hash = y * 73856093u ^ z * 19349663u;
    return hash ^ hash >> 16;
}

void cairn_companion_finder_add(cairn_companion_finder *finder, uint32_t rank) {
    const cairn_body_motion *motion = &finder->motions[rank];
    if (motion->leader) {
        if (finder->leader_count < LEADERS_MAX) {
            finder->leaders[finder->leader_count++] = rank;
        }
        return;
    }
    const cell c = cell_of(finder, motion->place);
    uint32_t *head = &finder->heads[(row_of(c.y, c.z) + c.x) & finder->mask];
    finder->entries[rank] = (cell_entry){.cell = name_of(c.x, c.y, c.z),
        .next = *head,
        .place = {motion->place[0], motion->place[1], motion->place[2]},
        .step = motion->step,
        .swing = motion->swing,
        .surprise = motion->surprise,
        .surprise_size = motion->surprise_size};
    *head = rank;
}

// See cairn_companions.slips, squared. `way` leads from the other body to this one.
static inline float slip_squared(
    cairn_vec3 step, cairn_vec3 other_step, cairn_quat other_swing, cairn_vec3 way) {
    const cairn_vec3 relative = cairn_vec3_sub(step, other_step);
    const cairn_vec3 swing = cairn_arm_swing(other_swing, cairn_vec3_sub(way, relative));
    return cairn_vec3_length_squared(cairn_vec3_sub(swing, relative));
}

static float slip_of(const cairn_body_motion *body, const cairn_body_motion *other) {
    const cairn_vec3 way = cairn_steps_between(other->place, body->place);
    return cairn_float_sqrt(slip_squared(body->step, other->step, other->swing, way));
}

static void find_leader(
    const cairn_companion_finder *finder, const cairn_body_motion *body, cairn_companions *found) {
    float nearest = finder->leader_radius_squared;
    for (uint32_t i = 0; i < finder->leader_count; ++i) {
        const cairn_body_motion *other = &finder->motions[finder->leaders[i]];
        const float squared =
            cairn_vec3_length_squared(cairn_steps_between(other->place, body->place));
        if (squared < nearest) {
            nearest = squared;
            found->leader = other;
        }
    }
    if (found->leader != NULL) {
        found->leader_slip = slip_of(body, found->leader);
    }
}

// Of the bodies in all cells around.
typedef struct search {
    uint32_t left;    // that may be looked at
    uint64_t best[2]; // score, a float that is not negative, in the upper half; rank
    uint32_t around;
    cairn_vec3 surprise;
    float surprise_size;
    float weight; // sum
} search;

static inline void search_cell(const cairn_companion_finder *finder, const cairn_body_motion *body,
    uint32_t head, uint32_t name, search *s) {
    for (uint32_t i = head; i != NONE && s->left > 0; s->left--) {
        const cell_entry *other = &finder->entries[i];
        const uint32_t rank = i;
        i = other->next;
        if (other->cell != name) {
            continue; // it is found in its own cell
        }
        s->around++;
        const cairn_vec3 way = cairn_steps_between(other->place, body->place);
        const float squared = cairn_vec3_length_squared(way);
        const float weight = finder->radius_squared / (squared + finder->near_squared);
        s->weight = s->weight + weight;
        s->surprise = cairn_vec3_add_scaled(s->surprise, other->surprise, weight);
        s->surprise_size = s->surprise_size + weight * other->surprise_size;
        if (squared < finder->radius_squared) {
            const float score = slip_squared(body->step, other->step, other->swing, way) +
                                DISTANCE_COST * DISTANCE_COST * squared;
            const uint64_t scored = (uint64_t)cairn_float_bits(score) << 32 | rank;
            const uint64_t worse = scored > s->best[0] ? scored : s->best[0];
            s->best[0] = scored < s->best[0] ? scored : s->best[0];
            s->best[1] = worse < s->best[1] ? worse : s->best[1];
        }
    }
}

static void look_around(
    const cairn_companion_finder *finder, const cairn_body_motion *body, cairn_companions *found) {
    const cell middle = cell_of(finder, body->place);
    search s = {.left = CANDIDATES_MAX, .best = {UINT64_MAX, UINT64_MAX}};
    for (uint32_t z = middle.z - 1; z != middle.z + 2; ++z) {
        for (uint32_t y = middle.y - 1; y != middle.y + 2; ++y) {
            const uint32_t row = row_of(y, z);
            for (uint32_t x = middle.x - 1; x != middle.x + 2; ++x) {
                search_cell(
                    finder, body, finder->heads[(row + x) & finder->mask], name_of(x, y, z), &s);
            }
        }
    }
    for (uint32_t k = 0; k < 2 && s.best[k] != UINT64_MAX; ++k) {
        found->neighbours[k] = &finder->motions[(uint32_t)s.best[k]];
        found->slips[k] = slip_of(body, found->neighbours[k]);
    }
    const float share = s.around > 0 ? 1.0f / s.weight : 0.0f;
    found->around = s.around;
    found->surprise = cairn_vec3_scale(s.surprise, share);
    found->surprise_size = share * s.surprise_size;
}

cairn_companions cairn_companion_finder_find(const cairn_companion_finder *finder, uint32_t rank) {
    cairn_companions found = {.leader_slip = FAR, .slips = {FAR, FAR}};
    const cairn_body_motion *motion = &finder->motions[rank];
    if (!motion->leader) {
        find_leader(finder, motion, &found);
    }
    look_around(finder, motion, &found);
    return found;
}
