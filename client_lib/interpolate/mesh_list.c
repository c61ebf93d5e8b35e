// SPDX-License-Identifier: MIT
#include "client_lib/interpolate/mesh_list.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include <cairn/types.h>

static void free_mesh(cairn_mesh_list *list, cairn_shown_mesh *mesh) {
    const size_t size = mesh->words == NULL ? 0 : mesh->word_count * sizeof *mesh->words;
    CAIRN_ASSERT(list->size >= size);
    list->size -= size;
    free(mesh->words);
    *mesh = (cairn_shown_mesh){0};
}

void cairn_mesh_list_clear(cairn_mesh_list *list) {
    for (uint32_t i = 0; list->meshes != NULL && i < CAIRN_MESHES_MAX; ++i) {
        free_mesh(list, &list->meshes[i]);
    }
    CAIRN_ASSERT(list->size == 0);
    list->revision += 1;
}

void cairn_mesh_list_destroy(cairn_mesh_list *list) {
    cairn_mesh_list_clear(list);
    free(list->meshes);
    *list = (cairn_mesh_list){0};
}

static cairn_status begin_mesh(
    cairn_mesh_list *list, cairn_shown_mesh *mesh, const cairn_mesh_message *message) {
    *mesh = (cairn_shown_mesh){
        .id = message->mesh,
        .kind = message->kind,
        .vertex_count = message->vertex_count,
        .triangle_count = message->triangle_count,
        .columns = message->columns,
        .rows = message->rows,
        .spacing_x = message->spacing_x,
        .spacing_z = message->spacing_z,
        .word_count = cairn_mesh_message_total(message),
    };
    const size_t size = mesh->word_count * sizeof *mesh->words;
    if (size > list->size_max - list->size) {
        return CAIRN_CAPACITY;
    }
    mesh->words = malloc(size);
    list->size += mesh->words == NULL ? 0 : size;
    return mesh->words == NULL ? CAIRN_CAPACITY : CAIRN_OK;
}

static bool continues(const cairn_shown_mesh *mesh, const cairn_mesh_message *message) {
    return mesh->id == message->mesh && mesh->received == message->first &&
           mesh->kind == message->kind && mesh->vertex_count == message->vertex_count &&
           mesh->triangle_count == message->triangle_count && mesh->columns == message->columns &&
           mesh->rows == message->rows;
}

cairn_status cairn_mesh_list_take(cairn_mesh_list *list, const cairn_mesh_message *message) {
    const uint32_t index = cairn_id_index(message->mesh);
    if (index >= CAIRN_MESHES_MAX) {
        return CAIRN_WRONG_STATE;
    }
    if (list->meshes == NULL) {
        list->meshes = calloc(CAIRN_MESHES_MAX, sizeof *list->meshes);
        if (list->meshes == NULL) {
            return CAIRN_CAPACITY;
        }
    }
    cairn_shown_mesh *mesh = &list->meshes[index];
    if (message->first == 0) {
        free_mesh(list, mesh);
        list->revision += 1;
        const cairn_status status = message->kind == 0 ? CAIRN_OK : begin_mesh(list, mesh, message);
        if (status != CAIRN_OK || message->kind == 0) {
            return status;
        }
    } else if (mesh->id == message->mesh && mesh->words == NULL) {
        return CAIRN_OK; // refused at its first piece
    }
    if (!continues(mesh, message)) {
        return CAIRN_WRONG_STATE;
    }
    CAIRN_ASSERT(message->word_count <= mesh->word_count - mesh->received);
    memcpy(mesh->words + mesh->received, message->words, message->word_count * sizeof *mesh->words);
    mesh->received += message->word_count;
    list->revision += mesh->received == mesh->word_count ? 1u : 0u;
    return CAIRN_OK;
}

const cairn_shown_mesh *cairn_mesh_list_find(const cairn_mesh_list *list, cairn_mesh_id id) {
    const uint32_t index = cairn_id_index(id);
    if (list->meshes == NULL || index >= CAIRN_MESHES_MAX) {
        return NULL;
    }
    const cairn_shown_mesh *mesh = &list->meshes[index];
    const bool whole = mesh->id == id && mesh->words != NULL && mesh->received == mesh->word_count;
    return whole ? mesh : NULL;
}
