// SPDX-License-Identifier: MIT
#include "compress/companions.h"

#include <stdlib.h>

#include <cairn/math.h>

#include "base/assert.h"

// How far a leader carries others along, and how far from each other neighbours may be. Of two
// neighbours that slip as much, the nearer one is better: DISTANCE_COST is slip for a length.
#define LEADER_RADIUS_M 2.15f
#define NEIGHBOUR_RADIUS_M 0.82f
#define DISTANCE_COST 0.03f
#define FAR 1e30f

typedef struct cell {
    int32_t x, y, z;
} cell;

struct cairn_companion_finder {
    const cairn_body_motion *motions;
    uint32_t capacity;
    uint32_t *leaders;
    uint32_t leader_count;
    // The others are found by the cell of a grid in which they lie; cells may share a list.
    float radius;        // steps; also the side of a cell
    float leader_radius; // steps
    uint32_t mask;       // heads in use, less one
    uint32_t *heads;     // the newest body of a list
    uint32_t *next;      // by body: the one before it
    cell *cells;         // by body
};

#define NONE UINT32_MAX
enum { HEADS_MIN = 64 };

cairn_companion_finder *cairn_companion_finder_create(uint32_t capacity) {
    cairn_companion_finder *finder = calloc(1, sizeof *finder);
    if (finder == NULL) {
        return NULL;
    }
    uint32_t heads = HEADS_MIN;
    while (heads < capacity) {
        heads *= 2;
    }
    finder->capacity = capacity;
    finder->leaders = malloc(capacity * sizeof *finder->leaders);
    finder->heads = malloc(heads * sizeof *finder->heads);
    finder->next = malloc(capacity * sizeof *finder->next);
    finder->cells = malloc(capacity * sizeof *finder->cells);
    if (finder->leaders == NULL || finder->heads == NULL || finder->next == NULL ||
        finder->cells == NULL) {
        cairn_companion_finder_destroy(finder);
        return NULL;
    }
    return finder;
}

void cairn_companion_finder_destroy(cairn_companion_finder *finder) {
    if (finder != NULL) {
        free(finder->leaders);
        free(finder->heads);
        free(finder->next);
        free(finder->cells);
        free(finder);
    }
}

void cairn_companion_finder_start(cairn_companion_finder *finder, const cairn_body_motion *motions,
    uint32_t count, float step_m) {
    CAIRN_ASSERT(count <= finder->capacity);
    finder->motions = motions;
    finder->leader_count = 0;
    finder->radius = NEIGHBOUR_RADIUS_M / step_m;
    finder->leader_radius = LEADER_RADIUS_M / step_m;
    // As many heads as bodies to come, so that clearing them costs no more than these.
    uint32_t heads = HEADS_MIN;
    while (heads < count) {
        heads *= 2;
    }
    finder->mask = heads - 1;
    for (uint32_t i = 0; i < heads; ++i) {
        finder->heads[i] = NONE;
    }
}

// The whole number at or below.
static int32_t floor_of(float x) {
    const int32_t whole = (int32_t)x;
    return whole - ((float)whole > x);
}

static cell cell_of(const cairn_companion_finder *finder, const int32_t position[3]) {
    const float scale = 1.0f / finder->radius;
    return (cell){floor_of((float)position[0] * scale), floor_of((float)position[1] * scale),
        floor_of((float)position[2] * scale)};
}

static uint32_t *head_of(const cairn_companion_finder *finder, cell c) {
    const uint32_t hash =
        (uint32_t)c.x * 73856093u ^ (uint32_t)c.y * 19349663u ^ (uint32_t)c.z * 83492791u;
    return &finder->heads[(hash ^ hash >> 16) & finder->mask];
}

void cairn_companion_finder_add(cairn_companion_finder *finder, uint32_t body) {
    if (finder->motions[body].leader) {
        finder->leaders[finder->leader_count++] = body;
        return;
    }
    finder->cells[body] = cell_of(finder, finder->motions[body].baseline->position);
    uint32_t *head = head_of(finder, finder->cells[body]);
    finder->next[body] = *head;
    *head = body;
}

static float squared_distance(const cairn_body_motion *a, const cairn_body_motion *b) {
    return cairn_vec3_length_squared(
        cairn_steps_between(a->baseline->position, b->baseline->position));
}

static void find_leader(
    const cairn_companion_finder *finder, const cairn_body_motion *body, cairn_companions *found) {
    float nearest = finder->leader_radius * finder->leader_radius;
    for (uint32_t i = 0; i < finder->leader_count; ++i) {
        const cairn_body_motion *other = &finder->motions[finder->leaders[i]];
        const float squared = squared_distance(body, other);
        if (squared < nearest) {
            nearest = squared;
            found->leader = other;
        }
    }
    if (found->leader != NULL) {
        found->leader_slip = cairn_motion_slip(body, found->leader);
    }
}

// The better of two first. `scores` are of the neighbours found so far.
static void try_neighbour(const cairn_body_motion *body, const cairn_body_motion *other,
    float distance, cairn_companions *found, float scores[2]) {
    if (DISTANCE_COST * distance >= scores[1]) {
        return;
    }
    const float slip = cairn_motion_slip(body, other);
    const float score = slip + DISTANCE_COST * distance;
    if (score >= scores[1]) {
        return;
    }
    const uint32_t place = score < scores[0] ? 0 : 1;
    if (place == 0) {
        scores[1] = scores[0];
        found->neighbours[1] = found->neighbours[0];
        found->slips[1] = found->slips[0];
    }
    scores[place] = score;
    found->neighbours[place] = other;
    found->slips[place] = slip;
}

static void find_neighbours(
    const cairn_companion_finder *finder, const cairn_body_motion *body, cairn_companions *found) {
    const float far_squared = finder->radius * finder->radius;
    const cell middle = cell_of(finder, body->baseline->position);
    float scores[2] = {FAR, FAR};
    for (int32_t at = 0; at < 27; ++at) {
        const cell c = {middle.x + at % 3 - 1, middle.y + at / 3 % 3 - 1, middle.z + at / 9 - 1};
        for (uint32_t i = *head_of(finder, c); i != NONE; i = finder->next[i]) {
            const cell *own = &finder->cells[i];
            if (own->x != c.x || own->y != c.y || own->z != c.z) {
                continue; // it is found in its own cell
            }
            const float squared = squared_distance(body, &finder->motions[i]);
            if (squared < far_squared) {
                try_neighbour(body, &finder->motions[i], cairn_float_sqrt(squared), found, scores);
            }
        }
    }
}

cairn_companions cairn_companion_finder_find(const cairn_companion_finder *finder, uint32_t body) {
    cairn_companions found = {.leader_slip = FAR, .slips = {FAR, FAR}};
    const cairn_body_motion *motion = &finder->motions[body];
    if (!motion->leader) {
        find_leader(finder, motion, &found);
    }
    find_neighbours(finder, motion, &found);
    return found;
}
