// SPDX-License-Identifier: MIT
#pragma once

// Snapshots carry poses alone; how fast bodies move follows from where they were.

#include <cairn/types.h>

// The mean velocities of a body since `before`, `seconds` > 0 earlier: 0 for one that was put
// elsewhere in between. That of its origin, not of its centre of mass.
void cairn_derive_velocities(
    const cairn_snapshot_body *before, float seconds, cairn_snapshot_body *body);
