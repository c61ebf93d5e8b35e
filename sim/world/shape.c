// SPDX-License-Identifier: MIT
#include "sim/world/world.h"

#include <string.h>

#include "base/assert.h"
#include "base/check.h"
#include "sim/body/body.h"
#include "sim/body/shape.h"
#include "sim/collide/pair_cache.h"
#include "sim/math/limits.h"
#include "sim/query/shape_tree.h"
#include "sim/sleep/island.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"
#include "sim/world/mesh.h"

cairn_shape_def cairn_shape_def_default(void) {
    return (cairn_shape_def){.kind = CAIRN_SHAPE_BOX,
        .half_extents = {.x = 0.5f, .y = 0.5f, .z = 0.5f},
        .radius = 0.5f,
        .half_height = 0.5f,
        .pose = pose_identity(),
        .density = 1000.0f,
        .friction = 0.5f,
        .category = 1,
        .mask = UINT32_MAX};
}

static cairn_material material_of_def(const cairn_shape_def *def) {
    return (cairn_material){.friction = def->friction,
        .static_friction = def->static_friction,
        .rolling_resistance = def->rolling_resistance,
        .spin_resistance = def->spin_resistance,
        .restitution = def->restitution,
        .friction_combine = def->friction_combine,
        .restitution_combine = def->restitution_combine,
        .surface_velocity = def->surface_velocity};
}

static cairn_status material_check(const cairn_material *material) {
    const cairn_status checks[] = {
        cairn_check_float(material->friction, 0.0f, CAIRN_FRICTION_MAX),
        cairn_check_float(material->static_friction, 0.0f, CAIRN_FRICTION_MAX),
        cairn_check_float(material->rolling_resistance, 0.0f, CAIRN_RESISTANCE_MAX),
        cairn_check_float(material->spin_resistance, 0.0f, CAIRN_RESISTANCE_MAX),
        cairn_check_float(material->restitution, 0.0f, 1.0f),
        cairn_check_vec3(material->surface_velocity, CAIRN_SPEED_MAX),
    };
    const cairn_status status = cairn_check_all(checks, sizeof checks / sizeof checks[0]);
    const bool known =
        material->friction_combine <= CAIRN_COMBINE_LAST &&
        material->restitution_combine <= CAIRN_COMBINE_LAST &&
        (material->static_friction == 0.0f || material->static_friction >= material->friction);
    return status == CAIRN_OK && !known ? CAIRN_INVALID_ARGUMENT : status;
}

static void write_material(cairn_shape *shape, const cairn_material *material) {
    shape->friction = material->friction + 0.0f;
    shape->static_friction = material->static_friction + 0.0f;
    shape->rolling_resistance = material->rolling_resistance + 0.0f;
    shape->spin_resistance = material->spin_resistance + 0.0f;
    shape->restitution = material->restitution + 0.0f;
    shape->friction_combine = material->friction_combine;
    shape->restitution_combine = material->restitution_combine;
    shape->surface_velocity = vec3_clean(material->surface_velocity);
}

static cairn_status shape_def_check(const cairn_shape_def *def) {
    const cairn_geometry geometry = cairn_geometry_of_def(def);
    const cairn_material material = material_of_def(def);
    const cairn_status checks[] = {
        cairn_geometry_check(&geometry),
        cairn_check_vec3(def->pose.position, CAIRN_DISTANCE_MAX),
        cairn_check_rotation(def->pose.rotation),
        cairn_check_float(def->density, 0.0f, CAIRN_DENSITY_MAX),
        material_check(&material),
    };
    const cairn_status status = cairn_check_all(checks, sizeof checks / sizeof checks[0]);
    const bool known = def->flags <= CAIRN_SHAPE_FLAGS;
    return status == CAIRN_OK && (def->density <= 0.0f || !known) ? CAIRN_INVALID_ARGUMENT : status;
}

// Inserts in order of index, so that sums over a body's shapes have the same order after any
// history.
static void link_shape(cairn_world *world, uint32_t body, uint32_t slot) {
    CAIRN_ASSERT(world->state.shapes[slot].body == body);
    uint32_t *at = &world->shape_first[body];
    while (*at != 0 && *at - 1 < slot) {
        at = &world->shape_next[*at - 1];
    }
    CAIRN_ASSERT(*at == 0 || *at - 1 > slot);
    world->shape_next[slot] = *at;
    *at = slot + 1;
}

// Whether a half-space, mesh or height field may be a shape of a body of this kind.
static cairn_status surface_check(
    const cairn_world *world, const cairn_shape_def *def, uint32_t of_body) {
    if (def->kind == CAIRN_SHAPE_HALF_SPACE) {
        return of_body == CAIRN_BODY_STATIC ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
    }
    if (def->kind != CAIRN_SHAPE_MESH && def->kind != CAIRN_SHAPE_HEIGHT_FIELD) {
        return CAIRN_OK;
    }
    const uint32_t slot = cairn_mesh_slot(&world->state, def->mesh);
    const uint32_t kind = def->kind == CAIRN_SHAPE_MESH ? CAIRN_MESH_TRIANGLES : CAIRN_MESH_HEIGHTS;
    if (slot == CAIRN_INDEX_NONE || world->state.meshes[slot].kind != kind) {
        return CAIRN_NOT_FOUND;
    }
    const bool may = of_body != CAIRN_BODY_DYNAMIC && (def->flags & CAIRN_SHAPE_SENSOR) == 0;
    return may ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
}

// What is refused of a shape of a body of this kind, but for lack of room.
static cairn_status shape_check(
    const cairn_world *world, const cairn_shape_def *def, uint32_t of_body) {
    const cairn_status status = shape_def_check(def);
    if (status == CAIRN_OK && def->kind == CAIRN_SHAPE_HULL &&
        cairn_hull_slot(world, def->hull) == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    return status == CAIRN_OK ? surface_check(world, def, of_body) : status;
}

cairn_status cairn_shape_create(
    cairn_world *world, cairn_body_id body, const cairn_shape_def *def, cairn_shape_id *out) {
    *out = 0;
    const uint32_t owner = cairn_body_slot(world, body);
    if (owner == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    cairn_state *state = &world->state;
    const cairn_status status = shape_check(world, def, body_kind(&state->bodies[owner]));
    if (status != CAIRN_OK) {
        return status;
    }
    const uint32_t slot = cairn_slot_take(state->shape_ids, &state->settings->shape_slots,
        world->def.shape_capacity, &world->shape_hint);
    if (slot == CAIRN_INDEX_NONE) {
        state->settings->creates_refused += 1;
        return CAIRN_CAPACITY;
    }
    CAIRN_ASSERT(cairn_state_has(state, CAIRN_ARRAY_SHAPES, slot));
    cairn_hash_cache_mark(world, CAIRN_ARRAY_SHAPE_IDS, slot);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_SHAPES, slot);
    state->shapes[slot] = (cairn_shape){.body = owner,
        .geometry = cairn_geometry_of_def(def),
        .pose = {.position = vec3_clean(def->pose.position),
            .rotation = quat_normalize(def->pose.rotation)},
        .density = def->density,
        .category = def->category,
        .mask = def->mask,
        .user = def->user,
        .name = def->name,
        .flags = def->flags};
    const cairn_material material = material_of_def(def);
    write_material(&state->shapes[slot], &material);
    link_shape(world, owner, slot);
    cairn_shape_tree_mark_shapes(world->shape_tree, owner);
    world->hit_shapes += (def->flags & CAIRN_SHAPE_HIT_EVENTS) != 0 ? 1u : 0u;
    world->mesh_shapes += state->shapes[slot].geometry.mesh != 0 ? 1u : 0u;
    cairn_body_update_mass(world, owner);
    cairn_body_wake(world, owner);
    *out = cairn_shape_id_at(world, slot);
    CAIRN_ASSERT(cairn_slot_find(state->shape_ids, state->settings->shape_slots, *out) == slot);
    return CAIRN_OK;
}

cairn_status cairn_compound_check_room(cairn_world *world, uint32_t shape_count) {
    const cairn_state *state = &world->state;
    const bool fits = cairn_slots_fit(state->body_ids, state->settings->body_slots,
                          world->def.body_capacity, world->body_hint, 1) &&
                      cairn_slots_fit(state->shape_ids, state->settings->shape_slots,
                          world->def.shape_capacity, world->shape_hint, shape_count);
    state->settings->creates_refused += fits ? 0u : 1u;
    return fits ? CAIRN_OK : CAIRN_CAPACITY;
}

// All is checked before anything is made: a body that was made and destroyed again would leave a
// trace, the next generation of its slot.
cairn_status cairn_body_create_compound(cairn_world *world, const cairn_body_def *def,
    const cairn_shape_def *shapes, uint32_t count, cairn_body_id *body, cairn_shape_id *shape_ids) {
    CAIRN_ASSERT(shapes != NULL || count == 0);
    memset(shape_ids, 0, count * sizeof *shape_ids);
    *body = CAIRN_ID_NULL;
    cairn_status status = count > 0 ? cairn_body_def_check(def) : CAIRN_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < count && status == CAIRN_OK; ++i) {
        status = shape_check(world, &shapes[i], def->kind);
    }
    status = status == CAIRN_OK ? cairn_compound_check_room(world, count) : status;
    if (status != CAIRN_OK) {
        return status;
    }
    status = cairn_body_create(world, def, body);
    for (uint32_t i = 0; i < count && status == CAIRN_OK; ++i) {
        status = cairn_shape_create(world, *body, &shapes[i], &shape_ids[i]);
    }
    CAIRN_ASSERT(status == CAIRN_OK);
    return status;
}

void cairn_shape_remove(cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, slot));
    const bool owns_hull = (world->state.shapes[slot].flags & CAIRN_SHAPE_OWNS_HULL) != 0;
    const cairn_hull_id hull = world->state.shapes[slot].geometry.hull;
    uint32_t *at = &world->shape_first[world->state.shapes[slot].body];
    while (*at != slot + 1) {
        CAIRN_ASSERT(*at != 0);
        at = &world->shape_next[*at - 1];
    }
    *at = world->shape_next[slot];
    cairn_hash_cache_mark(world, CAIRN_ARRAY_SHAPE_IDS, slot);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_SHAPES, slot);
    if ((world->state.shapes[slot].flags & CAIRN_SHAPE_HIT_EVENTS) != 0) {
        CAIRN_ASSERT(world->hit_shapes > 0);
        world->hit_shapes -= 1;
    }
    world->mesh_shapes -= world->state.shapes[slot].geometry.mesh != 0 ? 1u : 0u;
    memset(&world->state.shapes[slot], 0, sizeof(cairn_shape));
    cairn_slot_free(world->state.shape_ids, slot, &world->shape_hint);
    world->contacts_stale = true;
    cairn_pair_cache_remove_shape(world, slot);
    cairn_shape_tree_remove(world->shape_tree, slot);
    if (owns_hull && hull != 0) {
        // CAIRN_WRONG_STATE: another shape uses it.
        (void)cairn_hull_destroy(world, hull);
    }
}

static uint32_t shape_slot(const cairn_world *world, cairn_shape_id shape) {
    return cairn_slot_find(world->state.shape_ids, world->state.settings->shape_slots, shape);
}

cairn_status cairn_shape_destroy(cairn_world *world, cairn_shape_id shape) {
    const uint32_t slot = shape_slot(world, shape);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const uint32_t owner = world->state.shapes[slot].body;
    cairn_islands_wake_neighbours(world, owner);
    cairn_shape_remove(world, slot);
    cairn_body_update_mass(world, owner);
    cairn_body_wake(world, owner);
    return CAIRN_OK;
}

cairn_status cairn_shape_read(
    const cairn_world *world, cairn_shape_id shape, cairn_shape_def *def, cairn_body_id *body) {
    const uint32_t slot = shape_slot(world, shape);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_shape *source = &world->state.shapes[slot];
    *def = (cairn_shape_def){.kind = source->geometry.kind,
        .half_extents = source->geometry.half_extents,
        .radius = source->geometry.radius,
        .half_height = source->geometry.half_height,
        .hull = source->geometry.hull,
        .mesh = source->geometry.mesh,
        .pose = source->pose,
        .density = source->density,
        .friction = source->friction,
        .restitution = source->restitution,
        .category = source->category,
        .mask = source->mask,
        .user = source->user,
        .name = source->name,
        .flags = source->flags,
        .static_friction = source->static_friction,
        .rolling_resistance = source->rolling_resistance,
        .spin_resistance = source->spin_resistance,
        .friction_combine = source->friction_combine,
        .restitution_combine = source->restitution_combine,
        .surface_velocity = source->surface_velocity};
    *body = cairn_body_id_at(world, source->body);
    return CAIRN_OK;
}

uint32_t cairn_world_shapes(const cairn_world *world, cairn_shape_id *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    const cairn_state *state = &world->state;
    return cairn_slots_list(state->shape_ids, state->settings->shape_slots, out, capacity);
}

uint32_t cairn_body_shapes(
    const cairn_world *world, cairn_body_id body, cairn_shape_id *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    const uint32_t slot = cairn_body_slot(world, body);
    uint32_t count = 0;
    if (slot == CAIRN_INDEX_NONE) {
        return 0;
    }
    for (uint32_t i = world->shape_first[slot]; i != 0; i = world->shape_next[i - 1]) {
        if (count < capacity) {
            out[count] = cairn_shape_id_at(world, i - 1);
        }
        ++count;
    }
    return count;
}

// ---- Setters

// The shape whose setter was called with values of that status; NULL on failure. Its contacts are
// found again, with new manifolds, which hold what follows from the material.
static cairn_shape *shape_to_set(
    cairn_world *world, cairn_shape_id shape, cairn_status checked, cairn_status *status) {
    const uint32_t slot = shape_slot(world, shape);
    *status = slot == CAIRN_INDEX_NONE ? CAIRN_NOT_FOUND : checked;
    if (*status != CAIRN_OK) {
        return NULL;
    }
    cairn_hash_cache_mark(world, CAIRN_ARRAY_SHAPES, slot);
    cairn_body_find_contacts_again(world, world->state.shapes[slot].body);
    return &world->state.shapes[slot];
}

cairn_status cairn_shape_set_filter(
    cairn_world *world, cairn_shape_id id, uint32_t category, uint32_t mask) {
    cairn_status status = CAIRN_OK;
    cairn_shape *shape = shape_to_set(world, id, status, &status);
    if (shape != NULL) {
        shape->category = category;
        shape->mask = mask;
    }
    return status;
}

cairn_status cairn_shape_set_material(
    cairn_world *world, cairn_shape_id id, const cairn_material *material) {
    cairn_status status;
    cairn_shape *shape = shape_to_set(world, id, material_check(material), &status);
    if (shape != NULL) {
        write_material(shape, material);
    }
    return status;
}

cairn_status cairn_shape_read_material(
    const cairn_world *world, cairn_shape_id id, cairn_material *out) {
    cairn_shape_def def;
    cairn_body_id body;
    *out = (cairn_material){.friction = 0.0f};
    const cairn_status status = cairn_shape_read(world, id, &def, &body);
    if (status == CAIRN_OK) {
        *out = material_of_def(&def);
    }
    return status;
}

cairn_status cairn_shape_set_density(cairn_world *world, cairn_shape_id id, float density) {
    cairn_status status = cairn_check_float(density, 0.0f, CAIRN_DENSITY_MAX);
    status = status == CAIRN_OK && density <= 0.0f ? CAIRN_INVALID_ARGUMENT : status;
    cairn_shape *shape = shape_to_set(world, id, status, &status);
    if (shape != NULL) {
        shape->density = density;
        cairn_body_update_mass(world, shape->body);
    }
    return status;
}

cairn_status cairn_shape_set_user(cairn_world *world, cairn_shape_id id, uint32_t user) {
    const uint32_t slot = shape_slot(world, id);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    cairn_hash_cache_mark(world, CAIRN_ARRAY_SHAPES, slot);
    world->state.shapes[slot].user = user;
    return CAIRN_OK;
}
