// SPDX-License-Identifier: MIT
#include "client_lib/shape_list.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

cairn_status cairn_shape_list_create(cairn_shape_list *list, uint32_t capacity) {
    *list = (cairn_shape_list){.capacity = capacity};
    list->shapes = malloc((size_t)capacity * sizeof list->shapes[0]);
    return list->shapes != NULL ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

void cairn_shape_list_destroy(cairn_shape_list *list) {
    free(list->shapes);
    *list = (cairn_shape_list){0};
}

void cairn_shape_list_clear(cairn_shape_list *list) {
    list->count = 0;
    list->revision++;
}

static uint32_t index_of(uint32_t id) {
    return id & 0xFFFFF; // sim/sim.h: low 20 bits are index + 1
}

// The first place whose shape's index is not below that of `id`.
static uint32_t place_of(const cairn_shape_list *list, uint32_t id) {
    uint32_t low = 0;
    uint32_t high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        bool below = index_of(list->shapes[middle].id) < index_of(id);
        low = below ? middle + 1 : low;
        high = below ? high : middle;
    }
    return low;
}

static void take_out(cairn_shape_list *list, uint32_t id) {
    uint32_t place = place_of(list, id);
    if (place < list->count && list->shapes[place].id == id) {
        list->count--;
        memmove(&list->shapes[place], &list->shapes[place + 1],
            (list->count - place) * sizeof list->shapes[0]);
    }
}

static bool put_in(cairn_shape_list *list, const cairn_wire_shape *shape) {
    uint32_t place = place_of(list, shape->id);
    bool replaces = place < list->count && index_of(list->shapes[place].id) == index_of(shape->id);
    if (!replaces) {
        if (list->count == list->capacity) {
            return false;
        }
        memmove(&list->shapes[place + 1], &list->shapes[place],
            (list->count - place) * sizeof list->shapes[0]);
        list->count++;
    }
    list->shapes[place] = *shape;
    return true;
}

cairn_status cairn_shape_list_take(cairn_shape_list *list, const cairn_shapes_message *message) {
    bool fits = true;
    for (uint32_t i = 0; i < message->removed_count; i++) {
        take_out(list, message->removed[i]);
    }
    for (uint32_t i = 0; i < message->shape_count; i++) {
        fits = put_in(list, &message->shapes[i]) && fits;
    }
    list->revision++;
    return fits ? CAIRN_OK : CAIRN_CAPACITY;
}
