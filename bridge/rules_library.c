// SPDX-License-Identifier: MIT
#include <cairn/rules_registry.h>

#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/world_settings.h"

// Of the whole program, because scenes and recordings name rules by a text. Written only before
// there are threads.
static const cairn_rules *known[CAIRN_RULES_REGISTERED_MAX] = {&cairn_rules_sandbox};
static uint32_t known_count = 1;

const char *cairn_rules_register(const cairn_rules *rules) {
    CAIRN_ASSERT(rules != NULL);
    const cairn_rules *same = NULL;
    const char *why = cairn_rules_refusal(rules);
    if (why != NULL) {
        return why;
    }
    if (cairn_rules_find(rules->name, &same)) {
        return same == rules ? NULL : "other rules have the same name";
    }
    if (known_count == CAIRN_RULES_REGISTERED_MAX) {
        return "a program can have at most 64 rules";
    }
    known[known_count++] = rules;
    return NULL;
}

const cairn_rules *cairn_rules_registered(uint32_t index) {
    return index < known_count ? known[index] : NULL;
}

bool cairn_rules_find(const char *name, const cairn_rules **out) {
    CAIRN_ASSERT(name != NULL && out != NULL);
    *out = NULL;
    for (uint32_t i = 0; i < known_count; ++i) {
        if (strcmp(known[i]->name, name) == 0) {
            *out = known[i];
            return true;
        }
    }
    return name[0] == '\0';
}

// Every word that the two sides must have in common, in a fixed order.
uint64_t cairn_rules_digest(const cairn_rules *rules) {
    if (rules == NULL) {
        return 0;
    }
    uint32_t words[(CAIRN_NAME_SIZE_MAX + 1) / 4 + 9] = {0};
    uint32_t count = (CAIRN_NAME_SIZE_MAX + 1) / 4;
    for (uint32_t i = 0; rules->name[i] != '\0'; ++i) {
        CAIRN_ASSERT(i < CAIRN_NAME_SIZE_MAX);
        words[i / 4] |= (uint32_t)(unsigned char)rules->name[i] << 8 * (i % 4);
    }
    const uint32_t numbers[] = {rules->version, rules->state_size, rules->input_size,
        rules->input_count, rules->shared_offset, rules->shared_size, rules->message_size_max,
        (uint32_t)rules->content, (uint32_t)(rules->content >> 32)};
    for (uint32_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        words[count++] = numbers[i];
    }
    CAIRN_ASSERT(count == sizeof words / sizeof words[0]);
    cairn_hash128 sum = cairn_hash_words(0, words, count);
    for (uint32_t i = 0; i < rules->input_count; ++i) {
        const cairn_input_field field = rules->input[i];
        sum = cairn_hash_add(sum, cairn_hash_words(i + 1, &field, sizeof field / 4));
    }
    return sum.lo ^ sum.hi;
}
