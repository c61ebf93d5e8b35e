// SPDX-License-Identifier: MIT
// Saves, and the verbs that make, list, download, upload and delete them.
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "server/control/preparation.h"
#include "server/control/verbs.h"

cairn_control_save *cairn_control_saves_find(cairn_control_saves *saves, const char *name) {
    for (uint32_t i = 0; i < CAIRN_CONTROL_SAVES_MAX; ++i) {
        cairn_control_save *save = &saves->entries[i];
        if (save->bytes != NULL && strcmp(save->name, name) == 0) {
            return save;
        }
    }
    return NULL;
}

static void clear_save(cairn_control_saves *saves, cairn_control_save *save) {
    if (save->bytes != NULL && save->bytes == saves->lent) {
        saves->lent_deleted = true;
    } else {
        free(save->bytes);
    }
    *save = (cairn_control_save){0};
}

void cairn_control_saves_lend(cairn_control_saves *saves, const cairn_control_save *save) {
    CAIRN_ASSERT(saves->lent == NULL && save->bytes != NULL);
    saves->lent = save->bytes;
    saves->lent_deleted = false;
}

void cairn_control_saves_take_back(cairn_control_saves *saves) {
    CAIRN_ASSERT(saves->lent != NULL);
    if (saves->lent_deleted) {
        free(saves->lent);
    }
    saves->lent = NULL;
}

void cairn_control_saves_clear(cairn_control_saves *saves) {
    for (uint32_t i = 0; i < CAIRN_CONTROL_SAVES_MAX; ++i) {
        clear_save(saves, &saves->entries[i]);
    }
}

static cairn_control_refusal refuse_unknown_save(cairn_control_context *c, const char *name) {
    return cairn_control_refuse(c, CAIRN_CONTROL_NAME_UNKNOWN, "unknown save \"%.64s\"", name);
}

// A save of `encoded`, which it takes, or an empty one if that is NULL; an older one of this name
// is replaced. NULL with the reason in *refusal, and the older one is kept.
static cairn_control_save *add_save(cairn_control_context *c, const char *name, uint8_t *encoded,
    size_t size, cairn_control_refusal *refusal) {
    const size_t length = strlen(name);
    if (length == 0 || length > CAIRN_NAME_SIZE_MAX) {
        *refusal = cairn_control_refuse(
            c, CAIRN_CONTROL_NAME_TAKEN, "a name has 1 to %d characters", CAIRN_NAME_SIZE_MAX);
        return NULL;
    }
    cairn_control_save *entry = cairn_control_saves_find(c->saves, name);
    size_t others_size = 0;
    for (uint32_t i = 0; i < CAIRN_CONTROL_SAVES_MAX; ++i) {
        cairn_control_save *other = &c->saves->entries[i];
        others_size += other == entry ? 0 : other->size;
        entry = entry == NULL && other->bytes == NULL ? other : entry;
    }
    CAIRN_ASSERT(others_size <= CAIRN_CONTROL_SAVES_SIZE_MAX);
    const bool fits = size > 0 && size <= CAIRN_CONTROL_SAVES_SIZE_MAX - others_size;
    uint8_t *bytes = entry == NULL || !fits ? NULL : encoded != NULL ? encoded : malloc(size);
    if (bytes == NULL) {
        *refusal = cairn_control_refuse(c, CAIRN_CONTROL_CAPACITY,
            "a server keeps %d saves of 64 MiB in total, each at least 1 byte",
            CAIRN_CONTROL_SAVES_MAX);
        return NULL;
    }
    clear_save(c->saves, entry);
    *entry = (cairn_control_save){.bytes = bytes, .size = size};
    cairn_control_name_set(entry->name, name);
    return entry;
}

// The room may have gone on since its world was copied: the answer is about that world.
cairn_control_refusal cairn_control_on_save(cairn_control_context *c) {
    cairn_control_refusal refusal = CAIRN_CONTROL_DONE;
    cairn_control_preparation *prepared = c->prepared;
    CAIRN_ASSERT(prepared != NULL);
    if (prepared->bytes == NULL) {
        return cairn_control_refuse(c, CAIRN_CONTROL_CAPACITY, "out of memory");
    }
    cairn_control_save *save =
        add_save(c, c->request->save.name, prepared->bytes, prepared->size, &refusal);
    if (save == NULL) {
        return refusal;
    }
    prepared->bytes = NULL;
    save->received_size = save->size;
    save->players = prepared->players;
    c->answer.room = c->room->name;
    c->answer.tick = prepared->tick;
    c->answer.root = prepared->root;
    c->answer.save.size = (uint32_t)save->size;
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_saves(cairn_control_context *c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < CAIRN_CONTROL_SAVES_MAX; ++i) {
        const cairn_control_save *save = &c->saves->entries[i];
        if (save->bytes != NULL) {
            cairn_control_saved *listed = &c->lists->saves[count++];
            listed->size = save->size;
            cairn_control_name_set(listed->name, save->name);
        }
    }
    c->answer.saves = (cairn_control_saves_answer){.saves = c->lists->saves, .save_count = count};
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_save_read(cairn_control_context *c) {
    const cairn_control_save_read_request *request = &c->request->save_read;
    const cairn_control_save *save = cairn_control_saves_find(c->saves, request->name);
    if (save == NULL) {
        return refuse_unknown_save(c, request->name);
    }
    if (request->offset > save->received_size) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_OUT_OF_RANGE, "the save has %zu bytes", save->received_size);
    }
    const size_t left = save->received_size - request->offset;
    c->answer.save_read = (cairn_control_save_read_answer){
        .size = (uint32_t)save->size,
        .players = save->players.words[0],
        .players_1 = save->players.words[1],
        .players_2 = save->players.words[2],
        .players_3 = save->players.words[3],
        .bytes = save->bytes + request->offset,
        .byte_count =
            (uint32_t)(left < CAIRN_CONTROL_READ_SIZE_MAX ? left : CAIRN_CONTROL_READ_SIZE_MAX),
    };
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_save_write(cairn_control_context *c) {
    const cairn_control_save_write_request *request = &c->request->save_write;
    cairn_control_refusal refusal = CAIRN_CONTROL_DONE;
    cairn_control_save *save = request->offset == 0
                                   ? add_save(c, request->name, NULL, request->size, &refusal)
                                   : cairn_control_saves_find(c->saves, request->name);
    if (save == NULL) {
        return refusal == CAIRN_CONTROL_DONE ? refuse_unknown_save(c, request->name) : refusal;
    }
    const bool next = request->offset == save->received_size && request->size == save->size;
    if (!next || request->byte_count > save->size - save->received_size) {
        return cairn_control_refuse(c, CAIRN_CONTROL_OUT_OF_RANGE,
            "the server has %zu of the save's %zu bytes", save->received_size, save->size);
    }
    memcpy(save->bytes + save->received_size, request->bytes, request->byte_count);
    save->received_size += request->byte_count;
    save->players = (cairn_slot_set){
        {request->players, request->players_1, request->players_2, request->players_3}};
    c->answer.save_write.received_size = (uint32_t)save->received_size;
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_save_delete(cairn_control_context *c) {
    const char *name = c->request->save_delete.name;
    cairn_control_save *save = cairn_control_saves_find(c->saves, name);
    if (save == NULL) {
        return refuse_unknown_save(c, name);
    }
    clear_save(c->saves, save);
    return CAIRN_CONTROL_DONE;
}
