// SPDX-License-Identifier: MIT
#include "sim/broad_phase.h"

#include "base/assert.h"
#include "sim/vec.h"

// Sort and sweep (Baraff 1992, section 7.2.1) along the axis on which the boxes lie farthest apart,
// within strips across the axis on which they lie next farthest apart:
//
//    strip 2  | [a]   [ b ]            A box lies in every strip that it touches, three at most,
//    and strip 1  | [a]        [c]  [d ]   a pair is told in the first strip that has both. A box
//    that strip 0  |      [e]   [c]  [d ]   touches more is large and is swept among all instead,
//    so a
//             +--------------------->  floor costs one look at each box and slows nobody else.
//
// Pairs are put in order of the indices afterwards; until the end, places in the caller's array
// stand for shapes.

// Boxes wider than this are half-spaces and say nothing about where the others are.
#define SPREAD_WIDTH_MAX 1e6f

enum { DIGIT_BITS = 8, DIGIT_COUNT = 1 << DIGIT_BITS, KEY_BITS = 32 };
enum { STRIPS_MAX = 1024, STRIPS_OF_BOX_MAX = 3, LARGE = STRIPS_MAX };

// A box in order of the sweep: the interval along the sweep's axis first, across the strips second.
typedef struct swept {
    float lower[3];
    float upper[3];
    uint32_t place;
    uint16_t strip; // the first, or LARGE
    uint16_t active;
} swept;

typedef struct keyed {
    uint32_t key;
    uint32_t place;
} keyed;

typedef struct sweep {
    const cairn_broad_box *boxes;
    uint32_t count;
    swept *swept;           // all, `count`, in order of the sweep
    swept *stripped;        // those that are not large, once for each strip, by strip
    uint32_t *strip_starts; // STRIPS_MAX + 1, into `stripped`
    uint32_t *large;        // where in `swept` the large ones are, in order
    uint32_t *starts;       // `count` + 1: where the pairs of each lower place begin in the list
    uint32_t *nexts;        // `count`
    keyed *keys;            // `count`, twice, in the bytes of `stripped`, which comes later
    keyed *keys_spare;
    uint32_t strip_count;
    uint32_t large_count;
} sweep;

_Static_assert(2 * sizeof(keyed) <= STRIPS_OF_BOX_MAX * sizeof(swept), "the keys fit");
_Static_assert(LARGE <= UINT16_MAX, "a strip's number fits");

size_t cairn_broad_phase_scratch_size(uint32_t box_count) {
    const size_t count = box_count;
    const size_t words = STRIPS_MAX + 1 + count + count + 1 + count;
    return (1 + STRIPS_OF_BOX_MAX) * count * sizeof(swept) + words * sizeof(uint32_t);
}

static sweep sweep_of(const cairn_broad_box *boxes, uint32_t count, void *scratch) {
    CAIRN_ASSERT((uintptr_t)scratch % _Alignof(swept) == 0);
    swept *const first = scratch;
    swept *const stripped = first + count;
    keyed *const keys = (keyed *)(void *)stripped;
    uint32_t *const words = (uint32_t *)(void *)(stripped + (size_t)STRIPS_OF_BOX_MAX * count);
    return (sweep){.boxes = boxes,
        .count = count,
        .swept = first,
        .stripped = stripped,
        .strip_starts = words,
        .large = words + STRIPS_MAX + 1,
        .starts = words + STRIPS_MAX + 1 + count,
        .nexts = words + STRIPS_MAX + 1 + count + count + 1,
        .keys = keys,
        .keys_spare = keys + count,
        .strip_count = 0,
        .large_count = 0};
}

static float component(cairn_vec3 v, uint32_t axis) {
    return vec3_component(v, axis);
}

static bool says_where(const cairn_broad_box *box) {
    const cairn_vec3 width = vec3_sub(box->box.upper, box->box.lower);
    return width.x < SPREAD_WIDTH_MAX && width.y < SPREAD_WIDTH_MAX && width.z < SPREAD_WIDTH_MAX;
}

// Where the boxes are, by which axes and strips are chosen. Any choice gives the same pairs.
typedef struct spread {
    cairn_vec3 lower;
    cairn_vec3 upper;
    cairn_vec3 width;  // mean
    cairn_vec3 square; // sum of the squared distances of the centres from their mean, times four
} spread;

static spread spread_of(const sweep *s) {
    const float most = 1e9f;
    spread out = {.lower = vec3(most, most, most), .upper = vec3(-most, -most, -most)};
    cairn_vec3 sum = vec3_zero();
    float counted = 0.0f;
    for (uint32_t i = 0; i < s->count; ++i) {
        const cairn_aabb *box = &s->boxes[i].box;
        if (says_where(&s->boxes[i])) {
            const cairn_vec3 twice_centre = vec3_add(box->lower, box->upper);
            sum = vec3_add(sum, twice_centre);
            out.square = vec3_add(out.square, vec3_multiply(twice_centre, twice_centre));
            out.width = vec3_add(out.width, vec3_sub(box->upper, box->lower));
            out.lower = vec3_min(out.lower, box->lower);
            out.upper = vec3_max(out.upper, box->upper);
            counted += 1.0f;
        }
    }
    const float inverse = 1.0f / float_max(counted, 1.0f);
    out.square = vec3_sub_scaled(out.square, vec3_multiply(sum, sum), inverse);
    out.width = vec3_scale(out.width, inverse);
    return out;
}

// The sweep's axis, the axis across the strips, and the rest.
typedef struct axes {
    uint32_t index[3];
} axes;

static axes axes_by_spread(cairn_vec3 square) {
    const uint32_t first = square.x >= square.y && square.x >= square.z ? 0u
                           : square.y >= square.z                       ? 1u
                                                                        : 2u;
    const uint32_t next = (first + 1) % 3;
    const uint32_t other = (first + 2) % 3;
    const bool in_order = component(square, next) >= component(square, other);
    return (axes){.index = {first, in_order ? next : other, in_order ? other : next}};
}

// Strips about twice as wide as a box, so that most boxes lie in one or two.
typedef struct strips {
    float from;
    float inverse_width;
    uint32_t count;
} strips;

static strips strips_of(const spread *where, uint32_t axis) {
    const float from = component(where->lower, axis);
    const float range = component(where->upper, axis) - from;
    const float width = 2.0f * component(where->width, axis);
    if (!(range > width && width > 0.0f)) {
        return (strips){.from = 0.0f, .inverse_width = 0.0f, .count = 1};
    }
    const float limit = (float)STRIPS_MAX;
    const float count = float_clamp(range / width, 1.0f, limit);
    return (strips){.from = from, .inverse_width = count / range, .count = (uint32_t)count};
}

// Never falls when `value` rises, whatever is rounded: boxes that meet have a strip in common.
static uint32_t strip_at(const strips *s, float value) {
    const float last = (float)(s->count - 1);
    return (uint32_t)float_clamp((value - s->from) * s->inverse_width, 0.0f, last);
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

static swept swept_of(const cairn_broad_box *box, uint32_t place, const axes *a) {
    swept out = {.place = place, .strip = LARGE, .active = box->active != 0};
    for (uint32_t i = 0; i < 3; ++i) {
        out.lower[i] = component(box->box.lower, a->index[i]);
        out.upper[i] = component(box->box.upper, a->index[i]);
    }
    return out;
}

static void sort_along(sweep *s, const axes *a) {
    for (uint32_t i = 0; i < s->count; ++i) {
        const float lower = component(s->boxes[i].box.lower, a->index[0]);
        s->keys[i] = (keyed){.key = key_of_float(lower), .place = i};
    }
    for (uint32_t shift = 0; shift < KEY_BITS; shift += 2 * DIGIT_BITS) {
        sort_by_digit(s->keys, s->keys_spare, s->count, shift);
        sort_by_digit(s->keys_spare, s->keys, s->count, shift + DIGIT_BITS);
    }
    for (uint32_t i = 0; i < s->count; ++i) {
        const uint32_t place = s->keys[i].place;
        s->swept[i] = swept_of(&s->boxes[place], place, a);
    }
}

// Turns sizes into where each begins; one more entry says where the last ends.
static void counts_to_starts(uint32_t *starts, uint32_t count) {
    uint32_t start = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t size = starts[i];
        starts[i] = start;
        start += size;
    }
    starts[count] = start;
}

static void count_strips(sweep *s, const strips *across) {
    for (uint32_t i = 0; i <= across->count; ++i) {
        s->strip_starts[i] = 0;
    }
    for (uint32_t i = 0; i < s->count; ++i) {
        const uint32_t first = strip_at(across, s->swept[i].lower[1]);
        const uint32_t last = strip_at(across, s->swept[i].upper[1]);
        if (last - first < STRIPS_OF_BOX_MAX) {
            s->swept[i].strip = (uint16_t)first;
            for (uint32_t strip = first; strip <= last; ++strip) {
                s->strip_starts[strip] += 1;
            }
        } else {
            s->large[s->large_count] = i;
            s->large_count += 1;
        }
    }
}

// A counting sort: within a strip the order of the sweep remains.
static void fill_strips(sweep *s, const strips *across) {
    count_strips(s, across);
    counts_to_starts(s->strip_starts, across->count);
    for (uint32_t i = 0; i < s->count; ++i) {
        if (s->swept[i].strip != LARGE) {
            const uint32_t last = strip_at(across, s->swept[i].upper[1]);
            for (uint32_t strip = s->swept[i].strip; strip <= last; ++strip) {
                s->stripped[s->strip_starts[strip]] = s->swept[i];
                s->strip_starts[strip] += 1;
            }
        }
    }
    // Each start has moved to its end, which is the next one's start.
    for (uint32_t strip = across->count; strip > 0; --strip) {
        s->strip_starts[strip] = s->strip_starts[strip - 1];
    }
    s->strip_starts[0] = 0;
    s->strip_count = across->count;
}

static void sweep_sort(sweep *s) {
    const spread where = spread_of(s);
    const axes a = axes_by_spread(where.square);
    const strips across = strips_of(&where, a.index[1]);
    sort_along(s, &a);
    fill_strips(s, &across);
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

static void tell_if_met(const sweep *s, found *f, const swept *a, const swept *b) {
    if (meets_across(a, b) && may_pair(&s->boxes[a->place], &s->boxes[b->place])) {
        found_add(f, a->place, b->place);
    }
}

static void find_in_strip(const sweep *s, found *f, uint32_t strip) {
    const swept *const end = &s->stripped[s->strip_starts[strip + 1]];
    for (const swept *a = &s->stripped[s->strip_starts[strip]]; a < end; ++a) {
        for (const swept *b = a + 1; b < end && b->lower[0] <= a->upper[0]; ++b) {
            if (a->strip == strip || b->strip == strip) {
                tell_if_met(s, f, a, b);
            }
        }
    }
}

// Pairs of which at least one is large: a large one looks at all that begin after it, the others at
// the large ones that do.
static void find_large(const sweep *s, found *f) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < s->count && s->large_count > 0; ++i) {
        const swept *a = &s->swept[i];
        while (next < s->large_count && s->large[next] <= i) {
            next += 1;
        }
        const bool is_large = a->strip == LARGE;
        const uint32_t end = is_large ? s->count : s->large_count;
        for (uint32_t k = is_large ? i + 1 : next; k < end; ++k) {
            const swept *b = &s->swept[is_large ? k : s->large[k]];
            if (b->lower[0] > a->upper[0]) {
                break;
            }
            tell_if_met(s, f, a, b);
        }
    }
}

static void sweep_find(const sweep *s, found *f) {
    for (uint32_t strip = 0; strip < s->strip_count; ++strip) {
        find_in_strip(s, f, strip);
    }
    find_large(s, f);
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
    const axes plain = {.index = {0, 1, 2}};
    const swept swept_a = swept_of(a, 0, &plain);
    const swept swept_b = swept_of(b, 1, &plain);
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
