// SPDX-License-Identifier: MIT
#pragma once

// The vocabulary that every other header shares: vectors, ids, commands, kinds, limits and the
// settings of a world.
//
// Units everywhere: metres, kilograms, seconds, radians, newtons, newton seconds. Three dimensions,
// right handed, single precision. Ticks are counts, never times. The unit of a time is the last
// word of its name (`timeout_ns`).
//
// Pointers in all headers: a pointer must not be NULL unless a comment allows it; an array may be
// NULL if its count, size or capacity is 0. Functions assert this, and a failed assertion prints
// its place and aborts the process. Functions do not keep a pointer after they return unless a
// comment says so. Texts of type const char * that are returned are static unless a comment says
// otherwise.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/status.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------- geometry

typedef struct cairn_vec3 {
    float x, y, z;
} cairn_vec3;

typedef struct cairn_quat {
    float x, y, z, w;
} cairn_quat;

// A rotation followed by a translation.
typedef struct cairn_pose {
    cairn_vec3 position;
    cairn_quat rotation; // unit length
} cairn_pose;

// --------------------------------------------------------------------------------------- ids

// An id is the index of a slot plus a generation, equal on every machine; zero is null. The lowest
// free slot is taken first. Low 20 bits: index + 1. High 12 bits: generation, wraps.
typedef uint32_t cairn_body_id;
typedef uint32_t cairn_shape_id;
typedef uint32_t cairn_joint_id;
typedef uint32_t cairn_hull_id;
typedef uint32_t cairn_mesh_id; // of a triangle mesh or a height field

#define CAIRN_ID_NULL 0u
#define CAIRN_ID_INDEX_BITS 20
#define CAIRN_INDEX_NONE UINT32_MAX // the index of no slot

// CAIRN_INDEX_NONE for an id without an index, such as CAIRN_ID_NULL.
static inline uint32_t cairn_id_index(uint32_t id) {
    return (id & ((1u << CAIRN_ID_INDEX_BITS) - 1u)) - 1u;
}

static inline uint32_t cairn_id_generation(uint32_t id) {
    return id >> CAIRN_ID_INDEX_BITS;
}

#define CAIRN_TICK_NONE UINT64_MAX

#define CAIRN_NS_PER_S UINT64_C(1000000000)

// A name of a body, shape or joint, as worlds hold it: a 32-bit word. 0 for "", that is, without
// a name; otherwise the hash of the text (FNV-1a, Fowler, Noll, Vo), and 1 if that is 0. Several
// may have one name: then it is a tag.
uint32_t cairn_name_hash(const char *name);

// -------------------------------------------------------------------------------------- hash

// A 128-bit hash. Two peers compare the hashes of their worlds to find out whether they are equal.
typedef struct cairn_hash128 {
    uint64_t lo;
    uint64_t hi;
} cairn_hash128;

bool cairn_hash_equal(cairn_hash128 a, cairn_hash128 b);

// 32 lower-case hexadecimal digits (hi first) and a terminator. Returns `text`.
#define CAIRN_HASH_TEXT_SIZE 33
char *cairn_hash_print(cairn_hash128 hash, char text[CAIRN_HASH_TEXT_SIZE]);

// ----------------------------------------------------------------------------------- address

// Where a datagram came from or goes to. Plain bytes, so that no socket header is needed.
typedef enum cairn_address_family {
    CAIRN_ADDRESS_NONE = 0,
    CAIRN_ADDRESS_IPV4 = 1, // the numbers are netcode's address types on the wire
    CAIRN_ADDRESS_IPV6 = 2,
} cairn_address_family;

// No padding: addresses are compared as bytes.
typedef struct cairn_address {
    uint8_t family; // cairn_address_family
    uint8_t zero;   // always 0
    uint16_t port;  // host order
    uint8_t ip[16]; // network order; IPv4 uses the first four, the rest are 0
} cairn_address;

// "127.0.0.1:40000", "[::1]:40000"; at most this many characters with the terminator.
#define CAIRN_ADDRESS_TEXT_SIZE 56

bool cairn_address_equal(const cairn_address *a, const cairn_address *b);
// Parses dotted IPv4 or bracketed IPv6 with a port (IPv4 and IPv6 without a port get port 0).
// Strict: no host names, no leading zeros, no zone ids. False leaves *out as CAIRN_ADDRESS_NONE.
bool cairn_address_parse(const char *text, cairn_address *out);
// Writes the text form and a terminator; IPv6 in the form of RFC 5952. Returns `text`.
char *cairn_address_print(const cairn_address *address, char text[CAIRN_ADDRESS_TEXT_SIZE]);

// ------------------------------------------------------------------------------------ limits

#define CAIRN_TICK_RATE_HZ_MIN 10
#define CAIRN_TICK_RATE_HZ_MAX 240
#define CAIRN_TICK_RATE_HZ_DEFAULT 60

// Of steps (cairn_world_set_step_rate).
#define CAIRN_STEP_RATE_HZ_MIN 10.0f
#define CAIRN_STEP_RATE_HZ_MAX 10000.0f

// Players of one room.
#define CAIRN_SLOTS_MAX 256
// The slot of an operator's commands: one beyond the players.
#define CAIRN_SLOT_OPERATOR 256
// The slot of a client that plays in none: a spectator.
#define CAIRN_SLOT_NONE 65535u
// Clients of one server process: players and spectators of all rooms.
#define CAIRN_CLIENTS_MAX 1024
// Commands of one tick: each slot may join and send an input, players may send messages to the
// rules, and an operator may write as well.
#define CAIRN_COMMANDS_PER_TICK_MAX 1280
// Commands of one player's input.
#define CAIRN_INPUT_COMMANDS_MAX 3
// The largest message of a game, in either direction, bytes.
#define CAIRN_GAME_MESSAGE_SIZE_MAX 256

// The largest datagram that an endpoint sends or accepts (netcode 1.02), bytes.
#define CAIRN_DATAGRAM_SIZE_MAX 1300
// The largest encoded state of a world, bytes.
#define CAIRN_STATE_SIZE_MAX (64 * 1024 * 1024)

// Texts are printable ASCII. Names of rules, scenes and rooms, and texts for people, in characters
// without the terminator.
#define CAIRN_NAME_SIZE_MAX 31
#define CAIRN_TEXT_SIZE_MAX 255

// The largest capacities a world may be created with.
#define CAIRN_BODIES_MAX 131072
#define CAIRN_SHAPES_MAX 131072
#define CAIRN_JOINTS_MAX 65536
#define CAIRN_CONTACTS_MAX 1048576
#define CAIRN_EVENTS_MAX 1048576 // contact events of one step
#define CAIRN_HULLS_MAX 1024
#define CAIRN_MESHES_MAX 1024            // meshes and height fields
#define CAIRN_MESH_BLOCKS_MAX 65536      // of 256 bytes
#define CAIRN_RULES_STATE_SIZE_MAX 65536 // bytes
#define CAIRN_SHARED_SIZE_MAX 4096       // bytes of it that every client is sent

// Points that a convex hull may be made from, and vertices that it may have.
#define CAIRN_HULL_POINTS_MAX 128
#define CAIRN_HULL_VERTICES_MAX 128

// Vertices and triangles of a mesh, and samples along a side of a height field.
#define CAIRN_MESH_VERTICES_MAX 1000000
#define CAIRN_MESH_TRIANGLES_MAX 1000000
#define CAIRN_HEIGHT_FIELD_SIDE_MAX 2048
// The height of a sample that is a hole: the cells around it have no surface.
#define CAIRN_HEIGHT_HOLE 1e30f

// Ranges of what a caller sets.
#define CAIRN_DISTANCE_MAX 1e5f    // m, of each component of a position
#define CAIRN_SPEED_MAX 1e4f       // m/s and rad/s, of each component of a velocity
#define CAIRN_SHAPE_SIZE_MIN 1e-3f // m
#define CAIRN_SHAPE_SIZE_MAX 1e4f  // m
#define CAIRN_DENSITY_MAX 1e6f     // kg/m^3
#define CAIRN_MASS_MIN 1e-12f      // kg, of a mass that is set
#define CAIRN_MASS_MAX 1e18f       // kg
#define CAIRN_GRAVITY_MAX 1e4f     // m/s^2, of each component
#define CAIRN_FRICTION_MAX 1e3f
#define CAIRN_RESISTANCE_MAX 1e4f // m, of resistance to rolling and spinning
#define CAIRN_DAMPING_MAX 1e6f    // 1/s
#define CAIRN_GRAVITY_SCALE_MAX 1e6f
#define CAIRN_TURN_MAX 1e3f         // rad, of each component of a rotation vector
#define CAIRN_EXPLOSION_MAX 1e9f    // N s/m^2
#define CAIRN_ANGLE_MAX 3.14159265f // rad, of a joint's bounds
#define CAIRN_FORCE_MAX 1e12f       // N and N m, of a joint's bounds
#define CAIRN_ROW_MAX 1e4f          // of the components of a row, and of ratios

// ------------------------------------------------------------------------------------- kinds

typedef enum cairn_body_kind {
    CAIRN_BODY_STATIC = 0,    // never moves
    CAIRN_BODY_KINEMATIC = 1, // moves by its velocity, pushes, is not pushed
    CAIRN_BODY_DYNAMIC = 2,
} cairn_body_kind;

// Axes of the world along or about which a body does not move, as a bit set: whatever pushes it,
// the velocity along them stays 0. Locks of all three angular axes fix the rotation. A lock about
// one axis holds the angular velocity about that axis of the world, not of the body.
typedef enum cairn_body_locks {
    CAIRN_LOCK_LINEAR_X = 1u << 0,
    CAIRN_LOCK_LINEAR_Y = 1u << 1,
    CAIRN_LOCK_LINEAR_Z = 1u << 2,
    CAIRN_LOCK_ANGULAR_X = 1u << 3,
    CAIRN_LOCK_ANGULAR_Y = 1u << 4,
    CAIRN_LOCK_ANGULAR_Z = 1u << 5,
} cairn_body_locks;
#define CAIRN_LOCKS_ALL 0x3fu

typedef enum cairn_shape_kind {
    CAIRN_SHAPE_SPHERE = 1,     // radius
    CAIRN_SHAPE_CAPSULE = 2,    // radius, half_height between the sphere centres, along local y
    CAIRN_SHAPE_BOX = 3,        // half_extents
    CAIRN_SHAPE_HALF_SPACE = 4, // solid below the local plane y = 0; static bodies only
    CAIRN_SHAPE_HULL = 5,       // hull
    CAIRN_SHAPE_CYLINDER = 6,   // radius, half_height along local y
    // radius of the disc at y = -half_height, and the apex at y = +half_height
    CAIRN_SHAPE_CONE = 7,
    // Surfaces of triangles, which touch with their fronts; static and kinematic bodies only.
    CAIRN_SHAPE_MESH = 8,         // mesh
    CAIRN_SHAPE_HEIGHT_FIELD = 9, // mesh
} cairn_shape_kind;

// How the frictions, or the restitutions, of two shapes become those of their contact. In order of
// strength: the stronger mode of the two shapes holds.
typedef enum cairn_combine {
    CAIRN_COMBINE_USUAL = 0, // friction: the geometric mean; restitution: the larger one
    CAIRN_COMBINE_AVERAGE = 1,
    CAIRN_COMBINE_MINIMUM = 2,
    CAIRN_COMBINE_MULTIPLY = 3,
    CAIRN_COMBINE_MAXIMUM = 4,
    CAIRN_COMBINE_LAST = CAIRN_COMBINE_MAXIMUM
} cairn_combine;

// What a mesh id names (cairn/sim.h).
typedef enum cairn_mesh_kind {
    CAIRN_MESH_TRIANGLES = 1,
    CAIRN_MESH_HEIGHTS = 2, // a height field
} cairn_mesh_kind;

// Bits of a shape's flags.
enum {
    // The shape pushes nothing, has no mass, and rays and overlap queries pass through it. It makes
    // events when shapes of other bodies enter and leave it: of awake, sleeping, kinematic and
    // static bodies. Two sensors do not see each other.
    CAIRN_SHAPE_SENSOR = 1u << 0,
    // Contacts of this shape make hit events.
    CAIRN_SHAPE_HIT_EVENTS = 1u << 1,
    // Clients that interpolate are told when contacts of this shape begin and end. Everybody else
    // reads these events in the world, of all shapes.
    CAIRN_SHAPE_CONTACT_EVENTS = 1u << 2,
    // When this shape is destroyed, its hull is destroyed, too, unless another shape uses it.
    // Pieces
    // of a fracture (cairn/fracture.h) have it. It means nothing to shapes of other kinds.
    CAIRN_SHAPE_OWNS_HULL = 1u << 3,
    CAIRN_SHAPE_FLAGS = CAIRN_SHAPE_SENSOR | CAIRN_SHAPE_HIT_EVENTS | CAIRN_SHAPE_CONTACT_EVENTS |
                        CAIRN_SHAPE_OWNS_HULL, // all of them
};

typedef enum cairn_joint_kind {
    CAIRN_JOINT_BALL = 1,      // the two anchors coincide (block-solved, Catto 2006)
    CAIRN_JOINT_DISTANCE = 2,  // the two anchors stay `length` apart
    CAIRN_JOINT_HINGE = 3,     // a ball joint whose two axes stay together
    CAIRN_JOINT_CONE = 4,      // a ball joint whose two axes stay within `cone` of each other
    CAIRN_JOINT_PRISMATIC = 5, // b slides along axis_a through anchor a, and does not turn
    CAIRN_JOINT_WELD = 6,      // anchors and frames stay together
    // b is a wheel of the vehicle a: it slides along axis_a (the suspension), spins about axis_b,
    // and axis_b stays perpendicular to axis_a; straight ahead it is along normal_a.
    CAIRN_JOINT_WHEEL = 7,
    CAIRN_JOINT_MOTOR = 8,   // b is driven to a pose relative to a, with bounded force and torque
    CAIRN_JOINT_GEAR = 9,    // the spin of b about axis_b is -ratio times that of a about axis_a
    CAIRN_JOINT_PULLEY = 10, // a rope: fixed_a to anchor a, plus ratio times fixed_b to anchor b
    CAIRN_JOINT_ROW = 11,    // one bounded row that the game sets
} cairn_joint_kind;

// --------------------------------------------------------------------------------- snapshots

// How fine the poses in snapshots can be (cairn/server.h).
#define CAIRN_POSITION_STEPS_PER_M_MAX 10000u
#define CAIRN_ROTATION_BITS_MIN 7u
#define CAIRN_ROTATION_BITS_MAX 15u

// A body as it is sent to clients. No padding: it travels in this layout.
typedef struct cairn_snapshot_body {
    cairn_body_id id;
    uint32_t flags;      // CAIRN_SNAPSHOT_BODY_AWAKE and the others
    cairn_vec3 position; // of the body's origin
    cairn_quat rotation;
    cairn_vec3 linear_velocity; // of the centre of mass
    cairn_vec3 angular_velocity;
    uint32_t user;
} cairn_snapshot_body;

// Bits of cairn_snapshot_body.flags: awake, the cairn_body_kind, disabled, teleports modulo 8, and
// 0 or one more than the slot of the owner.
#define CAIRN_SNAPSHOT_BODY_AWAKE 1u
#define CAIRN_SNAPSHOT_BODY_KIND_SHIFT 1u
#define CAIRN_SNAPSHOT_BODY_KIND_MASK 3u
#define CAIRN_SNAPSHOT_BODY_DISABLED 8u
#define CAIRN_SNAPSHOT_BODY_TELEPORTS_SHIFT 4u
#define CAIRN_SNAPSHOT_BODY_TELEPORTS_MASK 7u
#define CAIRN_SNAPSHOT_BODY_OWNER_SHIFT 7u

// A shape as it is sent to clients: what is needed to draw it. No padding: it travels in this
// layout. The vertices of hulls and meshes are sent separately.
typedef struct cairn_snapshot_shape {
    cairn_shape_id id;
    cairn_body_id body;
    uint32_t kind; // cairn_shape_kind
    cairn_vec3 half_extents;
    float radius;
    float half_height;
    cairn_vec3 position; // in the body's frame
    cairn_quat rotation;
    cairn_mesh_id mesh; // mesh and height field, else 0
} cairn_snapshot_shape;

// ---------------------------------------------------------------------------------- commands

// A command changes a world from outside. The commands of one tick are sorted (cairn_commands_sort)
// before they are handed to the step; a recording is a start state and these.
typedef enum cairn_command_kind {
    CAIRN_COMMAND_JOIN = 1,  // a player takes `slot`
    CAIRN_COMMAND_LEAVE = 2, // the player of `slot` left
    CAIRN_COMMAND_INPUT = 3, // the input of the player of `slot` during this tick
    // Edits of an operator, in slot CAIRN_SLOT_OPERATOR. They are applied before the rules run, and
    // the rules do not see them. Spawned bodies are dynamic and at rest, of density 1000 kg/m^3 and
    // friction 0.5. The fields that a kind does not name are 0.
    CAIRN_COMMAND_SPAWN_BOX = 4,    // move: position, m; aim: half extents, m; buttons: user word
    CAIRN_COMMAND_SPAWN_SPHERE = 5, // move: position, m; aim.x: radius, m; buttons: user word
    CAIRN_COMMAND_DESTROY = 6,      // buttons: body id, here and in the kinds below
    CAIRN_COMMAND_SET_POSITION = 7, // move: position, m; the rotation stays
    CAIRN_COMMAND_SET_VELOCITY = 8, // move: linear, m/s; aim: angular, rad/s
    CAIRN_COMMAND_IMPULSE = 9,      // move: N s, at the centre of mass
    CAIRN_COMMAND_SET_BODY = 10,    // aim.x: cairn_body_property; see there
    CAIRN_COMMAND_FORCE = 11,       // move: N at the centre of mass; aim: N m; for one step
    CAIRN_COMMAND_FORCE_AT = 12,    // move: N; aim: the point, world; for one step
    CAIRN_COMMAND_IMPULSE_AT = 13,  // move: N s; aim: the point, world
    CAIRN_COMMAND_TURN = 14,        // move: angular impulse, N m s
    CAIRN_COMMAND_SET_TARGET = 15,  // move: position, m; aim: rotation vector, rad
    CAIRN_COMMAND_SET_GRAVITY = 16, // move: m/s^2; buttons: 0
    CAIRN_COMMAND_EXPLODE =
        17, // move: centre; aim: radius, falloff, impulse per area; buttons: mask
    CAIRN_COMMAND_SET_JOINT =
        18, // buttons: joint id; aim.x: cairn_joint_property; move: its values
    CAIRN_COMMAND_DESTROY_JOINT = 19, // buttons: joint id
    // Parts: they take effect with the first command after them that is not a part, which must be
    // of the kind named here and have no other parts than these.
    // Of SHAPE, a hull or a mesh; move, aim: two points, m; buttons: how many, 1 or 2
    CAIRN_COMMAND_HULL_POINTS = 20,
    CAIRN_COMMAND_SHAPE = 21, // of SPAWN; buttons: cairn_shape_kind; see below
    CAIRN_COMMAND_JOINT = 22, // of CREATE_JOINT; buttons: body a; move: its anchor; aim: axis
    CAIRN_COMMAND_SPAWN = 23, // move: position, m; buttons: user word
    CAIRN_COMMAND_CREATE_JOINT = 24, // buttons: body b; move: its anchor; aim: see below
    // What the host of the server tells the rules (cairn_rules.host): a hit, the result of a match.
    CAIRN_COMMAND_HOST = 25, // buttons, and finite floats: the rules give them a meaning
    // A piece of a player's message to the rules (cairn_rules.message, cairn_commands_of_message).
    // buttons: the player's slot, 256 * (bytes of the message - 1), 65536 * number of the piece;
    // move, aim: 18 bytes of it, three in each number, low byte first, zeros after the last one.
    CAIRN_COMMAND_MESSAGE = 26,
    // The second and third part of an input that rules declare (cairn_rules.input), in the slot and
    // with the sequence of its INPUT, if it has more than 22 bytes. Such an input has no buttons
    // and directions: buttons, move and aim are packed bits (cairn_input_read).
    CAIRN_COMMAND_INPUT_SECOND = 27,
    CAIRN_COMMAND_INPUT_THIRD = 28,
    // More edits of an operator.
    CAIRN_COMMAND_SET_SHAPE = 29, // buttons: shape id; as SET_BODY, see cairn_body_property
    CAIRN_COMMAND_SET_POSE = 30,  // buttons: body id; move: position, m; aim: rotation vector, rad
    CAIRN_COMMAND_INERTIA = 31,   // part of SET_MASS; move: xx, yy, zz; aim: xy, xz, yz, kg m^2
    CAIRN_COMMAND_SET_MASS = 32,  // buttons: body id; move: centre, m; aim.x: mass, kg
    // Parts of SHAPE. SHAPE_POSE comes directly before it.
    CAIRN_COMMAND_SHAPE_POSE = 33, // move: position in the body's frame; aim: rotation vector, rad
    CAIRN_COMMAND_TRIANGLES = 34,  // buttons: how many, 1 to 6; move, aim: i + 256 j + 65536 k each
    CAIRN_COMMAND_HEIGHTS = 35,    // buttons: how many, 1 to 6; move, aim: m, or CAIRN_HEIGHT_HOLE
    // Part of EXPLODE; buttons: categories of shapes of static bodies that shield what is behind
    // them. Without it nothing shields.
    CAIRN_COMMAND_SHIELD = 36,
    CAIRN_COMMAND_SEED = 37, // part of FRACTURE; buttons: its seed. Without it the seed is 0.
    // cairn_body_fracture (cairn/fracture.h). buttons: body id; move: the point; aim: pieces,
    // crowding, thickness_min
    CAIRN_COMMAND_FRACTURE = 38,
    CAIRN_COMMAND_LAST = CAIRN_COMMAND_FRACTURE
} cairn_command_kind;

// SHAPE: `move` is its size in m, of a box the half extents, of a sphere the radius (x), of a
// capsule, cylinder or cone the radius (x) and the half height (y), of a half-space, hull or mesh
// zeros, of a height field the spacing along x (x) and z (y) and the number of columns (z); `aim`
// is the body's rotation as a rotation vector, rad. A hull comes after its points, of which there
// are at most CAIRN_HULL_POINTS_MAX; a mesh after its vertices and triangles, at most
// CAIRN_EDIT_VERTICES_MAX and CAIRN_EDIT_TRIANGLES_MAX; a height field after its samples, row by
// row, at most CAIRN_EDIT_HEIGHTS_MAX. Larger ones are made by scenes and rules. Several shapes, at
// most CAIRN_EDIT_SHAPES_MAX, each after its parts, make a compound: only the last one, before the
// SPAWN, has a rotation. A body with a half-space, a mesh or a height field is static.
//
// CREATE_JOINT: aim.x is the cairn_joint_kind, aim.y the angle of a cone in rad, the ratio of a
// gear or pulley or the hertz of a motor joint, aim.z the force in N at which it breaks (0: it does
// not; CAIRN_BREAK_FORCE_ARTICULATED: it never opens, b hangs on a in joint coordinates). Anchors
// and axis are in the world, where the bodies are now. The axis is that of a hinge, cone, prismatic
// joint or gear; of a wheel its spin axis, the suspension being along the y axis of body a; of a
// pulley the way from an anchor to the point from which its rope hangs. A distance joint is as long
// as the anchors are apart. A row has no effect until SET_JOINT, which sets the rest, sets it.

#define CAIRN_BREAK_FORCE_ARTICULATED (-1.0f)
#define CAIRN_EDIT_SHAPES_MAX 32
#define CAIRN_EDIT_VERTICES_MAX 256
#define CAIRN_EDIT_TRIANGLES_MAX 512
#define CAIRN_EDIT_HEIGHTS_MAX 1024
#define CAIRN_FRACTURE_PIECES_MAX 64 // of one body (cairn/fracture.h)

// What CAIRN_COMMAND_SET_BODY sets; and CAIRN_COMMAND_SET_SHAPE, which takes those "of all its
// shapes" and USER. Numbers are in `move`, the words of USER, CATEGORY and MASK in
// aim.y (its low 16 bits) and aim.z (its high 16 bits). Components that a property does not name
// are 0.
typedef enum cairn_body_property {
    CAIRN_BODY_PROPERTY_KIND = 1,          // x: cairn_body_kind
    CAIRN_BODY_PROPERTY_MASS = 2,          // x: kg; 0: from its shapes
    CAIRN_BODY_PROPERTY_DAMPING = 3,       // x: linear, y: angular, 1/s
    CAIRN_BODY_PROPERTY_GRAVITY_SCALE = 4, // x
    CAIRN_BODY_PROPERTY_LOCKS = 5,         // x: cairn_body_locks
    CAIRN_BODY_PROPERTY_USER = 6,
    CAIRN_BODY_PROPERTY_AWAKE = 7,        // x: 0 or 1
    CAIRN_BODY_PROPERTY_ALLOW_SLEEP = 8,  // x: 0 or 1
    CAIRN_BODY_PROPERTY_ENABLED = 9,      // x: 0 or 1
    CAIRN_BODY_PROPERTY_CATEGORY = 10,    // of all its shapes
    CAIRN_BODY_PROPERTY_MASK = 11,        // of all its shapes
    CAIRN_BODY_PROPERTY_FRICTION = 12,    // x, of all its shapes
    CAIRN_BODY_PROPERTY_RESTITUTION = 13, // x, of all its shapes
    // Of all its shapes, as in cairn_material.
    CAIRN_BODY_PROPERTY_STATIC_FRICTION = 14,     // x
    CAIRN_BODY_PROPERTY_ROLLING_RESISTANCE = 15,  // x, m
    CAIRN_BODY_PROPERTY_SPIN_RESISTANCE = 16,     // x, m
    CAIRN_BODY_PROPERTY_FRICTION_COMBINE = 17,    // x: cairn_combine
    CAIRN_BODY_PROPERTY_RESTITUTION_COMBINE = 18, // x: cairn_combine
    CAIRN_BODY_PROPERTY_SURFACE_VELOCITY = 19,    // x, y, z, m/s
    CAIRN_BODY_PROPERTY_BULLET = 20,              // x: 0 or 1
    CAIRN_BODY_PROPERTY_GYROSCOPIC = 21,          // x: 0 or 1
    CAIRN_BODY_PROPERTY_OWNER = 22,               // x: a slot, or CAIRN_SLOT_NONE
    CAIRN_BODY_PROPERTY_DENSITY = 23,             // x, kg/m^3, of all its shapes
    CAIRN_BODY_PROPERTY_LAST = CAIRN_BODY_PROPERTY_DENSITY
} cairn_body_property;

// What CAIRN_COMMAND_SET_JOINT sets: fields of cairn_joint_def (cairn/joint.h), in its units. The
// words of USER and NAME are in aim.y (low 16 bits) and aim.z (high 16 bits); components that are
// not named are 0. The world refuses a property that joints of this kind do not have.
typedef enum cairn_joint_property {
    CAIRN_JOINT_PROPERTY_ENABLED = 1,        // x: 0 or 1
    CAIRN_JOINT_PROPERTY_MOTOR = 2,          // x: speed, y: force; turns it on
    CAIRN_JOINT_PROPERTY_TARGET = 3,         // x
    CAIRN_JOINT_PROPERTY_LIMITS = 4,         // x: lower, y: upper; turns them on
    CAIRN_JOINT_PROPERTY_SPRING = 5,         // x: hertz, 0 turns it off; y: damping ratio
    CAIRN_JOINT_PROPERTY_SOFTNESS = 6,       // x: hertz, y: damping ratio
    CAIRN_JOINT_PROPERTY_STEERING = 7,       // x: rad
    CAIRN_JOINT_PROPERTY_MOTOR_ON = 8,       // x: 0 or 1; without a force it is unbounded
    CAIRN_JOINT_PROPERTY_MOTOR_VELOCITY = 9, // x, y, z, rad/s, of ball and cone; turns it on
    // x: force, of a motor that is on; y: torque, of a motor joint
    CAIRN_JOINT_PROPERTY_MOTOR_FORCE = 10,
    CAIRN_JOINT_PROPERTY_TARGET_POSITION = 11, // x, y, z, m
    // x, y, z: a rotation vector, rad; of a spring that is on, a motor joint or an articulated one
    CAIRN_JOINT_PROPERTY_TARGET_ROTATION = 12,
    CAIRN_JOINT_PROPERTY_LIMITED = 13, // x: 0 or 1
    CAIRN_JOINT_PROPERTY_CONE = 14,    // x: rad
    // x: force, N; y: torque, N m; 0: it holds any. Both 0: it does not break.
    CAIRN_JOINT_PROPERTY_BREAK = 15,
    // x: hertz, 0: it does not steer; y: damping ratio; z: torque, N m
    CAIRN_JOINT_PROPERTY_STEERING_SPRING = 16,
    CAIRN_JOINT_PROPERTY_RATIO = 17,  // x
    CAIRN_JOINT_PROPERTY_LENGTH = 18, // x: m
    // Of articulated joints.
    CAIRN_JOINT_PROPERTY_DRIVE = 19,        // x: stiffness, y: damping
    CAIRN_JOINT_PROPERTY_DRIVE_TORQUE = 20, // x, y, z
    CAIRN_JOINT_PROPERTY_FRICTION = 21,     // x
    CAIRN_JOINT_PROPERTY_ARMATURE = 22,     // x
    // x, y, z, in the frame of that body. A normal turns with its axis.
    CAIRN_JOINT_PROPERTY_ANCHOR_A = 23, // m
    CAIRN_JOINT_PROPERTY_ANCHOR_B = 24,
    CAIRN_JOINT_PROPERTY_AXIS_A = 25,
    CAIRN_JOINT_PROPERTY_AXIS_B = 26,
    CAIRN_JOINT_PROPERTY_NORMAL_A = 27,
    CAIRN_JOINT_PROPERTY_NORMAL_B = 28,
    CAIRN_JOINT_PROPERTY_FIXED_A = 29, // x, y, z, m, in the world
    CAIRN_JOINT_PROPERTY_FIXED_B = 30,
    CAIRN_JOINT_PROPERTY_USER = 31,
    CAIRN_JOINT_PROPERTY_NAME = 32, // cairn_name_hash
    // Of a row, see cairn_joint_row: x, y, z.
    CAIRN_JOINT_PROPERTY_ROW_LINEAR_A = 33,
    CAIRN_JOINT_PROPERTY_ROW_ANGULAR_A = 34,
    CAIRN_JOINT_PROPERTY_ROW_LINEAR_B = 35,
    CAIRN_JOINT_PROPERTY_ROW_ANGULAR_B = 36,
    CAIRN_JOINT_PROPERTY_ROW_BOUNDS = 37, // x: lower, y: upper, N; z: velocity
    CAIRN_JOINT_PROPERTY_LAST = CAIRN_JOINT_PROPERTY_ROW_BOUNDS
} cairn_joint_property;

// No padding: commands are copied and compared as bytes, and travel in this layout.
typedef struct cairn_command {
    uint32_t kind;     // cairn_command_kind
    uint32_t slot;     // 0 .. CAIRN_SLOTS_MAX - 1; of an edit CAIRN_SLOT_OPERATOR
    uint32_t sequence; // orders commands of one slot within one tick
    // Of JOIN, LEAVE and INPUT; the rules give them a meaning.
    uint32_t buttons; // bit set
    cairn_vec3 move;  // finite, each component in [-1, 1]
    cairn_vec3 aim;   // finite, each component in [-1, 1]
} cairn_command;

// A field of an input that rules declare (cairn/rules.h). The input is `input_size` bytes: a struct
// of 32-bit members, one for each field. Each field is rounded as declared before it is used
// anywhere, so that the player's own prediction and the server use the same value.
typedef enum cairn_input_kind {
    CAIRN_INPUT_BITS = 1, // uint32_t below 2^bits, 1 to 32 bits; lower and upper are 0
    // float; the nearest of 2^bits - 1 values from lower to upper, 2 to 24 bits. The middle of a
    // symmetric range is exactly 0
    CAIRN_INPUT_FLOAT = 2,
} cairn_input_kind;

typedef struct cairn_input_field {
    uint32_t kind; // cairn_input_kind
    uint32_t bits; // on the wire
    float lower;   // of CAIRN_INPUT_FLOAT, within 1e30
    float upper;
} cairn_input_field;

#define CAIRN_INPUT_SIZE_MAX 64 // bytes
#define CAIRN_INPUT_FIELDS_MAX 16

// Checks a command from outside before it enters a world: a known kind in a slot that may send it,
// floats finite and in range; the ranges of edits are those of body and shape defs. Whether a body
// exists is not checked here: a world skips and counts the edits that it cannot apply. CAIRN_OK,
// CAIRN_INVALID_ARGUMENT or CAIRN_NON_FINITE.
cairn_status cairn_command_check(const cairn_command *command);

// Whether `a` comes before `b` in the total order of commands: (slot, kind, sequence, then the bits
// of every remaining field); in the operator's slot (slot, sequence, kind, ...).
bool cairn_command_before(const cairn_command *a, const cairn_command *b);
// Sorts in place, stable.
void cairn_commands_sort(cairn_command *commands, uint32_t count);

// Writes the message of the player in `slot` (size 1 .. CAIRN_GAME_MESSAGE_SIZE_MAX) as commands of
// slot CAIRN_SLOT_OPERATOR with sequences from `sequence` on. Returns how many. For worlds that a
// host steps itself; a server makes them from what clients send.
#define CAIRN_MESSAGE_COMMANDS_MAX 15
uint32_t cairn_commands_of_message(uint32_t slot, const uint8_t *bytes, uint32_t size,
    uint32_t sequence, cairn_command out[CAIRN_MESSAGE_COMMANDS_MAX]);

// Keyed hash of the sorted commands of one tick; peers compare it before they compare state hashes.
cairn_hash128 cairn_commands_digest(uint64_t tick, const cairn_command *commands, uint32_t count);

// ---------------------------------------------------------------------------- world settings

typedef struct cairn_world cairn_world;
struct cairn_rules; // cairn/rules.h

typedef enum cairn_friction_model {
    CAIRN_FRICTION_COULOMB = 0,  // |friction impulse| <= mu * accumulated normal impulse
    CAIRN_FRICTION_CONSTANT = 1, // |friction force| <= mu * m_c * g: Catto 2005, section 6.3
    // Only with a laboratory solver. Each of the two directions of friction at a point by itself:
    // |friction impulse| <= mu * normal impulse.
    CAIRN_FRICTION_PYRAMID = 2,
    // Only with a laboratory solver. Coulomb's cone as a convex problem (Anitescu and Hart 2004):
    // what slides at a speed v also parts at mu * v, until the gap is mu * v * h.
    CAIRN_FRICTION_CONE = 3,
} cairn_friction_model;

// When a laboratory solver stops (Catto 2005, section 7.1), at the latest after `iterations`.
typedef enum cairn_stop_rule {
    CAIRN_STOP_COUNT = 0,    // after `iterations`
    CAIRN_STOP_RESIDUAL = 1, // the residual is at most `stop_tolerance`, m/s (cairn/measure.h)
    CAIRN_STOP_CHANGE = 2,   // no impulse changes by more than `stop_tolerance`, N s
    CAIRN_STOP_PROGRESS = 3, // none changes by more than this fraction of its last change
} cairn_stop_rule;

// The algorithm that computes the impulses of a step.
// What cairn_contact_event (cairn/sim.h) reports. The kinds of cairn_client_event (cairn/client.h)
// begin with these.
typedef enum cairn_contact_event_kind {
    CAIRN_CONTACT_BEGIN = 1, // the gap is now at most 1 cm
    CAIRN_CONTACT_END = 2,
    // The shapes met at hit_threshold or faster, whether their contact is new or not. Only if one
    // of them has CAIRN_SHAPE_HIT_EVENTS.
    CAIRN_CONTACT_HIT = 3,
    // shape_b overlaps the sensor shape_a, or no longer does.
    CAIRN_SENSOR_BEGIN = 4,
    CAIRN_SENSOR_END = 5,
} cairn_contact_event_kind;

// A joint broke: a kind of cairn_client_event only. The world has cairn_world_joint_events.
#define CAIRN_CLIENT_JOINT_BROKE 6u

typedef enum cairn_solver {
    // Soft constraints in substeps. A relaxation pass after each substep removes the velocity that
    // the position correction added: stiff without added energy. Vectorised. The default.
    CAIRN_SOLVER_SOFT_STEP = 0,
    // Projected Gauss-Seidel (PGS, Catto 2005): iterations over constraint rows with Baumgarte
    // stabilisation and friction at each point. For the results of that paper. This solver and the
    // following ones read friction_model, iterations and baumgarte.
    CAIRN_SOLVER_PGS = 1,
    // The laboratory (docs/PHYSICS.md): the rows of PGS, solved in double precision by one of
    // these. Slow; for experiments and as references.
    // Exactly, by Lemke's algorithm, in systems of up to some hundred rows that touch each other.
    // Others are left to CAIRN_SOLVER_PSOR and counted in solver_fallbacks.
    CAIRN_SOLVER_DIRECT = 2,
    CAIRN_SOLVER_PSOR = 3,     // projected Gauss-Seidel with stop rules; trials can over-relax it
    CAIRN_SOLVER_SPLIT = 4,    // mass splitting (Tonge 2012), all contacts at the same time
    CAIRN_SOLVER_GRADIENT = 5, // projected gradient descent
    CAIRN_SOLVER_MPRGP = 6,    // conjugate gradients with proportioning (Dostal 2005)
    CAIRN_SOLVER_APGD = 7,     // accelerated gradients (Nesterov 1983, Mazhar 2015)
    CAIRN_SOLVER_PSSOR = 8,    // PSOR with every second sweep in reverse
} cairn_solver;

// What a world is created with. base/world_settings.h lists each setting once with its type,
// default and range; docs/PHYSICS.md shows the list.
typedef struct cairn_world_def {
    uint32_t body_capacity;  // 1 .. CAIRN_BODIES_MAX
    uint32_t shape_capacity; // 1 .. CAIRN_SHAPES_MAX
    uint32_t joint_capacity; // 0 .. CAIRN_JOINTS_MAX
    uint32_t hull_capacity;  // 0 .. CAIRN_HULLS_MAX
    uint32_t mesh_capacity;  // meshes and height fields; 0 .. CAIRN_MESHES_MAX
    // Blocks of 256 bytes for their data (cairn_mesh_blocks, cairn_height_field_blocks).
    uint32_t mesh_block_capacity; // 0 .. CAIRN_MESH_BLOCKS_MAX
    uint32_t contact_capacity;    // touching shape pairs; 1 .. CAIRN_CONTACTS_MAX
    uint32_t event_capacity;      // contact events of one step; 0 .. CAIRN_EVENTS_MAX
    uint32_t tick_rate_hz;        // CAIRN_TICK_RATE_HZ_MIN .. _MAX; a step is exactly 1.0f / this
    cairn_vec3 gravity;           // m/s^2
    uint32_t solver;              // cairn_solver
    uint32_t substeps;            // of CAIRN_SOLVER_SOFT_STEP, 1 .. 64
    uint32_t iterations;          // of all solvers but soft step, 1 .. 255
    uint32_t friction_model;      // cairn_friction_model
    uint32_t warm_start;          // 0 or 1: start from the impulses of the contact cache
    uint32_t sleep;               // 0 or 1: islands at rest fall asleep
    float baumgarte;       // beta * dt, the fraction of position error removed per step, (0, 1]
    float slop;            // m, penetration that is not corrected
    float contact_hertz;   // stiffness of contacts, (0, 1000]; at most a quarter of the substep
                           // rate is used
    float contact_damping; // damping ratio of contacts, [0, 100]
    float joint_hertz;     // stiffness of joints, (0, 1000]
    float joint_damping;   // damping ratio of joints, [0, 100]
    float restitution_threshold; // m/s, slower approaches do not bounce
    float hit_threshold;         // m/s, slower approaches make no hit event
    float sleep_speed;           // m/s: an island falls asleep when for half a second all points
                                 // of its bodies were slower, or stayed where they are
    float limit_damping;  // 1/s, how fast cones and hinges with limits lose their rotation (slow
                          // rotation up to ten times as fast) while a limit holds them, a contact
                          // pushes what they connect, or they turn at more than 6 rad/s
    uint32_t stop_rule;   // cairn_stop_rule, of the laboratory solvers
    float stop_tolerance; // of the stop rule
    uint64_t seed;        // cairn_random_at's first argument, for rules
    const struct cairn_rules *rules; // NULL: none. Must outlive the world
} cairn_world_def;

// The default of each setting and no rules. Change fields, then create.
cairn_world_def cairn_world_def_default(void);

#ifdef __cplusplus
}
#endif
