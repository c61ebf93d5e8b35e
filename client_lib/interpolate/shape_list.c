// SPDX-License-Identifier: MIT
#include "client_lib/interpolate/shape_list.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include <cairn/types.h>

cairn_status cairn_shape_list_create(cairn_shape_list *list, uint32_t capacity) {
    CAIRN_ASSERT(capacity > 0);
    *list = (cairn_shape_list){.capacity = capacity};
    list->shapes = malloc((size_t)capacity * sizeof list->shapes[0]);
    list->hull_of = calloc(capacity, sizeof list->hull_of[0]);
    list->hulls = calloc(CAIRN_HULLS_MAX, sizeof list->hulls[0]);
    bool room = list->shapes != NULL && list->hull_of != NULL && list->hulls != NULL;
    return room ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

void cairn_shape_list_destroy(cairn_shape_list *list) {
    free(list->shapes);
    free(list->hull_of);
    free(list->hulls);
    *list = (cairn_shape_list){0};
}

void cairn_shape_list_clear(cairn_shape_list *list) {
    list->count = 0;
    list->revision++;
    for (uint32_t i = 0; i < list->hull_end; i++) {
        list->hulls[i].users = 0;
    }
    list->hull_end = 0;
}

// The first place whose shape's index is not below that of `id`.
static uint32_t place_of(const cairn_shape_list *list, uint32_t id) {
    uint32_t low = 0;
    uint32_t high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        bool below = cairn_id_index(list->shapes[middle].id) < cairn_id_index(id);
        low = below ? middle + 1 : low;
        high = below ? high : middle;
    }
    return low;
}

// Adds a user to the hull with these corners. Returns its index + 1; 0: there is no room.
static uint32_t acquire_hull(cairn_shape_list *list, const cairn_vec3 *corners, uint32_t count) {
    CAIRN_ASSERT(count > 0 && count <= CAIRN_HULL_VERTICES_MAX);
    uint32_t unused = CAIRN_HULLS_MAX;
    for (uint32_t i = list->hull_end; i > 0; i--) {
        cairn_shape_hull *hull = &list->hulls[i - 1];
        unused = hull->users == 0 ? i - 1 : unused;
        if (hull->users > 0 && hull->count == count &&
            memcmp(hull->corners, corners, count * sizeof corners[0]) == 0) {
            hull->users++;
            return i;
        }
    }
    unused = unused < list->hull_end ? unused : list->hull_end;
    if (unused == CAIRN_HULLS_MAX) {
        return 0;
    }
    list->hulls[unused] = (cairn_shape_hull){.users = 1, .count = count};
    memcpy(list->hulls[unused].corners, corners, count * sizeof corners[0]);
    list->hull_end += unused == list->hull_end ? 1 : 0;
    return unused + 1;
}

static void release_hull(cairn_shape_list *list, uint32_t place) {
    if (list->hull_of[place] != 0) {
        CAIRN_ASSERT(list->hulls[list->hull_of[place] - 1].users > 0);
        list->hulls[list->hull_of[place] - 1].users--;
        list->hull_of[place] = 0;
    }
}

static void remove_shape(cairn_shape_list *list, uint32_t id) {
    uint32_t place = place_of(list, id);
    if (place < list->count && list->shapes[place].id == id) {
        release_hull(list, place);
        list->count--;
        memmove(&list->hull_of[place], &list->hull_of[place + 1],
            (list->count - place) * sizeof list->hull_of[0]);
        memmove(&list->shapes[place], &list->shapes[place + 1],
            (list->count - place) * sizeof list->shapes[0]);
    }
}

// Returns the place of the shape, or `capacity` if it does not fit.
static uint32_t put_shape(cairn_shape_list *list, const cairn_snapshot_shape *shape) {
    uint32_t place = place_of(list, shape->id);
    bool replaces =
        place < list->count && cairn_id_index(list->shapes[place].id) == cairn_id_index(shape->id);
    if (!replaces) {
        if (list->count == list->capacity) {
            return list->capacity;
        }
        memmove(&list->hull_of[place + 1], &list->hull_of[place],
            (list->count - place) * sizeof list->hull_of[0]);
        list->hull_of[place] = 0;
        memmove(&list->shapes[place + 1], &list->shapes[place],
            (list->count - place) * sizeof list->shapes[0]);
        list->count++;
    }
    release_hull(list, place);
    list->shapes[place] = *shape;
    return place;
}

cairn_status cairn_shape_list_take(cairn_shape_list *list, const cairn_shapes_message *message) {
    bool fits = true;
    for (uint32_t i = 0; i < message->removed_count; i++) {
        remove_shape(list, message->removed[i]);
    }
    const cairn_vec3 *corners = message->corners;
    uint32_t hull = 0;
    for (uint32_t i = 0; i < message->shape_count; i++) {
        uint32_t place = put_shape(list, &message->shapes[i]);
        fits = fits && place < list->capacity;
        if (message->shapes[i].kind == CAIRN_SHAPE_HULL) {
            uint32_t count = message->corner_counts[hull++];
            if (place < list->capacity) {
                list->hull_of[place] = acquire_hull(list, corners, count);
                fits = fits && list->hull_of[place] != 0;
            }
            corners += count;
        }
    }
    CAIRN_ASSERT(list->count <= list->capacity && list->hull_end <= CAIRN_HULLS_MAX);
    list->revision++;
    return fits ? CAIRN_OK : CAIRN_CAPACITY;
}

const cairn_shape_hull *cairn_shape_list_hull(const cairn_shape_list *list, uint32_t id) {
    uint32_t place = place_of(list, id);
    bool known = place < list->count && list->shapes[place].id == id && list->hull_of[place] != 0;
    return known ? &list->hulls[list->hull_of[place] - 1] : NULL;
}
