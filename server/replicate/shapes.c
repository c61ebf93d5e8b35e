// SPDX-License-Identifier: MIT
#include "server/replicate/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/snapshot.h"

static cairn_shape_ids *create_ids(const cairn_room_shapes *list) {
    cairn_shape_ids *created =
        calloc(1, sizeof *created + (size_t)list->capacity * sizeof created->ids[0]);
    if (created != NULL) {
        created->clients = 1;
    }
    return created;
}

static void release_ids(cairn_shape_ids **ids) {
    cairn_shape_ids *released = *ids;
    *ids = NULL;
    if (released != NULL && --released->clients == 0) {
        free(released);
    }
}

bool cairn_room_shapes_create(uint32_t capacity, const cairn_world *world, cairn_room_shapes *out) {
    CAIRN_ASSERT(capacity > 0);
    *out = (cairn_room_shapes){.capacity = capacity};
    out->none = create_ids(out);
    out->ids = calloc(capacity, sizeof *out->ids);
    out->ids_now = calloc(capacity, sizeof *out->ids_now);
    out->shapes = calloc(capacity, sizeof *out->shapes);
    out->surfaces = calloc(capacity, sizeof *out->surfaces);
    if (out->none == NULL || out->ids == NULL || out->ids_now == NULL || out->shapes == NULL ||
        out->surfaces == NULL) {
        return false;
    }
    cairn_room_shapes_update(out, world);
    return true;
}

void cairn_room_shapes_destroy(cairn_room_shapes *list) {
    release_ids(&list->all);
    release_ids(&list->none);
    free(list->surfaces);
    free(list->shapes);
    free(list->ids_now);
    free(list->ids);
    *list = (cairn_room_shapes){0};
}

// Both lists of ids are in order of index.
static void note_changes(cairn_room_shapes *list, uint32_t count_now) {
    uint32_t i = 0;
    for (uint32_t k = 0; i < list->id_count || k < count_now;) {
        const uint32_t old = i < list->id_count ? cairn_id_index(list->ids[i]) : UINT32_MAX;
        const uint32_t now = k < count_now ? cairn_id_index(list->ids_now[k]) : UINT32_MAX;
        if (old != now || list->ids[i] != list->ids_now[k]) {
            list->changes[list->change_count++ % CAIRN_SHAPE_CHANGES] = old < now ? old : now;
        }
        i += old <= now ? 1 : 0;
        k += now <= old ? 1 : 0;
    }
}

// Shapes seldom change, so the whole list is rebuilt when the ids differ.
void cairn_room_shapes_update(cairn_room_shapes *list, const cairn_world *world) {
    const uint32_t count = cairn_world_shapes(world, list->ids_now, list->capacity);
    CAIRN_ASSERT(count <= list->capacity);
    if (list->revision > 0 && count == list->id_count &&
        memcmp(list->ids, list->ids_now, count * sizeof *list->ids) == 0) {
        return;
    }
    note_changes(list, count);
    release_ids(&list->all);
    list->count = 0;
    list->surface_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const bool shown =
            cairn_snapshot_shape_read(world, list->ids_now[i], &list->shapes[list->count]);
        if (shown && list->shapes[list->count].mesh != 0) {
            list->surfaces[list->surface_count++] = list->count;
        }
        list->count += shown ? 1u : 0u;
        list->ids[i] = list->ids_now[i];
    }
    list->id_count = count;
    list->revision += 1;
}

void cairn_room_shapes_replace(cairn_room_shapes *list, const cairn_world *world) {
    release_ids(&list->all);
    list->id_count = 0;
    list->count = 0;
    list->revision += 1;
    list->change_count += CAIRN_SHAPE_CHANGES + 1;
    cairn_room_shapes_update(list, world);
}

static void share(cairn_shapes_sent *sent, cairn_shape_ids *ids) {
    ids->clients += 1;
    free(sent->own);
    release_ids(&sent->shared);
    sent->own = NULL;
    sent->shared = ids;
    sent->ids = ids->ids;
}

void cairn_shapes_sent_begin(cairn_shapes_sent *sent, const cairn_room_shapes *list) {
    share(sent, list->none);
    *sent = (cairn_shapes_sent){.ids = sent->ids, .shared = sent->shared};
}

void cairn_shapes_sent_end(cairn_shapes_sent *sent) {
    free(sent->own);
    release_ids(&sent->shared);
    *sent = (cairn_shapes_sent){0};
}

bool cairn_shapes_sent_own(cairn_shapes_sent *sent, const cairn_room_shapes *list) {
    CAIRN_ASSERT(sent->ids != NULL);
    if (sent->own == NULL) {
        cairn_shape_id *own = malloc(list->capacity * sizeof *own);
        if (own == NULL) {
            return false;
        }
        memcpy(own, sent->ids, list->capacity * sizeof *own);
        release_ids(&sent->shared);
        sent->own = own;
        sent->ids = own;
    }
    return true;
}

void cairn_shapes_sent_all(cairn_shapes_sent *sent, cairn_room_shapes *list) {
    CAIRN_ASSERT(sent->own != NULL);
    if (list->all == NULL) {
        list->all = create_ids(list);
        cairn_shape_id *ids = list->all != NULL ? list->all->ids : sent->own;
        for (uint32_t i = 0; i < list->count; ++i) {
            ids[cairn_id_index(list->shapes[i].id)] = list->shapes[i].id;
        }
    }
    if (list->all != NULL) {
        share(sent, list->all);
    }
}

bool cairn_shape_batch_add(const cairn_world *world, const cairn_snapshot_shape *shape,
    uint32_t sent_id, cairn_shape_batch *batch) {
    if (batch->shape_count == CAIRN_SHAPE_BATCH_MAX ||
        batch->removed_count == CAIRN_SHAPE_BATCH_MAX ||
        batch->corner_count > CAIRN_SHAPE_BATCH_CORNERS_MAX - CAIRN_HULL_VERTICES_MAX) {
        return false;
    }
    if (sent_id != 0) {
        batch->removed[batch->removed_count++] = sent_id;
    }
    if (shape != NULL) {
        batch->shapes[batch->shape_count++] = *shape;
    }
    if (shape != NULL && shape->kind == CAIRN_SHAPE_HULL) {
        const uint32_t count =
            cairn_shape_corners_read(world, shape->id, &batch->corners[batch->corner_count]);
        CAIRN_ASSERT(count >= 4 && count <= CAIRN_HULL_VERTICES_MAX);
        batch->corner_counts[batch->hull_count++] = (uint8_t)count;
        batch->corner_count += count;
    }
    return true;
}

void cairn_shape_batch_begin(cairn_shape_batch *batch) {
    batch->shape_count = 0;
    batch->removed_count = 0;
    batch->hull_count = 0;
    batch->corner_count = 0;
}

bool cairn_shape_batch_send(const cairn_server_context *context, cairn_session *session,
    cairn_shapes_sent *sent, const cairn_shape_batch *batch) {
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_SHAPES,
        .shapes = {.tick = cairn_world_tick(session->room->world),
            .shapes = batch->shapes,
            .shape_count = batch->shape_count,
            .removed = batch->removed,
            .removed_count = batch->removed_count,
            .corner_counts = batch->corner_counts,
            .hull_count = batch->hull_count,
            .corners = batch->corners,
            .corner_count = batch->corner_count},
    };
    CAIRN_ASSERT(batch->shape_count + batch->removed_count > 0 && sent->own != NULL);
    if (cairn_session_send_reliable(session, context->encoder, &message) == 0) {
        return false;
    }
    sent->messages += 1;
    for (uint32_t i = 0; i < batch->removed_count; ++i) {
        sent->own[cairn_id_index(batch->removed[i])] = 0;
    }
    for (uint32_t i = 0; i < batch->shape_count; ++i) {
        sent->own[cairn_id_index(batch->shapes[i].id)] = batch->shapes[i].id;
    }
    return true;
}

// What the client should have at an index, if its shape there is not that already.
static bool add_index(const cairn_world *world, const cairn_room_shapes *list,
    const cairn_shape_filter *filter, const cairn_shapes_sent *sent, uint32_t index, uint32_t place,
    cairn_shape_batch *batch) {
    const bool exists = place < list->count && cairn_id_index(list->shapes[place].id) == index;
    const cairn_snapshot_shape *shape = exists ? &list->shapes[place] : NULL;
    if (shape != NULL && filter != NULL && !filter->shows(filter->view, shape->body)) {
        const uint32_t body = cairn_id_index(shape->body);
        const bool held = filter->held == NULL || (filter->held[body / 64] >> body % 64 & 1) != 0;
        shape = held && sent->ids[index] == shape->id ? shape : NULL;
    }
    return sent->ids[index] == (shape != NULL ? shape->id : 0) ||
           cairn_shape_batch_add(world, shape, sent->ids[index], batch);
}

// The first place of a shape with this index or a larger one.
static uint32_t place_of(const cairn_room_shapes *list, uint32_t index) {
    uint32_t low = 0;
    for (uint32_t high = list->count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (cairn_id_index(list->shapes[middle].id) < index) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Which indices a pass looks at: all of the list, or these.
typedef struct shape_indices {
    uint32_t count;
    uint32_t at[CAIRN_SHAPE_CHANGES];
} shape_indices;

// Collects changes that the client was not sent yet. Returns whether the batch holds all of them.
static bool collect_changes(const cairn_world *world, const cairn_room_shapes *list,
    const cairn_shape_filter *filter, const cairn_shapes_sent *sent, const shape_indices *some,
    cairn_shape_batch *batch) {
    uint32_t place = 0;
    for (uint32_t i = 0; i < (some != NULL ? some->count : list->capacity); ++i) {
        const uint32_t index = some != NULL ? some->at[i] : i;
        place = some != NULL ? place_of(list, index) : place;
        if (!add_index(world, list, filter, sent, index, place, batch)) {
            return false;
        }
        place += place < list->count && cairn_id_index(list->shapes[place].id) == index ? 1 : 0;
    }
    return true;
}

static bool send_differences(const cairn_server_context *context, cairn_session *session,
    const cairn_room_shapes *list, const cairn_shape_filter *filter, const shape_indices *some,
    cairn_shapes_sent *sent) {
    bool all = false;
    while (!all && cairn_link_reliable_room(session->link) >= CAIRN_SHAPE_BATCH_SIZE_MAX) {
        cairn_shape_batch batch;
        cairn_shape_batch_begin(&batch);
        all = collect_changes(session->room->world, list, filter, sent, some, &batch);
        if (batch.shape_count + batch.removed_count > 0 &&
            !cairn_shape_batch_send(context, session, sent, &batch)) {
            return false;
        }
    }
    return all;
}

bool cairn_shapes_send_all(const cairn_server_context *context, cairn_session *session,
    const cairn_room_shapes *list, const cairn_shape_filter *filter, cairn_shapes_sent *sent) {
    return send_differences(context, session, list, filter, NULL, sent);
}

static int compare_indices(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// In order of index, as a look at all would find them: a client cannot tell which it was.
void cairn_shapes_send_changes(const cairn_server_context *context, cairn_session *session,
    const cairn_room_shapes *list, const cairn_shape_filter *filter, cairn_shapes_sent *sent) {
    const uint64_t count = list->change_count - sent->changes;
    shape_indices some = {.count = 0};
    for (uint64_t n = 0; count <= CAIRN_SHAPE_CHANGES && n < count; ++n) {
        some.at[some.count++] = list->changes[(sent->changes + n) % CAIRN_SHAPE_CHANGES];
    }
    qsort(some.at, some.count, sizeof *some.at, compare_indices);
    if (count > 0 && send_differences(context, session, list, filter,
                         count <= CAIRN_SHAPE_CHANGES ? &some : NULL, sent)) {
        sent->changes = list->change_count;
    }
}

void cairn_shapes_send(const cairn_server_context *context, cairn_session *session,
    cairn_room_shapes *list, cairn_shapes_sent *sent) {
    CAIRN_ASSERT(sent->ids != NULL);
    if (sent->revision != list->revision && cairn_shapes_sent_own(sent, list) &&
        cairn_shapes_send_all(context, session, list, NULL, sent)) {
        sent->revision = list->revision;
        cairn_shapes_sent_all(sent, list);
    }
}
