// SPDX-License-Identifier: MIT
#include "server/replicate/interest.h"

#include <stdlib.h>
#include <string.h>

#include <cairn/math.h>

#include "base/assert.h"

#define CHUNKS_PER_BODY 4
// Cells of a view along each axis.
#define CELLS_PER_RADIUS 4
#define CELL_MIN_M 0.25f

bool cairn_room_interest_create(
    cairn_room_interest *interest, uint32_t body_capacity, uint32_t shape_capacity) {
    CAIRN_ASSERT(body_capacity > 0);
    *interest = (cairn_room_interest){
        .capacity = body_capacity, .shape_capacity = shape_capacity, .bucket_count = 64};
    while (interest->bucket_count < body_capacity) {
        interest->bucket_count *= 2;
    }
    const size_t bodies = body_capacity;
    interest->history = calloc(bodies, sizeof *interest->history);
    interest->changed = calloc((bodies + 63) / 64, sizeof *interest->changed);
    interest->places = calloc(6 * bodies, sizeof *interest->places);
    interest->bucket_ends = calloc(interest->bucket_count + 1, sizeof *interest->bucket_ends);
    interest->chunks = calloc(CHUNKS_PER_BODY * bodies, sizeof *interest->chunks);
    interest->entrants = calloc(bodies, sizeof *interest->entrants);
    interest->spheres = calloc(2 * bodies, sizeof *interest->spheres);
    interest->jumped = calloc(CAIRN_JUMPED_MAX + 1, sizeof *interest->jumped);
    interest->shape_next = calloc((size_t)shape_capacity + 1, sizeof *interest->shape_next);
    if (interest->history == NULL || interest->changed == NULL || interest->places == NULL ||
        interest->bucket_ends == NULL || interest->chunks == NULL || interest->entrants == NULL ||
        interest->spheres == NULL || interest->jumped == NULL || interest->shape_next == NULL) {
        return false;
    }
    interest->placed = interest->spheres + bodies;
    interest->wide = interest->places + bodies;
    interest->marks = interest->wide + bodies;
    interest->shape_first = interest->marks + bodies;
    interest->near = interest->shape_first + bodies;
    interest->owned_next = interest->near + bodies;
    return true;
}

void cairn_room_interest_destroy(cairn_room_interest *interest) {
    free(interest->history);
    free(interest->changed);
    free(interest->places);
    free(interest->bucket_ends);
    free(interest->chunks);
    free(interest->entrants);
    free(interest->spheres);
    free(interest->jumped);
    free(interest->shape_next);
    *interest = (cairn_room_interest){0};
}

void cairn_room_interest_forget(cairn_room_interest *interest) {
    interest->tick = 0;
    interest->frame = NULL;
    interest->last = NULL;
    interest->shapes_revision = 0;
    memset(interest->chunks, 0, CHUNKS_PER_BODY * interest->capacity * sizeof *interest->chunks);
}

// But for its pose, what a part tells of a body is the same in both frames.
static bool same_body(
    const cairn_snapshot_frame *a, uint32_t i, const cairn_snapshot_frame *b, uint32_t k) {
    return a->flags[i] == b->flags[k] && a->users[i] == b->users[k] &&
           memcmp(&a->bodies[i].half_extents, &b->bodies[k].half_extents, sizeof(cairn_vec3)) == 0;
}

static bool same_pose(
    const cairn_snapshot_frame *a, uint32_t i, const cairn_snapshot_frame *b, uint32_t k) {
    return memcmp(&a->poses[i], &b->poses[k], sizeof *a->poses) == 0 &&
           (!cairn_snapshot_body_is_static(a->flags[i]) ||
               memcmp(&a->exact[i], &b->exact[k], sizeof *a->exact) == 0);
}

// A body that went this part of a cell is listed rather than letting all views search again.
#define JUMP_CELLS 0.25f

static void note_jump(cairn_room_interest *interest, uint32_t place) {
    if (interest->jumped_count <= CAIRN_JUMPED_MAX) {
        interest->jumped[interest->jumped_count++] = place;
    }
}

// How far the body at place i, which was at place k, came, in steps, squared.
static float way_of(const cairn_room_interest *interest, uint32_t i, uint32_t k) {
    const int32_t *a = interest->frame->poses[i].position;
    const int32_t *b = interest->last->poses[k].position;
    const float x = (float)a[0] - (float)b[0];
    const float y = (float)a[1] - (float)b[1];
    const float z = (float)a[2] - (float)b[2];
    return x * x + y * y + z * z;
}

static void note_owner(cairn_room_interest *interest, uint32_t place, uint32_t *last_owned) {
    const uint32_t owner = interest->frame->flags[place] >> CAIRN_SNAPSHOT_BODY_OWNER_SHIFT;
    if (owner > 0 && owner <= CAIRN_SLOTS_MAX) {
        *(last_owned[owner - 1] != 0 ? &interest->owned_next[last_owned[owner - 1] - 1]
                                     : &interest->owned_places[owner - 1]) = place + 1;
        last_owned[owner - 1] = place + 1;
        interest->owned_next[place] = 0;
    }
}

static void note_change(cairn_room_interest *interest, uint32_t place, bool renewed) {
    const cairn_snapshot_frame *frame = interest->frame;
    const uint32_t index = cairn_id_index(frame->ids[place]);
    cairn_body_history *history = &interest->history[index];
    interest->changed[index / 64] |= UINT64_C(1) << index % 64;
    history->before = interest->last == NULL ? frame->tick : history->changed;
    history->changed = frame->tick;
    if (renewed) {
        const bool stands = cairn_snapshot_body_is_static(frame->flags[place]);
        history->renewed = stands ? UINT64_MAX : frame->tick;
    }
    history->hash = cairn_part_hash(frame, place);
}

static float radius_of(const cairn_snapshot_frame *frame, uint32_t place) {
    const cairn_vec3 half = frame->bodies[place].half_extents;
    return cairn_float_sqrt(half.x * half.x + half.y * half.y + half.z * half.z);
}

static cairn_vec3 position_of(const cairn_snapshot_frame *frame, uint32_t place) {
    const float step = frame->quantisation.position_step_m;
    const int32_t *at = frame->poses[place].position;
    return (cairn_vec3){(float)at[0] * step, (float)at[1] * step, (float)at[2] * step};
}

static uint32_t bucket_of(const cairn_room_interest *interest, int32_t u, int32_t v) {
    const uint32_t hash = (uint32_t)u * 0x9e3779b1u ^ (uint32_t)v * 0x85ebca77u;
    return (hash ^ hash >> 15) & (interest->bucket_count - 1);
}

static int32_t cell_of(const cairn_room_interest *interest, float x) {
    const float cell = x / interest->cell_m;
    const int32_t whole = (int32_t)cairn_float_clamp(cell, -1e9f, 1e9f);
    return (float)whole > cell ? whole - 1 : whole;
}

// The two axes of the grid of a point.
static void cells_of(const cairn_room_interest *interest, cairn_vec3 point, int32_t cells[2]) {
    cells[0] = cell_of(interest, interest->up == 0 ? point.y : point.x);
    cells[1] = cell_of(interest, interest->up == 2 ? point.y : point.z);
}

static cairn_placed_sphere sphere_of(const cairn_room_interest *interest, uint32_t place) {
    cairn_placed_sphere sphere = {.center = position_of(interest->frame, place),
        .radius_m = radius_of(interest->frame, place),
        .place = place};
    cells_of(interest, sphere.center, sphere.cell);
    return sphere;
}

// A body that changed lies in its cell, or the grid is not that of this snapshot.
static void place_again(cairn_room_interest *interest, uint32_t place) {
    cairn_placed_sphere *sphere = &interest->placed[place];
    const cairn_placed_sphere before = *sphere;
    *sphere = sphere_of(interest, place);
    interest->sorted = interest->sorted && before.cell[0] == sphere->cell[0] &&
                       before.cell[1] == sphere->cell[1] && before.radius_m == sphere->radius_m;
}

static void place_all(cairn_room_interest *interest) {
    interest->sorted = false;
    for (uint32_t i = 0; i < interest->frame->count; ++i) {
        interest->placed[i] = sphere_of(interest, i);
    }
}

// `same_cells`: the grid is that of the last snapshot.
static void find_changes(cairn_room_interest *interest, bool same_cells) {
    const cairn_snapshot_frame *frame = interest->frame;
    const cairn_snapshot_frame *last = interest->last;
    const float step_m = frame->quantisation.position_step_m;
    const float jump = JUMP_CELLS * interest->cell_m / step_m;
    memset(interest->changed, 0, (interest->capacity + 63) / 64 * sizeof *interest->changed);
    memset(interest->places, 0, interest->capacity * sizeof *interest->places);
    memset(interest->owned_places, 0, sizeof interest->owned_places);
    uint32_t last_owned[CAIRN_SLOTS_MAX] = {0};
    uint32_t k = 0;
    float farthest = 0.0f;
    bool same_ids = last != NULL && last->count == frame->count;
    interest->jumped_count = 0;
    for (uint32_t i = 0; i < frame->count; ++i) {
        const uint32_t index = cairn_id_index(frame->ids[i]);
        while (last != NULL && k < last->count && cairn_id_index(last->ids[k]) < index) {
            ++k;
        }
        const bool was = last != NULL && k < last->count && last->ids[k] == frame->ids[i];
        const bool renewed = !was || !same_body(frame, i, last, k);
        if (renewed || !same_pose(frame, i, last, k)) {
            const float way = was ? way_of(interest, i, k) : 0.0f;
            if (renewed || way > jump * jump) {
                note_jump(interest, i);
            } else {
                farthest = way > farthest ? way : farthest;
            }
            note_change(interest, i, renewed);
            if (same_ids && same_cells) { // otherwise all are placed below
                place_again(interest, i);
            }
        }
        same_ids = same_ids && was;
        interest->places[index] = i + 1;
        note_owner(interest, i, last_owned);
    }
    interest->same_ids_since = same_ids ? interest->same_ids_since : frame->tick;
    if (!same_ids || !same_cells) {
        place_all(interest);
    }
    interest->travelled_m += (double)(cairn_float_sqrt(farthest) * step_m);
}

// Counting sort by bucket. It uses the marks as scratch and clears them.
static void sort_by_cell(cairn_room_interest *interest) {
    const uint32_t count = interest->frame->count;
    uint32_t *ends = interest->bucket_ends;
    memset(ends, 0, (interest->bucket_count + 1) * sizeof *ends);
    interest->wide_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_placed_sphere *sphere = &interest->placed[i];
        const bool wide = sphere->radius_m > interest->cell_m;
        interest->marks[i] =
            wide ? interest->bucket_count : bucket_of(interest, sphere->cell[0], sphere->cell[1]);
        if (wide) {
            interest->wide[interest->wide_count++] = i;
        } else {
            ends[interest->marks[i] + 1] += 1;
        }
    }
    for (uint32_t b = 0; b < interest->bucket_count; ++b) {
        ends[b + 1] += ends[b];
    }
    // Each bucket's beginning moves to its end while it is filled.
    for (uint32_t i = 0; i < count; ++i) {
        if (interest->marks[i] < interest->bucket_count) {
            interest->spheres[ends[interest->marks[i]]++] = interest->placed[i];
        }
    }
    memset(interest->marks, 0, interest->capacity * sizeof *interest->marks);
    interest->sorted = true;
}

void cairn_room_interest_list_shapes(
    cairn_room_interest *interest, const cairn_room_shapes *shapes) {
    if (interest->shapes_revision == shapes->revision) {
        return;
    }
    interest->shapes_revision = shapes->revision;
    memset(interest->shape_first, 0, interest->capacity * sizeof *interest->shape_first);
    for (uint32_t i = shapes->count; i > 0; --i) {
        const uint32_t body = cairn_id_index(shapes->shapes[i - 1].body);
        interest->shape_next[i - 1] = interest->shape_first[body];
        interest->shape_first[body] = i;
    }
}

// The grid is that which views asked for at the last snapshot. Returns whether it is the same.
static bool set_cells(cairn_room_interest *interest) {
    const cairn_vec3 g = interest->frame->gravity;
    const float x = cairn_float_abs(g.x), y = cairn_float_abs(g.y), z = cairn_float_abs(g.z);
    const uint32_t up = x > y && x > z ? 0 : z > y ? 2 : 1;
    const float wanted_m = interest->wanted_m / CELLS_PER_RADIUS;
    const float cell_m = wanted_m > CELL_MIN_M ? wanted_m : CELL_MIN_M;
    const bool same =
        up == interest->up && !(cell_m < interest->cell_m) && !(cell_m > interest->cell_m);
    interest->up = up;
    interest->cell_m = cell_m;
    interest->wanted_m = 0.0f;
    return same;
}

void cairn_room_interest_update(cairn_room_interest *interest, const cairn_snapshot_frame *frame,
    const cairn_snapshot_frame *last) {
    // After a gap it is not known when bodies changed: now.
    const bool follows = last != NULL && interest->tick != 0 && interest->tick == last->tick;
    interest->tick = frame->tick;
    interest->frame = frame;
    interest->last = follows ? last : NULL;
    find_changes(interest, set_cells(interest));
    memset(interest->marks, 0, interest->capacity * sizeof *interest->marks);
    interest->stamp = 0;
}

static uint32_t add_near(cairn_room_interest *interest, uint32_t place, cairn_vec3 center,
    float radius_m, uint32_t count) {
    float distance_m;
    interest->near[count] = place;
    return count +
           (cairn_room_interest_is_near(interest, place, center, radius_m, &distance_m) ? 1 : 0);
}

uint32_t cairn_room_interest_near(
    cairn_room_interest *interest, cairn_vec3 center, float radius_m) {
    uint32_t count = 0;
    int32_t first[2];
    int32_t last[2];
    if (!interest->sorted) {
        sort_by_cell(interest);
    }
    const float reach = radius_m + interest->cell_m;
    cells_of(interest, (cairn_vec3){center.x - reach, center.y - reach, center.z - reach}, first);
    cells_of(interest, (cairn_vec3){center.x + reach, center.y + reach, center.z + reach}, last);
    const int64_t cells = ((int64_t)last[0] - first[0] + 1) * ((int64_t)last[1] - first[1] + 1);
    if (cells > interest->frame->count) {
        for (uint32_t i = 0; i < interest->frame->count; ++i) {
            count = add_near(interest, i, center, radius_m, count);
        }
        return count;
    }
    for (uint32_t i = 0; i < interest->wide_count; ++i) {
        count = add_near(interest, interest->wide[i], center, radius_m, count);
    }
    for (int32_t u = first[0]; u <= last[0]; ++u) {
        for (int32_t v = first[1]; v <= last[1]; ++v) {
            const uint32_t bucket = bucket_of(interest, u, v);
            const uint32_t from = bucket == 0 ? 0 : interest->bucket_ends[bucket - 1];
            for (uint32_t i = from; i < interest->bucket_ends[bucket]; ++i) {
                // Another cell may have the same bucket.
                const cairn_placed_sphere *sphere = &interest->spheres[i];
                if (sphere->cell[0] == u && sphere->cell[1] == v) {
                    count = add_near(interest, sphere->place, center, radius_m, count);
                }
            }
        }
    }
    return count;
}

void cairn_room_interest_chunk(cairn_room_interest *interest, uint32_t place,
    const cairn_body_sample bases[CAIRN_PART_BASES], const cairn_part_spans *spans, bool rested,
    cairn_part_chunk *out) {
    cairn_stored_chunk *stored = &interest->chunks[(size_t)CHUNKS_PER_BODY * place];
    const uint64_t tick = interest->frame->tick;
    const uint64_t ages = rested ? UINT64_MAX : spans->ages;
    uint32_t used = 0;
    for (; used < CHUNKS_PER_BODY && stored[used].tick == tick; ++used) {
        if (stored[used].ages == ages) {
            out->bit_count = stored[used].bit_count;
            memcpy(out->bits, stored[used].bits, sizeof stored->bits);
            return;
        }
    }
    const uint32_t index = cairn_id_index(interest->frame->ids[place]);
    const bool only_moved = interest->history[index].renewed <= spans->ticks[0];
    cairn_part_chunk_of(interest->frame, place, bases, spans, rested, only_moved, out);
    if (ages != UINT64_MAX && out->bit_count <= 8 * sizeof stored->bits) {
        stored += used < CHUNKS_PER_BODY ? used : CHUNKS_PER_BODY - 1;
        stored->tick = tick;
        stored->ages = ages;
        stored->bit_count = (uint8_t)out->bit_count;
        memcpy(stored->bits, out->bits, sizeof stored->bits);
    }
}
