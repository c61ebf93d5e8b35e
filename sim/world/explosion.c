// SPDX-License-Identifier: MIT
// Explosions: impulses on the shapes within reach, in order of shape index.

#include "base/assert.h"
#include "base/check.h"
#include "sim/body/body.h"
#include "sim/body/shape.h"
#include "sim/collide/pair_cache.h"
#include "sim/math/limits.h"
#include "sim/query/distance.h"

// The part of the way to a point that must be free of shields: the point itself may lie on one.
#define EXPLOSION_FREE_WAY 0.999f

cairn_explosion cairn_explosion_default(void) {
    return (cairn_explosion){
        .radius = 5.0f, .falloff = 5.0f, .impulse_per_area = 1000.0f, .mask = UINT32_MAX};
}

static cairn_status check(const cairn_explosion *explosion) {
    const float most = CAIRN_EXPLOSION_MAX;
    const cairn_status checks[] = {cairn_check_vec3(explosion->centre, CAIRN_DISTANCE_MAX),
        cairn_check_float(explosion->radius, 0.0f, 0.5f * CAIRN_SHAPE_SIZE_MAX),
        cairn_check_float(explosion->falloff, 0.0f, 0.5f * CAIRN_SHAPE_SIZE_MAX),
        cairn_check_float(explosion->impulse_per_area, -most, most)};
    return cairn_check_all(checks, sizeof checks / sizeof checks[0]);
}

static bool shielded(const cairn_world *world, const cairn_explosion *explosion, cairn_vec3 point) {
    cairn_query_filter filter = cairn_query_filter_default();
    filter.mask = explosion->shield_mask;
    filter.body_kinds = 1u << CAIRN_BODY_STATIC;
    const cairn_vec3 way = vec3_scale(vec3_sub(point, explosion->centre), EXPLOSION_FREE_WAY);
    return explosion->shield_mask != 0 &&
           cairn_world_ray_any(world, explosion->centre, way, &filter);
}

static bool push_shape(cairn_world *world, const cairn_explosion *explosion, uint32_t slot) {
    const cairn_geometry centre_geometry = {.kind = CAIRN_SHAPE_SPHERE};
    const cairn_shape_view centre_view = {.geometry = &centre_geometry};
    const cairn_pose centre = {.position = explosion->centre, .rotation = quat_identity()};
    const cairn_shape_view view = cairn_shape_view_at(world, slot);
    const cairn_pose pose = cairn_shape_world_pose(world, slot);
    const uint32_t body = world->state.shapes[slot].body;
    const cairn_vec3 middle = world->state.motions[body].position;
    const cairn_distance found = cairn_shape_distance(&view, &pose, &centre_view, &centre);
    const bool inside = !(found.distance > 0.0f);
    const float beyond = found.distance - explosion->radius;
    if (beyond > explosion->falloff) {
        return false;
    }
    // From within, the shape is pushed from the centre through the centre of mass.
    const cairn_vec3 point = inside ? middle : found.point_a;
    const cairn_vec3 direction =
        vec3_normalize(vec3_sub(point, explosion->centre), vec3(0.0f, 1.0f, 0.0f));
    const float strength =
        beyond > 0.0f ? (explosion->falloff - beyond) / explosion->falloff : 1.0f;
    const float area =
        cairn_shape_view_shadow(&view, quat_rotate_inverse(pose.rotation, direction));
    if (shielded(world, explosion, point)) {
        return false;
    }
    CAIRN_ASSERT(strength >= 0.0f && strength <= 1.0f);
    const cairn_vec3 impulse = vec3_scale(direction, explosion->impulse_per_area * area * strength);
    return cairn_body_apply_impulse(world, cairn_body_id_at(world, body), impulse, point) ==
           CAIRN_OK;
}

cairn_status cairn_world_explode(
    cairn_world *world, const cairn_explosion *explosion, uint32_t *pushed) {
    uint32_t count = 0;
    const cairn_status status = check(explosion);
    if (pushed != NULL) {
        *pushed = 0;
    }
    if (status != CAIRN_OK || explosion->mask == 0) {
        return status;
    }
    // Scratch of the pair cache, which has room for all shapes.
    uint32_t *ids = world->pair_cache->query_hits;
    cairn_shape_def reach = cairn_shape_def_default();
    reach.kind = CAIRN_SHAPE_SPHERE;
    reach.radius = float_max(explosion->radius + explosion->falloff, CAIRN_SHAPE_SIZE_MIN);
    cairn_query_filter filter = cairn_query_filter_default();
    filter.mask = explosion->mask;
    filter.body_kinds = 1u << CAIRN_BODY_DYNAMIC;
    const cairn_pose pose = {.position = explosion->centre, .rotation = quat_identity()};
    const uint32_t found =
        cairn_world_overlap_shape(world, &reach, pose, &filter, ids, world->def.shape_capacity);
    CAIRN_ASSERT(found <= world->def.shape_capacity);
    for (uint32_t i = 0; i < found; ++i) {
        count += push_shape(world, explosion, cairn_id_index(ids[i])) ? 1u : 0u;
    }
    if (pushed != NULL) {
        *pushed = count;
    }
    return CAIRN_OK;
}
