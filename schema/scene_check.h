// SPDX-License-Identifier: MIT
#pragma once

// The rules that a scene must keep beyond its structure. The simulation checks its definitions
// again; the messages here tell the author which number is wrong.

#include "schema/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

// CAIRN_INVALID_ARGUMENT, CAIRN_NON_FINITE or CAIRN_CAPACITY for the first value that is wrong;
// `error` then names its path, what it must be and what it is.
cairn_status cairn_scene_check(const cairn_scene *scene, char error[CAIRN_SCENE_ERROR_SIZE]);

#ifdef __cplusplus
}
#endif
