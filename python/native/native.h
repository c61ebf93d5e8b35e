// SPDX-License-Identifier: MIT
#pragma once

// What the Python package calls besides the public headers: work for which one call from Python
// must do much.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/control.h>
#include <cairn/sim.h>

#define CAIRN_NATIVE_ERROR_SIZE 256

// ------------------------------------------------------------------------------------- scenes

// The JSON of a built-in scene; NULL if no scene has it.
const char *cairn_native_scene(const char *name);
// The name of the built-in scene of this index, in order of name; NULL after the last.
const char *cairn_native_scene_name(uint32_t index);

// Builds the world of a scene, and writes the scene's name. On failure *out is NULL and `error` is
// a sentence. `seed` NULL: the scene's own. `rules` NULL: those that the scene names.
cairn_status cairn_native_world_create(const char *json, size_t size, const uint64_t *seed,
    const char *rules, cairn_world **out, char name[CAIRN_NAME_SIZE_MAX + 1],
    char error[CAIRN_NATIVE_ERROR_SIZE]);

// ------------------------------------------------------------------------------------- robots

// The scene of URDF or MJCF, and its parts (robot/robot.h), both in JSON; the caller frees both. On
// failure both are NULL and `error` is a sentence. `name` is the scene's if the text has none.
cairn_status cairn_native_robot(const char *text, size_t size, const char *name, bool fixed_base,
    bool articulated, char **scene, char **parts, char error[CAIRN_NATIVE_ERROR_SIZE]);
void cairn_native_free(char *text);

// Writes position and velocity of what these joints leave free, as cairn_joint_travel_read.
// CAIRN_NOT_FOUND or CAIRN_INVALID_ARGUMENT: a joint does not exist, or is of another kind.
cairn_status cairn_native_travel(
    const cairn_world *world, const cairn_joint_id *joints, uint32_t joint_count, float *out);
// Sets the motors of joints, as cairn_joint_set_motor. Those before the first that is refused are
// set.
cairn_status cairn_native_drive(cairn_world *world, const cairn_joint_id *joints,
    const float *speeds, const float *forces, uint32_t joint_count);
// Sets drive_torque.x of articulated joints; other joints keep none. CAIRN_NOT_FOUND,
// CAIRN_NON_FINITE or CAIRN_INVALID_ARGUMENT: a joint does not exist, or a torque is out of range.
// Those before the first that is refused are set.
cairn_status cairn_native_push(
    cairn_world *world, const cairn_joint_id *joints, const float *torques, uint32_t joint_count);

// -------------------------------------------------------------------------------------- steps

// Steps `ticks` times; the commands are those of the first tick. They are sorted and checked. On
// failure nothing was stepped.
cairn_status cairn_native_step(
    cairn_world *world, uint32_t ticks, cairn_command *commands, uint32_t command_count);

// Writes the numbers of these bodies, a row for each: fields of cairn_observed_field. A body that
// does not exist has zeros. CAIRN_INVALID_ARGUMENT: no fields.
cairn_status cairn_native_observe(const cairn_world *world, const cairn_body_id *bodies,
    uint32_t body_count, uint32_t fields, float *out);

// One step of a learner in many worlds of one scene: impulses on `pushed` bodies, `ticks` ticks,
// and the numbers of `watched` bodies.
typedef struct cairn_native_batch {
    cairn_world **worlds;
    uint32_t world_count;
    uint32_t ticks;
    const cairn_body_id *pushed;
    uint32_t pushed_count;
    const float *impulses; // N s, [world_count][pushed_count][3]; NULL: none
    const cairn_body_id *watched;
    uint32_t watched_count;
    uint32_t fields; // cairn_observed_field
    float *out;      // [world_count][watched_count][width]; NULL: nothing is observed
} cairn_native_batch;

// Threads that share batches. CAIRN_INVALID_ARGUMENT, CAIRN_OUT_OF_MEMORY: *out is NULL. Pair with
// destroy.
typedef struct cairn_native_pool cairn_native_pool;
cairn_status cairn_native_pool_create(uint32_t workers, cairn_native_pool **out);
void cairn_native_pool_destroy(cairn_native_pool *pool);
// Without a pool the calling thread does all. CAIRN_NON_FINITE or CAIRN_INVALID_ARGUMENT, and
// nothing was done: an impulse that no world accepts, or no field.
cairn_status cairn_native_batch_run(cairn_native_pool *pool, const cairn_native_batch *batch);

// ------------------------------------------------------------------------------------ picture

typedef struct cairn_native_camera {
    cairn_vec3 eye;
    cairn_vec3 target;
    float field_of_view; // rad, vertical, (0, pi)
    uint32_t width;      // pixels
    uint32_t height;
    bool shadows; // of the sun
} cairn_native_camera;

// Draws the shapes that rays hit: rows of red, green, blue from the top, width * height * 3 bytes.
void cairn_native_draw(
    const cairn_world *world, const cairn_native_camera *camera, uint8_t *pixels);
// The rows from `first` to before `end` of the same picture. Threads may share a picture after
// cairn_world_queries_prepare.
void cairn_native_draw_rows(const cairn_world *world, const cairn_native_camera *camera,
    uint32_t first, uint32_t end, uint8_t *pixels);
// Copies these rows of `coarse`, a whole picture that was drawn, and draws the pixels of edges with
// more rays. `pixels` is another picture of the same size.
void cairn_native_smooth_rows(const cairn_world *world, const cairn_native_camera *camera,
    uint32_t first, uint32_t end, const uint8_t *coarse, uint8_t *pixels);
