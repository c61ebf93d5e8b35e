// SPDX-License-Identifier: MIT
#include "server/session/context.h"

#include "base/assert.h"

void cairn_context_emit(const cairn_server_context *context, const cairn_room *room,
    cairn_log_level level, const char *name, uint64_t client_id, const char *detail,
    int64_t value) {
    CAIRN_ASSERT(name != NULL && detail != NULL);
    if (context->on_event == NULL) {
        return;
    }
    const cairn_server_event event = {
        .name = name,
        .level = level,
        .room = room == NULL ? "" : room->name,
        .tick = room == NULL ? 0 : room->scheduler.tick,
        .client_id = client_id,
        .detail = detail,
        .value = value,
    };
    context->on_event(context->user, &event);
}
