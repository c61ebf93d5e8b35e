// SPDX-License-Identifier: MIT
#include "base/world_settings.h"

#include "base/assert.h"
#include "base/check.h"
#include "base/game_input.h"
#include <cairn/math.h>
#include <cairn/rules.h>

cairn_world_def cairn_world_def_default(void) {
    cairn_world_def def = {.seed = 0, .rules = NULL};
#define SCALAR(name, initial, lower, upper) def.name = (initial);
#define VEC3(name, a, b, c, limit) def.name = cairn_vec3_of(a, b, c);
    CAIRN_WORLD_SETTINGS(SCALAR, SCALAR, VEC3)
#undef SCALAR
#undef VEC3
    CAIRN_ASSERT(cairn_world_def_check(&def) == CAIRN_OK);
    return def;
}

static cairn_status check_word(uint32_t value, uint32_t lower, uint32_t upper) {
    CAIRN_ASSERT(lower <= upper);
    return value >= lower && value <= upper ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
}

// The first failure is reported, of floats before words: NaN before a range.
cairn_status cairn_world_def_check(const cairn_world_def *def) {
    CAIRN_ASSERT(def != NULL);
    cairn_status status = CAIRN_OK;
#define CHECK(result) status = status == CAIRN_OK ? (result) : status;
#define FLOAT(name, initial, lower, upper) CHECK(cairn_check_float(def->name, lower, upper))
#define VEC3(name, a, b, c, limit) CHECK(cairn_check_vec3(def->name, limit))
#define WORD(name, initial, lower, upper) CHECK(check_word(def->name, lower, upper))
#define SKIP(...)
    CAIRN_WORLD_SETTINGS(SKIP, FLOAT, VEC3)
    CAIRN_WORLD_SETTINGS(WORD, SKIP, SKIP)
#undef CHECK
#undef FLOAT
#undef VEC3
#undef WORD
#undef SKIP
    // PGS has these two alone.
    if (status == CAIRN_OK && def->solver == CAIRN_SOLVER_PGS &&
        def->friction_model > CAIRN_FRICTION_CONSTANT) {
        status = CAIRN_INVALID_ARGUMENT;
    }
    if (status == CAIRN_OK && def->rules != NULL && cairn_rules_refusal(def->rules) != NULL) {
        status = CAIRN_INVALID_ARGUMENT;
    }
    return status;
}

static bool name_ok(const char *name) {
    size_t size = 0;
    while (size <= CAIRN_NAME_SIZE_MAX && name[size] >= ' ' && name[size] <= '~') {
        size += 1;
    }
    return size > 0 && size <= CAIRN_NAME_SIZE_MAX && name[size] == '\0';
}

const char *cairn_rules_refusal(const cairn_rules *rules) {
    if (rules->name == NULL || !name_ok(rules->name)) {
        return "the rules need a name of 1 to 31 printable ASCII characters";
    }
    if (rules->step == NULL) {
        return "the rules have no function `step`";
    }
    if (rules->state_size % 4 != 0 || rules->state_size > CAIRN_RULES_STATE_SIZE_MAX) {
        return "the rules' state_size must be a multiple of 4 and at most 65536";
    }
    const char *input = cairn_input_layout_refusal(rules->input, rules->input_count);
    if (input != NULL) {
        return input;
    }
    if (rules->input_size != 4 * rules->input_count ||
        (rules->input_count == 0) != (rules->input == NULL)) {
        return "the rules' input_size must be 4 bytes for each field of `input`";
    }
    if (rules->shared_offset % 4 != 0 || rules->shared_size % 4 != 0 ||
        rules->shared_size > CAIRN_SHARED_SIZE_MAX || rules->shared_offset > rules->state_size ||
        rules->shared_size > rules->state_size - rules->shared_offset) {
        return "the rules' shared part must lie in their state, and its offset and size be "
               "multiples of 4, at most 4096";
    }
    if (rules->message_size_max > CAIRN_GAME_MESSAGE_SIZE_MAX ||
        (rules->message_size_max == 0) != (rules->message == NULL)) {
        return "the rules need a function `message` and a message_size_max of 1 to 256, or neither";
    }
    return NULL;
}
_Static_assert(CAIRN_GAME_MESSAGE_SIZE_MAX == 256 && CAIRN_SHARED_SIZE_MAX == 4096, "texts above");
_Static_assert(CAIRN_RULES_STATE_SIZE_MAX == 65536 && CAIRN_NAME_SIZE_MAX == 31, "the texts above");

// The list names every member: one that is missing would leave a hole here. The seed is aligned to
// eight bytes.
#define SCALAR(name, initial, lower, upper) +sizeof(uint32_t)
#define VEC3(name, a, b, c, limit) +sizeof(cairn_vec3)
_Static_assert(offsetof(cairn_world_def, seed) ==
                   ((0 CAIRN_WORLD_SETTINGS(SCALAR, SCALAR, VEC3) + 7) & ~(size_t)7),
    "base/world_settings.h lists every setting");
