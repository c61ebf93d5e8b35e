// SPDX-License-Identifier: MIT
#pragma once

// Sends a client the shapes of the bodies in its view.

#include "server/replicate/shapes.h"
#include "server/replicate/view.h"
#include "server/session/context.h"

// Sends the shapes of bodies that entered and what changed since, as far as the link has room; what
// left is removed within a second. The interest has the list's shapes.
void cairn_view_shapes_send(const cairn_server_context *context, cairn_session *session,
    const cairn_room_shapes *list, const cairn_room_interest *interest, cairn_view *view,
    cairn_shapes_sent *sent);
