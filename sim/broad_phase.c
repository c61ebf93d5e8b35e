// SPDX-License-Identifier: MIT
#include "sim/broad_phase.h"

#include "base/assert.h"
#include "sim/vec.h"

// Sort and sweep (Baraff 1992, section 7.2.1) along the axis on which the boxes lie farthest apart.
// A box is compared with those that begin while it lasts, so a floor under everything costs one
// look at each box and slows nobody else. Pairs are found in order of the sweep and put in order of
// the indices afterwards; places in the caller's array stand for shapes until the end.

// Boxes wider than this are half-spaces and say nothing about where the others are.
#define SPREAD_WIDTH_MAX 1e6f

enum { DIGIT_BITS = 8, DIGIT_COUNT = 1 << DIGIT_BITS, KEY_BITS = 32 };

// A box in order of the sweep: the interval along the sweep's axis first.
typedef struct swept {
    float lower[3];
    float upper[3];
    uint32_t place;
    uint32_t active;
} swept;

typedef struct keyed {
    uint32_t key;
    uint32_t place;
} keyed;

typedef struct sweep {
    const cairn_broad_box *boxes;
    uint32_t count;
    swept *swept;     // `count`
    uint32_t *starts; // `count` + 1: where the pairs of each lower place begin in the sorted list
    uint32_t *nexts;  // `count`
    keyed *keys;      // `count`, twice; shares its bytes with `starts` and `nexts`
    keyed *keys_spare;
} sweep;

size_t cairn_broad_phase_scratch_size(uint32_t box_count) {
    const size_t count = box_count;
    return count * sizeof(swept) + 2 * count * sizeof(keyed) + sizeof(uint32_t) * 2;
}

static sweep sweep_of(const cairn_broad_box *boxes, uint32_t count, void *scratch) {
    CAIRN_ASSERT((uintptr_t)scratch % _Alignof(swept) == 0);
    swept *const first = scratch;
    uint32_t *const after = (uint32_t *)(void *)(first + count);
    keyed *const keys = (keyed *)(void *)after;
    return (sweep){.boxes = boxes,
        .count = count,
        .swept = first,
        .starts = after,
        .nexts = after + count + 1,
        .keys = keys,
        .keys_spare = keys + count};
}

static float component(cairn_vec3 v, uint32_t axis) {
    return vec3_component(v, axis);
}

static bool says_where(const cairn_broad_box *box) {
    const cairn_vec3 width = vec3_sub(box->box.upper, box->box.lower);
    return width.x < SPREAD_WIDTH_MAX && width.y < SPREAD_WIDTH_MAX && width.z < SPREAD_WIDTH_MAX;
}

// The axis of largest variance of the boxes' centres. Any axis gives the same pairs.
static uint32_t widest_axis(const sweep *s) {
    cairn_vec3 sum = vec3_zero();
    cairn_vec3 square_sum = vec3_zero();
    float counted = 0.0f;
    for (uint32_t i = 0; i < s->count; ++i) {
        const cairn_broad_box *box = &s->boxes[i];
        if (says_where(box)) {
            const cairn_vec3 twice_centre = vec3_add(box->box.lower, box->box.upper);
            sum = vec3_add(sum, twice_centre);
            square_sum = vec3_add(square_sum, vec3_multiply(twice_centre, twice_centre));
            counted += 1.0f;
        }
    }
    const float inverse = 1.0f / float_max(counted, 1.0f);
    const cairn_vec3 spread = vec3_sub(square_sum, vec3_scale(vec3_multiply(sum, sum), inverse));
    return spread.x >= spread.y && spread.x >= spread.z ? 0u : spread.y >= spread.z ? 1u : 2u;
}

// Floats in order as unsigned numbers in order: negative ones are flipped, others move above them.
static uint32_t key_of_float(float value) {
    const uint32_t bits = float_bits(value);
    return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

// One pass of a radix sort from the least digit, stable: equal keys stay in order of their places.
static void sort_by_digit(const keyed *from, keyed *to, uint32_t count, uint32_t shift) {
    uint32_t starts[DIGIT_COUNT] = {0};
    for (uint32_t i = 0; i < count; ++i) {
        starts[(from[i].key >> shift) % DIGIT_COUNT] += 1;
    }
    uint32_t start = 0;
    for (uint32_t digit = 0; digit < DIGIT_COUNT; ++digit) {
        const uint32_t size = starts[digit];
        starts[digit] = start;
        start += size;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t digit = (from[i].key >> shift) % DIGIT_COUNT;
        to[starts[digit]] = from[i];
        starts[digit] += 1;
    }
}

static swept swept_of(const cairn_broad_box *box, uint32_t place, uint32_t axis) {
    swept out = {.place = place, .active = box->active};
    for (uint32_t i = 0; i < 3; ++i) {
        out.lower[i] = component(box->box.lower, (axis + i) % 3);
        out.upper[i] = component(box->box.upper, (axis + i) % 3);
    }
    return out;
}

static void sweep_sort(sweep *s) {
    const uint32_t axis = widest_axis(s);
    for (uint32_t i = 0; i < s->count; ++i) {
        s->keys[i] =
            (keyed){.key = key_of_float(component(s->boxes[i].box.lower, axis)), .place = i};
    }
    for (uint32_t shift = 0; shift < KEY_BITS; shift += 2 * DIGIT_BITS) {
        sort_by_digit(s->keys, s->keys_spare, s->count, shift);
        sort_by_digit(s->keys_spare, s->keys, s->count, shift + DIGIT_BITS);
    }
    for (uint32_t i = 0; i < s->count; ++i) {
        const uint32_t place = s->keys[i].place;
        s->swept[i] = swept_of(&s->boxes[place], place, axis);
    }
}

// The first axis is settled by the sweep. No short circuits: the answers are unpredictable.
static bool meets_across(const swept *a, const swept *b) {
    const uint32_t second =
        (uint32_t)(a->lower[1] <= b->upper[1]) & (uint32_t)(b->lower[1] <= a->upper[1]);
    const uint32_t third =
        (uint32_t)(a->lower[2] <= b->upper[2]) & (uint32_t)(b->lower[2] <= a->upper[2]);
    return (second & third & (uint32_t)((a->active | b->active) != 0)) != 0;
}

static bool may_pair(const cairn_broad_box *a, const cairn_broad_box *b) {
    return a->body != b->body && (a->category & b->mask) != 0 && (b->category & a->mask) != 0;
}

// Whom the sweep tells of each pair of places, the lower first.
typedef struct found {
    uint32_t count;
    uint32_t capacity;
    cairn_pair *pairs;
    uint32_t *counts; // pairs of each lower place, or NULL when places are known already
    uint32_t *nexts;  // else where the next pair of each lower place goes
} found;

static void found_add(found *f, uint32_t place, uint32_t other) {
    const cairn_pair pair = {
        .shape_a = place < other ? place : other, .shape_b = place < other ? other : place};
    if (f->counts != NULL) {
        f->counts[pair.shape_a] += 1;
        if (f->count < f->capacity) {
            f->pairs[f->count] = pair;
        }
        f->count += 1;
        return;
    }
    if (f->nexts[pair.shape_a] < f->capacity) {
        f->pairs[f->nexts[pair.shape_a]] = pair;
    }
    f->nexts[pair.shape_a] += 1;
}

static void sweep_find(const sweep *s, found *f) {
    for (uint32_t i = 0; i < s->count; ++i) {
        const swept *a = &s->swept[i];
        for (uint32_t j = i + 1; j < s->count && s->swept[j].lower[0] <= a->upper[0]; ++j) {
            const swept *b = &s->swept[j];
            if (meets_across(a, b) && may_pair(&s->boxes[a->place], &s->boxes[b->place])) {
                found_add(f, a->place, b->place);
            }
        }
    }
}

static void counts_to_starts(uint32_t *starts, uint32_t count) {
    uint32_t start = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t size = starts[i];
        starts[i] = start;
        start += size;
    }
    starts[count] = start;
}

// Every pair moves to its lower place's range, in place: take the next of a range, and carry it and
// what lies where it belongs around until one belongs here (McIlroy, Bostic, McIlroy 1993).
static void gather_by_lower(const sweep *s, cairn_pair *pairs) {
    for (uint32_t place = 0; place < s->count; ++place) {
        s->nexts[place] = s->starts[place];
    }
    for (uint32_t place = 0; place < s->count; ++place) {
        while (s->nexts[place] < s->starts[place + 1]) {
            cairn_pair carried = pairs[s->nexts[place]];
            while (carried.shape_a != place) {
                const uint32_t target = s->nexts[carried.shape_a];
                const cairn_pair displaced = pairs[target];
                pairs[target] = carried;
                s->nexts[carried.shape_a] = target + 1;
                carried = displaced;
            }
            pairs[s->nexts[place]] = carried;
            s->nexts[place] += 1;
        }
    }
}

static void sink(cairn_pair *pairs, uint32_t count, uint32_t root) {
    while (2 * root + 1 < count) {
        uint32_t child = 2 * root + 1;
        if (child + 1 < count && pairs[child + 1].shape_b > pairs[child].shape_b) {
            child += 1;
        }
        if (pairs[root].shape_b >= pairs[child].shape_b) {
            return;
        }
        const cairn_pair larger = pairs[child];
        pairs[child] = pairs[root];
        pairs[root] = larger;
        root = child;
    }
}

// Heap sort by the higher place; no two are equal, so it need not be stable.
static void sort_by_higher(cairn_pair *pairs, uint32_t count) {
    for (uint32_t root = count / 2; root > 0; --root) {
        sink(pairs, count, root - 1);
    }
    for (uint32_t left = count; left > 1; --left) {
        const cairn_pair largest = pairs[0];
        pairs[0] = pairs[left - 1];
        pairs[left - 1] = largest;
        sink(pairs, left - 1, 0);
    }
}

static bool boxes_meet(const cairn_broad_box *a, const cairn_broad_box *b) {
    const swept swept_a = swept_of(a, 0, 0);
    const swept swept_b = swept_of(b, 1, 0);
    return swept_a.lower[0] <= swept_b.upper[0] && swept_b.lower[0] <= swept_a.upper[0] &&
           meets_across(&swept_a, &swept_b) && may_pair(a, b);
}

// The pairs of one place by looking at all places above it: in order without sorting, as far as
// there is room.
static void list_in_order(const sweep *s, uint32_t place, cairn_pair *pairs, uint32_t capacity) {
    uint32_t count = 0;
    for (uint32_t other = place + 1; other < s->count && count < capacity; ++other) {
        if (boxes_meet(&s->boxes[place], &s->boxes[other])) {
            pairs[count] = (cairn_pair){.shape_a = place, .shape_b = other};
            count += 1;
        }
    }
}

static void order_by_higher(const sweep *s, cairn_pair *pairs, uint32_t capacity) {
    for (uint32_t place = 0; place < s->count; ++place) {
        const uint32_t start = s->starts[place];
        const uint32_t size = s->starts[place + 1] - start;
        if (start >= capacity) {
            return;
        }
        // A place that pairs with a good part of all, or whose pairs do not all fit.
        if (size > capacity - start || size > s->count / 8 + 16) {
            list_in_order(s, place, &pairs[start], capacity - start);
        } else {
            sort_by_higher(&pairs[start], size);
        }
    }
}

static void name_shapes(const sweep *s, cairn_pair *pairs, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        pairs[i] = (cairn_pair){.shape_a = s->boxes[pairs[i].shape_a].shape,
            .shape_b = s->boxes[pairs[i].shape_b].shape};
    }
}

uint32_t cairn_broad_phase_pairs(const cairn_broad_box *boxes, uint32_t box_count, void *scratch,
    cairn_pair *pairs, uint32_t capacity) {
    if (box_count < 2) {
        return 0;
    }
    sweep s = sweep_of(boxes, box_count, scratch);
    sweep_sort(&s);
    for (uint32_t i = 0; i <= box_count; ++i) {
        s.starts[i] = 0;
    }
    found all = {.capacity = capacity, .pairs = pairs, .counts = s.starts};
    sweep_find(&s, &all);
    counts_to_starts(s.starts, box_count);
    if (all.count <= capacity) {
        gather_by_lower(&s, pairs);
    } else {
        for (uint32_t i = 0; i < box_count; ++i) {
            s.nexts[i] = s.starts[i];
        }
        found again = {.capacity = capacity, .pairs = pairs, .nexts = s.nexts};
        sweep_find(&s, &again);
    }
    order_by_higher(&s, pairs, capacity);
    const uint32_t written = all.count < capacity ? all.count : capacity;
    name_shapes(&s, pairs, written);
    return all.count;
}
