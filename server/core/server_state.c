// SPDX-License-Identifier: MIT
#include "server/core/server_state.h"

#include "base/assert.h"

cairn_room *cairn_server_room_at(const cairn_server *server, uint32_t id) {
    cairn_room *room = cairn_room_table_at(&server->rooms, id);
    CAIRN_ASSERT(room == NULL || room->id == id);
    return room;
}

void cairn_server_emit_event(const cairn_server *server, const cairn_room *room,
    cairn_log_level level, const char *name, uint64_t client_id, const char *detail,
    int64_t value) {
    cairn_context_emit(&server->context, room, level, name, client_id, detail, value);
}
