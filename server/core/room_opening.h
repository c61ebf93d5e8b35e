// SPDX-License-Identifier: MIT
#pragma once

// How a room is opened: cairn_server_room_create and cairn_server_room_fork of <cairn/server.h>,
// and what both rest on.

#include "server/core/server_state.h"

// Opens a room with the source's world, or with one built from the config's scene if that is NULL.
// Takes the world even when it refuses. *room and `reason` as in cairn_server_room_create.
cairn_server_room_refusal cairn_server_room_open(cairn_server *server, uint64_t now_ns,
    const cairn_server_room_config *config, cairn_room_source *source, uint32_t *room,
    char reason[CAIRN_ROOM_REASON_SIZE]);

// What the ticks of all rooms take, in thousandths of one processor.
uint64_t cairn_server_load_permille(const cairn_server *server);
// Whether a room of the config may be opened, whatever world it has.
cairn_server_room_refusal cairn_server_room_check(
    const cairn_server *server, const cairn_server_room_config *config);
// Counts and reports a refusal. `reason` "": it becomes the text of the refusal. Returns `refusal`.
cairn_server_room_refusal cairn_server_room_refuse(
    cairn_server *server, cairn_server_room_refusal refusal, uint32_t *room, char *reason);

// Opens a room of a template, as find_template knows it. `name`: of the room; `source`:
// NULL, or as for cairn_server_room_open. *known: there is such a template; otherwise nothing is
// taken.
cairn_server_room_refusal cairn_server_room_open_template(cairn_server *server, uint64_t now_ns,
    const char *template_name, const char *name, cairn_room_source *source, bool *known,
    uint32_t *room, char reason[CAIRN_ROOM_REASON_SIZE]);
