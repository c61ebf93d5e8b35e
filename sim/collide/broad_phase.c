// SPDX-License-Identifier: MIT
#include "sim/collide/broad_phase.h"

#include <string.h>

#include "base/assert.h"
#include "sim/math/vec.h"

// Sort and sweep (Baraff 1992, section 7.2.1) along the axis on which the boxes are most spread
// out, within strips perpendicular to the axis on which they are second most spread out:
//
//    strip 2  | [a]   [ b ]            A box belongs to the strip of its lower edge. It is tested
//    strip 1  | [a]        [c]  [d ]   against the boxes after it in its own strip, and in later
//    strip 0  |      [e]   [c]  [d ]   strips that it extends into also against those before it
//             +--------------------->  that may reach it. So each pair is found once.
//
// Within a strip the boxes are stored component by component and tested several at a time. A box
// much longer along the sweep than the others would widen the range of candidates of all of them;
// it is tested against all boxes, in order of the index, instead.

// Boxes wider than this are half-spaces and do not count for the choice of axes.
#define SPREAD_WIDTH_MAX 1e6f
// An empty box has this as its lower bound and its negative as its upper bound.
#define EMPTY_BOUND 3e38f
// A box longer than this many mean lengths counts as long.
#define LONG_FACTOR 3.0f

enum { DIGIT_BITS = 11, DIGIT_COUNT = 1 << DIGIT_BITS, DIGIT_PASSES = 3 };
enum { STRIPS_MAX = 256, TEST_WIDTH = 8, SAMPLES = 256 };
// Boxes that are swept by one thread at a time.
#define CHUNK 128u
// Up to this many pairs are sorted by insertion: counting takes time for every box.
#define FEW_PAIRS 32u

typedef struct sort_key {
    uint32_t key;
    uint32_t index;
} sort_key;

typedef struct sweep {
    const cairn_aabb_array *boxes;
    uint32_t axes[3]; // of the sweep, across the strips, and the rest
    sort_key *keys;   // those with a box that is not long, in order of the sweep
    sort_key *keys_spare;
    uint32_t count;       // of them
    uint32_t *long_boxes; // indices of the long ones
    uint32_t long_count;
    float length_max; // greatest length along the sweep of those that are not long
    float *lower[3];  // by strip, in order of the sweep; by axis of the sweep
    float *upper[3];
    uint32_t *index_of; // by strip, in order of the sweep
    uint32_t *starts;   // of the strips, STRIPS_MAX + 1
    uint32_t *counts;   // boxes->count + 1, for sorting pairs
    cairn_pair *spare_pairs;
    float strip_from;
    float strip_scale;
    uint32_t strip_count;
} sweep;

size_t cairn_broad_phase_stride(uint32_t count) {
    return (size_t)count + TEST_WIDTH;
}

void cairn_aabb_array_set(const cairn_aabb_array *boxes, uint32_t index, cairn_aabb box) {
    boxes->lower[0][index] = box.lower.x;
    boxes->lower[1][index] = box.lower.y;
    boxes->lower[2][index] = box.lower.z;
    boxes->upper[0][index] = box.upper.x;
    boxes->upper[1][index] = box.upper.y;
    boxes->upper[2][index] = box.upper.z;
}

void cairn_aabb_array_clear(const cairn_aabb_array *boxes, uint32_t index) {
    for (int axis = 0; axis < 3; ++axis) {
        boxes->lower[axis][index] = EMPTY_BOUND;
        boxes->upper[axis][index] = -EMPTY_BOUND;
    }
}

// ---- Scratch

size_t cairn_broad_phase_scratch_size(uint32_t box_count, uint32_t pair_capacity) {
    const size_t count = box_count;
    const size_t words = 2 * count * 2 + count + 7 * cairn_broad_phase_stride(box_count) +
                         STRIPS_MAX + 1 + count + 1;
    return words * sizeof(uint32_t) + pair_capacity * sizeof(cairn_pair);
}

static void *carve_words(unsigned char **at, size_t count) {
    void *const piece = *at;
    *at += count * sizeof(uint32_t);
    return piece;
}

static sweep carve_sweep(const cairn_aabb_array *boxes, void *scratch) {
    CAIRN_ASSERT((uintptr_t)scratch % _Alignof(uint32_t) == 0);
    const size_t count = boxes->count;
    const size_t stride = cairn_broad_phase_stride(boxes->count);
    unsigned char *at = scratch;
    sweep s = {.boxes = boxes};
    s.keys = carve_words(&at, 2 * count);
    s.keys_spare = carve_words(&at, 2 * count);
    s.long_boxes = carve_words(&at, count);
    for (int axis = 0; axis < 3; ++axis) {
        s.lower[axis] = carve_words(&at, stride);
        s.upper[axis] = carve_words(&at, stride);
    }
    s.index_of = carve_words(&at, stride);
    s.starts = carve_words(&at, STRIPS_MAX + 1);
    s.counts = carve_words(&at, count + 1);
    s.spare_pairs = (cairn_pair *)(void *)at;
    return s;
}

// ---- How the boxes are spread, which decides the axes and strips. Every choice gives the same
// pairs.

typedef struct spread {
    float lower;
    float upper;
    float width;  // mean
    float square; // sum of the squared distances of the centres from their mean, times four
} spread;

// From a sample of the boxes.
static spread spread_of(const cairn_aabb_array *boxes, uint32_t axis) {
    CAIRN_ASSERT(axis < 3);
    const float *lower = boxes->lower[axis];
    const float *upper = boxes->upper[axis];
    spread out = {.lower = EMPTY_BOUND, .upper = -EMPTY_BOUND};
    float sum = 0.0f;
    float counted = 0.0f;
    for (uint32_t i = 0; i < boxes->count; i += 1 + boxes->count / SAMPLES) {
        if (lower[i] <= upper[i] && boxes->upper[0][i] - boxes->lower[0][i] < SPREAD_WIDTH_MAX &&
            boxes->upper[1][i] - boxes->lower[1][i] < SPREAD_WIDTH_MAX &&
            boxes->upper[2][i] - boxes->lower[2][i] < SPREAD_WIDTH_MAX) {
            const float twice_centre = lower[i] + upper[i];
            sum += twice_centre;
            out.square += twice_centre * twice_centre;
            out.width += upper[i] - lower[i];
            out.lower = float_min(out.lower, lower[i]);
            out.upper = float_max(out.upper, upper[i]);
            counted += 1.0f;
        }
    }
    const float inverse = 1.0f / float_max(counted, 1.0f);
    out.square -= sum * sum * inverse;
    out.width *= inverse;
    return out;
}

static void choose_axes(sweep *s, const spread spreads[3]) {
    const uint32_t first =
        vec3_largest_axis(vec3(spreads[0].square, spreads[1].square, spreads[2].square));
    const uint32_t next = (first + 1) % 3;
    const uint32_t other = (first + 2) % 3;
    const bool in_order = spreads[next].square >= spreads[other].square;
    CAIRN_ASSERT(first < 3);
    s->axes[0] = first;
    s->axes[1] = in_order ? next : other;
    s->axes[2] = in_order ? other : next;
}

// Strips a little wider than a box, so that most boxes extend into one more.
static void choose_strips(sweep *s, const spread *across) {
    const float range = across->upper - across->lower;
    const float width = 1.25f * across->width;
    const bool useful = range > width && width > 0.0f;
    const float count = useful ? float_clamp(range / width, 1.0f, (float)STRIPS_MAX) : 1.0f;
    s->strip_from = useful ? across->lower : 0.0f;
    s->strip_scale = useful ? count / range : 0.0f;
    CAIRN_ASSERT(count >= 1.0f && count <= (float)STRIPS_MAX);
    s->strip_count = (uint32_t)count;
}

// Monotonic in `value` despite rounding.
static uint32_t strip_at(const sweep *s, float value) {
    const float last = (float)(s->strip_count - 1);
    return (uint32_t)float_clamp((value - s->strip_from) * s->strip_scale, 0.0f, last);
}

// ---- Order of the sweep

static void collect_keys(sweep *s, float long_length) {
    const float *lower = s->boxes->lower[s->axes[0]];
    const float *upper = s->boxes->upper[s->axes[0]];
    for (uint32_t i = 0; i < s->boxes->count; ++i) {
        const float length = upper[i] - lower[i];
        if (length > long_length) {
            s->long_boxes[s->long_count++] = i;
        } else if (lower[i] <= upper[i]) {
            // Maps floats to unsigned numbers in the same order: negative ones are inverted, others
            // are put above them.
            const uint32_t bits = float_bits(lower[i]);
            const uint32_t key = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
            s->keys[s->count++] = (sort_key){.key = key, .index = i};
            s->length_max = float_max(s->length_max, length);
        }
    }
}

// Converts sizes to start indices, with one more entry for the end of the last.
static void counts_to_starts(uint32_t *starts, uint32_t count) {
    uint32_t start = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t size = starts[i];
        starts[i] = start;
        start += size;
    }
    starts[count] = start;
}

// Radix sort from the least digit, stable: equal keys stay in order of the index.
static void sort_keys(sweep *s) {
    CAIRN_ASSERT(s->count <= s->boxes->count);
    uint32_t starts[DIGIT_PASSES][DIGIT_COUNT + 1];
    memset(starts, 0, sizeof starts);
    for (uint32_t i = 0; i < s->count; ++i) {
        const uint32_t key = s->keys[i].key;
        starts[0][key % DIGIT_COUNT] += 1;
        starts[1][(key >> DIGIT_BITS) % DIGIT_COUNT] += 1;
        starts[2][key >> 2 * DIGIT_BITS] += 1;
    }
    for (uint32_t pass = 0; pass < DIGIT_PASSES; ++pass) {
        counts_to_starts(starts[pass], DIGIT_COUNT);
        const uint32_t shift = pass * DIGIT_BITS;
        for (uint32_t i = 0; i < s->count; ++i) {
            const uint32_t digit = (s->keys[i].key >> shift) % DIGIT_COUNT;
            s->keys_spare[starts[pass][digit]] = s->keys[i];
            starts[pass][digit] += 1;
        }
        sort_key *const sorted = s->keys_spare;
        s->keys_spare = s->keys;
        s->keys = sorted;
    }
}

// A counting sort by strip: within one the order of the sweep remains.
static void fill_strips(sweep *s) {
    CAIRN_ASSERT(s->strip_count >= 1 && s->strip_count <= STRIPS_MAX);
    const float *across = s->boxes->lower[s->axes[1]];
    memset(s->starts, 0, (s->strip_count + 1) * sizeof *s->starts);
    for (uint32_t i = 0; i < s->count; ++i) {
        const uint32_t strip = strip_at(s, across[s->keys[i].index]);
        s->keys[i].key = strip;
        s->starts[strip] += 1;
    }
    counts_to_starts(s->starts, s->strip_count);
    for (uint32_t i = 0; i < s->count; ++i) {
        const sort_key from = s->keys[i];
        const uint32_t to = s->starts[from.key];
        s->starts[from.key] = to + 1;
        s->index_of[to] = from.index;
        for (uint32_t axis = 0; axis < 3; ++axis) {
            s->lower[axis][to] = s->boxes->lower[s->axes[axis]][from.index];
            s->upper[axis][to] = s->boxes->upper[s->axes[axis]][from.index];
        }
    }
    // Each start has advanced to its end, which is the start of the next one.
    memmove(s->starts + 1, s->starts, s->strip_count * sizeof *s->starts);
    s->starts[0] = 0;
    for (uint32_t axis = 0; axis < 3; ++axis) {
        memset(&s->lower[axis][s->count], 0, TEST_WIDTH * sizeof(float));
        memset(&s->upper[axis][s->count], 0, TEST_WIDTH * sizeof(float));
    }
}

// ---- Overlap, TEST_WIDTH boxes at a time. Comparisons have the same result at every width.

enum { LANES = 4 };
typedef float float4 __attribute__((vector_size(4 * LANES)));
typedef int32_t mask4 __attribute__((vector_size(4 * LANES)));

typedef struct bounds {
    float lower[3];
    float upper[3];
} bounds;

static float4 float4_load(const float *from) {
    float4 out;
    memcpy(&out, from, sizeof out);
    return out;
}

static float4 float4_all(float value) {
    return (float4){value, value, value, value};
}

// For the LANES boxes at `at`: all bits of a lane where both intervals on `axis` share a point.
static mask4 overlap_on_axis(
    const bounds *a, float *const lower[3], float *const upper[3], uint32_t axis, uint32_t at) {
    return (float4_load(&lower[axis][at]) <= float4_all(a->upper[axis])) &
           (float4_all(a->lower[axis]) <= float4_load(&upper[axis][at]));
}

static mask4 overlap_of_four(
    const bounds *a, float *const lower[3], float *const upper[3], uint32_t at) {
    return overlap_on_axis(a, lower, upper, 0, at) & overlap_on_axis(a, lower, upper, 1, at) &
           overlap_on_axis(a, lower, upper, 2, at);
}

// Whether any of the TEST_WIDTH boxes at `at` does on that axis.
static bool any_overlap_on_axis(
    const bounds *a, float *const lower[3], float *const upper[3], uint32_t axis, uint32_t at) {
    const mask4 hits = overlap_on_axis(a, lower, upper, axis, at) |
                       overlap_on_axis(a, lower, upper, axis, at + LANES);
    uint64_t halves[2];
    memcpy(halves, &hits, sizeof halves);
    return (halves[0] | halves[1]) != 0;
}

// Bit k: the box at `at` + k overlaps.
static uint32_t overlaps(
    const bounds *a, float *const lower[3], float *const upper[3], uint32_t at) {
    const mask4 first = {1, 2, 4, 8};
    const mask4 second = {16, 32, 64, 128};
    const mask4 hits = (overlap_of_four(a, lower, upper, at) & first) |
                       (overlap_of_four(a, lower, upper, at + LANES) & second);
    uint64_t halves[2];
    memcpy(halves, &hits, sizeof halves);
    const uint64_t both = halves[0] | halves[1];
    return (uint32_t)both | (uint32_t)(both >> 32);
}

static bool filters_pass(const cairn_broad_phase_filter *a, const cairn_broad_phase_filter *b) {
    return ((uint32_t)(a->body != b->body) & (uint32_t)((a->category & b->mask) != 0) &
               (uint32_t)((b->category & a->mask) != 0) &
               (uint32_t)((a->active | b->active) != 0)) != 0;
}

// ---- The sweep

// Pairs in the order in which they are found; those that do not fit are only counted.
typedef struct found {
    uint32_t count;
    uint32_t capacity;
    cairn_pair *pairs;
} found;

static void add_found_pair(found *f, uint32_t index, uint32_t other) {
    CAIRN_ASSERT(index != other);
    if (f->count < f->capacity) {
        f->pairs[f->count] = (cairn_pair){
            .shape_a = index < other ? index : other, .shape_b = index < other ? other : index};
    }
    f->count += 1;
}

// Tests box `i` against those from `at` to `end`, as long as they begin before it ends.
static void test_against_run(const sweep *s, found *f, uint32_t i, uint32_t at, uint32_t end) {
    const bounds a = {.lower = {s->lower[0][i], s->lower[1][i], s->lower[2][i]},
        .upper = {s->upper[0][i], s->upper[1][i], s->upper[2][i]}};
    const cairn_broad_phase_filter *filters = s->boxes->filters;
    const uint32_t index = s->index_of[i];
    for (; at < end && s->lower[0][at] <= a.upper[0]; at += TEST_WIDTH) {
        uint32_t bits = overlaps(&a, s->lower, s->upper, at);
        for (uint32_t k = at; bits != 0 && k < end; ++k, bits >>= 1) {
            if ((bits & 1u) != 0 && filters_pass(&filters[index], &filters[s->index_of[k]])) {
                add_found_pair(f, index, s->index_of[k]);
            }
        }
    }
}

// The first box of the strip that may overlap box `i` along the sweep.
static uint32_t find_run_start(const sweep *s, uint32_t strip, uint32_t i) {
    uint32_t from = s->starts[strip];
    uint32_t count = s->starts[strip + 1] - from;
    while (count > 0) {
        const uint32_t half = count / 2;
        const bool before = s->lower[0][from + half] + s->length_max < s->lower[0][i];
        from += before ? half + 1 : 0;
        count = before ? count - half - 1 : half;
    }
    return from;
}

// Finds the pairs of boxes first .. last - 1 with those after them and in later strips.
static void sweep_boxes(const sweep *s, found *f, uint32_t first, uint32_t last) {
    CAIRN_ASSERT(first <= last && last <= s->count);
    uint32_t run_starts[STRIPS_MAX + 1]; // in each strip, the first box that may overlap
    uint32_t strip = 0;
    for (uint32_t i = first; i < last;) {
        while (s->starts[strip + 1] <= i) {
            ++strip;
        }
        const uint32_t strip_end = s->starts[strip + 1];
        const uint32_t end = strip_end < last ? strip_end : last;
        uint32_t known = strip + 1; // the run starts of later strips are not set yet
        for (; i < end; ++i) {
            test_against_run(s, f, i, i + 1, strip_end);
            const uint32_t to = strip_at(s, s->upper[1][i]);
            for (; known <= to; ++known) {
                run_starts[known] = find_run_start(s, known, i);
            }
            for (uint32_t other = strip + 1; other <= to; ++other) {
                const uint32_t other_end = s->starts[other + 1];
                uint32_t from = run_starts[other];
                while (from < other_end && s->lower[0][from] + s->length_max < s->lower[0][i]) {
                    ++from;
                }
                run_starts[other] = from;
                test_against_run(s, f, i, from, other_end);
            }
        }
    }
}

typedef struct chunk_sweep {
    const sweep *sweep;
    cairn_pair *pairs;
    uint32_t capacity;
} chunk_sweep;

// Where the pairs of a chunk of boxes begin: each chunk has its share of the list.
static uint32_t chunk_begin(const chunk_sweep *all, uint32_t chunk) {
    const uint32_t box = chunk * CHUNK;
    const uint32_t count = all->sweep->count;
    return (uint32_t)((uint64_t)all->capacity * (box < count ? box : count) / count);
}

static void sweep_chunks(const void *context, uint32_t begin, uint32_t end) {
    const chunk_sweep *all = context;
    for (uint32_t chunk = begin; chunk < end; ++chunk) {
        const uint32_t first = chunk * CHUNK;
        const uint32_t left = all->sweep->count - first;
        const uint32_t at = chunk_begin(all, chunk);
        found f = {.capacity = chunk_begin(all, chunk + 1) - at, .pairs = &all->pairs[at]};
        sweep_boxes(all->sweep, &f, first, first + (left < CHUNK ? left : CHUNK));
        all->sweep->counts[chunk] = f.count;
    }
}

// Shares the sweep among the workers. The order in which pairs are found does not matter, because
// they are sorted.
static void sweep_all(cairn_task_scheduler *scheduler, const sweep *s, found *f) {
    CAIRN_ASSERT(s->starts[0] == 0 && s->starts[s->strip_count] == s->count && f->count == 0);
    if (s->count == 0) {
        return;
    }
    const chunk_sweep all = {.sweep = s, .pairs = f->pairs, .capacity = f->capacity};
    const uint32_t chunks = (s->count + CHUNK - 1) / CHUNK;
    cairn_task_scheduler_parallel_for(scheduler, sweep_chunks, &all, 0, chunks, 1);
    for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
        const uint32_t at = chunk_begin(&all, chunk);
        if (s->counts[chunk] > chunk_begin(&all, chunk + 1) - at) {
            // Too many for the share of a chunk: the main thread fills the list in one piece.
            f->count = 0;
            sweep_boxes(s, f, 0, s->count);
            return;
        }
        memmove(&f->pairs[f->count], &f->pairs[at], s->counts[chunk] * sizeof *f->pairs);
        f->count += s->counts[chunk];
    }
}

// A pair of two long boxes is found by the lower one.
static void test_long_boxes(const sweep *s, found *f) {
    CAIRN_ASSERT(s->long_count + s->count <= s->boxes->count);
    const cairn_aabb_array *boxes = s->boxes;
    const float *lower = boxes->lower[s->axes[0]];
    const float *upper = boxes->upper[s->axes[0]];
    for (uint32_t l = 0; l < s->long_count; ++l) {
        const uint32_t i = s->long_boxes[l];
        const bounds a = {.lower = {boxes->lower[0][i], boxes->lower[1][i], boxes->lower[2][i]},
            .upper = {boxes->upper[0][i], boxes->upper[1][i], boxes->upper[2][i]}};
        for (uint32_t at = 0; at < boxes->count; at += TEST_WIDTH) {
            uint32_t bits = overlaps(&a, boxes->lower, boxes->upper, at);
            for (uint32_t k = at; bits != 0 && k < boxes->count; ++k, bits >>= 1) {
                const bool both_long = upper[k] - lower[k] > s->length_max;
                if ((bits & 1u) != 0 && k != i && (k > i || !both_long) &&
                    filters_pass(&boxes->filters[i], &boxes->filters[k])) {
                    add_found_pair(f, i, k);
                }
            }
        }
    }
}

// ---- Order of the pairs

static bool pair_before(cairn_pair a, cairn_pair b) {
    return a.shape_a < b.shape_a || (a.shape_a == b.shape_a && a.shape_b < b.shape_b);
}

static void sort_few_pairs(cairn_pair *pairs, uint32_t count) {
    for (uint32_t i = 1; i < count; ++i) {
        const cairn_pair pair = pairs[i];
        uint32_t at = i;
        for (; at > 0 && pair_before(pair, pairs[at - 1]); --at) {
            pairs[at] = pairs[at - 1];
        }
        pairs[at] = pair;
    }
}

// Two counting sorts: by the higher index, and then, stably, by the lower.
static void sort_pairs(const sweep *s, cairn_pair *pairs, uint32_t count) {
    const uint32_t box_count = s->boxes->count;
    if (count <= FEW_PAIRS) {
        sort_few_pairs(pairs, count);
        return;
    }
    memset(s->counts, 0, (box_count + 1) * sizeof *s->counts);
    for (uint32_t i = 0; i < count; ++i) {
        CAIRN_ASSERT(pairs[i].shape_a < pairs[i].shape_b && pairs[i].shape_b < box_count);
        s->counts[pairs[i].shape_b] += 1;
    }
    counts_to_starts(s->counts, box_count);
    for (uint32_t i = 0; i < count; ++i) {
        s->spare_pairs[s->counts[pairs[i].shape_b]++] = pairs[i];
    }
    memset(s->counts, 0, (box_count + 1) * sizeof *s->counts);
    for (uint32_t i = 0; i < count; ++i) {
        s->counts[pairs[i].shape_a] += 1;
    }
    counts_to_starts(s->counts, box_count);
    for (uint32_t i = 0; i < count; ++i) {
        pairs[s->counts[s->spare_pairs[i].shape_a]++] = s->spare_pairs[i];
    }
}

void cairn_broad_phase_sort_pairs(
    const cairn_aabb_array *boxes, void *scratch, cairn_pair *pairs, uint32_t count) {
    CAIRN_ASSERT(count == 0 || boxes->count >= 2);
    const sweep s = carve_sweep(boxes, scratch);
    sort_pairs(&s, pairs, count);
}

uint32_t cairn_broad_phase_query(const cairn_aabb_array *boxes, uint32_t index, uint32_t first,
    uint32_t *others, uint32_t capacity) {
    CAIRN_ASSERT(index < boxes->count);
    const bounds a = {
        .lower = {boxes->lower[0][index], boxes->lower[1][index], boxes->lower[2][index]},
        .upper = {boxes->upper[0][index], boxes->upper[1][index], boxes->upper[2][index]}};
    uint32_t count = 0;
    for (uint32_t at = first; at < boxes->count; at += TEST_WIDTH) {
        // Most boxes are far away along the first axis.
        if (!any_overlap_on_axis(&a, boxes->lower, boxes->upper, 0, at)) {
            continue;
        }
        uint32_t bits = overlaps(&a, boxes->lower, boxes->upper, at);
        for (uint32_t k = at; bits != 0 && k < boxes->count; ++k, bits >>= 1) {
            if ((bits & 1u) != 0 && k != index &&
                filters_pass(&boxes->filters[index], &boxes->filters[k])) {
                if (count == capacity) {
                    return count;
                }
                others[count++] = k;
            }
        }
    }
    return count;
}

// The first pairs, if the list cannot hold all: found in order, without sorting.
static void list_first_pairs(const sweep *s, cairn_pair *pairs, uint32_t capacity) {
    uint32_t *others = s->long_boxes;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->boxes->count && count < capacity; ++i) {
        const uint32_t more = cairn_broad_phase_query(s->boxes, i, i + 1, others, s->boxes->count);
        for (uint32_t k = 0; k < more && count < capacity; ++k) {
            pairs[count++] = (cairn_pair){.shape_a = i, .shape_b = others[k]};
        }
    }
}

uint32_t cairn_broad_phase_find_pairs(cairn_task_scheduler *scheduler,
    const cairn_aabb_array *boxes, void *scratch, cairn_pair *pairs, uint32_t capacity) {
    sweep s = carve_sweep(boxes, scratch);
    const spread spreads[3] = {spread_of(boxes, 0), spread_of(boxes, 1), spread_of(boxes, 2)};
    choose_axes(&s, spreads);
    choose_strips(&s, &spreads[s.axes[1]]);
    collect_keys(&s, float_min(LONG_FACTOR * spreads[s.axes[0]].width, SPREAD_WIDTH_MAX));
    sort_keys(&s);
    fill_strips(&s);
    found all = {.capacity = capacity, .pairs = pairs};
    sweep_all(scheduler, &s, &all);
    test_long_boxes(&s, &all);
    if (all.count <= capacity) {
        sort_pairs(&s, pairs, all.count);
    } else {
        list_first_pairs(&s, pairs, capacity);
    }
    CAIRN_ASSERT(all.count == 0 || boxes->count >= 2);
    return all.count;
}
