// SPDX-License-Identifier: MIT
#pragma once

// A connection over a socket of its own: the calls that must not hold Python's lock.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/client.h>
#include <cairn/control.h>

typedef struct cairn_native_link cairn_native_link;

// Begins to connect, as a spectator or as a player, to the server's first room. NULL: out of
// memory, or the token is malformed. Pair with close.
cairn_native_link *cairn_native_link_open(
    const uint8_t token[CAIRN_CONNECT_TOKEN_SIZE], bool player);
// Disconnects; NULL is allowed.
void cairn_native_link_close(cairn_native_link *link);
// The client of the link, to ask and to read answers; owned by the link.
cairn_client *cairn_native_link_client(cairn_native_link *link);

// Receives, advances and sends until an answer waits (`welcome` true: until WELCOME arrived), the
// connection has ended, or `wait_ns` have passed. Returns whether the first is true.
bool cairn_native_link_wait(cairn_native_link *link, bool welcome, uint64_t wait_ns);
// Whether the connection has ended, or was refused.
bool cairn_native_link_ended(const cairn_native_link *link);
