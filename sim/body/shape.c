// SPDX-License-Identifier: MIT
#include "sim/body/shape.h"

#include "base/assert.h"
#include "sim/state/slots.h"

cairn_shape_id cairn_shape_id_at(const cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(slot < world->state.settings->shape_slots);
    return cairn_slot_id(world->state.shape_ids, slot);
}

cairn_pose cairn_shape_world_pose(const cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, slot));
    const cairn_shape *shape = &world->state.shapes[slot];
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, shape->body));
    const cairn_motion *motion = &world->state.motions[shape->body];
    const cairn_pose frame = {.position = motion->origin, .rotation = motion->rotation};
    return pose_multiply(frame, shape->pose);
}
