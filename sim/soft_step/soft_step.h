// SPDX-License-Identifier: MIT
#pragma once

// What the soft-step solver works on, and its parts of a step.

#include "sim/articulation/forest.h"
#include "sim/body/gyroscopic.h"
#include "sim/constraint/joint_rows.h"
#include "sim/soft_step/solver.h"
#include "sim/soft_step/wide_figures.h"
#include "sim/state/world.h"

// Which owner has which body, for the constraint graphs. Not in the state: results do not depend on
// it. See division.c.
typedef struct cairn_body_division {
    uint32_t count;   // owners; 1: the arrays are not used
    uint32_t divided; // owners for which bodies were divided; 0: none yet
    uint32_t steps;   // since the division was last tried
    uint32_t excess;  // sixteenths by which the work was unequal in the first step after that
    bool measured;    // `excess` is set
    unsigned char *owner_of;  // by body slot
    unsigned char *candidate; // the same for a division that is tried
    uint32_t *weights;        // by body slot, while divisions are tried
} cairn_body_division;

// What a contact did in the last substep of the last step.
typedef struct cairn_contact_load {
    uint32_t solver_a;
    uint32_t solver_b;
    uint32_t edge;        // in the contact graph
    float normal_impulse; // N s, of all its points
} cairn_contact_load;

// What the contacts of a laden body did in the last substep of the last step.
typedef struct cairn_body_load {
    cairn_vec3 pushed; // N s, the sum of their impulses on the body
    float mass_beside; // kg, of the other bodies, once for each contact
} cairn_body_load;

// A body in a cluster of impacts. The sums are of the cluster, and kept by the first of its bodies.
typedef struct cairn_impact_cluster {
    uint32_t parent; // a body of the cluster that is no later; itself: the first one
    uint32_t listed; // 0 or 1: in limited_bodies
    uint32_t linked; // 0 or 1: some body is a link of an articulation, which others move as well
    float bounced, gain, mixed, reflected, stop, stop_change; // see cairn_impact_work
} cairn_impact_cluster;

struct cairn_soft_step {
    cairn_kernel wide_kernel;
    cairn_kernel overflow_kernel;          // one lane wide, for constraints without a colour
    cairn_solver_body *bodies;             // dense
    cairn_solver_integration *integration; // by solver body, of those that impulses move
    uint32_t *solver_body_of;              // by body slot
    unsigned char *outcome;                // by solver body: CAIRN_OUTCOME flags
    uint32_t *slot_of;                     // by solver body, but not of the static one
    uint32_t still_slots;    // of the first so many slots, solver_body_of has been filled
    uint32_t *strayed_slots; // body slots with CAIRN_OUTCOME_STRAYED
    uint32_t strayed_count;
    cairn_gyroscopic *gyroscopic; // of the bodies with gyroscopic torque
    uint32_t *gyroscopic_bodies;  // which solver bodies these are
    uint32_t gyroscopic_count;
    cairn_turning_body *turning; // see cairn_solver_context, like the following
    _Atomic uint32_t turning_found;
    uint32_t moving_count; // solver bodies that impulses move; they come first
    uint32_t body_count;
    cairn_body_division division;
    cairn_constraint_graph contact_graph;
    cairn_constraint_graph joint_graph;
    void *wide_contacts; // constraints in the layout of the kernel
    void *overflow_contacts;
    float *contact_impulses; // N s, by index in the contact list; only if shapes want hit events
    void *wide_impacts;
    void *overflow_impacts;
    uint32_t *wide_impact_lanes; // see cairn_solver_context, like the following
    uint32_t *overflow_impact_lanes;
    // Of squeezed_bodies.c: see there.
    uint32_t *contact_counts; // by solver body: contacts without a colour
    bool loads_known;         // the loads of contacts are filled before the limits are asked
    cairn_contact_load *contact_loads; // of all edges of the contact graph, then of laden bodies
    float *pressed;              // N s, by solver body: the sum of its contacts' normal impulses
    unsigned char *laden;        // by solver body: 1: it carries many weights
    cairn_body_load *body_loads; // by solver body that is laden
    float *load_inverse_mass; // by solver body that is squeezed: of the body whose load it carries
    bool any_squeezed;
    // By solver body: 1 if its inertia turns in this step (turning_inertia.c); scratch before that.
    unsigned char *jointed;
    _Atomic uint32_t *met; // see cairn_solver_context, like the following
    uint32_t *struck;
    cairn_impact_velocity *before_impact, *after_impact, *waiting_impulses;
    cairn_impact_work *impact_work;
    cairn_impact_cluster *impact_clusters; // by solver body
    uint32_t *limited_bodies;
    _Atomic unsigned char *pushed; // see cairn_solver_context
    bool any_axes;                 // some joint has axes: it may have limits
    uint32_t joint_cut; // edge of the joint graph: no moving body has edges on both sides of it
    uint32_t (*hung_links)[2]; // edges of the joint graph: the inner and the outer joint
    uint32_t hung_link_count;
    uint32_t (*light_links)[2]; // those of them that are light
    uint32_t light_link_count;
    // Of the bodies that take impulses, as the bits of floats, which positive ones order like
    // numbers.
    _Atomic uint32_t least_inverse_mass;
    _Atomic uint32_t greatest_inverse_mass;
    _Atomic uint32_t restitution_found;
    _Atomic uint32_t locks_found;    // 0, or CAIRN_HAS_LOCKS
    _Atomic uint32_t squeezed_found; // 0 or 1
    _Atomic uint32_t impact_found;
    _Atomic uint32_t impact_gains;
    void *wide_joints;
    void *wide_angular;
    void *overflow_joints;
    void *overflow_angular;
    cairn_joint_rows *driven; // rows of driven joints, by group; in a group in order of slot
    uint32_t driven_count;
    uint32_t *driven_groups; // where each group begins in `driven`, and the end of the last one
    uint32_t driven_group_count;
    uint32_t *driven_drives;         // active drives, in order of slot
    uint32_t *driven_places;         // where the rows of each are
    uint32_t *driven_parents;        // by solver body, while groups are listed
    uint32_t *driven_group_of;       // by solver body that is the root of a group
    cairn_forest forest;             // articulations
    cairn_wide_figures wide_figures; // those of them that are solved in lanes
    cairn_solver_context wide_context;
    cairn_solver_context overflow_context;
};

// Takes the arrays from the arena. Both kernels must be set before.
void cairn_soft_step_allocate(
    cairn_soft_step *soft_step, cairn_arena *from, const cairn_world_def *def);

// Gives thin bodies between two joints with axes a larger inertia (thin_links.c).
void cairn_thin_links_thicken(cairn_soft_step *soft_step);

// Turning bodies: their inertia rotates with them during a step (turning_inertia.c). `prepare`
// marks them, after bodies, joints and driven joints were gathered. Each worker then calls `list`
// for its bodies begin .. end - 1: it writes their entries from `turning[begin]` on and returns the
// end.
void cairn_turning_inertia_prepare(cairn_world *world);
uint32_t cairn_turning_inertia_list(cairn_soft_step *soft_step, uint32_t begin, uint32_t end);

// Takes light bodies under heavy loads for heavier (squeezed_bodies.c), after bodies, contacts and
// joints were gathered and thin bodies thickened. What the second one does is for one thread. If
// loads are known it reads the edges of the graphs, but no colours; else after the graphs are
// built.
void cairn_squeezed_bodies_begin(cairn_world *world);
void cairn_squeezed_bodies_limit(cairn_world *world);
void cairn_squeezed_bodies_finish(cairn_world *world);

// Light links (light_links.c). Finds them among the gathered joints; returns whether the graph has
// to be built again. Then, around building it: their joints get no colour, and come first among
// those without one, two by two.
bool cairn_light_links_find(cairn_world *world, bool joints_changed);
void cairn_light_links_take(cairn_soft_step *soft_step);
void cairn_light_links_place(cairn_soft_step *soft_step);

// The parts of a step: which bodies and constraints it has, and in what order they are solved; then
// impulses and new velocities, in a session of the caller. Both report CAIRN_STAGE_PREPARE and the
// latter CAIRN_STAGE_SOLVE.
void cairn_soft_step_begin(cairn_world *world);
void cairn_soft_step_solve(cairn_world *world);
// Prepares the constraints, runs the substeps, stores the impulses, and writes poses and velocities
// to the state; in a session.
void cairn_soft_step_run(cairn_world *world);

// Divides the bodies that take impulses among owners if there are several workers.
void cairn_body_division_update(cairn_world *world);
// Assigns the dense array of solver bodies: first those that take impulses, by owner and in order
// of slot; then one static body that stands for all that do not move; then kinematic ones that
// move. Returns the owners of the first.
cairn_graph_owners cairn_solver_bodies_assign(cairn_world *world);
// Reads the bodies that take impulses from the state, and marks as invalid those that their forces
// would take out of range.
void cairn_solver_bodies_gather(cairn_world *world, const cairn_graph_owners *owners);
// Disables the bodies that are marked as invalid. Returns whether there were any.
bool cairn_solver_bodies_disable_invalid(cairn_world *world);
// Clears the forces of the bodies that take impulses, and finds the least and greatest masses.
void cairn_solver_bodies_clear_forces(cairn_world *world, const cairn_graph_owners *owners);
// After a round of impacts was measured: takes the energy that it has won.
void cairn_impacts_limit(cairn_world *world);
// Lists the bodies with gyroscopic torque.
void cairn_solver_bodies_prepare_gyroscopic(cairn_world *world);
// Gyroscopic torque: of links after velocities were integrated, of others after the impacts, and
// of all after positions were integrated.
void cairn_solver_bodies_begin_gyroscopic(cairn_world *world, bool links);
void cairn_solver_bodies_finish_gyroscopic(cairn_world *world);
// Lists the valid bodies that may have to be swept. A body whose result is invalid stays where it
// was and is disabled.
void cairn_solver_bodies_list_strayed(cairn_world *world);

// Driven joints: the rows of sim/constraint/joint_rows.h, one joint after the other in order of
// slot; joints that no moving body connects are shared among the workers. Prepare lists those of
// which a body takes impulses and builds their rows, after the contacts were gathered.
void cairn_driven_joints_prepare(cairn_world *world);
// The rest works on the groups of one of `size` workers.
void cairn_driven_joints_warm_start(cairn_world *world, uint32_t rank, uint32_t size);
void cairn_driven_joints_solve_biased(cairn_world *world, uint32_t rank, uint32_t size);
// Builds the rows again for the new poses, and relaxes them in both directions.
void cairn_driven_joints_relax(cairn_world *world, uint32_t rank, uint32_t size);
void cairn_driven_joints_store(cairn_world *world, uint32_t rank, uint32_t size);

// Articulations in the soft-step solver. Contacts and other joints push links as if they were
// bodies of their own; after each sweep the joints take from that what they allow, all at once and
// exactly: M(q) dq = J^T p. So an articulation is one constraint of many bodies, solved by its
// factors, and nothing else knows of it.
//
// Lists the figures, after the bodies were gathered and loads were limited.
void cairn_articulations_prepare(cairn_world *world);
// The rest works on the figures of one of `size` workers. After velocities were integrated: moves
// momentum to the present pose, and adds forces and the pushes of the last substep.
void cairn_articulations_begin(cairn_world *world, uint32_t rank, uint32_t size);
// After sweeps: spreads what they pushed.
void cairn_articulations_spread(cairn_world *world, uint32_t rank, uint32_t size);
// The same after sweeps of impacts. The new velocities are the unconstrained ones as well.
void cairn_articulations_spread_impacts(cairn_world *world, uint32_t rank, uint32_t size);
// The same after the biased sweeps. Figures in lanes may advance at once.
void cairn_articulations_spread_biased(cairn_world *world, uint32_t rank, uint32_t size);
// The same after the relax pass of joints, which applies a part of its impulses again by itself.
void cairn_articulations_spread_joints(cairn_world *world, uint32_t rank, uint32_t size);
// After positions were integrated.
void cairn_articulations_advance(cairn_world *world, uint32_t rank, uint32_t size);
// After the relax pass of contacts, and after that of the last substep. Figures in lanes may begin
// the next substep at once.
void cairn_articulations_relax(cairn_world *world, uint32_t rank, uint32_t size);
void cairn_articulations_relax_last(cairn_world *world, uint32_t rank, uint32_t size);
// At the end of a step: velocities at the last pose, and what the joints hold.
void cairn_articulations_finish(cairn_world *world, uint32_t rank, uint32_t size);
// Puts the base of a figure where it is `ahead` seconds later.
void cairn_articulations_move_base(const cairn_world *world, cairn_figure *figure, float ahead);
// After bodies were written to the state: the poses of links, bit by bit.
void cairn_articulations_store(cairn_world *world, uint32_t rank, uint32_t size);
// Takes the links from the list of bodies, and returns how many are left.
uint32_t cairn_articulations_leave_out(
    const cairn_world *world, const uint32_t *from, uint32_t count, uint32_t *to);
