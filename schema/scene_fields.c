// SPDX-License-Identifier: MIT
#include "schema/scene_fields.h"

#include <string.h>

#include "base/joint_defaults.h"
#include "base/world_settings.h"

#define COUNT(fields) (sizeof(fields) / sizeof(fields)[0])
#define SIZES .least = (double)CAIRN_SHAPE_SIZE_MIN, .most = (double)CAIRN_SHAPE_SIZE_MAX
#define WITHIN(limit) .least = -(double)(limit), .most = (double)(limit)
#define UP_TO(limit) .least = 0, .most = (double)(limit)
#define FROM_TO(lower, upper) .least = (double)(lower), .most = (double)(upper)
#define KIND(kind) (1u << (kind))

static const char *const body_kinds[] = {"static", "kinematic", "dynamic", NULL};
static const char *const shape_kinds[] = {"", "sphere", "capsule", "box", "half_space", "hull",
    "cylinder", "cone", "mesh", "height_field", NULL};
static const char *const joint_kinds[] = {"", "ball", "distance", "hinge", "cone", "prismatic",
    "weld", "wheel", "motor", "gear", "pulley", "row", NULL};
static const char *const combine_words[] = {
    "usual", "average", "minimum", "multiply", "maximum", NULL};
static const char *const friction_words[] = {"coulomb", "constant", "pyramid", "cone", NULL};
static const char *const solver_words[] = {
    "soft_step", "pgs", "direct", "psor", "split", "gradient", "mprgp", "apgd", "pssor", NULL};
static const char *const stop_words[] = {"count", "residual", "change", "progress", NULL};

// The three ways to write a rotation.
#define ROTATION(prefix, owner, member, kinds_)                                                    \
    {prefix "rotation", "quaternion [x, y, z, w] of length 1", CAIRN_SCENE_QUAT,                   \
        .offset = offsetof(owner, member.quat), .kinds = (kinds_), WITHIN(1.1)},                   \
        {prefix "rotation_deg",                                                                    \
            "Euler angles [x, y, z] in degrees: about the x axis, then y, then z of the frame "    \
            "outside",                                                                             \
            CAIRN_SCENE_VEC3, .offset = offsetof(owner, member.euler_deg), .kinds = (kinds_),      \
            WITHIN(3600)},                                                                         \
        {prefix "rotation_axis", "axis [x, y, z] of a rotation by " prefix "rotation_angle_deg",   \
            CAIRN_SCENE_VEC3, .offset = offsetof(owner, member.axis), .kinds = (kinds_),           \
            WITHIN(1e4)},                                                                          \
    {                                                                                              \
        prefix "rotation_angle_deg", "angle in degrees about " prefix "rotation_axis",             \
            CAIRN_SCENE_FLOAT, .offset = offsetof(owner, member.angle_deg), .kinds = (kinds_),     \
                               WITHIN(3600)                                                        \
    }

#define GRID(owner, member_count, member_spacing)                                                  \
    {"grid_count", "copies along x, y and z; at most one of grid, line and circle",                \
        CAIRN_SCENE_WORDS3, .offset = offsetof(owner, member_count), FROM_TO(1, 1024)},            \
    {                                                                                              \
        "grid_spacing", "m between the copies of a grid", CAIRN_SCENE_VEC3,                        \
            .offset = offsetof(owner, member_spacing), WITHIN(CAIRN_DISTANCE_MAX)                  \
    }

#define REPETITION(owner)                                                                          \
    {"line_count", "copies along a line, the first at the position", CAIRN_SCENE_WORD,             \
        .offset = offsetof(owner, repeat.line_count), FROM_TO(1, CAIRN_BODIES_MAX)},               \
        {"line_step", "m from each copy of a line to the next", CAIRN_SCENE_VEC3,                  \
            .offset = offsetof(owner, repeat.line_step), WITHIN(CAIRN_DISTANCE_MAX)},              \
        {"circle_count", "copies round a circle about the position, each turned along with it",    \
            CAIRN_SCENE_WORD, .offset = offsetof(owner, repeat.circle_count),                      \
            FROM_TO(1, CAIRN_BODIES_MAX)},                                                         \
        {"circle_radius", "m", CAIRN_SCENE_FLOAT, .offset = offsetof(owner, repeat.circle_radius), \
            UP_TO(CAIRN_DISTANCE_MAX)},                                                            \
    {                                                                                              \
        "circle_axis", "axis of the circle; the first copy is towards x (y, if the axis is x)",    \
            CAIRN_SCENE_VEC3, .offset = offsetof(owner, repeat.circle_axis), WITHIN(1e4)           \
    }

#define SHAPE(member) .offset = offsetof(cairn_authored_shape, shape.def.member)
#define ROUND_KINDS                                                                                \
    (KIND(CAIRN_SHAPE_SPHERE) | KIND(CAIRN_SHAPE_CAPSULE) | KIND(CAIRN_SHAPE_CYLINDER) |           \
        KIND(CAIRN_SHAPE_CONE))

static const cairn_scene_field shape_fields[] = {
    {"kind", "what it is", CAIRN_SCENE_CHOICE, SHAPE(kind), .words = shape_kinds},
    {"half_extents", "m, half of the edges of a box", CAIRN_SCENE_VEC3, SHAPE(half_extents), SIZES,
        .kinds = KIND(CAIRN_SHAPE_BOX)},
    {"radius", "m", CAIRN_SCENE_FLOAT, SHAPE(radius), SIZES, .kinds = ROUND_KINDS},
    {"half_height", "m along local y; of a capsule, to the centres of its ends", CAIRN_SCENE_FLOAT,
        SHAPE(half_height), SIZES, .kinds = ROUND_KINDS & ~KIND(CAIRN_SHAPE_SPHERE)},
    {"position", "m, in the body's frame", CAIRN_SCENE_VEC3, SHAPE(pose.position),
        WITHIN(CAIRN_DISTANCE_MAX)},
    ROTATION("", cairn_authored_shape, rotation, 0),
    {"density", "kg/m^3", CAIRN_SCENE_FLOAT, SHAPE(density), FROM_TO(1e-6f, CAIRN_DENSITY_MAX)},
    {"friction", "of sliding", CAIRN_SCENE_FLOAT, SHAPE(friction), UP_TO(CAIRN_FRICTION_MAX)},
    {"restitution", "share of the approach speed that is kept", CAIRN_SCENE_FLOAT,
        SHAPE(restitution), UP_TO(1)},
    {"category", "bit set for the collision filter", CAIRN_SCENE_WORD, SHAPE(category),
        UP_TO(UINT32_MAX)},
    {"mask", "bit set of the categories that it collides with", CAIRN_SCENE_WORD, SHAPE(mask),
        UP_TO(UINT32_MAX)},
    {"hull", "index into the scene's hulls", CAIRN_SCENE_WORD,
        .offset = offsetof(cairn_authored_shape, shape.hull), UP_TO(CAIRN_HULLS_MAX - 1),
        .kinds = KIND(CAIRN_SHAPE_HULL)},
    {"mesh", "index into the scene's meshes, or into its height_fields", CAIRN_SCENE_WORD,
        .offset = offsetof(cairn_authored_shape, shape.mesh), UP_TO(CAIRN_MESHES_MAX - 1),
        .kinds = KIND(CAIRN_SHAPE_MESH) | KIND(CAIRN_SHAPE_HEIGHT_FIELD)},
    {"user", "a number for the rules", CAIRN_SCENE_WORD, SHAPE(user), UP_TO(UINT32_MAX)},
    {"name", "by which rules find it", CAIRN_SCENE_LABEL, SHAPE(name)},
    {"sensor", "no response and no mass, but events", CAIRN_SCENE_SWITCH,
        .offset = offsetof(cairn_authored_shape, sensor)},
    {"hit_events", "events of hits above the scene's hit_threshold", CAIRN_SCENE_SWITCH,
        .offset = offsetof(cairn_authored_shape, hit_events)},
    {"contact_events", "clients that interpolate are sent begins and ends", CAIRN_SCENE_SWITCH,
        .offset = offsetof(cairn_authored_shape, contact_events)},
    {"static_friction", "at least friction, or 0: the same", CAIRN_SCENE_FLOAT,
        SHAPE(static_friction), UP_TO(CAIRN_FRICTION_MAX)},
    {"rolling_resistance", "m", CAIRN_SCENE_FLOAT, SHAPE(rolling_resistance),
        UP_TO(CAIRN_RESISTANCE_MAX)},
    {"spin_resistance", "m", CAIRN_SCENE_FLOAT, SHAPE(spin_resistance),
        UP_TO(CAIRN_RESISTANCE_MAX)},
    {"friction_combine", "how the two frictions of a pair combine", CAIRN_SCENE_CHOICE,
        SHAPE(friction_combine), .words = combine_words},
    {"restitution_combine", "how the two restitutions of a pair combine", CAIRN_SCENE_CHOICE,
        SHAPE(restitution_combine), .words = combine_words},
    {"surface_velocity", "m/s, in the body's frame, as of a conveyor belt", CAIRN_SCENE_VEC3,
        SHAPE(surface_velocity), WITHIN(CAIRN_SPEED_MAX)},
};
const cairn_scene_object cairn_scene_object_shape = {
    "shape", shape_fields, COUNT(shape_fields), offsetof(cairn_authored_shape, shape.def.kind)};

#define BODY(member) .offset = offsetof(cairn_authored_body, body.def.member)

static const cairn_scene_field body_fields[] = {
    {"kind", "whether forces move it", CAIRN_SCENE_CHOICE, BODY(kind), .words = body_kinds},
    {"position", "m", CAIRN_SCENE_VEC3, BODY(position), WITHIN(CAIRN_DISTANCE_MAX)},
    ROTATION("", cairn_authored_body, rotation, 0),
    {"linear_velocity", "m/s", CAIRN_SCENE_VEC3, BODY(linear_velocity), WITHIN(CAIRN_SPEED_MAX)},
    {"angular_velocity", "rad/s", CAIRN_SCENE_VEC3, BODY(angular_velocity),
        WITHIN(CAIRN_SPEED_MAX)},
    {"linear_damping", "1/s", CAIRN_SCENE_FLOAT, BODY(linear_damping), UP_TO(CAIRN_DAMPING_MAX)},
    {"angular_damping", "1/s", CAIRN_SCENE_FLOAT, BODY(angular_damping), UP_TO(CAIRN_DAMPING_MAX)},
    {"gravity_scale", "how much of the scene's gravity acts on it", CAIRN_SCENE_FLOAT,
        BODY(gravity_scale), WITHIN(CAIRN_GRAVITY_SCALE_MAX)},
    {"allow_sleep", "it may fall asleep", CAIRN_SCENE_SWITCH, BODY(allow_sleep)},
    {"gyroscopic", "it keeps its angular momentum, so it may tumble", CAIRN_SCENE_SWITCH,
        BODY(gyroscopic)},
    {"bullet", "swept against moving bodies as well", CAIRN_SCENE_SWITCH, BODY(bullet)},
    {"locks", "bit set: 1, 2, 4 linear x, y, z; 8, 16, 32 angular; world axes", CAIRN_SCENE_WORD,
        BODY(locks), UP_TO(CAIRN_LOCKS_ALL)},
    {"disabled", "it takes no part until it is enabled", CAIRN_SCENE_SWITCH, BODY(disabled)},
    {"mass", "kg; 0: from the shapes", CAIRN_SCENE_FLOAT,
        .offset = offsetof(cairn_authored_body, body.mass), UP_TO(CAIRN_MASS_MAX),
        .kinds = KIND(CAIRN_BODY_DYNAMIC)},
    {"centre", "m, the centre of mass in the body's frame, if it has an inertia", CAIRN_SCENE_VEC3,
        .offset = offsetof(cairn_authored_body, body.centre), WITHIN(CAIRN_DISTANCE_MAX),
        .kinds = KIND(CAIRN_BODY_DYNAMIC)},
    {"inertia", "kg m^2 about the centre: xx, yy and zz; zeros: from the shapes", CAIRN_SCENE_VEC3,
        .offset = offsetof(cairn_authored_body, body.inertia), UP_TO(CAIRN_MASS_MAX),
        .kinds = KIND(CAIRN_BODY_DYNAMIC)},
    {"inertia_products", "kg m^2: xy, xz and yz of the inertia's matrix", CAIRN_SCENE_VEC3,
        .offset = offsetof(cairn_authored_body, body.inertia_products), WITHIN(CAIRN_MASS_MAX),
        .kinds = KIND(CAIRN_BODY_DYNAMIC)},
    {"name", "by which rules find it and its copies", CAIRN_SCENE_LABEL, BODY(name)},
    {"user", "a number for the rules", CAIRN_SCENE_WORD, BODY(user), UP_TO(UINT32_MAX)},
    GRID(cairn_authored_body, body.grid_count, body.grid_spacing),
    REPETITION(cairn_authored_body),
    {"shapes", "what it is made of", CAIRN_SCENE_OBJECTS, .elements = &cairn_scene_object_shape},
};
const cairn_scene_object cairn_scene_object_body = {
    "body", body_fields, COUNT(body_fields), offsetof(cairn_authored_body, body.def.kind)};

#define JOINT(member) .offset = offsetof(cairn_authored_joint, joint.def.member)
#define HAS_HERTZ                                                                                  \
    (KIND(CAIRN_JOINT_BALL) | KIND(CAIRN_JOINT_DISTANCE) | KIND(CAIRN_JOINT_HINGE) |               \
        KIND(CAIRN_JOINT_CONE) | KIND(CAIRN_JOINT_PRISMATIC) | KIND(CAIRN_JOINT_WELD) |            \
        KIND(CAIRN_JOINT_WHEEL) | KIND(CAIRN_JOINT_MOTOR) | KIND(CAIRN_JOINT_GEAR))
#define HAS_AXES (HAS_HERTZ & ~(KIND(CAIRN_JOINT_BALL) | KIND(CAIRN_JOINT_DISTANCE)))
#define HAS_TARGET (KIND(CAIRN_JOINT_HINGE) | KIND(CAIRN_JOINT_PRISMATIC) | KIND(CAIRN_JOINT_WHEEL))
#define HAS_SPIN (KIND(CAIRN_JOINT_BALL) | KIND(CAIRN_JOINT_CONE))
#define HAS_LIMITS (HAS_TARGET | KIND(CAIRN_JOINT_DISTANCE) | KIND(CAIRN_JOINT_CONE))
#define HAS_SPRING (HAS_LIMITS | KIND(CAIRN_JOINT_BALL))
#define HAS_ANCHORS (~(KIND(CAIRN_JOINT_GEAR) | KIND(CAIRN_JOINT_ROW)))
#define IS_PULLEY KIND(CAIRN_JOINT_PULLEY)
#define IS_WHEEL KIND(CAIRN_JOINT_WHEEL)
#define IS_MOTOR KIND(CAIRN_JOINT_MOTOR)
#define IS_ROW KIND(CAIRN_JOINT_ROW)
#define MAY_BE_ARTICULATED                                                                         \
    (HAS_SPIN | KIND(CAIRN_JOINT_HINGE) | KIND(CAIRN_JOINT_PRISMATIC) | KIND(CAIRN_JOINT_WELD))
#define NUMBER(name, kinds_, range, help)                                                          \
    { #name, help, CAIRN_SCENE_FLOAT, JOINT(name), range, .kinds = (kinds_) }
#define VECTOR(name, kinds_, range, help)                                                          \
    { #name, help, CAIRN_SCENE_VEC3, JOINT(name), range, .kinds = (kinds_) }
#define FLAG(name, kinds_, help)                                                                   \
    { #name, help, CAIRN_SCENE_SWITCH, JOINT(name), .kinds = (kinds_) }

static const cairn_scene_field joint_fields[] = {
    {"kind", "what it leaves free", CAIRN_SCENE_CHOICE, JOINT(kind), .words = joint_kinds},
    {"body_a", "index of a body; grids, lines and circles count with every copy", CAIRN_SCENE_WORD,
        .offset = offsetof(cairn_authored_joint, joint.body_a), UP_TO(CAIRN_BODIES_MAX - 1)},
    {"body_b", "index of a body; grids, lines and circles count with every copy", CAIRN_SCENE_WORD,
        .offset = offsetof(cairn_authored_joint, joint.body_b), UP_TO(CAIRN_BODIES_MAX - 1)},
    VECTOR(anchor_a, HAS_ANCHORS, WITHIN(CAIRN_SHAPE_SIZE_MAX), "m, in the frame of body a"),
    VECTOR(anchor_b, HAS_ANCHORS, WITHIN(CAIRN_SHAPE_SIZE_MAX), "m, in the frame of body b"),
    NUMBER(length, KIND(CAIRN_JOINT_DISTANCE) | IS_PULLEY, UP_TO(CAIRN_SHAPE_SIZE_MAX), "m"),
    FLAG(collide_connected, 0, "the two bodies collide with each other"),
    VECTOR(axis_a, HAS_AXES, WITHIN(1.1), "in the frame of body a, of length 1"),
    VECTOR(axis_b, HAS_AXES, WITHIN(1.1), "in the frame of body b, of length 1"),
    VECTOR(normal_a, HAS_AXES, WITHIN(1.1), "at right angles to axis_a: the zero of the angle"),
    VECTOR(normal_b, HAS_AXES, WITHIN(1.1), "at right angles to axis_b: the zero of the angle"),
    NUMBER(cone, KIND(CAIRN_JOINT_CONE), UP_TO(CAIRN_ANGLE_MAX),
        "rad, the largest angle between the axes"),
    NUMBER(lower, HAS_LIMITS, WITHIN(CAIRN_SHAPE_SIZE_MAX),
        "rad (hinge, cone) or m: the smallest position, if limited"),
    NUMBER(upper, HAS_LIMITS, WITHIN(CAIRN_SHAPE_SIZE_MAX),
        "rad (hinge, cone) or m: the largest position, if limited"),
    FLAG(limited, HAS_LIMITS, "the position stays in [lower, upper]"),
    FLAG(disabled, 0, "it exerts nothing until it is enabled"),
    NUMBER(hertz, HAS_HERTZ, UP_TO(CAIRN_HERTZ_MAX), "how firmly it holds; 0: as joint_hertz says"),
    NUMBER(damping, HAS_HERTZ, UP_TO(CAIRN_DAMPING_RATIO_MAX), "damping ratio of hertz"),
    FLAG(spring, HAS_SPRING, "a spring along the free position"),
    NUMBER(spring_hertz, HAS_SPRING, UP_TO(CAIRN_HERTZ_MAX), "Hz"),
    NUMBER(spring_damping, HAS_SPRING, UP_TO(CAIRN_DAMPING_RATIO_MAX), "damping ratio"),
    NUMBER(target, HAS_TARGET, WITHIN(CAIRN_SHAPE_SIZE_MAX), "rad (hinge) or m: the spring's rest"),
    VECTOR(target_position, IS_MOTOR, WITHIN(CAIRN_DISTANCE_MAX), "m, in the frame of body a"),
    ROTATION("target_", cairn_authored_joint, target_rotation, HAS_SPIN | IS_MOTOR),
    FLAG(motor, HAS_TARGET | HAS_SPIN, "drives the free velocity"),
    NUMBER(motor_speed, HAS_TARGET, WITHIN(CAIRN_SPEED_MAX), "rad/s, of a prismatic joint m/s"),
    VECTOR(motor_velocity, HAS_SPIN, WITHIN(CAIRN_SPEED_MAX), "rad/s, in the frame of body a"),
    NUMBER(motor_force, HAS_TARGET | HAS_SPIN | IS_MOTOR, UP_TO(CAIRN_FORCE_MAX),
        "N m, of prismatic and motor joints N"),
    NUMBER(motor_torque, IS_MOTOR, UP_TO(CAIRN_FORCE_MAX), "N m"),
    FLAG(steering, IS_WHEEL, "a spring turns the wheel about the suspension"),
    NUMBER(steering_hertz, IS_WHEEL, UP_TO(CAIRN_HERTZ_MAX), "Hz"),
    NUMBER(steering_damping, IS_WHEEL, UP_TO(CAIRN_DAMPING_RATIO_MAX), "damping ratio"),
    NUMBER(steering_target, IS_WHEEL, WITHIN(0.5f * CAIRN_ANGLE_MAX), "rad"),
    NUMBER(steering_torque, IS_WHEEL, UP_TO(CAIRN_FORCE_MAX), "N m"),
    NUMBER(ratio, KIND(CAIRN_JOINT_GEAR) | IS_PULLEY, WITHIN(CAIRN_ROW_MAX), "not 0"),
    VECTOR(fixed_a, IS_PULLEY, WITHIN(CAIRN_DISTANCE_MAX),
        "m, the point in the world from which the rope of body a hangs"),
    VECTOR(fixed_b, IS_PULLEY, WITHIN(CAIRN_DISTANCE_MAX),
        "m, the point in the world from which the rope of body b hangs"),
    {"row_linear_a", "world axes", CAIRN_SCENE_VEC3, JOINT(row.linear_a), WITHIN(CAIRN_ROW_MAX),
        .kinds = IS_ROW},
    {"row_angular_a", "world axes", CAIRN_SCENE_VEC3, JOINT(row.angular_a), WITHIN(CAIRN_ROW_MAX),
        .kinds = IS_ROW},
    {"row_linear_b", "world axes", CAIRN_SCENE_VEC3, JOINT(row.linear_b), WITHIN(CAIRN_ROW_MAX),
        .kinds = IS_ROW},
    {"row_angular_b", "world axes", CAIRN_SCENE_VEC3, JOINT(row.angular_b), WITHIN(CAIRN_ROW_MAX),
        .kinds = IS_ROW},
    {"row_lower", "N or N m", CAIRN_SCENE_FLOAT, JOINT(row.lower), WITHIN(CAIRN_FORCE_MAX),
        .kinds = IS_ROW},
    {"row_upper", "N or N m", CAIRN_SCENE_FLOAT, JOINT(row.upper), WITHIN(CAIRN_FORCE_MAX),
        .kinds = IS_ROW},
    {"row_velocity", "m/s or rad/s", CAIRN_SCENE_FLOAT, JOINT(row.velocity),
        WITHIN(CAIRN_SPEED_MAX), .kinds = IS_ROW},
    {"user", "a number for the rules", CAIRN_SCENE_WORD, JOINT(user), UP_TO(UINT32_MAX)},
    {"name", "by which rules find it", CAIRN_SCENE_LABEL, JOINT(name)},
    NUMBER(break_force, 0, FROM_TO(CAIRN_SETTING_MIN, CAIRN_FORCE_MAX),
        "N; a joint that has it or break_torque is breakable"),
    NUMBER(break_torque, 0, FROM_TO(CAIRN_SETTING_MIN, CAIRN_FORCE_MAX), "N m"),
    FLAG(articulated, MAY_BE_ARTICULATED, "body b hangs on body a in joint coordinates"),
    NUMBER(drive_stiffness, MAY_BE_ARTICULATED, UP_TO(CAIRN_FORCE_MAX),
        "N m/rad (prismatic: N/m) towards the target, if articulated"),
    NUMBER(drive_damping, MAY_BE_ARTICULATED, UP_TO(CAIRN_FORCE_MAX),
        "N m s/rad (prismatic: N s/m), if articulated"),
    VECTOR(drive_torque, MAY_BE_ARTICULATED, WITHIN(CAIRN_FORCE_MAX),
        "N m (prismatic: N) on body b, if articulated; x alone for one axis"),
    NUMBER(joint_friction, MAY_BE_ARTICULATED, UP_TO(CAIRN_FORCE_MAX),
        "N m (prismatic: N) of dry friction, if articulated"),
    NUMBER(armature, MAY_BE_ARTICULATED, UP_TO(CAIRN_MASS_MAX),
        "kg m^2 (prismatic: kg) of a rotor, if articulated"),
};
const cairn_scene_object cairn_scene_object_joint = {
    "joint", joint_fields, COUNT(joint_fields), offsetof(cairn_authored_joint, joint.def.kind)};

static const cairn_scene_field hull_fields[] = {
    {"points", "m; points that are not corners are dropped", CAIRN_SCENE_POINTS,
        WITHIN(CAIRN_SHAPE_SIZE_MAX), .required = true},
};
const cairn_scene_object cairn_scene_object_hull = {"hull", hull_fields, COUNT(hull_fields), 0};

static const cairn_scene_field mesh_fields[] = {
    {"vertices", "m", CAIRN_SCENE_POINTS, WITHIN(CAIRN_DISTANCE_MAX), .required = true},
    {"indices", "three for each triangle, counter-clockwise seen from its front", CAIRN_SCENE_WORDS,
        UP_TO(CAIRN_MESH_VERTICES_MAX - 1), .required = true},
};
const cairn_scene_object cairn_scene_object_mesh = {"mesh", mesh_fields, COUNT(mesh_fields), 0};

static const cairn_scene_field height_field_fields[] = {
    {"heights", "m; rows of `columns` heights, along x; 1e30 is a hole", CAIRN_SCENE_FLOATS,
        WITHIN(1e30), .required = true},
    {"columns", "heights in a row", CAIRN_SCENE_WORD,
        .offset = offsetof(cairn_scene_height_field, columns),
        FROM_TO(2, CAIRN_HEIGHT_FIELD_SIDE_MAX), .required = true},
    {"spacing_x", "m between columns", CAIRN_SCENE_FLOAT,
        .offset = offsetof(cairn_scene_height_field, spacing_x), UP_TO(CAIRN_SHAPE_SIZE_MAX)},
    {"spacing_z", "m between rows", CAIRN_SCENE_FLOAT,
        .offset = offsetof(cairn_scene_height_field, spacing_z), UP_TO(CAIRN_SHAPE_SIZE_MAX)},
};
const cairn_scene_object cairn_scene_object_height_field = {
    "height field", height_field_fields, COUNT(height_field_fields), 0};

static const cairn_scene_field prefab_fields[] = {
    {"name", "what instances name it by", CAIRN_SCENE_NAME,
        .offset = offsetof(cairn_authored_prefab, name), .required = true},
    {"bodies", "in the frame of the prefab", CAIRN_SCENE_OBJECTS,
        .elements = &cairn_scene_object_body},
    {"joints", "between bodies of the prefab, counted in it", CAIRN_SCENE_OBJECTS,
        .elements = &cairn_scene_object_joint},
};
const cairn_scene_object cairn_scene_object_prefab = {
    "prefab", prefab_fields, COUNT(prefab_fields), 0};

static const cairn_scene_field instance_fields[] = {
    {"prefab", "name of a prefab of the scene", CAIRN_SCENE_NAME,
        .offset = offsetof(cairn_authored_instance, prefab), .required = true},
    {"position", "m", CAIRN_SCENE_VEC3, .offset = offsetof(cairn_authored_instance, position),
        WITHIN(CAIRN_DISTANCE_MAX)},
    ROTATION("", cairn_authored_instance, rotation, 0),
    GRID(cairn_authored_instance, grid_count, grid_spacing),
    REPETITION(cairn_authored_instance),
};
const cairn_scene_object cairn_scene_object_instance = {
    "instance", instance_fields, COUNT(instance_fields), 0};

#define WORLD(member) .offset = offsetof(cairn_scene, world.member)
#define COUNTED(name, help)                                                                        \
    { #name, help, CAIRN_SCENE_WORD, WORLD(name) }
#define SETTING(name, help)                                                                        \
    { #name, help, CAIRN_SCENE_FLOAT, WORLD(name) }

// A row of a world's setting has no range of its own: cairn_scene_field_range.
static const cairn_scene_field scene_fields[] = {
    {"$schema", "for editors", .type = CAIRN_SCENE_IGNORED},
    {"name", "of the scene", CAIRN_SCENE_NAME, .offset = offsetof(cairn_scene, name),
        .required = true},
    {"rules", "the game's rules that run in it, such as sandbox; none if it is left out",
        CAIRN_SCENE_NAME, .offset = offsetof(cairn_scene, rules)},
    {"seed", "of the world's random numbers", CAIRN_SCENE_LONG, WORLD(seed),
        UP_TO(18446744073709551615.0)},
    COUNTED(body_capacity, "how many bodies fit"),
    COUNTED(shape_capacity, "how many shapes fit"),
    COUNTED(joint_capacity, "how many joints fit"),
    COUNTED(hull_capacity, "how many hulls fit"),
    COUNTED(mesh_capacity, "how many triangle meshes and height fields fit"),
    COUNTED(mesh_block_capacity, "blocks of 256 bytes for the data of meshes and height fields"),
    COUNTED(contact_capacity, "how many contacts fit"),
    COUNTED(event_capacity, "how many contact events of one step fit"),
    COUNTED(tick_rate_hz, "steps per second"),
    {"gravity", "m/s^2", CAIRN_SCENE_VEC3, WORLD(gravity)},
    {"solver", "see docs/PHYSICS.md", CAIRN_SCENE_CHOICE, WORLD(solver), .words = solver_words},
    COUNTED(substeps, "of the soft-step solver, in each step"),
    COUNTED(iterations, "of all solvers but soft step"),
    {"friction_model", "of all solvers but soft step", CAIRN_SCENE_CHOICE, WORLD(friction_model),
        .words = friction_words},
    {"warm_start", "start from the impulses of the last step", CAIRN_SCENE_SWITCH,
        WORLD(warm_start)},
    {"sleep", "bodies at rest fall asleep", CAIRN_SCENE_SWITCH, WORLD(sleep)},
    SETTING(baumgarte,
        "of all solvers but soft step: share of a penetration that is corrected in a step"),
    SETTING(slop, "m of penetration that is not corrected"),
    SETTING(contact_hertz, "stiffness of contacts"),
    SETTING(contact_damping, "damping ratio of contacts"),
    SETTING(joint_hertz, "stiffness of joints"),
    SETTING(joint_damping, "damping ratio of joints"),
    SETTING(restitution_threshold, "m/s; slower approaches do not bounce"),
    SETTING(hit_threshold, "m/s; slower approaches make no hit event"),
    SETTING(sleep_speed, "m/s; slower bodies may fall asleep"),
    SETTING(limit_damping, "1/s, of joints at their limits"),
    {"stop_rule", "of laboratory solvers", CAIRN_SCENE_CHOICE, WORLD(stop_rule),
        .words = stop_words},
    SETTING(stop_tolerance, "of the stop rule"),
    {"position_steps_per_m", "how fine snapshots carry places; 512 if it is left out",
        CAIRN_SCENE_WORD, .offset = offsetof(cairn_scene, position_steps_per_m),
        FROM_TO(1, CAIRN_POSITION_STEPS_PER_M_MAX)},
    {"rotation_bits", "of each component of a rotation in snapshots; 9 if it is left out",
        CAIRN_SCENE_WORD, .offset = offsetof(cairn_scene, rotation_bits),
        FROM_TO(CAIRN_ROTATION_BITS_MIN, CAIRN_ROTATION_BITS_MAX)},
    {"coded_together_max",
        "snapshots in which more bodies moved code each alone: longer, in a quarter of the time; "
        "256 if it is left out",
        CAIRN_SCENE_WORD, .offset = offsetof(cairn_scene, coded_together_max),
        FROM_TO(1, CAIRN_BODIES_MAX)},
    {"hulls", "that shapes name by index", CAIRN_SCENE_OBJECTS,
        .elements = &cairn_scene_object_hull},
    {"meshes", "that shapes name by index", CAIRN_SCENE_OBJECTS,
        .elements = &cairn_scene_object_mesh},
    {"height_fields", "that shapes name by index", CAIRN_SCENE_OBJECTS,
        .elements = &cairn_scene_object_height_field},
    {"prefabs", "named lists of bodies and joints", CAIRN_SCENE_OBJECTS,
        .elements = &cairn_scene_object_prefab},
    {"bodies", "the bodies, in the order of their indices", CAIRN_SCENE_OBJECTS,
        .elements = &cairn_scene_object_body},
    {"instances", "prefabs placed in the world; their bodies follow the scene's own",
        CAIRN_SCENE_OBJECTS, .elements = &cairn_scene_object_instance},
    {"joints", "between bodies, counted with every copy", CAIRN_SCENE_OBJECTS,
        .elements = &cairn_scene_object_joint},
};
const cairn_scene_object cairn_scene_object_scene = {"scene", scene_fields, COUNT(scene_fields), 0};

void cairn_scene_field_range(const cairn_scene_field *field, double *least, double *most) {
    *least = field->least;
    *most = field->most;
#define SCALAR(setting, initial, lower, upper)                                                     \
    if (strcmp(field->name, #setting) == 0) {                                                      \
        *least = (double)(lower);                                                                  \
        *most = (double)(upper);                                                                   \
    }
#define VEC3(setting, x, y, z, limit) SCALAR(setting, 0, -(limit), limit)
    if (field->least == 0.0 && field->most == 0.0) {
        CAIRN_WORLD_SETTINGS(SCALAR, SCALAR, VEC3)
    }
#undef SCALAR
#undef VEC3
}

static const cairn_scene_rotation no_rotation = {.quat = {.w = 1.0f}, .axis = {.y = 1.0f}};
static const cairn_scene_repetition no_repetition = {
    .line_count = 1, .circle_count = 1, .circle_axis = {.y = 1.0f}};

cairn_authored_shape cairn_authored_shape_default(void) {
    return (cairn_authored_shape){.rotation = no_rotation,
        .shape.def = {.kind = CAIRN_SHAPE_BOX,
            .half_extents = {.x = 0.5f, .y = 0.5f, .z = 0.5f},
            .radius = 0.5f,
            .half_height = 0.5f,
            .pose = {.rotation = {.w = 1.0f}},
            .density = 1000.0f,
            .friction = 0.5f,
            .category = 1,
            .mask = UINT32_MAX}};
}

cairn_authored_body cairn_authored_body_default(void) {
    return (cairn_authored_body){.rotation = no_rotation,
        .repeat = no_repetition,
        .body = {.grid_count = {1, 1, 1},
            .def = {.kind = CAIRN_BODY_DYNAMIC,
                .rotation = {.w = 1.0f},
                .gravity_scale = 1.0f,
                .allow_sleep = 1}}};
}

cairn_authored_joint cairn_authored_joint_default(void) {
    cairn_authored_joint out = {
        .target_rotation = no_rotation, .joint.def = cairn_joint_defaults()};
    // In a scene no rotation is the identity; in a def it may also be zeros.
    out.joint.def.target_rotation = (cairn_quat){.w = 1.0f};
    return out;
}

cairn_authored_instance cairn_authored_instance_default(void) {
    return (cairn_authored_instance){
        .rotation = no_rotation, .repeat = no_repetition, .grid_count = {1, 1, 1}};
}
