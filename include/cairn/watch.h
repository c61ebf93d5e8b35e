// SPDX-License-Identifier: MIT
#pragma once

// Which bodies of a world changed since they were last looked at: whoever shows or sends a large
// world of which most sleeps reads only these. The world notes what it writes in any case, for its
// hash, so a watch costs a step nothing.

#include <cairn/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_watch cairn_watch;

// Notes what is written from now on: by steps, by changes of the caller, by loading a state. The
// world may be destroyed before. CAIRN_OUT_OF_MEMORY; CAIRN_CAPACITY: the world has
// CAIRN_HISTORIES_PER_WORLD_MAX watches and histories (cairn/history.h): read all bodies instead.
// *out is then NULL. Pair with cairn_watch_destroy.
cairn_status cairn_watch_create(cairn_world *world, cairn_watch **out);
void cairn_watch_destroy(cairn_watch *watch); // NULL is allowed

// Whether it watches that world, which was not destroyed.
bool cairn_watch_is_of(const cairn_watch *watch, const cairn_world *world);

// Lists bodies, in order of id index: all of which cairn_body_read may tell something else than
// when this was called before, those that came into existence included, and some of their
// neighbours; the first call lists all. Those that ceased to exist are not listed: then
// cairn_world_population_read tells fewer, or some that came are listed. Returns how many there
// are; if that is more than `capacity`, only so many were written, and the others are not listed
// again. The watch must be of a world that exists (cairn_watch_is_of).
uint32_t cairn_watch_bodies(cairn_watch *watch, cairn_body_id *out, uint32_t capacity);

// Whether a shape may have come into existence or ceased to since this was called before; true at
// the first call. The watch must be of a world that exists.
bool cairn_watch_shapes(cairn_watch *watch);

#ifdef __cplusplus
}
#endif
