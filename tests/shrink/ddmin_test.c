// SPDX-License-Identifier: MIT
// ddmin finds lists from which nothing can be left out, in few questions, for any number of
// workers.
#include "tests/kit/test.h"

#include "tools/replay/shrink/ddmin.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000 };

typedef struct fault {
    uint32_t needed[4];
    uint32_t needed_count;
    uint32_t asked, asked_max;
} fault;

static bool fails(const fault *f, const uint32_t *items, uint32_t count) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t k = 0; k < f->needed_count; ++k) {
            found += items[i] == f->needed[k] ? 1 : 0;
        }
    }
    return found == f->needed_count;
}

static uint32_t ask(void *context, const cairn_ddmin_trials *trials, bool *stop) {
    fault *f = context;
    f->asked += trials->count;
    *stop = f->asked_max > 0 && f->asked >= f->asked_max;
    for (uint32_t i = 0; i < trials->count; ++i) {
        if (fails(f, trials->items[i], trials->counts[i])) {
            return i;
        }
    }
    return trials->count;
}

static uint32_t reduce(fault *f, uint32_t workers, uint32_t items[COUNT]) {
    bool stop = false;
    for (uint32_t i = 0; i < COUNT; ++i) {
        items[i] = i;
    }
    return cairn_ddmin(items, COUNT, workers, ask, f, &stop);
}

TEST("the items that a failure needs are left, in their order") {
    const fault faults[] = {
        {.needed_count = 0},
        {.needed = {999}, .needed_count = 1},
        {.needed = {0, 999}, .needed_count = 2},
        {.needed = {3, 4, 500, 777}, .needed_count = 4},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) {
        fault f = faults[i];
        uint32_t items[COUNT];
        assert_int_equal(reduce(&f, 1, items), f.needed_count);
        assert_memory_equal(items, f.needed, f.needed_count * sizeof *items);
        assert_in_range(f.asked, 1, 300);
    }
}

TEST("items that matter most stand first: then few questions do") {
    fault f = {.needed = {0, 1}, .needed_count = 2};
    uint32_t items[COUNT];
    assert_int_equal(reduce(&f, 1, items), 2);
    assert_in_range(f.asked, 1, 8);
}

TEST("the number of workers does not change the result") {
    for (uint32_t workers = 1; workers <= 64; workers *= 4) {
        fault f = {.needed = {250, 800, 801}, .needed_count = 3};
        uint32_t items[COUNT];
        assert_int_equal(reduce(&f, workers, items), 3);
        assert_memory_equal(items, f.needed, 3 * sizeof *items);
    }
}

TEST("a search that is stopped leaves a list that fails") {
    for (uint32_t most = 1; most < 40; ++most) {
        fault f = {.needed = {3, 500, 777}, .needed_count = 3, .asked_max = most};
        uint32_t items[COUNT];
        const uint32_t left = reduce(&f, 1, items);
        assert_true(fails(&f, items, left));
        assert_true(f.asked <= most);
    }
}
