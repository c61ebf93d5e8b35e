// SPDX-License-Identifier: MIT
// The queries of <cairn/sim.h>. The shape tree gives candidates in any order; each visitor tests
// the shape itself and keeps what comes first in the order that the header promises.

#include <string.h>

#include "base/assert.h"
#include "base/check.h"
#include "sim/body/body.h"
#include "sim/body/shape.h"
#include "sim/collide/collide.h"
#include "sim/math/limits.h"
#include "sim/query/mesh_distance.h"
#include "sim/query/shape_tree.h"
#include "sim/state/slots.h"

cairn_query_filter cairn_query_filter_default(void) {
    return (cairn_query_filter){.mask = UINT32_MAX, .body_kinds = UINT32_MAX};
}

void cairn_world_queries_prepare(cairn_world *world) {
    cairn_shape_tree_update(world);
}

// ---- What all queries share

typedef struct candidates {
    const cairn_world *world;
    uint32_t mask;
    uint32_t body_kinds;
    uint32_t ignored_body; // slot; CAIRN_INDEX_NONE
} candidates;

static candidates candidates_of(const cairn_world *world, const cairn_query_filter *filter) {
    cairn_shape_tree_update(world);
    return (candidates){.world = world,
        .mask = filter->mask,
        .body_kinds = filter->body_kinds,
        .ignored_body = cairn_body_slot(world, filter->ignored)};
}

static bool is_candidate(const candidates *of, uint32_t slot) {
    const cairn_state *state = &of->world->state;
    const cairn_shape *shape = &state->shapes[slot];
    CAIRN_ASSERT(cairn_state_has(state, CAIRN_ARRAY_SHAPES, slot));
    return (shape->category & of->mask) != 0 && (shape->flags & CAIRN_SHAPE_SENSOR) == 0 &&
           shape->body != of->ignored_body && body_enabled(&state->bodies[shape->body]) &&
           (1u << state->bodies[shape->body].kind & of->body_kinds) != 0;
}

// A shape that a caller passes to a query.
typedef struct probe {
    cairn_geometry geometry;
    cairn_shape_view view;
    cairn_pose pose;
    cairn_aabb aabb;
} probe;

static cairn_status probe_of(
    const cairn_world *world, const cairn_shape_def *shape, cairn_pose pose, probe *out) {
    *out = (probe){.geometry = cairn_geometry_of_def(shape), .pose = pose};
    const cairn_status checks[] = {
        cairn_geometry_check(&out->geometry),
        cairn_check_rotation(pose.rotation),
        cairn_check_vec3(pose.position, CAIRN_VALID_DISTANCE),
    };
    const cairn_status status = cairn_check_all(checks, sizeof checks / sizeof checks[0]);
    if (status != CAIRN_OK) {
        return status;
    }
    const cairn_state *state = &world->state;
    if (out->geometry.kind == CAIRN_SHAPE_HULL &&
        cairn_slot_find(state->hull_ids, state->settings->hull_slots, out->geometry.hull) ==
            CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    if (geometry_is_mesh(&out->geometry)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    out->view = cairn_shape_view_of(world, &out->geometry);
    out->aabb = cairn_shape_view_aabb(&out->view, &out->pose);
    return CAIRN_OK;
}

// The visitors of traversals that have a bound, for shapes that are too wide for the tree.
static float visit_wide(
    const cairn_world *world, float bound, cairn_box_tree_bounder *visit, void *context) {
    const cairn_shape_tree *tree = world->shape_tree;
    for (uint32_t i = 0; i < tree->wide_count && bound >= 0.0f; ++i) {
        bound = visit(context, tree->wide_slots[i]);
    }
    return bound;
}

// ---- The first ids in order of index, of many that come in any order

// A heap with the greatest index on top, so that the top is what has to go when it is full.
typedef struct id_list {
    uint32_t *ids;
    uint32_t capacity;
    uint32_t found; // all, with those that had to go
} id_list;

static uint32_t list_count(const id_list *list) {
    return list->found < list->capacity ? list->found : list->capacity;
}

static void sift_down(uint32_t *ids, uint32_t count, uint32_t at) {
    const uint32_t id = ids[at];
    for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && cairn_id_index(ids[child]) < cairn_id_index(ids[child + 1])) {
            ++child;
        }
        if (cairn_id_index(ids[child]) <= cairn_id_index(id)) {
            break;
        }
        ids[at] = ids[child];
        at = child;
    }
    ids[at] = id;
}

static void list_add(id_list *list, uint32_t id) {
    const uint32_t count = list_count(list);
    list->found += 1;
    if (count == list->capacity) {
        if (count > 0 && cairn_id_index(id) < cairn_id_index(list->ids[0])) {
            list->ids[0] = id;
            sift_down(list->ids, count, 0);
        }
        return;
    }
    uint32_t at = count;
    while (at > 0 && cairn_id_index(list->ids[(at - 1) / 2]) < cairn_id_index(id)) {
        list->ids[at] = list->ids[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    list->ids[at] = id;
}

// Sorts what was kept. Returns how many were found.
static uint32_t list_finish(id_list *list) {
    for (uint32_t count = list_count(list); count > 1; --count) {
        const uint32_t greatest = list->ids[0];
        CAIRN_ASSERT(cairn_id_index(greatest) > cairn_id_index(list->ids[count - 1]));
        list->ids[0] = list->ids[count - 1];
        sift_down(list->ids, count - 1, 0);
        list->ids[count - 1] = greatest;
    }
    return list->found;
}

// ---- Rays and casts

typedef struct ray {
    candidates among;
    cairn_vec3 origin;
    cairn_vec3 translation;
    const probe *moving; // NULL: a ray
    cairn_ray_hit *hits; // in order of (fraction, index of shape)
    uint32_t capacity;
    uint32_t found; // all, with those that did not fit
    bool any;       // one hit, whichever, is enough
} ray;

static bool hit_before(const cairn_ray_hit *a, const cairn_ray_hit *b) {
    return a->fraction < b->fraction ||
           (a->fraction == b->fraction && cairn_id_index(a->shape) < cairn_id_index(b->shape));
}

static bool hit_shape(const ray *r, uint32_t slot, cairn_ray_hit *out) {
    const cairn_world *world = r->among.world;
    const cairn_shape_view view = cairn_shape_view_at(world, slot);
    const cairn_pose pose = cairn_shape_world_pose(world, slot);
    bool hit = false;
    if (r->moving != NULL) {
        hit = cairn_query_cast(&view, &pose, &r->moving->view, &r->moving->pose, r->translation,
            &out->fraction, &out->normal, &out->point);
    } else {
        hit = cairn_shape_view_ray_cast(
            &view, &pose, r->origin, r->translation, &out->fraction, &out->normal);
        out->point = vec3_add_scaled(r->origin, r->translation, out->fraction);
    }
    CAIRN_ASSERT(!hit || (out->fraction >= 0.0f && out->fraction <= 1.0f));
    out->shape = cairn_shape_id_at(world, slot);
    out->body = cairn_body_id_at(world, world->state.shapes[slot].body);
    return hit;
}

static float hit_candidate(void *context, uint32_t slot) {
    ray *r = context;
    cairn_ray_hit hit = {.fraction = 0.0f};
    const uint32_t count = r->found < r->capacity ? r->found : r->capacity;
    // With one place the list is the nearest hit, and what lies behind it is of no interest.
    const float bound = r->capacity == 1 && count == 1 ? r->hits[0].fraction : 1.0f;
    if (!is_candidate(&r->among, slot) || !hit_shape(r, slot, &hit)) {
        return bound;
    }
    r->found += 1;
    if (r->any) {
        return -1.0f;
    }
    uint32_t at = count;
    while (at > 0 && hit_before(&hit, &r->hits[at - 1])) {
        --at;
    }
    if (at == r->capacity) {
        return bound;
    }
    const uint32_t kept = count < r->capacity ? count : count - 1;
    memmove(&r->hits[at + 1], &r->hits[at], (kept - at) * sizeof *r->hits);
    r->hits[at] = hit;
    return r->capacity == 1 ? hit.fraction : 1.0f;
}

static void cast_among(ray *r) {
    const cairn_world *world = r->among.world;
    cairn_vec3 centre = r->origin;
    cairn_vec3 half_extents = vec3_zero();
    if (r->moving != NULL) {
        const cairn_aabb *aabb = &r->moving->aabb;
        centre = vec3_scale(vec3_add(aabb->lower, aabb->upper), 0.5f);
        half_extents = vec3_scale(vec3_sub(aabb->upper, aabb->lower), 0.5f);
    }
    const float bound = visit_wide(world, 1.0f, hit_candidate, r);
    cairn_box_tree_cast(
        &world->shape_tree->boxes, centre, r->translation, half_extents, bound, hit_candidate, r);
}

cairn_status cairn_world_ray_closest(const cairn_world *world, cairn_vec3 origin,
    cairn_vec3 translation, const cairn_query_filter *filter, cairn_ray_hit *out) {
    *out = (cairn_ray_hit){.shape = 0};
    if (!vec3_finite(origin) || !vec3_finite(translation)) {
        return CAIRN_NON_FINITE;
    }
    ray r = {.among = candidates_of(world, filter),
        .origin = origin,
        .translation = translation,
        .hits = out,
        .capacity = 1};
    cast_among(&r);
    return r.found > 0 ? CAIRN_OK : CAIRN_NOT_FOUND;
}

cairn_status cairn_world_ray_cast(const cairn_world *world, cairn_vec3 origin,
    cairn_vec3 translation, uint32_t mask, cairn_body_id ignored, cairn_ray_hit *out) {
    cairn_query_filter filter = cairn_query_filter_default();
    filter.mask = mask;
    filter.ignored = ignored;
    return cairn_world_ray_closest(world, origin, translation, &filter, out);
}

uint32_t cairn_world_ray_all(const cairn_world *world, cairn_vec3 origin, cairn_vec3 translation,
    const cairn_query_filter *filter, cairn_ray_hit *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    if (!vec3_finite(origin) || !vec3_finite(translation)) {
        return 0;
    }
    // A list of one would stop at the nearest hit and not count the others.
    cairn_ray_hit pair[2];
    ray r = {.among = candidates_of(world, filter),
        .origin = origin,
        .translation = translation,
        .hits = capacity == 1 ? pair : out,
        .capacity = capacity == 1 ? 2 : capacity};
    cast_among(&r);
    if (capacity == 1 && r.found > 0) {
        out[0] = pair[0];
    }
    return r.found;
}

bool cairn_world_ray_any(const cairn_world *world, cairn_vec3 origin, cairn_vec3 translation,
    const cairn_query_filter *filter) {
    if (!vec3_finite(origin) || !vec3_finite(translation)) {
        return false;
    }
    ray r = {.among = candidates_of(world, filter),
        .origin = origin,
        .translation = translation,
        .any = true};
    cast_among(&r);
    return r.found > 0;
}

cairn_status cairn_world_shape_cast(const cairn_world *world, const cairn_shape_def *shape,
    cairn_pose pose, cairn_vec3 translation, const cairn_query_filter *filter, cairn_ray_hit *out) {
    *out = (cairn_ray_hit){.shape = 0};
    probe moving;
    cairn_status status = probe_of(world, shape, pose, &moving);
    status =
        status != CAIRN_OK ? status : cairn_check_vec3(translation, 2.0f * CAIRN_VALID_DISTANCE);
    if (status != CAIRN_OK) {
        return status;
    }
    if (moving.geometry.kind == CAIRN_SHAPE_HALF_SPACE) {
        return CAIRN_INVALID_ARGUMENT;
    }
    ray r = {.among = candidates_of(world, filter),
        .origin = moving.pose.position,
        .translation = translation,
        .moving = &moving,
        .hits = out,
        .capacity = 1};
    cast_among(&r);
    return r.found > 0 ? CAIRN_OK : CAIRN_NOT_FOUND;
}

// ---- Overlaps

typedef struct overlap {
    candidates among;
    const probe *probe; // NULL: a point
    cairn_vec3 point;
    id_list list;
} overlap;

static bool aabbs_overlap(cairn_aabb a, cairn_aabb b) {
    return a.lower.x <= b.upper.x && b.lower.x <= a.upper.x && a.lower.y <= b.upper.y &&
           b.lower.y <= a.upper.y && a.lower.z <= b.upper.z && b.lower.z <= a.upper.z;
}

// Whether a sphere, capsule or box at `pose` contains the point; false for the other kinds.
static bool contains_point(
    const cairn_geometry *geometry, const cairn_pose *pose, cairn_vec3 point) {
    const bool box = geometry->kind == CAIRN_SHAPE_BOX;
    const cairn_vec3 half = box ? geometry->half_extents : vec3(0.0f, geometry->half_height, 0.0f);
    const cairn_vec3 local = pose_apply_inverse(*pose, point);
    const cairn_vec3 nearest = vec3_clamp(local, vec3_negate(half), half);
    const float square = vec3_length_squared(vec3_sub(local, nearest));
    return (box || geometry->kind == CAIRN_SHAPE_SPHERE || geometry->kind == CAIRN_SHAPE_CAPSULE) &&
           square <= geometry->radius * geometry->radius;
}

// Whether the middle of one is in the other: then they overlap, and no manifold is needed to know
// it. The frame of a hull may be outside of it.
static bool contains_middle(const cairn_geometry *a, const cairn_pose *pose_a,
    const cairn_geometry *b, const cairn_pose *pose_b) {
    return a->kind != CAIRN_SHAPE_HULL && b->kind != CAIRN_SHAPE_HULL &&
           (contains_point(a, pose_a, pose_b->position) ||
               contains_point(b, pose_b, pose_a->position));
}

static bool is_round_or_box(const cairn_geometry *geometry) {
    return geometry->kind == CAIRN_SHAPE_BOX || geometry->kind == CAIRN_SHAPE_SPHERE ||
           geometry->kind == CAIRN_SHAPE_CAPSULE;
}

// Whether the point of a box that is nearest to the middle of `a` is in `a`, by a thousandth of the
// way: then they share it. Of boxes that overlap most do. Relative to a's middle, so that it is
// exact far from the origin.
static bool contains_nearest_point(const cairn_geometry *a, const cairn_pose *pose_a,
    const cairn_geometry *box, const cairn_pose *pose_box) {
    if (box->kind != CAIRN_SHAPE_BOX || !is_round_or_box(a)) {
        return false;
    }
    const cairn_vec3 middle = vec3_sub(pose_a->position, pose_box->position);
    const cairn_vec3 half = box->half_extents;
    const cairn_vec3 local = quat_rotate_inverse(pose_box->rotation, middle);
    const cairn_vec3 nearest = vec3_clamp(local, vec3_negate(half), half);
    const cairn_vec3 way = vec3_sub(quat_rotate(pose_box->rotation, nearest), middle);
    const cairn_pose frame = {.position = vec3_zero(), .rotation = pose_a->rotation};
    return contains_point(a, &frame, vec3_scale(way, 1.001f));
}

static bool overlaps_shape(const overlap *o, uint32_t slot) {
    const cairn_world *world = o->among.world;
    const cairn_shape_view view = cairn_shape_view_at(world, slot);
    const cairn_pose pose = cairn_shape_world_pose(world, slot);
    if (o->probe == NULL) {
        // A ray without length hits what it starts in.
        float fraction = 0.0f;
        cairn_vec3 normal;
        return cairn_shape_view_ray_cast(&view, &pose, o->point, vec3_zero(), &fraction, &normal);
    }
    if (view.mesh != NULL) {
        return cairn_mesh_overlaps(&view, &pose, &o->probe->view, &o->probe->pose);
    }
    return aabbs_overlap(cairn_shape_view_aabb(&view, &pose), o->probe->aabb) &&
           (contains_middle(view.geometry, &pose, &o->probe->geometry, &o->probe->pose) ||
               contains_nearest_point(view.geometry, &pose, &o->probe->geometry, &o->probe->pose) ||
               contains_nearest_point(&o->probe->geometry, &o->probe->pose, view.geometry, &pose) ||
               cairn_collide_overlap(&view, &pose, &o->probe->view, &o->probe->pose));
}

static void overlap_candidate(void *context, uint32_t slot) {
    overlap *o = context;
    if (is_candidate(&o->among, slot) && overlaps_shape(o, slot)) {
        list_add(&o->list, cairn_shape_id_at(o->among.world, slot));
    }
}

static uint32_t overlap_among(overlap *o, const cairn_aabb *box) {
    const cairn_shape_tree *tree = o->among.world->shape_tree;
    for (uint32_t i = 0; i < tree->wide_count; ++i) {
        overlap_candidate(o, tree->wide_slots[i]);
    }
    cairn_box_tree_overlap(&tree->boxes, box, overlap_candidate, o);
    CAIRN_ASSERT(o->list.found <= o->among.world->state.settings->shape_slots);
    return list_finish(&o->list);
}

uint32_t cairn_world_overlap_shape(const cairn_world *world, const cairn_shape_def *shape,
    cairn_pose pose, const cairn_query_filter *filter, cairn_shape_id *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    probe still;
    if (probe_of(world, shape, pose, &still) != CAIRN_OK) {
        return 0;
    }
    overlap o = {.among = candidates_of(world, filter),
        .probe = &still,
        .list = {.ids = out, .capacity = capacity}};
    return overlap_among(&o, &still.aabb);
}

uint32_t cairn_world_overlap(const cairn_world *world, const cairn_shape_def *shape,
    cairn_pose pose, uint32_t mask, cairn_shape_id *out, uint32_t capacity) {
    cairn_query_filter filter = cairn_query_filter_default();
    filter.mask = mask;
    return cairn_world_overlap_shape(world, shape, pose, &filter, out, capacity);
}

uint32_t cairn_world_shapes_at_point(const cairn_world *world, cairn_vec3 point,
    const cairn_query_filter *filter, cairn_shape_id *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    if (cairn_check_vec3(point, CAIRN_VALID_DISTANCE) != CAIRN_OK) {
        return 0;
    }
    overlap o = {.among = candidates_of(world, filter),
        .point = point,
        .list = {.ids = out, .capacity = capacity}};
    const cairn_aabb box = {.lower = point, .upper = point};
    return overlap_among(&o, &box);
}

// ---- Nearest shapes

typedef struct search {
    candidates among;
    const probe *probe;
    float bound; // m
    cairn_closest *out;
} search;

static float measure_candidate(void *context, uint32_t slot) {
    search *s = context;
    const cairn_world *world = s->among.world;
    if (!is_candidate(&s->among, slot)) {
        return s->bound;
    }
    const cairn_shape_view view = cairn_shape_view_at(world, slot);
    const cairn_pose pose = cairn_shape_world_pose(world, slot);
    const cairn_distance found =
        cairn_query_distance(&view, &pose, &s->probe->view, &s->probe->pose);
    const cairn_shape_id id = cairn_shape_id_at(world, slot);
    const bool first = s->out->shape == 0;
    const bool nearer = found.distance < s->bound || (found.distance == s->bound && first) ||
                        (found.distance == s->bound && !first &&
                            cairn_id_index(id) < cairn_id_index(s->out->shape));
    if (!nearer) {
        return s->bound;
    }
    const bool apart = found.distance > 0.0f;
    s->bound = found.distance;
    *s->out = (cairn_closest){.shape = id,
        .body = cairn_body_id_at(world, world->state.shapes[slot].body),
        .distance = found.distance,
        .point = apart ? found.point_a : s->probe->pose.position,
        .probe_point = apart ? found.point_b : s->probe->pose.position,
        .normal = apart ? found.normal : vec3(0.0f, 1.0f, 0.0f)};
    return s->bound;
}

static cairn_status search_among(const cairn_world *world, const probe *still, float distance_max,
    const cairn_query_filter *filter, cairn_closest *out) {
    search s = {
        .among = candidates_of(world, filter), .probe = still, .bound = distance_max, .out = out};
    const float bound = visit_wide(world, distance_max, measure_candidate, &s);
    cairn_box_tree_near(&world->shape_tree->boxes, &still->aabb, bound, measure_candidate, &s);
    CAIRN_ASSERT(out->distance >= 0.0f && out->distance <= distance_max);
    return out->shape != 0 ? CAIRN_OK : CAIRN_NOT_FOUND;
}

cairn_status cairn_world_closest_to_shape(const cairn_world *world, const cairn_shape_def *shape,
    cairn_pose pose, float distance_max, const cairn_query_filter *filter, cairn_closest *out) {
    *out = (cairn_closest){.shape = 0};
    probe still;
    cairn_status status = probe_of(world, shape, pose, &still);
    status = status != CAIRN_OK
                 ? status
                 : cairn_check_float(distance_max, 0.0f, 2.0f * CAIRN_VALID_DISTANCE);
    if (status != CAIRN_OK) {
        return status;
    }
    if (still.geometry.kind == CAIRN_SHAPE_HALF_SPACE) {
        return CAIRN_INVALID_ARGUMENT;
    }
    return search_among(world, &still, distance_max, filter, out);
}

cairn_status cairn_world_closest_to_point(const cairn_world *world, cairn_vec3 point,
    float distance_max, const cairn_query_filter *filter, cairn_closest *out) {
    *out = (cairn_closest){.shape = 0};
    const cairn_status checks[] = {cairn_check_vec3(point, CAIRN_VALID_DISTANCE),
        cairn_check_float(distance_max, 0.0f, 2.0f * CAIRN_VALID_DISTANCE)};
    const cairn_status status = cairn_check_all(checks, 2);
    if (status != CAIRN_OK) {
        return status;
    }
    // A ball without a radius.
    probe still = {.geometry = {.kind = CAIRN_SHAPE_SPHERE},
        .pose = {.position = point, .rotation = quat_identity()},
        .aabb = {.lower = point, .upper = point}};
    still.view.geometry = &still.geometry;
    return search_among(world, &still, distance_max, filter, out);
}
