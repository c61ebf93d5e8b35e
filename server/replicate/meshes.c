// SPDX-License-Identifier: MIT
#include "server/replicate/meshes.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define MESSAGE_SIZE_MAX                                                                           \
    (CAIRN_MESH_WORDS_PER_MESSAGE_MAX * sizeof(uint32_t) + CAIRN_SESSION_ENVELOPE_SIZE)

bool cairn_room_meshes_create(uint32_t capacity, const cairn_world *world, cairn_room_meshes *out) {
    *out = (cairn_room_meshes){.capacity = capacity};
    if (capacity > 0) {
        out->meshes = calloc(capacity, sizeof *out->meshes);
        out->ids = calloc(capacity, sizeof *out->ids);
        out->wanted = calloc(capacity, sizeof *out->wanted);
        if (out->meshes == NULL || out->ids == NULL || out->wanted == NULL) {
            return false;
        }
    }
    cairn_room_meshes_update(out, world);
    return true;
}

static void free_mesh(cairn_room_mesh *mesh) {
    free(mesh->words);
    *mesh = (cairn_room_mesh){0};
}

void cairn_room_meshes_destroy(cairn_room_meshes *list) {
    for (uint32_t i = 0; list->meshes != NULL && i < list->capacity; ++i) {
        free_mesh(&list->meshes[i]);
    }
    free(list->meshes);
    free(list->wanted);
    free(list->ids);
    *list = (cairn_room_meshes){0};
}

static void copy_mesh(cairn_room_mesh *mesh, const cairn_world *world, cairn_mesh_id id) {
    cairn_mesh_info *info = &mesh->info;
    CAIRN_ASSERT(mesh->words == NULL);
    if (cairn_mesh_info_read(world, id, info) != CAIRN_OK) {
        return;
    }
    const uint32_t reals = 3 * info->vertex_count;
    mesh->word_count = reals + 3 * info->triangle_count + info->columns * info->rows;
    mesh->words = malloc(mesh->word_count * sizeof *mesh->words);
    if (mesh->words == NULL) {
        return;
    }
    // Floats travel by their bits, and a cairn_vec3 is three of them without padding.
    const cairn_status status =
        info->kind == CAIRN_MESH_HEIGHTS
            ? cairn_height_field_read(world, id, (float *)mesh->words)
            : cairn_mesh_read(world, id, (cairn_vec3 *)mesh->words, mesh->words + reals);
    CAIRN_ASSERT(status == CAIRN_OK);
    mesh->id = status == CAIRN_OK ? id : 0;
}

void cairn_room_meshes_update(cairn_room_meshes *list, const cairn_world *world) {
    const uint32_t count = cairn_world_meshes(world, list->ids, list->capacity);
    CAIRN_ASSERT(count <= list->capacity);
    bool changed = list->revision == 0;
    uint32_t next = 0;
    for (uint32_t i = 0; i < list->capacity; ++i) {
        cairn_room_mesh *mesh = &list->meshes[i];
        const bool exists = next < count && cairn_id_index(list->ids[next]) == i;
        const cairn_mesh_id id = exists ? list->ids[next++] : 0;
        if (mesh->id == id) {
            continue;
        }
        free_mesh(mesh);
        if (id != 0) {
            copy_mesh(mesh, world, id);
        }
        changed = true;
    }
    CAIRN_ASSERT(next == count);
    list->revision += changed ? 1u : 0u;
}

void cairn_room_meshes_replace(cairn_room_meshes *list, const cairn_world *world) {
    for (uint32_t i = 0; i < list->capacity; ++i) {
        free_mesh(&list->meshes[i]);
    }
    list->revision += 1;
    cairn_room_meshes_update(list, world);
}

static bool send_gone(
    const cairn_server_context *context, cairn_session *session, cairn_mesh_id id) {
    const cairn_message message = {.kind = CAIRN_MESSAGE_MESH, .mesh = {.mesh = id}};
    return cairn_link_reliable_room(session->link) >= CAIRN_SESSION_ENVELOPE_SIZE &&
           cairn_session_send_reliable(session, context->encoder, &message) != 0;
}

// Continues the mesh that is under way. Returns whether all of it was sent.
static bool send_pieces(const cairn_server_context *context, cairn_session *session,
    const cairn_room_mesh *mesh, cairn_meshes_sent *sent) {
    CAIRN_ASSERT(mesh->words != NULL && sent->first < mesh->word_count);
    while (cairn_link_reliable_room(session->link) >= MESSAGE_SIZE_MAX) {
        const uint32_t left = mesh->word_count - sent->first;
        const uint32_t count =
            left < CAIRN_MESH_WORDS_PER_MESSAGE_MAX ? left : CAIRN_MESH_WORDS_PER_MESSAGE_MAX;
        const cairn_message message = {
            .kind = CAIRN_MESSAGE_MESH,
            .mesh = {.mesh = mesh->id,
                .kind = mesh->info.kind,
                .vertex_count = mesh->info.vertex_count,
                .triangle_count = mesh->info.triangle_count,
                .columns = mesh->info.columns,
                .rows = mesh->info.rows,
                .spacing_x = mesh->info.spacing_x,
                .spacing_z = mesh->info.spacing_z,
                .first = sent->first,
                .words = mesh->words + sent->first,
                .word_count = count},
        };
        if (cairn_session_send_reliable(session, context->encoder, &message) == 0) {
            return false;
        }
        sent->first += count;
        if (sent->first == mesh->word_count) {
            return true;
        }
    }
    return false;
}

// Brings one index up to date. Returns whether it is.
static bool send_mesh(const cairn_server_context *context, cairn_session *session,
    const cairn_room_mesh *mesh, cairn_meshes_sent *sent, uint32_t index, bool wanted) {
    const cairn_mesh_id id = wanted ? mesh->id : 0;
    if (sent->ids[index] != id) {
        // A mesh that follows another at its index replaces it at the client.
        if (id == 0 && !send_gone(context, session, sent->ids[index])) {
            return false;
        }
        sent->ids[index] = id;
        sent->partial = id == 0 ? 0 : index + 1;
        sent->first = 0;
    }
    if (sent->partial == index + 1) {
        if (!send_pieces(context, session, mesh, sent)) {
            return false;
        }
        sent->partial = 0;
    }
    return true;
}

// Marks the meshes of shapes that the client has; all with `shapes_sent` NULL.
static void mark_wanted(const cairn_room_meshes *list, const cairn_room_shapes *shapes,
    const cairn_shapes_sent *shapes_sent) {
    memset(list->wanted, shapes_sent == NULL ? 1 : 0, list->capacity);
    for (uint32_t i = 0; shapes_sent != NULL && i < shapes->surface_count; ++i) {
        const cairn_snapshot_shape *shape = &shapes->shapes[shapes->surfaces[i]];
        if (shapes_sent->ids[cairn_id_index(shape->id)] == shape->id) {
            list->wanted[cairn_id_index(shape->mesh)] = 1;
        }
    }
}

void cairn_meshes_send(const cairn_server_context *context, cairn_session *session,
    const cairn_room_meshes *list, const cairn_room_shapes *shapes,
    const cairn_shapes_sent *shapes_sent, cairn_meshes_sent *sent) {
    const uint32_t messages = shapes_sent != NULL ? shapes_sent->messages : 0;
    CAIRN_ASSERT(sent->ids != NULL || list->capacity == 0);
    if (list->capacity == 0 ||
        (sent->revision == list->revision && sent->shape_messages == messages)) {
        return;
    }
    mark_wanted(list, shapes, shapes_sent);
    // Nothing else begins before the mesh that is under way has been sent or is gone.
    const uint32_t begun = sent->partial != 0 ? sent->partial - 1 : 0;
    if (sent->partial != 0 &&
        !send_mesh(context, session, &list->meshes[begun], sent, begun, list->wanted[begun] != 0)) {
        return;
    }
    for (uint32_t i = 0; i < list->capacity; ++i) {
        if (!send_mesh(context, session, &list->meshes[i], sent, i, list->wanted[i] != 0)) {
            return;
        }
    }
    sent->revision = list->revision;
    sent->shape_messages = messages;
}
