# SPDX-License-Identifier: MIT
"""usage: tests/physics/faults.py SOURCE            lists the faults and checks that each patch applies
       tests/physics/faults.py SOURCE FOLDER [ID...]
                                                 plants them in a copy in FOLDER and runs the tests
       tests/physics/faults.py SOURCE FOLDER --all ID...
                                                 runs every test of the table with these faults
       tests/physics/faults.py SOURCE FOLDER --built [ID...]
                                                 runs the tests in a copy of tests/kit/planted_faults.py

Negative controls of the tests of mechanics. Each fault below breaks one rule of the simulation in a
way that stays deterministic, so the golden hashes would be rewritten and nobody would know. The test
beside it must fail. All faults are compiled into one copy of the sources; the environment variable
CAIRN_FAULT chooses one when a test starts."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "kit"))
import planted_faults

# Identifier: (what is wrong, test that must fail, [(file, anchor, replacement)]). An anchor occurs
# once in its file. FAULT in a replacement is true if this fault was chosen.
CONTACT = "sim/soft_step/contact_solver.c"
ROWS = "sim/soft_step/contact_rows.h"
IMPACT = "sim/soft_step/contact_impact.h"
PREPARE = "sim/soft_step/contact_prepare.h"
FAULTS = {
    # ---- edits
    "hulls-left-behind": ("a compound that is refused leaves its hulls in the world", "sim.edit_spawn", [
        ("sim/edit_spawn.c", "        if (made[k - 1]) {", "        if (!FAULT && made[k - 1]) {")]),
    # ---- fracture
    "fracture-joint": ("a joint of a body that breaks goes to its first piece", "physics.fracture", [
        ("sim/world/fracture.c", "cairn_joint_move_end(world, i, of_b, pieces[piece], moved);",
         "cairn_joint_move_end(world, i, of_b, pieces[FAULT ? 0 : piece], moved);")]),
    "fracture-straight": ("all pieces of a body that turns have its velocity", "physics.fracture", [
        ("sim/world/fracture.c",
         "vec3_add(motion->linear_velocity, vec3_cross(motion->angular_velocity, arm));",
         "FAULT ? motion->linear_velocity"
         " : vec3_add(motion->linear_velocity, vec3_cross(motion->angular_velocity, arm));")]),
    "fracture-slivers": ("a site whose cell is too thin keeps it", "physics.fracture", [
        ("sim/world/fracture.c", "        if (thin) {\n", "        if (thin && !(FAULT && cell != NULL)) {\n"),
        ("sim/world/fracture.c", "        cairn_polyhedron_thickness_squared(found) < p->thickness_squared) {",
         "        (!FAULT && cairn_polyhedron_thickness_squared(found) < p->thickness_squared)) {")]),
    "fracture-near": ("a cell is cut by the planes of its nearest sites alone", "physics.fracture", [
        ("sim/shape/voronoi.c", "distances[i] <= 4.0 * reach;", "distances[i] <= (FAULT ? 0.5 : 4.0) * reach;")]),
    "fracture-hulls": ("the hull of a piece stays when the piece goes", "physics.fracture_state", [
        ("sim/world/shape.c", "    if (owns_hull && hull != 0) {", "    if (!FAULT && owns_hull && hull != 0) {")]),
    "fracture-room": ("bodies are not counted before something breaks", "physics.fracture_state", [
        ("sim/world/fracture.c", "world->def.body_capacity, world->body_hint, found) &&",
         "world->def.body_capacity, world->body_hint, FAULT ? 1 : found) &&")]),
    # ---- contacts
    "friction-mixing": ("a pair has the friction of its first shape", "physics.friction", [
        ("sim/collide/manifold_pool.c", ".friction = float_sqrt(shape_a->friction * shape_b->friction)",
         ".friction = FAULT ? shape_a->friction : float_sqrt(shape_a->friction * shape_b->friction)")]),
    "friction-mixing-pgs": ("the same in the PGS solver", "physics.friction", [
        ("sim/pgs/contact_solver.c", "constraint->friction = material.friction;",
         "constraint->friction = FAULT ? shape_a->friction : material.friction;")]),
    "friction-more": ("friction is 10 % too large", "physics.slope", [
        (ROWS, "const lanes bound = wide->friction * normal;",
         "const lanes bound = lanes_all(FAULT ? 1.1f : 1.0f) * wide->friction * normal;")]),
    "friction-double-pgs": ("Coulomb friction of the PGS solver is doubled", "physics.slope", [
        ("sim/pgs/contact_solver.c", "const float bound = constraint->friction * normal_impulse;",
         "const float bound = (FAULT ? 2.0f : 1.0f) * constraint->friction * normal_impulse;")]),
    "friction-square": ("friction is bounded by a square, not by a circle", "physics.friction", [
        (ROWS, "const lanes_mask slides = lanes_less(bound * bound, square);",
         """const lanes_mask slides = lanes_less(bound * bound, square);
    if (FAULT) {
        sum1 = lanes_min(lanes_max(sum1, lanes_all(0.0f) - bound), bound);
        sum2 = lanes_min(lanes_max(sum2, lanes_all(0.0f) - bound), bound);
    }"""),
        (ROWS, "const lanes scale = lanes_select(slides, bound / length, one);",
         "const lanes scale = FAULT ? one : lanes_select(slides, bound / length, one);")]),
    "twist-none": ("nothing resists a body that spins on its contact", "physics.friction", [
        (ROWS, "lanes limit = bound * wide->radius;",
         "lanes limit = bound * (FAULT ? lanes_all(0.0f) : wide->radius);")]),
    "push-fast": ("overlap pushes at any speed", "physics.friction", [
        (CONTACT, "lanes_all(-CAIRN_PUSH_SPEED_MAX)", "lanes_all(FAULT ? -1e9f : -CAIRN_PUSH_SPEED_MAX)")]),
    "push-fast-pgs": ("the same in the PGS solver", "physics.friction", [
        ("sim/pgs/contact_solver.c", "depth * settings->baumgarte * rate, CAIRN_PUSH_SPEED_MAX",
         "depth * settings->baumgarte * rate, FAULT ? 1e9f : CAIRN_PUSH_SPEED_MAX")]),
    "normals-pull": ("normal impulses are not clamped", "physics.bounce", [
        (CONTACT, "point->impulse = lanes_max(unclamped, lanes_all(0.0f));",
         "point->impulse = FAULT ? unclamped : lanes_max(unclamped, lanes_all(0.0f));")]),
    "one-sweep": ("the normal rows of a manifold are swept once", "sim.stability", [
        (CONTACT, "sweep < CAIRN_MANIFOLD_SWEEPS", "sweep < (FAULT ? 1 : CAIRN_MANIFOLD_SWEEPS)")]),
    "soft-ground": ("contacts with bodies that do not move are no stiffer", "sim.stability", [
        ("sim/soft_step/soft_step.c", "float_min(2.0f * settings->contact_hertz", "float_min((FAULT ? 0.5f : 2.0f) * settings->contact_hertz")]),
    "hard-ground": ("contacts with bodies that do not move are twice as stiff at any substep rate", "physics.ragdoll", [
        ("sim/soft_step/soft_step.c", "CAIRN_STATIC_HERTZ_FRACTION * rate", "(FAULT ? 0.5f : CAIRN_STATIC_HERTZ_FRACTION) * rate")]),
    "warm-start-always": ("warm_start = 0 is ignored", "physics.contact", [
        ("sim/soft_step/soft_step.c", ".warm_start = settings->warm_start,",
         ".warm_start = FAULT ? 1u : settings->warm_start,")]),
    "warm-normals-lost": ("normal impulses are not kept from step to step", "sim.stability", [
        (PREPARE, "wide->points[k].impulse = points[2 * k + 1] * warm;",
         "wide->points[k].impulse = points[2 * k + 1] * (FAULT ? lanes_all(0.0f) : warm);")]),
    "few-digits": ("contacts keep 12 digits of their impulses", "sim.stability", [
        ("sim/soft_step/body_gather.h", "value * lanes_all(65.0f);",
         "value * lanes_all(FAULT ? 4097.0f : 65.0f);")]),
    "coarse-friction": ("contacts keep friction to 2^-12 of the normal impulse", "sim.stability", [
        ("sim/soft_step/body_gather.h", "normal * lanes_all(64.0f);",
         "normal * lanes_all(FAULT ? 2048.0f : 64.0f);")]),
    "warm-friction-lost": ("friction impulses are not kept from step to step", "sim.stability", [
        (PREPARE, "wide->friction_impulse[0] = lanes3_dot(friction, wide->tangent) * warm;",
         "wide->friction_impulse[0] = lanes3_dot(friction, wide->tangent)"
         " * (FAULT ? lanes_all(0.0f) : warm);")]),
    "features-ignored": ("impulses of points that match are lost", "sim.stability", [
        ("sim/collide/contact_points.c", "while (k < old->point_count && old->points[k].feature",
         "while ((k < old->point_count && FAULT) || k < old->point_count && old->points[k].feature")]),
    "manifold-far": ("a manifold is recycled ten times longer", "physics.contact", [
        ("sim/collide/manifold_pool.c",
         "const float limit = float_min(CAIRN_MANIFOLD_RECYCLING_DISTANCE, fraction * minimum_extent);",
         "const float limit = (FAULT ? 10.0f : 1.0f) *"
         " float_min(CAIRN_MANIFOLD_RECYCLING_DISTANCE, fraction * minimum_extent);")]),
    "manifold-turned": ("a manifold is recycled however the bodies turn", "physics.slope", [
        ("sim/collide/manifold_pool.c", "return cosine > CAIRN_MANIFOLD_RECYCLING_COSINE_CARRIER ||",
         "return FAULT || cosine > CAIRN_MANIFOLD_RECYCLING_COSINE_CARRIER ||")]),
    "manifold-carrier": ("a manifold on a platform is recycled like any other", "physics.slope", [
        ("sim/collide/manifold_pool.c", "return body->kind != CAIRN_BODY_DYNAMIC ||",
         "return FAULT ? false : body->kind != CAIRN_BODY_DYNAMIC ||")]),
    "load-not-limited": ("light bodies under heavy ones yield", "physics.mass_ratio", [
        ("sim/soft_step/squeezed_bodies.c", "if (weights == 0.0f) {", "if (weights == 0.0f || FAULT) {")]),
    "filter-one-sided": ("the mask of the second shape is ignored", "sim.world", [
        ("sim/collide/broad_phase.c", "(uint32_t)((b->category & a->mask) != 0) &",
         "(uint32_t)(FAULT || (b->category & a->mask) != 0) &"),
        ("sim/collide/pair_list.c", "&& (b->category & a->mask) != 0 &&",
         "&& (FAULT || (b->category & a->mask) != 0) &&")]),
    "filter-other-sided": ("the mask of the first shape is ignored", "sim.world", [
        ("sim/collide/broad_phase.c", "(uint32_t)((a->category & b->mask) != 0) &\n",
         "(uint32_t)(FAULT || (a->category & b->mask) != 0) &\n"),
        ("sim/collide/pair_list.c", "&& (a->category & b->mask) != 0 &&",
         "&& (FAULT || (a->category & b->mask) != 0) &&")]),
    "restored-unseen": ("a restored reference pose keeps the boxes of the one before", "sim.restore", [
        ("sim/world/rewrite.c", "if (array == CAIRN_ARRAY_REFERENCE_POSES) {",
         "if (FAULT && array == CAIRN_ARRAY_REFERENCE_POSES) {} else if (array == CAIRN_ARRAY_REFERENCE_POSES) {")]),
    "restored-untallied": ("restored contacts are not counted among the pairs", "sim.restore", [
        ("sim/collide/pair_cache.c", "cache->contacts_restored = cache->contacts_restored || contacts;",
         "cache->contacts_restored = !FAULT && (cache->contacts_restored || contacts);")]),
    "bullets-unseen": ("the pairs of a bullet with other fast bodies depend on their fat boxes", "sim.restore", [
        ("sim/collide/obstacles.c", "meets_bullet(world, swept)) {", "(!FAULT && meets_bullet(world, swept))) {")]),
    "clearance-rebuilt": ("obstacles that move while the pairs are found again leave clearances as they are", "sim.restore", [
        ("sim/collide/pair_cache.c", "if (world->pair_cache_valid && cache->obstacle_moved) {",
         "if (!FAULT && world->pair_cache_valid && cache->obstacle_moved) {")]),
    "clearance-updated": ("the same while the list of pairs is changed", "sim.restore", [
        ("sim/collide/pair_cache.c", "    if (cache->obstacle_moved) {", "    if (!FAULT && cache->obstacle_moved) {")]),
    "carried-wrong": ("a manifold is carried over to a contact at other poses", "sim.restore", [
        ("sim/collide/manifold_carry.c", "const bool carried = same && same_manifold(old, now);",
         "const bool carried = same && (FAULT || same_manifold(old, now));")]),
    "carried-shifted": ("contacts that were not written over count as written", "sim.restore", [
        ("sim/collide/manifold_carry.c", "return is_kept(world, c->old >> shift) ?",
         "return FAULT || is_kept(world, c->old >> shift) ?")]),
    "centre-ignored": ("pairs follow a body with another centre of mass", "sim.restore", [
        ("sim/world/rewrite.c", "return a->kind == b->kind && memcmp(&a->centre",
         "return a->kind == b->kind && (FAULT || memcmp(&a->centre"),
        ("sim/world/rewrite.c", "&b->centre, sizeof a->centre) == 0;", "&b->centre, sizeof a->centre) == 0);")]),
    "edges-win": ("a pair of edges wins over a face that serves as well", "physics.planks", [
        ("sim/collide/separating_axis.h", "return count >= 2 && cosine >= CAIRN_AXIS_FACE_COSINE &&",
         "return !FAULT && count >= 2 && cosine >= CAIRN_AXIS_FACE_COSINE &&")]),
    "reach-short": ("points above the slack of impacts leave a manifold", "physics.stacks", [
        ("sim/collide/pair_contact.c", "if (is_round(world, pair) || world->def.solver != CAIRN_SOLVER_SOFT_STEP) {",
         "if (FAULT || is_round(world, pair) || world->def.solver != CAIRN_SOLVER_SOFT_STEP) {")]),
    "part-drops-uncounted": ("contacts of a mesh beyond the capacity are not counted", "physics.mesh_state", [
        ("sim/collide/mesh_contact.c", "world->state.settings->contacts_dropped += set->count - part;",
         "world->state.settings->contacts_dropped += FAULT ? 0 : set->count - part;")]),
    "sleepers-read": ("a step of a world that mostly sleeps reads everything that sleeps", "sim.sparse", [
        ("sim/collide/pair_cache.c", "world->def.sleep != 0 && awake->body_count <",
         "!FAULT && world->def.sleep != 0 && awake->body_count <")]),
    "drops-uncounted": ("contacts beyond the capacity are not counted", "sim.world", [
        ("sim/collide/contact_update.c", "world->state.settings->contacts_dropped += 1;",
         "world->state.settings->contacts_dropped += FAULT ? 0 : 1;")]),
    # ---- queries and sensors
    "ray-mask": ("a ray hits what its filter excludes", "physics.queries", [
        ("sim/query/query.c", "return (shape->category & of->mask) != 0 &&",
         "return (FAULT || (shape->category & of->mask) != 0) &&")]),
    "ray-sensors": ("queries see sensors", "physics.events", [
        ("sim/query/query.c", "(shape->flags & CAIRN_SHAPE_SENSOR) == 0 &&",
         "(FAULT || (shape->flags & CAIRN_SHAPE_SENSOR) == 0) &&")]),
    "sensor-weighs": ("a sensor adds to the mass of its body", "physics.events", [
        ("sim/body/mass.c", "return (world->state.shapes[slot].flags & CAIRN_SHAPE_SENSOR) == 0;",
         "return FAULT || (world->state.shapes[slot].flags & CAIRN_SHAPE_SENSOR) == 0;")]),
    "sensor-near": ("a sensor sees what is within the contact margin", "physics.events", [
        ("sim/collide/contact_update.c", "if (manifold->points[i].separation <= 0.0f) {",
         "if (FAULT || manifold->points[i].separation <= 0.0f) {")]),
    "sensor-wakes": ("the overlap of a sensor keeps a body awake", "physics.events", [
        ("sim/sleep/island.c", "refs[i].manifold != CAIRN_MANIFOLD_SENSOR) {\n            visit",
         "(FAULT || refs[i].manifold != CAIRN_MANIFOLD_SENSOR)) {\n            visit")]),
    # ---- impacts
    "bounce-mixing": ("a pair has the restitution of its first shape", "physics.bounce", [
        ("sim/collide/manifold_pool.c", ".restitution = float_max(shape_a->restitution, shape_b->restitution)",
         ".restitution = FAULT ? shape_a->restitution"
         " : float_max(shape_a->restitution, shape_b->restitution)")]),
    "bounce-always": ("the restitution threshold is ignored", "physics.bounce", [
        ("sim/soft_step/soft_step.c", "CAIRN_IMPACT_THRESHOLD_ROUNDING * settings->restitution_threshold",
         "(FAULT ? 0.0f : CAIRN_IMPACT_THRESHOLD_ROUNDING) * settings->restitution_threshold")]),
    "bounce-never-pgs": ("the PGS solver never bounces", "physics.bounce", [
        ("sim/pgs/impact.c", "&& constraint->material.restitution > 0.0f;",
         "&& constraint->material.restitution > 0.0f && !FAULT;")]),
    "one-round": ("a shock passes to one body in a substep", "physics.bounce", [
        ("sim/soft_step/substeps.c", "i < CAIRN_IMPACT_ROUNDS_MAX && find_impacts",
         "i < (FAULT ? 1u : CAIRN_IMPACT_ROUNDS_MAX) && find_impacts")]),
    "impact-repeated": ("the next substep repeats an impact", "physics.bounce", [
        (IMPACT, "context->integration[index].unconstrained_velocity[k] += rows[i][k];",
         "context->integration[index].unconstrained_velocity[k] += FAULT ? 0.0f : rows[i][k];")]),
    "compound-unpredicted": ("a slow body of several shapes meets a floor with what is near when a tick begins", "physics.bounce", [
        ("sim/collide/body_extent.c", "return shapes > 1 ?", "return shapes > 1 && !FAULT ?")]),
    "impact-smooth": ("friction does not act in an impact", "physics.bounce", [
        (IMPACT, "solve_friction(wide, struck->t2, &struck->a, &struck->b, false);",
         "if (!FAULT) {\n        solve_friction(wide, struck->t2, &struck->a, &struck->b, false);\n    }")]),
    "impact-wins": ("an impact may win energy", "physics.impact_energy", [
        ("sim/soft_step/impact_energy.c", "    if (!mark_limited(soft_step)) {",
         "    if (FAULT || !mark_limited(soft_step)) {")]),
    "impact-wins-many": ("what meets many at once is reflected by more than takes no energy", "physics.impact_energy", [
        ("sim/soft_step/impact_energy.c", "const bool all = taken >= 2.0f * cluster->stop_change;",
         "const bool all = FAULT || taken >= 2.0f * cluster->stop_change;")]),
    "hit-bounce-pgs": ("a hit of the PGS solver does without the impulse of the bounce", "physics.events", [
        ("sim/pgs/contact_solver.c", "float sum = constraint->impact_impulse;",
         "float sum = FAULT ? 0.0f : constraint->impact_impulse;")]),
    "impact-hit": ("a hit tells the impulse before it was limited", "physics.impact_energy", [
        (IMPACT, "+ share * (reflected - newton);", "+ (FAULT ? lanes_all(0.0f) : share) * (reflected - newton);")]),
    "impact-wins-pgs": ("the same in the PGS solver", "physics.impact_energy", [
        ("sim/pgs/impact.c", "if (constraint->impact != 0 && alone) {",
         "if (!FAULT && constraint->impact != 0 && alone) {")]),
    "impact-reflected": ("what would win energy is reflected, not mixed", "physics.impact_energy", [
        ("sim/constraint/impact_mean.h", "const float linear = p + p - q;",
         "const float linear = FAULT ? 0.0f - p : p + p - q;")]),
    "impact-old-inertia": ("an impact meets the inertia of the start of the step", "physics.impact_energy", [
        (IMPACT, "    if (lanes_set(far) == 0) {", "    if (FAULT || lanes_set(far) == 0) {")]),
    "impact-in-substeps": ("impacts meet the impulses of the last substep again", "physics.impact_energy", [
        ("sim/soft_step/integrate.c", "const bool waits = any_restitution(context);",
         "const bool waits = !FAULT && any_restitution(context);"),
        ("sim/soft_step/substeps.c", "    if (impacts && substep > 1) {", "    if (!FAULT && impacts && substep > 1) {")]),
    "impact-in-steps-pgs": ("impacts of the PGS solver meet the impulses of the last step again", "physics.impact_energy", [
        ("sim/pgs/pgs.c", "    cairn_pgs_joints_warm_start(world);\n    cairn_pgs_driven_warm_start(world);\n    cairn_pgs_contacts_warm_start(world);\n",
         "    if (!FAULT) {\n        cairn_pgs_joints_warm_start(world);\n        cairn_pgs_driven_warm_start(world);\n        cairn_pgs_contacts_warm_start(world);\n    }\n"),
        ("sim/pgs/pgs.c", "    cairn_pgs_impacts_solve(world);\n",
         "    if (FAULT) {\n        cairn_pgs_joints_warm_start(world);\n        cairn_pgs_driven_warm_start(world);\n        cairn_pgs_contacts_warm_start(world);\n    }\n    cairn_pgs_impacts_solve(world);\n")]),
    "impact-mean-spin": ("an impact meets the mean spin of the substep", "physics.impact_energy", [
        ("sim/soft_step/substeps.c", "    if (impacts) {\n        solve_impacts(share);",
         "    if (FAULT) {\n        begin_gyroscopic(share, false);\n    }\n    if (impacts) {\n        solve_impacts(share);"),
        ("sim/soft_step/substeps.c", "    begin_gyroscopic(share, false);\n    if (substep == 1) {",
         "    if (!FAULT) {\n        begin_gyroscopic(share, false);\n    }\n    if (substep == 1) {")]),
    "impact-mean-spin-pgs": ("the same in the PGS solver", "physics.impact_energy", [
        ("sim/pgs/pgs.c", "    cairn_pgs_impacts_solve(world);\n    begin_gyroscopic(world);",
         "    if (FAULT) {\n        begin_gyroscopic(world);\n    }\n    cairn_pgs_impacts_solve(world);\n    if (!FAULT) {\n        begin_gyroscopic(world);\n    }")]),
    "hit-last-substep": ("a hit has the impulse of the last substep alone", "physics.events", [
        (CONTACT, "wide->summed_impulse = wide->summed_impulse + normal_impulse_sum(wide);",
         "wide->summed_impulse = (FAULT ? lanes_all(0.0f) : wide->summed_impulse)"
         " + normal_impulse_sum(wide);")]),
    # ---- bodies
    "gravity-scale": ("gravity_scale is ignored", "physics.friction", [
        ("sim/soft_step/integrate.c", "            rates[7]);", "            FAULT ? one : rates[7]);")]),
    "gravity-scale-pgs": ("the same in the PGS solver", "physics.friction", [
        ("sim/pgs/pgs.c", "vec3_scale(world->state.settings->present_gravity, body->gravity_scale)",
         "vec3_scale(world->state.settings->present_gravity, FAULT ? 1.0f : body->gravity_scale)")]),
    "step-rate-impulses": ("impulses do not follow the length of a step", "physics.step_rate", [
        ("sim/world/step_rate.c", "scale_impulses(world, before / rate_hz);",
         "scale_impulses(world, FAULT ? 1.0f : before / rate_hz);")]),
    "step-rate-rest": ("a body in slow motion falls asleep at the top of its flight", "physics.step_rate", [
        ("sim/state/state.h", "return (uint32_t)(settings->present_step_rate_hz * 0.5f);",
         "return FAULT ? settings->tick_rate_hz / 2 : (uint32_t)(settings->present_step_rate_hz * 0.5f);")]),
    "step-rate-target": ("a target is missed if the step becomes shorter", "physics.step_rate", [
        ("sim/world/step_rate.c", "aim_again(&world->state.motions[i], times);",
         "aim_again(&world->state.motions[i], FAULT ? 1.0f : times);")]),
    "forces-gap-bias": ("what rolls over a ball is pressed as if it went straight on", "physics.forces", [
        ("sim/forces.c", "row->target = 0.0 - (double)gap_bias(g, point);",
         "row->target = FAULT ? 0.0 : 0.0 - (double)gap_bias(g, point);")]),
    "forces-face-turns": ("the face on which something slides does not turn", "physics.forces", [
        ("sim/forces.c", "vec3_sub(circling(&g->b, point->arm_b), circling(&g->a, point->arm_a));",
         "FAULT ? vec3_zero()\n                     : vec3_sub(circling(&g->b, point->arm_b), circling(&g->a, point->arm_a));")]),
    "forces-circle": ("a joint does not pull towards the centre of a circle", "physics.forces", [
        ("sim/forces.c", "row[i].target = 0.0 - (double)vec3_component(circle, i);",
         "row[i].target = FAULT ? 0.0 : 0.0 - (double)vec3_component(circle, i);")]),
    "forces-coriolis": ("a wire that turns does not push what slides along it", "physics.forces", [
        ("sim/forces.c", "vec3_cross(a.w, slide), 2.0f)", "vec3_cross(a.w, slide), FAULT ? 0.0f : 2.0f)")]),
    "forces-sliding": ("friction does not oppose what slides", "physics.forces", [
        ("sim/forces.c", "const bool slides = vec3_length(side) > SLIDE_SPEED;",
         "const bool slides = !FAULT && vec3_length(side) > SLIDE_SPEED;")]),
    "forces-parting": ("what flies away is held", "physics.forces", [
        ("sim/forces.c", "if (near && float_abs(parts) <= PART_SPEED) {",
         "if (near && (FAULT || float_abs(parts) <= PART_SPEED)) {")]),
    "damping-linear": ("linear damping is ignored", "physics.flight", [
        ("sim/soft_step/integrate.c", "const lanes linear_damping = one / (one + h * rates[5]);",
         "const lanes linear_damping = FAULT ? one : one / (one + h * rates[5]);")]),
    "damping-angular": ("angular damping is ignored", "physics.flight", [
        ("sim/soft_step/integrate.c", "const lanes angular_damping = one / (one + h * rates[6]);",
         "const lanes angular_damping = FAULT ? one : one / (one + h * rates[6]);")]),
    "forces-kept": ("a force acts in the next step as well", "physics.flight", [
        ("sim/soft_step/solver_bodies.c", "cairn_body_clear_forces(world, soft_step->slot_of[i]);",
         "if (!FAULT) {\n            cairn_body_clear_forces(world, soft_step->slot_of[i]);\n        }")]),
    "inertia-unturned": ("the inertia of a body does not turn with it", "physics.flight", [
        ("sim/soft_step/integrate.c", "masses[6], masses[7]}, axes);",
         "masses[6], masses[7]}, FAULT ? lanes_mat3_of_quat(zero, zero, zero, one) : axes);")]),
    "parallel-axis": ("the distance of a shape from the centre adds no inertia", "physics.flight", [
        ("sim/body/mass.c", "sum.inertia = sym3_add(sum.inertia, sym3_parallel_axis(mass.mass, offset));",
         "sum.inertia = sym3_add(sum.inertia, sym3_parallel_axis(FAULT ? 0.0f : mass.mass, offset));")]),
    "impulse-about-origin": ("an impulse turns a body about its origin", "physics.hammer", [
        ("sim/world/body_impulses.c",
         "const cairn_vec3 arm = vec3_sub(point, world->state.motions[slot].position);\n"
         "    return push(world, slot, impulse, vec3_cross(arm, impulse));",
         "const cairn_vec3 arm = vec3_sub(point, FAULT ? world->state.motions[slot].origin"
         " : world->state.motions[slot].position);\n"
         "    return push(world, slot, impulse, vec3_cross(arm, impulse));")]),
    "anchor-of-centre": ("anchors are taken from the centre of mass", "physics.hammer", [
        ("sim/soft_step/joint_linear.h", ".anchor = lanes3_sub(anchor, lanes3_at(body))};",
         ".anchor = FAULT ? anchor : lanes3_sub(anchor, lanes3_at(body))};")]),
    "centre-velocity": ("the velocity is not that of the new centre", "physics.hammer", [
        ("sim/body/mass.c", "vec3_cross(motion->angular_velocity, moved))));",
         "FAULT ? vec3_zero() : vec3_cross(motion->angular_velocity, moved))));")]),
    "turntable-tangent": ("what a turntable carries goes along the tangent", "physics.slope", [
        (CONTACT, "if (a != NULL && visit->wide->has_turntable != 0) {",
         "if (!FAULT && a != NULL && visit->wide->has_turntable != 0) {")]),
    "turntable-still": ("a kinematic body that turns does not carry its load around", "physics.slope", [
        ("sim/soft_step/solver_bodies.c",
         "copy3(body->angular_velocity, world->state.motions[slot].angular_velocity);",
         "copy3(body->angular_velocity,"
         " FAULT ? vec3_zero() : world->state.motions[slot].angular_velocity);")]),
    "tick-wraps": ("the upper half of the tick is not counted", "sim.world", [
        ("sim/step.c", "settings->tick_high = (uint32_t)(tick >> 32);",
         "settings->tick_high = FAULT ? 0 : (uint32_t)(tick >> 32);")]),
    # ---- islands
    "spin-asleep": ("bodies that spin fall asleep", "physics.friction", [
        ("sim/sleep/island.c", "+ vec3_length_squared(about_centre));",
         "+ (FAULT ? 0.0f : vec3_length_squared(about_centre)));")]),
    "allow-sleep": ("allow_sleep is ignored", "physics.sleep", [
        ("sim/world/body.c", ".allow_sleep = def->allow_sleep,", ".allow_sleep = FAULT ? 1 : def->allow_sleep,")]),
    "sleep-early": ("a body sleeps after a tenth of the time", "physics.sleep", [
        ("sim/sleep/island.c", "return stay > sleep->ticks ? stay : sleep->ticks;",
         "return FAULT && sleep->ticks + 1 >= limit / 10 ? limit : stay > sleep->ticks ? stay : sleep->ticks;")]),
    "joints-no-island": ("bodies that are joined are no island", "physics.sleep", [
        ("sim/sleep/island.c", "i < world->pair_cache->joint_filter.joint_count; ++i) {\n        if (all",
         "i < (FAULT ? 0 : world->pair_cache->joint_filter.joint_count); ++i) {\n        if (all")]),
    "contacts-no-island": ("bodies that touch are no island", "physics.sleep", [
        ("sim/sleep/island.c", "if (dynamic(world, body_a) && dynamic(world, body_b)) {\n        unite(",
         "if (!FAULT && dynamic(world, body_a) && dynamic(world, body_b)) {\n        unite(")]),
    "carrier-no-waker": ("what a moving platform carries may sleep", "physics.sleep", [
        ("sim/sleep/island.c", "visit_pairs(world, false, keep_awake);",
         "if (!FAULT) {\n        visit_pairs(world, false, keep_awake);\n    }")]),
    # ---- joints
    "relax-not-faded": ("relax passes of open joints start with all that the last one gave", "physics.tree", [
        ("sim/soft_step/joint_solver.c",
         "    linear->faded = update_chord(context, kind, linear, &visit->wide->anchors, a, b);\n",
         "    linear->faded = update_chord(context, kind, linear, &visit->wide->anchors, a, b);\n"
         "    if (FAULT) {\n        linear->faded = lanes_all(0.0f);\n    }\n")]),
    "driven-once": ("driven joints have one biased sweep", "physics.tree", [
        ("sim/soft_step/driven_joints.c", "        solve(world, &time, rows - 1, true);\n",
         "        if (!FAULT) {\n            solve(world, &time, rows - 1, true);\n        }\n")]),
    "relax-once": ("joints are relaxed in one direction of the sweep", "physics.pendulum", [
        ("sim/soft_step/substeps.c",
         "    sweep(share, joints, CAIRN_CONSTRAINT_RELAX);\n    for_moving_bodies(",
         "    if (!FAULT) {\n        sweep(share, joints, CAIRN_CONSTRAINT_RELAX);\n    }\n    for_moving_bodies(")]),
    "bias-once": ("joints have one biased sweep in a substep", "physics.pendulum", [
        ("sim/soft_step/substeps.c", "sweep(share, joints, CAIRN_CONSTRAINT_SOLVE_BIASED);",
         "if (!FAULT) {\n            sweep(share, joints, CAIRN_CONSTRAINT_SOLVE_BIASED);\n        }")]),
    "chord-none": ("the velocity of the chord is not asked for", "physics.pendulum", [
        ("sim/soft_step/joint_linear.h", "velocity_error = lanes3_add(velocity_error, linear->chord);",
         "velocity_error = FAULT ? velocity_error : lanes3_add(velocity_error, linear->chord);")]),
    "chord-none-distance": ("the same for distance joints", "physics.pendulum", [
        ("sim/soft_step/joint_linear.h", "linear->error * linear->rate + linear->chord.x;",
         "linear->error * linear->rate + (FAULT ? lanes_all(0.0f) : linear->chord.x);")]),
    "whip-slack": ("joints of arms that turn fast are no stiffer", "physics.chain", [
        ("sim/soft_step/joint_linear.h", "lanes_min(fast, lanes_all(CAIRN_WHIP_RATE_MAX))",
         "lanes_min(fast, lanes_all(FAULT ? 0.0f : CAIRN_WHIP_RATE_MAX))")]),
    "limits-undamped": ("limits do not damp", "physics.ragdoll", [
        ("sim/soft_step/soft_step.c", ".limit_damping = world_time_step(world)", ".limit_damping = FAULT ? 0.0f : world_time_step(world)")]),
    "impacts-alone": ("each contact decides for itself whether it meets", "physics.bounce", [
        (IMPACT, "met |= here ? 1u << i : 0;", "met |= !FAULT && here ? 1u << i : 0;")]),
    "light-links-none": ("the joints of a light link are solved like others", "physics.pendulum", [
        ("sim/soft_step/light_links.c", "return body->inverse_mass > CAIRN_LIGHT_LINK_RATIO_MIN", "return !FAULT && body->inverse_mass > CAIRN_LIGHT_LINK_RATIO_MIN")]),
    "light-links-kept": ("links stay light until joints change", "physics.pendulum", [
        ("sim/soft_step/light_links.c", "return joints_changed || changed || count != before;",
         "return joints_changed || (!FAULT && (changed || count != before));")]),
    "light-links-stale": ("light links follow the arcs of their last velocities", "physics.pendulum", [
        ("sim/soft_step/light_link.h", "    linear->chord = chord;", "    linear->chord = FAULT ? linear->chord : chord;")]),
    "pushed-alone": ("only joints of bodies that a contact pushes are damped", "physics.joints_turn", [
        ("sim/soft_step/substeps.c", "bool more = true;", "bool more = !FAULT;")]),
    "fast-undamped": ("fast free joints are not damped", "physics.joints_turn", [
        ("sim/soft_step/joint_angular.h", "lanes_max(one - square / lanes_max(lanes3_dot(velocity, velocity), square), zero);",
         "lanes_max(one - square / lanes_max(lanes3_dot(velocity, velocity), square), FAULT ? one : zero) - lanes_all(FAULT ? 1.0f : 0.0f);")]),
    "limits-damp-free": ("joints with limits are damped where nothing holds them", "physics.pendulum", [
        ("sim/soft_step/joint_angular.h", "lanes_select(lanes_less(zero, held), one, fast)", "lanes_select(lanes_less(zero, held), one, FAULT ? one : fast)")]),
    "gyroscopic-none": ("a body has no gyroscopic torque", "physics.gyroscope", [
        ("sim/body/gyroscopic.c", "if (body->gyroscopic == 0 || (", "if (FAULT || body->gyroscopic == 0 || (")]),
    "gyroscopic-linear": ("the gyroscopic torque is that of the start of the step", "physics.gyroscope", [
        ("sim/body/gyroscopic.c", "const cairn_vec3 both = vec3_add(momentum, later);",
         "const cairn_vec3 both = vec3_add(momentum, FAULT ? momentum : later);")]),
    "limits-ignored": ("the limits of hinges and cones do not hold", "sim.joint", [
        ("sim/soft_step/joint_angular.h", "const lanes closing = slack * lanes_all(context->inverse_h);",
         "if (FAULT) {\n        return zero;\n    }\n"
         "    const lanes closing = slack * lanes_all(context->inverse_h);")]),
    "limits-ignored-pgs": ("the same in the PGS solver", "sim.joint", [
        ("sim/pgs/joint_solver.c", "row->bias = 0.0f - slack * fraction * rate;",
         "row->bias = FAULT ? -1e9f : 0.0f - slack * fraction * rate;")]),
    # ---- fast bodies
    "fast-unpredicted": ("no body is fast: impacts are not predicted", "physics.fast_bodies", [
        ("sim/collide/pair_cache.c", "if (!(*reach > fast_distance)) {",
         "if (FAULT || !(*reach > fast_distance)) {")]),
    "fast-unswept": ("bodies that left their predicted way are not swept", "physics.fast_bodies", [
        ("sim/collide/sweep.c", "by = stop_of_body(world, slots[i], !by_itself);",
         "by = FAULT ? (stop){.fraction = 1.0f} : stop_of_body(world, slots[i], !by_itself);")]),
    "fast-pushed": ("the plane of a contact pushes what only passes", "physics.fast_bodies", [
        ("sim/collide/pair_contact.c", "if (predicted.sure ||\n", "if (FAULT || predicted.sure ||\n")]),
    "fast-margin": ("a restored manifold has the margin of bodies at rest", "physics.fast_bodies", [
        ("sim/collide/manifold_pool.c", "cairn_pair_collide(world, pair, &pose, contact->margin, &axis_hint, &manifold);",
         "cairn_pair_collide(world, pair, &pose, FAULT ? CAIRN_CONTACT_MARGIN : contact->margin, &axis_hint,"
         " &manifold);")]),
    "fast-large": ("a large body that turns is swept as if its rim were beside the small one", "physics.fast_bodies", [
        ("sim/collide/impact.c", "return float_min(approach, approach_in_frame(pair, a_larger, at, towards));",
         "return FAULT ? approach : float_min(approach, approach_in_frame(pair, a_larger, at, towards));")]),
    "fast-frame": ("in the frame of the larger body the other one does not go around", "physics.fast_bodies", [
        ("sim/collide/impact.c", "const cairn_vec3 u = vec3_sub(d, vec3_cross(w, c));",
         "const cairn_vec3 u = FAULT ? d : vec3_sub(d, vec3_cross(w, c));")]),
    "turning-rim": ("the core of a flat hull lacks its rim", "physics.turning_plates", [
        ("sim/shape/distance.c", "core.radius = float_min(used, flat * skin);",
         "core.radius = FAULT ? used : float_min(used, flat * skin);")]),
    "turning-behind": ("a sure advance may end behind a thin plate", "physics.turning_plates", [
        ("sim/collide/impact.c", "distance <= closed || i >= SURE_ADVANCES)",
         "distance <= closed || (i >= SURE_ADVANCES && !FAULT))"),
        ("sim/collide/impact.c", "if (now.stepped) {", "if (now.stepped && !FAULT) {")]),
    "turning-leaves": ("a body leaves a mesh if the centres part, however the mesh turns", "physics.turning_plates", [
        ("sim/collide/mesh_impact.c", "vec3_dot(s->moves, impact.axis) >= 0.0f;",
         "vec3_dot(FAULT ? s->motion->displacement : s->moves, impact.axis) >= 0.0f;")]),
    "turning-slides": ("what slides over a plate that turns is not taken out of it", "physics.turning_plates", [
        ("sim/collide/sweep.c", "return way->slide * way->turn > CAIRN_SWEEP_SINK_FRACTION * half_width;",
         "return !FAULT && way->slide * way->turn > CAIRN_SWEEP_SINK_FRACTION * half_width;")]),
    "fast-clearance": ("fat bounding boxes seem to have room", "physics.fast_bodies", [
        ("sim/collide/obstacles.c", "const float clearance = clearance_of(&fat, meets ? least_of(least) : room);",
         "const float clearance = FAULT ? CLEARANCE_MAX : clearance_of(&fat, meets ? least_of(least) : room);")]),
    "room-kept": ("a larger fat bounding box inherits the whole room of the one before", "sim.restore", [
        ("sim/collide/pair_cache.c", "return 0.999f * (cache->rooms[slot] - growth);",
         "return 0.999f * (cache->rooms[slot] - (FAULT ? 0.0f : growth));")]),
    "room-overlapped": ("a fat bounding box that meets an obstacle has room", "sim.restore", [
        ("sim/collide/obstacles.c", "cache->rooms[slot] = meets ? 0.0f : clearance;",
         "cache->rooms[slot] = meets && !FAULT ? 0.0f : clearance;")]),
    "room-unreduced": ("an obstacle that moves leaves room as it was", "sim.restore", [
        ("sim/collide/obstacles.c", "cache->rooms[i] = float_min(cache->rooms[i], clearance);",
         "cache->rooms[i] = FAULT ? cache->rooms[i] : float_min(cache->rooms[i], clearance);")]),
    "room-of-many": ("clearances outlive the obstacle that is one too many to compare with", "sim.restore", [
        ("sim/collide/obstacles.c", "cache->clearances[i] = float_min(cache->clearances[i], 0.0f);",
         "cache->clearances[i] = FAULT ? cache->clearances[i] : float_min(cache->clearances[i], 0.0f);"),
        ("sim/collide/obstacles.c", "cache->rooms[i] = 0.0f;", "cache->rooms[i] = FAULT ? cache->rooms[i] : 0.0f;")]),
    "bullet-ignored": ("a bullet is swept as other bodies are", "physics.fast_bodies", [
        ("sim/collide/sweep.c", "world->state.bodies[body].bullet != 0 && !meshes ?",
         "world->state.bodies[body].bullet != 0 && !meshes && !FAULT ?"),
        ("sim/collide/pair_cache.c", "if (properties->bullet != 0 ||", "if ((properties->bullet != 0 && !FAULT) ||")]),
    "pass-through": ("fast bodies count as bullets only if they are such", "physics.fast_bodies", [
        ("sim/collide/pair_cache.h", "return distance > CAIRN_PASS_HALF_WIDTHS * cache->half_widths[body] &&",
         "return !FAULT && distance > CAIRN_PASS_HALF_WIDTHS * cache->half_widths[body] &&")]),
    "rollback-travel": ("a rollback of a part forgets how far a fast body reaches", "sim.island_rollback", [
        ("sim/rollback/passing.c", "r->travel[slot] = travel;", "r->travel[slot] = FAULT ? 1e-6f : travel;")]),
    "bullet-alone": ("what a bullet meets goes on for the rest of the tick", "physics.fast_bodies", [
        ("sim/collide/sweep.c", "if (cairn_body_takes_impulses(world, by->obstacle)) {",
         "if (cairn_body_takes_impulses(world, by->obstacle) && !FAULT) {")]),
    "carried-none": ("a body that a moving wall stopped stays where it was stopped", "physics.fast_bodies", [
        ("sim/collide/sweep.c", "} else if (world->state.bodies[by->obstacle].kind == CAIRN_BODY_KINEMATIC) {",
         "} else if (!FAULT && world->state.bodies[by->obstacle].kind == CAIRN_BODY_KINEMATIC) {")]),
    "mesh-unswept": ("fast bodies are not swept against triangles", "physics.mesh", [
        ("sim/collide/sweep.c", "static bool moved_far(const cairn_world *world, uint32_t body) {",
         "static bool moved_far(const cairn_world *world, uint32_t body) {\n    if (FAULT) {\n        return false;\n    }")]),
    "newton-six": ("the mean of a very fast rotation is taken before it is found", "physics.gyroscope", [
        ("sim/body/gyroscopic.c", "if (i >= NEWTON_STEPS && !(vec3_length_squared(error) > close)) {",
         "if (i >= NEWTON_STEPS && (FAULT || !(vec3_length_squared(error) > close))) {")]),
    "turned-back": ("a body that is turned back to where it was stopped keeps its angular velocity, not its momentum", "physics.bounce", [
        ("sim/body/gyroscopic.c", "if (!cairn_gyroscopic_prepare(world, slot, &now)) {", "if (FAULT || !cairn_gyroscopic_prepare(world, slot, &now)) {")]),
    "stop-without-bounce": ("what hits while it is inside loses its velocity", "physics.bounce", [
        ("sim/collide/sweep.c", "bounces ? by->restitution * approach : 0.0f", "bounces && !FAULT ? by->restitution * approach : 0.0f")]),
    "triangle-whole": ("all of a large triangle takes part in a distance", "physics.mesh", [
        ("sim/shape/distance.c", "cairn_core_reach(core, centre) > LARGE_TRIANGLE * radius",
         "!FAULT && cairn_core_reach(core, centre) > LARGE_TRIANGLE * radius")]),
    "one-end": ("of a rolling cylinder's manifold, near points may be lost", "physics.mesh", [
        ("sim/collide/pair_contact.c", "bool again = may_lack_points(world, pair, in_contact, &all);",
         "bool again = !FAULT && may_lack_points(world, pair, in_contact, &all);")]),
    "joint-collides": ("bodies that are joined collide", "sim.solver", [
        ("sim/collide/joint_filter.c", "filter->pairs[lower] == key;", "filter->pairs[lower] == key && !FAULT;")]),
    # ---- a load on piles of light bodies
    "squeeze-one": ("a load is not passed on to what a squeezed body bears on", "physics.mass_ratio", [
        ("sim/soft_step/squeezed_bodies.c", "return body->inverse_mass < own_inverse_mass(world, body);",
         "return !FAULT && body->inverse_mass < own_inverse_mass(world, body);")]),
    "squeeze-order": ("a load is passed on in the order of the list alone", "physics.mass_ratio", [
        ("sim/soft_step/squeezed_bodies.c", "changed && pass < CAIRN_SQUEEZE_PASSES_MAX", "changed && pass < (FAULT ? 1 : CAIRN_SQUEEZE_PASSES_MAX)")]),
    "squeeze-loose": ("a light body that lies loose on a heavy one is taken for heavier", "physics.mass_ratio", [
        ("sim/soft_step/squeezed_bodies.c", "weights = weights_max(world, body, other);", "weights = (FAULT ? 1e-3f : 1.0f) * weights_max(world, body, other);")]),
    "squeeze-beyond": ("a body is taken for heavier than what squeezes it", "physics.mass_ratio", [
        ("sim/soft_step/squeezed_bodies.c", "behind = heavy * impulse;", "behind = FAULT ? 0.0f : heavy * impulse;")]),
    "sleep-by-velocity": ("a body that keeps its place is not at rest because of its velocity", "physics.planks", [
        ("sim/sleep/island.c", "speed >= slow && kept_its_place(world, slot)", "speed >= slow && kept_its_place(world, slot) && !FAULT")]),
    "squeeze-swings": ("the mass of a squeezed body follows its load down at once", "physics.roofs", [
        ("sim/soft_step/squeezed_bodies.c", "if (wanted >= before) {", "if (wanted >= before || FAULT) {")]),
    "squeeze-one-contact": ("a load is what one contact bears", "physics.roofs", [
        ("sim/soft_step/squeezed_bodies.c", "!= 0 ? contact_impulse :", "!= 0 || FAULT ? contact_impulse :")]),
    "squeeze-neighbours": ("bodies of other masses than its own do not squeeze a body", "physics.roofs", [
        ("sim/soft_step/squeezed_bodies.c", "const bool differ = light >", "const bool differ = FAULT ? false : light >")]),
    "squeeze-amid": ("many bodies of about its mass do not squeeze a plate", "physics.roofs", [
        ("sim/soft_step/squeezed_bodies.c", "return differ || amid ||", "return differ || (amid && !FAULT) ||")]),
    "squeeze-alone": ("a body is taken for no heavier than the heaviest that it touches", "physics.roofs", [
        ("sim/soft_step/squeezed_bodies.c", ": float_min(heavy, 2.0f / soft_step->body_loads[index].mass_beside);",
         ": FAULT ? heavy : float_min(heavy, 2.0f / soft_step->body_loads[index].mass_beside);")]),
    "bullet-pressed": ("a bullet that moves as predicted is not swept", "physics.fast_bodies", [
        ("sim/collide/sweep.c", "(bullet != 0 && moved_far(world, slots[i]));", "(!FAULT && bullet != 0 && moved_far(world, slots[i]));")]),
    "squeeze-pushed": ("what accelerates a body is a load", "physics.roofs", [
        ("sim/soft_step/squeezed_bodies.c", "if (soft_step->jointed[index] != 0) {\n        return fall;", "if (soft_step->jointed[index] != 0 || FAULT) {\n        return fall;")]),
    "chord-fades": ("whatever rotates fast at a joint loses energy, open or not", "physics.pendulum", [
        ("sim/soft_step/joint_linear.h", "const lanes fade = open * rotation_measure(context, square);",
         "const lanes fade = (FAULT ? lanes_all(1.0f) : open) * rotation_measure(context, square);")]),
    "links-thin": ("thin bodies between two hinges are as thin as they are", "physics.chain", [
        ("sim/soft_step/thin_links.c", "if (!(excess > 0.0f)) {", "if (!(excess > 0.0f) || FAULT) {")]),
    "coriolis": ("what slides along a turning axis is taken to move straight in a substep", "physics.joints_slider", [
        ("sim/constraint/joint_rows.c", "vec3_scale(vec3_cross(a->angular_velocity, slide), time->h)",
         "vec3_scale(vec3_cross(a->angular_velocity, slide), FAULT ? 0.0f : time->h)")]),
    "inertia-stays": ("joints meet the inertia of the pose at the start of the step in all substeps", "physics.pairs", [
        ("sim/soft_step/turning_inertia.c", "return apart * angle_squared >", "return !FAULT && apart * angle_squared >")]),
    "inertia-forgets": ("when an inertia turns, changes of velocity stay in place of impulses", "physics.pairs", [
        ("sim/soft_step/integrate.c", "lanes_sym3_apply(now.inverse_inertia, lanes_sym3_apply(before, change));",
         "FAULT ? change : lanes_sym3_apply(now.inverse_inertia, lanes_sym3_apply(before, change));")]),
    "hinge-in-turn-pgs": ("rows about axes of the PGS solver are solved as if nothing held the anchors", "physics.pendulum", [
        ("sim/pgs/joint_solver.c", "const cairn_sym3 response = held_response(world, constraint);",
         "const cairn_pgs_body *both = world->pgs->bodies;\n    const cairn_sym3 response = FAULT ? sym3_add(both[constraint->body_a].inverse_inertia,"
         " both[constraint->body_b].inverse_inertia) : held_response(world, constraint);"),
        ("sim/pgs/joint_solver.c", "vec3_scale(row->holding, change);", "vec3_scale(row->holding, FAULT ? 0.0f : change);")]),
    "motor-throws": ("a motor of a tree keeps a speed that it is too weak for", "sim.articulation", [
        ("sim/articulation/figure.c", "        axis->mode = reaction > 0.0f ?", "        if (FAULT) {\n            return false;\n        }\n        axis->mode = reaction > 0.0f ?")]),
    "tree-lanes-locks": ("what is above an axis that a limit locks keeps its factors", "sim.articulation", [
        ("sim/soft_step/figure_tree.h", "        if (step->stale == 0) {", "        if (FAULT || step->stale == 0) {")]),
    "tree-lanes-empty": ("lanes without a link hang on the links beside them", "sim.articulation", [
        ("sim/soft_step/figure_tree.h", "child->live == CAIRN_LANES) {\n            sum = spatial_lanes_add(", "FAULT || child->live == CAIRN_LANES) {\n            sum = spatial_lanes_add(")]),
    "tree-lanes-read": ("links that only a driven joint holds are taken for free", "sim.articulation_lanes", [
        ("sim/soft_step/figure_load.h", "const bool all = run->world->soft_step->driven_count > 0 ||", "const bool all = (!FAULT && run->world->soft_step->driven_count > 0) ||")]),
    "tree-layout": ("trees stay as they were when joints come and go", "sim.articulation", [
        ("sim/articulation/forest.c", "        if (memcmp(&source,", "        if (!FAULT && memcmp(&source,")]),
    "tree-lanes-still": ("a tree that nothing pushed is solved with those beside it", "sim.articulation_lanes", [
        ("sim/soft_step/figure_block.h", "    if (set->all) {", "    if (FAULT || set->all) {")]),
    "motor-leaves": ("what leaves a limit of a tree has its motor's speed at once", "sim.articulation", [
        ("sim/articulation/figure.c", "return dof->reaction < own ? up :", "return dof->reaction < own ? (FAULT ? without : up) :"),
        ("sim/articulation/figure.c", "return dof->reaction > own ? down :", "return dof->reaction > own ? (FAULT ? without : down) :"),
        ("sim/soft_step/figure_modes.h", "may_hold & mode_select(lanes_less(zero, link->speed), pushes_up, pushes_down);",
         "may_hold & (FAULT ? holds : mode_select(lanes_less(zero, link->speed), pushes_up, pushes_down));"),
        ("sim/soft_step/figure_modes.h", "may_hold & mode_select(lanes_less(link->speed, zero), pushes_down, pushes_up);",
         "may_hold & (FAULT ? holds : mode_select(lanes_less(link->speed, zero), pushes_down, pushes_up));")]),
    # ---- the laboratory
    "lab-sweep": ("a visit of PSOR gives 0.9 of the impulse", "sim.methods", [
        ("sim/reference/sweeps.c", "x[i] = before - step * w;", "x[i] = before - (FAULT ? 0.9 : 1.0) * step * w;")]),
    "lab-sweep-order": ("symmetric sweeps go one way", "sim.methods", [
        ("sim/reference/sweeps.c", "options->symmetric != 0 && progress->iteration % 2 == 1;",
         "options->symmetric != 0 && progress->iteration % 2 == 1 && !FAULT;")]),
    "lab-relaxation": ("over-relaxation is left out", "sim.methods", [
        ("sim/reference/sweeps.c", "visit_group(system, g, reverse, options->over_relaxation, &v, x);",
         "visit_group(system, g, reverse, FAULT ? 1.0 : options->over_relaxation, &v, x);")]),
    "lab-gradient-step": ("a step of the gradient method that is too long is kept", "sim.methods", [
        ("sim/reference/gradient.c", "return cairn_mlcp_dot(system, difference, product) * d->step > square * (1.0 + 1e-12);",
         "return !FAULT && cairn_mlcp_dot(system, difference, product) * d->step > square * (1.0 + 1e-12);")]),
    "lab-mprgp-free": ("MPRGP frees no row", "sim.methods", [
        ("sim/reference/mprgp.c", "if (!is_proportional(m)) {", "if (!is_proportional(m) && !FAULT) {")]),
    "lab-mprgp-bounds": ("MPRGP never updates the bounds of friction", "sim.methods", [
        ("sim/reference/mprgp.c", "if (m.has_friction && progress->iteration % FRICTION_EVERY == 0) {",
         "if (m.has_friction && !FAULT && progress->iteration % FRICTION_EVERY == 0) {")]),
    "lab-cone": ("impulses outside a cone are brought to it along the tangent", "sim.methods", [
        ("sim/reference/mlcp.c", "*normal = along;", "*normal = FAULT ? *normal : along;")]),
    "lab-length": ("friction of the laboratory exceeds its circle by a tenth", "sim.laboratory", [
        ("sim/reference/mlcp.c", "const double scale = bound / cairn_double_sqrt(square);",
         "const double scale = (FAULT ? 1.1 : 1.0) * bound / cairn_double_sqrt(square);")]),
    "lab-stop-residual": ("the residual may be ten times the tolerance", "sim.methods", [
        ("sim/reference/method.c", "options->tolerance;\n    } else if", "(FAULT ? 10.0 : 1.0) * options->tolerance;\n    } else if")]),
    "lab-lemke-ties": ("Lemke's ties are decided by the first row", "sim.reference", [
        ("sim/reference/lemke.c", "for (uint32_t by = 0; by < n && count > 1; ++by) {", "for (uint32_t by = 0; by < n && count > 1 && !FAULT; ++by) {")]),
    "lab-lemke-ray": ("a ray ends as a solution", "sim.reference", [
        ("sim/reference/lemke.c", "            return CAIRN_SOLVE_RAY;", "            return FAULT ? CAIRN_SOLVE_STOPPED : CAIRN_SOLVE_RAY;")]),
    "lab-sliding": ("what starts to slide keeps the friction of rest", "sim.reference", [
        ("sim/reference/direct.c", "v->coefficient = slides ? block->sliding : block->coefficient;",
         "v->coefficient = slides && !FAULT ? block->sliding : block->coefficient;")]),
    # ---- rollbacks of a part
    "part-meets": ("a part does not notice what it meets", "sim.island_rollback", [
        ("sim/rollback/scope.c", "    return r->scope_count > before;", "    return r->scope_count > before && !FAULT;")]),
    "part-leaves": ("a part does not notice what it would have met", "sim.island_rollback", [
        ("sim/rollback/scope.c", "side < 2; ++side) {\n            scope_box boxes[BATCH];",
         "side < (FAULT ? 1u : 2u); ++side) {\n            scope_box boxes[BATCH];")]),
    "part-joined": ("what is joined does not come along", "sim.island_rollback", [
        ("sim/rollback/scope.c", "if (has_a != cairn_scope_has(r, b) &&", "if (!FAULT && has_a != cairn_scope_has(r, b) &&")]),
    "part-mark": ("a corrected block is not marked", "sim.island_rollback", [
        ("sim/rollback/correct.c", "    cairn_hash_cache_mark(r->world, array, now.first);",
         "    if (!FAULT) {\n        cairn_hash_cache_mark(r->world, array, now.first);\n    }")]),
    "part-cells": ("a rollback does not count the contacts that change their places", "sim.island_rollback", [
        ("sim/rollback/correct.c", "    if (first == UINT32_MAX) {\n        return same;",
         "    if (FAULT || first == UINT32_MAX) {\n        return same;")]),
    "part-log": ("a tick after a corrected one keeps its log", "sim.island_rollback", [
        ("sim/serialize/history_patch.c", "        logged->cell = cell;", "        logged->cell = FAULT ? logged->cell : cell;")]),
    "part-shared": ("ticks after a corrected one share its cells", "sim.island_rollback", [
        ("sim/serialize/history_patch.c", "    if (!from_before && last == order) {\n        return cell;",
         "    if ((!from_before && last == order) || (FAULT && !from_before)) {\n        return cell;")]),
}

if __name__ == "__main__":
    planted_faults.main(__doc__, FAULTS, "physics")
