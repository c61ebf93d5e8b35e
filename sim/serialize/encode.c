// SPDX-License-Identifier: MIT

// The canonical encoding, little-endian words throughout:
//   magic "CRNW", simulation version, then the arrays in the order of cairn_array. Of each array
//   the live range, of slotted arrays the elements that exist, each word by word as
//   sim/state/fields.c names them. The counts follow from the settings and the id tables, which
//   come first.

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/world_settings.h"
#include "sim/serialize/decode_check.h"
#include "sim/serialize/encode_layout.h"
#include "sim/state/awake_set.h"
#include "sim/state/fields.h"
#include "sim/state/hash_cache.h"
#include "sim/world/world.h"

#define ENCODE_MAGIC 0x574e5243u // "CRNW" read as bytes

size_t cairn_world_encode_size(const cairn_world *world) {
    size_t size = 2 * sizeof(uint32_t);
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        cairn_run run = cairn_state_run(&world->state, array, 0);
        for (; run.begin < run.end; run = cairn_state_run(&world->state, array, run.end)) {
            size += (run.end - run.begin) * cairn_array_element_size(array);
        }
    }
    return size;
}

size_t cairn_world_encode(const cairn_world *world, void *bytes, size_t size) {
    cairn_writer writer = cairn_writer_of(bytes, size);
    cairn_write_u32(&writer, ENCODE_MAGIC);
    cairn_write_u32(&writer, CAIRN_SIM_VERSION);
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const size_t element_size = cairn_array_element_size(array);
        const unsigned char *elements = cairn_state_array(&world->state, array);
        cairn_run run = cairn_state_run(&world->state, array, 0);
        for (; run.begin < run.end; run = cairn_state_run(&world->state, array, run.end)) {
            const size_t count = (run.end - run.begin) * element_size / sizeof(uint32_t);
            cairn_write_u32s(&writer, elements + run.begin * element_size, count);
        }
    }
    CAIRN_ASSERT(!writer.ok || writer.at == cairn_world_encode_size(world));
    return writer.ok ? writer.at : 0;
}

uint32_t cairn_world_encode_layout(
    const cairn_world *world, cairn_word_group out[CAIRN_WORD_GROUPS_MAX]) {
    static const cairn_word_role roles[CAIRN_ARRAY_COUNT] = {
        [CAIRN_ARRAY_SETTINGS] = CAIRN_WORDS_SETTINGS,
        [CAIRN_ARRAY_BODY_IDS] = CAIRN_WORDS_BODY_SLOTS,
        [CAIRN_ARRAY_MOTIONS] = CAIRN_WORDS_MOTIONS,
        [CAIRN_ARRAY_REFERENCE_POSES] = CAIRN_WORDS_REFERENCE_POSES,
        [CAIRN_ARRAY_SLEEP] = CAIRN_WORDS_SLEEP,
        [CAIRN_ARRAY_CONTACTS] = CAIRN_WORDS_CONTACTS,
    };
    _Static_assert(CAIRN_ARRAY_COUNT < CAIRN_WORD_GROUPS_MAX, "one for each, and the head");
    _Static_assert(
        offsetof(cairn_settings, present_step_rate_hz) == CAIRN_WORDS_STEP_RATE * sizeof(uint32_t),
        "a packer reads it");
    out[0] = (cairn_word_group){.role = CAIRN_WORDS_PLAIN, .words = 2, .count = 1};
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        cairn_word_group *group = &out[1 + array];
        *group = (cairn_word_group){.role = roles[array],
            .words = (uint32_t)(cairn_array_element_size(array) / sizeof(uint32_t))};
        cairn_run run = cairn_state_run(&world->state, array, 0);
        for (; run.begin < run.end; run = cairn_state_run(&world->state, array, run.end)) {
            group->count += run.end - run.begin;
        }
    }
    return 1 + CAIRN_ARRAY_COUNT;
}

// Reads one element and checks each word by its field; free slots become zero.
static cairn_status decode_element(cairn_reader *reader, const cairn_state *state,
    cairn_array array, uint32_t index, const char **where) {
    const cairn_field_table *table = cairn_field_table_of(array);
    const size_t size = cairn_array_element_size(array);
    uint32_t words[CAIRN_ELEMENT_WORDS_MAX] = {0};
    CAIRN_ASSERT(index < cairn_array_count(state->settings, array) && size <= sizeof words);
    if (cairn_state_has(state, array, index)) {
        cairn_read_u32s(reader, words, table->word_count);
        const cairn_status status = cairn_fields_check(table, words, where);
        if (status != CAIRN_OK) {
            return status;
        }
    }
    memcpy((unsigned char *)cairn_state_array(state, array) + index * size, words, size);
    return CAIRN_OK;
}

static cairn_status decode_array(
    cairn_reader *reader, const cairn_state *state, cairn_array array, const char **where) {
    CAIRN_ASSERT(array < CAIRN_ARRAY_COUNT);
    const uint32_t count = cairn_array_count(state->settings, array);
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_status status = decode_element(reader, state, array, i, where);
        if (status != CAIRN_OK) {
            return status;
        }
        if (!reader->ok) {
            *where = "the bytes end early";
            return CAIRN_MALFORMED;
        }
    }
    return CAIRN_OK;
}

static cairn_status decode_head(cairn_reader *reader, const char **where) {
    CAIRN_ASSERT(where != NULL);
    if (cairn_read_u32(reader) != ENCODE_MAGIC) {
        *where = "magic";
        return CAIRN_MALFORMED;
    }
    const uint32_t version = cairn_read_u32(reader);
    *where = "simulation version";
    if (!reader->ok) {
        return CAIRN_MALFORMED;
    }
    return version == CAIRN_SIM_VERSION ? CAIRN_OK : CAIRN_VERSION_MISMATCH;
}

// Builds the state in the spare block.
static cairn_status decode_spare(
    cairn_world *world, const void *bytes, size_t size, const char **where) {
    CAIRN_ASSERT(world->spare.settings != world->state.settings);
    cairn_reader reader = cairn_reader_of(bytes, size);
    cairn_status status = decode_head(&reader, where);
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT && status == CAIRN_OK; ++array) {
        status = decode_array(&reader, &world->spare, array, where);
        if (status == CAIRN_OK && array == CAIRN_ARRAY_SETTINGS) {
            status = cairn_decode_check_settings(&world->spare, world->state.settings, where);
        }
    }
    if (status != CAIRN_OK) {
        return status;
    }
    if (!cairn_reader_done(&reader)) {
        *where = "bytes are left over";
        return CAIRN_MALFORMED;
    }
    return cairn_decode_check(&world->spare, where);
}

cairn_status cairn_world_decode(
    cairn_world *world, const void *bytes, size_t size, const char **where) {
    const char *refused = "";
    const cairn_status status = decode_spare(world, bytes, size, &refused);
    if (where != NULL) {
        *where = status == CAIRN_OK ? "" : refused;
    }
    if (status != CAIRN_OK) {
        return status;
    }
    bool differed[CAIRN_ARRAY_COUNT];
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        differed[array] = true;
        const uint32_t count = cairn_array_count(world->spare.settings, array);
        memcpy(cairn_state_array(&world->state, array), cairn_state_array(&world->spare, array),
            count * cairn_array_element_size(array));
    }
    cairn_hash_cache_mark_all(world);
    cairn_awake_mark_all(world);
    cairn_world_derive(world, differed);
    cairn_world_drop_pairs(world);
    return CAIRN_OK;
}

cairn_status cairn_world_def_of_encoding(
    const void *bytes, size_t size, cairn_world_def *out, char rules_name[32]) {
    const char *where = "";
    cairn_settings settings = {.body_capacity = 0};
    const cairn_state state = {.settings = &settings};
    cairn_reader reader = cairn_reader_of(bytes, size);
    memset(out, 0, sizeof *out);
    memset(rules_name, 0, 32);
    cairn_status status = decode_head(&reader, &where);
    if (status == CAIRN_OK) {
        status = decode_element(&reader, &state, CAIRN_ARRAY_SETTINGS, 0, &where);
    }
    if (status != CAIRN_OK || !reader.ok) {
        return status != CAIRN_OK ? status : CAIRN_MALFORMED;
    }
    *out = cairn_def_of_settings(&settings);
    _Static_assert(sizeof settings.rules_name == 32, "the name as bytes");
    for (uint32_t i = 0; i < 32; ++i) {
        rules_name[i] = (char)(unsigned char)(settings.rules_name[i / 4] >> 8 * (i % 4));
    }
    return cairn_world_def_check(out);
}
