// SPDX-License-Identifier: MIT
#pragma once

// The text of a scene around FlatBuffers' JSON parser: what is refused before parsing, and how the
// parser's errors are worded for people.

#include <stdbool.h>
#include <stddef.h>

#include "schema/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

// The parser evaluates sin(), rad() and the like, whose bits differ between C libraries, and takes
// a zero byte for the end. False if one of these occurs outside texts and comments, or if there are
// more objects and lists than any world needs; `error` then says where.
bool cairn_scene_text_check(const char *json, size_t size, char error[CAIRN_SCENE_ERROR_SIZE]);

// Turns the parser's "12: 7: error: words" into "line 12, column 7: words", printable ASCII alone.
void cairn_scene_text_explain(const char *said, char error[CAIRN_SCENE_ERROR_SIZE]);

#ifdef __cplusplus
}
#endif
