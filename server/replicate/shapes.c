// SPDX-License-Identifier: MIT
#include "server/replicate/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/snapshot.h"

bool cairn_room_shapes_create(uint32_t capacity, const cairn_world *world, cairn_room_shapes *out) {
    CAIRN_ASSERT(capacity > 0);
    *out = (cairn_room_shapes){.capacity = capacity};
    out->ids = calloc(capacity, sizeof *out->ids);
    out->ids_now = calloc(capacity, sizeof *out->ids_now);
    out->shapes = calloc(capacity, sizeof *out->shapes);
    if (out->ids == NULL || out->ids_now == NULL || out->shapes == NULL) {
        return false;
    }
    cairn_room_shapes_update(out, world);
    return true;
}

void cairn_room_shapes_destroy(cairn_room_shapes *list) {
    free(list->shapes);
    free(list->ids_now);
    free(list->ids);
    *list = (cairn_room_shapes){0};
}

// Shapes seldom change, so the whole list is rebuilt when the ids differ.
void cairn_room_shapes_update(cairn_room_shapes *list, const cairn_world *world) {
    const uint32_t count = cairn_world_shapes(world, list->ids_now, list->capacity);
    CAIRN_ASSERT(count <= list->capacity);
    if (list->revision > 0 && count == list->id_count &&
        memcmp(list->ids, list->ids_now, count * sizeof *list->ids) == 0) {
        return;
    }
    list->count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const bool shown =
            cairn_snapshot_shape_read(world, list->ids_now[i], &list->shapes[list->count]);
        list->count += shown ? 1u : 0u;
        list->ids[i] = list->ids_now[i];
    }
    list->id_count = count;
    list->revision += 1;
}

void cairn_room_shapes_replace(cairn_room_shapes *list, const cairn_world *world) {
    list->id_count = 0;
    list->count = 0;
    list->revision += 1;
    cairn_room_shapes_update(list, world);
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

static bool holds(const uint8_t *held, uint32_t index) {
    return (held[index / 8] >> index % 8 & 1) != 0;
}

// Collects changes that the client was not sent yet. Returns whether the batch holds all of them.
static bool collect_changes(const cairn_world *world, const cairn_room_shapes *list,
    const uint8_t *held, const cairn_shapes_sent *sent, cairn_shape_batch *batch) {
    uint32_t next = 0;
    for (uint32_t index = 0; index < list->capacity; ++index) {
        const bool exists = next < list->count && cairn_id_index(list->shapes[next].id) == index;
        const cairn_snapshot_shape *shape = exists ? &list->shapes[next++] : NULL;
        if (shape != NULL && held != NULL && !holds(held, cairn_id_index(shape->body))) {
            shape = NULL;
        }
        if (sent->ids[index] != (shape != NULL ? shape->id : 0) &&
            !cairn_shape_batch_add(world, shape, sent->ids[index], batch)) {
            return false;
        }
    }
    CAIRN_ASSERT(next == list->count);
    return true;
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
    CAIRN_ASSERT(batch->shape_count + batch->removed_count > 0);
    if (cairn_session_send_reliable(session, context->encoder, &message) == 0) {
        return false;
    }
    for (uint32_t i = 0; i < batch->removed_count; ++i) {
        sent->ids[cairn_id_index(batch->removed[i])] = 0;
    }
    for (uint32_t i = 0; i < batch->shape_count; ++i) {
        sent->ids[cairn_id_index(batch->shapes[i].id)] = batch->shapes[i].id;
    }
    return true;
}

bool cairn_shapes_send_changes(const cairn_server_context *context, cairn_session *session,
    const cairn_room_shapes *list, const uint8_t *held, cairn_shapes_sent *sent) {
    bool all = false;
    while (!all && cairn_link_reliable_room(session->link) >= CAIRN_SHAPE_BATCH_SIZE_MAX) {
        cairn_shape_batch batch;
        cairn_shape_batch_begin(&batch);
        all = collect_changes(session->room->world, list, held, sent, &batch);
        if (batch.shape_count + batch.removed_count > 0 &&
            !cairn_shape_batch_send(context, session, sent, &batch)) {
            return false;
        }
    }
    return all;
}

void cairn_shapes_send(const cairn_server_context *context, cairn_session *session,
    const cairn_room_shapes *list, cairn_shapes_sent *sent) {
    CAIRN_ASSERT(sent->ids != NULL);
    if (sent->revision != list->revision &&
        cairn_shapes_send_changes(context, session, list, NULL, sent)) {
        sent->revision = list->revision;
    }
}
