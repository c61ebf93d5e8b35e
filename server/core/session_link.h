// SPDX-License-Identifier: MIT
#pragma once

// How large the links of a server's clients are.

#include "server/core/server_state.h"

// A link for a client of a server the largest room of which has so many bodies.
cairn_status cairn_session_link_create(cairn_server *server, uint32_t bodies, cairn_link **out);
