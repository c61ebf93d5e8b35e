// SPDX-License-Identifier: MIT
#include "sim/sleep/island.h"

#include <string.h>

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/collide/body_extent.h"
#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"
#include "sim/math/grid.h"
#include "sim/math/limits.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"
#include "sim/task/task_scheduler.h"

// The fewest bodies that are shared among workers.
#define BODIES_SHARED_MIN 64

// Islands are groups of dynamic bodies that touch or are joined. A sleeping island is visited only
// when a body of the awake set touches it. Everything else is about the bodies of the awake set,
// which the pair cache has listed.

void cairn_islands_allocate(cairn_islands *islands, cairn_arena *from, const cairn_world_def *def) {
    islands->root = cairn_arena_take(from, def->body_capacity, sizeof *islands->root);
    islands->awake = cairn_arena_take(from, def->body_capacity, sizeof *islands->awake);
    islands->ticks = cairn_arena_take(from, def->body_capacity, sizeof *islands->ticks);
}

// Union-find with path halving; the lower slot becomes the root, so the answer does not depend on
// the order in which pairs come.
static uint32_t root_of(uint32_t *parent, uint32_t slot) {
    CAIRN_ASSERT(parent[slot] <= slot);
    while (parent[slot] != slot) {
        parent[slot] = parent[parent[slot]];
        slot = parent[slot];
    }
    return slot;
}

static void unite(uint32_t *parent, uint32_t a, uint32_t b) {
    const uint32_t root_a = root_of(parent, a);
    const uint32_t root_b = root_of(parent, b);
    CAIRN_ASSERT(root_a <= a && root_b <= b);
    if (root_a < root_b) {
        parent[root_b] = root_a;
    } else {
        parent[root_a] = root_b;
    }
}

static bool dynamic(const cairn_world *world, uint32_t slot) {
    return world->state.bodies[slot].kind == CAIRN_BODY_DYNAMIC;
}

static bool asleep(const cairn_world *world, uint32_t slot) {
    return world->state.sleep[slot].state == CAIRN_SLEEP_ASLEEP;
}

typedef void pair_visitor(cairn_world *world, uint32_t body_a, uint32_t body_b);

// Contacts and joints of which at least one body is in the awake set, or all of them. Overlaps of
// sensors are not contacts: they neither wake a body nor keep it awake.
static void visit_pairs(cairn_world *world, bool all, pair_visitor *visit) {
    const unsigned char *in_set = world->awake_set->contains;
    const cairn_contact_ref *refs = world->manifold_pool->refs;
    const uint32_t count = world->state.settings->contact_count;
    const bool sparse = !all && world->awake_set->sparse;
    for (uint32_t i = 0; i < count; ++i) {
        if (sparse && i % CAIRN_PAIRS_PER_RANGE == 0) {
            i = cairn_contact_refs_skip(world, i, count);
            if (i >= count) {
                break;
            }
        }
        if ((all || (in_set[refs[i].body_a] | in_set[refs[i].body_b]) != 0) &&
            refs[i].manifold != CAIRN_MANIFOLD_SENSOR) {
            visit(world, refs[i].body_a, refs[i].body_b);
        }
    }
    const cairn_joint_bodies *joints = world->pair_cache->joint_filter.joints;
    CAIRN_ASSERT(world->pair_cache->joint_filter.joint_count <= world->def.joint_capacity);
    for (uint32_t i = 0; i < world->pair_cache->joint_filter.joint_count; ++i) {
        if (all || (in_set[joints[i].body_a] | in_set[joints[i].body_b]) != 0) {
            visit(world, joints[i].body_a, joints[i].body_b);
        }
    }
}

static void unite_dynamic(cairn_world *world, uint32_t body_a, uint32_t body_b) {
    if (dynamic(world, body_a) && dynamic(world, body_b)) {
        unite(world->islands->root, body_a, body_b);
    }
}

// ---- Waking

static void wake_dynamic(cairn_world *world, uint32_t slot) {
    if (dynamic(world, slot)) {
        cairn_body_wake(world, slot);
    }
}

// A slot of a contact may by now have another body. The refs are tested first, because they are a
// tenth of the size of the contacts.
static void wake_contacts(cairn_world *world, uint32_t slot) {
    const cairn_contact_ref *refs = world->manifold_pool->refs;
    const cairn_body_id id = cairn_body_id_at(world, slot);
    const uint32_t count = world->state.settings->contact_count;
    for (uint32_t i = 0; i < count; ++i) {
        if ((refs[i].body_a != slot && refs[i].body_b != slot) ||
            refs[i].manifold == CAIRN_MANIFOLD_SENSOR) {
            continue;
        }
        const cairn_contact *contact = &world->state.contacts[i];
        CAIRN_ASSERT(contact->body_a != contact->body_b);
        if (contact->body_a != id && contact->body_b != id) {
            continue;
        }
        const cairn_body_id other = contact->body_a == id ? contact->body_b : contact->body_a;
        const uint32_t other_slot = cairn_body_slot(world, other);
        if (other_slot != CAIRN_INDEX_NONE) {
            wake_dynamic(world, other_slot);
        }
    }
}

void cairn_islands_wake_neighbours(cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, slot));
    wake_contacts(world, slot);
    const cairn_state *state = &world->state;
    const uint32_t count = state->settings->joint_slots;
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_joint *joint = &state->joints[i];
        if (!cairn_state_has(state, CAIRN_ARRAY_JOINTS, i)) {
            continue;
        }
        const uint32_t slot_a = cairn_id_index(joint->body_a);
        const uint32_t slot_b = cairn_id_index(joint->body_b);
        if (slot_a == slot) {
            wake_dynamic(world, slot_b);
        } else if (slot_b == slot) {
            wake_dynamic(world, slot_a);
        }
    }
}

static void note_sleeping_body(cairn_world *world, uint32_t body_a, uint32_t body_b) {
    if (asleep(world, body_a) || asleep(world, body_b)) {
        world->islands->wakes = true;
    }
}

// A kinematic body in motion, or one that was moved, keeps what it touches awake.
static void keep_island_awake(cairn_world *world, uint32_t body_a, uint32_t body_b) {
    const cairn_islands *islands = world->islands;
    if (!dynamic(world, body_a) && dynamic(world, body_b) &&
        cairn_body_in_awake_set(world, body_a)) {
        islands->awake[islands->root[body_b]] = 1;
    }
    if (!dynamic(world, body_b) && dynamic(world, body_a) &&
        cairn_body_in_awake_set(world, body_b)) {
        islands->awake[islands->root[body_a]] = 1;
    }
}

static void wake_islands(cairn_world *world) {
    cairn_islands *islands = world->islands;
    const uint32_t count = world->state.settings->body_slots;
    for (uint32_t i = 0; i < count; ++i) {
        islands->root[i] = i;
        islands->awake[i] = 0;
    }
    visit_pairs(world, true, unite_dynamic);
    for (uint32_t i = 0; i < count; ++i) {
        islands->root[i] = root_of(islands->root, i);
        CAIRN_ASSERT(islands->root[islands->root[i]] == islands->root[i]);
        if (dynamic(world, i) && cairn_body_is_active(world, i)) {
            islands->awake[islands->root[i]] = 1;
        }
    }
    visit_pairs(world, true, keep_island_awake);
    for (uint32_t i = 0; i < count; ++i) {
        if (asleep(world, i) && islands->awake[islands->root[i]] != 0) {
            cairn_body_wake(world, i);
            CAIRN_ASSERT(!asleep(world, i));
        }
    }
}

static void mark_awake_set(cairn_world *world) {
    const cairn_awake_set *awake = world->awake_set;
    memset(world->awake_set->contains, 0, world->state.settings->body_slots);
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        CAIRN_ASSERT(awake->bodies[i] < world->state.settings->body_slots);
        world->awake_set->contains[awake->bodies[i]] = 1;
    }
    if (awake->sparse) {
        cairn_manifold_pool_sum_refs(world);
        slot_set_fill(&world->awake_set->set, awake->bodies, awake->body_count,
            world->state.settings->body_slots);
    }
}

void cairn_islands_wake(cairn_world *world) {
    const bool sleep = world->def.sleep != 0;
    world->islands->wakes = false;
    if (!sleep && !world->awake_set->sleepers) {
        return;
    }
    mark_awake_set(world);
    visit_pairs(world, false, note_sleeping_body);
    if (world->islands->wakes) {
        wake_islands(world);
        cairn_awake_set_list(world);
        mark_awake_set(world);
    }
}

// ---- Falling asleep by a call, between the stages of steps: refs and joints are read from the
// state

// Calls `visit` for the bodies of every contact that presses, and of every joint, that still exist
// and are enabled. False as soon as `visit` returns false.
typedef bool between_steps_visitor(cairn_world *world, uint32_t body_a, uint32_t body_b);

static bool visit_between_steps(cairn_world *world, between_steps_visitor *visit) {
    const cairn_state *state = &world->state;
    for (uint32_t i = 0; i < state->settings->contact_count; ++i) {
        const uint32_t a = cairn_body_slot(world, state->contacts[i].body_a);
        const uint32_t b = cairn_body_slot(world, state->contacts[i].body_b);
        if (!contact_is_sensor(&state->contacts[i]) && a != CAIRN_INDEX_NONE &&
            b != CAIRN_INDEX_NONE && !visit(world, a, b)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < state->settings->joint_slots; ++i) {
        const cairn_joint *joint = &state->joints[i];
        if (cairn_state_has(state, CAIRN_ARRAY_JOINTS, i) &&
            !visit(world, cairn_id_index(joint->body_a), cairn_id_index(joint->body_b))) {
            return false;
        }
    }
    return true;
}

static bool unite_between_steps(cairn_world *world, uint32_t body_a, uint32_t body_b) {
    unite_dynamic(world, body_a, body_b);
    return true;
}

// Whether the pair lets the island whose root is marked in `awake` sleep.
static bool lets_sleep(cairn_world *world, uint32_t body_a, uint32_t body_b) {
    const cairn_islands *islands = world->islands;
    const bool a_in = islands->awake[islands->root[body_a]] != 0;
    const bool b_in = islands->awake[islands->root[body_b]] != 0;
    return !(a_in && !dynamic(world, body_b) && cairn_body_in_awake_set(world, body_b)) &&
           !(b_in && !dynamic(world, body_a) && cairn_body_in_awake_set(world, body_a));
}

bool cairn_islands_put_to_sleep(cairn_world *world, uint32_t slot) {
    cairn_islands *islands = world->islands;
    const uint32_t count = world->state.settings->body_slots;
    CAIRN_ASSERT(slot < count && dynamic(world, slot));
    for (uint32_t i = 0; i < count; ++i) {
        islands->root[i] = i;
        islands->awake[i] = 0;
    }
    (void)visit_between_steps(world, unite_between_steps);
    for (uint32_t i = 0; i < count; ++i) {
        islands->root[i] = root_of(islands->root, i);
    }
    islands->awake[islands->root[slot]] = 1;
    if (!visit_between_steps(world, lets_sleep)) {
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (islands->root[i] != islands->root[slot]) {
            continue;
        }
        CAIRN_ASSERT(dynamic(world, i));
        cairn_hash_cache_mark_body(world, i);
        cairn_body_clear_forces(world, i);
        world->state.motions[i].linear_velocity = vec3_zero();
        world->state.motions[i].angular_velocity = vec3_zero();
        world->state.sleep[i] = (cairn_sleep){
            .state = CAIRN_SLEEP_ASLEEP, .ticks = cairn_settings_rest_ticks(world->state.settings)};
    }
    return true;
}

// ---- Falling asleep

// A bound of how far the surface of a body moves, or how fast: of its centre by `linear`, about it
// by `angular` (body axes). Of the points r in the box of its extents, none moves farther about the
// centre of mass than |w| x r with the components of w and r positive. Both parts are added by
// squares, as they would be on average over the surface.
static float surface_bound(
    const cairn_world *world, uint32_t slot, cairn_vec3 linear, cairn_vec3 angular) {
    const cairn_vec3 w = vec3_abs(angular);
    // The extents of a body without shapes are not kept up to date.
    const cairn_vec3 r = vec3_select(
        world->shape_first[slot] != 0, world->pair_cache->half_extents[slot], vec3_zero());
    const cairn_vec3 about_centre =
        vec3(w.y * r.z + w.z * r.y, w.z * r.x + w.x * r.z, w.x * r.y + w.y * r.x);
    CAIRN_ASSERT(r.x >= 0.0f && r.y >= 0.0f && r.z >= 0.0f);
    return float_sqrt(vec3_length_squared(linear) + vec3_length_squared(about_centre));
}

static float surface_speed(const cairn_world *world, uint32_t slot) {
    const cairn_motion *motion = &world->state.motions[slot];
    return surface_bound(world, slot, motion->linear_velocity,
        quat_rotate_inverse(motion->rotation, motion->angular_velocity));
}

// Whether the last step left the body where it was, though it ended with a velocity: what the
// solver takes back in every step, of a plank between others.
static bool kept_its_place(const cairn_world *world, uint32_t slot) {
    if (world->def.solver != CAIRN_SOLVER_SOFT_STEP || !cairn_body_takes_impulses(world, slot)) {
        return false;
    }
    const cairn_awake_set *awake = world->awake_set;
    const cairn_body_travel *travel = &awake->travels[awake->solver_body_of[slot]];
    const float radius =
        world->shape_first[slot] != 0 ? vec3_length(world->pair_cache->half_extents[slot]) : 0.0f;
    return travel->distance + travel->angle * radius <
           world->state.settings->sleep_speed * world_time_step(world);
}

// How far the surface of the body is from the pose where it began to stay.
static float surface_distance(const cairn_world *world, uint32_t slot) {
    const cairn_motion *motion = &world->state.motions[slot];
    const cairn_sleep *sleep = &world->state.sleep[slot];
    CAIRN_ASSERT(sleep->stay > 0);
    const cairn_quat turned =
        quat_multiply(quat_conjugate(packed_rotation_unpack(sleep->rotation)), motion->rotation);
    return surface_bound(world, slot, vec3_sub(motion->position, sleep->position),
        vec3_scale(quat_vector(turned), 2.0f));
}

// Returns for how many ticks a body has been at rest, at most half a second. A body is at rest in a
// tick if its speed is below `sleep_speed`, or if the step moved it less than that speed would. It
// also counts as at rest while no point moves farther away from where it was than `sleep_speed`
// would take it in 0.3 s, but then it can fall asleep only in a tick in which it is slow. So a limb
// that trembles in a heap can sleep, but a body that stops only to turn back cannot. (Jolt
// watches how far three points of a body move.)
static uint32_t ticks_at_rest(const cairn_world *world, uint32_t slot) {
    const cairn_sleep *sleep = &world->state.sleep[slot];
    const uint32_t limit = cairn_settings_rest_ticks(world->state.settings);
    const uint32_t stay = sleep->ticks > 0 || sleep->stay < limit ? sleep->stay : limit - 1;
    CAIRN_ASSERT(sleep->ticks <= limit && sleep->stay <= limit);
    return stay > sleep->ticks ? stay : sleep->ticks;
}

static void count_ticks_at_rest(const cairn_world *world, uint32_t slot) {
    const uint32_t limit = cairn_settings_rest_ticks(world->state.settings);
    const float slow = world->state.settings->sleep_speed;
    const cairn_motion *motion = &world->state.motions[slot];
    cairn_sleep *sleep = &world->state.sleep[slot];
    const bool may_sleep = world->def.sleep != 0 && world->state.bodies[slot].allow_sleep != 0;
    float speed = may_sleep ? surface_speed(world, slot) : 0.0f;
    speed = speed >= slow && kept_its_place(world, slot) ? 0.0f : speed;
    if (!may_sleep || !(speed < CAIRN_SLEEP_PEAK * slow)) {
        *sleep = (cairn_sleep){.state = sleep->state, .squeeze = sleep->squeeze};
        return;
    }
    if (sleep->stay > 0 && surface_distance(world, slot) < 0.3f * slow) {
        sleep->stay = sleep->stay < limit ? sleep->stay + 1 : limit;
    } else {
        sleep->stay = 1;
        sleep->position = cairn_vec3_on_grid(motion->position);
        sleep->rotation =
            packed_rotation_pack(motion->rotation, cairn_body_reference_precision(world, slot));
    }
    const uint32_t ticks = sleep->ticks < limit ? sleep->ticks + 1 : limit;
    sleep->ticks = speed < slow ? ticks : 0;
}

static void keep_awake(cairn_world *world, uint32_t body_a, uint32_t body_b) {
    cairn_islands *islands = world->islands;
    if (!dynamic(world, body_a) && dynamic(world, body_b) && cairn_body_is_active(world, body_a)) {
        islands->ticks[root_of(islands->root, body_b)] = 0;
    }
    if (!dynamic(world, body_b) && dynamic(world, body_a) && cairn_body_is_active(world, body_b)) {
        islands->ticks[root_of(islands->root, body_a)] = 0;
    }
}

// A joint that broke in this step has reset the pose of its bodies after their pairs were looked
// for. The body stays disturbed, so that the next step does that.
static bool is_disturbed_again(const cairn_world *world, uint32_t slot) {
    return world->shape_first[slot] != 0 &&
           packed_rotation_is_none(world->state.reference_poses[slot].rotation);
}

static void count_some_slow_ticks(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const cairn_awake_set *awake = world->awake_set;
    bool slow_enough = false;
    CAIRN_ASSERT(end <= awake->body_count);
    for (uint32_t i = begin; i < end; ++i) {
        const uint32_t slot = awake->bodies[i];
        CAIRN_ASSERT(i == 0 || awake->bodies[i - 1] < slot);
        if (!dynamic(world, slot)) {
            world->state.sleep[slot] =
                (cairn_sleep){.state = is_disturbed_again(world, slot) ? CAIRN_SLEEP_DISTURBED
                                                                       : CAIRN_SLEEP_NONE};
        } else {
            count_ticks_at_rest(world, slot);
            slow_enough = slow_enough || ticks_at_rest(world, slot) ==
                                             cairn_settings_rest_ticks(world->state.settings);
        }
    }
    if (slow_enough) {
        atomic_store_explicit(&world->islands->slow_enough, 1, memory_order_relaxed);
    }
}

// Whether any body has been slow for long enough.
static bool count_slow_ticks(cairn_world *world) {
    atomic_store_explicit(&world->islands->slow_enough, 0, memory_order_relaxed);
    cairn_task_scheduler_split(world->scheduler, count_some_slow_ticks, world, 0,
        world->awake_set->body_count, BODIES_SHARED_MIN);
    return atomic_load_explicit(&world->islands->slow_enough, memory_order_relaxed) != 0;
}

// Dynamic bodies of the awake set are awake, so a pair of two of them is within one island.
static void sleep_islands(cairn_world *world) {
    cairn_islands *islands = world->islands;
    const cairn_awake_set *awake = world->awake_set;
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        islands->root[awake->bodies[i]] = awake->bodies[i];
        islands->ticks[awake->bodies[i]] = UINT32_MAX;
    }
    visit_pairs(world, false, unite_dynamic);
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        const uint32_t slot = awake->bodies[i];
        const uint32_t root = root_of(islands->root, slot);
        CAIRN_ASSERT(!asleep(world, slot));
        const uint32_t ticks = ticks_at_rest(world, slot);
        if (dynamic(world, slot) && ticks < islands->ticks[root]) {
            islands->ticks[root] = ticks;
        }
    }
    visit_pairs(world, false, keep_awake);
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        const uint32_t slot = awake->bodies[i];
        if (dynamic(world, slot) && islands->ticks[root_of(islands->root, slot)] ==
                                        cairn_settings_rest_ticks(world->state.settings)) {
            CAIRN_ASSERT(world->state.bodies[slot].allow_sleep != 0 && !asleep(world, slot));
            world->state.motions[slot].linear_velocity = vec3_zero();
            world->state.motions[slot].angular_velocity = vec3_zero();
            world->state.sleep[slot].state = CAIRN_SLEEP_ASLEEP;
            islands->fell_asleep = true;
        }
    }
}

// If no body has been slow for long enough, no island has.
void cairn_islands_sleep(cairn_world *world) {
    world->islands_settled = true;
    world->islands->fell_asleep = false;
    if (count_slow_ticks(world)) {
        sleep_islands(world);
    }
}
