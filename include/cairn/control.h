// SPDX-License-Identifier: MIT
#pragma once

// Requests of an operator to a server, the server's answers, and the functions of a client that
// sends requests. An operator pauses, steps, seeks and forks rooms, edits their worlds and queries
// them. docs/PROTOCOL.md, Control, says what each verb does. The client's token must have the
// operator's right, and the server must have been started with --control; otherwise every answer is
// a refusal that says so.
//
// Requests are sent in order and each is answered once, with its number. A step and a run-until are
// answered when the room has run; requests sent after them may be answered earlier. There is no
// time-out here: a host that has waited long enough for an answer disconnects.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/control_requests.h>
#include <cairn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// The numbers are those of the protocol. cairn_control_verb_text returns the names of the command
// line: "pause", "run-until".
typedef enum cairn_control_verb {
    CAIRN_CONTROL_FEATURES = 1,
    CAIRN_CONTROL_ROOMS = 2,
    CAIRN_CONTROL_STATE = 3,
    CAIRN_CONTROL_CLIENTS = 4,
    CAIRN_CONTROL_PAUSE = 5,
    CAIRN_CONTROL_RESUME = 6,
    CAIRN_CONTROL_STEP = 7,
    CAIRN_CONTROL_RUN_UNTIL = 8,
    CAIRN_CONTROL_RATE = 9,
    CAIRN_CONTROL_RESET = 10,
    CAIRN_CONTROL_SAVE = 11,
    CAIRN_CONTROL_LOAD = 12,
    CAIRN_CONTROL_SAVES = 13,
    CAIRN_CONTROL_SAVE_READ = 14,
    CAIRN_CONTROL_SAVE_WRITE = 15,
    CAIRN_CONTROL_SAVE_DELETE = 16,
    CAIRN_CONTROL_SEEK = 17,
    CAIRN_CONTROL_FORK = 18,
    CAIRN_CONTROL_ROOM_CREATE = 19,
    CAIRN_CONTROL_ROOM_DESTROY = 20,
    CAIRN_CONTROL_SPAWN_BOX = 21,
    CAIRN_CONTROL_SPAWN_SPHERE = 22,
    CAIRN_CONTROL_DELETE = 23,
    CAIRN_CONTROL_SET_POSITION = 24,
    CAIRN_CONTROL_SET_VELOCITY = 25,
    CAIRN_CONTROL_IMPULSE = 26,
    CAIRN_CONTROL_GET = 27,
    CAIRN_CONTROL_BODIES = 28,
    CAIRN_CONTROL_RAY = 29,
    CAIRN_CONTROL_OVERLAP = 30,
    CAIRN_CONTROL_HASH = 31,
    CAIRN_CONTROL_DIFF = 32,
    CAIRN_CONTROL_FAULTS = 33,
    CAIRN_CONTROL_SET_BODY = 34,
    CAIRN_CONTROL_PUSH = 35,
    CAIRN_CONTROL_SET_TARGET = 36,
    CAIRN_CONTROL_SET_GRAVITY = 37,
    CAIRN_CONTROL_EXPLODE = 38,
    CAIRN_CONTROL_JOINTS = 39,
    CAIRN_CONTROL_SET_JOINT = 40,
    CAIRN_CONTROL_DELETE_JOINT = 41,
    CAIRN_CONTROL_CAST = 42,
    CAIRN_CONTROL_CLOSEST = 43,
    CAIRN_CONTROL_SPAWN = 44,
    CAIRN_CONTROL_CREATE_JOINT = 45,
    CAIRN_CONTROL_ACT = 46,
    CAIRN_CONTROL_GET_JOINT = 47,
    CAIRN_CONTROL_SET_ROW = 48,
    CAIRN_CONTROL_SET_POSE = 49,
    CAIRN_CONTROL_SET_MASS = 50,
    CAIRN_CONTROL_SET_SHAPE = 51,
    CAIRN_CONTROL_GET_BODY = 52,
    CAIRN_CONTROL_SHAPES = 53,
    CAIRN_CONTROL_SPAWN_COMPOUND = 54,
    CAIRN_CONTROL_SPAWN_MESH = 55,
    CAIRN_CONTROL_SPAWN_HEIGHT_FIELD = 56,
    CAIRN_CONTROL_FRACTURE = 57,
    CAIRN_CONTROL_VERB_COUNT
} cairn_control_verb;

typedef enum cairn_control_refusal {
    CAIRN_CONTROL_DONE = 0,
    CAIRN_CONTROL_NO_RIGHT = 1,
    CAIRN_CONTROL_CLOSED = 2,       // the server was started without control
    CAIRN_CONTROL_VERB_UNKNOWN = 3, // this version of the server does not have it
    CAIRN_CONTROL_ROOM_UNKNOWN = 4,
    CAIRN_CONTROL_BODY_UNKNOWN = 5,
    CAIRN_CONTROL_NAME_UNKNOWN = 6, // of a save, a scene or a client
    CAIRN_CONTROL_OUT_OF_RANGE = 7,
    CAIRN_CONTROL_TICK_GONE = 8, // no longer held, or not stepped yet
    CAIRN_CONTROL_FOREIGN = 9,   // not a state of this simulation, these rules and settings
    CAIRN_CONTROL_CAPACITY = 10, // bodies, saves, rooms, edits of one tick, memory
    CAIRN_CONTROL_NOT_PAUSED = 11,
    CAIRN_CONTROL_BUSY = 12,       // another request makes the room run, or too many requests wait
    CAIRN_CONTROL_NAME_TAKEN = 13, // or not a valid name
    CAIRN_CONTROL_NOT_RECORDED = 14, // the server keeps no such recording
    CAIRN_CONTROL_ROOM_CLOSED = 15,  // before the room had run
    CAIRN_CONTROL_REFUSAL_COUNT
} cairn_control_refusal;

// NULL if there is no such verb.
const char *cairn_control_verb_text(uint32_t verb);
// 0 if no verb has this text.
uint32_t cairn_control_verb_find(const char *text);
// A lower-case phrase, never NULL.
const char *cairn_control_refusal_text(uint32_t refusal);

// ---------------------------------------------------------------------------------- requests

// A request. Verbs without a member in the union take no arguments.
typedef struct cairn_control_request {
    uint32_t number;  // repeated in the answer; cairn_client_ask chooses it
    uint32_t verb;    // cairn_control_verb
    const char *room; // "": the client's own
    union {
        cairn_control_step_request step;
        cairn_control_run_until_request run_until;
        cairn_control_rate_request rate;
        cairn_control_reset_request reset;
        cairn_control_save_request save;
        cairn_control_load_request load;
        cairn_control_save_read_request save_read;
        cairn_control_save_write_request save_write;
        cairn_control_save_delete_request save_delete;
        cairn_control_seek_request seek;
        cairn_control_fork_request fork;
        cairn_control_room_create_request room_create;
        cairn_control_spawn_box_request spawn_box;
        cairn_control_spawn_sphere_request spawn_sphere;
        cairn_control_spawn_request spawn;
        cairn_control_delete_request delete_body;
        cairn_control_set_position_request set_position;
        cairn_control_set_velocity_request set_velocity;
        cairn_control_impulse_request impulse;
        cairn_control_get_request get;
        cairn_control_bodies_request bodies;
        cairn_control_ray_request ray;
        cairn_control_overlap_request overlap;
        cairn_control_diff_request diff;
        cairn_control_faults_request faults;
        cairn_control_set_body_request set_body;
        cairn_control_push_request push;
        cairn_control_set_target_request set_target;
        cairn_control_set_gravity_request set_gravity;
        cairn_control_explode_request explode;
        cairn_control_joints_request joints;
        cairn_control_set_joint_request set_joint;
        cairn_control_delete_joint_request delete_joint;
        cairn_control_create_joint_request create_joint;
        cairn_control_act_request act;
        cairn_control_cast_request cast;
        cairn_control_closest_request closest;
        cairn_control_get_joint_request get_joint;
        cairn_control_set_row_request set_row;
        cairn_control_set_pose_request set_pose;
        cairn_control_set_mass_request set_mass;
        cairn_control_set_shape_request set_shape;
        cairn_control_get_body_request get_body;
        cairn_control_shapes_request shapes;
        cairn_control_spawn_compound_request spawn_compound;
        cairn_control_spawn_mesh_request spawn_mesh;
        cairn_control_spawn_height_field_request spawn_height_field;
        cairn_control_fracture_request fracture;
    };
} cairn_control_request;

// ----------------------------------------------------------------------------------- answers

// The elements of lists are sent in this layout, without padding.

typedef struct cairn_control_body {
    cairn_body_id id;
    uint32_t kind;  // cairn_body_kind
    uint32_t awake; // 0 or 1
    uint32_t user;  // the word that the body was created with
    cairn_vec3 position;
    cairn_quat rotation;
    cairn_vec3 linear_velocity;
    cairn_vec3 angular_velocity;
} cairn_control_body;

typedef struct cairn_control_feature {
    uint32_t verb;
    uint32_t writes; // 1: changes a room or the server, 0: only reads
    char name[CAIRN_NAME_SIZE_MAX + 1];
} cairn_control_feature;

typedef struct cairn_control_room {
    uint64_t tick;
    char name[CAIRN_NAME_SIZE_MAX + 1];
} cairn_control_room;

typedef struct cairn_control_saved {
    uint64_t size; // bytes
    char name[CAIRN_NAME_SIZE_MAX + 1];
} cairn_control_saved;

typedef struct cairn_control_client {
    uint64_t client_id;
    uint64_t rtt_us;
    uint32_t mode; // 0 interpolate, 1 lockstep, 2 predict, 3 heal
    uint32_t slot; // CAIRN_SLOT_NONE for a spectator
    uint32_t inputs_late;
    uint32_t rights; // 1: an operator
} cairn_control_client;

typedef struct cairn_control_shape {
    cairn_body_id body;
    cairn_shape_id shape;
} cairn_control_shape;

// A shape as it is, in the terms and units of cairn_shape_def.
typedef struct cairn_control_shape_state {
    cairn_shape_id id;
    cairn_body_id body;
    uint32_t kind; // cairn_shape_kind
    uint32_t user;
    uint32_t name;
    uint32_t category;
    uint32_t mask;
    uint32_t flags;
    cairn_hull_id hull;
    cairn_mesh_id mesh;
    cairn_vec3 half_extents;
    float radius;
    float half_height;
    cairn_vec3 position; // in the body's frame
    cairn_quat rotation;
    float density;
    float friction;
    float static_friction;
    float rolling_resistance;
    float spin_resistance;
    float restitution;
    uint32_t friction_combine;
    uint32_t restitution_combine;
    cairn_vec3 surface_velocity;
} cairn_control_shape_state;

typedef struct cairn_control_joint {
    cairn_joint_id id;
    uint32_t kind; // cairn_joint_kind
    cairn_body_id body_a;
    cairn_body_id body_b;
    uint32_t disabled; // 0 or 1
    float position;    // cairn_joint_travel; 0 of kinds that have none
    float velocity;
    cairn_vec3 force; // cairn_joint_reaction
    cairn_vec3 torque;
} cairn_control_joint;

typedef struct cairn_control_section {
    cairn_hash128 hash;
    char name[CAIRN_NAME_SIZE_MAX + 1];
} cairn_control_section;

typedef struct cairn_control_difference {
    uint32_t element;
    uint32_t bits_here; // in the room that was asked
    uint32_t bits_other;
    char section[CAIRN_NAME_SIZE_MAX + 1];
    char field[CAIRN_NAME_SIZE_MAX + 1];
} cairn_control_difference;

typedef struct cairn_control_features_answer {
    uint32_t protocol_version;
    uint32_t sim_version;
    uint32_t rooms_max;
    uint32_t clients_max;
    uint32_t edits_per_tick_max;
    const cairn_control_feature *verbs;
    uint32_t verb_count;
} cairn_control_features_answer;

typedef struct cairn_control_rooms_answer {
    const cairn_control_room *rooms;
    uint32_t room_count; // at most CAIRN_CONTROL_ROOMS_MAX
} cairn_control_rooms_answer;

typedef struct cairn_control_state_answer {
    const char *scene;
    const char *rules;
    bool paused;
    uint32_t tick_rate_hz;
    uint32_t speed_thousandths; // of real time; 0: as fast as possible
    uint64_t seed;
    uint32_t edits_refused;
    uint32_t creates_refused;
    uint32_t bodies_disabled; // their state is not finite
    uint64_t clients;
    uint64_t players;
    uint64_t bodies;
    uint64_t bodies_awake;
    uint64_t ticks_skipped;
    uint64_t tick_cost_ns_p50;
    uint64_t tick_cost_ns_p99;
    uint64_t tick_cost_ns_max;
    uint64_t tick_lateness_ns_p99;
    uint64_t inputs_taken;
    uint64_t inputs_late;
    uint64_t roots_compared;
    uint64_t roots_differed;
    uint64_t recording_bytes;
} cairn_control_state_answer;

typedef struct cairn_control_clients_answer {
    const cairn_control_client *clients;
    uint32_t client_count;
} cairn_control_clients_answer;

// Of step and run-until.
typedef struct cairn_control_run_answer {
    uint32_t tick_count; // that the room has run
} cairn_control_run_answer;

typedef struct cairn_control_number {
    float value;
} cairn_control_number;

// The numbers of each observed body one after the other, in the order of the bits of
// cairn_observed_field. A body that does not exist has zeros.
typedef struct cairn_control_act_answer {
    uint32_t tick_count; // that the room has run
    uint32_t body_count; // rows
    const cairn_control_number *numbers;
    uint32_t number_count;
} cairn_control_act_answer;

typedef struct cairn_control_save_answer {
    uint32_t size; // bytes
} cairn_control_save_answer;

typedef struct cairn_control_saves_answer {
    const cairn_control_saved *saves;
    uint32_t save_count; // at most CAIRN_CONTROL_SAVES_MAX
} cairn_control_saves_answer;

typedef struct cairn_control_save_read_answer {
    uint32_t size;      // of the complete save, bytes
    uint64_t players;   // bit set of the slots below 64 that have a player in the saved world
    uint64_t players_1; // the same of slots 64 to 127
    uint64_t players_2;
    uint64_t players_3;
    const uint8_t *bytes; // from the offset on, at most CAIRN_CONTROL_READ_SIZE_MAX
    uint32_t byte_count;
} cairn_control_save_read_answer;

typedef struct cairn_control_save_write_answer {
    uint32_t received_size; // bytes that the server has
} cairn_control_save_write_answer;

// Of the verbs that change a body or a joint; the change takes effect with the room's next step.
typedef struct cairn_control_edit_answer {
    cairn_body_id body;   // null if the verb is about a joint or the world
    cairn_joint_id joint; // that create-joint makes, otherwise null
} cairn_control_edit_answer;

typedef struct cairn_control_get_answer {
    cairn_control_body body;
} cairn_control_get_answer;

// A body as it is: its state, what cairn_body_def says beside it, and its mass.
typedef struct cairn_control_get_body_answer {
    cairn_control_body body;
    bool enabled;
    bool allow_sleep;
    bool gyroscopic;
    bool bullet;
    uint32_t owner; // a slot, or CAIRN_SLOT_NONE
    uint32_t name;
    uint32_t locks; // cairn_body_locks
    float linear_damping;
    float angular_damping;
    float gravity_scale;
    float mass;          // kg; 0: it has none, and the three below are 0
    cairn_vec3 centre;   // m, in the body's frame
    cairn_vec3 inertia;  // kg m^2, about the centre: xx, yy, zz
    cairn_vec3 products; // xy, xz, yz
} cairn_control_get_body_answer;

typedef struct cairn_control_shapes_answer {
    uint32_t shape_count; // of the world, or of the body
    const cairn_control_shape_state *shapes;
    uint32_t listed_count; // at most CAIRN_CONTROL_SHAPES_MAX
} cairn_control_shapes_answer;

typedef struct cairn_control_bodies_answer {
    uint32_t body_count; // of the world
    const cairn_control_body *bodies;
    uint32_t listed_count; // at most CAIRN_CONTROL_BODIES_MAX
} cairn_control_bodies_answer;

typedef struct cairn_control_joints_answer {
    uint32_t joint_count; // of the world, or of the body
    const cairn_control_joint *joints;
    uint32_t listed_count; // at most CAIRN_CONTROL_JOINTS_MAX
} cairn_control_joints_answer;

// A joint as it is: its state, and its definition in the terms and units of cairn_joint_def, with 0
// in the fields that its kind ignores.
typedef struct cairn_control_get_joint_answer {
    cairn_control_joint joint;
    float error; // m, cairn_joint_error
    float swing; // rad, cairn_joint_angles; 0 of kinds that have none
    float twist;
    bool collide_connected;
    uint32_t user;
    uint32_t name;
    cairn_vec3 anchor_a;
    cairn_vec3 anchor_b;
    float length;
    cairn_vec3 axis_a;
    cairn_vec3 axis_b;
    cairn_vec3 normal_a;
    cairn_vec3 normal_b;
    float cone;
    bool limited;
    float lower;
    float upper;
    float hertz;
    float damping;
    bool spring;
    float spring_hertz;
    float spring_damping;
    float target;
    cairn_vec3 target_position;
    cairn_quat target_rotation;
    bool motor;
    float motor_speed;
    cairn_vec3 motor_velocity;
    float motor_force;
    float motor_torque;
    bool steering;
    float steering_hertz;
    float steering_damping;
    float steering_target;
    float steering_torque;
    float ratio;
    cairn_vec3 fixed_a;
    cairn_vec3 fixed_b;
    cairn_vec3 row_linear_a;
    cairn_vec3 row_angular_a;
    cairn_vec3 row_linear_b;
    cairn_vec3 row_angular_b;
    float row_lower;
    float row_upper;
    float row_velocity;
    bool breakable;
    float break_force;
    float break_torque;
    bool articulated;
    float drive_stiffness;
    float drive_damping;
    cairn_vec3 drive_torque;
    float joint_friction;
    float armature;
} cairn_control_get_joint_answer;

typedef struct cairn_control_ray_answer {
    bool hit; // false: the rest is 0
    cairn_body_id body;
    cairn_shape_id shape;
    cairn_vec3 point;
    cairn_vec3 normal;
    float fraction; // of the translation
} cairn_control_ray_answer;

typedef struct cairn_control_overlap_answer {
    uint32_t shape_count; // that overlap
    const cairn_control_shape *shapes;
    uint32_t listed_count; // at most CAIRN_CONTROL_OVERLAPS_MAX
} cairn_control_overlap_answer;

typedef struct cairn_control_fracture_answer {
    const cairn_control_shape *pieces; // in order of index; they exist from the room's next step on
    uint32_t piece_count;              // at most CAIRN_FRACTURE_PIECES_MAX
} cairn_control_fracture_answer;

typedef struct cairn_control_closest_answer {
    bool found; // false: no shape is that near, and all below is 0
    cairn_body_id body;
    cairn_shape_id shape;
    float distance;    // m; 0: the point is inside
    cairn_vec3 point;  // on the shape, nearest to the point asked for
    cairn_vec3 normal; // unit, from the shape to the point asked for
} cairn_control_closest_answer;

typedef struct cairn_control_hash_answer {
    cairn_hash128 visible;
    cairn_hash128 full;
    const cairn_control_section *sections;
    uint32_t section_count; // at most CAIRN_CONTROL_SECTIONS_MAX
} cairn_control_hash_answer;

typedef struct cairn_control_diff_answer {
    uint32_t difference_count; // fields that differ
    const cairn_control_difference *differences;
    uint32_t listed_count; // at most CAIRN_CONTROL_DIFFERENCES_MAX
} cairn_control_diff_answer;

#define CAIRN_CONTROL_ROOMS_MAX 512
#define CAIRN_CONTROL_SAVES_MAX 32
#define CAIRN_CONTROL_READ_SIZE_MAX (16 * 1024)
#define CAIRN_CONTROL_BODIES_MAX 512
#define CAIRN_CONTROL_JOINTS_MAX 512
#define CAIRN_CONTROL_SHAPES_MAX 256
#define CAIRN_CONTROL_OVERLAPS_MAX 1024
#define CAIRN_CONTROL_SECTIONS_MAX 16
#define CAIRN_CONTROL_DIFFERENCES_MAX 64

// An answer. A refusal, and the answer to a verb without a member in the union, has only the fields
// before the union.
typedef struct cairn_control_answer {
    uint32_t number;
    uint32_t verb;
    uint32_t refusal;   // cairn_control_refusal
    const char *reason; // why it was refused, one sentence; ""
    const char *room;   // the room that `tick` and `root` belong to
    uint64_t tick;      // of that room's world when the answer was written
    cairn_hash128 root; // full root of that world
    union {
        cairn_control_features_answer features;
        cairn_control_rooms_answer rooms;
        cairn_control_state_answer state;
        cairn_control_clients_answer clients;
        cairn_control_run_answer run; // step, run-until
        cairn_control_act_answer act;
        cairn_control_save_answer save;
        cairn_control_saves_answer saves;
        cairn_control_save_read_answer save_read;
        cairn_control_save_write_answer save_write;
        cairn_control_edit_answer edit; // spawn*, delete*, set-*, impulse, ...
        cairn_control_get_answer get;
        cairn_control_bodies_answer bodies;
        cairn_control_joints_answer joints;
        cairn_control_get_joint_answer get_joint;
        cairn_control_get_body_answer get_body;
        cairn_control_shapes_answer shapes;
        cairn_control_ray_answer ray;
        cairn_control_overlap_answer overlap;
        cairn_control_fracture_answer fracture;
        cairn_control_closest_answer closest;
        cairn_control_hash_answer hash;
        cairn_control_diff_answer diff;
    };
} cairn_control_answer;

// ------------------------------------------------------------------------------------ client

struct cairn_client; // cairn/client.h

// Creates a client that only sends requests: a spectator without a slot. NULL: out of memory. Pair
// with cairn_client_destroy.
struct cairn_client *cairn_client_create_operator(void);

// Whether WELCOME has arrived, so that requests can be sent.
bool cairn_client_welcomed(const struct cairn_client *client);
// Whether WELCOME has arrived and gave the operator's right.
bool cairn_client_is_operator(const struct cairn_client *client);

// Sends a request. Texts and bytes are copied; a NULL room is "". Returns the request's number,
// which is also in its answer, or 0 if nothing was sent: the client is not welcomed yet, a field is
// outside its limits, or too much waits to be sent (advance and send, then try again).
uint32_t cairn_client_ask(struct cairn_client *client, const cairn_control_request *request);
// The same for a request that another language encoded: an Envelope with a Control of
// schema/messages.fbs; its number is ignored. `bytes` need no alignment.
uint32_t cairn_client_ask_encoded(struct cairn_client *client, const uint8_t *bytes, size_t size);

// How many answers wait in the queue.
uint32_t cairn_client_answers_waiting(const struct cairn_client *client);
// Removes the oldest answer from the queue and writes it to *out; its pointers are valid until the
// next call. Returns false if the queue is empty. The queue holds at most 64 answers; further ones
// are dropped and counted.
bool cairn_client_next_answer(struct cairn_client *client, cairn_control_answer *out);
// The same as encoded bytes: *bytes points to the Envelope, valid until the next call. Returns its
// size, or 0 if the queue is empty.
size_t cairn_client_next_answer_encoded(struct cairn_client *client, const uint8_t **bytes);

#ifdef __cplusplus
}
#endif
