// SPDX-License-Identifier: MIT
#include "tests/kit/script.h"

#include <string.h>

#include "base/random.h"

bool script_record(
    const uint8_t *data, size_t size, uint32_t i, uint8_t record[SCRIPT_RECORD_SIZE]) {
    const size_t from = 1 + (size_t)i * SCRIPT_RECORD_SIZE;
    if (i >= SCRIPT_RECORDS_MAX || from >= size) {
        return false;
    }
    const size_t left = size - from < SCRIPT_RECORD_SIZE ? size - from : SCRIPT_RECORD_SIZE;
    memset(record, 0, SCRIPT_RECORD_SIZE);
    memcpy(record, data + from, left);
    return true;
}

// Of the sanitizer's library.
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

uint64_t script_allocated_bytes(void) {
    return __sanitizer_get_current_allocated_bytes != NULL
               ? __sanitizer_get_current_allocated_bytes()
               : 0;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
    uint8_t *out, size_t out_size_max, unsigned seed);

typedef struct script {
    uint8_t first;
    uint32_t count;
    uint8_t records[SCRIPT_RECORDS_MAX][SCRIPT_RECORD_SIZE];
} script;

static script script_of(const uint8_t *data, size_t size) {
    script read = {.first = size > 0 ? data[0] : 0};
    while (script_record(data, size, read.count, read.records[read.count])) {
        read.count += 1;
        if (read.count == SCRIPT_RECORDS_MAX) {
            break;
        }
    }
    return read;
}

static size_t write_script(const script *from, uint8_t *data, size_t size_max) {
    const uint32_t room = (uint32_t)((size_max - 1) / SCRIPT_RECORD_SIZE);
    const uint32_t count = from->count < room ? from->count : room;
    data[0] = from->first;
    memcpy(data + 1, from->records, (size_t)count * SCRIPT_RECORD_SIZE);
    return 1 + (size_t)count * SCRIPT_RECORD_SIZE;
}

static void insert(script *to, uint32_t at, const uint8_t record[SCRIPT_RECORD_SIZE]) {
    if (to->count < SCRIPT_RECORDS_MAX) {
        memmove(
            to->records[at + 1], to->records[at], (size_t)(to->count - at) * SCRIPT_RECORD_SIZE);
        memcpy(to->records[at], record, SCRIPT_RECORD_SIZE);
        to->count += 1;
    }
}

static void remove_record(script *from, uint32_t at) {
    from->count -= 1;
    memmove(
        from->records[at], from->records[at + 1], (size_t)(from->count - at) * SCRIPT_RECORD_SIZE);
}

static void mutate_once(script *it, cairn_random *random) {
    uint8_t fresh[SCRIPT_RECORD_SIZE];
    const uint32_t verb = (uint32_t)cairn_random_below(random, 8);
    const uint32_t at = it->count == 0 ? 0 : (uint32_t)cairn_random_below(random, it->count);
    const uint32_t other = it->count == 0 ? 0 : (uint32_t)cairn_random_below(random, it->count);
    cairn_random_fill(random, fresh, sizeof fresh);
    if (it->count == 0 || verb == 0) {
        insert(it, at, fresh);
    } else if (verb == 1) {
        remove_record(it, at);
    } else if (verb == 2) { // again, elsewhere
        memcpy(fresh, it->records[at], sizeof fresh);
        insert(it, other, fresh);
    } else if (verb == 3) { // moved
        memcpy(fresh, it->records[at], sizeof fresh);
        remove_record(it, at);
        insert(it, other < it->count ? other : it->count, fresh);
    } else if (verb == 4) { // another action with the same choices
        it->records[at][0] = fresh[0];
    } else if (verb == 5) { // the same action of another client, or with other settings
        it->records[at][1] = fresh[0];
    } else if (verb == 6) {
        it->records[at][cairn_random_below(random, SCRIPT_RECORD_SIZE)] ^=
            (uint8_t)(1u << (fresh[0] % 8));
    } else {
        it->records[at][cairn_random_below(random, SCRIPT_RECORD_SIZE)] = fresh[0];
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed) {
    cairn_random random = cairn_random_of(seed);
    if (size_max < 1 + SCRIPT_RECORD_SIZE || cairn_random_below(&random, 8) == 0) {
        return LLVMFuzzerMutate(data, size, size_max); // knows the constants that are compared
    }
    script changed = script_of(data, size);
    const uint64_t count = 1 + cairn_random_below(&random, 4);
    for (uint64_t i = 0; i < count; ++i) {
        mutate_once(&changed, &random);
    }
    if (cairn_random_below(&random, 16) == 0) {
        changed.first = (uint8_t)cairn_random_next(&random);
    }
    return write_script(&changed, data, size_max);
}

// The beginning of one script and the end of another.
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
    uint8_t *out, size_t out_size_max, unsigned seed) {
    cairn_random random = cairn_random_of(seed);
    script joined = script_of(a, a_size);
    const script end = script_of(b, b_size);
    if (out_size_max < 1 + SCRIPT_RECORD_SIZE) {
        return 0;
    }
    joined.count = (uint32_t)cairn_random_below(&random, joined.count + 1u);
    for (uint32_t i = (uint32_t)cairn_random_below(&random, end.count + 1u); i < end.count; ++i) {
        insert(&joined, joined.count, end.records[i]);
    }
    return write_script(&joined, out, out_size_max);
}
