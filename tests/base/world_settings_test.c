// SPDX-License-Identifier: MIT
// The table of world settings drives the defaults and the checks, and docs/PHYSICS.md shows it.
#include "tests/kit/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/world_settings.h"

static char page[256 * 1024];

static void expect_row(const char *row) {
    if (strstr(page, row) == NULL) {
        fail_msg("docs/PHYSICS.md lacks the row %s", row);
    }
}

TEST("the physics page shows every setting") {
    char row[160];
#define ROW(...)                                                                                   \
    snprintf(row, sizeof row, __VA_ARGS__);                                                        \
    expect_row(row);
#define WORD(name, initial, lower, upper)                                                          \
    ROW("\n| `%s` | %u | %u .. %u |", #name, (unsigned)(initial), (unsigned)(lower),               \
        (unsigned)(upper))
#define FLOAT(name, initial, lower, upper)                                                         \
    ROW("\n| `%s` | %g | %g .. %g |", #name, (double)(initial), (double)(lower), (double)(upper))
#define VEC3(name, a, b, c, limit)                                                                 \
    ROW("\n| `%s` | (%g, %g, %g) | each %g .. %g |", #name, (double)(a), (double)(b), (double)(c), \
        -(double)(limit), (double)(limit))
    CAIRN_WORLD_SETTINGS(WORD, FLOAT, VEC3)
#undef WORD
#undef FLOAT
#undef VEC3
}

static void expect_status(const cairn_world_def *def, cairn_status status, const char *name) {
    if (cairn_world_def_check(def) != status) {
        fail_msg("%s: expected %s", name, cairn_status_text(status));
    }
}

TEST("every setting is checked at both ends") {
    const cairn_world_def good = cairn_world_def_default();
    cairn_world_def def = good;
    expect_status(&good, CAIRN_OK, "the default");
#define TRY(name, value, status)                                                                   \
    def = good;                                                                                    \
    def.name = (value);                                                                            \
    expect_status(&def, status, #name);
#define WORD(name, initial, lower, upper)                                                          \
    TRY(name, lower, CAIRN_OK)                                                                     \
    TRY(name, upper, CAIRN_OK)                                                                     \
    TRY(name, (uint32_t)(lower)-1u, CAIRN_INVALID_ARGUMENT)                                        \
    TRY(name, (uint32_t)(upper) + 1u, CAIRN_INVALID_ARGUMENT)
#define FLOAT(name, initial, lower, upper)                                                         \
    TRY(name, lower, CAIRN_OK)                                                                     \
    TRY(name, upper, CAIRN_OK)                                                                     \
    TRY(name, nextafterf(lower, -1.0f), CAIRN_INVALID_ARGUMENT)                                    \
    TRY(name, nextafterf(upper, INFINITY), CAIRN_INVALID_ARGUMENT)                                 \
    TRY(name, NAN, CAIRN_NON_FINITE)
#define VEC3(name, a, b, c, limit)                                                                 \
    TRY(name.x, limit, CAIRN_OK)                                                                   \
    TRY(name.y, -(limit), CAIRN_OK)                                                                \
    TRY(name.z, nextafterf(limit, INFINITY), CAIRN_INVALID_ARGUMENT)                               \
    TRY(name.x, INFINITY, CAIRN_NON_FINITE)
    CAIRN_WORLD_SETTINGS(WORD, FLOAT, VEC3)
}

BEFORE_ALL {
    FILE *file = fopen(CAIRN_PHYSICS_PAGE, "rb");
    assert_non_null(file);
    const size_t size = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    assert_in_range(size, 1, sizeof page - 2);
}
