// SPDX-License-Identifier: MIT
#pragma once

// What the tests of queries share.

#include "tests/physics/mechanics_kit.h"

static inline cairn_query_filter all_shapes(void) {
    return cairn_query_filter_default();
}

static inline cairn_pose pose_at(cairn_vec3 position) {
    return (cairn_pose){.position = position, .rotation = quat_identity()};
}

static inline cairn_body_id put(
    cairn_world *world, uint32_t kind, cairn_vec3 position, const cairn_shape_def *shape) {
    cairn_body_def def = cairn_body_def_default();
    def.kind = kind;
    def.position = position;
    return kit_body(world, &def, shape);
}

static inline cairn_body_id put_static(
    cairn_world *world, cairn_vec3 position, const cairn_shape_def *shape) {
    return put(world, CAIRN_BODY_STATIC, position, shape);
}
