// SPDX-License-Identifier: MIT
#pragma once

// The ranges of a running world, wider than those of cairn/types.h that a caller must keep, and the
// constants of the solvers.

#include <cairn/types.h>

#define CAIRN_ANGLE_FAR 1e6f // rad, where the bounds of an angle without bounds are
// How far axes may be off unit length and off right angles in the block: rounding alone.
#define CAIRN_AXES_SLACK 1e-3f

// A body beyond these is disabled, as one with NaN is. Squares and products of values inside are
// finite, so a valid body cannot become invalid by touching another.
#define CAIRN_VALID_DISTANCE 1e7f // m
#define CAIRN_VALID_SPEED 1e6f    // m/s and rad/s

// A body that trembles in its place may fall asleep while it is not faster than this many times the
// setting sleep_speed. Without a bound a wheel could turn by a whole turn in each step.
#define CAIRN_SLEEP_PEAK 8.0f

// The greatest speed at which overlap alone pushes two bodies apart, m/s, so that a body spawned
// inside another does not shoot out.
#define CAIRN_PUSH_SPEED_MAX 3.0f

// Two shapes are in contact when the gap between them is at most this, m: points neither flicker
// nor lose their impulses while a stack sways. Their rows let the gap close, and no more, in one
// step.
#define CAIRN_CONTACT_MARGIN 0.01f
// Surfaces that slide on each other more slowly than this when a step begins stick, m/s: the static
// friction holds for them. Bodies at rest jitter by a hundredth of it.
#define CAIRN_STICKING_SPEED 0.01f
// The static friction of a contact whose material has more than friction and restitution: not 0.
#define CAIRN_FRICTION_LEAST 1e-20f
// Points of shapes with flat faces belong to a manifold if their gaps are at most this, m, and this
// fraction of half the least width of either, once a point is within the margin. Of a hundred
// columns of twenty boxes 60 cm wide that landed, each by itself, 81 stood after ten seconds with
// 1.5 cm, 96 with 3 cm, and 99 with 5 cm.
#define CAIRN_CONTACT_REACH 0.05f
#define CAIRN_CONTACT_REACH_FRACTION (1.0f / 6.0f)
// A body is fast if some point of it may move in a tick farther than this, m, and than this
// fraction of its least half width: its pairs are swept along the motion that its velocities
// predict. A slower one is at most a twentieth inside another when their contact is found. Of a
// body of several shapes the distance decides alone (sim/collide/body_extent.c).
#define CAIRN_FAST_FRACTION 0.05f
// A pair of two dynamic bodies is swept only if they move relative to each other in a tick by more
// than this fraction of the least half width of either.
#define CAIRN_FAST_PAIR_FRACTION 0.75f
#define CAIRN_FAST_DISTANCE 5e-3f
// The part of a tick's motion that is predicted: at most this distance, m, and this rotation, rad.
#define CAIRN_SWEEP_DISTANCE_MAX 32.0f
#define CAIRN_SWEEP_ROTATION_MAX 3.14f
// The contact margin of a fast pair grows by its approach in a tick, but not by more than this, m.
#define CAIRN_MARGIN_GROWTH_MAX 1.0f
// Shapes that would overlap by less than this, m, or than this fraction of half the least width of
// either, pass each other: a ball rolls from one box to the next as over one. It is more than
// overlap under load, and less than a thin plate can bear.
#define CAIRN_IMPACT_DEPTH 5e-4f
#define CAIRN_IMPACT_DEPTH_FRACTION 0.25f
// A body that moved in a tick by more than this fraction of its least half width otherwise than
// predicted is swept along the way that it took.
#define CAIRN_SWEEP_FRACTION 0.5f
// So is one that slides over a kinematic body that turns, if that turn, rad, times the slide, m, is
// more than this fraction of its least half width.
#define CAIRN_SWEEP_SINK_FRACTION 0.05f
// It stops when it has sunk in by this, m, or by CAIRN_IMPACT_DEPTH_FRACTION of half the least
// width.
#define CAIRN_SWEEP_DEPTH 1e-3f
// Bodies of which every point moved as predicted but for this, m, or for this fraction of their
// least half width, are not looked at.
#define CAIRN_STRAY_DISTANCE 1e-2f
#define CAIRN_STRAY_FRACTION (0.8f * CAIRN_SWEEP_FRACTION)
// A body that rotates by more than this in a tick, rad, is always swept: its contacts see straight
// ways.
#define CAIRN_SWEEP_TURN 0.5f
// Sweeps of the soft-step solver over the normal rows of a manifold in each solve. They cost
// little, because they read and write no bodies. Measured on heavy stacks: with four they
// jitter less than with two, with eight no less than with four.
#define CAIRN_MANIFOLD_SWEEPS 4
// A body that touches one of so many times its mass, or of such a fraction, is solved as if it were
// heavier when it carries more than so many times its own weight (sim/soft_step/squeezed_bodies.c).
// Measured on sixty pallets of drums in layers: with 8 all stand, with 16 a sixth falls. Piles of
// ten cubes under one of 1000 times their mass rock with 16, and turn with 6.
#define CAIRN_SQUEEZE_MASS_RATIO_MIN 1.5f
#define CAIRN_SQUEEZE_WEIGHTS_MAX 8.0f
// So is one that touches so many times its mass, all together. Of the pallets a twentieth falls
// with 24.
#define CAIRN_SQUEEZE_BESIDE_MIN 12.0f
// The same of a body with joints, which is squeezed by much heavier ones only. Measured on eight
// heaps of a hundred ragdolls: with 50 all sleep within 11 s; with 16, or with loads that pass
// between limbs, some do not within a minute.
#define CAIRN_SQUEEZE_MASS_RATIO_LIMB 16.0f
#define CAIRN_SQUEEZE_WEIGHTS_LIMB 50.0f
#define CAIRN_SQUEEZE_PASSES_MAX 16
// How many times its mass a squeezed body is taken for, at least and at most.
#define CAIRN_SQUEEZE_MIN 1.01f
#define CAIRN_SQUEEZE_MAX 1e6f
// The part of what is too much that it loses in a second, under a load and without. Measured on 700
// random frames, tables, towers and walls under up to 1000 times their masses, of which 22 fall,
// all but one of them walls that fall in any engine: with three times as much 26, and without
// memory 130, and one in six of the others trembles.
#define CAIRN_SQUEEZE_DECAY_LOADED 1.8f
#define CAIRN_SQUEEZE_DECAY_FREE 6.0f
// Impacts: rounds in a substep, which a shock needs one of for each body that it passes on its way;
// sweeps of a round over all contacts, and over the points of a manifold in each of these.
#define CAIRN_IMPACT_ROUNDS_MAX 32
#define CAIRN_IMPACT_SWEEPS 8
#define CAIRN_IMPACT_MANIFOLD_SWEEPS 8
// So that rounding does not decide about bodies that meet exactly at the threshold.
#define CAIRN_IMPACT_THRESHOLD_ROUNDING 0.999f
// Points that approach with less than this part of the threshold, after the forces of the substep,
// are not looked at any closer.
#define CAIRN_IMPACT_NEARLY 0.9f
// Points of a manifold whose gaps differ by less than this, m, meet at the same time.
#define CAIRN_IMPACT_SLACK 0.005f
// Impacts meet a turned inertia if it has changed by so much.
#define CAIRN_IMPACT_TURN_MIN 0.001f
// An impact that wins less than this part of the energy of its bounce is left as it is.
#define CAIRN_IMPACT_GAIN_MIN 0.001f
// Contacts and joints have at most this fraction of the substep rate as frequency: a spring that
// oscillates faster than it is sampled makes stacks jitter.
#define CAIRN_CONTACT_HERTZ_FRACTION 0.21f
#define CAIRN_JOINT_HERTZ_FRACTION 0.31f
// A body that moves by so many of its half widths in a tick may pass through others that impulses
// move: it counts as a bullet in this tick. Two equal bodies that are both slower overlap when they
// have met. Not bodies with joints: in a heap of ragdolls that cost a quarter of the step.
#define CAIRN_PASS_HALF_WIDTHS 1.5f
// Where arms of joints rotate fast, these take out position error faster, by at most so many times
// the rate more (sim/soft_step/joint_linear.h). The whip of a level chain of sixty links then opens
// its joints by 50 mm, without it by 146 mm; with 8, by 60 mm.
#define CAIRN_WHIP_RATE_MAX 12.0f
// Between two joints with axes, a body has at least this part, 1 / ratio, of its other inertias
// about its long axis (sim/soft_step/thin_links.c). Rods thinner than a fifth of their length have
// less. Of 800 chains of two and six such rods 25 explode without it, one at 100, none at 20.
#define CAIRN_THIN_INERTIA_RATIO 20.0f
// The inertia of a body with joints turns with it through the substeps of a step in which it
// would change by more than this part (sim/soft_step/turning_inertia.c).
#define CAIRN_TURNING_CHANGE_MIN 0.01f
// Not that of needles, of which the determinant of the inverse, scaled to a trace of 1, is less:
// rods 25 times as long as thick.
#define CAIRN_TURNING_DETERMINANT_MIN 1e-5f
// A light link has two joints: one to a body that impulses do not move, and one to a body of more
// than this many times its mass. Both joints are solved together (sim/soft_step/light_link.h), in
// at most so many rounds. The rounds end when the chord changes by less than this part of the arms.
#define CAIRN_LIGHT_LINK_RATIO_MIN 1.5f
#define CAIRN_LIGHT_LINK_ROUNDS 5
#define CAIRN_LIGHT_LINK_SLACK 1e-5f
// A joint is open beyond a hundredth of its arms; this is the square of that.
#define CAIRN_OPEN_SQUARE 1e-4f
// Contacts with what impulses do not move are twice as stiff, up to this fraction. Beyond it the
// sweeps lag behind: of 80 figures that fell on their knees, 44 swayed for more than ten seconds at
// 0.35, and 20 at 0.32; at 0.30 all slept, within five seconds on average. Below 0.28 a cube that
// carries ten or 33 times its mass sinks farther.
#define CAIRN_STATIC_HERTZ_FRACTION 0.30f
// The part of what a relax pass added to joints with which the next one starts; the rest is part of
// what the next biased pass starts with. With all of it, heavy chains oscillate: that part is a
// memory that nothing else damps. With 0.9, double pendulums gain energy three times as fast.
#define CAIRN_RELAX_KEPT 0.95f
// Joints with limits lose slow rotation by this many times the rate limit_damping more than fast
// one; slow is below this speed, rad/s. Ten heaps of a hundred figures then slept after 5 to 12 s;
// with the rate alone one in eight stayed awake for half a minute.
#define CAIRN_LIMIT_SLOW_DAMPING 9.0f
#define CAIRN_LIMIT_SLOW_SPEED 0.75f
// If no limit holds a joint and no contact pushes its bodies, it is damped only beyond this speed,
// rad/s. Without that, limbs of thrown ragdolls spin, and their joints open by 18 cm on landing.
#define CAIRN_LIMIT_FAST_SPEED 6.0f
// Colours that joints use at first: one sweep passes along a chain of that many links, and in a
// large world a colour is still large enough to share among workers.
#define CAIRN_JOINT_COLOURS 12
// Colours of a constraint graph; constraints that find none are solved one after the other.
#define CAIRN_COLOURS 24
// Manifolds of a shape and a mesh or height field, one for each direction in which they touch.
// Beyond that, points join the manifold of the nearest direction.
#define CAIRN_MANIFOLD_SET_MAX 8
// Points of one contact manifold.
#define CAIRN_MANIFOLD_POINTS_MAX 4
// Worlds of fewer shapes are stepped by one worker.
#define CAIRN_SHAPES_SHARED_MIN 128
// Sweeps of the soft-step solver over the limits of a cone in each solve: swing and twist are
// weakly coupled.
#define CAIRN_CONE_SWEEPS 2
// Recycling distance of a body: its pairs are updated when some point of it may have moved farther
// than this from the reference pose, m, or than this fraction of its bounding radius if that is
// less. So two bodies may approach by twice this distance before a contact is found, which is well
// inside the margin.
#define CAIRN_BODY_RECYCLING_DISTANCE 1e-3f
#define CAIRN_BODY_RECYCLING_FRACTION 0.01f
// Recycling distance of a manifold: it is recycled while no point of one shape has moved farther
// than this relative to the other, m, or than this fraction of the minimum extent of either (the
// second fraction for an area of four points); or while the contact points alone have not and
// nothing has moved farther than the margin; and while neither body has rotated by more than ten
// degrees, because normal and arms stay as well. Measured with cubes of 1 m: a stack of a hundred
// stands with 5 mm and falls with 2 mm; dropped columns of twenty boxes 60 cm wide fall with 5 mm
// and mostly stand with 15 mm; houses of cards 4 cm thick need 1 mm for their edges; scaffolds on
// posts 10 cm thick fall with 2.5 mm and stand with 10 mm.
#define CAIRN_MANIFOLD_RECYCLING_DISTANCE 2e-2f
#define CAIRN_MANIFOLD_RECYCLING_FRACTION 0.05f
#define CAIRN_MANIFOLD_RECYCLING_FRACTION_AREA 0.2f
#define CAIRN_MANIFOLD_RECYCLING_COSINE 0.9962f // of half the angle
// A body that carries the other one, which impulses do not move or which is that many times
// heavier, may have rotated by a quarter of a degree only: what stands on a platform that tilts
// must slip at the angle of friction.
#define CAIRN_MANIFOLD_RECYCLING_COSINE_CARRIER 0.9999976f // of half the angle
#define CAIRN_MANIFOLD_CARRIER_MASS_RATIO 8.0f
// Times that the PGS solver solves the normal rows of a manifold on each visit. The rows are
// strongly coupled (two answer for one tilt), so a second pass at once does more for a stack than
// more iterations.
#define CAIRN_NORMAL_PASSES 2
