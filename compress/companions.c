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
    LISTS_MIN = 64,
    LEADERS_MAX = 8,     // that are looked at
    CANDIDATES_MAX = 64, // that are looked at for one body, so that a pile of bodies in one place
                         // takes no longer than others
    ALWAYS = 3,          // bodies of each list that are looked at
};

// A body in the list of its cell.
typedef struct cell_entry {
    uint32_t cell;
    uint32_t rank;
} cell_entry;

struct cairn_companion_finder {
    const cairn_body_motion *motions;
    uint32_t capacity;
    uint32_t list_count; // that there is memory for
    uint32_t leader_count;
    float radius_squared; // steps
    float near_squared;   // nearer bodies count no more
    float leader_radius_squared;
    uint64_t cells_per_step; // in 2^-32
    uint32_t mask;           // lists in use, less one
    // All bodies but leaders, list by list; in each, which cells may share, the last in order of
    // rank first. The first list is there again after the last one.
    cell_entry *entries;
    uint32_t *ends;  // by list
    uint32_t *coded; // how many bodies of a list are coded: those at its end
    uint32_t *lists; // by rank; NONE: a leader
};

cairn_companion_finder *cairn_companion_finder_create(uint32_t capacity) {
    cairn_companion_finder *finder = calloc(1, sizeof *finder);
    if (finder == NULL) {
        return NULL;
    }
    uint32_t lists = LISTS_MIN;
    while (lists < 2 * capacity) {
        lists *= 2;
    }
    finder->capacity = capacity;
    finder->list_count = lists;
    finder->ends = malloc((lists + 2) * sizeof *finder->ends);
    finder->coded = malloc((lists + 1) * sizeof *finder->coded);
    finder->entries = calloc(2 * capacity + ALWAYS, sizeof *finder->entries);
    finder->lists = malloc(capacity * sizeof *finder->lists);
    if (finder->ends == NULL || finder->coded == NULL || finder->entries == NULL ||
        finder->lists == NULL) {
        cairn_companion_finder_destroy(finder);
        return NULL;
    }
    return finder;
}

size_t cairn_companion_finder_bytes(const cairn_companion_finder *finder) {
    return sizeof *finder + finder->list_count * 2 * sizeof *finder->ends +
           finder->capacity * (2 * sizeof *finder->entries + sizeof *finder->lists);
}

void cairn_companion_finder_destroy(cairn_companion_finder *finder) {
    if (finder != NULL) {
        free(finder->ends);
        free(finder->coded);
        free(finder->entries);
        free(finder->lists);
        free(finder);
    }
}

static float square(float x) {
    return x * x;
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

// ends[i + 1]: the length of list i.
static void count_lists(cairn_companion_finder *finder, uint32_t count) {
    memset(finder->ends, 0, (finder->mask + 3) * sizeof *finder->ends);
    for (uint32_t rank = 0; rank < count; ++rank) {
        const cairn_body_motion *motion = &finder->motions[rank];
        finder->lists[rank] = NONE;
        if (motion->leader) {
            continue;
        }
        const uint32_t x = cell_along(finder, motion->place[0]);
        const uint32_t row =
            row_of(cell_along(finder, motion->place[1]), cell_along(finder, motion->place[2]));
        finder->lists[rank] = (row + x) & finder->mask;
        finder->ends[finder->lists[rank] + 1]++;
    }
}

// Counting sort by list, from the last body on.
static void fill_lists(cairn_companion_finder *finder, uint32_t count) {
    uint32_t *ends = finder->ends;
    for (uint32_t i = 0; i <= finder->mask; ++i) {
        ends[i + 1] += ends[i];
    }
    // ends[i] is where list i begins, and moves to its end.
    for (uint32_t rank = count; rank-- > 0;) {
        const uint32_t list = finder->lists[rank];
        if (list != NONE) {
            const cairn_int4 at = finder->motions[rank].place;
            finder->entries[ends[list]++] =
                (cell_entry){.cell = name_of(cell_along(finder, at[0]), cell_along(finder, at[1]),
                                 cell_along(finder, at[2])),
                    .rank = rank};
        }
    }
    const uint32_t all = ends[finder->mask];
    memcpy(&finder->entries[all], finder->entries, ends[0] * sizeof *finder->entries);
    ends[finder->mask + 1] = all + ends[0];
    memset(finder->coded, 0, (finder->mask + 1) * sizeof *finder->coded);
}

void cairn_companion_finder_start(cairn_companion_finder *finder, const cairn_body_motion *motions,
    uint32_t count, float step_m) {
    CAIRN_ASSERT(count <= finder->capacity);
    finder->motions = motions;
    finder->radius_squared = square(NEIGHBOUR_RADIUS_M / step_m);
    finder->near_squared = 0.1f * finder->radius_squared;
    finder->leader_radius_squared = square(LEADER_RADIUS_M / step_m);
    finder->cells_per_step = (uint64_t)(4294967296.0f * (step_m / CELL_SIDE_M));
    // Leaders come first.
    finder->leader_count = 0;
    while (finder->leader_count < count && motions[finder->leader_count].leader) {
        finder->leader_count += 1;
    }
    // Some two lists for each body, so that going through them costs no more than these.
    uint32_t lists = LISTS_MIN;
    while (lists < count) {
        lists *= 2;
    }
    finder->mask = lists - 1;
    count_lists(finder, count);
    fill_lists(finder, count);
}

void cairn_companion_finder_add(cairn_companion_finder *finder, uint32_t rank) {
    if (finder->lists[rank] != NONE) {
        finder->coded[finder->lists[rank]]++;
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
    for (uint32_t i = 0; i < finder->leader_count && i < LEADERS_MAX; ++i) {
        const cairn_body_motion *other = &finder->motions[i];
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

// The bodies in all cells around that were coded before, by rank.
typedef struct candidates {
    uint32_t count;
    uint32_t ranks[CANDIDATES_MAX + 4]; // and copies of the last one, up to a whole four
    float weights[CANDIDATES_MAX + 4];
    float scores[CANDIDATES_MAX + 4]; // FAR: beyond the radius
} candidates;

// The bodies of a cell's list that are coded.
typedef struct cell_list {
    const cell_entry *entries;
    uint32_t count;
    uint32_t name; // of the cell
} cell_list;

// Of the eight cells around. Returns how many there are in all.
static uint32_t find_lists(
    const cairn_companion_finder *finder, const cairn_body_motion *body, cell_list lists[8]) {
    const uint32_t x = first_cell_along(finder, body->place[0]);
    const uint32_t y = first_cell_along(finder, body->place[1]);
    const uint32_t z = first_cell_along(finder, body->place[2]);
    uint32_t count = 0;
    for (uint32_t i = 0; i < 8; i += 2) {
        const uint32_t row_y = y + (i >> 1 & 1), row_z = z + (i >> 2);
        const uint32_t first = (row_of(row_y, row_z) + x) & finder->mask;
        for (uint32_t k = 0; k < 2; ++k) {
            cell_list *list = &lists[i + k];
            list->count = finder->coded[(first + k) & finder->mask];
            list->entries = finder->entries + finder->ends[first + k] - list->count;
            list->name = name_of(x + k, row_y, row_z);
            count += list->count;
        }
    }
    return count;
}

static inline uint32_t collect(
    candidates *found, uint32_t count, const cell_entry *entry, uint32_t name, bool is_there) {
    found->ranks[count] = entry->rank;
    return count + (is_there & (entry->cell == name)); // else it is found in its own cell
}

// Lists are mostly short: their first bodies are looked at without a branch on how many there are.
static void collect_around(
    const cairn_companion_finder *finder, const cairn_body_motion *body, candidates *found) {
    cell_list lists[8];
    const bool few = find_lists(finder, body, lists) <= CANDIDATES_MAX;
    uint32_t left = CANDIDATES_MAX;
    uint32_t count = 0;
    for (uint32_t i = 0; i < 8; ++i) {
        cell_list list = lists[i];
        if (!few) {
            list.count = list.count < left ? list.count : left;
            left -= list.count;
        }
        for (uint32_t k = 0; k < ALWAYS; ++k) {
            count = collect(found, count, &list.entries[k], list.name, k < list.count);
        }
        for (uint32_t k = ALWAYS; k < list.count; ++k) {
            count = collect(found, count, &list.entries[k], list.name, true);
        }
    }
    found->count = count;
    for (uint32_t i = 0; i < 3; ++i) {
        found->ranks[count + i] = found->ranks[count > 0 ? count - 1 : 0];
    }
}

// Three components of four bodies, by lane.
typedef struct lanes3 {
    cairn_vec4 x, y, z;
} lanes3;

CAIRN_VEC4_INLINE lanes3 lanes_of(const cairn_vec4 v[4], cairn_vec4 *last) {
    const cairn_vec4 low = cairn_vec4_low_lanes(v[0], v[1]),
                     low_2 = cairn_vec4_low_lanes(v[2], v[3]);
    const cairn_vec4 high = cairn_vec4_high_lanes(v[0], v[1]),
                     high_2 = cairn_vec4_high_lanes(v[2], v[3]);
    *last = __builtin_shufflevector(high, high_2, 2, 3, 6, 7);
    return (lanes3){.x = __builtin_shufflevector(low, low_2, 0, 1, 4, 5),
        .y = __builtin_shufflevector(low, low_2, 2, 3, 6, 7),
        .z = __builtin_shufflevector(high, high_2, 0, 1, 4, 5)};
}

CAIRN_VEC4_INLINE lanes3 minus(lanes3 a, lanes3 b) {
    return (lanes3){.x = a.x - b.x, .y = a.y - b.y, .z = a.z - b.z};
}

CAIRN_VEC4_INLINE lanes3 cross(lanes3 a, lanes3 b) {
    return (lanes3){
        .x = a.y * b.z - a.z * b.y, .y = a.z * b.x - a.x * b.z, .z = a.x * b.y - a.y * b.x};
}

CAIRN_VEC4_INLINE cairn_vec4 square_of(lanes3 a) {
    return a.x * a.x + a.y * a.y + a.z * a.z;
}

CAIRN_VEC4_INLINE lanes3 same_in_all(cairn_vec4 a) {
    return (lanes3){
        .x = cairn_vec4_all(a[0]), .y = cairn_vec4_all(a[1]), .z = cairn_vec4_all(a[2])};
}

// cairn_arm_swing
CAIRN_VEC4_INLINE lanes3 swing_of(lanes3 turn, cairn_vec4 w, lanes3 arm) {
    const lanes3 once = cross(turn, arm);
    const lanes3 t = {.x = once.x + once.x, .y = once.y + once.y, .z = once.z + once.z};
    const lanes3 twice = cross(turn, t);
    return (lanes3){.x = twice.x + t.x * w, .y = twice.y + t.y * w, .z = twice.z + t.z * w};
}

// Of four candidates: what each counts in the mean, and its score as a neighbour.
CAIRN_VEC4_INLINE void weigh_four(const cairn_companion_finder *finder,
    const cairn_body_motion *body, candidates *c, uint32_t i) {
    cairn_vec4 ways[4], steps[4], swings[4], last, w;
    for (uint32_t k = 0; k < 4; ++k) {
        const cairn_body_motion *other = &finder->motions[c->ranks[i + k]];
        ways[k] = cairn_steps_between(other->place, body->place);
        steps[k] = other->step;
        swings[k] = other->swing;
    }
    const lanes3 way = lanes_of(ways, &last), step = lanes_of(steps, &last);
    const lanes3 swing = lanes_of(swings, &w);
    const cairn_vec4 squared = square_of(way);
    const cairn_vec4 radius = cairn_vec4_all(finder->radius_squared);
    const cairn_vec4 weights = radius / (squared + cairn_vec4_all(finder->near_squared));
    // As slip_squared.
    const lanes3 relative = minus(same_in_all(body->step), step);
    const lanes3 arm = minus(way, relative);
    const cairn_vec4 slips = square_of(minus(swing_of(swing, w, arm), relative));
    const cairn_vec4 scores = cairn_vec4_select(
        squared < radius, slips + cairn_vec4_all(DISTANCE_COST) * squared, cairn_vec4_all(FAR));
    memcpy(&c->weights[i], &weights, sizeof weights);
    memcpy(&c->scores[i], &scores, sizeof scores);
}

// The two with the smallest scores, of equal ones those with the smaller rank.
static void choose_neighbours(const cairn_companion_finder *finder, const cairn_body_motion *body,
    const candidates *c, cairn_companions *found) {
    const uint64_t none = (uint64_t)cairn_float_bits(FAR) << 32;
    uint64_t best[2] = {none, none}; // score, which is not negative, and rank
    for (uint32_t i = 0; i < c->count; ++i) {
        const uint64_t scored = (uint64_t)cairn_float_bits(c->scores[i]) << 32 | c->ranks[i];
        const uint64_t worse = scored > best[0] ? scored : best[0];
        best[0] = scored < best[0] ? scored : best[0];
        best[1] = worse < best[1] ? worse : best[1];
    }
    for (uint32_t k = 0; k < 2 && best[k] < none; ++k) {
        found->neighbours[k] = &finder->motions[(uint32_t)best[k]];
        const cairn_vec4 way = cairn_steps_between(found->neighbours[k]->place, body->place);
        const float score = cairn_float_of_bits((uint32_t)(best[k] >> 32));
        const float squared = score - DISTANCE_COST * cairn_vec4_length_squared(way);
        found->slips[k] = cairn_float_sqrt(cairn_float_max(squared, 0.0f));
    }
}

static void look_around(
    const cairn_companion_finder *finder, const cairn_body_motion *body, cairn_companions *found) {
    candidates around;
    collect_around(finder, body, &around);
    for (uint32_t i = 0; i < around.count; i += 4) {
        weigh_four(finder, body, &around, i);
    }
    cairn_vec4 surprise = cairn_vec4_zero();
    cairn_vec4 even = cairn_vec4_zero();
    float weights = 0.0f;
    for (uint32_t i = 0; i < around.count; ++i) {
        const cairn_vec4 other = finder->motions[around.ranks[i]].surprise;
        weights = weights + around.weights[i];
        surprise = cairn_vec4_add_scaled(surprise, other, around.weights[i]);
        even = even + other;
    }
    choose_neighbours(finder, body, &around, found);
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
