// SPDX-License-Identifier: MIT
#pragma once

// The settings of a world: each is listed here once. From this list follow the defaults and range
// checks of cairn_world_def, the head of the state block with its field names and encoding, the
// reading and checking of scenes, and the table in docs/PHYSICS.md.

#include <cairn/types.h>

#define CAIRN_SUBSTEPS_MAX 64
#define CAIRN_ITERATIONS_MAX 255
#define CAIRN_HERTZ_MAX 1000.0f
#define CAIRN_DAMPING_RATIO_MAX 100.0f
#define CAIRN_SLOP_MAX 1.0f // m
#define CAIRN_STOP_TOLERANCE_MAX 1e4f
// The smallest value of a setting that must not be 0.
#define CAIRN_SETTING_MIN 1e-6f

// In the order of the state block:
// WORD(name, default, lower, upper): a uint32_t.
// FLOAT(name, default, lower, upper): a float.
// VEC3(name, default x, y, z, limit): a cairn_vec3, each |component| <= limit.
// The seed follows, which has no range.
#define CAIRN_WORLD_SETTINGS(WORD, FLOAT, VEC3)                                                    \
    WORD(body_capacity, 1024, 1, CAIRN_BODIES_MAX)                                                 \
    WORD(shape_capacity, 1024, 1, CAIRN_SHAPES_MAX)                                                \
    WORD(joint_capacity, 256, 0, CAIRN_JOINTS_MAX)                                                 \
    WORD(hull_capacity, 64, 0, CAIRN_HULLS_MAX)                                                    \
    WORD(mesh_capacity, 16, 0, CAIRN_MESHES_MAX)                                                   \
    WORD(mesh_block_capacity, 256, 0, CAIRN_MESH_BLOCKS_MAX)                                       \
    WORD(contact_capacity, 8192, 1, CAIRN_CONTACTS_MAX)                                            \
    WORD(event_capacity, 4096, 0, CAIRN_EVENTS_MAX)                                                \
    WORD(tick_rate_hz, CAIRN_TICK_RATE_HZ_DEFAULT, CAIRN_TICK_RATE_HZ_MIN, CAIRN_TICK_RATE_HZ_MAX) \
    VEC3(gravity, 0.0f, -9.81f, 0.0f, CAIRN_GRAVITY_MAX)                                           \
    WORD(solver, CAIRN_SOLVER_SOFT_STEP, CAIRN_SOLVER_SOFT_STEP, CAIRN_SOLVER_PSSOR)               \
    WORD(substeps, 4, 1, CAIRN_SUBSTEPS_MAX)                                                       \
    WORD(iterations, 10, 1, CAIRN_ITERATIONS_MAX)                                                  \
    WORD(friction_model, CAIRN_FRICTION_COULOMB, CAIRN_FRICTION_COULOMB, CAIRN_FRICTION_CONE)      \
    WORD(warm_start, 1, 0, 1)                                                                      \
    WORD(sleep, 1, 0, 1)                                                                           \
    FLOAT(baumgarte, 0.2f, CAIRN_SETTING_MIN, 1.0f)                                                \
    FLOAT(slop, 0.005f, 0.0f, CAIRN_SLOP_MAX)                                                      \
    FLOAT(contact_hertz, 42.0f, CAIRN_SETTING_MIN, CAIRN_HERTZ_MAX)                                \
    FLOAT(contact_damping, 10.0f, 0.0f, CAIRN_DAMPING_RATIO_MAX)                                   \
    FLOAT(joint_hertz, 120.0f, CAIRN_SETTING_MIN, CAIRN_HERTZ_MAX)                                 \
    FLOAT(joint_damping, 20.0f, 0.0f, CAIRN_DAMPING_RATIO_MAX)                                     \
    FLOAT(restitution_threshold, 1.0f, 0.0f, CAIRN_SPEED_MAX)                                      \
    FLOAT(hit_threshold, 1.0f, 0.0f, CAIRN_SPEED_MAX)                                              \
    FLOAT(sleep_speed, 0.05f, 0.0f, CAIRN_SPEED_MAX)                                               \
    FLOAT(limit_damping, 4.0f, 0.0f, CAIRN_DAMPING_MAX)                                            \
    WORD(stop_rule, CAIRN_STOP_COUNT, CAIRN_STOP_COUNT, CAIRN_STOP_PROGRESS)                       \
    FLOAT(stop_tolerance, 1e-4f, 0.0f, CAIRN_STOP_TOLERANCE_MAX)

// CAIRN_OK, CAIRN_NON_FINITE or CAIRN_INVALID_ARGUMENT. Checks the settings and the rules.
cairn_status cairn_world_def_check(const cairn_world_def *def);

// NULL, or one sentence on what is wrong with the rules; static.
const char *cairn_rules_refusal(const struct cairn_rules *rules);
