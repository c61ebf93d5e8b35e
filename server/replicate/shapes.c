// SPDX-License-Identifier: MIT
#include "server/replicate/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/snapshot.h"

#define SHAPES_PER_MESSAGE 128
#define CORNERS_PER_MESSAGE 512

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

typedef struct shape_batch {
    cairn_snapshot_shape shapes[SHAPES_PER_MESSAGE];
    uint32_t removed[SHAPES_PER_MESSAGE];
    uint8_t corner_counts[SHAPES_PER_MESSAGE];
    cairn_vec3 corners[CORNERS_PER_MESSAGE];
    uint32_t shape_count;
    uint32_t removed_count;
    uint32_t hull_count;
    uint32_t corner_count;
} shape_batch;

// Collects changes that the client was not sent yet. Returns whether the batch holds all of them.
static bool collect_changes(const cairn_world *world, const cairn_room_shapes *list,
    const cairn_shapes_sent *sent, shape_batch *batch) {
    uint32_t next = 0;
    for (uint32_t index = 0; index < list->capacity; ++index) {
        const bool exists = next < list->count && cairn_id_index(list->shapes[next].id) == index;
        const cairn_snapshot_shape *shape = exists ? &list->shapes[next++] : NULL;
        const uint32_t sent_id = sent->ids[index];
        if (sent_id == (exists ? shape->id : 0)) {
            continue;
        }
        if (batch->shape_count == SHAPES_PER_MESSAGE ||
            batch->removed_count == SHAPES_PER_MESSAGE ||
            batch->corner_count > CORNERS_PER_MESSAGE - CAIRN_HULL_VERTICES_MAX) {
            return false;
        }
        if (sent_id != 0) {
            batch->removed[batch->removed_count++] = sent_id;
        }
        if (exists) {
            batch->shapes[batch->shape_count++] = *shape;
        }
        if (exists && shape->kind == CAIRN_SHAPE_HULL) {
            const uint32_t count =
                cairn_shape_corners_read(world, shape->id, &batch->corners[batch->corner_count]);
            CAIRN_ASSERT(count >= 4 && count <= CAIRN_HULL_VERTICES_MAX);
            batch->corner_counts[batch->hull_count++] = (uint8_t)count;
            batch->corner_count += count;
        }
    }
    CAIRN_ASSERT(next == list->count);
    return true;
}

static bool send_batch(const cairn_server_context *context, cairn_session *session,
    cairn_shapes_sent *sent, const shape_batch *batch) {
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

void cairn_shapes_send(const cairn_server_context *context, cairn_session *session,
    const cairn_room_shapes *list, cairn_shapes_sent *sent) {
    const size_t size_max =
        SHAPES_PER_MESSAGE * (sizeof(cairn_snapshot_shape) + sizeof(uint32_t) + 1) +
        CORNERS_PER_MESSAGE * sizeof(cairn_vec3) + CAIRN_SESSION_ENVELOPE_SIZE;
    bool all = sent->revision == list->revision;
    CAIRN_ASSERT(sent->ids != NULL);
    while (!all && cairn_link_reliable_room(session->link) >= size_max) {
        shape_batch batch;
        batch.shape_count = 0;
        batch.removed_count = 0;
        batch.hull_count = 0;
        batch.corner_count = 0;
        all = collect_changes(session->room->world, list, sent, &batch);
        if (batch.shape_count + batch.removed_count > 0 &&
            !send_batch(context, session, sent, &batch)) {
            return;
        }
    }
    if (all) {
        sent->revision = list->revision;
    }
}
