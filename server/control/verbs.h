// SPDX-License-Identifier: MIT
#pragma once

// One function for each verb of <cairn/control.h>, and the table of them. A function reads its
// member of the request, fills its member of the answer and returns CAIRN_CONTROL_DONE or a
// refusal, after which the server is as it was.

#include "server/control/context.h"

typedef cairn_control_refusal (*cairn_control_action)(cairn_control_context *c);

typedef struct cairn_control_verb_row {
    cairn_control_action action;
    bool needs_no_room;
    bool writes; // changes a room or the server
} cairn_control_verb_row;

// NULL if this server has no such verb.
const cairn_control_verb_row *cairn_control_verb_find_row(uint32_t verb);

// verbs.c
cairn_control_refusal cairn_control_on_features(cairn_control_context *c);
// reports.c
cairn_control_refusal cairn_control_on_rooms(cairn_control_context *c);
cairn_control_refusal cairn_control_on_state(cairn_control_context *c);
cairn_control_refusal cairn_control_on_clients(cairn_control_context *c);
cairn_control_refusal cairn_control_on_hash(cairn_control_context *c);
cairn_control_refusal cairn_control_on_diff(cairn_control_context *c);
// room_time.c
cairn_control_refusal cairn_control_on_pause(cairn_control_context *c);
cairn_control_refusal cairn_control_on_resume(cairn_control_context *c);
cairn_control_refusal cairn_control_on_step(cairn_control_context *c);
cairn_control_refusal cairn_control_on_run_until(cairn_control_context *c);
cairn_control_refusal cairn_control_on_rate(cairn_control_context *c);
// queries.c
cairn_control_refusal cairn_control_on_get(cairn_control_context *c);
cairn_control_refusal cairn_control_on_bodies(cairn_control_context *c);
cairn_control_refusal cairn_control_on_ray(cairn_control_context *c);
cairn_control_refusal cairn_control_on_overlap(cairn_control_context *c);
// edits.c
cairn_control_refusal cairn_control_on_spawn_box(cairn_control_context *c);
cairn_control_refusal cairn_control_on_spawn_sphere(cairn_control_context *c);
cairn_control_refusal cairn_control_on_delete(cairn_control_context *c);
cairn_control_refusal cairn_control_on_set_position(cairn_control_context *c);
cairn_control_refusal cairn_control_on_set_velocity(cairn_control_context *c);
cairn_control_refusal cairn_control_on_impulse(cairn_control_context *c);
// save_verbs.c
cairn_control_refusal cairn_control_on_save(cairn_control_context *c);
cairn_control_refusal cairn_control_on_saves(cairn_control_context *c);
cairn_control_refusal cairn_control_on_save_read(cairn_control_context *c);
cairn_control_refusal cairn_control_on_save_write(cairn_control_context *c);
cairn_control_refusal cairn_control_on_save_delete(cairn_control_context *c);
// replacements.c
cairn_control_refusal cairn_control_on_reset(cairn_control_context *c);
cairn_control_refusal cairn_control_on_load(cairn_control_context *c);
cairn_control_refusal cairn_control_on_seek(cairn_control_context *c);
// rooms.c
cairn_control_refusal cairn_control_on_fork(cairn_control_context *c);
cairn_control_refusal cairn_control_on_room_create(cairn_control_context *c);
cairn_control_refusal cairn_control_on_room_destroy(cairn_control_context *c);
// link_faults.c
cairn_control_refusal cairn_control_on_faults(cairn_control_context *c);
