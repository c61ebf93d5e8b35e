// SPDX-License-Identifier: MIT
#pragma once

// A scene as JSON (docs/SCENES.md): the fields that are not the default, by the tables that scenes
// are read by. Numbers have nine digits, so the reader gets the same bits.

#include <stdbool.h>

#include "schema/scene.h"

// The text; the caller frees it. NULL: out of memory. A name that the scene holds as its hash
// alone becomes a text of the same hash.
char *cairn_scene_write(const cairn_scene *scene);
