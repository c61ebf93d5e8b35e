// SPDX-License-Identifier: MIT
#pragma once

// What the commands of an operator do to a world.

#include "sim/state/world.h"

// Applies the commands of the operator and the host, which are the last of a tick's sorted
// commands, in order. A command that cannot be applied is skipped and counted. Returns the number
// of commands before them.
uint32_t cairn_edits_apply(cairn_world *world, const cairn_command *commands, uint32_t count);

// CAIRN_COMMAND_SPAWN_BOX and CAIRN_COMMAND_SPAWN_SPHERE, here and below as
// cairn_world_apply_edit: all or nothing.
cairn_status cairn_edit_spawn_plain(
    cairn_world *world, const cairn_command *command, cairn_body_id *body);
// CAIRN_COMMAND_SPAWN with its parts. A hull that the world has already is shared.
cairn_status cairn_edit_spawn(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_body_id *body);
// CAIRN_COMMAND_SET_JOINT.
cairn_status cairn_edit_set_joint(cairn_world *world, const cairn_command *edit);
// CAIRN_COMMAND_CREATE_JOINT with its part.
cairn_status cairn_edit_create_joint(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_joint_id *joint);
