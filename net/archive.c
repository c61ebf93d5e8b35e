// SPDX-License-Identifier: MIT
#include "net/archive.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "net/crypto.h"

#define CAPACITY_FIRST ((size_t)4096)

cairn_archive cairn_archive_writer(void) {
    return (cairn_archive){.reading = false};
}

cairn_archive cairn_archive_reader(const void *bytes, size_t size) {
    return (cairn_archive){.reading = true, .in = bytes, .size = size};
}

void cairn_archive_free(cairn_archive *archive) {
    if (archive->out != NULL) {
        cairn_wipe(archive->out, archive->capacity);
    }
    free(archive->out);
    *archive = (cairn_archive){.reading = archive->reading};
}

void cairn_archive_refuse(cairn_archive *archive, const char *what) {
    archive->refused = archive->refused == NULL ? what : archive->refused;
}

bool cairn_archive_is_done(const cairn_archive *archive) {
    return archive->refused == NULL && archive->at == archive->size;
}

static bool reserve(cairn_archive *archive, size_t size) {
    size_t capacity = archive->capacity < CAPACITY_FIRST ? CAPACITY_FIRST : archive->capacity;
    while (capacity - archive->at < size) {
        capacity *= 2;
    }
    if (capacity > archive->capacity) {
        uint8_t *grown = malloc(capacity);
        if (grown == NULL) {
            cairn_archive_refuse(archive, "out of memory");
            return false;
        }
        if (archive->at > 0) {
            memcpy(grown, archive->out, archive->at);
            cairn_wipe(archive->out, archive->capacity); // it may hold keys
        }
        free(archive->out);
        archive->out = grown;
        archive->capacity = capacity;
    }
    return true;
}

bool cairn_archive_reserve(cairn_archive *archive, size_t size) {
    CAIRN_ASSERT(!archive->reading && archive->at == 0);
    if (!reserve(archive, size)) {
        return false;
    }
    cairn_wipe(archive->out, archive->capacity); // not left out, as a memset might be
    return true;
}

void cairn_archive_bytes(cairn_archive *archive, void *bytes, size_t size) {
    CAIRN_ASSERT(archive->at <= archive->size);
    if (size == 0) {
        return;
    }
    if (archive->reading) {
        if (archive->size - archive->at < size) {
            cairn_archive_refuse(archive, "the end");
        }
        if (archive->refused != NULL) {
            memset(bytes, 0, size);
            return;
        }
        memcpy(bytes, archive->in + archive->at, size);
    } else if (archive->refused != NULL || !reserve(archive, size)) {
        return;
    } else {
        memcpy(archive->out + archive->at, bytes, size);
        archive->size = archive->at + size;
    }
    archive->at += size;
}

void cairn_archive_words(cairn_archive *archive, uint64_t *values, size_t count) {
    cairn_archive_bytes(archive, values, count * sizeof *values);
}

void cairn_archive_u64(
    cairn_archive *archive, const char *what, uint64_t *value, uint64_t least, uint64_t most) {
    cairn_archive_words(archive, value, 1);
    if (archive->reading && (*value < least || *value > most)) {
        cairn_archive_refuse(archive, what);
    }
    if (archive->reading && archive->refused != NULL) {
        *value = least;
    }
}

void cairn_archive_u32(
    cairn_archive *archive, const char *what, uint32_t *value, uint32_t least, uint32_t most) {
    uint64_t wide = *value;
    cairn_archive_u64(archive, what, &wide, least, most);
    *value = (uint32_t)wide;
}

void cairn_archive_bool(cairn_archive *archive, const char *what, bool *value) {
    uint64_t wide = *value ? 1 : 0;
    cairn_archive_u64(archive, what, &wide, 0, 1);
    *value = wide != 0;
}

void cairn_archive_text(cairn_archive *archive, const char *what, char *text, size_t size) {
    uint32_t length = archive->reading ? 0 : (uint32_t)strlen(text);
    CAIRN_ASSERT(length < size);
    cairn_archive_u32(archive, what, &length, 0, (uint32_t)size - 1);
    if (archive->reading) {
        memset(text, 0, size);
    }
    cairn_archive_bytes(archive, text, length);
    if (archive->reading && memchr(text, '\0', length) != NULL) {
        cairn_archive_refuse(archive, what);
    }
}
