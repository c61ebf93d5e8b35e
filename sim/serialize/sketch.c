// SPDX-License-Identifier: MIT
#include "sim/serialize/sketch.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "sim/serialize/element_key.h"

#define CELLS_PER_ELEMENT 4 // one in each quarter of the table
#define BATCH 64
#define PRIME ((UINT64_C(1) << 61) - 1)

// Both below PRIME.
typedef struct cell {
    uint64_t sum;
    uint64_t weighted;
} cell;

typedef struct table {
    cell cells[CAIRN_SKETCH_CELLS_MAX];
    uint32_t count;
} table;

static uint64_t reduce(uint64_t a) {
    CAIRN_ASSERT(a < 2 * PRIME);
    return a >= PRIME ? a - PRIME : a;
}

static uint64_t add(uint64_t a, uint64_t b) {
    return reduce(a + b);
}

static uint64_t subtract(uint64_t a, uint64_t b) {
    return reduce(a + (PRIME - b));
}

// Both below 2^61. 2^61 is 1 modulo the prime, so the bits of the product from 61 on are added to
// those below.
static uint64_t multiply(uint64_t a, uint64_t b) {
    const uint64_t a_low = a & 0xffffffffu;
    const uint64_t a_high = a >> 32;
    const uint64_t b_low = b & 0xffffffffu;
    const uint64_t b_high = b >> 32;
    const uint64_t low = a_low * b_low;
    const uint64_t cross = a_low * b_high + (low >> 32); // below 2^61 + 2^32
    const uint64_t across = a_high * b_low + (cross & 0xffffffffu);
    const uint64_t high = a_high * b_high + (cross >> 32) + (across >> 32);
    const uint64_t rest = across << 32 | (low & 0xffffffffu);
    return reduce((rest & PRIME) + (high << 3 | rest >> 61));
}

// a^(PRIME - 2), Fermat's inverse: of the exponent's 61 bits all but the second are ones.
static uint64_t invert(uint64_t a) {
    CAIRN_ASSERT(a > 0 && a < PRIME);
    uint64_t result = 1;
    for (uint32_t bit = 61; bit > 0; --bit) {
        result = multiply(result, result);
        result = bit == 2 ? result : multiply(result, a);
    }
    return result;
}

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the key affects every cell
// index.
static uint64_t mix(uint64_t key) {
    uint64_t z = key + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// The number of cells is part of the hash: elements that collide in a table of one size do not
// collide in the next.
static void cells_of_key(uint32_t cells, cairn_element_key key, uint32_t out[CELLS_PER_ELEMENT]) {
    const uint64_t mixed = mix(key ^ (uint64_t)cells << 48);
    const uint32_t quarter = cells / CELLS_PER_ELEMENT;
    for (uint32_t i = 0; i < CELLS_PER_ELEMENT; ++i) {
        const uint32_t draw = (uint32_t)(mixed >> 16 * i) & 0xffffu;
        out[i] = i * quarter + (draw * quarter >> 16);
    }
    CAIRN_ASSERT(out[0] < quarter && out[CELLS_PER_ELEMENT - 1] < cells);
}

static void add_element(table *to, cairn_element_key key, cairn_hash128 leaf) {
    CAIRN_ASSERT(key < PRIME);
    uint32_t indices[CELLS_PER_ELEMENT];
    const uint64_t hash = reduce(leaf.lo >> 3);
    const uint64_t weighted = multiply(key, hash);
    cells_of_key(to->count, key, indices);
    for (uint32_t i = 0; i < CELLS_PER_ELEMENT; ++i) {
        cell *at = &to->cells[indices[i]];
        at->sum = add(at->sum, hash);
        at->weighted = add(at->weighted, weighted);
    }
}

static void add_run(table *to, const cairn_state *state, cairn_array array, cairn_run run) {
    CAIRN_ASSERT(run.begin <= run.end);
    const size_t size = cairn_array_element_size(array);
    const unsigned char *bytes = cairn_state_array(state, array);
    cairn_hash128 leaves[BATCH];
    for (uint32_t i = run.begin; i < run.end; i += BATCH) {
        const uint32_t count = run.end - i < BATCH ? run.end - i : BATCH;
        cairn_hash_blocks(
            element_key(array, i), bytes + i * size, size / sizeof(uint32_t), count, leaves);
        for (uint32_t k = 0; k < count; ++k) {
            add_element(to, element_key(array, i + k), leaves[k]);
        }
    }
}

static void build_table(const cairn_state *state, uint32_t cells, table *out) {
    CAIRN_ASSERT(cells % CELLS_PER_ELEMENT == 0 && cells >= CAIRN_SKETCH_CELLS_MIN);
    CAIRN_ASSERT(cells <= CAIRN_SKETCH_CELLS_MAX);
    memset(out->cells, 0, cells * sizeof out->cells[0]);
    out->count = cells;
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        if (array == CAIRN_ARRAY_SETTINGS) {
            const cairn_element_key key = element_key(array, 0);
            const size_t count = sizeof(cairn_settings) / 4 - CAIRN_SETTINGS_DEF_WORDS;
            const uint32_t *words = cairn_element_find(state, key);
            CAIRN_ASSERT(words != NULL);
            add_element(out, key, cairn_hash_words(key, words, count));
        } else if (array == CAIRN_ARRAY_CONTACTS) {
            for (uint32_t i = 0; i < state->settings->contact_count; ++i) {
                const cairn_contact *contact = &state->contacts[i];
                const cairn_element_key key = element_key_of_contact(contact);
                add_element(out, key, cairn_hash_words(key, contact, sizeof *contact / 4));
            }
        } else {
            cairn_run run = cairn_state_run(state, array, 0);
            for (; run.begin < run.end; run = cairn_state_run(state, array, run.end)) {
                add_run(out, state, array, run);
            }
        }
    }
}

void cairn_sketch_build(const cairn_world *world, uint32_t cells, uint8_t *out) {
    table own;
    build_table(&world->state, cells, &own);
    cairn_writer writer = cairn_writer_of(out, (size_t)cells * CAIRN_SKETCH_CELL_SIZE);
    for (uint32_t i = 0; i < cells; ++i) {
        cairn_write_u64(&writer, own.cells[i].sum);
        cairn_write_u64(&writer, own.cells[i].weighted);
    }
    CAIRN_ASSERT(writer.ok && writer.at == writer.size);
}

// Subtracts an encoded sketch. False if no sketch has such cells.
static bool subtract_encoded(table *mine, const uint8_t *theirs, size_t size) {
    cairn_reader reader = cairn_reader_of(theirs, size);
    CAIRN_ASSERT(size == (size_t)mine->count * CAIRN_SKETCH_CELL_SIZE);
    bool ok = true;
    for (uint32_t i = 0; i < mine->count; ++i) {
        const uint64_t sum = cairn_read_u64(&reader);
        const uint64_t weighted = cairn_read_u64(&reader);
        ok = ok && sum < PRIME && weighted < PRIME;
        mine->cells[i].sum = ok ? subtract(mine->cells[i].sum, sum) : 0;
        mine->cells[i].weighted = ok ? subtract(mine->cells[i].weighted, weighted) : 0;
    }
    return ok;
}

// Whether cell `at` holds exactly one element: the quotient of its sums is a valid key, and the key
// belongs into this cell.
static bool holds_one_element(
    const table *rest, uint32_t at, const cairn_settings *settings, cairn_element_key *key) {
    CAIRN_ASSERT(at < rest->count);
    uint32_t indices[CELLS_PER_ELEMENT];
    const cell one = rest->cells[at];
    if (one.sum == 0) {
        return false;
    }
    *key = multiply(one.weighted, invert(one.sum));
    cells_of_key(rest->count, *key, indices);
    return indices[at / (rest->count / CELLS_PER_ELEMENT)] == at &&
           cairn_element_key_ok(settings, *key);
}

// Inserts in order; false if the key is already present.
static bool insert_key(cairn_element_key *keys, uint32_t count, cairn_element_key key) {
    uint32_t at = count;
    while (at > 0 && keys[at - 1] > key) {
        --at;
    }
    if (at > 0 && keys[at - 1] == key) {
        return false;
    }
    CAIRN_ASSERT(at == count || key < keys[at]);
    memmove(keys + at + 1, keys + at, (count - at) * sizeof keys[0]);
    keys[at] = key;
    return true;
}

// Cells to visit: first all, then those that an element was removed from.
typedef struct worklist {
    uint32_t cells[CAIRN_SKETCH_CELLS_MAX * (CELLS_PER_ELEMENT + 1)];
    uint32_t count;
} worklist;

static void remove_element(table *rest, uint32_t at, cairn_element_key key, worklist *work) {
    uint32_t indices[CELLS_PER_ELEMENT];
    const cell one = rest->cells[at];
    cells_of_key(rest->count, key, indices);
    for (uint32_t i = 0; i < CELLS_PER_ELEMENT; ++i) {
        cell *from = &rest->cells[indices[i]];
        from->sum = subtract(from->sum, one.sum);
        from->weighted = subtract(from->weighted, one.weighted);
        CAIRN_ASSERT(work->count < CAIRN_SKETCH_CELLS_MAX * (CELLS_PER_ELEMENT + 1));
        work->cells[work->count++] = indices[i];
    }
}

// Removes element after element. False: not all of them fit `keys`, or some could not be decoded.
// At most as many elements are removed as there are cells, so the loop ends for any bytes.
static bool peel(table *rest, const cairn_settings *settings, cairn_element_key *keys,
    uint32_t capacity, uint32_t *count) {
    worklist work;
    work.count = rest->count;
    for (uint32_t i = 0; i < rest->count; ++i) {
        work.cells[i] = i;
    }
    const uint32_t count_max = capacity < rest->count ? capacity : rest->count;
    while (work.count > 0) {
        cairn_element_key key = 0;
        const uint32_t at = work.cells[--work.count];
        CAIRN_ASSERT(at < rest->count);
        if (!holds_one_element(rest, at, settings, &key)) {
            continue;
        }
        if (*count == count_max || !insert_key(keys, *count, key)) {
            return false;
        }
        *count += 1;
        remove_element(rest, at, key, &work);
    }
    CAIRN_ASSERT(*count <= count_max);
    for (uint32_t i = 0; i < rest->count; ++i) {
        if (rest->cells[i].sum != 0 || rest->cells[i].weighted != 0) {
            return false;
        }
    }
    return true;
}

bool cairn_sketch_size_ok(size_t size) {
    return size % ((size_t)CELLS_PER_ELEMENT * CAIRN_SKETCH_CELL_SIZE) == 0 &&
           size >= (size_t)CAIRN_SKETCH_CELLS_MIN * CAIRN_SKETCH_CELL_SIZE &&
           size <= (size_t)CAIRN_SKETCH_CELLS_MAX * CAIRN_SKETCH_CELL_SIZE;
}

// What is left of a world's sketch without the other one.
static cairn_status decode_rest(table *rest, const cairn_settings *settings, const uint8_t *theirs,
    size_t size, cairn_element_key *keys, uint32_t capacity, uint32_t *count) {
    *count = 0;
    if (!subtract_encoded(rest, theirs, size)) {
        return CAIRN_MALFORMED;
    }
    if (!peel(rest, settings, keys, capacity, count)) {
        *count = 0;
        return CAIRN_CAPACITY;
    }
    CAIRN_ASSERT(*count <= capacity);
    return CAIRN_OK;
}

cairn_status cairn_sketch_difference(const cairn_world *mine, const uint8_t *theirs, size_t size,
    cairn_element_key *keys, uint32_t capacity, uint32_t *count) {
    table rest;
    *count = 0;
    if (!cairn_sketch_size_ok(size)) {
        return CAIRN_MALFORMED;
    }
    build_table(&mine->state, (uint32_t)(size / CAIRN_SKETCH_CELL_SIZE), &rest);
    return decode_rest(&rest, mine->state.settings, theirs, size, keys, capacity, count);
}

cairn_status cairn_sketch_compare(const cairn_world *mine, const uint8_t *sketch,
    const uint8_t *theirs, size_t size, cairn_element_key *keys, uint32_t capacity,
    uint32_t *count) {
    table rest = {.count = (uint32_t)(size / CAIRN_SKETCH_CELL_SIZE)};
    cairn_reader reader = cairn_reader_of(sketch, size);
    CAIRN_ASSERT(cairn_sketch_size_ok(size));
    for (uint32_t i = 0; i < rest.count; ++i) {
        rest.cells[i].sum = cairn_read_u64(&reader);
        rest.cells[i].weighted = cairn_read_u64(&reader);
    }
    return decode_rest(&rest, mine->state.settings, theirs, size, keys, capacity, count);
}
