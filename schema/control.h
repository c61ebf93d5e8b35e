// SPDX-License-Identifier: MIT
#pragma once

// A control request that outlives the message it came in.

#include <stdint.h>

#include <cairn/control.h>

#define CAIRN_CONTROL_TEXTS_MAX 2 // of one request, beside the room

// Its pointers point into itself: it may not be moved.
typedef struct cairn_control_request_copy {
    cairn_control_request request;
    char room[CAIRN_NAME_SIZE_MAX + 1];
    char texts[CAIRN_CONTROL_TEXTS_MAX][CAIRN_CONTROL_NAME_SIZE_MAX + 1];
    uint8_t bytes[CAIRN_CONTROL_PIECE_SIZE_MAX];
    cairn_vec3 points[CAIRN_CONTROL_POINTS_MAX];
    struct { // of lists, by their elements
        cairn_control_edit edit[CAIRN_CONTROL_ACT_EDITS_MAX];
        cairn_control_watched watched[CAIRN_CONTROL_WATCHED_MAX];
        cairn_control_part part[CAIRN_CONTROL_PARTS_MAX];
        cairn_control_triangle triangle[CAIRN_CONTROL_TRIANGLES_MAX];
        cairn_control_height height[CAIRN_CONTROL_HEIGHTS_MAX];
    } lists;
} cairn_control_request_copy;

// `request` must have passed cairn_message_check.
void cairn_control_request_copy_from(
    cairn_control_request_copy *copy, const cairn_control_request *request);
