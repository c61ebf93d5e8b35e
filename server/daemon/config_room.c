// SPDX-License-Identifier: MIT
#include "server/daemon/config_room.h"

#include <stddef.h>
#include <string.h>

#include "base/limits.h"

// A piece of text between separators.
typedef struct piece {
    const char *at;
    size_t size;
} piece;

static piece cut(const char **text, const char *ends) {
    const piece out = {.at = *text, .size = strcspn(*text, ends)};
    *text += out.size;
    return out;
}

static bool is(const piece *a, const char *word) {
    return a->size == strlen(word) && memcmp(a->at, word, a->size) == 0;
}

static bool copy(const piece *from, char *out, size_t size) {
    if (from->size == 0 || from->size >= size) {
        return false;
    }
    memcpy(out, from->at, from->size);
    out[from->size] = '\0';
    return true;
}

static bool number(const piece *from, uint32_t least, uint32_t most, uint32_t *out) {
    uint64_t value = 0;
    for (size_t i = 0; i < from->size; ++i) {
        if (from->at[i] < '0' || from->at[i] > '9' || value > most) {
            return false;
        }
        value = value * 10 + (uint64_t)(from->at[i] - '0');
    }
    *out = (uint32_t)value;
    return from->size > 0 && value >= least && value <= most;
}

_Static_assert(CAIRN_TICK_RATE_HZ_MIN == 10 && CAIRN_TICK_RATE_HZ_MAX == 240 &&
                   CAIRN_SLOTS_MAX == 64 && CAIRN_ROOM_WAIT_MS_MAX == 5000,
    "the words below say these numbers");

static const char *set_option(const piece *name, const piece *value, cairn_config_room *out) {
    if (is(name, "rate")) {
        return number(value, CAIRN_TICK_RATE_HZ_MIN, CAIRN_TICK_RATE_HZ_MAX, &out->tick_rate_hz)
                   ? NULL
                   : "rate must be in [10, 240]";
    }
    if (is(name, "snapshots")) {
        return number(value, 1, CAIRN_TICK_RATE_HZ_MAX, &out->snapshot_rate_hz)
                   ? NULL
                   : "snapshots must be in [1, 240]";
    }
    if (is(name, "players")) {
        return number(value, 1, CAIRN_SLOTS_MAX, &out->players_max) ? NULL
                                                                    : "players must be in [1, 64]";
    }
    if (is(name, "wait")) {
        return number(value, 0, CAIRN_ROOM_WAIT_MS_MAX, &out->wait_ms)
                   ? NULL
                   : "wait must be in [0, 5000]";
    }
    if (is(name, "record")) {
        return copy(value, out->record_file, sizeof out->record_file)
                   ? NULL
                   : "record must name a file, in at most 255 bytes";
    }
    return "options are rate, snapshots, players, wait and record";
}

const char *cairn_config_room_read(const char **text, cairn_config_room *out) {
    *out = (cairn_config_room){0};
    const piece name = cut(text, "=;");
    if (**text != '=') {
        return "must be NAME=SCENE and options, such as side=demo,rate=30";
    }
    *text += 1;
    const piece scene = cut(text, ",;");
    if (!copy(&name, out->name, sizeof out->name)) {
        return "a room's name has 1 to 31 bytes";
    }
    if (!copy(&scene, out->scene, sizeof out->scene)) {
        return "a scene is a built-in name or a file, in at most 255 bytes";
    }
    while (**text == ',') {
        *text += 1;
        const piece option = cut(text, "=,;");
        piece value = {.at = *text, .size = 0};
        if (**text == '=') {
            *text += 1;
            value = cut(text, ",;");
        }
        const char *refused = set_option(&option, &value, out);
        if (refused != NULL) {
            return refused;
        }
    }
    *text += **text == ';' ? 1 : 0;
    return NULL;
}
