// SPDX-License-Identifier: MIT
#pragma once

// A reproduction: a start and the commands after it. The start is a state of the recording, which
// has all that a step reads, or a scene, which people can read: bodies, shapes and joints alone.

#include <stdbool.h>
#include <stdint.h>

#include "schema/scene.h"
#include "tools/replay/shrink/commands_file.h"
#include "tools/replay/shrink/predicate.h"
#include <cairn/sim.h>

typedef struct cairn_repro {
    cairn_world *state; // owned; NULL: the scene is the start
    cairn_scene *scene; // owned (scene_parts.h)
    cairn_play play;
    cairn_predicate predicate; // in the ids of this start
    cairn_predicate start;     // must hold at the start; no nodes: always
    uint32_t *keep;            // owned: ids of bodies that must stay
    uint32_t keep_count;
    bool missing; // of a reduction: a body that must stay has gone
} cairn_repro;

// What of a reproduction stays: indices into cairn_repro_bodies, cairn_repro_joints and the
// commands.
typedef struct cairn_selection {
    const uint32_t *items[3]; // NULL: all
    uint32_t counts[3];
} cairn_selection;
enum { CAIRN_SELECT_BODIES, CAIRN_SELECT_JOINTS, CAIRN_SELECT_COMMANDS, CAIRN_SELECT_COUNT };

void cairn_repro_end(cairn_repro *repro);
// How many bodies, joints or commands there are.
uint32_t cairn_repro_count(const cairn_repro *repro, uint32_t kind);
// The world of the start; the caller destroys it. NULL: out of memory, or the scene is refused.
cairn_world *cairn_repro_world(const cairn_repro *repro);
// False: out of memory. *out is then to be ended as well. The joints of bodies that go go as well.
bool cairn_repro_reduce(
    const cairn_repro *from, const cairn_selection *selection, cairn_repro *out);
// The same failure with a scene as its start, if one can say all of the state that matters; the
// caller asks whether it still fails. False: it cannot.
bool cairn_repro_scene(const cairn_repro *from, cairn_repro *out);

// Whether `buttons` of a command names a body, or a joint.
bool cairn_command_names_body(const cairn_command *command);
bool cairn_command_names_joint(const cairn_command *command);
