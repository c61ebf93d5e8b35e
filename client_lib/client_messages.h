// SPDX-License-Identifier: MIT
#pragma once

// What a client receives: whole messages from the link, decoded, checked against the state of the
// connection and the world epoch, and handed to the feature that they are about.

#include <stdint.h>

#include "net/link.h"
#include <cairn/client.h>

// Takes one message; what is malformed or not expected now is counted and ignored.
void cairn_client_take_message(
    cairn_client *client, uint64_t now_ns, const cairn_link_message *message);
// Forgets the world, and what was sent and received about it.
void cairn_client_clear_world(cairn_client *client);
