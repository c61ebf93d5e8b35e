// SPDX-License-Identifier: MIT
#include "proto_tests/net/netcode_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static unsigned nibble_of(char c) {
    CAIRN_ASSERT((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

static void read_bytes(const char *hex, vector *out) {
    out->size = strlen(hex) / 2;
    CAIRN_ASSERT(out->size <= VECTOR_SIZE_MAX && strlen(hex) % 2 == 0);
    for (size_t i = 0; i < out->size; ++i) {
        out->bytes[i] = (uint8_t)(nibble_of(hex[2 * i]) << 4 | nibble_of(hex[2 * i + 1]));
    }
}

static void read_line(char *line, vector *out) {
    char *words[3] = {NULL, NULL, NULL};
    int count = 0;
    for (char *word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n")) {
        CAIRN_ASSERT(count < 3);
        words[count++] = word;
    }
    CAIRN_ASSERT(count >= 2);
    const char *name = words[count - 2];
    CAIRN_ASSERT(strlen(name) < sizeof out->name);
    memcpy(out->name, name, strlen(name) + 1);
    const char *colon = strchr(name, ':');
    const char *number = colon != NULL ? colon + 1 : count == 3 ? words[0] : "0";
    out->number = strtoull(number, NULL, 10);
    read_bytes(words[count - 1], out);
}

const vectors *vectors_read(const char *file_name) {
    static vectors all;
    static char line[2 * VECTOR_SIZE_MAX + 128];
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", CAIRN_VECTORS, file_name);
    FILE *file = fopen(path, "r");
    CAIRN_ASSERT(file != NULL);
    memset(&all, 0, sizeof all);
    while (fgets(line, sizeof line, file) != NULL) {
        CAIRN_ASSERT(all.count < sizeof all.list / sizeof all.list[0]);
        if (line[0] != '#') {
            read_line(line, &all.list[all.count++]);
        }
    }
    fclose(file);
    return &all;
}

const vector *vectors_find(const vectors *all, const char *name) {
    for (size_t i = 0; i < all->count; ++i) {
        const char *colon = strchr(all->list[i].name, ':');
        const size_t size = colon != NULL ? (size_t)(colon - all->list[i].name) : SIZE_MAX;
        if (strcmp(all->list[i].name, name) == 0 ||
            (size == strlen(name) && strncmp(all->list[i].name, name, size) == 0)) {
            return &all->list[i];
        }
    }
    CAIRN_ASSERT(!"vector not found");
    return NULL;
}
