// SPDX-License-Identifier: MIT
#pragma once

// What may hang on what. The trees of articulated joints are indexed by body, so that a joint is
// checked by walking from its bodies up and down, not by reading all joints.

#include "sim/state/world.h"

// Derived from the joints; made when it is read after they changed otherwise than one by one.
struct cairn_hangs {
    bool stale;
    uint32_t others;  // articulated joints of bodies that hang by a joint of a lower slot as well:
                      // no public function makes one, but a state may have it
    uint32_t *joint;  // by body slot: index + 1 of the joint that it hangs by; 0: none
    uint32_t *first;  // by body slot: index + 1 of a body that hangs on it; 0: none
    uint32_t *next;   // by body slot: index + 1 of another body that hangs on the same one
    uint64_t visited; // links that checks have read, for tests
};

cairn_status cairn_hangs_create(
    cairn_hangs *hangs, const cairn_world_def *def, cairn_allocator *take);
void cairn_hangs_destroy(cairn_hangs *hangs);
// After a body was made, which nothing holds.
void cairn_hangs_add_body(cairn_world *world, uint32_t body);
// After an articulated joint was made in that slot, or before it is removed.
void cairn_hangs_add(cairn_world *world, uint32_t slot);
void cairn_hangs_remove(cairn_world *world, uint32_t slot);
// Whether the index has what the joints say; for cairn_world_validate.
bool cairn_hangs_ok(const cairn_world *world);

// Whether the body is a link: an articulated joint names it.
bool cairn_body_is_link(const cairn_world *world, cairn_body_id body);
// Whether the joint of a valid def may be made, as include/cairn/articulation.h says.
cairn_status cairn_articulated_joint_check(const cairn_world *world, const cairn_joint_def *def);
