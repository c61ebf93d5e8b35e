// SPDX-License-Identifier: MIT
#pragma once

// The inside of control, shared by its files: one for each group of verbs.

#include <stddef.h>

#include "server/control/control.h"
#include "server/core/server_state.h"

// So much of an answer's arrays; with them it fits a link's stream together with others.
#define CAIRN_CONTROL_IDS_MAX 2048
#define CAIRN_CONTROL_NUMBERS_OUT_MAX 7168
#define CAIRN_CONTROL_BYTES_OUT_MAX (24 * 1024)
#define CAIRN_CONTROL_ANSWER_SIZE_MAX (48 * 1024)

// A request of the queue, with what its message pointed to.
typedef struct cairn_control_entry {
    uint32_t client;
    uint64_t client_id;
    cairn_control ask; // its pointers point into this entry
    char room[CAIRN_NAME_SIZE_MAX + 1];
    char name[CAIRN_TEXT_SIZE_MAX + 1];
    float numbers[CAIRN_CONTROL_NUMBERS_MAX];
    uint8_t bytes[CAIRN_CONTROL_BYTES_MAX];
} cairn_control_entry;

#define CAIRN_CONTROL_SAVES_MAX 32

// A world in its canonical encoding, kept under a name.
typedef struct cairn_control_save {
    char name[CAIRN_NAME_SIZE_MAX + 1];
    uint8_t *bytes; // owned; NULL: the place is free
    size_t size;
    size_t filled;   // less while it is being uploaded
    uint64_t joined; // slots whose players it knows
} cairn_control_save;

struct cairn_control_desk {
    cairn_control_save saves[CAIRN_CONTROL_SAVES_MAX];
    uint32_t count; // entries[0 .. count) wait, oldest first
    cairn_control_entry entries[CAIRN_CONTROL_QUEUE_MAX];
    uint32_t ids[CAIRN_CONTROL_IDS_MAX];
    float numbers[CAIRN_CONTROL_NUMBERS_OUT_MAX];
    uint8_t bytes[CAIRN_CONTROL_BYTES_OUT_MAX];
    char words[CAIRN_TEXT_SIZE_MAX + 1];
};

// What a verb sees. It fills the answer's arrays, which are the desk's.
typedef struct cairn_control_visit {
    cairn_server *server;
    cairn_session *session;
    cairn_room *room; // NULL where the verb needs none
    const cairn_control *ask;
    struct cairn_control_desk *desk;
    cairn_answer answer;
    bool later; // the answer comes when the room has run
} cairn_control_visit;

typedef cairn_control_refusal (*cairn_control_action)(cairn_control_visit *v);

// What a verb looks at before anything else is done.
typedef struct cairn_control_row {
    cairn_control_action action;
    bool roomless;    // asks for no room
    bool writes;      // changes a room or the server
    uint32_t numbers; // exactly so many numbers
} cairn_control_row;

// A refusal with a sentence of its own, in printf's manner.
cairn_control_refusal cairn_control_refuse(
    cairn_control_visit *v, cairn_control_refusal refusal, const char *format, ...);
// Adds "name value" and a newline to the answer's bytes, in printf's manner. What finds no room is
// left out.
void cairn_control_line(cairn_control_visit *v, const char *format, ...);
void cairn_control_add_id(cairn_control_visit *v, uint32_t id);
void cairn_control_add_number(cairn_control_visit *v, float number);
void cairn_control_add_bytes(cairn_control_visit *v, const void *bytes, size_t size);

// Each is a verb.
cairn_control_refusal cairn_control_features(cairn_control_visit *v);
cairn_control_refusal cairn_control_rooms(cairn_control_visit *v);
cairn_control_refusal cairn_control_state(cairn_control_visit *v);
cairn_control_refusal cairn_control_clients(cairn_control_visit *v);
cairn_control_refusal cairn_control_hash(cairn_control_visit *v);
cairn_control_refusal cairn_control_diff(cairn_control_visit *v);

cairn_control_refusal cairn_control_pause(cairn_control_visit *v);
cairn_control_refusal cairn_control_resume(cairn_control_visit *v);
cairn_control_refusal cairn_control_step(cairn_control_visit *v);
cairn_control_refusal cairn_control_run_until(cairn_control_visit *v);
cairn_control_refusal cairn_control_rate(cairn_control_visit *v);

cairn_control_refusal cairn_control_get(cairn_control_visit *v);
cairn_control_refusal cairn_control_bodies(cairn_control_visit *v);
cairn_control_refusal cairn_control_ray(cairn_control_visit *v);
cairn_control_refusal cairn_control_overlap(cairn_control_visit *v);

cairn_control_refusal cairn_control_spawn_box(cairn_control_visit *v);
cairn_control_refusal cairn_control_spawn_sphere(cairn_control_visit *v);
cairn_control_refusal cairn_control_delete(cairn_control_visit *v);
cairn_control_refusal cairn_control_set_position(cairn_control_visit *v);
cairn_control_refusal cairn_control_set_velocity(cairn_control_visit *v);
cairn_control_refusal cairn_control_impulse(cairn_control_visit *v);

cairn_control_refusal cairn_control_reset(cairn_control_visit *v);
cairn_control_refusal cairn_control_save_make(cairn_control_visit *v);
cairn_control_refusal cairn_control_load(cairn_control_visit *v);
cairn_control_refusal cairn_control_saves(cairn_control_visit *v);
cairn_control_refusal cairn_control_save_read(cairn_control_visit *v);
cairn_control_refusal cairn_control_save_write(cairn_control_visit *v);
cairn_control_refusal cairn_control_save_delete(cairn_control_visit *v);
cairn_control_refusal cairn_control_seek(cairn_control_visit *v);
void cairn_control_drop_saves(struct cairn_control_desk *desk);

cairn_control_refusal cairn_control_faults(cairn_control_visit *v);
cairn_control_refusal cairn_control_fork(cairn_control_visit *v);
cairn_control_refusal cairn_control_room_create(cairn_control_visit *v);
cairn_control_refusal cairn_control_room_destroy(cairn_control_visit *v);

// What verb this is; NULL: none that this server knows.
const cairn_control_row *cairn_control_row_of(uint32_t verb);
