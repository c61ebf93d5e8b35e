// SPDX-License-Identifier: MIT
// The squeezed bodies. A light body between a heavy one and the ground answers each sweep by no
// more than its own mass can, so a load of a thousand times its weight takes seconds to arrive, and
// the springs of its contacts, which are as stiff as its mass allows, yield under it. How it would
// move on its own is of no consequence under such a load. So the solver takes it for heavier: the
// load of the last step is at most CAIRN_SQUEEZE_WEIGHTS_MAX times the weight, which adds that
// small a fraction to what is below. What it bears on is squeezed through it, and is taken for
// heavier too, but nothing for heavier than the heavy body, or than half of all that it touches: a
// plate between many drums. So stacks of equal bodies stay what they are. A body that lies loose on
// a heavy one carries no load, so it weighs what it weighs. Joints bear a part of the load of a
// limb, so it is not passed on to what has joints, and such a body may carry more
// (CAIRN_SQUEEZE_WEIGHTS_LIMB): else heaps of ragdolls tremble for ever.
//
// An impulse that accelerates a body is not a load. If it counted as one, light bodies that a heavy
// one pushes along would become heavier, need larger impulses, and so take its momentum. Therefore
// a load is compared with the weight of the body, or with the impulse that accelerated it in the
// last step if that is larger.
//
// If the mass followed an oscillating load exactly, it would do so a step late. The body would be
// heavier on the way up than on the way down and gain energy in each period: frames under a heavy
// roof moved sideways until they fell. So the mass rises with the load at once, but falls slowly
// (cairn_sleep.squeeze).

#include "base/assert.h"
#include "sim/collide/manifold_pool.h"
#include "sim/math/limits.h"
#include "sim/soft_step/soft_step.h"
#include "sim/task/task_scheduler.h"

#include <string.h>

// A body is not made heavier again for what rounding left.
#define BEYOND_ROUNDING 1.001f
// So many contacts and bodies are the main thread's.
#define CONTACTS_SHARED_MIN 512
#define BODIES_SHARED_MIN 512

// The greatest mass over the least.
static float mass_ratio(const cairn_soft_step *soft_step) {
    const float least =
        float_of_bits(atomic_load_explicit(&soft_step->least_inverse_mass, memory_order_relaxed));
    const float greatest = float_of_bits(
        atomic_load_explicit(&soft_step->greatest_inverse_mass, memory_order_relaxed));
    return soft_step->moving_count > 0 ? greatest / least : 1.0f;
}

static void mark_jointed(cairn_soft_step *soft_step) {
    const cairn_constraint_graph *graph = &soft_step->joint_graph;
    memset(soft_step->jointed, 0, soft_step->body_count * sizeof *soft_step->jointed);
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        soft_step->jointed[graph->edges[i].solver_a] = 1;
        soft_step->jointed[graph->edges[i].solver_b] = 1;
    }
}

static float normal_impulse(const cairn_contact *contact) {
    const cairn_contact_point *points = contact->points;
    return points[0].normal_impulse + points[1].normal_impulse + points[2].normal_impulse +
           points[3].normal_impulse;
}

// What gravity adds to the velocity of a body in a substep.
static float fall_speed(const cairn_world *world) {
    return float_max(vec3_length(world->state.settings->present_gravity), 1.0f) *
           world->soft_step->wide_context.h;
}

static float mass_of(const cairn_solver_body *body) {
    return body->inverse_mass > 0.0f ? 1.0f / body->inverse_mass : 0.0f;
}

static uint32_t bits_of(uint32_t set) {
    set -= set >> 1 & 0x55555555u;
    set = (set & 0x33333333u) + (set >> 2 & 0x33333333u);
    return ((set + (set >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

// Whether a body has so many contacts that what lies beside it may squeeze it, although no other is
// heavier by more than the ratio. Asked when the graph is built: a body has a colour for each of
// its contacts, and perhaps contacts without one.
static bool may_be_amid(cairn_soft_step *soft_step, float ratio) {
    const cairn_constraint_graph *graph = &soft_step->contact_graph;
    uint32_t *uncoloured = soft_step->contact_counts;
    memset(uncoloured, 0, soft_step->body_count * sizeof *uncoloured);
    for (uint32_t i = 0; i < graph->overflow_count; ++i) {
        uncoloured[graph->edges[graph->overflow_order[i]].solver_a] += 1;
        uncoloured[graph->edges[graph->overflow_order[i]].solver_b] += 1;
    }
    uint32_t most = 0;
    for (uint32_t i = 0; i < soft_step->moving_count; ++i) {
        const uint32_t count = bits_of(graph->body_colours[i]) + uncoloured[i];
        most = count > most ? count : most;
    }
    return BEYOND_ROUNDING * ratio * (float)most > CAIRN_SQUEEZE_BESIDE_MIN;
}

// The impulses of some contacts in the last substep of the last step.
static void read_impulses(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const cairn_soft_step *soft_step = world->soft_step;
    for (uint32_t i = begin; i < end; ++i) {
        const cairn_constraint_edge *edge = &soft_step->contact_graph.edges[i];
        soft_step->contact_loads[i] = (cairn_contact_load){.solver_a = edge->solver_a,
            .solver_b = edge->solver_b,
            .edge = i,
            .normal_impulse = normal_impulse(&world->state.contacts[edge->element])};
    }
}

// What presses on a body from above presses on it from below as well.
static float impulse_through(const cairn_soft_step *soft_step, uint32_t body) {
    return 0.5f * soft_step->pressed[body];
}

// Sums what presses on each body, and marks those that carry so much that they may be squeezed.
// Only for these, which are few, more is found out. Returns whether there are any.
static bool find_laden(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    const cairn_constraint_graph *graph = &soft_step->contact_graph;
    float *pressed = soft_step->pressed;
    memset(pressed, 0, soft_step->body_count * sizeof *pressed);
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const cairn_contact_load *load = &soft_step->contact_loads[i];
        pressed[load->solver_a] += load->normal_impulse;
        pressed[load->solver_b] += load->normal_impulse;
    }
    const float least = BEYOND_ROUNDING * (CAIRN_SQUEEZE_WEIGHTS_MAX * fall_speed(world));
    bool any = false;
    memset(soft_step->laden, 0, soft_step->body_count);
    for (uint32_t i = 0; i < soft_step->moving_count; ++i) {
        // One contact of a limb may carry all that presses on the limb.
        const float most = soft_step->jointed[i] != 0 ? pressed[i] : impulse_through(soft_step, i);
        soft_step->laden[i] = soft_step->bodies[i].inverse_mass * most > least ? 1 : 0;
        any = any || soft_step->laden[i] != 0;
    }
    return any;
}

// Keeps of the contacts' loads those of laden bodies, and sums how much lies beside these. Returns
// how many there are.
static uint32_t list_laden(cairn_soft_step *soft_step) {
    const uint32_t contact_count = soft_step->contact_graph.edge_count;
    uint32_t count = 0;
    memset(soft_step->body_loads, 0, soft_step->body_count * sizeof *soft_step->body_loads);
    for (uint32_t i = 0; i < contact_count; ++i) {
        const cairn_contact_load load = soft_step->contact_loads[i];
        const uint32_t a = load.solver_a;
        const uint32_t b = load.solver_b;
        if ((soft_step->laden[a] | soft_step->laden[b]) != 0) {
            soft_step->body_loads[a].mass_beside += mass_of(&soft_step->bodies[b]);
            soft_step->body_loads[b].mass_beside += mass_of(&soft_step->bodies[a]);
            soft_step->contact_loads[count++] = load;
        }
    }
    return count;
}

// What accelerated the laden bodies. Of most heaps nobody asks.
static void sum_pushes(cairn_world *world, uint32_t laden_count) {
    cairn_soft_step *soft_step = world->soft_step;
    for (uint32_t i = 0; i < laden_count; ++i) {
        const cairn_contact_load *load = &soft_step->contact_loads[i];
        const cairn_constraint_edge *edge = &soft_step->contact_graph.edges[load->edge];
        const cairn_contact *contact = &world->state.contacts[edge->element];
        const cairn_vec3 normal = world->manifold_pool->manifolds[edge->manifold].normal;
        const cairn_vec3 impulse = vec3_add(vec3_scale(normal, load->normal_impulse),
            vec3(contact->tangent_impulse[0], contact->tangent_impulse[1],
                contact->tangent_impulse[2]));
        cairn_body_load *a = &soft_step->body_loads[load->solver_a];
        cairn_body_load *b = &soft_step->body_loads[load->solver_b];
        a->pushed = vec3_sub(a->pushed, impulse);
        b->pushed = vec3_add(b->pushed, impulse);
    }
}

static float own_inverse_mass(const cairn_world *world, const cairn_solver_body *body) {
    const cairn_soft_step *soft_step = world->soft_step;
    return world->state.bodies[soft_step->slot_of[body - soft_step->bodies]].inverse_mass;
}

static bool is_squeezed(const cairn_world *world, const cairn_solver_body *body) {
    return body->inverse_mass < own_inverse_mass(world, body);
}

// The inverse mass of the heaviest that a body may be taken for, because of what it touches there:
// the heavy body behind the load, `other` or what squeezes it, or half of all that it touches.
static float load_inverse_mass(
    const cairn_world *world, uint32_t index, const cairn_solver_body *other) {
    const cairn_soft_step *soft_step = world->soft_step;
    const float heavy = is_squeezed(world, other)
                            ? soft_step->load_inverse_mass[other - soft_step->bodies]
                            : other->inverse_mass;
    return soft_step->jointed[index] != 0
               ? heavy
               : float_min(heavy, 2.0f / soft_step->body_loads[index].mass_beside);
}

// The weights that `body` may carry where it touches `other`; 0: as many as there are.
static float weights_max(
    const cairn_world *world, const cairn_solver_body *body, const cairn_solver_body *other) {
    const float light = body->inverse_mass;
    const float heavy = other->inverse_mass;
    if (light == 0.0f || heavy == 0.0f) {
        return 0.0f;
    }
    const cairn_soft_step *soft_step = world->soft_step;
    const bool limb = soft_step->jointed[body - soft_step->bodies] != 0;
    if (limb || soft_step->jointed[other - soft_step->bodies] != 0) {
        const bool lighter = light > CAIRN_SQUEEZE_MASS_RATIO_LIMB * heavy;
        return !lighter ? 0.0f : limb ? CAIRN_SQUEEZE_WEIGHTS_LIMB : CAIRN_SQUEEZE_WEIGHTS_MAX;
    }
    const bool differ = light > CAIRN_SQUEEZE_MASS_RATIO_MIN * heavy ||
                        heavy > CAIRN_SQUEEZE_MASS_RATIO_MIN * light;
    const bool amid = light * soft_step->body_loads[body - soft_step->bodies].mass_beside >
                      CAIRN_SQUEEZE_BESIDE_MIN;
    return differ || amid || is_squeezed(world, other) ? CAIRN_SQUEEZE_WEIGHTS_MAX : 0.0f;
}

// The change of velocity by which a load counts as one weight.
static float weight_speed(const cairn_world *world, const cairn_solver_body *body) {
    const cairn_soft_step *soft_step = world->soft_step;
    const uint32_t index = (uint32_t)(body - soft_step->bodies);
    const float fall = fall_speed(world);
    if (soft_step->jointed[index] != 0) {
        return fall; // joints may have held what contacts pushed
    }
    const float squeeze = world->state.sleep[soft_step->slot_of[index]].squeeze;
    return float_max(fall, own_inverse_mass(world, body) / float_max(squeeze, 1.0f) *
                               vec3_length(soft_step->body_loads[index].pushed));
}

// The contacts of laden bodies, as limit_loads walks them.
typedef struct laden_contacts {
    cairn_world *world;
    uint32_t count;
    float fall;  // fall_speed
    bool pushes; // what accelerated the bodies has been summed
} laden_contacts;

// Returns whether the body is taken for heavier than before.
static bool limit_load(laden_contacts *laden, float contact_impulse, cairn_solver_body *body,
    const cairn_solver_body *other) {
    cairn_world *world = laden->world;
    const cairn_soft_step *soft_step = world->soft_step;
    const uint32_t index = (uint32_t)(body - soft_step->bodies);
    if (soft_step->laden[index] == 0) {
        return false;
    }
    const float impulse =
        soft_step->jointed[index] != 0 ? contact_impulse : impulse_through(soft_step, index);
    const float speed = body->inverse_mass * impulse;
    // No bound is lower. Of most bodies nothing else needs to be found out.
    if (speed <= BEYOND_ROUNDING * (CAIRN_SQUEEZE_WEIGHTS_MAX * laden->fall)) {
        return false;
    }
    const float weights = weights_max(world, body, other);
    if (weights == 0.0f) {
        return false;
    }
    const float heavy = load_inverse_mass(world, index, other);
    const float behind = heavy * impulse;
    // Nor is any lower than this one.
    if (speed <= BEYOND_ROUNDING * float_max(weights * laden->fall, behind)) {
        return false;
    }
    if (!laden->pushes) {
        laden->pushes = true;
        sum_pushes(world, laden->count);
    }
    const float bound = float_max(weights * weight_speed(world, body), behind);
    if (speed <= BEYOND_ROUNDING * bound) {
        return false;
    }
    const float inverse_mass = bound / impulse;
    const float scale = inverse_mass / body->inverse_mass;
    soft_step->load_inverse_mass[index] = heavy;
    body->inverse_mass = inverse_mass;
    for (int k = 0; k < 6; ++k) {
        body->inverse_inertia[k] *= scale;
    }
    return true;
}

// Passes to and fro, so that a pile is squeezed through within two, in whatever order its contacts
// are listed.
static void limit_loads(cairn_world *world, uint32_t laden_count) {
    const cairn_soft_step *soft_step = world->soft_step;
    laden_contacts laden = {.world = world, .count = laden_count, .fall = fall_speed(world)};
    bool changed = true;
    for (uint32_t pass = 0; changed && pass < CAIRN_SQUEEZE_PASSES_MAX; ++pass) {
        changed = false;
        for (uint32_t i = 0; i < laden_count; ++i) {
            const cairn_contact_load *load =
                &soft_step->contact_loads[pass % 2 == 0 ? laden_count - 1 - i : i];
            CAIRN_ASSERT(load->solver_a < soft_step->moving_count ||
                         load->solver_b < soft_step->moving_count);
            cairn_solver_body *a = &soft_step->bodies[load->solver_a];
            cairn_solver_body *b = &soft_step->bodies[load->solver_b];
            changed |= limit_load(&laden, load->normal_impulse, a, b);
            changed |= limit_load(&laden, load->normal_impulse, b, a);
        }
    }
}

// How many times its mass a body is taken for after it was taken for `before` times, and its load
// asks for `wanted`; 0: its own.
static float follow(float before, float wanted, float time_step) {
    if (wanted >= before) {
        return wanted < CAIRN_SQUEEZE_MIN ? 0.0f : float_min(wanted, CAIRN_SQUEEZE_MAX);
    }
    const float rate = wanted > 1.0f ? CAIRN_SQUEEZE_DECAY_LOADED : CAIRN_SQUEEZE_DECAY_FREE;
    const float after = before - float_min(rate * time_step, 1.0f) * (before - wanted);
    return after < CAIRN_SQUEEZE_MIN ? 0.0f : after;
}

// Limbs have no memory: trees of hinges with long arms come to rest less often with it.
static void follow_load(cairn_world *world, uint32_t index, float time_step) {
    const cairn_soft_step *soft_step = world->soft_step;
    cairn_solver_body *body = &soft_step->bodies[index];
    cairn_sleep *sleep = &world->state.sleep[soft_step->slot_of[index]];
    const float own = own_inverse_mass(world, body);
    if (own == 0.0f || (body->inverse_mass == own && sleep->squeeze == 0.0f)) {
        return;
    }
    if (soft_step->jointed[index] != 0) {
        sleep->squeeze = 0.0f;
        return;
    }
    sleep->squeeze = follow(float_max(sleep->squeeze, 1.0f), own / body->inverse_mass, time_step);
    const float inverse_mass = own / float_max(sleep->squeeze, 1.0f);
    const float scale = inverse_mass / body->inverse_mass;
    body->inverse_mass = inverse_mass;
    for (int k = 0; k < 6; ++k) {
        body->inverse_inertia[k] *= scale;
    }
}

static bool was_squeezed(const cairn_soft_step *soft_step) {
    return atomic_load_explicit(&soft_step->squeezed_found, memory_order_relaxed) != 0;
}

static void follow_loads(const void *context, uint32_t begin, uint32_t end) {
    cairn_world *world = *(cairn_world *const *)context;
    const cairn_soft_step *soft_step = world->soft_step;
    const bool any = was_squeezed(soft_step);
    const float time_step = world_time_step(world);
    for (uint32_t i = begin; i < end; ++i) {
        if (any || soft_step->laden[i] != 0) {
            follow_load(world, i, time_step);
        }
    }
}

void cairn_squeezed_bodies_begin(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    soft_step->loads_known = BEYOND_ROUNDING * mass_ratio(soft_step) > CAIRN_SQUEEZE_MASS_RATIO_MIN;
    if (soft_step->loads_known) {
        cairn_task_scheduler_split(world->scheduler, read_impulses, world, 0,
            soft_step->contact_graph.edge_count, CONTACTS_SHARED_MIN);
    }
}

void cairn_squeezed_bodies_limit(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    bool wanted = soft_step->loads_known;
    soft_step->any_squeezed = was_squeezed(soft_step);
    if (!wanted && may_be_amid(soft_step, mass_ratio(soft_step))) {
        read_impulses(world, 0, soft_step->contact_graph.edge_count);
        wanted = true;
    }
    if (wanted || soft_step->any_squeezed) {
        mark_jointed(soft_step);
    }
    if (wanted && find_laden(world)) {
        soft_step->any_squeezed = true;
        limit_loads(world, list_laden(soft_step));
    }
}

void cairn_squeezed_bodies_finish(cairn_world *world) {
    const cairn_soft_step *soft_step = world->soft_step;
    if (soft_step->any_squeezed) {
        cairn_task_scheduler_split(
            world->scheduler, follow_loads, &world, 0, soft_step->moving_count, BODIES_SHARED_MIN);
    }
}
