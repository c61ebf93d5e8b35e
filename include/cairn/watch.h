// SPDX-License-Identifier: MIT
#pragma once

// Lists the bodies of a world that changed since the last call. A caller that shows or sends a
// large world, in which most bodies sleep, needs to read only the listed ones. A watch adds nothing
// to the cost of a step: it uses the marks that the world keeps for its hash.

#include <cairn/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_watch cairn_watch;

// The watch sees all that is written from now on: by steps, by calls that change the world, and by
// loading a state. The world may be destroyed before the watch. CAIRN_OUT_OF_MEMORY;
// CAIRN_CAPACITY: the world has CAIRN_HISTORIES_PER_WORLD_MAX watches and histories
// (cairn/history.h) already: read all bodies instead. *out is then NULL. Pair with
// cairn_watch_destroy.
cairn_status cairn_watch_create(cairn_world *world, cairn_watch **out);
void cairn_watch_destroy(cairn_watch *watch); // NULL is allowed

// Whether it watches that world, which was not destroyed.
bool cairn_watch_is_of(const cairn_watch *watch, const cairn_world *world);

// Writes the ids of the bodies that changed since the last call, in order of id index. A body has
// changed if cairn_body_read may give another result, or if it was created. Some bodies beside it
// in memory may be listed, too. The first call lists all bodies. A destroyed body is not listed;
// cairn_world_population_read then returns a smaller number, unless new bodies are listed.
// Returns the number of changed bodies. If it is larger than `capacity`, only the first `capacity`
// ids were written, and the next call does not list the others. The world must exist
// (cairn_watch_is_of).
uint32_t cairn_watch_bodies(cairn_watch *watch, cairn_body_id *out, uint32_t capacity);

// Whether a shape may have been created or destroyed since the last call. The first call returns
// true. The world must exist.
bool cairn_watch_shapes(cairn_watch *watch);

#ifdef __cplusplus
}
#endif
